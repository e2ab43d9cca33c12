"""The argument `grad_ys` of `gradients`, and the convention for complex tensors.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from tests.support.sessions import run

pytestmark = pytest.mark.usefixtures("graph")


def test_grad_ys_multiply_each_y():
    x = tf.constant([1.0, 2.0])
    y, z = 2 * x, x * x
    (g,) = tf.gradients([y, z], x, grad_ys=[None, [10.0, 100.0]])
    np.testing.assert_array_equal(run(g), [22, 402])


def test_default_grad_ys_have_the_dynamic_shape_of_y():
    x = tf.placeholder(tf.float32, [None])
    (g,) = tf.gradients(x * x, x)
    np.testing.assert_array_equal(run(g, {x: [1.0, 2.0, 3.0]}), [2, 4, 6])


def test_indexed_slices_as_grad_y():
    x = tf.placeholder(tf.float32, [3, 2])
    slices = tf.IndexedSlices(tf.constant([[5.0, 6.0]]), tf.constant([1]), tf.constant([3, 2]))
    (g,) = tf.gradients(tf.identity(x), x, grad_ys=[slices])
    value = run(g, {x: np.zeros((3, 2))})
    np.testing.assert_array_equal(value.values, [[5, 6]])
    (scaled,) = tf.gradients(2.0 * x, x, grad_ys=[slices])
    np.testing.assert_array_equal(run(scaled, {x: np.zeros((3, 2))}).values, [[10, 12]])
    (dense,) = tf.gradients(tf.constant([1.0, 2.0]) * x, x, grad_ys=[slices])
    np.testing.assert_array_equal(run(dense, {x: np.zeros((3, 2))}), [[0, 0], [5, 12], [0, 0]])
    np.testing.assert_array_equal(run(tf.multiply(slices, 2.0)), [[0, 0], [10, 12], [0, 0]])


@pytest.mark.parametrize(
    ("grad_ys", "error", "text"),
    [
        ([1.0, 1.0], ValueError, "Passed 2 grad_ys for 1 ys"),
        ([np.float32([1, 2, 3])], ValueError, r"(?s)grad_ys\[0\] has shape \(3,\).*\(2,\).*Built at.*Fix"),
        (["a"], TypeError, r"grad_ys\[0\] does not fit"),
    ],
)
def test_grad_ys_that_do_not_fit(grad_ys, error, text):
    x = tf.constant([1.0, 2.0])
    with pytest.raises(error, match=text):
        tf.gradients(2 * x, x, grad_ys=grad_ys)


def test_grad_y_of_another_dtype():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(TypeError, match=r"(?s)Gradient type int32 generated for real.*must be float32.*tf.cast"):
        tf.gradients(2 * x, x, grad_ys=[tf.constant([1, 2])])


def test_complex_convention():
    x = tf.constant(1 + 2j)
    (g,) = tf.gradients(x * x * tf.constant(3j), x, grad_ys=tf.constant(1 + 0j))
    assert run(g) == -12 - 6j
    (g,) = tf.gradients(tf.abs(x), x)
    assert run(g) == pytest.approx((1 + 2j) / np.sqrt(5))
    (g,) = tf.gradients(tf.exp(x), x, grad_ys=tf.constant(1j))
    assert run(g) == pytest.approx(1j * np.conj(np.exp(1 + 2j)))


def test_complex_ys_need_grad_ys():
    x = tf.placeholder(tf.complex64, [2], name="x")
    with pytest.raises(TypeError, match=r"Gradients of complex tensors .* must set grad_ys \(y.dtype = complex64\)"):
        tf.gradients(x, x)


@pytest.mark.parametrize(
    ("grad_ys", "text"),
    [
        (lambda: tf.constant([1.0, 2.0], tf.float64), "Gradient type float64 generated for real or integer-valued"),
        (lambda: tf.constant([1j, 2j]), "Gradient type complex128 generated for real or integer-valued tensor"),
        (lambda: tf.constant([True, False]), "Gradient type bool generated for real or integer-valued tensor"),
    ],
)
def test_grad_ys_of_other_kinds(grad_ys, text):
    x = tf.placeholder(tf.float32, [2])
    with pytest.raises(TypeError, match=f"(?s){text}.*Built at test_grad_ys.py.*Fix"):
        tf.gradients(2 * x, x, grad_ys=[grad_ys()])


def test_a_scalar_grad_y_does_not_stand_for_all_elements():
    x = tf.placeholder(tf.float32, [2])
    with pytest.raises(ValueError, match="Incompatible shapes between op input and calculated input gradient"):
        tf.gradients(2 * x, x, grad_ys=[1.0])


def test_grad_ys_of_unknown_shape():
    x = tf.placeholder(tf.float32, [2])
    for shape in (None, [None]):
        weights = tf.placeholder(tf.float32, shape)
        (g,) = tf.gradients(2 * x, x, grad_ys=[weights])
        assert g.shape.as_list() == [2]
        assert run(g, {x: [0, 0], weights: [3, 4]}).tolist() == [6, 8]


def test_grad_ys_as_tensorflow_pairs_them_with_ys():
    x = tf.placeholder(tf.float32, [2])
    ys = [2 * x, 3 * x]
    results = [tf.gradients(ys, x, grad_ys=g)[0] for g in (None, [None, None], ([1.0, 10.0], None))]
    assert [v.tolist() for v in run(results, {x: [0, 0]})] == [[5, 5], [5, 5], [5, 23]]
    for wrong in (1.0, [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]):
        count = 3 if wrong == [1.0, 2.0, 3.0] else 1
        with pytest.raises(ValueError, match=f"Length mismatch. Passed {count} grad_ys for 2 ys"):
            tf.gradients(ys, x, grad_ys=wrong)


def test_integers_and_booleans_among_ys_are_ignored():
    x, n = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int32, [2])
    (g,) = tf.gradients([2 * x, n * n, tf.cast(x, tf.int32), x > 0], x)
    assert run(g, {x: [1, 1]}).tolist() == [2, 2]
    assert tf.gradients([n * n, x > 0], [n, x]) == [None, None]


def test_an_integer_y_that_is_x_gives_its_grad_y():
    n = tf.placeholder(tf.int32, [2])
    (g,) = tf.gradients(n, n, grad_ys=[tf.constant([3, 4])])
    assert g.dtype is tf.int32 and run(g).tolist() == [3, 4]


@pytest.mark.parametrize("dtype", [tf.string, tf.bool])
def test_strings_and_booleans_take_no_grad_y(dtype):
    y = tf.placeholder(dtype, [1])
    with pytest.raises(TypeError, match=f"(?s)with type {dtype.name} must be numeric.*Built at.*Fix: leave it out"):
        tf.gradients(y, y, grad_ys=[tf.zeros_like(y)])


def test_complex_ys_among_real_ones():
    z = tf.placeholder(tf.complex64, [2])
    with pytest.raises(TypeError, match="Gradient type float32 generated for complex-valued tensor"):
        tf.gradients(z * z, z, grad_ys=[tf.constant([1.0, 2.0])])
    (g,) = tf.gradients([tf.abs(z), z], z, grad_ys=[None, tf.constant([1j, 1j], tf.complex64)])
    np.testing.assert_allclose(run(g, {z: [2j, 3]}), [2j, 1 + 1j])


def test_parts_of_a_sparse_grad_y_can_be_fetched_and_fed(graph):
    x = tf.placeholder(tf.float32, [3, 2])
    slices = tf.IndexedSlices(tf.constant([[5.0, 6.0]]), tf.constant([1], tf.int64), tf.constant([3, 2], tf.int64))
    (g,) = tf.gradients(tf.identity(x), x, grad_ys=[slices])
    assert [t.op.name for t in (g.values, g.indices, g.dense_shape)] == [
        "gradients/grad_ys_0_values", "gradients/grad_ys_0_indices", "gradients/grad_ys_0_shape"]
    values, indices = run([g.values, g.indices])
    assert values.tolist() == [[5, 6]] and indices.dtype == np.int64
    fed = run(g, {g.values: [[7.0, 8.0]], g.indices: [2]})
    assert fed.values.tolist() == [[7, 8]] and fed.indices.tolist() == [2]
    wrong = tf.IndexedSlices(tf.constant([[5.0, 6.0]], tf.float64), tf.constant([1]))
    with pytest.raises(TypeError, match="Gradient type float64 generated for real"):
        tf.gradients(tf.identity(x), x, grad_ys=[wrong])
