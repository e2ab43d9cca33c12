"""Conversion of Python and NumPy values to the arrays of constants, by TensorFlow's rules.

Python floats become float32 and ints int32 (int64 where 32 bits do not hold them); NumPy
arrays keep their dtype. Ints that are out of the wanted dtype's range wrap around, with a warning.
"""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import numpy as np

from graphgrad.system.log import Log

from . import dtypes
from .dimension import Dimension
from .dtypes import DType, as_dtype
from .shape import TensorShape
from .source import user_source

_LOG = Log("graphgrad")


def make_array(value: Any, dtype: DType | None = None) -> np.ndarray[Any, Any]:
    """Makes the NumPy array for a constant of `value`.

    Args:
      value: a Python scalar, a (nested) list, or a NumPy array.
      dtype: the requested dtype, or None to follow TensorFlow's rules.
    Raises: TypeError if the value does not fit the dtype; ValueError for ragged lists.
    """
    direct = _from_numbers(value, dtype)
    if direct is not None:
        return direct
    if dtype is not None and dtype.kind == "o" and dtype is not dtypes.string:
        raise TypeError(f"Cannot convert {value!r} to a tensor of dtype {dtype.name}. "
                        "Fix: give what an operation made, such as the handle of a variable or a table")
    try:
        return _general_array(value, dtype)
    except OverflowError as e:
        raise TypeError(f"Failed to convert elements of {value!r} to Tensor: {e}. Fix: give numbers that the dtype can "
                        "hold") from e


def new_array(value: Any, dtype: DType | None = None) -> np.ndarray[Any, Any]:
    """Calls `make_array`, for an array that does not change when the value does."""
    array = make_array(value, dtype)
    is_new = array is not value and array.base is None if isinstance(value, np.ndarray) else isinstance(value, _NEW)
    if is_new:
        return array
    from graphgrad.system.own_arrays import own_copy  # not needed by `import graphgrad`

    return own_copy(array)


_NEW = (list, tuple, int, float, complex, str, bytes, np.generic)  # of these NumPy makes new arrays


def _general_array(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    if isinstance(value, (np.ndarray, np.generic)) or _says_it_is_an_array(value) or _buffer_rank(value) is not None:
        return _from_numpy(value, dtype)
    if isinstance(value, (Dimension, TensorShape)):
        return _sizes_array(value, dtype)
    if value is None:
        raise ValueError("None values not supported. Fix: give a tensor or an array")
    if dtype is dtypes.string or (dtype is None and first_leaf(value).__class__ in (str, bytes)):
        return _string_array(value)
    if dtype is not None:
        _check_leaves(value, dtype)
    array = _parsed(value, dtype)
    return _narrowed(array) if dtype is None else _cast(array, dtype, value)


def _parsed(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """Returns the array that NumPy makes of nested numbers, in a dtype that holds them; TypeError for other objects."""
    try:
        array = np.array(value)
    except ValueError as e:
        raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {e}. "
                         "Fix: make all rows equally long, or use tf.ragged.constant") from None
    if array.dtype in (np.uint64, object) and (dtype is None or dtype.is_integer):
        _check_long(value, dtype or dtypes.int64)
    if array.dtype == object:
        array = _from_objects(value, array, dtype)
    elif array.dtype.kind in "US":
        raise TypeError(f"Failed to convert elements of {value!r} to Tensor: numbers and strings in one list. "
                        "Fix: give values of one type")
    return array


def _narrowed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Converts Python's floats to float32, and its ints to int32 where that holds them."""
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64:
        narrow = array.astype(np.int32)
        return narrow if np.array_equal(narrow, array) else array
    return array


def _cast(array: np.ndarray[Any, Any], dtype: DType, value: Any) -> np.ndarray[Any, Any]:
    """Returns the array in the dtype that was asked for; a warning about numbers that it does not hold."""
    with np.errstate(over="ignore"):
        result = array.astype(dtype.np_dtype)
    if dtype.is_integer and array.size and not np.array_equal(result, array):
        _LOG.warning("Numbers out of the range of %s, [%s, %s], become others, as in TensorFlow: %r becomes %s, at %s",
                     dtype.name, dtype.min, dtype.max, value, result.tolist(), user_source(2))
    return result


def eager_array(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """Calls `new_array` for eager mode.

    A list whose first number is NumPy's float64 has that dtype there, NumPy's integers and complex numbers in a list
    are Python's, and a buffer is a sequence of Python's numbers.
    """
    if _buffer_rank(value) == 1:
        value = list(value)
    if dtype is None and isinstance(value, (list, tuple)):
        first = first_leaf(value)
        if isinstance(first, (np.ndarray, np.generic)):
            if first.dtype == np.float64:
                dtype = dtypes.float64
            elif first.dtype.kind in "iuc" and first.dtype.itemsize < 8 + 8 * (first.dtype.kind == "c"):
                array = make_array(value, None)
                return array.astype(np.complex128) if array.dtype.kind == "c" else _narrowed(array.astype(np.int64))
    elif dtype is not None and isinstance(value, (bool, list, tuple)):
        _check_eager_bools(value, dtype)
    try:
        return new_array(value, dtype)
    except TypeError as e:
        if not isinstance(e.__cause__, OverflowError):
            raise
        raise ValueError(f"Can't convert Python sequence with out-of-range integer to Tensor. {e}") from e.__cause__

_FROM_BOOLS = frozenset({dtypes.bool_, dtypes.int32, dtypes.int64, dtypes.uint64, dtypes.float16, dtypes.float32,
                         dtypes.float64, dtypes.complex128, dtypes.string})


def _check_eager_bools(value: Any, dtype: DType) -> None:
    """Rejects values that begin with a bool, for dtypes to which TensorFlow does not convert bools in eager mode."""
    first = first_leaf(value)
    if not isinstance(first, (bool, np.bool_)):
        return
    if type(first) is bool:
        if dtype in _FROM_BOOLS and dtype is not dtypes.bool_:
            return
        if not all(isinstance(leaf, (bool, np.bool_)) for leaf in leaves(value)):
            raise ValueError(f"Can't convert Python sequence with mixed types to Tensor: {value!r}. "
                             f"Fix: give values of {dtype.name}")
    if dtype is not dtypes.bool_:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}. "
                        f"Fix: tf.cast({value!r}, tf.{dtype.name})")


def _from_numbers(value: Any, dtype: DType | None) -> np.ndarray[Any, Any] | None:
    """Makes the array of Python ints or floats in the frequent cases; None for all others."""
    kind: Any = type(value)
    if kind is list or kind is tuple:
        kinds = set(map(type, value))
        kind = kinds.pop() if len(kinds) == 1 else None
    if kind is int and (dtype is None or dtype is dtypes.int32 or dtype is dtypes.int64):
        try:
            return np.array(value, dtype.np_dtype if dtype else np.int32)
        except OverflowError:
            return None
    if kind is float and (dtype is None or dtype is dtypes.float32):
        with np.errstate(over="ignore"):
            return np.array(value, np.float32)
    return None


def _says_it_is_an_array(value: Any) -> bool:
    """Returns whether another library's object is an array, such as `jax.Array`, which keeps its dtype."""
    return hasattr(value, "__array__") or hasattr(value, "__array_interface__")


def _buffer_rank(value: Any) -> int | None:
    """Returns the number of axes of a mere buffer: a memoryview, a bytearray, an `array.array`; None for all else."""
    if isinstance(value, (list, tuple, bytes)) or _says_it_is_an_array(value):
        return None
    try:
        return memoryview(value).ndim
    except (TypeError, BufferError):
        return None


def _from_numpy(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    if array.dtype.kind in "US" or array.dtype == object:
        if dtype is None or dtype is dtypes.string:
            return _string_array(array.tolist()) if array.size else np.empty(array.shape, object)  # lists lose axes
        try:
            return array.astype(dtype.np_dtype)
        except (TypeError, ValueError) as e:
            cls = TypeError if isinstance(e, TypeError) else ValueError
            raise cls(f"Cannot convert a NumPy array of {array.dtype} to dtype {dtype.name}: {e}. "
                      f"Fix: give values of {dtype.name}") from e
    if dtype is None:
        as_dtype(array.dtype)  # raises for dtypes without a counterpart here
        return array
    if array.dtype == dtype.np_dtype:
        return array
    if dtype is dtypes.string:
        raise TypeError(f"Cannot convert a NumPy array of {array.dtype} to dtype string. Fix: give texts or "
                        "bytes, such as those of `array.astype(str)`")
    with np.errstate(all="ignore"):
        result = array.astype(dtype.np_dtype)
        if dtype.is_integer and array.dtype.kind in "fc" and not np.array_equal(result, array):
            _LOG.warning("A NumPy value of type %s becomes a tensor of dtype %s, as in TensorFlow; fractions are lost: "
                         "%r, at %s", array.dtype.name, dtype.name, value, user_source(2))
    return result


def first_leaf(value: Any) -> Any:
    """Returns the first element of the innermost first list."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return value


def leaves(value: Any) -> Any:
    """Returns the elements of nested lists, in order."""
    if isinstance(value, (list, tuple)):
        return itertools.chain.from_iterable(map(leaves, value))
    return (value,)


_LEAF_KINDS = {bool: "b", np.bool_: "b", int: "i", float: "f", complex: "c", str: "U", bytes: "S"}


def _check_leaves(value: Any, dtype: DType) -> None:
    for leaf in leaves(value):
        kind = _LEAF_KINDS.get(type(leaf)) or np.asarray(leaf).dtype.kind
        wrong = (
            (dtype.is_integer and kind in "fcUSO" and not isinstance(leaf, Dimension))
            or (dtype.kind == "f" and kind in "cUSO" and not hasattr(leaf, "__float__"))
            or (dtype.is_bool and kind != "b")
            or (dtype.is_complex and kind in "US")
        )
        if wrong:
            raise TypeError(f"Expected {dtype.name}, but got {leaf!r} of type '{type(leaf).__name__}'. "
                            f"Fix: give values of {dtype.name}, or another dtype")


def _check_long(value: Any, dtype: DType) -> None:
    """Rejects ints that do not fit in 64 bits, signed or unsigned by dtype."""
    top = 2**64 if dtype is dtypes.uint64 else 2**63
    if any(isinstance(leaf, int) and not -(2**63) <= leaf < top for leaf in leaves(value)):
        raise ValueError(f"Can't convert Python sequence with out-of-range integer to Tensor: {value!r}. "
                         f"Fix: give numbers in [{dtype.min}, {dtype.max}]")


def _sizes_array(value: Dimension | TensorShape, dtype: DType | None) -> np.ndarray[Any, Any]:
    """Makes the array of a static size or shape, which has to be known."""
    known = value.value if isinstance(value, Dimension) else value._dims
    if known is None or (isinstance(known, tuple) and None in known):
        raise ValueError(f"Cannot convert a partially known {type(value).__name__} {value} to a Tensor. "
                         "Fix: use tf.shape(tensor)")
    if dtype is not None and not dtype.is_integer:
        raise TypeError(f"Cannot convert the {type(value).__name__} {value} to a tensor of dtype {dtype.name}. "
                        "Fix: tf.cast the sizes, or take .value of a dimension")
    return make_array(known, dtype) if known else np.array(known, dtype.np_dtype if dtype else np.int32)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _from_objects(value: Any, array: np.ndarray[Any, Any], dtype: DType | None) -> Any:
    if (dtype is None or dtype.is_integer) and all(isinstance(v, (Dimension, int, np.integer)) for v in array.ravel()):
        return np.vectorize(operator.index, otypes=[np.int64])(array)
    if dtype is not None and dtype.kind == "f" and all(isinstance(v, (int, float)) for v in array.ravel()):
        return np.vectorize(_as_float, otypes=[np.float64])(array)  # ints that do not fit in 64 bits
    if any(v is None for v in leaves(value)):
        raise ValueError("None values not supported. Fix: give a tensor or an array")
    raise TypeError(
        f"Failed to convert elements of {value!r} to Tensor: no dtype fits a value of type "
        f"{type(first_leaf(value)).__name__}. Fix: use numbers, strings or NumPy arrays of one dtype"
    )


def _string_array(value: Any) -> np.ndarray[Any, Any]:
    def encode(v: Any) -> Any:
        if isinstance(v, (list, tuple)):
            return [encode(i) for i in v]
        if isinstance(v, np.ndarray):
            return encode(v.tolist())
        if isinstance(v, str):
            return v.encode()
        if isinstance(v, bytes):
            return v
        raise TypeError(f"Expected string, but got {v!r} of type '{type(v).__name__}'.")

    encoded = encode(value)
    if not isinstance(encoded, list):
        scalar = np.empty((), object)
        scalar[()] = encoded
        return scalar
    return np.array(encoded, object)
