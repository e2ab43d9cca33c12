"""What public programs do in passing: shapes of `Dimension`s, classes asked about, attributes read, graphs written."""

from __future__ import annotations

from typing import Any

import numpy as np

from .harness import case, raised


def _runs(tf: Any, fetches: Any, feed: Any = None) -> list[Any]:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches, feed) for _ in range(3)]


@case("graph")
def classes_asked_about(tf: Any) -> Any:
    base = tf.train.Optimizer
    return [
        issubclass(getattr(tf.train, name), base)
        for name in (
            "ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer", "SyncReplicasOptimizer", "FtrlOptimizer",
            "AdagradDAOptimizer", "RMSPropOptimizer", "AdadeltaOptimizer",
        )
    ]  # fmt: skip


@case("graph")
def dimensions_in_shapes(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 2, 3])
    _, d1, d2 = x.shape if hasattr(x.shape[1], "value") else tf.TensorShape(x.shape)
    dim1, dim2 = tf.Dimension(2), tf.Dimension(3)
    n = tf.shape(x)[0]
    fetches = [
        tf.reshape(x, [-1, dim1 * dim2]),
        tf.reshape(x, [n, dim1 * dim2]),
        tf.reshape(x, (-1, d1 * d2)),
        tf.tile(tf.ones([2, 1]), [1, dim2]),
        tf.tile(tf.ones([2, 1]), [n, dim2]),
        tf.range(dim2),
        tf.range(dim1, dim2 + 4),
        tf.zeros([dim1, dim2]),
        tf.zeros([n, dim2]),
        tf.fill([dim1, 2], 7.0),
        tf.ones(dim2),
        tf.constant(1.0, shape=[dim1]),
        tf.concat([tf.ones([dim1, dim2]), tf.zeros([2, 3])], axis=0),
        tf.one_hot([0, 1], dim2),
        tf.slice(x, [0, 0, 0], [-1, dim1, 1]),
        tf.expand_dims(tf.ones([3]), 0) * tf.ones([dim1, dim2]),
        tf.stack([n, dim1, dim2]),
        tf.convert_to_tensor(dim2),
        tf.reshape(x, [-1, dim2 // 2, dim1 * 3]),
    ]
    return _runs(tf, fetches, {x: np.arange(12.0).reshape(2, 2, 3)})


@case("graph")
def dimensions_beside_numbers(tf: Any) -> Any:
    d, x = tf.Dimension(3), tf.constant([2.0])
    i = tf.constant(2)
    return [
        raised(lambda: x * d), raised(lambda: i * d), raised(lambda: d * i), raised(lambda: tf.multiply(i, d)),
        raised(lambda: tf.cast(d, tf.float32)), raised(lambda: tf.to_float(d)), raised(lambda: tf.sqrt(d)),
        raised(lambda: tf.constant(d, tf.float32)), raised(lambda: tf.reshape(x, d)), raised(lambda: hash(d)),
        raised(lambda: tf.zeros([tf.Dimension(None)])), raised(lambda: tf.range(tf.Dimension(None))),
        raised(lambda: tf.equal(i, d)), raised(lambda: tf.constant([d, 2.5])),
    ]  # fmt: skip


@case("graph")
def reshape_to_the_shape_of_a_scalar(tf: Any) -> Any:
    t, s = tf.constant([5.0]), tf.constant(1.0)
    y = tf.reshape(t, s.shape)
    return _runs(tf, [y, tf.gradients(y, t), tf.zeros(s.shape), tf.fill(s.get_shape(), 2), tf.ones([])])


@case("graph")
def a_length_as_a_shape(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 2])
    n = tf.shape(x)[0]
    fetches = [tf.zeros(n), tf.ones(n), tf.fill([n], 3), tf.zeros([n]), tf.zeros(tf.size(x), tf.int32)]
    static = [f.shape.as_list() for f in fetches]
    return static, _runs(tf, fetches, {x: np.ones((3, 2))})


@case("graph")
def sparse_placeholder_with_a_shape(tf: Any) -> Any:
    out = []
    for shape in (tf.constant([2, 3], tf.int64), [2, 3], (None, 3), None, tf.TensorShape([2, 3])):
        s = tf.sparse_placeholder(tf.float32, shape=shape)
        y = tf.sparse_reduce_sum(s)
        value = tf.SparseTensorValue(np.array([[0, 1], [1, 2]]), np.array([1.0, 2.0]), np.array([2, 3]))
        out.append([s.get_shape().as_list() if s.get_shape().rank else None, _runs(tf, y, {s: value})])
    return out


@case("graph")
def padding_as_bytes(tf: Any) -> Any:
    x, k = tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1])
    fetches = [
        tf.nn.conv2d(x, k, [1, 1, 1, 1], b"SAME"), tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], b"VALID"),
        tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], padding=b"SAME"),
        tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], b"SAME"),
    ]  # fmt: skip
    return _runs(tf, fetches)


@case("graph")
def integers_with_numpy_scalars(tf: Any) -> Any:
    i = tf.constant([2, 3])
    return [
        raised(lambda: i * np.float64(2.0)), raised(lambda: tf.less(i, np.floor(3.7))),
        raised(lambda: i + np.float32(1.5)), raised(lambda: i + 1.0), raised(lambda: np.float64(2.0) * i),
        raised(lambda: i * np.int64(2)), raised(lambda: tf.constant(1.0) * np.int32(2)),
    ] + _runs(tf, [i * np.float64(2.0), tf.less(i, np.floor(3.7)), i * np.int64(2), i + np.float64(1.5)])  # fmt: skip


@case("graph")
def integer_results_of_registered_gradients(tf: Any) -> Any:
    if "ProgramsIntegers" not in _REGISTERED.setdefault(tf.__name__, set()):
        _REGISTERED[tf.__name__].add("ProgramsIntegers")

        @tf.RegisterGradient("ProgramsIntegers")
        def _integers(op: Any, dy: Any) -> Any:
            return tf.constant(3)

    x = tf.constant(2.0)
    with tf.get_default_graph().gradient_override_map({"Identity": "ProgramsIntegers"}):
        y = tf.identity(x)
    g = tf.gradients(y, x)[0]
    return g.dtype.name, _runs(tf, g), raised(lambda: _runs(tf, tf.gradients(y * 2.0, x)))


_REGISTERED: dict[str, set[str]] = {}


@case("graph")
def scopes_whose_reuse_is_set(tf: Any) -> Any:
    def net(x: Any) -> Any:
        return tf.get_variable("w", initializer=2.0) * x

    with tf.variable_scope("a") as scope:
        y = net(1.0)
        scope.reuse_variables()
        z = net(2.0)
        scope._reuse = None
        reuse = scope.reuse
        again = raised(lambda: net(3.0))
    with tf.variable_scope("b"):
        tf.get_variable_scope()._reuse = None
        w = net(5.0)
        tf.get_variable_scope()._reuse = True
        u = net(7.0)
    tf.get_variable_scope()._reuse = None
    return reuse, again, _runs(tf, [y, z, w, u]), [v.name for v in tf.global_variables()]


@case("graph")
def literal_matches(tf: Any) -> Any:
    class Case(tf.test.TestCase):
        def runTest(self) -> None:
            def fail() -> None:
                raise ValueError("a (b) c")

            self.assertRaisesWithLiteralMatch(ValueError, "a (b) c", fail)
            with self.assertRaisesWithLiteralMatch(ValueError, "a (b) c"):
                fail()
            self.assertRaises(AssertionError, self.assertRaisesWithLiteralMatch, ValueError, "(b)", fail)

    result = Case().run()
    return [len(result.failures), len(result.errors)]


@case("graph")
def two_cached_sessions_on_two_graphs(tf: Any) -> Any:
    class Case(tf.test.TestCase):
        def runTest(self) -> None:
            for value in (1.0, 2.0):
                with tf.Graph().as_default(), self.cached_session() as sess:
                    x = tf.constant(value)
                    out.append([sess.run(x * x + x), x.graph is sess.graph])
            with tf.Graph().as_default() as graph:
                self.assertRaises(ValueError, lambda: self.cached_session(graph=graph).__enter__())
            with self.session(graph=graph) as sess:
                out.append([sess.run(tf.constant(3.0)), sess.graph is graph])

    out: list[Any] = []
    result = Case().run()
    return [len(result.errors), len(result.failures), out]


@case("graph", rtol=1e-4, atol=1e-5)
def matrices_of_unknown_shape(tf: Any) -> Any:
    value = np.array([[[4.0, 1.0], [2.0, 3.0]]])
    out = []
    for shape in ([1, 2, 2], [None, None, None], [None, 2, 2], None):
        x = tf.placeholder(tf.float64, shape)
        fetches = [
            tf.linalg.lstsq(x, tf.ones([1, 2, 1], tf.float64)), tf.linalg.sqrtm(x), tf.linalg.lu(x)[0],
            tf.linalg.lstsq(x, x), tf.linalg.inv(x),
        ]  # fmt: skip
        out.append(_runs(tf, fetches, {x: value}))
    return out
