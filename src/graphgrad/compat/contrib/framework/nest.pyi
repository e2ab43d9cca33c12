"""`tf.contrib.framework.nest` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.frontend.structure.nest import assert_same_structure as assert_same_structure
from graphgrad.frontend.structure.nest import assert_shallow_structure as assert_shallow_structure
from graphgrad.frontend.structure.nest import flatten as flatten
from graphgrad.frontend.structure.nest import flatten_dict_items as flatten_dict_items
from graphgrad.frontend.structure.nest import flatten_up_to as flatten_up_to
from graphgrad.frontend.structure.nest import is_nested as is_nested
from graphgrad.frontend.structure.nest import is_nested as is_sequence
from graphgrad.frontend.structure.nest import map_structure as map_structure
from graphgrad.frontend.structure.nest import map_structure_up_to as map_structure_up_to
from graphgrad.frontend.structure.nest import pack_sequence_as as pack_sequence_as

__all__ = [
    "assert_same_structure", "assert_shallow_structure", "flatten", "flatten_dict_items", "flatten_up_to", "is_nested",
    "is_sequence", "map_structure", "map_structure_up_to", "pack_sequence_as"
]
