"""`tf.function`: Python functions traced into graphs, one for each signature."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..executor.run import Executable
from ..executor.xla import to_numpy
from ..ir import context, dtypes
from ..ir.cell import Cell
from ..ir.convert import convert_to_tensor, is_tensor_like
from ..ir.dtypes import DType, as_dtype
from ..ir.eager import EagerTensor
from ..ir.funcgraph import FuncGraph
from ..ir.graph import Operation, Tensor
from ..ir.shape import Shape, TensorShape, as_shape, compatible, shape_str
from ..ir.slices import IndexedSlices
from . import nest
from .autograph.api import with_builtins
from .autograph.convert import convert
from .tape import recording


class TensorSpec:
    """Shape, dtype and name of a tensor argument.

    Args:
      shape: the static shape; None dimensions may vary between calls.
      dtype: the dtype.
      name: the argument's name.
    """

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None):
        self._shape: Shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape(self._shape)

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The argument's name, or None."""
        return self._name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor (or another spec) is of this dtype and a shape that fits."""
        other = spec_or_tensor
        return as_dtype(other.dtype) is self._dtype and compatible(self._shape, as_shape(other.shape))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self._shape, self._dtype) == (other._shape, other._dtype)

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={shape_str(self._shape)}, dtype={self._dtype!r}, name={self._name!r})"


class ConcreteFunction:
    """A function traced for one signature.

    Attributes:
      graph: its `FuncGraph`.
      inputs: its placeholders, those of captured tensors last.
      outputs: the tensors it computes.
    """

    def __init__(self, graph: FuncGraph, argument_count: int, structured_outputs: Any, engine: str = "xla"):
        self._engine = engine
        self.graph = graph
        self.name = graph.name
        self._argument_count = argument_count
        self.structured_outputs = structured_outputs
        self._counters: dict[Operation, int] = {}
        self._executable: Executable | None = None

    @property
    def inputs(self) -> list[Tensor]:
        """The placeholders: one for each tensor argument, then one for each captured tensor."""
        return list(self.graph.inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that are computed, flat."""
        return list(self.graph.outputs)

    @property
    def captured_inputs(self) -> list[Any]:
        """The tensors of the surroundings that are used."""
        return list(self.graph.captured)

    def _prepare(self) -> Executable:
        graph = self.graph
        cells = {
            id(p): c._value
            for p, c in zip(graph.inputs[self._argument_count :], graph.captured, strict=True)
            if p.dtype is dtypes.resource
        }

        def resolve(handle: Tensor) -> Cell:
            cell: Cell = cells[id(handle)]
            return cell

        self._feeds = [(i, p) for i, p in enumerate(graph.inputs) if p.dtype is not dtypes.resource]
        fetches = list({id(t): t for t in graph.outputs}.values())
        self._places = [[id(t) for t in fetches].index(id(t)) for t in graph.outputs]
        targets = [op for op in graph._operations if _has_effect(op)]
        self._executable = Executable(fetches, targets, [p for _, p in self._feeds], resolve, self._counters,
                                      self._engine)  # fmt: skip
        return self._executable

    def _call_flat(self, args: Sequence[Any]) -> Any:
        executable = self._executable or self._prepare()
        given = [*args, *self.graph.captured]
        values = executable([np.asarray(given[i]._value) for i, _ in self._feeds])
        outputs = self.graph.outputs
        tensors = [
            EagerTensor(values[p] if t.dtype.kind == "o" else np.asarray(to_numpy(values[p])), t.dtype)
            for p, t in zip(self._places, outputs, strict=True)
        ]
        return _restore(self.structured_outputs, tensors)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls with tensors in the order of the signature, or by name."""
        leaves = nest.flatten([args, kwargs]) if kwargs else nest.flatten(args)
        tensors = [convert_to_tensor(v, p.dtype) for v, p in zip(
            [v for v in leaves if is_tensor_like(v) or isinstance(v, (np.ndarray, int, float))],
            self.graph.inputs[: self._argument_count], strict=False)]  # fmt: skip
        if len(tensors) != self._argument_count:
            raise TypeError(f"{self.name} takes {self._argument_count} tensors, not {len(tensors)}.")
        return self._call_flat(tensors)


def _has_effect(op: Operation) -> bool:
    flags = op.opdef.flags
    if "functional" in flags:
        return any(_has_effect(o) for g in op.attrs.values() if isinstance(g, FuncGraph) for o in g._operations)
    return "stateful" in flags and not flags & {"reads", "random"} and op.type not in ("VarHandleOp", "Placeholder")


class _Output:
    """Marks, in the structure of results, where the i-th tensor goes."""

    def __init__(self, index: int):
        self.index = index


def _collect_outputs(result: Any, graph: FuncGraph) -> Any:
    """Puts the tensors of `result` into `graph.outputs` and marks in their places."""

    def collect(leaf: Any) -> Any:
        if leaf is None:
            return None
        if isinstance(leaf, Operation):
            return None
        if isinstance(leaf, IndexedSlices):
            return IndexedSlices(collect(leaf.values), collect(leaf.indices), collect(leaf.dense_shape))
        tensor = convert_to_tensor(leaf)
        if tensor.dtype is dtypes.resource:
            return leaf
        graph.outputs.append(tensor)
        return _Output(len(graph.outputs) - 1)

    return nest.map_structure(collect, result)


def _restore(structure: Any, tensors: Sequence[Any]) -> Any:
    def restore(leaf: Any) -> Any:
        if isinstance(leaf, _Output):
            return tensors[leaf.index]
        if isinstance(leaf, IndexedSlices):
            return IndexedSlices(restore(leaf.values), restore(leaf.indices), restore(leaf.dense_shape))
        return leaf

    return nest.map_structure(restore, structure)


class Function:
    """A Python function that runs as graphs; what `tf.function` returns.

    It is traced once for each signature: nesting, dtypes and shapes of tensor arguments, and
    values of all others. Called while a graph is being built, it adds its operations there.
    """

    def __init__(self, python_function: Callable[..., Any], input_signature: Any = None, name: str | None = None,
                 engine: str = "xla", autograph: bool = True, print_too: bool = False):  # fmt: skip
        self._engine = engine
        self.python_function = python_function
        self._autograph, self._print_too = autograph, print_too
        self._rewritten: Callable[..., Any] | None = None
        self._signature = None if input_signature is None else tuple(input_signature)
        self._name: str = name or str(getattr(python_function, "__name__", "function"))
        self._traces: dict[Any, ConcreteFunction] = {}
        self._arguments = inspect.signature(python_function)
        functools.update_wrapper(self, python_function)

    def _traced(self) -> Callable[..., Any]:
        """The Python function with control flow on tensors rewritten."""
        if self._rewritten is None:
            f = self.python_function
            self._rewritten = convert(f, self._print_too) if self._autograph else f
        return self._rewritten

    @property
    def input_signature(self) -> Any:
        """The specs that arguments are converted to, or None."""
        return self._signature

    def experimental_get_tracing_count(self) -> int:
        """How many signatures have been traced."""
        return len(self._traces)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        bound = self.__dict__.setdefault("_bound", {})
        if id(instance) not in bound:
            bound[id(instance)] = Function(self.python_function.__get__(instance, owner), self._signature, self._name,
                                           self._engine, self._autograph, self._print_too)  # fmt: skip
        return bound[id(instance)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function; traces it first if the signature is new."""
        graph = context.current_graph()
        if graph is not None or recording():
            # Inside another graph its operations become part of that graph. A tape has to see
            # each of them, so it runs eagerly then.
            with contextlib.nullcontext() if graph is None else graph._own_gradients():
                return self._traced()(*args, **kwargs)
        bound_args, bound_kwargs = self._canonical(args, kwargs)
        leaves = nest.flatten((bound_args, bound_kwargs))
        concrete, tensors = self._concrete(bound_args, bound_kwargs, leaves)
        return concrete._call_flat(tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for a signature; arguments may be `TensorSpec`s.

        Raises: TypeError for arguments that the function does not take.
        """
        if self._signature is not None and not args and not kwargs:
            args = self._signature
        bound_args, bound_kwargs = self._canonical(args, kwargs)
        return self._concrete(bound_args, bound_kwargs, nest.flatten((bound_args, bound_kwargs)))[0]

    def _canonical(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        bound = self._arguments.bind(*args, **kwargs)
        bound.apply_defaults()
        if self._signature is None:
            return bound.args, bound.kwargs
        if len(bound.args) < len(self._signature):
            raise TypeError(
                f"{self._name} takes {len(self._signature)} arguments by its input_signature, not {len(bound.args)}."
            )
        signature = list(self._signature)
        fitted = nest.map_structure_up_to(signature, self._fit, signature, list(bound.args[: len(signature)]))
        return (*fitted, *bound.args[len(self._signature) :]), bound.kwargs

    def _fit(self, spec: TensorSpec, value: Any) -> Any:
        if isinstance(value, TensorSpec):
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
        return tensor

    def _concrete(self, args: Any, kwargs: Any, leaves: list[Any]) -> tuple[ConcreteFunction, list[Any]]:
        leaves = [EagerTensor(np.asarray(v)) if isinstance(v, np.ndarray) else v for v in leaves]
        specs = nest.flatten(list(self._signature)) if self._signature is not None else []
        key = (
            _shape_of_structure((args, kwargs)),
            tuple([_leaf_key(v, specs[i] if i < len(specs) else None) for i, v in enumerate(leaves)]),
        )
        tensors = [v for v in leaves if isinstance(v, EagerTensor)]
        concrete = self._traces.get(key)
        if concrete is None:
            concrete = self._traces[key] = self._trace(args, kwargs, leaves, specs)
        return concrete, tensors

    def _trace(self, args: Any, kwargs: Any, leaves: list[Any], specs: list[Any]) -> ConcreteFunction:
        graph = FuncGraph(self._name)
        names = iter(_leaf_names(self._arguments, args, kwargs))
        replaced = []
        for i, leaf in enumerate(leaves):
            name = next(names)
            if isinstance(leaf, (EagerTensor, TensorSpec)):
                shape = specs[i]._shape if i < len(specs) else as_shape(leaf.shape)
                replaced.append(graph.add_input(leaf.dtype, shape, getattr(leaf, "name", None) or name))
            else:
                replaced.append(leaf)
        count = len(graph.inputs)
        with graph.as_default():
            new_args, new_kwargs = nest.pack_sequence_as((args, kwargs), replaced)
            result = self._traced()(*new_args, **new_kwargs)
            structured = _collect_outputs(result, graph)
        return ConcreteFunction(graph, count, structured, self._engine)


def _shape_of_structure(structure: Any) -> Any:
    """A hashable key for how a structure is nested."""
    if isinstance(structure, dict):
        return ("dict", *[(k, _shape_of_structure(structure[k])) for k in sorted(structure)])
    if isinstance(structure, (list, tuple)):
        return (type(structure), *map(_shape_of_structure, structure))
    return None


def _leaf_key(leaf: Any, spec: Any) -> Any:
    if spec is not None:
        return spec
    if isinstance(leaf, EagerTensor):
        return leaf.dtype, leaf._value.shape
    if isinstance(leaf, TensorSpec):
        return leaf.dtype, leaf._shape
    try:
        hash(leaf)
    except TypeError:
        return id(leaf)
    return type(leaf), leaf if not hasattr(leaf, "handle") else id(leaf)


def _leaf_names(signature: inspect.Signature, args: Any, kwargs: Any) -> list[str]:
    names: list[str] = []
    bound = signature.bind(*args, **kwargs)
    for name, value in bound.arguments.items():
        names.extend([name] * len(nest.flatten(value)))
    return names + ["arg"] * (len(nest.flatten((args, kwargs))) - len(names))


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: Any = None,
    experimental_compile: Any = None,
    experimental_follow_type_hints: Any = None,
) -> Any:
    """Compiles a Python function into graphs, one for each signature it is called with.

    Args:
      func: the function; when left out, the result is a decorator.
      input_signature: a nested sequence of `TensorSpec`; one trace then serves all calls.
      autograph: whether `if`, `while`, `for`, `and`, `or`, `not` and assertions on tensors become operations.
      jit_compile, experimental_compile: True compiles a function as one XLA program, instead of in clusters.
      experimental_autograph_options: a `tf.autograph.experimental.Feature`, or several.
      reduce_retracing, experimental_implements, experimental_attributes,
        experimental_relax_shapes, experimental_follow_type_hints: accepted as TensorFlow does.
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
    if func is None:
        return lambda f: Function(f, input_signature, None, engine, autograph, print_too)
    return Function(func, input_signature, None, engine, autograph, print_too)
