"""`tensorflow.python.framework.test_util`: decorators of test classes and methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.testing.machine import gpu_device_name as gpu_device_name
from graphgrad.testing.machine import is_gpu_available as is_gpu_available
from graphgrad.testing.run_modes import run_all_in_graph_and_eager_modes as run_all_in_graph_and_eager_modes
from graphgrad.testing.run_modes import run_in_graph_and_eager_modes as run_in_graph_and_eager_modes
from graphgrad.testing.test_case import TestCase as TensorFlowTestCase
from graphgrad.testing.test_case import TestCase as TestCase


def _as_it_is(*args: Any, **_: Any) -> Any:
    """Returns a decorator of TensorFlow's that says how a test may be run, and changes nothing here."""
    if len(args) == 1 and callable(args[0]):
        return args[0]

    def decorate(decorated: Callable[..., Any]) -> Callable[..., Any]:
        return decorated

    return decorate


run_deprecated_v1 = run_v1_only = run_all_without_tensor_float_32 = _as_it_is
disable_xla = no_xla_auto_jit = xla_allow_fallback = run_cuda_only = run_gpu_only = _as_it_is


def disable_cudnn_autotune(func: Any) -> Any:
    """Returns the function: results do not depend on what the library of a GPU finds fastest.

    Args:
      func: a test.
    """
    return func
