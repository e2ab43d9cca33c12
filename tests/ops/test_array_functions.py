"""Subscripts and the array functions that consist of several ops, against NumPy, whatever is known of the shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import context
from graphgrad.ops.array import strided_slice
from tests.support.host import evaluate, placeholder
from tests.support.table import generator

from .test_ops import check_derivatives

X = np.round(generator("array functions").uniform(-2, 2, (3, 4, 5)), 3)
KNOWN = {"static": (3, 4, 5), "sizes hidden": (None, None, None), "rank hidden": None}


def _feed(graph: Any, value: Any, shape: Any = ()) -> tuple[Any, dict[Any, Any]]:
    array = np.asarray(value)
    t = placeholder(graph, tf.as_dtype(array.dtype), array.shape if shape == () else shape)
    return t, {t: array}


# -- subscripts --------------------------------------------------------------------

_bounds = st.one_of(st.none(), st.integers(-6, 6))
_slices = st.builds(slice, _bounds, _bounds, st.sampled_from([None, 1, 2, -1, -3]))


@st.composite
def _keys(draw: Any) -> tuple[Any, ...]:
    """A subscript of a (3, 4, 5) tensor, with at most one `...` and some new axes."""
    items: list[Any] = []
    for size in (3, 4, 5):
        items.append(draw(st.one_of(st.integers(-size, size - 1), _slices)))
    first, last = sorted((draw(st.integers(0, 3)), draw(st.integers(0, 3))))
    if draw(st.booleans()):
        items[first:last] = [Ellipsis]
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    return tuple(items)


@settings(deadline=None, max_examples=150)
@given(key=_keys(), fed=st.booleans(), known=st.sampled_from(sorted(KNOWN)))
def test_subscripts(key: tuple[Any, ...], fed: bool, known: str) -> None:
    """x[key] is NumPy's, its static shape is true, and its derivatives are right; indices may be fed."""
    want = X[key]
    graph = tf.Graph()
    with graph.as_default():
        x, feeds = _feed(graph, X, KNOWN[known])
        parts = []
        for item in key:
            if fed and isinstance(item, int):
                item, more = _feed(graph, np.int32(item))
                feeds.update(more)
            parts.append(item)
        y = x[tuple(parts)]
        if known == "static":
            assert tuple(y.shape.as_list()) == want.shape
        np.testing.assert_array_equal(evaluate([y], feeds)[0], want)
        if want.size:
            check_derivatives(graph, [y * y], [x], feeds, 2, generator("subscripts", key))


def test_an_index_that_is_fed_stays_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lowering of x[i] and x[i, 1:3] never asks for the value of i."""
    def refuse(name: str) -> None:
        raise AssertionError(f"asks for the value of {name}")

    monkeypatch.setattr(strided_slice, "NeedsHostValue", refuse)
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as sess:
        x, i = tf.constant(X), tf.placeholder(tf.int32, [])
        parts = [x[i], x[i, 1:3], x[..., i], x[:, i, ::2]]
        for n in (0, 2, -1):
            for got, want in zip(sess.run(parts, {i: n}), [X[n], X[n, 1:3], X[..., n], X[:, n, ::2]], strict=True):
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("key, error, text", [
    ("a", TypeError, "Only integers, slices"), (1.0, TypeError, "Only integers, slices"),
    (3, ValueError, "slice index 3 of dimension 0 out of bounds"), ((0, 0, 0, 0), ValueError, "has only 3 dims"),
    ((Ellipsis, Ellipsis), ValueError, "Multiple ellipses"), (True, ValueError, "mask cannot be scalar"),
])
def test_bad_subscripts(key: Any, error: Any, text: str) -> None:
    """A subscript that cannot be is an error of TensorFlow's class, with a remedy where one is known."""
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        tf.placeholder(tf.float32, [3, 4, 5])[key]


# -- composite functions -----------------------------------------------------------


def _repeat(repeats: Any, axis: Any) -> tuple[Callable[[Any], Any], Any]:
    return lambda x: tf.repeat(x, repeats, axis), np.repeat(X, repeats, axis)


_MASK = X[:, :, 0] > 0
_CASES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "repeat": _repeat(2, 1),
    "repeat, counts": _repeat([1, 0, 2], 0),
    "repeat, last axis": _repeat(3, -1),
    "repeat, flat": _repeat(2, None),
    "repeat, tensor": (lambda x: tf.repeat(x, tf.constant([1, 0, 2]) * 2, 0), np.repeat(X, [2, 0, 4], 0)),
    "boolean_mask": (lambda x: tf.boolean_mask(x, [True, False, True]), X[[0, 2]]),
    "boolean_mask, two axes": (lambda x: tf.boolean_mask(x, _MASK), X[_MASK]),
    "boolean_mask, last axes": (lambda x: tf.boolean_mask(x, _MASK[0][:, None] | (X[0] > 0), axis=1),
                                X[:, _MASK[0][:, None] | (X[0] > 0)]),
    "mask as subscript": (lambda x: x[tf.constant(X > 0)], X[X > 0]),
    "linspace": (lambda x: tf.linspace(x, x + 1.0, 4), np.linspace(X, X + 1, 4)),
    "linspace, axis": (lambda x: tf.linspace(x, x[:1] * 2.0, 3, axis=-1),
                       np.linspace(X, X[:1] * 2 + 0 * X, 3, axis=-1)),
    "linspace, one": (lambda x: tf.linspace(x, x + 1.0, 1), X[None]),
    "linspace, tensor": (lambda x: tf.linspace(x, x + 1.0, tf.size([1, 2, 3])), np.linspace(X, X + 1, 3)),
    "meshgrid": (lambda x: tf.meshgrid(x[0, 0], x[0, :, 0])[0], np.meshgrid(X[0, 0], X[0, :, 0])[0]),
    "meshgrid, ij": (lambda x: tf.meshgrid(x[0, 0], x[0, :, 0], indexing="ij")[1],
                     np.meshgrid(X[0, 0], X[0, :, 0], indexing="ij")[1]),
    "matrix_transpose": (tf.matrix_transpose, np.swapaxes(X, 1, 2)),
    "transpose": (tf.transpose, X.T),
    "sort": (tf.sort, np.sort(X)),
    "sort, downwards": (lambda x: tf.sort(x, direction="DESCENDING"), -np.sort(-X)),
    "batch_gather": (lambda x: tf.batch_gather(x, [[1], [0], [2]]), X[np.arange(3)[:, None], [[1], [0], [2]]]),
    "gather_nd, batch": (lambda x: tf.gather_nd(x, [[[1], [1]], [[0], [0]], [[2], [3]]], batch_dims=1),
                         X[np.arange(3)[:, None], [[1, 1], [0, 0], [2, 3]]]),
    "squeeze and expand": (lambda x: tf.squeeze(tf.expand_dims(x, 1), [1]), X),
    "where": (lambda x: tf2.where(x > 0, x, 0.0), np.maximum(X, 0)),
    "dynamic_partition and stitch": (
        lambda x: tf.dynamic_stitch(tf.dynamic_partition([0, 1, 2], [1, 0, 1], 2),
                                    tf.dynamic_partition(x, [1, 0, 1], 2)), X),
    "reshape by its own shape": (lambda x: tf.reshape(x, [tf.shape(x)[0], tf.shape(x)[1] * tf.shape(x)[2]]),
                                 X.reshape(3, 20)),
    "diagonal": (lambda x: tf.linalg.diag(tf.linalg.diag_part(x)), X[:, :4, :4] * np.eye(4)),
    "space to batch and back": (
        lambda x: tf.batch_to_space_nd(tf.space_to_batch_nd(x, [2], [[1, 1]]), [2], [[1, 1]]), X),
}


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("name", _CASES)
def test_functions(name: str, known: str) -> None:
    """The value is NumPy's, the static shape is true, and the derivatives are right."""
    build, want = _CASES[name]
    graph = tf.Graph()
    with graph.as_default():
        x, feeds = _feed(graph, X, KNOWN[known])
        y = build(x)
    got = evaluate([y], feeds)[0]
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert y.shape.is_compatible_with(want.shape)
    check_derivatives(graph, [y], [x], feeds, 2, generator("functions", name))


@pytest.mark.parametrize("build, want", [
    (lambda: tf.sequence_mask([[1, 3], [0, 2]]), np.arange(3) < np.array([[[1], [3]], [[0], [2]]])),
    (lambda: tf.eye(2, 3, [2], tf.int32), np.stack([np.eye(2, 3, dtype=np.int32)] * 2)),
    (lambda: tf.range(2, 3.0, 0.25), np.arange(2, 3, 0.25, np.float32)),
    (lambda: tf.one_hot([[0, 2]], 3, axis=0, dtype=tf.int32), np.array([[[1, 0]], [[0, 0]], [[0, 1]]], np.int32)),
    (lambda: tf.searchsorted([[1, 3], [2, 4]], [[3], [9]], side="right"), np.array([[2], [2]], np.int32)),
    (lambda: tf.argsort([[3, 1, 2]], axis=0), np.array([[0, 0, 0]], np.int32)),
    (lambda: tf.required_space_to_batch_paddings([5, 4], [2, 4])[0], np.array([[0, 1], [0, 0]], np.int32)),
    (lambda: tf.zeros([2, tf.size([1, 1])], tf.bool), np.zeros((2, 2), bool)),
    (lambda: tf.zeros_like(["a"]), np.array([b""], object)),
    (lambda: tf.constant([1, 2], shape=[2, 2]), np.array([[1, 2], [2, 2]], np.int32)),
    (lambda: tf.concat(0, [[1], [2]]), np.array([1, 2], np.int32)),
    (lambda: tf.unique(tf.constant([5, 3, 5])).idx, np.array([0, 1, 0], np.int32)),
])
def test_values(build: Callable[[], Any], want: Any) -> None:
    """Functions of constants give NumPy's values, of TensorFlow's dtype."""
    with tf.Graph().as_default():
        y = build()
        got = evaluate([y])[0]
    assert y.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_double_where() -> None:
    """An infinite derivative of the branch that is not chosen makes a NaN; guarding its argument does not."""
    with tf.Graph().as_default():
        x = tf.constant([0.0, 4.0])
        plain = tf2.where(x > 0, tf.log(x), 0.0)
        guarded = tf2.where(x > 0, tf.log(tf2.where(x > 0, x, 1.0)), 0.0)
        first, second = evaluate([tf.gradients(plain, x)[0], tf.gradients(guarded, x)[0]])
    np.testing.assert_array_equal(np.isnan(first), [True, False])
    np.testing.assert_allclose(second, [0.0, 0.25])


@pytest.mark.parametrize("take", [
    lambda x: x[0], lambda x: tf2.gather(x, 0), lambda x: tf2.gather_nd(x, [0]), lambda x: tf2.unstack(x)[0]])
def test_one_string_of_several(take: Any) -> None:
    """A scalar string that was taken out of a vector goes through further functions in eager mode."""
    with context.use(context.EAGER):
        one = take(tf2.constant(["a", "b"]))
        assert tf2.reshape(one, (1, 1)).numpy().tolist() == [[b"a"]]
        assert tf2.map_fn(tf2.identity, tf2.stack([one, one])).numpy().tolist() == [b"a", b"a"]


def test_slices_with_a_tuple_as_shape() -> None:
    """The dense shape of `IndexedSlices` may be a tuple."""
    with context.use(context.EAGER):
        slices = tf2.IndexedSlices(tf2.constant([[1.0, 2.0]]), tf2.constant([1]), (3, 2))
        assert slices.shape == (3, 2) and slices.dense_shape.dtype is tf2.int32
        assert tf2.convert_to_tensor(slices).numpy().tolist() == [[0, 0], [1, 2], [0, 0]]


def test_sizes_of_other_dtypes() -> None:
    """Scalar tensors in a list of sizes or axes are cast, as numbers beside them would be; a whole tensor is not."""
    with context.use(context.EAGER):
        k = tf2.constant([3.0, 2.0])
        x = tf2.range(6)
        assert tf2.reshape(x, (k[0], k[1], 1)).shape == (3, 2, 1)
        assert tf2.tile(x, [tf2.constant(2, tf2.int8)]).shape == (12,)
        assert tf2.fill((k[1], 2), 1.0).shape == (2, 2)
        assert tf2.function(lambda k: tf2.reshape(x, (k[0], k[1])))(k).shape == (3, 2)
        with pytest.raises((TypeError, tf2.errors.InvalidArgumentError), match="float"):
            tf2.reshape(x, k)
        with pytest.raises((TypeError, tf2.errors.InvalidArgumentError), match="float"):
            tf2.gather(x, (k[0], k[1]))


def test_shape_that_is_a_number() -> None:
    """Eager mode takes one number for a shape of one size; graphs refuse it."""
    with context.use(context.EAGER):
        for n in (-1, 6, np.int64(6), tf2.constant(6)):
            assert tf2.reshape(tf2.ones([2, 3]), n).shape == (6,)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be a vector"):
        tf.reshape(tf.ones([2, 3]), 6)


def test_nothing_between_two_ends() -> None:
    """`linspace` of no numbers is empty, along any axis."""
    with context.use(context.EAGER):
        assert tf2.linspace(0.0, 1.0, 0).shape == (0,)
        assert tf2.linspace([0.0, 1.0], [2.0, 3.0], 0, axis=-1).shape == (2, 0)
        with pytest.raises(ValueError, match="must not be negative"):
            tf2.linspace(0.0, 1.0, -1)


def test_distinct_nans() -> None:
    """No NaN is equal to another."""
    with context.use(context.EAGER):
        values, index, counts = tf2.unique_with_counts([1.0, np.nan, 1.0, np.nan])
        assert np.array_equal(values, [1, np.nan, np.nan], equal_nan=True)
        assert index.numpy().tolist() == [0, 1, 0, 2] and counts.numpy().tolist() == [2, 1, 1]


def test_stack_of_arrays() -> None:
    """NumPy's arrays keep their dtype when they are stacked, as in TensorFlow; its numbers do so in eager mode."""
    array, number = np.array([3.0]), np.float64(3.0)
    with context.use(context.EAGER):
        for axis in (0, -1):
            assert tf.stack([array, array], axis).dtype is tf.float64
        assert tf.stack([number, 1.0]).dtype is tf.float64 and tf.stack([1.0, number]).dtype is tf.float32
        assert tf.stack([[array, array]]).dtype is tf.float64 and tf.stack([1.0, 2.0]).dtype is tf.float32
    with tf.Graph().as_default():
        assert tf.stack([array, array]).dtype is tf.float64
        assert tf.stack([number, number]).dtype is tf.float32
