"""Assertions: the Assert op, and functions that check values and types.

Static values are checked while building: a check that holds costs nothing, one that fails raises. Other checks become
an Assert, which needs a control dependency.
"""

from __future__ import annotations

import contextlib
from typing import Any, Protocol

import numpy as np

from graphgrad.errors import Complaint, InvalidArgumentError
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import DType, as_dtype, float32
from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import shape_str
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.format_values import summarize_value


@op("Assert", "condition: bool, data: list(T) ->", flags=("stateful", "host"))
def assert_op(xp, condition, data, *, summarize=3):
    """Fails unless the condition holds."""
    if not condition:
        limit = 3 if summarize is None else summarize
        shown = " ".join(f"[{summarize_value(d, limit)}]" for d in data)
        raise Complaint(f"assertion failed: {shown}", "see the values above, and the line that asserts them")


@assert_op.shape
def _assert_shape(condition, data):
    if condition is not None and condition != ():
        raise Complaint(f"condition must be a scalar, but has shape {shape_str(condition)}", "tf.reduce_all(condition)")


assert_op.grad(NOT_DIFFERENTIABLE)


def Assert(condition: Any, data: TensorLike, summarize: int | None = None, name: str | None = None) -> Operation | Any:
    """Fails, at run time, unless `condition` holds.

    Args:
      condition: a bool scalar.
      data: tensors to show when it fails.
      summarize: the number of elements to show of each; 3 by default, -1 for all.
      name: a name for the scope.
    Returns: the operation, for `tf.control_dependencies`; None in eager mode.
    Raises: InvalidArgumentError (at once in eager mode) saying 'assertion failed'.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 Assert.

    >>> sess.run(tf.Assert(tf.constant(True), ["never shown"]))
    """
    if current_graph() is None:
        if not np.asarray(condition):
            shown = "\n".join(_eager_text(d, summarize) for d in data)
            raise InvalidArgumentError(None, None, f"Expected '{condition}' to be true. Summarized data: {shown}")
        return None
    with name_scope(name, "Assert"):
        return raw.Assert(condition, [convert_to_tensor(d) for d in data], summarize=summarize or 3, name="Assert")


def _eager_text(value: Any, summarize: int | None) -> str:
    items = np.asarray(convert_to_tensor(value)).ravel().tolist()
    limit = 3 if summarize is None else len(items) if summarize < 0 else summarize
    return ", ".join([str(i) for i in items[:limit]] + ["..."] * (len(items) > limit))


def after_check(value: Any, condition: Any, data: Any, summarize: int | None = None) -> Any:
    """Returns `value`, after a check of `condition`; checked at once where it is known."""
    known = constant_value(condition)
    if known is None:
        # Silenced: a graph is being built here.
        with current_graph().control_dependencies([Assert(condition, data, summarize)]):  # type: ignore[union-attr]
            return raw.Identity(value, name="control_dependency")
    if not known:
        raise InvalidArgumentError(None, None, "assertion failed: " + " ".join(_static_text(d) for d in data))
    return value


def _static_text(value: Any) -> str:
    if not is_tensor_like(value):
        return str(value)
    known = constant_value(value)
    return f"[{value.name}]" if known is None else str(known)


def _nothing(name: str) -> Any:
    """Returns the result of a check that was decided while building."""
    return None if current_graph() is None else raw.NoOp(name=name)


def _name_of(t: Any) -> str:
    return t.name if hasattr(t, "op") else f"shape={t.shape} dtype={t.dtype.name}"


def _holds(comparison: Any) -> Any:
    return raw.All(raw.Reshape(comparison, np.array([-1], np.int32)), np.array([0], np.int32))


# -- comparisons ---------------------------------------------------------------------------------


def _compare(sign: str, op_type: str, x: Any, y: Any, data: Any, summarize: Any, message: Any, name: str | None,
             default: str) -> Any:
    """Checks a comparison of all elements; `data` replaces the usual text."""
    with name_scope(name, default):
        if is_tensor_like(y) and not is_tensor_like(x):
            y = convert_to_tensor(y, name="y")
            x = convert_to_tensor(x, name="x", dtype_hint=as_dtype(y.dtype))
        else:
            x = convert_to_tensor(x, name="x")
            y = convert_to_tensor(y, name="y", dtype_hint=as_dtype(x.dtype))
        if current_graph() is None:
            return _compare_now(sign, op_type, x, y, data, summarize, message)
        if data is None:
            data = [f"Condition x {sign} y did not hold element-wise:", f"x ({_name_of(x)}) = ", x,
                    f"y ({_name_of(y)}) = ", y]
            data = [message, *data] if message else data
        xs, ys = constant_value(x), constant_value(y)
        if xs is not None and ys is not None:
            if not np.all(_COMPARISONS[op_type](xs, ys)):
                raise InvalidArgumentError(None, None, "\n".join(_static_text(d) for d in data))
            return _nothing("static_checks_determined_all_ok")
        return Assert(_holds(getattr(raw, op_type)(x, y)), data, summarize)


_COMPARISONS: dict[str, Any] = {
    "Equal": np.equal, "NotEqual": np.not_equal, "Less": np.less, "LessEqual": np.less_equal, "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
}


def _compare_now(sign: str, op_type: str, x: Any, y: Any, data: Any, summarize: Any, message: Any) -> None:
    holds = np.asarray(getattr(raw, op_type)(x, y))
    if holds.all():
        return
    if data is not None:
        raise InvalidArgumentError(None, None, "\n".join(_static_text(d) if isinstance(d, str) else
                                                         str(np.asarray(d)) for d in data))
    n = 3 if summarize is None else holds.size if summarize < 0 else summarize
    a, b = (np.broadcast_to(np.asarray(t), holds.shape) for t in (x, y))
    where = np.argwhere(~holds)[:n]
    lines = [message] if message else []
    lines += [f"Condition x {sign} y did not hold.", f"Indices of first {len(where)} different values:", str(where),
              "Corresponding x values:", str(a[~holds][:n]), "Corresponding y values:", str(b[~holds][:n])]
    for label, t in (("x", x), ("y", y)):
        first = np.asarray(t).ravel()[:n]
        lines += [f"First {first.size} elements of {label}:", str(first)]
    raise InvalidArgumentError(None, None, "\n".join(lines))


def _document(check: Any, check_v1: Any, function: str, holds: str, inputs: str, shown: str) -> None:
    """Gives the two versions of a check their names and docstrings."""
    check.__name__ = check.__qualname__ = function
    check_v1.__name__ = check_v1.__qualname__ = function + "_v1"
    check.__doc__ = f"""Checks that every element of `x` {holds}.

    Args:
      {inputs}.
      message: the beginning of the error message.
      summarize: the number of elements to show in it.
      name: a name for the scope.
    Returns: an operation to wait for; None in eager mode.
    Raises: InvalidArgumentError: while building if all values are known, else when it runs.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.debugging.{function}`.
    """
    check_v1.__doc__ = f"""Checks that every element of `x` {holds}; see `debugging.{function}`.

    Args:
      {inputs}.
      data: tensors to show instead of {shown}.
      summarize, message, name: as in `debugging.{function}`.
    Returns: an operation to wait for; None in eager mode.
    Raises: InvalidArgumentError.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.compat.v1.{function}`.
    """


class _Comparison(Protocol):
    def __call__(self, x: TensorLike, y: TensorLike, message: Any = None, summarize: Any = None,
                 name: str | None = None) -> Operation | Any: ...


class _ComparisonV1(Protocol):
    def __call__(self, x: TensorLike, y: TensorLike, data: Any = None, summarize: Any = None, message: Any = None,
                 name: str | None = None) -> Operation | Any: ...


class _SignCheck(Protocol):
    def __call__(self, x: TensorLike, message: Any = None, summarize: Any = None,
                 name: str | None = None) -> Operation | Any: ...


class _SignCheckV1(Protocol):
    def __call__(self, x: TensorLike, data: Any = None, summarize: Any = None, message: Any = None,
                 name: str | None = None) -> Operation | Any: ...


def _comparison(function: str, sign: str, op_type: str, words: str) -> tuple[_Comparison, _ComparisonV1]:
    """Makes a check of two tensors, with the signature of TensorFlow 2 and that of TensorFlow 1."""

    def check(x: Any, y: Any, message: Any = None, summarize: Any = None, name: str | None = None) -> Any:
        return _compare(sign, op_type, x, y, None, summarize, message, name, function)

    def check_v1(x: Any, y: Any, data: Any = None, summarize: Any = None, message: Any = None,
                 name: str | None = None) -> Any:
        return _compare(sign, op_type, x, y, data, summarize, message, name, function)

    _document(check, check_v1, function, f"{words} that of `y`", "x, y: tensors that broadcast", "x and y")
    return check, check_v1


assert_equal, assert_equal_v1 = _comparison("assert_equal", "==", "Equal", "equals")
_, assert_none_equal_v1 = _comparison("assert_none_equal", "!=", "NotEqual", "differs from")
assert_less, assert_less_v1 = _comparison("assert_less", "<", "Less", "is less than")
assert_less_equal, assert_less_equal_v1 = _comparison("assert_less_equal", "<=", "LessEqual", "is at most")
assert_greater, assert_greater_v1 = _comparison("assert_greater", ">", "Greater", "is greater than")
assert_greater_equal, assert_greater_equal_v1 = _comparison("assert_greater_equal", ">=", "GreaterEqual", "is at least")


def assert_none_equal(x: Any, y: Any, summarize: Any = None, message: Any = None,
                      name: str | None = None) -> Operation | Any:
    """Checks that every element of `x` differs from that of `y`; see `debugging.assert_equal`.

    >>> tf.debugging.assert_none_equal([1, 2], [2, 1]).type
    'NoOp'
    """
    return _compare("!=", "NotEqual", x, y, None, summarize, message, name, "assert_none_equal")


def _sign_check(function: str, sign: str, op_type: str, words: str) -> tuple[_SignCheck, _SignCheckV1]:
    """Makes a check of one tensor against zero, for both versions."""

    def compare(x: Any, data: Any, summarize: Any, message: Any, name: str | None) -> Any:
        with name_scope(name, function):
            x = convert_to_tensor(x, name="x")
            if data is None:
                data = [message or "", f"Condition x {sign} 0 did not hold element-wise:", f"x ({_name_of(x)}) = ", x]
            zero = np.zeros((), as_dtype(x.dtype).np_dtype)
            return _compare(sign, op_type, x, zero, data, summarize, None, None, "compare")

    def check(x: Any, message: Any = None, summarize: Any = None, name: str | None = None) -> Any:
        return compare(x, None, summarize, message, name)

    def check_v1(x: Any, data: Any = None, summarize: Any = None, message: Any = None, name: str | None = None) -> Any:
        return compare(x, data, summarize, message, name)

    _document(check, check_v1, function, f"is {words}", "x: a tensor of numbers", "x")
    return check, check_v1


assert_positive, assert_positive_v1 = _sign_check("assert_positive", ">", "Greater", "positive")
assert_negative, assert_negative_v1 = _sign_check("assert_negative", "<", "Less", "negative")
assert_non_negative, assert_non_negative_v1 = _sign_check("assert_non_negative", ">=", "GreaterEqual", "zero or more")
assert_non_positive, assert_non_positive_v1 = _sign_check("assert_non_positive", "<=", "LessEqual", "zero or less")


def assert_near(x: TensorLike, y: TensorLike, rtol: Any = None, atol: Any = None, message: Any = None,
                summarize: Any = None, name: str | None = None) -> Operation | Any:
    """Checks that |x - y| <= atol + rtol * |y| for every element.

    Args:
      x, y: tensors that broadcast.
      rtol, atol: tolerances; ten times the precision of the dtype by default.
      message: the beginning of the error message.
      summarize: the number of elements to show in it.
      name: a name for the scope.
    Returns: an operation to wait for; None in eager mode.
    Raises: InvalidArgumentError.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.debugging.assert_near`.

    >>> sess.run(tf.debugging.assert_near(tf.constant(1.0), 1.0 + 1e-7))
    """
    return assert_near_v1(x, y, rtol, atol, None, summarize, message, name)


def assert_near_v1(x: TensorLike, y: TensorLike, rtol: Any = None, atol: Any = None, data: TensorLike = None,
                   summarize: Any = None, message: Any = None, name: str | None = None) -> Operation | Any:
    """Checks that |x - y| <= atol + rtol * |y|; see `debugging.assert_near`.

    >>> sess.run(tf.assert_near(tf.constant(1.0), 1.0 + 1e-7))
    """
    with name_scope(name, "assert_near"):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype_hint=x.dtype)
        dtype = as_dtype(x.dtype)
        eps = 10 * float(np.finfo(dtype.np_dtype if dtype.size > 2 or dtype.name == "float16" else np.float32).eps
                         if dtype.name != "bfloat16" else 2.0**-7)
        rtol = convert_to_tensor(eps if rtol is None else rtol, dtype, name="rtol")
        atol = convert_to_tensor(eps if atol is None else atol, dtype, name="atol")
        if data is None:
            data = [message or "", f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                    f"x ({_name_of(x)}) = ", x, f"y ({_name_of(y)}) = ", y]
        bound = raw.AddV2(atol, raw.Mul(rtol, raw.Abs(y)))
        condition = _holds(raw.LessEqual(raw.Abs(raw.Sub(x, y)), bound))
        return Assert(condition, data, summarize)


# -- types -----------------------------------------------------------------------------------------


def _check_type(tensor: Any, wanted: Any, message: Any) -> None:
    if tensor.dtype is not wanted:
        prefix = f"{message}.  " if message else ""
        label = tensor.name if hasattr(tensor, "op") else "tensor"
        raise TypeError(f"{prefix}{label} must be of type {wanted!r}; got {tensor.dtype!r}")


def assert_type(tensor: TensorLike, tf_type: DTypeLike, message: Any = None,
                name: str | None = None) -> Operation | Any:
    """Checks the dtype of a tensor.

    Args:
      tensor: a tensor.
      tf_type: the dtype that it must have.
      message: the beginning of the error message.
      name: a name for the scope.
    Returns: an operation that does nothing; None in eager mode.
    Raises: TypeError.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.debugging.assert_type`.

    >>> tf.debugging.assert_type(tf.constant(1), tf.int32).type
    'NoOp'
    """
    with name_scope(name, "assert_type"):
        _check_type(convert_to_tensor(tensor), as_dtype(tf_type), message)
        return _nothing("statically_determined_correct_type")


def assert_integer(x: TensorLike, message: Any = None, name: str | None = None) -> Operation | Any:
    """Checks that a tensor has an integer dtype; see `debugging.assert_type`.

    >>> tf.debugging.assert_integer(tf.constant(1)).type
    'NoOp'
    """
    with name_scope(name, "assert_integer"):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            prefix = f"{message}.  " if message else ""
            label = x.name if hasattr(x, "op") else "tensor"
            raise TypeError(f'{prefix}Expected "x" to be integer type.  Found: {label} of dtype {x.dtype}')
        return _nothing("statically_determined_was_integer")


def assert_same_float_dtype(tensors: Any = None, dtype: DTypeLike | None = None) -> DType:
    """Returns the common floating dtype of `tensors` and `dtype`; float32 if there are none.

    Args:
      tensors: tensors, variables or None.
      dtype: the dtype that they must have, or None.
    Returns: a `DType`.
    Raises: ValueError for different dtypes, or one that is not floating.
    Reference: TensorFlow 2.21 `tf.debugging.assert_same_float_dtype`.

    >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0)])
    tf.float32
    """
    found = None if dtype is None else as_dtype(dtype)
    first = None
    for t in tensors or ():
        if t is None:
            continue
        if found is None:
            found, first = t.dtype, t
        elif t.dtype is not found:
            as_of = f" as {first.name}" if first is not None and hasattr(first, "op") else ""
            label = t.name if hasattr(t, "op") else "tensor"
            raise ValueError(f"{label}, type={t.dtype}, must be of the same type ({found}){as_of}.")
    if found is None:
        return float32
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found}.")
    return found


def assert_proper_iterable(values: Any) -> None:
    """Raises TypeError unless `values` is an iterable that holds tensors, not a tensor or a string.

    >>> tf.debugging.assert_proper_iterable([1, 2])
    """
    if is_tensor_like(values) or isinstance(values, (np.ndarray, str, bytes)):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def is_numeric_tensor(tensor: Any) -> bool:
    """Returns whether the argument is a tensor of numbers.

    Args:
      tensor: any object.
    Returns: a bool.
    Reference: TensorFlow 2.21 `tf.debugging.is_numeric_tensor`.

    >>> tf.debugging.is_numeric_tensor(tf.constant(1))
    True
    """
    return hasattr(tensor, "_spec") and as_dtype(tensor.dtype).kind in "fiuc"


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Checks that a tensor holds neither infinities nor NaNs.

    Args:
      x: a floating tensor.
      message: the beginning of the error message.
      name: a name for the scope.
    Returns: the tensor.
    Raises: InvalidArgumentError at run time.
    Gradient: the identity's.
    Reference: TensorFlow 2.21 `tf.debugging.assert_all_finite`.

    >>> sess.run(tf.debugging.assert_all_finite(tf.constant(1.0), "x"))
    np.float32(1.0)
    """
    with name_scope(name, "VerifyFinite"):
        x = convert_to_tensor(x, name="t")
        check = raw.CheckNumerics(x, message=message)
        graph = current_graph()
        with contextlib.nullcontext() if graph is None else graph.control_dependencies([check]):
            return raw.Identity(x, name="control_dependency")


def verify_tensor_all_finite(t: Any = None, msg: Any = None, name: str | None = None, x: TensorLike = None,
                             message: Any = None) -> Tensor:
    """Checks that a tensor holds neither infinities nor NaNs; see `debugging.assert_all_finite`.

    >>> sess.run(tf.verify_tensor_all_finite(tf.constant(1.0), "x"))
    np.float32(1.0)
    """
    return assert_all_finite(t if x is None else x, msg if message is None else message, name)
