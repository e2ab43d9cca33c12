"""TensorNetwork with TensorFlow as its backend: contractions, decompositions, a state of matrices that is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)


def prepare(tf: Any) -> None:
    """Chooses the backend."""
    import tensornetwork as tn

    tn.set_default_backend("tensorflow")
    tf.random.set_seed(5)


def _of(tf: Any, seed: int, *shape: int) -> Any:
    return tf.constant(np.random.RandomState(seed).randn(*shape), tf.float64)


@_case
def the_first_program(tf: Any) -> Any:
    """Two nodes, an edge, the contraction; the gradient through it."""
    import tensornetwork as tn

    x, y = _of(tf, 1, 10), _of(tf, 2, 10)
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b = tn.Node(x), tn.Node(y)
        result = tn.contract(a[0] ^ b[0]).tensor
    return [result, tape.gradient(result, x) - y]


@_case
def contractions(tf: Any) -> Any:
    """`ncon`, orders that are searched, traces, outer products, and their gradients."""
    import tensornetwork as tn

    a, b, c = _of(tf, 1, 3, 4, 5), _of(tf, 2, 5, 4, 6), _of(tf, 3, 6, 3)

    def run(search: Any) -> Any:
        nodes = [tn.Node(t) for t in (a, b, c)]
        nodes[0][1] ^ nodes[1][1]
        nodes[0][2] ^ nodes[1][0]
        nodes[1][2] ^ nodes[2][0]
        nodes[0][0] ^ nodes[2][1]
        return search(nodes).tensor

    with tf.GradientTape() as tape:
        tape.watch([a, b, c])
        found = [tn.ncon([a, b, c], [[-1, 1, 2], [2, 1, 3], [3, -2]]), run(tn.contractors.greedy),
                 run(tn.contractors.optimal), run(tn.contractors.branch), tn.ncon([a[:, :3, 0]], [[1, 1]]),
                 tn.outer_product(tn.Node(a[0, 0]), tn.Node(c[0])).tensor]
        total = tf.add_n([tf.reduce_sum(f * f) for f in found])
    return [*found, *tape.gradient(total, [a, b, c])]


@_case
def decompositions(tf: Any) -> Any:
    """Nodes split by singular values, QR and RQ; what is left out; gradients of the product."""
    import tensornetwork as tn

    x = _of(tf, 4, 3, 4, 5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        node = tn.Node(x)
        left, right, cut = tn.split_node(node, [node[0], node[1]], [node[2]], max_singular_values=3)
        low = (left @ right).tensor
        loss = tf.reduce_sum(tf.sin(low))
    other = tn.Node(x)
    q, r = (n.tensor for n in tn.split_node_qr(other, [other[0]], [other[1], other[2]]))
    return [low, cut, tape.gradient(loss, x), tf.abs(q), tf.abs(r)]


@_case
def a_chain_that_is_trained(tf: Any) -> Any:
    """A state as a product of matrices: its energy is lowered by its gradient, in a function, for ten steps."""
    import tensornetwork as tn

    cores = [tf.Variable(_of(tf, 10 + i, 1 if i == 0 else 3, 2, 1 if i == 4 else 3) * 0.5) for i in range(5)]
    z = tf.constant([[1.0, 0.0], [0.0, -1.0]], tf.float64)

    def inner(i: int | None) -> Any:
        env = tf.ones([1, 1], tf.float64)
        for k, core in enumerate(cores):
            mid = tf.tensordot(z, core, [[1], [1]]) if k in (i, None if i is None else i + 1) else None
            top = core if mid is None else tf.transpose(mid, [1, 0, 2])
            env = tn.ncon([env, top, core], [[1, 2], [1, 3, -1], [2, 3, -2]])
        return env[0, 0]

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            energy = tf.add_n([inner(i) for i in range(4)]) / inner(None)
        for core, slope in zip(cores, tape.gradient(energy, cores), strict=True):
            core.assign_sub(0.1 * slope)
        return energy

    return [[step() for _ in range(10)], *cores]


@_case
def states_of_matrices(tf: Any) -> Any:
    """`FiniteMPS` in canonical form: expectations and correlations."""
    import tensornetwork as tn

    tensors = [_of(tf, 20 + i, 1 if i == 0 else 3, 2, 1 if i == 4 else 3) for i in range(5)]
    state = tn.FiniteMPS(tensors, canonicalize=True)
    x = tf.constant([[0.0, 1.0], [1.0, 0.0]], tf.float64)
    return [*state.measure_local_operator([x] * 3, [0, 2, 4]), *state.measure_two_body_correlator(x, x, 1, [2, 3])]
