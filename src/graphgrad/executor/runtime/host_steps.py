"""Executes host steps: NumPy kernels and calls of Python.

An effect beyond the run, such as dequeuing elements, happens once, even if the plan has to change and the run starts
again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.executor.backend import xla
from graphgrad.executor.program.interpreter import Body, Instruction, execute
from graphgrad.executor.program.plan_types import HostStep, Move, depends
from graphgrad.executor.program.random_table import RandomTable
from graphgrad.ir.blocking import Attempt, WouldBlock, deferring, resuming
from graphgrad.ir.graph import Operation
from graphgrad.system.subnormals import Subnormals

# Results of operations with effects, by index: another plan may contain copies of them.
Done = dict[int, list[Any]]


def run_host_step(step: HostStep, slots: list[Any], table: Any, done: Done, free: bool = True) -> None:
    """Runs a step.

    Args:
      step: the step.
      slots: the values.
      table: the random states, or None.
      done: results of operations with effects in this run; extended here.
      free: whether to release values that are not needed any more.
    """
    if isinstance(step, Move):
        slots[step.outs[0]] = xla.device(step.device).bring(slots[step.ins[0]])
    else:
        _compute(step, slots, table, done)
    if free:
        for s in step.frees:
            slots[s] = None


def _compute(step: HostStep, slots: list[Any], table: Any, done: Done) -> None:
    for instruction in step.program:
        if not instruction.shapes_only:
            for s in instruction.reads():
                slots[s] = xla.to_numpy(slots[s])
        else:
            for s in instruction.reads():
                if not isinstance(slots[s], np.ndarray):
                    slots[s] = xla.to_numpy(slots[s])
    with np.errstate(all="ignore"), Subnormals(flushed=True):
        execute(np, step.before, slots, table)
    for instruction in step.calls:
        # A user's function sees NumPy's warnings; a loop around it is arithmetic, too.
        with np.errstate(all="ignore") if instruction.bodies else contextlib.nullcontext():
            if step.has_effects:
                call_once(instruction, slots, table, done)
            else:
                execute(np, [instruction], slots, table)


def call_once(instruction: Instruction, slots: list[Any], rng: RandomTable | None, done: Done,
              spend: Callable[[Body], None] | None = None) -> None:
    """Calls an instruction with an effect, unless it was called in this run already.

    Args:
      instruction: the instruction.
      slots, rng, spend: as for `execute`.
      done: results of operations with effects in this run; extended here.
    """
    values = done.get(instruction.op.index)
    if values is None:
        execute(np, [instruction], slots, rng, spend)
        done[instruction.op.index] = [slots[s] for s in instruction.gives()]
    else:
        for s, value in zip(instruction.gives(), values, strict=True):
            slots[s] = value


class Waiting:
    """The steps of a run several of which may wait, perhaps for each other.

    A step that would have to wait first lets steps run that do not need its result, as if each ran in a separate
    thread.

    Args:
      stages: all stages of the run.
      slots, table, done: as for `run_host_step`.
    """

    def __init__(self, stages: Sequence[Any], slots: list[Any], table: Any, done: Done):
        self._steps = [s for s in stages if isinstance(s, HostStep) and s.waits]
        self._slots, self._table, self._done = slots, table, done
        self._begun: dict[Operation, Attempt] = {}

    def run(self, step: HostStep) -> None:
        """Runs a step, and others first where it would have to wait."""
        try:
            if not self._try(step, free=True):
                later = self._steps[self._steps.index(step) + 1 :]
                for other in later:
                    if all(self._slots[s] is not None for s in other.ins) and not depends(other, step):
                        self._try(other, free=False)
                with resuming(self._begun.pop(step.calls[-1].op)):
                    run_host_step(step, self._slots, self._table, self._done)
        except BaseException:
            for attempt in self._begun.values():
                attempt.give_up()
            raise

    def _try(self, step: HostStep, free: bool) -> bool:
        op = step.calls[-1].op
        begun = self._begun.pop(op, None)
        if begun is not None and not free:
            self._begun[op] = begun
            return False
        try:
            with deferring(begun):
                run_host_step(step, self._slots, self._table, self._done, free)
        except WouldBlock as blocked:
            self._begun[op] = blocked.attempt
            return False
        return True
