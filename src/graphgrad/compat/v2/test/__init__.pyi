"""`tf.test`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.test import experimental as experimental
from graphgrad.frontend.autodiff.gradient_checker import compute_gradient as compute_gradient
from graphgrad.testing.graph_assertions import assert_equal_graph_def as assert_equal_graph_def
from graphgrad.testing.machine import gpu_device_name as gpu_device_name
from graphgrad.testing.machine import is_built_with_cuda as is_built_with_cuda
from graphgrad.testing.machine import is_built_with_gpu_support as is_built_with_gpu_support
from graphgrad.testing.machine import is_built_with_rocm as is_built_with_rocm
from graphgrad.testing.machine import is_built_with_xla as is_built_with_xla
from graphgrad.testing.machine import is_gpu_available as is_gpu_available
from graphgrad.testing.stubs import Benchmark as Benchmark
from graphgrad.testing.stubs import benchmark_config as benchmark_config
from graphgrad.testing.stubs import disable_with_predicate as disable_with_predicate
from graphgrad.testing.stubs import is_cpu_target_available as is_cpu_target_available
from graphgrad.testing.stubs import with_eager_op_as_function as with_eager_op_as_function
from graphgrad.testing.test_case import TestCase as TestCase
from graphgrad.testing.test_case import main as main

__all__ = [
    "Benchmark", "TestCase", "assert_equal_graph_def", "benchmark_config", "compute_gradient", "disable_with_predicate",
    "experimental", "gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support", "is_built_with_rocm",
    "is_built_with_xla", "is_cpu_target_available", "is_gpu_available", "main", "with_eager_op_as_function"
]
