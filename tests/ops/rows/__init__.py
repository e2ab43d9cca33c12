"""The rows of all families, in the order of the files' names; with `ROWS=math,nn` in the environment only theirs.

A family is a file, here or in a room.
"""

import importlib
import os
import pkgutil

from tests.support.table import Row


def load() -> list[Row]:
    """All rows; each knows its family, the name of its file."""
    only = os.environ.get("ROWS", "").split(",")
    rows = []
    modules = [m.name for m in pkgutil.walk_packages(__path__, f"{__name__}.") if not m.ispkg]
    for family, module in sorted((name.rpartition(".")[2], name) for name in modules):
        if only == [""] or family in only:
            for row in importlib.import_module(module).ROWS:
                row.family = family
                rows.append(row)
    return rows
