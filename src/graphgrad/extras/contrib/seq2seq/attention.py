"""Attention mechanisms of `tf.contrib.seq2seq`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.frontend.rnn.rnn_cells import zeros_of_size
from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.initializers import Constant, Ones, Zeros
from graphgrad.frontend.variables.variable_scope import get_variable, variable_scope
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.layers.dense import Dense
from graphgrad.ops.array.mask import sequence_mask
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.math.clip import clip_by_value
from graphgrad.ops.math.cumulative import cumprod, cumsum
from graphgrad.ops.random.random import random_normal


class AttentionMechanism:
    """The base of attention mechanisms: `alignments, next_state = mechanism(query, state)`."""

    @property
    def alignments_size(self) -> Any:
        """The number of positions in the memory."""
        raise NotImplementedError("AttentionMechanism.alignments_size. Fix: a subclass has to define it")

    @property
    def state_size(self) -> Any:
        """The size of the mechanism's state."""
        raise NotImplementedError("AttentionMechanism.state_size. Fix: a subclass has to define it")


def _prepared(memory: Any, lengths: Any) -> Any:
    """Returns the memory, with zeros beyond each sequence's end."""
    memory = nest.map_structure(convert_to_tensor, memory)
    for t in nest.flatten(memory):
        if t.shape.rank is None or t.shape.rank < 3 or None in t.shape.as_list()[2:]:
            raise ValueError(f"Expected memory {t.name} to have fully defined inner dims, but saw shape: {t.shape}\n"
                             f"  Asked for at {user_source(4)}\n  Fix: give (batch, time, size), or set_shape")
    if lengths is None:
        return memory
    return nest.map_structure(_Masked(lengths), memory)


class _Masked:
    def __init__(self, lengths: Any):
        self.lengths = lengths

    def __call__(self, memory: Any) -> Any:
        mask = sequence_mask(self.lengths, shape(nest.flatten(memory)[0])[1], memory.dtype)
        for _ in range(memory.shape.rank - 2):
            mask = raw.ExpandDims(mask, -1)
        return memory * mask


class _BaseAttentionMechanism(AttentionMechanism):
    """Keys and values of a memory, and the function that turns scores into weights."""

    def __init__(self, query_layer: Any, memory: Any, probability_fn: Callable[[Any, Any], Any],
                 memory_sequence_length: Any = None, memory_layer: Any = None, score_mask_value: Any = None,
                 custom_key_value_fn: Any = None, name: str | None = None):
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not callable(layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}. Fix: pass e.g. tf.layers.Dense(8)")
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = getattr(memory_layer, "dtype", None) or float32
        self._mask_value = self.dtype.np_dtype.type(-np.inf) if score_mask_value is None else score_mask_value
        self._probability_fn = probability_fn
        with name_scope(name, "BaseAttentionMechanismInit"):
            self._lengths = None if memory_sequence_length is None else convert_to_tensor(memory_sequence_length, int32)
            self._values = _prepared(memory, self._lengths)
            self._keys = self._values if memory_layer is None else memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            first = nest.flatten(self._keys)[0]
            dims = first.shape.as_list()
            self._batch_size = shape(first)[0] if dims[0] is None else dims[0]
            self._alignments_size = shape(first)[1] if dims[1] is None else dims[1]

    @property
    def memory_layer(self) -> Any:
        """The layer that makes keys of the memory."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer that queries pass through, or None."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory, with zeros beyond each sequence's end."""
        return self._values

    @property
    def keys(self) -> Any:
        """The keys, which queries are compared with, (batch, time, units)."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """The size of the batch."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """The number of positions in the memory."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """The size of the state: that of the alignments."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the alignments before the first step: zeros."""
        return _zeros(batch_size, self._alignments_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the state before the first step: the alignments."""
        return self.initial_alignments(batch_size, dtype)

    def _score(self, query: Any) -> Any:
        raise NotImplementedError  # each mechanism has its own

    def _alignments(self, score: Any, state: Any) -> Any:
        """Computes the weights from scores; positions beyond the memory's length get none."""
        if self._lengths is not None:
            inside = sequence_mask(self._lengths, shape(score)[1])
            score = raw.SelectV2(inside, score, convert_to_tensor(self._mask_value, score.dtype))
        return self._probability_fn(score, state)


def _zeros(batch_size: Any, size: Any, dtype: Any) -> Any:
    if isinstance(size, int):
        return zeros_of_size(batch_size, size, dtype)
    whole = raw.Pack([convert_to_tensor(batch_size, int32), size], axis=0)
    return raw.Fill(whole, convert_to_tensor(0, dtype))


class _Ignoring:
    """A probability function that ignores the state."""

    def __init__(self, function: Any):
        self.function = function or raw.Softmax

    def __call__(self, score: Any, _: Any) -> Any:
        return self.function(score)


def _matched(query: Any, keys: Any) -> Any:
    """Computes products of the query with each key."""
    depth, units = query.shape.as_list()[-1], keys.shape.as_list()[-1]
    if depth != units:
        raise ValueError("Incompatible or unknown inner dimensions between query and keys. Query has units: "
                         f"{depth}. Keys have units: {units}. Perhaps num_units does not match the cell's size.\n"
                         f"  Built at {user_source(5)}\n  Fix: LuongAttention({depth}, ...)")
    score = raw.BatchMatMulV2(raw.ExpandDims(query, 1), keys, adj_y=True)
    return raw.Squeeze(score, squeeze_dims=(1,))


def _added(query: Any, keys: Any, dtype: Any, normalize: bool) -> Any:
    """Computes v tanh(key + query) for each key."""
    units = keys.shape.as_list()[2]
    query = raw.ExpandDims(query, 1)
    v = get_variable("attention_v", [units], dtype=dtype)
    total = keys + query
    if normalize:
        g = get_variable("attention_g", [], dtype=dtype, initializer=Constant(math.sqrt(1.0 / units)))
        b = get_variable("attention_b", [units], dtype=dtype, initializer=Zeros())
        v = g * v * raw.Rsqrt(raw.Sum(raw.Square(v), np.array([0], np.int32)))
        total = total + b
    return raw.Sum(v * raw.Tanh(total), np.array([2], np.int32))


class LuongAttention(_BaseAttentionMechanism):
    """Attention by products of queries and keys.

    Args:
      num_units: the size of keys; that of the queries.
      memory: (batch, time, size), such as the outputs of an encoder.
      memory_sequence_length: (batch,): positions beyond these get no attention; None for full lengths.
      scale: whether scores are multiplied by a variable, `attention_g`.
      probability_fn: turns scores into weights; softmax by default.
      score_mask_value: the score beyond the end; -infinity by default.
      dtype: the dtype of variables; float32 by default.
      custom_key_value_fn: a function of keys and values that gives others, or None.
      name: a name for the operations.
    Raises: ValueError if sizes of queries and keys differ.
    Reference: Luong, Pham and Manning 2015, Effective Approaches to Attention-based Neural Machine Translation;
      TensorFlow 1.15 `tf.contrib.seq2seq.LuongAttention`.

    >>> from graphgrad.compat.contrib import seq2seq
    >>> attention = seq2seq.LuongAttention(4, tf.ones([2, 5, 3]), [5, 2])
    >>> alignments, _ = attention(tf.ones([2, 4]), attention.initial_state(2, tf.float32))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(alignments)[1]
    array([0.5, 0.5, 0. , 0. , 0. ], dtype=float32)
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, scale: bool = False,
                 probability_fn: Any = None, score_mask_value: Any = None, dtype: Any = None,
                 custom_key_value_fn: Any = None, name: str = "LuongAttention"):
        layer = Dense(num_units, name="memory_layer", use_bias=False, dtype=dtype or float32)
        super().__init__(None, memory, _Ignoring(probability_fn), memory_sequence_length, layer, score_mask_value,
                         custom_key_value_fn, name)
        self._num_units = num_units
        self._scale = scale

    def __call__(self, query: Any, state: Any) -> Any:
        """Computes the weights of the positions, (batch, time), and the next state."""
        with variable_scope(None, "luong_attention"):
            alignments = self._alignments(self._score(query), state)
        return alignments, alignments

    def _score(self, query: Any) -> Any:
        score = _matched(query, self._keys)
        return get_variable("attention_g", [], dtype=query.dtype, initializer=Ones()) * score if self._scale else score


class BahdanauAttention(_BaseAttentionMechanism):
    """Attention by a small network of queries and keys: v tanh(W1 query + W2 memory).

    Args:
      num_units: the size of keys and transformed queries.
      memory: (batch, time, size), such as the outputs of an encoder.
      memory_sequence_length: (batch,): positions beyond these get no attention; None for full lengths.
      normalize: whether v has a norm of its own, `attention_g`, and a bias.
      probability_fn: turns scores into weights; softmax by default.
      score_mask_value: the score beyond the end; -infinity by default.
      dtype: the dtype of variables; float32 by default.
      custom_key_value_fn: a function of keys and values that gives others, or None.
      name: a name for the operations.
    Reference: Bahdanau, Cho and Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate;
      Salimans and Kingma 2016, Weight Normalization; TensorFlow 1.15 `tf.contrib.seq2seq.BahdanauAttention`.
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, normalize: bool = False,
                 probability_fn: Any = None, score_mask_value: Any = None, dtype: Any = None,
                 custom_key_value_fn: Any = None, name: str = "BahdanauAttention"):
        layers = [Dense(num_units, name=n, use_bias=False, dtype=dtype or float32)
                  for n in ("query_layer", "memory_layer")]
        super().__init__(layers[0], memory, _Ignoring(probability_fn), memory_sequence_length, layers[1],
                         score_mask_value, custom_key_value_fn, name)
        self._num_units = num_units
        self._normalize = normalize

    def __call__(self, query: Any, state: Any) -> Any:
        """Computes the weights of the positions, (batch, time), and the next state."""
        with variable_scope(None, "bahdanau_attention"):
            alignments = self._alignments(self._score(query), state)
        return alignments, alignments

    def _score(self, query: Any) -> Any:
        return _added(self._query_layer(query), self._keys, query.dtype, self._normalize)


# -- monotonic attention -------------------------------------------------------------------


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Computes a running product through logarithms, with finite gradients.

    Args:
      x: values between 0 and 1; those below the smallest normal number count as that.
      *args, **kwargs: of `tf.cumsum`.
    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.safe_cumprod`.
    """
    with name_scope("SafeCumprod"):
        x = convert_to_tensor(x)
        tiny = np.finfo(x.dtype.np_dtype).tiny
        return raw.Exp(cumsum(raw.Log(clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Tensor:
    """Computes the weights of attention where each step begins at the position where the previous one stopped.

    Args:
      p_choose_i: (batch, time), the probability to stop at a position that is reached.
      previous_attention: (batch, time), the weights of the previous step.
      mode: "recursive" (exact, by a loop), "parallel" (by running sums; may lose precision), or "hard" (for
        probabilities and weights of 0 and 1).
    Returns: (batch, time), the weights.
    Raises: ValueError for another mode.
    Reference: Raffel et al. 2017, Online and Linear-Time Attention by Enforcing Monotonic Alignments;
      TensorFlow 1.15 `tf.contrib.seq2seq.monotonic_attention`.

    >>> from graphgrad.compat.contrib import seq2seq
    >>> sess.run(seq2seq.monotonic_attention([[0.5, 0.5, 1.0]], [[0.0, 1.0, 0.0]], "recursive"))
    array([[0. , 0.5, 0.5]], dtype=float32)
    """
    p, previous = convert_to_tensor(p_choose_i, name="p_choose_i"), convert_to_tensor(previous_attention)
    if mode == "recursive":
        # The weight that reaches a position: what began there, and what reached the previous one and moved on.
        from graphgrad.frontend.control_flow.map_scan import scan

        goes_on = raw.Pad(1 - p, [[0, 0], [1, 0]])
        going = raw.Slice(goes_on, [0, 0], shape(p))
        rows = [raw.Transpose(t, np.array([1, 0], np.int32)) for t in (going, previous)]
        arrived = scan(_arrive, rows, raw.ZerosLike(raw.Sum(p, np.array([1], np.int32))))
        return p * raw.Transpose(arrived, np.array([1, 0], np.int32))
    if mode == "parallel":
        passed = safe_cumprod(1 - p, axis=1, exclusive=True)
        return p * passed * cumsum(previous / clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        p = p * cumsum(previous, axis=1)
        return p * cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError(f"mode must be 'recursive', 'parallel', or 'hard', not {mode!r}\n  Asked for at {user_source(2)}\n"
                     "  Fix: 'parallel' to train, 'hard' to infer")


def _arrive(carried: Any, now: Any) -> Any:
    goes_on, begins = now
    return goes_on * carried + begins


class _Monotonic:
    """A probability function for monotonic attention."""

    def __init__(self, noise: float, mode: str, seed: Any):
        self.noise = noise
        self.mode = mode
        self.seed = seed

    def __call__(self, score: Any, previous: Any) -> Any:
        if self.noise > 0:
            score = score + self.noise * random_normal(shape(score), dtype=score.dtype, seed=self.seed)
        p = raw.Cast(raw.Greater(score, 0), DstT=score.dtype) if self.mode == "hard" else raw.Sigmoid(score)
        return monotonic_attention(p, previous, self.mode)


class _FirstPlace(_BaseAttentionMechanism):
    """A mixin: monotonic attention begins at the first position."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the alignments before the first step: all weight on the first position."""
        first = raw.ZerosLike(raw.Sum(_zeros(batch_size, self._alignments_size, int32), np.array([1], np.int32)))
        size = self._alignments_size
        return raw.OneHot(first, size if not isinstance(size, int) else np.int32(size), convert_to_tensor(1, dtype),
                          convert_to_tensor(0, dtype))


def _bias(dtype: Any, value: Any) -> Any:
    return get_variable("attention_score_bias", [], dtype=dtype, initializer=Constant(value))


class BahdanauMonotonicAttention(_FirstPlace):
    """A `BahdanauAttention` that never moves back.

    Args:
      num_units, memory, memory_sequence_length, normalize, score_mask_value, dtype, name: as for `BahdanauAttention`.
      sigmoid_noise: the standard deviation of noise that is added to scores.
      sigmoid_noise_seed: its seed.
      score_bias_init: the initial value of a bias of the scores.
      mode: of `monotonic_attention`.
    Reference: Raffel et al. 2017; TensorFlow 1.15 `tf.contrib.seq2seq.BahdanauMonotonicAttention`.
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, normalize: bool = False,
                 score_mask_value: Any = None, sigmoid_noise: float = 0.0, sigmoid_noise_seed: Any = None,
                 score_bias_init: float = 0.0, mode: str = "parallel", dtype: Any = None,
                 name: str = "BahdanauMonotonicAttention"):
        layers = [Dense(num_units, name=n, use_bias=False, dtype=dtype or float32)
                  for n in ("query_layer", "memory_layer")]
        super().__init__(layers[0], memory, _Monotonic(sigmoid_noise, mode, sigmoid_noise_seed),
                         memory_sequence_length, layers[1], score_mask_value, name=name)
        self._num_units = num_units
        self._normalize = normalize
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> Any:
        """Computes the weights of the positions, (batch, time), and the next state."""
        with variable_scope(None, "bahdanau_monotonic_attention"):
            alignments = self._alignments(self._score(query), state)
        return alignments, alignments

    def _score(self, query: Any) -> Any:
        score = _added(self._query_layer(query), self._keys, query.dtype, self._normalize)
        return score + _bias(query.dtype, self._score_bias_init)


class LuongMonotonicAttention(_FirstPlace):
    """A `LuongAttention` that never moves back.

    Args:
      num_units, memory, memory_sequence_length, scale, score_mask_value, dtype, name: as for `LuongAttention`.
      sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode: as in `BahdanauMonotonicAttention`.
    Reference: Raffel et al. 2017; TensorFlow 1.15 `tf.contrib.seq2seq.LuongMonotonicAttention`.
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, scale: bool = False,
                 score_mask_value: Any = None, sigmoid_noise: float = 0.0, sigmoid_noise_seed: Any = None,
                 score_bias_init: float = 0.0, mode: str = "parallel", dtype: Any = None,
                 name: str = "LuongMonotonicAttention"):
        layer = Dense(num_units, name="memory_layer", use_bias=False, dtype=dtype or float32)
        super().__init__(None, memory, _Monotonic(sigmoid_noise, mode, sigmoid_noise_seed), memory_sequence_length,
                         layer, score_mask_value, name=name)
        self._num_units = num_units
        self._scale = scale
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> Any:
        """Computes the weights of the positions, (batch, time), and the next state."""
        with variable_scope(None, "luong_monotonic_attention"):
            alignments = self._alignments(self._score(query), state)
        return alignments, alignments

    def _score(self, query: Any) -> Any:
        score = _matched(query, self._keys)
        if self._scale:
            score = get_variable("attention_g", [], dtype=query.dtype, initializer=Ones()) * score
        return score + _bias(query.dtype, self._score_bias_init)


def hardmax(logits: Any, name: str | None = None) -> Tensor:
    """Returns 1 at the position of the largest element along the last axis, 0 elsewhere; no gradient.

    Args:
      logits: (..., n), floats.
      name: a name for the operations.
    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.hardmax`.
    """
    with name_scope(name, "Hardmax"):
        logits = convert_to_tensor(logits)
        n = logits.shape.as_list()[-1]
        depth = shape(logits)[-1] if n is None else np.int32(n)
        return raw.OneHot(raw.ArgMax(logits, np.int32(-1)), depth, convert_to_tensor(1, logits.dtype),
                          convert_to_tensor(0, logits.dtype))
