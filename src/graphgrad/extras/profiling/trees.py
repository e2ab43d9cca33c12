"""The views of a profile as trees: by name scopes, by the graph, by types of operations, by lines of the program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.graph import Operation

from .operation_facts import COUNTS, Facts

ROOT = "_TFProfRoot"
VIEWS = ("scope", "graph", "op", "code")
# What is shown, and sorted by -> the number.
NUMBERS = {"micros": "exec_micros", "accelerator_micros": "accelerator_exec_micros", "cpu_micros": "cpu_exec_micros",
           "bytes": "requested_bytes", "peak_bytes": "peak_bytes", "residual_bytes": "residual_bytes",
           "output_bytes": "output_bytes", "params": "parameters", "float_ops": "float_ops"}
_OF_TOTALS = {"min_bytes": "requested_bytes", "min_peak_bytes": "peak_bytes", "min_residual_bytes": "residual_bytes",
              "min_output_bytes": "output_bytes", "min_micros": "exec_micros",
              "min_accelerator_micros": "accelerator_exec_micros", "min_cpu_micros": "cpu_exec_micros"}
_OF_ITS_OWN = {"min_params": "parameters", "min_float_ops": "float_ops"}


class Node:
    """A node of a view.

    Attributes:
      name: its name.
      facts: the operations whose numbers are its own.
      children: the nodes beneath it.
      own, total: name of a number -> its own, and with those beneath it.
      counts: whether its own numbers are counted.
      definitions: how many nodes it consists of.
    """

    def __init__(self, name: str, facts: Sequence[Facts] = ()):
        self.name = name
        self.facts = list(facts)
        self.children: list[Node] = []
        self.own: dict[str, float] = dict.fromkeys(COUNTS, 0)
        self.total: dict[str, float] = dict.fromkeys(COUNTS, 0)
        self.counts = False
        self.definitions = 1

    def add_own(self) -> None:
        """Makes the totals those of the node alone."""
        self.total = dict(self.own) if self.counts else dict.fromkeys(COUNTS, 0)
        self.definitions = 1

    def add(self, other: Node) -> None:
        """Adds the totals of a node beneath it."""
        for name in COUNTS:
            self.total[name] += other.total[name]
        self.definitions += other.definitions


class ProfileChoice:
    """The options of a profile, see `ProfileOptionBuilder`.

    Raises: InvalidArgumentError for patterns that are none, and for unknown numbers to sort by or show.
    """

    def __init__(self, options: dict[str, Any]):
        self.given = options
        self.order_by: str = options.get("order_by", "name")
        self.select: list[str] = list(options.get("select", ["micros"]))
        known = {*NUMBERS, "occurrence", "device", "op_types", "input_shapes", "tensor_value"}
        for name in (*self.select, *([self.order_by] if self.order_by != "name" else [])):
            if name not in known:
                raise InvalidArgumentError(None, None, f"a profile cannot show or sort by {name!r}. Fix: choose from "
                                                       f"{', '.join(sorted(known))}")
        self.displayed_only = bool(options.get("account_displayed_op_only", False))
        self.max_depth: int = options.get("max_depth", 100)
        self._types = _patterns(options.get("account_type_regexes", [".*"]))
        self.start = _patterns(options.get("start_name_regexes", [".*"]))
        self._show = _patterns(options.get("show_name_regexes", [".*"]))
        self._hide = _patterns(options.get("hide_name_regexes", []))
        self._trim = _patterns(options.get("trim_name_regexes", []))
        self._all_types = list(options.get("account_type_regexes", [".*"])) == [".*"]

    def counts(self, facts: Sequence[Facts], is_root: bool) -> bool:
        """Returns whether the operations of a node are of a type that is counted."""
        if is_root:
            return False
        return self._all_types or any(_matches(self._types, t) for one in facts for t in one.types)

    def shows(self, node: Node, depth: int, several: bool) -> bool:
        """Returns whether a node is shown; `several` where a node may be several operations."""
        if node.name == ROOT:
            return True
        least = self.given.get
        own = node.total if several else node.own
        return (all(node.total[number] >= least(name, 0) for name, number in _OF_TOTALS.items())
                and all(own[number] >= least(name, 0) for name, number in _OF_ITS_OWN.items())
                and depth <= self.max_depth and _matches(self._show, node.name) and not _matches(self._hide, node.name))

    def trims(self, node: Node, depth: int) -> bool:
        """Returns whether nothing beneath a node is shown."""
        return depth > self.max_depth or _matches(self._trim, node.name)

    def order(self, nodes: list[Node], of_own: bool = False) -> list[Node]:
        """Sorts nodes."""
        if self.order_by == "name":
            return sorted(nodes, key=_name)
        nodes = sorted(nodes, key=_name)  # where numbers are equal
        if self.order_by == "occurrence":
            return sorted(nodes, key=_occurrence)
        number = NUMBERS[self.order_by]

        def size(node: Node) -> float:
            return -(node.own if of_own else node.total)[number]

        return sorted(nodes, key=size)


def _name(node: Node) -> str:
    return node.name


def _occurrence(node: Node) -> int:
    return -len(node.facts)


def _patterns(texts: Iterable[str]) -> list[re.Pattern[str]]:
    found = []
    for text in texts:
        try:
            found.append(re.compile(text))
        except re.error as error:
            raise InvalidArgumentError(None, None, f"{text!r} is no regular expression: {error}. Fix: escape what is "
                                                   "meant literally") from None
    return found


def _matches(patterns: list[re.Pattern[str]], text: str) -> bool:
    return any(p.fullmatch(text) for p in patterns)


def view(kind: str, facts: dict[str, Facts], options: ProfileChoice) -> Node:
    """Returns the root of a view, with what is to be shown beneath it.

    Args:
      kind: one of `VIEWS`.
      facts: what is known of the operations, by their names.
      options: the options.
    """
    if kind == "op":
        return _by_type(facts, options)
    make: Callable[[dict[str, Facts]], Node] = {"scope": _by_scope, "graph": _by_graph, "code": _by_line}[kind]
    return _shown(_begun(make(facts), options), options, kind == "code")


# -- trees of everything ---------------------------------------------------------------


def _by_scope(facts: dict[str, Facts]) -> Node:
    root = Node(ROOT)
    nodes = {"": root}
    for name, one in sorted(facts.items()):
        parts = name.split("/")
        for depth in range(1, len(parts) + 1):
            path = "/".join(parts[:depth])
            if path not in nodes:
                nodes[path] = Node(path)
                nodes["/".join(parts[: depth - 1])].children.append(nodes[path])
        nodes[name].facts = [one]
    return root


def _by_graph(facts: dict[str, Facts]) -> Node:
    """Puts each operation beneath the first one that reads it, beginning with those that nothing reads."""
    root = Node(ROOT)
    read = {i.name for one in facts.values() for i in _inputs(one.op)}
    seen: set[str] = set()
    for name in sorted(facts.keys() - read):
        todo = [(root, name)]
        while todo:
            parent, name = todo.pop()
            if name in seen or name not in facts:
                continue
            seen.add(name)
            node = Node(name, [facts[name]])
            parent.children.append(node)
            todo += [(node, i.name) for i in reversed(_inputs(facts[name].op))]
    return root


def _inputs(op: Operation) -> list[Operation]:
    return [t.op for t in op.inputs] + list(op.control_inputs)


def _by_line(facts: dict[str, Facts]) -> Node:
    root = Node(ROOT)
    nodes: dict[tuple[str, ...], Node] = {(): root}
    for one in facts.values():
        path: tuple[str, ...] = ()
        for line in lines_of(one.op):
            beneath = (*path, line)
            if beneath not in nodes:
                nodes[beneath] = Node(line)
                nodes[path].children.append(nodes[beneath])
            path = beneath
        if path:
            nodes[path].facts.append(one)
    return root


def lines_of(op: Operation) -> list[str]:
    """Returns the lines of the program that built an operation, from the outermost one, such as "train.py:12:main".

    What was built for a gradient stands with the line of the operation that it is the gradient of.
    """
    original = op._original_op
    source = (original or op).source
    found = []
    while source is not None:
        where = f"{source.filename.rpartition('/')[2]}:{source.lineno}:{source.code.co_name}"
        found.append(where + " (gradient)" * (original is not None))
        source = source.caller
    return found[::-1]


def _begun(root: Node, options: ProfileChoice) -> Node:
    """Returns the tree from the nodes on at which it is to begin."""
    if [p.pattern for p in options.start] == [".*"]:
        return root
    begun = Node(ROOT)
    todo = [root]
    while todo:
        node = todo.pop()
        if node is not root and _matches(options.start, node.name):
            begun.children.append(node)
        else:
            todo += node.children
    return begun


# -- what is shown of them -------------------------------------------------------------


def _shown(root: Node, options: ProfileChoice, several: bool) -> Node:
    """Adds up, and leaves out what is not to be shown; what is beneath it moves up."""
    order: list[tuple[Node, int]] = [(root, 1)]
    for node, depth in order:
        order += [(child, depth + 1) for child in node.children]
    for node, _ in reversed(order):
        _count(node, options)
        node.add_own()
        node.children = [c for c in node.children if c.counts or c.children]
        for child in node.children:
            node.add(child)
    left: dict[int, list[Node]] = {}
    for node, depth in reversed(order):
        if not (node.counts or node.children or node is root):
            continue
        beneath = [] if options.trims(node, depth) else [n for c in node.children for n in left[id(c)]]
        if not options.shows(node, depth, several):
            left[id(node)] = beneath
            continue
        left[id(node)] = [node]
        if options.displayed_only:
            node.add_own()
            for other in beneath:
                node.add(other)
        node.children = options.order(beneath)
    return root


def _count(node: Node, options: ProfileChoice) -> None:
    for one in node.facts:
        for name in COUNTS:
            node.own[name] += one.counts[name]
    node.counts = options.counts(node.facts, node.name == ROOT)


def _by_type(facts: dict[str, Facts], options: ProfileChoice) -> Node:
    """Returns a chain: each type of operations is beneath the one before, so that totals are those of the rest."""
    kinds: dict[str, Node] = {}
    for one in facts.values():
        if not options.counts([one], False):
            continue
        kinds.setdefault(one.kind, Node(one.kind)).facts.append(one)
    for node in kinds.values():
        _count(node, options)
    ordered = options.order(list(kinds.values()), of_own=True)
    if [p.pattern for p in options.start] != [".*"]:
        first = next((i for i, node in enumerate(ordered) if _matches(options.start, node.name)), len(ordered))
        ordered = ordered[first:]
    root = _chained(ordered)
    shown = [node for depth, node in enumerate(ordered) if options.shows(node, depth, True)
             and len(node.facts) >= options.given.get("min_occurrence", 0)]
    total = dict(root.total)
    totals = [dict(node.total) for node in shown]
    root = _chained(shown)
    if not options.displayed_only:
        root.total = total
        for node, before in zip(shown, totals, strict=True):
            node.total = before
    return root


def _chained(nodes: list[Node]) -> Node:
    """Puts each node beneath the one before, and all beneath a root."""
    chain = [Node(ROOT), *nodes]
    for node in chain:
        node.add_own()
        node.children = []
    for i in range(len(chain) - 1, 0, -1):
        chain[i - 1].children = [chain[i]]
        chain[i - 1].add(chain[i])
    return chain[0]
