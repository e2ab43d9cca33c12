"""What public programs do in passing: shapes of `Dimension`s, classes asked about, attributes read, graphs written."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np

from ..harness import case, raised


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
    ]


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
    ]


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
    ]
    return _runs(tf, fetches)


@case("graph")
def attributes_of_operations(tf: Any) -> Any:
    x, k = tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1])
    conv = tf.nn.conv2d(x, k, [1, 2, 2, 1], "SAME").op
    attr = conv.node_def.attr
    m = tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]), transpose_b=True).op
    p = tf.placeholder(tf.float32, [None, 3]).op
    c = tf.constant([1, 2], name="c").op
    return {
        "padding": [attr["padding"].s, conv.get_attr("padding"), str(type(conv.get_attr("padding")))],
        "data_format": [attr["data_format"].s, conv.get_attr("data_format")],
        "strides": [list(attr["strides"].list.i), conv.get_attr("strides")],
        "T": [attr["T"].type, str(conv.get_attr("T")), m.node_def.attr["T"].type],
        "transpose": [m.node_def.attr["transpose_b"].b, m.get_attr("transpose_a"), m.get_attr("transpose_b")],
        "keys": sorted(k for k in m.node_def.attr if not k.startswith("_") and not k.startswith("grad_")),
        "shape": [[d.size for d in p.node_def.attr["shape"].shape.dim], [d.size for d in p.get_attr("shape").dim]],
        "value": [tf.make_ndarray(c.node_def.attr["value"].tensor), tf.make_ndarray(c.get_attr("value"))],
        "missing": [raised(lambda: c.get_attr("nope")), "nope" in c.node_def.attr],
        "in": ["padding" in attr, attr["explicit_paddings"].list.i[:] == []],
        "node": [conv.node_def.name, conv.node_def.op, list(conv.node_def.input)],
    }


@case("graph")
def default_attributes_are_written(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 4, 4, 1], name="x")
    k = tf.constant(np.ones((2, 2, 1, 1), np.float32), name="k")
    tf.nn.conv2d(x, k, [1, 1, 1, 1], "SAME", name="conv")
    tf.reduce_sum(x, axis=[1], name="sum")
    tf.argmax(x, axis=1, name="argmax")
    tf.cast(x, tf.int32, name="cast")
    tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", name="pool")
    tf.random_uniform([3], seed=1, name="random")
    written = tf.get_default_graph().as_graph_def()
    return {n.name: [n.op, sorted(n.attr)] for n in written.node}


@case("graph")
def integers_with_numpy_scalars(tf: Any) -> Any:
    i = tf.constant([2, 3])
    return [
        raised(lambda: i * np.float64(2.0)), raised(lambda: tf.less(i, np.floor(3.7))),
        raised(lambda: i + np.float32(1.5)), raised(lambda: i + 1.0), raised(lambda: np.float64(2.0) * i),
        raised(lambda: i * np.int64(2)), raised(lambda: tf.constant(1.0) * np.int32(2)),
    ] + _runs(tf, [i * np.float64(2.0), tf.less(i, np.floor(3.7)), i * np.int64(2), i + np.float64(1.5)])


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
def graphs_with_host_functions_are_written(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.py_func(lambda a: a * 2, [x], tf.float32, name="host")
    v = tf.Variable(1.0)
    z = tf.reduce_sum(y) * v
    written = tf.get_default_graph().as_graph_def()
    nodes = [[n.name, n.op] for n in written.node if n.name == "host"]
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, os.path.join(folder, "saved"), {"x": x}, {"z": z})
        there = os.path.exists(os.path.join(folder, "saved", "saved_model.pb"))
        return nodes, there, sess.run(z, {x: [1.0, 2.0]})


@case("graph")
def a_written_host_function_runs_in_its_process(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.py_func(lambda a: a * 2, [x], tf.float32, name="host")
    written = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        (again,) = tf.import_graph_def(written, return_elements=["host:0"])
        here = _runs(tf, again, {"import/x:0": [1.0, 2.0]})
        next(n for n in written.node if n.name == "host").attr["token"].s = b"pyfunc_of_another"
        (other,) = tf.import_graph_def(written, return_elements=["host:0"], name="other")
        elsewhere = raised(lambda: _runs(tf, other, {"other/x:0": [1.0, 2.0]}))
    return here, elsewhere, y.dtype.name


@case("graph")
def monitored_training_with_host_functions(tf: Any) -> Any:
    v = tf.get_variable("v", initializer=1.0)
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(tf.py_func(lambda a: np.float32(a * 2), [v], tf.float32)) + v * v
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    out = []
    with tempfile.TemporaryDirectory() as folder:
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_summaries_steps=1) as sess:
            for _ in range(3):
                sess.run(train)
                out.append(sess.run([v, loss]))
        out.append(sorted({f.split(".")[0].split("-")[0] for f in os.listdir(folder)}))
    return out


@case("graph")
def one_shot_iterators_are_written(tf: Any) -> Any:
    data = tf.data.Dataset.from_tensor_slices(np.arange(3.0)).map(lambda a: a * 2).repeat()
    x = tf.data.make_one_shot_iterator(data).get_next()
    v = tf.get_variable("v", initializer=1.0)
    step = tf.train.get_or_create_global_step()
    bump = v.assign_add(tf.cast(x, tf.float32))
    count = step.assign_add(1)
    with tempfile.TemporaryDirectory() as folder:
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder) as sess:
            out = [sess.run([bump, count]) for _ in range(3)]
    return out


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
    for shape in ([None, None, None], None):
        x = tf.placeholder(tf.float64, shape)
        fetches = [
            tf.linalg.lstsq(x, tf.ones([1, 2, 1], tf.float64)), tf.linalg.sqrtm(x), tf.linalg.lu(x)[0],
            tf.linalg.lstsq(x, x), tf.linalg.inv(x),
        ]
        out.append(_runs(tf, fetches, {x: value}))
    return out


_OPERATORS = {
    "+": lambda a, b: a + b, "*": lambda a, b: a * b, "/": lambda a, b: a / b, "//": lambda a, b: a // b,
    "<": lambda a, b: a < b, "**": lambda a, b: a**b,
}


def _with_numpy(tf: Any, dtypes: tuple[Any, ...]) -> dict[str, Any]:
    """What operators make of a tensor and a NumPy value, on either side: tensors, or the class of an error."""
    others = {
        "float64": np.float64(2.5), "float32": np.float32(2.5), "int64": np.int64(2), "int32": np.int32(2),
        "bool": np.bool_(True), "array": np.array([2.5, 1.5]), "integers": np.array([3, 2]), "scalar": np.array(2.0),
    }
    found: dict[str, Any] = {}
    for dtype in dtypes:
        x = tf.cast([3, 2], dtype)
        for sign, operate in _OPERATORS.items():
            for name, other in others.items():
                for way, pair in (("", (x, other)), (" reflected", (other, x))):
                    try:
                        found[f"{dtype.name} {sign} {name}{way}"] = operate(*pair)
                    except (TypeError, ValueError) as e:
                        found[f"{dtype.name} {sign} {name}{way}"] = type(e).__name__
    return found


@case("graph", rtol=1e-5)
def operators_with_numpy_values(tf: Any) -> Any:
    found = _with_numpy(tf, (tf.int32, tf.int64, tf.float32, tf.float64))
    tensors = {k: v for k, v in found.items() if not isinstance(v, str)}
    with tf.Session() as sess:
        return {**found, **sess.run(tensors)}


@case("eager", rtol=1e-5)
def operators_with_numpy_values_at_once(tf: Any) -> Any:
    return _with_numpy(tf, (tf.int32, tf.float32))


@case("eager")
def lists_of_numpy_numbers(tf: Any) -> Any:
    def make(value: Any) -> Any:
        return tf.constant(value), tf.convert_to_tensor(value)

    return [
        make([np.float64(1.5), np.float64(2.0)]), make([np.float64(1.5), 2]), make([2, np.float64(1.5)]),
        make([np.array([1.5]), np.array([2.5])]), make([np.float32(1.5)]), make([np.int64(3)]), make([True])[0],
        tf.reduce_mean([np.float64(1.0), np.float64(2.0)]), raised(lambda: tf.constant([1.0, [2.0]])),
    ]
