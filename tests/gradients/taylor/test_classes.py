"""What records say of linear and elementwise operations, checked by what their gradient rules return.

An operation is linear in an input if the gradient of that input does not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphgrad.gradients.core.backprop import gradients
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE
from graphgrad.ir.values.indexed_slices import dense
from graphgrad.op_traits import Linear
from tests.ops.test_ops import ROWS, Built
from tests.support.host import evaluate, placeholder
from tests.support.table import Row, draw, main_attr


def _names(text: str) -> list[str]:
    return text.split()


# Linear by their gradient rules, but not declared: the reason.
_FED = "its value may be fed"
_SPARSE = "it works on the parts of a sparse or ragged tensor"
_SELDOM = "seldom between an x and a y, and correct without: its coefficients are nested derivatives"
_NOT_DECLARED: dict[str, str] = {
    "TridiagonalMatMul": "linear in its three diagonals together",
    "MatMulSum": "a sum of products, linear in all of the first factors together; made while planning",
    "PlaceholderWithDefault": _FED, "QuantizeAndDequantize": "its gradient is not its derivative",
    **dict.fromkeys(_names("""RaggedTensorToTensor RaggedTensorToSparse RaggedGather RaggedFillEmptyRowsGrad
        RaggedBincount SparseToDense SparseTensorDenseAdd SparseReduceSum SparseReorder SparseAddGrad
        SparseDenseCwiseMul SparseDenseCwiseAdd SparseConcat SparseSplit SparseSliceGrad SparseFillEmptyRowsGrad
        SparseSegmentSum SparseSegmentSumWithNumSegments SparseSegmentSumGrad SparseSegmentMean
        SparseSegmentMeanWithNumSegments SparseSegmentMeanGrad SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments
        SparseSegmentSqrtNGrad"""), _SPARSE),
    **dict.fromkeys(_names("""AvgPoolGrad AvgPool3DGrad FractionalAvgPoolGrad FractionalAvgPoolGradGrad Bincount
        DenseBincount"""), _SELDOM),
}


def _depends_on(g: Any, x: Tensor) -> bool:
    """Whether the value of a gradient depends on the value of x, not only on its shape."""
    waiting, seen = [g], set()
    while waiting:
        t = waiting.pop()
        if t is x:
            return True
        if id(t) not in seen and not t.op.opdef.shape_only and t.op.opdef.fill is None:
            seen.add(id(t))
            waiting.extend(t.op.inputs)
    return False


def _rows() -> list[Any]:
    found = []
    for row in ROWS:
        record = row.opdef
        if record.gradient in (None, NOT_DIFFERENTIABLE) or record.flags & {"functional", "random"} or not row.cases:
            continue
        if main_attr(record, "float64") and any(as_dtype(t).is_floating for t in row.dtypes):
            found.append(pytest.param(row, id=row.op_type))
    return found


def _class_of(row: Row, i: int) -> tuple[Linear | None, bool]:
    """How a case's operation is linear, by its rule, and whether two inputs or more have a gradient."""
    inputs = draw(row, row.case(i), "float64")
    fed = [k for k, t in enumerate(inputs.dtypes) if t.is_floating]
    built = Built(row, inputs, fed)
    xs = [built.flat[k] for k in fed]
    with built.graph.as_default():
        ys = [y for y in built.outputs if y.dtype.is_floating]
        if not xs or not ys:
            return None, False
        try:
            found = gradients(ys, xs, [placeholder(built.graph, y.dtype, y._spec.shape) for y in ys])
        except LookupError:  # not of this case
            return None, False
        found = [None if g is None else dense(g) for g in found]
    pairs = [(x, g) for x, g in zip(xs, found, strict=True) if g is not None and g.op.opdef.fill != 0]
    if not pairs or (len(pairs) < len(xs) and row.opdef.linear is None):
        return None, False  # some inputs only choose, such as the largest element
    if not any(_depends_on(g, x) for _, g in pairs for x in xs):
        return Linear.JOINTLY, len(pairs) > 1
    return None if any(_depends_on(g, x) for x, g in pairs) else Linear.SEPARATELY, len(pairs) > 1


@pytest.mark.parametrize("row", _rows())
def test_linear_by_the_gradient_rule(row: Row) -> None:
    """A record says how an operation is linear, and its gradient rule agrees."""
    found = {_class_of(row, i) for i in range(len(row.cases))} - {(None, False)}
    kinds = {kind for kind, _ in found}
    declared = row.opdef.linear
    if declared is None:
        several = {kind for kind, two in found if two} or kinds
        assert row.op_type in _NOT_DECLARED or not several or None in several, f"{row.op_type} is linear: {several}"
    elif declared is Linear.JOINTLY:
        assert kinds <= {Linear.JOINTLY}
    else:
        assert kinds <= {Linear.JOINTLY, Linear.SEPARATELY}


@pytest.mark.parametrize("row", [p for p in _rows() if p.values[0].opdef.linear is Linear.JOINTLY])
def test_zero_for_zeros(row: Row) -> None:
    """What is linear gives zeros for zeros: it adds nothing of its own."""
    inputs = draw(row, row.case(0), "float64")
    fed = [k for k, t in enumerate(inputs.dtypes) if t.is_floating]
    built = Built(row, inputs, fed)
    feeds = {t: np.zeros_like(v) for t, v in built.feeds.items()}
    for value in evaluate([y for y in built.outputs if y.dtype.is_floating], feeds):
        assert not np.any(np.nan_to_num(value))  # the mean of nothing is NaN


@pytest.mark.parametrize("row", [p for p in _rows() if p.values[0].opdef.elementwise])
def test_elementwise(row: Row) -> None:
    """Each element of the result depends on the same elements of the inputs alone: changing one changes one."""
    inputs = draw(row, row.case(0), "float64")
    fed = [k for k, t in enumerate(inputs.dtypes) if t.is_floating]
    built = Built(row, inputs, fed)
    (y,) = built.outputs
    (before,) = evaluate([y], built.feeds)
    for t, value in built.feeds.items():
        if not value.size:
            continue
        moved = value.copy()
        moved.reshape(-1)[0] += 0.25
        touched = np.broadcast_to(np.arange(value.size).reshape(value.shape) == 0, before.shape)
        (after,) = evaluate([y], {**built.feeds, t: moved})
        np.testing.assert_array_equal(after[~touched], before[~touched])


def test_products_are_linear_in_numbers() -> None:
    """A product that is declared linear in each input is: twice an input gives twice the result."""
    for param in _rows():
        row = param.values[0]
        if row.opdef.linear is not Linear.SEPARATELY:
            continue
        inputs = draw(row, row.case(0), "float64")
        fed = [k for k, t in enumerate(inputs.dtypes) if t.is_floating]
        built = Built(row, inputs, fed)
        before = evaluate(built.outputs, built.feeds)
        for t, value in built.feeds.items():
            for one, two in zip(before, evaluate(built.outputs, {**built.feeds, t: 2 * value}), strict=True):
                np.testing.assert_allclose(two, 2 * one, rtol=1e-12)


