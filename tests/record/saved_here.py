"""Has TensorFlow load and use models that were saved here, and records what it computes with them.

    .venv/bin/python -m tests.extras.saved_model.saved_here_cases FOLDER
    .venv-tensorflow/bin/python -m tests.record.saved_here FOLDER

The first command saves all cases here, the second one loads them in TensorFlow 2.21: the objects, their functions and
gradients, and, as 1.x does, their signatures in a session; then it saves them once more. Results go into
tests/recorded/saved_models/saved_here.json. They must agree with those of the models that TensorFlow saves itself.
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
from typing import Any

import numpy as np

from tests.extras.saved_model.saved_here_cases import ALL_CASES
from tests.extras.saved_model_cases import plain
from tests.record import RECORDED


def differences(ours: Any, theirs: Any, place: str) -> list[str]:
    """Lists where two nested results differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict) and set(ours) == set(theirs):
        return [d for k in theirs for d in differences(ours[k], theirs[k], f"{place}.{k}")]
    if isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
        return [d for i, (a, b) in enumerate(zip(ours, theirs)) for d in differences(a, b, f"{place}[{i}]")]
    numbers = isinstance(theirs, float) and isinstance(ours, float)
    same = np.allclose(ours, theirs, 1e-5, 1e-6, equal_nan=True) if numbers else ours == theirs
    return [] if same else [f"{place}: {ours} instead of {theirs}"]


def _tags(tf: Any, model: str) -> list[str]:
    return list(tf.__internal__.saved_model.parse_saved_model(model).meta_graphs[0].meta_info_def.tags)


def _fingerprint(tf: Any, model: str) -> None:
    """Compares the fingerprint in the file with the one that TensorFlow computes."""
    from tensorflow.python.saved_model.pywrap_saved_model import fingerprinting

    found = fingerprinting.CreateFingerprintDef(model)
    ours, theirs = (tf.saved_model.experimental.Fingerprint.from_proto(f) for f in (
        pathlib.Path(model, "fingerprint.pb").read_bytes(), found))
    assert ours == theirs, f"{ours!r} {theirs!r}"
    assert ours.singleprint() == tf.saved_model.experimental.read_fingerprint(model).singleprint()


def _signatures(tf: Any, model: str) -> None:
    """Runs the signatures in a session of 1.x, if they take no strings."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tags = _tags(tf, model)
        message = tf.compat.v1.saved_model.load(session, tags, model)
        for key, signature in message.signature_def.items():
            if key.startswith("__"):
                continue
            feeds = {}
            for info in signature.inputs.values():
                dtype = tf.as_dtype(info.dtype)
                shape = [1 if d.size < 0 else d.size for d in info.tensor_shape.dim]
                feeds[info.name] = np.full(shape, "blue" if dtype == tf.string else 1, dtype.as_numpy_dtype)
            session.run([o.name for o in signature.outputs.values()], feeds)


def main() -> None:
    """Checks and records all cases."""
    import tensorflow as tf

    folder = pathlib.Path(sys.argv[1])
    found = {}
    for name, (build, use) in ALL_CASES.items():
        model = str(folder / name)
        _signatures(tf, model)
        _fingerprint(tf, model)
        loaded = tf.saved_model.load(model)
        with tempfile.TemporaryDirectory() as again:
            tf.saved_model.save(loaded, again)
        ours = found[name] = json.loads(json.dumps(plain(tf, use(tf, loaded))))
        with tempfile.TemporaryDirectory() as other:
            value, further = build(tf, pathlib.Path(other))
            tf.saved_model.save(value, f"{other}/model", **further)
            theirs = json.loads(json.dumps(plain(tf, use(tf, tf.saved_model.load(f"{other}/model")))))
        wrong = differences(ours, theirs, name)
        print(f"{name}: {wrong[:5] or 'as from TensorFlow'}")
        assert not wrong
    path = RECORDED / "saved_models" / "saved_here.json"
    path.write_text(json.dumps(found, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
