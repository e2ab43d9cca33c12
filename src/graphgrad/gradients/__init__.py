"""Symbolic differentiation: adds the operations that compute a graph's derivative."""

from graphgrad.gradients.control_flow import if_gradient as if_gradient
from graphgrad.gradients.control_flow import vectorized_map_gradient as vectorized_map_gradient
from graphgrad.gradients.control_flow import while_gradient as while_gradient
from graphgrad.gradients.core.aggregate import AggregationMethod as AggregationMethod
from graphgrad.gradients.core.backprop import gradients as gradients
from graphgrad.gradients.core.registry import NoGradient as NoGradient
from graphgrad.gradients.core.registry import NotDifferentiable as NotDifferentiable
from graphgrad.gradients.core.registry import RegisterGradient as RegisterGradient
from graphgrad.gradients.core.registry import get_gradient_function as get_gradient_function
from graphgrad.gradients.core.unconnected import UnconnectedGradients as UnconnectedGradients
from graphgrad.gradients.derived import composed as composed
