"""Decoders defined by functions, of `tf.contrib.seq2seq` in TensorFlow 1.0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.extras.contrib.layers.contrib_layers import linear
from graphgrad.frontend.rnn.dynamic_rnn import raw_rnn
from graphgrad.frontend.rnn.lstm_cells import LSTMStateTuple
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.tensor_array import TensorArray
from graphgrad.frontend.variables.variable_scope import get_variable, variable_scope
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, bool_, float32, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.nn.embedding import embedding_lookup_v1 as embedding_lookup

from .decoding_helpers import _rows, _time_first


def dynamic_rnn_decoder(cell: Any, decoder_fn: Any, inputs: Any = None, sequence_length: Any = None,
                        parallel_iterations: Any = None, swap_memory: bool = False, time_major: bool = False,
                        scope: Any = None, name: str | None = None) -> tuple[Tensor, Any, Any]:
    """Runs a cell under control of a function: with given inputs to train, with its own outputs to infer.

    Args:
      cell: the cell.
      decoder_fn: a function of (time, cell_state, cell_input, cell_output, context_state) that gives (done, state,
        next input, output, context_state), such as `simple_decoder_fn_train` makes. Before the first step all but
        time are None (except the input, if there are inputs).
      inputs: (batch, time, ...), or (time, batch, ...) if `time_major`; None to infer.
      sequence_length: (batch,) of int32, for inputs.
      parallel_iterations, swap_memory: accepted as TensorFlow does.
      time_major: whether time is the first axis of inputs and outputs.
      scope: the variable scope; "rnn" by default.
      name: a name for the operations.
    Returns: outputs (batch, time, ...), zeros beyond a sequence's end; the last state; the last context state.
    Raises: ValueError for inputs of lower rank than 3, or if the function does not return what is done.
    Gradient: with respect to inputs, first state and variables.
    Reference: TensorFlow 1.0 `tf.contrib.seq2seq.dynamic_rnn_decoder`.
    """
    with name_scope(name, "dynamic_rnn_decoder"):
        source: Any = None
        if inputs is not None:
            inputs = convert_to_tensor(inputs)
            if inputs.shape.rank is not None and not 2 <= inputs.shape.rank <= 3:
                raise ValueError(f"Inputs must have at least two dimensions, not shape {inputs.shape}\n"
                                 f"  Asked for at {user_source(2)}\n  Fix: give (batch, time, size)")
            source = inputs if time_major else _time_first(inputs)
            steps = source.shape.as_list()[0]
            steps = raw.Shape(source)[0] if steps is None else np.int32(steps)
            read = TensorArray(source.dtype, steps, element_shape=source.shape[1:]).unstack(source)
            if sequence_length is not None:
                sequence_length = convert_to_tensor(sequence_length, int32)

        def input_at(time: Any) -> Any:
            # The loop calls the function once more after the last step, and ignores the result.
            return read.read(raw.Minimum(time, raw.Sub(steps, 1)))

        def loop_fn(time: Any, cell_output: Any, cell_state: Any, loop_state: Any) -> Any:
            given = None if source is None else input_at(time)
            context = loop_state
            done, state, following, emitted, context = decoder_fn(time, cell_state, given, cell_output, context)
            if done is None:
                if source is None:
                    raise ValueError("decoder_fn has to say which sequences are done if there are no inputs.\n"
                                     f"  Asked for at {user_source(2)}\n  Fix: return a boolean vector first")
                lengths = sequence_length
                if lengths is None:
                    lengths = raw.Fill(raw.ExpandDims(_as_tensor(_rows(source[0])), 0), steps)
                done = raw.GreaterEqual(time, lengths)
            return done, following, state, emitted, context

        outputs, state, context = raw_rnn(cell, loop_fn, scope=scope)
        stacked = nest.map_structure(_stacked, outputs)
        if not time_major:
            stacked = nest.map_structure(_time_first, stacked)
        return stacked, state, context


def _as_tensor(n: Any) -> Any:
    return convert_to_tensor(n, int32)


def _stacked(array: Any) -> Any:
    return array.stack()


def simple_decoder_fn_train(encoder_state: Any, name: str | None = None) -> Callable[..., tuple[Any, ...]]:
    """Makes a function for `dynamic_rnn_decoder` that uses the given inputs and the cell's outputs.

    Args:
      encoder_state: the first state.
      name: accepted.
    Reference: TensorFlow 1.0 `tf.contrib.seq2seq.simple_decoder_fn_train`.
    """

    def decoder_fn(time: Any, cell_state: Any, cell_input: Any, cell_output: Any, context_state: Any) -> Any:
        state = encoder_state if cell_state is None else cell_state
        return None, state, cell_input, cell_output, context_state

    return decoder_fn


class _Greedy:
    """Greedy inference: symbols of outputs, their embeddings, and when to stop."""

    def __init__(self, output_fn: Any, encoder_state: Any, embeddings: Any, start: Any, end: Any, longest: Any,
                 symbols: Any, dtype: Any):
        self.dtype = as_dtype(dtype)
        self.output_fn = output_fn or _same
        self.state = encoder_state
        self.embeddings = embeddings
        self.start, self.end, self.longest = (convert_to_tensor(v, self.dtype) for v in (start, end, longest))
        self.symbols = symbols
        first = nest.flatten(encoder_state)[0]
        self.batch = raw.ExpandDims(_as_tensor(_rows(first)), 0)

    def begin(self) -> Any:
        """Returns (done, input, a tensor of the outputs' shape) of the first step."""
        ids = raw.Fill(self.batch, self.start)
        shown = raw.Fill(raw.ExpandDims(_as_tensor(self.symbols), 0), convert_to_tensor(0.0, float32))
        return raw.Fill(self.batch, convert_to_tensor(False, bool_)), embedding_lookup(self.embeddings, ids), shown

    def go_on(self, logits: Any) -> Any:
        """Returns (done, next input)."""
        ids = raw.ArgMax(logits, np.int32(1), output_type=self.dtype)
        return raw.Equal(ids, self.end), embedding_lookup(self.embeddings, ids)

    def done(self, time: Any, done: Any) -> Any:
        """Returns which sequences are done: all, once the maximum length is exceeded."""
        return raw.LogicalOr(done, raw.Greater(raw.Cast(time, DstT=self.dtype), self.longest))


def _same(x: Any) -> Any:
    return x


def simple_decoder_fn_inference(output_fn: Any, encoder_state: Any, embeddings: Any, start_of_sequence_id: Any,
                                end_of_sequence_id: Any, maximum_length: Any, num_decoder_symbols: Any,
                                dtype: Any = int32, name: str | None = None) -> Callable[..., tuple[Any, ...]]:
    """Makes a function for `dynamic_rnn_decoder` that feeds back the most likely symbol of each step.

    Args:
      output_fn: a function of the cell's output that gives logits; None if it is logits.
      encoder_state: the first state.
      embeddings: (symbols, size), the inputs for each symbol.
      start_of_sequence_id, end_of_sequence_id: the symbols with which sequences begin and end.
      maximum_length: the greatest length of sequences.
      num_decoder_symbols: the number of symbols.
      dtype: the dtype of symbols.
      name: accepted.
    Reference: TensorFlow 1.0 `tf.contrib.seq2seq.simple_decoder_fn_inference`.
    """
    greedy = _Greedy(output_fn, encoder_state, embeddings, start_of_sequence_id, end_of_sequence_id, maximum_length,
                     num_decoder_symbols, dtype)

    def decoder_fn(time: Any, cell_state: Any, cell_input: Any, cell_output: Any, context_state: Any) -> Any:
        _no_input(cell_input)
        if cell_output is None:
            done, following, output = greedy.begin()
            state = encoder_state
        else:
            output, state = greedy.output_fn(cell_output), cell_state
            done, following = greedy.go_on(output)
        return greedy.done(time, done), state, following, output, context_state

    return decoder_fn


def _no_input(cell_input: Any) -> None:
    if cell_input is not None:
        raise ValueError(f"Expected cell_input to be None, but saw: {cell_input}. Fix: give dynamic_rnn_decoder no "
                         "inputs to infer")


def attention_decoder_fn_train(encoder_state: Any, attention_keys: Any, attention_values: Any, attention_score_fn: Any,
                               attention_construct_fn: Any, name: str | None = None) -> Callable[..., tuple[Any, ...]]:
    """Makes a function for `dynamic_rnn_decoder`: `simple_decoder_fn_train` with attention.

    Args:
      encoder_state: the first state.
      attention_keys, attention_values, attention_score_fn, attention_construct_fn: the results of `prepare_attention`.
      name: accepted.
    Reference: TensorFlow 1.0 `tf.contrib.seq2seq.attention_decoder_fn_train`.
    """

    def decoder_fn(time: Any, cell_state: Any, cell_input: Any, cell_output: Any, context_state: Any) -> Any:
        state = cell_state
        if cell_state is None:
            state, attention = encoder_state, _first_attention(encoder_state)
        else:
            attention = cell_output = attention_construct_fn(cell_output, attention_keys, attention_values)
        return None, state, raw.ConcatV2([cell_input, attention], 1), cell_output, context_state

    return decoder_fn


def _first_attention(encoder_state: Any) -> Any:
    top = encoder_state
    if isinstance(top, tuple) and not isinstance(top, LSTMStateTuple):
        top = top[-1]
    return raw.ZerosLike(top.h if isinstance(top, LSTMStateTuple) else top)


def attention_decoder_fn_inference(output_fn: Any, encoder_state: Any, attention_keys: Any, attention_values: Any,
                                   attention_score_fn: Any, attention_construct_fn: Any, embeddings: Any,
                                   start_of_sequence_id: Any, end_of_sequence_id: Any, maximum_length: Any,
                                   num_decoder_symbols: Any, dtype: Any = int32,
                                   name: str | None = None) -> Callable[..., tuple[Any, ...]]:
    """Makes a function for `dynamic_rnn_decoder`: `simple_decoder_fn_inference` with attention.

    Args:
      output_fn, encoder_state, embeddings, start_of_sequence_id, end_of_sequence_id, maximum_length,
        num_decoder_symbols, dtype, name: as for `dynamic_rnn_decoder`.
      attention_keys, attention_values, attention_score_fn, attention_construct_fn: the results of `prepare_attention`.
    Reference: TensorFlow 1.0 `tf.contrib.seq2seq.attention_decoder_fn_inference`.
    """
    greedy = _Greedy(output_fn, encoder_state, embeddings, start_of_sequence_id, end_of_sequence_id, maximum_length,
                     num_decoder_symbols, dtype)

    def decoder_fn(time: Any, cell_state: Any, cell_input: Any, cell_output: Any, context_state: Any) -> Any:
        _no_input(cell_input)
        if cell_output is None:
            done, following, output = greedy.begin()
            state, attention = encoder_state, _first_attention(encoder_state)
        else:
            attention = attention_construct_fn(cell_output, attention_keys, attention_values)
            output, state = greedy.output_fn(attention), cell_state
            done, following = greedy.go_on(output)
        return (greedy.done(time, done), state, raw.ConcatV2([following, attention], 1), output, context_state)

    return decoder_fn


def prepare_attention(attention_states: Any, attention_option: str, num_units: int,
                      reuse: Any = False) -> tuple[Tensor, Tensor, Callable[..., Tensor], Callable[..., Tensor]]:
    """Makes the keys, values and functions of attention.

    Args:
      attention_states: (batch, time, num_units), the memory to attend to.
      attention_option: "luong" (products) or "bahdanau" (a small network).
      num_units: the size of keys and attention.
      reuse: whether to reuse existing variables.
    Returns: keys (batch, time, num_units); values; a function of query, keys and values that gives the context; one
      that gives the attention.
    Raises: ValueError for another option, when it is used.
    Reference: TensorFlow 1.0 `tf.contrib.seq2seq.prepare_attention`.
    """
    with variable_scope("attention_keys", reuse=reuse) as scope:
        keys = linear(attention_states, num_units, biases_initializer=None, scope=scope)
    with variable_scope("attention_score", reuse=reuse):
        weights = None
        if attention_option == "bahdanau":
            weights = get_variable("attnW", [num_units, num_units]), get_variable("attnV", [num_units])
    score_fn = _Score(attention_option, weights, num_units)
    with variable_scope("attention_construct", reuse=reuse) as scope:
        return keys, attention_states, score_fn, _Construct(score_fn, num_units, scope)


class _Score:
    def __init__(self, option: str, weights: Any, units: int):
        self.option = option
        self.weights = weights
        self.units = units

    def __call__(self, query: Any, keys: Any, values: Any) -> Any:
        last = np.array([2], np.int32)
        if self.option == "bahdanau":
            w, v = self.weights
            scores = raw.Sum(v * raw.Tanh(keys + raw.ExpandDims(raw.MatMul(query, w), 1)), last)
        elif self.option == "luong":
            scores = raw.Sum(keys * raw.ExpandDims(query, 1), last)
        else:
            raise ValueError(f"Unknown attention option {self.option}! Fix: 'luong' or 'bahdanau'")
        context = raw.Sum(raw.ExpandDims(raw.Softmax(scores), 2) * values, np.array([1], np.int32))
        context.set_shape([None, self.units])
        return context


class _Construct:
    def __init__(self, score_fn: Any, units: int, scope: Any):
        self.score_fn = score_fn
        self.units = units
        self.scope = scope

    def __call__(self, query: Any, keys: Any, values: Any) -> Any:
        joined = raw.ConcatV2([query, self.score_fn(query, keys, values)], 1)
        return linear(joined, self.units, biases_initializer=None, scope=self.scope)
