"""Programs on libraries on top of TensorFlow, run by `make test-libraries`, and what their subjects share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Case = Callable[[Any], Any]


def into(cases: dict[str, Case], form: Callable[[Any], Any] = lambda found: found) -> Callable[[Case], Case]:
    """Returns a decorator that adds a program to the cases; form is applied to what it returns."""

    def add(function: Case) -> Case:
        cases[function.__name__] = lambda tf: form(function(tf))
        return function

    return add


def flat(found: Any) -> list[Any]:
    """Returns the leaves of nested lists and tuples."""
    return [leaf for part in found for leaf in flat(part)] if isinstance(found, (list, tuple)) else [found]


def keras_seeds(tf: Any) -> None:
    """Sets all seeds, Keras's own too."""
    tf.keras.utils.set_random_seed(5)
