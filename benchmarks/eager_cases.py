"""The functions that `python -m benchmarks.eager` measures, written against the TensorFlow 1.x names alone.

They are the hundred functions of tensors that most of the surveyed public repositories use, in that order, and
behind them what eager programs use besides. Each is given arguments of about as many elements as it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from op_cases import Given


class EagerCase(NamedTuple):
    """A measurement.

    Attributes:
      name: the public function, and which form of it where there are several.
      given: a function of the number of elements that returns the arguments.
      function: takes `tf` and the arguments; returns a tensor, or a list of them.
      gradient: whether its gradient is measured too.
    """

    name: str
    given: Callable[[int], tuple[Given, ...]]
    function: Callable[..., Any]
    gradient: bool


# By number of elements: a matrix, logits, images, a filter's channels, a table of rows.
MATRIX = {1_000: (25, 40), 1_000_000: (1000, 1000)}
LOGITS = {1_000: (10, 100), 1_000_000: (1000, 1000)}
IMAGES = {1_000: (1, 8, 8, 16), 1_000_000: (20, 28, 28, 64)}
TABLE = {1_000: (100, 10), 1_000_000: (10_000, 100)}
BATCH = {1_000: (4, 16, 16), 1_000_000: (61, 128, 128)}


def _matrix(n):
    return (Given(MATRIX[n]),)


def _positive(n):
    return (Given(MATRIX[n], "positive"),)


def _matrices(n):
    return Given(MATRIX[n]), Given(MATRIX[n])


def _positives(n):
    return Given(MATRIX[n], "positive"), Given(MATRIX[n], "positive")


def _with_row(n):
    return Given(MATRIX[n]), Given(MATRIX[n][1:])


def _logits(n):
    return (Given(LOGITS[n]),)


def _images(n):
    return (Given(IMAGES[n]),)


def _labelled(n):
    return Given(LOGITS[n], "label"), Given(LOGITS[n])


def _classes(n):
    return Given(LOGITS[n][:1], "index", LOGITS[n][1]), Given(LOGITS[n])


def _looked_up(n):
    return Given(TABLE[n]), Given((TABLE[n][0] // 2,), "index", TABLE[n][0])


def _integers(n):
    return Given(MATRIX[n], "index", 100), Given(MATRIX[n], "index", 100)


def _square(n):
    return (Given({1_000: (32, 32), 1_000_000: (1000, 1000)}[n]),)


def _filtered(size, depth=None):
    """Returns the arguments of a convolution: images, and a filter of this size and depth, by default the images'."""

    def given(n):
        channels = IMAGES[n][-1]
        return Given(IMAGES[n]), Given((size, size, channels, depth or channels))

    return given


CASES: list[EagerCase] = []


def case(name, given, gradient=True):
    """Declares a case; the function below it is what is measured."""

    def declare(function):
        CASES.append(EagerCase(name, given, function, gradient))
        return function

    return declare


def plain(path, given, gradient=True, name=None, **arguments):
    """Declares the case of a function that takes the arguments as they are."""

    def function(tf, *xs):
        called = tf
        for part in path.split("."):
            called = getattr(called, part)
        return called(*xs, **arguments)

    CASES.append(EagerCase(name or path, given, function, gradient))


def _conv(stride=1):
    def function(tf, x, f):
        return tf.nn.conv2d(x, f, [1, stride, stride, 1], "SAME")

    return function


def _pool(kind, size, stride):
    def function(tf, x):
        return getattr(tf.nn, kind)(x, [1, size, size, 1], [1, stride, stride, 1], "SAME")

    return function


# -- the hundred most used ---------------------------------------------------------------

plain("reshape", _matrix, shape=[-1])
plain("reduce_mean", _matrix)
plain("matmul", lambda n: (Given(_square(n)[0].shape), Given(_square(n)[0].shape)))
plain("reduce_sum", _matrix)
plain("reduce_sum", _matrix, axis=0, name="reduce_sum, axis 0")
plain("reduce_sum", _matrix, axis=1, name="reduce_sum, axis 1")
case("concat", _matrices)(lambda tf, x, y: tf.concat([x, y], 1))
plain("nn.relu", _matrix)
plain("cast", _matrix, dtype="float64")
plain("cast", lambda n: (Given(MATRIX[n], "index", 100),), False, name="cast, of integers",
      dtype="float32")
case("zeros", _matrix, False)(lambda tf, x: tf.zeros(x.shape))
case("shape", _matrix, False)(lambda tf, x: tf.shape(x))
plain("square", _matrix)
case("constant", lambda n: (), False)(lambda tf: tf.constant([1.0, 2.0, 3.0]))
plain("argmax", _logits, False, axis=1)
plain("nn.softmax", _logits)
plain("log", _positive)
plain("equal", _matrices, False)
plain("expand_dims", _matrix, axis=1)
plain("transpose", _matrix)
plain("transpose", lambda n: (Given({1_000: (4, 8, 4, 8), 1_000_000: (16, 128, 8, 64)}[n]),), perm=[0, 2, 1, 3],
      name="transpose, heads")
case("stack", _matrices)(lambda tf, x, y: tf.stack([x, y], 1))
case("one_hot", lambda n: (Given((n // 100,), "index", 100),), False)(lambda tf, x: tf.one_hot(x, 100))
plain("sqrt", _positive)
plain("exp", _matrix)
case("ones", _matrix, False)(lambda tf, x: tf.ones(x.shape))
case("nn.conv2d, 3x3", _filtered(3))(_conv())
case("nn.conv2d, 1x1", _filtered(1))(_conv())
case("nn.conv2d, 3x3, stride 2", _filtered(3))(_conv(2))
case("nn.conv2d, 5x5, one channel",
     lambda n: (Given({1_000: (2, 22, 22, 1), 1_000_000: (1275, 28, 28, 1)}[n]), Given((5, 5, 1, 32))))(_conv())
plain("zeros_like", _matrix, False)
plain("maximum", _matrices)
plain("add", _matrices)
plain("add", _with_row, name="add, of a row")
case("random_uniform", _matrix, False)(lambda tf, x: tf.random_uniform(x.shape))
case("random_normal", _matrix, False)(lambda tf, x: tf.random_normal(x.shape))
plain("reduce_max", _matrix, axis=1)
case("nn.softmax_cross_entropy_with_logits", _labelled)(
    lambda tf, labels, logits: tf.nn.softmax_cross_entropy_with_logits_v2(tf.stop_gradient(labels), logits))
plain("multiply", _matrices)
case("multiply, by a number", _matrix)(lambda tf, x: x * 2.0)
plain("ones_like", _matrix, False)
plain("squeeze", lambda n: (Given((MATRIX[n][0], 1, MATRIX[n][1])),))
plain("stop_gradient", _matrix, False)
plain("abs", _matrix)
plain("identity", _matrix, False)
case("range", lambda n: (Given((n,)),), False)(lambda tf, x: tf.range(x.shape[0]))
case("split", lambda n: (Given({1_000: (25, 40), 1_000_000: (1000, 1000)}[n]),))(lambda tf, x: tf.split(x, 4, 1))
case("nn.max_pool, 2x2", _images)(_pool("max_pool", 2, 2))
case("nn.max_pool, 3x3, stride 2", _images)(_pool("max_pool", 3, 2))
plain("nn.sigmoid", _matrix)
plain("tanh", _matrix)
plain("clip_by_value", _matrix, clip_value_min=-1.0, clip_value_max=1.0)
case("add_n, of 4", lambda n: (Given(MATRIX[n]),) * 4)(lambda tf, *xs: tf.add_n(list(xs)))
case("convert_to_tensor", lambda n: (), False)(lambda tf: tf.convert_to_tensor(2.0))
case("nn.dropout", _matrix)(lambda tf, x: tf.nn.dropout(x, rate=0.5))
plain("gather", _looked_up)
plain("minimum", _matrices)
plain("nn.bias_add", lambda n: (Given(IMAGES[n]), Given(IMAGES[n][-1:])))
plain("nn.softplus", _matrix)
case("where", _matrices)(lambda tf, x, y: tf.where(tf.greater(x, 0.0), x, y))
case("pow, of a constant", _positive)(lambda tf, x: tf.pow(x, 3.0))
plain("pow", _positives)
plain("tile", lambda n: (Given({1_000: (10, 25), 1_000_000: (500, 500)}[n]),), multiples=[2, 2])
case("nn.sparse_softmax_cross_entropy_with_logits", _classes)(
    lambda tf, labels, logits: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
plain("subtract", _matrices)
case("nn.sigmoid_cross_entropy_with_logits", lambda n: (Given(MATRIX[n], "positive"), Given(MATRIX[n])))(
    lambda tf, labels, logits: tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.stop_gradient(labels), logits=logits))
case("slice", _matrix)(lambda tf, x: tf.slice(x, [5, 0], [x.shape[0] - 10, x.shape[1]]))
case("x[:, 1:, ::2]", lambda n: (Given(BATCH[n]),))(lambda tf, x: x[:, 1:, ::2])
plain("nn.l2_loss", _matrix)
case("nn.moments", _images)(lambda tf, x: list(tf.nn.moments(x, [0, 1, 2])))
case("truncated_normal", _matrix, False)(lambda tf, x: tf.truncated_normal(x.shape))
plain("less", _matrices, False)
plain("nn.embedding_lookup", _looked_up)
case("clip_by_global_norm", _matrices)(lambda tf, x, y: tf.clip_by_global_norm([x, y], 1.0)[0])
plain("pad", _images, paddings=[[0, 0], [1, 1], [1, 1], [0, 0]])
plain("sin", _matrix)
case("unstack", lambda n: (Given({1_000: (5, 10, 20), 1_000_000: (100, 20, 500)}[n]),))(
    lambda tf, x: tf.unstack(x, axis=1))
case("logical_and", _matrices, False)(lambda tf, x, y: tf.logical_and(x > 0.0, y > 0.0))
plain("negative", _matrix)
plain("div", lambda n: (Given(MATRIX[n]), Given(MATRIX[n], "positive")))
plain("reduce_prod", _matrix, axis=1)
case("nn.avg_pool, 2x2", _images)(_pool("avg_pool", 2, 2))
case("nn.avg_pool, 3x3, stride 1", _images)(_pool("avg_pool", 3, 1))
plain("nn.elu", _matrix)


@case("nn.conv2d_transpose", lambda n: (Given(IMAGES[n]), Given((3, 3, 32, IMAGES[n][-1]))))
def _conv_transpose(tf, x, f):
    batch, height, width, _ = x.shape
    return tf.nn.conv2d_transpose(x, f, [batch, 2 * height, 2 * width, 32], [1, 2, 2, 1], "SAME")


plain("greater", _matrices, False)
plain("round", _matrix, False)
plain("norm", _matrix, axis=1)
plain("gather_nd", lambda n: (Given(TABLE[n]), Given((TABLE[n][0] // 2, 1), "index", TABLE[n][0])))
plain("reduce_min", _matrix, axis=0)
plain("nn.l2_normalize", _matrix, axis=1)
case("eye", _square, False)(lambda tf, x: tf.eye(int(x.shape[0])))
case("image.resize_bilinear", lambda n: (Given({1_000: (1, 6, 6, 8), 1_000_000: (10, 28, 28, 32)}[n]),))(
    lambda tf, x: tf.image.resize_bilinear(x, [2 * int(x.shape[1]), 2 * int(x.shape[2])]))
plain("nn.log_softmax", _logits)
plain("sign", _matrix, False)
case("multinomial", _logits, False)(lambda tf, x: tf.multinomial(x, 1))
plain("cos", _matrix)
case("fill", _matrix, False)(lambda tf, x: tf.fill(x.shape, 0.5))
case("diag", lambda n: (Given({1_000: (32,), 1_000_000: (1000,)}[n]),))(lambda tf, x: tf.diag(x))
case("einsum", lambda n: (Given({1_000: (2, 2, 16, 16), 1_000_000: (16, 8, 128, 64)}[n]),) * 2)(
    lambda tf, x, y: tf.einsum("bhqd,bhkd->bhqk", x, y))
plain("divide", lambda n: (Given(MATRIX[n]), Given(MATRIX[n], "positive")))
plain("squared_difference", _matrices)
case("size", _matrix, False)(lambda tf, x: tf.size(x))
plain("mod", lambda n: (Given(MATRIX[n]), Given(MATRIX[n], "positive")), False)
plain("tensordot", lambda n: (Given(BATCH[n]), Given((BATCH[n][-1], 64))), axes=1)
case("logical_or", _matrices, False)(lambda tf, x, y: tf.logical_or(x > 0.0, y > 0.0))
plain("greater_equal", _matrices, False)
plain("reduce_logsumexp", _logits, axis=1)
case("nn.batch_normalization", lambda n: (
    Given(MATRIX[n]), Given(MATRIX[n][1:]), Given(MATRIX[n][1:], "positive"), Given(MATRIX[n][1:]),
    Given(MATRIX[n][1:])))(
    lambda tf, x, mean, variance, offset, scale: tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3))
plain("matrix_inverse", lambda n: (Given({1_000: (4, 16, 16), 1_000_000: (244, 64, 64)}[n], "definite"),))
plain("floordiv", lambda n: (Given(MATRIX[n]), Given(MATRIX[n], "positive")), False)
case("nn.top_k", _logits)(lambda tf, x: tf.nn.top_k(x, 10)[0])
plain("rsqrt", _positive)
plain("matrix_diag", lambda n: (Given({1_000: (4, 16), 1_000_000: (61, 128)}[n]),))
case("linspace", _matrix, False)(lambda tf, x: tf.linspace(0.0, 1.0, int(x.shape[0]) * int(x.shape[1])))
case("reduce_all", _matrix, False)(lambda tf, x: tf.reduce_all(x > 0.0))
case("boolean_mask", _matrix)(lambda tf, x: tf.boolean_mask(x, x > 0.0))
plain("cholesky", lambda n: (Given({1_000: (4, 16, 16), 1_000_000: (244, 64, 64)}[n], "definite"),))
case("rank", _matrix, False)(lambda tf, x: tf.rank(x))
case("logical_not", _matrix, False)(lambda tf, x: tf.logical_not(x > 0.0))
plain("floor", _matrix, False)
plain("less_equal", _matrices, False)
case("reduce_any", _matrix, False)(lambda tf, x: tf.reduce_any(x > 9.0))
plain("lgamma", _positive)
plain("matrix_band_part", _square, num_lower=-1, num_upper=0)
plain("nn.leaky_relu", _matrix)
plain("reverse", _matrix, axis=[1])
plain("cumprod", _positive, axis=1)
plain("cumsum", _matrix, axis=1)
plain("cumsum", _matrix, axis=0, name="cumsum, axis 0")

# -- others that eager programs use ------------------------------------------------------

plain("math.erf", _matrix)
plain("math.erfc", _matrix)
plain("digamma", _positive)
case("nn.gelu", _matrix)(lambda tf, x: 0.5 * x * (1.0 + tf.math.erf(x * 0.7071067811865476)))
case("nn.fused_batch_norm", lambda n: (Given(IMAGES[n]), Given(IMAGES[n][-1:]), Given(IMAGES[n][-1:])))(
    lambda tf, x, scale, offset: tf.nn.fused_batch_norm(x, scale, offset, epsilon=1e-3, is_training=True)[0])
case("nn.depthwise_conv2d", _filtered(3, 1))(
    lambda tf, x, f: tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME"))
case("nn.conv1d", lambda n: (Given({1_000: (2, 32, 16), 1_000_000: (64, 244, 64)}[n]),
                             Given((5, {1_000: 16, 1_000_000: 64}[n], {1_000: 16, 1_000_000: 64}[n]))))(
    lambda tf, x, f: tf.nn.conv1d(x, f, 1, "SAME"))
case("nn.max_pool, 3x3, stride 1", _images)(_pool("max_pool", 3, 1))
case("segment_sum", lambda n: (Given(TABLE[n]), Given(TABLE[n][:1], "sorted", TABLE[n][0] // 10)))(
    lambda tf, x, ids: tf.segment_sum(x, ids))
case("unsorted_segment_sum", lambda n: (Given(TABLE[n]), Given(TABLE[n][:1], "index", TABLE[n][0] // 10)))(
    lambda tf, x, ids: tf.unsorted_segment_sum(x, ids, int(x.shape[0]) // 10))
case("scatter_nd", lambda n: (Given((TABLE[n][0], 1), "index", TABLE[n][0]), Given(TABLE[n])))(
    lambda tf, i, x: tf.scatter_nd(i, x, [int(x.shape[0]), int(x.shape[1])]))
case("sort", _logits, False)(lambda tf, x: tf.sort(x))
plain("asinh", _matrix)
plain("atan", _matrix)
plain("log1p", _positive)
plain("expm1", _matrix)
