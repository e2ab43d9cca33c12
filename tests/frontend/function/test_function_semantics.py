"""What `tf.function` promises: when it traces, what it captures, how tapes see it, and what it refuses."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.frontend.function.function import Function
from graphgrad.ir import context


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with context.use(context.EAGER):
        yield


def _numpy(f: Any, **options: Any) -> Function:
    """A function that NumPy executes, which spares compiling."""
    return Function(f, engine="numpy", **options)


# -- tracing ---------------------------------------------------------------------------


def test_a_trace_for_each_signature() -> None:
    """Tensors and arrays count by dtype and shape, Python values by type and value, objects by identity."""
    traces: list[Any] = []

    def f(x, k=2, *, flag=None):
        traces.append(x)
        return tf.convert_to_tensor(1)

    g = _numpy(f)

    class Thing:
        pass

    a, b = Thing(), Thing()
    groups = [
        [(tf.constant([1.0]),), (tf.constant([2.0]),), (np.ones(1, np.float32),), (tf.constant([1.0]), 2)],
        [(tf.constant([1.0, 2.0]),)],
        [(tf.constant([1]),)],
        [(np.float64(3.0),), (np.float64(4.0),)],
        [(3,), (3,)],
        [(4,)],
        [(3.5,)],
        [("text",)],
        [(None,)],
        [(a,), (a,)],
        [(b,)],
        [([tf.constant(1), 2],), ([tf.constant(5), 2],)],
        [((tf.constant(1), 2),)],
        [({"a": tf.constant(1)},)],
        [(3, 5)],
    ]
    for n, calls in enumerate(groups, 1):
        for call in calls:
            g(*call)
        assert len(traces) == n == g.experimental_get_tracing_count()
    g(3, flag=True)
    assert len(traces) == len(groups) + 1
    with pytest.raises(TypeError, match=r"Could not generate a generic TraceType for \{1, 2\}(?s:.*)tuple"):
        g({1, 2})


def test_objects_are_not_kept() -> None:
    """Arguments are remembered by weak references, and a method's traces go with the object."""

    class Thing:
        @tf.function
        def method(self, x):
            return x

    f = _numpy(lambda thing, x: x)
    thing = Thing()
    f(thing, 1)
    thing.method(1)
    gone = weakref.ref(thing)
    del thing
    gc.collect()
    assert gone() is None
    other = Thing()
    f(other, 1)
    assert f.experimental_get_tracing_count() == 2
    assert int(Thing().method(7)) == 7


def test_reduce_retracing() -> None:
    """Dimensions that differ between calls become unknown."""
    shapes: list[Any] = []

    def f(x):
        shapes.append(x.shape)
        return tf.reduce_sum(x)

    g = _numpy(f, reduce_retracing=True)
    for n in (1, 2, 3, 4):
        assert float(g(tf.ones([n]))) == n
    assert [s.as_list() for s in shapes] == [[1], [None]]
    assert float(g(tf.ones([2, 2]))) == 4.0
    assert float(g(tf.ones([3, 3]))) == 9.0
    assert len(shapes) == 3


def test_a_trace_for_wider_shapes_serves() -> None:
    """A concrete function made for unknown dimensions is used for known ones."""
    f = _numpy(lambda x: x * 2.0)
    f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    np.testing.assert_array_equal(f(tf.constant([1.0, 2.0])), [2.0, 4.0])
    np.testing.assert_array_equal(f(tf.constant([1.0])), [2.0])
    assert f.experimental_get_tracing_count() == 1


def test_structured_signatures() -> None:
    """Signatures may be nested; what does not fit is refused."""

    def f(d, n):
        return d["a"] * tf.cast(n, tf.float32)

    g = _numpy(f, input_signature=[{"a": tf.TensorSpec([None])}, tf.TensorSpec([], tf.int32)])
    np.testing.assert_array_equal(g({"a": [1.0, 2.0]}, 3), [3.0, 6.0])
    np.testing.assert_array_equal(g(d={"a": tf.ones([1])}, n=2), [2.0])
    assert g.experimental_get_tracing_count() == 1
    for args, text in [
        (({"b": tf.ones([3])}, 3), "Binding inputs to tf.function f failed(?s:.*)other keys"),
        (({"a": tf.ones([3])},), "missing a required argument: 'n'(?s:.*)Fix"),
        ((1, 2, 3), "too many positional arguments"),
        (({"a": tf.ones([3, 3])}, 3), r"shape \(3, 3\) is not compatible"),
        (({"a": tf.ones([3])}, "x"), "can not cast 'x'"),
    ]:
        with pytest.raises(TypeError, match=text):
            g(*args)
    with pytest.raises(TypeError, match="input_signature must be either a tuple or a list"):
        tf.function(f, input_signature=3)


def test_concrete_functions() -> None:
    """They take the tensors of their signature by position or name, and show what they are."""
    f = _numpy(lambda x, y=2, *, z=None: {"sum": x + 1.0, "list": [x * y, 3]})
    c = f.get_concrete_function(tf.TensorSpec([None], tf.float32, name="inp"), 3)
    for result in (c(tf.constant([2.0])), c(inp=tf.constant([2.0])), c(tf.constant([2.0]), 3)):
        np.testing.assert_array_equal(result["list"][0], [6.0])
    (spec, three), keywords = c.structured_input_signature
    assert (spec, three, keywords) == (tf.TensorSpec([None], tf.float32), 3, {"z": None})
    assert c.structured_outputs["sum"].shape.as_list() == [None] and len(c.outputs) == 3
    assert [t.op.name for t in c.inputs] == ["inp"] and c.captured_inputs == []
    assert "(x: TensorSpec(shape=(None,), dtype=tf.float32, name=None), y: Literal[3]" in repr(c)
    assert c.graph.building_function
    for args in [(), (tf.constant([2.0]), 4), (tf.constant([2.0]), 3, 5)]:
        with pytest.raises(TypeError, match=r"Binding inputs to tf.function failed(?s:.*)inp(?s:.*)Fix"):
            c(*args)
    with pytest.raises(TypeError, match="expected argument inp to be a Tensor; got list"):
        c([1.0])


def test_arguments_of_concrete_functions_are_converted_and_fit() -> None:
    """As in TensorFlow 2.21, where only the shapes of eager tensors are not compared."""
    c = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None], tf.float32)]).get_concrete_function()

    def inside(given: Any) -> Any:
        return tf.function(lambda: c(given))()

    for given in ([1.0], (1.0,), [1], np.array([1.0]), np.array([1]), tf.constant([1.0]), tf.Variable([1.0])):
        np.testing.assert_array_equal(c(given), [2.0])
        np.testing.assert_array_equal(c(x=given), [2.0])
        np.testing.assert_array_equal(inside(given), [2.0])
    np.testing.assert_array_equal(c(tf.constant([[1.0]])), [[2.0]])
    for given, text in [(1, r"have a shape like \(None,\); got \(\)"), ([[1.0]], "have a shape"), ("a", "be a Tensor"),
                        (None, "be a Tensor")]:
        for call in (c, inside):
            with pytest.raises(TypeError, match=f"Binding inputs to tf.function(?s:.*)expected argument x to {text}"):
                call(given)
    with pytest.raises(TypeError, match="have a shape like"):
        tf.function(lambda x: c(x))(tf.constant([[1.0]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32 tensor but is a int32"):
        c(tf.constant([1]))


def test_concrete_functions_capture_and_nest() -> None:
    """Variables are captured; a concrete function can be called in another function, and differentiated there."""
    v = tf.Variable(3.0)
    big = tf.constant(np.arange(6.0))
    c = _numpy(lambda x: x * v * x + tf.cast(tf.reduce_sum(big), tf.float32)).get_concrete_function(tf.TensorSpec([]))
    assert c.variables == (v,) == c.trainable_variables and len(c.captured_inputs) == 2

    @_numpy
    def outer(x):
        v.assign_add(1.0)
        y = c(x)
        return y, tf.gradients(y, [x, v])

    y, (dx, dv) = outer(tf.constant(2.0))
    assert [float(t) for t in (y, dx, dv)] == [31.0, 16.0, 4.0]
    assert float(v) == 4.0


def test_sparse_arguments() -> None:
    """Sparse tensors are arguments and results."""
    f = _numpy(lambda s: (tf.sparse.to_dense(s), s))
    dense, s = f(tf.SparseTensor([[0, 1]], [2.0], [2, 3]))
    np.testing.assert_array_equal(dense, [[0, 2, 0], [0, 0, 0]])
    np.testing.assert_array_equal(s.indices, [[0, 1]])
    f(tf.SparseTensor([[0, 1], [1, 1]], [2.0, 3.0], [2, 3]))
    assert f.experimental_get_tracing_count() == 1


# -- state -----------------------------------------------------------------------------


def test_variables_are_created_once() -> None:
    """On the first call, which traces twice if it does; later, and anew in each trace, is refused."""
    text = "tf.function only supports singleton tf.Variables created on the first call(?s:.*)Fix"
    with pytest.raises(ValueError, match=text):
        _numpy(lambda x: tf.Variable(1.0) * x)(1.0)
    kept: list[Any] = []
    traces: list[int] = []

    def f(x):
        traces.append(1)
        if not kept or x.shape == (2,):
            kept.append(tf.Variable(3.0))
        return x * kept[0]

    g = _numpy(f)
    assert float(g(tf.constant(2.0))) == 6.0 and len(traces) == 2
    with pytest.raises(ValueError, match=text):
        g(tf.ones([2]))


def test_init_scope_and_eager_functions() -> None:
    """`init_scope` leaves the function; `run_functions_eagerly` traces nothing."""
    seen: list[Any] = []

    @_numpy
    def f(x):
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
        seen.append(tf.executing_eagerly())
        return x

    f(tf.constant(1.0))
    assert seen == [True, False]
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        f(tf.constant(1.0))
        f(tf.constant(1.0))
    finally:
        tf.config.run_functions_eagerly(False)
    assert seen == [True, False] + [True] * 4


def test_recursion() -> None:
    """On Python numbers it ends; on tensors it would not, and is refused."""

    @_numpy
    def power(x, n):
        return x * power(x, n - 1) if n > 0 else tf.ones_like(x)

    assert float(power(tf.constant(2.0), 5)) == 32.0

    @_numpy
    def down(n):
        if n > 0:
            return down(n - 1)
        return n

    with pytest.raises(RecursionError, match="down calls itself(?s:.*)Fix: use a loop"):
        down(tf.constant(3))


def test_effects_in_program_order() -> None:
    """Reads, assignments, prints, assertions and Python functions happen as written, also in branches and loops."""
    log: list[float] = []
    v = tf.Variable(1.0)

    @_numpy
    def f(n):
        before = v + 0.0
        v.assign_add(1.0)
        tf.numpy_function(lambda a: log.append(float(a)), [v], [])
        for _ in tf.range(n):
            v.assign(v * 2.0)
            tf.numpy_function(lambda a: log.append(float(a)), [v], [])
        if v > 5.0:
            v.assign_sub(1.0)
        after = v + 0.0
        v.assign(before)
        return before, after

    before, after = f(tf.constant(2))
    assert (float(before), float(after), float(v)) == (1.0, 7.0, 1.0)
    assert log == [2.0, 4.0, 8.0]


def test_order_beside_a_gradient_of_an_outer_loop() -> None:
    """Neither a read before nor one after passes the assignment of a branch, where the other one differentiates."""
    v = tf.Variable([1.2, 0.3])

    @_numpy
    def f(x):
        def row(r):
            return tf.reduce_sum(tf.map_fn(lambda q: q * tf.reduce_sum(v.assign_add([0.0, 0.1])), x * r))

        y = tf.map_fn(row, x)
        before = v + 0.0
        tf.cond(x[0] < 0, lambda: v.assign(x), lambda: tf.compat.v1.gradients(y, x)[0])
        return before, v + 0.0

    for value in ([-0.5, 0.5], [0.5, 0.5]):
        v.assign([1.2, 0.3])
        before, after = f(tf.constant(value))
        np.testing.assert_allclose(before, [1.2, 0.7], rtol=1e-6)
        np.testing.assert_allclose(after, value if value[0] < 0 else [1.2, 0.7], rtol=1e-6)


# -- tapes -----------------------------------------------------------------------------


def test_a_tape_sees_one_operation() -> None:
    """Under a tape a function is traced as anywhere; its gradient runs compiled, with what the forward pass kept."""
    traces: list[int] = []
    v = tf.Variable(2.0)

    @tf.function
    def f(x, y):
        traces.append(1)
        return {"a": tf.sin(x) * v, "b": tf.cast(x, tf.int32), "c": y}

    for _ in range(2):
        x = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            out = f(x, 3.0)
            loss = out["a"] * out["a"]
            v.assign(5.0)  # too late to matter for the gradient
        dx, dv = tape.gradient(loss, [x, v])
        np.testing.assert_allclose(dx, 8.0 * np.sin(1.0) * np.cos(1.0), rtol=1e-6)
        np.testing.assert_allclose(dv, 4.0 * np.sin(1.0) ** 2, rtol=1e-6)
        v.assign(2.0)
    assert len(traces) == 1


@pytest.mark.parametrize("program", ["plain", "loop", "branch", "gather", "custom"])
def test_three_orders_through_a_function(program: str) -> None:
    """Tapes in tapes: each derivative is what the function run step by step has."""
    table = tf.Variable([1.0, 2.0, 3.0], dtype=tf.float64)

    @tf.custom_gradient
    def cube(x):
        square = x * x
        return square * x, lambda dy: dy * 3.0 * square

    def f(x):
        if program == "plain":
            return tf.sin(x) * tf.exp(x * 0.3)
        if program == "loop":
            y = x
            for _ in tf.range(3):
                y = tf.sin(y) * x
            return y
        if program == "branch":
            return tf.sin(x) * x if x > 0.0 else x
        if program == "gather":
            return tf.reduce_sum(tf.gather(table, [0, 2, 2]) * x * x)
        return cube(x) * x

    def derivatives(g: Any) -> list[float]:
        x = tf.constant(0.7, tf.float64)
        with tf.GradientTape() as t3:
            t3.watch(x)
            with tf.GradientTape() as t2:
                t2.watch(x)
                with tf.GradientTape() as t1:
                    t1.watch(x)
                    y = g(x)
                first = t1.gradient(y, x)
            second = t2.gradient(first, x)
        third = t3.gradient(second, x, unconnected_gradients="zero")
        return [float(t) for t in (y, first, second, third)]

    np.testing.assert_allclose(derivatives(_numpy(f)), derivatives(f), rtol=1e-9)


def test_slices_and_jacobians_through_a_function() -> None:
    """Gathered variables get slices; Jacobians run the function's gradient for all rows at once."""
    table = tf.Variable(np.arange(6.0).reshape(3, 2))
    f = _numpy(lambda i: tf.gather(table, i) * 2.0)
    with tf.GradientTape() as tape:
        y = f(tf.constant([2, 2]))
    g = tape.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(g), [[0, 0], [0, 0], [4, 4]])
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = _numpy(lambda x: x * x * tf.reduce_sum(x))(x)
    np.testing.assert_allclose(tape.jacobian(y, x), [[7.0, 1.0], [4.0, 16.0]])


def test_random_numbers_of_the_gradient() -> None:
    """The gradient belongs to the numbers that the forward pass drew."""

    @_numpy
    def f(x):
        return tf.reduce_sum(x * tf.random.uniform([4]))

    for _ in range(3):
        x = tf.ones([4])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        np.testing.assert_allclose(tf.reduce_sum(tape.gradient(y, x)), y, rtol=1e-6)


def test_custom_gradients_in_loops_and_branches() -> None:
    """A gradient function may use tensors of the function around it, wherever that is copied to."""

    @tf.custom_gradient
    def clipped(x):
        e = tf.exp(x)
        return e, lambda dy: dy * tf.minimum(e, 2.0)

    @_numpy
    def f(x):
        y = x
        for _ in tf.range(2):
            if y < 100.0:
                y = clipped(y) * 0.5
        return y, tf.gradients(y, x)[0]

    y, g = f(tf.constant(1.0))
    first = np.exp(1.0) * 0.5
    np.testing.assert_allclose(y, np.exp(first) * 0.5, rtol=1e-6)
    np.testing.assert_allclose(g, 2.0 * 0.5 * 2.0 * 0.5, rtol=1e-6)


def test_custom_gradients_with_variables() -> None:
    """`custom_gradient` and `recompute_grad` around functions that use variables, in a function and under a tape."""
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def scaled(x):
        def grad(dy, variables=None):
            return dy * w * 10.0, [dy * x * 100.0 for _ in variables]

        return x * w, grad

    again = tf.recompute_grad(lambda x: tf.sin(x * w))

    @_numpy
    def f(x):
        return scaled(x) + again(x)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    dx, dw = tape.gradient(y, [x, w])
    np.testing.assert_allclose(dx, 20.0 + 2.0 * np.cos(6.0), rtol=1e-6)
    np.testing.assert_allclose(dw, 300.0 + 3.0 * np.cos(6.0), rtol=1e-6)


# -- modules ---------------------------------------------------------------------------


class Layer(tf.Module):
    def __init__(self, name: str | None = None):
        super().__init__(name)
        with self.name_scope:
            self.w = tf.Variable(1.0, name="w")
            self.count = tf.Variable(0, trainable=False)

    @tf.function
    def __call__(self, x: Any) -> Any:
        self.count.assign_add(1)
        return self.w * x


class TwoLayers(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = [Layer("first"), {"b": Layer()}]
        self.again = self.parts[0]

    @tf.Module.with_name_scope
    def make(self) -> str:
        return tf.Variable(1.0, name="v").name


def test_modules() -> None:
    """Variables and modules are found in attributes, nested ones too, each once."""
    model = TwoLayers()
    assert model.name == "two_layers" and [m.name for m in model.submodules] == ["first", "layer"]
    assert [v.name for v in model.variables] == ["first/Variable:0", "first/w:0", "layer/Variable:0", "layer/w:0"]
    assert len(model.trainable_variables) == 2 == len(model.non_trainable_variables)
    assert model.make() == "two_layers/v:0"
    layer = model.parts[0]
    assert float(layer(tf.constant(2.0))) == 2.0 and int(layer.count) == 1
    with pytest.raises(ValueError, match="'a-b' is not a valid module name"):
        tf.Module("a-b")


def test_shapes_of_sparse_arguments() -> None:
    """A trace knows the dense shape; relaxed traces know what all shapes have in common, as in TensorFlow."""
    seen: list[Any] = []

    def f(s: Any) -> Any:
        seen.append(s.shape.as_list())
        return tf.sparse.to_dense(s)

    for traced in (tf.function(f), tf.function(f, reduce_retracing=True)):
        for rows in (1, 2, 3, 2):
            assert traced(tf.sparse.from_dense([[1.0, 0.0]] * rows)).shape == (rows, 2)
    assert seen == [[1, 2], [2, 2], [3, 2], [1, 2], [None, 2]]
