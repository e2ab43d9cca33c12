"""TensorFlow 1's stacks and tensor arrays, rewritten to lists.

There, both are resources that operations change; gradients of loops keep values in stacks, and an array has further
arrays for its gradients. Here a list is a value. So the list is passed from each operation that changes it to the
next: through a loop as a further variable, through branches by a `Switch` and a `Merge`, which are recognised like the
others. A number, the flow, that orders the uses of an array stays what it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from graphgrad.ir.dtypes import variant
from graphgrad.ir.graph_messages import AttrValue, NodeDef

from .control_flow_frames import by_frames, kind_of, operation_of, unrecognised
from .control_flow_lives import Around
from .list_operations import apply, base_of, initial, is_maker, use_of

_VARIANT = AttrValue(type=variant.enum)


class Crossing(NamedTuple):
    """A border that a handle crosses on its way to an operation.

    Attributes:
      kind: "frame" or "switch".
      where: the name of the frame; the predicate.
      port: which branch.
    """

    kind: str
    where: str
    port: int = 0


class ListUse(NamedTuple):
    """An operation on a list.

    Attributes:
      node: its `NodeDef`.
      path: the borders between what makes the list and the operation.
      changes: whether it changes the list.
    """

    node: Any
    path: tuple[Crossing, ...]
    changes: bool


Key = tuple[str, str]  # what makes a list, and for a list of gradients its source


def with_lists(nodes: list[Any]) -> list[Any]:
    """Replaces stacks and tensor arrays by lists in the nodes of a graph.

    Args:
      nodes: `NodeDef`s.
    Returns: the same list if there are none; else a new one.
    Raises: ValueError where a handle goes somewhere else than into loops and branches.
    """
    if not any(is_maker(n) for n in nodes):
        return nodes
    return _Rewriter(nodes).rewritten()


class _Rewriter:
    """Rewrites the nodes of a graph."""

    def __init__(self, nodes: list[Any]):
        self.nodes = nodes
        self.parts = {n.name: n for n in nodes}
        self.around = Around(nodes)
        self.frames = self.around.frames
        self.order = by_frames(nodes, self.frames)
        self.conditions = {self.frames[n.name]: n.name for n in nodes if kind_of(n) == "LoopCond"}
        self.made: list[Any] = []
        self.gone: set[str] = set()  # nodes that others take the place of
        self.renamed: dict[str, str] = {}  # inputs that have another name now
        self.count = itertools.count()

    def rewritten(self) -> list[Any]:
        """Returns the nodes."""
        uses = self._uses()
        self._check_loops(uses)
        for key, found in sorted(uses.items(), key=lambda item: item[0][1]):  # an array before its gradients
            maker = self.parts[key[0]]
            if not key[1]:
                start = initial(maker, self.made)
                self.gone.add(maker.name)
                last = self._through(found, 0, start, self.frames[maker.name], bool(key[1]))
                self.renamed[f"last:{maker.name}"] = last
            else:
                start = initial(maker, self.made, key[1], self.renamed[f"last:{maker.name}"])
                self._through(found, 0, start, self.frames[maker.name], True)
        touched = {u.node.name for found in uses.values() for u in found if u.node.op.startswith("Stack")}
        rest = []
        for node in self.nodes:
            if node.name in self.gone:
                continue
            inputs = [self.renamed.get(n, n) for n in node.input]
            if node.op == "ControlTrigger":  # it runs even after a branch that does not
                inputs = [n for n in inputs if n.removeprefix("^") not in touched]
            if inputs != list(node.input):
                node = NodeDef.FromString(node.SerializeToString())
                node.input[:] = inputs
            rest.append(node)
        for node in self.made:
            node.input[:] = [self.renamed.get(n, n) for n in node.input]
        return [*rest, *self.made]

    def _uses(self) -> dict[Key, list[ListUse]]:
        """Finds what is done with each list, in an order in which it can be done."""
        handles: dict[str, tuple[Key, tuple[Crossing, ...]]] = {}
        uses: dict[Key, list[ListUse]] = {}
        for node in self.order:
            if is_maker(node):
                handles[node.name] = (node.name, ""), ()
                uses.setdefault((node.name, ""), [])
                if base_of(node.op) == "TensorArray":
                    self._is_flow(f"{node.name}:1", f"{node.name}/flow")
                continue
            for place, name in enumerate(node.input):
                held = handles.get(name.removesuffix(":0")) if not name.startswith("^") else None
                if held is None:
                    continue
                key, path = held
                kind = kind_of(node)
                if place == 0 and kind == "Enter":
                    handles[node.name] = key, self._into_loop(node, path)
                elif place == 0 and kind == "Switch":
                    for port, output in enumerate((node.name, f"{node.name}:1")):
                        handles[output] = key, (*path, Crossing("switch", node.input[1], port))
                elif place == 0 and kind == "Identity":
                    handles[node.name] = held
                elif place == 0 and base_of(node.op) == "TensorArrayGrad":
                    handles[node.name] = (key[0], node.attr["source"].s.decode() or "gradients"), path
                    self._gradient(node)
                    uses.setdefault(handles[node.name][0], [])
                    continue
                elif place == 0 and (changes := use_of(node.op)) is not None:
                    uses[key].append(ListUse(node, path, changes))
                    self.gone.add(node.name)
                    continue
                else:
                    raise unrecognised(node, f"it gets the handle {name!r} of a stack or of a tensor array")
                self.gone.add(node.name)
        return uses

    def _check_loops(self, uses: dict[Key, list[ListUse]]) -> None:
        """Raises ValueError for a list of a branch that a loop outside of the branch changes: it has no value there."""
        runs: dict[tuple[str, ...], frozenset[Any]] = {}
        for node in self.nodes:
            if kind_of(node) == "Enter" and not node.attr["is_constant"].b:
                frame, lives = self.frames[node.name], self.around.lives[node.name]
                runs[frame] = runs.get(frame, lives) & lives
        for (maker, _), found in uses.items():
            for use in found:
                frame = self.frames[use.node.name]
                known = frozenset().union(*(runs.get(frame[:n], frozenset()) for n in range(1, len(frame) + 1)))
                if use.changes and len(frame) > len(self.frames[maker]) and self.around.lives[maker] - known:
                    raise unrecognised(use.node, "a gradient in a branch keeps values of a loop outside of it")

    def _into_loop(self, node: Any, path: tuple[Crossing, ...]) -> tuple[Crossing, ...]:
        """Adds a loop to a path, and before it the branches that the loop is in."""
        chosen = {(self.around.predicate(s.where), s.port) for s in path if s.kind == "switch"}
        new = [c for c in self.around.new_in(self.frames[node.name]) if c not in chosen]
        return (*path, *(Crossing("switch", *c) for c in new), Crossing("frame", node.attr["frame_name"].s.decode()))

    def _gradient(self, node: Any) -> None:
        """Notes that a node only passes a flow on."""
        self.gone.add(node.name)
        flow = NodeDef(name=node.name, op="Identity", device=node.device)
        flow.input.extend(node.input[1:])
        self.made.append(flow)
        self._is_flow(f"{node.name}:1", node.name)

    def _is_flow(self, old: str, new: str) -> None:
        self.renamed[old] = new

    # -- the list's way ----------------------------------------------------------------

    def _through(self, uses: Sequence[ListUse], depth: int, current: str, frame: tuple[str, ...], adds: bool) -> str:
        """Passes a list through its uses within one frame and branch; returns what it is after them."""
        for step, together in itertools.groupby(uses, lambda u: u.path[depth] if len(u.path) > depth else None):
            group = list(together)
            changes = any(u.changes for u in group)
            if step is None:
                for use in group:
                    current = apply(use.node, current, adds, self.made)
            elif step.kind == "frame":
                inner = (*frame, step.where)
                if changes:
                    current = self._loop(group, depth, current, inner, adds)
                else:
                    self._through(group, depth + 1, self._enter(current, step.where, True), inner, adds)
            else:
                current = self._branch(group, depth, current, frame, adds, changes)
        return current

    def _new(self, op: str, inputs: Sequence[str], scope: str = "") -> Any:
        made = NodeDef(name=f"{scope or 'list'}/{op}_of_list_{next(self.count)}", op=op)
        made.input.extend(inputs)
        made.attr["T"] = _VARIANT
        self.made.append(made)
        return made

    def _enter(self, current: str, frame: str, constant: bool) -> str:
        node = self._new("Enter", [current], frame)
        node.attr["frame_name"] = AttrValue(s=frame.encode())
        node.attr["is_constant"] = AttrValue(b=constant)
        name: str = node.name
        return name

    def _loop(self, uses: Sequence[ListUse], depth: int, current: str, frame: tuple[str, ...], adds: bool) -> str:
        """Makes the list a variable of a loop."""
        if frame not in self.conditions:
            raise unrecognised(uses[0].node, f"the frame {frame[-1]!r} has no condition")
        enter = self._enter(current, frame[-1], False)
        merge = self._new("Merge", [enter], frame[-1])
        switch = self._new("Switch", [merge.name, self.conditions[frame]], frame[-1])
        after = self._through(uses, depth + 1, f"{switch.name}:1", frame, adds)
        merge.input.append(self._new("NextIteration", [after], frame[-1]).name)
        name: str = self._new("Exit", [switch.name], frame[-1]).name
        return name

    def _branch(self, uses: Sequence[ListUse], depth: int, current: str, frame: tuple[str, ...], adds: bool,
                changes: bool) -> str:
        """Passes the list through the branch in which it is used, and past the other one."""
        step = uses[0].path[depth]
        scope = operation_of(step.where).rpartition("/")[0] or "cond"
        switch = self._new("Switch", [current, step.where], scope)
        after = self._through(uses, depth + 1, f"{switch.name}:{step.port}", frame, adds)
        if not changes:
            return current
        values = [f"{switch.name}:{1 - step.port}", after] if step.port else [after, f"{switch.name}:1"]
        name: str = self._new("Merge", values, scope).name
        return name


