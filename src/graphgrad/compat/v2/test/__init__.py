"""`tf.test`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.test.experimental: experimental=.
graphgrad.frontend.autodiff.gradient_checker: compute_gradient
graphgrad.testing.graph_assertions: assert_equal_graph_def
graphgrad.testing.machine: gpu_device_name is_built_with_cuda is_built_with_gpu_support is_built_with_rocm
    is_built_with_xla is_gpu_available
graphgrad.testing.stubs: Benchmark benchmark_config disable_with_predicate is_cpu_target_available
    with_eager_op_as_function
graphgrad.testing.test_case: TestCase main
""")
