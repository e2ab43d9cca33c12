"""Cells of `tf.contrib.rnn` that wrap others, and cells of one op."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.rnn.lstm_cells import LSTMStateTuple
from graphgrad.frontend.rnn.rnn_cells import RNNCell, _LayerCell, _UnitSized, assert_like_rnn_cell
from graphgrad.frontend.rnn.scoped_layer import ScopedLayer
from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.initializers import Constant, Ones, RandomUniform, Zeros
from graphgrad.frontend.variables.variable_scope import get_variable, variable_scope
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ops.array.mask import sequence_mask
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.nn.embedding import embedding_lookup_v1 as embedding_lookup

from .contrib_cells import linear


class _Around(RNNCell):
    """A cell that wraps another one."""

    def __init__(self, cell: Any, reuse: Any = None, **kwargs: Any):
        assert_like_rnn_cell("cell", cell)
        super().__init__(_reuse=reuse, **kwargs)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        """The size of the cell's state."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """The size of the cell's output."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns the cell's zero state."""
        return self._cell.zero_state(batch_size, dtype)


class AttentionCellWrapper(_Around):
    """A cell that attends to its own last outputs.

    Args:
      cell: the cell.
      attn_length: the number of outputs that it remembers.
      attn_size: their size; that of the cell's output by default.
      attn_vec_size: the size of the network within; `attn_size` by default.
      input_size: the size of the cell's inputs; that of the inputs by default.
      state_is_tuple: True: the state is (the cell's, the attention, the outputs).
      reuse: True to reuse existing variables.
    Raises: TypeError if `cell` is not a cell; ValueError for a length that is not positive; NotImplementedError for
      states that are no tuple.
    Reference: Bahdanau et al. 2014, Neural Machine Translation by Jointly Learning to Align and Translate; TensorFlow
      1.15 `tf.contrib.rnn.AttentionCellWrapper`.

    >>> from graphgrad.compat.contrib import rnn
    >>> cell = rnn.AttentionCellWrapper(tf.nn.rnn_cell.GRUCell(4), attn_length=3)
    >>> output, state = cell(tf.ones([2, 5]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), cell.state_size
    ([2, 4], (4, 4, 12))
    """

    def __init__(self, cell: Any, attn_length: int, attn_size: int | None = None, attn_vec_size: int | None = None,
                 input_size: int | None = None, state_is_tuple: bool = True, reuse: Any = None):
        super().__init__(cell, reuse)
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}\n"
                             f"  Asked for at {user_source(2)}\n  Fix: e.g. 8")
        if not state_is_tuple:
            raise NotImplementedError("AttentionCellWrapper: state_is_tuple=False is not implemented. Fix: leave it "
                                      "out")
        self._length = attn_length
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state, the attention, and the outputs."""
        return self._cell.state_size, self._attn_size, self._attn_size * self._length

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self._attn_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Makes a state of zeros."""
        return RNNCell.zero_state(self, batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        state, attention, outputs = state
        outputs = raw.Reshape(outputs, np.array([-1, self._length, self._attn_size], np.int32))
        entering = linear([inputs, attention], self._input_size or inputs.shape.as_list()[1])
        output, state = self._cell(entering, state)
        attention, kept = self._attend(raw.ConcatV2([*nest.flatten(state)], 1) if nest.is_nested(state) else state,
                                       outputs)
        with variable_scope("attn_output_projection"):
            output = linear([output, attention], self._attn_size)
        outputs = raw.ConcatV2([kept, raw.ExpandDims(output, 1)], 1)
        outputs = raw.Reshape(outputs, np.array([-1, self._length * self._attn_size], np.int32))
        return output, (state, attention, outputs)

    def _attend(self, query: Any, outputs: Any) -> Any:
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, self._attn_size, self._vec_size], dtype=query.dtype)
            v = get_variable("attn_v", [self._vec_size], dtype=query.dtype)
            flat = raw.Reshape(outputs, np.array([-1, self._attn_size], np.int32))
            weights = raw.Reshape(kernel, np.array([self._attn_size, self._vec_size], np.int32))
            keys = raw.Reshape(raw.MatMul(flat, weights), np.array([-1, self._length, self._vec_size], np.int32))
            asked = raw.ExpandDims(linear([query], self._vec_size), 1)
            scores = raw.Sum(v * raw.Tanh(keys + asked), np.array([2], np.int32))
            found = raw.Sum(raw.ExpandDims(raw.Softmax(scores), 2) * outputs, np.array([1], np.int32))
            return found, outputs[:, 1:]


class HighwayWrapper(_Around):
    """A cell with a highway connection: a gated part of its input is added to the output.

    Args:
      cell: the cell, whose outputs have the size of its inputs.
      couple_carry_transform_gates: whether transform gate = 1 - carry gate; else there are two gates.
      carry_bias_init: the initial bias of the carry gate.
    Reference: Srivastava et al. 2015, Highway Networks; TensorFlow 1.15 `tf.contrib.rnn.HighwayWrapper`.
    """

    def __init__(self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0):
        super().__init__(cell)
        self._couple = couple_carry_transform_gates
        self._bias = carry_bias_init

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Computes one step."""
        inputs = nest.map_structure(convert_to_tensor, inputs)
        output, state = self._cell(inputs, state, **({} if scope is None else {"scope": scope}))
        return nest.map_structure(self._joined, inputs, output), state

    def _joined(self, inputs: Any, output: Any) -> Any:
        carry = self._gate("carry", inputs, self._bias)
        transform = 1.0 - carry if self._couple else self._gate("transform", inputs, -self._bias)
        return inputs * carry + output * transform

    def _gate(self, name: str, inputs: Any, bias: float) -> Any:
        n = inputs.shape.as_list()[1]
        w = get_variable(f"{name}_w", [n, n], dtype=inputs.dtype)
        b = get_variable(f"{name}_b", [n], dtype=inputs.dtype, initializer=Constant(bias))
        return raw.Sigmoid(raw.BiasAdd(raw.MatMul(inputs, w), b))


class InputProjectionWrapper(_Around):
    """A cell whose inputs pass through a linear layer.

    Args:
      cell: the cell.
      num_proj: the size of its inputs.
      activation: a function of that, or None.
      input_size: accepted; not used.
      reuse: True to reuse existing variables.
    Reference: TensorFlow 1.15 `tf.contrib.rnn.InputProjectionWrapper`.
    """

    def __init__(self, cell: Any, num_proj: int, activation: Any = None, input_size: Any = None, reuse: Any = None):
        super().__init__(cell, reuse)
        self._num_proj = num_proj
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        projected = linear([inputs], self._num_proj)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Around):
    """A cell whose outputs pass through a linear layer.

    Args:
      cell: the cell.
      output_size: the size of the outputs.
      activation: a function of those, or None.
      reuse: True to reuse existing variables.
    Raises: ValueError for a size that is not positive.
    Reference: TensorFlow 1.15 `tf.contrib.rnn.OutputProjectionWrapper`.
    """

    def __init__(self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}\n  Asked for at {user_source(2)}\n"
                             "  Fix: give the size of outputs")
        self._output_size = output_size
        self._activation = activation

    @property
    def output_size(self) -> Any:
        """The size of the outputs."""
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        output, state = self._cell(inputs, state)
        projected = linear([output], self._output_size)
        return self._activation(projected) if self._activation else projected, state


class EmbeddingWrapper(_Around):
    """A cell whose inputs are symbols, embedded as vectors.

    Args:
      cell: the cell.
      embedding_classes, embedding_size: the number of symbols, and the size of vectors.
      initializer: of the vectors; uniform with variance 1 by default.
      reuse: True to reuse existing variables.
    Raises: ValueError for sizes that are not positive.
    Reference: TensorFlow 1.15 `tf.contrib.rnn.EmbeddingWrapper`.
    """

    def __init__(self, cell: Any, embedding_classes: int, embedding_size: int, initializer: Any = None,
                 reuse: Any = None):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError("Both embedding_classes and embedding_size must be > 0: "
                             f"{embedding_classes}, {embedding_size}.\n  Asked for at {user_source(2)}\n"
                             "  Fix: give both")
        self._sizes = [embedding_classes, embedding_size]
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        first = self._initializer or RandomUniform(-np.sqrt(3.0), np.sqrt(3.0))
        dtype = nest.flatten(state)[0].dtype
        table = get_variable("embedding", self._sizes, dtype=dtype, initializer=first)
        ids = raw.Reshape(convert_to_tensor(inputs), np.array([-1], np.int32))
        return self._cell(embedding_lookup(table, ids), state)


class CompiledWrapper(_Around):
    """A wrapper that changes nothing: all cells are compiled.

    Args:
      cell: the cell.
      compile_stateful: accepted.
    """

    def __init__(self, cell: Any, compile_stateful: bool = False):
        super().__init__(cell)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Computes one step."""
        return self._cell(inputs, state, **({} if scope is None else {"scope": scope}))


# -- cells of one op -----------------------------------------------------------------------


class LSTMBlockCell(_LayerCell):
    """The LSTM as one op.

    Args:
      num_units: the size of the memory.
      forget_bias: added to the forget gate.
      cell_clip: the bound that the memory is clipped to, or None.
      use_peephole: whether the gates have connections from the memory, by diagonal weights.
      dtype: the dtype of its variables.
      reuse: True to reuse existing variables.
      name: the name of the cell and of its variable scope.
    Reference: TensorFlow 1.15 `tf.contrib.rnn.LSTMBlockCell`; LSTMBlockCell.

    >>> from graphgrad.compat.contrib import rnn
    >>> cell = rnn.LSTMBlockCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> [v.name for v in cell.variables]
    ['lstm_cell/kernel:0', 'lstm_cell/bias:0']
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, cell_clip: Any = None, use_peephole: bool = False,
                 dtype: Any = None, reuse: Any = None, name: str = "lstm_cell", **kwargs: Any):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1.0 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole

    @property
    def state_size(self) -> Any:
        """The sizes of c and h."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self._num_units

    def _build(self, depth: int) -> None:
        n = self._num_units
        self._kernel = self.add_weight("kernel", [depth + n, 4 * n])
        self._bias = self.add_weight("bias", [4 * n], initializer=Zeros())
        if self._use_peephole:
            self._diagonals = [self.add_weight(f"w_{g}_diag", [n]) for g in "ifo"]

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        c, h = state
        zeros = convert_to_tensor(np.zeros(self._num_units), inputs.dtype)
        seen = self._diagonals if self._use_peephole else [zeros] * 3
        _, c, _, _, _, _, h = raw.LSTMBlockCell(
            inputs, c, h, self._kernel, *seen, self._bias, forget_bias=self._forget_bias, cell_clip=self._cell_clip,
            use_peephole=self._use_peephole)
        return h, LSTMStateTuple(c, h)


class GRUBlockCellV2(_UnitSized, _LayerCell):
    """The GRU as one op.

    Args:
      num_units: the size of the state.
      reuse: True to reuse existing variables.
      name: the name of the cell and of its variable scope.
      **kwargs: `dtype`, `trainable`.
    Reference: TensorFlow 1.15 `tf.contrib.rnn.GRUBlockCellV2`; GRUBlockCell.
    """

    _names = "gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias"

    def __init__(self, num_units: int, reuse: Any = None, name: str = "gru_cell", **kwargs: Any):
        super().__init__(name=name, _reuse=reuse, **kwargs)
        self._num_units = num_units

    def _build(self, depth: int) -> None:
        n = self._num_units
        sizes = [depth + n, 2 * n], [2 * n], [depth + n, n], [n]
        first = None, Ones(), None, Zeros()
        self._w_ru, self._b_ru, self._w_c, self._b_c = (
            self.add_weight(name, size, initializer=i) for name, size, i in zip(self._names, sizes, first, strict=True)
        )

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        *_, new = raw.GRUBlockCell(inputs, state, self._w_ru, self._w_c, self._b_ru, self._b_c)
        return new, new


class GRUBlockCell(GRUBlockCellV2):
    """`GRUBlockCellV2` with other names of variables; `cell_size` is the old name of `num_units`."""

    _names = "w_ru", "b_ru", "w_c", "b_c"

    def __init__(self, num_units: Any = None, cell_size: Any = None, reuse: Any = None, name: str = "gru_cell"):
        super().__init__(num_units or cell_size, reuse, name)


class LSTMBlockFusedCell(ScopedLayer):
    """The LSTM over whole sequences as one op.

    Args:
      num_units: the size of the memory.
      forget_bias: added to the forget gate.
      cell_clip: the bound that the memory is clipped to, or None.
      use_peephole: whether the gates have connections from the memory, by diagonal weights.
      reuse: True to reuse existing variables.
      dtype: the dtype of its variables.
      name: the name of its variable scope.
    Reference: TensorFlow 1.15 `tf.contrib.rnn.LSTMBlockFusedCell`; BlockLSTM.

    >>> from graphgrad.compat.contrib import rnn
    >>> outputs, state = rnn.LSTMBlockFusedCell(4)(tf.ones([5, 2, 3]), dtype=tf.float32, sequence_length=[5, 2])
    >>> outputs.shape.as_list(), state.c.shape.as_list()
    ([5, 2, 4], [2, 4])
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, cell_clip: Any = None, use_peephole: bool = False,
                 reuse: Any = None, dtype: Any = None, name: str = "lstm_fused_cell"):
        super().__init__(name=name, dtype=dtype, _reuse=reuse)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1.0 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole

    @property
    def num_units(self) -> int:
        """The size of the memory."""
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Makes the variables."""
        n, depth = self._num_units, input_shape.as_list()[2]
        self._kernel = self.add_weight("kernel", [depth + n, 4 * n])
        self._bias = self.add_weight("bias", [4 * n], initializer=Zeros())
        zeros = convert_to_tensor(np.zeros(n), self._dtype)
        self._diagonals = [self.add_weight(f"w_{g}_diag", [n]) if self._use_peephole else zeros for g in "ifo"]
        self.built = True

    def call(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None) -> Any:
        """Computes all steps.

        Args:
          inputs: (time, batch, size).
          initial_state: the first c and h; zeros by default.
          dtype: accepted; outputs have the dtype of the inputs.
          sequence_length: (batch,); beyond these outputs are zero and states stay.
        Returns: outputs (time, batch, num_units), and the last state.
        """
        zeros = raw.ZerosLike(raw.MatMul(inputs[0], self._kernel[: inputs.shape.as_list()[2], : self._num_units]))
        c, h = (zeros, zeros) if initial_state is None else initial_state
        steps = raw.Cast(shape(inputs)[0], DstT=int64)
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length, int32)
            steps = raw.Cast(raw.Max(sequence_length, np.array([0], np.int32)), DstT=int64)
        _, cs, _, _, _, _, hs = raw.BlockLSTM(
            steps, inputs, c, h, self._kernel, *self._diagonals, self._bias, forget_bias=self._forget_bias,
            cell_clip=self._cell_clip, use_peephole=self._use_peephole)
        if sequence_length is None:
            return hs, LSTMStateTuple(cs[-1], hs[-1])
        mask = sequence_mask(sequence_length, shape(inputs)[0], inputs.dtype)
        hs = hs * raw.ExpandDims(raw.Transpose(mask, np.array([1, 0], np.int32)), 2)
        # The values at each sequence's end; the first state for sequences of length 0.
        rows = raw.Range(np.int32(0), shape(inputs)[1], np.int32(1))
        at = raw.Pack([sequence_length, rows], axis=1)
        last = [raw.GatherNd(raw.ConcatV2([raw.ExpandDims(first, 0), t], 0), at) for first, t in ((c, cs), (h, hs))]
        return hs, LSTMStateTuple(*last)
