"""`tf.dtypes`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.dtypes import experimental as experimental
from graphgrad.ir.dtypes import DType as DType
from graphgrad.ir.dtypes import as_dtype as as_dtype
from graphgrad.ir.dtypes import bfloat16 as bfloat16
from graphgrad.ir.dtypes import bool_ as bool
from graphgrad.ir.dtypes import complex128 as complex128
from graphgrad.ir.dtypes import complex64 as complex64
from graphgrad.ir.dtypes import float16 as float16
from graphgrad.ir.dtypes import float16 as half
from graphgrad.ir.dtypes import float32 as float32
from graphgrad.ir.dtypes import float64 as double
from graphgrad.ir.dtypes import float64 as float64
from graphgrad.ir.dtypes import int16 as int16
from graphgrad.ir.dtypes import int32 as int32
from graphgrad.ir.dtypes import int64 as int64
from graphgrad.ir.dtypes import int8 as int8
from graphgrad.ir.dtypes import qint16 as qint16
from graphgrad.ir.dtypes import qint32 as qint32
from graphgrad.ir.dtypes import qint8 as qint8
from graphgrad.ir.dtypes import quint16 as quint16
from graphgrad.ir.dtypes import quint8 as quint8
from graphgrad.ir.dtypes import resource as resource
from graphgrad.ir.dtypes import string as string
from graphgrad.ir.dtypes import uint16 as uint16
from graphgrad.ir.dtypes import uint32 as uint32
from graphgrad.ir.dtypes import uint64 as uint64
from graphgrad.ir.dtypes import uint8 as uint8
from graphgrad.ir.dtypes import variant as variant
from graphgrad.ops.array.cast import cast as cast
from graphgrad.ops.array.cast import saturate_cast as saturate_cast
from graphgrad.ops.math.complex import complex as complex

__all__ = [
    "DType", "as_dtype", "bfloat16", "bool", "cast", "complex", "complex128", "complex64", "double", "experimental",
    "float16", "float32", "float64", "half", "int16", "int32", "int64", "int8", "qint16", "qint32", "qint8", "quint16",
    "quint8", "resource", "saturate_cast", "string", "uint16", "uint32", "uint64", "uint8", "variant"
]
