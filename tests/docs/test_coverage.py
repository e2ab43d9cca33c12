"""Completeness: every op has a row, and gradients are declared where TensorFlow declares them."""

from __future__ import annotations

import pathlib
import re

from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, registry
from tests.ops import rows
from tests.support import exempt

ROWS = rows.load()
_REFERENCE = pathlib.Path(__file__).parents[1] / "reference"


def test_every_op_has_a_row() -> None:
    """Every registered op has a row in `tests/ops/rows`, or a reason in `tests/support/exempt.py`."""
    have = {r.op_type for r in ROWS}
    own = {name for name, opdef in registry.items() if opdef.kernel.__module__.startswith("graphgrad.")}
    missing = own - have - set(exempt.OPS)
    assert not missing, f"ops without a row: {sorted(missing)}"
    assert not have & set(exempt.OPS), f"exempt, yet with a row: {sorted(have & set(exempt.OPS))}"
    assert not have - own, f"rows for ops that do not exist: {sorted(have - own)}"
    stale = set(exempt.OPS) - own
    assert not stale, f"exempt, yet not registered: {sorted(stale)}"


def test_reasons_are_given() -> None:
    """Whatever a row leaves out, it says why."""
    silent = []
    for r in ROWS:
        whole = r.tf and r.tf_grad and r.xla and r.dynamic and r.inference is True and r.shapes == "exact"
        if not whole and not r.note:
            silent.append(f"{r.family}: {r.op_type}")
    assert not silent, f"rows that leave something out without a note: {silent}"
    for table in (exempt.OPS, exempt.GRADIENTS, exempt.NAMES, exempt.SIGNATURES, exempt.DOCSTRINGS, exempt.DOCTESTS):
        assert all(len(reason) > 10 for reason in table.values())


def test_exempt_ops_are_tested_elsewhere() -> None:
    """The test file that an exemption names exists."""
    for name, reason in exempt.OPS.items():
        for file in re.findall(r"tests/([\w/]+\.py)", reason):
            assert (_REFERENCE.parent / file).exists(), f"{name}: there is no tests/{file}"


def test_gradients_stand_where_tensorflow_has_them() -> None:
    """An op that TensorFlow differentiates has a gradient; one that it declares constant says so too."""
    wrong = {}
    for line in (_REFERENCE / "gradients.tsv").read_text().splitlines()[1:]:
        name, theirs = line.split("\t")
        if name in registry and name not in exempt.GRADIENTS:
            slot = registry[name].gradient
            ours = "none" if slot is None else "constant" if slot is NOT_DIFFERENTIABLE else "gradient"
            if ours == "none" or (theirs == "gradient" and ours != "gradient"):
                wrong[name] = f"TensorFlow: {theirs}; here: {ours}"
    assert not wrong, wrong
