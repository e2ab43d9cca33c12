"""The structural similarity of images, at one scale and at several."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.shape_values import join, part, shape_of
from graphgrad.ops.nn.conv.depthwise_functions import depthwise_conv2d

from .color_spaces import _in_range, for_each_channel
from .image_arguments import as_image

_AREA = np.asarray([-3, -2], np.int32)
_LAST = np.asarray([-1], np.int32)


def _smooth(x, window):
    """Computes a depthwise convolution of (*B, H, W, C) with one window for all channels."""
    shape = shape_of(x)
    rank = len(x._spec.shape)
    flat = raw.Reshape(x, join([-1], part(shape, rank - 3, rank)))
    filters = for_each_channel(window[:, :, None, None].astype(np.float32), x)
    y = depthwise_conv2d(flat, filters, [1, 1, 1, 1], "VALID")
    return raw.Reshape(y, join(part(shape, 0, rank - 3), part(shape_of(y), 1, 4)))


def _window(filter_size, filter_sigma):
    at = np.arange(filter_size) - (filter_size - 1) / 2
    line = np.exp(-0.5 * (at / filter_sigma) ** 2)
    return np.outer(line, line) / line.sum() ** 2


def _similarity(x, y, scale, window, k1, k2):
    """Computes local similarities of luminance, and of contrast and structure."""
    c1, c2 = raw.Square(raw.Mul(k1, scale)), raw.Square(raw.Mul(k2, scale))
    mean_x, mean_y = _smooth(x, window), _smooth(y, window)
    both = raw.Mul(2.0, raw.Mul(mean_x, mean_y))
    squares = raw.AddV2(raw.Square(mean_x), raw.Square(mean_y))
    luminance = raw.RealDiv(raw.AddV2(both, c1), raw.AddV2(squares, c1))
    covariance = raw.Mul(2.0, _smooth(raw.Mul(x, y), window))
    variances = _smooth(raw.AddV2(raw.Square(x), raw.Square(y)), window)
    structure = raw.RealDiv(raw.AddV2(raw.Sub(covariance, both), c2), raw.AddV2(raw.Sub(variances, squares), c2))
    return luminance, structure


def _pair(img1, img2, max_val):
    return _in_range(as_image(img1), as_image(img2), max_val)


def _of_batches(measure, x, y):
    """Applies a function of two batches of images; images of unknown rank are one long batch."""
    if x._spec.shape is not None and y._spec.shape is not None:
        return measure(x, y)
    sizes = raw.Shape(x)
    lead, image = raw.StridedSlice(sizes, [0], [-3], [1]), raw.StridedSlice(sizes, [-3], [0], [1], end_mask=1)
    x, y = (raw.Reshape(t, join([-1], image)) for t in (x, y))
    for t in (x, y):
        t.set_shape((None,) * 4)
    result = measure(x, y)
    return raw.Reshape(result, join(lead, raw.StridedSlice(raw.Shape(result), [1], [0], [1], end_mask=1)))


def ssim(img1: TensorLike, img2: TensorLike, max_val: TensorLike, filter_size: int = 11, filter_sigma: float = 1.5,
         k1: float = 0.01, k2: float = 0.03, return_index_map: bool = False) -> Tensor:
    """Computes the structural similarity of two batches of images.

    Args:
      img1, img2: (*B, H, W, C), of one dtype, no smaller than the filter.
      max_val: the range of the pixels, e.g. 255.
      filter_size, filter_sigma: of the Gaussian window.
      k1, k2: constants of the measure.
      return_index_map: whether to return the map of local values instead of its mean.
    Returns: (*B), float32; (*B, H', W') for the map.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.image.ssim`; Wang et al. 2004.

    >>> x = np.ones((11, 11, 1), np.float32)
    >>> sess.run(tf.image.ssim(x, x, 1.0)).round(3)
    np.float32(1.0)
    """
    with name_scope(None, "SSIM"):
        x, y, scale = _pair(img1, img2, max_val)

        def measure(x, y):
            luminance, structure = _similarity(x, y, scale, _window(filter_size, filter_sigma), k1, k2)
            local = raw.Mul(luminance, structure)
            if return_index_map:
                return raw.Mean(local, _LAST)
            return raw.Mean(raw.Mean(local, _AREA), _LAST)

        return _of_batches(measure, x, y)


_HALVES = [1, 2, 2, 1]
_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _halved(x):
    """Halves height and width: means of 2 x 2 pixels, the last ones repeated where their number is odd."""
    shape = shape_of(x)
    rank = len(x._spec.shape)
    flat = raw.Reshape(x, join([-1], part(shape, rank - 3, rank)))
    known = x._spec.shape[-3:-1]
    if None in known:
        odd = raw.FloorMod(convert_to_tensor(part(shape, rank - 3, rank - 1)), 2)
        paddings = raw.Pad(raw.ExpandDims(odd, 1), [[1, 1], [1, 0]])
    else:
        paddings = np.asarray([[0, 0], *([0, n % 2] for n in known), [0, 0]], np.int32)
    pooled = raw.AvgPool(raw.MirrorPad(flat, paddings, mode="SYMMETRIC"), ksize=_HALVES, strides=_HALVES,
                         padding="VALID")
    pooled.set_shape((None, None, None, x._spec.shape[-1]))  # lost by paddings known only to the run
    return raw.Reshape(pooled, join(part(shape, 0, rank - 3), part(shape_of(pooled), 1, 4)))


def ssim_multiscale(img1: TensorLike, img2: TensorLike, max_val: TensorLike, power_factors: Any = _WEIGHTS,
                    filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03) -> Tensor:
    """Computes the structural similarity of two batches of images at several scales.

    Args:
      img1, img2: (*B, H, W, C), of one dtype; at the last scale no smaller than the filter.
      max_val: the range of the pixels, e.g. 255.
      power_factors: the weight of each scale, from the images' own to the coarsest; each has half the size of the
        previous one.
      filter_size, filter_sigma: of the Gaussian window.
      k1, k2: constants of the measure.
    Returns: (*B), float32.
    Raises: InvalidArgumentError if images are too small for the number of scales.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.image.ssim_multiscale`; Wang, Simoncelli & Bovik 2003.

    >>> x = np.ones((22, 22, 1), np.float32)
    >>> sess.run(tf.image.ssim_multiscale(x, x, 1.0, [0.5, 0.5])).round(3)
    np.float32(1.0)
    """
    with name_scope(None, "MS-SSIM"):
        x, y, scale = _pair(img1, img2, max_val)

        def measure(x, y):
            window, measures = _window(filter_size, filter_sigma), []
            for i in range(len(power_factors)):
                with name_scope(None, f"Scale{i}"):
                    if i:
                        x, y = _halved(x), _halved(y)
                    luminance, structure = _similarity(x, y, scale, window, k1, k2)
                    last = i == len(power_factors) - 1
                    measures.append(raw.Relu(raw.Mean(raw.Mul(luminance, structure) if last else structure, _AREA)))
            weighted = raw.Pow(raw.Pack(measures, axis=-1), np.asarray(power_factors, np.float32))
            return raw.Mean(raw.Prod(weighted, _LAST), _LAST)

        return _of_batches(measure, x, y)
