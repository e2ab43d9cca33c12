"""Colour spaces, comparisons and derivatives of images."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.context import executing_eagerly
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.shape_values import fill, join, minus, rank_of, shape_of
from graphgrad.ops.linalg.tensordot import tensordot
from graphgrad.ops.nn.conv.depthwise_functions import depthwise_conv2d

from .adjust import adjust_brightness, adjust_contrast, as_floats, convert_image_dtype
from .image_arguments import check_bounds, keyed, stateful

# -- colours ---------------------------------------------------------------------------


def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts RGB to hue, saturation and value, all in [0, 1].

    Args:
      images: (*B, 3), floating.
      name: a name for the operation.
    Returns: (*B, 3).
    Raises: ValueError if there are not 3 channels.
    Gradient: where channels differ.
    Reference: TensorFlow 2.21 RGBToHSV.

    >>> sess.run(tf.image.rgb_to_hsv([0.0, 1.0, 0.0]))
    array([0.33333334, 1.        , 1.        ], dtype=float32)
    """
    return raw.RGBToHSV(images, name=name)


def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts hue, saturation and value, all in [0, 1], to RGB.

    Args:
      images: (*B, 3), floating.
      name: a name for the operation.
    Returns: (*B, 3).
    Raises: ValueError if there are not 3 channels.
    Gradient: none, as in TensorFlow.
    Reference: TensorFlow 2.21 HSVToRGB.

    >>> sess.run(tf.image.hsv_to_rgb([0.0, 1.0, 1.0]))
    array([1., 0., 0.], dtype=float32)
    """
    return raw.HSVToRGB(images, name=name)


_TO_YIQ = ((0.299, 0.59590059, 0.2115), (0.587, -0.27455667, -0.52273617), (0.114, -0.32134392, 0.31119955))
_FROM_YIQ = ((1, 1, 1), (0.95598634, -0.27201283, -1.10674021), (0.6208248, -0.64720424, 1.70423049))
_TO_YUV = ((0.299, -0.14714119, 0.61497538), (0.587, -0.28886916, -0.51496512), (0.114, 0.43601035, -0.10001026))
_FROM_YUV = ((1, 1, 1), (0, -0.394642334, 2.03206185), (1.13988303, -0.58062185, 0))


def _colours(images, matrix):
    x = convert_to_tensor(images, name="images")
    if not x.dtype.is_floating:
        raise TypeError(f"colours must be floating, not {x.dtype.name}. Fix: tf.image.convert_image_dtype")
    if x._spec.shape is not None and x._spec.shape[-1:] not in ((3,), (None,)):
        raise ValueError(f"colours need 3 channels, not the shape {x.shape}. Fix: give RGB images")
    return tensordot(x, np.asarray(matrix, x.dtype.np_dtype), axes=[[len(x._spec.shape) - 1], [0]])


def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Converts RGB to luma and chroma (YIQ).

    Args:
      images: (*B, 3), floating.
    Returns: (*B, 3).
    Raises: ValueError if there are not 3 channels.
    Gradient: that of a matrix product.
    Reference: TensorFlow 2.21 `tf.image.rgb_to_yiq`.

    >>> sess.run(tf.image.rgb_to_yiq([[1.0, 1.0, 1.0]]))[0, 0]
    np.float32(1.0)
    """
    return _colours(images, _TO_YIQ)


def yiq_to_rgb(images: TensorLike) -> Tensor:
    """Converts luma and chroma (YIQ) to RGB.

    Args:
      images: (*B, 3), floating.
    Returns: (*B, 3).
    Raises: ValueError if there are not 3 channels.
    Gradient: that of a matrix product.
    Reference: TensorFlow 2.21 `tf.image.yiq_to_rgb`.

    >>> sess.run(tf.image.yiq_to_rgb([[1.0, 0.0, 0.0]]))
    array([[1., 1., 1.]], dtype=float32)
    """
    return _colours(images, _FROM_YIQ)


def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Converts RGB to luma and chroma (YUV).

    Args:
      images: (*B, 3), floating.
    Returns: (*B, 3).
    Raises: ValueError if there are not 3 channels.
    Gradient: that of a matrix product.
    Reference: TensorFlow 2.21 `tf.image.rgb_to_yuv`.

    >>> sess.run(tf.image.rgb_to_yuv([[1.0, 1.0, 1.0]]))[0, 0]
    np.float32(1.0)
    """
    return _colours(images, _TO_YUV)


def yuv_to_rgb(images: TensorLike) -> Tensor:
    """Converts luma and chroma (YUV) to RGB.

    Args:
      images: (*B, 3), floating.
    Returns: (*B, 3).
    Raises: ValueError if there are not 3 channels.
    Gradient: that of a matrix product.
    Reference: TensorFlow 2.21 `tf.image.yuv_to_rgb`.

    >>> sess.run(tf.image.yuv_to_rgb([[1.0, 0.0, 0.0]]))
    array([[1., 1., 1.]], dtype=float32)
    """
    return _colours(images, _FROM_YUV)


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts RGB to brightness.

    Args:
      images: (*B, 3), real.
      name: a name for the operation.
    Returns: (*B, 1), of the same dtype.
    Raises: ValueError if there are not 3 channels.
    Gradient: dy times the weights 0.2989, 0.587, 0.114.
    Reference: TensorFlow 2.21 `tf.image.rgb_to_grayscale`.

    >>> sess.run(tf.image.rgb_to_grayscale([[[1.0, 0.0, 0.0]]])).ravel()
    array([0.2989], dtype=float32)
    """
    with name_scope(name, "rgb_to_grayscale"):
        x, dtype = as_floats(images)
        shape = x._spec.shape
        if shape is not None and shape[-1:] not in ((3,), (None,)):
            raise ValueError(f"rgb_to_grayscale needs 3 channels, not the shape {x.shape}. Fix: give RGB images")
        weights = np.asarray([0.2989, 0.587, 0.114], x.dtype.np_dtype)
        gray = tensordot(x, weights, axes=[[-1], [-1]])
        return convert_image_dtype(raw.ExpandDims(gray, -1), dtype)


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts brightness to three equal channels.

    Args:
      images: (*B, 1).
      name: a name for the operation.
    Returns: (*B, 3).
    Raises: ValueError if there is not 1 channel.
    Gradient: dy summed over the channels.
    Reference: TensorFlow 2.21 `tf.image.grayscale_to_rgb`.

    >>> sess.run(tf.image.grayscale_to_rgb([[[0.5]]])).ravel()
    array([0.5, 0.5, 0.5], dtype=float32)
    """
    with name_scope(name, "grayscale_to_rgb") as scope:
        x = convert_to_tensor(images, name="images")
        shape = x._spec.shape
        if shape is not None and shape[-1:] not in ((1,), (None,)):
            raise ValueError(f"Last dimension of a grayscale image should be size 1, not {x.shape}. Fix: give (*B, 1)")
        return raw.Tile(x, join(fill(minus(rank_of(x), 1), 1), [3]), name=scope or None)


def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """Rotates the hue of colours.

    Args:
      image: (*B, 3), real.
      delta: the fraction of the circle, in [-1, 1].
      name: a name for the scope of the operations.
    Returns: a tensor like `image`.
    Raises: InvalidArgumentError if there are not 3 channels; ValueError in eager mode for another delta.
    Gradient: none is declared, as in TensorFlow.
    Reference: TensorFlow 2.21 AdjustHue.

    >>> sess.run(tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5)).ravel()
    array([0., 1., 1.], dtype=float32)
    """
    if executing_eagerly() and not -1 <= delta <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    with name_scope(name, "adjust_hue"):
        x, dtype = as_floats(image)
        return convert_image_dtype(raw.AdjustHue(x, delta), dtype)


def random_hue(image: TensorLike, max_delta: TensorLike, seed: int | None = None) -> Tensor:
    """Adjusts the hue of colours by a random delta.

    Args:
      image: (*B, 3), real.
      max_delta: the delta is drawn from [-max_delta, max_delta); at most 0.5.
      seed: an integer, or None.
    Returns: a tensor like `image`.
    Raises: ValueError if max_delta is out of range.
    Gradient: none is declared, as in TensorFlow.
    Reference: TensorFlow 2.21 `tf.image.random_hue`.

    >>> sess.run(tf.image.random_hue([[[0.5, 0.5, 0.5]]], 0.5)).ravel()
    array([0.5, 0.5, 0.5], dtype=float32)
    """
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, stateful(seed, -max_delta, max_delta)([]))


def adjust_saturation(image: TensorLike, saturation_factor: TensorLike, name: str | None = None) -> Tensor:
    """Multiplies the saturation of colours, up to 1.

    Args:
      image: (*B, 3), real.
      saturation_factor: a number or scalar tensor.
      name: a name for the scope of the operations.
    Returns: a tensor like `image`.
    Raises: InvalidArgumentError if there are not 3 channels.
    Gradient: none is declared, as in TensorFlow.
    Reference: TensorFlow 2.21 AdjustSaturation.

    >>> sess.run(tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 2.0)).ravel()
    array([1., 0., 0.], dtype=float32)
    """
    with name_scope(name, "adjust_saturation"):
        x, dtype = as_floats(image)
        return convert_image_dtype(raw.AdjustSaturation(x, saturation_factor), dtype)


def random_saturation(image: TensorLike, lower: TensorLike, upper: TensorLike, seed: int | None = None) -> Tensor:
    """Adjusts the saturation of colours by a random factor.

    Args:
      image: (*B, 3), real.
      lower, upper: the factor is drawn from [lower, upper).
      seed: an integer, or None.
    Returns: a tensor like `image`.
    Raises: ValueError if the bounds are not in order.
    Gradient: none is declared, as in TensorFlow.
    Reference: TensorFlow 2.21 `tf.image.random_saturation`.

    >>> sess.run(tf.image.random_saturation([[[0.5, 0.5, 0.5]]], 0.5, 1.5)).ravel()
    array([0.5, 0.5, 0.5], dtype=float32)
    """
    check_bounds(lower, upper)
    return adjust_saturation(image, stateful(seed, lower, upper)([]))


# -- the same with keys ----------------------------------------------------------------


def stateless_random_brightness(image: TensorLike, max_delta: TensorLike, seed: TensorLike) -> Tensor:
    """Adjusts the brightness of images by a delta drawn from a seed.

    Args:
      image: a real tensor.
      max_delta: the delta is drawn from [-max_delta, max_delta).
      seed: a pair of integers.
    Returns: a tensor like `image`.
    Raises: ValueError if max_delta is negative.
    Gradient: dy.
    Reference: TensorFlow 2.21 `tf.image.stateless_random_brightness`.
    """
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, keyed(seed, -max_delta, max_delta)([]))


def stateless_random_contrast(image: TensorLike, lower: TensorLike, upper: TensorLike, seed: TensorLike) -> Tensor:
    """Adjusts the contrast of images by a factor drawn from a seed.

    Args:
      image: (*B, H, W, C), real.
      lower, upper: the factor is drawn from [lower, upper).
      seed: a pair of integers.
    Returns: a tensor like `image`.
    Raises: ValueError if the bounds are not in order.
    Gradient: that of `adjust_contrast`.
    Reference: TensorFlow 2.21 `tf.image.stateless_random_contrast`.
    """
    check_bounds(lower, upper)
    return adjust_contrast(image, keyed(seed, lower, upper)([]))


def stateless_random_hue(image: TensorLike, max_delta: TensorLike, seed: TensorLike) -> Tensor:
    """Adjusts the hue of colours by a delta drawn from a seed.

    Args:
      image: (*B, 3), real.
      max_delta: the delta is drawn from [-max_delta, max_delta); at most 0.5.
      seed: a pair of integers.
    Returns: a tensor like `image`.
    Raises: ValueError if max_delta is out of range.
    Gradient: none is declared, as in TensorFlow.
    Reference: TensorFlow 2.21 `tf.image.stateless_random_hue`.
    """
    if not 0 <= max_delta <= 0.5:
        raise ValueError("max_delta must be <= 0.5 and non-negative.")
    return adjust_hue(image, keyed(seed, -max_delta, max_delta)([]))


def stateless_random_saturation(image: TensorLike, lower: TensorLike, upper: TensorLike,
                                seed: int | None = None) -> Tensor:
    """Adjusts the saturation of colours by a factor drawn from a seed.

    Args:
      image: (*B, 3), real.
      lower, upper: the factor is drawn from [lower, upper).
      seed: a pair of integers.
    Returns: a tensor like `image`.
    Raises: ValueError if the bounds are not in order.
    Gradient: none is declared, as in TensorFlow.
    Reference: TensorFlow 2.21 `tf.image.stateless_random_saturation`.
    """
    check_bounds(lower, upper)
    return adjust_saturation(image, keyed(seed, lower, upper)([]))


# -- derivatives and comparisons -------------------------------------------------------


def _differences(x):
    """Computes differences of neighbours along height and width, of (*B, H, W, C)."""
    lead = len(x._spec.shape) - 3
    found = []
    for axis in (lead, lead + 1):
        n = len(x._spec.shape)
        begin, end, ones = np.zeros(n, np.int32), np.zeros(n, np.int32), np.ones(n, np.int32)
        begin[axis], end[axis] = 1, -1
        others = ((1 << n) - 1) & ~(1 << axis)
        after = raw.StridedSlice(x, begin, np.zeros(n, np.int32), ones, begin_mask=others, end_mask=(1 << n) - 1)
        before = raw.StridedSlice(x, np.zeros(n, np.int32), end, ones, begin_mask=(1 << n) - 1, end_mask=others)
        found.append(raw.Sub(after, before))
    return found


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """Computes the sum of the absolute differences between neighbouring pixels.

    Args:
      images: (H, W, C) or (N, H, W, C).
      name: a name for the scope of the operations.
    Returns: a scalar, or (N).
    Raises: ValueError for another rank.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.image.total_variation`.

    >>> sess.run(tf.image.total_variation([[[1.0], [3.0]]]))
    np.float32(2.0)
    """
    with name_scope(name, "total_variation"):
        x = convert_to_tensor(images)
        if x._spec.shape is None or len(x._spec.shape) not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        axes = np.asarray([0, 1, 2] if len(x._spec.shape) == 3 else [1, 2, 3], np.int32)
        down, right = (raw.Sum(raw.Abs(d), axes) for d in _differences(x))
        return raw.AddV2(down, right)


def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """Computes differences to the pixel below and to the right; 0 in the last row and column.

    Args:
      image: (N, H, W, C).
    Returns: the pair (dy, dx), each (N, H, W, C).
    Raises: ValueError for another rank.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.image.image_gradients`.

    >>> sess.run(tf.image.image_gradients([[[[1.0], [3.0]]]])[1]).ravel()
    array([2., 0.], dtype=float32)
    """
    x = convert_to_tensor(image)
    if x._spec.shape is None or len(x._spec.shape) != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {x.shape}.")
    down, right = _differences(x)
    return (raw.Pad(down, np.asarray([[0, 0], [0, 1], [0, 0], [0, 0]], np.int32)),
            raw.Pad(right, np.asarray([[0, 0], [0, 0], [0, 1], [0, 0]], np.int32)))


def for_each_channel(kernel, x):
    """Makes a kernel (h, w, 1, n) for a depthwise convolution of x that is the same for each channel."""
    channels = x._spec.shape[-1]
    if channels is not None:
        return np.tile(kernel, (1, 1, channels, 1))
    channels = raw.StridedSlice(raw.Shape(x), [-1], [0], [1], end_mask=1)
    return raw.Tile(convert_to_tensor(kernel), join([1, 1], channels, [1]))


def sobel_edges(image: TensorLike) -> Tensor:
    """Applies the Sobel operator: smoothed derivatives along height and width.

    Args:
      image: (N, H, W, C).
    Returns: (N, H, W, C, 2).
    Raises: ValueError for another rank.
    Gradient: that of a depthwise convolution.
    Reference: TensorFlow 2.21 `tf.image.sobel_edges`.

    >>> sess.run(tf.image.sobel_edges(np.ones((1, 3, 3, 1)))).shape
    (1, 3, 3, 1, 2)
    """
    x = convert_to_tensor(image)
    if x._spec.shape is None:
        x = raw.Identity(x)
        x.set_shape((None,) * 4)
    if len(x._spec.shape) != 4:
        raise ValueError(f"sobel_edges needs images of rank 4, not {x.shape}. Fix: use tf.expand_dims")
    kernels = np.asarray([[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]])
    filters = for_each_channel(kernels.transpose(1, 2, 0)[:, :, None].astype(x.dtype.np_dtype), x)
    padded = raw.MirrorPad(x, np.asarray([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32), mode="REFLECT")
    edges = depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    return raw.Reshape(edges, join(shape_of(x), [2]))


def _in_range(a, b, max_val):
    a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
    scale = max_val if not hasattr(max_val, "_spec") else raw.Cast(max_val, DstT=a.dtype)
    scale = convert_image_dtype(convert_to_tensor(scale, a.dtype), float32)
    return convert_image_dtype(a, float32), convert_image_dtype(b, float32), scale


def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """Computes the peak signal-to-noise ratio of two batches of images, in decibels.

    Args:
      a, b: (*B, H, W, C), of one dtype.
      max_val: the range of the pixels, e.g. 255.
      name: a name for the scope of the operations.
    Returns: (*B), float32.
    Raises: ValueError if the shapes are incompatible.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.image.psnr`.

    >>> sess.run(tf.image.psnr([[[0.0]]], [[[0.1]]], 1.0)).round()
    np.float32(20.0)
    """
    with name_scope(name, "PSNR"):
        a, b, scale = _in_range(a, b, max_val)
        error = raw.Mean(raw.SquaredDifference(a, b), np.asarray([-3, -2, -1], np.int32))
        decibel = 1 / np.log(10.0)
        return raw.Sub(raw.Mul(20 * decibel, raw.Log(scale)), raw.Mul(10 * decibel, raw.Log(error)), name="psnr")
