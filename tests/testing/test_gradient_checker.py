"""`test.compute_gradient` in both forms, and the functions that make gradient functions."""

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.frontend.autodiff.gradient_functions import (
    gradients_function,
    implicit_grad,
    implicit_val_and_grad,
    make_vjp,
    val_and_grad_function,
)
from graphgrad.ir import context


@pytest.fixture(params=["eager", "graph"])
def mode(request):
    if request.param == "eager":
        with context.use(context.EAGER):
            yield request.param
    else:
        with tf.Graph().as_default(), tf.Session().as_default():
            yield request.param


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session().as_default() as sess:
        yield sess


def _values(mode, tensors):
    return tf.get_default_session().run(tensors) if mode == "graph" else [np.asarray(t) for t in tensors]


# -- TensorFlow 2's form -----------------------------------------------------------------


def test_gradient_beside_differences(mode):
    """TensorFlow 2.21: ((diag(3, 3), [[1], [2]]), the same by differences)."""
    by_gradient, by_difference = tf2.test.compute_gradient(lambda x, y: x * y, [tf.constant([1.0, 2.0]), 3.0])
    for found in (by_gradient, by_difference):
        assert type(found) is tuple and [j.dtype for j in found] == [np.float32, np.float32]
        np.testing.assert_allclose(found[0], [[3, 0], [0, 3]], rtol=1e-4)
        np.testing.assert_allclose(found[1], [[1], [2]], rtol=1e-4)


def test_differences_are_central_and_of_the_step_given(mode):
    _, (found,) = tf2.test.compute_gradient(lambda x: x**3, [np.array([1.0, 2.0])], delta=0.5)
    np.testing.assert_array_equal(found, [[3.25, 0], [0, 12.25]])
    _, (found,) = tf2.test.compute_gradient(lambda x: x**3, [np.array([1.0])])
    assert found[0, 0] - 3 == pytest.approx(2.0**-20, rel=1e-6)


def test_complex_numbers_are_two_elements(mode):
    by_gradient, by_difference = tf2.test.compute_gradient(lambda x: x * x, [np.array([1 + 2j])])
    np.testing.assert_allclose([by_gradient[0], by_difference[0]], [[[2, -4], [4, 2]]] * 2, rtol=1e-9)
    by_gradient, by_difference = tf2.test.compute_gradient(tf.abs, [np.array([1 + 2j])])
    np.testing.assert_allclose([by_gradient[0], by_difference[0]], [[[5**-0.5, 2 * 5**-0.5]]] * 2, rtol=1e-6)


def test_slices_empty_tensors_and_unconnected_ones(mode):
    (found,), _ = tf2.test.compute_gradient(lambda x: tf.gather(x, [0, 0]), [tf.constant([[1.0, 2.0], [3.0, 4.0]])])
    np.testing.assert_array_equal(found, [[1, 0, 0, 0], [0, 1, 0, 0]] * 2)
    (found,), (other,) = tf2.test.compute_gradient(lambda x: x * 2.0, [tf.zeros([0, 3])])
    assert found.shape == other.shape == (0, 0)
    (found,), _ = tf2.test.compute_gradient(lambda x: tf.constant([1.0, 2.0]), [tf.constant([1.0, 2.0])])
    assert not found.any()


def test_half_precision(mode):
    for dtype in (tf.float16, tf.bfloat16):
        pairs = tf2.test.compute_gradient(lambda x: x * x, [tf.constant([1.0, 2.0], dtype)], delta=0.25)
        assert [j.dtype for (j,) in pairs] == [dtype.as_numpy_dtype] * 2
        np.testing.assert_array_equal(np.array(pairs, np.float32)[:, 0], [[[2, 0], [0, 4]]] * 2)


def test_a_wrong_gradient_shows(mode):
    @tf.custom_gradient
    def wrong(x):
        return x * x, lambda dy: dy * x

    (by_gradient,), (by_difference,) = tf2.test.compute_gradient(wrong, [np.array([1.0, 2.0])])
    np.testing.assert_allclose(by_difference - by_gradient, np.diag([1.0, 2.0]), rtol=1e-6)


@pytest.mark.parametrize("x, error, problem", [
    (np.ones(2), ValueError, "`x` must be a list or tuple of values convertible to a Tensor"),
    ([np.ones(2, np.int32)], AssertionError, "unsupported type int32 of argument 0.*Fix: tf.cast"),
])
def test_refused(mode, x, error, problem):
    with pytest.raises(error, match=problem):
        tf2.test.compute_gradient(lambda x: x * x, x)


def test_needs_a_session():
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="needs a default session.*Fix: call it inside"):
        tf2.test.compute_gradient(lambda x: x * x, [1.0])


# -- TensorFlow 1's form -----------------------------------------------------------------


def test_rows_are_elements_of_x(session):
    x, z = tf.constant([1.0, 2.0]), tf.constant(3.0)
    start = np.array([3.0, 4.0], np.float32)
    by_gradient, by_difference = tf.test.compute_gradient(x, [2], x * x, [2], start)
    np.testing.assert_array_equal(by_gradient, [[6, 0], [0, 8]])
    np.testing.assert_allclose(by_difference, [[6, 0], [0, 8]], rtol=1e-3)
    pairs = tf.test.compute_gradient([x, z], [[2], []], x * z, [2], [start, np.float32(5)])
    np.testing.assert_array_equal(pairs[0][0], [[5, 0], [0, 5]])
    np.testing.assert_array_equal(pairs[1][0], [[3, 4]])
    np.testing.assert_allclose(pairs[1][1], [[3, 4]], rtol=1e-3)


def test_error_is_the_largest_difference(session):
    x = tf.placeholder(tf.float64, [3])
    w = tf.placeholder(tf.float64, [])
    assert tf.test.compute_gradient_error(x, [3], tf.sin(x) * w, [3], extra_feed_dict={w: 2.0}) < 1e-5
    y = tf.stop_gradient(x * 4.0) + x
    assert tf.test.compute_gradient_error(x, [3], y, [3]) == pytest.approx(4.0, rel=1e-6)
    error = tf.test.compute_gradient_error([x, w], [[3], []], tf.exp(x) * w, [3])
    assert 0 < error < 1e-5
    empty = tf.placeholder(tf.float64, [0, 2])
    assert tf.test.compute_gradient_error(empty, [0, 2], empty * 2.0, [0, 2]) == 0


def test_targets_are_run_first(session):
    v = tf.get_variable("v", initializer=3.0)
    x = tf.placeholder(tf.float32, [])
    by_gradient, _ = tf.test.compute_gradient(x, [], x * v, [], init_targets=[v.initializer])
    np.testing.assert_array_equal(by_gradient, [[3]])


def test_complex_x(session):
    x = tf.placeholder(tf.complex128, [1])
    by_gradient, by_difference = tf.test.compute_gradient(x, [1], x * x, [1], np.array([1 + 2j]))
    np.testing.assert_allclose([by_gradient, by_difference], [[[2, 4], [-4, 2]]] * 2, rtol=1e-6)


@pytest.mark.parametrize("call, error, problem", [
    (lambda x: (x, [2], tf.constant([1.0]), [1]), AssertionError, "dx = None.*Fix: give an x"),
    (lambda x: (x, [2], x * x, [2], np.ones(3)), AssertionError, r"x_shape = \[2\], init_data shape = \[3\].*Fix"),
    (lambda x: (tf.constant([1]), [1], x, [2]), TypeError, "Expected a floating-point or complex x, but got int32"),
])
def test_refused_in_1(session, call, error, problem):
    with pytest.raises(error, match=problem):
        tf.test.compute_gradient(*call(tf.constant([1.0, 2.0])))


def test_needs_a_session_in_1():
    with tf.Graph().as_default(), pytest.raises(AssertionError, match="needs a default session.*Fix: call it inside"):
        tf.test.compute_gradient(tf.ones([1]), [1], tf.ones([1]), [1])


# -- functions that make gradient functions ------------------------------------------------


def test_gradients_functions(mode):
    """The values are TensorFlow 2.21's."""
    f = gradients_function(lambda x, y: x * y + x * x)
    two, three, ten = tf.constant(2.0), tf.constant(3.0), tf.constant(10.0)
    assert _values(mode, f(two, three)) == [7, 2]
    assert _values(mode, f(2.0, 3.0)) == [7, 2]
    assert _values(mode, f(two, three, dy=ten)) == [70, 20]
    assert _values(mode, f(two, two)) == [6, 2]
    assert _values(mode, gradients_function(lambda x, y: x * y, params=[1])(two, three)) == [2]
    assert _values(mode, gradients_function(lambda x, y: x * y, params="x")(two, three)) == [3]
    twice = gradients_function(lambda x: gradients_function(lambda z: z**3)(x)[0])
    assert _values(mode, twice(two)) == [12]
    assert gradients_function(lambda x: ten)(two) == [None]
    assert _values(mode, gradients_function(lambda x: [x, x * x])(two)) == [5]
    value, slopes = val_and_grad_function(lambda x, y: x * y)(two, three)
    assert _values(mode, [value, *slopes]) == [6, 3, 2]
    value, vjp = make_vjp(lambda x, y: x * y)(two, three)
    assert _values(mode, [value, *vjp(tf.constant(5.0)), *vjp()]) == [6, 15, 10, 3, 2]


def test_implicit_gradients(mode):
    v, w = tf.Variable(3.0), tf.Variable(2.0)
    unused = tf.Variable(1.0)
    pairs = implicit_grad(lambda x: v * v * w * x)(tf.constant(2.0))
    assert [p[1] is q for p, q in zip(pairs, [v, w], strict=True)] == [True, True] and unused is not pairs[0][1]
    value, more = implicit_val_and_grad(lambda x: v * v * x)(tf.constant(2.0))
    if mode == "graph":
        tf.get_default_session().run(tf.global_variables_initializer())
    assert _values(mode, [g for g, _ in pairs]) == [24, 18]
    assert _values(mode, [value, more[0][0]]) == [18, 12]


@pytest.mark.parametrize("call, error, problem", [
    (lambda: gradients_function(lambda x: x)(x=1.0), ValueError, "cannot receive keyword arguments.*Fix: pass them by"),
    (lambda: gradients_function(lambda x: None)(1.0), ValueError, "function that returns None.*Fix: return the tensor"),
    (lambda: gradients_function(lambda x: x, ["q"])(1.0), ValueError, "'q' is not in the list.*Fix: name one of them"),
    (lambda: gradients_function(lambda x: x, [7])(1.0), IndexError, "list index out of range.*Fix: count arguments"),
    (lambda: implicit_grad(lambda x: x)(tf.constant(1.0)), ValueError, "No trainable variables were accessed.*Fix"),
    (lambda: implicit_grad(lambda x: None)(1.0), ValueError, "Cannot differentiate a function that returns None"),
])
def test_functions_refused(mode, call, error, problem):
    with pytest.raises(error, match=problem):
        call()


def test_names_of_tensorflows_inside():
    """Programs import them from tensorflow.python."""
    from graphgrad.compat.importing import _inside

    for module, name in [("eager.backprop", "gradients_function"), ("eager.backprop", "implicit_grad"),
                         ("ops.parallel_for.gradients", "jacobian"), ("ops.gradient_checker_v2", "compute_gradient"),
                         ("ops.custom_gradient", "get_dependent_variables"),
                         ("ops.gradients_impl", "_hessian_vector_product")]:
        assert any(callable(getattr(space, name, None)) for space in _inside(module.split("."))), name
