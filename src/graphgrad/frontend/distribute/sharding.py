"""Meshes of devices, and annotations of how tensors and variables are split over them."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, TypeVar

from graphgrad.errors import describe
from graphgrad.frontend.variables.partitioned import PartitionedVariable
from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.context import Inherited, current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import as_shape
from graphgrad.ir.source import user_source
from graphgrad.ir.values.mesh_layout import MESH, SPEC, DeviceMesh, MeshLayout, give_layout, of_slots, of_variable

T = TypeVar("T")
_Entry = str | Sequence[str] | None


class _Around(Inherited):
    """This thread's meshes, the innermost one last."""

    def __init__(self) -> None:
        self.meshes: list[DeviceMesh] = []


_around = _Around()


class Mesh:
    """Devices in a grid with named axes; see `mesh`.

    Attributes:
      shape: the length of each axis, by its name.
    """

    def __init__(self, layout: DeviceMesh):
        self._layout = layout

    @property
    def shape(self) -> dict[str, int]:
        """The length of each axis, by its name."""
        return dict(self._layout.axes)

    @property
    def size(self) -> int:
        """The number of devices."""
        return self._layout.size

    def __enter__(self) -> Mesh:
        _around.meshes.append(self._layout)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        _around.meshes.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._layout == other._layout

    def __hash__(self) -> int:
        return hash(self._layout)

    def __repr__(self) -> str:
        return f"<Mesh {self._layout}>"


def mesh(**axes: int) -> Mesh:
    """Returns a grid of devices with named axes, over which `tf.shard` splits tensors and variables.

    A run that needs something which is split is one program on all devices of the mesh. XLA's partitioner decides how
    everything else in it is split, and which sums and exchanges follow. The devices are the accelerators if there are
    any, else those that the processor counts as: `ConfigProto(device_count={"CPU": 8})` of a session, or
    `tf.config.set_logical_device_configuration`. A mesh with as many devices as all processes of `graphgrad launch`
    have together lies over all of them; all run the same program then.

    Args:
      **axes: the length of each axis; the product is the number of devices.
    Returns: a `Mesh`; in a `with` block it is the one that `tf.shard` means.
    Raises: ValueError for an axis that is not a whole number of one or more devices, and without axes.
    Gradient: none; it builds nothing.
    Reference: graphgrad's own.

    >>> tf.mesh(data=2, model=4)
    <Mesh data=2,model=4>
    """
    for name, length in axes.items():
        if not isinstance(length, int) or isinstance(length, bool) or length < 1:
            raise ValueError(f"the axis {name!r} of a mesh cannot have {length!r} devices.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: give a number from 1 on, e.g. tf.mesh({name}=2)")
    if not axes:
        raise ValueError(f"a mesh has at least one axis.\n  Asked for at {user_source(2)}\n"
                         "  Fix: give names and lengths, e.g. tf.mesh(data=2, model=4)")
    return Mesh(DeviceMesh(tuple((name, int(n)) for name, n in axes.items())))


def shard(value: T, spec: Sequence[_Entry], mesh: Mesh | None = None, slots: Sequence[_Entry] | None = None,
          name: str | None = None) -> T | Any:
    """Splits a tensor or a variable over the devices of a mesh.

    Numbers do not change, only where they lie. A gradient with respect to what is split is split alike. The variables
    that an optimizer keeps beside a variable are split like it, unless `slots` says otherwise.

    Args:
      value: a tensor, or a variable, from which runs after this call have only a part on each device.
      spec: for each dimension the name of the axis to split it along, several names (the first is the outermost), or
        None for a dimension that is whole on each device; dimensions that are not named are whole.
      mesh: a `Mesh`; that of the `with` block around it if not given.
      slots: for a variable, the same for what optimizers keep beside it.
      name: a name for the operation.
    Returns: the tensor with the annotation; the variable itself.
    Raises: ValueError for an unknown axis, one that is named twice, and a size that is no multiple of the number of
      devices; InvalidArgumentError in the run, if sizes are known only then, or if there are too few devices.
    Gradient: the gradient with the same annotation.
    Reference: graphgrad's own; the operation is TensorFlow's XlaSharding.

    >>> with tf.mesh(data=2):
    ...     x = tf.shard(tf.ones([4, 3]), ["data"])
    >>> x.op.type
    'XlaSharding'
    """
    grid = mesh._layout if mesh is not None else _around.meshes[-1] if _around.meshes else None
    if grid is None:
        raise ValueError(describe("shard", name or "", "there is no mesh", "", str(user_source(2)),
                                  "call it in `with tf.mesh(data=2):`, or give mesh=tf.mesh(data=2)"))
    layout = _layout(grid, spec, name)
    if isinstance(value, PartitionedVariable) or (isinstance(value, Variable) and hasattr(value, "values")):
        raise TypeError(f"a variable with several copies or parts cannot be split: {value!r}.\n"
                        "  Fix: make it outside of the strategy, or without a partitioner")
    if isinstance(value, Variable):
        return _shard_variable(value, layout, None if slots is None else _layout(grid, slots, name))
    if slots is not None:
        raise ValueError(describe("shard", name or "", "slots= is for variables", "", str(user_source(2)),
                                  "leave it out"))
    x = convert_to_tensor(value)
    _check(layout, x._spec.shape, name)
    rank = None if x._spec.shape is None else len(x._spec.shape)
    return raw.XlaSharding(x, sharding=layout.op_sharding(rank), **{MESH: str(grid), SPEC: layout.spec_text},
                           name=name or "shard")


def layout_text(variable: Any) -> str:
    """Returns how a variable is split, such as `data=2,model=4|data -`; "" if it is not."""
    found = of_variable(variable._handle)
    return "" if found is None else str(found)


def share_layout(primary: Any, made: Any) -> None:
    """Splits a variable that an optimizer keeps beside another one like that, or as that one says.

    Args:
      primary: the other one.
      made: the variable.
    """
    handle = getattr(primary, "_handle", None)
    if handle is None or (found := of_slots(handle)) is None:
        return
    shape = made.shape._dims
    if shape == primary.shape._dims and found.complaint(shape) is None:
        give_layout(made._handle, found, len(shape))


def _shard_variable(variable: Any, layout: MeshLayout, slots: MeshLayout | None) -> Any:
    graph = current_graph()
    if graph is not None and graph.building_function:
        raise ValueError(f"a variable cannot be split within a function, branch or loop: {variable}.\n"
                         f"  Asked for at {user_source(2)}\n  Fix: call tf.shard where the variable is made")
    shape = variable.shape._dims
    for given in (layout, slots):
        if given is not None:
            _check(given, shape, variable.name)
    give_layout(variable._handle, layout, None if shape is None else len(shape), slots)
    return variable


def _layout(grid: DeviceMesh, spec: Sequence[_Entry], name: str | None) -> MeshLayout:
    """Checks and reads what a user says of each dimension."""
    problem, known = "", [axis for axis, _ in grid.axes]
    entries: list[tuple[str, ...]] = []
    if isinstance(spec, str) or not isinstance(spec, (list, tuple)):
        problem, spec = f"the layout is a list with an entry for each dimension, not {spec!r}", ()
    for entry in spec:
        names = () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)
        for axis in names:
            if axis not in known:
                problem = problem or f"the mesh {grid} has no axis {axis!r}"
            elif axis in names[: names.index(axis)] or any(axis in group for group in entries):
                problem = problem or f"the axis {axis!r} is named twice"
        if len(set(names)) < len(names):
            problem = problem or f"an axis is named twice in {names!r}"
        entries.append(names)
    if problem:
        raise ValueError(describe("shard", name or "", problem, "", str(user_source(2)),
                                  f"name each of {', '.join(known)} at most once, e.g. [{known[0]!r}, None]"))
    return MeshLayout(grid, tuple(entries))


def _check(layout: MeshLayout, shape: Any, name: str | None) -> None:
    problem = layout.complaint(as_shape(shape))
    if problem is not None:
        raise ValueError(describe("shard", name or "", problem[0], f"shape={shape}", str(user_source(2)),
                                  problem[1]))
