"""`tf.app.run`."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from absl import app

from .flags import FLAGS
from .logging_v1 import get_logger


def run(main: Any = None, argv: Any = None) -> NoReturn:
    """Parses the flags, calls `main` with the remaining arguments, and exits, as absl's `app.run` does.

    Args:
      main: a function of the list of arguments; `main` of the program by default.
      argv: the command line; `sys.argv` by default.
    Raises: SystemExit with what `main` returns; with 1 after a message if a flag cannot be parsed, or after --help.
    Reference: TensorFlow 2.21 `tf.compat.v1.app.run`.
    """
    get_logger()  # absl adds a handler to the root logger, and TensorFlow's logger has its own by then
    app.run(main or sys.modules["__main__"].main, argv, flags_parser=_leave_unknown_flags)


def _leave_unknown_flags(argv: Any) -> list[str]:
    rest: list[str] = FLAGS(sys.argv if argv is None else argv, known_only=True)
    return rest
