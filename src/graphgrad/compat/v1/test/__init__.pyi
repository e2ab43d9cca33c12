"""`tf.test` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.v1.test import experimental as experimental
from graphgrad.frontend.autodiff.gradient_checker import compute_gradient_error_v1 as compute_gradient_error
from graphgrad.frontend.autodiff.gradient_checker import compute_gradient_v1 as compute_gradient
from graphgrad.testing.graph_assertions import assert_equal_graph_def_v1 as assert_equal_graph_def
from graphgrad.testing.machine import gpu_device_name as gpu_device_name
from graphgrad.testing.machine import is_built_with_cuda as is_built_with_cuda
from graphgrad.testing.machine import is_built_with_gpu_support as is_built_with_gpu_support
from graphgrad.testing.machine import is_built_with_rocm as is_built_with_rocm
from graphgrad.testing.machine import is_built_with_xla as is_built_with_xla
from graphgrad.testing.machine import is_gpu_available as is_gpu_available
from graphgrad.testing.stubs import Benchmark as Benchmark
from graphgrad.testing.stubs import StubOutForTesting as StubOutForTesting
from graphgrad.testing.stubs import benchmark_config as benchmark_config
from graphgrad.testing.stubs import disable_with_predicate as disable_with_predicate
from graphgrad.testing.stubs import is_cpu_target_available as is_cpu_target_available
from graphgrad.testing.stubs import with_eager_op_as_function as with_eager_op_as_function
from graphgrad.testing.test_case import TestCase as TestCase
from graphgrad.testing.test_case import get_temp_dir as get_temp_dir
from graphgrad.testing.test_case import main as main
from graphgrad.testing.test_case import test_src_dir_path as test_src_dir_path
from unittest import mock as mock

__all__ = [
    "Benchmark", "StubOutForTesting", "TestCase", "assert_equal_graph_def", "benchmark_config", "compute_gradient",
    "compute_gradient_error", "disable_with_predicate", "experimental", "get_temp_dir", "gpu_device_name",
    "is_built_with_cuda", "is_built_with_gpu_support", "is_built_with_rocm", "is_built_with_xla",
    "is_cpu_target_available", "is_gpu_available", "main", "mock", "test_src_dir_path", "with_eager_op_as_function"
]
