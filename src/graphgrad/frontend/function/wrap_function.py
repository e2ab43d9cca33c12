"""`tf.compat.v1.wrap_function`: a function that builds a graph of TensorFlow 1, as a function of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.errors import FailedPreconditionError
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composites import component_specs, put_together, tensors_of
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.structured_outputs import collect_outputs, marks_of
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.frontend.variables.variable_creation import watching_creation
from graphgrad.frontend.variables.variable_creators import variable_creator_scope
from graphgrad.gradients.bodies.subgraphs import copy_list
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.effects import with_all_before
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor

from .concrete_function import ConcreteFunction
from .initializer_lifting import initialize
from .own_resources import own_handle


class WrappedFunction(ConcreteFunction):
    """A function that `wrap_function` made: a graph of TensorFlow 1, and the variables that it created.

    Reference: TensorFlow 2.21 `tf.compat.v1.wrap_function`.
    """

    _created: Sequence[Any] = ()

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the function created, in order; of a part, those that it uses."""
        return tuple(self._created) if self._created else super().variables

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function with one argument for each of the signature.

        Raises: NotImplementedError for arguments by name; TypeError for others than those of the signature.
        """
        if kwargs:
            raise NotImplementedError("Keyword arguments are not supported when calling a wrap_function-decorated "
                                      f"function. Got {kwargs}. Fix: give them in the order of the signature")
        wanted = self._inputs[: self._argument_count]
        tensors = [t for leaf in nest.flatten(args) for t in tensors_of(leaf)]
        if len(tensors) != len(wanted):
            raise TypeError(f"{self.name} takes {len(wanted)} tensors, not {len(tensors)}. "
                            f"Fix: call it with {self.structured_input_signature[0]}")
        return self._call_flat([convert_to_tensor(t, p.dtype) for t, p in zip(tensors, wanted, strict=True)])

    def prune(self, feeds: Any, fetches: Any, name: str | None = None,
              input_signature: Any = None) -> WrappedFunction:
        """Makes a function of a part of the graph; it has the same variables.

        Args:
          feeds: tensors of `graph`, or their names, nested: the arguments, in order.
          fetches: tensors, operations and composites of `graph`, or names, nested as the results. Operations are
            run; their results are None.
          name: a name.
          input_signature: the structure of the arguments; they are positional by default.
        Returns: the function.
        Raises: KeyError for a name that is not there; ValueError if a result depends on an argument that is not fed.
        """
        given = [_element(self.graph, f) for f in nest.flatten(feeds, expand_composites=True)]
        wanted = nest.map_structure(lambda f: _element(self.graph, f), fetches)
        ends = nest.flatten(wanted, expand_composites=True)
        graph = FuncGraph(name or "pruned", self.graph._outer_graph)
        graph.keeps_effects = True
        inside = {id(t): graph.add_input(t.dtype, t._spec.shape, t.op.name) for t in given}
        needed = with_all_before([e if isinstance(e, Operation) else e.op for e in ends if id(e) not in inside],
                                 set(inside))
        needed = [op for op in needed if not any(id(t) in inside for t in op.outputs)]
        outer = dict(zip(map(id, self._inputs[self._argument_count :]), self._captured, strict=True))
        for op in needed:
            if op.type != "Placeholder":
                continue
            (t,) = op.outputs
            if id(t) not in outer:
                raise ValueError(f"a result depends on '{t.name}', an argument that is not fed. "
                                 f"Fix: feeds=[..., '{t.name}']")
            inside[id(t)] = graph.capture(outer[id(t)])
        for op in needed:
            if op.type == "VarHandleOp":  # of the whole graph, so that all parts share it
                inside[id(op.outputs[0])] = graph.capture(own_handle(self.graph, op))
        copied = [op for op in needed if id(op.outputs[0] if op.outputs else op) not in inside]
        with graph._own_gradients():
            copy_list(graph, copied, inside, as_it_is=True)
        tensors = [None if isinstance(e, Operation) else inside[id(e)] for e in ends]
        graph.outputs = [t for t in tensors if t is not None]
        specs = nest.map_structure(lambda e: None if isinstance(e, Operation) else _spec(e), wanted)
        arguments = tuple([TensorSpec(p._spec.shape, p.dtype, p.op.name) for p in graph.inputs[: len(given)]])
        return WrappedFunction(graph, len(given), marks_of(specs), self._engine, input_signature or (arguments, {}))


def _spec(element: Any) -> Any:
    return TensorSpec(element._spec.shape, element.dtype) if isinstance(element, Tensor) else element._type_spec


def _element(graph: Any, element: Any) -> Any:
    """Returns what a feed or fetch names."""
    if isinstance(element, (Tensor, Operation)) and element.graph is not graph:
        element = element.name
    return graph.as_graph_element(element) if isinstance(element, (str, Tensor, Operation)) else element


def wrap_function(fn: Callable[..., Any], signature: Any, name: str | None = None) -> WrappedFunction:
    """Builds the graph of a function of TensorFlow 1, once, as a function of tensors.

    Inside, all is as in a graph: variables are created once, outside of the graph, and collections are the graph's
    own. Only what the results need is run, or everything with effects if there are no results.

    Args:
      fn: a function of tensors, which returns tensors in any structure, or None.
      signature: a sequence of a `TensorSpec`, or the spec of a composite, for each argument; they may be nested.
      name: a name.
    Returns: the function; it has `variables`, `graph`, and `prune`, which makes functions of parts of the graph.
    Raises: TypeError for operations among the results.
    Gradient: as of a function, with respect to arguments and variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.wrap_function`.

    >>> def scaled(x):
    ...     return x * tf.get_variable("v", initializer=3.0)
    >>> f = tf.wrap_function(scaled, [tf.TensorSpec([2], tf.float32)])
    >>> y = f(tf.constant([1.0, 2.0]))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([3., 6.], dtype=float32)
    """
    graph = FuncGraph(name or "wrapped_function", current_graph())
    graph.names_variables = graph._outer_graph is None
    created: list[Any] = []

    def create(next_creator: Any, **kwargs: Any) -> Any:
        made = next_creator(**kwargs)
        created.append(made)
        if graph.names_variables:
            keys = set(kwargs.get("collections") or [GraphKeys.GLOBAL_VARIABLES])
            for key in sorted(keys | ({GraphKeys.TRAINABLE_VARIABLES} if made.trainable else set())):
                graph.add_to_collection(key, made)
        return made

    if isinstance(signature, TypeSpec):
        raise TypeError(f"signature must be a sequence of specs, not {signature}. Fix: [{signature}]")
    leaves = nest.flatten(list(signature))
    inputs: list[Any] = []
    for leaf in leaves:
        parts = [graph.add_input(s.dtype, s._shape, getattr(s, "name", None) or "Placeholder")
                 for s in component_specs(leaf)]
        with graph.as_default():
            inputs.append(put_together([leaf], parts)[0])
    count = len(graph.inputs)
    with watching_creation(lambda: None) as assignments, graph.as_default(), variable_creator_scope(create):
        result = fn(*nest.pack_sequence_as(list(signature), inputs))
        for leaf in nest.flatten(result):
            if isinstance(leaf, Operation):
                raise TypeError(f"{name or 'the function'} returns the operation '{leaf.name}', and functions return "
                                "tensors or None. Fix: return None, and run it by prune([], operation)")
        structured = collect_outputs(result, graph.outputs)
    if assignments and not initialize(assignments, "xla"):
        raise FailedPreconditionError(None, None, "the initial value of a variable depends on an argument. "
                                      "Fix: create the variable outside of the function")
    graph.keeps_effects = not graph.outputs
    made = WrappedFunction(graph, count, structured, "xla", (tuple(signature), {}))
    made.leave_out(assignments)
    made._created = created
    return made


__all__ = ["WrappedFunction", "wrap_function"]
