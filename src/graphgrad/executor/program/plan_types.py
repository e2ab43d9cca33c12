"""The parts of a plan: clusters, host steps and moves, on slots."""

from __future__ import annotations

import enum
import functools
import itertools
import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from graphgrad.ir import dtypes
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.shape import is_fully_defined
from graphgrad.ir.tensor import repr_html
from graphgrad.ir.values.variable_store import Cell
from graphgrad.op_traits import BatchSplit

from .interpreter import Instruction, can_fail, has_loop

if TYPE_CHECKING:
    from .fingerprint import Form


class Provenance(enum.Enum):
    """Where a value comes from that must be known when a cluster is lowered, since it decides shapes.

    However it comes, the shape rule of the operation that needs it checks it then (`fitting.py`), once for each value
    that it has; a run in NumPy checks it each time.
    """

    FOLDED = enum.auto()  # from constants, shapes and small fed values: NumPy computes it while the cluster is lowered
    FED = enum.auto()  # it is fed, and compiled in
    STEP = enum.auto()  # from a step before the cluster's level, and is compiled in


class Check(Protocol):
    """What `value_checks.Guard` implements: a check in NumPy before a cluster runs."""

    def refuses(self, env: Any) -> bool:
        """Returns whether it rejects the values in `env`."""


class Cluster:
    """Operations that XLA compiles together.

    Attributes:
      program: its instructions.
      ins: slots of its inputs.
      shapes: slots of which it uses only the shape.
      known: slot -> source of the values that must be known from outside when it is lowered.
      outs: slots of its results.
      rows: the rows of the table of random states that it gets, in the order of its own table.
      frees: slots that are dead afterwards.
      donated: slots among `ins` whose buffers it may write its results into.
      before: instructions that find out, in NumPy, what is known of the shape of the result of a split operation.
      packed: slot among `outs` -> the slots whose values are packed there, see `pack_buffers`.
      unpacked: slot among `ins` -> the slots, with shapes, whose values are packed there.
      split: how its only operation is split over several cores, or None.
      aside: whether it is called in another thread, while the run goes on with what does not read its result.
      guards: checks in NumPy before it runs, see `value_checks`.
      fault: the slot, among `outs`, that says whether one of `watched()` rejected a value, or None.
      loop: an operation that is or holds a loop, or None; then the program gets the numbers of `interrupts.Stop`.
      level: clusters of one level need no value from each other before they are lowered.
      device: where it runs, None for the default device.
      on_mesh: how values lie, if that is a mesh (`plan.meshes.OnMesh`), else None.
      form: its fingerprint, once `fingerprint.form_of` has computed it.
    """

    def __init__(self, program: list[Instruction], level: int):
        self.program = program
        self.level = level
        self.ins: list[int] = []
        self.shapes: list[int] = []
        self.known: dict[int, Provenance] = {}
        self.outs: list[int] = []
        self.rows: list[int] = []
        self.frees: list[int] = []
        self.donated: frozenset[int] = frozenset()
        self.before: list[Instruction] = []
        self.packed: dict[int, list[int]] = {}
        self.unpacked: dict[int, list[tuple[int, Any]]] = {}
        self.split: BatchSplit | None = None
        self.aside = False
        self.device: str | None = None
        self.on_mesh: Any = None
        self.guards: list[Check] = []
        self.fault: int | None = None
        self.form: Form | None = None
        self.loop = next((i.op for i in program if has_loop(i)), None)

    def watched(self) -> list[Instruction]:
        """Returns the instructions that may reject values while it runs."""
        return [i for i in self.program if not i.guarded and can_fail(i)]

    def __repr__(self) -> str:
        return f"<Cluster of {len(self.program)} ops>"


class HostStep:
    """One operation that runs in Python, with the instructions for its inputs.

    Attributes:
      program: its instructions, including those for its inputs.
      before, calls: the part that is arithmetic, and the part that can only run in Python.
      has_effects: whether a call, or one in its sub-graphs, must not be repeated.
      acts: whether it may wait or run user code, see `variable_locks`.
      waits: whether it may wait for another step.
      ins: slots of its inputs.
      outs: slots of its results.
      frees: slots that are dead afterwards.
    """

    def __init__(self, program: list[Instruction]):
        self.program = program
        self.calls = [i for i in program if calls_python(i)]
        self.before = [i for i in program if not calls_python(i)]
        self.has_effects = any(i.op.opdef.flags & {"stateful", "calls"} or acts(i) for i in self.calls)
        self.acts = any(map(acts, self.calls))
        self.waits = any("waits" in i.op.opdef.flags for i in self.calls)
        self.ins = sorted({s for i in program for s in i.reads()} - {s for i in program for s in i.gives()})
        self.outs = [s for i in program for s in i.gives()]
        self.frees: list[int] = []

    def __repr__(self) -> str:
        return f"<HostStep {self.program[-1].op.name}>"


def acts(instruction: Instruction) -> bool:
    """Returns whether an instruction may wait or runs user code: it runs once, and without locks."""
    flags = instruction.op.opdef.flags
    if "host" in flags and ("calls" in flags or ("stateful" in flags and "reads" not in flags)):
        return not changes(instruction)
    return any(acts(i) for body in instruction.bodies.values() for i in body.program)


def changes(instruction: Instruction) -> bool:
    """Returns whether an instruction gives variables new values."""
    touches = (*instruction.refs.values(), *instruction.touched)
    is_table = instruction.op.opdef.table  # iterators only advance: they have their own locks
    return any(t.out != t.slot and (is_table or t.cell.dtype is not dtypes.variant) for t in touches)


def calls_python(instruction: Instruction) -> bool:
    """Returns whether an instruction, or one in its sub-graphs, can only run in Python."""
    inner = (i for body in instruction.bodies.values() for i in body.program)
    return "host" in instruction.op.opdef.flags or any(map(calls_python, inner))


class Move(HostStep):
    """Moves a value to another device.

    Attributes:
      device: where to, None for the default device.
    """

    def __init__(self, op: Operation, source: int, target: int, device: str | None):
        super().__init__([Instruction(op, [source], [target])])
        self.device = device

    def __repr__(self) -> str:
        return f"<Move to {self.device}>"


class Plan:
    """The steps of a run.

    Attributes:
      steps: `Cluster` and `HostStep` objects, in order.
      feeds: slots of the fed tensors; `fetches` slots of the fetched ones.
      slots: the number of slots.
      static: slot -> the tensor that it was made for, with its static shape and dtype.
      constants: (slot, value) of large constants.
      loads: (slot, cell) of the variables that are read; `stores` of those that are assigned.
      ends: slots of fetched and assigned values; `endings` where the last step's results go, see `executable._ending`.
      readers: slot -> an operation that needs the value of the variable in it.
      shared: slots of assigned values that are also held elsewhere: by another variable, or the caller that fed them.
      several: those of them that several variables get.
      checks: (slot, cell, operation) of assignments whose shape is known only in the run.
      random_ops: the random operations, by their row in the table of random states.
      nested_rows: the rows of those in sub-graphs.
      mesh: the mesh that it runs on (`meshes.OnMesh`), or None.
      homes: slot -> device of constants and variables that are not on the default one.
      on_host: whether NumPy executes the whole plan.
      stays: whether NumPy does all runs that are not reported.
      has_loops: whether clusters hold loops.
      waits: how many steps may wait for others, see `independent_waits`.
      schedule: the instructions in the order in which NumPy executes them, once computed.
      straight: the whole as one function of NumPy's (`straight_line`), None if it cannot be one; before that the number
        of runs in NumPy.
      swift: what does all runs by that function, if NumPy always does them (`straight_run.Swift`), else None.
      template: the initial values of a run, one for each slot, and `ready` whether they are on the device.
      stages: the steps as they are called, once computed, and `lanes` which of them may run beside which, or None.
      writes: the variables that it changes, in locking order, and `locks` their locks.
      last_act: the last step that acts, or None.
      exposed: the positions among `fetches` of values that variables hold as well.
    """

    _repr_html_ = repr_html

    def __init__(self) -> None:
        self.steps: list[Cluster | HostStep] = []
        self.feeds: list[int] = []
        self.fetches: list[int] = []
        self.slots = 0
        self.static: dict[int, Tensor] = {}
        self.constants: list[tuple[int, Any]] = []
        self.loads: list[tuple[int, Cell]] = []
        self.stores: list[tuple[int, Cell]] = []
        self.ends: list[int] = []
        self.endings: dict[tuple[int, ...], Any] = {}
        self.readers: dict[int, Operation] = {}
        self.shared: set[int] = set()
        self.several: set[int] = set()
        self.checks: list[tuple[int, Cell, Operation]] = []
        self.random_ops: list[Operation] = []
        self.nested_rows: set[int] = set()
        self.mesh: Any = None
        self.homes: dict[int, str] = {}
        self.on_host = False
        self.stays = False
        self.waits = 0
        self.has_loops = False
        self.schedule: Any = None
        self.straight: Any = 0
        self.swift: Any = None
        self.template: list[Any] = []
        self.ready = False
        self.stages: Any = None
        self.lanes: Any = None
        self.writes: list[Cell] = []
        self.locks: list[Any] = []
        self.last_act: HostStep | None = None
        self.exposed: list[int] = []

    def __str__(self) -> str:
        lines = []
        for i, step in enumerate(self.steps):
            if isinstance(step, Cluster):
                where = f" on {step.device}" if step.device else ""
                lines.append(f"{i}: cluster, {len(step.program)} ops, {len(step.ins)} in, {len(step.outs)} out{where}")
            elif isinstance(step, Move):
                lines.append(f"{i}: move to {step.device or 'the default device'}")
            else:
                op = step.program[-1].op
                lines.append(f"{i}: host op {op.type} '{op.name}'")
        return "\n".join(lines)


def depends(step: HostStep, other: HostStep) -> bool:
    """Returns whether a step's operation depends on another's."""
    target = other.calls[-1].op
    waiting, seen = [step.calls[-1].op], set[int]()
    while waiting:
        op = waiting.pop()
        if op is target:
            return True
        if op.index > target.index and op.index not in seen:
            seen.add(op.index)
            waiting += [t.op for t in op.inputs]
            waiting += op.control_inputs
    return False


def independent_waits(steps: Sequence[Cluster | HostStep]) -> int:
    """Counts the steps that may wait for others; 1 if each of them begins only when the previous one is over."""
    waiting = [s for s in steps if isinstance(s, HostStep) and s.waits]
    if all(depends(b, a) for a, b in itertools.pairwise(waiting)):
        return min(1, len(waiting))
    return len(waiting)


def connect(plan: Plan, floating: Mapping[int, Instruction]) -> None:
    """Computes the outputs of each step, where each slot is read for the last time, and what is stored.

    Args:
      plan: the plan; its steps are filled in.
      floating: slot -> the instruction that is computed wherever its result is needed.
    """
    kept = {*plan.fetches, *(s for s, _ in plan.stores)}
    plan.ends = list(kept)
    _find_lifetimes(plan, kept, floating)
    if plan.steps and isinstance(final := plan.steps[-1], Cluster):
        final.donated = _donated(plan, final)
    plan.writes = [cell for _, cell in sorted({id(cell): cell for _, cell in plan.stores}.items())]
    plan.locks = [cell.lock for cell in plan.writes]
    plan.last_act = next((s for s in reversed(plan.steps) if isinstance(s, HostStep) and s.acts), None)
    held = {s for s, _ in (*plan.loads, *plan.stores)}
    plan.exposed = [i for i, s in enumerate(plan.fetches) if s in held and s not in plan.homes]
    made = {s for step in plan.steps for s in step.outs}
    times = Counter(slot for slot, _ in plan.stores)
    plan.several = {slot for slot, n in times.items() if n > 1}
    plan.shared = plan.several | (times.keys() - made)


def _find_lifetimes(plan: Plan, kept: set[int], floating: Mapping[int, Instruction]) -> None:
    """Fills in which values each cluster hands on, and which slots are empty after each step."""
    last: dict[int, int] = {}  # slot -> the step that reads it last
    for number, step in enumerate(plan.steps):
        last.update(dict.fromkeys(_read_by(step), number))
    for number, step in enumerate(plan.steps):
        if isinstance(step, Cluster):
            given = [s for i in step.program for s in i.gives() if s not in floating]
            # What is split has one result, whether anything reads it or the operation is only to be run.
            step.outs = given if step.split else [s for s in given if s in kept or last.get(s, -1) > number]
        step.frees = [s for s in _read_by(step) if s not in kept and last[s] == number]
        if isinstance(step, HostStep) or step.split:
            step.frees += [s for s in step.outs if s not in kept and last.get(s, -1) <= number]


def _read_by(step: Cluster | HostStep) -> list[int]:
    """Returns the slots that a step reads, in any way."""
    return step.ins if isinstance(step, HostStep) else [*step.ins, *step.shapes, *step.known]


def _donated(plan: Plan, final: Cluster) -> frozenset[int]:
    """Returns the slots of variables that the last step may update in place, since after it nothing can fail."""
    tensors = map(plan.static.get, (*final.ins, *final.outs))
    has_lists = any(t is not None and t.dtype is dtypes.variant for t in tensors)
    outs, passed = set(final.outs), set(final.ins).intersection(final.frees)
    if has_lists or any(s in outs for s, _, _ in plan.checks):
        return frozenset()
    stored = {id(cell): slot for slot, cell in plan.stores if slot in outs}
    return _in_place(final.program, {s: stored[id(cell)] for s, cell in plan.loads if id(cell) in stored and s in passed
                                     and is_fully_defined(cell.shape)})


def _in_place(program: Sequence[Instruction], updates: Mapping[int, int]) -> frozenset[int]:
    """Returns the slots whose values are read only by what their update depends on.

    Of others XLA, which orders operations by their data alone, would make a copy first. That takes longer than an
    update into other memory, and as much of it.

    Args:
      program: the instructions, in order.
      updates: slot of a variable's value -> slot of its new value.
    """
    readers: Counter[int] = Counter()  # slot -> those that read it, a bit each
    behind: dict[int, int] = {}  # slot -> the readers that its value depends on
    bit = 1
    for instruction in program:
        slots = instruction.reads()
        seen = functools.reduce(operator.or_, (behind.get(s, 0) for s in slots), 0)
        if read := updates.keys() & slots:
            seen |= bit
            for slot in read:
                readers[slot] |= bit
            bit <<= 1
        if seen:
            behind.update(dict.fromkeys(instruction.gives(), seen))
    return frozenset(s for s, new in updates.items() if not readers[s] & ~behind.get(new, 0))
