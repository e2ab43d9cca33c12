"""The page that lists the operations says what the registry says."""

from __future__ import annotations

from . import op_table


def test_page_is_up_to_date() -> None:
    """`docs/reference/ops.md` is what `python -m tests.docs.op_table` writes."""
    have = op_table.PAGE.read_text().splitlines()
    want = op_table.text().splitlines()
    differing = sorted(set(have) ^ set(want))
    assert have == want, f"run `python -m tests.docs.op_table`; lines that differ: {differing[:10]}"
