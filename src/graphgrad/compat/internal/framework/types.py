"""`tf.types.experimental`: classes to test objects against."""

from __future__ import annotations

import abc

from graphgrad.frontend.function import concrete_function, function
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.ir.dtypes import DType
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.tensor import TensorLike as TensorLike


class Callable(abc.ABC):  # noqa: B024  # classes are registered
    """A function of `tf.function`, or one trace of it."""


Callable.register(function.Function)
Callable.register(concrete_function.ConcreteFunction)
GenericFunction = function.Function
ConcreteFunction = AtomicFunction = concrete_function.ConcreteFunction


class TraceType(abc.ABC):  # noqa: B024  # classes are registered
    """The type of an argument of a traced function; a base for users' types."""


TraceType.register(DType)
TraceType.register(TensorShape)
TraceType.register(TypeSpec)

__all__ = ["AtomicFunction", "Callable", "ConcreteFunction", "GenericFunction", "TensorLike", "TraceType"]
