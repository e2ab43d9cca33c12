"""Recurrent cells of TensorFlow 1: `tf.nn.rnn_cell`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.initializers import Constant, Zeros
from graphgrad.frontend.variables.variable_scope import get_variable_scope, variable_scope
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source

from .scoped_layer import ScopedLayer, require_rank


def zeros_of_size(batch_size: Any, size: Any, dtype: Any) -> Any:
    """Makes zeros of shape (batch_size, *size).

    Args:
      batch_size: an int, or a scalar tensor.
      size: an int, a `TensorShape`, or a list of ints.
      dtype: the dtype.
    """
    dims = TensorShape(size).as_list() if isinstance(size, (TensorShape, list, tuple)) else [whole(size)]
    dtype = as_dtype(dtype)
    zero = np.zeros((), dtype.np_dtype)
    if is_tensor_like(batch_size):
        known = constant_value(batch_size)
        if known is None:
            batch = raw.Reshape(raw.Cast(batch_size, DstT=as_dtype("int32")), np.array([1], np.int32))
            return raw.Fill(raw.ConcatV2([batch, np.array(dims, np.int32)], 0), zero, name="zeros")
        batch_size = known
    return raw.Fill(np.array([whole(batch_size), *dims], np.int32), zero, name="zeros")


def assert_like_rnn_cell(argument: str, cell: Any) -> None:
    """Raises TypeError unless `cell` has the interface of a recurrent cell."""
    missing = [text for text, there in (
        ("'output_size' property is missing", _has(cell, "output_size")),
        ("'state_size' property is missing", _has(cell, "state_size")),
        ("either 'zero_state' or 'get_initial_state' method is required",
         _has(cell, "zero_state") or _has(cell, "get_initial_state")),
        ("is not callable", callable(cell))) if not there]
    if missing:
        raise TypeError(f"The argument {argument!r} ({cell}) is not an RNNCell: {', '.join(missing)}.\n"
                        f"  Asked for at {user_source(2)}\n"
                        "  Fix: pass a cell, e.g. tf.nn.rnn_cell.LSTMCell(64)")


def _has(cell: Any, name: str) -> bool:
    try:
        getattr(cell, name)
    except AttributeError:
        return False
    except NotImplementedError:
        pass  # it is there, but abstract
    return True


class RNNCell(ScopedLayer):
    """The base of recurrent cells: `output, next_state = cell(input, state)`.

    A subclass gives `state_size`, `output_size` and `call(inputs, state)`. Variables that `call` takes with
    `tf.get_variable` are in the cell's scope.

    Args:
      trainable: whether optimizers update its variables.
      name: the cell's name; made from the class by default.
      dtype: the dtype of its variables; that of the first input by default.

    >>> class Sum(tf.nn.rnn_cell.RNNCell):
    ...     state_size = output_size = 1
    ...     def call(self, inputs, state):
    ...         return inputs + state, inputs + state
    >>> outputs, state = tf.nn.dynamic_rnn(Sum(), tf.constant([[[1.0], [2.0], [3.0]]]), dtype=tf.float32)
    >>> sess.run(state)
    array([[6.]], dtype=float32)
    """

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(trainable, name, dtype, **kwargs)

    @property
    def state_size(self) -> Any:
        """The size of the state: an int, a `TensorShape`, or a structure of them."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output: an int, a `TensorShape`, or a structure of them."""
        raise NotImplementedError("Abstract method")

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Computes one step.

        Args:
          inputs: (batch, input size), or a structure of tensors.
          state: (batch, state size), or a structure as `state_size` has it.
          scope: the variable scope, for a cell that has none yet.
        Returns: the output (batch, output size), and the next state.
        """
        if scope is None:
            with variable_scope(get_variable_scope(), custom_getter=self._getter, auxiliary_name_scope=False):
                return super().__call__(inputs, state)
        with variable_scope(scope, custom_getter=self._getter) as opened:
            return super().__call__(inputs, state, scope=opened)

    def _getter(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        self._remember(variable)
        return variable

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Makes a state of zeros.

        Args:
          batch_size: an int, or a scalar tensor.
          dtype: the dtype.
        Returns: tensors (batch_size, size), structured as `state_size` is.
        """
        with name_scope(f"{type(self).__name__}ZeroState"):
            return zero_state_tensors(self.state_size, batch_size, dtype)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Returns zeros for a state, with batch size and dtype from `inputs` (batch, ...) if it is given.

        Raises: ValueError if neither gives batch size and dtype, or they contradict each other.
        """
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            own = inputs.shape.as_list()[0]
            known = constant_value(batch_size) if is_tensor_like(batch_size) else batch_size
            if known is not None and own is not None and own != int(known):
                raise ValueError("batch size from input tensor is different from the input param. "
                                 f"Input tensor batch: {own}, batch_size: {batch_size}")
            if dtype is not None and as_dtype(dtype) is not inputs.dtype:
                raise ValueError("dtype from input tensor is different from the input param. "
                                 f"Input tensor dtype: {inputs.dtype}, dtype: {dtype}")
            batch_size = raw.Shape(inputs)[0] if own is None else own
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError("batch_size and dtype cannot be None while constructing initial state: "
                             f"batch_size={batch_size}, dtype={dtype}")
        return self.zero_state(batch_size, dtype)


def zero_state_tensors(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Makes zeros of the sizes of a state.

    Args:
      state_size: a size, a `TensorShape`, or a structure of them.
      batch_size: an int, or a scalar tensor.
      dtype: the dtype.
    Returns: tensors (batch_size, size) in that structure.
    """
    return _map_sizes(lambda size: zeros_of_size(batch_size, size, dtype), state_size)


def _map_sizes(function: Callable[[Any], Any], sizes: Any) -> Any:
    """Applies `map_structure`, with shapes as leaves."""
    return function(sizes) if isinstance(sizes, TensorShape) else nest.map_structure(function, sizes)


class _LayerCell(RNNCell):
    """A cell whose `build` makes all of its variables."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Computes one step."""
        return ScopedLayer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Makes the variables."""
        depth = TensorShape(input_shape).as_list()[-1]
        if depth is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {input_shape}\n"
                             f"  Built at {user_source(2)}\n"
                             "  Fix: inputs.set_shape([None, size])")
        self._build(depth)
        self.built = True

    def _build(self, depth: int) -> None:
        raise NotImplementedError  # each subclass has its own

    def _check(self, inputs: Any, state: Any) -> None:
        require_rank(self, inputs, 2)
        for t in nest.flatten([inputs, state]):
            dtype = as_dtype(t.dtype)
            if not (dtype.is_floating or dtype.is_complex):
                raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {dtype}\n"
                                 f"  Built at {user_source(2)}\n"
                                 "  Fix: tf.cast the inputs, e.g. to tf.float32")

    def _build_for(self, inputs: Any) -> None:
        require_rank(self, inputs, 2)
        self._check(inputs, [])
        super()._build_for(inputs)


def _dense(inputs: Any, state: Any, kernel: Any, bias: Any) -> Any:
    return raw.BiasAdd(raw.MatMul(raw.ConcatV2([inputs, state], 1), kernel), bias)


def _activation(value: Any) -> Callable[[Any], Any]:
    """Returns the function of an argument `activation`."""
    if callable(value):
        found: Callable[[Any], Any] = value
        return found
    by_name: dict[str, Any] = {
        "tanh": raw.Tanh, "sigmoid": raw.Sigmoid, "relu": raw.Relu, "elu": raw.Elu, "selu": raw.Selu,
        "softplus": raw.Softplus, "softsign": raw.Softsign, "softmax": raw.Softmax, "exponential": raw.Exp,
        "linear": raw.Identity,
    }
    if not value:
        return by_name["tanh"]
    if value not in by_name:
        raise ValueError(f"Unknown activation function: {value!r}. Fix: use one of {sorted(by_name)}, or a function")
    return by_name[value]


class _UnitSized:
    """What cells have whose state and output are of one size, their number of units."""

    _num_units: int

    @property
    def state_size(self) -> Any:
        """The size of the state."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        return self._num_units


class BasicRNNCell(_UnitSized, _LayerCell):
    """The plain recurrent cell: output = state = act([input, state] kernel + bias).

    Args:
      num_units: the size of the state.
      activation: a function, or its name; tanh by default.
      reuse: True to reuse existing variables.
      name: the name of the cell and of its variable scope.
      dtype: the dtype of its variables; that of the first input by default.
      **kwargs: `trainable`.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.rnn_cell.BasicRNNCell`.

    >>> cell = tf.nn.rnn_cell.BasicRNNCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), [v.name for v in cell.variables]
    ([2, 4], ['basic_rnn_cell/kernel:0', 'basic_rnn_cell/bias:0'])
    """

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None, name: str | None = None,
                 dtype: Any = None, **kwargs: Any):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units = num_units
        self._activation = _activation(activation)

    def _build(self, depth: int) -> None:
        self._kernel = self.add_weight("kernel", [depth + self._num_units, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units], initializer=Zeros())

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        self._check(inputs, state)
        output = self._activation(_dense(inputs, state, self._kernel, self._bias))
        return output, output


class GRUCell(_UnitSized, _LayerCell):
    """The gated recurrent unit.

    With [r, u] = sigmoid([input, h] gates/kernel + gates/bias) and
    c = act([input, r h] candidate/kernel + candidate/bias), the next state is u h + (1 - u) c.

    Args:
      num_units: the size of the state.
      activation: a function, or its name; tanh by default.
      reuse: True to reuse existing variables.
      kernel_initializer: for both kernels; the scope's by default.
      bias_initializer: for both biases; ones for the gates and zeros for the candidate by default.
      name: the name of the cell and of its variable scope.
      dtype: the dtype of its variables; that of the first input by default.
      **kwargs: `trainable`.
    Reference: Cho et al. 2014, Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine
      Translation; TensorFlow 2.21 `tf.compat.v1.nn.rnn_cell.GRUCell`.

    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> [v.name for v in cell.variables][:2]
    ['gru_cell/gates/kernel:0', 'gru_cell/gates/bias:0']
    """

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None, kernel_initializer: Any = None,
                 bias_initializer: Any = None, name: str | None = None, dtype: Any = None, **kwargs: Any):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units = num_units
        self._activation = _activation(activation)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def _build(self, depth: int) -> None:
        n, of_kernel, of_bias = self._num_units, self._kernel_initializer, self._bias_initializer
        self._gate_kernel = self.add_weight("gates/kernel", [depth + n, 2 * n], initializer=of_kernel)
        self._gate_bias = self.add_weight("gates/bias", [2 * n], initializer=of_bias or Constant(1.0))
        self._candidate_kernel = self.add_weight("candidate/kernel", [depth + n, n], initializer=of_kernel)
        self._candidate_bias = self.add_weight("candidate/bias", [n], initializer=of_bias or Zeros())

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        self._check(inputs, state)
        gates = raw.Sigmoid(_dense(inputs, state, self._gate_kernel, self._gate_bias))
        r, u = raw.Split(1, gates, num_split=2)
        c = self._activation(_dense(inputs, raw.Mul(r, state), self._candidate_kernel, self._candidate_bias))
        new = u * state + (1 - u) * c
        return new, new


