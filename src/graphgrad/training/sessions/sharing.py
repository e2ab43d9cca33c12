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
    group = process_group.group()
    if _shared.get(session) is group:
        return
    count = np.zeros(group.who.size, np.int64)
    count[group.who.rank] = 2 if is_chief else 1 if is_chief is None else 0
    (claims,) = group.all_reduce([count], "who begins")
    root = int(np.argmax(claims))
    values = _exchanged(group, _values(session) if group.who.rank == root else {}, root)
    if group.who.rank != root:
        _set(session, values)
    _shared[session] = group


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
