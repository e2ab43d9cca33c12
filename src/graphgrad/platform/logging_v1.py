"""`tf.logging`: messages in TensorFlow's format, through Python's `logging`."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import logging  # where it is used, it is imported there: it would be part of `import graphgrad`

DEBUG = 10
INFO = 20
WARN = 30
ERROR = 40
FATAL = 50

_lock = threading.Lock()
_logger: logging.Logger | None = None
_counts: dict[tuple[str, int], int] = {}


def get_logger() -> logging.Logger:
    """Returns the logger named `tensorflow`; it shows warnings and errors unless a program changes its level.

    >>> tf.get_logger().name if hasattr(tf, "get_logger") else "tensorflow"
    'tensorflow'
    """
    global _logger
    with _lock:
        if _logger is None:
            import logging

            logger = logging.getLogger("tensorflow")
            interactive = hasattr(sys, "ps1")
            if not logging.getLogger().handlers and not logger.handlers:
                handler = logging.StreamHandler(sys.stdout if interactive else sys.stderr)
                handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT, None))
                logger.addHandler(handler)
            if logger.level == logging.NOTSET:
                logger.setLevel(INFO if interactive else WARN)
            _logger = logger
    return _logger


def _stack(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments, with the user's line instead of this module's."""
    return {**kwargs, "stacklevel": kwargs.get("stacklevel", 1) + 1}


def log(level: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message at a level.

    Args:
      level: an int such as `tf.logging.INFO`.
      msg: a string, with `%` formats for `args`.
      *args, **kwargs: as for Python's `logging`.
    """
    get_logger().log(level, msg, *args, **_stack(kwargs))


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level DEBUG.

    Args:
      msg: a string, with `%` formats for `args`.
      *args, **kwargs: as for Python's `logging`.
    Reference: TensorFlow 2.21 `tf.compat.v1.logging.debug`.
    """
    get_logger().debug(msg, *args, **_stack(kwargs))


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level INFO.

    Args:
      msg: a string, with `%` formats for `args`.
      *args, **kwargs: as for Python's `logging`.
    Reference: TensorFlow 2.21 `tf.compat.v1.logging.info`.
    """
    get_logger().info(msg, *args, **_stack(kwargs))


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level WARN.

    Args:
      msg: a string, with `%` formats for `args`.
      *args, **kwargs: as for Python's `logging`.
    Reference: TensorFlow 2.21 `tf.compat.v1.logging.warning`.
    """
    get_logger().warning(msg, *args, **_stack(kwargs))


def warn(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level WARN.

    Args:
      msg: a string, with `%` formats for `args`.
      *args, **kwargs: as for Python's `logging`.
    Reference: TensorFlow 2.21 `tf.compat.v1.logging.warn`.
    """
    get_logger().warning(msg, *args, **_stack(kwargs))


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level ERROR.

    Args:
      msg: a string, with `%` formats for `args`.
      *args, **kwargs: as for Python's `logging`.
    Reference: TensorFlow 2.21 `tf.compat.v1.logging.error`.
    """
    get_logger().error(msg, *args, **_stack(kwargs))


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message at the level FATAL; the program continues.

    Args:
      msg: a string, with `%` formats for `args`.
      *args, **kwargs: as for Python's `logging`.
    Reference: TensorFlow 2.21 `tf.compat.v1.logging.fatal`.
    """
    get_logger().fatal(msg, *args, **_stack(kwargs))


def vlog(level: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message at a level; the same as `log`.

    Args:
      level: an int such as `tf.logging.INFO`.
      msg: a string, with `%` formats for `args`.
      *args, **kwargs: as for Python's `logging`.
    Reference: TensorFlow 2.21 `tf.compat.v1.logging.vlog`.
    """
    get_logger().log(level, msg, *args, **_stack(kwargs))


def TaskLevelStatusMessage(msg: Any) -> None:
    """Logs a message at the level ERROR.

    Args:
      msg: a string.
    Reference: TensorFlow 2.21 `tf.compat.v1.logging.TaskLevelStatusMessage`.
    """
    get_logger().error(msg, stacklevel=2)


def log_if(level: Any, msg: Any, condition: Any, *args: Any) -> None:
    """Logs a message if `condition` is true.

    Args:
      level: an int such as `tf.logging.INFO`.
      msg: a string, with `%` formats for `args`.
      condition: a bool.
      *args: the values of the formats.
    Reference: TensorFlow 2.21 `tf.compat.v1.logging.log_if`.
    """
    if condition:
        get_logger().log(level, msg, *args, stacklevel=2)


def log_every_n(level: Any, msg: Any, n: Any, *args: Any) -> None:
    """Logs a message every `n`th time that this line is reached, the first time included.

    Args:
      level: an int such as `tf.logging.INFO`.
      msg: a string, with `%` formats for `args`.
      n: an int.
      *args: the values of the formats.
    Reference: TensorFlow 2.21 `tf.compat.v1.logging.log_every_n`.
    """
    if _count() % n == 0:
        get_logger().log(level, msg, *args, stacklevel=2)


def log_first_n(level: Any, msg: Any, n: Any, *args: Any) -> None:
    """Logs a message the first `n` times that this line is reached.

    Args:
      level: an int such as `tf.logging.INFO`.
      msg: a string, with `%` formats for `args`.
      n: an int.
      *args: the values of the formats.
    Reference: TensorFlow 2.21 `tf.compat.v1.logging.log_first_n`.
    """
    if _count() < n:
        get_logger().log(level, msg, *args, stacklevel=2)


def _count() -> int:
    """Counts the calls from the line of the caller's caller."""
    frame = sys._getframe(2)
    place = (frame.f_code.co_filename, frame.f_lineno)
    count = _counts.get(place, 0)
    _counts[place] = count + 1
    return count


def flush() -> None:
    """Flushes the handlers."""
    for handler in get_logger().handlers:
        handler.flush()


def get_verbosity() -> int:
    """Returns the lowest level that is shown."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: Any) -> None:
    """Sets the lowest level that is shown.

    Args:
      v: an int such as `tf.logging.INFO`, or its name.

    >>> before = tf.logging.get_verbosity()
    >>> tf.logging.set_verbosity(tf.logging.INFO)
    >>> tf.logging.get_verbosity()
    20
    >>> tf.logging.set_verbosity(before)
    """
    get_logger().setLevel(v)
