"""Objects that both systems save and restore."""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any

import numpy as np

from tests.support import recordings

FOLDER = recordings.FOLDER / "checkpoints"
VALUES = {"w": [1.0, 2.0], "n": 7, "word": "héllo", "half": [0.5, -0.25], "keys": ["a", "bc"], "counts": [3, 4]}


def objects(tf: Any, tf1: Any, filled: bool) -> dict[str, Any]:
    """A module with variables in lists, tuples and dictionaries, an optimizer with slots, a table, a counter."""

    class Layer(tf.Module):  # type: ignore[misc, name-defined]  # of any module
        def __init__(self) -> None:
            super().__init__()
            start = VALUES if filled else {"w": [0.0, 0.0], "n": 0, "word": "", "half": [0.0, 0.0]}
            self.w = tf.Variable(start["w"], name="w")
            self.many = [tf.Variable(start["n"]), {"a.b/c": tf.Variable(start["word"])}]
            self.pair = (tf.Variable(np.array(start["half"], np.float16)),)
            self.limit = 3
            self.same = self.w
            self.inner = tf.Module("inner")

    layer = Layer()
    optimizer = tf1.train.AdamOptimizer(0.1)
    if filled:
        optimizer.minimize(lambda: tf.reduce_sum(layer.w * layer.w), var_list=[layer.w])
        layer.w.assign(VALUES["w"])
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    if filled:
        table.insert(tf.constant(VALUES["keys"]), tf.constant(VALUES["counts"], tf.int64))
    return {"layer": layer, "optimizer": optimizer, "table": table,
            "step": tf.Variable(5 if filled else 0, dtype=tf.int64)}


def values(tf: Any, made: dict[str, Any]) -> list[Any]:
    """What the objects hold."""
    layer, optimizer = made["layer"], made["optimizer"]
    slots = [optimizer.get_slot(layer.w, name).numpy().tolist() for name in ("m", "v")]
    powers = sorted(float(v.numpy()) for v in optimizer.variables() if not v.shape.rank)
    found = made["table"].lookup(tf.constant([*VALUES["keys"], "z"])).numpy().tolist()
    return [layer.w.numpy().tolist(), int(layer.many[0].numpy()), layer.many[1]["a.b/c"].numpy().decode(),
            layer.pair[0].numpy().tolist(), int(made["step"].numpy()), slots, powers, found]


def restored(tf: Any, tf1: Any, path: str) -> list[Any]:
    """The values after restoring: the slots are made later."""
    made = objects(tf, tf1, False)
    checkpoint = tf.train.Checkpoint(**made)
    status = checkpoint.restore(path)
    w = made["layer"].w.numpy()
    made["optimizer"].apply_gradients([(tf.zeros([2]), made["layer"].w)])
    status.assert_consumed()
    made["layer"].w.assign(w)
    return [*values(tf, made), int(checkpoint.save_counter.numpy())]


def digest(prefix: str) -> str:
    """The digest of a checkpoint's files."""
    data = b"".join(pathlib.Path(prefix + end).read_bytes() for end in (".index", ".data-00000-of-00001"))
    return hashlib.sha256(data).hexdigest()
