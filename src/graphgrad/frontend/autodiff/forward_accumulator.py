"""`ForwardAccumulator`: Jacobian-vector products of what runs within its context.

A gradient rule is linear in the gradients that arrive at it, and its own gradient with respect to them is the
derivative of the operation in forward direction. So forward mode needs no rules of its own, and works for whatever has
a gradient. What it computes runs as operations: tapes and accumulators around it see them, which gives higher orders.
"""

from __future__ import annotations

import contextlib
from typing import Any

from graphgrad.frontend.structure import nest
from graphgrad.gradients.bodies.subgraphs import carries
from graphgrad.gradients.core.missing import MissingGradientError
from graphgrad.gradients.core.outer_graphs import open_entrances
from graphgrad.gradients.core.registry import gradient_function, without_custom_gradients
from graphgrad.gradients.core.rules import call_rule
from graphgrad.gradients.core.unconnected import UnconnectedGradients
from graphgrad.gradients.derived.vector_products import jvp
from graphgrad.ir import eager
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import variant
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, raw
from graphgrad.ir.source import user_source
from graphgrad.ir.values.composite import Composite
from graphgrad.ir.values.indexed_slices import dense
from graphgrad.ir.values.tensor_list import TensorList

from .tape import GradientTape
from .tape_recording import Record


class ForwardAccumulator:
    """Computes Jacobian-vector products in forward mode, for what runs in its `with` block.

    Args:
      primals: a tensor or variable, or a structure of them, with respect to which is differentiated.
      tangents: for each of them a tensor of its shape: the direction.
    Raises: ValueError if the two differ in structure or shape, or if it is entered twice.
    Gradient: its results have gradients; accumulators and tapes may be nested in either order.
    Reference: TensorFlow 2.21 `tf.autodiff.ForwardAccumulator`; Griewank and Walther, Evaluating Derivatives, 2008.

    >>> x = tf.constant([2.0, 3.0])
    >>> from graphgrad.compat.v2.autodiff import ForwardAccumulator  # in 2.x: tf.autodiff.ForwardAccumulator
    >>> with ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = tf.reduce_sum(x**3)
    >>> sess.run(acc.jvp(y))
    np.float32(12.0)
    """

    def __init__(self, primals: Any, tangents: Any):
        nest.assert_same_structure(primals, tangents, check_types=False)
        self._recording = False
        self._tangents: dict[int, Any] = {}
        self._kept: list[Any] = []  # keeps the objects of the ids above alive
        self._came_by: dict[int, tuple[Any, Any]] = {}  # how these were computed: the op and an input with a tangent
        self._xs: list[Any] = []
        self._directions: list[Any] = []
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            self._watch(primal, tangent)

    def _watch(self, primal: Any, tangent: Any) -> None:
        if primal.dtype.kind not in "fc":
            raise ValueError(f"ForwardAccumulator: {primal!r} is of dtype {primal.dtype.name}, which has no "
                             f"derivatives.\n  Asked for at {user_source(3)}\n  Fix: cast it to a float")
        tangent = convert_to_tensor(tangent, primal.dtype)
        if not tangent.shape.is_compatible_with(primal.shape):
            raise ValueError(f"ForwardAccumulator: the tangent's shape {tangent.shape} is not that of its primal, "
                             f"{primal.shape}.\n  Asked for at {user_source(3)}\n  Fix: tf.reshape it")
        self._xs.append(primal)
        self._directions.append(tangent)
        self._set(getattr(primal, "handle", primal), tangent)

    def _set(self, tensor: Any, tangent: Any) -> None:
        self._tangents[id(tensor)] = tangent
        self._kept.append(tensor)

    def __enter__(self) -> ForwardAccumulator:
        if self._recording:
            raise ValueError("Accumulator is already recording. Fix: leave its `with` block first")
        self._recording = True
        if current_graph() is None:
            eager.listening.recorders.append(self._record)
        return self

    def __exit__(self, *_: object) -> None:
        if not self._recording:
            raise ValueError("Accumulator is not recording.")
        self._recording = False
        if self._record in eager.listening.recorders:
            eager.listening.recorders.remove(self._record)

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Returns the derivative of a computed value in the direction of the tangents.

        Args:
          primals: a tensor computed in the `with` block, or a structure of them.
          unconnected_gradients: 'none' or 'zero', for what does not depend on the primals given before.
        Returns: the structure, with a tensor of the shape of each, or None.
        """
        unconnected = UnconnectedGradients(unconnected_gradients)

        def find(y: Any) -> Any:
            if isinstance(y, Composite):
                return y._with_gradient_parts([find(t) for t in y._gradient_parts()])
            y_id = id(getattr(y, "handle", y))
            tangent = self._tangents.get(y_id)
            if tangent is None and current_graph() is not None:
                tangent = _in_graph(y, self._xs, self._directions)
            if tangent is None and unconnected is UnconnectedGradients.ZERO:
                tangent = raw.ZerosLike(convert_to_tensor(y))
            return tangent

        return nest.map_structure(find, primals)

    def _record(self, opdef: Any, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: dict[str, Any],
                gradient: Any = None) -> None:
        tangents = [self._tangents.get(id(t)) for t in inputs]
        if all(t is None for t in tangents) or not any(map(carries, outputs)):
            return
        recorders = eager.listening.recorders
        before = list(recorders)
        recorders[before.index(self._record) :] = []  # only outer accumulators record what follows
        try:
            if getattr(gradient, "is_custom", False) and all(t is not None for t in tangents[: gradient.n_results]):
                found = tangents  # of the function's own operations, as in TensorFlow
            else:
                found = self._forward(Record(opdef, inputs, outputs, attrs, gradient), tangents)
            came_by = opdef, next(t for t, v in zip(inputs, tangents, strict=True) if v is not None)
            for y, tangent in zip(outputs, found, strict=True):
                if tangent is not None:
                    self._set(y, tangent)
                    self._came_by[id(y)] = came_by
        finally:
            recorders[:] = before


    def _forward(self, record: Record, tangents: list[Any]) -> list[Any]:
        """Returns the derivatives of an operation's outputs, from those of its inputs."""
        rule = gradient_function(record)  # type: ignore[arg-type]  # a record acts as an operation
        if rule is NOT_DIFFERENTIABLE:
            return [None] * len(record.outputs)
        if rule is None:
            raise MissingGradientError(record, self._path(record))  # type: ignore[arg-type]  # the same
        with GradientTape() as tape:
            dummies = [_dummy(t) for t in record.outputs]
            given = [d for d in dummies if d is not None]
            tape.watch(given)
            try:
                in_grads = call_rule(rule, record, dummies)
            except MissingGradientError as error:  # in a sub-graph
                error.lies_within(record, self._path(record))  # type: ignore[arg-type]  # the same
                raise
            pairs = [(dense(g), t) for g, t in zip(in_grads, tangents, strict=True) if g is not None and t is not None]
            if not pairs and getattr(rule, "is_call", False):  # as in TensorFlow: zeros of what follows from the others
                pairs = [(dense(g), raw.ZerosLike(t)) for g, t in zip(in_grads, record.inputs, strict=True)
                         if g is not None and t.dtype.kind in "fc"]
        if not pairs:
            return [None] * len(dummies)
        found = iter(tape.gradient([g for g, _ in pairs], given, [t for _, t in pairs]))
        return [None if d is None else dense(next(found)) for d in dummies]

    def _path(self, record: Record) -> list[Any]:
        """Returns a record, and those on a path from it to a primal."""
        way = [record]
        t = next(t for t in record.inputs if id(t) in self._tangents)
        while id(t) in self._came_by:
            opdef, t = self._came_by[id(t)]
            way.append(Record(opdef, (t,), (), {}, None))
        return way


def _in_graph(y: Any, xs: list[Any], directions: list[Any]) -> Any:
    graph = current_graph()
    assert graph is not None
    calls = frozenset(open_entrances)
    # As in TensorFlow, the derivative is that of a function's own operations, if they have any.
    # Where an operation has no derivative, the user's gradient function decides, below.
    with contextlib.suppress(MissingGradientError), without_custom_gradients(graph, calls):
        (found,) = jvp([y], xs, directions)
        if found is not None:
            return found
    (found,) = jvp([y], xs, directions)
    return found


def _dummy(t: Any) -> Any:
    """Returns a dummy weight for the gradient of an output; None if it has no gradient."""
    if t.dtype is variant:
        return raw.ZerosLike(t) if isinstance(t._value, TensorList) else None
    return raw.OnesLike(t) if t.dtype.kind in "fc" else None  # not zeros, which some rules treat specially
