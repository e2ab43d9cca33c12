"""Locks of variables: orders the runs of several threads that change them.

A run locks the variables that it changes, from reading them until it has stored the new values, so no update is lost.
Operations that may wait or call user functions (`acts`) would block others, or deadlock; a run with such operations
takes its locks after the last of them. If a variable has changed meanwhile, the run starts again, with the results of
these operations. Runs that only read take no locks.
"""

from __future__ import annotations

import collections
import functools
import operator
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from graphgrad.errors import AbortedError, DeadlineExceededError
from graphgrad.executor.program.interpreter import Instruction
from graphgrad.executor.program.plan_types import HostStep, Plan, acts, changes
from graphgrad.ir import blocking
from graphgrad.ir.graph import Operation
from graphgrad.ir.values.variable_store import Cell

if TYPE_CHECKING:
    from graphgrad.executor.backend.xla import Device

_LATE = "Timed out waiting for another thread's run that changes variable {}"
_FIX = "let the other run end, or allow more time (operation_timeout_in_ms)"

# The current runs of all sessions and threads: weak references, so that none stays after an error.
under_way: set[Any] = set()


class Presence:
    """Represents a run as long as it lives."""

    __slots__ = ("__weakref__",)

    def __init__(self) -> None:
        # Not a counter with a lock: an interrupt could leave it locked.
        under_way.add(weakref.ref(self, under_way.discard))


def pinned(device: Device, value: Any, cell: Cell, pins: list[Any]) -> Any:
    """Returns a variable's value, protected from donation by another run as long as `pins` lives."""

    def pin(value: Any) -> Any:
        if type(value) is device.buffer:
            pins.append(device.pin(value))
        return value

    return cell.use(pin, value)


class Stale(Exception):
    """A variable has changed since the run read it."""


class Turn:
    """A run's locks of the variables that its plan changes.

    Attributes:
      locks: `give(turn.locks)` releases them; locks that were not taken yet are left alone.
    """

    __slots__ = ("_plan", "_taken", "_seen", "locks")

    def __init__(self, plan: Plan):
        self._plan = plan
        self._taken = False
        self._seen: list[Any] = []
        self.locks: Iterable[None] = map(release, filter(is_owned, plan.locks))

    def saw(self, slots: Sequence[Any]) -> None:
        """Notes the values that the run has read, unless it holds the locks."""
        if not self._taken:
            self._seen = [slots[slot] for slot, _ in self._plan.loads]

    def take(self) -> None:
        """Waits until no other run changes the variables.

        Raises: Stale if one has since this run read them; DeadlineExceededError after the run's deadline.
        """
        if self._taken:
            return
        plan = self._plan
        end = blocking.deadline()
        if end is None:
            for cell, lock in zip(plan.writes, plan.locks, strict=True):
                if not lock.acquire(False):
                    _await(plan, cell, lock)
        else:
            for cell, lock in zip(plan.writes, plan.locks, strict=True):
                if not lock.acquire(timeout=max(0.0, end - time.monotonic())):
                    raise _late(plan, cell)
        self._taken = True
        if self._seen:
            changing = set(map(id, plan.writes))
            read = zip(plan.loads, self._seen, strict=True)
            if any(cell.held is not value for (_, cell), value in read if id(cell) in changing):
                raise Stale


def _await(plan: Plan, cell: Cell, lock: Any) -> None:
    wait = blocking.LongWait(lambda: f"another thread's run that changes variable {cell.name}"
                             + blocking.built(_changer(plan, cell)))
    while not lock.acquire(timeout=1.0):
        wait.look()


def _late(plan: Plan, cell: Cell) -> DeadlineExceededError:
    op = _changer(plan, cell)
    node_def = None if op is None else op.node_def
    return DeadlineExceededError(node_def, op, f"{_LATE.format(cell.name)}{blocking.built(op)}\n  Fix: {_FIX}")


def _changer(plan: Plan, cell: Cell) -> Operation | None:
    """Returns the first operation of a plan that changes the variable."""
    for step in plan.steps:
        for instruction in step.program:
            for touch in (*instruction.refs.values(), *instruction.touched):
                if touch.cell is cell and touch.out != touch.slot:
                    return instruction.op
    return None


class Reader(Turn):
    """The locks of a run that changes nothing: none."""

    __slots__ = ()

    def __init__(self) -> None:
        self.locks = ()

    def saw(self, slots: Sequence[Any]) -> None:
        """Does nothing."""

    def take(self) -> None:
        """Does nothing."""


release = operator.methodcaller("release")
is_owned = operator.methodcaller("_is_owned")
reader = Reader()
# One call of C code without a step of Python: an interrupt comes before it, or after the locks are free.
give = collections.deque[None](maxlen=0).extend
_consume = collections.deque[Any](maxlen=0).extend


def setter_of(cell: Cell) -> Callable[[Any], None]:
    """Returns a function that gives a variable a value."""
    return functools.partial(setattr, cell, "held")


def set_all(setters: Sequence[Callable[[Any], Any]], values: Sequence[Any]) -> None:
    """Calls each setter with its value, in one call of C code, so that an interrupt comes before or after all."""
    _consume(map(operator.call, setters, values))


def forget(plan: Plan, done: dict[int, list[Any]]) -> None:
    """Removes results of a run that depend on variables that have changed meanwhile.

    Args:
      plan: the plan.
      done: results of host operations.
    Raises: AbortedError where an operation has acted and also changed a variable.
    """
    for instruction in _called(plan):
        op = instruction.op
        if op.index in done and changes(instruction):
            if acts(instruction):
                raise AbortedError(op.node_def, op, (
                    f"{op.type} '{op.name}' waits or calls Python and changes a variable, which another thread has "
                    f"changed meanwhile.\n  Built at {op.source}\n  Fix: assign the variable after it, or let one "
                    "thread at a time change the variable"))
            del done[op.index]


def _called(plan: Plan) -> Iterator[Instruction]:
    for step in plan.steps:
        if isinstance(step, HostStep):
            yield from step.calls
