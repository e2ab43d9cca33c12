"""`tf.test` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v1.test.experimental: experimental=.
graphgrad.frontend.autodiff.gradient_checker: compute_gradient=compute_gradient_v1
    compute_gradient_error=compute_gradient_error_v1
graphgrad.testing.graph_assertions: assert_equal_graph_def=assert_equal_graph_def_v1
graphgrad.testing.machine: gpu_device_name is_built_with_cuda is_built_with_gpu_support is_built_with_rocm
    is_built_with_xla is_gpu_available
graphgrad.testing.stubs: Benchmark StubOutForTesting benchmark_config disable_with_predicate is_cpu_target_available
    with_eager_op_as_function
graphgrad.testing.test_case: TestCase get_temp_dir main test_src_dir_path
unittest.mock: mock=.
""")
