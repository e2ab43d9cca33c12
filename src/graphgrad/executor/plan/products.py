"""Fewer and smaller matrix products.

What recurs shares its weights: the steps of a recurrent network, or a net that is applied to several inputs. Their
gradient is a sum of small products, one for each use. One product of the operands joined together is faster: it runs at
the speed of large matrices, on all cores, and no term is written to memory. And where only a part of a product is read,
as the part that belongs to the state in the gradient of `matmul(concat([x, state], 1), w)`, only that part is computed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from graphgrad.executor.program.interpreter import Instruction, is_small
from graphgrad.ir.dtypes import float32, float64
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import registry
from graphgrad.ir.shape import is_fully_defined
from graphgrad.op_traits import is_sum

from .schedule import bytes_of
from .stand_ins import stand_in, tensor_like

TERMS = 4  # the least number of products that are added up as one
MOST = 0.75  # the largest fraction of a product that is computed by itself
_DTYPES = frozenset({float32, float64})


def with_better_products(program: list[Instruction], kept: Collection[int], floating: Mapping[int, Instruction],
                         new: Callable[[Tensor], int]) -> list[Instruction]:
    """Replaces sums of products, and products of which a part is read.

    Args:
      program: instructions in the order of execution.
      kept: slots that are read after it.
      floating: slot -> the instruction that is computed wherever its result is needed.
      new: makes a slot for a value like that of a tensor.
    Returns: the instructions in the order of execution.
    """
    makers = {i.outs[0]: i for i in program if i.op.opdef.cut_rule is not None and _is_plain(i)}
    if not makers:
        return program
    readers: dict[int, list[Instruction]] = {slot: [] for slot in makers}
    for instruction in itertools.chain(program, {id(i): i for i in floating.values()}.values()):
        for slot in instruction.reads():
            if slot in readers:
                readers[slot].append(instruction)
    single = {slot: made for slot, made in makers.items() if slot not in kept and len(readers[slot]) == 1}
    if not single:
        return program
    return _Rewriting(program, {*kept, *(s for i in floating.values() for s in i.reads())}, new, single).program()


def _is_plain(i: Instruction) -> bool:
    return i.op.outputs[0].dtype in _DTYPES and not (i.op.control_inputs or i.guarded)


class _Rewriting:
    """Rewrites a program.

    Args:
      program, new: as for `with_better_products`.
      kept: slots that are read after it, or by what is computed wherever it is needed.
      single: slot -> the product there, which one instruction reads.
    """

    def __init__(self, program: list[Instruction], kept: Collection[int], new: Callable[[Tensor], int],
                 single: dict[int, Instruction]):
        self._program, self._kept, self._new, self._single = program, kept, new, single
        self._gone: set[int] = set()  # ids of instructions that nothing reads any more
        self._cut: dict[Any, tuple[int, Tensor]] = {}  # the parts of operands: their slots, and tensors like them

    def program(self) -> list[Instruction]:
        """Returns the new program."""
        result: list[Instruction] = []
        read: set[int] | None = None
        for instruction in self._program:
            op = instruction.op
            made: list[Instruction] | None = None
            if is_sum(op) and len(instruction.ins) >= TERMS:
                made = self._sum(instruction)
            elif op.opdef.parts_rule is not None and not self._single.keys().isdisjoint(instruction.ins):
                if read is None:
                    read = {s for i in self._program for s in i.reads()}.union(self._kept)
                made = self._parts(instruction, read)
            result += [instruction] if made is None else made
        return [i for i in result if id(i) not in self._gone] if self._gone else result

    # -- sums ------------------------------------------------------------------------------

    def _sum(self, instruction: Instruction) -> list[Instruction] | None:
        """Returns what computes a sum by products of joined operands; None if that is not better."""
        groups: dict[Any, list[Instruction]] = {}
        for slot in instruction.ins:
            term = self._single.get(slot)
            if term is not None and term.op.opdef.summed is not None:
                alike = term.op.opdef, tuple(term.attrs.items()), term.device, term.mark
                groups.setdefault(alike, []).append(term)
        result: list[Instruction] = []
        rest = list(instruction.ins)
        for group in groups.values():
            if len(group) < TERMS or not _is_smaller(group) or group[0].device != instruction.device:
                continue
            self._gone.update(map(id, group))
            added = {i.outs[0] for i in group}
            rest = [s for s in rest if s not in added]
            out = instruction.outs[0] if not rest else self._new(instruction.op.outputs[0])
            result.append(_like(instruction, _joined(instruction, group), [i.ins[k] for k in (0, 1) for i in group],
                                [out]))
            if rest:
                rest.append(out)
        if result and rest:
            op = instruction.op
            tensors = [op.inputs[instruction.ins.index(s)] if s in instruction.ins else op.outputs[0] for s in rest]
            last = stand_in(op, op.opdef, {**op.attrs, "N": len(rest)}, tensors, op.outputs)
            result.append(_like(instruction, last, rest, instruction.outs))
        return result or None

    # -- parts -----------------------------------------------------------------------------

    def _parts(self, instruction: Instruction, read: Collection[int]) -> list[Instruction] | None:
        """Returns the products that give the parts that are read; None if that is not better."""
        assert instruction.op.opdef.parts_rule is not None
        parts = instruction.op.opdef.parts_rule(instruction.op)
        product = None if parts is None else self._single.get(instruction.ins[parts.position])
        if parts is None or product is None or product.device != instruction.device or instruction.op.control_inputs:
            return None
        wanted = [k for k, slot in enumerate(instruction.outs) if slot in read]
        if sum(parts.sizes[k] for k in wanted) > MOST * sum(parts.sizes):
            return None
        result: list[Instruction] = []
        for k in wanted:
            part = parts.axis, sum(parts.sizes[:k]), parts.sizes[k]
            position, slot, tensor = self._operand(product, part, result)
            ins, tensors = list(product.ins), list(product.op.inputs)
            ins[position], tensors[position] = slot, tensor
            op = stand_in(product.op, product.op.opdef, product.op.attrs, tensors, [instruction.op.outputs[k]])
            result.append(_like(product, op, ins, [instruction.outs[k]]))
        self._gone.add(id(product))
        return result

    def _operand(self, product: Instruction, part: tuple[int, int, int],
                 result: list[Instruction]) -> tuple[int, int, Tensor]:
        """Returns which operand is cut, and the slot of its part; what makes that is added if it is new."""
        assert product.op.opdef.cut_rule is not None
        cut = product.op.opdef.cut_rule(product.op, *part)
        slot, whole = product.ins[cut.position], product.op.inputs[cut.position]
        key = slot, cut.op_type, tuple(cut.attrs.items()), product.device, product.mark
        if key not in self._cut:
            tensor = tensor_like(whole, cut.shape)
            op = stand_in(product.op, registry[cut.op_type], cut.attrs, [whole], [tensor])
            self._cut[key] = self._new(tensor), tensor
            result.append(_like(product, op, [slot], [self._cut[key][0]]))
        return cut.position, *self._cut[key]


def _is_smaller(group: Sequence[Instruction]) -> bool:
    """Returns whether the operands of products, which have to be kept for their sum, are smaller than the products."""
    shapes = {i.op.outputs[0]._spec.shape for i in group}
    operands = sum(bytes_of(t._spec) for i in group for t in i.op.inputs)
    return len(shapes) == 1 and is_fully_defined(*shapes) and operands <= len(group) * bytes_of(
        group[0].op.outputs[0]._spec)


def _joined(instruction: Instruction, group: Sequence[Instruction]) -> Any:
    first = group[0].op
    assert first.opdef.summed is not None
    inputs = [i.op.inputs[k] for k in (0, 1) for i in group]
    return stand_in(instruction.op, registry[first.opdef.summed], {**first.attrs, "N": len(group)}, inputs,
                    instruction.op.outputs)


def _like(instruction: Instruction, op: Any, ins: Sequence[int], outs: Sequence[int]) -> Instruction:
    made = Instruction(op, list(ins), list(outs))
    made.order, made.device, made.mark = instruction.order, instruction.device, instruction.mark
    made.foldable = is_small(op)
    return made
