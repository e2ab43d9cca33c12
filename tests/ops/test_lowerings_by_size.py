"""Lowerings that depend on sizes, at sizes that the table of operations does not have: XLA against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ops.nn.conv import conv_xla
from graphgrad.ops.random import philox

RNG = np.random.RandomState(0)


def _compare(build, *arrays, tolerance=1e-5):
    """Runs what `build` makes of placeholders through XLA and in NumPy, its results relative to the largest one."""
    with tf.Graph().as_default():
        xs = [tf.placeholder(a.dtype, a.shape) for a in arrays]
        fetches = build(*xs)
        feeds = dict(zip(xs, arrays, strict=True))
        with tf.Session() as compiled, HostSession() as host:
            pairs = zip(compiled.run(fetches, feeds), host.run(fetches, feeds), strict=True)
    for got, want in pairs:
        assert got.shape == want.shape and got.dtype == want.dtype
        if not tolerance:
            np.testing.assert_array_equal(got, want)
            continue
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * max(1e-30, np.abs(want).max()))


def _normal(*shape, dtype=np.float32):
    return RNG.randn(*shape).astype(dtype)


@pytest.mark.parametrize("batch", [18, 19, 24])  # summed in 2 parts, as a whole, in 3 parts
def test_filter_gradient_of_many_positions(batch):
    """Beyond 4,096 positions the sum over them is dealt out to several convolutions."""
    def build(x, dy):
        return [tf.raw_ops.Conv2DBackpropFilter(input=x, filter_sizes=[3, 3, 1, 2], out_backprop=dy,
                                                strides=[1, 1, 1, 1], padding="SAME")]

    _compare(build, _normal(batch, 16, 16, 1), _normal(batch, 16, 16, 2), tolerance=1e-4)


def test_filter_gradient_of_many_channels(monkeypatch):
    """A loop of products of matrices."""
    monkeypatch.setattr(conv_xla, "_LARGE", 1e6)

    def build(x, dy):
        return [tf.raw_ops.Conv2DBackpropFilter(input=x, filter_sizes=[3, 2, 32, 33], out_backprop=dy, padding="VALID",
                                                strides=[1, 1, 1, 1], dilations=[1, 2, 1, 1])]

    _compare(build, _normal(6, 28, 29, 32), _normal(6, 24, 28, 33), tolerance=1e-4)


@pytest.mark.parametrize(("channels", "groups"), [(6, 3), (9, 9), (40, 20)])
def test_groups(channels, groups):
    """Few are convolutions of their own, forwards too; for the filter several may go together."""
    def build(x, f, dy):
        y = tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME")
        return [y, *tf.gradients(y, [x, f], dy)]

    _compare(build, _normal(2, 5, 4, channels), _normal(3, 3, channels // groups, 2 * groups),
             _normal(2, 5, 4, 2 * groups))


@pytest.mark.parametrize(("stride", "dilation", "padding"), [(2, 1, "SAME"), (3, 1, "VALID"), (1, 2, "VALID")])
def test_three_dimensions(stride, dilation, padding):
    """The first one becomes channels."""
    def build(x, f, dy):
        y = tf.nn.conv3d(x, f, [1, stride, 1, stride, 1], padding, dilations=[1, dilation, dilation, 1, 1])
        return [y, *tf.gradients(y, [x, f], dy)]

    x, f = _normal(2, 8, 6, 7, 2), _normal(3, 2, 2, 2, 4)
    with tf.Graph().as_default():
        shape = tf.nn.conv3d(x, f, [1, stride, 1, stride, 1], padding, dilations=[1, dilation, dilation, 1, 1]).shape
    _compare(build, x, f, _normal(*shape.as_list()))


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_filter_of_one_cell(stride):
    """It is a product of matrices, forwards and backwards."""
    def build(x, f, dy):
        y = tf.nn.conv2d(x, f, [1, stride, stride, 1], "SAME")
        return [y, *tf.gradients(y, [x, f], dy)]

    out = -(-8 // stride)
    _compare(build, _normal(2, 8, 8, 3), _normal(1, 1, 3, 4), _normal(2, out, out, 4))


@pytest.mark.parametrize(("kernel", "stride"), [(3, 2), (3, 1), (2, 2)])
def test_pools_whose_windows_overlap(kernel, stride):
    """Their gradients are gathered from the input's side."""
    def build(x, d):
        sizes = [1, kernel, kernel, 1], [1, stride, stride, 1], "SAME"
        return [tf.gradients(pool(x, *sizes), x, d)[0] for pool in (tf.nn.max_pool, tf.nn.avg_pool)]

    out = -(-9 // stride)
    x = RNG.randint(0, 4, (2, 9, 9, 3)).astype(np.float32)  # with ties
    _compare(build, x, _normal(2, out, out, 3))


def test_depthwise_filter_gradient_of_several_multipliers():
    def build(x, d):
        return [tf.raw_ops.DepthwiseConv2dNativeBackpropFilter(input=x, filter_sizes=[3, 3, 4, 2], out_backprop=d,
                                                               strides=[1, 1, 1, 1], padding="SAME")]

    _compare(build, _normal(2, 7, 7, 4), _normal(2, 7, 7, 8))


@pytest.mark.parametrize("axis", [0, 1])
def test_accumulation_of_broad_rows(axis):
    """It is a loop."""
    def build(x):
        return [f(x, axis, exclusive=e, reverse=r) for f in (tf.cumsum, tf.cumprod) for e in (False, True)
                for r in (False, True)]

    _compare(build, 1 + 0.01 * _normal(130, 150))


@pytest.mark.parametrize("axis", [0, 1])
def test_gradients_of_broad_cumulative_products(axis):
    """They are loops, too, and right where an element is zero."""
    def build(x, dy):
        return [tf.gradients(tf.cumprod(x, axis, exclusive=e, reverse=r), x, dy)[0]
                for e in (False, True) for r in (False, True)]

    x = 1 + 0.01 * _normal(130, 150)
    x[3, 4] = x[100, 4] = x[3, 140] = 0
    dy = _normal(130, 150)
    _compare(build, x, dy)
    with tf.Graph().as_default(), tf.Session() as session:
        got = session.run(build(tf.constant(x), tf.constant(dy))[0])
    x64, moved = x.astype(np.float64), np.zeros_like(x, np.float64)
    moved[3, 4] = 1.0  # y is linear in one element
    y = np.cumprod(x64 + moved, axis) - np.cumprod(x64, axis)
    np.testing.assert_allclose(got[3, 4], (y * dy).sum(), rtol=1e-4)


def test_sines_of_many_angles():
    """Moderate angles go through polynomials, large ones and what is not finite through XLA's own functions."""
    def build(*xs):
        return [f(x) for x in xs for f in (tf.sin, tf.cos)]

    moderate = np.concatenate([_normal(2000), 1e3 * _normal(2000), 9.9e5 * (2 * RNG.rand(2000) - 1)]).astype(np.float32)
    moderate[:3] = 0, -0.0, np.float32(np.pi)
    large = np.concatenate([moderate, [1e6, -3e9, 2e38]]).astype(np.float32)
    endless = np.concatenate([moderate, [np.inf, -np.inf, np.nan]]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        for x in (moderate, large, endless):
            with np.errstate(invalid="ignore"):
                want = np.sin(x.astype(np.float64)), np.cos(x.astype(np.float64))
            for got, exact in zip(session.run(build(tf.constant(x))), want, strict=True):
                np.testing.assert_allclose(got, exact, rtol=1e-6, atol=2e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rsqrt_at_its_ends(dtype):
    x = np.array([0.0, -0.0, np.inf, -1.0, np.nan, np.finfo(dtype).max, np.finfo(dtype).tiny, 4.0], dtype)
    with np.errstate(all="ignore"):
        _compare(_rsqrt, x[:5], tolerance=0)
    _compare(_rsqrt, x[5:6])
    _compare(_rsqrt, x[6:])


def _rsqrt(x):
    return [tf.rsqrt(x)]


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_sorting(dtype):
    """Elements and positions are sorted as one integer each."""
    def build(x):
        return [*tf.nn.top_k(x, 40), tf.sort(x), tf.argsort(x, stable=True), tf.argsort(x, direction="DESCENDING")]

    limits = np.finfo(dtype) if dtype is np.float32 else np.iinfo(dtype)
    x = (3 * _normal(20, 40)).astype(np.int32).astype(dtype)  # with ties
    x[0, :4] = limits.max, limits.min, -1, 0
    if dtype is np.float32:
        x[1, :6] = np.inf, -np.inf, 0.0, -0.0, 1e-30, -1e-30
    _compare(build, x, tolerance=0)


@pytest.mark.parametrize(("before", "after"), [((5, 7), (10, 14)), ((6, 5), (7, 13)), ((9, 8), (3, 2))])
def test_resizing_of_many_channels(before, after):
    """Gradients, and what is not interpolated between two pixels, are sums over few pixels each."""
    def build(x, d):
        resizers = tf.image.resize_bilinear, tf.image.resize_bicubic, tf.image.resize_nearest_neighbor
        ys = [resize(x, after, half_pixel_centers=half) for resize in resizers for half in (False, True)]
        return [*ys, *[tf.gradients(y, x, d)[0] for y in ys]]

    _compare(build, _normal(2, *before, 32), _normal(2, *after, 32))


def test_truncated_normal_of_many_groups(monkeypatch):
    """Groups that are not complete at once are drawn again by themselves, here in several turns."""
    monkeypatch.setattr(philox, "_ACCEPTED", 0.985)

    def build(x):
        return [tf.truncated_normal([70_001], seed=3) + x]

    _compare(build, np.zeros(1, np.float32), tolerance=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.int32])
def test_segments_of_many_numbers(dtype):
    """Their sums are products with a sparse matrix; elements that are not finite stay in their segment."""
    ids = np.sort(RNG.randint(0, 90, 1200)).astype(np.int64)
    ids[ids == 7] = 8  # an empty one
    x = (5 * _normal(1200, 8, 7)).astype(dtype)
    if dtype is np.float32:
        x[0, 0, 0], x[-1, 0, 1] = np.nan, np.inf
    want = np.zeros((90, 8, 7), np.result_type(dtype, np.float64) if dtype is not np.int32 else dtype)
    np.add.at(want, ids, x)
    size = np.maximum(np.bincount(ids, minlength=90), 1)[:, None, None]
    picked = np.arange(1200)[::-1].copy()
    with tf.Graph().as_default(), tf.Session() as session:
        total, mean = session.run([tf.segment_sum(x, ids), tf.segment_mean(x, ids)])
        if dtype is np.float32:
            both = session.run([f(x[::-1], picked, ids) for f in (tf.sparse_segment_sum, tf.sparse_segment_mean)])
            np.testing.assert_array_equal(both[0], total)
            np.testing.assert_allclose(both[1], mean, rtol=1e-6)
    assert total.dtype == dtype and mean.dtype == dtype
    np.testing.assert_allclose(total, want, rtol=1e-5, atol=1e-4)
    if dtype is not np.int32:
        np.testing.assert_allclose(mean, want / size, rtol=1e-5, atol=1e-4)


def test_triangular_systems_by_blocks():
    """Blocks on the diagonal are inverted, the last one filled up; the other triangle is not read."""
    def build(a, b):
        return [tf.matrix_triangular_solve(a, b, lower=lower, adjoint=adjoint)
                for lower in (False, True) for adjoint in (False, True)]

    a = _normal(2, 37, 37) + 1j * _normal(2, 37, 37) + 37 * np.eye(37)
    _compare(build, a.astype(np.complex64), (_normal(2, 37, 30) + 1j * _normal(2, 37, 30)).astype(np.complex64))


def test_systems_by_blocks():
    def build(a, b):
        return [y for adjoint in (False, True)
                for y in (tf.matrix_inverse(a, adjoint=adjoint), tf.matrix_solve(a, b, adjoint=adjoint))]

    _compare(build, _normal(3, 48, 48, dtype=np.float64), _normal(3, 48, 40, dtype=np.float64), tolerance=1e-9)


@pytest.mark.parametrize("shape", [(8192,), (8193,), (100, 123), (3, 7000), (2, 2, 2048)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_products_of_many(shape, keepdims):
    """Many factors are multiplied side by side, each once: against sums of logarithms."""
    x = np.exp(RNG.randn(*shape) * 1e-2)
    x.flat[-1] *= -1.5
    with HostSession(graph=tf.Graph()) as host, host.graph.as_default():
        got = host.run(tf.reduce_prod(tf.constant(x), keepdims=keepdims))
        transposed = host.run(tf.reduce_prod(tf.transpose(x)))
    assert got.shape == ((1,) * len(shape) if keepdims else ())
    np.testing.assert_allclose([got.item(), transposed], -np.exp(np.sum(np.log(np.abs(x)))), rtol=1e-11)


def test_large_arrays_in_place():
    """Kernels that work in arrays of their own leave their inputs alone."""
    x = np.abs(_normal(300, 100)) + 0.1
    with HostSession(graph=tf.Graph()) as host, host.graph.as_default():
        fed = tf.placeholder(tf.float32, x.shape)
        before = x.copy()
        leaky, root, half = host.run([tf.nn.leaky_relu(fed - 1), tf.math.rsqrt(fed), tf.nn.l2_loss(fed)], {fed: x})
    np.testing.assert_array_equal(x, before)
    np.testing.assert_allclose(leaky, np.where(x > 1, x - 1, np.float32(0.2) * (x - 1)), rtol=1e-6)
    np.testing.assert_allclose(root, x.astype(np.float64) ** -0.5, rtol=1e-6)
    np.testing.assert_allclose(half, np.sum(np.square(x, dtype=np.float64)) / 2, rtol=1e-6)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_the_largest_of_many(dtype, few):
    """Equal numbers, in the order of their places; NaNs above all; as many in one row as another one lacks."""
    x = (RNG.randint(-9, 90, (6, 1500)) if few else RNG.randn(6, 1500) * 1e6).astype(dtype)
    if dtype == np.float32:
        x[1, :3], x[2, 7], x[3, 5:9] = np.nan, np.inf, -0.0
    x[4, :] = x[4, 0]
    for k in (1, 10, 374, 1500):
        order = np.lexsort((np.broadcast_to(np.arange(1500), x.shape), -x.astype(np.float64), ~np.isnan(x)))[:, :k]
        with tf.Graph().as_default(), HostSession() as host:
            values, indices = host.run(tf.nn.top_k(x, k))
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_array_equal(values, np.take_along_axis(x, order, -1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint16", "bool", "complex64"])
@pytest.mark.parametrize(("rows", "columns"), [(80, 80), (3, 100), (100, 70)])
def test_bands_of_wide_matrices(rows, columns, dtype):
    x = (_normal(2, rows, columns) * 9).astype(dtype)
    above = np.arange(columns) - np.arange(rows)[:, None]
    for lower, upper in ((-1, 0), (0, -1), (2, 3), (-1, -1), (0, 0), (min(rows, 60), 1), (1, min(columns, 70))):
        inside = ((lower < 0) | (-above <= lower)) & ((upper < 0) | (above <= upper))
        with tf.Graph().as_default(), HostSession() as host:
            found = host.run(tf.linalg.band_part(tf.constant(x), lower, upper))
        np.testing.assert_array_equal(found, np.where(inside, x, np.zeros((), dtype)))


@pytest.mark.parametrize("function", ["maximum", "minimum"])
@pytest.mark.parametrize("size", [1 << 14, 40_001])
def test_extremes_of_many_and_a_number(size, function):
    x = _normal(size)
    x[::7] = np.nan
    x[5::7] = 0.0
    for number in np.float32([0.25, np.nan, np.inf, 0.0, -0.0]):
        with tf.Graph().as_default(), HostSession() as host:
            given = tf.constant(x)
            found = host.run([getattr(tf, function)(given, number), getattr(tf, function)(number, given[None])[0],
                              getattr(tf, function)(given, np.full((1, 1), number))[0]])
        np.testing.assert_array_equal(found, [getattr(np, function)(x, number)] * 3)
    with tf.Graph().as_default(), HostSession() as host:
        np.testing.assert_array_equal(host.run(tf.nn.relu(np.nan_to_num(x))), np.maximum(np.nan_to_num(x), 0))
