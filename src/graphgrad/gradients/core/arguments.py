"""Normalizes the arguments of `gradients`: ys, xs, grad_ys, stop_gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.source import user_source
from graphgrad.ir.values.indexed_slices import of_values

from .outer_graphs import seen_from

# Which functions take Python functions, in eager mode, too.
_OF_FUNCTIONS = {"jacobian": "tf.jacobian(f)(x)", "batch_jacobian": "tf.batch_jacobian(f, x)",
                 "batch_hessian": "tf.batch_hessian(f, x)", "hessian": "tf.hessian(f)(x)",
                 "hessians": "tf.hessians(f, x)", "jvp": "tf.jvp(f, x, v)", "vjp": "tf.vjp(f, x, u)",
                 "laplacian": "tf.laplacian(f)(x)",
                 "hessian_vector_product": "tf.hessian_vector_product(f, x, v)"}


def graph_to_extend(ys: Any, xs: Any, what: str = "gradients") -> Graph:
    """Returns the graph of ys and xs, by default the one being built; raises RuntimeError in eager mode.

    Args:
      ys, xs: structures of tensors.
      what: the public function that was called.
    """
    graph = current_graph()
    if graph is None:
        use = f"give a function of the xs, {_OF_FUNCTIONS[what]}" if what in _OF_FUNCTIONS else "use tf.GradientTape"
        if what == "gradients":  # TensorFlow's words
            raise RuntimeError(
                "tf.gradients is not supported when eager execution is enabled. "
                "Use tf.GradientTape instead, or call it inside a tf.function or `with graph.as_default()`."
            )
        raise RuntimeError(
            f"tf.{what} is not supported when eager execution is enabled: eager values do not know how they were "
            f"computed.\n  Asked for at {user_source(2)}\n"
            f"  Fix: {use}; or call it inside a tf.function or `with graph.as_default():`"
        )
    if not graph.building_function:
        theirs = {id(t.graph): t.graph for t in (*flatten(ys), *flatten(xs)) if isinstance(t, Tensor)}
        if len(theirs) == 1:
            return next(iter(theirs.values()))
    return graph


def as_ys(graph: Graph, ys: Any) -> list[Tensor]:
    """Returns the tensors of `ys`, a tensor or a nested structure of what converts to tensors."""
    return [in_graph(graph, y if isinstance(y, Tensor) else convert_to_tensor(y, name=f"y_{i}"), f"ys[{i}]")
            for i, y in enumerate(flatten(ys))]


def as_xs(graph: Graph, xs: Any, what: str = "xs") -> list[Tensor]:
    """Returns the tensors of `xs`: tensors themselves, and the handles of variables."""
    return [in_graph(graph, as_x(x, i, what), f"{what}[{i}]") for i, x in enumerate(flatten(xs))]


def flatten(value: Any) -> list[Any]:
    """Returns the leaves of a nested structure; [] for None."""
    return [] if value is None else list(_leaves(value))


def align_grad_ys(ys: Any, grad_ys: Any, count: int) -> list[Any]:
    """Returns one grad_y, or None, for each y; the grad_y of a single y may itself be a list of numbers."""
    if grad_ys is None:
        return [None] * count
    nested = isinstance(ys, (list, tuple, dict))
    found: list[Any] = []
    if nested or not isinstance(grad_ys, (list, tuple)):
        _align(
            ys if nested else [ys], grad_ys if nested and isinstance(grad_ys, (list, tuple, dict)) else [grad_ys], found
        )
    else:
        found = list(grad_ys)
    if len(found) != count:
        raise ValueError(
            f"Length mismatch. Passed {len(found)} grad_ys for {count} ys. Fix: give one grad_y, or None, for each y"
        )
    return found


def _align(ys: Any, grad_ys: Any, found: list[Any]) -> None:
    """Appends to `found` the parts of `grad_ys` at the leaves of `ys`."""
    if isinstance(ys, dict):
        for key in sorted(ys):
            _align(ys[key], grad_ys[key], found)
    elif isinstance(ys, (list, tuple)) and isinstance(grad_ys, (list, tuple)):
        if len(ys) != len(grad_ys):
            found.extend(grad_ys)  # the caller checks the count
            return
        for y, grad_y in zip(ys, grad_ys, strict=True):
            _align(y, grad_y, found)
    else:
        found.append(grad_ys)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from _leaves(v)
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from _leaves(value[key])
    else:
        yield value


def as_x(x: Any, i: int, what: str = "xs") -> Any:
    """Returns the tensor of an x: a variable's handle, a tensor itself."""
    handle = getattr(x, "handle", None)
    if handle is not None:
        return handle
    x = of_values(x)
    if not is_tensor_like(x):
        raise TypeError(
            f"{what}[{i}] is {x!r} of type {type(x).__name__}, not a tensor or variable: "
            "there is nothing in the graph to differentiate with respect to.\n"
            f"  Asked for at {user_source(2)}\n  Fix: pass the tf.Tensor or tf.Variable that the ys use"
        )
    if isinstance(x, Tensor):
        is_reference = x.op.index in x.graph._scoped_state.get("references", ())
        return x.op.inputs[0] if is_reference else x  # a reference is all that is read of the variable
    return x._as_tensor(None, None) if hasattr(x, "_as_tensor") else x


def in_graph(graph: Graph, t: Any, what: str) -> Tensor:
    """Returns `t`, if it is of `graph` or of an outer one, else its placeholder there."""
    if isinstance(t, Tensor) and t.graph is graph:
        return t
    if graph.building_function:
        return seen_from(graph, t)
    raise ValueError(
        f"{what}, {t!r}, must be from the same graph as the default one: the gradient is added to the "
        f"graph that holds ys and xs.\n  Built at {t.op.source if isinstance(t, Tensor) else 'eager mode'}\n"
        "  Fix: call it inside `with that_graph.as_default():`"
    )
