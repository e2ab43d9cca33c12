"""Recurrent cells and the functions that run them, against TensorFlow's values, names and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from tests.support.recordings import Recorded

from . import rnn_cases

cells = tf.nn.rnn_cell


@pytest.mark.parametrize("name", rnn_cases.CASES)
def test_recorded(name: str) -> None:
    """Names of variables, values and gradients are TensorFlow's."""
    entry = Recorded.of("rnn").entry(name)
    assert entry is not None, "nothing is recorded for this network: run `make record`"
    with tf.Graph().as_default(), HostSession() as sess:
        x = tf.constant(rnn_cases.inputs())
        outputs, variables, assign, grads = rnn_cases.built(tf, cells, name, x)
        assert [v.name.encode() for v in variables] == list(entry["outputs"][0])
        sess.run(assign)
        values, found = sess.run([outputs, [tf.convert_to_tensor(g) for g in grads]])
    for got, want in zip(values + found, entry["outputs"][1:] + entry["gradients"], strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_on_xla() -> None:
    """A loop and its gradient give on XLA what NumPy gives; batch and time are known only when fed."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, [None, None, 2])
        lengths = tf.placeholder(tf.int64, [None])
        outputs, state = tf.nn.dynamic_rnn(rnn_cases._multi(tf, cells), x, lengths, dtype=tf.float64)
        (grad,) = tf.gradients([outputs, *tf.nest.flatten(state)], x)
        assert outputs.shape.as_list() == [None, None, 2]
        sess.run(tf.global_variables_initializer())
        feed = {x: rnn_cases.inputs(), lengths: rnn_cases.LENGTHS}
        values = sess.run([outputs, state, grad], feed)
        weights = sess.run(tf.global_variables())
        with HostSession() as host:
            host.run([v.assign(w) for v, w in zip(tf.global_variables(), weights, strict=True)])
            expected = host.run([outputs, state, grad], feed)
    for got, want in zip(tf.nest.flatten(values), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_scopes() -> None:
    """A cell keeps the scope of its first use; reuse takes what is there; names are counted."""
    with tf.Graph().as_default():
        x = tf.ones([2, 3])
        cell = cells.GRUCell(2)
        assert cell.name == "gru_cell_1" and not cell.built
        with pytest.raises(ValueError, match="No name available for layer scope"):
            _ = cell.scope_name
        with tf.variable_scope("a"):
            cell(x, cell.zero_state(2, tf.float32))
        with tf.variable_scope("b"):
            cell(x, cell.zero_state(2, tf.float32))
        assert cell.built and cell.scope_name == "a/gru_cell"
        assert len(tf.global_variables()) == 4
        other = cells.GRUCell(2, reuse=True)
        with tf.variable_scope("a"):
            other(x, other.zero_state(2, tf.float32))
        assert other.variables == cell.variables
        with tf.variable_scope("a", reuse=True):
            third = cells.GRUCell(2, name="gru_cell")
            third(x, third.zero_state(2, tf.float32), scope="gru_cell")
        assert third.variables == cell.variables
        second = cells.GRUCell(2)
        with tf.variable_scope("c"):
            cells.GRUCell(2)(x, second.zero_state(2, tf.float32))
            second(x, second.zero_state(2, tf.float32))
        assert second.scope_name == "c/gru_cell_1"


def test_frozen_cell() -> None:
    """`trainable=False` keeps a cell's variables from the optimizers."""
    with tf.Graph().as_default():
        cell = cells.BasicRNNCell(2, trainable=False)
        cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        assert not cell.trainable_variables and len(cell.non_trainable_variables) == 2
        assert not tf.trainable_variables()


def test_eager() -> None:
    """Cells and loops run in eager mode; the tape differentiates them."""
    import graphgrad as tf2

    cell = cells.BasicLSTMCell(2)
    x = tf2.constant(rnn_cases.inputs())
    outputs, _ = tf.nn.dynamic_rnn(cell, x, rnn_cases.LENGTHS, dtype=tf.float64)
    assert len(cell.variables) == 2
    with tf2.GradientTape() as tape:
        again, _ = tf.nn.static_rnn(cell, tf2.unstack(x, axis=1), dtype=tf.float64, sequence_length=rnn_cases.LENGTHS)
        loss = tf2.reduce_sum(tf2.stack(again))
    np.testing.assert_allclose(outputs.numpy(), np.stack([t.numpy() for t in again], 1))
    grads = tape.gradient(loss, cell.trainable_variables)
    assert grads[0].shape.as_list() == [4, 8] and np.abs(grads[0].numpy()).max() > 0


def _dropout(x: Any, **options: Any) -> Any:
    class Add(cells.RNNCell):
        state_size = cells.LSTMStateTuple(50, 50)
        output_size = 50

        def call(self, inputs: Any, state: Any) -> Any:
            return inputs, cells.LSTMStateTuple(state.c + 1.0, state.h + 1.0)

    cell = cells.DropoutWrapper(Add(), seed=7, **options)
    return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)


def test_dropout() -> None:
    """Dropout scales what it keeps, spares the memory of LSTMs, and differs between steps unless it is variational."""
    with tf.Graph().as_default(), HostSession() as sess:
        x = tf.ones([2, 6, 50])
        keep = tf.placeholder_with_default(0.5, [])
        out, state = _dropout(x, output_keep_prob=keep, state_keep_prob=0.8)
        out, state = sess.run([out, state])
        assert set(np.unique(out)) == {0.0, 2.0} and abs(out.mean() - 1) < 0.2
        assert not np.array_equal(out[:, 0], out[:, 1])
        assert np.all(state.c == 6) and 0 < np.mean(state.h == 0) < 0.5
        out, _ = _dropout(x, input_keep_prob=0.5, input_size=50, dtype=tf.float32, variational_recurrent=True)
        out = sess.run(out)
        assert set(np.unique(out)) == {0.0, 2.0}
        assert all(np.array_equal(out[:, 0], out[:, i]) for i in range(1, 6)), "the same elements in each step"


def test_dropout_filter() -> None:
    """A visitor chooses the parts of a state that dropout applies to."""
    def visitor(state: Any) -> Any:
        return cells.LSTMStateTuple(c=True, h=False) if isinstance(state, cells.LSTMStateTuple) else True

    with tf.Graph().as_default(), HostSession() as sess:
        _, state = _dropout(tf.ones([2, 3, 50]), state_keep_prob=0.5, dropout_state_filter_visitor=visitor)
        state = sess.run(state)
        assert np.all(state.h == 3) and np.any(state.c == 0)


def test_wrappers() -> None:
    """A residual function and a device are used; a wrapper shows the variables of its cell."""
    with tf.Graph().as_default(), HostSession() as sess:
        cell = cells.DeviceWrapper(cells.BasicRNNCell(3), "/cpu:0")
        wrapped = cells.ResidualWrapper(cell, residual_fn=lambda i, o: i * 10.0 + o * 0.0)
        output, state = wrapped(tf.ones([2, 3]), wrapped.zero_state(2, tf.float32))
        assert state.op.device == "/device:CPU:0"
        assert wrapped.wrapped_cell is cell and wrapped.output_size == 3
        assert [v.name for v in wrapped.variables] == ["basic_rnn_cell/kernel:0", "basic_rnn_cell/bias:0"]
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(output), np.full((2, 3), 10))


def test_state_saving() -> None:
    """The first state comes from the saver; the last one goes there when the last output is computed."""
    with tf.Graph().as_default(), tf.Session() as sess:
        kept = tf.Variable(tf.zeros([2, 3]), trainable=False)

        class Saver:
            def state(self, name: str) -> Any:
                return kept.read_value()

            def save_state(self, name: str, value: Any) -> Any:
                return kept.assign(value)

        steps = [tf.ones([2, 3])] * 2
        outputs, state = tf.nn.static_state_saving_rnn(cells.BasicRNNCell(3), steps, Saver(), "s")
        sess.run(tf.global_variables_initializer())
        first = sess.run(outputs[-1])
        np.testing.assert_array_equal(sess.run(kept), first)
        assert not np.allclose(sess.run(state), first)
        with pytest.raises(ValueError, match="(?s)`state_name` should be the same type.*Fix:"):
            tf.nn.static_state_saving_rnn(cells.LSTMCell(3), steps, Saver(), "s")


@pytest.mark.parametrize("make, error, text", [
    (lambda x: tf.nn.dynamic_rnn(3, x), TypeError, "argument 'cell' .* is not an RNNCell: 'output_size'"),
    (lambda x: tf.nn.dynamic_rnn(cells.GRUCell(4), x), ValueError, "(?s)If no initial_state is provided.*Fix:"),
    (lambda x: tf.nn.dynamic_rnn(cells.GRUCell(4), x[0], dtype=tf.float32), ValueError, "rank at least 3"),
    (lambda x: tf.nn.dynamic_rnn(cells.GRUCell(4), tf.placeholder(tf.float32, [2, 5, None]), dtype=tf.float32),
     ValueError, "(?s)depth of inputs.*Fix:"),
    (lambda x: tf.nn.dynamic_rnn(cells.GRUCell(4), x, [[1, 2]], dtype=tf.float32), ValueError,
     "(?s)must be a vector of length batch_size.*Fix:"),
    (lambda x: tf.nn.dynamic_rnn(cells.GRUCell(4), x, [1, 2, 3], dtype=tf.float32), ValueError,
     "(?s)3 elements for a batch of 2.*Fix:"),
    (lambda x: tf.nn.dynamic_rnn(cells.GRUCell(4), (x, x[:, 1:]), dtype=tf.float32), ValueError,
     "(?s)Time steps is not the same.*Fix:"),
    (lambda x: tf.nn.dynamic_rnn(cells.BasicLSTMCell(4), x, initial_state=tf.zeros([2, 8])), TypeError,
     "(?s)must be an LSTMStateTuple.*Fix:"),
    (lambda x: tf.nn.raw_rnn(cells.GRUCell(4), None), TypeError, "(?s)`loop_fn` must be a callable.*Fix:"),
    (lambda x: tf.nn.static_rnn(cells.GRUCell(4), x, dtype=tf.float32), TypeError,
     "(?s)`inputs` must be a sequence.*Fix:"),
    (lambda x: tf.nn.static_rnn(cells.GRUCell(4), [], dtype=tf.float32), ValueError, "must not be empty.*Fix:"),
    (lambda x: cells.GRUCell(4)(x, tf.zeros([2, 4])), ValueError, "(?s)expected ndim=2, found ndim=3.*Fix:"),
    (lambda x: cells.GRUCell(4)(tf.zeros([2, 3], tf.int32), tf.zeros([2, 4])), ValueError,
     "(?s)RNN cell only supports floating point.*Fix:"),
    (lambda x: cells.GRUCell(4)(tf.placeholder(tf.float32, [2, None]), tf.zeros([2, 4])), ValueError,
     "(?s)Expected inputs.shape.*to be known.*Fix:"),
    (lambda x: cells.GRUCell(4, activation="cosine"), ValueError, "Unknown activation function: 'cosine'. Fix:"),
    (lambda x: cells.MultiRNNCell([]), ValueError, "Must specify at least one cell"),
    (lambda x: cells.MultiRNNCell(cells.GRUCell(3)), TypeError, "cells must be a list or tuple"),
    (lambda x: cells.MultiRNNCell([cells.LSTMCell(3)], state_is_tuple=False), ValueError,
     "(?s)Some cells return tuples of states.*Fix:"),
    (lambda x: cells.DropoutWrapper(cells.GRUCell(3), 1.5), ValueError, "(?s)must be between 0 and 1.*Fix:"),
    (lambda x: cells.DropoutWrapper(cells.GRUCell(3), 0.5, variational_recurrent=True), ValueError,
     "dtype must be provided"),
    (lambda x: cells.RNNCell().state_size, NotImplementedError, "Abstract method"),
    (lambda x: cells.GRUCell(3).get_initial_state(), ValueError, "batch_size and dtype cannot be None"),
    (lambda x: cells.GRUCell(3).get_initial_state(x, 7), ValueError, "batch size from input tensor is different"),
])
def test_errors(make: Any, error: type[Exception], text: str) -> None:
    """Errors are of TensorFlow's class and say what to do."""
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        make(tf.zeros([2, 5, 3]))
