"""Names of operations and scopes: which are valid, and which are in use."""

from __future__ import annotations

import re

OPERATION = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
SCOPE = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


class Names:
    """The names in use in a graph."""

    __slots__ = ("_in_use",)

    def __init__(self) -> None:
        self._in_use: dict[str, int] = {}

    def unique(self, name: str, mark_as_used: bool = True) -> str:
        """Returns an unused name: `name`, `name_1`, ...

        Args:
          name: the preferred name.
          mark_as_used: if False, the name stays free.
        """
        # `names[a] == n` means that a and a_1 .. a_(n-1) are in use; numbered names have their own entry only if
        # requested as such.
        names = self._in_use
        key = name.lower()
        i = names.get(key)
        if i is None:
            i = 1 if key[-1:].isdecimal() and self._is_numbered(key) else 0
        if i:
            while f"{key}_{i}" in names:
                i += 1
            name = f"{name}_{i}"
        if mark_as_used:
            names[key] = i + 1
        return name

    def _is_numbered(self, key: str) -> bool:
        """Returns whether a name that ends in a digit is one that `unique` has given to a repeated name."""
        base, _, number = key.rpartition("_")
        return number.isdecimal() and number[0] != "0" and int(number) < self._in_use.get(base, 0)

    def copy(self) -> Names:
        """Returns the names as they are now."""
        found = Names()
        found._in_use = dict(self._in_use)
        return found

    def reserve(self, name: str) -> None:
        """Marks a name as used."""
        self._in_use.setdefault(name.lower(), 1)


def take_free(wanted: str, taken: set[str]) -> str:
    """Returns a name that is not taken yet, and takes it: the wanted one, or one with a number behind it."""
    name, n = wanted, 0
    while name in taken:
        n += 1
        name = f"{wanted}_{n}"
    taken.add(name)
    return name


def invalid_operation_name(name: object) -> Exception:
    """Returns the error for a name that no operation may have."""
    if not isinstance(name, str):
        return TypeError(f"the name of an operation must be a string, not {name!r}. Fix: give name='<text>'")
    return ValueError(f"'{name}' is not a valid root scope name. Fix: use letters, digits and _.-/, "
                      "beginning with a letter or digit")


def invalid_scope_name(name: object) -> Exception:
    """Returns the error for a name that no scope may have."""
    if not isinstance(name, str):
        return TypeError(f"the name of a scope must be a string, not {name!r}. Fix: give name='<text>'")
    return ValueError(f"'{name}' is not a valid scope name. Fix: use letters, digits and _.-/, "
                      "beginning with a letter or digit")
