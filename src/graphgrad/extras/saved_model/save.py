"""`tf.saved_model.save`: an object with its variables and functions, in files that TensorFlow reads, too."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from graphgrad.frontend.function.concrete_function import ConcreteFunction
from graphgrad.frontend.function.function import Function
from graphgrad.frontend.function.saving import function_behind
from graphgrad.frontend.structure import nest
from graphgrad.frontend.tracking.trackable import Trackable, TrackableReference
from graphgrad.ir.context import current_graph
from graphgrad.ir.files.atomic_files import copy_whole, make_folders, sync_folder, system_errors, write_whole
from graphgrad.ir.source import line_of
from graphgrad.system.log import Log
from graphgrad.training.checkpoints.object_checkpoint import write_objects
from graphgrad.training.checkpoints.object_graph import ObjectGraph
from graphgrad.training.checkpoints.saved_model_options import SaveOptions
from graphgrad.training.checkpoints.saved_object_messages import SavedModel

from .debug_stripping import strip_debugging
from .exported_graph import ExportedGraph
from .function_writer import FunctionWriter
from .model_fingerprint import FILE as _FINGERPRINT
from .model_fingerprint import write_fingerprint
from .saved_objects import SavedObjects, SignatureMap
from .written_functions import WrittenFunction, default_tensors, signature_results, written_signature

_log = Log("tensorflow")
_FILE, _MAIN_OP = "saved_model.pb", "saved_model_main_op"
_DEFAULT_SIGNATURE, _DEFAULT_KEY = "_default_save_signature", "serving_default"


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Saves an object that tracks others, such as a `tf.Module`: variables, functions, tables, files.

    Of a `tf.function` its traces are saved, or the one that its input signature demands. What cannot be written, such
    as a function that uses operations which TensorFlow lacks, is left out with a warning.

    Args:
      obj: the object.
      export_dir: the directory. A model in it is replaced; as long as the new one is not complete, there is none.
      signatures: a `tf.function` with an input signature, a trace, or a dictionary of them, for programs that call
        functions by name; by default the one function of the object that has an input signature.
      options: a `SaveOptions`.
    Raises: ValueError if the object tracks nothing, or for signatures that are no functions; AssertionError inside of a
      `tf.function`, or if a function uses a variable that no tracked object holds; FailedPreconditionError if a
      variable has no value.
    Reference: TensorFlow 2.21 `tf.saved_model.save`.
    """
    save_and_return_nodes(obj, export_dir, signatures, options)


def save_and_return_nodes(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None,
                          experimental_skip_checkpoint: bool = False) -> Any:
    """Saves an object; returns the saved objects, in their order in the file, and a path to each from the first.

    Args:
      obj, export_dir, signatures, options: as for `save`.
      experimental_skip_checkpoint: whether to leave the values of variables out.
    """
    options = options or SaveOptions()
    graph = current_graph()
    if graph is not None and graph.building_function:
        raise AssertionError("`tf.saved_model.save` is not supported inside a traced @tf.function. Move the call to "
                             "the outer eagerly-executed context.")
    if not isinstance(obj, Trackable):
        raise ValueError("Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` "
                         f"class, for export. Got {obj} with type {type(obj)}.")
    if options.save_debug_info:
        _log.warning("The SavedModel is written without debug info: where its operations were built is not in it.")
    writer = FunctionWriter()
    writer.keeps_gradients = options.experimental_custom_gradients
    objects = SavedObjects(obj, writer, options.experimental_variable_policy._save_variable_devices())
    made = _signatures(objects, signatures)
    objects.attach_signatures(made)
    objects.find()
    if writer.python:
        one = writer.python[0]
        _log.warning("The SavedModel holds operations that call Python functions of this process (%d operations; the "
                     "first is %s '%s', built at %s). The functions are not in it: loaded elsewhere, these operations "
                     "cannot run.", len(writer.python), one.type, one.name, line_of(one.source))
    exported = ExportedGraph(objects)
    message = SavedModel(saved_model_schema_version=1)
    _fill(message.meta_graphs.add(), objects, exported, made, options)
    _write(os.fspath(export_dir), message, objects, exported, not experimental_skip_checkpoint)
    return objects.graph.objects, NodePaths(objects.graph)


class NodePaths:
    """How saved objects are reached: looked up by an object, a tuple of references, from the outermost one on.

    Args:
      graph: the objects.
    """

    def __init__(self, graph: ObjectGraph):
        self._objects = graph.objects
        self._paths: dict[int, tuple[TrackableReference, ...]] = {id(graph.objects[0]): ()}
        for value, links in zip(graph.objects, graph.links, strict=True):  # each is found before what it holds
            for name, number in links.items():
                child = graph.objects[number]
                reference = TrackableReference(name, child)
                self._paths.setdefault(id(child), (*self._paths.get(id(value), ()), reference))

    def __getitem__(self, value: Any) -> tuple[TrackableReference, ...]:
        return self._paths[id(value)]


def _fill(meta: Any, objects: SavedObjects, exported: ExportedGraph, signatures: Mapping[str, WrittenFunction],
          options: Any) -> None:
    """Fills the meta graph."""
    exported.add_resources()
    for key, function in sorted(signatures.items()):
        exported.add_signature(key, function)
    meta.collection_def[_MAIN_OP].node_list.value.append(exported.add_initialization())
    if not options.experimental_skip_saver:
        meta.saver_def.CopyFrom(exported.add_saver())
    meta.object_graph_def.CopyFrom(objects.message(exported.asset_numbers, exported.constants))
    exported.message.library.CopyFrom(objects.library)
    if options.experimental_debug_stripper:
        strip_debugging(exported.message)
    _check_namespaces(exported.message, options.namespace_whitelist)
    meta.graph_def.CopyFrom(exported.message)
    for key, signature in exported.signatures.items():
        meta.signature_def[key] = signature
    meta.asset_file_def.extend(exported.assets)
    meta.meta_info_def.tags.extend(["serve", *(options.extra_tags or ())])
    meta.meta_info_def.tensorflow_version = "2.21.0"
    _add_aliases(meta, objects, options.function_aliases)


def _check_namespaces(graph: Any, allowed: list[str] | None) -> None:
    """Raises ValueError for types of operations of other name spaces than these."""
    if allowed is None:
        return
    nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]
    strange = sorted({n.op for n in nodes if ">" in n.op and n.op.partition(">")[0] not in allowed})
    if strange:
        raise ValueError(f"Attempted to save ops from non-whitelisted namespaces to SavedModel: {strange}.\nPlease "
                         "verify that these ops should be saved, since they must be available when loading the "
                         "SavedModel. Fix: add their namespaces to the `namespace_whitelist` argument in "
                         "tf.saved_model.SaveOptions")


def _add_aliases(meta: Any, objects: SavedObjects, aliases: Mapping[str, Any]) -> None:
    for alias, value in aliases.items():
        function = function_behind(value)
        if isinstance(function, Function):
            found: Iterable[Any] = function._concretes
        elif isinstance(function, ConcreteFunction):
            found = [function]
        elif isinstance(function, (list, tuple, set)) and all(isinstance(f, ConcreteFunction) for f in function):
            found = function
        else:
            raise TypeError(f"Unsupported type {type(function)}. Functions in `function_aliases` should be created by "
                            "tf.function, or concrete functions, or collections of concrete functions.")
        for concrete in found:
            made = objects.trace(concrete)
            if made is not None:
                meta.meta_info_def.function_aliases[made.name] = alias


# -- signatures ------------------------------------------------------------------------


def _signatures(objects: SavedObjects, given: Any) -> dict[str, WrittenFunction]:
    """Writes the functions of the signatures; those that cannot be written are left out."""
    held = objects.children(objects.root).get("signatures")
    if held is not None and not isinstance(held, SignatureMap) and getattr(
            held, "_object_identifier", "") != "signature_map":
        raise ValueError(f"Exporting an object {objects.root} which has an attribute named 'signatures'. This is a "
                         "reserved attribute used to store SavedModel signatures in objects which come from "
                         "`tf.saved_model.load`. Delete this attribute (e.g. `del obj.signatures`) before saving if "
                         "this shadowing is acceptable.")
    if given is None:
        given = _function_to_export(objects)
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        given = {_DEFAULT_KEY: given}
    made = {}
    for key, function in given.items():
        concrete = _trace_of(function)
        if concrete is None:
            raise ValueError("Expected a TensorFlow function for which to generate a signature, but got "
                             f"{function}. Only `tf.functions` with an input signature or concrete functions can be "
                             "used as a signature.")
        inner = objects.trace(concrete, key)
        if inner is None:
            _log.warning("The SavedModel is written without the signature %s.", key)
            continue
        names = inner.keywords
        if len(set(names)) != len(names):
            raise ValueError(f"Got non-flat/non-unique argument names for SavedModel signature '{key}'. Fix: "
                             "tf.TensorSpec(..., name=...)")
        made[str(key)] = written_signature(str(key), concrete, inner, objects.writer)
        made[str(key)].defaults = default_tensors(function_behind(function), inner.keywords)
        objects.add_function(made[str(key)])
    return made


def _trace_of(value: Any) -> ConcreteFunction | None:
    function = function_behind(value)
    if isinstance(function, Function) and function.input_signature is not None:
        return function._concretes[0] if function._concretes else function.get_concrete_function()
    return function if isinstance(function, ConcreteFunction) else None


def _function_to_export(objects: SavedObjects) -> Any:
    """Returns the one function of the root that can be a signature, or None."""
    possible = []
    for name, child in objects.children(objects.root).items():
        if not isinstance(child, (Function, ConcreteFunction)):
            continue
        if name == _DEFAULT_SIGNATURE:
            return child
        concrete = _trace_of(child)
        if concrete is not None and concrete.outputs and _is_valid(concrete):
            possible.append(concrete)
    return possible[0] if len(possible) == 1 else None


def _is_valid(concrete: ConcreteFunction) -> bool:
    try:
        found = signature_results(concrete._symbolic_outputs(), concrete.name, "unused")
    except ValueError:
        return False
    leaves = nest.flatten(concrete.structured_input_signature)
    return not any(map(nest.is_composite_spec, leaves)) and all(hasattr(v, "_spec") for v in found.values())


# -- files -----------------------------------------------------------------------------


def _write(folder: str, message: Any, objects: SavedObjects, exported: ExportedGraph, with_values: bool) -> None:
    """Writes the files, saved_model.pb last: as long as it is missing, there is no model."""
    content = message.SerializeToString()
    make_folders(folder)
    with system_errors(folder):
        for name in (_FILE, f"{_FILE}txt", _FINGERPRINT):  # of a model that was there before
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))
        sync_folder(folder)
    if with_values:
        write_objects(os.path.join(folder, "variables", "variables"), objects.graph)
    for name, source in exported.files.items():
        copy_whole(source, os.path.join(folder, "assets"), name)
    write_whole(os.path.join(folder, _FILE), content)
    write_fingerprint(folder, message, content)
