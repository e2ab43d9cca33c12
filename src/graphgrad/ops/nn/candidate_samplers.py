"""Candidate samplers: fixed and learned unigram, all classes."""

from __future__ import annotations

import collections
import functools
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.files.atomic_files import system_errors
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.random import philox
from graphgrad.ops.random.seeds import start

from .sampled_losses import _FLAGS, _SET_ASIDE, _SIGNATURE, _draw, _sample, _sample_shape


@op("AllCandidateSampler", _SIGNATURE, flags=("stateful", "host"), shape=_sample_shape)
def all_op(xp, true_classes, *, num_true, num_sampled, unique, seed=0, seed2=0):
    """Returns all classes, in order."""
    counts = np.ones(np.shape(true_classes), np.float32), np.ones(num_sampled, np.float32)
    return np.arange(num_sampled, dtype=np.int64), *counts


all_op.grad(NOT_DIFFERENTIABLE)


def _below(words, n):
    """Draws an integer from [0, n), from one 32-bit word at a time."""
    while True:
        value = words.next()
        if n & (n - 1) == 0:
            return value & (n - 1)
        if value >= (2**32 - 1) % n + 1:
            return value % n


class _Alias:
    """Classes of given weights, by Walker's method: one of two classes in a bucket (Walker, 1977)."""

    def __init__(self, weights):
        n = len(weights)
        total = float(np.sum(np.asarray(weights, np.float64)))
        self.shares = np.asarray(weights, np.float64) / total
        left = [w * n / total for w in np.asarray(weights, np.float64).tolist()]
        low, high = [], []
        for i, p in enumerate(left):
            (low if p < 1 else high).append(i)
        self.other = [-1] * n
        while high and low:
            few, many = low.pop(), high.pop()
            self.other[few] = many
            left[many] -= 1 - left[few]
            (low if left[many] < 1 else high).append(many)
        for i in high + low:  # the remainder is a rounding error
            left[i] = 1.0
        self.own = np.asarray(left, np.float32)

    def draw(self, words):
        """Draws a class."""
        r = np.float32((words.next() & 0x7FFFFF) / 2**23)
        i = _below(words, len(self.other))
        return i if r < self.own[i] else self.other[i]

    def probability(self, classes):
        """Returns the probabilities of some classes."""
        return self.shares[classes]


def _weights(vocab_file, unigrams, distortion, num_reserved_ids, num_shards, shard):
    """Returns the weights of the classes of a shard; reserved ones have none."""
    if bool(vocab_file) == bool(unigrams):
        raise Complaint("Must provide either vocab_file or unigrams, not both or none", "give one of them")
    if vocab_file:
        with system_errors(vocab_file), open(vocab_file) as f:
            unigrams = [float(line.rstrip().rsplit(",", 1)[-1]) for line in f if line.strip()]
    powers = [float(np.float32(w) ** np.float32(distortion)) for w in unigrams]
    return ([0.0] * num_reserved_ids + powers)[shard::num_shards]


@op("FixedUnigramCandidateSampler", _SIGNATURE, flags=_FLAGS, shape=_sample_shape)
def fixed_unigram_op(xp, true_classes, *, num_true, num_sampled, unique, range_max, vocab_file="", distortion=1.0,
                     num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=0, seed2=0, rng=0):
    """Draws classes with given frequencies."""
    weights = _weights(vocab_file, unigrams, distortion, num_reserved_ids, num_shards, shard)
    if len(weights) != range_max:
        raise Complaint(f"range_max is {range_max}, but there are {len(weights)} frequencies",
                        f"range_max={len(weights)}")
    possible = int(np.count_nonzero(weights))
    if unique and num_sampled > possible:
        raise Complaint(f"Sampler's range is too small: {num_sampled} distinct classes out of {possible} that have a "
                        "frequency", "sample fewer classes, or with unique=False")
    if np.any((np.asarray(true_classes) < 0) | (np.asarray(true_classes) >= range_max)):
        raise Complaint(f"`true_classes` out of range [0, {range_max})", "give classes of the range")
    return _sample(functools.partial(_given, _Alias(weights)), rng, "FixedUnigramCandidateSampler", true_classes,
                   num_sampled, unique, range_max, seed, seed2)


def _given(distribution, range_max):
    return distribution


fixed_unigram_op.grad(NOT_DIFFERENTIABLE)


class _Learned:
    """A sampler that draws classes as often as they were true ones in earlier runs, plus one."""

    def __init__(self, weights):
        self.sums = np.cumsum(weights)
        self.weights = weights

    def draw(self, words):
        """Draws a class."""
        return int(np.searchsorted(self.sums, _below(words, int(self.sums[-1])), side="right"))

    def probability(self, classes):
        """Returns the probabilities of some classes."""
        return self.weights[classes] / self.sums[-1]


# Learned state of samplers: (seeds, range, run) -> weights, for the next run of each.
_learned: collections.OrderedDict[tuple[int, ...], np.ndarray] = collections.OrderedDict()
_REMEMBERED = 1024


@op("LearnedUnigramCandidateSampler", _SIGNATURE, flags=_FLAGS, shape=_sample_shape)
def learned_unigram_op(xp, true_classes, *, num_true, num_sampled, unique, range_max, seed=0, seed2=0, rng=0):
    """Draws classes with the frequencies of true classes in earlier runs."""
    stream = start(np, "LearnedUnigramCandidateSampler", rng, seed, seed2, num_sampled * _SET_ASIDE)
    key = (stream.key, stream.high, num_sampled, range_max)
    run = stream.low // max(num_sampled * _SET_ASIDE, 1)
    weights = _learned.pop((*key, run), None)
    if weights is None or run == 0:
        weights = np.ones(range_max, np.int64)
    drawn = _sample(functools.partial(_given, _Learned(weights)), _Run(stream), "", true_classes, num_sampled, unique,
                    range_max, 0, 0)
    after = weights.copy()
    np.add.at(after, np.asarray(true_classes).reshape(-1), 1)
    _learned[(*key, run + 1)] = after
    if len(_learned) > _REMEMBERED:
        _learned.popitem(last=False)
    return drawn


class _Run:
    """Replaces the count of a run whose stream is known."""

    def __init__(self, stream: philox.Stream):
        self.stream = stream


learned_unigram_op.grad(NOT_DIFFERENTIABLE)


def all_candidate_sampler(true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool,
                          seed: int | None = None, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Returns all classes: for losses that are computed in full.

    Args:
      true_classes: (N, num_true), int64.
      num_true: the number of true classes of a row.
      num_sampled: the number of classes.
      unique: accepted as TensorFlow does; all of them are different.
      seed: an integer, or None; not used.
      name: a name for the operation.
    Returns: (sampled_candidates, true_expected_count, sampled_expected_count): int64 (num_sampled), and ones: float32
      (N, num_true) and float32 (num_sampled).
    Raises: ValueError for true classes of another shape.
    Gradient: none.
    Reference: TensorFlow 2.21 AllCandidateSampler.

    >>> sess.run(tf.nn.all_candidate_sampler([[0]], 1, 3, True)[0])
    array([0, 1, 2])
    """
    return _draw("AllCandidateSampler", true_classes, num_true, num_sampled, unique, None, seed, name)


def fixed_unigram_candidate_sampler(true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool,
                                    range_max: int, vocab_file: str = "", distortion: float = 1.0,
                                    num_reserved_ids: int = 0, num_shards: int = 1, shard: int = 0,
                                    unigrams: Any = (), seed: int | None = None,
                                    name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Draws classes with given frequencies.

    Args:
      true_classes: (N, num_true), int64.
      num_true: the number of true classes of a row.
      num_sampled: the number of classes to draw.
      unique: whether all of them are different.
      range_max: the number of classes.
      vocab_file: a file with one line for each class, whose last column (after a comma) is its frequency.
      distortion: the power that frequencies are raised to.
      num_reserved_ids: the number of first classes that are never drawn, and have no frequency.
      num_shards, shard: the number of parts of the classes, and the one to draw from.
      unigrams: the frequencies, in place of a file.
      seed: an integer, or None.
      name: a name for the operation.
    Returns: (sampled_candidates, true_expected_count, sampled_expected_count): int64 (num_sampled), float32
      (N, num_true) and float32 (num_sampled).
    Raises: InvalidArgumentError at run time if there are not range_max frequencies.
    Gradient: none.
    Reference: TensorFlow 2.21 FixedUnigramCandidateSampler; Walker (1977).

    >>> sess.run(tf.nn.fixed_unigram_candidate_sampler([[0]], 1, 3, False, 3, unigrams=[0.0, 0.0, 1.0])[0])
    array([2, 2, 2])
    """
    return _draw("FixedUnigramCandidateSampler", true_classes, num_true, num_sampled, unique, range_max, seed, name,
                 vocab_file=vocab_file, distortion=distortion, num_reserved_ids=num_reserved_ids,
                 num_shards=num_shards, shard=shard, unigrams=tuple(unigrams))


def learned_unigram_candidate_sampler(true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool,
                                      range_max: int, seed: int | None = None,
                                      name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Draws classes with the frequencies that true classes had in earlier runs.

    Args:
      true_classes: (N, num_true), int64.
      num_true: the number of true classes of a row.
      num_sampled: the number of classes to draw.
      unique: whether all of them are different.
      range_max: the number of classes.
      seed: an integer, or None.
      name: a name for the operation.
    Returns: (sampled_candidates, true_expected_count, sampled_expected_count): int64 (num_sampled), float32
      (N, num_true) and float32 (num_sampled).
    Raises: InvalidArgumentError at run time if there are not so many different classes.
    Gradient: none.
    Reference: TensorFlow 2.21 LearnedUnigramCandidateSampler.

    >>> sess.run(tf.nn.learned_unigram_candidate_sampler([[0]], 1, 3, True, 3, seed=5)[1])
    array([[1.]], dtype=float32)
    """
    return _draw("LearnedUnigramCandidateSampler", true_classes, num_true, num_sampled, unique, range_max, seed, name)
