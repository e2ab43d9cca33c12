"""Recurrent cells of `tf.contrib.rnn`."""

from __future__ import annotations

import math
from typing import Any

from graphgrad.frontend.rnn.lstm_cells import LSTMStateTuple
from graphgrad.frontend.rnn.rnn_cells import RNNCell, _UnitSized
from graphgrad.frontend.variables.initializers import Constant, Zeros
from graphgrad.frontend.variables.variable_scope import get_variable, get_variable_scope, variable_scope
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ops.math.clip import clip_by_value
from graphgrad.ops.nn.dropout import dropout
from graphgrad.ops.nn.norm.moments import batch_normalization as normalized
from graphgrad.ops.nn.norm.moments import moments
from graphgrad.ops.random.random import random_uniform


def linear(parts: list[Any], size: int, bias: bool = True) -> Any:
    """Computes the concatenated parts times `kernel`, plus `bias`."""
    whole = parts[0] if len(parts) == 1 else raw.ConcatV2(parts, 1)
    depth = _depth(whole)
    y = raw.MatMul(whole, get_variable("kernel", [depth, size], dtype=whole.dtype))
    return raw.BiasAdd(y, get_variable("bias", [size], dtype=whole.dtype, initializer=Zeros())) if bias else y


def _depth(t: Any) -> int:
    size = t.shape.with_rank(2).as_list()[1]
    if size is None:
        raise ValueError(f"Could not infer input size from inputs.get_shape()[-1]: {t.shape}\n"
                         f"  Built at {user_source(4)}\n  Fix: inputs.set_shape([None, size])")
    return int(size)


def _normalized(t: Any, gain: float, shift: float, scope: str) -> Any:
    """Applies layer normalization with `gamma` and `beta` in a scope."""
    size = t.shape.as_list()[-1:]
    with variable_scope(scope):
        gamma = get_variable("gamma", size, dtype=t.dtype, initializer=Constant(gain))
        beta = get_variable("beta", size, dtype=t.dtype, initializer=Constant(shift))
        mean, variance = moments(t, [1], keepdims=True)
        return normalized(t, mean, variance, beta, gamma, 1e-12)


class _Sized(_UnitSized, RNNCell):
    """A cell whose state and output have one size."""

    def __init__(self, num_units: int, reuse: Any = None, name: str | None = None, **kwargs: Any):
        super().__init__(name=name, _reuse=reuse, **kwargs)
        self._num_units = num_units


class _Memory(_Sized):
    """A cell whose state is c and h."""

    _num_proj: int | None = None

    @property
    def state_size(self) -> Any:
        """The sizes of c and h."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self._num_units if self._num_proj is None else self._num_proj


class LayerNormBasicLSTMCell(_Memory):
    """The LSTM with layer normalization of gates and memory, and dropout of what enters the memory.

    Args:
      num_units: the size of the memory.
      forget_bias: added to the forget gate.
      input_size: accepted; not used.
      activation: a function; tanh by default.
      layer_norm: whether to normalize; with it there is no bias.
      norm_gain, norm_shift: the initial values of gamma and beta.
      dropout_keep_prob: the probability that dropout keeps an element, a float or a scalar tensor.
      dropout_prob_seed: its seed.
      reuse: True to reuse existing variables.
    Reference: Ba et al. 2016, Layer Normalization; Semeniuta et al. 2016, Recurrent Dropout without Memory Loss;
      TensorFlow 1.15 `tf.contrib.rnn.LayerNormBasicLSTMCell`.

    >>> from graphgrad.compat.contrib import rnn
    >>> cell = rnn.LayerNormBasicLSTMCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> [v.name for v in cell.variables][:2]
    ['layer_norm_basic_lstm_cell/kernel:0', 'layer_norm_basic_lstm_cell/input/gamma:0']
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, input_size: Any = None, activation: Any = raw.Tanh,
                 layer_norm: bool = True, norm_gain: float = 1.0, norm_shift: float = 0.0,
                 dropout_keep_prob: Any = 1.0, dropout_prob_seed: Any = None, reuse: Any = None):
        super().__init__(num_units, reuse)
        self._forget_bias = forget_bias
        self._activation = activation
        self._layer_norm = layer_norm
        self._start = norm_gain, norm_shift
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed

    def _norm(self, t: Any, scope: str) -> Any:
        return _normalized(t, *self._start, scope) if self._layer_norm else t

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        c, h = state
        whole = linear([inputs, h], 4 * self._num_units, not self._layer_norm)
        i, j, f, o = (self._norm(t, scope) for t, scope in zip(
            raw.Split(1, whole, num_split=4), ("input", "transform", "forget", "output"), strict=True))
        entering = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            entering = dropout(entering, rate=1 - self._keep_prob, seed=self._seed)
        c = c * raw.Sigmoid(f + self._forget_bias) + raw.Sigmoid(i) * entering
        c = self._norm(c, "state")
        h = self._activation(c) * raw.Sigmoid(o)
        return h, LSTMStateTuple(c, h)


class NASCell(_Memory):
    """A cell found by a search over architectures.

    Args:
      num_units: the size of the memory.
      num_proj: the size that the output is projected to, or None.
      use_biases: whether there is a bias.
      reuse: True to reuse existing variables.
      **kwargs: `name`, `dtype`, `trainable`.
    Reference: Zoph and Le 2016, Neural Architecture Search with Reinforcement Learning; TensorFlow 1.15
      `tf.contrib.rnn.NASCell`.

    >>> from graphgrad.compat.contrib import rnn
    >>> cell = rnn.NASCell(4, num_proj=3)
    >>> output, state = cell(tf.ones([2, 5]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), [v.name for v in cell.variables][0]
    ([2, 3], 'nas_cell/recurrent_kernel:0')
    """

    def __init__(self, num_units: int, num_proj: int | None = None, use_biases: bool = False, reuse: Any = None,
                 **kwargs: Any):
        super().__init__(num_units, reuse, **kwargs)
        self._num_proj = num_proj
        self._use_biases = use_biases

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        c, m = state
        n, dtype = self._num_units, inputs.dtype
        recurrent = raw.MatMul(m, get_variable("recurrent_kernel", [self.output_size, 8 * n], dtype=dtype))
        entering = raw.MatMul(inputs, get_variable("kernel", [_depth(inputs), 8 * n], dtype=dtype))
        if self._use_biases:
            recurrent = raw.BiasAdd(recurrent, get_variable("bias", [8 * n], dtype=dtype, initializer=Zeros()))
        r, x = raw.Split(1, recurrent, num_split=8), raw.Split(1, entering, num_split=8)
        leaves = [(raw.Sigmoid, 0), (raw.Relu, 1), (raw.Sigmoid, 2), (raw.Relu, 3), (raw.Tanh, 4), (raw.Sigmoid, 5),
                  (raw.Tanh, 6), (raw.Sigmoid, 7)]
        a = [act(x[k] * r[k] if k == 3 else x[k] + r[k]) for act, k in leaves]
        first = raw.Tanh(raw.Tanh(a[0] * a[1]) + c)
        c = first * raw.Tanh(a[2] + a[3])
        m = raw.Tanh(c * raw.Tanh(raw.Tanh(a[4] * a[5]) + raw.Sigmoid(a[6] + a[7])))
        if self._num_proj is not None:
            m = raw.MatMul(m, get_variable("projection_weights", [n, self._num_proj], dtype=dtype))
        return m, LSTMStateTuple(c, m)


class UGRNNCell(_Sized):
    """The update gate cell: one gate controls how much of the state is replaced.

    Args:
      num_units: the size of the state.
      initializer: of the weights.
      forget_bias: added to the gate.
      activation: a function; tanh by default.
      reuse: True to reuse existing variables.
    Reference: Collins et al. 2016, Capacity and Trainability in Recurrent Neural Networks; TensorFlow 1.15
      `tf.contrib.rnn.UGRNNCell`.
    """

    def __init__(self, num_units: int, initializer: Any = None, forget_bias: float = 1.0, activation: Any = raw.Tanh,
                 reuse: Any = None):
        super().__init__(num_units, reuse)
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            gate, new = raw.Split(1, linear([inputs, state], 2 * self._num_units), num_split=2)
        gate = raw.Sigmoid(gate + self._forget_bias)
        state = gate * state + (1.0 - gate) * self._activation(new)
        return state, state


class IntersectionRNNCell(_Sized):
    """The +RNN: gates through time, and gates through depth.

    Args:
      num_units: the size of state and output, and of inputs.
      num_in_proj: `num_units` for inputs of another size, which are projected then.
      initializer: of the weights.
      forget_bias: added to the gates.
      y_activation: the activation of the depth path; relu by default.
      reuse: True to reuse existing variables.
    Raises: ValueError for inputs of another size without `num_in_proj`.
    Reference: Collins et al. 2016; TensorFlow 1.15 `tf.contrib.rnn.IntersectionRNNCell`.
    """

    def __init__(self, num_units: int, num_in_proj: int | None = None, initializer: Any = None,
                 forget_bias: float = 1.0, y_activation: Any = raw.Relu, reuse: Any = None):
        super().__init__(num_units, reuse)
        self._num_in_proj = num_in_proj
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._y_activation = y_activation

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        n = self._num_units
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            if _depth(inputs) != n:
                if not self._num_in_proj:
                    raise ValueError("Must have input size == output size for Intersection RNN. To fix, num_in_proj "
                                     f"should be set to num_units at cell init.\n  Built at {user_source(2)}\n"
                                     f"  Fix: IntersectionRNNCell({n}, num_in_proj={n})")
                with variable_scope("in_projection"):
                    inputs = linear([inputs], n)
            time_gate, new, depth_gate, y = raw.Split(1, linear([inputs, state], 4 * n), num_split=4)
        time_gate, depth_gate = (raw.Sigmoid(g + self._forget_bias) for g in (time_gate, depth_gate))
        state = time_gate * state + (1.0 - time_gate) * raw.Tanh(new)
        return depth_gate * inputs + (1.0 - depth_gate) * self._y_activation(y), state


class CoupledInputForgetGateLSTMCell(_Memory):
    """The LSTM with coupled gates: input gate = 1 - forget gate.

    Args:
      num_units: the size of the memory.
      use_peepholes: whether the gates have connections from the memory, by diagonal weights.
      initializer: of the weights.
      num_proj: the size that the output is projected to, or None.
      proj_clip: the bound that the projected output is clipped to, or None.
      num_unit_shards, num_proj_shards: accepted; variables are kept whole.
      forget_bias: added to the forget gate.
      state_is_tuple: True.
      activation: a function; tanh by default.
      reuse: True to reuse existing variables.
      layer_norm: whether to normalize gates and memory; with it there is no bias.
      norm_gain, norm_shift: the initial values of gamma and beta.
    Raises: NotImplementedError for states that are no tuple.
    Reference: Greff et al. 2015, LSTM: A Search Space Odyssey; TensorFlow 1.15
      `tf.contrib.rnn.CoupledInputForgetGateLSTMCell`.
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, initializer: Any = None,
                 num_proj: int | None = None, proj_clip: Any = None, num_unit_shards: int = 1, num_proj_shards: int = 1,
                 forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = raw.Tanh, reuse: Any = None,
                 layer_norm: bool = False, norm_gain: float = 1.0, norm_shift: float = 0.0):
        if not state_is_tuple:
            raise NotImplementedError("CoupledInputForgetGateLSTMCell: state_is_tuple=False is not implemented. Fix: "
                                      "leave it out")
        super().__init__(num_units, reuse)
        self._use_peepholes = use_peepholes
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._activation = activation
        self._layer_norm = layer_norm
        self._start = norm_gain, norm_shift

    def _norm(self, t: Any, scope: str) -> Any:
        return _normalized(t, *self._start, scope) if self._layer_norm else t

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        c, m = state
        n, dtype = self._num_units, inputs.dtype
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            kernel = get_variable("W_0", [_depth(inputs) + self.output_size, 3 * n], dtype=dtype)
            bias = get_variable("B", [3 * n], dtype=dtype, initializer=Zeros())
            whole = raw.MatMul(raw.ConcatV2([inputs, m], 1), kernel)
            if not self._layer_norm:
                whole = raw.BiasAdd(whole, bias)
            j, f, o = raw.Split(1, whole, num_split=3)
            j, f, o = self._norm(j, "transform"), self._norm(f, "forget"), self._norm(o, "output")
            f = f + self._forget_bias
            if self._use_peepholes:
                f = f + get_variable("W_F_diag", [n], dtype=dtype) * c
                seen = get_variable("W_O_diag", [n], dtype=dtype)
            f = raw.Sigmoid(f)
            c = self._norm(f * c + (1.0 - f) * self._activation(j), "state")
            if self._use_peepholes:
                o = o + seen * c
            m = raw.Sigmoid(o) * self._activation(c)
            if self._num_proj is not None:
                m = raw.MatMul(m, get_variable("W_P_0", [n, self._num_proj], dtype=dtype))
                if self._proj_clip is not None:
                    m = clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m)


class TimeFreqLSTMCell(_Sized):
    """An LSTM over windows of the input's features, each of which gets the output of the previous one.

    Args:
      num_units: the size of each window's memory.
      use_peepholes: whether the gates have connections from the memory, by diagonal weights.
      cell_clip: the bound that the memory is clipped to, or None.
      initializer: of the weights.
      num_unit_shards: accepted; variables are kept whole.
      forget_bias: added to the forget gate.
      feature_size, frequency_skip: the size of windows, and their distance.
      reuse: True to reuse existing variables.
    Reference: Sainath and Li 2016, Modeling Time-Frequency Patterns with LSTM vs. Convolutional Architectures;
      TensorFlow 1.15 `tf.contrib.rnn.TimeFreqLSTMCell`.
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, cell_clip: Any = None, initializer: Any = None,
                 num_unit_shards: int = 1, forget_bias: float = 1.0, feature_size: int | None = None,
                 frequency_skip: int = 1, reuse: Any = None):
        super().__init__(num_units, reuse)
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip

    @property
    def state_size(self) -> Any:
        """The size of one window's c and h."""
        return 2 * self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        n, dtype = self._num_units, inputs.dtype
        width = self._feature_size or _depth(inputs)
        windows = [inputs[:, at : at + width]
                   for at in range(0, _depth(inputs) - width + 1, self._frequency_skip)]
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            kernel = get_variable("W_0", [width + 2 * n, 4 * n], dtype=dtype)
            bias = get_variable("B", [4 * n], dtype=dtype, initializer=Zeros())
            seen = [get_variable(f"W_{g}_diag", [n], dtype=dtype) if self._use_peepholes else None for g in "FIO"]
        before = raw.ZerosLike(state[:, :n])
        states, outputs = [], []
        for k, window in enumerate(windows):
            c, m = state[:, 2 * k * n : (2 * k + 1) * n], state[:, (2 * k + 1) * n : (2 * k + 2) * n]
            whole = raw.BiasAdd(raw.MatMul(raw.ConcatV2([window, m, before], 1), kernel), bias)
            i, j, f, o = raw.Split(1, whole, num_split=4)
            f = f + self._forget_bias
            if self._use_peepholes:
                f, i = f + seen[0] * c, i + seen[1] * c
            c = raw.Sigmoid(f) * c + raw.Sigmoid(i) * raw.Tanh(j)
            if self._cell_clip is not None:
                c = clip_by_value(c, -self._cell_clip, self._cell_clip)
            o = o + seen[2] * c if self._use_peepholes else o
            before = raw.Sigmoid(o) * raw.Tanh(c)
            states += [c, before]
            outputs.append(before)
        return raw.ConcatV2(outputs, 1) if len(outputs) > 1 else outputs[0], raw.ConcatV2(states, 1)


class PhasedLSTMCell(_Memory):
    """The LSTM whose units open periodically; inputs are (time (batch, 1), features (batch, n)).

    Args:
      num_units: the size of the memory.
      use_peepholes: whether the gates have connections from the memory.
      leak: the fraction that passes while closed.
      ratio_on: the fraction of a period during which a unit is open.
      trainable_ratio_on: whether that is learnt.
      period_init_min, period_init_max: bounds of the initial periods.
      reuse: True to reuse existing variables.
    Reference: Neil et al. 2016, Phased LSTM; TensorFlow 1.15 `tf.contrib.rnn.PhasedLSTMCell`.
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, leak: float = 0.001, ratio_on: float = 0.1,
                 trainable_ratio_on: bool = True, period_init_min: float = 1.0, period_init_max: float = 1000.0,
                 reuse: Any = None):
        super().__init__(num_units, reuse)
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._bounds = math.log(period_init_min), math.log(period_init_max)

    def _first_period(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return raw.Exp(random_uniform(shape, *self._bounds, dtype or "float32"))

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        (time, x), (c, h), n = inputs, state, self._num_units
        with variable_scope("mask_gates"):
            gates = raw.Sigmoid(linear([x, h, c] if self._use_peepholes else [x, h], 2 * n))
            i, f = raw.Split(1, gates, num_split=2)
        with variable_scope("new_input"):
            new_c = c * f + i * raw.Tanh(linear([x, h], n))
        with variable_scope("output_gate"):
            o = raw.Sigmoid(linear([x, h, new_c] if self._use_peepholes else [x, h], n))
        new_h = raw.Tanh(new_c) * o
        period = get_variable("period", [n], initializer=self._first_period)
        phase = get_variable("phase", [n], initializer=_UpTo(period))
        ratio = get_variable("ratio_on", [n], initializer=Constant(self._ratio_on), trainable=self._trainable_ratio_on)
        shifted = time - raw.Cast(phase, DstT=time.dtype)
        wide = raw.Cast(period, DstT=time.dtype)
        # The remainder's derivative is that of its argument.
        within = shifted + raw.StopGradient(raw.FloorMod(shifted, wide) - shifted)
        cycle = raw.Cast(within / wide, DstT=x.dtype)
        rising = 2.0 * cycle / ratio
        k = raw.SelectV2(raw.Less(cycle, ratio), 2.0 - rising, self._leak * cycle)
        k = raw.SelectV2(raw.Less(cycle, 0.5 * ratio), rising, k)
        c, h = k * new_c + (1.0 - k) * c, k * new_h + (1.0 - k) * h
        return h, LSTMStateTuple(c, h)


class _UpTo:
    """An initializer: uniform values between 0 and a variable's initial ones."""

    def __init__(self, variable: Any):
        self.variable = variable

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return random_uniform(shape, dtype=dtype or "float32") * self.variable.initialized_value()
