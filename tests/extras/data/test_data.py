"""`tf.data`, iterators, coordinators. What is expected, TensorFlow 2.21 gives, but for the order of `shuffle`."""

from __future__ import annotations

import collections
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import context

D = tf.data.Dataset


@pytest.fixture
def sess(graph: Any) -> Iterator[Any]:
    """A session of the test's graph."""
    with HostSession() as session:
        yield session


def _all(sess: Any, dataset: Any, limit: int = 100) -> list[Any]:
    """What a data set gives until it ends."""
    element = dataset.make_one_shot_iterator().get_next()
    found = []
    for _ in range(limit):
        try:
            found.append(sess.run(element))
        except tf.errors.OutOfRangeError:
            break
    return [f.tolist() if isinstance(f, (np.ndarray, np.generic)) else f for f in found]


def test_slices(sess: Any) -> None:
    """Structures, dtypes and shapes; the end, again and again."""
    Point = collections.namedtuple("Point", "x y")
    points = Point(["p", "q", "r"], [True] * 3)
    dataset = D.from_tensor_slices({"b": np.arange(6).reshape(3, 2), "a": ([1.5, 2.5, 3.5], points)})
    assert dataset.output_types == {"b": tf.int64, "a": (tf.float32, Point(tf.string, tf.bool))}
    assert dataset.output_shapes["b"].as_list() == [2] and list(dataset.output_types) == ["b", "a"]
    element = dataset.make_one_shot_iterator().get_next()
    assert element["b"].op.type == "IteratorGetNext" and element["a"][1].x.shape.as_list() == []
    first = sess.run(element)
    assert first["b"].tolist() == [0, 1] and first["a"] == (1.5, (b"p", True)) and isinstance(first["a"][1], Point)
    sess.run([element, element])
    assert sess.run(element["a"][1].x) == b"r"
    for _ in range(2):
        with pytest.raises(tf.errors.OutOfRangeError, match="(?s)End of sequence.*Fix:"):
            sess.run(element)


@pytest.mark.parametrize("make, expected", [
    (lambda: D.range(2, 8, 2), [2, 4, 6]),
    (lambda: D.range(3).repeat(2), [0, 1, 2, 0, 1, 2]),
    (lambda: D.range(0).repeat(), []),
    (lambda: D.range(10).skip(3).take(2), [3, 4]),
    (lambda: D.range(3).take(-1), [0, 1, 2]),
    (lambda: D.range(3).skip(-1), []),
    (lambda: D.range(7).shard(3, 1), [1, 4]),
    (lambda: D.range(5).batch(2), [[0, 1], [2, 3], [4]]),
    (lambda: D.range(5).batch(2, drop_remainder=True), [[0, 1], [2, 3]]),
    (lambda: D.range(5).batch(2).unbatch().prefetch(1).cache(), [0, 1, 2, 3, 4]),
    (lambda: D.range(6).filter(lambda x: tf.equal(x % 2, 0)), [0, 2, 4]),
    (lambda: D.range(2).concatenate(D.range(5, 6)), [0, 1, 5]),
    (lambda: D.zip((D.range(3), D.range(5, 10))), [(0, 5), (1, 6), (2, 7)]),
    (lambda: D.zip(D.range(2), D.range(2)), [(0, 0), (1, 1)]),
    (lambda: D.zip((D.range(3), D.range(3))).map(lambda a, b: a + 10 * b), [0, 11, 22]),
    (lambda: D.from_tensors([1, 2]).repeat(2), [[1, 2], [1, 2]]),
    (lambda: D.from_tensor_slices(["a", "b"]).batch(3), [[b"a", b"b"]]),
    (lambda: D.range(2).apply(lambda d: d.map(lambda x: x + 1)), [1, 2]),
])
def test_transformations(sess: Any, make: Any, expected: list[Any]) -> None:
    """Each transformation gives the elements that TensorFlow gives."""
    assert _all(sess, make()) == expected


def test_static_shapes(graph: Any) -> None:
    """What is known of shapes."""
    x = tf.placeholder(tf.float32, [None, 4])
    dataset = D.from_tensor_slices(x)
    assert dataset.batch(2).output_shapes.as_list() == [None, 4]
    assert dataset.batch(2, True).output_shapes.as_list() == [2, 4]
    assert dataset.map(lambda row: (tf.reduce_sum(row), tf.reshape(row, [2, 2]))).output_shapes[1].as_list() == [2, 2]
    assert dataset.concatenate(D.from_tensor_slices(tf.zeros([2, 5]))).output_shapes.as_list() == [None]
    assert repr(dataset) == "<DatasetV1 element_spec=TensorSpec(shape=(4,), dtype=tf.float32, name=None)>"


def test_initializable(sess: Any) -> None:
    """Placeholders, also in functions and sizes; beginning anew; sessions apart from each other."""
    x, scale = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [])
    size = tf.placeholder(tf.int64, [])
    iterator = D.from_tensor_slices(x).map(lambda v: v * scale).batch(size).make_initializable_iterator()
    element = iterator.get_next()
    with pytest.raises(tf.errors.FailedPreconditionError, match="(?s)has not been initialized.*Fix:"):
        sess.run(element)
    for factor in (2, 3):
        sess.run(iterator.initializer, {x: [1, 2, 3], scale: factor, size: 2})
        assert sess.run(element).tolist() == [factor, 2 * factor]
    with HostSession() as other:
        other.run(iterator.initializer, {x: [9], scale: 1, size: 1})
        assert other.run(element).tolist() == [9]
    assert sess.run(element).tolist() == [9]


def test_reinitializable(sess: Any) -> None:
    """One iterator for two data sets, of training and of validation."""
    train, valid = D.range(3), D.range(10, 12)
    iterator = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
    element = iterator.get_next()
    for dataset, first in ((train, 0), (valid, 10)):
        sess.run(iterator.make_initializer(dataset))
        assert sess.run(element) == first
    with pytest.raises(TypeError, match="(?s)Expected output types.*Fix:"):
        iterator.make_initializer(D.from_tensors(1.0))
    with pytest.raises(ValueError, match="(?s)does not have an initializer.*Fix:"):
        _ = iterator.initializer


def test_shuffle(sess: Any) -> None:
    """All elements, in an order that the seed decides, within the buffer's reach."""
    orders = [_all(sess, D.range(20).shuffle(20, seed=5)) for _ in range(2)]
    assert orders[0] == orders[1] != list(range(20)) and sorted(orders[0]) == list(range(20))
    assert _all(sess, D.range(20).shuffle(20, seed=6)) != orders[0]
    twice = _all(sess, D.range(20).shuffle(20, seed=5).repeat(2))
    assert twice[:20] == orders[0] != twice[20:]
    same = _all(sess, D.range(20).shuffle(20, seed=5, reshuffle_each_iteration=False).repeat(2))
    assert same[:20] == same[20:]
    near = _all(sess, D.range(20).shuffle(3))
    assert sorted(near) == list(range(20)) and all(v <= i + 2 for i, v in enumerate(near))


def test_generator(sess: Any) -> None:
    """Generators, with shapes, arguments and signatures; what does not fit."""

    def pairs(n: Any) -> Iterator[Any]:
        for i in range(n):
            yield i, [1.0] * i

    shapes = (tf.TensorShape([]), tf.TensorShape([None]))
    dataset = D.from_generator(pairs, (tf.int64, tf.float32), shapes, args=(3,))
    assert dataset.output_shapes[1].as_list() == [None]
    element = dataset.make_one_shot_iterator().get_next()
    assert [len(sess.run(element)[1]) for _ in range(3)] == [0, 1, 2]
    fixed = D.from_generator(lambda: pairs(3), (tf.int64, tf.float32), ((), (2,))).make_one_shot_iterator().get_next()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)shape \(0,\) where .*\(2,\) was expected.*Fix:"):
        sess.run(fixed)
    words = D.from_generator(lambda: iter(["a"]), tf.float32).make_one_shot_iterator().get_next()
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)could not be converted to the expected type.*Fix:"):
        sess.run(words)
    uneven = D.from_generator(lambda: iter([[1.0], [1.0, 2.0]]), tf.float32).batch(2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)shapes in component 0.*\[1\].*\[2\].*Fix:"):
        sess.run(uneven.make_one_shot_iterator().get_next())
    with pytest.raises(TypeError, match="Python callable"):
        D.from_generator([1], tf.int64)
    with pytest.raises(TypeError, match="must be specified"):
        D.from_generator(lambda: [1])


def test_errors(graph: Any) -> None:
    """What cannot be built."""
    with pytest.raises(ValueError, match="(?s)Dimensions 3 and 4 are not compatible.*Fix:"):
        D.from_tensor_slices((np.zeros(3), np.zeros(4)))
    with pytest.raises(ValueError, match="(?s)rank >= 1.*Fix:"):
        D.from_tensor_slices(3.0)
    with pytest.raises(ValueError, match="(?s)Cannot capture a placeholder.*Fix:"):
        D.from_tensor_slices(tf.placeholder(tf.float32, [None]) + 1).make_one_shot_iterator()
    v = tf.get_variable("v", initializer=[1.0])
    with pytest.raises(ValueError, match="(?s)Cannot capture a stateful node.*Fix:"):
        D.from_tensor_slices(v + 1).make_one_shot_iterator()
    with pytest.raises(ValueError, match="(?s)uses a variable.*Fix:"):
        D.range(2).map(lambda i: v[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)greater than zero.*Fix:"):
        D.range(2).batch(0)
    with pytest.raises(ValueError, match="(?s)bool scalar.*Fix:"):
        D.range(2).filter(lambda x: x)
    with pytest.raises(TypeError, match="(?s)Invalid input to `zip`.*Fix:"):
        D.zip([1, 2])
    with pytest.raises(TypeError, match="(?s)cannot be concatenated.*Fix:"):
        D.range(2).concatenate(D.from_tensor_slices([1.0]))
    with pytest.raises(RuntimeError, match="(?s)only supports Python-style iteration.*Fix:"):
        iter(D.range(2))


def test_training(graph: Any) -> None:
    """A compiled step fed by an iterator, epoch after epoch; a step that finds no data changes nothing."""
    xs = np.arange(6, dtype=np.float32)
    dataset = D.from_tensor_slices((xs, 3 * xs)).map(lambda x, y: (x / 6, y / 6)).shuffle(6).batch(2)
    iterator = dataset.make_initializable_iterator()
    x, y = iterator.get_next()
    w = tf.get_variable("w", initializer=0.0)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_mean(tf.square(w * x - y)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        steps = 0
        for _ in range(15):
            session.run(iterator.initializer)
            while True:
                try:
                    session.run(train)
                    steps += 1
                except tf.errors.OutOfRangeError:
                    break
        assert steps == 45
        np.testing.assert_allclose(session.run(w), 3.0, rtol=0.02)


def test_random_numbers_in_functions(sess: Any) -> None:
    """A random operation draws anew for each element."""
    values = _all(sess, D.range(4).map(lambda i: tf.random_uniform([], seed=3)))
    assert len(set(values)) == 4


def test_eager() -> None:
    """In eager mode a data set is iterated over."""
    import graphgrad.compat.v2 as tf2

    offset = tf2.constant(np.arange(8.0))
    values = tf2.data.Dataset.from_tensor_slices(tf2.constant([1.0, 2.0]))
    dataset = values.map(lambda v: v + tf2.cast(offset[7], "float32"))
    for _ in range(2):
        assert [float(v) for v in dataset] == [8.0, 9.0]


def test_in_graphs(sess: Any) -> None:
    """Iterators by strings and as optionals; values of whole data sets; kept elements; tuples of components."""
    handle = tf.placeholder(tf.string, [])
    shared = tf.data.Iterator.from_string_handle(handle, tf.int64, [])
    element = shared.get_next()
    first = tf.data.make_one_shot_iterator(D.range(3))
    second = tf.data.make_initializable_iterator(D.range(10, 12))
    names = sess.run([first.string_handle(), second.string_handle()])
    with pytest.raises(tf.errors.FailedPreconditionError, match="(?s)has not been initialized.*Fix:"):
        sess.run(element, {handle: names[1]})
    sess.run(second.initializer)
    assert [sess.run(element, {handle: names[i]}) for i in (0, 1, 0, 1)] == [0, 10, 1, 11]
    sess.run(second.initializer)
    assert sess.run(element, {handle: names[1]}) == 10
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)no iterator has the handle.*Fix:"):
        sess.run(element, {handle: b"other"})
    held = tf.data.experimental.get_next_as_optional(tf.data.make_one_shot_iterator(D.range(1)))
    assert sess.run([held.has_value(), held.get_value()]) == [True, 0] and not sess.run(held.has_value())
    x = tf.placeholder(tf.int64, [None])
    total = tf.data.Dataset.from_tensor_slices(x).reduce(tf.constant(0, tf.int64), lambda s, v: s + v)
    assert sess.run(total, {x: [1, 2, 3]}) == 6
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)Dataset was empty.*Fix:"):
        sess.run(tf.data.experimental.get_single_element(D.from_tensor_slices(x)), {x: []})
    rows = D.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2]]))
    assert rows.output_classes is tf.SparseTensor and rows.output_types is tf.int32
    value = sess.run(rows.batch(2).make_one_shot_iterator().get_next())
    assert value.dense_shape.tolist() == [2, 2] and value.values.tolist() == [1, 2]
    triples = D.from_sparse_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2]]))
    assert [len(v) for v in _all(sess, triples)] == [3, 3]
    assert _all(sess, D.range(3).cache().repeat(2)) == [0, 1, 2] * 2


# -- coordinators ----------------------------------------------------------------------------


def test_coordinator() -> None:
    """Threads stop when one asks for it; what went wrong is raised where they are joined."""
    coord = tf.train.Coordinator()

    def work() -> None:
        with coord.stop_on_exception():
            while not coord.should_stop():
                coord.wait_for_stop(0.001)

    def fail() -> None:
        with coord.stop_on_exception():
            raise ValueError("broken")

    threads = [threading.Thread(target=f) for f in (work, work, fail)]
    coord.register_thread(threads[0])
    for t in threads:
        t.start()
    with pytest.raises(ValueError, match="broken"):
        coord.join(threads)
    assert coord.joined and not any(t.is_alive() for t in threads)
    coord.clear_stop()
    assert not coord.should_stop()
    coord.request_stop(tf.errors.OutOfRangeError(None, None, "end"))
    coord.join([])
    release = threading.Event()
    lazy = threading.Thread(target=release.wait, name="lazy")
    lazy.start()
    with pytest.raises(RuntimeError, match="(?s)threads still running: lazy.*Fix:"):
        coord.join([lazy], stop_grace_period_secs=0.01)
    coord.join([lazy], stop_grace_period_secs=0.01, ignore_live_threads=True)
    release.set()
    lazy.join()


def test_queue_runners(graph: Any) -> None:
    """There is nothing to start; without a session that is an error, as in TensorFlow."""
    with pytest.raises(ValueError, match="No default session"):
        tf.train.start_queue_runners()
    with pytest.raises(TypeError, match="must be a `tf.Session`"):
        tf.train.start_queue_runners(3)
    with tf.Session():
        assert tf.train.start_queue_runners(coord=tf.train.Coordinator()) == []


def test_none_as_a_component() -> None:
    """None among components stays None through maps and batches, as in TensorFlow."""
    data = tf2.data.Dataset.from_tensors({"x": [1, 2], "none": None}).repeat(2)
    assert "NoneTensorSpec()" in repr(data.element_spec["none"])
    data = tf2.data.Dataset.zip((tf2.data.Dataset.range(2), data))
    data = data.map(lambda i, e: {"x": tf2.gather(e["x"], i), "none": e["none"]}).batch(2)
    with context.use(context.EAGER):
        (found,) = data
    assert found["none"] is None and found["x"].numpy().tolist() == [1, 2]


def test_the_graph_of_a_data_set() -> None:
    """Libraries find out from it whether a data set is shuffled."""
    data = tf2.data.Dataset.range(4)
    with context.use(context.EAGER):
        for made, shuffled in ((data.batch(2), False), (data.shuffle(2).map(lambda x: x + 1).batch(2), True),
                               (tf2.data.Dataset.zip((data, data.shuffle(4))), True)):
            graph = tf.GraphDef.FromString(made._as_serialized_graph().numpy())
            assert any(n.op.startswith("ShuffleDataset") for n in graph.node) == shuffled


@pytest.mark.parametrize("component", [
    tf.ragged.constant([[[1], [2, 3]], [[4]]]), tf.SparseTensorValue([[0]], [1], [2]), (np.int64(1), None), D.range(3)])
def test_padding_is_for_tensors(component: Any) -> None:
    """What is no tensor is not padded part by part; TensorFlow refuses it, too."""
    with context.use(context.EAGER):
        data = tf2.data.Dataset.from_tensors(component)
        with pytest.raises(TypeError, match="(?s)padded_batch.*only supported for datasets that produce tensor.*Fix:"):
            data.padded_batch(2)


def test_a_data_set_of_a_data_set() -> None:
    """`from_tensors` of a data set has it as its element."""
    with context.use(context.EAGER):
        (inner,) = tf2.data.Dataset.from_tensors(tf2.data.Dataset.range(3).map(lambda x: x * 2))
        assert [int(x) for x in inner] == [0, 2, 4] and [int(x) for x in inner] == [0, 2, 4]
