"""Fourier transforms and their gradients, which are Fourier transforms too."""

from __future__ import annotations

import math

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import COMPLEX, complex64, float32, float64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank_at_least
from graphgrad.op_traits import Cost
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import host_array

_REAL = frozenset({float32, float64})
_AT_ONCE = 3  # axes that one transform of XLA takes


def _transform(xp, kind, x, sizes, axes):
    """Computes a transform along any number of axes; the input is cut or padded with zeros to the sizes."""
    if not axes:
        return xp.real(x) if kind == "irfftn" else x
    if xp is np:
        return getattr(np.fft, kind)(x, sizes, axes)
    if len(axes) <= _AT_ONCE:
        return getattr(xp.fft, kind)(x, sizes, axes)
    # The real transform of the last axis comes first forwards, and last backwards.
    first, last = slice(None, -_AT_ONCE), slice(-_AT_ONCE, None)
    if kind == "irfftn":
        return _transform(xp, kind, _transform(xp, "ifftn", x, sizes[first], axes[first]), sizes[last], axes[last])
    x = _transform(xp, kind, x, sizes[last], axes[last])
    return _transform(xp, "fftn" if kind == "rfftn" else kind, x, sizes[first], axes[first])


def _halved(sizes):
    """Returns the sizes of the transform of real numbers: the last axis has only the non-redundant half."""
    last = sizes[-1]
    return (*sizes[:-1], None if last is None else last // 2 + 1 if last else 0)


# -- complex numbers, the last one, two or three axes --------------------------------------


def _declare_complex(name, inverse_name, kind, rank):
    """Declares a transform whose gradient is the other one, times or over the number of elements."""

    def kernel(xp, x):
        if 0 in x.shape:
            return xp.zeros(x.shape, x.dtype)
        return _transform(xp, kind, x, x.shape[-rank:], tuple(range(-rank, 0))).astype(x.dtype)

    def shape(x):
        return with_rank_at_least(x, rank, "input")

    kernel.__doc__ = f"Computes {name}, the discrete Fourier transform of the last axes."
    declared = op(name, "input: Tcomplex -> output: Tcomplex", Tcomplex=COMPLEX, shape=shape, cost=Cost.HEAVY)(kernel)

    @declared.grad
    def _grad(op, dy):
        count = _count(dy, rank)
        return raw.Mul(getattr(raw, inverse_name)(dy), count if kind == "fftn" else raw.Reciprocal(count))


def _count(x, rank):
    """Returns the number of elements in the last axes, in x's dtype."""
    shape = x._spec.shape
    if shape is not None and None not in shape[-rank:]:
        return np.asarray(math.prod(shape[-rank:]), x.dtype.np_dtype)
    sizes = raw.StridedSlice(raw.Shape(x), [-rank], [0], [1], end_mask=1)
    return raw.Cast(raw.Prod(sizes, [0]), DstT=x.dtype)


# -- real numbers --------------------------------------------------------------------------


def _check_sizes(x, needed, axes):
    for axis, size in zip(axes, needed, strict=True):
        have = x.shape[axis]
        if have and have < size:
            raise Complaint(f"Input dimension {axis % x.ndim} must have length of at least {size} but got: {have}",
                            "fill it up with zeros (tf.pad), or transform fewer elements")


def _sizes_and_axes(op, named_axes):
    """Returns the fft_length of a transform's operation, and its axes as ints."""
    length = host_array(op.inputs[1])
    if not named_axes:
        count = int(op.type[-2]) if op.type.endswith("D") else 1
        return op.inputs[1] if length is None else length, tuple(range(-count, 0))
    axes = host_array(op.inputs[2])
    if axes is None or op.inputs[0]._spec.shape is None:
        raise NotImplementedError(f"{op.type}: the gradient needs constant axes and a known rank.\n"
                                  "  Fix: give axes as a list, or use set_shape")
    return op.inputs[1] if length is None else length, tuple(axes.tolist())


def _elements(length, dtype):
    """Returns the number of elements that are transformed."""
    if isinstance(length, np.ndarray):
        return np.asarray(length.prod(), dtype.np_dtype)
    return raw.Cast(raw.Prod(length, [0]), DstT=dtype)


def _weights(length, middle, x, axis):
    """Returns 1 for frequencies that mirror themselves (the first, and the last of an even size), else `middle`."""
    if isinstance(length, np.ndarray):
        n = int(length[-1])
        k = np.arange(_halved((n,))[0])
        w = np.where((k == 0) | (2 * k == n), 1, middle).astype(x.dtype.np_dtype)
    else:
        n = raw.StridedSlice(length, [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
        k = raw.Range(0, raw.AddV2(raw.FloorDiv(n, 2), 1), 1)
        alone = raw.LogicalOr(raw.Equal(k, 0), raw.Equal(raw.Mul(k, 2), n))
        ones = raw.Cast(raw.OnesLike(k), DstT=x.dtype)
        w = raw.SelectV2(alone, ones, raw.Mul(ones, middle))
    behind = -1 - axis if axis < 0 else len(x._spec.shape) - 1 - axis
    if not behind:
        return w
    sizes = np.asarray([-1, *[1] * behind], np.int32)
    return w.reshape(sizes) if isinstance(w, np.ndarray) else raw.Reshape(w, sizes)


def _resized(g, x):
    """Cuts g, or pads it with zeros at the end of each axis, to the shape of x."""
    have, want = g._spec.shape, x._spec.shape
    if have is not None and want is not None and None not in have and None not in want:
        if have == want:
            return g
        missing = np.maximum(np.asarray(want) - have, 0).astype(np.int32)
        paddings = np.stack([np.zeros_like(missing), missing], 1)
        g = raw.Pad(g, paddings) if missing.any() else g
        return g if g._spec.shape == want else raw.Slice(g, np.zeros_like(missing), np.asarray(want, np.int32))
    target = raw.Shape(x)
    missing = raw.Maximum(raw.Sub(target, raw.Shape(g)), 0)
    padded = raw.Pad(g, raw.Pack([raw.ZerosLike(missing), missing], axis=1))
    return raw.Slice(padded, raw.ZerosLike(target), target)


def _forward_grad(named_axes):
    def grad(op, dy):
        x = op.inputs[0]
        length, axes = _sizes_and_axes(op, named_axes)
        inverse = getattr(raw, "I" + op.type)(
            raw.Mul(dy, _weights(length, 0.5, dy, axes[-1])), *op.inputs[1:], Treal=x.dtype
        )
        dx = _resized(raw.Mul(inverse, _elements(length, x.dtype)), x)
        return (dx,) + (None,) * (len(op.inputs) - 1)

    return grad


def _inverse_grad(named_axes):
    def grad(op, dy):
        x = op.inputs[0]
        length, axes = _sizes_and_axes(op, named_axes)
        forward = getattr(raw, op.type[1:])(dy, *op.inputs[1:], Tcomplex=x.dtype)
        scale = raw.RealDiv(_weights(length, 2, x, axes[-1]), _elements(length, x.dtype))
        return (_resized(raw.Mul(forward, scale), x),) + (None,) * (len(op.inputs) - 1)

    return grad


def _length_of(fft_length, rank):
    """Converts fft_length to a tuple of int and None. For shape rules."""
    if fft_length is None:
        return (None,) * rank
    if not isinstance(fft_length, tuple) or len(fft_length) != rank:
        raise Complaint(f"fft_length must have shape [{rank}]", f"give {rank} sizes")
    if any(n is not None and n < 0 for n in fft_length):
        raise Complaint(f"fft_length must not be negative: {list(fft_length)}", "give sizes of at least 0")
    return fft_length


def _declare_real(suffix, rank):
    axes = tuple(range(-rank, 0))

    def forward(xp, x, fft_length, *, Tcomplex=complex64):
        sizes = tuple(fft_length.tolist())
        _check_sizes(x, sizes, axes)
        if 0 in x.shape or 0 in sizes:
            return xp.zeros(x.shape[:-rank] + _halved(sizes), Tcomplex.np_dtype)
        return _transform(xp, "rfftn", x, sizes, axes).astype(Tcomplex.np_dtype)

    def forward_shape(x, fft_length):
        shape = with_rank_at_least(x, rank, "input")
        sizes = _length_of(fft_length, rank)
        return None if shape is None else shape[:-rank] + _halved(sizes)

    def inverse(xp, x, fft_length, *, Treal=float32):
        sizes = tuple(fft_length.tolist())
        _check_sizes(x, _halved(sizes), axes)
        if 0 in x.shape or 0 in sizes:
            return xp.zeros(x.shape[:-rank] + sizes, Treal.np_dtype)
        return _transform(xp, "irfftn", x, sizes, axes).astype(Treal.np_dtype)

    def inverse_shape(x, fft_length):
        shape = with_rank_at_least(x, rank, "input")
        sizes = _length_of(fft_length, rank)
        return None if shape is None else shape[:-rank] + sizes

    forward.__doc__ = "Computes the Fourier transform of real numbers: of the last axis, the non-redundant half."
    inverse.__doc__ = "Computes real numbers from their Fourier transform, of which the last axis has one half."
    for name, kernel, ins, outs, shape, grad in (
        ("RFFT", forward, "Treal", "Tcomplex", forward_shape, _forward_grad(False)),
        ("IRFFT", inverse, "Tcomplex", "Treal", inverse_shape, _inverse_grad(False)),
    ):
        signature = f"input: {ins}, fft_length: int32 -> output: {outs}"
        types = {"Treal": _REAL, "Tcomplex": COMPLEX}
        options = {"host": ("fft_length",), "flags": ("sized",), "cost": Cost.HEAVY}
        op(name + suffix, signature, shape=shape, **options, **types)(kernel).grad(grad)


for _suffix, _rank in (("", 1), ("2D", 2), ("3D", 3)):
    _declare_complex("FFT" + _suffix, "IFFT" + _suffix, "fftn", _rank)
    _declare_complex("IFFT" + _suffix, "FFT" + _suffix, "ifftn", _rank)
    _declare_real(_suffix, _rank)


# -- any axes ------------------------------------------------------------------------------


def _nd_shape(kind):
    def shape(x, fft_length, axes):
        if x is None:
            return None
        if axes is None or None in axes:
            return (None,) * len(x)
        if len({a % len(x) for a in axes if -len(x) <= a < len(x)}) != len(axes):
            raise Complaint(f"axes {list(axes)} must be distinct axes of a tensor of rank {len(x)}", "name each once")
        sizes = _length_of(fft_length, len(axes))
        if kind == "rfftn":
            sizes = _halved(sizes)
        result = list(x)
        for axis, size in zip(axes, sizes, strict=True):
            result[axis] = size
        return tuple(result)

    return shape


def _declare_nd(name, kind, ins, outs):
    rule = _nd_shape(kind)

    def run(xp, x, fft_length, axes, dtype):
        sizes, axes = tuple(fft_length.tolist()), tuple(axes.tolist())
        result = rule(x.shape, sizes, axes)
        if 0 in x.shape or 0 in result:
            return xp.zeros(result, dtype)
        return _transform(xp, kind, x, sizes, axes).astype(dtype)

    def complex_kernel(xp, x, fft_length, axes):
        return run(xp, x, fft_length, axes, x.dtype)

    def forward_kernel(xp, x, fft_length, axes, *, Tcomplex=complex64):
        return run(xp, x, fft_length, axes, Tcomplex.np_dtype)

    def inverse_kernel(xp, x, fft_length, axes, *, Treal=float32):
        return run(xp, x, fft_length, axes, Treal.np_dtype)

    kernel = {"rfftn": forward_kernel, "irfftn": inverse_kernel}.get(kind, complex_kernel)
    kernel.__doc__ = f"Computes {name}, the Fourier transform of some axes, cut or padded with zeros to sizes."
    types = {"Tcomplex": COMPLEX} if ins == outs else {"Tcomplex": COMPLEX, "Treal": _REAL}
    signature = f"input: {ins}, fft_length: int32, axes: int32 -> output: {outs}"
    return op(name, signature, host=("fft_length", "axes"), shape=rule, cost=Cost.HEAVY, **types)(kernel)


def _fftnd_grad(op, dy):
    """Computes the other transform, times or over the number of elements; for both directions."""
    x = op.inputs[0]
    length, _ = _sizes_and_axes(op, True)
    count = _elements(length, x.dtype)
    if op.type == "FFTND":
        dx = raw.Mul(raw.IFFTND(dy, *op.inputs[1:]), count)
    else:
        dx = raw.RealDiv(raw.FFTND(dy, *op.inputs[1:]), count)
    return _resized(dx, x), None, None


_declare_nd("FFTND", "fftn", "Tcomplex", "Tcomplex").grad(_fftnd_grad)
_declare_nd("IFFTND", "ifftn", "Tcomplex", "Tcomplex").grad(_fftnd_grad)
_declare_nd("RFFTND", "rfftn", "Treal", "Tcomplex").grad(_forward_grad(True))
_declare_nd("IRFFTND", "irfftn", "Tcomplex", "Treal").grad(_inverse_grad(True))


limit_ranks(
    vectors="""
        FFTND.axes IFFTND.axes IRFFT.fft_length IRFFTND.axes IRFFTND.fft_length RFFT.fft_length RFFTND.axes
        RFFTND.fft_length""",
)
