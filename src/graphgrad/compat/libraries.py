"""Libraries on top of TensorFlow that are names in it: they are used where they are installed.

`tf.keras` is the package `tf_keras`, `tf.estimator` is `tensorflow_estimator`. They import `tensorflow`, which has to
be this package then.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

from .importing import install, installed
from .internal.absent import in_face

# A name in a face -> the module of a library that it stands for.
_MODULES = {
    "graphgrad.compat.v1": {
        "keras": "tf_keras.api._v1.keras",
        "estimator": "tensorflow_estimator.python.estimator.api._v1.estimator",
    },
    "graphgrad.compat.v2": {
        "keras": "tf_keras",
        "losses": "tf_keras.losses",
        "metrics": "tf_keras.metrics",
        "optimizers": "tf_keras.optimizers",
        "estimator": "tensorflow_estimator.python.estimator.api._v2.estimator",
    },
}
# TensorFlow's own copy of a library, which programs import parts of -> the package that is used in its place.
_COPIES = {"python.keras": "tf_keras.src"}


def copy_of(path: str) -> list[Any]:
    """Returns the module of an installed library for one of TensorFlow's inside, such as "python.keras.backend".

    Args:
      path: the module's path in TensorFlow.
    Returns: a list of the module; empty if there is none.
    """
    for copied, package in _COPIES.items():
        place = f"{package}{path[len(copied) :]}"
        if f"{path}.".startswith(f"{copied}.") and importlib.util.find_spec(package.partition(".")[0]) is not None:
            try:
                return [importlib.import_module(place)]
            except ModuleNotFoundError as e:
                if not f"{place}.".startswith(f"{e.name}."):
                    raise  # what the library itself needs is not installed
    return []


def find(module: str, name: str) -> Any:
    """Returns the module of an installed library that a name of a face stands for; None if there is none.

    Where `import tensorflow` means this package, it also finds what stands for names that libraries look at.

    Args:
      module: a module of a face, such as "graphgrad.compat.v2".
      name: the name, such as "keras".
    Raises: RuntimeError if TensorFlow itself was imported before; ImportError if the library fails.
    """
    face = next((f for f in _MODULES if f"{module}.".startswith(f"{f}.")), "")
    place = _MODULES[face].get(name) if module == face else None
    if place is None or importlib.util.find_spec(place.partition(".")[0]) is None:
        return in_face(f"{module[len(face) + 1 :]}.{name}".lstrip(".")) if face and installed() else None
    if not installed():
        if "tensorflow" in sys.modules:
            raise RuntimeError(f"tf.{name} needs `import tensorflow` to mean graphgrad, and TensorFlow itself was "
                               "imported before. Fix: use one of them in a process")
        install(1 if face.endswith("v1") else 2)
    try:
        return importlib.import_module(place)
    except AttributeError as e:  # which would say that there is no such name
        raise ImportError(f"{place} cannot be imported: {e}", name=place) from e
