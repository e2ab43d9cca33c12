"""What is lowered, or run, in another way for speed: the same numbers, and no slower for a reason that is known."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from tests import ROOT


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
import ctypes
import resource
import sys
from graphgrad.executor.backend import xla

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
size = 40 << 20

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = libc.malloc(ctypes.c_size_t(size))
    ctypes.memset(block, 1, size)
    libc.free(ctypes.c_void_p(block))
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

xla.device()
print(faults(), faults())
"""


def test_memory_that_is_freed_is_kept() -> None:
    """Once the device is there, a block of 40 MB that was freed is mapped when it is asked for again.

    It is asked for in one thread: threads have heaps of their own, and the load decides which of XLA's threads runs a
    program, so the faults of runs tell nothing for sure.
    """
    if not (sys.platform == "linux" and hasattr(ctypes.CDLL(None), "gnu_get_libc_version")):
        pytest.skip("only glibc's memory is kept")
    # In a process of its own: what other tests have left in the heap decides where a block comes from.
    source = str(ROOT / "src")
    steered = {n for n in os.environ if n.startswith("MALLOC_") or n == "GLIBC_TUNABLES"}
    env = {**{n: v for n, v in os.environ.items() if n not in steered}, "PYTHONPATH": source}
    done = subprocess.run([sys.executable, "-c", _FAULTS], env=env, check=True, capture_output=True, text=True)
    first, again = map(int, done.stdout.split())
    assert again < 100, f"{first} pages were mapped at first, {again} when the block was asked for again"
