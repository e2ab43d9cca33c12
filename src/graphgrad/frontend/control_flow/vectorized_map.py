"""`vectorized_map`: a function applied to all rows of tensors at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.structure_types import OneTensor, TensorsT
from graphgrad.gradients.control_flow.vectorized_map_gradient import MapBody, map_rows
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import resource
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor

from . import eager_subgraphs as eager_subgraphs  # used by eager mode to run maps
from .map_scan import map_any


@overload
def vectorized_map(fn: Callable[[AnyTensor], TensorsT], elems: OneTensor, fallback_to_while_loop: bool = True,
                   warn: bool = True) -> TensorsT: ...
@overload
def vectorized_map(fn: Callable[[Any], TensorsT], elems: object, fallback_to_while_loop: bool = True,
                   warn: bool = True) -> TensorsT: ...
@overload
def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True,
                   warn: bool = True) -> Any: ...
def vectorized_map(fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """Applies `fn` to each row of `elems`, all rows at once, and stacks the results.

    Args:
      fn: takes one row (nested as `elems` is), returns a tensor or a structure of them. Random operations in
        it draw anew for each row; stateless ones do not, unless their seeds are mapped.
      elems: a tensor (n, *E) or a structure of tensors of the same n; those of one row go with every row.
      fallback_to_while_loop: whether a function that assigns to variables is run row by row, by `map_fn`.
      warn: accepted as TensorFlow does.
    Returns: the structure that `fn` returns, with tensors (n, *R).
    Raises: ValueError for scalars and different numbers of rows, and for a function that assigns to variables
      if `fallback_to_while_loop` is False; InvalidArgumentError at run time if rows give different shapes.
    Gradient: that of `fn`, row by row; of any order.
    Reference: TensorFlow 2.21 `tf.vectorized_map`.

    >>> sess.run(tf.vectorized_map(lambda x: x @ tf.transpose(x), tf.ones([2, 1, 3])))
    array([[[3.]],
    <BLANKLINE>
           [[3.]]], dtype=float32)
    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable.")
    with name_scope(None, "vectorized_map"):
        flat = [convert_to_tensor(e, name="elem") for e in nest.flatten(elems)]
        if not flat:
            raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors. Got an empty one.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: give a tensor to map over")
        shared = _shared(flat)
        body = MapBody("vectorized_map_body", graph := current_graph())
        if graph is not None:
            body._around.gradients = graph._around.gradients
        whole = {i: raw.Squeeze(t, squeeze_dims=(0,)) for i, t in enumerate(flat) if shared[i]}
        with use(body):
            args = [body.capture(whole[i]) if i in whole else body.add_row(t, f"row_{i}") for i, t in enumerate(flat)]
            result = fn(nest.pack_sequence_as(elems, args))
            leaves = nest.flatten(result)
            kept = [i for i, leaf in enumerate(leaves) if leaf is not None and not isinstance(leaf, Operation)]
        body.outputs = [body.own(leaves[i]) for i in kept]
        _arguments_first(body, [a for i, a in enumerate(args) if i not in whole])
        writer = _writer(body)
        if writer is not None:
            if not fallback_to_while_loop:
                raise ValueError(
                    f"No pfor vectorization defined for {writer.type}: operation '{writer.name}' changes a variable, "
                    f"and rows that run at once have no order.\n  Built at {writer.source}\n"
                    "  Fix: assign after the map, or let fallback_to_while_loop be True"
                )
            return map_any(fn, elems)
        stacked = map_rows(body, [t for i, t in enumerate(flat) if i not in whole]) if kept else []
        found: list[Any] = [None] * len(leaves)
        for i, t in zip(kept, stacked, strict=True):
            found[i] = t
        return nest.pack_sequence_as(result, found)


def _shared(flat: list[Any]) -> list[bool]:
    """Returns which of the tensors have one row that is broadcast over the others' rows."""
    sizes = []
    for t in flat:
        shape = t._spec.shape
        if shape == ():
            raise ValueError(
                f"Elements in elems must be 1+ dimensional Tensors, not scalars; got {t}.\n"
                f"  Asked for at {user_source(2)}\n  Fix: tf.expand_dims(elems, 0)"
            )
        sizes.append(None if shape is None else shape[0])
    known = {n for n in sizes if n is not None}
    if len(known - {1}) > 1:
        raise ValueError(
            f"elems have different numbers of rows: {', '.join(map(str, sorted(known)))}.\n"
            f"  Asked for at {user_source(2)}\n  Fix: give all the same first dimension, or 1"
        )
    return [n == 1 and any(m != 1 for m in sizes) for n in sizes]


def _arguments_first(body: MapBody, args: list[Any]) -> None:
    """Puts the rows' placeholders before the captured ones."""
    first = {id(a) for a in args}
    body.inputs = [*args, *[p for p in body.inputs if id(p) not in first]]


def _writer(graph: FuncGraph) -> Operation | None:
    """Finds an operation that changes a variable, also in nested sub-graphs; None if there is none."""
    for op in graph._operations:
        flags = op.opdef.flags
        if "stateful" in flags and not flags & {"reads", "random", "functional"}:
            if any(t.dtype is resource for t in op.inputs):
                return op
        for inner in op.attrs.values():
            if isinstance(inner, FuncGraph) and (found := _writer(inner)) is not None:
                return found
    return None
