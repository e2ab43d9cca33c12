"""The benchmark's functions run."""

import pytest

from benchmarks import sparsity


@pytest.mark.parametrize(("name", "products"), [("brusselator", 8), ("arrowhead", 3), ("banded", 5), ("grid", 9),
                                                ("rosenbrock_gradient", 3)])
def test_cases(name, products):
    found = sparsity.measured(getattr(sparsity, name), 8 if name in ("brusselator", "grid") else 40, steps=1)
    assert sum(found["products"]) == products
    assert sparsity.line(name, found).count("|") == 7
