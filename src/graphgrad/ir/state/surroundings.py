"""What new operations take from the `with` blocks around them: scope, control inputs, device, gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.system import device_names

from .names import OPERATION, SCOPE, invalid_scope_name

BY_FUNCTION = "<by function>"  # the device is decided for each operation


class Surroundings:
    """What the `with` blocks around the next operation of a graph say. Its values are replaced, never changed.

    Attributes:
      scope: the name scope, without the trailing slash.
      control: the `control_dependencies` blocks.
      devices: what the `device` blocks name: text, functions, None.
      device: the devices merged; BY_FUNCTION if there is a function among them.
      colocated: the colocation groups.
      source: replaces the user's line while set.
      original_op: the forward operation whose gradient is being built.
      gradients: op type -> the gradient that operations have in its place.
      in_two_runs: whether gradients being added run in a separate run.
      copies: while a user's gradient function runs for a copy of its operation: copies, by the id of their originals.
    """

    __slots__ = ("scope", "control", "devices", "device", "colocated", "source", "original_op", "gradients",
                 "in_two_runs", "copies")

    def __init__(self) -> None:
        self.scope = ""
        self.control: list[ControlBlock] = []
        self.devices: list[Any] = []
        self.device = ""
        self.colocated: tuple[str, ...] = ()
        self.source: Any = None
        self.original_op: Any = None
        self.gradients: dict[str, Any] = {}
        self.in_two_runs = False
        self.copies: dict[int, Any] = {}

    def having(self, **values: Any) -> _Having:
        """Replaces some of the values in a `with` block.

        Args:
          **values: the attributes' names, and what they are inside.
        """
        return _Having(self, values)

    def control_inputs_of(self, op: Any) -> tuple[Any, ...]:
        """Returns the control inputs of a new operation, and notes that it was built here."""
        wanted: dict[Any, None] = {}
        for block in self.control:
            # An input built inside the block waits for the block's control inputs already.
            if not any(t.op in block.made for t in op.inputs):
                wanted.update(dict.fromkeys(block.ops))
            block.made.add(op)
        return tuple(wanted)

    def device_of(self, op: Any) -> str:
        """Returns the device of a new operation where functions decide it."""
        result = ""
        for entry in reversed(self.devices):
            spec = entry(op) if callable(entry) else entry
            if spec is None and not callable(entry):
                break  # device(None) hides the outer ones
            if spec:
                result = device_names.merge(spec if isinstance(spec, str) else spec.to_string(), result)
        return result


# The blocks are classes, since generators take a microsecond longer.


class NameScopeBlock:
    """One `name_scope` block.

    Args:
      surroundings: what it changes.
      unique_name: makes a name unique in the graph.
      name: the scope's name; one that ends with a slash is taken as it is; None for the outermost scope.
    """

    __slots__ = ("_name", "_outer", "_surroundings", "_unique_name")

    def __init__(self, surroundings: Surroundings, unique_name: Callable[[str], str], name: str | None):
        self._surroundings, self._unique_name, self._name = surroundings, unique_name, name

    def __enter__(self) -> str:
        at, scope, name = self._surroundings, "", self._name
        self._outer = at.scope
        if name:
            if not isinstance(name, str) or not (SCOPE if self._outer or name[-1] == "/" else OPERATION).match(name):
                raise invalid_scope_name(name)
            scope = name[:-1] if name.endswith("/") else self._unique_name(name)
        at.scope = scope
        return f"{scope}/" if scope else ""

    def __exit__(self, *exc: object) -> None:
        self._surroundings.scope = self._outer


class ControlBlock:
    """One `control_dependencies` block: its control inputs and the operations built inside.

    Args:
      surroundings: what it changes.
      control_inputs: what the user gives; None clears the outer blocks.
      element: makes an operation of one of them, or None.
    """

    __slots__ = ("ops", "made", "_surroundings", "_given", "_element", "_outer")

    def __init__(self, surroundings: Surroundings, control_inputs: Any, element: Callable[[Any], Any]):
        self._surroundings, self._given, self._element = surroundings, control_inputs, element
        self.made: set[Any] = set()

    def __enter__(self) -> None:
        at = self._surroundings
        self._outer = at.control
        if self._given is None:
            at.control = []
            return
        elements = [self._element(c) for c in self._given]
        self.ops = tuple(dict.fromkeys([e for e in elements if e is not None]))
        at.control = [*self._outer, self]

    def __exit__(self, *exc: object) -> None:
        self._surroundings.control = self._outer


class DeviceBlock:
    """One `device` block.

    Args:
      surroundings: what it changes.
      device: text, a function from an operation to a device, or None, which hides the outer ones.
    """

    __slots__ = ("_surroundings", "_device", "_outer")

    def __init__(self, surroundings: Surroundings, device: Any):
        self._surroundings, self._device = surroundings, device

    def __enter__(self) -> None:
        at, device = self._surroundings, self._device
        if device is not None and not callable(device):
            device = device_names.canonical(device if isinstance(device, str) else device.to_string())
        self._outer = at.devices, at.device
        at.devices = [*at.devices, device]
        at.device = _merged(at.devices)

    def __exit__(self, *exc: object) -> None:
        self._surroundings.devices, self._surroundings.device = self._outer


def _merged(devices: list[Any]) -> str:
    result = ""
    for entry in devices:
        if callable(entry):
            return BY_FUNCTION
        result = "" if entry is None else device_names.merge(result, entry)
    return result


class _Having:
    """One block that replaces some values."""

    __slots__ = ("_surroundings", "_values", "_outer")

    def __init__(self, surroundings: Surroundings, values: dict[str, Any]):
        self._surroundings = surroundings
        self._values = values

    def __enter__(self) -> None:
        at = self._surroundings
        self._outer = [(name, getattr(at, name)) for name in self._values]
        for name, value in self._values.items():
            setattr(at, name, value)

    def __exit__(self, *exc: object) -> None:
        for name, value in self._outer:
            setattr(self._surroundings, name, value)
