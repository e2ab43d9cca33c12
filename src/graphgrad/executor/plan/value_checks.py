"""Run-time checks of compiled programs: XLA flags a suspicious value, NumPy raises the error.

Ops for which TensorFlow rejects some values (an index out of range, a singular matrix) have a rule for that,
`OpDef.refuses`. A cluster with such operations has one result more, which says whether a value was invalid. Then NumPy
repeats the cluster, and its kernel raises the error. Nothing has been stored by then. NumPy decides: if its kernels
find no error, its results are those of the cluster.

The last cluster of a run may update variables in place, so it must not be the one to find invalid values: they are
checked beforehand in NumPy if they come from outside (*guards*); else the cluster is split, and the operations that may
fail run, with all that they need, before the rest.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.executor.backend import xla
from graphgrad.executor.program.interpreter import Instruction, can_fail, execute, has_loop
from graphgrad.executor.program.plan_types import Cluster, Plan
from graphgrad.ir.dtypes import variant
from graphgrad.ir.shape import Shape, is_fully_defined
from graphgrad.system.subnormals import Subnormals


class _Shape(NamedTuple):
    """A placeholder for a value, or a variable, of which only the shape is used."""

    shape: Shape

    @property
    def value(self) -> _Shape:
        return self


class Guard:
    """Checks, before a cluster runs, values that one of its instructions would reject.

    Attributes:
      instruction: the instruction.
      inputs: for each input the slot of its value, or a placeholder.
      before: instructions that compute these, in order.
    """

    def __init__(self, instruction: Instruction, inputs: list[Any], before: list[Instruction]):
        self.instruction = instruction
        self.inputs = inputs
        self.before = before

    def refuses(self, env: Env) -> bool:
        """Returns whether it rejects the values; `env` is that of all guards of a cluster."""
        if self.before:
            # Silenced: only slots are read.
            execute(np, [i for i in self.before if i.outs[0] not in env], env, None)  # type: ignore[arg-type]
        values = [env[i] if type(i) is int else i for i in self.inputs]
        for condition in self.instruction.op.opdef.faults(np, values, None, self.instruction.attrs):
            if type(condition) is tuple:
                integers, size = condition
                key = id(integers), size
                if key not in env.seen and integers.size:
                    env.seen[key] = integers  # kept alive, so that its id is not reused
                    if integers.max() >= size or integers.min() < 0:
                        return True
            elif np.any(condition):
                return True
        return False


class Env(dict[int, Any]):
    """Slot -> NumPy value, on top of the slots of a run; and what has been checked.

    Args:
      slots: those of the run.
    """

    def __init__(self, slots: Sequence[Any]):
        self._slots = slots
        self.seen: dict[tuple[int, int], Any] = {}

    def __missing__(self, slot: int) -> Any:
        value = self[slot] = xla.to_numpy(self._slots[slot])
        return value


def part(program: list[Instruction], stored: Collection[int],
         floating: Mapping[int, Instruction]) -> list[list[Instruction]]:
    """Splits the last program of a run, so that no check fails and no loop ends where variables are updated in place.

    Args:
      program: the instructions.
      stored: the slots of the new values of variables.
      floating: slot -> the instruction that is computed wherever its result is needed.
    Returns: one or two programs.
    """
    made = {s for i in program for s in i.gives()}
    if not any(s in made for s in stored):
        return [program]
    makers = {**floating, **{s: i for i in program for s in i.gives()}}
    first: dict[int, Instruction] = {}
    waiting = [i for i in program if has_loop(i) or (can_fail(i) and guard(i, makers) is None)]
    while waiting:
        instruction = waiting.pop()
        if id(instruction) not in first:
            first[id(instruction)] = instruction
            waiting.extend(makers[s] for s in instruction.reads() if s in makers)
    parts = [[i for i in program if id(i) in first], [i for i in program if id(i) not in first]]
    if any(s in made and id(makers[s]) not in first for s in stored):
        return [p for p in parts if p]
    return [program]


def guard(instruction: Instruction, makers: dict[int, Instruction]) -> Guard | None:
    """Makes the guard of an instruction; None if its values are not available before its cluster runs.

    Args:
      instruction: one that may reject values.
      makers: slot -> the instruction of the cluster that computes it.
    """
    op = instruction.op
    opdef = op.opdef
    if opdef.fault is None or opdef.fault_needs is None or opdef.has_lists:
        return None
    inputs: list[Any] = []
    before: dict[int, Instruction] = {}
    for position, slot in enumerate(instruction.ins):
        if op.inputs[position].dtype is variant:
            return None  # a list's length is not part of its shape
        touch = instruction.refs.get(position)
        shape = op.inputs[position]._spec.shape if touch is None else touch.cell.shape
        if op.inputs[position].dtype is variant:  # the shape says nothing about a list
            return None
        if position not in (*opdef.fault_needs, *opdef.host) and shape is not None and (
                is_fully_defined(shape) or slot in makers):
            inputs.append(_Shape(shape))
        elif touch is None and _reaches_outside(slot, makers, before):
            inputs.append(slot)
        else:
            return None
    partly = any(type(i) is _Shape and not is_fully_defined(i.shape) for i in inputs)
    if partly and not _is_enough(instruction, inputs, before.values()):
        return None
    return Guard(instruction, inputs, sorted(before.values(), key=operator.attrgetter("order")))


def _is_enough(instruction: Instruction, inputs: Sequence[Any], before: Collection[Instruction]) -> bool:
    """Returns whether the rule accepts partly known shapes: tried with zeros."""
    constants = {i.outs[0]: i.op.attrs["value"] for i in before if i.op.type == "Const"}
    values: list[Any] = []
    for i, t in zip(inputs, instruction.op.inputs, strict=True):
        if type(i) is int:
            i = constants.get(i)
            i = np.zeros([n or 1 for n in t._spec.shape or ()], t.dtype.np_dtype) if i is None else i
        values.append(i)
    try:
        found = instruction.op.opdef.faults(np, values, None, instruction.attrs)
        return all(type(c) is not tuple or c[1] is not None for c in found)
    except Exception:  # any error with an unknown size
        return False


def _reaches_outside(slot: int, makers: dict[int, Instruction], before: dict[int, Instruction]) -> bool:
    """Returns whether a value comes from outside through a few cheap operations, which are added to `before`."""
    waiting = [slot]
    while waiting:
        maker = makers.get(waiting.pop())
        if maker is None or id(maker) in before:
            continue
        is_cheap = maker.op.type == "Const" or maker.op.opdef.value_rule is not None
        if not is_cheap or maker.refs or len(before) >= _FEW:
            return False
        before[id(maker)] = maker
        waiting.extend(maker.ins)
    return True


_FEW = 12


def watch(plan: Plan) -> None:
    """Adds guards to clusters, and a slot for the verdict to those that may reject values."""
    for step in plan.steps:
        if not isinstance(step, Cluster) or step.split is not None:
            continue
        if step.donated:
            makers = {s: i for i in step.program for s in i.gives()}
            for instruction in step.watched():
                found = guard(instruction, makers)
                if found is not None:
                    instruction.guarded = True
                    step.guards.append(found)
        if step.loop is not None:
            step.donated = frozenset()
        if step.watched():
            step.donated = frozenset()
            step.fault = plan.slots
            step.outs.append(plan.slots)
            plan.slots += 1


def refuse(cluster: Cluster, slots: Sequence[Any]) -> bool:
    """Returns whether one of a cluster's guards rejects the values in the slots of a run."""
    env = Env(slots)
    return any(g.refuses(env) for g in cluster.guards)


def repeat(cluster: Cluster, slots: list[Any], table: Any) -> None:
    """Repeats in NumPy a cluster that has rejected a value: raises the error, or fills in the results.

    Args:
      cluster: the cluster.
      slots: the values, including its inputs; receives its results, as arrays.
      table: the random states of the run.
    Raises: what the kernel raises.
    """
    env = [xla.to_numpy(v) for v in slots]
    for whole, parts in cluster.unpacked.items():
        start = 0
        for slot, shape in parts:
            end = start + int(np.prod(shape))
            env[slot] = env[whole][start:end].reshape(shape)
            start = end
    with np.errstate(all="ignore"), Subnormals(flushed=True):
        execute(np, cluster.program, env, table)
    for whole, together in cluster.packed.items():
        env[whole] = np.concatenate([np.ravel(env[s]) for s in together])
    for s in cluster.outs:
        slots[s] = env[s]
