"""The models that are measured, written against the TensorFlow 1.x API alone.

Each system is handed to them as `tf`, so all of them run the very same program.
"""

from __future__ import annotations

import functools
import itertools
import time

import numpy as np

NORMAL = np.random.RandomState(0).randn(10_007).astype(np.float32)


def _preparation(method):
    """Counts the time of a method that makes data, so that it can be told from building the graph."""

    @functools.wraps(method)
    def timed(self, *args, **kwargs):
        start, before = time.perf_counter(), self.preparing
        result = method(self, *args, **kwargs)
        self.preparing = before + time.perf_counter() - start
        return result

    return timed


class Model:
    """One model, built in three steps that are timed by themselves.

    Attributes set by the steps:
      loss: the scalar that is differentiated.
      xs: what it is differentiated by.
      grads: the gradients.
      feeds: placeholder -> array.
      fetches: what one step runs; the loss comes first.
      preparing: seconds spent on making data, which are not the system's.
    """

    def __init__(self) -> None:
        self.feeds = {}
        self.xs = []
        self.drawn = 0  # arrays so far
        self.preparing = 0.0

    def forward(self, tf) -> None:
        """Builds the loss."""
        raise NotImplementedError  # each subclass has its own

    def differentiate(self, tf) -> None:
        """Adds the gradients; nothing but calls of `tf.gradients`, or next to it."""
        self.grads = tf.gradients(self.loss, self.xs)

    def update(self, tf) -> None:
        """Adds what a step runs besides the loss."""
        self.fetches = [self.loss, tf.train.GradientDescentOptimizer(1e-3).apply_gradients(zip(self.grads, self.xs))]

    # -- helpers -------------------------------------------------------------------

    def data(self, tf, array):
        """A placeholder that is fed `array`."""
        placeholder = tf.placeholder(array.dtype, array.shape)
        self.feeds[placeholder] = array
        return placeholder

    def weight(self, tf, *shape, scale=None):
        """A trainable variable with normally distributed values."""
        variable = tf.Variable(self.initial(*shape, scale=scale))
        self.xs.append(variable)
        return variable

    @_preparation
    def initial(self, *shape, scale=None):
        """Normally distributed initial values of a weight."""
        scale = np.sqrt(2.0 / np.prod(shape[:-1])) if scale is None else scale
        return self.batch(*shape) * np.float32(scale)

    def bias(self, tf, *shape):
        """A trainable variable of zeros."""
        variable = tf.Variable(np.zeros(shape, np.float32))
        self.xs.append(variable)
        return variable

    @_preparation
    def batch(self, *shape):
        """Normally distributed values, made quickly."""
        self.drawn += 1
        return np.resize(np.roll(NORMAL, 31 * self.drawn), shape)

    @_preparation
    def integers(self, limit, *shape):
        """Integers in [0, limit)."""
        return (np.abs(self.batch(*shape)) * 1e6).astype(np.int32) % np.int32(limit)

    def cross_entropy(self, tf, logits, n, classes):
        """The mean cross entropy with random labels."""
        labels = self.data(tf, self.integers(classes, n))
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


class Chain(Model):
    """`tanh` applied over and over to 64 numbers."""

    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, tf):
        x = y = self.data(tf, self.batch(64))
        for _ in range(self.n):
            y = tf.tanh(y)
        self.loss = tf.reduce_sum(y)
        self.xs = [x]

    def update(self, tf):
        self.fetches = [self.loss, *self.grads]


class Comb(Chain):
    """`tanh(y) * x` over and over: one tensor with a reader in each step."""

    def forward(self, tf):
        x = y = self.data(tf, 1 + 0.01 * self.batch(64))
        for _ in range(self.n):
            y = tf.tanh(y) * x
        self.loss = tf.reduce_sum(y)
        self.xs = [x]


class FanIn(Chain):
    """`n` branches from one tensor, summed."""

    def forward(self, tf):
        x = self.data(tf, self.batch(64, 64))
        self.loss = tf.reduce_sum(tf.add_n([tf.tanh(x * (i / self.n)) for i in range(self.n)]))
        self.xs = [x]


class MLP(Model):
    """784-512-512-10 with relu, batch 128."""

    def __init__(self, optimizer):
        super().__init__()
        self.optimizer = optimizer

    def forward(self, tf):
        h = self.data(tf, self.batch(128, 784))
        sizes = [784, 512, 512, 10]
        for i, (n, m) in enumerate(itertools.pairwise(sizes)):
            h = tf.matmul(h, self.weight(tf, n, m)) + self.bias(tf, m)
            h = tf.nn.relu(h) if i < 2 else h
        self.loss = self.cross_entropy(tf, h, 128, 10)

    def update(self, tf):
        if self.optimizer == "adam":
            step = tf.train.AdamOptimizer(1e-3).apply_gradients(zip(self.grads, self.xs))
        else:
            step = tf.train.GradientDescentOptimizer(0.01).apply_gradients(zip(self.grads, self.xs))
        self.fetches = [self.loss, step]


class CNN(Model):
    """LeNet: two 5x5 convolutions with pooling, two dense layers, batch 64."""

    def forward(self, tf):
        h = self.data(tf, self.batch(64, 28, 28, 1))
        for n, m in ((1, 32), (32, 64)):
            h = tf.nn.conv2d(h, self.weight(tf, 5, 5, n, m), strides=[1, 1, 1, 1], padding="SAME")
            h = tf.nn.relu(tf.nn.bias_add(h, self.bias(tf, m)))
            h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
        h = tf.reshape(h, [64, 7 * 7 * 64])
        h = tf.nn.relu(tf.matmul(h, self.weight(tf, 7 * 7 * 64, 512)) + self.bias(tf, 512))
        h = tf.matmul(h, self.weight(tf, 512, 10)) + self.bias(tf, 10)
        self.loss = self.cross_entropy(tf, h, 64, 10)


class ResNet(Model):
    """Six residual blocks of two 3x3 convolutions with batch normalisation, 16x16x16, batch 32."""

    def forward(self, tf):
        h = self.data(tf, self.batch(32, 16, 16, 16))
        for _ in range(6):
            short = h
            for _ in range(2):
                h = tf.nn.conv2d(h, self.weight(tf, 3, 3, 16, 16), strides=[1, 1, 1, 1], padding="SAME")
                mean, variance = tf.nn.moments(h, [0, 1, 2])
                offset, scale = self.bias(tf, 16), self.weight(tf, 16, scale=1.0)
                h = tf.nn.batch_normalization(h, mean, variance, offset, scale, 1e-3)
                h = tf.nn.relu(h)
            h = h + short
        h = tf.matmul(tf.reduce_mean(h, [1, 2]), self.weight(tf, 16, 10))
        self.loss = self.cross_entropy(tf, h, 32, 10)


class PINN(Model):
    """Burgers' equation: eight layers of 20 tanh units at 1,000 points; second derivatives in the loss."""

    def forward(self, tf):
        self.x = self.data(tf, np.tanh(self.batch(1000, 1)))
        self.t = self.data(tf, np.abs(np.tanh(self.batch(1000, 1))))
        h = tf.concat([self.x, self.t], 1)
        for n, m in [(2, 20)] + [(20, 20)] * 7:
            h = tf.tanh(tf.matmul(h, self.weight(tf, n, m)) + self.bias(tf, m))
        self.u = tf.matmul(h, self.weight(tf, 20, 1)) + self.bias(tf, 1)

    def differentiate(self, tf):
        u_t = tf.gradients(self.u, self.t)[0]
        u_x = tf.gradients(self.u, self.x)[0]
        u_xx = tf.gradients(u_x, self.x)[0]
        self.loss = tf.reduce_mean(tf.square(u_t + self.u * u_x - (0.01 / np.pi) * u_xx))
        self.grads = tf.gradients(self.loss, self.xs)

    def update(self, tf):
        self.fetches = [self.loss, tf.train.AdamOptimizer(1e-3).apply_gradients(zip(self.grads, self.xs))]


class LSTM(Model):
    """An LSTM cell of 128 units written by hand, unrolled over the steps, batch 64."""

    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def forward(self, tf):
        xs = self.data(tf, self.batch(self.steps, 64, 128))
        w, b = self.weight(tf, 256, 512), self.bias(tf, 512)
        h = c = tf.zeros([64, 128])
        for x in tf.unstack(xs):
            i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), w) + b, 4, 1)
            c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
            h = tf.sigmoid(o) * tf.tanh(c)
        self.loss = self.cross_entropy(tf, tf.matmul(h, self.weight(tf, 128, 10)), 64, 10)


class Attention(Model):
    """Two layers of self-attention with 4 heads and a dense part; 16 sequences of 64, width 128."""

    def forward(self, tf):
        n, length, heads, width = 16, 64, 4, 128
        h = self.data(tf, self.batch(n, length, width))

        def dense(x, m):
            k = int(x.shape[-1])
            flat = tf.matmul(tf.reshape(x, [-1, k]), self.weight(tf, k, m, scale=k**-0.5)) + self.bias(tf, m)
            return tf.reshape(flat, [n, length, m])

        def split(x):
            return tf.transpose(tf.reshape(x, [n, length, heads, width // heads]), [0, 2, 1, 3])

        def normalised(x):
            mean, variance = tf.nn.moments(x, [2], keep_dims=True)
            return (x - mean) * tf.rsqrt(variance + 1e-5)

        for _ in range(2):
            q, k, v = split(dense(h, width)), split(dense(h, width)), split(dense(h, width))
            weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5)
            mixed = tf.reshape(tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3]), [n, length, width])
            h = normalised(h + dense(mixed, width))
            h = normalised(h + dense(tf.nn.relu(dense(h, 4 * width)), width))
        logits = tf.matmul(tf.reduce_mean(h, 1), self.weight(tf, width, 10))
        self.loss = self.cross_entropy(tf, logits, n, 10)


class Embedding(Model):
    """Rows of a 100,000 x 64 table, averaged over 20 words; 256 sentences; sparse updates."""

    def forward(self, tf):
        words = self.data(tf, self.integers(100_000, 256, 20))
        h = tf.reduce_mean(tf.nn.embedding_lookup(self.weight(tf, 100_000, 64, scale=0.1), words), 1)
        self.loss = self.cross_entropy(tf, tf.matmul(h, self.weight(tf, 64, 10)), 256, 10)


MODELS = {
    "chain of 2,000 tanh": lambda: Chain(2000),
    "comb of 1,000 tanh(y) * x": lambda: Comb(1000),
    "100 branches summed": lambda: FanIn(100),
    "MLP, SGD": lambda: MLP("sgd"),
    "MLP, Adam": lambda: MLP("adam"),
    "CNN (LeNet)": CNN,
    "ResNet, 12 convolutions": ResNet,
    "physics-informed net": PINN,
    "LSTM, 20 steps": lambda: LSTM(20),
    "LSTM, 50 steps": lambda: LSTM(50),
    "attention, 2 layers": Attention,
    "sparse embedding": Embedding,
}
