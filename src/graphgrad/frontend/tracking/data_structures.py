"""Lists, tuples and dictionaries that track what they hold.

The wrappers share the storage of what they wrap, so that a program which goes on using the list that it assigned, and
one which uses the attribute, see the same elements.
"""

from __future__ import annotations

import collections
import contextlib
import operator
from collections.abc import Iterable, Iterator
from typing import Any

from .trackable import NoDependency, Trackable, sticky_attribute_assignment


def wrap(value: Any) -> Any:
    """Wraps a list, a tuple or a dictionary, so that it tracks what it holds.

    Args:
      value: anything.
    Returns: a wrapper of a plain list or dictionary, and of a tuple that holds trackable objects; other values as they
      are.
    Reference: TensorFlow 2.21 `tf.__internal__.tracking.wrap`.
    """
    if isinstance(value, NoDependency):
        return value.value
    if isinstance(value, Trackable):
        return value
    if type(value) in (dict, collections.OrderedDict):
        return DictWrapper(value)
    if type(value) is list:
        return ListWrapper(value)
    if isinstance(value, tuple) and any(isinstance(wrap(v), Trackable) for v in value):
        return _wrapped_tuple(value)
    return value


def _has_weights(value: Any) -> bool:
    """Returns whether a value is like a layer: an object with trainable and other weights."""
    kind = type(value)
    return not isinstance(value, type) and hasattr(kind, "trainable_weights") and hasattr(kind, "non_trainable_weights")


def _is_variable(value: Any) -> bool:
    return hasattr(type(value), "handle") and hasattr(value, "trainable")


def _unique(values: Iterable[Any]) -> list[Any]:
    return list({id(v): v for v in values}.values())


class TrackableDataStructure(Trackable):
    """The base of containers that track what they hold; libraries of layers ask them for layers and weights."""

    @property
    def _values(self) -> list[Any]:
        """The tracked elements."""
        raise NotImplementedError  # each container has its own

    @property
    def trainable(self) -> bool:
        """Whether weights that are directly in the container are trained."""
        return bool(vars(self).get("_self_trainable", True))

    @trainable.setter
    def trainable(self, value: bool) -> None:
        vars(self)["_self_trainable"] = value

    @property
    def _layers(self) -> list[Any]:
        return [v for v in self._values if _has_weights(v)]

    @property
    def layers(self) -> list[Any]:
        """The layers, also those in containers inside."""
        found: list[Any] = []
        for value in self._layers:
            found += value.layers if isinstance(value, TrackableDataStructure) else [value]
        return _unique(found)

    def _own_variables(self) -> list[Any]:
        return [v for v in self._values if _is_variable(v)]

    @property
    def trainable_weights(self) -> list[Any]:
        """The weights that are trained."""
        if not self.trainable:
            return []
        own = [v for v in self._own_variables() if v.trainable]
        return _unique([*own, *(w for layer in self._layers for w in layer.trainable_weights)])

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The weights that are not trained."""
        own = [v for v in self._own_variables() if not (v.trainable and self.trainable)]
        inside = [w for layer in self._layers for w in layer.non_trainable_weights]
        if not self.trainable:
            inside = [w for layer in self._layers for w in layer.trainable_weights] + inside
        return _unique([*own, *inside])

    @property
    def weights(self) -> list[Any]:
        """All weights."""
        return self.trainable_weights + self.non_trainable_weights

    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights
    variables = weights

    @property
    def updates(self) -> list[Any]:
        """The updates of the layers."""
        return [u for layer in self.layers for u in getattr(layer, "updates", ())]

    @property
    def losses(self) -> list[Any]:
        """The losses of the layers."""
        return [loss for layer in self.layers for loss in getattr(layer, "losses", ())]

    def _named(self) -> Iterator[tuple[str, Any]]:
        """Yields the elements with the names that checkpoints give them."""
        raise NotImplementedError  # each container has its own

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        own = {name: value for name, value in self._named() if isinstance(value, Trackable)}
        return {**own, **super()._trackable_children(save_type, **kwargs)}

    def _lookup_dependency(self, name: str, cached_dependencies: dict[str, Any] | None = None) -> Any:
        return super()._lookup_dependency(name, cached_dependencies or self._trackable_children())

    def _taken(self, name: str, value: Any) -> Any:
        """Wraps a new element, and restores it if a checkpoint waits for it."""
        value = wrap(value)
        if isinstance(value, Trackable):
            self._handle_deferred_dependencies(name, value)
        return value

    def __hash__(self) -> int:
        return id(self)


class ListWrapper(TrackableDataStructure, list):  # type: ignore[type-arg]  # a list of anything
    """A list that tracks what it holds.

    Args:
      wrapped_list: the list, which is shared: changes of the one are changes of the other.
    """

    _object_identifier = "trackable_list_wrapper"

    def __init__(self, wrapped_list: list[Any] | None = None):
        super().__init__()
        self._storage = [] if wrapped_list is None else wrapped_list
        self._storage[:] = [wrap(v) for v in self._storage]

    @property
    def _values(self) -> list[Any]:
        return [v for v in self._storage if isinstance(v, Trackable)]

    def _named(self) -> Iterator[tuple[str, Any]]:
        return ((str(i), v) for i, v in enumerate(self._storage))

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self._storage[index] = [wrap(v) for v in value]
        else:
            self._storage[index] = self._taken(str(range(len(self))[index]), value)

    def append(self, value: Any) -> None:
        """Adds an element."""
        self._storage.append(self._taken(str(len(self)), value))

    def extend(self, values: Iterable[Any]) -> None:
        """Adds elements."""
        for value in values:
            self.append(value)

    def insert(self, index: Any, obj: Any) -> None:
        """Inserts an element."""
        self._storage.insert(index, wrap(obj))

    # Silenced: `__add__` and `__mul__` are those of the wrapped list, see below.
    def __iadd__(self, values: Iterable[Any]) -> Any:  # type: ignore[misc]
        self.extend(values)
        return self

    def __imul__(self, times: Any) -> Any:  # type: ignore[misc]  # as `__iadd__`
        self._storage *= times
        return self

    def sort(self, **kwargs: Any) -> None:
        """Sorts the elements."""
        self._storage.sort(**kwargs)

    def __radd__(self, other: Any) -> Any:
        return other + self._storage

    def __copy__(self) -> Any:
        return ListWrapper(list(self._storage))

    copy = __copy__

    def __deepcopy__(self, memo: Any) -> Any:
        import copy

        return ListWrapper([copy.deepcopy(v, memo) for v in self._storage])

    def __reduce_ex__(self, protocol: Any) -> Any:
        return ListWrapper, (list(self._storage),)

    def __repr__(self) -> str:
        return f"ListWrapper({self._storage!r})"

    __hash__ = TrackableDataStructure.__hash__  # type: ignore[assignment]  # the list's own is None


def _forwarded(name: str) -> Any:
    """Returns a method that calls the one of the wrapped value."""

    def method(self: Any, *args: Any) -> Any:
        args = tuple([a._storage if isinstance(a, (ListWrapper, DictWrapper)) else a for a in args])
        return getattr(self._storage, name)(*args)

    method.__name__ = name
    return method


for _name in ("__getitem__", "__delitem__", "__len__", "__iter__", "__contains__", "__reversed__", "__eq__", "__ne__",
              "__lt__", "__le__", "__gt__", "__ge__", "__add__", "__mul__", "__rmul__", "pop", "remove", "clear",
              "reverse", "index", "count"):
    setattr(ListWrapper, _name, _forwarded(_name))


class DictWrapper(TrackableDataStructure):
    """A dictionary that tracks what it holds; `isinstance` takes it for one.

    Args:
      wrapped_dict: the dictionary, which is shared: changes of the one are changes of the other.
    """

    _object_identifier = "trackable_dict_wrapper"

    def __init__(self, wrapped_dict: Any = None):
        given = {} if wrapped_dict is None else wrapped_dict
        vars(self)["_storage"] = given if isinstance(given, dict) else dict(given)
        for key, value in self._storage.items():
            self._storage[key] = wrap(value)

    @property  # type: ignore[misc]  # it cannot be set
    def __class__(self) -> Any:  # what `isinstance` takes it for
        return type(self._storage)

    @property
    def _values(self) -> list[Any]:
        found = self._storage.items()
        with contextlib.suppress(TypeError):  # keys of several types keep their order
            found = sorted(found, key=operator.itemgetter(0))
        return [v for _, v in found if isinstance(v, Trackable)]

    def _named(self) -> Iterator[tuple[str, Any]]:
        return ((str(k), v) for k, v in self._storage.items())

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[key] = self._taken(str(key), value)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Returns the value of a key, which is set to `default` if it is missing."""
        if key not in self._storage:
            self[key] = default
        return self._storage[key]

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Sets several keys."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __copy__(self) -> Any:
        return DictWrapper(self._storage.copy())

    copy = __copy__

    def __deepcopy__(self, memo: Any) -> Any:
        import copy

        return DictWrapper(copy.deepcopy(self._storage, memo))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return DictWrapper, (self._storage,)

    def __repr__(self) -> str:
        return f"DictWrapper({self._storage!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._storage, name)

    __hash__ = TrackableDataStructure.__hash__


for _name in ("__getitem__", "__delitem__", "__len__", "__iter__", "__contains__", "__reversed__", "__eq__", "__ne__",
              "__or__", "__ror__", "get", "keys", "values", "items", "pop", "popitem", "clear"):
    setattr(DictWrapper, _name, _forwarded(_name))


def _wrapped_tuple(value: Any) -> Any:
    """Wraps a tuple or a named tuple: an instance of a subclass of its type, with wrapped elements."""
    kind = type(value)
    made = _tuple_class(kind)
    elements = [wrap(v) for v in value]
    return made._make(elements) if hasattr(kind, "_make") else made(elements)


_tuple_classes: dict[type, type] = {}


def _tuple_class(kind: type) -> Any:
    if kind not in _tuple_classes:
        fields = getattr(kind, "_fields", None)
        own = {"_element_names": fields, "__hash__": kind.__hash__}
        _tuple_classes[kind] = type(kind.__name__, (_TupleWrapper, kind), own)
    return _tuple_classes[kind]


class _TupleWrapper(TrackableDataStructure):
    """A tuple that tracks what it holds: combined with the class of the tuple."""

    _object_identifier = "trackable_tuple_wrapper"

    _element_names: tuple[str, ...] | None

    def _elements(self) -> list[Any]:
        whole: Any = self
        return list(tuple.__iter__(whole))

    @property
    def _values(self) -> list[Any]:
        return [v for v in self._elements() if isinstance(v, Trackable)]

    def _named(self) -> Iterator[tuple[str, Any]]:
        elements = self._elements()
        names = self._element_names or [str(i) for i in range(len(elements))]
        return zip(names, elements, strict=True)

    def __reduce_ex__(self, protocol: Any) -> Any:
        elements = self._elements()
        base = next(c for c in type(self).__mro__ if not issubclass(c, _TupleWrapper) and issubclass(c, tuple))
        return wrap, (base(*elements) if self._element_names else tuple(elements),)


__all__ = ["DictWrapper", "ListWrapper", "TrackableDataStructure", "sticky_attribute_assignment", "wrap"]
