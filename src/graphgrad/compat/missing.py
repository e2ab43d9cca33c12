"""Lazy names of faces, and the error for missing ones, with the nearest that exists."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from graphgrad.compat.lazy import has, modules, names


def explain(module: ModuleType, shown_as: str, name: str) -> str:
    """Returns the text of the error for a name that `module` does not have.

    Args:
      module: the face, or a module beneath it.
      shown_as: the name that the user knows it by.
      name: the requested attribute.
    """
    return f"module {shown_as!r} has no attribute {name!r}. {advice(module, name)}"


def advice(module: ModuleType, name: str) -> str:
    """Returns what to use instead of a name that `module` does not have.

    Args:
      module: the face, or a module beneath it.
      name: the requested attribute.
    """
    import difflib

    if module.__name__.startswith("graphgrad.compat.contrib"):
        from graphgrad.compat.libraries import advice_of_contrib

        package = advice_of_contrib(module.__name__, name)
        if package is not None:
            like = difflib.get_close_matches(name, names(module), 1, 0.9)
            return f"Did you mean {like[0]!r}? {package}" if like else package
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
    near = difflib.get_close_matches(name, names(module), 1, 0.7)
    return f"Did you mean {near[0]!r}?" if near else "graphgrad has no such name (yet)."


# Libraries upon TensorFlow by the names that they have in it, and how to install them or what to use instead.
_KERAS = ("Keras is a library on top of TensorFlow, which graphgrad uses if it is installed. Fix: "
          "pip install --no-deps tf_keras==2.21.0 && pip install 'graphgrad[keras]', or use ")
_LIBRARIES = {
    "keras": f"{_KERAS}tf.Module, tf.Variable and tf.GradientTape, or tf.compat.v1.layers, tf.compat.v1.losses and "
    "tf.compat.v1.train",
    "losses": f"{_KERAS}the functions of tf.compat.v1.losses, such as tf.compat.v1.losses.mean_squared_error",
    "metrics": f"{_KERAS}the functions of tf.compat.v1.metrics, or a tf.Variable that you update",
    "optimizers": f"{_KERAS}an optimizer of tf.compat.v1.train, such as tf.compat.v1.train.AdamOptimizer; its "
    "apply_gradients takes what tf.GradientTape gives",
    "mixed_precision": f"{_KERAS}tf.cast where another precision is wanted",
    "estimator": "Estimators are a library on top of TensorFlow, which graphgrad uses if it is installed. Fix: "
    "pip install --no-deps tf_keras==2.21.0 tensorflow_estimator==2.15.0 && pip install 'graphgrad[estimator]', or use "
    "tf.compat.v1.train.MonitoredTrainingSession and a loop",
    "contrib": "tf.contrib left TensorFlow with 2.0; graphgrad has parts of it for programs for 1.x. Fix: use "
    "`graphgrad run --tf 1`, or `import graphgrad.v1 as tf`",
}


def library_advice(name: str) -> str | None:
    """Returns what to use instead of a library that is not provided; None for other names.

    Args:
      name: the library's name in TensorFlow, such as "keras".
    """
    return _LIBRARIES.get(name)


def _place(module: ModuleType) -> str:
    """Returns the path of a module in its face, such as "train"; "" for the face itself."""
    for face in _FACES:
        if module.__name__.startswith(f"{face}."):
            return module.__name__.removeprefix(f"{face}.")
    return ""


_FACES = "graphgrad.compat.v1", "graphgrad.compat.v2"


def _elsewhere(module: ModuleType, name: str) -> tuple[str | None, Any]:
    """Returns where else in the face the name is, e.g. 'tf.math.log' for TensorFlow 1's `log`, and its value there."""
    for child_name in modules(module):
        if child_name != "compat" and has(child := getattr(module, child_name), name):
            return f"tf.{child_name}.{name}", getattr(child, name)
    return None, None


def _of_tensorflow_1(module: ModuleType, name: str) -> Any:
    """Returns the value in the face of 1.x of a name that 2.x dropped, if `module` belongs to 2.x's face; else None."""
    from graphgrad.compat.names_of_1 import OF_1, OF_1_BENEATH

    place = _place(module)
    if module.__name__ not in ("graphgrad", _FACES[1]) and not module.__name__.startswith(f"{_FACES[1]}."):
        return None
    if name not in (OF_1_BENEATH.get(place, ()) if place else OF_1):
        return None
    found: Any = importlib.import_module(_FACES[0])
    for part in [*filter(None, place.split(".")), name]:
        found = getattr(found, part) if isinstance(found, ModuleType) and has(found, part) else None
    return found
