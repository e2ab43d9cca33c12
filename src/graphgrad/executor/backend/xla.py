"""The XLA client: compiles StableHLO, and calls programs on buffers.

This goes below `jax.jit` to XLA's client, for two reasons: a call costs less, and a program that
an earlier process compiled runs without importing JAX at all. JAX is imported to trace and
lower what is new (`lower.py`). The few private names of jaxlib that this needs are all in this module.

On a CPU the client is this module's own; where an accelerator's plugin is installed, it is JAX's.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import importlib.util
import itertools
import math
import operator
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from graphgrad.errors import bytes_str
from graphgrad.ir.blocking import untimed
from graphgrad.ir.values import tensor_list
from graphgrad.ir.values.variable_store import read_buffers_with
from graphgrad.system import freed_memory
from graphgrad.system.late_imports import load

from . import memory_budget, xla_options


@functools.cache
def _has_older_emitters() -> bool:
    return tuple(map(int, load("jaxlib").__version__.split(".")[:2])) < (0, 11)


class ArraySpec(NamedTuple):
    """Shape and NumPy dtype of a buffer: the counterpart of JAX's abstract values."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak_type: bool = False


class ListSpec(NamedTuple):
    """The structure of a list of tensors.

    Attributes:
      kind: the argument of `unflatten`.
      parts: the spec of each of its arrays, None for elements not set.
    """

    kind: Any
    parts: tuple[AnySpec, ...]


AnySpec: TypeAlias = ArraySpec | ListSpec | None


class Device:
    """A device with its compiler; `device()` returns the one in use.

    Attributes:
      platform: XLA's name for it: "cpu", "cuda", ...
      buffer: the class of its buffers.
      number: which of its client's devices it is.
      name: the name that programs use, such as "CPU:1"; "" for the default one.
    """

    def __init__(self, client: Any, jaxlib: Any, xla_client: Any, number: int = 0, name: str = ""):
        self._client = client
        self._jax = jaxlib
        self._device = client.local_devices()[number]
        self.name = name
        self.number = number
        self._devices = jaxlib.DeviceList((self._device,))
        self._sharding = _sharding(jaxlib, xla_client, self._device)
        self.platform: str = client.platform
        self.version: str = client.platform_version
        self.buffer: type = jaxlib.ArrayImpl
        self._put = jaxlib.batched_device_put
        self._only = [self._device]
        self._handler_of = _result_handlers(jaxlib, self._sharding)
        self._pins: weakref.WeakSet[_Pin] = weakref.WeakSet()  # of an accelerator

    def put(self, array: Any) -> Any:
        """Makes a buffer of a NumPy array, which must not change while the buffer is in use."""
        return self._put(ArraySpec(array.shape, array.dtype), self._sharding, (array,), self._only, enable_x64=True)

    def move(self, value: Any) -> Any:
        """Converts a value for clusters: arrays become buffers, and so do those of a list."""
        if type(value) is self.buffer or value is None:
            return value
        if isinstance(value, tensor_list.TensorList):
            parts, kind = tensor_list.flatten(value)
            return tensor_list.unflatten(kind, [self.move(p) for p in parts])
        return self.put(np.asarray(value))

    def bring(self, value: Any) -> Any:
        """Moves a value from any device to this one."""
        if isinstance(value, tensor_list.TensorList):
            parts, kind = tensor_list.flatten(value)
            return tensor_list.unflatten(kind, [self.bring(p) for p in parts])
        buffer: Any = value
        if value is None or (type(value) is self.buffer and buffer._sharding is self._sharding):
            return value
        return self.put(np.asarray(to_numpy(value)))

    def compile(self, module: bytes, outputs: Sequence[AnySpec], libraries: frozenset[int],
                with_scratch: bool = False) -> Program:
        """Compiles StableHLO.

        Args:
          module: the module as MLIR, text or bytecode.
          outputs: the specs of its results.
          libraries: of `xla_options.libraries`.
          with_scratch: whether it calls what allocates memory itself, at most as much as for arguments and results.
        """
        memory_budget.reserve_to_compile()
        options = xla_options.options(self._jax, libraries)
        if with_scratch and _has_older_emitters():
            xla_options.use_older_emitters(options)
        executable = self._client.compile_and_load(module, self._devices, options)
        return Program(self, executable, outputs, with_scratch)

    def load(self, serialized: bytes, outputs: Sequence[AnySpec]) -> Program:
        """Loads a program that `Program.serialize` wrote on a machine of the same kind."""
        memory_budget.reserve_to_compile()
        executable = self._client.deserialize_executable(serialized, self._devices, self._jax.CompileOptions())
        return Program(self, executable, outputs)

    def wait(self, buffers: Sequence[Any]) -> None:
        """Waits until all of the buffers are computed; raises their errors."""
        self._jax.batched_block_until_ready(buffers)

    def memory(self) -> tuple[int, str]:
        """Returns its bytes of memory, 0 if that is not known, and its description."""
        return int((self._device.memory_stats() or {}).get("bytes_limit", 0)), str(self._device.device_kind)

    def memory_in_use(self) -> tuple[int, int] | None:
        """Returns the bytes in use now and at peak; None where that is not known."""
        stats = self._device.memory_stats()
        return stats and (int(stats.get("bytes_in_use", 0)), int(stats.get("peak_bytes_in_use", 0)))

    def reserve(self, *sizes: int) -> None:
        """Checks that there is memory for blocks of some sizes in bytes, all at once; raises MemoryError if not."""
        if self.platform == "cpu":
            memory_budget.reserve(*sizes)
        elif stats := self._device.memory_stats():
            size, free = sum(sizes), stats.get("bytes_limit", math.inf) - stats.get("bytes_in_use", 0)
            if size > free:
                raise MemoryError(f"{bytes_str(size)} are needed, the device has {bytes_str(free)}")

    def pin(self, buffer: Any) -> Any:
        """Returns an object that protects a buffer from donation as long as it lives."""
        if self.platform == "cpu":
            return self._jax.buffer_to_dlpack_managed_tensor(buffer)
        made = _Pin(buffer)
        self._pins.add(made)
        return made

    def with_copies(self, buffers: list[Any], donated: Sequence[int], whole: bool) -> list[Any]:
        """Replaces donated arguments of a call that must stay: the pinned ones, or all.

        XLA copies them itself on a processor. On an accelerator such a call is an error.
        """
        pinned = [pin.buffer for pin in list(self._pins)]
        found = list(buffers)
        for i in donated:
            if whole or any(found[i] is b for b in pinned):
                found[i] = self.put(np.array(to_numpy(found[i])))
        return found


class _Pin:
    """What protects a buffer of an accelerator from donation while it lives."""

    def __init__(self, buffer: Any):
        self.buffer = buffer


class Program:
    """A compiled program; call it with a list of buffers to get a list of buffers."""

    __slots__ = ("executable", "_outputs", "_execute", "_handlers", "_consume", "_device", "_needs", "_reserves",
                 "_saves")

    def __init__(self, device: Device, executable: Any, outputs: Sequence[AnySpec], with_scratch: bool = False):
        self.executable = executable
        self._outputs = outputs if any(isinstance(o, ListSpec) for o in outputs) else None
        self._execute = executable.execute_sharded
        self._handlers = [device._handler_of(spec) for spec in flat_specs(outputs)]
        self._consume = operator.methodcaller("consume_with_handlers", self._handlers)
        self._device = device
        stats = executable.get_compiled_memory_stats()
        self._saves = stats.alias_size_in_bytes  # bytes, by donations
        results, work = self.memory()
        if with_scratch:
            work += stats.argument_size_in_bytes + results
        # Machine code allocates more to transpose operands. Without memory for that, the process may end; so a large
        # program is called only where more is free.
        self._reserves = device.platform == "cpu" and results + work >= _MUCH
        arguments = min(stats.argument_size_in_bytes, _BESIDES)
        self._needs: tuple[int, ...] = results, work + _BESIDES + arguments
        if not self._reserves:  # one block is checked for sooner than two
            self._needs = (results + work + _LITTLE + arguments,)

    def __call__(self, buffers: list[Any]) -> list[Any]:
        """Starts the program; the results may be filled later."""
        if self._reserves:
            self._device.reserve(*self._needs)
        results: list[Any] = self._execute(buffers).consume_with_handlers(self._handlers)
        if self._reserves:
            self._device.wait(results[:1])  # raises if there was no memory after all
        return results

    def with_lists(self, values: list[Any]) -> list[Any]:
        """Calls it with arguments or results that include lists of tensors."""
        results = iter(self(list(_leaves(values))))
        return list(results) if self._outputs is None else [_gather(o, results) for o in self._outputs]

    def into(self, sinks: Sequence[Callable[[Any], Any]], buffers: list[Any], more: Sequence[Any],
             donated: Sequence[int]) -> None:
        """Runs and passes each result to its sink; no interrupt can come in between.

        Everything happens in one call of C code, so a KeyboardInterrupt comes before or after it.
        Donated buffers are destroyed, so without the results the values of variables would be lost. So nothing is
        donated unless there is memory for all that the program allocates, nor if that is much compared with what
        donations save: another thread might take the memory meanwhile.

        Args:
          sinks: one function of C for each result, and for each of `more`.
          buffers: the arguments.
          more: further values, passed on once the program has run.
          donated: the positions of the arguments whose buffers it may write its results into.
        """
        results: Iterator[Any]
        may = self._may_donate()
        if self._device.platform != "cpu":
            buffers, may = self._device.with_copies(buffers, donated, not may), True
        if may:
            results = itertools.chain.from_iterable(map(self._consume, map(self._execute, (buffers,))))
        else:
            pins = [self._device.pin(buffers[i]) for i in donated]
            made = self(buffers)
            self._device.wait(made)
            del pins
            results = iter(made)
        collections.deque(map(operator.call, sinks, itertools.chain(results, more)), maxlen=0)

    def _may_donate(self) -> bool:
        """Returns whether variables' buffers may be donated to a call, since memory suffices."""
        if self._reserves and self._saves * _SPARE <= sum(self._needs):
            return False
        try:
            self._device.reserve(*self._needs)
        except MemoryError:
            return False
        return True

    def serialize(self) -> bytes:
        """Returns the machine code, for `Device.load`."""
        code: bytes = self.executable.serialize()
        return code

    def memory(self) -> tuple[int, int]:
        """Returns the bytes of the results, and of temporary memory."""
        stats = self.executable.get_compiled_memory_stats()
        return stats.output_size_in_bytes - stats.alias_size_in_bytes, stats.temp_size_in_bytes


@functools.cache
def load_lapack() -> None:
    """Registers LAPACK's functions, which matrix programs call; JAX does so when it lowers one."""
    lapack, xla_client = load("jaxlib.lapack"), load("jaxlib.xla_client")
    if "jax._src.lax.linalg" not in sys.modules:  # otherwise JAX has done this part
        for platform, targets in lapack.registrations().items():
            for name, function, version in targets:
                xla_client.register_custom_call_target(name, function, platform, version)
    lapack._lapack.initialize()


def _sharding(jaxlib: Any, xla_client: Any, device: Any) -> Any:
    replicated = xla_client.HloSharding.replicate()

    class Single(jaxlib.SingleDeviceSharding):  # type: ignore[misc]  # the base is known at run time only
        def _to_xla_hlo_sharding(self, rank: int) -> Any:
            return replicated

        memory_kind = None

    return Single(device)


def _result_handlers(jaxlib: Any, sharding: Any) -> Callable[[ArraySpec], Any]:
    """Returns what makes, for a result's spec, the function of C that turns it into a buffer."""
    make = jaxlib.array_result_handler
    try:
        make(ArraySpec((), np.dtype(np.float32)), sharding, True, True)
    except TypeError:  # from 0.11 on jaxlib has no argument that skips checks
        return lambda spec: make(spec, sharding, True)
    return lambda spec: make(spec, sharding, True, True)


_lock = threading.Lock()


def device(name: str | None = None) -> Device:
    """Returns the device that clusters run on, or one named by kind and number; the first call creates the client.

    Args:
      name: such as "CPU:1" or "GPU:0". Each "CPU" is a separate client on the same processor.
    """
    if name is None or name == default_name():
        return _the_device() if _made else _make()
    return _others.get(name) or _make_other(name)


_made: list[Device] = []


def is_made() -> bool:
    """Returns whether a client, with its threads, exists."""
    return bool(_made)


def _the_device() -> Device:
    return _made[0]


_others: dict[str, Device] = {}


def default_name() -> str:
    """Returns kind and number of the default device."""
    return "CPU:0" if only_cpu() else f"{_kind(device().platform)}:0"


def accelerators() -> list[str]:
    """Returns kinds and numbers of the devices that are not processors."""
    if only_cpu() or device().platform == "cpu":
        return []
    return [f"{_kind(device().platform)}:{n}" for n in range(len(device()._client.local_devices()))]


def _kind(platform: str) -> str:
    return {"cpu": "CPU", "tpu": "TPU"}.get(platform, "GPU")


def _make_other(name: str) -> Device:
    kind, _, number = name.partition(":")
    default = device()
    with _lock:
        if name not in _others:
            with _quietly():
                _jax, xla_client = load("jaxlib._jax"), load("jaxlib.xla_client")
                if kind == "CPU":
                    made = Device(xla_client.make_cpu_client(asynchronous=False), _jax, xla_client, 0, name)
                else:
                    made = Device(default._client, _jax, xla_client, int(number), name)
                _others[name] = made
    return _others[name]


def _make() -> Device:
    with _lock:
        if not _made:
            memory_budget.reserve_to_begin()
            with _quietly(), untimed():
                _jax, xla_client = load("jaxlib._jax"), load("jaxlib.xla_client")
                if only_cpu():
                    freed_memory.keep()
                    client = xla_client.make_cpu_client(asynchronous=False)
                else:
                    client = load("jax").devices()[0].client
                try:
                    _made.append(Device(client, _jax, xla_client))
                except (AttributeError, TypeError) as e:
                    version = load("jaxlib").__version__
                    raise ImportError(f"graphgrad does not know jaxlib {version} ({e}). "
                                      "Fix: pip install 'jax>=0.10,<0.13'") from e
    return _made[0]


# Bytes.
_LITTLE = 1 << 20  # allocated by a call besides buffers
_MUCH = 1 << 22  # from this size on, memory for allocations of machine code is reserved, too:
_BESIDES = 1 << 25
_SPARE = 8  # variables are copied, not donated, if they are smaller than a program's memory by this factor


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Keeps XLA from logging messages below warnings to the standard error, as importing JAX does."""
    name = "TF_CPP_MIN_LOG_LEVEL"
    if name in os.environ:
        yield
        return
    os.environ[name] = "1"
    try:
        yield
    finally:
        del os.environ[name]


@functools.cache
def only_cpu() -> bool:
    """Returns whether there can be no accelerator: none is requested, and no plugin is installed."""
    asked = os.environ.get("JAX_PLATFORMS", "")
    if asked:
        return asked == "cpu"
    return importlib.util.find_spec("jax_plugins") is None


def to_numpy(value: Any) -> Any:
    """Returns a read-only NumPy array of the content of a buffer; other values unchanged."""
    if _made and type(value) is _made[0].buffer:
        buffer: Any = value
        if buffer.aval.dtype.kind in "?biufc" and _made[0].platform == "cpu":
            try:
                return np.asarray(memoryview(buffer))
            except BufferError as e:  # a failure on a processor can only be lack of memory
                raise MemoryError(str(e).split("\n")[0]) from None
        return np.asarray(buffer._single_device_array_to_np_array_did_copy()[0])
    if isinstance(value, tensor_list.TensorList):
        parts, kind = tensor_list.flatten(value)
        return tensor_list.unflatten(kind, [to_numpy(p) for p in parts])
    return value if (convert := other_buffers.get(type(value))) is None else convert(value)


other_buffers: dict[type, Callable[[Any], Any]] = {}  # what makes an array of a buffer of further classes


def view(value: Any) -> Any:
    """Returns a value that cannot be overwritten: a buffer in processor memory as an array that keeps it alive."""
    return to_numpy(value) if _made and _made[0].platform == "cpu" else value


def shape_of(value: Any) -> Any:
    """Returns the shape of an array or buffer; a placeholder for a list of tensors."""
    if isinstance(value, tensor_list.TensorList):
        return spec_of(value)
    return value.aval.shape if hasattr(value, "aval") else np.shape(value)


def spec_of(value: Any) -> AnySpec:
    """Returns shape and dtype of an array or buffer; None for None."""
    if value is None:
        return None
    if isinstance(value, tensor_list.TensorList):
        parts, kind = tensor_list.flatten(value)
        return ListSpec(kind, tuple(spec_of(p) for p in parts))
    value = value.aval if hasattr(value, "aval") else np.asarray(value)
    return ArraySpec(tuple(value.shape), np.dtype(value.dtype))


def flat_specs(specs: Iterable[AnySpec]) -> Iterator[ArraySpec]:
    """Yields the specs of all arrays, including those of lists."""
    for spec in specs:
        if isinstance(spec, ListSpec):
            yield from flat_specs(spec.parts)
        elif spec is not None:
            yield spec


def _leaves(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, tensor_list.TensorList):
            yield from _leaves(tensor_list.flatten(value)[0])
        elif value is not None:
            yield value


def _gather(spec: AnySpec, results: Iterator[Any]) -> Any:
    if isinstance(spec, ListSpec):
        return tensor_list.unflatten(spec.kind, [_gather(p, results) for p in spec.parts])
    return None if spec is None else next(results)


read_buffers_with(to_numpy)
