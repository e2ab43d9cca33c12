"""The gradients of convolutions."""

from __future__ import annotations

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
        return to_input(shape_of(x), f, dy, **attrs), to_filter(x, shape_of(f), dy, **attrs)

    @to_input.grad
    def _to_input_grad(op, ddx):
        _, f, dy = op.inputs
        attrs = _attrs(op)
        return None, to_filter(ddx, shape_of(f), dy, **attrs), forward(ddx, f, **attrs)

    @to_filter.grad
    def _to_filter_grad(op, ddf):
        x, _, dy = op.inputs
        attrs = _attrs(op)
        return to_input(shape_of(x), ddf, dy, **attrs), None, forward(x, ddf, **attrs)
