"""`tf.debugging`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.executor.runtime.nonfinite: disable_check_numerics enable_check_numerics
graphgrad.frontend.config.settings: disable_traceback_filtering enable_traceback_filtering get_log_device_placement
    is_traceback_filtering_enabled set_log_device_placement
graphgrad.ops.array.constant: check_numerics
graphgrad.ops.control.assertions: Assert assert_all_finite assert_equal assert_greater assert_greater_equal
    assert_integer assert_less assert_less_equal assert_near assert_negative assert_non_negative assert_non_positive
    assert_none_equal assert_positive assert_proper_iterable assert_same_float_dtype assert_type is_numeric_tensor
graphgrad.ops.control.shape_assertions: assert_rank assert_rank_at_least assert_rank_in assert_scalar assert_shapes
""")
