"""`ConcreteFunction`: one trace of a function, run by the executor and differentiated by tapes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.executor.runtime.random_positions import RandomPositions
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composites import tensors_of
from graphgrad.frontend.structure.structured_outputs import restore, restorer
from graphgrad.gradients.bodies.subgraphs import copy_list, needed_ops
from graphgrad.ir import dtypes
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.effects import effects_of
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.shape import compatible
from graphgrad.ir.values.composite import Composite

from .descriptions import described
from .graph_slices import GraphSlice, here
from .inlining import inlined
from .shortcuts import NOTHING, Shortcuts, key_of

_called: list[Any] | None = None  # the graphs of called functions, while they are being collected


def collect_called(on: bool) -> list[Any]:
    """Begins or ends collecting the graphs of the functions that are called.

    Returns: those collected until now.
    """
    global _called
    found, _called = _called or [], [] if on else None
    return found


class ConcreteFunction:
    """A function traced for one signature.

    Attributes:
      graph: its `FuncGraph`.
      name: its name.
    """

    _repr_html_ = EagerTensor._repr_html_

    def __init__(self, graph: FuncGraph, argument_count: int, structured_outputs: Any, engine: str = "xla",
                 signature: Any = None):
        self._engine = engine
        self.graph = graph
        self.name = graph.name
        self._argument_count = argument_count
        self._outputs = structured_outputs
        self._signature = nest.map_structure(_weakly, signature if signature is not None else ((), {}))
        self._parameters: Any = None  # the names of positional arguments, if they are known
        self._positions = RandomPositions(of_function=True)
        self._part: GraphSlice | None = None
        self._implements: Callable[[], None] | None = None  # replaces a call
        self._inputs = list(graph.inputs)
        self._captured = list(graph.captured)
        self._targets = effects_of(graph)
        self._restored = restorer(structured_outputs)
        self._shortcuts = Shortcuts()
        self._dtypes = [t.dtype for t in graph.outputs]
        # Tensors among what is captured; not the handles of resources.
        self._constants = [c for c, p in zip(self._captured, self._inputs[argument_count:], strict=True)
                           if p.dtype is not dtypes.resource]

    def leave_out(self, operations: Sequence[Operation]) -> None:
        """Disables the effects of operations."""
        self._targets = [op for op in self._targets if op not in operations]

    @property
    def structured_input_signature(self) -> Any:
        """The positional and the keyword arguments, tensors by their specs."""
        return nest.map_structure(_strongly, self._signature)

    @property
    def inputs(self) -> list[Tensor]:
        """The placeholders: one for each tensor argument, then one for each captured tensor."""
        return list(self._inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that are computed, flat."""
        return list(self.graph.outputs)

    def add_to_graph(self, g: Any = None, overwrite: bool = False) -> None:
        """Lets it replace the call that it implements for a device; otherwise a graph gets a function when it calls it.

        Args:
          g, overwrite: accepted.
        """
        if self._implements is not None:
            self._implements()

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Does nothing: gradients are built when they are asked for.

        Args:
          g: accepted.
        """

    @property
    def structured_outputs(self) -> Any:
        """The structure that the function returns, with symbolic tensors."""
        return self._symbolic_outputs()

    def _symbolic_outputs(self) -> Any:
        """Returns the structure that the function returns, with symbolic tensors."""
        return restore(self._outputs, self.graph.outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the results, nested as they are."""
        return nest.map_structure(_dtype_of, self.structured_outputs)

    @property
    def output_shapes(self) -> Any:
        """The static shapes of the results, nested as they are."""
        return nest.map_structure(_shape_of, self.structured_outputs)

    @property
    def captured_inputs(self) -> list[Any]:
        """The captured outer tensors."""
        return list(self._captured)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables used, in order of first use."""
        return tuple([v for c in self._captured if (v := getattr(c, "_variable", None)) is not None])

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of the variables that are trainable."""
        return tuple([v for v in self.variables if v.trainable])

    def _call_flat(self, args: Sequence[Any]) -> Any:
        if _called is not None:
            _called.append(self.graph)
        graph = current_graph()
        if graph is not None:
            return restore(self._outputs, self._in_graph(graph, args))
        if self._part is None:
            handles = {id(p): c for p, c in zip(self._inputs[self._argument_count :], self._captured, strict=True)
                       if p.dtype is dtypes.resource}
            self._part = GraphSlice(self.graph, self._inputs, self.graph.outputs, self._targets, handles,
                                    self._positions, self._engine)
        return self._restored(self._part.run([*args, *self._captured]))

    def _call_arrays(self, values: list[Any]) -> Any:
        """Calls it eagerly, without tapes, if that takes no more than one function of NumPy's; else returns NOTHING.

        Args:
          values: an array for each tensor argument.
        """
        if self._part is None or _called is not None:
            return NOTHING
        if self._constants:
            values = [*values, *[c._value for c in self._constants]]
        arrays = self._part.arrays(values)
        if arrays is None:
            return NOTHING
        return self._restored([EagerTensor(a, d) for a, d in zip(arrays, self._dtypes, strict=True)])

    def _in_graph(self, graph: Any, args: Sequence[Any]) -> list[Any]:
        """Adds the operations to the graph that is being built."""
        inside = {id(p): here(graph, t) for p, t in zip(self._inputs, [*args, *self._captured], strict=True)}
        wanted = {op.index: op for op in needed_ops([*self.graph.outputs, *_inputs_of(self._targets)], inside)}
        wanted.update((op.index, op) for op in self._targets)
        flat = self.graph.outputs

        def copied() -> list[Any]:
            copy_list(graph, [wanted[i] for i in self.graph.in_order(wanted)], inside)
            return [inside[id(t)] for t in flat]

        return list(inlined(graph, copied))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function with the arguments of the signature, or with tensors in its order or by name.

        Raises: TypeError for other arguments.
        """
        key, given = None, list[Any]()  # tensors and arrays
        if current_graph() is None and not kwargs and (key := key_of(args, kwargs, given)) is not None:
            shortcut = self._shortcuts.find(key)
            if shortcut is not None:
                return shortcut(given)
        tensors = self._bound(args, kwargs)
        if tensors is None:
            names = [p.op.name for p in self._inputs[: self._argument_count]]
            tensors = [*args, *[kwargs.get(n) for n in names[len(args) :]]]
            if len(tensors) != len(names) or set(kwargs) - set(names) or any(t is None for t in tensors):
                raise TypeError(
                    f"Binding inputs to tf.function failed: {self.name}({', '.join(names)}) takes {len(names)} "
                    f"tensors, not {len(args)} positional and {sorted(kwargs)}. Fix: call it with the tensors of its "
                    f"signature, {self.structured_input_signature}"
                )
            has_others = len(nest.flatten(self.structured_input_signature)) > len(names)
            for name, t in zip(names, tensors, strict=True):
                if has_others and not (is_tensor_like(t) or isinstance(t, (np.ndarray, np.generic, int, float, bool))):
                    raise TypeError(f"Binding inputs to tf.function failed: {self.name}: expected argument {name} to "
                                    f"be a Tensor; got {type(t).__name__} ({t!r}). Fix: tf.constant(...)")
        placeholders = self._inputs[: self._argument_count]
        tensors = [self._argument(p, t) for p, t in zip(placeholders, tensors, strict=True)]
        if key is not None:
            self._shortcuts.add(key, args, kwargs, given, lambda args, _: args, self, tensors)
        return self._call_flat(tensors)

    def _argument(self, placeholder: Tensor, value: Any) -> Any:
        """Converts an argument to a tensor for a placeholder."""
        name, dtype = placeholder.op.name, placeholder.dtype
        if is_tensor_like(value) and getattr(value, "dtype", dtype) != dtype:
            raise InvalidArgumentError(
                None, None, f"cannot compute {self.name} as input {name} was expected to be a {dtype.name} tensor but "
                f"is a {value.dtype.name} tensor. Fix: tf.cast({name}, tf.{dtype.name})")
        expected = f"Binding inputs to tf.function failed: {self.name}: expected argument {name} to"
        try:
            tensor = convert_to_tensor(value, dtype)
        except (TypeError, ValueError) as e:
            raise TypeError(f"{expected} be a Tensor; got {type(value).__name__} ({value!r}): {e}") from e
        # The shapes of eager tensors are not compared: an operation that they do not fit will say so.
        as_it_is = tensor is value and isinstance(tensor, EagerTensor)
        if as_it_is or compatible(tensor._spec.shape, placeholder._spec.shape):
            return tensor
        raise TypeError(f"{expected} have a shape like {placeholder.shape}; got {tensor.shape}. "
                        "Fix: tf.reshape, or trace the function for that shape")

    def _bound(self, args: Any, kwargs: Any) -> list[Any] | None:
        """Returns the tensors of arguments nested as in the signature; None if they are not."""
        wanted_args, wanted_kwargs = self.structured_input_signature
        if len(args) > len(wanted_args) or set(kwargs) - set(wanted_kwargs):
            return None
        tensors: list[Any] = []
        pairs = [*zip(wanted_args, [*args, *[_ABSENT] * (len(wanted_args) - len(args))], strict=True),
                 *[(w, kwargs.get(k, _ABSENT)) for k, w in sorted(wanted_kwargs.items())]]
        is_whole = all(value is not _ABSENT for _, value in pairs)
        for wanted, value in pairs:
            if value is _ABSENT:
                if any(map(_is_spec, nest.flatten(wanted))):
                    return None
                continue
            leaves = _leaves(wanted, value, is_whole)
            if leaves is None:
                return None
            for leaf, given in leaves:
                if _is_spec(leaf):
                    tensors.extend(tensors_of(given))
                elif given is not leaf and given != leaf:
                    return None
        return tensors if len(tensors) == self._argument_count else None

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Formats the arguments, the results and the captures as text.

        Args:
          verbose: False for one line.
        """
        args, kwargs = self.structured_input_signature
        named = [*zip(self._names(len(args)), args, strict=True), *kwargs.items()]
        if not verbose:
            return f"({', '.join(f'{name}: {described(v)}' for name, v in named)}) -> {described(self._results())}"
        lines = ["Input Parameters:", *[f"  {name} (POSITIONAL_OR_KEYWORD): {described(v)}" for name, v in named]]
        lines += ["Output Type:", f"  {described(self._results())}", "Captures:"]
        lines += [f"  {id(c)}: {described(c)}" for c in self._captured] or ["  None"]
        return "\n".join(lines)

    def _results(self) -> Any:
        return self.structured_outputs

    def _names(self, count: int) -> list[str]:
        names = list(self._parameters or ())[:count]
        return names + [f"arg{i}" for i in range(len(names), count)]

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at 0x{id(self):X}>"


_ABSENT = object()


def _is_spec(leaf: Any) -> bool:
    return hasattr(leaf, "is_compatible_with")


def _leaves(wanted: Any, value: Any, is_whole: bool) -> list[tuple[Any, Any]] | None:
    """Pairs the leaves of a part of a signature with those of an argument; returns None if it is nested otherwise.

    Args:
      wanted: the part.
      value: the argument.
      is_whole: whether all arguments are given; then what is given for one tensor may be a list.
    """
    if is_whole and _is_spec(wanted) and not nest.is_composite_spec(wanted):
        return None if isinstance(value, Composite) else [(wanted, value)]
    try:
        nest.assert_same_structure(wanted, value, check_types=False)
    except (TypeError, ValueError):
        return None
    found = list(zip(nest.flatten(wanted), nest.flatten(value), strict=True))
    fit = all(not _is_spec(w) or nest.is_composite_spec(w) is isinstance(given, Composite) for w, given in found)
    return found if fit else None


def _dtype_of(leaf: Any) -> Any:
    return getattr(leaf, "dtype", None)


def _shape_of(leaf: Any) -> Any:
    return getattr(leaf, "shape", None)


def _weakly(leaf: Any) -> Any:
    """Returns a weak reference to an object; specs and values themselves."""
    if hasattr(leaf, "is_compatible_with"):
        return leaf
    try:
        return weakref.ref(leaf)
    except TypeError:
        return leaf


def _strongly(leaf: Any) -> Any:
    return leaf() if isinstance(leaf, weakref.ref) else leaf


def _inputs_of(ops: Sequence[Operation]) -> list[Tensor]:
    return [t for op in ops for t in op.inputs]
