"""Finds operations by name, and those that use a tensor."""

from __future__ import annotations

from typing import Any


class Index:
    """Tables of a graph's operations, which are brought up to date when they are asked.

    Args:
      operations: the graph's list, which grows.

    Attributes:
      aliases: the names by which a reference is found, in place of the variable's handle: name -> tensor or operation.
    """

    __slots__ = ("_operations", "_named", "_consumers", "_consumers_upto", "aliases")

    def __init__(self, operations: list[Any]) -> None:
        self._operations = operations
        self._named: dict[str, Any] = {}
        self._consumers: dict[int, list[Any]] = {}  # keyed by id: tensors may compare elementwise
        self._consumers_upto = 0
        self.aliases: dict[str, Any] = {}

    def by_name(self) -> dict[str, Any]:
        """Returns the operations by name."""
        named = self._named
        for op in self._operations[len(named) :]:
            named[op.name] = op
        return named

    def consumers(self, element: Any) -> list[Any]:
        """Returns the operations that have a tensor as an input or wait for an operation, in creation order."""
        table = self._consumers
        for op in self._operations[self._consumers_upto :]:
            for t in dict.fromkeys(map(id, (*op.inputs, *op.control_inputs))):
                table.setdefault(t, []).append(op)
        self._consumers_upto = len(self._operations)
        return list(table.get(id(element), ()))

    def add_inputs(self, op: Any, inputs: tuple[Any, ...]) -> None:
        """Notes that an operation is about to get other inputs, which include those that it has."""
        if op.index < self._consumers_upto:
            known = set(map(id, op.inputs))
            for t in dict.fromkeys(map(id, inputs)):
                if t not in known:
                    self._consumers.setdefault(t, []).append(op)

    def forget_consumers(self) -> None:
        """Makes the next question about consumers look at all operations again."""
        self._consumers, self._consumers_upto = {}, 0

    def find(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        """Returns the tensor or operation of a name.

        Args:
          name: an operation's name, or `<op name>:<output index>`.
          allow_tensor, allow_operation: which kinds may be returned.
        Raises: KeyError for an unknown name; ValueError for the wrong kind.
        """
        named = self.by_name()
        if name in self.aliases and (allow_tensor if ":" in name else allow_operation):
            own = named.get(name.partition(":")[0])
            if own is None or own.type == "VarHandleOp":
                return self.aliases[name]
        if ":" in name and allow_tensor:
            op_name, _, index = name.rpartition(":")
            if not index.isdigit() or not op_name:
                raise ValueError(f"The name {name!r} looks a like a Tensor name, but is not a valid one. "
                                 "Tensor names must be of the form \"<op_name>:<output_index>\".")
            op = named.get(op_name)
            if op is None:
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                               f"{op_name!r}, does not exist in the graph.{self._similar(op_name)}")
            if int(index) >= len(op.outputs):
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                               f"{op_name!r}, exists but only has {len(op.outputs)} outputs.")
            return op.outputs[int(index)]
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not an Operation.")
        if not allow_operation:
            hint = f" Fix: ask for {name + ':0'!r}." if name in named else ""
            raise ValueError(f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. Tensor names "
                             f"must be of the form \"<op_name>:<output_index>\".{hint}")
        if name not in named:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.{self._similar(name)}")
        return named[name]

    def _similar(self, name: str) -> str:
        import difflib

        near = difflib.get_close_matches(name, list(self.by_name())[:10000], 1)
        return f" Did you mean {near[0]!r}?" if near else ""
