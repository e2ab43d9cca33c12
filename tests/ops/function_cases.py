"""Calls of public functions of neural networks, linear algebra and images that are made beside TensorFlow and here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.support.table import generator

Draw = Callable[[np.random.Generator], np.ndarray[Any, Any]]


@dataclasses.dataclass
class Case:
    """A call: `function(tf, tf2, *inputs)`, where `tf` is TensorFlow 1's face and `tf2` TensorFlow 2's.

    Attributes:
      function: the call.
      draws: a function for each input that draws it.
      order: the highest derivative that is compared with finite differences; 0 where there is none.
      tf_grad: whether TensorFlow has its first derivative.
      rtol: the tolerance of values and gradients.
    """

    function: Callable[..., Any]
    draws: Sequence[Draw]
    order: int = 2
    tf_grad: bool = True
    rtol: float = 1e-8

    def inputs(self, name: str) -> list[np.ndarray[Any, Any]]:
        """The inputs, the same for a name on every machine."""
        return [draw(generator("functions", name, i)) for i, draw in enumerate(self.draws)]


def N(*shape: int) -> Draw:
    """Normal deviates."""
    return lambda rng: rng.normal(size=shape)


def P(*shape: int) -> Draw:
    """Positive numbers."""
    return lambda rng: rng.uniform(0.1, 1.1, shape)


def F(*shape: int) -> Draw:
    """Normal deviates in single precision."""
    return lambda rng: rng.normal(size=shape).astype(np.float32)


def Given(value: Any) -> Draw:
    """A fixed value."""
    return lambda rng: np.asarray(value)


def Labels(*shape: int, axis: int = -1) -> Draw:
    """Distributions along an axis."""

    def draw(rng: np.random.Generator) -> np.ndarray[Any, Any]:
        x = rng.uniform(0.1, 1.1, shape)
        return x / x.sum(axis, keepdims=True)

    return draw


def Definite(*shape: int) -> Draw:
    """Positive definite matrices."""

    def draw(rng: np.random.Generator) -> np.ndarray[Any, Any]:
        x = rng.normal(size=shape)
        return x @ x.swapaxes(-1, -2) + np.eye(shape[-1])

    return draw


def Distinct(*shape: int) -> Draw:
    """Positive numbers in random order, 0.1 apart."""
    return lambda rng: (rng.permutation(int(np.prod(shape))).reshape(shape) + 0.5) / 10


_SINGLE: dict[str, Any] = {"order": 0, "rtol": 2e-5}  # computed in single precision

ACTIVATIONS = {
    name: Case(lambda tf, tf2, x, name=name: getattr(tf.nn, name)(x), [P(3, 4)])
    for name in ("relu", "relu6", "elu", "selu", "softplus", "softsign", "leaky_relu", "swish", "crelu")
} | {
    "gelu": Case(lambda tf, tf2, x: tf2.nn.gelu(x), [N(3, 4)]),
    "gelu_approximate": Case(lambda tf, tf2, x: tf2.nn.gelu(x, True), [N(3, 4)]),
    "silu_beta": Case(lambda tf, tf2, x: tf.nn.silu(x, beta=2.0), [N(3, 4)]),
    "leaky_relu_alpha": Case(lambda tf, tf2, x: tf.nn.leaky_relu(x, 0.25), [N(3, 4)]),
    "leaky_relu_of_integers": Case(lambda tf, tf2: tf.nn.leaky_relu([1, -2, 3]), [], 0),
    "crelu_axis": Case(lambda tf, tf2, x: tf2.nn.crelu(x, 0), [N(3, 2)]),
    "softmax": Case(lambda tf, tf2, x: tf.nn.softmax(x), [N(3, 4)]),
    "softmax_axis_0": Case(lambda tf, tf2, x: tf.nn.softmax(x, axis=0), [N(3, 4)]),
    "softmax_axis_1": Case(lambda tf, tf2, x: tf.nn.softmax(x, 1), [N(2, 3, 4)]),
    "log_softmax_dim": Case(lambda tf, tf2, x: tf.nn.log_softmax(x, dim=0), [N(3, 4)]),
    "log_softmax_axis": Case(lambda tf, tf2, x: tf2.nn.log_softmax(x, axis=-2), [N(2, 3, 4)]),
    "bias_add": Case(lambda tf, tf2, x, y: tf.nn.bias_add(x, y), [N(3, 4), N(4)]),
    "bias_add_nchw": Case(lambda tf, tf2, x, y: tf.nn.bias_add(x, y, data_format="NCHW"), [N(3, 4, 2, 2), N(4)]),
    "xw_plus_b": Case(lambda tf, tf2, x, y, z: tf.nn.xw_plus_b(x, y, z), [N(3, 4), N(4, 2), N(2)]),
    "relu_layer": Case(lambda tf, tf2, x, y, z: tf.nn.relu_layer(x, y, z), [N(3, 4), N(4, 2), N(2)]),
}

_CLASSES = [[0, 1, 2, 1], [1, 1, 0, 2]]
LOSSES = {
    "softmax_v1": Case(lambda tf, tf2, x, y: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x),
                       [N(4, 3), Labels(4, 3)], 1),
    "softmax_v2": Case(lambda tf, tf2, x, y: tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x),
                       [N(4, 3), Labels(4, 3)], 1),
    "softmax_axis": Case(lambda tf, tf2, x, y: tf2.nn.softmax_cross_entropy_with_logits(y, x, axis=0),
                         [N(3, 4), Labels(3, 4, axis=0)], 1),
    "softmax_rank_3": Case(lambda tf, tf2, x, y: tf2.nn.softmax_cross_entropy_with_logits(y, x),
                           [N(2, 4, 3), Labels(2, 4, 3)], 1),
    "softmax_middle_axis": Case(lambda tf, tf2, x, y: tf2.nn.softmax_cross_entropy_with_logits(y, x, axis=1),
                                [N(2, 3, 4), Labels(2, 3, 4, axis=1)], 1),
    "sparse": Case(lambda tf, tf2, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=_CLASSES, logits=x),
                   [N(2, 4, 3)]),
    "sparse_scalar": Case(lambda tf, tf2, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=2, logits=x),
                          [N(3)]),
    "sigmoid": Case(lambda tf, tf2, x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x),
                    [Given([0.5, 1.0, -2.0, 30.0, -40.0]), P(5)]),
    "sigmoid_at_0": Case(lambda tf, tf2, x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x),
                         [Given([0.0, 0.0]), P(2)], 0),
    "weighted": Case(
        lambda tf, tf2, x, y: tf.nn.weighted_cross_entropy_with_logits(targets=y, logits=x, pos_weight=2.5),
                     [N(5), P(5)]),
    "weights": Case(lambda tf, tf2, x, y, z: tf2.nn.weighted_cross_entropy_with_logits(y, x, z), [N(5), P(5), P(5)]),
    "log_poisson": Case(lambda tf, tf2, x, y: tf.nn.log_poisson_loss(y, x), [N(5), P(5)]),
    "log_poisson_full": Case(lambda tf, tf2, x, y: tf.nn.log_poisson_loss(y, x, compute_full_loss=True),
                             [N(5), Given([0.5, 1.5, 2.0, 3.0, 4.0])]),
    "l2_loss": Case(lambda tf, tf2, x: tf.nn.l2_loss(x), [N(3, 4)]),
    "nce": Case(lambda tf, tf2, x, y, z: _seeded(tf).nn.nce_loss(x, y, _true(tf, 1), z, 8, 12),
                [F(12, 4), F(12), F(3, 4)],
                **_SINGLE),
    "nce_pieces": Case(
        lambda tf, tf2, x, y, z: _seeded(tf) and tf2.nn.nce_loss([x[:6], x[6:]], y, _true(tf, 2), z, 8, 12, 2),
                       [F(12, 4), F(12), F(3, 4)], **_SINGLE),
    "sampled_softmax": Case(lambda tf, tf2, x, y, z: tf.nn.sampled_softmax_loss(x, y, _true(tf, 1), z, 8, 12, seed=4),
                            [F(12, 4), F(12), F(3, 4)], **_SINGLE),
}


def _seeded(tf: Any) -> Any:
    tf.set_random_seed(3)
    return tf


def _true(tf: Any, n: int) -> Any:
    return tf.constant(np.array([[1, 3], [2, 4], [5, 6]])[:, :n])


_SCALE = Given(np.full(4, 0.7, np.float32))
_BOX = Given(np.asarray([[[0.1, 0.2, 0.6, 0.9]]], np.float32))
_BOXES = Given(np.asarray([[0, 0, 1, 1], [0, 0.3, 1, 1.3], [0, 2, 1, 3]], np.float32))
_IMAGES = F(2, 3, 3, 4)
NORMALIZATION = {
    "moments": Case(lambda tf, tf2, x: tf.nn.moments(x, [0]), [N(3, 4)], 1),
    "moments_kept": Case(lambda tf, tf2, x: tf.nn.moments(x, [0, 2], keep_dims=True), [N(3, 4, 2)], 1),
    "moments_v2": Case(lambda tf, tf2, x: tf2.nn.moments(x, [-1], keepdims=True), [N(3, 4)], 1),
    "weighted": Case(lambda tf, tf2, x, y: tf.nn.weighted_moments(x, [0], y), [N(3, 4), P(3, 1)]),
    "weighted_v2": Case(lambda tf, tf2, x, y: tf2.nn.weighted_moments(x, [0, 1], y, keepdims=True), [N(3, 4), P(3, 4)]),
    "sufficient": Case(lambda tf, tf2, x: tf.nn.sufficient_statistics(x, [0])[1:3], [N(3, 4)]),
    "normalize": Case(lambda tf, tf2, x, y, z: tf.nn.normalize_moments(np.float64(4), x, y, z), [N(3), N(3), N(3)]),
    "batch": Case(lambda tf, tf2, x, y, z: tf.nn.batch_normalization(x, y, z, None, None, 1e-3), [N(3, 4), N(4), P(4)]),
    "batch_scaled": Case(lambda tf, tf2, x, y, z: tf.nn.batch_normalization(x, y, z, y, z, 1e-3),
                         [N(3, 4), N(4), P(4)]),
    "fused": Case(lambda tf, tf2, x, y, z: tf.nn.fused_batch_norm(x, y, z), [_IMAGES, _SCALE, F(4)], **_SINGLE),
    "fused_inference": Case(lambda tf, tf2, x, y, z: tf.nn.fused_batch_norm(x, y, z, z, y, is_training=False),
                            [_IMAGES, _SCALE, F(4)], **_SINGLE),
    "fused_moving": Case(lambda tf, tf2, x, y, z: tf.nn.fused_batch_norm(x, y, z, z, y, exponential_avg_factor=0.3),
                         [_IMAGES, _SCALE, F(4)], **_SINGLE),
    "lrn": Case(lambda tf, tf2, x: tf.nn.lrn(x), [F(2, 3, 3, 8)], **_SINGLE),
    "lrn_options": Case(lambda tf, tf2, x: tf.nn.local_response_normalization(x, 2, 1.0, 0.1, 0.75), [F(2, 3, 3, 8)],
                        **_SINGLE),
    "l2": Case(lambda tf, tf2, x: tf.nn.l2_normalize(x, 1), [N(3, 4)]),
    "l2_dim": Case(lambda tf, tf2, x: tf.nn.l2_normalize(x, dim=[0, 1]), [N(3, 4)]),
    "zero_fraction": Case(lambda tf, tf2: tf.nn.zero_fraction([0.0, 1.0, 0.0]), [], 0),
    "dropout": Case(lambda tf, tf2, x: tf.nn.dropout(x, keep_prob=0.4, seed=3), [N(4, 5)], 0),
    "dropout_noise_shape": Case(lambda tf, tf2, x: tf2.nn.dropout(x, 0.3, [None, 1], seed=9), [N(4, 5)], 0),
    "dropout_tensor": Case(lambda tf, tf2, x, y: tf.nn.dropout(x, rate=y, seed=3), [N(4, 5), Given(0.3)], 0),
    "stateless_dropout": Case(lambda tf, tf2, x: tf2.nn.experimental.stateless_dropout(x, 0.4, [1, 2]), [N(4, 5)]),
    "no_dropout": Case(lambda tf, tf2, x: tf.nn.dropout(x, rate=0.0), [N(2)]),
}

LOOKUPS = {
    "top_k": Case(lambda tf, tf2, x: tuple(tf.nn.top_k(x, 2)), [Distinct(3, 4)]),
    "in_top_k": Case(lambda tf, tf2, x: tf.nn.in_top_k(x, [1, 2, 0], 2), [F(3, 4)], 0),
    "lookup": Case(lambda tf, tf2, x: tf.nn.embedding_lookup(x, [3, 0, 3]), [N(4, 2)]),
    "lookup_mod": Case(lambda tf, tf2, x, y: tf.nn.embedding_lookup([x, y], [3, 0, 2]), [N(2, 3), N(2, 3)]),
    "lookup_div": Case(lambda tf, tf2, x, y: tf.nn.embedding_lookup([x, y], [[3, 0], [2, 4]], "div"),
                       [N(3, 2), N(2, 2)]),
    "lookup_v2": Case(lambda tf, tf2, x, y: tf2.nn.embedding_lookup([x, y], [4, 0, 2]), [N(3, 2), N(2, 2)]),
    "lookup_clipped": Case(lambda tf, tf2, x: tf2.nn.embedding_lookup(x, [3, 0, 3], max_norm=0.5), [N(4, 2)]),
}

_PADS = [[0, 0], [1, 0], [0, 2], [0, 0]]
CONVOLUTION = {
    "conv2d": Case(lambda tf, tf2, x, y: tf.nn.conv2d(x, y, strides=[1, 2, 2, 1], padding="SAME"),
                   [N(2, 5, 6, 3), N(3, 2, 3, 4)]),
    "conv2d_int": Case(lambda tf, tf2, x, y: tf2.nn.conv2d(x, y, 2, "VALID"), [N(2, 5, 6, 3), N(3, 2, 3, 4)]),
    "conv2d_explicit": Case(lambda tf, tf2, x, y: tf2.nn.conv2d(x, y, [1, 2], _PADS), [N(2, 5, 6, 3), N(3, 2, 3, 4)]),
    "conv2d_batches": Case(lambda tf, tf2, x, y: tf2.nn.conv2d(x, y, 1, "SAME"), [N(2, 2, 4, 3, 2), N(3, 2, 2, 2)]),
    "conv2d_dilated": Case(lambda tf, tf2, x, y: tf2.nn.conv2d(x, y, 1, "SAME", dilations=2),
                           [N(1, 5, 6, 2), N(3, 2, 2, 3)],
                           tf_grad=False),
    "conv1d": Case(lambda tf, tf2, x, y: tf.nn.conv1d(x, y, 2, "SAME"), [N(2, 7, 3), N(3, 3, 4)]),
    "conv1d_valid": Case(lambda tf, tf2, x, y: tf2.nn.conv1d(x, y, 1, "VALID"), [N(2, 7, 3), N(3, 3, 4)]),
    "transpose": Case(lambda tf, tf2, x, y: tf.nn.conv2d_transpose(x, y, [2, 6, 8, 4], [1, 2, 2, 1]),
                      [N(2, 3, 4, 3), N(3, 3, 4, 3)]),
    "transpose_of_tensor": Case(lambda tf, tf2, x, y: tf2.nn.conv2d_transpose(x, y, tf.stack([2, 5, 7, 4]), 2),
                                [N(2, 3, 4, 3), N(3, 3, 4, 3)]),
    "conv1d_transpose": Case(lambda tf, tf2, x, y: tf.nn.conv1d_transpose(x, y, [2, 6, 4], 2),
                             [N(2, 3, 3), N(3, 4, 3)]),
    "conv3d": Case(lambda tf, tf2, x, y: tf.nn.conv3d(x, y, [1] * 5, "SAME"),
                   [N(1, 3, 4, 3, 2), N(2, 2, 2, 2, 3)]),
    "conv3d_transpose": Case(lambda tf, tf2, x, y: tf.nn.conv3d_transpose(x, y, [1, 4, 6, 4, 2], [1, 2, 2, 2, 1]),
                             [N(1, 2, 3, 2, 2), N(2, 2, 2, 2, 2)]),
    "depthwise": Case(lambda tf, tf2, x, y: tf.nn.depthwise_conv2d(x, y, [1, 2, 2, 1], "SAME"),
                      [N(2, 5, 6, 3), N(3, 2, 3, 2)]),
    "depthwise_rate": Case(lambda tf, tf2, x, y: tf.nn.depthwise_conv2d(x, y, [1, 1, 1, 1], "SAME", rate=[2, 2]),
                           [N(1, 6, 6, 2), N(3, 2, 2, 2)]),
    "separable": Case(lambda tf, tf2, x, y, z: tf.nn.separable_conv2d(x, y, z, [1, 1, 1, 1], "SAME"),
                      [N(2, 5, 4, 3), N(3, 2, 3, 2), N(1, 1, 6, 4)]),
    "atrous": Case(lambda tf, tf2, x, y: tf.nn.atrous_conv2d(x, y, 2, "VALID"),
                   [N(1, 6, 6, 3), N(3, 2, 3, 4)], tf_grad=False),
    "convolution": Case(lambda tf, tf2, x, y: tf.nn.convolution(x, y, "SAME"), [N(2, 4, 5, 3), N(3, 2, 3, 4)]),
    "convolution_1": Case(lambda tf, tf2, x, y: tf2.nn.convolution(x, y, [2], "VALID"), [N(2, 8, 3), N(3, 3, 4)]),
    "max_pool": Case(lambda tf, tf2, x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), [Distinct(2, 5, 6, 3)]),
    "max_pool_v2": Case(lambda tf, tf2, x: tf2.nn.max_pool(x, 3, 2, "VALID"), [Distinct(2, 5, 6, 3)]),
    "max_pool_lines": Case(lambda tf, tf2, x: tf2.nn.max_pool(x, 2, 2, "SAME"), [Distinct(2, 5, 3)]),
    "avg_pool": Case(lambda tf, tf2, x: tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), [N(2, 5, 6, 3)]),
    "avg_pool_overlapping": Case(lambda tf, tf2, x: tf2.nn.avg_pool(x, 3, 1, "SAME"), [N(2, 5, 6, 3)]),
    "avg_pool_volumes": Case(lambda tf, tf2, x: tf2.nn.avg_pool(x, 2, 2, "VALID"), [F(2, 4, 4, 4, 3)], **_SINGLE),
    "avg_pool1d": Case(lambda tf, tf2, x: tf2.nn.avg_pool1d(x, 2, 2, "SAME"), [N(2, 5, 3)]),
    "with_argmax": Case(lambda tf, tf2, x: tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
                        [F(2, 5, 4, 3)],
                        **_SINGLE),
    "pool": Case(lambda tf, tf2, x: tf.nn.pool(x, [2, 2], "MAX", "SAME", strides=[2, 2]), [Distinct(2, 5, 6, 3)]),
    "pool_lines": Case(lambda tf, tf2, x: tf2.nn.pool(x, [2], "AVG"), [N(2, 5, 3)]),
    "pool_dilated": Case(lambda tf, tf2, x: tf2.nn.pool(x, [2, 2], "MAX", dilations=[2, 2]), [Distinct(2, 6, 7, 3)]),
    "patches": Case(lambda tf, tf2, x: tf.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], "SAME"),
                    [N(2, 3, 4, 3)]),
}

_NORMS: dict[str, dict[str, Any]] = {
    "": {}, "1": {"axis": 1}, "ord_1": {"ord": 1}, "ord_2": {"ord": 2, "axis": 0},
    "largest": {"ord": np.inf, "axis": 1},
    "ord_3": {"ord": 3, "axis": 1}, "frobenius": {"ord": "fro", "axis": [0, 1]}, "columns": {"ord": 1, "axis": [0, 1]},
    "rows": {"ord": np.inf, "axis": (0, 1)}, "kept": {"axis": 1, "keepdims": True},
    "both_kept": {"ord": "euclidean", "axis": [0, 1], "keep_dims": True},
}
LINALG = {
    f"norm_{name}": Case(lambda tf, tf2, x, options=options: tf.norm(x, **options), [N(3, 4)])
    for name, options in _NORMS.items()
} | {
    "spectral_norm": Case(lambda tf, tf2, x: tf.norm(x, ord=2, axis=[0, 1]), [N(3, 4)]),
    "normalize": Case(lambda tf, tf2, x: tf2.linalg.normalize(x, axis=1), [N(3, 4)]),
    "matmul": Case(lambda tf, tf2, x, y: tf.matmul(x, y), [N(2, 3), N(3, 4)]),
    "matmul_broadcast": Case(lambda tf, tf2, x, y: tf.matmul(x, y, transpose_a=True), [N(5, 3, 2), N(3, 4)]),
    "matmul_both": Case(lambda tf, tf2, x, y: tf.matmul(x, y, transpose_b=True), [N(5, 1, 2, 3), N(2, 4, 3)]),
    "matvec": Case(lambda tf, tf2, x, y: tf.linalg.matvec(x, y), [N(2, 3), N(3)]),
    "tensordot": Case(lambda tf, tf2, x, y: tf.tensordot(x, y, 1), [N(2, 3, 4), N(4, 5)]),
    "tensordot_axes": Case(lambda tf, tf2, x, y: tf.tensordot(x, y, [[1, 2], [1, 0]]), [N(2, 3, 4), N(4, 3, 5)]),
    "tensordot_0": Case(lambda tf, tf2, x, y: tf.tensordot(x, y, 0), [N(2), N(3)]),
    "tensordot_vectors": Case(lambda tf, tf2, x, y: tf.tensordot(x, y, [[0], [0]]), [N(3), N(3)]),
    "einsum": Case(lambda tf, tf2, x, y: tf.einsum("ij,jk->ik", x, y), [N(2, 3), N(3, 4)]),
    "einsum_of_three": Case(lambda tf, tf2, x, y, z: tf.einsum("bij,bjk,kl", x, y, z),
                            [N(2, 3, 4), N(2, 4, 3), N(3, 2)]),
    "einsum_trace": Case(lambda tf, tf2, x: tf.einsum("ii", x), [N(3, 3)]),
    "einsum_ellipsis": Case(lambda tf, tf2, x: tf.einsum("...ij->...ji", x), [N(2, 3, 4)]),
    "cholesky": Case(lambda tf, tf2, x: tf.cholesky(0.5 * (x + tf.linalg.matrix_transpose(x))), [Definite(2, 3, 3)]),
    "logdet": Case(lambda tf, tf2, x: tf.linalg.logdet(0.5 * (x + tf.linalg.matrix_transpose(x))), [Definite(2, 3, 3)]),
    "slogdet": Case(lambda tf, tf2, x: tf.linalg.slogdet(x)[1], [N(3, 3)]),
    "inverse": Case(lambda tf, tf2, x: tf.matrix_inverse(x), [Definite(3, 3)]),
    "determinant": Case(lambda tf, tf2, x: tf.matrix_determinant(x), [N(2, 3, 3)]),
    "solve": Case(lambda tf, tf2, x, y: tf.matrix_solve(x, y), [Definite(3, 3), N(3, 2)]),
    "triangular_solve": Case(lambda tf, tf2, x, y: tf.matrix_triangular_solve(x, y), [Definite(3, 3), N(3, 2)]),
    "cholesky_solve": Case(lambda tf, tf2, x, y: tf.cholesky_solve(x, y), [Definite(2, 3, 3), N(2, 3, 2)]),
    "eigenvalues": Case(lambda tf, tf2, x: tf.self_adjoint_eigvals(x), [Definite(2, 3, 3)]),
    "singular_values": Case(lambda tf, tf2, x: tf.svd(x, compute_uv=False), [N(4, 3)]),
    "trace": Case(lambda tf, tf2, x: tf.trace(x), [N(2, 3, 3)]),
    "adjoint": Case(lambda tf, tf2, x: tf.linalg.adjoint(x), [N(2, 3)]),
    "least_squares": Case(lambda tf, tf2, x, y: tf.matrix_solve_ls(x, y), [N(4, 2), N(4, 1)]),
    "regularized": Case(lambda tf, tf2, x, y: tf.linalg.lstsq(x, y, l2_regularizer=0.5), [N(4, 2), N(4, 1)]),
    "pseudo_inverse": Case(lambda tf, tf2, x: tf.linalg.pinv(x), [N(4, 2)]),
    "exponential": Case(lambda tf, tf2, x: tf.linalg.expm(x), [N(2, 3, 3)]),
    "exponential_of_large": Case(lambda tf, tf2, x: tf.linalg.expm(30.0 * x), [N(3, 3)], 0),
    "rank": Case(lambda tf, tf2, x: tf.linalg.matrix_rank(x), [N(4, 2)], 0),
}

_COLOURS: Draw = Distinct(3, 4, 3)
_BYTES = Given(np.arange(36, dtype=np.uint8).reshape(3, 4, 3) * 7)
IMAGES = {
    "flip": Case(lambda tf, tf2, x: tf.image.flip_left_right(x), [N(2, 3, 4, 3)]),
    "random_flips": Case(lambda tf, tf2, x: tf.image.random_flip_up_down(x, seed=3), [N(4, 2, 2, 1)], 0),
    "random_flip": Case(lambda tf, tf2, x: tf.image.random_flip_left_right(x, seed=5), [N(3, 2, 1)], 0),
    "stateless_flip": Case(lambda tf, tf2, x: tf2.image.stateless_random_flip_left_right(x, [3, 4]), [N(3, 2, 1)]),
    "pad": Case(lambda tf, tf2, x: tf.image.pad_to_bounding_box(x, 1, 0, 5, 6), [N(3, 4, 3)]),
    "crop_or_pad": Case(lambda tf, tf2, x: tf.image.resize_image_with_crop_or_pad(x, 5, 2), [N(2, 3, 5, 3)]),
    "central_crop": Case(lambda tf, tf2, x: tf.image.central_crop(x, 0.6), [N(2, 7, 9, 3)]),
    "bilinear": Case(lambda tf, tf2, x: tf.image.resize_images(x, [6, 7]), [F(2, 3, 4, 3)], **_SINGLE),
    "corners": Case(lambda tf, tf2, x: tf.image.resize_images(x, [6, 7], align_corners=True), [F(3, 4, 3)], **_SINGLE),
    "nearest": Case(lambda tf, tf2, x: tf.image.resize_images(x, [6, 7], method=1), [F(3, 4, 3)], **_SINGLE),
    "bicubic": Case(lambda tf, tf2, x: tf.image.resize_images(x, [6, 7], method=2), [F(3, 4, 3)], **_SINGLE),
    "same_size": Case(lambda tf, tf2, x: tf.image.resize_images(x, [3, 4]), [F(3, 4, 3)], **_SINGLE),
    "ratio": Case(lambda tf, tf2, x: tf2.image.resize(x, [5, 5], preserve_aspect_ratio=True),
                  [F(2, 3, 4, 3)], **_SINGLE),
    "bicubic_v2": Case(lambda tf, tf2, x: tf2.image.resize(x, [2, 9], method="bicubic"), [F(3, 4, 3)], **_SINGLE),
    "lanczos": Case(lambda tf, tf2, x: tf2.image.resize(x, [3, 6], method="lanczos3"), [F(2, 4, 5, 2)], **_SINGLE),
    "antialias": Case(lambda tf, tf2, x: tf2.image.resize(x, [2, 3], antialias=True), [F(5, 6, 2)], **_SINGLE),
    "mitchell": Case(lambda tf, tf2, x: tf2.image.resize(x, [2, 7], method="mitchellcubic", antialias=True),
                     [F(5, 6, 2)], **_SINGLE),
    "crop_and_resize": Case(lambda tf, tf2, x: tf.image.crop_and_resize(x, [[0.37, 0.12, 0.91, 0.76]], [0], [3, 4]),
                            [F(1, 5, 6, 2)], **_SINGLE),
    "glimpse": Case(lambda tf, tf2, x: tf2.image.extract_glimpse(x, [2, 3], [[0.1, -0.2]], noise="zero"),
                    [F(1, 5, 6, 2)], tf_grad=False, **_SINGLE),
    "hsv_back": Case(lambda tf, tf2, x: tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(x)), [_COLOURS], tf_grad=False),
    "boxes": Case(lambda tf, tf2, x: tf2.image.draw_bounding_boxes(x, [[[0.1, 0.2, 0.7, 0.9]]], [[0.5, 0.2, 0.1]]),
                  [F(1, 5, 6, 3)], 0, tf_grad=False),
    "distorted": Case(lambda tf, tf2, x: tf.image.sample_distorted_bounding_box([40, 60, 3], x, 5, 7)[:2],
                      [_BOX], 0, tf_grad=False),
    "stateless_distorted": Case(lambda tf, tf2, x: tf2.image.stateless_sample_distorted_bounding_box(
        [40, 60, 3], x, [5, 7])[:2], [_BOX], 0, tf_grad=False),
    "suppression": Case(lambda tf, tf2, x: tf.image.non_max_suppression(x, [0.7, 0.9, 0.8], 3, 0.4), [_BOXES], 0,
                        tf_grad=False),
    "soft_suppression": Case(lambda tf, tf2, x: tf2.image.non_max_suppression_with_scores(
        x, [0.7, 0.9, 0.8], 3, 1.0, 0.1, 0.5), [_BOXES], 0, tf_grad=False),
    "with_pad": Case(lambda tf, tf2, x: tf.image.resize_image_with_pad(x, 5, 5), [F(3, 4, 3)], **_SINGLE),
    "with_pad_v2": Case(lambda tf, tf2, x: tf2.image.resize_with_pad(x, 7, 3), [F(2, 3, 4, 3)], **_SINGLE),
    "brightness": Case(lambda tf, tf2, x: tf.image.random_brightness(x, 0.3, seed=7), [F(3, 4, 3)], **_SINGLE),
    "brightness_of_bytes": Case(lambda tf, tf2, x: tf.image.adjust_brightness(x, 0.1), [_BYTES], 0),
    "contrast": Case(lambda tf, tf2, x: tf.image.random_contrast(x, 0.3, 0.9, seed=7),
                     [F(3, 4, 3)], tf_grad=False, **_SINGLE),
    "gamma": Case(lambda tf, tf2, x: tf.image.adjust_gamma(tf.cast(x, tf.float32), 2.0, 1.5), [P(3, 4, 3)], **_SINGLE),
    "standardization": Case(lambda tf, tf2, x: tf.image.per_image_standardization(x), [F(2, 3, 4, 3)], **_SINGLE),
    "hue": Case(lambda tf, tf2, x: tf.image.adjust_hue(x, 0.2), [_BYTES], 0),
    "saturation": Case(lambda tf, tf2, x: tf.image.adjust_saturation(x, 0.2), [_BYTES], 0),
    "to_floats": Case(lambda tf, tf2, x: tf.image.convert_image_dtype(x, tf.float32), [_BYTES], 0),
    "to_wider": Case(lambda tf, tf2, x: tf.image.convert_image_dtype(x, tf.int32), [_BYTES], 0),
    "grayscale": Case(lambda tf, tf2, x: tf.image.rgb_to_grayscale(x), [F(3, 4, 3)], **_SINGLE),
    "hsv": Case(lambda tf, tf2, x: tf.image.rgb_to_hsv(x), [_COLOURS]),
    "yuv": Case(lambda tf, tf2, x: tf.image.yuv_to_rgb(tf.image.rgb_to_yuv(x)), [F(3, 4, 3)], **_SINGLE),
    "variation": Case(lambda tf, tf2, x: tf.image.total_variation(x), [N(2, 3, 4, 3)]),
    "gradients": Case(lambda tf, tf2, x: tf.image.image_gradients(x), [N(2, 3, 4, 3)]),
    "sobel": Case(lambda tf, tf2, x: tf.image.sobel_edges(x), [N(2, 5, 4, 3)]),
    "psnr": Case(lambda tf, tf2, x, y: tf.image.psnr(x, y, 2.0), [F(2, 3, 4, 3), F(2, 3, 4, 3)], **_SINGLE),
    "ssim": Case(lambda tf, tf2, x, y: tf.image.ssim(x, y, 2.0), [F(12, 13, 2), F(12, 13, 2)], **_SINGLE),
}

_PLACES = ([[0, 0], [0, 1], [1, 0]], [1, 2, 0], [2, 2])


def _ctc_sparse(tf: Any, tf2: Any, x: Any) -> Any:
    return tf2.nn.ctc_loss(tf.SparseTensor(*_PLACES), x, None, [4, 3], blank_index=3)


def _ctc_moved(tf: Any, tf2: Any, x: Any) -> Any:
    return tf2.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 2, 3], [2, 2]), x, None, [4, 3], blank_index=1)


def _decoded(tf: Any, decoded: Any) -> Any:
    paths, scores = decoded
    return [*[tf.sparse.to_dense(p) for p in paths], scores]


CTC: dict[str, Case] = {
    "sparse": Case(lambda tf, tf2, x: tf.nn.ctc_loss(tf.SparseTensor(*_PLACES), x, [4, 3]), [N(4, 2, 4)], rtol=1e-6),
    "batch_major": Case(lambda tf, tf2, x: tf.nn.ctc_loss(tf.SparseTensor(*_PLACES), x, [4, 3], time_major=False),
                        [N(2, 4, 4)], 1, rtol=1e-6),
    "blank_at_end": Case(_ctc_sparse, [F(4, 2, 4)], 1, rtol=1e-6),
    "blank_within": Case(_ctc_moved, [F(4, 2, 4)], 1, rtol=1e-6),
    "dense": Case(lambda tf, tf2, x: tf2.nn.ctc_loss([[1, 1], [2, 0]], x, [2, 1], [4, 3]), [F(4, 2, 3)], 1, rtol=1e-5),
    "dense_last": Case(lambda tf, tf2, x: tf2.nn.ctc_loss([[1, 1], [0, 0]], x, [2, 1], [4, 3], False, blank_index=-1),
                       [F(2, 4, 3)], 1, rtol=1e-5),
    "greedy": Case(lambda tf, tf2, x: _decoded(tf, tf.nn.ctc_greedy_decoder(x, [6, 4])), [N(6, 2, 4)], 0),
    "beam": Case(lambda tf, tf2, x: _decoded(tf, tf2.nn.ctc_beam_search_decoder(x, [6, 4], 7, 3)), [N(6, 2, 4)], 0,
                 rtol=1e-6),
    "beam_v1": Case(lambda tf, tf2, x: _decoded(tf, tf.nn.ctc_beam_search_decoder(x, [6, 4], 50, 2)), [N(6, 2, 4)], 0,
                    rtol=1e-6),
    "unique": Case(lambda tf, tf2, x: tf.nn.ctc_unique_labels(tf.cast(x, tf.int32)), [N(3, 5)], 0),
    "erosion": Case(lambda tf, tf2, x, k: tf2.nn.erosion2d(x, k, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]),
                    [N(1, 4, 5, 2), N(2, 2, 2)]),
    "fractional": Case(lambda tf, tf2, x: tf.nn.fractional_max_pool(x, [1.0, 1.4, 1.7, 1.0], True, True, True, 5, 7)[0],
                       [N(2, 7, 9, 2)]),
    "isotonic": Case(lambda tf, tf2, x: tf2.nn.isotonic_regression(x, decreasing=False)[0], [N(2, 7)]),
    "collapse": Case(lambda tf, tf2, x: tf.nn.collapse_repeated(tf.cast(x, tf.int32), [5, 3, 4]), [N(3, 5)], 0),
}

CASES = {
    f"{family}/{name}": case
    for family, cases in (("activations", ACTIVATIONS), ("losses", LOSSES), ("normalization", NORMALIZATION),
                          ("lookups", LOOKUPS), ("convolution", CONVOLUTION), ("linalg", LINALG), ("images", IMAGES),
                          ("ctc", CTC))
    for name, case in cases.items()
}


def weights(shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """What the outputs are multiplied with before they are summed, so that gradients differ from element to element."""
    return np.cos(np.arange(int(np.prod(shape)))).reshape(shape)
