"""Tensors that stay in a session from one run to the next."""

from __future__ import annotations

from typing import Any

from graphgrad.errors import FailedPreconditionError
from graphgrad.ir.context import current_graph
from graphgrad.ir.dtypes import as_dtype, string
from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import DTypeLike, Tensor
from graphgrad.ops.array.constant import placeholder

from .default_graph import device


def _check_graph(function: str) -> None:
    if current_graph() is None:
        raise FailedPreconditionError(None, None, f"{function} called on null session state: in eager mode there is "
                                      f"none.\n  Asked for at {user_source(2)}\n  Fix: keep the tensor itself")


def get_session_handle(data: Any, name: str | None = None) -> Tensor:
    """Keeps a tensor in the session that computes it.

    Args:
      data: a tensor.
      name: a name for the operation.
    Returns: a scalar string tensor. For it `Session.run` returns a `TensorHandle`, which has `handle`, `eval` and
      `delete`, and can be fed for a tensor.
    Raises: TypeError for anything else; FailedPreconditionError in eager mode.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.compat.v1.get_session_handle`.

    >>> x = tf.placeholder(tf.float32, [None])
    >>> kept = sess.run(tf.get_session_handle(tf.constant([1.0, 2.0]) * 2.0))
    >>> sess.run(x[::-1], {x: kept})
    array([4., 2.], dtype=float32)
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"`data` must be of type Tensor, not {type(data).__name__}. Fix: tf.convert_to_tensor(data)")
    _check_graph("GetSessionHandle")
    found: Tensor = raw.GetSessionHandle(data, name=name)
    return found


def get_session_tensor(handle: str, dtype: DTypeLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Builds an operation that finds a tensor that the session keeps.

    Args:
      handle: the `handle` of what `Session.run` returned; its device counts.
      dtype: the tensor's dtype.
      name: a name for the operation.
    Returns: a placeholder for a handle, and the tensor.
    Raises: ValueError for a handle that is none; FailedPreconditionError in eager mode.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.compat.v1.get_session_tensor`.

    >>> kept = sess.run(tf.get_session_handle(tf.constant([1.0, 2.0]) * 2.0))
    >>> which, x = tf.get_session_tensor(kept.handle, tf.float32)
    >>> sess.run(x + 1.0, {which: kept.handle})
    array([3., 5.], dtype=float32)
    """
    _check_graph("GetSessionTensor")
    with device(_device(handle)):
        which = placeholder(string)
        return which, raw.GetSessionTensor(which, dtype=as_dtype(dtype), name=name)


def delete_session_tensor(handle: str, name: str | None = None) -> tuple[Tensor, Operation]:
    """Builds an operation that makes the session forget a tensor.

    Args:
      handle: the `handle` of what `Session.run` returned; its device counts.
      name: a name for the operation.
    Returns: a placeholder for a handle, and the operation.
    Raises: ValueError for a handle that is none; FailedPreconditionError in eager mode.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.compat.v1.delete_session_tensor`.

    >>> kept = sess.run(tf.get_session_handle(tf.constant(2.0)))
    >>> which, forget = tf.delete_session_tensor(kept.handle)
    >>> sess.run(forget, {which: kept.handle})
    """
    _check_graph("DeleteSessionTensor")
    with device(_device(handle)):
        which = placeholder(string)
        made: Operation = raw.DeleteSessionTensor(which, name=name)
        return which, made


def _device(handle: Any) -> str:
    return str(handle).split(";")[-1]
