"""Conventions at the edges, as TensorFlow's: zeros, ties, NaN and Inf, empty tensors, negative axes, narrow types.

`edge_cases.py` has the programs, `tests/record/ops/edges.py` records what TensorFlow makes of them.
"""

from __future__ import annotations

import gzip
import json
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession

from . import edge_cases

_RECORDED = json.loads(gzip.decompress((pathlib.Path(__file__).parents[1] / "recorded" / "edges.json.gz").read_bytes()))

# Where this package differs from TensorFlow on purpose; docs/learn/gradients.md lists them.
_DIFFERENT = {
    "tf.argmax(x, 1)": "NaN counts as the largest",
    "tf.math.cumprod(x, axis=-2, exclusive=True)": "TensorFlow's gradient divides by the zero",
    "tf.nn.depthwise_conv2d(tf.reshape(x, [0, 4, 4, 2]), y, [1, 1, 1, 1], 'VALID')": "TensorFlow's is memory not set",
    "tf.sqrt(1)": "an int is taken for a float where only floats are allowed",
}

# There, what XLA makes of 0 / 0 and of complex infinities is not what IEEE's rules give.
_DIFFERENT_IN_XLA = {
    ("tf.math.reduce_max(x)", "nan"): "0 / 0 of a comparison and its count is 0",
    ("tf.math.reduce_min(x)", "nan"): "0 / 0 of a comparison and its count is 0",
    ("tf.math.angle(x)", "0j"): "the gradient at 0 is (-inf, nan)",
}

_TOLERANCE = {"float16": 1e-3, "bfloat16": 8e-3}


def _built(text: str, inputs: Any) -> tuple[Any, list[Any], dict[Any, Any]]:
    arrays = edge_cases.arrays(inputs, lambda t: tf.as_dtype(t).as_numpy_dtype)
    given = {k: tf.placeholder(tf.as_dtype(a.dtype), a.shape) for k, a in arrays.items()}
    y = eval(text, {"tf": tf}, dict(given))
    xs = [x for x in given.values() if x.dtype.is_floating or x.dtype.is_complex]
    grads = tf.gradients(y, xs, tf.ones_like(y)) if xs and (y.dtype.is_floating or y.dtype.is_complex) else []
    return y, [None if g is None else tf.convert_to_tensor(g) for g in grads], {given[k]: a for k, a in arrays.items()}


def _differs(got: Any, want: Any, tolerance: float) -> bool:
    """Whether an array is another than the recorded one: NaN is NaN, infinities have signs."""
    got = np.asarray(got)
    if got.dtype.kind == "c":
        got = np.stack([got.real, got.imag], -1)
    want = np.asarray(want)
    if got.dtype.kind in "biu":
        return got.size != want.size or not np.array_equal(got.reshape(-1), want.reshape(-1))
    got = got.astype(np.float64).reshape(-1)
    scale = float(np.abs(want[np.isfinite(want)]).max(initial=0.0)) if want.size else 0.0
    return got.shape != want.shape or not np.allclose(
        got, want, rtol=tolerance, atol=tolerance * min(1.0, scale) + 1e-7, equal_nan=True)


@pytest.mark.parametrize("engine", ["NumPy", "XLA"])
@pytest.mark.parametrize("part", range(6))
def test_values(engine: str, part: int) -> None:
    """Dtypes, static shapes, values and gradients are TensorFlow's."""
    cases = [(text, inputs, recorded) for (text, inputs), recorded
             in zip(edge_cases.VALUES, _RECORDED["values"], strict=True)
             if len(recorded) > 1 and text not in _DIFFERENT and not (engine == "XLA" and any(
                 text == t and what in str(inputs["x"]) for t, what in _DIFFERENT_IN_XLA))][part::6]
    with tf.Graph().as_default():
        built = [_built(text, inputs) for text, inputs, _ in cases]
        feeds = {k: v for _, _, f in built for k, v in f.items()}
        with HostSession() if engine == "NumPy" else tf.Session() as sess:
            found = sess.run([[y, [g for g in grads if g is not None]] for y, grads, _ in built], feeds)
    wrong = []
    for (text, inputs, recorded), (y, grads, _), (value, slopes) in zip(cases, built, found, strict=True):
        dtype, static, shape, want, wanted = recorded
        tolerance = _TOLERANCE.get(dtype, 2e-5)
        what = f"{text}, x {str(inputs['x'])[:60]}"
        if y.dtype.name != dtype or (None if y.shape.rank is None else y.shape.as_list()) != static:
            wrong.append(f"{what}: {y.dtype.name} {y.shape}, not {dtype} {static}")
        if list(value.shape) != shape or _differs(value, want, tolerance):
            wrong.append(f"{what}: {value.tolist()}, not {want}")
        left = iter(slopes)
        for g, w in zip(grads, wanted, strict=False):
            if (g is None) != (w is None):
                wrong.append(f"{what}: gradient {g}, not {w}")
            elif g is not None and _differs(slope := next(left), w, tolerance):
                wrong.append(f"{what}: gradient {slope.tolist()}, not {w}")
    assert not wrong, "\n".join(wrong)


def test_errors() -> None:
    """What TensorFlow refuses while building is refused with an error of its class that tells a remedy."""
    wrong = []
    for text, name in zip(edge_cases.ERRORS, _RECORDED["errors"], strict=True):
        if text in _DIFFERENT:
            continue
        with tf.Graph().as_default():
            try:
                eval(text, {"tf": tf})
            except Exception as e:
                classes = [c.__name__ for c in type(e).__mro__]
                if name and name not in classes:
                    wrong.append(f"{text}: {type(e).__name__}, not {name}: {str(e)[:200]}")
                elif name and "Fix" not in str(e):
                    wrong.append(f"{text}: no remedy: {e}")
            else:
                if name:
                    wrong.append(f"{text}: accepted; TensorFlow raises {name}")
    assert not wrong, "\n".join(wrong)
