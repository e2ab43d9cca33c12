"""Schedules operations for a low peak of memory.

Operations run in creation order, which suits most graphs. Where branches are all built before any of them is reduced,
it keeps all of them alive; then another schedule is computed, and used if a simulation of live memory finds it better.
Values of unknown size count as small.

That schedule follows the graph from a result back to what it needs, the more demanding operand first (Sethi and Ullman,
The generation of optimal code for arithmetic expressions, 1970), and after each operation runs those that free as much
as they allocate. A sum of many terms becomes a chain of sums of two, in which each term dies as soon as it is added, in
the order in which the terms are computed.

Control dependencies hold in any schedule, and operations with effects keep their order.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from graphgrad.executor.program.interpreter import Instruction
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.op_traits import is_sum

from .partition import cut
from .stand_ins import stand_in

LARGE = 32_000_000  # bytes: below this peak operations run in creation order
BETTER = 0.8  # another schedule is used if its peak is at most this fraction of the original
ENOUGH = 0.5  # a schedule with this fraction is good enough
UNKNOWN = 32  # assumed size of a dimension that only the run knows
_EFFECTS = frozenset({"stateful"})


def arrange(program: Sequence[Instruction], kept: Collection[int], floating: Mapping[int, Instruction],
            slot_of: Mapping[int, int], new: Callable[[Tensor], int],
            final: bool) -> list[list[Instruction]]:
    """Cuts a program into clusters, in creation order or in one with a lower peak.

    Args:
      program: the instructions of a level, in creation order.
      kept: slots that are read after it.
      floating: slot -> the instruction that is computed wherever its result is needed.
      slot_of: id of a tensor -> its slot.
      new: makes a slot for a value like that of a tensor.
      final: whether nothing comes after it in the run.
    Returns: the pieces, in order.
    """
    pieces = cut(program, final)
    if sum(map(_given, program)) < LARGE:
        return pieces
    before, there = highest(pieces, kept)
    if before < LARGE or there is None or least_peak(program, kept, there) > before * BETTER:
        return pieces
    net = Net(program, kept, floating, slot_of)
    wide = [i for i in program if _is_wide_sum(i)]
    best = before * BETTER
    for backwards in (True, False):
        order = net.order(backwards)
        if wide:
            order = Net(_without_wide_sums(program, order, new), kept, floating, slot_of).order(backwards)
        if peak([[i] for i in order], kept) <= best:
            other = cut(order, final, together=False)
            reached = peak(other, kept)
            if reached <= best:
                pieces, best = other, reached - 1
        if best <= before * ENOUGH:
            break
    return pieces


def peak(pieces: Sequence[Sequence[Instruction]], kept: Collection[int]) -> int:
    """Simulates the peak of live bytes if pieces run one by one; inputs of a piece live until its end."""
    return highest(pieces, kept)[0]


def highest(pieces: Sequence[Sequence[Instruction]], kept: Collection[int]) -> tuple[int, Instruction | None]:
    """Returns what `peak` does, and the instruction at which it is reached."""
    last = {s: place for place, i in enumerate(itertools.chain.from_iterable(pieces)) for s in i.reads()}
    size: dict[int, int] = {}
    most = live = place = 0
    there = None
    for piece in pieces:
        inside: set[int] = set()
        end = place + len(piece)
        outer: list[int] = []  # what comes from outside, and is dead at the end
        for instruction in piece:
            for s, n in sizes(instruction):
                size[s] = n
                live += n
                inside.add(s)
            if live > most:
                most, there = live, instruction
            for s in instruction.reads():
                if last[s] < end and s not in inside:
                    outer.append(s)
                elif last[s] == place and s not in kept:
                    live -= size.pop(s, 0)
            for s in instruction.gives():
                if s not in last and s not in kept:
                    live -= size.pop(s, 0)
            place += 1
        for s in outer:
            if s not in kept:
                live -= size.pop(s, 0)
    return most, there


def least_peak(program: Sequence[Instruction], kept: Collection[int], at: Instruction) -> int:
    """Returns what is alive at an instruction in whatever order a program runs: no peak is lower.

    That is what it depends on and what depends on it reads. A gradient needs nearly all that is alive, and looking for
    an order takes longer than all else in planning.

    Args:
      program: the instructions in an order in which they may run.
      kept: slots that are read after it.
      at: one of the instructions.
    """
    place = next(n for n, i in enumerate(program) if i is at)
    needed = set(at.reads())
    size: dict[int, int] = {}
    for instruction in reversed(program[:place]):
        if not needed.isdisjoint(instruction.gives()):
            needed.update(instruction.reads())
            size.update(sizes(instruction))
    held = {s for s in size if s in kept}
    after = set(at.gives())
    for instruction in program[place:]:
        reads = instruction.reads()
        if instruction is at or not after.isdisjoint(reads):
            after.update(instruction.gives())
            if not _is_wide_sum(instruction):  # else each term is dead once it has been added
                held.update([s for s in reads if s in size])
    return _given(at) + sum(size[s] for s in held)


def sizes(instruction: Instruction) -> Iterator[tuple[int, int]]:
    """Yields the slots that an instruction fills, with their sizes in bytes, as far as known."""
    for slot, t in zip(instruction.outs, instruction.op.outputs, strict=True):
        yield slot, bytes_of(t._spec)
    if not instruction.refs and not instruction.touched:
        return
    for touch in (*instruction.refs.values(), *instruction.touched):
        if touch.out != touch.slot:
            yield touch.out, bytes_of(Spec.of(touch.cell.dtype, touch.cell.shape))


def _given(instruction: Instruction) -> int:
    if not instruction.refs and not instruction.touched:
        outputs = instruction.op.outputs
        return bytes_of(outputs[0]._spec) if len(outputs) == 1 else sum([bytes_of(t._spec) for t in outputs])
    return sum(n for _, n in sizes(instruction))


@functools.lru_cache(maxsize=4096)
def bytes_of(spec: Spec) -> int:
    """Returns the size of a tensor, with `UNKNOWN` for each unknown dimension; 0 for anything but an array."""
    if spec.dtype.kind == "o" or spec.shape is None:
        return 0
    return math.prod([UNKNOWN if n is None else n for n in spec.shape]) * spec.dtype.np_dtype.itemsize


# -- wide sums -------------------------------------------------------------------------


def _is_wide_sum(instruction: Instruction) -> bool:
    many = is_sum(instruction.op) and len(instruction.ins) > 2
    return many and len(instruction.ins) * _given(instruction) >= LARGE


def _without_wide_sums(program: Sequence[Instruction], order: Sequence[Instruction],
                       new: Callable[[Tensor], int]) -> list[Instruction]:
    """Turns each sum of many large terms into a chain of sums of two, the first ones in `order` first."""
    place = {s: n for n, i in enumerate(order) for s in i.gives()}
    result: list[Instruction] = []
    for instruction in program:
        if not _is_wide_sum(instruction):
            result.append(instruction)
            continue
        op = instruction.op
        total, *terms = sorted(instruction.ins, key=lambda s: place.get(s, -1))
        for n, term in enumerate(terms, 1):
            out = instruction.outs[0] if n == len(terms) else new(op.outputs[0])
            result.append(Instruction(_sum_of(op, 2), [total, term], [out]))
            total = out
    return result


def with_short_sums(pieces: list[list[Instruction]], new: Callable[[Tensor], int]) -> list[list[Instruction]]:
    """Distributes sums of very many small terms over the pieces that compute the terms; the terms keep their order.

    XLA takes long for a sum of thousands of terms, such as the gradient of a variable that as many operations read, and
    each term would be passed between programs.

    Args:
      pieces: instructions in the order of execution.
      new: makes a slot for a value like that of a tensor.
    """
    if not any(_has_many_terms(i) for piece in pieces for i in piece):
        return pieces
    place = {s: n for n, piece in enumerate(pieces) for i in piece for s in i.gives()}
    result: list[list[Instruction]] = [[] for _ in pieces]
    for n, piece in enumerate(pieces):
        for instruction in piece:
            if not _has_many_terms(instruction):
                result[n].append(instruction)
                continue
            terms: list[int] = []
            for _, run in itertools.groupby(instruction.ins, lambda s: place.get(s, -1)):
                terms += run
                if len(terms) > _ENOUGH_TERMS and 0 <= (at := max(place.get(s, -1) for s in terms)) < n:
                    total = new(instruction.op.outputs[0])
                    place[total] = at
                    result[at].append(_part_of_sum(instruction, terms, total))
                    terms = [total]
            result[n].append(_part_of_sum(instruction, terms, instruction.outs[0]))
    return result


_MANY_TERMS = 64  # sums of more terms are distributed
_ENOUGH_TERMS = 8  # to pieces that compute, or are the last before they compute, more than this many
_SMALL_TERM = 8192  # bytes: sums of larger terms are quicker in one operation


def _has_many_terms(instruction: Instruction) -> bool:
    many = len(instruction.ins) > _MANY_TERMS and is_sum(instruction.op)
    return many and 0 < _given(instruction) <= _SMALL_TERM


def _part_of_sum(instruction: Instruction, terms: list[int], out: int) -> Instruction:
    part = Instruction(_sum_of(instruction.op, len(terms)), terms, [out])
    part.order, part.device, part.mark = instruction.order, instruction.device, instruction.mark
    return part


def _sum_of(op: Operation, n: int) -> Operation:
    """Makes a partial sum of `n` terms."""
    return stand_in(op, op.opdef, {**op.attrs, "N": n}, op.inputs[:n], op.outputs)


# -- the other schedule ----------------------------------------------------------------


class Net:
    """The dependencies in a program: the nodes `before` and `after` each node.

    Nodes are its instructions, then what else connects them: instructions that are computed wherever they are needed,
    and operations without an instruction, such as NoOp, that control inputs pass through.
    """

    def __init__(self, program: Sequence[Instruction], kept: Collection[int], floating: Mapping[int, Instruction],
                 slot_of: Mapping[int, int]):
        self._program = program
        self._kept = kept
        self._floating = floating
        self._slot_of = slot_of
        self._size: dict[int, int] = {}
        self._given: list[list[int]] = []
        self._producer: dict[int, int] = {}  # slot -> node
        self._node_of: dict[int, int] = {}  # id of an operation or an instruction -> node
        for node, instruction in enumerate(program):
            given = dict(sizes(instruction))
            self._size.update(given)
            self._given.append(list(given))
            self._producer.update(dict.fromkeys(given, node))
            self._node_of[id(instruction.op)] = node
        self._nodes: list[Instruction | Operation] = list(program)
        self.before: list[list[int]] = []
        self._reads: list[list[int]] = []  # the slots within the program that a node reads, each once
        self._add_edges()
        self.after: list[list[int]] = [[] for _ in self._nodes]
        for node, before_it in enumerate(self.before):
            for other in before_it:
                self.after[other].append(node)
        self._given += [[] for _ in range(len(self._nodes) - len(program))]
        self._demanding = self._by_demand()

    def _add_edges(self) -> None:
        """Finds out for each node what it waits for; nodes without an instruction are added as they are met."""
        latest = -1  # the latest operation with effects
        for node, thing in enumerate(self._nodes):  # it grows
            before: dict[int, None] = {}
            if isinstance(thing, Instruction):
                slots, controls = thing.reads(), thing.op.control_inputs
            else:
                slots = [self._slot_of[id(t)] for t in thing.inputs if id(t) in self._slot_of]
                controls = thing.control_inputs
            for slot in slots:
                if slot in self._producer:
                    before[self._producer[slot]] = None
                elif slot in self._floating:
                    before[self._node(self._floating[slot])] = None
            for op in controls:
                if id(op) in self._node_of or op.inputs or op.control_inputs:
                    before[self._node(op)] = None
            is_placed = node < len(self._program)
            if is_placed and isinstance(thing, Instruction) and _has_effects(thing):
                if latest >= 0:
                    before[latest] = None
                latest = node
            self.before.append(list(before))
            self._reads.append(list(dict.fromkeys(s for s in slots if s in self._producer)) if is_placed else [])

    def _node(self, thing: Instruction | Operation) -> int:
        """Returns the node of an instruction or operation, which may be a new one."""
        node = self._node_of.get(id(thing))
        if node is None:
            node = self._node_of[id(thing)] = len(self._nodes)
            self._nodes.append(thing)
        return node

    def _by_demand(self) -> list[list[int]]:
        """Orders the dependencies of each node so that least has to be alive."""
        waits = list(map(len, self.before))
        ready = [n for n, count in enumerate(waits) if not count]
        size = [sum(self._size[s] for s in given) for given in self._given]
        need = [0] * len(waits)
        result: list[list[int]] = [[]] * len(waits)
        for node in ready:  # it grows
            operands = sorted(self.before[node], key=lambda n: size[n] - need[n])
            result[node] = operands
            held = 0
            for n in operands:
                need[node] = max(need[node], held + need[n])
                held += size[n]
            need[node] = max(need[node], held + size[node])
            for n in self.after[node]:
                waits[n] -= 1
                if not waits[n]:
                    ready.append(n)
        return result

    def order(self, backwards: bool) -> list[Instruction]:
        """Orders the instructions for a low peak.

        Args:
          backwards: whether to begin with the result that was built last.
        """
        waits = list(map(len, self.before))
        readers: dict[int, int] = dict.fromkeys(self._size, 0)
        last: dict[int, int] = dict.fromkeys(self._size, 0)  # the sum of the nodes that are still to read it
        for node, reads in enumerate(self._reads):
            for s in reads:
                readers[s] += 1
                last[s] += node
        done = [False] * len(waits)
        result: list[Instruction] = []

        def growth(node: int) -> int:
            return (sum(self._size[s] for s in self._given[node] if readers[s] or s in self._kept)
                    - sum(self._size[s] for s in self._reads[node] if readers[s] == 1 and s not in self._kept))

        def run(node: int) -> None:
            stack = [node]
            while stack:
                node = stack.pop()
                if done[node] or waits[node]:
                    continue
                done[node] = True
                if node < len(self._program):
                    result.append(self._program[node])
                candidates = []
                for n in self.after[node]:
                    waits[n] -= 1
                    if not waits[n]:
                        candidates.append(n)
                for s in self._reads[node]:
                    readers[s] -= 1
                    last[s] -= node
                    if readers[s] == 1 and not waits[last[s]]:
                        candidates.append(last[s])
                stack += [n for n in reversed(candidates) if not done[n] and growth(n) <= 0]

        for node in [n for n, count in enumerate(waits) if not count and growth(n) <= 0]:
            run(node)
        results = [n for n, after in enumerate(self.after) if not after]
        for root in reversed(results) if backwards else results:
            path = [(root, iter(self._demanding[root]))]
            while path:
                node, operands = path[-1]
                operand = next((n for n in operands if not done[n]), None)
                if operand is not None:
                    path.append((operand, iter(self._demanding[operand])))
                    continue
                path.pop()
                run(node)
        return result


def _has_effects(instruction: Instruction) -> bool:
    return bool(instruction.touched) or bool(instruction.op.opdef.flags & _EFFECTS)
