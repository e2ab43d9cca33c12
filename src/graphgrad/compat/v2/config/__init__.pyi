"""`tf.config`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.config import experimental as experimental
from graphgrad.compat.v2.config import optimizer as optimizer
from graphgrad.compat.v2.config import threading as threading
from graphgrad.frontend.config.devices import LogicalDevice as LogicalDevice
from graphgrad.frontend.config.devices import LogicalDeviceConfiguration as LogicalDeviceConfiguration
from graphgrad.frontend.config.devices import PhysicalDevice as PhysicalDevice
from graphgrad.frontend.config.devices import get_logical_device_configuration as get_logical_device_configuration
from graphgrad.frontend.config.devices import get_soft_device_placement as get_soft_device_placement
from graphgrad.frontend.config.devices import get_visible_devices as get_visible_devices
from graphgrad.frontend.config.devices import list_logical_devices as list_logical_devices
from graphgrad.frontend.config.devices import list_physical_devices as list_physical_devices
from graphgrad.frontend.config.devices import set_logical_device_configuration as set_logical_device_configuration
from graphgrad.frontend.config.devices import set_soft_device_placement as set_soft_device_placement
from graphgrad.frontend.config.devices import set_visible_devices as set_visible_devices
from graphgrad.frontend.function.function import functions_run_eagerly as experimental_functions_run_eagerly
from graphgrad.frontend.function.function import functions_run_eagerly as functions_run_eagerly
from graphgrad.frontend.function.function import run_functions_eagerly as experimental_run_functions_eagerly
from graphgrad.frontend.function.function import run_functions_eagerly as run_functions_eagerly

__all__ = [
    "LogicalDevice", "LogicalDeviceConfiguration", "PhysicalDevice", "experimental",
    "experimental_functions_run_eagerly", "experimental_run_functions_eagerly", "functions_run_eagerly",
    "get_logical_device_configuration", "get_soft_device_placement", "get_visible_devices", "list_logical_devices",
    "list_physical_devices", "optimizer", "run_functions_eagerly", "set_logical_device_configuration",
    "set_soft_device_placement", "set_visible_devices", "threading"
]
