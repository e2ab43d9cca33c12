"""Assertions: the Assert op, and functions that check values, shapes and types.

Static values are checked while building: a check that holds costs nothing, one that fails raises. Other checks become
an Assert, which needs a control dependency.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, InvalidArgumentError
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import DType, as_dtype, float32, int32
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


def Assert(condition: Any, data: TensorLike, summarize: int | None = None, name: str | None = None) -> Any:
    """Fails, when it runs, unless `condition` holds.

    Args:
      condition: a bool scalar.
      data: tensors to show when it fails.
      summarize: how many elements of each to show; 3 by default, -1 for all.
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
    """`value`, once it is certain that `condition` holds; checked at once where it is known."""
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


def _comparison(function: str, sign: str, op_type: str, words: str) -> tuple[Any, Any]:
    """Makes a check of two tensors, with the signature of TensorFlow 2 and that of TensorFlow 1."""

    def check(x: Any, y: Any, message: Any = None, summarize: Any = None, name: str | None = None) -> Any:
        return _compare(sign, op_type, x, y, None, summarize, message, name, function)

    def check_v1(x: Any, y: Any, data: Any = None, summarize: Any = None, message: Any = None,
                 name: str | None = None) -> Any:
        return _compare(sign, op_type, x, y, data, summarize, message, name, function)

    check.__name__ = check.__qualname__ = function
    check_v1.__name__ = check_v1.__qualname__ = function + "_v1"
    check.__doc__ = f"""Checks that every element of `x` {words} that of `y`.

    Args:
      x, y: tensors that broadcast.
      message: a text to begin the error with.
      summarize: how many elements to show in it.
      name: a name for the scope.
    Returns: an operation to wait for; None in eager mode.
    Raises: InvalidArgumentError: while building if both values are known, else when it runs.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.debugging.{function}`.
    """
    check_v1.__doc__ = f"""Checks that every element of `x` {words} that of `y`; see `debugging.{function}`.

    Args:
      x, y: tensors that broadcast.
      data: tensors to show instead of x and y.
      summarize, message, name: as in `debugging.{function}`.
    Returns: an operation to wait for; None in eager mode.
    Raises: InvalidArgumentError.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.compat.v1.{function}`.
    """
    return check, check_v1


assert_equal, assert_equal_v1 = _comparison("assert_equal", "==", "Equal", "equals")
_, assert_none_equal_v1 = _comparison("assert_none_equal", "!=", "NotEqual", "differs from")
assert_less, assert_less_v1 = _comparison("assert_less", "<", "Less", "is less than")
assert_less_equal, assert_less_equal_v1 = _comparison("assert_less_equal", "<=", "LessEqual", "is at most")
assert_greater, assert_greater_v1 = _comparison("assert_greater", ">", "Greater", "is greater than")
assert_greater_equal, assert_greater_equal_v1 = _comparison("assert_greater_equal", ">=", "GreaterEqual", "is at least")


def assert_none_equal(x: Any, y: Any, summarize: Any = None, message: Any = None, name: str | None = None) -> Any:
    """Checks that every element of `x` differs from that of `y`; see `debugging.assert_equal`.

    >>> tf.debugging.assert_none_equal([1, 2], [2, 1]).type
    'NoOp'
    """
    return _compare("!=", "NotEqual", x, y, None, summarize, message, name, "assert_none_equal")


def _sign_check(function: str, sign: str, op_type: str, words: str) -> tuple[Any, Any]:
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

    check.__name__ = check.__qualname__ = function
    check_v1.__name__ = check_v1.__qualname__ = function + "_v1"
    check.__doc__ = f"""Checks that every element of `x` is {words}.

    Args:
      x: a tensor of numbers.
      message: a text to begin the error with.
      summarize: how many elements to show in it.
      name: a name for the scope.
    Returns: an operation to wait for; None in eager mode.
    Raises: InvalidArgumentError: while building if the value is known, else when it runs.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.debugging.{function}`.
    """
    check_v1.__doc__ = f"""Checks that every element of `x` is {words}; see `debugging.{function}`.

    Args:
      x: a tensor of numbers.
      data: tensors to show instead of x.
      summarize, message, name: as in `debugging.{function}`.
    Returns: an operation to wait for; None in eager mode.
    Raises: InvalidArgumentError.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.compat.v1.{function}`.
    """
    return check, check_v1


assert_positive, assert_positive_v1 = _sign_check("assert_positive", ">", "Greater", "positive")
assert_negative, assert_negative_v1 = _sign_check("assert_negative", "<", "Less", "negative")
assert_non_negative, assert_non_negative_v1 = _sign_check("assert_non_negative", ">=", "GreaterEqual", "zero or more")
assert_non_positive, assert_non_positive_v1 = _sign_check("assert_non_positive", "<=", "LessEqual", "zero or less")


def assert_near(x: TensorLike, y: TensorLike, rtol: Any = None, atol: Any = None, message: Any = None,
                summarize: Any = None, name: str | None = None) -> Any:
    """Checks that |x - y| <= atol + rtol * |y| for every element.

    Args:
      x, y: tensors that broadcast.
      rtol, atol: tolerances; ten times the precision of the dtype by default.
      message: a text to begin the error with.
      summarize: how many elements to show in it.
      name: a name for the scope.
    Returns: an operation to wait for; None in eager mode.
    Raises: InvalidArgumentError.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.debugging.assert_near`.

    >>> sess.run(tf.debugging.assert_near(tf.constant(1.0), 1.0 + 1e-7))
    """
    return assert_near_v1(x, y, rtol, atol, None, summarize, message, name)


def assert_near_v1(x: TensorLike, y: TensorLike, rtol: Any = None, atol: Any = None, data: TensorLike = None,
                   summarize: Any = None, message: Any = None, name: str | None = None) -> Any:
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


# -- ranks and shapes ----------------------------------------------------------------------------


def _known_rank(x: Any) -> int | None:
    shape = x._spec.shape
    return None if shape is None else len(shape)


def _rank_check(x: Any, ranks: Any, words: str, fits: Any, op_type: str, data: Any, summarize: Any, message: Any,
                name: str | None, default: str) -> Any:
    with name_scope(name, default):
        x = convert_to_tensor(x, name="x")
        ranks = [convert_to_tensor(r, name="rank") for r in ranks]
        for r in ranks:
            _check_type(r, int32, None)
            if _known_rank(r) not in (0, None):
                raise ValueError(f"Rank must be a scalar, got shape {shape_str(r._spec.shape)}")
        known = [constant_value(r) for r in ranks]
        rank = _known_rank(x)
        prefix = f"{message}.  " if message else ""
        label = x.name if hasattr(x, "op") else ""
        if rank is not None and all(k is not None for k in known):
            values = tuple(int(k) for k in known)  # type: ignore[arg-type]  # all are known
            if not fits(rank, values):
                wanted = values if len(values) > 1 or default == "assert_rank_in" else values[0]
                raise ValueError(f"{prefix}Tensor {label} must have {words} {wanted}.  Received rank {rank}, "
                                 f"shape {shape_str(x._spec.shape)}")
            return _nothing("static_checks_determined_all_ok")
        shape = raw.Shape(x)
        if data is None:
            data = [prefix, f"Tensor {label} must have {words}", *ranks, "Received shape: ", shape]
        actual = raw.Rank(x)
        conditions = [getattr(raw, op_type)(actual, r) for r in ranks]
        condition = conditions[0]
        for c in conditions[1:]:
            condition = raw.LogicalOr(condition, c)
        return Assert(condition, data, summarize)


def _is_in(rank: int, ranks: tuple[int, ...]) -> bool:
    return rank in ranks


def _is_at_least(rank: int, ranks: tuple[int, ...]) -> bool:
    return rank >= ranks[0]


def assert_rank(x: TensorLike, rank: Any, message: Any = None, name: str | None = None) -> Any:
    """Checks that `x` has `rank` dimensions.

    Args:
      x: a tensor.
      rank: an int32 scalar.
      message: a text to begin the error with.
      name: a name for the scope.
    Returns: an operation to wait for; None in eager mode.
    Raises: ValueError if the rank is known while building, else InvalidArgumentError.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.debugging.assert_rank`.

    >>> tf.debugging.assert_rank(tf.constant([1]), 1).type
    'NoOp'
    """
    return assert_rank_v1(x, rank, None, None, message, name)


def assert_rank_v1(x: TensorLike, rank: Any, data: TensorLike = None, summarize: Any = None, message: Any = None,
                   name: str | None = None) -> Any:
    """Checks that `x` has `rank` dimensions; see `debugging.assert_rank`.

    >>> tf.assert_rank(tf.constant([1]), 1).type
    'NoOp'
    """
    return _rank_check(x, [rank], "rank", _is_in, "Equal", data, summarize, message, name, "assert_rank")


def assert_rank_at_least(x: TensorLike, rank: Any, message: Any = None, name: str | None = None) -> Any:
    """Checks that `x` has `rank` dimensions or more; see `debugging.assert_rank`.

    >>> tf.debugging.assert_rank_at_least(tf.constant([1]), 1).type
    'NoOp'
    """
    return assert_rank_at_least_v1(x, rank, None, None, message, name)


def assert_rank_at_least_v1(x: TensorLike, rank: Any, data: TensorLike = None, summarize: Any = None,
                            message: Any = None, name: str | None = None) -> Any:
    """Checks that `x` has `rank` dimensions or more; see `debugging.assert_rank`.

    >>> tf.assert_rank_at_least(tf.constant([1]), 1).type
    'NoOp'
    """
    return _rank_check(x, [rank], "rank at least", _is_at_least, "GreaterEqual", data, summarize, message, name,
                       "assert_rank_at_least")


def assert_rank_in(x: TensorLike, ranks: Any, message: Any = None, name: str | None = None) -> Any:
    """Checks that the number of dimensions of `x` is one of `ranks`; see `debugging.assert_rank`.

    >>> tf.debugging.assert_rank_in(tf.constant([1]), [1, 2]).type
    'NoOp'
    """
    return assert_rank_in_v1(x, ranks, None, None, message, name)


def assert_rank_in_v1(x: TensorLike, ranks: Any, data: TensorLike = None, summarize: Any = None, message: Any = None,
                      name: str | None = None) -> Any:
    """Checks that the number of dimensions of `x` is one of `ranks`; see `debugging.assert_rank`.

    >>> tf.assert_rank_in(tf.constant([1]), [1, 2]).type
    'NoOp'
    """
    return _rank_check(x, list(ranks), "rank in", _is_in, "Equal", data, summarize, message, name, "assert_rank_in")


def assert_scalar(tensor: TensorLike, message: Any = None, name: str | None = None) -> Tensor:
    """Checks that a tensor is a scalar.

    Args:
      tensor: a tensor.
      message: a text to begin the error with.
      name: a name for the scope.
    Returns: the tensor.
    Raises: ValueError if it is known to have dimensions.
    Gradient: the identity's.
    Reference: TensorFlow 2.21 `tf.debugging.assert_scalar`.

    >>> sess.run(tf.debugging.assert_scalar(tf.constant(1)))
    np.int32(1)
    """
    with name_scope(name, "assert_scalar"):
        tensor = convert_to_tensor(tensor)
        if tensor._spec.shape not in ((), None):
            label = tensor.name if hasattr(tensor, "op") else ""
            raise ValueError(f"{message or ''}Expected scalar shape for {label}, "
                             f"saw shape: {shape_str(tensor._spec.shape)}.")
        return tensor


def assert_scalar_v1(tensor: TensorLike, name: str | None = None, message: Any = None) -> Tensor:
    """Checks that a tensor is a scalar; see `debugging.assert_scalar`.

    >>> sess.run(tf.assert_scalar(tf.constant(1)))
    np.int32(1)
    """
    return assert_scalar(tensor, message, name)


def assert_shapes(shapes: Any, data: TensorLike = None, summarize: Any = None, message: Any = None,
                  name: str | None = None) -> Any:
    """Checks shapes against sizes and symbols; the same symbol stands for the same size everywhere.

    Args:
      shapes: a list of pairs (or a dict) of tensor and shape: a tuple of ints, strings, or None
        for any size.
      data, summarize, message: as in `assert_rank`.
      name: a name for the scope.
    Returns: an operation to wait for; None in eager mode.
    Raises: ValueError for static shapes that contradict, else InvalidArgumentError.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.debugging.assert_shapes`.

    >>> x = tf.zeros([2, 3])
    >>> tf.debugging.assert_shapes([(x, ("N", 3)), (x[0], (3,))]).type
    'NoOp'
    """
    pairs = list(shapes.items() if isinstance(shapes, dict) else shapes)
    prefix = f"{message}.  " if message else ""
    sizes: dict[str, tuple[Any, int, Any]] = {}
    waits: list[Any] = []
    with name_scope(name, "assert_shapes"):
        for x, symbols in pairs:
            x = convert_to_tensor(x.deref() if hasattr(x, "deref") else x)
            symbols = (symbols,) if isinstance(symbols, (str, int)) else tuple(symbols)
            waits.append(assert_rank_v1(x, len(symbols), data, summarize, message))
            for i, symbol in enumerate(symbols):
                size = x._spec.shape[i] if x._spec.shape is not None else None
                if isinstance(symbol, str) and symbol.isdigit():
                    symbol = int(symbol)
                if symbol is None or symbol == ".":
                    continue
                if isinstance(symbol, str):
                    if symbol not in sizes:
                        sizes[symbol] = (x, i, size)
                        continue
                    other, j, wanted = sizes[symbol]
                    given = f"Specified by tensor {_name_of(other)} dimension {j}.  "
                else:
                    other, j, wanted, given = None, 0, symbol, "Specified explicitly.  "
                if size is not None and wanted is not None:
                    if size != wanted:
                        raise ValueError(f"{prefix}{given}Tensor {_name_of(x)} dimension {i} must have size {wanted}.  "
                                         f"Received size {size}, shape {shape_str(x._spec.shape)}")
                    continue
                target = _size(other, j) if wanted is None else np.int32(wanted)
                text = [f"{prefix}{given}Tensor {_name_of(x)} dimension", str(i), "must have size", target,
                        "Received shape: ", raw.Shape(x)]
                waits.append(Assert(raw.Equal(_size(x, i), target), data or text, summarize))
        graph = current_graph()
        if graph is None:
            return None
        with graph.control_dependencies(waits):
            return raw.NoOp()


def _size(x: Any, i: int) -> Any:
    return raw.StridedSlice(raw.Shape(x), [i], [i + 1], [1], shrink_axis_mask=1)


# -- types -----------------------------------------------------------------------------------------


def _check_type(tensor: Any, wanted: Any, message: Any) -> None:
    if tensor.dtype is not wanted:
        prefix = f"{message}.  " if message else ""
        label = tensor.name if hasattr(tensor, "op") else "tensor"
        raise TypeError(f"{prefix}{label} must be of type {wanted!r}; got {tensor.dtype!r}")


def assert_type(tensor: TensorLike, tf_type: DTypeLike, message: Any = None, name: str | None = None) -> Any:
    """Checks the dtype of a tensor.

    Args:
      tensor: a tensor.
      tf_type: the dtype that it must have.
      message: a text to begin the error with.
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


def assert_integer(x: TensorLike, message: Any = None, name: str | None = None) -> Any:
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
    """The one floating dtype of all `tensors` and `dtype`; float32 if there are none.

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

    >>> tf.debugging.is_numeric_tensor(tf.constant(1))
    True
    """
    return hasattr(tensor, "_spec") and as_dtype(tensor.dtype).kind in "fiuc"


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Checks that a tensor holds neither infinities nor NaNs.

    Args:
      x: a floating tensor.
      message: a text to begin the error with.
      name: a name for the scope.
    Returns: the tensor.
    Raises: InvalidArgumentError when it runs.
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
