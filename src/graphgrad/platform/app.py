"""`tf.app.run`."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from .flag_parsers import Error
from .flag_values import FLAGS
from .flags import define_help_flags, show_help


def run(main: Any = None, argv: Any = None) -> NoReturn:
    """Parses the flags, calls `main` with what is left of the command line, and ends the process.

    Args:
      main: a function of the list of arguments; `main` of the program by default.
      argv: the command line; `sys.argv` by default.
    Raises: SystemExit with what `main` returns; with 1 after a message if a flag cannot be parsed, or after --help.
    Reference: TensorFlow 2.21 `tf.compat.v1.app.run`.
    """
    function = main if main is not None else sys.modules["__main__"].main
    define_help_flags()
    try:
        rest = FLAGS(sys.argv if argv is None else argv, known_only=True)
    except Error as error:
        print(f"FATAL Flags parsing error: {error}\nPass --helpshort or --helpfull to see help on flags.",
              file=sys.stderr)  # fmt: skip
        sys.exit(1)
    asked = [n for n in ("help", "helpshort", "helpfull") if FLAGS[n].value and FLAGS[n].module == "graphgrad"]
    if asked:
        show_help(FLAGS.get_help() if "helpfull" in asked else FLAGS.main_module_help())
        sys.exit(1)
    sys.exit(function(rest))
