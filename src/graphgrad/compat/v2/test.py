"""`tf.test` of TensorFlow 2."""

from graphgrad.frontend.gradient_checker import compute_gradient as compute_gradient
from graphgrad.testing.machine import gpu_device_name as gpu_device_name
from graphgrad.testing.machine import is_built_with_cuda as is_built_with_cuda
from graphgrad.testing.machine import is_built_with_gpu_support as is_built_with_gpu_support
from graphgrad.testing.machine import is_built_with_rocm as is_built_with_rocm
from graphgrad.testing.machine import is_built_with_xla as is_built_with_xla
from graphgrad.testing.machine import is_gpu_available as is_gpu_available
from graphgrad.testing.test_case import TestCase as TestCase
from graphgrad.testing.test_case import main as main
