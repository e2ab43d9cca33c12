"""Saved models of 1.x: a graph with signatures, and the values of its variables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from graphgrad.extras.pipelines.lookup_tables import tables_initializer
from graphgrad.frontend.graph.default_graph import control_dependencies
from graphgrad.frontend.structure.composite_specs import type_spec_from_value
from graphgrad.frontend.structure.composites import tensors_of
from graphgrad.frontend.variables.variable_functions import global_variables_initializer, local_variables_initializer
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import executing_eagerly, get_default_graph
from graphgrad.ir.dtypes import float32, string
from graphgrad.ir.files.atomic_files import make_folders, write_whole
from graphgrad.ir.graph import Operation
from graphgrad.ir.graph_messages import AssetFileDef, MetaGraphDef, SignatureDef, TensorInfo, TensorProto, shape_proto
from graphgrad.ir.proto.messages import DecodeError
from graphgrad.ir.tensor import Tensor
from graphgrad.ir.values.composite import Bundle, Composite
from graphgrad.ops.common.sparse_tensor import SparseTensor
from graphgrad.ops.control.group import group
from graphgrad.training.checkpoints.saved_object_messages import SavedModel, composite_info
from graphgrad.training.checkpoints.structure_encoding import encode_structure

from .import_meta_graph import import_collections, in_checkpoint, read_message, saver_of, tables_of

SERVING, TRAINING, EVAL, GPU, TPU = "serve", "train", "eval", "gpu", "tpu"

DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
CLASSIFY_INPUTS, CLASSIFY_METHOD_NAME = "inputs", "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES, CLASSIFY_OUTPUT_SCORES = "classes", "scores"
PREDICT_INPUTS, PREDICT_METHOD_NAME, PREDICT_OUTPUTS = "inputs", "tensorflow/serving/predict", "outputs"
REGRESS_INPUTS, REGRESS_METHOD_NAME, REGRESS_OUTPUTS = "inputs", "tensorflow/serving/regress", "outputs"

ASSETS_DIRECTORY, ASSETS_KEY = "assets", "saved_model_assets"
DEBUG_DIRECTORY, DEBUG_INFO_FILENAME_PB = "debug", "saved_model_debug_info.pb"
MAIN_OP_KEY, LEGACY_INIT_OP_KEY, TRAIN_OP_KEY = "saved_model_main_op", "legacy_init_op", "saved_model_train_op"
INIT_OP_SIGNATURE_KEY, TRAIN_OP_SIGNATURE_KEY = "__saved_model_init_op", "__saved_model_train_op"
SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT = "saved_model.pb", "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
VARIABLES_DIRECTORY, VARIABLES_FILENAME = "variables", "variables"


def build_tensor_info(tensor: Any) -> TensorInfo:
    """Makes the `TensorInfo` of a tensor: name, dtype and shape.

    Args:
      tensor: the tensor, or a variable, or a value that consists of tensors.
    Raises: RuntimeError in eager mode; AttributeError for what has no dtype.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.build_tensor_info`.
    """
    if executing_eagerly():
        raise RuntimeError("`build_tensor_info` is not supported in Eager mode. Fix: build a graph")
    if isinstance(tensor, SparseTensor):
        parts = TensorInfo.CooSparse(values_tensor_name=tensor.values.name, indices_tensor_name=tensor.indices.name,
                                     dense_shape_tensor_name=tensor.dense_shape.name)
        return TensorInfo(dtype=tensor.dtype.enum, tensor_shape=shape_proto(tensor.shape._dims), coo_sparse=parts)
    if isinstance(tensor, (Bundle, Composite)):
        spec = encode_structure(type_spec_from_value(tensor)).type_spec_value
        components = [build_tensor_info(t) for t in tensors_of(tensor)]
        return composite_info(spec, components)
    return TensorInfo(name=tensor.name, dtype=tensor.dtype.enum, tensor_shape=shape_proto(tensor.shape._dims))


def build_signature_def(inputs: Any = None, outputs: Any = None, method_name: str | None = None,
                        defaults: Any = None) -> SignatureDef:
    """Makes a signature: named inputs and outputs.

    Args:
      inputs, outputs: dictionaries from names to `TensorInfo`s.
      method_name: one of the constants `*_METHOD_NAME`.
      defaults: a dictionary from names of inputs to constants, the values of inputs that are not given.
    Raises: ValueError for a default that is no constant.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.build_signature_def`.
    """
    made = SignatureDef(inputs=inputs, outputs=outputs, method_name=method_name)
    for name, value in (defaults or {}).items():
        array = constant_value(value)
        if array is None:
            raise ValueError(f"Unable to convert object {value} of type {type(value)} to TensorProto. "
                             "Fix: give a constant")
        made.defaults[name] = TensorProto.of(array, value.dtype)
    return made


def predict_signature_def(inputs: Any, outputs: Any) -> SignatureDef:
    """Makes a signature for prediction.

    Args:
      inputs, outputs: dictionaries from names to tensors; not empty.
    Raises: ValueError if one is empty.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.predict_signature_def`.
    """
    for name, given in (("inputs", inputs), ("outputs", outputs)):
        if not given:
            raise ValueError(f"Prediction `{name}` cannot be None or empty.")
    infos = [{k: build_tensor_info(t) for k, t in given.items()} for given in (inputs, outputs)]
    return build_signature_def(infos[0], infos[1], PREDICT_METHOD_NAME)


def _tensor_of(value: Any, what: str, is_right: bool, wanted: str) -> Any:
    if not is_right:
        raise ValueError(f"{what} must be of type {wanted}. Found tensors of type {value.dtype.enum}. "
                         f"Fix: give a {wanted} tensor")
    return build_tensor_info(value)


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> SignatureDef:
    """Makes a signature for classification.

    Args:
      examples: a string tensor, serialized `Example`s.
      classes: a string tensor, or None.
      scores: a float32 tensor, or None.
    Raises: ValueError for other dtypes, no examples, or neither classes nor scores.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.classification_signature_def`.
    """
    if examples is None:
        raise ValueError("Classification `examples` cannot be None.")
    if classes is None and scores is None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    inputs = {CLASSIFY_INPUTS: _tensor_of(examples, "Classification input tensors", examples.dtype is string, "string")}
    outputs = {}
    if classes is not None:
        right = classes.dtype is string
        outputs[CLASSIFY_OUTPUT_CLASSES] = _tensor_of(classes, "Classification classes", right, "string")
    if scores is not None:
        right = scores.dtype is float32
        outputs[CLASSIFY_OUTPUT_SCORES] = _tensor_of(scores, "Classification scores", right, "float32")
    return build_signature_def(inputs, outputs, CLASSIFY_METHOD_NAME)


def regression_signature_def(examples: Any, predictions: Any) -> SignatureDef:
    """Makes a signature for regression.

    Args:
      examples: a string tensor, serialized `Example`s.
      predictions: a float32 tensor.
    Raises: ValueError for other dtypes, or if one is missing.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.regression_signature_def`.
    """
    for name, given in (("examples", examples), ("predictions", predictions)):
        if given is None:
            raise ValueError(f"Regression `{name}` cannot be None.")
    inputs = {REGRESS_INPUTS: _tensor_of(examples, "Regression input tensors", examples.dtype is string, "string")}
    right = predictions.dtype is float32
    outputs = {REGRESS_OUTPUTS: _tensor_of(predictions, "Regression output tensors", right, "float32")}
    return build_signature_def(inputs, outputs, REGRESS_METHOD_NAME)


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Returns whether a directory holds a saved model.

    Args:
      export_dir: the directory.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.maybe_saved_model_directory`.
    """
    return contains_saved_model(export_dir)


def contains_saved_model(export_dir: Any) -> bool:
    """Returns whether a directory holds a saved model.

    Args:
      export_dir: the directory.
    Reference: TensorFlow 2.21 `tf.saved_model.contains_saved_model`.

    >>> tf.saved_model.contains_saved_model("no/such/directory")
    False
    """
    folder = os.fspath(export_dir)
    names = (SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT)
    return any(os.path.exists(os.path.join(folder, name)) for name in names)


def main_op() -> Operation | Any:
    """Makes an operation that initializes variables and tables, for a builder's `main_op`.

    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.main_op.main_op`.
    """
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: Any) -> Operation | Any:
    """Makes an operation that initializes variables and tables, and then restores variables.

    Args:
      restore_op_name: the operation that restores.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.main_op_with_restore`.
    """
    with control_dependencies([main_op()]):
        return group(restore_op_name)


class MethodNameUpdater:
    """An editor of the methods' names in a saved model's signatures.

    Args:
      export_dir: the saved model's directory.
    Raises: OSError if there is none.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.signature_def_utils.MethodNameUpdater`.
    """

    def __init__(self, export_dir: Any):
        self._export_dir = os.fspath(export_dir)
        self._message = read_saved_model(self._export_dir)

    def replace_method_name(self, signature_key: str, method_name: str, tags: Any = None) -> None:
        """Sets the name of a signature's method.

        Args:
          signature_key: the signature's name.
          method_name: the name.
          tags: the tags of the graph; all graphs if None.
        Raises: ValueError for empty names, or if no graph has such a signature.
        """
        if not signature_key or not method_name:
            raise ValueError("`signature_key` and `method_name` must be defined.")
        wanted = None if tags is None else {tags} if isinstance(tags, str) else set(tags)
        found = False
        for graph in self._message.meta_graphs:
            if (wanted is None or set(graph.meta_info_def.tags) == wanted) and signature_key in graph.signature_def:
                graph.signature_def[signature_key].method_name = method_name
                found = True
        if not found:
            raise ValueError(f"MetaGraphDef associated with tags {tags} could not be found in SavedModel, or has no "
                             f"signature {signature_key!r}. Fix: load() shows what there is")

    def save(self, new_export_dir: Any = None) -> None:
        """Writes the file; into another directory if one is given.

        Args:
          new_export_dir: the directory, or None.
        """
        folder = self._export_dir if new_export_dir is None else os.fspath(new_export_dir)
        make_folders(folder)
        write_whole(os.path.join(folder, SAVED_MODEL_FILENAME_PB), self._message.SerializeToString())


def read_saved_model(export_dir: str) -> Any:
    """Reads the message of a saved model, from the binary file or, if there is none, from the text.

    Args:
      export_dir: the folder.
    Returns: a `SavedModel`, with objects.
    Raises: OSError if there is none, or a damaged one.
    """
    for name in (SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT):
        path = os.path.join(export_dir, name)
        if os.path.exists(path):
            return read_message(SavedModel, path, name == SAVED_MODEL_FILENAME_PBTXT)
    raise OSError(f"SavedModel file does not exist at: {export_dir}/{{{SAVED_MODEL_FILENAME_PBTXT}|"
                  f"{SAVED_MODEL_FILENAME_PB}}}. Fix: check the path")


def asset_files(message: Any, export_dir: str) -> dict[str, str]:
    """Returns the files of a model, by the names of the tensors that stand for them.

    Args:
      message: its `MetaGraphDef`.
      export_dir: its folder.
    Raises: ValueError for a name that is not one of a file in the model's folder.
    """
    assets = list(message.asset_file_def)
    if not assets and ASSETS_KEY in message.collection_def:
        held = message.collection_def[ASSETS_KEY].any_list.value
        try:
            assets = [AssetFileDef.FromString(any_message.value) for any_message in held]
        except DecodeError as e:
            raise ValueError(f"the SavedModel is invalid: {e}. Fix: use another copy of the file") from None
    found = {}
    for asset in assets:
        name = asset.filename
        if os.path.isabs(name) or ".." in name.replace(os.sep, "/").split("/"):
            raise ValueError(f"the SavedModel is invalid: the asset {name!r} is not in its folder. "
                             "Fix: use another copy of the file")
        found[asset.tensor_info.name] = os.path.join(export_dir, ASSETS_DIRECTORY, name)
    return found


def load(sess: Any, tags: Any, export_dir: Any, import_scope: Any = None, **saver_kwargs: Any) -> MetaGraphDef:
    """Adds the graph of a saved model to a session's graph, and restores its variables.

    Args:
      sess: the session.
      tags: the tags of the graph, exactly.
      export_dir: the directory, of TensorFlow's too.
      import_scope: a name scope to put everything in.
      **saver_kwargs: accepted; without effect.
    Returns: the `MetaGraphDef`.
    Raises: OSError if there is no saved model, or a damaged one; RuntimeError if it has no graph with these tags.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.load`.
    """
    model = read_saved_model(os.fspath(export_dir))
    wanted = set(tags)
    found = [m for m in model.meta_graphs if set(m.meta_info_def.tags) == wanted]
    if not found:
        available = [sorted(m.meta_info_def.tags) for m in model.meta_graphs]
        raise RuntimeError(f"MetaGraphDef associated with tags {sorted(wanted)} could not be found in SavedModel. "
                           f"It has {available}. Fix: load it with one of these")
    message = found[0]
    with sess.graph.as_default():
        before = {id(v) for v in sess.graph.get_collection("variables")}
        saved = import_collections(message, scope=import_scope)
        made = [v for v in sess.graph.get_collection("variables") if id(v) not in before]
        restored = [v for v in made if saved is None or in_checkpoint(v, import_scope) in saved.names]
        prefix = f"{import_scope}/" if import_scope else ""
        tables = tables_of(saved, sess.graph, prefix)
        values = os.path.join(export_dir, "variables", "variables")
        restoring = prefix + message.saver_def.restore_op_name
        if restored or tables:
            saver_of(restored, tables, import_scope).restore(sess, values)
        elif restoring in sess.graph._index.by_name() and os.path.exists(f"{values}.index"):
            # A model of TensorFlow 2: its graph holds no collection of variables, but a function that restores them.
            sess.run(sess.graph.get_operation_by_name(restoring), {prefix + message.saver_def.filename_tensor_name:
                                                                   values})
        files = {prefix + name: path for name, path in asset_files(message, os.fspath(export_dir)).items()}
        for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
            if key in message.collection_def:
                for name in message.collection_def[key].node_list.value:
                    sess.run(_elements(sess.graph, [prefix + name])[0],
                             dict(zip(_elements(sess.graph, files), files.values(), strict=True)))
    return message


def _elements(graph: Any, names: Iterable[str]) -> list[Any]:
    """Returns operations and tensors of a graph; raises ValueError for names that are not there."""
    try:
        return [graph.as_graph_element(name) for name in names]
    except (KeyError, ValueError) as e:
        raise ValueError(f"the SavedModel is invalid: {e}. Fix: use another copy of the file") from None


def get_tensor_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: Any = None) -> Tensor:
    """Returns the tensor that a `TensorInfo` names.

    Args:
      tensor_info: the message.
      graph: the graph; the default one if not given.
      import_scope: the name scope that it was put in.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.get_tensor_from_tensor_info`.
    """
    name = f"{import_scope}/{tensor_info.name}" if import_scope else tensor_info.name
    return (graph or get_default_graph()).get_tensor_by_name(name)


def is_valid_signature(signature_def: Any) -> bool:
    """Returns whether a signature has inputs, outputs and a method that serving knows.

    Args:
      signature_def: the signature.
    Reference: TensorFlow 2.21 `tf.compat.v1.saved_model.is_valid_signature`.
    """
    known = (CLASSIFY_METHOD_NAME, PREDICT_METHOD_NAME, REGRESS_METHOD_NAME)
    parts: list[Mapping[str, Any]] = [signature_def.inputs, signature_def.outputs]
    return all(parts) and signature_def.method_name in known
