"""Under which predicates the nodes of TensorFlow 1's branches run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.ir.graph_messages import NodeDef

from .control_flow_frames import Frame, frames_of, kind_of, operation_of, ordered, port_of, unrecognised

Choice = tuple[str, int]  # a predicate and its value


def resolved(parts: dict[str, Any], name: str) -> str:
    """Returns the name of the source of a value, without identities; of those in a cycle, any."""
    for _ in parts:
        node = parts.get(operation_of(name))
        if node is None or node.op != "Identity" or not node.input:
            break
        name = node.input[0]
    return f"{operation_of(name)}:{port_of(name)}"


def lives_of(parts: dict[str, Any], order: Sequence[Any], decide: bool = True) -> dict[str, frozenset[Choice]]:
    """Returns of each node the predicates, with their values, under which it runs.

    Args:
      parts: the nodes by name.
      order: the nodes, each after its inputs.
      decide: whether to say also, under the names of merges with ":merged", what decides between their values.
    """
    lives: dict[str, frozenset[Choice]] = {}

    def of_input(name: str) -> frozenset[Choice]:
        node = parts.get(operation_of(name))
        if node is None or node.name not in lives:
            return frozenset()
        decided_by = parts.get(operation_of(node.input[1])) if kind_of(node) == "Switch" else None
        of_loop = decided_by is not None and kind_of(decided_by) == "LoopCond"
        if kind_of(node) != "Switch" or name.startswith("^") or of_loop:
            return lives[node.name]
        return lives[node.name] | {(resolved(parts, node.input[1]), port_of(name))}

    for node in order:
        found = [of_input(n) for n in node.input]
        if kind_of(node) == "Merge":
            data = [f for f, n in zip(found, node.input, strict=True) if not n.startswith("^")]
            lives[node.name] = frozenset.intersection(*data) if data else frozenset()
        else:
            lives[node.name] = frozenset().union(*found)
    for node in order if decide else ():
        if kind_of(node) == "Merge":
            lives[f"{node.name}:merged"] = _decides(node, [of_input(n) for n in node.input if not n.startswith("^")])
    return lives


def _decides(merge: Any, lives: list[frozenset[Choice]]) -> frozenset[Choice]:
    """Returns the predicate that decides between merged values; raises ValueError if there are none or several."""
    if len(lives) != 2:
        raise unrecognised(merge, f"{len(lives)} values come together")
    found = {(predicate, port) for predicate, port in lives[0] if (predicate, 1 - port) in lives[1]}
    if len(found) != 1:
        raise unrecognised(merge, f"{len(found)} conditions decide what comes out")
    return frozenset(found)


def without_waits(nodes: Sequence[Any]) -> list[Any]:
    """Lets what waits for a Switch wait for its inputs: it runs whichever way the value goes."""
    switches = {n.name: n for n in nodes if kind_of(n) == "Switch"}
    made = []
    for node in nodes:
        if any(n.startswith("^") and n[1:] in switches for n in node.input):
            inputs = [w for n in node.input for w in (
                [f"^{operation_of(s)}" for s in _sources(switches, n[1:])]
                if n.startswith("^") and n[1:] in switches else [n])]
            node = NodeDef.FromString(node.SerializeToString())
            node.input[:] = [n for i, n in enumerate(inputs) if not n.startswith("^") or n not in inputs[:i]]
        made.append(node)
    return made


def _sources(switches: dict[str, Any], name: str) -> list[str]:
    """Returns the inputs of a Switch, and of the Switches before it."""
    found: list[str] = []
    waiting = [name]
    while waiting:
        for source in switches[waiting.pop()].input:
            if operation_of(source) in switches and source.startswith("^"):
                waiting.append(operation_of(source))
            else:
                found.append(source)
    return found


class Around:
    """What decides whether loops run: the choices of the branches that they are in.

    Args:
      nodes: `NodeDef`s.
    """

    def __init__(self, nodes: list[Any]):
        parts = {n.name: n for n in nodes}
        self.flat = {name: _passed(n) if kind_of(n) == "Enter" else n for name, n in parts.items()}
        self.lives = lives_of(self.flat, [self.flat[n.name] for n in ordered(nodes)], False)
        self.frames = frames_of(nodes)
        self._loops: dict[Frame, frozenset[Choice]] = {}
        for n in nodes:
            if kind_of(n) == "Enter":
                frame = self.frames[n.name]
                self._loops[frame] = self._loops.get(frame, frozenset()) | self.lives[n.name]

    def predicate(self, name: str) -> str:
        """Returns where a predicate comes from, also from outside of loops."""
        return resolved(self.flat, name)

    def of_loop(self, frame: Frame) -> frozenset[Choice]:
        """Returns the choices under which a loop runs, those of the loops around it among them."""
        return frozenset().union(*(self._loops.get(frame[:n], frozenset()) for n in range(1, len(frame) + 1)))

    def new_in(self, frame: Frame) -> list[Choice]:
        """Returns the choices between a loop and the loop around it, from the outermost to the innermost."""
        return sorted(self.of_loop(frame) - self.of_loop(frame[:-1]),
                      key=lambda c: (len(self.lives.get(operation_of(c[0]), ())), c))


def without_repeated(nodes: list[Any]) -> list[Any]:
    """Removes, from a loop within a branch, what chooses once more by the branch's predicate: the loop runs there only.

    Args:
      nodes: `NodeDef`s.
    """
    parts = {n.name: n for n in nodes}
    within = [n for n in nodes if kind_of(n) == "Switch" and _enters(parts, n.input[1])]
    if not within:
        return nodes
    around = Around(nodes)
    replaced = {}
    for node in within:
        known = around.of_loop(around.frames[node.name])
        for port in (0, 1):
            if (around.predicate(node.input[1]), port) in known:
                replaced[f"{node.name}:{port}"] = node.input[0]
    made = []
    for node in nodes:
        inputs = [n if n.startswith("^") else replaced.get(f"{operation_of(n)}:{port_of(n)}", n) for n in node.input]
        if inputs != list(node.input):
            node = NodeDef.FromString(node.SerializeToString())
            node.input[:] = inputs
        made.append(node)
    return made


def _enters(parts: dict[str, Any], name: str) -> bool:
    """Returns whether a value comes from outside of a loop."""
    node = parts.get(operation_of(resolved(parts, name)))
    return node is not None and kind_of(node) == "Enter"


def _passed(node: Any) -> Any:
    made = NodeDef(name=node.name, op="Identity")
    made.input.extend(node.input)
    return made
