"""The graph builder: turns a call such as `raw.Mul(x, 2.0)` into an operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint

from .context import _settle, stack
from .conversion import convert, is_tensor_like, small_eager
from .dtypes import DType, as_dtype, bool_, complex128, dtype_of, float32, int32, string
from .eager import EagerTensor, execute
from .graph import Graph, Operation, Tensor
from .inference import put_in_context
from .op_signature import Arg
from .opdef import OpDef, build_with


def build(opdef: OpDef, args: tuple[Any, ...], attrs: dict[str, Any], name: str | None) -> Any:
    """Builds (or, in eager mode, runs) an op; see `OpDef.__call__`."""
    graph = stack.current if stack.settled else _settle()
    if len(args) != len(opdef.inputs):
        args, attrs = _bind(opdef, args, attrs)
    if graph is None:
        return _build_eagerly(opdef, args, attrs, name)
    # The fast path: plain tensors of this graph.
    if opdef.has_lists:
        direct = False
    else:
        direct = True
        for a in args:
            if type(a) is not Tensor or a.graph is not graph:
                direct = False
                break
    if direct:
        op = add_to_graph(graph, opdef, args, attrs, name)
        outputs = op.outputs
        return outputs[0] if len(outputs) == 1 and not opdef.outputs[0].is_list else _results(op)
    full_name = graph.operation_name(name or opdef.name)
    flat = _convert_all(opdef, args, attrs, graph, full_name)
    return _results(add_to_graph(graph, opdef, tuple(flat), attrs, full_name + "/"))


def add_to_graph(graph: Graph, opdef: OpDef, inputs: tuple[Tensor, ...], attrs: dict[str, Any],
                 name: str | None) -> Operation:
    """Infers types and shapes and adds the operation.

    Args:
      graph: the graph.
      opdef: its record.
      inputs: the flat inputs, tensors of `graph`.
      attrs: its explicit attributes.
      name: the preferred name; one that ends in '/' is final.
    Raises: TypeError, ValueError naming op, shapes, the user's line and a remedy.
    """
    try:
        inferred = opdef.infer(inputs, attrs)
    except Complaint as complaint:
        raise put_in_context(opdef, complaint, (name or opdef.name).rstrip("/"), inputs) from complaint.__cause__
    if name is None:
        scope = graph._around.scope
        name = graph._names.unique(f"{scope}/{opdef.name}" if scope else opdef.name)
    else:
        name = graph.operation_name(name)
    return graph._add(opdef, inputs, {**inferred.type_attrs, **attrs} if attrs else inferred.type_attrs, name,
                      inferred.specs)


def _results(op: Operation) -> Any:
    return op.opdef.regroup(op.outputs, op.attrs) if op.outputs or op.opdef.outputs else op


def _build_eagerly(opdef: OpDef, args: tuple[Any, ...], attrs: dict[str, Any], name: str | None) -> Any:
    if not opdef.has_lists:
        for a in args:
            if type(a) is not EagerTensor:
                args = tuple(_convert_all(opdef, args, attrs, None, name or opdef.name))
                break
    else:
        args = tuple(_convert_all(opdef, args, attrs, None, name or opdef.name))
    outputs = execute(opdef, args, attrs)
    if len(opdef.outputs) == 1:
        return list(outputs) if opdef.outputs[0].is_list else outputs[0]
    return opdef.regroup(outputs, {**opdef.attrs, **attrs}) if opdef.outputs else None


def _bind(opdef: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Sorts inputs given by keyword into their positions."""
    attrs = dict(kwargs)
    bound = list(args)
    for arg in opdef.inputs[len(args) :]:
        if arg.name not in attrs:
            raise TypeError(f"{opdef.name} is missing its input '{arg.name}'; its signature is {opdef.signature}")
        bound.append(attrs.pop(arg.name))
    if len(bound) != len(opdef.inputs):
        raise TypeError(
            f"{opdef.name} takes {len(opdef.inputs)} inputs, not {len(args)}; its signature is {opdef.signature}"
        )
    return tuple(bound), attrs


def _convert_all(
    opdef: OpDef, args: tuple[Any, ...], attrs: dict[str, Any], graph: Graph | None, name: str
) -> list[Any]:
    """Converts the arguments to a flat list of tensors; tensors decide the dtypes of Python values."""
    types = {k: v for k, v in attrs.items() if type(v) is DType} if attrs else {}
    for arg, value in zip(opdef.inputs, args, strict=True):
        attr = arg.type_attr
        if attr is None or attr in types:
            continue
        if type(value) is Tensor:
            types[attr] = value.dtype
            continue
        for v in value if arg.is_list and isinstance(value, (list, tuple)) else (value,):
            if is_tensor_like(v):
                types[attr] = as_dtype(v.dtype)
                break
    flat: list[Any] = []
    counts: dict[str, tuple[str, int]] = {}  # length attribute -> the list that determined it, and its length
    met: set[str | None] = set()  # type attributes determined by an earlier tensor
    for arg, value in zip(opdef.inputs, args, strict=True):
        if not arg.is_list:
            if type(value) is Tensor and value.graph is graph:  # its dtype is in `types`
                flat.append(value)
            else:
                # Eager mode checks all tensors first; a dtype that the record names is always known.
                lossy = graph is None or arg.type_attr is None or arg.type_attr in met
                flat.append(_convert_one(opdef, arg, value, types, graph, name, lossy=lossy))
            met.add(arg.type_attr)
            continue
        flat.extend(_convert_list(opdef, arg, value, types, attrs, counts, graph, name))
    return flat


def _convert_list(opdef: OpDef, arg: Arg, value: Any, types: dict[str, DType], attrs: dict[str, Any],
                  counts: dict[str, tuple[str, int]], graph: Graph | None, name: str) -> list[Any]:
    """Returns a list argument as tensors; its length and dtypes become attributes."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"Expected list for '{arg.name}' argument to '{opdef.name}' Op, not {value!r}.")
    if arg.number_attr is not None:
        first, count = counts.setdefault(arg.number_attr, (arg.name, len(value)))
        if len(value) != count:
            raise ValueError(f"List argument '{arg.name}' to '{opdef.name}' Op with length {len(value)} must match "
                             f"length {count} of argument '{first}'.\n  Fix: give lists of one length")
        attrs[arg.number_attr] = count
    lossy = graph is not None and arg.dtype is not None
    group = [_convert_one(opdef, arg, v, types, graph, name, i, lossy) for i, v in enumerate(value)]
    if arg.list_attr is not None:
        attrs[arg.list_attr] = tuple(t.dtype for t in group)
    return group


def _convert_one(opdef: OpDef, arg: Arg, value: Any, types: dict[str, DType], graph: Graph | None, name: str,
                 index: int | None = None, lossy: bool = False) -> Any:
    """Converts one argument; `lossy`: whether a NumPy value may lose its fractions, as in TensorFlow."""
    if type(value) is Tensor and value.graph is graph:
        if arg.type_attr is not None:
            types.setdefault(arg.type_attr, value.dtype)
        return value
    suffix = arg.name if index is None else f"{arg.name}_{index}"
    tensor_like = is_tensor_like(value)
    wanted = arg.dtype or (types.get(arg.type_attr) if arg.type_attr else None)
    if wanted is None and not tensor_like and arg.type_attr is not None:
        _check_number(opdef, arg, value, name, graph is None)
        wanted = _natural(opdef, arg, value, graph is None)
    elif wanted is not None and wanted.is_integer and not lossy and _has_fractions(value):
        wanted = None  # inference names both dtypes
    try:
        # Tensors are not cast: inference words a mismatch better.
        tensor = _converted(value, None if tensor_like else wanted, graph, f"{name}/{suffix}", tensor_like)
    except TypeError as e:
        if tensor_like or "symbolic" in str(e):
            raise
        raise _cannot_convert(opdef, arg, wanted, name, e, graph is None) from None
    if arg.type_attr is not None:
        types.setdefault(arg.type_attr, tensor.dtype)
    return tensor


def _converted(value: Any, dtype: DType | None, graph: Graph | None, name: str, tensor_like: bool) -> Any:
    tensor = small_eager(value, dtype) if graph is None and not tensor_like else None
    return convert(value, dtype, graph, name, scoped=False) if tensor is None else tensor


def _cannot_convert(opdef: OpDef, arg: Arg, wanted: DType | None, name: str, error: TypeError,
                    eager: bool) -> Exception:
    """Makes the error for an argument that cannot become a tensor."""
    worded = put_in_context(opdef, Complaint(
        f"argument '{arg.name}' cannot be converted: {error}",
        f"tf.cast the tensor operand first, or give a value of dtype {wanted.name}" if wanted else "", TypeError),
        name, [], eager)
    if type(error) is not TypeError and type(error).__init__ is TypeError.__init__:  # its class names the value
        return type(error)(*worded.args)
    return worded


def _check_number(opdef: OpDef, arg: Arg, value: Any, name: str, eager: bool) -> None:
    """Raises TypeError, in eager mode, for a number with fractions in place of an axis.

    TensorFlow does not convert it, while it lets a list reach the operation, which then refuses its dtype.
    """
    if eager and type(value) is float and all(d.is_integer for d in opdef.allowed[arg.type_attr or ""]):
        raise _cannot_convert(opdef, arg, None, name, TypeError(f"Expected an integer, but got {value!r}"), False)


def _has_fractions(value: Any) -> bool:
    """Returns whether a value is one of NumPy's, of a dtype that has fractions."""
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"


def _natural(opdef: OpDef, arg: Arg, value: Any, eager: bool) -> DType | None:
    """Returns the dtype for a Python value when no tensor determines it: None for the value's own."""
    allowed = opdef.allowed[arg.type_attr or ""]
    preferred = opdef.preferred.get(arg.type_attr or "")
    if isinstance(value, int) and (preferred is None or preferred.is_integer):
        return _natural_of_int(value, allowed)
    if isinstance(value, (list, tuple)):
        return _natural_of_list(value, allowed, preferred)
    is_array = hasattr(value, "dtype")
    dtype = dtype_of(value) if is_array else _python_dtype(value)
    if preferred is None or dtype is None or dtype is string:
        return None
    if dtype in allowed:  # in eager mode TensorFlow casts arrays all the same
        return preferred if eager and is_array and not preferred.is_integer else None
    return preferred if is_array or not preferred.is_integer else None  # NumPy's numbers may lose fractions


def _natural_of_int(value: int, allowed: Any) -> DType | None:
    is_number = not isinstance(value, bool) and not any(t.is_integer for t in allowed)
    return next((t for t in allowed if is_number and t.name == "float32"), None)


def _natural_of_list(value: Any, allowed: Any, preferred: DType | None) -> DType | None:
    if not value:  # nothing in it determines the dtype
        by_name = {t.name: t for t in allowed}
        first = ("int32", "float32") if all(t.is_integer for t in allowed) else ("float32", "int32")
        return next((by_name[n] for n in first if n in by_name), preferred)
    if preferred is None:
        return None
    if preferred.is_integer:  # sizes, axes, indices: tensors in the list are cast
        return int32 if int32 in allowed and any(
            is_tensor_like(v) and as_dtype(v.dtype) not in allowed for v in value) else None
    dtype = _python_dtype(value)
    return preferred if dtype is not None and dtype is not string and dtype not in allowed else None


def _python_dtype(value: Any) -> DType | None:
    """Returns the dtype that numbers of Python have as a tensor; None if they are no numbers, or hold tensors."""
    try:
        dtype = np.asarray(value).dtype
    except (TypeError, ValueError):
        return None
    return {"f": float32, "i": int32, "b": bool_, "c": complex128}.get(dtype.kind)


build_with(build)
