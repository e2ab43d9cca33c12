"""Compiled programs that come with an installed program."""

from __future__ import annotations

import os

from graphgrad.executor.backend import shipped


def use_compiled_programs(folder: str | os.PathLike[str]) -> None:
    """Uses the compiled programs in a directory that `graphgrad compile --output` has filled, besides the disk cache.

    The directory is only read. What was compiled for another processor, or by another version of graphgrad, JAX or
    NumPy, is not found there, and compiled as usual. The files are machine code: a directory to which others than this
    user and root can write is not used, and a warning says so. The environment variable GRAPHGRAD_PROGRAMS does the
    same for programs that do not call this function.

    Args:
      folder: the directory; it need not exist.
    Raises: TypeError for what is no path.

    >>> import graphgrad as tf
    >>> tf.use_compiled_programs("/usr/lib/my_program/compiled")
    """
    shipped.use(os.fsdecode(folder))
