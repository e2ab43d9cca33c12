"""Connectionist temporal classification: the loss, its gradient, and derivatives of any order.

The loss and its gradient come from one host op, by the forward-backward algorithm in logarithms. The gradient's
gradient differentiates the forward recursion, written as ops.
"""

from __future__ import annotations

import itertools

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.rule_by_composition import is_zero, pullback, vjp
from graphgrad.ir.shape import with_rank
from graphgrad.op_traits import Cost

_IMPOSSIBLE = -np.log(1e-307)  # the loss of TensorFlow's dense form where labels do not fit into the steps
_NEVER = -1e30  # a finite stand-in for the logarithm of zero


# -- labels ------------------------------------------------------------------------------


def _sparse_rows(indices, values, batch, classes, collapse):
    """Returns the labels of each row, up to the first blank."""
    rows = [[] for _ in range(batch)]
    for n, ((b, _), v) in enumerate(zip(indices.tolist(), values.tolist(), strict=True)):
        if not 0 <= b < batch:
            raise Complaint(f"label SparseTensor is not valid: indices[{n}] = {indices[n].tolist()} is out of bounds: "
                            f"need 0 <= index < [{batch}, ...]", "give labels for the rows of inputs only")
        rows[b].append(v)
    for b, row in enumerate(rows):
        if not row:
            raise Complaint(f"Labels length is zero in batch {b}", "give each row a label, or leave it out")
        if min(row) < 0:
            raise Complaint(f"All labels must be nonnegative integers, batch: {b} labels: {','.join(map(str, row))}",
                            "use labels from 0 to num_classes - 2")
        rows[b] = _valid(row, b, classes, collapse)
    return rows


def _valid(row, b, classes, collapse):
    blank = next((i for i, v in enumerate(row) if v >= classes - 1), len(row))
    if any(v < classes - 1 for v in row[blank:]):
        raise Complaint("Saw a non-null label (index >= num_classes - 1) following a null label, "
                        f"batch: {b} num_classes: {classes} labels: {','.join(map(str, row))}",
                        "use labels below the blank")
    kept = row[:blank]
    return [v for i, v in enumerate(kept) if not (collapse and i and v == kept[i - 1])]


def _needed(row, merge):
    return len(row) + sum(a == b for a, b in itertools.pairwise(row)) * bool(merge)


class _States:
    """The states of the rows' alignments: blanks and labels in turn.

    Attributes:
      labels: (B, S), the class of each state; count: (B), the number of states.
      stay, skip: (B, S), whether a state may follow itself, and the one before the last.
      live: (B), whether the row's labels fit into its steps.
    """

    def __init__(self, rows, blank, merge, live):
        self.live = np.asarray(live, bool)
        rows = [row if fits else [] for row, fits in zip(rows, live, strict=True)]
        self.count = np.asarray([2 * len(row) + 1 for row in rows], np.int32).reshape(-1)
        size = int(self.count.max(initial=1))
        self.labels = np.full((len(rows), size), blank, np.int32)
        for b, row in enumerate(rows):
            self.labels[b, 1 : 2 * len(row) : 2] = row
        is_label = np.arange(size) % 2 == 1
        self.stay = np.broadcast_to(merge | ~is_label, self.labels.shape)
        self.skip = np.zeros(self.labels.shape, bool)
        differs = self.labels[:, 2:] != self.labels[:, :-2]
        self.skip[:, 2:] = is_label[2:] & (differs if merge else True)


def _check_steps(steps, n, batch):
    if len(steps) != batch:
        raise Complaint(f"len(sequence_length) != batch_size.  len(sequence_length):  {len(steps)} batch_size: {batch}",
                        "give one length for each row")
    if n == 0:
        raise Complaint("Max time or first dimension of input cannot be 0", "give inputs of at least one step")
    for b, t in enumerate(steps):
        if t > n:
            raise Complaint(f"sequence_length({b}) <= {n}", "use lengths of at most the number of steps")


def _sparse_states(shape, indices, values, steps, collapse, merge, ignore):
    n, batch, classes = shape
    _check_steps(steps, n, batch)
    rows = _sparse_rows(indices, values, batch, classes, collapse)
    live = [_needed(row, merge) <= t for row, t in zip(rows, steps.tolist(), strict=True)]
    if not all(live) and not ignore:
        b = live.index(False)
        raise Complaint("Not enough time for target transition sequence (required: "
                        f"{_needed(rows[b], merge)}, available: {steps[b]}) in row {b}",
                        "use ignore_longer_outputs_than_inputs=True to leave such rows out")
    return _States(rows, classes - 1, merge, live)


def _dense_states(shape, labels, lengths, steps, blank):
    _check_steps(steps, *shape[:2])
    rows = [row[:n].tolist() for row, n in zip(labels, lengths, strict=True)]
    live = [_needed(row, True) <= t for row, t in zip(rows, steps.tolist(), strict=True)]
    return _States(rows, blank, True, live)


# -- the algorithm -----------------------------------------------------------------------


def _shifted(a, k):
    """Returns a, moved k states forward (backward for negative k), -inf elsewhere."""
    moved = np.full_like(a, -np.inf)
    if abs(k) < a.shape[1]:
        moved[:, max(k, 0) : a.shape[1] + min(k, 0)] = a[:, max(-k, 0) : a.shape[1] - max(k, 0)]
    return moved


def _solve(logits, states, steps, impossible):
    """Returns the loss of each row and its gradient for the logits."""
    logits = logits.astype(np.float64)
    n, batch, _ = logits.shape
    size = states.labels.shape[1]
    logits = logits - logits.max(-1, keepdims=True)
    logp = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    emit = np.take_along_axis(logp, np.broadcast_to(states.labels, (n, batch, size)), 2)
    number, add = np.arange(size), np.logaddexp
    valid = number < states.count[:, None]
    stay, skip = np.where(states.stay, 0, -np.inf), np.where(states.skip, 0, -np.inf)
    ahead = np.where(valid & (number < 2), emit[0], -np.inf)
    alphas = [ahead]
    for t in range(1, n):
        ahead = add(add(ahead + stay, _shifted(ahead, 1)), _shifted(ahead, 2) + skip)
        ahead = np.where(valid, ahead + emit[t], -np.inf)
        alphas.append(ahead)
    alpha = np.stack(alphas)
    last = np.where(valid & (number >= states.count[:, None] - 2), 0, -np.inf)
    final = alpha[np.maximum(steps - 1, 0), np.arange(batch)] + last
    total = np.logaddexp.reduce(final, axis=1)
    posterior = np.zeros((n, batch, size))
    behind = np.full((batch, size), -np.inf)
    skipped = _shifted(skip, -2)  # whether the state after the next may follow
    for t in reversed(range(n)):
        if t + 1 < n:
            arrived = behind + emit[t + 1]
            behind = add(add(arrived + stay, _shifted(arrived, -1)), _shifted(arrived, -2) + skipped)
        behind = np.where((t == steps - 1)[:, None], last, behind)
        posterior[t] = np.exp(alpha[t] + behind - np.where(np.isfinite(total), total, 0)[:, None])
    gradient = np.exp(logp)
    where = np.broadcast_to(states.labels, posterior.shape)
    np.add.at(gradient, (np.arange(n)[:, None, None], np.arange(batch)[None, :, None], where), -posterior)
    gradient *= ((np.arange(n)[:, None] < steps) & states.live)[..., None]
    return np.where(states.live, -total, impossible), gradient


def _solved(x, states, steps, impossible=0.0):
    with np.errstate(all="ignore"):
        loss, gradient = _solve(x, states, steps, impossible)
    return loss.astype(x.dtype), gradient.astype(x.dtype)


# -- the same forward recursion as ops ----------------------------------------------------


def _logarithm(mask, dtype):
    return raw.SelectV2(mask, np.zeros((), dtype.np_dtype), np.asarray(_NEVER, dtype.np_dtype))


def _log_sum(parts, axis):
    top = raw.StopGradient(raw.Max(parts, np.asarray([axis], np.int32), keep_dims=True))
    total = raw.Log(raw.Sum(raw.Exp(raw.Sub(parts, top)), np.asarray([axis], np.int32)))
    return raw.AddV2(total, raw.Squeeze(top, squeeze_dims=(axis,)))


def _moved(a, k):
    padded = raw.PadV2(a, np.asarray([[0, 0], [k, 0]], np.int32), np.asarray(_NEVER, a.dtype.np_dtype))
    return raw.StridedSlice(padded, [0, 0], [0, -k], [1, 1], begin_mask=3, end_mask=1)


def _loss_of_ops(states, steps, n):
    labels, stay, skip, first, last, live = states

    def loss(x):
        stays, skips, firsts, lasts = (_logarithm(m, x.dtype) for m in (stay, skip, first, last))
        logp = raw.Transpose(raw.LogSoftmax(x), np.asarray([1, 0, 2], np.int32))
        emit = raw.Unpack(raw.GatherV2(logp, labels, 2, batch_dims=1), num=n, axis=1)
        ahead = raw.AddV2(emit[0], firsts)
        for t in range(1, n):
            ways = raw.Pack([raw.AddV2(ahead, stays), _moved(ahead, 1), raw.AddV2(_moved(ahead, 2), skips)], axis=0)
            found = raw.AddV2(_log_sum(ways, 0), emit[t])
            ahead = raw.SelectV2(raw.ExpandDims(raw.Greater(steps, np.int32(t)), 1), found, ahead)
        total = _log_sum(raw.AddV2(ahead, lasts), 1)
        return [raw.SelectV2(live, raw.Neg(total), raw.ZerosLike(total))]

    return loss


def _rule(op, dloss, dgradient, states, steps):
    x = op.inputs[0]
    dx = raw.Mul(raw.ExpandDims(dloss, -1), op.outputs[1])
    if is_zero(dgradient):
        return dx
    n = x._spec.shape and x._spec.shape[0]
    if n is None:
        raise LookupError(f"the second derivative of {op.type} needs a number of steps that is known while the graph "
                          "is built. Fix: set_shape")
    loss = _loss_of_ops(states, steps, n)

    def gradient(x):
        return vjp(loss, [x], [raw.OnesLike(op.outputs[0])])

    return raw.AddV2(dx, pullback(gradient, [x], [dgradient], [0])[0])


def _masks(states):
    number = np.arange(states.labels.shape[1])
    count = states.count[:, None]
    valid = number < count
    return (states.labels, states.stay & valid, states.skip & valid, valid & (number < 2),
            valid & (number >= count - 2), states.live)


_MASKS = "states: int32, stay: bool, skip: bool, first: bool, last: bool, live: bool"


def _masks_shape(x):
    batch = with_rank(x, 3, "inputs")[1]
    return [(batch, None)] * 5 + [(batch,)]


# -- CTCLoss -------------------------------------------------------------------------------

_FLAGS = ("preprocess_collapse_repeated", "ctc_merge_repeated", "ignore_longer_outputs_than_inputs")


@op("CTCLoss", "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: T, gradient: T",
    T=FLOATING, flags=("host",), cost=Cost.HEAVY)
def ctc_loss_op(xp, x, indices, values, steps, *, preprocess_collapse_repeated=False, ctc_merge_repeated=True,
                ignore_longer_outputs_than_inputs=False):
    """Computes the loss of each row and its gradient; the last class is the blank."""
    states = _sparse_states(x.shape, indices, values, steps, preprocess_collapse_repeated, ctc_merge_repeated,
                            ignore_longer_outputs_than_inputs)
    return _solved(x, states, steps)


@ctc_loss_op.shape
def _ctc_loss_shape(x, indices, values, steps):
    n, batch, classes = with_rank(x, 3, "inputs")
    rows, two = with_rank(indices, 2, "labels_indices")
    (number,) = with_rank(values, 1, "labels_values")
    (lengths,) = with_rank(steps, 1, "sequence_length")
    if two not in (2, None):
        raise Complaint(f"labels_indices have {two} columns instead of 2", "give the indices of a matrix of labels")
    if None not in (rows, number) and rows != number:
        raise Complaint(f"there are {number} labels but {rows} indices", "give one index for each label")
    batch = lengths if batch is None else batch
    return [(batch,), (n, batch, classes)]


@ctc_loss_op.grad
def _ctc_loss_grad(op, dloss, dgradient):
    attrs = {k: op._attr(k) for k in _FLAGS}
    states = None if is_zero(dgradient) else raw.CTCLossStates(*op.inputs, **attrs)
    return _rule(op, dloss, dgradient, states, op.inputs[3]), None, None, None


@op("CTCLossStates", f"inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32 -> {_MASKS}",
    T=FLOATING, flags=("host",), cost=Cost.HEAVY)
def ctc_loss_states(xp, x, indices, values, steps, *, preprocess_collapse_repeated=False, ctc_merge_repeated=True,
                    ignore_longer_outputs_than_inputs=False):
    """Returns the states of CTCLoss, for its gradient."""
    return _masks(_sparse_states(x.shape, indices, values, steps, preprocess_collapse_repeated, ctc_merge_repeated,
                                 ignore_longer_outputs_than_inputs))


@ctc_loss_states.shape
def _ctc_loss_states_shape(x, indices, values, steps):
    return _masks_shape(x)


ctc_loss_states.grad(NOT_DIFFERENTIABLE)


@op("CTCLossV2", "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: T, "
    "gradient: T", T=FLOATING, flags=("host",), shape=_ctc_loss_shape, cost=Cost.HEAVY)
def ctc_loss_v2_op(xp, x, indices, values, steps, *, preprocess_collapse_repeated=False, ctc_merge_repeated=True,
                   ignore_longer_outputs_than_inputs=False):
    """Computes the loss as CTCLoss does; the first class is the blank."""
    states = _sparse_states(x.shape, indices, values - 1, steps, preprocess_collapse_repeated, ctc_merge_repeated,
                            ignore_longer_outputs_than_inputs)
    loss, gradient = _solved(np.roll(x, -1, 2), states, steps)
    return loss, np.roll(gradient, 1, 2)


def _turned(x, k):
    """Moves the first class behind the others (k = 1), or the last one before them (k = -1)."""
    ones, zeros, at = np.ones(3, np.int32), np.zeros(3, np.int32), np.asarray([0, 0, k], np.int32)
    after = raw.StridedSlice(x, at, zeros, ones, begin_mask=3, end_mask=7)
    before = raw.StridedSlice(x, zeros, at, ones, begin_mask=7, end_mask=3)
    return raw.ConcatV2([after, before], 2)


@ctc_loss_v2_op.grad
def _ctc_loss_v2_grad(op, dloss, dgradient):
    x, indices, values, steps = op.inputs
    if is_zero(dgradient):
        return raw.Mul(raw.ExpandDims(dloss, -1), op.outputs[1]), None, None, None
    attrs = {k: op._attr(k) for k in _FLAGS}

    def composed(x):
        loss, gradient = raw.CTCLoss(_turned(x, 1), indices, raw.Sub(values, np.int32(1)), steps, **attrs)
        return [loss, _turned(gradient, -1)]

    return pullback(composed, [x], [dloss, dgradient], [0])[0], None, None, None


# -- the dense form ------------------------------------------------------------------------


@op("CTCLossDense", "inputs: T, labels: int32, label_length: int32, logit_length: int32 -> loss: T, gradient: T",
    T=FLOATING, flags=("host",), cost=Cost.HEAVY)
def ctc_loss_dense(xp, x, labels, lengths, steps, *, blank_index=0):
    """Computes the loss for labels given as a matrix, with any class as the blank."""
    return _solved(x, _dense_states(x.shape, labels, lengths, steps, blank_index), steps, _IMPOSSIBLE)


def _check_dense(x, labels, lengths, steps, blank_index):
    n, batch, classes = with_rank(x, 3, "inputs")
    rows, _ = with_rank(labels, 2, "labels")
    for name, shape in (("label_length", lengths), ("logit_length", steps)):
        (number,) = with_rank(shape, 1, name)
        batch = number if batch is None else batch
        if None not in (number, batch) and number != batch:
            raise Complaint(f"{name} has {number} elements for {batch} rows", "give one for each row")
    if None not in (rows, batch) and rows != batch:
        raise Complaint(f"there are {rows} rows of labels but {batch} of logits", "give labels for each row")
    if classes is not None and not 0 <= blank_index < classes:
        raise Complaint(f"blank_index {blank_index} is not one of {classes} classes", "use one of 0 to num_classes - 1")
    return n, batch, classes


@ctc_loss_dense.shape
def _ctc_loss_dense_shape(x, labels, lengths, steps, blank_index):
    shape = _check_dense(x, labels, lengths, steps, blank_index)
    return [(shape[1],), shape]


@ctc_loss_dense.grad
def _ctc_loss_dense_grad(op, dloss, dgradient):
    blank = op._attr("blank_index")
    states = None if is_zero(dgradient) else raw.CTCLossDenseStates(*op.inputs, blank_index=blank)
    return _rule(op, dloss, dgradient, states, op.inputs[3]), None, None, None


@op("CTCLossDenseStates", f"inputs: T, labels: int32, label_length: int32, logit_length: int32 -> {_MASKS}", T=FLOATING,
    flags=("host",), cost=Cost.HEAVY)
def ctc_loss_dense_states(xp, x, labels, lengths, steps, *, blank_index=0):
    """Returns the states of CTCLossDense, for its gradient."""
    return _masks(_dense_states(x.shape, labels, lengths, steps, blank_index))


@ctc_loss_dense_states.shape
def _ctc_loss_dense_states_shape(x, labels, lengths, steps):
    return _masks_shape(x)


ctc_loss_dense_states.grad(NOT_DIFFERENTIABLE)
