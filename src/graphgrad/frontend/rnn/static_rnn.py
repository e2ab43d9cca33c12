"""Runs recurrent cells over lists of inputs, step by step: `static_rnn` and related functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike

from .dynamic_rnn import _batch_size, _first_state, _flat_sizes, _lengths, _map_tensors, _masked, _state_dtype, _step
from .rnn_cells import assert_like_rnn_cell, zeros_of_size


def static_rnn(cell: Any, inputs: TensorLike, initial_state: Any = None, dtype: DTypeLike | None = None,
               sequence_length: Any = None, scope: Any = None) -> tuple[list[Tensor], Any]:
    """Runs a cell over a list of inputs, one after the other, without a loop in the graph.

    Args:
      cell: the cell.
      inputs: a list with, for each step, a tensor (batch, ...) or a structure of them.
      initial_state: the first state; zeros of `dtype` by default.
      dtype: the dtype of outputs and of the first state.
      sequence_length: (batch,) of integers: beyond these, outputs are zero and states stay; None for full lengths.
      scope: the variable scope; "rnn" by default.
    Returns: the list of outputs, and the last state.
    Raises: TypeError if `cell` is not a cell or `inputs` is not a list; ValueError if it is empty, or if neither
      `dtype` nor `initial_state` is given.
    Gradient: with respect to inputs, first state and variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.static_rnn`.

    >>> steps = tf.unstack(tf.ones([2, 5, 3]), axis=1)
    >>> outputs, state = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(4), steps, dtype=tf.float32)
    >>> len(outputs), state.shape.as_list()
    (5, [2, 4])
    """
    assert_like_rnn_cell("cell", cell)
    _check_list(inputs)
    with variable_scope(scope or "rnn") as current:
        steps = [nest.pack_sequence_as(i, [convert_to_tensor(t) for t in nest.flatten(i)]) for i in inputs]
        for t in nest.flatten(steps):
            if None in t.shape.with_rank_at_least(1).as_list()[1:]:
                raise ValueError(f"Input size of {t} must be accessible via shape inference, but its shape is "
                                 f"{t.shape}.\n  Built at {user_source(2)}\n"
                                 "  Fix: call set_shape on the inputs")
        batch_size = _batch_size(nest.flatten(steps), 0)
        state = _first_state(cell, initial_state, batch_size, dtype)
        zero_outputs: list[Any] = []
        if sequence_length is not None:
            sequence_length = _lengths(sequence_length, batch_size)
            out_dtype = _state_dtype(dtype, state)
            zero_outputs = [zeros_of_size(batch_size, size, out_dtype) for size in _flat_sizes(cell.output_size)]
        outputs = []
        for time, now in enumerate(steps):
            if time:
                current.reuse_variables()
            output, new_state = _step(cell, now, state)
            if sequence_length is not None:
                finished = raw.GreaterEqual(np.int32(time), sequence_length)
                output = nest.pack_sequence_as(output, _masked(finished, zero_outputs, nest.flatten(output)))
                new_state = nest.pack_sequence_as(
                    state, _masked(finished, nest.flatten(state), nest.flatten(new_state))
                )
            state = new_state
            outputs.append(output)
        return outputs, state


def _check_list(inputs: Any) -> None:
    if not nest.is_nested(inputs):
        raise TypeError(f"Argument `inputs` must be a sequence. Received: {inputs}\n"
                        f"  Asked for at {user_source(2)}\n"
                        "  Fix: tf.unstack(inputs, axis=1), or use tf.nn.dynamic_rnn")
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty. Fix: give at least one step")


def static_state_saving_rnn(cell: Any, inputs: TensorLike, state_saver: Any, state_name: Any,
                            sequence_length: Any = None, scope: Any = None) -> tuple[list[Tensor], Any]:
    """Runs `static_rnn` with the first state from an object, which gets the last one.

    Args:
      cell: the cell.
      inputs: a list with a tensor (batch, ...) for each step.
      state_saver: an object with `state(name)`, which gives a tensor, and `save_state(name, tensor)`, which gives an
        operation.
      state_name: the name of the state; a structure of names if the cell's state is one.
      sequence_length: as in `static_rnn`.
      scope: the variable scope; "rnn" by default.
    Returns: the list of outputs and the last state; computing the last output or the state saves it.
    Raises: ValueError if `state_name` is not structured as the cell's state.
    Gradient: as `static_rnn`.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.static_state_saving_rnn`.
    """
    names = nest.flatten(state_name)
    if nest.is_nested(cell.state_size) != nest.is_nested(state_name) or len(names) != len(
        _flat_sizes(cell.state_size)
    ):
        raise ValueError("Argument `state_name` should be the same type as `cell.state_size`. Received: "
                         f"state_name={state_name!s}, cell.state_size={cell.state_size!s}.\n"
                         f"  Asked for at {user_source(2)}\n"
                         "  Fix: give one name for each tensor of the state")
    first = nest.pack_sequence_as(cell.state_size, [state_saver.state(n) for n in names])
    outputs, state = static_rnn(cell, inputs, first, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(n, t) for n, t in zip(names, nest.flatten(state), strict=True)]
    graph = current_graph()
    if graph is None:
        return outputs, state
    with graph.control_dependencies(saved):
        outputs[-1] = _map_tensors(raw.Identity, outputs[-1])
        return outputs, _map_tensors(raw.Identity, state)


def static_bidirectional_rnn(cell_fw: Any, cell_bw: Any, inputs: TensorLike, initial_state_fw: Any = None,
                             initial_state_bw: Any = None, dtype: DTypeLike | None = None, sequence_length: Any = None,
                             scope: Any = None) -> tuple[list[Tensor], Any, Any]:
    """Runs one cell forwards over a list of inputs and another one backwards.

    Args:
      cell_fw, cell_bw: the two cells.
      inputs: a list with a tensor (batch, ...) for each step.
      initial_state_fw, initial_state_bw: the first states; zeros of `dtype` by default.
      dtype: the dtype of outputs and of the first states.
      sequence_length: (batch,) of integers; the backward cell begins at each sequence's last step.
      scope: the variable scope; "bidirectional_rnn" by default.
    Returns: the list of outputs, both cells' concatenated; the two last states.
    Raises: as `static_rnn`.
    Gradient: with respect to inputs, first states and variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.static_bidirectional_rnn`.

    >>> cells = [tf.nn.rnn_cell.GRUCell(4) for _ in range(2)]
    >>> steps = tf.unstack(tf.ones([2, 5, 3]), axis=1)
    >>> outputs, fw, bw = tf.nn.static_bidirectional_rnn(*cells, steps, dtype=tf.float32)
    >>> len(outputs), outputs[0].shape.as_list()
    (5, [2, 8])
    """
    assert_like_rnn_cell("cell_fw", cell_fw)
    assert_like_rnn_cell("cell_bw", cell_bw)
    _check_list(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw:
            out_fw, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, fw)
        with variable_scope("bw") as bw:
            reverse = _reversed_steps(inputs, sequence_length)
            out_bw, state_bw = static_rnn(cell_bw, reverse, initial_state_bw, dtype, sequence_length, bw)
    out_bw = _reversed_steps(out_bw, sequence_length)
    joined = [
        nest.pack_sequence_as(a, [
            raw.ConcatV2([x, y], 1) for x, y in zip(nest.flatten(a), nest.flatten(b), strict=True)])
        for a, b in zip(out_fw, out_bw, strict=True)
    ]
    return joined, state_fw, state_bw


def _reversed_steps(steps: Sequence[Any], lengths: Any) -> list[Any]:
    """Reverses the steps, each row of the batch within its length."""
    if lengths is None:
        return list(reversed(steps))
    columns = []
    for column in zip(*map(nest.flatten, steps), strict=True):
        stacked = raw.Pack([convert_to_tensor(t) for t in column], axis=0)
        turned = raw.ReverseSequence(stacked, convert_to_tensor(lengths), seq_dim=0, batch_dim=1)
        columns.append(raw.Unpack(turned, num=len(steps), axis=0))
    return [nest.pack_sequence_as(s, parts) for s, parts in zip(steps, zip(*columns, strict=True), strict=True)]
