"""`GradientTape`: differentiating what runs in eager mode, by the same op records and rules."""

from __future__ import annotations

from typing import Any

from ..gradients.arguments import align_grad_ys
from ..gradients.backprop import gradients
from ..gradients.higher import (
    batch_jacobian,
    check_batches,
    checked_chunk,
    finish_batch_jacobian,
    finish_jacobian,
    jacobian,
    one_hot_like,
    value_shape,
    zero_batch_jacobian,
    zero_jacobian,
)
from ..gradients.registry import gradient_function
from ..gradients.unconnected import UnconnectedGradients
from ..gradients.vectorize import MapBody
from ..ir import composed, eager
from ..ir.context import current_graph, use
from ..ir.convert import convert_to_tensor
from ..ir.dtypes import resource, variant
from ..ir.eager import EagerTensor
from ..ir.graph import Tensor
from ..ir.opdef import NOT_DIFFERENTIABLE, OpDef, raw
from ..ir.slices import IndexedSlices
from ..ir.source import user_source
from . import functional as functional  # eager mode runs the maps of Jacobians by it
from . import nest


class Record:
    """One op that ran: what a gradient rule needs to know of an operation."""

    __slots__ = ("opdef", "inputs", "outputs", "attrs", "_gradient")

    def __init__(self, opdef: OpDef, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: dict[str, Any],
                 gradient: Any):  # fmt: skip
        self.opdef = opdef
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs
        self._gradient = gradient

    name = property(lambda self: self.opdef.name)
    type = property(lambda self: self.opdef.name)
    source = None

    def get_attr(self, name: str) -> Any:
        """The value of an attribute as TensorFlow gives it."""
        from ..ir.graphdef import attribute

        return attribute(self, name)

    def _attr(self, name: str) -> Any:
        """The value of an attribute as rules take it."""
        return self.attrs[name] if name in self.attrs else self.opdef.attrs[name]


class GradientTape:
    """Records what runs in a `with` block, and differentiates it.

    Args:
      persistent: whether `gradient` can be called more than once.
      watch_accessed_variables: whether trainable variables that are read are watched.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> sess.run(tape.gradient(y, x))
    np.float32(6.0)
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True):
        self._persistent = persistent
        self._watch_variables = watch_accessed_variables
        self._recording = self._entered = False
        self._used = False
        self._records: list[Record] = []
        self._watched: dict[int, Any] = {}  # id -> tensor that depends on something watched
        self._variables: dict[int, Any] = {}

    def __enter__(self) -> GradientTape:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._recording:
            self._stop()

    def _start(self) -> None:
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        self._recording = self._entered = True
        eager.recorders.append(self._record)

    def _stop(self) -> None:
        self._recording = False
        eager.recorders.remove(self._record)

    def _record(self, opdef: OpDef, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: dict[str, Any],
                gradient: Any = None) -> None:  # fmt: skip
        watched = self._watched
        for t in inputs:
            if t.dtype is resource and self._watch_variables and id(t) not in watched:
                variable = getattr(t, "_variable", None)
                if variable is not None and variable.trainable:
                    self.watch(variable)
        if any(id(t) in watched for t in inputs):
            self._records.append(Record(opdef, inputs, outputs, attrs, gradient))
            for t in outputs:
                if t.dtype.kind in "fc" or t.dtype is variant:
                    watched[id(t)] = t

    def watch(self, tensor: Any) -> None:
        """Differentiates with respect to `tensor` (or each tensor or variable of a structure)."""
        for t in nest.flatten(tensor):
            handle = getattr(t, "handle", None)
            if handle is not None:
                self._variables[id(t)] = t
                t = handle
            elif not isinstance(t, (EagerTensor, Tensor)):
                raise ValueError(f"Passed in object {t!r} of type '{type(t).__name__}', not tf.Tensor or tf.Variable.")
            self._watched[id(t)] = t

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that are watched, in the order in which they came up."""
        return tuple(self._variables.values())

    def stop_recording(self) -> Any:
        """A `with` block in which nothing is recorded."""
        return _Paused(self)

    def reset(self) -> None:
        """Forgets everything that was recorded."""
        self._records.clear()
        self._watched.clear()
        self._variables.clear()
        self._used = False

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:  # fmt: skip
        """The derivative of the sum of targets with respect to each source.

        Args:
          target: a tensor or a structure of them.
          sources: a tensor or variable, or a structure of them.
          output_gradients: for each target a tensor that its derivative is multiplied by.
          unconnected_gradients: 'none' or 'zero', for sources that do not matter.
        Returns: the structure of `sources`, with a tensor, `IndexedSlices` or None for each.
        Raises: RuntimeError if a tape that is not persistent is used twice; LookupError if an
          op in between has no gradient.
        """
        unconnected = UnconnectedGradients(unconnected_gradients)
        self._use()
        targets = _checked_targets(target)
        _check_sources(sources)
        outputs = align_grad_ys(target, output_gradients, len(targets))
        if current_graph() is not None:
            found = gradients(targets, nest.flatten(sources), outputs, unconnected_gradients=unconnected)
            return nest.pack_sequence_as(sources, found)
        targets = [convert_to_tensor(t) for t in targets]
        flat = [getattr(s, "handle", s) for s in nest.flatten(sources)]
        arrived = self._sweep(targets, outputs, {id(s) for s in flat})
        found = [self._result(arrived, s, unconnected) for s in flat]
        if not self._persistent:
            self._records.clear()
        return nest.pack_sequence_as(sources, found)

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> Any:  # fmt: skip
        """The derivative of each element of the target with respect to each element of each source.

        Args:
          target: a tensor (*Y).
          sources: a tensor or variable (*X), or a structure of them.
          unconnected_gradients: 'none' or 'zero', for sources that do not matter.
          parallel_iterations: how many rows are computed at a time, which bounds the memory; all by default.
          experimental_use_pfor: whether rows are computed together; if not, one after another.
        Returns: the structure of `sources`, with a tensor (*Y, *X) or None for each.
        Raises: RuntimeError if a tape that is not persistent is used twice, or without `experimental_use_pfor`;
          LookupError if an op in between has no gradient.
        """
        unconnected = UnconnectedGradients(unconnected_gradients)
        chunk = self._use_for_rows(experimental_use_pfor, parallel_iterations)
        if current_graph() is not None:
            return jacobian(target, sources, True, chunk, unconnected)
        flat = [getattr(s, "handle", s) for s in nest.flatten(sources)]
        target = convert_to_tensor(target)
        body, found = self._row(target, flat, False)
        found = finish_jacobian(target, body, found, chunk)
        if unconnected is UnconnectedGradients.ZERO:
            found = [zero_jacobian(target, _value(x)) if j is None else j for j, x in zip(found, flat, strict=True)]
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                       parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> Any:  # fmt: skip
        """The Jacobian of each example of a batch: of `target[i]` with respect to `source[i]`.

        Args:
          target: a tensor (b, *Y); `target[i]` depends on no other example than `source[i]`.
          source: a tensor (b, *X).
          unconnected_gradients: 'none' or 'zero'; zeros stand for a source that does not matter in either case.
          parallel_iterations, experimental_use_pfor: as in `jacobian`.
        Returns: a tensor (b, *Y, *X).
        Raises: ValueError for fewer than two dimensions, and if the batches differ in size; else as `jacobian`.
        """
        UnconnectedGradients(unconnected_gradients)
        target = convert_to_tensor(target)
        source = getattr(source, "handle", source)
        check_batches(target._spec.shape, value_shape(source))
        chunk = self._use_for_rows(experimental_use_pfor, parallel_iterations)
        if current_graph() is not None:
            return batch_jacobian(target, source, True, chunk, UnconnectedGradients.ZERO)
        body, (found,) = self._row(target, [source], True)
        if found is None:
            return zero_batch_jacobian(target, _value(source))
        body.outputs = [body.own(found)]
        return finish_batch_jacobian(target, source, body, chunk)

    def _use(self) -> None:
        """Notes that a gradient is asked for, and checks that it may be."""
        if self._used and not self._persistent:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians). Fix: tf.GradientTape(persistent=True)"
            )
        if self._recording and not self._persistent:
            self._stop()
        self._used = True

    def _use_for_rows(self, use_pfor: bool, parallel_iterations: Any) -> int | None:
        if not (use_pfor or self._persistent or current_graph() is not None):
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the jacobian with eager execution "
                "enabled and with experimental_use_pfor set to False. Fix: leave experimental_use_pfor True"
            )
        chunk = checked_chunk(use_pfor, parallel_iterations)
        self._use()
        return chunk

    def _row(self, target: Any, sources: list[Any], batched: bool) -> tuple[MapBody, list[Any]]:
        """The body of a map over the elements of the target, and the gradients of one of them in it."""
        body = MapBody("jacobian_row")
        with use(body):
            seed = one_hot_like(body, target, batched)
            arrived = self._sweep([target], [seed], {id(s) for s in sources})
            found = [self._result(arrived, s, UnconnectedGradients.NONE) for s in sources]
        if not self._persistent:
            self._records.clear()
        return body, found

    def _sweep(self, targets: list[Any], outputs: list[Any], wanted: set[int]) -> dict[int, list[Any]]:
        arrived: dict[int, list[Any]] = {}
        for t, g in zip(targets, outputs, strict=True):
            if id(t) in self._watched:
                arrived.setdefault(id(t), []).append(raw.OnesLike(t) if g is None else convert_to_tensor(g, t.dtype))
        for record in reversed(list(self._records)):
            terms = [arrived.get(id(t), []) if id(t) in wanted else arrived.pop(id(t), []) for t in record.outputs]
            if not any(terms):
                continue
            rule = gradient_function(record)  # type: ignore[arg-type]  # a record stands for an operation
            if rule is NOT_DIFFERENTIABLE:
                continue
            if rule is None:
                raise LookupError(
                    f"No gradient defined for operation '{record.name}' (op type: {record.type}). "
                    f"Fix: register one with @tf.RegisterGradient('{record.type}')"
                )
            dys = [_total(g) if g else raw.ZerosLike(t) if t.dtype.kind in "fc" else None
                   for g, t in zip(terms, record.outputs, strict=True)]  # fmt: skip
            in_grads = rule(record, *dys)
            if not isinstance(in_grads, (list, tuple)):
                in_grads = (in_grads,)
            for t, g in zip(record.inputs, in_grads, strict=True):
                if g is not None and id(t) in self._watched:
                    arrived.setdefault(id(t), []).append(g)
        return arrived

    def _result(self, arrived: dict[int, list[Any]], source: Any, unconnected: UnconnectedGradients) -> Any:
        terms = arrived.get(id(source))
        if terms:
            return _total(terms)
        if unconnected is UnconnectedGradients.NONE:
            return None
        return raw.ZerosLike(_value(source))


def _checked_targets(target: Any) -> list[Any]:
    if target is None:
        raise TypeError("Argument `target` should be a list or nested structure of Tensors, Variables or "
                        "CompositeTensors to be differentiated, but received None. Fix: give what to differentiate")
    targets: list[Any] = nest.flatten(target)
    return targets


def _check_sources(sources: Any) -> None:
    for s in nest.flatten(sources):
        if s is None or isinstance(s, (bool, int, float, complex, str, bytes)):
            raise TypeError(
                f"a tape differentiates with respect to tensors and variables, not {s!r}.\n"
                f"  Asked for at {user_source(2)}\n  Fix: tape.watch(tensor), and give that tensor"
            )


def _value(source: Any) -> Any:
    """A source itself, or the value of the variable whose handle it is."""
    variable = getattr(source, "_variable", None)
    return source if variable is None else variable.read_value()


def _total(terms: list[Any]) -> Any:
    if len(terms) == 1:
        return terms[0]
    if all(isinstance(t, IndexedSlices) for t in terms):
        return IndexedSlices(raw.ConcatV2([t.values for t in terms], 0), raw.ConcatV2([t.indices for t in terms], 0),
                             terms[0].dense_shape)  # fmt: skip
    return raw.AddN([t._as_tensor() if isinstance(t, IndexedSlices) else t for t in terms])


class _Paused:
    def __init__(self, tape: GradientTape):
        self._tape = tape

    def __enter__(self) -> None:
        if not self._tape._recording:
            if not self._tape._entered:
                raise RuntimeError("Trying to stop recording a tape which is not recording. Fix: `with tape:` first")
            raise ValueError("Tape is not recording. Fix: stop it inside of its `with` block")
        self._tape._stop()

    def __exit__(self, *_: object) -> None:
        self._tape._start()


def recording() -> bool:
    """Whether a tape is recording in eager mode."""
    return bool(eager.recorders)


def _vjp(function: Any, xs: Any, dys: Any) -> list[Any]:
    """A rule by composition in eager mode; tapes that record see the operations of both directions."""
    inputs = [raw.Identity(x) for x in xs]
    with GradientTape() as tape:
        tape.watch([x for x in inputs if x.dtype.is_differentiable])
        ys = function(*inputs)
    pairs = [(y, dy) for y, dy in zip(ys, dys, strict=True) if dy is not None]
    found = tape.gradient([y for y, _ in pairs], inputs, [dy for _, dy in pairs]) if pairs else [None] * len(inputs)
    return [g._as_tensor() if isinstance(g, IndexedSlices) else g for g in found]


composed.differentiate[True] = _vjp
