"""Executes a plan step by step, on slots; variables change only if all steps succeed."""

from __future__ import annotations

import collections
import contextlib
import functools
import operator
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError, ResourceExhaustedError, describe
from graphgrad.executor.backend import forks, memory_errors, xla
from graphgrad.executor.backend.xla import Program
from graphgrad.executor.plan import value_checks
from graphgrad.executor.plan.placement import Placement
from graphgrad.executor.plan.plan_types import Cluster, HostStep, Plan
from graphgrad.executor.plan.planner import make_plan
from graphgrad.executor.plan.stages import Stage, make_stages
from graphgrad.executor.program.interpreter import MustBeKnown, OverBudget, uninitialized
from graphgrad.executor.program.interrupts import Stop, begin, finish
from graphgrad.ir import blocking, dtypes
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.shape import compatible, shape_str
from graphgrad.ir.variable_store import Cell
from graphgrad.system.garbage_collector import collector_paused

from . import nonfinite, numpy_run
from .host_steps import Done, Waiting, run_host_step
from .run_report import RunReport
from .variable_locks import Presence, Stale, Turn, forget, give, pinned, reader, under_way

first_in_numpy = os.environ.get("GRAPHGRAD_FIRST_RUN", "numpy") != "xla"  # else first runs use XLA, too


_drawing = threading.Lock()  # held while draws are counted: no two runs draw the same numbers
_steady: list[None] = []  # one entry for each active `one_engine` block


@contextlib.contextmanager
def one_engine() -> Iterator[None]:
    """A `with` block for comparing numbers to the last bit: first and later runs use the same engine.

    A plan that runs there for the first time is computed by NumPy from then on if that is quick, by XLA otherwise. This
    applies to all threads.
    """
    _steady.append(None)
    try:
        yield
    finally:
        _steady.pop()


def _wait(device: xla.Device, plan: Plan, slots: Sequence[Any]) -> None:
    """Waits for values to fetch and store that are being computed; raises their errors."""
    if begun := [v for s in plan.ends if type(v := slots[s]) is device.buffer]:
        device.wait(begun)


def _setter(cell: Cell) -> Callable[[Any], Any]:
    return functools.partial(setattr, cell, "held")


def _set_all(setters: Sequence[Callable[[Any], Any]], values: Sequence[Any]) -> None:
    # In one call of C code, so that an interrupt comes before or after.
    collections.deque(map(operator.call, setters, values), maxlen=0)


class Executable:
    """Computes some fetches of a graph from some feeds, repeatedly.

    Args:
      fetches: the tensors whose values are wanted.
      targets: further operations to run.
      feeds: the tensors that are fed.
      resolve: returns the variable behind a handle.
      counters: how often each random operation has run; kept by the session.
      engine: "xla" in clusters, "whole" for as few programs as possible, or "numpy" to execute everything in NumPy.
      place: assigns operations to devices.
    """

    def __init__(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
                 resolve: Callable[[Tensor], Cell], counters: dict[Operation, int], engine: str = "xla",
                 place: Placement | None = None):
        self._request = fetches, targets, feeds, resolve
        wanted = [*(t.op for t in fetches), *targets]
        self._graph = wanted[0].graph if wanted else None
        self._place = place
        self._counters = counters
        self._engine = engine
        self.wide: Any = None  # the same run with all tensors kept, see `nonfinite`
        self._must_know: frozenset[tuple[int, int]] = frozenset()
        self._lock = threading.RLock()
        self._prepare()

    def _prepare(self) -> None:
        self._rebuilt = self._graph._rebuilt if self._graph is not None else 0
        with collector_paused():
            plan = make_plan(*self._request, self._must_know, self._engine == "whole", self._place)
        plan.on_host = plan.on_host or self._engine == "numpy"
        if self._engine == "xla" and plan.waits == 1 and first_in_numpy:
            plan.on_host = plan.on_host or numpy_run.is_small(plan)
        plan.template = [None] * plan.slots
        for slot, value in plan.constants:
            plan.template[slot] = value
        self.plan = plan
        self._is_first = self._engine == "xla" and first_in_numpy
        # Whether it sees buffers of variables, which other runs may update in place.
        self._shares = any(cell.dtype is not dtypes.variant for _, cell in plan.loads)

    def __call__(self, feeds: Sequence[Any], drawn: dict[Operation, int] | None = None) -> list[Any]:
        """Runs the plan.

        Args:
          feeds: an array for each fed tensor.
          drawn: as of `run`.
        Returns: the values of the fetches: NumPy arrays, or buffers of the device.
        """
        return nonfinite.run(self, feeds) if nonfinite.state.mode else self.run(feeds, drawn=drawn)

    def run(self, feeds: Sequence[Any], report: RunReport | None = None, store: bool = True,
            drawn: dict[Operation, int] | None = None) -> list[Any]:
        """Runs the plan without checking for infinities and NaNs.

        Args:
          feeds: an array for each fed tensor.
          report: notified of every step.
          store: whether variables get their new values.
          drawn: how often random operations have run before; missing entries are added.
        Returns: the values of the fetches: NumPy arrays, or buffers of the device.
        """
        done: Done = {}
        drawn = {} if drawn is None else drawn
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
                return self._run(plan, feeds, report, store, done, drawn, turn)
            except MustBeKnown as need:
                with self._lock:
                    wanted = self._must_know | {(need.op.index, need.index)}
                    if wanted != self._must_know:
                        self._must_know = wanted
                        self._prepare()
                    elif self.plan is plan:
                        raise AssertionError(
                            f"the value of input {need.index} of {need.op.name} cannot be known"
                        ) from None
            except Stale:
                forget(plan, done)
                again = True
            except BaseException:
                self._give_back(drawn)
                raise
            finally:
                give(turn.locks)

    def _run(self, plan: Plan, feeds: Sequence[Any], report: RunReport | None, store: bool, done: Done,
             drawn: dict[Operation, int], turn: Turn) -> list[Any]:
        slots = plan.template.copy()
        for slot, value in zip(plan.feeds, feeds, strict=True):
            slots[slot] = value
        here = Presence() if self._shares else None  # keeps it alive until this returns
        try:
            for slot, cell in plan.loads:
                value = slots[slot] = cell.held
                if value is None and slot in plan.readers:
                    raise uninitialized(plan.readers[slot], cell)
            table = self._random_states(plan, drawn, store) if plan.random_ops else None
            if not self._run_in_numpy(plan, slots, table, report, store, done, turn):
                stop, listens = begin() if plan.has_loops else (None, False)
                try:
                    self._run_steps(plan, slots, table, report, store, done, turn, stop)
                finally:
                    finish(listens)
            self._is_first = False
            values = [slots[s] for s in plan.fetches]
            for i in plan.exposed:  # before another run overwrites them
                values[i] = xla.view(values[i])
            return values
        except Exception as e:
            if (found := memory_errors.explained(e, plan.steps, slots)) is e:
                raise
            raise found from None
        finally:
            del here  # an error that is kept keeps this frame alive

    def _run_in_numpy(self, plan: Plan, slots: list[Any], table: Any, report: RunReport | None, store: bool,
                      done: Done, turn: Turn) -> bool:
        """Runs the plan in NumPy if that was requested or, the first time, is quicker; else returns False."""
        budget = None
        if not plan.on_host and not forks.is_fork:
            if not self._is_first or report is not None or plan.waits > 1:
                return False
            if _steady:
                plan.on_host = numpy_run.is_quick(plan, slots)
            else:
                budget = numpy_run.budget_for(plan, slots)
            if not plan.on_host and budget is None:
                return False
        given = slots
        if budget is not None:
            slots = slots.copy()
        pins: list[Any] = []
        for slot, cell in plan.loads:
            if not isinstance(slots[slot], np.ndarray):
                slots[slot] = pinned(xla.device(), slots[slot], cell, pins)
        if plan.last_act is not None:
            turn.saw(slots)
        try:
            numpy_run.run(plan, slots, table, report, budget, done=done, turn=turn)
        except OverBudget:
            return False
        except (ResourceExhaustedError, MemoryError):
            if budget is not None and not any(isinstance(step, HostStep) for step in plan.steps):
                return False  # compiled, it may need less
            raise
        if store:
            self._store(plan, slots)
        if slots is not given:
            given[:] = slots
        return True

    def _random_states(self, plan: Plan, drawn: dict[Operation, int], store: bool) -> Any:
        counters = self._counters
        with _drawing:
            for op in plan.random_ops:
                if op not in drawn:
                    drawn[op] = _runs_before(counters, op)
                    counters[op] += store
        return np.array([[drawn[op] % 2**64, *_seeds(op)] for op in plan.random_ops], np.uint64)

    def _give_back(self, drawn: dict[Operation, int]) -> None:
        """Undoes the counts of a failed run, unless others have counted since."""
        with _drawing:
            for op, count in drawn.items():
                if self._counters.get(op) == count + 1:
                    self._counters[op] = count

    def _store(self, plan: Plan, slots: list[Any]) -> None:
        """Gives the variables their new values."""
        for slot, cell, op in plan.checks:
            _check_assigned(slots[slot], cell, op)
        values = [np.array(xla.to_numpy(slots[s])) if s in plan.shared else slots[s] for s, _ in plan.stores]
        _set_all([_setter(cell) for _, cell in plan.stores], values)

    def _run_steps(self, plan: Plan, slots: list[Any], table: Any, report: RunReport | None, store: bool,
                   done: Done, turn: Turn, stop: Stop | None) -> None:
        device = xla.device()
        homes = plan.homes
        if not plan.ready:
            with self._lock:
                for slot, value in plan.constants:
                    if value.dtype != object:
                        plan.template[slot] = slots[slot] = xla.device(homes.get(slot)).put(value)
                plan.ready = True
        pins: list[Any] = []
        for slot, cell in plan.loads:
            value = slots[slot]
            if isinstance(value, np.ndarray) and value.dtype != object:
                # Moved to the device once, not at every run.
                moved = slots[slot] = xla.device(homes.get(slot)).put(value)
                cell.replace(value, moved)
            if len(under_way) > 1 or not store:
                slots[slot] = pinned(device, slots[slot], cell, pins)
        if plan.last_act is not None:
            turn.saw(slots)
        if report is not None:
            report.start(slots)
        if plan.stages is None:
            with self._lock:
                plan.stages = plan.stages or make_stages(plan)
        waiting = Waiting(plan.stages, slots, table, done) if plan.waits > 1 else None
        steps: Sequence[Cluster | HostStep] = []
        try:
            stores = store
            for stage in plan.stages:
                steps = [stage] if isinstance(stage, HostStep) else stage.clusters
                stores = self._run_stage(plan, stage, slots, table, report, stores, done, stop, waiting)
                if stage is plan.last_act:
                    turn.take()
            # Feeds are not copied: the caller may change them as soon as this returns, so nothing may still be
            # computing. Errors surface here, too, before variables change.
            if stores or not store:  # otherwise `_finish` has waited and stored
                _wait(device, plan, slots)
                if plan.stores and store:
                    self._store(plan, slots)
        except Exception as e:
            if (found := memory_errors.explained(e, steps, slots)) is e:
                raise
            raise found from None

    def _run_stage(self, plan: Plan, stage: Stage | HostStep, slots: list[Any], table: Any, report: RunReport | None,
                   store: bool, done: Done, stop: Stop | None, waiting: Waiting | None) -> bool:
        """Runs a stage; returns whether the new values of variables are still to be stored."""
        if isinstance(stage, HostStep):
            if waiting is not None and stage.waits:
                waiting.run(stage)
            else:
                run_host_step(stage, slots, table, done)
            if report is not None:
                report.host(stage, slots)
            return store
        device = stage.device
        for s in stage.ins:
            value = slots[s]
            if type(value) is not device.buffer:
                slots[s] = device.put(value) if type(value) is np.ndarray else device.move(value)
        bound = stage.bound.get(stage.signature(slots) if stage.varies else None)
        if bound is None:
            with self._lock, blocking.untimed():
                bound = stage.bind(device, slots)
        for program, ins, outs, frees, rows, donated, made_of in bound:
            cluster = made_of[0]
            refused = bool(cluster.guards) and value_checks.refuse(cluster, slots)
            if not refused:
                args = [slots[s] for s in ins]
                if rows is not None:
                    args.append(device.put(table[rows]))
                if (loop := cluster.loop) is not None and stop is not None:
                    args.append(stop.buffer(device))
                if store and donated:  # the last step
                    self._finish(plan, slots, program, args, outs, donated)
                    store = False
                else:
                    results = program(args) if stop is None or loop is None else stop.call(program, args, loop)
                    for s, value in zip(outs, results, strict=True):
                        slots[s] = value
                refused = cluster.fault is not None and bool(xla.to_numpy(slots[cluster.fault]))
            if refused:
                value_checks.repeat(cluster, slots, table)
                for s in outs:
                    slots[s] = device.move(slots[s])
            for s in frees:
                slots[s] = None
            if report is not None:
                device.wait([v for s in outs if type(v := slots[s]) is device.buffer])
                report.cluster(made_of, slots)
        return store

    def _finish(self, plan: Plan, slots: list[Any], program: Program, args: list[Any], outs: Sequence[int],
                donated: Sequence[int]) -> None:
        """Runs the last step, which takes variables' old buffers, and stores all new values atomically."""
        for slot, cell, op in plan.checks:
            if slot not in outs:
                _check_assigned(slots[slot], cell, op)
        setters, owned, rest = _ending(plan, outs)
        sinks = [functools.partial(operator.setitem, slots, s) if setter is None else setter
                 for s, setter in zip(outs, setters, strict=False)] + setters[len(outs) :]
        more = [np.array(xla.to_numpy(slots[s])) if s in plan.shared else slots[s] for s in rest]
        device = xla.device()
        if len(plan.steps) > 1:
            _wait(device, plan, slots)
        try:
            program.into(sinks, args, more, donated)
            for s, cell in owned:
                slots[s] = cell.held
            _wait(device, plan, slots)
        except Exception as e:
            if (found := memory_errors.explained(e, plan.steps[-1:], slots, plan.stores)) is e:
                raise
            raise found from None


def _ending(plan: Plan, outs: Sequence[int]) -> tuple[list[Any], list[tuple[int, Cell]], list[int]]:
    """Returns where the last step's results go, and what else is stored; computed once for a plan.

    Returns: setters for `outs`, None for values that stay in their slots, and then for the rest; those of `outs` that
    variables get; and the slots of the rest.
    """
    found = plan.endings.get(key := tuple(outs))
    if found is None:
        owner = {s: cell for s, cell in plan.stores if s not in plan.shared}
        rest = [(s, cell) for s, cell in plan.stores if s not in outs or s in plan.shared]
        setters = [_setter(owner[s]) if s in owner else None for s in outs] + [_setter(cell) for _, cell in rest]
        found = setters, [(s, owner[s]) for s in outs if s in owner], [s for s, _ in rest]
        plan.endings[key] = found
    return found


def _check_assigned(value: Any, cell: Cell, op: Operation) -> None:
    shape = xla.shape_of(value)
    if not compatible(shape, cell.shape):
        raise InvalidArgumentError(op.node_def, op, describe(
            op.type, op.name, f"cannot assign a value of shape {shape_str(shape)} to variable {cell.name} of shape "
            f"{shape_str(cell.shape)}", f"value={shape_str(shape)}", str(op.source or ""),
            "reshape the value, or make the variable with validate_shape=False"))


def _runs_before(counters: dict[Operation, int], op: Operation) -> int:
    """Returns how often a random operation has run in this session; unseeded ones start at a random count."""
    count = counters.get(op)
    if count is None:
        drawn = op._attr("seed") >= 2**32  # larger than any seed of a program
        count = counters[op] = int.from_bytes(os.urandom(4), "little") if drawn else 0
    return count


def _seeds(op: Operation) -> tuple[int, int]:
    attrs = op.opdef.attrs
    # Silenced: of two keys.
    return tuple(int(op._attr(k)) % 2**64 if k in attrs else 0 for k in ("seed", "seed2"))  # type: ignore[return-value]
