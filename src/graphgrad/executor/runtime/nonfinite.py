"""Locates infinities and NaNs: the operation that made the first one, its inputs and its line.

Nothing is added to the graph, and runs without the check only test a flag. A checked run is executed by the same
engine, with every floating tensor among its fetches, so the checked values are those that XLA computed. If a value is
not finite, the run fails, and variables and the positions of random operations are rolled back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphgrad.errors import InvalidArgumentError, describe
from graphgrad.executor.backend.xla import to_numpy
from graphgrad.executor.plan.dead_outputs import prune
from graphgrad.ir import eager
from graphgrad.ir.context import Inherited
from graphgrad.ir.dtypes import resource
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.shape import shape_str
from graphgrad.ir.source import user_source

from .nonfinite_in_subgraph import born_in
from .random_positions import RandomPositions

if TYPE_CHECKING:
    from .executable import Executable

RESULTS, EVERY_OP = 1, 2


class _State(Inherited):
    """What is checked in this thread's runs: nothing (0), their results, or the output of every op."""

    mode = 0


state = _State()


# -- switches --------------------------------------------------------------------------


def _switch(mode: int) -> None:
    state.mode = mode
    if mode and _look_at_eager_op not in eager.watchers:
        eager.watchers.append(_look_at_eager_op)


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Makes every run in this thread fail at the first op whose output holds an infinity or a NaN.

    Checks each op's output, in sessions, functions and eager mode, even if later ops would hide it; existing graphs are
    checked too, and none is changed. Ops that only move values are skipped. A run costs more time and memory, since all
    its tensors are kept. `locate_nonfinite` is cheaper.

    Args:
      stack_height_limit, path_length_limit: accepted as TensorFlow does; the error names one line for each op.
    Raises: nothing itself; runs then raise InvalidArgumentError, which names the op, its inputs' ranges, the op
      whose gradient it is, and the lines of both. Variables keep the values they had before the run.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.debugging.enable_check_numerics`, which adds ops to graphs built afterwards.

    >>> y = tf.math.log(tf.constant([1.0, 0.0]))
    >>> tf.debugging.enable_check_numerics()
    >>> sess.run(y)
    Traceback (most recent call last):
    graphgrad.errors.InvalidArgumentError: Log 'Log': Detected Infinity or NaN in output 0: ...
    >>> tf.debugging.disable_check_numerics()
    """
    _switch(EVERY_OP)


def disable_check_numerics() -> None:
    """Undoes `enable_check_numerics` in this thread.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.debugging.disable_check_numerics`.

    >>> tf.debugging.disable_check_numerics()
    """
    _switch(0)


class locate_nonfinite:  # called like a function
    """Makes runs whose results hold an infinity or a NaN fail with an error that names its origin.

    Runs are executed as usual, and their results (fetched values and assigned variables) are checked. If one is not
    finite, the run is repeated with all tensors kept, and the origin is found by going back from the result: the first
    op with finite inputs and a non-finite output. For gradients the error names the forward op too. A value that never
    reaches a result, such as the infinity in 1 / inf, is not an error.

    Takes effect at once, in this thread, and is undone at the end of a `with` block. A failed run leaves variables
    unchanged. Host functions (tf.py_function, tf.print) run twice in a run that fails.

    Args:
      enabled: whether to check.
    Raises: nothing itself; runs then raise InvalidArgumentError.
    Gradient: none; it builds nothing.
    Reference: graphgrad's own; like PyTorch's `detect_anomaly` and JAX's `jax_debug_nans`.

    >>> x = tf.constant([4.0, 0.0], name="x")
    >>> g = tf.gradients(tf.sqrt(x, name="r"), x, name="g")
    >>> with tf.locate_nonfinite():
    ...     sess.run(g)
    Traceback (most recent call last):
    graphgrad.errors.InvalidArgumentError: SqrtGrad 'g/r_grad/SqrtGrad': Detected Infinity or NaN in output 0: ...
    """

    def __init__(self, enabled: bool = True):
        self._before = state.mode
        _switch(RESULTS if enabled else 0)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        _switch(self._before)


# -- runs ------------------------------------------------------------------------------


def run(executable: Executable, feeds: Sequence[Any]) -> list[Any]:
    """Runs `executable` with the checks of the mode; raises InvalidArgumentError for a non-finite value.

    Args:
      executable: what to run.
      feeds: a value for each fed tensor.
    """
    # Copies: the executor may reuse the memory of replaced values.
    kept = [(c, None if c.value is None else np.array(c.value)) for c in _written(executable)]
    if state.mode == RESULTS:
        values = executable.run(feeds)
        if all(map(is_finite, values)) and all(is_finite(c.value) for c in _written(executable)):
            return values
        _set_back(executable, kept)
    values, found, tensors = _run_wide(executable, feeds)
    wide = executable.wide[0]
    spoilt = {id(c) for c in _written(wide) if not is_finite(c.value)}
    bad = _first_bad(found, tensors) if state.mode == EVERY_OP else _origin(found, executable)
    if bad is None and state.mode == EVERY_OP and not spoilt:
        return values
    _set_back(wide, kept)
    raise _worded_for(executable, feeds, found, bad, spoilt)


def _run_wide(executable: Executable, feeds: Sequence[Any]) -> tuple[list[Any], _Values, list[Tensor]]:
    """Runs with all tensors kept.

    Returns: the values of the fetches, of all tensors, and these tensors in the order in which they are looked at.
    """
    fetches, _, given, _ = executable._request
    wide, tensors = executable.wide = executable.wide or _widen(executable)
    everything = list(map(to_numpy, wide.run(feeds)))
    by_id = dict(zip(map(id, tensors), everything[len(fetches) :], strict=True))
    by_id.update(zip(map(id, given), feeds, strict=True))
    return everything[: len(fetches)], _Values(by_id), [*given, *tensors]


def _worded_for(executable: Executable, feeds: Sequence[Any], found: _Values, bad: Tensor | None,
                spoilt: set[int]) -> InvalidArgumentError:
    """Returns the error for a run.

    Args:
      executable, feeds: those of the run.
      found: the values of all tensors.
      bad: the tensor that is to blame, or None.
      spoilt: ids of the variables that were not finite in the end.
    """
    fetches, targets, given, resolve = executable._request
    if bad is not None and (bad.op.opdef.variable != "read" or not is_finite(resolve(bad.op.inputs[0]).value)):
        return _error(bad, found, _inside(executable, bad.op, feeds))
    # All tensors are finite, or a variable was finite before the run: an assignment is the origin.
    for op in reversed(prune(fetches, targets, given)):
        handle = next((t for t in op.inputs if t.dtype is resource), None)
        if handle is not None and "reads" not in op.opdef.flags and id(resolve(handle)) in spoilt:
            return _assignment_error(op, handle, found)
    return _vanished(fetches)


def is_finite(value: Any) -> bool:
    """Returns whether a value holds no infinity and no NaN; true for all but floating values."""
    value = to_numpy(value)
    return value is None or getattr(value, "dtype", None) is None or bool(_finite(np.asarray(value)).all())


def _finite(array: Any) -> Any:
    kind = array.dtype.kind
    if kind in "fc":
        return np.isfinite(array)
    if kind == "V":  # bfloat16 and its like
        return np.isfinite(array.astype(np.float32))
    return np.True_


def _written(executable: Executable) -> list[Any]:
    return [cell for _, cell in executable.plan.stores]


def _set_back(executable: Executable, kept: list[Any]) -> None:
    """Undoes a run that succeeded."""
    for cell, value in kept:
        cell.value = value
    executable.positions.set_back(executable.plan)


def _widen(executable: Executable) -> tuple[Executable, list[Tensor]]:
    """Returns the same run with every floating tensor among its fetches, and these tensors."""
    fetches, targets, given, resolve = executable._request
    fed = {id(t) for t in given}
    tensors = [t for op in prune(fetches, targets, given) for t in op.outputs if t.dtype.kind in "fc"
               and id(t) not in fed]
    wide = type(executable)([*fetches, *tensors], targets, given, resolve, executable.positions, executable._engine,
                            executable._place)
    return wide, tensors


class _Values:
    """The values of tensors in a run, by the tensors' ids."""

    def __init__(self, values: dict[int, Any]):
        self._values = values
        self._known: dict[int, bool] = {}

    def get(self, t: Tensor) -> Any:
        """Returns the value, or None if it was not kept."""
        return self._values.get(id(t))

    def is_finite(self, t: Tensor) -> bool:
        """Returns whether the value is finite, as far as it is known."""
        known = self._known.get(id(t))
        if known is None:
            known = self._known[id(t)] = is_finite(self._values.get(id(t)))
        return known


def _first_bad(values: _Values, tensors: Sequence[Tensor]) -> Tensor | None:
    """Finds the first tensor, in creation order, with an infinity or a NaN that its op did not merely move."""
    return next((t for t in tensors if not t.op.opdef.data_movement and not values.is_finite(t)), None)


def _origin(values: _Values, executable: Executable) -> Tensor | None:
    """Finds the origin of a non-finite result: a non-finite tensor computed from finite inputs."""
    fetches, targets, _, _ = executable._request
    seen: set[int] = set()
    origins = []
    stack = [t for t in fetches if not values.is_finite(t)]
    if not stack:  # an assigned variable
        stack = [t for op in targets for t in _assigned(op) if not values.is_finite(t)]
    while stack:
        t = stack.pop()
        if id(t) in seen:
            continue
        seen.add(id(t))
        before = [i for i in t.op.inputs if not values.is_finite(i)]
        stack += before
        if not before:
            origins.append(t)
    return min(origins, key=_index, default=None)


def _index(t: Tensor) -> int:
    return t.op.index


def _assigned(target: Operation) -> Iterator[Tensor]:
    """Yields the inputs of the operations with effects that a target waits for."""
    for op in prune([], [target], []):
        if "stateful" in op.opdef.flags:
            yield from op.inputs


# -- messages --------------------------------------------------------------------------


def _inside(executable: Executable, op: Operation, feeds: Sequence[Any]) -> str:
    """Describes where in a loop or branch a value stopped being finite; empty for other operations."""
    if op.type not in ("If", "While"):
        return ""
    _, _, given, resolve = executable._request
    cells = [resolve(t) if t.dtype is resource else None for t in op.inputs]
    wanted = [t for t in op.inputs if t.dtype is not resource]
    try:
        run = type(executable)(wanted, [], given, resolve, RandomPositions(), "numpy")
        values = iter(run.run(feeds, store=False))
        inputs = [None if c is not None else next(values) for c in cells]
        found = born_in(op, inputs, cells, type(executable), is_finite)
    except Exception:  # the run has failed already: this only adds details
        return ""
    if found is None:
        return ""
    where, t = found
    if t.op.opdef.tensor_list == "get" and op._original_op is not None:  # computed by the forward loop
        return _inside(executable, op._original_op, feeds)
    return f"\n  Born {where}, at {t.op.type} '{t.op.name}', output {t.value_index}, built at {t.op.source}"


def _error(t: Tensor, values: _Values, inside: str = "") -> InvalidArgumentError:
    op = t.op
    inputs = [i for i in op.inputs if i.dtype.kind in "fc"]
    if inputs:
        whence = "its inputs are finite" if all(map(values.is_finite, inputs)) else "inputs of it are not finite either"
    elif op.opdef.variable == "read":
        whence = "the variable held it before"
    else:
        whence = "it was fed" if op.opdef.placeholder else "it has no floating inputs"
    problem = f"Detected Infinity or NaN in output {t.value_index}: {_count(values.get(t))}; {whence}"
    return _worded(op, problem, values, inside)


def _worded(op: Operation, problem: str, values: _Values, inside: str = "") -> InvalidArgumentError:
    """Composes the message for an operation, with the forward operations whose gradient it is."""
    text = describe(op.type, op.name, problem, _ranges(op, values), str(op.source or "")) + inside
    remedy = None
    forward = op._original_op
    while forward is not None:
        ranges = _ranges(forward, values)
        text += f"\n  It is part of the gradient of {forward.type} '{forward.name}'{' with ' * bool(ranges)}{ranges}."
        text += f"\n  Built at {forward.source}"
        remedy = forward.opdef.finite_advice or remedy
        forward = forward._original_op
    return InvalidArgumentError(op.node_def, op, f"{text}\n  Fix: {remedy or op.opdef.finite_advice or _LOOK}")


def _assignment_error(op: Operation, handle: Tensor, values: _Values) -> InvalidArgumentError:
    problem = f"Detected Infinity or NaN in variable '{handle.op.name}' after it; its inputs are finite"
    return _worded(op, problem, values)


def _vanished(fetches: Sequence[Tensor]) -> InvalidArgumentError:
    op = fetches[0].op if fetches else None
    names = ", ".join(t.name for t in fetches[:6])
    return InvalidArgumentError(op.node_def if op else None, op, (
        f"Detected Infinity or NaN in the results ({names}), but not when the run was repeated with all tensors kept: "
        "it depends on how operations are fused.\n  Fix: keep values further away from the limits of their dtype"
    ))


_LOOK = "look at the ranges above, and keep the op's inputs where its value and its slope are finite"


def _count(value: Any) -> str:
    """Describes how many elements are not finite, of which kind, and where the first is."""
    array = np.asarray(value)
    if array.dtype.kind == "V":
        array = array.astype(np.float32)
    nans = int(np.isnan(array).sum())
    real = array.real
    kinds = [(nans, "NaN"), (int((real == np.inf).sum()), "Inf"), (int((real == -np.inf).sum()), "-Inf")]
    told = " and ".join(f"{n} {word}" for n, word in kinds if n)
    where = np.argwhere(~np.isfinite(array))
    first = f", the first at {where[0].tolist()}" if array.ndim and len(where) else ""
    return f"{told or 'a value that is not finite'} among {array.size} element{'s' * (array.size != 1)}{first}"


def _ranges(op: Operation, values: _Values) -> str:
    """Describes the inputs of an operation with dtypes, shapes and, where they were kept, ranges."""
    names = op.opdef.input_names(len(op.inputs))
    pairs = zip(names, op.inputs, strict=False)
    return ", ".join(f"{name}={i.dtype.name} {_range(i, values.get(i))}" for name, i in pairs)


def _range(t: Tensor, value: Any) -> str:
    if value is None or t.dtype.kind not in "fc":
        return shape_str(t._spec.shape)
    array = np.asarray(value)
    if array.dtype.kind == "V":
        array = array.astype(np.float32)
    magnitude = np.abs(array) if array.dtype.kind == "c" else array
    good = magnitude[np.isfinite(magnitude)]
    bad = magnitude.size - good.size
    text = shape_str(array.shape)
    if good.size:
        text += f" from {good.min():.6g} to {good.max():.6g}" + " in magnitude" * (array.dtype.kind == "c")
    return text + (f" and {bad} not finite" if bad else "")


# -- eager mode ------------------------------------------------------------------------


def _look_at_eager_op(opdef: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Checks the output of an op in eager mode."""
    if not state.mode or opdef.data_movement:
        return
    for position, t in enumerate(outputs):
        if t.dtype.kind in "fc" and not is_finite(t._value):
            ranges = ", ".join(f"{n}={i.dtype.name} {_range(i, i._value)}" for n, i in
                               zip(opdef.input_names(len(inputs)), inputs, strict=False))
            problem = f"Detected Infinity or NaN in output {position} of an op run eagerly: {_count(t._value)}"
            fix = opdef.finite_advice or _LOOK
            text = describe(opdef.name, "", problem, ranges, str(user_source(2) or ""), fix)
            raise InvalidArgumentError(None, None, text)
