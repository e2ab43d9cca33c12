"""What the workers of a cluster begin with: the values of the variables of one of them."""

from __future__ import annotations

import json
import weakref
from typing import Any

import numpy as np

from graphgrad.executor.backend import process_group
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables import clusters
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.values.variable_store import Cell
from graphgrad.system.log import Log
from graphgrad.training.optimizers.global_step import get_global_step

from .drift import EVERY, DriftWatch, every

_log = Log("tensorflow")
_shared: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # session -> the group it was done with


def share(session: Any, is_chief: bool | None = None) -> None:
    """Gives a session's variables the values that they have in the chief's session; every worker must call it.

    Does nothing without other workers, and in a session in which it was done.

    Args:
      session: the session.
      is_chief: whether this process has the values; process 0 has if no process says so.
    Raises: UnavailableError if another worker is gone; DeadlineExceededError if one does not come.
    """
    if not waits_for_a_chief(session):
        return
    process_group.anew()
    process_group.together(lambda group: _share(session, is_chief, group))


def _share(session: Any, is_chief: bool | None, group: Any) -> None:
    if _shared.get(session) is group.origin:
        return
    claim = 4 if is_chief else 2 if is_chief is None else 0
    claim += all(cell.held is not None for cell in _cells(session).values())  # without a chief, one that has values
    count = np.zeros(group.who.size, np.int64)
    count[group.who.rank] = claim
    (claims,) = group.all_reduce([count], f"who begins; {EVERY}={every()}")
    root = int(np.argmax(claims))
    values = _exchanged(group, _values(session) if group.who.rank == root else {}, root)
    if group.who.rank != root:
        _set(session, values)
    _shared[session] = group.origin
    if every() and group.watch is None:
        group.watch = DriftWatch(group)


def before_run(session: Any) -> None:
    """Takes note of a session's variables before a run that makes exchanges, if they are to be compared soon."""
    group = process_group.joined()
    if group is not None and group.watch is not None:
        group.watch.before_run(session, group)


def compare_ends(session: Any) -> None:
    """Warns if workers that have ended before have other values of shared variables, after the same last exchange."""
    group = process_group.joined()
    if group is not None and group.watch is not None and not group.is_broken and waits_for_a_chief(session):
        problem = group.watch.at_end(session, group)
        if problem is not None:
            _log.warning("%s", problem)


def part(session: Any) -> None:
    """Tells the other workers of a cluster that this one has ended its training; they go on without it."""
    if not process_group.has_joined():
        return
    step = get_global_step(session.graph)
    cell = None if step is None else session._resolve(step.handle)
    if cell is not None and cell.held is not None:
        process_group.note(f"at global step {int(np.asarray(cell.value))}")
    if waits_for_a_chief(session):
        process_group.end()


def waits_for_a_chief(session: Any) -> bool:
    """Returns whether a session belongs to a cluster of several workers, of which one initializes for all."""
    return clusters.current() is not None and getattr(session, "_served", None) is not None


def _cells(session: Any) -> dict[str, Cell]:
    """Returns where the session keeps its global variables, by their names."""
    kept = {}
    for variable in session.graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
        for part in getattr(variable, "_variable_list", [variable]):
            kept[part.op.name] = session._resolve(part.handle)
    return kept


def _values(session: Any) -> dict[str, Any]:
    found = {name: np.asarray(cell.value) for name, cell in _cells(session).items() if cell.held is not None}
    return {name: value for name, value in found.items() if value.dtype != object}


def _set(session: Any, values: dict[str, Any]) -> None:
    cells = _cells(session)
    for name, value in values.items():
        cell = cells.get(name)
        if cell is not None:
            with cell.lock:
                cell.value = value


def _exchanged(group: Any, values: dict[str, Any], root: int) -> dict[str, Any]:
    """Returns the arrays that one process has, by their names."""
    texts = json.dumps([[name, value.dtype.name, list(value.shape)] for name, value in values.items()]).encode()
    mine = [np.frombuffer(texts, np.uint8),
            np.frombuffer(b"".join(np.ascontiguousarray(v).tobytes() for v in values.values()), np.uint8)]
    (sizes,) = group.broadcast([np.array([len(part) for part in mine], np.int64)], root, "what to begin with")
    parts = mine if group.who.rank == root else [np.zeros(n, np.uint8) for n in sizes]
    described, data = group.broadcast(parts, root, "values to begin with")
    found, begin = {}, 0
    for name, kind, shape in json.loads(described.tobytes()):
        dtype = as_dtype(kind).as_numpy_dtype
        size = int(np.prod(shape, dtype=np.int64))
        found[name] = np.frombuffer(data, dtype, size, begin).reshape(shape).copy()
        begin += size * np.dtype(dtype).itemsize
    return found
