"""`tf.dtypes` of TensorFlow 1."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.array.cast import cast as cast
from graphgrad.ops.array.cast import saturate_cast as saturate_cast
from graphgrad.ops.math.complex import complex as complex

# -- types ------------------------------------------------------------------------------
from graphgrad.ir.dtypes import DType as DType
from graphgrad.ir.dtypes import as_dtype as as_dtype
from graphgrad.ir.dtypes import bfloat16 as bfloat16
from graphgrad.ir.dtypes import bool_ as bool
from graphgrad.ir.dtypes import complex64 as complex64
from graphgrad.ir.dtypes import complex128 as complex128
from graphgrad.ir.dtypes import float64 as double
from graphgrad.ir.dtypes import float16 as float16
from graphgrad.ir.dtypes import float32 as float32
from graphgrad.ir.dtypes import float64 as float64
from graphgrad.ir.dtypes import float16 as half
from graphgrad.ir.dtypes import int8 as int8
from graphgrad.ir.dtypes import int16 as int16
from graphgrad.ir.dtypes import int32 as int32
from graphgrad.ir.dtypes import int64 as int64
from graphgrad.ir.dtypes import qint8 as qint8
from graphgrad.ir.dtypes import qint16 as qint16
from graphgrad.ir.dtypes import qint32 as qint32
from graphgrad.ir.dtypes import quint8 as quint8
from graphgrad.ir.dtypes import quint16 as quint16
from graphgrad.ir.dtypes import resource as resource
from graphgrad.ir.dtypes import string as string
from graphgrad.ir.dtypes import uint8 as uint8
from graphgrad.ir.dtypes import uint16 as uint16
from graphgrad.ir.dtypes import uint32 as uint32
from graphgrad.ir.dtypes import uint64 as uint64
from graphgrad.ir.dtypes import variant as variant

from graphgrad.extras.strings.string_functions import as_string as as_string
from graphgrad.compat.v1 import _dtypes_experimental as experimental

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)

# What is ragged takes another way.
from graphgrad.extras.ragged.ragged_dispatch import takes_ragged as _takes_ragged

_takes_ragged(globals())
