"""Layers of TensorFlow 1: objects that own variables in a variable scope, which is fixed by their first use."""

from __future__ import annotations

import re
from typing import Any

from graphgrad.frontend.structure import nest
from graphgrad.frontend.variables.partitioned import PartitionedVariable
from graphgrad.frontend.variables.variable_scope import get_variable, variable_scope
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import as_dtype, float32
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source

_KEEP: Any = object()


def snake_case(name: str) -> str:
    """Converts `BasicLSTMCell` to `basic_lstm_cell`."""
    apart = re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()
    return apart if apart[0] != "_" else "private" + apart


class ScopedLayer:
    """A layer whose variables live in a variable scope.

    The first call opens the scope, named after the class or as the caller says; each later call goes back to it and
    takes the variables that are there.

    Args:
      trainable: whether optimizers update its variables.
      name: the name of the layer and of its scope; made from the class by default.
      dtype: the dtype of its variables; that of the first input by default.
      _reuse: True to reuse existing variables, also at the first call.
    """

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None, _reuse: Any = None,
                 _scope: Any = None):
        self.trainable = trainable
        self._base_name: str = name or snake_case(type(self).__name__)
        self._name = name or _numbered(self._base_name)
        self._dtype = None if dtype is None else as_dtype(dtype)
        self._reuse = _reuse
        self._scope: Any = None
        self.built = False
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        if _scope is not None:
            self._set_scope(_scope)

    @property
    def name(self) -> str:
        """The layer's name."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of its variables; None until it is known."""
        return self._dtype

    @property
    def scope_name(self) -> str:
        """The name of its variable scope; ValueError before the first call."""
        if self._scope is None:
            raise ValueError(f"No name available for layer scope because the layer \"{self.name}\" has not been used "
                             "yet. The scope name is determined the first time the layer instance is called. "
                             "Fix: call the layer first")
        return str(self._scope.name)

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that optimizers update."""
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that optimizers leave alone."""
        if self.trainable:
            return list(self._non_trainable_weights)
        return [*self._trainable_weights, *self._non_trainable_weights]

    @property
    def weights(self) -> list[Any]:
        """All variables, the trainable ones first."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    @property
    def variables(self) -> list[Any]:
        """All variables, the trainable ones first."""
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:
        """The variables that optimizers update."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The variables that optimizers leave alone."""
        return self.non_trainable_weights

    def build(self, input_shape: Any) -> None:
        """Makes the variables, given the (nested) shape of the inputs."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the layer's outputs."""
        return inputs

    def add_weight(self, name: str, shape: Any, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                   trainable: bool | None = None, constraint: Any = None, use_resource: Any = None,
                   partitioner: Any = None, **kwargs: Any) -> Any:
        """Creates, or reuses, the variable `name` in the layer's scope.

        Args:
          name, shape, dtype, initializer, regularizer, constraint, partitioner, use_resource: as in `get_variable`.
          trainable: whether optimizers update it.
          **kwargs: `synchronization`, `aggregation`: as in `get_variable`.
        Returns: the `Variable`.
        """
        self._set_scope(None)
        wanted = self.trainable and trainable is not False
        with variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False):
            variable = get_variable(
                name, shape, dtype or self._dtype or float32, initializer, regularizer, wanted,
                partitioner=partitioner, constraint=constraint, use_resource=use_resource, **kwargs)
        for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
            self._remember(part, wanted)
        return variable

    add_variable = add_weight

    def _remember(self, variable: Any, wanted: bool = True) -> None:
        # A custom getter may have returned a tensor instead of a variable.
        trainable = getattr(variable, "trainable", wanted)
        kept = self._trainable_weights if trainable else self._non_trainable_weights
        if all(variable is not v for v in kept):
            kept.append(variable)

    def _set_scope(self, scope: Any) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            opened = variable_scope(scope if scope is not None else self._base_name)
        else:
            opened = variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer; the first call makes its variables.

        Args:
          inputs: a tensor or a structure of them.
          *args, **kwargs: passed to `call`, except `scope`: the variable scope of a layer that has none yet.
        """
        scope = kwargs.pop("scope", None)
        self._set_scope(scope)
        reuse = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as current:
            graph = current_graph()
            # In a sub-graph, the outer scope does not apply.
            inside = current.original_name_scope if graph is not None and not graph.building_function else None
            with name_scope(inside, self._base_name):
                inputs = nest.map_structure(_as_tensor, inputs)
                if not self.built:
                    self._build_for(inputs)
                return self.call(inputs, *args, **kwargs)

    def _build_for(self, inputs: Any) -> None:
        if self._dtype is None:
            first = next((t.dtype for t in nest.flatten(inputs) if hasattr(t, "dtype")), None)
            self._dtype = first
        self.build(nest.map_structure(_shape, inputs))
        self.built = True


def _as_tensor(value: Any) -> Any:
    return value if is_tensor_like(value) else convert_to_tensor(value)


def _shape(tensor: Any) -> Any:
    return tensor.shape


_counts: dict[str, int] = {}


def _numbered(base: str) -> str:
    graph = current_graph()
    counts = _counts if graph is None else graph._scoped_state.setdefault("layer_names", {})
    counts[base] = counts.get(base, 0) + 1
    return f"{base}_{counts[base]}"


def require_rank(layer: ScopedLayer, inputs: Any, rank: int) -> None:
    """Raises ValueError unless the tensor `inputs` has `rank` dimensions."""
    shape = inputs.shape
    if shape.rank is not None and shape.rank != rank:
        raise ValueError(f"Input 0 of layer {layer.name} is incompatible with the layer: expected ndim={rank}, found "
                         f"ndim={shape.rank}. Full shape received: {tuple(shape.as_list())}\n"
                         f"  Built at {user_source(2)}\n"
                         f"  Fix: give it a tensor of {rank} dimensions")
