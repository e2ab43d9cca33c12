"""Fused recurrent cells and layers: LSTM and GRU blocks, with derivatives of any order.

A layer's first gradient is an op of its own; higher ones, and those of the cells, come from their composition.
"""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.rule_by_composition import is_zero, pullback, vjp
from graphgrad.ir.shape import with_rank
from graphgrad.op_traits import Cost
from graphgrad.ops.common.lax_functions import lax_of

_STATE = "cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
_GATES = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T"
_ICFO, _IFCO = (0, 2, 1, 3), (0, 1, 2, 3)  # the positions of i, f, ci and o among the columns of w


def _sigmoid(xp, x):
    return 1 / (1 + xp.exp(-x))


def _split(xp, gates, order):
    parts = xp.split(gates, 4, axis=-1)
    return [parts[k] for k in order]


def _step(xp, gates, cs_prev, peephole, order, forget_bias, cell_clip):
    """Computes i, cs, f, o, ci, co, h of one step from the sums before the gates."""
    wci, wcf, wco = peephole
    i, f, ci, o = _split(xp, gates, order)
    f = f + xp.asarray(forget_bias, f.dtype)
    if wci is not None:
        i, f = i + wci * cs_prev, f + wcf * cs_prev
    i, f, ci = _sigmoid(xp, i), _sigmoid(xp, f), xp.tanh(ci)
    cs = ci * i + cs_prev * f
    if cell_clip > 0:
        cs = xp.clip(cs, -cell_clip, cell_clip).astype(cs.dtype)
    o = _sigmoid(xp, o if wco is None else o + wco * cs)
    co = xp.tanh(cs)
    return i, cs, f, o, ci, co, o * co


def _peephole(use_peephole, wci, wcf, wco):
    return (wci, wcf, wco) if use_peephole else (None, None, None)


def _scan(xp, step, carry, xs, reverse=False):
    """Calls `jax.lax.scan`; in NumPy, loops."""
    if xp is not np:
        return lax_of(xp).scan(step, carry, xs, reverse=reverse)
    n = len(xs[0])
    found = [None] * n
    for t in reversed(range(n)) if reverse else range(n):
        carry, found[t] = step(carry, [x[t] for x in xs])
    return carry, [np.stack(parts) for parts in zip(*found, strict=True)]


# -- shapes ----------------------------------------------------------------------------


def _known(*sizes):
    return next((n for n in sizes if n is not None), None)


def _sizes(x, cs_prev, h_prev, w, b):
    batch, inputs = x[-2:]
    cs_prev, h_prev, w = with_rank(cs_prev, 2, "cs_prev"), with_rank(h_prev, 2, "h_prev"), with_rank(w, 2, "w")
    (four,) = with_rank(b, 1, "b")
    cells = _known(cs_prev[1], h_prev[1], four and four // 4, w[1] and w[1] // 4)
    if cells is not None and inputs is not None and w[0] is not None and w[0] != inputs + cells:
        raise Complaint(f"w has {w[0]} rows instead of {inputs} + {cells}, inputs and cells", "check the sizes")
    if cells is not None and (w[1] not in (None, 4 * cells) or four not in (None, 4 * cells)):
        raise Complaint(f"w has {w[1]} columns and b {four} elements instead of 4 * {cells}", "check the sizes")
    return _known(batch, cs_prev[0], h_prev[0]), cells


def _cell_shape(x, cs_prev, h_prev, w, wci, wcf, wco, b):
    return [_sizes(with_rank(x, 2, "x"), cs_prev, h_prev, w, b)] * 7


def _layer_shape(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b):
    with_rank(seq_len_max, 0, "seq_len_max")
    x = with_rank(x, 3, "x")
    return [(x[0], *_sizes(x, cs_prev, h_prev, w, b))] * 7


# -- LSTMBlockCell -----------------------------------------------------------------------


@op("LSTMBlockCell", f"x: T, {_STATE} -> {_GATES}", T=FLOATING, shape=_cell_shape, cost=Cost.PRODUCT)
def lstm_cell(xp, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, forget_bias=1.0, cell_clip=3.0, use_peephole=False):
    """Computes one step of an LSTM."""
    gates = xp.concatenate([x, h_prev], axis=1) @ w + b
    found = _step(xp, gates, cs_prev, _peephole(use_peephole, wci, wcf, wco), _ICFO, forget_bias, cell_clip)
    return tuple([v.astype(x.dtype) for v in found])


def _cell_of_ops(x, cs_prev, h_prev, w, wci, wcf, wco, b, order, forget_bias, cell_clip, use_peephole):
    """Builds one step of ops. Clipping is not differentiated, as in TensorFlow's gradient."""
    gates = raw.AddV2(raw.MatMul(raw.ConcatV2([x, h_prev], 1), w), b)
    parts = raw.Split(1, gates, num_split=4)
    i, f, ci, o = (parts[k] for k in order)
    f = raw.AddV2(f, forget_bias)
    if use_peephole:
        i, f = raw.AddV2(i, raw.Mul(wci, cs_prev)), raw.AddV2(f, raw.Mul(wcf, cs_prev))
    i, f, ci = raw.Sigmoid(i), raw.Sigmoid(f), raw.Tanh(ci)
    cs = raw.AddV2(raw.Mul(ci, i), raw.Mul(cs_prev, f))
    if cell_clip > 0:
        beyond = raw.Sub(raw.Minimum(raw.Maximum(cs, -cell_clip), cell_clip), cs)
        cs = raw.AddV2(cs, raw.StopGradient(beyond))
    o = raw.Sigmoid(raw.AddV2(o, raw.Mul(wco, cs)) if use_peephole else o)
    co = raw.Tanh(cs)
    return [i, cs, f, o, ci, co, raw.Mul(o, co)]


@lstm_cell.grad
def _lstm_cell_grad(op, *dys):
    attrs = {k: op._attr(k) for k in ("forget_bias", "cell_clip", "use_peephole")}

    def composed(*inputs):
        return _cell_of_ops(*inputs, order=_ICFO, **attrs)

    return pullback(composed, op.inputs, dys, range(8))


# -- GRUBlockCell ------------------------------------------------------------------------


@op("GRUBlockCell", "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T -> r: T, u: T, c: T, h: T", T=FLOATING,
    cost=Cost.PRODUCT)
def gru_cell(xp, x, h_prev, w_ru, w_c, b_ru, b_c):
    """Computes one step of a GRU."""
    r, u = xp.split(_sigmoid(xp, xp.concatenate([x, h_prev], axis=1) @ w_ru + b_ru), 2, axis=1)
    c = xp.tanh(xp.concatenate([x, h_prev * r], axis=1) @ w_c + b_c)
    return tuple([v.astype(x.dtype) for v in (r, u, c, u * h_prev + (1 - u) * c)])


@gru_cell.shape
def _gru_cell_shape(x, h_prev, w_ru, w_c, b_ru, b_c):
    x, h_prev = with_rank(x, 2, "x"), with_rank(h_prev, 2, "h_prev")
    w_ru, w_c = with_rank(w_ru, 2, "w_ru"), with_rank(w_c, 2, "w_c")
    cells = _known(h_prev[1], w_c[1], w_ru[1] and w_ru[1] // 2)
    for name, w, k in (("w_ru", w_ru, 2), ("w_c", w_c, 1)):
        if cells is not None and w[1] not in (None, k * cells):
            raise Complaint(f"{name} has {w[1]} columns instead of {k} * {cells}", "check the number of cells")
        if None not in (cells, x[1], w[0]) and w[0] != x[1] + cells:
            raise Complaint(f"{name} has {w[0]} rows instead of {x[1]} + {cells}, inputs and cells", "check the sizes")
    return [(_known(x[0], h_prev[0]), cells)] * 4


def _gru_of_ops(x, h_prev, w_ru, w_c, b_ru, b_c):
    ru = raw.Sigmoid(raw.AddV2(raw.MatMul(raw.ConcatV2([x, h_prev], 1), w_ru), b_ru))
    r, u = raw.Split(1, ru, num_split=2)
    c = raw.Tanh(raw.AddV2(raw.MatMul(raw.ConcatV2([x, raw.Mul(h_prev, r)], 1), w_c), b_c))
    return [r, u, c, raw.AddV2(c, raw.Mul(u, raw.Sub(h_prev, c)))]


@gru_cell.grad
def _gru_cell_grad(op, *dys):
    return pullback(_gru_of_ops, op.inputs, dys, range(6))


# -- BlockLSTM ---------------------------------------------------------------------------


def _run(xp, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, order, forget_bias, cell_clip, use_peephole):
    peephole = _peephole(use_peephole, wci, wcf, wco)
    n = x.shape[2]
    sums = xp.matmul(x, w[:n]) + b  # independent of the previous step
    inner, dtype = w[n:], x.dtype

    def step(carry, at):
        cs, h = carry
        gates, t = at
        found = _step(xp, gates + h @ inner, cs, peephole, order, forget_bias, cell_clip)
        found = [xp.where(t < seq_len_max, v, xp.zeros_like(v)).astype(dtype) for v in found]
        return (found[1], found[6]), found

    if not x.shape[0]:
        return (xp.zeros((0, *cs_prev.shape), dtype),) * 7
    return tuple(_scan(xp, step, (cs_prev, h_prev), [sums, np.arange(x.shape[0])])[1])


def _forward(xp, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, forget_bias=1.0, cell_clip=3.0,
             use_peephole=False):
    """Computes an LSTM over all steps up to `seq_len_max`, with gates in the order i, ci, f, o."""
    return _run(xp, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, _ICFO, forget_bias, cell_clip, use_peephole)


def _forward_v2(xp, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, cell_clip=0.0, use_peephole=False):
    """Computes an LSTM over all steps up to `seq_len_max`, with gates in the order i, f, ci, o."""
    return _run(xp, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, _IFCO, 0.0, cell_clip, use_peephole)


def _layer_of_ops(seq_len_max, steps, attrs):
    """Builds the whole layer of ops: a function of x, cs_prev, h_prev, w, wci, wcf, wco and b."""

    def composed(x, cs, h, *weights):
        outputs = []
        for t, x_t in enumerate(raw.Unpack(x, num=steps, axis=0)):
            live = raw.Greater(seq_len_max, np.int64(t))
            found = _cell_of_ops(x_t, cs, h, *weights, **attrs)
            found = [raw.SelectV2(live, v, raw.ZerosLike(v)) for v in found]
            outputs.append(found)
            cs, h = found[1], found[6]
        return [raw.Pack(list(each), axis=0) for each in zip(*outputs, strict=True)]

    return composed


def _steps_of(op):
    steps = op.inputs[1]._spec.shape and op.inputs[1]._spec.shape[0]
    if not steps:
        raise LookupError(f"this derivative of {op.type} needs a number of steps that is known while the graph is "
                          "built. Fix: set_shape, or use tf.nn.dynamic_rnn")
    return steps


def _forward_grad(op, *dys):
    if not all(is_zero(dys[k]) for k in (0, 2, 3, 4, 5)):  # TensorFlow leaves these out
        composed = _layer_of_ops(op.inputs[0], _steps_of(op), _layer_attrs(op))
        return (None, *pullback(composed, op.inputs[1:], dys, range(8)))
    backward = raw.BlockLSTMGrad if op.type == "BlockLSTM" else raw.BlockLSTMGradV2
    more = {"forget_bias": op._attr("forget_bias")} if op.type == "BlockLSTM" else {}
    return (None, *backward(*op.inputs, *op.outputs, dys[1], dys[6], use_peephole=op._attr("use_peephole"),
                            cell_clip=op._attr("cell_clip"), **more))


def _layer_attrs(op):
    first = op.type in ("BlockLSTM", "BlockLSTMGrad")
    return {"order": _ICFO if first else _IFCO, "forget_bias": op._attr("forget_bias") if first else 0.0,
            "cell_clip": op._attr("cell_clip"), "use_peephole": op._attr("use_peephole")}


for _name, _kernel in (("BlockLSTM", _forward), ("BlockLSTMV2", _forward_v2)):
    op(_name, f"seq_len_max: int64, x: T, {_STATE} -> {_GATES}", T=FLOATING, shape=_layer_shape,
       cost=Cost.PRODUCT)(_kernel).grad(_forward_grad)


# -- its gradient ------------------------------------------------------------------------


def _back(xp, seq_len_max, x, cs_prev, h_prev, w, weights, saved, cs_grad, h_grad, order):
    wci, wcf, wco = weights
    i, cs, f, o, ci, co, h = saved
    n, last = x.shape[2], xp.asarray(seq_len_max)
    before = xp.concatenate([cs_prev[None], cs[:-1]])
    h_before = xp.concatenate([h_prev[None], h[:-1]])
    inner = w[n:]

    def step(carry, at):
        dcs, dh = carry
        i, _, f, o, ci, co, before, more_cs, more_h, t = at
        dh, dcs = dh + more_h, dcs + more_cs
        do = o * (1 - o) * dh * co
        dcs = dcs + (1 - co * co) * dh * o
        if wco is not None:
            dcs = dcs + do * wco
        di, df, dci = i * (1 - i) * dcs * ci, f * (1 - f) * dcs * before, (1 - ci * ci) * dcs * i
        parts = [None] * 4
        for k, g in zip(order, (di, df, dci, do), strict=True):
            parts[k] = g
        gates = xp.concatenate(parts, axis=1)
        dbefore = dcs * f
        if wci is not None:
            dbefore = dbefore + di * wci + df * wcf
        live = t < last
        # Beyond the last step everything is zero, and gradients there are dropped.
        results = [xp.where(live, v, xp.zeros_like(v)).astype(x.dtype) for v in (dbefore, gates @ inner.T, gates)]
        return (results[0], results[1]), [results[2]]

    zero = xp.zeros_like(cs_prev)
    sequences = [i, cs, f, o, ci, co, before, cs_grad, h_grad, np.arange(x.shape[0])]
    (dcs, dh), (gates,) = _scan(xp, step, (zero, zero), sequences, reverse=True)
    rows = xp.concatenate([x, h_before], axis=2)
    dw = xp.tensordot(rows, gates, axes=((0, 1), (0, 1)))
    di, df, _, do = _split(xp, gates, order)
    if wci is not None:
        peepholes = [xp.sum(di * before, (0, 1)), xp.sum(df * before, (0, 1)), xp.sum(do * cs, (0, 1))]
    else:
        peepholes = [xp.zeros(cs_prev.shape[1], x.dtype)] * 3
    found = (xp.matmul(gates, w[:n].T), dcs, dh, dw, *peepholes, xp.sum(gates, (0, 1)))
    return tuple([v.astype(x.dtype) for v in found])


def _backward(order):
    def kernel(xp, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad, *,
               use_peephole, forget_bias=1.0, cell_clip=0.0):
        """Computes the gradients of BlockLSTM for all its inputs, from its saved values."""
        weights = _peephole(use_peephole, wci, wcf, wco)
        if not x.shape[0]:
            return tuple([xp.zeros_like(v) for v in (x, cs_prev, h_prev, w, wci, wcf, wco, b)])
        return _back(xp, seq_len_max, x, cs_prev, h_prev, w, weights, (i, cs, f, o, ci, co, h), cs_grad, h_grad, order)

    return kernel


def _backward_shape(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad):
    x = with_rank(x, 3, "x")
    vectors = [with_rank(v, 1) for v in (wci, wcf, wco, b)]
    return [x, with_rank(cs_prev, 2), with_rank(h_prev, 2), with_rank(w, 2), *vectors]


def _backward_grad(op, *us):
    seq_len_max, *inputs = op.inputs
    layer = _layer_of_ops(seq_len_max, _steps_of(op), _layer_attrs(op))

    def composed(*args):
        dys = [None, args[8], None, None, None, None, args[9]]
        found = vjp(layer, args[:8], dys)
        return [raw.ZerosLike(x) if g is None else g for x, g in zip(args, found, strict=False)]

    # The saved values follow from the other inputs, through which they are differentiated.
    found = pullback(composed, [*inputs[:8], *inputs[15:]], us, range(10))
    return (None, *found[:8], *[None] * 7, *found[8:])


for _name, _order in (("BlockLSTMGrad", _ICFO), ("BlockLSTMGradV2", _IFCO)):
    op(_name, f"seq_len_max: int64, x: T, {_STATE}, {_GATES}, cs_grad: T, h_grad: T -> x_grad: T, cs_prev_grad: T, "
       "h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T", T=FLOATING,
       shape=_backward_shape, cost=Cost.PRODUCT)(_backward(_order)).grad(_backward_grad)
