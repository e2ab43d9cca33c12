"""The interface of objects that checkpoints can save."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from graphgrad.frontend.structure.structure_types import P, R

_OWN = "_self_tracked_children"  # the attribute that holds the tracked children, by name
RESTORE_LATER = "_self_restore_later"  # the attribute in which a checkpoint waits for children that do not exist yet


class TrackableReference(NamedTuple):
    """A child of a trackable object, and its name there."""

    name: str
    ref: Any


class NoDependency:
    """Marks a value that an attribute holds without being tracked.

    Args:
      value: the value.
    """

    def __init__(self, value: Any):
        self.value = value


class Trackable:
    """The base of objects that checkpoints save: an object with children that have names.

    Subclasses track children with `_track_trackable`, or override `_trackable_children`. `AutoTrackable` tracks those
    that are assigned to attributes.

    Reference: TensorFlow 2.21 `tf.__internal__.tracking.Trackable`.
    """

    _object_identifier = "_generic_user_object"  # the kind of such objects in saved models
    _tracking_metadata = ""  # what else saved models tell of them

    def _maybe_initialize_trackable(self) -> None:
        """Prepares an object whose `__init__` did not call the base's."""
        vars(self).setdefault(_OWN, {})

    @property
    def _setattr_tracking(self) -> bool:
        """Whether assignments to attributes are tracked."""
        return bool(getattr(self, "_self_setattr_tracking", True))

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        vars(self)["_self_setattr_tracking"] = value

    @property
    def _unconditional_checkpoint_dependencies(self) -> list[TrackableReference]:
        """The tracked children, as references."""
        return [TrackableReference(name, child) for name, child in vars(self).get(_OWN, {}).items()]

    @property
    def _unconditional_dependency_names(self) -> dict[str, Any]:
        """The tracked children by name."""
        return dict(vars(self).get(_OWN, {}))

    # Libraries read what TensorFlow keeps these in.
    _self_unconditional_checkpoint_dependencies = _unconditional_checkpoint_dependencies
    _self_unconditional_dependency_names = _unconditional_dependency_names

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """All children, as references."""
        return [TrackableReference(name, child) for name, child in self._trackable_children().items()]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """Returns the children by name.

        Args:
          save_type: "checkpoint" or "savedmodel".
          **kwargs: further facts about what is saved; for subclasses.
        """
        return dict(vars(self).get(_OWN, {}))

    def _lookup_dependency(self, name: str, cached_dependencies: dict[str, Any] | None = None) -> Any:
        """Returns the child of a name; None if there is none."""
        children = vars(self).get(_OWN, {}) if cached_dependencies is None else cached_dependencies
        return children.get(name)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Tracks a child.

        Args:
          trackable: the child.
          name: its name here.
          overwrite: whether it may take the place of another child.
        Returns: the child.
        Raises: TypeError if it is not trackable; ValueError if the name is taken.
        """
        if not isinstance(trackable, Trackable):
            raise TypeError("Trackable._track_trackable() can only be used to track objects of type Trackable. "
                            f"Got type {type(trackable)}. Fix: derive the class from tf.Module")
        if not getattr(self, "_manual_tracking", True):
            return trackable
        self._maybe_initialize_trackable()
        known = self._lookup_dependency(name)
        if known is not None and known is not trackable and not overwrite:
            raise ValueError(f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name "
                             "is already declared as a dependency. Names must be unique (or overwrite=True).")
        vars(self)[_OWN][name] = trackable
        if known is None:
            self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _delete_tracking(self, name: str) -> None:
        """Forgets the child of a name, if there is one."""
        vars(self).get(_OWN, {}).pop(name, None)

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Restores a new child from a checkpoint that was read before the child existed."""
        later = vars(self).get(RESTORE_LATER)
        if later is not None:
            later(self, name, trackable)

    def _preload_simple_restoration(self, name: str) -> Any:
        """Returns None: variables are restored when they are tracked, not when they are initialized."""
        return None

    def _add_variable_with_custom_getter(self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
                                         getter: Any = None, overwrite: bool = False, **kwargs_for_getter: Any) -> Any:
        """Creates a variable and tracks it.

        Args:
          name: its name.
          shape, dtype, initializer, **kwargs_for_getter: for `getter`.
          getter: creates the variable.
          overwrite: whether it may take the place of another child.
        Returns: the variable.
        """
        if dtype is None:
            from graphgrad.ir.dtypes import float32 as dtype
        made = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs_for_getter)
        if overwrite and not isinstance(made, Trackable):
            return made
        return self._track_trackable(made, name, overwrite)

    def _no_dependency(self, value: Any) -> Any:
        """Returns a value that can be assigned without being tracked."""
        return value

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """Returns the tensors that checkpoints save of the object itself, by name; for subclasses."""
        raise NotImplementedError(f"{type(self).__name__}._serialize_to_tensors")

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        """Sets the object to what a checkpoint has saved of it; for subclasses.

        Args:
          restored_tensors: like the result of `_serialize_to_tensors`.
        """
        raise NotImplementedError(f"{type(self).__name__}._restore_from_tensors")

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """Returns what else is saved; nothing, unless a subclass overrides it."""
        return {}


_found_besides: list[Callable[[Any], dict[str, Any]]] = []


def find_besides(find: Callable[[Any], dict[str, Any]]) -> None:
    """Declares what SavedModels hold of an object besides what it tracks; the room of functions does.

    Args:
      find: returns the further children of an object, by name.
    """
    _found_besides.append(find)


class AutoTrackable(Trackable):
    """An object that tracks what is assigned to its attributes, and what is in lists, tuples and dictionaries there.

    Reference: TensorFlow 2.21 `tf.__internal__.tracking.AutoTrackable`.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if self._setattr_tracking:
            value = sticky_attribute_assignment(self, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._delete_tracking(name)
        super().__delattr__(name)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """Returns the children by name; for SavedModels with the functions that attributes hold.

        Args:
          save_type: "checkpoint" or "savedmodel".
          **kwargs: further facts about what is saved.
        """
        if save_type != "savedmodel":
            return super()._trackable_children(save_type, **kwargs)
        functions = {}
        for find in _found_besides:  # tracing functions may make further children
            functions.update(find(self))
        return {**super()._trackable_children(save_type, **kwargs), **functions}

    def _no_dependency(self, value: Any) -> NoDependency:
        """Returns a value that can be assigned without being tracked."""
        return NoDependency(value)


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """Tracks a value that is assigned to an attribute.

    Args:
      trackable: the object.
      name: the attribute.
      value: the value; lists, tuples and dictionaries are wrapped, so that they track what they hold.
    Returns: what the attribute is to hold.
    """
    if isinstance(value, NoDependency):
        return value.value
    from .data_structures import wrap

    value = wrap(value)
    if isinstance(value, Trackable):
        trackable._track_trackable(value, name=name, overwrite=True)
    return value


def no_automatic_dependency_tracking(method: Callable[P, R]) -> Callable[P, R]:
    """Makes a method that assigns attributes without tracking them.

    Args:
      method: a method of a trackable class.
    Returns: the method.
    """

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return untracked  # type: ignore[return-value]  # its first argument is named


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """Lets attributes of an object be assigned without tracking them.

    Args:
      obj: a trackable object.
    """
    before = getattr(obj, "_self_setattr_tracking", True)
    vars(obj)["_self_setattr_tracking"] = False
    try:
        yield
    finally:
        vars(obj)["_self_setattr_tracking"] = before


class DelegatingTrackableMixin:
    """A mixin for wrappers that checkpoints see as what they wrap.

    Args:
      trackable_obj: the wrapped object.
    """

    def __init__(self, trackable_obj: Any):
        vars(self)["_trackable"] = trackable_obj


def _delegated(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._trackable, name)(*args, **kwargs)

    method.__name__ = name
    return method


def _delegated_property(name: str) -> Any:
    return property(lambda self: getattr(self._trackable, name),
                    lambda self, value: setattr(self._trackable, name, value))


for _name, _value in list(vars(Trackable).items()):
    if isinstance(_value, property):
        setattr(DelegatingTrackableMixin, _name, _delegated_property(_name))
    elif callable(_value) and not _name.startswith("__"):
        setattr(DelegatingTrackableMixin, _name, _delegated(_name))
