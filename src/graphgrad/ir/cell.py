"""Where a variable's value lives: a `Cell`, and the eager handle that stands for one."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .dtypes import DType
from .eager import EagerTensor
from .opdef import Spec
from .shape import Shape


class Cell:
    """The storage of one variable; what a kernel gets for an input of type `resource`.

    Attributes:
      value: a NumPy or JAX array; None before the variable is initialized.
      name: the variable's name, for messages.
      dtype: the dtype of `value`.
      shape: the static shape that `value` must have.
    """

    __slots__ = ("value", "name", "dtype", "shape", "__weakref__")

    def __init__(self, value: Any = None, name: str = "", dtype: DType = dtypes.float32, shape: Shape = None):
        self.value = value
        self.name = name
        self.dtype = dtype
        self.shape = shape

    def __repr__(self) -> str:
        return f"<Cell '{self.name}' {self.dtype.name} {'uninitialized' if self.value is None else 'initialized'}>"


class Handle(EagerTensor):
    """The eager tensor of dtype resource that refers to a `Cell`; a scalar."""

    __slots__ = ()
    _variable: Any  # the variable that it belongs to

    def __init__(self, cell: Cell):
        super().__init__(cell, dtypes.resource)

    @property
    def _spec(self) -> Spec:
        return Spec.of(dtypes.resource, ())

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape=(), dtype=resource, numpy=<{self._value!r}>>"

    __str__ = __repr__
