"""Lowers a cluster to StableHLO: its kernels write themselves, or JAX traces them."""

from __future__ import annotations

import collections
import contextlib
import functools
import math
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphgrad.executor.emit.arrays import Array
from graphgrad.executor.emit.element_types import Unsupported
from graphgrad.executor.emit.namespace import Namespace
from graphgrad.executor.emit.program_text import Text
from graphgrad.executor.program.interpreter import Faults, MustBeKnown, execute
from graphgrad.executor.program.interrupts import COUNT
from graphgrad.executor.program.random_table import RandomTable
from graphgrad.executor.rewrite import rewriting
from graphgrad.ir.values import tensor_list
from graphgrad.system.late_imports import load, undisturbed, uninterrupted
from graphgrad.system.subnormals import Subnormals

from . import memory_budget, mesh, xla_options
from .xla import AnySpec, ArraySpec, Device, ListSpec, load_lapack

if TYPE_CHECKING:
    from graphgrad.executor.program.plan_types import Cluster


class _Shape:
    """A placeholder for a value of which only the shape is used."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape


def lower(cluster: Cluster, inputs: Sequence[AnySpec], shapes: Sequence[AnySpec],
          known: Sequence[Any], device: Device) -> tuple[bytes, list[AnySpec], frozenset[int], list[int]]:
    """Lowers a cluster.

    Args:
      cluster: the cluster.
      inputs: shapes and dtypes of `cluster.ins`; None for a variable without a value.
      shapes: those of `cluster.shapes`.
      known: NumPy values for `cluster.known`, compiled in.
      device: where it is to run.
    Returns: the module as MLIR bytecode, whose arguments are the inputs that are not None, the table of random states
      if there is one, and the interrupt numbers of loops if there are any; the specs of its results, those of
      `cluster.outs`; the parts that libraries may compute, see `xla_options`; and how many blocks each row's random
      operation draws.
    Raises: MustBeKnown if a kernel needs a value that it does not get.
    """
    platform = device.platform
    if platform == "cpu" and (made := _without_jax(cluster, inputs, shapes, known)) is not None:
        return made
    jax, jnp = _jax(platform), load("jax.numpy")
    used = (s for i in cluster.program for s in (*i.reads(), *i.gives()))
    slots = 1 + max((*used, *cluster.packed, *cluster.unpacked, *cluster.outs), default=0)
    given = [s for s, spec in zip(cluster.ins, inputs, strict=True) if spec is not None]
    rows = {row: i for i, row in enumerate(cluster.rows)}
    stops = cluster.loop is not None
    taken: dict[int, int] = {}

    def run(*args: Any) -> list[Any]:
        env: list[Any] = [None] * slots
        for slot, spec in zip(cluster.shapes, shapes, strict=True):
            env[slot] = as_shape(spec)
        for slot, value in zip(cluster.known, known, strict=True):
            env[slot] = value
        for slot, value in zip(given, args, strict=False):
            env[slot] = value
        for whole, parts in cluster.unpacked.items():
            start = 0
            for slot, shape in parts:
                end = start + math.prod(shape)
                env[slot] = jax.lax.slice(env[whole], [start], [end]).reshape(shape)
                start = end
        faults = Faults() if cluster.fault is not None and platform == "cpu" else None
        table = RandomTable(rows, args[len(given)], taken) if rows else None
        with np.errstate(all="ignore"), Subnormals(flushed=True):  # folded values must equal XLA's
            execute(jnp, cluster.program, env, table, faults=faults, stop=args[-1] if stops else None)
        if cluster.fault is not None:
            env[cluster.fault] = jnp.asarray(faults is not None and faults.any(jnp))
        for whole, together in cluster.packed.items():
            env[whole] = jnp.concatenate([jnp.ravel(env[s]) for s in together])
        return [env[s] for s in cluster.outs]

    with jax.enable_x64(True):
        if _plain(jax):
            tensor_list.register(jax)
        args = [_argument(jax, spec) for spec in inputs if spec is not None]
        if rows:
            args.append(jax.ShapeDtypeStruct((len(rows), 3), np.uint64))
        if stops:
            args.append(jax.ShapeDtypeStruct((COUNT,), np.int32))
        donated = tuple(i for i, s in enumerate(given) if s in cluster.donated)
        if cluster.on_mesh is None:
            jitted = jax.jit(run, keep_unused=True, donate_argnums=donated)
        else:
            jitted = mesh.partitioned(jax, run, device, cluster, given, len(args) - len(given))
        with contextlib.nullcontext() if cluster.on_mesh is None else mesh.around(jax, device):
            traced = jitted.trace(*args)
            _check_sizes(traced.jaxpr)
            lowered = traced.lower(lowering_platforms=(platform,))
        operation = lowered.compiler_ir("stablehlo").operation
        text = operation.get_asm(large_elements_limit=4)
        libraries = xla_options.libraries(text)
        if platform == "cpu" and cluster.on_mesh is None:
            rewriting.rewrite(operation, text, not xla_options.sums(libraries))
        module = mesh.written(device, operation)
        results = [_result(o) for o in lowered.out_info]
    return module, results, libraries, [taken.get(row, 0) for row in cluster.rows]


without_jax = True  # whether clusters are lowered without JAX where that is possible


def _without_jax(cluster: Cluster, inputs: Sequence[AnySpec], shapes: Sequence[AnySpec],
                 known: Sequence[Any]) -> tuple[bytes, list[AnySpec], frozenset[int], list[int]] | None:
    """Lowers a cluster, for a processor, without importing JAX; returns None if only JAX can."""
    if not without_jax or cluster.on_mesh is not None:
        return None
    taken: dict[int, int] = {}
    try:
        module, specs = _written(cluster, inputs, shapes, known, taken)
        libraries = xla_options.libraries(module)
        if "lapack_" in module:
            load_lapack()
        code = rewriting.parsed(module, not xla_options.sums(libraries))
    except MustBeKnown:  # so it would be in a trace
        raise
    except Exception:  # JAX lowers it, or finds the error
        return None
    return code, specs, libraries, [taken.get(row, 0) for row in cluster.rows]


def _written(cluster: Cluster, inputs: Sequence[AnySpec], shapes: Sequence[AnySpec],
             known: Sequence[Any], taken: dict[int, int]) -> tuple[str, list[AnySpec]]:
    """Has the kernels of a cluster write themselves; returns the module, and the specs of its results.

    Args:
      cluster, inputs, shapes, known: as for `lower`.
      taken: receives the number of blocks that each random operation draws.
    """
    text = Text()
    xp = Namespace(text)
    env: dict[int, Any] = collections.defaultdict(lambda: None)
    for slot, spec in zip(cluster.shapes, shapes, strict=True):
        env[slot] = as_shape(spec)
    env.update(zip(cluster.known, known, strict=True))
    given: list[tuple[int, Array]] = []
    for slot, argument in zip(cluster.ins, inputs, strict=True):
        env[slot] = _given(text, slot, argument, given)
    for whole, parts in cluster.unpacked.items():
        start = 0
        for slot, shape in parts:
            end = start + math.prod(shape)
            env[slot] = env[whole][start:end].reshape(shape)
            start = end
    table = stop = None
    if cluster.rows:
        values = _given(text, -1, ArraySpec((len(cluster.rows), 3), np.dtype(np.uint64)), given)
        table = RandomTable({row: i for i, row in enumerate(cluster.rows)}, values, taken)
    if cluster.loop is not None:
        stop = _given(text, -1, ArraySpec((COUNT,), np.dtype(np.int32)), given)
    faults = None if cluster.fault is None else Faults()
    with np.errstate(all="ignore"), Subnormals(flushed=True), _NoJax():  # folded values must equal XLA's
        slots: Any = env  # of which only some are read
        execute(xp, cluster.program, slots, table, faults=faults, stop=stop)
    if cluster.fault is not None:
        env[cluster.fault] = xp.asarray(faults.any(xp) if faults is not None and faults.found else np.False_)
    for whole, together in cluster.packed.items():
        env[whole] = xp.concatenate([xp.ravel(env[s]) for s in together])
    results: list[Array] = []
    specs = [_given_back(xp, env[s], results) for s in cluster.outs]
    arguments = [f"{value.name}: {value.type}{note}"
                 for (_, value), note in zip(given, _donations(cluster, given, results), strict=True)]
    return text.module(arguments, [(r.name, r.type) for r in results]), specs


def _given(text: Text, slot: int, spec: AnySpec, given: list[tuple[int, Array]]) -> Any:
    """Returns an argument of the program, a list of them, or None; adds what is in it to `given`."""
    if spec is None:
        return None
    if isinstance(spec, ListSpec):
        return tensor_list.unflatten(spec.kind, [_given(text, slot, part, given) for part in spec.parts])
    argument = Array(text, f"%a{len(given)}", spec.shape, spec.dtype)
    given.append((slot, argument))
    return argument


def _given_back(xp: Namespace, value: Any, results: list[Array]) -> AnySpec:
    """Adds the arrays of a result to `results`; returns its spec."""
    if value is None:
        return None
    if isinstance(value, tensor_list.TensorList):
        parts, kind = tensor_list.flatten(value)
        return ListSpec(kind, tuple([_given_back(xp, part, results) for part in parts]))
    results.append(xp.asarray(value))
    return ArraySpec(results[-1].shape, results[-1].dtype)


class _NoJax:
    """Ends what a kernel does in this thread when it imports JAX, whose import has to be `undisturbed`."""

    def __enter__(self) -> None:
        self._thread = threading.get_ident()
        sys.meta_path.insert(0, self)

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(self, name: str, *_: object) -> None:
        """Refuses JAX, and knows of nothing else."""
        if name.partition(".")[0] == "jax" and threading.get_ident() == self._thread:
            raise Unsupported(name)


def _donations(cluster: Cluster, given: Sequence[tuple[int, Array]], results: Sequence[Array]) -> Iterator[str]:
    """Yields the attribute of each argument: onto which result its buffer is reused, as JAX matches them."""
    left = dict(enumerate(results))
    for slot, value in given:
        fits = [i for i, r in left.items() if (r.shape, r.dtype) == (value.shape, value.dtype)]
        if slot in cluster.donated and fits:
            del left[fits[0]]
            yield f" {{tf.aliasing_output = {fits[0]} : i32}}"
        else:
            yield ""


@functools.cache
def _jax(platform: str) -> Any:
    """Imports JAX, including what it imports late when lowering, which an interrupt must not end half-way."""
    memory_budget.reserve_to_begin()  # an import that fails half-way cannot be repeated
    jax = load("jax")
    with undisturbed():
        traced = jax.jit(abs).trace(jax.ShapeDtypeStruct((), np.float32))
        uninterrupted(lambda: traced.lower(lowering_platforms=(platform,)))
    return jax


_ADDRESSES = 2**47  # the largest size of a process in bytes; XLA ends the process if a size overflows


class _NoRoom(MemoryError):
    """A value of a program is larger than any memory; worded like NumPy's error."""

    def __init__(self, shape: tuple[int, ...], dtype: Any):
        super().__init__()
        self.shape, self.dtype = shape, dtype


def _check_sizes(jaxpr: Any) -> None:
    """Raises a MemoryError if a value in a traced program is larger than any memory."""
    waiting = [jaxpr]
    while waiting:
        part = waiting.pop()
        part = getattr(part, "jaxpr", part)
        for equation in part.eqns:
            for variable in equation.outvars:
                shape = getattr(variable.aval, "shape", ())
                if shape and math.prod(shape) * variable.aval.dtype.itemsize > _ADDRESSES:
                    raise _NoRoom(shape, variable.aval.dtype)
            for value in equation.params.values():
                found = value if isinstance(value, (list, tuple)) else (value,)
                waiting += [v for v in found if hasattr(v, "eqns") or hasattr(v, "jaxpr")]


def _plain(jax: Any) -> bool:
    """Returns whether tensor lists are not yet registered with JAX."""
    probe = tensor_list.TensorList(np.float32, None, [])
    return bool(jax.tree_util.all_leaves([probe]))


def as_shape(spec: AnySpec) -> Any:
    """Returns the placeholder, while lowering, for a value of which only the shape is used."""
    if isinstance(spec, ListSpec):
        return tensor_list.unflatten(spec.kind, [as_shape(p) for p in spec.parts])
    return None if spec is None else _Shape(spec.shape)


def _argument(jax: Any, spec: ArraySpec | ListSpec) -> Any:
    if isinstance(spec, ListSpec):
        return tensor_list.unflatten(spec.kind, [None if p is None else _argument(jax, p) for p in spec.parts])
    return jax.ShapeDtypeStruct(spec.shape, spec.dtype)


def _result(info: Any) -> AnySpec:
    if isinstance(info, tensor_list.TensorList):
        parts, kind = tensor_list.flatten(info)
        return ListSpec(kind, tuple(map(_result, parts)))
    if info is None:
        return None
    return ArraySpec(tuple(info.shape), np.dtype(info.dtype))
