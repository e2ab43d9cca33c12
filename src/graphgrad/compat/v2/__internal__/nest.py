"""`tf.__internal__.nest`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.structure.nest: flatten_up_to get_traverse_shallow_structure is_attrs is_mapping list_to_tuple
    map_structure_up_to sequence_like yield_flat_paths
""")
