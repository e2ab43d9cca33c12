"""Files that cannot be read or written: which class of error comes, and what is left."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..harness import case, raised


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    """A directory, with a file `file` in it."""
    path = tempfile.mkdtemp()
    with open(os.path.join(path, "file"), "w") as f:
        f.write("text")
    try:
        yield path
    finally:
        shutil.rmtree(path)


@contextlib.contextmanager
def _small_files() -> Iterator[None]:
    """No file may get larger than 20,000 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@case("graph")
def saver(tf: Any) -> Any:
    v = tf.get_variable("v", [9000], initializer=tf.zeros_initializer())
    with tf.Session() as sess, _folder() as d:
        sess.run(v.initializer)
        saving = tf.train.Saver()

        def save(path: str) -> str:
            return raised(lambda: saving.save(sess, os.path.join(d, path), write_meta_graph=False))

        found = [save("m"), save("file/m"), save("file/n/m")]
        os.mkdir(os.path.join(d, "n.index"))
        found.append(save("n"))
        with _small_files():
            found.append(save("m"))
        saving.restore(sess, os.path.join(d, "m"))
        return [*found, tf.train.latest_checkpoint(d) == os.path.join(d, "m")]


@case("eager")
def checkpoint(tf: Any) -> Any:
    c = tf.train.Checkpoint(v=tf.Variable(tf.zeros([9000])))
    with _folder() as d:
        found = [raised(lambda p=p: c.write(os.path.join(d, p))) for p in ("m", "file/m", "file/n/m")]
        with _small_files():
            found.append(raised(lambda: c.write(os.path.join(d, "m"))))
        c.read(os.path.join(d, "m")).assert_consumed()
        return [*found, raised(lambda: c.restore(os.path.join(d, "none"))),
                raised(lambda: tf.train.load_checkpoint(os.path.join(d, "file", "m")))]


@case("eager")
def records(tf: Any) -> Any:
    def write(path: str, size: int = 50_000) -> str:
        def call() -> None:
            with tf.io.TFRecordWriter(path) as writer:
                writer.write(b"x" * size)

        return raised(call)

    with _folder() as d:
        found = [write(p) for p in ("/dev/full", d, d + "/no/file", d + "/file/x", d + "/ok")]
        with _small_files():
            found.append(write(d + "/large"))
        for path in (d, d + "/no", d + "/file/x"):
            for kind in (tf.data.TFRecordDataset, tf.data.TextLineDataset):
                found.append(raised(lambda path=path, kind=kind: list(kind(path))))
        return found


@case("eager")
def gfile(tf: Any) -> Any:
    files = tf.io.gfile

    def write(path: str, size: int) -> None:
        with files.GFile(path, "w") as f:
            f.write("x" * size)

    with _folder() as d:
        below = d + "/file/x"
        calls = [lambda: write("/dev/full", 1), lambda: write("/dev/full", 1 << 20), lambda: write(d, 1),
                 lambda: write(below, 1), lambda: write(d + "/" + "x" * 300, 1), lambda: files.GFile(d).read(),
                 lambda: files.makedirs(d + "/file"), lambda: files.makedirs(below), lambda: files.mkdir(d + "/file"),
                 lambda: files.mkdir(d + "/a/b"), lambda: files.remove(d), lambda: files.stat(below),
                 lambda: files.copy(d + "/file", d + "/no/x"), lambda: files.copy(d + "/file", d + "/file"),
                 lambda: files.rename(d + "/no", d + "/x"), lambda: files.rmtree(d + "/no")]
        return [raised(call) for call in calls]


@case("eager")
def operations(tf: Any) -> Any:
    with _folder() as d:
        calls = [lambda: tf.io.write_file("/dev/full", "x"), lambda: tf.io.write_file(d, "x"),
                 lambda: tf.io.write_file(d + "/file/x", "x"), lambda: tf.io.write_file(d + "/a/b/c", "x"),
                 lambda: tf.io.read_file(d), lambda: tf.io.read_file(d + "/no"), lambda: tf.io.read_file(d + "/file/x"),
                 lambda: tf.io.write_graph(tf.Graph(), d + "/file", "x"),
                 lambda: tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(d, tf.string, 0, tf.int64, 1), 0),
                 lambda: tf.print("x", output_stream="file:///dev/full/x")]
        return [raised(call) for call in calls]


@case("graph")
def saved_model_with_a_variable_in_parts(tf: Any) -> Any:
    parts = tf.get_variable("in/parts", [7, 2], initializer=tf.zeros_initializer(),
                            partitioner=tf.fixed_size_partitioner(3))
    other = tf.get_variable("other", [2], initializer=tf.zeros_initializer())
    x = tf.placeholder(tf.int32, [None], "x")
    y = tf.add(tf.nn.embedding_lookup(parts, x, "div"), other, name="y")
    found = []
    with _folder() as d:
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run([v.assign(np.full(v.shape.as_list(), i + 1.0)) for i, v in enumerate(parts)])
            sess.run(other.assign([10.0, 20.0]))
            tf.saved_model.simple_save(sess, d + "/model", {"x": x}, {"y": y})
            tf.train.Saver().save(sess, d + "/m")
        for scope in ("", "within"):
            prefix = f"{scope}/" if scope else ""
            for form in ("saved model", "meta graph"):
                with tf.Graph().as_default(), tf.Session() as sess:
                    if form == "saved model":
                        tf.saved_model.load(sess, ["serve"], d + "/model", import_scope=scope or None)
                    else:
                        tf.train.import_meta_graph(d + "/m.meta", import_scope=scope or None).restore(sess, d + "/m")
                    runs = [sess.run(f"{prefix}y:0", {f"{prefix}x:0": [6, 0, 3]}) for _ in range(3)]
                    found.append([runs, [v.name for v in tf.global_variables()]])
    return found


@case("eager")
def checkpoints_of_a_manager(tf: Any) -> Any:
    v = tf.Variable(1.0)
    with _folder() as d:
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), d, 2)
        found = []
        for i in range(4):
            v.assign(float(i))
            manager.save()
            state = tf.train.get_checkpoint_state(d)
            found.append([os.path.basename(p) for p in state.all_model_checkpoint_paths])
            found.append(sorted(n.partition(".")[0] for n in os.listdir(d) if n.endswith(".index")))
        return found
