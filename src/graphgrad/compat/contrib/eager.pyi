"""`tf.contrib.eager` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.iterator_v1 import EagerIterator as Iterator
from graphgrad.extras.contrib.network import Network as Network
from graphgrad.extras.contrib.network import Sequential as Sequential
from graphgrad.frontend.autodiff.gradient_functions import gradients_function as gradients_function
from graphgrad.frontend.autodiff.gradient_functions import implicit_grad as implicit_gradients
from graphgrad.frontend.autodiff.gradient_functions import implicit_val_and_grad as implicit_value_and_gradients
from graphgrad.frontend.autodiff.gradient_functions import val_and_grad_function as value_and_gradients_function
from graphgrad.frontend.autodiff.py_function import py_function as py_func
from graphgrad.frontend.autodiff.tape import GradientTape as GradientTape
from graphgrad.frontend.function.function import function as defun
from graphgrad.frontend.function.function import function as function
from graphgrad.frontend.modes import enable_eager_execution as enable_eager_execution
from graphgrad.frontend.variables.variable import VariableV1 as Variable
from graphgrad.gradients.core.custom import custom_gradient as custom_gradient
from graphgrad.ir.context import executing_eagerly as executing_eagerly
from graphgrad.ir.context import executing_eagerly as in_eager_mode
from graphgrad.testing.machine import list_device_names as list_devices
from graphgrad.testing.machine import num_gpus as num_gpus
from graphgrad.testing.run_modes import run_all_in_graph_and_eager_modes as run_all_tests_in_graph_and_eager_modes
from graphgrad.testing.run_modes import run_in_graph_and_eager_modes as run_test_in_graph_and_eager_modes

__all__ = [
    "GradientTape", "Iterator", "Network", "Sequential", "Variable", "custom_gradient", "defun",
    "enable_eager_execution", "executing_eagerly", "function", "gradients_function", "implicit_gradients",
    "implicit_value_and_gradients", "in_eager_mode", "list_devices", "num_gpus", "py_func",
    "run_all_tests_in_graph_and_eager_modes", "run_test_in_graph_and_eager_modes", "value_and_gradients_function"
]
