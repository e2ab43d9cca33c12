"""The state of eager execution; `tensorflow.python.eager.context` and `tf.__internal__.eager_context`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from graphgrad.frontend.config.config_proto import ConfigProto
from graphgrad.ir import context as state
from graphgrad.ir.context import executing_eagerly as executing_eagerly

EAGER_MODE = 1
GRAPH_MODE = 0


@contextlib.contextmanager
def eager_mode() -> Iterator[None]:
    """Opens a block that executes eagerly, also inside a graph."""
    with state.use(state.EAGER):
        yield


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """Opens a block that builds a graph."""
    from graphgrad.ir.graph import Graph

    with Graph().as_default():
        yield


class Context:
    """The state of eager execution in this process: nothing here is asynchronous, and all of it is always ready."""

    device_name: str | None = None
    config = property(lambda self: ConfigProto())

    def ensure_initialized(self) -> None:
        """Does nothing."""

    def executing_eagerly(self) -> bool:
        """Returns whether operations run at once."""
        return executing_eagerly()

    def num_gpus(self) -> int:
        """Returns how many GPUs there are."""
        from graphgrad.frontend.config.devices import list_physical_devices

        return len(list_physical_devices("GPU"))

    def clear_kernel_cache(self) -> None:
        """Does nothing: kernels are not made for single calls."""

    def is_async(self) -> bool:
        """Returns False: operations run in order."""
        return False


_context = Context()


def context() -> Context:
    """Returns the state of eager execution."""
    return _context


def ensure_initialized() -> None:
    """Does nothing."""


def async_wait() -> None:
    """Does nothing: no operation is under way."""


def async_clear_error() -> None:
    """Does nothing: errors are raised where they arise."""


def get_config() -> ConfigProto:
    """Returns the settings of eager execution: the defaults."""
    return ConfigProto()


def get_device_name() -> str | None:
    """Returns the device that was asked for; None if none was."""
    return _context.device_name


def get_executor() -> _Executor:
    """Returns what runs operations; `wait` and `clear_error` of it do nothing."""
    return _Executor()


class _Executor:
    def wait(self) -> None:
        """Does nothing: no operation is under way."""

    def clear_error(self) -> None:
        """Does nothing: errors are raised where they arise."""


def set_soft_device_placement(enabled: bool) -> None:
    """Accepts where operations may run that cannot run where they were asked to.

    Args:
      enabled: accepted.
    """


def in_eager_mode() -> bool:
    """Returns whether operations are executed at once; the older name of `executing_eagerly`."""
    return executing_eagerly()
