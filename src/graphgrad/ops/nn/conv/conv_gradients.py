"""The gradients of convolutions."""

from __future__ import annotations

from graphgrad.ir.opdef import wants
from graphgrad.ops.common.shape_values import shape_of

_ATTRS = ("strides", "padding", "explicit_paddings", "data_format", "dilations", "use_cudnn_on_gpu")


def _attrs(op):
    """Returns the attributes that a convolution shares with its gradients."""
    return {k: op.attrs[k] for k in _ATTRS if k in op.attrs}


def declare_gradients(forward, to_input, to_filter):
    """Declares the gradients of a convolution and of its two gradients: each consists of the other two."""

    @forward.grad
    def _forward_grad(op, dy):
        x, f = op.inputs
        attrs = _attrs(op)
        dx = to_input(shape_of(x), f, dy, **attrs) if wants(op, 0) else None
        return dx, to_filter(x, shape_of(f), dy, **attrs) if wants(op, 1) else None

    @to_input.grad
    def _to_input_grad(op, ddx):
        _, f, dy = op.inputs
        attrs = _attrs(op)
        df = to_filter(ddx, shape_of(f), dy, **attrs) if wants(op, 1) else None
        return None, df, forward(ddx, f, **attrs) if wants(op, 2) else None

    @to_filter.grad
    def _to_filter_grad(op, ddf):
        x, _, dy = op.inputs
        attrs = _attrs(op)
        dx = to_input(shape_of(x), ddf, dy, **attrs) if wants(op, 0) else None
        return dx, None, forward(x, ddf, **attrs) if wants(op, 2) else None
