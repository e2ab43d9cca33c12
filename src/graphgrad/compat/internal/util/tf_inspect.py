"""`tensorflow.python.util.tf_inspect`: Python's `inspect`, with names that it had once."""

from __future__ import annotations

import collections
import inspect
from inspect import *  # noqa: F403  # the module has all of inspect's names
from typing import Any

_inspect = inspect  # which libraries take from there
ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def getfullargspec(obj: Any) -> Any:
    """Returns the arguments of a function, beneath its decorators, without annotations.

    Args:
      obj: the function.
    """
    return inspect.getfullargspec(inspect.unwrap(obj))._replace(annotations={})


def getargspec(obj: Any) -> Any:
    """Returns the arguments of a function, without keyword-only ones.

    Args:
      obj: the function.
    """
    full = getfullargspec(obj)
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)
