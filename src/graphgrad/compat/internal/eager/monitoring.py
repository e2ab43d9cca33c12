"""What libraries count about their use, `tensorflow.python.eager.monitoring`: numbers that stay in the process."""

from __future__ import annotations

from typing import Any


class _Cell:
    """A value for certain labels."""

    def __init__(self, first: Any):
        self._value = first

    def set(self, value: Any) -> None:
        """Changes the value."""
        self._value = value

    def increase_by(self, value: int) -> None:
        """Adds to the value."""
        self._value += value

    def value(self) -> Any:
        """Returns the value."""
        return self._value


class _Metric:
    """Values by labels.

    Args:
      name: its name.
      description: what it counts.
      *labels: the names of the labels.
    """

    _first: Any = 0

    def __init__(self, name: str, description: str, *labels: str):
        self._cells: dict[tuple[Any, ...], _Cell] = {}

    def get_cell(self, *labels: Any) -> _Cell:
        """Returns the value for labels."""
        return self._cells.setdefault(labels, _Cell(self._first))


class Counter(_Metric):
    """Numbers that grow."""


class IntGauge(_Metric):
    """Integers."""


class BoolGauge(_Metric):
    """Booleans."""

    _first = False


class StringGauge(_Metric):
    """Texts."""

    _first = ""
