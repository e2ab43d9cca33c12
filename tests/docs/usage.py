"""How much of what published programs use of TensorFlow there is here.

`reference/usage.tsv` and `usage_tf_gradients.tsv` count the names that public graph-mode programs use, and
those that call `tf.gradients`. A name counts as there if `graphgrad run` would give it to a program, under
either version. `python -m tests.docs.usage` prints what is missing, by weight; `--write` renews
docs/reference/coverage.md.
"""

from __future__ import annotations

import csv
import importlib
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests import ROOT

TABLES = {"programs that call tf.gradients": "usage_tf_gradients", "graph-mode programs": "usage"}
# Keras and estimators are other systems, built on this one; see docs/reference/coverage.md.
_OTHER_SYSTEMS = ("keras.", "estimator.", "python.keras.", "python.estimator.", "contrib.estimator.", "contrib.keras.",
                  "contrib.learn.", "contrib.boosted_trees.", "contrib.tensor_forest.", "contrib.factorization.",
                  "contrib.tpu.")
# Rows that the count took for names of TensorFlow's: attributes of a program's own variable called `tf`.
_NO_NAMES = ("model.", "optimizers.")


class Name(NamedTuple):
    """A row of a table: a name, and how often it is used."""

    symbol: str
    repos: int
    uses: int
    status: str

    @property
    def path(self) -> str:
        """The dotted name below `tensorflow`."""
        return self.symbol.removeprefix("[import] ")

    @property
    def imported(self) -> bool:
        """Whether the row counts import statements."""
        return self.symbol.startswith("[import] ")

    @property
    def other_system(self) -> bool:
        """Whether it belongs to Keras or the estimators."""
        return f"{self.path}.".startswith(_OTHER_SYSTEMS)

    @property
    def no_name(self) -> bool:
        """Whether TensorFlow never had such a name."""
        return f"{self.path}.".startswith(_NO_NAMES)


def table(name: str) -> list[Name]:
    """The rows of a table."""
    with open(ROOT / "tests" / "reference" / f"{name}.tsv", newline="") as f:
        lines = csv.DictReader(f, delimiter="\t")
        return [Name(r["symbol"], int(r["repos"]), int(r["uses"]), r["status"]) for r in lines]


def missing(rows: list[Name]) -> Iterator[Name]:
    """The rows whose names a program would not find, under either version."""
    from graphgrad.compat import importing

    left = rows
    for version in (1, 2):
        importing.install(version)
        try:
            left = [r for r in left if not _there(r)]
        finally:
            importing.uninstall()
    yield from left


def _there(row: Name) -> bool:
    if row.imported:
        parent, _, last = f"tensorflow.{row.path}".rpartition(".")
        return _module(f"tensorflow.{row.path}") is not None or hasattr(_module(parent), last)
    pieces = ["tensorflow", *row.path.split(".")]
    # The program has imported the module that the name is in; which one that is, the table does not tell.
    for n in range(len(pieces) - 1, 0, -1):
        found: Any = _module(".".join(pieces[:n]))
        if found is None:
            continue
        try:
            for piece in pieces[n:]:
                found = getattr(found, piece)
        except AttributeError:
            continue
        return True
    return False


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def coverage(rows: list[Name], gone: list[Name]) -> float:
    """The share of uses that are there."""
    absent = {r.symbol for r in gone}
    return 1 - sum(r.uses for r in rows if r.symbol in absent) / sum(r.uses for r in rows)


def report() -> str:
    """docs/reference/coverage.md."""
    lines = [_HEAD]
    parts = []
    for title, name in TABLES.items():
        rows = [r for r in table(name) if not r.no_name]
        gone = list(missing(rows))
        own = [r for r in rows if not r.other_system]
        lines.append(f"| {title} | {len(rows)} | {coverage(rows, gone):.2%} | {len(own)} | "
                     f"{coverage(own, gone):.2%} |")
        parts.append((title, gone))
    lines.append(_MIDDLE)
    for title, gone in parts:
        lines += [f"## Missing: {title}", "", "| name | uses |", "|---|---|"]
        lines += [f"| `{r.symbol}` | {r.uses} |" for r in sorted(gone, key=lambda r: (-r.uses, r.symbol))
                  if not r.other_system]
        lines += [""]
    return "\n".join(lines)


_HEAD = """# Coverage of TensorFlow's names

How many of the uses of `tf.` names in published programs `graphgrad run` serves. `python -m tests.docs.usage --write`
renews this page, and a test keeps the shares from falling.

| programs | names | served, of all uses | names without Keras and estimators | served, of their uses |
|---|---|---|---|---|"""

_MIDDLE = """
Keras and the estimators (with `contrib.learn`, boosted trees and the TPU estimator) are systems of their own on top of
TensorFlow, and out of scope here. A row that begins with `[import]` counts import statements. The tables also count
attributes of some programs' own variables (`model.fit`), which are left out. Where a name is there to say clearly that
it cannot be served, it counts as served: the program learns what to do.
"""


def main() -> None:
    """Prints what is missing; with --write, renews the page."""
    if "--write" in sys.argv:
        (ROOT / "docs" / "reference" / "coverage.md").write_text(report())
        return
    for title, name in TABLES.items():
        rows = [r for r in table(name) if not r.no_name]
        gone = list(missing(rows))
        own = [r for r in rows if not r.other_system]
        print(f"{title}: {coverage(rows, gone):.2%}, without Keras and estimators {coverage(own, gone):.2%}")
        gone.sort(key=lambda r: -r.uses)
        print(" ".join(f"{r.symbol}:{r.uses}" for r in gone if not r.other_system))
        print()


if __name__ == "__main__":
    main()
