"""`tf.contrib.eager.Network`: groups of layers."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.rnn.scoped_layer import _numbered, snake_case
from graphgrad.ir.source import user_source


class Network:
    """A group of layers: a subclass tracks its layers and defines `call`.

    Args:
      name: its name; made from the class by default.
    Reference: TensorFlow 1.15 `tf.contrib.eager.Network`.

    >>> class Two(Network):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.a, self.b = (self.track_layer(tf.layers.Dense(n)) for n in (4, 2))
    ...     def call(self, x):
    ...         return self.b(self.a(x))
    >>> net = Two()
    >>> net(tf.ones([3, 5])).shape.as_list(), len(net.variables)
    ([3, 2], 4)
    """

    def __init__(self, name: str | None = None):
        self._name = name or _numbered(snake_case(type(self).__name__))
        self._layers: list[Any] = []

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def layers(self) -> list[Any]:
        """The layers that it tracks."""
        return list(self._layers)

    def track_layer(self, layer: Any) -> Any:
        """Adds a layer, or a network, and returns it; raises TypeError for anything else."""
        if not callable(layer) or not hasattr(layer, "variables"):
            raise TypeError(f"Network.track_layer() passed type {type(layer).__name__}, not a tf.layers.Layer\n"
                            f"  Asked for at {user_source(2)}\n  Fix: pass e.g. tf.layers.Dense(10)")
        if all(layer is not known for known in self._layers):
            self._layers.append(layer)
        return layer

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """Returns the layer of a name or an index; raises ValueError if there is none."""
        found = [layer for i, layer in enumerate(self._layers) if i == index or layer.name == name]
        if not found:
            raise ValueError(f"No such layer: name={name}, index={index}\n  Asked for at {user_source(2)}\n"
                             f"  Fix: one of {[layer.name for layer in self._layers]}")
        return found[0]

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Calls all layers in sequence."""
        raise NotImplementedError(f"{type(self).__name__}.call. Fix: a subclass has to define it")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls `call`."""
        return self.call(*args, **kwargs)

    def _all(self, name: str) -> list[Any]:
        return [v for layer in self._layers for v in getattr(layer, name)]

    @property
    def variables(self) -> list[Any]:
        """The variables of all layers."""
        return self._all("variables")

    @property
    def weights(self) -> list[Any]:
        """The variables of all layers."""
        return self._all("variables")

    @property
    def trainable_variables(self) -> list[Any]:
        """The variables of all layers that optimizers update."""
        return self._all("trainable_variables")

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables of all layers that optimizers update."""
        return self._all("trainable_variables")

    @property
    def losses(self) -> list[Any]:
        """The losses added by the layers' regularizers."""
        return self._all("losses")


class Sequential(Network):
    """A sequence of layers.

    Args:
      layers: the layers, or functions that have no variables.
      name: its name.
    """

    def __init__(self, layers: Any = None, name: str | None = None):
        super().__init__(name)
        self._steps: list[Any] = []
        for layer in layers or ():
            self.add(layer)

    def add(self, layer: Any) -> None:
        """Appends a layer."""
        self._steps.append(self.track_layer(layer) if hasattr(layer, "variables") else layer)

    def call(self, inputs: Any) -> Any:
        """Calls all layers in sequence."""
        for step in self._steps:
            inputs = step(inputs)
        return inputs
