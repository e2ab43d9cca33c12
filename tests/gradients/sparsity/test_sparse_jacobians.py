"""Sparse Jacobians and Hessians: values, colours, what is differentiated again, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.gradients.sparsity.colouring import Entries, column_colours
from graphgrad.gradients.sparsity.compressed import checked, plan
from graphgrad.gradients.sparsity.two_sided import separates_symmetric, star_colours


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def products(pattern):
    """The numbers of products J v and v J that a pattern takes."""
    entries = Entries(pattern.rows, pattern.columns, pattern.matrix_shape)
    return plan(entries, pattern.x_shape, pattern.y_shape, True).products


def brusselator(n):
    x = tf.placeholder(tf.float64, [2, n, n])
    u, v = x[0], x[1]

    def laplacian(a):
        return (tf.roll(a, 1, 0) + tf.roll(a, -1, 0) + tf.roll(a, 1, 1) + tf.roll(a, -1, 1) - 4.0 * a) * float(n * n)

    return tf.stack([1.0 + u * u * v - 4.4 * u + 0.1 * laplacian(u), 3.4 * u - u * u * v + 0.1 * laplacian(v)]), x


def test_brusselator():
    y, x = brusselator(8)
    pattern = tf.sparsity(y, x)
    assert len(pattern) == 6 * 128 and sum(products(pattern)) == 8 and not pattern.dense
    at = np.random.default_rng(0).normal(size=(2, 8, 8))
    with HostSession() as session:
        sparse, dense = session.run([tf.jacobian(y, x, sparse=True), tf.jacobian(y, x)], {x: at})
    np.testing.assert_allclose(sparse.to_scipy(row_dims=3).toarray(), dense.reshape(128, 128), 1e-12, 1e-10)


@pytest.mark.parametrize(("n", "most"), [(64, 8), (60, 6), (50, 10), (33, 9), (31, 11)])
def test_colours_of_grids_that_wrap(n, most):
    y, x = brusselator(n)
    assert sum(products(tf.sparsity(y, x))) <= most


def test_arrowhead():
    x = tf.placeholder(tf.float64, [300])
    y = tf.concat([[tf.reduce_sum(x**2)], x[0] * x[1:] ** 2], 0)
    assert sum(products(tf.sparsity(y, x))) == 3
    with HostSession() as session:
        sparse, dense = session.run([tf.jacobian(y, x, sparse=True), tf.jacobian(y, x)], {x: np.arange(1.0, 301.0)})
    np.testing.assert_allclose(sparse.to_scipy().toarray(), dense)


def _maps(graph):
    return [op.outputs[0].shape for op in graph.get_operations() if op.type == "VectorizedMap"]


def test_hessians(graph):
    x = tf.placeholder(tf.float64, [5000])
    y = tf.reduce_sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
    (hessian,) = tf.hessians(y, x, sparse=True)
    assert _maps(graph) == [[3, 5000]] and hessian.values.shape == [14998]
    with HostSession() as session:
        found = session.run(hessian, {x: np.ones(5000)}).to_scipy()
    np.testing.assert_allclose(found[:3, :3].toarray(), [[802, -400, 0], [-400, 1002, -400], [0, -400, 1002]])


def test_hessian_of_an_arrowhead_takes_two_products(graph):
    x = tf.placeholder(tf.float64, [40])
    y = x[0] * tf.reduce_sum(x**3)
    (sparse,), (dense,) = tf.hessians(y, x, sparse=True), tf.hessians(y, x)
    assert _maps(graph)[0] == [2, 40]
    with HostSession() as session:
        found = session.run([sparse, dense], {x: np.linspace(-1.0, 1.0, 40)})
    np.testing.assert_allclose(found[0].to_scipy().toarray(), found[1])


@pytest.mark.parametrize("inside", [False, True])
def test_hessians_of_given_gradients_need_not_be_symmetric(inside):
    @tf.custom_gradient
    def given(x):
        return tf.reduce_sum(x * x), lambda dy: dy * tf.roll(x, 1, 0) * x

    x = tf.placeholder(tf.float64, [6])
    y = tf.cond(x[0] > 0, lambda: given(x), lambda: 0.0 * x[0]) if inside else given(x)
    (sparse,), (dense,) = tf.hessians(y, x, sparse=True), tf.hessians(y, x)
    with HostSession() as session:
        found = session.run([sparse, dense], {x: np.arange(1.0, 7.0)})
    assert (found[1] != found[1].T).any()
    np.testing.assert_array_equal(found[0].to_scipy().toarray(), found[1])


def test_differentiated_again():
    x = tf.placeholder(tf.float64, [4])
    sparse = tf.jacobian(tf.sin(x) * tf.roll(x, 1, 0), x, sparse=True)
    dense = tf.jacobian(tf.sin(x) * tf.roll(x, 1, 0), x)
    pair = tf.gradients(tf.reduce_sum(sparse.values**2), x)[0], tf.gradients(tf.reduce_sum(dense**2), x)[0]
    with HostSession() as session:
        found = session.run(pair, {x: [0.3, -0.2, 1.1, 0.7]})
    np.testing.assert_allclose(*found)


def test_per_example():
    x = tf.placeholder(tf.float64, [20, 3])
    y = tf.matmul(tf.tanh(tf.matmul(x, np.ones((3, 7)))), np.ones((7, 2)))
    pattern = tf.sparsity(y, x)
    assert len(pattern) == 20 * 2 * 3 and sum(products(pattern)) == 2


def test_variables_and_functions():
    v = tf.Variable(np.arange(1.0, 4.0), use_resource=True)
    found = tf.jacobian(v * v, v, sparse=True)
    with HostSession() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(found).to_scipy().toarray(), np.diag([2.0, 4.0, 6.0]))

    @tf.function
    def of(x):
        return tf.jacobian(x[1:] * x[:-1], x, sparse=True).values

    with HostSession() as session:
        np.testing.assert_array_equal(session.run(of(tf.constant([1.0, 2.0, 3.0]))), [2.0, 1.0, 3.0, 2.0])


def test_given_patterns():
    x = tf.placeholder(tf.float64, [3])
    y = tf.math.cumsum(x) * tf.placeholder_with_default(np.zeros(3), [3]) + x**2
    assert len(tf.sparsity(y, x)) == 9
    with HostSession() as session:
        for given in (np.eye(3), tf.sparsity(x * x, x), tf.sparsity(x, x).to_scipy()):
            found = session.run(tf.jacobian(y, x, sparse=given), {x: [1.0, 2.0, 3.0]})
            np.testing.assert_array_equal(found.to_scipy().toarray(), np.diag([2.0, 4.0, 6.0]))
    with pytest.raises(ValueError, match=r"(?s)pattern of shape \(2, 2\).*Fix:"):
        tf.jacobian(y, x, sparse=np.eye(2))


def test_unconnected():
    x = tf.placeholder(tf.float64, [3])
    assert tf.jacobian(tf.constant([1.0]), x, sparse=True) is None
    nothing = tf.jacobian(tf.constant([1.0], tf.float64), x, unconnected_gradients="zero", sparse=True)
    with HostSession() as session:
        assert session.run(nothing, {x: np.ones(3)}).to_scipy().shape == (1, 3)
    assert len(tf.sparsity(tf.stop_gradient(x), x)) == 0


@pytest.mark.parametrize("layer", [
    lambda x: tf.nn.conv2d(x, np.ones((3, 2, 2, 3)), [1, 2, 1, 1], "SAME"),
    lambda x: tf.nn.conv2d(x, np.ones((2, 2, 2, 1)), [1, 1, 1, 1], "VALID", dilations=[1, 2, 1, 1]),
    lambda x: tf.nn.conv2d_transpose(x, np.ones((2, 3, 4, 2)), [2, 10, 8, 4], [1, 2, 2, 1], "SAME"),
    lambda x: tf.nn.conv3d(x[:, :, None], np.ones((2, 1, 2, 2, 1)), [1, 1, 1, 1, 1], "SAME"),
    lambda x: tf.nn.avg_pool(x, 2, 2, "VALID"),
    lambda x: tf.nn.avg_pool3d(x[:, :, None], [1, 2, 1, 2, 1], [1, 1, 1, 1, 1], "SAME"),
], ids=["strided", "dilated", "transposed", "volume", "pool", "pool of volumes"])
def test_windows(layer):
    """Patterns of linear layers are exactly where their Jacobians are not zero."""
    x = tf.placeholder(tf.float64, [2, 5, 4, 2])
    y = layer(x)
    with HostSession() as session:
        dense = session.run(tf.jacobian(y, x), {x: np.zeros((2, 5, 4, 2))})
    np.testing.assert_array_equal(tf.sparsity(y, x).to_dense(), dense != 0)


def test_filters_and_maxima():
    x, f = tf.placeholder(tf.float64, [2, 5, 4, 2]), tf.placeholder(tf.float64, [3, 2, 2, 3])
    y = tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME")
    pooled = tf.nn.max_pool(x, 2, 1, "SAME")
    rng = np.random.default_rng(0)
    with HostSession() as session:
        by_filter, by_image = session.run([tf.jacobian(y, f), tf.jacobian(pooled, x)],
                                          {x: rng.normal(size=x.shape), f: rng.normal(size=f.shape)})
    assert not (~tf.sparsity(y, f).to_dense() & (by_filter != 0)).any()
    assert len(tf.sparsity(y, f)) == y.shape.num_elements() * 12
    assert not (~tf.sparsity(pooled, x).to_dense() & (by_image != 0)).any()
    assert len(tf.sparsity(pooled, x)) == 2 * 2 * (4 * 3 * 4 + 4 * 2 + 3 * 2 + 1)


def test_what_makes_it_dense():
    x = tf.placeholder(tf.float64, [4, 4])
    pattern = tf.sparsity(tf.linalg.inv(x, name="inverse"), x)
    assert len(pattern) == 256 and [op.name for op, _ in pattern.dense] == ["inverse"]


def test_errors():
    x = tf.placeholder(tf.float64, [30_000])
    y = tf.cumsum(x, name="running") * 2.0
    with pytest.raises(ValueError, match="(?s)tf.sparsity: .*900,000,000 entries.*'running'.*Cumsum.*Fix:"):
        tf.sparsity(y, x)
    with pytest.raises(ValueError, match="tf.jacobian: .*running"):
        tf.jacobian(y, x, sparse=True)
    unknown = tf.placeholder(tf.float64, [None])
    with pytest.raises(ValueError, match="(?s)tf.sparsity needs known shapes.*Fix:"):
        tf.sparsity(unknown * 2.0, unknown)
    with pytest.raises(TypeError, match="(?s)complex64, but tf.jacobian.*real.*Fix:"):
        z = tf.placeholder(tf.complex64, [2])
        tf.jacobian(z * z, z, sparse=True)
    with pytest.raises(ValueError, match="a pattern is for one x"):
        tf.jacobian(x * x, [x, x], sparse=np.eye(3))
    with pytest.raises(ValueError, match="row_dims"):
        tf.SparseTensorValue(np.zeros((0, 3), np.int64), np.zeros(0), [2, 2, 2]).to_scipy()
    with pytest.raises(ValueError, match="part of a graph"):
        tf.SparseTensor([[0, 0]], [1.0], [2, 2]).to_scipy()


def test_pictures():
    x = tf.placeholder(tf.float64, [1000])
    pattern = tf.sparsity(x[1:] - x[:-1], x)
    assert pattern.svg().startswith("<svg") and pattern.svg().count("<rect") == 1 + 200 + 199 and pattern._repr_svg_()
    assert "1,998 entries" in str(pattern)


def test_gather_nd_has_second_derivatives_by_rows():
    """Its gradient was given slices of slices."""
    x = tf.placeholder(tf.float64, [4])
    y = tf.gather_nd(x, [[1], [1], [3]]) ** 2
    (slope,) = tf.gradients(y, x)
    (second,) = tf.gradients(tf.gather_nd(tf.convert_to_tensor(slope), [[1], [0]]), x)
    with HostSession() as session:
        np.testing.assert_array_equal(session.run(tf.convert_to_tensor(second), {x: np.ones(4)}), [0, 4, 0, 0])


def _entries(matrix):
    rows, columns = np.nonzero(matrix)
    return Entries(rows, columns, matrix.shape)


@pytest.mark.parametrize("bands", [2, 6, 10])
def test_colours_of_bands(bands):
    """With r bands beside the diagonal a star colouring has 2 floor(r / 2) + 1 colours (Gebremedhin et al. 2009)."""
    matrix = np.abs(np.subtract.outer(np.arange(60), np.arange(60))) <= bands // 2
    colours = star_colours(_entries(matrix), (60,))
    assert colours.max() + 1 == bands + 1 and separates_symmetric(_entries(matrix), colours)


def test_star_colours_of_grids_are_five():
    """That is the least for large ones (Fertin, Raspaud and Reed 2004)."""
    places = np.stack(np.unravel_index(np.arange(144), (12, 12)), 1)
    matrix = np.abs(places[:, None] - places).sum(-1) <= 1
    assert star_colours(_entries(matrix), (12, 12)).max() + 1 == 5


@pytest.mark.parametrize("seed", range(20))
def test_colourings_of_random_matrices_separate(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.random((12, 9)) < 0.25
    matrix[rng.integers(12)] |= rng.random(9) < 0.8
    entries = _entries(matrix)
    found = checked(plan(entries, (9,), (12,), bool(seed % 2)), entries)
    assert sum(found.products) <= min(9, 12)
    square = rng.random((10, 10)) < 0.2
    square |= square.T | np.eye(10, dtype=bool)
    colours = star_colours(_entries(square), (10,))
    assert separates_symmetric(_entries(square), colours)
    assert colours.max() <= column_colours(_entries(square)).max()
