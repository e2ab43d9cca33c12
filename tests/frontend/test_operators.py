"""Operators on tensors and variables: values, names, dtypes and errors, in graphs and in eager mode."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.frontend.graph import operators

X = np.array([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]], np.float32)
Y = np.array([[2.0, 4.0, -1.0], [0.5, 8.0, 3.0]], np.float32)
I = np.array([7, -7, 4], np.int32)
J = np.array([2, 2, -3], np.int32)
B = np.array([True, True, False])
C = np.array([True, False, False])


@pytest.fixture
def sess() -> Iterator[Any]:
    """A session of a fresh graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.fixture
def elementwise_equality() -> Iterator[None]:
    """`==` as in TensorFlow 2."""
    before = operators._tensor_equality
    operators.enable_tensor_equality()
    yield
    operators._tensor_equality = before


# operator, operands, op type, name
BINARY = [
    (operator.add, X, Y, "AddV2", "add"), (operator.sub, X, Y, "Sub", "sub"), (operator.mul, X, Y, "Mul", "mul"),
    (operator.truediv, X, Y, "RealDiv", "truediv"), (operator.truediv, I, J, "RealDiv", "truediv"),
    (operator.floordiv, I, J, "FloorDiv", "floordiv"), (operator.floordiv, X, Y, "FloorDiv", "floordiv"),
    (operator.mod, I, J, "FloorMod", "mod"), (operator.pow, abs(X), Y, "Pow", "pow"),
    (operator.lt, X, Y, "Less", "Less"), (operator.le, X, Y, "LessEqual", "LessEqual"),
    (operator.gt, X, Y, "Greater", "Greater"), (operator.ge, X, Y, "GreaterEqual", "GreaterEqual"),
    (operator.and_, B, C, "LogicalAnd", "and"), (operator.or_, B, C, "LogicalOr", "or"),
    (operator.xor, B, C, "LogicalAnd", "xor"), (operator.and_, I, J, "BitwiseAnd", "and/BitwiseAnd"),
    (operator.or_, I, J, "BitwiseOr", "or/BitwiseOr"), (operator.xor, I, J, "BitwiseXor", "xor/BitwiseXor"),
    (operator.matmul, X, Y.T, "MatMul", "matmul"),
]


@pytest.mark.parametrize("op, x, y, kind, name", BINARY, ids=[f"{b[4]}-{b[1].dtype}" for b in BINARY])
def test_binary(sess: Any, op: Callable[..., Any], x: Any, y: Any, kind: str, name: str) -> None:
    """Python's operators build the op of TensorFlow's name, with an array on either side too."""
    expected = op(x, y)
    result = op(tf.constant(x), tf.constant(y))
    assert (result.op.type, result.op.name) == (kind, name)
    others = [op(tf.constant(x), y), op(x, tf.constant(y)), op(tf.Variable(x), y), op(x, tf.Variable(y)),
              op(tf.Variable(x), tf.Variable(y))]
    sess.run(tf.global_variables_initializer())
    for value in sess.run([result, *others]):
        assert value.dtype == expected.dtype
        np.testing.assert_allclose(value, expected, rtol=1e-6)


@pytest.mark.parametrize("op, x, y, kind, name", BINARY, ids=[f"{b[4]}-{b[1].dtype}" for b in BINARY])
def test_binary_eagerly(op: Callable[..., Any], x: Any, y: Any, kind: str, name: str) -> None:
    """The same in eager mode."""
    expected = op(x, y)
    for value in (op(tf.constant(x), y), op(x, tf.constant(y)), op(tf.Variable(x), y), op(x, tf.Variable(y))):
        assert value.numpy().dtype == expected.dtype
        np.testing.assert_allclose(value.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod,
                                operator.floordiv, operator.lt, operator.ge])
def test_python_numbers(sess: Any, op: Callable[..., Any]) -> None:
    """Python and NumPy scalars take the tensor's dtype, on either side."""
    x = tf.constant(Y)
    for value in sess.run([op(x, 2), op(x, 2.0), op(x, np.float64(2.0))]):
        np.testing.assert_allclose(value, op(Y, np.float32(2)), rtol=1e-6)
    for value in sess.run([op(2, x), op(2.0, x), op(np.float32(2.0), x)]):
        np.testing.assert_allclose(value, op(np.float32(2), Y), rtol=1e-6)


@pytest.mark.parametrize("dtype, result", [("int8", "float32"), ("uint8", "float32"), ("int16", "float32"),
                                           ("int32", "float64"), ("int64", "float64"), ("float16", "float16"),
                                           ("float64", "float64"), ("complex64", "complex64")])
def test_true_division(dtype: str, result: str) -> None:
    """Integers are divided as floats of TensorFlow's choice."""
    x = tf.constant([6, 3], dtype)
    quotient = x / 2
    assert quotient.dtype == result
    np.testing.assert_array_equal(quotient.numpy(), [3, 1.5])
    np.testing.assert_array_equal((6 / x).numpy(), [1, 2])


def test_names_of_true_division_of_integers(sess: Any) -> None:
    """The casts stand in the scope of the division."""
    _ = tf.constant([1], name="i") / 2
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert names == ["i", "truediv/y", "truediv/Cast", "truediv/Cast_1", "truediv"]


def test_unary(sess: Any) -> None:
    """-x, abs(x) and ~x."""
    x, i, b = tf.constant(X), tf.constant(I), tf.constant(B)
    assert [t.op.type for t in (-x, abs(x), ~b, ~i)] == ["Neg", "Abs", "LogicalNot", "Invert"]
    for value, expected in zip(sess.run([-x, abs(x), ~b, ~i]), [-X, abs(X), ~B, ~I], strict=True):
        np.testing.assert_array_equal(value, expected)
    assert abs(tf.constant(3 + 4j)).dtype is tf.float64
    assert sess.run(abs(tf.constant(3 + 4j))) == 5.0


def test_strings_are_concatenated() -> None:
    """`+` of strings."""
    assert (tf.constant("a") + "b").numpy() == b"ab"


def test_batches_of_matrices(sess: Any) -> None:
    """`@` of stacks of matrices."""
    x = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    np.testing.assert_array_equal(sess.run(tf.constant(x) @ x.transpose(0, 2, 1)), x @ x.transpose(0, 2, 1))


# -- subscripts --------------------------------------------------------------------


@pytest.mark.parametrize("key", [0, -1, (0, 1), slice(1, None), (Ellipsis, 0), (slice(None), None), (0, slice(0, 3, 2)),
                                 (slice(None, None, -1), slice(1, 3))], ids=str)
def test_subscripts(sess: Any, key: Any) -> None:
    """Basic slicing gives what NumPy gives, of tensors and variables."""
    v = tf.Variable(X)
    sess.run(v.initializer)
    for part in (tf.constant(X)[key], v[key]):
        np.testing.assert_array_equal(sess.run(part), X[key])
    np.testing.assert_array_equal(tf.constant(X)[key].eval(), X[key])


def test_iteration(sess: Any) -> None:
    """A tensor of known length can be unpacked."""
    a, b = tf.constant(X)
    np.testing.assert_array_equal(sess.run([a, b]), X)


# -- equality ----------------------------------------------------------------------


def test_equality_is_identity_in_graphs(sess: Any, elementwise_equality: None) -> None:
    """In a graph, `==` compares identity and tensors are keys, whatever the setting."""
    x, y = tf.constant(1.0), tf.constant(1.0)
    v = tf.Variable(1.0)
    assert x == x and x != y and v == v and v != x
    assert {x: 1, v: 2}[x] == 1


def test_equality_is_elementwise_in_eager_mode(elementwise_equality: None) -> None:
    """In 2.x, `==` compares values, and tensors are no keys."""
    x = tf.constant([1.0, 2.0])
    v = tf.Variable([1.0, 3.0])
    np.testing.assert_array_equal((x == v).numpy(), [True, False])
    np.testing.assert_array_equal((v != x).numpy(), [False, True])
    np.testing.assert_array_equal((x == 2.0).numpy(), [False, True])
    assert (x == None) is False and (x != None) is True  # noqa: E711  # the operators are tested
    for thing in (x, v):
        with pytest.raises(TypeError, match=r"unhashable. Instead, use tensor.ref\(\) as the key"):
            hash(thing)
        assert thing.ref() in {thing.ref()}


def test_equality_is_identity_in_1x() -> None:
    """With tensor equality off, eager tensors are keys as well."""
    before = operators._tensor_equality
    operators.disable_tensor_equality()
    try:
        x = tf.constant(1.0)
        assert x == x and x != tf.constant(1.0)
        assert hash(x) == hash(x)
    finally:
        operators._tensor_equality = before


# -- methods -----------------------------------------------------------------------


def test_eval_and_run(sess: Any) -> None:
    """Tensor.eval and Operation.run use the default session."""
    x = tf.placeholder(tf.float32, [])
    v = tf.Variable(2.0)
    v.initializer.run()
    assert (x * v).eval({x: 3.0}) == 6.0
    assert (x * v).eval(feed_dict={x: 3.0}, session=sess) == 6.0
    assert x.ndim == 0 and tf.placeholder(tf.float32).ndim == -1


def test_no_session() -> None:
    """Without a default session there are TensorFlow's words for it."""
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        with pytest.raises(ValueError, match=r"Cannot evaluate tensor using `eval\(\)`: No default session is"):
            x.eval()
        with pytest.raises(ValueError, match=r"Cannot execute operation using `run\(\)`: No default session is"):
            x.op.run()
    with tf.Graph().as_default(), tf.Session():
        with pytest.raises(ValueError, match="graph is different from the session's graph"):
            x.eval()


BAD: list[tuple[str, Callable[..., Any], type[Exception], str]] = [
    ("dtypes", lambda: tf.constant(X) + tf.constant(I), TypeError, "int32 that does not match type float32"),
    ("none", lambda: tf.constant(X) + None, ValueError, "None values not supported"),
    ("float for int", lambda: tf.constant(I) * 2.5, TypeError, "Expected int32, but got 2.5 of type 'float'"),
    ("string", lambda: tf.constant(X) + "a", TypeError, "Expected float32, but got 'a' of type 'str'"),
    ("shapes", lambda: tf.constant(X) + tf.ones([4]), ValueError, "dimension -1 differs"),
    ("bool division", lambda: tf.constant(B) / tf.constant(B), TypeError, "Invalid dtype"),
    ("division of two", lambda: tf.constant(I) / tf.constant(X), TypeError, "must have the same dtype"),
    ("negated bool", lambda: -tf.constant(B), TypeError, "not in list of allowed values"),
    ("numpy method", lambda: tf.constant(X).astype("int32"), AttributeError, "tf.cast"),
    ("numpy attribute", lambda: tf.constant(X).T, AttributeError, "tf.transpose"),
    ("truth", lambda: bool(tf.constant(True)), TypeError, "as a Python `bool` is not allowed"),
]


@pytest.mark.parametrize("_, build, cls, text", BAD, ids=[b[0] for b in BAD])
def test_bad_operands(sess: Any, _: str, build: Callable[..., Any], cls: type[Exception], text: str) -> None:
    """Operands that do not fit give TensorFlow's class and say what to do."""
    with pytest.raises(cls, match=text):
        build()


def test_an_operand_with_the_mirrored_method_takes_over(sess: Any) -> None:
    """`tensor + thing` gives way to `thing.__radd__`."""

    class Thing:
        def __radd__(self, other: Any) -> str:
            return "taken"

    assert tf.constant(X) + Thing() == "taken"
