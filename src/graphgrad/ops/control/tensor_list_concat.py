"""TensorListConcat and TensorListScatter, in their older forms."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.dtypes import INDEX
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import as_shape

from . import tensor_list_ops


def _one(*_):
    return ()


@op("TensorListConcat", "input_handle: variant -> tensor: element_dtype, lengths: int64")
def concat(xp, lst, *, element_dtype, element_shape=None):
    """Concatenates all elements along their first axis; returns also their lengths."""
    shape = as_shape(element_shape)
    given = np.asarray(-1 if shape is None else [-1 if n is None else n for n in shape], np.int64)
    return tensor_list_ops.concat.kernel(xp, lst, given, np.zeros(0, np.int64), element_dtype=element_dtype)


@concat.shape
def _concat_shape(lst, element_shape):
    shape = as_shape(element_shape)
    return [None if shape is None else (None, *shape[1:]), (None,)]


@concat.grad
def _concat_grad(op, dtensor, dlengths):
    shape = raw.ConcatV2([[-1], raw.StridedSlice(raw.Shape(dtensor), [1], [0], [1], end_mask=1)], 0)
    return raw.TensorListSplit(dtensor, shape, op.outputs[1])


@op("TensorListScatter", "tensor: element_dtype, indices: int32, element_shape: shape_type -> output_handle: variant",
    shape_type=INDEX, host=("element_shape",), shape=_one)
def scatter(xp, tensor, indices, element_shape):
    """Makes a list with the rows of a tensor at `indices`, as long as the largest of them requires."""
    return tensor_list_ops.scatter.kernel(xp, tensor, indices, element_shape, np.int32(-1))


@scatter.grad
def _scatter_grad(op, dlist):
    tensor, indices, _ = op.inputs
    shape = raw.StridedSlice(raw.Shape(tensor), [1], [0], [1], end_mask=1)
    return raw.TensorListGather(dlist, indices, shape, element_dtype=tensor.dtype), None, None
