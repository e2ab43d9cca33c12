"""The ops beneath `tf.random.Generator`: a generator's state in a variable."""

from __future__ import annotations

import math
import os

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import FLOATING, INDEX, float32, int64, uint32, uint64
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op

from . import philox, threefry
from .seeds import known_sizes, sizes
from .stateless import _full_int, _normal, _uniform, _uniform_int
from .stateless_functions import _COUNTS, successes

_THREEFRY = 2


def _skipped(xp, state, blocks, algorithm):
    """Returns the state of a generator, advanced by some blocks; its last element is the key."""
    words = xp.asarray(state).astype(xp.uint64)
    with np.errstate(over="ignore"):
        low = words[:1] + blocks
    if algorithm == _THREEFRY:
        after = [low, words[1:]]
    else:
        after = [low, words[1:2] + (low < words[:1]).astype(xp.uint64), words[2:]]
    return xp.concatenate(after).astype(xp.int64)


@op("RngReadAndSkip", "resource: resource, alg: int32, delta: uint64 -> value: int64", host=("alg",),
    flags=("stateful",))
def rng_read_and_skip_op(xp, ref, alg, delta):
    """Returns the state of a generator, padded with 0, and advances it by 256 blocks for each number."""
    before = xp.asarray(ref.value)
    with np.errstate(over="ignore"):
        blocks = xp.asarray(delta).astype(xp.uint64).reshape(1) * xp.uint64(256)
    ref.value = _skipped(xp, before, blocks, int(alg))
    return before if before.shape[0] == 3 else xp.concatenate([before, xp.zeros(1, xp.int64)])


@rng_read_and_skip_op.shape
def _rng_read_and_skip_shape(resource, alg, delta):
    if delta is not None and delta != ():
        raise Complaint(f"delta must be a scalar, not of shape {delta}", "give one number")
    return (3,)


rng_read_and_skip_op.grad(NOT_DIFFERENTIABLE)


def _stream(xp, state, algorithm):
    words = xp.asarray(state).astype(xp.uint64)
    if algorithm == _THREEFRY:
        return threefry.WordStream(words[1], words[0])
    if xp is np:
        return philox.Stream(int(words[2]), int(words[0]), int(words[1]))
    return philox.Stream(words[2], words[0], words[1])


@op("RngSkip", "resource: resource, algorithm: int64, delta: int64 ->", host=("algorithm",), flags=("stateful",))
def rng_skip_op(xp, ref, algorithm, delta):
    """Advances the state of a generator by 256 blocks for each number."""
    with np.errstate(over="ignore"):
        blocks = xp.asarray(delta).astype(xp.uint64).reshape(1) * xp.uint64(256)
    ref.value = _skipped(xp, ref.value, blocks, int(algorithm))


rng_skip_op.grad(NOT_DIFFERENTIABLE)


def _stateful(name, inputs, draw, **allowed):
    """Declares an op that draws from the state of a generator: `draw(xp, stream, shape, dtype, *rest)`."""

    def kernel(xp, ref, algorithm, shape, *rest, dtype):
        shape, state, kind = sizes(shape), ref.value, int(algorithm)
        ref.value = _skipped(xp, state, xp.uint64(math.prod(shape) * 256 % 2**64), kind)
        return draw(xp, _stream(xp, state, kind), shape, dtype, *rest)

    def rule(resource, algorithm, shape, *rest):
        return known_sizes(shape)

    kernel.__doc__ = f"Draws the numbers of {name} from the state of a generator."
    if not inputs:
        kernel.__kwdefaults__ = {"dtype": next(iter(allowed.pop("default")))}
    signature = f"resource: resource, algorithm: int64, shape: shape_dtype{inputs} -> output: dtype"
    made = op(name, signature, shape_dtype=INDEX, host=("algorithm", "shape"), flags=("stateful",), shape=rule,
              **allowed)(kernel)
    made.grad(NOT_DIFFERENTIABLE)


_WIDE = frozenset({*INDEX, uint32, uint64})
_stateful("StatefulUniform", "", _uniform, dtype=FLOATING, default=[float32])
_stateful("StatefulStandardNormalV2", "", _normal, dtype=FLOATING, default=[float32])
_stateful("StatefulTruncatedNormal", "", philox.truncated_normal, dtype=FLOATING, default=[float32])
_stateful("StatefulUniformFullInt", "", _full_int, dtype=_WIDE, default=[uint64])
_stateful("StatefulUniformInt", ", minval: dtype, maxval: dtype", _uniform_int, dtype=INDEX)


@op("StatefulRandomBinomial", "resource: resource, algorithm: int64, shape: S, counts: T, probs: T -> output: dtype",
    S=INDEX, T=_COUNTS, dtype=_COUNTS, host=("shape",), flags=("stateful", "host"))
def stateful_binomial_op(xp, ref, algorithm, shape, counts, probs, *, dtype=int64):
    """Draws numbers of successes from the state of a generator."""
    if int(algorithm) == _THREEFRY:
        raise Complaint(f"Unsupported algorithm id: {int(algorithm)}", "use a generator with alg='philox'")
    shape = sizes(shape)
    state = np.asarray(ref.value)
    words = [int(w) % 2**64 for w in state]
    batches = np.broadcast(counts, probs).size
    each = math.prod(shape) // batches if batches else 0
    ref.value = _skipped(np, state, np.uint64(batches * 50 * (each + 3) * 256), 1)
    return successes(philox.Stream(words[2], words[0], words[1]), shape, counts, probs, dtype)


@stateful_binomial_op.shape
def _stateful_binomial_shape(resource, algorithm, shape, counts, probs):
    return known_sizes(shape)


stateful_binomial_op.grad(NOT_DIFFERENTIABLE)


@op("NonDeterministicInts", "shape: shape_dtype -> output: dtype", shape_dtype=INDEX,
    dtype=_WIDE, host=("shape",), flags=("stateful", "host"), shape=known_sizes)
def non_deterministic_ints_op(xp, shape, *, dtype=int64):
    """Draws integers from the system's entropy."""
    shape, kind = sizes(shape), dtype.np_dtype
    return np.frombuffer(os.urandom(math.prod(shape) * kind.itemsize), kind).reshape(shape)


non_deterministic_ints_op.grad(NOT_DIFFERENTIABLE)
