"""`tf.function`: Python functions traced into graphs, one for each signature."""

from __future__ import annotations

import functools
import inspect
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any, Concatenate, Generic, overload

from graphgrad.frontend.function.autograph.api import with_builtins
from graphgrad.frontend.function.autograph.convert import convert
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composites import component_specs, put_together
from graphgrad.frontend.structure.signature import TensorSpec as TensorSpec
from graphgrad.frontend.structure.signature import (
    TypeSpec,
    is_within,
    kind_and_shape,
    leaf_key,
    leaf_names,
    relaxed,
    structure_key,
)
from graphgrad.frontend.structure.structure_types import P, Q, R, S
from graphgrad.frontend.structure.structured_outputs import collect_outputs
from graphgrad.frontend.structure.tensor_array_spec import ArrayParts
from graphgrad.frontend.variables.variable_creation import watching_creation
from graphgrad.ir import context
from graphgrad.ir.context import Inherited
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import shape_str
from graphgrad.ir.values.composite import Composite

from .argument_leaves import as_leaf, check_same_keys, same_literal, tensors_in
from .concrete_function import ConcreteFunction
from .implementations import noted, replace
from .initializer_lifting import initialize, restored
from .inlining import argument, inlined, settled_effects
from .shortcuts import Shortcuts, key_of


class _Tracing(Inherited):
    """The current traces of this thread: pairs of a function and a signature."""

    def __init__(self) -> None:
        self.stack: list[Any] = []


_tracing = _Tracing()
_run_eagerly = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Sets whether every `tf.function` runs as plain Python, step by step, for debugging.

    Args:
      run_eagerly: whether to.
    Reference: TensorFlow 2.21 `tf.config.run_functions_eagerly`.

    >>> tf.config.run_functions_eagerly(False)
    """
    global _run_eagerly
    _run_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Returns whether functions run as plain Python.

    Reference: TensorFlow 2.21 `tf.config.functions_run_eagerly`.

    >>> tf.config.functions_run_eagerly()
    False
    """
    return _run_eagerly


class _Traces:
    """The cached traces of a function.

    Attributes:
      known: by the signature of a call.
      general: by what is left of signatures without shapes: pairs of shapes and traces.
    """

    def __init__(self) -> None:
        self.known: dict[Any, ConcreteFunction] = {}
        self.general: dict[Any, list[tuple[list[Any], ConcreteFunction]]] = {}


class Function(Generic[P, R]):
    """A Python function that runs as graphs; what `tf.function` returns.

    It is traced once for each signature: nesting, dtypes and shapes of tensor arguments, and
    values of all others. Called while a graph is being built, it adds its operations there.
    """

    def __init__(self, python_function: Callable[P, R], input_signature: Any = None, name: str | None = None,
                 engine: str = "xla", autograph: bool = True, print_too: bool = False,
                 reduce_retracing: bool = False):
        if input_signature is not None and not isinstance(input_signature, (list, tuple)):
            raise TypeError("input_signature must be either a tuple or a list, got "
                            f"{type(input_signature)}. Fix: input_signature=[tf.TensorSpec(...)]")
        self._engine = engine
        self._function = python_function
        self._autograph, self._print_too, self._relaxes = autograph, print_too, reduce_retracing
        self._rewritten: Callable[..., Any] | None = None
        self._owner: weakref.ref[Any] | None = None  # the object of a bound method
        self._bound: Any = None
        self._signature = None if input_signature is None else tuple(input_signature)
        self._name: str = name or str(getattr(python_function, "__name__", "function"))
        self._concretes: list[ConcreteFunction] = []
        self._eager_traces = _Traces()
        self._graph_traces: weakref.WeakKeyDictionary[Any, _Traces] = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()
        self._called = False
        self._traced_times = 0
        # A trace, and the one that has to run before it to initialize variables.
        self._start: tuple[ConcreteFunction, ConcreteFunction] | None = None
        self._parameters: inspect.Signature | None = None
        self._shortcuts = Shortcuts()
        self._attributes: dict[str, Any] = {}
        functools.update_wrapper(self, python_function)

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function as it was written."""
        return self._function if self._owner is None else types.MethodType(self._function, self._self())

    def _self(self) -> Any:
        assert self._owner is not None
        owner = self._owner()
        if owner is None:
            raise ReferenceError(f"tf.function {self._name} is a method of an object that is gone. "
                                 "Fix: keep the object as long as its method")
        return owner

    def _traced(self) -> Callable[..., Any]:
        """Returns the Python function with control flow on tensors rewritten."""
        if self._rewritten is None:
            f = self._function
            self._rewritten = convert(f, self._print_too, asked=True) if self._autograph else f
        return self._rewritten if self._owner is None else types.MethodType(self._rewritten, self._self())

    @property
    def input_signature(self) -> Any:
        """The specs that arguments are converted to, or None."""
        return self._signature

    @property
    def name(self) -> str:
        """The function's name."""
        return self._name

    def experimental_get_tracing_count(self) -> int:
        """Returns the number of traces: one for each signature, twice for a call that creates variables."""
        return self._traced_times

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:  # libraries ask for the traces
        return list(self._concretes)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, ConcreteFunction]:
        return {} if save_type == "checkpoint" else {f"trace_{n}": c for n, c in enumerate(self._concretes)}

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """Formats the traces, each with its arguments, results and captures; `verbose` changes nothing."""
        return "\n\n".join(c.pretty_printed_signature(verbose) for c in self._concretes)

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Function[P, R]: ...
    @overload
    def __get__(self: Function[Concatenate[S, Q], R], instance: S, owner: Any = None) -> Function[Q, R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Returns the method of an instance: traced for it alone, and freed with it."""
        if instance is None:
            return self
        if self._bound is None:
            self._bound = weakref.WeakKeyDictionary()
        try:
            found = self._bound.get(instance)
        except TypeError:  # not hashable: the object holds its method
            found = vars(instance).get(f"_tf_function_{self._name}")
        if found is None:
            found = Function(self._function, self._signature, self._name, self._engine, self._autograph,
                             self._print_too, self._relaxes)
            found._owner, found._attributes = weakref.ref(instance), self._attributes
            try:
                self._bound[instance] = found
            except TypeError:
                vars(instance)[f"_tf_function_{self._name}"] = found
        return _Method(found, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the function; traces it first if the signature is new."""
        if _run_eagerly:
            return self.python_function(*args, **kwargs)
        graph, key = context.current_graph(), None
        given: list[Any] = []  # tensors and arrays
        if graph is None and (key := key_of(args, kwargs, given)) is not None:
            shortcut = self._shortcuts.find(key)
            if shortcut is not None:
                return shortcut(given)
        bound_args, bound_kwargs = self._canonical(args, kwargs)
        leaves = list(map(as_leaf, nest.flatten((bound_args, bound_kwargs))))
        if graph is None:
            concrete, tensors = self._concrete(bound_args, bound_kwargs, leaves)
            if self._start is not None and self._start[0] is concrete:
                concrete, self._start = self._start[1], None
            elif key is not None:
                self._shortcuts.add(key, args, kwargs, given, self._as_bound, concrete, tensors)
            return concrete._call_flat(tensors)
        # Inside another graph its operations are added to that graph.
        leaves = list(map(argument, leaves))
        bound_args, bound_kwargs = nest.pack_sequence_as((bound_args, bound_kwargs), leaves)
        key = (self, structure_key((bound_args, bound_kwargs)), tuple(map(leaf_key, leaves)))
        self._refuse_recursion(key)
        _tracing.stack.append(key)
        try:
            with graph._own_gradients():
                result = inlined(graph, lambda: self._traced()(*bound_args, **bound_kwargs), leaves)
                return noted(graph, self._attributes, bound_args, bound_kwargs, result) if self._attributes else result
        finally:
            _tracing.stack.pop()

    def _refuse_recursion(self, key: Any) -> None:
        if key in _tracing.stack:
            raise RecursionError(
                f"tf.function {self._name} calls itself while it is traced, with arguments of the same signature: that "
                "would never end, since a graph holds both branches of a condition. Fix: use a loop (`while`, "
                "tf.while_loop), or give it a Python number that decides when to stop"
            )

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the trace for a signature; arguments may be `TensorSpec`s.

        Raises: TypeError for arguments that the function does not take.
        """
        if self._signature is not None and not args and not kwargs:
            args = self._signature
        bound_args, bound_kwargs = self._canonical(args, kwargs)
        leaves = list(map(as_leaf, nest.flatten((bound_args, bound_kwargs))))
        concrete = self._concrete(bound_args, bound_kwargs, leaves, self._for_graph(context.current_graph()))[0]
        if self._start is not None:
            raise ValueError(f"get_concrete_function: tf.function {self._name} creates a variable whose initial "
                             "value depends on an argument, so only a call can give it its first value. Fix: call "
                             "the function once before, or create the variable outside of it")
        concrete._implements = functools.partial(replace, self._attributes, self) if self._attributes else None
        return concrete

    def _for_graph(self, graph: Any) -> _Traces:
        """Returns the traces that may capture tensors of a graph; None is eager mode."""
        if graph is None:
            return self._eager_traces
        return self._graph_traces.setdefault(graph, _Traces())

    def _bound_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        if self._parameters is None:
            self._parameters = inspect.signature(self.python_function)
        try:
            bound = self._parameters.bind(*args, **kwargs)
        except TypeError as e:
            raise self._binding_error(e, args, kwargs, self._parameters, "call it as it is defined") from None
        bound.apply_defaults()
        return bound

    def _as_bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = self._bound_arguments(args, kwargs)
        return bound.args, bound.kwargs

    def _canonical(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        bound = self._bound_arguments(args, kwargs)
        if self._signature is None:
            return bound.args, bound.kwargs
        if len(bound.args) < len(self._signature):
            raise TypeError(
                f"{self._name} takes {len(self._signature)} arguments by its input_signature, not {len(bound.args)}."
            )
        self._check_rest(bound, args, kwargs)
        signature = list(self._signature)
        given = list(bound.args[: len(signature)])
        try:
            check_same_keys(signature, given)
            fitted = nest.map_structure_up_to(signature, self._fit, signature, given)
        except ValueError as e:
            fix = "nest arguments as in the input_signature"
            raise self._binding_error(e, args, kwargs, self._signature, fix) from None
        return (*fitted, *bound.args[len(self._signature) :]), bound.kwargs

    def _check_rest(self, bound: inspect.BoundArguments, args: Any, kwargs: Any) -> None:
        """Checks that arguments outside the signature have their defaults, which are part of the one trace."""
        assert self._parameters is not None and self._signature is not None
        for name, p in list(self._parameters.parameters.items())[len(self._signature) :]:
            if p.default is not p.empty and not same_literal(bound.arguments[name], p.default):
                error = ValueError(f"Can not cast {bound.arguments[name]!r} to Literal[{p.default!r}]")
                raise self._binding_error(error, args, kwargs, self._signature, "name it in the input_signature")

    def _binding_error(self, error: Exception, args: Any, kwargs: Any, signature: Any, fix: str) -> TypeError:
        return TypeError(f"Binding inputs to tf.function {self._name} failed due to `{error}`. Received args: {args} "
                         f"and kwargs: {kwargs} for signature: {signature}. Fix: {fix}")

    def _fit(self, spec: TensorSpec, value: Any) -> Any:
        if isinstance(value, TypeSpec) or not isinstance(spec, TypeSpec):
            return value
        if not isinstance(spec, TensorSpec):
            if not spec.is_compatible_with(value):
                raise TypeError(f"Binding inputs to tf.function {self._name} failed: {value!r} is not compatible with "
                                f"{spec}. Fix: pass a value of that kind, or change the input_signature")
            return value
        try:
            tensor = convert_to_tensor(value, spec.dtype)
        except (TypeError, ValueError) as e:
            raise TypeError(
                f"Binding inputs to tf.function {self._name} failed: can not cast {value!r} to {spec}: {e}"
            ) from None
        if not spec.is_compatible_with(tensor):
            raise TypeError(
                f"Binding inputs to tf.function {self._name} failed: a tensor of shape "
                f"{shape_str(tensor._spec.shape)} is not compatible with {spec}. "
                "Fix: pass a tensor of that shape, or widen the input_signature with None dimensions"
            )
        if isinstance(tensor, Tensor) and not tensor.shape.is_subtype_of(spec._shape):
            return raw.EnsureShape(tensor, shape=spec._shape)  # further guarantees of the signature
        return tensor

    # -- traces ------------------------------------------------------------------------

    def _concrete(self, args: Any, kwargs: Any, leaves: list[Any],
                  traces: _Traces | None = None) -> tuple[ConcreteFunction, list[Any]]:
        traces = traces or self._eager_traces
        specs = nest.flatten(list(self._signature)) if self._signature is not None else []
        keys = [leaf_key(v, specs[i] if i < len(specs) else None) for i, v in enumerate(leaves)]
        key = (structure_key((args, kwargs)), tuple(keys))
        concrete = traces.known.get(key)
        if concrete is None:
            with self._lock:
                concrete = traces.known.get(key)
                if concrete is None:
                    concrete = traces.known[key] = self._find(args, kwargs, leaves, keys, key, traces)
        return concrete, [t for v in leaves for t in tensors_in(v)]

    def _find(self, args: Any, kwargs: Any, leaves: list[Any], keys: list[Any], key: Any,
              traces: _Traces) -> ConcreteFunction:
        """Finds a trace for less specific shapes and specs, or makes a new one."""
        split = list(map(kind_and_shape, keys))
        shapes = [shape for _, shape in split]
        others = traces.general.setdefault((key[0], tuple([kind for kind, _ in split])), [])
        for known, concrete in others:
            if all(map(is_within, shapes, known)):
                return concrete
        if self._relaxes and others:
            shapes = [relaxed(s, k) for s, k in zip(shapes, others[-1][0], strict=True)]
        self._refuse_recursion((self, *key))
        _tracing.stack.append((self, *key))
        try:
            concrete = self._trace(args, kwargs, leaves, shapes)
        finally:
            _tracing.stack.pop()
        others.append((shapes, concrete))
        self._concretes.append(concrete)
        return concrete

    def _trace(self, args: Any, kwargs: Any, leaves: list[Any], shapes: list[Any]) -> ConcreteFunction:
        first, self._called = not self._called, True
        created: list[Any] = []

        def refuse() -> None:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
                f"is only created once or created outside tf.function {self._name}. Fix: create it before, or keep it: "
                "`if self.v is None: self.v = tf.Variable(...)`"
            )

        with watching_creation(lambda: created.append(1) if first else refuse()) as assignments:
            concrete = self._trace_once(args, kwargs, leaves, shapes)
        if created:  # the function must not create variables again
            first_trace = concrete
            ready = initialize(assignments, self._engine)
            with watching_creation(refuse):
                concrete = self._trace_once(args, kwargs, leaves, shapes)
            if not ready:
                first_trace.leave_out(restored(assignments))
                self._start = concrete, first_trace
        return concrete

    def _trace_once(self, args: Any, kwargs: Any, leaves: list[Any], shapes: list[Any]) -> ConcreteFunction:
        self._traced_times += 1
        graph = FuncGraph(self._name, context.current_graph())
        assert self._parameters is not None
        names = leaf_names(self._parameters, args, kwargs)
        replaced: list[Any] = []
        specs: list[Any] = []
        for leaf, name, shape in zip(leaves, names, shapes, strict=True):
            if isinstance(leaf, (EagerTensor, Tensor, TensorSpec)):
                p = graph.add_input(leaf.dtype, shape, getattr(leaf, "name", None) or name)
                replaced.append(p)
                specs.append(TensorSpec(shape, leaf.dtype, p.op.name))
            elif isinstance(leaf, Composite) or nest.is_composite_spec(leaf):
                spec = leaf._whole_spec if isinstance(leaf, Composite) else leaf
                wide = shape if isinstance(shape, TypeSpec) else spec._generic()
                inputs = [graph.add_input(s.dtype, s._shape, name) for s in component_specs(wide)]
                with graph.as_default():
                    replaced.extend(put_together([wide], inputs))
                specs.append(spec)
            elif isinstance(leaf, ArrayParts):
                inputs = [graph.add_input(t.dtype, t._spec.shape, name) for t in leaf.parts]
                with graph.as_default():
                    replaced.append(leaf.together(inputs))
                specs.append(leaf.spec)
            else:
                replaced.append(leaf)
                specs.append(leaf)
        count = len(graph.inputs)
        with graph.as_default():
            new_args, new_kwargs = nest.pack_sequence_as((args, kwargs), replaced)
            structured = collect_outputs(self._traced()(*new_args, **new_kwargs), graph.outputs)
        settled_effects(graph)
        signature = nest.pack_sequence_as((args, kwargs), specs)
        concrete = ConcreteFunction(graph, count, structured, self._engine, signature)
        concrete._parameters = list(self._parameters.parameters)
        return concrete


class _Method:
    """A `Function` bound to an object, which it keeps alive; otherwise the `Function`."""

    def __init__(self, function: Function[..., Any], instance: Any):
        self._function, self._instance = function, instance

    __wrapped__ = property(lambda self: self._function.python_function)
    __name__ = property(lambda self: self._function._name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


@overload
def function(func: None = None, input_signature: Any = None, autograph: bool = True, jit_compile: bool | None = None,
             reduce_retracing: bool = False, experimental_implements: Any = None,
             experimental_autograph_options: Any = None, experimental_attributes: Any = None,
             experimental_relax_shapes: Any = None, experimental_compile: Any = None,
             experimental_follow_type_hints: Any = None) -> Callable[[Callable[P, R]], Function[P, R]]: ...
@overload
def function(func: Callable[P, R], input_signature: Any = None, autograph: bool = True, jit_compile: bool | None = None,
             reduce_retracing: bool = False, experimental_implements: Any = None,
             experimental_autograph_options: Any = None, experimental_attributes: Any = None,
             experimental_relax_shapes: Any = None, experimental_compile: Any = None,
             experimental_follow_type_hints: Any = None) -> Function[P, R]: ...
def function(func: Callable[..., Any] | None = None, input_signature: Any = None, autograph: bool = True,
             jit_compile: bool | None = None, reduce_retracing: bool = False, experimental_implements: Any = None,
             experimental_autograph_options: Any = None, experimental_attributes: Any = None,
             experimental_relax_shapes: Any = None, experimental_compile: Any = None,
             experimental_follow_type_hints: Any = None) -> Any:
    """Compiles a Python function into graphs, one for each signature it is called with.

    Args:
      func: the function; when omitted, the result is a decorator.
      input_signature: a nested sequence of `TensorSpec` and related ones; one trace then serves all calls.
      autograph: whether `if`, `while`, `for`, `and`, `or`, `not` and assertions on tensors become operations.
      jit_compile, experimental_compile: True compiles a function as one XLA program, instead of in clusters.
      experimental_autograph_options: a `tf.autograph.experimental.Feature`, or several.
      reduce_retracing, experimental_relax_shapes: whether shapes that differ between calls become unknown dimensions,
        instead of one trace for each shape.
      experimental_attributes: a dict; of its items "api_implements" and "api_preferred_device" say which function
        replaces which on a device.
      experimental_implements, experimental_follow_type_hints: accepted as TensorFlow does.
    Returns: a `Function`, or a decorator.
    Raises: TypeError, when called, for arguments that do not fit the input signature.
    Gradient: `tf.gradients` inside the function.

    >>> @tf.function
    ... def f(x):
    ...     return x * x
    >>> float(sess.run(f(tf.constant(3.0))))
    9.0
    """
    engine = "whole" if jit_compile or (jit_compile is None and experimental_compile) else "xla"
    print_too = with_builtins(experimental_autograph_options)
    reduces = bool(reduce_retracing or experimental_relax_shapes)

    def made(f: Callable[..., Any]) -> Function[..., Any]:
        found = Function(f, input_signature, None, engine, autograph, print_too, reduces)
        found._attributes = dict(experimental_attributes or {})
        return found

    return made if func is None else made(func)
