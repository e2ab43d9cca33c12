"""`tensorflow.python.saved_model.nested_structure_coder`: nested values as messages, and back."""

from __future__ import annotations

from graphgrad.extras.saved_model.load_structures import structure_of as decode_proto
from graphgrad.training.checkpoints.structure_encoding import NotEncodableError as NotEncodableError
from graphgrad.training.checkpoints.structure_encoding import encode_structure as encode_structure

__all__ = ["NotEncodableError", "decode_proto", "encode_structure"]
