"""`custom_gradient`: attaches a gradient function to a Python function."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from graphgrad.ir import eager
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import resource
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.values.composite import Composite, is_of_parts, parts_of_gradient, with_gradient_parts

from .outer_graphs import open_entrances

P = ParamSpec("P")
R = TypeVar("R")


@overload
def custom_gradient(f: None = None) -> Callable[[Callable[P, tuple[R, Any]]], Callable[P, R]]: ...
@overload
def custom_gradient(f: Callable[P, tuple[R, Any]]) -> Callable[P, R]: ...
def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Gives a function its own gradient; a decorator.

    Args:
      f: takes tensors and returns `(result, grad_fn)`: the result is a tensor or a list of
        them, and `grad_fn(*dys)` returns one gradient for each argument of `f`. If `f` uses
        variables, `grad_fn` takes `variables=` too and returns a pair: the gradients of the
        arguments and the list of those of the variables. It may be a method: the object does not count as an argument.
    Returns: the function, whose result has the gradient that `grad_fn` computes.
    Raises: TypeError if `f` uses variables and `grad_fn` takes none; ValueError, in
      `gradients`, for a wrong number of gradients.
    Gradient: the operations that `grad_fn` adds can be differentiated.
    Reference: TensorFlow 2.21 `tf.custom_gradient`.

    >>> @tf.custom_gradient
    ... def clipped(x):
    ...     return tf.identity(x), lambda dy: tf.clip_by_value(dy, -0.1, 0.1)
    >>> x = tf.constant(2.0)
    >>> sess.run(tf.gradients(clipped(x) * 5.0, x))
    [np.float32(0.1)]
    """
    return custom_gradient if f is None else _Decorated(f)


class _Decorated:
    """A function, or a method, with its own gradient: a method is bound to its object first."""

    def __init__(self, f: Callable[..., Any]):
        self._f = f
        functools.update_wrapper(self, f)

    @property
    def __signature__(self) -> inspect.Signature:  # of a descriptor with `__call__`, `inspect` finds none by itself
        return inspect.signature(self._f)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _Decorated(self._f.__get__(instance, owner))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        graph = current_graph()
        if graph is None:
            return _eagerly(self._f, args, kwargs)
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keyword arguments only when eager "
                "execution is enabled. Fix: pass them by position, or bind them with functools.partial"
            )
        return _in_graph(graph, self._f, args)


def _in_graph(graph: Graph, f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    given = list(map(_as_given, leaves_of(args)))
    recorded = _recorded(given)
    start = graph.version
    result, grad_fn = _two(f, f(*repack(args, iter(given))))
    leaves = list(leaves_of(result))
    results = _recorded(leaves)
    variables = _variables_read(graph, start, recorded)
    if variables and not _takes_variables(grad_fn):
        raise _must_take_variables(variables)
    reads = [v.value() for v in variables]
    op: Operation = raw.IdentityN(results + recorded + reads)[0].op
    rule = op._gradient = _make_rule(grad_fn, leaves, given, variables)
    rule.called_in = frozenset(open_entrances)  # type: ignore[attr-defined]  # functions take any attribute
    return repack(result, iter(_with(leaves, op.outputs[: len(results)])))


def _eagerly(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not eager.listening.recorders:
        return f(*args, **kwargs)[0]
    given = list(map(_as_given, leaves_of(args)))
    recorded = _recorded(given)
    handles = {id(getattr(a, "handle", None)) for a in leaves_of(args)}
    found: dict[int, Any] = {}

    def note(opdef: Any, inputs: tuple[Any, ...], *_: Any) -> None:
        for t in inputs:
            variable = getattr(t, "_variable", None)
            if variable is not None and variable.trainable and id(t) not in handles:
                found[id(t)] = variable

    eager.listening.recorders.append(note)
    try:
        result, grad_fn = _two(f, f(*repack(args, iter(given)), **kwargs))
    finally:
        eager.listening.recorders.remove(note)
    leaves = list(leaves_of(result))
    results = _recorded(leaves)
    variables = list(found.values())
    if variables and not _takes_variables(grad_fn):
        raise _must_take_variables(variables)
    tensors = (*results, *recorded, *[v.value() for v in variables])
    rule = _make_rule(grad_fn, leaves, given, variables)
    outputs = eager.execute(raw.IdentityN, tensors, {"T": tuple(t.dtype for t in tensors)}, rule)
    return repack(result, iter(_with(leaves, outputs[: len(results)])))


def _as_given(leaf: Any) -> Any:
    """Returns what the function gets for an argument: a tensor, or the composite that was given."""
    return leaf if isinstance(leaf, Composite) else convert_to_tensor(leaf)


def _recorded(leaves: Iterable[Any]) -> list[Any]:
    """Returns the tensors of arguments or results to which gradients refer."""
    return [t for leaf in leaves
            for t in (leaf._gradient_parts() if is_of_parts(leaf) else [convert_to_tensor(leaf)])]


def _with(leaves: Iterable[Any], tensors: Sequence[Any]) -> list[Any]:
    """Puts these tensors into results, or into gradients of results."""
    return with_gradient_parts([leaf if is_of_parts(leaf) else None for leaf in leaves], tensors)


def _make_rule(grad_fn: Callable[..., Any], results: list[Any], args: list[Any],
               variables: list[Any]) -> Callable[..., Any]:
    """Makes the gradient of the `IdentityN` through which results, arguments and variables pass."""
    n_results = sum([len(leaf._gradient_parts()) if is_of_parts(leaf) else 1 for leaf in results])

    def rule(op: Operation, *dys: Any) -> list[Any]:
        arrived = _with(results, dys[:n_results])
        if variables:
            returned = grad_fn(*arrived, variables=variables)
            if not isinstance(returned, (list, tuple)) or len(returned) != 2 or not _is_list(returned[1]):
                raise TypeError(
                    "The grad_fn of a @custom_gradient function that uses variables must return a pair: the gradients "
                    f"of the arguments and a list of those of the {len(variables)} variables, not {returned!r}.\n"
                    f"  Built at {op.source}\n  Fix: return grads, [one gradient for each of `variables`]"
                )
            in_grads, variable_grads = returned[0], list(returned[1])
            if len(variable_grads) != len(variables):
                raise ValueError(
                    "Must return gradient for each variable from @custom_gradient grad_fn: "
                    f"{len(variable_grads)} for {len(variables)} variables.\n  Built at {op.source}\n"
                    "  Fix: return one gradient, or None, for each of `variables`"
                )
        else:
            in_grads, variable_grads = grad_fn(*arrived), []
        grads = list(leaves_of(in_grads))
        if not args and grads == [None]:
            grads = []
        if len(grads) != len(args):
            raise ValueError(
                f"custom_gradient function expected to return {len(args)} gradients, but returned "
                f"{len(grads)} instead.\n  Built at {op.source}\n"
                "  Fix: return one gradient for each argument"
            )
        # The function itself is not differentiated: gradients of its results stop there.
        flat = [t for arg, g in zip(args, grads, strict=True)
                for t in parts_of_gradient(arg if is_of_parts(arg) else None, g)]
        return [None] * n_results + flat + variable_grads

    rule.n_results = n_results  # type: ignore[attr-defined]  # for explain_gradient
    rule.is_custom = True  # type: ignore[attr-defined]  # for forward mode
    rule.mark = f"CustomGradient-{next(_numbers)}"  # type: ignore[attr-defined]  # its name in files, as in TensorFlow
    return rule


_numbers = itertools.count()


def _two(f: Callable[..., Any], returned: Any) -> Any:
    """Returns the pair that the decorated function returned; raises TypeError for anything else."""
    if not isinstance(returned, (list, tuple)) or len(returned) != 2 or not callable(returned[1]):
        raise TypeError(
            f"The function decorated with @custom_gradient, {getattr(f, '__name__', f)}, must return a pair "
            f"(result, grad_fn), not {returned!r}.\n  Called at {user_source(2)}\n"
            "  Fix: return the result and a function from its gradient to those of the arguments"
        )
    return returned


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _must_take_variables(variables: list[Any]) -> TypeError:
    return TypeError(
        "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses variables: "
        f"{[v.name for v in variables]}.\n  Called at {user_source(2)}\n"
        "  Fix: def grad_fn(dy, variables=None): ... return grads, [one gradient for each of `variables`]"
    )


def leaves_of(value: Any) -> Iterator[Any]:
    """Yields the leaves of a nested structure, dictionaries in the order of their keys."""
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from leaves_of(v)
    elif isinstance(value, dict):
        for k in sorted(value):
            yield from leaves_of(value[k])
    else:
        yield value


def repack(structure: Any, leaves: Iterator[Any]) -> Any:
    """Builds a structure like `structure` with other leaves."""
    if isinstance(structure, dict):
        packed = {k: repack(structure[k], leaves) for k in sorted(structure)}
        return {k: packed[k] for k in structure}
    if isinstance(structure, (list, tuple)):
        items = [repack(v, leaves) for v in structure]
        if hasattr(structure, "_fields"):
            return type(structure)(*items)
        return tuple(items) if isinstance(structure, tuple) else items
    return next(leaves, None)


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad_fn).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


def _variables_read(graph: Graph, start: int, args: list[Tensor]) -> list[Any]:
    """Returns the variables that operations built since `start` read by themselves: not through an argument."""
    given = set(map(id, args))
    found: dict[int, Any] = {}
    for op in graph._operations[start:]:
        for t in op.inputs:
            # A variable is used by a new read, or through an earlier one.
            handle = t.op.inputs[0] if t.op.opdef.variable == "read" else t
            if handle.dtype is resource and id(t) not in given and id(handle) not in found:
                variable = variable_behind(graph, handle)
                if variable is not None and variable.trainable:
                    found[id(handle)] = variable
    return list(found.values())


def variable_behind(graph: Graph, handle: Any) -> Any:
    """Returns the variable whose handle this is, also if it was captured; None if there is none."""
    while getattr(handle, "_variable", None) is None and isinstance(graph, FuncGraph):
        captured = dict(zip(map(id, graph.inputs[-len(graph.captured) :]), graph.captured, strict=False))
        handle = captured.get(id(handle))
        if handle is None:
            return None
        outer = graph._outer_graph
        if outer is None:
            break
        graph = outer
    return getattr(handle, "_variable", None)
