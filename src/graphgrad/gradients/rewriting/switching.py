"""`optimize_derivatives`, which switches the rewriting of nested derivatives on, and `derivatives_report`."""

from __future__ import annotations

from typing import Any

from graphgrad.gradients.core.backprop import switch_optimizing
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.graph import Graph

from .calls import derivatives_of
from .reports import Report


class optimize_derivatives:  # called like a function
    """Makes nested calls of `gradients` be computed by Taylor coefficients, where that is exact and pays.

    A program that differentiates u by its points x, and the result by x again, as physics-informed networks do, is left
    as it is until something computed from these derivatives, such as the loss, is differentiated. Then those
    derivatives that are read, and sums of them, are computed in one pass, as by `taylor` and `laplacian`. The results
    are equal up to rounding, and so are their gradients. The loss that a session fetches is then computed from them,
    too; the tensors that the program holds keep their names, values and meaning.

    It is exact where the examples of u do not depend on each other, which is proven from the operations between x and
    u; batch normalization, a loop, a gradient of the user's, or `stop_gradients` in the calls are left as they are.
    `derivatives_report` says what became of each derivative, and why.

    Off by default. Takes effect at once, in this thread, and is undone at the end of a `with` block; calls of
    `gradients` are seen while it is on. The environment variable GRAPHGRAD_OPTIMIZE_DERIVATIVES=1 and
    `graphgrad run --optimize-derivatives` switch it on for all of a program.

    Args:
      enabled: whether nested derivatives are rewritten.
    Raises: nothing. A run that feeds a tensor within a derivative that was replaced raises InvalidArgumentError.
    Gradient: of any order; the new operations are ordinary ones.
    Reference: graphgrad's own; TensorFlow has no such switch.

    >>> x = tf.constant([[0.5], [1.0]])
    >>> w = tf.constant([[2.0]])
    >>> with tf.optimize_derivatives():
    ...     u = tf.sin(tf.matmul(x, w))
    ...     u_xx = tf.gradients(tf.gradients(u, x)[0], x)[0]
    ...     slope = tf.gradients(tf.reduce_sum(u_xx ** 2), w)[0]
    >>> [f.replaced for f in tf.derivatives_report().findings]
    [True]
    """

    def __init__(self, enabled: bool = True):
        if not isinstance(enabled, bool):
            raise TypeError(f"enabled must be True or False, not {enabled!r}")
        self._before = switch_optimizing(enabled)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        switch_optimizing(self._before)


def derivatives_report(graph: Any = None) -> Report:
    """Returns what `optimize_derivatives` has done to the nested derivatives of a graph.

    Args:
      graph: a graph; the default graph if it is None.
    Returns: a `Report`: printed, it has for each derivative its name, whether it was replaced, by what or why not, and
      the line that asked for it; `findings` has the same as tuples (name, source, replaced, reason).
    Raises: TypeError for what is no graph.
    Gradient: none; it builds nothing.
    Reference: graphgrad's own.

    >>> print(tf.derivatives_report())
    No nested derivatives were found.
    """
    graph = get_default_graph() if graph is None else graph
    if not isinstance(graph, Graph):
        raise TypeError(f"graph must be a tf.Graph, not {graph!r}")
    return derivatives_of(graph).report
