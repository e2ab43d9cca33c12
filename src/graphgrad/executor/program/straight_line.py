"""Programs for NumPy in straight lines: a plan that runs often becomes one Python function.

Instructions that `interpreter.execute` calls one after the other, looking up slots and attributes each time, become
lines of Python: what follows from constants is computed once, kernels are traced into calls of NumPy
(`kernel_tracing.py`) or called with their attributes. The numbers are the same to the last bit. If the function raises,
the run is repeated instruction by instruction, which words the error.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from graphgrad.ir import dtypes
from graphgrad.ir.shape import is_fully_defined
from graphgrad.ir.values.variable_store import Cell

from .interpreter import Instruction, execute, is_small
from .kernel_tracing import Line, Listing, Symbol, Untraceable, is_symbol

_BEYOND = frozenset({"host", "python", "waits", "keeps", "handle", "random", "functional"})
_MANY = 3000  # instructions: longer programs take long to write
_SIZED = 1 << 16  # elements of what stands for an array while kernels are traced


class HeldValue:
    """A variable as kernels see it.

    Args:
      value: its value, or what stands for it while a kernel is traced.
      cell: the variable.
    """

    __slots__ = ("value", "cell")

    def __init__(self, value: Any, cell: Cell):
        self.value = value
        self.cell = cell


class StraightLine:
    """A program as one function.

    Attributes:
      function: from the values of `sources` to those of `kept`: arrays, or NumPy's scalars; `text` is its source.
      sources: the slots of what is given.
      kept: the slots of the results.
      fresh: for each result, whether nothing else shares its memory for certain.
      constants: the ids of the arrays that all runs share.
      traced, called: the instructions that became lines, and those whose kernels are called.
    """

    def __init__(self, text: str, function: Any, sources: Sequence[int], kept: Sequence[int], fresh: Sequence[bool],
                 constants: frozenset[int], traced: Sequence[Instruction], called: Sequence[Instruction]):
        self.text = text
        self.function = function
        self.sources = sources
        self.kept = kept
        self.fresh = fresh
        self.constants = constants
        self.traced = traced
        self.called = called


def straighten(program: Sequence[Instruction], sources: Mapping[int, Any], constants: Mapping[int, Any],
               kept: Iterable[int]) -> StraightLine | None:
    """Writes a program as one function; returns None if it cannot be.

    Args:
      program: the instructions, each once.
      sources: the slots that are filled in by the caller, with the spec of what is there.
      constants: slots whose values are the same in all runs.
      kept: the slots of the results.
    """
    if len(program) > _MANY or any(map(_is_beyond, program)):
        return None
    writer = _Writer(sources, constants)
    with np.errstate(all="ignore"):
        for instruction in program:
            writer.add(instruction)
    slots = list(kept)
    return writer.finish(slots) if writer.has(slots) else None


def _is_beyond(ins: Instruction) -> bool:
    opdef = ins.op.opdef
    if opdef.flags & _BEYOND or ins.bodies or ins.rng is not None or ins.device is not None:
        return True
    values = [t for t in (*ins.op.inputs, *ins.op.outputs) if t.dtype is not dtypes.resource]
    return any(t.dtype.kind == "o" for t in values) or any(
        t.cell.dtype.kind == "o" for t in ins.refs.values())


class _Writer:
    """Writes a program.

    Args:
      sources, constants: as for `straighten`.
    """

    def __init__(self, sources: Mapping[int, Any], constants: Mapping[int, Any]):
        self._listing = Listing()
        self._sources = list(sources)
        self._values: dict[int, Any] = dict(constants)  # slot -> a Symbol, or a constant
        given = {slot: self._symbol(spec, f"a{slot}") for slot, spec in sources.items()}
        self._given = list(given.values())
        self._values.update(given)
        self._traced: list[Instruction] = []
        self._called: list[Instruction] = []

    def _symbol(self, spec: Any, name: str, fresh: bool = False) -> Any:
        """Returns what stands for an array of a spec; None if its rank is not known."""
        if spec.shape is None:
            return _Opaque(name)
        known = is_fully_defined(spec.shape) and math.prod(spec.shape) <= _SIZED
        like = np.ones(spec.shape if known else (1,) * len(spec.shape), spec.dtype.np_dtype)
        return Symbol(self._listing, name, like, known, fresh)

    def add(self, ins: Instruction) -> None:
        """Adds an instruction: computed now, traced, or called."""
        inputs = [None if s < 0 else self._values[s] for s in ins.ins]
        if not ins.refs and ins.op.opdef.pure and not any(map(_varies, inputs)) and self._fold(ins, inputs):
            return
        if "sized" in ins.op.opdef.flags or any(isinstance(i, _Opaque) for i in inputs) or not self._trace(ins, inputs):
            self._call(ins, inputs)
            self._called.append(ins)
        else:
            self._traced.append(ins)

    def _fold(self, ins: Instruction, inputs: Sequence[Any]) -> bool:
        """Computes what follows from constants; returns whether it is small and valid."""
        if ins.op.type != "Const" and not is_small(ins.op):
            return False
        env = dict(zip(ins.ins, inputs, strict=True))
        try:
            execute(np, [ins], env, None)  # type: ignore[arg-type]  # only slots are used
        except Exception:  # each run raises it
            return False
        self._values.update((s, env[s]) for s in ins.outs)
        return True

    def _trace(self, ins: Instruction, inputs: list[Any]) -> bool:
        references = {i: HeldValue(self._before(t.slot), t.cell) for i, t in ins.refs.items()}
        if any(isinstance(r.value, _Opaque) for r in references.values()):
            return False
        opdef = ins.op.opdef
        arguments = [references.get(i, v) for i, v in enumerate(inputs)]
        try:
            outputs = opdef.unpack(ins.host_kernel(np, *opdef.pack(arguments, ins.op.attrs), **ins.attrs))
            found = [self._settled(v, t.dtype.np_dtype) for v, t in zip(outputs, ins.op.outputs, strict=True)]
            after = {t.out: self._checked(references[i].value, t.cell.dtype.np_dtype)
                     for i, t in ins.refs.items() if t.out != t.slot}
        except Exception:  # of whatever kind: the run calls the kernel
            return False
        self._values.update(zip(ins.outs, found, strict=True))
        self._values.update(after)
        return True

    def _before(self, slot: int) -> Any:
        return self._values[slot] if slot >= 0 else None

    def _settled(self, value: Any, dtype: Any) -> Any:
        """Returns a kernel's result as a value of the declared dtype."""
        if not is_symbol(value):
            return np.asarray(value, dtype)
        return value if value.dtype == dtype else value.astype(dtype)

    def _checked(self, value: Any, dtype: Any) -> Any:
        if not is_symbol(value) or value.dtype != dtype:
            raise Untraceable
        return value

    # -- calls of kernels --------------------------------------------------------------

    def _call(self, ins: Instruction, inputs: Sequence[Any]) -> None:
        """Adds lines that call a kernel."""
        listing, opdef = self._listing, ins.op.opdef
        uses: list[str] = []
        texts = [self._text(v, uses) for v in inputs]
        references = {}
        for i, touch in ins.refs.items():
            before, cell = self._text(self._before(touch.slot), uses), listing.refer(touch.cell)
            texts[i] = references[i] = listing.line(f"{listing.refer(HeldValue)}({before}, {cell})", uses, True)
            uses.append(texts[i])
        kernel = listing.refer(functools.partial(ins.host_kernel, np, **ins.attrs), "k")
        call = f"{kernel}({', '.join(map(_grouped, opdef.pack(texts, ins.op.attrs)))})"
        names = [listing.new() for _ in ins.outs]
        wanted = [t.dtype.np_dtype for t in ins.op.outputs]
        listing.large.update(names)
        if len(names) == 1 and not opdef.outputs[0].is_list:
            (name,), dtype = names, listing.refer(wanted[0])
            listing.lines.append(Line(f"{name} = {listing.refer(_settle)}({call}, {dtype})", names, uses, True))
        elif names:
            unpacked = f"{listing.refer(_unpacked)}({listing.refer(opdef)}, {call}, {listing.refer(wanted)})"
            listing.lines.append(Line(f"({', '.join(names)},) = {unpacked}", names, uses, True))
        else:
            listing.lines.append(Line(call, (), uses, True))
        for slot, name, t in zip(ins.outs, names, ins.op.outputs, strict=True):
            self._values[slot] = self._symbol(t._spec, name)
        for i, touch in ins.refs.items():
            if touch.out != touch.slot:
                after = listing.line(f"{references[i]}.value", [references[i], *uses])
                self._values[touch.out] = _Opaque(after)

    def _text(self, value: Any, uses: list[str]) -> str:
        if value is None:
            return "None"
        if is_symbol(value) or isinstance(value, _Opaque):
            name: str = value.as_array()
            uses.append(name)
            return name
        return self._listing.refer(value)

    def has(self, slots: list[int]) -> bool:
        """Returns whether slots have values: a variable's handle, which may be fetched, has none."""
        return all(s in self._values for s in slots)

    # -- the function ------------------------------------------------------------------

    def finish(self, kept: list[int]) -> StraightLine:
        """Writes the function that computes the slots `kept`."""
        listing, results = self._listing, [self._values[s] for s in kept]
        texts = [v.name if _varies(v) else listing.refer(v) for v in results]
        names = {v.name for v in results if _varies(v)}
        lines = _with_frees(_needed(listing.lines, names), names, listing.large)
        head = f"def program({', '.join([f'a{s}' for s in self._sources])}):"
        text = "\n    ".join([head, *lines, f"return ({''.join([t + ', ' for t in texts])})"])
        space = dict(listing.names)
        exec(compile(text, "<graphgrad: a program in straight lines>", "exec"), space)
        times = Counter(texts)
        given = {id(v) for v in self._given}
        fresh = [_varies(v) and v.fresh and id(v) not in given and times[t] == 1
                 for v, t in zip(results, texts, strict=True)]
        shared = frozenset(id(v) for v in listing.names.values() if isinstance(v, np.ndarray))
        return StraightLine(text, space["program"], self._sources, kept, fresh, shared, self._traced, self._called)


class _Opaque:
    """An array of unknown rank, or of a shape that only a kernel knows."""

    __slots__ = ("name",)
    fresh = False

    def __init__(self, name: str):
        self.name = name

    def as_array(self) -> str:
        """Returns its name."""
        return self.name


def _varies(value: Any) -> bool:
    return is_symbol(value) or isinstance(value, _Opaque)


def _grouped(text: Any) -> str:
    return f"[{', '.join(text)}]" if isinstance(text, list) else text


def _settle(value: Any, dtype: Any) -> Any:
    return value if type(value) is np.ndarray and value.dtype is dtype else np.asarray(value, dtype)


def _unpacked(opdef: Any, result: Any, wanted: Sequence[Any]) -> list[Any]:
    return [np.asarray(v, d) for v, d in zip(opdef.unpack(result), wanted, strict=True)]


def _needed(lines: Sequence[Line], wanted: Iterable[str]) -> list[Line]:
    """Drops lines whose results nobody uses."""
    used, found = set(wanted), []
    for line in reversed(lines):
        if line.needed or not used.isdisjoint(line.gives):
            used.update(line.uses)
            found.append(line)
    return found[::-1]


def _with_frees(lines: Sequence[Line], kept: set[str], large: set[str]) -> list[str]:
    """Returns the texts of lines, with others that free large values after their last reader."""
    seen, texts = set(kept), []
    for line in reversed(lines):
        last = [n for n in dict.fromkeys((*line.uses, *line.gives)) if n in large and n not in seen]
        seen.update(last)
        texts += [f"{n} = None" for n in last] + [line.text]
    return texts[::-1]
