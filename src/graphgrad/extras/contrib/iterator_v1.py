"""`tf.contrib.eager.Iterator`: goes through a data set in eager mode."""

from __future__ import annotations

from typing import Any


class EagerIterator:
    """An iterator over a data set, element by element.

    Args:
      dataset: the `tf.data.Dataset`.
    Reference: `tf.contrib.eager.Iterator` of TensorFlow 1.15.
    """

    def __init__(self, dataset: Any):
        self._elements = iter(dataset)

    def __iter__(self) -> EagerIterator:
        return self

    def __next__(self) -> Any:
        return next(self._elements)

    def next(self, name: str | None = None) -> Any:
        """Returns the next element; raises StopIteration at the end.

        Args:
          name: accepted.
        """
        return next(self._elements)

    def get_next(self, name: str | None = None) -> Any:
        """Returns the next element; raises OutOfRangeError at the end.

        Args:
          name: accepted.
        """
        from graphgrad.errors import OutOfRangeError

        try:
            return next(self._elements)
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence") from None
