"""Operations for which `gradient_override_map` gives another gradient: where they may be built, read, written."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from ..harness import case, raised


def _registered(tf: Any, name: str) -> str:
    """Registers a gradient, once in a process."""
    with contextlib.suppress(KeyError):
        tf.RegisterGradient(name)(lambda op, dy: -5.0 * dy)
    return name


def _places(tf: Any) -> dict[str, Any]:
    """Ways to apply relu: name -> a function of x and p, which is 1."""
    relu = tf.nn.relu
    return {
        "plain": lambda x, p: relu(x) * 2.0,
        "branch": lambda x, p: tf.cond(p > 0, lambda: relu(x) * 2.0, lambda: x),
        "loop": lambda x, p: tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, relu(v) * 2.0), [0, x])[1],
        "scan": lambda x, p: tf.scan(lambda a, e: a + relu(e), x, initializer=0.0),
        "map": lambda x, p: tf.map_fn(lambda e: relu(e) * 2.0, x),
        "vectorized map": lambda x, p: tf.vectorized_map(lambda e: relu(e) * 2.0, x),
        "nested": lambda x, p: tf.while_loop(lambda i, v: i < 2, lambda i, v: (
            i + 1, tf.cond(p > 0, lambda: relu(v) * 2.0, lambda: v)), [0, x])[1],
        "case": lambda x, p: tf.case([(p > 5, lambda: x)], default=lambda: relu(x)),
        "numbered case": lambda x, p: tf.switch_case(tf.cast(p, tf.int32), [lambda: x, lambda: relu(x)]),
        "recomputed": lambda x, p: tf.recompute_grad(lambda v: relu(v) * 2.0)(x),
        "function": lambda x, p: tf.function(lambda v: relu(v) * 2.0)(x),
    }


def _gradients(tf: Any, asked_inside: bool) -> dict[str, Any]:
    """The gradients of all places with relu's gradient overridden; three runs of each."""
    name = _registered(tf, "MinusFive")
    found = {}
    for place, build in _places(tf).items():
        with tf.Graph().as_default() as g, tf.Session() as sess:
            x = tf.placeholder_with_default(tf.constant([1.0, -1.0, 2.0]), [3])
            p = tf.placeholder_with_default(1.0, [])
            with g.gradient_override_map({"Relu": name}):
                y = build(x, p)
                dx = tf.gradients(y, x)[0] if asked_inside else None
            dx = tf.gradients(y, x)[0] if dx is None else dx
            found[place] = [sess.run(dx) for _ in range(3)]
    return found


@case("graph")
def in_sub_graphs(tf: Any) -> Any:
    return _gradients(tf, False)


@case("graph")
def in_sub_graphs_and_the_gradient_too(tf: Any) -> Any:
    return _gradients(tf, True)


@case("graph")
def in_sub_graphs_of_the_old_control_flow(tf: Any) -> Any:
    tf.disable_control_flow_v2()
    try:
        return _gradients(tf, False), _gradients(tf, True)
    finally:
        tf.enable_control_flow_v2()


@case("graph")
def in_branches_that_are_read(tf: Any) -> Any:
    """A net's branch, such as one for training, in a graph that is read: the old control flow's is overridden."""
    found = []
    for old in (False, True):
        (tf.disable_control_flow_v2 if old else tf.enable_control_flow_v2)()
        try:
            for place in ("plain", "branch"):
                with tf.Graph().as_default() as g:
                    x, p = tf.placeholder(tf.float32, [3], "x"), tf.placeholder_with_default(1.0, [], "p")
                    tf.identity(_places(tf)[place](x, p), "y")
                    message = g.as_graph_def()
                with tf.Graph().as_default() as g, tf.Session() as sess:
                    x = tf.constant([1.0, -1.0, 2.0])
                    with g.gradient_override_map({"Relu": _registered(tf, "MinusFive")}):
                        y, = tf.import_graph_def(message, {"x": x}, ["y:0"])
                    found.append([sess.run(tf.gradients(y, x)) for _ in range(3)])
        finally:
            tf.enable_control_flow_v2()
    return found


def _model(tf: Any) -> Any:
    """The messages of relu(x) twice over, doubled; the second relu stands in a loop."""
    with tf.Graph().as_default() as g:
        x = tf.placeholder(tf.float32, [3], "x")
        y = tf.nn.relu(tf.nn.relu(x, name="first"), name="second")
        tf.identity(y * 2.0, "z")
        return g.as_graph_def(), tf.train.export_meta_graph()


def _read(tf: Any, message: Any, meta: Any, **blocks: Any) -> Any:
    """Reads both messages within blocks; operations' attributes, control inputs and the gradients."""
    graph = tf.get_default_graph()
    a = tf.constant([1.0, -1.0, 2.0])
    before = tf.no_op("before")
    with graph.gradient_override_map({"Relu": _registered(tf, "MinusFive")}), tf.control_dependencies([before]):
        z, = tf.import_graph_def(message, {"x": a}, ["z:0"], name="i")
        tf.train.import_meta_graph(meta, import_scope="m", input_map={"x:0": a})
        after = tf.identity(z, "after")
    found: list[Any] = [[op.name for op in after.op.control_inputs]]
    for name in ("i/first", "i/z", "m/second"):
        op = graph.get_operation_by_name(name)
        mark = [str(v.s) for k, v in op.node_def.attr.items() if k == "_gradient_op_type"]
        found.append([[c.name for c in op.control_inputs], mark])
    grads = [tf.gradients(z, a)[0], tf.gradients(graph.get_tensor_by_name("m/z:0"), a)[0]]
    with tf.Session() as sess:
        return found, [sess.run(grads) for _ in range(3)]


@case("graph")
def in_graphs_that_are_read(tf: Any) -> Any:
    return _read(tf, *_model(tf))


@case("graph")
def in_graphs_that_are_written_and_read_again(tf: Any) -> Any:
    _read(tf, *_model(tf))
    written = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as g, tf.Session() as sess:
        z, = tf.import_graph_def(written, None, ["i/z:0"], name="again")
        return [sess.run(tf.gradients(z, g.get_tensor_by_name("again/Const:0"))) for _ in range(3)]


@case("graph")
def assignments_before_a_graph_that_is_read(tf: Any) -> Any:
    """What is read waits for the control inputs around."""
    with tf.Graph().as_default() as g:
        x = tf.placeholder(tf.float32, [2], "x")
        tf.identity(x * x, "z")
        message = g.as_graph_def()
    v = tf.get_variable("v", initializer=np.array([1.0, 2.0], np.float32), use_resource=True)
    with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
        read = v.read_value()
        z, = tf.import_graph_def(message, {"x:0": read}, ["z:0"])
        dz = tf.gradients(z, read)[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([z, dz]) for _ in range(3)]


@case("graph")
def gradients_of_ones_own_in_graphs_that_are_read(tf: Any) -> Any:
    """A graph's message names them; the process that wrote it finds them, another one says what is missing."""
    @tf.custom_gradient
    def doubled(x: Any) -> Any:
        return x * 2.0, lambda dy: dy * 100.0

    @tf.custom_gradient
    def exponential(x: Any) -> Any:
        y = tf.exp(x)
        return y, lambda dy: dy * y * 10.0  # of the graph that it was built in

    def slope(message: Any) -> Any:
        with tf.Graph().as_default() as g, tf.Session() as sess:
            tf.import_graph_def(message, name="")
            y, x = g.get_tensor_by_name("y:0"), g.get_tensor_by_name("x:0")
            return [sess.run(tf.gradients(y, x), {x: 1.0}) for _ in range(3)]

    found = []
    for function in (doubled, exponential):
        with tf.Graph().as_default() as g:
            tf.identity(function(tf.placeholder(tf.float32, [], "x")), "y")
            message = g.as_graph_def()
        found.append(raised(lambda m=message: slope(m)) if function is exponential else slope(message))
        for node in message.node:
            if "_gradient_op_type" in node.attr:
                node.attr["_gradient_op_type"].s = b"CustomGradient-999999"
        found.append(raised(lambda m=message: slope(m)))
    return found
