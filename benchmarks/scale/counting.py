"""Collectives of a partitioned program: how many, and how many bytes each device passes on."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

_LINE = re.compile(r"= (\(.*?\)|\S+) (all-reduce|all-gather|reduce-scatter|collective-permute|all-to-all)(?:-start)?\(")
_SHAPE = re.compile(r"([a-z]+\d+|pred)\[([\d,]*)\]")
_LISTED = re.compile(r"replica_groups=\{\{([\d,]*)\}")
_IOTA = re.compile(r"replica_groups=\[(\d+),(\d+)\]")
_MESH = re.compile(r"replica_groups=mesh\[(.*?)\] *\{(.*?)\}")


class Collective(NamedTuple):
    """A collective of a program.

    Attributes:
      kind: XLA's name of it.
      size: the bytes of its result on one device.
      group: how many devices take part in one.
    """

    kind: str
    size: int
    group: int

    @property
    def moved(self) -> float:
        """The bytes that each device sends in a ring."""
        share = (self.group - 1) / self.group
        return self.size * {"all-reduce": 2 * share, "reduce-scatter": self.group - 1.0,
                            "collective-permute": 1.0}.get(self.kind, share)

    @property
    def rounds(self) -> int:
        """How often a device waits for another one in a ring."""
        return {"all-reduce": 2 * (self.group - 1), "collective-permute": 1}.get(self.kind, self.group - 1)


def collectives(text: str, devices: int) -> list[Collective]:
    """Finds the collectives in a program that XLA has optimized.

    Args:
      text: the program.
      devices: the number of devices that it is for.
    """
    found = []
    for line in text.splitlines():
        match = _LINE.search(line)
        if match is None:
            continue
        size = sum(_bytes(dtype) * math.prod(map(int, filter(None, dims.split(","))))
                   for dtype, dims in _SHAPE.findall(match[1]))
        found.append(Collective(match[2], size, _group(line, devices)))
    return found


def _bytes(dtype: str) -> int:
    return 1 if dtype == "pred" else int(re.sub(r"\D", "", dtype)) // 8


def _group(line: str, devices: int) -> int:
    if match := _MESH.search(line):
        axes = {name.strip("'"): int(n) for name, n in (a.split("=") for a in match[1].split(","))}
        return math.prod(axes[name.strip(" '")] for name in match[2].split(",") if name)
    if match := _IOTA.search(line):
        return int(match[2])
    if (match := _LISTED.search(line)) and match[1]:
        return match[1].count(",") + 1
    return devices
