"""The groups of a live picture: a tree of sections, scopes, repeated layers and sub-graphs above the operations."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from graphgrad.ir.graph import Operation


class Group:
    """A box that opens.

    Attributes:
      kind: "graph", "section", "scope", "of" (the gradient of a group or operation), "repeat" (equal parts in a row),
        "part" (one of these), "piece" (a stretch of a long level), "calls" (an operation with sub-graphs) or "body".
      label: its title.
      style: of a section, "forward", "gradient", "gradient2" or "update"; otherwise "".
      parent: the group around it.
      members: groups and operations, in the order of their first operations.
      main: the operation that it stands for, if any; it is also among the members.
      like: for "of", the group or operation whose gradient it is; for "body", another one with the same sub-graph.
    """

    __slots__ = ("found", "kind", "label", "like", "main", "members", "number", "parent", "style")

    def __init__(self, kind: str, label: str, parent: Group | None = None, style: str = ""):
        self.kind = kind
        self.label = label
        self.parent = parent
        self.style = style
        self.members: list[Group | Operation] = []
        self.main: Operation | None = None
        self.like: Group | Operation | None = None
        self.found: dict[Hashable, Group] = {}
        self.number = -1

    def within(self, key: Hashable, kind: str, label: str) -> Group:
        """Returns the group that was made for a key within this one, made if there is none."""
        group = self.found.get(key)
        if group is None:
            group = self.found[key] = Group(kind, label, self)
            self.members.append(group)
        return group

    def chain(self) -> list[Group]:
        """Returns this group and those around it, the innermost first."""
        groups: list[Group] = []
        group: Group | None = self
        while group is not None:
            groups.append(group)
            group = group.parent
        return groups

    def everything(self) -> Iterator[Group]:
        """Yields this group and all groups within, each after the one around it."""
        stack = [self]
        while stack:
            group = stack.pop()
            yield group
            stack += [m for m in reversed(group.members) if isinstance(m, Group)]

    def __repr__(self) -> str:
        return f"<Group {self.kind} {self.label!r}: {len(self.members)} members>"


def simplified(root: Group) -> None:
    """Takes out groups of one member: an operation stands by itself, a scope in a scope is one box."""
    for group in reversed(list(root.everything())):
        for i, member in enumerate(group.members):
            if not isinstance(member, Group) or member.kind in ("section", "calls", "body"):
                continue
            if len(member.members) == 1:
                inner = member.members[0]
                if isinstance(inner, Group):
                    if inner.kind in ("calls", "body", "section"):
                        continue
                    if inner.kind == "scope":
                        inner.label = f"{member.label}/{inner.label}"
                    inner.parent = group
                    inner.like = inner.like or member.like
                group.members[i] = inner
