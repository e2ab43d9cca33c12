"""Cross entropies, and losses composed of elementwise ops."""

from __future__ import annotations

import math

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import FLOATING, INDEX, bfloat16, float16, float32
from graphgrad.ir.opdef import op, raw, wants
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast, compatible, shape_str, with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.host_sums import sum_over
from graphgrad.ops.common.shape_values import join, minus, moved_to_last, part, rank_of, shape_of
from graphgrad.ops.common.synonyms import either

from .softmax import LAST, shifted

# -- cross entropies -------------------------------------------------------------------


@op("SoftmaxCrossEntropyWithLogits", "features: T, labels: T -> loss: T, backprop: T", T=FLOATING,
    eager_seconds=3.7e-9)
def softmax_xent(xp, logits, labels):
    """Computes the cross entropy of each row, and its gradient softmax(features) - labels."""
    dtype = logits.dtype
    logits, labels = xp.broadcast_arrays(logits, labels)
    s = shifted(xp, logits)
    e = xp.exp(s)
    total = sum_over(xp, e, -1, True)
    loss = sum_over(xp, labels.astype(s.dtype) * (xp.log(total) - s), -1)
    return loss.astype(dtype), (e / total - labels.astype(s.dtype)).astype(dtype)


@softmax_xent.shape
def _softmax_xent_shape(features, labels):
    both = broadcast(*((None, None) if s is None else s for s in (features, labels)))
    both = with_rank(both, 2, "features")
    return [both[:1], both]


def is_zeros(t):
    """Returns whether a gradient is absent, or known to be zeros."""
    if t is None:
        return True
    if hasattr(t, "op"):
        if t.op.type == "ZerosLike":
            return True
        if t.op.type == "Fill":
            t = t.op.inputs[1]
        if t.op.type != "Const":
            return False
    value = constant_value(t)
    return value is not None and not value.any()


def _column(v):
    """Returns a vector (or the stretched loss) as a column, to multiply rows with."""
    return raw.ExpandDims(v, -1)


def _through_softmax(logits, ddx):
    """Returns the derivative of softmax(logits) in direction ddx, which is its gradient as well."""
    y = raw.Softmax(logits)
    total = raw.Sum(raw.Mul(ddx, y), LAST, keep_dims=True)
    return raw.Mul(raw.Sub(ddx, total), y)


@softmax_xent.grad
def _softmax_xent_grad(op, dloss, dbackprop):
    logits, labels = op.inputs
    dlogits = dlabels = None
    if dloss is not None:
        rows = _column(dloss)
        dlogits = raw.Mul(rows, op.outputs[1]) if wants(op, 0) else None
        dlabels = raw.Mul(rows, raw.Neg(raw.LogSoftmax(logits))) if wants(op, 1) else None
    if not is_zeros(dbackprop):
        # As in TensorFlow, backprop is a function of the logits alone: labels are constants.
        more = _through_softmax(logits, dbackprop)
        dlogits = more if dlogits is None else raw.AddV2(dlogits, more)
        dlabels = raw.ZerosLike(more) if dlabels is None and wants(op, 1) else dlabels
    return unbroadcast(dlogits, dlabels, logits, labels)


@op("SparseSoftmaxCrossEntropyWithLogits", "features: T, labels: Tlabels -> loss: T, backprop: T", T=FLOATING,
    Tlabels=INDEX, eager_seconds=3.9e-9)
def sparse_softmax_xent(xp, logits, labels):
    """Computes the cross entropy of each row with the class given by its label, and its gradient.

    A label out of range is an error on a CPU, and NaN in its row on an accelerator, as in TensorFlow.
    """
    s = shifted(xp, logits)
    n = logits.shape[-1]
    if xp is np:
        wrong = (labels < 0) | (labels >= n)
        if wrong.any():
            raise Complaint(f"Received a label value of {labels[wrong][0]} which is outside the valid range of "
                            f"[0, {n})", "give labels in that range, or more logits")
    e = xp.exp(s)
    total = sum_over(xp, e, -1, True)
    hot = labels[:, None] == xp.arange(n, dtype=labels.dtype)
    loss = sum_over(xp, xp.where(hot, xp.log(total) - s, xp.asarray(0, s.dtype)), -1)
    backprop = e / total - hot.astype(s.dtype)
    if xp is not np:
        valid = (labels >= 0) & (labels < n)
        nan = xp.asarray(np.nan, s.dtype)
        loss, backprop = xp.where(valid, loss, nan), xp.where(valid[:, None], backprop, nan)
    return loss.astype(logits.dtype), backprop.astype(logits.dtype)


@sparse_softmax_xent.shape
def _sparse_softmax_xent_shape(features, labels):
    n, classes = with_rank(features, 2, "features")
    (m,) = with_rank(labels, 1, "labels")
    if n is not None and m is not None and n != m:
        raise Complaint(f"there are {n} rows of features but {m} labels", "give one label for each row")
    rows = m if n is None else n
    return [(rows,), (rows, classes)]


@sparse_softmax_xent.refuses("labels")
def _sparse_softmax_xent_refuses(xp, logits, labels):
    return [(labels, logits.shape[-1])]


@sparse_softmax_xent.grad
def _sparse_softmax_xent_grad(op, dloss, dbackprop):
    dlogits = None if dloss is None else raw.Mul(_column(dloss), op.outputs[1])
    if not is_zeros(dbackprop):
        more = _through_softmax(op.inputs[0], dbackprop)
        dlogits = more if dlogits is None else raw.AddV2(dlogits, more)
    return dlogits, None


# -- L2Loss ----------------------------------------------------------------------------


_PIECE = 1 << 15  # numbers


@op("L2Loss", "t: T -> output: T", T=FLOATING, formula="sum(t ** 2) / 2")
def l2_loss_op(xp, t):
    """Computes half the sum of the squares."""
    if xp is np and t.dtype.itemsize > 2:
        flat, total = np.ascontiguousarray(t).reshape(-1), t.dtype.type(0)
        for start in range(0, flat.size, _PIECE):  # squares that stay within the cache
            piece = flat[start : start + _PIECE]
            total += np.dot(piece, piece)
        return np.asarray(total * t.dtype.type(0.5))
    return (xp.sum(t * t) * xp.asarray(0.5, t.dtype)).astype(t.dtype)


@l2_loss_op.shape
def _l2_loss_op_shape(t):
    return ()


@l2_loss_op.grad
def _l2_loss_op_grad(op, dy):
    return raw.Mul(op.inputs[0], dy)


# -- softmax cross entropies -----------------------------------------------------------


def _both(what, labels, logits):
    """Complains unless both arguments were given; they have defaults only to force keywords."""
    if labels is None or logits is None:
        raise ValueError(f"Both labels and logits must be provided for {what}. "
                         "Fix: name the arguments, labels=... and logits=...")


def _widened(t):
    """Converts half floats to float32, in which losses are computed; returns others unchanged."""
    return raw.Cast(t, DstT=float32) if t.dtype in (float16, bfloat16) else t


def _rows(t, rank):
    """Returns t as a matrix, and its leading shape before the last axis (None if it is a matrix already)."""
    if rank == 2:
        return t, None
    shape = shape_of(t)
    outer = part(shape, 0, -1) if isinstance(shape, np.ndarray) else raw.Slice(shape, [0], raw.Pack([minus(rank, 1)]))
    classes = shape[-1:] if isinstance(shape, np.ndarray) else raw.StridedSlice(shape, [-1], [0], [1], end_mask=1)
    return raw.Reshape(t, join([-1], classes)), outer


def _softmax_cross_entropy(labels, logits, axis, name, default):
    with name_scope(name, default) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, dtype_hint=logits.dtype, name="labels")
        dtype = logits.dtype
        logits = _widened(logits)
        if labels.dtype is not logits.dtype:
            labels = raw.Cast(labels, DstT=logits.dtype)
        perm = moved_to_last(logits, axis)
        if perm is not None:
            logits, labels = raw.Transpose(logits, perm), raw.Transpose(labels, perm)
        rank = rank_of(logits)
        plain = rank == 2 and dtype is logits.dtype
        rows, outer = _rows(logits, rank)
        loss, _ = raw.SoftmaxCrossEntropyWithLogits(rows, _rows(labels, rank)[0], name=scope if plain else None)
        if outer is not None:
            loss = raw.Reshape(loss, outer)
        return loss if dtype is loss.dtype else raw.Cast(loss, DstT=dtype)


def softmax_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, axis: TensorLike = -1,
                                      name: str | None = None) -> Tensor:
    """Computes the cross entropy -sum(labels log_softmax(logits)) along an axis.

    Args:
      labels: like `logits`, each slice a distribution.
      logits: a float tensor of rank 1 or more.
      axis: the axis of the classes.
      name: a name for the operation.
    Returns: a tensor of the shape of `logits` without the axis.
    Raises: ValueError if the shapes do not broadcast.
    Gradient: dy (softmax(logits) - labels) and -dy log_softmax(logits). The first one has zeros as its gradient for
      the labels, as in TensorFlow.
    Reference: TensorFlow 2.21 SoftmaxCrossEntropyWithLogits.

    >>> sess.run(tf.nn.softmax_cross_entropy_with_logits_v2([[0.0, 1.0]], [[0.0, 0.0]]))
    array([0.6931472], dtype=float32)
    """
    return _softmax_cross_entropy(labels, logits, axis, name, "softmax_cross_entropy_with_logits")


def softmax_cross_entropy_with_logits_v2_v1(labels: TensorLike, logits: TensorLike, axis: TensorLike = None,
                                            name: str | None = None, dim: TensorLike = None) -> Tensor:
    """Computes the cross entropy as TensorFlow 2's function does, with `dim` as another name for the axis.

    Args:
      labels: like `logits`, each slice a distribution.
      logits: a float tensor of rank 1 or more.
      axis, dim: the axis of the classes; the last one by default.
      name: a name for the operation.
    Returns: a tensor of the shape of `logits` without the axis.
    Raises: ValueError if the shapes do not broadcast.
    Gradient: dy (softmax(logits) - labels) and -dy log_softmax(logits).
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.softmax_cross_entropy_with_logits_v2`.
    """
    axis = either("axis", axis, "dim", dim)
    return softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None else axis, name)


def softmax_cross_entropy_with_logits_v1(labels: TensorLike = None, logits: TensorLike = None, dim: TensorLike = -1,
                                         name: str | None = None, axis: TensorLike = None) -> Tensor:
    """Computes the cross entropy of TensorFlow 1, which treats the labels as constants.

    Args:
      labels: like `logits`, each slice a distribution.
      logits: a float tensor of rank 1 or more.
      dim: the axis of the classes.
      name: a name for the operation.
      axis: another name for `dim`, which has to be None then.
    Returns: a tensor of the shape of `logits` without the axis.
    Raises: ValueError if an argument is missing, both name an axis, or the shapes do not broadcast.
    Gradient: dy (softmax(logits) - labels); none for the labels.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.softmax_cross_entropy_with_logits`.

    >>> sess.run(tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[[0.0, 0.0]]))
    array([0.6931472], dtype=float32)
    """
    axis = either("axis", axis, "dim", dim)
    _both("softmax_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg") as scope:
        labels = raw.StopGradient(labels, name="labels_stop_gradient")
        return _softmax_cross_entropy(labels, logits, -1 if axis is None else axis, scope or None, None)


def sparse_softmax_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, name: str | None = None) -> Tensor:
    """Computes the cross entropy of each row of logits with the class given by its label.

    Args:
      labels: (*B), int32 or int64, each in [0, C).
      logits: (*B, C), floating.
      name: a name for the operation.
    Returns: (*B).
    Raises: ValueError if the ranks do not match; InvalidArgumentError at run time for a label out of range (on an
      accelerator the row's loss is NaN instead).
    Gradient: dy (softmax(logits) - one_hot(labels)).
    Reference: TensorFlow 2.21 SparseSoftmaxCrossEntropyWithLogits.

    >>> sess.run(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[0.0, 0.0]]))
    array([0.6931472], dtype=float32)
    """
    _both("sparse_softmax_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits"):
        labels = convert_to_tensor(labels, name="labels")
        logits = convert_to_tensor(logits, name="logits")
        given = [t._spec.shape for t in (labels, logits)]
        if given[1] == ():
            raise ValueError("`logits` cannot be a scalar. Fix: give one row of logits for each label")
        if None not in given and len(given[0]) != len(given[1]) - 1:
            raise ValueError(f"`labels.shape.rank` must equal `logits.shape.rank - 1`: Rank mismatch: Rank of labels "
                             f"(received {len(given[0])}) should equal rank of logits minus 1 (received "
                             f"{len(given[1])}). Fix: give class numbers, not one-hot rows, or use "
                             "softmax_cross_entropy_with_logits")
        dtype = logits.dtype
        logits = _widened(logits)
        rows, outer = _rows(logits, rank_of(logits))
        flat = labels if outer is None else raw.Reshape(labels, [-1])
        loss, _ = raw.SparseSoftmaxCrossEntropyWithLogits(rows, flat)
        if outer is not None:
            loss = raw.Reshape(loss, shape_of(labels))
        return loss if dtype is loss.dtype else raw.Cast(loss, DstT=dtype)


def sparse_softmax_cross_entropy_with_logits_v1(labels: TensorLike = None, logits: TensorLike = None,
                                                name: str | None = None) -> Tensor:
    """Computes `sparse_softmax_cross_entropy_with_logits`; arguments must be named.

    Args:
      labels: (*B), int32 or int64, each in [0, C).
      logits: (*B, C), floating.
      name: a name for the operation.
    Returns: (*B).
    Raises: ValueError if an argument is missing or the ranks do not match.
    Gradient: dy (softmax(logits) - one_hot(labels)).
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.sparse_softmax_cross_entropy_with_logits`.
    """
    return sparse_softmax_cross_entropy_with_logits(labels, logits, name)


# -- elementwise losses ----------------------------------------------------------------


def _of_one_shape(what, x, labels, logits):
    sx, sy = labels._spec.shape, logits._spec.shape
    if sx is not None and sy is not None and not compatible(sx, sy):
        raise ValueError(f"`logits` and `{x}` must have the same shape, received ({shape_str(sy)} vs {shape_str(sx)}) "
                         f"in {what}. Fix: reshape one of them, e.g. with tf.reshape or tf.squeeze")


def sigmoid_cross_entropy_with_logits(labels: TensorLike = None, logits: TensorLike = None,
                                      name: str | None = None) -> Tensor:
    """Computes the cross entropy of independent binary classes, elementwise and without overflow.

    Args:
      labels: probabilities, of the shape and dtype of `logits`.
      logits: a float tensor.
      name: a name for the operation.
    Returns: max(x, 0) - x z + log(1 + exp(-abs(x))) for logits x and labels z.
    Raises: ValueError if an argument is missing or the shapes differ.
    Gradient: dy (sigmoid(logits) - labels) and -dy logits.
    Reference: TensorFlow 2.21 `tf.nn.sigmoid_cross_entropy_with_logits`.

    >>> sess.run(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]))
    array([0.6931472], dtype=float32)
    """
    _both("sigmoid_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "logistic_loss") as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, dtype_hint=logits.dtype, name="labels")
        _of_one_shape("sigmoid_cross_entropy_with_logits", "labels", labels, logits)
        zeros = raw.ZerosLike(logits)
        positive = raw.GreaterEqual(logits, zeros)
        # Selected by one condition, so that the two slopes at 0 add up to the right one.
        above = raw.Select(positive, logits, zeros)
        below = raw.Select(positive, raw.Neg(logits), logits)
        return raw.AddV2(raw.Sub(above, raw.Mul(logits, labels)), raw.Log1p(raw.Exp(below)), name=scope)


def weighted_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, pos_weight: TensorLike,
                                       name: str | None = None) -> Tensor:
    """Computes `sigmoid_cross_entropy_with_logits` with a weight on the positive labels.

    Args:
      labels: probabilities, of the shape and dtype of `logits`.
      logits: a float tensor.
      pos_weight: a number or tensor that broadcasts.
      name: a name for the operation.
    Returns: -(pos_weight z log(sigmoid(x)) + (1 - z) log(1 - sigmoid(x))), like `logits`.
    Raises: ValueError if the shapes differ.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.nn.weighted_cross_entropy_with_logits`.

    >>> sess.run(tf.nn.weighted_cross_entropy_with_logits([1.0], [0.0], 2.0))
    array([1.3862944], dtype=float32)
    """
    _both("weighted_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "logistic_loss") as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, dtype_hint=logits.dtype, name="labels")
        _of_one_shape("weighted_cross_entropy_with_logits", "labels", labels, logits)
        weight = raw.AddV2(1.0, raw.Mul(raw.Sub(convert_to_tensor(pos_weight, logits.dtype), 1.0), labels))
        tail = raw.AddV2(raw.Log1p(raw.Exp(raw.Neg(raw.Abs(logits)))), raw.Relu(raw.Neg(logits)))
        return raw.AddV2(raw.Mul(raw.Sub(1.0, labels), logits), raw.Mul(weight, tail), name=scope)


def weighted_cross_entropy_with_logits_v1(labels: TensorLike = None, logits: TensorLike = None,
                                          pos_weight: TensorLike = None, name: str | None = None,
                                          targets: TensorLike = None) -> Tensor:
    """Computes `weighted_cross_entropy_with_logits`, with TensorFlow 1's name `targets` for the labels.

    Args:
      labels, targets: probabilities, of the shape and dtype of `logits`.
      logits: a float tensor.
      pos_weight: a number or tensor that broadcasts.
      name: a name for the operation.
    Returns: a tensor like `logits`.
    Raises: ValueError if an argument is missing or the shapes differ.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.weighted_cross_entropy_with_logits`.
    """
    return weighted_cross_entropy_with_logits(either("labels", labels, "targets", targets), logits, pos_weight, name)


def log_poisson_loss(targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False,
                     name: str | None = None) -> Tensor:
    """Computes the Poisson log likelihood loss exp(c) - z c.

    Args:
      targets: z, of the shape and dtype of `log_input`.
      log_input: c, a float tensor.
      compute_full_loss: whether to add Stirling's approximation of log(z!) where z > 1.
      name: a name for the operation.
    Returns: a tensor like `log_input`.
    Raises: ValueError if the shapes differ.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.nn.log_poisson_loss`.

    >>> sess.run(tf.nn.log_poisson_loss([2.0], [0.0]))
    array([1.], dtype=float32)
    """
    with name_scope(name, "log_poisson_loss") as scope:
        c = convert_to_tensor(log_input, name="log_input")
        z = convert_to_tensor(targets, dtype_hint=c.dtype, name="targets")
        _of_one_shape("log_poisson_loss", "targets", z, c)
        loss = raw.Sub(raw.Exp(c), raw.Mul(c, z), name=None if compute_full_loss else scope)
        if not compute_full_loss:
            return loss
        stirling = raw.AddV2(raw.Sub(raw.Mul(z, raw.Log(z)), z), raw.Mul(0.5, raw.Log(raw.Mul(2 * math.pi, z))))
        small = raw.LogicalAnd(raw.GreaterEqual(z, raw.ZerosLike(z)), raw.LessEqual(z, raw.OnesLike(z)))
        return raw.AddV2(loss, raw.Select(small, raw.ZerosLike(z), stirling), name=scope)


def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Computes half the sum of the squares.

    Args:
      t: a float tensor of any shape.
      name: a name for the operation.
    Returns: a scalar.
    Raises: TypeError for other dtypes.
    Gradient: dy t.
    Reference: TensorFlow 2.21 L2Loss.

    >>> sess.run(tf.nn.l2_loss([1.0, 3.0]))
    np.float32(5.0)
    """
    return raw.L2Loss(t, name=name)
