"""`tf.config.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.config.devices: VirtualDeviceConfiguration=LogicalDeviceConfiguration get_memory_growth
    get_virtual_device_configuration=get_logical_device_configuration get_visible_devices list_logical_devices
    list_physical_devices set_memory_growth set_virtual_device_configuration=set_logical_device_configuration
    set_visible_devices
graphgrad.frontend.config.settings: enable_tensor_float_32_execution get_device_details get_memory_info get_memory_usage
    get_synchronous_execution reset_memory_stats set_synchronous_execution tensor_float_32_execution_enabled
graphgrad.frontend.modes: enable_op_determinism
""")
