"""`tf.config`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.config.experimental: experimental=.
graphgrad.compat.v2.config.optimizer: optimizer=.
graphgrad.compat.v2.config.threading: threading=.
graphgrad.frontend.config.devices: LogicalDevice LogicalDeviceConfiguration PhysicalDevice
    get_logical_device_configuration get_soft_device_placement get_visible_devices list_logical_devices
    list_physical_devices set_logical_device_configuration set_soft_device_placement set_visible_devices
graphgrad.frontend.function.function: experimental_functions_run_eagerly=functions_run_eagerly
    experimental_run_functions_eagerly=run_functions_eagerly functions_run_eagerly run_functions_eagerly
""")
