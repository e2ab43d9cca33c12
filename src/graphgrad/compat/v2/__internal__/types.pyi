"""`tf.__internal__.types`. Written by `make faces` from exports.txt."""

from graphgrad.ir.tensor import TensorOperators as Tensor

__all__ = [
    "Tensor"
]
