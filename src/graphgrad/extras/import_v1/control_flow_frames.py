"""Nodes of TensorFlow 1's control flow: their order, and the frames of loops that they are in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

OLD = frozenset({"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "RefSwitch", "RefMerge", "RefEnter",
                 "RefExit", "RefNextIteration"})
Frame = tuple[str, ...]
_DEEPEST = 50  # nested loops


def kind_of(node: Any) -> str:
    """Returns the type of a node, without what says that it passes a reference."""
    op: str = node.op
    return op.removeprefix("Ref") if op in OLD else op


def operation_of(name: str) -> str:
    """Returns the name of the operation of an input."""
    return name.removeprefix("^").partition(":")[0]


def port_of(name: str) -> int:
    """Returns the number of the output that an input is."""
    return int(name.partition(":")[2] or 0)


def unrecognised(node: Any, why: str) -> ValueError:
    """Makes the error of a structure that is not recognised."""
    return ValueError(
        f"the control flow around {node.op} {node.name!r} in graph_def is not recognised: {why}. Fix: write the graph "
        "with tf.compat.v1.enable_control_flow_v2(), or import the part of it that is needed "
        "(graph_util.extract_sub_graph); gradients are best built after importing"
    )


def ordered(nodes: Sequence[Any]) -> list[Any]:
    """Sorts nodes after their inputs, ignoring the back edges of loops; raises ValueError for other cycles."""
    by_name = {n.name: n for n in nodes}
    order: list[Any] = []
    state: dict[str, int] = {}
    for root in nodes:
        stack = [root]
        while stack:
            node = stack[-1]
            if state.get(node.name) == 2:
                stack.pop()
                continue
            state[node.name] = 1
            needs = [
                m for name in node.input if (m := by_name.get(operation_of(name))) is not None
                and not (kind_of(m) == "NextIteration" and kind_of(node) == "Merge")
            ]
            circular = next((m for m in needs if state.get(m.name) == 1), None)
            if circular is not None:
                raise ValueError(f"graph_def is invalid: its operations form a cycle through {circular.name!r}. "
                                 "Fix: write loops as While")
            waiting = [m for m in needs if state.get(m.name) is None]
            if waiting:
                stack += waiting
            else:
                state[node.name] = 2
                order.append(node)
                stack.pop()
    return order


def frames_of(nodes: Sequence[Any]) -> dict[str, Frame]:
    """Returns the frame of each node, by names from the outermost to the innermost."""
    frames: dict[str, Frame] = {}
    for node in ordered(nodes):
        frame: Frame = max((frames.get(operation_of(n), ()) for n in node.input), key=len, default=())
        if kind_of(node) == "Enter":
            frame = (*frame, node.attr["frame_name"].s.decode())
            if len(frame) > _DEEPEST:
                raise unrecognised(node, f"loops are nested more than {_DEEPEST} deep")
        elif kind_of(node) == "Exit":
            frame = frame[:-1]
        frames[node.name] = frame
    return frames


def by_frames(nodes: Sequence[Any], frames: dict[str, Frame]) -> list[Any]:
    """Sorts nodes after their inputs, all nodes of a loop side by side, after what any of them needs."""
    parts = {n.name: n for n in nodes}
    order: list[Any] = []
    waiting: list[tuple[Frame, list[str]]] = [((), list(parts))]
    placed: dict[Frame, list[Any]] = {}
    while waiting:  # from the outermost frames to the inner ones
        frame, names = waiting.pop()
        units: dict[Any, list[str]] = {}
        for name in names:
            inner = frames[name]
            units.setdefault(inner[: len(frame) + 1] if len(inner) > len(frame) else name, []).append(name)
        of_unit = {name: unit for unit, members in units.items() for name in members}
        placed[frame] = []
        for unit in _sorted_units(units, of_unit, parts):
            placed[frame].append(unit if isinstance(unit, tuple) else parts[unit])
            if isinstance(unit, tuple):
                waiting.append((unit, units[unit]))
    stack = list(reversed(placed[()]))
    while stack:
        unit = stack.pop()
        if isinstance(unit, tuple):
            stack += reversed(placed[unit])
        else:
            order.append(unit)
    return order


def _sorted_units(units: dict[Any, list[str]], of_unit: dict[str, Any], parts: dict[str, Any]) -> list[Any]:
    """Sorts nodes and loops after what they need; the way back of the loop around them does not count."""
    needs: dict[Any, list[Any]] = {}
    for unit, members in units.items():
        found = {of_unit[operation_of(n)] for name in members for n in parts[name].input if operation_of(n) in of_unit
                 and not (unit == name and kind_of(parts[name]) == "Merge"
                          and kind_of(parts[operation_of(n)]) == "NextIteration")}
        needs[unit] = sorted(found - {unit}, key=str)
    order: list[Any] = []
    done: set[Any] = set()
    for root in units:
        stack = [(root, iter(needs[root]))]
        entered = {root}
        while stack:
            unit, rest = stack[-1]
            following = next((u for u in rest if u not in done), None)
            if following is None:
                stack.pop()
                if unit not in done:
                    done.add(unit)
                    order.append(unit)
            elif following in entered:
                continue  # a cycle, which others refuse
            else:
                entered.add(following)
                stack.append((following, iter(needs[following])))
    return order
