"""Lazy names of faces, and the error for missing ones, with the nearest that exists."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


def missing_attribute(module_name: str, lazy: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """A `__getattr__` for a face: raises AttributeError naming what was probably meant.

    Args:
      module_name: the `__name__` of the module.
      lazy: what is imported when first asked for: attribute -> module, or "module:name" for something in one.
    """
    later = dict(lazy or {})
    _LAZY[module_name] = later

    def __getattr__(name: str) -> Any:
        if name in later:
            module, _, inside = later[name].partition(":")
            value: Any = importlib.import_module(module)
            found = vars(sys.modules[module_name])[name] = getattr(value, inside) if inside else value
            return found
        # Python itself asks modules for names with underscores, and for submodules while it imports them.
        if name.startswith("__") or getattr(sys.modules[module_name].__spec__, "_initializing", False):
            raise AttributeError(f"module {module_name!r} has no attribute {name!r}")
        raise AttributeError(explain(sys.modules[module_name], module_name, name))

    return __getattr__


_LAZY: dict[str, dict[str, str]] = {}


def explain(module: ModuleType, shown_as: str, name: str) -> str:
    """The text of the error for a name that `module` does not have.

    Args:
      module: the face, or a module beneath it.
      shown_as: the name that the user knows it by.
      name: the attribute asked for.
    """
    return f"module {shown_as!r} has no attribute {name!r}. {advice(module, name)}"


def advice(module: ModuleType, name: str) -> str:
    """What to use instead of a name that `module` does not have.

    Args:
      module: the face, or a module beneath it.
      name: the attribute asked for.
    """
    for later in _LAZY.get(module.__name__, ()):
        getattr(module, later)
    inside = _place(module)
    library = _LIBRARIES.get(name) if not inside else _LIBRARIES.get(inside) if name[:1].isupper() else None
    if library is not None:
        return library
    of_1 = _of_tensorflow_1(module, name)
    elsewhere, found = _elsewhere(module, name)
    if elsewhere and (of_1 is None or of_1 is found):
        return f"Fix: use {elsewhere}"
    if of_1 is not None:
        path = f"{inside}.{name}" if inside else name
        return f"It is a name of TensorFlow 1. Fix: use tf.compat.v1.{path}, or `graphgrad run --tf 1`"
    import difflib

    near = difflib.get_close_matches(name, names(module), 1, 0.7)
    return f"Did you mean {near[0]!r}?" if near else "graphgrad has no such name (yet)."


# What to use today instead of libraries upon TensorFlow that are not here, by the names that they have in it.
_KERAS = "Keras, a library on top of TensorFlow, is not part of graphgrad (yet). Fix: use "
_LIBRARIES = {
    "keras": f"{_KERAS}tf.Module and tf.Variable for layers and tf.GradientTape for training, or tf.compat.v1.layers, "
    "tf.compat.v1.losses and tf.compat.v1.train",
    "losses": f"{_KERAS}the functions of tf.compat.v1.losses, such as tf.compat.v1.losses.mean_squared_error",
    "metrics": f"{_KERAS}the functions of tf.compat.v1.metrics, or a tf.Variable that you update",
    "optimizers": f"{_KERAS}an optimizer of tf.compat.v1.train, such as tf.compat.v1.train.AdamOptimizer; its "
    "apply_gradients takes what tf.GradientTape gives",
    "mixed_precision": f"{_KERAS}tf.cast where another precision is wanted",
    "estimator": "The estimators, a library on top of TensorFlow, are not part of graphgrad. Fix: use "
    "tf.compat.v1.train.MonitoredTrainingSession and a loop",
    "feature_column": "Feature columns belong to Keras and the estimators, which are not part of graphgrad. Fix: use "
    "tf.io.parse_example, tf.one_hot and tf.nn.embedding_lookup",
    "contrib": "tf.contrib left TensorFlow with 2.0; graphgrad has parts of it for programs for 1.x. Fix: use "
    "`graphgrad run --tf 1`, or `import graphgrad.v1 as tf`",
}


def library_advice(name: str) -> str | None:
    """What to use instead of a library that is not here; None for other names.

    Args:
      name: the library's name in TensorFlow, such as "keras".
    """
    return _LIBRARIES.get(name)


def names(module: ModuleType) -> list[str]:
    """The public names of a face."""
    return [n for n in vars(module) if not n.startswith("_")]


def listing(module_name: str) -> Callable[[], list[str]]:
    """A `__dir__` for a face: what is imported later is there, this package's own parts are not.

    Args:
      module_name: the `__name__` of the module.
    """

    def __dir__() -> list[str]:
        found = {**dict.fromkeys(_LAZY[module_name]), **vars(sys.modules[module_name])}
        return sorted(n for n, v in found.items() if (not n.startswith("_") or n.startswith("__")) and not (
            isinstance(v, ModuleType) and v.__name__.partition(".")[0] == "graphgrad"
            and not v.__name__.startswith("graphgrad.compat")))

    return __dir__


def speak_up(face: str) -> None:
    """Lets the modules beneath a face, too, say what was probably meant.

    Args:
      face: the `__name__` of the face.
    """
    for child in list(vars(sys.modules[face]).values()):
        if isinstance(child, ModuleType) and child.__name__.startswith(f"{face}.") and "__getattr__" not in vars(child):
            child.__getattr__ = missing_attribute(child.__name__)  # type: ignore[method-assign]


def _place(module: ModuleType) -> str:
    """Where in its face a module is, such as "train"; "" for the face itself."""
    for face in _FACES:
        if module.__name__.startswith(f"{face}."):
            return module.__name__.removeprefix(f"{face}.")
    return ""


_FACES = "graphgrad.compat.v1", "graphgrad.compat.v2"


def _elsewhere(module: ModuleType, name: str) -> tuple[str | None, Any]:
    """Where beneath the face the name is, e.g. 'tf.math.log' for TensorFlow 1's `log`, and what it is there."""
    for child_name in names(module):
        child = vars(module)[child_name]
        if isinstance(child, ModuleType) and child_name not in ("compat", "raw_ops") and name in vars(child):
            if child.__name__.startswith(_FACES):
                return f"tf.{child_name}.{name}", vars(child)[name]
    return None, None


def _of_tensorflow_1(module: ModuleType, name: str) -> Any:
    """What a name that 2.x dropped is in the face of 1.x, if `module` belongs to the face of 2.x; None if nothing."""
    from graphgrad.compat.names_of_1 import OF_1, OF_1_BENEATH

    place = _place(module)
    if module.__name__ not in ("graphgrad", _FACES[1]) and not module.__name__.startswith(f"{_FACES[1]}."):
        return None
    if name not in (OF_1_BENEATH.get(place, ()) if place else OF_1):
        return None
    found: Any = importlib.import_module(_FACES[0])
    for part in [*filter(None, place.split(".")), name]:
        found = vars(found).get(part) if isinstance(found, ModuleType) else None
    return found
