"""`tf.DeviceSpec`: a device string in parts."""

from __future__ import annotations

import re
from typing import Any

from graphgrad.ir.attribute_limits import whole

_PARTS = ("job", "replica", "task", "device_type", "device_index")
_KINDS = ("CPU", "GPU", "TPU")


class DeviceSpec:
    """An immutable device string, split into parts.

    Args:
      job: the name of a job, such as 'worker'.
      replica, task: numbers.
      device_type: 'CPU', 'GPU' or 'TPU'.
      device_index: the number of the device; '*' means any.
    Reference: TensorFlow 2.21 `tf.DeviceSpec`.

    >>> tf.DeviceSpec(job="ps", device_type="CPU", device_index=0).to_string()
    '/job:ps/device:CPU:0'
    """

    __slots__ = ("_job", "_replica", "_task", "_device_type", "_device_index")

    def __init__(self, job: Any = None, replica: Any = None, task: Any = None, device_type: Any = None,
                 device_index: Any = None):
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else whole(replica)
        self._task = None if task is None else whole(task)
        self._device_type = None if device_type is None else str(device_type).upper()
        self._device_index = None if device_index is None else whole(device_index)

    @property
    def job(self) -> str | None:
        """The name of the job, or None."""
        return self._job

    @property
    def replica(self) -> int | None:
        """The number of the replica, or None."""
        return self._replica

    @property
    def task(self) -> int | None:
        """The number of the task, or None."""
        return self._task

    @property
    def device_type(self) -> str | None:
        """'CPU', 'GPU' or 'TPU', or None."""
        return self._device_type

    @property
    def device_index(self) -> int | None:
        """The number of the device, or None for any."""
        return self._device_index

    def _parts(self) -> dict[str, Any]:
        return {name: getattr(self, f"_{name}") for name in _PARTS}

    def to_string(self) -> str:
        """Returns the device string."""
        text = "".join(f"/{n}:{v}" for n, v in list(self._parts().items())[:3] if v is not None)
        if self._device_type is None:
            return text
        return f"{text}/device:{self._device_type}:{'*' if self._device_index is None else self._device_index}"

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Parses a device string; raises ValueError for an invalid one.

        Args:
          spec: such as '/job:worker/task:1/gpu:0'.
        """
        return cls(**_read(spec))

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Parses another device string, like `from_string`.

        Args:
          spec: such as '/job:worker/task:1/gpu:0'.
        """
        return self.from_string(spec)

    def make_merged_spec(self, dev: Any) -> DeviceSpec:
        """Returns these parts, overridden by those of `dev`.

        Args:
          dev: a `DeviceSpec`.
        """
        given = {k: v for k, v in dev._parts().items() if v is not None}
        return type(self)(**{**self._parts(), **given})

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """Returns these parts, some of them replaced.

        Args:
          **kwargs: arguments of the class.
        """
        return type(self)(**{**self._parts(), **kwargs})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(tuple(self._parts().values()))

    def __repr__(self) -> str:
        return f"<DeviceSpec({', '.join(f'{k}={v}' for k, v in self._parts().items())})>"


class DeviceSpecV1(DeviceSpec):
    """A mutable device string, split into parts (1.x).

    Args:
      job: the name of a job, such as 'worker'.
      replica, task: numbers.
      device_type: 'CPU', 'GPU' or 'TPU'.
      device_index: the number of the device; '*' means any.
    Reference: TensorFlow 2.21 `tf.compat.v1.DeviceSpec`.

    >>> spec = tf.DeviceSpec(job="ps")
    >>> spec.task = 3
    >>> spec.to_string()
    '/job:ps/task:3'
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PARTS:
            text = name in ("job", "device_type")
            value = None if value is None else (str(value) if text else int(value))
            name = f"_{name}"
        object.__setattr__(self, name, value)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Takes the parts of a device string.

        Args:
          spec: such as '/job:worker/task:1/gpu:0'.
        """
        found = _read(spec)
        for name in _PARTS:
            setattr(self, name, found.get(name))
        return self

    def merge_from(self, dev: Any) -> None:
        """Overrides parts by those of `dev`.

        Args:
          dev: a `DeviceSpec`.
        """
        for name, value in dev._parts().items():
            if value is not None:
                setattr(self, name, value)

    __hash__ = DeviceSpec.__hash__


def _read(spec: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for piece in filter(None, (spec or "").split("/")):
        key, _, value = piece.partition(":")
        device = re.fullmatch(r"(?:device:)?(\w+)(?::(\d+|\*))?", piece)
        if key in ("job", "replica", "task") and value:
            found[key] = value
        elif device and device[1].upper() in _KINDS:
            if "device_type" in found:
                raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {spec}. "
                                 "Fix: name one device")
            found["device_type"] = device[1].upper()
            found["device_index"] = None if device[2] in (None, "*") else device[2]
        else:
            raise ValueError(f"Unknown attribute '{key}' is encountered while parsing the device spec: '{spec}'. "
                             "Fix: write e.g. '/cpu:0', '/device:GPU:1' or '/job:worker/task:0'")
    return found
