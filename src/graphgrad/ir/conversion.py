"""Conversion of Python and NumPy values to tensors, by TensorFlow's rules.

Python floats become float32 and ints int32 (int64 where 32 bits do not hold them); NumPy
arrays keep their dtype. Nothing is promoted silently: a value of another kind than the requested dtype is a TypeError,
and so is a tensor of another dtype. Ints out of range wrap around, with a warning.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import InvalidArgumentError

from . import context
from .array_conversion import eager_array, leaves, make_array, new_array
from .constant_value import frozen
from .dtypes import DType, as_dtype
from .eager import EagerTensor
from .graph import Graph, Operation, Tensor
from .op_signature import Spec
from .opdef import raw, registry
from .operation import RETURN_IT
from .shape import as_shape, shape_str
from .source import user_source
from .tensor import DTypeLike, ShapeLike, TensorLike
from .tensor import Tensor as AnyTensor

# Conversion functions by priority: (types, function(value, dtype, name, as_ref)).
_functions: dict[int, list[tuple[Any, Callable[..., Any]]]] = {}


def register_tensor_conversion_function(base_type: Any, conversion_func: Callable[..., Any],
                                        priority: int = 100) -> None:
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
    _of_subclass.cache_clear()


@functools.lru_cache(1024)
def _of_subclass(kind: type) -> Callable[..., Any] | None:
    """Returns the function registered for a class of variables that a library derived from one that is here."""
    order = kind.__mro__
    own = next(i for i, c in enumerate(order) if "_as_tensor" in vars(c))
    for priority in sorted(_functions):
        for base, function in _functions[priority]:
            if any(b in order[:own] for b in (base if isinstance(base, tuple) else (base,))):
                return function
    return None


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None,
                                        name: str | None = None) -> AnyTensor | Any:
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


_small_eager: dict[Any, tuple[np.ndarray[Any, Any], DType, Any]] = {}
_WORD = 1 << 31
_NUMPYS_NUMBERS = frozenset({np.float32, np.float64, np.int32, np.int64})


def small_eager(value: Any, dtype: DType | None) -> EagerTensor | None:
    """Returns the eager tensor of an argument that is a number, or a short list of ints; None for other values.

    Args:
      value: the argument.
      dtype: the wanted dtype, or None.
    """
    kind = type(value)
    if kind in _NUMPYS_NUMBERS:
        return _numpys_number(value) if dtype is None or dtype.np_dtype is value.dtype else None
    content: Any = value
    if kind is float:
        if dtype is not None and not dtype.is_floating:
            return None
        content = value if value else math.copysign(1.0, value)  # 0.0 and -0.0 are equal, but not interchangeable
        content = content, value == 0
    elif kind is list or kind is tuple:
        if not 0 < len(value) <= 8 or any(type(v) is not int or not -_WORD <= v < _WORD for v in value):
            return None
        content = tuple(value)
    elif kind is not int or not -_WORD <= value < _WORD:
        return None
    key = kind, content, id(dtype)
    known = _small_eager.get(key)
    if known is None:
        if dtype is not None and not (dtype.is_floating or dtype.name in ("int32", "int64")):
            return None
        known = _remembered(key, eager_array(value, dtype).copy(), dtype)
    tensor = EagerTensor(known[0], known[1])
    tensor._static = known[2]
    return tensor


def _numpys_number(value: Any) -> EagerTensor:
    key = type(value), value.tobytes()
    known = _small_eager.get(key) or _remembered(key, np.array(value), None)
    tensor = EagerTensor(known[0], known[1])
    tensor._static = known[2]
    return tensor


def _remembered(key: Any, array: np.ndarray[Any, Any], dtype: DType | None) -> Any:
    array.flags.writeable = False
    known = array, dtype or as_dtype(array.dtype), frozen(array)
    if len(_small_eager) < 4096:
        _small_eager[key] = known
    return known


_SCALARS = frozenset({int, float, bool, complex, str, bytes})


def constant(value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike | None = None,
             name: str | None = "Const") -> AnyTensor:
    """Creates a constant tensor.

    Args:
      value: a Python scalar, a (nested) list, or a NumPy array.
      dtype: the dtype; by default float32, int32, bool or string for Python values, the
        array's own for NumPy's.
      shape: the shape; a scalar fills it. The value's own by default.
      name: a name for the operation.
    Returns: the tensor, of dtype `dtype` and shape `shape`.
    Raises: TypeError if the value does not fit or is a tensor; ValueError if the number of elements differs, and in
      eager mode for a list with tensors.
    Gradient: none; a constant has no inputs.
    Reference: TensorFlow 2.21 Const.

    >>> sess.run(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    dtype = None if dtype is None else as_dtype(dtype)
    graph = context.current_graph()
    if isinstance(value, Tensor):
        raise TypeError(f"Expected any non-tensor type, but got a tensor instead: {value}.")
    if isinstance(value, (list, tuple)) and not _SCALARS.issuperset(map(type, value)) and holds_tensors(value):
        # Its numbers would be taken out of the tensors, and gradients would end there.
        kind = ValueError if graph is None else TypeError
        raise kind(f"Expected any non-tensor type, but got a list with a tensor instead: {value}.\n"
                   f"  Asked for at {user_source(2)}\n  Fix: tf.stack, or tf.convert_to_tensor")
    make = new_array if graph is not None else eager_array
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
            raise TypeError(f"Const '{name}': eager and graph constants must have as many elements as their shape: "
                            f"got {array.size} for {shape_str(wanted)}.\n  Built at {user_source(2)}\n"
                            "  Fix: give a shape of the same size, or a scalar to fill it")
    if graph is None:
        return EagerTensor(array, dtype)
    return constant_in(graph, array, graph.operation_name(name or "Const"), dtype)


def convert_to_tensor(value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None,
                      preferred_dtype: DTypeLike | None = None, dtype_hint: DTypeLike | None = None) -> Any:
    """Converts a value to a tensor of the current graph, or to an eager one; see `convert_to_tensor_v1`."""
    wanted = None if dtype is None else as_dtype(dtype)
    hint = preferred_dtype if preferred_dtype is not None else dtype_hint
    if wanted is None and hint is not None:
        try:
            return convert_to_tensor(value, hint, name)
        except (TypeError, ValueError):
            pass  # a hint is no more than that
    return convert(value, wanted, context.current_graph(), name or "Const")

def convert_to_tensor_v1(value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None,
                         preferred_dtype: DTypeLike | None = None, dtype_hint: DTypeLike | None = None) -> AnyTensor:
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
    return convert_to_tensor(value, dtype, name, preferred_dtype, dtype_hint)  # type: ignore[no-any-return]  # a tensor


def convert_to_tensor_v2(value: TensorLike, dtype: DTypeLike | None = None, dtype_hint: DTypeLike | None = None,
                         name: str | None = None) -> AnyTensor:
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
    return convert_to_tensor(value, dtype, name, dtype_hint=dtype_hint)  # type: ignore[no-any-return]  # a tensor


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
            name = graph.unique_name(name) if scoped else graph._names.unique(name)
            tensor = graph._add(registry["Const"], (), small.attrs, name, small.specs).outputs[0]
            tensor._static = small.static
            return tensor
    if isinstance(value, Tensor):
        if graph is None:
            raise TypeError(
                f"Cannot use the symbolic tensor {value} in eager mode: it has no value yet.\n"
                f"  Built at {value.op.source}\n  Fix: "
                + (RETURN_IT if value.graph.building_function else "run it in a Session, or build inside tf.function")
            )
        _check_dtype(value, dtype, name)
        return value if value.graph is graph else graph.capture(value)
    if isinstance(value, EagerTensor):
        _check_dtype(value, dtype, name)
        return value if graph is None else graph.capture(value)
    tensor = _by_own_conversion(value, dtype, name)
    if tensor is not NotImplemented:
        return convert(tensor, dtype, graph, name, scoped)
    if value is None:
        raise ValueError("None values not supported. Fix: give a tensor or an array")
    if isinstance(value, Operation):
        raise TypeError(
            f"Can't convert Operation '{value.name}' to Tensor (it has {len(value.outputs)} outputs). "
            "Fix: use one of operation.outputs"
        )
    if isinstance(value, (list, tuple)) and holds_tensors(value):
        return _auto_pack(value, dtype, graph, name, scoped)
    if graph is None:
        return EagerTensor(eager_array(value, dtype), dtype)
    array = new_array(value, dtype)
    return constant_in(graph, array, graph.unique_name(name) if scoped else graph._names.unique(name), dtype)


def _by_own_conversion(value: Any, dtype: DType | None, name: str) -> Any:
    """Converts an object by its own method, or a registered function; returns NotImplemented where there is none."""
    own = getattr(value, "_as_tensor", None)
    if own is not None:
        kind: Any = type(value)
        special = _of_subclass(kind) if _functions and hasattr(kind, "_as_tensor") else None
        tensor = NotImplemented if special is None else special(value, dtype=dtype, name=name, as_ref=False)
        if tensor is not NotImplemented:
            return tensor
        tensor = own(dtype, name)
        _check_dtype(tensor, dtype, name)
        return tensor
    makes = getattr(type(value), "__tf_tensor__", None)
    if makes is not None:
        return makes(value, dtype, name)
    for priority in sorted(_functions):
        for base, function in _functions[priority]:
            if isinstance(value, base):
                result = function(value, dtype=dtype, name=name, as_ref=False)
                if result is not NotImplemented:
                    return result
    return NotImplemented


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


def _auto_pack(value: Any, dtype: DType | None, graph: Graph | None, name: str, scoped: bool) -> Any:
    tensors = [v for v in leaves(value) if hasattr(v, "dtype") and is_tensor_like(v)]
    if tensors and (dtype is None or dtype is as_dtype(tensors[0].dtype)):
        dtype = as_dtype(tensors[0].dtype)
        other = next((v for v in tensors if as_dtype(v.dtype) is not dtype), None)
        if other is not None:
            text = (f"Cannot convert a list containing a tensor of dtype {as_dtype(other.dtype).name} to {dtype.name} "
                    f"(Tensor is: {other!r})\n  Asked for at {user_source(2)}\n  Fix: tf.cast(tensor, tf.{dtype.name})")
            raise TypeError(text) if graph is not None else InvalidArgumentError(None, None, text)
    return _pack_eagerly(value, dtype) if graph is None else _pack(
        value, dtype, graph, "packed" if name == "Const" else name, scoped)


def _pack_eagerly(value: Any, dtype: DType | None) -> Any:
    return raw.Pack([convert(_cast_leaves(v, dtype), dtype, None, "packed") for v in value], axis=0)


def _pack(value: Any, dtype: DType | None, graph: Graph, name: str, scoped: bool) -> Any:
    """Packs the elements of a list; constants among them are named as in TensorFlow, by their places in it."""
    name = graph.unique_name(name) if scoped else graph._names.unique(name)
    with graph.name_scope(f"{name}/"):
        parts = []
        for i, v in enumerate(value):
            if isinstance(v, (list, tuple)):
                if holds_tensors(v):
                    parts.append(_pack(v, dtype, graph, str(i), True))
                    continue
                graph.unique_name(str(i))  # TensorFlow opens a scope here, and leaves it again
            parts.append(convert(_cast_leaves(v, dtype), dtype, graph, str(i)))
        return raw.Pack(parts, axis=0, name=f"{name}/")


def _cast_leaves(value: Any, dtype: DType | None) -> Any:
    """Casts the tensors of a list that becomes a tensor of `dtype`; TensorFlow casts only there."""
    if isinstance(value, (list, tuple)):
        return [_cast_leaves(v, dtype) for v in value]
    if dtype is None or not hasattr(value, "dtype") or not is_tensor_like(value) or as_dtype(value.dtype) is dtype:
        return value
    return raw.Cast(value, DstT=dtype)


__all__ = ["constant", "constant_in", "convert", "convert_to_tensor", "holds_tensors", "is_tensor_like", "make_array",
           "register_tensor_conversion_function"]
