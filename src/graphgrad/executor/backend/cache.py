"""The cache of compiled clusters, in memory and on disk.

The key of a compiled program is a digest of its cluster's fingerprint, the shapes and dtypes of the inputs, the values
that are compiled in, and everything else that affects compilation. Programs are compiled in threads, while the next
ones are being lowered.
"""

from __future__ import annotations

import collections
import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graphgrad.executor.program.fingerprint import Form, digest, token
from graphgrad.executor.program.interpreter import MustBeKnown

from . import disk_cache, memory_budget, mesh, shipped, xla_options
from .lower import lower
from .threads import Later, pool_of
from .xla import AnySpec, ArraySpec, Device, ListSpec, Program, load_lapack

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from graphgrad.executor.program.plan_types import Cluster

_LIMIT = 4096  # limit of programs in memory,
_MAPPED = 0.5  # and the share of the system's memory mappings from which half of them are forgotten


class Entry:
    """A program that is compiled or is being compiled.

    Attributes:
      outputs: shapes and dtypes of its results.
      origin: "compiled" or "disk".
      taken: the number of blocks that each random operation draws, in the order of the cluster's rows.
    """

    def __init__(self, outputs: Sequence[AnySpec], program: Program | Later | None, origin: str, taken: Sequence[int]):
        self.outputs = list(outputs)
        self.taken = taken
        self.origin = origin
        self._program = program

    def program(self) -> Program:
        """Waits for the program and returns it."""
        if isinstance(self._program, Later):
            self._program = self._program.result()
        return cast(Program, self._program)


class Need:
    """A need that lowering found: the value of an input of one of the instructions."""

    def __init__(self, instruction: int, position: int):
        self.instruction = instruction
        self.position = position


_entries: collections.OrderedDict[str, Entry | Need] = collections.OrderedDict()
_lock = threading.RLock()
_pool: list[ThreadPoolExecutor] = []

received: dict[str, tuple[dict[str, Any], bytes]] = {}  # entries that another process has compiled, by key
awaited: list[Callable[[], None]] = []  # each waits until another process has compiled what it was given


def _store(key: str, header: dict[str, Any], code: bytes) -> None:
    disk_cache.write(key, header, code)


for_others = threading.Event()  # set where programs are compiled for other processes only
keepers: list[Callable[[str, dict[str, Any], bytes], None]] = [_store]  # store new entries
witnesses: list[Callable[[str, dict[str, Any], bytes], None]] = []  # are told of entries found on disk
noted: list[list[str]] = []  # each gets the keys that `get` is asked for
counts: collections.Counter[str] = collections.Counter()  # entries by origin: "compiled", "disk", or "own"


def _keep(key: str, header: dict[str, Any], code: bytes) -> None:
    for keeper in keepers:
        keeper(key, header, code)


def _is_kept() -> bool:
    return any(keeper is not _store or disk_cache.enabled() for keeper in keepers)


def _compilers() -> ThreadPoolExecutor:
    if not _pool:
        _pool.append(pool_of(max(1, min(4, os.cpu_count() or 1)), "graphgrad-compile"))
    return _pool[0]


def clear() -> None:
    """Forgets all compiled programs in memory."""
    with _lock:
        _entries.clear()
        received.clear()


def get(device: Device, cluster: Cluster, form: Form, inputs: Sequence[AnySpec],
        shapes: Sequence[AnySpec], known: Sequence[Any]) -> Entry:
    """Returns the program for a cluster, compiling it if necessary.

    Args:
      device: where it is to run.
      cluster: the cluster, and `form` its fingerprint.
      inputs, shapes, known: as for `lower`.
    Raises: MustBeKnown if a kernel needs a value that it does not get.
    """
    entry: Entry | Need | None
    if not form.portable:  # meaningful for this cluster only
        return _compile(device, cluster, inputs, shapes, known, None)
    surroundings = disk_cache.surroundings(device.platform, device.version, xla_options.RULE)
    key = digest(form.text, _written(inputs), _written(shapes), token(list(known)), surroundings, str(device.number))
    for keys in noted:
        keys.append(key)
    with _lock:
        here = key + device.name
        entry = _entries.get(here)
        if entry is None:
            on_mesh = cluster.on_mesh is not None  # such programs are not kept on disk
            entry = None if on_mesh else _from_disk(device, key)
            while entry is None and awaited and not on_mesh:
                awaited[-1]()
                awaited.pop()
                entry = _from_disk(device, key)
            entry = _entries[here] = entry or _compile(device, cluster, inputs, shapes, known, key)
            _make_room()
        else:
            _entries.move_to_end(here)
    if isinstance(entry, Need):
        raise MustBeKnown(cluster.program[entry.instruction].op, entry.position)
    return entry


def get_library_call(device: Device, module: bytes, output: ArraySpec) -> Entry:
    """Returns the program for a call of `library_calls`, which cannot be kept on disk, compiling it if necessary."""
    key = f"{device.name} {module.decode()}"
    with _lock:
        entry = _entries.get(key)
        if entry is None:
            entry = _entries[key] = Entry([output], _library_call(device, module, output), "compiled", ())
            _make_room()
        _entries.move_to_end(key)
    assert isinstance(entry, Entry)
    return entry


def _library_call(device: Device, module: bytes, output: ArraySpec) -> Program | Later | None:
    if for_others.is_set():
        return None

    def compile_it() -> Program:
        return device.compile(module, [output], frozenset(), with_scratch=True)

    try:
        return Later(_compilers(), compile_it)
    except RuntimeError:  # no thread could be started
        return compile_it()


def _make_room() -> None:
    """Forgets programs that were used longest ago if there are many; those that plans hold stay in memory."""
    many = len(_entries) // 2 if memory_budget.mapped() > _MAPPED else len(_entries) - _LIMIT
    for _ in range(many):
        _entries.popitem(last=False)


def are_stored(keys: Sequence[str]) -> bool:
    """Returns whether there are entries of all these keys on disk; they are not read."""
    return all(disk_cache.exists(key) or any(shipped.exists(f, key) for f in shipped.folders()) for key in keys)


def _from_disk(device: Device, key: str) -> Entry | Need | None:
    """Returns the program that another process has compiled, or that came with the program; None if there is none."""
    if (found := received.pop(key, None) or disk_cache.read(key)) is not None:
        if (entry := _loaded(device, key, *found)) is not None:
            return entry
        disk_cache.remove(key)
    for folder in shipped.folders():
        found = shipped.read(folder, key)
        if found is not None and (entry := _loaded(device, key, *found)) is not None:
            return entry
    return None


def _loaded(device: Device, key: str, header: dict[str, Any], code: bytes) -> Entry | Need | None:
    entry: Entry | Need
    try:
        if "needs" in header:
            entry = Need(*header["needs"])
        else:
            if header.get("lapack"):
                load_lapack()
            outputs = [_read(spec) for spec in header["outputs"]]
            entry = Entry(outputs, device.load(code, outputs), "disk", header["taken"])
            counts["disk"] += 1
    except MemoryError:
        raise
    except Exception:  # after any error, it can be compiled again
        return None
    for witness in witnesses:
        witness(key, header, code)
    return entry


def _compile(device: Device, cluster: Cluster, inputs: Sequence[AnySpec], shapes: Sequence[AnySpec],
             known: Sequence[Any], key: str | None) -> Entry:
    try:
        module, outputs, libraries, taken = lower(cluster, inputs, shapes, known, device)
    except MustBeKnown as need:
        number = next(n for n, i in enumerate(cluster.program) if i.op is need.op)
        if key is not None:
            _entries[key + device.name] = Need(number, need.index)
            _keep(key, {"needs": [number, need.index]}, b"")
        raise

    counts["compiled" if key is not None else "own"] += 1

    def finish() -> Program:
        try:
            if cluster.on_mesh is None:
                program = device.compile(module, outputs, libraries)
            else:
                program = mesh.compiled(device, cluster, module, outputs, libraries)
        except BaseException:  # such as lack of memory: the next run tries again
            if key is not None:
                with _lock:
                    _entries.pop(key + device.name, None)
            raise
        if key is not None and cluster.on_mesh is None and _is_kept():
            header = {"outputs": _written(outputs), "taken": taken,
                      "lapack": device.platform == "cpu" and b"lapack_" in module}
            with contextlib.suppress(Exception):  # without an entry it is compiled again
                _keep(key, header, program.serialize())
        return program

    try:
        return Entry(outputs, Later(_compilers(), finish), "compiled", taken)
    except RuntimeError:  # no thread could be started
        return Entry(outputs, finish(), "compiled", taken)


def _written(specs: Sequence[AnySpec]) -> list[Any]:
    """Converts specs to JSON values."""
    result: list[Any] = []
    for spec in specs:
        if isinstance(spec, ListSpec):
            in_one, np_dtype, declared = spec.kind
            result.append([in_one, np.dtype(np_dtype).name, declared and list(declared), _written(spec.parts)])
        else:
            result.append(None if spec is None else [list(spec.shape), spec.dtype.name])
    return result


def _read(written: Any) -> AnySpec:
    """Inverts `_written`, for one spec."""
    if written is None:
        return None
    if len(written) == 2:
        return ArraySpec(tuple(written[0]), disk_cache.dtype(written[1]))
    in_one, name, declared, parts = written
    kind = in_one, disk_cache.dtype(name), None if declared is None else tuple(declared)
    return ListSpec(kind, tuple(map(_read, parts)))
