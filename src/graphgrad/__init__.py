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
        return face.all
    return face.getattr(name)


def __dir__() -> list[str]:
    from graphgrad.compat.lazy import mirror

    return mirror(__name__, "graphgrad.compat.v2").dir()


class _Package(_Module):
    """A package in which a function may have the name of a room: `tf.gradients` stays the function."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "gradients" or not isinstance(value, _Module):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
