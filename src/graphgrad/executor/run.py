"""Running a plan: step by step, on slots; variables change only when all of it succeeds."""

from __future__ import annotations

import collections
import contextlib
import functools
import operator
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from ..errors import InvalidArgumentError, ResourceExhaustedError, describe
from ..ir import blocking, dtypes
from ..ir.cell import Cell
from ..ir.graph import Operation, Tensor
from ..ir.shape import compatible, is_fully_defined, shape_str
from . import exhausted, guards, host, numerics, xla
from .cache import Entry, get
from .form import Form
from .host_steps import Done, Waiting, run_host_step
from .lower import as_shape
from .place import Placement
from .plan import make_plan
from .program import MustBeKnown, OverBudget, execute, uninitialized
from .report import RunReport
from .split import Split, parts
from .steps import Cluster, HostStep, Plan
from .stop import Stop, begin, finish
from .xla import AnySpec, Program, Spec

_BOUND = 64  # signatures of a stage that are kept ready
first_in_numpy = os.environ.get("GRAPHGRAD_FIRST_RUN", "numpy") != "xla"  # whether first runs may be NumPy's, see host
_PATIENCE = 60.0  # seconds to wait for the new value of a variable whose old one is gone


_steady: list[None] = []  # as many as there are `one_engine` blocks


@contextlib.contextmanager
def one_engine() -> Iterator[None]:
    """A `with` block for comparing numbers to the last bit: first and later runs are of the same engine.

    What is run there for the first time is computed by NumPy from then on if that is quick, by XLA otherwise. It holds
    for all threads.
    """
    _steady.append(None)
    try:
        yield
    finally:
        _steady.pop()


# The runs that are under way, in all sessions and threads: weak references, so that none stays whatever happens.
_under_way: set[Any] = set()


class _Run:
    """Stands for a run as long as it lives."""

    __slots__ = ("__weakref__",)

    def __init__(self) -> None:
        # Not a counter under a lock: an interrupt could leave it locked.
        _under_way.add(weakref.ref(self, _under_way.discard))


def _pinned(device: xla.Device, value: Any, cell: Cell, pins: list[Any]) -> Any:
    """A variable's value, kept from being donated by another run as long as `pins` lives."""
    give_up = time.monotonic() + _PATIENCE
    while type(value) is device.buffer:
        try:
            pins.append(device.pin(value))
            break
        except RuntimeError:  # it has just been donated; the run that did so is about to store the new value
            if cell.held is value:
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.0001)
            value = cell.held
    return value


def _lost(plan: Plan) -> list[str]:
    """The names of the variables whose values went with a program that failed; they have none from now on."""
    lost = []
    for _, cell in plan.stores:
        held = cell.held
        if type(held) is xla.device().buffer:
            try:
                xla.device().wait([held])
            except Exception:  # whatever it is, the value is not there
                cell.held = None
                lost.append(cell.name)
    return lost


def _setter(cell: Cell) -> Callable[[Any], Any]:
    return functools.partial(setattr, cell, "held")


def _set_all(setters: Sequence[Callable[[Any], Any]], values: Sequence[Any]) -> None:
    # In one call of C code, so that an interrupt comes before or after.
    collections.deque(map(operator.call, setters, values), maxlen=0)


class Executable:
    """Computes some fetches of a graph from some feeds, again and again.

    Args:
      fetches: the tensors whose values are wanted.
      targets: operations to run besides.
      feeds: the tensors that are fed.
      resolve: gives the variable behind a handle.
      counters: how often each random operation has run; kept by the session.
      engine: "xla" in clusters, "whole" for as few programs as can be, or "numpy" to let NumPy execute everything.
      place: says which operations run on which devices.
    """

    def __init__(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
                 resolve: Callable[[Tensor], Cell], counters: dict[Operation, int], engine: str = "xla",
                 place: Placement | None = None):  # fmt: skip
        self._request = fetches, targets, feeds, resolve
        wanted = [*(t.op for t in fetches), *targets]
        self._graph = wanted[0].graph if wanted else None
        self._place = place
        self._counters = counters
        self._engine = engine
        self.wide: Any = None  # the same run with all tensors kept, see numerics
        self._must_know: frozenset[tuple[int, int]] = frozenset()
        self._lock = threading.RLock()
        self._prepare()

    def _prepare(self) -> None:
        self._rebuilt = self._graph._rebuilt if self._graph is not None else 0
        plan = make_plan(*self._request, self._must_know, self._engine == "whole", self._place)
        plan.on_host = plan.on_host or self._engine == "numpy"
        if self._engine == "xla" and plan.waits == 1 and first_in_numpy:
            plan.on_host = plan.on_host or host.is_small(plan)
        self.plan = plan
        self._is_first = self._engine == "xla" and first_in_numpy
        self._template: list[Any] = [None] * plan.slots
        for slot, value in plan.constants:
            self._template[slot] = value
        self._stages: list[_Stage | HostStep] | None = None
        self._ready = False  # whether the large constants are on the device
        # Whether it sees buffers of variables, which other runs may want to write into.
        self._shares = any(cell.dtype is not dtypes.variant for _, cell in plan.loads)

    def __call__(self, feeds: Sequence[Any]) -> list[Any]:
        """Runs the plan.

        Args:
          feeds: an array for each fed tensor.
        Returns: the values of the fetches: NumPy arrays, or buffers of the device.
        """
        return numerics.run(self, feeds) if numerics.state.mode else self.run(feeds)

    def run(self, feeds: Sequence[Any], report: RunReport | None = None, store: bool = True) -> list[Any]:
        """Runs the plan without looking for infinities and NaNs.

        Args:
          feeds: an array for each fed tensor.
          report: is told of every step.
          store: whether variables get their new values.
        Returns: the values of the fetches: NumPy arrays, or buffers of the device.
        """
        done: Done = {}
        if self._graph is not None and self._graph._rebuilt != self._rebuilt:
            with self._lock:
                self._prepare()
        while True:
            try:
                return self._run(self.plan, feeds, report, store, done)
            except MustBeKnown as need:
                with self._lock:
                    wanted = self._must_know | {(need.op.index, need.index)}
                    if wanted == self._must_know:
                        raise AssertionError(
                            f"the value of input {need.index} of {need.op.name} cannot be known"
                        ) from None
                    self._must_know = wanted
                    self._prepare()

    def _run(self, plan: Plan, feeds: Sequence[Any], report: RunReport | None, store: bool, done: Done) -> list[Any]:
        slots = self._template.copy()
        for slot, value in zip(plan.feeds, feeds, strict=True):
            slots[slot] = value
        _here = _Run() if self._shares else None  # it lives until this returns
        for slot, cell in plan.loads:
            value = slots[slot] = cell.held
            if value is None and slot in plan.readers:
                raise uninitialized(plan.readers[slot], cell)
        table = self._random_states(plan) if plan.random_ops else None
        if not self._run_in_numpy(plan, slots, table, report, store):
            stop, listens = begin() if plan.has_loops else (None, False)
            try:
                self._run_steps(plan, slots, table, report, store, done, stop)
            finally:
                finish(listens)
        self._is_first = False
        if table is not None and store:
            for op in plan.random_ops:
                self._counters[op] += 1
        return [slots[s] for s in plan.fetches]

    def _run_in_numpy(self, plan: Plan, slots: list[Any], table: Any, report: RunReport | None, store: bool) -> bool:
        """Lets NumPy run the plan if that was asked for or, the first time, is quicker; else False."""
        budget = None
        if not plan.on_host:
            if not self._is_first or report is not None or plan.waits > 1:
                return False
            if _steady:
                plan.on_host = host.is_quick(plan, slots)
            else:
                budget = host.budget_for(plan, slots)
            if not plan.on_host and budget is None:
                return False
        given = slots
        if budget is not None:
            slots = slots.copy()
        pins: list[Any] = []
        for slot, cell in plan.loads:
            if not isinstance(slots[slot], np.ndarray):
                slots[slot] = _pinned(xla.device(), slots[slot], cell, pins)
        try:
            host.run(plan, slots, table, report, budget)
        except OverBudget:
            return False
        except (ResourceExhaustedError, MemoryError) as e:
            if budget is not None and not any(isinstance(step, HostStep) for step in plan.steps):
                return False  # compiled, it may need less
            raise exhausted.explained(e, plan.steps, slots) from None
        if store:
            self._store(plan, slots)
        if slots is not given:
            given[:] = slots
        return True

    def _random_states(self, plan: Plan) -> Any:
        counters = self._counters
        return np.array([[_runs_before(counters, op) % 2**64, *_seeds(op)] for op in plan.random_ops], np.uint64)

    def _store(self, plan: Plan, slots: list[Any]) -> None:
        """Gives the variables their new values."""
        for slot, cell, op in plan.checks:
            _check_assigned(slots[slot], cell, op)
        values = [np.array(xla.to_numpy(slots[s])) if s in plan.shared else slots[s] for s, _ in plan.stores]
        _set_all([_setter(cell) for _, cell in plan.stores], values)

    def _run_steps(self, plan: Plan, slots: list[Any], table: Any, report: RunReport | None, store: bool,
                   done: Done, stop: Stop | None) -> None:  # fmt: skip
        device = xla.device()
        homes = plan.homes
        if not self._ready:
            with self._lock:
                for slot, value in plan.constants:
                    if value.dtype != object:
                        self._template[slot] = slots[slot] = xla.device(homes.get(slot)).put(value)
                self._ready = True
        pins: list[Any] = []
        for slot, cell in plan.loads:
            value = slots[slot]
            if isinstance(value, np.ndarray) and value.dtype != object:
                # Moved to the device once, not at every run.
                moved = slots[slot] = xla.device(homes.get(slot)).put(value)
                if cell.held is value:
                    cell.held = moved
            if len(_under_way) > 1 or not store:
                slots[slot] = _pinned(device, slots[slot], cell, pins)
        if report is not None:
            report.start(slots)
        if self._stages is None:
            with self._lock:
                self._stages = self._stages or _stages(plan)
        waiting = Waiting(self._stages, slots, table, done) if plan.waits > 1 else None
        for stage in self._stages:
            try:
                store = self._run_stage(plan, stage, slots, table, report, store, done, stop, waiting)
            except Exception as e:
                steps = [stage] if isinstance(stage, HostStep) else stage.clusters
                raise exhausted.explained(e, steps, slots, _lost(plan)) from None
        if plan.stores and store:
            # Feeds are not copied: whoever called may change them as soon as this returns, so nothing may still be
            # computing. What went wrong shows here, too, before variables change.
            device.wait([v for s in plan.ends if type(v := slots[s]) is device.buffer])
            self._store(plan, slots)

    def _run_stage(self, plan: Plan, stage: _Stage | HostStep, slots: list[Any], table: Any, report: RunReport | None,
                   store: bool, done: Done, stop: Stop | None, waiting: Waiting | None) -> bool:  # fmt: skip
        """Runs a stage; whether the new values of variables are still to be stored."""
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
            refused = bool(cluster.guards) and guards.refuse(cluster, slots)
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
                guards.repeat(cluster, slots, table)
                for s in outs:
                    slots[s] = device.move(slots[s])
            for s in frees:
                slots[s] = None
            if report is not None:
                device.wait([v for s in outs if type(v := slots[s]) is device.buffer])
                report.cluster(made_of, slots)
        return store

    def _finish(self, plan: Plan, slots: list[Any], program: Program, args: list[Any], outs: Sequence[int],
                donated: Sequence[int]) -> None:  # fmt: skip
        """Runs the last step, which takes variables' old buffers, and stores all new values at one stroke."""
        for slot, cell, op in plan.checks:
            if slot not in outs:
                _check_assigned(slots[slot], cell, op)
        owner = {s: cell for s, cell in plan.stores if s not in plan.shared}
        sinks = [_setter(owner[s]) if s in owner else functools.partial(operator.setitem, slots, s) for s in outs]
        rest = [(s, cell) for s, cell in plan.stores if s not in outs or s in plan.shared]
        more = [np.array(xla.to_numpy(slots[s])) if s in plan.shared else slots[s] for s, _ in rest]
        device = xla.device()
        device.wait([v for s in plan.ends if type(v := slots[s]) is device.buffer])
        program.into([*sinks, *[_setter(cell) for _, cell in rest]], args, more, donated)
        for s in outs:
            if s in owner:
                slots[s] = owner[s].held


class _Stage:
    """Clusters behind each other, none of which needs a value from another to be lowered.

    Attributes:
      device: where they run.
      clusters: they, and `forms` their canonical forms.
      ins: slots of the values that come from outside.
      varying: slots of those whose shapes may differ from run to run.
      known: slots of values that are compiled in.
      lists: slots of lists of tensors.
      bound: signature -> the calls to make.
    """

    def __init__(self, clusters: list[Cluster], varying: set[int], variant: set[int]):
        self.device = xla.device(clusters[0].device)
        self.clusters = clusters
        self.lists = variant
        self.forms = [Form(c) for c in clusters]
        inside = {s for c in clusters for s in c.outs}
        self.ins = list(dict.fromkeys(s for c in clusters for s in c.ins if s not in inside))
        shapes = dict.fromkeys(s for c in clusters for s in c.shapes if s not in inside)
        self.outside = list(dict.fromkeys([*self.ins, *shapes]))
        self.varying = [s for s in self.outside if s in varying]
        self.known = list(dict.fromkeys(s for c in clusters if c.split is None for s in c.known))
        self.varies = bool(self.varying or self.known)
        self.bound: dict[Any, list[Any]] = {}

    def signature(self, slots: Sequence[Any]) -> Any:
        """What decides which programs to call: shapes that vary, and values that are compiled in."""
        if not self.varies:
            return None
        shapes = [None if (v := slots[s]) is None else xla.shape_of(v) for s in self.varying]
        known = [xla.to_numpy(slots[s]) for s in self.known]
        return (*shapes, *[(v.dtype.str, v.shape, v.tobytes()) for v in map(np.asarray, known)])

    def entries(self, device: xla.Device, slots: Sequence[Any]) -> list[tuple[Cluster, Entry, int]]:
        """Each cluster with its program for the values in `slots`, which may still be being compiled.

        The number says for how many parts of the batch the program is to be called.
        """
        specs: dict[int, AnySpec] = {s: xla.spec_of(slots[s]) for s in self.outside}
        known = {s: np.asarray(xla.to_numpy(slots[s])) for s in self.known}
        result = []
        for cluster, form in zip(self.clusters, self.forms, strict=True):
            ins, shapes = [specs[s] for s in cluster.ins], [specs[s] for s in cluster.shapes]
            if cluster.split is None:
                entry = get(device, cluster, form, ins, shapes, [known[s] for s in cluster.known])
                specs.update(zip(cluster.outs, entry.outputs, strict=True))
                count = 1
            else:
                entry, count, output = _split_entry(device, cluster, form, ins, shapes)
                specs[cluster.outs[0]] = output
            result.append((cluster, entry, count))
        return result

    def bind(self, device: xla.Device, slots: Sequence[Any]) -> list[Any]:
        """Compiles what is new and lists the calls.

        Returns: for each (program, ins, outs, frees, random rows, positions of what is donated, (cluster, entry)).
        """
        signature = self.signature(slots)
        prepared: list[tuple[Entry, int, Any]] = []
        for cluster, entry, count in self.entries(device, slots):
            ins = [s for s in cluster.ins if slots[s] is not None or s not in self.outside]
            rows = np.array(cluster.rows) if cluster.rows else None
            donated = [i for i, s in enumerate(ins) if s in cluster.donated]
            prepared.append((entry, count, (ins, cluster.outs, cluster.frees, rows, donated, (cluster, entry))))
        calls: list[Any] = []
        for entry, count, rest in prepared:
            program: Any = entry.program()
            cluster = rest[-1][0]
            if count > 1:
                batched = [cluster.ins.index(cluster.program[0].ins[i]) for i in cluster.split.inputs]
                program = Split(device, program, count, batched, cast(Spec, entry.outputs[0]), cluster.split.added)
            has_lists = any(s in self.lists for s in (*rest[0], *rest[1]))
            calls.append((program.with_lists if has_lists else program, *rest))
        while len(self.bound) >= _BOUND:
            self.bound.pop(next(iter(self.bound)))
        self.bound[signature] = calls
        return calls


def _split_entry(device: xla.Device, cluster: Cluster, form: Form, ins: list[Any],
                 shapes: Sequence[AnySpec]) -> tuple[Entry, int, Spec]:  # fmt: skip
    """The program for a part of the batch, how many parts there are, and what they give together."""
    (instruction,), rule = cluster.program, cluster.split
    assert rule is not None
    known: list[Any] = []
    batch = ins[cluster.ins.index(instruction.ins[rule.inputs[0]])].shape[0]
    count = parts(batch) if device.platform == "cpu" else 1
    if rule.sizes is not None:
        env: dict[int, Any] = {s: as_shape(spec) for s, spec in zip(cluster.shapes, shapes, strict=True)}
        execute(np, cluster.before, env, None)  # type: ignore[arg-type]  # slots are all that it is asked for
        sizes = np.array(env[cluster.known[0]])
        if not rule.added:
            sizes[0] = batch // count
        known = [sizes]
    batched = {cluster.ins.index(instruction.ins[i]) for i in rule.inputs}
    ins = [Spec((batch // count, *s.shape[1:]), s.dtype) if i in batched else s for i, s in enumerate(ins)]
    entry = get(device, cluster, form, ins, shapes, known)
    output = entry.outputs[0]
    assert isinstance(output, Spec)
    whole = output if rule.added else Spec((output.shape[0] * count, *output.shape[1:]), output.dtype)
    return entry, count, whole


def _stages(plan: Plan) -> list[_Stage | HostStep]:
    if plan.on_host:
        return []
    # Shapes may vary where the static one is not known, and wherever Python had a hand in it.
    varying = {s for s, t in plan.static.items() if not is_fully_defined(t._spec.shape)}
    varying.update(s for s, cell in plan.loads if not is_fully_defined(cell.shape) or s not in plan.readers)
    varying.update(s for step in plan.steps if isinstance(step, HostStep) for s in step.outs)
    variant = {s for s, t in plan.static.items() if t.dtype is dtypes.variant}
    varying |= variant
    stages: list[_Stage | HostStep] = []
    together: list[Cluster] = []
    for step in [*plan.steps, None]:
        if together and (step is None or isinstance(step, HostStep) or step.level != together[0].level
                         or step.device != together[0].device):  # fmt: skip
            stages.append(_Stage(together, varying | (set(range(plan.slots)) - plan.static.keys()), variant))
            together = []
        if isinstance(step, HostStep):
            stages.append(step)
        elif step is not None:
            together.append(step)
    return stages


def _check_assigned(value: Any, cell: Cell, op: Operation) -> None:
    shape = xla.shape_of(value)
    if not compatible(shape, cell.shape):
        raise InvalidArgumentError(op.node_def, op, describe(
            op.type, op.name, f"cannot assign a value of shape {shape_str(shape)} to variable {cell.name} of shape "
            f"{shape_str(cell.shape)}", f"value={shape_str(shape)}", str(op.source or ""),
            "reshape the value, or make the variable with validate_shape=False"))  # fmt: skip


def _runs_before(counters: dict[Operation, int], op: Operation) -> int:
    """How often a random operation has run in this session; unseeded ones begin anywhere, so that sessions differ."""
    count = counters.get(op)
    if count is None:
        drawn = op._attr("seed") >= 2**32  # no seed that a program gives is as large
        count = counters[op] = int.from_bytes(os.urandom(4), "little") if drawn else 0
    return count


def _seeds(op: Operation) -> tuple[int, int]:
    attrs = op.opdef.attrs
    return tuple(int(op._attr(k)) % 2**64 if k in attrs else 0 for k in ("seed", "seed2"))  # type: ignore[return-value]
