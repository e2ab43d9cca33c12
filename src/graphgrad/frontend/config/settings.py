"""`tf.config.optimizer`, `tf.config.threading` and device settings."""

from __future__ import annotations

from typing import Any

from graphgrad.errors import UnimplementedError
from graphgrad.executor.backend import xla
from graphgrad.executor.plan import placement
from graphgrad.ir.attribute_limits import whole

from .devices import PhysicalDevice

_jit: dict[str, Any] = {"enabled": ""}
_options: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}
_OPTIONS = frozenset("""
    layout_optimizer constant_folding shape_optimization remapping arithmetic_optimization dependency_optimization
    loop_optimization function_optimization debug_stripper disable_model_pruning scoped_allocator_optimization
    pin_to_host_optimization implementation_selector auto_mixed_precision disable_meta_optimizer min_graph_nodes
    auto_parallel auto_mixed_precision_onednn_bfloat16 auto_mixed_precision_mkl use_plugin_optimizers
""".split())
_threads = {"inter": 0, "intra": 0}
_synchronous: list[Any] = [True]
_filtering: list[bool] = [True]
_tensor_float: list[bool] = [True]


def is_traceback_filtering_enabled() -> bool:
    """Returns whether libraries may shorten tracebacks; the errors raised here name the user's line in any case.

    Reference: TensorFlow 2.21 `tf.debugging.is_traceback_filtering_enabled`.

    >>> import graphgrad as tf
    >>> tf.debugging.is_traceback_filtering_enabled()
    True
    """
    return _filtering[0]


def enable_traceback_filtering() -> None:
    """Lets libraries shorten tracebacks.

    Reference: TensorFlow 2.21 `tf.debugging.enable_traceback_filtering`.
    """
    _filtering[0] = True


def disable_traceback_filtering() -> None:
    """Keeps libraries from shortening tracebacks.

    Reference: TensorFlow 2.21 `tf.debugging.disable_traceback_filtering`.
    """
    _filtering[0] = False


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Keeps whether GPUs may round factors to 10 bits, and has no effect: XLA decides by the ops' precision.

    Args:
      enabled: whether they may.
    Reference: TensorFlow 2.21 `tf.config.experimental.enable_tensor_float_32_execution`.
    """
    _tensor_float[0] = bool(enabled)


def tensor_float_32_execution_enabled() -> bool:
    """Returns the argument of `enable_tensor_float_32_execution`.

    Reference: TensorFlow 2.21 `tf.config.experimental.tensor_float_32_execution_enabled`.
    """
    return _tensor_float[0]


def get_jit() -> str:
    """Returns the argument of `set_jit`.

    Returns: 'autoclustering' or ''.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.optimizer.get_jit`.

    >>> tf.config.optimizer.get_jit()
    ''
    """
    return str(_jit["enabled"])


def set_jit(enabled: bool | str) -> None:
    """Stores the setting, without effect: XLA compiles everything here.

    Args:
      enabled: True or 'autoclustering', else False or ''.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.optimizer.set_jit`. One program for a whole function is what
      `tf.function(jit_compile=True)` asks for, for a whole run `ConfigProto`'s `global_jit_level`.

    >>> tf.config.optimizer.set_jit(False)
    """
    _jit["enabled"] = "autoclustering" if enabled in (True, "autoclustering") else ""


def get_experimental_options() -> dict[str, Any]:
    """Returns the options given to `set_experimental_options`, and two more.

    Returns: a dictionary.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.optimizer.get_experimental_options`.

    >>> tf.config.optimizer.get_experimental_options()["disable_meta_optimizer"]
    False
    """
    return dict(_options)


def set_experimental_options(options: dict[str, Any]) -> None:
    """Stores the options, without effect: they control TensorFlow's graph rewrites.

    Args:
      options: a dictionary, as in TensorFlow; unknown options are ignored.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.optimizer.set_experimental_options`.

    >>> tf.config.optimizer.set_experimental_options({"constant_folding": True})
    """
    _options.update((k, v) for k, v in options.items() if k in _OPTIONS)


def get_inter_op_parallelism_threads() -> int:
    """Returns the argument of `set_inter_op_parallelism_threads`; 0 leaves it to the system.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.threading.get_inter_op_parallelism_threads`.

    >>> tf.config.threading.get_inter_op_parallelism_threads()
    0
    """
    return _threads["inter"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Stores the setting, without effect: JAX's settings are the user's.

    Args:
      num_threads: the number of threads; 0 leaves it to the system.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.threading.set_inter_op_parallelism_threads`.

    >>> tf.config.threading.set_inter_op_parallelism_threads(0)
    """
    _threads["inter"] = whole(num_threads)


def get_intra_op_parallelism_threads() -> int:
    """Returns the argument of `set_intra_op_parallelism_threads`; 0 leaves it to the system.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.threading.get_intra_op_parallelism_threads`.

    >>> tf.config.threading.get_intra_op_parallelism_threads()
    0
    """
    return _threads["intra"]


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Stores the setting, without effect: JAX's settings are the user's.

    Args:
      num_threads: the number of threads; 0 leaves it to the system.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.threading.set_intra_op_parallelism_threads`.

    >>> tf.config.threading.set_intra_op_parallelism_threads(0)
    """
    _threads["intra"] = whole(num_threads)


def get_synchronous_execution() -> bool:
    """Returns whether eager operations are complete when their calls return: always.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.experimental.get_synchronous_execution`.

    >>> tf.config.experimental.get_synchronous_execution()
    True
    """
    return bool(_synchronous[0])


def set_synchronous_execution(enable: bool | None) -> None:
    """Stores the setting, without effect: eager operations are complete when their calls return.

    Args:
      enable: False would allow operations to be done later; None is TensorFlow's default.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.experimental.set_synchronous_execution`.

    >>> tf.config.experimental.set_synchronous_execution(True)
    """
    _synchronous[0] = True if enable is None else bool(enable)


# -- memory of devices -------------------------------------------------------------------


def _accelerator(device: str) -> Any:
    """Returns the device for a string such as 'GPU:0'; None for the processor."""
    kind, _, number = str(device).rpartition("/")[2].removeprefix("device:").partition(":")
    if not kind or not number.isdigit():
        raise ValueError(f"Failed parsing device name: '{device}'. A device string has a device type and an index, "
                         "like 'GPU:0'. Fix: write it so")
    name = f"{kind.upper()}:{number}"
    if name not in placement.default_placement.devices:
        raise ValueError(f"No matching devices found for '{device}'. Fix: choose from "
                         f"{', '.join(placement.default_placement.devices)}")
    return None if name.startswith("CPU") else xla.device(name)


def get_memory_info(device: str) -> dict[str, int]:
    """Returns the memory of an accelerator that is in use.

    Args:
      device: such as 'GPU:0'.
    Returns: {'current': bytes, 'peak': bytes}.
    Raises: ValueError for the processor, and for anything but a device.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.experimental.get_memory_info`.
    """
    found = _accelerator(device)
    stats = None if found is None else found.memory_in_use()
    if stats is None:
        raise ValueError(f"Allocator stats not available for device '{device}'. Fix: ask for an accelerator; of runs, "
                         "RunMetadata tells the peak")
    return {"current": stats[0], "peak": stats[1]}


def get_memory_usage(device: str) -> int:
    """Returns the bytes of memory of an accelerator that are in use; see also `get_memory_info`.

    Args:
      device: such as 'GPU:0'.
    Returns: the number of bytes.
    Raises: ValueError for the processor, and for anything but a device.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.experimental.get_memory_usage`.
    """
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Raises an error: JAX's allocator cannot reset the peak of `get_memory_info`.

    Args:
      device: such as 'GPU:0'.
    Raises: ValueError for the processor, and for anything but a device; UnimplementedError for an accelerator.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.experimental.reset_memory_stats`.
    """
    if _accelerator(device) is None:
        raise ValueError(f"Cannot reset memory stats for device '{device}'. Fix: ask for an accelerator")
    raise UnimplementedError(None, None, f"the peak of '{device}' cannot be set back: JAX's allocator keeps it. "
                             "Fix: compare get_memory_info(device)['current']")


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """Returns details of an accelerator.

    Args:
      device: one of `tf.config.list_physical_devices`.
    Returns: {'device_name': ...}; nothing of the processor.
    Raises: ValueError for an unknown device.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.config.experimental.get_device_details`.

    >>> tf.config.experimental.get_device_details(tf.config.list_physical_devices("CPU")[0])
    {}
    """
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device}. "
                         "Fix: choose from tf.config.list_physical_devices()")
    name = device.name.partition("device:")[2]
    return {} if device.device_type == "CPU" else {"device_name": xla.device(name).memory()[1]}


def get_log_device_placement() -> bool:
    """Returns whether functions and sessions print where operations run.

    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.debugging.get_log_device_placement`.

    >>> tf.debugging.get_log_device_placement()
    False
    """
    return placement.default_placement.log


def set_log_device_placement(enabled: bool) -> None:
    """Sets whether functions, and sessions created afterwards, print where operations run.

    Args:
      enabled: whether they do.
    Gradient: none; it builds nothing.
    Reference: TensorFlow 2.21 `tf.debugging.set_log_device_placement`.

    >>> tf.debugging.set_log_device_placement(False)
    """
    placement.default_placement.log = bool(enabled)
