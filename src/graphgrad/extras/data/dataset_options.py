"""`tf.data.Options`: settings of data sets. They are checked, kept and merged; elements are computed one by one."""

from __future__ import annotations

import enum
from typing import Any, ClassVar

from .dataset_base import DatasetBase, DatasetT


class AutotuneAlgorithm(enum.Enum):
    """TensorFlow's algorithms for tuning parallel transformations. Without effect."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutoShardPolicy(enum.IntEnum):
    """How `experimental_distribute_dataset` shares a data set among several processes.

    FILE: each reads its own files. DATA: each takes its part of each batch. OFF, HINT: each takes everything.
    AUTO: FILE if files are read, else DATA.

    Reference: TensorFlow 2.21 `tf.data.experimental.AutoShardPolicy`.
    """

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """The handling of stateful functions when a data set is serialized. Without effect."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Options:
    """Settings with fixed names and types; each is None until set."""

    _KINDS: ClassVar[dict[str, Any]] = {}  # name -> the types of its values

    def __getattr__(self, name: str) -> Any:
        if name not in self._KINDS:
            raise AttributeError(f"Cannot get the property {name} on {type(self).__name__}.")
        kind = self._KINDS[name]
        if isinstance(kind, type) and issubclass(kind, _Options):
            made = vars(self)[name] = kind()
            return made
        return None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._KINDS:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}. "
                                 f"Fix: one of {', '.join(sorted(self._KINDS))}")
        kind = self._KINDS[name]
        if value is not None and not isinstance(value, kind):
            raise TypeError(f'Property "{name}" must be of type {kind}, got: {value} (type: {type(value)})')
        vars(self)[name] = value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._KINDS})

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(getattr(self, n) == getattr(other, n) for n in self._KINDS)

    __hash__ = None  # type: ignore[assignment]  # it can change

    def _merged(self, other: Any) -> Any:
        if not isinstance(other, type(self)):
            raise TypeError(f"options are merged with options, not with {other!r}. Fix: give tf.data.Options()")
        made = type(self)()
        for name in self._KINDS:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, _Options):
                vars(made)[name] = mine._merged(theirs)
            elif theirs is not None or mine is not None:
                vars(made)[name] = mine if theirs is None else theirs
        return made


class AutotuneOptions(_Options):
    """Settings of TensorFlow's tuning, see `tf.data.Options`. Without effect.

    Reference: TensorFlow 2.21 `tf.data.experimental.AutotuneOptions`.
    """

    _KINDS: ClassVar[dict[str, Any]] = {
        "autotune_algorithm": AutotuneAlgorithm, "cpu_budget": int, "enabled": bool, "initial_parallelism": int,
        "min_parallelism": int, "ram_budget": int}

    def __init__(self) -> None:
        pass


class OptimizationOptions(_Options):
    """Settings of TensorFlow's rewriting of data sets, see `tf.data.Options`. Without effect.

    Reference: TensorFlow 2.21 `tf.data.experimental.OptimizationOptions`.
    """

    _KINDS: ClassVar[dict[str, Any]] = dict.fromkeys((
        "apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
        "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination",
        "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion"), bool)

    def __init__(self) -> None:
        pass


class ThreadingOptions(_Options):
    """Settings of threads, see `tf.data.Options`. Without effect.

    Reference: TensorFlow 2.21 `tf.data.ThreadingOptions`.
    """

    _KINDS: ClassVar[dict[str, Any]] = {"max_intra_op_parallelism": int, "private_threadpool_size": int}

    def __init__(self) -> None:
        pass


class DistributeOptions(_Options):
    """Settings of distribution over several processes.

    Reference: TensorFlow 2.21 `tf.data.experimental.DistributeOptions`.
    """

    _KINDS: ClassVar[dict[str, Any]] = {"auto_shard_policy": object, "num_devices": int}


class Options(_Options):
    """Settings of a data set, for `Dataset.with_options`: checked, merged, and without effect on the elements.

    Reference: TensorFlow 2.21 `tf.data.Options`.

    >>> options = tf.data.Options()
    >>> options.deterministic = False
    >>> options.threading.private_threadpool_size = 4
    >>> tf.data.Options().merge(options).threading.private_threadpool_size
    4
    """

    _KINDS: ClassVar[dict[str, Any]] = {
        "autotune": AutotuneOptions, "dataset_name": str, "deterministic": bool,
        "experimental_distribute": DistributeOptions, "experimental_external_state_policy": ExternalStatePolicy,
        "experimental_optimization": OptimizationOptions, "experimental_service": object,
        "experimental_slack": bool, "experimental_symbolic_checkpoint": bool, "experimental_warm_start": bool,
        "framework_type": list, "threading": ThreadingOptions}
    _OLD: ClassVar[dict[str, str]] = {"experimental_deterministic": "deterministic",
                                      "experimental_threading": "threading"}

    def __init__(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return super().__getattr__(self._OLD.get(name, name)) if name not in self._OLD else getattr(
            self, self._OLD[name])

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(self._OLD.get(name, name), value)

    def merge(self, options: Any) -> Any:
        """Merges these options with another object's, which take precedence.

        Args:
          options: a `tf.data.Options`.
        """
        return self._merged(options)


def with_options(self: DatasetT, options: Any, name: str | None = None) -> DatasetT:
    """Makes a data set with options; they take precedence over earlier ones.

    Args:
      options: a `tf.data.Options`.
      name: accepted.
    """
    made = self._then(self._passes, size=self._size)._as("", self)
    made._options = options if self._options is None else self._options.merge(options)
    return made


def options(self: DatasetBase) -> Options:
    """Returns the options of this data set and of those that it is made from."""
    return Options() if self._options is None else self._options
