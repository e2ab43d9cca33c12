"""`tf.autodiff`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.autodiff.forward_accumulator import ForwardAccumulator as ForwardAccumulator
from graphgrad.frontend.autodiff.tape import GradientTape as GradientTape

__all__ = [
    "ForwardAccumulator", "GradientTape"
]
