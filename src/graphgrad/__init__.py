"""graphgrad: `tf.gradients` as a system of its own.

`import graphgrad as tf` behaves as TensorFlow 2 does, `import graphgrad.v1 as tf` as
TensorFlow 1; `graphgrad.compat.v1` has the names of 1.x without its graph mode.
"""

import sys as _sys
from types import ModuleType as _Module

# Its names are those of `graphgrad.compat.v2`, which is not imported here: `import graphgrad.ir` needs none of it.


def __getattr__(name: str) -> object:
    from graphgrad.compat.lazy import mirror

    face = mirror(__name__, "graphgrad.compat.v2")
    if name == "__all__":
        return [*face.all, "install", "uninstall", "load_ipython_extension", "unload_ipython_extension"]
    return face.getattr(name)


def __dir__() -> list[str]:
    from graphgrad.compat.lazy import mirror

    return mirror(__name__, "graphgrad.compat.v2").dir()


def install(version: int = 2) -> None:
    """Lets `import tensorflow` mean this package from now on, in this process.

    `graphgrad run` and `%load_ext graphgrad` call it. Modules that have imported TensorFlow before keep what they have.

    Args:
      version: which TensorFlow it is to be, 1 or 2.
    Raises: ValueError for another version; RuntimeError if TensorFlow itself was imported.

    >>> import graphgrad
    >>> graphgrad.install(1)
    >>> import tensorflow
    >>> tensorflow.__version__
    '1.15.5'
    >>> graphgrad.uninstall()
    """
    from graphgrad.compat import importing

    importing.install(version)


def uninstall() -> None:
    """Undoes `install`; modules that a program has imported stay with the program."""
    from graphgrad.compat import importing

    importing.uninstall()


def load_ipython_extension(shell: object) -> None:
    """Loads the extension for IPython: `%load_ext graphgrad`.

    Args:
      shell: IPython's shell.
    """
    from graphgrad.notebook import extension

    extension.load(shell)


def unload_ipython_extension(shell: object) -> None:
    """Unloads it.

    Args:
      shell: IPython's shell.
    """
    from graphgrad.notebook import extension

    extension.unload(shell)


class _Package(_Module):
    """A package in which a function may have the name of a room: `tf.gradients` stays the function."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "gradients" or not isinstance(value, _Module):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
