"""`tf.debugging` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.executor.runtime.nonfinite: disable_check_numerics enable_check_numerics
graphgrad.frontend.config.settings: get_log_device_placement set_log_device_placement
graphgrad.ops.array.constant: check_numerics
graphgrad.ops.control.assertions: Assert assert_all_finite=verify_tensor_all_finite assert_equal=assert_equal_v1
    assert_greater=assert_greater_v1 assert_greater_equal=assert_greater_equal_v1 assert_integer
    assert_less=assert_less_v1 assert_less_equal=assert_less_equal_v1 assert_near=assert_near_v1
    assert_negative=assert_negative_v1 assert_non_negative=assert_non_negative_v1
    assert_non_positive=assert_non_positive_v1 assert_none_equal=assert_none_equal_v1 assert_positive=assert_positive_v1
    assert_proper_iterable assert_same_float_dtype assert_type is_numeric_tensor
graphgrad.ops.control.shape_assertions: assert_rank=assert_rank_v1 assert_rank_at_least=assert_rank_at_least_v1
    assert_rank_in=assert_rank_in_v1 assert_scalar=assert_scalar_v1 assert_shapes
graphgrad.ops.math.comparison: is_finite is_inf is_nan is_non_decreasing is_strictly_increasing
""")
