"""What of `tensorflow.python.eager.execute` and `.backprop` libraries use: noting an op for the tapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.errors import UnimplementedError
from graphgrad.gradients.core import registry as gradients
from graphgrad.ir import eager
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, raw, registry


def record_gradient(op_name: str, inputs: Sequence[Any], attrs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Notes on all recording tapes that eager tensors were computed from others by an op.

    For the results of an operation of this type in a graph it does nothing, since tapes have seen it.

    Args:
      op_name: the op type, or a name that a gradient is registered for.
      inputs: eager tensors.
      attrs: names and values of attributes in turn.
      outputs: eager tensors.
    Raises: LookupError if no gradient is registered; UnimplementedError for tensors of graphs, whose operations are
      noted when they are built.
    """
    if outputs and all(isinstance(t, Tensor) and t.op.type == op_name for t in outputs):
        return  # noted when they were built
    if not all(isinstance(t, eager.EagerTensor) for t in (*inputs, *outputs)):
        raise UnimplementedError(None, None, f"record_gradient of '{op_name}' got tensors of a graph, whose operations "
                                 "are noted when they are built. Fix: tf.custom_gradient")
    rule = gradients.registered(op_name)
    if rule is None:
        raise LookupError(f"gradient registry has no entry for: {op_name}")
    if rule is NOT_DIFFERENTIABLE:
        return
    record = registry.get(op_name, raw.IdentityN)
    named = dict(zip(attrs[::2], attrs[1::2], strict=True))
    for recorder in list(eager.listening.recorders):
        recorder(record, tuple(inputs), tuple(outputs), named, rule)


def must_record_gradient() -> bool:
    """Returns whether a tape is recording."""
    return bool(eager.listening.recorders)
