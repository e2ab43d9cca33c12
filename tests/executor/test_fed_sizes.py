"""Sizes that are fed: NumPy and compiled programs refuse the same ones, and nothing has changed by then."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad import errors
from graphgrad.executor.runtime import executable
from tests.ops import rows
from tests.support.effort import part
from tests.support.table import Row, draw, row_dtypes

_IMAGE = np.ones((2, 5, 6, 2), np.float32)
_BOXES = np.array([[0, 0, 1, 1]], np.float32)
_POOL = {"strides": [1, 2, 2, 1], "padding": "VALID"}
_FED: dict[str, tuple[Any, Any, str]] = {
    # what is built from a placeholder, what is fed, the text
    "crops of negative size": (lambda n: tf.raw_ops.CropAndResize(
        image=_IMAGE, boxes=_BOXES, box_ind=[0], crop_size=n), [3, -1], "crop dimensions must be positive"),
    "crops of three sizes": (lambda n: tf.raw_ops.CropAndResize(
        image=_IMAGE, boxes=_BOXES, box_ind=[0], crop_size=n), [3, 3, 3], "crop_size must have 2 elements"),
    "crops of a negative batch": (lambda n: tf.raw_ops.CropAndResizeGradImage(
        grads=np.ones((1, 3, 4, 2), np.float32), boxes=_BOXES, box_ind=[0], image_size=n, T=tf.float32),
        [-1, 5, 6, 2], "dimensions must be >= 0"),
    "an image of negative size": (lambda n: tf.raw_ops.ScaleAndTranslate(
        images=_IMAGE, size=n, scale=[1.0, 1.0], translation=[0.0, 0.0]), [-1, 4], "must be"),
    "a glimpse of negative size": (lambda n: tf.raw_ops.ExtractGlimpse(
        input=_IMAGE, size=n, offsets=np.zeros((2, 2), np.float32)), [3, -1000], "must not be negative"),
    "a projection to three sizes": (lambda n: tf.raw_ops.ImageProjectiveTransformV3(
        images=_IMAGE, transforms=np.ones((1, 8), np.float32), output_shape=n, fill_value=0.0,
        interpolation="NEAREST"), [3, 3, 3], "output shape must have two elements"),
    "a pool of a negative batch": (lambda n: tf.raw_ops.AvgPoolGrad(
        orig_input_shape=n, grad=np.ones((1, 2, 2, 1), np.float32), ksize=[1, 2, 2, 1], **_POOL),
        [-1, 4, 4, 1], "dimensions must be >= 0"),
    "a pool of another batch": (lambda n: tf.raw_ops.AvgPoolGrad(
        orig_input_shape=n, grad=np.ones((1, 2, 2, 1), np.float32), ksize=[1, 2, 2, 1], **_POOL), [7, 4, 4, 1],
        "orig_input_shape says 7 images but grad has 1"),
    "a pool of volumes of negative size": (lambda n: tf.raw_ops.AvgPool3DGrad(
        orig_input_shape=n, grad=np.ones((1, 2, 2, 2, 1), np.float32), ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1],
        padding="VALID"), [-1, 4, 4, 4, 1], "dimensions must be >= 0"),
    "a pool that gave something else": (lambda n: tf.raw_ops.MaxPoolGradGradV2(
        orig_input=np.ones((1, 4, 4, 1), np.float32), orig_output=np.ones((1, 2, 2, 1), np.float32),
        grad=np.ones((1, 4, 4, 1), np.float32), ksize=[1, 2, 2, 1], strides=n, padding="VALID"), [1, 4, 2, 1],
        "pooling gives"),
    "a depthwise convolution of a negative batch": (lambda n: tf.raw_ops.DepthwiseConv2dNativeBackpropInput(
        input_sizes=n, filter=np.ones((2, 2, 2, 1), np.float32), out_backprop=np.ones((1, 2, 2, 2), np.float32),
        **_POOL), [-1, 4, 4, 2], ""),
    "a slice at an index out of range": (lambda n: tf.raw_ops.StridedSliceGrad(
        shape=[3, 4], begin=n, end=[9], strides=[1], dy=np.ones(4, np.float32), shrink_axis_mask=1), [5],
        "slice index 5 of dimension 0 out of bounds"),
    "a slice of another size": (lambda n: tf.raw_ops.StridedSliceGrad(
        shape=n, begin=[1], end=[2], strides=[1], dy=np.ones(4, np.float32), shrink_axis_mask=1), [3, 5],
        r"shape of dy was \(4,\) instead of \(5,\)"),
    "a sparse tensor of another size": (lambda n: tf.raw_ops.SparseTensorDenseAdd(
        a_indices=[[0, 1]], a_values=[1.0], a_shape=n, b=np.ones((2, 3), np.float32)), [2, 4],
        r"shapes \(2, 4\) and \(2, 3\) differ"),
    "a Fourier transform of negative length": (lambda n: tf.raw_ops.RFFT(
        input=np.ones((2, 4), np.float32), fft_length=n), [-1], ""),
    "a roll along no axis": (lambda n: tf.raw_ops.Roll(input=np.ones(4, np.float32), shift=1, axis=n), [],
                             "shift and axis must have the same size"),
    "indices of a softmax without columns": (lambda n: tf.raw_ops.SparseSoftmax(
        sp_indices=[[0, 1]], sp_values=[1.0], sp_shape=n), [2, 3, 4], "2 columns but the shape has 3 dimensions"),
    "a fill of negative size": (lambda n: tf.fill(n, 1.0), [2, -3], "Fill"),
}


def _refusal(kind: str) -> Any:
    """The error of a run that assigns to a variable beside what is refused; the variable is as it was."""
    build, value, _ = _FED[kind]
    with tf.Graph().as_default():
        fed = tf.placeholder(tf.int64 if "sparse" in kind or "softmax" in kind else tf.int32, None)
        v = tf.Variable([1.0, 2.0], use_resource=True)
        y = build(fed)
        with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
            z = tf.reduce_sum(tf.abs(y)) * tf.reduce_sum(v.read_value())
        with tf.Session() as sess:
            sess.run(v.initializer)
            with pytest.raises(errors.InvalidArgumentError) as caught:
                sess.run([z, v.assign(v * 2.0)], {fed: value})
            np.testing.assert_array_equal(sess.run(v), [1, 2])
    return caught.value


@pytest.mark.parametrize("kind", _FED)
def test_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both engines raise InvalidArgumentError, which names the operation, the line and a remedy."""
    for first_in_numpy in (True, False):
        monkeypatch.setattr(executable, "first_in_numpy", first_in_numpy)
        error = _refusal(kind)
        text = str(error)
        assert "test_fed_sizes.py" in text and "Fix: " in text and error.op is not None
        assert re.search(_FED[kind][2], text), text


def _rows() -> list[Row]:
    found = [r for r in rows.load() if r.opdef.host and r.xla and r.cases and "host" not in r.opdef.flags]
    return part(found, 3)


def _outcome(row: Row, at: int, fed: np.ndarray[Any, Any]) -> str:
    """What comes of the first case with other values of one input: 'ok', or the class of the error."""
    inputs = draw(row, row.case(0), next(iter(row_dtypes(row))))
    with tf.Graph().as_default():
        place = tf.placeholder(fed.dtype, None)
        args = [place if i == at else a for i, a in enumerate(inputs.args)]
        try:
            found = row.opdef(*args, **inputs.attrs)
            with tf.Session() as sess:
                sess.run([t for t in tf.nest.flatten(found) if t.dtype != tf.variant], {place: fed})
        except Exception as e:
            return type(e).__name__
    return "ok"


@pytest.mark.parametrize("row", _rows(), ids=lambda r: r.op_type)
def test_engines_agree(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one engine refuses of the sizes of an operation of the table, the other does."""
    inputs = draw(row, row.case(0), next(iter(row_dtypes(row))))
    for at in row.opdef.host:
        value = np.asarray(inputs.args[at]) if not isinstance(inputs.args[at], list) else np.zeros(0)
        if value.dtype.kind != "i" or not value.size:
            continue
        negative, large = value.copy(), value.copy()
        negative.reshape(-1)[-1] = -1
        large.reshape(-1)[0] = 100
        for fed in (negative, large, value.reshape(-1)[:0]):
            outcomes = []
            for first_in_numpy in (True, False):
                monkeypatch.setattr(executable, "first_in_numpy", first_in_numpy)
                outcomes.append(_outcome(row, at, fed))
            assert outcomes[0] == outcomes[1], fed
