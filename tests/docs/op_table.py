"""Writes `docs/reference/ops.md` from the registry and the table of tests: `python -m tests.docs.op_table`."""

from __future__ import annotations

from tests import ROOT

PAGE = ROOT / "docs" / "reference" / "ops.md"

_HEAD = """\
# Operations

Made from the registry by `python -m tests.docs.op_table`; `graphgrad ops` prints the same of an installed package.

- **gradient**: *rule* if it has one; *not differentiable* if the op has none by nature, so that gradients are None;
  *none* if none is declared, so that differentiating the op is a LookupError.
- **order**: to which derivative the tests compare the gradient with finite differences, in float64 where the op allows
  it; in brackets, outside the table of ops (`tests/gradients/test_third_derivatives.py`).
- **dtypes**: of the first type attribute that is not one of indices. *floating*: bfloat16, float16, float32, float64;
  *inexact*: those, complex64 and complex128; *integer*: int8 to int64, uint8 to uint64; *real*: floating and integer;
  *numeric*: real and complex.
- **runs on**: *XLA, host* has a kernel that is compiled for the device, and the same kernel in NumPy;
  *host* is NumPy and Python alone.
- **functions**: public functions that build it, as their documentation says; every op type is in `tf.raw_ops` too.

| op type | gradient | order | dtypes | runs on | functions |
|---|---|---|---|---|---|
"""


def text() -> str:
    """The page as it has to be."""
    from graphgrad.compat.operations import entries
    from graphgrad.ir.opdef import registry
    from tests.gradients import test_third_derivatives as outside
    from tests.ops import rows

    order: dict[str, int] = {}
    for row in rows.load():
        if row.cases:
            order[row.op_type] = max(order.get(row.op_type, 0), row.order)
    lines = []
    for e in entries():
        if not registry[e.name].kernel.__module__.startswith("graphgrad."):
            continue  # a test's own
        checked = "" if e.gradient != "rule" else "(3)" if e.name in outside.OPS else str(order.get(e.name) or "")
        functions = ", ".join(f"`{f}`".replace(" (1.x)`", "` (1.x)") for f in e.functions)
        lines.append(f"| `{e.name}` | {e.gradient} | {checked} | {e.dtypes} | {e.engine} | {functions} |\n")
    return _HEAD + "".join(lines)


if __name__ == "__main__":
    PAGE.write_text(text())
