"""`tensorflow.python.util.tf_inspect`: Python's `inspect`, with names that it had once."""

from __future__ import annotations

import collections
import inspect
from inspect import *  # noqa: F403
from typing import Any

ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def getargspec(obj: Any) -> Any:
    """Returns the arguments of a function, without keyword-only ones.

    Args:
      obj: the function.
    """
    full = inspect.getfullargspec(obj)
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)
