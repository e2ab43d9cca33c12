"""`tf.experimental` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.data.optional import Optional as Optional
from graphgrad.extras.extension_types.dispatch_functions import dispatch_for_api as dispatch_for_api
from graphgrad.extras.extension_types.dispatch_functions import dispatch_for_binary_elementwise_apis as dispatch_for_binary_elementwise_apis
from graphgrad.extras.extension_types.dispatch_functions import dispatch_for_binary_elementwise_assert_apis as dispatch_for_binary_elementwise_assert_apis
from graphgrad.extras.extension_types.dispatch_functions import dispatch_for_unary_elementwise_apis as dispatch_for_unary_elementwise_apis
from graphgrad.extras.extension_types.dispatch_functions import unregister_dispatch_for as unregister_dispatch_for
from graphgrad.extras.extension_types.extension_type import ExtensionType as ExtensionType
from graphgrad.extras.extension_types.extension_type import ExtensionTypeSpec as ExtensionTypeSpec
from graphgrad.extras.ragged.row_partition_value import RowPartition as RowPartition
from graphgrad.frontend.modes import output_all_intermediates as output_all_intermediates
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
    "ExtensionType", "ExtensionTypeSpec", "Optional", "RowPartition", "dispatch_for_api",
    "dispatch_for_binary_elementwise_apis", "dispatch_for_binary_elementwise_assert_apis",
    "dispatch_for_unary_elementwise_apis", "float4_e2m1fn", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz", "int2", "int4", "output_all_intermediates", "uint2", "uint4",
    "unregister_dispatch_for"
]
