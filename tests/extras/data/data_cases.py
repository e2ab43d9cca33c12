"""Data sets whose elements `tests/record/data.py` records from TensorFlow 2.21 and `test_data_recorded.py` compares.

A case is a function of the face and of a folder; what it gives can be written as JSON: numbers, texts, lists.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any, str], Any]] = {}


def _case(function: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    def alone(tf: Any, folder: str) -> Any:
        tf.random.set_seed(3)  # another case's would show
        return function(tf, folder)

    CASES[function.__name__] = alone
    return function


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if hasattr(value, "dense_shape"):
        return [plain(value.indices), plain(value.values), plain(value.dense_shape)]
    if hasattr(value, "to_list"):
        return plain(value.to_list())
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return value.decode() if isinstance(value, bytes) else value


def elements(dataset: Any) -> Any:
    """All elements, and what they are."""
    spec = repr(dataset.element_spec).replace("OrderedDict", "dict")
    return [plain(list(dataset)), spec, int(dataset.cardinality())]


def error(function: Callable[[], Any]) -> str:
    """The class of the error that a call raises."""
    try:
        function()
    except Exception as e:
        return type(e).__name__
    return "none"


def _rows(tf: Any, rows: Any) -> Any:
    return tf.data.Dataset.from_generator(lambda: iter(rows), output_signature=tf.TensorSpec([None], tf.int32))


@_case
def shuffles(tf: Any, folder: str) -> Any:
    """Orders, with seeds of the data set and of the program, from pass to pass."""
    d = tf.data.Dataset
    found = [elements(d.range(20).shuffle(7, seed=5).repeat(2)),
             elements(d.range(300).shuffle(100, seed=2**40 + 3).take(50)),
             elements(d.range(9).shuffle(20, seed=5, reshuffle_each_iteration=False).repeat(2))]
    twice = d.range(10).shuffle(10, seed=1)
    found += [elements(twice), elements(twice)]
    tf.random.set_seed(7)
    return [*found, elements(d.range(10).shuffle(4, seed=3)), elements(d.range(10).shuffle(10, seed=0))]


@_case
def random_numbers(tf: Any, folder: str) -> Any:
    """Numbers, from pass to pass."""
    d = tf.data.Dataset
    again = d.random(seed=4, rerandomize_each_iteration=True).take(3)
    return [elements(d.random(seed=4).take(300)), elements(again), elements(again)]


@_case
def windows(tf: Any, folder: str) -> Any:
    """Windows that overlap, leave out, end early; of structures."""
    d = tf.data.Dataset
    found = []
    for size, shift, stride, drop in ((3, None, 1, False), (3, 1, 2, False), (3, 1, 2, True), (2, 3, 1, False),
                                      (2, 5, 1, True), (8, 2, 1, False), (8, 2, 1, True), (1, 1, 1, True)):
        made = d.range(7).window(size, shift, stride, drop)
        found.append([[plain(list(w)) for w in made], int(made.cardinality()), elements(made.flat_map(lambda w: w))])
    pairs = d.from_tensor_slices({"a": [1, 2, 3], "b": ["x", "y", "z"]}).window(2)
    found.append([[plain(list(w["a"])), plain(list(w["b"]))] for w in pairs])
    found.append(elements(d.zip((d.range(4), d.range(4, 8))).window(2).flat_map(
        lambda a, b: d.zip((a.batch(2), b.batch(2))))))
    found.append(repr(d.range(3).window(2).element_spec))
    found.append(elements(d.range(6).window(3).map(lambda w: w.reduce(tf.constant(0, tf.int64), lambda s, x: s + x))))
    found.append(elements(d.range(6).window(2).map(lambda w: w.map(lambda x: x * 2)).flat_map(lambda w: w.batch(2))))
    return [*found, elements(d.range(4).window(2, 1, drop_remainder=True).flat_map(lambda w: w.batch(2)))]


@_case
def shuffled_rows(tf: Any, folder: str) -> Any:
    """Rows of arrays, which stay numbers until they are needed: shuffled, repeated, in batches."""
    d, rows = tf.data.Dataset, np.arange(60, dtype=np.float32).reshape(30, 2)
    pairs = d.from_tensor_slices({"a": rows, "b": np.arange(30)})
    sets = [pairs.shuffle(7, seed=5).batch(4), pairs.shuffle(100, seed=1).batch(7, drop_remainder=True),
            pairs.shuffle(30, seed=2).repeat(2).batch(8), pairs.repeat(2).shuffle(11, seed=4).batch(25),
            pairs.shuffle(5, seed=1).shuffle(9, seed=2).batch(6), pairs.batch(9), pairs.batch(7, drop_remainder=True),
            pairs.shuffle(1, seed=3).batch(30), pairs.shuffle(2**20, seed=3).take(3), pairs.repeat(0).batch(2),
            pairs.shuffle(6, seed=9, reshuffle_each_iteration=False).repeat(2).batch(10),
            pairs.shuffle(8, seed=3).batch(3).batch(2), pairs.shuffle(4, seed=3).map(lambda e: e["b"]).batch(5),
            d.from_tensor_slices(rows[:0]).shuffle(3).batch(2), pairs.shuffle(3, seed=6).skip(4).batch(6),
            d.from_tensor_slices(["x", "y", "z"]).shuffle(2, seed=1).batch(2)]
    found = [[elements(s), elements(s)] for s in sets]
    again = pairs.shuffle(10, seed=8).repeat().shuffle(4, seed=2).batch(3).take(2)
    return [*found, *[elements(again) for _ in range(3)]]


@_case
def many_shuffled_rows(tf: Any, folder: str) -> Any:
    """More than are drawn at once."""
    numbers = tf.data.Dataset.from_tensor_slices(np.arange(5000))
    taken = numbers.shuffle(900, seed=11).batch(100)
    return [[int(b[0]), int(b[57])] for b in taken] + [int(tf.reduce_sum(b)) for b in taken.repeat(2)]


@_case
def states(tf: Any, folder: str) -> Any:
    """`scan`, `reduce`, `take_while`, `group_by_reducer`."""
    d = tf.data.Dataset
    zero = tf.constant(0, tf.int64)
    reducer = tf.data.experimental.Reducer(lambda k: zero, lambda s, x: s + x, lambda s: (s, s * 2))
    pairs = d.from_tensor_slices((tf.constant([1, 2, 3]), tf.constant([1.0, 2.0, 3.0])))
    return [elements(d.range(5).scan(zero, lambda s, x: (s + x, (s, x)))),
            elements(pairs.scan({"n": 0}, lambda s, x: ({"n": s["n"] + x[0]}, x[1]))),
            plain(d.range(5).reduce(zero, lambda s, x: s + x)),
            plain(pairs.reduce((0, 1.0), lambda s, x: (s[0] + x[0], s[1] * x[1]))),
            elements(d.range(9).take_while(lambda x: x < 4)),
            plain(_rows(tf, [[1], [1, 2]]).reduce(tf.zeros([0], tf.int32), lambda s, x: tf.concat([s, x], 0))),
            elements(d.range(6).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, reducer)))]


@_case
def groups(tf: Any, folder: str) -> Any:
    """Windows and buckets of elements with one key."""
    d = tf.data.Dataset
    rows = [[1], [1, 2], [1, 2, 3], [4], [5, 6, 7, 8, 9], [5, 5]]
    size = tf.constant([2, 3], tf.int64)
    return [elements(d.range(10).group_by_window(lambda x: x % 2, lambda k, g: g.batch(3), window_size=3)),
            elements(d.range(10).group_by_window(lambda x: x % 2, lambda k, g: g.map(lambda x: x + 100 * k).batch(4),
                                                 window_size_func=lambda k: tf.gather(size, k))),
            elements(_rows(tf, rows).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2, 2, 1])),
            elements(_rows(tf, rows).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2, 3, 1],
                                                               padding_values=-1, drop_remainder=True)),
            elements(_rows(tf, rows).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4, 9], [2, 2, 2, 2],
                                                               pad_to_bucket_boundary=True)),
            elements(d.range(5).bucket_by_sequence_length(lambda x: tf.cast(x, tf.int32), [2, 4], [2, 2, 2],
                                                          no_padding=True))]


@_case
def mixtures(tf: Any, folder: str) -> Any:
    """Draws and choices among data sets."""
    d = tf.data.Dataset
    two = [d.range(6), d.range(10, 16)]
    return [elements(d.sample_from_datasets(two, [0.5, 0.5], seed=1)),
            elements(d.sample_from_datasets([d.range(50), d.range(100, 150)], [0.9, 0.1], seed=3)),
            elements(d.sample_from_datasets(two, seed=2)),
            elements(d.sample_from_datasets(two, [0.3, 0.7], seed=2, stop_on_empty_dataset=True)),
            elements(d.choose_from_datasets(two, d.from_tensor_slices(tf.constant([0, 1, 1, 0], tf.int64)))),
            elements(d.choose_from_datasets([d.range(1), d.range(9)],
                                            d.from_tensor_slices(tf.constant([0, 0, 1], tf.int64)),
                                            stop_on_empty_dataset=False))]


@_case
def batches(tf: Any, folder: str) -> Any:
    """Other batches: of other sizes, ragged, sparse; rows of ragged and sparse tensors."""
    d = tf.data.Dataset
    ragged = d.from_tensor_slices(tf.ragged.constant([[1], [2, 3], []]))
    deep = d.from_tensor_slices(tf.ragged.constant([[[1], [2, 3]], [[4]], []], ragged_rank=2, dtype=tf.int32))
    sparse = d.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2], [3, 4]]))
    return [elements(d.range(7).batch(3).rebatch(2)), elements(d.range(7).batch(3).rebatch([2, 1])),
            elements(d.range(7).batch(3).rebatch(2, drop_remainder=True)),
            elements(_rows(tf, [[1], [1, 2], [3]]).ragged_batch(2)), elements(d.range(3).ragged_batch(2)),
            elements(d.from_tensor_slices([[1, 2], [3, 4]]).sparse_batch(2, [3])),
            elements(ragged), elements(ragged.batch(2)), elements(ragged.batch(2).unbatch()),
            elements(deep), elements(deep.batch(2)), elements(deep.batch(3).unbatch()),
            elements(sparse), elements(sparse.batch(2)), elements(sparse.batch(2, drop_remainder=True).unbatch()),
            elements(deep.map(lambda r: r.flat_values)),
            plain(list(sparse.map(lambda s: tf.sparse.to_dense(s) + 1))),
            elements(d.range(2).map(lambda i: tf.sparse.from_dense([[i, 0]])))]


@_case
def cardinalities(tf: Any, folder: str) -> Any:
    """How many elements there are, as far as that is known."""
    d = tf.data.Dataset
    ten = d.range(10)
    made = [ten, ten.repeat(), ten.repeat(3), ten.repeat(0), ten.take(3), ten.take(-1), ten.take(30), ten.skip(3),
            ten.skip(-1), ten.skip(30), ten.batch(4), ten.batch(4, True), ten.padded_batch(3), ten.shard(3, 1),
            ten.concatenate(ten), ten.concatenate(ten.repeat()), d.zip((ten, d.range(4))), d.zip((ten.repeat(), ten)),
            ten.map(lambda x: x), ten.filter(lambda x: x > 3), ten.shuffle(3), ten.prefetch(1), ten.cache(),
            ten.enumerate(), ten.batch(2).unbatch(), ten.window(3), ten.window(3, 1, 1, True),
            d.counter(), d.from_tensors([1, 2]), d.from_tensor_slices([1, 2]), ten.unique(), ten.flat_map(d.range),
            d.from_generator(lambda: iter([1]), tf.int32), ten.scan(0, lambda s, x: (s, x))]
    return [int(m.cardinality()) for m in made]


@_case
def others(tf: Any, folder: str) -> Any:
    """Functions of `tf.data.experimental`, and the rest."""
    d, x = tf.data.Dataset, tf.data.experimental
    table = x.index_table_from_dataset(d.from_tensor_slices(["b", "a"]), default_value=-1)
    return [elements(d.from_tensor_slices([3, 1, 3, 2, 1]).unique()), elements(d.counter(2, 3).take(3)),
            elements(d.from_tensor_slices({"a": [1, 2]}).apply(x.pad_to_cardinality(3))),
            elements(x.from_list([(1, "a"), (2, "b")])), plain(x.at(d.range(5), 3)),
            plain(d.range(3, 4).get_single_element()), plain(list(d.range(3).enumerate().as_numpy_iterator())),
            elements(d.range(3).apply(x.assert_cardinality(3))), plain(table.lookup(tf.constant(["a", "c", "b"]))),
            repr(x.get_structure(d.range(3).batch(2))), len(d.range(8).batch(3))]


@_case
def tables(tf: Any, folder: str) -> Any:
    """Comma-separated values."""
    x = tf.data.experimental
    path = os.path.join(folder, "a.csv")
    with open(path, "w") as f:
        f.write('a,b,c,d\n1,2.5,hi,9\n,3.5,"x,""y""",4\r\n3,,"z\nw",5000000000\n')
    rows = x.CsvDataset(path, [0, 1.5, "q", tf.int64], header=True)
    dicts = x.make_csv_dataset(path, 2, label_name="d", num_epochs=1, shuffle=False)
    return [elements(rows), elements(x.CsvDataset(path, [0, "q"], header=True, select_cols=[0, 2])),
            [plain(list(dicts)), [repr(s) for s in (*dicts.element_spec[0].values(), dicts.element_spec[1])]],
            elements(x.CsvDataset(path, ["none"] * 3, header=True, exclude_cols=[0], na_value="2.5")),
            error(lambda: list(x.CsvDataset(path, [tf.int32, 1.5, "q", 0], header=True))),
            error(lambda: list(x.CsvDataset(path, [0, 1.5], header=True))),
            error(lambda: list(x.CsvDataset(path, [0, 1.5, 0, 0], header=True))),
            error(lambda: x.make_csv_dataset(path, 2, label_name="zz")),
            error(lambda: x.CsvDataset(path, [tf.bool])),
            error(lambda: x.CsvDataset(path, [0], select_cols=[2, 1]))]


@_case
def mistakes(tf: Any, folder: str) -> Any:
    """The classes of errors."""
    d, x = tf.data.Dataset, tf.data.experimental
    three = d.range(3)
    calls: list[Callable[[], Any]] = [
        lambda: three.window(0), lambda: three.batch(0), lambda: three.shuffle(0), lambda: three.rebatch(2),
        lambda: d.from_tensors(1.0).unique(), lambda: d.range(0).get_single_element(),
        lambda: three.get_single_element(), lambda: len(three.repeat()), lambda: len(three.filter(lambda v: v > 1)),
        lambda: d.sample_from_datasets([]), lambda: d.sample_from_datasets([three, three], [1.0]),
        lambda: d.choose_from_datasets([three], d.from_tensors(1)),
        lambda: list(d.choose_from_datasets([three], d.range(1, 3))),
        lambda: three.bucket_by_sequence_length(lambda v: 1, [1], [1]), lambda: x.at(three, 9),
        lambda: list(three.apply(x.assert_cardinality(4))), lambda: list(three.apply(x.assert_cardinality(2))),
        lambda: three.scan(tf.constant(0, tf.int64), lambda s, v: s + v),
        lambda: three.reduce(tf.constant(0), lambda s, v: v),
        lambda: three.group_by_window(lambda v: v, lambda k, g: g), lambda: three.group_by_window(
            lambda v: tf.cast(v, tf.int32), lambda k, g: g, 2), lambda: x.from_list([]),
        lambda: x.get_structure(3), lambda: d.load("no/such/folder"),
        lambda: setattr(tf.data.Options(), "foo", 1), lambda: setattr(tf.data.Options(), "deterministic", "a"),
        lambda: tf.RaggedTensorSpec([2, None], tf.int32, ragged_rank=2), lambda: tf.type_spec_from_value(object()),
        lambda: three.take_while(lambda v: v),
        lambda: d.sample_from_datasets([three, d.from_tensors(1.0)])]
    return [error(c) for c in calls]


@_case
def specs(tf: Any, folder: str) -> Any:
    """What is known of values."""
    values = [tf.constant([1]), tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[1, 0]]), np.zeros(3),
              tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])), tf.data.Dataset.range(3), [1, 2]]
    ragged, sparse = tf.RaggedTensorSpec([2, None], tf.int32), tf.SparseTensorSpec([None, 3])
    return [[repr(tf.type_spec_from_value(v)) for v in values],
            [repr(s) for s in (ragged, sparse, tf.IndexedSlicesSpec([3]), tf.OptionalSpec(tf.TensorSpec([])))],
            [ragged.is_compatible_with(v) for v in values[:3]], [sparse.is_compatible_with(v) for v in values[:3]],
            ragged.ragged_rank, repr(ragged.shape), ragged == tf.RaggedTensorSpec([2, None], tf.int32),
            repr(ragged.most_specific_common_supertype([tf.RaggedTensorSpec([3, None], tf.int32)])),
            repr(ragged.most_specific_common_supertype([sparse])), ragged.is_subtype_of(ragged),
            tf.TensorSpec([2]).is_subtype_of(tf.TensorSpec([None])),
            tf.TensorSpec([None]).is_subtype_of(tf.TensorSpec([2])),
            repr(tf.TensorSpec([2]).most_specific_common_supertype([tf.TensorSpec([3])])),
            repr(tf.TensorSpec.from_spec(tf.TensorSpec([2], name="a"))), hash(ragged) == hash(sparse)]
