"""Data types: TensorFlow's names, enum values and NumPy equivalents."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np


class DType:
    """The type of a tensor's elements.

    Instances are singletons, compared by identity; `as_dtype` finds the one for a name, a NumPy type or a Python type.
    """

    __slots__ = ("name", "enum", "np_dtype", "kind", "size", "_specs")

    name: str
    enum: int
    np_dtype: np.dtype[Any]
    kind: str  # 'f' float, 'i' signed, 'u' unsigned, 'c' complex, 'b' bool, 'q' quantised, 'o' other
    size: int
    _specs: dict[Any, Any]  # by shape; see `ir.op_signature.Spec`

    def __new__(cls, type_enum: Any, handle_data: Any = None) -> DType:
        """Returns the dtype of TensorFlow's number `type_enum`."""
        return as_dtype(type_enum)

    @classmethod
    def _define(cls, name: str, enum: int, np_type: Any, kind: str) -> DType:
        self = object.__new__(cls)
        self.name = name
        self.enum = enum
        self.np_dtype = np.dtype(np_type)
        self.kind = kind
        self._specs = {}
        self.size = 1 if kind == "o" else self.np_dtype.itemsize
        return self

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy scalar type, e.g. `np.float32`."""
        return self.np_dtype.type

    @property
    def as_datatype_enum(self) -> int:
        """The number of this type in TensorFlow's protocol buffers."""
        return self.enum

    @property
    def base_dtype(self) -> DType:
        """This type; reference types do not exist here."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part: float32 of complex64, itself of a real type."""
        return {complex64: float32, complex128: float64}.get(self, self)

    @property
    def is_floating(self) -> bool:
        """Whether the type is a non-quantised floating-point type."""
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        """Whether the type is a non-quantised integer type."""
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """Whether the type is an unsigned integer."""
        return self.kind == "u"

    @property
    def is_complex(self) -> bool:
        """Whether the type is complex."""
        return self.kind == "c"

    @property
    def is_bool(self) -> bool:
        """Whether the type is bool."""
        return self.kind == "b"

    @property
    def is_quantized(self) -> bool:
        """Whether the type is a quantised integer."""
        return self.kind == "q"

    @property
    def is_numeric(self) -> bool:
        """Whether the type is one of numbers with at least 8 bits, quantised ones included; 8-bit floats are not."""
        return (self.kind in "iucq" and self.name not in ("int4", "uint4")) or (self.kind == "f" and self.size > 1)

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether NumPy arrays of the type exist."""
        return self.kind != "o" or self is string

    @property
    def is_differentiable(self) -> bool:
        """Whether gradients flow through tensors of this type (floats of 16 bits and more, and complex)."""
        return self.kind in "fc" and self.size > 1

    @property
    def min(self) -> Any:
        """The smallest value that the type can hold."""
        return self._limits().min

    @property
    def max(self) -> Any:
        """The largest finite value that the type can hold."""
        return self._limits().max

    @property
    def limits(self) -> tuple[Any, Any]:
        """The pair (min, max)."""
        return self.min, self.max

    def _limits(self) -> Any:
        if self.kind == "b":
            return _BoolLimits
        if self.kind in "fc":
            return _finfo(self.real_dtype.np_dtype)
        if self.kind in "iuq":
            return _iinfo(self.np_dtype)
        raise TypeError(f"Cannot find minimum or maximum value of {self}.")

    def is_compatible_with(self, other: Any) -> bool:
        """Returns whether `other` denotes the same type."""
        return self is as_dtype(other)

    def __int__(self) -> int:
        return self.enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self.enum

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


_finfo: Any = ml_dtypes.finfo
_iinfo: Any = ml_dtypes.iinfo


class _BoolLimits:
    min, max = False, True


float32 = DType._define("float32", 1, np.float32, "f")
float64 = DType._define("float64", 2, np.float64, "f")
int32 = DType._define("int32", 3, np.int32, "i")
uint8 = DType._define("uint8", 4, np.uint8, "u")
int16 = DType._define("int16", 5, np.int16, "i")
int8 = DType._define("int8", 6, np.int8, "i")
string = DType._define("string", 7, np.object_, "o")
complex64 = DType._define("complex64", 8, np.complex64, "c")
int64 = DType._define("int64", 9, np.int64, "i")
bool_ = DType._define("bool", 10, np.bool_, "b")
qint8 = DType._define("qint8", 11, np.int8, "q")
quint8 = DType._define("quint8", 12, np.uint8, "q")
qint32 = DType._define("qint32", 13, np.int32, "q")
bfloat16 = DType._define("bfloat16", 14, ml_dtypes.bfloat16, "f")
qint16 = DType._define("qint16", 15, np.int16, "q")
quint16 = DType._define("quint16", 16, np.uint16, "q")
uint16 = DType._define("uint16", 17, np.uint16, "u")
complex128 = DType._define("complex128", 18, np.complex128, "c")
float16 = DType._define("float16", 19, np.float16, "f")
resource = DType._define("resource", 20, np.object_, "o")
variant = DType._define("variant", 21, np.object_, "o")
uint32 = DType._define("uint32", 22, np.uint32, "u")
uint64 = DType._define("uint64", 23, np.uint64, "u")
float8_e5m2 = DType._define("float8_e5m2", 24, ml_dtypes.float8_e5m2, "f")
float8_e4m3fn = DType._define("float8_e4m3fn", 25, ml_dtypes.float8_e4m3fn, "f")
float8_e4m3fnuz = DType._define("float8_e4m3fnuz", 26, ml_dtypes.float8_e4m3fnuz, "f")
float8_e4m3b11fnuz = DType._define("float8_e4m3b11fnuz", 27, ml_dtypes.float8_e4m3b11fnuz, "f")
float8_e5m2fnuz = DType._define("float8_e5m2fnuz", 28, ml_dtypes.float8_e5m2fnuz, "f")
int4 = DType._define("int4", 29, ml_dtypes.int4, "i")
uint4 = DType._define("uint4", 30, ml_dtypes.uint4, "u")
int2 = DType._define("int2", 31, ml_dtypes.int2, "i")
uint2 = DType._define("uint2", 32, ml_dtypes.uint2, "u")
float4_e2m1fn = DType._define("float4_e2m1fn", 33, ml_dtypes.float4_e2m1fn, "f")

ALL = (
    float32, float64, int32, uint8, int16, int8, string, complex64, int64, bool_, qint8, quint8, qint32,
    bfloat16, qint16, quint16, uint16, complex128, float16, resource, variant, uint32, uint64,
    float8_e5m2, float8_e4m3fn, float8_e4m3fnuz, float8_e4m3b11fnuz, float8_e5m2fnuz, int4, uint4, int2, uint2,
    float4_e2m1fn,
)

# Sets of types for op signatures.
FLOATING = frozenset({float16, bfloat16, float32, float64})
COMPLEX = frozenset({complex64, complex128})
INTEGER = frozenset({int8, int16, int32, int64, uint8, uint16, uint32, uint64})
INDEX = frozenset({int32, int64})
INEXACT = FLOATING | COMPLEX
REAL = FLOATING | INTEGER
NUMERIC = REAL | COMPLEX
BOOL = frozenset({bool_})
ANY = frozenset(ALL)

_BY_NAME: dict[str, DType] = {t.name: t for t in ALL}
_BY_NAME.update(float=float32, double=float64, half=float16, int=int32, long=int64, object=string, str=string)
_BY_NAME["complex"] = complex128
_BY_NP: dict[Any, DType] = {t.np_dtype: t for t in reversed(ALL) if t.kind not in "oq"}
_BY_NP[np.dtype(object)] = string
_BY_PYTHON: dict[Any, DType] = {float: float32, int: int64, bool: bool_, complex: complex128, str: string,
                                bytes: string, object: string}
_BY_ENUM: dict[int, DType] = {t.enum: t for t in ALL}


def as_dtype(type_value: Any) -> DType:
    """Returns the `DType` for `type_value`.

    Args:
      type_value: a `DType`, a name such as "float32" or "float", a NumPy type or dtype, a
        Python type, or TensorFlow's enum number.
    Returns: the `DType`.
    Raises: TypeError if there is none.

    >>> as_dtype("float"), as_dtype(np.int64)
    (tf.float32, tf.int64)
    """
    value = type_value
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        # A reference type is an ordinary one here.
        found = _BY_NAME.get(value[:-4] if value.endswith("_ref") else value)
        if found is not None:
            return found
    elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if int(value) in _BY_ENUM:
            return _BY_ENUM[int(value)]
    else:
        try:
            if value in _BY_PYTHON:
                return _BY_PYTHON[value]
        except TypeError:
            pass  # what cannot be hashed
        dtype = getattr(value, "dtype", None)
        if isinstance(dtype, DType):
            return dtype
    try:
        np_dtype = None if value is None else np.dtype(value)  # None is float64 for NumPy
    except TypeError:
        np_dtype = None
    if np_dtype is not None:
        if np_dtype in _BY_NP:
            return _BY_NP[np_dtype]
        if np_dtype.kind in "US":
            return string
    raise TypeError(
        f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType. "
        "Fix: use a name such as 'float32', a NumPy type, or one of tf.float32, tf.int64, tf.bool, ..."
    )


def dtype_of(value: Any) -> DType:
    """Returns the dtype that a signature means: that of a tensor, spec or array, or the one that is named.

    Args:
      value: such a thing, or what `as_dtype` takes; NumPy's types are names, though they have an attribute `dtype`.
    """
    return as_dtype(value if isinstance(value, type) else getattr(value, "dtype", value))
