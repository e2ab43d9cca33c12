"""`tf.contrib.staging`: a buffer in which tensors of one run wait for another.

Reference: TensorFlow 1.15 `tf.contrib.staging.StagingArea`.
"""

from __future__ import annotations

from typing import Any

from graphgrad.extras.pipelines.queues import FIFOQueue


class StagingArea:
    """A buffer in which tensors of one run wait for another, first in, first out.

    Args:
      dtypes: the dtypes of an element's components.
      shapes: their shapes, if they are known.
      names: names for them; elements are dictionaries then.
      shared_name: areas of one session with the same shared name are one area.
      capacity: the largest number of elements; 0 for no limit.
      memory_limit: accepted; without effect.

    >>> area = StagingArea([tf.float32], [[2]])
    >>> put, (got,) = area.put([tf.constant([1.0, 2.0])]), area.get()
    >>> sess.run(put)
    >>> sess.run([got, put])[0]
    array([1., 2.], dtype=float32)
    """

    def __init__(self, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None,
                 capacity: int = 0, memory_limit: int = 0):
        if capacity < 0 or memory_limit < 0:
            raise ValueError(f"capacity and memory_limit must not be negative, but are {capacity}, {memory_limit}")
        self._queue = FIFOQueue(capacity or -1, list(dtypes), shapes, names, shared_name, "StagingArea")

    @property
    def dtypes(self) -> list[Any]:
        """The dtypes of an element's components."""
        return self._queue.dtypes

    @property
    def shapes(self) -> list[Any]:
        """Their shapes."""
        return self._queue.shapes

    @property
    def names(self) -> Any:
        """Their names, or None."""
        return self._queue.names

    @property
    def name(self) -> str:
        """The name of the area."""
        return self._queue.name

    def put(self, values: Any, name: str | None = None) -> Any:
        """Makes the operation that puts an element; it waits while the area is full.

        Args:
          values: a tensor, a list of the components, or a dictionary if they have names.
          name: a name for the operation.
        """
        return self._queue.enqueue(values, name)

    def get(self, name: str | None = None) -> Any:
        """Makes the operation that gets an element; it waits while there is none.

        Args:
          name: a name for the operation.
        Returns: a list of tensors, or a dictionary if the components have names.
        """
        found = self._queue.dequeue(name)
        return found if isinstance(found, (list, dict)) else [found]

    def size(self, name: str | None = None) -> Any:
        """Returns the number of elements, an int32 scalar.

        Args:
          name: a name for the operation.
        """
        return self._queue.size(name)
