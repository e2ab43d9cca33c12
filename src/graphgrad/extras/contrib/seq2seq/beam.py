"""Beam search of `tf.contrib.seq2seq`."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.rnn.rnn_cells import assert_like_rnn_cell
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.tensor_array import TensorArray
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.array.mask import sequence_mask
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.math.cumulative import cumsum

from .attention_wrapper import AttentionWrapperState
from .decoder import Decoder
from .decoding_helpers import _embedding_function, _rows, _tokens


class BeamSearchDecoderState(collections.namedtuple("BeamSearchDecoderState", (
        "cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"))):
    """The state of a `BeamSearchDecoder`: for each beam the cell's state, (batch, beam, ...), score, and length."""

    __slots__ = ()


class BeamSearchDecoderOutput(collections.namedtuple("BeamSearchDecoderOutput",
                                                     ("scores", "predicted_ids", "parent_ids"))):
    """A step of beam search, each (batch, beam): scores, symbols, and the beams that they continue."""

    __slots__ = ()


class FinalBeamSearchDecoderOutput(collections.namedtuple("FinalBeamSearchDecoderOutput",
                                                          ("predicted_ids", "beam_search_decoder_output"))):
    """The result of beam search: sequences, (batch, time, beam), the best first, and their steps."""

    __slots__ = ()


class BeamSearchDecoder(Decoder):
    """A decoder that keeps the best `beam_width` sequences at each step.

    Args:
      cell: the cell; if it attends to a memory, that has to be tiled with `tile_batch`, as its first state.
      embedding: a function of ids, or the parameters of `tf.nn.embedding_lookup`.
      start_tokens: (batch,) of int32: the first symbols of sequences.
      end_token: a scalar int32, which ends them.
      initial_state: the cell's first state, (batch * beam_width, ...).
      beam_width: the number of sequences that are kept.
      output_layer: a layer from the cell's outputs to logits, or None.
      length_penalty_weight: scores are log-probabilities divided by ((5 + length) / 6) to this power.
      coverage_penalty_weight: the weight of the penalty for parts of the memory without attention.
      reorder_tensor_arrays: whether arrays in the last state, such as `alignment_history`, follow the sequences.
    Raises: ValueError for other shapes; TypeError if the layer is not a layer.
    Reference: Wu et al. 2016, Google's Neural Machine Translation System; TensorFlow 1.15
      `tf.contrib.seq2seq.BeamSearchDecoder`.

    >>> from graphgrad.compat.contrib import seq2seq
    >>> cell = tf.nn.rnn_cell.BasicRNNCell(5)
    >>> state = seq2seq.tile_batch(cell.zero_state(2, tf.float32), multiplier=3)
    >>> decoder = seq2seq.BeamSearchDecoder(cell, tf.eye(5), [1, 1], 4, state, beam_width=3)
    >>> outputs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=6)
    >>> outputs.predicted_ids.shape.as_list(), lengths.shape.as_list()
    ([2, None, 3], [2, 3])
    """

    def __init__(self, cell: Any, embedding: Any, start_tokens: Any, end_token: Any, initial_state: Any,
                 beam_width: int, output_layer: Any = None, length_penalty_weight: Any = 0.0,
                 coverage_penalty_weight: float = 0.0, reorder_tensor_arrays: bool = True):
        assert_like_rnn_cell("cell", cell)
        if output_layer is not None and not callable(output_layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}\n"
                            f"  Asked for at {user_source(2)}\n  Fix: pass e.g. tf.layers.Dense(10)")
        self._cell = cell
        self._output_layer = output_layer
        self._reorder = reorder_tensor_arrays
        self._embedding_fn = _embedding_function(embedding)
        self._start_tokens, self._end_token = _tokens(start_tokens, end_token)
        known = constant_value(beam_width) if hasattr(beam_width, "op") else beam_width
        if known is None:
            raise ValueError(f"beam_width must be known while building\n  Asked for at {user_source(2)}\n"
                             "  Fix: give an int")
        self._beam_width = int(known)
        self._length_penalty = length_penalty_weight
        self._coverage_penalty = coverage_penalty_weight
        self._batch_size = _rows(self._start_tokens)
        self._initial_state = nest.map_structure(self._split_if_rows, initial_state)
        self._dtype = nest.flatten(initial_state)[0].dtype
        tiled = raw.Tile(raw.ExpandDims(self._start_tokens, 1), [1, self._beam_width])
        self._start_inputs = self._embedding_fn(tiled)

    # -- beams as an axis, and as rows of the batch --------------------------------------------

    def _split(self, t: Any) -> Any:
        """Reshapes (batch * beam, ...) to (batch, beam, ...)."""
        dims = t.shape.as_list()
        batch = self._batch_size
        if dims[0] is not None and isinstance(batch, int) and dims[0] != batch * self._beam_width:
            raise ValueError(f"The first dimension of {t.name} is {dims[0]} instead of {batch} * {self._beam_width}, "
                             f"batch size and beam width.\n  Asked for at {user_source(4)}\n"
                             "  Fix: tf.contrib.seq2seq.tile_batch(state, multiplier=beam_width)")
        rest = shape(t)[1:] if len(dims) > 1 else np.zeros(0, np.int32)
        split = raw.Reshape(t, raw.ConcatV2([raw.Pack([convert_to_tensor(batch, int32), self._beam_width]), rest], 0))
        split.set_shape([batch if isinstance(batch, int) else None, self._beam_width, *dims[1:]])
        return split

    def _split_if_rows(self, t: Any) -> Any:
        if isinstance(t, TensorArray):
            return t
        t = convert_to_tensor(t)
        return self._split(t) if t.shape.rank else t

    def _merge(self, t: Any) -> Any:
        """Reshapes (batch, beam, ...) to (batch * beam, ...)."""
        if isinstance(t, TensorArray) or not t.shape.rank:
            return t
        dims = t.shape.as_list()
        rest = shape(t)[2:] if len(dims) > 2 else np.zeros(0, np.int32)
        merged = raw.Reshape(t, raw.ConcatV2([np.array([-1], np.int32), rest], 0))
        merged.set_shape([None if dims[0] is None else dims[0] * self._beam_width, *dims[2:]])
        return merged

    # -- the interface of decoders -------------------------------------------------------

    @property
    def batch_size(self) -> Any:
        """The size of the batch."""
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """True: a beam may restart, from another one that continues."""
        return True

    @property
    def output_size(self) -> Any:
        """The shapes of a step: one of each for each beam."""
        beams = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(beams, beams, beams)

    @property
    def output_dtype(self) -> Any:
        """The dtypes of a step."""
        return BeamSearchDecoderOutput(self._dtype, int32, int32)

    def initialize(self, name: str | None = None) -> Any:
        """Returns the first arguments, with one beam for each sequence: the others have probability 0."""
        with name_scope(name, "BeamSearchDecoderInitialize"):
            zeros = raw.ZerosLike(raw.Tile(raw.ExpandDims(self._start_tokens, 1), [1, self._beam_width]))
            first = raw.Equal(raw.AddV2(zeros, np.arange(self._beam_width, dtype=np.int32)), 0)
            log_probs = raw.SelectV2(first, convert_to_tensor(0.0, self._dtype),
                                     convert_to_tensor(-np.inf, self._dtype))
            finished = raw.LogicalNot(first)
            accumulated: Any = ()
            if self._coverage_penalty:
                accumulated = raw.ZerosLike(self._attention_of(self._initial_state))
            state = BeamSearchDecoderState(self._initial_state, log_probs, finished, raw.Cast(zeros, DstT=int64),
                                           accumulated)
            return finished, self._start_inputs, state

    def _attention_of(self, cell_state: Any) -> Any:
        if not isinstance(cell_state, AttentionWrapperState):
            raise ValueError("coverage_penalty_weight must be 0.0 if the cell is no AttentionWrapper: it needs "
                             f"alignments.\n  Asked for at {user_source(2)}\n  Fix: leave it out")
        alignments = nest.flatten(cell_state.alignments)
        return alignments[0] if len(alignments) == 1 else raw.ConcatV2(alignments, np.int32(-1))

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Runs the cell for all beams, and selects the best continuations."""
        with name_scope(name, "BeamSearchDecoderStep"):
            outputs, cell_state = self._cell(nest.map_structure(self._merge, inputs),
                                             nest.map_structure(self._merge, state.cell_state))
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            outputs = self._split(outputs)
            cell_state = nest.map_structure(self._split_if_rows, cell_state)
            found, new = self._best(outputs, cell_state, state)
            return found, new, self._embedding_fn(found.predicted_ids), new.finished

    def _best(self, logits: Any, cell_state: Any, state: Any) -> Any:
        classes = logits.shape.as_list()[-1]
        count = shape(logits)[-1] if classes is None else np.int32(classes)
        total = raw.AddV2(raw.ExpandDims(state.log_probs, 2), self._next_log_probs(logits, state.finished, count))
        # A continued sequence grows by one, except by the end token.
        classes_of = raw.Range(np.int32(0), count, np.int32(1))
        grows = raw.LogicalAnd(raw.ExpandDims(raw.LogicalNot(state.finished), 2),
                               raw.NotEqual(classes_of, self._end_token))
        lengths = raw.AddV2(raw.ExpandDims(state.lengths, 2), raw.Cast(grows, DstT=int64))
        accumulated: Any = ()
        scores = total / self._penalty(lengths)
        if self._coverage_penalty:
            accumulated = state.accumulated_attention_probs + self._attention_of(cell_state)
            missed = raw.Sum(raw.Log(raw.Minimum(accumulated, 1.0)), np.array([2], np.int32))
            missed = missed * raw.Cast(state.finished, DstT=missed.dtype) * self._coverage_penalty
            scores = scores + raw.ExpandDims(missed, 2)
        flat = raw.Reshape(scores, raw.Pack([convert_to_tensor(self._batch_size, int32), -1]))
        best, where = raw.TopKV2(flat, np.int32(self._beam_width))
        symbols, parents = raw.FloorMod(where, count), raw.FloorDiv(where, count)
        log_probs = raw.GatherV2(raw.Reshape(total, shape(flat)), where, np.int32(1), batch_dims=1)
        was_finished = raw.GatherV2(state.finished, parents, np.int32(1), batch_dims=1)
        finished = raw.LogicalOr(was_finished, raw.Equal(symbols, self._end_token))
        new_lengths = raw.GatherV2(state.lengths, parents, np.int32(1), batch_dims=1)
        new_lengths = raw.AddV2(new_lengths, raw.Cast(raw.LogicalNot(was_finished), DstT=int64))
        follow = _Follow(parents)
        if self._coverage_penalty:
            accumulated = follow(accumulated)
        static = [self._batch_size if isinstance(self._batch_size, int) else None, self._beam_width]
        for t in (best, symbols, parents, log_probs, finished, new_lengths):
            t.set_shape(static)
        new = BeamSearchDecoderState(nest.map_structure(follow, cell_state), log_probs, finished, new_lengths,
                                     accumulated)
        return BeamSearchDecoderOutput(best, symbols, parents), new

    def _next_log_probs(self, logits: Any, finished: Any, count: Any) -> Any:
        """Returns the score of each symbol: a finished sequence can only continue with the end token, at no cost."""
        rows = raw.Reshape(logits, raw.Pack([np.int32(-1), count]))
        added = raw.Reshape(raw.LogSoftmax(rows), shape(logits))
        lowest = np.finfo(added.dtype.np_dtype).min
        end = raw.OneHot(self._end_token, count, convert_to_tensor(0.0, added.dtype),
                         convert_to_tensor(lowest, added.dtype))
        return raw.SelectV2(raw.ExpandDims(finished, 2), end, added)

    def _penalty(self, lengths: Any) -> Any:
        weight = constant_value(self._length_penalty) if hasattr(self._length_penalty, "op") else self._length_penalty
        if weight is not None and float(weight) == 0.0:
            return convert_to_tensor(1.0, self._dtype)
        power = convert_to_tensor(self._length_penalty, self._dtype)
        return raw.Pow((5.0 + raw.Cast(lengths, DstT=self._dtype)) / 6.0, power)

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Traces the beams back from the end."""
        longest = raw.Cast(raw.Max(final_state.lengths, np.array([1], np.int32)), DstT=int32)
        predicted = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder:
            reorder = _Reorder(self, outputs.parent_ids, final_state.lengths)
            final_state = final_state._replace(cell_state=nest.map_structure(reorder, final_state.cell_state))
        return FinalBeamSearchDecoderOutput(predicted, outputs), final_state


class _Follow:
    """The rows of the beams that sequences continue."""

    def __init__(self, parents: Any):
        self.parents = parents

    def __call__(self, t: Any) -> Any:
        if isinstance(t, TensorArray) or (t.shape.rank or 0) < 2:
            return t
        followed = raw.GatherV2(t, self.parents, np.int32(1), batch_dims=1)
        followed.set_shape(t.shape)
        return followed


class _Reorder:
    """Arrays of (batch * beam, ...) for each step, reordered as the final sequences."""

    def __init__(self, decoder: BeamSearchDecoder, parents: Any, lengths: Any):
        self.decoder = decoder
        self.parents = parents
        self.lengths = lengths

    def __call__(self, array: Any) -> Any:
        if not isinstance(array, TensorArray) or not array.element_shape.rank:
            return array
        beams = self.decoder._beam_width
        own = raw.AddV2(raw.ZerosLike(self.parents), np.arange(beams, dtype=np.int32))
        longest = raw.Cast(raw.Max(self.lengths, np.array([1], np.int32)), DstT=int32)
        order = gather_tree(own, self.parents, longest, np.int32(beams + 1))
        inside = raw.Transpose(sequence_mask(self.lengths, shape(self.parents)[0]), np.array([2, 0, 1], np.int32))
        order = raw.SelectV2(inside, order, own)
        steps = array.stack()
        lead = raw.ConcatV2([shape(self.parents), shape(steps)[2:]], 0)
        ordered = raw.GatherV2(raw.Reshape(steps, lead), order, np.int32(2), batch_dims=2)
        return TensorArray(array.dtype, 0, dynamic_size=True).unstack(raw.Reshape(ordered, shape(steps)))


def gather_tree(step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any,
                name: str | None = None) -> Tensor:
    """Assembles whole sequences from the steps of a beam search, from the end backwards.

    Args:
      step_ids: (time, batch, beam) of int32: the symbols.
      parent_ids: (time, batch, beam) of int32: the beam of the previous step that each one comes from.
      max_sequence_lengths: (batch,) of int32: the last step of each sequence.
      end_token: a scalar int32, which fills everything after its first occurrence.
      name: a name for the operations.
    Returns: (time, batch, beam) of int32.
    Reference: TensorFlow 1.15 GatherTree.

    >>> from graphgrad.compat.contrib import seq2seq
    >>> ids, parents = [[[1, 2]], [[3, 4]], [[5, 9]]], [[[0, 0]], [[1, 0]], [[0, 1]]]
    >>> sess.run(seq2seq.gather_tree(ids, parents, [3], 9))[:, 0].T
    array([[2, 3, 5], [1, 4, 9]], dtype=int32)
    """
    with name_scope(name, "GatherTree"):
        steps, parents, end = (convert_to_tensor(t, int32) for t in (step_ids, parent_ids, end_token))
        longest = raw.ExpandDims(convert_to_tensor(max_sequence_lengths, int32), 1)
        times = steps.shape.as_list()[0]
        count = shape(steps)[0] if times is None else np.int32(times)
        beams = raw.AddV2(raw.ZerosLike(parents[0] if times else raw.Sum(parents, np.array([0], np.int32))),
                          raw.Range(np.int32(0), shape(steps)[2], np.int32(1)))
        array = TensorArray(int32, count, element_shape=steps.shape[1:])

        def body(time: Any, at: Any, array: Any) -> Any:
            inside = raw.Less(time, longest)
            chosen = raw.GatherV2(raw.GatherV2(steps, time, np.int32(0)), at, np.int32(1), batch_dims=1)
            before = raw.GatherV2(raw.GatherV2(parents, time, np.int32(0)), at, np.int32(1), batch_dims=1)
            array = array.write(time, raw.SelectV2(inside, chosen, end))
            kept = raw.SelectV2(inside, before, at)
            kept.set_shape(at.shape)
            return time - 1, kept, array

        start = (raw.Sub(count, np.int32(1)), beams, array)
        _, _, array = while_loop(_not_below_zero, body, start, maximum_iterations=times)
        found = array.stack()
        ended = cumsum(raw.Cast(raw.Equal(found, end), DstT=int32), 0, exclusive=True)
        return raw.SelectV2(raw.Greater(ended, 0), end, found)


def _not_below_zero(time: Any, *_: Any) -> Any:
    return raw.GreaterEqual(time, np.int32(0))
