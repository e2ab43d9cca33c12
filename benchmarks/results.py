"""What was measured, and whether the systems computed the same."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

FIRST = 1e-3  # by how much first losses may differ, relatively: 5,000 tanh in a row round 2e-4 apart
FALL = 0.05  # by how much the first step's fall of the loss may: kernels that round differently, optimizers' epsilons


class Results:
    """Values in seconds and bytes by (setting, model, metric, system); a setting is a number of cores."""

    def __init__(self) -> None:
        self.values: dict[tuple, list[float]] = defaultdict(list)
        self.failures: dict[tuple, str] = {}  # (setting, model, system) -> text
        self.versions: dict[str, dict[str, str]] = {}
        self.imports: dict[str, dict[str, float]] = {}  # see `imports.measure`
        self.load = (0.0, 0.0)  # the load average before and after

    def add(self, setting: int, model: str, metric: str, system: str, *values: float | None) -> None:
        """Keeps values; None stands for what could not be measured."""
        self.values[setting, model, metric, system].extend(v for v in values if v is not None)

    def fail(self, setting: int, model: str, system: str, text: str) -> None:
        """Notes a failure; the system is not tried again with this model."""
        self.failures[setting, model, system] = text

    def median(self, setting: int, model: str, metric: str, system: str) -> float | None:
        """The median of what was kept; None if there is nothing, or the system failed to compute the model."""
        values = self.values.get((setting, model, metric, system))
        return statistics.median(values) if values and (setting, model, system) not in self.failures else None

    def best(self, setting: int, model: str, metrics: Iterable[str], peers: Iterable[str]) -> tuple[float, str] | None:
        """The least median of the metrics among the peers, with the peer's name."""
        found = [(m, p) for p in peers for k in metrics if (m := self.median(setting, model, k, p))]
        return min(found, default=None)


def disagreement(losses: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """Which systems did not compute the same as the others.

    Args:
      losses: system -> its loss before the first step and before the second one, which tells whether gradients and
        updates agree.
    Returns: system -> how it differs from the median of all.
    """
    if len(losses) < 2:
        return {}
    first, second = (statistics.median(values) for values in zip(*losses.values(), strict=True))
    tolerated = FIRST * abs(first), FIRST * abs(first) + FALL * abs(second - first)
    return {
        system: f"its losses are {a:.6g}, {b:.6g}; those of all systems in the median {first:.6g}, {second:.6g}"
        for system, (a, b) in losses.items()
        if not (abs(a - first) <= tolerated[0] and abs(b - second) <= tolerated[1])
    }
