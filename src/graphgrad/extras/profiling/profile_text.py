"""Views of a profile as messages, and as text."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.graph_messages import TensorShapeProto
from graphgrad.ir.shape import shape_str

from .operation_facts import COUNTS, Facts
from .profile_messages import GraphNodeProto, MultiGraphNodeProto
from .trees import NUMBERS, ROOT, Node, ProfileChoice

_TITLES = {"params": "# parameters", "float_ops": "# float_ops", "bytes": "requested bytes",
           "peak_bytes": "peak bytes", "residual_bytes": "residual bytes", "output_bytes": "output bytes",
           "micros": "total execution time", "accelerator_micros": "accelerator execution time",
           "cpu_micros": "cpu execution time", "occurrence": "op occurrence", "device": "assigned devices",
           "op_types": "op types", "input_shapes": "input shapes"}


def message(root: Node, kind: str) -> Any:
    """Returns a view as a `GraphNodeProto`, or a `MultiGraphNodeProto` for types and lines.

    Args:
      root: the view.
      kind: its name.
    """
    several = kind in ("op", "code")
    made: dict[int, Any] = {}
    order = [root]
    for node in order:
        order += node.children
    for node in reversed(order):
        one = made[id(node)] = _several(node) if several else _one(node)
        one.children.extend(made[id(child)] for child in node.children)
    return made[id(root)]


def _numbers(node: Node) -> dict[str, int]:
    own = {name: round(node.own[name]) for name in COUNTS if node.name != ROOT}
    return own | {f"total_{name}": round(node.total[name]) for name in COUNTS}


def _one(node: Node) -> GraphNodeProto:
    made = GraphNodeProto(name=node.name, total_definition_count=node.definitions, **_numbers(node))
    if node.facts:
        _describe(made, node.facts[0])
    return made


def _describe(made: GraphNodeProto, one: Facts) -> None:
    made.devices.extend(one.devices)
    for i, t in enumerate(one.op.inputs):
        if t._spec.shape is not None:
            made.input_shapes[i].CopyFrom(_shape(t._spec.shape))
    if one.counts["parameters"]:
        made.shapes.append(_shape(one.op._attr("shape")))


def _shape(shape: Any) -> TensorShapeProto:
    found = TensorShapeProto()
    for n in shape:
        found.dim.add(size=-1 if n is None else int(n))
    return found


def _several(node: Node) -> MultiGraphNodeProto:
    numbers = {name: n for name, n in _numbers(node).items() if not name.endswith("run_count")}
    made = MultiGraphNodeProto(name=node.name, **numbers)
    for one in node.facts:
        inner = Node(one.name, [one])
        inner.own = inner.total = one.counts
        made.graph_nodes.append(_one(inner))
    return made


# -- text ------------------------------------------------------------------------------


def text(root: Node, kind: str, options: ProfileChoice, unknown: int = 0) -> str:
    """Returns a view as text: a line for each node, beneath a heading.

    Args:
      root: the view.
      kind: its name.
      options: what to show.
      unknown: how many operations have shapes that are not known, so that their float operations were not counted.
    """
    shown = [name for name in _TITLES if name in options.select]
    if "micros" in shown:  # that of accelerators and of the processor belong to it
        at = shown.index("micros")
        shown[at:at + 1] = ["micros", *(n for n in ("accelerator_micros", "cpu_micros") if n not in shown)]
    lines = [" | ".join(["node name", *(_TITLES[name] for name in shown)])]
    todo = [(root, 0)]
    while todo:
        node, depth = todo.pop()
        if kind == "op":
            if node is not root:
                lines.append(_of_type(node, root, shown))
            todo += [(child, 0) for child in node.children]
        else:
            cells = [cell for name in shown if (cell := _cell(node, name))]
            lines.append("  " * depth + f"{node.name} ({', '.join(cells)})")
            todo += [(child, depth + 1) for child in reversed(node.children)]
    if unknown and "float_ops" in shown:
        lines.append(f"{unknown} operations have dimensions that are not known; their float operations are not counted")
    return "\n".join(lines) + "\n"


def _cell(node: Node, name: str) -> str:
    if name in NUMBERS:
        number = NUMBERS[name]
        own = _written(name, node.own[number]) if node.counts else "--"
        both = f"{own}/{_written(name, node.total[number])}"
        if name == "params":
            shape = next(("x".join(map(str, f.op._attr("shape"))) for f in node.facts if f.counts["parameters"]), "")
            return f"{shape}, {both} params" if shape else f"{both} params"
        return f"{both} flops" if name == "float_ops" else both
    if name == "occurrence":
        return f"{round(node.own['run_count'])}/{node.definitions}"
    if name == "device":
        return "|".join(sorted({d for f in node.facts for d in f.devices}))
    if name == "op_types":
        return "|".join(sorted({t for f in node.facts for t in f.types}))
    return ", ".join(f"{i}:{shape_str(t._spec.shape)}" for f in node.facts[:1] for i, t in enumerate(f.op.inputs))


def _of_type(node: Node, root: Node, shown: list[str]) -> str:
    cells = []
    for name in shown:
        if name not in NUMBERS:
            cells.append(str(len(node.facts)) if name == "occurrence" else _cell(node, name))
            continue
        number = NUMBERS[name]
        whole = root.total[number] or 1
        unit = {"params": " params", "float_ops": " float_ops"}.get(name, "")
        cells.append(f"{_written(name, node.own[number])}{unit} ({100 * node.total[number] / whole:.2f}%, "
                     f"{100 * node.own[number] / whole:.2f}%)")
    return f"{node.name:<24} {', '.join(cells)}"


def _written(name: str, number: float) -> str:
    if name.endswith("micros"):
        return time_str(number)
    units = ("B", "KB", "MB", "GB") if name.endswith("bytes") else ("", "k", "m", "b")
    power = 0
    while number >= 1000 and power < 3:
        number, power = number / 1000, power + 1
    return f"{number:.2f}{units[power]}" if power else f"{round(number)}{units[0]}"


def time_str(micros: float) -> str:
    """Formats microseconds, such as "1.50ms"."""
    if micros < 1e3:
        return f"{round(micros)}us"
    return f"{micros / 1e3:.2f}ms" if micros < 1e6 else f"{micros / 1e6:.2f}sec"
