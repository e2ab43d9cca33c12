"""The benchmark's functions run."""

import numpy as np
import pytest

from benchmarks import sparsity
from benchmarks.derivative_tables import colours, published_colours
from graphgrad.gradients.sparsity.colouring import alone, column_colours
from graphgrad.gradients.sparsity.compressed import symmetric_plan
from graphgrad.gradients.sparsity.two_sided import separates_symmetric
from tests.support.effort import long


@pytest.mark.parametrize(("name", "products"), [("brusselator", 8), ("arrowhead", 3), ("banded", 5), ("grid", 9),
                                                ("rosenbrock_gradient", 3)])
def test_cases(name, products):
    found = sparsity.measured(getattr(sparsity, name), 8 if name in ("brusselator", "grid") else 40, steps=1)
    assert sum(found["products"]) == products
    assert sparsity.line(name, found).count("|") == 7


# The fewest products that asdex's `color_symmetric` and CasADi 3.8.2's `star_coloring` take.
PEERS = {"tridiagonal, 300": 3, "banded, 7 of 300": 7, "arrowhead, 300": 2, "5 points, 20 x 20": 5,
         "9 points, 20 x 20": 10, "7 points, 8 x 8 x 8": 9, "27 points, 8 x 8 x 8": 30, "random, 400, 1 in 100": 16,
         "random, 200, 1 in 20": 40}


_LONG = long("grids with fewer neighbours are coloured")


@pytest.mark.parametrize("case", [pytest.param(c, marks=_LONG) if c.startswith(("27", "random, 2")) else c
                                  for c in colours.CASES])
def test_colours(case):
    """Hessians take at most as many products as with peers; by substitution fewer, where it is done."""
    build, shape = colours.CASES[case]
    products = colours._star(build(), shape)
    assert products <= PEERS[case]
    fewer = colours._acyclic(build())
    assert fewer is None or fewer <= products


@pytest.mark.parametrize("case", published_colours.CASES)
def test_published_colours(case):
    """At most as many colours as published; a Hessian's give all of its entries; by substitution too."""
    kind, published, where, build = published_colours.CASES[case]
    mask = build()
    found = published_colours.number_of_colours(case)
    if where == "longest row":
        assert mask.sum(1).max() == published  # so that there cannot be fewer
    if where == "edges":  # any two colours are a forest
        assert np.triu(mask, 1).sum() / len(mask) + 1 > published - 1
    assert found is not None and found <= published
    if kind == "columns":
        entries = colours._entries(mask)
        assert alone(entries, column_colours(entries, published_colours.grid_of(case))).all()
    elif kind == "star":
        assert np.array_equal(mask, mask.T)
        entries = colours._entries(mask)
        grid = published_colours.grid_of(case) or (len(mask),)
        assert separates_symmetric(entries, symmetric_plan(entries, grid).rows)
