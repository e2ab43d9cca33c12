"""Whether the workers of a cluster still have the same values of the variables that they share.

Each worker has a copy, and what changes copies is summed over all workers. What is not (an `assign` of different
values, an optimizer of a program's own) makes them drift apart. So workers exchange some numbers for each variable,
within an exchange that all of them make anyway: nobody waits for another one that does not compare. The numbers are of
the values that a worker had before a run, and say before which exchange that was; only those of the same one are
compared.

Workers may have rounded differently, in NumPy and in XLA. So the numbers are projections of the values on signs, which
differ by little if all values do.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import zlib
from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import FailedPreconditionError
from graphgrad.executor.backend.process_group import ProcessGroup
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables import clusters

EVERY = "GRAPHGRAD_COMPARE_EVERY"
_FIRST = 20  # the first comparison is after so many exchanges; then one follows after each `every` ones
_PROJECTIONS, _PERIOD = 4, 4099
_TOLERANCE = 1e-3  # of the values' norm


def every() -> int:
    """Returns after how many exchanges workers compare their variables; 0 for never.

    Raises: ValueError if the environment says something else.
    """
    given = os.environ.get(EVERY, "100")
    if not given.isdigit():
        raise ValueError(f"{EVERY}={given!r} is no number of exchanges. Fix: {EVERY}=100, or 0 to compare nothing")
    return int(given)


class _Sketch(NamedTuple):
    """Numbers for each of some variables.

    Attributes:
      exchange: before which exchange.
      names: of the variables.
      numbers: a row for each: a digest of the name, the largest norm so far, and the projections.
    """

    exchange: int
    names: tuple[str, ...]
    numbers: Any


class DriftWatch:
    """Compares the shared variables of workers.

    Args:
      group: the workers.
    """

    def __init__(self, group: ProcessGroup):
        self._every = every()
        self._sketch: _Sketch | None = None
        self._group, self._last, self._longest = group, 0, 1
        self._scales: dict[str, float] = {}  # values may get small; how they were rounded before stays

    def before_run(self, session: Any, group: ProcessGroup) -> None:
        """Takes note of a session's values, if they are to be compared soon.

        Args:
          session: the session, before a run.
          group: the workers that are there.
        """
        now = group.exchanges
        if group is not self._group:  # some have ended: exchanges are counted anew
            self._group, self._sketch, self._last = group, None, 0
        self._longest, self._last = max(self._longest, now - self._last), now
        due = self._due(now + 1)
        if due is not None and now >= due - 2 * self._longest and self._sketch is None:
            self._sketch = self._made(now, session)

    def _due(self, exchange: int) -> int | None:
        """Returns the first exchange with a comparison from some one on."""
        if not self._every:
            return None
        first = min(_FIRST, self._every)
        return first if exchange <= first else -(-exchange // self._every) * self._every

    def _made(self, exchange: int, session: Any) -> _Sketch:
        names, rows = [], []
        for name, cell in self._cells(session):
            with cell.lock:
                value = np.asarray(cell.value)
                if value.dtype == object:
                    continue
                norm, *numbers = projections(value)
            self._scales[name] = scale = max(norm, self._scales.get(name, 0.0))
            names.append(name)
            rows.append([_digest(name), scale, *numbers])
        return _Sketch(exchange, tuple(names), np.array(rows, np.float64).reshape(len(rows), 2 + _PROJECTIONS))

    def _cells(self, session: Any) -> list[tuple[str, Any]]:
        found = []
        for variable in session.graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
            for part in getattr(variable, "_variable_list", [variable]):
                if clusters.is_shared(part):
                    cell = session._resolve(part.handle)
                    if cell.held is not None:
                        found.append((part.op.name, cell))
        return found

    def before_exchange(self, group: ProcessGroup) -> None:
        """Compares, as a part of an exchange; all workers do at the same one.

        Args:
          group: the workers that are there.
        Raises: FailedPreconditionError if a variable has drifted apart, in all workers.
        """
        exchange = group.exchanges + 1
        if self._due(exchange) != exchange:
            return
        sketch = self._sketch or _Sketch(-1, (), np.zeros((0, 2 + _PROJECTIONS)))
        cluster = _cluster()
        mine = np.array([sketch.exchange, len(sketch.names), cluster.rank], np.int64)
        (heads,) = group.stack([mine], group.who.size, "what is compared")
        table = np.zeros((int(heads[:, 1].max()), 2 + _PROJECTIONS))
        table[: len(sketch.names)] = sketch.numbers
        (tables,) = group.stack([table], group.who.size, "numbers that are compared")
        self._sketch = None
        names = {_digest(name): name for name in sketch.names}
        for rank, (at, count, worker) in enumerate(heads):
            for other in range(rank):
                if at >= 0 and heads[other][0] == at:
                    name = _different(tables[other][: heads[other][1]], tables[rank][:count], names)
                    if name:
                        raise _drifted(name, heads[other][2], worker, f"at their sum number {exchange}")

    def at_end(self, session: Any, group: ProcessGroup) -> FailedPreconditionError | None:
        """Returns what is wrong if workers that have ended before, after the same exchange, have other values.

        Args:
          session: the session, after its last run.
          group: the workers.
        """
        sketch, cluster = self._made(group.exchanges, session), _cluster()
        group.publish(json.dumps([sketch.exchange, cluster.rank, sketch.numbers.tolist()]))
        others = [json.loads(text) for text in group.published().values()]
        names = {_digest(name): name for name in sketch.names}
        for exchange, worker, numbers in others:
            name = _different(np.array(numbers), sketch.numbers, names) if exchange == sketch.exchange else ""
            if name:
                return _drifted(name, worker, cluster.rank, "after their last run")
        return None


def _cluster() -> Any:
    return clusters.current()


def _drifted(name: str, one: int, other: int, when: str) -> FailedPreconditionError:
    a, b = (" ".join(map(str, _cluster().workers[worker])) for worker in (one, other))
    return FailedPreconditionError(
        None, None, f"variable {name!r} has different values in {a} and in {b}, seen {when}. "
        "All workers share it, and each has a copy; something has changed one copy alone, or both differently: an "
        "assign, a scatter update, or an optimizer with an apply_gradients of its own.\n  Fix: assign the same value "
        "in all workers, or use assign_add, which adds up what workers give, or an optimizer of tf.train. What each "
        f"worker has for itself belongs into a local variable (tf.get_local_variable). {EVERY}=0 compares nothing")


def _different(one: Any, other: Any, names: dict[float, str]) -> str:
    """Returns the name of a variable whose numbers differ by more than rounding; "" if there is none."""
    rows = {row[0]: row for row in one}
    for row in other:
        before = rows.get(row[0])
        if before is None or row[0] not in names:
            continue
        if not np.all(np.abs(before[2:] - row[2:]) <= _TOLERANCE * max(before[1], row[1])):
            return names[row[0]]
    return ""


def _digest(name: str) -> float:
    return float(int(hashlib.sha256(name.encode()).hexdigest()[:12], 16))


def projections(value: Any) -> list[float]:
    """Returns the norm of an array, and its projections on signs; of integers 0 and a checksum.

    Args:
      value: the array.
    """
    if value.dtype.kind in "biu" or value.dtype.itemsize == 1:
        return [0.0, float(zlib.crc32(np.ascontiguousarray(value).tobytes())), *[0.0] * (_PROJECTIONS - 1)]
    if value.dtype.kind == "c":
        value = np.ascontiguousarray(value).view(value.real.dtype)
    flat = value.reshape(-1).astype(np.float64)
    norm = float(np.linalg.norm(flat))
    if not np.isfinite(norm):  # how many there are is compared, and the others
        bad = ~np.isfinite(flat)
        flat[bad] = 0.0
        return [0.0, float(bad.sum()), *[0.0] * (_PROJECTIONS - 1)]
    blocks = -(-len(flat) // _PERIOD)
    padded = np.zeros(blocks * _PERIOD)
    padded[: len(flat)] = flat
    signs, places = _signs(), np.random.Generator(np.random.PCG64(blocks)).integers(0, 2, blocks) * 2.0 - 1.0
    return [norm, *map(float, places @ (padded.reshape(blocks, _PERIOD) @ signs))]


@functools.cache
def _signs() -> Any:
    return np.random.Generator(np.random.PCG64(0)).integers(0, 2, (_PERIOD, _PROJECTIONS)) * 2.0 - 1.0
