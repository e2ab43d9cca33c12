"""Eager mode on large arrays: operations that recur run as compiled programs, where XLA's are quicker than NumPy's.

An operation of one form (op type, attributes, shapes, dtypes, and the values of small signed integer inputs, such as
axes) is NumPy's at first. From its second use on it is a graph of its own, whose runs are `tiers`'s: NumPy does them
until they have taken, by the estimate in the op's record, a share of what compiling takes, while another process
compiles. So the change depends on counts and shapes alone, and a program that repeats itself gets the same bits.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import Any

from graphgrad.executor.backend import forks, xla
from graphgrad.executor.backend.xla import to_numpy
from graphgrad.ir import context
from graphgrad.ir.builder import add_to_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.opdef import OpDef

from . import executable as executables
from . import nonfinite
from .executable import Executable
from .random_positions import RandomPositions

_SMALL = 16  # integer inputs of at most so many elements are part of the form
_MOST = 256  # forms that are kept

_used: dict[Any, Executable | None] = {}  # by form; None after the first use
_lock = threading.Lock()


def run(opdef: OpDef, inputs: Sequence[Any], attrs: dict[str, Any], seconds: float) -> list[Any] | None:
    """Runs an operation on large arrays by its program.

    Args:
      opdef: its record.
      inputs: eager tensors.
      attrs: its explicit attributes.
      seconds: what NumPy takes for it.
    Returns: the values of the outputs; None if the operation is NumPy's, as one is that fails.
    """
    if not _is_allowed():
        return None
    try:
        form = (opdef.name, *[_part_of_form(t) for t in inputs], *attrs.items())
        program = _used.get(form, executables)  # any object that is no program
    except TypeError:  # an attribute that cannot be hashed
        return None
    if program is executables:
        with _lock:
            if len(_used) >= _MOST:
                _used.clear()
            _used[form] = None
        return None
    try:
        if program is None:
            program = _program_of(opdef, inputs, attrs)
            program.takes(seconds)
            _used[form] = program
        return [to_numpy(v) for v in program.run([t._value for t in inputs if not _is_part_of_form(t)])]
    except Exception:  # of whatever kind: the kernel words it
        return None


def _is_allowed() -> bool:
    return executables.is_tiered() and not (nonfinite.state.mode or forks.is_fork) and _on_processor()


_on_processor = functools.cache(xla.only_cpu)


def _is_part_of_form(t: Any) -> bool:
    return t._value.size <= _SMALL and t.dtype.kind == "i"  # not the keys of random numbers


def _part_of_form(t: Any) -> Any:
    return t._spec, t._value.tobytes() if _is_part_of_form(t) else None


def _program_of(opdef: OpDef, inputs: Sequence[Any], attrs: dict[str, Any]) -> Executable:
    graph = FuncGraph(opdef.name, None)
    with context.use(graph):
        feeds = [None if _is_part_of_form(t) else graph.add_input(t.dtype, t._value.shape, "x") for t in inputs]
        tensors = [convert_to_tensor(t._value, t.dtype) if p is None else p
                   for t, p in zip(inputs, feeds, strict=True)]
        op = add_to_graph(graph, opdef, tuple(tensors), dict(attrs), None)
    return Executable(op.outputs, (), [p for p in feeds if p is not None], _no_variable, RandomPositions())


def _no_variable(handle: Any) -> Any:
    raise AssertionError(f"{handle} is no input of an operation on arrays")
