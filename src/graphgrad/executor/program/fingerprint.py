"""Fingerprints: the canonical form of a cluster, independent of names and positions.

Two clusters with equal fingerprints compile to the same program, so repeated layers and time steps are compiled once. A
fingerprint is text of op types, attributes and wiring; slots are numbered in order of appearance. The shapes of
inputs are not part of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from graphgrad.ir.dtypes import DType
from graphgrad.ir.shape import TensorShape

from .interpreter import Body, Instruction

if TYPE_CHECKING:
    from .plan_types import Cluster

_PACKAGE = __name__.partition(".")[0]
# The packages with kernels and lowering; they import no others.
PARTS = ("system", "ir", "ops", "executor",
         "extras/image", "extras/io", "extras/ragged", "extras/signal", "extras/sparse", "extras/strings")
_PORTABLE = tuple(f"{_PACKAGE}.{part.replace('/', '.')}." for part in PARTS)


class Unspeakable(Exception):
    """An attribute that has no canonical text, such as a function."""


def token(value: Any) -> Any:
    """Returns a hashable key for an attribute, equal for equal values, whose `repr` describes it.

    Raises: Unspeakable for user-defined objects.
    """
    kind = type(value)
    if kind in (int, bool, str, bytes, type(None)):
        return value
    if kind is float:
        return value.hex()
    if kind is DType:
        return "dtype", value.name
    if kind is tuple or kind is list:
        return tuple([token(v) for v in value])
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype == object:
            return "objects", array.shape, tuple(token(v) for v in array.ravel().tolist())
        content = array.tobytes()
        if len(content) > 64:
            import hashlib

            content = hashlib.sha256(content).digest()
        return array.dtype.str, array.shape, content
    if isinstance(value, TensorShape):
        return "shape", value._dims
    if kind is complex:
        return "complex", value.real.hex(), value.imag.hex()
    if isinstance(value, dict):
        return tuple(sorted((k, token(v)) for k, v in value.items()))
    if isinstance(value, slice):
        return "slice", value.start, value.stop, value.step
    raise Unspeakable(repr(kind))


class Form:
    """The fingerprint of a cluster.

    Attributes:
      text: the canonical text.
      portable: whether the text means the same in other processes.
    """

    def __init__(self, cluster: Cluster):
        self._numbers: dict[int, int] = {}
        self._rows = {row: i for i, row in enumerate(cluster.rows)}
        self.portable = True
        parts = [self._instruction(i) for i in cluster.program]
        number = self._number
        donated = [number(s) for s in cluster.ins if s in cluster.donated]
        packed = [[number(s) for s in cluster.packed[whole]] for whole in cluster.outs if whole in cluster.packed]
        unpacked = [[(number(s), shape) for s, shape in cluster.unpacked[whole]]
                    for whole in cluster.ins if whole in cluster.unpacked]
        wires = [[number(s) for s in slots] for slots in (cluster.ins, cluster.shapes, cluster.known, cluster.outs)]
        guarded = [n for n, i in enumerate(cluster.program) if i.guarded]
        self.text = repr((parts, packed, unpacked, wires, donated, guarded, len(self._rows)))
        if (mesh := cluster.on_mesh) is not None:
            lie = [[str(mesh.layouts.get(s)) for s in slots] for slots in (cluster.ins, cluster.outs)]
            self.text += repr((mesh.device, lie))

    def _number(self, slot: int) -> int:
        return self._numbers.setdefault(slot, len(self._numbers)) if slot >= 0 else -1

    def _instruction(self, instruction: Instruction) -> Any:
        number = self._number
        op = instruction.op
        if not (op.opdef.kernel.__module__ or "").startswith(_PORTABLE):
            self.portable = False
        return (op.type if self.portable else (op.type, id(op.opdef)), self._attributes(instruction),
                [number(s) for s in instruction.ins], [number(s) for s in instruction.outs],
                [(i, number(t.slot), number(t.out)) for i, t in instruction.refs.items()],
                [(number(t.slot), number(t.out)) for t in instruction.touched],
                [t.dtype.name for t in op.outputs], instruction.foldable,
                None if instruction.rng is None else self._rows[instruction.rng],
                [(name, self._body(body)) for name, body in instruction.bodies.items()])

    def _attributes(self, instruction: Instruction) -> Any:
        attrs: dict[str, Any] = {k: v for k, v in instruction.attrs.items() if k not in instruction.bodies}
        opdef = instruction.op.opdef
        if opdef.has_lists:  # the number of values of each argument
            attrs.update((k, instruction.op.attrs[k]) for a in opdef.inputs
                         if (k := a.number_attr or a.list_attr) is not None)
        if instruction.rng is not None:  # seeds are given at run time
            attrs = {k: v for k, v in attrs.items() if k not in ("seed", "seed2")}
        try:
            return token(attrs)
        except Unspeakable:
            self.portable = False
            return sorted((k, id(v)) for k, v in attrs.items())

    def _body(self, body: Body) -> Any:
        outer, self._numbers = self._numbers, {}
        try:
            number = self._number
            return ([self._instruction(i) for i in body.program],
                    [None if s is None else number(s) for s in body.ins], [number(s) for s in body.outs],
                    [(number(a), number(b)) for a, b in body.state])
        finally:
            self._numbers = outer


def form_of(cluster: Cluster) -> Form:
    """Returns the fingerprint of a cluster of a finished plan; computed once."""
    if cluster.form is None:
        cluster.form = Form(cluster)
    return cluster.form


def symbol(instruction: Instruction) -> Any:
    """Returns the symbol of an instruction, apart from its wiring; equal in repeated layers."""
    op = instruction.op
    attributes: Any = ()
    try:
        if instruction.attrs:
            attributes = token({k: v for k, v in instruction.attrs.items() if k not in ("seed", "seed2")})
    except Unspeakable:
        attributes = id(op)
    return op.opdef, attributes, tuple([t._spec for t in op.outputs]), tuple([t._spec for t in op.inputs])


def digest(*parts: Iterable[Any] | str) -> str:
    """Hashes a fingerprint together with all else that affects compilation."""
    import hashlib

    text = hashlib.sha256()
    for part in parts:
        text.update(repr(part).encode())
        text.update(b"\0")
    return text.hexdigest()
