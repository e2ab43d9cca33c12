"""Inference: the dtypes and static shapes of an operation's outputs, and errors for what does not fit."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphgrad.errors import Complaint, EagerTypeError, InvalidArgumentError, OpError, describe

from .attribute_limits import OUTPUTS, check
from .constant_value import static_value
from .dtypes import DType
from .op_signature import Arg, Spec
from .shape import Shape, shape_str
from .source import user_source

if TYPE_CHECKING:
    from .graph import Tensor
    from .opdef import OpDef

CHECK = "check the shapes, values and attributes that this op is given"


class Inferred(NamedTuple):
    """The results of inference for an operation before it is built."""

    type_attrs: dict[str, Any]
    specs: tuple[Spec, ...]


def infer(opdef: OpDef, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Inferred:
    """Resolves types and applies the shape rule; `OpDef.infer` without its cache.

    Args:
      opdef: the record.
      inputs: the flat list of input tensors.
      attrs: the attributes given explicitly.
    Raises: Complaint, to which the caller adds context.
    """
    try:
        return inferred(opdef, inputs, attrs)
    except (Complaint, OpError):
        raise
    except Exception as e:
        raise Complaint(misfit(e), CHECK) from e


def inferred(opdef: OpDef, inputs: Sequence[Any], attrs: dict[str, Any]) -> Inferred:
    """Does the same, and lets errors of rules pass."""
    types: dict[str, Any] = {}
    grouped: list[Any] = []
    position = 0
    for arg in opdef.inputs:
        if arg.number_attr is not None:
            n = attrs[arg.number_attr]
            group = list(inputs[position : position + n])
        elif arg.list_attr is not None:
            n = len(attrs[arg.list_attr]) if arg.list_attr in attrs else len(inputs) - position
            group = list(inputs[position : position + n])
            types[arg.list_attr] = tuple(t.dtype for t in group)
        else:
            group = [inputs[position]]
        position += len(group)
        for t in group:
            _check_type(opdef, arg, t.dtype, types)
        grouped.append(group if arg.is_list else group[0])
    full = {**types, **attrs}
    for name, default in opdef.attrs.items():
        if name not in full:
            if default is inspect.Parameter.empty:
                raise Complaint(f"attribute '{name}' is missing", f"give {name}=...", TypeError)
            full[name] = default
    for name, limit in opdef.limits.items():
        check(name, full[name], limit)
    for arg in opdef.outputs:
        if arg.number_attr:
            check(arg.number_attr, full[arg.number_attr], OUTPUTS)
        if arg.type_attr and arg.type_attr not in opdef._derived:
            if full[arg.type_attr] not in opdef.allowed[arg.type_attr]:
                raise Complaint(f"{arg.type_attr}={full[arg.type_attr].name} is not allowed; "
                                f"allowed are {_names(opdef.allowed[arg.type_attr])}", "", TypeError)
    return Inferred(types, _output_specs(opdef, grouped, full))


def _check_type(opdef: OpDef, arg: Arg, dtype: DType, types: dict[str, Any]) -> None:
    if arg.dtype is not None:
        if dtype is not arg.dtype:
            raise Complaint(
                f"Input '{arg.name}' of '{opdef.name}' Op has type {dtype.name} that does not match "
                f"expected type of {arg.dtype.name}",
                f"tf.cast({arg.name}, tf.{arg.dtype.name})",
                TypeError,
            )
    elif arg.type_attr is not None:
        bound = types.setdefault(arg.type_attr, dtype)
        if bound is not dtype:
            first = next(a.name for a in opdef.inputs if a.type_attr == arg.type_attr)
            raise Complaint(
                f"Input '{arg.name}' of '{opdef.name}' Op has type {dtype.name} that does not match "
                f"type {bound.name} of argument '{first}'",
                f"cast one of them, e.g. tf.cast({arg.name}, tf.{bound.name})",
                TypeError,
            )
        if dtype not in opdef.allowed[arg.type_attr]:
            raise Complaint(
                f"Value passed to parameter '{arg.name}' has DataType {dtype.name} not in list of "
                f"allowed values: {_names(opdef.allowed[arg.type_attr])}",
                f"cast it first, e.g. tf.cast({arg.name}, tf.{_likely(opdef.allowed[arg.type_attr])})",
                TypeError,
            )


def _output_specs(opdef: OpDef, grouped: list[Any], attrs: dict[str, Any]) -> tuple[Spec, ...]:
    out_types: list[DType] = []
    for arg in opdef.outputs:
        if arg.list_attr is not None:
            out_types.extend(attrs[arg.list_attr])
        else:
            dtype = arg.dtype or attrs[arg.type_attr]  # type: ignore[index]  # one of the two is set
            out_types.extend([dtype] * (attrs[arg.number_attr] if arg.number_attr else 1))
    for i, low, high in opdef._ranks:
        for t in grouped[i] if opdef.inputs[i].is_list else (grouped[i],):
            _check_rank(opdef.inputs[i].name, _shape_of(t), low, high)
    if not out_types:
        if opdef._shape_rule is not None:
            _apply_shape_rule(opdef, grouped, attrs)
        return ()
    if opdef._shape_rule is None:
        return tuple([Spec.of(t, None) for t in out_types])
    shapes = _apply_shape_rule(opdef, grouped, attrs)
    if not isinstance(shapes, list):
        shapes = [shapes]
    if len(shapes) != len(out_types):
        raise AssertionError(
            f"the shape rule of {opdef.name} gives {len(shapes)} shapes for {len(out_types)} outputs"
        )
    for shape in shapes:
        if shape and any(n is not None and n < 0 for n in shape):
            raise Complaint(f"an output would have the shape {shape_str(shape)}; dimensions must be >= 0",
                            "look where the negative size comes from")
    return tuple([Spec.of(t, s) for t, s in zip(out_types, shapes, strict=True)])


def _apply_shape_rule(opdef: OpDef, grouped: list[Any], attrs: dict[str, Any]) -> Any:
    rule = opdef._shape_rule
    assert rule is not None
    args: list[Any] = []
    for i, (arg, group) in enumerate(zip(opdef.inputs, grouped, strict=True)):
        see = static_value if i in opdef.seen else _shape_of
        args.append([see(t) for t in group] if arg.is_list else see(group))
    more = {k: attrs[k] for k in opdef._shape_attrs}
    if opdef._asks_for_shapes:
        more["input_shapes"] = [list(map(_shape_of, g)) if isinstance(g, list) else _shape_of(g) for g in grouped]
    return rule(*args, **more)


def misfit(error: Exception) -> str:
    """Describes an error that no rule expected, such as for inputs that are inconsistent with each other."""
    text = str(error).split("\n")[0]
    return f"its inputs or attributes do not fit each other ({type(error).__name__}{text and ': '}{text})"


def _check_rank(name: str, shape: Shape, low: int, high: int) -> None:
    if shape is not None and not low <= len(shape) <= high:
        least = "" if low == high else "at most "
        raise Complaint(f"{name} must have rank {least}{high} but has shape {shape_str(shape)}",
                        f"give a {('scalar', 'vector', 'matrix')[high]} as {name}")


def _shape_of(t: Tensor) -> Shape:
    return t._spec.shape


def _names(types: Iterable[DType]) -> str:
    return ", ".join(sorted(t.name for t in types))


def _likely(allowed: Collection[DType]) -> str:
    """Returns the name of the dtype that is meant most often, among those that are allowed."""
    names = sorted(d.name for d in allowed)
    return next((n for n in ("float32", "int32") if n in names), names[0])


def put_in_context(
    opdef: OpDef, complaint: Complaint, name: str, inputs: Sequence[Any], eager: bool = False
) -> Exception:
    """Turns a complaint into the error that the user sees.

    Args:
      opdef: the op being built.
      complaint: from its rule or kernel.
      name: the name of the operation.
      inputs: its flat input tensors (anything with `dtype` and `shape`).
      eager: whether it ran at once; errors of values and dtypes are InvalidArgumentError then.
    """
    text = describe(opdef.name, name, complaint.problem, opdef.operands(inputs), str(user_source(2) or ""),
                    complaint.fix or CHECK)
    if eager and complaint.cls in (ValueError, TypeError):
        cls: type[OpError] = InvalidArgumentError if complaint.cls is ValueError else EagerTypeError
        return cls(None, None, text, cls.code)
    if isinstance(complaint.cls, type) and issubclass(complaint.cls, OpError):
        return complaint.cls(None, None, text, complaint.cls.code)
    return complaint.cls(text)
