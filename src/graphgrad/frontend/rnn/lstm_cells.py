"""Cells of long short-term memory: `tf.nn.rnn_cell`."""

from __future__ import annotations

import collections
from typing import Any

from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.initializers import Zeros
from graphgrad.frontend.variables.partitioned import fixed_size_partitioner
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ops.math.clip import clip_by_value

from .rnn_cells import _activation, _dense, _LayerCell


class LSTMStateTuple(collections.namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: the cell's memory `c` and its output `h`."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The dtype of both; raises TypeError if they differ."""
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class _LSTM(_LayerCell):
    """What the two LSTM cells share."""

    _num_units: int
    _state_is_tuple: bool
    _forget_bias: Any

    def _split_state(self, state: Any, output_size: int) -> tuple[Any, Any]:
        if self._state_is_tuple:
            if not nest.is_nested(state) or len(state) != 2:
                raise TypeError(f"{self.name}: the state must be an LSTMStateTuple (c, h), not {state!r}.\n"
                                f"  Built at {user_source(2)}\n"
                                "  Fix: pass cell.zero_state(...), or set state_is_tuple=False")
            c, h = state
            return c, h
        n = self._num_units
        return raw.Slice(state, [0, 0], [-1, n]), raw.Slice(state, [0, n], [-1, output_size])

    def _join_state(self, c: Any, h: Any) -> Any:
        return LSTMStateTuple(c, h) if self._state_is_tuple else raw.ConcatV2([c, h], 1)


class BasicLSTMCell(_LSTM):
    """The long short-term memory cell, without peepholes, projection or clipping.

    With [i, j, f, o] = [input, h] kernel + bias, c' = sigmoid(f + forget_bias) c + sigmoid(i) act(j) and
    h' = sigmoid(o) act(c').

    Args:
      num_units: the size of memory and output.
      forget_bias: added to f, so that little is forgotten at first.
      state_is_tuple: whether the state is an `LSTMStateTuple`; else (batch, 2 num_units).
      activation: a function, or its name; tanh by default.
      reuse: True to reuse existing variables.
      name: the name of the cell and of its variable scope.
      dtype: the dtype of its variables; that of the first input by default.
      **kwargs: `trainable`.
    Reference: Zaremba et al. 2014, Recurrent Neural Network Regularization; TensorFlow 2.21
      `tf.compat.v1.nn.rnn_cell.BasicLSTMCell`.

    >>> cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> state.c.shape.as_list(), [v.name for v in cell.variables]
    ([2, 4], ['basic_lstm_cell/kernel:0', 'basic_lstm_cell/bias:0'])
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = None,
                 reuse: Any = None, name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = _activation(activation)

    @property
    def state_size(self) -> Any:
        """The sizes of c and h."""
        n = self._num_units
        return LSTMStateTuple(n, n) if self._state_is_tuple else 2 * n

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self._num_units

    def _build(self, depth: int) -> None:
        n = self._num_units
        self._kernel = self.add_weight("kernel", [depth + n, 4 * n])
        self._bias = self.add_weight("bias", [4 * n], initializer=Zeros())

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        self._check(inputs, state)
        c, h = self._split_state(state, self._num_units)
        i, j, f, o = raw.Split(1, _dense(inputs, h, self._kernel, self._bias), num_split=4)
        c = c * raw.Sigmoid(f + self._forget_bias) + raw.Sigmoid(i) * self._activation(j)
        h = self._activation(c) * raw.Sigmoid(o)
        return h, self._join_state(c, h)


class LSTMCell(_LSTM):
    """The long short-term memory cell, with optional peepholes, projection and clipping.

    Args:
      num_units: the size of the memory.
      use_peepholes: whether the gates see the memory, by diagonal weights.
      cell_clip: the bound that the memory is clipped to, or None.
      initializer: for kernels and diagonal weights; the scope's by default.
      num_proj: the size that the output is projected to, or None.
      proj_clip: the bound that the projected output is clipped to, or None.
      num_unit_shards, num_proj_shards: accepted as TensorFlow does; variables are kept whole.
      forget_bias: added to the forget gate.
      state_is_tuple: whether the state is an `LSTMStateTuple`; else both are concatenated to one tensor.
      activation: a function, or its name; tanh by default.
      reuse: True to reuse existing variables.
      name: the name of the cell and of its variable scope.
      dtype: the dtype of its variables; that of the first input by default.
      **kwargs: `trainable`.
    Reference: Hochreiter and Schmidhuber 1997, Long Short-Term Memory; Sak et al. 2014, Long Short-Term Memory
      Recurrent Neural Network Architectures; TensorFlow 2.21 `tf.compat.v1.nn.rnn_cell.LSTMCell`.

    >>> cell = tf.nn.rnn_cell.LSTMCell(4, num_proj=2)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), state.c.shape.as_list()
    ([2, 2], [2, 4])
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, cell_clip: Any = None, initializer: Any = None,
                 num_proj: int | None = None, proj_clip: Any = None, num_unit_shards: Any = None,
                 num_proj_shards: Any = None, forget_bias: float = 1.0, state_is_tuple: bool = True,
                 activation: Any = None, reuse: Any = None, name: str | None = None, dtype: Any = None,
                 **kwargs: Any):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._shards = num_unit_shards, num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = _activation(activation)

    @property
    def state_size(self) -> Any:
        """The sizes of c and h."""
        n, m = self._num_units, self.output_size
        return LSTMStateTuple(n, m) if self._state_is_tuple else n + m

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self._num_proj or self._num_units

    def _build(self, depth: int) -> None:
        n = self._num_units
        shards = [None if s is None else fixed_size_partitioner(s) for s in self._shards]
        self._kernel = self.add_weight("kernel", [depth + self.output_size, 4 * n], initializer=self._initializer,
                                       partitioner=shards[0])
        self._bias = self.add_weight("bias", [4 * n], initializer=Zeros())
        if self._use_peepholes:
            self._w_f, self._w_i, self._w_o = (
                self.add_weight(f"w_{gate}_diag", [n], initializer=self._initializer) for gate in "fio"
            )
        if self._num_proj is not None:
            self._projection = self.add_weight("projection/kernel", [n, self._num_proj],
                                               initializer=self._initializer, partitioner=shards[1])

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        self._check(inputs, state)
        c, h = self._split_state(state, self.output_size)
        i, j, f, o = raw.Split(1, _dense(inputs, h, self._kernel, self._bias), num_split=4)
        f = f + self._forget_bias
        if self._use_peepholes:
            f, i = f + self._w_f * c, i + self._w_i * c
        c = raw.Sigmoid(f) * c + raw.Sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            o = o + self._w_o * c
        h = raw.Sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            h = raw.MatMul(h, self._projection)
            if self._proj_clip is not None:
                h = clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, self._join_state(c, h)
