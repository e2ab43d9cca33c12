"""Planning: what a run has to compute, cut into steps.

The graph is pruned to what the fetches need, and its operations are laid out in *levels*.
Level by level, the operations that XLA can compile form one cluster, and those that need
Python (host ops) run after it. An operation goes to a later level only if it must: because it
needs the result of a host op, or because it needs a *value* to be lowered at all (the target
shape of a reshape, say) that the compiler cannot know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import InvalidArgumentError
from ..ir import dtypes
from ..ir.cell import Cell
from ..ir.funcgraph import FuncGraph
from ..ir.graph import Operation, Tensor
from ..ir.shape import shape_str
from .program import WHOLE_OP, Body, Instruction, host_positions, is_pure, is_small

# Operations whose result only depends on the shapes of their inputs.
SHAPE_OPS = frozenset({"Shape", "ShapeN", "Rank", "Size", "VariableShape", "TensorListLength"})
_LARGE_CONSTANT = 16384  # bytes: larger constants are handed to XLA as arguments


class Cluster:
    """Operations that XLA compiles together.

    Attributes:
      program: its instructions.
      ins: slots of what it gets; `known` those among them whose values are compiled in.
      outs: slots of what it gives.
      reads: cells whose value it gets; `writes` those that it gives a new value.
      random: whether it gets the run's vector of execution counters.
    """

    def __init__(self) -> None:
        self.program: list[Instruction] = []
        self.ins: list[int] = []
        self.known: list[int] = []
        self.outs: list[int] = []
        self.reads: list[int] = []
        self.writes: list[int] = []
        self.random = False

    def __repr__(self) -> str:
        return f"<Cluster of {len(self.program)} ops>"


class HostStep:
    """One operation that runs in Python."""

    def __init__(self, instruction: Instruction):
        self.instruction = instruction

    def __repr__(self) -> str:
        return f"<HostStep {self.instruction.op.name}>"


class Plan:
    """The steps of a run.

    Attributes:
      steps: `Cluster` and `HostStep` objects, in order.
      feeds: slots of the fed tensors; `fetches` slots of the fetched ones.
      slots: how many slots there are.
      constants: (slot, value) of large constants.
      cells: the variables that the steps touch.
      random_ops: the random operations, by their place in the vector of counters.
      on_host: whether NumPy executes the whole plan.
    """

    def __init__(self) -> None:
        self.steps: list[Cluster | HostStep] = []
        self.feeds: list[int] = []
        self.fetches: list[int] = []
        self.slots = 0
        self.constants: list[tuple[int, Any]] = []
        self.cells: list[Cell] = []
        self.random_ops: list[Operation] = []
        self.on_host = False

    def __str__(self) -> str:
        lines = []
        for i, step in enumerate(self.steps):
            if isinstance(step, Cluster):
                lines.append(
                    f"{i}: cluster, {len(step.program)} ops, {len(step.ins)} in, {len(step.outs)} out, "
                    f"{len(step.reads)} variables read, {len(step.writes)} written"
                )
            else:
                lines.append(f"{i}: host op {step.instruction.op.type} '{step.instruction.op.name}'")
        return "\n".join(lines)


def prune(fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]) -> list[Operation]:
    """The operations that a run needs, in creation order.

    Args:
      fetches: tensors whose values are wanted.
      targets: operations that are to run.
      feeds: tensors whose values are given; what only they need is left out.
    """
    fed = {id(t) for t in feeds}
    needed: dict[int, Operation] = {}
    stack = [t.op for t in fetches if id(t) not in fed] + list(targets)
    while stack:
        op = stack.pop()
        if op.index in needed:
            continue
        needed[op.index] = op
        stack.extend(t.op for t in op.inputs if id(t) not in fed)
        stack.extend(op.control_inputs)
    return [needed[i] for i in sorted(needed)]


def make_plan(
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: Sequence[Tensor],
    resolve: Callable[[Tensor], Cell],
    must_know: frozenset[tuple[int, int]] = frozenset(),
) -> Plan:
    """Plans a run.

    Args:
      fetches, targets, feeds: as in `prune`.
      resolve: gives the variable behind the tensor that a `VarHandleOp` or a captured handle is.
      must_know: (operation index, input position) of inputs that lowering turned out to need
        the values of.
    Raises: InvalidArgumentError for a placeholder that is needed and not fed.
    """
    return _Planner(fetches, targets, feeds, resolve, must_know).plan()


class _Planner:
    def __init__(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
                 resolve: Callable[[Tensor], Cell], must_know: frozenset[tuple[int, int]]):  # fmt: skip
        self.fetches = fetches
        self.feeds = feeds
        self.resolve = resolve
        self.must_know = must_know
        self.ops = prune(fetches, targets, feeds)
        self.result = Plan()
        self.slot_of: dict[int, int] = {}  # id(tensor) -> slot
        self.cell_of: dict[int, int] = {}  # id(cell) -> index
        self.handles: dict[int, int] = {}  # id(resource tensor) -> cell index
        self.level: dict[int, int] = {}  # id(tensor) -> the level after which it is there
        self.static: set[int] = set()  # ids of tensors that follow from constants, shapes and feeds
        self.fixed: set[int] = set()  # ids of those that follow from constants and shapes alone
        self.known_feeds: set[int] = set()
        self.given: set[int] = set()  # ids of tensors that a cluster has handed out already
        self.draws = False  # whether the cluster being built draws random numbers
        self.folded: set[int] = set()  # indices of ops that have to be computed in NumPy

    def plan(self) -> Plan:
        result = self.result
        fed = {id(t) for t in self.feeds}
        for t in self.feeds:
            result.feeds.append(self._slot(t))
            self.level[id(t)] = -1
        self._find_static(fed)
        levels = self._assign_levels(fed)
        self._build_steps(levels, fed)
        for t in self.fetches:
            result.fetches.append(self._slot(t))
        has_feeds_or_fetches = self.feeds or self.fetches
        reads = any(isinstance(s, Cluster) and s.reads for s in result.steps)
        # Initialisers run once: NumPy is done before XLA would have compiled them.
        result.on_host = not has_feeds_or_fetches and not reads
        return result

    def _slot(self, t: Tensor) -> int:
        slot = self.slot_of.get(id(t))
        if slot is None:
            slot = self.slot_of[id(t)] = self.result.slots
            self.result.slots += 1
        return slot

    # -- what the compiler can know --------------------------------------------------

    def _find_static(self, fed: set[int]) -> None:
        static, fixed = self.static, self.fixed
        for op in self.ops:
            outputs = [id(t) for t in op.outputs if id(t) not in fed]
            if op.type == "Const" or op.type in SHAPE_OPS:
                static.update(outputs)
                fixed.update(outputs)
            elif op.inputs and is_pure(op) and "host" not in op.opdef.flags:
                if all(id(t) in static or id(t) in fed for t in op.inputs):
                    static.update(outputs)
                if all(id(t) in fixed for t in op.inputs):
                    fixed.update(outputs)
        # Fed tensors that decide shapes are compiled in by their values, and what is computed
        # from them is computed in NumPy.
        for op in self.ops:
            for position in self._known_positions(op):
                t = op.inputs[position]
                if id(t) in static or id(t) in fed:
                    self._fold(t, fed)

    def _needs_host(self, op: Operation) -> bool:
        return needs_host(op) or (op.index, WHOLE_OP) in self.must_know

    def _known_positions(self, op: Operation) -> tuple[int, ...]:
        positions = host_positions(op)
        if self.must_know:
            positions += tuple(
                i for index, i in self.must_know if index == op.index and i not in positions and i != WHOLE_OP
            )
        return positions

    def _fold(self, t: Tensor, fed: set[int]) -> None:
        stack = [t]
        while stack:
            t = stack.pop()
            if id(t) in fed:
                self.known_feeds.add(id(t))
            elif t.op.index not in self.folded:
                self.folded.add(t.op.index)
                if t.op.type not in SHAPE_OPS:
                    stack.extend(t.op.inputs)

    # -- levels ----------------------------------------------------------------------

    def _assign_levels(self, fed: set[int]) -> dict[int, int]:
        levels: dict[int, int] = {}
        on_host: set[int] = set()
        last_write: dict[int, int] = {}
        last_use: dict[int, int] = {}
        for op in self.ops:
            host = self._needs_host(op)
            level = 0
            for t in op.inputs:
                if id(t) not in fed:
                    producer = t.op.index
                    level = max(level, levels[producer] + (producer in on_host and not host))
            for c in op.control_inputs:
                level = max(level, levels[c.index] + (c.index in on_host and not host))
            if not host:
                for position in self._known_positions(op):
                    t = op.inputs[position]
                    if id(t) not in fed and id(t) not in self.static:
                        level = max(level, levels[t.op.index] + 1)
            cells, writes = self._cells(op)
            for cell in cells:
                level = max(level, last_write.get(cell, 0))
                if writes:
                    level = max(level, last_use.get(cell, 0))
            for cell in cells:
                # A host op comes after the cluster of its level.
                after = level + host
                last_use[cell] = max(last_use.get(cell, 0), after)
                if writes:
                    last_write[cell] = after
            levels[op.index] = level
            if host:
                on_host.add(op.index)
        return levels

    def _cells(self, op: Operation) -> tuple[list[int], bool]:
        """The variables that an operation touches, and whether it may change them."""
        cells = [self._cell(t) for t in op.inputs if t.dtype is dtypes.resource]
        return cells, bool(cells) and "reads" not in op.opdef.flags

    def _cell(self, t: Tensor) -> int:
        index = self.handles.get(id(t))
        if index is None:
            source = t
            while source.op.type in ("Identity", "StopGradient") and source.op.inputs:
                source = source.op.inputs[0]
            cell = self.resolve(source)
            index = self.cell_of.get(id(cell))
            if index is None:
                index = self.cell_of[id(cell)] = len(self.result.cells)
                self.result.cells.append(cell)
            self.handles[id(t)] = index
        return index

    # -- steps -----------------------------------------------------------------------

    def _build_steps(self, levels: dict[int, int], fed: set[int]) -> None:
        result = self.result
        by_level: dict[int, tuple[list[Operation], list[Operation]]] = {}
        for op in self.ops:
            if all(id(t) in fed for t in op.outputs) and op.outputs:
                continue  # it is only here because something waits for it
            if op.type == "Placeholder" and op.outputs[0].dtype is not dtypes.resource:
                raise _unfed(op)
            if op.type in ("VarHandleOp",) or _passes_handle(op) or op.type == "Placeholder":
                continue
            clustered, host = by_level.setdefault(levels[op.index], ([], []))
            (host if self._needs_host(op) else clustered).append(op)
        consumers: dict[int, set[int]] = {}  # id(tensor) -> steps that use it
        plan: list[list[Operation]] = []
        for level in sorted(by_level):
            clustered, host = by_level[level]
            if clustered:
                plan.append(clustered)
            plan.extend([op] for op in host)
        for number, ops in enumerate(plan):
            if not self._needs_host(ops[0]):
                plan[number] = ops = self._with_what_is_known(ops, fed)
            for op in ops:
                for t in op.inputs:
                    consumers.setdefault(id(t), set()).add(number)
        fetched = {id(t) for t in self.fetches}
        for number, ops in enumerate(plan):
            if self._needs_host(ops[0]):
                instruction = self._instruction(ops[0], fed)
                result.steps.append(HostStep(instruction))
            else:
                result.steps.append(self._cluster(ops, number, consumers, fetched, fed))

    def _with_what_is_known(self, ops: list[Operation], fed: set[int]) -> list[Operation]:
        """Adds copies of what other clusters know at compile time, so that it is known in this one too."""
        present = {op.index: op for op in ops}
        stack = list(ops)
        while stack:
            for t in stack.pop().inputs:
                op = t.op
                if op.index in present or id(t) in fed or op.type == "Placeholder":
                    continue
                if op.index in self.folded or (id(t) in self.fixed and is_small(op)):
                    present[op.index] = op
                    stack.append(op)
        return [present[i] for i in sorted(present)]

    def _cluster(self, ops: list[Operation], number: int, consumers: dict[int, set[int]], fetched: set[int],
                 fed: set[int]) -> Cluster:  # fmt: skip
        cluster = Cluster()
        self.draws = False
        inside: set[int] = set()
        ins: dict[int, None] = {}
        reads: dict[int, None] = {}
        writes: dict[int, None] = {}
        known: set[int] = set()
        for op in ops:
            positions = self._known_positions(op)
            for i, t in enumerate(op.inputs):
                if t.dtype is not dtypes.resource and id(t) not in inside:
                    slot = self._slot(t)
                    ins[slot] = None
                    if id(t) in self.known_feeds or (i in positions and id(t) not in self.static):
                        known.add(slot)
            if op.type == "Const" and op.outputs[0].dtype.kind != "o" and op.index not in self.folded:
                value = op.attrs["value"]
                if value.nbytes > _LARGE_CONSTANT:
                    self.result.constants.append((self._slot(op.outputs[0]), value))
                    continue
            instruction = self._instruction(op, fed)
            touched, writing = self._cells(op)
            overwrites = op.type == "AssignVariableOp"
            for cell in (*touched, *instruction.touched):
                if not overwrites and cell not in writes:
                    reads[cell] = None
                if writing or (instruction.touched and "reads" not in op.opdef.flags):
                    writes[cell] = None
            inside.update(id(t) for t in op.outputs if id(t) not in fed)
            cluster.program.append(instruction)
            for t in op.outputs:
                needed = id(t) in fetched or consumers.get(id(t), set()) - {number}
                if needed and id(t) not in fed and id(t) not in self.given:
                    self.given.add(id(t))
                    cluster.outs.append(self._slot(t))
        cluster.known = [s for s in ins if s in known]
        cluster.ins = [s for s in ins if s not in known]
        cluster.random = self.draws
        cluster.reads = list(reads)
        cluster.writes = list(writes)
        return cluster

    def _instruction(self, op: Operation, fed: set[int]) -> Instruction:
        spare = -1  # a fed output is computed, but not used
        ins = [0 if t.dtype is dtypes.resource else self._slot(t) for t in op.inputs]
        outs = [self._slot(t) if id(t) not in fed else spare for t in op.outputs]
        if spare in outs:
            waste = self.result.slots
            self.result.slots += 1
            outs = [waste if s == spare else s for s in outs]
        instruction = Instruction(op, ins, outs)
        instruction.refs = tuple((i, self._cell(t)) for i, t in enumerate(op.inputs) if t.dtype is dtypes.resource)
        if "random" in op.opdef.flags:
            # A copy made for a gradient draws the numbers of its original.
            original = op.attrs.get("_drawn_by", op)
            if original not in self.result.random_ops:
                self.result.random_ops.append(original)
            instruction.rng = self.result.random_ops.index(original)
            self.draws = True
        known = op.type in SHAPE_OPS or (is_pure(op) and (op.index in self.folded or is_small(op)))
        instruction.foldable = known
        for name, value in op.attrs.items():
            if isinstance(value, FuncGraph):
                instruction.bodies[name] = self._body(op, value)
        if instruction.bodies:
            instruction.touched = tuple(sorted({c for b in instruction.bodies.values() for c in b.touched}))
            instruction.attrs = {k: v for k, v in instruction.attrs.items() if k not in instruction.bodies}
        return instruction

    def _body(self, op: Operation, graph: FuncGraph) -> Body:
        """Prepares a sub-graph; its cells and random ops join those of the plan."""
        first = next(i for i, a in enumerate(op.opdef.inputs) if a.is_list)
        outer = op.inputs[first : first + len(graph.inputs)]
        saved = self.resolve, self.slot_of, self.result.slots
        bound = {id(inner): self._cell(o) for inner, o in zip(graph.inputs, outer, strict=True)
                 if inner.dtype is dtypes.resource}  # fmt: skip
        cells = self.result.cells
        self.slot_of, self.result.slots = {}, 0
        outer_resolve = self.resolve
        self.resolve = lambda t: cells[bound[id(t)]] if id(t) in bound else outer_resolve(t)
        try:
            ins = [None if t.dtype is dtypes.resource else self._slot(t) for t in graph.inputs]
            program: list[Instruction] = []
            touched: set[int] = set()
            args = {id(t) for t in graph.inputs}
            for inner in prune(
                graph.outputs, [o for o in graph._operations if "stateful" in o.opdef.flags], graph.inputs
            ):
                if _passes_handle(inner) or inner.type == "VarHandleOp":
                    continue
                if inner.type == "Placeholder":
                    raise _unfed(inner)
                instruction = self._instruction(inner, args)
                instruction.foldable = is_pure(inner)
                touched.update(self._cells(inner)[0], instruction.touched)
                program.append(instruction)
            outs = [self._slot(t) for t in graph.outputs]
            return Body(program, ins, outs, self.result.slots, tuple(sorted(touched)))
        finally:
            self.resolve, self.slot_of, self.result.slots = saved


def needs_host(op: Operation) -> bool:
    """Whether an operation can only run in Python."""
    flags = op.opdef.flags
    if "host" in flags:
        return True
    if "functional" in flags:
        bodies = [g for g in op.attrs.values() if isinstance(g, FuncGraph)]
        if any(needs_host(o) for g in bodies for o in g._operations):
            return True
        # XLA's control flow carries values of one shape.
        return op.type == "If" and any(
            a._spec.shape != b._spec.shape for a, b in zip(bodies[0].outputs, bodies[1].outputs, strict=True)
        )
    return any(t.dtype is dtypes.string for t in (*op.inputs, *op.outputs))


def _passes_handle(op: Operation) -> bool:
    return bool(op.outputs) and all(t.dtype is dtypes.resource for t in op.outputs)


def _unfed(op: Operation) -> InvalidArgumentError:
    t = op.outputs[0]
    shape = t._spec.shape
    return InvalidArgumentError(
        op.node_def,
        op,
        (
            f"You must feed a value for placeholder tensor '{op.name}' with dtype {t.dtype.name}"
            + ("" if shape is None else f" and shape {shape_str(shape)}")
            + ".\n"
            f"  Built at {op.source}\n  Fix: add it to feed_dict, e.g. sess.run(..., feed_dict={{{op.name}: value}})"
        ),
    )
