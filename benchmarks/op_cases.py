"""The operations that `python -m benchmarks.ops` measures, written against the TensorFlow 1.x API alone.

They are the differentiable functions that most repositories use, in that order, each with arguments of a
size that programs have; behind them what has no gradient, and updates of variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

RANDOM = np.random.RandomState(0).randn(1_000_003).astype(np.float32)


class Given(NamedTuple):
    """An argument.

    Attributes:
      shape: its shape.
      kind: "normal", "positive" (0.1 to 1.1), "label" (rows that sum to 1), "definite"
        (symmetric matrices, positive definite), "index", or "sorted" (indices in order).
      below: an index is less than this.
    """

    shape: tuple[int, ...]
    kind: str = "normal"
    below: int = 0

    def value(self, number: int) -> np.ndarray:
        """The argument's value; another one for each number."""
        size = int(np.prod(self.shape))
        drawn = np.resize(RANDOM[7919 * number % 1000 :], size).reshape(self.shape)
        if self.kind == "normal":
            return drawn
        if self.kind == "definite":
            return drawn @ drawn.swapaxes(-1, -2) / self.shape[-1] + np.eye(self.shape[-1], dtype=np.float32)
        drawn = np.abs(drawn * 1000) % 1
        if self.kind == "positive":
            return drawn + np.float32(0.1)
        if self.kind == "label":
            return drawn / drawn.sum(-1, keepdims=True)
        index = (drawn * self.below).astype(np.int32) % self.below
        return np.sort(index) if self.kind == "sorted" else index


class Case(NamedTuple):
    """A measurement.

    Attributes:
      name: what the table calls it: a public function, and which form of it where there are several.
      given: its arguments.
      function: takes `tf` and the arguments; gives a tensor, or a list of them.
      gradient: whether its gradient is measured too.
      update: whether the function gives an operation that changes its arguments; there is no result then.
    """

    name: str
    given: tuple[Given, ...]
    function: Callable[..., Any]
    gradient: bool = True
    update: bool = False


LAYER = Given((512, 1024))  # the activations of a layer
POSITIVE = Given((512, 1024), "positive")
ROW = Given((1024,))
IMAGES = Given((32, 28, 28, 64))
LOGITS = Given((256, 1000))

CASES: list[Case] = []


def case(name, *given, **options):
    """Declares a case; the function below it is what is measured."""

    def declare(function):
        CASES.append(Case(name, given, function, **options))
        return function

    return declare


def plain(path, *given, name=None, **arguments):
    """Declares the case of a function that takes the arguments as they are."""

    def function(tf, *xs):
        called = tf
        for part in path.split("."):
            called = getattr(called, part)
        return called(*xs, **arguments)

    CASES.append(Case(name or path, given, function))


def _batch_norm(tf, x, scale, offset):
    return tf.nn.fused_batch_norm(x, scale, offset, epsilon=1e-3, is_training=True)[0]


# -- with gradients, by how many repositories use them ---------------------------------

plain("reshape", LAYER, shape=[1024, 512])
plain("reduce_mean", LAYER)
plain("matmul", Given((256, 512)), Given((512, 512)))
plain("matmul", Given((256, 512)), Given((512, 512)), transpose_b=True, name="matmul, transpose_b")
plain("matmul", Given((512, 256)), Given((512, 512)), transpose_a=True, name="matmul, transpose_a")
plain("matmul", Given((64, 128, 64)), Given((64, 64, 128)), name="matmul, 64 of them")
plain("reduce_sum", LAYER)
plain("reduce_sum", LAYER, axis=0, name="reduce_sum, axis 0")
plain("reduce_sum", LAYER, axis=1, name="reduce_sum, axis 1")


@case("concat", Given((512, 512)), Given((512, 512)))
def _concat(tf, x, y):
    return tf.concat([x, y], 1)


plain("nn.relu", LAYER)


plain("cast", LAYER, dtype="float64")
plain("square", LAYER)
plain("nn.softmax", LOGITS)
plain("log", POSITIVE)
plain("expand_dims", LAYER, axis=1)
plain("transpose", LAYER)
plain("transpose", Given((32, 128, 8, 64)), perm=[0, 2, 1, 3], name="transpose, heads")


@case("stack", Given((512, 512)), Given((512, 512)))
def _stack(tf, x, y):
    return tf.stack([x, y], 1)


plain("sqrt", POSITIVE)
plain("exp", LAYER)


@case("nn.conv2d, 3x3", Given((32, 28, 28, 32)), Given((3, 3, 32, 64)))
@case("nn.conv2d, 5x5, one channel", Given((64, 28, 28, 1)), Given((5, 5, 1, 32)))
@case("nn.conv2d, 1x1", Given((32, 28, 28, 64)), Given((1, 1, 64, 64)))
def _conv(tf, x, f):
    return tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME")


@case("nn.conv2d, 3x3, stride 2", Given((32, 28, 28, 64)), Given((3, 3, 64, 64)))
def _strided_conv(tf, x, f):
    return tf.nn.conv2d(x, f, [1, 2, 2, 1], "SAME")


plain("maximum", LAYER, LAYER)
plain("add", LAYER, LAYER)
plain("add", LAYER, ROW, name="add, of a row")
plain("reduce_max", LAYER, axis=1)


@case("nn.softmax_cross_entropy_with_logits", Given((256, 1000), "label"), LOGITS)
def _softmax_cross_entropy(tf, labels, logits):
    return tf.nn.softmax_cross_entropy_with_logits_v2(tf.stop_gradient(labels), logits)


plain("multiply", LAYER, LAYER)
plain("multiply", LAYER, ROW, name="multiply, by a row")
plain("squeeze", Given((512, 1, 1024)))
plain("abs", LAYER)


@case("split", LAYER)
def _split(tf, x):
    return tf.split(x, 4, 1)


@case("nn.max_pool, 2x2", IMAGES)
def _max_pool(tf, x):
    return tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")


@case("nn.max_pool, 3x3, stride 2", IMAGES)
def _max_pool_overlapping(tf, x):
    return tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")


@case("nn.max_pool, 3x3, stride 1", IMAGES)
def _max_pool_dense(tf, x):
    return tf.nn.max_pool(x, [1, 3, 3, 1], [1, 1, 1, 1], "SAME")


plain("sigmoid", LAYER)
plain("tanh", LAYER)
plain("clip_by_value", LAYER, clip_value_min=-1.0, clip_value_max=1.0)


@case("add_n, of 10", *[Given((256, 512))] * 10)
def _add_n(tf, *xs):
    return tf.add_n(list(xs))


@case("nn.dropout", LAYER)
def _dropout(tf, x):
    return tf.nn.dropout(x, rate=0.5, seed=1)


plain("gather", Given((10_000, 64)), Given((8192,), "index", 10_000))
plain("minimum", LAYER, LAYER)
plain("nn.bias_add", IMAGES, Given((64,)))
plain("nn.softplus", LAYER)


@case("where", LAYER, LAYER)
def _where(tf, x, y):
    return tf.where(tf.greater(x, 0.0), x, y)


@case("pow, of a constant", POSITIVE)
def _pow_constant(tf, x):
    return tf.pow(x, 3.0)


plain("pow", POSITIVE, POSITIVE)
plain("tile", Given((256, 512)), multiples=[2, 2])


@case("nn.sparse_softmax_cross_entropy_with_logits", Given((256,), "index", 1000), LOGITS)
def _sparse_softmax_cross_entropy(tf, labels, logits):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


plain("subtract", LAYER, LAYER)


@case("nn.sigmoid_cross_entropy_with_logits", POSITIVE, LAYER)
def _sigmoid_cross_entropy(tf, labels, logits):
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.stop_gradient(labels), logits=logits)


plain("slice", LAYER, begin=[100, 0], size=[256, 1024])


@case("x[:, 1:, ::2]", Given((64, 128, 128)))
def _strided_slice(tf, x):
    return x[:, 1:, ::2]


plain("nn.l2_loss", LAYER)


@case("nn.moments", IMAGES)
def _moments(tf, x):
    return list(tf.nn.moments(x, [0, 1, 2]))


plain("nn.embedding_lookup", Given((50_000, 64)), Given((64, 50), "index", 50_000))


@case("clip_by_global_norm", LAYER, Given((512, 512)))
def _clip_by_global_norm(tf, x, y):
    return tf.clip_by_global_norm([x, y], 1.0)[0]


plain("pad", IMAGES, paddings=[[0, 0], [1, 1], [1, 1], [0, 0]])
plain("sin", LAYER)


@case("unstack", Given((64, 20, 512)))
def _unstack(tf, x):
    return tf.unstack(x, axis=1)


plain("negative", LAYER)
plain("div", LAYER, POSITIVE)
plain("reduce_prod", LAYER, axis=1)


@case("nn.avg_pool, 2x2", IMAGES)
def _avg_pool(tf, x):
    return tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")


@case("nn.avg_pool, 3x3, stride 1", IMAGES)
def _avg_pool_dense(tf, x):
    return tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 1, 1, 1], "SAME")


plain("nn.elu", LAYER)


@case("nn.conv2d_transpose", Given((32, 14, 14, 64)), Given((3, 3, 32, 64)))
def _conv_transpose(tf, x, f):
    return tf.nn.conv2d_transpose(x, f, [32, 28, 28, 32], [1, 2, 2, 1], "SAME")


plain("norm", LAYER, axis=1)
plain("gather_nd", Given((512, 512, 4)), Given((8192, 2), "index", 512))
plain("reduce_min", LAYER, axis=0)
case("nn.fused_batch_norm", IMAGES, Given((64,)), Given((64,)))(_batch_norm)


@case("nn.batch_normalization", Given((512, 1024)), ROW, Given((1024,), "positive"), ROW, ROW)
def _batch_normalization(tf, x, mean, variance, offset, scale):
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)


plain("nn.l2_normalize", LAYER, axis=1)
plain("nn.log_softmax", LOGITS)


@case("image.resize_bilinear", Given((16, 28, 28, 32)))
def _resize_bilinear(tf, x):
    return tf.image.resize_bilinear(x, [56, 56])


plain("cos", LAYER)


@case("einsum", Given((16, 8, 128, 64)), Given((16, 8, 128, 64)))
def _einsum(tf, x, y):
    return tf.einsum("bhqd,bhkd->bhqk", x, y)


plain("squared_difference", LAYER, LAYER)
plain("tensordot", Given((16, 64, 128)), Given((128, 256)), axes=1)
plain("reduce_logsumexp", LOGITS, axis=1)


@case("nn.top_k", LOGITS)
def _top_k(tf, x):
    return tf.nn.top_k(x, 10)[0]


plain("rsqrt", POSITIVE)
plain("nn.leaky_relu", LAYER)
plain("reverse", LAYER, axis=[1])
plain("cumsum", LAYER, axis=1)
plain("cumsum", LAYER, axis=0, name="cumsum, axis 0")
plain("cumprod", LAYER, axis=1)
plain("segment_sum", Given((8192, 64)), Given((8192,), "sorted", 1000))


@case("unsorted_segment_sum", Given((8192, 64)), Given((8192,), "index", 1000))
def _unsorted_segment_sum(tf, x, ids):
    return tf.unsorted_segment_sum(x, ids, 1000)


plain("sparse_segment_mean", Given((10_000, 64)), Given((8192,), "index", 10_000), Given((8192,), "sorted", 1000))


@case("scatter_nd", Given((8192, 1), "index", 10_000), Given((8192, 64)))
def _scatter_nd(tf, indices, updates):
    return tf.scatter_nd(indices, updates, [10_000, 64])


@case("nn.depthwise_conv2d", Given((16, 28, 28, 64)), Given((3, 3, 64, 1)))
def _depthwise(tf, x, f):
    return tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME")


# Of these two TensorFlow has no gradients on a CPU.


@case("nn.conv2d, dilated", Given((16, 28, 28, 32)), Given((3, 3, 32, 64)), gradient=False)
def _dilated_conv(tf, x, f):
    return tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME", dilations=[1, 2, 2, 1])


@case("nn.conv2d, 8 groups", Given((16, 28, 28, 64)), Given((3, 3, 8, 64)), gradient=False)
def _grouped_conv(tf, x, f):
    return tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME")


@case("nn.conv1d", Given((32, 200, 64)), Given((5, 64, 64)))
def _conv1d(tf, x, f):
    return tf.nn.conv1d(x, f, 1, "SAME")


@case("nn.separable_conv2d", Given((16, 28, 28, 64)), Given((3, 3, 64, 1)), Given((1, 1, 64, 64)))
def _separable_conv(tf, x, depthwise, pointwise):
    return tf.nn.separable_conv2d(x, depthwise, pointwise, [1, 1, 1, 1], "SAME")


@case("nn.conv3d", Given((4, 16, 16, 16, 16)), Given((3, 3, 3, 16, 32)))
def _conv3d(tf, x, f):
    return tf.nn.conv3d(x, f, [1, 1, 1, 1, 1], "SAME")


@case("nn.conv3d, stride 2", Given((4, 16, 16, 16, 16)), Given((3, 3, 3, 16, 32)))
def _strided_conv3d(tf, x, f):
    return tf.nn.conv3d(x, f, [1, 2, 2, 2, 1], "SAME")


@case("nn.conv3d_transpose", Given((4, 8, 8, 8, 32)), Given((3, 3, 3, 16, 32)))
def _conv3d_transpose(tf, x, f):
    return tf.nn.conv3d_transpose(x, f, [4, 16, 16, 16, 16], [1, 2, 2, 2, 1], "SAME")


@case("nn.max_pool3d", Given((4, 16, 16, 16, 32)))
def _max_pool3d(tf, x):
    return tf.nn.max_pool3d(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "SAME")


@case("nn.max_pool3d, 3x3x3, stride 2", Given((4, 16, 16, 16, 32)))
def _max_pool3d_overlapping(tf, x):
    return tf.nn.max_pool3d(x, [1, 3, 3, 3, 1], [1, 2, 2, 2, 1], "SAME")


@case("nn.avg_pool3d", Given((4, 16, 16, 16, 32)))
def _avg_pool3d(tf, x):
    return tf.nn.avg_pool3d(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "SAME")


plain("cholesky", Given((64, 64, 64), "definite"))
plain("matrix_inverse", Given((64, 64, 64), "definite"))

# -- without gradients -----------------------------------------------------------------


@case("argmax", LOGITS, gradient=False)
def _argmax(tf, x):
    return tf.argmax(x, 1)


@case("one_hot", Given((1024,), "index", 1000), gradient=False)
def _one_hot(tf, x):
    return tf.one_hot(x, 1000)


@case("equal", LAYER, LAYER, gradient=False)
def _equal(tf, x, y):
    return tf.equal(x, y)


@case("sort", LOGITS, gradient=False)
def _sort(tf, x):
    return tf.sort(x)


# A run that reads no variable counts as initialisation, which is another matter: hence the sum.


@case("random_uniform", Given(()), gradient=False)
def _random_uniform(tf, x):
    return tf.random_uniform([512, 1024], seed=1) + x


@case("random_normal", Given(()), gradient=False)
def _random_normal(tf, x):
    return tf.random_normal([512, 1024], seed=1) + x


@case("truncated_normal", Given(()), gradient=False)
def _truncated_normal(tf, x):
    return tf.truncated_normal([512, 1024], seed=1) + x


# -- updates of an embedding table, by the rows that a batch touches -------------------


def _embedding_step(optimizer):
    def step(tf, table, ids, dy):
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) * dy)
        return optimizer(tf).minimize(loss, var_list=[table])

    return step


def _sgd(tf):
    return tf.train.GradientDescentOptimizer(0.01)


def _adagrad(tf):
    return tf.train.AdagradOptimizer(0.01)


def _momentum(tf):
    return tf.train.MomentumOptimizer(0.01, 0.9)


for _name, _optimizer in (("GradientDescent", _sgd), ("Adagrad", _adagrad), ("Momentum", _momentum)):
    case(f"train.{_name}Optimizer, 512 rows of 200,000", Given((200_000, 64)), Given((512,), "index", 200_000),
         Given((512, 64)), gradient=False, update=True)(_embedding_step(_optimizer))
