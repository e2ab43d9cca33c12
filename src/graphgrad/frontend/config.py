"""`ConfigProto` and its relatives: accepted as programs write them.

`device_count`, `allow_soft_placement`, `log_device_placement` (see `executor.place`) and `global_jit_level` have a
meaning. What concerns threads and memory of TensorFlow's own run time is kept and can be read back, and changes
nothing: JAX's settings stay the user's.
"""

from __future__ import annotations

from typing import Any


class _Message:
    """A bag of fields; reading one that was never set gives an empty message, as in protocol buffers."""

    def __init__(self, **fields: Any):
        for name, value in fields.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = _Message()
        object.__setattr__(self, name, value)
        return value

    def CopyFrom(self, other: Any) -> None:
        """Takes over the fields of another message."""
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)

    MergeFrom = CopyFrom

    def __bool__(self) -> bool:
        return bool(self.__dict__)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # it can change

    def __repr__(self) -> str:
        fields = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items())
        return f"{type(self).__name__.lstrip('_')}({fields})"


class ConfigProto(_Message):
    """Settings of a session.

    Args:
      **fields: TensorFlow's. `device_count` says how many devices the processor counts for ("CPU") and, if 0, that
        no accelerator is used ("GPU"); `allow_soft_placement=False` refuses operations whose devices do not exist;
        `log_device_placement` prints where operations run. Others, such as `intra_op_parallelism_threads` and
        `gpu_options`, are kept, and without effect here.

    >>> config = tf.ConfigProto(allow_soft_placement=True)
    >>> config.gpu_options.allow_growth = True
    >>> config.gpu_options.allow_growth
    True
    """


class GPUOptions(_Message):
    """GPU settings of a session; kept, and without effect here."""


class GraphOptions(_Message):
    """Graph settings of a session; kept, and without effect here."""


class OptimizerOptions(_Message):
    """Optimizer settings of a session.

    `global_jit_level` ON_1 or ON_2 lets a run be one XLA program instead of clusters; the rest is
    kept, and without effect here.
    """

    L1, L0 = 0, -1
    DEFAULT, OFF, ON_1, ON_2 = 0, -1, 1, 2


class RewriterConfig(_Message):
    """Settings of TensorFlow's graph rewrites; kept, and without effect here."""

    DEFAULT, ON, OFF, AGGRESSIVE = range(4)
    NO_MEM_OPT, MANUAL, HEURISTICS = 1, 2, 3


class RunOptions(_Message):
    """Settings of one run: a `trace_level` above NO_TRACE fills the `RunMetadata`; the rest is kept only."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = range(4)


class RunMetadata(_Message):
    """What a run reports when a `RunOptions.trace_level` asks for it.

    Attributes:
      report: the run's steps, a `RunReport`; print it.
      peak_bytes: the most memory that was live at once.
      step_stats: when each step ran, a `StepStats`, for `tensorflow.python.client.timeline`.
    """
