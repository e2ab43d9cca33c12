"""CRC-32C (Castagnoli), the checksum of checkpoints and record files.

The package google-crc32c computes it with the processor's own instruction. Where that is missing, or not compiled,
NumPy does, vectorised. The register after a message, started at 0, is linear in the message: with A the map that
advances a register by one word of zeros, it is the sum of A^(m-i) w_i over the words w_0 ... w_(m-1). So neighbours
are joined pair by pair, (a, b) -> A^n a + b, with one table look-up for each half of the words on the left.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.system.late_imports import load

_POLYNOMIAL = 0x82F63B78  # bits reversed
_CHUNK = 1 << 16  # words joined at a time, so that they stay in the processor's cache


@functools.cache
def _byte_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


def _spread(images: Any) -> Any:
    """Makes the table of a linear map on 16 bits, from the images of the single bits."""
    table = np.zeros(1, np.uint32)
    for image in images:
        table = np.concatenate([table, table ^ image])
    return table


@functools.cache
def _advance(level: int) -> tuple[Any, Any]:
    """Makes the tables, for low and high halves, of advancing a register by 2^level words of zeros."""
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    if level:
        images = _apply(level - 1, _apply(level - 1, bits))
    else:
        table = np.array(_byte_table(), np.uint32)
        images = bits
        for _ in range(4):
            images = table[images & 255] ^ images >> 8
    return _spread(images[:16]), _spread(images[16:])


def _apply(level: int, words: Any) -> Any:
    low, high = _advance(level)
    return np.take(low, words & 0xFFFF) ^ np.take(high, words >> 16)


def _register(words: Any) -> Any:
    """Computes the register after words whose number is a power of two."""
    level = 0
    while len(words) > 1:
        words = _apply(level, words[0::2]) ^ words[1::2]
        level += 1
    return _apply(0, words[0])


def crc32c(data: Any, crc: int = 0) -> int:
    """Computes the CRC-32C of bytes.

    Args:
      data: bytes or another buffer.
      crc: the checksum of preceding data.
    Returns: the checksum of both together.
    Reference: Castagnoli et al. 1993; RFC 3720, appendix B.4.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    return extender()(crc, data if type(data) is bytes else np.frombuffer(data, np.uint8) if len(data) else b"")


@functools.cache
def extender() -> Callable[[int, Any], int]:
    """Returns the fastest function there is of a checksum and of bytes, or an array, that follow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns if it is not compiled
        try:
            library = load("google_crc32c")
        except ImportError:
            return by_numpy
    return library.extend if library.implementation == "c" else by_numpy


def by_numpy(crc: int, data: Any) -> int:
    """Computes the checksum of data without the library.

    Args:
      crc: the checksum of what precedes.
      data: bytes or another buffer.
    Returns: the checksum of both together.
    """
    data = memoryview(data).cast("B")
    register = crc ^ 0xFFFFFFFF
    if len(data) < 256:
        table = _byte_table()
        for byte in data:
            register = table[(register ^ byte) & 255] ^ register >> 8
        return register ^ 0xFFFFFFFF
    # Leading zeros change nothing, once the register's start has been added to the first four bytes.
    first = len(data) % (4 * _CHUNK)
    if first < 4:
        first += 4 * _CHUNK
    size = 4 << ((first + 3) // 4 - 1).bit_length()
    padded = np.zeros(size, np.uint8)
    padded[size - first :] = np.frombuffer(data[:first], np.uint8)
    padded[size - first :][:4] ^= np.array([register], "<u4").view(np.uint8)
    carry = _register(padded.view("<u4"))
    for start in range(first, len(data), 4 * _CHUNK):
        words = np.frombuffer(data[start : start + 4 * _CHUNK], "<u4").copy()
        words[0] ^= carry
        carry = _register(words)
    return int(carry) ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    """Masks a checksum for storage (rotates and adds), so that checksums of data with checksums stay good."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
