"""What XLA hands to its library YNNPACK: nothing that ends the process, nothing that comes back wrong."""

import os
import subprocess
import sys

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import xla, xla_options
from graphgrad.executor.runtime import executable
from graphgrad.executor.runtime.session import HostSession

PRODUCT, CONVOLUTION, REDUCTION = 4, 5, 3

RANKS = """
import numpy as np
import graphgrad.v1 as tf

rng = np.random.default_rng(0)
for shape, other, axis in [((3, 1, 2, 2, 8, 8, 8), (3, 1, 2, 2, 8, 8, 8), 3),
                           ((10, 4, 6, 9, 9, 9, 3, 3), (10, 4, 6, 1, 1, 1, 1, 1), 2)]:
    a, b = rng.random(shape, np.float32), rng.random(other, np.float32)
    x, y = tf.placeholder(tf.float32, shape), tf.placeholder(tf.float32, other)
    with tf.Session() as sess:
        got = sess.run(tf.reduce_sum(x * y, axis), {x: a, y: b})
    np.testing.assert_allclose(got, (a * b).sum(axis), rtol=1e-5)
print("alive")
"""

PRODUCTS = """
import numpy as np
import graphgrad.v1 as tf

rng = np.random.default_rng(0)
for dtype in (tf.float32, tf.bfloat16):
    for batch in [(3, 2, 3, 2, 4), (3, 3, 2, 3, 2, 4), (2, 3, 3, 2, 3, 2, 4)]:
        a, b = (rng.random((*batch, *s)).astype(dtype.as_numpy_dtype) for s in [(2, 3), (3, 8)])
        x, y = tf.placeholder(dtype, a.shape), tf.placeholder(dtype, b.shape)
        product = tf.matmul(x, y)
        fetches = [product, *tf.gradients(product, [x, y])]
        with tf.Session() as sess:
            got = sess.run([tf.cast(t, tf.float32) for t in fetches], {x: a, y: b})
        a, b = (t.astype(np.float32) for t in (a, b))
        want = [a @ b, np.broadcast_to(b.sum(-1)[..., None, :], a.shape),
                np.broadcast_to(a.sum(-2)[..., None], b.shape)]
        for g, w in zip(got, want):
            np.testing.assert_allclose(g, w, rtol=2e-2 if dtype == tf.bfloat16 else 1e-5)
print("alive")
"""


@pytest.mark.parametrize("program", [RANKS, PRODUCTS], ids=["reductions", "products"])
def test_many_dimensions_leave_the_process_alive(program):
    env = {**os.environ, "GRAPHGRAD_FIRST_RUN": "xla", "GRAPHGRAD_CACHE_DIR": ""}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr[-2000:]


@pytest.mark.parametrize("build, shapes", [
    (lambda a, b: tf.reduce_sum(tf.square(tf.matmul(a, b, transpose_b=True)), 0), [(3, 3), (16385, 3)]),
    (lambda a, b: tf.reduce_max(tf.tanh(tf.matmul(a, b, transpose_b=True)), 0), [(3, 3), (40001, 3)]),
    (lambda a, b: tf.reduce_sum(tf.matmul(a, b, transpose_b=True) + 1.0, 2), [(9, 2, 3), (9, 40001, 3)]),
])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reductions_of_products_with_many_rows_are_right(build, shapes, dtype, monkeypatch):
    monkeypatch.setattr(executable, "first_in_numpy", False)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype(dtype) for s in shapes]
    with tf.Graph().as_default():
        inputs = [tf.placeholder(dtype, s) for s in shapes]
        result = build(*inputs)
        feed = dict(zip(inputs, arrays, strict=True))
        with tf.Session() as sess:
            got = sess.run(result, feed)
        with HostSession() as sess:
            np.testing.assert_allclose(got, sess.run(result, feed), rtol=1e-3, atol=1e-3)


def test_what_goes_to_the_library():
    both = {PRODUCT, CONVOLUTION}
    reduced = '%1 = stablehlo.reduce(%0 init: %c) : (tensor<{}xf32>, tensor<f32>) -> tensor<f32>'
    assert xla_options.libraries(reduced.format("3x4x5x6x7")) == {*both, REDUCTION}
    assert xla_options.libraries(reduced.format("3x1x2x2x8x8")) == both
    assert xla_options.libraries(reduced.format("3x1x2x2x8x8x1")) == set()
    assert xla_options.libraries(reduced.format("?x3")) == {*both, REDUCTION}
    assert xla_options.libraries(reduced.format("9") + "\n%2 = stablehlo.dot_general %1, %1") == both
    assert xla_options.libraries(reduced.format("9") + "\n%2 = stablehlo.convolution(%1, %1)") == both
    assert xla_options.libraries("") == {*both, REDUCTION}


def test_options_name_what_is_allowed():
    jaxlib = xla.device()._jax
    for allowed in (set(), {PRODUCT}, {PRODUCT, CONVOLUTION}, {PRODUCT, CONVOLUTION, REDUCTION}):
        options = xla_options.options(jaxlib, frozenset(allowed))
        assert options.executable_build_options.debug_options.xla_backend_optimization_level == 2
        assert _kinds(options.SerializeAsString()) == _kinds(jaxlib.CompileOptions().SerializeAsString()) & allowed


def _kinds(message):
    from graphgrad.ir.proto.wire import read_fields

    (build,) = (v for n, _, v in read_fields(message) if n == 3)
    (debug,) = (v for n, _, v in read_fields(build) if n == 3)
    return {k for n, _, v in read_fields(debug) if n == 422 for k in v}
