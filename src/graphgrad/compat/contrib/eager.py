"""`tf.contrib.eager` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.iterator_v1: Iterator=EagerIterator
graphgrad.extras.contrib.network: Network Sequential
graphgrad.frontend.autodiff.gradient_functions: gradients_function implicit_gradients=implicit_grad
    implicit_value_and_gradients=implicit_val_and_grad value_and_gradients_function=val_and_grad_function
graphgrad.frontend.autodiff.py_function: py_func=py_function
graphgrad.frontend.autodiff.tape: GradientTape
graphgrad.frontend.function.function: defun=function function
graphgrad.frontend.modes: enable_eager_execution
graphgrad.frontend.variables.variable: Variable=VariableV1
graphgrad.gradients.core.custom: custom_gradient
graphgrad.ir.context: executing_eagerly in_eager_mode=executing_eagerly
graphgrad.testing.machine: list_devices=list_device_names num_gpus
graphgrad.testing.run_modes: run_all_tests_in_graph_and_eager_modes=run_all_in_graph_and_eager_modes
    run_test_in_graph_and_eager_modes=run_in_graph_and_eager_modes
""")
