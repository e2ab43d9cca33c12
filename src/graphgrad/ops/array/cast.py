"""Conversion between dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from graphgrad.ir import dtypes
from graphgrad.ir.conversion import constant, convert_to_tensor
from graphgrad.ir.dtypes import ANY, as_dtype
from graphgrad.ir.graph import SymbolicTensor
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ir.values.indexed_slices import IndexedSlices, of_values, with_values
from graphgrad.op_traits import Linear
from graphgrad.ops.common.elementwise import same

_CASTABLE = ANY - {dtypes.string, dtypes.resource, dtypes.variant}


# How many numbers of a dtype, other than 16, TensorFlow converts to 8- or 16-bit integers at once.
_VECTOR = {"float32": 32, "bfloat16": 8}


def _in_range(xp, x, bits):
    """Converts floats to signed integers of that many bits; values out of range and NaN become the lowest one."""
    dtype = np.dtype(f"int{bits}")
    fits = (x >= x.dtype.type(-(2.0 ** (bits - 1)))) & (x < x.dtype.type(2.0 ** (bits - 1)))
    if xp is np and np.all(fits):
        return x.astype(dtype)
    inside = xp.where(fits, x, xp.asarray(0, x.dtype)).astype(dtype)
    return xp.where(fits, inside, xp.asarray(np.iinfo(dtype).min, dtype))


def as_integers(xp, x, dtype):
    """Converts floats to integers, dropping the fraction.

    For numbers that the integers cannot hold, NumPy does what the processor does, and XLA takes the nearest integer.
    Here both do what TensorFlow does on x86: they pass through an integer of 32 or 64 bits, the upper bits of which
    are dropped. For 8- and 16-bit integers TensorFlow does so with single numbers and short arrays only, such that are
    no whole vector of the processor's; in longer ones they become the nearest integer. (There are exceptions: the
    remainder behind the last vector in each thread, and float64 beyond 2^15.)

    Args:
      x: a float array.
      dtype: NumPy's, an integer.
    """
    vector = _VECTOR.get(x.dtype.name, 16)
    if x.dtype.itemsize < 4:
        x = x.astype(np.float32)
    bits = 32 if dtype.itemsize < 4 or dtype == np.int32 else 64
    found = _in_range(xp, x, bits)
    if dtype.itemsize < 4 and x.size >= vector:
        limits = np.iinfo(dtype)
        found = xp.clip(found, np.int32(limits.min), np.int32(limits.max))
    if dtype == np.uint64:
        upper = _in_range(xp, x - x.dtype.type(2.0**63), bits)
        found = found | xp.where(found < 0, upper, xp.zeros_like(upper))
    return found.astype(dtype)


@op("Cast", "x: SrcT -> y: DstT", SrcT=_CASTABLE, DstT=_CASTABLE, shape=same, zero_preserving=True,
    linear=Linear.JOINTLY, dependence="elementwise")
def _cast(xp, x, *, DstT, Truncate=False):
    """Converts values to another dtype."""
    if x.dtype.kind == "c" and DstT.kind not in "cb":
        x = xp.real(x)
    if DstT.is_integer and as_dtype(x.dtype).is_floating:
        return as_integers(xp, x, DstT.np_dtype)
    return x.astype(DstT.np_dtype)


@_cast.written_as
def _cast_formula(op):
    source, target = op.inputs[0].dtype, op.outputs[0].dtype
    if target.kind == "b":
        return "x" if source.kind == "b" else "x != 0"
    if source.kind == "b":
        return "where(x, 1, 0)"
    if source.kind == "c" and target.kind != "c":
        return "real(x)" if target.kind == "f" else "trunc(real(x))"
    return "trunc(x)" if target.kind in "iu" and source.kind == "f" else "x"


@_cast.partial_value
def _cast_value(t, values):
    value = values[0] if t.op.inputs[0].dtype.kind in "iub" else None
    if isinstance(value, tuple) and any(isinstance(v, tuple) for v in value):
        return None
    convert = int if t.dtype.kind in "iu" else bool
    if isinstance(value, tuple):
        return tuple([None if v is None else convert(v) for v in value])
    return None if value is None else convert(value)


@_cast.grad
def _cast_grad(op, dy):
    source = op.inputs[0].dtype
    if source.is_differentiable and dy.dtype.is_differentiable:
        return with_values(dy, raw.Cast(of_values(dy), DstT=source))
    return None


# `object`, not `TensorLike`: an argument of type Any matches both overloads, and the result is Any.
@overload
# Silenced: slices are tensors too, with a result of their own.
def cast(x: IndexedSlices, dtype: DTypeLike,  # type: ignore[overload-overlap]
         name: str | None = None) -> IndexedSlices: ...
@overload
def cast(x: object, dtype: DTypeLike, name: str | None = None) -> Tensor: ...
def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Any:
    """Converts x to another dtype.

    Args:
      x: a numeric or bool tensor, or `IndexedSlices`.
      dtype: the target dtype. Floats become integers by dropping the fraction, complex
        numbers real ones by dropping the imaginary part.
      name: a name for the operation.
    Returns: a tensor of x's shape; x itself if it has the dtype already.
    Raises: TypeError if there is no conversion.
    Gradient: dy in x's dtype; None between integers and floats.
    Reference: TensorFlow 2.21 Cast.

    >>> sess.run(tf.cast([1.8, -2.2], tf.int32))
    array([ 1, -2], dtype=int32)
    """
    wanted = as_dtype(dtype)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, wanted, name), x.indices, x.dense_shape)
    if type(x) is SymbolicTensor:
        return x if x.dtype is wanted else raw.Cast(x, DstT=wanted, name=name)
    with name_scope(name, "Cast") as scope:
        x = convert_to_tensor(x, name="x")
        return x if x.dtype is wanted else raw.Cast(x, DstT=wanted, name=scope)


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Converts values to another dtype, after clipping them to its range.

    Args:
      value: a numeric tensor.
      dtype: the target dtype.
      name: a name for the operations.
    Returns: a tensor of the shape of `value`.
    Raises: TypeError if there is no conversion.
    Gradient: dy in the dtype of `value` where nothing was clipped; None between integers and floats.
    Reference: TensorFlow 2.21 `tf.saturate_cast`.

    >>> sess.run(tf.saturate_cast([-5.0, 300.0], tf.uint8))
    array([  0, 255], dtype=uint8)
    """
    dtype = as_dtype(dtype)
    with name_scope(name, "saturate_cast") as scope:
        value = convert_to_tensor(value, name="value")
        if value.dtype.is_complex and not dtype.is_complex:
            value = raw.Real(value, Tout=value.dtype.real_dtype)
        if not dtype.is_complex and not dtype.is_bool and not value.dtype.is_bool:
            low, high = _range_within(value.dtype, dtype)
            value = raw.ClipByValue(value, constant(low, value.dtype), constant(high, value.dtype), name="clamp")
        result: Any = cast(value, dtype, name=scope)
        return result


def _range_within(source, target):
    """Returns the part of the range of `source` that `target` can hold, as numbers of `source`."""
    if source.is_integer:
        low, high = target.limits
        return max(int(source.min), int(max(low, -(2.0**64)))), min(int(source.max), int(min(high, 2.0**64)))
    with np.errstate(over="ignore"):  # infinities are handled below
        low, high = (np.asarray(v).astype(source.np_dtype) for v in target.limits)
    # Rounding may have left the range, as for 2**31 - 1 in float32: step back inside.
    if float(high) > float(target.max):
        high = np.nextafter(high, source.np_dtype.type(0))
    if float(low) < float(target.min):
        low = np.nextafter(low, source.np_dtype.type(0))
    return np.clip([low, high], source.min, source.max)


def _to(target, name, title) -> Callable[..., Tensor]:
    """Returns one of the older functions that cast to a fixed dtype."""

    def convert(x: TensorLike, name: str | None = name) -> Tensor:
        result: Any = cast(x, target, name=name)
        return result

    convert.__name__ = convert.__qualname__ = f"to_{title}"
    convert.__doc__ = f"""Converts x to {target.name}.

    Args:
      x: a numeric or bool tensor, or `IndexedSlices`.
      name: a name for the operation.
    Returns: a tensor of x's shape.
    Raises: TypeError if there is no conversion.
    Gradient: dy in x's dtype; None between integers and floats.
    Reference: TensorFlow 2.21 Cast.

    >>> tf.to_{title}([1, 2]).dtype
    tf.{target.name}
    """
    return convert


to_float = _to(dtypes.float32, "ToFloat", "float")
to_double = _to(dtypes.float64, "ToDouble", "double")
to_int32 = _to(dtypes.int32, "ToInt32", "int32")
to_int64 = _to(dtypes.int64, "ToInt64", "int64")
to_bfloat16 = _to(dtypes.bfloat16, "ToBFloat16", "bfloat16")
to_complex64 = _to(dtypes.complex64, "ToComplex64", "complex64")
to_complex128 = _to(dtypes.complex128, "ToComplex128", "complex128")
