"""What messages advise exists: names of TensorFlow in them are names of a face."""

from __future__ import annotations

import ast
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import pytest

import graphgrad as v2
import graphgrad.compat.contrib  # so that `compat` has it
import graphgrad.compat.v1 as v1
from graphgrad import compat
from graphgrad.compat import importing, missing

_PACKAGE = pathlib.Path(v2.__file__).parent
_NAME = re.compile(r"(?<![\w.@])tf((?:\.[A-Za-z_]\w*)+)")
# What looks like a name and is none.
_NONE = {"aliasing_output": "the name of an attribute in StableHLO",
         "Variables": "TensorFlow's words for several variables", "error": "TensorFlow's words for its errors",
         "contrib": "of programs for 1.x; a face of its own",
         "NoneTensorSpec": "the name of such specs in files",
         "RowPartitionSpec": "the name of such specs in files",
         "RowPartition": "TensorFlow's text of such a value",
         "functions": "TensorFlow's words for several functions",
         "RaggedTensorValue": "TensorFlow's text of such a value",
         "dispatch_for": "TensorFlow's words for the decorators of tf.experimental whose names begin so"}


@pytest.fixture(autouse=True)
def _eager() -> Iterator[None]:
    """The faces stay as they are."""
    yield
    importing.uninstall()


def _is_here(path: str) -> bool:
    for face in (v2, v1, compat):  # `compat` has `contrib`
        found: Any = face
        try:
            for part in path.split("."):
                found = getattr(found, part)
            return True
        except AttributeError:
            continue
    return False


def _strings(tree: ast.AST) -> Iterator[str]:
    """The strings of a module, without docstrings; the parts of formatted ones are put together."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {id(n.body[0].value) for n in ast.walk(tree)
            if isinstance(n, owners) and n.body and isinstance(n.body[0], ast.Expr)}
    inside = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(v.value) if isinstance(v, ast.Constant) else "\0" for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs | inside:
            yield node.value


def test_names_in_messages_exist() -> None:
    """Whoever follows a message finds what it names."""
    wrong = {}
    for file in sorted(_PACKAGE.rglob("*.py")):
        for text in _strings(ast.parse(file.read_text())):
            for match in _NAME.finditer(text):
                name = match[1][1:]
                is_part = text[match.end() : match.end() + 1] == "\0" or name.endswith("_")  # the rest is filled in
                if not (is_part or name in _NONE or _is_here(name)):
                    wrong[f"{file.relative_to(_PACKAGE)}: tf.{name}"] = text[:100]
    assert not wrong


@pytest.mark.parametrize("name", ["keras", "losses", "optimizers", "estimator"])
def test_libraries_upon_tensorflow(name: str) -> None:
    """What belongs to Keras or the estimators is said to, and what is here instead exists; `--tf 1` is no remedy."""
    with pytest.raises(AttributeError, match="not part of graphgrad|uses if it is installed") as caught:
        getattr(v2, name)
    assert "--tf 1" not in str(caught.value)
    assert all(_is_here(m[1][1:]) for m in _NAME.finditer(str(caught.value)))


@pytest.mark.parametrize(("program", "expected"), [
    ("from tensorflow import keras", "Keras is a library on top"),
    ("from tensorflow import placehoder", "Did you mean 'placeholder'"),
    ("from tensorflow.train import AdamOptimiser", "Did you mean 'AdamOptimizer'"),
    ("import tensorflow as tf; tf.losses.MeanSquaredError", "tf.compat.v1.losses.mean_squared_error"),
])
def test_imports_from_a_face(program: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`from tensorflow import name` says as much as `tf.name`."""
    import sys

    for name in [n for n in sys.modules if n.split(".")[0] == "tensorflow"]:
        monkeypatch.delitem(sys.modules, name)
    importing.install(1)
    with pytest.raises((ImportError, AttributeError), match=expected):
        exec(program, {})


@pytest.mark.parametrize(("name", "expected"), [
    ("random_normal", "tf.compat.v1.random_normal"), ("log", "tf.math.log"), ("Session", "tf.compat.v1.Session"),
    ("train.AdamOptimizer", "tf.compat.v1.train.AdamOptimizer"), ("losse", "graphgrad has no such name"),
    ("summary.scaler", "Did you mean 'scalar'"),
])
def test_names_of_tensorflow_1(name: str, expected: str) -> None:
    """A name that 2.x dropped is named where it is; a class that happens to be called like it is not advised."""
    place, _, leaf = name.rpartition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(getattr(v2, place) if place else v2, leaf)
    assert expected in str(caught.value)
    assert all(_is_here(m[1][1:]) for m in _NAME.finditer(missing.advice(v2, "Session")))


def test_completion() -> None:
    """What an interpreter completes `tf.` to: names of TensorFlow, those that are imported later as well."""
    for face in (v2, v1):
        names = dir(face)
        assert {"gradients", "Tensor", "test", "saved_model", "nn", "compat"} <= set(names)
        assert not {"executor", "frontend", "ir", "ops", "platform"} & set(names)
        assert not [n for n in names if n.startswith("_") and not n.startswith("__")]
    assert {"flags", "app", "layers"} <= set(dir(v1)) and "layers" not in dir(v2)
