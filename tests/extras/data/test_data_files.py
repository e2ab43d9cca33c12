"""Data sets of files, within data sets, padded; and sessions that fetch and feed objects of the user's."""

from __future__ import annotations

import gzip
import os
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad import errors
from graphgrad.executor.runtime.fetches import conversions, register_session_run_conversion_functions
from graphgrad.executor.runtime.session import HostSession
from graphgrad.training.checkpoints.bundle_writer import write_bundle


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default(), HostSession() as session:
        yield session


def _all(sess: Any, dataset: Any, feed: Any = None) -> list[Any]:
    iterator = dataset.make_initializable_iterator()
    sess.run(iterator.initializer, feed)
    element, found = iterator.get_next(), []
    while True:
        try:
            found.append(sess.run(element))
        except errors.OutOfRangeError:
            return [f.tolist() if hasattr(f, "tolist") else f for f in found]


@pytest.fixture
def files(tmp_path: pathlib.Path) -> list[str]:
    """Two files of records, 'a0', 'a1', 'a2' and 'b0', 'b1', 'b2'."""
    paths = [str(tmp_path / f"{n}.records") for n in "ab"]
    for path, name in zip(paths, "ab", strict=True):
        with tf.python_io.TFRecordWriter(path) as writer:
            for i in range(3):
                writer.write(f"{name}{i}".encode())
    return paths


def test_records(sess: Any, files: list[str], tmp_path: pathlib.Path) -> None:
    """Records of one file, of several, of names that are fed or of a data set; compressed ones."""
    a, b = [b"a0", b"a1", b"a2"], [b"b0", b"b1", b"b2"]
    assert _all(sess, tf.data.TFRecordDataset(files[0])) == a
    names = tf.placeholder(tf.string, [None])
    assert _all(sess, tf.data.TFRecordDataset(names), {names: files}) == a + b
    listed = tf.data.Dataset.list_files(str(tmp_path / "*.records"), shuffle=False)
    assert _all(sess, tf.data.TFRecordDataset(listed).map(tf.strings.length)) == [2] * 6
    assert sorted(_all(sess, tf.data.Dataset.list_files(str(tmp_path / "*.records")))) == [f.encode() for f in files]
    packed = str(tmp_path / "packed")
    with tf.python_io.TFRecordWriter(packed, tf.python_io.TFRecordOptions(2)) as writer:
        writer.write(b"c")
    assert _all(sess, tf.data.TFRecordDataset(packed, "GZIP")) == [b"c"]
    with pytest.raises(errors.NotFoundError):
        _all(sess, tf.data.TFRecordDataset(str(tmp_path / "nothing")))
    with pytest.raises(errors.InvalidArgumentError, match="No files matched"):
        tf.data.Dataset.list_files(str(tmp_path / "nothing*"))


def test_interleaved(sess: Any, files: list[str]) -> None:
    """Several data sets take turns, as TensorFlow 2.21 lets them."""
    names = tf.data.Dataset.from_tensor_slices(files)
    assert _all(sess, names.interleave(tf.data.TFRecordDataset, 2)) == [b"a0", b"b0", b"a1", b"b1", b"a2", b"b2"]
    assert _all(sess, names.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=2)) == [
        b"a0", b"a1", b"b0", b"b1", b"a2", b"b2"]
    assert _all(sess, names.apply(tf.data.experimental.parallel_interleave(tf.data.TFRecordDataset, 1))) == [
        b"a0", b"a1", b"a2", b"b0", b"b1", b"b2"]
    for n, times, cycle, block, expected in (
            (5, 6, 2, 4, [1] * 4 + [2] * 4 + [1] * 2 + [2] * 2 + [3] * 4 + [4] * 4 + [3] * 2 + [4] * 2),
            (6, 2, 2, 1, [1, 2, 1, 2, 3, 4, 3, 4, 5, 5]), (3, 3, 5, 2, [1, 1, 2, 2, 1, 2]), (4, 0, 2, 1, [])):
        counted = tf.data.Dataset.range(1, n).interleave(
            lambda x, times=times: tf.data.Dataset.from_tensors(x).repeat(times), cycle, block)
        assert _all(sess, counted) == expected
    growing = tf.data.Dataset.range(1, 7).interleave(lambda x: tf.data.Dataset.range(x % 3), 2)
    assert _all(sess, growing) == [0, 0, 1, 0, 0, 1]
    flat = tf.data.Dataset.range(4).flat_map(lambda x: tf.data.Dataset.range(2).map(lambda y: x * 10 + y))
    assert _all(sess, flat) == [0, 1, 10, 11, 20, 21, 30, 31]
    with pytest.raises(TypeError, match="must return a `Dataset` object"):
        names.flat_map(lambda x: x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="cycle_length must be greater than zero"):
        names.interleave(tf.data.TFRecordDataset, 0)


def test_lines(sess: Any, tmp_path: pathlib.Path) -> None:
    """Lines lose their ends; the last one needs none; files may be compressed."""
    (tmp_path / "a").write_bytes(b"one\r\ntwo\n\nfour")
    (tmp_path / "b").write_bytes(gzip.compress(b"five\n"))
    assert _all(sess, tf.data.TextLineDataset(str(tmp_path / "a")).skip(1)) == [b"two", b"", b"four"]
    assert _all(sess, tf.data.TextLineDataset([str(tmp_path / "b")], "GZIP")) == [b"five"]


def test_fixed_length(sess: Any, tmp_path: pathlib.Path) -> None:
    """Pieces of a length between header and footer; a rest is an error."""
    (tmp_path / "a").write_bytes(b"HHabcdefF")
    path = str(tmp_path / "a")
    assert _all(sess, tf.data.FixedLengthRecordDataset(path, 3, 2, 1)) == [b"abc", b"def"]
    with pytest.raises(errors.InvalidArgumentError, match="body length 7 bytes"):
        _all(sess, tf.data.FixedLengthRecordDataset(path, 3, 2))


def test_padded_batches(sess: Any) -> None:
    """Smaller elements are padded: to the largest one, or to a shape; with zeros, or another value."""
    ragged = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
    assert _all(sess, ragged.padded_batch(2, [None])) == [[[1, 0], [2, 2]], [[3, 3, 3]]]
    assert _all(sess, ragged.padded_batch(2, [-1], np.int64(9), drop_remainder=True)) == [[[1, 9], [2, 2]]]
    fixed = ragged.padded_batch(3, [4])
    assert _all(sess, fixed) == [[[1, 0, 0, 0], [2, 2, 0, 0], [3, 3, 3, 0]]]
    assert fixed.output_shapes.as_list() == [None, 4]
    pairs = ragged.map(lambda r: {"n": tf.size(r), "r": r, "s": tf.as_string(r)})
    found = _all(sess, pairs.padded_batch(2, {"n": [], "r": [None], "s": [None]}))[0]
    assert found["n"].tolist() == [1, 2]
    assert found["s"].tolist() == [[b"1", b""], [b"2", b"2"]]
    with pytest.raises(errors.InvalidArgumentError, match="smaller size than the input element"):
        _all(sess, ragged.padded_batch(3, [2]))


def test_experimental(sess: Any) -> None:
    """Transformations that are others put together."""
    numbers = tf.data.Dataset.range(5)
    double = tf.data.experimental.map_and_batch(lambda x: x * 2, 2)
    assert _all(sess, numbers.apply(double)) == [[0, 2], [4, 6], [8]]
    assert _all(sess, numbers.apply(double).apply(tf.data.experimental.unbatch())) == [0, 2, 4, 6, 8]
    twice = _all(sess, numbers.apply(tf.data.experimental.shuffle_and_repeat(5, 2, seed=1)))
    assert sorted(twice[:5]) == sorted(twice[5:]) == [0, 1, 2, 3, 4]
    assert _all(sess, numbers.take(2).apply(tf.data.experimental.enumerate_dataset(3))) == [(3, 0), (4, 1)]
    assert sess.run(tf.data.experimental.get_single_element(numbers.skip(4))) == 4
    options = tf.data.Options()
    options.experimental_optimization.map_fusion = True
    assert _all(sess, numbers.with_options(options).prefetch(tf.data.experimental.AUTOTUNE)) == [0, 1, 2, 3, 4]


def test_conversion_functions(sess: Any, request: pytest.FixtureRequest) -> None:
    """A type of the user's is fetched and fed by functions."""
    class Pair:
        def __init__(self, a: Any, b: Any):
            self.a, self.b = a, b

    request.addfinalizer(conversions.clear)
    register = register_session_run_conversion_functions
    register(Pair, lambda p: ([p.a, p.b], lambda values: Pair(*values)), lambda p, v: [(p.a, v[0]), (p.b, v[1])])
    pair = Pair(tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, []))
    total = pair.a + pair.b
    value, found = sess.run([total, {"p": pair}], {pair: (1.0, 2.0)})
    assert value == 3.0 and (found["p"].a, found["p"].b) == (1.0, 2.0)
    with pytest.raises(ValueError, match="already been registered"):
        register(Pair, None)


def _numbers(folder: pathlib.Path) -> list[Any]:
    with tf.init_scope():
        return [e["x"].item() if isinstance(e, dict) else e.item()
                for e in tf.data.Dataset.load(str(folder)).as_numpy_iterator()]


def _save(folder: pathlib.Path, elements: list[Any]) -> None:
    with tf.init_scope():
        tf.data.Dataset.from_tensor_slices(elements).save(str(folder))


def test_saved_over_another_one_at_every_instant(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who ends before a file gets its name leaves the old data set or the new one, with its own structure."""
    seen, real = [], os.replace
    for at in range(9):
        _save(tmp_path, [1.0, 2.0])
        left = [at]

        def replace(*names: str, left: list[int] = left) -> None:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            real(*names)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", replace)
            try:
                with tf.init_scope():
                    tf.data.Dataset.from_tensor_slices({"x": [7, 8, 9]}).save(str(tmp_path))
            except KeyboardInterrupt:
                seen.append(_numbers(tmp_path))
                continue
        break
    assert seen[0] == [1.0, 2.0] and seen[-1] == [7, 8, 9]
    assert all(s in ([1.0, 2.0], [7, 8, 9]) for s in seen), seen
    assert sorted(p.name for p in tmp_path.iterdir()) == ["elements.data-00000-of-00001", "elements.index"]


def test_saved_anew_after_loading(tmp_path: pathlib.Path) -> None:
    """A data set that was loaded says so if there is another one by now; one of its kind it reads."""
    with tf.init_scope():
        _save(tmp_path, [1.0, 2.0])
        loaded = tf.data.Dataset.load(str(tmp_path))
        _save(tmp_path, [3.0, 4.0])
        assert [e.item() for e in loaded.as_numpy_iterator()] == [3.0, 4.0]
        loaded.map(tf.negative).save(str(tmp_path))  # onto itself
        assert [e.item() for e in loaded.as_numpy_iterator()] == [-3.0, -4.0]
        for other in ([1.0, 2.0, 3.0], [1, 2], [[1.0], [2.0]]):
            _save(tmp_path, other)
            with pytest.raises(errors.DataLossError, match="(?s)another data set has been saved here.*Fix:"):
                list(loaded.as_numpy_iterator())


def test_data_sets_that_are_not_whole(tmp_path: pathlib.Path) -> None:
    """Files of two data sets, or of an earlier version: read if they fit each other, refused if not."""
    elements = [(f"{i:010d}_00000", tf.float32, np.array(float(i), np.float32), None) for i in range(2)]
    write_bundle(str(tmp_path / "elements"), elements)
    with pytest.raises(errors.DataLossError, match="no description"):
        _numbers(tmp_path)
    described = tmp_path / "structure.json"  # as earlier versions wrote it
    described.write_text('{"count": 2, "structure": ["tensor", "float32", []]}')
    assert _numbers(tmp_path) == [0.0, 1.0]
    for wrong in ('{"count": 3, "structure": ["tensor", "float32", []]}',
                  '{"count": 1, "structure": ["tensor", "float32", []]}',
                  '{"count": 0, "structure": ["tensor", "float32", []]}',
                  '{"count": 2, "structure": ["tensor", "int32", []]}', '{"count": 2, "structure": ["tensor"]}',
                  '{"count": 2', "[]", '{"count": 2, "structure": 7}'):
        described.write_text(wrong)
        with pytest.raises(errors.DataLossError):
            _numbers(tmp_path)
    _save(tmp_path, [5.0])  # what is there of an earlier version counts no longer
    assert _numbers(tmp_path) == [5.0]
    index = tmp_path / "elements.index"
    index.write_bytes(index.read_bytes()[:-9])
    with pytest.raises(errors.DataLossError):
        _numbers(tmp_path)
    _save(tmp_path / "none", [])
    assert _numbers(tmp_path / "none") == []
