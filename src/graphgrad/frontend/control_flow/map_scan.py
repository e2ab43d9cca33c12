"""`map_fn`, `foldl`, `foldr` and `scan`: loops over the first dimension of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composites import converted
from graphgrad.frontend.structure.structure_types import DTypes, OneTensor, TensorsT
from graphgrad.frontend.structure.tensor_array import TensorArray
from graphgrad.gradients.control_flow.vectorized_map_gradient import rows_at_once
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import dtype_of
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ops.array.fill import zeros

from .cond_while import _while, while_loop
from .map_uneven import is_uneven, map_rows


def _rows(elems: Any) -> tuple[list[Any], Any]:
    """Returns the flat tensors, and their number of rows (an int, or a tensor if known only at run time)."""
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
    # Eagerly a slice: the gradient of what is gathered would be `IndexedSlices`, where TensorFlow's is dense.
    rows = [t[i] if isinstance(t, EagerTensor) else raw.GatherV2(t, i, 0) for t in flat]
    return nest.pack_sequence_as(structure, rows)


def _trial(fn: Callable[..., Any], *args: Any) -> tuple[Any, list[Any]]:
    """Finds out, in a temporary graph, what `fn` returns for arguments of these shapes."""
    graph = FuncGraph("trial", current_graph(), discarded=True)
    with use(graph):
        inner = [nest.map_structure(lambda t: graph.add_input(t.dtype, t._spec.shape, "arg"), a) for a in args]
        result = fn(*inner)
        return result, [convert_to_tensor(t) for t in nest.flatten(result)]


@overload
def map_fn(fn: Callable[[AnyTensor], TensorsT], elems: OneTensor, dtype: DTypes | None = None,
           parallel_iterations: Any = None, back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
           name: str | None = None, fn_output_signature: DTypes | None = None) -> TensorsT: ...
@overload
def map_fn(fn: Callable[[Any], TensorsT], elems: object, dtype: DTypes | None = None,
           parallel_iterations: Any = None, back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
           name: str | None = None, fn_output_signature: DTypes | None = None) -> TensorsT: ...
@overload
def map_fn(fn: Callable[..., Any], elems: Any, dtype: Any = None,
           parallel_iterations: Any = None, back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
           name: str | None = None, fn_output_signature: Any = None) -> Any: ...
def map_fn(fn: Callable[..., Any], elems: Any, dtype: Any = None, parallel_iterations: Any = None,
           back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, name: str | None = None,
           fn_output_signature: Any = None) -> Any:
    """Applies `fn` to each row of `elems` and stacks the results.

    Args:
      fn: takes one row (nested as `elems` is), returns a tensor or a structure of them.
      elems: a tensor (n, *E) or a structure of tensors of the same n; sparse and ragged ones count, too.
      dtype, fn_output_signature: the dtypes of the results, where they differ from `elems`'; a `tf.RaggedTensorSpec`
        for a result whose rows differ, a `tf.SparseTensorSpec` for sparse ones.
      parallel_iterations, swap_memory, infer_shape: accepted as TensorFlow does.
      back_prop: whether it can be differentiated.
      name: a name scope.
    Returns: the structure that `fn` returns, with tensors (n, *R).
    Raises: ValueError for scalars, and if `fn` returns another structure; TypeError for other dtypes.
    Gradient: that of `fn`, row by row.
    Reference: TensorFlow 2.21 `tf.map_fn`.

    >>> sess.run(tf.map_fn(lambda x: x * x, tf.constant([1.0, 2.0, 3.0])))
    array([1., 4., 9.], dtype=float32)
    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable.")
    signature = fn_output_signature if fn_output_signature is not None else dtype
    structure: Any = elems if signature is None else signature
    if is_uneven(elems, signature):
        with name_scope(name, "map"):
            return map_rows(fn, elems, signature, back_prop)
    with name_scope(name, "map"):
        flat, n = _rows(elems)
        types = list(map(dtype_of, flat if signature is None else nest.flatten(signature)))
        if current_graph() is None and n == 0:  # without rows the shapes of results are unknown
            return _of_no_rows(fn, flat, elems, structure)

        def body(i: Any, arrays: list[Any]) -> Any:
            result = fn(_row(flat, elems, i))
            nest.assert_same_structure(structure, result, check_types=False)
            found = [convert_to_tensor(t, None if hasattr(t, "dtype") else d)
                     for t, d in zip(nest.flatten(result), types, strict=True)]
            if [t.dtype for t in found] != types:
                raise TypeError(
                    f"map_fn: fn returns {[t.dtype.name for t in found]}, but dtype says "
                    f"{[d.name for d in types]}.\n  Built at {user_source(2)}\n"
                    "  Fix: give dtype= what fn returns"
                )
            return i + 1, [ta.write(i, t) for ta, t in zip(arrays, found, strict=True)]

        start = [np.int32(0), [TensorArray(d, n, infer_shape=infer_shape) for d in types]]

        def at_once(graph: FuncGraph, after: list[Any]) -> Any:
            results = rows_at_once(graph, flat, [ta.flow for ta in after[1:]])
            return None if results is None else (results, None)

        whole, arrays = _while(lambda i, _: i < n, body, start, None, back_prop, None, None, at_once)
        if arrays is None:
            results = whole if back_prop else [raw.StopGradient(t) for t in whole]
        else:
            results = [ta.stack() for ta in arrays]
        return nest.pack_sequence_as(structure, results)


def _of_no_rows(fn: Callable[..., Any], flat: list[Any], elems: Any, structure: Any) -> Any:
    rows = nest.pack_sequence_as(elems, [zeros(t.shape[1:], t.dtype) for t in flat])
    _, results = _trial(fn, rows)
    sizes = [[0, *(d or 0 for d in t._spec.shape or ())] for t in results]
    return nest.pack_sequence_as(
        structure, [zeros(size, t.dtype) for size, t in zip(sizes, results, strict=True)]
    )


def map_any(fn: Callable[..., Any], elems: Any) -> Any:
    """Applies `map_fn`, without declared result dtypes."""
    flat, _ = _rows(elems)
    structure, results = _trial(fn, _row(flat, elems, np.int32(0)))
    return map_fn(fn, elems, fn_output_signature=nest.pack_sequence_as(structure, [t.dtype for t in results]))


def _fold(fn: Callable[..., Any], elems: Any, initializer: Any, back_prop: bool, name: str | None, default: str,
          backwards: bool) -> Any:
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.")
    with name_scope(name, default):
        flat, n = _rows(elems)
        first = 0
        if initializer is None:
            first = 1
            initializer = _row(flat, elems, n - 1 if backwards else np.int32(0))
        start = nest.map_structure(converted, initializer)

        def body(i: Any, a: Any) -> Any:
            at = n - 1 - i if backwards else i
            return i + 1, fn(a, _row(flat, elems, at))

        return while_loop(lambda i, _: i < n, body, [np.int32(first), start], back_prop=back_prop)[1]


@overload
def foldl(fn: Callable[..., Any], elems: object, initializer: OneTensor,
          parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
          name: str | None = None) -> AnyTensor: ...
@overload
def foldl(fn: Callable[..., Any], elems: object, initializer: TensorsT,
          parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
          name: str | None = None) -> TensorsT: ...
@overload
def foldl(fn: Callable[..., Any], elems: TensorsT, initializer: None = None,
          parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
          name: str | None = None) -> TensorsT: ...
@overload
def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None,
          parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
          name: str | None = None) -> Any: ...
def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """Combines the rows of `elems` from the first to the last: `a = fn(a, row)`.

    Args:
      fn: takes the accumulated value and a row, returns the next accumulated value.
      elems: a tensor (n, *E) or a structure of tensors of the same n.
      initializer: the first accumulated value; the first row by default.
      parallel_iterations, swap_memory: accepted as TensorFlow does.
      back_prop: whether it can be differentiated.
      name: a name scope.
    Returns: the last accumulated value.
    Raises: TypeError if `fn` is not a function; ValueError for scalars.
    Gradient: through every step.
    Reference: TensorFlow 2.21 `tf.foldl`.

    >>> sess.run(tf.foldl(lambda a, x: a * 10 + x, tf.constant([1, 2, 3])))
    np.int32(123)
    """
    return _fold(fn, elems, initializer, back_prop, name, "foldl", False)


@overload
def foldr(fn: Callable[..., Any], elems: object, initializer: OneTensor,
          parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
          name: str | None = None) -> AnyTensor: ...
@overload
def foldr(fn: Callable[..., Any], elems: object, initializer: TensorsT,
          parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
          name: str | None = None) -> TensorsT: ...
@overload
def foldr(fn: Callable[..., Any], elems: TensorsT, initializer: None = None,
          parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
          name: str | None = None) -> TensorsT: ...
@overload
def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None,
          parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
          name: str | None = None) -> Any: ...
def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
          back_prop: bool = True, swap_memory: bool = False, name: str | None = None) -> Any:
    """Combines the rows of `elems` from the last to the first: `a = fn(a, row)`.

    Args:
      fn, elems, initializer, parallel_iterations, back_prop, swap_memory, name: as in `foldl`.
    Returns: the last accumulated value.
    Raises: TypeError if `fn` is not a function; ValueError for scalars.
    Gradient: through every step.
    Reference: TensorFlow 2.21 `tf.foldr`.

    >>> sess.run(tf.foldr(lambda a, x: a * 10 + x, tf.constant([1, 2, 3])))
    np.int32(321)
    """
    return _fold(fn, elems, initializer, back_prop, name, "foldr", True)


@overload
def scan(fn: Callable[..., Any], elems: object, initializer: OneTensor,
         parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
         infer_shape: bool = True, reverse: bool = False, name: str | None = None) -> AnyTensor: ...
@overload
def scan(fn: Callable[..., Any], elems: object, initializer: TensorsT,
         parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
         infer_shape: bool = True, reverse: bool = False, name: str | None = None) -> TensorsT: ...
@overload
def scan(fn: Callable[..., Any], elems: TensorsT, initializer: None = None,
         parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
         infer_shape: bool = True, reverse: bool = False, name: str | None = None) -> TensorsT: ...
@overload
def scan(fn: Callable[..., Any], elems: Any, initializer: Any = None,
         parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
         infer_shape: bool = True, reverse: bool = False, name: str | None = None) -> Any: ...
def scan(fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
         back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False,
         name: str | None = None) -> Any:
    """Combines the rows of `elems` from the first to the last and returns every accumulated value.

    Args:
      fn: takes the accumulated value and a row, returns the next accumulated value.
      elems: a tensor (n, *E) or a structure of tensors of the same n.
      initializer: the value before the first row; by default the first row is the first value.
      parallel_iterations, swap_memory, infer_shape: accepted as TensorFlow does.
      back_prop: whether it can be differentiated.
      reverse: whether to go from the last row to the first.
      name: a name scope.
    Returns: the accumulated values, (n, *A).
    Raises: TypeError if `fn` is not a function; ValueError for scalars.
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
        arrays = [TensorArray(t.dtype, n, element_shape=t.shape, clear_after_read=False) for t in leaves]
        if first:
            at = convert_to_tensor(last if reverse else 0)
            arrays = [ta.write(at, t) for ta, t in zip(arrays, leaves, strict=True)]

        def body(i: Any, a: Any, arrays: list[Any]) -> Any:
            at = last - i if reverse else i
            a = fn(a, _row(flat, elems, at))
            out = [convert_to_tensor(t) for t in nest.flatten(a)]
            return i + 1, a, [ta.write(at, t) for ta, t in zip(arrays, out, strict=True)]

        result = while_loop(lambda i, *_: i < n, body, [np.int32(first), start, arrays], back_prop=back_prop)
        return nest.pack_sequence_as(initializer, [ta.stack() for ta in result[2]])
