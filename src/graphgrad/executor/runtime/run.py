"""Executes a plan step by step, on slots; variables change only if all steps succeed."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError, ResourceExhaustedError, describe
from graphgrad.executor.backend import memory_errors, mesh, xla
from graphgrad.executor.backend.xla import Program
from graphgrad.executor.plan import meshes, value_checks
from graphgrad.executor.plan.announced import Compiling, Looping
from graphgrad.executor.plan.stages import Stage, make_stages
from graphgrad.executor.program.interpreter import OverBudget, uninitialized
from graphgrad.executor.program.interrupts import Stop, begin, finish
from graphgrad.executor.program.plan_types import Cluster, HostStep, Plan
from graphgrad.ir import blocking
from graphgrad.ir.graph import Operation
from graphgrad.ir.shape import compatible, shape_str
from graphgrad.ir.values import spare_arrays
from graphgrad.ir.values.variable_store import Cell

from . import numpy_run, side_by_side
from .host_steps import Done, Waiting, run_host_step
from .outlines import Outlines
from .run_report import RunReport
from .variable_locks import Turn, pinned, set_all, setter_of, under_way


class Run:
    """One run of a plan.

    It is fed and reads variables (`read`), computes and stores (`compute`, with XLA, or `compute_in_numpy`), and hands
    out what was fetched (`results`).

    Args:
      plan: the plan.
      lock: held while the plan gets ready for its first run.
      report: is told of every step.
      store: whether variables get their new values.
      done: what operations with effects have given in an earlier attempt; it is added to.
      turn: the run's turn to change variables.

    Attributes:
      slots: the values, one for each slot of the plan.
      table: the random states, or None.
    """

    table: Any = None  # a `RandomTable`
    _pins: list[Any] | tuple[()] = ()  # keep what variables hold from runs that would write over it
    _stop: Stop | None = None
    _waiting: Waiting | None = None
    _stored = False  # whether the last step has stored the new values
    _asides: side_by_side.Asides | None = None  # calls that another thread makes

    def __init__(self, plan: Plan, lock: Any, report: RunReport | None, store: bool, done: Done, turn: Turn):
        self._plan = plan
        self._lock = lock
        self._report = report
        self._store = store
        self._done = done
        self._turn = turn
        self.slots = plan.template.copy()

    # -- reading -----------------------------------------------------------------------

    def read(self, feeds: Sequence[Any]) -> None:
        """Collects the feeds, and the values of variables.

        Args:
          feeds: an array for each fed tensor.
        Raises: FailedPreconditionError for a variable that has no value.
        """
        plan, slots = self._plan, self.slots
        for slot, value in zip(plan.feeds, feeds, strict=True):
            slots[slot] = value
        for slot, cell in plan.loads:
            value = slots[slot] = cell.held
            if value is None and slot in plan.readers:
                raise uninitialized(plan.readers[slot], cell)

    # -- computing ---------------------------------------------------------------------

    def compute_in_numpy(self, budget: numpy_run.Budget | None = None, outlines: Outlines | None = None) -> None:
        """Lets NumPy compute, and stores.

        Args:
          budget: how long it may take.
          outlines: notes the values.
        Raises: OverBudget.
        """
        plan, slots = self._plan, self.slots
        pins: list[Any] = []
        for slot, cell in plan.loads:
            if not isinstance(slots[slot], np.ndarray):
                slots[slot] = pinned(xla.device(), slots[slot], cell, pins)
        if plan.last_act is not None:
            self._turn.saw(slots)
        numpy_run.run(plan, slots, self.table, outlines or self._report, budget, done=self._done, turn=self._turn)
        if self._store:
            self._store_all(separate=True)

    def try_in_numpy(self, budget: numpy_run.Budget, outlines: Outlines | None) -> bool:
        """Lets NumPy compute, and store, if that takes no more than the budget; returns whether it did.

        Args:
          budget, outlines: as for `compute_in_numpy`.
        """
        before = self.slots
        self.slots = before.copy()
        try:
            self.compute_in_numpy(budget, outlines)
            return True
        except OverBudget:
            pass  # XLA computes all of it
        except (ResourceExhaustedError, MemoryError):
            if any(isinstance(step, HostStep) for step in self._plan.steps):
                raise  # compiled, the others may need less
        self.slots = before
        return False

    def compute(self) -> None:
        """Computes with XLA what it can, and stores."""
        plan, slots = self._plan, self.slots
        if plan.mesh is not None:
            meshes.agree(plan, slots, self.table)
        if not plan.ready:
            self._put_constants()
        if plan.loads:
            self._place_variables()
        if plan.last_act is not None:
            self._turn.saw(slots)
        if self._report is not None:
            self._report.start(slots, plan)
        if plan.stages is None:
            with self._lock:
                plan.stages = plan.stages or make_stages(plan)
        if plan.waits > 1:
            self._waiting = Waiting(plan.stages, slots, self.table, self._done)
        steps: list[Cluster | HostStep] = []

        def call(stage: Stage | HostStep) -> None:
            steps[:] = [stage] if isinstance(stage, HostStep) else stage.clusters
            self._run_stage(stage)

        self._stop, listens = begin() if plan.has_loops else (None, False)
        try:
            if plan.lanes is None:
                for stage in plan.stages:
                    call(stage)
            else:
                side_by_side.run(plan.stages, plan.lanes, call)
            # Feeds are not copied: the caller may change them as soon as this returns, so nothing may still be
            # computing. Errors surface here, too, before variables change.
            if self._asides is not None:
                self._asides.finish()
            if not self._stored:  # otherwise `_finish` has waited
                _wait(xla.device(), plan, slots)
                if plan.stores and self._store:
                    self._store_all()
        except Exception as e:
            if (found := memory_errors.explained(e, steps, slots)) is e:
                raise
            raise found from None
        finally:
            if self._asides is not None:
                self._asides.abandon()
            finish(listens)

    def _put_constants(self) -> None:
        """Puts the plan's constants on their devices, for this run and all that follow."""
        plan = self._plan
        with self._lock:
            for slot, value in plan.constants:
                if value.dtype != object:
                    put = xla.device(plan.homes.get(slot)).put if plan.mesh is None else _placing(plan, slot)
                    plan.template[slot] = self.slots[slot] = put(value)
            plan.ready = True

    def _place_variables(self) -> None:
        """Puts what variables hold on their devices, and keeps it from runs that would write over it."""
        plan, slots = self._plan, self.slots
        if plan.mesh is not None:
            self._place_on_mesh()
            return
        device, store = xla.device(), self._store
        pins: list[Any] = []
        self._pins = pins
        for slot, cell in plan.loads:
            value = slots[slot]
            if isinstance(value, np.ndarray) and value.dtype != object:
                # Moved to the device once, not at every run.
                spare_arrays.forget(value)
                moved = slots[slot] = xla.device(plan.homes.get(slot)).put(value)
                cell.replace(value, moved)
            if len(under_way) > 1 or not store:
                slots[slot] = pinned(device, slots[slot], cell, pins)

    def _place_on_mesh(self) -> None:
        """Splits what variables hold over the devices of the mesh, once."""
        slots, device = self.slots, mesh.device(self._plan.mesh.device)
        self._pins = pins = []
        with mesh.turn:
            for slot, cell in self._plan.loads:
                value = cell.held
                made = slots[slot] = meshes.placed(self._plan, slot, value)
                if made is not value:
                    cell.replace(value, made)
                if (len(under_way) > 1 or not self._store) and type(made) is device.buffer:
                    pins.append(device.pin(made))

    def _run_stage(self, stage: Stage | HostStep) -> None:
        if self._report is not None:
            self._report.begins()
        if self._asides is not None:
            self._asides.finish(stage.ins if isinstance(stage, HostStep) else (*stage.outside, *stage.known))
        if isinstance(stage, HostStep):
            self._run_host_step(stage)
        else:
            self._run_clusters(stage)
        if stage is self._plan.last_act:
            self._turn.take()

    def _run_host_step(self, step: HostStep) -> None:
        if self._waiting is not None and step.waits:
            self._waiting.run(step)
        else:
            # What several devices read stays there until the end of the run.
            free = self._plan.lanes is None or not self._plan.lanes.shared.intersection(step.frees)
            run_host_step(step, self.slots, self.table, self._done, free)
        if self._report is not None:
            self._report.host(step, self.slots)

    def _run_clusters(self, stage: Stage) -> None:
        """Brings values to the stage's device, and calls the programs of its clusters."""
        slots = self.slots
        device = stage.device
        opaque = self._bring(stage)
        bound = stage.bound.get(stage.signature(slots) if stage.varies else None)
        if bound is None:
            with self._lock, blocking.untimed(), Compiling(stage.clusters) as pending:
                bound = stage.bind(device, slots, pending)
            if self._report is not None:
                self._report.begins()
        for program, ins, outs, frees, rows, donated, made_of in bound:
            cluster = made_of[0]
            if self._asides is not None:
                self._asides.finish(None if donated or cluster.guards else ins)
            refused = bool(cluster.guards) and value_checks.refuse(cluster, slots)
            if not refused:
                self._run_cluster(device, program, ins, outs, rows, donated, made_of)
                refused = cluster.fault is not None and bool(xla.to_numpy(slots[cluster.fault]))
            if refused:
                self._repeat_in_numpy(device, cluster, outs)
            for s in self._freed(frees):
                slots[s] = None
            if self._report is not None:
                self._report_cluster(device, outs, made_of)
        if opaque:
            self._put_back(opaque)

    def _run_cluster(self, device: xla.Device, program: Any, ins: Sequence[int], outs: Sequence[int], rows: Any,
                     donated: Sequence[int], made_of: Any) -> None:
        """Calls the program of a cluster, here or in another thread."""
        slots = self.slots
        cluster = made_of[0]
        args = [slots[s] for s in ins]
        if rows is not None:
            args.append(device.put(self.table.values[rows]))
            self.table.taken.update(zip(cluster.rows, made_of[1].taken, strict=True))
        if cluster.loop is not None and self._stop is not None:
            args.append(self._stop.buffer(device))
        # The last step; not if a result of it goes to several variables, for which it has to be copied.
        if donated and self._store and self._plan.shared.isdisjoint(outs):
            self._finish(program, args, outs, donated)
        elif cluster.aside and self._report is None:
            self._asides = self._asides or side_by_side.Asides(slots)
            self._asides.begin(program, args, outs)
        else:
            results = self._call(device, program, args, donated, cluster.loop)
            for s, value in zip(outs, results, strict=True):
                slots[s] = value

    def _freed(self, slots: Sequence[int]) -> Collection[int]:
        """Returns which of the slots that a stage no longer needs are emptied: not those that other devices read."""
        lanes = self._plan.lanes
        return slots if lanes is None else lanes.shared.union(slots) - lanes.shared

    def _put_back(self, opaque: dict[int, Any]) -> None:
        """Undoes `_bring` for objects of Python's that are still to be read."""
        for s, value in opaque.items():
            if self.slots[s] is not None:
                self.slots[s] = value

    def _bring(self, stage: Stage) -> dict[int, Any]:
        """Brings values to a stage's device; returns those that stay here, by their slots."""
        slots, device = self.slots, stage.device
        if stage.on_mesh is not None and not stage.bound:
            meshes.agree_on_python(self._plan, stage.ins, slots)
        opaque: dict[int, Any] = {}
        layouts = {} if stage.on_mesh is None else stage.on_mesh.layouts
        for s in stage.ins:
            value = slots[s]
            if type(value) is device.buffer:
                if stage.on_mesh is not None:
                    slots[s] = device.place(value, layouts.get(s))
                continue
            if type(value) is not np.ndarray:
                slots[s] = device.move(value)
            elif value.dtype is _OBJECT:  # of Python's, such as an iterator: programs only pass it on
                opaque[s] = value
                slots[s] = device.put(_NOTHING)
            elif s in layouts:
                slots[s] = device.place(value, layouts[s])
            else:
                slots[s] = device.put(value)
        return opaque

    def _call(self, device: xla.Device, program: Any, args: list[Any], donated: Sequence[int],
              loop: Operation | None) -> list[Any]:
        """Calls a program whose results are not stored."""
        if donated and (device.platform != "cpu" or self._plan.mesh is not None):  # variables must not be written over
            args = device.with_copies(args, donated, True)
        results: list[Any] = program(args) if loop is None else self._call_loop(program, args, loop)
        return results

    def _call_loop(self, program: Any, args: list[Any], loop: Operation) -> list[Any]:
        """Calls a program that has a loop, which signals and deadlines may end."""
        with Looping(loop):
            return program(args) if self._stop is None else self._stop.call(program, args, loop)

    def _repeat_in_numpy(self, device: xla.Device, cluster: Cluster, outs: Sequence[int]) -> None:
        """Lets NumPy have the last word on values that a compiled program refuses."""
        value_checks.repeat(cluster, self.slots, self.table)
        for s in outs:
            self.slots[s] = device.move(self.slots[s])

    def _report_cluster(self, device: xla.Device, outs: Sequence[int], made_of: Any) -> None:
        assert self._report is not None
        device.wait([v for s in outs if type(v := self.slots[s]) is device.buffer])
        self._report.cluster(made_of, self.slots)

    # -- storing -----------------------------------------------------------------------

    def _store_all(self, separate: bool = False) -> None:
        """Gives the variables their new values.

        Args:
          separate: whether the values share memory with each other only, not with feeds and variables.
        """
        plan, slots = self._plan, self.slots
        for slot, cell, op in plan.checks:
            _check_assigned(slots[slot], cell, op)
        copied = plan.several if separate else plan.shared
        values = [np.array(xla.to_numpy(slots[s])) if s in copied else slots[s] for s, _ in plan.stores]
        if plan.mesh is not None and not separate:
            meshes.agree_on_values(plan, [(cell, v) for (_, cell), v in zip(plan.stores, values, strict=True)])
            values = [meshes.placed(plan, s, v) for (s, _), v in zip(plan.stores, values, strict=True)]
        set_all([setter_of(cell) for _, cell in plan.stores], values)

    def _finish(self, program: Program, args: list[Any], outs: Sequence[int], donated: Sequence[int]) -> None:
        """Runs the last step, which takes variables' old buffers, and stores all new values atomically."""
        plan, slots = self._plan, self.slots
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
            self._stored = True
        except Exception as e:
            if (found := memory_errors.explained(e, plan.steps[-1:], slots, plan.stores)) is e:
                raise
            raise found from None

    # -- results -----------------------------------------------------------------------

    def results(self) -> list[Any]:
        """Returns the values of the fetches: NumPy arrays, or buffers of the device."""
        values = [self.slots[s] for s in self._plan.fetches]
        if self._plan.mesh is not None:
            return [xla.to_numpy(v) for v in values]
        for i in self._plan.exposed:  # before another run overwrites them
            values[i] = xla.view(values[i])
        return values


def _placing(plan: Plan, slot: int) -> Callable[[Any], Any]:
    return functools.partial(meshes.placed, plan, slot, own=False)


_NOTHING = np.zeros((), np.int32)
_OBJECT = np.dtype(object)


def _wait(device: xla.Device, plan: Plan, slots: Sequence[Any]) -> None:
    """Waits for values to fetch and store that are being computed; raises their errors."""
    if begun := [v for s in plan.ends if type(v := slots[s]) is device.buffer]:
        device.wait(begun)


def _ending(plan: Plan, outs: Sequence[int]) -> tuple[list[Any], list[tuple[int, Cell]], list[int]]:
    """Returns where the last step's results go, and what else is stored; computed once for a plan.

    Returns: setters for `outs`, None for values that stay in their slots, and then for the rest; those of `outs` that
    variables get; and the slots of the rest.
    """
    found = plan.endings.get(key := tuple(outs))
    if found is None:
        owner = {s: cell for s, cell in plan.stores if s not in plan.shared}
        rest = [(s, cell) for s, cell in plan.stores if s not in outs or s in plan.shared]
        setters = [setter_of(owner[s]) if s in owner else None for s in outs] + [setter_of(cell) for _, cell in rest]
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
