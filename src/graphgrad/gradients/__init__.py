"""Differentiation: from a graph, the operations that compute its derivative."""

from . import composed as composed
from . import control_flow as control_flow
from . import loops as loops
from . import vectorize as vectorize
from .aggregate import AggregationMethod as AggregationMethod
from .backprop import gradients as gradients
from .registry import NoGradient as NoGradient
from .registry import NotDifferentiable as NotDifferentiable
from .registry import RegisterGradient as RegisterGradient
from .registry import get_gradient_function as get_gradient_function
from .unconnected import UnconnectedGradients as UnconnectedGradients
