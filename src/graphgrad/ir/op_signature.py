"""Signatures of ops: arguments, how they are grouped, and `Spec`, what is known of a tensor while building."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import dtypes
from .dtypes import DType
from .shape import Shape, shape_str


class Spec:
    """An interned (dtype, static shape) pair, so that shape inference can be cached by identity."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: DType, shape: Shape):
        self.dtype = dtype
        self.shape = shape

    @classmethod
    def of(cls, dtype: DType, shape: Shape) -> Spec:
        """Returns the one spec of this dtype and shape."""
        known: dict[Shape, Spec] = dtype._specs
        spec = known.get(shape)
        return spec if spec is not None else known.setdefault(shape, Spec(dtype, shape))

    def __repr__(self) -> str:
        return f"{self.dtype.name}{shape_str(self.shape)}"


def _preferred() -> dict[str, DType]:
    names = {
        "int32": "Tblock_shape Tcrops Tdim Tidx Tk Tmultiples Tnumsegments Tpaddings Tperm Tsegmentids Tshape "
                 "index_type",
        "int64": "TI Tindex Tlabels Tlen Tseed Tsplits shape_dtype",
        "complex64": "Tcomplex",
        "float32": "Treal",
    }
    return {attr: dtypes.as_dtype(dtype) for dtype, attrs in names.items() for attr in attrs.split()}


# What a value becomes that has no dtype of those allowed, by the name of the type attribute; TensorFlow's defaults.
# Attributes without one take values as they are. Records that differ say so (`prefers`).
PREFERRED = _preferred()


class Arg:
    """One input or output of a signature; exactly one of `dtype`, `type_attr`, `list_attr` is set.

    Attributes:
      is_list: whether the argument is a list of tensors.
    """

    __slots__ = ("name", "dtype", "type_attr", "number_attr", "list_attr", "is_list")

    def __init__(self, name: str, dtype: DType | None, type_attr: str | None, number_attr: str | None,
                 list_attr: str | None):
        self.name = name
        self.dtype = dtype
        self.type_attr = type_attr
        self.number_attr = number_attr
        self.list_attr = list_attr
        self.is_list = number_attr is not None or list_attr is not None


def _parse_args(text: str) -> tuple[Arg, ...]:
    args = []
    for item in filter(None, (s.strip() for s in text.split(","))):
        name, _, kind = (s.strip() for s in item.partition(":"))
        if kind.startswith("list("):
            args.append(Arg(name, None, None, None, kind[5:-1]))
            continue
        number, star, kind = kind.rpartition("*")
        fixed = dtypes._BY_NAME.get(kind)
        args.append(Arg(name, fixed, None if fixed else kind, number if star else None, None))
    return tuple(args)


class Signature:
    """The inputs and outputs of an op; the docstring of `ir.opdef` has the notation.

    Attributes:
      signature: the text.
      inputs, outputs: tuples of `Arg`.
      has_lists: whether an input is a list.
    """

    def _take_signature(self, text: str) -> None:
        left, _, right = text.partition("->")
        self.signature = " ".join(text.split())
        self.inputs: tuple[Arg, ...] = _parse_args(left)
        self.outputs: tuple[Arg, ...] = _parse_args(right)
        self.has_lists = any(a.is_list for a in self.inputs)

    def pack(self, values: Sequence[Any], attrs: dict[str, Any]) -> Sequence[Any]:
        """Groups a flat list of input values into the kernel's arguments (lists for list inputs)."""
        if not self.has_lists:
            return values
        packed: list[Any] = []
        position = 0
        for arg in self.inputs:
            if arg.number_attr is not None:
                n = attrs[arg.number_attr]
            elif arg.list_attr is not None:
                n = len(attrs[arg.list_attr])
            else:
                packed.append(values[position])
                position += 1
                continue
            packed.append(list(values[position : position + n]))
            position += n
        return packed

    def unpack(self, result: Any) -> Sequence[Any]:
        """Flattens a kernel's results into one value for each output."""
        if len(self.outputs) == 1 and not self.outputs[0].is_list:
            return (result,)
        if not self.outputs:
            return ()
        if len(self.outputs) == 1:
            return list(result)
        flat: list[Any] = []
        for arg, value in zip(self.outputs, result, strict=True):
            flat.extend(value) if arg.is_list else flat.append(value)
        return flat

    def regroup(self, flat: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Inverts `unpack`, as the builder returns outputs."""
        if len(self.outputs) == 1:
            return list(flat) if self.outputs[0].is_list else flat[0]
        grouped: list[Any] = []
        position = 0
        for arg in self.outputs:
            if arg.is_list:
                # Silenced: a list has one of both.
                n = attrs[arg.number_attr] if arg.number_attr else len(attrs[arg.list_attr])  # type: ignore[index]
                grouped.append(list(flat[position : position + n]))
                position += n
            else:
                grouped.append(flat[position])
                position += 1
        return tuple(grouped)

    def input_names(self, n: int) -> list[str]:
        """Returns the names of `n` inputs, those of lists with a number."""
        names: list[str] = []
        for arg in self.inputs:
            if arg.is_list:
                names.extend(f"{arg.name}[{i}]" for i in range(n - len(self.inputs) + 1))
            else:
                names.append(arg.name)
        return names

    def operands(self, inputs: Sequence[Any]) -> str:
        """Describes the inputs of an operation: names, dtypes, shapes."""
        return ", ".join(f"{n}={_operand(t)}" for n, t in zip(self.input_names(len(inputs)), inputs, strict=False))


def _operand(t: Any) -> str:
    shape = t._spec.shape if hasattr(t, "_spec") else tuple(t.shape)
    return f"{t.dtype.name} {shape_str(shape)}"
