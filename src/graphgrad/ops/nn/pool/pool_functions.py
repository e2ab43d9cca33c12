"""Public functions of pooling, for TensorFlow 1 and 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.shape_values import is_tensor, plus
from graphgrad.ops.common.synonyms import either
from graphgrad.ops.nn.conv.conv_arguments import numbers, padding_attrs

_LAYOUTS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _attrs(nd, ksize, strides, padding, data_format):
    first = data_format.startswith("NC")
    attrs = {"ksize": numbers(ksize, nd, first, "ksize"), "strides": numbers(strides, nd, first, "strides"),
             **padding_attrs(padding)}
    if first:
        attrs["data_format"] = data_format
    return attrs


def _pool(kind, nd, x, ksize, strides, padding, data_format, name):
    """Pools over nd dimensions with MaxPool or AvgPool."""
    data_format = data_format or _LAYOUTS[nd][0]
    if nd == 1:
        return _pool_lines(kind, x, ksize, strides, padding, data_format, name)
    op_type = kind if nd == 2 else kind + "3D"
    return getattr(raw, op_type)(x, name=name, **_attrs(nd, ksize, strides, padding, data_format))


def _pool_lines(kind, x, ksize, strides, padding, data_format, name):
    with name_scope(name, kind + "1d"):
        x = convert_to_tensor(x, name="input")
        first = data_format.startswith("NC")
        axis = 2 if first else 1
        ksize = numbers(ksize, 1, first, "ksize")
        strides = numbers(strides, 1, first, "strides")
        wide = [tuple(v[:axis]) + (1,) + tuple(v[axis:]) for v in (ksize, strides)]
        y = _pool(kind, 2, raw.ExpandDims(x, axis), *wide, padding, "NCHW" if first else "NHWC", None)
        return raw.Squeeze(y, squeeze_dims=(axis,))


def _spatial(x, data_format):
    """Returns the number of spatial dimensions, from the data format or the rank."""
    if data_format is not None:
        return len(data_format) - 2
    if x._spec.shape is None:
        raise ValueError("`input` must have a static shape or a data_format must be given. Fix: set_shape, or give "
                         "data_format")
    nd = len(x._spec.shape) - 2
    if nd not in _LAYOUTS:
        raise ValueError(f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={x.shape} of rank {nd + 2}.")
    return nd


def max_pool(input: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any], padding: str | Sequence[Any],
             data_format: str | None = None, name: str | None = None) -> Tensor:
    """Computes the maximum of each window.

    Args:
      input: (N, *spatial, C), or (N, C, *spatial) for a data format that begins with "NC".
      ksize: the size of the window: an int, or a list for the spatial or all dimensions.
      strides: its step, like `ksize`.
      padding: "SAME", "VALID", or for each dimension a pair (before, after).
      data_format: "NWC", "NHWC", "NDHWC" (by the rank, the default) or "NCW", "NCHW", "NCDHW".
      name: a name for the operation.
    Returns: (N, *spatial', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: MaxPoolGrad: dy goes to the first maximum of each window.
    Reference: TensorFlow 2.21 MaxPool.

    >>> x = np.arange(16.0).reshape(1, 4, 4, 1)
    >>> sess.run(tf.nn.max_pool(x, 2, 2, "VALID"))[0, ..., 0]
    array([[ 5.,  7.],
           [13., 15.]])
    """
    x = convert_to_tensor(input, name="input")
    return _pool("MaxPool", _spatial(x, data_format), x, ksize, strides, padding, data_format, name)


def max_pool_v1(value: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any],
                padding: str | Sequence[Any], data_format: str = "NHWC", name: str | None = None,
                input: TensorLike = None) -> Tensor:
    """Computes the maximum of each window of images, with TensorFlow 1's arguments.

    Args:
      value, input: (N, H, W, C), or (N, C, H, W) for data_format "NCHW".
      ksize: the size of the window: an int, or a list of 1, 2 or 4.
      strides: its step, like `ksize`.
      padding: "SAME", "VALID", or for each dimension a pair (before, after).
      data_format: "NHWC" or "NCHW".
      name: a name for the operation.
    Returns: (N, H', W', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: MaxPoolGrad: dy goes to the first maximum of each window.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.max_pool`.
    """
    return _pool("MaxPool", 2, either("input", input, "value", value), ksize, strides, padding, data_format, name)


def max_pool1d(input: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any], padding: str,
               data_format: str = "NWC", name: str | None = None) -> Tensor:
    """Computes the maximum of each window of sequences.

    Args:
      input: (N, W, C), or (N, C, W) for data_format "NCW".
      ksize: the size of the window: an int, or a list of 1 or 3.
      strides: its step, like `ksize`.
      padding: "SAME" or "VALID".
      data_format: "NWC" or "NCW".
      name: a name for the scope of the operations.
    Returns: (N, W', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: that of MaxPool.
    Reference: TensorFlow 2.21 `tf.nn.max_pool1d`.

    >>> sess.run(tf.nn.max_pool1d([[[1.0], [3.0], [2.0], [0.0]]], 2, 2, "VALID")).ravel()
    array([3., 2.], dtype=float32)
    """
    return _pool("MaxPool", 1, input, ksize, strides, padding, data_format, name)


def max_pool2d(input: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any],
               padding: str | Sequence[Any], data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Computes the maximum of each window of images.

    Args:
      input: (N, H, W, C), or (N, C, H, W) for data_format "NCHW".
      ksize: the size of the window: an int, or a list of 1, 2 or 4.
      strides: its step, like `ksize`.
      padding: "SAME", "VALID", or for each dimension a pair (before, after).
      data_format: "NHWC" or "NCHW".
      name: a name for the operation.
    Returns: (N, H', W', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: MaxPoolGrad: dy goes to the first maximum of each window.
    Reference: TensorFlow 2.21 MaxPool.

    >>> sess.run(tf.nn.max_pool2d(np.arange(4.0).reshape(1, 2, 2, 1), 2, 2, "VALID")).ravel()
    array([3.])
    """
    return _pool("MaxPool", 2, input, ksize, strides, padding, data_format, name)


def max_pool3d(input: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any], padding: str,
               data_format: str = "NDHWC", name: str | None = None) -> Tensor:
    """Computes the maximum of each window of volumes.

    Args:
      input: (N, D, H, W, C), or (N, C, D, H, W) for data_format "NCDHW".
      ksize: the size of the window: an int, or a list of 1, 3 or 5.
      strides: its step, like `ksize`.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      name: a name for the operation.
    Returns: (N, D', H', W', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: MaxPool3DGrad: dy goes to all maxima of each window, undivided, as in TensorFlow.
    Reference: TensorFlow 2.21 MaxPool3D.

    >>> sess.run(tf.nn.max_pool3d(np.arange(8.0).reshape(1, 2, 2, 2, 1), 2, 2, "VALID")).ravel()
    array([7.])
    """
    return _pool("MaxPool", 3, input, ksize, strides, padding, data_format, name)


def avg_pool(input: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any], padding: str,
             data_format: str | None = None, name: str | None = None) -> Tensor:
    """Computes the mean of each window; padding does not count.

    Args:
      input: (N, *spatial, C), or (N, C, *spatial) for a data format that begins with "NC".
      ksize: the size of the window: an int, or a list for the spatial or all dimensions.
      strides: its step, like `ksize`.
      padding: "SAME" or "VALID".
      data_format: "NWC", "NHWC", "NDHWC" (by the rank, the default) or "NCW", "NCHW", "NCDHW".
      name: a name for the operation.
    Returns: (N, *spatial', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: AvgPoolGrad: dy is divided equally among the elements of each window.
    Reference: TensorFlow 2.21 AvgPool.

    >>> x = np.arange(16.0).reshape(1, 4, 4, 1)
    >>> sess.run(tf.nn.avg_pool(x, 2, 2, "VALID"))[0, ..., 0]
    array([[ 2.5,  4.5],
           [10.5, 12.5]])
    """
    x = convert_to_tensor(input, name="input")
    return _pool("AvgPool", _spatial(x, data_format), x, ksize, strides, padding, data_format, name)


def avg_pool_v1(value: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any], padding: str,
                data_format: str = "NHWC", name: str | None = None, input: TensorLike = None) -> Tensor:
    """Computes the mean of each window of images, with TensorFlow 1's arguments.

    Args:
      value, input: (N, H, W, C), or (N, C, H, W) for data_format "NCHW".
      ksize: the size of the window: an int, or a list of 1, 2 or 4.
      strides: its step, like `ksize`.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      name: a name for the operation.
    Returns: (N, H', W', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: AvgPoolGrad: dy is divided equally among the elements of each window.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.avg_pool`.
    """
    return _pool("AvgPool", 2, either("input", input, "value", value), ksize, strides, padding, data_format, name)


def avg_pool1d(input: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any], padding: str,
               data_format: str = "NWC", name: str | None = None) -> Tensor:
    """Computes the mean of each window of sequences.

    Args:
      input: (N, W, C), or (N, C, W) for data_format "NCW".
      ksize: the size of the window: an int, or a list of 1 or 3.
      strides: its step, like `ksize`.
      padding: "SAME" or "VALID".
      data_format: "NWC" or "NCW".
      name: a name for the scope of the operations.
    Returns: (N, W', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: that of AvgPool.
    Reference: TensorFlow 2.21 `tf.nn.avg_pool1d`.

    >>> sess.run(tf.nn.avg_pool1d([[[1.0], [3.0], [2.0], [0.0]]], 2, 2, "VALID")).ravel()
    array([2., 1.], dtype=float32)
    """
    return _pool("AvgPool", 1, input, ksize, strides, padding, data_format, name)


def avg_pool2d(input: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any], padding: str,
               data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Computes the mean of each window of images.

    Args:
      input: (N, H, W, C), or (N, C, H, W) for data_format "NCHW".
      ksize: the size of the window: an int, or a list of 1, 2 or 4.
      strides: its step, like `ksize`.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      name: a name for the operation.
    Returns: (N, H', W', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: AvgPoolGrad: dy is divided equally among the elements of each window.
    Reference: TensorFlow 2.21 AvgPool.

    >>> sess.run(tf.nn.avg_pool2d(np.arange(4.0).reshape(1, 2, 2, 1), 2, 2, "VALID")).ravel()
    array([1.5])
    """
    return _pool("AvgPool", 2, input, ksize, strides, padding, data_format, name)


def avg_pool3d(input: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any], padding: str,
               data_format: str = "NDHWC", name: str | None = None) -> Tensor:
    """Computes the mean of each window of volumes.

    Args:
      input: (N, D, H, W, C), or (N, C, D, H, W) for data_format "NCDHW".
      ksize: the size of the window: an int, or a list of 1, 3 or 5.
      strides: its step, like `ksize`.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      name: a name for the operation.
    Returns: (N, D', H', W', C).
    Raises: ValueError if the window is larger than the input.
    Gradient: AvgPool3DGrad: dy is divided equally among the elements of each window.
    Reference: TensorFlow 2.21 AvgPool3D.

    >>> sess.run(tf.nn.avg_pool3d(np.arange(8.0).reshape(1, 2, 2, 2, 1), 2, 2, "VALID")).ravel()
    array([3.5])
    """
    return _pool("AvgPool", 3, input, ksize, strides, padding, data_format, name)


class MaxPoolWithArgmax(NamedTuple):
    """The results of `max_pool_with_argmax`."""

    output: Tensor
    argmax: Tensor


def max_pool_with_argmax(input: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any], padding: str,
                         data_format: str = "NHWC", output_dtype: DTypeLike = int64,
                         include_batch_in_index: bool = False, name: str | None = None) -> MaxPoolWithArgmax:
    """Computes the maximum of each window, and its position.

    Args:
      input: (N, H, W, C).
      ksize: the size of the window: an int, or a list of 1, 2 or 4.
      strides: its step, like `ksize`.
      padding: "SAME" or "VALID".
      data_format: "NHWC".
      output_dtype: int64 or int32, for the positions.
      include_batch_in_index: whether a position counts from the start of the batch.
      name: a name for the operation.
    Returns: (maxima, positions); a position is (y W + x) C + c.
    Raises: ValueError for another data format or if the window is larger than the input.
    Gradient: dy at the positions.
    Reference: TensorFlow 2.21 MaxPoolWithArgmax.

    >>> sess.run(tf.nn.max_pool_with_argmax(np.arange(4.0).reshape(1, 2, 2, 1), 2, 2, "VALID")[1]).ravel()
    array([3])
    """
    if data_format != "NHWC":
        raise ValueError("`data_format` values other than 'NHWC' are not supported. "
                         f"Received: data_format={data_format}")
    return MaxPoolWithArgmax(*raw.MaxPoolWithArgmax(
        input, Targmax=as_dtype(output_dtype), name=name, include_batch_in_index=bool(include_batch_in_index),
        **_attrs(2, ksize, strides, padding, data_format)))


def max_pool_with_argmax_v1(input: TensorLike, ksize: int | Sequence[Any], strides: int | Sequence[Any], padding: str,
                            data_format: str = "NHWC", Targmax: DTypeLike | None = None, name: str | None = None,
                            output_dtype: DTypeLike | None = None,
                            include_batch_in_index: bool = False) -> MaxPoolWithArgmax:
    """Computes the maximum of each window, and its position, with TensorFlow 1's arguments.

    Args:
      input: (N, H, W, C).
      ksize: the size of the window: an int, or a list of 1, 2 or 4.
      strides: its step, like `ksize`.
      padding: "SAME" or "VALID".
      data_format: "NHWC".
      Targmax, output_dtype: int64 (the default) or int32, for the positions.
      name: a name for the operation.
      include_batch_in_index: whether a position counts from the start of the batch.
    Returns: (maxima, positions).
    Raises: ValueError for another data format or if the window is larger than the input.
    Gradient: dy at the positions.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.max_pool_with_argmax`.
    """
    dtype = either("output_dtype", output_dtype, "Targmax", Targmax)
    return max_pool_with_argmax(input, ksize, strides, padding, data_format, int64 if dtype is None else dtype,
                                include_batch_in_index, name)


def pool(input: TensorLike, window_shape: Sequence[Any], pooling_type: str, strides: Sequence[Any] | None = None,
         padding: str = "VALID", data_format: str | None = None, dilations: Sequence[Any] | None = None,
         name: str | None = None) -> Tensor:
    """Pools over one, two or three dimensions.

    Args:
      input: (N, *spatial, C), or (N, C, *spatial) for a data format that begins with "NC".
      window_shape: the size of the window, one for each spatial dimension.
      pooling_type: "MAX" or "AVG".
      strides: the window's steps; ones by default.
      padding: "VALID" or "SAME".
      data_format: as in `max_pool`.
      dilations: the dilations of the window; ones by default.
      name: a name for the operation.
    Returns: (N, *spatial', C).
    Raises: ValueError for an unknown type, or for strides together with dilations.
    Gradient: that of the pooling op.
    Reference: TensorFlow 2.21 `tf.nn.pool`.

    >>> sess.run(tf.nn.pool([[[1.0], [3.0], [2.0]]], [2], "MAX", "VALID")).ravel()
    array([3., 3.], dtype=float32)
    """
    x = convert_to_tensor(input, name="input")
    kinds = {"MAX": "MaxPool", "AVG": "AvgPool"}
    if pooling_type not in kinds:
        raise ValueError(f"`pooling_type` must be one of ('MAX', 'AVG'). Received: pooling_type={pooling_type}")
    window = [int(n) for n in window_shape]
    nd = len(window)
    steps = [1] * nd if strides is None else [int(n) for n in strides]
    holes = [1] * nd if dilations is None else [int(n) for n in dilations]
    if nd not in _LAYOUTS:
        raise ValueError(f"`window_shape` must have 1, 2 or 3 elements. Received: window_shape={window_shape}")
    kind = kinds[pooling_type]
    if all(h == 1 for h in holes):
        return _pool(kind, nd, x, window, steps, padding, data_format, name)
    if any(s != 1 for s in steps):
        raise ValueError("strides > 1 not supported in conjunction with dilations > 1. Fix: use one of them")
    return _pool_with_holes(kind, nd, x, window, padding, data_format, holes)


def _pool_with_holes(kind, nd, x, window, padding, data_format, holes):
    """Pools with dilated windows: the interleaved sub-grids of the input become batches."""
    if data_format is not None and data_format.startswith("NC"):
        raise ValueError("dilations > 1 need the channels last. Fix: use tf.transpose and data_format=None")
    sizes = x._spec.shape[1 : nd + 1] if x._spec.shape else (None,) * nd
    if None in sizes:
        sizes = raw.Unpack(raw.StridedSlice(raw.Shape(x), [1], [nd + 1], [1]), num=nd)
    befores, pads, crops = [], [], []
    for n, k, h in zip(sizes, window, holes, strict=True):
        total = (k - 1) * h if padding == "SAME" else 0
        before = total // 2
        more = _to_a_multiple(plus(n, total), h)
        befores.append(before)
        pads.append((before, plus(total - before, more)))
        crops.append((0, more))
    if padding == "SAME" and kind == "AvgPool":
        raise ValueError("dilations > 1 with padding 'SAME' are not supported for 'AVG'. "
                         "Fix: pad first, or use 'VALID'")
    parts = _space_to_batch(kind, x, holes, pads, any(befores))
    return raw.BatchToSpaceND(_pool(kind, nd, parts, window, [1] * nd, "VALID", None, None), holes, crops)


def _to_a_multiple(n, h):
    """Returns the distance to the next multiple of h."""
    return raw.FloorMod(raw.Neg(n), h) if is_tensor(n) else -n % h


def _space_to_batch(kind, x, holes, pads, before):
    if kind == "MaxPool" and before:  # padding must not win against negative elements
        low = float(x.dtype.min)
        x = raw.PadV2(x, [(0, 0), *pads, (0, 0)], low)
        pads = [(0, 0)] * len(pads)
    return raw.SpaceToBatchND(x, holes, pads)


def pool_v1(input: TensorLike, window_shape: Sequence[Any], pooling_type: str, padding: str, dilation_rate: Any = None,
            strides: Any = None, name: str | None = None, data_format: str | None = None,
            dilations: Any = None) -> Tensor:
    """Pools over one, two or three dimensions: `pool` with TensorFlow 1's arguments.

    Args:
      input: (N, *spatial, C), or (N, C, *spatial) for a data format that begins with "NC".
      window_shape: the size of the window, one for each spatial dimension.
      pooling_type: "MAX" or "AVG".
      padding: "VALID" or "SAME".
      dilation_rate, dilations: the dilations of the window; ones by default.
      strides: the window's steps; ones by default.
      name: a name for the operation.
      data_format: as in `max_pool`.
    Returns: (N, *spatial', C).
    Raises: ValueError for an unknown type, or for strides together with dilations.
    Gradient: that of the pooling op.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.pool`.
    """
    return pool(input, window_shape, pooling_type, strides, padding, data_format,
                either("dilations", dilations, "dilation_rate", dilation_rate), name)
