"""The models that are measured, each said three times: in the API of TensorFlow 1, in JAX, in PyTorch.

graphgrad and TensorFlow run the very same program. All systems get the same data and the same initial weights as
arrays, in the same order; `results.py` compares the losses that come out.
"""

from __future__ import annotations

import itertools

import numpy as np


class Model:
    """One model.

    Attributes:
      data: arrays that are handed in anew with every step.
      weights: the initial values of what is learned, or of what is differentiated by.
      optimizer: "sgd" or "adam"; None if a step gives the gradients themselves.
      rate: the learning rate.
      n: the size of the batch.
    """

    optimizer: str | None = "sgd"
    rate, n = 0.1, 1

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self.data: list[np.ndarray] = []
        self.weights: list[np.ndarray] = []
        self.prepare()

    def prepare(self) -> None:
        """Makes data and weights."""
        raise NotImplementedError  # each subclass has its own

    def forward(self, tf, w, *data):
        """The loss, or what `objective` makes it of, in the API of TensorFlow 1."""
        raise NotImplementedError  # each subclass has its own

    def objective(self, tf, y, *data):
        """The loss from what `forward` gave; counted as building gradients, since it may hold some."""
        return y

    def jax(self, jax, w, *data):
        """The loss in JAX."""
        raise NotImplementedError  # each subclass has its own

    def torch(self, torch, w, *data):
        """The loss in PyTorch, which gets images as (n, channels, height, width)."""
        raise NotImplementedError  # each subclass has its own

    # -- helpers -------------------------------------------------------------------

    def normal(self, *shape, scale=1.0):
        """Normally distributed values."""
        return self.rng.standard_normal(shape, np.float32) * np.float32(scale)

    def weight(self, *shape, scale=None):
        """Adds a weight, scaled for relu if nothing else is said."""
        self.weights.append(self.normal(*shape, scale=np.sqrt(2 / np.prod(shape[:-1])) if scale is None else scale))

    def fill(self, value, *shape):
        """Adds a weight of equal values, such as a bias."""
        self.weights.append(np.full(shape, value, np.float32))

    def dense(self, n, m, scale=None):
        """Adds the weights of a dense layer."""
        self.weight(n, m, scale=scale)
        self.fill(0, m)

    def integers(self, limit, *shape):
        """Integers in [0, limit)."""
        return self.rng.integers(0, limit, shape, np.int32)


def _pairs(w):
    return zip(w[::2], w[1::2], strict=True)


def _tf_cross_entropy(tf, logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def _jax_cross_entropy(jax, logits, labels):
    return -jax.numpy.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


class Smallest(Model):
    """sum(x * 2 + 1) of four numbers: what a call costs."""

    optimizer, n = None, 4

    def prepare(self):
        self.data = [self.normal(self.n)]

    def forward(self, tf, w, x):
        return tf.reduce_sum(x * 2.0 + 1.0)

    def jax(self, jax, w, x):
        return (x * 2.0 + 1.0).sum()

    def torch(self, torch, w, x):
        return (x * 2.0 + 1.0).sum()


class Chain(Model):
    """`tanh` applied 5,000 times to 64 numbers; its gradient."""

    optimizer = None
    length = 5000

    def prepare(self):
        self.weight(64, scale=1.0)

    def forward(self, tf, w):
        return tf.reduce_sum(self._chain(tf.tanh, w[0]))

    def jax(self, jax, w):
        return self._chain(jax.numpy.tanh, w[0]).sum()

    def torch(self, torch, w):
        return self._chain(torch.tanh, w[0]).sum()

    def _chain(self, tanh, y):
        for _ in range(self.length):
            y = tanh(y)
        return y


class FanIn(Model):
    """100 branches tanh(c x) of a matrix 512 x 512, summed by one operation; the gradient of the mean of squares."""

    optimizer = None
    branches = 100

    def prepare(self):
        self.weight(512, 512, scale=1.0)

    def forward(self, tf, w):
        return tf.reduce_mean(tf.square(tf.add_n(self._branches(tf.tanh, w[0]))))

    def jax(self, jax, w):
        return (sum(self._branches(jax.numpy.tanh, w[0])) ** 2).mean()

    def torch(self, torch, w):
        return (sum(self._branches(torch.tanh, w[0])) ** 2).mean()

    def _branches(self, tanh, x):
        return [tanh(x * ((i + 1) / self.branches)) for i in range(self.branches)]


class MLP(Model):
    """784-512-512-10 with relu, batch 128."""

    n = 128

    def prepare(self):
        self.data = [self.normal(self.n, 784), self.integers(10, self.n)]
        for n, m in itertools.pairwise([784, 512, 512, 10]):
            self.dense(n, m)

    def forward(self, tf, w, h, labels):
        for i, (kernel, bias) in enumerate(_pairs(w)):
            h = tf.matmul(tf.nn.relu(h) if i else h, kernel) + bias
        return _tf_cross_entropy(tf, h, labels)

    def jax(self, jax, w, h, labels):
        for i, (kernel, bias) in enumerate(_pairs(w)):
            h = (jax.nn.relu(h) if i else h) @ kernel + bias
        return _jax_cross_entropy(jax, h, labels)

    def torch(self, torch, w, h, labels):
        for i, (kernel, bias) in enumerate(_pairs(w)):
            h = torch.addmm(bias, torch.relu(h) if i else h, kernel)
        return torch.nn.functional.cross_entropy(h, labels)


class CNN(Model):
    """Two 5x5 convolutions (32, 64) with pooling, two dense layers, on 28x28, batch 64."""

    rate, n = 0.001, 64

    def prepare(self):
        self.data = [self.normal(self.n, 28, 28, 1), self.integers(10, self.n)]
        for shape in ((5, 5, 1, 32), (5, 5, 32, 64), (7 * 7 * 64, 512), (512, 10)):
            self.weight(*shape)
            self.fill(0, shape[-1])

    def forward(self, tf, w, h, labels):
        for kernel, bias in _pairs(w[:4]):
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, kernel, strides=[1, 1, 1, 1], padding="SAME"), bias))
            h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
        h = tf.nn.relu(tf.matmul(tf.reshape(h, [self.n, 7 * 7 * 64]), w[4]) + w[5])
        return _tf_cross_entropy(tf, tf.matmul(h, w[6]) + w[7], labels)

    def jax(self, jax, w, h, labels):
        for kernel, bias in _pairs(w[:4]):
            h = jax.lax.conv_general_dilated(h, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            h = jax.nn.relu(h + bias)
            h = jax.lax.reduce_window(h, -np.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        h = jax.nn.relu(h.reshape(64, -1) @ w[4] + w[5])
        return _jax_cross_entropy(jax, h @ w[6] + w[7], labels)

    def torch(self, torch, w, h, labels):
        f = torch.nn.functional
        for kernel, bias in _pairs(w[:4]):
            h = f.max_pool2d(torch.relu(f.conv2d(h, kernel, bias, padding=2)), 2)
        h = torch.relu(torch.addmm(w[5], h.permute(0, 2, 3, 1).reshape(64, -1), w[4]))
        return f.cross_entropy(torch.addmm(w[7], h, w[6]), labels)


class ResNet(Model):
    """ResNet-20 on 32x32, batch 32: batch norm by the batch's own moments, strided 1x1 convolutions as shortcuts."""

    n, stages = 32, ((16, 1), (32, 2), (64, 2))  # channels, stride of the first block

    def prepare(self):
        self.data = [self.normal(self.n, 32, 32, 3), self.integers(10, self.n)]
        self._unit(3, 3, 16)
        before = 16
        for channels, stride in self.stages:
            for block in range(3):
                self._unit(3, before, channels)
                self._unit(3, channels, channels)
                if stride > 1 and block == 0:
                    self._unit(1, before, channels)
                before = channels
        self.dense(64, 10)

    def _unit(self, size, n, m):
        """The weights of a convolution and of the normalisation behind it."""
        self.weight(size, size, n, m)
        self.fill(1, m)
        self.fill(0, m)

    def _features(self, w, h, unit, relu):
        """The network up to the last convolution; `unit` applies a convolution and normalises."""
        units = iter(zip(w[:-2:3], w[1:-2:3], w[2:-2:3], strict=True))
        h = relu(unit(h, next(units), 1))
        for _, first in self.stages:
            for block in range(3):
                stride = first if block == 0 else 1
                inner = unit(relu(unit(h, next(units), stride)), next(units), 1)
                h = relu(inner + (unit(h, next(units), stride) if stride > 1 else h))
        return h

    def forward(self, tf, w, h, labels):
        def unit(h, weights, stride):
            kernel, scale, offset = weights
            p = int(kernel.shape[0]) // 2
            h = tf.nn.conv2d(h, kernel, strides=[1, stride, stride, 1], padding=[[0, 0], [p, p], [p, p], [0, 0]])
            return tf.nn.fused_batch_norm(h, scale, offset, epsilon=1e-3, is_training=True)[0]

        h = tf.reduce_mean(self._features(w, h, unit, tf.nn.relu), [1, 2])
        return _tf_cross_entropy(tf, tf.matmul(h, w[-2]) + w[-1], labels)

    def jax(self, jax, w, h, labels):
        def unit(h, weights, stride):
            kernel, scale, offset = weights
            p = kernel.shape[0] // 2
            h = jax.lax.conv_general_dilated(h, kernel, (stride, stride), [(p, p), (p, p)],
                                             dimension_numbers=("NHWC", "HWIO", "NHWC"))
            mean, variance = h.mean((0, 1, 2)), h.var((0, 1, 2))
            return (h - mean) * jax.lax.rsqrt(variance + 1e-3) * scale + offset

        h = self._features(w, h, unit, jax.nn.relu).mean((1, 2))
        return _jax_cross_entropy(jax, h @ w[-2] + w[-1], labels)

    def torch(self, torch, w, h, labels):
        f = torch.nn.functional

        def unit(h, weights, stride):
            kernel, scale, offset = weights
            h = f.conv2d(h, kernel, stride=stride, padding=kernel.shape[-1] // 2)
            return f.batch_norm(h, None, None, scale, offset, training=True, eps=1e-3)

        h = self._features(w, h, unit, torch.relu).mean((2, 3))
        return f.cross_entropy(torch.addmm(w[-1], h, w[-2]), labels)


class LSTM(Model):
    """An LSTM cell of 128 units written out, 50 steps unrolled, batch 64; JAX has it in `lax.scan`."""

    n = 64

    def prepare(self):
        self.data = [self.normal(50, self.n, 128), self.integers(10, self.n)]
        self.dense(256, 512, scale=256**-0.5)
        self.dense(128, 10)

    def forward(self, tf, w, xs, labels):
        h = c = tf.zeros([self.n, 128])
        for x in tf.unstack(xs):
            i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), w[0]) + w[1], 4, 1)
            c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
            h = tf.sigmoid(o) * tf.tanh(c)
        return _tf_cross_entropy(tf, tf.matmul(h, w[2]) + w[3], labels)

    def jax(self, jax, w, xs, labels):
        np, sigmoid = jax.numpy, jax.nn.sigmoid

        def cell(state, x):
            h, c = state
            i, j, f, o = np.split(np.concatenate([x, h], 1) @ w[0] + w[1], 4, 1)
            c = sigmoid(f + 1.0) * c + sigmoid(i) * np.tanh(j)
            return (sigmoid(o) * np.tanh(c), c), None

        zeros = np.zeros((64, 128))
        (h, _), _ = jax.lax.scan(cell, (zeros, zeros), xs)
        return _jax_cross_entropy(jax, h @ w[2] + w[3], labels)

    def torch(self, torch, w, xs, labels):
        h = c = torch.zeros(64, 128)
        for x in xs.unbind():
            i, j, f, o = torch.addmm(w[1], torch.cat([x, h], 1), w[0]).chunk(4, 1)
            c = torch.sigmoid(f + 1.0) * c + torch.sigmoid(i) * torch.tanh(j)
            h = torch.sigmoid(o) * torch.tanh(c)
        return torch.nn.functional.cross_entropy(torch.addmm(w[3], h, w[2]), labels)


class Transformer(Model):
    """Four blocks of self-attention (4 heads) and a dense part, width 128; 16 sequences of 64; Adam."""

    optimizer = "adam"
    rate = 1e-3
    n, length, width, heads, blocks = 16, 64, 128, 4, 4

    def prepare(self):
        d = self.width
        self.data = [self.normal(self.n, self.length, d), self.integers(10, self.n)]
        for _ in range(self.blocks):
            for n, m in ((d, 3 * d), (d, d), (d, 4 * d), (4 * d, d)):
                self.dense(n, m, scale=n**-0.5)
            for value in (1, 0, 1, 0):  # two layer normalisations
                self.fill(value, d)
        self.dense(d, 10)

    def _block(self, w, h, norm, attention, dense, relu):
        qkv, mixed, inner, outer = _pairs(w[:8])
        h = h + dense(attention(dense(norm(h, *w[8:10]), *qkv)), *mixed)
        return h + dense(relu(dense(norm(h, *w[10:12]), *inner)), *outer)

    def _blocks(self, w, h, *parts):
        for i in range(self.blocks):
            h = self._block(w[12 * i : 12 * i + 12], h, *parts)
        return h

    def forward(self, tf, w, h, labels):
        n, length, d, heads = self.n, self.length, self.width, self.heads

        def norm(x, scale, offset):
            mean, variance = tf.nn.moments(x, [2], keep_dims=True)
            return (x - mean) * tf.rsqrt(variance + 1e-5) * scale + offset

        def dense(x, kernel, bias):
            m = int(kernel.shape[1])
            return tf.reshape(tf.matmul(tf.reshape(x, [n * length, -1]), kernel) + bias, [n, length, m])

        def attention(x):
            q, k, v = tf.unstack(tf.transpose(tf.reshape(x, [n, length, 3, heads, d // heads]), [2, 0, 3, 1, 4]))
            p = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (d // heads) ** -0.5)
            return tf.reshape(tf.transpose(tf.matmul(p, v), [0, 2, 1, 3]), [n, length, d])

        h = tf.reduce_mean(self._blocks(w, h, norm, attention, dense, tf.nn.relu), 1)
        return _tf_cross_entropy(tf, tf.matmul(h, w[-2]) + w[-1], labels)

    def jax(self, jax, w, h, labels):
        np, n, length, d, heads = jax.numpy, self.n, self.length, self.width, self.heads

        def norm(x, scale, offset):
            mean, variance = x.mean(2, keepdims=True), x.var(2, keepdims=True)
            return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + offset

        def attention(x):
            q, k, v = np.moveaxis(x.reshape(n, length, 3, heads, d // heads), 2, 0)
            return jax.nn.dot_product_attention(q, k, v).reshape(n, length, d)

        def dense(x, kernel, bias):
            return x @ kernel + bias

        h = self._blocks(w, h, norm, attention, dense, jax.nn.relu).mean(1)
        return _jax_cross_entropy(jax, h @ w[-2] + w[-1], labels)

    def torch(self, torch, w, h, labels):
        f, n, length, d, heads = torch.nn.functional, self.n, self.length, self.width, self.heads

        def norm(x, scale, offset):
            return f.layer_norm(x, (d,), scale, offset, 1e-5)

        def attention(x):
            q, k, v = x.reshape(n, length, 3, heads, d // heads).permute(2, 0, 3, 1, 4)
            return f.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, length, d)

        def dense(x, kernel, bias):
            return torch.addmm(bias, x.reshape(n * length, -1), kernel).reshape(n, length, -1)

        h = self._blocks(w, h, norm, attention, dense, torch.relu).mean(1)
        return f.cross_entropy(torch.addmm(w[-1], h, w[-2]), labels)


class PINN(Model):
    """Burgers' equation: eight layers of 20 tanh units at 1,000 points, second derivatives in the loss; Adam."""

    optimizer = "adam"
    rate, n = 1e-3, 1000
    viscosity = 0.01 / np.pi

    def prepare(self):
        self.data = [np.tanh(self.normal(self.n, 1)), np.abs(np.tanh(self.normal(self.n, 1)))]
        for n, m in itertools.pairwise([2, *[20] * 8, 1]):
            self.dense(n, m, scale=n**-0.5)

    def _residual(self, u, u_x, u_t, u_xx):
        return u_t + u * u_x - self.viscosity * u_xx

    def forward(self, tf, w, x, t):
        h = tf.concat([x, t], 1)
        for i, (kernel, bias) in enumerate(_pairs(w)):
            h = tf.matmul(tf.tanh(h) if i else h, kernel) + bias
        return h

    def objective(self, tf, u, x, t):
        u_x, u_t = tf.gradients(u, [x, t])
        (u_xx,) = tf.gradients(u_x, x)
        return tf.reduce_mean(tf.square(self._residual(u, u_x, u_t, u_xx)))

    def jax(self, jax, w, xs, ts):
        np = jax.numpy

        def u(x, t):
            h = np.stack([x, t])
            for i, (kernel, bias) in enumerate(_pairs(w)):
                h = (np.tanh(h) if i else h) @ kernel + bias
            return h[0]

        def residual(x, t):
            value, (u_x, u_t) = jax.value_and_grad(u, (0, 1))(x, t)
            return self._residual(value, u_x, u_t, jax.grad(jax.grad(u))(x, t))

        return (jax.vmap(residual)(xs[:, 0], ts[:, 0]) ** 2).mean()

    def torch(self, torch, w, x, t):
        x, t = x.requires_grad_(), t.requires_grad_()
        h = torch.cat([x, t], 1)
        for i, (kernel, bias) in enumerate(_pairs(w)):
            h = torch.addmm(bias, torch.tanh(h) if i else h, kernel)
        u_x, u_t = torch.autograd.grad(h.sum(), [x, t], create_graph=True)
        (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
        return (self._residual(h, u_x, u_t, u_xx) ** 2).mean()


class SkipGram(Model):
    """Two tables 200,000 x 64; 1,024 words, each with one neighbour and 5 others; only rows touched are updated."""

    n, words = 1024, 200_000
    rate = 100.0  # the loss is a mean, so a row's gradient is small

    def prepare(self):
        self.data = [self.integers(self.words, self.n), self.integers(self.words, self.n, 6)]
        self.labels = np.eye(6, dtype=np.float32)[:1].repeat(self.n, 0)
        for _ in range(2):
            self.weight(self.words, 64, scale=0.1)

    def forward(self, tf, w, words, others):
        rows, columns = tf.nn.embedding_lookup(w[0], words), tf.nn.embedding_lookup(w[1], others)
        logits = tf.reduce_sum(tf.expand_dims(rows, 1) * columns, 2)
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=self.labels, logits=logits))

    def jax(self, jax, picked, words, others):
        logits = (picked[0][:, None] * picked[1]).sum(2)
        return (jax.nn.softplus(logits) - logits * self.labels).mean()

    def jax_step(self, jax, w, words, others):
        """A step in JAX that differentiates by the rows, since it has no sparse gradients."""
        picked = [w[0][words], w[1][others]]
        loss, grads = jax.value_and_grad(lambda p: self.jax(jax, p, words, others))(picked)
        return [w[0].at[words].add(-self.rate * grads[0]), w[1].at[others].add(-self.rate * grads[1])], loss

    def torch(self, torch, w, words, others):
        f = torch.nn.functional
        rows, columns = f.embedding(words, w[0], sparse=True), f.embedding(others, w[1], sparse=True)
        logits = (rows[:, None] * columns).sum(2)
        return f.binary_cross_entropy_with_logits(logits, torch.as_tensor(self.labels))


MODELS: dict[str, type[Model]] = {
    "smallest graph": Smallest,
    "MLP": MLP,
    "CNN (LeNet size)": CNN,
    "ResNet-20": ResNet,
    "LSTM, 50 steps": LSTM,
    "transformer, 4 blocks": Transformer,
    "physics-informed net": PINN,
    "skip-gram": SkipGram,
    "chain of 5,000 tanh": Chain,
    "fan-in of 100": FanIn,
}
