"""Runs on meshes: whether a run needs one, and how its values lie there.

A run in which something is annotated is on the mesh as a whole. Its levels are single programs, so that XLA's
partitioner sees all of them. Where programs meet, with Python in between, a value lies as its annotation or its
variable says; all else is whole on every device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import InvalidArgumentError, describe
from graphgrad.executor.backend import mesh as backend
from graphgrad.executor.backend import process_mesh
from graphgrad.executor.program.plan_types import Cluster, Plan
from graphgrad.executor.program.random_table import is_drawn
from graphgrad.ir import dtypes
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.values.mesh_layout import DeviceMesh, MeshLayout, layout_in
from graphgrad.ir.values.split_value import SplitValue
from graphgrad.ir.values.variable_store import Cell

from .placement import Placement, default_placement


class OnMesh(NamedTuple):
    """The mesh of a run.

    Attributes:
      device: its name.
      layouts: slot -> how its value lies; slots that are not named are whole on every device.
    """

    device: str
    layouts: Mapping[int, MeshLayout]


def mesh_of_run(ops: Sequence[Operation], resolve: Callable[[Tensor], Cell], place: Placement | None) -> str | None:
    """Returns the name of the mesh that operations need, or None.

    Args:
      ops: the operations of a run.
      resolve: returns the variable behind a handle.
      place: says which devices there are.
    Raises: InvalidArgumentError if they need several meshes, or one with more devices than there are.
    """
    found: dict[DeviceMesh, Operation] = {}
    for op, layout in _annotated(ops, resolve):
        found.setdefault(layout.mesh, op)
    if not found:
        return None
    mesh, op = next(iter(found.items()))
    if len(found) > 1:
        other = list(found)[1]
        raise _error(found[other], f"the run needs the mesh {other}, and the mesh {mesh} for '{op.name}'",
                     "use one mesh for all that is computed together, or two runs")
    accelerators, processors = _counts(place)
    if mesh.size > max(accelerators, processors):
        if (name := process_mesh.name_of(mesh, processors)) is not None:
            return name
        there = f"{accelerators} accelerators and a processor that counts as {processors}" if accelerators \
            else f"a processor that counts as {processors}"
        several = process_mesh.count()
        fits = f"of {processors} devices, those of each process, or of {several * processors}, those of all"
        raise _error(op, f"the mesh {mesh} needs {mesh.size} devices; there is {there}"
                     f"{f', in each of {several} processes' if several > 1 else ''}",
                     f'use tf.Session(config=tf.ConfigProto(device_count={{"CPU": {mesh.size}}})), or '
                     f"tf.config.set_logical_device_configuration for functions, or "
                     f"{f'a mesh {fits}' if several > 1 else 'a smaller mesh'}")
    return backend.name_of(mesh, "accelerators" if mesh.size <= accelerators else "CPU")


def _counts(place: Placement | None) -> tuple[int, int]:
    """Returns the numbers of accelerators, and of what the processor counts as."""
    devices = (place or default_placement).devices
    processors = sum(d.startswith("CPU") for d in devices)
    return len(devices) - processors, processors


def own_pieces(layout: MeshLayout, shape: tuple[int, ...], dtype: Any, place: Placement | None,
               read: Callable[[tuple[int, ...]], Any]) -> SplitValue:
    """Returns a value in the pieces that the devices of this process have.

    Args:
      layout: how it is split.
      shape, dtype: of the whole.
      place: says which devices there are; None if that is not known, for all pieces.
      read: returns the piece that begins somewhere.
    """
    starts, size, (accelerators, processors) = layout.starts(shape), layout.mesh.size, _counts(place)
    if place is None or size <= max(accelerators, processors) or process_mesh.name_of(layout.mesh, processors) is None:
        return SplitValue(layout, shape, dtype, {start: read(start) for start in dict.fromkeys(starts)})
    rank = process_mesh.rank()
    own = starts[rank * processors : (rank + 1) * processors]
    made = SplitValue(layout, shape, dtype, {start: read(start) for start in dict.fromkeys(own)},
                      process_mesh.owned(layout, shape, processors, rank),
                      lambda: process_mesh.joined(made, processors))
    return made


def _error(op: Operation, problem: str, fix: str) -> InvalidArgumentError:
    return InvalidArgumentError(op.node_def, op, describe(op.type, op.name, problem, "", str(op.source or ""), fix))


def _annotated(ops: Sequence[Operation], resolve: Callable[[Tensor], Cell]) -> Iterator[tuple[Operation, MeshLayout]]:
    """Yields the annotations in operations and their sub-graphs, and those of variables outside of functions."""
    for op in ops:
        if op.type == "Placeholder" and op.outputs[0].dtype is dtypes.resource:
            if (layout := resolve(op.outputs[0]).layout) is not None:
                yield op, layout
        waiting = [op] if op.attrs else []
        while waiting:
            inner = waiting.pop()
            if (layout := layout_in(inner.attrs)) is not None:
                yield inner, layout
            for value in inner.attrs.values():
                if isinstance(value, FuncGraph):
                    waiting += [o for o in value._operations if o.attrs]


def lay_out(plan: Plan, device: str, ops: Sequence[Operation], slot_of: Mapping[int, int]) -> None:
    """Puts a finished plan on a mesh.

    Args:
      plan: the plan.
      device: the name of the mesh.
      ops: the operations of the run.
      slot_of: id of a tensor -> its slot.
    """
    layouts: dict[int, MeshLayout] = {}
    whole = {slot for slot, _ in plan.constants}.union(plan.feeds)
    for op in ops:
        if op.inputs and (layout := layout_in(op.attrs)) is not None:  # not a variable
            if (slot := slot_of.get(id(op.outputs[0]))) is not None:
                layouts[slot] = layout
            if (slot := slot_of.get(id(op.inputs[0]))) in whole and slot is not None:
                layouts.setdefault(slot, layout)  # each device gets its part of what is fed
    layouts.update({slot: cell.layout for slot, cell in (*plan.loads, *plan.stores) if cell.layout is not None})
    plan.mesh = made = OnMesh(device, layouts)
    plan.on_host = False
    for step in plan.steps:
        if isinstance(step, Cluster):
            step.device, step.on_mesh, step.loop = device, made, None
            step.donated &= layouts.keys()


def agree(plan: Plan, slots: Sequence[Any], table: Any) -> None:
    """Sees to it that several processes with parts of a mesh run a plan on the same values.

    Variables are compared when they are put on the mesh, constants and feeds in the first run. Where a seed was drawn,
    all processes draw the numbers of process 0.

    Args:
      plan: the plan.
      slots: the values, before they are put on the mesh.
      table: the random states, or None.
    Raises: InvalidArgumentError if values differ.
    """
    agree_on_values(plan, [(cell, cell.held) for _, cell in plan.loads])
    device = _over_processes(plan)
    if device is None:
        return
    found: list[tuple[str, Any, MeshLayout | None]] = []
    if not plan.ready:
        found += [(f"what is fed as '{_name(plan, slot)}'", slots[slot], plan.mesh.layouts.get(slot))
                  for slot in plan.feeds if _is_shared(device, plan.mesh.layouts.get(slot), slots[slot])]
        found += [(f"the constant {_name(plan, slot)!r}", value, None) for slot, value in plan.constants]
    device.check_equal(_numbers(found))
    if table is not None and any(is_drawn(op) for op in plan.random_ops):
        (table.values,) = device.group.broadcast([table.values], 0, f"random states on {device.mesh}")


def agree_on_python(plan: Plan, slots: Sequence[int], values: Sequence[Any]) -> None:
    """Sees to it that what Python has computed within a run is the same in several processes.

    Args:
      plan: the plan.
      slots: the slots that clusters are going to read.
      values: the values of all slots, before they are put on the mesh.
    Raises: InvalidArgumentError if values differ.
    """
    if (device := _over_processes(plan)) is not None:
        known = {slot for slot, _ in plan.constants}.union(plan.feeds)
        device.check_equal(_numbers([
            (f"what Python gives as '{_name(plan, slot)}'", values[slot], plan.mesh.layouts.get(slot)) for slot in slots
            if slot not in known and _is_shared(device, plan.mesh.layouts.get(slot), values[slot])]))


def agree_on_values(plan: Plan, values: Sequence[tuple[Cell, Any]]) -> None:
    """Sees to it that several processes with parts of a mesh have the same values of variables.

    Args:
      plan: the plan.
      values: variables, and values of theirs; those that are on devices are compared no more.
    Raises: InvalidArgumentError if values differ.
    """
    if (device := _over_processes(plan)) is not None:
        device.check_equal(_numbers([(f"the variable '{cell.name}'", value, None) for cell, value in values]))


def _over_processes(plan: Plan) -> process_mesh.ProcessMeshDevice | None:
    """Returns the mesh of a plan, if it lies over several processes."""
    device = backend.device(plan.mesh.device)
    return device if isinstance(device, process_mesh.ProcessMeshDevice) else None


def _numbers(values: Sequence[tuple[str, Any, MeshLayout | None]]) -> list[tuple[str, Any, MeshLayout | None]]:
    """Returns those of some named values that are arrays of numbers."""
    return [found for found in values if type(found[1]) is np.ndarray and found[1].dtype != object]


def _name(plan: Plan, slot: int) -> str:
    return plan.static[slot].name if slot in plan.static else f"value {slot}"


def _is_shared(device: process_mesh.ProcessMeshDevice, layout: MeshLayout | None, value: Any) -> bool:
    """Returns whether processes use some of the same elements of a value."""
    return layout is None or layout.complaint(np.shape(value)) is not None or device.is_shared(layout, np.shape(value))


def placed(plan: Plan, slot: int, value: Any, own: bool = True) -> Any:
    """Returns a value as it has to lie on the mesh of a plan; objects of Python's stay.

    Args:
      plan: the plan.
      slot: the slot of the value.
      value: the value.
      own: whether programs may write over it, as over those of variables.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return value
    assert plan.mesh is not None
    return backend.device(plan.mesh.device).place(value, plan.mesh.layouts.get(slot), own)
