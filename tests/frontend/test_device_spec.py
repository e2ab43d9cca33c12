"""Device strings in parts."""

from __future__ import annotations

import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf

pytestmark = pytest.mark.usefixtures("graph")


def test_device_specs() -> None:
    """Parts of device strings, as TensorFlow reads, writes and merges them."""
    spec = tf2.DeviceSpec(job="ps", device_type="cpu", device_index=0)
    assert spec.to_string() == "/job:ps/device:CPU:0" and spec.task is None and spec.device_type == "CPU"
    for text, whole in (("/job:worker/replica:1/task:2/device:GPU:3", "/job:worker/replica:1/task:2/device:GPU:3"),
                        ("/gpu:*", "/device:GPU:*"), ("", ""), ("/cpu:0", "/device:CPU:0")):
        assert tf2.DeviceSpec.from_string(text).to_string() == whole
    assert spec.make_merged_spec(tf2.DeviceSpec(job="w", task=3)).to_string() == "/job:w/task:3/device:CPU:0"
    assert spec.replace(task=7).to_string() == "/job:ps/task:7/device:CPU:0"
    assert spec == tf2.DeviceSpec.from_string("/job:ps/cpu:0") and len({spec, spec.replace()}) == 1
    assert repr(spec) == "<DeviceSpec(job=ps, replica=None, task=None, device_type=CPU, device_index=0)>"
    for text, problem in (("junk", "Unknown attribute 'junk'"), ("/cpu:0/gpu:1", "Multiple device types")):
        with pytest.raises(ValueError, match=f"(?s){problem}.*Fix:"):
            tf2.DeviceSpec.from_string(text)
    with pytest.raises(AttributeError):
        spec.job = "x"
    old = tf.DeviceSpec(job="a")
    old.job = "x"
    old.merge_from(tf.DeviceSpec(task=1))
    assert old.to_string() == "/job:x/task:1" and old.parse_from_string("/gpu:1").to_string() == "/device:GPU:1"
    with tf.device(tf.DeviceSpec(device_type="CPU", device_index=0)):
        assert tf.constant(1).device == "/device:CPU:0"
