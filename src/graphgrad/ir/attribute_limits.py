"""Limits on attribute values that op records share; the builder enforces them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.errors import Complaint

# A range of integers, the two ends of an interval of floats, a set of strings, or `callable`.
Limit = range | tuple[float, float] | frozenset[str] | Callable[[Any], bool]
_COUNT, _SIZE = range(2**31), range(1, 2**31)
# Attributes with the same meaning in all ops of this package, with the minima of TensorFlow's records. Classes are
# drawn one by one, in Python.
COMMON: dict[str, Limit] = {
    "beam_width": _SIZE, "block_size": range(2, 2**31), "k": _COUNT, "max_images": _SIZE, "max_outputs": _SIZE,
    "num_bits": range(1, 64), "num_buckets": range(2**63), "num_sampled": range(1, 2**20 + 1), "num_shards": _SIZE,
    "num_sparse": _COUNT, "num_true": _SIZE, "order": range(33), "order_a": range(17), "order_b": range(17),
    "range_max": range(1, 2**63), "round_mode": frozenset({"HALF_TO_EVEN", "HALF_UP"}), "shard": _COUNT,
    "top_paths": _SIZE, "unit": frozenset({"BYTE", "UTF8_CHAR"}),
}
IMAGE_FORMATS = {"data_format": frozenset({"NHWC", "NCHW"})}  # of ops that take images only
OUTPUTS = range(2**20)  # the most outputs of a kind


def whole(value: Any) -> int:
    """Returns `int(value)`, of an argument of a public function; ValueError, not OverflowError, for infinity."""
    try:
        return int(value)
    except OverflowError as e:
        raise ValueError(f"{value!r} is no integer ({e}).\n  Fix: give a finite number") from e


def check(name: str, value: Any, limit: Limit) -> None:
    """Raises a Complaint if an attribute's value is beyond its limit.

    Args:
      name: the attribute.
      value: its value.
      limit: the allowed values.
    """
    if isinstance(limit, range):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise Complaint(f"attribute '{name}' must be an integer, not {value!r}", f"give {name}=<int>", TypeError)
        if int(value) not in limit:
            least = int(value) < limit[0]
            beyond = f"less than minimum {limit[0]}" if least else f"greater than {limit[-1]}"
            raise Complaint(f"attribute '{name}' passed {value} {beyond}",
                            f"give {name} a value in [{limit[0]}, {limit[-1]}]")
    elif isinstance(limit, frozenset):
        if not isinstance(value, str) or value not in limit:
            raise Complaint(f"attribute '{name}' is {value!r}, which is not one of {', '.join(sorted(limit))}",
                            f"give {name} one of these")
    elif callable(limit):
        if not limit(value):
            raise Complaint(f"attribute '{name}' cannot be {value!r}", "give a function", TypeError)
    elif not isinstance(value, (int, float, np.number)) or not limit[0] <= value <= limit[1]:
        raise Complaint(f"attribute '{name}' is {value!r}, outside of [{limit[0]:g}, {limit[1]:g}]",
                        f"give {name} a value in that range")
