"""`tf.__internal__.nest`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.structure.nest import flatten_up_to as flatten_up_to
from graphgrad.frontend.structure.nest import get_traverse_shallow_structure as get_traverse_shallow_structure
from graphgrad.frontend.structure.nest import is_attrs as is_attrs
from graphgrad.frontend.structure.nest import is_mapping as is_mapping
from graphgrad.frontend.structure.nest import list_to_tuple as list_to_tuple
from graphgrad.frontend.structure.nest import map_structure_up_to as map_structure_up_to
from graphgrad.frontend.structure.nest import sequence_like as sequence_like
from graphgrad.frontend.structure.nest import yield_flat_paths as yield_flat_paths

__all__ = [
    "flatten_up_to", "get_traverse_shallow_structure", "is_attrs", "is_mapping", "list_to_tuple", "map_structure_up_to",
    "sequence_like", "yield_flat_paths"
]
