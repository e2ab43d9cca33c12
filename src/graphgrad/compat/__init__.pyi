"""`tf.compat`. Written by `make faces` from exports.txt."""

from graphgrad.compat import v1 as v1
from graphgrad.compat import v2 as v2
from graphgrad.ir.dimension import dimension_value as dimension_value
from graphgrad.ir.shape import dimension_at_index as dimension_at_index
from graphgrad.platform.text_and_bytes import as_bytes as as_bytes
from graphgrad.platform.text_and_bytes import as_str as as_str
from graphgrad.platform.text_and_bytes import as_str_any as as_str_any
from graphgrad.platform.text_and_bytes import as_text as as_text
from graphgrad.platform.text_and_bytes import bytes_or_text_types as bytes_or_text_types
from graphgrad.platform.text_and_bytes import complex_types as complex_types
from graphgrad.platform.text_and_bytes import forward_compatible as forward_compatible
from graphgrad.platform.text_and_bytes import integral_types as integral_types
from graphgrad.platform.text_and_bytes import path_to_bytes as path_to_bytes
from graphgrad.platform.text_and_bytes import path_to_str as path_to_str
from graphgrad.platform.text_and_bytes import real_types as real_types

__all__ = [
    "as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types", "dimension_at_index",
    "dimension_value", "forward_compatible", "integral_types", "path_to_bytes", "path_to_str", "real_types", "v1", "v2"
]
