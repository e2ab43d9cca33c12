"""Meshes: one program on several devices, each of which has a part of what is split.

XLA's partitioner (Shardy) makes the program of one device out of the whole program and the layouts of arguments and
results. Values are `MeshBuffer`s: of each, every device holds its part, or all of it.
"""

from __future__ import annotations

import collections
import io
import itertools
import math
import operator
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.blocking import located, untimed
from graphgrad.ir.values import tensor_list
from graphgrad.ir.values.mesh_layout import DeviceMesh, MeshLayout, mesh_of
from graphgrad.ir.values.split_value import SplitValue
from graphgrad.system.late_imports import load, uninterrupted

from . import memory_budget, xla, xla_options

if TYPE_CHECKING:
    from graphgrad.executor.program.plan_types import Cluster

# Held while a program runs, and while values of variables are read for one: programs that ran beside each other could
# wait for each other, each with some of the devices; and a buffer may be given away to a program that writes over it.
turn = threading.RLock()

PREFIX = "mesh:"  # of the names of such devices


def name_of(mesh: DeviceMesh, kind: str) -> str:
    """Returns the name under which `device` knows a mesh.

    Args:
      mesh: the mesh.
      kind: what it consists of: "accelerators", "CPU", or another one of `makers`.
    """
    return f"{PREFIX}{kind}:{mesh}"


class MeshBuffer:
    """A value on a mesh; `np.asarray` brings it together.

    Attributes:
      array: jaxlib's array, with a part for each device.
      layout: how it is split.
      aval: shape and dtype.
      home: the devices.
    """

    __slots__ = ("array", "layout", "aval", "home", "__weakref__")

    def __init__(self, array: Any, layout: MeshLayout, aval: xla.ArraySpec, home: MeshDevice):
        self.array = array
        self.layout = layout
        self.aval = aval
        self.home = home

    def split(self) -> SplitValue:
        """Returns the different parts that this process has as arrays, which keep the devices' memory."""
        found: dict[tuple[int, ...], Any] = {}
        starts = self.layout.starts(self.aval.shape)
        for place, buffer in zip(self.home.places, self.buffers(), strict=True):
            if starts[place] not in found:
                found[starts[place]] = np.asarray(buffer)
        return self.home.as_split(self, found)

    def bytes_of_devices(self) -> list[int]:
        """Returns the bytes that each device of this process holds."""
        return [math.prod(b.shape) * self.aval.dtype.itemsize for b in self.buffers()]

    def buffers(self) -> list[Any]:
        """Returns what each device of this process holds."""
        return [shard.data for shard in self.array.addressable_shards]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        whole = self.home.join(self)
        whole.flags.writeable = False
        return whole if dtype is None else whole.astype(dtype)

    def __repr__(self) -> str:
        return f"<MeshBuffer {self.aval.dtype}{list(self.aval.shape)} {self.layout}>"


class MeshDevice(xla.Device):
    """The devices of a mesh, with their compiler.

    Attributes:
      mesh: the mesh.
      places: which of its devices, by number, this process has.
    """

    def __init__(self, name: str, mesh: DeviceMesh, client: Any, jaxlib: Any, xla_client: Any,
                 devices: Sequence[Any] | None = None):
        super().__init__(client, jaxlib, xla_client, 0, name)
        sharding = load("jax.sharding")
        self.mesh = mesh
        self._all = client.local_devices()[: mesh.size] if devices is None else list(devices)
        own = set(client.local_devices())
        self.places = [i for i, d in enumerate(self._all) if d in own]
        self._own = [self._all[i] for i in self.places]
        self._list = jaxlib.DeviceList(tuple(self._all))
        self._partition, self._named = sharding.PartitionSpec, sharding.NamedSharding
        self.jax_mesh = sharding.Mesh(np.array(self._all).reshape([n for _, n in mesh.axes]),
                                      tuple(name for name, _ in mesh.axes))
        self.whole = MeshLayout(mesh, ())
        self.buffer = MeshBuffer

    def sharding(self, layout: MeshLayout) -> Any:
        """Returns JAX's object for a layout."""
        return self._named(self.jax_mesh, self._partition(*layout.spec))

    def put(self, array: Any) -> Any:
        """Gives every device all of an array."""
        return self.place(array, self.whole)

    def place(self, value: Any, layout: MeshLayout | None, own: bool = False) -> Any:
        """Gives every device its part of a value; what lies so already stays.

        Args:
          value: an array, a buffer, a list of tensors, or None.
          layout: how it is to be split; None for not at all.
          own: whether programs may write over it: then no two devices share memory, nor one with the caller.
        Raises: InvalidArgumentError if it cannot be split like this.
        """
        layout = layout or self.whole
        if type(value) is MeshBuffer and value.layout == layout:
            return value
        if value is None:
            return None
        if isinstance(value, tensor_list.TensorList):
            elements, kind = tensor_list.flatten(value)
            return tensor_list.unflatten(kind, [self.place(p, None) for p in elements])
        array = value if type(value) is SplitValue else np.asarray(xla.to_numpy(value))
        problem = layout.complaint(array.shape)
        if problem is not None:
            raise located(InvalidArgumentError, *problem)
        starts = layout.starts(array.shape)
        if type(array) is SplitValue and array.layout == layout and all(starts[i] in array.pieces for i in self.places):
            parts = [array.pieces[starts[i]] for i in self.places]
        else:
            whole, slices = np.asarray(array), layout.parts(array.shape)
            parts = [np.asarray(whole[slices[i]], order="C") for i in self.places]  # a scalar stays one
        return self._of_parts(xla.ArraySpec(array.shape, array.dtype), layout, parts, own)

    def _of_parts(self, spec: xla.ArraySpec, layout: MeshLayout, parts: list[Any], own: bool) -> MeshBuffer:
        """Returns a value of which each device of this process gets a part."""
        if own:
            parts = list(map(np.array, parts))
        made = self._put(spec, self.sharding(layout), parts, self._own, enable_x64=True)
        return MeshBuffer(made, layout, spec, self)

    def as_split(self, buffer: MeshBuffer, pieces: dict[tuple[int, ...], Any]) -> SplitValue:
        """Returns the pieces of a value as a `SplitValue`."""
        return SplitValue(buffer.layout, buffer.aval.shape, buffer.aval.dtype, pieces)

    def join(self, buffer: MeshBuffer) -> Any:
        """Returns a value as an array."""
        parts = buffer.split()
        return next(iter(parts.pieces.values())) if len(parts.pieces) == 1 else np.asarray(parts)

    def move(self, value: Any) -> Any:
        """Gives every device all of a value."""
        return self.place(value, None)

    def bring(self, value: Any) -> Any:
        """Moves a value from any device to all of these."""
        return self.place(value, None)

    def compile_for(self, layouts: Sequence[MeshLayout], module: bytes, outputs: Sequence[xla.AnySpec],
                    libraries: frozenset[int], label: str = "") -> MeshProgram:
        """Compiles StableHLO with annotations of Shardy's.

        Args:
          layouts: those of the results.
          module, outputs, libraries: as for `compile`.
          label: what it is, for errors.
        """
        memory_budget.reserve_to_compile()
        options = xla_options.options(self._jax, libraries)
        count = self.mesh.size
        build = options.executable_build_options
        for part in (options, build):
            part.num_replicas, part.num_partitions = 1, count
        build.use_spmd_partitioning = build.use_shardy_partitioner = True
        numbers = np.array([d.id for d in self._all], np.int32).reshape(1, count)
        options.device_assignment = self._jax.DeviceAssignment.create(numbers)
        executable = self._client.compile_and_load(module, self._list, options)
        return self.program(executable, outputs, layouts, module, label)

    def program(self, executable: Any, outputs: Sequence[xla.AnySpec], layouts: Sequence[MeshLayout], module: bytes,
                label: str) -> MeshProgram:
        """Returns a program that is compiled."""
        return MeshProgram(self, executable, outputs, layouts)

    def wait(self, buffers: Sequence[Any]) -> None:
        """Waits until all of the buffers are computed; raises their errors."""
        self._jax.batched_block_until_ready([b.array for b in buffers])

    def pin(self, buffer: Any) -> Any:
        """Returns an object that protects a buffer from donation as long as it lives."""
        made = xla._Pin(buffer)
        self._pins.add(made)
        return made

    def copied(self, buffer: MeshBuffer) -> Any:
        """Returns a copy of a buffer."""
        return self._of_parts(buffer.aval, buffer.layout, [np.asarray(b) for b in buffer.buffers()], own=True)

    def with_copies(self, buffers: list[Any], donated: Sequence[int], whole: bool) -> list[Any]:
        """Replaces donated arguments of a call that must stay: the pinned ones, or all."""
        pinned = [pin.buffer for pin in list(self._pins)]
        found = list(buffers)
        for i in donated:
            if whole or any(found[i] is b for b in pinned):
                found[i] = self.copied(found[i])
        return found


class MeshProgram(xla.Program):
    """A compiled program for all devices of a mesh."""

    __slots__ = ("_layouts", "_specs")

    def __init__(self, device: MeshDevice, executable: Any, outputs: Sequence[xla.AnySpec],
                 layouts: Sequence[MeshLayout]):
        self.executable = executable
        self._outputs = outputs if any(isinstance(o, xla.ListSpec) for o in outputs) else None
        self._execute = executable.execute_sharded
        self._specs = list(xla.flat_specs(outputs))
        self._layouts = [layout for o, layout in zip(outputs, layouts, strict=True)
                         for _ in xla.flat_specs([o])]
        make = device._jax.array_result_handler
        self._handlers = [_handler(make, spec, device.sharding(layout))
                          for spec, layout in zip(self._specs, self._layouts, strict=True)]
        self._device = device

    def __call__(self, buffers: list[Any]) -> list[Any]:
        """Runs the program, and waits for its end."""
        with turn:
            made = self._call([b.array for b in buffers])
        home: Any = self._device
        return [MeshBuffer(*found, home) for found in zip(made, self._layouts, self._specs, strict=True)]

    def _call(self, arrays: list[Any]) -> list[Any]:
        made: list[Any] = self._execute(arrays).consume_with_handlers(self._handlers)
        self._device._jax.batched_block_until_ready(made)
        return made

    def into(self, sinks: Sequence[Callable[[Any], Any]], buffers: list[Any], more: Sequence[Any],
             donated: Sequence[int]) -> None:
        """Runs and passes each result to its sink; an interrupt comes before or after.

        Args:
          sinks, buffers, more: as for `xla.Program.into`.
          donated: the positions of the arguments whose memory the results take; what is pinned is copied before.
        """
        # Silenced: its device is that of a mesh, which has one.
        self._device.reserve(sum(self.memory()) * len(self._device.places))  # type: ignore[attr-defined]

        def work() -> None:
            with turn:
                results = self(self._device.with_copies(buffers, donated, False))
                collections.deque(map(operator.call, sinks, itertools.chain(results, more)), maxlen=0)

        uninterrupted(work)

    def serialize(self) -> bytes:
        """Refuses: such programs are compiled by each process."""
        raise NotImplementedError("a program of a mesh names the devices of this process")  # nobody asks: not on disk

    def text(self) -> str:
        """Returns the program of one device, as XLA has optimized it."""
        return str(self.executable.hlo_modules()[0].to_string())


def compiled(device: Any, cluster: Cluster, module: bytes, outputs: Sequence[xla.AnySpec],
             libraries: frozenset[int]) -> MeshProgram:
    """Compiles a cluster for a mesh; see `MeshDevice.compile_for`."""
    layouts = [cluster.on_mesh.layouts.get(s, device.whole) for s in cluster.outs]
    made: MeshProgram = device.compile_for(layouts, module, outputs, libraries, _described(cluster))
    return made


def written(device: Any, operation: Any) -> bytes:
    """Returns a module of StableHLO as bytes, to compile.

    Args:
      device: the device, or the mesh, that it is for.
      operation: the module.
    """
    if (write := getattr(device, "write", None)) is not None:
        return bytes(write(operation))
    module = io.BytesIO()
    operation.write_bytecode(module)
    return module.getvalue()


def _described(cluster: Cluster) -> str:
    """Returns in words what a cluster computes."""
    names = [i.op.name for i in cluster.program]
    return f"{len(names)} operations, '{names[0]}' to '{names[-1]}'" if names else "no operations"


def partitioned(jax: Any, function: Callable[..., Any], device: Any, cluster: Cluster, slots: Sequence[int],
                more: int) -> Any:
    """Returns a function for JAX to trace whose arguments and results lie as a cluster says.

    Args:
      jax: JAX.
      function: the function.
      device: the mesh.
      cluster: the cluster.
      slots: those of its first arguments.
      more: the number of further ones, which are whole.
    """
    layouts = cluster.on_mesh.layouts
    given = [device.sharding(layouts.get(s, device.whole)) for s in slots] + [device.sharding(device.whole)] * more
    donated = tuple(i for i, s in enumerate(slots) if s in cluster.donated)
    return jax.jit(function, keep_unused=True, donate_argnums=donated, in_shardings=tuple(given),
                   out_shardings=[device.sharding(layouts.get(s, device.whole)) for s in cluster.outs])


def around(jax: Any, device: Any) -> Any:
    """Returns a context in which annotations mean this mesh."""
    return jax.set_mesh(device.jax_mesh)


def _handler(make: Callable[..., Any], spec: xla.ArraySpec, sharding: Any) -> Any:
    try:
        return make(spec, sharding, True, True)
    except TypeError:  # from 0.11 on jaxlib has no argument that skips checks
        return make(spec, sharding, True)


xla.other_buffers.update({MeshBuffer: np.asarray, SplitValue: np.asarray})


makers: dict[str, Callable[[str, DeviceMesh], MeshDevice]] = {}  # what makes the devices of further kinds
_clients: dict[int, Any] = {}
_devices: dict[str, MeshDevice] = {}
_making = threading.Lock()


def device(name: str | None) -> Any:
    """Returns the device, or the mesh, of a name; the default device for None."""
    if name is None or not name.startswith(PREFIX):
        return xla.device(name)
    if name not in _devices:
        _devices[name] = _make(name)
    return _devices[name]


def _make(name: str) -> MeshDevice:
    """Makes the device of a mesh from its name; processors get a client with as many devices as are needed."""
    kind, _, axes = name.removeprefix(PREFIX).partition(":")
    mesh = mesh_of(axes)
    default = xla.device()  # first of all: it decides what XLA logs
    jaxlib, xla_client = load("jaxlib._jax"), load("jaxlib.xla_client")
    if kind in makers:
        return makers[kind](name, mesh)
    if kind != "CPU":
        return MeshDevice(name, mesh, default._client, jaxlib, xla_client)
    with _making, untimed(), xla._quietly():
        if mesh.size not in _clients:
            _clients[mesh.size] = xla_client.make_cpu_client(asynchronous=False, num_devices=mesh.size)
    return MeshDevice(name, mesh, _clients[mesh.size], jaxlib, xla_client)
