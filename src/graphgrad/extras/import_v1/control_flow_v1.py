"""Control flow of TensorFlow 1's graphs, recognised and made functional.

There, a branch is a `Switch` for each input and a `Merge` for each output; a loop is a frame with `Enter` and `Exit`
at its border and back edges through `NextIteration`. They are recognised as `LoopNode` and `BranchesNode`, which
replace nodes of the graph and are built with `tf.while_loop` and `tf.cond`.

Reference: Yu et al., "Dynamic control flow in large-scale machine learning" (2018).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import cond, while_loop
from graphgrad.ir.dtypes import int32
from graphgrad.ir.graph import Tensor
from graphgrad.ir.graph_messages import AttrValue, NodeDef, TensorProto
from graphgrad.ir.opdef import registry
from graphgrad.ir.shape import TensorShape

from .control_flow_frames import OLD, Frame, frames_of, kind_of, operation_of, ordered, port_of, unrecognised
from .control_flow_lives import Choice, lives_of, resolved, without_waits

_STEPS = 500  # steps from merges back to their predicates, for each operation; ten or so are usual


class ControlFlowNode:
    """The representation of a loop or of branches among the nodes of a graph.

    Attributes:
      name: its name.
      input: the names of its inputs, as in a `NodeDef`.
      op: the type of operation that it becomes.
    """

    op = "ControlFlowNode"
    device = ""

    def __init__(self, name: str, inputs: Iterable[str]):
        self.name = name
        self.input = list(dict.fromkeys(inputs))

    def build(self, enter: Callable[..., list[Tensor]], find: Callable[[str], Tensor], name: str) -> list[Tensor]:
        """Builds the loop or the branches; see `ControlFlowNode`.

        Args:
          enter: (nodes, values by name, aliases of names, names of results) -> the results, in the current graph.
          find: returns the tensor of a name outside.
          name: a name for the operation.
        Returns: its results.
        """
        raise NotImplementedError  # each subclass has its own


class LoopNode(ControlFlowNode):
    """A loop."""

    op = "While"
    starts: list[str]
    aliases: dict[str, str]
    condition: tuple[list[Any], list[str], str]
    body: tuple[list[Any], list[str], list[str]]

    def build(self, enter: Callable[..., list[Tensor]], find: Callable[[str], Tensor], name: str) -> list[Tensor]:
        """Builds the loop or the branches; see `ControlFlowNode`."""
        start = [find(n) for n in self.starts]

        def goes_on(*args: Any) -> Any:
            nodes, names, result = self.condition
            return enter(nodes, dict(zip(names, args, strict=True)), self.aliases, [result])[0]

        def step(*args: Any) -> Any:
            nodes, names, results = self.body
            return enter(nodes, dict(zip(names, args, strict=True)), self.aliases, results)

        ranks = [TensorShape(None) if t.shape.ndims is None else TensorShape([None] * t.shape.ndims) for t in start]
        tries: list[Any] = [None, ranks, [TensorShape(None)] * len(start)]
        for i, shapes in enumerate(tries):
            try:
                return list(while_loop(goes_on, step, list(start), shape_invariants=shapes, name=name))
            except ValueError:  # shapes that change from iteration to iteration
                if i == len(tries) - 1:
                    raise
        raise AssertionError


class BranchesNode(ControlFlowNode):
    """Two branches, of which one runs."""

    op = "If"
    predicate: str
    aliases: dict[str, str]
    nodes: tuple[list[Any], list[Any]]
    results: tuple[list[str], list[str]]

    def build(self, enter: Callable[..., list[Tensor]], find: Callable[[str], Tensor], name: str) -> list[Tensor]:
        """Builds the loop or the branches; see `ControlFlowNode`."""

        def if_true() -> Any:
            return enter(self.nodes[1], {}, self.aliases, self.results[1])

        def if_false() -> Any:
            return enter(self.nodes[0], {}, self.aliases, self.results[0])

        found = cond(find(self.predicate), if_true, if_false, name=name)
        return list(found)


def functional(nodes: Sequence[Any]) -> list[Any]:
    """Replaces the nodes of loops and branches by `LoopNode`s and `BranchesNode`.

    Args:
      nodes: `NodeDef`s.
    Returns: the same nodes where there is no such control flow; else `NodeDef`s and `ControlFlowNode`s.
    Raises: ValueError for a structure that is not recognised.
    """
    if not any(n.op in OLD for n in nodes):
        return list(nodes)
    frames = frames_of(nodes)
    parts: dict[str, Any] = {n.name: n for n in without_waits(nodes)}
    members: dict[Frame, list[str]] = {}
    exits: dict[str, list[str]] = {}  # by the Switch that they are behind
    for name, frame in frames.items():
        members.setdefault(frame, []).append(name)
        if kind_of(parts[name]) == "Exit" and parts[name].input:
            exits.setdefault(operation_of(resolved(parts, parts[name].input[0])), []).append(name)
    for frame in sorted({f[:n] for f in members for n in range(1, len(f) + 1)}, key=len, reverse=True):
        if frame in members:
            _fold_loop(parts, members, exits, frame)
    return _with_branches(list(parts.values()))


# -- loops -----------------------------------------------------------------------------


def _fold_loop(parts: dict[str, Any], of_frames: dict[Frame, list[str]], exits: dict[str, list[str]],
               frame: Frame) -> None:
    """Replaces the nodes of a frame by a `LoopNode`."""
    members = {name: parts[name] for name in of_frames[frame] if name in parts}
    name = frame[-1].removesuffix("/while_context")
    loop, switches = _loop(members, frame[-1], name if name not in parts else f"{name}/While")
    for place, switch in enumerate(switches):
        for name in exits.get(switch.name, ()):
            parts[name] = _identity(parts[name], f"{loop.name}:{place}")
    for n in members:
        del parts[n]
    parts[loop.name] = loop
    of_frames.setdefault(frame[:-1], []).append(loop.name)


def _loop(members: dict[str, Any], frame: str, name: str) -> tuple[LoopNode, list[Any]]:
    """Returns the `LoopNode` of the nodes of a frame, and the Switch of each of its variables."""
    kinds: dict[str, list[Any]] = {}
    for node in members.values():
        kinds.setdefault(kind_of(node), []).append(node)
    conditions = kinds.get("LoopCond", [])
    if len(conditions) != 1:
        raise unrecognised(next(iter(members.values())), f"the frame {frame!r} has {len(conditions)} conditions")
    decides = conditions[0].input[0]
    variables, constants = _variables(members, kinds, conditions[0].name)
    merges, switches = [v[0] for v in variables], [v[1] for v in variables]
    starts, backs = [v[2] for v in variables], [v[3] for v in variables]
    enters = kinds.get("Enter", ())
    border = {m.name for m in (*merges, *switches, *enters, *kinds.get("NextIteration", ()), *conditions)}
    inner = {name: n for name, n in members.items() if name not in border}
    test, again = _needed(inner, [decides]), _needed(inner, backs)
    aliases = {n.name: n.input[0] for n in constants}
    outside = [n for node in (*test, *again) for n in node.input if not n.startswith("^")]
    waits = [n for e in enters for n in e.input if n.startswith("^")]
    needs = [n for n in (*outside, *backs, decides, *waits) if operation_of(n) not in members]
    loop = LoopNode(name, [*starts, *aliases.values(), *needs])
    loop.starts, loop.aliases = starts, aliases
    loop.condition = (_with_branches(test), [f"{m.name}:0" for m in merges], decides)
    loop.body = (_with_branches(again), [f"{s.name}:1" for s in switches], backs)
    return loop, switches


def _variables(members: dict[str, Any], kinds: dict[str, list[Any]],
               condition: str) -> tuple[list[tuple[Any, Any, str, str]], Collection[Any]]:
    """Returns Merge, Switch, initial value and next value of each loop variable; and the Enters of constants."""
    enters = {n.name: n for n in kinds.get("Enter", ())}
    switches = {operation_of(n.input[0]): n for n in kinds.get("Switch", ()) if operation_of(n.input[1]) == condition}
    found = []
    for merge in kinds.get("Merge", ()):
        sources = [operation_of(n) for n in merge.input if not n.startswith("^")]
        back = [s for s in sources if s in members and kind_of(members[s]) == "NextIteration"]
        if not back:
            continue  # of a branch within
        (first,) = [s for s in sources if s not in back] if len(sources) == 2 and len(back) == 1 else [""]
        if first not in enters or merge.name not in switches:
            raise unrecognised(merge, "a variable of a loop has an Enter, a Merge and a Switch")
        found.append((merge, switches[merge.name], enters.pop(first).input[0], members[back[0]].input[0]))
    return found, enters.values()


def _identity(node: Any, source: str) -> Any:
    made = NodeDef(name=node.name, op="Identity", device=node.device)
    made.input.append(source)
    if "T" in node.attr:
        made.attr["T"] = node.attr["T"]
    return made


def _needed(nodes: dict[str, Any], names: Iterable[str]) -> list[Any]:
    """Returns the nodes that some outputs depend on, in their order."""
    found: set[str] = set()
    waiting = [operation_of(n) for n in names]
    while waiting:
        name = waiting.pop()
        if name in nodes and name not in found:
            found.add(name)
            waiting += map(operation_of, nodes[name].input)
    return [n for name, n in nodes.items() if name in found]


# -- branches --------------------------------------------------------------------------


def _with_branches(nodes: Sequence[Any]) -> list[Any]:
    """Replaces merges in nodes without loops by `BranchesNode`."""
    if not any(n.op in OLD for n in nodes):
        return list(nodes)
    parts = {n.name: n for n in nodes}
    groups: dict[tuple[str, str, frozenset[Choice]], list[Any]] = {}
    steps = itertools.count(-1000 - _STEPS * len(nodes))
    order = ordered(nodes)
    lives = lives_of(parts, order)
    for node in order:
        if kind_of(node) == "Merge":
            ((predicate, port),) = lives[f"{node.name}:merged"]
            group = groups.setdefault((predicate, node.name.rpartition("/")[0], lives[node.name]), [])
            group.append((node, port))
    readers = _readers(parts)
    held: dict[str, str] = {}
    for (predicate, *_), group in groups.items():
        made = _fold_branches(parts, readers, group, predicate, steps)
        for node in (*made.nodes[0], *made.nodes[1]):
            if held.setdefault(node.name, made.name) != made.name and _draws_or_changes(node):
                raise unrecognised(node, "its result in a branch is asked for outside of the branch, too")
    # Nodes after a Switch that lead to no Merge would run only if fetched directly, which is unusual.
    for name in _tainted(parts, _readers(parts), {n for n, node in parts.items() if kind_of(node) == "Switch"}):
        del parts[name]
    strange = next((n for n in parts.values() if n.op in OLD), None)
    if strange is not None:
        raise unrecognised(strange, "it belongs to no loop and to no branches")
    return list(parts.values())


def _readers(parts: dict[str, Any]) -> dict[str, list[str]]:
    """Maps each name to the nodes that read it."""
    readers: dict[str, list[str]] = {}
    for name, node in parts.items():
        for n in node.input:
            readers.setdefault(operation_of(n), []).append(name)
    return readers


def _count(steps: Iterator[int], node: Any) -> None:
    if next(steps) > 0:
        raise unrecognised(node, "too many values come together")


def _tainted(parts: Container[str], readers: dict[str, list[str]], roots: set[str],
             border: Container[str] = ()) -> set[str]:
    """Returns the roots and all parts before the border that depend on them."""
    found, waiting = set(roots), list(roots)
    while waiting:
        for name in readers.get(waiting.pop(), ()):
            if name in parts and name not in found and name not in border:
                found.add(name)
                waiting.append(name)
    return found


def _fold_branches(parts: dict[str, Any], readers: dict[str, list[str]], merges: list[Any], predicate: str,
                   steps: Iterator[int]) -> BranchesNode:
    """Replaces what leads to some merges, which one condition decides, by `BranchesNode`.

    Args:
      parts, readers: the nodes by name; the names of what reads them.
      merges: each merge, and the value of the condition for which its first input comes.
      predicate: the condition.
      steps: counts what is done.
    """
    made, indices = _branches(parts, merges, predicate, readers, steps)
    together = [m.name for m, _ in merges]
    for i, (merge, _) in enumerate(merges):
        parts[merge.name] = _identity(merge, f"{made.name}:{i}")
        for name in readers.get(merge.name, ()) if merge.name in indices else ():
            node = parts.get(name)
            if node is not None and f"{merge.name}:1" in node.input:
                place = f"{made.name}:{indices[merge.name]}"
                if isinstance(node, ControlFlowNode):
                    raise unrecognised(merge, "a loop or a branch asks which value it was")
                parts[name] = NodeDef.FromString(node.SerializeToString())
                parts[name].input[:] = [place if n == f"{merge.name}:1" else n for n in node.input]
    parts[made.name] = made
    readers[made.name] = together
    for n in made.input:
        readers.setdefault(operation_of(n), []).append(made.name)
    return made


def _draws_or_changes(node: Any) -> bool:
    """Returns whether running a node twice is not the same as running it once."""
    if isinstance(node, BranchesNode):
        return any(_draws_or_changes(n) for n in (*node.nodes[0], *node.nodes[1]))
    if isinstance(node, LoopNode):
        return any(_draws_or_changes(n) for n in node.body[0])
    record = registry.get(node.op)
    if record is None or record.checks:
        return False
    return "random" in record.flags or ("stateful" in record.flags and not record.flags & {"reads", "idle"})


def _branches(parts: dict[str, Any], merges: list[Any], predicate: str, readers: dict[str, list[str]],
              steps: Iterator[int]) -> tuple[BranchesNode, dict[str, int]]:
    """Returns the `BranchesNode` of some merges, and places of their indices among its results."""
    results: tuple[list[str], list[str]] = ([], [])
    for merge, port in merges:
        for name, place in zip([n for n in merge.input if not n.startswith("^")], (port, 1 - port), strict=True):
            results[place].append(name)
    switches: dict[str, Any] = {}
    members = [_branch(parts, results[place], switches, predicate, place, steps) for place in (0, 1)]
    both = members[0].keys() & members[1].keys()
    if both:
        raise unrecognised(parts[both.pop()], "both branches contain it")
    indices = {}
    for merge, port in merges:
        if any(f"{merge.name}:1" in parts[n].input for n in readers.get(merge.name, ()) if n in parts):
            indices[merge.name] = len(results[0])
            for place in (0, 1):
                name = f"{merge.name}/index_{place}"
                members[place][name] = _index(name, int(place != port))
                results[place].append(name)
    aliases = {name: s.input[0] for name, s in switches.items()}
    inside = {*members[0], *members[1], *switches}
    needs = [n for m in members for node in m.values() for n in node.input if not n.startswith("^")]
    scope = merges[0][0].name.rpartition("/")[0] or merges[0][0].name
    names = itertools.chain([scope, f"{scope}/If"], (f"{scope}/If_{i}" for i in itertools.count(1)))
    made = BranchesNode(next(n for n in names if n not in parts), [
        predicate, *aliases.values(), *(n for n in (*needs, *results[0], *results[1]) if operation_of(n) not in inside),
        *(n for s in switches.values() for n in s.input if n.startswith("^"))])
    made.predicate, made.aliases, made.results = predicate, aliases, results
    made.nodes = (list(members[0].values()), list(members[1].values()))
    return made, indices


def _index(name: str, value: int) -> Any:
    made = NodeDef(name=name, op="Const")
    made.attr["dtype"] = AttrValue(type=int32.enum)
    made.attr["value"] = AttrValue(tensor=TensorProto.of(np.int32(value), int32))
    return made


def _branch(parts: dict[str, Any], results: list[str], switches: dict[str, Any], predicate: str, place: int,
            steps: Iterator[int]) -> dict[str, Any]:
    """Returns the nodes of one branch: those that the results depend on; records those that depend on a Switch."""
    seen: set[str] = set()
    reached: set[str] = set()
    waiting = list(results)
    while waiting:
        name = waiting.pop()
        node = parts.get(operation_of(name))
        if node is None:
            continue
        if kind_of(node) == "Switch":
            if resolved(parts, node.input[1]) != predicate:
                continue  # of branches around these
            if port_of(name) != place:
                raise unrecognised(node, "the branches are mixed up")
            reached.add(node.name)
            switches[node.name] = node
        elif node.name not in seen:
            _count(steps, node)
            seen.add(node.name)
            waiting += node.input
    own = {n: parts[n] for n in (*seen, *reached)}
    tainted = _tainted(own, _readers(own), reached)
    return {n: node for n, node in parts.items() if n in tainted and n not in reached}
