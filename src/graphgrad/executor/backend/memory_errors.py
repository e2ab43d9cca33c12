"""Words out-of-memory errors: which operation needed most."""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graphgrad.errors import MORE_MEMORY, ResourceExhaustedError, describe, memory_problem, no_room
from graphgrad.executor.program.interpreter import Instruction
from graphgrad.executor.program.plan_types import Cluster, HostStep
from graphgrad.ir.constant_value import Known, static_value
from graphgrad.ir.graph import Operation
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.shape import is_fully_defined
from graphgrad.ir.values.variable_store import Cell

from . import xla


def explained(error: Exception, steps: Sequence[Cluster | HostStep], slots: list[Any],
              stores: Sequence[tuple[int, Cell]] = ()) -> Exception:
    """Returns TensorFlow's out-of-memory error, which names the operation of the largest result; else the error itself.

    It releases the values of the run, so that a caller that catches the error has memory for something smaller.

    Args:
      error: the error that was raised.
      steps: those of which one failed.
      slots: the values of the run; they are released.
      stores: the variables donated to the program. Those whose values are lost become uninitialized.
    """
    lost = [cell.name for _, cell in stores if _is_lost(cell)]
    problem = memory_problem(error)
    if isinstance(error, ResourceExhaustedError):
        _let_go(error.__cause__, slots)
        return error
    if problem is None:
        return error
    program = [i for step in steps for i in step.program]
    sized = max(_results(program, slots), key=lambda found: _bytes(found[1]), default=None)
    _let_go(error, slots)
    fix = MORE_MEMORY
    if lost:
        fix += f"; variables have lost their values ({', '.join(lost)}): restore or initialize them"
    if sized is None:
        return ResourceExhaustedError(None, None, f"{problem}.\n  Fix: {fix}")
    op, spec = sized
    if getattr(error, "shape", None) is None:
        tensor = no_room(spec.shape or (), spec.dtype.name, spec.dtype.size)
        problem = f"{tensor}, or another in the same program: {problem}"
    operands = ", ".join(f"{t.name}={t.dtype.name}" for t in op.inputs[:8])
    return ResourceExhaustedError(op.node_def, op, describe(
        op.type, op.name, problem, operands, str(op.source or ""), fix))


def _let_go(error: BaseException | None, slots: list[Any]) -> None:
    slots[:] = [None] * len(slots)
    if error is not None:
        traceback.clear_frames(error.__traceback__)
        error.__traceback__ = None


def _is_lost(cell: Cell) -> bool:
    """Returns whether a variable's value was lost with a failed program; it becomes uninitialized."""
    device = xla.device()
    held: Any = cell.held
    if type(held) is device.buffer:
        try:
            device.wait([held])
        except Exception:  # for any error the value is lost
            cell.held = None
            return True
    return False


def _results(program: Iterable[Instruction], slots: Sequence[Any]) -> Iterator[tuple[Operation, Spec]]:
    """Lists operations with the shapes of outer inputs and results, as far as shape rules know them."""
    known: dict[int, Spec] = {}
    for instruction in program:
        op = instruction.op
        inputs: list[Any] = []
        for t, slot in zip(op.inputs, instruction.ins, strict=True):
            spec = known.get(slot)
            if spec is None and slot >= 0 and slots[slot] is not None and t.dtype.kind != "o":
                spec = Spec.of(t.dtype, tuple(xla.shape_of(slots[slot])))
                yield op, spec  # may have to be moved
            inputs.append(t if spec is None else Known(t.dtype, spec.shape, static_value(t)))
        try:
            specs: Sequence[Spec] = op.opdef.infer(inputs, op.attrs).specs
        except Exception:  # the rule needs more than these inputs offer
            specs = [t._spec for t in op.outputs]
        for slot, t, spec in zip(instruction.outs, op.outputs, specs, strict=True):
            static = t._spec
            if static.shape is not None and is_fully_defined(static.shape):
                spec = static
            known[slot] = spec
            if t.dtype.kind != "o":
                yield op, spec
        for body in instruction.bodies.values():
            yield from ((i.op, t._spec) for i in body.program for t in i.op.outputs if t.dtype.kind != "o")


def _bytes(spec: Spec) -> float:
    return math.prod(n or 1 for n in spec.shape or ()) * spec.dtype.size
