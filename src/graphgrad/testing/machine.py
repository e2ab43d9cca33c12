"""Questions about the machine and the build."""

from __future__ import annotations

from typing import Any

from graphgrad.executor.backend import xla
from graphgrad.executor.plan import placement


def gpu_device_name() -> str:
    """Returns the name of the first GPU that JAX sees, '' if there is none.

    Reference: TensorFlow 2.21 `tf.test.gpu_device_name`.
    """
    for name in _device_names():
        if ":GPU:" in name:
            return name
    return ""


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Returns whether JAX sees a GPU.

    Args:
      cuda_only, min_cuda_compute_capability: accepted; JAX decides which GPUs it can use.
    Reference: TensorFlow 2.21 `tf.test.is_gpu_available`.
    """
    return gpu_device_name() != ""


def is_built_with_cuda() -> bool:
    """Returns whether JAX sees a CUDA device: nothing is built here.

    Reference: TensorFlow 2.21 `tf.test.is_built_with_cuda`.
    """
    return is_gpu_available()


def is_built_with_gpu_support() -> bool:
    """Returns whether JAX sees a GPU: nothing is built here.

    Reference: TensorFlow 2.21 `tf.test.is_built_with_gpu_support`.
    """
    return is_gpu_available()


def is_built_with_rocm() -> bool:
    """Returns False: there is no build for ROCm.

    Reference: TensorFlow 2.21 `tf.test.is_built_with_rocm`.

    >>> tf.test.is_built_with_rocm()
    False
    """
    return False


def is_built_with_xla() -> bool:
    """Returns True: XLA executes everything.

    Reference: TensorFlow 2.21 `tf.test.is_built_with_xla`.

    >>> tf.test.is_built_with_xla()
    True
    """
    return True


class DeviceAttributes:
    """A device, as `tensorflow.python.client.device_lib` describes it.

    Args:
      name: e.g. '/device:CPU:0'.
      device_type: 'CPU', 'GPU' or 'TPU'.
      memory_limit: in bytes.
      physical_device_desc: a description.
    """

    def __init__(self, name: str, device_type: str, memory_limit: int, physical_device_desc: str):
        self.name = name
        self.device_type = device_type
        self.memory_limit = memory_limit
        self.physical_device_desc = physical_device_desc
        self.incarnation = 1

    def __repr__(self) -> str:
        return (f'name: "{self.name}"\ndevice_type: "{self.device_type}"\nmemory_limit: {self.memory_limit}\n'
                f'incarnation: {self.incarnation}\nphysical_device_desc: "{self.physical_device_desc}"\n')


def list_local_devices(session_config: Any = None) -> list[DeviceAttributes]:
    """Lists the devices of this machine.

    Args:
      session_config: a `ConfigProto`, whose `device_count` matters.
    Reference: TensorFlow 2.21 tensorflow.python.client.device_lib.
    """
    found = []
    for name in placement.Placement.of(session_config).devices:
        known = xla.device(name).memory() if not name.startswith("CPU") else (268435456, "")
        found.append(DeviceAttributes(f"/device:{name}", name.partition(":")[0], *known))
    return found


def num_gpus() -> int:
    """Counts the GPUs that JAX sees."""
    return sum(":GPU:" in name for name in _device_names())


def list_device_names() -> list[str]:
    """Lists the names of the devices that JAX sees."""
    return _device_names()


def _device_names() -> list[str]:
    return [d.name for d in list_local_devices()]
