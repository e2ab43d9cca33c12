"""The public functions of arithmetic and reductions that are more than one op: values, derivatives, names, errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.errors import InvalidArgumentError
from graphgrad.ir import dtypes
from graphgrad.ir.graph import Graph
from tests.support.host import evaluate, placeholder
from tests.support.table import generator

from .test_ops import check_derivatives

_LGAMMA = np.vectorize(math.lgamma)
_X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
_P = np.array([[0.2, 0.6, 0.9], [1.1, 0.3, 1.7]])

# What a function gives for float64 inputs, and NumPy's word for it.
_VALUES: dict[str, tuple[Any, Any]] = {
    "reduce_logsumexp": (lambda x: tf.reduce_logsumexp(x, 1), lambda x: np.log(np.exp(x).sum(1))),
    "reduce_logsumexp_all": (tf.reduce_logsumexp, lambda x: np.log(np.exp(x).sum())),
    "reduce_logsumexp_kept": (lambda x: tf.reduce_logsumexp(x, [0], keepdims=True),
                              lambda x: np.log(np.exp(x).sum(0, keepdims=True))),
    "reduce_variance": (lambda x: tf.math.reduce_variance(x, 0), lambda x: x.var(0)),
    "reduce_std": (lambda x: tf.math.reduce_std(x, -1, keepdims=True), lambda x: x.std(-1, keepdims=True)),
    "euclidean": (lambda x: tf.math.reduce_euclidean_norm(x, 1), lambda x: np.sqrt((x * x).sum(1))),
    "mean_of_many_axes": (lambda x: tf.reduce_mean(x, [0, -1]), lambda x: x.mean()),
    "clip_by_value": (lambda x: tf.clip_by_value(x, -0.9, 0.9), lambda x: np.clip(x, -0.9, 0.9)),
    "clip_by_norm": (lambda x: tf.clip_by_norm(x, 1.5), lambda x: x * 1.5 / max(np.sqrt((x * x).sum()), 1.5)),
    "clip_by_norm_axes": (lambda x: tf.clip_by_norm(x, 1.5, axes=[1]),
                          lambda x: x * 1.5 / np.maximum(np.sqrt((x * x).sum(1, keepdims=True)), 1.5)),
    "not_clipped": (lambda x: tf.clip_by_norm(x, 100.0), lambda x: x),
    "clip_by_global_norm": (lambda x: tf.clip_by_global_norm([x, None, 2.0 * x], 1.0)[0][2],
                            lambda x: 2 * x / np.sqrt(5 * (x * x).sum())),
    "global_norm": (lambda x: tf.global_norm([x, None, x]), lambda x: np.sqrt(2 * (x * x).sum())),
    "polyval": (lambda x: tf.math.polyval([2.0, x, -1.0], x), lambda x: 2 * x * x + x * x - 1),
    "log_sigmoid": (tf.log_sigmoid, lambda x: -np.log1p(np.exp(-x))),
    "truediv": (lambda x: tf.truediv(x, 3.0), lambda x: x / 3),
    "reciprocal_no_nan": (tf.math.reciprocal_no_nan, lambda x: 1 / x),
    "angle": (lambda x: tf.math.angle(tf.complex(x, 2.0 * x)), lambda x: np.angle(x + 2j * x)),
    "abs_of_complex": (lambda x: tf.abs(tf.complex(x, 2.0 * x)), lambda x: np.abs(x + 2j * x)),
    "sign_of_complex": (lambda x: tf.math.imag(tf.sign(tf.complex(x, 2.0 * x))), lambda x: np.sign(x) * 2 / 5**0.5),
    "unsorted_segment_mean": (lambda x: tf.math.unsorted_segment_mean(x, [1, 1], 3),
                              lambda x: np.stack([0 * x[0], x.mean(0), 0 * x[0]])),
    "unsorted_segment_sqrt_n": (lambda x: tf.math.unsorted_segment_sqrt_n(x, [1, 1], 2),
                                lambda x: np.stack([0 * x[0], x.sum(0) / 2**0.5])),
    "scalar_mul": (lambda x: tf.scalar_mul(3.0, x), lambda x: 3 * x),
    "accumulate_n": (lambda x: tf.accumulate_n([x, x, x]), lambda x: 3 * x),
    "exclusive_logsumexp": (lambda x: tf.math.cumulative_logsumexp(x, 1, exclusive=True)[:, 1:],
                            lambda x: np.log(np.cumsum(np.exp(x), 1))[:, :-1]),
    "exclusive_logsumexp_back": (lambda x: tf.math.cumulative_logsumexp(x, 1, exclusive=True, reverse=True)[:, :-1],
                                 lambda x: np.log(np.cumsum(np.exp(x[:, ::-1]), 1))[:, 1::-1]),
}
# For positive inputs.
_POSITIVE: dict[str, tuple[Any, Any]] = {
    "lbeta": (tf.lbeta, lambda p: _LGAMMA(p).sum(-1) - _LGAMMA(p.sum(-1))),
    "erfcinv": (tf.math.erfcinv, None),
    "saturate_cast": (lambda p: tf.saturate_cast(p, tf.float32), lambda p: p.astype(np.float32)),
    "xlogy": (lambda p: tf.math.xlogy(p, 2.0 * p), lambda p: p * np.log(2 * p)),
}
_FUNCTIONS = {**{k: (*v, _X) for k, v in _VALUES.items()}, **{k: (*v, _P) for k, v in _POSITIVE.items()}}


@pytest.mark.parametrize("name", [n for n, f in _FUNCTIONS.items() if f[1]])
def test_value(name: str) -> None:
    """Eager and graph mode give what NumPy gives, also for unknown shapes."""
    function, reference, x = _FUNCTIONS[name]
    want = reference(x)
    np.testing.assert_allclose(np.asarray(function(tf2.constant(x))), want, rtol=1e-6)
    for shape in (x.shape, (None, None), None):
        with Graph().as_default() as graph:
            t = placeholder(graph, dtypes.float64, shape)
            y = function(t)
            assert y.shape.is_compatible_with(want.shape)
            (got,) = evaluate([y], {t: x})
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_derivatives(name: str) -> None:
    """First and second derivatives agree with finite differences, also for unknown shapes."""
    function, _, x = _FUNCTIONS[name]
    for shape in (x.shape, (None, None), None):
        with Graph().as_default() as graph:
            t = placeholder(graph, dtypes.float64, shape)
            y = function(t)
            check_derivatives(graph, [y], [t], {t: x}, 2, generator(name), what=f"shape {shape}, ")


_REDUCTIONS = ["Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"]


@pytest.mark.parametrize("op_type", _REDUCTIONS)
@pytest.mark.parametrize("keep", [False, True])
def test_axes_known_only_at_run_time(op_type: str, keep: bool) -> None:
    """The gradient of a reduction does not need to know axes or rank while it is built."""
    x = np.arange(1.0, 25.0).reshape(2, 3, 4) * (-1.0) ** np.arange(24).reshape(2, 3, 4) / 7
    for axes in ([0], [-1, 0], [1]):
        for shape in ((2, 3, 4), (None, 3, None), None):
            with Graph().as_default() as graph:
                t = placeholder(graph, dtypes.float64, shape)
                a = placeholder(graph, dtypes.int32, (None,))
                y = getattr(tf.raw_ops, op_type)(input=t, axis=a, keep_dims=keep)
                feeds = {t: x, a: np.array(axes, np.int32)}
                check_derivatives(graph, [y], [t], feeds, 2, generator(op_type, axes), what=f"{shape} {axes} ")


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_scans_of_unknown_size(exclusive: bool, reverse: bool) -> None:
    """The gradients of running products and log-sum-exps need not know how many elements there are."""
    x = np.array([[0.5, 2.0, 0.0, -1.0, 3.0], [1.0, 0.3, 2.0, 1.5, -2.0]])
    for function in (tf.cumprod, tf.math.cumulative_logsumexp):
        slopes = []
        for shape in ((2, 5), (2, None), None):
            with Graph().as_default() as graph:
                t = placeholder(graph, dtypes.float64, shape)
                y = tf.exp(function(t, 1, exclusive=exclusive, reverse=reverse))
                (g,) = tf.gradients(y, [t])
                slopes.append(evaluate([g], {t: x})[0])
        np.testing.assert_allclose(slopes[1], slopes[0], rtol=1e-10)
        np.testing.assert_allclose(slopes[2], slopes[0], rtol=1e-10)


def test_gradient_of_product_with_zeros() -> None:
    """All mixed derivatives of a product hold at zeros."""
    with Graph().as_default() as graph:
        x = placeholder(graph, dtypes.float64, (4,))
        y = tf.reduce_prod(x)
        first = tf.gradients(y, x)[0]
        second = tf.gradients(first[0], x)[0]
        third = tf.gradients(second[1], x)[0]
        values = evaluate([first, second, third], {x: np.array([0.0, 0.0, 0.0, 5.0])})
    np.testing.assert_array_equal(values[0], 0)
    np.testing.assert_array_equal(values[1], 0)
    np.testing.assert_array_equal(values[2], [0, 0, 5, 0])


def _slices() -> Any:
    return tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0, 2]), tf.constant([3, 2]))


def test_indexed_slices() -> None:
    """Sums make them dense, clipping and scaling keep them."""
    with Graph().as_default():
        dense = tf.constant(np.ones((3, 2), np.float32))
        total = tf.add_n([dense, _slices()])
        clipped = [tf.clip_by_value(_slices(), 1.5, 3.5), tf.clip_by_norm(_slices(), 1.0),
                   tf.scalar_mul(2.0, _slices()), tf.cast(_slices(), tf.float64),
                   tf.clip_by_global_norm([_slices(), None], 1.0)[0][0]]
        assert all(isinstance(c, tf.IndexedSlices) for c in clipped)
        values = evaluate([total, *[c.values for c in clipped]])
    raw = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(values[0], [[2, 3], [1, 1], [4, 5]])
    np.testing.assert_array_equal(values[1], np.clip(raw, 1.5, 3.5))
    np.testing.assert_allclose(values[2], raw / np.sqrt(30), rtol=1e-6)
    np.testing.assert_array_equal(values[3], 2 * raw)
    assert values[4].dtype == np.float64
    np.testing.assert_allclose(values[5], raw / np.sqrt(30), rtol=1e-6)


def test_a_norm_that_is_infinite() -> None:
    """Clipping by an infinite global norm gives NaN, not zero."""
    (clipped,), norm = tf.clip_by_global_norm([tf.constant([np.inf, 1.0], tf.float32)], 1.0)
    assert np.isinf(norm.numpy()) and np.isnan(clipped.numpy()).all()


_NAMES = [
    (lambda x: tf.add(x, 1.0), "Add", "AddV2"), (lambda x: tf.multiply(x, 2.0), "Mul", "Mul"),
    (lambda x: tf.divide(x, 2.0), "truediv", "RealDiv"), (lambda x: tf.div(x, 2.0), "div", "RealDiv"),
    (lambda x: tf.div(tf.constant([1]), 2), "div", "FloorDiv"), (lambda x: tf.mod(x, 2.0), "FloorMod", "FloorMod"),
    (lambda x: tf.floordiv(x, 2.0), "floordiv", "FloorDiv"), (lambda x: tf.pow(x, 2.0), "Pow", "Pow"),
    (lambda x: tf.abs(x), "Abs", "Abs"), (lambda x: tf.reduce_sum(x), "Sum", "Sum"),
    (lambda x: tf.reduce_mean(x, 0, name="loss"), "loss", "Mean"), (lambda x: tf.argmax(x, 0), "ArgMax", "ArgMax"),
    (lambda x: tf.to_int32(x), "ToInt32", "Cast"), (lambda x: tf.cast(x, tf.int32), "Cast", "Cast"),
    (lambda x: tf.reduce_logsumexp(x), "ReduceLogSumExp", "AddV2"),
    (lambda x: tf.clip_by_value(x, 0.0, 1.0), "clip_by_value", "Maximum"),
    (lambda x: tf.clip_by_norm(x, 1.0), "clip_by_norm", "RealDiv"),
    (lambda x: tf.global_norm([x]), "global_norm/global_norm", "Sqrt"),
    (lambda x: tf.math.reduce_std(x), "reduce_std/Sqrt", "Sqrt"), (lambda x: tf.log_sigmoid(x), "LogSigmoid", "Neg"),
    (lambda x: tf.math.reduce_variance(x), "reduce_variance/Mean_1", "Mean"),
    (lambda x: tf.logical_xor(x > 0, x < 0), "LogicalXor", "LogicalAnd"),
    (lambda x: tf.complex(x, x), "Complex", "Complex"),
    (lambda x: tf.count_nonzero(x), "count_nonzero/Sum", "Sum"),
    (lambda x: tf.saturate_cast(x, tf.int8), "saturate_cast", "Cast"),
    (lambda x: tf.clip_by_global_norm([x], 1.0)[0][0], "clip_by_global_norm/clip_by_global_norm/_0", "Mul"),
]


@pytest.mark.parametrize("function, name, op_type", _NAMES, ids=[n for _, n, _ in _NAMES])
def test_names(function: Any, name: str, op_type: str) -> None:
    """Operations are called what TensorFlow calls them."""
    with Graph().as_default() as graph:
        result = function(placeholder(graph, dtypes.float32, (3,)))
    assert result.op.name == name
    assert result.op.type == op_type


def test_nothing_is_added_needlessly() -> None:
    """What is there already is handed back."""
    with Graph().as_default() as graph:
        x = placeholder(graph, dtypes.float32, (3,))
        n = placeholder(graph, dtypes.int32, (3,))
        assert tf.cast(x, tf.float32) is x
        assert tf.add_n([x]) is x
        assert tf.round(n) is n
        assert tf.math.real(x) is x
        assert tf.math.conj(x) is x
        assert len(graph.get_operations()) == 2


def test_true_division_of_integers() -> None:
    """Short integers are divided as float32, longer ones as float64, bool not at all."""
    for source, wanted in ((np.int8, "float32"), (np.uint16, "float32"), (np.int32, "float64"), (np.int64, "float64")):
        got = tf2.truediv(np.array([7], source), np.array([2], source))
        assert got.dtype.name == wanted and got.numpy()[0] == 3.5
    assert tf2.divide(7, 2).numpy() == 3.5
    assert tf2.math.divide_no_nan(7, 0).numpy() == 0
    with pytest.raises(TypeError, match="numeric dtype"):
        tf2.truediv(tf2.constant([True]), tf2.constant([True]))
    with pytest.raises(TypeError, match="same dtype"):
        tf2.truediv(tf2.constant([1]), tf2.constant([1], tf2.int64))


def test_saturate_cast() -> None:
    """The ends of a range that floats cannot express exactly are not overstepped."""
    values = tf2.saturate_cast(tf2.constant([1e20, -1e20, 5.5]), tf2.int32).numpy()
    np.testing.assert_array_equal(values, [2147483520, -2147483648, 5])
    np.testing.assert_array_equal(tf2.saturate_cast(tf2.constant([-5, 300]), tf2.uint8), [0, 255])
    np.testing.assert_array_equal(tf2.saturate_cast(tf2.constant([-5, 7]), tf2.uint64), [0, 7])
    top = np.finfo(np.float32).max
    np.testing.assert_array_equal(tf2.saturate_cast(np.array([1e300, -2.0]), tf2.float32), [top, -2])


def test_arguments_of_tensorflow_1() -> None:
    """The older names of axes work; both names together are refused."""
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    assert tf.reduce_sum(x, reduction_indices=[0], keep_dims=True).shape == (1, 2)
    np.testing.assert_array_equal(tf.reduce_max(x, reduction_indices=1), [2, 5])
    np.testing.assert_array_equal(tf.argmax(x, dimension=1), [1, 1])
    np.testing.assert_array_equal(tf.count_nonzero(x, reduction_indices=0), [2, 2])
    with pytest.raises(ValueError, match="Cannot specify both 'reduction_indices' and 'axis'"):
        tf.reduce_sum(x, axis=0, reduction_indices=0)
    with pytest.raises(ValueError, match="Cannot specify both 'keep_dims' and 'keepdims'"):
        tf.reduce_sum(x, keepdims=True, keep_dims=True)


def test_bincount() -> None:
    """The length follows the largest number, within the limits that are given."""
    np.testing.assert_array_equal(tf2.math.bincount([1, 1, 3]), [0, 2, 0, 1])
    np.testing.assert_array_equal(tf2.math.bincount([1], minlength=3), [0, 1, 0])
    np.testing.assert_array_equal(tf2.math.bincount([1, 4], maxlength=3), [0, 1, 0])
    np.testing.assert_array_equal(tf2.math.bincount([1, 0], weights=[0.5, 2.0]), [2.0, 0.5])
    np.testing.assert_array_equal(tf2.math.bincount([[1, 1], [0, 2]], axis=-1), [[0, 2, 0], [1, 0, 1]])
    np.testing.assert_array_equal(tf2.math.bincount(np.zeros(0, np.int32)), np.zeros(0))


def test_confusion_matrix() -> None:
    """Rows are true classes; weights count."""
    np.testing.assert_array_equal(tf.confusion_matrix([[2], [0]], [1, 0]), [[1, 0, 0], [0, 0, 0], [0, 1, 0]])
    weighted = tf2.math.confusion_matrix([0, 1], [1, 1], num_classes=2, weights=[0.5, 2.0], dtype=tf2.float32)
    np.testing.assert_array_equal(weighted, [[0, 0.5], [0, 2]])
    with pytest.raises(InvalidArgumentError):
        tf.confusion_matrix([0, 3], [0, 1], num_classes=2)


_ERRORS = [
    (lambda: tf.add_n([]), ValueError, "at least one tensor"),
    (lambda: tf.accumulate_n([]), ValueError, "at least one Tensor"),
    (lambda: tf.scalar_mul(tf.constant([2.0]), tf.constant(1.0)), ValueError, "0-D"),
    (lambda: tf.math.reduce_variance(tf.constant([1])), TypeError, "either real or complex"),
    (lambda: tf.clip_by_global_norm(tf.constant([1.0]), 1.0), TypeError, "sequence"),
    (lambda: tf.math.polyval((1.0, 2.0), 1.0), ValueError, "list"),
    (lambda: tf.complex(1, 2), TypeError, "incorrect types"),
    (lambda: tf.math.conj(tf.constant(True)), TypeError, "numeric"),
    (lambda: tf.cast("a", tf.int32), TypeError, "has DataType string"),
    (lambda: tf.math.bincount([-1]), InvalidArgumentError, "non-negative"),
    (lambda: tf2.math.bincount([1], axis=2), ValueError, "axis=2"),
    (lambda: tf.clip_by_value([1.0, 2.0], [0.0], [[1.0], [2.0]]), ValueError, "incompatible"),
    (lambda: tf.reduce_sum(tf.constant([True])), TypeError, "allowed values"),
]


@pytest.mark.parametrize("call, cls, text", _ERRORS, ids=[e[2] for e in _ERRORS])
def test_errors(call: Any, cls: type[Exception], text: str) -> None:
    """Bad input to functions that are more than one op."""
    with pytest.raises(cls, match=text):
        call()


@pytest.mark.usefixtures("graph")
def test_select() -> None:
    """Elements of the first choice that applies, of the dtype of all choices, and their gradients."""
    x = tf.constant([1.0, -2.0, 3.0])
    y = tf2.experimental.numpy.select([x < 0.0, x > 2.0], [x * x, tf.constant(7)], x)
    with tf.Session() as sess:
        assert sess.run(y).tolist() == [1.0, 4.0, 7.0] and y.dtype is tf.float64
        assert sess.run(tf.gradients(y, x)[0]).tolist() == [1.0, -4.0, 0.0]
    with pytest.raises(ValueError, match=r"(?s)1 conditions and 2 choices.*Fix:"):
        tf2.experimental.numpy.select([x < 0.0], [x, x])
    assert tf2.experimental.numpy.finfo(tf.float64).eps == 2.0**-52
    with pytest.raises(NotImplementedError, match="_create_resource"):
        tf2.saved_model.experimental.TrackableResource().resource_handle  # noqa: B018  # the property makes it
    assert isinstance(tf2.lookup.StaticHashTable(tf2.lookup.KeyValueTensorInitializer(["a"], [1]), 0),
                      tf2.saved_model.experimental.TrackableResource)
