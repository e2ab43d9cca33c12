"""`TensorHandle`: what `Session.run` returns for `tf.compat.v1.get_session_handle`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.values.kept_tensor import KeptName, KeptTensor

_LATE = 10  # so many tensors are kept after their handles are gone, for programs that hold the name alone


class TensorHandle:
    """A tensor that a session keeps; it can be fed to runs of any session.

    Args:
      name: what the operation returned.
      session: the session.
    Reference: TensorFlow 2.21 `tensorflow.python.ops.session_ops.TensorHandle`.
    """

    def __init__(self, name: KeptName, session: Any):
        self._handle = bytes(name).decode()
        self._kept: KeptTensor = name.kept
        self._session = session

    @property
    def handle(self) -> str:
        """The name, to be fed for `get_session_tensor` and `delete_session_tensor`."""
        return self._handle

    def __str__(self) -> str:
        return self._handle

    def _value(self, error: Callable[[str], Exception] = TypeError) -> Any:
        if self._kept.deleted:
            raise error(f"Persistent tensor {self._handle} may have already been deleted.")
        return self._kept.array

    def fed(self) -> Any:
        """Returns the tensor's value, to be fed; raises InvalidArgumentError for one that was deleted."""
        return self._value(lambda text: InvalidArgumentError(None, None, text))

    def eval(self) -> Any:
        """Returns the tensor's value.

        Raises: TypeError for one that was deleted; RuntimeError if the session is closed.
        """
        found = self._value()
        if self._session._closed:
            raise RuntimeError("Attempted to use a closed Session. Fix: evaluate the handle inside its `with` block")
        return found.copy() if found.ndim else found[()]

    def delete(self) -> None:
        """Forgets the tensor; raises TypeError if that was done before."""
        self._value()
        self._kept.deleted = True
        self._kept.array = None

    def __del__(self) -> None:
        late = getattr(getattr(self, "_session", None), "_late", None)
        if late is not None and not self._kept.deleted:
            late.append(self._kept)
            del late[:-_LATE]
