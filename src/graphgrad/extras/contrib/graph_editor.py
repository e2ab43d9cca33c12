"""`tf.contrib.graph_editor`: copying operations, and changing their inputs.

Operations are kept in an order in which inputs come first; a change that would break it is rejected.

Reference: `tf.contrib.graph_editor` of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.structure.structure_types import S
from graphgrad.ir.builder import add_to_graph
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.graph import Operation, Tensor

from .graph_selection import SubGraphView, get_backward_walk_ops, get_forward_walk_ops, make_list_of_op, make_list_of_t

# -- copying -------------------------------------------------------------------------------


class TransformerInfo:
    """The copies of operations and tensors.

    Args:
      ops: original operation -> copy.
      ts: id of the original tensor -> (original, copy).
    """

    def __init__(self, ops: dict[Any, Any], ts: dict[int, tuple[Any, Any]]):
        self._transformed_ops = ops
        self._ts = ts
        self._back = {id(b): a for a, b in ts.values()}

    def transformed(self, original: Any, missing_fn: Any = None) -> Any:
        """Returns the copy of an operation, a tensor, or a nesting of them; None for what was not copied.

        Args:
          original: what was copied.
          missing_fn: a function that gives the result for others.
        """
        if isinstance(original, (list, tuple)):
            return type(original)(self.transformed(o, missing_fn) for o in original)
        found = self._transformed_ops.get(original) if isinstance(original, Operation) else \
            self._ts.get(id(original), (None, None))[1]
        return missing_fn(original) if found is None and missing_fn is not None else found

    def original(self, transformed: Any, missing_fn: Any = None) -> Any:
        """Returns the original of a copy.

        Args:
          transformed: a copy.
          missing_fn: a function that gives the result for others.
        """
        if isinstance(transformed, Operation):
            found = next((a for a, b in self._transformed_ops.items() if b is transformed), None)
        else:
            found = self._back.get(id(transformed))
        return missing_fn(transformed) if found is None and missing_fn is not None else found


def copy_with_input_replacements(sgv: Any, replacement_ts: Any, dst_graph: Any = None, dst_scope: str = "",
                                 src_scope: str = "",
                                 reuse_dst_scope: bool = False) -> tuple[SubGraphView, TransformerInfo]:
    """Copies operations; some of what they use is replaced.

    Args:
      sgv: a view, or operations.
      replacement_ts: a dictionary from tensors to their replacements.
      dst_graph: the graph to copy to; the same one if not given.
      dst_scope: a name scope for the copies.
      src_scope: the scope to strip from the originals' names.
      reuse_dst_scope: whether the scope may exist already.
    Returns: (view of the copies, `TransformerInfo`).
    Raises: ValueError for another graph if the operations use tensors that are not replaced.
    """
    view = SubGraphView(make_list_of_op(sgv))
    graph = dst_graph or view.graph or get_default_graph()
    given = {id(getattr(k, "_as_graph_element", lambda k=k: k)() if not isinstance(k, Tensor) else k): v
             for k, v in (replacement_ts or {}).items()}
    scope = dst_scope if reuse_dst_scope or not dst_scope else graph.unique_name(dst_scope)
    prefix = f"{scope.rstrip('/')}/" if scope else ""
    ops: dict[Any, Any] = {}
    tensors: dict[int, tuple[Any, Any]] = {}
    for op in sorted(view.ops, key=_index):
        inputs = []
        for t in op.inputs:
            new: Any = given[id(t)] if id(t) in given else tensors.get(id(t), (t, t))[1]
            if new.graph is not graph:
                raise ValueError(f"{op.name} uses {t.name}, which is of another graph. "
                                 f"Fix: replace it, or copy {t.op.name}")
            inputs.append(new)
        name = graph.unique_name(prefix + op.name.removeprefix(src_scope), mark_as_used=True)
        attrs = {k: v for k, v in op.attrs.items() if k in op.opdef.attrs and k not in _derived(op.opdef)}
        with graph.control_dependencies(None), graph.name_scope(None), graph._building_gradient_of(op._original_op):
            copy = add_to_graph(graph, op.opdef, tuple(inputs), attrs, f"{name}/")
        copy.control_inputs = tuple(ops.get(c, c) for c in op.control_inputs if c in ops or c.graph is graph)
        copy.device = op.device
        copy._gradient = op._gradient
        ops[op] = copy
        for a, b in zip(op.outputs, copy.outputs):
            b._spec = a._spec
            tensors[id(a)] = (a, b)
    return SubGraphView(list(ops.values())), TransformerInfo(ops, tensors)


def _index(op: Any) -> int:
    index: int = op.index
    return index


def _derived(opdef: Any) -> set[str]:
    return {a.type_attr for a in opdef.inputs if a.type_attr and not a.is_list} & set(opdef._derived)


def copy(sgv: Any, dst_graph: Any = None, dst_scope: str = "", src_scope: str = "",
         reuse_dst_scope: bool = False) -> tuple[SubGraphView, TransformerInfo]:
    """Copies operations; see `copy_with_input_replacements`."""
    return copy_with_input_replacements(sgv, {}, dst_graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(target_ts: S, replacement_ts: Any, dst_scope: str = "", src_scope: str = "",
                  reuse_dst_scope: bool = False) -> S:
    """Recomputes tensors with others replaced, by copying the operations in between.

    Args:
      target_ts: tensors, in any nesting of lists.
      replacement_ts: a dictionary from tensors to their replacements.
      dst_scope, src_scope, reuse_dst_scope: as for `copy_with_input_replacements`.
    Returns: the copies, in the nesting of `target_ts`.
    Raises: ValueError if none depends on what is replaced.
    """
    targets = make_list_of_t(target_ts)
    keys = [k if isinstance(k, Tensor) else k._as_graph_element() for k in replacement_ts]
    forward = get_forward_walk_ops([c for k in keys for c in k.consumers()])
    backward = set(get_backward_walk_ops([t.op for t in targets]))
    between = [op for op in forward if op in backward]
    if not between:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(between, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)

    def same(original: Any) -> Any:
        return original

    if isinstance(target_ts, (list, tuple)):
        return type(target_ts)(info.transformed(t, same) for t in target_ts)
    return info.transformed(target_ts, same)


# -- changing ------------------------------------------------------------------------------


def _put(op: Any, inputs: Any) -> None:
    for t in inputs:
        if t.graph is not op.graph:
            raise ValueError(f"{t.name} is not of the graph of {op.name}")
        if t.op.index >= op.index:
            raise ValueError(f"{op.name} cannot use {t.name}, which was built after it.\n  Built at {op.source}\n"
                             "  Fix: build the new input first, or copy the operation with "
                             "copy_with_input_replacements")
    op.inputs = tuple(inputs)
    op.graph._index.forget_consumers()
    op._note_change()


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Makes the users of the tensors of the second list use the first list's instead.

    Args:
      ts0: the tensors to use.
      ts1: as many tensors to replace.
      can_modify, cannot_modify: which operations may, or may not, be changed.
    Returns: the number of changed inputs.
    Raises: ValueError for lists of different lengths, other dtypes, and for a tensor that was built after the
      operation that is to use it.
    """
    new, old = make_list_of_t(ts0), make_list_of_t(ts1)
    if len(new) != len(old):
        raise ValueError(f"ts0 and ts1 have {len(new)} and {len(old)} tensors. Fix: give one for each")
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    forbidden = set(make_list_of_op(cannot_modify)) if cannot_modify is not None else set()
    changed = 0
    for a, b in zip(new, old):
        if a.dtype is not b.dtype:
            raise ValueError(f"{a.name} is {a.dtype.name}, {b.name} is {b.dtype.name}. Fix: tf.cast")
        for op in b.consumers():
            if op is a.op or op in forbidden or (allowed is not None and op not in allowed):
                continue
            changed += sum(t is b for t in op.inputs)
            _put(op, [a if t is b else t for t in op.inputs])
    return changed


def reroute_inputs(sgv0: Any, sgv1: Any) -> None:
    """Makes the operations of the second view use the inputs of the first one.

    Args:
      sgv0, sgv1: views with as many inputs.
    """
    reroute_ts(sgv0.inputs, sgv1.inputs, can_modify=sgv1.ops)


def add_control_inputs(op: Any, cops: Any) -> None:
    """Makes an operation wait for others.

    Args:
      op: the operation.
      cops: the others.
    Raises: ValueError for one that it waits for already, and for one that was built after it.
    """
    new = make_list_of_op(cops)
    for c in new:
        if c in op.control_inputs:
            raise ValueError(f"{c.name} is already a control_input of {op.name}")
        if c.index >= op.index:
            raise ValueError(f"{op.name} cannot wait for {c.name}, which was built after it.\n  Built at {op.source}\n"
                             "  Fix: use tf.control_dependencies while building")
    op.control_inputs = (*op.control_inputs, *new)
    op.graph._index.forget_consumers()
    op._note_change()


def remove_control_inputs(op: Any, cops: Any) -> None:
    """Removes control inputs from an operation.

    Args:
      op: the operation.
      cops: the others.
    Raises: ValueError for one that it does not wait for.
    """
    gone = make_list_of_op(cops)
    for c in gone:
        if c not in op.control_inputs:
            raise ValueError(f"{c.name} is not a control_input of {op.name}")
    op.control_inputs = tuple(c for c in op.control_inputs if c not in gone)
    op.graph._index.forget_consumers()
    op._note_change()
