"""`tf.Module`: an object that tracks its variables and its submodules."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from graphgrad.frontend.structure import nest
from graphgrad.frontend.tracking.trackable import AutoTrackable
from graphgrad.ir.context import current_graph
from graphgrad.ir.scopes import eager_scope, name_scope


class _Scope:
    """A name scope that can be entered more than once."""

    def __init__(self, name: str):
        self.name = name
        self._open: list[Any] = []

    def __enter__(self) -> str:
        scope = _prefix(self.name)
        self._open.append(scope)
        found: str = scope.__enter__()
        return found

    def __exit__(self, *details: Any) -> Any:
        return self._open.pop().__exit__(*details)


class _prefix:
    """Prefixes the names of operations, and of eager variables."""

    def __init__(self, name: str):
        self._scope = name_scope(name if current_graph() is not None else None)
        self._name = name

    def __enter__(self) -> str:
        self._before = eager_scope.prefix
        eager_scope.prefix = self._name
        self._scope.__enter__()
        return self._name

    def __exit__(self, *details: Any) -> Any:
        eager_scope.prefix = self._before
        return self._scope.__exit__(*details)


class Module(AutoTrackable):
    """A base for layers and models: finds the variables and modules among its attributes, including nested ones.

    Args:
      name: a valid Python identifier; from the class's name if not given.
    Raises: ValueError for other names.
    Reference: TensorFlow 2.21 `tf.Module`.

    >>> class Dense(tf.Module):
    ...     def __init__(self):
    ...         super().__init__(name="dense")
    ...         self.w = tf.Variable(tf.ones([2, 2]))
    >>> [v.shape.as_list() for v in Dense().trainable_variables]
    [[2, 2]]
    """

    # Attributes that are not looked at; libraries extend it.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset({"_name", "_name_scope", "_self_tracked_children", "_self_restore_later"})

    def __init__(self, name: str | None = None):
        if name is None:
            name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", type(self).__name__)
            name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
        if not (isinstance(name, str) and name.isidentifier()):
            raise ValueError(f"{name!r} is not a valid module name. Module names must be valid Python identifiers "
                             "(e.g. a valid class name). Fix: use letters, digits and underscores")
        self._name_as(name)

    def _name_as(self, name: str) -> None:
        self._name = name
        self._name_scope = _Scope(f"{eager_scope.prefix if current_graph() is None else ''}{name}/")

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """A `with` block that prefixes the names of objects created in it with the module's."""
        return self._name_scope

    @property
    def variables(self) -> tuple[Any, ...]:
        """Its variables and those of its modules, by the names of attributes."""
        return tuple(self._flatten(predicate=_is_variable, expand_composites=True))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of the variables that are trainable."""
        return tuple([v for v in self.variables if v.trainable])

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """Those of the variables that are not."""
        return tuple([v for v in self.variables if not v.trainable])

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules in it, and those in them."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(self, recursive: bool = True, predicate: Callable[[Any], bool] | None = None,
                 attribute_traversal_key: Callable[[Any], Any] | None = None, with_path: bool = False,
                 expand_composites: bool = False) -> Iterator[Any]:
        """Yields the leaves of attributes, each once: its own first, then those of its modules.

        Libraries call it, too.

        Args:
          recursive: whether those of its modules follow.
          predicate: a function of a leaf that says whether it is wanted; all are by default.
          attribute_traversal_key: the key by which names of attributes are sorted.
          with_path: whether to yield pairs of a tuple of names and keys, and a leaf, for each place that it is in.
          expand_composites: whether values of several tensors count as their tensors.
        """
        seen = {id(self)}
        waiting: list[tuple[tuple[Any, ...], tuple[Module, ...]]] = [((), (self,))]
        while waiting:
            path, around = waiting.pop(0)
            inner = []
            attributes = vars(around[-1])
            for key in sorted(set(attributes) - around[-1]._TF_MODULE_IGNORED_PROPERTIES, key=attribute_traversal_key):
                value = _sorted(attributes[key])
                leaves = nest.flatten(value, expand_composites)
                places = nest.yield_flat_paths(value, expand_composites) if with_path else [()] * len(leaves)
                for place, leaf in zip(places, leaves, strict=True):
                    if id(leaf) in seen and not with_path:
                        continue
                    if predicate is None or predicate(leaf):
                        seen.add(id(leaf))
                        yield ((*path, key, *place), leaf) if with_path else leaf
                    if recursive and _is_module(leaf) and all(leaf is not m for m in around):
                        seen.add(id(leaf))
                        inner.append(((*path, key, *place), (*around, leaf)))
            waiting[:0] = inner

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Makes a method run in the module's name scope.

        Args:
          method: the method.

        >>> class M(tf.Module):
        ...     @tf.Module.with_name_scope
        ...     def __call__(self):
        ...         return tf.Variable(1.0, name="v").name
        >>> M()()
        'm/v:0'
        """

        @functools.wraps(method)
        def inside(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return inside


def _is_variable(leaf: Any) -> bool:
    return hasattr(type(leaf), "handle") and hasattr(leaf, "trainable")


def _is_module(leaf: Any) -> bool:
    return isinstance(leaf, Module)


def _sorted(value: Any) -> Any:
    """Makes a value that can be flattened: dictionaries with keys of several types keep their order."""
    if isinstance(value, dict):
        try:
            sorted(value)
        except TypeError:
            return [_sorted(v) for v in value.values()]
    return value
