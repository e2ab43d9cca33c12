"""`tf.config.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.config.devices import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from graphgrad.frontend.config.devices import get_logical_device_configuration as get_virtual_device_configuration
from graphgrad.frontend.config.devices import get_memory_growth as get_memory_growth
from graphgrad.frontend.config.devices import get_visible_devices as get_visible_devices
from graphgrad.frontend.config.devices import list_logical_devices as list_logical_devices
from graphgrad.frontend.config.devices import list_physical_devices as list_physical_devices
from graphgrad.frontend.config.devices import set_logical_device_configuration as set_virtual_device_configuration
from graphgrad.frontend.config.devices import set_memory_growth as set_memory_growth
from graphgrad.frontend.config.devices import set_visible_devices as set_visible_devices
from graphgrad.frontend.config.settings import enable_tensor_float_32_execution as enable_tensor_float_32_execution
from graphgrad.frontend.config.settings import get_device_details as get_device_details
from graphgrad.frontend.config.settings import get_memory_info as get_memory_info
from graphgrad.frontend.config.settings import get_memory_usage as get_memory_usage
from graphgrad.frontend.config.settings import get_synchronous_execution as get_synchronous_execution
from graphgrad.frontend.config.settings import reset_memory_stats as reset_memory_stats
from graphgrad.frontend.config.settings import set_synchronous_execution as set_synchronous_execution
from graphgrad.frontend.config.settings import tensor_float_32_execution_enabled as tensor_float_32_execution_enabled
from graphgrad.frontend.modes import enable_op_determinism as enable_op_determinism

__all__ = [
    "VirtualDeviceConfiguration", "enable_op_determinism", "enable_tensor_float_32_execution", "get_device_details",
    "get_memory_growth", "get_memory_info", "get_memory_usage", "get_synchronous_execution",
    "get_virtual_device_configuration", "get_visible_devices", "list_logical_devices", "list_physical_devices",
    "reset_memory_stats", "set_memory_growth", "set_synchronous_execution", "set_virtual_device_configuration",
    "set_visible_devices", "tensor_float_32_execution_enabled"
]
