"""`tf.ragged` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.ragged.ragged_functions: boolean_mask=ragged_boolean_mask constant=ragged_constant
    constant_value=ragged_constant_value map_flat_values placeholder=ragged_placeholder range=ragged_range
    row_splits_to_segment_ids segment_ids_to_row_splits stack=ragged_stack stack_dynamic_partitions
graphgrad.extras.ragged.ragged_unicode: cross cross_hashed
graphgrad.extras.ragged.row_partitions: RaggedTensorValue
""")
