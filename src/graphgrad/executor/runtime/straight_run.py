"""Runs in NumPy by one function: what a plan gets once it has run a few times, see `straight_line`."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.executor.backend.xla import to_numpy
from graphgrad.executor.program.plan_types import HostStep, Move, Plan
from graphgrad.executor.program.straight_line import StraightLine, straighten
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.shape import is_fully_defined
from graphgrad.system.quiet_numpy import quietly

from .variable_locks import give, is_owned, release, set_all, setter_of

BEFORE = 3  # runs of a plan that are not worth the time to write the function


def line_of(plan: Plan) -> StraightLine | None:
    """Returns a plan as one function; None in its first runs in NumPy, and if it has host steps or the like."""
    found = plan.straight
    if type(found) is int:
        if found < BEFORE:
            plan.straight = found + 1
            return None
        plan.straight = found = _straightened(plan)
    line: StraightLine | None = found
    return line


def _straightened(plan: Plan) -> StraightLine | None:
    if any(isinstance(step, Move) or (isinstance(step, HostStep) and step.calls) for step in plan.steps):
        return None
    program = list({id(i): i for step in plan.steps for i in (*step.before, *step.program)}.values())
    loaded = dict(plan.loads)
    specs: dict[int, Any] = {}
    sources = [*plan.feeds, *loaded]
    if len(set(sources)) < len(sources):
        return None
    for slot in sources:
        t = plan.static.get(slot)
        specs[slot] = t._spec if t is not None else Spec.of(loaded[slot].dtype, loaded[slot].shape)
    if any(spec.dtype.kind == "o" for spec in specs.values()):
        return None
    kept = dict.fromkeys((*plan.fetches, *(s for s, _ in plan.stores)))
    return straighten(program, specs, dict(plan.constants), kept)


def run(line: StraightLine, slots: list[Any]) -> bool:
    """Runs a plan by its function.

    Args:
      line: the function.
      slots: one value for each slot; see `numpy_run.run`.
    Returns: False if it failed, and the run has to be repeated instruction by instruction.
    """
    values = [to_numpy(slots[s]) for s in line.sources]
    try:
        results = quietly(line.function, values)
    except Exception:  # whatever it is: the repetition words it
        return False
    for slot, value in zip(line.kept, owned(line, results, values), strict=True):
        slots[slot] = value
    return True


def owned(line: StraightLine, results: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Returns the results as arrays that share no memory with anything else.

    Args:
      line: the function.
      results: its results.
      values: its arguments.
    """
    outside = {id(v) for v in values}
    return [v if fresh and type(v) is np.ndarray else np.asarray(v) if isinstance(v, np.generic) else
            v.copy() if v.base is not None or id(v) in outside or id(v) in line.constants else v
            for v, fresh in zip(results, line.fresh, strict=True)]


class Swift:
    """Runs of a plan that NumPy always does, by one function: with no object for the run, no slots, no steps.

    Args:
      plan: the plan.
      line: its function.
      most: the largest size that NumPy does runs of, for dimensions that only feeds know.
    """

    def __init__(self, plan: Plan, line: StraightLine, most: float):
        self._line = line
        self._function = line.function
        self._most = most
        self._varying = [i for i, s in enumerate(plan.feeds) if not is_fully_defined(plan.static[s]._spec.shape)]
        self._cells = [cell for _, cell in plan.loads]
        self._locks = plan.locks
        at = {s: i for i, s in enumerate(line.kept)}
        self._fetches = [at[s] for s in plan.fetches]
        self._stores = [at[s] for s, _ in plan.stores]
        self._setters: list[Callable[[Any], None]] = [setter_of(cell) for _, cell in plan.stores]
        times = collections.Counter(self._stores)
        self._copied = [times[i] > 1 or not line.fresh[i] for i in self._stores]
        # For each fetched value whether the caller gets a copy: of what is held elsewhere, too.
        self._gifts = [(i, not line.fresh[i] or i in times) for i in self._fetches]
        self._all_own = all(line.fresh)

    def arrays(self, feeds: Sequence[Any]) -> list[Any] | None:
        """Runs the plan.

        Args:
          feeds: an array for each fed tensor.
        Returns: an array for each fetch; None if the run has to be done in another way, which may raise an error.
        """
        values = [*feeds]
        results = self._run(values)
        if results is None:
            return None
        if self._all_own:
            return [v if type(v := results[i]) is np.ndarray else np.asarray(v) for i in self._fetches]
        arrays = owned(self._line, results, values)
        return [arrays[i] for i in self._fetches]

    def gifts(self, feeds: Sequence[Any]) -> list[Any] | None:
        """Runs the plan for a caller who may write into the results.

        Args:
          feeds: an array for each fed tensor.
        Returns: an array for each fetch, or a scalar of NumPy's; None as `arrays`.
        """
        results = self._run([*feeds])
        if results is None:
            return None
        return [v if isinstance(v := results[i], np.generic) else v[()] if not v.ndim else v.copy() if copied else v
                for i, copied in self._gifts]

    def _run(self, values: list[Any]) -> Sequence[Any] | None:
        """Runs the plan, and gives the variables their new values.

        Args:
          values: the feeds; the values of variables are added.
        Returns: what the function returned; None as `arrays`.
        """
        for i in self._varying:
            if max(values[i].shape, default=0) > self._most:
                return None
        if self._locks:
            return self._change(values)
        for cell in self._cells:
            value = cell.held
            if type(value) is not np.ndarray:  # it has none, or XLA holds it
                return None
            values.append(value)
        try:
            results: Sequence[Any] = quietly(self._function, values)
            return results
        except Exception:  # whatever it is: the repetition words it
            return None

    def _change(self, values: list[Any]) -> Sequence[Any] | None:
        try:
            for lock in self._locks:
                if not lock.acquire(False):
                    return None
            for cell in self._cells:
                value = cell.held
                if type(value) is not np.ndarray:
                    return None
                values.append(value)
            results: Sequence[Any] = quietly(self._function, values)
            new = [np.array(v) if type(v := results[i]) is not np.ndarray or copied else v
                   for i, copied in zip(self._stores, self._copied, strict=True)]
            set_all(self._setters, new)
            return results
        except Exception:  # whatever it is: the repetition words it
            return None
        finally:
            give(map(release, filter(is_owned, self._locks)))
