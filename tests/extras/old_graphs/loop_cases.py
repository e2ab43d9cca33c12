"""Programs with TensorFlow 1's own loops and branches and their gradients; see `reference_cases`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .reference_cases import XS, Case

SEQUENCES = [(np.arange(24).reshape(2, 4, 3) / 24 - 0.3 * k).tolist() for k in range(3)]


def _x(tf: Any) -> Any:
    return tf.placeholder(tf.float32, [3], name="x")


def _weights(tf: Any) -> Any:
    return tf.get_variable("w", [3, 3], initializer=tf.constant_initializer(
        np.sin(np.arange(9)).reshape(3, 3) * 0.4))


def _with_gradients(tf: Any, y: Any, xs: list[Any]) -> Case:
    """A case whose gradients and training are in the graph already."""
    grads = [tf.convert_to_tensor(g) for g in tf.gradients(y, xs)]
    variables = tf.trainable_variables()
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(y)) if variables else None
    return {"outputs": [y, *grads], "feeds": {"x:0": XS}, "xs": xs, "train": train}


def loop_gradient(tf: Any) -> Case:
    """A loop over a product with a variable, its gradient and a training step."""
    x, w = _x(tf), _weights(tf)
    n = tf.placeholder_with_default(4, [], name="n")
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x[None]])
    return _with_gradients(tf, y, [x, w])


def unknown_length_gradient(tf: Any) -> Case:
    """A loop until a value is large enough."""
    x = _x(tf)
    y, _ = tf.while_loop(lambda y, n: tf.reduce_sum(tf.abs(y)) < 50.0, lambda y, n: (y * y + 1.5 * y, n + 1), [x, 0])
    return _with_gradients(tf, y, [x])


def loops_within_gradient(tf: Any) -> Case:
    """Three loops within each other and their gradient."""
    x, w = _x(tf), _weights(tf)

    def inner(j: Any, y: Any) -> Any:
        _, z = tf.while_loop(lambda k, z: k < j, lambda k, z: (k + 1, tf.sin(z) + 0.1 * y), [0, y])
        return j + 1, tf.tanh(tf.matmul(z, w)) * y

    def outer(i: Any, y: Any) -> Any:
        _, z = tf.while_loop(lambda j, z: j < i + 1, inner, [0, y])
        return i + 1, y + 0.5 * z

    _, y = tf.while_loop(lambda i, y: i < 3, outer, [0, x[None]])
    return _with_gradients(tf, y, [x, w])


def branch_gradient(tf: Any) -> Case:
    """Branches, one within the other, and their gradient."""
    x, w = _x(tf), _weights(tf)

    def then() -> Any:
        return tf.cond(x[1] > 1.0, lambda: tf.matmul(x[None], w), lambda: tf.sin(x)[None] * 3.0)

    y = tf.cond(x[0] > 0.0, then, lambda: x[None] * x[None])
    return _with_gradients(tf, y, [x, w])


def branch_in_loop_gradient(tf: Any) -> Case:
    """A branch in a loop and its gradient."""
    x, w = _x(tf), _weights(tf)

    def body(i: Any, y: Any) -> Any:
        z = tf.cond(tf.equal(i % 2, 0), lambda: tf.tanh(tf.matmul(y, w)), lambda: y * y * 0.5)
        return i + 1, tf.cond(tf.reduce_sum(z) > 0.0, lambda: z * 1.5, lambda: tf.sin(z) + y)

    _, y = tf.while_loop(lambda i, y: i < 5, body, [0, x[None]])
    return _with_gradients(tf, y, [x, w])


def loop_in_branch_gradient(tf: Any) -> Case:
    """A loop in a branch and its gradient."""
    x, w = _x(tf), _weights(tf)

    def repeat() -> Any:
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(tf.matmul(y, w))), [0, x[None]])[1]

    y = tf.cond(x[0] > 0.0, repeat, lambda: x[None] * 2.0)
    return _with_gradients(tf, y, [x, w])


def loop_in_branch_in_loop_gradient(tf: Any) -> Case:
    """A loop in a branch in a loop and its gradient."""
    x, w = _x(tf), _weights(tf)

    def repeat(y: Any) -> Any:
        return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.sin(tf.matmul(y, w))), [0, y])[1]

    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: repeat(y), lambda: y * y)

    _, y = tf.while_loop(lambda i, y: i < 4, body, [0, x[None]])
    return _with_gradients(tf, y, [x, w])


def arrays_gradient(tf: Any) -> Case:
    """A recurrence over arrays, and its gradient with arrays of gradients."""
    x, w = _x(tf), _weights(tf)
    rows = tf.stack([x, x * 2.0, tf.sin(x), -x])
    given = tf.TensorArray(tf.float32, 4).unstack(rows)

    def body(i: Any, state: Any, out: Any) -> Any:
        state = tf.tanh(tf.matmul(state, w) + given.read(i))
        return i + 1, state, out.write(i, state[0] * 2.0)

    _, last, out = tf.while_loop(lambda i, *_: i < 4, body, [0, tf.zeros([1, 3]), tf.TensorArray(tf.float32, 4)])
    return _with_gradients(tf, out.stack() + last, [x, w])


def array_methods(tf: Any) -> Case:
    """Split, concat, gather, scatter and size of arrays, with gradients."""
    x = _x(tf)
    a = tf.TensorArray(tf.float32, 3, infer_shape=False, clear_after_read=False).split(
        tf.concat([x, x * x, x[:2]], 0), [3, 3, 2])
    b = tf.TensorArray(tf.float32, 5, element_shape=[3]).scatter([0, 4, 2], tf.stack([x, 2.0 * x, x * x]))
    c = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False).write(2, x).write(0, -x).write(1, x)
    tail = a.read(2)
    tail.set_shape([2])
    y = tf.concat([a.concat(), tail, tf.reshape(b.gather([4, 0]), [-1]), c.read(2) * c.read(2), c.read(0)], 0)
    return {**_with_gradients(tf, y, [x])}


def recurrent_training(tf: Any) -> Case:
    """A `dynamic_rnn` of an LSTM, over sequences of different lengths, with its training step."""
    x = tf.placeholder(tf.float32, [2, 4, 3], name="x")
    w = tf.get_variable("w", [3 + 2, 8], initializer=tf.constant_initializer(np.cos(np.arange(40)).reshape(5, 8) * 0.3))
    outputs, (c, h) = tf.nn.dynamic_rnn(_Lstm(tf, w), x, sequence_length=[4, 2], dtype=tf.float32, time_major=False)
    loss = tf.reduce_sum(outputs ** 2) + tf.reduce_sum(h)
    grads = tf.gradients(loss, [x, w])
    clipped, norm = tf.clip_by_global_norm(grads[1:], 1.0)
    train = tf.train.AdamOptimizer(0.05).apply_gradients([(clipped[0], w)])
    return {"outputs": [loss, c, *grads, norm], "feeds": {"x:0": SEQUENCES}, "xs": [x, w], "train": train}


class _Lstm:
    """A recurrent cell with given weights, as `dynamic_rnn` takes it."""

    output_size = 2
    state_size = (2, 2)

    def __init__(self, tf: Any, w: Any):
        self.tf, self.w = tf, w

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state to begin with."""
        return self.tf.zeros([batch_size, 2], dtype), self.tf.zeros([batch_size, 2], dtype)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """The state to begin with."""
        return self.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        tf, (c, h) = self.tf, state
        i, j, f, o = tf.split(tf.matmul(tf.concat([inputs, h], 1), self.w), 4, 1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
        return h, (c, h)


def maps_and_scans(tf: Any) -> Case:
    """`map_fn`, `scan` and `foldl` with their gradients."""
    x, w = _x(tf), _weights(tf)
    mapped = tf.map_fn(lambda r: tf.reduce_sum(r * w) * r, x)
    scanned = tf.scan(lambda total, r: tf.tanh(total + r), x)
    folded = tf.foldl(lambda total, r: total * 0.5 + r, x * w[0])
    return _with_gradients(tf, mapped + scanned * folded, [x, w])


def choices(tf: Any) -> Case:
    """`case`, checks in branches, what is fetched within a branch."""
    x = _x(tf)
    with tf.control_dependencies([tf.assert_less(x, 100.0), tf.Assert(tf.reduce_sum(x) < 50.0, [x])]):
        y = tf.case([(x[0] > 0.5, lambda: x * 2.0), (x[1] > 0.0, lambda: x * x)], default=lambda: -x, exclusive=False)
    return _with_gradients(tf, y, [x])


def merge_by_hand(tf: Any) -> Case:
    """Switch and Merge by hand, and which value came."""
    raw = tf.raw_ops
    x = _x(tf)
    off, on = raw.Switch(data=x, pred=x[0] > 0.0)
    y, which = raw.Merge(inputs=[off * 2.0, on * on])
    return {"outputs": [y, which + 0], "feeds": {"x:0": XS}, "xs": []}


def variables_in_loops(tf: Any) -> Case:
    """A resource variable changed in a loop's branch; reads of it inside; control dependencies across the border."""
    x = _x(tf)
    v = tf.get_variable("v", initializer=[1.0, 1.0, 1.0], use_resource=True)
    first = tf.no_op(name="first")

    def body(i: Any, y: Any) -> Any:
        with tf.control_dependencies([first, y]):
            new = tf.cond(tf.equal(i % 2, 0), lambda: v.assign_add(y), lambda: v.assign(v * 0.5))
        with tf.control_dependencies([new]):
            return i + 1, y + v.read_value()

    _, y = tf.while_loop(lambda i, y: i < 4, body, [0, x], parallel_iterations=1)
    with tf.control_dependencies([y]):
        return {"outputs": [y, v.read_value() * 1.0], "feeds": {"x:0": XS}, "xs": []}


def options_of_loops(tf: Any) -> Case:
    """`maximum_iterations`, `swap_memory`, a loop without gradient, one whose results are not used."""
    x = _x(tf)
    a = tf.while_loop(lambda y: tf.reduce_sum(y) < 1e6, lambda y: y * 2.0 + 1.0, [x], maximum_iterations=5)
    _, b = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * y), [0, x], swap_memory=True)
    _, c = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + x), [0, x], back_prop=False)
    tf.while_loop(lambda i: i < 2, lambda i: i + 1, [0], name="unused")
    return _with_gradients(tf, a + b + tf.stop_gradient(c), [x])


def growing_gradient(tf: Any) -> Case:
    """A loop variable whose shape changes, and its gradient."""
    x = _x(tf)
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, y[-2:] * x[0]], 0)), [0, x],
                         [tf.TensorShape([]), tf.TensorShape([None])])
    return _with_gradients(tf, tf.reduce_sum(y * y), [x])


def gathered_in_loop_gradient(tf: Any) -> Case:
    """Rows of a variable looked up in a loop: the sum of sparse gradients."""
    x = _x(tf)
    table = tf.get_variable("table", [4, 3], initializer=tf.constant_initializer(np.arange(12).reshape(4, 3) / 6))
    _, y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y + tf.gather(table, i % 3) * y), [0, x])
    return _with_gradients(tf, tf.reduce_sum(y), [x, table])


def stacks(tf: Any) -> Case:
    """Stacks by hand, in order."""
    raw = tf.raw_ops
    x = _x(tf)
    stack = raw.StackV2(max_size=-1, elem_type=tf.float32, stack_name="s")
    one = raw.StackPushV2(handle=stack, elem=x)
    with tf.control_dependencies([one]):
        two = raw.StackPushV2(handle=stack, elem=x * 2.0)
    with tf.control_dependencies([two]):
        last = raw.StackPopV2(handle=stack, elem_type=tf.float32)
    with tf.control_dependencies([last]):
        first = raw.StackPopV2(handle=stack, elem_type=tf.float32)
    with tf.control_dependencies([first]):
        closed = raw.StackCloseV2(handle=stack)
    with tf.control_dependencies([closed]):
        y = last - 3.0 * first
    return {"outputs": [y], "feeds": {"x:0": XS}, "xs": []}


CASES = {f.__name__: f for f in (
    loop_gradient, unknown_length_gradient, loops_within_gradient, branch_gradient, branch_in_loop_gradient,
    loop_in_branch_gradient, loop_in_branch_in_loop_gradient, arrays_gradient, array_methods, recurrent_training,
    maps_and_scans, choices, merge_by_hand, variables_in_loops, options_of_loops, growing_gradient,
    gathered_in_loop_gradient, stacks)}
