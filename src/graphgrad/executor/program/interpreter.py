"""Programs as lists of instructions, and the loop that executes them with NumPy or jax.numpy.

Executed with NumPy a program computes; executed with jax.numpy inside a trace it becomes an
XLA program. The loop is the same, and so are the kernels.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import Complaint, FailedPreconditionError, NeedsHostValue, OpError, describe
from graphgrad.ir import dtypes
from graphgrad.ir.blocking import WouldBlock, announced
from graphgrad.ir.effects import bodies_of
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.kernel_errors import failure
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.shape import num_elements, shape_str
from graphgrad.ir.values.variable_store import Cell

from .fitting import fitting, unfit
from .interrupts import wanted
from .random_table import RandomTable

_FOLD_LIMIT = 1024  # elements: larger results are left to XLA
WHOLE_OP = -1  # instead of an input's position: the op can only run in NumPy


class MustBeKnown(Exception):
    """Lowering needs the value of an input: the plan has to compute it beforehand."""

    def __init__(self, op: Operation, index: int):
        super().__init__(op.name)
        self.op = op
        self.index = index


class OverBudget(Exception):
    """Loops have exceeded their time budget."""


class Ref:
    """A variable as kernels see it.

    Every assignment gives a variable a new slot, so a program is in static single assignment form
    and steps depend on each other through slots alone.
    """

    __slots__ = ("env", "slot", "out", "cell")

    def __init__(self, env: list[Any], slot: int, out: int, cell: Cell):
        self.env = env
        self.slot = slot
        self.out = out
        self.cell = cell

    @property
    def value(self) -> Any:
        """The variable's value at this point of the run; None if it has none."""
        return self.env[self.slot]

    @value.setter
    def value(self, value: Any) -> None:
        self.env[self.out] = value
        self.slot = self.out


class Touch(NamedTuple):
    """What an operation does to a variable.

    Attributes:
      slot: the slot of the value before.
      out: the slot of the value after; the same slot if it only reads.
      cell: the variable.
    """

    slot: int
    out: int
    cell: Cell


class Body:
    """A sub-graph, ready to be called by a control-flow kernel.

    Attributes:
      program: its instructions, on separate slots.
      ins, outs: slots of arguments (None for handles of variables) and results.
      slots: the number of slots.
      specs: static shapes and dtypes of the results.
      state: for each variable that the instruction touches, the slots of its initial and its final value.
    """

    def __init__(self, program: list[Instruction], ins: Sequence[int | None], outs: Sequence[int],
                 specs: Sequence[Spec]):
        self.program = program
        self.ins = ins
        self.outs = outs
        self.specs = specs
        self.slots = 0
        self.state: list[tuple[int, int]] = []


class Instruction:
    """One operation of a program: a kernel and its slots.

    Attributes:
      op: the operation, for messages.
      attrs: the keyword arguments of the kernel.
      ins, outs: slot numbers of inputs and outputs; handles of variables have slot -1.
      refs: input position -> the use of the variable there.
      rng: its row in the table of random states, or None.
      foldable: whether it is computed with NumPy when all of its inputs are NumPy arrays.
      shapes_only: whether only the shapes of its inputs matter.
      bodies: attribute name -> `Body`, for control flow.
      touched: what the bodies do to variables.
      order: its position in creation order.
      device: where it runs, None for the default device.
      guarded: whether its values are checked before the program runs.
      mark: the recomputation it belongs to (`Graph.recomputing`), 0 for none.
    """

    __slots__ = ("order", "mark", "device", "guarded", "op", "attrs", "ins", "outs", "refs", "rng", "foldable",
                 "shapes_only", "bodies", "touched", "host_kernel", "device_kernel", "host_inputs",
                 "needs")

    def __init__(self, op: Operation, ins: Sequence[int], outs: Sequence[int]):
        opdef = op.opdef
        self.order = self.mark = 0
        self.device: str | None = None
        self.guarded = False
        self.op = op
        own = op.attrs
        self.attrs = {k: own[k] if k in own else op._attr(k) for k in opdef.kernel_attrs}
        self.ins = ins
        self.outs = outs
        self.refs: dict[int, Touch] = {}
        self.rng: int | None = None
        self.foldable = False
        self.shapes_only = opdef.shape_only
        self.bodies: dict[str, Body] = {}
        self.touched: tuple[Touch, ...] = ()
        self.host_kernel = opdef.bind_kernel(np)
        if "sized" in opdef.flags:
            self.host_kernel = fitting(op, self.host_kernel)
        if "waits" in opdef.flags:
            self.host_kernel = announced(op, self.host_kernel)
        self.device_kernel = opdef.device_kernel or opdef.kernel
        if opdef.seen:
            self.device_kernel = fitting(op, self.device_kernel)
        self.host_inputs = host_positions(op) if opdef.host or "host" in opdef.flags else ()
        self.needs = ("reads" in opdef.flags or opdef.variable == "update") and "unset" not in opdef.flags

    def __repr__(self) -> str:
        return f"<Instruction {self.op.type} '{self.op.name}'>"

    def reads(self) -> Sequence[int]:
        """Returns the slots whose values it needs, with repetitions."""
        if not self.refs and not self.touched and -1 not in self.ins:
            return self.ins
        refs = [t.slot for t in self.refs.values() if t.slot >= 0]
        return [*(s for s in self.ins if s >= 0), *refs, *(t.slot for t in self.touched)]

    def gives(self) -> Sequence[int]:
        """Returns the slots that it fills."""
        if not self.refs and not self.touched:
            return self.outs
        return [*self.outs, *(t.out for t in (*self.refs.values(), *self.touched) if t.out != t.slot)]


def host_positions(op: Operation) -> tuple[int, ...]:
    """Returns the positions, among the flat inputs, of those that must be known when the op is lowered."""
    opdef = op.opdef
    if not opdef.host:
        return tuple(range(len(op.inputs))) if "host" in opdef.flags and may_be_folded(op) else ()
    if not opdef.has_lists:
        return tuple(sorted(opdef.host))
    positions: list[int] = []
    at = 0
    for i, arg in enumerate(opdef.inputs):
        n = op.attrs[arg.number_attr] if arg.number_attr else len(op.attrs[arg.list_attr]) if arg.list_attr else 1
        if i in opdef.host:
            positions.extend(range(at, at + n))
        at += n
    return tuple(positions)


def may_be_folded(op: Operation) -> bool:
    """Returns whether an operation that only NumPy computes takes and gives numbers that can be shapes or axes.

    Within sub-graphs, where it may well be known when they are lowered.
    """
    specs = [t._spec for t in (*op.inputs, *op.outputs)]
    return op.opdef.pure and all(s.dtype in dtypes.INDEX and s.shape is not None and len(s.shape) < 2 for s in specs)


def is_small(op: Operation) -> bool:
    """Returns whether all outputs are known to be small; the sizes of lists are unknown."""
    return all(map(_is_small, [t._spec for t in op.outputs]))


@functools.lru_cache(maxsize=4096)
def _is_small(spec: Spec) -> bool:
    size = num_elements(spec.shape)
    return spec.dtype is not dtypes.variant and size is not None and size <= _FOLD_LIMIT


_SIGNALS = (MustBeKnown, NeedsHostValue, OverBudget, WouldBlock)  # not errors: the run continues in another way


def execute(xp: Any, program: Iterable[Instruction], env: list[Any], rng: RandomTable | None,
            spend: Callable[[Body], None] | None = None, faults: Faults | None = None,
            stop: Any = None) -> None:
    """Executes instructions in order.

    Args:
      xp: NumPy or jax.numpy.
      program: the instructions.
      env: one value for each slot; inputs are filled in by the caller, results by this function.
      rng: the random states, or None.
      spend: notified of each sub-graph before it is called; may raise OverBudget.
      faults: collects invalid values, in a trace; NumPy raises.
      stop: the interrupt numbers of loops, in a trace, see `interrupts.py`.
    """
    for ins in program:
        values: list[Any] = [env[i] if i >= 0 else None for i in ins.ins]
        if ins.refs and not ins.bodies:  # a sub-graph accesses its variables itself
            _add_refs(ins, env, values)
        on_host = xp is np or _is_known(ins, values)
        attrs = ins.attrs
        if ins.rng is not None or ins.bodies:
            attrs = _bind_run(xp, ins, env, rng, spend, faults, stop)
        opdef = ins.op.opdef
        try:
            packed = opdef.pack(values, ins.op.attrs)
            if on_host:
                result = ins.host_kernel(np, *packed, **attrs)
            else:
                result = ins.device_kernel(xp, *packed, **attrs)
                if faults is not None and opdef.fault is not None and not ins.guarded:
                    faults.add(xp, opdef.faults(xp, packed, result, ins.attrs))
            if ins.bodies:
                result, state = result
                _take_state(xp, ins, env, state, faults)
            elif ins.refs:
                _pass_on_unassigned(ins, env, values)
            for slot, value, tensor in zip(ins.outs, opdef.unpack(result), ins.op.outputs, strict=True):
                env[slot] = _settle(xp, on_host, value, tensor)
        except (MustBeKnown, NeedsHostValue) as need:
            raise _need_of(ins.op, need, values) from None
        except _SIGNALS:
            raise
        except Exception as e:
            error = in_context(ins.op, e, values)
            if error is e:
                raise
            raise error from e


def _add_refs(ins: Instruction, env: list[Any], values: list[Any]) -> None:
    """Puts references to variables among the inputs of a kernel; a variable that must have a value has one."""
    for position, touch in ins.refs.items():
        if ins.needs and env[touch.slot] is None:
            raise uninitialized(ins.op, touch.cell)
        values[position] = Ref(env, touch.slot, touch.out, touch.cell)


def _pass_on_unassigned(ins: Instruction, env: list[Any], values: Sequence[Any]) -> None:
    """Gives variables that an instruction could have assigned, but did not, their old value in the new slot."""
    for position, touch in ins.refs.items():
        if touch.out != touch.slot and values[position].slot != touch.out:
            env[touch.out] = env[touch.slot]


def _take_state(xp: Any, ins: Instruction, env: list[Any], state: Sequence[Any], faults: Faults | None) -> None:
    """Stores what sub-graphs left in variables, and in a trace notes whether they rejected something."""
    if len(state) > len(ins.touched):
        assert faults is not None
        faults.add(xp, [state[-1]])
    for touch, value in zip(ins.touched, state, strict=False):
        env[touch.out] = value


def _is_known(ins: Instruction, values: Sequence[Any]) -> bool:
    """Returns whether the result is known in a trace, so that NumPy computes it.

    Raises: MustBeKnown if it is not, but the kernel needs the value of an input that is not known either.
    """
    if ins.shapes_only or (ins.foldable and all(map(_is_array, values))):
        return True
    for i in ins.host_inputs:
        if not _is_array(values[i]):
            raise MustBeKnown(ins.op, i)
    return False


def _need_of(op: Operation, need: MustBeKnown | NeedsHostValue, values: Sequence[Any]) -> MustBeKnown:
    """Returns the input of `op` that must be known for its kernel, or for an operation in its sub-graphs."""
    if isinstance(need, NeedsHostValue):
        return MustBeKnown(op, _position_of(op, need.input_name) if need.input_name else WHOLE_OP)
    if need.op.graph is op.graph:
        return need
    # Captures of a sub-graph can be computed beforehand; otherwise NumPy has to run all of it.
    return MustBeKnown(op, _captured_value(op, need, values))


def _captured_value(op: Operation, need: MustBeKnown, values: Sequence[Any]) -> int:
    """Returns the input position of `op` whose value an operation inside it needs; `WHOLE_OP` without one."""
    if need.index == WHOLE_OP:
        return WHOLE_OP
    first = next(i for i, arg in enumerate(op.opdef.inputs) if arg.is_list)
    inputs = {id(t): i for body in bodies_of(op) for i, t in enumerate(body.inputs)}
    varying = len(op.outputs) if op.type == "While" else 0
    missing = WHOLE_OP
    waiting, seen = [need.op.inputs[need.index]], set()
    while waiting:
        t = waiting.pop()
        at = inputs.get(id(t))
        if at is not None:
            if at < varying:
                return WHOLE_OP
            if not _is_array(values[first + at]):
                missing = first + at
        elif t.op.index not in seen:
            seen.add(t.op.index)
            if not t.op.opdef.pure or ("host" in t.op.opdef.flags and not may_be_folded(t.op)):
                return WHOLE_OP
            waiting.extend(t.op.inputs)
    return missing


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _settle(xp: Any, on_host: bool, value: Any, tensor: Tensor) -> Any:
    """Returns the value as an array of the declared dtype."""
    dtype = tensor.dtype
    if dtype.kind == "o":
        return np.array(value, object) if type(value) is bytes else value  # NumPy takes elements out of their arrays
    if on_host or _is_array(value):
        return np.asarray(value, dtype.np_dtype)
    if getattr(value, "dtype", None) != dtype.np_dtype:
        return xp.asarray(value, dtype.np_dtype)
    return value


def _bind_run(xp: Any, ins: Instruction, env: list[Any], rng: RandomTable | None,
              spend: Callable[[Body], None] | None, faults: Faults | None, stop: Any) -> dict[str, Any]:
    """Returns the kernel's keywords with what is of this run: the random state, and sub-graphs as functions."""
    attrs = dict(ins.attrs)
    if ins.rng is not None and rng is not None:
        row = rng.row(ins.rng)
        attrs["rng"] = row if "seed2" in attrs else row.values[0]
    if ins.bodies:
        attrs |= _bind_bodies(xp, ins, env, rng, spend, faults, stop)
    return attrs


def _bind_bodies(xp: Any, ins: Instruction, env: list[Any], rng: RandomTable | None,
                 spend: Callable[[Body], None] | None, faults: Faults | None,
                 stop: Any) -> dict[str, Any]:
    """Makes each sub-graph a function `f(args, state) -> (outputs, state)` for the kernel.

    In a trace, the flag for invalid values is the last element of the state.
    """
    watched = faults is not None and any(map(can_fail, ins.bodies.values()))

    def bind(body: Body) -> Callable[..., Any]:
        def call(args: Sequence[Any], state: Sequence[Any], step: Any = None) -> tuple[list[Any], tuple[Any, ...]]:
            if spend is not None:
                spend(body)
            inner: list[Any] = [None] * body.slots
            for slot, value in zip(body.ins, args, strict=True):
                if slot is not None:
                    inner[slot] = value
            for (slot, _), value in zip(body.state, state, strict=False):
                inner[slot] = value
            found = Faults() if watched else None
            own_rng = None if rng is None else rng.inside(xp, step)
            try:
                execute(xp, body.program, inner, own_rng, spend, found, stop)
            except _SIGNALS:
                raise
            except Exception:
                # Traced code may never run: a branch not taken, a loop of no iterations. NumPy runs it, or not.
                if xp is np or hasattr(xp, "written_lax"):  # what cannot write itself may be traced
                    raise
                raise MustBeKnown(ins.op, WHOLE_OP) from None
            after = [inner[slot] for _, slot in body.state]
            if found is not None:
                after.append(xp.logical_or(state[-1], found.any(xp)))
            return [inner[i] for i in body.outs], tuple(after)

        call.watched = watched and can_fail(body)  # type: ignore[attr-defined]  # kernels read these
        # Silenced: functions take attributes.
        call.changes = any(before != after for before, after in body.state)  # type: ignore[attr-defined]
        call.specs = body.specs  # type: ignore[attr-defined]  # functions take attributes
        # Silenced: functions take attributes.
        call.stop = None if stop is None else functools.partial(wanted, stop)  # type: ignore[attr-defined]
        return call

    bound: dict[str, Any] = {name: bind(body) for name, body in ins.bodies.items()}
    bound["state"] = (*(env[t.slot] for t in ins.touched), *([np.bool_(False)] if watched else []))
    return bound


class Faults:
    """Collects invalid values in a trace: whether any instruction rejected a value."""

    def __init__(self) -> None:
        self.found: list[Any] = []

    def add(self, xp: Any, conditions: Iterable[Any]) -> None:
        """Adds the conditions of an instruction, see `OpDef.refuses`."""
        for condition in conditions:
            if isinstance(condition, tuple):
                integers, size = condition
                if integers.dtype.kind == "u":
                    condition = integers >= size
                else:
                    condition = xp.logical_or(integers < 0, integers >= size)
            self.found.append(np.any(condition) if _is_array(condition) else xp.any(condition))

    def any(self, xp: Any) -> Any:
        """Returns whether there is any, a scalar."""
        result: Any = False
        for condition in self.found:
            result = xp.logical_or(result, condition)
        return result


def can_fail(part: Instruction | Body) -> bool:
    """Returns whether a trace contains an instruction that may reject values."""
    if isinstance(part, Body):
        return any(can_fail(i) for i in part.program if i.op.opdef.fault_when is None)
    opdef = part.op.opdef
    if opdef.fault is not None and (opdef.fault_when is None or opdef.fault_when(part.op)):
        return True
    return any(map(can_fail, part.bodies.values()))


def has_loop(part: Instruction | Body) -> bool:
    """Returns whether instructions, or their sub-graphs, include a loop."""
    if isinstance(part, Body):
        return any(map(has_loop, part.program))
    return bool(part.bodies) and (part.op.type == "While" or any(map(has_loop, part.bodies.values())))


def _position_of(op: Operation, input_name: str) -> int:
    return op.opdef.input_names(len(op.inputs)).index(input_name)


def uninitialized(op: Operation, cell: Cell) -> FailedPreconditionError:
    """Makes the error for reading a variable that has no value."""
    return FailedPreconditionError(op.node_def, op, describe(
        op.type, op.name,
        f"Error while reading resource variable {cell.name} from Container: localhost. This could mean that the "
        f"variable was uninitialized. Attempting to use uninitialized value {cell.name}",
        f"{dtypes.as_dtype(cell.dtype).name} {shape_str(cell.shape)}", str(op.source or ""),
        "run tf.global_variables_initializer() in this session first"))


def in_context(op: Operation, error: Exception, values: Sequence[Any]) -> OpError:
    """Turns the error of a kernel into TensorFlow's, naming op, shapes and the user's line."""
    operands = ", ".join(
        f"{name}={v.dtype} {shape_str(tuple(v.shape))}"
        for name, v in zip(op.opdef.input_names(len(op.inputs)), values, strict=False)
        if hasattr(v, "dtype")
    )
    if not isinstance(error, (OpError, Complaint)):
        error = unfit(op, values) or error  # the rule's message is better than Python's or NumPy's
    source = str(op.source or "")
    if op.opdef.checks:
        checked = op.inputs[0].op
        source += f"\n  It checks {checked.type} '{checked.name}', built at {checked.source}"
        if checked._original_op is not None:
            forward = checked._original_op
            source += f"\n  That is part of the gradient of {forward.type} '{forward.name}', built at {forward.source}"
    return failure(op.opdef, op.name, error, operands, source, op)
