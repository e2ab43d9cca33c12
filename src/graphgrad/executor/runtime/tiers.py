"""Tiers: how many runs of a plan are NumPy's before XLA takes over, while its programs are compiled beside them.

Many graphs run once or a few times, and NumPy finishes them before XLA would even have been imported. So the runs of a
plan use NumPy until they have taken, by an estimate, a share of what compiling takes; from the second one on a process
compiles (`compiler_process`). The change depends on the plan, the shapes of feeds and the iterations of loops, never on
a clock or on cache contents: the same program gives the same bits each time. If the compiler is late, the run that
changes waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.executor.backend import cache
from graphgrad.executor.program.fingerprint import form_of
from graphgrad.executor.program.plan_types import Cluster, Plan

from . import ahead, compiler_process, numpy_run
from .numpy_run import Budget
from .outlines import Outlines
from .run import Run

# Shares of what compiling takes:
_FIRST = 0.5  # the most that the first run may take,
_ALL = 0.25  # and later ones, with those before;
_WORTH = 0.01  # what they have taken when compiling begins


class Tiers:
    """Whether NumPy runs a plan, run by run.

    Args:
      plan: the plan.
      once: whether XLA takes over after the first run.

    Attributes:
      over: whether XLA has taken over.
    """

    def __init__(self, plan: Plan, once: bool):
        self._plan = plan
        self._once = once
        plan.stays = not once and numpy_run.is_light(plan)
        self.over = ahead.on and not plan.stays
        self._has_loops = numpy_run.has_loops(plan)
        self._compiling = numpy_run.compiling(plan.steps)
        self._estimates: dict[int, float] = {}
        self._spent = 0.0
        self._recurs = False
        self._outlines: Outlines | None = None  # of an earlier run
        self._asked = False
        self._job: compiler_process.Job | None = None

    def allow(self, slots: Sequence[Any]) -> Budget | None:
        """Returns what NumPy may spend on the next run; None if it is XLA's, as are all that follow.

        Args:
          slots: the values of feeds and variables.
        """
        if self.over:
            return None
        unknown = numpy_run.unknown_size(self._plan, slots)
        taking = self._estimates.get(unknown)
        if taking is None:
            taking = self._estimates[unknown] = numpy_run.estimate(self._plan, unknown)
        if self._spent and not self._recurs:
            self._recurs = True
            clusters = {form_of(c).text: c for c in self._plan.steps if isinstance(c, Cluster)}
            self._compiling = numpy_run.compiling(clusters.values())
        allowed = self._compiling * (_ALL if self._recurs else _FIRST) - self._spent
        if taking > allowed or (self._has_loops and not numpy_run.may_be_abandoned(self._plan)):
            self.over = True
            if self._job is not None:
                cache.awaited.append(self._job.wait)
            return None
        if self._outlines is not None and not self._asked and self._spent >= self._compiling * _WORTH:
            self._asked = True
            self._job = compiler_process.request(self._plan, self._outlines)
        return Budget(allowed, unknown, taking)

    def run(self, run: Run, budget: Budget) -> bool:
        """Lets NumPy compute a run, and store, within what is allowed; returns whether it did.

        Args:
          run: the run.
          budget: of `allow`.
        """
        counts = not self._plan.stays and (budget.once >= numpy_run.SMALL or self._has_loops)
        outlines = Outlines(self._plan) if counts and self._outlines is None and not self._once else None
        done = run.try_in_numpy(budget, outlines)
        if counts:
            self._spent += budget.spent
            self._outlines = self._outlines or outlines
        self.over = self._once or not done
        return done
