"""`tf.saved_model.experimental.TrackableResource`: the base of tables and other resources that objects hold."""

from __future__ import annotations

from typing import Any

from .trackable import Trackable


class TrackableResource(Trackable):
    """The base of objects that hold a resource, such as tables; a subclass makes it in `_create_resource`.

    Args:
      device: accepted.
    Reference: TensorFlow 2.21 `tf.saved_model.experimental.TrackableResource`.

    >>> import graphgrad as tf
    >>> class Counter(tf.saved_model.experimental.TrackableResource):
    ...     def _create_resource(self):
    ...         return "the resource"
    >>> Counter().resource_handle
    'the resource'
    """

    _made: Any = None

    def __init__(self, device: str = ""):
        self._resource_device = device

    def _create_resource(self) -> Any:
        """Makes the resource."""
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> Any:
        """Initializes the resource; nothing, unless a subclass overrides it."""

    @property
    def resource_handle(self) -> Any:
        """The resource, which is made when it is first asked for."""
        if self._made is None:
            self._made = self._create_resource()
        return self._made


__all__ = ["TrackableResource"]
