"""What makes sparse tensors and sparse Jacobians, for rooms beneath those that do; `frontend.core_hooks` says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_tensor: Callable[..., Any]
_jacobian: Callable[..., Any]
_batch_jacobian: Callable[..., Any]


def made_with(tensor: Callable[..., Any], jacobian: Callable[..., Any], batch_jacobian: Callable[..., Any]) -> None:
    """Declares what makes a `tf.SparseTensor`, and Jacobians (`gradients.sparsity.detection.sparse_jacobian`)."""
    global _tensor, _jacobian, _batch_jacobian
    _tensor, _jacobian, _batch_jacobian = tensor, jacobian, batch_jacobian


def sparse_tensor(indices: Any, values: Any, dense_shape: Any) -> Any:
    """Makes a `tf.SparseTensor`."""
    return _tensor(indices, values, dense_shape)


def sparse_jacobian(*arguments: Any) -> Any:
    """Makes a sparse Jacobian."""
    return _jacobian(*arguments)


def sparse_batch_jacobian(*arguments: Any) -> Any:
    """Makes a sparse Jacobian of each example."""
    return _batch_jacobian(*arguments)
