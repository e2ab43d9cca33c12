"""The values of tensors that follow from constants and shapes alone, of any size: indices, masks, axes.

`ir.constant_value` answers the same for shapes, and therefore follows small tensors only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.ir.graph import Tensor
from graphgrad.ir.shape import is_fully_defined

_LARGEST = 1 << 26  # elements; nothing larger is computed
_STEPS = 10_000  # operations that one value may take


class KnownValues:
    """What is known of the values of tensors, each computed once.

    Args:
      given: tensors that are known besides, by their ids.
    """

    def __init__(self, given: dict[int, Any] | None = None):
        self._found: dict[int, Any] = dict(given or {})
        self._alive: list[Tensor] = []

    def of(self, tensor: Any) -> Any:
        """Returns the value as an array, or None."""
        if id(tensor) in self._found:
            return self._found[id(tensor)]
        if not isinstance(tensor, Tensor):
            value = getattr(tensor, "_value", None)
            return value if isinstance(value, np.ndarray) and tensor.dtype.kind in "iubf" else None
        stack, steps = [tensor], 0
        while stack:  # depth first, without recursion
            t = stack[-1]
            steps += 1
            if id(t) in self._found or steps > _STEPS:
                stack.pop()
                continue
            unseen = [i for i in self._read(t) if id(i) not in self._found]
            if unseen:
                stack.extend(unseen)
                continue
            stack.pop()
            self._evaluate(t)
        return self._found.get(id(tensor))

    def _read(self, t: Tensor) -> tuple[Any, ...]:
        """Returns the tensors whose values decide that of `t`; none where it is not followed."""
        op = t.op
        if op.type == "Const" or op.opdef.shape_only or not _is_plain(op):
            return ()
        return tuple([i for i in op.inputs if isinstance(i, Tensor)])

    def _evaluate(self, t: Tensor) -> None:
        op = t.op
        self._alive.append(t)
        for output in op.outputs:
            self._found.setdefault(id(output), None)
        if op.type == "Const":
            self._found[id(t)] = np.asarray(op.attrs["value"])
            return
        if op.opdef.shape_only:
            values = [_Shaped(i) if is_fully_defined(i._spec.shape) else None for i in op.inputs]
        elif _is_plain(op):
            values = [self._found.get(id(i)) if isinstance(i, Tensor) else self.of(i) for i in op.inputs]
        else:
            return
        if any(v is None for v in values) or _too_large(op):
            return
        arrays = [np.broadcast_to(np.zeros((), np.int8), v.shape) if isinstance(v, _Shaped) else v for v in values]
        found = run_kernel(op, arrays)
        if found is not None:
            for output, value in zip(op.outputs, found, strict=True):
                self._found[id(output)] = np.asarray(value)


class _Shaped:
    """An array of which the shape alone is known."""

    def __init__(self, t: Tensor):
        self.shape: Any = t._spec.shape


def _is_plain(op: Any) -> bool:
    """Returns whether NumPy may compute an operation here: it has inputs, follows from them, and holds numbers."""
    record = op.opdef
    if not record.pure or not op.inputs or record.placeholder or "host" in record.flags:
        return False
    return all(t.dtype.kind in "iubf" for t in (*op.inputs, *op.outputs))


def _too_large(op: Any) -> bool:
    return any(is_fully_defined(t._spec.shape) and math.prod(t._spec.shape) > _LARGEST for t in op.outputs)


def run_kernel(op: Any, arrays: list[Any]) -> list[Any] | None:
    """Returns the results of NumPy's kernel for an operation, or None if it refuses them."""
    record = op.opdef
    try:
        attrs = {k: op._attr(k) for k in record.kernel_attrs}
        with np.errstate(all="ignore"):
            return list(record.unpack(record.bind_kernel(np)(np, *record.pack(arrays, op.attrs), **attrs)))
    except Exception:  # whatever it does not like: a run of the graph says so better
        return None
