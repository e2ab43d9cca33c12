"""Recurrent cells that wrap cells: layers of cells, dropout, residual connections, devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.frontend.variables.variable_settings import VariableAggregation, VariableSynchronization
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ops.nn.dropout import dropout
from graphgrad.ops.random.random import random_uniform

from .lstm_cells import LSTMStateTuple
from .rnn_cells import RNNCell, _map_sizes, assert_like_rnn_cell


class MultiRNNCell(RNNCell):
    """Stacked cells: each one's output is the next one's input.

    Args:
      cells: the cells, from the input on.
      state_is_tuple: whether the state is a tuple of the cells' states; else they are concatenated to one tensor.
    Raises: ValueError for no cells, and for `state_is_tuple=False` with cells whose states are tuples.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.rnn_cell.MultiRNNCell`.

    >>> cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(n) for n in (4, 2)])
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), cell.state_size, cell.variables[0].name
    ([2, 2], (4, 2), 'multi_rnn_cell/cell_0/gru_cell/gates/kernel:0')
    """

    def __init__(self, cells: Any, state_is_tuple: bool = True):
        super().__init__()
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        self._cells = list(cells)
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_nested(c.state_size) for c in self._cells):
            raise ValueError("Some cells return tuples of states, but the flag state_is_tuple is not set. State sizes "
                             f"are: {[c.state_size for c in self._cells]}\n"
                             "  Fix: set state_is_tuple=False on each cell too")

    @property
    def state_size(self) -> Any:
        """The sizes of the cells' states."""
        sizes = tuple(c.state_size for c in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """The size of the last cell's output."""
        return self._cells[-1].output_size

    @property
    def trainable_weights(self) -> list[Any]:
        """The cells' variables that optimizers update."""
        return [v for c in self._cells for v in getattr(c, "trainable_weights", ())] if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The cells' variables that optimizers do not update."""
        kept = [] if self.trainable else [v for c in self._cells for v in getattr(c, "trainable_weights", ())]
        return kept + [v for c in self._cells for v in getattr(c, "non_trainable_weights", ())]

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Makes a state of zeros."""
        if not self._state_is_tuple:
            return super().zero_state(batch_size, dtype)
        with name_scope(f"{type(self).__name__}ZeroState"):
            return tuple(c.zero_state(batch_size, dtype) for c in self._cells)

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        if self._state_is_tuple and not (nest.is_nested(state) and len(state) == len(self._cells)):
            raise ValueError(f"Expected state to be a tuple of length {len(self._cells)}, but received: {state}\n"
                             f"  Built at {user_source(2)}\n"
                             "  Fix: pass cell.zero_state(batch_size, dtype), or one state for each cell")
        position = 0
        states = []
        for i, cell in enumerate(self._cells):
            with variable_scope(f"cell_{i}"):
                if self._state_is_tuple:
                    part = state[i]
                else:
                    part = raw.Slice(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                inputs, part = cell(inputs, part)
                states.append(part)
        return inputs, tuple(states) if self._state_is_tuple else raw.ConcatV2(states, 1)


class _Wrapper(RNNCell):
    """A cell that wraps another one; it has no variables of its own."""

    def __init__(self, cell: Any, **kwargs: Any):
        super().__init__(**kwargs)
        assert_like_rnn_cell("cell", cell)
        self.cell = cell

    @property
    def wrapped_cell(self) -> Any:
        """The cell inside."""
        return self.cell

    @property
    def state_size(self) -> Any:
        """The size of the cell's state."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """The size of the cell's output."""
        return self.cell.output_size

    @property
    def trainable_weights(self) -> list[Any]:
        """The cell's variables that optimizers update."""
        return list(getattr(self.cell, "trainable_weights", ()))

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The cell's variables that optimizers do not update."""
        return list(getattr(self.cell, "non_trainable_weights", ()))

    def build(self, input_shape: Any) -> None:
        """Makes the cell's variables."""
        self.cell.build(input_shape)
        self.built = True

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Makes a state of zeros."""
        with name_scope(f"{type(self).__name__}ZeroState"):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Computes one step."""
        return self._around(inputs, state, {} if scope is None else {"scope": scope})

    def _around(self, inputs: Any, state: Any, more: dict[str, Any]) -> Any:
        raise NotImplementedError  # each subclass has its own


def _default_filter(state: Any) -> Any:
    """Selects the parts of a state for dropout: not the memory of an LSTM."""
    return LSTMStateTuple(c=False, h=True) if isinstance(state, LSTMStateTuple) else True


def _chosen(visitor: Callable[[Any], Any], state: Any) -> list[bool]:
    """Returns the filter's choice for each leaf of `state`."""
    said = visitor(state)
    if nest.is_nested(said):
        return [flag for s, part in zip(said, state, strict=True)
                for flag in (_chosen(visitor, part) if s is True and nest.is_nested(part)
                             else [bool(s)] * len(nest.flatten(part)))]
    if said and nest.is_nested(state):
        return [flag for part in state for flag in _chosen(visitor, part)]
    return [bool(said)] * len(nest.flatten(state))


class DropoutWrapper(_Wrapper):
    """A cell with dropout on its inputs, outputs and states.

    Args:
      cell: the cell.
      input_keep_prob, output_keep_prob, state_keep_prob: the probability that an element is kept, a float or a
        scalar tensor.
      variational_recurrent: whether the same elements are dropped in each step of a run.
      input_size: the size of the inputs; needed for `variational_recurrent` with dropout of inputs.
      dtype: the dtype of inputs, outputs and states; needed for `variational_recurrent`.
      seed: the seed.
      dropout_state_filter_visitor: for a state, returns the parts that dropout applies to; by default all but the
        memory `c` of LSTMs.
      **kwargs: accepted as TensorFlow does.
    Raises: ValueError for probabilities outside [0, 1].
    Reference: Gal and Ghahramani 2016, A Theoretically Grounded Application of Dropout in Recurrent Neural Networks;
      TensorFlow 2.21 `tf.compat.v1.nn.rnn_cell.DropoutWrapper`.

    >>> cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), output_keep_prob=1.0)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, cell: Any, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0, state_keep_prob: Any = 1.0,
                 variational_recurrent: bool = False, input_size: Any = None, dtype: Any = None, seed: Any = None,
                 dropout_state_filter_visitor: Any = None, **kwargs: Any):
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._filter = dropout_state_filter_visitor or _default_filter
        self._seed = seed
        self._keep = {
            "input": _probability(input_keep_prob, "input_keep_prob"),
            "state": _probability(state_keep_prob, "state_keep_prob"),
            "output": _probability(output_keep_prob, "output_keep_prob"),
        }
        self._noise: dict[str, list[Any]] = {}
        if variational_recurrent:
            if dtype is None:
                raise ValueError("When variational_recurrent=True, dtype must be provided")
            if self._drops("input"):
                if input_size is None:
                    raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                                     "input_size must be provided")
                self._noise["input"] = self._noise_for(input_size, "input", dtype)
            self._noise["state"] = self._noise_for(cell.state_size, "state", dtype)
            self._noise["output"] = self._noise_for(cell.output_size, "output", dtype)

    def _noise_for(self, sizes: Any, what: str, dtype: Any) -> list[Any]:
        made: list[Any] = []

        def add(size: Any) -> None:
            dims = TensorShape(size).as_list() if isinstance(size, TensorShape) else [whole(size)]
            made.append(random_uniform([1, *dims], seed=self._seed_of(what, len(made)), dtype=as_dtype(dtype)))

        _map_sizes(add, sizes)
        return made

    def _seed_of(self, what: str, index: int) -> int | None:
        """Derives a separate seed for each tensor, as TensorFlow does."""
        if self._seed is None:
            return None
        import hashlib

        digest = hashlib.md5(f"{self._seed}{what}_{index}".encode(), usedforsecurity=False).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def _drops(self, what: str) -> bool:
        keep = self._keep[what]
        return not isinstance(keep, float) or keep < 1

    def _dropped(self, values: Any, what: str, chosen: list[bool] | None = None) -> Any:
        keep = self._keep[what]
        out = []
        for i, value in enumerate(nest.flatten(values)):
            if chosen is not None and not chosen[i]:
                out.append(value)
            elif what in self._noise:
                mask = raw.Floor(keep + self._noise[what][i])
                out.append(raw.Mul(value / keep, mask))
            else:
                out.append(dropout(value, rate=1 - keep, seed=self._seed_of(what, i)))
        return nest.pack_sequence_as(values, out)

    def _around(self, inputs: Any, state: Any, more: dict[str, Any]) -> Any:
        if self._drops("input"):
            inputs = self._dropped(inputs, "input")
        output, new_state = self.cell(inputs, state, **more)
        if self._drops("state"):
            new_state = self._dropped(new_state, "state", _chosen(self._filter, new_state))
        if self._drops("output"):
            output = self._dropped(output, "output")
        return output, new_state


def _probability(value: Any, name: str) -> Any:
    with name_scope("DropoutWrapperInit"):
        tensor = convert_to_tensor(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if known < 0 or known > 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {float(known)}\n"
                         f"  Asked for at {user_source(2)}\n"
                         "  Fix: give the probability that an element is kept")
    return float(known)


class ResidualWrapper(_Wrapper):
    """A cell whose inputs are added to its outputs.

    Args:
      cell: the cell.
      residual_fn: a function of inputs and outputs that replaces their sum.
      **kwargs: accepted as TensorFlow does.
    Raises: ValueError if inputs and outputs differ in structure or shape.
    Reference: Wu et al. 2016, Google's Neural Machine Translation System; TensorFlow 2.21
      `tf.compat.v1.nn.rnn_cell.ResidualWrapper`.

    >>> cell = tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(3))
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 3]
    """

    def __init__(self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None, **kwargs: Any):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _around(self, inputs: Any, state: Any, more: dict[str, Any]) -> Any:
        outputs, new_state = self.cell(inputs, state, **more)
        return (self._residual_fn or _sum)(inputs, outputs), new_state


def _sum(inputs: Any, outputs: Any) -> Any:
    nest.assert_same_structure(inputs, outputs)
    for i, o in zip(nest.flatten(inputs), nest.flatten(outputs), strict=True):
        i.shape.assert_is_compatible_with(o.shape)
    return nest.map_structure(raw.AddV2, inputs, outputs)


class DeviceWrapper(_Wrapper):
    """A cell that runs on a device.

    Args:
      cell: the cell.
      device: a device string or function, as for `tf.device`.
      **kwargs: accepted as TensorFlow does.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.rnn_cell.DeviceWrapper`.

    >>> cell = tf.nn.rnn_cell.DeviceWrapper(tf.nn.rnn_cell.GRUCell(3), "/cpu:0")
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.op.device
    '/device:CPU:0'
    """

    def __init__(self, cell: Any, device: Any, **kwargs: Any):
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Makes a state of zeros."""
        graph = current_graph()
        if graph is None:
            return super().zero_state(batch_size, dtype)
        with graph.device(self._device):
            return super().zero_state(batch_size, dtype)

    def _around(self, inputs: Any, state: Any, more: dict[str, Any]) -> Any:
        graph = current_graph()
        if graph is None:
            return self.cell(inputs, state, **more)
        with graph.device(self._device):
            return self.cell(inputs, state, **more)


class _Wrapper2(_Wrapper):
    """The methods of a wrapper with TensorFlow 2's argument names."""

    def build(self, inputs_shape: Any) -> None:
        """Makes the cell's variables."""
        super().build(inputs_shape)

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:
        """Computes one step."""
        return self._around(inputs, state, kwargs)

    def add_weight(  # type: ignore[override]  # as the base classes of TensorFlow 2's wrappers have it
        self,
        name: Any = None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: Any = None,
        constraint: Any = None,
        use_resource: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        **kwargs: Any,
    ) -> Any:
        """Adds a variable to the wrapper itself.

        Args:
          name, shape, dtype, initializer, regularizer, trainable, constraint, use_resource: as in `get_variable`.
          synchronization, aggregation: accepted as TensorFlow does.
          **kwargs: passed on.
        """
        return super().add_weight(name, shape, dtype, initializer, regularizer, trainable, constraint, use_resource,
                                  **kwargs)


class RNNCellDropoutWrapper(_Wrapper2, DropoutWrapper):
    """A cell with dropout on its inputs, outputs and states: the name of TensorFlow 2.

    Args:
      *args, **kwargs: as for `tf.nn.rnn_cell.DropoutWrapper`.
    Raises: ValueError for probabilities outside [0, 1].
    Reference: TensorFlow 2.21 `tf.nn.RNNCellDropoutWrapper`.

    >>> RNNCellDropoutWrapper(tf.nn.rnn_cell.GRUCell(4), output_keep_prob=0.5).output_size
    4
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)


class RNNCellResidualWrapper(_Wrapper2, ResidualWrapper):
    """A cell whose inputs are added to its outputs: the name of TensorFlow 2.

    Args:
      *args, **kwargs: as for `tf.nn.rnn_cell.ResidualWrapper`.
    Raises: ValueError if inputs and outputs differ in structure or shape.
    Reference: TensorFlow 2.21 `tf.nn.RNNCellResidualWrapper`.

    >>> RNNCellResidualWrapper(tf.nn.rnn_cell.GRUCell(4)).state_size
    4
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
