"""Attention as functions with annotated tensors."""

import math

import graphgrad as tf


def split_heads(x: tf.Tensor, heads: int) -> tf.Tensor:
    batch, length, size = tf.shape(x)[0], tf.shape(x)[1], x.shape[2]
    return tf.transpose(tf.reshape(x, (batch, length, heads, size // heads)), perm=[0, 2, 1, 3])


def attention(q: tf.Tensor, k: tf.Tensor, v: tf.Tensor,
              mask: tf.Tensor | None = None) -> tuple[tf.Tensor, tf.Tensor]:
    logits = tf.matmul(q, k, transpose_b=True) / tf.math.sqrt(tf.cast(tf.shape(k)[-1], tf.float32))
    if mask is not None:
        logits += mask * -1e9
    weights = tf.nn.softmax(logits, axis=-1)
    return tf.matmul(weights, v), weights


def positions(length: int, size: int) -> tf.Tensor:
    angles = tf.range(length, dtype=tf.float32)[:, tf.newaxis] / 10000.0 ** (
        2.0 * tf.cast(tf.range(size) // 2, tf.float32)[tf.newaxis, :] / float(size))
    return tf.where(tf.range(size) % 2 == 0, tf.sin(angles), tf.cos(angles))[tf.newaxis]


x = tf.random.stateless_normal([2, 4, 6], seed=[1, 2]) * math.sqrt(6) + positions(4, 6)
look_ahead = 1 - tf.linalg.band_part(tf.ones((4, 4)), -1, 0)
heads = split_heads(x, 2)
output, weights = attention(heads, heads, heads, look_ahead)
norm = tf.nn.l2_normalize(output, axis=-1)
mean, variance = tf.nn.moments(output, axes=[-1], keepdims=True)
normalized = (output - mean) * tf.math.rsqrt(variance + 1e-6)
tf.debugging.assert_near(tf.reduce_sum(weights, axis=-1), tf.ones([2, 2, 4]), atol=1e-5)
assert output.shape == [2, 2, 4, 3] and not tf.reduce_any(tf.math.is_nan(normalized))
print(tf.einsum("bhqd,bhkd->bhqk", norm, norm)[0, 0, 0, 0].numpy())
