"""First and later runs give the same: shapes fed in turn, what never runs, convolutions on several cores."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case, raised

_SHAPES = [(), (3,), (0,), (2, 3), (), (3,), (0, 2)]


def _ones(shape: tuple[int, ...]) -> Any:
    return np.arange(1.0, 1.0 + np.prod(shape), dtype=np.float32).reshape(shape)


@case("graph")
def shapes_of_an_unknown_rank_in_turn(tf: Any) -> Any:
    x = tf.placeholder(tf.float32)
    losses = [tf.reduce_sum(tf.square(x)), tf.reduce_mean(tf.exp(0.1 * x)), tf.reduce_prod(x), tf.reduce_max(x)]
    fetches = [[y, tf.gradients(y, x)[0]] for y in losses]
    with tf.Session() as sess:
        return [sess.run(fetches, {x: _ones(shape)}) for shape in _SHAPES if shape not in ((0,), (0, 2))]


@case("graph")
def empty_tensors_of_an_unknown_rank(tf: Any) -> Any:
    x = tf.placeholder(tf.float32)
    y = tf.reduce_sum(tf.square(x))
    z = tf.reduce_sum(x * tf.expand_dims(x, -1), -1)
    fetches = [y, tf.gradients(y, x)[0], tf.gradients(z, x)[0]]
    with tf.Session() as sess:
        return [sess.run(fetches, {x: _ones(shape)}) for shape in _SHAPES if len(shape) == 1]


@case("graph")
def integer_divisions_of_nothing(tf: Any) -> Any:
    x, y = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    z = [tf.floordiv(x, y), tf.floormod(x, y), tf.truncatediv(x, y), tf.truncatemod(x, y), tf.pow(x, y - 1)]
    feeds = [(np.zeros(0), 0), (np.zeros((2, 0)), np.zeros((2, 1))), ([7, -7], [2, 3]), (5, np.zeros(0)), (7, 2)]
    with tf.Session() as sess:
        return [sess.run(z, {x: a, y: b}) for a, b in feeds]


def _never(tf: Any, body: Any) -> Any:
    """Runs, three times, a loop that has no iterations, and a branch that is not taken, with its gradient."""
    n, i, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [3])
    loop = tf.while_loop(lambda k, a: k < n, lambda k, a: (k + 1, a * body(i, x)), [0, tf.reduce_sum(x)])[1]
    branch = tf.cond(n > 0, lambda: body(i, x) * x[0], lambda: x[1] * x[2])
    found = [f for y in (loop, branch) for f in (y, tf.convert_to_tensor(tf.gradients(y, x)[0]))]
    with tf.Session() as sess:
        return [sess.run(found, {n: 0, i: 7, x: [1.0, 2.0, 3.0]}) for _ in range(3)]


@case("graph")
def an_index_that_is_never_looked_up(tf: Any) -> Any:
    return _never(tf, lambda i, x: tf.gather(x, i))


@case("graph")
def a_subscript_that_is_never_looked_up(tf: Any) -> Any:
    return _never(tf, lambda i, x: x[i] + x[7 * i])


@case("graph")
def a_slice_that_is_never_taken(tf: Any) -> Any:
    return _never(tf, lambda i, x: tf.reduce_sum(tf.slice(x, [i], [2])))


@case("graph")
def a_constant_index_that_is_never_looked_up(tf: Any) -> Any:
    return _never(tf, lambda i, x: tf.reduce_sum(tf.gather(x, [7, 8])) + tf.gather_nd(x, [[9]])[0])


@case("graph")
def a_division_that_never_happens(tf: Any) -> Any:
    return _never(tf, lambda i, x: tf.cast(i // (i - i), tf.float32) + tf.cast(5 // tf.constant([0])[0], tf.float32))


@case("graph")
def a_matrix_that_is_never_inverted(tf: Any) -> Any:
    return _never(tf, lambda i, x: tf.reduce_sum(tf.matrix_inverse(tf.reshape(tf.tile(x, [3]), [3, 3]))))


@case("graph")
def a_label_that_is_never_looked_at(tf: Any) -> Any:
    return _never(tf, lambda i, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x))


@case("graph")
def maps_over_nothing(tf: Any) -> Any:
    n, i, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [3])
    a = tf.map_fn(lambda k: tf.gather(x, i) * k, x[:n])
    b = tf.foldl(lambda s, k: s + tf.gather(x, i) * k, x[:n], 1.0)
    c = tf.scan(lambda s, k: s + tf.gather(x[:n], i) * k, x[:n], 1.0)
    found = [f for y in (a, b, c) for f in (y, tf.convert_to_tensor(tf.gradients(y, x)[0]))]
    feed = {i: 7, x: [1.0, 2.0, 3.0]}
    with tf.Session() as sess:
        empty = [sess.run(found, {n: 0, **feed}) for _ in range(3)]
        return empty, sess.run(found, {n: 2, **feed, i: 1}), sess.run(found, {n: 0, **feed})


@case("graph", rtol=1e-4, atol=1e-5)
def a_convolutional_net_with_batches_of_several_sizes(tf: Any) -> Any:
    rng = np.random.RandomState(0)
    pictures = tf.placeholder(tf.float32, [None, 784])
    h = tf.reshape(pictures, [-1, 28, 28, 1])
    shapes = [(5, 5, 1, 16), (5, 5, 16, 64), (3136, 10)]
    weights = [tf.Variable((rng.randn(*s) * 0.1).astype(np.float32)) for s in shapes]
    for w in weights[:2]:
        h = tf.nn.relu(tf.nn.conv2d(h, w, [1, 1, 1, 1], "SAME"))
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    y = tf.matmul(tf.reshape(h, [-1, 3136]), weights[2])
    loss = tf.reduce_mean(tf.nn.log_softmax(y)[:, 0])
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    results = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for batch in (24, 24, 30, 1, 7, 24):
            results.append(sess.run([loss, train], {pictures: rng.rand(batch, 784)})[0])
    return results


@case("graph")
def a_loop_that_takes_too_long(tf: Any) -> Any:
    n, v = tf.placeholder(tf.int64, []), tf.Variable(1.0)
    y = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 0.5 + 0.5), [tf.constant(0, tf.int64), v * 1.0])[1]
    update = v.assign_add(y)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        results = [sess.run(update, {n: 3}) for _ in range(2)]
        options = tf.RunOptions(timeout_in_ms=150)
        return results, raised(lambda: sess.run(update, {n: 2**60}, options)), sess.run(v), sess.run(update, {n: 0})


_SIZES = (6, 5, 2, 6, 6)  # such as batches, of which the last one is smaller


def _drawn(tf: Any, n: Any) -> list[Any]:
    """Draws as many numbers as are asked for; a run continues where the last one ended."""
    return [tf.random.uniform([n], seed=3), tf.random.normal([2, n], seed=4),
            tf.nn.dropout(tf.ones([n]), rate=0.5, seed=3),
            tf.random.shuffle(tf.range(n), seed=1), tf.random.truncated_normal([n], seed=5),
            tf.random.uniform([n], maxval=9, dtype=tf.int32, seed=2), tf.random.gamma([n], 0.7, seed=8)]


@case("graph")
def draws_of_several_sizes_in_a_session(tf: Any) -> Any:
    n = tf.placeholder(tf.int32, [])
    drawn = _drawn(tf, n)
    with tf.Session() as sess:
        return [sess.run(drawn, {n: size}) for size in _SIZES]


@case("eager")
def draws_of_several_sizes_in_a_function(tf: Any) -> Any:
    tf.random.set_seed(7)
    drawn = tf.function(lambda n: _drawn(tf, n), input_signature=[tf.TensorSpec([], tf.int32)])
    return [drawn(size) for size in _SIZES]


def _orders(tf: Any, dataset: Any) -> list[Any]:
    return [[v.numpy().tolist() for v in dataset] for _ in range(2)]


@case("eager")
def shuffled_passes_of_which_nothing_is_taken(tf: Any) -> Any:
    """An order is drawn where a pass begins, not where its first element is taken."""
    tf.random.set_seed(1)
    found = []
    for chain in (lambda d: d, lambda d: d.batch(5), lambda d: d.repeat(2).batch(5), lambda d: d.map(lambda x: x + 1),
                  lambda d: d.prefetch(2).filter(lambda x: x > 1),
                  lambda d: tf.data.Dataset.zip((d, d)).map(lambda a, b: a * 100 + b),
                  lambda d: d.concatenate(d), lambda d: d.take(4).cache()):
        dataset = chain(tf.data.Dataset.range(12).shuffle(5, seed=1))
        iter(dataset)
        found.append(_orders(tf, dataset))
    inner = tf.data.Dataset.range(6).shuffle(5, seed=1)
    mixed = tf.data.Dataset.range(3).interleave(lambda i: inner, cycle_length=2)
    return [*found, _orders(tf, mixed), _orders(tf, inner)]


@case("eager")
def iterators_that_are_arguments(tf: Any) -> Any:
    """A function is traced once for all iterators over a data set, and its draws continue."""
    tf.random.set_seed(1)
    traced = []

    @tf.function
    def step(iterator: Any) -> Any:
        traced.append(1)
        return tf.nn.dropout(tf.cast(next(iterator), tf.float32) + 1.0, rate=0.5, seed=3)

    @tf.function
    def total(iterator: Any) -> Any:
        return tf.reduce_sum(next(iterator))

    dataset = tf.data.Dataset.range(12).shuffle(5, seed=1).batch(5)
    found = []
    for _ in range(3):
        iterator = iter(dataset)
        found.append([step(iterator), step(iterator), total(iterator)])
    fixed = iter(tf.data.Dataset.range(12).batch(5, drop_remainder=True))  # a more specific kind
    return [found, step(fixed), len(traced), isinstance(iterator, tf.data.Iterator)]
