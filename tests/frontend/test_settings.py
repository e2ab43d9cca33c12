"""What `tf.config` sets and reads."""

from __future__ import annotations

import pytest

import graphgrad.compat.v1 as tf

pytestmark = pytest.mark.usefixtures("graph")


def test_settings() -> None:
    """What programs set can be read back; what cannot be known is refused."""
    optimizer, threading = tf.config.optimizer, tf.config.threading
    for given, found in ((True, "autoclustering"), ("autoclustering", "autoclustering"), ("x", ""), (False, "")):
        optimizer.set_jit(given)
        assert optimizer.get_jit() == found
    optimizer.set_experimental_options({"constant_folding": False, "nothing": 1})
    assert optimizer.get_experimental_options() == {"disable_model_pruning": False, "disable_meta_optimizer": False,
                                                    "constant_folding": False}
    threading.set_inter_op_parallelism_threads(3)
    assert (threading.get_inter_op_parallelism_threads(), threading.get_intra_op_parallelism_threads()) == (3, 0)
    threading.set_inter_op_parallelism_threads(0)
    experimental = tf.config.experimental
    experimental.set_synchronous_execution(None)
    assert experimental.get_synchronous_execution() is True
    tf.debugging.set_log_device_placement(False)
    assert tf.debugging.get_log_device_placement() is False
    for call, text in ((lambda: experimental.get_memory_info("CPU:0"), "Allocator stats not available"),
                       (lambda: experimental.get_memory_usage("GPU:77"), "No matching devices found"),
                       (lambda: experimental.get_memory_info("x"), "Failed parsing device name"),
                       (lambda: experimental.reset_memory_stats("CPU:0"), "Cannot reset memory stats"),
                       (lambda: experimental.get_device_details("x"), "must be a tf.config.PhysicalDevice")):
        with pytest.raises(ValueError, match=f"(?s){text}.*Fix:"):
            call()
