"""Scopes and collections of the default graph, as functions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from graphgrad.ir.context import current_graph, get_default_graph
from graphgrad.ir.scopes import eager_scope
from graphgrad.ir.scopes import name_scope as _name_scope


class name_scope_v1:
    """Prefixes the names of operations built inside a `with` block (1.x).

    Args:
      name: the scope's name; None for `default_name`.
      default_name: the name when `name` is None.
      values: accepted as TensorFlow does.
    Raises: ValueError if neither is a name, TypeError if one is not a string.

    >>> with tf.name_scope("layer"):
    ...     print(tf.constant(1, name="c").name)
    layer/c:0
    """

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None):
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name for name_scope must be a string, not {name!r}.")
        if name is None and default_name is None and values is not None:
            raise ValueError("At least one of name (None) and default_name (None) should be provided")
        self._name = name
        self._default = default_name
        self._context: Any = None
        self._before = ""

    @property
    def name(self) -> str | None:
        """The requested name."""
        return self._default if self._name is None else self._name

    def __enter__(self) -> str:
        if current_graph() is None:
            self._context, name = None, self.name
            self._before = eager_scope.prefix
            if not name or name.endswith("/"):  # an absolute scope, re-entered
                eager_scope.prefix = name or ""
            else:
                eager_scope.prefix += f"{name}/"
            return eager_scope.prefix
        self._context = _name_scope(self._name, self._default)
        scope: str = self._context.__enter__()
        return scope

    def __exit__(self, *exc: Any) -> None:
        if self._context is None:
            eager_scope.prefix = self._before
        else:
            self._context.__exit__(*exc)


class name_scope_v2(name_scope_v1):
    """Prefixes the names of operations built inside a `with` block (2.x).

    Args:
      name: the scope's name.
    Raises: ValueError if it is not a string.
    """

    def __init__(self, name: str):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        super().__init__(name)


@contextlib.contextmanager
def op_scope(values: Any, name: str | None, default_name: str | None = None) -> Iterator[str]:
    """Calls `name_scope` with the arguments in the order of TensorFlow 0.x."""
    with name_scope_v1(name, default_name, values) as scope:
        yield scope


def get_name_scope() -> str:
    """Returns the current name scope, without a slash at its end; TensorFlow's older name."""
    return get_current_name_scope()


def get_current_name_scope() -> str:
    """Returns the current name scope, without a trailing slash.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.get_current_name_scope`.

    >>> with tf.name_scope("a"), tf.name_scope("b"):
    ...     get_current_name_scope()
    'a/b'
    """
    graph = current_graph()
    return eager_scope.prefix.rstrip("/") if graph is None else graph.get_name_scope()


def control_dependencies(control_inputs: Any) -> AbstractContextManager[Any]:
    """Makes the operations built inside a `with` block run after `control_inputs`.

    Args:
      control_inputs: operations, tensors or variables; None clears all outer demands. In
        eager mode, where everything runs in order, functions in it are called.
    Raises: TypeError for anything else.
    """
    graph = current_graph()
    if graph is not None:
        return graph.control_dependencies(control_inputs)
    for c in control_inputs or ():
        if callable(c):
            c()
    return contextlib.nullcontext()


def device(device_name_or_function: Any) -> AbstractContextManager[Any]:
    """Asks for a device for the operations made inside a `with` block.

    Args:
      device_name_or_function: a device string such as '/gpu:0', a function from `Operation`
        to one (graphs only), or None.
    Raises: ValueError for a string that names no device.
    """
    graph = current_graph()
    return contextlib.nullcontext() if graph is None else graph.device(device_name_or_function)


def device_v2(device_name: Any) -> AbstractContextManager[Any]:
    """Asks for a device for the operations made inside a `with` block.

    Args:
      device_name: a device string such as '/gpu:0', or None to forget the outer ones.
    Raises: ValueError for a string that names no device; RuntimeError for a function.
    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions. Fix: use tf.compat.v1.device, or a device string")
    return device(device_name)


def colocate_with(op: Any, ignore_existing: bool = False) -> AbstractContextManager[Any]:
    """Colocates the operations built inside a `with` block with `op`.

    Args:
      op: an operation or tensor.
      ignore_existing: whether to leave outer groups.
    """
    graph = current_graph()
    return contextlib.nullcontext() if graph is None else graph.colocate_with(op, ignore_existing)


def container(container_name: str) -> AbstractContextManager[Any]:
    """Opens a block without effect: a session has one container.

    Args:
      container_name: accepted; without effect.
    Reference: TensorFlow 2.21 `tf.compat.v1.container`.
    """
    return contextlib.nullcontext(container_name)


def add_to_collection(name: Any, value: Any) -> None:
    """Appends `value` to a collection of the default graph.

    Args:
      name: the collection's name, e.g. an attribute of `tf.GraphKeys`.
      value: any object.
    Reference: TensorFlow 2.21 `tf.compat.v1.add_to_collection`.

    >>> tf.add_to_collection("kept", 1)
    >>> tf.add_to_collection("kept", 2)
    >>> tf.get_collection("kept")
    [1, 2]
    """
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Appends `value` to several collections of the default graph.

    Args:
      names: the collections' names.
      value: any object.
    Reference: TensorFlow 2.21 `tf.compat.v1.add_to_collections`.
    """
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """Returns a copy of a collection of the default graph.

    Args:
      key: the collection's name, e.g. an attribute of `tf.GraphKeys`.
      scope: a regular expression that kept items' names begin with.
    """
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """Returns a collection of the default graph itself; changing the list changes the collection.

    Args:
      key: the collection's name; an unknown one begins an empty collection.
    Returns: a list.
    Reference: TensorFlow 2.21 `tf.compat.v1.get_collection_ref`.

    >>> tf.get_collection_ref("kept").append(3)
    >>> tf.get_collection("kept")
    [3]
    """
    return get_default_graph().get_collection_ref(key)
