"""`map_fn`, `foldl`, `foldr` and `scan`: loops over the first dimension of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.context import current_graph, use
from ..ir.convert import convert_to_tensor
from ..ir.dtypes import as_dtype
from ..ir.funcgraph import FuncGraph
from ..ir.opdef import raw
from ..ir.scopes import name_scope
from ..ir.shape import is_fully_defined
from ..ir.source import user_source
from . import nest
from .control_flow import while_loop


def _rows(elems: Any) -> tuple[list[Any], Any]:
    """The flat tensors, and how many rows they have (an int, or a tensor when only the run knows)."""
    flat = [convert_to_tensor(e, name="elem") for e in nest.flatten(elems)]
    if not flat:
        raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors. Got an empty one.")
    for t in flat:
        if t._spec.shape == ():
            raise ValueError(
                f"Elements in elems must be 1+ dimensional Tensors, not scalars; got {t}.\n"
                f"  Asked for at {user_source(2)}\n  Fix: tf.expand_dims(elems, 0)"
            )
    shape = flat[0]._spec.shape
    if shape is not None and shape[0] is not None:
        return flat, shape[0]
    return flat, raw.StridedSlice(raw.Shape(flat[0]), [0], [1], [1], shrink_axis_mask=1)


def _row(flat: list[Any], structure: Any, i: Any) -> Any:
    return nest.pack_sequence_as(structure, [raw.GatherV2(t, i, 0) for t in flat])


def _put(buffer: Any, i: Any, value: Any) -> Any:
    return raw.TensorScatterUpdate(buffer, raw.Reshape(i, [1, 1]), raw.ExpandDims(value, 0))


def _buffers(n: Any, results: list[Any], name: str) -> list[Any]:
    """Zeros to write n results into."""
    made = []
    for t in results:
        shape = t._spec.shape
        if not is_fully_defined(shape):
            raise ValueError(
                f"{name}: the static shape of what fn returns must be known, not {t.shape}.\n"
                f"  Built at {user_source(2)}\n  Fix: call set_shape on the result inside fn"
            )
        if isinstance(n, int):
            made.append(raw.Fill(np.array([n, *shape], np.int32), np.zeros((), t.dtype.np_dtype)))
        else:
            made.append(raw.Fill(raw.ConcatV2([raw.Reshape(n, [1]), np.array(shape, np.int32)], 0),
                                 np.zeros((), t.dtype.np_dtype)))  # fmt: skip
    return made


def _trial(fn: Callable[..., Any], *args: Any) -> tuple[Any, list[Any]]:
    """What `fn` returns for arguments of these shapes: found out in a graph that is thrown away."""
    graph = FuncGraph("trial", current_graph())
    with use(graph):
        inner = [nest.map_structure(lambda t: graph.add_input(t.dtype, t._spec.shape, "arg"), a) for a in args]
        result = fn(*inner)
        return result, [convert_to_tensor(t) for t in nest.flatten(result)]


def map_fn(fn: Callable[..., Any], elems: Any, dtype: Any = None, parallel_iterations: Any = None,
           back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, name: str | None = None,
           fn_output_signature: Any = None) -> Any:  # fmt: skip
    """Applies `fn` to each row of `elems` and stacks the results.

    Args:
      fn: takes one row (nested as `elems` is), returns a tensor or a structure of them.
      elems: a tensor (n, *E) or a structure of tensors of the same n.
      dtype, fn_output_signature: the dtypes of the results, where they differ from `elems`'.
      parallel_iterations, swap_memory, infer_shape: accepted as TensorFlow does.
      back_prop: whether it can be differentiated.
      name: a name scope.
    Returns: the structure that `fn` returns, with tensors (n, *R).
    Raises: ValueError for scalars, and if the static shape of the results is not known.
    Gradient: that of `fn`, row by row.
    Reference: TensorFlow 2.21 `tf.map_fn`.

    >>> sess.run(tf.map_fn(lambda x: x * x, tf.constant([1.0, 2.0, 3.0])))
    array([1., 4., 9.], dtype=float32)
    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable.")
    signature = fn_output_signature if fn_output_signature is not None else dtype
    wanted = None if signature is None else [as_dtype(getattr(d, "dtype", d)) for d in nest.flatten(signature)]
    with name_scope(name, "map"):
        flat, n = _rows(elems)
        row = _row(flat, elems, np.int32(0))
        structure, results = _trial(fn, row)
        if wanted is not None and [t.dtype for t in results] != wanted:
            raise TypeError(
                f"map_fn: fn returns {[t.dtype.name for t in results]}, but dtype says "
                f"{[d.name for d in wanted]}.\n  Built at {user_source(2)}\n"
                "  Fix: give dtype= what fn returns"
            )

        def body(i: Any, buffers: list[Any]) -> Any:
            out = [convert_to_tensor(t) for t in nest.flatten(fn(_row(flat, elems, i)))]
            return i + 1, [_put(b, i, t) for b, t in zip(buffers, out, strict=True)]

        start = [np.int32(0), _buffers(n, results, "map_fn")]
        _, buffers = while_loop(lambda i, _: i < n, body, start, back_prop=back_prop)
        return nest.pack_sequence_as(structure, buffers)


def _fold(fn: Callable[..., Any], elems: Any, initializer: Any, back_prop: bool, name: str | None, default: str,
          backwards: bool) -> Any:  # fmt: skip
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.")
    with name_scope(name, default):
        flat, n = _rows(elems)
        first = 0
        if initializer is None:
            first = 1
            initializer = _row(flat, elems, n - 1 if backwards else np.int32(0))
        start = nest.map_structure(convert_to_tensor, initializer)

        def body(i: Any, a: Any) -> Any:
            at = n - 1 - i if backwards else i
            return i + 1, fn(a, _row(flat, elems, at))

        return while_loop(lambda i, _: i < n, body, [np.int32(first), start], back_prop=back_prop)[1]


def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:  # fmt: skip
    """Combines the rows of `elems` from the first to the last: `a = fn(a, row)`.

    Args:
      fn: takes the accumulated value and a row, returns the next accumulated value.
      elems: a tensor (n, *E) or a structure of tensors of the same n.
      initializer: the first accumulated value; the first row by default.
      parallel_iterations, swap_memory: accepted as TensorFlow does.
      back_prop: whether it can be differentiated.
      name: a name scope.
    Returns: the last accumulated value.
    Raises: TypeError if `fn` is no function; ValueError for scalars.
    Gradient: through every step.
    Reference: TensorFlow 2.21 `tf.foldl`.

    >>> sess.run(tf.foldl(lambda a, x: a * 10 + x, tf.constant([1, 2, 3])))
    np.int32(123)
    """
    return _fold(fn, elems, initializer, back_prop, name, "foldl", False)


def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:  # fmt: skip
    """Combines the rows of `elems` from the last to the first: `a = fn(a, row)`.

    Args:
      fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name: as in `foldl`.
    Returns: the last accumulated value.
    Raises: TypeError if `fn` is no function; ValueError for scalars.
    Gradient: through every step.
    Reference: TensorFlow 2.21 `tf.foldr`.

    >>> sess.run(tf.foldr(lambda a, x: a * 10 + x, tf.constant([1, 2, 3])))
    np.int32(321)
    """
    return _fold(fn, elems, initializer, back_prop, name, "foldr", True)


def scan(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
         back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False,
         name: str | None = None) -> Any:  # fmt: skip
    """Combines the rows of `elems` from the first to the last and gives every accumulated value.

    Args:
      fn: takes the accumulated value and a row, returns the next accumulated value.
      elems: a tensor (n, *E) or a structure of tensors of the same n.
      initializer: the value before the first row; by default the first row is the first value.
      parallel_iterations, swap_memory, infer_shape: accepted as TensorFlow does.
      back_prop: whether it can be differentiated.
      reverse: whether to go from the last row to the first.
      name: a name scope.
    Returns: the accumulated values, (n, *A).
    Raises: TypeError if `fn` is no function; ValueError for scalars, and if the static shape of
      the accumulated value is not known.
    Gradient: through every step.
    Reference: TensorFlow 2.21 `tf.scan`.

    >>> sess.run(tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])))
    array([1, 3, 6], dtype=int32)
    """
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.")
    with name_scope(name, "scan"):
        flat, n = _rows(elems)
        last = n - 1
        first = 0
        if initializer is None:
            first = 1
            initializer = _row(flat, elems, last if reverse else np.int32(0))
        start = nest.map_structure(convert_to_tensor, initializer)
        leaves = nest.flatten(start)
        buffers = _buffers(n, leaves, "scan")
        if first:
            at = convert_to_tensor(last if reverse else 0)
            buffers = [_put(b, at, t) for b, t in zip(buffers, leaves, strict=True)]

        def body(i: Any, a: Any, buffers: list[Any]) -> Any:
            at = last - i if reverse else i
            a = fn(a, _row(flat, elems, at))
            out = [convert_to_tensor(t) for t in nest.flatten(a)]
            return i + 1, a, [_put(b, at, t) for b, t in zip(buffers, out, strict=True)]

        result = while_loop(lambda i, *_: i < n, body, [np.int32(first), start, buffers], back_prop=back_prop)
        return nest.pack_sequence_as(initializer, result[2])
