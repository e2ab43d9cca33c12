"""Running recurrent cells over sequences: `dynamic_rnn`, `static_rnn` and their relatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.convert import convert_to_tensor
from ..ir.dtypes import as_dtype, int32
from ..ir.opdef import raw
from ..ir.shape import TensorShape
from ..ir.source import user_source
from . import nest
from .control_flow import while_loop
from .rnn_cells import _map_sizes, assert_like_rnn_cell, zeros_of_size
from .variable_scope import variable_scope


def _flat_sizes(sizes: Any) -> list[Any]:
    return [sizes] if isinstance(sizes, TensorShape) else nest.flatten(sizes)


def _swap(x: Any) -> Any:
    """Exchanges the first two axes."""
    shape = x.shape
    if shape.rank is None:
        raise ValueError(f"The rank of {x} must be known to exchange batch and time.\n"
                         f"  Built at {user_source(2)}\n"
                         "  Fix: call set_shape on it, e.g. x.set_shape([None, None, size])")  # fmt: skip
    if shape.rank < 2:
        return x
    return raw.Transpose(x, np.array([1, 0, *range(2, shape.rank)], np.int32))


def _batch_size(inputs: Sequence[Any], axis: int) -> Any:
    """The size of the batch: an int, or a tensor when only the run knows."""
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
                         "  Fix: give dtype=tf.float32, or initial_state=")  # fmt: skip
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _map_tensors(function: Any, structure: Any) -> Any:
    return nest.pack_sequence_as(structure, [function(t) for t in nest.flatten(structure)])


def _lengths(sequence_length: Any, batch_size: Any) -> Any:
    """`sequence_length` as a vector of int32."""
    lengths = convert_to_tensor(sequence_length, name="sequence_length")
    if lengths.dtype is not int32:
        lengths = raw.Cast(lengths, DstT=int32)
    if lengths.shape.rank not in (None, 1):
        raise ValueError("Argument sequence_length must be a vector of length batch_size. Received "
                         f"sequence_length={lengths} of shape: {lengths.shape}.\n"
                         f"  Asked for at {user_source(2)}\n"
                         "  Fix: give one length for each row of the batch")  # fmt: skip
    if isinstance(batch_size, int):
        try:
            lengths.shape.assert_is_compatible_with([batch_size])
        except ValueError:
            raise ValueError(f"sequence_length has {lengths.shape[0]} elements for a batch of {batch_size}.\n"
                             f"  Asked for at {user_source(2)}\n"
                             "  Fix: give one length for each row of the batch") from None  # fmt: skip
    return raw.Identity(lengths, name="CheckSeqLen")


def _state_dtype(dtype: Any, state: Any) -> Any:
    if dtype is not None:
        return as_dtype(dtype)
    dtypes = {t.dtype for t in nest.flatten(state)}
    if len(dtypes) != 1:
        raise ValueError(f"The state has tensors of several dtypes ({', '.join(sorted(d.name for d in dtypes))}): the "
                         "dtype of the outputs cannot be told. Fix: give dtype=")  # fmt: skip
    return dtypes.pop()


def _step(cell: Any, inputs: Any, state: Any) -> tuple[Any, Any]:
    output, new_state = cell(inputs, state)
    nest.assert_same_structure(state, new_state)
    return output, new_state


def _masked(finished: Any, old: Sequence[Any], new: Sequence[Any]) -> list[Any]:
    """Rows of `old` where the sequence is over, rows of `new` elsewhere; scalars are always new."""
    kept = []
    for a, b in zip(old, new, strict=True):
        if getattr(a, "shape", None) is None or a.shape.rank == 0:
            kept.append(b)
            continue
        t = raw.Select(finished, a, b)
        t.set_shape(a.shape)
        kept.append(t)
    return kept


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: Any = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> Any:
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
    Raises: TypeError if `cell` is none; ValueError if neither `dtype` nor `initial_state` is given, or if the size
      of the inputs is not known while building.
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
                             "  Fix: give the placeholder a static last dimension, or call set_shape")  # fmt: skip
        if dims[time_axis] is not None:
            steps.add(dims[time_axis])
        if dims[1 - time_axis] is not None:
            batches.add(dims[1 - time_axis])
    for what, found in (("Time steps is", steps), ("Batch_size is", batches)):
        if len(found) > 1:
            raise ValueError(f"{what} not the same for all the elements in the input: {sorted(found)}.\n"
                             f"  Built at {user_source(2)}\n  Fix: give inputs of one size there")  # fmt: skip


def _loop(cell: Any, inputs: Any, state: Any, lengths: Any, batch_size: Any, dtype: Any) -> tuple[Any, Any]:
    """The loop over time-major inputs."""
    flat_inputs = nest.flatten(inputs)
    steps = flat_inputs[0].shape.as_list()[0]
    if steps is None:
        steps = raw.StridedSlice(raw.Shape(flat_inputs[0]), [0], [1], [1], shrink_axis_mask=1)
    out_dtype = _state_dtype(dtype, state)
    zero_outputs = [zeros_of_size(batch_size, size, out_dtype) for size in _flat_sizes(cell.output_size)]
    bound: Any = convert_to_tensor(steps, int32)
    if lengths is not None:
        # Steps after the longest sequence have nothing to do.
        bound = raw.Minimum(bound, raw.Maximum(1, raw.Max(lengths, 0)))
    buffers = [_buffer(steps, t) for t in zero_outputs]

    def body(time: Any, buffers: Any, state: Any) -> Any:
        now = nest.pack_sequence_as(inputs, [raw.GatherV2(t, time, 0) for t in flat_inputs])
        output, new_state = _step(cell, now, state)
        flat_output = nest.flatten(output)
        if lengths is not None:
            finished = raw.GreaterEqual(time, lengths)
            flat_output = _masked(finished, zero_outputs, flat_output)
            flat_state = _masked(finished, nest.flatten(state), nest.flatten(new_state))
            new_state = nest.pack_sequence_as(state, flat_state)
        return time + 1, [_put(b, time, t) for b, t in zip(buffers, flat_output, strict=True)], new_state

    _, buffers, state = while_loop(lambda time, *_: time < bound, body, (np.int32(0), buffers, state))
    return _map_sizes_to(cell.output_size, buffers), state


def _map_sizes_to(sizes: Any, flat: Sequence[Any]) -> Any:
    """The tensors in `flat`, arranged like the structure of sizes."""
    left = iter(flat)
    return _map_sizes(lambda _: next(left), sizes)


def _buffer(steps: Any, zeros: Any) -> Any:
    """Zeros for the outputs of all steps."""
    if isinstance(steps, int) and zeros.shape.is_fully_defined():
        return raw.Fill(np.array([steps, *zeros.shape.as_list()], np.int32), np.zeros((), zeros.dtype.np_dtype))
    first = raw.Reshape(convert_to_tensor(steps, int32), np.array([1], np.int32))
    return raw.Fill(raw.ConcatV2([first, raw.Shape(zeros)], 0), np.zeros((), zeros.dtype.np_dtype))


def _put(buffer: Any, time: Any, value: Any) -> Any:
    return raw.TensorScatterUpdate(buffer, raw.Reshape(time, [1, 1]), raw.ExpandDims(value, 0))


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: Any = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> Any:
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
                                              time_major=time_major, scope=fw)  # fmt: skip
        with variable_scope("bw") as bw:
            output_bw, state_bw = dynamic_rnn(cell_bw, _map_tensors(backwards, inputs), sequence_length,
                                              initial_state_bw, dtype, time_major=time_major, scope=bw)  # fmt: skip
    return (output_fw, _map_tensors(backwards, output_bw)), (state_fw, state_bw)


def static_rnn(cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
               scope: Any = None) -> Any:  # fmt: skip
    """Runs a cell over a list of inputs, one after the other, without a loop in the graph.

    Args:
      cell: the cell.
      inputs: a list with, for each step, a tensor (batch, ...) or a structure of them.
      initial_state: the first state; zeros of `dtype` by default.
      dtype: the dtype of outputs and of the first state.
      sequence_length: (batch,) of integers: beyond these, outputs are zero and states stay; None for full lengths.
      scope: the variable scope; "rnn" by default.
    Returns: the list of outputs, and the last state.
    Raises: TypeError if `cell` is none or `inputs` is no list; ValueError if it is empty, or if neither `dtype` nor
      `initial_state` is given.
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
                                 "  Fix: call set_shape on the inputs")  # fmt: skip
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
                        "  Fix: tf.unstack(inputs, axis=1), or use tf.nn.dynamic_rnn")  # fmt: skip
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty. Fix: give at least one step")


def static_state_saving_rnn(cell: Any, inputs: Any, state_saver: Any, state_name: Any, sequence_length: Any = None,
                            scope: Any = None) -> Any:  # fmt: skip
    """`static_rnn` whose first state comes from an object, which is handed the last one.

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
    from ..ir.context import current_graph

    names = nest.flatten(state_name)
    if nest.is_nested(cell.state_size) != nest.is_nested(state_name) or len(names) != len(
        _flat_sizes(cell.state_size)
    ):
        raise ValueError("Argument `state_name` should be the same type as `cell.state_size`. Received: "
                         f"state_name={state_name!s}, cell.state_size={cell.state_size!s}.\n"
                         f"  Asked for at {user_source(2)}\n"
                         "  Fix: give one name for each tensor of the state")  # fmt: skip
    first = nest.pack_sequence_as(cell.state_size, [state_saver.state(n) for n in names])
    outputs, state = static_rnn(cell, inputs, first, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(n, t) for n, t in zip(names, nest.flatten(state), strict=True)]
    graph = current_graph()
    if graph is None:
        return outputs, state
    with graph.control_dependencies(saved):
        outputs[-1] = _map_tensors(raw.Identity, outputs[-1])
        return outputs, _map_tensors(raw.Identity, state)


def static_bidirectional_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None,
                             initial_state_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                             scope: Any = None) -> Any:  # fmt: skip
    """Runs one cell forwards over a list of inputs and another one backwards.

    Args:
      cell_fw, cell_bw: the two cells.
      inputs: a list with a tensor (batch, ...) for each step.
      initial_state_fw, initial_state_bw: the first states; zeros of `dtype` by default.
      dtype: the dtype of outputs and of the first states.
      sequence_length: (batch,) of integers; the backward cell begins at each sequence's last step.
      scope: the variable scope; "bidirectional_rnn" by default.
    Returns: the list of outputs, both cells' side by side; the two last states.
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
    ]  # fmt: skip
    return joined, state_fw, state_bw


def _reversed_steps(steps: Sequence[Any], lengths: Any) -> list[Any]:
    """The steps in reverse order, each row of the batch within its length."""
    if lengths is None:
        return list(reversed(steps))
    columns = []
    for column in zip(*map(nest.flatten, steps), strict=True):
        stacked = raw.Pack([convert_to_tensor(t) for t in column], axis=0)
        turned = raw.ReverseSequence(stacked, convert_to_tensor(lengths), seq_dim=0, batch_dim=1)
        columns.append(raw.Unpack(turned, num=len(steps), axis=0))
    return [nest.pack_sequence_as(s, parts) for s, parts in zip(steps, zip(*columns, strict=True), strict=True)]
