"""`tf.function` and eager tensors, in the 2.x face."""

from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.ir import context


@pytest.fixture(autouse=True)
def eager():
    with context.use(context.EAGER):
        yield


def test_eager_tensors_print_as_tensorflows():
    assert repr(tf.constant(1.0)) == "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>"
    assert repr(tf.constant([1, 2])) == "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>"
    assert str(tf.constant([[1.5]])) == "tf.Tensor([[1.5]], shape=(1, 1), dtype=float32)"
    assert repr(tf.constant("a")) == "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"
    assert repr(tf.constant([[1.0, 2.0], [3.0, 4.0]])) == (
        "<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\narray([[1., 2.],\n       [3., 4.]], dtype=float32)>"
    )


def test_traced_once_for_each_signature():
    traces = []

    @tf.function
    def f(x, k=2):
        traces.append(1)
        return x * k

    np.testing.assert_array_equal(f(tf.constant([1.0, 2.0])), [2, 4])
    np.testing.assert_array_equal(f(tf.constant([3.0, 4.0])), [6, 8])
    assert len(traces) == 1
    f(tf.constant([1.0, 2.0, 3.0]))  # a new shape
    f(tf.constant([1, 2]))  # a new dtype
    f(tf.constant([1.0, 2.0]), k=3)  # a new Python value
    assert len(traces) == 4 == f.experimental_get_tracing_count()


def test_structures_and_none():
    @tf.function
    def f(d):
        return {"sum": d["a"] + d["b"][0], "none": None, "pair": (d["a"], 3)}

    out = f({"a": tf.constant(1.0), "b": [tf.constant(2.0)]})
    assert float(out["sum"]) == 3.0 and out["none"] is None and int(out["pair"][1]) == 3


def test_captures_are_read_at_each_call():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign_add(1.0)
        return x * v

    assert float(f(tf.constant(10.0))) == 20.0
    assert float(f(tf.constant(10.0))) == 30.0
    v.assign(0.0)
    assert float(f(tf.constant(10.0))) == 10.0
    assert float(v) == 1.0


def test_variables_made_on_the_first_call():
    class Model:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(3.0)
            return self.v * x

    m = Model()
    assert float(m(tf.constant(2.0))) == 6.0
    m.v.assign(4.0)
    assert float(m(tf.constant(2.0))) == 8.0


def test_input_signature():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return tf.reduce_sum(x)

    assert float(f([1.0, 2.0])) == 3.0
    assert float(f(tf.constant([1.0, 2.0, 3.0]))) == 6.0
    assert f.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError, match=r"(?s)Binding inputs to tf.function f failed.*\(1, 1\)"):
        f(tf.constant([[1.0]]))
    with pytest.raises(TypeError, match="Binding inputs to tf.function f failed"):
        f(tf.constant([1]))


def test_a_function_within_a_function_and_in_a_graph():
    @tf.function
    def inner(x):
        return x * x

    @tf.function
    def outer(x):
        y = inner(x)
        return tf.gradients(y, x)[0]

    assert float(outer(tf.constant(3.0))) == 6.0
    import graphgrad.compat.v1 as tf1

    with tf1.Graph().as_default(), tf1.Session() as sess:
        x = tf1.constant(4.0)
        assert sess.run(tf1.gradients(inner(x), x)) == [8.0]


def test_the_examples_of_stop_gradients():
    @tf.function
    def f():
        a = tf.constant(0.0)
        b = 2 * a
        return tf.gradients(a + b, [a, b], stop_gradients=[a, b])

    text = "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>"
    assert repr(f()) == f"[{text}, {text}]"


def test_concrete_functions():
    @tf.function
    def f(x, y):
        return x - y

    c = f.get_concrete_function(tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.float32))
    np.testing.assert_array_equal(c(tf.constant([3.0]), tf.constant([1.0])), [2.0])
    assert [t.op.name for t in c.inputs] == ["x", "y"]
    assert any(op.type == "Sub" for op in c.graph.get_operations())


def test_methods_are_traced_for_each_instance():
    class A:
        def __init__(self, k):
            self.k = k

        @tf.function
        def f(self, x):
            return x * self.k

    assert [float(A(k).f(tf.constant(2.0))) for k in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]


def test_effects_happen_in_program_order():
    seen = []

    @tf.function
    def f(x):
        tf.numpy_function(lambda v: seen.append(float(v)), [x], [])
        tf.numpy_function(lambda v: seen.append(float(v)), [x + 1.0], [])
        return x

    f(tf.constant(1.0))
    assert seen == [1.0, 2.0]


def test_random_numbers_are_new_at_each_call():
    @tf.function
    def f():
        return tf.random.uniform([3])

    assert not np.array_equal(f().numpy(), f().numpy())


def test_control_flow_in_functions():
    @tf.function
    def f(x):
        y = tf.cond(x > 0.0, lambda: x * 2.0, lambda: x * 3.0)
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + y), [0, y])[1]

    assert float(f(tf.constant(1.0))) == 8.0
    assert float(f(tf.constant(-1.0))) == -12.0


def test_errors_in_eager_mode_are_tensorflows():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)dimension -1 differs \(2 vs 3\).*test_function.py"):
        tf.add(tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0]))
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError), match="float32"):
        tf.add(tf.constant(1.0), tf.constant(1))


def test_a_symbolic_tensor_must_not_leak():
    leaked = []

    @tf.function
    def f(x):
        leaked.append(x * 2.0)
        return x

    f(tf.constant(1.0))
    with pytest.raises(TypeError, match=r"(?s)symbolic tensor.*eager mode"):
        leaked[0] + tf.constant(1.0)


def test_jax_arrays_are_arguments() -> None:
    """An array of JAX's is a tensor argument: one trace for all values, of the array's dtype."""
    import jax.numpy as jnp

    f = tf.function(lambda x: x * 2)
    for value in ([1.0, 2.0], [3.0, 4.0]):
        np.testing.assert_array_equal(f(jnp.array(value)).numpy(), 2 * np.array(value))
    assert f.experimental_get_tracing_count() == 1
    assert f(jnp.array(1, jnp.int32)).dtype is tf.int32 and f(jnp.ones(2, jnp.bfloat16)).dtype is tf.bfloat16
    np.testing.assert_array_equal(tf.constant([1.0, 2.0]) + jnp.ones(2), [2.0, 3.0])
    np.testing.assert_array_equal(jnp.from_dlpack(tf.constant([1.0, 2.0])), [1.0, 2.0])


def test_an_initial_value_from_an_argument_needs_a_call() -> None:
    """Without arguments there is nothing to compute such a value from; the call that comes after has them."""
    made = []

    @tf.function(input_signature=[tf.TensorSpec([])])
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(x * 2.0))
        return made[0] * x

    with pytest.raises(ValueError, match=r"(?s)get_concrete_function: tf.function f .*depends on an argument.*Fix:"):
        f.get_concrete_function()
    assert float(f(tf.constant(3.0))) == 18.0
    assert float(f.get_concrete_function()(tf.constant(1.0))) == 6.0
