"""Runs recurrent cells over sequences by loops: `dynamic_rnn` and related functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.tensor_array import TensorArray
from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike

from .rnn_cells import _map_sizes, assert_like_rnn_cell, zeros_of_size


def _flat_sizes(sizes: Any) -> list[Any]:
    return [sizes] if isinstance(sizes, TensorShape) else nest.flatten(sizes)


def _swap(x: Any) -> Any:
    """Exchanges the first two axes."""
    shape = x.shape
    if shape.rank is None:
        raise ValueError(f"The rank of {x} must be known to exchange batch and time.\n"
                         f"  Built at {user_source(2)}\n"
                         "  Fix: call set_shape on it, e.g. x.set_shape([None, None, size])")
    if shape.rank < 2:
        return x
    return raw.Transpose(x, np.array([1, 0, *range(2, shape.rank)], np.int32))


def _batch_size(inputs: Sequence[Any], axis: int) -> Any:
    """Returns the batch size: an int, or a tensor if known only at run time."""
    if not inputs:
        raise ValueError("there are no inputs. Fix: give at least one tensor")
    for t in inputs:
        shape = t.shape
        if shape.rank is not None and shape.rank > axis and shape.as_list()[axis] is not None:
            return shape.as_list()[axis]
    return raw.StridedSlice(raw.Shape(inputs[0]), [axis], [axis + 1], [1], shrink_axis_mask=1)


def _first_state(cell: Any, initial_state: Any, batch_size: Any, dtype: Any) -> Any:
    if initial_state is not None:
        return _map_tensors(convert_to_tensor, initial_state)
    if not dtype:
        raise ValueError("If no initial_state is provided, argument `dtype` must be specified\n"
                         f"  Asked for at {user_source(2)}\n"
                         "  Fix: give dtype=tf.float32, or initial_state=")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _map_tensors(function: Any, structure: Any) -> Any:
    return nest.pack_sequence_as(structure, [function(t) for t in nest.flatten(structure)])


def _lengths(sequence_length: Any, batch_size: Any) -> Any:
    """Converts `sequence_length` to a vector of int32."""
    lengths = convert_to_tensor(sequence_length, name="sequence_length")
    if lengths.dtype is not int32:
        lengths = raw.Cast(lengths, DstT=int32)
    if lengths.shape.rank not in (None, 1):
        raise ValueError("Argument sequence_length must be a vector of length batch_size. Received "
                         f"sequence_length={lengths} of shape: {lengths.shape}.\n"
                         f"  Asked for at {user_source(2)}\n"
                         "  Fix: give one length for each row of the batch")
    if isinstance(batch_size, int):
        try:
            lengths.shape.assert_is_compatible_with([batch_size])
        except ValueError:
            raise ValueError(f"sequence_length has {lengths.shape[0]} elements for a batch of {batch_size}.\n"
                             f"  Asked for at {user_source(2)}\n"
                             "  Fix: give one length for each row of the batch") from None
    return raw.Identity(lengths, name="CheckSeqLen")


def _state_dtype(dtype: Any, state: Any) -> Any:
    if dtype is not None:
        return as_dtype(dtype)
    dtypes = {t.dtype for t in nest.flatten(state)}
    if len(dtypes) != 1:
        raise ValueError(f"The state has tensors of several dtypes ({', '.join(sorted(d.name for d in dtypes))}): the "
                         "dtype of the outputs cannot be told. Fix: give dtype=")
    return dtypes.pop()


def _step(cell: Any, inputs: Any, state: Any) -> tuple[Any, Any]:
    output, new_state = cell(inputs, state)
    nest.assert_same_structure(state, new_state)
    return output, new_state


def _masked(finished: Any, old: Sequence[Any], new: Sequence[Any]) -> list[Any]:
    """Selects rows of `old` where the sequence has ended, rows of `new` elsewhere; scalars are always new."""
    kept = []
    for a, b in zip(old, new, strict=True):
        if isinstance(a, TensorArray) or a.shape.rank == 0:
            kept.append(b)
            continue
        t = raw.Select(finished, a, b)
        t.set_shape(a.shape)
        kept.append(t)
    return kept


def dynamic_rnn(cell: Any, inputs: TensorLike, sequence_length: Any = None, initial_state: Any = None,
                dtype: DTypeLike | None = None, parallel_iterations: Any = None, swap_memory: bool = False,
                time_major: bool = False, scope: Any = None) -> tuple[Tensor | Any, Any]:
    """Runs a cell over sequences, by a loop.

    Args:
      cell: the cell.
      inputs: (batch, time, ...), or (time, batch, ...) if `time_major`; or a structure of such tensors.
      sequence_length: (batch,) of integers: beyond these, outputs are zero and states stay; None for full lengths.
      initial_state: the first state; zeros of `dtype` by default.
      dtype: the dtype of outputs and of the first state.
      parallel_iterations, swap_memory: accepted as TensorFlow does.
      time_major: whether time is the first axis of inputs and outputs.
      scope: the variable scope; "rnn" by default.
    Returns: the outputs of all steps, (batch, time, output size) or (time, batch, output size), and the last state.
    Raises: TypeError if `cell` is not a cell; ValueError if neither `dtype` nor `initial_state` is given, or if the
      size of the inputs is not known while building.
    Gradient: with respect to inputs, first state and variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.dynamic_rnn`.

    >>> x = tf.ones([2, 5, 3])
    >>> outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), x, sequence_length=[5, 2], dtype=tf.float32)
    >>> outputs.shape.as_list(), state.h.shape.as_list()
    ([2, 5, 4], [2, 4])
    """
    assert_like_rnn_cell("cell", cell)
    with variable_scope(scope or "rnn"):
        flat = [convert_to_tensor(t) for t in nest.flatten(inputs)]
        _check_inputs(flat, 0 if time_major else 1)
        if not time_major:
            flat = [_swap(t) for t in flat]
        batch_size = _batch_size(flat, 1)
        if sequence_length is not None:
            sequence_length = _lengths(sequence_length, batch_size)
        state = _first_state(cell, initial_state, batch_size, dtype)
        outputs, state = _loop(cell, nest.pack_sequence_as(inputs, flat), state, sequence_length, batch_size, dtype)
        if not time_major:
            outputs = _map_tensors(_swap, outputs)
        return outputs, state


def _check_inputs(flat: Sequence[Any], time_axis: int) -> None:
    steps: set[int] = set()
    batches: set[int] = set()
    for t in flat:
        dims = t.shape.with_rank_at_least(3).as_list()
        if None in dims[2:]:
            raise ValueError("Input size (depth of inputs) must be accessible via shape inference, but saw value None "
                             f"for input={t}.\n  Built at {user_source(2)}\n"
                             "  Fix: give the placeholder a static last dimension, or call set_shape")
        if dims[time_axis] is not None:
            steps.add(dims[time_axis])
        if dims[1 - time_axis] is not None:
            batches.add(dims[1 - time_axis])
    for what, found in (("Time steps is", steps), ("Batch_size is", batches)):
        if len(found) > 1:
            raise ValueError(f"{what} not the same for all the elements in the input: {sorted(found)}.\n"
                             f"  Built at {user_source(2)}\n  Fix: give inputs of one size there")


def _loop(cell: Any, inputs: Any, state: Any, lengths: Any, batch_size: Any, dtype: Any) -> tuple[Any, Any]:
    """Returns the loop over time-major inputs."""
    flat_inputs = nest.flatten(inputs)
    steps = flat_inputs[0].shape.as_list()[0]
    if steps is None:
        steps = raw.StridedSlice(raw.Shape(flat_inputs[0]), [0], [1], [1], shrink_axis_mask=1)
    out_dtype = _state_dtype(dtype, state)
    zero_outputs = [zeros_of_size(batch_size, size, out_dtype) for size in _flat_sizes(cell.output_size)]
    bound: Any = convert_to_tensor(steps, int32)
    if lengths is not None:
        # Steps after the longest sequence are skipped.
        bound = raw.Minimum(bound, raw.Maximum(1, raw.Max(lengths, 0)))
    arrays = [TensorArray(t.dtype, steps, element_shape=t.shape) for t in zero_outputs]

    def body(time: Any, arrays: Any, state: Any) -> Any:
        now = nest.pack_sequence_as(inputs, [raw.GatherV2(t, time, 0) for t in flat_inputs])
        output, new_state = _step(cell, now, state)
        flat_output = nest.flatten(output)
        if lengths is not None:
            finished = raw.GreaterEqual(time, lengths)
            flat_output = _masked(finished, zero_outputs, flat_output)
            flat_state = _masked(finished, nest.flatten(state), nest.flatten(new_state))
            new_state = nest.pack_sequence_as(state, flat_state)
        return time + 1, [ta.write(time, t) for ta, t in zip(arrays, flat_output, strict=True)], new_state

    _, arrays, state = while_loop(lambda time, *_: time < bound, body, (np.int32(0), arrays, state))
    return _map_sizes_to(cell.output_size, [ta.stack() for ta in arrays]), state


def _map_sizes_to(sizes: Any, flat: Sequence[Any]) -> Any:
    """Packs the tensors in `flat` like the structure of sizes."""
    left = iter(flat)
    return _map_sizes(lambda _: next(left), sizes)


def bidirectional_dynamic_rnn(cell_fw: Any, cell_bw: Any, inputs: TensorLike, sequence_length: Any = None,
                              initial_state_fw: Any = None, initial_state_bw: Any = None,
                              dtype: DTypeLike | None = None, parallel_iterations: Any = None,
                              swap_memory: bool = False, time_major: bool = False,
                              scope: Any = None) -> tuple[tuple[Tensor | Any, Tensor | Any], tuple[Any, Any]]:
    """Runs one cell forwards over sequences and another one backwards, by loops.

    Args:
      cell_fw, cell_bw: the two cells.
      inputs: (batch, time, ...), or (time, batch, ...) if `time_major`; or a structure of such tensors.
      sequence_length: (batch,) of integers; the backward cell begins at each sequence's last step.
      initial_state_fw, initial_state_bw: the first states; zeros of `dtype` by default.
      dtype: the dtype of outputs and of the first states.
      parallel_iterations, swap_memory: accepted as TensorFlow does.
      time_major: whether time is the first axis of inputs and outputs.
      scope: the variable scope; "bidirectional_rnn" by default.
    Returns: (outputs forwards, outputs backwards), (last state forwards, last state backwards).
    Raises: as `dynamic_rnn`.
    Gradient: with respect to inputs, first states and variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.bidirectional_dynamic_rnn`.

    >>> cells = [tf.nn.rnn_cell.GRUCell(4) for _ in range(2)]
    >>> (fw, bw), states = tf.nn.bidirectional_dynamic_rnn(*cells, tf.ones([2, 5, 3]), dtype=tf.float32)
    >>> fw.shape.as_list(), bw.shape.as_list()
    ([2, 5, 4], [2, 5, 4])
    """
    assert_like_rnn_cell("cell_fw", cell_fw)
    assert_like_rnn_cell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def backwards(t: Any) -> Any:
        t = convert_to_tensor(t)
        if sequence_length is None:
            return raw.ReverseV2(t, np.array([time_axis], np.int32))
        return raw.ReverseSequence(t, convert_to_tensor(sequence_length), seq_dim=time_axis, batch_dim=batch_axis)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw:
            output_fw, state_fw = dynamic_rnn(cell_fw, inputs, sequence_length, initial_state_fw, dtype,
                                              time_major=time_major, scope=fw)
        with variable_scope("bw") as bw:
            output_bw, state_bw = dynamic_rnn(cell_bw, _map_tensors(backwards, inputs), sequence_length,
                                              initial_state_bw, dtype, time_major=time_major, scope=bw)
    return (output_fw, _map_tensors(backwards, output_bw)), (state_fw, state_bw)


def raw_rnn(cell: Any, loop_fn: Any, parallel_iterations: Any = None, swap_memory: bool = False,
            scope: Any = None) -> tuple[TensorArray | Any, Any, Any]:
    """Runs a cell in a loop controlled by a function: inputs, outputs, and the end of each sequence.

    Args:
      cell: the cell.
      loop_fn: called as `loop_fn(time, cell_output, cell_state, loop_state)`; first, and before the first step, with
        time 0 and None for the rest. It returns `(elements_finished, next_input, next_cell_state, emit_output,
        next_loop_state)`: which sequences end before this step, (batch,) of bool; the input of the step, (batch, ...);
        the state of its inputs; the output of the previous step (at first a structure that gives shapes and
        dtypes, without batch, or None for those of the cell's output); and anything to pass on, or None.
      parallel_iterations, swap_memory: accepted as TensorFlow does.
      scope: the variable scope; "rnn" by default.
    Returns: a `TensorArray` of the outputs, structured as `emit_output`, zeros where a sequence has ended; the
      last state; the last loop state.
    Raises: TypeError if `cell` is not a cell or `loop_fn` is not a function; ValueError if structures differ.
    Gradient: with respect to inputs, first state and variables.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.raw_rnn`.

    >>> x = tf.TensorArray(tf.float32, 3).unstack(tf.ones([3, 2, 4]))
    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> def loop_fn(time, output, state, loop_state):
    ...     finished = time >= tf.constant([3, 2])
    ...     state = cell.zero_state(2, tf.float32) if output is None else state
    ...     now = tf.cond(tf.reduce_all(finished), lambda: tf.zeros([2, 4]), lambda: x.read(time))
    ...     return finished, now, state, output, None
    >>> outputs, state, _ = tf.nn.raw_rnn(cell, loop_fn)
    >>> outputs.stack().shape.as_list()
    [None, 2, 4]
    """
    assert_like_rnn_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError(f"Argument `loop_fn` must be a callable. Received: {loop_fn}.\n"
                        f"  Asked for at {user_source(2)}\n"
                        "  Fix: pass a function of (time, cell_output, cell_state, loop_state)")
    with variable_scope(scope or "rnn"):
        first = loop_fn(convert_to_tensor(0, int32), None, None, None)
        finished, now, state, emit_structure, first_loop_state = first
        finished = convert_to_tensor(finished)
        now = _map_tensors(convert_to_tensor, now)
        flat_now = nest.flatten(now)
        nest.assert_same_structure(state, _map_sizes(_leaf, cell.state_size))
        state = _map_tensors(_tensor_or_array, state)
        batch_size = _batch_size(flat_now, 0)
        if emit_structure is None:
            sizes = cell.output_size
            kinds = [(size, nest.flatten(state)[0].dtype) for size in _flat_sizes(sizes)]
            structure = _map_sizes(_leaf, sizes)
        else:
            structure = emit_structure
            kinds = [(t.shape, t.dtype) for t in map(convert_to_tensor, nest.flatten(emit_structure))]
        zeros = [zeros_of_size(batch_size, size, dtype) for size, dtype in kinds]
        arrays = [TensorArray(t.dtype, 0, dynamic_size=True, element_shape=t.shape) for t in zeros]

        def more(_: Any, finished: Any, *rest: Any) -> Any:
            return raw.LogicalNot(raw.All(finished, np.array([0], np.int32)))

        def body(time: Any, finished: Any, now: Any, arrays: Any, state: Any, loop_state: Any) -> Any:
            output, cell_state = _step(cell, now, state)
            given = None if first_loop_state is None else loop_state
            end, following, next_state, emitted, next_loop_state = loop_fn(time + 1, output, cell_state, given)
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(now, following)
            nest.assert_same_structure(structure, emitted)
            flat = _masked(finished, zeros, _flat_tensors(emitted))
            arrays = [ta.write(time, t) for ta, t in zip(arrays, flat, strict=True)]
            kept = _masked(finished, nest.flatten(state), _flat_tensors(next_state))
            next_loop_state = loop_state if next_loop_state is None else next_loop_state
            return (time + 1, raw.LogicalOr(finished, convert_to_tensor(end)), following, arrays,
                    nest.pack_sequence_as(state, kept), next_loop_state)

        passed = convert_to_tensor(0, int32) if first_loop_state is None else first_loop_state
        start = (convert_to_tensor(0, int32), finished, now, arrays, state, passed)
        _, _, _, arrays, state, loop_state = while_loop(more, body, start)
        outputs = nest.pack_sequence_as(structure, arrays)
        return outputs, state, None if first_loop_state is None else loop_state


def _leaf(size: Any) -> Any:
    return None


def _tensor_or_array(value: Any) -> Any:
    return value if isinstance(value, TensorArray) else convert_to_tensor(value)


def _flat_tensors(structure: Any) -> list[Any]:
    return [_tensor_or_array(t) for t in nest.flatten(structure)]
