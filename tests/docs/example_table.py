"""Writes the table of examples in `docs/inside/testing.md`, as they run: `python -m tests.docs.example_table`."""

from __future__ import annotations

from tests import ROOT
from tests.programs import test_examples

PAGE = ROOT / "docs" / "inside" / "testing.md"
_HEAD = """\
## Examples

What each program of `examples/` did, run as `graphgrad run` does. *Output*: whether it printed what TensorFlow 2.21
printed, numbers within the tolerance of `tests/programs/test_examples.py` (*own*: what is recorded was printed here).
*NumPy's state*: whether `np.random`'s global state was the same in the end. *Runs 1 and 3*: for how many executables
the first run (NumPy) and the third (XLA) gave the same numbers; at most three of each program, without random numbers
and effects. Made by `python -m tests.docs.example_table`.

| example | output | NumPy's state | runs 1 and 3 |
|---|---|---|---|
"""
_END = "\n## Intended differences from TensorFlow"


def row(name: str) -> str:
    """The line of an example."""
    output = "not recorded"
    if name != "demo_digits":
        try:
            test_examples.test_as_recorded(name)
            output = "own" if name in test_examples.WITHOUT_ORACLE else "equal"
        except AssertionError:
            output = "differs"
    noticed = test_examples.ran(name)[1]
    runs = noticed["runs"]
    equal = f"{runs} of {runs}" if not noticed["differences"] else f"differ: {'; '.join(noticed['differences'])}"
    return f"| `{name}` | {output} | {'untouched' if noticed['numpy_random'] else 'changed'} | {equal} |\n"


def rows() -> list[str]:
    """The names in the table."""
    table = PAGE.read_text().partition(_HEAD)[2].partition(_END)[0]
    return [line.split("`")[1] for line in table.strip().splitlines()]


def main() -> None:
    """Runs the examples and writes the table."""
    before, _, rest = PAGE.read_text().partition(_END)
    before = before.partition("\n" + _HEAD.splitlines()[0] + "\n")[0]
    PAGE.write_text(f"{before}\n{_HEAD}{''.join(map(row, test_examples.EXAMPLES))}{_END}{rest}")


if __name__ == "__main__":
    main()
