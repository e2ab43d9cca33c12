"""Folds a graph into boxes (operations or folded name scopes) and arrows.

Three things make a graph of some hundred operations readable. Auxiliary operations are hidden: variables
absorb their initialisers and reads, operations absorb the constants made for them. Parts
are distinguished: forward, gradient, and users of gradients. And name scopes are folded, those
of a forward part and of its gradient alike, until the rest fits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from graphgrad.ir.graph import Graph, Operation, Tensor

from .boxes import FORWARD, Arrow, Box, GraphPart, View, is_source, is_variable, pattern
from .bundling import bundled
from .sections import gradients_scope, is_gradient


def fold(graph: Graph, ops: Iterable[Operation], depth: int | None = None, budget: int = 60,
         initializers: bool = False) -> View:
    """Folds operations into boxes.

    Args:
      graph: their graph.
      ops: the operations to show.
      depth: the number of levels of name scopes to unfold; None chooses by the budget.
      budget: at most about this many boxes, where folding can achieve it.
      initializers: whether to show what initializes variables.
    """
    chosen = sorted(ops, key=_index)
    if not initializers:
        chosen = _without_initializers(chosen)
    parts = _parts(chosen)
    consumers = _consumers(chosen)
    hosts = _absorb(chosen, parts, consumers)
    groups = _bookkeeping(chosen, parts, consumers, hosts) if depth is None else set()
    for index, host in hosts.items():
        while host.index in hosts:
            host = hosts[host.index]
        hosts[index] = host
    visible = [op for op in chosen if op.index not in hosts]
    tree = _tree(visible, parts)
    cut = _cut_at(tree, depth) if depth is not None else _cut_within(tree, budget)
    shown, arrows = _boxes(chosen, visible, cut, parts, hosts, groups)
    if depth is None and len(shown) > budget:
        shown, arrows = bundled(shown, arrows)
    if depth is None and len(shown) > budget:  # name scopes and parallel parts are not enough
        cut = _cut_within(_structured(graph, visible, tree), budget)
        shown, arrows = _boxes(chosen, visible, cut, parts, hosts, groups)
    return View(shown, arrows, len(chosen), len(graph.get_operations()))


def _boxes(chosen: list[Operation], visible: list[Operation], cut: _Cut, parts: dict[int, GraphPart],
           hosts: dict[int, Operation], groups: set[int]) -> tuple[list[Box], list[Arrow]]:
    """Returns the boxes for where operations are shown, and the arrows between them."""
    box_of: dict[int, Box] = {}
    boxes: dict[tuple[Any, ...], Box] = {}
    for op in visible:
        key, folded, name = cut[op.index]
        box = boxes.get(key)
        if box is None:
            box = boxes[key] = Box(key, parts[op.index], name, folded)
        box.ops.append(op)
        box_of[op.index] = box
    for box in boxes.values():
        if len(box.ops) == 1 and box.folded:
            box.folded, box.name = False, box.ops[0].name
        box.main = next((op for op in box.ops if op.name == box.name), box.ops[-1])
    for op in chosen:  # absorbed operations count, and their arrows lead to the box that absorbs them
        if op.index in hosts:
            box_of[op.index] = box_of[hosts[op.index].index]
            box_of[op.index].ops.append(op)
    return list(boxes.values()), _arrows(chosen, box_of, hosts, groups)


def _index(op: Operation) -> int:
    return op.index


# -- which operations ------------------------------------------------------------------


def _is_initializer(op: Operation) -> bool:
    """Returns whether the operation only initializes a variable."""
    if op.opdef.variable == "ask":
        return True
    if op.opdef.variable == "assign":
        target = op.inputs[0].op
        return op.name == f"{target.name}/Assign"
    return False


def _without_initializers(ops: list[Operation]) -> list[Operation]:
    """Drops the operations that only initialisation needs."""
    shown = {op.index for op in ops}
    initializing = _initializing(ops, shown)
    used: set[int] = set()
    for op in reversed(ops):
        if op.index in initializing:
            continue
        is_end = not any(c.index in shown for t in op.outputs for c in t.consumers())
        if op.index in used or (is_end and not _is_loose(op)):
            used.add(op.index)
            used.update(t.op.index for t in op.inputs)
            used.update(c.index for c in op.control_inputs)
    return [op for op in ops if op.index in used] or ops


def _initializing(ops: list[Operation], shown: set[int]) -> set[int]:
    """Returns the indices of initializers and of operations that only group these."""
    found: set[int] = set()
    for op in ops:
        waits = [c for c in op.control_inputs if c.index in shown]
        if _is_initializer(op) or (
            op.type == "NoOp" and not op.inputs and waits and all(c.index in found for c in waits)
        ):
            found.add(op.index)
    return found


def _is_loose(op: Operation) -> bool:
    """Returns whether an operation without users is not a result: a constant, a variable's read."""
    return op.type == "Const" or op.opdef.variable == "read" or (
        op.opdef.identity and is_variable(op.inputs[0].op) and op.name.endswith("/read")
    )


# -- which part ------------------------------------------------------------------------


def _parts(ops: list[Operation]) -> dict[int, GraphPart]:
    """Returns the part of each operation, by index."""
    parts: dict[int, GraphPart] = {}
    unsettled = []
    for op in ops:
        before = [parts[i.index] for i in _inputs(op) if i.index in parts]
        latest = max(before, default=FORWARD)
        if is_gradient(op):
            original = op._original_op
            if original is not None:
                part = GraphPart(parts.get(original.index, FORWARD).order + 1, 0)
            else:
                part = GraphPart(max(latest.order, 1), 0)
                if not before:
                    unsettled.append(op)
        else:
            part = latest if latest.rank or not latest.order else GraphPart(latest.order, 1)
        parts[op.index] = part
    # A source belongs where it is used, e.g. a learning rate to the update.
    users: dict[int, GraphPart] = {}
    settle = {op.index for op in unsettled}
    for op in reversed(ops):
        first_use = users.get(op.index)
        gradient = is_gradient(op)
        movable = op.index in settle or (not gradient and _only_sources(op) and op.type != "Placeholder")
        if first_use is not None and movable and first_use > parts[op.index] and (first_use.rank == 0) == gradient:
            parts[op.index] = first_use
        for i in _inputs(op):
            users[i.index] = min(users.get(i.index, parts[op.index]), parts[op.index])
    return parts


def _only_sources(op: Operation) -> bool:
    return is_source(op) or (_reads(op) and all(is_variable(t.op) for t in op.inputs) and not op.control_inputs)


def _reads(op: Operation) -> bool:
    """Returns whether an operation only gives a value that is there already, to its users."""
    return op.opdef.variable == "read" or op.opdef.identity or op.type in ("Const", "Cast")


def _inputs(op: Operation) -> list[Operation]:
    return [t.op for t in op.inputs] + list(op.control_inputs)


# -- auxiliary operations --------------------------------------------------------------------------


def _consumers(ops: list[Operation]) -> dict[int, list[Operation]]:
    table: dict[int, list[Operation]] = {}
    for op in ops:
        for i in dict.fromkeys(_inputs(op)):
            table.setdefault(i.index, []).append(op)
    return table


def _absorb(ops: list[Operation], parts: dict[int, GraphPart],
            consumers: dict[int, list[Operation]]) -> dict[int, Operation]:
    """Maps each operation without its own box to the one that absorbs it, by index."""
    by_name = {op.name: op for op in ops}
    hosts: dict[int, Operation] = {}
    for op in ops:
        owner = by_name.get(op.name.rpartition("/")[0])
        variable = _variable_above(op, by_name)
        users = consumers.get(op.index, [])
        if variable is not None:
            hosts[op.index] = variable
        elif op.opdef.variable == "read" and op.inputs[0].op.name in by_name and owner is None:
            hosts[op.index] = op.inputs[0].op
        elif owner is not None and users and (
            (_reads(op) and all(u is owner for u in users)) or _is_factor(op, owner, users)
        ):
            hosts[op.index] = owner
        elif op.type == "Const" and users and _is_detail(op, parts, users):
            hosts[op.index] = users[0]
    return hosts


def _bookkeeping(ops: list[Operation], parts: dict[int, GraphPart], consumers: dict[int, list[Operation]],
                 hosts: dict[int, Operation]) -> set[int]:
    """Absorbs an optimizer's bookkeeping, such as the powers of beta, into the op that groups its updates.

    These have names under the group's, or only users there, and no gradient among their inputs.
    Returns: the indices of groups that absorbed something.
    """
    found = set()
    for group in ops:
        if group.type != "NoOp" or parts[group.index].kind != "update":
            continue
        scope = group.name + "/"
        for op in ops:
            if op.index in hosts or parts[op.index] != parts[group.index] or op is group:
                continue
            users = _users(op, consumers, hosts)
            beneath = op.name.startswith(scope) and any(u is group or u.name.startswith(scope) for u in users)
            source = is_variable(op) and users and all(u.name.startswith(scope) for u in users)
            if source or (beneath and not any(parts[t.op.index].kind == "gradient" for t in op.inputs)):
                hosts[op.index] = group
                found.add(group.index)
    return found


def _users(op: Operation, consumers: dict[int, list[Operation]], hosts: dict[int, Operation]) -> list[Operation]:
    """Returns the users of an operation, including those of operations that it has absorbed."""
    found: list[Any] = []
    for user in consumers.get(op.index, ()):
        found += consumers.get(user.index, ()) if hosts.get(user.index) is op else [user]
    return found


def _is_factor(op: Operation, owner: Operation, users: list[Operation]) -> bool:
    """Returns whether a constant is a number written next to its owner, such as the 2 of `2 * x`."""
    if op.type != "Const" or np.size(op.attrs.get("value", ())) != 1:
        return False
    return all(u is owner or u._original_op is owner for u in users)


def _variable_above(op: Operation, by_name: dict[str, Operation]) -> Operation | None:
    """Returns the variable under whose name the operation was made."""
    scope = op.name.rpartition("/")[0]
    found = None
    while scope:
        owner = by_name.get(scope)
        if owner is not None and is_variable(owner):
            found = owner  # the outermost: slots belong to the variable they are for
        scope = scope.rpartition("/")[0]
    return found


def _is_detail(op: Operation, parts: dict[int, GraphPart], users: list[Operation]) -> bool:
    """Returns whether a constant is a detail of its users: a shape, an axis, a small number of a gradient."""
    if all(_sees_value(u, op) for u in users):
        return True
    return parts[op.index] != FORWARD and np.size(op.attrs.get("value", 0)) <= 16


def _sees_value(user: Operation, const: Operation) -> bool:
    seen = user.opdef.seen
    return bool(seen) and not any(
        t.op is const and i not in seen for i, t in enumerate(user.inputs) if not user.opdef.has_lists
    )


# -- scopes ----------------------------------------------------------------------------

# Where an operation is shown: (key of the box, whether it is a folded scope, its name), by index.
_Cut = dict[int, tuple[tuple[Any, ...], bool, str]]


class _Leaf(NamedTuple):
    op: Operation
    root: tuple[Any, ...]  # the part, and the scope of the gradients call
    prefix: str  # what comes before the path in the operation's name
    path: tuple[str, ...]  # the names of scopes and operation


def _tree(ops: list[Operation], parts: dict[int, GraphPart]) -> list[_Leaf]:
    """Returns the path of each operation; the scope of a `gradients` call is none of its levels."""
    leaves = []
    scopes = {op.name.rpartition("/")[0] for op in ops}
    for op in ops:
        prefix = gradients_scope(op) if is_gradient(op) else ""
        rest = op.name[len(prefix) + 1 :] if prefix else op.name
        path = tuple(rest.split("/"))
        if op.name in scopes:
            path = (*path, "")  # an operation that bears the name of a scope belongs to it
        leaves.append(_Leaf(op, (parts[op.index], prefix), prefix, path))
    return leaves


def _structured(graph: Graph, ops: list[Operation], leaves: list[_Leaf]) -> list[_Leaf]:
    """Returns the leaves with repeated parts for levels, as the live picture has them, and few at the top."""
    from .nesting import Nesting

    nesting = Nesting(graph, ops, "", bodies=False)
    found = []
    panels: dict[str, str] = {}  # one name for each, also apart from numbers: panels are unfolded one by one
    for leaf in leaves:
        panel = panels.setdefault(leaf.root[1], f"{leaf.root[1] or 'all operations'}\0{'i' * len(panels)}")
        groups = [g for g in reversed(nesting.home[id(leaf.op)].chain()) if g.kind not in ("graph", "section")]
        path = (*[f"{g.label}\0{g.number}" for g in groups], leaf.op.name.rpartition("/")[2])
        found.append(leaf._replace(prefix="", path=(panel, *path), root=leaf.root[:1]))
    return found


def _cut_at(leaves: list[_Leaf], depth: int) -> _Cut:
    """Unfolds `depth` levels."""
    return _place(leaves, lambda leaf, level: level < depth)


def _cut_within(leaves: list[_Leaf], budget: int) -> _Cut:
    """Unfolds level by level, and in the last level scopes of one kind together, within the budget."""
    deepest = max((len(leaf.path) for leaf in leaves), default=1)
    depth = 1
    while depth < deepest and _count(_cut_at(leaves, depth + 1)) <= budget:
        depth += 1
    cut = _cut_at(leaves, depth)
    if depth >= deepest:
        return cut
    # Scopes of one pattern (layer_1, layer_2, ...), and their gradients, are unfolded together or not at all.
    groups: dict[str, set[tuple[str, ...]]] = {}
    for leaf in leaves:
        if len(leaf.path) > depth:
            groups.setdefault(pattern(leaf.path[:depth]), set()).add(leaf.path[:depth])
    opened: set[tuple[str, ...]] = set()
    for group in sorted(groups.values(), key=lambda g: (-len(g), min(g))):
        attempt = opened | group
        wider = _place(leaves, lambda leaf, level, a=attempt: level < depth + (leaf.path[:depth] in a))
        if _count(wider) <= budget:
            opened, cut = attempt, wider
    return cut


def _place(leaves: list[_Leaf], is_open: Any) -> _Cut:
    cut: _Cut = {}
    for leaf in leaves:
        level = 1
        while level < len(leaf.path) and is_open(leaf, level):
            level += 1
        path = leaf.path[:level]
        folded = level < len(leaf.path)
        shown = "/".join(p.partition("\0")[0] for p in path if p)
        name = leaf.op.name if not folded else f"{leaf.prefix}/{shown}" if leaf.prefix else shown
        cut[leaf.op.index] = ((leaf.root, path), folded, name)
    return cut


def _count(cut: _Cut) -> int:
    return len({key for key, _, _ in cut.values()})


# -- arrows ----------------------------------------------------------------------------


def _arrows(ops: list[Operation], box_of: dict[int, Box], hosts: dict[int, Operation],
            groups: set[int]) -> list[Arrow]:
    """Returns one arrow for each pair of boxes that something flows between, and where one waits for another."""
    tensors: dict[tuple[int, int], dict[int, Tensor]] = {}
    ends: dict[tuple[int, int], tuple[Box, Box]] = {}
    for op in ops:
        target = box_of.get(op.index)
        if target is None:
            continue
        for t in op.inputs:
            source = box_of.get(t.op.index)
            if source is None or source is target:
                continue
            if t.op.index in hosts and t.op.type == "Const":
                continue  # absorbed by one user, a detail of the others too
            if t.op.index in hosts and hosts[t.op.index].index in groups:
                continue  # bookkeeping that goes back into the updates
            pair = id(source), id(target)
            ends[pair] = source, target
            tensors.setdefault(pair, {})[id(t)] = t
        for c in op.control_inputs:
            source = box_of.get(c.index)
            if source is not None and source is not target:
                ends.setdefault((id(source), id(target)), (source, target))
    arrows = [Arrow(s, t, tuple(tensors.get(pair, {}).values())) for pair, (s, t) in ends.items()]
    return _without_detours(arrows)


def _without_detours(arrows: list[Arrow]) -> list[Arrow]:
    """Drops order arrows implied by others: if b waits for a and c for b, then that of c for a."""
    after: dict[Box, list[Box]] = {}
    for a in arrows:
        after.setdefault(a.source, []).append(a.target)
    kept = []
    for a in arrows:
        if a.tensors or not _leads(after, a.source, a.target):
            kept.append(a)
    return kept


def _leads(after: dict[Box, list[Box]], source: Box, target: Box) -> bool:
    """Returns whether a path of two or more arrows leads from one box to another."""
    seen = {source}
    stack = [b for b in after[source] if b is not target]
    while stack:
        b = stack.pop()
        if b is target:
            return True
        if b not in seen:
            seen.add(b)
            stack += after.get(b, ())
    return False
