"""`AttentionWrapper` of `tf.contrib.seq2seq`, a cell that attends to a memory."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from graphgrad.frontend.rnn.rnn_cells import RNNCell, assert_like_rnn_cell, zeros_of_size
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.tensor_array import TensorArray
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.layers.dense import Dense

from .attention import AttentionMechanism


class AttentionWrapperState(collections.namedtuple("AttentionWrapperState", (
        "cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"))):
    """The state of an `AttentionWrapper`.

    `cell_state` is that of the cell; `attention` the last attention, (batch, size); `time` the number of steps, a
    scalar int32; `alignments` the last weights and `attention_state` the states of the mechanisms (a tuple if there
    are several); `alignment_history` a `TensorArray` of all weights, or ().
    """

    __slots__ = ()

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """Returns a copy with some parts replaced, `cell_state` above all; their shapes have to fit.

        >>> from graphgrad.compat.contrib import seq2seq
        >>> wrapper = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), seq2seq.LuongAttention(3, tf.ones([2, 5, 4])))
        >>> state = wrapper.zero_state(2, tf.float32).clone(cell_state=tf.ones([2, 3]))
        >>> sess.run(state.cell_state[0])
        array([1., 1., 1.], dtype=float32)
        """
        whole = self._replace(**kwargs)
        for name in kwargs:
            nest.assert_same_structure(getattr(self, name), getattr(whole, name))
            for old, new in zip(nest.flatten(getattr(self, name)), nest.flatten(getattr(whole, name)), strict=True):
                if hasattr(old, "op") and hasattr(new, "op") and not old.shape.is_compatible_with(new.shape):
                    raise ValueError(f"The shape of the {name} {new.shape} is not that of the old one, {old.shape}\n"
                                     f"  Asked for at {user_source(2)}\n  Fix: give tensors of that shape")
        return whole


class AttentionWrapper(RNNCell):
    """A cell whose inputs and outputs are concatenated with the attention.

    Each step gives the cell its input, concatenated with the last attention. The output of the cell is the query; the
    context is the sum of the memory's values by the weights that the mechanism gives, and the attention is the context,
    or `attention_layer` of output and context.

    Args:
      cell: the cell.
      attention_mechanism: an `AttentionMechanism`, or a list of them.
      attention_layer_size: the size of the attention, of a dense layer without bias; None for the context itself.
        A list for several mechanisms.
      alignment_history: whether the state keeps all weights.
      cell_input_fn: a function of input and last attention that gives the cell's input; concatenation by
        default.
      output_attention: whether the attention is the output; else that of the cell.
      initial_cell_state: the cell's state for `zero_state`, instead of zeros.
      name: the name of its variable scope, "attention_wrapper" by default.
      attention_layer: a layer, or a list of them, in place of `attention_layer_size`.
      attention_fn: a function of mechanism, cell output, attention state and layer that gives attention, alignments
        and next attention state.
      dtype: the dtype of its variables; that of the first input by default.
    Raises: TypeError for another cell or mechanism; ValueError for both layers and sizes, or lists of other lengths.
    Reference: TensorFlow 1.15 `tf.contrib.seq2seq.AttentionWrapper`.

    >>> from graphgrad.compat.contrib import seq2seq
    >>> attention = seq2seq.BahdanauAttention(6, tf.ones([2, 5, 4]), [5, 2])
    >>> cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), attention, attention_layer_size=7)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), state.alignments.shape.as_list()
    ([2, 7], [2, 5])
    >>> [v.name for v in cell.variables][-1]
    'attention_wrapper/attention_layer/kernel:0'
    """

    def __init__(self, cell: Any, attention_mechanism: Any, attention_layer_size: Any = None,
                 alignment_history: bool = False, cell_input_fn: Any = None, output_attention: bool = True,
                 initial_cell_state: Any = None, name: str | None = None, attention_layer: Any = None,
                 attention_fn: Any = None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        assert_like_rnn_cell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = tuple(attention_mechanism) if self._is_multi else (attention_mechanism,)
        for m in mechanisms:
            if not isinstance(m, AttentionMechanism):
                raise TypeError("attention_mechanism must be an AttentionMechanism or list of multiple "
                                f"AttentionMechanism instances, saw type: {type(m).__name__}\n"
                                f"  Asked for at {user_source(2)}\n  Fix: pass e.g. LuongAttention(...)")
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}\n"
                            f"  Asked for at {user_source(2)}\n  Fix: pass a function of input and attention")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set\n"
                             f"  Asked for at {user_source(2)}\n  Fix: leave one out")
        self._layers = _layers(attention_layer_size, attention_layer, mechanisms, dtype)
        self._layer_size = sum(map(_width, self._layers, mechanisms))
        self._cell = cell
        self._attention_mechanisms = mechanisms
        self._cell_input_fn = cell_input_fn or _side_by_side
        self._attention_fn = attention_fn or _attend
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        with name_scope(name, "AttentionWrapperInit"):
            state = initial_cell_state
            self._initial_cell_state = None if state is None else nest.map_structure(convert_to_tensor, state)

    def _item_or_tuple(self, items: Any) -> Any:
        return tuple(items) if self._is_multi else next(iter(items))

    @property
    def output_size(self) -> Any:
        """The size of the attention, or of the cell's output."""
        return self._layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        """The sizes of the state's parts."""
        sizes = self._item_or_tuple(m.alignments_size for m in self._attention_mechanisms)
        return AttentionWrapperState(
            self._cell.state_size, self._layer_size, TensorShape([]), sizes, sizes if self._alignment_history else (),
            self._item_or_tuple(m.state_size for m in self._attention_mechanisms))

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Makes the first state: zeros, or `initial_cell_state`, and the initial states of the mechanisms.

        Raises: ValueError if a size is known and contradicts `batch_size`.
        """
        with name_scope(f"{type(self).__name__}ZeroState"):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.zero_state(batch_size, dtype)
            known = [m.batch_size for m in self._attention_mechanisms]
            known += [t.shape.as_list()[0] for t in nest.flatten(cell_state) if hasattr(t, "op") and t.shape.rank]
            for n in known:
                if isinstance(n, int) and isinstance(batch_size, int) and n != batch_size:
                    raise ValueError(f"AttentionWrapper.zero_state of a batch of {batch_size}, but memory or cell "
                                     f"state have one of {n}. If a BeamSearchDecoder uses the wrapper, both have to "
                                     f"be tiled.\n  Asked for at {user_source(2)}\n"
                                     "  Fix: memory = tf.contrib.seq2seq.tile_batch(memory, multiplier=beam_width), "
                                     "and so its lengths and the encoder's state")
            alignments = [m.initial_alignments(batch_size, dtype) for m in self._attention_mechanisms]
            history = [TensorArray(dtype, 0, dynamic_size=True, element_shape=a.shape) for a in alignments]
            time = raw.Identity(convert_to_tensor(0, int32))
            return AttentionWrapperState(
                cell_state, zeros_of_size(batch_size, self._layer_size, dtype), time,
                self._item_or_tuple(alignments), self._item_or_tuple(history) if self._alignment_history else (),
                self._item_or_tuple(m.initial_state(batch_size, dtype) for m in self._attention_mechanisms))

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} "
                            f"instead.\n  Built at {user_source(2)}\n"
                            "  Fix: cell.zero_state(...).clone(cell_state=...)")
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        previous = state.attention_state if self._is_multi else [state.attention_state]
        history = state.alignment_history if self._is_multi else [state.alignment_history]
        found = [self._attention_fn(m, output, s, layer)
                 for m, s, layer in zip(self._attention_mechanisms, previous, self._layers, strict=True)]
        attention = raw.ConcatV2([f[0] for f in found], 1) if len(found) > 1 else found[0][0]
        kept: Any = ()
        if self._alignment_history:
            kept = self._item_or_tuple(h.write(state.time, f[1]) for h, f in zip(history, found, strict=True))
        new = AttentionWrapperState(cell_state, attention, state.time + 1, self._item_or_tuple(f[1] for f in found),
                                    kept, self._item_or_tuple(f[2] for f in found))
        return (attention if self._output_attention else output), new


def _layers(size: Any, layer: Any, mechanisms: tuple[Any, ...], dtype: Any) -> tuple[Any, ...]:
    """Returns the layer of each mechanism, or None."""
    given = size if layer is None else layer
    if given is None:
        return (None,) * len(mechanisms)
    each = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if len(each) != len(mechanisms):
        what = "attention_layer_size" if layer is None else "attention_layer"
        raise ValueError(f"If provided, {what} must contain exactly one integer or layer per attention_mechanism, "
                         f"saw: {len(each)} vs {len(mechanisms)}\n  Asked for at {user_source(3)}\n"
                         "  Fix: give a list of that length")
    if layer is not None:
        return each
    return tuple(Dense(n, name="attention_layer", use_bias=False, **({} if dtype is None else {"dtype": dtype}))
                 for n in each)


def _width(layer: Any, mechanism: Any) -> int:
    size = mechanism.values.shape.as_list()[-1]
    if layer is None:
        return int(size)
    if hasattr(layer, "units"):
        return int(layer.units)
    return int(layer.compute_output_shape(TensorShape([None, size])).as_list()[-1])


def _side_by_side(inputs: Any, attention: Any) -> Any:
    return raw.ConcatV2([inputs, attention], np.int32(-1))


def _attend(mechanism: Any, output: Any, state: Any, layer: Any) -> Any:
    """Computes attention, alignments and next state of one mechanism."""
    alignments, state = mechanism(output, state)
    context = raw.BatchMatMulV2(raw.ExpandDims(alignments, 1), mechanism.values)
    context = raw.Squeeze(context, squeeze_dims=(1,))
    attention = context if layer is None else layer(raw.ConcatV2([output, context], 1))
    return attention, alignments, state


