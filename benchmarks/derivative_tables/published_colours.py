"""How many products patterns take that publications give a number of colours for: nothing is run."""

from __future__ import annotations

import numpy as np

from benchmarks.derivative_tables.colours import _acyclic, _arrowhead, _banded, _entries, _grid, _star

TITLE = "Published numbers of colours"
TEXT = """Patterns that can be written as formulas, with a published number of colours, and the number here.
*Columns*: of a Jacobian, by products J v alone; no number can be below the longest row. *Star*: of a Hessian, each
entry read off; *acyclic*: by substitution, a dash where its sums would be long and `sparse="substitution"` takes the
star colouring. Two colours of an acyclic colouring are a forest, so that (colours - 1) x vertices is more than the
edges: that is the least number for *edges*. 9 points, 30 x 30 is gr_30_30 of the Harwell-Boeing collection; of other
matrices in the tables of WCJ and of ColPack's authors we have neither file nor formula. WCJ: Gebremedhin, Manne and
Pothen, "What color is your Jacobian?" (2005), figures 4.1 and 6.1. ECSH: Gebremedhin, Tarafdar, Pothen and Walther,
"Efficient computation of sparse Hessians using coloring and automatic differentiation" (2009): figure 1, and
2 [p / 2] + 1 (star) and [p / 2] + 1 (acyclic) for p bands beside the diagonal. FRR: Fertin, Raspaud and Reed, "Star
coloring of graphs" (2004), for grids. SDT: what the tests of SparseDiffTools.jl expect of its `matrix_colors`, for
n = 10."""
SYSTEMS = {"graphgrad": "graphgrad"}

_FIGURE_41 = "110000 111011 011100 001101 010010 010101"
_FIGURE_61 = ("1100001000 1110100000 0111010000 0011000001 0100110100 0010110010 1000001100 0000101110 0000010111 "
              "0001000011")


def _of_rows(text):
    return np.array([[c == "1" for c in row] for row in text.split()])


def _between(n, below, above):
    """A matrix whose entries lie at most so many places below and above the diagonal."""
    apart = np.subtract.outer(np.arange(n), np.arange(n))
    return (apart <= below) & (-apart <= above)


def _blocks(heights, widths, bands, inner=None):
    """Blocks at most so many places off the diagonal of blocks, full or with bands of their own."""
    of_row, of_column = (np.repeat(np.arange(len(sizes)), sizes) for sizes in (heights, widths))
    mask = _between(len(heights), *bands)[of_row[:, None], of_column[None]]
    if inner is not None:
        at_row, at_column = (np.concatenate([np.arange(n) for n in sizes]) for sizes in (heights, widths))
        apart = np.subtract.outer(at_row, at_column)
        mask &= (apart <= inner[0]) & (-apart <= inner[1])
    return mask


_UP, _DOWN = (1, 2, 3, 4), (4, 3, 2, 1)
# Pattern -> how, what was published where, and the mask.
CASES = {
    "dense, 10": ("columns", 10, "SDT", lambda: np.ones((10, 10), bool)),
    "lower triangle, 10": ("columns", 10, "SDT", lambda: _between(10, 10, 0)),
    "diagonal, 10": ("columns", 1, "SDT", lambda: _between(10, 0, 0)),
    "bidiagonal, 10": ("columns", 2, "SDT", lambda: _between(10, 0, 1)),
    "tridiagonal, 10": ("columns", 3, "SDT", lambda: _between(10, 1, 1)),
    "banded, 1 below and 2 above, 10": ("columns", 4, "SDT", lambda: _between(10, 1, 2)),
    "blocks 1 to 4 by 4 to 1, one below": ("columns", 7, "SDT", lambda: _blocks(_UP, _DOWN, (1, 0))),
    "blocks 4 to 1 by 1 to 4, one on either side": ("columns", 9, "SDT", lambda: _blocks(_DOWN, _UP, (1, 1))),
    "the first blocks, tridiagonal inside": ("columns", 6, "SDT", lambda: _blocks(_UP, _DOWN, (1, 0), (1, 1))),
    "the second blocks, bidiagonal inside": ("columns", 6, "SDT", lambda: _blocks(_DOWN, _UP, (1, 1), (1, 0))),
    "2 x 2 blocks of 4, tridiagonal inside": ("columns", 6, "SDT",
                                              lambda: _blocks((4, 4), (4, 4), (1, 1), (1, 1))),
    "figure 4.1": ("star", 3, "WCJ", lambda: _of_rows(_FIGURE_41)),
    "figure 1": ("star", 5, "ECSH", lambda: _of_rows(_FIGURE_61)),
    "10 bands, 500": ("star", 11, "ECSH", lambda: _banded(500, 5)),
    "20 bands, 500": ("star", 21, "ECSH", lambda: _banded(500, 10)),
    "figure 6.1": ("acyclic", 3, "WCJ", lambda: _of_rows(_FIGURE_61)),
    "10 bands, 500, substituted": ("acyclic", 6, "ECSH", lambda: _banded(500, 5)),
    "20 bands, 500, substituted": ("acyclic", 11, "ECSH", lambda: _banded(500, 10)),
    "arrowhead, 500": ("columns", 500, "longest row", lambda: _arrowhead(500)),
    "5 points, 30 x 30": ("columns", 5, "longest row", lambda: _grid((30, 30))),
    "9 points, 30 x 30": ("columns", 9, "longest row", lambda: _grid((30, 30), True)),
    "7 points, 8 x 8 x 8": ("columns", 7, "longest row", lambda: _grid((8, 8, 8))),
    "5 points, 30 x 30, a Hessian": ("star", 5, "FRR", lambda: _grid((30, 30))),
    "5 points, 30 x 30, substituted": ("acyclic", 3, "edges", lambda: _grid((30, 30))),
    "9 points, 30 x 30, substituted": ("acyclic", 5, "edges", lambda: _grid((30, 30), True)),
    "7 points, 8 x 8 x 8, substituted": ("acyclic", 4, "edges", lambda: _grid((8, 8, 8))),
}


def grid_of(case):
    """The shape in which the unknowns of a case lie; () for none."""
    return (30, 30) if "30 x 30" in case else (8, 8, 8) if "8 x 8 x 8" in case else ()


def number_of_colours(case):
    """The number of products here; None for no substitution."""
    from graphgrad.gradients.sparsity.colouring import column_colours

    kind, _, _, build = CASES[case]
    mask = build()
    grid = grid_of(case)
    if kind == "columns":
        return int(column_colours(_entries(mask), grid).max()) + 1
    return _star(mask, grid or (len(mask),)) if kind == "star" else _acyclic(mask, grid)


def prepare(system, case):
    """The number of products for a case; what is run does nothing."""
    return (lambda: None), {"products": number_of_colours(case), "bytes": 0, "value": 0.0}


def columns(results):
    """The heading, and a row for each case."""
    rows = []
    for case, (kind, published, where, _) in CASES.items():
        found = results.get((case, "graphgrad"), {}).get("products")
        rows.append([case, kind, f"{published} ({where})", "–" if found is None else str(found)])
    return ["pattern", "colouring", "published", "graphgrad"], rows
