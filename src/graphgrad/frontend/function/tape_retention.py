"""Retains the intermediate values of a recorded function call that higher derivatives may need."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from graphgrad.executor.runtime import nonfinite
from graphgrad.gradients.bodies.subgraphs import needed_ops
from graphgrad.ir import dtypes, eager
from graphgrad.ir.effects import NOTHING, effect_of
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import registry
from graphgrad.ir.source import user_source

if TYPE_CHECKING:
    from .graph_slices import GraphSlice, Reverse


class RecordedRun:
    """One forward pass with the values that its gradient, the gradient of that, and so on need: one level per tape.

    A persistent tape may be asked for gradients of any order while it records. It learns what one more order needs when
    a gradient uses that; values that were not kept are computed from those that were.

    Args:
      part: the function.
      given: its inputs, eager tensors.
      drawn: the positions at which its random operations begin; missing ones are added.
    Attributes:
      tensors: the outputs, and the values kept for tapes so far.
    """

    def __init__(self, part: GraphSlice, given: Sequence[Any], drawn: dict[Operation, int]):
        self._part, self._given, self._drawn = part, given, drawn
        recorders = tuple(eager.listening.recorders)
        orders = eager.orders(recorders)
        self._reverses = [part.reverse]
        while len(self._reverses) < max(orders) and self._reverses[-1].kept:
            self._reverses.append(self._reverses[-1].forward.reverse)
        forward = self._reverses[-1].forward
        self._sources = sources(part, forward.outputs) if any(r in eager.persistent for r in recorders) else []
        values = _with(forward, self._sources).values([t._value for t in given], drawn)
        if nonfinite.state.mode:  # its runs are not recorded
            drawn.update(part.positions.latest)
        self._values, self._held = values[: len(forward.outputs)], values[len(forward.outputs) :]
        self.tensors: list[Any] = []
        self._told: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        for record, order in zip(recorders, orders, strict=True):
            self._tell(record, 0, len(self._reverses[min(order, len(self._reverses)) - 1].part.outputs))

    def _tell(self, record: Callable[..., None], start: int, stop: int) -> None:
        outputs = self._reverses[-1].forward.outputs
        made = len(self.tensors)
        self.tensors += self._part._tensors(outputs[made:stop], self._values[made:stop])

        def gradient(record: Any, *dys: Any) -> list[Any]:
            return self._gradient([*[None] * start, *dys])

        gradient.takes_none = gradient.is_call = True  # type: ignore[attr-defined]  # functions take attributes
        self._told[getattr(record, "__self__", record)] = stop
        record(registry["IdentityN"], tuple(self._given), tuple(self.tensors[start:stop]), {}, gradient)

    def _gradient(self, dys: Sequence[Any]) -> list[Any]:
        last = max(i for i, dy in enumerate(dys) if dy is not None)
        while last >= len(self._reverses[-1].part.outputs):
            reverse = self._reverses[-1].forward.reverse
            self._values += self._missing(reverse)
            self._reverses.append(reverse)
        reverse = next(r for r in self._reverses if last < len(r.part.outputs))
        needed = len(reverse.forward.outputs)
        for record in tuple(eager.listening.recorders):  # these record how the gradient uses kept values
            told = self._told.get(getattr(record, "__self__", record), needed)
            if told < needed:
                self._tell(record, told, needed)
        return reverse.gradient(self._given, [*self.tensors, *self._values[len(self.tensors) :]], dys, self._drawn)

    def _missing(self, reverse: Reverse) -> list[Any]:
        """Computes the further values that the gradient of the next order needs, from those kept of the run."""
        part = self._part
        tensors = [*part.inputs, *reverse.part.outputs, *self._sources]
        values = [*[t._value for t in self._given], *self._values, *self._held]
        known = {id(t): (t, v) for t, v in zip(tensors, values, strict=True)}
        wanted = [t for t in reverse.kept if id(t) not in known]
        if wanted:
            again = reverse.again.get(tuple(map(id, self._sources)))
            if again is None:
                again = _repetition(part, known, wanted)
                reverse.again[tuple(map(id, self._sources))] = again
            again.positions.set(self._drawn)
            found = again.values([known[id(t)][1] for t in again.inputs], dict(self._drawn))
            known.update((id(t), (t, v)) for t, v in zip(wanted, found, strict=True))
        return [known[id(t)][1] for t in reverse.kept]


def sources(part: GraphSlice, outputs: Sequence[Tensor]) -> list[Tensor]:
    """Returns the values among the dependencies of outputs that cannot be recomputed: reads and results of Python.

    Args:
      part: the function.
      outputs: tensors of its graph.
    """
    known = set(map(id, outputs))
    ops = needed_ops(outputs, set(map(id, part.inputs)))
    return [t for op in ops if _is_done_once(op) for t in op.outputs
            if t.dtype is not dtypes.resource and id(t) not in known]


def _is_done_once(op: Operation) -> bool:
    # Operations with control inputs would repeat these.
    return effect_of(op) != NOTHING or bool(op.control_inputs)


def _with(part: GraphSlice, outputs: Sequence[Tensor]) -> GraphSlice:
    """Makes a function that returns other tensors besides its own outputs."""
    if not outputs:
        return part
    key = tuple(map(id, outputs))
    if key not in part.wider:
        part.wider[key] = part._with([*part.outputs, *outputs])
    return part.wider[key]


def _repetition(part: GraphSlice, known: dict[int, Any], wanted: Sequence[Tensor]) -> GraphSlice:
    """Makes a function that computes tensors from known ones; raises LookupError if that would repeat an effect."""
    ops = needed_ops(wanted, known)
    for op in ops:
        if _is_done_once(op):
            raise LookupError(
                f"No gradient of this order is defined for the call of '{part.graph.name}': it needs values of the "
                f"operation '{op.name}' (op type: {op.type}) that the call has not kept, and that operation cannot run "
                f"again.\n  Asked for at {user_source(2)}\n"
                "  Fix: put as many tapes into each other as there are orders, and ask each of them once"
            )
    used = {id(t): t for op in ops for t in op.inputs if id(t) in known}
    handles = {id(t): t for t in part.inputs if t.dtype is dtypes.resource}
    return part._with(wanted, list({**handles, **used}.values()), ())
