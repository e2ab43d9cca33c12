"""Sees the calls of `gradients`, and replaces nested derivatives before what is computed from them is differentiated.

A nested derivative is left as it was built until a tensor computed from it, such as a loss, is differentiated. Then it
is known which columns of which derivatives are read, and what sums of them. Those come from one pass of Taylor
coefficients, the operations between them and the loss are repeated on these (`copies`), and it is the repeated loss
that is differentiated. A run that fetches the loss gets the repeated one, too (`Notes.replaced`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from graphgrad.gradients.core.backprop import switch_optimizing
from graphgrad.gradients.core.gradient_paths import GraphView, Paths, upstream
from graphgrad.gradients.core.rules import Call
from graphgrad.gradients.taylor.copies import copied
from graphgrad.gradients.taylor.examples_apart import hindrance
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.system.garbage_collector import collector_paused

from .choice import pays
from .coefficient_passes import Passes
from .forms import DerivativeForm, Forms, Noted
from .reports import Report

_KEY = "derivatives"


class Derivatives:
    """The derivatives of a graph, and what replaces them.

    Attributes:
      forms: which tensors are derivatives.
      report: what was replaced, and what was not.
    """

    def __init__(self, graph: Graph):
        self.forms = Forms()
        self.report = Report()
        self._graph = graph
        self._hindrances: dict[Any, str] = {}
        self._ranges: dict[int, tuple[int, int]] = {}  # id of a noted result -> which operations its call built

    # -- calls ---------------------------------------------------------------------------

    def note(self, noted: Noted, start: int) -> None:
        """Notes a result of a call that built the operations from `start` on."""
        self._ranges.setdefault(id(noted.result), (start, len(self._graph._operations)))
        self.forms.note(noted)

    def replaced(self, ys: list[Tensor], xs: list[Any]) -> list[Tensor]:
        """Returns what is differentiated by xs in the place of ys."""
        forms = self.forms
        if not forms.noted:
            return ys
        ops = forms.find(ys)
        if all(self._is_next_derivative(y, xs) for y in ys):
            return ys
        wanted = self._wanted(ys, ops)
        if not wanted:
            return ys
        replaced = {key: new for key, (_, new) in self._graph._notes.replaced.items()}
        for group in self._groups(t for t in wanted if id(t) not in replaced):
            self._replace(group, xs, ys, replaced)
        if not any(id(t) in replaced for t in wanted):
            return ys
        before = dict(replaced)
        with self._graph.name_scope("optimize_derivatives"):
            stuck = copied(self._graph, ops, replaced)
        self.report.stuck(stuck)
        there = {id(t): t for op in ops for t in op.outputs}
        self._graph._notes.replaced.update(
            (key, (there[key], new)) for key, new in replaced.items() if key not in before)
        return [replaced.get(id(y), y) for y in ys]

    def _is_next_derivative(self, y: Tensor, xs: list[Any]) -> bool:
        """Returns whether y is a derivative of batches, to be differentiated by a batch once more."""
        form = self.forms.form(y)
        return form is not None and bool(xs) and all(
            isinstance(x, Tensor) and x.graph is self._graph and not self._hindrance_of([form], x) for x in xs)

    def _wanted(self, ys: list[Tensor], ops: Sequence[Operation]) -> list[Tensor]:
        """Returns the derivatives that are read by operations which are no derivatives themselves."""
        forms = self.forms
        found: dict[int, Tensor] = {}
        for t in (*[t for op in ops if all(forms.form(o) is None for o in op.outputs) for t in op.inputs], *ys):
            if id(t) in forms.noted or forms.form(t) is not None:
                found[id(t)] = t
        return list(found.values())

    # -- what can be replaced ------------------------------------------------------------

    def _groups(self, wanted: Iterable[Tensor]) -> list[list[Tensor]]:
        """Returns derivatives in groups that have neither x nor what is differentiated in common."""
        groups: list[tuple[set[Any], list[Tensor]]] = []
        for t in wanted:
            form = self.forms.form(t)
            if form is None:
                self._explain(t)
                continue
            mine = {("x", n) for _, powers in form.terms for n, _ in powers} | {("y", base) for base, _ in form.terms}
            members = [t]
            apart = []
            for keys, others in groups:
                if keys & mine:
                    mine |= keys
                    members = [*others, *members]
                else:
                    apart.append((keys, others))
            groups = [*apart, (mine, members)]
        return [members for _, members in groups]

    def _replace(self, group: list[Tensor], xs: list[Any], ys: list[Tensor], replaced: dict[int, Tensor]) -> None:
        """Replaces the derivatives of a group, or reports why not."""
        forms: list[DerivativeForm] = [f for t in group if (f := self.forms.form(t)) is not None]
        if max(f.order for f in forms) < 2:
            return  # a first derivative is best as it is
        reason = self._hindrance_of(forms) or self._between(forms, xs, ys)
        chosen = None
        if not reason:
            chosen = Passes(forms)
            ranges = {self._ranges[key] for key in self._calls_behind(group)}
            reason = pays(chosen, sum(end - start for start, end in ranges), self._count(forms))
        if reason or chosen is None:
            self.report.left([(t, self._source(t)) for t, f in zip(group, forms, strict=True) if f.order > 1], reason)
            return
        self._graph._notes.superseded.extend(ranges)
        bases, batches = self._of(forms)
        with self._graph.name_scope("optimize_derivatives"):
            chosen.run(bases, batches)
            for t, form in zip(group, forms, strict=True):
                new = chosen.result(form, t)
                if new._spec is not t._spec:
                    new.set_shape(t._spec.shape)
                replaced[id(t)] = new
                self._graph._notes.replaced[id(t)] = t, new
        self.report.replaced([(t, self._source(t)) for t in group], chosen)

    def _of(self, forms: Sequence[DerivativeForm]) -> tuple[dict[int, Tensor], dict[int, Tensor]]:
        """Returns what forms are derivatives of, and by what."""
        terms = sorted(set().union(*[f.terms for f in forms]))
        bases = {base: self.forms.bases[base] for base, _ in terms}
        return bases, {n: self.forms.xs[n] for n in sorted({n for _, powers in terms for n, _ in powers})}

    def _hindrance_of(self, forms: Sequence[DerivativeForm], further: Tensor | None = None) -> str:
        """Returns why derivatives are not those of each example; "" if they are."""
        bases, xs = self._of(forms)
        batches = [*xs.values(), *([] if further is None or any(further is x for x in xs.values()) else [further])]
        key = tuple(bases), tuple(map(id, batches))
        if key not in self._hindrances:
            odd = [t for t in (*bases.values(), *batches) if t.dtype.kind != "f" or t.graph is not self._graph]
            self._hindrances[key] = (f"'{odd[0].name}' is not a floating tensor of this graph" if odd
                                     else hindrance(list(bases.values()), batches))
        return self._hindrances[key]

    def _between(self, forms: Sequence[DerivativeForm], xs: list[Any], ys: list[Tensor]) -> str:
        """Returns which x of the call would lose its way to y, as it is computed from the batches; "" for none."""
        _, batches = self._of(forms)
        there = list(batches.values())
        ops = Paths(GraphView(self._graph, {}, there), ys, there, [t for x in there for t in x.op.outputs]).ops
        lost = next((x for x in xs if isinstance(x, Tensor) and x.op in ops), None)
        return "" if lost is None else f"the gradient by '{lost.name}', which is computed from x, is asked for"

    def _calls_behind(self, group: Sequence[Tensor]) -> set[int]:
        """Returns the ids of the noted results that derivatives are computed from, themselves included."""
        found: set[int] = set()
        waiting = list(group)
        while waiting:
            t = waiting.pop()
            if id(t) in self.forms.noted:
                if id(t) not in found:
                    found.add(id(t))
                    waiting.extend(self.forms.noted[id(t)].ys)
            elif self.forms.form(t) is not None:
                waiting.extend(t.op.inputs)
        return found

    def _count(self, forms: Sequence[DerivativeForm]) -> int:
        """Returns how many operations lie between the batches and what is differentiated."""
        bases, xs = self._of(forms)
        batches = list(xs.values())
        return len(Paths(GraphView(self._graph, {}, batches), list(bases.values()), batches,
                         [t for x in batches for t in x.op.outputs]).ops)

    # -- reasons -------------------------------------------------------------------------

    def _explain(self, t: Tensor) -> None:
        """Reports why a result of `gradients` has no form, if it is a derivative of a derivative."""
        noted = self.forms.noted[id(t)]
        ops = upstream([y.op for y in noted.ys], lambda op: op.inputs, noted.x.op.index)
        below = [self.forms.noted[id(o)] for op in ops for o in op.outputs if id(o) in self.forms.noted]
        if not below:
            return
        odd = next((n for n in (noted, *below) if n.hindrance), None)
        if odd is not None:
            reason = f"a call has {odd.hindrance}"
        elif any(len(n.x._spec.shape or ()) not in (1, 2) for n in (noted, *below)):
            reason = f"x '{noted.x.name}' is no batch of points"
        else:
            reason = "what is differentiated is computed from derivatives, and no sum of them"
        self.report.left([(t, noted.source)], reason)

    def _source(self, t: Tensor) -> Any:
        noted = self.forms.noted.get(id(t))
        return t.op.source if noted is None else noted.source


def before(call: Call, ys: list[Tensor], xs: list[Any]) -> list[Tensor]:
    """Returns what is differentiated in the place of ys: tensors of the same values."""
    graph = call.graph
    found = graph._scoped_state.get(_KEY)
    if found is None or any(y.graph is not graph for y in ys):
        return ys
    was = switch_optimizing(False)
    try:
        with collector_paused(), graph.as_default(), graph._own_gradients():
            result: list[Tensor] = found.replaced(ys, xs)
        return result
    finally:
        switch_optimizing(was)


def after(call: Call, ys: list[Tensor], xs: list[Any], results: Sequence[Any], obstacle: str, start: int) -> None:
    """Notes what a call returned."""
    graph = call.graph
    if any(y.graph is not graph or y.dtype.kind != "f" for y in ys):
        return
    found = derivatives_of(graph)
    for x, result in zip(xs, results, strict=True):
        if isinstance(x, Tensor) and isinstance(result, Tensor) and x.graph is graph and x.dtype.kind == "f" and \
                result.graph is graph and result.op.index >= start:
            found.note(Noted(result, tuple(ys), x, obstacle, call.source), start)


def derivatives_of(graph: Graph) -> Derivatives:
    """Returns the derivatives of a graph."""
    found: Derivatives = graph._scoped_state.setdefault(_KEY, Derivatives(graph))
    return found
