"""Tiers: how many runs of a plan are NumPy's before XLA takes over, while its programs are compiled beside them.

Many graphs run once or a few times, and NumPy finishes them before XLA would even have been imported. So the runs of a
plan use NumPy until they have taken, by an estimate, what compiling takes, or have lost a share of it to what XLA would
have been quicker at; from the second one on a process compiles (`compiler_process`). With one core, which such a
process would take from the program, it begins when the runs have lost so much. Sizes that only feeds know are counted
separately: a last, smaller batch stays with NumPy until it has been worth a program of its own. The change depends on
the plan, the shapes of feeds, the iterations of loops and the number of cores, never on a clock or on cache contents:
the same program gives the same bits each time. If the compiler is late, the run that changes waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.executor.backend import cache
from graphgrad.executor.backend.xla import shape_of
from graphgrad.executor.program.fingerprint import form_of
from graphgrad.executor.program.plan_types import Cluster, Plan
from graphgrad.ir.shape import is_fully_defined
from graphgrad.system import freed_memory
from graphgrad.system.cores import CORES

from . import ahead, compiler_process, numpy_run
from .numpy_run import Budget
from .outlines import Outlines
from .run import Run

# Whether another core compiles meanwhile. With one, the program waits, and compiling begins as late as possible.
_BESIDE = CORES > 1
# Shares of what compiling takes:
_FIRST = 0.5  # the most that the first runs may take, one after the other;
_WORTH = 0.01  # what they have taken when compiling begins beside them;
_ALL = 1.0 if _BESIDE else 3.0  # the most that all may take,
_LOST = 0.25 if _BESIDE else 0.5  # and of that what XLA would have saved
_EARLY = 3  # the number of first runs
_BOUND = 4096  # the sizes that are remembered, as many as programs


class _Size:
    """The runs of a plan with feeds of the same shapes."""

    def __init__(self, unknown: int, taking: float):
        self.unknown = unknown
        self.taking = taking
        self.over = False
        self.share = 0.0  # not known yet
        self.runs = 0
        self.spent = 0.0
        self.outlines: Outlines | None = None  # of an earlier run
        self.asked = False
        self.job: compiler_process.Job | None = None


class _Allowed(Budget):
    def __init__(self, size: _Size, allowed: float):
        super().__init__(allowed, size.unknown, size.taking, beside=size.runs > 0)
        self.size = size


class Tiers:
    """Whether NumPy runs a plan, run by run.

    Args:
      plan: the plan.
      once: whether XLA takes over after the first run.

    Attributes:
      over: whether XLA does all further runs, whatever their sizes.
      least: what a run takes at least in NumPy, in seconds.
    """

    def __init__(self, plan: Plan, once: bool):
        self._plan = plan
        self._once = once
        self.least = 0.0
        plan.stays = not once and numpy_run.is_light(plan)
        self.over = ahead.on and not plan.stays
        self._has_loops = numpy_run.has_loops(plan)
        self._compiling = numpy_run.compiling(plan.steps)
        self._recurs = False
        self._varying = [s for s in plan.feeds if not is_fully_defined(plan.static[s]._spec.shape)]
        self._varying += [s for s, cell in plan.loads if not is_fully_defined(cell.shape)]
        self._sizes: dict[Any, _Size] = {}

    def goes_on(self, before: Tiers) -> None:
        """Takes over from the tiers of a plan for the same fetches, of which XLA does some sizes."""
        self.over = before.over
        for shapes, size in before._sizes.items():
            if size.over:
                self._sizes[shapes] = _Size(size.unknown, size.taking)
                self._sizes[shapes].over = True

    def allow(self, slots: Sequence[Any]) -> Budget | None:
        """Returns what NumPy may spend on the next run; None if it is XLA's, as are all that follow with these sizes.

        Args:
          slots: the values of feeds and variables.
        """
        if self.over:
            return None
        size = self._size(slots)
        if size.over:
            return None
        if size.spent and not self._recurs:
            self._recurs = True
            clusters = {form_of(c).text: c for c in self._plan.steps if isinstance(c, Cluster)}
            self._compiling = numpy_run.compiling(clusters.values())
        allowed = self._compiling * (_FIRST if size.runs < _EARLY else self._share(size)) - size.spent
        if size.taking > allowed or (self._has_loops and not numpy_run.may_be_abandoned(self._plan)):
            if size.outlines is not None and not _BESIDE:
                size.job = compiler_process.request(self._plan, size.outlines)
            self._end(size)
            if size.job is not None:
                cache.awaited.append(size.job.wait)
            return None
        if _BESIDE and size.outlines is not None and not size.asked and size.spent >= self._compiling * _WORTH:
            size.asked = True
            size.job = compiler_process.request(self._plan, size.outlines)
        return _Allowed(size, allowed)

    def _share(self, size: _Size) -> float:
        """Returns what all runs of a size may take in NumPy, as a share of compiling."""
        if not size.share:
            most = min(_ALL, _FIRST) if self._has_loops else _ALL  # a long loop is begun anew
            size.share = min(most, _LOST / numpy_run.lead(self._plan, size.unknown))
        return size.share

    def _size(self, slots: Sequence[Any]) -> _Size:
        shapes = tuple([shape_of(slots[s]) for s in self._varying])
        size = self._sizes.get(shapes)
        if size is None:
            unknown = numpy_run.unknown_size(self._plan, slots)
            while len(self._sizes) >= _BOUND:
                self._sizes.pop(next(iter(self._sizes)))
            size = self._sizes[shapes] = _Size(unknown, max(numpy_run.estimate(self._plan, unknown), self.least))
        return size

    def _end(self, size: _Size) -> None:
        size.over = True
        size.outlines = None
        if not self._varying:
            self.over = True

    def run(self, run: Run, budget: Budget) -> bool:
        """Lets NumPy compute a run, and store, within what is allowed; returns whether it did.

        Args:
          run: the run.
          budget: of `allow`.
        """
        assert isinstance(budget, _Allowed)
        size = budget.size
        counts = not self._plan.stays and (budget.once >= numpy_run.SMALL or self._has_loops)
        if counts:
            freed_memory.keep()
        outlines = Outlines(self._plan) if counts and size.outlines is None and not self._once else None
        done = run.try_in_numpy(budget, outlines)
        if counts:
            size.runs += 1
            size.spent += budget.spent
            size.outlines = size.outlines or outlines
        if not done:
            self._end(size)
        self.over = self.over or self._once
        return done
