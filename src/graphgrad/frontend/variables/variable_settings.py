"""What variables are told besides their values: how copies are kept alike, and which part of a whole they are."""

from __future__ import annotations

import enum
from typing import Any


class VariableSynchronization(enum.Enum):
    """When the copies of a distributed variable are synchronized."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the copies of a distributed variable are aggregated (1.x)."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3  # noqa: PIE796  # the older name of the same

    def __hash__(self) -> int:
        return hash(self.value)


class VariableAggregationV2(enum.Enum):
    """How the copies of a distributed variable are aggregated (2.x)."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, VariableAggregation) and self.value == other.value)


class SaveSliceInfo:
    """The part of a larger variable that this one is, for saving."""

    def __init__(self, full_name: Any = None, full_shape: Any = None, var_offset: Any = None, var_shape: Any = None,
                 save_slice_info_def: Any = None, import_scope: Any = None):
        self.full_name = full_name
        self.full_shape = full_shape
        self.var_offset = var_offset
        self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """The text that describes the part in a checkpoint."""
        shape = " ".join(str(d) for d in self.full_shape) + " "
        parts = zip(self.var_offset, self.var_shape, strict=True)
        return shape + ":".join(f"{offset},{size}" for offset, size in parts)
