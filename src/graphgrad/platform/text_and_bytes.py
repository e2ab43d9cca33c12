"""`tf.compat`: conversions between str and bytes, numeric types."""

from __future__ import annotations

import numbers
import os
from typing import Any, TypeVar, overload

import numpy as np

_Value = TypeVar("_Value")
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Converts a string to bytes.

    Args:
      bytes_or_text: str, bytes or bytearray.
      encoding: the encoding.
    Raises: TypeError for anything else.
    Reference: TensorFlow 2.21 `tf.compat.as_bytes`.

    >>> tf.compat.as_bytes("a")
    b'a'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Converts bytes to a str.

    Args:
      bytes_or_text: str or bytes.
      encoding: the encoding.
    Raises: TypeError for anything else.
    Reference: TensorFlow 2.21 `tf.compat.as_text`.

    >>> tf.compat.as_text(b"a")
    'a'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Converts any object to a str; bytes are decoded.

    Args:
      value: any object.
      encoding: the encoding of bytes.
    Reference: TensorFlow 2.21 `tf.compat.as_str_any`.

    >>> tf.compat.as_str_any(3)
    '3'
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


@overload
def path_to_str(path: os.PathLike[Any]) -> str: ...
@overload
def path_to_str(path: _Value) -> _Value: ...
def path_to_str(path: Any) -> Any:
    """Converts a path object to a str; a str is returned as it is.

    Args:
      path: a str or a path object.
    Reference: TensorFlow 2.21 `tf.compat.path_to_str`.
    """
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def path_to_bytes(path: Any) -> bytes:
    """Converts a path to bytes.

    Args:
      path: a str or a path object.
    Reference: TensorFlow 2.21 `tf.compat.path_to_bytes`.
    """
    return as_bytes(os.fspath(path) if hasattr(path, "__fspath__") else path)


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Returns True: nothing waits for a later version.

    Args:
      year, month, day: accepted.
    Reference: TensorFlow 2.21 `tf.compat.forward_compatible`.
    """
    return True
