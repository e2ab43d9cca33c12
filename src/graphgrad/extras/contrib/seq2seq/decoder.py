"""Decoders of `tf.contrib.seq2seq`, and the loop that runs them."""

from __future__ import annotations

import collections
import contextlib
from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.rnn.rnn_cells import _map_sizes, assert_like_rnn_cell, zeros_of_size
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.tensor_array import TensorArray
from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor

from .decoding_helpers import Helper


class Decoder:
    """The interface of `dynamic_decode`: a subclass defines the first inputs and one step.

    A subclass gives `batch_size`, `output_size`, `output_dtype`, `initialize` and `step`, and
    optionally `finalize`.

    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.Decoder`.
    """

    @property
    def batch_size(self) -> Any:
        """The size of the batch."""
        raise NotImplementedError("Decoder.batch_size. Fix: a subclass has to define it")

    @property
    def output_size(self) -> Any:
        """The shapes of a step's outputs, without batch: an int, a `TensorShape`, or a structure of them."""
        raise NotImplementedError("Decoder.output_size. Fix: a subclass has to define it")

    @property
    def output_dtype(self) -> Any:
        """The dtypes of a step's outputs, structured as `output_size`."""
        raise NotImplementedError("Decoder.output_dtype. Fix: a subclass has to define it")

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` returns which sequences are finished, all of them, so that one may continue again."""
        return False

    def initialize(self, name: str | None = None) -> Any:
        """Returns the arguments of the first step: (finished, first inputs, first state)."""
        raise NotImplementedError("Decoder.initialize. Fix: a subclass has to define it")

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Computes one step: (outputs, next state, next inputs, finished)."""
        raise NotImplementedError("Decoder.step. Fix: a subclass has to define it")

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Finalizes outputs and state: (outputs, state)."""
        raise NotImplementedError("Decoder.finalize")

    def _most_steps(self) -> Any:
        """Returns the number of steps and a bound of it from shapes, if they are known before the first step."""
        return None


class BasicDecoderOutput(collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """The outputs of a `BasicDecoder`: those of the cell (or of its output layer), and the samples drawn from them."""

    __slots__ = ()


def output_size_of(cell: Any, output_layer: Any) -> Any:
    """Returns the shapes of a cell's outputs, after its output layer if there is one."""
    size = cell.output_size
    if output_layer is None:
        return size
    return nest.map_structure(_LayerShape(output_layer), size)


class _LayerShape:
    def __init__(self, layer: Any):
        self.layer = layer

    def __call__(self, size: Any) -> Any:
        dims = TensorShape(size).as_list() if isinstance(size, TensorShape) else [int(size)]
        shape = self.layer.compute_output_shape(TensorShape([None, *dims]))
        return TensorShape(shape)[1:]


class BasicDecoder(Decoder):
    """A decoder of a cell whose inputs a helper chooses, step by step.

    Args:
      cell: the cell.
      helper: a `Helper`: it gives the inputs, samples of the outputs, and the ends of sequences.
      initial_state: the cell's first state.
      output_layer: a `tf.layers.Layer` applied to the cell's outputs, such as `tf.layers.Dense`, or None.
    Raises: TypeError if an argument is of another kind.
    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.BasicDecoder`.

    >>> from graphgrad.compat.contrib import seq2seq
    >>> helper = seq2seq.TrainingHelper(tf.ones([2, 5, 3]), [5, 2])
    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(7))
    >>> outputs, state, lengths = seq2seq.dynamic_decode(decoder)
    >>> outputs.rnn_output.shape.as_list(), outputs.sample_id.dtype, state.shape.as_list()
    ([2, None, 7], tf.int32, [2, 4])
    """

    def __init__(self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None):
        assert_like_rnn_cell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}\n  Asked for at {user_source(2)}\n"
                            "  Fix: pass e.g. a TrainingHelper")
        if output_layer is not None and not callable(output_layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}\n"
                            f"  Asked for at {user_source(2)}\n  Fix: pass e.g. tf.layers.Dense(10)")
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        """The size of the batch, as the helper has it."""
        return self._helper.batch_size

    @property
    def output_size(self) -> Any:
        """The shapes of outputs and samples."""
        return BasicDecoderOutput(output_size_of(self._cell, self._output_layer), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        """The dtypes of outputs and samples: outputs have that of the state."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        sizes = output_size_of(self._cell, self._output_layer)
        return BasicDecoderOutput(_map_sizes(_Always(dtype), sizes), self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> Any:
        """Returns the helper's first inputs, and the first state."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Runs the cell and the layer, samples, and asks the helper for the next inputs."""
        with name_scope(name, "BasicDecoderStep"):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, next_inputs, state = self._helper.next_inputs(time=time, outputs=outputs, state=state,
                                                                    sample_ids=sample_ids)
            return BasicDecoderOutput(outputs, sample_ids), state, next_inputs, finished

    def _most_steps(self) -> Any:
        return self._helper._most_steps()


class _Always:
    def __init__(self, value: Any):
        self.value = value

    def __call__(self, *_: Any) -> Any:
        return self.value


def _is_array(value: Any) -> bool:
    return isinstance(value, TensorArray)


def _tensors(structure: Any) -> Any:
    return nest.map_structure(_tensor, structure)


def _tensor(value: Any) -> Any:
    return value if _is_array(value) else convert_to_tensor(value)


def dynamic_decode(decoder: Any, output_time_major: bool = False, impute_finished: bool = False,
                   maximum_iterations: Any = None, parallel_iterations: int = 32, swap_memory: bool = False,
                   scope: Any = None, **kwargs: Any) -> tuple[Any, Any, Tensor]:
    """Runs a decoder until all sequences are finished.

    Args:
      decoder: a `Decoder`.
      output_time_major: whether time is the first axis of outputs, not the second one.
      impute_finished: whether outputs are zero, and states stay, where a sequence is finished.
      maximum_iterations: a bound on the number of steps, an int or a scalar int32, or None.
      parallel_iterations, swap_memory: accepted as TensorFlow does.
      scope: the variable scope; "decoder" by default.
      **kwargs: none are used.
    Returns: the outputs of all steps, (batch, time, ...) or (time, batch, ...), structured as the decoder's; the last
      state; the lengths of the sequences, (batch,) of int32.
    Raises: TypeError if `decoder` is not a decoder; ValueError if `maximum_iterations` is not a scalar.
    Gradient: with respect to inputs, first state and variables.
    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.dynamic_decode`.

    >>> from graphgrad.compat.contrib import seq2seq
    >>> helper = seq2seq.GreedyEmbeddingHelper(tf.eye(5), start_tokens=[1, 1], end_token=4)
    >>> cell = tf.nn.rnn_cell.BasicRNNCell(5)
    >>> decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    >>> outputs, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=7)
    >>> outputs.sample_id.shape.as_list(), lengths.shape.as_list()
    ([2, None], [2])
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}\n"
                        f"  Asked for at {user_source(2)}\n  Fix: pass e.g. a BasicDecoder")
    with variable_scope(scope, "decoder"):
        most = None
        if maximum_iterations is not None:
            most = convert_to_tensor(maximum_iterations, int32, name="maximum_iterations")
            if most.shape.rank not in (None, 0):
                raise ValueError(f"maximum_iterations must be a scalar, not of shape {most.shape}\n"
                                 f"  Asked for at {user_source(2)}\n  Fix: give one number for all sequences")
        bound, size = _bounds(decoder._most_steps(), most)
        outputs, state, lengths, time = _decode(decoder, impute_finished, bound, size)
        if bound is not None:
            outputs = [raw.StridedSlice(t, [0], raw.ExpandDims(time, 0), [1], name="written") for t in outputs]
        outputs = nest.pack_sequence_as(decoder.output_dtype, outputs)
        with contextlib.suppress(NotImplementedError):
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = nest.map_structure(_batch_first, outputs)
        return outputs, state, lengths


def _bounds(own: Any, most: Any) -> Any:
    """Returns the number of steps, and the length of the arrays of outputs.

    A compiled loop depends on the latter, which must therefore not change with each batch's lengths: it comes from
    shapes and constants, or is rounded up.
    """
    if most is None:
        return (None, None) if own is None else own
    known = constant_value(most)
    size = int(known) if known is not None else raw.LoopBound(most) if own is None else own[1]
    if own is None:
        return most, size
    if isinstance(size, int) and isinstance(own[1], int):
        size = min(size, own[1])
    return raw.Minimum(own[0], most), size


def _decode(decoder: Any, impute: bool, bound: Any, size: Any) -> Any:
    """Builds the loop; returns the list of stacked outputs, the last state, lengths, and the number of steps."""
    finished, inputs, state = decoder.initialize()
    finished, inputs, state = convert_to_tensor(finished), _tensors(inputs), _tensors(state)
    dtypes = nest.flatten(decoder.output_dtype)
    structure = decoder.output_dtype
    batch_size = _known(decoder.batch_size)
    sizes: list[Any] = []
    _map_sizes(sizes.append, decoder.output_size)
    zeros = [zeros_of_size(batch_size, size, as_dtype(dtype)) for size, dtype in zip(sizes, dtypes, strict=True)]
    lengths = raw.ZerosLike(raw.Cast(finished, DstT=int32))
    if bound is None:
        arrays = [TensorArray(t.dtype, 0, dynamic_size=True, element_shape=t.shape) for t in zeros]
    else:
        # An array of known length is written in place, so that the loop can be compiled.
        size = max(size, 0) if isinstance(size, int) else raw.Maximum(size, np.int32(0))
        arrays = [TensorArray(t.dtype, size, element_shape=t.shape) for t in zeros]

    def goes_on(time: Any, finished: Any, *_: Any) -> Any:
        more = raw.LogicalNot(raw.All(finished, _all_axes(finished)))
        return more if bound is None else raw.LogicalAnd(raw.Less(time, bound), more)

    limit = size if isinstance(size, int) else None

    def body(time: Any, finished: Any, inputs: Any, state: Any, lengths: Any, arrays: Any) -> Any:
        outputs, next_state, next_inputs, ends = decoder.step(time, inputs, state)
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(inputs, next_inputs)
        nest.assert_same_structure(structure, outputs)
        next_finished = convert_to_tensor(ends)
        if not decoder.tracks_own_finished:
            next_finished = raw.LogicalOr(next_finished, finished)
        lengths = raw.SelectV2(finished, lengths, raw.AddV2(raw.ZerosLike(lengths), time + 1))
        flat = [convert_to_tensor(t) for t in nest.flatten(outputs)]
        next_state = _tensors(next_state)
        if impute:
            flat = [_where(finished, zero, t) for zero, t in zip(zeros, flat, strict=True)]
            next_state = nest.map_structure(_Keep(finished), state, next_state)
        arrays = [ta.write(time, t) for ta, t in zip(arrays, flat, strict=True)]
        return time + 1, next_finished, _tensors(next_inputs), next_state, lengths, arrays

    start = (convert_to_tensor(0, int32), finished, inputs, state, lengths, arrays)
    time, _, _, state, lengths, arrays = while_loop(goes_on, body, start, maximum_iterations=limit)
    return [ta.stack() for ta in arrays], state, lengths, time


def _all_axes(t: Any) -> Any:
    return np.arange(t.shape.rank or 0, dtype=np.int32)


def _known(batch_size: Any) -> Any:
    if not hasattr(batch_size, "dtype") or isinstance(batch_size, np.integer):
        return int(batch_size)
    known = constant_value(batch_size)
    return batch_size if known is None else int(known)


def _where(finished: Any, a: Any, b: Any) -> Any:
    """Returns rows of `a` where finished, else of `b`; scalars and arrays always from `b`."""
    if _is_array(a) or a.shape.rank == 0:
        return b
    extra = (a.shape.rank or 0) - (finished.shape.rank or 0)
    condition = finished
    for _ in range(extra):
        condition = raw.ExpandDims(condition, -1)
    kept = raw.SelectV2(condition, a, b)
    kept.set_shape(b.shape)
    return kept


class _Keep:
    """A function that keeps states where a sequence is finished."""

    def __init__(self, finished: Any):
        self.finished = finished

    def __call__(self, old: Any, new: Any) -> Any:
        return _where(self.finished, old, new)


def _batch_first(t: Any) -> Any:
    if _is_array(t) or t.shape.rank is None or t.shape.rank < 2:
        return t
    return raw.Transpose(t, np.array([1, 0, *range(2, t.shape.rank)], np.int32))
