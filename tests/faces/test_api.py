"""The faces: every name is TensorFlow's, with the same arguments in the same order and the same defaults.

`tests/reference/v1.tsv` and `v2.tsv` hold TensorFlow's signatures of the names that the faces
export; `python -m tests.record.signatures` writes them anew.
"""

from __future__ import annotations

import functools
import inspect
import pathlib
import re
import subprocess
import sys
from typing import Any

import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from tests.support import exempt
from tests.support.faces import FACES, exported, methods

_REFERENCE = pathlib.Path(__file__).parents[1] / "reference"


@functools.cache
def _reference(face: str) -> dict[str, tuple[str, str]]:
    lines = (_REFERENCE / f"{face}.tsv").read_text().splitlines()[1:]
    return {name: (kind, signature) for name, kind, signature in (line.split("\t") for line in lines)}


def _split(signature: str) -> list[str]:
    """The parameters of a signature's text, split at the commas outside brackets and quotes."""
    inside = signature[1 : _closing(signature)]
    parts, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(inside):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{<":
            depth += 1
        elif c in ")]}>" and inside[i - 1 : i + 1] != "->":
            depth -= 1
        elif c == "," and not depth:
            parts.append(inside[start:i])
            start = i + 1
    return [p.strip() for p in [*parts, inside[start:]] if p.strip()]


def _closing(text: str) -> int:
    depth, quote = 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if not depth:
                return i
    return len(text)


def _normal(signature: str) -> list[str]:
    """Parameters as `name` or `name=default`, without annotations, `self` and separators."""
    result = []
    for part in _split(signature):
        name, equals, default = part.partition("=")
        if ":" in name:
            colon = name.index(":")
            annotated = part[colon + 1 :]
            depth, at = 0, -1
            for i, c in enumerate(annotated):
                depth += c in "[(<"
                depth -= c in "])>"
                if c == "=" and not depth:
                    at = i
                    break
            name, equals, default = name[:colon], "=" if at >= 0 else "", annotated[at + 1 :]
        name = name.strip()
        if name in ("self", "cls", "/", "*"):
            continue
        result.append(f"{name}={_default(default.strip())}" if equals else name)
    return result


def _default(text: str) -> str:
    """A default's text, with objects by their names alone."""
    text = re.sub(r"<function (\w+) at 0x\w+>", r"<function \1>", text)
    text = re.sub(r"<(?:\w+\.)*(\w+) object at 0x\w+>", r"<\1>", text)
    text = re.sub(r"<(\w+?)(?:V2)?\.(\w+): [^>]*>", r"\1.\2", text)  # an enum's member
    text = re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"<class \1>", text)
    text = re.sub(r"\bgraphgrad(\.\w+)*\.|\btensorflow(\.\w+)*\.", "", text)
    return text.replace('"', "'").replace("np.", "")


def _ours(value: Any) -> str | None:
    if isinstance(value, type) and value.__module__.startswith("absl."):  # it is what was recorded, of the constructor
        value = value.__init__  # type: ignore[misc]  # of a class, not of an instance
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return None


def _differences(face: str) -> dict[str, str]:
    reference = _reference(face)
    wrong = {}
    values = exported(face)
    for name, value in {**values, **methods(values, reference)}.items():
        if name not in reference:
            continue
        kind, signature = reference[name]
        if kind == "value" or not signature.startswith("("):
            continue
        ours = _ours(value)
        theirs = _normal(signature)
        if theirs in (["*args", "**kwargs"], ["*args", "**kwds"]):
            continue
        if ours is None or not callable(value):
            wrong[name] = f"no signature, TensorFlow's is {signature}"
        elif _normal(ours) != theirs:
            wrong[name] = f"\n    here:       ({', '.join(_normal(ours))})\n    TensorFlow: ({', '.join(theirs)})"
    return wrong


@pytest.mark.parametrize("face", FACES)
def test_only_tensorflows_names(face: str) -> None:
    """A face exports nothing that TensorFlow does not; nothing it exports is missing in the reference."""
    unknown = set(exported(face)) - set(_reference(face)) - {n[3:] for n in exempt.NAMES if n.startswith(face)}
    unknown = {n for n in unknown if not any(n.startswith(f"{m[3:]}.") for m in exempt.NAMES if m.startswith(face))}
    assert not unknown, (f"{sorted(unknown)}: not in tests/reference/{face}.tsv; "
                         "run `python -m tests.record.signatures`")


@pytest.mark.parametrize("face", FACES)
def test_signatures(face: str) -> None:
    """Arguments have TensorFlow's names, order and defaults."""
    allowed = {n[3:] for n in exempt.SIGNATURES if n.startswith(face)}
    wrong = _differences(face)
    report = "\n".join(f"  {n}: {text}" for n, text in sorted(wrong.items()) if n not in allowed)
    assert not report, f"{face}:\n{report}"
    stale = allowed - set(wrong)
    assert not stale, f"exempt, yet equal: {sorted(stale)}"


def test_v1_is_compat_v1() -> None:
    """`graphgrad.v1` has the same names as `graphgrad.compat.v1`, and turns graph mode on."""
    program = ("import graphgrad.compat.v1 as compat\n"
               "assert compat.executing_eagerly()\n"
               "import graphgrad.v1 as v1\n"
               "assert not compat.executing_eagerly()\n"
               "print(*sorted({n for n in dir(compat) if n[0] != '_'} - set(dir(v1))))\n")
    env = {"PYTHONPATH": str(_REFERENCE.parent.parent / "src"), "PATH": "/usr/bin:/bin"}
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env)
    assert result.returncode == 0, result.stderr
    assert not result.stdout.split(), f"in compat.v1 but not in v1: {result.stdout}"


def test_versions() -> None:
    """The version is the one whose behaviour is offered, everywhere the same."""
    assert tf.VERSION == tf.version.VERSION == tf2.version.VERSION == tf.__version__ == "2.21.0"
    assert tf.GIT_VERSION == tf2.version.GIT_VERSION and tf.GIT_VERSION.startswith("v2.21.0")
    assert (tf.GRAPH_DEF_VERSION, tf2.version.GRAPH_DEF_VERSION_MIN_CONSUMER) == (2474, 0)
