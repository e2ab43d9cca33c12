"""`tf.contrib.framework.nest` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.structure.nest: assert_same_structure assert_shallow_structure flatten flatten_dict_items
    flatten_up_to is_nested is_sequence=is_nested map_structure map_structure_up_to pack_sequence_as
""")
