"""Narrow matrices of compiled programs, which are computed by columns, against NumPy's results."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.rewrite import layouts
from graphgrad.executor.runtime import executable
from graphgrad.executor.runtime.session import HostSession
from tests.support.effort import part


class NarrowProgram:
    """A random program on matrices of many rows and few columns, and on what comes of them.

    Attributes:
      feeds: placeholders and their values.
      narrow: the matrices that it has made.
      others: what came of them.
    """

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.dtype = np.dtype(self.rng.choice(["float32", "float64"]))
        self.rows = int(self.rng.choice([130, 200, 256]))
        self.columns = int(self.rng.integers(2, 9))
        self.feeds = {}
        self.narrow = [self.fed(self.rows, self.columns) for _ in range(2)]
        self.others = []
        for _ in range(int(self.rng.integers(6, 18))):
            step = self.any_of(self.layer, self.element, self.scaled, self.normalized, self.turned, self.cut,
                                    self.chosen, self.gradient, self.summed, self.looped, self.foreign, self.product)
            step(self.one())

    def fed(self, *shape):
        """A fed value."""
        x = tf.placeholder(self.dtype, shape)
        self.feeds[x] = self.rng.standard_normal(shape).astype(self.dtype) * 0.5
        return x

    def any_of(self, *choices):
        """One of what is given."""
        return choices[int(self.rng.integers(len(choices)))]

    def one(self):
        """One of the matrices."""
        return self.any_of(*self.narrow)

    def layer(self, x):
        """A layer of a net."""
        n = int(self.rng.integers(2, 9))
        f = self.any_of(tf.tanh, tf.nn.relu, tf.sigmoid, tf.sin)
        self.narrow.append(f(tf.matmul(x, self.fed(x.shape[1], n)) + self.fed(n)))

    def element(self, x):
        """Operations by element."""
        y = self.any_of(*[y for y in self.narrow if y.shape == x.shape])
        self.narrow.append(self.any_of(tf.add, tf.multiply, tf.maximum, tf.subtract)(x, y) / (1.0 + tf.square(x)))

    def scaled(self, x):
        """Rows and columns times numbers."""
        self.narrow.append(x * self.any_of(self.fed(self.rows, 1), self.fed(x.shape[1]), self.fed(1, 1), x[:, :1]))

    def normalized(self, x):
        """What goes along rows."""
        f = self.any_of(tf.nn.softmax, lambda v: v - tf.reduce_max(v, 1, keepdims=True),
                             lambda v: v * tf.rsqrt(tf.reduce_mean(tf.square(v), 0, keepdims=True) + 0.1))
        self.narrow.append(f(x))

    def turned(self, x):
        """The transpose, and back by way of a product or of another transposition."""
        y = tf.tanh(tf.transpose(x))
        self.others.append(y)
        self.narrow.append(tf.transpose(y + self.fed(x.shape[1], 1)))
        self.narrow.append(tf.matmul(y, self.fed(x.shape[1], 3), transpose_a=True))

    def cut(self, x):
        """Concatenated, padded and cut."""
        wide = tf.concat([x, self.one(), self.fed(self.rows, 1)], 1)
        self.narrow.append(tf.tanh(wide[:, 1 : int(self.rng.integers(3, 6))]))
        self.narrow.append(tf.pad(x, [[0, 0], [1, 0]])[:, :2])
        self.others.append(tf.concat([x, x], 0)[1:-3] * 2.0)
        self.others.append(tf.concat([x[:7], self.fed(5, x.shape[1])], 0) * 3.0)

    def chosen(self, x):
        """Selected by a condition."""
        self.narrow.append(tf.where(x > 0.1, x, tf.exp(-tf.abs(x))))
        self.narrow.append(tf.clip_by_value(x, -0.3, 0.2))

    def gradient(self, x):
        """A derivative."""
        loss = tf.reduce_mean(tf.square(tf.tanh(x)))
        self.narrow += [tf.convert_to_tensor(g) for g in tf.gradients(loss, self.narrow[:2]) if g is not None]

    def summed(self, x):
        """Reductions."""
        axis = self.any_of(None, 0, 1, [0, 1])
        self.others.append(self.any_of(tf.reduce_sum, tf.reduce_max, tf.reduce_mean)(tf.tanh(x), axis))

    def looped(self, x):
        """A loop which has a matrix, and sees others."""
        seen, w = self.one(), self.fed(x.shape[1], x.shape[1])
        shift = tf.reduce_sum(seen, 1, keepdims=True)

        def body(i, v):
            return i + 1, tf.tanh(tf.matmul(v, w) * 0.3 + tf.tanh(shift) * tf.cos(v))

        self.narrow.append(tf.while_loop(lambda i, v: i < 3, body, [tf.constant(0), x])[1])
        self.narrow.append(tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.sin(x) + tf.tanh(shift), lambda: x * 2.0))

    def foreign(self, x):
        """Operations that need their operands by rows."""
        f = self.any_of(lambda v: tf.cumsum(v, 1), lambda v: tf.reverse(v, [0]),
                             lambda v: tf.gather(v, list(range(self.rows))[::-1]),
                             lambda v: tf.reshape(tf.reshape(v, [-1]) * 2.0, v.shape))
        self.narrow.append(f(x))
        self.others += [tf.reshape(x, [-1]), tf.stack([x, x]), tf.argmax(x, 1)]

    def product(self, x):
        """Products over rows."""
        y = self.one()
        self.others += [tf.matmul(x, y, transpose_a=True), tf.einsum("bi,bj->ij", x, y), tf.reduce_sum(x * x, 1)]
        self.narrow.append(tf.matmul(x, tf.matmul(x, y, transpose_a=True) / self.rows))


@pytest.mark.parametrize("seed", part(range(120), 4))
def test_random_programs_agree_with_numpy(seed, monkeypatch):
    monkeypatch.setattr(executable, "first_in_numpy", False)
    monkeypatch.setattr(layouts, "_COST", 1)  # so that many groups are transposed
    with tf.Graph().as_default():
        program = NarrowProgram(seed)
        fetches = [*program.narrow[-3:], *program.others[-3:], *tf.gradients(program.narrow[-1], list(program.feeds))]
        fetches = [f for f in fetches if f is not None]
        with tf.Session() as sess:
            found = [sess.run(fetches, program.feeds) for _ in range(2)][1]
        with HostSession() as sess:
            wanted = sess.run(fetches, program.feeds)
    eps = np.finfo(program.dtype).eps
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e4 * eps, atol=1e4 * eps * max(1.0, np.abs(want).max()))


def _rewritten(function, *arguments):
    """Returns the text of a function's program, rewritten, and whether there was cause."""
    lowered = jax.jit(function).trace(*arguments).lower(lowering_platforms=("cpu",))
    operation = lowered.compiler_ir("stablehlo").operation
    cause = layouts.found(operation.get_asm())
    layouts.rewrite(operation)
    assert operation.verify()
    return operation.get_asm(), cause


def test_layers_of_a_net_are_computed_by_columns():
    x, w, b = np.ones([1000, 20], np.float32), np.ones([20, 20], np.float32), np.ones([20], np.float32)

    def loss(w):
        h = jnp.tanh(x @ w + b)
        return jnp.sum(jnp.tanh(h @ w + b) ** 2)

    text, cause = _rewritten(jax.grad(loss), w)
    assert cause
    assert not re.search(r"stablehlo\.(tanh|multiply|add) .*tensor<1000x20xf32>", text)
    assert re.search(r"stablehlo\.tanh .*tensor<20x1000xf32>", text)


def _chained(x):
    for _ in range(40):
        x = jnp.sin(x) * 0.9 + x * x
    return x


@pytest.mark.parametrize("function, shape", [
    (lambda x: x + 1.0, (1000, 20)),  # what enters and leaves outweighs it
    (lambda x: x[:, ::-1] * jnp.cumsum(x, 1), (1000, 20)),
    (_chained, (1000, 20)),  # a loop over all elements, whatever the axes
    (lambda x: jnp.tanh(jnp.tanh(jnp.tanh(x))), (1000, 64)),  # not narrow
    (lambda x: jnp.tanh(jnp.tanh(jnp.tanh(x))), (64, 20)),
    (lambda x: jnp.tanh(jnp.tanh(jnp.tanh(x))), (1000,)),
])
def test_other_programs_stay_as_they_are(function, shape):
    x = np.ones(shape, np.float32)
    before = jax.jit(function).trace(x).lower(lowering_platforms=("cpu",)).compiler_ir("stablehlo").operation.get_asm()
    text, cause = _rewritten(function, x)
    assert text == before
    assert cause == (shape == (1000, 20))


def test_values_that_pay_enter_and_leave_transposed():
    def function(x, bias):
        for _ in range(12):
            x = jnp.sin(x + bias) * x
        return x

    text, _ = _rewritten(function, np.ones([1000, 20], np.float32), np.ones(20, np.float32))
    assert text.count("stablehlo.transpose") == 2
    assert len(re.findall(r"stablehlo\.sine .*tensor<20x1000xf32>", text)) == 12
