"""Element types of programs that are written without JAX, and which type two operands have in common, as in JAX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

_NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "i1",
          "complex64": "complex<f32>", "complex128": "complex<f64>"}
_NAMES |= {f"{prefix}int{bits}": f"{short}{bits}" for prefix, short in (("", "i"), ("u", "ui"))
           for bits in (8, 16, 32, 64)}
_ADDRESSES = 2**47  # the largest size of a process in bytes
_ORDER = "biufc"
_COMPARED = {"f": "FLOAT", "c": "FLOAT", "i": "SIGNED", "u": "UNSIGNED", "b": "UNSIGNED"}


class Unsupported(Exception):
    """Only JAX can lower this."""


def kind_of(dtype: Any) -> str:
    """Returns NumPy's letter for the kind of a dtype; that of bfloat16 is a float, too."""
    dtype = np.dtype(dtype)
    return "f" if dtype.name == "bfloat16" else dtype.kind


def type_of(shape: Sequence[int], dtype: Any) -> str:
    """Returns MLIR's type of an array; raises Unsupported for a dtype that is left to JAX."""
    name = _NAMES.get(np.dtype(dtype).name)
    if name is None or math.prod(shape) * np.dtype(dtype).itemsize > _ADDRESSES:
        raise Unsupported(f"{dtype} {shape}")
    return f"tensor<{'x'.join(map(str, (*shape, name)))}>"


def comparison(dtype: Any) -> str:
    """Returns how elements are compared."""
    return _COMPARED[kind_of(dtype)]


def promoted(x: Any, y: Any) -> np.dtype[Any]:
    """Returns the dtype in which JAX computes with two others; raises Unsupported where that is not simple."""
    x, y = np.dtype(x), np.dtype(y)
    if x == y:
        return x
    kinds = kind_of(x), kind_of(y)
    if kinds[0] == kinds[1]:
        if "bfloat16" in (x.name, y.name) and x.itemsize == y.itemsize:
            return np.dtype(np.float32)
        return max(x, y, key=lambda dtype: dtype.itemsize)
    if set(kinds) == {"i", "u"}:
        raise Unsupported(f"{x} and {y}")
    low, high = sorted((x, y), key=lambda dtype: _ORDER.index(kind_of(dtype)))
    if kind_of(high) == "c" and low == np.float64:
        return np.dtype(np.complex128)
    return high
