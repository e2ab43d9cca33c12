"""The cases in which gradient rules are compared with TensorFlow's, and what their gradients are weighted with."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import as_dtype
from tests.support.recordings import FOLDER
from tests.support.table import Case, Row, generator, row_dtypes, sample

PATH = FOLDER / "rules.json.gz"


def cases(row: Row) -> list[tuple[Case, str]]:
    """The cases of a row that are differentiated twice: the first two, in the widest type of each kind."""
    types = [as_dtype(t) for t in row_dtypes(row)]
    types = [t for t in types if t.is_differentiable] or types[:1]
    widest = {t.kind: t.name for t in sorted(types, key=lambda t: t.size)}
    return [(row.case(i), dtype) for i in range(min(2, len(row.cases))) for dtype in widest.values()]


def cotangent(key: str, what: str, k: int, shape: tuple[int, ...], dtype: str) -> Any:
    """What a gradient is weighted with; the same here and in TensorFlow."""
    return sample(generator("rules", key, what, k), shape, as_dtype(dtype), (-2, 2))
