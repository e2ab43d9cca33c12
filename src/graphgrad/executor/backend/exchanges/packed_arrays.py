"""Arrays that travel together: behind each other in one vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_LINE = 64  # bytes: where XLA takes an array as it lies
_LARGE = 256  # elements: what begins at such a place


def _empty(size: int, dtype: Any) -> Any:
    """Returns a vector that XLA can take as it lies."""
    whole = np.empty(size * dtype.itemsize + _LINE, np.uint8)
    begin = -whole.ctypes.data % _LINE
    return whole[begin : begin + size * dtype.itemsize].view(dtype)


def _places(arrays: Sequence[Any], dtype: Any) -> tuple[list[int], int]:
    """Returns where arrays begin in a vector, and how long it is."""
    step, begin, found = _LINE // dtype.itemsize, 0, []
    for a in arrays:
        if a.size >= _LARGE:
            begin += -begin % step
        found.append(begin)
        begin += a.size
    return found, begin


def pack(arrays: Sequence[Any], dtype: Any, again: Any = None) -> Any:
    """Returns arrays as one vector.

    Args:
      arrays: numbers.
      dtype: that of the vector.
      again: an earlier vector that may be overwritten; new memory costs more than the copy.
    """
    places, size = _places(arrays, dtype)
    flat = again if again is not None and (again.size, again.dtype) == (size, dtype) else _empty(size, dtype)
    end = 0
    for a, begin in zip(arrays, places, strict=True):
        flat[end:begin] = 0
        end = begin + a.size
        flat[begin:end] = np.asarray(a).reshape(-1)
    flat[end:] = 0
    return flat


def unpack(flat: Any, arrays: Sequence[Any], dtype: Any) -> list[Any]:
    """Returns the parts of a vector.

    Args:
      flat: the vector.
      arrays: what was packed.
      dtype: as what it was.
    """
    places, _ = _places(arrays, dtype)
    return [flat[begin : begin + a.size].reshape(a.shape) for a, begin in zip(arrays, places, strict=True)]


class Rows:
    """Rows of several arrays, of which other processes have other numbers.

    Args:
      arrays: those of this process.

    Attributes:
      kind: dtypes and shapes of rows.
    """

    def __init__(self, arrays: Sequence[Any]):
        self._arrays = [np.ascontiguousarray(a) for a in arrays]
        self._bytes = [a.dtype.itemsize * int(np.prod(a.shape[1:], dtype=np.int64)) for a in self._arrays]
        self.kind = ", ".join(f"{a.dtype.name}{list(a.shape[1:])}" for a in self._arrays)

    def words(self, room: Sequence[int]) -> Any:
        """Returns the numbers of rows, and the rows themselves as far as there is room, as words.

        Args:
          room: for how many rows of each.
        """
        header = 2 * len(self._arrays)
        words = _empty(header + sum(self._sizes(room)), np.dtype(np.uint32))
        words[:header] = np.array([len(a) for a in self._arrays], np.uint64).view(np.uint32)
        begin = header
        for a, n, size in zip(self._arrays, room, self._sizes(room), strict=True):
            own = words[begin : begin + size].view(np.uint8)
            data = a[:n].reshape(-1).view(np.uint8)
            own[: data.size] = data
            own[data.size :] = 0
            begin += size
        return words

    def _sizes(self, room: Sequence[int]) -> list[int]:
        return [-(-n * row // 4) for n, row in zip(room, self._bytes, strict=True)]

    def _counts(self, words: Any) -> Any:
        """Returns how many rows of each all processes have."""
        return np.ascontiguousarray(words[:, : 2 * len(self._arrays)]).view(np.uint64).astype(np.int64)

    def is_short(self, words: Any, room: Sequence[int]) -> bool:
        """Returns whether there was too little room for some."""
        return bool((self._counts(words) > np.array(room)).any())

    def room(self, words: Any, room: Sequence[int]) -> list[int]:
        """Returns the room for the next time: as before, if it is enough, and not far too much.

        Args:
          words: those of all processes.
          room: what it was.
        """
        most = [int(n) for n in self._counts(words).max(0)]
        fits = all(n <= there <= 2 * n for n, there in zip(most, room, strict=True))
        # The first numbers may be the only ones; what changes is rounded up, so that few sizes are met.
        return list(room) if fits else [_rounded(n) if any(room) else n for n in most]

    def joined(self, words: Any, room: Sequence[int]) -> list[Any]:
        """Returns the arrays of all processes, one behind the other.

        Args:
          words: those of all processes.
          room: for how many rows of each there was.
        """
        counts, begin, found = self._counts(words), 2 * len(self._arrays), []
        for i, (a, size) in enumerate(zip(self._arrays, self._sizes(room), strict=True)):
            parts = [words[p, begin : begin + size].view(np.uint8)[: int(n) * self._bytes[i]]
                     for p, n in enumerate(counts[:, i])]
            found.append(np.concatenate(parts).view(a.dtype).reshape(-1, *a.shape[1:]))
            begin += size
        return found


def _rounded(n: int) -> int:
    """Returns a number that is up to an eighth larger, so that few sizes are met."""
    step = 1 << max(0, n.bit_length() - 4)
    return -(-n // step) * step
