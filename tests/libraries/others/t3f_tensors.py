"""t3f 1.2.0: tensors and matrices in tensor-train form, with Riemannian gradients and Hessians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)


def _tensors(offsets: tuple[float, ...], ranks: tuple[int, ...]) -> list[Any]:
    """Returns tensors in tensor-train form, of shape (3, 4, 5)."""
    import t3f

    rng = np.random.RandomState(0)
    return [t3f.to_tt_tensor((rng.rand(3, 4, 5) + o).astype(np.float32), max_tt_rank=r)
            for o, r in zip(offsets, ranks, strict=True)]


@_case
def arithmetic(tf: Any) -> Any:
    """The library's first program: to the form and back, products, sums, rounding; a matrix times a vector."""
    import t3f

    a, b = _tensors((0.0, 0.0), (2, 3))
    rng = np.random.RandomState(1)
    m = t3f.to_tt_matrix(rng.rand(6, 6).astype(np.float32), shape=((2, 3), (2, 3)), max_tt_rank=4)
    v = tf.constant(rng.rand(6, 1).astype(np.float32))
    return [t3f.full(a), t3f.flat_inner(a, b), t3f.frobenius_norm(a), t3f.full(a + b), t3f.full(a * b),
            t3f.full(t3f.round(a * b, max_tt_rank=2)), t3f.matmul(m, v), t3f.full(m)]


@_case
def riemannian(tf: Any) -> Any:
    """A gradient, a Hessian-vector product, a projection, and descent on the manifold of a rank."""
    import t3f

    target, x = _tensors((0.0, 0.3), (2, 2))

    def loss(x: Any) -> Any:
        return 0.5 * t3f.frobenius_norm_squared(x - target, differentiable=True)

    gradient = t3f.gradients(loss, x, runtime_check=False)
    product = t3f.hessian_vector_product(loss, x, gradient, runtime_check=False)
    found = [t3f.frobenius_norm(gradient), t3f.frobenius_norm(product), t3f.frobenius_norm(t3f.project(target, x))]
    for _ in range(5):
        x = t3f.round(x - 0.2 * t3f.gradients(loss, x, runtime_check=False), max_tt_rank=2)
    return [*found, loss(x)]


@_case
def cores(tf: Any) -> Any:
    """Gradients with respect to the cores."""
    import t3f

    (a,) = _tensors((0.0,), (2,))
    with tf.GradientTape() as tape:
        cores = [tf.identity(c) for c in a.tt_cores]
        tape.watch(cores)
        same = t3f.TensorTrain(cores, a.get_raw_shape(), a.get_tt_ranks())
        y = t3f.frobenius_norm_squared(same, differentiable=True)
    return [y, *[tf.reduce_sum(tf.abs(g)) for g in tape.gradient(y, cores)]]
