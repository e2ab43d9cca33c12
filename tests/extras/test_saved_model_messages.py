"""The messages of saved models: those that TensorFlow wrote are read, and nothing is lost."""

from __future__ import annotations

import pathlib

import pytest

from graphgrad.training.checkpoints.saved_object_messages import FingerprintDef, SavedModel, StructuredValue

from .saved_model_cases import CASES, unpacked


@pytest.mark.parametrize("name", [name for name in CASES if name != "old"])  # which has no objects
def test_round_trip(name: str, tmp_path: pathlib.Path) -> None:
    """Fields are known, down to the last one: none is carried along unread."""
    folder = pathlib.Path(unpacked(name, tmp_path))
    model = SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    objects = model.meta_graphs[0].object_graph_def
    assert len(objects.nodes) > 3 and objects.nodes[0].WhichOneof("kind") == "user_object"
    assert objects.concrete_functions and not objects._unknown
    again = SavedModel.FromString(model.SerializeToString())
    assert again == model and again.SerializeToString() == model.SerializeToString()
    for node in objects.nodes:
        assert not node._unknown and type(node).FromString(node.SerializeToString()) == node
    for trace in objects.concrete_functions.values():
        for part in (trace, trace.canonicalized_input_signature, trace.output_signature):
            assert not part._unknown
    assert FingerprintDef.FromString((folder / "fingerprint.pb").read_bytes()).uuid


@pytest.mark.parametrize("number, data", [(0, b"\x60\0"), (-1, b"\x60\1"), (1, b"\x60\2"), (-64, b"\x60\x7f"),
                                          (64, b"\x60\x80\1"), (-(1 << 63), b"\x60" + b"\xff" * 9 + b"\1"),
                                          ((1 << 63) - 1, b"\x60\xfe" + b"\xff" * 8 + b"\1")])
def test_zigzag(number: int, data: bytes) -> None:
    """Signed numbers are written in zigzag."""
    assert StructuredValue(int64_value=number).SerializeToString() == data
    assert StructuredValue.FromString(data).int64_value == number
