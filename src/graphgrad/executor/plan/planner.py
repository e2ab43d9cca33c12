"""The planner: turns fetches into steps.

The graph is pruned to what the fetches need, common subexpressions are merged, and the rest is assigned to *levels*
(`levels.py`). Level by level, the operations that XLA can compile are cut into clusters (`partition.py`), and those
that need Python (host ops) run after them.

Steps work on slots. A variable gets a new slot with each assignment, so only slots connect steps; the final value of a
variable is written back when all steps have succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphgrad.errors import InvalidArgumentError
from graphgrad.executor.program.interpreter import Body, Instruction, Touch, is_small
from graphgrad.executor.program.plan_types import Cluster, Plan, connect, independent_waits
from graphgrad.ir import dtypes
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import OpDef
from graphgrad.ir.shape import is_fully_defined, shape_str
from graphgrad.ir.values.mesh_layout import layout_in
from graphgrad.ir.values.variable_store import Cell

from . import value_checks
from .common_subexpressions import Merger
from .constants import Knowledge
from .dead_outputs import needed_in, prune, without_unused
from .levels import assign_levels
from .loop_fusion import join_loops
from .meshes import lay_out, mesh_of_run
from .pack_buffers import pack
from .partition import sections
from .placement import Placement, arrange_on_devices, assign, connect_devices
from .products import with_better_products
from .schedule import arrange, with_short_sums
from .step_builder import StepBuilder, built_order


def make_plan(fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
              resolve: Callable[[Tensor], Cell], must_know: frozenset[tuple[int, int]] = frozenset(),
              whole: bool = False, place: Placement | None = None, meshes: bool = True) -> Plan:
    """Plans a run.

    Args:
      fetches, targets, feeds: as in `prune`.
      resolve: returns the variable behind the tensor of a `VarHandleOp` or a captured handle.
      must_know: (operation index, input position) of inputs that lowering turned out to need
        the values of.
      whole: whether the operations of a level become one cluster, however many they are.
      place: assigns operations to devices.
      meshes: whether annotations count that split values over the devices of a mesh.
    Raises: InvalidArgumentError for a placeholder that is needed and not fed.
    """
    return _Planner(fetches, targets, feeds, resolve, must_know, whole, place, meshes).plan()


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
                 place: Placement | None, meshes: bool):
        self.fetches, self.feeds = fetches, feeds
        self.fed = {id(t) for t in feeds}
        self.fed_ops = {t.op.index for t in feeds}
        self.special: dict[OpDef, bool] = {}  # see `_is_special`
        self.resolve = resolve
        self.ops = without_unused(prune(fetches, targets, feeds), fetches, targets, feeds)
        self.mesh = mesh_of_run(self.ops, resolve, place) if meshes else None
        self.whole = whole or self.mesh is not None
        self.devices = {} if self.mesh is not None else assign(place, self.ops)
        refused = {index for index, _ in must_know if index < 0}  # operations that cannot be compiled together
        self.ops, self.joined = join_loops(self.ops, self.fed, refused, self.devices)
        self.known = Knowledge(self.ops, feeds, must_know)
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
        """Makes the plan."""
        result = self.result
        result.feeds = [self._slot(t) for t in self.feeds]
        levels = assign_levels(self.ops, self.fed, self.known, self._cell, self._indices)
        groups = self._lay_out(levels)
        result.fetches = [self._fetched(t) for t in self.fetches]
        frame = self.frame
        result.loads = [(slot, self.cells[i]) for i, slot in frame.first.items()]
        result.stores = [(slot, self.cells[i]) for i, slot in frame.version.items()
                         if slot != frame.first.get(i) and i not in frame.made]
        self._add_steps(groups)
        result.slots = frame.count
        if self.devices:
            self._connect_devices()
        connect(result, self.floating)
        pack(result)
        value_checks.watch(result)
        result.waits = independent_waits(result.steps)
        result.has_loops = any(isinstance(s, Cluster) and s.loop is not None for s in result.steps)
        # Initialisers run once: NumPy finishes before XLA would have compiled them.
        result.on_host = not self.feeds and not self.fetches and not frame.first
        if self.mesh is not None:
            lay_out(result, self.mesh, self.ops, frame.slot_of)
        return result

    def _add_steps(self, groups: list[tuple[int | None, list[Instruction]]]) -> None:
        """Partitions the programs of levels into clusters, with host steps between them."""
        result = self.result
        known_feeds = {self._slot(t) for t in self.feeds if id(t) in self.known.feeds}
        build = StepBuilder(self.floating, self.known, known_feeds, self.whole)
        kept = {*result.fetches, *(slot for slot, _ in result.stores)}
        for n, (level, program) in enumerate(groups):
            if level is None:
                result.steps.append(build.host_step(program))
                continue
            pieces = self._pieces(program, kept, groups[n + 1 :])
            if n == len(groups) - 1 and not self.whole:
                pieces[-1:] = value_checks.part(pieces[-1], [s for s, _ in result.stores], self.floating)
            result.steps += [build.cluster(piece, level) for piece in pieces]
        wanted = {id(i): i for s in kept if (i := self.floating.get(s)) is not None}
        if wanted:
            result.steps.append(build.host_step(sorted(wanted.values(), key=built_order)))

    def _connect_devices(self) -> None:
        """Adds the moves between devices."""
        named = [(o, self.devices[o.index]) for o in self.ops if o.index in self.devices]
        homes = {self.frame.slot_of.get(id(o.outputs[0]), -1): d for o, d in named if o.type == "Const"}
        cells = {id(self.cells[self._cell(o.outputs[0])]): d for o, d in named if o.type == "VarHandleOp"}
        cells.update((id(self.cells[self._cell(t)]), d) for o, d in named if "functional" not in o.opdef.flags
                     for t in o.inputs if t.dtype is dtypes.resource and t.op.type == "Placeholder" and t.op.device)
        connect_devices(self.result, self.floating, homes, cells)

    def _indices(self, op: Operation) -> tuple[int, ...]:
        """Returns the indices of the operations that `op` replaces."""
        joint = self.joined.get(id(op))
        return (op.index,) if joint is None else (op.index, joint.forward.index, joint.record.index)

    # -- slots -----------------------------------------------------------------------

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

    def _cell(self, t: Tensor) -> int:
        """Returns the index of the variable behind a handle."""
        source = t
        while (index := self.handles.get(id(source))) is None and source.op.opdef.alias and source.op.inputs:
            source = source.op.inputs[source.value_index]
        if index is None:
            if source.op.opdef.variable == "hold":
                cell = Cell(None, source.op.name, source.op.inputs[0].dtype, source.op.inputs[0]._spec.shape)
            else:
                cell = self.resolve(source)
                if source.op.attrs and (layout := layout_in(source.op.attrs)) is not None:
                    cell.layout = layout
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
        program = with_better_products(program, kept, floating, self._new_slot)
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
        fed, opdef = self.fed, op.opdef
        is_fed = op.index in self.fed_ops and any(id(t) in fed for t in op.outputs)
        if is_fed and all(id(t) in fed for t in op.outputs):
            return None  # only a control dependency needs it
        if (self._is_special(opdef) and (self._without_step(op) or self._renames(op, is_fed))) or _passes_handle(op):
            return None
        floats = self.known.floats(op)
        if not floats and opdef.name == "Const":
            self.result.constants.append((self._slot(op.outputs[0]), op.attrs["value"]))
            return None
        if opdef.pure and not is_fed and not op.control_inputs:
            wires = self._unless_merged(op)
            if wires is None:
                return None
            instruction = Instruction(op, *wires)
            instruction.foldable = instruction.shapes_only or op.index in self.known.folded or is_small(op)
        else:
            instruction = self._instruction(op, fed)
        self.placed += 1
        instruction.order = self.placed
        if self.devices:
            instruction.device = self.devices.get(op.index)
        instruction.mark = op.graph._notes.recomputed.get(op.index, 0)
        if floats:
            self.floating.update(dict.fromkeys(instruction.outs, instruction))
            return None
        return instruction

    def _is_special(self, opdef: OpDef) -> bool:
        """Returns whether an op's operations may need no instruction: those that refer to values, and renamings."""
        found = self.special.get(opdef)
        if found is None:
            found = self.special[opdef] = bool(
                opdef.variable or opdef.alias or opdef.name == "Placeholder" or "idle" in opdef.flags)
        return found

    def _renames(self, op: Operation, is_fed: bool) -> bool:
        """Returns whether an operation only gives slots to what is there already: reads, assignments, identities."""
        frame, result = self.frame, self.result
        if op.opdef.variable == "read":
            slot = self._alias_of_variable(op)
            result.static.setdefault(slot, op.outputs[0])
            if not op.attrs.get("_unset_too"):
                result.readers.setdefault(slot, op)
            return True
        if op.opdef.variable == "assign":
            slot, index = self._slot(op.inputs[1]), self._cell(op.inputs[0])
            frame.version[index] = slot
            if not is_fully_defined(op.inputs[1]._spec.shape):
                result.checks.append((slot, self.cells[index], op))
            return True
        if op.opdef.alias and not is_fed:
            for t, source in zip(op.outputs, op.inputs, strict=True):
                frame.slot_of[id(t)] = self._slot(source)
            return True
        return False

    def _unless_merged(self, op: Operation) -> tuple[list[int], list[int]] | None:
        """Returns the slots of a pure operation's inputs and outputs; None if an equal operation's outputs serve."""
        slot_of = self.frame.slot_of
        ins = [self._slot(t) if (slot := slot_of.get(id(t))) is None else slot for t in op.inputs]
        recomputed = op.graph._notes.recomputed
        mark = (recomputed.get(op.index), self.devices.get(op.index)) if recomputed or self.devices else None
        outs = self.merger.find(op, ins, mark)
        if outs is not None:
            slot_of.update((id(t), slot) for t, slot in zip(op.outputs, outs, strict=True))
            return None
        outs = [self._slot(t) for t in op.outputs]
        self.merger.remember(outs)
        return ins, outs

    def _without_step(self, op: Operation) -> bool:
        """Returns whether an operation only refers to values.

        Raises: InvalidArgumentError for a placeholder of a value, which should have been fed.
        """
        if op.type == "Placeholder":
            if op.outputs[0].dtype is not dtypes.resource:
                raise _unfed(op)
            return True
        if op.opdef.variable == "hold":
            index = self._cell(op.outputs[0])
            self.frame.version[index] = self._slot(op.inputs[0])
            self.frame.made.add(index)
            return True
        return "idle" in op.opdef.flags or _passes_handle(op)

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
        bodies = {name: value for name, value in op.attrs.items() if isinstance(value, FuncGraph)} if op.attrs else {}
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
                if frame is not self.outermost:
                    self.result.nested_rows.add(row)
            instruction.rng = row
        instruction.foldable = instruction.shapes_only or (
            op.opdef.pure and (op.index in self.known.folded or is_small(op))
        )
        return instruction

    def _touch(self, op: Operation, index: int) -> Touch:
        frame = self.frame
        before = -1 if op.opdef.variable == "assign" else frame.cell(index)
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
                if inner_op.opdef.variable == "read" and inner_op.attrs.get("_unset_too"):
                    self._alias_of_variable(inner_op)
                    continue
                instruction = self._instruction(inner_op, args)
                instruction.foldable = inner_op.opdef.pure
                program.append(instruction)
            outs = [self._slot(t) for t in graph.outputs]
            return Body(program, ins, outs, [t._spec for t in graph.outputs]), frame
        finally:
            self.frame = saved

def _passes_handle(op: Operation) -> bool:
    for t in op.outputs:
        if t._spec.dtype is not dtypes.resource:
            return False
    return bool(op.outputs)


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
