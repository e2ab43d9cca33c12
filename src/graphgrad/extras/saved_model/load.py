"""`tf.saved_model.load`: objects with their variables and functions, from the files of a saved model."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from graphgrad.extras.import_v1.custom_gradients import GradientFunction
from graphgrad.extras.import_v1.function_library import FunctionLibrary
from graphgrad.extras.import_v1.saved_model import read_saved_model
from graphgrad.extras.import_v1.table_handles import TYPES
from graphgrad.extras.pipelines.asset import Asset
from graphgrad.frontend.graph.default_graph import device_v2 as on_device
from graphgrad.frontend.graph.init_scope import init_scope
from graphgrad.frontend.tracking.data_structures import wrap
from graphgrad.frontend.tracking.trackable import Trackable
from graphgrad.frontend.variables.variable import Variable
from graphgrad.frontend.variables.variable_settings import VariableAggregationV2, VariableSynchronization
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import as_dtype, variant
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph_messages import SavedModel
from graphgrad.ir.shape import compatible
from graphgrad.ir.source import user_source
from graphgrad.ops.array.fill import zeros
from graphgrad.system.log import Log
from graphgrad.training.checkpoints.saved_items import cell_of
from graphgrad.training.checkpoints.saved_model_options import LoadOptions

from .load_datasets import LoadedDataset
from .load_functions import LoadedFunction, LoadedTrace
from .load_graph_model import GraphModel
from .load_objects import KINDS, TUPLE, LoadedResource, filling, loaded_table, set_attribute, user_object
from .load_structures import structure_of
from .load_values import Value, read_values
from .revived_types import deserialize

Setter = Callable[[Any, str, Any], None]
_log = Log("tensorflow")


class Loader:
    """The objects of a saved model, while they are made; and its functions, which are made later.

    Args:
      meta_graph: the `MetaGraphDef`.
      folder: the model's folder.
      options: the `LoadOptions`.
      filters: paths of the objects to load, such as "root.layer", or objects by path; None for all.
    Raises: ValueError for an invalid model.
    """

    def __init__(self, meta_graph: Any, folder: str, options: Any, filters: Any):
        self.meta_graph, self.folder, self.options = meta_graph, folder, options
        self.saved = meta_graph.object_graph_def
        self.graph = current_graph()
        self.library = FunctionLibrary(meta_graph.graph_def.library, self._gradient_function)
        self.objects: dict[int, Any] = {}
        self.setters: dict[int, Setter] = {}
        self.traces: dict[str, LoadedTrace] = {}
        self._open: set[int] = set()  # tuples that are being made
        self._values: dict[int, list[Value]] = {}
        self._constants = {n.name: n for n in meta_graph.graph_def.node if n.op == "Const"}
        self._check()
        self.paths: dict[str, int] = {}
        self.wanted = self._filtered(filters)
        self._load()

    def _check(self) -> None:
        """Raises ValueError if objects name others that are not there."""
        count = len(self.saved.nodes)
        named = [c.node_id for n in self.saved.nodes for c in (*n.children, *n.dependencies)]
        named += [i for t in self.saved.concrete_functions.values() for i in t.bound_inputs]
        named += [i for n in self.saved.nodes for s in n.slot_variables
                  for i in (s.original_variable_node_id, s.slot_variable_node_id)]
        named += [i for n in self.saved.nodes for s in n.saveable_objects.values()
                  for i in (s.save_function, s.restore_function)]
        if not count or not all(0 <= i < count for i in named):
            raise _invalid("its objects name others that are not there")

    # -- what to load ----------------------------------------------------------------

    def _filtered(self, filters: Any) -> list[int]:
        """Returns the numbers of the objects to load; takes over those that exist already."""
        if filters is None:
            return list(range(len(self.saved.nodes)))
        for path in filters:
            self.paths[path] = self._number(path)
        for path, given in filters.items() if isinstance(filters, Mapping) else ():
            if given is not None:
                value, setter = given if isinstance(given, tuple) else (given, setattr)
                self.objects[self.paths[path]], self.setters[self.paths[path]] = value, setter
        found: dict[int, None] = {}
        waiting = list(self.paths.values())
        while waiting:
            number = waiting.pop(0)
            if number in found:
                continue
            found[number] = None
            value = self.objects.get(number)
            if isinstance(value, Trackable):
                value._maybe_initialize_trackable()
            for child in self.saved.nodes[number].children:
                known = value._lookup_dependency(child.local_name) if isinstance(value, Trackable) else None
                if known is not None and child.node_id not in self.objects and hasattr(type(known), "_named"):
                    self.objects[child.node_id], self.setters[child.node_id] = known, _leave
                waiting.append(child.node_id)
        return list(range(len(self.saved.nodes))) if 0 in found else sorted(found)

    def _number(self, path: Any) -> int:
        if not isinstance(path, str):
            raise TypeError("Elements in node_filters must be strings.")
        first, *names = path.split(".")
        if first != "root":
            raise ValueError("When passing string identifiers to node_filters, the first name must be root. Received "
                             f"{first}. Fix: root.{path}")
        number = 0
        for n, name in enumerate(names):
            found = [c.node_id for c in self.saved.nodes[number].children if c.local_name == name]
            if not found:
                raise ValueError(f"Unable to find node {'.'.join(['root', *names[: n + 1]])}. "
                                 "Fix: name attributes of the saved object")
            number = found[0]
        return number

    # -- objects ---------------------------------------------------------------------

    def _load(self) -> None:
        if not self.options.experimental_skip_checkpoint:
            self._values = read_values(self.folder, self.saved)
        slots = self._slots()
        given = set(self.objects)
        for number in self.wanted:
            if number not in slots:
                self.get(number)
        for number, (optimizer, slot) in slots.items():
            owner = self.objects.get(optimizer)
            if number in self.objects or owner is None:
                continue
            if hasattr(owner, "add_slot"):
                variable = self.objects[slot.original_variable_node_id]
                self.objects[number] = owner.add_slot(var=variable, slot_name=slot.slot_name)
                self.setters[number] = setattr
                given.add(number)
            else:  # of an optimizer of 1.x, which is an object like any other now
                variable = self.saved.nodes[slot.original_variable_node_id].variable
                setattr(owner, f"{slot.slot_name}/{variable.name}", self.get(number))
        for number in self.wanted:
            self._set_children(number)
        if 0 not in self.objects:
            self.objects[0] = user_object()
            for path, number in self.paths.items():
                _attach(self.objects[0], path.split(".")[1:], self.objects[number])
        for number in given:
            self._restore(number)
        for number in self.wanted:
            if self.saved.nodes[number].HasField("resource") and number not in given:
                self._initialize(number)

    def _slots(self) -> dict[int, tuple[int, Any]]:
        return {s.slot_variable_node_id: (number, s) for number in self.wanted
                for s in self.saved.nodes[number].slot_variables}

    def get(self, number: int) -> Any:
        """Returns an object, which is made if it is not there yet."""
        if number not in self.objects:
            value, setter = self._made(number)
            self.objects[number], self.setters[number] = value, setter
        return self.objects[number]

    def _made(self, number: int) -> tuple[Any, Setter]:
        node = self.saved.nodes[number]
        kind = node.WhichOneof("kind")
        if kind == "user_object":
            return self._user_object(number, node.user_object)
        if kind == "variable":
            return self._variable(number, node.variable), setattr
        if kind == "function":
            traces = [self.trace(name) for name in node.function.concrete_functions]
            return LoadedFunction(node.function, traces), setattr
        if kind == "bare_concrete_function":
            bare = node.bare_concrete_function
            trace = self.trace(bare.concrete_function_name)
            trace.called_by(bare.argument_keywords, bare.allowed_positional_arguments)
            return trace, setattr
        if kind == "constant":
            return self._constant(node.constant.operation), _leave
        if kind == "asset":
            return self._asset(node.asset.asset_file_def_index), setattr
        if kind == "resource":
            return self._resource(number, node), setattr
        if kind == "captured_tensor":
            return None, _leave  # of a gradient function, which finds it in the graph
        raise ValueError(f"Unknown SavedObject type: {kind}. Expected one of user_object, variable, function, "
                         "bare_concrete_function, constant, asset, resource, captured_tensor. "
                         "Fix: use another copy of the file")

    def _user_object(self, number: int, message: Any) -> tuple[Any, Setter]:
        if message.identifier == TUPLE:
            return self._tuple(number), _leave
        if message.identifier in KINDS:
            kind, setter = KINDS[message.identifier]
            return kind(), setter
        known = deserialize(message)
        return (user_object(), set_attribute) if known is None else known

    def _tuple(self, number: int) -> Any:
        """Makes a tuple, after what it holds."""
        if number in self._open or len(self._open) > 100:
            raise _invalid("a tuple holds itself, or tuples are nested too deeply")
        self._open.add(number)
        children = self.saved.nodes[number].children
        named = all(c.local_name.isdecimal() for c in children)
        ordered = sorted(children, key=lambda c: int(c.local_name)) if named else children
        made = wrap(tuple([self.get(c.node_id) for c in ordered]))
        self._open.discard(number)
        return made

    def _variable(self, number: int, message: Any) -> Any:
        dtype, shape = as_dtype(int(message.dtype)), message.shape.shape()
        synchronization = _member(VariableSynchronization, message.synchronization)
        aggregation = _member(VariableAggregationV2, message.aggregation)
        values = self._values.get(number)
        if not values and not (self.options.experimental_skip_checkpoint or self.options.allow_partial_checkpoint):
            raise AssertionError(f"Found a Python object that was not bound to a checkpointed value: the variable "
                                 f"{message.name!r}. Fix: use a whole copy of the model")
        if values and (not compatible(shape, values[0].array.shape) or values[0].dtype is not dtype):
            raise ValueError(f"Received incompatible tensor with shape {values[0].array.shape} and dtype "
                             f"{values[0].dtype.name} when attempting to restore variable with shape {shape}, dtype "
                             f"{dtype.name} and name {message.name}. Fix: use another copy of the model")
        first = zeros([d or 0 for d in shape or ()], dtype) if not values else constant(values[0].array, dtype)
        device = message.device if self.options.experimental_variable_policy._save_variable_devices() else ""
        with on_device(device) if device else contextlib.nullcontext():
            made = Variable(first, trainable=message.trainable, name=message.name or None, dtype=dtype, shape=shape,
                            synchronization=synchronization, aggregation=aggregation)
        if not values and made._graph is None:
            cell_of(made, None).held = None
        return made

    def _constant(self, name: str) -> Any:
        node = self._constants.get(name)
        if node is None:
            raise _invalid(f"the constant {name!r} is not in its graph")
        return constant(node.attr["value"].tensor.array(), as_dtype(int(node.attr["dtype"].type)))

    def _asset(self, number: int) -> Any:
        files = self.meta_graph.asset_file_def
        if not 0 <= number < len(files):
            raise _invalid(f"the asset {number} is not there")
        name = files[number].filename
        if os.path.isabs(name) or ".." in name.replace(os.sep, "/").split("/"):
            raise _invalid(f"the asset {name!r} is not in its folder")
        return Asset(os.path.join(self.folder, "assets", name))

    def _resource(self, number: int, node: Any) -> Any:
        creator = [c.node_id for c in node.children if c.local_name == "_create_resource"]
        names = [name for i in creator for name in self.saved.nodes[i].function.concrete_functions]
        every = [n for name in names for n in self.library.message(name).node_def]
        nodes = [n for n in every if n.op in TYPES]
        if len(names) == 1 and [a.type for a in self.library.message(names[0]).signature.output_arg] == [variant.enum]:
            return LoadedDataset(names[0], self.library, self.graph)
        return loaded_table(f"table_{number}", nodes[0], every) if nodes else LoadedResource(f"resource_{number}")

    def _set_children(self, number: int) -> None:
        setter = self.setters[number]
        for child in self.saved.nodes[number].children:
            setter(self.objects[number], child.local_name, self.objects[child.node_id])

    def _restore(self, number: int) -> None:
        """Gives an object that existed before the value of the saved one."""
        value, values = self.objects[number], self._values.get(number)
        if not values or not isinstance(value, Variable):
            return
        if value._graph is None:
            if not compatible(value.shape._dims, values[0].array.shape):
                raise ValueError(f"Received incompatible tensor with shape {values[0].array.shape} when attempting to "
                                 f"restore variable with shape {value.shape} and name {value.name}. "
                                 "Fix: make it as it was saved")
            cell_of(value, None).value = values[0].array
        else:
            assignment: Any = value.assign(constant(values[0].array, value.dtype), read_value=False)
            value._initializer_op = assignment

    def _initialize(self, number: int) -> None:
        """Fills a table; in a graph, the operations that do are added to the initializers of tables."""
        resource, saveables = self.objects[number], self.saved.nodes[number].saveable_objects
        functions = [vars(resource)["_initialize"]] if "_initialize" in vars(resource) else []
        if self._values.get(number):
            tensors = [constant(v.array, v.dtype) for v in self._values[number]]
            for saveable in saveables.values():
                restoring = self.objects[saveable.restore_function]
                functions.append(functools.partial(restoring, tensors) if isinstance(restoring, LoadedFunction)
                               else functools.partial(restoring, *tensors))
        for function in functions:
            filling(self.graph, function)

    # -- functions -------------------------------------------------------------------

    def trace(self, name: str) -> LoadedTrace:
        """Returns the trace of a name."""
        if name not in self.traces:
            self.library.message(name)
            if name not in self.saved.concrete_functions:
                raise _invalid(f"the function {name!r} is not among its traces")
            message = self.saved.concrete_functions[name]
            self.traces[name] = LoadedTrace(name, message, lambda: self._graph_of(name, message))
        return self.traces[name]

    def _graph_of(self, name: str, message: Any) -> FuncGraph:
        with use(self.graph):
            captured = [self._captured(i) for i in message.bound_inputs]
            return self.library.read(name, captured)

    def _gradient_function(self, name: str) -> GradientFunction:
        """Returns what the objects tell of a gradient function."""
        message = self.saved.concrete_functions.get(name)
        if message is None:
            return GradientFunction()
        captured = [self.saved.nodes[i].captured_tensor.name if self.saved.nodes[i].HasField("captured_tensor")
                    else self._captured(i) for i in message.bound_inputs]
        specs = structure_of(message.output_signature)
        return GradientFunction(captured, [s is not None for s in specs] if isinstance(specs, (tuple, list)) else None)

    def aliases(self) -> dict[str, Any]:
        """Returns functions by the names that the model keeps: a function if all its traces have it, else traces."""
        found: dict[str, list[Any]] = {}
        for name, alias in sorted(self.meta_graph.meta_info_def.function_aliases.items()):
            if name in self.saved.concrete_functions:
                found.setdefault(alias, []).append(self.trace(name))
            else:
                _log.warning("ConcreteFunction `%s` is listed in function alias but it is not found.", name)
        made: dict[str, Any] = dict(found)
        for value in self.objects.values():
            for alias, traces in found.items():
                if isinstance(value, LoadedFunction) and set(value.concrete_functions) == set(traces):
                    made[alias] = value
        return made

    def _captured(self, number: int) -> Any:
        """Returns the tensor by which functions know an object."""
        if number not in self.objects:
            raise ValueError("Unable to partially load SavedModel since the specified filter does not include all "
                             f"required objects for loading: object {number}. Fix: load the whole model")
        value = self.objects[number]
        if isinstance(value, LoadedDataset):
            return value.inside
        for name in ("handle", "resource_handle", "asset_path"):
            if hasattr(type(value), name):
                return getattr(value, name)
        if hasattr(value, "dtype") and hasattr(value, "_spec"):
            return value
        raise _invalid(f"a function captures an object that is no tensor: {type(value).__name__}")


def _member(kind: Any, number: int) -> Any:
    try:
        return kind(number)
    except ValueError:
        raise _invalid(f"{number} is no {kind.__name__}") from None


def _leave(value: Any, name: str, child: Any) -> None:
    """Sets no attribute: the object is complete."""


def _attach(root: Any, names: list[str], value: Any) -> None:
    """Sets an attribute of attributes of an object, which are made where they are missing."""
    for name in names[:-1]:
        if not hasattr(root, name):
            setattr(root, name, user_object())
        root = getattr(root, name)
    if names and not hasattr(root, names[-1]):
        setattr(root, names[-1], value)


def _invalid(problem: str) -> ValueError:
    return ValueError(f"the SavedModel is invalid: {problem}. Fix: use another copy of the file")


def parse_saved_model(export_dir: Any) -> SavedModel:
    """Reads the message of a saved model.

    Args:
      export_dir: the folder.
    Returns: a `SavedModel`, with objects.
    Raises: OSError if there is none, or a damaged one.
    Reference: TensorFlow 2.21 `tf.__internal__.saved_model.parse_saved_model`.
    """
    return read_saved_model(os.fsdecode(export_dir))


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """Loads the object of a saved model: its variables, its functions and signatures, its tables and files.

    Args:
      export_dir: the folder, TensorFlow's too.
      tags: the tags of the model's graph; any by default.
      options: a `tf.saved_model.LoadOptions`.
    Returns: an object with the attributes of the saved one, `signatures` among them; for a model of 1.x, one with
      `signatures`, `variables`, `graph` and `prune`.
    Raises: OSError if there is no model, or a damaged one; ValueError for other tags, and for an invalid model.
    Gradient: functions are differentiated as those that were saved.
    Reference: TensorFlow 2.21 `tf.saved_model.load`.
    """
    return load_partial(export_dir, None, tags, options)["root"]


def load_partial(export_dir: Any, filters: Iterable[str] | Mapping[str, Any] | None, tags: Any = None,
                 options: Any = None) -> dict[str, Any]:
    """Loads some of the objects of a saved model.

    Args:
      export_dir: the folder.
      filters: paths of objects, such as "root.layer": those and what they hold are loaded. A dictionary may hold
        objects that exist already, or pairs of one and what sets its attributes. None for all.
      tags, options: as for `load`.
    Returns: the objects by path.
    Raises: as `load`; ValueError if a function needs what is not loaded.
    Reference: TensorFlow 2.21 `tf.__internal__.saved_model.load_partial`.
    """
    folder = os.fsdecode(export_dir)
    options = options or LoadOptions()
    graphs = parse_saved_model(folder).meta_graphs
    wanted = None if tags is None else {tags} if isinstance(tags, str) else set(tags)
    if len(graphs) != 1 or not graphs[0].HasField("object_graph_def"):
        if filters:
            raise ValueError("SavedModels saved from Tensorflow 1.x cannot be loaded with node filters. Fix: load it "
                             "all")
        with init_scope(), _reading(folder):
            root = GraphModel(_with_tags(graphs, wanted), folder, not options.experimental_skip_checkpoint)
        return {"root": root}
    if wanted is not None and wanted != set(graphs[0].meta_info_def.tags):
        raise ValueError(f"Got an incompatible argument to `tags`: {tags}. The SavedModel at {folder} has one "
                         f"MetaGraph with tags {list(graphs[0].meta_info_def.tags)}. You may omit the argument, pass "
                         "'None', or pass matching tags. Fix: tags=None")
    with init_scope(), _reading(folder):
        loader = Loader(graphs[0], folder, options, filters)
    root = loader.objects[0]
    info = graphs[0].meta_info_def
    for name, value in (("tensorflow_version", info.tensorflow_version),
                        ("tensorflow_git_version", info.tensorflow_git_version)):
        setattr(root, name, value)
    if options.experimental_load_function_aliases:
        if hasattr(root, "function_aliases"):
            raise ValueError("Could not load with experimental_load_function_aliases option because the top-level "
                             "object already has an attributed with name 'function_aliases'. Fix: leave it out")
        root._setattr_tracking, tracked = False, root._setattr_tracking  # no part of the model, as in TensorFlow
        root.function_aliases = loader.aliases()
        root._setattr_tracking = tracked
    return {"root": root} if filters is None else {path: loader.objects[n] for path, n in loader.paths.items()}


@contextlib.contextmanager
def _reading(folder: str) -> Iterator[None]:
    """Converts what Python says of an invalid model to a ValueError with a remedy."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError) as e:
        if "Fix:" in str(e):
            raise
        raise ValueError(f"The saved model in {folder} is invalid: {type(e).__name__}: {e}\n"
                         f"  Asked for at {user_source(4)}\n  Fix: use another copy of it") from e


def _with_tags(graphs: Any, wanted: set[str] | None) -> Any:
    """Returns the graph of a model of 1.x that has some tags, exactly."""
    found = [g for g in graphs if wanted is None or set(g.meta_info_def.tags) == wanted]
    available = [sorted(g.meta_info_def.tags) for g in graphs]
    if wanted is None and len(graphs) != 1:
        raise ValueError("Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there is "
                         f"more than one MetaGraph. Got `tags=None`, but there are {len(graphs)} MetaGraphs in the "
                         f"SavedModel with tag sets: {available}. Pass a `tags=` argument to load this SavedModel. "
                         "Fix: tags=[...]")
    if not found:
        raise RuntimeError(f"MetaGraphDef associated with tags {sorted(wanted or ())} could not be found in "
                           f"SavedModel. It has {available}. Fix: load it with one of these")
    return found[0]
