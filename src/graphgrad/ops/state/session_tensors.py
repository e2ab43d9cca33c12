"""Tensors that a session keeps from one run for later ones, each under the name that `GetSessionHandle` returns."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, InternalError, InvalidArgumentError
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.values.kept_tensor import KeptName, KeptTensor

_NUMBERS = itertools.count()
_KEPT: weakref.WeakValueDictionary[bytes, KeptTensor] = weakref.WeakValueDictionary()
_PLACE = "/job:localhost/replica:0/task:0/device:CPU:0"


def _name(handle: Any) -> bytes:
    found: Any = np.asarray(handle).item()
    return bytes(found) if isinstance(found, bytes) else str(found).encode()


def _scalar(value):
    return ()


def _any_shape(handle, **_):
    return None


@op("GetSessionHandle", "value: T -> handle: string", flags=("stateful", "host"), shape=_scalar)
def get_session_handle_op(xp, value):
    """Keeps a tensor; returns the name under which it is found."""
    name = KeptName(f"GetSessionHandle;{next(_NUMBERS)};{_PLACE}".encode())
    name.kept = KeptTensor(np.array(value))
    _KEPT[bytes(name)] = name.kept
    found = np.empty((), object)
    found[()] = name
    return found


@op("GetSessionTensor", "handle: string -> value: dtype", flags=("stateful", "host"), shape=_any_shape)
def get_session_tensor_op(xp, handle, *, dtype):
    """Returns the tensor of a name."""
    name = _name(handle)
    kept = _KEPT.get(name)
    if kept is None or kept.deleted:
        raise Complaint(f"The tensor with handle '{name.decode()}' is not in the session store",
                        "keep what Session.run returned for get_session_handle, as long as the tensor is needed",
                        InvalidArgumentError)
    if kept.array.dtype != as_dtype(dtype).np_dtype:
        raise Complaint(f"Output 0 of type {as_dtype(kept.array.dtype).name} does not match declared output type "
                        f"{as_dtype(dtype).name}", "give get_session_tensor the dtype of what was kept", InternalError)
    return kept.array


@op("DeleteSessionTensor", "handle: string ->", flags=("stateful", "host"))
def delete_session_tensor_op(xp, handle):
    """Forgets the tensor of a name."""
    name = _name(handle)
    kept = _KEPT.pop(name, None)
    if kept is None or kept.deleted:
        raise Complaint(f"Failed to delete a tensor with handle '{name.decode()}' in the session store",
                        "delete each tensor once", InvalidArgumentError)
    kept.deleted = True
    return ()


for _op in (get_session_handle_op, get_session_tensor_op, delete_session_tensor_op):
    _op.grad(NOT_DIFFERENTIABLE)
