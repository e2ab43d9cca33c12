"""Operations that a library within XLA:CPU computes, each as a program of its own.

jaxlib contains oneDNN, whose convolutions are two to five times as fast as XLA's, but XLA does not use them by itself:
a program has to call them by name. Such calls have two limits, which make them steps of their own. XLA cannot write
them to disk (jaxlib 0.10), so each process compiles them again, which takes milliseconds, without importing JAX. And
what they mean is no stable interface: they are used with the versions they have been tried with, and elsewhere XLA's
own convolutions are.
"""

from __future__ import annotations

import functools
import os
import platform
import sys
from collections.abc import Sequence
from typing import Any

from graphgrad.executor.program.interpreter import Instruction
from graphgrad.system.cores import CORES
from graphgrad.system.late_imports import load

from . import xla
from .batch_split import UNKNOWN_BATCH

TRIED = ("0.10.0", "0.10.1", "0.10.2", "0.11.0", "0.11.1", "0.11.2", "0.12.0", "0.12.0.1")  # versions of jaxlib


@functools.cache
def available() -> bool:
    """Returns whether the library can be called; `GRAPHGRAD_ONEDNN=0` in the environment forbids it."""
    return (os.environ.get("GRAPHGRAD_ONEDNN") != "0" and sys.platform == "linux" and platform.machine() == "x86_64"
            and xla.only_cpu() and load("jaxlib").__version__ in TRIED)


def takes(instruction: Instruction) -> bool:
    """Returns whether the library is to compute an instruction, which then is a cluster of its own."""
    library = instruction.op.opdef.library
    return library is not None and available() and library.takes(instruction.op)


_EVEN = 1e8  # multiplications for each core from which on a call keeps all of them busy


def leaves_cores_idle(instruction: Instruction) -> bool:
    """Returns whether the library's call for an instruction is better run beside others: a core waits for the other.

    Args:
      instruction: one that `takes` accepts.
    """
    work = instruction.op.opdef.work_rule
    return CORES > 1 and work is not None and work(instruction.op, UNKNOWN_BATCH) < _EVEN * CORES


def program(instruction: Instruction, arguments: Sequence[Any], sizes: Any) -> tuple[bytes, xla.ArraySpec] | None:
    """Returns the program for an instruction.

    Args:
      instruction: one that `takes` accepts.
      arguments: the specs of its inputs, without the one that holds the shape of the result.
      sizes: that shape, or None.
    Returns: StableHLO, and the spec of the result; None if XLA is to compute it after all.
    """
    library, dtype = instruction.op.opdef.library, arguments[0].dtype
    assert library is not None
    if any(spec.dtype != dtype for spec in arguments):
        return None
    made = library.program(tuple([spec.shape for spec in arguments]), sizes, instruction.attrs)
    return None if made is None else (made[0].encode(), xla.ArraySpec(made[1], dtype))
