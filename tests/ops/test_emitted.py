"""Kernels that write themselves into programs without JAX: their results are NumPy's."""

from __future__ import annotations

import functools
import zlib
from typing import Any

import numpy as np
import pytest

from graphgrad.executor.backend import xla
from graphgrad.executor.emit.arrays import Array
from graphgrad.executor.emit.namespace import Namespace
from graphgrad.executor.emit.program_text import Text
from tests.support.effort import long
from tests.support.table import draw, row_dtypes

from .test_ops import ROWS, Kernels, assert_close

_PART = 7  # one of so many rows is checked by `make test`


def _written(kernels: Kernels, text: Text, number: int) -> tuple[list[Any], list[Array]] | None:
    """The arguments and results of a kernel that writes itself into a program; None if only JAX can lower it."""
    flat, given = list(kernels.inputs.flat), []
    known = {kernels.opdef.inputs[i].name for i in kernels.opdef.host}
    for i, name in enumerate(kernels.inputs.names):
        if name not in known:
            given.append((f"%a{number}_{i}", np.asarray(flat[i])))
    arrays = iter([Array(text, name, a.shape, a.dtype) for name, a in given])
    for i, name in enumerate(kernels.inputs.names):
        if name not in known:
            flat[i] = next(arrays)
    xp = Namespace(text)
    try:
        for _, a in given:
            xp.zeros(a.shape, a.dtype)  # refuses its dtype, and no elements
        found = [xp.asarray(r) for r in kernels.run(xp, flat)]
        for r, spec in zip(found, kernels.specs, strict=True):
            assert r.dtype == spec.dtype.np_dtype
            r.type  # noqa: B018  # refuses its dtype
        return given, found
    except AssertionError:
        raise
    except Exception:  # as in `lower`; what it has written is not used
        return None


@functools.lru_cache(1)
def _compiled(number: int) -> dict[tuple[int, str], list[Any]]:
    """What the kernels of `ROWS[number]` give, written and compiled as one program."""
    row, text = ROWS[number], Text()
    arguments, values, results, found = [], [], [], {}
    for i in range(len(row.cases)):
        for dtype in row_dtypes(row):
            kernels = Kernels(row, draw(row, row.case(i), dtype))
            if _written(kernels, Text(), 0) is not None:
                written = _written(kernels, text, len(arguments))
                arguments += [f"{name}: {Array(text, name, a.shape, a.dtype).type}" for name, a in written[0]]
                values += [a for _, a in written[0]]
                found[i, dtype] = range(len(results), len(results) + len(written[1]))
                results += written[1]
    if not results:
        return {}
    module = text.module(arguments, [(r.name, r.type) for r in results])
    device = xla.device()
    program = device.compile(module.encode(), [xla.ArraySpec(r.shape, r.dtype) for r in results], frozenset())
    made = [xla.to_numpy(v) for v in program([device.put(v) for v in values])]
    return {key: [made[k] for k in places] for key, places in found.items()}


def _params() -> Any:
    for number, row in enumerate(ROWS):
        often = zlib.crc32(row.op_type.encode()) % _PART == 0
        if row.xla and "host" not in row.opdef.flags:
            yield pytest.param(number, id=row.op_type, marks=() if often else long("test_xla has all rows"))


@pytest.mark.parametrize("number", list(_params()))
def test_kernels(number: int) -> None:
    """What writes itself computes what NumPy does, in every case and dtype."""
    row = ROWS[number]
    for (i, dtype), found in _compiled(number).items():
        kernels = Kernels(row, draw(row, row.case(i), dtype))
        for k, (got, want) in enumerate(zip(found, kernels.numpy(), strict=True)):
            assert_close(got, want, row, kernels.specs[k].dtype, f"output {k} of case {i}, {dtype}")
