"""The sweep: from ys towards xs, it passes gradients through the rules of the operations in between."""

from __future__ import annotations

import abc
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE

from . import forward_values
from .aggregate import add_early, aggregate
from .gradient_paths import GraphView, Paths
from .missing import MissingGradientError
from .registry import gradient_function
from .rules import Call, apply_rule, beside, carries_gradient, checked_in_grad, fill_in


class Sweep(abc.ABC):
    """One sweep over the operations on the paths from ys to xs.

    Gradients arrive at tensors. Once they have arrived from all consumers of an operation they are summed and passed to
    its rule, which gives those of its inputs. Subclasses define how rules are called, and may note where gradients end.

    Attributes:
      arrived: id of a tensor -> the gradients that have arrived.
    """

    def __init__(self, paths: Paths, stopped: Collection[Operation] = ()):
        self.paths = paths
        self.stopped = stopped
        self.wanted = set(map(id, paths.xs))
        self.arrived: dict[int, list[Any]] = {}

    def run(self, seeds: Sequence[Any], order: Iterable[Operation]) -> list[Any]:
        """Sweeps.

        Args:
          seeds: the gradient of each y.
          order: the operations on paths, each after all of its consumers.
        Returns: what arrived at each x: a tensor, `IndexedSlices` or None.
        """
        arrived, stopped = self.arrived, self.stopped
        for y, seed in zip(self.paths.ys, seeds, strict=True):
            self.send(y, seed)
        for op in order:
            if op not in stopped:
                for t in op.outputs:
                    if id(t) in arrived:
                        self.visit(op)
                        break
        from .sharded import lying_like  # late: imports of the package are few

        return [lying_like(x, self.taken(x)) for x in self.paths.xs]

    def visit(self, op: Operation) -> None:
        """Passes the gradients of one operation to its rule, and the results to its inputs."""
        if "functional" in op.opdef.flags:
            self.expose(op)
        live, inputs = self.paths.live, self.paths.view.inputs(op)
        out_grads = [self.taken(t) for t in op.outputs]
        rule = gradient_function(op)
        if rule is None or rule is NOT_DIFFERENTIABLE:
            in_grads: Sequence[Any] = [None] * len(inputs)
        else:
            if len(out_grads) > 1 and any(g is None for g in out_grads):
                self.fill(op, out_grads)
            try:
                in_grads = self.in_grads(op, rule, out_grads)
            except MissingGradientError as error:  # in a sub-graph
                error.lies_within(op, self.paths.through(op))
                raise
        for i, t in enumerate(inputs):
            if id(t) in live and carries_gradient(t):
                g = in_grads[i]
                if g is None:
                    self.ended(op, i, rule)
                else:
                    self.send(t, self.checked(op, op.inputs[i], g, rule))

    def ended(self, op: Operation, i: int, rule: Any) -> None:
        """Notes that no gradient leaves an operation for its input `i`, on a path; an error if it has no rule."""
        if rule is None:
            raise MissingGradientError(op, self.paths.through(op))

    def send(self, t: Tensor, gradient: Any) -> None:
        """Adds a gradient to those that have arrived at a tensor."""
        self.arrived.setdefault(id(t), []).append(gradient)

    def taken(self, t: Tensor) -> Any:
        """Returns the sum of the gradients of a tensor, or None; that of an x is kept."""
        terms = self.arrived.pop(id(t), None)
        if terms is None:
            return None
        gradient = terms[0] if len(terms) == 1 else self.total(t, terms)
        if id(t) in self.wanted:
            self.arrived[id(t)] = [gradient]
        return gradient

    # -- how rules are called: to be said by subclasses ----------------------------

    checked: Callable[[Any, Any, Any, Any], Any] = staticmethod(checked_in_grad)

    @abc.abstractmethod
    def expose(self, op: Operation) -> None:
        """Makes an operation with sub-graphs return what its rule must not recompute."""

    @abc.abstractmethod
    def total(self, t: Tensor, terms: list[Any]) -> Any:
        """Sums the gradients of a tensor."""

    @abc.abstractmethod
    def fill(self, op: Operation, out_grads: list[Any]) -> None:
        """Fills in zeros for outputs without a gradient; there is one for another output."""

    @abc.abstractmethod
    def in_grads(self, op: Operation, rule: Any, out_grads: list[Any]) -> Sequence[Any]:
        """Applies the rule of an operation: one gradient, or None, for each input."""


class GraphSweep(Sweep):
    """A sweep that adds operations to the graph of a call."""

    sees_touched = False  # as `GraphView` takes it

    def __init__(self, call: Call, paths: Paths, stopped: Collection[Operation] = ()):
        super().__init__(paths, stopped)
        self.call = call

    def run(self, seeds: Sequence[Any], order: Iterable[Operation]) -> list[Any]:
        """Sweeps; the graph's scopes are as before afterwards."""
        around = self.call.graph._around
        with around.having(scope=around.scope, original_op=around.original_op):
            return super().run(seeds, order)

    def send(self, t: Tensor, gradient: Any) -> None:
        """Adds a gradient to those of a tensor, by an operation if the call requires it."""
        terms = self.arrived.setdefault(id(t), [])
        if not (terms and self.call.adds_early and add_early(self.call, t, terms, gradient)):
            terms.append(gradient)

    def expose(self, op: Operation) -> None:
        """Makes an operation with sub-graphs return what its rule must not recompute."""
        forward_values.expose(op)

    def total(self, t: Tensor, terms: list[Any]) -> Any:
        """Sums the gradients of a tensor."""
        return aggregate(self.call, terms, t.op)

    def fill(self, op: Operation, out_grads: list[Any]) -> None:
        """Fills in zeros; for an x among the outputs they are its gradient."""
        fill_in(self.call, op, out_grads)
        self.arrived.update((id(t), [g]) for t, g in zip(op.outputs, out_grads, strict=True)
                            if g is not None and id(t) in self.wanted)

    def in_grads(self, op: Operation, rule: Any, out_grads: list[Any]) -> Sequence[Any]:
        """Applies the rule of an operation, colocated with it if the call requires it."""
        call = self.call
        call.graph._around.original_op = op
        if not call.colocate:
            return apply_rule(call, op, rule, out_grads)
        with beside(call.graph, op, True):
            return apply_rule(call, op, rule, out_grads)


def sweep(call: Call, ys: Sequence[Tensor], seeds: Sequence[Any], xs: Sequence[Tensor],
          stopped: Collection[Operation], kind: type[GraphSweep] = GraphSweep) -> list[Any]:
    """Computes the gradients of ys with respect to xs, in TensorFlow's order, so that sums and names are as there.

    Args:
      call: the call; its operations go to its graph, which may be one within that of ys and xs.
      ys: the tensors to differentiate.
      seeds: the gradient of each of them.
      xs: the tensors with respect to which.
      stopped: operations through which no gradient passes.
      kind: the class of the sweep.
    Returns: a tensor, `IndexedSlices` or None for each x.
    """
    view = GraphView(call.graph, call.outside, xs, kind.sees_touched)
    paths = Paths(view, ys, xs, [t for x in xs for t in x.op.outputs])
    return kind(call, paths, stopped).run(seeds, paths.in_tensorflows_order())
