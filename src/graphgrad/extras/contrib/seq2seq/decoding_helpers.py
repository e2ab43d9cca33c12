"""Helpers of `tf.contrib.seq2seq`, which choose the next inputs of a decoder's cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.frontend.structure import nest
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.nn.embedding import embedding_lookup_v1 as embedding_lookup
from graphgrad.ops.random.random import categorical, random_uniform


class Helper:
    """The interface: `batch_size`, `sample_ids_shape`, `sample_ids_dtype`, `initialize`, `sample`, `next_inputs`.

    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.Helper`.
    """

    @property
    def batch_size(self) -> Any:
        """The size of the batch."""
        raise NotImplementedError("batch_size has not been implemented. Fix: a subclass has to define it")

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of one sample, without batch."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return int32

    def initialize(self, name: str | None = None) -> Any:
        """Returns (finished, first inputs)."""
        raise NotImplementedError("initialize has not been implemented. Fix: a subclass has to define it")

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns samples of a step's outputs."""
        raise NotImplementedError("sample has not been implemented. Fix: a subclass has to define it")

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """Returns (finished, next inputs, next state)."""
        raise NotImplementedError("next_inputs has not been implemented. Fix: a subclass has to define it")

    def _most_steps(self) -> Any:
        """Returns the number of steps and a bound of it from shapes, if they are known before the first step."""
        return None


def _greedy(outputs: Any) -> Any:
    """Returns the index of the largest output."""
    if not hasattr(outputs, "dtype"):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}\n"
                        f"  Built at {user_source(2)}\n  Fix: a cell whose output is one tensor")
    return raw.ArgMax(outputs, np.int32(-1), output_type=int32)


class CustomHelper(Helper):
    """A helper composed of functions.

    Args:
      initialize_fn: gives (finished, first inputs).
      sample_fn: takes time, outputs and state by name, gives samples.
      next_inputs_fn: takes time, outputs, state and sample_ids by name, gives (finished, next inputs, next state).
      sample_ids_shape: the shape of one sample, without batch; a scalar by default.
      sample_ids_dtype: the dtype of samples; int32 by default.
    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.CustomHelper`.
    """

    def __init__(self, initialize_fn: Callable[..., Any], sample_fn: Callable[..., Any],
                 next_inputs_fn: Callable[..., Any], sample_ids_shape: Any = None,
                 sample_ids_dtype: Any = None):
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = as_dtype(sample_ids_dtype or int32)

    @property
    def batch_size(self) -> Any:
        """The size of the batch; known once it is initialized."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called. Fix: call initialize() first")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of one sample, without batch."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> Any:
        """Calls `initialize_fn`."""
        with name_scope(name, "CustomHelperInitialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = _rows(convert_to_tensor(finished))
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Calls `sample_fn`."""
        with name_scope(name, "CustomHelperSample"):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """Calls `next_inputs_fn`."""
        with name_scope(name, "CustomHelperNextInputs"):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


def _rows(t: Any) -> Any:
    n = t.shape.as_list()[0] if t.shape.rank else None
    return shape(t)[0] if n is None else n


class TrainingHelper(Helper):
    """A helper that gives the inputs of a sequence, whatever the outputs.

    Args:
      inputs: (batch, time, ...), or (time, batch, ...) if `time_major`; or a structure of such tensors.
      sequence_length: (batch,) of int32.
      time_major: whether time is the first axis of the inputs.
      name: a name for the operations.
    Raises: ValueError if `sequence_length` is not a vector.
    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.TrainingHelper`.
    """

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None):
        with name_scope(name, "TrainingHelper"):
            inputs = nest.map_structure(convert_to_tensor, inputs)
            self._inputs = inputs
            self._by_time = inputs if time_major else nest.map_structure(_time_first, inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.rank not in (None, 1):
                raise ValueError("Expected sequence_length to be a vector, but received shape: "
                                 f"{self._sequence_length.shape}\n  Asked for at {user_source(2)}\n"
                                 "  Fix: give one length for each row of the batch")
            if self._sequence_length.dtype is not int32:
                self._sequence_length = raw.Cast(self._sequence_length, DstT=int32)
            self._zero_inputs = nest.map_structure(_zero_row, self._by_time)
            self._batch_size = _rows(self._sequence_length)

    @property
    def inputs(self) -> Any:
        """The inputs."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """The lengths."""
        return self._sequence_length

    @property
    def batch_size(self) -> Any:
        """The size of the batch."""
        return self._batch_size

    def _at(self, time: Any, over: Any) -> Any:
        """Returns the inputs of a step; zeros if all sequences are finished."""
        return nest.map_structure(_Step(time, over), self._by_time, self._zero_inputs)

    def initialize(self, name: str | None = None) -> Any:
        """Returns the first inputs."""
        with name_scope(name, "TrainingHelperInitialize"):
            finished = raw.Equal(self._sequence_length, 0)
            return finished, self._at(convert_to_tensor(0, int32), raw.All(finished, np.array([0], np.int32)))

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns the index of the largest output."""
        with name_scope(name, "TrainingHelperSample"):
            return _greedy(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """Returns which sequences end, and their next inputs."""
        with name_scope(name, "TrainingHelperNextInputs"):
            following = time + 1
            finished = raw.GreaterEqual(following, self._sequence_length)
            return finished, self._at(following, raw.All(finished, np.array([0], np.int32))), state

    def _most_steps(self) -> Any:
        steps = nest.flatten(self._by_time)[0]
        known = steps.shape.as_list()[0]
        return raw.Max(self._sequence_length, np.array([0], np.int32)), shape(steps)[0] if known is None else known


def _time_first(t: Any) -> Any:
    rank = t.shape.rank
    if rank is None or rank < 2:
        raise ValueError(f"Inputs must have a batch and a time axis, not shape {t.shape}.\n"
                         f"  Asked for at {user_source(2)}\n  Fix: give (batch, time, ...)")
    return raw.Transpose(t, np.array([1, 0, *range(2, rank)], np.int32))


def _zero_row(t: Any) -> Any:
    return raw.ZerosLike(raw.GatherV2(raw.Pad(t, [[0, 1]] + [[0, 0]] * (t.shape.rank - 1)), np.int32(0), np.int32(0)))


class _Step:
    def __init__(self, time: Any, over: Any):
        self.time = time
        self.over = over

    def __call__(self, by_time: Any, zeros: Any) -> Any:
        # The index stays in range after the end of all sequences.
        last = shape(by_time)[0] - 1
        at = raw.GatherV2(by_time, raw.Minimum(self.time, last), np.int32(0))
        return raw.SelectV2(self.over, zeros, at)


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """A helper that gives the inputs of a sequence or, at random, the embedding of the previous step's sample.

    Args:
      inputs: (batch, time, ...), or (time, batch, ...) if `time_major`.
      sequence_length: (batch,) of int32.
      embedding: a function of ids, or the parameters of `tf.nn.embedding_lookup`.
      sampling_probability: the probability that a row gets its sample, a float, a scalar or (batch,).
      time_major: whether time is the first axis of the inputs.
      seed: for the samples.
      scheduling_seed: for the choice of rows.
      name: a name for the operations.
    Raises: ValueError if `sampling_probability` is neither a scalar nor a vector.
    Reference: Bengio et al. 2015, Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks;
      TensorFlow 1.15 `tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper`.
    """

    def __init__(self, inputs: Any, sequence_length: Any, embedding: Any, sampling_probability: Any,
                 time_major: bool = False, seed: Any = None, scheduling_seed: Any = None,
                 name: str | None = None):
        self._embedding_fn = _embedding_function(embedding)
        self._probability = _probability(sampling_probability)
        self._seed = seed
        self._scheduling_seed = scheduling_seed
        super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Draws a sample with the outputs as logits for the rows that get it, -1 for the others."""
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample"):
            chosen = _chosen(self._batch_size, self._probability, self._scheduling_seed)
            drawn = _drawn(outputs, self._seed)
            return raw.SelectV2(chosen, drawn, np.int32(-1))

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """Returns the next inputs, or the samples' embeddings."""
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs"):
            finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
            sampled = self._embedding_fn(raw.Maximum(sample_ids, np.int32(0)))
            return finished, _rowwise(raw.Greater(sample_ids, np.int32(-1)), sampled, given), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """A helper that gives the inputs of a sequence or, at random, the previous step's output.

    Args:
      inputs: (batch, time, ...), or (time, batch, ...) if `time_major`.
      sequence_length: (batch,) of int32.
      sampling_probability: the probability that a row gets its output, a float, a scalar or (batch,).
      time_major: whether time is the first axis of the inputs.
      seed: for the choice of rows.
      next_inputs_fn: a function from outputs to inputs; the identity by default.
      auxiliary_inputs: concatenated to inputs and outputs, (batch, time, ...), or None.
      name: a name for the operations.
    Raises: ValueError if `sampling_probability` is neither a scalar nor a vector.
    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.ScheduledOutputTrainingHelper`.
    """

    def __init__(self, inputs: Any, sequence_length: Any, sampling_probability: Any, time_major: bool = False,
                 seed: Any = None, next_inputs_fn: Any = None, auxiliary_inputs: Any = None,
                 name: str | None = None):
        self._probability = _probability(sampling_probability)
        self._seed = seed
        self._next_inputs_fn = next_inputs_fn
        self._auxiliary: Any = None
        inputs = convert_to_tensor(inputs)
        if auxiliary_inputs is not None:
            auxiliary = convert_to_tensor(auxiliary_inputs)
            inputs = raw.ConcatV2([inputs, auxiliary], np.int32(-1))
            self._auxiliary = auxiliary if time_major else _time_first(auxiliary)
        super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns 1 for the rows that get their output, 0 for the others."""
        with name_scope(name, "ScheduledOutputTrainingHelperSample"):
            return raw.Cast(_chosen(self._batch_size, self._probability, self._seed), DstT=int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """Returns the next inputs, or the outputs."""
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs"):
            finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
            own = outputs if self._next_inputs_fn is None else self._next_inputs_fn(outputs)
            if self._auxiliary is not None:
                beside = _Step(time + 1, False)(self._auxiliary, _zero_row(self._auxiliary))
                own = raw.ConcatV2([own, beside], np.int32(-1))
            return finished, _rowwise(raw.Greater(sample_ids, np.int32(0)), own, given), state


def _probability(value: Any) -> Any:
    given = convert_to_tensor(value, name="sampling_probability")
    if given.shape.rank not in (None, 0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector, saw shape: {given.shape}\n"
                         f"  Asked for at {user_source(3)}\n  Fix: give one number, or one for each row")
    return given


def _chosen(batch_size: Any, probability: Any, seed: Any) -> Any:
    size = raw.Reshape(convert_to_tensor(batch_size, int32), np.array([1], np.int32))
    return raw.Less(random_uniform(size, dtype=probability.dtype, seed=seed), probability)


def _drawn(logits: Any, seed: Any) -> Any:
    return raw.Squeeze(categorical(logits, 1, int32, seed), squeeze_dims=(1,))


def _rowwise(condition: Any, a: Any, b: Any) -> Any:
    for _ in range(b.shape.rank - 1):
        condition = raw.ExpandDims(condition, -1)
    return raw.SelectV2(condition, a, b)


def _embedding_function(embedding: Any) -> Callable[[Any], Any]:
    if callable(embedding):
        found: Callable[[Any], Any] = embedding
        return found
    return _Lookup(embedding)


class _Lookup:
    def __init__(self, params: Any):
        self.params = params

    def __call__(self, ids: Any) -> Any:
        return embedding_lookup(self.params, ids)


def _tokens(start: Any, end: Any) -> tuple[Any, Any]:
    """Returns the tensors of the tokens that sequences start and end with, after checking their ranks."""
    start, end = convert_to_tensor(start, int32, name="start_tokens"), convert_to_tensor(end, int32, name="end_token")
    for what, t, rank, kind in (("start_tokens", start, 1, "vector"), ("end_token", end, 0, "scalar")):
        if t.shape.rank not in (None, rank):
            raise ValueError(f"{what} must be a {kind}, not of shape {t.shape}\n"
                             f"  Asked for at {user_source(2)}\n  Fix: give a {kind} of int32")
    return start, end


class GreedyEmbeddingHelper(Helper):
    """A helper that feeds back the embedding of the most likely symbol.

    Args:
      embedding: a function of ids, or the parameters of `tf.nn.embedding_lookup`.
      start_tokens: (batch,) of int32: the first symbols of sequences.
      end_token: a scalar int32, which ends them.
    Raises: ValueError for other shapes.
    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.GreedyEmbeddingHelper`.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any):
        self._embedding_fn = _embedding_function(embedding)
        self._start_tokens, self._end_token = _tokens(start_tokens, end_token)
        self._batch_size = _rows(self._start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    @property
    def batch_size(self) -> Any:
        """The size of the batch."""
        return self._batch_size

    def initialize(self, name: str | None = None) -> Any:
        """Returns the embeddings of the first symbols."""
        return raw.Fill(shape(self._start_tokens), convert_to_tensor(False)), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns the index of the largest output."""
        return _greedy(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """Returns the embeddings of the samples; a sequence ends with the end token."""
        finished = raw.Equal(sample_ids, self._end_token)
        return finished, self._embedding_fn(sample_ids), state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """A helper that feeds back the embedding of a symbol drawn with the outputs as logits.

    Args:
      embedding: a function of ids, or the parameters of `tf.nn.embedding_lookup`.
      start_tokens: (batch,) of int32: the first symbols of sequences.
      end_token: a scalar int32, which ends them.
      softmax_temperature: the divisor of the logits; below 1, likely symbols are drawn more often.
      seed: the seed.
    Raises: ValueError for other shapes.
    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.SampleEmbeddingHelper`.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any, softmax_temperature: Any = None,
                 seed: Any = None):
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Draws symbols with the outputs as logits."""
        _greedy(outputs)  # the same errors
        logits = outputs if self._softmax_temperature is None else outputs / self._softmax_temperature
        return _drawn(logits, self._seed)


class InferenceHelper(Helper):
    """A helper that feeds outputs back as inputs, through functions.

    Args:
      sample_fn: a function of the outputs that gives samples.
      sample_shape: the shape of one sample, without batch, an int or a list.
      sample_dtype: the dtype of samples.
      start_inputs: the first inputs, (batch, ...).
      end_fn: a function of the samples that returns which sequences end, (batch,).
      next_inputs_fn: a function of the samples that gives the next inputs; the samples themselves by default.
    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.InferenceHelper`.
    """

    def __init__(self, sample_fn: Any, sample_shape: Any, sample_dtype: Any, start_inputs: Any, end_fn: Any,
                 next_inputs_fn: Any = None):
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        dims = sample_shape if isinstance(sample_shape, (list, tuple, TensorShape)) else [sample_shape]
        self._sample_shape = TensorShape(dims)
        self._sample_dtype = as_dtype(sample_dtype)
        self._next_inputs_fn = next_inputs_fn
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = _rows(self._start_inputs)

    @property
    def batch_size(self) -> Any:
        """The size of the batch."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of one sample, without batch."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> Any:
        """Returns the first inputs."""
        size = raw.Reshape(convert_to_tensor(self._batch_size, int32), np.array([1], np.int32))
        return raw.Fill(size, convert_to_tensor(False)), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Calls `sample_fn`."""
        return self._sample_fn(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Any:
        """Calls `next_inputs_fn` and `end_fn`."""
        following = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), following, state
