"""Effects of functions of data sets: they happen for each element, in order, and once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case, raised


def _counting(tf: Any) -> tuple[Any, Any]:
    """Returns a variable, and a function of an element that adds it to the variable and returns the sum."""
    v = tf.Variable(0, dtype=tf.int64)

    def added(x: Any) -> Any:
        v.assign_add(x)
        return v + 0

    return v, added


def _numbers(dataset: Any) -> list[int]:
    return [int(x) for x in dataset]


@case("eager")
def map_assigns(tf: Any) -> Any:
    v, added = _counting(tf)
    return _numbers(tf.data.Dataset.range(5).map(added)), int(v)


@case("eager")
def map_checks(tf: Any) -> Any:
    def checked(x: Any) -> Any:
        tf.debugging.assert_less(x, np.int64(3))
        return x

    rows = tf.data.Dataset.range(5).map(checked)
    return raised(lambda: list(rows)), _numbers(rows.take(3))


@case("eager")
def filter_assigns(tf: Any) -> Any:
    v, added = _counting(tf)
    return _numbers(tf.data.Dataset.range(5).filter(lambda x: added(x) < 4)), int(v)


@case("eager")
def flat_map_assigns(tf: Any) -> Any:
    v, added = _counting(tf)
    return _numbers(tf.data.Dataset.range(4).flat_map(lambda x: tf.data.Dataset.range(added(x)))), int(v)


@case("eager")
def flat_map_of_constants_assigns(tf: Any) -> Any:
    v, added = _counting(tf)

    def rows(x: Any) -> Any:
        added(x)
        return tf.data.Dataset.range(2)

    return _numbers(tf.data.Dataset.range(4).interleave(rows, cycle_length=2)), int(v)


@case("eager")
def scan_assigns_in_a_branch(tf: Any) -> Any:
    v, added = _counting(tf)

    def step(s: Any, x: Any) -> Any:
        if x % 2 == 0:
            added(x)
        return s + x, s

    return _numbers(tf.data.Dataset.range(5).scan(np.int64(0), step)), int(v)


@case("eager")
def take_while_assigns(tf: Any) -> Any:
    v, added = _counting(tf)
    return _numbers(tf.data.Dataset.range(9).take_while(lambda x: added(x) < 7)), int(v)


@case("eager")
def called_function_assigns(tf: Any) -> Any:
    v, added = _counting(tf)
    inner = tf.function(added)

    def outer(x: Any) -> Any:
        inner(x)
        return x

    return _numbers(tf.data.Dataset.range(5).map(outer)), int(v)


@case("eager")
def python_is_called(tf: Any) -> Any:
    seen: list[int] = []

    def outer(x: Any) -> Any:
        tf.py_function(lambda n: seen.append(int(n)), [x], [])
        return x

    return _numbers(tf.data.Dataset.range(3).map(outer)), seen


@case("eager")
def table_is_filled(tf: Any) -> Any:
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

    def insert(x: Any) -> Any:
        table.insert(x, x * 2)
        return x

    return _numbers(tf.data.Dataset.range(3).map(insert)), table.lookup(tf.constant([0, 1, 2, 3], tf.int64))


@case("eager")
def once_for_each_element(tf: Any) -> Any:
    v, _ = _counting(tf)

    def counted(x: Any) -> Any:
        v.assign_add(1)
        return x

    rows = tf.data.Dataset.range(6).map(counted, num_parallel_calls=2, deterministic=True)
    kept = rows.cache().repeat(2)
    found = [_numbers(kept), int(v), _numbers(kept), int(v)]
    found += [[b.numpy().tolist() for b in rows.batch(4).prefetch(2)], int(v), int(rows.cardinality()), int(v)]
    return [*found, [int(a) for a, _ in tf.data.Dataset.zip((rows, rows))], int(v)]


@case("eager")
def groups_assign(tf: Any) -> Any:
    v, _ = _counting(tf)

    def key(x: Any) -> Any:
        v.assign_add(1)
        return x % 2

    def group(k: Any, rows: Any) -> Any:
        v.assign_add(100)
        return rows.batch(4)

    return [x.numpy().tolist() for x in tf.data.Dataset.range(5).group_by_window(key, group, 4)], int(v)


@case("eager")
def loop_in_a_function(tf: Any) -> Any:
    v, added = _counting(tf)
    rows = tf.data.Dataset.range(5).map(added)

    @tf.function
    def total() -> Any:
        s = np.int64(0)
        for x in rows:
            s += x
        return s

    return int(total()), int(v), int(total()), int(v)


@case("eager")
def loop_reads_the_variable(tf: Any) -> Any:
    v, added = _counting(tf)

    @tf.function
    def total() -> Any:
        s = np.int64(0)
        for x in tf.data.Dataset.range(5).map(added):
            s += x + v
        return s

    return int(total()), int(v), int(total()), int(v)


@case("eager")
def loop_without_results(tf: Any) -> Any:
    v, added = _counting(tf)
    rows = tf.data.Dataset.range(5).map(added)

    @tf.function
    def passed() -> None:
        for _ in rows:
            pass

    passed()
    return int(v)


@case("eager", differs="TensorFlow does not order the read; here it follows the loop", expected=[[20, 10], [70, 20]])
def read_after_a_loop(tf: Any) -> Any:
    v, added = _counting(tf)
    rows = tf.data.Dataset.range(5).map(added)

    @tf.function
    def total() -> Any:
        s = np.int64(0)
        for x in rows:
            s += x
        return s, v.read_value()

    return [[int(n) for n in total()] for _ in range(2)]


@case("eager", differs="TensorFlow does not order the pass and assignments; here they are in the program's order",
      expected=[30, 4, 50, 6])
def variable_is_assigned_around_a_loop(tf: Any) -> Any:
    v = tf.Variable(2, dtype=tf.int64)
    rows = tf.data.Dataset.range(5).map(lambda x: x * v)

    @tf.function
    def total() -> Any:
        v.assign_add(1)
        s = np.int64(0)
        for x in rows:
            s += x
        v.assign_add(1)
        return s

    return int(total()), int(v), int(total()), int(v)


@case("eager")
def checked_in_a_function(tf: Any) -> Any:
    def checked(x: Any) -> Any:
        tf.debugging.assert_less(x, np.int64(3))
        return x

    rows = tf.data.Dataset.range(5).map(checked)

    @tf.function
    def total() -> Any:
        s = np.int64(0)
        for x in rows:
            s += x
        return s

    return raised(total)


@case("eager")
def reduced_in_a_function(tf: Any) -> Any:
    v, added = _counting(tf)
    rows = tf.data.Dataset.range(5).map(added)

    @tf.function
    def total() -> Any:
        return rows.reduce(np.int64(0), lambda a, b: a + b)

    return int(total()), int(v), int(rows.take(2).reduce(np.int64(0), lambda a, b: a + b)), int(v)


@case("eager")
def data_set_in_a_function_of_a_data_set(tf: Any) -> Any:
    v, added = _counting(tf)

    def inner(y: Any) -> Any:
        s = np.int64(0)
        for x in tf.data.Dataset.range(3).map(added):
            s += x
        return s + y

    @tf.function
    def total(n: Any) -> Any:
        s = np.int64(0)
        for y in tf.data.Dataset.range(n).map(inner):
            s += y
        return s

    return int(total(tf.constant(2, tf.int64))), int(v)


@case("graph")
def iterators_of_graphs(tf: Any) -> Any:
    seen: list[int] = []

    def noted(x: Any) -> Any:
        tf.py_func(lambda n: seen.append(int(n)), [x], [])
        tf.cond(x > 1, lambda: tf.py_func(lambda n: seen.append(-int(n)), [x], []), tf.no_op)
        return x

    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(3).map(noted))
    element = iterator.get_next()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        found = [int(sess.run(element)) for _ in range(3)]
        return found, sorted(seen)


@case("graph")
def checks_in_graphs(tf: Any) -> Any:
    def checked(x: Any) -> Any:
        tf.assert_less(x, np.int64(2))
        return x

    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(4).map(checked)).get_next()
    with tf.Session() as sess:
        return [int(sess.run(element)) for _ in range(2)], raised(lambda: sess.run(element))


@case("eager")
def condition_of_a_loop_assigns(tf: Any) -> Any:
    v = tf.Variable(0)

    @tf.function
    def count() -> Any:
        return tf.while_loop(lambda i: v.assign_add(1) < 5, lambda i: [i + 1], [0])[0]

    return int(count()), int(v)
