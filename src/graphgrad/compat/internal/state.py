"""Switches of TensorFlow's that libraries look at and that have one position here."""

from __future__ import annotations

import contextlib
from typing import Any

ENABLE_CONTROL_FLOW_V2 = True  # loops and branches are operations that hold functions


def is_tfrt_enabled() -> bool:
    """Returns False: there is no such runtime."""
    return False


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """Returns False: there are no contexts.

    Args:
      graph: accepted.
    """
    return False


def get_enclosing_xla_context() -> None:
    """Returns None: there are no contexts; functional control flow has none."""


def load_context(load_options: Any = None) -> contextlib.nullcontext[None]:
    """Returns a block for loading a model; it does nothing.

    Args:
      load_options: accepted.
    """
    import contextlib

    return contextlib.nullcontext()


def is_mixed_precision_graph_rewrite_enabled() -> bool:
    """Returns False: graphs are not rewritten."""
    return False


def set_using_mixed_precision_policy(is_using: bool) -> None:
    """Does nothing: graphs are not rewritten.

    Args:
      is_using: accepted.
    """


def register_session_provider(session_provider: Any) -> None:
    """Does nothing: checkpoints use the default session.

    Args:
      session_provider: accepted.
    """


def register_loss_scale_wrapper(optimizer_cls: type, wrapper_fn: Any, wrapper_cls: Any = None) -> None:
    """Does nothing: no graph rewrite wraps optimizers here.

    Args:
      optimizer_cls, wrapper_fn, wrapper_cls: accepted.
    """


def get_build_info() -> dict[str, Any]:
    """Returns facts about how this package was built: there are none about CUDA, which JAX looks after."""
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


# Constants of TensorFlow's inside that libraries import.
STANDARD_PS_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
                   "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
                   "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp",
                   "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
                   "DecisionTreeResource")
SUPERVISED_TRAIN_METHOD_NAME = "tensorflow/supervised/training"
SUPERVISED_EVAL_METHOD_NAME = "tensorflow/supervised/eval"
TRAIN_OP_KEY = "saved_model_train_op"


def legacy_saveable_name(name: str) -> Any:
    """Returns a decorator that leaves a class as it is.

    Args:
      name: accepted.
    """
    return lambda cls: cls


def _to_proto_fn(v: Any, export_scope: Any = None) -> Any:
    """Returns the message of a variable."""
    return v.to_proto(export_scope)


def _from_proto_fn(v: Any, import_scope: Any = None) -> Any:
    """Returns the variable of a message."""
    from graphgrad.frontend.variables.variable import VariableV1

    return VariableV1.from_proto(v, import_scope)
