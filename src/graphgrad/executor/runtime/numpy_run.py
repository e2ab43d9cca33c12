"""Runs in NumPy: for sessions that ask for it, and for those of `tiers`; estimates of what they take."""

from __future__ import annotations

import bisect
import contextlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import DeadlineExceededError
from graphgrad.executor.backend.xla import shape_of, to_numpy
from graphgrad.executor.program import interrupts
from graphgrad.executor.program.interpreter import Body, Instruction, OverBudget, execute, has_loop
from graphgrad.executor.program.plan_types import Cluster, HostStep, Plan
from graphgrad.executor.program.random_table import RandomTable
from graphgrad.executor.program.straight_line import StraightLine
from graphgrad.ir import blocking
from graphgrad.ir.effects import is_map
from graphgrad.ir.shape import is_fully_defined
from graphgrad.op_traits import Cost, size_of
from graphgrad.system import blas_threads
from graphgrad.system.cores import CORES
from graphgrad.system.garbage_collector import collector_paused
from graphgrad.system.subnormals import Subnormals

from . import straight_run
from .host_steps import Done, call_once
from .outlines import Outlines
from .run_report import RunReport
from .straight_run import Swift
from .variable_locks import Turn


class Rates(NamedTuple):
    """Seconds, measured on one core with a vector unit; a factor of two or three is accurate enough.

    Attributes:
      call: an operation, without its work.
      element: of a result.
      heavy: an element that takes several passes, or is found by its index.
      series: an element that is computed by a series.
      draw: a random number.
      multiply: and add, within a matrix product.
      convolve: and add, within a convolution.
    """

    call: float
    element: float
    heavy: float
    series: float
    draw: float
    multiply: float
    convolve: float


# With freed memory kept.
_NUMPY = Rates(5e-6, 4.5e-10, 4e-9, 1.2e-8, 2e-8, 1.9e-11, 4.7e-11)
_XLA = Rates(4e-7, 3e-10, 1e-9, 6e-9, 4e-9, 1.9e-11, 2e-11)
if CORES > 1:  # NumPy has one of them while the other compiles
    _XLA = Rates(*[0.7 * rate for rate in _XLA])
# An operation of a function, beside which a call of XLA would count.
_IN_LINE = Rates(5e-7, 1.2e-9, 1.2e-9, 1.2e-9, 2e-8, 2.5e-11, 7e-11)
_CALLED = _IN_LINE._replace(call=6e-6)

# The time to start the process that compiles, and to compile each distinct operation (counted up to a limit).
_COMPILING = 0.6
_COMPILING_ONE = 8.5e-3
_LIKE = {Cost.CONVOLUTION: 15}  # operations that take as long to compile as one of these; else one
_DIFFERENT = 1500
_QUICK = 2e-3  # limit of a run that always uses NumPy, where numbers are compared to the last bit
_LIGHT = 3e-5
_LEAST_LEAD = 0.01
SMALL = 5e-5  # about the cost of the calls of a compiled run
_LONG = 1 << 20  # elements: more in one dimension are never small


class Budget:
    """The seconds that a run may take, as estimated; loops are counted while they run.

    Args:
      allowed: the seconds.
      unknown: the size of dimensions that are not known.
      once: what the run takes with one iteration of each loop.
      beside: whether a compiler works at the same time; its cores are left to it.
    """

    def __init__(self, allowed: float, unknown: int, once: float, beside: bool = False):
        self.once = once
        self.beside = beside
        self.left = self._allowed = allowed
        self._unknown = unknown
        self._costs: dict[int, float] = {}

    @property
    def spent(self) -> float:
        """The seconds that the run has taken."""
        return self.once + self._allowed - self.left

    def spend(self, body: Body) -> None:
        """Notes that a sub-graph is about to run.

        Raises: OverBudget when nothing is left.
        """
        cost = self._costs.get(id(body))
        if cost is None:
            cost = self._costs[id(body)] = sum(seconds(i, self._unknown) for i in body.program)
        self.left -= cost
        if self.left < 0:
            raise OverBudget


def run(plan: Plan, slots: list[Any], table: RandomTable | None, report: RunReport | Outlines | None = None,
        budget: Budget | None = None, *, done: Done, turn: Turn) -> None:
    """Executes a plan with NumPy.

    Args:
      plan: the plan.
      slots: one value for each slot; inputs are filled in by the caller, fetched and stored values by this function.
        The latter are separate arrays: none shares memory with feeds or variables.
      table: the random states, or None.
      report: notified of every step.
      budget: how long it may take.
      done: results of operations with effects in this run; extended here.
      turn: taken after the last step that may wait.
    Raises: OverBudget. Only host functions can have had effects then, and a plan with a budget and loops has none.
    """
    with blas_threads.FewerThreads() if budget is not None and budget.beside else contextlib.nullcontext():
        if report is None and (line := _line_of(plan)) is not None and straight_run.run(line, slots):
            return
        _run_steps(plan, slots, table, report, budget.spend if budget is not None else _in_time(), done, turn)


def _run_steps(plan: Plan, slots: list[Any], table: RandomTable | None, report: RunReport | Outlines | None,
               spend: Callable[[Body], None] | None, done: Done, turn: Turn) -> None:
    slots[:] = [to_numpy(v) for v in slots]
    outside = {id(v) for v in slots if isinstance(v, np.ndarray)}
    if report is not None:
        report.start(slots, plan)
    kept = {*plan.fetches, *(s for s, _ in plan.stores)}
    if plan.schedule is None:
        with collector_paused():
            plan.schedule = _schedule(plan, kept)
    _run_instructions(plan, slots, table, report, spend, done, turn)
    for s in kept:
        value = slots[s]
        if isinstance(value, np.ndarray) and (value.base is not None or id(value) in outside):
            slots[s] = value.copy()


def _line_of(plan: Plan) -> StraightLine | None:
    """Returns a plan as one function, if it has run often enough; then light plans get a `Swift` as well."""
    begun = type(plan.straight) is int
    line = straight_run.line_of(plan)
    if begun and line is not None and not plan.checks:
        most = math.inf if plan.on_host or plan.stays else _most(plan, line)
        if most >= 1:
            plan.swift = Swift(plan, line, most)
    return line


def _most(plan: Plan, line: StraightLine) -> float:
    """Returns the largest size of dimensions that only feeds know for which NumPy is done sooner than XLA is called."""
    if not plan.feeds or not all(is_fully_defined(cell.shape) for _, cell in plan.loads):
        return 0

    def is_more(unknown: int) -> bool:
        work = sum(seconds(i, unknown, _CALLED) for i in line.called)
        return work + sum(seconds(i, unknown, _IN_LINE) for i in line.traced) >= _LIGHT

    known = all(is_fully_defined(t._spec.shape) for i in (*line.called, *line.traced) for t in i.op.outputs)
    return 0 if known or is_more(1) else bisect.bisect_left(range(1, _LONG), True, key=is_more)


def _run_instructions(plan: Plan, slots: list[Any], table: RandomTable | None,
                      report: RunReport | Outlines | None,
                      spend: Callable[[Body], None] | None, done: Done, turn: Turn) -> None:
    with Subnormals(flushed=True):  # as in XLA
        for step, program, frees in plan.schedule:
            for instruction, free in zip(program, frees, strict=True):
                is_host = "host" in instruction.op.opdef.flags  # a user's function gets NumPy's warnings
                with _users_own() if is_host else np.errstate(all="ignore"):
                    if isinstance(step, HostStep) and step.has_effects and instruction in step.calls:
                        call_once(instruction, slots, table, done, spend)
                    else:
                        execute(np, [instruction], slots, table, spend)
                for s in free:
                    slots[s] = None
            if step is plan.last_act:
                turn.take()
            if report is not None:
                report.host(step, slots)


@contextlib.contextmanager
def _users_own() -> Iterator[None]:
    """Computes as outside of runs."""
    with Subnormals(flushed=False), blas_threads.AllThreads():
        yield


def _in_time() -> Callable[[Body], None] | None:
    """Returns a function that ends loops at the deadline of this thread's run; None if there is none."""
    end = blocking.deadline()
    if end is None:
        return None

    def spend(body: Body) -> None:
        if time.monotonic() > end:
            raise blocking.located(DeadlineExceededError, *interrupts.LATE)

    return spend


def _schedule(plan: Plan, kept: set[int]) -> list[tuple[Cluster | HostStep, list[Instruction], list[list[int]]]]:
    """Lists the instructions of each step, every one once, and the slots that are dead after each of them."""
    seen: set[int] = set()
    result: list[tuple[Cluster | HostStep, list[Instruction], list[list[int]]]] = []
    for step in plan.steps:
        program = [*step.before, *step.program] if isinstance(step, Cluster) else step.program
        program = [i for i in program if id(i) not in seen]
        seen.update(map(id, program))
        result.append((step, program, []))
    read = set(kept)
    for _, program, frees in reversed(result):
        for instruction in reversed(program):
            free = [s for s in {*instruction.reads(), *instruction.gives()} if s not in read]
            frees.append(free)
            read.update(free)
        frees.reverse()
    return result


def compiling(clusters: Iterable[Cluster | HostStep]) -> float:
    """Estimates the seconds that compiling some clusters takes; host steps count like clusters."""
    different = sum(_LIKE.get(i.op.opdef.cost, 1) for c in clusters for i in c.program)
    return _COMPILING + _COMPILING_ONE * min(different, _DIFFERENT)


def estimate(plan: Plan, unknown: int) -> float:
    """Estimates the seconds of a run in NumPy, with one iteration of each loop.

    Args:
      plan: the plan.
      unknown: the size of dimensions that are not known.
    """
    return sum(seconds(i, unknown) for step in plan.steps for i in step.program)


def lead(plan: Plan, unknown: int) -> float:
    """Estimates the part of a run's time in NumPy that XLA would save; never none of it.

    Args:
      plan, unknown: as for `estimate`.
    """
    taking = estimate(plan, unknown)
    if not 0 < taking < math.inf:
        return 1.0
    by_xla = sum(seconds(i, unknown, _XLA) for step in plan.steps for i in step.program)
    return max(1 - by_xla / taking, _LEAST_LEAD)


def may_be_abandoned(plan: Plan) -> bool:
    """Returns whether a run that takes too long can be left to XLA: it must not have called Python."""
    instructions = [i for step in plan.steps for i in step.program]
    return not any(map(has_loop, instructions)) or not any(
        i.op.opdef.flags >= {"host", "stateful"} for i in _everything(instructions))


def is_quick(plan: Plan, slots: Sequence[Any]) -> bool:
    """Returns whether NumPy may do all runs of a plan, because one takes little time.

    Args:
      plan: the plan.
      slots: the values of feeds and variables in the first run.
    """
    return estimate(plan, unknown_size(plan, slots)) < _QUICK and not has_loops(plan)


def has_loops(plan: Plan) -> bool:
    """Returns whether a plan has loops."""
    return any(has_loop(i) for step in plan.steps for i in step.program)


def unknown_size(plan: Plan, slots: Sequence[Any]) -> int:
    """Estimates unknown dimensions: the largest unknown dimension of a feed."""
    unknown = 1
    for slot in plan.feeds:
        static = plan.static[slot]._spec.shape
        if static is None or None in static:
            unknown = max(unknown, *shape_of(slots[slot]), 1)
    return unknown


def is_small(plan: Plan) -> bool:
    """Returns whether a plan computes so little besides its host steps that calls of XLA do not pay.

    An example: runs that enqueue single examples, thousands of times.
    """
    work = [i for step in plan.steps if isinstance(step, Cluster) for i in step.program]
    if any(t._spec.shape is None or None in t._spec.shape for i in work for t in i.op.outputs):
        return False
    return sum(seconds(i, 1) for i in work) < SMALL


def is_light(plan: Plan) -> bool:
    """Returns whether NumPy is always done with a plan sooner than a compiled program could be called.

    By one function, that is, see `straight_run`, where an operation costs little besides its work.
    """
    work = [i for step in plan.steps for i in step.program]
    if any(t._spec.shape is None or None in t._spec.shape for i in work for t in i.op.outputs):
        return False
    return sum(seconds(i, 1, _IN_LINE) for i in work) < _LIGHT and not has_loops(plan)


def _everything(program: Sequence[Instruction]) -> list[Instruction]:
    """Lists the instructions, including those of all sub-graphs."""
    result = list(program)
    for instruction in result:  # grows in the loop
        for body in instruction.bodies.values():
            result += body.program
    return result


def seconds(instruction: Instruction, unknown: int, rates: Rates = _NUMPY) -> float:
    """Estimates the time of an instruction, of a loop for one iteration; inf if unknown.

    Args:
      instruction: the instruction.
      unknown: the size of dimensions that are not known.
      rates: what computes it.
    """
    op, call = instruction.op, rates.call
    opdef = op.opdef
    results = sum(size_of(t._spec.shape, unknown) for t in op.outputs)
    changed = sum(size_of(t.cell.shape, unknown) for t in instruction.refs.values() if t.out != t.slot)
    if instruction.bodies:
        bodies = [sum(seconds(i, unknown, rates) for i in body.program) for body in instruction.bodies.values()]
        if op.type == "If":
            return call + max(bodies)
        if is_map(op):
            mapped = [t._spec.shape for t, is_mapped in zip(op.inputs, op.attrs["mapped"], strict=True) if is_mapped]
            return call + sum(bodies) * size_of(mapped[0] and mapped[0][:1], unknown)
        return call + sum(bodies)  # of one iteration: their number is known only by running it
    if "random" in opdef.flags:
        return call + results * rates.draw
    if opdef.work_rule is not None:
        each = rates.convolve if opdef.cost is Cost.CONVOLUTION else rates.multiply
        return call + opdef.work_rule(op, unknown) * each + (results + changed) * rates.element
    read = [0 if t.dtype.kind == "o" else size_of(t._spec.shape, unknown) for t in op.inputs]
    if changed and any(arg.name == "indices" for arg in opdef.inputs):  # only rows of the variable
        return call + rates.heavy * sum(read)
    each = {Cost.HEAVY: rates.heavy, Cost.SERIES: rates.series}.get(opdef.cost, rates.element)
    return call + each * max(results + changed, *read, 0)
