"""Sampled softmax and NCE losses, and their samplers."""

from __future__ import annotations

import collections
import functools
import math
import operator

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, int64
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.shape_values import join, part, shape_of
from graphgrad.ops.random import philox
from graphgrad.ops.random.seeds import seed_attrs, start

from .cross_entropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from .embedding import embedding_lookup_v1

_FLAGS = ("stateful", "random", "host")
_SET_ASIDE = 512  # blocks that a run reserves for each number it draws


# -- samplers --------------------------------------------------------------------------


class _Words:
    """The 32-bit words of a stream, one after the other."""

    def __init__(self, stream):
        self.stream = stream
        self.block = 0
        self.words = []

    def next(self):
        """Returns the next word as an int."""
        if not self.words:
            index = np.arange(self.block, self.block + 64, dtype=np.uint64)
            self.words = np.stack(philox.host_blocks(self.stream, index), 1).reshape(-1).tolist()[::-1]
            self.block += 64
        return self.words.pop()

    def double(self):
        """Draws a number from [0, 1): 52 bits of two words."""
        high = self.next() & 0xFFFFF
        return (high << 32 | self.next()) / 2**52

    def below(self, n):
        """Draws an integer from [0, n) uniformly."""
        while True:
            value = self.next() | self.next() << 32
            if n & (n - 1) == 0:
                return value & (n - 1)
            if value >= (2**64 - 1) % n + 1:
                return value % n


class _Uniform:
    """A sampler that draws every class with the same probability."""

    def __init__(self, range_max):
        self.range_max = range_max

    def draw(self, words):
        """Draws a class."""
        return words.below(self.range_max)

    def probability(self, classes):
        """Returns the probabilities of some classes."""
        return np.full(classes.shape, 1 / self.range_max)


class _LogUniform:
    """A sampler that draws class k with probability log((k + 2) / (k + 1)) / log(range_max + 1)."""

    def __init__(self, range_max):
        self.range_max = range_max
        self.log_range = math.log1p(range_max)

    def draw(self, words):
        """Draws a class."""
        return (int(math.exp(words.double() * self.log_range)) - 1) % self.range_max

    def probability(self, classes):
        """Returns the probabilities of some classes."""
        return np.log((classes + 2.0) / (classes + 1.0)) / self.log_range


def _expected(p, n, tries):
    """Returns the expected count of classes of probability p in n draws, or in distinct ones that took `tries`."""
    p = np.asarray(p, np.float32)
    return (p * n if tries == n else -np.expm1(tries * np.log1p(-p))).astype(np.float32)


def _sample(sampler, rng, name, true_classes, num_sampled, unique, range_max, seed, seed2):
    if unique and num_sampled > range_max:
        raise Complaint(f"Sampler's range is too small: {num_sampled} distinct classes out of {range_max}",
                        "sample fewer classes, or with unique=False")
    stream = getattr(rng, "stream", None) or start(np, name, rng, seed, seed2, num_sampled * _SET_ASIDE)
    words = _Words(stream)
    distribution = sampler(range_max)
    drawn, tries = [], 0
    seen = set()
    while len(drawn) < num_sampled:
        tries += 1
        value = distribution.draw(words)
        if unique and value in seen:
            continue
        seen.add(value)
        drawn.append(value)
    drawn = np.asarray(drawn, np.int64)
    counts = [_expected(distribution.probability(c), num_sampled, tries) for c in (np.asarray(true_classes), drawn)]
    return drawn, *counts


def _sample_shape(true_classes, num_true, num_sampled):
    rows, each = with_rank(true_classes, 2, "true_classes")
    if each is not None and each != num_true:
        raise Complaint(f"true_classes must have {num_true} columns but has {each}",
                        "give num_true classes in each row")
    return [(num_sampled,), (rows, num_true), (num_sampled,)]


_SIGNATURE = ("true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, "
              "sampled_expected_count: float32")


@op("LogUniformCandidateSampler", _SIGNATURE, flags=_FLAGS, shape=_sample_shape)
def log_uniform_op(xp, true_classes, *, num_true, num_sampled, unique, range_max, seed=0, seed2=0, rng=0):
    """Draws classes with about the frequencies of words that are sorted by frequency."""
    return _sample(_LogUniform, rng, "LogUniformCandidateSampler", true_classes, num_sampled, unique, range_max, seed,
                   seed2)


log_uniform_op.grad(NOT_DIFFERENTIABLE)


@op("UniformCandidateSampler", _SIGNATURE, flags=_FLAGS, shape=_sample_shape)
def uniform_op(xp, true_classes, *, num_true, num_sampled, unique, range_max, seed=0, seed2=0, rng=0):
    """Draws classes with the same probability."""
    return _sample(_Uniform, rng, "UniformCandidateSampler", true_classes, num_sampled, unique, range_max, seed, seed2)


uniform_op.grad(NOT_DIFFERENTIABLE)


@op("ComputeAccidentalHits", "true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, "
    "weights: float32", flags=("host",))
def accidental_hits_op(xp, true_classes, sampled_candidates, *, num_true, seed=0, seed2=0):
    """Finds sampled classes that equal a true one: rows, positions among the samples, and very negative weights."""
    true_classes, sampled = np.asarray(true_classes), np.asarray(sampled_candidates)
    place = {c: i for i, c in enumerate(sampled.tolist())}
    rows, _ = np.indices(true_classes.shape)
    hits = np.isin(true_classes, sampled)
    ids = np.asarray([place[c] for c in true_classes[hits].tolist()], np.int64)
    lowest = np.finfo(np.float32).min
    return rows[hits].astype(np.int32), ids, np.full(len(ids), lowest, np.float32)


@accidental_hits_op.shape
def _accidental_hits_shape(true_classes, sampled_candidates):
    with_rank(true_classes, 2, "true_classes")
    with_rank(sampled_candidates, 1, "sampled_candidates")
    return [(None,)] * 3


accidental_hits_op.grad(NOT_DIFFERENTIABLE)


def _draw(op_type, true_classes, num_true, num_sampled, unique, range_max, seed, name, **more):
    true_classes = convert_to_tensor(true_classes, int64, name="true_classes")
    if range_max is not None:
        more["range_max"] = operator.index(range_max)
    drawn = getattr(raw, op_type)(true_classes, num_true=operator.index(num_true),
                                  num_sampled=operator.index(num_sampled),
                                  unique=bool(unique), name=name, **more, **seed_attrs(seed))
    return _results(op_type)(*drawn)


@functools.cache
def _results(op_type):
    """Returns the class of named tuples that a sampler returns."""
    return collections.namedtuple(op_type, ["sampled_candidates", "true_expected_count", "sampled_expected_count"])


def log_uniform_candidate_sampler(true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool,
                                  range_max: int, seed: int | None = None,
                                  name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Draws classes with probability log((k + 2) / (k + 1)) / log(range_max + 1).

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
    Reference: TensorFlow 2.21 LogUniformCandidateSampler.

    >>> sess.run(tf.nn.log_uniform_candidate_sampler([[0]], 1, 3, True, 100, seed=5)[0])
    array([ 0, 10, 24])
    """
    return _draw("LogUniformCandidateSampler", true_classes, num_true, num_sampled, unique, range_max, seed, name)


def uniform_candidate_sampler(true_classes: TensorLike, num_true: int, num_sampled: int, unique: bool, range_max: int,
                              seed: int | None = None, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Draws classes with the same probability.

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
    Reference: TensorFlow 2.21 UniformCandidateSampler.

    >>> sess.run(tf.nn.uniform_candidate_sampler([[0]], 1, 3, True, 100, seed=5)[0])
    array([35,  8, 16])
    """
    return _draw("UniformCandidateSampler", true_classes, num_true, num_sampled, unique, range_max, seed, name)


def compute_accidental_hits(true_classes: TensorLike, sampled_candidates: TensorLike, num_true: int,
                            seed: int | None = None, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Finds sampled classes that equal a true one.

    Args:
      true_classes: (N, num_true), int64.
      sampled_candidates: (S), int64.
      num_true: the number of true classes of a row.
      seed: accepted as TensorFlow does; not used.
      name: a name for the operation.
    Returns: (indices, ids, weights): rows, positions among the candidates, and the lowest float32.
    Raises: ValueError for other ranks.
    Gradient: none.
    Reference: TensorFlow 2.21 ComputeAccidentalHits.

    >>> sess.run(tf.nn.compute_accidental_hits(np.array([[3], [7]]), np.array([7, 1]), 1)[:2])
    (array([1], dtype=int32), array([0]))
    """
    return raw.ComputeAccidentalHits(true_classes, sampled_candidates, num_true=whole(num_true), name=name)


# -- losses ----------------------------------------------------------------------------


def _sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                    remove_accidental_hits, partition_strategy, name, seed=None):
    """Computes logits and labels of the true classes and of a sample of the others."""
    with name_scope(name, "compute_sampled_logits"):
        labels = convert_to_tensor(labels)
        if labels.dtype is not int64:
            labels = raw.Cast(labels, DstT=int64)
        flat = raw.Reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(raw.Reshape(labels, [-1, num_true]), num_true, num_sampled,
                                                           True, num_classes, seed)
        sampled, true_count, sampled_count = (raw.StopGradient(v) for v in sampled_values)
        if sampled.dtype is not int64:
            sampled = raw.Cast(sampled, DstT=int64)
        inputs = convert_to_tensor(inputs)
        ids = raw.ConcatV2([flat, sampled], 0)
        rows = embedding_lookup_v1(weights, ids, partition_strategy)
        offsets = embedding_lookup_v1(biases, ids, partition_strategy)
        n = raw.Size(flat) if not isinstance(shape_of(flat), np.ndarray) else int(shape_of(flat)[0])
        true_rows, other_rows = _split(rows, n)
        true_offsets, other_offsets = _split(offsets, n)
        logits = raw.AddV2(raw.MatMul(inputs, other_rows, transpose_b=True), other_offsets)
        width = part(shape_of(rows), 1, 2)
        each = raw.Mul(raw.ExpandDims(inputs, 1), raw.Reshape(true_rows, join([-1, num_true], width)))
        true_logits = raw.AddV2(raw.Sum(each, np.asarray([2], np.int32)), raw.Reshape(true_offsets, [-1, num_true]))
        if remove_accidental_hits:
            same = raw.Any(raw.Equal(raw.ExpandDims(raw.Reshape(labels, [-1, num_true]), 2), sampled), [1])
            logits = raw.AddV2(logits, raw.Mul(raw.Cast(same, DstT=logits.dtype), float(np.finfo(np.float32).min)))
        true_logits = raw.Sub(true_logits, _log(true_count, logits.dtype))
        logits = raw.Sub(logits, _log(sampled_count, logits.dtype))
        share = raw.RealDiv(raw.OnesLike(true_logits), float(num_true))
        return (raw.ConcatV2([true_logits, logits], 1), raw.ConcatV2([share, raw.ZerosLike(logits)], 1))


def _log(counts, dtype):
    logs = raw.Log(counts)
    return logs if dtype is float32 else raw.Cast(logs, DstT=dtype)


def _split(t, n):
    """Returns the first n rows, and the others."""
    zeros, ones = np.asarray([0], np.int32), np.asarray([1], np.int32)
    at = np.asarray([n], np.int32) if isinstance(n, int) else raw.Reshape(n, [1])
    return raw.StridedSlice(t, zeros, at, ones, begin_mask=1), raw.StridedSlice(t, at, zeros, ones, end_mask=1)


def nce_loss_v1(weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: int,
                num_classes: TensorLike, num_true: int = 1, sampled_values: TensorLike = None,
                remove_accidental_hits: bool = False, partition_strategy: str = "mod",
                name: str | None = "nce_loss") -> Tensor:
    """Computes the noise-contrastive loss, which separates the true class from sampled classes.

    Args:
      weights: (num_classes, D), a tensor or variable, or a list of pieces.
      biases: (num_classes).
      labels: (N, num_true), integers.
      inputs: (N, D).
      num_sampled: the number of classes to draw for the batch.
      num_classes: the number of classes.
      num_true: the number of true classes of a row.
      sampled_values: what a sampler returned; by default drawn log-uniformly.
      remove_accidental_hits: whether sampled classes that equal a true one are ignored.
      partition_strategy: how a list of pieces divides the classes, as in `embedding_lookup`.
      name: a name for the scope of the operations.
    Returns: (N).
    Raises: ValueError if the shapes are incompatible.
    Gradient: IndexedSlices for weights and biases; dense for inputs.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.nce_loss`; Gutmann and Hyvarinen 2010.

    >>> loss = tf.nn.nce_loss(np.eye(4), np.zeros(4), [[1]], np.ones((1, 4)), 2, 4)
    >>> sess.run(loss).shape
    (1,)
    """
    logits, labels = _sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                                     sampled_values, remove_accidental_hits, partition_strategy, name)
    losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="sampled_losses")
    return raw.Sum(losses, np.asarray([1], np.int32))


def nce_loss(weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: int,
             num_classes: TensorLike, num_true: int = 1, sampled_values: TensorLike = None,
             remove_accidental_hits: bool = False, name: str | None = "nce_loss") -> Tensor:
    """Computes the noise-contrastive loss, which separates the true class from sampled classes.

    Args:
      weights: (num_classes, D), a tensor or variable, or a list of pieces of adjacent classes.
      biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values: as in TensorFlow 1's.
      remove_accidental_hits: whether sampled classes that equal a true one are ignored.
      name: a name for the scope of the operations.
    Returns: (N).
    Raises: ValueError if the shapes are incompatible.
    Gradient: IndexedSlices for weights and biases; dense for inputs.
    Reference: TensorFlow 2.21 `tf.nn.nce_loss`.
    """
    return nce_loss_v1(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                       remove_accidental_hits, "div", name)


def sampled_softmax_loss_v1(weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike,
                            num_sampled: int, num_classes: TensorLike, num_true: int = 1,
                            sampled_values: TensorLike = None, remove_accidental_hits: bool = True,
                            partition_strategy: str = "mod", name: str | None = "sampled_softmax_loss",
                            seed: int | None = None) -> Tensor:
    """Computes the softmax cross entropy over the true class and sampled classes.

    Args:
      weights: (num_classes, D), a tensor or variable, or a list of pieces.
      biases: (num_classes).
      labels: (N, num_true), integers.
      inputs: (N, D).
      num_sampled: the number of classes to draw for the batch.
      num_classes: the number of classes.
      num_true: the number of true classes of a row.
      sampled_values: what a sampler returned; by default drawn log-uniformly.
      remove_accidental_hits: whether sampled classes that equal a true one are ignored.
      partition_strategy: how a list of pieces divides the classes, as in `embedding_lookup`.
      name: a name for the scope of the operations.
      seed: an integer, or None.
    Returns: (N).
    Raises: ValueError if the shapes are incompatible.
    Gradient: IndexedSlices for weights and biases; dense for inputs.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.sampled_softmax_loss`; Jean et al. 2015.

    >>> loss = tf.nn.sampled_softmax_loss(np.eye(4), np.zeros(4), [[1]], np.ones((1, 4)), 2, 4)
    >>> sess.run(loss).shape
    (1,)
    """
    logits, labels = _sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                                     sampled_values, remove_accidental_hits, partition_strategy, name, seed)
    return softmax_cross_entropy_with_logits(raw.StopGradient(labels, name="labels_stop_gradient"), logits)


def sampled_softmax_loss(weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike,
                         num_sampled: int, num_classes: TensorLike, num_true: int = 1,
                         sampled_values: TensorLike = None, remove_accidental_hits: bool = True,
                         seed: int | None = None, name: str | None = "sampled_softmax_loss") -> Tensor:
    """Computes the softmax cross entropy over the true class and sampled classes.

    Args:
      weights: (num_classes, D), a tensor or variable, or a list of pieces of adjacent classes.
      biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values: as in TensorFlow 1's.
      remove_accidental_hits: whether sampled classes that equal a true one are ignored.
      seed: an integer, or None.
      name: a name for the scope of the operations.
    Returns: (N).
    Raises: ValueError if the shapes are incompatible.
    Gradient: IndexedSlices for weights and biases; dense for inputs.
    Reference: TensorFlow 2.21 `tf.nn.sampled_softmax_loss`.
    """
    return sampled_softmax_loss_v1(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                                   remove_accidental_hits, "div", name, seed)
