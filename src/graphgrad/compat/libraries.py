"""Libraries on top of TensorFlow that are names in it: they are used where they are installed.

`tf.keras` is the package `tf_keras`, `tf.estimator` is `tensorflow_estimator`. They import `tensorflow`, which has to
be this package then. Of `tf.contrib`, the layers are the package `tf_slim` and the distributions TensorFlow
Probability, in programs for 1.x; without these packages, `extras/contrib` has those that programs use most.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from .importing import face, install, installed
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
# A package that came with TensorFlow -> the one that has its modules today, which is used where the first is missing.
_STAND_INS = {"keras": "tf_keras"}
# Modules of `tf.contrib` -> the modules of libraries that have their names today. All names of such a module come from
# the library, if it is installed: layers share scopes of arguments, and distributions base classes.
_OF_CONTRIB = {
    "distributions": "tensorflow_probability.python.distributions",
    "distributions.bijectors": "tensorflow_probability.python.bijectors",
    "framework": "tf_slim.ops.arg_scope tf_slim.ops.variables",
    "framework.python.ops": "tf_slim.ops.arg_scope tf_slim.ops.variables",
    "layers": "tf_slim.layers",
    "layers.python.layers": "tf_slim.layers",
    "losses": "tf_slim.losses",
    "metrics": "tf_slim.metrics",
    "slim": "tf_slim",
    "slim.model_analyzer": "tf_slim.model_analyzer",
    **{f"slim.nets.{net}": f"tf_slim.nets.{net}" for net in (
        "alexnet", "inception", "inception_v1", "inception_v2", "inception_v3", "overfeat", "resnet_utils",
        "resnet_v1", "resnet_v2", "vgg")},
    "training": "tf_slim.training",
}
_CALLED_TODAY = {"ConditionalBijector": "Bijector", "ConditionalTransformedDistribution": "TransformedDistribution"}
_PINS = {
    "tf_slim": "tf_slim==1.1.0 absl-py six",
    "tensorflow_probability": "tensorflow_probability==0.8.0 tf_keras==2.21.0 gast==0.2.2 absl-py cloudpickle "
                              "decorator dm-tree six wrapt",
}
_CONTRIB = "graphgrad.compat.contrib"
_unusable: dict[str, str] = {}  # an installed library that cannot be imported -> why


def stand_in(fullname: str) -> list[Any]:
    """Returns the modules that stand for one of a package that came with TensorFlow, such as "keras.layers".

    Args:
      fullname: the module's name.
    Returns: the public one, and that of the inside, which was not apart once; empty if there are none, or if the
      package itself is installed.
    """
    root, _, rest = fullname.partition(".")
    package = _STAND_INS.get(root)
    if package is None or importlib.machinery.PathFinder.find_spec(root) is not None:
        return []
    if importlib.util.find_spec(package) is None:
        return []
    found = (_module(place) for place in (f"{package}.{rest}".rstrip("."), f"{package}.src.{rest}".rstrip(".")))
    return [module for module in found if module is not None]


def _module(place: str) -> ModuleType | None:
    """Imports a module of a library; None if the library has none of this name."""
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as e:
        if not f"{place}.".startswith(f"{e.name}."):
            raise  # what the library itself needs is not installed
        return None


def copy_of(path: str) -> list[Any]:
    """Returns the module of an installed library for one of TensorFlow's inside, such as "python.keras.backend".

    Args:
      path: the module's path in TensorFlow.
    Returns: a list of the module; empty if there is none.
    """
    for copied, package in _COPIES.items():
        place = f"{package}{path[len(copied) :]}"
        if f"{path}.".startswith(f"{copied}.") and importlib.util.find_spec(package.partition(".")[0]) is not None:
            module = _module(place)
            if module is not None:
                return [module]
    return []


def find(module: str, name: str) -> Any:
    """Returns the module of an installed library that a name of a face stands for; None if there is none.

    Where `import tensorflow` means this package, it also finds what stands for names that libraries look at.

    Args:
      module: a module of a face, such as "graphgrad.compat.v2".
      name: the name, such as "keras".
    Raises: RuntimeError if TensorFlow itself was imported before; ImportError if the library fails.
    """
    if f"{module}.".startswith(f"{_CONTRIB}."):
        return of_contrib(module, name)
    root = next((f for f in _MODULES if f"{module}.".startswith(f"{f}.")), "")
    place = _MODULES[root].get(name) if module == root else None
    if place is None or importlib.util.find_spec(place.partition(".")[0]) is None:
        return in_face(f"{module[len(root) + 1 :]}.{name}".lstrip(".")) if root and installed() else None
    if not installed():
        if "tensorflow" in sys.modules:
            raise RuntimeError(f"tf.{name} needs `import tensorflow` to mean graphgrad, and TensorFlow itself was "
                               "imported before. Fix: use one of them in a process")
        install(1 if root.endswith("v1") else 2)
    try:
        return importlib.import_module(place)
    except AttributeError as e:  # which would say that there is no such name
        raise ImportError(f"{place} cannot be imported: {e}", name=place) from e


def of_contrib(module: str, name: str) -> Any:
    """Returns what an installed library has for a name of `tf.contrib`; None if there is nothing.

    Args:
      module: a module of `tf.contrib` here, such as "graphgrad.compat.contrib.layers".
      name: the name.
    """
    path = module.removeprefix(_CONTRIB).lstrip(".")
    whole = _OF_CONTRIB.get(f"{path}.{name}".lstrip("."))
    if whole is not None:
        return _imported(whole)
    found = (getattr(library, _CALLED_TODAY.get(name, name), None) for library in _libraries(path))
    return next((value for value in found if value is not None), None)


def names_of_contrib(module: str) -> set[str]:
    """Returns the public names that installed libraries add to a module of `tf.contrib`.

    Args:
      module: as for `of_contrib`.
    """
    path = module.removeprefix(_CONTRIB).lstrip(".")
    return {n for library in _libraries(path) for n in dir(library) if not n.startswith("_")}


def advice_of_contrib(module: str, name: str) -> str | None:
    """Returns how to get the names of a module of `tf.contrib` that are not here; None if no library has them.

    Args:
      module: as for `of_contrib`.
      name: the name.
    """
    path = module.removeprefix(_CONTRIB).lstrip(".")
    places = _OF_CONTRIB.get(path) or _OF_CONTRIB.get(f"{path}.{name}".lstrip("."))
    if places is None or any(True for _ in _libraries(path)):
        return None
    package = places.partition(".")[0]
    why = f"; the installed one cannot be used: {_unusable[package]}" if package in _unusable else ""
    return (f"What graphgrad lacks of tf.contrib.{path or name} is in {package}, which "
            f"`graphgrad run --tf 1` uses if it is installed{why}. Fix: pip install --no-deps {_PINS[package]}")


def _libraries(path: str) -> Iterator[ModuleType]:
    for place in _OF_CONTRIB.get(path, "").split():
        library = _imported(place)
        if library is not None:
            yield library


def _imported(place: str) -> ModuleType | None:
    """Imports a module of a library; None where there is none that can be used."""
    package = place.partition(".")[0]
    if face() != 1 or package in _unusable:
        return None
    try:
        if importlib.util.find_spec(package) is None:
            return None
    except ValueError:  # a program has put a module of its own into sys.modules
        pass
    try:
        return importlib.import_module(place)
    except Exception as e:  # what is installed may be for another TensorFlow, and fail in any way
        _unusable[package] = f"{type(e).__name__}: {e}"
        return None

