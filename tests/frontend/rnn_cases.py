"""Recurrent networks that are built beside TensorFlow and here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support.table import generator

# A case: f(tf, cells, x) -> outputs, where `cells` is the module of cells and x is (3, 4, 2), batch before time.
Case = Callable[[Any, Any, Any], Any]
LENGTHS = np.array([4, 0, 2], np.int32)


def _dynamic(make: Callable[[Any, Any], Any], **options: Any) -> Case:
    def build(tf: Any, cells: Any, x: Any) -> Any:
        return tf.nn.dynamic_rnn(make(tf, cells), x, dtype=tf.float64, **options)

    return build


def _static(make: Callable[[Any, Any], Any], **options: Any) -> Case:
    def build(tf: Any, cells: Any, x: Any) -> Any:
        return tf.nn.static_rnn(make(tf, cells), tf.unstack(x, axis=1), dtype=tf.float64, **options)

    return build


def _lstm_full(tf: Any, cells: Any) -> Any:
    return cells.LSTMCell(3, use_peepholes=True, cell_clip=0.4, num_proj=2, proj_clip=0.2, forget_bias=0.5)


def _multi(tf: Any, cells: Any) -> Any:
    return cells.MultiRNNCell([cells.BasicLSTMCell(3), cells.ResidualWrapper(cells.GRUCell(3)),
                               cells.LSTMCell(2, state_is_tuple=True)])


def _own(tf: Any, cells: Any) -> Any:
    class Own(cells.RNNCell):
        state_size = output_size = 3

        def call(self, inputs: Any, state: Any) -> Any:
            w = tf.get_variable("w", [2, 3], tf.float64)
            with tf.variable_scope("inner"):
                u = tf.get_variable("u", [3], tf.float64)
            new = tf.tanh(tf.matmul(inputs, w) + u * state)
            return new, new

    return Own()


def _time_major(tf: Any, cells: Any, x: Any) -> Any:
    return tf.nn.dynamic_rnn(cells.GRUCell(3), tf.transpose(x, [1, 0, 2]), LENGTHS, dtype=tf.float64, time_major=True)


def _initial(tf: Any, cells: Any, x: Any) -> Any:
    first = cells.LSTMStateTuple(tf.ones([3, 2], tf.float64), x[:, 0])
    return tf.nn.dynamic_rnn(cells.LSTMCell(2), x, initial_state=first, scope="net")


def _shared(tf: Any, cells: Any, x: Any) -> Any:
    cell = cells.BasicRNNCell(3, activation=tf.sigmoid)
    with tf.variable_scope("a"):
        first, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float64)
    with tf.variable_scope("b"):
        second, _ = tf.nn.dynamic_rnn(cell, x[:, ::-1], dtype=tf.float64)
    return first, second


def _by_hand(tf: Any, cells: Any, x: Any) -> Any:
    cell = cells.LSTMCell(2, name="mine", use_peepholes=True)
    state = cell.zero_state(3, tf.float64)
    for i in range(4):
        output, state = cell(x[:, i], state)
    return output, state


def _bidirectional(tf: Any, cells: Any, x: Any) -> Any:
    return tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(2), cells.BasicLSTMCell(3), x, LENGTHS, dtype=tf.float64)


def _static_bidirectional(tf: Any, cells: Any, x: Any) -> Any:
    return tf.nn.static_bidirectional_rnn(
        cells.GRUCell(2), cells.BasicRNNCell(3), tf.unstack(x, axis=1), dtype=tf.float64, sequence_length=LENGTHS
    )


def _raw(tf: Any, cells: Any, x: Any) -> Any:
    cell = cells.LSTMCell(3)
    steps = tf.TensorArray(tf.float64, 4, clear_after_read=False).unstack(tf.transpose(x, [1, 0, 2]))

    def loop_fn(time: Any, output: Any, state: Any, loop_state: Any) -> Any:
        finished = time >= LENGTHS
        if output is None:
            first = (tf.zeros([2], tf.float64), tf.zeros([3, 1], tf.float64))
            return finished, steps.read(0), cell.zero_state(3, tf.float64), first, tf.constant(1.0, tf.float64)
        done = tf.reduce_all(finished)
        now = tf.cond(done, lambda: tf.zeros([3, 2], tf.float64), lambda: steps.read(time))
        return finished, now, state, (output[:, :2], output[:, :, tf.newaxis]), loop_state + tf.reduce_sum(output)

    outputs, state, loop_state = tf.nn.raw_rnn(cell, loop_fn)
    return [ta.stack() for ta in outputs], state, loop_state


def _raw_plain(tf: Any, cells: Any, x: Any) -> Any:
    cell = cells.GRUCell(3)

    def loop_fn(time: Any, output: Any, state: Any, loop_state: Any) -> Any:
        state = cell.zero_state(3, tf.float64) if output is None else state
        return tf.fill([3], time >= 5), x[:, 0], state, output, None

    outputs, state, _ = tf.nn.raw_rnn(cell, loop_fn, scope="mine")
    return outputs.stack(), state


CASES: dict[str, Case] = {
    "raw": _raw,
    "raw_plain": _raw_plain,
    "basic_rnn": _dynamic(lambda tf, c: c.BasicRNNCell(3)),
    "basic_lstm": _dynamic(lambda tf, c: c.BasicLSTMCell(3, forget_bias=0.3)),
    "basic_lstm_one_tensor": _dynamic(lambda tf, c: c.BasicLSTMCell(3, state_is_tuple=False, activation=tf.nn.relu)),
    "lstm": _dynamic(lambda tf, c: c.LSTMCell(3), sequence_length=LENGTHS),
    "lstm_full": _dynamic(_lstm_full, sequence_length=LENGTHS),
    "lstm_one_tensor": _dynamic(lambda tf, c: c.LSTMCell(3, num_proj=2, state_is_tuple=False)),
    "gru": _dynamic(lambda tf, c: c.GRUCell(3, activation="relu"), sequence_length=LENGTHS),
    "multi": _dynamic(_multi, sequence_length=LENGTHS, scope="net"),
    "multi_one_tensor": _dynamic(
        lambda tf, c: c.MultiRNNCell([c.GRUCell(3), c.BasicRNNCell(2)], state_is_tuple=False)
    ),
    "own": _dynamic(_own),
    "time_major": _time_major,
    "initial": _initial,
    "shared": _shared,
    "by_hand": _by_hand,
    "bidirectional": _bidirectional,
    "static": _static(_lstm_full, sequence_length=LENGTHS),
    "static_multi": _static(_multi),
    "static_bidirectional": _static_bidirectional,
}


def built(tf: Any, cells: Any, name: str, x: Any) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """The network's flat outputs and state, its variables, assignments of fixed values, and gradients."""
    outputs = tf.nest.flatten(CASES[name](tf, cells, x))
    variables = tf.global_variables()
    sizes = [v.shape.as_list() for v in variables]
    assign = [v.assign(generator("rnn", v.op.name, *n).normal(size=n)) for v, n in zip(variables, sizes, strict=True)]
    total = tf.add_n([tf.reduce_sum(tf.sin(t * (i + 1.0))) for i, t in enumerate(outputs)])
    grads = tf.gradients(total, [x, *variables])
    return outputs, variables, assign, grads


def inputs() -> np.ndarray[Any, Any]:
    """The sequences."""
    return generator("rnn", "inputs").normal(size=(3, 4, 2))
