"""`tf.autodiff`."""

from graphgrad.frontend.forward import ForwardAccumulator as ForwardAccumulator
from graphgrad.frontend.tape import GradientTape as GradientTape
