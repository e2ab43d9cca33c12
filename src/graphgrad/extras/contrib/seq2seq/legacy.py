"""`tf.contrib.legacy_seq2seq`: encoders and decoders on lists of tensors, one for each time step.

Reference: `tf.contrib.legacy_seq2seq` of TensorFlow 1.15; Bahdanau et al., 2014, for attention.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.frontend.control_flow.cond_while import cond_v1 as cond
from graphgrad.frontend.rnn.rnn_cells import RNNCell
from graphgrad.frontend.rnn.static_rnn import static_rnn
from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.initializers import Zeros
from graphgrad.frontend.variables.variable_scope import get_variable, get_variable_scope, variable_scope
from graphgrad.ir import dtypes
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.array.concat_stack import concat_v1 as concat
from graphgrad.ops.array.reshape import reshape, shape
from graphgrad.ops.linalg.matmul import matmul
from graphgrad.ops.math.argmax import argmax_v1 as argmax
from graphgrad.ops.math.reduce_functions import reduce_sum
from graphgrad.ops.nn.conv.conv_functions import conv2d_v1 as conv2d
from graphgrad.ops.nn.cross_entropy import (
    sparse_softmax_cross_entropy_with_logits_v1 as sparse_softmax_cross_entropy_with_logits,
)
from graphgrad.ops.nn.embedding import embedding_lookup_v1 as embedding_lookup


def _linear(args: Any, size: int, bias: bool = True) -> Any:
    """Computes args times a matrix `kernel`, plus `bias`, in the current variable scope."""
    args = list(args) if isinstance(args, (list, tuple)) else [args]
    x = args[0] if len(args) == 1 else concat(args, 1)
    kernel = get_variable("kernel", [sum(int(a.shape[1]) for a in args), size], dtype=x.dtype)
    y = matmul(x, kernel)
    return y + get_variable("bias", [size], dtype=x.dtype, initializer=Zeros()) if bias else y


class _Projected(RNNCell):
    """A cell whose output is multiplied by a matrix."""

    def __init__(self, cell: Any, output_size: int):
        super().__init__()
        self._cell, self._size = cell, output_size

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Makes a state of zeros."""
        return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        output, state = self._cell(inputs, state)
        with variable_scope("output_projection_wrapper"):
            return _linear(output, self._size), state


def _encode(cell: Any, encoder_inputs: Sequence[Any], symbols: int, size: int, dtype: Any) -> Any:
    """Runs a cell over embedded symbols; returns its outputs and its last state."""
    with variable_scope("rnn"):
        with variable_scope("embedding_wrapper"):
            embedding = get_variable("embedding", [symbols, size], dtype=dtype)
    vectors = [embedding_lookup(embedding, reshape(i, [-1])) for i in encoder_inputs]
    return static_rnn(copy.deepcopy(cell), vectors, dtype=dtype)


def rnn_decoder(decoder_inputs: Sequence[Any], initial_state: Any, cell: Any, loop_function: Any = None,
                scope: Any = None) -> tuple[list[Tensor], Any]:
    """Runs a cell over inputs; from the second step on, a function of the last output may give the input.

    Args:
      decoder_inputs: a list of (batch, input size) tensors.
      initial_state: the first state.
      cell: an `RNNCell`.
      loop_function: (output, step) -> the next input, or None.
      scope: a variable scope; 'rnn_decoder' by default.
    Returns: (list of outputs, last state).
    """
    with variable_scope(scope or "rnn_decoder"):
        state, outputs, last = initial_state, [], None
        for i, inp in enumerate(decoder_inputs):
            if loop_function is not None and last is not None:
                with variable_scope("loop_function", reuse=True):
                    inp = loop_function(last, i)
            if i > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(inp, state)
            outputs.append(output)
            if loop_function is not None:
                last = output
    return outputs, state


def basic_rnn_seq2seq(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any,
                      dtype: Any = dtypes.float32, scope: Any = None) -> tuple[list[Tensor], Any]:
    """Builds an encoder and a decoder that starts from its last state; each has its own weights.

    Args:
      encoder_inputs, decoder_inputs: lists of (batch, input size) tensors.
      cell: an `RNNCell`.
      dtype: of the first state.
      scope: a variable scope.
    Returns: (list of outputs, last state).
    """
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any, loop_function: Any = None,
                     dtype: Any = dtypes.float32, scope: Any = None) -> tuple[list[Tensor], Any]:
    """Builds an encoder and a decoder that share weights.

    Args:
      encoder_inputs, decoder_inputs, cell, dtype: as for `basic_rnn_seq2seq`.
      loop_function: as for `rnn_decoder`.
      scope: a variable scope.
    Returns: (list of outputs, last state).
    """
    with variable_scope("combined_tied_rnn_seq2seq"):
        name = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=name)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, scope=name)


def _feeding_previous(embedding: Any, output_projection: Any, update_embedding: bool) -> Callable[[Any, Any], Any]:
    """Embeds the most likely symbol of the last output."""

    def next_input(last: Any, _: Any) -> Any:
        if output_projection is not None:
            last = matmul(last, output_projection[0]) + output_projection[1]
        vector = embedding_lookup(embedding, argmax(last, 1))
        return vector if update_embedding else raw.StopGradient(vector)

    return next_input


def _either(feed_previous: Any, decode: Callable[[bool], Any]) -> Any:
    """Builds a decoder; if a tensor decides whether it is fed its own outputs, both kinds, and selects."""
    if isinstance(feed_previous, bool):
        return decode(feed_previous)
    structure: list[Any] = []

    def branch(previous: bool) -> list[Any]:
        reuse = None if previous else True
        with variable_scope(get_variable_scope(), reuse=reuse):
            outputs, state = decode(previous)
        structure[:] = [len(outputs), state]
        return [*outputs, *nest.flatten(state)]

    def fed() -> list[Any]:
        return branch(True)

    def given() -> list[Any]:
        return branch(False)

    both = cond(feed_previous, fed, given)
    n, state = structure
    return list(both[:n]), nest.pack_sequence_as(state, list(both[n:]))


def embedding_rnn_decoder(decoder_inputs: Sequence[Any], initial_state: Any, cell: Any, num_symbols: int,
                          embedding_size: int, output_projection: Any = None, feed_previous: bool = False,
                          update_embedding_for_previous: bool = True, scope: Any = None) -> tuple[list[Tensor], Any]:
    """Builds an `rnn_decoder` over symbols, through an embedding.

    Args:
      decoder_inputs: a list of (batch,) int32 tensors.
      initial_state, cell, scope: as for `rnn_decoder`.
      num_symbols, embedding_size: the shape of the embedding.
      output_projection: (weights, biases) from outputs to logits of symbols.
      feed_previous: whether the decoder gets its own outputs as inputs, after the first.
      update_embedding_for_previous: whether gradients go through them.
    Returns: (list of outputs, last state).
    """
    with variable_scope(scope or "embedding_rnn_decoder"):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop = _feeding_previous(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        vectors = [embedding_lookup(embedding, i) for i in decoder_inputs]
        return rnn_decoder(vectors, initial_state, cell, loop)


def embedding_rnn_seq2seq(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any,
                          num_encoder_symbols: int, num_decoder_symbols: int, embedding_size: int,
                          output_projection: Any = None, feed_previous: Any = False, dtype: Any = None,
                          scope: Any = None) -> tuple[list[Tensor], Any]:
    """Builds an encoder and a decoder of symbols.

    Args:
      encoder_inputs, decoder_inputs: lists of (batch,) int32 tensors.
      cell: an `RNNCell`.
      num_encoder_symbols, num_decoder_symbols, embedding_size: the embeddings' shapes.
      output_projection, feed_previous: as for `embedding_rnn_decoder`; feed_previous may be a bool tensor.
      dtype: of the first state; float32 by default.
      scope: a variable scope.
    Returns: (list of outputs, last state).
    """
    with variable_scope(scope or "embedding_rnn_seq2seq"):
        _, state = _encode(cell, encoder_inputs, num_encoder_symbols, embedding_size, dtype or dtypes.float32)
        if output_projection is None:
            cell = _Projected(cell, num_decoder_symbols)

        def decode(previous: bool) -> Any:
            return embedding_rnn_decoder(decoder_inputs, state, cell, num_decoder_symbols, embedding_size,
                                         output_projection, previous)

        return _either(feed_previous, decode)


def _check_attention(inputs: Any, heads: int, states: Any) -> None:
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"decoder_inputs must be a list of tensors, not {type(inputs).__name__}. "
                        "Fix: tf.unstack it along the time")
    if not inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if len(states.shape) != 3:
        raise ValueError(f"attention_states must have rank 3, not the shape {states.shape}. "
                         "Fix: give (batch, length, size)")
    if states.shape[2] is None or int(states.shape[2] or 0) == 0:
        raise ValueError(f"Shape[2] of attention_states must be known: {states.get_shape()}")


def attention_decoder(decoder_inputs: Sequence[Any], initial_state: Any, attention_states: Any, cell: Any,
                      output_size: int | None = None, num_heads: int = 1, loop_function: Any = None,
                      dtype: Any = None, scope: Any = None,
                      initial_state_attention: bool = False) -> tuple[list[Tensor], Any]:
    """Builds an `rnn_decoder` that attends to other states at each step.

    Args:
      decoder_inputs, initial_state, cell, loop_function: as for `rnn_decoder`.
      attention_states: (batch, length, size), the states to attend to.
      output_size: of the outputs; the cell's by default.
      num_heads: the number of attention heads.
      dtype: accepted.
      scope: a variable scope; 'attention_decoder' by default.
      initial_state_attention: whether attention starts from `initial_state`, not from zeros.
    Returns: (list of outputs, last state).
    Raises: ValueError without inputs, heads, or static sizes.
    """
    _check_attention(decoder_inputs, num_heads, attention_states)
    output_size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder"):
        batch = shape(decoder_inputs[0])[0]
        size = int(attention_states.shape[2])
        static = attention_states.get_shape().as_list()[1]
        length: Any = static if static is not None else shape(attention_states)[1]
        hidden = reshape(attention_states, [-1, length, 1, size])
        keys, weights = [], []
        for a in range(num_heads):
            kernel = get_variable(f"AttnW_{a}", [1, 1, size, size])
            keys.append(conv2d(hidden, kernel, [1, 1, 1, 1], "SAME"))
            weights.append(get_variable(f"AttnV_{a}", [size]))

        def attention(query: Any) -> list[Any]:
            parts = nest.flatten(query)
            joined = parts[0] if len(parts) == 1 else concat(parts, 1)
            looks = []
            for a in range(num_heads):
                with variable_scope(f"Attention_{a}"):
                    y = reshape(_linear(joined, size), [-1, 1, 1, size])
                    scores = reduce_sum(weights[a] * raw.Tanh(keys[a] + y), [2, 3])
                    share = reshape(raw.Softmax(scores), [-1, length, 1, 1])
                    looks.append(reshape(reduce_sum(share * hidden, [1, 2]), [-1, size]))
            return looks

        state, outputs, last = initial_state, [], None
        none = raw.Fill(convert_to_tensor([batch, size]), convert_to_tensor(0.0, attention_states.dtype))
        looks = []
        for _ in range(num_heads):
            look = raw.Identity(none)
            look.set_shape([None, size])
            looks.append(look)
        if initial_state_attention:
            looks = attention(initial_state)
        for i, inp in enumerate(decoder_inputs):
            if i > 0:
                get_variable_scope().reuse_variables()
            if loop_function is not None and last is not None:
                with variable_scope("loop_function", reuse=True):
                    inp = loop_function(last, i)
            x = _linear([inp, *looks], int(inp.shape[1]))
            cell_output, state = cell(x, state)
            if i == 0 and initial_state_attention:
                with variable_scope(get_variable_scope(), reuse=True):
                    looks = attention(state)
            else:
                looks = attention(state)
            with variable_scope("AttnOutputProjection"):
                output = _linear([cell_output, *looks], output_size)
            if loop_function is not None:
                last = output
            outputs.append(output)
    return outputs, state


def embedding_attention_decoder(decoder_inputs: Sequence[Any], initial_state: Any, attention_states: Any, cell: Any,
                                num_symbols: int, embedding_size: int, num_heads: int = 1,
                                output_size: int | None = None, output_projection: Any = None,
                                feed_previous: bool = False, update_embedding_for_previous: bool = True,
                                dtype: Any = None, scope: Any = None,
                                initial_state_attention: bool = False) -> tuple[list[Tensor], Any]:
    """Builds an `attention_decoder` over symbols, through an embedding.

    Args:
      decoder_inputs: a list of (batch,) int32 tensors.
      initial_state, attention_states, cell, num_heads, output_size, dtype, scope, initial_state_attention: as for
        `attention_decoder`.
      num_symbols, embedding_size, output_projection, feed_previous, update_embedding_for_previous: as for
        `embedding_rnn_decoder`.
    Returns: (list of outputs, last state).
    """
    with variable_scope(scope or "embedding_attention_decoder"):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop = _feeding_previous(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        vectors = [embedding_lookup(embedding, i) for i in decoder_inputs]
        return attention_decoder(vectors, initial_state, attention_states, cell, output_size, num_heads, loop,
                                 initial_state_attention=initial_state_attention)


def embedding_attention_seq2seq(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any,
                                num_encoder_symbols: int, num_decoder_symbols: int, embedding_size: int,
                                num_heads: int = 1, output_projection: Any = None, feed_previous: Any = False,
                                dtype: Any = None, scope: Any = None,
                                initial_state_attention: bool = False) -> tuple[list[Tensor], Any]:
    """Builds an encoder of symbols, and a decoder that attends to its outputs.

    Args:
      encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols, embedding_size,
        output_projection, feed_previous, dtype, scope: as for `embedding_rnn_seq2seq`.
      num_heads, initial_state_attention: as for `attention_decoder`.
    Returns: (list of outputs, last state).
    """
    with variable_scope(scope or "embedding_attention_seq2seq"):
        outputs, state = _encode(cell, encoder_inputs, num_encoder_symbols, embedding_size, dtype or dtypes.float32)
        states = concat([reshape(o, [-1, 1, cell.output_size]) for o in outputs], 1)
        output_size = None
        if output_projection is None:
            cell = _Projected(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(previous: bool) -> Any:
            return embedding_attention_decoder(decoder_inputs, state, states, cell, num_decoder_symbols, embedding_size,
                                               num_heads, output_size, output_projection, previous,
                                               initial_state_attention=initial_state_attention)

        return _either(feed_previous, decode)


# -- losses ------------------------------------------------------------------------------


def sequence_loss_by_example(logits: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any],
                             average_across_timesteps: bool = True, softmax_loss_function: Any = None,
                             name: str | None = None) -> Tensor:
    """Computes the weighted cross entropy of a sequence of logits, for each example.

    Args:
      logits: a list of (batch, classes) tensors.
      targets: a list of (batch,) int32 tensors.
      weights: a list of (batch,) float tensors.
      average_across_timesteps: whether to divide by the sum of the weights.
      softmax_loss_function: (labels, logits) -> losses, in place of cross entropy.
      name: a name for the operations.
    Returns: (batch,).
    Raises: ValueError for lists of different lengths.

    >>> from graphgrad.extras.contrib.seq2seq.legacy import sequence_loss_by_example
    >>> logits = [tf.zeros([2, 4])] * 3
    >>> sess.run(sequence_loss_by_example(logits, [tf.zeros([2], tf.int32)] * 3, [tf.ones([2])] * 3))
    array([1.3862944, 1.3862944], dtype=float32)
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, "
                         f"{len(targets)}.")
    with name_scope(name or "sequence_loss_by_example"):
        total: Any = None
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                target = reshape(target, [-1])
                loss = sparse_softmax_cross_entropy_with_logits(labels=target, logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            total = loss * weight if total is None else total + loss * weight
        if average_across_timesteps:
            size = weights[0]
            for weight in weights[1:]:
                size = size + weight
            total = total / (size + 1e-12)  # all weights may be zero
    return total


def sequence_loss(logits: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any],
                  average_across_timesteps: bool = True, average_across_batch: bool = True,
                  softmax_loss_function: Any = None, name: str | None = None) -> Tensor:
    """Computes the weighted cross entropy of a sequence of logits, summed over the batch.

    Args:
      logits, targets, weights, average_across_timesteps, softmax_loss_function: as for `sequence_loss_by_example`.
      average_across_batch: whether to divide by the size of the batch.
      name: a name for the operations.
    Returns: a scalar.
    """
    with name_scope(name or "sequence_loss"):
        cost = reduce_sum(sequence_loss_by_example(logits, targets, weights, average_across_timesteps,
                                                   softmax_loss_function))
        if average_across_batch:
            cost = cost / raw.Cast(shape(targets[0])[0], DstT=cost.dtype)
    return cost


def model_with_buckets(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], targets: Sequence[Any],
                       weights: Sequence[Any], buckets: Sequence[Any], seq2seq: Callable[..., Any],
                       softmax_loss_function: Any = None, per_example_loss: bool = False,
                       name: str | None = None) -> tuple[list[list[Tensor]], list[Tensor]]:
    """Builds one model for sequences of several lengths; all share their variables.

    Args:
      encoder_inputs, decoder_inputs, targets, weights: lists as long as the longest bucket.
      buckets: a list of (length of the input, length of the output).
      seq2seq: (encoder inputs, decoder inputs) -> (outputs, state).
      softmax_loss_function: as for `sequence_loss`.
      per_example_loss: whether losses are (batch,).
      name: a name for the operations.
    Returns: (list of lists of outputs, list of losses), one for each bucket.
    Raises: ValueError for a list that is shorter than the last bucket.
    """
    if not buckets or not all(isinstance(b, (list, tuple)) and len(b) == 2 for b in buckets):
        raise ValueError(f"buckets must be pairs of lengths, not {buckets!r}. Fix: give [(5, 10), (10, 15)]")
    for what, given, needed in (("encoder_inputs", encoder_inputs, buckets[-1][0]),
                                ("targets", targets, buckets[-1][1]),
                                ("weights", weights, buckets[-1][1])):
        if len(given) < needed:
            raise ValueError(f"Length of {what} ({len(given)}) must be at least that of last bucket ({needed}).")
    losses, outputs = [], []
    loss = sequence_loss_by_example if per_example_loss else sequence_loss
    with name_scope(name or "model_with_buckets"):
        for i, (n, m) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if i > 0 else None):
                found, _ = seq2seq(list(encoder_inputs[:n]), list(decoder_inputs[:m]))
                outputs.append(found)
                losses.append(loss(found, targets[:m], weights[:m], softmax_loss_function=softmax_loss_function))
    return outputs, losses
