"""The objects of a model that is saved: what each holds, and what it is in the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphgrad.extras.pipelines.asset import Asset
from graphgrad.frontend.function.concrete_function import ConcreteFunction
from graphgrad.frontend.function.function import Function
from graphgrad.frontend.function.saving import function_behind, is_function, traces_of
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.tracking.data_structures import DictWrapper, ListWrapper, TrackableDataStructure, wrap
from graphgrad.frontend.tracking.trackable import Trackable
from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.dtypes import resource, variant
from graphgrad.ir.graph_messages import FunctionDefLibrary, shape_proto
from graphgrad.system.log import Log
from graphgrad.training.checkpoints.object_graph import ObjectGraph, pieces
from graphgrad.training.checkpoints.saved_object_messages import SavedObjectGraph
from graphgrad.training.checkpoints.structure_encoding import NotEncodableError
from graphgrad.training.optimizers.optimizer import Optimizer

from .cannot_be_written import CannotBeWritten
from .function_writer import FunctionWriter
from .revived_types import find
from .saved_resources import resource_functions, saving_functions
from .written_functions import WrittenFunction, function_spec, spec_without_arguments, written
from .written_gradients import is_constant

_log = Log("tensorflow")


def _variable_behind(child: Any) -> Any:
    """Returns the variable of an object that is saved as its `value`, as variables of other libraries are."""
    if isinstance(child, Variable) or not hasattr(type(child), "_serialize_to_tensors"):
        return child
    value = getattr(child, "value", None)
    return value if isinstance(value, Variable) else child


class CapturedConstant:
    """A tensor that functions captured."""

    def __init__(self, tensor: Any):
        self.tensor = tensor


class TensorInside:
    """A tensor of a function that a gradient function uses."""

    def __init__(self, tensor: Any):
        self.tensor = tensor


class SignatureMap:
    """The signatures of a model."""

    def __init__(self, functions: Mapping[str, WrittenFunction]):
        self.functions = dict(functions)


class ResourceFunction:
    """A function that makes, fills or removes the resource of an object."""

    def __init__(self, function: WrittenFunction):
        self.function = function


class SavedObjects:
    """All objects of a model.

    Args:
      root: the outermost one.
      writer: the writer of functions.
      keeps_devices: whether the devices of variables are written.

    Attributes:
      graph: the objects and how they are connected, see `find`.
      functions: those that objects are bound to.
      library: all functions.
    """

    graph: ObjectGraph

    def __init__(self, root: Any, writer: FunctionWriter, keeps_devices: bool = False):
        self.root, self.writer, self.keeps_devices = root, writer, keeps_devices
        self.functions: list[WrittenFunction] = []
        self.library = FunctionDefLibrary()
        self._traces: dict[int, WrittenFunction | None] = {}
        self._children: dict[int, dict[str, Any]] = {}
        self._kept: list[Any] = []  # what is known by its id
        self._constants: dict[int, CapturedConstant] = {}
        self._inside: dict[int, TensorInside] = {}
        self._cache: dict[Any, Any] = {}
        self._saving: dict[int, int] = {}  # of objects, by number: that of the function which saves it

    # -- functions -------------------------------------------------------------------

    def trace(self, concrete: ConcreteFunction, what: str = "") -> WrittenFunction | None:
        """Writes a trace, once; returns None, with a warning, if it cannot be written."""
        if id(concrete) not in self._traces:
            self._kept.append(concrete)
            name = self.writer.new_name(f"__inference_{concrete.name}_{len(self._traces)}")
            try:
                with self.writer.all_or_nothing(self.library):
                    made = written(concrete, self.writer, name)
                self.functions.append(made)
                self._traces[id(concrete)] = made
            except CannotBeWritten as e:
                _log.warning("The SavedModel is written without a trace of the function %s: it holds %s, which "
                             "cannot be written.", what or concrete.name, e)
                self._traces[id(concrete)] = None
        return self._traces[id(concrete)]

    def add_function(self, function: WrittenFunction) -> None:
        """Adds a function that is no trace to the library."""
        self.functions.append(function)

    # -- objects ---------------------------------------------------------------------

    def children(self, value: Any) -> dict[str, Any]:
        """Returns what an object holds in the file, by name; asked for once, since objects may make it anew."""
        if id(value) not in self._children:
            self._kept.append(value)
            self._children[id(value)] = self._held(value)
        return self._children[id(value)]

    def _held(self, value: Any) -> dict[str, Any]:
        if isinstance(value, Function):
            return {f"trace_{n}": c for n, c in enumerate(traces_of(value)) if self.trace(c, value.name) is not None}
        if isinstance(value, ConcreteFunction):
            return {f"capture_{n}": self._captured(c) for n, c in enumerate(value.captured_inputs)
                    if c.dtype not in (resource, variant)}
        if isinstance(value, SignatureMap):
            return dict(value.functions)
        if isinstance(value, (WrittenFunction, ResourceFunction)):
            bound = value.bound if isinstance(value, WrittenFunction) else value.function.bound
            return {f"capture_{n}": self._captured(c) for n, c in enumerate(bound)
                    if c.dtype not in (resource, variant)}
        if not isinstance(value, Trackable):
            return {}
        held = {n: wrap(c) for n, c in value._trackable_children(save_type="savedmodel", cache=self._cache).items()}
        held.update(_held_besides(value))
        found = {name: _variable_behind(function_behind(child)) for name, child in held.items()}
        found = {name: child for name, child in found.items() if self._can_be_child(name, child)}
        if is_resource(value):
            for name, function in resource_functions(value, self.writer).items():
                self.functions.append(function)
                found[name] = ResourceFunction(function)
        return found

    def _can_be_child(self, name: str, child: Any) -> bool:
        if isinstance(child, ConcreteFunction):
            return self.trace(child, name) is not None
        return isinstance(child, (Trackable, Function))

    def _captured(self, tensor: Any) -> Any:
        asset = getattr(tensor, "_asset", None)
        if asset is not None:
            return asset
        self._kept.append(tensor)
        return self._constants.setdefault(id(tensor), CapturedConstant(tensor))

    def attach_signatures(self, signatures: Mapping[str, WrittenFunction]) -> None:
        """Makes signatures a child of the root."""
        self.children(self.root)["signatures"] = SignatureMap(signatures)

    def find(self) -> None:
        """Lists all objects."""
        self.graph = ObjectGraph(self.root, True, self.children)
        self._add_saving()
        self._add_gradients()
        self.library.function.extend(f.definition for f in self.functions)
        self._numbers = {id(v): n for n, v in enumerate(self.graph.objects)}
        self._by_tensor: dict[int, int] = {}
        for number, value in enumerate(self.graph.objects):
            tensor = tensor_of(value)
            if tensor is not None:
                self._by_tensor[id(tensor)] = number

    def _add_saving(self) -> None:
        """Adds the functions by which loaders restore objects other than variables; no object holds them."""
        for number, value in enumerate(list(self.graph.objects)):
            functions = saving_functions(value, self.writer) if is_resource(value) else None
            if functions is not None:
                self._saving[number] = len(self.graph.objects)
                for function in functions:
                    self.functions.append(function)
                    self._add_object(function)

    def _add_object(self, value: Any) -> None:
        """Adds an object that no other one holds."""
        self.graph.objects.append(value)
        self.graph.paths.append("")
        self.graph.links.append({})

    def _add_gradients(self) -> None:
        """Adds the functions that are gradients; they may use others."""
        known = {id(v) for v in self.graph.objects}
        self.writer.write_functions(self.library)
        for traced in self.writer.traced:  # grows
            name = self.writer.new_name(f"__inference_{traced.graph.name}")
            try:
                made = self.writer.definition(name, traced.graph, traced.graph.inputs, traced.graph.outputs, [],
                                              constants=traced.constants)
                self.writer.write_functions(self.library)
            except CannotBeWritten as e:
                _log.warning("The SavedModel is written without the gradient of the operation '%s': it holds %s, "
                             "which cannot be written.", traced.op.name, e)
                continue
            arguments = [TensorSpec(t._spec.shape, t.dtype, t.op.name) for t in traced.arguments]
            bound = [c for c in traced.captured if not is_constant(c)]
            self.functions.append(WrittenFunction(made, bound, [t.op.name for t in traced.arguments],
                                                  (tuple(arguments), {}), traced.results, arguments))
            self.library.registered_gradients.add(gradient_func=name, registered_op_type=traced.name)
            for tensor in traced.inside:
                value = self._inside.setdefault(id(tensor), TensorInside(tensor))
                if id(value) not in known:
                    known.add(id(value))
                    self._add_object(value)

    def number_of(self, tensor: Any, function: WrittenFunction) -> int:
        """Returns the number of the object that a captured tensor belongs to.

        Raises: AssertionError if no object that is saved holds it.
        """
        asset = getattr(tensor, "_asset", None)
        found = self._by_tensor.get(id(tensor)) if asset is None else self._numbers.get(id(asset))
        if found is None:
            variable = getattr(tensor, "_variable", None)
            raise AssertionError(
                "Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. "
                "tf.Variable) captured by functions must be 'tracked' by assigning them to an attribute of a tracked "
                "object or assigned to an attribute of the main object directly. See the information below:\n"
                f"\tFunction name = {function.name}\n\tCaptured Tensor = {tensor}\n\t"
                f"Trackable referencing this tensor = {variable}\n"
                "  Fix: keep it as an attribute of the object that is saved")
        return found

    # -- the message -----------------------------------------------------------------

    def message(self, asset_numbers: Mapping[int, int], constants: Mapping[int, str]) -> Any:
        """Makes the message of all objects.

        Args:
          asset_numbers: the number of each asset's file, by the asset's id.
          constants: the name of each constant's operation, by the constant's id.
        """
        made = SavedObjectGraph()
        for own, (value, links) in enumerate(zip(self.graph.objects, self.graph.links, strict=True)):
            node = made.nodes.add()
            for name, number in links.items():
                node.children.add(node_id=number, local_name=name)
            for variable, name, slot in self.graph.slots.get(own, ()):
                if slot not in links.values():
                    node.slot_variables.add(original_variable_node_id=variable, slot_name=name,
                                            slot_variable_node_id=slot)
            if own in self._saving:
                saving = node.saveable_objects[pieces(value)[0].attribute]
                saving.save_function, saving.restore_function = self._saving[own], self._saving[own] + 1
            self._describe(value, node, asset_numbers, constants)
        for function in self.functions:
            described = made.concrete_functions[function.name]
            described.CopyFrom(function.described)
            described.bound_inputs.extend(self.number_of(t, function) for t in function.bound)
        return made

    def _describe(self, value: Any, node: Any, asset_numbers: Mapping[int, int], constants: Mapping[int, str]) -> None:
        if isinstance(value, Variable):
            _describe_variable(value, node.variable)
            node.variable.device = value.device if self.keeps_devices else ""
        elif isinstance(value, Function):
            self._describe_function(value, node)
        elif isinstance(value, ConcreteFunction):
            self._describe_bare(self._traces[id(value)], node.bare_concrete_function)
        elif isinstance(value, WrittenFunction):
            self._describe_bare(value, node.bare_concrete_function)
        elif isinstance(value, ResourceFunction):
            node.function.concrete_functions.append(value.function.name)
            node.function.function_spec.CopyFrom(spec_without_arguments())
        elif isinstance(value, Asset):
            node.asset.asset_file_def_index = asset_numbers[id(value)]
            node.asset.SetInParent()
        elif isinstance(value, CapturedConstant):
            node.constant.operation = constants[id(value)]
        elif isinstance(value, TensorInside):
            function, name = self.writer.place(value.tensor)
            node.captured_tensor.concrete_function, node.captured_tensor.name = function, name
        elif is_resource(value):
            node.resource.SetInParent()
        else:
            _describe_user_object(value, node.user_object)

    def _describe_function(self, value: Function[..., Any], node: Any) -> None:
        made = [self._traces[id(c)] for c in traces_of(value)]
        node.function.SetInParent()
        try:
            node.function.function_spec.CopyFrom(function_spec(value))
        except NotEncodableError as e:
            _log.warning("The SavedModel is written without the function %s: its signature cannot be written (%s).",
                         value.name, e)
            node.function.function_spec.CopyFrom(spec_without_arguments())
            return
        node.function.concrete_functions.extend(f.name for f in made if f is not None)

    @staticmethod
    def _describe_bare(function: Any, made: Any) -> None:
        made.concrete_function_name = function.name
        made.argument_keywords.extend(function.keywords)
        one = function.results is None or len(function.keywords) == 1
        made.allowed_positional_arguments = len(function.keywords) if one else 0


def _held_besides(value: Any) -> dict[str, Any]:
    """Returns what an object holds in a saved model alone, by name."""
    if isinstance(value, ListWrapper):
        return {str(i): v for i, v in enumerate(value) if is_function(v)}
    if isinstance(value, DictWrapper):
        return {k: v for k, v in value.items() if isinstance(k, str) and is_function(v)}
    if isinstance(value, Optimizer):
        # TensorFlow 2.21 cannot load slots of optimizers of 1.x as such: objects that it makes have no `add_slot`.
        return {f"{name}/{v._shared_name}": v for name in value.get_slot_names()
                for v in value._slot_dict(name).values()}
    return {}


def is_resource(value: Any) -> bool:
    """Returns whether an object holds a resource of its own, such as a table's."""
    return getattr(value, "_saved_resource", None) is not None


def tensor_of(value: Any) -> Any:
    """Returns the tensor by which functions refer to an object; None if there is none."""
    if isinstance(value, Variable):
        return value._handle
    if isinstance(value, (CapturedConstant, TensorInside)):
        return value.tensor
    if isinstance(value, Asset):
        return value.asset_path
    return value.resource_handle if is_resource(value) else None


def _describe_variable(value: Variable, made: Any) -> None:
    made.dtype, made.trainable = value.dtype.enum, value.trainable
    made.shape.CopyFrom(shape_proto(value._shape))
    made.synchronization, made.aggregation = value.synchronization.value, value.aggregation.value
    made.name = value._shared_name.rstrip("/")
    made.SetInParent()


def _describe_user_object(value: Any, made: Any) -> None:
    known = find(value)
    if known is None:
        made.identifier = _identifier(value)
        made.version.producer = made.version.min_consumer = 1
    else:
        made.identifier, version = known
        made.version.producer, made.version.min_consumer = version.version, version.min_consumer_version
        made.version.bad_consumers.extend(version.bad_consumers)


def _identifier(value: Any) -> str:
    if isinstance(value, SignatureMap):
        return "signature_map"
    if isinstance(value, TrackableDataStructure):
        kinds = (ListWrapper, "list"), (DictWrapper, "dict")
        kind = next((name for kind, name in kinds if type(value) is kind), "tuple")
        return f"trackable_{kind}_wrapper"
    return str(getattr(value, "_object_identifier", "_generic_user_object"))
