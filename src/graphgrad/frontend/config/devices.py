"""`tf.config`: the devices of this machine, as TensorFlow 2 lists them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from graphgrad.executor.backend import xla
from graphgrad.executor.plan import placement


class PhysicalDevice(NamedTuple):
    """A device of the machine; `name` is such as '/physical_device:GPU:0', `device_type` 'GPU'."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that operations can name; `name` is such as '/device:CPU:1', `device_type` 'CPU'."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """How to divide a device; the fields are kept, and without effect here."""

    memory_limit: Any = None
    experimental_priority: Any = None
    experimental_device_ordinal: Any = None


_growing: dict[PhysicalDevice, bool] = {}


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Lists the processor and the accelerators of this machine.

    Args:
      device_type: 'CPU', 'GPU' or 'TPU'; all if not given.
    Returns: a list of `PhysicalDevice`.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.list_physical_devices`.

    >>> tf.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    names = ["CPU:0", *xla.accelerators()]
    found = [PhysicalDevice(f"/physical_device:{n}", n.partition(":")[0]) for n in names]
    return [d for d in found if device_type in (None, d.device_type)]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Lists the devices that operations can name.

    Args:
      device_type: 'CPU', 'GPU' or 'TPU'; all if not given.
    Returns: a list of `LogicalDevice`.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.list_logical_devices`.

    >>> tf.config.list_logical_devices("CPU")[0]
    LogicalDevice(name='/device:CPU:0', device_type='CPU')
    """
    found = [LogicalDevice(f"/device:{n}", n.partition(":")[0]) for n in placement.default_placement.devices]
    return [d for d in found if device_type in (None, d.device_type)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Lists the devices of the machine that are used.

    Args:
      device_type: 'CPU', 'GPU' or 'TPU'; all if not given.
    Returns: a list of `PhysicalDevice`.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.get_visible_devices`.

    >>> tf.config.get_visible_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    used = placement.default_placement.accelerators
    return [d for d in list_physical_devices(device_type) if used or d.device_type == "CPU"]


def set_visible_devices(devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None) -> None:
    """Selects which devices of the machine are used: all accelerators, or none of them.

    Args:
      devices: a list of `PhysicalDevice`, or one.
      device_type: the type that the list speaks of; all if not given.
    Raises: ValueError for some accelerators and not others, and if the processor is omitted.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.set_visible_devices`.

    >>> tf.config.set_visible_devices(tf.config.list_physical_devices())
    """
    wanted = {devices} if isinstance(devices, PhysicalDevice) else set(devices)
    present = set(list_physical_devices(device_type))
    if not wanted <= present:
        raise ValueError(f"Unrecognized device: {sorted(wanted - present)[0]!r}. "
                         "Fix: choose from tf.config.list_physical_devices()")
    if any(d.device_type == "CPU" for d in present - wanted):
        raise ValueError("The processor cannot be hidden. Fix: leave '/physical_device:CPU:0' in the list")
    accelerators = {d for d in present if d.device_type != "CPU"}
    if accelerators & wanted and accelerators - wanted:
        raise ValueError("Some accelerators cannot be hidden while others are used. Fix: name the devices that "
                         "operations are to run on with tf.device, or set CUDA_VISIBLE_DEVICES")
    if device_type != "CPU":
        placement.default_placement.accelerators = bool(accelerators & wanted) or not accelerators


def get_soft_device_placement() -> bool:
    """Returns whether operations of functions may run elsewhere if the device that they name does not exist.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.get_soft_device_placement`.

    >>> tf.config.get_soft_device_placement()
    True
    """
    return placement.default_placement.soft


def set_soft_device_placement(enabled: bool) -> None:
    """Sets whether operations of functions may run elsewhere if the device that they name does not exist.

    Sessions have `ConfigProto.allow_soft_placement` for that. Functions that ran before keep their placement.

    Args:
      enabled: whether they may; else InvalidArgumentError is raised when the function runs.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.set_soft_device_placement`.

    >>> tf.config.set_soft_device_placement(True)
    """
    placement.default_placement.soft = bool(enabled)


def get_logical_device_configuration(device: PhysicalDevice) -> list[LogicalDeviceConfiguration] | None:
    """Returns the argument of `set_logical_device_configuration`; None if it was not called.

    Args:
      device: a `PhysicalDevice`.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.get_logical_device_configuration`.

    >>> tf.config.get_logical_device_configuration(tf.config.list_physical_devices("CPU")[0])
    """
    cpus = placement.default_placement.cpus
    return [LogicalDeviceConfiguration()] * cpus if device.device_type == "CPU" and cpus > 1 else None


def set_logical_device_configuration(device: PhysicalDevice,
                                     logical_devices: Sequence[LogicalDeviceConfiguration] | None) -> None:
    """Makes the processor count as several devices, '/cpu:0', '/cpu:1' and so on.

    Args:
      device: the processor, `tf.config.list_physical_devices('CPU')[0]`.
      logical_devices: a `LogicalDeviceConfiguration` for each device; None for one.
    Raises: ValueError for accelerators, which are not divided.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.set_logical_device_configuration`.

    >>> tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], None)
    """
    if device.device_type != "CPU":
        if logical_devices is not None and len(logical_devices) > 1:
            raise ValueError(f"{device.name} cannot be divided. Fix: use one LogicalDeviceConfiguration")
        return
    placement.default_placement.cpus = max(1, len(logical_devices or ()))


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Returns the argument of `set_memory_growth`; False if it was not called.

    Args:
      device: a `PhysicalDevice`.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.experimental.get_memory_growth`.

    >>> tf.config.experimental.get_memory_growth(tf.config.list_physical_devices("CPU")[0])
    False
    """
    return _growing.get(device, False)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Stores the setting, without effect: JAX manages the memory of accelerators.

    Args:
      device: a `PhysicalDevice`.
      enable: whether to take memory as it is needed.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.experimental.set_memory_growth`.

    >>> for gpu in tf.config.list_physical_devices("GPU"):
    ...     tf.config.experimental.set_memory_growth(gpu, True)
    """
    _growing[device] = bool(enable)
