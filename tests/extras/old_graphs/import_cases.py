"""Programs with TensorFlow 1's own control flow, which `tests/record/old/imported_graphs.py` writes as GraphDefs.

Each gives (names of results, feeds by name).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Case = tuple[list[Any], dict[str, Any]]


def branches(tf: Any) -> Case:
    """Two results; one branch gives what it is given."""
    x = tf.placeholder(tf.float32, [3], name="x")
    outside = tf.constant([1.0, 2.0, 3.0])
    a, b = tf.cond(tf.reduce_sum(x) > 0.0, lambda: (x * outside, x + 1.0), lambda: (outside, tf.zeros([3])))
    return [a, b * 2.0], {"x:0": [np.float32([1, 2, 3]), np.float32([-1, -2, -3])]}


def branches_within(tf: Any) -> Case:
    """A condition within a branch, and one behind it on the same value."""
    x = tf.placeholder(tf.float32, [], name="x")
    inner = tf.cond(x > 0.0, lambda: tf.cond(x > 5.0, lambda: x * 10.0, lambda: x + 0.5), lambda: -x)
    positive = x > 0.0
    first = tf.cond(positive, lambda: inner * 2.0, lambda: inner * 3.0)
    second = tf.cond(positive, lambda: first + 1.0, lambda: first + 2.0)
    return [inner, second], {"x:0": [np.float32(v) for v in (7, 3, -2)]}


def loop(tf: Any) -> Case:
    """Two variables, a matrix from outside, a result of its own shape."""
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    w = tf.constant([[0.5, 0.25], [0.0, 1.0]])
    i, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.matmul(y, w) + x), [0, x])
    return [i, y], {"x:0": [np.float32([[1, 2], [3, 4]])] * 2, "n:0": [np.int32(4), np.int32(0)]}


def loops_within(tf: Any) -> Case:
    """A loop within a loop, with a condition in each."""
    n = tf.placeholder(tf.int32, [], name="n")

    def outer(i: Any, total: Any) -> Any:
        _, inner = tf.while_loop(lambda j, s: j < i, lambda j, s: (
            j + 1, tf.cond(tf.equal(j % 2, 0), lambda: s + j * i, lambda: s - 1)), [0, total])
        return i + 1, tf.cond(inner > 20, lambda: inner - 7, lambda: inner + i)

    i, total = tf.while_loop(lambda i, total: i < n, outer, [0, 1])
    return [i, total], {"n:0": [np.int32(v) for v in (0, 3, 9)]}


def loop_within_branch(tf: Any) -> Case:
    """A loop in one of two branches."""
    x = tf.placeholder(tf.float32, [2], name="x")

    def repeat() -> Any:
        return tf.while_loop(lambda y: tf.reduce_sum(y) < 100.0, lambda y: y * 2.0, [x])

    y = tf.cond(x[0] > 0.0, repeat, lambda: x - 1.0)
    return [y], {"x:0": [np.float32([1, 2]), np.float32([-1, 2])]}


def growing(tf: Any) -> Case:
    """A variable whose shape changes."""
    n = tf.placeholder(tf.int32, [], name="n")
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.concat([y, [i * i]], 0)),
                         [0, tf.constant([-1])], [tf.TensorShape([]), tf.TensorShape([None])])
    return [y], {"n:0": [np.int32(3)]}


def arrays(tf: Any) -> Case:
    """A recurrence that reads from an array and writes to another."""
    x = tf.placeholder(tf.float32, [4, 2], name="x")
    read = tf.TensorArray(tf.float32, 4).unstack(x)

    def step(i: Any, state: Any, out: Any) -> Any:
        state = tf.tanh(state * 0.5 + read.read(i))
        return i + 1, state, out.write(i, state * 2.0)

    _, last, out = tf.while_loop(lambda i, *_: i < 4, step, [0, tf.zeros([2]), tf.TensorArray(tf.float32, 4)])
    return [last, out.stack(), out.size()], {"x:0": [np.arange(8, dtype=np.float32).reshape(4, 2) / 8]}


def updates(tf: Any) -> Case:
    """A variable that only one branch changes."""
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.get_variable("v", initializer=2.0, use_resource=True)
    with tf.control_dependencies([tf.cond(x > 0.0, lambda: v.assign_add(x), lambda: v.read_value())]):
        return [v.read_value() * 10.0], {"x:0": [np.float32(3), np.float32(-1)]}


class _Cell:
    """A recurrent cell, as `dynamic_rnn` takes it."""

    output_size = state_size = 3

    def __init__(self, tf: Any):
        self.tf = tf

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state to begin with."""
        return self.tf.zeros([batch_size, 3], dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        new = self.tf.tanh(inputs + state * 0.5)
        return new * 2.0, new


def recurrent(tf: Any) -> Case:
    """A `dynamic_rnn` over sequences of different lengths."""
    x = tf.placeholder(tf.float32, [2, 5, 3], name="x")
    outputs, state = tf.nn.dynamic_rnn(_Cell(tf), x, sequence_length=[5, 2], dtype=tf.float32)
    return [outputs, state], {"x:0": [np.arange(30, dtype=np.float32).reshape(2, 5, 3) / 30]}


CASES = {f.__name__: f for f in (branches, branches_within, loop, loops_within, loop_within_branch, growing, arrays,
                                 updates, recurrent)}
