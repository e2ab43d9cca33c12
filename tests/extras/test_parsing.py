"""Examples and sequences of them, compressed strings, sparse tensors and JSON as strings, files written."""

from __future__ import annotations

import gzip
import pathlib
import zlib
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir.proto.example_messages import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)

pytestmark = pytest.mark.usefixtures("graph")
io = tf.io
Ragged = tf.io.RaggedFeature


def run(fetches: Any) -> Any:
    """The values, by NumPy."""
    with HostSession() as sess:
        return sess.run(fetches)


def feature(values: Any) -> Any:
    """A feature of ints, floats or bytes."""
    if not values or isinstance(values[0], int):
        return Feature(int64_list=Int64List(value=values))
    if isinstance(values[0], float):
        return Feature(float_list=FloatList(value=values))
    return Feature(bytes_list=BytesList(value=values))


def features(**given: Any) -> Any:
    """Features by name."""
    return Features(feature={k: feature(v) for k, v in given.items()})


def example(**given: Any) -> bytes:
    """A serialized example."""
    return bytes(Example(features=features(**given)).SerializeToString())


def sequence(context: Any, **lists: Any) -> bytes:
    """A serialized sequence example."""
    made = {k: FeatureList(feature=[feature(step) for step in steps]) for k, steps in lists.items()}
    return bytes(SequenceExample(context=context, feature_lists=FeatureLists(feature_list=made)).SerializeToString())


A = example(i=[1, 2], f=[0.5, 1.5], s=[b"x"], rs=[0, 1, 2])
B = example(i=[3], s=[b"y", b"z"], rs=[0, 1])


def test_batches() -> None:
    """All kinds of features of a batch, as TensorFlow gives them."""
    found = run(io.parse_example([A, B], {
        "i": tf.VarLenFeature(tf.int64), "s": tf.FixedLenSequenceFeature([], tf.string, True),
        "f": tf.FixedLenFeature([2], tf.float32, [7.0, 8.0]), "rs": Ragged(tf.int64)}))
    assert found["i"].indices.tolist() == [[0, 0], [0, 1], [1, 0]] and found["i"].values.tolist() == [1, 2, 3]
    assert found["i"].dense_shape.tolist() == [2, 2] and found["s"].tolist() == [[b"x", b""], [b"y", b"z"]]
    assert found["f"].tolist() == [[0.5, 1.5], [7, 8]] and found["rs"].to_list() == [[0, 1, 2], [0, 1]]
    assert found["rs"].row_splits.dtype == np.int32
    filled = io.parse_example([A, B], {"i": tf.FixedLenSequenceFeature([], tf.int64, True, -1)})["i"]
    assert run(filled).tolist() == [[1, 2], [3, -1]] and filled.shape.as_list() == [2, None]
    placed = run(tf.parse_example([A, B], {"sp": tf.SparseFeature("i", "s", tf.string, 5),
                                           "two": tf.SparseFeature(["i", "i"], "i", tf.int64, [5, 6])}))
    assert placed["two"].indices.tolist() == [[0, 1, 1], [0, 2, 2], [1, 3, 3]]
    assert placed["two"].dense_shape.tolist() == [2, 5, 6]


_PARTED = {  # of values [1..5] and [6, 7]: the same rows, told in each way
    "lengths": (Ragged.RowLengths("p"), [2, 0, 3], [1, 1]), "splits": (Ragged.RowSplits("p"), [0, 2, 2, 5], [0, 1, 2]),
    "starts": (Ragged.RowStarts("p"), [0, 2, 2], [0, 1]), "limits": (Ragged.RowLimits("p"), [2, 2, 5], [1, 2]),
    "ids": (Ragged.ValueRowIds("p"), [0, 0, 2, 2, 2], [0, 1]),
}


@pytest.mark.parametrize("name", _PARTED)
def test_ragged_partitions(name: str) -> None:
    """Values parted into rows, and those into rows of rows; also of one example, and of one that is empty."""
    partition, one, other = _PARTED[name]
    first, second = example(v=[1, 2, 3, 4, 5], p=one), example(v=[6, 7], p=other)
    empty = example(v=[], p=[0] if name == "splits" else [])
    kind = Ragged(tf.int64, "v", [partition])
    batch = io.parse_example([first, empty, second], {"r": kind})["r"]
    single = io.parse_single_example(first, {"r": kind})["r"]
    assert run(batch).to_list() == [[[1, 2], [], [3, 4, 5]], [], [[6], [7]]]
    assert run(single).to_list() == [[1, 2], [], [3, 4, 5]]


def test_two_partitions() -> None:
    """Rows of rows: the outermost partition first."""
    data = example(v=[1, 2, 3, 4, 5, 6], n=[2, 1, 3], o=[1, 2])
    kind = Ragged(tf.int64, "v", [Ragged.RowLengths("o"), Ragged.RowLengths("n")])
    assert run(io.parse_example([data], {"r": kind})["r"]).to_list() == [[[[1, 2]], [[3], [4, 5, 6]]]]
    pairs = io.parse_example([data], {"r": Ragged(tf.int64, "v", Ragged.UniformRowLength(2))})["r"]
    assert run(pairs).to_list() == [[[1, 2], [3, 4], [5, 6]]]


def test_single_examples() -> None:
    """One example: no batch axis."""
    found = run(tf2.io.parse_single_example(A, {
        "i": tf.FixedLenSequenceFeature([], tf.int64, True), "q": tf.FixedLenSequenceFeature([3], tf.int64, True),
        "s": Ragged(tf.string), "f": tf.VarLenFeature(tf.float32)}))
    assert found["i"].tolist() == [1, 2] and found["q"].shape == (0, 3) and found["s"].tolist() == [b"x"]
    assert found["f"].indices.tolist() == [[0], [1]] and found["f"].dense_shape.tolist() == [2]


Q = sequence(features(i=[1, 2], f=[0.5, 1.5]), u=[[1], [2], [3]], v=[[1, 2], [], [3]])
Q2 = sequence(features(i=[3]), u=[[4]], v=[[5, 6]])


def test_sequences() -> None:
    """Contexts and steps of one sequence and of a batch, as TensorFlow gives them."""
    steps = tf.FixedLenSequenceFeature([], tf.int64)
    context, lists = run(tf.parse_single_sequence_example(
        Q, {"i": tf.VarLenFeature(tf.int64), "f": tf.FixedLenFeature([2], tf.float32)},
        {"u": steps, "v": tf.VarLenFeature(tf.int64),
         "w": tf.FixedLenSequenceFeature([1], tf.int64, allow_missing=True)}))
    assert context["i"].values.tolist() == [1, 2] and context["f"].tolist() == [0.5, 1.5]
    assert lists["u"].tolist() == [1, 2, 3] and lists["w"].shape == (0, 1)
    assert lists["v"].indices.tolist() == [[0, 0], [0, 1], [2, 0]] and lists["v"].dense_shape.tolist() == [3, 2]
    ragged = tf.io.parse_single_sequence_example(Q, None, {"v": Ragged(tf.int64)})[1]["v"]
    assert run(ragged).to_list() == [[1, 2], [], [3]]
    context, lists, lengths = run(io.parse_sequence_example(
        [Q, Q2], {"i": Ragged(tf.int64)}, {"u": steps, "v": tf.VarLenFeature(tf.int64)}))
    assert context["i"].to_list() == [[1, 2], [3]] and lists["u"].tolist() == [[1, 2, 3], [4, 0, 0]]
    assert lists["v"].indices.tolist() == [[0, 0, 0], [0, 0, 1], [0, 2, 0], [1, 0, 0], [1, 0, 1]]
    assert lists["v"].dense_shape.tolist() == [2, 3, 2] and lengths["u"].tolist() == [3, 1]
    _, lists, lengths = io.parse_sequence_example([Q, Q2], None, {"v": Ragged(tf.int64)})
    assert run(lists["v"]).to_list() == [[[1, 2], [], [3]], [[5, 6]]] and lengths == {}


_FLOAT = tf.FixedLenSequenceFeature([], tf.float32)
_INT = tf.FixedLenSequenceFeature([], tf.int64)


@pytest.mark.parametrize(("make", "text"), [
    (lambda: io.parse_example([A], {}), "features. cannot be None or falsy"),
    (lambda: io.parse_example([A], {"i": _INT}), "requires allow_missing to be True"),
    (lambda: io.parse_example([A], {"i": 3}), "Unsupported int 3 for key 'i'"),
    (lambda: io.parse_example([A], {"i": Ragged(tf.int64), "j": Ragged(tf.float32, "i")}), "Conflicting type"),
    (lambda: io.parse_example([A], {"i": Ragged(tf.int64), "j": tf.SparseFeature("i", "s", tf.string, 3)}), "must not"),
    (lambda: io.parse_example([A], {"i": tf.SparseFeature(["i"], "s", tf.string, [3, 4])}), "1 index keys need"),
    (lambda: io.parse_single_sequence_example(Q), "at least one should have values"),
    (lambda: io.parse_single_sequence_example(Q, None, {"u": tf.FixedLenFeature([], tf.int64)}), "Unsupported Fixed"),
])
def test_features_that_cannot_be(make: Any, text: str) -> None:
    """Mistakes in features, when the graph is built."""
    with pytest.raises(ValueError, match=f"(?s){text}.*Fix:"):
        make()
    with pytest.raises(TypeError, match="(?s)must be a list of partition objects.*Fix:"):
        Ragged(tf.int64, partitions=["p"])


@pytest.mark.parametrize(("make", "text"), [
    (lambda: io.parse_example([A, B], {"f": tf.FixedLenFeature([2], tf.float32)}), "f .data type: float32. is req"),
    (lambda: io.parse_example([A, B], {"i": tf.FixedLenFeature([2], tf.int64)}), "Key: i, Index: 1.* != expected"),
    (lambda: io.parse_example([A, B], {"i": tf.FixedLenSequenceFeature([2], tf.int64, True)}), "not a multiple"),
    (lambda: io.parse_example([A], {"i": tf.VarLenFeature(tf.float32)})["i"].values, "Data types don't match"),
    (lambda: io.parse_example([b"zzzz"], {"i": tf.FixedLenFeature([], tf.int64)}), "Could not parse example|required"),
    (lambda: io.parse_single_sequence_example(Q, None, {"w": _INT}), "Feature list 'w' is required but could not"),
    (lambda: io.parse_single_sequence_example(Q, None, {"v": _INT}), "step 0.* != expected"),
    (lambda: io.parse_single_sequence_example(Q, None, {"u": _FLOAT}), "don't match"),
    (lambda: io.decode_json_example("x"), "Error while parsing JSON"),
    (lambda: io.deserialize_many_sparse([["a", "b", "c"]], tf.int32).values, "Could not parse serialized proto"),
])
def test_data_that_cannot_be_parsed(make: Any, text: str) -> None:
    """What only the run sees."""
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){text}.*Fix:"):
        run(make())


def test_sparse_tensors_as_strings() -> None:
    """TensorFlow's bytes, and back."""
    s = tf.SparseTensor([[0, 1], [2, 0]], [1.5, 2.0], [3, 2])
    one, many = io.serialize_sparse(s), io.serialize_many_sparse(s)
    back = io.deserialize_many_sparse(many, tf.float32)
    both = io.deserialize_many_sparse([one, one], tf.float32, rank=2)
    one, many, back, both = run([one, many, back, both])
    assert one[1] == b'\x08\x01\x12\x04\x12\x02\x08\x02"\x08\x00\x00\xc0?\x00\x00\x00@'
    assert many[1].tolist() == [b"\x08\t\x12\x06\x12\x00\x12\x02\x08\x01", b"\x08\x01\x12\x02\x12\x00",
                                b'\x08\t\x12\x04\x12\x02\x08\x01"\x08\x02' + bytes(7)]
    assert back.indices.tolist() == [[0, 1], [2, 0]] and back.dense_shape.tolist() == [3, 2]
    assert both.indices.tolist() == [[0, 0, 1], [0, 2, 0], [1, 0, 1], [1, 2, 0]]
    assert both.values.tolist() == [1.5, 2.0] * 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requested SparseTensor of type int32 but"):
        run(io.deserialize_many_sparse([one], tf.int32).values)
    for call, error in ((lambda: io.serialize_sparse(1), TypeError),
                        (lambda: tf.serialize_many_sparse(s, out_type=tf.variant), NotImplementedError)):
        with pytest.raises(error, match="(?s)Fix:"):
            call()


def test_other_formats(tmp_path: pathlib.Path) -> None:
    """Compressed strings, JSON, files."""
    assert run(io.decode_compressed([zlib.compress(b"abc")], "ZLIB")).tolist() == [b"abc"]
    assert run(tf.decode_compressed([gzip.compress(b"abc")], "GZIP")).tolist() == [b"abc"]
    assert run(io.decode_compressed(["abc"])).tolist() == [b"abc"]
    with pytest.raises(tf.errors.DataLossError, match="(?s)inflate.. failed.*Fix:"):
        run(io.decode_compressed(["abc"], "GZIP"))
    with pytest.raises(ValueError, match="(?s)GZIP or NONE are supported.*Fix:"):
        io.decode_compressed(["abc"], "X")
    text = ('{"features":{"feature":{"a":{"int64List":{"value":["1",2]}},"b":{"bytesList":{"value":["YWI="]}},'
            '"c":{"floatList":{"value":[1.5]}}}}}')
    found = run(io.parse_single_example(io.decode_json_example(text), {
        "a": tf.FixedLenFeature([2], tf.int64), "b": tf.FixedLenFeature([], tf.string),
        "c": tf.FixedLenFeature([], tf.float32)}))
    assert found["a"].tolist() == [1, 2] and found["b"] == b"ab" and found["c"] == 1.5
    path = tmp_path / "deep" / "f"
    run(tf.write_file(str(path), "abc"))
    assert path.read_text() == "abc"
    with pytest.raises(tf.errors.FailedPreconditionError, match="(?s)Not a directory.*Fix:"):
        run(io.write_file(str(path / "below"), "abc"))
    with pytest.raises(ValueError, match="(?s)must be scalar.*Fix:"):
        io.write_file([str(path)], "abc")


def test_scalar_strings_have_shapes() -> None:
    """A string that is an element of an array is of rank 0 to the next operation, in branches and loops, too."""
    sequence = tf.train.SequenceExample(context=tf.train.Features(feature={
        "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"ab"]))})).SerializeToString()
    context, _ = tf.io.parse_single_sequence_example(sequence, {"s": tf.FixedLenFeature((), tf.string)}, {})
    words = tf.placeholder(tf.string, [2])
    yes = tf.placeholder_with_default(True, [])
    scalars = [context["s"], words[1], tf.gather(words, 1), tf.unstack(words)[1], tf.gather_nd(words, [1]),
               tf.cond(yes, lambda: words[1], lambda: words[0]), tf.where(yes, words[1], words[0])]
    lengths = tf.map_fn(lambda w: tf.strings.length(tf.reshape(w, [])), words, dtype=tf.int32)
    with tf.Session() as sess:
        found = sess.run([tf.reshape(s, [1]) for s in scalars], {words: ["x", "ab"]})
        assert [f.tolist() for f in found] == [[b"ab"]] * len(scalars)
        assert sess.run(lengths, {words: ["x", "ab"]}).tolist() == [1, 2]
        assert sess.run(words[1], {words: ["x", "ab"]}) == b"ab"
