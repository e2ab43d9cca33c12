"""Values of operations and gradient rules where they are easily wrong: overflow, ties, NaN, denormals, bad indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case, raised

NAN, INF = float("nan"), float("inf")


def runs(tf: Any, fetches: Any, feeds: Any = None, n: int = 3) -> list[Any]:
    """What the first runs of a session give."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches, feeds) for _ in range(n)]


def fed(tf: Any, *values: Any) -> tuple[list[Any], dict[Any, Any]]:
    """Placeholders for arrays, and the feeds."""
    arrays = [np.asarray(v) for v in values]
    tensors = [tf.placeholder(a.dtype, a.shape) for a in arrays]
    return tensors, dict(zip(tensors, arrays, strict=True))


# -- integers ----------------------------------------------------------------------


_SMALL = {
    "uint8": [[200, 100, 50], [255, 255, 254]],
    "int8": [[100, 127, -3], [-128, -127, -128]],
    "int16": [[30000, 32767, 5], [-7, 0, 0]],
    "uint16": [[65535, 65535, 1], [0, 1, 1]],
    "int32": [[2**31 - 1, 2**31 - 1, 5], [-7, 0, 0]],
    "int64": [[2**62, 2**62, 7], [1, 1, -9]],
}


@case("graph")
def means_of_integers(tf: Any) -> Any:
    xs, feeds = fed(tf, *(np.array(values, dtype) for dtype, values in _SMALL.items()))
    return runs(tf, [[tf.reduce_mean(x), tf.reduce_mean(x, 0), tf.reduce_mean(x, 1, keepdims=True)] for x in xs], feeds)


@case("graph")
def sums_and_products_of_integers(tf: Any) -> Any:
    xs, feeds = fed(tf, *(np.array(values, dtype) for dtype, values in _SMALL.items()))
    f = [[tf.reduce_sum(x), tf.reduce_prod(x, 1), tf.cumsum(x, 1), tf.math.cumprod(x, 1), x * x] for x in xs]
    return runs(tf, f, feeds, 2)


@case("graph")
def segment_means_of_integers(tf: Any) -> Any:
    types = ("uint8", "int8", "int32")
    xs, feeds = fed(tf, *(np.array([100, 120, 5, 10, 7 if d == "uint8" else -7, 4, 0], d) for d in types))
    ids = [0, 0, 1, 1, 3, 3, 3]
    f = [[tf.math.segment_mean(x, ids), tf.math.segment_sum(x, ids), tf.math.segment_prod(x, ids),
          tf.math.unsorted_segment_mean(x, ids, 5), tf.math.unsorted_segment_sum(x, ids, 5),
          tf.math.unsorted_segment_prod(x, ids, 5)] for x in xs]
    return runs(tf, f, feeds, 2)


@case("graph")
def counts_of_integers(tf: Any) -> Any:
    (x, w), feeds = fed(tf, np.array([3, 0, 3, 1, 3], "int32"), np.array([2**30, 5, 2**30, 7, 2**30], "int32"))
    return runs(tf, [tf.math.bincount(x), tf.math.bincount(x, weights=w), tf.math.bincount(x, minlength=6),
                     tf.math.bincount(x, maxlength=2), tf.math.bincount(x, dtype=tf.int64)], feeds)


@case("graph")
def ranges_at_the_limits(tf: Any) -> Any:
    return runs(tf, [tf.range(2**31 - 4, 2**31 - 1), tf.range(-(2**31), -(2**31) + 3),
                     tf.range(0.0, 1.0, 0.1), tf.range(5, 0, -2), tf.range(0, 10, 3, dtype=tf.float32)])


# -- conversion --------------------------------------------------------------------

_FLOATS = [0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1.0, -1.0, 1.5, 2.5, 127.5, 128.0, -128.5, -129.0, 200.0, 255.5, 256.0,
           300.0, -300.0, 32767.5, 32768.0, -32769.0, 65535.5, 65536.0, 70000.0, -70000.0, 2147483520.0, 2147483648.0,
           -2147483648.0, -2147483904.0, 4294967040.0, 4294967296.0, 5e9, -5e9, 9.223371e18, 9.223372036854775808e18,
           -9.3e18, 1.8446743e19, 1.8446744073709552e19, 1e20, -1e20, 1e38, -1e38, INF, -INF, NAN]
_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_LIMITS = [0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1,
           2**63 - 1, 2**63, 2**64 - 1, -1, -127, -128, -129, -32768, -32769, -(2**31), -(2**31) - 1, -(2**53) - 1,
           -(2**63)]


def _integers(dtype: str) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.array([v for v in _LIMITS if info.min <= v <= info.max], dtype)


def _casts(tf: Any, x: np.ndarray, targets: Any) -> Any:
    """Conversions of a few numbers at a time: of many, TensorFlow's differ from place to place."""
    parts, feeds = fed(tf, *(x[i : i + 7] for i in range(0, len(x), 7)))
    return runs(tf, [tf.concat([tf.cast(t, d) for t in parts], 0) for d in targets], feeds)


@case("graph")
def casts_of_float32(tf: Any) -> Any:
    return _casts(tf, np.array(_FLOATS, "float32"), (*_INTEGERS, "bool"))


@case("graph")
def casts_of_float64(tf: Any) -> Any:
    return _casts(tf, np.array(_FLOATS, "float64"), (*_INTEGERS, "bool", "float32"))


@case("graph")
def casts_of_float16(tf: Any) -> Any:
    with np.errstate(all="ignore"):
        return _casts(tf, np.array(_FLOATS).astype("float16"), ("int8", "uint16", "uint32", "int64"))


@case("graph")
def casts_of_bfloat16(tf: Any) -> Any:
    return _casts(tf, np.array(_FLOATS).astype(tf.bfloat16.as_numpy_dtype), ("uint8", "int16", "int32", "uint64"))


@case("graph")
def casts_of_complex(tf: Any) -> Any:
    return _casts(tf, np.array(_FLOATS).astype("complex64"), ("uint8", "int32", "uint64", "bool", "float32"))


@case("graph")
def casts_of_integers(tf: Any) -> Any:
    xs, feeds = fed(tf, *map(_integers, ("int8", "uint16", "int32", "uint64")))
    return runs(tf, [[tf.cast(x, d) for d in (*_INTEGERS[::2], "uint32", "float32", "bool")] for x in xs], feeds, 2)


@case("eager")
def eager_casts(tf: Any) -> Any:
    return [tf.cast(tf.constant(_FLOATS[i : i + 7], t), d)
            for t in ("float32", "float64") for d in _INTEGERS for i in range(0, len(_FLOATS), 7)]


@case("graph")
def a_quotient_held_does_not_hold_its_gradient(tf: Any) -> Any:
    x = tf.constant(1.3)
    y = 2.0 / (1.0 + x * x)
    g = tf.gradients(y, x)[0]
    z = tf.math.divide_no_nan(2.0, 1.0 + x * x)
    h = tf.gradients(z, x)[0]
    by_y = [tf.gradients(g, y)[0], tf.gradients(h, z)[0]]
    return by_y, runs(tf, [tf.gradients(g, x, stop_gradients=[y]), tf.gradients(h, x, stop_gradients=[z]), g, h])


@case("graph")
def saturating_casts(tf: Any) -> Any:
    with np.errstate(all="ignore"):
        numbers = [np.array([v for v in _FLOATS if v == v]).astype(t) for t in ("float32", "float64", "float16")]
    xs, feeds = fed(tf, *numbers)
    return runs(tf, [[tf.saturate_cast(x, d) for d in _INTEGERS] for x in xs], feeds, 2)


# -- losses, pools, solvers --------------------------------------------------------


@case("graph")
def cross_entropy_along_an_axis(tf: Any) -> Any:
    rng = np.random.RandomState(0)
    (labels, logits), feeds = fed(tf, rng.rand(3, 2, 4).astype("f"), rng.rand(3, 2, 4).astype("f"))
    loss = [tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=a) for a in (0, 1, 2, -1)]
    unknown = [tf.placeholder_with_default(t, None) for t in (labels, logits)]
    other = tf.nn.softmax_cross_entropy_with_logits_v2(labels=unknown[0], logits=unknown[1], axis=0)
    old = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=0)
    both = raised(lambda: tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, axis=0))
    found = runs(tf, [*loss, other, old, *tf.gradients(loss[0], [labels, logits])], feeds)
    return both, [t.shape.as_list() for t in loss], found


@case("eager")
def eager_cross_entropy_along_an_axis(tf: Any) -> Any:
    rng = np.random.RandomState(1)
    labels, logits = tf.constant(rng.rand(3, 2, 4)), tf.constant(rng.rand(3, 2, 4))
    return [tf.nn.softmax_cross_entropy_with_logits(labels, logits, axis=a) for a in (0, 1)]


@case("graph")
def cross_entropy_by_logits_then_labels(tf: Any) -> Any:
    rng = np.random.RandomState(2)
    (labels, logits), feeds = fed(tf, rng.rand(2, 3).astype("f"), rng.rand(2, 3).astype("f"))
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    weights = rng.rand(2, 3).astype("f")
    by_logits, by_labels = tf.gradients(loss, [logits, labels])
    second = tf.gradients(by_logits * weights, [logits, labels])
    third = tf.gradients(second[0] * weights, [logits, labels])
    assert tf.gradients(by_labels * weights, labels) == [None]
    return [third[1] is None], runs(tf, [*second, *tf.gradients(by_labels * weights, logits), third[0]], feeds)


@case("graph")
def fractional_pools_with_seeds(tf: Any) -> Any:
    (x,), feeds = fed(tf, np.random.RandomState(0).rand(1, 9, 9, 1).astype("f"))
    found = []
    for pool in (tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool):
        for random in (False, True):
            y, rows, columns = pool(x, [1.0, 1.6, 1.4, 1.0], pseudo_random=random, deterministic=True, seed=3, seed2=5)
            found.append(runs(tf, [y, rows, columns, tf.gradients(y, x)[0]], feeds))
    return found


@case("graph")
def fractional_pools_without_seeds_stay_where_they_are(tf: Any) -> Any:
    (x,), feeds = fed(tf, np.random.RandomState(0).rand(1, 40, 40, 1).astype("f"))
    fixed = tf.nn.fractional_max_pool(x, [1.0, 1.6, 1.4, 1.0], deterministic=True)[1]
    free = tf.nn.fractional_max_pool(x, [1.0, 1.6, 1.4, 1.0])[1]
    found = runs(tf, [fixed, free], feeds)
    return [bool((r[i] == found[0][i]).all()) for i in (0, 1) for r in found]


@case("eager")
def eager_fractional_pools(tf: Any) -> Any:
    x = tf.constant(np.random.RandomState(0).rand(1, 9, 9, 1).astype("f"))
    return [list(tf.nn.fractional_max_pool(x, 1.5, seed=7)) for _ in range(3)]


_TIED = np.resize([1.0, 2.0, 2.0, 0.0, 2.0, 1.0, 1.0], 4 * 5 * 6 * 2).reshape(1, 4, 5, 6, 2).astype("f")


@case("graph")
def pools_with_ties(tf: Any) -> Any:
    (x,), feeds = fed(tf, _TIED)
    image = x[:, 0]
    ys = [tf.nn.max_pool3d(x, k, s, p) for k, s, p in ((2, 1, "VALID"), ([1, 2, 3, 2, 1], 2, "SAME"))]
    ys += [tf.nn.max_pool3d(x * 0.0, 2, 1, "VALID"), tf.nn.max_pool2d(image, 3, 2, "SAME"),
           tf.nn.max_pool_with_argmax(image, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")[0],
           tf.nn.fractional_max_pool(image, [1.0, 1.6, 1.4, 1.0], deterministic=True, seed=1, seed2=1)[0]]
    weights = [np.resize(np.arange(1.0, 8.0, dtype="f"), y.shape.as_list()) for y in ys]
    grads = [tf.gradients(y, x, w)[0] for y, w in zip(ys, weights, strict=True)]
    return runs(tf, grads, feeds)


@case("graph")
def second_derivatives_of_pools_with_ties(tf: Any) -> Any:
    (x,), feeds = fed(tf, _TIED)
    ys = [tf.nn.max_pool3d(x, 2, 1, "VALID"), tf.nn.max_pool2d(x[:, 0], 3, 2, "SAME")]
    grads = [tf.gradients(y * y, x)[0] for y in ys]
    weights = np.resize(np.arange(1.0, 8.0, dtype="f"), _TIED.shape)
    return runs(tf, [tf.gradients(g, x, weights)[0] for g in grads], feeds)


@case("graph")
def errors_of_gradients_that_are_nan(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    y = tf.math.log(x * 0.0 - 1.0) * x
    z = tf.stack([x[0] * float("inf"), x[1]])
    with tf.Session():
        return [float(tf.test.compute_gradient_error(x, [2], t, [2], x_init_value=np.array([1.0, 2.0], "f")))
                for t in (y, z)]


@case("eager")
def largest_errors_of_gradients_that_are_nan(tf: Any) -> Any:
    def error(f: Any, x: Any) -> Any:
        return float(tf.test.compute_gradient(f, [x])[0][0].sum())

    x = tf.constant([1.0, 2.0])
    return [error(lambda x: tf.math.log(x * 0.0 - 1.0) * x, x), error(lambda x: x * x, x)]


@case("graph", rtol=1e-14, atol=1e-15)
def triangular_systems(tf: Any) -> Any:
    rng = np.random.RandomState(3)
    # Badly conditioned where rows are exchanged; a triangular solver exchanges none.
    a = np.tril(rng.rand(12, 12)) * 10.0 ** rng.uniform(-3, 3, (12, 1))
    (m, b), feeds = fed(tf, a, a @ rng.rand(12, 2))
    xs = [tf.linalg.triangular_solve(m, b), tf.linalg.triangular_solve(m, b, adjoint=True),
          tf.linalg.triangular_solve(tf.transpose(m), b, lower=False)]
    wrong = [tf.reduce_max(tf.abs(tf.matmul(m, xs[0]) - b) / tf.matmul(tf.abs(m), tf.abs(xs[0])))]
    return [[bool(v < 5e-16) for v in found] for found in runs(tf, wrong, feeds)]


@case("graph")
def second_derivative_of_a_choice(tf: Any) -> Any:
    (x,), feeds = fed(tf, np.array([0.0, -1.0, 2.0, -0.0], "f"))
    found = []
    for choose in (tf.where, tf.where_v2):
        for f in (tf.math.log, tf.sqrt, tf.math.rsqrt, lambda x: 1.0 / x, lambda x: tf.pow(x, 0.5), tf.math.reciprocal):
            g = tf.gradients(choose(x > 0.0, f(x), x), x)[0]
            found += [g, *tf.gradients(g, x)]
    return runs(tf, found, feeds)


# -- indices -----------------------------------------------------------------------


@case("graph")
def negative_ids_of_segments(tf: Any) -> Any:
    (x, ids), feeds = fed(tf, np.arange(1, 5.0).astype("f"), np.array([-1, 0, 1, 1], "int32"))
    names = ("sum", "mean", "max", "min", "prod", "sqrt_n")
    ys = [getattr(tf.math, f"unsorted_segment_{name}")(x, ids, 3) for name in names]
    return runs(tf, [[y, tf.gradients(y, x)[0]] for y in ys], feeds)


@case("graph")
def indices_that_are_refused(tf: Any) -> Any:
    (x, ids), feeds = fed(tf, np.arange(1, 5.0).astype("f"), np.array([-1, 0, 1, 1], "int32"))
    all_rows, three = [0, 1, 2, 3], tf.placeholder_with_default(-1, [])
    ys = [getattr(tf.math, f"segment_{n}")(x, ids) for n in ("sum", "mean", "max", "min", "prod")]
    for n in ("sum", "mean", "sqrt_n"):
        f = getattr(tf, f"sparse_segment_{n}")
        ys += [f(x, all_rows, ids), f(x, ids, [0, 0, 1, 1]), f(x, all_rows, ids, num_segments=4),
               f(x, ids, [0, 0, 1, 1], num_segments=4)]
    ys += [tf.gather(x, ids), tf.gather_nd(x, ids[:, None]), tf.scatter_nd(ids[:, None], x, [4]),
           tf.tensor_scatter_nd_add(x, ids[:, None], x), tf.math.bincount(ids), tf.dynamic_partition(x, ids, 3)[0],
           tf.dynamic_stitch([ids], [x]), tf.nn.embedding_lookup(x, ids), tf.one_hot([0, 1], three),
           tf.gather(x[None], ids[None], batch_dims=1), tf.fill(ids[:1], 1.0),
           tf.math.unsorted_segment_sum(x, ids, three),
           tf.reverse_sequence(x[None], ids[:1], seq_axis=1), tf.linspace(0.0, 1.0, three), tf.eye(three),
           tf.sequence_mask(ids, 3)]
    return [raised(lambda y=y: runs(tf, y, feeds, 1)) for y in ys]


@case("graph")
def depths_below_zero(tf: Any) -> Any:
    depths = [-1, 0, tf.placeholder_with_default(-1, [])]
    return [raised(lambda d=d: runs(tf, tf.one_hot([0, 1], d), n=1)) for d in depths]


@case("graph")
def pads_with_what_is_no_scalar(tf: Any) -> Any:
    x = tf.ones([2, 2])
    found = []
    for value in ([5.0], [5.0, 6.0], [[1.0]], 3.0):
        for c in (tf.constant(value), tf.placeholder_with_default(tf.constant(value), None)):
            found.append(raised(lambda c=c: runs(tf, tf.pad(x, [[1, 1], [0, 0]], constant_values=c))))
    return found


@case("graph")
def pieces_of_arrays_written_again(tf: Any) -> Any:
    (x,), feeds = fed(tf, np.arange(6.0).astype("f"))
    found = []
    for index, part in ((1, x[:2] * 3.0), (3, x[:2] * 3.0), (4, x[:4] * 3.0), (1, tf.constant([7.0, 8.0]))):
        array = tf.TensorArray(tf.float32, 3, infer_shape=False, dynamic_size=True)
        array = array.split(x, [1, 2, 3]).write(index, part)
        if index == 4:
            array = array.write(3, x[5:])
        y = array.concat()
        found += [y, tf.gradients(y * y, x)[0]]
    return runs(tf, found, feeds)


def _turned(tf: Any, interpolation: str, fill_mode: str) -> Any:
    image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    transform = tf.constant([[1.0, 0.0, -1.5, 0.0, 1.0, 0.0, 0.0, 0.0]])
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=image, transforms=transform, output_shape=[4, 4], fill_value=7.0, interpolation=interpolation,
        fill_mode=fill_mode)


@case("graph")
def projective_transforms(tf: Any) -> Any:
    modes = ("REFLECT", "WRAP", "CONSTANT", "NEAREST")
    return runs(tf, [_turned(tf, i, f) for i in ("NEAREST", "BILINEAR") for f in modes])


@case("graph", differs="TensorFlow logs an error and goes on with what is in its memory", expected=["ValueError"] * 3)
def projective_transforms_of_no_kind(tf: Any) -> Any:
    kinds = (("CUBIC", "CONSTANT"), ("nearest", "CONSTANT"), ("BILINEAR", "nonsense"))
    return [raised(lambda i=i, f=f: runs(tf, _turned(tf, i, f), n=1)) for i, f in kinds]


# -- small numbers -----------------------------------------------------------------


@case("graph", rtol=3e-6)
def logarithms_of_small_numbers(tf: Any) -> Any:
    small = np.array([1e-45, 1e-40, 1.17549435e-38, 0.0], "f"), np.array([5e-324, 1e-310, 2.3e-308, 0.0])
    (x, y), feeds = fed(tf, *small)
    return runs(tf, [tf.math.log(x), tf.math.log(y), tf.sqrt(x), tf.sqrt(y), tf.math.rsqrt(x), tf.sign(x), 1.0 / x,
                     tf.equal(x, 0.0), tf.pow(x, 0.5), x + x, x * 0.5, tf.maximum(x, 0.0)], feeds)


@case("graph", rtol=3e-7, atol=0.0)
def quantiles(tf: Any) -> Any:
    near_0, near_1 = np.append(10.0 ** np.arange(-37.0, 0.0), [1e-45, 1e-40, 0.0]), 1 - 2.0 ** -np.arange(2.0, 25.0)
    (t,), feeds = fed(tf, np.concatenate([near_0, np.linspace(0.01, 0.99, 99), near_1]).astype("f"))
    return runs(tf, [tf.math.ndtri(t)], feeds)


@case("graph", rtol=1e-13, atol=1e-15)
def quantiles_in_double_precision(tf: Any) -> Any:
    near_0, near_1 = np.append(10.0 ** np.arange(-300.0, 0.0, 10.0), [5e-324, 1e-310]), 1 - 2.0 ** -np.arange(2.0, 53.0)
    (t,), feeds = fed(tf, np.concatenate([near_0, np.linspace(0.01, 0.99, 99), near_1]))
    return runs(tf, [tf.math.ndtri(t)], feeds)
