"""`tf.__internal__.saved_model`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.absent import SavedModelBuilder as SavedModelBuilder
from graphgrad.compat.v2.__internal__.saved_model import load as load
from graphgrad.extras.saved_model.load import load_partial as load_partial
from graphgrad.extras.saved_model.load import parse_saved_model as parse_saved_model
from graphgrad.extras.saved_model.load_structures import structure_of as decode_proto
from graphgrad.training.checkpoints.structure_encoding import encode_structure as encode_structure

__all__ = [
    "SavedModelBuilder", "decode_proto", "encode_structure", "load", "load_partial", "parse_saved_model"
]
