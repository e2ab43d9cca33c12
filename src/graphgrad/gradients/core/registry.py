"""The gradient registry: gradients of op types, and gradients registered by name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from graphgrad.ir.graph import Graph, Operation
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, OpDef, registry
from graphgrad.ir.source import Source, is_internal, user_source

from .missing import MissingGradientError


class _Registered(NamedTuple):
    function: Any
    source: Source | None


# Gradients for names that are not op types, for `Graph.gradient_override_map`.
_by_name: dict[str, _Registered] = {}
_users: set[str] = set()  # op types whose gradient a user has registered


class RegisterGradient:
    """Decorator that registers the gradient function of an op type.

    The function takes the `Operation` and one gradient for each output, and returns one for
    each input: a tensor, `IndexedSlices` or None. A name that is not an op type can be used in
    `Graph.gradient_override_map`.

    Args:
      op_type: the op type, or any other name.
    Raises: KeyError if the name has a gradient already, quoting the place that registered it; gradients that TensorFlow
      does not have can be replaced.

    >>> @tf.RegisterGradient("NegateMyGradient")
    ... def _negate(op, dy):
    ...     return -dy
    >>> with tf.get_default_graph().gradient_override_map({"Identity": "NegateMyGradient"}):
    ...     x = tf.constant(1.0)
    ...     y = tf.identity(x)
    >>> sess.run(tf.gradients(y, x))
    [np.float32(-1.0)]
    """

    def __init__(self, op_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Registers `f` and returns it."""
        _register(self._op_type, f)
        return f


def NotDifferentiable(op_type: str) -> None:
    """Declares that an op type has no derivative: gradients stop there and are None.

    Args:
      op_type: the op type.
    Raises: TypeError if it is not a string; KeyError if a gradient is registered already.
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, NOT_DIFFERENTIABLE)


NoGradient = NotDifferentiable


def _register(name: str, function: Any) -> None:
    opdef = registry.get(name)
    if opdef is not None:
        if opdef.gradient is not None and _gives_way(opdef):
            opdef.gradient = None
        opdef.grad(function)
        _users.add(name)
        return
    if name in _by_name:
        raise KeyError(
            f"Registering two gradient with name '{name}'! (Previous registration was at {_by_name[name].source})"
        )
    _by_name[name] = _Registered(function, user_source(2))


def registered(name: str) -> Any:
    """Returns the gradient of an op type or name: a function, `NOT_DIFFERENTIABLE`, or None if none is registered."""
    if name in registry:
        return registry[name].gradient
    return _by_name[name].function if name in _by_name else None


def is_users(name: str) -> bool:
    """Returns whether a user has registered the gradient of an op type."""
    return name in _users


def place_of(name: str) -> Source | None:
    """Returns where the gradient of an op type or name was registered."""
    if name in registry:
        return registry[name].gradient_source
    return _by_name[name].source if name in _by_name else None


def replace(name: str, function: Any) -> None:
    """Registers the gradient of an op type or name in the place of another, if there is one.

    Args:
      name: the op type, or any other name.
      function: the gradient function, or `NOT_DIFFERENTIABLE`.
    """
    remove(name)
    _register(name, function)


def remove(name: str) -> None:
    """Forgets the gradient of an op type or name; it can be registered again."""
    if name in registry:
        registry[name].gradient = registry[name].gradient_source = None
    _by_name.pop(name, None)


def names() -> list[str]:
    """Lists the op types that have gradients, and other names that gradients were registered for."""
    return [*(record.name for record in registry.values() if record.gradient is not None), *_by_name]


def _gives_way(opdef: OpDef) -> bool:
    """Returns whether the gradient of an op type is this package's own and TensorFlow has none."""
    from .rule_types import TAKEN

    ours = opdef.source is not None and is_internal(opdef.source.filename)
    return ours and opdef.name not in TAKEN and opdef.name not in _users


def registered_functions() -> dict[tuple[str, str], Any]:
    """Lists the gradient functions of the types that have a record by now, and those that were given names."""
    records = {("type", record.name): record.gradient for record in registry.imported()}
    return records | {("name", name): given.function for name, given in list(_by_name.items())}


def gradient_function(op: Operation) -> Any:
    """Returns the gradient function of an operation, `NOT_DIFFERENTIABLE`, or None if none is declared.

    Args:
      op: the operation; an override that was in force when it was built takes precedence.
    Raises: LookupError for an override whose name is not registered.
    """
    override = op._gradient
    if override is None:
        return op.opdef.gradient
    if not isinstance(override, str):
        left_out = _without and (op.graph, getattr(override, "called_in", None)) in _without
        return op.opdef.gradient if left_out else override
    if override in _by_name:
        return _by_name[override].function
    if override in registry:
        return registry[override].gradient
    raise LookupError(
        f"No gradient is registered under the name '{override}', which gradient_override_map gave "
        f"operation '{op.name}' (op type: {op.type}).\n  Built at {op.source}\n"
        f"  Fix: decorate a function with @tf.RegisterGradient('{override}')"
    )


_without: list[tuple[Graph, Any]] = []


@contextlib.contextmanager
def without_custom_gradients(graph: Graph, calls: frozenset[Operation]) -> Iterator[None]:
    """Differentiates the operations themselves where functions have gradients by `custom_gradient`.

    Args:
      graph: the graph in which they were called. What is inside of branches and loops keeps these gradients.
      calls: the entrances of the calls in which they were called; what is inside of other calls keeps them.
    """
    _without.append((graph, calls))
    try:
        yield
    finally:
        _without.remove((graph, calls))


def get_gradient_function(op: Operation) -> Any:
    """Returns the gradient function of an operation, or None if it is not differentiable.

    Raises: LookupError if none is declared.
    """
    function = gradient_function(op)
    if function is None:
        raise MissingGradientError(op)
    return None if function is NOT_DIFFERENTIABLE else function
