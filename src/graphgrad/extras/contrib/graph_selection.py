"""`tf.contrib.graph_editor`: selecting operations and tensors, and walking along them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from graphgrad.ir.context import get_default_graph
from graphgrad.ir.graph import Graph, Operation, Tensor


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
    """Makes a list of operations.

    Args:
      ops: an operation, a graph, a view, or any nesting of them.
      check_graph, allow_graph: accepted.
      ignore_ts: whether tensors are omitted; otherwise they are an error.
    Raises: TypeError for anything but an operation.
    """
    found = [o for o in _flat(ops) if not (ignore_ts and isinstance(o, Tensor))]
    for o in found:
        if not isinstance(o, Operation):
            raise TypeError(f"Expected an operation, got: {type(o)}")
    return list(dict.fromkeys(found))


def make_list_of_t(ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False) -> list[Any]:
    """Makes a list of tensors.

    Args:
      ts: a tensor, a graph, or any nesting of them.
      check_graph, allow_graph: accepted.
      ignore_ops: whether operations are omitted; otherwise they are an error.
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
    """Returns all tensors of a graph.

    Args:
      graph: the graph.
    Reference: TensorFlow 1.15 `tf.contrib.graph_editor.get_tensors`.
    """
    return make_list_of_t(graph)


def get_generating_ops(ts: Any) -> list[Any]:
    """Returns the operations that compute tensors.

    Args:
      ts: tensors, or any nesting of them; operations are omitted.
    Reference: TensorFlow 1.15 `tf.contrib.graph_editor.get_generating_ops`.
    """
    return list(dict.fromkeys(t.op for t in make_list_of_t(ts, ignore_ops=True)))


def get_consuming_ops(ts: Any) -> list[Any]:
    """Returns the operations that have tensors as inputs.

    Args:
      ts: tensors, or any nesting of them; operations are omitted.
    Reference: TensorFlow 1.15 `tf.contrib.graph_editor.get_consuming_ops`.
    """
    return list(dict.fromkeys(op for t in make_list_of_t(ts, ignore_ops=True) for op in t.consumers()))


def _accepts(pattern: Any) -> Callable[[Any], bool]:
    if callable(pattern):
        accept: Callable[[Any], bool] = pattern
        return accept
    compiled = re.compile(pattern)
    return lambda value: compiled.search(value.name) is not None


def filter_ops(ops: Any, positive_filter: Any) -> list[Any]:
    """Returns the operations that a function accepts.

    Args:
      ops: operations.
      positive_filter: the function; True accepts all.
    """
    found = make_list_of_op(ops)
    return found if positive_filter is True else [o for o in found if positive_filter(o)]


def filter_ts(ops: Any, positive_filter: Any) -> list[Any]:
    """Returns the inputs and outputs of operations that a function accepts.

    Args:
      ops: operations.
      positive_filter: the function; True accepts all.
    """
    found = _unique(t for op in make_list_of_op(ops) for t in (*op.inputs, *op.outputs))
    return found if positive_filter is True else [t for t in found if positive_filter(t)]


def filter_ops_from_regex(ops: Any, regex: Any) -> list[Any]:
    """Returns the operations whose names match a pattern.

    Args:
      ops: operations.
      regex: the pattern.
    """
    return filter_ops(ops, _accepts(regex))


def filter_ts_from_regex(ops: Any, regex: Any) -> list[Any]:
    """Returns the inputs and outputs of operations whose names match a pattern.

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
    """Returns operations given, or matched by patterns of their names.

    Args:
      *args: patterns, operations, or nestings of them.
      **kwargs: `graph` for the patterns (the default one if not given), `positive_filter`, a function,
        `restrict_ops_regex`, a pattern.
    """
    return _select(args, kwargs, make_list_of_op, Operation)


def select_ts(*args: Any, **kwargs: Any) -> list[Any]:
    """Returns tensors given, or matched by patterns of their names.

    Args:
      *args: patterns, tensors, or nestings of them.
      **kwargs: as for `select_ops`.
    """
    return _select(args, kwargs, make_list_of_t, Tensor)


def get_name_scope_ops(ops: Any, scope: str) -> list[Any]:
    """Returns the operations in a name scope.

    Args:
      ops: operations.
      scope: the scope.
    """
    scope = scope.rstrip("/")
    return [o for o in make_list_of_op(ops) if o.name == scope or o.name.startswith(f"{scope}/")]


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
    """Returns the operations that others depend on, in the order of a backward walk.

    Args:
      seed_ops: the operations or tensors to start from.
      inclusive: whether to return these too.
      within_ops, within_ops_fn: which operations the walk may go to.
      stop_at_ts: tensors at which the walk stops.
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
    """Returns the operations that depend on others, in the order of a forward walk.

    Args:
      seed_ops: the operations or tensors to start from.
      inclusive: whether to return these too.
      within_ops, within_ops_fn: which operations the walk may go to.
      stop_at_ts: tensors at which the walk stops.
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
    """Returns the operations between others: those on both walks.

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


class SubGraphView:
    """Some operations of a graph, with their inputs and outputs.

    Args:
      inside_ops: the operations.
      passthrough_ts: accepted.

    Attributes:
      ops: the operations.
      inputs: the tensors that they use and do not make.
      outputs: the tensors that they make, and that others use or nothing uses.
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
        """Returns one of the operations."""
        return self.ops[op_id]

    def __len__(self) -> int:
        return len(self.ops)

    def __bool__(self) -> bool:
        return bool(self.ops)


def sgv(*args: Any, **kwargs: Any) -> SubGraphView:
    """Makes a view of operations.

    Args:
      *args, **kwargs: as for `select_ops`.
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    return SubGraphView(select_ops(*args, **kwargs))


make_view = sgv
