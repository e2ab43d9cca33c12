"""Completeness against TensorFlow 2.21: what is missing is listed, with a reason, in `docs/reference/not-here.md`."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

import pytest

from . import not_here

TITLES = [f"{part}: {what}" for part in ("No meaning on this system", "Not yet") for what in ("names", "op types")]
_UPDATE = "implement them, or run `python -m tests.docs.not_here`, which lists them as not yet here"


def _unlisted(what: str, missing: Iterable[str]) -> list[str]:
    tables = not_here.tables()
    patterns = {p for title in TITLES if title.endswith(what) for row, _ in tables[title] for p in row}
    plain = {p for p in patterns if not set(p) & set("*?[")}
    wild = patterns - plain
    unlisted = []
    for name in missing:
        parts = name.split(".")
        if not any(".".join(parts[:i]) in plain for i in range(1, len(parts) + 1)):
            if not any(not_here.covers(p, name) for p in wild):
                unlisted.append(name)
    return unlisted


def test_every_public_name_is_here_or_listed() -> None:
    """Each public name of TensorFlow's v1 and v2 is implemented or has a line in the page."""
    unlisted = _unlisted("names", not_here.missing_names())
    assert not unlisted, f"{unlisted}: {_UPDATE}"


def test_every_op_type_with_a_gradient_is_here_or_listed() -> None:
    """Each op type that TensorFlow's registry of gradients names is registered or has a line in the page."""
    unlisted = _unlisted("op types", not_here.missing_ops())
    assert not unlisted, f"{unlisted}: {_UPDATE}"


def test_every_raw_op_is_here_or_listed() -> None:
    """Each of TensorFlow's raw ops is callable or in the page's table of them, which has no group that is all here."""
    missing = set(not_here.missing_raw_ops())
    rows = not_here.tables()["Not here: raw ops"]
    unlisted = missing - {name for names, _ in rows for name in names}
    assert not unlisted, f"{sorted(unlisted)}: run `python -m tests.docs.not_here`"
    assert [group for names, group in rows if not missing.intersection(names)] == []


@pytest.mark.parametrize("title", TITLES)
def test_lines_are_needed(title: str) -> None:
    """Every entry that says 'no meaning', and every line that says 'not yet', stands for something that is missing."""
    missing = dict.fromkeys(not_here.missing_names() if title.endswith("names") else not_here.missing_ops())
    for patterns, other in not_here.tables()[title]:
        needed = [p for p in patterns if p in missing or fnmatch.filter(missing, p)]
        if title.startswith("Not yet"):
            assert needed, f"everything in the line of {other} is here: run `python -m tests.docs.not_here`"
        else:
            assert needed == patterns, f"these are not missing: {sorted(set(patterns) - set(needed))}"
            assert len(other) > 10, f"no reason for {patterns}"
