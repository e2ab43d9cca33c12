"""`tf.__internal__.saved_model`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.absent import SavedModelBuilder as SavedModelBuilder
from graphgrad.compat.internal.absent import decode_proto as decode_proto
from graphgrad.compat.internal.absent import encode_structure as encode_structure
from graphgrad.compat.internal.absent import load_partial as load_partial
from graphgrad.compat.internal.absent import parse_saved_model as parse_saved_model
from graphgrad.compat.v2.__internal__.saved_model import load as load

__all__ = [
    "SavedModelBuilder", "decode_proto", "encode_structure", "load", "load_partial", "parse_saved_model"
]
