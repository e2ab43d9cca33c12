"""Functions as they are written to SavedModels: messages, and the objects that they are bound to."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from graphgrad.frontend.function.concrete_function import ConcreteFunction
from graphgrad.frontend.function.function import Function
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composite_specs import type_spec_from_value
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.graph_messages import AttrValue, FunctionDef, shape_proto
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.values.composite import Bundle, Composite
from graphgrad.training.checkpoints.saved_object_messages import FunctionSpec, SavedConcreteFunction
from graphgrad.training.checkpoints.structure_encoding import NotEncodableError, encode_structure

from .cannot_be_written import CannotBeWritten
from .function_writer import FunctionWriter


class WrittenFunction:
    """A function in the library of a model.

    Attributes:
      definition: its message.
      bound: the tensors that its last arguments stand for.
      keywords: the names of its other arguments.
      described: its `SavedConcreteFunction`, without the numbers of what it is bound to.
      specs: of the other arguments.
      results: names and specs of the results, if it is a signature's.
      defaults: values of arguments, by name, for programs that give none; of a signature's function.
    """

    def __init__(self, definition: Any, bound: Sequence[Any], keywords: Sequence[str], input_signature: Any,
                 output_signature: Any, specs: Sequence[TensorSpec] = (), results: Any = None):
        self.definition, self.bound, self.keywords = definition, list(bound), list(keywords)
        self.specs, self.results = list(specs), results
        self.defaults: dict[str, Any] = {}
        self.described = SavedConcreteFunction()
        self.described.canonicalized_input_signature.CopyFrom(encode_structure(input_signature))
        self.described.output_signature.CopyFrom(encode_structure(output_signature))

    @property
    def name(self) -> str:
        """Its name in the library."""
        return str(self.definition.signature.name)


def written(concrete: ConcreteFunction, writer: FunctionWriter, name: str) -> WrittenFunction:
    """Writes a trace.

    Args:
      concrete: the trace.
      writer: the writer.
      name: the function's name in the library.
    Raises: CannotBeWritten if it holds what has no message.
    """
    outputs = concrete.graph.outputs
    try:
        definition = writer.definition(name, concrete.graph, concrete.inputs, outputs, concrete._targets)
        results = nest.map_structure(_spec_of, concrete._symbolic_outputs())
        arguments = concrete.inputs[: concrete._argument_count]
        keywords = [p.op.name for p in arguments]
        specs = [TensorSpec(p._spec.shape, p.dtype, p.op.name) for p in arguments]
        return WrittenFunction(definition, concrete.captured_inputs, keywords, concrete.structured_input_signature,
                               results, specs)
    except NotEncodableError as e:
        raise CannotBeWritten(str(e)) from None


def _spec_of(leaf: Any) -> Any:
    """Returns the spec of a result."""
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf._spec.shape, leaf.dtype, leaf.op.name)
    if isinstance(leaf, AnyTensor):
        return TensorSpec(leaf.shape, leaf.dtype)
    return type_spec_from_value(leaf) if isinstance(leaf, (Bundle, Composite)) else leaf


def function_spec(function: Function[..., Any]) -> Any:
    """Makes the message of a function's Python signature.

    Raises: NotEncodableError if it has defaults that cannot be written.
    """
    signature = function._parameters or inspect.signature(function.python_function)
    parameters = list(signature.parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    named = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    rest = {p.kind: p.name for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    defaults = tuple([p.default for p in positional if p.default is not p.empty])
    named_defaults = {p.name: p.default for p in named if p.default is not p.empty}
    full = inspect.FullArgSpec([p.name for p in positional], rest.get(inspect.Parameter.VAR_POSITIONAL),
                               rest.get(inspect.Parameter.VAR_KEYWORD), defaults or None, [p.name for p in named],
                               named_defaults or None, {})
    made = FunctionSpec()
    made.fullargspec.CopyFrom(encode_structure(full))
    made.input_signature.CopyFrom(encode_structure(function.input_signature))
    return made


def spec_without_arguments() -> Any:
    """Makes the message of the Python signature of a function that takes nothing."""
    made = FunctionSpec()
    made.fullargspec.CopyFrom(encode_structure(inspect.FullArgSpec([], None, None, None, [], None, {})))
    made.input_signature.CopyFrom(encode_structure(()))
    return made


# -- signatures ------------------------------------------------------------------------


def default_tensors(function: Any, keywords: Sequence[str]) -> dict[str, Any]:
    """Returns the tensors that are defaults of a function's last arguments, by the names of its trace's arguments.

    Args:
      function: the function; one that is a trace has no defaults.
      keywords: the names of the trace's arguments.
    """
    if not isinstance(function, Function):
        return {}
    signature = function._parameters or inspect.signature(function.python_function)
    parameters = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    defaults = nest.flatten([p.default for p in parameters if p.default is not p.empty])
    pairs = zip(list(keywords)[len(keywords) - len(defaults):], defaults, strict=False)
    return {name: value for name, value in pairs if isinstance(value, EagerTensor)}


def signature_results(outputs: Any, function_name: str, key: str) -> dict[str, Any]:
    """Returns the results of a signature by name.

    Args:
      outputs: what its function returns.
      function_name: the function's name.
      key: the signature's.
    Raises: ValueError if they cannot be results of a signature.
    """
    if not isinstance(outputs, Mapping):
        if hasattr(outputs, "_asdict"):
            outputs = outputs._asdict()
        else:
            listed = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            outputs = {f"output_{i}": v for i, v in enumerate(listed)}
    for name, value in outputs.items():
        if not isinstance(name, (str, bytes)):
            raise ValueError(f"Got a dictionary with a non-string key {name!r} in the output of the function "
                             f"{function_name} used to generate the SavedModel signature {key!r}.")
        if not isinstance(value, (Tensor, Composite)):
            raise ValueError(f"Got a non-Tensor value {value!r} for key {name!r} in the output of the function "
                             f"{function_name} used to generate the SavedModel signature {key!r}. Outputs for "
                             "functions used as signatures must be a single Tensor, a sequence of Tensors, or a "
                             "dictionary from string to Tensor.")
    return dict(outputs)


def written_signature(key: str, concrete: ConcreteFunction, inner: WrittenFunction,
                      writer: FunctionWriter) -> WrittenFunction:
    """Writes the function of a signature: it takes tensors by name, and returns a dictionary.

    Args:
      key: the signature's name.
      concrete: the trace.
      inner: the trace as it is written.
      writer: the writer.
    Raises: ValueError if the trace cannot be a signature.
    """
    found = signature_results(concrete._symbolic_outputs(), concrete.name, key)
    if any(isinstance(v, Composite) for v in found.values()):
        raise ValueError(f"the signature {key!r} returns values that consist of several tensors. "
                         "Fix: return their tensors by name")
    positions = {id(t): i for i, t in enumerate(concrete.outputs)}
    made = FunctionDef()
    made.signature.name = writer.new_name(f"__inference_signature_wrapper_{_plain(concrete.name)}")
    order = sorted(range(len(inner.keywords)), key=inner.keywords.__getitem__)
    places: dict[int, str] = {}
    for i in [*order, *range(len(order), len(inner.definition.signature.input_arg))]:
        argument = inner.definition.signature.input_arg[i]
        number = len(made.signature.input_arg)
        made.signature.input_arg.append(argument)
        made.arg_attr[number] = inner.definition.arg_attr[i]
        places[i] = argument.name
    call = made.node_def.add(name="StatefulPartitionedCall", op="StatefulPartitionedCall",
                             input=[places[i] for i in range(len(places))])
    fill_call(call, inner.definition)
    results = {}
    for i, (name, tensor) in enumerate(sorted(found.items())):
        made.signature.output_arg.add(name=f"output_{i}", type=tensor.dtype.enum)
        made.ret[f"output_{i}"] = f"StatefulPartitionedCall:output:{positions[id(tensor)]}"
        results[name] = TensorSpec(tensor._spec.shape, as_dtype(tensor.dtype), name)
    made.control_ret["StatefulPartitionedCall"] = "StatefulPartitionedCall"
    made.signature.control_output.append("StatefulPartitionedCall")
    made.signature.is_stateful = True
    names = [inner.keywords[i] for i in order]
    specs = [inner.specs[i] for i in order]
    return WrittenFunction(made, inner.bound, names, ((), dict(zip(names, specs, strict=True))), results, specs,
                           results)


def fill_call(node: Any, definition: Any) -> None:
    """Sets the attributes of an operation that calls a function."""
    node.attr["Tin"].list.SetInParent()
    node.attr["Tout"].list.SetInParent()
    node.attr["Tin"].list.type.extend(a.type for a in definition.signature.input_arg)
    node.attr["Tout"].list.type.extend(a.type for a in definition.signature.output_arg)
    node.attr["f"].func.name = definition.signature.name
    for name in ("config", "config_proto", "executor_type"):
        node.attr[name] = AttrValue(s=b"")


def set_shapes_of(node: Any, shapes: Sequence[Any]) -> None:
    """Notes the shapes of an operation's results."""
    node.attr["_output_shapes"].list.SetInParent()
    node.attr["_output_shapes"].list.shape.extend(map(shape_proto, shapes))


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)
