"""Meshes over several processes: each has some of the devices, and all run the same programs in the same order.

The devices are those of process 0, then those of process 1, and so on. A value is an array of all of them, of which a
process sees its own parts. What a process needs whole is brought together by a program, which all must run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError, UnimplementedError
from graphgrad.ir.values.mesh_layout import DeviceMesh, MeshLayout
from graphgrad.ir.values.split_value import SplitValue
from graphgrad.system.late_imports import load

from . import membership, mesh, process_group, xla
from .process_client import ProcessClient, quiet

KIND = "processes"


class ProcessMeshDevice(mesh.MeshDevice):
    """The devices of a mesh over all processes.

    Attributes:
      group: the processes.
    """

    def __init__(self, name: str, grid: DeviceMesh, client: ProcessClient, group: process_group.ProcessGroup):
        super().__init__(name, grid, client.client, load("jaxlib._jax"), load("jaxlib.xla_client"), client.all)
        self.group = group
        self._count = client.count
        self._joiners: dict[Any, mesh.MeshProgram] = {}

    def write(self, operation: Any) -> bytes:
        """Returns a module of StableHLO as text that is the same in all processes, without places in files."""
        return str(operation.get_asm(enable_debug_info=False)).encode()

    def as_split(self, buffer: mesh.MeshBuffer, pieces: dict[tuple[int, ...], Any]) -> SplitValue:
        """Returns the pieces that this process has as a `SplitValue`."""
        shape = buffer.aval.shape
        own = owned(buffer.layout, shape, self._count, self.group.who.rank)
        return SplitValue(buffer.layout, shape, buffer.aval.dtype, pieces, own, lambda: np.asarray(buffer))

    def is_here(self, layout: MeshLayout, shape: tuple[int, ...]) -> bool:
        """Returns whether each process has all parts of a value."""
        found = self._parts_of_processes(layout, shape)
        return all(parts == found[0] for parts in found) and len(found[0]) == len(set(layout.starts(shape)))

    def is_shared(self, layout: MeshLayout, shape: tuple[int, ...]) -> bool:
        """Returns whether two processes have the same part of a value."""
        found = self._parts_of_processes(layout, shape)
        return sum(map(len, found)) > len(set().union(*found))

    def _parts_of_processes(self, layout: MeshLayout, shape: tuple[int, ...]) -> list[set[tuple[int, ...]]]:
        """Returns, for each process, where the parts begin that it has."""
        found: list[set[tuple[int, ...]]] = [set() for _ in range(self.group.who.size)]
        for place, start in enumerate(layout.starts(shape)):
            found[place // self._count].add(start)
        return found

    def join(self, buffer: mesh.MeshBuffer) -> Any:
        """Returns a value as an array; if no process has all of it, all must ask for it."""
        if self.is_here(buffer.layout, buffer.aval.shape):
            return super().join(buffer)
        with mesh.turn:
            (whole,) = self._joiner(buffer)([buffer])
        return super().join(whole)

    def _joiner(self, buffer: mesh.MeshBuffer) -> mesh.MeshProgram:
        """Returns the program that gives each device all of a value."""
        found = self._joiners.get(key := (buffer.layout, buffer.aval))
        if found is None:
            jax = load("jax")
            lies, whole = self.sharding(buffer.layout), self.sharding(self.whole)
            with jax.enable_x64(True), mesh.around(jax, self):
                same = jax.jit(_same, in_shardings=lies, out_shardings=whole)
                lowered = same.trace(jax.ShapeDtypeStruct(buffer.aval.shape, buffer.aval.dtype)).lower(
                    lowering_platforms=(self.platform,))
            module = self.write(lowered.compiler_ir("stablehlo").operation)
            what = f"all of a value {buffer.aval.dtype}{list(buffer.aval.shape)} that is split as {buffer.layout}"
            found = self._joiners[key] = self.compile_for([self.whole], module, [buffer.aval], frozenset(), what)
        return found

    def program(self, executable: Any, outputs: Sequence[xla.AnySpec], layouts: Sequence[MeshLayout], module: bytes,
                label: str) -> ProcessMeshProgram:
        """Returns a program that is compiled."""
        digest = hashlib.sha256(module).hexdigest()[:16]
        return ProcessMeshProgram(self, executable, outputs, layouts, f"{label}; digest {digest}")

    def check_equal(self, values: Sequence[tuple[str, Any, MeshLayout | None]]) -> None:
        """Compares values with those of the other processes, which must ask for the same.

        Args:
          values: names for errors, arrays, and how they are split: of each part the processes that have it are
            compared; None for all of it.
        Raises: InvalidArgumentError if processes have different ones.
        """
        found = [self._digests(value, layout) for _, value, layout in values]
        if not values:
            return
        label = f"what {len(values)} values are, on {self.mesh}"
        numbers = np.array([number for digests in found for number in digests], np.uint64)
        (theirs,) = self.group.stack([numbers], self.group.who.size, label)
        begin = 0
        for (name, value, _), mine in zip(values, found, strict=True):
            for column in theirs[:, begin : begin + len(mine)].T:
                have = np.flatnonzero(column)
                others = [rank for rank in have if column[rank] != column[have[0]]]
                if others:
                    raise InvalidArgumentError(
                        None, None, f"the processes run different programs: {name}, {value.dtype}{list(value.shape)}, "
                        f"has another value in process {others[0]} than in process {have[0]}, and is to be the same on "
                        f"all devices of the mesh {self.mesh} that have it.\n  Fix: compute it the same in every "
                        "process, e.g. with a seed")
            begin += len(mine)

    def _digests(self, value: Any, layout: MeshLayout | None) -> list[int]:
        """Returns a number for each part of a value; 0 for those that this process does not have."""
        if layout is None or layout.complaint(value.shape) is not None:
            return [_digest(value)]
        starts, parts = layout.starts(value.shape), layout.parts(value.shape)
        here = {starts[i]: parts[i] for i in self.places}
        return [_digest(value[here[start]]) if start in here else 0 for start in dict.fromkeys(starts)]


class ProcessMeshProgram(mesh.MeshProgram):
    """A compiled program for the devices of all processes, which run it together."""

    __slots__ = ("_label", "_what")

    def __init__(self, device: ProcessMeshDevice, executable: Any, outputs: Sequence[xla.AnySpec],
                 layouts: Sequence[MeshLayout], label: str):
        super().__init__(device, executable, outputs, layouts)
        results = ", ".join(f"{s.dtype}{list(s.shape)}" for s in self._specs[:8])
        self._what = f"a program on the mesh {device.mesh}"
        self._label = f"{self._what}: {label}; results {results}"

    def _call(self, arrays: list[Any]) -> list[Any]:
        group = self._device.group  # type: ignore[attr-defined]  # its device is that of a mesh

        def work() -> list[Any]:
            with quiet():
                return mesh.MeshProgram._call(self, arrays)

        made: list[Any] = group.run(work, self._what, self._label)
        return made


def _same(x: Any) -> Any:
    return x


def _digest(value: Any) -> int:
    data = hashlib.blake2b(f"{value.dtype}{value.shape}".encode(), digest_size=8)
    data.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    return int.from_bytes(data.digest(), "little") or 1


def owned(layout: MeshLayout, shape: tuple[int, ...], own: int, rank: int) -> frozenset[tuple[int, ...]]:
    """Returns where the pieces of a value begin that a process is to write: the first process that has one does.

    Args:
      layout: how it is split over all processes.
      shape: its shape.
      own: the number of devices of each process.
      rank: the process.
    """
    first: dict[tuple[int, ...], int] = {}
    for place, start in enumerate(layout.starts(shape)):
        first.setdefault(start, place // own)
    return frozenset(start for start, process in first.items() if process == rank)


def joined(value: SplitValue, own: int) -> Any:
    """Returns all of a value of which each process has its pieces; all processes must ask for it."""
    name = name_of(value.layout.mesh, own)
    return np.asarray(mesh.device(name).place(value, value.layout))


def count() -> int:
    """Returns the number of processes; the first call waits for the others."""
    return process_group.group().who.size


def rank() -> int:
    """Returns which process this one is."""
    return process_group.group().who.rank


def name_of(grid: DeviceMesh, own: int) -> str | None:
    """Returns the name of a mesh over all processes; None if it does not have as many devices as they have together.

    Args:
      grid: the mesh.
      own: the number of devices of this process.
    Raises: UnavailableError if the others do not come; UnimplementedError in a cluster whose processes may leave.
    """
    if count() == 1 or grid.size != count() * own:
        return None
    if membership.meetings() is not None:
        raise UnimplementedError(None, None, f"the mesh {grid} over the tasks of a cluster of TensorFlow 1 is not "
                                 "offered.\n  Fix: start the processes with graphgrad launch, without "
                                 "tf.train.Server")
    return mesh.name_of(grid, KIND)


def _make(name: str, grid: DeviceMesh) -> ProcessMeshDevice:
    group = process_group.group()
    return ProcessMeshDevice(name, grid, group.devices(grid.size // group.who.size), group)


mesh.makers[KIND] = _make
