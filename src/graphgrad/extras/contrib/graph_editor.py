"""`tf.contrib.graph_editor`: selecting operations, walking along them, copying them, changing their inputs.

Operations are kept in an order in which inputs come first; a change that would break it is rejected.

Reference: `tf.contrib.graph_editor` of TensorFlow 1.15.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from graphgrad.ir.builder import add_to_graph
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.graph import Graph, Operation, Tensor

# -- lists of operations and tensors ---------------------------------------------------


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple, set, frozenset)) or type(value).__name__ in ("dict_values", "dict_keys"):
        for v in value:
            yield from _flat(v)
    elif isinstance(value, Graph):
        yield from value.get_operations()
    elif isinstance(value, SubGraphView):
        yield from value.ops
    elif isinstance(value, Mapping):
        for v in value.values():
            yield from _flat(v)
    elif isinstance(value, (Tensor, Operation)) or not hasattr(value, "_as_graph_element"):
        if value is not None:
            yield value
    else:
        yield value._as_graph_element()


def make_list_of_op(ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False) -> list[Any]:
    """A list of operations.

    Args:
      ops: an operation, a graph, a view, or any nesting of them.
      check_graph, allow_graph: accepted.
      ignore_ts: whether tensors are left out; otherwise they are an error.
    Raises: TypeError for anything but an operation.
    """
    found = [o for o in _flat(ops) if not (ignore_ts and isinstance(o, Tensor))]
    for o in found:
        if not isinstance(o, Operation):
            raise TypeError(f"Expected an operation, got: {type(o)}")
    return list(dict.fromkeys(found))


def make_list_of_t(ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False) -> list[Any]:
    """A list of tensors.

    Args:
      ts: a tensor, a graph, or any nesting of them.
      check_graph, allow_graph: accepted.
      ignore_ops: whether operations are left out; otherwise they are an error.
    Raises: TypeError for anything but a tensor.
    """
    if isinstance(ts, Graph):
        return [t for op in ts.get_operations() for t in op.outputs]
    found = [t for t in _flat(ts) if not (ignore_ops and isinstance(t, Operation))]
    for t in found:
        if not isinstance(t, Tensor):
            raise TypeError(f"Expected a tensor, got: {type(t)}")
    return _unique(found)


def _unique(tensors: Iterable[Any]) -> list[Any]:
    return list({id(t): t for t in tensors}.values())


def get_tensors(graph: Any) -> list[Any]:
    """All tensors of a graph."""
    return make_list_of_t(graph)


def get_generating_ops(ts: Any) -> list[Any]:
    """The operations whose outputs tensors are."""
    return list(dict.fromkeys(t.op for t in make_list_of_t(ts, ignore_ops=True)))


def get_consuming_ops(ts: Any) -> list[Any]:
    """The operations that have tensors as inputs."""
    return list(dict.fromkeys(op for t in make_list_of_t(ts, ignore_ops=True) for op in t.consumers()))


# -- selecting ---------------------------------------------------------------------------


def _accepts(pattern: Any) -> Callable[[Any], bool]:
    if callable(pattern):
        accept: Callable[[Any], bool] = pattern
        return accept
    compiled = re.compile(pattern)
    return lambda value: compiled.search(value.name) is not None


def filter_ops(ops: Any, positive_filter: Any) -> list[Any]:
    """The operations that a function accepts.

    Args:
      ops: operations.
      positive_filter: the function; True accepts all.
    """
    found = make_list_of_op(ops)
    return found if positive_filter is True else [o for o in found if positive_filter(o)]


def filter_ts(ops: Any, positive_filter: Any) -> list[Any]:
    """The tensors, inputs and outputs of operations, that a function accepts.

    Args:
      ops: operations.
      positive_filter: the function; True accepts all.
    """
    found = _unique(t for op in make_list_of_op(ops) for t in (*op.inputs, *op.outputs))
    return found if positive_filter is True else [t for t in found if positive_filter(t)]


def filter_ops_from_regex(ops: Any, regex: Any) -> list[Any]:
    """The operations in whose names a pattern is found.

    Args:
      ops: operations.
      regex: the pattern.
    """
    return filter_ops(ops, _accepts(regex))


def filter_ts_from_regex(ops: Any, regex: Any) -> list[Any]:
    """The tensors, inputs and outputs of operations, in whose names a pattern is found.

    Args:
      ops: operations.
      regex: the pattern.
    """
    return filter_ts(ops, _accepts(regex))


def _select(args: Any, kwargs: dict[str, Any], every: Callable[[Any], list[Any]], kind: type) -> list[Any]:
    graph = kwargs.pop("graph", None)
    keep = kwargs.pop("positive_filter", None)
    prefixed = kwargs.pop("restrict_ops_regex", kwargs.pop("restrict_ts_regex", None))
    if kwargs:
        raise ValueError(f"Invalid keywords arguments: {', '.join(kwargs)}.")
    found: list[Any] = []
    for arg in args:
        if isinstance(arg, str) or hasattr(arg, "pattern"):
            if graph is None:
                graph = get_default_graph()
            accept = _accepts(arg)
            found += [v for v in every(graph) if accept(v)]
        else:
            found += [v for v in _flat(arg) if isinstance(v, kind)]
    if prefixed is not None:
        found = [v for v in found if _accepts(prefixed)(v)]
    return _unique(v for v in found if keep is None or keep(v))


def select_ops(*args: Any, **kwargs: Any) -> list[Any]:
    """Operations by patterns of their names, and those that are given.

    Args:
      *args: patterns, operations, or nestings of them.
      **kwargs: `graph` for the patterns (the default one if not given), `positive_filter`, a function,
        `restrict_ops_regex`, a pattern.
    """
    return _select(args, kwargs, make_list_of_op, Operation)


def select_ts(*args: Any, **kwargs: Any) -> list[Any]:
    """Tensors by patterns of their names, and those that are given.

    Args:
      *args: patterns, tensors, or nestings of them.
      **kwargs: as of `select_ops`.
    """
    return _select(args, kwargs, make_list_of_t, Tensor)


def get_name_scope_ops(ops: Any, scope: str) -> list[Any]:
    """The operations in a name scope.

    Args:
      ops: operations.
      scope: the scope.
    """
    scope = scope.rstrip("/")
    return [o for o in make_list_of_op(ops) if o.name == scope or o.name.startswith(f"{scope}/")]


# -- walking -----------------------------------------------------------------------------


def _walk(seeds: Any, within: Any, within_fn: Any, stop_at: Any, inclusive: bool,
          steps: Callable[[Any], Iterable[Any]],
          from_tensors: Callable[[Any], Iterable[Any]]) -> list[Any]:
    start: list[Any] = []
    for value in _flat(seeds):
        start += [value] if isinstance(value, Operation) else list(from_tensors(value))
    start = list(dict.fromkeys(start))
    allowed = None if within is None else set(make_list_of_op(within))

    def fits(op: Any) -> bool:
        return (allowed is None or op in allowed) and (within_fn is None or within_fn(op))

    found = dict.fromkeys(op for op in start if fits(op))
    wave = list(found)
    while wave:
        wave = list(dict.fromkeys(o for op in wave for o in steps(op) if o not in found and fits(o)))
        found.update(dict.fromkeys(wave))
    from_ops = set(start) if not inclusive else set()
    return [op for op in found if op not in from_ops]


def get_backward_walk_ops(seed_ops: Any, inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
                          stop_at_ts: Any = (), control_inputs: bool = False) -> list[Any]:
    """The operations that others depend on, in the order of a walk from these.

    Args:
      seed_ops: operations or tensors to begin at.
      inclusive: whether to give those of the beginning too.
      within_ops, within_ops_fn: which operations the walk may go to.
      stop_at_ts: tensors beyond which it does not go.
      control_inputs: whether it follows control inputs.
    """
    stop = set(map(id, make_list_of_t(stop_at_ts)))

    def steps(op: Any) -> Iterator[Any]:
        yield from (t.op for t in op.inputs if id(t) not in stop)
        if control_inputs:
            yield from op.control_inputs

    def generator(t: Any) -> Iterable[Any]:
        return () if id(t) in stop else (t.op,)

    return _walk(seed_ops, within_ops, within_ops_fn, stop, inclusive, steps, generator)


def get_forward_walk_ops(seed_ops: Any, inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
                         stop_at_ts: Any = (), control_outputs: Any = None) -> list[Any]:
    """The operations that depend on others, in the order of a walk from these.

    Args:
      seed_ops: operations or tensors to begin at.
      inclusive: whether to give those of the beginning too.
      within_ops, within_ops_fn: which operations the walk may go to.
      stop_at_ts: tensors beyond which it does not go.
      control_outputs: a dictionary (or `ControlOutputs`) from operations to those that wait for them, to follow.
    """
    stop = set(map(id, make_list_of_t(stop_at_ts)))

    def steps(op: Any) -> Iterator[Any]:
        for t in op.outputs:
            if id(t) not in stop:
                yield from t.consumers()
        if control_outputs is not None:
            yield from control_outputs.get(op, ())

    def consumers(t: Any) -> Iterable[Any]:
        return () if id(t) in stop else t.consumers()

    return _walk(seed_ops, within_ops, within_ops_fn, stop, inclusive, steps, consumers)


def get_walks_intersection_ops(forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool = True,
                               backward_inclusive: bool = True, within_ops: Any = None,
                               within_ops_fn: Any = None, control_inputs: bool = False, control_outputs: Any = None,
                               control_ios: Any = None) -> list[Any]:
    """The operations between others: in both of the walks.

    Args:
      forward_seed_ops, backward_seed_ops: where the walks begin.
      forward_inclusive, backward_inclusive, within_ops, within_ops_fn, control_inputs, control_outputs: as of the
        walks.
      control_ios: accepted; without effect.
    """
    forward = get_forward_walk_ops(forward_seed_ops, forward_inclusive, within_ops, within_ops_fn,
                                   control_outputs=control_outputs)
    backward = set(get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops, within_ops_fn,
                                         control_inputs=control_inputs))
    return [op for op in forward if op in backward]


# -- views ---------------------------------------------------------------------------------


class SubGraphView:
    """Some operations of a graph, with their inputs and outputs.

    Args:
      inside_ops: the operations.
      passthrough_ts: accepted.

    Attributes:
      ops: the operations.
      inputs: the tensors that they use and do not make.
      outputs: the tensors that they make and others use, or nobody.
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()):
        self.ops = make_list_of_op(inside_ops)
        inside = set(self.ops)
        self.inputs = _unique(t for op in self.ops for t in op.inputs if t.op not in inside)
        self.outputs = [t for op in self.ops for t in op.outputs
                        if not t.consumers() or any(c not in inside for c in t.consumers())]

    @property
    def graph(self) -> Any:
        """The graph; None if there are no operations."""
        return self.ops[0].graph if self.ops else None

    def op(self, op_id: int) -> Any:
        """One of the operations."""
        return self.ops[op_id]

    def __len__(self) -> int:
        return len(self.ops)

    def __bool__(self) -> bool:
        return bool(self.ops)


def sgv(*args: Any, **kwargs: Any) -> SubGraphView:
    """A view of operations.

    Args:
      *args, **kwargs: as of `select_ops`.
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    return SubGraphView(select_ops(*args, **kwargs))


make_view = sgv


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
        """The copy of an operation, a tensor, or a nesting of them; None for what was not copied.

        Args:
          original: what was copied.
          missing_fn: a function that gives what stands for others.
        """
        if isinstance(original, (list, tuple)):
            return type(original)(self.transformed(o, missing_fn) for o in original)
        found = self._transformed_ops.get(original) if isinstance(original, Operation) else \
            self._ts.get(id(original), (None, None))[1]
        return missing_fn(original) if found is None and missing_fn is not None else found

    def original(self, transformed: Any, missing_fn: Any = None) -> Any:
        """What was copied.

        Args:
          transformed: a copy.
          missing_fn: a function that gives what stands for others.
        """
        if isinstance(transformed, Operation):
            found = next((a for a, b in self._transformed_ops.items() if b is transformed), None)
        else:
            found = self._back.get(id(transformed))
        return missing_fn(transformed) if found is None and missing_fn is not None else found


def copy_with_input_replacements(sgv: Any, replacement_ts: Any, dst_graph: Any = None, dst_scope: str = "",
                                 src_scope: str = "", reuse_dst_scope: bool = False) -> Any:
    """Copies operations; some of what they use is replaced.

    Args:
      sgv: a view, or operations.
      replacement_ts: a dictionary from tensors to those in their places.
      dst_graph: the graph to copy to; the same one if not given.
      dst_scope: a name scope for the copies.
      src_scope: what to leave off the originals' names.
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
         reuse_dst_scope: bool = False) -> Any:
    """Copies operations; see `copy_with_input_replacements`."""
    return copy_with_input_replacements(sgv, {}, dst_graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(target_ts: Any, replacement_ts: Any, dst_scope: str = "", src_scope: str = "",
                  reuse_dst_scope: bool = False) -> Any:
    """Recomputes tensors with others replaced, by copying the operations in between.

    Args:
      target_ts: tensors, in any nesting of lists.
      replacement_ts: a dictionary from tensors to those in their places.
      dst_scope, src_scope, reuse_dst_scope: as of `copy_with_input_replacements`.
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
    op.graph._consumers = {}
    op.graph._consumers_upto = 0
    op._note_change()


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Makes the users of the tensors of the second list use the first list's instead.

    Args:
      ts0: the tensors to use.
      ts1: as many tensors to replace.
      can_modify, cannot_modify: which operations may, or may not, be changed.
    Returns: how many inputs were changed.
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
    op._note_change()
