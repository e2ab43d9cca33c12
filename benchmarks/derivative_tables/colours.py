"""How many products patterns take, beside asdex and CasADi: nothing is run."""

from __future__ import annotations

import itertools

import numpy as np

TITLE = "Colours"
TEXT = """Products that give all entries of a Hessian with this pattern. graphgrad's are those of `sparse=True` (a star
colouring, or one of columns) and of `sparse="substitution"` (an acyclic colouring, where its sums are short), asdex's
of `color_symmetric`, CasADi's of `Sparsity.star_coloring`. A dash: none, or the sums would be long."""
SYSTEMS = {"graphgrad": "graphgrad", "substitution": "graphgrad", "asdex": "peers", "CasADi": "peers"}


def _banded(n, half):
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= half


def _grid(sizes, corners=False):
    places = np.array(list(itertools.product(*map(range, sizes))))
    apart = np.abs(places[:, None] - places[None])
    return apart.max(2) <= 1 if corners else apart.sum(2) <= 1


def _arrowhead(n):
    mask = np.eye(n, dtype=bool)
    mask[0], mask[:, 0] = True, True
    return mask


def _random(n, share):
    mask = np.random.default_rng(0).random((n, n)) < share
    return mask | mask.T | np.eye(n, dtype=bool)


# Patterns, and the shapes in which the unknowns lie, which graphgrad knows.
CASES = {"tridiagonal, 300": (lambda: _banded(300, 1), (300,)), "banded, 7 of 300": (lambda: _banded(300, 3), (300,)),
         "arrowhead, 300": (lambda: _arrowhead(300), (300,)),
         "5 points, 20 x 20": (lambda: _grid((20, 20)), (20, 20)),
         "9 points, 20 x 20": (lambda: _grid((20, 20), True), (20, 20)),
         "7 points, 8 x 8 x 8": (lambda: _grid((8, 8, 8)), (8, 8, 8)),
         "27 points, 8 x 8 x 8": (lambda: _grid((8, 8, 8), True), (8, 8, 8)),
         "random, 400, 1 in 100": (lambda: _random(400, 0.01), (400,)),
         "random, 200, 1 in 20": (lambda: _random(200, 0.05), (200,))}


def prepare(system, case):
    """One system's number of products for a case; what is run does nothing."""
    build, shape = CASES[case]
    mask = build()
    count = {"graphgrad": lambda: _star(mask, shape), "substitution": lambda: _acyclic(mask, shape),
             "asdex": lambda: _asdex(mask), "CasADi": lambda: _casadi(mask)}[system]()
    return (lambda: None), {"products": count, "bytes": 0, "value": float(mask.sum())}


def _entries(mask):
    from graphgrad.gradients.sparsity.colouring import Entries

    return Entries(*np.nonzero(mask), mask.shape)


def _star(mask, shape):
    from graphgrad.gradients.sparsity.compressed import symmetric_plan

    return int(sum(symmetric_plan(_entries(mask), shape).products))


def _acyclic(mask, shape=()):
    from graphgrad.gradients.sparsity.substitution import substitution

    found = substitution(_entries(mask), shape)
    return None if found is None else int(found.colours.max()) + 1


def _asdex(mask):
    import asdex

    rows, columns = np.nonzero(mask)
    pattern = asdex.SparsityPattern.from_coo(rows, columns, mask.shape)
    found = asdex.color_symmetric(pattern)
    return int(np.max(np.asarray(found[0] if isinstance(found, tuple) else found))) + 1


def _casadi(mask):
    import casadi as ca

    rows, columns = np.nonzero(mask)
    return ca.Sparsity.triplet(*mask.shape, rows.tolist(), columns.tolist()).star_coloring().size2()


def columns(results):
    """The heading, and a row for each case."""
    rows = []
    for case in CASES:
        found = [results.get((case, s), {}).get("products") for s in SYSTEMS]
        rows.append([case, *["–" if n is None else str(n) for n in found]])
    return ["pattern", *SYSTEMS], rows
