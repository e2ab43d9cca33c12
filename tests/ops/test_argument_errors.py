"""What hostile arguments raise: TensorFlow's classes, in words that name the op, the line and a remedy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
import graphgrad.compat.v2 as tf2
from graphgrad import errors
from graphgrad.ir import context
from graphgrad.ir.opdef import op, raw


def _table() -> Any:
    pairs = tf.lookup.KeyValueTensorInitializer(["a"], np.array([1]))
    return tf.lookup.StaticHashTable(pairs, 0).resource_handle


_INVALID = errors.InvalidArgumentError
_KINDS: dict[str, tuple[Callable[[], Any], type[Exception], type[Exception] | None, str]] = {
    # what is called, the class in eager mode, the class while a graph is built (None: it is), the text
    "a number for a resource": (lambda: tf.raw_ops.ReadVariableOp(resource=1.0, dtype=tf.float32), TypeError, TypeError,
                                r"ReadVariableOp.*resource.*Fix: "),
    "a tensor for a resource": (lambda: tf.raw_ops.ReadVariableOp(resource=tf.constant(1.0), dtype=tf.float32),
                                TypeError, TypeError, r"ReadVariableOp.*resource.*Fix: "),
    "a number for a variant": (lambda: tf.raw_ops.TensorListLength(input_handle=1.0), TypeError, TypeError,
                               "TensorListLength.*variant.*Fix: "),
    "a table for a reader": (lambda: tf.raw_ops.ReaderResetV2(reader_handle=_table()), _INVALID, None,
                             "ReaderResetV2.*as a reader.*another kind.*Fix: give the handle of a reader"),
    "a table for a queue": (lambda: tf.raw_ops.QueueSizeV2(handle=_table()), _INVALID, None,
                            "QueueSizeV2.*as a queue.*another kind.*Fix: "),
    "a size that no rule foresees": (
        lambda: tf.raw_ops.IsotonicRegression(input=np.ones(0, np.float32)), _INVALID, None,
        r"IsotonicRegression.*ValueError.*float32 \(0,\).*Fix: "),
    "shapes that NumPy refuses": (
        lambda: tf.raw_ops.ReciprocalGrad(y=np.ones(3, np.float32), dy=np.ones((2, 2), np.float32)), _INVALID, None,
        r"ReciprocalGrad.*float32 \(3,\), dy=float32 \(2, 2\).*Fix: "),
    "a function without an op": (lambda: tf.sort(1.0), ValueError, ValueError,
                                 "sort: axis -1 is out of range.*Called at test_argument_errors.*Fix: "),
    "a function of several ops": (lambda: tf.image.adjust_jpeg_quality(1.0, 3), ValueError, ValueError, "Fix: "),
    "an integer beyond 64 bits": (lambda: tf.constant(2**64), ValueError, ValueError, "out-of-range.*Fix: "),
    "a text for a number": (lambda: tf.raw_ops.Exp(x=np.array(["a"])), TypeError, TypeError, "Exp.*Fix: "),
    "bytes that are no text": (
        lambda: tf.raw_ops.Einsum(inputs=[np.ones(2)], equation=b"\xff"), ValueError, ValueError, "Einsum.*equation"),
    "too many outputs": (lambda: tf.raw_ops.Unpack(value=np.ones(2), num=2**62), _INVALID, ValueError,
                         "Unpack.*'num' passed 4611686018427387904 greater than .*Fix: "),
    "an attribute below its least value": (
        lambda: tf.raw_ops.Split(axis=0, value=np.ones(2), num_split=0), _INVALID, ValueError,
        r"Split.*num_split.*Fix: "),
    "an attribute of another kind": (lambda: tf.raw_ops.Split(axis=0, value=np.ones(2), num_split="2"), TypeError,
                                     TypeError, "Split.*num_split.*Fix: "),
    "more than there is memory": (lambda: tf.fill([2**44], 1.0), errors.ResourceExhaustedError, None,
                                  r"Fill.*OOM when allocating.*Fix: "),
}


@pytest.fixture
def eager() -> Any:
    """Eager mode."""
    before = context.eager_by_default()
    context.set_eager_default(True)
    yield
    context.set_eager_default(before)
    context.stack.settled = False


@pytest.mark.parametrize("kind", _KINDS)
def test_eager(kind: str, eager: Any) -> None:
    """Eager mode gives TensorFlow's class, whatever Python or NumPy raised; that stays as its cause."""
    call, cls, _, text = _KINDS[kind]
    with pytest.raises(cls, match="(?s)" + text) as caught:
        call()
    if isinstance(caught.value, errors.OpError):
        assert "test_argument_errors.py" in str(caught.value)


@pytest.mark.parametrize("kind", _KINDS)
def test_building(kind: str, graph: Any) -> None:
    """What a graph can know while it is built is a ValueError or a TypeError."""
    call, _, cls, text = _KINDS[kind]
    if cls is None:
        call()
        return
    with pytest.raises(cls, match="(?s)" + text):
        call()


def test_running(graph: Any) -> None:
    """What only a run finds out names op, shapes and line, too."""
    places = tf.placeholder(tf.int64, [None])
    y = raw.RaggedFillEmptyRowsGrad(places, tf.ones([2]))
    with tf.Session() as sess, pytest.raises(_INVALID, match="(?s)RaggedFillEmptyRowsGrad.*test_argument.*Fix: "):
        sess.run(y, {places: [0, 3]})


_ONES = np.ones(2, np.float32)
_FED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    # what is built from a placeholder, and what is fed that XLA alone would not notice
    "rows that were not filled": (lambda i: tf.raw_ops.SparseFillEmptyRowsGrad(
        reverse_index_map=i, grad_values=_ONES), np.array([0, 2])),
    "places of a sum": (lambda i: tf.raw_ops.SparseReduceSum(
        input_indices=i, input_values=_ONES, input_shape=[2, 3], reduction_axes=[1]), np.array([[0, 0], [2, 0]])),
    "places of a maximum": (lambda i: tf.raw_ops.SparseReduceMax(
        input_indices=i, input_values=_ONES, input_shape=[2, 3], reduction_axes=[1]), np.array([[0, 0], [-1, 0]])),
    "places of a product": (lambda i: tf.raw_ops.SparseDenseCwiseMul(
        sp_indices=i, sp_values=_ONES, sp_shape=[2, 3], dense=np.ones((2, 3), np.float32)), np.array([[0, 0], [0, 3]])),
    "places that are added to": (lambda i: tf.raw_ops.ScatterNdNonAliasingAdd(
        input=np.ones(3, np.float32), indices=i, updates=_ONES), np.array([[0], [3]])),
    "a range of integers": (lambda n: tf.raw_ops.StatelessRandomUniformInt(
        shape=[2], seed=[1, 2], minval=np.array(5), maxval=n), np.array(5)),
}


@pytest.mark.parametrize("kind", _FED)
def test_compiled_programs_refuse_it(kind: str, graph: Any) -> None:
    """Compiled programs refuse what NumPy refuses, and the error says the same."""
    build, value = _FED[kind]
    fed = tf.placeholder(value.dtype, value.shape)
    y = build(fed)
    with tf.Session() as sess, pytest.raises(_INVALID, match="(?s)test_argument_errors.py.*Fix: "):
        sess.run(y, {fed: value})


def test_more_than_any_memory(graph: Any) -> None:
    """A program whose values are larger than any memory is refused before XLA ends the process."""
    sizes = tf.placeholder(tf.int32, [2])
    y = tf.raw_ops.RFFTND(input=np.ones((3, 4)), fft_length=sizes, axes=[0, 1], Tcomplex=tf.complex128)
    with tf.Session() as sess, pytest.raises(errors.ResourceExhaustedError, match="(?s)RFFTND.*OOM.*test_arg.*Fix: "):
        sess.run(y, {sizes: [2**31 - 1, 2**31 - 1]})


_BESIDE_OPERATIONS: dict[str, Callable[[], Any]] = {  # Python functions outside of any operation
    "infinite strides": lambda: tf.nn.avg_pool(np.ones((1, 4, 4, 1), np.float32), 2, float("inf"), "VALID"),
    "infinite bits": lambda: tf.fake_quant_with_min_max_vars_per_channel(_ONES, _ONES, _ONES, num_bits=float("inf")),
    "an infinite count": lambda: tf.approx_top_k(_ONES, k=float("inf")),
    "billions of thresholds": lambda: tf.metrics.auc([True], [0.5], num_thresholds=2**31),
    "an axis that is not there": lambda: tf.variable_axis_size_partitioner(40)(tf.TensorShape([]), tf.float32),
    "an axis beyond 32 bits": lambda: tf2.linalg.norm(_ONES, axis=2**31),
    "a variable's name": lambda: tf2.Variable(1.0, name=tf.TensorShape([2])),
}


@pytest.mark.parametrize("kind", _BESIDE_OPERATIONS)
def test_beside_operations(kind: str, graph: Any) -> None:
    """Where no operation is built, too, what Python raises becomes a ValueError that says what to give."""
    mode = contextlib.nullcontext() if "thresholds" in kind else context.use(context.EAGER)
    with mode, pytest.raises((ValueError, _INVALID), match="(?s)Fix: "):
        _BESIDE_OPERATIONS[kind]()


def test_causes(eager: Any) -> None:
    """What Python raised stays as the cause."""
    with pytest.raises(_INVALID) as caught:
        tf.raw_ops.ReciprocalGrad(y=np.ones(3, np.float32), dy=np.ones((2, 2), np.float32))
    assert isinstance(caught.value.__cause__, ValueError)


def test_errors_of_the_user(graph: Any) -> None:
    """A function of the user's raises what it raises; in a graph that is a class of TensorFlow's."""

    def fails(x: Any) -> Any:
        raise IndexError("mine")

    with context.use(context.EAGER), pytest.raises(IndexError, match="^mine$"):
        tf2.numpy_function(fails, [1.0], tf.float32)
    with tf.Session() as sess, pytest.raises(errors.UnknownError, match="IndexError: mine"):
        sess.run(tf.py_func(fails, [1.0], tf.float32))
    with tf.name_scope("block"), pytest.raises(KeyError):
        tf.map_fn(lambda x: {}[1], tf.ones([2]))


def test_limits() -> None:
    """A record says what its attributes may be."""

    @op("Limited", "x: T -> y: T", limits={"n": range(1, 9), "rate": (0.0, 1.0), "mode": frozenset({"A", "B"})},
        shape=lambda x: x)
    def limited(xp: Any, x: Any, *, n: int = 1, rate: float = 0.5, mode: str = "A") -> Any:
        """An op with limits."""
        return x

    with tf.Graph().as_default():
        limited([1.0], n=8, rate=1.0, mode="B")
        for attrs, text in (({"n": 9}, "'n' passed 9 greater than 8"), ({"rate": np.nan}, "'rate' is nan"),
                            ({"mode": "C"}, "'mode' is 'C', which is not one of A, B")):
            with pytest.raises(ValueError, match=text):
                limited([1.0], **attrs)
        with pytest.raises(TypeError, match="'n' must be an integer, not 2.0"):
            limited([1.0], n=2.0)


_FRACTIONS: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "norm": (lambda: tf.norm(np.ones((2, 3)), axis=0.5), ValueError),
    "norm of matrices": (lambda: tf.norm(np.ones((2, 3)), axis=[0.0, 1.0]), ValueError),
    "repeat": (lambda: tf.repeat([1, 2], 1.5), TypeError),
    "repeat along no axis": (lambda: tf.repeat([1, 2], 2, axis=0.5), TypeError),
    "l2_normalize": (lambda: tf.nn.l2_normalize(np.ones((2, 3)), axis=0.5), TypeError),
    "random_normal": (lambda: tf.random_normal([1.5, 2]), TypeError),
    "random_uniform": (lambda: tf.random_uniform([np.float32(2)]), TypeError),
    "linspace": (lambda: tf.linspace(0.0, 1.0, 2.5), TypeError),
    "range": (lambda: tf.range(1.5, dtype=tf.int32), TypeError),
    "rot90": (lambda: tf.image.rot90(np.ones((4, 4, 1)), k=1.5), TypeError),
}


@pytest.mark.parametrize("eager", [True, False])
@pytest.mark.parametrize("name", _FRACTIONS)
def test_numbers_with_fractions_are_no_integers(name: str, eager: bool) -> None:
    """They were cut off without a word; the classes are TensorFlow's."""
    call, error = _FRACTIONS[name]
    with contextlib.nullcontext() if eager else tf.Graph().as_default(), pytest.raises(error, match="(?i)integer"):
        call()


def test_numbers_beyond_a_dtype_are_not_cut_off() -> None:
    with pytest.raises(TypeError, match=r"'range' is 300, beyond the limits of uint8.*\n.*Built at .*\n.*Fix: "):
        tf.range(300, dtype=tf.uint8)


def test_whole_numbers_of_every_kind_are_sizes() -> None:
    assert tf.repeat([1, 2], np.float64(2)).shape == [4]
    assert tf.random_normal([tf.Dimension(2), np.int64(3)]).shape == [2, 3]
    assert tf.norm(np.ones((2, 3)), axis=np.int64(0)).shape == [3]
    assert tf.linspace(0.0, 1.0, tf.Dimension(3)).shape == [3]
