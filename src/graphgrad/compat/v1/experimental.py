"""`tf.experimental` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.data.optional: Optional
graphgrad.extras.extension_types.dispatch_functions: dispatch_for_api dispatch_for_binary_elementwise_apis
    dispatch_for_binary_elementwise_assert_apis dispatch_for_unary_elementwise_apis unregister_dispatch_for
graphgrad.extras.extension_types.extension_type: ExtensionType ExtensionTypeSpec
graphgrad.extras.ragged.row_partition_value: RowPartition
graphgrad.frontend.modes: output_all_intermediates
graphgrad.ir.dtypes: float4_e2m1fn float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz int2
    int4 uint2 uint4
""")
