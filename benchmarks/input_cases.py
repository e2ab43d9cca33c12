"""Programs that hand over data: data sets, record files, feeds; for graphgrad and TensorFlow alike.

A case is a function of (tf, n, folder), decorated with its words, its size and what it prepares; it returns a function
that does the work and returns a number, which both systems must agree on. `tf` is the API of TensorFlow 2, eager.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, tuple[str, int, Callable[[Any, int, str], Callable[[], float]]]] = {}


def _case(words: str, size: int):
    """Registers a case.

    Args:
      words: what it does.
      size: how many elements, records or numbers.
    """
    def register(make):
        CASES[make.__name__] = words, size, make
        return make

    return register


def _arrays(n):
    rng = np.random.default_rng(1)
    return rng.standard_normal((n, 10)).astype(np.float32), rng.integers(0, 10, n).astype(np.int32)


def _numbers(dataset):
    """A function that takes all elements and adds up the first number of each."""
    def work():
        total = 0.0
        for element in dataset:
            first = element[0] if isinstance(element, tuple) else element
            total += float(np.asarray(first).reshape(-1)[0])
        return total

    return work


def _lengths(dataset):
    """A function that takes all elements and adds up the lengths of strings, or of batches of them."""
    def work():
        total = 0
        for element in dataset:
            value = element.numpy()
            total += len(value)
        return total

    return work


# -- arrays ------------------------------------------------------------------------------


@_case("`from_tensor_slices((x, y)).shuffle(10_000).batch(128)`", 1_000_000)
def shuffle_batch(tf, n, folder):
    return _numbers(tf.data.Dataset.from_tensor_slices(_arrays(n)).shuffle(10_000, seed=1).batch(128))


@_case("the same in a graph: `sess.run(iterator.get_next())`", 1_000_000)
def shuffle_batch_graph(tf, n, folder):
    v1 = tf.compat.v1

    def work():
        total = 0.0
        with tf.Graph().as_default(), v1.Session() as sess:
            v1.set_random_seed(1)
            dataset = tf.data.Dataset.from_tensor_slices(_arrays(n)).shuffle(10_000, seed=1).batch(128)
            element = v1.data.make_initializable_iterator(dataset)
            following = element.get_next()
            sess.run(element.initializer)
            while True:
                try:
                    total += float(sess.run(following)[0][0, 0])
                except tf.errors.OutOfRangeError:
                    return total

    return work


@_case("`from_tensor_slices((x, y)).shuffle(n).repeat(2).batch(128).prefetch(1)`", 500_000)
def shuffle_all(tf, n, folder):
    dataset = tf.data.Dataset.from_tensor_slices(_arrays(n))
    return _numbers(dataset.shuffle(n, seed=1).repeat(2).batch(128).prefetch(1))


@_case("`from_tensor_slices(x)`, element by element", 100_000)
def single(tf, n, folder):
    return _numbers(tf.data.Dataset.from_tensor_slices(_arrays(n)[0]))


@_case("`range(n).batch(128)`", 1_000_000)
def range_batch(tf, n, folder):
    return _numbers(tf.data.Dataset.range(n).batch(128))


@_case("`from_tensor_slices((x, y)).map(f).batch(128)`, f of two operations", 200_000)
def map_batch(tf, n, folder):
    dataset = tf.data.Dataset.from_tensor_slices(_arrays(n))
    return _numbers(dataset.map(lambda x, y: (x * 2.0 + 1.0, y)).batch(128))


@_case("`from_tensor_slices((x, y)).batch(128).map(f)`", 1_000_000)
def batch_map(tf, n, folder):
    dataset = tf.data.Dataset.from_tensor_slices(_arrays(n))
    return _numbers(dataset.batch(128).map(lambda x, y: (x * 2.0 + 1.0, y)))


@_case("`range(n).filter(f).batch(128)`, f of two operations", 200_000)
def filter_batch(tf, n, folder):
    return _numbers(tf.data.Dataset.range(n).filter(lambda i: tf.equal(i % 3, 0)).batch(128))


@_case("`zip(range(n), from_tensor_slices(x)).repeat(2).take(n).batch(128)`", 500_000)
def zip_batch(tf, n, folder):
    x, _ = _arrays(n // 2)
    both = tf.data.Dataset.zip((tf.data.Dataset.range(n // 2), tf.data.Dataset.from_tensor_slices(x)))
    return _numbers(both.repeat(2).take(n).batch(128))


@_case("`range(n / 1000).interleave(lambda i: range(1000), cycle_length=4).batch(128)`", 500_000)
def interleave_batch(tf, n, folder):
    inner = lambda i: tf.data.Dataset.range(1000)  # noqa: E731  # as programs write it
    return _numbers(tf.data.Dataset.range(n // 1000).interleave(inner, cycle_length=4).batch(128))


@_case("`from_generator(g, ...).batch(128)`, pairs", 50_000)
def generator(tf, n, folder):
    x, y = _arrays(n)

    def pairs():
        for i in range(n):
            yield x[i], y[i]

    signature = tf.TensorSpec([10], tf.float32), tf.TensorSpec([], tf.int32)
    return _numbers(tf.data.Dataset.from_generator(pairs, output_signature=signature).batch(128))


@_case("`from_tensor_slices(lengths).map(tf.range).padded_batch(32)`", 50_000)
def padded(tf, n, folder):
    lengths = np.random.default_rng(1).integers(1, 20, n).astype(np.int32)
    return _numbers(tf.data.Dataset.from_tensor_slices(lengths).map(tf.range).padded_batch(32))


@_case("`from_tensor_slices(x).cache().repeat(3).batch(128)`", 300_000)
def cached(tf, n, folder):
    return _numbers(tf.data.Dataset.from_tensor_slices(_arrays(n // 3)[0]).cache().repeat(3).batch(128))


# -- files -------------------------------------------------------------------------------


def _records(n):
    data = np.random.default_rng(1).bytes(200 * n)
    return [data[200 * i : 200 * (i + 1)] for i in range(n)]


def _write(tf, path, records, kind=None):
    with tf.io.TFRecordWriter(path, kind) as writer:
        for record in records:
            writer.write(record)


@_case("`TFRecordWriter.write`, records of 200 bytes", 50_000)
def write(tf, n, folder):
    records, path = _records(n), os.path.join(folder, "written")

    def work():
        _write(tf, path, records)
        return os.path.getsize(path)

    return work


@_case("the same, GZIP", 50_000)
def write_gzip(tf, n, folder):
    records, path = _records(n), os.path.join(folder, "written.gz")

    def work():
        _write(tf, path, records, "GZIP")
        return n

    return work


@_case("`tf_record_iterator`, records of 200 bytes", 50_000)
def read(tf, n, folder):
    path = os.path.join(folder, "records")
    _write(tf, path, _records(n))
    return lambda: sum(map(len, tf.compat.v1.io.tf_record_iterator(path)))


@_case("`TFRecordDataset(path)`, element by element", 50_000)
def read_dataset(tf, n, folder):
    path = os.path.join(folder, "records")
    _write(tf, path, _records(n))
    return _lengths(tf.data.TFRecordDataset(path))


@_case("`TFRecordDataset(path).shuffle(1000).batch(128)`", 100_000)
def read_batches(tf, n, folder):
    path = os.path.join(folder, "records")
    _write(tf, path, _records(n))
    return _lengths(tf.data.TFRecordDataset(path).shuffle(1000, seed=1).batch(128))


@_case("the same, GZIP", 100_000)
def read_gzip(tf, n, folder):
    path = os.path.join(folder, "records.gz")
    _write(tf, path, _records(n), "GZIP")
    return _lengths(tf.data.TFRecordDataset(path, "GZIP").shuffle(1000, seed=1).batch(128))


@_case("`TFRecordDataset(path)`, 100 records of 1 MB", 100)
def read_large(tf, n, folder):
    path = os.path.join(folder, "large")
    data = np.random.default_rng(1).bytes(1_000_000)
    _write(tf, path, [data] * n)
    return _lengths(tf.data.TFRecordDataset(path))


def _examples(tf, n):
    x, y = _arrays(n)
    train = tf.train
    for i in range(n):
        yield train.Example(features=train.Features(feature={
            "x": train.Feature(float_list=train.FloatList(value=x[i])),
            "y": train.Feature(int64_list=train.Int64List(value=[y[i]])),
            "name": train.Feature(bytes_list=train.BytesList(value=[b"%d" % i])),
        })).SerializeToString()


def _features(tf):
    return {"x": tf.io.FixedLenFeature([10], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64),
            "name": tf.io.FixedLenFeature([], tf.string)}


def _example_file(tf, n, folder):
    path = os.path.join(folder, "examples")
    _write(tf, path, list(_examples(tf, n)))
    return path


@_case("`tf.train.Example` of three features, `SerializeToString`", 20_000)
def make_examples(tf, n, folder):
    return lambda: sum(map(len, _examples(tf, n)))


@_case("`tf.train.Example.FromString`, one feature read", 20_000)
def read_examples(tf, n, folder):
    examples = list(_examples(tf, n))
    return lambda: sum(tf.train.Example.FromString(e).features.feature["y"].int64_list.value[0] for e in examples)


@_case("`TFRecordDataset(path).map(parse_single_example).batch(128)`", 50_000)
def parse_each(tf, n, folder):
    dataset = tf.data.TFRecordDataset(_example_file(tf, n, folder))
    parsed = dataset.map(lambda s: tf.io.parse_single_example(s, _features(tf))).batch(128)
    return _numbers(parsed.map(lambda found: (found["x"], found["y"])))


@_case("`TFRecordDataset(path).batch(128).map(parse_example)`", 100_000)
def parse_batches(tf, n, folder):
    dataset = tf.data.TFRecordDataset(_example_file(tf, n, folder)).batch(128)
    return _numbers(dataset.map(lambda s: tf.io.parse_example(s, _features(tf))).map(lambda f: (f["x"], f["y"])))


@_case("`TFRecordDataset(path).batch(128).map(parse_example)`, `VarLenFeature`s", 50_000)
def parse_sparse(tf, n, folder):
    features = {"x": tf.io.VarLenFeature(tf.float32), "y": tf.io.VarLenFeature(tf.int64)}
    dataset = tf.data.TFRecordDataset(_example_file(tf, n, folder)).batch(128)
    return _numbers(dataset.map(lambda s: tf.io.parse_example(s, features)).map(
        lambda f: (f["x"].values, f["y"].values)))


@_case("`TextLineDataset(path).batch(128)`, lines of 40 characters", 500_000)
def lines(tf, n, folder):
    path = os.path.join(folder, "lines")
    with open(path, "w") as file:
        file.writelines(f"{i:40d}\n" for i in range(n))
    return _lengths(tf.data.TextLineDataset(path).batch(128))


@_case("`TextLineDataset(path).map(decode_csv).batch(128)`, four columns", 50_000)
def csv(tf, n, folder):
    path = os.path.join(folder, "csv")
    with open(path, "w") as file:
        file.writelines(f"{i},{i / 3:.4f},{i / 7:.4f},name{i}\n" for i in range(n))
    kinds = [[0], [0.0], [0.0], [""]]
    return _numbers(tf.data.TextLineDataset(path).map(lambda s: tuple(tf.io.decode_csv(s, kinds))).batch(128))


# -- feeds ---------------------------------------------------------------------------------


def _fed(tf, build, values, times):
    """A function that runs a graph of one placeholder on values, several times."""
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None])
        y = build(x)
    session = v1.Session(graph=graph)
    session.run(y, {x: values[:3]})

    def work():
        return float(sum(session.run(y, {x: values}) for _ in range(times)))

    return work


@_case("`feed_dict` of an array of 100 MB, one element read; ten runs", 25_000_000)
def feed_read(tf, n, folder):
    return _fed(tf, lambda x: x[1], np.arange(n, dtype=np.float32), 10)


@_case("`feed_dict` of an array of 100 MB, largest element; ten runs", 25_000_000)
def feed_max(tf, n, folder):
    return _fed(tf, tf.reduce_max, np.arange(n, dtype=np.float32), 10)


@_case("`feed_dict` of an array of 200 MB of float64 for a float32 placeholder, one element read", 25_000_000)
def feed_cast(tf, n, folder):
    return _fed(tf, lambda x: x[1], np.arange(n, dtype=np.float64), 3)


@_case("`feed_dict` of a list of floats, one element read", 1_000_000)
def feed_list(tf, n, folder):
    return _fed(tf, lambda x: x[1], list(map(float, range(n))), 3)


@_case("`feed_dict` of a list of rows, one element read", 100_000)
def feed_rows(tf, n, folder):
    v1, rows = tf.compat.v1, _arrays(n)[0].tolist()
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 10])
        y = x[1, 1]
    session = v1.Session(graph=graph)
    session.run(y, {x: rows[:3]})
    return lambda: float(session.run(y, {x: rows}))
