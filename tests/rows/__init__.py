"""The rows of all families, in the order of the files' names; with `ROWS=math,nn` in the environment only theirs."""

import importlib
import os
import pkgutil

from table import Row


def load() -> list[Row]:
    """All rows; each knows its family, the name of its file."""
    only = os.environ.get("ROWS", "").split(",")
    rows = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        if only == [""] or module.name in only:
            for row in importlib.import_module(f"rows.{module.name}").ROWS:
                row.family = module.name
                rows.append(row)
    return rows
