"""`tf.__internal__.saved_model`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.internal.absent: SavedModelBuilder
graphgrad.compat.v2.__internal__.saved_model.load: load=.
graphgrad.extras.saved_model.load: load_partial parse_saved_model
graphgrad.extras.saved_model.load_structures: decode_proto=structure_of
graphgrad.training.checkpoints.structure_encoding: encode_structure
""")
