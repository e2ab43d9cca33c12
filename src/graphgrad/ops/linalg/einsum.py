"""`Einsum` with its gradient, and the public `einsum`.

A subscript is handled as a list of tokens: single letters, and '...' for the broadcasting
dimensions that have no letters.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import INEXACT, INTEGER
from graphgrad.ir.opdef import op, raw, wants
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast, is_fully_defined
from graphgrad.ir.tensor import Tensor
from graphgrad.op_traits import Cost, Linear, size_of
from graphgrad.ops.common.dependence import product
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.host_products import stacks
from graphgrad.ops.common.shape_values import axes, is_tensor, minus, rank_of, shape_of

ELLIPSIS = "..."


def _tokens(subscript):
    return re.findall(r"\.\.\.|[A-Za-z]", subscript)


def _parse(equation):
    """Returns the tokens of each input and of the output."""
    left, _, right = equation.partition("->")
    return [_tokens(s) for s in left.split(",")], _tokens(right)


def _text(inputs, output):
    return ",".join(map("".join, inputs)) + "->" + "".join(output)


def _letters(tokens):
    return [t for t in tokens if t != ELLIPSIS]


def _unique(tokens):
    return list(dict.fromkeys(tokens))


# -- the op ----------------------------------------------------------------------------


@op("Einsum", "inputs: N*T -> output: T", T=INEXACT | INTEGER, cost=Cost.PRODUCT, linear=Linear.SEPARATELY)
def einsum_op(xp, inputs, *, equation):
    """Computes an Einstein summation; labels may recur in a subscript, also in the output's (a diagonal)."""
    subscripts, output = _parse(equation)
    _sizes(subscripts, output, [x.shape for x in inputs])
    once = _unique(output)
    dtype = inputs[0].dtype
    if xp is np:
        if dtype.itemsize <= 2 and dtype.kind not in "iu":
            inputs = [x.astype(np.float32) for x in inputs]
        result = _as_product(subscripts, once, inputs)
        if result is None:
            result = np.einsum(_text(subscripts, once), *inputs, optimize=len(inputs) > 1)
    else:
        result = xp.einsum(_text(subscripts, once), *inputs)
    result = result.astype(dtype)
    return result if once == output else _on_diagonals(xp, result, once, output)


@einsum_op.dependences
def _einsum_elements(op, values, index):
    subscripts, output = _parse(op._attr("equation"))
    shapes = [t._spec.shape for t in op.inputs]
    if ELLIPSIS in output or any(ELLIPSIS in s for s in subscripts) or len(set(output)) < len(output):
        return None
    sizes = {}
    for s, shape in zip(subscripts, shapes, strict=True):
        if len(set(s)) < len(s) or any(sizes.setdefault(a, n) != n for a, n in zip(s, shape, strict=True)):
            return None
    two = len(subscripts) == 2
    return [product(s, subscripts[1 - i] if two else [], output, sizes, values[1 - i] if two else None)
            for i, s in enumerate(subscripts)]


def _as_product(subscripts, output, inputs):
    """Returns the sum as a product of stacks of NumPy matrices, which BLAS computes; None where it is none."""
    if len(inputs) != 2 or inputs[0].dtype.kind not in "fc" or any(ELLIPSIS in s for s in subscripts):
        return None
    a, b = subscripts
    sizes = dict(zip(a + b, inputs[0].shape + inputs[1].shape, strict=True))
    if len(set(a)) < len(a) or len(set(b)) < len(b) or any(
            sizes[label] != n for s, x in zip(subscripts, inputs, strict=True)
            for label, n in zip(s, x.shape, strict=True)):
        return None
    both = [label for label in a if label in b]
    stack, summed = [t for t in both if t in output], [t for t in both if t not in output]
    left, right = [t for t in a if t not in b], [t for t in b if t not in a]
    if not summed or not all(t in output for t in left + right):
        return None

    def arranged(x, labels, *groups):
        x = np.transpose(x, [labels.index(t) for group in groups for t in group])
        return x.reshape([math.prod([sizes[t] for t in group]) for group in groups])

    product = stacks(arranged(inputs[0], a, stack, left, summed), arranged(inputs[1], b, stack, summed, right))
    have = stack + left + right
    return np.transpose(product.reshape([sizes[t] for t in have]), [have.index(t) for t in output])


def _on_diagonals(xp, x, once, output):
    """Puts each repeated label's values on a diagonal of the output."""
    have = list(once)
    for i, label in enumerate(output):
        if have[i : i + 1] == [label] and label not in have[:i]:
            continue
        k = have.index(label)
        first = k if ELLIPSIS not in have[:k] else x.ndim - (len(have) - k)
        axis = i if ELLIPSIS not in have[:i] else x.ndim - (len(have) - i)
        x = xp.expand_dims(x, axis)
        around = [1] * x.ndim
        around[first] = around[axis] = n = x.shape[first]
        x = xp.where(np.eye(n, dtype=bool).reshape(around), x, xp.zeros((), x.dtype))
        have.insert(i, label)
    return x


def _sizes(subscripts, output, shapes):
    """Returns the size of each letter and the broadcast shape of the ellipsis. For shape rules and kernels."""
    sizes = {}
    rest = []
    for tokens, shape in zip(subscripts, shapes, strict=True):
        if shape is None:
            if ELLIPSIS in tokens:
                rest.append(None)
            continue
        letters = _letters(tokens)
        extra = len(shape) - len(letters)
        if extra < 0 or (extra and ELLIPSIS not in tokens):
            raise Complaint(f"Expected an input of rank {len(letters)} for subscript {''.join(tokens)!r}, "
                            f"but got one of rank {len(shape)}", "write a letter for each dimension, or '...'")
        position = 0
        for t in tokens:
            if t == ELLIPSIS:
                rest.append(tuple(shape[position : position + extra]))
                position += extra
                continue
            d = shape[position]
            known = sizes.get(t)
            if known is not None and d is not None and d != known:
                raise Complaint(f"Expected dimension {known} for label '{t}' but got dimension {d}",
                                "give all dimensions of one label the same size; only '...' broadcasts")
            sizes[t] = d if known is None else known
            position += 1
    around = broadcast(*rest) if rest else ()
    if around and ELLIPSIS not in output:
        raise Complaint(f"Output contains {len(around)} broadcasting dimension(s) but no ellipsis (...) was found in "
                        "the output subscripts", "write '...' in the output, or sum with tf.reduce_sum")
    return sizes, around


@einsum_op.multiply_adds
def _einsum_work(op, unknown):
    # At most every index of either with every one of the other.
    return math.prod(size_of(t._spec.shape, unknown) for t in op.inputs) ** 0.75


@einsum_op.shape
def _einsum_shape(inputs, equation):
    subscripts, output = _parse(equation)
    if len(subscripts) != len(inputs):
        raise Complaint(f"Got {len(inputs)} inputs for equation \"{equation}\", expecting {len(subscripts)}",
                        "give one tensor for each subscript")
    sizes, around = _sizes(subscripts, output, inputs)
    shape = ()
    for t in output:
        if t == ELLIPSIS:
            if around is None:
                return None
            shape += around
        else:
            shape += (sizes.get(t),)
    return shape


# -- its gradient ----------------------------------------------------------------------


@einsum_op.grad
def _einsum_grad(op, dy):
    subscripts, output = _parse(op._attr("equation"))
    inputs = op.inputs
    factors = [conj(x) for x in inputs]
    return tuple(_grad_for(i, inputs[i], subscripts, output, dy, factors) if wants(op, i) else None
                 for i in range(len(inputs)))


def _grad_for(i, x, subscripts, output, dy, factors):
    """Returns the gradient for input i: dy times the other inputs, summed to the labels of x.

    Labels that only x has are repeated, and those that recur in x go on a diagonal.
    """
    tokens = subscripts[i]
    others = [s for k, s in enumerate(subscripts) if k != i]
    values = [f for k, f in enumerate(factors) if k != i]
    available = set(output).union(*others)
    wide = ELLIPSIS in tokens
    # The ellipsis comes first, so that it broadcasts by the usual rule.
    order = [ELLIPSIS] * wide + [t for t in _unique(tokens) if t != ELLIPSIS]
    present = [t for t in order if t in available]
    around = not wide and ELLIPSIS in available  # dimensions that only the others have: an Einsum has to keep them
    g = dy
    if others or around or present != output:
        g = raw.Einsum([dy, *values], equation=_text([output, *others], [ELLIPSIS] * around + present))
    if around:
        g = raw.Sum(g, axes(0, minus(rank_of(g), len(present))))
    missing = [t for t in order if t not in available and t != ELLIPSIS]
    for k in reversed(range(len(order))):
        if order[k] in missing:
            g = raw.ExpandDims(g, k - len(order))
    if missing or wide:
        g = _fit(g, _shape_in(x, tokens, order), wide)
    return g if order == tokens else raw.Einsum([g], equation=_text([order], tokens))


def _shape_in(x, tokens, order):
    """Returns the shape of x in another order of its labels: an array or a tensor."""
    shape = x._spec.shape
    if shape is None and ELLIPSIS not in tokens:
        rank = len(tokens)
    elif shape is None:
        raise ValueError(f"Einsum: the gradient for an input with '...' needs its rank, which {x} has not.\n"
                         "  Fix: use set_shape, or letters instead of '...'")
    else:
        rank = len(shape)
    extra = rank - len(_letters(tokens))
    axes, position = {}, 0
    for t in tokens:
        n = extra if t == ELLIPSIS else 1
        axes.setdefault(t, range(position, position + n))
        position += n
    picked = [a for t in order for a in axes[t]]
    sizes = shape_of(x)
    if is_tensor(sizes):
        return sizes if picked == list(range(rank)) else raw.GatherV2(sizes, np.asarray(picked, np.int32), 0)
    return sizes[picked]


def _fit(g, target, wide):
    """Sums and repeats g to the shape `target`."""
    shape = g._spec.shape
    if not is_tensor(target) and is_fully_defined(shape):
        goal = tuple(target.tolist())
        if shape == goal:
            return g
        lead = len(shape) - len(goal)
        axes = [k for k in range(len(shape)) if k < lead or (goal[k - lead] == 1 and shape[k] != 1)]
        if axes:
            g = raw.Sum(g, np.asarray(axes, np.int32))
            if len(axes) > max(lead, 0):
                g = raw.Reshape(g, target[max(-lead, 0) :])
        return g if g._spec.shape == goal else raw.BroadcastTo(g, target)
    if wide:
        both = raw.BroadcastArgs(target, raw.Shape(g))
        g = raw.BroadcastTo(g, both)
        axes, _ = raw.BroadcastGradientArgs(target, both)
        return raw.Reshape(raw.Sum(g, axes), target)
    return raw.BroadcastTo(g, target)


# -- the public function ---------------------------------------------------------------


def _resolve(equation, n):
    """Returns the subscripts of the inputs and the output, which is inferred where it is implicit."""
    equation = equation.replace(" ", "")
    subscript = r"(?:\.\.\.|[A-Za-z])*"
    if not re.fullmatch(rf"{subscript}(?:,{subscript})*(?:->{subscript})?", equation):
        raise ValueError(f"Subscripts have incorrect format: {equation}. Fix: write letters, '...', ',' and '->'")
    left, arrow, right = equation.partition("->")
    inputs = [_tokens(s) for s in left.split(",")]
    if any(s.count(ELLIPSIS) > 1 for s in (*inputs, _tokens(right))):
        raise ValueError(f"Subscripts have incorrect format: {equation}. Fix: write '...' once in a subscript")
    if len(inputs) != n:
        raise ValueError(f'Got {n} inputs for equation "{equation}", expecting {len(inputs)}. '
                         "Fix: separate the subscripts of the inputs by commas, one for each")
    labels = [t for s in inputs for t in s]
    if arrow:
        output = _tokens(right)
    else:
        output = [ELLIPSIS] * (ELLIPSIS in labels) + sorted(t for t in set(_letters(labels)) if labels.count(t) == 1)
    for t in _letters(output):
        if output.count(t) > 1:
            raise ValueError(f"Output subscripts contain a label appearing more than once: {equation}. "
                             "Fix: use tf.linalg.diag to make a diagonal")
        if t not in labels:
            raise ValueError(f"Output subscripts contain the label {t} not present in the input subscripts. "
                             "Fix: use tf.expand_dims or tf.broadcast_to to add a dimension")
    return inputs, output


def _path(inputs, output, tensors, optimize):
    """Returns the pairs to contract one after the other, as NumPy plans them."""
    shapes = [tuple(2 if d is None else d for d in t._spec.shape or ()) for t in tensors]
    if optimize in ("optimal", "greedy") and all(t._spec.shape is not None for t in tensors):
        dummies = [np.broadcast_to(np.zeros(()), s) for s in shapes]
        pairs = np.einsum_path(_text(inputs, output), *dummies, optimize=optimize)[0][1:]
        if all(len(p) == 2 for p in pairs):
            return pairs
    return [(0, 1)] * (len(tensors) - 1)


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Sums products of tensors over named dimensions.

    Args:
      equation: subscripts, e.g. "ij,jk->ik"; "..." means dimensions that broadcast. Without
        "->" the output has the labels that occur once, in alphabetical order.
      *inputs: a tensor for each subscript, of one dtype.
      optimize: the plan for the order of more than two tensors: "greedy" (the default) or "optimal".
      name: a name for the scope of the operations.
    Returns: the tensor that the output's labels describe.
    Raises: ValueError for a malformed equation or sizes that differ; TypeError for other keywords.
    Gradient: products of dy with the other inputs, differentiable again.
    Reference: TensorFlow 2.21 Einsum.

    >>> sess.run(tf.einsum("ij,j->i", [[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]))
    array([3., 7.], dtype=float32)
    """
    name = kwargs.pop("name", None)
    optimize = kwargs.pop("optimize", "greedy")
    kwargs.pop("greedy", None)
    if kwargs:
        raise TypeError(f"Invalid keyword arguments for einsum: {', '.join(kwargs)}. "
                        "Valid arguments: name, optimize, greedy.")
    with name_scope(name, "einsum"):
        first = next((t for t in inputs if hasattr(t, "_spec") or hasattr(t, "_as_tensor")), None)
        hint = None if first is None else first.dtype
        tensors = [convert_to_tensor(t, dtype_hint=hint, name=f"inputs_{i}") for i, t in enumerate(inputs)]
        subscripts, output = _resolve(equation, len(tensors))
        if len(tensors) <= 2:
            return raw.Einsum(tensors, equation=_text(subscripts, output))
        for pair in _path(subscripts, output, tensors, optimize):
            i, j = sorted(pair)
            b, a = (subscripts.pop(j), tensors.pop(j)), (subscripts.pop(i), tensors.pop(i))
            needed = set(output).union(*subscripts)
            kept = output if not tensors else [t for t in _unique(a[0] + b[0]) if t in needed or t == ELLIPSIS]
            tensors.append(raw.Einsum([a[1], b[1]], equation=_text([a[0], b[0]], kept)))
            subscripts.append(kept)
        return tensors[0]
