"""`test.compute_gradient`: compares gradients with finite differences, for TensorFlow 1 and 2."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from graphgrad.executor.runtime.executable import one_engine
from graphgrad.executor.runtime.session import get_default_session
from graphgrad.gradients.core.backprop import gradients
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import TensorOperators
from graphgrad.ir.values.indexed_slices import dense

from .gradient_functions import gradients_function

_ALLOWED = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


@one_engine()
def compute_gradient(f: Callable[..., Any], x: Sequence[Any], delta: float | None = None
                     ) -> tuple[tuple[np.ndarray[Any, Any], ...], tuple[np.ndarray[Any, Any], ...]]:
    """Computes the Jacobian of a function by its gradient and by finite differences, for comparison.

    Args:
      f: takes as many tensors as `x` has entries and returns a tensor.
      x: a list or tuple of values for the arguments.
      delta: the change of an argument; 1/1024 by default.
    Returns: a pair of tuples, by gradient and by central differences: for each argument an array
      (elements of the result, elements of the argument). A complex number counts as two elements.
    Raises: ValueError if `x` is not a list or tuple; AssertionError for arguments or results of other than
      floating-point and complex dtypes; RuntimeError in a graph without a default session.
    Reference: TensorFlow 2.21 `tf.test.compute_gradient`.

    >>> from graphgrad.frontend.autodiff.gradient_checker import compute_gradient
    >>> with sess.as_default():
    ...     by_gradient, by_difference = compute_gradient(lambda x: x * x, [tf.constant([1.0, 2.0])])
    >>> by_gradient[0]
    array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            "`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a "
            f"{type(x)}. Fix: [x]"
        )
    delta = 1.0 / 1024 if delta is None else delta
    tensors = [convert_to_tensor(value) for value in x]
    for i, t in enumerate(tensors):
        _check_dtype(t.dtype, f"argument {i}")
    values = _evaluated(tensors)
    specs = [(t.dtype, v.shape) for t, v in zip(tensors, values, strict=True)]
    forward = _prepared(f, specs)
    y = forward(values)
    y_dtype = as_dtype(y.dtype)
    _check_dtype(y_dtype, "y")
    pairs = []
    for i in range(len(values)):
        backward = _prepared(_weighted(f, i), [(y_dtype, y.shape), *specs])
        pairs.append((_by_gradient(backward, y, values, i), _by_difference(forward, y, values, i, delta)))
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def _check_dtype(dtype: DType, what: str) -> None:
    if dtype.name not in _ALLOWED:
        raise AssertionError(f"Cannot compute gradient for unsupported type {dtype.name} of {what}. "
                             "Fix: tf.cast it to tf.float32")


def _evaluated(tensors: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    if current_graph() is None:
        return [np.array(t._value) for t in tensors]
    return [np.array(v) for v in _session().run(list(tensors))]


def _session() -> Any:
    session = get_default_session()
    if session is None:
        raise RuntimeError("compute_gradient needs a default session to evaluate tensors of a graph. "
                           "Fix: call it inside `with tf.Session():`")
    return session


def _prepared(f: Callable[..., Any], specs: Sequence[tuple[DType, tuple[int, ...]]]) -> Callable[..., Any]:
    """Wraps `f` as a function of a list of arrays; in a graph it is built once, for the default session."""
    if current_graph() is None:
        return lambda values: _array(f(*[convert_to_tensor(v) for v in values]))
    placeholders = [raw.Placeholder(dtype=dtype, shape=shape) for dtype, shape in specs]
    y = f(*placeholders)
    y = dense(y)
    session = _session()
    return lambda values: None if y is None else session.run(y, dict(zip(placeholders, values, strict=True)))


def _array(t: Any) -> Any:
    if t is None:
        return None
    t = convert_to_tensor(dense(t))
    return np.asarray(t._value)


def _weighted(f: Callable[..., Any], i: int) -> Callable[..., Any]:
    slope = gradients_function(f, [i])
    return lambda dy, *xs: slope(*xs, dy=dy)[0]


def _parts(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Flattens an array, complex elements as real and imaginary part; shares the array's memory."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _by_gradient(backward: Callable[..., Any], y: Any, values: list[Any], i: int) -> np.ndarray[Any, Any]:
    """Returns (elements of y, elements of the i-th value): a row is the gradient of one element."""
    dy = np.zeros_like(y, order="C")
    weights, x = _parts(dy), _parts(values[i])
    jacobian = np.zeros((weights.size, x.size), x.dtype)
    for row in range(weights.size):
        weights[row] = 1
        slope = backward([dy, *values])
        if slope is not None:
            jacobian[row] = _parts(np.ascontiguousarray(slope))
        weights[row] = 0
    if not weights.size:
        _check_empty(backward([dy, *values]), values[i])
    return jacobian


def _check_empty(slope: Any, x: np.ndarray[Any, Any]) -> None:
    """Raises an error unless the gradient of an empty y is zeros of the shape of `x`."""
    if slope is None:
        return
    slope = np.asarray(slope)
    if slope.shape != x.shape:
        raise ValueError(f"Empty gradient has wrong shape: expected {x.shape}, got {slope.shape}. "
                         "Fix: return a gradient of the argument's shape")
    if slope.any():
        raise ValueError("Empty tensor with nonzero gradients. Fix: return zeros where nothing arrives")


def _by_difference(forward: Callable[..., Any], y: Any, values: list[Any], i: int, delta: float) -> Any:
    """Returns (elements of y, elements of the i-th value): a column is a central difference."""
    moved = [np.array(v, order="C") for v in values]
    x, out = _parts(moved[i]), _parts(np.ascontiguousarray(y))
    jacobian = np.zeros((out.size, x.size), x.dtype)
    scale = np.asarray(2 * delta, out.dtype)
    for column in range(x.size):
        original = x[column].copy()
        x[column] = original + x.dtype.type(delta)
        above = np.array(forward(moved))
        x[column] = original - x.dtype.type(delta)
        below = np.array(forward(moved))
        x[column] = original
        with np.errstate(invalid="ignore"):
            jacobian[:, column] = _parts(np.ascontiguousarray(above - below)) / scale
    return jacobian


# -- the form of TensorFlow 1 --------------------------------------------------------------


@overload
def compute_gradient_v1(x: list[Any], x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3,
                        init_targets: Any = None,
                        extra_feed_dict: Any = None) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]: ...
@overload
def compute_gradient_v1(x: TensorOperators, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None,
                        delta: float = 1e-3, init_targets: Any = None,
                        extra_feed_dict: Any = None) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]: ...
@overload
def compute_gradient_v1(x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3,
                        init_targets: Any = None, extra_feed_dict: Any = None) -> Any: ...
@one_engine()
def compute_gradient_v1(x: Any, x_shape: Any, y: Any, y_shape: Any, x_init_value: Any = None, delta: float = 1e-3,
                        init_targets: Any = None, extra_feed_dict: Any = None) -> Any:
    """Computes the Jacobian of y by its gradient and by finite differences, for comparison (1.x arguments).

    Args:
      x: a tensor, or a list of them.
      x_shape: its shape, or a list of shapes.
      y: a tensor that depends on x.
      y_shape: its shape.
      x_init_value: an array, or a list of them: where to differentiate; random numbers from [0, 1) by default.
      delta: the change of x.
      init_targets: an operation or a list of them to run first.
      extra_feed_dict: what to feed besides.
    Returns: two arrays (elements of x, elements of y), by gradient and by central differences; a list of such
      pairs for a list of xs. A complex number counts as two elements.
    Raises: AssertionError if y does not depend on x, for incompatible shapes, and without a default session;
      TypeError for dtypes that have no gradient.
    Reference: TensorFlow 2.21 `tf.compat.v1.test.compute_gradient`.

    >>> from graphgrad.frontend.autodiff.gradient_checker import compute_gradient_v1
    >>> x = tf.constant([1.0, 2.0])
    >>> with sess.as_default():
    ...     by_gradient, _ = compute_gradient_v1(x, [2], x * x, [2], np.array([3.0, 4.0], np.float32))
    >>> by_gradient
    array([[6., 0.],
           [0., 8.]], dtype=float32)
    """
    session = get_default_session()
    if session is None:
        raise AssertionError("compute_gradient needs a default session. Fix: call it inside `with tf.Session():`")
    if init_targets is not None:
        for target in init_targets if isinstance(init_targets, (list, tuple)) else [init_targets]:
            session.run(target)
    listed = isinstance(x, list)
    xs, shapes = (x, x_shape) if listed else ([x], [x_shape])
    starts: Any = ([None] * len(xs) if x_init_value is None else x_init_value) if listed else [x_init_value]
    pairs = []
    values = [_start(t, shape, start) for t, shape, start in zip(xs, shapes, starts, strict=True)]
    for t, value in zip(xs, values, strict=True):
        feeds = {**dict(zip(xs, values, strict=True)), **(extra_feed_dict or {})}
        pairs.append((_rows_by_gradient(session, t, value, y, y_shape, feeds),
                      _rows_by_difference(session, t, value, y, feeds, delta)))
    return pairs if listed else pairs[0]


def compute_gradient_error_v1(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> float:
    """Computes the largest difference between a gradient and finite differences (1.x).

    Args:
      x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict: as in
        `tf.compat.v1.test.compute_gradient`.
    Returns: the largest absolute difference of the two Jacobians' entries; 0 if there are none.
    Raises: as `tf.compat.v1.test.compute_gradient`.
    Reference: TensorFlow 2.21 `tf.compat.v1.test.compute_gradient_error`.

    >>> from graphgrad.frontend.autodiff.gradient_checker import compute_gradient_error_v1
    >>> x = tf.constant([1.0, 2.0])
    >>> with sess.as_default():
    ...     bool(compute_gradient_error_v1(x, [2], tf.exp(x), [2]) < 1e-2)
    True
    """
    pairs = compute_gradient_v1(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    error: Any = 0
    for by_gradient, by_difference in [pairs] if isinstance(pairs, tuple) else pairs:
        if by_gradient.size:
            error = np.maximum(error, np.abs(by_gradient - by_difference).max())  # NaN, if one is
    return error


def _start(x: Any, shape: Any, given: Any) -> np.ndarray[Any, Any]:
    dims = [int(d) for d in shape]
    if x.dtype.name not in _ALLOWED:
        raise TypeError(f"Expected a floating-point or complex x, but got {x.dtype.name}: it has no gradient. "
                        "Fix: tf.cast it")
    if given is None:
        drawn = np.random.random_sample(dims)
        if x.dtype.is_complex:
            drawn = drawn + 1j * np.random.random_sample(dims)
        return np.asarray(drawn, x.dtype.np_dtype)
    value = np.array(given, x.dtype.np_dtype, order="C")
    if list(value.shape) != dims:
        raise AssertionError(f"x_shape = {dims}, init_data shape = {list(value.shape)}. "
                             "Fix: give an x_init_value of the shape x_shape")
    return value


def _rows_by_gradient(session: Any, x: Any, value: Any, y: Any, y_shape: Any, feeds: dict[Any, Any]) -> Any:
    """Returns (elements of x, elements of y): a column is the gradient of one element of y."""
    dy = np.zeros([int(d) for d in y_shape], y.dtype.np_dtype)
    weights = _parts(dy)
    seed = raw.Placeholder(dtype=y.dtype, shape=dy.shape)
    (slope,) = gradients(y, x, seed)
    if slope is None:
        raise AssertionError(f"dx = None: {y} does not depend on {x}. Fix: give an x that y is computed from")
    slope = dense(slope)
    jacobian = np.zeros((_parts(value).size, weights.size), _parts(value).dtype)
    for column in range(weights.size):
        weights[column] = 1
        jacobian[:, column] = _parts(np.ascontiguousarray(session.run(slope, {**feeds, seed: dy})))
        weights[column] = 0
    if not weights.size:
        _check_empty(session.run(slope, {**feeds, seed: dy}), value)
    return jacobian


def _rows_by_difference(session: Any, x: Any, value: Any, y: Any, feeds: dict[Any, Any], delta: float) -> Any:
    """Returns (elements of x, elements of y): a row is a central difference."""
    moved = value.copy()
    parts = _parts(moved)
    size = math.prod(y.shape.as_list()) * (2 if y.dtype.is_complex else 1) if not parts.size else None
    rows = []
    for i in range(parts.size):
        original = parts[i].copy()
        parts[i] = original + parts.dtype.type(delta)
        above = np.array(session.run(y, {**feeds, x: moved}))
        parts[i] = original - parts.dtype.type(delta)
        below = np.array(session.run(y, {**feeds, x: moved}))
        parts[i] = original
        with np.errstate(invalid="ignore"):
            difference = (above - below) / (2 * delta)
        rows.append(_parts(np.ascontiguousarray(difference)).astype(parts.dtype))
    return np.stack(rows) if rows else np.zeros((0, size or 0), parts.dtype)
