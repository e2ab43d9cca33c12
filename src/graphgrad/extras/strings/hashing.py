"""Hashes and fingerprints of strings.

References: FarmHash (Google, 2014), its `Fingerprint64`.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.dtypes import ANY
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.murmur_hash import murmur

_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_M = 2**64 - 1


def _get(s: bytes, at: int) -> int:
    value: int = struct.unpack_from("<Q", s, at)[0]
    return value


def _rotate(v: int, n: int) -> int:
    v &= _M
    return v >> n | v << 64 - n & _M


def _mix(v: int) -> int:
    v &= _M
    return v ^ v >> 47


def _pair(u: int, v: int, mul: int) -> int:
    a = _mix(((u ^ v) & _M) * mul)
    return _mix(((v & _M) ^ a) * mul) * mul & _M


def _short(s: bytes) -> int:
    n = len(s)
    mul = _K2 + 2 * n
    if n >= 8:
        a, b = _get(s, 0) + _K2, _get(s, n - 8)
        return _pair(_rotate(b, 37) * mul + a, (_rotate(a, 25) + b) * mul, mul)
    if n >= 4:
        first, last = struct.unpack_from("<I", s)[0], struct.unpack_from("<I", s, n - 4)[0]
        return _pair(n + (first << 3), last, mul)
    if n:
        y, z = s[0] + (s[n >> 1] << 8), n + (s[n - 1] << 2)
        return _mix((y * _K2 & _M) ^ (z * _K0 & _M)) * _K2 & _M
    return _K2


def _medium(s: bytes) -> int:
    n = len(s)
    mul = _K2 + 2 * n
    a, b = _get(s, 0) * (_K1 if n <= 32 else _K2), _get(s, 8)
    c, d = _get(s, n - 8) * mul, _get(s, n - 16) * _K2
    y, z = _rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + _K2, 18) + c
    if n <= 32:
        return _pair(y, z, mul)
    z = _pair(y, z, mul)
    e, f = _get(s, 16) * mul, _get(s, 24)
    g, h = (y + _get(s, n - 32)) * mul, (z + _get(s, n - 24)) * mul
    return _pair(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, mul)


def _weak(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = struct.unpack_from("<4Q", s, at)
    a += w
    b = _rotate(b + a + z, 21)
    c = a
    a += x + y
    return a + z & _M, b + _rotate(a, 44) + c & _M


def farmhash64(s: bytes) -> int:
    """Computes FarmHash's `Fingerprint64` of some bytes."""
    n = len(s)
    if n <= 16:
        return _short(s)
    if n <= 64:
        return _medium(s)
    x, y = 81, 81 * _K1 + 113 & _M
    z = _mix(y * _K2 + 113) * _K2 & _M
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _get(s, 0)
    end = (n - 1) // 64 * 64

    def step(at: int, x: int, y: int, z: int, v: Any, w: Any, mul: int, nine: int) -> Any:
        x = _rotate(x + y + v[0] + _get(s, at + 8), 37) * mul & _M
        y = _rotate(y + v[1] + _get(s, at + 48), 42) * mul & _M
        x ^= w[1] * nine & _M
        y += v[0] * nine + _get(s, at + 40)
        z = _rotate(z + w[0], 33) * mul & _M
        v = _weak(s, at, v[1] * mul, x + w[0])
        w = _weak(s, at + 32, z + w[1], y + _get(s, at + 16))
        return z, y & _M, x, v, w

    for at in range(0, end, 64):
        x, y, z, v, w = step(at, x, y, z, v, w, _K1, 1)
    mul = _K1 + ((z & 0xFF) << 1)
    first = w[0] + (n - 1 & 63)
    v = (v[0] + first & _M, v[1])
    w = (first + v[0] & _M, w[1])
    x, y, z, v, w = step(n - 64, x, y, z, v, w, mul, 9)
    return _pair(_pair(v[0], w[0], mul) + _mix(y) * _K0 + z, _pair(v[1], w[1], mul) + x, mul)


def _declare(name: str, function: Any, argument: str) -> None:
    def kernel(xp, strings, *, num_buckets):
        if num_buckets < 1:
            raise Complaint(f"num_buckets must be at least 1, got {num_buckets}", "give a positive number")
        array = np.asarray(strings)
        values = [function(v) % int(num_buckets) for v in array.reshape(-1).tolist()]
        return np.array(values, np.int64).reshape(array.shape)

    hash_name = function.__doc__.split(" of ")[0].removeprefix("Computes ")
    kernel.__doc__ = f"Computes the bucket of each string, by {hash_name}."
    declared = op(name, f"{argument}: string -> output: int64", flags=("host",), shape=_same)(kernel)
    declared.grad(NOT_DIFFERENTIABLE)


def _same(strings):
    return strings


_declare("StringToHashBucketFast", farmhash64, "input")
_declare("StringToHashBucket", murmur, "string_tensor")


def siphash(s: bytes, k0: int, k1: int) -> int:
    """Computes SipHash-2-4 of some bytes under a key."""
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(n: int) -> None:
        for _ in range(n):
            v[0] = v[0] + v[1] & _M
            v[2] = v[2] + v[3] & _M
            v[1] = _left(v[1], 13) ^ v[0]
            v[3] = _left(v[3], 16) ^ v[2]
            v[0] = _left(v[0], 32)
            v[2] = v[2] + v[1] & _M
            v[0] = v[0] + v[3] & _M
            v[1] = _left(v[1], 17) ^ v[2]
            v[3] = _left(v[3], 21) ^ v[0]
            v[2] = _left(v[2], 32)

    whole = len(s) // 8 * 8
    last = int.from_bytes(s[whole:], "little") | (len(s) & 0xFF) << 56
    for word in (*(_get(s, at) for at in range(0, whole, 8)), last):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _left(x: int, n: int) -> int:
    return (x << n | x >> 64 - n) & _M


@op("StringToHashBucketStrong", "input: string -> output: int64", flags=("host",), shape=_same)
def _strong(xp, strings, *, num_buckets, key):
    """Computes the bucket of each string, by SipHash under a key."""
    if num_buckets < 1:
        raise Complaint(f"num_buckets must be at least 1, got {num_buckets}", "give a positive number")
    if len(key) != 2:
        raise Complaint("Key must have 2 elements", "give two integers")
    array = np.asarray(strings)
    k0, k1 = (int(k) & _M for k in key)
    values = [siphash(v, k0, k1) % int(num_buckets) for v in array.reshape(-1).tolist()]
    return np.array(values, np.int64).reshape(array.shape)


_strong.grad(NOT_DIFFERENTIABLE)


def to_hash_bucket_strong(input: TensorLike, num_buckets: int, key: Any, name: str | None = None) -> Tensor:
    """Sorts strings into buckets by a keyed hash, unpredictable without the key.

    Args:
      input: strings.
      num_buckets: the number of buckets.
      key: two integers.
      name: a name for the operation.
    Returns: int64 in [0, num_buckets), the shape of `input`.
    Raises: InvalidArgumentError if there are no buckets.
    Gradient: none.
    Reference: SipHash (Aumasson and Bernstein, 2012); TensorFlow 2.21 StringToHashBucketStrong.

    >>> sess.run(tf.strings.to_hash_bucket_strong(["Hello", "TF"], 1000, [1, 2]))
    array([274, 201])
    """
    return raw.StringToHashBucketStrong(input, num_buckets=num_buckets, key=tuple(map(whole, key)), name=name)


def to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Sorts strings into buckets by a hash that is the same in every program.

    Args:
      input: strings.
      num_buckets: the number of buckets.
      name: a name for the operation.
    Returns: int64 in [0, num_buckets), the shape of `input`.
    Raises: InvalidArgumentError if there are no buckets.
    Gradient: none.
    Reference: TensorFlow 2.21 StringToHashBucketFast.

    >>> sess.run(tf.strings.to_hash_bucket_fast(["Hello", "TensorFlow"], 3))
    array([0, 2])
    """
    return raw.StringToHashBucketFast(input, num_buckets=num_buckets, name=name)


def to_hash_bucket(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Sorts strings into buckets by an older hash; see `strings.to_hash_bucket_fast`.

    >>> sess.run(tf.strings.to_hash_bucket(["Hello", "a"], 30))
    array([11, 28])
    """
    return raw.StringToHashBucket(input, num_buckets=num_buckets, name=name)


def to_hash_bucket_v1(string_tensor: Any = None, num_buckets: Any = None, name: str | None = None,
                      input: TensorLike = None) -> Tensor:
    """Sorts strings into buckets by an older hash; see `strings.to_hash_bucket_fast`.

    >>> sess.run(tf.string_to_hash_bucket("Hello", 30))
    np.int64(11)
    """
    return to_hash_bucket(string_tensor if input is None else input, num_buckets, name)


@op("Fingerprint", "data: T, method: string -> fingerprint: uint8", T=ANY, flags=("host",))
def fingerprint_op(xp, data, method):
    """Computes FarmHash's fingerprint of each row, as eight bytes."""
    if np.asarray(method).item() != b"farmhash64":
        raise Complaint(f"Unsupported fingerprint method: {np.asarray(method).item()!r}", "method='farmhash64'")
    if data.ndim < 1:
        raise Complaint("`data` should have at least one dimension.", "tf.expand_dims(data, 0)")
    rows = []
    for row in data:
        if data.dtype != object:
            text = np.ascontiguousarray(row).tobytes()
        elif data.ndim == 1:
            text = row
        else:  # a fingerprint of the fingerprints of a row's strings
            text = b"".join(farmhash64(s).to_bytes(8, "little") for s in row.reshape(-1).tolist())
        rows.append(np.frombuffer(farmhash64(text).to_bytes(8, "little"), np.uint8))
    return np.stack(rows) if rows else np.zeros((0, 8), np.uint8)


@fingerprint_op.shape
def _fingerprint_shape(data, method):
    return (None if data is None else data[0], 8)


fingerprint_op.grad(NOT_DIFFERENTIABLE)


def fingerprint(data: TensorLike, method: Any = "farmhash64", name: str | None = None) -> Tensor:
    """Computes a fingerprint of each row of a tensor.

    Args:
      data: (n, ...), any dtype.
      method: "farmhash64".
      name: a name for the operation.
    Returns: (n, 8), uint8.
    Raises: InvalidArgumentError for another method, or a scalar.
    Gradient: none.
    Reference: TensorFlow 2.21 Fingerprint.

    >>> sess.run(tf.fingerprint(["abc"]))
    array([[105, 243, 231, 116, 160, 179, 165,  36]], dtype=uint8)
    """
    return raw.Fingerprint(data, method, name=name)


__all__ = ["farmhash64", "fingerprint", "murmur", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong",
           "to_hash_bucket_v1"]
