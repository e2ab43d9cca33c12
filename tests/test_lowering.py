"""What is lowered, or run, in another way for speed: the same numbers, and no slower for a reason that is known."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import graphgrad.compat.v1 as tf


def test_sums_of_many_large_terms() -> None:
    """AddN adds them in several loops; its gradient and a map over it are the same as those of few terms."""
    rng = np.random.default_rng(0)
    arrays = rng.standard_normal((21, 2, 128, 64), np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        xs = [tf.placeholder(tf.float32, a.shape) for a in arrays]
        y = tf.add_n(xs)
        both = tf.vectorized_map(tf.add_n, xs)
        grads = tf.gradients(tf.reduce_sum(y * y), xs)
        value, mapped, first, last = sess.run([y, both, grads[0], grads[-1]], dict(zip(xs, arrays, strict=True)))
    wanted = arrays.astype(np.float64).sum(0)
    np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(mapped, wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(first, 2 * wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(first, last)


_FAULTS = """
import resource
import numpy as np
import graphgrad.compat.v1 as tf

with tf.Graph().as_default(), tf.Session() as sess:
    x = tf.placeholder(tf.float32, [1_250_000, 8])
    y = tf.reduce_sum(tf.matmul(tf.abs(x), tf.ones([8, 1]) + x[:8, :1]))  # a product's operands are not fused
    ones = np.ones(x.shape, np.float32)
    needed = sum(s.temporary_bytes for s in sess.explain(y, {x: ones}).steps)
    faults = []
    for _ in range(15):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        assert sess.run(y, {x: ones}) == 2e7
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(needed, sorted(faults[4:])[5])
"""


def test_memory_of_a_run_is_kept_for_the_next() -> None:
    """A program that needs 40 MB while it runs finds them mapped in most runs: threads have heaps of their own."""
    if not (sys.platform == "linux" and hasattr(ctypes.CDLL(None), "gnu_get_libc_version")):
        pytest.skip("only glibc's memory is kept")
    if any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ):
        pytest.skip("the user steers glibc's memory")
    # In a process of its own: what other tests have left in the heap decides where a block comes from.
    source = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
    done = subprocess.run([sys.executable, "-c", _FAULTS], env={**os.environ, "PYTHONPATH": source}, check=True,
                          capture_output=True, text=True)  # fmt: skip
    needed, faults = map(int, done.stdout.split())
    assert needed > 33 << 20, "nothing that glibc would give back"
    assert faults < needed / 4096 / 4
