"""How values lie on a mesh of devices: named axes of devices, and for each dimension of a value the axes that split it.

Both have a text, which is what graphs keep in the attributes `_mesh` and `_spec`: `data=2,model=4`, and one word for
each dimension, such as `data - model` (the second dimension is whole everywhere) or `data+model`.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from graphgrad.ir.proto.wire import delimited, varint

from .variable_store import Cell

MESH, SPEC, SLOTS, SHARDING = "_mesh", "_spec", "_slots_spec", "_XlaSharding"  # attributes of operations
_WHOLE, _AND = "-", "+"

Spec = tuple[tuple[str, ...], ...]


class DeviceMesh(NamedTuple):
    """Devices in a grid.

    Attributes:
      axes: name and length of each axis of the grid; the last one varies fastest.
    """

    axes: tuple[tuple[str, int], ...]

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(n for _, n in self.axes)

    def length(self, names: tuple[str, ...]) -> int:
        """Returns the number of parts that some axes cut a dimension into."""
        sizes = dict(self.axes)
        return math.prod(sizes[name] for name in names)

    def __str__(self) -> str:
        return ",".join(f"{name}={n}" for name, n in self.axes)


class MeshLayout(NamedTuple):
    """How a value lies on a mesh.

    Attributes:
      mesh: the mesh.
      spec: for each dimension the axes that it is split along; further dimensions are whole.
    """

    mesh: DeviceMesh
    spec: Spec

    @property
    def is_whole(self) -> bool:
        """Whether every device has all of the value."""
        return not any(self.spec)

    @property
    def spec_text(self) -> str:
        """The text of `spec`."""
        return " ".join(_AND.join(names) or _WHOLE for names in self.spec)

    def __str__(self) -> str:
        return f"{self.mesh}|{self.spec_text}"

    def complaint(self, shape: tuple[int | None, ...] | None) -> tuple[str, str] | None:
        """Returns why no value of a shape lies like this, and a remedy; None if it may."""
        if shape is None:
            return None
        if len(self.spec) > len(shape):
            return (f"the layout ({self.spec_text}) is for {len(self.spec)} dimensions, the value has {len(shape)}",
                    "give at most one entry for each dimension")
        for axis, (n, names) in enumerate(zip(shape, self.spec, strict=False)):
            count = self.mesh.length(names)
            if n is not None and n % count:
                return (f"dimension {axis} of size {n} cannot be split into {count} equal parts along the mesh axis "
                        f"{' and '.join(map(repr, names))} (mesh {self.mesh})",
                        f"make the size a multiple of {count}, or leave the dimension whole")
        return None

    def part_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the shape of what one device has of a value."""
        counts = [self.mesh.length(names) for names in self.spec]
        return tuple(n // c for n, c in itertools.zip_longest(shape, counts[: len(shape)], fillvalue=1))

    def starts(self, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Returns, for each device, where its part of a value begins."""
        part, lengths = self.part_shape(shape), dict(self.mesh.axes)
        found = []
        for place in np.ndindex(*lengths.values()):
            at = dict(zip(lengths, place, strict=True))
            start = [0] * len(shape)
            for axis, names in enumerate(self.spec[: len(shape)]):
                index = 0
                for name in names:
                    index = index * lengths[name] + at[name]
                start[axis] = index * part[axis]
            found.append(tuple(start))
        return found

    def parts(self, shape: tuple[int, ...]) -> list[tuple[slice, ...]]:
        """Returns, for each device, which part of a value it has."""
        size = self.part_shape(shape)
        return [tuple(slice(s, s + n) for s, n in zip(start, size, strict=True)) for start in self.starts(shape)]

    def op_sharding(self, rank: int | None) -> bytes:
        """Returns XLA's message `OpSharding`, which TensorFlow writes into graphs."""
        if rank is None or self.is_whole:
            return b""  # replicated
        names = [name for name, _ in self.mesh.axes]
        split = [name for group in self.spec for name in group]
        rest = [name for name in names if name not in split]
        numbers = np.arange(self.mesh.size).reshape([n for _, n in self.mesh.axes])
        devices = numbers.transpose([names.index(name) for name in (*split, *rest)]).reshape(-1).tolist()
        spec = (*self.spec, *((),) * (rank - len(self.spec)))
        dims = [self.mesh.length(group) for group in spec]
        several = self.mesh.length(tuple(rest))
        if several > 1:
            dims.append(several)
        message = varint(_TYPE << 3) + varint(_TILED)
        message += delimited(_DIMS, b"".join(map(varint, dims))) + delimited(_DEVICES, b"".join(map(varint, devices)))
        return message + (varint(_LAST_IS_REPLICATED << 3) + varint(1) if several > 1 else b"")


# Field numbers of xla.OpSharding, and its type for tiles.
_TYPE, _DIMS, _DEVICES, _LAST_IS_REPLICATED, _TILED = 1, 3, 4, 6, 3


def mesh_of(text: str) -> DeviceMesh:
    """Reads the text of a mesh.

    Raises: ValueError if it is none.
    """
    pairs = [part.split("=") for part in text.split(",")]
    return DeviceMesh(tuple((name, int(n)) for name, n in pairs))


def layout_of(mesh: str, spec: str) -> MeshLayout:
    """Reads the texts of a mesh and of the axes that split each dimension.

    Raises: ValueError if they are none.
    """
    words = spec.split(" ") if spec else []
    made = MeshLayout(mesh_of(mesh), tuple(() if w == _WHOLE else tuple(w.split(_AND)) for w in words))
    known = {name for name, _ in made.mesh.axes}
    if not all(name in known for group in made.spec for name in group):
        raise ValueError(f"{spec!r} names axes that the mesh {mesh} does not have")
    return made


def attributes(layout: MeshLayout) -> dict[str, Any]:
    """Returns the attributes that say in a graph how a value lies."""
    return {MESH: str(layout.mesh), SPEC: layout.spec_text}


def layout_in(attrs: Any) -> MeshLayout | None:
    """Returns the layout that attributes of an operation say, or None."""
    if not attrs or not attrs.get(MESH):
        return None
    return layout_of(_text(attrs[MESH]), _text(attrs.get(SPEC, "")))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def of_variable(handle: Any) -> MeshLayout | None:
    """Returns the layout of the variable behind a handle, or None."""
    cell = getattr(handle, "_value", None)
    if isinstance(cell, Cell):
        found: MeshLayout | None = cell.layout
        return found
    op = getattr(handle, "op", None)
    return layout_in(op.attrs) if op is not None else None


def of_slots(handle: Any) -> MeshLayout | None:
    """Returns the layout of what optimizers keep beside the variable behind a handle, or None."""
    cell = getattr(handle, "_value", None)
    if isinstance(cell, Cell):
        found: MeshLayout | None = cell.slot_layout or cell.layout
        return found
    attrs = handle.op.attrs
    return layout_of(_text(attrs[MESH]), _text(attrs[SLOTS])) if SLOTS in attrs else layout_in(attrs)


def give_layout(handle: Any, layout: MeshLayout, rank: int | None, slots: MeshLayout | None = None) -> None:
    """Says how a variable lies.

    Args:
      handle: its handle: in a graph, the attributes of the operation say it from then on.
      layout: the layout.
      rank: the number of its dimensions.
      slots: the layout of what optimizers keep beside it, if that is another one.
    """
    cell = getattr(handle, "_value", None)
    if isinstance(cell, Cell):
        cell.layout, cell.slot_layout = layout, slots
        return
    op = handle.op
    op.attrs = {**op.attrs, **attributes(layout), SHARDING: layout.op_sharding(rank)}
    if slots is not None:
        op.attrs[SLOTS] = slots.spec_text
    op.graph._rebuilt += 1  # executables plan again
