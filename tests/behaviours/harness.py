"""Small programs, written once, run beside TensorFlow (`tests/record/behaviours.py`) and here (`test_behaviours.py`).

A subject is a module of a room here, named in `SUBJECTS`. Its programs are functions of the TensorFlow module they
are given; what they return is recorded and compared:
    @case("graph")                     # tf is tensorflow.compat.v1, in a graph of its own
    def square(tf):
        x = tf.constant(3.0)
        with tf.Session() as sess:
            return [sess.run(tf.gradients(x * x, x)) for _ in range(3)]

    @case("eager")                     # tf is tensorflow, eager
    def log_of_nothing(tf):
        return raised(lambda: tf.reshape(tf.ones([3]), [2]))
"""

from __future__ import annotations

import importlib
import json
import pathlib
import types
from collections.abc import Callable
from typing import Any

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "recorded" / "behaviours"
# The room of each subject; one a line, so that two can be added at a time.
SUBJECTS = {
    "numbers": "values",
    "first_hour": "programs",
    "runs": "state",
    "state": "state",
    "scopes": "state",
    "programs": "programs",
    "effects": "state",
    "function_effects": "state",
    "references": "state",
    "tapes": "tapes",
    "taped_programs": "tapes",
    "taped_scopes": "tapes",
    "taped_values": "tapes",
    "acceptance": "programs",
    "composites": "programs",
    "extension_types": "values",
    "called": "state",
    "file_errors": "values",
    "regular_expressions": "values",
    "images": "values",
    "nested_tapes": "tapes",
    "unused_outputs": "tapes",
    "damaged_files": "values",
    "damaged_strings": "values",
    "sparse_rows": "values",
    "small_differences": "values",
    "rewritten_composites": "programs",
    "between": "state",
    "argument_dtypes": "values",
    "overrides": "state",
    "taken_out": "tapes",
    "shared_vectors": "programs",
    "kept_tensors": "state",
    "changed_arrays": "state",
    "conditions": "state",
    "seeds_again": "state",
    "gradient_effects": "state",
    "dataset_effects": "state",
    "string_elements": "values",
    "empty_values": "values",
    "ragged_rows": "values",
    "old_loops": "programs",
    "error_classes": "values",
}

_CASES: dict[str, dict[str, Case]] = {}


class Case:
    """A program.

    Args:
      function: gets the TensorFlow module; returns numbers, arrays, texts, None, or lists and dicts of them.
      mode: "graph" (a 1.x graph; the program makes its sessions) or "eager".
      rtol, atol: how far results may be from TensorFlow's.
      differs: why graphgrad's result is another one on purpose; then `expected` is what it is.
      expected: see `differs`.
    """

    def __init__(self, function: Callable[[Any], Any], mode: str, rtol: float, atol: float, differs: str | None,
                 expected: Any):
        assert mode in ("graph", "eager")
        self.name, self.function, self.mode = function.__name__, function, mode
        self.rtol, self.atol, self.differs, self.expected = rtol, atol, differs, expected

    def run(self, v1: Any, v2: Any) -> Any:
        """What the program returns, in the form in which results are kept.

        Args:
          v1, v2: the modules of TensorFlow 1 and 2, or graphgrad's.
        """
        if self.mode == "eager":
            return as_json(self.function(v2))
        with v1.Graph().as_default():
            return as_json(self.function(v1))


def case(mode: str, rtol: float = 1e-6, atol: float = 1e-7, differs: str | None = None, expected: Any = None) -> Any:
    """Declares a program; the arguments are those of `Case`."""

    def declare(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        cases = _CASES.setdefault(function.__module__.rpartition(".")[2], {})
        assert function.__name__ not in cases, f"{function.__name__} is declared twice"
        cases[function.__name__] = Case(function, mode, rtol, atol, differs, expected)
        return function

    return declare


class Topics:
    """The programs of a module, by topic; called with a topic, a decorator for one."""

    def __init__(self, module: str):
        self._module = module
        self._topics: dict[str, list[Callable[..., Any]]] = {}

    def __call__(self, topic: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self._topics.setdefault(topic, []).append(function)
            return function

        return add

    def _case(self, mode: str, name: str, run: Any, programs: list[Callable[..., Any]]) -> None:
        """Declares `run(tf, programs)`, a function of a module, as a case of the programs' module."""
        function = types.FunctionType(run.__code__, run.__globals__, name, (programs,))
        function.__module__ = self._module
        case(mode)(function)


def cases_of(subject: str) -> dict[str, Case]:
    """The programs of a subject by name."""
    importlib.import_module(f"{__package__}.{SUBJECTS[subject]}.{subject}")
    return _CASES[subject]


def raised(call: Callable[[], Any]) -> str:
    """The class of what a call raises, or 'nothing'."""
    try:
        call()
    except Exception as e:
        return type(e).__name__
    return "nothing"


def as_json(value: Any) -> Any:
    """A result as JSON can hold it: arrays as lists with their dtype."""
    if isinstance(value, dict):
        return {str(k): as_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(v) for v in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if hasattr(value, "numpy"):
        value = value.numpy()
    if hasattr(value, "dense_shape") or hasattr(value, "indices"):
        return {"indices": as_json(value.indices), "values": as_json(value.values)}
    array = np.asarray(value)
    if array.dtype == object:
        return [as_json(v) for v in array.ravel().tolist()]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": _numbers(array)}


def _numbers(array: np.ndarray) -> list[Any]:
    if array.dtype.kind == "c":
        return [[float(v.real), float(v.imag)] for v in array.ravel()]
    if array.dtype.kind in "biu":
        return array.ravel().tolist()
    return [float(v) for v in array.ravel()]  # bfloat16 and the like, too


def differences(found: Any, expected: Any, rtol: float, atol: float, at: str = "result") -> list[str]:
    """Where two results in the form of `as_json` are not the same, in words."""
    if isinstance(expected, dict) and isinstance(found, dict):
        if "dtype" in expected and "dtype" in found:
            for part in ("dtype", "shape"):
                if found[part] != expected[part]:
                    return [f"{at}: {part} {found[part]}, TensorFlow's {expected[part]}"]
            a, b = np.array(found["values"]), np.array(expected["values"])
            if not np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
                return [f"{at}: {found['values']}, TensorFlow's {expected['values']}"]
            return []
        if found.keys() != expected.keys():
            return [f"{at}: {sorted(found)}, TensorFlow's {sorted(expected)}"]
        return [d for k in expected for d in differences(found[k], expected[k], rtol, atol, f"{at}[{k!r}]")]
    if isinstance(expected, list) and isinstance(found, list):
        if len(found) != len(expected):
            return [f"{at}: {len(found)} values, TensorFlow's {len(expected)}"]
        return [d for i, (a, b) in enumerate(zip(found, expected, strict=True))
                for d in differences(a, b, rtol, atol, f"{at}[{i}]")]
    if isinstance(expected, float) and isinstance(found, float):
        same = np.isclose(found, expected, rtol=rtol, atol=atol, equal_nan=True)
    else:
        same = type(found) is type(expected) and found == expected
    return [] if same else [f"{at}: {found!r}, TensorFlow's {expected!r}"]


def recorded(subject: str) -> dict[str, Any]:
    """What TensorFlow returned, by the names of programs."""
    path = FOLDER / f"{subject}.json"
    loaded: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return loaded


def save(subject: str, results: dict[str, Any]) -> None:
    """Keeps what TensorFlow returned."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(results.items()))
    (FOLDER / f"{subject}.json").write_text("{\n" + lines + "\n}\n")
