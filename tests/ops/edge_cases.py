"""Programs at the edges of what functions are defined for, for TensorFlow and for this package alike.

`VALUES` are expressions of `x` (and `y`), with the arrays to give for them; `ERRORS` are what no graph accepts.
`python -m tests.record.ops.edges` writes what TensorFlow makes of them into `tests/recorded/edges.json.gz`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NAN, INF = float("nan"), float("inf")
_SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 1e30, -1e30, INF, -INF, NAN]
_PAIRS = [(a, b) for a in (0.0, 1.0, -2.0, 0.5, INF, -INF, NAN) for b in (0.0, 1.0, -1.0, 2.0, INF, -INF, NAN)]
_X, _Y = [a for a, _ in _PAIRS], [b for _, b in _PAIRS]
_TIES = [[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0], [-0.0, 0.0, -1.0, 0.0]]
_IMAGE = np.resize([1.0, 2.0, 2.0, 0.0, 1.0], (1, 4, 4, 1)).tolist()

_OF_TIES = """
tf.argmax(x, -1)
tf.argmin(x, axis=-2)
tf.nn.top_k(x, 2).values
tf.nn.top_k(x, 3).indices
tf.sort(x, axis=-1)
tf.sort(x, -1, 'DESCENDING')
tf.argsort(x, axis=-1, stable=True)
tf.nn.softmax(x, axis=-2)
tf.nn.log_softmax(x)
tf.math.cumsum(x, axis=-1, reverse=True)
tf.math.cumprod(x, axis=-2, exclusive=True)
tf.clip_by_value(x, 0.0, 2.0)
tf.clip_by_norm(x, 1.0)
tf.norm(x, axis=-1)
tf.norm(x - x)
tf.nn.relu(x - 1.0)
tf.math.unsorted_segment_max(x, [0, 0, -1], 2)
tf.math.segment_max(x, [0, 0, 2])
tf.math.unsorted_segment_min(x, [1, 1, 1], 2)
tf.reverse(x, [-1])
tf.concat([x, x], -2)
tf.stack([x, x], axis=-3)
tf.unstack(x, axis=-1)[0]
tf.gather(x, [0, 0], axis=-1)
tf.expand_dims(x, -3)
tf.squeeze(x[None], [-3])
tf.where(x > 0, tf.sqrt(x), tf.zeros_like(x))
tf.where(tf.equal(x, 0.0), tf.zeros_like(x), tf.math.log(x))
tf.math.top_k(x, k=0).values
tf.cast(x, tf.int32)
tf.cast(x, tf.bool)
tf.cast(tf.cast(x, tf.bool), tf.float32)
tf.maximum(x, 2.0)
tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=x)
tf.nn.l2_loss(x)
tf.math.reduce_max(x)
tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=tf.zeros_like(x))
tf.transpose(x)
"""

_OF_COMPLEX = """
tf.math.abs(x)
tf.math.angle(x)
tf.math.conj(x)
x * x
tf.math.sign(x)
tf.math.exp(x)
tf.math.real(x)
tf.math.imag(x)
tf.math.square(x)
tf.reduce_sum(x)
tf.reduce_prod(x)
tf.math.tanh(x)
tf.linalg.matmul(tf.reshape(x, [2, 2]), tf.reshape(x, [2, 2]), adjoint_b=True)
"""

_OF_NOTHING = """
tf.reduce_any(x > 0)
tf.reduce_all(x > 0)
tf.concat([x, x], 0)
tf.linalg.matmul(x[:, None], x[None])
tf.linalg.matmul(x[None], x[:, None])
tf.einsum('i,i->', x, x)
tf.nn.softmax(x)
tf.cumsum(x)
tf.sort(x)
tf.gather(x, tf.zeros([0], tf.int32))
tf.tile(x, [3])
tf.pad(x, [[1, 2]])
tf.stack([x, x])
tf.norm(x)
tf.split(x, 2)[1]
tf.one_hot(tf.cast(x, tf.int32), 3)
tf.where(x > 0)
tf.boolean_mask(x, x > 0)
tf.math.unsorted_segment_sum(x, tf.cast(x, tf.int32), 2)
tf.reverse(x, [0])
tf.linalg.diag(x)
"""


def _cases() -> list[tuple[str, dict[str, tuple[Any, str]]]]:
    cases: list[tuple[str, dict[str, tuple[Any, str]]]] = []
    unary = ("abs sign sqrt math.rsqrt square exp math.expm1 log math.log1p sin tanh sigmoid atan sinh cosh asinh "
             "math.erf math.reciprocal_no_nan nn.relu nn.relu6 nn.elu nn.selu nn.leaky_relu nn.softplus nn.softsign "
             "nn.swish floor ceil round math.rint math.is_nan math.is_finite negative math.log_sigmoid "
             "math.l2_normalize").split()
    cases += [(f"tf.{f}(x)", {"x": (_SPECIAL, "float32")}) for f in unary]
    binary = ("add subtract multiply divide maximum minimum pow math.xlogy math.xdivy math.xlog1py math.divide_no_nan "
              "math.multiply_no_nan math.squared_difference atan2 math.floormod floordiv "
              "truncatemod").split()
    cases += [(f"tf.{f}(x, y)", {"x": (_X, "float32"), "y": (_Y, "float32")}) for f in binary]
    cases += [(f"tf.{f}(x, y)", {"x": ([7, -7, 0, 5], "int32"), "y": ([2, 2, 3, -3], "int32")})
              for f in "maximum floordiv math.floormod truncatediv truncatemod divide".split()]
    reductions = "sum mean prod max min logsumexp variance std euclidean_norm".split()
    for f in reductions:
        cases += [(f"tf.math.reduce_{f}(x, axis=-1)", {"x": (_TIES, "float32")}),
                  (f"tf.math.reduce_{f}(x, axis=0)", {"x": (np.zeros((0, 3)).tolist(), "float32")}),
                  (f"tf.math.reduce_{f}(tf.reshape(x, [3, 0]), axis=1)", {"x": ([], "float32")}),
                  (f"tf.math.reduce_{f}(x)", {"x": ([1.0, NAN, 2.0], "float32")}),
                  (f"tf.math.reduce_{f}(x)", {"x": ([1.0, INF, -2.0], "float32")}),
                  (f"tf.math.reduce_{f}(x)", {"x": (2.0, "float32")})]
    for f in ("sum", "mean", "prod", "max"):
        cases += [(f"tf.math.reduce_{f}(x, axis=0)", {"x": ([[7, 3], [8, 3], [6, -1]], t)}) for t in ("int32", "int64")]
    cases += [
        (f"{f}(x)", {"x": ([0.1] * 3000, t)})
        for f in ("tf.math.reduce_sum", "tf.math.reduce_mean") for t in ("float16", "bfloat16")
    ]
    cases += [("tf.linalg.matmul(tf.reshape(x, [1, -1]), tf.reshape(x, [-1, 1]))", {"x": ([0.1] * 3000, t)})
              for t in ("float16", "bfloat16")]
    for text in ("tf.nn.max_pool2d(x, 2, 1, 'VALID')", "tf.nn.max_pool2d(x, 2, 2, 'SAME')",
                 "tf.nn.max_pool2d(x, 3, 2, 'SAME')",
                 "tf.nn.avg_pool2d(x, 3, 2, 'SAME')"):
        cases.append((text, {"x": (_IMAGE, "float32")}))
        cases.append((f"{text[:-1].replace('x,', 'tf.reshape(x, [0, 4, 4, 2]),', 1)})", {"x": ([], "float32")}))
    for text in ("tf.nn.conv2d(tf.reshape(x, [0, 4, 4, 2]), y, 1, 'SAME')",
                 "tf.nn.depthwise_conv2d(tf.reshape(x, [0, 4, 4, 2]), y, [1, 1, 1, 1], 'VALID')"):
        cases.append((text, {"x": ([], "float32"), "y": (np.ones((3, 3, 2, 2)).tolist(), "float32")}))
    cases += [(text, {"x": (_TIES, "float32")}) for text in _OF_TIES.strip().splitlines()]
    cases += [(text, {"x": ([-INF, -INF], "float32")}) for text in (
        "tf.nn.softmax(x)", "tf.nn.log_softmax(x)", "tf.math.reduce_logsumexp(x)", "tf.math.cumulative_logsumexp(x)")]
    cases += [(text, {"x": ([[1.0, NAN], [NAN, NAN]], "float32")}) for text in (
        "tf.argmax(x, 1)", "tf.maximum(x, 0.0)", "tf.nn.relu(x)", "tf.clip_by_value(x, 0.0, 0.5)", "tf.sign(x)")]
    cases += [(text, {"x": ([1 + 2j, -3j, 0j, -1 + 0j], "complex64")}) for text in _OF_COMPLEX.strip().splitlines()]
    cases += [(text, {"x": ([], "float32")}) for text in _OF_NOTHING.strip().splitlines()]
    cases += [(f"tf.cast(x, tf.{t})", {"x": (np.linspace(-4e4, 9e4, n).tolist(), source)})
              for t in ("uint8", "int8", "uint16", "int16", "uint32") for source, n in (
                  ("float32", 5), ("float32", 64), ("float64", 7), ("bfloat16", 7), ("bfloat16", 16))]
    return cases


VALUES = _cases()

# One expression a line; ONES stands for a matrix of two rows and three columns.
_REFUSED = """
tf.reduce_sum(ONES, axis=2)
tf.reduce_sum(ONES, axis=-3)
tf.argmax(ONES, axis=2)
tf.concat([ONES, ONES], 2)
tf.concat([ONES, tf.ones([3, 3])], 1)
tf.stack([ONES], axis=4)
tf.expand_dims(ONES, 4)
tf.expand_dims(ONES, -5)
tf.squeeze(ONES, [0])
tf.squeeze(ONES, [5])
tf.unstack(ONES, axis=3)
tf.split(ONES, 2, axis=1)
tf.split(ONES, 2, axis=2)
tf.gather(ONES, [0], axis=2)
tf.transpose(ONES, [0])
tf.transpose(ONES, [0, 0])
tf.transpose(ONES, [0, 2])
tf.reverse(ONES, [2])
tf.reverse(ONES, [0, 0])
tf.cumsum(ONES, [0, 1])
tf.nn.top_k(ONES, 4)
tf.nn.top_k(ONES, -1)
tf.nn.top_k(ONES, [1])
tf.reshape(ONES, [4])
tf.reshape(ONES, [-1, -1])
tf.reshape(ONES, [4, -1])
tf.reshape(ONES, [-2])
tf.tile(ONES, [1])
tf.tile(ONES, 2)
tf.pad(ONES, [[1, 1]])
tf.pad(ONES, [1, 1])
tf.slice(ONES, [0], [1])
tf.slice(ONES, 0, 1)
tf.slice(ONES, [0, 0], [3, 1])
ONES[0, 0, 0]
tf.broadcast_to(ONES, [3, 2])
tf.broadcast_to(ONES, 3)
ONES + tf.ones([2])
ONES + tf.ones([2, 3], tf.int32)
tf.matmul(ONES, ONES)
tf.matmul(ONES, tf.ones([3]))
tf.matmul(ONES, tf.ones([3, 2], tf.int32))
tf.matmul(ONES, 'x')
tf.einsum('ij,jk->ik', ONES, ONES)
tf.einsum('ij,jk', ONES)
tf.linalg.cholesky(ONES)
tf.linalg.inv(ONES)
tf.linalg.solve(tf.eye(2), tf.ones([3, 1]))
tf.fill([[1, 2]], 0.0)
tf.fill([-1, 2], 0.0)
tf.fill(3, 0.0)
tf.zeros([-1])
tf.range([1], 3)
tf.range(3, 1, 0)
tf.linspace(0.0, 1.0, -2)
tf.linspace(0.0, 1.0, [3])
tf.eye(-1)
tf.one_hot([1], [2])
tf.one_hot([1.0], 2)
tf.random.uniform(3)
tf.random.uniform([-1])
tf.random.normal([[2]])
tf.one_hot([1], -2)
tf.nn.conv2d(ONES, tf.ones([1, 1, 3, 1]), 1, 'SAME')
tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([1, 1, 3, 1]), 1, 'SAME')
tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([1, 1, 2, 1]), 1, 'SOME')
tf.nn.conv2d(tf.ones([1, 2, 2, 1]), tf.ones([3, 3, 1, 1]), 1, 'VALID')
tf.nn.conv2d(tf.ones([1, 4, 4, 2]), tf.ones([1, 1, 2, 1]), [1, 1, 1], 'SAME')
tf.nn.conv2d(tf.ones([1, 4, 4, 0]), tf.ones([1, 1, 2, 1]), 1, 'SAME')
tf.nn.conv2d_transpose(tf.ones([1, 4, 4, 2]), tf.ones([1, 1, 2, 1]), 3, 1)
tf.nn.max_pool2d(tf.ones([4, 4, 2]), 2, 2, 'SAME')
tf.nn.max_pool2d(tf.ones([1, 2, 2, 1]), 3, 1, 'VALID')
tf.nn.max_pool2d(tf.ones([1, 2, 2, 1]), 2, 1, 'NO')
tf.nn.bias_add(ONES, tf.ones([2]))
tf.nn.softmax(ONES, axis=2)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2, 3], logits=ONES)
tf.nn.softmax_cross_entropy_with_logits(labels=tf.ones([2, 2]), logits=ONES)
tf.image.resize(ONES, [2, 2])
tf.image.resize(tf.ones([1, 2, 3, 1]), 2)
tf.image.resize(tf.ones([1, 2, 3, 1]), [-1, 2])
tf.space_to_depth(tf.ones([1, 3, 3, 1]), 2)
tf.space_to_depth(tf.ones([1, 2, 2, 1]), 0)
tf.math.unsorted_segment_sum(tf.ones([3]), [0, 1], 2)
tf.math.unsorted_segment_sum(tf.ones([2]), [0, 1], -1)
tf.math.unsorted_segment_sum(tf.ones([2]), [0, 1], [2])
tf.math.bincount([1, 2], minlength=-1)
tf.sparse.to_dense(tf.SparseTensor([[0]], [1.0], 3))
tf.scatter_nd([[0]], [1.0], -2)
tf.scatter_nd([[0]], [1.0], [-2])
tf.scatter_nd([[0]], [[1.0]], [3])
tf.strided_slice(tf.ones([3]), 0, 1)
tf.strided_slice(tf.ones([3]), [0], [1], [0])
tf.sqrt(1)
tf.sqrt('a')
tf.math.lgamma(tf.constant(1))
tf.nn.relu(tf.constant(True))
tf.logical_and(1.0, True)
tf.cast('a', tf.float32) + tf.cast(1j, tf.int32)
tf.bitcast(tf.ones([3]), tf.complex64)
tf.sigmoid(tf.constant([1]))
tf.reduce_mean(tf.constant(['a']))
tf.where([True, False], tf.ones([3]), tf.ones([3]))
tf.clip_by_value(tf.ones([2]), tf.ones([3]), 2.0)
tf.matmul(None, tf.eye(2))
tf.add(None, 1.0)
tf.concat([], 0)
tf.stack([])
tf.add_n([])
tf.add_n([tf.ones([2]), tf.ones([3])])
tf.constant([[1, 2], [3]])
tf.constant(1.5, tf.int32)
tf.constant('a', tf.float32)
tf.constant(300, tf.uint8)
tf.constant(1, shape=[-1])
tf.raw_ops.MatMul(a=tf.eye(2))
tf.raw_ops.MatMul(a=tf.eye(2), b=tf.eye(2), c=1)
tf.signal.fft(tf.ones([3]))
tf.signal.rfft(tf.ones([3]), 2)
"""
ERRORS = [line.replace("ONES", "tf.ones([2, 3])") for line in _REFUSED.strip().splitlines()]


def arrays(inputs: dict[str, tuple[Any, str]], as_dtype: Any) -> dict[str, np.ndarray]:
    """The inputs as arrays; `as_dtype` gives a NumPy type for a name."""
    return {k: np.asarray(v).astype(as_dtype(t)) for k, (v, t) in inputs.items()}
