"""Splits large convolutions along the batch, over several cores.

XLA runs a convolution on a CPU on one thread (jaxlib 0.10; matrix products and elementwise operations use all). So a
large one becomes a separate step, whose batch is split: the same program runs on parts of the batch in several threads.
Results are concatenated, those for filters added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphgrad.executor.program.interpreter import Instruction
from graphgrad.system.cores import CORES

from .threads import pool_of
from .xla import ArraySpec, Device, Program, to_numpy

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

LARGE = 1e8  # multiplications: a smaller convolution is not worth a separate step
UNKNOWN_BATCH = 32  # batch size that planning assumes where it is not known


def is_large(instruction: Instruction) -> bool:
    """Returns whether an instruction is a convolution whose batch is worth splitting."""
    op = instruction.op
    opdef = op.opdef
    split = opdef.batch_split
    if split is None or opdef.work_rule is None or CORES < 2 or op.outputs[0].dtype.name not in ("float32", "float64"):
        return False
    batched = op.inputs[split.inputs[-1]]._spec.shape
    image, shape = split.image_of(op)._spec.shape, split.filter_of(op)._spec.shape
    if image is None or shape is None or batched is None or None in image[1:] or None in shape:
        return False
    if all(n == 1 for n in shape[:-2]):  # a matrix product, which uses all threads
        return False
    return opdef.work_rule(op, UNKNOWN_BATCH) >= LARGE


def parts(batch: int) -> int:
    """Returns the number of equal parts into which a batch is split."""
    return next((k for k in range(min(CORES, batch), 1, -1) if batch % k == 0), 1)


_pool: list[ThreadPoolExecutor] = []


def _threads() -> ThreadPoolExecutor:
    if not _pool:
        _pool.append(pool_of(max(1, CORES - 1), "graphgrad-part"))
    return _pool[0]


class Split:
    """A program that runs on the parts of a batch; called like a `Program`.

    Args:
      device: where it runs.
      program: the program for one part.
      count: the number of parts.
      batched: the positions of the arguments that are split.
      output: the spec of one part's result.
      added: whether the results are added, not concatenated.
    """

    def __init__(self, device: Device, program: Program, count: int, batched: Sequence[int], output: ArraySpec,
                 added: bool):
        self._device = device
        self._program = program
        self._count = count
        self._batched = frozenset(batched)
        self._output = output
        self._added = added
        _threads()

    def __call__(self, buffers: list[Any]) -> list[Any]:
        """Runs all parts and combines the results."""
        views = {i: np.split(to_numpy(buffers[i]), self._count) for i in self._batched}
        length = self._output.shape[0]
        shape = self._output.shape if self._added else (length * self._count, *self._output.shape[1:])
        result = np.empty(shape, self._output.dtype)

        def run(k: int) -> Any:
            args = [self._device.put(views[i][k]) if i in views else b for i, b in enumerate(buffers)]
            value = to_numpy(self._program(args)[0])
            if self._added:
                return value
            result[k * length : (k + 1) * length] = value
            return None

        others = [_threads().submit(run, k) for k in range(1, self._count)]
        try:
            terms = [run(0)]
        finally:
            # The arguments must not be in use any more when this returns or raises.
            terms_of_others = [f.exception() or f.result() for f in others]
        for term in terms_of_others:
            if isinstance(term, BaseException):
                raise term
        if self._added:
            np.copyto(result, terms[0])
            for term in terms_of_others:
                result += term
        return [self._device.put(result)]
