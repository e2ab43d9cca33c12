"""The result of `explain_gradient`: cuts and paths, as an object and as text."""

from __future__ import annotations

from graphgrad.gradients.core.gradient_paths import Paths, PathView, way_back
from graphgrad.gradients.core.rules import carries_gradient
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.source import line_of
from graphgrad.ir.tensor import repr_html

_SHOWN = 12  # operations of a path
_TOLD = 20  # cuts


class Ways(Paths):
    """The paths from ys to x, also through tensors that carry no gradient: one through each operation, found on demand.

    Attributes:
      leads: for each operation on a path the input that leads to x, if possible through tensors that carry gradients.
      integer_since: for each of these the first operation, on the path from x, whose output carries no gradient.
      came_by: for each operation that a gradient has reached, the consumer it came from first.
    """

    def __init__(self, view: PathView, ys: list[Tensor], x: Tensor):
        super().__init__(view, ys, [x], passes=lambda t: True)
        self.x = x
        self.leads: dict[Operation, int] = {}
        self.integer_since: dict[Operation, Operation] = {}
        self.came_by: dict[Operation, Operation | None] = {}
        carried = {id(x)}  # the tensors from which all tensors on a path to x carry gradients: the path to show
        for op in self.ops:
            inputs = self.view.inputs(op)
            on_way = [i for i, t in enumerate(inputs) if id(t) in self.live]
            best = next((i for i in on_way if id(inputs[i]) in carried and carries_gradient(inputs[i])), None)
            if best is not None:
                carried.update(map(id, op.outputs))
            lead = self.leads[op] = on_way[0] if best is None else best
            t = inputs[lead]
            if carries_gradient(t):
                self.integer_since[op] = op
            else:
                self.integer_since[op] = x.op if t is x else self.integer_since[t.op]

    def towards_x(self, op: Operation) -> Tensor:
        """Returns the input of an operation that leads to x."""
        t: Tensor = self.view.inputs(op)[self.leads[op]]
        return t

    def from_y(self, op: Operation) -> list[Operation]:
        """Returns the operations from a y to `op`, along which its gradient came."""
        return way_back(op, self.came_by)


class Cut:
    """One place where a gradient ends.

    Attributes:
      kind: "stop_gradient", "stop_gradients" (an entry of the argument), "argument" (of a function), "integer",
        "not differentiable", "no gradient", "returned None", "zero", "raises", "shape only" or "custom gradient".
      op: the operation that ends it.
      why: the reason, as text.
      fix: a remedy, as text.
    """

    def __init__(self, kind: str, op: Operation, position: int, why: str, fix: str, ways: Ways, reached: Operation):
        self.kind = kind
        self.op = op
        self.why = why
        self.fix = fix
        self._ways = ways
        self._reached = reached  # the last operation that a gradient reached
        self._position = position  # its input that gets none

    @property
    def path(self) -> tuple[Operation, ...]:
        """The operations of a path from y through the cut to x."""
        ways = self._ways
        return (*ways.from_y(self._reached), *ways.to_x(ways.view.inputs(self._reached)[self._position]))

    def __repr__(self) -> str:
        return f"<Cut {self.kind} at {self.op.type} '{self.op.name}'>"


class GradientExplanation:
    """Why a gradient is None or zero, or which path it takes; `print` it, or draw it with `graphgrad.viz.draw`.

    Attributes:
      ys: the tensors that are differentiated.
      x: the tensor with respect to which; a variable's handle.
      verdict: "flows", "zero" (on every path), "none", or "raises" (`gradients` raises an error).
      cuts: each `Cut` on the paths from ys to x.
      path: the operations of a path on which the gradient arrives, from y to x; empty if it does not.
      unrelated: if no path leads from ys to x, a diagnosis in lines of text.
    """

    _repr_html_ = repr_html

    def __init__(self, ys: list[Tensor], x: Tensor, verdict: str, cuts: tuple[Cut, ...], path: tuple[Operation, ...],
                 unrelated: tuple[str, ...]):
        self.ys = ys
        self.x = x
        self.verdict = verdict
        self.cuts = cuts
        self.path = path
        self.unrelated = unrelated

    @property
    def is_none(self) -> bool:
        """Whether `gradients` gives None."""
        return self.verdict == "none"

    @property
    def connected(self) -> bool:
        """Whether y depends on x at all, be it through integers."""
        return not self.unrelated

    def __repr__(self) -> str:
        return f"<GradientExplanation {self.verdict}: {len(self.cuts)} cuts>"

    def __str__(self) -> str:
        ys = " + ".join(y.name for y in self.ys[:4]) + (" + ..." if len(self.ys) > 4 else "")
        head = f"The gradient of {ys} with respect to {self.x.name}"
        if self.unrelated:
            verdict = "None" if self.is_none else "zero"
            return "\n".join([f"{head} is {verdict}: y does not depend on x.",
                              *[f"  {y.name} built at {line_of(y.op.source)}" for y in self.ys[:4]],
                              f"  {self.x.name} built at {line_of(self.x.op.source)}",
                              *[f"  {line}" for line in self.unrelated]])
        cuts = f"{len(self.cuts)} cut{'s' * (len(self.cuts) != 1)}"
        if self.verdict == "raises":
            lines = [f"{head} cannot be built: gradients() raises an error."]
        elif self.verdict == "none":
            lines = [f"{head} is None: {cuts}, on every way from y to x."]
        elif self.verdict == "zero":
            lines = [f"{head} is zero, for all values: {cuts}, on every way from y to x."]
        else:
            lines = [f"{head} is neither None nor zero by construction.", "  It takes this way:",
                     *_way(self.path, None)]
            if self.cuts:
                lines.append(f"Other ways from y to x have {cuts}:")
        for number, cut in enumerate(self.cuts[:_TOLD], 1):
            lines.append(f"{number}. {cut.op.type} '{cut.op.name}': {cut.why}.")
            lines += _way(cut.path, cut.op)
            lines.append(f"  Fix: {cut.fix}")
        if len(self.cuts) > _TOLD:
            lines.append(f"... and {len(self.cuts) - _TOLD} more cuts.")
        return "\n".join(lines)


def _way(path: tuple[Operation, ...], cut: Operation | None) -> list[str]:
    """Formats a line for each operation of a path (name, type, the user's line); omits the middle of a long one."""
    at = path.index(cut) if cut in path else 0
    kept = range(len(path))
    if len(path) > _SHOWN:
        near = set(range(max(0, at - 3), at + 4))
        ends = {0, 1, 2, len(path) - 3, len(path) - 2, len(path) - 1}
        kept = sorted(i for i in near | ends if i < len(path))  # type: ignore[assignment]  # a range before
    names = {i: f"{path[i].name} ({path[i].type})" for i in kept}
    width = min(40, max(map(len, names.values()), default=0))
    lines = []
    last = -1
    for i in kept:
        if i != last + 1:
            lines.append(f"      ... {i - last - 1} operations ...")
        mark = "  x " if path[i] is cut else "    "
        lines.append(f"  {mark}{names[i]:<{width}}  {line_of(path[i].source)}")
        last = i
    return lines
