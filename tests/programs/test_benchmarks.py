"""The benchmarks: what they say about what was measured, and that their programs still build."""

from __future__ import annotations

import pytest

from benchmarks import determinism, report
from benchmarks.models import MODELS
from benchmarks.results import Results, disagreement
from benchmarks.worker import Graphgrad


def _results() -> Results:
    results = Results()
    for system, steps in {"graphgrad": [0.003, 0.001, 0.002], "jax": [0.001], "torch": [0.004]}.items():
        results.add(1, "MLP", "step", system, *steps)
    results.add(1, "MLP", "first, cached", "graphgrad", 0.2)
    results.add(1, "MLP", "first", "torch", 0.1)
    results.add(1, "MLP", "first, cached", "jax", 0.4)
    results.add(1, "MLP", "growth", "graphgrad", None)  # not measured
    return results


def test_ratio_is_that_to_the_best_peer() -> None:
    """The median by the least median of the others, printed in graphgrad's rows and in none else."""
    page = report.page(_results(), [1], ["MLP"], ["graphgrad", "jax", "torch"], [])
    ours, jax, torch = (next(line for line in page.splitlines() if f"| {name} |" in line)
                        for name in ("graphgrad", "JAX", "PyTorch"))
    assert ours.split("|")[1:-1] == [" MLP ", " graphgrad ", *["  "] * 4, " 0.2 (2.00) ", *["  "] * 8, " 2 (2.00) ",
                                     *["  "] * 3]
    assert " 1 |" in jax and " 4 |" in torch and "(" not in jax + torch


def test_what_is_behind_is_listed_worst_first() -> None:
    """Each column says how many models are not behind, and which are, by how much, behind whom."""
    results = _results()
    results.add(1, "CNN", "step", "graphgrad", 5.0)
    results.add(1, "CNN", "step", "torch", 1.0)
    results.add(1, "LSTM", "step", "graphgrad", 1.0)
    results.add(1, "LSTM", "step", "jax", 4.0)
    assert report.behind(results, [1], ["MLP", "CNN", "LSTM"], ["jax", "torch"]) == (
        "Cores: 1.\n\n"
        "- first run, cached: not behind in 0 of 1 models, median ratio 2.00; behind: MLP 2.00 × PyTorch.\n"
        "- step: not behind in 1 of 3 models, median ratio 2.00; behind: CNN 5.00 × PyTorch, MLP 2.00 × JAX."
    )


def test_failures_have_no_figures() -> None:
    """What failed, if only in the last repetition, is named and takes no part in ratios."""
    results = _results()
    results.fail(1, "MLP", "jax", "not done")
    page = report.page(results, [1], ["MLP"], ["graphgrad", "jax", "torch"], [])
    assert "2 (0.50)" in page and "- MLP, JAX, cores: 1: not done" in page


@pytest.mark.parametrize("losses, wrong", [
    ({"a": (2.0, 1.0), "b": (2.0001, 1.01), "c": (2.0, 1.0)}, set()),
    ({"a": (2.0, 1.0), "b": (2.01, 1.0), "c": (2.0, 1.0)}, {"b"}),  # another loss
    ({"a": (2.0, 1.9), "b": (2.0, 1.91), "c": (2.0, 1.9)}, {"b"}),  # another update
    ({"a": (0.0, 0.0), "b": (0.0, float("nan"))}, {"a", "b"}),
    ({"a": (2.0, 1.0), "b": (2.0, 1.5)}, {"a", "b"}),  # of two nobody knows which
    ({"a": (2.0, 1.0)}, set()),
])
def test_disagreement(losses: dict[str, tuple[float, float]], wrong: set[str]) -> None:
    """Losses, and their falls, that differ from those of the others are found."""
    assert set(disagreement(losses)) == wrong


@pytest.mark.parametrize("name", MODELS)
def test_models_build(name: str) -> None:
    """Every weight of every model has a gradient; the losses are compared when the benchmarks run."""
    subject, model = Graphgrad(), MODELS[name]
    if name == "skip-gram":  # its tables take a second to make
        model = type("Small", (model,), {"weight": lambda self, n, m, scale: self.fill(0.1, n, m)})
    subject.start(model())
    subject.forward()
    assert subject.gradients() > 0 or not subject.variables
    assert all(g is not None for g in subject.grads)
    subject.update()
    assert len(subject.fetches) == (2 if subject.model.optimizer else 1 + len(subject.variables))


def test_outcomes_are_compared_among_equal_numbers_of_cores() -> None:
    """What differs first is named, against what most processes got; each half meets every cache and other load."""
    settings = determinism.settings(12, 2)
    assert len({(s.cores, s.cache, s.busy) for s in settings}) == 12
    usual = determinism.Outcome(("a", "b"), (("v", "1"), ("w", "2")))
    found = {s: usual if s.cores == 2 else usual._replace(losses=("a", "c")) for s in settings}
    assert not determinism.compare(list(found.items()))
    found[settings[2]] = usual._replace(losses=("a", "x"))
    found[settings[4]] = usual._replace(variables=(("v", "1"), ("w", "3")))
    assert [line.partition(": ")[2] for line in determinism.compare(list(found.items()))] == [
        "losses from step 2 on", "variables w"]
    assert "| MLP | 6 with 2 cores, 6 with 1 core | 3, 1 | no |" in determinism.text_of(
        {"MLP": list(found.items())}, 2, "2026-01-01")
