"""`GradientTape`: differentiates recorded operations.

In eager mode a tape keeps records of what ran; while a graph is built, the operations that are added. Both are one
`Recording`, and what differentiates it are the op records' rules.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, overload

from graphgrad.frontend.control_flow import (
    eager_subgraphs as eager_subgraphs,  # used by eager mode for the maps of Jacobians
)
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.structure_types import S
from graphgrad.gradients.control_flow.vectorized_map_gradient import MapBody
from graphgrad.gradients.core import strictness
from graphgrad.gradients.core.arguments import align_grad_ys
from graphgrad.gradients.core.unconnected import UnconnectedGradients, policy
from graphgrad.gradients.core.value_shapes import check_batches, value_shape
from graphgrad.gradients.derived.batched import finish_batch_jacobian, zero_batch_jacobian
from graphgrad.gradients.derived.higher import checked_chunk, finish_jacobian, one_hot_like, zero_jacobian
from graphgrad.ir import eager, rule_by_composition
from graphgrad.ir import graph as ir_graph
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import OpDef, raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.tensor import TensorOperators
from graphgrad.ir.values.composite import Composite, gradient_parts, parts_of_gradient, with_gradient_parts
from graphgrad.ir.values.indexed_slices import dense

from .tape_recording import Record, Recording, unrecorded, value_of

# The tapes that are recording, of all threads.
_recording: list[GradientTape] = []


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
        self._recorded = Recording(watch_accessed_variables)
        self._thread = 0

    def __enter__(self) -> GradientTape:
        if self._used and not self._persistent:
            self._recorded, self._used = Recording(self._watch_variables), False
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._recording:
            self._stop()

    def _start(self) -> None:
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        self._recording = self._entered = True
        self._thread = threading.get_ident()
        _recording.append(self)
        eager.listening.recorders.append(self._record)
        if self._persistent:
            eager.persistent.append(self._record)
        ir_graph.listening.recorders.append(self._record_operation)
        ir_graph.listening.unaware.append(self._is_unaware)

    def _stop(self) -> None:
        self._recording = False
        _recording.remove(self)
        if self._persistent:
            eager.persistent.remove(self._record)
        if self._record in eager.listening.recorders:  # otherwise another thread stops it
            eager.listening.recorders.remove(self._record)
            ir_graph.listening.recorders.remove(self._record_operation)
            ir_graph.listening.unaware.remove(self._is_unaware)

    def _record(self, opdef: OpDef, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: dict[str, Any],
                gradient: Any = None) -> None:
        if self._thread == threading.get_ident():
            self._recorded.note(Record(opdef, inputs, outputs, attrs, gradient))

    def _record_operation(self, op: Operation) -> None:
        if op.inputs and self._thread == threading.get_ident():
            forward = ir_graph.listening.repeated
            if forward is None or not self._is_unaware(forward):
                self._recorded.note(op)
                if self._persistent and op.type == "If" and self._recorded.has(op):
                    op.graph._notes.persistent.add(op.index)

    def _is_unaware(self, op: Operation) -> bool:
        return not self._recorded.has(op)

    def watch(self, tensor: Any) -> None:
        """Differentiates with respect to `tensor` (or each tensor or variable of a structure).

        It counts from now on, and only where a tape is recording.

        Raises: ValueError for anything else; RuntimeError before the tape's `with` block.
        """
        if not self._entered:
            raise RuntimeError("A tape watches what happens inside of its `with` block, and that has not begun. "
                               "Fix: with tape: tape.watch(tensor)")
        thread = threading.get_ident()
        for leaf in nest.flatten(tensor):
            variable = None if getattr(leaf, "handle", None) is None else leaf
            parts = leaf._parts() if isinstance(leaf, Composite) else [leaf if variable is None else leaf.handle]
            for t in parts:
                if not isinstance(t, (EagerTensor, Tensor)):
                    raise ValueError(f"Passed in object {leaf!r} of type '{type(leaf).__name__}', not tf.Tensor or "
                                     "tf.Variable or ExtensionType. Fix: tf.constant(...)")
                if any(tape._thread == thread for tape in _recording):
                    self._recorded.watch(t, variable)

    def watched_variables(self) -> tuple[Any, ...]:
        """Returns the watched variables, in creation order."""
        return tuple(sorted(self._recorded.variables.values(), key=_number))

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Suspends recording in a `with` block.

        Raises: RuntimeError before the tape's `with` block, or if it is used up; ValueError if it records no more.
        """
        if not self._entered or (self._used and not self._persistent):
            raise RuntimeError("Trying to stop recording a tape which is not recording. Fix: `with tape:` first")
        self._must_record("stop it")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        """Clears all records and watched tensors.

        Raises: ValueError if the tape does not record.
        """
        self._must_record("reset it")
        self._recorded = Recording(self._watch_variables)
        self._used = False

    def _must_record(self, what: str) -> None:
        if not self._recording:
            raise ValueError(f"Tape is not recording. Fix: {what} inside of its `with` block")

    @overload
    def gradient(self, target: Any, sources: TensorOperators, output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> AnyTensor | Any: ...
    @overload
    def gradient(self, target: Any, sources: list[Any], output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> list[AnyTensor | Any]: ...
    @overload
    def gradient(self, target: Any, sources: tuple[Any, ...], output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> tuple[AnyTensor | Any, ...]: ...
    @overload
    def gradient(self, target: Any, sources: dict[S, Any], output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> dict[S, AnyTensor | Any]: ...
    @overload
    def gradient(self, target: Any, sources: Any, output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any: ...
    def gradient(self, target: Any, sources: Any, output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Computes the derivative of the sum of targets with respect to each source.

        Args:
          target: a tensor or a structure of them.
          sources: a tensor or variable, or a structure of them.
          output_gradients: for each target a tensor that its derivative is multiplied by.
          unconnected_gradients: 'none' or 'zero', for sources that do not matter.
        Returns: the structure of `sources`, with a tensor, `IndexedSlices` or None for each.
        Raises: RuntimeError if a tape that is not persistent is used twice; LookupError if an
          op in between has no gradient.
        """
        unconnected = policy(unconnected_gradients)
        self._use()
        targets = _checked_targets(target)
        leaves = nest.flatten(sources)
        _check_sources(leaves)
        ys = nest.flatten(target)
        given = align_grad_ys(target, output_gradients, len(ys))
        outputs = [t for y, g in zip(ys, given, strict=True) for t in parts_of_gradient(y, g)]
        flat = [t for s in leaves for t in _components(s)]
        with _graph_of(targets):
            seeds = self._recorded.seeds(targets, outputs, flat)
            found = self._recorded.sweep(seeds, flat)
            found = self._finished(targets, flat, found, unconnected)
        return nest.pack_sequence_as(sources, with_gradient_parts(leaves, found))

    def _finished(self, targets: list[Any], sources: list[Any], found: list[Any],
                  unconnected: UnconnectedGradients) -> list[Any]:
        """Returns the results for the sources, and releases a tape that is not persistent."""
        if not self._persistent:
            self._recorded.drop_records()
        if unconnected is UnconnectedGradients.ZERO:
            with unrecorded() if current_graph() is not None else contextlib.nullcontext():  # as in TensorFlow
                return [raw.ZerosLike(value_of(s)) if g is None else g for s, g in zip(sources, found, strict=True)]
        if strictness.is_on() and any(g is None for g in found):
            missing = next(s for s, g in zip(sources, found, strict=True) if g is None)
            graphs = {getattr(t, "graph", None) for t in (*targets, missing)}
            if self._recorded.recorded(missing) and graphs == {current_graph()}:
                strictness.check(targets, sources, found, [], unconnected)
            raise ValueError(
                f"The gradient of {targets} with respect to {missing} is None: between them the tape has recorded "
                f"nothing.\n  Asked for at {user_source(2)}\n  Fix: watch it before it is used, inside of the `with` "
                "block\n(strict_gradients is on: None is an error)"
            )
        return found

    @overload
    def jacobian(self, target: Any, sources: TensorOperators, unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> AnyTensor | Any: ...
    @overload
    def jacobian(self, target: Any, sources: list[Any], unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> list[AnyTensor | Any]: ...
    @overload
    def jacobian(self, target: Any, sources: tuple[Any, ...], unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: Any = None,
                 experimental_use_pfor: bool = True) -> tuple[AnyTensor | Any, ...]: ...
    @overload
    def jacobian(self, target: Any, sources: dict[S, Any], unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> dict[S, AnyTensor | Any]: ...
    @overload
    def jacobian(self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> Any: ...
    def jacobian(self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> Any:
        """Computes the derivative of each element of the target with respect to each element of each source.

        Args:
          target: a tensor (*Y).
          sources: a tensor or variable (*X), or a structure of them.
          unconnected_gradients: 'none' or 'zero', for sources that do not matter.
          parallel_iterations: the number of rows computed at a time, which bounds the memory; all by default.
          experimental_use_pfor: whether rows are computed together; if not, one after another.
        Returns: the structure of `sources`, with a tensor (*Y, *X) or None for each.
        Raises: RuntimeError if a tape that is not persistent is used twice, or without `experimental_use_pfor`;
          LookupError if an op in between has no gradient.
        """
        unconnected = policy(unconnected_gradients)
        chunk = self._use_for_rows(experimental_use_pfor, parallel_iterations)
        (wanted,) = _checked_targets([target])
        flat = [t for s in nest.flatten(sources) for t in _components(s)]
        with _graph_of([wanted]):
            body, found = self._row(wanted, flat, False)
            y = value_of(wanted)
            found = finish_jacobian(y, body, found, chunk)
            if unconnected is UnconnectedGradients.ZERO:
                found = [zero_jacobian(y, value_of(x)) if j is None else j for j, x in zip(found, flat, strict=True)]
            found = self._finished([wanted], flat, found, UnconnectedGradients.NONE)
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                       parallel_iterations: Any = None, experimental_use_pfor: bool = True) -> AnyTensor | Any:
        """Computes the Jacobian of each example of a batch: of `target[i]` with respect to `source[i]`.

        Args:
          target: a tensor (b, *Y); `target[i]` depends on no other example than `source[i]`.
          source: a tensor (b, *X).
          unconnected_gradients: 'none' or 'zero'; a source without influence gets zeros in either case.
          parallel_iterations, experimental_use_pfor: as in `jacobian`.
        Returns: a tensor (b, *Y, *X).
        Raises: ValueError for fewer than two dimensions, and if the batches differ in size; else as `jacobian`.
        """
        policy(unconnected_gradients)
        (wanted,) = _checked_targets([target])
        (source,) = _components(source)
        check_batches(value_shape(wanted), value_shape(source))
        chunk = self._use_for_rows(experimental_use_pfor, parallel_iterations)
        with _graph_of([wanted]):
            body, (found,) = self._row(wanted, [source], True)
            self._finished([], [], [], UnconnectedGradients.NONE)
            target = value_of(wanted)
            if found is None:
                return zero_batch_jacobian(target, value_of(source))
            body.outputs = [body.own(found)]
            return finish_batch_jacobian(target, source, body, chunk)

    def _use(self) -> None:
        """Notes the use of the tape, and checks that it is allowed."""
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
        """Builds the body of a map over the elements of the target, with the gradients of one of them."""
        body, value = MapBody("jacobian_row", current_graph()), value_of(target)
        with use(body):
            seed = one_hot_like(body, value, batched)
            seeds = [(target, seed)] if self._recorded.recorded(target) else []
            return body, self._recorded.sweep(seeds, sources)


def _checked_targets(target: Any) -> list[Any]:
    """Returns the tensors of the targets, and the handles of variables among them."""
    if target is None:
        raise TypeError("Argument `target` should be a list or nested structure of Tensors, Variables or "
                        "CompositeTensors to be differentiated, but received None. Fix: give what to differentiate")
    targets = nest.flatten(target)
    for t in targets:
        if _is_plain(t):
            raise TypeError(
                f"a tape differentiates tensors and variables, not {t!r}.\n  Asked for at {user_source(2)}\n"
                "  Fix: give the tensor that was computed in the `with` block"
            )
    return [convert_to_tensor(t) for leaf in targets for t in _components(leaf)]


def _check_sources(sources: list[Any]) -> None:
    for s in sources:
        if _is_plain(s):
            raise TypeError(
                f"a tape differentiates with respect to tensors and variables, not {s!r}.\n"
                f"  Asked for at {user_source(2)}\n  Fix: tape.watch(tensor), and give that tensor"
            )


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes))


def _components(leaf: Any) -> list[Any]:
    """Returns the tensors of a leaf to which gradients refer: a variable's handle, the values of a composite."""
    handle = getattr(leaf, "handle", None)
    return gradient_parts(leaf) if handle is None else [handle]


def _graph_of(targets: list[Any]) -> Any:
    """Enters the graph to which gradients are added: the current one, or that of the targets."""
    current = current_graph()
    graphs = {t.graph for t in targets if isinstance(t, Tensor)}
    if len(graphs) == 1 and (current is None or not current.building_function):
        return use(graphs.pop())
    return contextlib.nullcontext()


def _number(variable: Any) -> int:
    number: int = getattr(variable, "_number", 0)
    return number


def _vjp(function: Any, xs: Any, dys: Any) -> list[Any]:
    """Applies a rule by composition in eager mode; tapes record the operations of both directions."""
    inputs = [raw.Identity(x) for x in xs]
    with GradientTape() as tape:
        tape.watch([x for x in inputs if x.dtype.is_differentiable])
        ys = function(*inputs)
    pairs = [(y, dy) for y, dy in zip(ys, dys, strict=True) if dy is not None]
    found = tape.gradient([y for y, _ in pairs], inputs, [dy for _, dy in pairs]) if pairs else [None] * len(inputs)
    return list(map(dense, found))


rule_by_composition.differentiate[True] = _vjp
