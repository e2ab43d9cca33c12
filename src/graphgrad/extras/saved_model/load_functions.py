"""Functions of saved models: traces, made when they are first used, and the functions that choose among them."""

from __future__ import annotations

import inspect
import pprint
import threading
from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.frontend.function.concrete_function import ConcreteFunction
from graphgrad.frontend.function.function import Function
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composites import tensors_of
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.structured_outputs import marks_of
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.frontend.variables.variable_spec import VariableSpec
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import resource
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.shape import as_shape, compatible

from .load_structures import structure_of

_making = threading.RLock()  # only one thread makes traces at a time
_MADE = frozenset({"graph", "_engine", "_argument_count", "_outputs", "_signature", "_parameters", "_positions",
                   "_part", "_inputs", "_captured", "_targets", "_restored", "_dtypes", "_constants",
                   "_shortcuts"})  # what the base class sets


class LoadedTrace(ConcreteFunction):
    """A trace that a saved model holds; its graph is made when it is first used.

    Args:
      name: its name.
      message: its `SavedConcreteFunction`.
      make: makes the graph.
    """

    def __init__(self, name: str, message: Any, make: Callable[[], FuncGraph]):
        self.name = name
        self._message, self._make = message, make
        self._specs: Any = None
        self._keywords: list[str] = []  # names of arguments, where they can be given by name alone
        self._most_positional: int | None = None
        self._of_variables: dict[tuple[int, ...], Function[..., Any]] = {}  # by the variables that are arguments

    def __getattr__(self, name: str) -> Any:
        if name not in _MADE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with _making:
            if name not in vars(self):
                graph = self._make()
                specs = structure_of(self._message.output_signature)
                signature = self.structured_input_signature
                ConcreteFunction.__init__(self, graph, len(graph.inputs) - len(graph.captured),
                                          _fitting(specs, graph, self.name), "xla", signature)
        return vars(self)[name]

    @property
    def structured_input_signature(self) -> Any:
        """The positional and the keyword arguments, tensors by their specs."""
        if self._specs is None:
            self._specs = structure_of(self._message.canonicalized_input_signature) or ((), {})
            if not (isinstance(self._specs, tuple) and len(self._specs) == 2 and isinstance(self._specs[1], dict)
                    and isinstance(self._specs[0], (tuple, list))):
                raise ValueError(f"the signature of the function {self.name!r} is not that of arguments. "
                                 "Fix: use another copy of the file")
        return self._specs

    @property
    def structured_outputs(self) -> Any:
        """The structure that the function returns, with specs, as in TensorFlow for loaded functions."""
        return structure_of(self._message.output_signature)

    def called_by(self, keywords: Sequence[str], most_positional: int) -> None:
        """Sets how the trace is called with tensors.

        Args:
          keywords: the names of its arguments.
          most_positional: how many of them may be given by position.
        """
        self._keywords, self._most_positional = list(keywords), most_positional

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the trace with tensors, or with arguments nested as in its signature."""
        if self._most_positional is not None and len(args) > self._most_positional:
            wanted = self.structured_input_signature
            if self._bound(args, kwargs) is None:
                raise TypeError(f"Binding inputs to tf.function failed: {self.name} takes {self._most_positional} "
                                f"positional arguments but {len(args)} were given. Fix: name the arguments of its "
                                f"signature, {wanted}")
        if self._keywords and self._bound(args, kwargs) is None:
            args, kwargs = self._by_keywords(args, kwargs)
        return super().__call__(*args, **kwargs)

    def _call_flat(self, args: Sequence[Any]) -> Any:
        handles = {i: t for i, t in enumerate(args) if t.dtype is resource}
        if not handles or current_graph() is not None:
            return super()._call_flat(args)
        # Variables as arguments: which ones they are is part of what is compiled.
        key = tuple(map(id, handles.values()))
        if key not in self._of_variables:
            def call(*tensors: Any) -> Any:
                left = iter(tensors)
                return self._call_flat([handles[i] if i in handles else next(left) for i in range(len(args))])

            self._of_variables[key] = Function(call, autograph=False)
        return self._of_variables[key](*[t for i, t in enumerate(args) if i not in handles])

    def _by_keywords(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Returns arguments in their order, if each has been given once by the names of the model."""
        left = self._keywords[len(args) :]
        if len(self._keywords) != self._argument_count or set(left) != set(kwargs):
            return args, kwargs
        return (*args, *[kwargs[name] for name in left]), {}

    def takes(self, inputs: Any, converting: bool) -> list[Any] | None:
        """Returns the leaves of arguments in the order of the signature; None if the trace does not take them.

        Args:
          inputs: the positional and the keyword arguments.
          converting: whether values may become tensors.
        """
        wanted = self.structured_input_signature
        try:
            given = nest.flatten_up_to(wanted, inputs)
        except (TypeError, ValueError):
            return None
        leaves = nest.flatten(wanted)
        return given if all(_fits(g, w, converting) for g, w in zip(given, leaves, strict=True)) else None

    def tensors(self, given: Sequence[Any]) -> list[Any]:
        """Returns the tensors of the leaves of arguments that the trace takes."""
        found: list[Any] = []
        for value, wanted in zip(given, nest.flatten(self.structured_input_signature), strict=True):
            if isinstance(wanted, VariableSpec):
                found.append(value.handle)
            elif isinstance(wanted, TensorSpec):
                found.append(value if isinstance(value, TypeSpec) else convert_to_tensor(value, wanted.dtype))
            elif isinstance(wanted, TypeSpec):
                found += [] if isinstance(value, TypeSpec) else tensors_of(value)
        return found


def _fitting(specs: Any, graph: FuncGraph, name: str) -> Any:
    """Returns the marks of results; raises ValueError if the graph has another number of them."""
    marks = marks_of(specs)
    count = len(nest.flatten([s for s in nest.flatten(specs) if isinstance(s, TypeSpec)], expand_composites=True))
    if count != len(graph.outputs):
        raise ValueError(f"the function {name!r} returns {len(graph.outputs)} tensors, and its signature has {count}. "
                         "Fix: use another copy of the file")
    return marks


def _fits(given: Any, wanted: Any, converting: bool) -> bool:
    if isinstance(wanted, TensorSpec) and not isinstance(wanted, VariableSpec):
        if converting and not is_tensor_like(given) and not isinstance(given, TypeSpec):
            try:
                given = convert_to_tensor(given, dtype_hint=wanted.dtype)
            except (TypeError, ValueError):
                return False
        is_tensor = is_tensor_like(given) or isinstance(given, TensorSpec)
        return is_tensor and given.dtype == wanted.dtype and compatible(wanted._shape, as_shape(given.shape))
    if isinstance(wanted, TypeSpec):
        return bool(wanted.is_compatible_with(given))
    if is_tensor_like(given) or hasattr(given, "shape") or hasattr(wanted, "shape"):
        return given is wanted
    return bool(given == wanted)


class LoadedFunction(Function[..., Any]):
    """A `tf.function` of a saved model: it has the traces that were saved, and no others.

    Args:
      message: its `SavedFunction`.
      traces: the traces.
    """

    def __init__(self, message: Any, traces: Sequence[LoadedTrace]):
        signature, input_signature = _spec_of(message.function_spec)

        def restored_function_body(*args: Any, **kwargs: Any) -> Any:
            trace, tensors = self._chosen(args, kwargs)
            return trace._call_flat(tensors)

        restored_function_body.__signature__ = signature  # type: ignore[attr-defined]  # what `inspect` reads
        engine = "whole" if message.function_spec.jit_compile == message.function_spec.ON else "xla"
        super().__init__(restored_function_body, input_signature, None, engine, autograph=False)
        self.concrete_functions = list(traces)
        self._concretes = list(traces)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the trace that takes the arguments."""
        bound_args, bound_kwargs = self._canonical(args, kwargs)
        trace, tensors = self._chosen(bound_args, bound_kwargs)
        return trace._call_flat(tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the trace that takes the arguments, which may be `TensorSpec`s."""
        if self._signature is not None and not args and not kwargs:
            args = self._signature
        return self._chosen(*self._canonical(args, kwargs))[0]

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        return list(self.concrete_functions)

    _list_all_concrete_functions_for_serialization = _list_all_concrete_functions

    def _chosen(self, args: Any, kwargs: Any) -> tuple[LoadedTrace, list[Any]]:
        """Returns the first trace that takes the arguments, and their tensors."""
        if not self.concrete_functions:
            raise ValueError("Found zero restored functions for caller function.")
        for converting in (False, True):
            for trace in self.concrete_functions:
                given = trace.takes((args, kwargs), converting)
                if given is not None:
                    return trace, trace.tensors(given)
        options = "\n\n".join(f"Option {i}:\n  {_listed(*t.structured_input_signature)}"
                              for i, t in enumerate(self.concrete_functions, 1))
        raise ValueError("Could not find matching concrete function to call loaded from the SavedModel. Got:\n  "
                         f"{_listed(args, kwargs)}\n\n Expected these arguments to match one of the following "
                         f"{len(self.concrete_functions)} option(s):\n\n{options}\n"
                         "  Fix: call it as it was called before the model was saved")


def _listed(args: Any, kwargs: Any) -> str:
    lines = "\n    * ".join(map(pprint.pformat, args))
    return f"Positional arguments ({len(args)} total):\n    * {lines}\n  Keyword arguments: {kwargs}"


def _spec_of(message: Any) -> tuple[inspect.Signature, Any]:
    """Returns the Python signature of a `FunctionSpec`, without `self`, and its input signature."""
    spec = structure_of(message.fullargspec)
    if not all(hasattr(spec, f) for f in ("args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults")):
        raise ValueError("a function of the SavedModel has no signature. Fix: use another copy of the file")
    names = list(spec.args)
    if message.is_method or names[:1] == ["self"]:
        names = names[1:]
    kind = inspect.Parameter
    defaults = list(spec.defaults or ())[-len(names) :] if names else []
    given = [kind.empty] * (len(names) - len(defaults)) + defaults
    parameters = [kind(n, kind.POSITIONAL_OR_KEYWORD, default=d) for n, d in zip(names, given, strict=True)]
    if spec.varargs:
        parameters.append(kind(spec.varargs, kind.VAR_POSITIONAL))
    only = spec.kwonlydefaults or {}
    parameters += [kind(n, kind.KEYWORD_ONLY, default=only.get(n, kind.empty)) for n in spec.kwonlyargs or ()]
    if spec.varkw:
        parameters.append(kind(spec.varkw, kind.VAR_KEYWORD))
    input_signature = structure_of(message.input_signature)
    return inspect.Signature(parameters), None if input_signature is None else list(input_signature)
