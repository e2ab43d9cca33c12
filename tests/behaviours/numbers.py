"""Values of operations and gradient rules where they are easily wrong: overflow, ties, NaN, denormals, bad indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .harness import case

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
    results = []
    for dtype, values in _SMALL.items():
        (x,), feeds = fed(tf, np.array(values, dtype))
        f = [tf.reduce_mean(x), tf.reduce_mean(x, 0), tf.reduce_mean(x, 1, keepdims=True)]
        results.append(runs(tf, f, feeds, 2))
    return results


@case("graph")
def sums_and_products_of_integers(tf: Any) -> Any:
    results = []
    for dtype, values in _SMALL.items():
        (x,), feeds = fed(tf, np.array(values, dtype))
        f = [tf.reduce_sum(x), tf.reduce_prod(x, 1), tf.cumsum(x, 1), tf.math.cumprod(x, 1), x * x]
        results.append(runs(tf, f, feeds, 2))
    return results


@case("graph")
def segment_means_of_integers(tf: Any) -> Any:
    results = []
    for dtype in ("uint8", "int8", "int32"):
        (x,), feeds = fed(tf, np.array([100, 120, 5, 10, -7 if dtype != "uint8" else 7, 4, 0], dtype))
        ids = [0, 0, 1, 1, 3, 3, 3]
        f = [tf.math.segment_mean(x, ids), tf.math.segment_sum(x, ids), tf.math.segment_prod(x, ids),
             tf.math.unsorted_segment_mean(x, ids, 5), tf.math.unsorted_segment_sum(x, ids, 5),
             tf.math.unsorted_segment_prod(x, ids, 5)]  # fmt: skip
        results.append(runs(tf, f, feeds, 2))
    return results


@case("graph")
def counts_of_integers(tf: Any) -> Any:
    (x, w), feeds = fed(tf, np.array([3, 0, 3, 1, 3], "int32"), np.array([2**30, 5, 2**30, 7, 2**30], "int32"))
    return runs(tf, [tf.math.bincount(x), tf.math.bincount(x, weights=w), tf.math.bincount(x, minlength=6),
                     tf.math.bincount(x, maxlength=2), tf.math.bincount(x, dtype=tf.int64)], feeds)  # fmt: skip


@case("graph")
def ranges_at_the_limits(tf: Any) -> Any:
    return runs(tf, [tf.range(2**31 - 4, 2**31 - 1), tf.range(-(2**31), -(2**31) + 3),
                     tf.range(0.0, 1.0, 0.1), tf.range(5, 0, -2), tf.range(0, 10, 3, dtype=tf.float32)])  # fmt: skip


# -- conversion --------------------------------------------------------------------

_FLOATS = [0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1.0, -1.0, 1.5, 2.5, 127.5, 128.0, -128.5, -129.0, 200.0, 255.5, 256.0,
           300.0, -300.0, 32767.5, 32768.0, -32769.0, 65535.5, 65536.0, 70000.0, -70000.0, 2147483520.0, 2147483648.0,
           -2147483648.0, -2147483904.0, 4294967040.0, 4294967296.0, 5e9, -5e9, 9.223371e18, 9.223372036854775808e18,
           -9.3e18, 1.8446743e19, 1.8446744073709552e19, 1e20, -1e20, 1e38, -1e38, INF, -INF, NAN]  # fmt: skip
_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_LIMITS = [0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1,
           2**63 - 1, 2**63, 2**64 - 1, -1, -127, -128, -129, -32768, -32769, -(2**31), -(2**31) - 1, -(2**53) - 1,
           -(2**63)]  # fmt: skip


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
        return _casts(tf, np.array(_FLOATS).astype("float16"), (*_INTEGERS, "bool"))


@case("graph")
def casts_of_bfloat16(tf: Any) -> Any:
    return _casts(tf, np.array(_FLOATS).astype(tf.bfloat16.as_numpy_dtype), (*_INTEGERS, "bool"))


@case("graph")
def casts_of_complex(tf: Any) -> Any:
    return _casts(tf, np.array(_FLOATS).astype("complex64"), (*_INTEGERS, "bool", "float32"))


@case("graph")
def casts_of_integers(tf: Any) -> Any:
    return [_casts(tf, _integers(d), (*_INTEGERS, "float16", "float32", "float64", "bool"))[:2] for d in _INTEGERS]


@case("eager")
def eager_casts(tf: Any) -> Any:
    return [tf.cast(tf.constant(_FLOATS[i : i + 7], t), d)
            for t in ("float32", "float64") for d in _INTEGERS for i in range(0, len(_FLOATS), 7)]  # fmt: skip


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
    found = []
    for t in ("float32", "float64", "float16"):
        with np.errstate(all="ignore"):
            (x,), feeds = fed(tf, np.array([v for v in _FLOATS if v == v]).astype(t))
        found.append(runs(tf, [tf.saturate_cast(x, d) for d in _INTEGERS], feeds, 2))
    return found
