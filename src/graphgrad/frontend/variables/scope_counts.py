"""Counts how often each variable scope was opened, for unique names."""

from __future__ import annotations


class ScopeCounts:
    """Counts how often variable scopes were opened, by their full names."""

    def __init__(self) -> None:
        self._opened: dict[str, int] = {}
        self._numbered: dict[str, int] = {}  # name -> a number below which name_1, name_2 ... are all open
        self._inner: dict[str, set[str]] = {}  # scope -> the scopes directly inside of it
        self._logs: list[list[tuple[str, int]]] = []  # counts to undo, for each re-entered scope

    def times_opened(self, name: str) -> int:
        """Returns the number of times that the scope was opened."""
        return self._opened.get(name, 0)

    def open(self, name: str) -> None:
        """Counts the scope as opened once more."""
        self._set(name, self.times_opened(name) + 1)
        outer, _, _ = name.rpartition("/")
        while outer and name not in self._inner.setdefault(outer, set()):
            self._inner[outer].add(name)
            name, (outer, _, _) = outer, outer.rpartition("/")

    def close_inner(self, name: str) -> None:
        """Resets the scopes inside of `name`: opened again, it gives the same unique names."""
        names = list(self._inner.get(name, ()))
        while names:
            inner = names.pop()
            if self.times_opened(inner):
                self._set(inner, 0)
            names.extend(self._inner.get(inner, ()))

    def _set(self, name: str, count: int) -> None:
        for log in self._logs:
            log.append((name, self.times_opened(name)))
        self._count(name, count)

    def _count(self, name: str, count: int) -> None:
        self._opened[name] = count
        base, _, number = name.rpartition("_")
        if not count and number.isdecimal():
            self._numbered.pop(base, None)

    def free_number(self, name: str) -> int:
        """Returns the lowest number from 1 for which `name_<number>` is not open."""
        i = self._numbered.get(name, 1)
        while self.times_opened(f"{name}_{i}"):
            i += 1
        self._numbered[name] = i
        return i

    def remember(self) -> None:
        """Begins to note counts for `take_back`."""
        self._logs.append([])

    def take_back(self) -> None:
        """Undoes the counts since `remember`."""
        for name, count in reversed(self._logs.pop()):
            self._count(name, count)
