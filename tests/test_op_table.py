"""The page that lists the operations says what the registry says."""

from __future__ import annotations

import op_table


def test_page_is_up_to_date() -> None:
    """`docs/ops.md` is what `python tests/op_table.py` writes."""
    have = op_table.PAGE.read_text().splitlines()
    want = op_table.text().splitlines()
    differing = sorted(set(have) ^ set(want))
    assert have == want, f"run `python tests/op_table.py`; lines that differ: {differing[:10]}"
