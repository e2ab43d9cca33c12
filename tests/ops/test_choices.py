"""Attributes that are one of some words refuse others: for each op type that TensorFlow declares such words for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.ir.opdef import raw, registry
from tests import ROOT
from tests.ops.rows import load
from tests.ops.test_ops import Built
from tests.support.table import Row, draw, row_dtypes

_CHOICES: dict[str, dict[str, list[str]]] = json.loads((ROOT / "tests" / "recorded" / "choices.json").read_text())
_ROWS: dict[str, Row] = {}
for _row in load():
    _ROWS.setdefault(_row.op_type, _row)
_CASES = [(name, attr) for name, attrs in _CHOICES.items() for attr in attrs if name in _ROWS]
_IMAGE = np.zeros((2, 2, 3), np.uint8)
_RAGGED = {"input_values": [72, 105], "input_splits": np.array([0, 2], np.int64)}
# Those that the table of ops does not have.
_BY_HAND: dict[str, Callable[..., Any]] = {
    "EncodeJpeg": lambda **a: raw.EncodeJpeg(_IMAGE, **a),
    "UnicodeDecode": lambda **a: raw.UnicodeDecode([b"a"], input_encoding="UTF-8", **a),
    "UnicodeDecodeWithOffsets": lambda **a: raw.UnicodeDecodeWithOffsets([b"a"], input_encoding="UTF-8", **a),
    "UnicodeEncode": lambda **a: raw.UnicodeEncode(**_RAGGED, **{"output_encoding": "UTF-8", **a}),
    "UnicodeTranscode": lambda **a: raw.UnicodeTranscode([b"a"], input_encoding="UTF-8",
                                                         **{"output_encoding": "UTF-8", **a}),
}
_HAND_CASES = [(name, attr) for name in _BY_HAND for attr in _CHOICES[name]]
# It is there for graphs to hold, and computes nothing.
_NOT_RUN = {"CudnnRNNV3"}


def _refused(op_type: str, attr: str, build: Callable[[], tuple[tf.Graph, Any]]) -> None:
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="nonsense") as caught:
        graph, fetches = build()
        with tf.Session(graph=graph) as sess:
            sess.run(fetches)
    text = str(caught.value)
    assert op_type in text and "Fix:" in text and "test_" in text, f"{attr}: {text}"


@pytest.mark.parametrize(("op_type", "attr"), _CASES)
def test_other_words_are_refused(op_type: str, attr: str) -> None:
    row = _ROWS[op_type]
    for case in map(row.complete, row.cases):
        if "padding" in case.attrs and not isinstance(case.attrs["padding"], str):
            continue
        inputs = draw(row, case, row_dtypes(row)[0])
        inputs.attrs[attr] = "nonsense"

        def build(inputs: Any = inputs) -> tuple[tf.Graph, Any]:
            built = Built(row, inputs)
            return built.graph, built.outputs

        _refused(op_type, attr, build)


@pytest.mark.parametrize(("op_type", "attr"), _HAND_CASES)
def test_other_words_are_refused_where_there_is_no_row(op_type: str, attr: str) -> None:
    def build() -> tuple[tf.Graph, Any]:
        with tf.Graph().as_default() as graph:
            return graph, _BY_HAND[op_type](**{attr: "nonsense"})

    _refused(op_type, attr, build)


def test_all_are_covered() -> None:
    """No op type of ours that has such an attribute in TensorFlow is left out."""
    assert {name for name in _CHOICES if name in registry} == {n for n, _ in (*_CASES, *_HAND_CASES)} | _NOT_RUN
