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


def _rows(tf: Any) -> Any:
    return tf.ragged.constant([[1, 2], [3], [4, 5, 6]])


@case("eager")
def loop_over_rows(tf: Any) -> Any:
    own = _rows(tf)

    @tf.function
    def total(rows: Any) -> Any:
        s = 0
        for row in rows:
            s += tf.reduce_sum(row) * tf.size(row)
        return s

    @tf.function
    def of_own() -> Any:
        s = 0
        for row in own + own:
            s += tf.reduce_max(row)
        return s

    return int(total(own)), int(total(tf.ragged.constant([], tf.int32, ragged_rank=1))), int(of_own())


@case("eager")
def jumps_in_a_loop_over_rows(tf: Any) -> Any:
    @tf.function
    def total(rows: Any) -> Any:
        s = 0
        for row in rows:
            if tf.size(row) == 1:
                continue
            if tf.size(row) > 2:
                break
            s += tf.reduce_sum(row)
        return s

    return int(total(_rows(tf)))


@case("eager")
def rows_written(tf: Any) -> Any:
    @tf.function
    def sizes(rows: Any) -> Any:
        found, i = tf.TensorArray(tf.int32, 0, dynamic_size=True), 0
        for row in rows:
            found, i = found.write(i, tf.size(row)), i + 1
        return found.stack()

    return sizes(_rows(tf))


@case("eager")
def gradient_of_a_loop_over_rows(tf: Any) -> Any:
    @tf.function
    def total(x: Any) -> Any:
        s = 0.0
        for row in tf.RaggedTensor.from_row_lengths(x, [2, 0, 1]):
            s += tf.reduce_sum(row) * tf.reduce_sum(row)
        return s

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = total(x)
    return y, tape.gradient(y, x)


@case("eager", differs="TensorFlow cannot return from such loops, count the rows or nest them",
      expected=[3, -1, 33, 13])
def more_loops_over_rows(tf: Any) -> Any:
    @tf.function
    def first(rows: Any) -> Any:
        for row in rows:
            if tf.size(row) == 1:
                return tf.reduce_sum(row)
        return -1

    @tf.function
    def counted(rows: Any) -> Any:
        s = 0
        for i, row in enumerate(rows):
            s += i * tf.reduce_sum(row)
        return s

    @tf.function
    def nested(tables: Any) -> Any:
        s = 0
        for rows in tables:
            for row in rows:
                s += tf.reduce_sum(row) * tf.size(row)
        return s

    def value(call: Callable[[], Any]) -> Any:
        try:
            return int(call())
        except (NotImplementedError, TypeError, ValueError) as e:
            return type(e).__name__

    rows = _rows(tf)
    return [value(lambda: first(rows)), value(lambda: first(rows[:1])), value(lambda: counted(rows)),
            value(lambda: nested(tf.ragged.constant([[[1, 2], [3]], [], [[4]]])))]


@case("eager")
def lists_of_rows(tf: Any) -> Any:
    return [row.numpy().tolist() for row in _rows(tf)], len(list(_rows(tf)))
