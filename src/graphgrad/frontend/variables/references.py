"""Variables of graphs that behave as references, as those of TensorFlow 1 do."""

from __future__ import annotations

from typing import Any


class References:
    """Whether variables without `use_resource` are fetched like TensorFlow 1's references."""

    by_default = False


def references_by_default(on: bool) -> None:
    """Decides whether variables of graphs behave as references where `use_resource` is not given."""
    References.by_default = on


def make_reference(variable: Any) -> None:
    """Lets a variable be fetched as it is at the end of a run, and found by the names of a reference: `v:0`, `v/read`.

    Args:
      variable: a variable of a graph.
    """
    graph, read, name = variable._graph, variable._snapshot, variable._handle_name
    graph._scoped_state.setdefault("references", set()).add(read.op.index)
    graph._index.aliases.update({f"{name}:0": read, f"{name}/read:0": read, f"{name}/read": read.op})
    initial = variable._initial_value
    if initial is not None and initial.graph is graph:
        graph._index.aliases.update({f"{name}/initial_value:0": initial, f"{name}/initial_value": initial.op})


def is_reference(variable: Any) -> bool:
    """Returns whether `make_reference` has made a variable one."""
    graph = variable._graph
    return graph is not None and variable._snapshot.op.index in graph._scoped_state.get("references", ())


def variable_of(tensor: Any) -> Any:
    """Returns the variable that a tensor stands for, one found by the name of a reference; None for others."""
    op = getattr(tensor, "op", None)
    if op is None or op.type != "ReadVariableOp" or op.index not in op.graph._scoped_state.get("references", ()):
        return None
    variable = getattr(op.inputs[0], "_variable", None)
    return variable if variable is not None and variable._snapshot is tensor else None
