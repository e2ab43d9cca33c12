"""Users' functions as sub-graphs, which solvers and gradients copy to where they need them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.gradients.bodies.subgraphs import copy_ops, draws, needed_ops, replace
from graphgrad.gradients.control_flow.vectorized_map_gradient import MapBody
from graphgrad.gradients.core.backprop import gradients_inside
from graphgrad.gradients.core.custom import variable_behind
from graphgrad.gradients.core.rules import carries_gradient
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.dtypes import resource
from graphgrad.ir.effects import ACTS, effect_of
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.values.indexed_slices import dense


class Traced:
    """A function of one vector and of other tensors, as a sub-graph that can be copied anywhere.

    Args:
      body: its inputs are the vector, then the others; one output, a vector.

    Attributes:
      body: the sub-graph.
    """

    def __init__(self, body: MapBody):
        self.body = body

    def __call__(self, x: Tensor, others: Sequence[Any]) -> Tensor:
        """Copies the function into the current graph; returns its value there."""
        graph = _graph()
        given = [_seen(graph, t) for t in (x, *others)]
        inside = {id(p): t for p, t in zip(self.body.inputs, given, strict=True)}
        return copy_ops(graph, self.body.outputs, inside)[0]


def trace(function: str, f: Callable[..., Tensor], x: Tensor, scope: str,
          more: Sequence[Tensor] = ()) -> tuple[Traced, list[Any]]:
    """Traces a function of a vector, and perhaps of more tensors, once.

    Args:
      function: the function that users called, for errors.
      f: takes a vector like `x`, returns a vector.
      x: an example.
      scope: the name scope of its operations.
      more: examples of further arguments, which come before the others when it is called.
    Returns: the sub-graph, and the tensors outside that the function uses: values, where it reads variables.
    Raises: ValueError for a function that changes something, calls Python or draws random numbers.
    """
    body = MapBody(scope.rpartition("/")[2] or "f", current_graph())
    places = [body.add_input(t.dtype, t._spec.shape, "x") for t in (x, *more)]
    with use(body), body.name_scope(scope + "/"):
        body.outputs = [body.own(f(*places))]
    acting = next((op for op in body._operations if effect_of(op) == ACTS), None)
    if acting is not None or draws([body]):
        what = "draws random numbers" if acting is None else f"has an effect: '{acting.name}' (op type: {acting.type})"
        raise ValueError(f"{function}: the function {what}, but it is evaluated as often as the solver needs.\n"
                         f"  Called at {user_source(2)}\n  Fix: do that outside, and let the function use the result")
    others = [_value(body, len(places) + i, t) for i, t in enumerate(body.captured)]
    body.captured = others
    return Traced(body), others


def _value(body: MapBody, i: int, outer: Any) -> Any:
    """Returns what a sub-graph captures, for a variable its value: it is to have one while a solver runs."""
    variable = variable_behind(_graph(), outer) if outer.dtype is resource else None
    if variable is None:
        return outer
    inner = body.inputs[i].op
    value = raw.ReadVariableOp(outer, dtype=variable.dtype, shape=variable._shape)
    with body.before(inner):
        place = body.inputs[i] = body._placeholder(value.dtype, value._spec.shape, "captured")
    inner.opdef, inner.inputs, inner.attrs = raw.VariableOf, (place,), {"T": value.dtype}
    return value


def pulled_back(f: Traced, x: Tensor, others: Sequence[Any]) -> Traced:
    """Returns u -> J^T u as a function of u and of (x, *others), for the Jacobian J of f at x."""
    body = MapBody(f"{f.body.name}_vjp", current_graph())
    with use(body), none_allowed():
        u, at, *rest = [body.add_input(t.dtype, t._spec.shape, name) for t, name in
                        [(x, "u"), (x, "x"), *((t, "captured") for t in others)]]
        body.outputs = [body.own(vector_jacobian(f(at, rest), at, u))]
    return Traced(body)


def transposed(function: str, a: Traced, x: Tensor, others: Sequence[Any]) -> Traced:
    """Returns u -> A^T u as a function of u and the others, for a function x -> A x of x and others.

    Raises: ValueError if the function is not linear in x.
    """
    body = MapBody(f"{a.body.name}_transposed", current_graph())
    with use(body), none_allowed():
        u, *rest = [body.add_input(t.dtype, t._spec.shape, "captured") for t in (x, *others)]
        at = body._placeholder(x.dtype, x._spec.shape, "x")
        body.outputs = [body.own(vector_jacobian(a(at, rest), at, u))]
        nonlinear = next((op for op in needed_ops(body.outputs) if any(t is at for t in op.inputs)
                          and not op.opdef.shape_only and op.opdef.fill is None), None)
        if nonlinear is not None:
            raise ValueError(f"{function}: the operator is not linear: its derivative depends on x, by "
                             f"'{nonlinear.name}' (op type: {nonlinear.type}).\n  Called at {user_source(2)}\n"
                             "  Fix: give a function x -> A x, or use tf.implicit.root")
        replace(body, {id(at): u})  # where only its shape matters
    return Traced(body)


def gradient_of(f: Traced, x: Tensor, others: Sequence[Any]) -> Traced:
    """Returns the gradient, with respect to the vector, of the sum of what a function returns, as a function."""
    body = MapBody(f"{f.body.name}_gradient", current_graph())
    with use(body), none_allowed():
        at, *rest = [body.add_input(t.dtype, t._spec.shape, "captured") for t in (x, *others)]
        y = f(at, rest)
        body.outputs = [body.own(vector_jacobian(y, at, raw.OnesLike(y)))]
    return Traced(body)


def parameter_gradients(ys: Sequence[Tensor], places: Sequence[Any], seeds: Sequence[Tensor]) -> list[Any]:
    """Returns the gradients of tensors with respect to those of others that can carry one, None for the rest."""
    xs = [t for t in places if carries_gradient(t)]
    with none_allowed():
        found = iter(gradients_inside(list(ys), xs, list(seeds)) if xs else ())
    return [next(found) if carries_gradient(t) else None for t in places]


def places_for(tensors: Sequence[Any]) -> list[Any]:
    """Returns identities of tensors in the current graph, with respect to which to differentiate copies."""
    return [raw.Identity(t) for t in tensors]


def constants(tensors: Sequence[Any]) -> list[Any]:
    """Returns tensors as constants to derivatives: what solvers' loops get.

    No derivative of a solution needs those of the loop that found it. But where the solution stands in a loop of the
    user's, gradients would pass zeros through the solver's loop, and 0 times infinity is not 0.
    """
    return [raw.StopGradient(t) if carries_gradient(t) and t.dtype.kind in "fc" else t for t in tensors]


def vector_jacobian(y: Tensor, x: Tensor, u: Tensor) -> Any:
    """Returns u^T dy/dx for vectors of the current graph, zeros where y does not depend on x."""
    with none_allowed():
        (found,) = gradients_inside([y], [x], [u])
    return raw.ZerosLike(x) if found is None else dense(found)


def _seen(graph: Graph, t: Any) -> Tensor:
    return t if isinstance(t, Tensor) and t.graph is graph else graph.capture(t)


def _graph() -> Graph:
    graph = current_graph()
    assert graph is not None  # eager mode has been left
    return graph
