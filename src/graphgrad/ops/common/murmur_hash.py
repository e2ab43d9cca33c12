"""MurmurHash64A, by which TensorFlow places strings in buckets.

Reference: MurmurHash64A (Appleby, 2008).
"""

from __future__ import annotations

_ALL = 2**64 - 1


def _mixed(v: int) -> int:
    v &= _ALL
    return v ^ v >> 47


def murmur(s: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """Computes MurmurHash64A of some bytes."""
    m = 0xC6A4A7935BD1E995
    h = seed ^ len(s) * m & _ALL
    whole = len(s) // 8 * 8
    for at in range(0, whole, 8):
        k = _mixed(int.from_bytes(s[at : at + 8], "little") * m) * m & _ALL
        h = (h ^ k) * m & _ALL
    if len(s) > whole:
        h = (h ^ int.from_bytes(s[whole:], "little")) * m & _ALL
    return _mixed(_mixed(h) * m)
