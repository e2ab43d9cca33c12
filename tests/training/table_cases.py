"""Tables of all kinds, saved in every way; what they hold is told by `looked_up`, and in memory by `Truth`."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np

WAYS = ("saver", "meta graph", "graph model", "graph model as object", "objects", "model")
KEYS = {"string": ["a", "bc", "", "a longer key, of three words", "é", "x" * 40], "int64": [1, 7, -5, 2**40 + 1, 15, 9],
        "int32": [1, 7, -5, 2**20 + 1, 15, 9]}
MARKS = {"string": ("(empty)", "(deleted)"), "int64": (0, -1), "int32": (0, -1)}
# Key and value dtypes that TensorFlow has, and the shapes of values: of MutableHashTable and of DenseHashTable.
PLAIN = [("string", "int64", ()), ("string", "float32", (2,)), ("int64", "string", ()), ("int64", "float32", (3,)),
         ("int64", "int64", (2, 2)), ("string", "bool", ())]
DENSE = [("int64", "float32", (2,)), ("string", "int64", ()), ("int32", "int32", ()), ("int64", "bool", ()),
         ("string", "float32", (3,))]


class Table:
    """A table that is made by chance, and what it holds.

    Args:
      rng: the source of chance.
      name: its name.

    Attributes:
      truth: a dictionary with its entries.
    """

    def __init__(self, rng: random.Random, name: str):
        self.dense, self.name = rng.random() < 0.5, name
        self.key, self.value, self.shape = rng.choice(DENSE if self.dense else PLAIN)
        self.vector = self.dense and self.key == "int64" and rng.random() < 0.3
        self.keys: list[Any] = KEYS[self.key]
        if self.vector:
            self.keys = [(k, i) for i, k in enumerate(self.keys)]
        self.buckets = rng.choice([4, 8, 64])
        self.steps: list[tuple[str, list[Any], Any]] = []
        self.truth: dict[Any, Any] = {}
        for _ in range(rng.randrange(4)):
            chosen = rng.sample(self.keys, rng.randrange(1, len(self.keys)))
            if self.steps and rng.random() < 0.4:
                self.steps.append(("remove", chosen, None))
                for key in chosen:
                    self.truth.pop(key, None)
                continue
            values = self._values(rng, len(chosen))
            self.steps.append(("insert", chosen, values))
            self.truth.update(zip(chosen, values.tolist(), strict=True))

    def _values(self, rng: random.Random, count: int) -> Any:
        shape = (count, *self.shape)
        array = np.array([rng.randrange(100) for _ in range(int(np.prod(shape)))]).reshape(shape)
        if self.value == "string":
            return np.array([f"v{v}".encode() for v in array.ravel()], object).reshape(shape)
        return array % 2 == 0 if self.value == "bool" else array.astype(self.value)

    def default(self) -> Any:
        """The value of unknown keys."""
        value = b"none" if self.value == "string" else self.value != "bool" and -1
        return np.full(self.shape, value, object if self.value == "string" else self.value).tolist()

    def make(self, tf: Any) -> Any:
        """The table."""
        experimental, key, value = tf.lookup.experimental, getattr(tf, self.key), getattr(tf, self.value)
        if not self.dense:
            return experimental.MutableHashTable(key, value, self.default(), name=self.name)
        empty, deleted = ([m, m] if self.vector else m for m in MARKS[self.key])
        return experimental.DenseHashTable(key, value, self.default(), empty_key=empty, deleted_key=deleted,
                                           initial_num_buckets=self.buckets, name=self.name)

    def changes(self, tf: Any, made: Any) -> list[Callable[[], Any]]:
        """What fills the table, step by step."""
        dtype, value = getattr(tf, self.key), getattr(tf, self.value)
        found: list[Callable[[], Any]] = []
        for what, keys, values in self.steps:
            if what == "insert":
                found.append(lambda keys=keys, values=values: made.insert(
                    tf.constant(keys, dtype), tf.constant(values, value)))
            else:
                found.append(lambda keys=keys: made.remove(tf.constant(keys, dtype)))
        return found

    def look(self, tf: Any, made: Any) -> list[Any]:
        """What all keys have, and the number of entries."""
        return [made.lookup(tf.constant(self.keys, getattr(tf, self.key))), made.size()]

    def expected(self) -> list[Any]:
        """What `look` has to give."""
        return [[self.truth.get(k, self.default()) for k in self.keys], len(self.truth)]


def tables(seed: int) -> list[Table]:
    """Some tables, named apart."""
    rng = random.Random(seed)
    return [Table(rng, f"table{i}") for i in range(rng.randrange(1, 4))]


def plain(values: Any) -> Any:
    """Lists of plain values."""
    return [np.asarray(v).tolist() for v in values]


def expected(chosen: list[Table]) -> list[Any]:
    """What is found in tables."""
    return [v for table in chosen for v in table.expected()]


def _module(tf: Any, chosen: list[Table]) -> Any:
    module = tf.Module()
    module.tables = [table.make(tf) for table in chosen]
    module.look = tf.function(lambda: [v for table, made in zip(chosen, module.tables, strict=True)
                                       for v in table.look(tf, made)], input_signature=[])
    return module


def write_graph(tf: Any, tf1: Any, chosen: list[Table], folder: str) -> None:
    """Saves tables of a graph: by a `Saver`, with the graph, and as a model.

    Args:
      tf, tf1: both faces of a system.
      chosen: the tables.
      folder: where to.
    """
    with tf.Graph().as_default(), tf1.Session() as sess:
        made = [table.make(tf) for table in chosen]
        x = tf1.placeholder(tf.float32, [], name="x")
        v = tf1.get_variable("v", initializer=2.0)
        found = [tf.identity(t, name=f"found{i}") for i, t in enumerate(
            t for table, m in zip(chosen, made, strict=True) for t in table.look(tf, m))]
        changes = [op() for table, m in zip(chosen, made, strict=True) for op in table.changes(tf, m)]
        sess.run(v.initializer)
        for change in changes:
            sess.run(change)
        assert plain(sess.run(found)) == expected(chosen)
        tf1.train.Saver().save(sess, os.path.join(folder, "graph"))
        tf1.saved_model.simple_save(sess, os.path.join(folder, "graph model"), {"x": x},
                                    {f"found{i:02d}": t for i, t in enumerate(found)})


def write_objects(tf: Any, chosen: list[Table], folder: str) -> None:
    """Saves tables of objects: as a checkpoint and as a model."""
    module = _module(tf, chosen)
    for table, made in zip(chosen, module.tables, strict=True):
        for change in table.changes(tf, made):
            change()
    assert plain(module.look()) == expected(chosen)
    tf.train.Checkpoint(module=module).write(os.path.join(folder, "objects"))
    tf.saved_model.save(module, os.path.join(folder, "model"))


def read(tf: Any, tf1: Any, chosen: list[Table], folder: str, way: str) -> list[Any]:
    """What is found in tables that are restored in one of the ways; in eager mode."""
    count = 2 * len(chosen)
    names = [f"found{i}:0" for i in range(count)]
    if way == "objects":
        module = _module(tf, chosen)
        tf.train.Checkpoint(module=module).read(os.path.join(folder, "objects")).expect_partial()
        return plain(module.look())
    if way == "model":
        return plain(tf.saved_model.load(os.path.join(folder, "model")).look())
    if way == "graph model as object":
        found = tf.saved_model.load(os.path.join(folder, "graph model")).signatures["serving_default"](tf.constant(0.0))
        return plain([found[f"found{i:02d}"] for i in range(count)])
    with tf.Graph().as_default(), tf1.Session() as sess:
        if way == "saver":
            looks: Any = [t for table in chosen for t in table.look(tf, table.make(tf))]
            tf1.get_variable("v", initializer=0.0)
            tf1.train.Saver().restore(sess, os.path.join(folder, "graph"))
        elif way == "meta graph":
            path = os.path.join(folder, "graph")
            tf1.train.import_meta_graph(f"{path}.meta").restore(sess, path)
            looks = names
        else:
            tf1.saved_model.load(sess, ["serve"], os.path.join(folder, "graph model"))
            looks = names
        return plain(sess.run(looks))
