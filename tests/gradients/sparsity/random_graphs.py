"""Random graphs of all kinds of operations, from a seed: what patterns are compared with dense Jacobians on."""

from __future__ import annotations

import numpy as np

import graphgrad.compat.v1 as tf


def _flat(t):
    return tf.reshape(t, [-1])


@tf.custom_gradient
def _doubled(x):
    return tf.sin(x), lambda dy: 2.0 * dy


@tf.custom_gradient
def _mixed(x):
    return tf.identity(x), lambda dy: tf.reverse(dy, [0]) + tf.reduce_sum(dy)


def _loop(t, steps):
    return tf.while_loop(lambda i, _: i < steps, lambda i, s: (i + 1, s + tf.roll(s, 1, 0) * t), [0, t])[1]


def _unknown_loop(t):
    return tf.while_loop(lambda s: tf.reduce_sum(s) < 5.0, lambda s: 0.2 * s * s + tf.pad(s[1:], [[0, 1]]) + 0.7, [t])


def _array(t):
    n = t.shape[0]
    a = tf.TensorArray(t.dtype, n)
    a = tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, t[i] * t[n - 1])), [0, a])[1]
    return a.stack()


def _mapped(t):
    rows = tf.stack([t, tf.square(t)], 1)
    return _flat(tf.map_fn(lambda r: tf.cumsum(r) * r[0], rows))


def _segments(t, rng):
    return tf.math.unsorted_segment_sum(t, rng.integers(-1, 4, t.shape[0]), 4)


def _sparse_product(t, rng):
    n = t.shape[0]
    where = np.unique(rng.integers(0, n, (n, 2)), axis=0)
    a = tf.SparseTensor(where, rng.normal(size=len(where)), [n, n])
    return _flat(tf.sparse.sparse_dense_matmul(a, t[:, None]))


def _convolution(t):
    image = tf.reshape(tf.concat([t, t[:1], t], 0)[:9] if t.shape[0] > 4 else tf.tile(t, [9])[:9], [1, 3, 3, 1])
    return _flat(tf.nn.conv2d(image, np.arange(1.0, 9.0).reshape(2, 2, 1, 2), [1, 1, 1, 1], "SAME"))


@tf.function
def _function(t):
    return tf.where(t > 0.0, t * t[::-1], tf.sin(t))


def _state(t):
    """Reads a variable, before and after it is assigned what follows from t, which is no part of the derivative."""
    v = tf.Variable(np.arange(1.0, 6.0), use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before, v.assign(tf.stop_gradient(v * 2.0))]):
        after = v.read_value()
    n = min(t.shape[0], 5)
    return tf.concat([before[:n] * t[:n], after[1:2] * t[-1:]], 0)


# Functions of a vector t and a generator; what is nonlinear keeps values moderate.
STEPS = {
    "tanh": lambda t, rng: tf.tanh(t),
    "add": lambda t, rng: t + tf.roll(t, int(rng.integers(4)), 0),
    "mul": lambda t, rng: tf.sin(t) * t[::-1],
    "mask": lambda t, rng: t * (rng.integers(0, 2, t.shape[0]) * 1.0),
    "where": lambda t, rng: tf.where(rng.integers(0, 2, t.shape[0]) > 0, t, tf.cos(t[::-1])),
    "choose": lambda t, rng: tf.where(t > 0.3, t * t, tf.roll(t, 1, 0)),
    "maximum": lambda t, rng: tf.maximum(t, tf.roll(t, 1, 0)),
    "clip": lambda t, rng: tf.clip_by_value(t, -0.7, 0.7),
    "gather": lambda t, rng: tf.gather(t, rng.integers(0, t.shape[0], 6)),
    "gather_nd": lambda t, rng: tf.gather_nd(t, rng.integers(0, t.shape[0], (5, 1))),
    "gather_by_value": lambda t, rng: tf.gather(t, tf.cast(tf.abs(tf.round(t)), tf.int32) % 2),
    "slice": lambda t, rng: t[1:] - t[:-1] if t.shape[0] > 3 else t,
    "pad": lambda t, rng: tf.pad(t, [[1, 0]]),
    "mirror": lambda t, rng: tf.pad(t, [[1, 1]], "SYMMETRIC"),
    "concat": lambda t, rng: tf.concat([t[:2], [1.0], tf.exp(-t[2:])], 0),
    "stack": lambda t, rng: _flat(tf.transpose(tf.stack([t, 2.0 * t[::-1]]))),
    "split": lambda t, rng: tf.concat(tf.split(t, [1, t.shape[0] - 1])[::-1], 0),
    "unstack": lambda t, rng: tf.stack([a * b for a, b in zip(*[iter(tf.unstack(t))] * 2, strict=False)]),
    "tile": lambda t, rng: tf.tile(t[:3], [2]),
    "scatter": lambda t, rng: tf.scatter_nd(rng.integers(0, 5, (t.shape[0], 1)), t, [5]),
    "update": lambda t, rng: tf.tensor_scatter_nd_update(t, [[1]], [t[0] * t[0]]),
    "scatter_add": lambda t, rng: tf.tensor_scatter_nd_add(t, [[1], [1]], [t[0], t[2]]),
    "segments": _segments,
    "sum": lambda t, rng: t + tf.reduce_sum(t[:2]),
    "sums": lambda t, rng: tf.reduce_sum(tf.reshape(tf.tile(t, [2]), [2, -1]), 0),
    "mean": lambda t, rng: tf.concat([t[1:], [tf.reduce_mean(t[:3])]], 0),
    "prod": lambda t, rng: tf.concat([tf.reduce_prod(tf.reshape(t[:4], [2, 2]), 1), t], 0) if t.shape[0] > 3 else t,
    "max": lambda t, rng: tf.concat([[tf.reduce_max(t[:2])], t], 0),
    "cumsum": lambda t, rng: tf.concat([tf.cumsum(t[:3]), t], 0),
    "softmax": lambda t, rng: tf.concat([tf.nn.softmax(t[:2]), tf.nn.log_softmax(t[1:3]), t[2:]], 0),
    "matmul": lambda t, rng: _flat(tf.matmul(t[:, None], t[None, :2])),
    "banded": lambda t, rng: _flat(tf.matmul(np.eye(t.shape[0], k=1) + np.eye(t.shape[0]), t[:, None])),
    "weights": lambda t, rng: _flat(tf.matmul(tf.reshape(tf.tile(t, [2]), [-1, 2]), rng.normal(size=(2, 3)))),
    "einsum": lambda t, rng: tf.einsum("i,i->i", t, tf.cos(t)),
    "outer": lambda t, rng: _flat(tf.einsum("i,j->ji", t, t[:2])),
    "sparse_product": _sparse_product,
    "convolution": lambda t, rng: _convolution(t),
    "stop": lambda t, rng: tf.stop_gradient(t) * t[::-1],
    "round": lambda t, rng: t + tf.round(t[::-1]),
    "custom": lambda t, rng: _doubled(t),
    "custom_mixed": lambda t, rng: tf.concat([_mixed(t[:2]), t], 0),
    "sort": lambda t, rng: tf.concat([tf.sort(t[:2]), t[2:]], 0),
    "cond": lambda t, rng: tf.cond(t[0] > 0, lambda: t * t, lambda: tf.roll(t, 1, 0)),
    "known_cond": lambda t, rng: tf.cond(tf.constant(True), lambda: t * t[0], lambda: t),
    "loop": lambda t, rng: _loop(t, 2),
    "unknown_loop": lambda t, rng: tf.tanh(_unknown_loop(t)),
    "array": lambda t, rng: _array(t),
    "map": lambda t, rng: _mapped(t),
    "cast": lambda t, rng: tf.cast(tf.cast(t, tf.float32), tf.float64),
    "diag": lambda t, rng: _flat(tf.linalg.diag(t[:3]))[:7] + t[0],
    "cross": lambda t, rng: tf.concat([tf.linalg.cross(t[:3], tf.cos(t[-3:])), t[:1]], 0),
    "function": lambda t, rng: _function(t),
    "state": lambda t, rng: _state(t),
    "top": lambda t, rng: tf.concat([tf.math.top_k(t[:3], 2)[0], t[1:]], 0),
    "reverse_cumulative": lambda t, rng: tf.concat([tf.cumprod(t[:3], reverse=True), t[3:] ** 2], 0),
    "batched": lambda t, rng: _flat(tf.matmul(t[:2, None, None], tf.reshape(tf.tile(t[:3], [2]), [2, 1, 3]))),
    "broadcast": lambda t, rng: _flat(t[:2, None] * tf.sin(t[None, :3]) + tf.broadcast_to(t[:1], [2, 3])),
    "strided": lambda t, rng: tf.concat([t[::2], t[::-2]], 0),
    "pool": lambda t, rng: t[2] * _flat(tf.nn.avg_pool2d(tf.reshape(tf.tile(t[:2], [8]), [1, 4, 4, 1]), 2, 2, "SAME")),
    "norm": lambda t, rng: t / tf.norm(t[:2] + 2.0),
}


def build(seed: int, length: int = 5, x: tf.Tensor | None = None) -> tuple[tf.Tensor, tf.Tensor, list[str]]:
    """Builds y of x, a vector of 5, by `length` steps that the seed chooses; returns y, x and the steps' names."""
    rng = np.random.default_rng(seed)
    x = tf.placeholder(tf.float64, [5]) if x is None else x
    values, names = [x], []
    for _ in range(length):
        name = str(rng.choice(sorted(STEPS)))
        t = values[int(rng.integers(max(0, len(values) - 2), len(values)))]
        if t.shape[0] < 3:
            t = tf.concat([t, t, t], 0)
        if t.shape[0] > 16:
            t = t[:16]
        values.append(STEPS[name](t, rng))
        names.append(name)
    return values[-1], x, names
