"""Public classes are subclasses of each other as TensorFlow's are: programs ask `isinstance` and `issubclass`."""

from __future__ import annotations

import gzip
import json
import pathlib
from typing import Any

import pytest

import graphgrad as v2
import graphgrad.compat.v1 as v1

_PATH = pathlib.Path(__file__).parents[1] / "recorded" / "classes.json.gz"
RECORDED = json.loads(gzip.decompress(_PATH.read_bytes()))

# Pairs (a, b) in which we differ: why.
EXEMPT = {
    ("nn.RNNCellDropoutWrapper", "Module"): "a Keras layer there, a layer of variable scopes here",
    ("nn.RNNCellResidualWrapper", "Module"): "a Keras layer there, a layer of variable scopes here",
    ("gfile.FastGFile", "gfile.GFile"): "another name of GFile",
    ("experimental.dtensor.DTensorDataset", "data.Dataset"): "stands for what is not here",
    ("experimental.dtensor.DVariable", "Variable"): "stands for what is not here",
    ("gfile.FastGFile", "gfile.Open"): "another name of GFile",
    ("gfile.FastGFile", "io.gfile.GFile"): "another name of GFile",
}


def _class(face: Any, name: str) -> Any:
    value = face
    for part in name.split("."):
        value = getattr(value, part, None)
    return value if isinstance(value, type) else None


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_subclasses(version: str) -> None:
    """Of any two public classes that are here, one is a subclass of the other where TensorFlow's is."""
    face = {"v1": v1, "v2": v2}[version]
    theirs = RECORDED[version]
    ours = {name: cls for name in theirs if (cls := _class(face, name)) is not None}
    assert len(ours) > 100
    wrong = [
        (a, b)
        for a, cls in ours.items()
        for b, base in ours.items()
        if cls is not base and issubclass(cls, base) != (b in theirs[a])
    ]
    assert [pair for pair in wrong if pair not in EXEMPT] == []


def test_bases_of_optimizers() -> None:
    """Programs look at `__base__` to find out which names of `tf.train` are optimizers."""
    names = [name for name in dir(v1.train) if name.endswith("Optimizer") and name != "Optimizer"]
    assert len(names) > 8
    assert {name: getattr(v1.train, name).__base__ for name in names} == dict.fromkeys(names, v1.train.Optimizer)
