"""`tf.compat`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v1: v1=.
graphgrad.compat.v2: v2=.
graphgrad.ir.dimension: dimension_value
graphgrad.ir.shape: dimension_at_index
graphgrad.platform.text_and_bytes: as_bytes as_str as_str_any as_text bytes_or_text_types complex_types
    forward_compatible integral_types path_to_bytes path_to_str real_types
""")
