"""`tf.experimental` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.data.optional import Optional as Optional
from graphgrad.ir.dtypes import float4_e2m1fn as float4_e2m1fn
from graphgrad.ir.dtypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from graphgrad.ir.dtypes import float8_e4m3fn as float8_e4m3fn
from graphgrad.ir.dtypes import float8_e4m3fnuz as float8_e4m3fnuz
from graphgrad.ir.dtypes import float8_e5m2 as float8_e5m2
from graphgrad.ir.dtypes import float8_e5m2fnuz as float8_e5m2fnuz
from graphgrad.ir.dtypes import int2 as int2
from graphgrad.ir.dtypes import int4 as int4
from graphgrad.ir.dtypes import uint2 as uint2
from graphgrad.ir.dtypes import uint4 as uint4

__all__ = [
    "Optional", "float4_e2m1fn", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "int2", "int4", "uint2", "uint4"
]
