"""`tf.dtypes`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.dtypes.experimental: experimental=.
graphgrad.ir.dtypes: DType as_dtype bfloat16 bool=bool_ complex128 complex64 double=float64 float16 float32 float64
    half=float16 int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8
    variant
graphgrad.ops.array.cast: cast saturate_cast
graphgrad.ops.math.complex: complex
""")
