"""Fractional pooling: pooling regions of random size, for a non-integer ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import float32, float64, int32, int64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Cost
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import shape_of
from graphgrad.ops.random import philox
from graphgrad.ops.random.seeds import drawn_seeds, get_seed, start

_T = frozenset({float32, float64, int32, int64})
_FLAGS = ("host", "stateful", "random")
_SEQUENCES = "row_pooling_sequence: int64, col_pooling_sequence: int64"


# -- where windows begin -----------------------------------------------------------------


def _words(stream, block, n):
    index = np.arange(block, block + -(-n // 4), dtype=np.uint64)
    return np.stack(philox.host_blocks(stream, index), 1).reshape(-1).tolist()


def _regular(n, out, words):
    """Computes nearly equal steps from a random start."""
    ratio = n / out
    most = min((math.floor(ratio) + 2) / ratio - 1, (n + 1 - math.floor(ratio)) / ratio - (out - 1))
    offset = ((words[0] & 0xFFFFF) << 32 | words[1]) / 2.0**52 * most
    return [0, *[math.ceil(ratio * (i + offset)) - 1 for i in range(1, out)], n]


def _shuffled(n, out, words):
    """Computes steps of two sizes in random order."""
    steps = [n // out + (i < n % out) for i in range(out)]
    for i in range(out - 1):
        j = i + words[i] % (out - i)
        steps[i], steps[j] = steps[j], steps[i]
    return [0, *np.cumsum(steps).tolist()]


def _sequences(stream, sizes, outs, pseudo_random):
    block, found = 0, []
    for n, out in zip(sizes, outs, strict=True):
        drawn = 2 if pseudo_random else out
        words = _words(stream, block, drawn)
        found.append(np.asarray((_regular if pseudo_random else _shuffled)(n, out, words), np.int64))
        block += -(-drawn // 4)
    return found


def _outs(sizes, ratio):
    if len(ratio) != 4:
        raise Complaint(f"pooling_ratio must have 4 elements but has {len(ratio)}", "give [1.0, h, w, 1.0]")
    if ratio[0] != 1 or ratio[3] != 1:
        raise Complaint("Fractional pooling is not yet supported on the batch nor channel dimension.",
                        "give [1.0, h, w, 1.0]")
    for axis, (n, r) in enumerate(zip(sizes, ratio[1:3], strict=True), 1):
        if r < 1:
            raise Complaint(f"pooling_ratio cannot be smaller than 1, got: {r}", "pooling makes images smaller")
        if n is not None and r > n:
            raise Complaint(f"Pooling ratio is higher than input dimension size for dimension {axis}. Input dim size: "
                            f"{n} pooling ratio: {r}", "use a smaller ratio")
    return [None if n is None else math.floor(n / r) for n, r in zip(sizes, ratio[1:3], strict=True)]


def _windows(rows, columns, shape, overlapping):
    """Returns, for each window, its indices and its first and last row and column."""
    edges = []
    for sequence, n in ((rows, shape[1]), (columns, shape[2])):
        ends = np.minimum(sequence[1:] + int(overlapping), n)
        edges.append(list(zip(sequence[:-1].tolist(), ends.tolist(), strict=True)))
    for i, (top, bottom) in enumerate(edges[0]):
        for j, (left, right) in enumerate(edges[1]):
            yield i, j, top, bottom, left, right


def _check_seeds(deterministic, seed, seed2):
    if not deterministic and 0 < max(seed, seed2) < 2**32:  # larger ones were drawn
        raise Complaint("Both seed and seed2 should be 0 if deterministic is false.", "use deterministic=True")


def _shape(x, pooling_ratio, deterministic, seed, seed2):
    _check_seeds(deterministic, seed, seed2)
    x = with_rank(x, 4, "value")
    outs = _outs(x[1:3], pooling_ratio)
    return [(x[0], *outs, x[3]), *[(None if n is None else n + 1,) for n in outs]]


def _pooled(op_type, fold):
    def kernel(xp, x, *, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0,
               rng=0):
        outs = _outs(x.shape[1:3], pooling_ratio)
        blocks = sum(1 if pseudo_random else -(-out // 4) for out in outs)
        stream = start(xp, op_type, 0 if deterministic else rng, seed, seed2, blocks)  # the same regions in each run
        rows, columns = _sequences(stream, x.shape[1:3], outs, pseudo_random)
        return fold(x, rows, columns, overlapping), rows, columns

    return kernel


# -- maxima ------------------------------------------------------------------------------


def _maxima(x, rows, columns, overlapping):
    y = np.empty((x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[3]), x.dtype)
    for i, j, top, bottom, left, right in _windows(rows, columns, x.shape, overlapping):
        y[:, i, j] = x[:, top:bottom, left:right].max((1, 2))
    return y


def _places(x, rows, columns, overlapping):
    """Yields the indices of each window, and where in x its first maximum is: (batch, rows, columns, channels)."""
    batch, channels = np.arange(x.shape[0])[:, None], np.arange(x.shape[3])[None, :]
    for i, j, top, bottom, left, right in _windows(rows, columns, x.shape, overlapping):
        first = x[:, top:bottom, left:right].reshape(x.shape[0], -1, x.shape[3]).argmax(1)
        yield i, j, (batch, top + first // (right - left), left + first % (right - left), channels)


fractional_max = op("FractionalMaxPool", f"value: T -> output: T, {_SEQUENCES}", T=_T, flags=_FLAGS, shape=_shape,
                    cost=Cost.HEAVY)(
    _pooled("FractionalMaxPool", _maxima)
)


@fractional_max.grad
def _fractional_max_grad(op, dy, *unused):
    y, *sequences = op.outputs
    return raw.FractionalMaxPoolGrad(op.inputs[0], y, dy, *sequences, overlapping=op._attr("overlapping"))


@op("FractionalMaxPoolGrad", f"orig_input: T, orig_output: T, out_backprop: T, {_SEQUENCES} -> output: T", T=_T,
    flags=("host",), cost=Cost.HEAVY)
def fractional_max_grad(xp, x, y, dy, rows, columns, *, overlapping=False):
    """Passes each window's gradient to its first maximum."""
    dx = np.zeros(x.shape, dy.dtype)
    for i, j, place in _places(x, rows, columns, overlapping):
        np.add.at(dx, place, dy[:, i, j])
    return dx


@fractional_max_grad.shape
def _fractional_max_grad_shape(x, y, dy, rows, columns):
    return with_rank(x, 4, "orig_input")


@fractional_max_grad.grad
def _fractional_max_grad_grad(op, ddx):
    x, y, _, *sequences = op.inputs
    ddy = raw.FractionalMaxPoolGradGrad(x, y, ddx, *sequences, overlapping=op._attr("overlapping"))
    return raw.ZerosLike(x), raw.ZerosLike(y), ddy, None, None


@op("FractionalMaxPoolGradGrad", f"orig_input: T, orig_output: T, grad: T, {_SEQUENCES} -> output: T", T=_T,
    flags=("host",), cost=Cost.HEAVY)
def fractional_max_grad_grad(xp, x, y, ddx, rows, columns, *, overlapping=False):
    """Picks, for each window, the element at its first maximum."""
    result = np.empty(y.shape, ddx.dtype)
    for i, j, place in _places(x, rows, columns, overlapping):
        result[:, i, j] = ddx[place]
    return result


@fractional_max_grad_grad.shape
def _fractional_max_grad_grad_shape(x, y, ddx, rows, columns):
    return with_rank(y, 4, "orig_output")


@fractional_max_grad_grad.grad
def _fractional_max_grad_grad_grad(op, dy):
    x, y, _, *sequences = op.inputs
    dx = raw.FractionalMaxPoolGrad(x, y, dy, *sequences, overlapping=op._attr("overlapping"))
    return raw.ZerosLike(x), raw.ZerosLike(y), dx, None, None


# -- means -------------------------------------------------------------------------------


def _means(x, rows, columns, overlapping):
    y = np.empty((x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[3]), x.dtype)
    for i, j, top, bottom, left, right in _windows(rows, columns, x.shape, overlapping):
        total, count = x[:, top:bottom, left:right].sum((1, 2)), (bottom - top) * (right - left)
        y[:, i, j] = total / count if x.dtype.kind == "f" else np.trunc(total / count)
    return y


fractional_avg = op("FractionalAvgPool", f"value: T -> output: T, {_SEQUENCES}", T=_T, flags=_FLAGS, shape=_shape,
                    cost=Cost.HEAVY)(
    _pooled("FractionalAvgPool", _means)
)


@fractional_avg.grad
def _fractional_avg_grad(op, dy, *unused):
    return raw.FractionalAvgPoolGrad(shape_of(op.inputs[0], int64), dy, *op.outputs[1:],
                                     overlapping=op._attr("overlapping"))


@op("FractionalAvgPoolGrad", f"orig_input_tensor_shape: int64, out_backprop: T, {_SEQUENCES} -> output: T", T=_T,
    host=("orig_input_tensor_shape",), flags=("host",), cost=Cost.HEAVY)
def fractional_avg_grad(xp, shape, dy, rows, columns, *, overlapping=False):
    """Divides each window's gradient equally among its elements."""
    dx = np.zeros(tuple(int(n) for n in shape), dy.dtype)
    for i, j, top, bottom, left, right in _windows(rows, columns, dx.shape, overlapping):
        share = dy[:, i, j] / ((bottom - top) * (right - left))
        dx[:, top:bottom, left:right] += share.astype(dy.dtype)[:, None, None]
    return dx


@fractional_avg_grad.shape
def _fractional_avg_grad_shape(shape, dy, rows, columns):
    with_rank(dy, 4, "out_backprop")
    return (None,) * 4 if shape is None else shape


@fractional_avg_grad.grad
def _fractional_avg_grad_grad(op, ddx):
    sequences = op.inputs[2:]
    return None, raw.FractionalAvgPoolGradGrad(ddx, *sequences, overlapping=op._attr("overlapping")), None, None


@op("FractionalAvgPoolGradGrad", f"grad: T, {_SEQUENCES} -> output: T", T=_T, flags=("host",), cost=Cost.HEAVY)
def fractional_avg_grad_grad(xp, ddx, rows, columns, *, overlapping=False):
    """Computes the mean of each window."""
    return _means(ddx, rows, columns, overlapping)


@fractional_avg_grad_grad.shape
def _fractional_avg_grad_grad_shape(ddx, rows, columns):
    ddx = with_rank(ddx, 4, "grad")
    sizes = [None if n is None else n - 1 for (n,) in (with_rank(s, 1, "sequence") for s in (rows, columns))]
    return (ddx[0], *sizes, ddx[3])


@fractional_avg_grad_grad.grad
def _fractional_avg_grad_grad_grad(op, dy):
    ddx, *sequences = op.inputs
    return raw.FractionalAvgPoolGrad(shape_of(ddx, int64), dy, *sequences,
                                     overlapping=op._attr("overlapping")), None, None


# -- public functions --------------------------------------------------------------------


def _ratio(ratio):
    if isinstance(ratio, (int, float)):
        ratio = [ratio]
    ratio = [float(r) for r in ratio]
    if len(ratio) not in (1, 2, 4):
        raise ValueError(f"pooling_ratio should be of length 1, 2 or 4, but is {ratio}. Fix: give [height, width]")
    return tuple(ratio) if len(ratio) == 4 else (1.0, ratio[0], ratio[-1], 1.0)


def _pool(builder, value, ratio, pseudo_random, overlapping, deterministic, seeds, name):
    if not any(seeds):
        seeds = drawn_seeds()
    seed, seed2 = seeds
    return builder(value, pooling_ratio=tuple(ratio), pseudo_random=bool(pseudo_random), overlapping=bool(overlapping),
                   deterministic=bool(deterministic), seed=int(seed), seed2=int(seed2), name=name)


def _seeds(seed):
    return get_seed(seed) if seed else (0, 0)


def fractional_max_pool(value: TensorLike, pooling_ratio: float | Sequence[Any], pseudo_random: bool = False,
                        overlapping: bool = False, seed: int | None = 0,
                        name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the maxima of windows of two sizes, in random order.

    Args:
      value: (N, H, W, C), float32, float64, int32 or int64.
      pooling_ratio: the ratio of sizes of input and result: a number, [h, w], or [1.0, h, w, 1.0]; at least 1.
      pseudo_random: whether the windows are nearly regular, with a random start.
      overlapping: whether the last row and column of a window belong to the next one too.
      seed: a seed; with 0, the windows differ from run to run.
      name: a name for the operation.
    Returns: (output, rows, columns): (N, floor(H / h), floor(W / w), C), and where the windows begin, int64.
    Raises: ValueError for a ratio below 1 or above the size.
    Gradient: of any order: dy goes to the first maximum of each window.
    Reference: TensorFlow 2.21 FractionalMaxPool; Graham 2014.

    >>> sess.run(fractional_max_pool(np.arange(16.0).reshape(1, 4, 4, 1), 2.0)[0]).ravel()
    array([ 5.,  7., 13., 15.])
    """
    ratio = _ratio(pooling_ratio)
    return _pool(raw.FractionalMaxPool, value, ratio, pseudo_random, overlapping, seed != 0, _seeds(seed), name)


def fractional_avg_pool(value: TensorLike, pooling_ratio: float | Sequence[Any], pseudo_random: bool = False,
                        overlapping: bool = False, seed: int | None = 0,
                        name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the means of windows of two sizes, in random order.

    Args:
      value: (N, H, W, C), float32, float64, int32 or int64.
      pooling_ratio: the ratio of sizes of input and result: a number, [h, w], or [1.0, h, w, 1.0]; at least 1.
      pseudo_random: whether the windows are nearly regular, with a random start.
      overlapping: whether the last row and column of a window belong to the next one too.
      seed: a seed; with 0, the windows differ from run to run.
      name: a name for the operation.
    Returns: (output, rows, columns): (N, floor(H / h), floor(W / w), C), and where the windows begin, int64.
    Raises: ValueError for a ratio below 1 or above the size.
    Gradient: of any order: dy is divided equally among the elements of each window.
    Reference: TensorFlow 2.21 FractionalAvgPool; Graham 2014.

    >>> sess.run(fractional_avg_pool(np.arange(16.0).reshape(1, 4, 4, 1), 2.0)[0]).ravel()
    array([ 2.5,  4.5, 10.5, 12.5])
    """
    ratio = _ratio(pooling_ratio)
    return _pool(raw.FractionalAvgPool, value, ratio, pseudo_random, overlapping, seed != 0, _seeds(seed), name)


def fractional_max_pool_v1(value: TensorLike, pooling_ratio: float | Sequence[Any], pseudo_random: bool = False,
                           overlapping: bool = False, deterministic: bool = False, seed: int | None = 0,
                           seed2: int | None = 0, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the maxima of windows of two sizes, in random order, with TensorFlow 1's arguments.

    Args:
      value: (N, H, W, C), float32, float64, int32 or int64.
      pooling_ratio: [1.0, h, w, 1.0], the ratio of sizes of input and result.
      pseudo_random: whether the windows are nearly regular, with a random start.
      overlapping: whether the last row and column of a window belong to the next one too.
      deterministic: whether the windows are the same in each run.
      seed, seed2: the seeds.
      name: a name for the operation.
    Returns: (output, rows, columns): (N, floor(H / h), floor(W / w), C), and where the windows begin, int64.
    Raises: ValueError for a ratio below 1 or above the size, and for seeds without `deterministic`.
    Gradient: of any order: dy goes to the first maximum of each window.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.fractional_max_pool`.
    """
    return _pool(raw.FractionalMaxPool, value, pooling_ratio, pseudo_random, overlapping, deterministic, (seed, seed2),
                 name)


def fractional_avg_pool_v1(value: TensorLike, pooling_ratio: float | Sequence[Any], pseudo_random: bool = False,
                           overlapping: bool = False, deterministic: bool = False, seed: int | None = 0,
                           seed2: int | None = 0, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Computes the means of windows of two sizes, in random order, with TensorFlow 1's arguments.

    Args:
      value: (N, H, W, C), float32, float64, int32 or int64.
      pooling_ratio: [1.0, h, w, 1.0], the ratio of sizes of input and result.
      pseudo_random: whether the windows are nearly regular, with a random start.
      overlapping: whether the last row and column of a window belong to the next one too.
      deterministic: whether the windows are the same in each run.
      seed, seed2: the seeds.
      name: a name for the operation.
    Returns: (output, rows, columns): (N, floor(H / h), floor(W / w), C), and where the windows begin, int64.
    Raises: ValueError for a ratio below 1 or above the size, and for seeds without `deterministic`.
    Gradient: of any order: dy is divided equally among the elements of each window.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.fractional_avg_pool`.
    """
    return _pool(raw.FractionalAvgPool, value, pooling_ratio, pseudo_random, overlapping, deterministic, (seed, seed2),
                 name)


limit_ranks(vectors="FractionalAvgPoolGrad.orig_input_tensor_shape")
