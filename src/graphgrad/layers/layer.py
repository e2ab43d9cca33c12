"""`tf.layers.Layer`: the base class of layers."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.graph.init_scope import variables_graph
from graphgrad.frontend.rnn.scoped_layer import ScopedLayer
from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.initializers import (
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    Zeros,
)
from graphgrad.frontend.variables.scaling_initializers import GlorotNormal, GlorotUniform, VarianceScaling
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.context import current_graph
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source

_ACTIVATIONS = {
    "elu": "Elu", "exponential": "Exp", "relu": "Relu", "selu": "Selu", "sigmoid": "Sigmoid", "softmax": "Softmax",
    "softplus": "Softplus", "softsign": "Softsign", "tanh": "Tanh",
}
_INITIALIZERS: dict[str, Any] = {
    "glorot_normal": GlorotNormal, "glorot_uniform": GlorotUniform, "normal": RandomNormal, "ones": Ones,
    "orthogonal": Orthogonal, "random_normal": RandomNormal, "random_uniform": RandomUniform,
    "truncated_normal": TruncatedNormal, "uniform": RandomUniform, "zeros": Zeros,
}
_SCALED = {"he_normal": (2.0, "truncated_normal"), "he_uniform": (2.0, "uniform"),
           "lecun_normal": (1.0, "truncated_normal"), "lecun_uniform": (1.0, "uniform")}


class InputSpec:
    """Requirements of a layer on its inputs; only recorded.

    Args:
      dtype, shape, ndim, max_ndim, min_ndim, axes: the requirements.
    """

    def __init__(self, dtype: Any = None, shape: Any = None, ndim: Any = None, max_ndim: Any = None,
                 min_ndim: Any = None, axes: Any = None):
        self.dtype = dtype
        self.shape = shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = axes or {}


class Layer(ScopedLayer):
    """The base of layers: they own the variables that `build` makes, and compute in `call`.

    Args:
      trainable: whether optimizers update its variables.
      name: the name of the layer and its variable scope; made from the class by default.
      dtype: the dtype of its variables; that of the first input by default.
      **kwargs: `activity_regularizer`: a function of the output that gives a loss; `_reuse`, `_scope`.
    Reference: TensorFlow 1.15 `tf.layers.Layer`.
    """

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, **kwargs: Any):
        regularizer = kwargs.pop("activity_regularizer", None)
        reuse, scope = kwargs.pop("_reuse", None), kwargs.pop("_scope", None)
        if kwargs:
            raise TypeError(f"Keyword argument not understood: {next(iter(kwargs))!r}\n  Asked for at {user_source(2)}")
        super().__init__(trainable, name, dtype, _reuse=reuse, _scope=scope)
        self._activity_regularizer = regularizer
        self._losses: list[Any] = []
        self._updates: list[Any] = []
        self._update_keys: list[str] = [GraphKeys.UPDATE_OPS]
        self.input_spec: Any = None
        self.stateful = False

    @property
    def graph(self) -> Any:
        """The graph in which it is used."""
        return variables_graph()

    @property
    def losses(self) -> list[Any]:
        """The losses added by regularizers."""
        return list(self._losses)

    @property
    def updates(self) -> list[Any]:
        """The operations that update its moving averages, as in UPDATE_OPS."""
        return list(self._updates)

    @property
    def activity_regularizer(self) -> Any:
        """The function of the output that gives a loss, or None."""
        return self._activity_regularizer

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Returns all updates, whatever they depend on."""
        return self.updates

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """Returns all losses, whatever they depend on."""
        return self.losses

    def count_params(self) -> int:
        """Counts the elements of its variables."""
        total = 0
        for v in self.weights:
            size = 1
            for d in v.shape.as_list():
                size *= d
            total += size
        return total

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the output for a shape of the input."""
        raise NotImplementedError(f"{type(self).__name__} does not say its output's shape. Fix: call the layer")

    def add_weight(self, name: str, shape: Any, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                   trainable: bool | None = None, constraint: Any = None, use_resource: Any = None,
                   partitioner: Any = None, **kwargs: Any) -> Any:
        """Makes, or takes, the variable `name` in the layer's scope; see `get_variable`."""
        graph = variables_graph()
        before = len(graph.get_collection(GraphKeys.REGULARIZATION_LOSSES)) if graph is not None else 0
        variable = super().add_weight(name, shape, dtype, as_initializer(initializer), regularizer, trainable,
                                      constraint, use_resource, partitioner, **kwargs)
        if graph is not None:
            self._losses += graph.get_collection(GraphKeys.REGULARIZATION_LOSSES)[before:]
        return variable

    add_variable = add_weight

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses to REGULARIZATION_LOSSES."""
        graph = variables_graph()
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            if loss is not None:
                self._losses.append(loss)
                if graph is not None:
                    graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations to UPDATE_OPS."""
        graph = current_graph()
        if graph is None or graph.building_function:  # there they run by themselves
            return
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            self._updates.append(update)
            for key in self._update_keys:
                graph.add_to_collection(key, update)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer; the first call makes its variables."""
        outputs = super().__call__(inputs, *args, **kwargs)
        if self._activity_regularizer is not None:
            for output in nest.flatten(outputs):
                with name_scope(None, "ActivityRegularizer"):
                    loss = self._activity_regularizer(output)  # for one example, whatever the size of the batch
                    size = raw.StridedSlice(raw.Shape(output), [0], [1], [1], shrink_axis_mask=1)
                    self.add_loss(raw.RealDiv(loss, raw.Cast(size, DstT=output.dtype)))
        return outputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer; the same as calling it."""
        return self(inputs, *args, **kwargs)


# -- arguments that layers share -------------------------------------------------------


def as_activation(value: Any) -> Any:
    """Returns the function of an argument `activation`, or None."""
    if value is None or callable(value):
        return value
    if value == "linear":
        return None
    if value not in _ACTIVATIONS:
        raise ValueError(f"Unknown activation function: {value!r}.\n  Asked for at {user_source(2)}\n"
                         f"  Fix: use one of {sorted(_ACTIVATIONS)}, or a function")
    return getattr(raw, _ACTIVATIONS[value])


def as_initializer(value: Any) -> Any:
    """Returns the initializer of a name; anything else unchanged."""
    if not isinstance(value, str):
        return value
    if value in _SCALED:
        scale, distribution = _SCALED[value]
        return VarianceScaling(scale, "fan_in", distribution)
    if value.lower() not in _INITIALIZERS:
        raise ValueError(f"Unknown initializer: {value}.\n  Asked for at {user_source(2)}\n"
                         f"  Fix: use one of {sorted([*_INITIALIZERS, *_SCALED])}, or an initializer")
    return _INITIALIZERS[value.lower()]()


def sizes(value: Any, n: int, what: str) -> tuple[int, ...]:
    """Returns n ints, from one or n."""
    try:
        values = (whole(value),) * n if not hasattr(value, "__iter__") else tuple(int(v) for v in value)
    except (TypeError, ValueError, OverflowError):
        values = ()
    if len(values) != n or any(v < 0 for v in values):
        raise ValueError(f"The `{what}` argument must be a tuple of {n} integers. Received: {value}\n"
                         f"  Asked for at {user_source(2)}\n  Fix: give an int or {n} of them")
    return values


def check_padding(value: Any) -> str:
    """Checks and returns "valid" or "same"."""
    text = value.lower() if isinstance(value, str) else value
    if text not in ("valid", "same", "causal"):
        raise ValueError(f"The `padding` argument must be one of \"valid\", \"same\" (or \"causal\" for Conv1D). "
                         f"Received: {value}\n  Asked for at {user_source(2)}")
    return str(text)


def layout(data_format: Any, n: int) -> str:
    """Returns "NHWC" or a similar layout for n spatial dimensions."""
    text = data_format.lower() if isinstance(data_format, str) else data_format
    if text not in ("channels_first", "channels_last"):
        raise ValueError('The `data_format` argument must be one of "channels_first", "channels_last". Received: '
                         f"{data_format}\n  Asked for at {user_source(2)}")
    space = {1: "W", 2: "HW", 3: "DHW"}[n]
    return f"NC{space}" if text == "channels_first" else f"N{space}C"


def known_size(shape: Any, axis: int, layer: str, what: str = "last") -> int:
    """Returns the size of a dimension; raises ValueError if it is not known."""
    dims = TensorShape(shape)
    size = None if dims.rank is None else dims.as_list()[axis]
    if size is None:
        name = "The last dimension" if what == "last" else "The channel dimension"
        raise ValueError(f"{name} of the inputs to `{layer}` should be defined. Found `None`.\n"
                         f"  Built at {user_source(2)}\n  Fix: give its placeholder a shape, or set_shape")
    return int(size)
