"""Conversion of Python and NumPy values to tensors, by TensorFlow's rules.

Python floats become float32 and ints int32 (int64 where 32 bits do not hold them); NumPy
arrays keep their dtype. Nothing is promoted silently: a value of another kind than the requested dtype is a TypeError,
and so is a tensor of another dtype. Ints out of range wrap around, with a warning.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.system.log import Log

from . import context, dtypes
from .constant_value import frozen
from .dtypes import DType, as_dtype
from .eager import EagerTensor
from .graph import Graph, Operation, Tensor
from .opdef import Spec, registry
from .shape import Dimension, TensorShape, as_shape, shape_str
from .source import user_source
from .tensor import Tensor as AnyTensor

_LOG = Log("graphgrad")

# Conversion functions by priority: (types, function(value, dtype, name, as_ref)).
_functions: dict[int, list[tuple[Any, Callable[..., Any]]]] = {}


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Registers a function that turns objects of `base_type` into tensors.

    Args:
      base_type: a class or a tuple of classes.
      conversion_func: called as `f(value, dtype=None, name=None, as_ref=False)`; returns a
        tensor or NotImplemented.
      priority: smaller ones are tried first.
    Raises: TypeError if the arguments are not classes and a function, or for numbers.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if any(issubclass(t, (int, float, complex, np.generic, np.ndarray)) for t in types):
        raise TypeError("Conversions of Python numbers, NumPy scalars and arrays cannot be registered.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _functions.setdefault(priority, []).append((base_type, conversion_func))


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


def _general_array(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    if isinstance(value, (np.ndarray, np.generic)) or _says_it_is_an_array(value):
        return _from_numpy(value, dtype)
    if isinstance(value, (Dimension, TensorShape)):
        return _sizes_array(value, dtype)
    if value is None:
        raise ValueError("None values not supported. Fix: give a tensor or an array")
    if dtype is dtypes.string or (dtype is None and _first_leaf(value).__class__ in (str, bytes)):
        return _string_array(value)
    if dtype is not None:
        _check_leaves(value, dtype)
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
    if dtype is None:
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        elif array.dtype == np.int64:
            narrow = array.astype(np.int32)
            array = narrow if np.array_equal(narrow, array) else array
        return array
    with np.errstate(over="ignore"):
        result = array.astype(dtype.np_dtype)
    if dtype.is_integer and array.size and not np.array_equal(result, array):
        _LOG.warning("Numbers out of the range of %s, [%s, %s], become others, as in TensorFlow: %r becomes %s, at %s",
                     dtype.name, dtype.min, dtype.max, value, result.tolist(), user_source(2))
    return result


def _eager_array(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """Calls `make_array` for eager mode, where a list whose first number is NumPy's float64 has that dtype."""
    if dtype is None and isinstance(value, (list, tuple)):
        first = _first_leaf(value)
        if isinstance(first, (np.ndarray, np.generic)) and first.dtype == np.float64:
            dtype = dtypes.float64
    elif dtype is not None and isinstance(value, (bool, list, tuple)):
        _check_eager_bools(value, dtype)
    try:
        return make_array(value, dtype)
    except TypeError as e:
        if not isinstance(e.__cause__, OverflowError):
            raise
        raise ValueError(f"Can't convert Python sequence with out-of-range integer to Tensor. {e}") from e.__cause__


_FROM_BOOLS = frozenset({dtypes.bool_, dtypes.int32, dtypes.int64, dtypes.uint64, dtypes.float16, dtypes.float32,
                         dtypes.float64, dtypes.complex128, dtypes.string})  # fmt: skip


def _check_eager_bools(value: Any, dtype: DType) -> None:
    """Rejects values that begin with a bool, for dtypes to which TensorFlow does not convert bools in eager mode."""
    first = _first_leaf(value)
    if not isinstance(first, (bool, np.bool_)):
        return
    if type(first) is bool:
        if dtype in _FROM_BOOLS and dtype is not dtypes.bool_:
            return
        if not all(isinstance(leaf, (bool, np.bool_)) for leaf in _leaves(value)):
            raise ValueError(f"Can't convert Python sequence with mixed types to Tensor: {value!r}. "
                             f"Fix: give values of {dtype.name}")  # fmt: skip
    if dtype is not dtypes.bool_:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}. "
                        f"Fix: tf.cast({value!r}, tf.{dtype.name})")  # fmt: skip


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


def _from_numpy(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    if array.dtype.kind in "US" or array.dtype == object:
        if dtype is None or dtype is dtypes.string:
            return _string_array(array.tolist())
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
        raise TypeError(f"Cannot convert a NumPy array of {array.dtype} to dtype string.")
    with np.errstate(all="ignore"):
        result = array.astype(dtype.np_dtype)
        if dtype.is_integer and array.dtype.kind in "fc" and not np.array_equal(result, array):
            _LOG.warning("A NumPy value of type %s becomes a tensor of dtype %s, as in TensorFlow; fractions are lost: "
                         "%r, at %s", array.dtype.name, dtype.name, value, user_source(2))
    return result


def _first_leaf(value: Any) -> Any:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return value


def _leaves(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return itertools.chain.from_iterable(map(_leaves, value))
    return (value,)


_LEAF_KINDS = {bool: "b", np.bool_: "b", int: "i", float: "f", complex: "c", str: "U", bytes: "S"}


def _check_leaves(value: Any, dtype: DType) -> None:
    for leaf in _leaves(value):
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
    if any(isinstance(leaf, int) and not -(2**63) <= leaf < top for leaf in _leaves(value)):
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
    if any(v is None for v in _leaves(value)):
        raise ValueError("None values not supported. Fix: give a tensor or an array")
    raise TypeError(
        f"Failed to convert elements of {value!r} to Tensor: no dtype fits a value of type "
        f"{type(_first_leaf(value)).__name__}. Fix: use numbers, strings or NumPy arrays of one dtype"
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


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Converts a value to a tensor; `IndexedSlices` and sparse tensors are returned unchanged.

    Args:
      value: anything that is, or can be converted to, a tensor.
      dtype: the required dtype.
      name: a name for the operation.
    Returns: a tensor, or `value` itself.
    Raises: ValueError for slices of another dtype.
    Reference: TensorFlow 2.21 `tf.compat.v1.convert_to_tensor_or_indexed_slices`.

    >>> tf.convert_to_tensor_or_indexed_slices([1, 2]).dtype
    tf.int32
    """
    if all(hasattr(value, part) for part in ("values", "indices", "dense_shape")) and not isinstance(value, dict):
        if dtype is not None and as_dtype(dtype) is not value.dtype:
            raise ValueError(f"Tensor conversion requested dtype {as_dtype(dtype).name} for a value of dtype "
                             f"{value.dtype.name}: {value}. Fix: tf.cast its values")
        return value
    return convert_to_tensor(value, dtype, name)


def constant_in(graph: Graph, array: np.ndarray[Any, Any], name: str, dtype: DType | None = None) -> Tensor:
    """Adds a `Const` operation whose name is unique already."""
    spec = Spec.of(dtype or as_dtype(array.dtype), array.shape)
    return graph._add(registry["Const"], (), {"value": array, "dtype": spec.dtype}, name, (spec,)).outputs[0]


class _Small(NamedTuple):
    """The common parts of all `Const`s of one small value."""

    attrs: dict[str, Any]
    specs: tuple[Spec]
    static: Any  # see ir.constant_value


_NUMBERS = frozenset({int, float, bool})
_small: dict[Any, _Small] = {}


def _small_constant(value: Any, dtype: DType | None) -> _Small | None:
    """Returns the common parts for numbers, short lists of ints, small integer arrays; None for others."""
    kind = type(value)
    content: Any
    if kind in _NUMBERS:
        # 0.0 and -0.0 are equal, but not interchangeable.
        content = value if value else (value, math.copysign(1.0, value))
    elif kind is list or kind is tuple:
        if len(value) > 8 or set(map(type, value)) != {int}:
            return None
        content = tuple(value)
    elif kind is np.ndarray and value.size <= 8 and value.dtype.kind in "iu":
        content = value.tobytes(), value.shape, value.dtype
    else:
        return None
    key = kind, content, dtype
    known = _small.get(key)
    if known is None:
        array = make_array(value, dtype).copy()
        array.flags.writeable = False
        spec = Spec.of(dtype or as_dtype(array.dtype), array.shape)
        static = frozen(array) if spec.dtype.kind in "iubf" else None
        known = _Small({"value": array, "dtype": spec.dtype}, (spec,), static)
        if len(_small) < 4096:
            _small[key] = known
    return known


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """Creates a constant tensor.

    Args:
      value: a Python scalar, a (nested) list, or a NumPy array.
      dtype: the dtype; by default float32, int32, bool or string for Python values, the
        array's own for NumPy's.
      shape: the shape; a scalar fills it. The value's own by default.
      name: a name for the operation.
    Returns: the tensor, of dtype `dtype` and shape `shape`.
    Raises: TypeError if the value does not fit; ValueError if the number of elements differs.
    Gradient: none; a constant has no inputs.
    Reference: TensorFlow 2.21 Const.

    >>> sess.run(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    dtype = None if dtype is None else as_dtype(dtype)
    graph = context.current_graph()
    if isinstance(value, Tensor):
        raise TypeError(f"Expected any non-tensor type, but got a tensor instead: {value}.")
    make = make_array if graph is not None else _eager_array
    array = np.asarray(value._value) if isinstance(value, EagerTensor) else make(value, dtype)
    if dtype is not None and dtype.np_dtype != array.dtype:
        array = array.astype(dtype.np_dtype)
    if shape is not None:
        wanted: Any = as_shape(shape)
        if array.size == 1 and array.ndim <= 1:
            array = np.broadcast_to(array.reshape(()), wanted)
        elif array.size == int(np.prod(wanted)):
            array = array.reshape(wanted)
        else:
            raise TypeError(
                f"Const '{name}': eager and graph constants must have as many elements as their shape: "
                f"got {array.size} for {shape_str(wanted)}.\n  Built at {user_source(2)}\n"
                "  Fix: give a shape of the same size, or a scalar to fill it"
            )
    if graph is None:
        return EagerTensor(array, dtype)
    # The graph keeps its own copy: a constant must not change with the caller's array.
    if isinstance(value, np.ndarray) and (array is value or array.base is not None):
        array = array.copy()
    return constant_in(graph, array, graph.operation_name(name or "Const"), dtype)


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None,
                      dtype_hint: Any = None) -> Any:
    """Converts a value to a tensor.

    Args:
      value: a tensor, variable, NumPy array, Python scalar or (nested) list, also of tensors,
        or an object of a registered type.
      dtype: the dtype that the result must have, or None.
      name: a name for the operation, where one is added.
      preferred_dtype, dtype_hint: a dtype to use if the value allows it.
    Returns: a tensor.
    Raises: TypeError if there is no conversion or the dtype does not fit; ValueError for None
      and for a tensor of another graph.
    Gradient: of the operation that is added, if any.
    Reference: TensorFlow 2.21 `tf.convert_to_tensor`.

    >>> tf.convert_to_tensor([1.0, 2.0]).dtype
    tf.float32
    """
    wanted = None if dtype is None else as_dtype(dtype)
    hint = preferred_dtype if preferred_dtype is not None else dtype_hint
    if wanted is None and hint is not None:
        try:
            return convert_to_tensor(value, hint, name)
        except (TypeError, ValueError):
            pass
    return convert(value, wanted, context.current_graph(), name or "Const")


def convert_to_tensor_v2(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """Converts a value to a tensor.

    Args:
      value: a tensor, variable, NumPy array, Python scalar or (nested) list, also of tensors,
        or an object of a registered type.
      dtype: the dtype that the result must have, or None.
      dtype_hint: a dtype to use if the value allows it.
      name: a name for the operation, where one is added.
    Returns: a tensor.
    Raises: as `tf.compat.v1.convert_to_tensor`.
    Gradient: of the operation that is added, if any.
    Reference: TensorFlow 2.21 `tf.convert_to_tensor`.

    >>> tf.convert_to_tensor([1, 2], dtype_hint=tf.float64).dtype
    tf.float64
    """
    return convert_to_tensor(value, dtype, name, dtype_hint=dtype_hint)


def convert(value: Any, dtype: DType | None, graph: Graph | None, name: str, scoped: bool = True) -> Any:
    """Converts a value for the builder, in the given graph.

    Args:
      value, dtype: as in `convert_to_tensor`.
      graph: the graph for a new constant, None for eager mode.
      name: the name of a new constant.
      scoped: whether `name` is still to be put under the scope and made unique.
    """
    if graph is not None:
        small = _small_constant(value, dtype)
        if small is not None:
            name = graph.unique_name(name) if scoped else graph._unique(name)
            tensor = graph._add(registry["Const"], (), small.attrs, name, small.specs).outputs[0]
            tensor._static = small.static
            return tensor
    if isinstance(value, Tensor):
        if graph is None:
            raise TypeError(
                f"Cannot use the symbolic tensor {value} in eager mode: it has no value yet.\n"
                f"  Built at {value.op.source}\n  Fix: run it in a Session, or build inside tf.function"
            )
        _check_dtype(value, dtype, name)
        return value if value.graph is graph else graph.capture(value)
    if isinstance(value, EagerTensor):
        _check_dtype(value, dtype, name)
        return value if graph is None else graph.capture(value)
    own = getattr(value, "_as_tensor", None)
    makes = getattr(type(value), "__tf_tensor__", None) if own is None else None
    if makes is not None:
        return convert(makes(value, dtype, name), dtype, graph, name, scoped)
    if own is None and _functions:
        for priority in sorted(_functions):
            for base, function in _functions[priority]:
                if isinstance(value, base):
                    result = function(value, dtype=dtype, name=name, as_ref=False)
                    if result is not NotImplemented:
                        return convert(result, dtype, graph, name, scoped)
    if own is not None:
        tensor = own(dtype, name)
        _check_dtype(tensor, dtype, name)
        return convert(tensor, dtype, graph, name, scoped)
    if value is None:
        raise ValueError("None values not supported. Fix: give a tensor or an array")
    if isinstance(value, Operation):
        raise TypeError(
            f"Can't convert Operation '{value.name}' to Tensor (it has {len(value.outputs)} outputs). "
            "Fix: use one of operation.outputs"
        )
    if isinstance(value, (list, tuple)) and holds_tensors(value):
        return _auto_pack(value, dtype, graph, name)
    if graph is None:
        return EagerTensor(_eager_array(value, dtype), dtype)
    array = make_array(value, dtype)
    if isinstance(value, np.ndarray) and (array is value or array.base is not None):
        array = array.copy()
    return constant_in(graph, array, graph.unique_name(name) if scoped else graph._unique(name), dtype)


def _check_dtype(tensor: Any, dtype: DType | None, name: str) -> None:
    if dtype is not None and tensor.dtype is not dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {tensor.dtype.name}: "
            f"{tensor!r}.\n  Asked for at {user_source(2)}\n  Fix: tf.cast(tensor, tf.{dtype.name})"
        )


_PLAIN = _NUMBERS | {complex, str, bytes, list, tuple, np.ndarray, type(None)}  # certainly not tensors


def is_tensor_like(value: Any) -> bool:
    """Returns whether `value` is a tensor or converts itself to one (a variable, say)."""
    if type(value) in _PLAIN:
        return False
    return isinstance(value, AnyTensor) or hasattr(value, "_as_tensor")


def holds_tensors(value: Any) -> bool:
    """Returns whether a nested list contains a tensor, or an object that converts itself to one."""
    return any(holds_tensors(v) if isinstance(v, (list, tuple)) else
               is_tensor_like(v) or hasattr(type(v), "__tf_tensor__") for v in value)


def _auto_pack(value: Any, dtype: DType | None, graph: Graph | None, name: str) -> Any:
    tensors = [v for v in _leaves(value) if hasattr(v, "dtype") and is_tensor_like(v)]
    if tensors and (dtype is None or dtype is as_dtype(tensors[0].dtype)):
        dtype = as_dtype(tensors[0].dtype)
        other = next((v for v in tensors if as_dtype(v.dtype) is not dtype), None)
        if other is not None:
            text = (f"Cannot convert a list containing a tensor of dtype {as_dtype(other.dtype).name} to {dtype.name} "
                    f"(Tensor is: {other!r})\n  Asked for at {user_source(2)}\n  Fix: tf.cast(tensor, tf.{dtype.name})")
            raise TypeError(text) if graph is not None else InvalidArgumentError(None, None, text)
    parts = [convert(_cast_leaves(v, dtype), dtype, graph, "packed") for v in value]
    return registry["Pack"](parts, axis=0, name=None if graph is None else name.rpartition("/")[2] or "packed")


def _cast_leaves(value: Any, dtype: DType | None) -> Any:
    """Casts the tensors of a list that becomes a tensor of `dtype`; TensorFlow casts only there."""
    if isinstance(value, (list, tuple)):
        return [_cast_leaves(v, dtype) for v in value]
    if dtype is None or not hasattr(value, "dtype") or not is_tensor_like(value) or as_dtype(value.dtype) is dtype:
        return value
    return registry["Cast"](value, DstT=dtype)


__all__ = ["constant", "constant_in", "convert", "convert_to_tensor", "holds_tensors", "is_tensor_like", "make_array",
           "register_tensor_conversion_function"]
