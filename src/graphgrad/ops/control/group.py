"""`no_op`, `group`, `tuple`: operations that only order others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from graphgrad.ir.context import current_graph
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.values.indexed_slices import of_values, with_values

# Stateful, so that it is not merged with equal ones, which have other control inputs.
_ORDERS = ("stateful", "idle")


@op("NoOp", "->", flags=_ORDERS)
def no_op_kernel(xp):
    """Does nothing; its control inputs run before the operations that wait for it."""


no_op_kernel.grad(NOT_DIFFERENTIABLE)


@op("ControlTrigger", "->", flags=_ORDERS)
def control_trigger(xp):
    """Does nothing; the same as NoOp."""


control_trigger.grad(NOT_DIFFERENTIABLE)


def no_op(name: str | None = None) -> Operation | Any:
    """Makes an operation that does nothing, to attach control dependencies to.

    Args:
      name: a name for the operation.
    Returns: the `Operation`; None in eager mode.
    Gradient: none; it has neither inputs nor outputs.
    Reference: TensorFlow 2.21 NoOp.

    >>> tf.no_op().type
    'NoOp'
    """
    return raw.NoOp(name=name)


def group(*inputs: Any, **kwargs: Any) -> Operation | Any:
    """Makes one operation that completes when all `inputs` have.

    Args:
      *inputs: operations, tensors, variables, or (nested) lists, tuples and dicts of them.
      name: a name for the operation.
    Returns: the `Operation`; None in eager mode, where everything has been executed already.
    Raises: TypeError for anything else; ValueError for other keyword arguments.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.group`.

    >>> sess.run(tf.group(tf.constant(1), tf.constant(2)))
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}. Fix: group takes only name=")
    graph = current_graph()
    if graph is None:
        return None
    with name_scope(name, "group_deps", inputs) as scope:
        by_device: dict[str, dict[Operation, None]] = {}
        for element in _flatten(inputs):
            found = _operation(graph, element)
            if found is not None:
                by_device.setdefault(found.device, {})[found] = None
        if len(by_device) > 1:  # one signal from each device, not one for each operation
            parts = [_after(graph, by_device[d], None, d) for d in sorted(by_device)]
            return _after(graph, parts, scope)
        deps = next(iter(by_device.items()), ("", {}))
        return _after(graph, deps[1], scope, deps[0])


def _after(graph: Graph, ops: Any, name: str | None, device: str = "") -> Operation:
    with graph.device(device) if device else contextlib.nullcontext(), graph.control_dependencies(list(ops)):
        result: Operation = raw.NoOp(name=name)
        return result


def _flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = [value[k] for k in sorted(value)]
    if isinstance(value, (list, tuple_type)):
        for v in value:
            yield from _flatten(v)
    else:
        yield value


def _operation(graph: Graph, element: Any) -> Operation | None:
    """Returns the operation to wait for; None for values without one, e.g. eager ones."""
    if isinstance(element, (Operation, Tensor)):
        return element if isinstance(element, Operation) else element.op
    if hasattr(element, "_as_graph_element"):
        found = graph.as_graph_element(element)
        return found.op if isinstance(found, Tensor) else found
    if isinstance(element, EagerTensor):
        return None
    own = getattr(element, "op", None)
    if isinstance(own, Operation):
        return own
    raise TypeError(f"'inputs' should be zero or more (nested) Tensors. Received '{element}' with type "
                    f"'{type(element)}'. Fix: group operations, tensors or variables, in lists if need be")


tuple_type = tuple


def tuple(tensors: Any, control_inputs: Any = None,  # TensorFlow's name
          name: str | None = None) -> list[AnyTensor | Any]:
    """Returns tensors that are available only when all of them have been computed.

    Args:
      tensors: a list of tensors, `IndexedSlices` or None.
      control_inputs: further operations to wait for.
      name: a name for the scope.
    Returns: a list as long as `tensors`; None stays None.
    Raises: ValueError if there is no tensor in it; TypeError for unfit control inputs.
    Gradient: the identity's.
    Reference: TensorFlow 2.21 `tf.tuple`.

    >>> sess.run(tf.tuple([tf.constant(1), tf.constant(2)]))
    [np.int32(1), np.int32(2)]
    """
    graph = current_graph()
    if graph is None:
        return tensors
    with name_scope(name, "tuple", tensors):
        gating = [_operation(graph, t) for t in tensors if t is not None]
        for extra in control_inputs or ():
            gating.append(_control_input(graph, extra))
        if not any(t is not None for t in tensors):
            raise ValueError(f"'tensors' must have at least one Tensor. Received: {tensors}.")
        gate = group(*dict.fromkeys(gating))
        return [None if t is None else _waiting(graph, gate, t) for t in tensors]


def tuple_v1(tensors: Any, name: str | None = None, control_inputs: Any = None) -> list[Any]:
    """Returns tensors that are available only when all of them have been computed; see `tuple`.

    >>> sess.run(tf.tuple([tf.constant(1)], name="both"))
    [np.int32(1)]
    """
    return tuple(tensors, control_inputs, name)


def _control_input(graph: Graph, c: Any) -> Operation:
    if isinstance(c, Operation):
        return c
    if isinstance(c, Tensor) or hasattr(c, "_as_graph_element"):
        found = graph.as_graph_element(c)
        return found.op if isinstance(found, Tensor) else found
    raise TypeError(f"'control_inputs' must only contain Operation or Tensor. Received: {type(c)}. "
                    "Fix: give operations or tensors")


def _waiting(graph: Graph, gate: Operation, t: Any) -> Any:
    with graph.control_dependencies([gate]):
        return with_values(t, raw.Identity(of_values(t), name="control_dependency"))


__all__ = ["group", "no_op", "tuple", "tuple_v1"]
