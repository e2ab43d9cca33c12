"""Specs under the names of `tf.data.experimental` of TensorFlow 1."""

from __future__ import annotations

from typing import Any

from graphgrad.extras.ragged.ragged_spec import RaggedTensorSpec
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.sparse_spec import SparseTensorSpec
from graphgrad.frontend.structure.tensor_array_spec import TensorArraySpec


def TensorStructure(dtype: Any, shape: Any) -> TensorSpec:
    """Makes `tf.TensorSpec(shape, dtype)`.

    Args:
      dtype, shape: as there.
    """
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: Any, shape: Any) -> SparseTensorSpec:
    """Makes `tf.SparseTensorSpec(shape, dtype)`.

    Args:
      dtype, shape: as there.
    """
    return SparseTensorSpec(shape, dtype)


def RaggedTensorStructure(dtype: Any, shape: Any, ragged_rank: Any) -> RaggedTensorSpec:
    """Makes `tf.RaggedTensorSpec(shape, dtype, ragged_rank)`.

    Args:
      dtype, shape, ragged_rank: as there.
    """
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def TensorArrayStructure(dtype: Any, element_shape: Any, dynamic_size: Any, infer_shape: Any) -> TensorArraySpec:
    """Makes `tf.TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)`.

    Args:
      dtype, element_shape, dynamic_size, infer_shape: as there.
    """
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
