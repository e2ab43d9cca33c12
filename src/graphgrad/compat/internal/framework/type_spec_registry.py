"""`tensorflow.python.framework.type_spec_registry`: names of the specs that libraries define, and of TensorFlow's."""

from __future__ import annotations

import importlib

from graphgrad.frontend.structure import type_spec_registry
from graphgrad.frontend.structure.type_spec_registry import _NAME_TO_TYPE_SPEC as _NAME_TO_TYPE_SPEC
from graphgrad.frontend.structure.type_spec_registry import _TYPE_SPEC_TO_NAME as _TYPE_SPEC_TO_NAME
from graphgrad.frontend.structure.type_spec_registry import get_name as get_name
from graphgrad.frontend.structure.type_spec_registry import register as register

# Modules that register what they define when they are imported.
_MODULES = {
    "tf.NoneTensorSpec": "graphgrad.extras.data.dataset_specs",
    "tf.RaggedTensorSpec": "graphgrad.extras.ragged.ragged_spec",
    "tf.RowPartitionSpec": "graphgrad.extras.ragged.row_partition_value",
    "tf.SparseTensorSpec": "graphgrad.frontend.structure.sparse_spec",
    "tf.TensorArraySpec": "graphgrad.frontend.structure.tensor_array_spec",
    "tf.TensorSpec": "graphgrad.frontend.structure.signature",
}


def lookup(name: str) -> type:
    """Returns the class of specs of a name.

    Args:
      name: the name.
    Raises: ValueError if there is none.
    """
    if name in _MODULES:
        importlib.import_module(_MODULES[name])
    return type_spec_registry.lookup(name)
