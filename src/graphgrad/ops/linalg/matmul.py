"""Matrix products: `MatMul`, `BatchMatMulV2`, and the public `matmul`."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import NUMERIC, as_dtype, bfloat16, float32
from graphgrad.ir.opdef import op, raw, wants
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast, is_fully_defined, merged, with_rank, with_rank_at_least
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.op_traits import Cost, Linear, Shortened, size_of
from graphgrad.ops.common.broadcast import reduced_axes
from graphgrad.ops.common.dependence import product
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.host_products import stacks
from graphgrad.ops.common.shape_values import shape_of


def _product(xp, a, b):
    """Returns the product of stacks of matrices, in the operands' dtype."""
    if xp is np and a.dtype.itemsize <= 2 and a.dtype.kind not in "iu":  # NumPy has no fast loops for these
        return stacks(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    return stacks(a, b) if xp is np else xp.matmul(a, b)


def _inner(m, k, k2, n):
    if k is not None and k2 is not None and k != k2:
        raise Complaint(f"Dimensions must be equal, but are {k} and {k2}: the inner dimensions of the product of "
                        f"[{_dim(m)}, {k}] and [{k2}, {_dim(n)}] matrices",
                        "transpose one of them (transpose_a=True or transpose_b=True), or make the sizes equal")
    return m, n


def _dim(d):
    return "?" if d is None else d


# -- MatMul ----------------------------------------------------------------------------


@op("MatMul", "a: T, b: T -> product: T", T=NUMERIC, cost=Cost.PRODUCT, linear=Linear.SEPARATELY, summed="MatMulSum")
def mat_mul(xp, a, b, *, transpose_a=False, transpose_b=False, grad_a=False, grad_b=False):
    """Multiplies two matrices, each transposed first if requested."""
    return _product(xp, a.T if transpose_a else a, b.T if transpose_b else b)


@mat_mul.written_as
def _product_formula(op):
    a, b = op.opdef.inputs
    turned = [op.attrs.get(t) or op.attrs.get(h) for t, h in (("transpose_a", "adj_x"), ("transpose_b", "adj_y"))]
    adjoint = op.outputs[0].dtype.is_complex and "adj_x" in op.opdef.attrs
    turn = "swapped(conj({}))" if adjoint else "swapped({})"
    first, second = [turn.format(n.name) if turn_it else n.name for n, turn_it in zip((a, b), turned, strict=True)]
    return f"{first} @ {second}"


@mat_mul.multiply_adds
def _product_work(op, unknown):
    a = op.inputs[0]._spec.shape
    results = size_of(op.outputs[0]._spec.shape, unknown)
    if not a:
        return results * unknown
    inner = a[-2 if op.attrs.get("transpose_a") or op.attrs.get("adj_x") else -1]
    return results * (unknown if inner is None else inner)


@mat_mul.dependences
def _product_elements(op, values, index):
    shapes = [t._spec.shape for t in op.inputs]
    result = op.outputs[0]._spec.shape
    batch = list(range(len(result) - 2))
    labels, sizes = [], dict(zip([*batch, "m", "n"], result, strict=True))
    for shape, pair, words in zip(shapes, ("mk", "kn"), (("transpose_a", "adj_x"), ("transpose_b", "adj_y")),
                                  strict=True):
        inner = pair[::-1] if any(op.attrs.get(w) for w in words) else pair
        sizes["k"] = shape[-2 + inner.index("k")]
        front = batch[len(batch) - len(shape) + 2 :]
        if any(sizes[b] != n for b, n in zip(front, shape, strict=False)):
            return None  # a repeated batch
        labels.append([*front, *inner])
    out = [*batch, "m", "n"]
    return [product(labels[0], labels[1], out, sizes, values[1]), product(labels[1], labels[0], out, sizes, values[0])]


@mat_mul.by_rows
def _rows_of_left(op, rows):
    return tuple(rows) == (True, False) and not op._attr("transpose_a")


@mat_mul.shape
def _mat_mul_shape(a, b, transpose_a, transpose_b):
    m, k = with_rank(a, 2, "a")
    k2, n = with_rank(b, 2, "b")
    if transpose_a:
        m, k = k, m
    if transpose_b:
        k2, n = n, k2
    return _inner(m, k, k2, n)


@mat_mul.cut_operand
def _part_of_operand(op, axis, begin, size):
    at = 1 - axis if op._attr("transpose_b" if axis else "transpose_a") else axis
    shape = op.inputs[axis]._spec.shape or (None, None)
    attrs = {"T": op.inputs[axis].dtype, "axis": at, "begin": begin, "size": size}
    return Shortened(axis, "AxisSlice", attrs, shape[:at] + (size,) + shape[at + 1 :])


@mat_mul.grad
def _mat_mul_grad(op, dy):
    flags = op._attr("transpose_a"), op._attr("transpose_b")
    return _product_gradients(*op.inputs, dy, *flags, wants(op, 0), wants(op, 1))


def _product_gradients(a, b, dy, transpose_a, transpose_b, wants_a=True, wants_b=True):
    a, b = conj(a), conj(b)
    ga = gb = None
    if wants_a and transpose_a:
        ga = raw.MatMul(b, dy, transpose_b=True, **_where(transpose_a=transpose_b))
    elif wants_a:
        ga = raw.MatMul(dy, b, **_where(transpose_b=not transpose_b))
    if wants_b and transpose_b:
        gb = raw.MatMul(dy, a, transpose_a=True, **_where(transpose_b=transpose_a))
    elif wants_b:
        gb = raw.MatMul(a, dy, **_where(transpose_a=not transpose_a))
    return ga, gb


def _where(**flags):
    """Returns those flags that are set."""
    return {name: True for name, is_set in flags.items() if is_set}


@op("MatMulSum", "a: N*T, b: N*T -> sum: T", T=NUMERIC, cost=Cost.PRODUCT)
def mat_mul_sum(xp, a, b, *, transpose_a=False, transpose_b=False):
    """Adds up matrix products: one product of the operands joined along the dimension that is summed over."""
    _mat_mul_sum_shape([x.shape for x in a], [x.shape for x in b], transpose_a, transpose_b)
    joined = xp.concatenate(a, 0 if transpose_a else 1), xp.concatenate(b, 1 if transpose_b else 0)
    return mat_mul.kernel(xp, *joined, transpose_a=transpose_a, transpose_b=transpose_b)


@mat_mul_sum.multiply_adds
def _sum_work(op, unknown):
    at = 0 if op.attrs.get("transpose_a") else 1
    inner = [(t._spec.shape or (None, None))[at] for t in op.inputs[: op.attrs["N"]]]
    return size_of(op.outputs[0]._spec.shape, unknown) * sum(unknown if n is None else n for n in inner)


@mat_mul_sum.shape
def _mat_mul_sum_shape(a, b, transpose_a, transpose_b):
    shape = None
    for one, other in zip(a, b, strict=True):
        shape = merged(shape, _mat_mul_shape(one, other, transpose_a, transpose_b))
    return shape


@mat_mul_sum.grad
def _mat_mul_sum_grad(op, dy):
    n = op._attr("N")
    flags = op._attr("transpose_a"), op._attr("transpose_b")
    pairs = [_product_gradients(a, b, dy, *flags) for a, b in zip(op.inputs[:n], op.inputs[n:], strict=True)]
    return [da for da, _ in pairs] + [db for _, db in pairs]


@mat_mul.stacked
def _mat_mul_stacked(op, operands, stacked):
    (a, b), ta, tb = operands, op._attr("transpose_a"), op._attr("transpose_b")
    inner, columns = a._spec.shape[-1], op.outputs[0]._spec.shape[-1]
    if stacked[0] and not stacked[1] and not ta and inner and inner == op.inputs[0]._spec.shape[-1]:
        product = raw.MatMul(raw.Reshape(a, np.array([-1, inner], np.int32)), b, transpose_b=tb)
        return raw.Reshape(product, _unfolded(a, columns, product))
    whole = all(t._spec.shape[-2:] == x._spec.shape for t, x in zip(operands, op.inputs, strict=True))
    return raw.BatchMatMulV2(a, b, adj_x=ta, adj_y=tb) if whole else None


def _unfolded(a, columns, product):
    """Returns the shape of a stack of products, for a stack of the first factors."""
    count, rows, _ = a._spec.shape
    if columns is not None and None in (count, rows):
        known = [-1 if d is None else d for d in (count, rows)]
        if known.count(-1) == 1:
            return np.array([*known, columns], np.int32)
    elif columns is not None:
        return np.array([count, rows, columns], np.int32)
    first = raw.StridedSlice(raw.Shape(a), [0], [2], [1])
    return raw.ConcatV2([first, raw.StridedSlice(raw.Shape(product), [1], [2], [1])], np.int32(0))


# -- BatchMatMulV2 ---------------------------------------------------------------------


@op("BatchMatMulV2", "x: T, y: T -> output: T", T=NUMERIC, cost=Cost.PRODUCT, linear=Linear.SEPARATELY)
def batch_mat_mul(xp, x, y, *, adj_x=False, adj_y=False, grad_x=False, grad_y=False):
    """Multiplies two broadcasting stacks of matrices, each the adjoint first if requested."""
    return _product(xp, _adjoint(xp, x) if adj_x else x, _adjoint(xp, y) if adj_y else y)


batch_mat_mul.written_as(_product_formula)
batch_mat_mul.multiply_adds(_product_work)
batch_mat_mul.dependences(_product_elements)


def _adjoint(xp, x):
    swapped = xp.swapaxes(x, -1, -2)
    return xp.conj(swapped) if x.dtype.kind == "c" else swapped


@batch_mat_mul.shape
def _batch_mat_mul_shape(x, y, adj_x, adj_y):
    with_rank_at_least(x, 2, "x")
    with_rank_at_least(y, 2, "y")
    if x is None or y is None:
        return None
    m, k = x[-2:][::-1] if adj_x else x[-2:]
    k2, n = y[-2:][::-1] if adj_y else y[-2:]
    inner = _inner(m, k, k2, n)
    return broadcast(x[:-2], y[:-2]) + inner


@batch_mat_mul.grad
def _batch_mat_mul_grad(op, dz):
    x, y = op.inputs
    adj_x, adj_y = op._attr("adj_x"), op._attr("adj_y")
    product = raw.BatchMatMulV2
    gx = gy = None
    if wants(op, 0) and adj_x:
        gx = product(y, dz, adj_y=True, **_where(adj_x=adj_y))
    elif wants(op, 0):
        gx = product(dz, y, **_where(adj_y=not adj_y))
    if wants(op, 1) and adj_y:
        gy = product(dz, x, adj_x=True, **_where(adj_y=adj_x))
    elif wants(op, 1):
        gy = product(x, dz, **_where(adj_x=not adj_x))
    return _sum_batches(gx, gy, x, y)


def _sum_batches(gx, gy, x, y):
    """Sums the gradients over the batch dimensions along which their operands were repeated."""
    sx, sy = x._spec.shape, y._spec.shape
    if sx is not None and sy is not None:
        bx, by = sx[:-2], sy[:-2]
        if bx == by and is_fully_defined(bx):
            return gx, gy
        if is_fully_defined(bx) and is_fully_defined(by):
            batch = np.broadcast_shapes(bx, by)
            return _sum_axes(gx, reduced_axes(batch, bx), x), _sum_axes(gy, reduced_axes(batch, by), y)
    shape_x, shape_y = raw.Shape(x), raw.Shape(y)
    axes_x, axes_y = raw.BroadcastGradientArgs(_batch_part(shape_x), _batch_part(shape_y))
    return (None if gx is None else raw.Reshape(raw.Sum(gx, axes_x), shape_x),
            None if gy is None else raw.Reshape(raw.Sum(gy, axes_y), shape_y))


def _batch_part(shape):
    return raw.StridedSlice(shape, [0], [-2], [1], begin_mask=1)


def _sum_axes(g, axes, operand):
    if not axes or g is None:
        return g
    return raw.Reshape(raw.Sum(g, np.asarray(axes, np.int32)), shape_of(operand))


# -- other products ---------------------------------------------------------------------


def _same_batches(x, y, adj_x, adj_y):
    # Batches are equal, so either determines the other's.
    if x is None and y is not None:
        x = (*y[:-2], None, None)
    elif y is None and x is not None:
        y = (*x[:-2], None, None)
    if x is not None:
        merged(x[:-2], y[:-2])  # rejects others
    return _batch_mat_mul_shape(x, y, adj_x, adj_y)


@op("BatchMatMul", "x: T, y: T -> output: T", T=NUMERIC, shape=_same_batches, cost=Cost.PRODUCT,
    linear=Linear.SEPARATELY)
def old_batch_mat_mul(xp, x, y, *, adj_x=False, adj_y=False, grad_x=False, grad_y=False):
    """Multiplies two stacks of matrices, which do not broadcast."""
    return _product(xp, _adjoint(xp, x) if adj_x else x, _adjoint(xp, y) if adj_y else y)


old_batch_mat_mul.multiply_adds(_product_work)
old_batch_mat_mul.dependences(_product_elements)
old_batch_mat_mul.grad(_batch_mat_mul_grad)


@op("BatchMatMulV3", "x: Ta, y: Tb -> output: Tout", Ta=NUMERIC, Tb=NUMERIC, Tout=NUMERIC, shape=_batch_mat_mul_shape,
    cost=Cost.PRODUCT, linear=Linear.SEPARATELY)
def batch_mat_mul_v3(xp, x, y, *, Tout, adj_x=False, adj_y=False, grad_x=False, grad_y=False):
    """Multiplies two broadcasting stacks of matrices; the result has a dtype of its own."""
    dtype = Tout.np_dtype
    x, y = (_adjoint(xp, x) if adj_x else x), (_adjoint(xp, y) if adj_y else y)
    return _product(xp, x.astype(dtype), y.astype(dtype))


batch_mat_mul_v3.multiply_adds(_product_work)
batch_mat_mul_v3.dependences(_product_elements)


@batch_mat_mul_v3.grad
def _batch_mat_mul_v3_grad(op, dz):
    x, y = op.inputs
    adj_x, adj_y = op._attr("adj_x"), op._attr("adj_y")
    if not adj_x:
        gx = raw.BatchMatMulV3(dz, y, Tout=x.dtype, adj_y=not adj_y)
    else:
        gx = raw.BatchMatMulV3(y, dz, Tout=x.dtype, adj_x=adj_y, adj_y=True)
    if not adj_y:
        gy = raw.BatchMatMulV3(x, dz, Tout=y.dtype, adj_x=not adj_x)
    else:
        gy = raw.BatchMatMulV3(dz, x, Tout=y.dtype, adj_x=True, adj_y=adj_x)
    return _sum_batches(gx, gy, x, y)


_SPARSE = frozenset({float32, bfloat16})


@op("SparseMatMul", "a: Ta, b: Tb -> product: float32", Ta=_SPARSE, Tb=_SPARSE, cost=Cost.PRODUCT)
def sparse_mat_mul(xp, a, b, *, transpose_a=False, transpose_b=False, a_is_sparse=False, b_is_sparse=False):
    """Multiplies two matrices, many of whose elements may be zero, in single precision."""
    a, b = a.astype(np.float32), b.astype(np.float32)
    return _product(xp, a.T if transpose_a else a, b.T if transpose_b else b)


sparse_mat_mul.multiply_adds(_product_work)
sparse_mat_mul.shape(_mat_mul_shape)


@sparse_mat_mul.grad
def _sparse_mat_mul_grad(op, dy):
    a, b = op.inputs
    ta, tb = op._attr("transpose_a"), op._attr("transpose_b")

    def product(x, y, dtype, **options):
        p = raw.SparseMatMul(x, y, **options)
        return p if p.dtype is dtype else raw.Cast(p, DstT=dtype)

    if ta:
        ga = product(b, dy, a.dtype, transpose_a=tb, transpose_b=True)
    else:
        ga = product(dy, b, a.dtype, transpose_b=not tb)
    if tb:
        return ga, product(dy, a, b.dtype, transpose_a=True, transpose_b=ta)
    return ga, product(a, dy, b.dtype, transpose_a=not ta)


def sparse_matmul(a: TensorLike, b: TensorLike, transpose_a: bool = False, transpose_b: bool = False,
                  a_is_sparse: bool = False, b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    """Multiplies two matrices, many of whose elements may be zero (1.x).

    Args:
      a: (m, k), float32 or bfloat16.
      b: (k, n), float32 or bfloat16.
      transpose_a, transpose_b: whether the operand is transposed first.
      a_is_sparse, b_is_sparse: accepted as TensorFlow does: it computes with all elements.
      name: a name for the operation.
    Returns: (m, n), float32.
    Raises: ValueError for incompatible shapes.
    Gradient: two matrix products.
    Reference: TensorFlow 2.21 SparseMatMul.

    >>> sess.run(tf.sparse_matmul([[1.0, 2.0]], [[3.0], [4.0]]))
    array([[11.]], dtype=float32)
    """
    return raw.SparseMatMul(a, b, transpose_a=bool(transpose_a), transpose_b=bool(transpose_b),
                            a_is_sparse=bool(a_is_sparse), b_is_sparse=bool(b_is_sparse), name=name)


# -- the public function ---------------------------------------------------------------


def matmul(a: TensorLike, b: TensorLike, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
           adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False,
           output_type: DTypeLike | None = None, grad_a: bool = False, grad_b: bool = False,
           name: str | None = None) -> Tensor:
    """Multiplies matrices, or stacks of them that broadcast.

    Args:
      a: (*B, m, k), or (*B, k, m) where transposed.
      b: (*B, k, n), of the same dtype.
      transpose_a, transpose_b: whether to transpose the last two dimensions first.
      adjoint_a, adjoint_b: whether to transpose and conjugate them first.
      a_is_sparse, b_is_sparse: hints; the result does not depend on them.
      output_type: the dtype in which products are summed, and of the result; the operands' by default.
      grad_a, grad_b: marks of gradient products; the result does not depend on them.
      name: a name for the operation.
    Returns: (*B, m, n).
    Raises: ValueError if the inner sizes differ or both a transpose and an adjoint are requested.
    Gradient: products with the conjugated other operand, summed over broadcast dimensions.
    Reference: TensorFlow 2.21 MatMul, BatchMatMulV2, BatchMatMulV3.

    >>> sess.run(tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]))
    array([[11.]], dtype=float32)
    """
    if transpose_a and adjoint_a:
        raise ValueError("Only one of `transpose_a` and `adjoint_a` can be True.")
    if transpose_b and adjoint_b:
        raise ValueError("Only one of `transpose_b` and `adjoint_b` can be True.")
    if not (hasattr(a, "_spec") and hasattr(b, "_spec")):
        a, b, name = _converted(a, b, name)
    ra, rb = a._spec.shape, b._spec.shape
    stacks = ra is None or rb is None or len(ra) > 2 or len(rb) > 2
    wanted = None if output_type is None else as_dtype(output_type)
    if wanted is None or wanted is a.dtype is b.dtype:
        product, more = raw.BatchMatMulV2, {}
    else:  # sums are made in that dtype: those of int8 seldom fit into int8
        product, more = raw.BatchMatMulV3, {"Tout": wanted}
    if not stacks and not more:
        if adjoint_a:
            a, transpose_a = conj(a), True
        if adjoint_b:
            b, transpose_b = conj(b), True
        return raw.MatMul(a, b, transpose_a=bool(transpose_a), transpose_b=bool(transpose_b), name=name)
    # These ops know adjoints only: a plain transpose is the adjoint of the conjugate.
    if transpose_a:
        a, adjoint_a = conj(a), True
    if transpose_b:
        b, adjoint_b = conj(b), True
    return product(a, b, **more, adj_x=bool(adjoint_a), adj_y=bool(adjoint_b), name=name or "MatMul")


def _converted(a, b, name):
    """Returns the operands as tensors, and the scope in which what they needed was built."""
    with name_scope(name, "MatMul") as scope:
        a = convert_to_tensor(a, dtype_hint=b.dtype if hasattr(b, "_spec") else None, name="a")
        return a, convert_to_tensor(b, dtype_hint=a.dtype, name="b"), scope
