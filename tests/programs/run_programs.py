"""Random programs whose shapes only the feeds decide, and random convolutional nets; for any `tf` of version 1.

A program is made by `lengths`, `ranks` or `nets` from a generator of random numbers. It returns fetches and a list of
feeds to run one after the other; numbers stay small, so that rounding does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class _Vectors:
    """What a program has: vectors, of which those with one tag have one length, scalars and small whole numbers."""

    def __init__(self, tf: Any, rng: Any):
        self.tf, self.rng = tf, rng
        self.vectors: list[tuple[Any, int]] = []
        self.scalars: list[Any] = []
        self.counts: list[Any] = []
        self.tags = 0

    def new(self, v: Any) -> None:
        self.tags += 1
        self.vectors.append((v, self.tags))

    def any(self, things: list[Any]) -> Any:
        return things[int(self.rng.integers(len(things)))]

    def twin(self, tag: int) -> Any:
        return self.any([v for v, t in self.vectors if t == tag])


def _elementwise(p: _Vectors, v: Any, tag: int) -> None:
    tf, s = p.tf, p.any(p.scalars)
    p.vectors.append((p.any([
        lambda: tf.sin(v), lambda: tf.tanh(v) * s, lambda: tf.where(v > 0.1, v, tf.zeros_like(v)), lambda: v * 0.5 - s,
        lambda: tf.sqrt(tf.abs(v) + 0.5), lambda: v / (1.0 + p.twin(tag) ** 2), lambda: tf.maximum(v, p.twin(tag)),
        lambda: tf.cumsum(v) / 8.0, lambda: tf.reverse(v, [0]), lambda: tf.nn.softmax(v), lambda: v - tf.reduce_mean(v),
        lambda: tf.reduce_sum(tf.tanh(tf.matmul(v[:, None], p.twin(tag)[None, :])), 1) / 4.0,
        lambda: v * tf.cast(tf.range(tf.size(v)) % 3, tf.float32), lambda: tf.squeeze(tf.expand_dims(v, 0), 0),
        lambda: tf.add_n([v, p.twin(tag), v]) / 3.0, lambda: tf.stack([v, p.twin(tag)], 1)[:, 1],
    ])(), tag))


def _cut(p: _Vectors, v: Any, tag: int) -> None:
    tf, k = p.tf, p.any(p.counts)
    n = tf.shape(v)[0]
    p.new(p.any([
        lambda: v[:k], lambda: v[k:], lambda: v[::2], lambda: v[::-1][k : 2 * k], lambda: tf.concat([v, v], 0),
        lambda: tf.slice(v, [tf.minimum(k, n)], [-1]), lambda: tf.slice(v, [0], [tf.minimum(k, n)]),
        lambda: tf.pad(v, [[1, k]]), lambda: tf.tile(v, [k]), lambda: tf.boolean_mask(v, v > 0.05),
        lambda: tf.fill([k], p.any(p.scalars)), lambda: tf.nn.top_k(v, tf.minimum(2, n))[0],
        lambda: tf.reshape(tf.reshape(tf.concat([v, v], 0), [2, -1]), [-1]), lambda: tf.gather(v, tf.range(n) // 2),
        lambda: tf.reshape(tf.stack([v, v], 1), [-1]),
    ])())


def _summed(p: _Vectors, v: Any, tag: int) -> None:
    tf = p.tf
    f = p.any([tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_logsumexp, tf.norm,
               lambda v: tf.reduce_prod(tf.tanh(v)), lambda v: tf.reduce_sum(v * v),
               lambda v: tf.reduce_sum(tf.unsorted_segment_sum(v, tf.range(tf.size(v)) % 3, 3) ** 2)])
    p.scalars.append(tf.tanh(f(v)))


def _counted(p: _Vectors, v: Any, tag: int) -> None:
    tf, k, n = p.tf, p.any(p.counts), p.tf.size(v)
    p.counts.append(tf.minimum(4, p.any([
        lambda: n // 2, lambda: n % 3, lambda: tf.cond(k > 0, lambda: (n + 5) // k, lambda: k), lambda: k + 1,
        lambda: n, lambda: tf.shape(tf.boolean_mask(v, v > 0.0))[0],
        lambda: tf.reduce_sum(tf.range(n) // tf.fill([n], k)),
    ])()))


def _repeated(p: _Vectors, v: Any, tag: int) -> None:
    tf, k, s = p.tf, p.any(p.counts), p.any(p.scalars)
    n = tf.shape(v)[0]
    p.scalars.append(tf.tanh(p.any([
        lambda: tf.while_loop(lambda i, a: i < k, lambda i, a: (i + 1, a * 0.5 + tf.reduce_sum(v) * s), [0, s])[1],
        lambda: tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 0.5 + v[i] * s), [0, s])[1],
        lambda: tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a + tf.gather(v, n - 1 - i)), [0, s])[1],
        lambda: tf.foldl(lambda a, e: a * 0.5 + e, v, s),
        lambda: tf.scan(lambda a, e: a * e, tf.concat([v, [1.0]], 0))[-1],
        lambda: tf.cond(n > 0, lambda: v[0] * v[n - 1], lambda: s), lambda: tf.cond(n > 2, lambda: v[2], lambda: s * s),
        lambda: tf.cond(k > 1, lambda: tf.reduce_sum(tf.gather(tf.concat([v, v, [s, s]], 0), [k - 2, 1])), lambda: s),
        lambda: tf.cond(n > 4, lambda: tf.reduce_sum(tf.gather(v, [4, 0])), lambda: s),
        lambda: tf.reduce_sum(tf.map_fn(lambda e: e * e * s, v)), lambda: tf.reduce_sum(tf.map_fn(lambda e: e * v, v)),
    ])()))


def _grow(p: _Vectors, steps: int) -> None:
    for _ in range(steps):
        v, tag = p.vectors[-1] if p.rng.random() < 0.5 else p.any(p.vectors)
        p.any([_elementwise, _cut, _summed, _counted, _repeated])(p, v, tag)


def _end(p: _Vectors, x: Any) -> list[Any]:
    """A sum of what there is, its gradient, and the gradient of that, and a variable that is updated by it."""
    tf = p.tf
    loss = tf.add_n([tf.reduce_sum(tf.tanh(v)) for v, _ in p.vectors] + p.scalars)
    table = tf.Variable(np.linspace(-1, 1, 4).astype(np.float32), use_resource=True)
    loss += tf.reduce_sum(tf.gather(table, tf.stack(p.counts[-2:]) % 4))
    (g,) = tf.gradients(loss, [x])
    with tf.control_dependencies([loss]):  # TensorFlow leaves it to chance else what the loss reads
        update = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=[table])
    with tf.control_dependencies([update]):
        return [loss, g, table.read_value()]


def lengths(tf: Any, rng: Any) -> tuple[list[Any], list[dict[Any, Any]]]:
    """A program on a vector of unknown length and a count."""
    p = _Vectors(tf, rng)
    x, k = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    p.new(x * 1.0)
    p.scalars.append(tf.constant(0.7))
    p.counts.append(k)
    _grow(p, int(rng.integers(3, 8)))
    sizes = [int(n) for n in rng.choice([0, 1, 2, 3, 5], 3)]
    feeds = [{x: rng.normal(size=n).astype(np.float32), k: int(rng.integers(4))} for n in sizes]
    return _end(p, x), [*feeds, feeds[0], feeds[1]]


def ranks(tf: Any, rng: Any) -> tuple[list[Any], list[dict[Any, Any]]]:
    """A program on a tensor of unknown rank."""
    p = _Vectors(tf, rng)
    x, k = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [])
    y: Any = x
    for _ in range(int(rng.integers(1, 4))):
        y = p.any([
            lambda y: tf.sin(y), lambda y: y * tf.ones_like(y), lambda y: y - tf.reduce_mean(y), tf.transpose,
            lambda y: tf.reduce_sum(tf.stack([y, y], -1), -1), lambda y: y + tf.reduce_sum(y) / 4.0,
            lambda y: tf.reshape(tf.reshape(y, [-1]), tf.shape(y)), lambda y: y * tf.cast(tf.rank(y), tf.float32),
            lambda y: tf.square(y) / 2.0, lambda y: tf.expand_dims(y, 0)[0], lambda y: tf.where(y > 0.0, y, -y),
            lambda y: y / (1.0 + tf.cast(tf.size(y), tf.float32)), lambda y: tf.reduce_max(tf.stack([y, -y]), 0),
        ])(y)
    p.new(tf.reshape(y, [-1]))
    p.scalars += [tf.reduce_sum(tf.square(y)), tf.tanh(tf.reduce_prod(y))]
    p.counts.append(k)
    _grow(p, int(rng.integers(0, 4)))
    shapes: list[tuple[int, ...]] = [(), (3,), (0,), (2, 3), (1,), (0, 2), (1, 2, 2)]
    chosen = [shapes[int(i)] for i in rng.choice(len(shapes), 3)]
    feeds = [{x: rng.normal(size=s).astype(np.float32), k: int(rng.integers(4))} for s in chosen]
    return _end(p, x), [*feeds, feeds[0], feeds[1]]


def nets(tf: Any, rng: Any) -> tuple[list[Any], list[dict[Any, Any]]]:
    """A convolutional net on batches of several sizes, with its gradients."""
    volumes = bool(rng.random() < 0.25)
    space = (4, 5, 4) if volumes else (6, 7)
    channels = int(rng.integers(1, 3))
    flat = int(np.prod(space)) * channels
    x = tf.placeholder(tf.float64, [None, flat])
    h, depth = tf.reshape(x, [-1, *space, channels]), channels
    weights: list[Any] = []

    def filter_of(*shape: int) -> Any:
        weights.append(tf.Variable(rng.normal(size=shape) * 0.3))
        return weights[-1]

    for _ in range(int(rng.integers(1, 4))):
        window, out = tuple(int(n) for n in rng.integers(1, 4, len(space))), int(rng.integers(1, 4))
        stride, padding = int(rng.integers(1, 3)), "SAME" if rng.random() < 0.7 else "VALID"
        kind = "plain" if volumes else str(rng.choice(["plain", "plain", "transposed", "depthwise", "pool", "dilated"]))
        if any(d is None or d < w for d, w in zip(h.shape.as_list()[1:-1], window, strict=True)):
            padding, stride = "SAME", 1
        if kind == "plain" and volumes:
            h, depth = tf.nn.conv3d(h, filter_of(*window, depth, out), [1, *[stride] * 3, 1], padding), out
        elif kind == "plain":
            h, depth = tf.nn.conv2d(h, filter_of(*window, depth, out), [1, stride, stride, 1], padding), out
        elif kind == "dilated":
            w, depth = filter_of(*window, depth, out), out
            h = tf.nn.conv2d(h, w, [1, 1, 1, 1], "SAME", dilations=[1, 2, 2, 1])
        elif kind == "transposed":
            sizes = [2 * n for n in h.shape.as_list()[1:3]]
            shape = tf.stack([tf.shape(h)[0], *sizes, out])
            h = tf.nn.conv2d_transpose(h, filter_of(*window, out, depth), shape, [1, 2, 2, 1], "SAME")
            h, depth = tf.reshape(h, [-1, *sizes, out]), out
        elif kind == "depthwise":
            h = tf.nn.depthwise_conv2d(h, filter_of(*window, depth, 2), [1, stride, stride, 1], padding)
            depth = 2 * depth
        else:
            pool: Callable[..., Any] = tf.nn.max_pool if rng.random() < 0.5 else tf.nn.avg_pool
            h = pool(h, [1, 2, 2, 1], [1, stride, stride, 1], "SAME")
        h = tf.tanh(h) if rng.random() < 0.5 else tf.nn.elu(h + 0.1)
    loss = tf.reduce_sum(tf.square(h)) / 16.0
    gradients = tf.gradients(loss, [x, *weights])
    if weights and rng.random() < 0.4:
        gradients += tf.gradients(tf.reduce_sum(tf.square(gradients[0])), [x, weights[-1]])
    update = tf.train.GradientDescentOptimizer(1e-3).minimize(loss, var_list=weights) if weights else tf.no_op()
    batches = [int(n) for n in rng.choice([0, 1, 2, 4, 6, 7, 8], 3)]
    feeds = [{x: rng.normal(size=(n, flat))} for n in batches]
    with tf.control_dependencies([g for g in gradients if g is not None]):
        with tf.control_dependencies([update]):
            after = [w.read_value() for w in weights]
    return [loss, *[g for g in gradients if g is not None], *after], [*feeds, feeds[0], feeds[1]]


KINDS = {"lengths": lengths, "ranks": ranks, "nets": nets}


def results(tf: Any, kind: str, seed: int, session: Callable[[], Any]) -> list[Any]:
    """What the program of a kind and seed gives, run by run: arrays, or the name of an error's class."""
    with tf.Graph().as_default():
        fetches, feeds = KINDS[kind](tf, np.random.default_rng([seed, len(kind)]))
        with session() as sess:
            sess.run(tf.global_variables_initializer())
            found: list[Any] = []
            for feed in feeds:
                try:
                    found.append([np.asarray(v) for v in sess.run(fetches, feed)])
                except tf.errors.OpError as e:
                    found.append(type(e).__name__)
            return found


def differences(found: list[Any], wanted: list[Any], rtol: float, atol: float) -> list[str]:
    """Where two results differ, in words."""
    said = []
    for n, (a, b) in enumerate(zip(found, wanted, strict=True)):
        if isinstance(a, str) or isinstance(b, str):
            if not (isinstance(a, str) and isinstance(b, str) and a == b):
                said.append(f"run {n + 1}: {a}, not {b}")
            continue
        for k, (u, v) in enumerate(zip(a, b, strict=True)):
            if u.shape != v.shape or not np.allclose(u, v, rtol=rtol, atol=atol, equal_nan=True):
                said.append(f"run {n + 1}, fetch {k}: {u}, not {v}")
    return said
