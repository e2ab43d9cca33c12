"""The table of ops: what a row is, and the inputs that a row stands for.

A family's rows stand in `tests/ops/rows/` as `ROWS = [Row(...), ...]`:

    from table import Case, L, R, Row, V

    ROWS = [
        Row("Mul", [[(3,), (3,)], [(2, 3), (1, 3)], [(), (4,)], [(0, 3), (3,)]],
            dtypes=["float32", "complex64"],
            bad=[([(3, 4), (3,)], "(?s)dimension -1.*expand_dims")]),
        Row("GatherV2", [[(5, 3), V([4, 0, 4]), V(0)], Case([(2, 3), V([[1], [0]]), V(1)], batch_dims=1)],
            wrt=["params"]),
        Row("AddN", [[L((2, 3), (2, 3), (2, 3))]], order=1),
    ]

A case has one entry for each input of the op's signature, in its order:

    (2, 3)             random, of that shape and of the row's dtype
    V(x, dtype=None)   the literal x; of the input's own type or the row's dtype if it has to be
    R(shape, dtype=None, domain=None)   random, with a dtype or domain of its own
    L(entry, entry)    a list input

and `Case([...], **attrs)` adds attributes to those of the row. Attributes that are types may be
given by name ("int64"), or as "T" for the row's dtype.

Inputs are drawn from a generator seeded by op, case and dtype, so that every machine (and
the recording script, which runs beside TensorFlow) draws the same.
"""

from __future__ import annotations

import dataclasses
import hashlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from graphgrad.ir import dtypes
from graphgrad.ir.conversion import make_array
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.op_signature import Arg
from graphgrad.ir.opdef import OpDef, registry
from graphgrad.ir.shape import Shape


class V:
    """A literal input: a Python value or a NumPy array."""

    def __init__(self, value: Any, dtype: str | None = None):
        self.value = value
        self.dtype = dtype

    def __repr__(self) -> str:
        value = self.value.tolist() if isinstance(self.value, np.ndarray) else self.value
        return f"V({value!r}, {self.dtype})"


class R:
    """A random input with a dtype or a domain of its own."""

    def __init__(self, shape: Sequence[int], dtype: str | None = None, domain: Any = None):
        self.shape = tuple(shape)
        self.dtype = dtype
        self.domain = domain

    def __repr__(self) -> str:
        domain = "" if self.domain is None else f", {_domain_name(self.domain)}"
        return f"R({self.shape}, {self.dtype}{domain})"


class L:
    """The entries of a list input."""

    def __init__(self, *entries: Any):
        self.entries = entries

    def __repr__(self) -> str:
        return f"L{self.entries!r}"


class Case:
    """The entries of one case, with attributes."""

    def __init__(self, entries: Sequence[Any], **attrs: Any):
        self.entries = list(entries)
        self.attrs = attrs

    def __repr__(self) -> str:
        attrs = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in sorted(self.attrs.items())}
        return f"Case({self.entries!r}, {attrs!r})"


@dataclasses.dataclass
class Row:
    """An op with the cases it is tested on; which tests a row drives, `test_ops.py` says.

    Attributes:
      op_type: the op type.
      cases: lists of entries, or `Case`s.
      attrs: attributes of every case.
      dtypes: the dtypes of the first type attribute of the inputs that allows them; other ones
        follow it where they can, else are int32.
      domain: where random values lie: (low, high), a function of (rng, shape, dtype) that
        returns an array, or a dict of these by input name ("" for the rest).
      bad: tuples of (entries or Case, regular expression[, error class]). The error is one of
        building (ValueError, TypeError) or, for a subclass of OpError, of running.
      order: the highest derivative that is checked against finite differences.
      wrt: the names of the inputs that are differentiated; all floating ones by default.
      ys: the indices of the outputs that are differentiated; all floating ones by default.
      shapes: what inference must find out when no shape is hidden: "exact" (all), "rank", or
        "any" (nothing, but no untruth). Hidden sizes may not cost the rank, but for "any" and
        "sizes" (all, when no size is hidden).
      inference: whether inference must find out all that TensorFlow's does; "values": while the
        inputs whose values it looks at are known.
      dynamic: whether the gradient can be built while all dimensions are unknown.
      rtol, atol: tolerances of values and first gradients, instead of the dtype's own.
      fd_rtol: tolerance of the finite differences.
      xla: whether to compare XLA against NumPy (never done for host ops).
      tf: whether TensorFlow's values and gradients are recorded.
      tf_grad: whether its gradients are; False with a note where it differs on purpose.
      note: the reason for anything unusual.
    """

    op_type: str
    cases: list[Any]
    attrs: dict[str, Any] = dataclasses.field(default_factory=dict)
    dtypes: Sequence[str] = ("float32",)
    domain: Any = (-2.0, 2.0)
    bad: Sequence[tuple[Any, ...]] = ()
    order: int = 3
    wrt: Sequence[str] | None = None
    ys: Sequence[int] | None = None
    shapes: str = "exact"
    inference: bool | str = True
    dynamic: bool = True
    rtol: float | None = None
    atol: float | None = None
    fd_rtol: float | None = None
    xla: bool = True
    tf: bool = True
    tf_grad: bool = True
    note: str = ""
    family: str = ""

    @property
    def opdef(self) -> OpDef:
        """The record of the op."""
        return registry[self.op_type]

    def case(self, i: int) -> Case:
        """The case number `i`, with the row's attributes."""
        return self.complete(self.cases[i])

    def complete(self, case: Any) -> Case:
        """A case given as a list or a `Case`, with the row's attributes."""
        case = case if isinstance(case, Case) else Case(case)
        return Case(case.entries, **{**self.attrs, **case.attrs})

    def key(self, case: Case, dtype: str) -> str:
        """What names the inputs of a completed case: the same key, the same inputs."""
        return f"{self.op_type}|{case!r}|{_domain_name(self.domain)}|{dtype}"


@dataclasses.dataclass
class Inputs:
    """The inputs of a case at a dtype.

    Attributes:
      args: one array for each input of the signature, a list of them for a list input.
      flat: the same as one flat list.
      names: for each of the flat ones, the name of its input.
      dtypes: for each of the flat ones, its `DType`.
      attrs: the attributes that are given explicitly, types as `DType`.
    """

    args: list[Any]
    flat: list[np.ndarray]
    names: list[str]
    dtypes: list[DType]
    attrs: dict[str, Any]

    def checksum(self) -> int:
        """A number that changes when an input does."""
        crc = 0
        for a in self.flat:
            data = repr(a.tolist()).encode() if a.dtype == object else np.ascontiguousarray(a).tobytes()
            crc = zlib.crc32(data, zlib.crc32(f"{a.dtype}{a.shape}".encode(), crc))
        return crc

    def differentiable(self, row: Row) -> list[int]:
        """The positions in `flat` of what is differentiated."""
        return [i for i, (n, t) in enumerate(zip(self.names, self.dtypes, strict=True))
                if t.is_differentiable and (row.wrt is None or n in row.wrt)]


def _domain_name(domain: Any) -> str:
    if isinstance(domain, dict):
        return str({k: _domain_name(v) for k, v in domain.items()})
    return domain.__name__ if callable(domain) else str(domain)


def generator(*key: Any) -> np.random.Generator:
    """A generator seeded by the text of `key`, the same on every machine."""
    digest = hashlib.sha256("|".join(map(str, key)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))


def main_attr(opdef: OpDef, dtype: str) -> str | None:
    """The type attribute that a row's dtype is for: the first one of the inputs that allows it."""
    for arg in opdef.inputs:
        attr = arg.type_attr or arg.list_attr
        if attr and as_dtype(dtype) in opdef.allowed[attr]:
            return attr
    return next((a.type_attr for a in opdef.outputs if a.type_attr and not opdef.inputs), None)


def row_dtypes(row: Row) -> Sequence[str]:
    """The dtypes to run the row with; an op whose types are fixed runs with one, whatever it is."""
    if len(row.dtypes) > 1 and not all(main_attr(row.opdef, t) for t in row.dtypes):
        raise ValueError(f"{row.op_type} does not allow all of {row.dtypes}")
    return row.dtypes


def draw(row: Row, case: Case, dtype: str) -> Inputs:
    """Draws the inputs of a case.

    Args:
      row: the row.
      case: one of its cases, completed with the row's attributes.
      dtype: the name of the dtype of the main type attribute.
    """
    opdef = row.opdef
    main = main_attr(opdef, dtype)
    own = as_dtype(dtype)
    attrs = {k: _type_attr(opdef, k, v, own) for k, v in case.attrs.items()}
    bound: dict[str, DType] = {k: v for k, v in attrs.items() if isinstance(v, DType)}
    if main and main not in bound:
        bound[main] = own
    if len(case.entries) != len(opdef.inputs):
        raise ValueError(f"{row.op_type}: {case} has {len(case.entries)} entries for the inputs of {opdef.signature}")
    args: list[Any] = []
    flat: list[np.ndarray] = []
    names: list[str] = []
    types: list[DType] = []
    for i, (arg, entry) in enumerate(zip(opdef.inputs, case.entries, strict=True)):
        entries = entry.entries if isinstance(entry, L) else (entry,)
        group = []
        for j, e in enumerate(entries):
            rng = generator(row.key(case, dtype), i, j)
            array, kind = _draw_one(row, opdef, arg, e, bound, own, rng)
            group.append(array)
            names.append(arg.name)
            types.append(kind)
        flat.extend(group)
        args.append(group if isinstance(entry, L) else group[0])
        if isinstance(entry, L) and arg.number_attr:
            attrs.setdefault(arg.number_attr, len(group))
        if arg.list_attr:
            attrs.setdefault(arg.list_attr, tuple(types[len(types) - len(group) :]))
    return Inputs(args, flat, names, types, attrs)


def declarations(row: Row, inputs: Inputs) -> Iterator[tuple[list[int], dict[int, Shape]]]:
    """What a graph may know of a case's inputs: everything, less one dimension, less a rank, ...

    Yields: the positions of the inputs that are placeholders (the others are constants), and
      the shapes to declare for some of them instead of their own. At first those inputs whose
      values inference looks at are constants; then they are placeholders too.
    """
    seen = {row.opdef.inputs[k].name for k in row.opdef.seen}
    everything = list(range(len(inputs.flat)))
    shown = [k for k in everything if inputs.names[k] not in seen]
    for fed in (shown, everything) if shown != everything else (everything,):
        yield fed, {}
        shapes = {i: inputs.flat[i].shape for i in fed}
        for i, shape in shapes.items():
            for d in range(len(shape)):
                yield fed, {i: shape[:d] + (None,) + shape[d + 1 :]}
        yield fed, {i: (None,) * len(s) for i, s in shapes.items()}
        for i in fed:
            yield fed, {i: None}
        yield fed, dict.fromkeys(fed)


def _type_attr(opdef: OpDef, name: str, value: Any, own: DType) -> Any:
    if name not in opdef.allowed:
        return value
    if isinstance(value, (list, tuple)):
        return tuple(_type_attr(opdef, name, v, own) for v in value)
    return own if value == "T" else as_dtype(value)


def _draw_one(row: Row, opdef: OpDef, arg: Arg, entry: Any, bound: dict[str, DType], own: DType,
              rng: np.random.Generator) -> tuple[np.ndarray, DType]:
    wanted = arg.dtype or bound.get(arg.type_attr or "")
    if isinstance(entry, V):
        if entry.dtype is not None:
            wanted = as_dtype(entry.dtype)
        if wanted is None or (wanted.is_integer and isinstance(entry.value, np.ndarray)):
            array = make_array(entry.value)
            kind = as_dtype(array.dtype)
        else:
            kind = wanted
            array = make_array(entry.value, kind) if kind.kind == "o" else np.asarray(entry.value).astype(kind.np_dtype)
    else:
        random = entry if isinstance(entry, R) else R(entry)
        kind = as_dtype(random.dtype) if random.dtype else wanted or _default_type(opdef, arg, own)
        domain = random.domain or row.domain
        if isinstance(domain, dict):
            domain = domain.get(arg.name, domain.get("", (-2.0, 2.0)))
        array = sample(rng, random.shape, kind, domain)
    if arg.type_attr and not (isinstance(entry, (V, R)) and entry.dtype):
        bound.setdefault(arg.type_attr, kind)
    return array, kind


def _default_type(opdef: OpDef, arg: Arg, own: DType) -> DType:
    allowed = opdef.allowed.get(arg.type_attr or "", dtypes.ANY)
    if own in allowed:
        return own
    return dtypes.int32 if dtypes.int32 in allowed else min(allowed, key=int)


def sample(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType, domain: Any) -> np.ndarray:
    """Random values in a domain; floats lie on a grid, so that every machine draws the same."""
    if callable(domain):
        return np.asarray(domain(rng, shape, dtype)).astype(dtype.np_dtype)
    low, high = domain
    if dtype.is_bool:
        return rng.random(shape) < 0.5
    if dtype.is_integer:
        low = max(low, 0) if dtype.is_unsigned else low
        return rng.integers(int(np.ceil(low)), int(np.floor(high)) + 1, shape).astype(dtype.np_dtype)
    if dtype.is_complex:
        parts = [_on_grid(rng, shape, low, high) for _ in range(2)]
        return (parts[0] + 1j * parts[1]).astype(dtype.np_dtype)
    if dtype.is_floating:
        return _on_grid(rng, shape, low, high).astype(dtype.np_dtype)
    raise TypeError(f"a random input cannot be of dtype {dtype.name}; give a literal, V(...)")


def _on_grid(rng: np.random.Generator, shape: tuple[int, ...], low: float, high: float) -> np.ndarray:
    return np.round(rng.uniform(low, high, shape) * 65536) / 65536


def distinct(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """A domain: values at least 0.1 apart, for ops that compare them (max, sort, pooling)."""
    n = int(np.prod(shape))
    return ((rng.permutation(n) - n / 2) * 0.125 + 0.0625).reshape(shape)


def nonzero(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """A domain: values of either sign, at least 0.5 away from zero."""
    sign = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    if dtype.is_complex:
        return sign * _on_grid(rng, shape, 0.5, 2.0) + 1j * _on_grid(rng, shape, -2.0, 2.0)
    values = _on_grid(rng, shape, 0.5, 2.0) if not dtype.is_integer else rng.integers(1, 5, shape)
    return np.abs(sign * values) if dtype.is_unsigned else sign * values


Domain = Callable[[np.random.Generator, tuple[int, ...], DType], np.ndarray]
