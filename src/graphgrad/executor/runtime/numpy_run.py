"""Runs in NumPy: for sessions that ask for it, and for first runs that finish before XLA would compile.

Many graphs run once: initial values, an evaluation, a Hessian at the end. NumPy is done with them in
the time in which XLA would not even have been imported. So the first run of a plan is NumPy's if its estimated time
is a fraction of what compiling would take; the second one compiles. What decides is the plan and the shapes of the
feeds, never a clock or what a cache holds, so that a program gives the same bits whenever it is run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import DeadlineExceededError
from graphgrad.executor.backend.xla import shape_of, to_numpy
from graphgrad.executor.plan.plan_types import Cluster, HostStep, Plan
from graphgrad.executor.program import interrupts
from graphgrad.executor.program.interpreter import Body, Instruction, OverBudget, RandomTable, execute, has_loop
from graphgrad.ir import blocking
from graphgrad.ir.graph import Operation
from graphgrad.ir.shape import Shape
from graphgrad.system.subnormals import Subnormals

from .host_steps import Done, call_once
from .run_report import RunReport
from .variable_locks import Turn

# Seconds, as measured on one core with a vector unit; they need to be right within a factor of two or three.
_CALL = 6e-6
_ELEMENT = 2e-9  # of a result
_DRAW = 2e-8  # a random number
_MULTIPLY = 5e-11  # and add, within a matrix product
_CONVOLVE = 2.5e-10  # and add, within a convolution

# XLA takes about this long to be imported, and then for each operation that is not like others (so that not more than
# a number of them are counted); the first run may take half of it.
_COMPILING = 1.2
_COMPILING_ONE = 5e-3
_DIFFERENT = 1500
_SHARE = 0.5
_QUICK = 2e-3  # what a run may take that NumPy does always, where numbers are compared to the last bit
_SMALL = 5e-5  # about what the calls of a compiled run cost

_PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "SparseTensorDenseMatMul"})


class Budget:
    """The seconds that a run may take; loops are counted while they run.

    Args:
      allowed: the seconds.
      unknown: the size of dimensions that are not known.
    """

    def __init__(self, allowed: float, unknown: int):
        self.left = allowed
        self._unknown = unknown
        self._costs: dict[int, float] = {}

    def spend(self, body: Body) -> None:
        """Notes that a sub-graph is about to run.

        Raises: OverBudget when there is nothing left.
        """
        cost = self._costs.get(id(body))
        if cost is None:
            cost = self._costs[id(body)] = sum(seconds(i, self._unknown) for i in body.program)
        self.left -= cost
        if self.left < 0:
            raise OverBudget


def run(plan: Plan, slots: list[Any], table: Any, report: RunReport | None = None,
        budget: Budget | None = None, *, done: Done, turn: Turn) -> None:
    """Executes a plan with NumPy.

    Args:
      plan: the plan.
      slots: one value for each slot; those that come from outside are filled in. Afterwards, the fetched and
        stored ones are. They are arrays of their own: none shares memory with what was fed or is held by a variable.
      table: the random states, or None.
      report: is told of every step.
      budget: how long it may take.
      done: what operations with effects have given in this run; it is added to.
      turn: taken after the last step that may wait.
    Raises: OverBudget. Nothing has happened then but host functions, of which a plan with a budget and loops has none.
    """
    spend = budget.spend if budget is not None else _in_time()
    slots[:] = [to_numpy(v) for v in slots]
    outside = {id(v) for v in slots if isinstance(v, np.ndarray)}
    if report is not None:
        report.start(slots)
    rng = RandomTable.of(table)
    kept = {*plan.fetches, *(s for s, _ in plan.stores)}
    if plan.schedule is None:
        plan.schedule = _schedule(plan, kept)
    with Subnormals(flushed=True):  # as XLA does
        for step, program, frees in plan.schedule:
            for instruction, free in zip(program, frees, strict=True):
                is_host = "host" in instruction.op.opdef.flags  # a user's function gets NumPy's warnings
                with Subnormals(flushed=False) if is_host else np.errstate(all="ignore"):
                    if isinstance(step, HostStep) and step.has_effects and instruction in step.calls:
                        call_once(instruction, slots, rng, done, spend)
                    else:
                        execute(np, [instruction], slots, rng, spend)
                for s in free:
                    slots[s] = None
            if step is plan.last_act:
                turn.take()
            if report is not None:
                report.host(step, slots)
    for s in kept:
        value = slots[s]
        if isinstance(value, np.ndarray) and (value.base is not None or id(value) in outside):
            slots[s] = value.copy()


def _in_time() -> Callable[[Body], None] | None:
    """Ends loops when the time of this thread's run is over; None if it never is."""
    end = blocking.deadline()
    if end is None:
        return None

    def spend(body: Body) -> None:
        if time.monotonic() > end:
            raise blocking.located(DeadlineExceededError, *interrupts.LATE)

    return spend


def _schedule(plan: Plan, kept: set[int]) -> list[tuple[Cluster | HostStep, list[Instruction], list[list[int]]]]:
    """The instructions of each step, every one once, and the slots that nobody reads after each of them."""
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
            touched = {*instruction.reads(), *instruction.gives()}
            frees.append(list(touched - read))
            read |= touched
        frees.reverse()
    return result


def budget_for(plan: Plan, slots: Sequence[Any]) -> Budget | None:
    """What NumPy may spend on the first run of a plan, or None if XLA should rather compile it.

    Args:
      plan: the plan.
      slots: the values that are fed and those of variables.
    """
    instructions = [i for step in plan.steps for i in step.program]
    unknown = _unknown(plan, slots)
    allowed = _SHARE * (_COMPILING + _COMPILING_ONE * min(len(instructions), _DIFFERENT))
    left = allowed
    for instruction in instructions:
        left -= seconds(instruction, unknown)
        if left < 0:
            return None
    if any(map(has_loop, instructions)) and any(
        i.op.opdef.flags >= {"host", "stateful"} for i in _everything(instructions)
    ):
        return None  # a run that is given up must not have called anybody
    return Budget(allowed, unknown)


def is_quick(plan: Plan, slots: Sequence[Any]) -> bool:
    """Whether NumPy may do all runs of a plan, because one takes little time.

    Args:
      plan, slots: as for `budget_for`, of the first run.
    """
    instructions = [i for step in plan.steps for i in step.program]
    unknown = _unknown(plan, slots)
    return sum(seconds(i, unknown) for i in instructions) < _QUICK and not any(map(has_loop, instructions))


def _unknown(plan: Plan, slots: Sequence[Any]) -> int:
    """How large unknown dimensions are taken to be: as the largest of a feed that was not known either."""
    unknown = 1
    for slot in plan.feeds:
        static = plan.static[slot]._spec.shape
        if static is None or None in static:
            unknown = max(unknown, *shape_of(slots[slot]), 1)
    return unknown


def is_small(plan: Plan) -> bool:
    """Whether what a plan computes besides its host steps is so little that XLA is not worth its calls.

    Such are the runs that put single examples into queues, thousands of times.
    """
    work = [i for step in plan.steps if isinstance(step, Cluster) for i in step.program]
    if any(t._spec.shape is None or None in t._spec.shape for i in work for t in i.op.outputs):
        return False
    return sum(seconds(i, 1) for i in work) < _SMALL


def _everything(program: Sequence[Instruction]) -> list[Instruction]:
    """The instructions, with those of all sub-graphs."""
    result = list(program)
    for instruction in result:  # it grows on the way
        for body in instruction.bodies.values():
            result += body.program
    return result


def seconds(instruction: Instruction, unknown: int) -> float:
    """About how long an instruction takes in NumPy, a loop for one iteration; inf where nothing can be said.

    Args:
      instruction: the instruction.
      unknown: the size of dimensions that are not known.
    """
    op = instruction.op
    results = sum(_size(t._spec.shape, unknown) for t in op.outputs)
    if instruction.bodies:
        bodies = [sum(seconds(i, unknown) for i in body.program) for body in instruction.bodies.values()]
        if op.type == "If":
            return _CALL + max(bodies)
        if op.type == "VectorizedMap":
            mapped = [t._spec.shape for t, is_mapped in zip(op.inputs, op.attrs["mapped"], strict=True) if is_mapped]
            return _CALL + sum(bodies) * _size(mapped[0] and mapped[0][:1], unknown)
        return _CALL + sum(bodies)  # of one iteration: only running it tells how many there are
    if "random" in op.opdef.flags:
        return _CALL + results * _DRAW
    if op.type in _PRODUCTS:
        return _CALL + results * _MULTIPLY * _inner(op, unknown) + results * _ELEMENT
    if op.type.startswith(("Conv", "DepthwiseConv")):
        return _CALL + _convolution(op, unknown) * _CONVOLVE
    if op.type == "Einsum":  # at most: every index of either with every one of the other
        return _CALL + math.prod(_size(t._spec.shape, unknown) for t in op.inputs) ** 0.75 * _MULTIPLY
    return _CALL + _ELEMENT * max(results, *(0 if t.dtype.kind == "o" else _size(t._spec.shape, unknown)
                                             for t in op.inputs), 0)


def _size(shape: Shape, unknown: int) -> float:
    if shape is None:
        return unknown
    size = 1.0
    for n in shape:
        size *= unknown if n is None else n
    return size


def _inner(op: Operation, unknown: int) -> float:
    """The dimension that a matrix product sums over."""
    shape = op.inputs[0]._spec.shape
    if op.type == "SparseTensorDenseMatMul" or not shape:
        return unknown
    n = shape[-2 if op.attrs.get("transpose_a") or op.attrs.get("adj_x") else -1]
    return unknown if n is None else n


def _convolution(op: Operation, unknown: int) -> float:
    """How many products a convolution is, or one of its gradients: all it reaches of the smaller image by all cells."""
    image = op.inputs[2] if "Backprop" in op.type else op.outputs[0]
    cells = op.outputs[0] if "BackpropFilter" in op.type else op.inputs[1]
    shape = cells._spec.shape
    if not shape or None in shape:
        return math.inf
    channels = math.prod(n or 1 for n in shape[-2:]) if op.type.startswith("Depthwise") else shape[-1]
    return _size(image._spec.shape, unknown) * _size(shape, unknown) / (channels or 1)
