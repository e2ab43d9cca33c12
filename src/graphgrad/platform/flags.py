"""`tf.flags`: absl's flags, parsed when one is first read, with the argument names of TensorFlow's first versions."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

# absl's logging defines flags; it is imported first, so that a program's own definitions can replace them.
from absl import flags as absl_flags
from absl import logging as _  # noqa: F401  # its import defines flags

if TYPE_CHECKING:
    from graphgrad.frontend.structure.structure_types import Lenient, P, R

# The flags that are defined through this module are those of the modules that call it.
absl_flags.disclaim_key_flags()

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _with_old_names(define: Callable[P, R]) -> Lenient[P, R]:
    """Makes a DEFINE function accept the argument names of TensorFlow before 1.5 as well."""

    @functools.wraps(define)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_OLD_NAMES.get(k, k): v for k, v in kwargs.items()})

    return renamed


DEFINE_string = _with_old_names(absl_flags.DEFINE_string)
DEFINE_boolean = _with_old_names(absl_flags.DEFINE_boolean)
DEFINE_bool = DEFINE_boolean
DEFINE_float = _with_old_names(absl_flags.DEFINE_float)
DEFINE_integer = _with_old_names(absl_flags.DEFINE_integer)


class ParsedWhenRead:
    """absl's flags; reading one before the command line has been parsed parses `sys.argv`.

    Args:
      flags: a `FlagValues`.
    Reference: TensorFlow 2.21 `tf.compat.v1.flags.FLAGS`.

    >>> _ = tf.flags.DEFINE_string("data_dir", "data", "where the data are")
    >>> _ = tf.flags.FLAGS(["train.py", "--data_dir=/tmp"])
    >>> tf.flags.FLAGS.data_dir
    '/tmp'
    """

    __slots__ = ("_flags",)

    def __init__(self, flags: absl_flags.FlagValues):
        object.__setattr__(self, "_flags", flags)

    def __getattr__(self, name: str) -> Any:
        flags = self._flags
        if name in flags and not flags.is_parsed():
            flags(sys.argv)
        return getattr(flags, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._flags, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._flags, name)

    def __getitem__(self, name: str) -> Any:
        return self._flags[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        self._flags[name] = flag

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._flags(*args, **kwargs)

    def __contains__(self, name: str) -> bool:
        return name in self._flags

    def __iter__(self) -> Iterator[str]:
        return iter(self._flags)

    def __len__(self) -> int:
        return len(self._flags)

    def __dir__(self) -> list[str]:
        return dir(self._flags)

    def __str__(self) -> str:
        return str(self._flags)


FLAGS = ParsedWhenRead(absl_flags.FLAGS)
