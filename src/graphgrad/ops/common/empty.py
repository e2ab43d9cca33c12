"""Zeros for reductions and windows over empty inputs."""

from __future__ import annotations

import functools

import numpy as np

from graphgrad.ir.opdef import registry


def _guarded(opdef, kernel):
    """Wraps a kernel: if an input has no elements, the result is zeros of the inferred shape."""

    @functools.wraps(kernel)
    def call(xp, *inputs, **attrs):
        tensors = [x for i, x in enumerate(inputs) if i not in opdef.host]
        if all(x.size for x in tensors):
            return kernel(xp, *inputs, **attrs)
        seen = [tuple(np.asarray(x).tolist()) if i in opdef.seen else x.shape for i, x in enumerate(inputs)]
        shape = opdef._shape_rule(*seen, **{k: attrs[k] for k in opdef._shape_attrs})
        return xp.zeros(shape, tensors[-1 if opdef.name != "MaxPoolGradWithArgmax" else 1].dtype)

    return call


def zeros_for_empty(op_types: str) -> None:
    """Makes kernels with sliding windows return zeros for empty inputs, which they need not handle themselves.

    Args:
      op_types: types of one output, separated by white space; their kernels and shape rules are declared.
    """
    for name in op_types.split():
        opdef = registry[name]
        opdef.kernel = _guarded(opdef, opdef.kernel)
        if opdef.host_kernel is not None:
            opdef.host_kernel = _guarded(opdef, opdef.host_kernel)
        if opdef.device_kernel is not None:
            opdef.device_kernel = _guarded(opdef, opdef.device_kernel)
