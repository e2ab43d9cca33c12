"""In which order a program's operations run on several devices, so that the devices work at the same time.

A program is cut into sections, each on one device. What another device waits for comes first, in a section of its own;
then what the device can compute by itself; then what it computes of the others' results. So the towers of a model, each
on a device, are sections that need nothing of each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphgrad.executor.program.interpreter import Instruction
from graphgrad.op_traits import Cost

from .schedule import Net

_NEVER = 1 << 60


def by_device(program: Sequence[Instruction], floating: Mapping[int, Instruction],
              slot_of: Mapping[int, int]) -> list[list[Instruction]]:
    """Orders a program and cuts it into sections, each of one device.

    Args:
      program: the program.
      floating: slot -> the instruction that is computed wherever its result is needed.
      slot_of: id of a tensor -> its slot.
    """
    if all(i.device == program[0].device for i in program):
        return [list(program)]
    net = Net(program, (), floating, slot_of)
    order = _topological(net)
    rounds = _rounds(program, net, order)
    awaited = _awaited(program, net, order, rounds)
    sections: dict[tuple[int, bool, Any], list[int]] = {}
    for node, instruction in enumerate(program):
        n = rounds[node]
        sections.setdefault((n, awaited[node] != n + 1, instruction.device), []).append(node)
    joined = _join(program, sections, awaited)
    return [[program[node] for node in joined[key]] for key in joined]


def _topological(net: Net) -> list[int]:
    """Returns the nodes so that each comes after those that it waits for."""
    waits = list(map(len, net.before))
    order = [node for node, count in enumerate(waits) if not count]
    for node in order:  # it grows
        for other in net.after[node]:
            waits[other] -= 1
            if not waits[other]:
                order.append(other)
    return order


def _rounds(program: Sequence[Instruction], net: Net, order: Sequence[int]) -> list[int]:
    """Returns for each instruction how often what it needs has changed devices before it."""
    devices = list(dict.fromkeys(i.device for i in program))
    there: dict[int, dict[Any, int]] = {}  # node -> for each device, the round in which its result is there
    rounds = [0] * len(program)
    for node in order:
        found = {d: max((there[b][d] for b in net.before[node]), default=0) for d in devices}
        if node < len(program):
            own = program[node].device
            n = rounds[node] = found[own]
            found = {d: n if d == own else n + 1 for d in devices}
        there[node] = found
    return rounds


def _awaited(program: Sequence[Instruction], net: Net, order: Sequence[int], rounds: Sequence[int]) -> list[int]:
    """Returns for each instruction the first round in which another device needs what comes of it."""
    devices = list(dict.fromkeys(i.device for i in program))
    needed: dict[int, dict[Any, int]] = {}  # node -> for a result of each device, the first such round
    for node in reversed(order):
        found = {d: min((needed[a][d] for a in net.after[node]), default=_NEVER) for d in devices}
        if node < len(program):
            own = program[node].device
            found = {d: found[own] if d == own else rounds[node] for d in devices}
        needed[node] = found
    return [needed[node][i.device] for node, i in enumerate(program)]


def _join(program: Sequence[Instruction], sections: Mapping[tuple[int, bool, Any], list[int]],
          awaited: Sequence[int]) -> dict[tuple[int, bool, Any], list[int]]:
    """Joins sections that take no time to their neighbours on the same device, and sorts them."""
    keys = sorted(sections, key=lambda key: (key[0], key[1], sections[key][0]))
    joined = {key: list(sections[key]) for key in keys}
    for key in keys:
        number, is_rest, device = key
        if not is_rest or any(map(_takes_time, (program[node] for node in joined[key]))):
            continue
        before, after = (number, False, device), _next(joined, number, device)
        if before in joined:
            joined[before] += joined.pop(key)
        elif after is not None and min(awaited[node] for node in joined[key]) > after[0]:
            joined[after] = joined.pop(key) + joined[after]
    return {key: joined[key] for key in keys if key in joined}


def _next(joined: Mapping[tuple[int, bool, Any], list[int]], number: int, device: Any) -> Any:
    return next((key for key in sorted(joined, key=lambda k: k[:2]) if key[0] > number and key[2] == device), None)


def _takes_time(instruction: Instruction) -> bool:
    return instruction.op.opdef.cost is not Cost.LIGHT or bool(instruction.bodies)
