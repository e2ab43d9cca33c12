"""Builds the groups of a live picture from a graph: sections, name scopes, then repeated structure.

Gradients take the groups of what they are the gradient of, so that a layer and its gradient open alike, whether there
are name scopes or not.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from graphgrad.executor.program.fingerprint import Unspeakable, token
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Graph, Operation

from .boxes import is_variable
from .groups import Group, simplified
from .repeats import numbered, runs_in
from .sections import Section, is_copy, is_gradient, sections_of

MANY = 24  # members that a level may have before it is folded by structure
_SECTION_TITLES = {"forward": "Forward", "gradient": "Gradient", "gradient2": "Gradient of gradients",
                   "update": "Built on gradients"}
_BODY_TITLES = {"cond": "condition", "body": "body", "then_branch": "if true", "else_branch": "if false"}


class Nesting:
    """The groups of a graph and of the sub-graphs within.

    Attributes:
      root: the outermost group.
      ops: all operations: those of the graph, then those of sub-graphs, each in creation order.
      home: the group that each operation is in, by id.
    """

    def __init__(self, graph: Graph, ops: Sequence[Operation], title: str, bodies: bool = True):
        self.root = Group("graph", title)
        self.ops: list[Operation] = []
        self.home: dict[int, Group] = {}
        self._forms: dict[int, Any] = {}
        self._attributes: dict[int, Any] = {}
        self._bodies: dict[int, Group] = {}
        waiting: list[tuple[Group, Sequence[Operation]]] = [(self.root, ops)]
        for root, inside in waiting:  # it grows
            self.ops += inside
            self._nest(root, inside)
            for op in inside if bodies else ():
                waiting += self._open(op)
        for number, group in enumerate(self.root.everything()):
            group.number = number

    def _nest(self, root: Group, ops: Sequence[Operation]) -> None:
        """Groups the operations of one graph."""
        sections = sections_of(ops)
        by_section: dict[Section, list[Operation]] = {}
        for op, section in zip(ops, sections):
            by_section.setdefault(section, []).append(op)
        of = {id(op): section for op, section in zip(ops, sections)}
        for section in sorted(by_section):
            inside = by_section[section]
            style = section.kind if section.kind != "gradient" or section.order < 2 else "gradient2"
            group = root
            if len(by_section) > 1:
                label = _SECTION_TITLES[style] + (f" · {section.scope}" if section.scope else "")
                group = root.within(section, "section", label)
            group.style = style
            self._scopes(group, inside, of)
            simplified(group)
            self._settle(group)
            for inner in list(group.everything()):
                self._fold(inner)

    def _scopes(self, root: Group, ops: Sequence[Operation], of: dict[int, Section]) -> None:
        """Puts operations into groups for their scopes; gradients into groups for what they are the gradient of."""
        names = {op.name for op in ops}
        scopes = {scope for scope in (op.name.rpartition("/")[0] for op in ops) if scope}
        original_of = {id(op): None if is_copy(op) else op._original_op for op in ops}
        origins = {of[id(o)] for o in original_of.values() if o is not None and id(o) in of}
        for op in ops:
            original = original_of[id(op)]
            if original is not None and id(original) in of and id(original) in self.home:
                group = self._beside(root, original, of, len(origins) > 1)
            else:
                path = op.name.split("/")
                if is_gradient(op):
                    section = of[id(op)].scope.split("/")
                    path = path[len(section) :] if path[: len(section)] == section else path
                group = root
                for piece in path[:-1]:
                    group = group.within(("scope", piece), "scope", piece)
                if op.name in scopes and op.name in names:
                    group = group.within(("scope", path[-1]), "scope", path[-1])
                    group.main = op
            group.members.append(op)

    def _beside(self, root: Group, original: Operation, of: dict[int, Section], several: bool) -> Group:
        """Returns the group for the gradient of an operation, in groups as those around that operation."""
        group = root
        if several:
            section = of[id(original)]
            of_what = _SECTION_TITLES["forward"].lower() if not section.call else section.scope
            group = group.within(("from", section), "of", f"of {of_what}" + " and on" * bool(section.rank))
        for around in reversed(self.home[id(original)].chain()):
            if around.kind in ("graph", "section", "calls", "body"):
                continue
            group = group.within(("like", id(around)), "of", around.label)
            group.like = around
        group = group.within(("gradient", id(original)), "of", f"{original.name.rpartition('/')[2]}_grad")
        group.like = original
        return group

    def _settle(self, root: Group) -> None:
        for group in root.everything():
            for member in group.members:
                if isinstance(member, Group):
                    member.parent = group
                else:
                    self.home[id(member)] = group

    # -- structure ---------------------------------------------------------------------

    def _fold(self, group: Group) -> None:
        """Folds the members of a long level: equal parts in a row, then pieces of equal length."""
        waiting = [group]
        while waiting:
            group = waiting.pop()
            if len(group.members) <= MANY:
                continue
            if group.kind != "repeat":
                group.members = self._with_runs(group, waiting)
            if len(group.members) > MANY:
                group.members = _in_pieces(group)
            self._settle_members(group)

    def _with_runs(self, group: Group, waiting: list[Group]) -> list[Group | Operation]:
        members = group.members
        numbers = numbered(self._forms_of(members))
        folded: list[Group | Operation] = []
        done = 0
        for run in runs_in(numbers):
            if run.start == 0 and run.stop == len(members) and group.kind == "repeat":
                break
            folded += members[done : run.start]
            repeat = Group("repeat", "", group)
            for k in range(run.times):
                inside = members[run.start + k * run.period : run.start + (k + 1) * run.period]
                if run.period == 1:
                    repeat.members += inside
                    continue
                part = Group("part", f"{k + 1} of {run.times}", repeat)
                part.members = inside
                repeat.members.append(part)
                self._settle_members(part)
                waiting.append(part)
            repeat.label = f"{run.times} × {_told(members[run.start : run.start + run.period])}"
            self._settle_members(repeat)
            waiting.append(repeat)
            folded.append(repeat)
            done = run.stop
        return folded + members[done:]

    def _settle_members(self, group: Group) -> None:
        """Notes the group of each of its members, also of those in pieces."""
        stack = [group]
        while stack:
            group = stack.pop()
            for member in group.members:
                if isinstance(member, Group):
                    member.parent = group
                    if member.kind == "piece":
                        stack.append(member)
                else:
                    self.home[id(member)] = group

    def _forms_of(self, members: Sequence[Group | Operation]) -> list[Any]:
        """Returns the form of each member: what it is, and what its inputs come from."""
        return [(self._form(m), tuple(sorted(self._sources(m)))) if isinstance(m, Operation) else self._form(m)
                for m in members]

    def _sources(self, op: Operation) -> list[str]:
        return [t.op.type for t in op.inputs]

    def _form(self, member: Group | Operation) -> Any:
        """Returns what a member is apart from names, numbers and shapes, as an executor's fingerprint says it."""
        known = self._forms.get(id(member))
        if known is not None:
            return known
        if isinstance(member, Operation):
            known = (member.type, self._attributes_of(member), *[t.dtype.name for t in member.outputs])
        else:
            for group in reversed(list(member.everything())):
                if id(group) not in self._forms:
                    self._forms[id(group)] = hash(("group", *[self._form(m) for m in group.members]))
            return self._forms[id(member)]
        self._forms[id(member)] = known = hash(known)
        return known

    def _attributes_of(self, op: Operation) -> Any:
        if not op.attrs:
            return None
        known = self._attributes.get(id(op.attrs))
        if known is None:
            plain = {k: v for k, v in op.attrs.items()
                     if k not in ("value", "shape", "shared_name", "container", "seed", "seed2")
                     and not isinstance(v, FuncGraph)}
            try:
                known = token(plain)
            except Unspeakable:
                known = tuple(sorted(plain))
            self._attributes[id(op.attrs)] = known
        return known

    # -- sub-graphs --------------------------------------------------------------------

    def _open(self, op: Operation) -> list[tuple[Group, Sequence[Operation]]]:
        """Makes an operation with sub-graphs a group of them; returns the new groups with what goes into them."""
        bodies = sub_graphs(op)
        if not bodies:
            return []
        home = self.home[id(op)]
        holder = Group("calls", op.name.rpartition("/")[2], home)
        holder.main = op
        home.members[next(i for i, m in enumerate(home.members) if m is op)] = holder
        holder.members.append(op)
        self.home[id(op)] = holder
        todo: list[tuple[Group, Sequence[Operation]]] = []
        for name, body in bodies:
            group = Group("body", _BODY_TITLES.get(name, name), holder)
            holder.members.append(group)
            first = self._bodies.setdefault(id(body), group)
            if first is not group:
                group.like = first
            else:
                todo.append((group, body.get_operations()))
        return todo


def sub_graphs(op: Operation) -> list[tuple[str, Graph]]:
    """Returns the sub-graphs of an operation, with the names of the attributes that hold them."""
    found: list[tuple[str, Graph]] = []
    for name, value in op.attrs.items():
        if isinstance(value, FuncGraph):
            found.append((name, value))
        elif isinstance(value, (list, tuple)):
            found += [(f"{name} {i}", v) for i, v in enumerate(value) if isinstance(v, FuncGraph)]
    return found


def _in_pieces(group: Group) -> list[Group | Operation]:
    """Cuts a long level into pieces, and these again where there are too many."""
    members = group.members
    while len(members) > MANY:
        size = max(2, min(MANY - 4, -(-len(members) // MANY) if len(members) <= MANY * MANY else MANY - 4))
        size = max(size, 8)
        pieces: list[Group | Operation] = []
        for start in range(0, len(members), size):
            inside = members[start : start + size]
            if len(inside) == 1:
                pieces += inside
                continue
            piece = Group("piece", _span(inside), group)
            piece.members = inside
            for m in inside:
                if isinstance(m, Group):
                    m.parent = piece
            pieces.append(piece)
        members = pieces
    return members


def _name(member: Group | Operation) -> str:
    return member.label if isinstance(member, Group) else member.name.rpartition("/")[2]


def _span(members: Sequence[Group | Operation]) -> str:
    first, last = _name(members[0]), _name(members[-1])
    return f"{first.partition(' … ')[0]} … {last.rpartition(' … ')[2]}"


def _told(members: Sequence[Group | Operation]) -> str:
    """Names what a repeated part consists of."""
    words = [_kind(m.main or m.label.rstrip("_0123456789") if isinstance(m, Group) else m) for m in members]
    words = [word for word, _ in itertools.groupby(words)]
    if len(words) > 4:
        words = [words[0], words[1], "…", words[-1]]
    return ", ".join(words).replace(", …, ", " … ")


def _kind(what: Operation | str) -> str:
    if isinstance(what, str):
        return what
    return "variable" if is_variable(what) else "placeholder" if what.opdef.placeholder else what.type
