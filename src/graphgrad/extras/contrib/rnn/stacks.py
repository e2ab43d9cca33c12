"""Stacks of bidirectional networks (`tf.contrib.rnn`)."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.rnn.dynamic_rnn import _swap, bidirectional_dynamic_rnn
from graphgrad.frontend.rnn.static_rnn import static_bidirectional_rnn
from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor


def stack_bidirectional_dynamic_rnn(cells_fw: Any, cells_bw: Any, inputs: Any, initial_states_fw: Any = None,
                                    initial_states_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                                    parallel_iterations: Any = None, time_major: bool = False, scope: Any = None,
                                    swap_memory: bool = False) -> tuple[Tensor, tuple[Any, ...], tuple[Any, ...]]:
    """Builds a stack of bidirectional networks, each over the concatenated outputs of the previous one.

    Args:
      cells_fw, cells_bw: lists of cells.
      inputs: (batch, time, ...), or (time, batch, ...) if `time_major`.
      initial_states_fw, initial_states_bw: lists of initial states; zeros of `dtype` by default.
      dtype, sequence_length, parallel_iterations, time_major, swap_memory: as in `bidirectional_dynamic_rnn`.
      scope: the variable scope; "stack_bidirectional_rnn" by default.
    Returns: the outputs of the last one, both directions concatenated; the last states forwards, and backwards.
    Raises: ValueError for lists of different lengths.
    Reference: TensorFlow 1.15 `tf.contrib.rnn.stack_bidirectional_dynamic_rnn`.
    """
    _check_lists(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    forwards, backwards = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{i}"):
                outputs, (state_fw, state_bw) = bidirectional_dynamic_rnn(
                    fw, bw, inputs, sequence_length, initial_states_fw and initial_states_fw[i],
                    initial_states_bw and initial_states_bw[i], dtype, time_major=time_major)
                inputs = raw.ConcatV2(list(outputs), 2)
            forwards.append(state_fw)
            backwards.append(state_bw)
    return inputs, tuple(forwards), tuple(backwards)


def stack_bidirectional_rnn(cells_fw: Any, cells_bw: Any, inputs: Any, initial_states_fw: Any = None,
                            initial_states_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                            scope: Any = None) -> tuple[list[Tensor], tuple[Any, ...], tuple[Any, ...]]:
    """Builds `stack_bidirectional_dynamic_rnn` over a list of steps, unrolled.

    Args:
      cells_fw, cells_bw: lists of cells.
      inputs: a list of tensors (batch, n), one for each step.
      initial_states_fw, initial_states_bw: lists of initial states; zeros of `dtype` by default.
      dtype, sequence_length: as in `static_bidirectional_rnn`.
      scope: the variable scope; "stack_bidirectional_rnn" by default.
    Returns: a list of outputs, both directions concatenated; the last states forwards, and backwards.
    Raises: ValueError for lists of different lengths.
    Reference: TensorFlow 1.15 `tf.contrib.rnn.stack_bidirectional_rnn`.
    """
    _check_lists(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    forwards, backwards = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{i}"):
                inputs, state_fw, state_bw = static_bidirectional_rnn(
                    fw, bw, inputs, initial_states_fw and initial_states_fw[i],
                    initial_states_bw and initial_states_bw[i], dtype, sequence_length)
            forwards.append(state_fw)
            backwards.append(state_bw)
    return inputs, tuple(forwards), tuple(backwards)


def _check_lists(cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> None:
    for what, cells in (("forward", cells_fw), ("backward", cells_bw)):
        if not isinstance(cells, (list, tuple)) or not cells:
            raise ValueError(f"Must specify at least one {what} cell: cells are a list\n"
                             f"  Asked for at {user_source(3)}\n  Fix: give lists of cells")
    lengths = {len(c) for c in (cells_fw, cells_bw, states_fw, states_bw) if c is not None}
    if len(lengths) > 1:
        raise ValueError("Forward and Backward cells and states must have the same depth.\n"
                         f"  Asked for at {user_source(3)}\n  Fix: give lists of one length")


def transpose_batch_time(x: Any) -> Tensor:
    """Exchanges the first two axes.

    Args:
      x: a tensor (batch, time, ...) or (time, batch, ...).
    Returns: the tensor with these axes exchanged; unchanged if its rank is below 2.
    Raises: ValueError for an unknown rank.
    Gradient: that of the transposition.
    Reference: TensorFlow 1.15 `tf.contrib.rnn.transpose_batch_time`.
    """
    return _swap(convert_to_tensor(x))
