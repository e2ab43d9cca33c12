"""`tf.config.experimental`."""

from graphgrad.frontend.devices import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from graphgrad.frontend.devices import get_logical_device_configuration as get_virtual_device_configuration
from graphgrad.frontend.devices import get_memory_growth as get_memory_growth
from graphgrad.frontend.devices import get_visible_devices as get_visible_devices
from graphgrad.frontend.devices import list_logical_devices as list_logical_devices
from graphgrad.frontend.devices import list_physical_devices as list_physical_devices
from graphgrad.frontend.devices import set_logical_device_configuration as set_virtual_device_configuration
from graphgrad.frontend.devices import set_memory_growth as set_memory_growth
from graphgrad.frontend.devices import set_visible_devices as set_visible_devices
