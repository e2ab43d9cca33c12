"""Hessians, Jacobians, their products with vectors, and vectorised maps: in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.gradients.derived.higher import get_dependent_variables
from graphgrad.ir.opdef import registry
from tests.support.recordings import Recorded

from .higher_cases import CASES


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches: Any, feeds: Any = None, host: bool = False) -> Any:
    with (HostSession() if host else tf.Session()) as sess:
        if tf.global_variables():
            sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feeds)


def placeholders(*values: Any) -> tuple[list[Any], dict[Any, Any]]:
    xs = [tf.placeholder(v.dtype, v.shape) for v in values]
    return xs, dict(zip(xs, values, strict=True))


def differences(y: Any, x: Any, feeds: dict[Any, Any], step: float = 1e-6) -> Any:
    """The Jacobian of y with respect to x, (*Y, *X), by central differences in NumPy."""
    at = feeds[x]
    columns = []
    with HostSession() as sess:
        for i in range(at.size):
            move = np.zeros(at.size)
            move[i] = step
            above, below = (sess.run(y, {**feeds, x: at + s * move.reshape(at.shape)}) for s in (1, -1))
            columns.append((above - below) / (2 * step))
    return np.moveaxis(np.array(columns), 0, -1).reshape(*columns[0].shape, *at.shape)


def positive(*shape: int) -> Any:
    return np.random.default_rng(len(shape) + sum(shape)).uniform(0.4, 1.6, shape)


# -- what TensorFlow computes ------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("host", [False, True], ids=["xla", "numpy"])
def test_recorded(name: str, host: bool) -> None:
    """Hessians, Jacobians and maps are TensorFlow's, by XLA and by NumPy."""
    case = CASES[name]
    xs, feeds = placeholders(*case.inputs(name))
    found = run(list(case.function(tf2, tf.jacobian, tf.batch_jacobian, *xs)), feeds, host)
    wanted = Recorded.of("higher").entries[name]["outputs"]
    assert len(found) == len(wanted)
    for got, want in zip(found, wanted, strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)


# -- Jacobians -------------------------------------------------------------------------


def test_one_gradient_graph_serves_all_rows(graph):
    """The number of operations does not depend on the number of rows."""
    counts = []
    for n in (2, 50):
        x = tf.placeholder(tf.float32, [n])
        before = len(graph.get_operations())
        tf.jacobian(tf.tanh(x) * x, x)
        counts.append(len(graph.get_operations()) - before)
    assert counts[0] == counts[1] < 12


def test_jacobian_of_unknown_shapes():
    x = tf.placeholder(tf.float64, [None, 2])
    z = tf.placeholder(tf.float64)
    j, k = tf.jacobian(tf.exp(x), x), tf.jacobian(z * z, z)
    b = tf.batch_jacobian(tf.stack([x, x * x], 2), x)
    assert j.shape.as_list() == [None, 2, None, 2] and k.shape.rank is None
    assert b.shape.as_list() == [None, 2, 2, 2]
    (h,) = tf.hessians(tf.reduce_sum(x**3), x)
    assert h.shape.as_list() == [None, 2, None, 2]
    at = positive(3, 2)
    jj, kk, bb, hh = run([j, k, b, h], {x: at, z: at})
    np.testing.assert_allclose(jj.reshape(6, 6), np.diag(np.exp(at).ravel()), rtol=1e-12)
    np.testing.assert_allclose(kk.reshape(6, 6), np.diag(2 * at.ravel()), rtol=1e-12)
    np.testing.assert_allclose(hh.reshape(6, 6), np.diag(6 * at.ravel()), rtol=1e-12)
    np.testing.assert_allclose(bb[1], [[[1, 0], [2 * at[1, 0], 0]], [[0, 1], [0, 2 * at[1, 1]]]], rtol=1e-12)


def test_rows_in_chunks():
    (x,), feeds = placeholders(positive(7))
    y = tf.cumsum(tf.sin(x)) * x
    whole = tf.jacobian(y, x)
    parts = [tf.jacobian(y, x, parallel_iterations=3), tf.jacobian(y, x, use_pfor=False)]
    assert [t.op.inputs[0].op._attr("chunk") for t in [whole, *parts]] == [None, 3, 1]
    a, b, c = run([whole, *parts], feeds)
    np.testing.assert_allclose(a, differences(y, x, feeds), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose([b, c], [a, a], rtol=1e-12)


def test_chunks_are_computed_together():
    """Seven rows by three: a loop of two rounds over maps of three rows, and one row that is left over."""
    import jax

    kernel = registry["VectorizedMap"].kernel

    def run_chunk(rows: Any) -> Any:
        def body(args: Any, state: Any, _: Any) -> Any:
            return [args[0] * 2], state

        body.watched = False  # nothing in it is refused
        return kernel(jax.numpy, [rows], body=body, mapped=(True,), state=(), chunk=3)[0]

    traced = str(jax.make_jaxpr(run_chunk)(np.ones((7, 5))))
    assert "length=2" in traced and "3,5]" in traced


def test_what_is_known_of_shapes_is_known_in_the_rows():
    """Constants that decide shapes are constants in the sub-graph too: no rule has to work with unknown shapes."""
    x = tf.placeholder(tf.float32, [2, 3, 4])
    y = tf.reduce_sum(tf.concat([tf.transpose(x, [2, 0, 1]), tf.ones([4, 2, 1])], 2) ** 2, [1])
    y = tf.tile(tf.gather(y, [0, 1, 1], axis=1), [2, 1]) + tf.cumsum(tf.reshape(x, [8, 3]), axis=1)
    j = tf.jacobian(y, x)
    body = j.op.inputs[0].op._attr("body")
    assert j.shape == [8, 3, 2, 3, 4]
    assert all(t.shape.is_fully_defined() for op in body.get_operations() for t in op.outputs)
    assert all(t.dtype.is_floating for t in body.captured)


def test_structures_and_what_is_not_connected():
    x, z, w = tf.constant([1.0, 2.0]), tf.constant(3.0), tf.constant([5.0])
    found = tf.jacobian(x * z, {"a": x, "b": [z, w]})
    assert found["b"][1] is None
    zeros = tf.jacobian(x * z, [w, x], unconnected_gradients="zero")
    a, b, none = run([found["a"], found["b"][0], zeros[0]])
    np.testing.assert_array_equal(a, [[3, 0], [0, 3]])
    np.testing.assert_array_equal(b, [1, 2])
    np.testing.assert_array_equal(none, np.zeros((2, 1)))
    assert tf.batch_jacobian(tf.ones([2, 3]), tf.ones([2, 4])) is None
    assert run(tf.batch_jacobian(tf.ones([2, 3]), tf.ones([2, 4]), unconnected_gradients="zero")).shape == (2, 3, 4)


def test_variables_and_functions():
    v = tf.get_variable("v", initializer=np.array([1.0, 2.0]))
    table = tf.get_variable("table", initializer=positive(4, 2))

    @tf2.function
    def f():
        return tf.jacobian(v * v * 3.0, v)

    y = tf.gather(table, [1, 1, 3]) * v
    j_v, j_table = tf.jacobian(y, [v, table])
    one, two, three, at = run([f(), j_v, j_table, table])
    np.testing.assert_array_equal(one, [[6, 0], [0, 12]])
    np.testing.assert_allclose(two, at[[1, 1, 3]][:, :, None] * np.eye(2), rtol=1e-12)
    want = np.zeros((3, 2, 4, 2))
    for i, row in enumerate([1, 1, 3]):
        want[i, [0, 1], row, [0, 1]] = [1, 2]
    np.testing.assert_allclose(three, want, rtol=1e-12)


def test_empty_jacobians():
    x = tf.zeros([0, 3])
    assert run(tf.jacobian(x * 2.0, x)).shape == (0, 3, 0, 3)
    assert run(tf.jacobian(tf.reduce_sum(x, 1), x), host=True).shape == (0, 0, 3)


def test_random_operations_draw_once_for_all_rows():
    """The rows of a Jacobian belong to one draw, the one that y was computed from."""
    x = tf.constant(positive(3))
    noise = tf.random_uniform([3], dtype=tf.float64)
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * tf.random_uniform([3], dtype=tf.float64) * noise, lambda: x)
    values, j = run([y / x, tf.jacobian(y, x)])
    np.testing.assert_allclose(j, np.diag(values), rtol=1e-12)


@pytest.mark.parametrize("call, problem", [
    (lambda x: tf.batch_jacobian(x, tf.reduce_sum(x, 1)), r"Shape \(2,\) must have rank at least 2.*Fix: tf.expand"),
    (lambda x: tf.batch_jacobian(tf.reshape(x, [3, 2]), x), r"Need first dimension of target shape \(\(3, 2\)\) and "
                                                            r"source shape \(\(2, 3\)\) to match.*Fix: differentiate"),
    (lambda x: tf.jacobian(x * x, x, parallel_iterations=0), "parallel_iterations must be a positive.*Fix: give"),
    (lambda x: tf.jacobian(x, x, unconnected_gradients="no"), "Unknown value for unconnected_gradients: 'no'"),
    (lambda x: tf.hessians(tf.reduce_sum(x * 2.0), x), r"None values not supported: xs\[0\].*its gradient does not"),
    (lambda x: tf.hessians(tf.ones([]), [x]), r"None values not supported: xs\[0\].*the ys do not depend.*Fix: leave"),
    (lambda x: tf.jvp(x, [x], [x, x]), "2 tangents for 1 xs.*Fix: give for each x"),
    (lambda x: tf.hessian_vector_product(x, [x], [tf.ones([3])]), r"tangents\[0\] has shape \(3,\), but xs\[0\] has "
                                                                  r"shape \(2, 3\).*Fix: give a tensor of x's shape"),
])
def test_refused(call, problem):
    with pytest.raises(ValueError, match="(?s)" + problem):
        call(tf.ones([2, 3]))


def test_no_gradient():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(LookupError, match="(?s)No gradient defined for operation .Bitcast.*Fix: register"):
        tf.jacobian(tf.bitcast(x, tf.float32), x)


def test_eager_mode_is_referred_to_the_tape():
    with _eager():
        with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
            tf2.jacobian(tf2.constant(1.0), tf2.constant(1.0))
        with pytest.raises(RuntimeError, match="(?s)tf.hessians is not supported when eager.*Fix: give a function"):
            tf2.hessians(tf2.constant(1.0), tf2.constant(1.0))


def _eager() -> Any:
    from graphgrad.ir import context

    return context.use(context.EAGER)


# -- products with vectors ---------------------------------------------------------------


def _function(x: Any, z: Any) -> Any:
    return tf.nn.softmax(tf.sin(x) * z) * tf.reduce_sum(tf.sqrt(x)) + tf.reduce_max(x * z)


def test_products_are_those_of_the_matrices():
    (x, z), feeds = placeholders(positive(3), positive(3) + 0.1)
    u, v = np.array([0.3, -1.0, 2.0]), np.array([1.0, 0.5, -0.2])
    y = _function(x, z)
    along = tf.jvp([y, x * 2.0], [x, z], [u, v])
    by_x, by_z = differences(y, x, feeds), differences(y, z, feeds)
    loss = tf.reduce_sum(y**2)
    products = tf.hessian_vector_product(loss, [x, z], [u, v])
    slopes = tf.gradients(loss, [x, z])
    found = run([along, products], feeds)
    np.testing.assert_allclose(found[0][0], by_x @ u + by_z @ v, rtol=1e-6)
    np.testing.assert_allclose(found[0][1], 2 * u, rtol=1e-12)
    for got, slope in zip(found[1], slopes, strict=True):
        want = differences(slope, x, feeds) @ u + differences(slope, z, feeds) @ v
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_forward_mode_of_any_order():
    """The k-th derivative of exp(2x) sin(x) along a line, by k nested products, against the closed form."""
    x = tf.placeholder(tf.float64, [2])
    y = tf.exp(2.0 * x) * tf.sin(x)
    found = [y]
    for _ in range(4):
        found.append(tf.jvp(found[-1], x, np.ones(2)))
    at = np.array([0.3, -0.7])
    root = 2 + 1j
    wanted = [(np.exp(root * at) * root**k).imag for k in range(5)]
    np.testing.assert_allclose(run(found, {x: at}), wanted, rtol=1e-10)


def test_forward_over_reverse_is_reverse_over_reverse():
    (x, z), feeds = placeholders(positive(3), positive(3))
    v = np.array([1.0, -2.0, 0.5])
    loss = tf.reduce_sum(_function(x, z) ** 2)
    (one,), (two,) = tf.jvp(tf.gradients(loss, [x]), [x], [v]), tf.hessian_vector_product(loss, [x], [v])
    (full,) = tf.hessians(loss, x)
    a, b, h = run([one, two, full], feeds)
    np.testing.assert_allclose([a, b], [h @ v, h @ v], rtol=1e-9)


def test_forward_mode_where_a_gradient_of_zero_is_special():
    """The dummy that is differentiated away is not zero, where rules may treat it apart."""
    x = tf.constant([0.25, 4.0])
    y = tf.sqrt(x) + tf.math.reciprocal_no_nan(x) + tf.math.rsqrt(x) + tf.math.xlogy(x, x)
    at = np.array([0.25, 4.0])
    want = 0.5 / np.sqrt(at) - 1 / at**2 - 0.5 * at**-1.5 + np.log(at) + 1
    np.testing.assert_allclose(run(tf.jvp(y, x, tf.ones([2]))), want, rtol=1e-6)
    z = tf.placeholder(tf.float64, [None])
    sums, feeds = tf.math.cumulative_logsumexp(z), {z: np.array([0.1, -0.4, 2.0])}
    np.testing.assert_allclose(run(tf.jvp(sums, z, np.array([1.0, 2.0, 3.0])), feeds),
                               differences(sums, z, feeds) @ [1, 2, 3], rtol=1e-7)


def test_forward_mode_of_complex_functions():
    at, v = np.array([1 + 2j, 0.5 - 1j]), np.array([0.3 + 1j, 2.0 + 0j])
    x = tf.constant(at)
    np.testing.assert_allclose(run(tf.jvp(x**3, x, v)), 3 * at**2 * v, rtol=1e-12)


def test_forward_mode_of_what_does_not_move():
    x, w = tf.constant([1.0, 2.0]), tf.constant([3.0])
    moving, still, whole = tf.jvp([x * w, w * 1.0, tf.cast(x, tf.int32)], x, tf.ones([2]))
    assert still is None and whole is None
    zero = tf.jvp(w * 1.0, x, tf.ones([2]), unconnected_gradients="zero")
    a, b = run([moving, zero])
    np.testing.assert_array_equal(a, [3, 3])
    np.testing.assert_array_equal(b, [0])
    assert tf.hessian_vector_product(w * 1.0, [x], [x]) == [None]
    assert tf.hessian_vector_product(x * 2.0, x, x) == [None]


def test_strict_gradients():
    """None is an error for what is asked for, not for what is computed on the way."""
    x, w = tf.constant([1.0, 2.0]), tf.constant([3.0])
    with tf.strict_gradients():
        mapped = tf.vectorized_map(lambda a: a * 2.0 + tf.round(w[0]), x)
        assert tf.gradients(mapped, [x])[0].shape == [2]
        assert tf.jvp(mapped * x, [x, w], [x, w]).shape == [2]
        for call in (lambda: tf.jacobian(mapped, [x, w]), lambda: tf.batch_jacobian(tf.ones([1, 2]), w[None]),
                     lambda: tf.jvp([x * w, w * 1.0], x, x), lambda: tf.hessian_vector_product(w, x, x)):
            with pytest.raises(ValueError, match="(?s)is None: .*strict_gradients is on"):
                call()
        assert tf.jacobian(mapped, w, unconnected_gradients="zero").shape == [2, 1]


def test_products_with_variables():
    v = tf.get_variable("v", initializer=np.array([1.0, 2.0]))
    product = tf.hessian_vector_product(tf.reduce_prod(v) ** 2, v, tf.constant([1.0, 0.0], tf.float64))
    np.testing.assert_allclose(run([tf.jvp(v**3, v, np.array([1.0, 10.0])), product[0]]), [[3, 120], [8, 8]])


# -- vectorised maps ---------------------------------------------------------------------


def test_each_row_draws_its_own_numbers():
    def noise(_: Any) -> Any:
        return tf.vectorized_map(lambda _: tf.random_uniform([2], seed=3), tf.zeros([4]))

    nested = tf.vectorized_map(noise, tf.zeros([5]))
    same = tf.vectorized_map(lambda _: tf.random.stateless_uniform([], [1, 2]), tf.zeros([3]))
    a, b = run([nested, same])
    assert a.shape == (5, 4, 2) and np.unique(a).size == 40
    assert np.unique(b).size == 1
    np.testing.assert_array_equal(run(nested, host=True), a)


def test_gradients_through_random_rows_use_the_numbers_drawn():
    x = tf.constant(positive(6))
    y = tf.vectorized_map(lambda a: a * tf.random_uniform([], dtype=tf.float64), x)
    values, slope = run([y / x, tf.gradients(y, x)[0]])
    assert np.unique(values).size == 6
    np.testing.assert_allclose(slope, values, rtol=1e-12)


def test_gathers_from_a_shared_table_stay_sparse():
    table, feeds = placeholders(positive(5, 2))
    rows = tf.constant([[0, 1], [3, 1], [3, 3]])
    y = tf.vectorized_map(lambda ids: tf.reduce_sum(tf.gather(table[0], ids) ** 2), rows)
    (g,) = tf.gradients(y, table[0])
    assert isinstance(g, tf.IndexedSlices)
    dense, wanted = run([tf.convert_to_tensor(g), tf.gradients(tf.gather(table[0], rows) ** 2, table[0])[0]], feeds)
    want = np.zeros((5, 2))
    np.add.at(want, wanted.indices, wanted.values)
    np.testing.assert_allclose(dense, want, rtol=1e-12)


def test_higher_derivatives_through_a_map():
    (x, w), feeds = placeholders(positive(3, 2), positive(2))
    y = tf.vectorized_map(lambda row: tf.reduce_prod(tf.sin(row * w)), x)
    (g,) = tf.gradients(y**2, w)
    (h,) = tf.gradients(g * np.array([1.0, -0.5]), w)
    (t,) = tf.gradients(h * np.array([0.2, 1.0]), x)
    found = run([g, h, t], feeds)
    np.testing.assert_allclose(found[0], differences(tf.reduce_sum(y**2), w, feeds), rtol=1e-6)
    np.testing.assert_allclose(found[1], np.array([1, -0.5]) @ differences(g, w, feeds), rtol=1e-6)
    want = np.tensordot(np.array([0.2, 1.0]), differences(h, x, feeds), 1)
    np.testing.assert_allclose(found[2], want, rtol=1e-5, atol=1e-7)


def test_host_operations_are_run_row_by_row():
    words = tf.constant(["a", "bb", ""])
    values = tf.constant([1.0, 4.0, 9.0])
    lengths = tf.vectorized_map(lambda w: tf.strings.length(w), words)
    roots = tf.vectorized_map(lambda a: tf.ensure_shape(tf.py_func(np.sqrt, [a], tf.float32), []) + 1.0, values)
    a, b = run([lengths, roots])
    np.testing.assert_array_equal(a, [1, 2, 0])
    np.testing.assert_array_equal(b, [2, 3, 4])


def test_one_row_goes_with_every_row():
    a, b = tf.constant([[10.0, 20.0]]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = tf.vectorized_map(lambda rows: rows[0] * rows[1], (a, b))
    found, slope = run([y, tf.gradients(y, a)[0]])
    np.testing.assert_array_equal(found, [[10, 40], [30, 80]])
    np.testing.assert_array_equal(slope, [[4, 6]])


def test_variables_in_a_map():
    v = tf.get_variable("v", initializer=np.array([1.0, 2.0]))
    y = tf.vectorized_map(lambda a: v * a, tf.constant([1.0, 10.0], tf.float64))
    found, slope = run([y, tf.gradients(y, v)[0]])
    np.testing.assert_array_equal(found, [[1, 2], [10, 20]])
    np.testing.assert_array_equal(slope, [11, 11])


def test_assignments_fall_back_to_a_loop():
    v = tf.get_variable("v", initializer=1.0)
    y = tf.vectorized_map(v.assign_add, tf.constant([1.0, 2.0]))
    np.testing.assert_array_equal(run(y), [2, 4])
    with pytest.raises(ValueError, match="(?s)No pfor vectorization defined for AssignAddVariableOp.*Fix: assign"):
        tf.vectorized_map(lambda a: v.assign_add(a), tf.constant([1.0]), fallback_to_while_loop=False)


@pytest.mark.parametrize("call, error, problem", [
    (lambda: tf.vectorized_map(3, tf.ones([2])), TypeError, "provided function 3 is not callable"),
    (lambda: tf.vectorized_map(tf.exp, tf.ones([])), ValueError, "must be 1.. dimensional.*Fix: tf.expand_dims"),
    (lambda: tf.vectorized_map(tf.add_n, [tf.ones([2]), tf.ones([3])]), ValueError,
     "different numbers of rows: 2, 3.*Fix: give all the same first dimension, or 1"),
    (lambda: tf.vectorized_map(tf.exp, []), ValueError, "Got an empty one.*Fix: give a tensor to map over"),
])
def test_maps_refused(call, error, problem):
    with pytest.raises(error, match="(?s)" + problem):
        call()


def test_rows_that_do_not_fit_are_found_at_run_time():
    x, z = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    y = tf.vectorized_map(lambda a: a[0] + a[1], (x, z))
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)different numbers of rows: 2, 3.*Fix: give all"):
        run(y, {x: [1, 2], z: [1, 2, 3]})
    ragged = tf.vectorized_map(lambda n: tf.range(n), tf.constant([1, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)different shapes, \(1,\) and \(2,\).*Fix: pad"):
        run(ragged)


def test_no_rows():
    y = tf.vectorized_map(lambda a: (a * 2.0, tf.reduce_sum(a)), tf.zeros([0, 3]))
    assert [v.shape for v in run(y)] == [(0, 3), (0,)]
    assert [v.shape for v in run(y, host=True)] == [(0, 3), (0,)]


def test_results_that_are_none_or_the_same_for_all_rows():
    y = tf.vectorized_map(lambda a: {"five": 5.0, "none": None, "a": a}, tf.constant([1, 2]))
    assert y["none"] is None
    np.testing.assert_array_equal(run(y["five"]), [5, 5])


# -- introspection -----------------------------------------------------------------------


def test_dependent_variables():
    v, w, u = (tf.get_variable(name, initializer=1.0) for name in "vwu")
    x = tf.constant(2.0)
    hidden = x * v
    y = hidden * w + tf.stop_gradient(tf.cast(tf.cast(u, tf.int32), tf.float32))
    assert [found.name for found in get_dependent_variables([x], [y])] == ["v:0", "w:0"]
    assert [found.name for found in get_dependent_variables([hidden], [y])] == ["w:0"]
    assert get_dependent_variables([x], [x * 2.0]) == []
