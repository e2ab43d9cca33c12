"""Hessians by substitution: fewer products, the same entries."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.gradients.sparsity.colouring import Entries
from graphgrad.gradients.sparsity.substitution import substitution
from graphgrad.gradients.sparsity.two_sided import star_colours


def _entries(mask):
    return Entries(*np.nonzero(mask), mask.shape)


def grid(n, reach):
    """The adjacency of an n x n grid; `reach` says which differences are neighbours."""
    places = np.array(list(itertools.product(range(n), repeat=2)))
    differences = np.abs(places[:, None] - places[None])
    return differences.sum(2) <= 1 if reach == 5 else differences.max(2) <= 1


def random(seed, n=40, share=0.06):
    """A symmetric pattern with a diagonal."""
    mask = np.random.default_rng(seed).random((n, n)) < share
    return mask | mask.T | np.eye(n, dtype=bool)


def _is_acyclic(mask, colours):
    """Checks the definition: neighbours differ, and no cycle has two colours only."""
    off = mask & ~np.eye(len(mask), dtype=bool)
    if any(colours[i] == colours[j] for i, j in zip(*np.nonzero(off), strict=True)):
        return False
    for c, d in itertools.combinations(range(max(colours) + 1), 2):
        chosen = [v for v in range(len(mask)) if colours[v] in (c, d)]
        part = off[np.ix_(chosen, chosen)]
        while part.any():  # vertices of degree one and zero go
            alive = part.sum(1) > 1
            if (~alive & part.any(1)).sum() == 0:
                return False
            part = part * (alive[:, None] & alive[None]) if alive.any() else part * False
    return True


@pytest.mark.parametrize("mask", [*(random(s) for s in range(8)), grid(6, 5), grid(6, 9), np.eye(5) > 0])
def test_entries_follow(mask):
    """Products with the colours give back a random symmetric matrix."""
    entries = _entries(mask)
    found = substitution(entries)
    assert found is not None
    assert _is_acyclic(mask, found.colours)
    values = np.random.default_rng(1).normal(size=mask.shape) * mask
    values += values.T
    products = np.stack([values[found.colours == c].sum(0) for c in range(found.colours.max() + 1)]).ravel()
    sums = np.bincount(found.sums, products[found.places] * found.signs)
    np.testing.assert_allclose(sums[found.of_entries], values[entries.rows, entries.columns], atol=1e-12)


@pytest.mark.parametrize(("mask", "star", "acyclic"), [(grid(8, 5), 5, 4), (grid(8, 9), 9, 6)])
def test_fewer_products(mask, star, acyclic):
    entries = _entries(mask)
    found = substitution(entries)
    assert found is not None
    assert found.colours.max() + 1 <= acyclic < star_colours(entries, (8, 8)).max() + 1 <= star


@pytest.mark.parametrize(("shape", "reach", "colours"), [((9, 7), 5, 3), ((12, 12), 9, 5), ((4, 5, 6), 7, 4)])
def test_lattices(shape, reach, colours):
    """Grids of nearest neighbours have d + 1 colours: fewer would have too few edges between two of them."""
    places = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), 1)
    apart = np.abs(places[:, None] - places[None])
    mask = apart.max(2) <= 1 if reach == 9 else apart.sum(2) <= 1
    found = substitution(_entries(mask), shape)
    assert found is not None and found.colours.max() + 1 == colours and _is_acyclic(mask, list(found.colours))


def test_long_sums_are_not_taken():
    """A path of two colours would make sums over half of it."""
    assert substitution(_entries(sum(np.eye(2000, k=k) for k in (-1, 0, 1)) > 0)) is None


def _chain(x, half):
    return tf.add_n([tf.reduce_sum(tf.sin(x[k:] * x[:-k]) * (k + 0.5)) for k in range(1, half + 1)])


@pytest.mark.parametrize(("size", "half"), [(500, 5), (300, 1)])
def test_bands(size, half):
    """With 2 h bands an acyclic colouring has h + 1 colours (Gebremedhin et al. 2009); long sums lose no digits."""
    with tf.Graph().as_default() as graph, HostSession() as session:
        x = tf.placeholder(tf.float64, [size])
        y = _chain(x, half)
        (sparse,) = tf.hessians(y, x, sparse="substitution")
        assert [op.outputs[0].shape[0] for op in graph.get_operations() if op.type == "VectorizedMap"] == [half + 1]
        found, dense = session.run([sparse, tf.hessians(y, x)[0]], {x: np.random.default_rng(0).normal(size=size)})
    np.testing.assert_allclose(found.to_scipy().toarray(), dense, atol=1e-14 * np.abs(dense).max())


@pytest.mark.parametrize("seed", range(2))
def test_hessians(seed):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 12, (14, 2))
    with tf.Graph().as_default(), HostSession() as session:
        x = tf.placeholder(tf.float64, [12])
        y = tf.reduce_sum(tf.sin(tf.gather(x, pairs[:, 0])) * tf.exp(tf.gather(x, pairs[:, 1]))) + tf.reduce_sum(x**2)
        found = session.run([tf.hessians(y, x, sparse="substitution")[0], tf.hessian(y, x, sparse="substitution"),
                             tf.hessians(y, x)[0]], {x: rng.normal(size=12)})
        for sparse in found[:2]:
            np.testing.assert_allclose(sparse.to_scipy().toarray(), found[2], atol=1e-10)
        slope = tf.gradients(tf.hessians(y, x, sparse="substitution")[0].values, x)[0]
        other = tf.gradients(tf.hessians(y, x, sparse=True)[0].values, x)[0]
        np.testing.assert_allclose(*session.run([slope, other], {x: np.ones(12)}), atol=1e-10)


def test_errors():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float64, [3])
        with pytest.raises(ValueError, match="sparse='substitution' is not known to tf.jacobian"):
            tf.jacobian(x * x, x, sparse="substitution")
        with pytest.raises(ValueError, match="sparse='stars' is not known to tf.hessians"):
            tf.hessians(x * x, x, sparse="stars")
