"""Outlines of the values of a run: shapes and dtypes, which is what clusters are compiled for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.executor.backend import xla
from graphgrad.executor.program.fingerprint import token
from graphgrad.executor.program.plan_types import Cluster, HostStep, Plan, Provenance
from graphgrad.ir.shape import num_elements
from graphgrad.ir.values import tensor_list


class Outline(NamedTuple):
    """Shape and dtype of a value."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Outlines:
    """What the programs of a plan are compiled for, noted while NumPy runs it.

    Args:
      plan: the plan.

    Attributes:
      values: slot -> the outline of the value there; where the value is compiled in, the value.
    """

    def __init__(self, plan: Plan):
        self._static = plan.static
        self.values: dict[int, Any] = {}
        clusters = [step for step in plan.steps if isinstance(step, Cluster)]
        self._whole = {s for c in clusters for s, source in c.known.items() if source is not Provenance.FOLDED}
        self._wanted = {s for c in clusters for s in (*c.ins, *c.shapes)} | self._whole

    def start(self, slots: Sequence[Any], plan: Plan) -> None:
        """Notes feeds, constants and variables."""
        for slot in self._wanted:
            if slots[slot] is not None:
                self._note(slot, slots[slot])

    def host(self, step: Cluster | HostStep, slots: Sequence[Any]) -> None:
        """Notes the results of a step."""
        for slot in self._wanted.intersection(step.outs):
            if isinstance(step, Cluster) and slot in step.packed:
                parts = [self._static[s] for s in step.packed[slot]]
                size = sum(num_elements(t._spec.shape) or 0 for t in parts)
                self.values[slot] = Outline((size,), parts[0].dtype.np_dtype)
            else:
                self._note(slot, slots[slot])

    def described(self, slot: int) -> Any:
        """Returns what stands for a slot in a key: equal for what programs are compiled for alike."""
        return _described(self.values.get(slot))

    def _note(self, slot: int, value: Any) -> None:
        self.values[slot] = np.array(xla.to_numpy(value)) if slot in self._whole else _outline(value)


def _outline(value: Any) -> Any:
    if isinstance(value, tensor_list.TensorList):
        parts, kind = tensor_list.flatten(value)
        return tensor_list.unflatten(kind, [_outline(p) for p in parts])
    spec = xla.spec_of(value)
    if not isinstance(spec, xla.ArraySpec):
        return None
    # Programs get a number in the place of an object of Python's.
    return Outline((), np.dtype(np.int32)) if spec.dtype == object else Outline(spec.shape, spec.dtype)


def _described(value: Any) -> Any:
    if isinstance(value, tensor_list.TensorList):
        parts, kind = value.items or [value.buffer], (value.items is None, value.np_dtype, value.declared)
        return repr(kind), [_described(p) for p in parts]
    return (value.shape, value.dtype.str) if isinstance(value, Outline) else token(value)


def blank(outline: Any) -> Any:
    """Returns a value of an outline that takes no memory; what is not an outline unchanged."""
    if isinstance(outline, tensor_list.TensorList):
        parts, kind = outline.items or [outline.buffer], (outline.items is None, outline.np_dtype, outline.declared)
        return tensor_list.unflatten(kind, [blank(p) for p in parts])
    return np.broadcast_to(np.zeros((), outline.dtype), outline.shape) if isinstance(outline, Outline) else outline
