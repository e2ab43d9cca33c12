"""`switch_case` against TensorFlow's results, recorded by hand, and against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf


@pytest.mark.parametrize("default", [None, 9.0])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_number(graph, count, default):
    n = tf.placeholder(tf.int32, [])
    x = tf.constant(2.0)
    functions = [lambda i=i: (x * (i + 1.0), tf.constant(i)) for i in range(count)]
    other = None if default is None else lambda: (x * default, tf.constant(-1))
    y, i = tf.switch_case(n, functions, default=other)
    gradient = tf.gradients(y, x)[0]
    with tf.Session() as s:
        for number in range(-2, count + 2):
            within = 0 <= number < count
            expected = number + 1.0 if within else (count if default is None else default)
            got = s.run([y, i, gradient], {n: number})
            assert got == [2 * expected, number if within else (count - 1 if default is None else -1), expected]


def test_numbers_of_a_dictionary_and_functions():
    assert tf2.switch_case(tf2.constant(1), {1: lambda: 5, 0: lambda: 4}) == 5
    assert tf2.switch_case(tf2.constant(-1), [lambda: 4, lambda: 6]) == 6

    @tf2.function
    def f(n, x):
        return tf2.switch_case(n, [lambda: x, lambda: x * x, lambda: x * x * x], default=lambda: -x)

    x = tf2.constant(3.0)
    for n, (value, slope) in enumerate([(3, 1), (9, 6), (27, 27), (-3, -1)]):
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = f(tf2.constant(n), x)
        np.testing.assert_allclose([y, tape.gradient(y, x)], [value, slope])


@pytest.mark.parametrize(("args", "error", "text"), [
    ((2, [int]), TypeError, "'branch_index' must be a Tensor"),
    ((tf2.constant(1.0), [int]), TypeError, "'branch_index' must be an integer Tensor"),
    ((tf2.constant(1), 5), TypeError, "'branch_fns' must be a list, tuple, or dict"),
    ((tf2.constant(1), []), ValueError, "Must provide at least one item in 'branch_fns'"),
    ((tf2.constant(1), [1]), TypeError, "Each entry in 'branch_fns' must be a 2-tuple"),
    ((tf2.constant(1), {0.5: int}), TypeError, "key must be a Python `int`"),
    ((tf2.constant(1), {0: 3}), TypeError, "fn for key 0 must be callable"),
    ((tf2.constant(1), {0: int, 2: int}), ValueError, r"contiguous range of \[0 to 2\) but found {0,2}"),
    ((tf2.constant(1), [(0, int), (1, int), (1, int)]), ValueError, "found {0,1,1}"),
    ((tf2.constant(1), [int], 4), TypeError, "'default' must be callable"),
])
def test_errors(args, error, text):
    with pytest.raises(error, match=text):
        tf2.switch_case(*args)
