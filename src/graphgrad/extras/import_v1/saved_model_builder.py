"""Writes saved models of 1.x: graphs with signatures and files, and the values of variables."""

from __future__ import annotations

import os
from typing import Any

from graphgrad.extras.pipelines.asset import name_in_model
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.dtypes import string
from graphgrad.ir.files.atomic_files import copy_whole, make_folders, write_whole
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.graph_messages import AnyMessage, AssetFileDef, TensorInfo
from graphgrad.system.log import Log
from graphgrad.training.checkpoints.saved_object_messages import SavedModel
from graphgrad.training.checkpoints.saver import Saver

from .saved_model import (
    ASSETS_DIRECTORY,
    ASSETS_KEY,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    INIT_OP_SIGNATURE_KEY,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    SAVED_MODEL_SCHEMA_VERSION,
    SERVING,
    TRAIN_OP_KEY,
    TRAIN_OP_SIGNATURE_KEY,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
    predict_signature_def,
)

_log = Log("tensorflow")


class SavedModelBuilder:
    """A builder of saved models.

    Args:
      export_dir: the directory; it must not exist, or be empty.
    Raises: AssertionError if it holds files.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.Builder`.
    """

    def __init__(self, export_dir: Any):
        self._export_dir = os.fsdecode(export_dir)
        if os.path.isdir(self._export_dir) and os.listdir(self._export_dir):
            raise AssertionError(f"Export directory {self._export_dir} already exists, and isn't empty. Please choose "
                                 "a different export directory, or delete all the contents of the specified directory.")
        make_folders(self._export_dir)
        self._message = SavedModel(saved_model_schema_version=SAVED_MODEL_SCHEMA_VERSION)
        self._has_saved_variables = False
        self._copied: set[str] = set()

    def add_meta_graph_and_variables(self, sess: Any, tags: Any, signature_def_map: Any = None,
                                     assets_collection: Any = None, legacy_init_op: Any = None,
                                     clear_devices: bool = False, main_op: Any = None,
                                     strip_default_attrs: bool = False, saver: Any = None) -> None:
        """Adds the current graph, and the values of its variables in a session.

        Args:
          sess: the session.
          tags: names for the graph, e.g. [tf.saved_model.tag_constants.SERVING].
          signature_def_map: a dictionary from names to signatures.
          assets_collection: constants of the graph that hold paths of files. The files are copied; `load` feeds the
            paths of the copies to the `main_op`.
          clear_devices: whether to drop devices.
          legacy_init_op, main_op: an operation to run when the model is loaded; `main_op` counts if both are given.
          strip_default_attrs: whether to leave out attributes that have their defaults.
          saver: a `Saver`; one of all variables by default.
        Raises: AssertionError if values have been saved before, or for tensors of signatures without name or dtype;
          KeyError for a reserved name of a signature; TypeError for assets that are no constants, or a `main_op` that
          is no operation; ValueError if the graph has a `main_op` already.
        """
        if self._has_saved_variables:
            raise AssertionError("Graph state including variables and assets has already been saved. Please invoke "
                                 "`add_meta_graph()` instead.")
        _check_signatures(signature_def_map or {})
        self._add_to_collections(assets_collection, legacy_init_op if main_op is None else main_op)
        saver = saver or Saver(sharded=True, allow_empty=True)
        folder = os.path.join(self._export_dir, VARIABLES_DIRECTORY)
        make_folders(folder)
        saver.save(sess, os.path.join(folder, VARIABLES_FILENAME), write_meta_graph=False, write_state=False)
        self._add(tags, signature_def_map, clear_devices, strip_default_attrs, saver)
        self._has_saved_variables = True

    def add_meta_graph(self, tags: Any, signature_def_map: Any = None, assets_collection: Any = None,
                       legacy_init_op: Any = None, clear_devices: bool = False, main_op: Any = None,
                       strip_default_attrs: bool = False, saver: Any = None) -> None:
        """Adds the current graph, which may be another one with the same variables, for other tags.

        Args:
          tags, signature_def_map, assets_collection, legacy_init_op, clear_devices, main_op, strip_default_attrs,
            saver: as in `add_meta_graph_and_variables`.
        Raises: AssertionError if no values have been saved; others as in `add_meta_graph_and_variables`.
        """
        if not self._has_saved_variables:
            raise AssertionError("Graph state including variables and assets has not been saved yet. Please invoke "
                                 "`add_meta_graph_and_variables()` first.")
        _check_signatures(signature_def_map or {})
        self._add_to_collections(assets_collection, legacy_init_op if main_op is None else main_op)
        self._add(tags, signature_def_map, clear_devices, strip_default_attrs,
                  saver or Saver(sharded=True, allow_empty=True))

    def _add(self, tags: Any, signatures: Any, clear_devices: bool, strip_default_attrs: bool, saver: Any) -> None:
        made = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        made.meta_info_def.tags.extend(tags)
        written = {n.name for n in made.graph_def.node}
        for key, signature in (signatures or {}).items():
            missing = sorted({n for n in _tensors_of(signature) if n.partition(":")[0] not in written})
            if missing:
                _log.warning("The signature %r is left out of the saved model: %s is of an operation that cannot be "
                             "written.", key, missing[0])
            else:
                made.signature_def[key] = signature
        self._message.meta_graphs.append(made)

    # -- files and operations --------------------------------------------------------

    def _add_to_collections(self, assets: Any, main_op: Any) -> None:
        """Notes in the graph which files the model has, which are copied, and what is run when it is loaded."""
        graph = get_default_graph()
        files: dict[str, str] = {}
        for tensor in assets or ():
            path = _path_of(tensor)
            name = name_in_model(path, files)
            files[name] = path
            message = AssetFileDef(tensor_info=TensorInfo(name=tensor.name), filename=name)
            packed = AnyMessage()
            packed.Pack(message)
            graph.add_to_collection(ASSETS_KEY, packed)
        for name, path in files.items():
            if name in self._copied:
                continue
            if not os.path.exists(path):
                _log.warning("The SavedModel is written without the file %s, which does not exist.", path)
                continue
            copy_whole(path, os.path.join(self._export_dir, ASSETS_DIRECTORY), name)
            self._copied.add(name)
        if main_op is not None:
            _add_main_op(graph, main_op)

    def _add_train_op(self, train_op: Any) -> None:
        """Notes the operation that trains in the graph."""
        if train_op is None:
            return
        if not isinstance(train_op, (Tensor, Operation)):
            raise TypeError(f"`train_op` {train_op} needs to be a Tensor or Op.")
        get_default_graph().add_to_collection(TRAIN_OP_KEY, train_op)

    def save(self, as_text: bool = False, experimental_image_format: bool = False,
             experimental_image_writer_options: Any = None) -> bytes:
        """Writes the file.

        Args:
          as_text: whether it is `saved_model.pbtxt`, to be read by people.
          experimental_image_format: must be False: TensorFlow 2.21 cannot write it either.
          experimental_image_writer_options: accepted; without effect.
        Returns: its path.
        Raises: RuntimeError for the experimental format.
        """
        if experimental_image_format and not as_text:
            raise RuntimeError("No proto_splitter is provided, cannot use experimental_image_format. Fix: leave it out")
        make_folders(self._export_dir)
        path = os.path.join(self._export_dir, SAVED_MODEL_FILENAME_PBTXT if as_text else SAVED_MODEL_FILENAME_PB)
        write_whole(path, str(self._message).encode() if as_text else self._message.SerializeToString())
        return path.encode()


def _check_signatures(signatures: Any) -> None:
    for signature in signatures.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            _check_tensor_info(info)
    for key, use in ((INIT_OP_SIGNATURE_KEY, "initialization"), (TRAIN_OP_SIGNATURE_KEY, "the train op")):
        if key in signatures:
            raise KeyError(f'SignatureDef map key "{key}" is reserved for {use}. Please use a different key.')


def _check_tensor_info(info: Any) -> None:
    kind = info.WhichOneof("encoding")
    if kind is None:
        raise AssertionError(f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs must "
                             "have one of the 'encoding' fields (e.g., name or coo_sparse) set.")
    if kind == "composite_tensor":
        for part in info.composite_tensor.components:
            _check_tensor_info(part)
    elif not info.dtype:
        raise AssertionError(f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs must "
                             "have the dtype field set.")


def _path_of(tensor: Any) -> str:
    """Returns the path that a constant holds."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Asset path tensor {tensor} must be a Tensor.")
    if tensor.op.type != "Const":
        raise TypeError(f"Asset path tensor {tensor} must be of type constant. Has type {tensor.op.type} instead.")
    if tensor.dtype is not string:
        raise TypeError(f"Asset path tensor {tensor} must be of dtype string. Has type {tensor.dtype.name} instead.")
    if tensor._spec.shape not in ((), (1,)):
        raise TypeError(f"Asset path tensor {tensor} must be a scalar.")
    path = tensor.op._attr("value").ravel()[0]
    if not path:
        raise ValueError(f"Asset filepath tensor {tensor} in is invalid.")
    return os.fsdecode(path)


def _tensors_of(signature: Any) -> list[str]:
    """Returns the names of the tensors of a signature."""
    return [info.name for infos in (signature.inputs, signature.outputs) for info in infos.values() if info.name]


def _add_main_op(graph: Graph, main_op: Any) -> None:
    if not isinstance(main_op, Operation):
        raise TypeError(f"Expected {main_op} to be an Operation but got type {type(main_op)} instead.")
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        if graph.get_collection(key):
            raise ValueError(f"Graph already contains one or more main ops under the collection {key}.")
    graph.add_to_collection(MAIN_OP_KEY, main_op)


def simple_save(session: Any, export_dir: Any, inputs: Any, outputs: Any, legacy_init_op: Any = None) -> None:
    """Writes a saved model with one signature for prediction, and the files that tables are filled from.

    Args:
      session: the session that has the values.
      export_dir: the directory; it must not exist, or be empty.
      inputs, outputs: dictionaries from names to tensors.
      legacy_init_op: an operation to run when the model is loaded.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.simple_save`.
    """
    builder = SavedModelBuilder(export_dir)
    with session.graph.as_default():
        builder.add_meta_graph_and_variables(
            session, [SERVING], {DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)},
            session.graph.get_collection(GraphKeys.ASSET_FILEPATHS), main_op=legacy_init_op, clear_devices=True)
    builder.save()
