"""The planner: turns fetches into steps.

The graph is pruned to what the fetches need, common subexpressions are merged, and the rest is assigned to *levels*.
Level by level, the operations that XLA can compile are cut into clusters (`partition.py`), and those that need Python
(host ops) run after them. An operation goes to a later level only if it must: because it needs the result of a host op,
or because it needs a *value*
to be lowered at all (the target shape of a reshape, say) that the compiler cannot know.

Steps work on slots. A variable gets a new slot with each assignment, so only slots connect steps; the final value of a
variable is written back when all steps have succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from graphgrad.errors import InvalidArgumentError
from graphgrad.executor.backend.batch_split import RULES, is_large
from graphgrad.executor.program.interpreter import Body, Instruction, Touch, is_pure, is_small
from graphgrad.ir import dtypes
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.shape import is_fully_defined, shape_str
from graphgrad.ir.variable_store import Cell

from . import value_checks
from .common_subexpressions import Merger
from .constants import Knowledge
from .dead_outputs import needed_in, prune, without_unused
from .loop_fusion import join_loops
from .pack_buffers import pack
from .partition import sections
from .placement import Placement, arrange_on_devices, assign, connect_devices
from .plan_types import Cluster, HostStep, Plan, connect, independent_waits
from .schedule import arrange, with_short_sums

# Operations that return their input, so that both share a slot.
_SAME = frozenset({"Identity", "StopGradient", "PreventGradient", "IdentityN"})


def make_plan(fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
              resolve: Callable[[Tensor], Cell], must_know: frozenset[tuple[int, int]] = frozenset(),
              whole: bool = False, place: Placement | None = None) -> Plan:
    """Plans a run.

    Args:
      fetches, targets, feeds: as in `prune`.
      resolve: returns the variable behind the tensor of a `VarHandleOp` or a captured handle.
      must_know: (operation index, input position) of inputs that lowering turned out to need
        the values of.
      whole: whether the operations of a level become one cluster, however many they are.
      place: assigns operations to devices.
    Raises: InvalidArgumentError for a placeholder that is needed and not fed.
    """
    return _Planner(fetches, targets, feeds, resolve, must_know, whole, place).plan()


class _Frame:
    """The slots of a graph, or of a sub-graph."""

    def __init__(self) -> None:
        self.slot_of: dict[int, int] = {}  # id(tensor) -> slot
        self.count = 0
        self.first: dict[int, int] = {}  # cell index -> the slot of the initial value
        self.version: dict[int, int] = {}  # cell index -> the slot of its current value
        self.made: set[int] = set()  # indices of cells that an operation here creates from a value

    def new(self) -> int:
        self.count += 1
        return self.count - 1

    def cell(self, index: int) -> int:
        if index not in self.version:
            self.version[index] = self.first[index] = self.new()
        return self.version[index]


class _Planner:
    def __init__(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
                 resolve: Callable[[Tensor], Cell], must_know: frozenset[tuple[int, int]], whole: bool,
                 place: Placement | None):
        self.fetches, self.feeds = fetches, feeds
        self.fed = {id(t) for t in feeds}
        self.resolve = resolve
        self.whole = whole
        self.ops = without_unused(prune(fetches, targets, feeds), fetches, targets, feeds)
        self.devices = assign(place, self.ops)
        refused = {index for index, _ in must_know if index < 0}  # operations that cannot be compiled together
        self.ops, self.joined = join_loops(self.ops, self.fed, refused, self.devices)
        self.known = Knowledge(self.ops, self.fed, must_know)
        self.result = Plan()
        self.frame = self.outermost = _Frame()
        self.cells: list[Cell] = []
        self.cell_of: dict[int, int] = {}  # id(cell) -> index
        self.handles: dict[int, int] = {}  # id(resource tensor) -> cell index
        self.row_of: dict[Operation, int] = {}
        self.floating: dict[int, Instruction] = {}  # slot -> the instruction that computes it wherever it is needed
        self.merger = Merger()
        self.placed = 0

    def plan(self) -> Plan:
        result = self.result
        result.feeds = [self._slot(t) for t in self.feeds]
        groups = self._lay_out(self._assign_levels())
        result.fetches = [self._fetched(t) for t in self.fetches]
        frame = self.frame
        result.loads = [(slot, self.cells[i]) for i, slot in frame.first.items()]
        result.stores = [(slot, self.cells[i]) for i, slot in frame.version.items()
                         if slot != frame.first.get(i) and i not in frame.made]
        kept = {*result.fetches, *(slot for slot, _ in result.stores)}
        for n, (level, program) in enumerate(groups):
            if level is None:
                result.steps.append(HostStep(self._with_floating(program)))
                continue
            pieces = self._pieces(program, kept, groups[n + 1 :])
            if n == len(groups) - 1 and not self.whole:
                pieces[-1:] = value_checks.part(pieces[-1], [s for s, _ in result.stores], self.floating)
            for piece in pieces:
                result.steps.append(self._cluster(piece, level))
        wanted = {id(i): i for s in kept if (i := self.floating.get(s)) is not None}
        if wanted:
            result.steps.append(HostStep(self._with_floating(sorted(wanted.values(), key=_order))))
        result.slots = frame.count
        if self.devices:
            named = [(o, self.devices[o.index]) for o in self.ops if o.index in self.devices]
            homes = {frame.slot_of.get(id(o.outputs[0]), -1): d for o, d in named if o.type == "Const"}
            cells = {id(self.cells[self._cell(o.outputs[0])]): d for o, d in named if o.type == "VarHandleOp"}
            connect_devices(result, self.floating, homes, cells)
        connect(result, self.floating)
        pack(result)
        value_checks.watch(result)
        result.waits = independent_waits(result.steps)
        result.has_loops = any(isinstance(s, Cluster) and s.loop is not None for s in result.steps)
        # Initialisers run once: NumPy finishes before XLA would have compiled them.
        result.on_host = not self.feeds and not self.fetches and not frame.first
        return result

    def _slot(self, t: Tensor) -> int:
        slot = self.frame.slot_of.get(id(t))
        if slot is None:
            slot = self.frame.slot_of[id(t)] = self.frame.new()
            if self.frame is self.outermost:
                self.result.static[slot] = t
        return slot

    def _fetched(self, t: Tensor) -> int:
        """Returns the slot of a fetch; a reference variable is fetched at the end of the run."""
        if t.op.index in t.graph._scoped_state.get("references", ()) and id(t) not in self.fed:
            return self.frame.cell(self._cell(t.op.inputs[0]))
        return self._slot(t)

    # -- levels ----------------------------------------------------------------------

    def _needs_host(self, op: Operation) -> bool:
        return needs_host(op) or self.known.only_on_host(op)

    def _assign_levels(self) -> dict[int, list[tuple[Operation, bool]]]:
        """Assigns levels: level -> (operation, whether it runs on the host), in creation order."""
        fed, known = self.fed, self.known
        levels: dict[int, int] = {}
        on_host: set[int] = set()
        last_write: dict[int, int] = {}
        last_use: dict[int, int] = {}
        result: dict[int, list[tuple[Operation, bool]]] = {}
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
                for position in known.positions(op):
                    t = op.inputs[position]
                    if id(t) not in fed and id(t) not in known.static:
                        level = max(level, levels[t.op.index] + 1)
            cells = [self._cell(t) for t in op.inputs if t.dtype is dtypes.resource]
            writes = bool(cells) and "reads" not in op.opdef.flags
            for cell in cells:
                level = max(level, last_write.get(cell, 0))
                if writes:
                    level = max(level, last_use.get(cell, 0))
            for cell in cells:
                # A host op comes after the clusters of its level.
                after = level + host
                last_use[cell] = max(last_use.get(cell, 0), after)
                if writes:
                    last_write[cell] = after
            for index in self._indices(op):
                levels[index] = level
                if host:
                    on_host.add(index)
            result.setdefault(level, []).append((op, host))
        return result

    def _indices(self, op: Operation) -> tuple[int, ...]:
        """Returns the indices of the operations that `op` replaces."""
        joint = self.joined.get(id(op))
        return (op.index,) if joint is None else (op.index, joint.forward.index, joint.record.index)

    def _cell(self, t: Tensor) -> int:
        """Returns the index of the variable behind a handle."""
        source = t
        while (index := self.handles.get(id(source))) is None and source.op.type in _SAME and source.op.inputs:
            source = source.op.inputs[source.value_index]
        if index is None:
            if source.op.type == "VariableOf":
                cell = Cell(None, source.op.name, source.op.inputs[0].dtype, source.op.inputs[0]._spec.shape)
            else:
                cell = self.resolve(source)
            index = self.cell_of.get(id(cell))
            if index is None:
                index = self.cell_of[id(cell)] = len(self.cells)
                self.cells.append(cell)
            self.handles[id(source)] = index
        self.handles[id(t)] = index
        return index

    # -- operations to instructions --------------------------------------------------

    def _lay_out(self, levels: dict[int, list[tuple[Operation, bool]]]) -> list[tuple[int | None, list[Instruction]]]:
        """Returns the programs of levels (level, program) and the host ops (None, [instruction]), in order."""
        groups: list[tuple[int | None, list[Instruction]]] = []
        for level in sorted(levels):
            clustered: list[Instruction] = []
            hosts: list[tuple[int | None, list[Instruction]]] = []
            for on_host in (False, True):
                for op, host in levels[level]:
                    if host is on_host:
                        instruction = self._place(op)
                        if instruction is None:
                            continue
                        if host:
                            hosts.append((None, [instruction]))
                        else:
                            clustered.append(instruction)
            if clustered:
                groups.append((level, clustered))
            groups.extend(hosts)
        return groups

    def _pieces(self, program: list[Instruction], kept: set[int],
                later: Sequence[tuple[int | None, list[Instruction]]]) -> list[list[Instruction]]:
        """Cuts the program of a level."""
        floating, slot_of = self.floating, self.frame.slot_of
        if later:
            kept = kept.union(*(i.reads() for _, p in later for i in p), *(i.reads() for i in floating.values()))
        if self.devices:
            pieces = arrange_on_devices(program, kept, floating, slot_of, self._new_slot, not later, self.whole)
        elif self.whole:
            return sections(program)
        else:
            pieces = arrange(program, kept, floating, slot_of, self._new_slot, not later)
        return with_short_sums(pieces, self._new_slot)

    def _new_slot(self, t: Tensor) -> int:
        slot = self.frame.new()
        self.result.static[slot] = t
        return slot

    def _place(self, op: Operation) -> Instruction | None:
        """Returns the instruction of an operation, or None for one without an instruction."""
        fed, frame = self.fed, self.frame
        is_fed = any(id(t) in fed for t in op.outputs)
        if is_fed and all(id(t) in fed for t in op.outputs):
            return None  # only a control dependency needs it
        if op.type == "Placeholder":
            if op.outputs[0].dtype is not dtypes.resource:
                raise _unfed(op)
            return None
        if self._without_step(op):
            return None
        if op.type == "ReadVariableOp":
            slot = self._alias_of_variable(op)
            self.result.static.setdefault(slot, op.outputs[0])
            if not op.attrs.get("_unset_too"):
                self.result.readers.setdefault(slot, op)
            return None
        if op.type == "AssignVariableOp":
            slot, index = self._slot(op.inputs[1]), self._cell(op.inputs[0])
            frame.version[index] = slot
            if not is_fully_defined(op.inputs[1]._spec.shape):
                self.result.checks.append((slot, self.cells[index], op))
            return None
        if op.type in _SAME and not is_fed:
            for t, source in zip(op.outputs, op.inputs, strict=True):
                frame.slot_of[id(t)] = self._slot(source)
            return None
        if op.type == "Const" and not self.known.floats(op):
            self.result.constants.append((self._slot(op.outputs[0]), op.attrs["value"]))
            return None
        if not op.control_inputs and is_pure(op) and not is_fed:
            mark = op.graph._recomputed.get(op.index), self.devices.get(op.index)
            slots = self.merger.find(op, [self._slot(t) for t in op.inputs], mark)
            if slots is not None:
                frame.slot_of.update((id(t), slot) for t, slot in zip(op.outputs, slots, strict=True))
                return None
            self.merger.remember([self._slot(t) for t in op.outputs])
        instruction = self._instruction(op, fed)
        self.placed += 1
        instruction.order = self.placed
        instruction.device = self.devices.get(op.index)
        instruction.mark = op.graph._recomputed.get(op.index, 0)
        if self.known.floats(op):
            self.floating.update(dict.fromkeys(instruction.outs, instruction))
            return None
        return instruction

    def _without_step(self, op: Operation) -> bool:
        """Returns whether an operation only refers to values."""
        if op.type == "VariableOf":
            index = self._cell(op.outputs[0])
            self.frame.version[index] = self._slot(op.inputs[0])
            self.frame.made.add(index)
            return True
        return op.type in ("NoOp", "VarHandleOp") or _passes_handle(op)

    def _alias_of_variable(self, op: Operation) -> int:
        """Returns the slot of the variable's value at the point where `op` reads it."""
        slot = self.frame.slot_of[id(op.outputs[0])] = self.frame.cell(self._cell(op.inputs[0]))
        return slot

    def _instruction(self, op: Operation, fed: set[int]) -> Instruction:
        frame = self.frame
        joint = self.joined.get(id(op)) if op.index < 0 else None
        if joint is not None:
            frame.slot_of.update((id(t), self._slot(same)) for t, same in joint.same)
        ins = [-1 if t.dtype is dtypes.resource else self._slot(t) for t in op.inputs]
        # A fed output is computed, but not used.
        outs = [frame.new() if id(t) in fed else self._slot(t) for t in op.outputs]
        instruction = Instruction(op, ins, outs)
        bodies = {name: value for name, value in op.attrs.items() if isinstance(value, FuncGraph)}
        for name in bodies:
            instruction.attrs.pop(name, None)
        if bodies:
            self._add_bodies(instruction, op, bodies)
        else:
            for i, t in enumerate(op.inputs):
                if t.dtype is dtypes.resource:
                    instruction.refs[i] = self._touch(op, self._cell(t))
        if "random" in op.opdef.flags:
            # A copy made for a gradient draws the numbers of its original.
            original = op.attrs.get("_drawn_by", op)
            row = self.row_of.get(original)
            if row is None:
                row = self.row_of[original] = len(self.result.random_ops)
                self.result.random_ops.append(original)
            instruction.rng = row
        instruction.foldable = instruction.shapes_only or (
            is_pure(op) and (op.index in self.known.folded or is_small(op))
        )
        return instruction

    def _touch(self, op: Operation, index: int) -> Touch:
        frame = self.frame
        before = -1 if op.type == "AssignVariableOp" else frame.cell(index)
        after = before
        if frame is self.outermost and before >= 0 and "unset" not in op.opdef.flags:
            self.result.readers.setdefault(before, op)
        if not op.opdef.flags & {"reads", "keeps"}:
            after = frame.version[index] = frame.new()
        return Touch(before, after, self.cells[index])

    def _add_bodies(self, instruction: Instruction, op: Operation, graphs: dict[str, FuncGraph]) -> None:
        """Prepares sub-graphs; their random ops join those of the plan, their variables pass through them."""
        frames: dict[str, _Frame] = {}
        for name, graph in graphs.items():
            instruction.bodies[name], frames[name] = self._body(op, graph)
        touched = sorted({index for frame in frames.values() for index in frame.version.keys() - frame.made})
        written = set()
        for name, frame in frames.items():
            body = instruction.bodies[name]
            for index in touched:
                last = frame.cell(index)
                if index not in frame.first:  # assigned before it is read
                    frame.first[index] = frame.new()
                body.state.append((frame.first[index], last))
                if last != frame.first[index]:
                    written.add(index)
            body.slots = frame.count
        outer = self.frame
        touches = []
        for index in touched:
            before = outer.cell(index)
            after = before
            if index in written:
                after = outer.version[index] = outer.new()
            touches.append(Touch(before, after, self.cells[index]))
        instruction.touched = tuple(touches)

    def _body(self, op: Operation, graph: FuncGraph) -> tuple[Body, _Frame]:
        first = next(i for i, a in enumerate(op.opdef.inputs) if a.is_list)
        outer = op.inputs[first : first + len(graph.inputs)]
        for inner, o in zip(graph.inputs, outer, strict=True):
            if inner.dtype is dtypes.resource:
                self.handles[id(inner)] = self._cell(o)
        saved = self.frame
        frame = self.frame = _Frame()
        try:
            ins = [None if t.dtype is dtypes.resource else self._slot(t) for t in graph.inputs]
            program: list[Instruction] = []
            args = {id(t) for t in graph.inputs}
            needed, joined = join_loops(needed_in(graph), args, (), {})
            self.joined.update(joined)
            for inner_op in needed:
                if self._without_step(inner_op):
                    continue
                if inner_op.type == "ReadVariableOp" and inner_op.attrs.get("_unset_too"):
                    self._alias_of_variable(inner_op)
                    continue
                if inner_op.type == "Placeholder":
                    raise _unfed(inner_op)
                instruction = self._instruction(inner_op, args)
                instruction.foldable = is_pure(inner_op)
                program.append(instruction)
            outs = [self._slot(t) for t in graph.outputs]
            return Body(program, ins, outs, [t._spec for t in graph.outputs]), frame
        finally:
            self.frame = saved

    # -- steps -----------------------------------------------------------------------

    def _with_floating(self, program: Sequence[Instruction]) -> list[Instruction]:
        """Adds to a program the instructions whose results it needs while it is lowered."""
        present = set(map(id, program))
        result: list[Instruction] = []
        for instruction in program:
            needed = [instruction]
            for reader in needed:  # it grows
                for slot in reader.reads():
                    found = self.floating.get(slot)
                    if found is not None and id(found) not in present:
                        present.add(id(found))
                        needed.append(found)
            result += sorted(needed[1:], key=_order)
            result.append(instruction)
        return result

    def _cluster(self, program: list[Instruction], level: int) -> Cluster:
        cluster = Cluster(self._with_floating(program), level)
        if len(program) == 1 and not self.whole and is_large(program[0]) and self._split(cluster, program[0]):
            return cluster
        inside = {s for i in cluster.program for s in i.gives()}
        values: dict[int, None] = {}
        shapes: dict[int, None] = {}
        known: dict[int, None] = {}
        fed_and_known = {self._slot(t) for t in self.feeds if id(t) in self.known.feeds}
        for instruction in cluster.program:
            op = instruction.op
            positions = self.known.positions(op)
            for i, slot in enumerate(instruction.ins):
                if slot < 0 or slot in inside:
                    continue
                if slot in fed_and_known or (i in positions and id(op.inputs[i]) not in self.known.static):
                    known[slot] = None
                else:
                    (shapes if instruction.shapes_only else values)[slot] = None
            for touch in (*instruction.refs.values(), *instruction.touched):
                if touch.slot >= 0 and touch.slot not in inside:
                    (shapes if instruction.shapes_only else values)[touch.slot] = None
        cluster.known = list(known)
        cluster.ins = [s for s in values if s not in known]
        cluster.shapes = [s for s in shapes if s not in known and s not in values]
        cluster.rows = list(dict.fromkeys(_rows(cluster.program)))
        return cluster

    def _split(self, cluster: Cluster, large: Instruction) -> bool:
        """Splits a cluster of one large convolution over several cores, if possible."""
        rule = RULES[large.op.type]
        before = [i for i in cluster.program if i is not large]
        inner = {s for i in before for s in i.gives()}
        outer = dict.fromkeys(s for i in before for s in i.reads() if s not in inner)
        ins = [s for i, s in enumerate(large.ins) if i != rule.sizes]
        known = [] if rule.sizes is None else [large.ins[rule.sizes]]
        # The shape of the whole result differs from that of a part, so it must be known beforehand.
        if any(s in inner for s in ins) or any(s not in inner for s in known):
            return False
        if not all(i.shapes_only for i in before if any(s in outer for s in i.reads())):
            return False
        cluster.split, cluster.before, cluster.program = rule, before, [large]
        cluster.ins, cluster.known, cluster.shapes = list(dict.fromkeys(ins)), known, list(outer)
        return True


def _order(instruction: Instruction) -> int:
    return instruction.order


def _rows(program: Iterable[Instruction]) -> Iterable[int]:
    for instruction in program:
        if instruction.rng is not None:
            yield instruction.rng
        for body in instruction.bodies.values():
            yield from _rows(body.program)


def needs_host(op: Operation) -> bool:
    """Returns whether an operation can only run in Python."""
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
