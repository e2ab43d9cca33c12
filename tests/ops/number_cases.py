"""Random operations of the table at random numbers from the edges: zeros, infinities, NaN, subnormals, limits.

`cases(n)` are the same on every machine. `python -m tests.record.ops.numbers` records what TensorFlow makes of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.opdef import registry
from tests.support.table import Case, Inputs, L, R, Row, V, draw, generator, row_dtypes

from . import rows

COUNT = 80  # programs that are recorded

_SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 1e-3, 1e4, np.inf, -np.inf, np.nan]
_FAR = {
    "float32": [1e-40, -1e-40, 3e38, -3e38, 1e-30, 1e20, 1.1754944e-38],
    "float64": [1e-310, 1.7e308, 1e-200, 1e200],
    "float16": [6e4, -6e4, 6e-8, 6.2e-5],
    "bfloat16": [3e38, -3e38, 1e-30],
}

# Families of operations that any numbers may be given to.
_FAMILIES = {"math", "unary", "special", "reduce", "logical", "segment", "quantize", "nn", "complexes", "gather"}
_LEFT_OUT = {"host", "stateful", "random", "functional", "handle", "reads", "waits", "keeps"}

_NAN = "NaN counts as the largest here"
_POLE = "at poles and infinities TensorFlow's derivatives are NaN"
# Op types that differ on purpose, or by rounding where numbers overflow, and why.
EXEMPT = {
    **dict.fromkeys(("ArgMax", "ArgMin", "TopK", "TopKV2", "TensorScatterMax", "TensorScatterMin", "UnsortedSegmentMax",
                     "UnsortedSegmentMin", "CumulativeLogsumexp"), _NAN),
    **dict.fromkeys(("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e",
                     "BesselK1", "BesselK1e", "BesselY0", "BesselY1", "Betainc", "Digamma", "Igamma", "Igammac",
                     "IgammaGradA", "Lgamma", "Polygamma", "Spence", "Zeta", "Xdivy", "SoftplusGrad",
                     "Expint"), _POLE),
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), "some outputs are memory not set"),
    **dict.fromkeys(("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel",
                     "FakeQuantWithMinMaxArgsGradient", "FakeQuantWithMinMaxVarsGradient",
                     "FakeQuantWithMinMaxVarsPerChannelGradient"), "TensorFlow has no second derivatives"),
    **dict.fromkeys(("Cumprod", "Prod", "UnsortedSegmentProd"), "TensorFlow's gradients divide by zeros"),
    "Angle": "XLA's complex infinities are other ones",
    "Erf": "of 1e200 TensorFlow's is NaN",
    "Inv": "1 / 0 of complex numbers",
    "InvGrad": "TensorFlow multiplies half floats in another order",
    "LRN": "a NaN spreads further",
    "NotEqual": "shapes that do not fit",
    "QuantizeAndDequantizeV4": "TensorFlow refuses ranges that are fed",
    "SparseSoftmaxCrossEntropyWithLogits": "half floats are rounded elsewhere",
}


class Program(NamedTuple):
    """An operation with inputs.

    Attributes:
      row, case, dtype: of the table.
      inputs: as drawn from the row, numbers from the edges among them.
    """

    row: Row
    case: Case
    dtype: str
    inputs: Inputs


def usable() -> list[Row]:
    """The rows of the operations that are run."""
    return [r for r in rows.load() if r.op_type in registry and r.tf and r.family in _FAMILIES
            and not r.opdef.flags & _LEFT_OUT and "string" not in r.dtypes]


def edges(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, near: bool) -> np.ndarray:
    """Numbers of a dtype, most of them special.

    Args:
      rng: gives them.
      shape: of the array.
      dtype: a `DType`.
      near: whether those that overflow at once are left out.
    """
    if dtype.is_bool:
        return rng.random(shape) < 0.5
    if dtype.is_integer:
        low, high = (int(v) for v in dtype.limits)
        values = [0, 1, 2, 3, high, low, high - 1, low + 1, 7, *([] if dtype.is_unsigned else [-1, -2, -7])]
        return np.array(rng.choice(np.array(values, dtype.np_dtype), shape), dtype.np_dtype)
    if dtype.is_complex:
        parts = [rng.choice(np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0]), shape) for _ in range(2)]
        return (parts[0] + 1j * parts[1]).astype(dtype.np_dtype)
    values = _SPECIAL + ([] if near else _FAR.get(dtype.name, []))
    with np.errstate(all="ignore"):
        return np.asarray(rng.choice(np.array(values), shape)).astype(dtype.np_dtype)


def _replaced(entry: Any, value: np.ndarray, dtype: Any, rng: np.random.Generator, near: bool) -> np.ndarray:
    if isinstance(entry, V) or (isinstance(entry, R) and entry.domain is not None) or dtype.kind == "o":
        return value
    return edges(rng, value.shape, dtype, near)


def program(seed: int, table: list[Row]) -> Program:
    """The program of that number."""
    rng = generator("numbers", seed)
    types = sorted({r.op_type for r in table})
    op_type = types[rng.integers(len(types))]
    of_type = [r for r in table if r.op_type == op_type]
    row = of_type[rng.integers(len(of_type))]
    case = row.case(int(rng.integers(len(row.cases))))
    dtype = row_dtypes(row)[int(rng.integers(len(row_dtypes(row))))]
    inputs = draw(row, case, dtype)
    near = bool(rng.random() < 0.5)
    flat, args = [], []
    entries = iter(e for entry in case.entries for e in (entry.entries if isinstance(entry, L) else (entry,)))
    for value, kind in zip(inputs.flat, inputs.dtypes, strict=True):
        flat.append(_replaced(next(entries), value, kind, rng, near))
    position = 0
    for a in inputs.args:
        n = len(a) if isinstance(a, list) else 1
        args.append(flat[position : position + n] if isinstance(a, list) else flat[position])
        position += n
    return Program(row, case, dtype, Inputs(args, flat, inputs.names, inputs.dtypes, inputs.attrs))


def cases(seeds: range) -> Iterator[tuple[int, Program]]:
    """The programs of these numbers, less those of exempt operations."""
    table = usable()
    for seed in seeds:
        p = program(seed, table)
        if p.row.op_type not in EXEMPT:
            yield seed, p


def fed(p: Program) -> list[int]:
    """The positions of the inputs that are placeholders: those whose values shape rules do not look at."""
    seen = {p.row.opdef.inputs[k].name for k in p.row.opdef.seen}
    return [i for i, t in enumerate(p.inputs.dtypes) if t.kind != "o" and p.inputs.names[i] not in seen]


def differentiated(outputs: list[Any], row: Row) -> list[int]:
    """The outputs whose gradient is asked for; `outputs` have a dtype of either library."""
    return [k for k, t in enumerate(outputs)
            if as_dtype(t.dtype.name).is_differentiable and (row.ys is None or k in row.ys)]


def plain(value: Any) -> Any:
    """An array as JSON."""
    value = np.asarray(value)
    if value.dtype.kind == "c":
        value = np.stack([value.real, value.imag], -1)
    if value.dtype.kind in "biu":
        return value.reshape(-1).tolist()
    return [float(f"{v:.9g}") for v in value.astype(np.float64).reshape(-1)]
