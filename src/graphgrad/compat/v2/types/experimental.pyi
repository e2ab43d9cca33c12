"""`tf.types.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.framework.types import AtomicFunction as AtomicFunction
from graphgrad.compat.internal.framework.types import Callable as Callable
from graphgrad.compat.internal.framework.types import ConcreteFunction as ConcreteFunction
from graphgrad.compat.internal.framework.types import GenericFunction as GenericFunction
from graphgrad.compat.internal.framework.types import TensorLike as TensorLike
from graphgrad.compat.internal.framework.types import TraceType as TraceType

__all__ = [
    "AtomicFunction", "Callable", "ConcreteFunction", "GenericFunction", "TensorLike", "TraceType"
]
