"""Saved models of which fields are others, or whose files are damaged: each is refused, or loaded and called.

A seed takes a model that TensorFlow wrote, changes fields of its message (lengths and kinds stay right), cuts or flips
its values, or damages its text. Promised is an error of TensorFlow's classes, in this package's words and with a
remedy; values that are damaged are never taken for others.
"""

from __future__ import annotations

import contextlib
import math
import os
import pathlib
import random
import shutil
import tempfile
import warnings
import zipfile
from typing import Any

from . import _mutations as mutations

QUICK = 20
SECONDS = 10.0
MEGABYTES = 400
_NAMES = ("linear", "nested", "control", "tables", "composite", "old")
_RECORDED = pathlib.Path(__file__).parents[1] / "recorded" / "saved_models"
_WHOLE: dict[str, Any] = {}  # by name: the message
_RESULTS: dict[str, list[Any]] = {}
_FOLDER = ""
_KEPT: list[Any] = []
_NUMBERS = (0, 1, -1, 2, 3, 7, 9, 20, 99, 127, 255, 65535, (1 << 31) - 1, 1 << 40)
_TEXTS = ("", "x", "x:0", "^x", "../x", "/x", "a/b", "Const", "NoOp", "\u00e9", "x" * 3000, "root", "0", "-1")


def prepare() -> None:
    """Unpacks the models."""
    global _FOLDER
    from graphgrad.extras.import_v1.saved_model import read_saved_model

    _KEPT.append(tempfile.TemporaryDirectory(prefix="graphgrad-hostile-"))
    _FOLDER = _KEPT[0].name
    for name in _NAMES:
        with zipfile.ZipFile(_RECORDED / f"{name}.zip") as file:
            file.extractall(os.path.join(_FOLDER, name))
        _WHOLE[name] = read_saved_model(os.path.join(_FOLDER, name))
        _RESULTS[name] = _used(os.path.join(_FOLDER, name), False)


def attack(seed: int) -> str:
    """Makes the seed's model, loads it and calls its functions."""
    if not _WHOLE:
        prepare()
    rng = random.Random(seed)
    name = rng.choice(_NAMES)
    folder = os.path.join(_FOLDER, "changed")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(_FOLDER, name), folder)
    what = rng.random()
    if what < 0.75:
        message = type(_WHOLE[name]).FromString(_WHOLE[name].SerializeToString())
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            _change(rng, message, 0)
        _write(folder, "saved_model.pb", message.SerializeToString())
    elif what < 0.85:
        _damage_text(rng, folder, _WHOLE[name])
    else:
        _damage_values(rng, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _outcome(folder, name, rng.random() < 0.25, what >= 0.85)


def _outcome(folder: str, name: str, in_session: bool, is_damaged: bool) -> str:
    from graphgrad.errors import OpError

    try:
        results = _used(folder, in_session)
    except (ValueError, TypeError, KeyError, OSError, NotImplementedError, RuntimeError, AssertionError, OpError) as e:
        if in_session and isinstance(e, (ValueError, KeyError, TypeError)) and "The name" in str(e):
            return "a name of the signature's"  # which the call above asks for
        if "Fix:" not in str(e) and "Fix:" not in "".join(getattr(e, "__notes__", ())):
            raise AssertionError(f"no remedy: {type(e).__name__}: {str(e)[:300]}") from e
        return type(e).__name__
    if is_damaged and not in_session:
        assert repr(results) == repr(_RESULTS[name]), "values are taken for others"
    return "ok"


def _used(folder: str, in_session: bool) -> list[Any]:
    """Loads a model and calls its signatures with zeros; returns their results."""
    import graphgrad as tf

    if in_session:
        v1 = tf.compat.v1
        with tf.Graph().as_default(), v1.Session() as sess:
            message = v1.saved_model.load(sess, ["serve"], folder)
            found = []
            for _, signature in sorted(message.signature_def.items()):
                feeds = {i.name: _zeros(i.tensor_shape.shape(), tf.as_dtype(int(i.dtype)))
                         for i in signature.inputs.values()}
                found.append(sess.run([o.name for o in signature.outputs.values()], feeds))
            return found
    loaded = tf.saved_model.load(folder)
    found = []
    if not hasattr(getattr(loaded, "signatures", None), "items"):
        raise ValueError("another object has this name. Fix: none")  # as in TensorFlow
    for _, function in sorted(loaded.signatures.items()):
        specs = function.structured_input_signature[1]
        given = {k: tf.constant(_zeros(s.shape.as_list() if s.shape.rank is not None else None, s.dtype), s.dtype)
                 for k, s in specs.items() if hasattr(s, "shape")}
        found.append({k: v.numpy().tolist() for k, v in sorted(function(**given).items()) if hasattr(v, "numpy")})
    return found


def _zeros(shape: Any, dtype: Any) -> Any:
    import numpy as np

    sizes = [1 if n is None else n for n in shape or ()]
    if math.prod(sizes) > 10**6 or any(n < 0 for n in sizes):
        raise ValueError("a signature of another size. Fix: none")
    return np.full(sizes, b"" if dtype.name == "string" else 0, dtype.as_numpy_dtype)


# -- changes -------------------------------------------------------------------------------


def _change(rng: random.Random, message: Any, depth: int) -> None:
    """Changes one field of a message, or of one in it."""
    from graphgrad.ir.proto.messages import Map, Message, Repeated

    names = [name for name in message.FIELDS if message._is_set(name)]
    if not names or rng.random() < 0.02:
        names = list(message.FIELDS)
    if not names:
        return
    weights = [8 if isinstance(message._values.get(n), (Message, Map, Repeated)) else 1 for n in names]
    name = rng.choices(names, weights)[0]
    value = getattr(message, name)
    if rng.random() < 0.03:
        message.ClearField(name)
    elif isinstance(value, Message):
        _change(rng, value, depth + 1)
    elif isinstance(value, Map):
        _change_map(rng, value, depth)
    elif isinstance(value, Repeated):
        _change_list(rng, value, depth)
    else:
        kind = message.FIELDS[name][1]
        with contextlib.suppress(TypeError, OverflowError):
            setattr(message, name, _other(rng, kind, value))


def _change_map(rng: random.Random, value: Any, depth: int) -> None:
    if not value:
        return
    key = rng.choice(sorted(value))
    what, kind = rng.random(), value.kind.value
    if what < 0.06:
        del value[key]
    elif what < 0.14:
        value[_other(rng, value.kind.key, key)] = value.pop(key)
    elif what < 0.2:
        value[key] = value[rng.choice(sorted(value))]
    elif isinstance(kind, str):
        value[key] = _other(rng, kind, value[key])
    else:
        _change(rng, value[key], depth + 1)


def _change_list(rng: random.Random, value: Any, depth: int) -> None:
    what, at = rng.random(), rng.randrange(len(value)) if value else 0
    if not value or what < 0.04:
        value.append(value[at] if value else (_other(rng, value.kind, 0) if isinstance(value.kind, str)
                                              else value.kind()))
    elif what < 0.08:
        del value[at]
    elif what < 0.11:
        rng.shuffle(value)
    elif what < 0.15:
        value[at] = rng.choice(value)
    elif isinstance(value.kind, str):
        value[at] = _other(rng, value.kind, value[at])
    else:
        _change(rng, value[at], depth + 1)


def _other(rng: random.Random, kind: str, value: Any) -> Any:
    """Returns another value of a kind."""
    if kind == "bool":
        return not value
    if kind in ("float", "double"):
        return rng.choice((0.0, -1.0, math.inf, math.nan, 1e30))
    if kind == "string":
        return rng.choice((*_TEXTS, value + "x", value[:-1], value.upper()) if isinstance(value, str) else _TEXTS)
    if kind == "bytes":
        held = value if isinstance(value, bytes) else b""
        return rng.choice((b"", b"x", held + b"x", held[:-1], rng.randbytes(8), held * 2))
    number = rng.choice((*_NUMBERS, value + 1, value - 1) if isinstance(value, int) else _NUMBERS)
    least, most = {"int32": (-(1 << 31), (1 << 31) - 1), "uint32": (0, (1 << 32) - 1), "fixed32": (0, (1 << 32) - 1),
                   "uint64": (0, 1 << 63), "fixed64": (0, 1 << 63)}.get(kind, (-(1 << 63), (1 << 63) - 1))
    return min(max(number, least), most)


def _damage_values(rng: random.Random, folder: str) -> None:
    """Damages a file of the values, or cuts it, or removes it."""
    parts = sorted(pathlib.Path(folder, "variables").iterdir())
    part = rng.choice(parts)
    data = part.read_bytes()
    what = rng.random()
    if what < 0.1:
        part.unlink()
    else:
        part.write_bytes(data[: rng.randrange(len(data) + 1)] if what < 0.5 else mutations.damaged(rng, data, data))


def _damage_text(rng: random.Random, folder: str, message: Any) -> None:
    lines = str(message).splitlines(keepends=True)
    for _ in range(rng.choice((1, 1, 3))):
        at = rng.randrange(len(lines))
        what = rng.random()
        if what < 0.3:
            del lines[at]
        elif what < 0.6:
            lines[at] = mutations.damaged(rng, lines[at].encode(), b"}\n").decode("utf-8", "replace")
        else:
            lines[at] = rng.choice(lines)
    os.unlink(os.path.join(folder, "saved_model.pb"))
    _write(folder, "saved_model.pbtxt", "".join(lines).encode())


def _write(folder: str, name: str, data: bytes) -> None:
    pathlib.Path(folder, name).write_bytes(data)
