"""`tf.ragged` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.ragged.ragged_functions import map_flat_values as map_flat_values
from graphgrad.extras.ragged.ragged_functions import ragged_boolean_mask as boolean_mask
from graphgrad.extras.ragged.ragged_functions import ragged_constant as constant
from graphgrad.extras.ragged.ragged_functions import ragged_constant_value as constant_value
from graphgrad.extras.ragged.ragged_functions import ragged_placeholder as placeholder
from graphgrad.extras.ragged.ragged_functions import ragged_range as range
from graphgrad.extras.ragged.ragged_functions import ragged_stack as stack
from graphgrad.extras.ragged.ragged_functions import row_splits_to_segment_ids as row_splits_to_segment_ids
from graphgrad.extras.ragged.ragged_functions import segment_ids_to_row_splits as segment_ids_to_row_splits
from graphgrad.extras.ragged.ragged_functions import stack_dynamic_partitions as stack_dynamic_partitions
from graphgrad.extras.ragged.ragged_unicode import cross as cross
from graphgrad.extras.ragged.ragged_unicode import cross_hashed as cross_hashed
from graphgrad.extras.ragged.row_partitions import RaggedTensorValue as RaggedTensorValue

__all__ = [
    "RaggedTensorValue", "boolean_mask", "constant", "constant_value", "cross", "cross_hashed", "map_flat_values",
    "placeholder", "range", "row_splits_to_segment_ids", "segment_ids_to_row_splits", "stack",
    "stack_dynamic_partitions"
]
