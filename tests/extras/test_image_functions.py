"""The public functions of images: values against NumPy, whatever is known of the shapes; derivatives; errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import dtypes
from graphgrad.ir.graph import Graph
from tests.ops.test_ops import check_derivatives
from tests.support.host import evaluate, placeholder
from tests.support.table import generator

_X = generator("images").permutation(5 * 7 * 3).reshape(5, 7, 3) / 105.0
_BATCH = generator("batches of images").permutation(2 * 4 * 6 * 3).reshape(2, 4, 6, 3) / 144.0


def _centred(x: np.ndarray[Any, Any], height: int, width: int) -> np.ndarray[Any, Any]:
    """`x`, cut or surrounded by zeros about its centre."""
    for axis, n in ((-3, height), (-2, width)):
        size = x.shape[axis]
        x = np.take(x, np.arange(min(n, size)) + max((size - n) // 2, 0), axis)
        pads = [(0, 0)] * x.ndim
        before = max((n - size) // 2, 0)
        pads[axis] = (before, max(n - size - before, 0))
        x = np.pad(x, pads)
    return x


def _within(x: np.ndarray[Any, Any], top: int, left: int, height: int, width: int) -> np.ndarray[Any, Any]:
    """`x` within zeros."""
    y = np.zeros((*x.shape[:-3], height, width, x.shape[-1]))
    y[..., top : top + x.shape[-3], left : left + x.shape[-2], :] = x
    return y


def _standard(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    axes = (-3, -2, -1)
    least = 1 / np.sqrt(np.prod(x.shape[-3:]))
    return (x - x.mean(axes, keepdims=True)) / np.maximum(x.std(axes, keepdims=True), least)


def _contrast(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    mean = x.mean((-3, -2), keepdims=True)
    return (x - mean) * 1.5 + mean


def _variation(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    total = np.abs(np.diff(x, axis=-3)).sum((-3, -2, -1)) + np.abs(np.diff(x, axis=-2)).sum((-3, -2, -1))
    return np.asarray(total)


_image = tf.image
_FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "flip_left_right": (_image.flip_left_right, lambda x: x[..., ::-1, :]),
    "flip_up_down": (_image.flip_up_down, lambda x: x[..., ::-1, :, :]),
    "transpose": (_image.transpose, lambda x: np.swapaxes(x, -3, -2)),
    "crop": (lambda x: _image.crop_to_bounding_box(x, 1, 2, 3, 4), lambda x: x[..., 1:4, 2:6, :]),
    "pad": (lambda x: _image.pad_to_bounding_box(x, 1, 2, 7, 10), lambda x: _within(x, 1, 2, 7, 10)),
    "crop_or_pad": (lambda x: _image.resize_image_with_crop_or_pad(x, 3, 9), lambda x: _centred(x, 3, 9)),
    "pad_or_crop": (lambda x: _image.resize_image_with_crop_or_pad(x, 8, 4), lambda x: _centred(x, 8, 4)),
    "central_crop": (lambda x: _image.central_crop(x, 0.4),
                     lambda x: x[..., 1:-1, 2:-2, :] if x.shape[-2] == 7 else x[..., 1:-1, 1:-1, :]),
    "brightness": (lambda x: _image.adjust_brightness(x, 0.25), lambda x: x + 0.25),
    "contrast": (lambda x: _image.adjust_contrast(x, 1.5), _contrast),
    "grayscale": (_image.rgb_to_grayscale, lambda x: x @ np.array([[0.2989], [0.587], [0.114]])),
    "rgb": (lambda x: _image.grayscale_to_rgb(x[..., :1]), lambda x: np.repeat(x[..., :1], 3, -1)),
    "standardization": (_image.per_image_standardization, _standard),
    "total_variation": (_image.total_variation, _variation),
    "nearest": (lambda x: _image.resize_images(x, [10, 14], 1),
                lambda x: x.repeat(2, -3).repeat(2, -2) if x.shape[-2] == 7 else None),
    "area": (lambda x: _image.resize_images(x, [2, 3], 3),
             lambda x: x.reshape(2, 2, 2, 3, 2, 3).mean((2, 4)) if x.shape[-2] == 6 else None),
    "area_2": (lambda x: tf2.image.resize(x, [2, 3], "area"),
               lambda x: x.reshape(2, 2, 2, 3, 2, 3).mean((2, 4)) if x.shape[-2] == 6 else None),
}
_ORDER = {"area": 0, "area_2": 0}  # without a gradient, as in TensorFlow
_SINGLE = ("brightness", "contrast", "grayscale", "standardization")  # computed in float32 whatever the dtype


@pytest.mark.parametrize("x", [_X, _BATCH], ids=["one", "batch"])
@pytest.mark.parametrize("name", _FUNCTIONS)
def test_value(name: str, x: np.ndarray[Any, Any]) -> None:
    """Eager and graph mode give what NumPy gives, also where the sizes are not known."""
    function, reference = _FUNCTIONS[name]
    want = reference(x)
    if want is None:
        return
    np.testing.assert_allclose(np.asarray(function(tf2.constant(x))), want, rtol=1e-5, atol=1e-6)
    for shape in (x.shape, (*(None,) * (x.ndim - 1), 3)):
        with Graph().as_default() as graph:
            t = placeholder(graph, dtypes.float64, shape)
            y = function(t)
            assert y.shape.is_compatible_with(want.shape)
            (got,) = evaluate([y], {t: x})
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_derivatives(name: str) -> None:
    """First and second derivatives agree with differences."""
    with Graph().as_default() as graph:
        dtype = dtypes.float32 if name in _SINGLE else dtypes.float64
        t = placeholder(graph, dtype, _BATCH.shape)
        y = _FUNCTIONS[name][0](t)
        feeds = {t: _BATCH.astype(dtype.np_dtype)}
        check_derivatives(graph, [y], [t], feeds, _ORDER.get(name, 2), generator(name), what=name)


def test_image_gradients() -> None:
    """Differences of neighbours, with zeros in the last row and column."""
    dy, dx = map(np.asarray, tf2.image.image_gradients(tf2.constant(_BATCH)))
    np.testing.assert_allclose(dy[:, :-1], np.diff(_BATCH, axis=1))
    np.testing.assert_allclose(dx[:, :, :-1], np.diff(_BATCH, axis=2))
    assert not dy[:, -1].any() and not dx[:, :, -1].any()


def test_size_that_stays() -> None:
    """TensorFlow 1 returns the images themselves, TensorFlow 2 converts them all the same."""
    x = tf2.constant(_X)
    assert tf.image.resize_images(x, [5, 7]).dtype is dtypes.float64
    y = tf2.image.resize(x, [5, 7])
    assert y.dtype is dtypes.float32
    np.testing.assert_allclose(np.asarray(y), _X, rtol=1e-6)


# What TensorFlow 2.21 gives for ones of 5 x 7: where the image comes to lie, (top, rows, left, columns).
_FRAMES = [((8, 9), (0, 6, 0, 9)), ((9, 2), (3, 1, 0, 2)), ((6, 4), (1, 2, 0, 4)), ((5, 7), (0, 5, 0, 7))]


@pytest.mark.parametrize("size, frame", _FRAMES)
def test_resize_with_pad(size: tuple[int, int], frame: tuple[int, int, int, int]) -> None:
    """The place is computed from the sizes before they are rounded down."""
    top, rows, left, columns = frame
    want = np.zeros((*size, 1), np.float32)
    want[top : top + rows, left : left + columns] = 1
    ones = np.ones((5, 7, 1), np.float32)
    np.testing.assert_allclose(np.asarray(tf2.image.resize_with_pad(ones, *size)), want)
    np.testing.assert_allclose(np.asarray(tf.image.resize_image_with_pad(ones, *size)), want)


@pytest.mark.parametrize("flip, axis", [("random_flip_left_right", -2), ("random_flip_up_down", -3)])
def test_random_flips(flip: str, axis: int) -> None:
    """Each image of a batch is itself or its mirror image, both of them happen."""
    x = np.broadcast_to(_X, (40, *_X.shape))
    y = np.asarray(getattr(tf2.image, flip)(tf2.constant(x), seed=3))
    mirrored = np.flip(_X, axis)
    same = [np.array_equal(i, _X) for i in y]
    assert all(s or np.array_equal(i, mirrored) for s, i in zip(same, y, strict=True))
    assert 5 < sum(same) < 35


def test_image_dtypes() -> None:
    """Integers stand for [0, 1]; conversions scale."""
    x = np.array([0, 1, 128, 255], np.uint8)
    convert = tf2.image.convert_image_dtype
    np.testing.assert_allclose(np.asarray(convert(x, tf2.float32)), x / 255, rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(convert(x, tf2.uint16)), x.astype(np.uint16) * 256)
    np.testing.assert_array_equal(np.asarray(convert(convert(x, tf2.float32), tf2.uint8)), x)
    np.testing.assert_array_equal(np.asarray(convert([-1.0, 0.5, 2.0], tf2.uint8, saturate=True)), [0, 127, 255])
    bright = np.asarray(tf2.image.adjust_brightness(x, 0.5))
    np.testing.assert_array_equal(bright, np.minimum(x.astype(int) + 127, 255))


_BAD: dict[str, tuple[Callable[[Any], Any], str]] = {
    "rank": (lambda x: _image.flip_left_right(x[0]), "dimension"),
    "method": (lambda x: _image.resize_images(x, [2, 2], 7), "Resize method is not implemented"),
    "method_2": (lambda x: tf2.image.resize(x, [2, 2], "cubic"), "one of area, bicubic, bilinear"),
    "size": (lambda x: _image.resize_images(x, [2, 2, 2]), "2 elements"),
    "fractional_size": (lambda x: _image.resize_images(x, [2.5, 2.0]), "'size' must be a 1-D int32 Tensor"),
    "box": (lambda x: _image.crop_to_bounding_box(x, 3, 3, 4, 4), "height must be >= target"),
    "corner": (lambda x: _image.crop_to_bounding_box(x, -1, 3, 4, 4), "offset_height must be >= 0"),
    "target": (lambda x: _image.resize_image_with_crop_or_pad(x, 0, 4), "target_height must be > 0"),
    "small": (lambda x: _image.pad_to_bounding_box(x, 0, 0, 9, 4), "width must be <= target"),
    "fraction": (lambda x: _image.central_crop(x, 1.5), "central_fraction must be within"),
    "delta": (lambda x: _image.random_brightness(x, -1.0), "max_delta must be non-negative"),
    "bounds": (lambda x: _image.random_contrast(x, 2.0, 1.0), "upper must be > lower"),
    "channels": (_image.grayscale_to_rgb, "size 1"),
}


@pytest.mark.parametrize("name", _BAD)
def test_error(name: str) -> None:
    """Bad arguments are ValueErrors that say what is wrong."""
    function, message = _BAD[name]
    with pytest.raises(ValueError, match=message):
        function(tf2.constant(_X))


def test_dtype_that_is_no_number() -> None:
    """TensorFlow's AttributeError."""
    with pytest.raises(AttributeError, match="floating point or integer"):
        tf2.image.convert_image_dtype(_X, tf2.bool)


@pytest.mark.parametrize("value", [1.5, 6.0, np.float64(1.5), "1", None, [1], "tensor"])
@pytest.mark.parametrize("call", ["crop", "crop_size", "pad", "pad_size", "both"])
def test_offsets_and_sizes_are_integers(call, value) -> None:
    """TensorFlow raises as well, for tensors of other dtypes than int32, too."""
    calls = {
        "crop": lambda v: tf.image.crop_to_bounding_box(x, v, 1, 2, 2),
        "crop_size": lambda v: tf.image.crop_to_bounding_box(x, 1, 1, 2, v),
        "pad": lambda v: tf.image.pad_to_bounding_box(x, 1, v, 8, 9),
        "pad_size": lambda v: tf.image.pad_to_bounding_box(x, 1, 1, v, 9),
        "both": lambda v: tf.image.resize_with_crop_or_pad(x, v, 3),
    }
    with tf.Graph().as_default():
        x = tf.constant(np.ones((1, 4, 6, 1)))
        value = tf.constant(2.0) if isinstance(value, str) and value == "tensor" else value
        with pytest.raises(TypeError, match=r"(?s)Expected .*integers? for argument '(offset|target)_(height|width)', "
                           r"not .*Built at test_image_functions\.py:\d+.*Fix: give "):
            calls[call](value)
        right = 9 if call == "pad_size" else 2
        assert calls[call](np.int64(right)).shape == calls[call](tf.constant(right)).shape
