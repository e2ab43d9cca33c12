"""`tf.CriticalSection` and `tf.xla` scopes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from graphgrad.frontend.structure import nest
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import TensorLike

from .function import function


class CriticalSection:
    """Functions that must not run at the same time: here operations with effects are serialized anyway.

    Args:
      name: a name for the scopes of `execute`.
      shared_name, critical_section_def, import_scope: accepted as TensorFlow does.
    Raises: ValueError for both `critical_section_def` and `shared_name`.
    Gradient: that of the executed function.
    Reference: TensorFlow 2.21 `tf.CriticalSection`.

    >>> v = tf.Variable(1.0)
    >>> once = tf.CriticalSection().execute(lambda: v.assign_add(1.0))
    >>> _ = sess.run(v.initializer)
    >>> sess.run(once)
    np.float32(2.0)
    """

    def __init__(self, name: str | None = None, shared_name: str | None = None, critical_section_def: Any = None,
                 import_scope: str | None = None):
        if critical_section_def is not None and shared_name is not None:
            raise ValueError("Arguments critical_section_def and shared_name are mutually exclusive. Fix: give one")
        if critical_section_def is not None:
            raise ValueError("Argument `critical_section_def` is not supported. Fix: give a name")
        self._name = name or "critical_section"
        self._busy = False

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """Runs a function without arguments; no other function of this section runs at the same time.

        Args:
          fn: the function; it returns tensors, in any structure.
          exclusive_resource_access: accepted; variables change in the order of the operations that change them.
          name: a name for the scope.
        Raises: ValueError if the function uses the section itself.
        """
        if self._busy:
            raise ValueError(f"Attempting to lock {self._name} while inside of it: that would wait for itself. "
                             "Fix: call the inner function directly")
        self._busy = True
        try:
            with name_scope(name, f"{self._name}_execute"):
                return nest.map_structure(_after, fn())
        finally:
            self._busy = False


def _after(found: Any) -> Any:
    """Copies a result to a separate tensor; returns operations and None unchanged."""
    is_value = hasattr(found, "dtype") or isinstance(found, (int, float, str))
    return raw.Identity(convert_to_tensor(found)) if is_value else found


def xla_compile(computation: Callable[..., Any], inputs: TensorLike = None) -> list[Any]:
    """Computes the results of a function, compiled as one XLA program.

    Args:
      computation: a function of tensors.
      inputs: a list of its arguments.
    Returns: a list of its results.
    Gradient: that of its operations.
    Reference: TensorFlow 2.21 `tf.xla.experimental.compile`.

    >>> sess.run(tf.xla.experimental.compile(lambda x: x * 2.0, [tf.constant(3.0)]))
    [np.float32(6.0)]
    """
    found = function(computation, jit_compile=True, autograph=False)(*map(convert_to_tensor, inputs or ()))
    return [t for t in nest.flatten(found) if t is not None]


@contextlib.contextmanager
def jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """Opens a block without effect: XLA compiles everything here.

    Args:
      compile_ops: whether TensorFlow would compile the operations made inside.
      separate_compiled_gradients: whether their gradients would be compiled by themselves.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.xla.experimental.jit_scope`.

    >>> with tf.xla.experimental.jit_scope():
    ...     x = tf.constant(1.0) + 1.0
    """
    yield
