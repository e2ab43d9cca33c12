"""Ragged tensors: what their rows are made of is checked; loops over rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..harness import case, raised


def _makers(tf: Any, given: Callable[[Any], Any]) -> dict[str, Callable[[], Any]]:
    """Returns functions that make ragged tensors, most of them of what does not fit.

    Args:
      given: makes the arguments.
    """
    made = tf.RaggedTensor
    two, three = given([1, 2]), given([1, 2, 3])
    return {
        "beyond": lambda: made.from_row_splits(two, given([0, 3])),
        "not_from_zero": lambda: made.from_row_splits(two, given([1, 2])),
        "decreasing": lambda: made.from_row_splits(two, given([0, 2, 1])),
        "too_few": lambda: made.from_row_splits(two, given([0, 1])),
        "of_rank_2": lambda: made.from_row_splits(two, given([[0, 2]])),
        "right": lambda: made.from_row_splits(two, given([0, 0, 2])),
        "ids_out_of_order": lambda: made.from_value_rowids(two, given([1, 0])),
        "negative_ids": lambda: made.from_value_rowids(two, given([-1, 1])),
        "more_ids": lambda: made.from_value_rowids(two, given([0, 1, 1])),
        "ids_beyond": lambda: made.from_value_rowids(two, given([0, 3]), nrows=2),
        "right_ids": lambda: made.from_value_rowids(two, given([0, 3]), nrows=5),
        "long_rows": lambda: made.from_row_lengths(two, given([1, 2])),
        "negative_lengths": lambda: made.from_row_lengths(two, given([3, -1])),
        "right_lengths": lambda: made.from_row_lengths(two, given([1, 0, 1])),
        "limits_beyond": lambda: made.from_row_limits(two, given([1, 3])),
        "limits_decrease": lambda: made.from_row_limits(two, given([2, 1])),
        "right_limits": lambda: made.from_row_limits(two, given([0, 2])),
        "starts_late": lambda: made.from_row_starts(two, given([1])),
        "starts_beyond": lambda: made.from_row_starts(two, given([0, 3])),
        "right_starts": lambda: made.from_row_starts(two, given([0, 1])),
        "uneven": lambda: made.from_uniform_row_length(three, given(2)),
        "too_many_rows": lambda: made.from_uniform_row_length(three, given(3), nrows=2),
        "even": lambda: made.from_uniform_row_length(three, given(3)),
        "no_values": lambda: made.from_uniform_row_length(tf.zeros([0]), 0),
        "rows_of_no_values": lambda: made.from_uniform_row_length(tf.zeros([0]), 0, nrows=3),
        "outer": lambda: made.from_nested_row_splits(two, [given([0, 3]), given([0, 1, 2])]),
        "inner": lambda: made.from_nested_row_lengths(two, [given([1]), given([3])]),
        "of_ragged": lambda: made.from_row_splits(made.from_row_splits(two, given([0, 1, 2])), given([0, 3])),
        "right_nested": lambda: made.from_nested_row_splits(two, [given([0, 2]), given([0, 1, 2])]),
    }


def _results(makers: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, make in makers.items():
        try:
            found[name] = make().to_list()
        except Exception as e:
            found[name] = type(e).__name__
    return found


@case("eager")
def rows_of_lists(tf: Any) -> Any:
    return _results(_makers(tf, lambda x: x))


@case("eager")
def rows_of_tensors(tf: Any) -> Any:
    return _results(_makers(tf, tf.constant))


@case("eager")
def rows_in_a_function(tf: Any) -> Any:
    def at_run_time(name: str) -> Callable[[], Any]:
        @tf.function(autograph=False)
        def make(one: Any) -> Any:
            return _makers(tf, lambda x: tf.reshape(tf.constant(x), one * tf.shape(x)))[name]()

        return lambda: make(tf.constant(1))

    names = _makers(tf, tf.constant)
    return _results({n: at_run_time(n) for n in names if n not in ("of_rank_2", "uneven", "too_many_rows", "even")})


@case("eager")
def unchecked_rows(tf: Any) -> Any:
    made = tf.RaggedTensor
    makers = [lambda: made.from_row_splits([1, 2], [0, 3], validate=False),
              lambda: made.from_value_rowids([1, 2], [1, 0], validate=False),
              lambda: made.from_row_lengths([1, 2], [1, 2], validate=False),
              lambda: made.from_row_limits([1, 2], [1, 3], validate=False),
              lambda: made.from_row_starts([1, 2], [1], validate=False),
              lambda: made.from_uniform_row_length([1, 2, 3], 2, validate=False),
              lambda: made.from_nested_row_splits([1, 2], [[0, 1], [0, 3]], validate=False)]
    return [raised(m) for m in makers]
