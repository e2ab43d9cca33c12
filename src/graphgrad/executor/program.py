"""Programs: lists of instructions, and the loop that executes them with NumPy or jax.numpy.

Executed with NumPy a program computes; executed with jax.numpy inside a trace it becomes an
XLA program. The loop is the same, and so are the kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import (
    Complaint,
    FailedPreconditionError,
    InvalidArgumentError,
    NeedsHostValue,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
    describe,
)
from ..ir import dtypes
from ..ir.cell import Cell
from ..ir.graph import Operation, Tensor
from ..ir.opdef import _input_names
from ..ir.shape import num_elements, shape_str

_FOLD_LIMIT = 1024  # elements: larger results are left to XLA


_MIX = np.uint64(0x9E3779B97F4A7C15)
WHOLE_OP = -1  # in the place of an input's position: the op can only run in NumPy


class MustBeKnown(Exception):
    """Lowering needs the value of an input: the plan has to compute it beforehand."""

    def __init__(self, op: Operation, index: int):
        super().__init__(op.name)
        self.op = op
        self.index = index


class Ref:
    """A variable as kernels see it."""

    __slots__ = ("cells", "index", "cell", "written")

    def __init__(self, cells: list[Any], index: int, cell: Cell):
        self.cells = cells
        self.index = index
        self.cell = cell

    @property
    def value(self) -> Any:
        """The variable's value at this point of the run; None if it has none."""
        return self.cells[self.index]

    @value.setter
    def value(self, value: Any) -> None:
        self.cells[self.index] = value


class Body:
    """A sub-graph, ready to be called by a control-flow kernel."""

    def __init__(self, program: list[Instruction], ins: Sequence[int | None], outs: Sequence[int], slots: int,
                 touched: tuple[int, ...]):  # fmt: skip
        self.program = program
        self.ins = ins
        self.outs = outs
        self.slots = slots
        self.touched = touched  # the cells that its operations read or write


class Instruction:
    """One operation of a program: which kernel, on which slots.

    Attributes:
      op: the operation, for messages.
      attrs: what the kernel takes as keywords.
      ins, outs: slot numbers of inputs and outputs.
      refs: (position among the inputs, cell index) of its resource inputs.
      rng: its place in the vector of execution counters, or None.
      foldable: whether it is computed with NumPy when all of its inputs are NumPy arrays.
      bodies: attribute name -> `Body`, for control flow.
      touched: the cells that the bodies touch.
    """

    __slots__ = ("op", "attrs", "ins", "outs", "refs", "rng", "foldable", "bodies", "touched", "host_kernel",
                 "device_kernel", "host_inputs", "needs")  # fmt: skip

    def __init__(self, op: Operation, ins: Sequence[int], outs: Sequence[int]):
        opdef = op.opdef
        self.op = op
        self.attrs = {k: op.get_attr(k) for k in opdef.kernel_attrs}
        self.ins = ins
        self.outs = outs
        self.refs: tuple[tuple[int, int], ...] = ()
        self.rng: int | None = None
        self.foldable = False
        self.bodies: dict[str, Body] = {}
        self.touched: tuple[int, ...] = ()
        self.host_kernel = opdef.bind_kernel(np)
        self.device_kernel = opdef.device_kernel or opdef.kernel
        self.host_inputs = host_positions(op)
        flags = opdef.flags
        self.needs = "reads" in flags


def host_positions(op: Operation) -> tuple[int, ...]:
    """The positions, among the flat inputs, of those that must be known when the op is lowered."""
    opdef = op.opdef
    if not opdef.host:
        return ()
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


def is_pure(op: Operation) -> bool:
    """Whether the operation's outputs follow from its inputs alone."""
    return not op.opdef.flags & {"stateful", "random", "functional"} and op.type not in ("Placeholder",)


def is_small(op: Operation) -> bool:
    """Whether all outputs are known to be small; of lists nothing is known."""
    if any(t.dtype is dtypes.variant for t in op.outputs):
        return False
    return all((n := num_elements(t._spec.shape)) is not None and n <= _FOLD_LIMIT for t in op.outputs)


def execute(xp: Any, program: Sequence[Instruction], env: list[Any], cells: list[Any], cell_objects: Sequence[Cell],
            rng: Any) -> None:  # fmt: skip
    """Executes instructions in order.

    Args:
      xp: NumPy or jax.numpy.
      program: the instructions.
      env: one value for each slot; inputs are filled in, results are put here.
      cells: the current value of each variable; assignments change it.
      cell_objects: the variables, for messages.
      rng: how often each random op has run before, by `Instruction.rng`.
    """
    for ins in program:
        values = [env[i] for i in ins.ins]
        for position, cell in ins.refs:
            if ins.bodies:  # a sub-graph reaches its variables by itself
                values[position] = None
                continue
            values[position] = Ref(cells, cell, cell_objects[cell])
            if ins.needs and cells[cell] is None:
                raise uninitialized(ins.op, cell_objects[cell])
        attrs = ins.attrs
        on_host = xp is np
        if not on_host:
            on_host = ins.foldable and all(map(_is_array, values))
            if not on_host:
                for i in ins.host_inputs:
                    if not _is_array(values[i]):
                        raise MustBeKnown(ins.op, i)
        if ins.rng is not None:
            attrs = {**attrs, "rng": rng[ins.rng]}
        if ins.bodies:
            attrs = {**attrs, **_bind_bodies(xp, ins, cells, cell_objects, rng)}
        opdef = ins.op.opdef
        kernel = ins.host_kernel if on_host else ins.device_kernel
        try:
            result = kernel(np if on_host else xp, *opdef.pack(values, ins.op.attrs), **attrs)
        except MustBeKnown as need:
            if need.op.graph is ins.op.graph:
                raise
            # What a sub-graph only captures can be computed beforehand; else NumPy has to run all of it.
            raise MustBeKnown(ins.op, _captured_value(ins.op, need, values)) from None
        except NeedsHostValue as need:
            position = _position_of(ins.op, need.input_name) if need.input_name else WHOLE_OP
            raise MustBeKnown(ins.op, position) from None
        except OpError as e:
            if e._op is None:
                e._op, e._node_def = ins.op, ins.op.node_def
            raise
        except Exception as e:
            raise in_context(ins.op, e, values, host_function="host" in opdef.flags) from e
        if ins.bodies:
            result, state = result
            for index, value in zip(ins.touched, state, strict=True):
                cells[index] = value
        for slot, value, tensor in zip(ins.outs, opdef.unpack(result), ins.op.outputs, strict=True):
            env[slot] = _settle(xp, on_host, value, tensor)


def _captured_value(op: Operation, need: MustBeKnown, values: Sequence[Any]) -> int:
    """The position of the input of `op` that an operation inside of it has to know; `WHOLE_OP` if none will do."""
    if need.index == WHOLE_OP:
        return WHOLE_OP
    first = next(i for i, arg in enumerate(op.opdef.inputs) if arg.is_list)
    graph = need.op.graph
    inputs = {id(t): i for i, t in enumerate(getattr(graph, "inputs", ()))}
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
            if not is_pure(t.op) or "host" in t.op.opdef.flags:
                return WHOLE_OP
            waiting.extend(t.op.inputs)
    return missing


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _settle(xp: Any, on_host: bool, value: Any, tensor: Tensor) -> Any:
    """The value as an array of the declared dtype."""
    dtype = tensor.dtype
    if dtype.kind == "o":
        return value
    if on_host or _is_array(value):
        return np.asarray(value, dtype.np_dtype)
    if getattr(value, "dtype", None) != dtype.np_dtype:
        return xp.asarray(value, dtype.np_dtype)
    return value


def _bind_bodies(xp: Any, ins: Instruction, cells: list[Any], cell_objects: Sequence[Cell], rng: Any) -> dict[str, Any]:
    """Makes each sub-graph a function `f(args, state) -> (outputs, state)` for the kernel."""
    touched = ins.touched

    def bind(body: Body) -> Callable[..., Any]:
        def call(args: Sequence[Any], state: Sequence[Any], step: Any = None) -> tuple[list[Any], tuple[Any, ...]]:
            env: list[Any] = [None] * body.slots
            for slot, value in zip(body.ins, args, strict=True):
                if slot is not None:
                    env[slot] = value
            inner = list(cells)
            for index, value in zip(touched, state, strict=True):
                inner[index] = value
            counters = rng
            if rng is not None and step is not None:
                # Each iteration of a loop draws numbers of its own; multiplied, so that those of nested loops differ.
                counters = (rng + xp.asarray(step).astype(np.uint64) * np.uint64(65536)) * _MIX
            execute(xp, body.program, env, inner, cell_objects, counters)
            return [env[i] for i in body.outs], tuple(inner[i] for i in touched)

        return call

    bound: dict[str, Any] = {name: bind(body) for name, body in ins.bodies.items()}
    bound["state"] = tuple(cells[i] for i in touched)
    return bound


def _position_of(op: Operation, input_name: str) -> int:
    return _input_names(op.opdef, len(op.inputs)).index(input_name)


def uninitialized(op: Operation, cell: Cell) -> FailedPreconditionError:
    """Words the error for reading a variable that has no value."""
    return FailedPreconditionError(op.node_def, op, describe(
        op.type, op.name,
        f"Error while reading resource variable {cell.name} from Container: localhost. This could mean that the "
        f"variable was uninitialized. Attempting to use uninitialized value {cell.name}",
        f"{dtypes.as_dtype(cell.dtype).name} {shape_str(cell.shape)}", str(op.source or ""),
        "run tf.global_variables_initializer() in this session first"))  # fmt: skip


_CLASSES: tuple[tuple[Any, type[OpError]], ...] = (
    (MemoryError, ResourceExhaustedError), (NotImplementedError, UnimplementedError),
    ((StopIteration, IndexError), OutOfRangeError), ((TypeError, ValueError), InvalidArgumentError),
)  # fmt: skip


def in_context(op: Operation, error: Exception, values: Sequence[Any], host_function: bool = False) -> OpError:
    """Turns what a kernel raised into TensorFlow's error, naming op, shapes and the user's line."""
    operands = ", ".join(
        f"{name}={v.dtype} {shape_str(tuple(v.shape))}"
        for name, v in zip(_input_names(op.opdef, len(op.inputs)), values, strict=False)
        if hasattr(v, "shape")
    )
    fix = "check the shapes and values that this op is given"
    cls: type[OpError] = InvalidArgumentError
    if isinstance(error, Complaint):
        problem, fix = error.problem, error.fix
    elif host_function:
        problem = f"{type(error).__name__}: {error}"
        cls = next((c for kinds, c in _CLASSES if isinstance(error, kinds)), UnknownError)
        fix = "correct the Python function"
    else:
        problem = str(error).split("\n")[0] or type(error).__name__
    source = str(op.source or "")
    if op.type == "CheckNumerics":
        checked = op.inputs[0].op
        source += f"\n  It checks {checked.type} '{checked.name}', built at {checked.source}"
        if checked._original_op is not None:
            forward = checked._original_op
            source += f"\n  That is part of the gradient of {forward.type} '{forward.name}', built at {forward.source}"
    return cls(op.node_def, op, describe(op.type, op.name, problem, operands, source, fix))
