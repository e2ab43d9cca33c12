"""Executes requests of fetches and feeds: an executable plans once and runs often."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from graphgrad.executor.backend import forks, memory_errors, xla
from graphgrad.executor.plan.announced import Planning
from graphgrad.executor.plan.placement import Placement
from graphgrad.executor.plan.planner import make_plan
from graphgrad.executor.program.interpreter import MustBeKnown
from graphgrad.executor.program.plan_types import Plan
from graphgrad.ir import dtypes
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.values.variable_store import Cell
from graphgrad.system.garbage_collector import collector_paused

from . import ahead, nonfinite, numpy_run, recording
from .host_steps import Done
from .random_positions import RandomPositions
from .run import Run
from .run_report import RunReport
from .tiers import Tiers
from .variable_locks import Presence, Stale, Turn, forget, give, reader

# GRAPHGRAD_FIRST_RUN is "xla", "numpy" for the first run of a plan alone, or not set.
first_in_numpy = os.environ.get("GRAPHGRAD_FIRST_RUN") != "xla"  # else first runs use XLA, too
tiered = not os.environ.get("GRAPHGRAD_FIRST_RUN")  # whether runs stay in NumPy while programs are compiled


def run_first_in_numpy(on: bool) -> None:
    """Decides whether first runs use NumPy while XLA compiles, as far as they may."""
    global first_in_numpy
    first_in_numpy = on

def is_tiered() -> bool:
    """Returns whether runs stay in NumPy for some time, and then change to XLA."""
    return first_in_numpy and tiered and not _steady


_steady: list[None] = []  # one entry for each active `one_engine` block


@contextlib.contextmanager
def one_engine() -> Iterator[None]:
    """Uses the same engine for first and later runs in a `with` block, for comparing numbers to the last bit.

    A plan that runs there for the first time is computed by NumPy from then on if that is quick, by XLA otherwise. This
    applies to all threads.
    """
    _steady.append(None)
    try:
        yield
    finally:
        _steady.pop()


class Executable:
    """Computes some fetches of a graph from some feeds, repeatedly.

    Args:
      fetches: the tensors to fetch.
      targets: further operations to run.
      feeds: the tensors that are fed.
      resolve: returns the variable behind a handle.
      positions: where random operations continue; kept by the session.
      engine: "xla" in clusters, "whole" for as few programs as possible, or "numpy" to execute everything in NumPy.
      place: assigns operations to devices.
    """

    def __init__(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
                 resolve: Callable[[Tensor], Cell], positions: RandomPositions, engine: str = "xla",
                 place: Placement | None = None):
        self._request = fetches, targets, feeds, resolve
        wanted = [*(t.op for t in fetches), *targets]
        self._graph = wanted[0].graph if wanted else None
        self._place = place
        self.positions = positions
        self._engine = engine
        self.wide: Any = None  # the same run with all tensors kept, see `nonfinite`
        self.before: Callable[[], None] | None = None  # called before each run
        self._must_know: frozenset[tuple[int, int]] = frozenset()
        self._lock = threading.RLock()
        self._prepare()

    def _prepare(self) -> None:
        self._rebuilt = self._graph._rebuilt if self._graph is not None else 0
        with collector_paused(), Planning(self._graph.version if self._graph is not None else 0):
            plan = make_plan(*self._request, self._must_know, self._engine == "whole", self._place,
                             self._engine != "numpy")
        plan.on_host = plan.on_host or self._engine == "numpy"
        if self._engine == "xla" and plan.waits == 1 and first_in_numpy and plan.mesh is None:
            plan.on_host = plan.on_host or numpy_run.is_small(plan)
        plan.template = [None] * plan.slots
        for slot, value in plan.constants:
            plan.template[slot] = value
        self.plan = plan
        tiers = self._engine == "xla" and first_in_numpy and plan.mesh is None
        self._tiers = Tiers(plan, not (tiered and xla.only_cpu())) if tiers else None
        # Whether it sees buffers of variables, which other runs may update in place.
        self._shares = any(cell.dtype is not dtypes.variant for _, cell in plan.loads)

    def __call__(self, feeds: Sequence[Any], drawn: dict[Operation, int] | None = None) -> list[Any]:
        """Runs the plan.

        Args:
          feeds: an array for each fed tensor.
          drawn: as for `run`.
        Returns: the values of the fetches: NumPy arrays, or buffers of the device.
        """
        if (swift := self.swift) is not None and (values := swift.arrays(feeds)) is not None:
            return cast(list[Any], values)
        return nonfinite.run(self, feeds) if nonfinite.state.mode else self.run(feeds, drawn=drawn)

    @property
    def swift(self) -> Any:
        """What does the next run by one function, a `Swift`; None if it takes more than that."""
        swift = self.plan.swift
        if swift is None or nonfinite.state.mode or forks.is_fork or ahead.on or recording.on or self.before:
            return None
        if self._tiers is not None and self._tiers.over and not (self.plan.on_host or self.plan.stays):
            return None
        return swift if self._graph is None or self._graph._rebuilt == self._rebuilt else None

    def takes(self, seconds: float) -> None:
        """Sets what a run takes at least in NumPy, where that is known better than by an estimate.

        Args:
          seconds: the time.
        """
        if self._tiers is not None:
            self._tiers.least = seconds

    def run(self, feeds: Sequence[Any], report: RunReport | None = None, store: bool = True,
            drawn: dict[Operation, int] | None = None) -> list[Any]:
        """Runs the plan without checking for infinities and NaNs.

        Args:
          feeds: an array for each fed tensor.
          report: notified of every step.
          store: whether variables get their new values.
          drawn: where random operations begin; missing entries are added.
        Returns: the values of the fetches: NumPy arrays, or buffers of the device.
        """
        if ahead.on or recording.on or self.before is not None:
            report = self._announce(report)
        done: Done = {}
        drawn = {} if drawn is None else drawn
        reserved: dict[Operation, int] = {}
        again = False
        if self._graph is not None and self._graph._rebuilt != self._rebuilt:
            with self._lock:
                self._prepare()
        if forks.is_fork:
            forks.settle(self.plan.waits)
        while True:
            plan = self.plan
            turn = Turn(plan) if plan.locks and store else reader
            try:
                if again or plan.last_act is None:
                    turn.take()
                return self._run(plan, feeds, report, store, done, drawn, reserved, turn)
            except MustBeKnown as need:
                with self._lock:
                    wanted = self._must_know | {(need.op.index, need.index)}
                    if wanted != self._must_know:
                        self._must_know = wanted
                        before = self._tiers
                        self._prepare()
                        if self._tiers is not None and before is not None:
                            self._tiers.goes_on(before)
                    elif self.plan is plan:
                        raise AssertionError(
                            f"the value of input {need.index} of {need.op.name} cannot be known"
                        ) from None
            except Stale:
                forget(plan, done)
                again = True
            except BaseException:
                self.positions.give_back(drawn, reserved)
                raise
            finally:
                give(turn.locks)

    def _announce(self, report: RunReport | None) -> RunReport | None:
        """Tells those that want to know that a run begins; returns its report."""
        if self.before is not None:
            self.before()
        if ahead.on:
            ahead.count()
        return recording.begin() if recording.on and report is None else report

    def _run(self, plan: Plan, feeds: Sequence[Any], report: RunReport | None, store: bool, done: Done,
             drawn: dict[Operation, int], reserved: dict[Operation, int], turn: Turn) -> list[Any]:
        run = Run(plan, self._lock, report, store, done, turn)
        here = Presence() if self._shares else None  # keeps it alive until this returns
        try:
            run.read(feeds)
            if plan.random_ops:
                run.table = self.positions.start(plan, drawn, reserved, store)
            tiers = self._tiers
            in_numpy = plan.on_host or forks.is_fork or (tiers is not None and not tiers.over)
            if not in_numpy or not self._run_in_numpy(plan, run, report):
                run.compute()
            values = run.results()
            if plan.random_ops:
                self.positions.finish(plan, run.table, drawn, reserved)
            return values
        except Exception as e:
            if (found := memory_errors.explained(e, plan.steps, run.slots)) is e:
                raise
            raise found from None
        finally:
            del here  # an error that is kept keeps this frame alive

    def _run_in_numpy(self, plan: Plan, run: Run, report: RunReport | None) -> bool:
        """Runs the plan in NumPy if that was requested or is quicker by now; else returns False."""
        if plan.on_host or forks.is_fork:
            run.compute_in_numpy()
            return True
        tiers = self._tiers
        assert tiers is not None
        if report is not None or plan.waits > 1:
            tiers.over = True
            return False
        if _steady:
            plan.on_host = numpy_run.is_quick(plan, run.slots)
            if plan.on_host:
                run.compute_in_numpy()
            tiers.over = not plan.on_host
            return plan.on_host
        budget = tiers.allow(run.slots)
        return budget is not None and tiers.run(run, budget)

