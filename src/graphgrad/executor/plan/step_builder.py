"""Makes steps of programs: what each must get from outside, and in which way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graphgrad.executor.program.interpreter import Instruction
from graphgrad.executor.program.plan_types import Cluster, HostStep, Provenance

from .constants import Knowledge
from .partition import stands_alone


class StepBuilder:
    """Makes the steps of a plan.

    Args:
      floating: slot -> the instruction that is computed wherever its result is needed.
      known: the values known before the run.
      known_feeds: slots of fed values that are compiled in.
      whole: whether the operations of a level become one cluster, however many they are.
    """

    def __init__(self, floating: Mapping[int, Instruction], known: Knowledge, known_feeds: set[int], whole: bool):
        self._floating = floating
        self._known = known
        self._known_feeds = known_feeds
        self._whole = whole

    def _with_floating(self, program: Sequence[Instruction]) -> list[Instruction]:
        """Adds to a program the instructions whose results it needs while it is lowered."""
        present = set(map(id, program))
        result: list[Instruction] = []
        floating = self._floating
        for instruction in program:
            if floating.keys().isdisjoint(instruction.reads()):
                result.append(instruction)
                continue
            needed = [instruction]
            for reader in needed:  # it grows
                for slot in reader.reads():
                    found = floating.get(slot)
                    if found is not None and id(found) not in present:
                        present.add(id(found))
                        needed.append(found)
            result += sorted(needed[1:], key=built_order)
            result.append(instruction)
        return result

    def host_step(self, program: list[Instruction]) -> HostStep:
        """Makes the step of a host operation."""
        return HostStep(self._with_floating(program))

    def cluster(self, program: list[Instruction], level: int) -> Cluster:
        """Makes the cluster of a program.

        Args:
          program: its instructions.
          level: its level.
        """
        cluster = Cluster(self._with_floating(program), level)
        if len(program) == 1 and not self._whole and stands_alone(program[0]) and self._split(cluster, program[0]):
            return cluster
        inside = {s for i in cluster.program for s in i.gives()}
        values: dict[int, None] = {}
        shapes: dict[int, None] = {}
        known = cluster.known
        for instruction in cluster.program:
            must_know = self._values_to_know(instruction)
            if must_know:
                known.update((s, source) for s, source in must_know.items() if s not in inside)
            read = shapes if instruction.shapes_only else values
            for s in instruction.reads():
                if s not in inside and s not in must_know:
                    read[s] = None
        cluster.ins = [s for s in values if s not in known]
        cluster.shapes = [s for s in shapes if s not in known and s not in values]
        cluster.rows = list(dict.fromkeys(_rows(cluster.program)))
        return cluster

    def _values_to_know(self, instruction: Instruction) -> dict[int, Provenance]:
        """Returns the slots, and sources, of an instruction's inputs whose values it gets to be lowered."""
        found: dict[int, Provenance] = {}
        if self._known_feeds:
            found.update((slot, Provenance.FED) for slot in instruction.ins if slot in self._known_feeds)
        for position, source in self._known.needs(instruction.op):
            if source is Provenance.STEP and instruction.ins[position] >= 0:
                found.setdefault(instruction.ins[position], source)
        return found

    def _split(self, cluster: Cluster, large: Instruction) -> bool:
        """Splits a cluster of one large convolution over several cores, if possible."""
        split = large.op.opdef.batch_split
        assert split is not None
        before = [i for i in cluster.program if i is not large]
        inner = {s for i in before for s in i.gives()}
        outer = dict.fromkeys(s for i in before for s in i.reads() if s not in inner)
        ins = [s for i, s in enumerate(large.ins) if i != split.sizes]
        known = {} if split.sizes is None else {large.ins[split.sizes]: Provenance.FOLDED}
        # The shape of the whole result differs from that of a part, so it must be known beforehand.
        if any(s in inner for s in ins) or any(s not in inner for s in known):
            return False
        if not all(i.shapes_only for i in before if any(s in outer for s in i.reads())):
            return False
        cluster.split, cluster.before, cluster.program = split, before, [large]
        cluster.ins, cluster.known, cluster.shapes = list(dict.fromkeys(ins)), known, list(outer)
        return True


def built_order(instruction: Instruction) -> int:
    """Returns an instruction's position in the order in which operations were built; a key for sorting."""
    return instruction.order


def _rows(program: Iterable[Instruction]) -> Iterable[int]:
    for instruction in program:
        if instruction.rng is not None:
            yield instruction.rng
        for body in instruction.bodies.values():
            yield from _rows(body.program)
