"""Checkpoints: TensorFlow's bytes, both ways; damage; which files are kept; the Saver."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import shutil
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir.dtypes import as_dtype, float32, int8
from graphgrad.ir.files import crc32c as checksums
from graphgrad.ir.files.atomic_files import Part
from graphgrad.ir.files.crc32c import crc32c, masked
from graphgrad.training.checkpoints import bundle_writer
from graphgrad.training.checkpoints import saver as saving
from graphgrad.training.checkpoints.bundle import BundleReader
from graphgrad.training.checkpoints.bundle_writer import write_bundle
from graphgrad.training.checkpoints.sstable import read_table, write_table

from . import checkpoint_cases

RECORDED = pathlib.Path(__file__).parents[1] / "recorded" / "checkpoints"
VERDICTS = json.loads((RECORDED / "verdicts.json").read_text())


@pytest.fixture
def sess(graph: Any) -> Iterator[Any]:
    """A session of the test's graph."""
    with HostSession() as session:
        yield session


# -- checksums -------------------------------------------------------------------------------


@pytest.mark.parametrize("data, expected", [
    (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43), (bytes(range(32)), 0x46DD794E),
    (bytes(range(31, -1, -1)), 0x113FDB5C), (b"123456789", 0xE3069283), (b"", 0),
])
def test_crc32c_vectors(data: bytes, expected: int) -> None:
    """The examples of RFC 3720, appendix B.4; with the library, and without."""
    assert crc32c(data) == checksums.by_numpy(0, data) == expected


def test_crc32c_of_long_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectorised way agrees with the way byte by byte, for all lengths, also in pieces."""
    monkeypatch.setattr(checksums, "_CHUNK", 64)
    data = np.random.default_rng(0).bytes(3000)
    register, table = 0xFFFFFFFF, checksums._byte_table()
    expected = [0]
    for byte in data:
        register = table[(register ^ byte) & 255] ^ register >> 8
        expected.append(register ^ 0xFFFFFFFF)
    for size in [*range(250, 900), 1023, 1024, 1025, 2999, 3000]:
        assert crc32c(data[:size]) == checksums.by_numpy(0, data[:size]) == expected[size], size
        for extend in (checksums.extender(), checksums.by_numpy):
            assert extend(expected[size // 3], data[size // 3 : size]) == expected[size], size


def test_crc32c_of_buffers() -> None:
    """Views, arrays that can be written to, and empty ones have checksums, too."""
    for data in (memoryview(b"123456789"), bytearray(b"123456789"), np.frombuffer(b"123456789", np.uint8)):
        assert crc32c(data) == 0xE3069283
    assert crc32c(memoryview(b""), 7) == crc32c(np.zeros(0, np.uint8), 7) == 7
    assert crc32c(np.arange(300).data) == checksums.by_numpy(0, np.arange(300).data)


@pytest.mark.parametrize("library", [None, types.SimpleNamespace(implementation="python")])
def test_crc32c_without_library(monkeypatch: pytest.MonkeyPatch, library: Any) -> None:
    """Where google-crc32c is missing or not compiled, NumPy computes."""
    def load(name: str) -> Any:
        if library is None:
            raise ImportError(name)
        return library

    monkeypatch.setattr(checksums, "load", load)
    assert checksums.extender.__wrapped__() is checksums.by_numpy


# -- the format ------------------------------------------------------------------------------


def test_table_round_trip() -> None:
    """What is written is read, through several blocks; keys that share beginnings, empty values."""
    entries = sorted((f"{i % 7}/{i}".encode(), bytes([i % 256]) * (i % 300)) for i in range(6000))
    table = write_table(entries)
    assert len(table) > 2 * 262144
    assert list(read_table(table, "t")) == entries
    assert list(read_table(write_table([]), "t")) == []


def test_reads_what_tensorflow_wrote(sess: Any) -> None:
    """TensorFlow's checkpoint restores every dtype, scalars, strings and a variable in parts."""
    checkpoint_cases.build(tf)
    variables = tf.global_variables()
    saver = tf.train.Saver()
    saver.restore(sess, str(RECORDED / "model-3"))
    restored = sess.run(variables)
    sess.run(tf.global_variables_initializer())
    for variable, value, expected in zip(variables, restored, sess.run(variables), strict=True):
        assert variable.dtype is tf.string or np.asarray(value).dtype == variable.dtype.np_dtype
        np.testing.assert_array_equal(value, expected, str(variable.name))


def test_writes_what_tensorflow_writes(sess: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes of all three files are TensorFlow's own; it read them and found the same values."""
    checkpoint_cases.build(tf)
    sess.run(tf.global_variables_initializer())
    monkeypatch.chdir(tmp_path)
    path = tf.train.Saver().save(sess, "./model", global_step=3)
    assert path == "./model-3"
    assert checkpoint_cases.digests(tmp_path / "model-3") == VERDICTS["model-3"]
    assert VERDICTS["model-3"] == VERDICTS["model-3, read from graphgrad"]
    assert (tmp_path / "checkpoint").read_text() == (RECORDED / "checkpoint").read_text()


def test_many_tensors(tmp_path: pathlib.Path) -> None:
    """An index of several blocks has TensorFlow's bytes."""
    arrays = checkpoint_cases.many()
    write_bundle(str(tmp_path / "m"), [(n, as_dtype(a.dtype), a, None) for n, a in arrays.items()])
    assert checkpoint_cases.digests(tmp_path / "m") == VERDICTS["many"] == VERDICTS["many, read from graphgrad"]
    reader = BundleReader(str(tmp_path / "m"))
    assert reader.names() == sorted(arrays)
    for name in ("large", reader.names()[0], reader.names()[-1]):
        np.testing.assert_array_equal(reader.read(name), arrays[name])


def test_parts(tmp_path: pathlib.Path) -> None:
    """Parts are read as a whole, and parts of a whole as parts, also if they were cut otherwise."""
    whole = np.arange(300 * 2, dtype=np.float32).reshape(300, 2)
    prefix = str(tmp_path / "m")

    def cuts(*bounds: int) -> list[Any]:
        return [((300, 2), (a, 0), (b - a, 2)) for a, b in zip((0, *bounds), (*bounds, 300))]

    write_bundle(prefix, [("v\0w", float32, whole[c[1][0] :][: c[2][0]], c) for c in cuts(70, 100)])
    reader = BundleReader(prefix)
    np.testing.assert_array_equal(reader.read("v\0w"), whole)
    for c in cuts(70, 100) + cuts(1, 299):
        np.testing.assert_array_equal(reader.read("v\0w", c), whole[c[1][0] :][: c[2][0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)\[200, 2\] does not match.*\[300, 2\].*Fix:"):
        reader.read("v\0w", ((200, 2), (0, 0), (70, 2)))
    write_bundle(prefix, [("v", float32, whole[:70], cuts(70)[0])])
    with pytest.raises(tf.errors.DataLossError, match="do not cover"):
        BundleReader(prefix).read("v")


# -- damage ----------------------------------------------------------------------------------


def _outcome(prefix: pathlib.Path) -> Any:
    try:
        reader = BundleReader(str(prefix))
        return {name: reader.read(name).tolist() for name in reader.names()}
    except tf.errors.DataLossError as e:
        assert "Fix:" in str(e)
        return "damaged"


@pytest.mark.parametrize("part", ["index", "data-00000-of-00001"])
def test_every_damage_is_seen(tmp_path: pathlib.Path, part: str) -> None:
    """Whatever byte changes, wherever the file ends: DataLossError, or the values are those that were saved."""
    prefix = tmp_path / "m"
    strings = np.array([b"abc", b""], object)
    piece = ((4, 1), (2, 0), (2, 1)), ((4, 1), (0, 0), (2, 1))
    tensors = [("a", float32, np.ones((2, 2), np.float32), None), ("s", as_dtype("string"), strings, None)]
    tensors += [("p", int8, np.ones((2, 1), np.int8), c) for c in piece]
    write_bundle(str(prefix), tensors)
    good = _outcome(prefix)
    path = tmp_path / f"m.{part}"
    data = path.read_bytes()
    unnoticed = 0
    for i in range(len(data)):
        path.write_bytes(data[:i])
        assert _outcome(prefix) == "damaged", i
        for flip in (1, 128):
            path.write_bytes(data[:i] + bytes([data[i] ^ flip]) + data[i + 1 :])
            outcome = _outcome(prefix)
            assert outcome in ("damaged", good), (i, flip)
            unnoticed += outcome == good
    assert unnoticed <= 2 * (40 + 13)  # the footer's padding, and an empty block that nobody reads


@pytest.mark.parametrize("change, pattern", [
    (lambda d: b"", "too short to be an sstable"), (lambda d: d[:-20], "bad magic number"),
    (lambda d: d[:4] + b"x" + d[5:], "block checksum mismatch"),
])
def test_damaged_index(tmp_path: pathlib.Path, change: Any, pattern: str) -> None:
    """The errors for a damaged index have TensorFlow's words."""
    for path in RECORDED.glob("model-3.*"):
        shutil.copy(path, tmp_path)
    index = tmp_path / "model-3.index"
    index.write_bytes(change(index.read_bytes()))
    with pytest.raises(tf.errors.DataLossError, match=f"(?s){pattern}.*Fix:"):
        tf.train.load_checkpoint(str(tmp_path / "model-3"))


def test_damaged_data(tmp_path: pathlib.Path, sess: Any) -> None:
    """A changed value is named with the checksums; a missing data file is not found; the session stays as it was."""
    v = tf.get_variable("of/float32", shape=[2, 3], initializer=tf.zeros_initializer())
    sess.run(v.initializer)
    saver = tf.train.Saver()
    shutil.copy(RECORDED / "model-3.index", tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="data-00000-of-00001; No such file"):
        saver.restore(sess, str(tmp_path / "model-3"))
    data = bytearray((RECORDED / "model-3.data-00000-of-00001").read_bytes())
    for i in range(len(data)):
        data[i] ^= 1
    (tmp_path / "model-3.data-00000-of-00001").write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=r"(?s)shard 0 \(24 bytes\): Checksum does not match: stored"):
        saver.restore(sess, str(tmp_path / "model-3"))
    assert not sess.run(v).any()


@pytest.mark.parametrize("broken", ["fsync", "replace", "write"])
def test_failed_save_leaves_the_last_one(sess: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                         broken: str) -> None:
    """A disk that is full, or an interrupt, leaves checkpoint and state file whole, and nothing beside them."""
    v = tf.get_variable("v", initializer=1.0)
    sess.run(v.initializer)
    saver = tf.train.Saver()
    path = saver.save(sess, str(tmp_path / "m"))
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    sess.run(v.assign(2.0))

    def fail(*args: Any) -> Any:
        raise KeyboardInterrupt if broken == "write" else OSError(28, "No space left on device")

    if broken == "write":
        monkeypatch.setattr(bundle_writer, "write_table", fail)
    else:
        monkeypatch.setattr(os, broken, fail)
    with pytest.raises((tf.errors.ResourceExhaustedError, KeyboardInterrupt)):
        saver.save(sess, path)
    monkeypatch.undo()
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    saver.restore(sess, path)
    assert sess.run(v) == 1.0


# -- writers that end ---------------------------------------------------------------------------

CALLS = ("open", "replace", "link", "unlink", "fsync", "fdopen", "scandir")


def _ending_at(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """A KeyboardInterrupt in place of the call of this number into the system, and no call afterwards."""
    made = itertools.count()

    def ending(function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if next(made) >= at:
                raise KeyboardInterrupt
            return function(*args, **kwargs)

        return call

    for name in CALLS:
        monkeypatch.setattr(os, name, ending(getattr(os, name)))


def test_overwritten_at_every_instant(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that ends anywhere leaves the old checkpoint or the new one; the next one leaves nothing else."""
    seen = []
    for at in range(100):
        folder = tmp_path / str(at)
        folder.mkdir()
        write_bundle(str(folder / "m"), [("v", float32, np.full(3, 1, np.float32), None)])
        ended = False
        with monkeypatch.context() as patch:
            _ending_at(patch, at)
            try:
                write_bundle(str(folder / "m"), [("v", float32, np.full(3, 2, np.float32), None)])
            except KeyboardInterrupt:
                ended = True
        seen.append(BundleReader(str(folder / "m")).read("v").tolist())
        write_bundle(str(folder / "m"), [("v", float32, np.full(3, 3, np.float32), None)])
        assert BundleReader(str(folder / "m")).read("v").tolist() == [3.0] * 3
        assert sorted(p.name for p in folder.iterdir()) == ["m.data-00000-of-00001", "m.index"], at
        if not ended:
            break
    assert at > 20 and seen == sorted(seen) and seen[0] == [1.0] * 3 and [2.0] * 3 in seen[:-1]


def test_tensorflow_reads_what_was_overwritten_halfway(tmp_path: pathlib.Path) -> None:
    """The index names the new data by a name of their own; TensorFlow read them."""
    checkpoint_cases.overwrite_halfway(tmp_path / "m")
    assert len(list(tmp_path.glob("m.data-00000-of-[5-9]????"))) == 1
    assert BundleReader(str(tmp_path / "m")).read("v").tolist() == VERDICTS["overwritten halfway"] == [2.0] * 3


def test_read_while_it_is_overwritten(sess: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A restore that meets data of the next checkpoint begins anew; damage is damage all the same."""
    v, w = (tf.get_variable(n, [3], initializer=tf.ones_initializer()) for n in "vw")
    sess.run(tf.global_variables_initializer())
    saver = tf.train.Saver()
    path = saver.save(sess, str(tmp_path / "m"))
    left = [2]
    read = BundleReader._value

    def overwritten(self: Any, entry: Any) -> Any:
        if left[0] and entry.offset:
            left[0] -= 1
            value = np.full(3, 9 - left[0], np.float32)
            write_bundle(path, [(n, float32, value, None) for n in "vw"])
        return read(self, entry)

    monkeypatch.setattr(BundleReader, "_value", overwritten)
    saver.restore(sess, path)
    assert [a.tolist() for a in sess.run([v, w])] == [[9.0] * 3] * 2 and left == [0]
    data = tmp_path / "m.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-1] + b"x")
    with pytest.raises(tf.errors.DataLossError):
        saver.restore(sess, path)


def test_no_hard_links(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system has none, the new data keep the name that was free; the next ones get the usual one."""
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    names = []
    for value in (1, 2, 3):
        write_bundle(str(tmp_path / "m"), [("v", float32, np.full(3, value, np.float32), None)])
        assert BundleReader(str(tmp_path / "m")).read("v").tolist() == [value] * 3
        names.append(sorted(p.suffix[:16] for p in tmp_path.iterdir()))
    assert names[0] == names[2] == [".data-00000-of-0", ".index"]
    assert len(names[1]) == 2 and names[1][0] > ".data-00000-of-4"
    tf.train.remove_checkpoint(str(tmp_path / "m"))
    assert not list(tmp_path.iterdir())


def test_parts_of_others_stay(tmp_path: pathlib.Path) -> None:
    """A part whose writer lives is nobody else's to take, nor is what only looks like one, or leads elsewhere."""
    (tmp_path / "outside").write_text("mine")
    folder = tmp_path / "here"
    folder.mkdir()
    others = [folder / name for name in (".graphgrad-1.part", f".graphgrad-{'g' * 32}.part", "m.index.tempstate123",
                                         "m.data-00000-of-00002", "m2.data-00000-of-60000")]
    for path in others:
        path.write_text("mine")
    (folder / f".graphgrad-{'0' * 32}.part").symlink_to(tmp_path / "outside")
    dead = folder / f".graphgrad-{'1' * 32}.part"
    dead.write_text("half")
    with Part(str(folder)) as living:
        living.file.write(b"half")
        write_bundle(str(folder / "m"), [("v", float32, np.ones(3, np.float32), None)])
        assert len(list(folder.iterdir())) == len(others) + 1 + 1 + 2
        assert not dead.exists()
    assert all(p.read_text() == "mine" for p in [*others, tmp_path / "outside"])


def test_interim_names_are_nobody_elses(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of fifty thousand numbers one may be that of others' files: it is drawn again."""
    other, draw, drawn = tmp_path / "m.data-00001-of-60000", os.urandom, [7, 10_000, 10_000]
    other.write_text("mine")
    monkeypatch.setattr(os, "urandom", lambda n: drawn.pop().to_bytes(2) if n == 2 else draw(n))
    for k in range(2):
        write_bundle(str(tmp_path / "m"), [("v", float32, np.full(3, k, np.float32), None)])
    assert not drawn and other.read_text() == "mine"
    assert BundleReader(str(tmp_path / "m")).read("v").tolist() == [1] * 3


def test_temporary_names_cannot_be_foreseen(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others put in the way is not written to; files have the modes that the process's mask leaves."""
    (tmp_path / "outside").write_text("mine")
    monkeypatch.setattr(os, "urandom", lambda n: b"\0" * n)
    (tmp_path / f".graphgrad-{'0' * 32}.part").symlink_to(tmp_path / "outside")
    with pytest.raises(tf.errors.AlreadyExistsError):
        write_bundle(str(tmp_path / "m"), [("v", float32, np.ones(3, np.float32), None)])
    monkeypatch.undo()
    mask = os.umask(0o027)
    try:
        write_bundle(str(tmp_path / "m"), [("v", float32, np.ones(3, np.float32), None)])
    finally:
        os.umask(mask)
    assert {p.stat().st_mode & 0o777 for p in tmp_path.glob("m.*")} == {0o640}
    assert (tmp_path / "outside").read_text() == "mine"


@pytest.mark.parametrize("which", ["m.index", "m.data-00000-of-00001", "checkpoint"])
def test_pipes_are_not_waited_for(sess: Any, tmp_path: pathlib.Path, which: str) -> None:
    """A file of another kind is as if there were none, and is replaced."""
    v = tf.get_variable("v", initializer=1.0)
    sess.run(v.initializer)
    saver = tf.train.Saver()
    path = saver.save(sess, str(tmp_path / "m"))
    (tmp_path / which).unlink()
    os.mkfifo(tmp_path / which)
    assert tf.train.latest_checkpoint(str(tmp_path)) == (None if which == "checkpoint" else path)
    if which != "checkpoint":
        with pytest.raises(tf.errors.NotFoundError):
            saver.restore(sess, path)
    saver.restore(sess, saver.save(sess, str(tmp_path / "m")))
    assert tf.train.latest_checkpoint(str(tmp_path)) == path


def test_a_saved_model_with_a_variable_in_parts(graph: Any, sess: Any, tmp_path: pathlib.Path) -> None:
    """Each reads the other's."""
    assert checkpoint_cases.looked_up(tf, sess, RECORDED / "parts") == VERDICTS["parts"]
    with tf.Graph().as_default() as other, HostSession(graph=other) as writer:
        x, y = checkpoint_cases.build_parts(tf)
        writer.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(writer, str(tmp_path / "ours"), {"x": x}, {"y": y})
    with tf.Graph().as_default() as third, HostSession(graph=third) as reader:
        assert checkpoint_cases.looked_up(tf, reader, tmp_path / "ours") == VERDICTS["parts"]


# -- the Saver -------------------------------------------------------------------------------


def test_errors_of_restore(sess: Any, tmp_path: pathlib.Path) -> None:
    """Missing tensors, other dtypes and shapes, paths that are none: TensorFlow's classes; nothing is set."""
    v = tf.get_variable("of/float32", shape=[2, 3], initializer=tf.zeros_initializer())
    w = tf.get_variable("new", initializer=1.0)
    sess.run(tf.global_variables_initializer())
    path = str(RECORDED / "model-3")
    with pytest.raises(tf.errors.NotFoundError, match=r"(?s)Restoring from checkpoint failed.*Key new not found.*Fix:"):
        tf.train.Saver().restore(sess, path)
    other_dtype = r"(?s)expected dtype float32 does not equal original dtype int8.*Restored at.*Fix:"
    with pytest.raises(tf.errors.InvalidArgumentError, match=other_dtype):
        tf.train.Saver({"of/float32": v, "of/int8": w}).restore(sess, path)
    wrong = tf.get_variable("wrong", shape=[3, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)lhs shape= \(3, 2\) rhs shape= \(2, 3\).*Fix:"):
        tf.train.Saver({"of/float32": wrong}).restore(sess, path)
    tf.train.Saver({"of/float32": wrong}, reshape=True).restore(sess, path)
    assert sess.run(wrong).ravel().tolist() == [0, 1, 2, 3, 4, 100]
    saver = tf.train.Saver([v])
    with pytest.raises(ValueError, match="(?s)not a valid checkpoint: .*nothing.*Fix:"):
        saver.restore(sess, str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="(?s)when it is None.*Fix:"):
        saver.restore(sess, None)
    with pytest.raises(TypeError, match="'sess' must be a Session; None"):
        saver.restore(None, path)
    with tf.Graph().as_default(), tf.Session() as other, pytest.raises(ValueError, match="(?s)not an element.*Fix:"):
        saver.restore(other, path)
    assert not sess.run(v).any() and sess.run(w) == 1
    sess.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        saver.restore(sess, path)


def test_errors_of_save(sess: Any, tmp_path: pathlib.Path) -> None:
    """Names that collide, and a variable without a value."""
    v = tf.get_variable("v", initializer=1.0)
    saver = tf.train.Saver()
    with pytest.raises(tf.errors.FailedPreconditionError, match="(?s)uninitialized value v.*Saved at.*Fix:"):
        saver.save(sess, str(tmp_path / "m"))
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="must not contain path components"):
        saver.save(sess, str(tmp_path / "m"), latest_filename="a/b")
    with pytest.raises(ValueError, match="(?s)collides with 'save_path'.*Fix:"):
        saver.save(sess, str(tmp_path / "checkpoint"))
    with pytest.raises(TypeError, match="'sess' must be a Session; None"):
        saver.save(None, str(tmp_path / "m"))
    assert v is not None


def test_errors_of_the_constructor(graph: Any) -> None:
    """What is no variable, and two of one name."""
    with pytest.raises(ValueError, match="(?s)No variables to save.*Fix:"):
        tf.train.Saver()
    with pytest.raises(ValueError, match="defer"):
        tf.train.Saver([1], defer_build=True)
    tf.train.Saver(allow_empty=True)
    late = tf.train.Saver(defer_build=True)
    v = tf.get_variable("v", initializer=1.0)
    with pytest.raises(TypeError, match="(?s)Not a variable: Tensor.*Fix:"):
        tf.train.Saver({"v": tf.constant(1.0)})
    with pytest.raises(ValueError, match="(?s)same name: v.*Fix:"):
        tf.train.Saver([v, v])
    late.build()
    assert [i.name for i in late._items or []] == ["v"]


def test_max_to_keep(sess: Any, tmp_path: pathlib.Path) -> None:
    """The oldest ones go, with their files; a later Saver can take over."""
    step = tf.train.create_global_step()
    sess.run(step.initializer)
    saver = tf.train.Saver(max_to_keep=2, pad_step_number=True)
    for _ in range(4):
        sess.run(step.assign_add(1))
        saver.save(sess, str(tmp_path / "m"), global_step=step)
    paths = [str(tmp_path / f"m-{i:08d}") for i in (3, 4)]
    assert saver.last_checkpoints == paths
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "checkpoint", *(f"m-{i:08d}.{e}" for i in (3, 4) for e in ("data-00000-of-00001", "index", "meta"))]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert list(state.all_model_checkpoint_paths) == paths and state.model_checkpoint_path == paths[1]
    assert tf.train.latest_checkpoint(str(tmp_path)) == paths[1]
    later = tf.train.Saver(max_to_keep=2)
    later.recover_last_checkpoints([str(tmp_path / "gone"), *paths])
    assert later.last_checkpoints == paths
    later.save(sess, str(tmp_path / "m"), global_step=5)
    assert not tf.train.checkpoint_exists(paths[0]) and tf.train.checkpoint_exists(paths[1])
    everything = tf.train.Saver(max_to_keep=None)
    for i in range(7):
        everything.save(sess, str(tmp_path / "all"), global_step=i)
    assert everything.last_checkpoints == [] and len(list(tmp_path.glob("all-*.index"))) == 7


def test_keep_every_n_hours(sess: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each hour one checkpoint stays that would have gone."""
    v = tf.get_variable("v", initializer=1.0)
    sess.run(v.initializer)
    now = [1000.0]
    monkeypatch.setattr(saving.time, "time", lambda: now[0])
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1)
    for i in range(10):
        now[0] += 1201  # three in an hour
        saver.save(sess, str(tmp_path / "m"), global_step=i)
    kept = sorted(p.stem for p in tmp_path.glob("*.index"))
    assert kept == ["m-2", "m-5", "m-8", "m-9"]


def test_state_file(sess: Any, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    """Relative paths, names with quotes, other file names, files that are none."""
    v = tf.get_variable("v", initializer=1.0)
    sess.run(v.initializer)
    name = 'a "b" \\ ü'
    saver = tf.train.Saver(save_relative_paths=True)
    saver.save(sess, str(tmp_path / name), latest_filename="latest")
    assert (tmp_path / "latest").read_text().startswith('model_checkpoint_path: "a \\"b\\" \\\\ \\303\\274"\n')
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    assert tf.train.latest_checkpoint(str(tmp_path), "latest") == str(tmp_path / name)
    (tmp_path / "checkpoint").write_text("nonsense")
    assert tf.train.get_checkpoint_state(str(tmp_path)) is None
    assert "Checkpoint ignored" in caplog.text
    tf.train.update_checkpoint_state(str(tmp_path), "m-2", ["m-1"], None, [1.5, 2.5], 1.0)
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert list(state.all_model_checkpoint_timestamps) == [1.5, 2.5] and state.last_preserved_timestamp == 1.0
    assert [os.path.basename(p) for p in state.all_model_checkpoint_paths] == ["m-1", "m-2"]
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    assert "Couldn't match files" in caplog.text
    with pytest.raises(RuntimeError, match="(?s)conflicts.*Fix:"):
        tf.train.update_checkpoint_state(str(tmp_path), str(tmp_path / "checkpoint"))
    with pytest.raises(ValueError, match="must match checkpoint paths"):
        tf.train.generate_checkpoint_state_proto("a", "m", None, [1.0, 2.0])


def test_reader() -> None:
    """Names, shapes and dtypes; a name that is missing; a directory."""
    reader = tf.train.NewCheckpointReader(str(RECORDED / "model-3"))
    shapes = reader.get_variable_to_shape_map()
    assert shapes["in/parts"] == [20000, 1] and shapes["scalar"] == [] and shapes["empty"] == [0, 3]
    assert reader.get_variable_to_dtype_map()["of/bfloat16"] is tf.bfloat16
    assert reader.has_tensor("strings") and not reader.has_tensor("nothing")
    assert reader.get_tensor("scalar") == -7 and b"of/float16 (DT_HALF) [2,3]\n" in reader.debug_string()
    with pytest.raises(tf.errors.NotFoundError, match="(?s)Key nothing not found in checkpoint.*in/parts.*Fix:"):
        reader.get_tensor("nothing")
    assert tf.train.load_variable(str(RECORDED), "scalar:0") == -7
    assert ("of/bool", [2, 3]) in tf.train.list_variables(str(RECORDED))
    with pytest.raises(tf.errors.NotFoundError, match="(?s)Failed to find any matching files for .*Fix:"):
        tf.train.load_checkpoint(str(RECORDED / "nothing"))
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        tf.train.load_checkpoint(str(RECORDED.parent))


@pytest.mark.usefixtures("first_in_xla")
def test_training_goes_on(graph: Any, tmp_path: pathlib.Path) -> None:
    """A session that restores goes on as the one that saved, slots of the optimizer included."""
    w = tf.get_variable("w", initializer=np.array([3.0, -2.0], np.float32))
    train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.square(w)))
    saver = tf.train.Saver()
    with tf.Session() as first:
        first.run(tf.global_variables_initializer())
        for _ in range(3):
            first.run(train)
        path = saver.save(first, str(tmp_path / "m"))
        for _ in range(3):
            first.run(train)
        expected = first.run(tf.global_variables())
    with tf.Session() as second:
        saver.restore(second, path)
        for _ in range(3):
            second.run(train)
        for a, b in zip(second.run(tf.global_variables()), expected, strict=True):
            np.testing.assert_array_equal(a, b)
    assert {n for n, _ in tf.train.list_variables(path)} == {"w", "w/Adam", "w/Adam_1", "beta1_power", "beta2_power"}


def test_eager(tmp_path: pathlib.Path) -> None:
    """In eager mode there is no session."""
    import graphgrad.compat.v2 as tf2

    with tf2.init_scope():
        v = tf2.Variable([1.0, 2.0], name="v")
        saver = tf.train.Saver([v])
        path = saver.save(None, str(tmp_path / "m"))
        v.assign([0.0, 0.0])
        saver.restore(None, path)
        assert v.numpy().tolist() == [1.0, 2.0]
        with pytest.raises(RuntimeError, match="must specify a list or dict"):
            tf.train.Saver()


def test_masked() -> None:
    """Masking changes a checksum, and is TensorFlow's: the recorded files' checksums are masked ones."""
    assert masked(crc32c(bytes(4))) != crc32c(bytes(4))
    assert masked(0) == 0xA282EAD8


def test_init_from_checkpoint(sess: Any) -> None:
    """Initializers take values by names, scopes, variables and parts; what does not fit is refused."""
    path = str(RECORDED / "model-3")
    with tf.variable_scope("new"):
        a, b = tf.get_variable("float32", [2, 3]), tf.get_variable("int8", [2, 3], tf.int8)
    parts = tf.get_variable("q/parts", [20000, 1], tf.int8, partitioner=tf.fixed_size_partitioner(2))
    scalar, flags = tf.get_variable("scalar", [], tf.int64), tf.get_variable("flags", [2, 3], tf.bool)
    tf.train.init_from_checkpoint(path, {"of/": "new/", "in/parts": "q/parts", "of/bool": flags})
    tf.train.init_from_checkpoint(str(RECORDED), [("scalar", "scalar")])
    sess.run(tf.global_variables_initializer())
    assert sess.run(a).tolist() == sess.run(b).tolist() == [[0, 1, 2], [3, 4, 100]]
    assert sess.run(scalar) == -7 and sess.run(flags).tolist() == [[False, True, True], [True] * 3]
    assert all((sess.run(p) == 5).all() for p in parts)
    for mapping, pattern in [
        ({"of/float32": "nope"}, "Assignment map with scope only name nope"), ({"of": "new"}, "Should be 'scope/'"),
        ({"nope": a}, "Tensor nope is not found in"), ({"in/": "new/"}, "Tensor in/float32 is not found"),
        ({"scalar": a}, r"Shape of variable new/float32:0 .* doesn't match with shape of tensor scalar"),
        ({"of/int16": b}, "dtypes int8 and int16"), ({"/": "/"}, "Tensor new/float32 is not found"),
    ]:
        with pytest.raises(ValueError, match=f"(?s){pattern}.*Fix:"):
            tf.train.init_from_checkpoint(path, mapping)
    with pytest.raises(TypeError, match="(?s)is no variable.*Fix:"):
        tf.train.init_from_checkpoint(path, {"scalar": 3})


def test_warm_starts(tmp_path: pathlib.Path) -> None:
    """Variables that are chosen by name begin with the values of a checkpoint, under their names there."""
    with tf.Graph().as_default(), tf.Session() as sess:
        for name in ("a/w", "a/b", "old"):
            tf.get_variable(name, initializer=2.0)
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "c"))
    expected = {"a/w": [2.0, 0.0, 0.0], "a": [2.0, 2.0, 0.0], ".*": [2.0, 2.0, 2.0], None: [0.0] * 3,
                ("a/b",): [0.0, 2.0, 0.0]}
    for chosen, wanted in expected.items():
        with tf.Graph().as_default(), tf.Session() as sess:
            variables = [tf.get_variable(name, initializer=0.0) for name in ("a/w", "a/b", "new")]
            names = {"new": "old"} if chosen == ".*" else None
            tf.train.warm_start(path, list(chosen) if isinstance(chosen, tuple) else chosen, None, names)
            sess.run(tf.global_variables_initializer())
            assert sess.run(variables) == wanted, chosen
    with tf.Graph().as_default():
        tf.get_variable("a/w", initializer=0.0)
        with pytest.raises(ValueError, match="not used: \\['b'\\]"):
            tf.train.warm_start(path, "a/w", None, {"b": "c"})
        with pytest.raises(tf.errors.UnimplementedError, match="rows that move with their words"):
            tf.train.warm_start(path, "a/w", {"a/w": tf.train.VocabInfo("n", 1, 0, "o")})
