"""TensorFlow's random numbers of data sets: the order of `shuffle`, and data sets of numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.ir.attribute_limits import whole
from graphgrad.ops.random.philox import Stream, host_blocks
from graphgrad.ops.random.seeds import get_seed

_BLOCKS = 64  # at once


def seeds_of(seed: Any) -> tuple[int, int] | None:
    """Returns the two seeds of a data set; None if it has none."""
    first, second = get_seed(None if seed is None else whole(seed))
    if first is None and second is None:
        return None
    pair = int(first or 0), int(second or 0)
    return pair if any(pair) else (0, 2**31 - 1)


def numbers(seeds: tuple[int, int] | None) -> Iterator[int]:
    """Draws random numbers of 32 bits without end, from two seeds, or from the system's entropy."""
    if seeds is None:
        seeds = int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little")
    stream = Stream(seeds[0] % 2**64, 0, seeds[1] % 2**64)
    start = 0
    while True:
        words = host_blocks(stream, np.arange(start, start + _BLOCKS, dtype=np.uint64))
        yield from np.stack(words, 1).ravel().tolist()
        start += _BLOCKS


def shuffled(elements: Iterator[Any], size: int, draw: Iterator[int]) -> Iterator[Any]:
    """Draws each element from a buffer of the next ones.

    Args:
      elements: the elements.
      size: the size of the buffer.
      draw: random numbers.
    """
    buffer: list[Any] = [None] * size
    start = end = 0  # counted without end: the position in the buffer is the remainder
    over = False
    while True:
        while not over and end - start < size:
            try:
                buffer[end % size] = next(elements)
                end += 1
            except StopIteration:
                over = True
        if start == end:
            return
        at = (start + next(draw) % (end - start)) % size
        found, buffer[at] = buffer[at], buffer[start % size]
        buffer[start % size] = None
        start += 1
        yield found
