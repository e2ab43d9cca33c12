"""Public functions on tensors whose static shapes are known, partly known and unknown.

An expression names its inputs: x (2, 3, 4) and y like it, v (6,), m a batch (2, 3, 3) of positive definite matrices,
i a batch (2, 8, 7, 3) of images, k (3, 3, 3, 2), c (2, 4, 5) complex, n (2, 3) integers, b (2, 3, 4) booleans,
z (1, 5, 1, 2). Each becomes a placeholder; `VARIANTS` says what its static shape is.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def values() -> dict[str, np.ndarray]:
    """The inputs, by their letters."""
    rng = np.random.RandomState(7)
    a = rng.rand(2, 3, 3)
    return {
        "x": rng.rand(2, 3, 4).astype(np.float32) + 0.1, "y": rng.rand(2, 3, 4).astype(np.float32),
        "v": rng.rand(6).astype(np.float32), "m": a @ a.transpose(0, 2, 1) + 2 * np.eye(3),
        "i": rng.rand(2, 8, 7, 3).astype(np.float32), "k": rng.rand(3, 3, 3, 2).astype(np.float32),
        "c": (rng.rand(2, 4, 5) + 1j * rng.rand(2, 4, 5)).astype(np.complex64),
        "n": rng.randint(0, 3, (2, 3)).astype(np.int32), "b": rng.rand(2, 3, 4) > 0.5,
        "z": rng.rand(1, 5, 1, 2).astype(np.float32),
    }


def _all(shape: tuple[int, ...]) -> Any:
    return list(shape)


def _last(shape: tuple[int, ...]) -> Any:
    return [*[None] * (len(shape) - 1), shape[-1]]


def _first(shape: tuple[int, ...]) -> Any:
    return [shape[0], *[None] * (len(shape) - 1)]


def _rank(shape: tuple[int, ...]) -> Any:
    return [None] * len(shape)


def _none(shape: tuple[int, ...]) -> Any:
    return None


VARIANTS = {"all": _all, "last": _last, "first": _first, "rank": _rank, "none": _none}

EXPRESSIONS = """
tf.tensordot(x, tf.ones([4, 2]), 1)
tf.tensordot(x, y, [[1, 2], [1, 2]])
tf.tensordot(x, y, [[0, 1, 2], [0, 1, 2]])
tf.tensordot(x, tf.ones([2, 5]), [[0], [0]])
tf.signal.rfft(x)
tf.signal.rfft(x, [6])
tf.signal.rfft(x, [3])
tf.signal.rfft2d(x)
tf.signal.rfft3d(x)
tf.signal.irfft(c)
tf.signal.irfft(c, [7])
tf.signal.irfft2d(c)
tf.signal.fft(c)
tf.signal.ifft2d(c)
tf.signal.fft3d(c)
tf.signal.fftshift(x)
tf.signal.ifftshift(x, axes=[1])
tf.signal.dct(x)
tf.signal.idct(x)
tf.signal.dct(x, n=6)
tf.signal.stft(x, 2, 1)
tf.signal.frame(x, 2, 1)
tf.signal.frame(x, 3, 2, pad_end=True)
tf.signal.overlap_and_add(x, 2)
tf.signal.inverse_stft(tf.signal.stft(x, 4, 1), 4, 1)
tf.signal.mdct(x, 4)
tf.linalg.lstsq(m, m)
tf.linalg.lstsq(m, m, l2_regularizer=0.1)
tf.linalg.lstsq(m, tf.ones([2, 3, 1], tf.float64), fast=False)
tf.linalg.sqrtm(m)
tf.linalg.lu(m)[0]
tf.linalg.lu(m)[1]
tf.linalg.lu_reconstruct(*tf.linalg.lu(m))
tf.linalg.lu_solve(*tf.linalg.lu(m), m)
tf.linalg.lu_matrix_inverse(*tf.linalg.lu(m))
tf.linalg.inv(m)
tf.linalg.det(m)
tf.linalg.logdet(m)
tf.linalg.slogdet(m)[1]
tf.linalg.cholesky(m)
tf.linalg.cholesky_solve(m, m)
tf.linalg.solve(m, m)
tf.linalg.triangular_solve(m, m)
tf.linalg.qr(m)[1] ** 2
tf.linalg.svd(m)[0]
tf.linalg.eigh(m)[0]
tf.linalg.eigvalsh(m)
tf.linalg.expm(m)
tf.linalg.logm(tf.cast(m, tf.complex128))
tf.linalg.pinv(m)
tf.linalg.matrix_rank(m)
tf.linalg.trace(m)
tf.linalg.diag(x)
tf.linalg.diag_part(m)
tf.linalg.set_diag(m, tf.zeros([2, 3], tf.float64))
tf.linalg.band_part(m, 1, 0)
tf.linalg.matvec(m, tf.ones([2, 3], tf.float64))
tf.linalg.matmul(m, m, transpose_a=True)
tf.linalg.adjoint(m)
tf.linalg.matrix_transpose(m)
tf.linalg.tridiagonal_matmul(m, m, diagonals_format='compact')
tf.linalg.tridiagonal_solve(m, tf.ones([2, 3], tf.float64))
tf.linalg.norm(m)
tf.linalg.norm(m, axis=[1, 2])
tf.linalg.norm(m, 1, axis=[-2, -1])
tf.linalg.normalize(m, axis=1)[0]
tf.linalg.cross(m, m)
tf.linalg.global_norm([m])
tf.linalg.l2_normalize(x, 1)
tf.image.ssim(i, i * i, 1.0, filter_size=3)
tf.image.ssim_multiscale(i, i * i, 1.0, power_factors=(0.5, 0.5), filter_size=3)
tf.image.sobel_edges(i)
tf.image.rot90(i, 1)
tf.image.rot90(i, 2)
tf.image.rot90(i, 3)
tf.image.psnr(i, i * i, 1.0)
tf.image.total_variation(i)
tf.image.image_gradients(i)[0]
tf.image.flip_left_right(i)
tf.image.flip_up_down(i)
tf.image.transpose(i)
tf.image.adjust_brightness(i, 0.1)
tf.image.adjust_contrast(i, 0.5)
tf.image.adjust_hue(i, 0.1)
tf.image.adjust_saturation(i, 0.5)
tf.image.adjust_gamma(i, 0.5)
tf.image.rgb_to_grayscale(i)
tf.image.grayscale_to_rgb(i[..., :1])
tf.image.rgb_to_hsv(i)
tf.image.hsv_to_rgb(i)
tf.image.rgb_to_yuv(i)
tf.image.rgb_to_yiq(i)
tf.image.yuv_to_rgb(i)
tf.image.central_crop(i, 0.5)
tf.image.per_image_standardization(i)
tf.image.resize_images(i, [4, 5])
tf.image.resize_images(i, [4, 5], preserve_aspect_ratio=True)
tf.image.resize_nearest_neighbor(i, [4, 5])
tf.image.resize_bicubic(i, [4, 5])
tf.image.resize_area(i, [4, 5])
tf.image.resize_image_with_pad(i, 9, 9)
tf.image.resize_image_with_crop_or_pad(i, 5, 9)
tf.image.crop_to_bounding_box(i, 1, 2, 3, 4)
tf.image.pad_to_bounding_box(i, 1, 2, 11, 12)
tf.image.crop_and_resize(i, [[0.0, 0.0, 0.5, 0.5]], [0], [2, 3])
tf.image.extract_glimpse(i, [3, 3], [[0.0, 0.0], [0.1, 0.1]])
tf.image.extract_patches(i, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'SAME')
tf.image.convert_image_dtype(i, tf.uint8)
tf.nn.conv2d(i, k, [1, 2, 2, 1], 'SAME')
tf.nn.conv2d(i, k, [1, 1, 1, 1], 'VALID', dilations=[1, 2, 2, 1])
tf.nn.atrous_conv2d(i, k, 2, 'SAME')
tf.nn.convolution(i, k, 'SAME', dilation_rate=[2, 2])
tf.nn.depthwise_conv2d(i, k, [1, 1, 1, 1], 'SAME')
tf.nn.depthwise_conv2d(i, k, [1, 1, 1, 1], 'VALID', rate=[2, 2])
tf.nn.separable_conv2d(i, k, tf.ones([1, 1, 6, 2]), [1, 1, 1, 1], 'SAME')
tf.nn.conv2d_transpose(i, tf.ones([2, 2, 4, 3]), [2, 16, 14, 4], [1, 2, 2, 1])
tf.nn.conv1d(x, tf.ones([2, 4, 3]), 1, 'SAME')
tf.nn.dilation2d(i, tf.ones([2, 2, 3]), [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')
tf.nn.max_pool(i, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
tf.nn.avg_pool(i, [1, 2, 2, 1], [1, 2, 2, 1], 'VALID')
tf.nn.max_pool2d(i, 2, 2, 'VALID')
tf.nn.max_pool1d(x, 2, 1, 'SAME')
tf.nn.avg_pool1d(x, 2, 1, 'VALID')
tf.nn.pool(i, [2, 2], 'MAX', 'SAME')
tf.nn.pool(i, [2, 2], 'AVG', 'VALID', dilations=[2, 3])
tf.nn.pool(i, [2, 2], 'AVG', 'SAME', strides=[2, 1])
tf.nn.pool(x, [2], 'AVG', 'VALID', dilations=[2])
tf.nn.with_space_to_batch(i, [2, 2], 'VALID', lambda a, *_: a * 2.0, [2, 2])
tf.nn.max_pool_with_argmax(i, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')[0]
tf.nn.fractional_max_pool(i, [1.0, 1.5, 1.5, 1.0], seed=1, seed2=1, deterministic=True)[0] * 0.0
tf.nn.lrn(i)
tf.nn.local_response_normalization(i, 2)
tf.nn.moments(i, [1, 2])[1]
tf.nn.moments(i, [0, 1, 2], keep_dims=True)[0]
tf.nn.weighted_moments(x, [1], y)[0]
tf.nn.normalize_moments(6.0, x, y, None)[0]
tf.nn.sufficient_statistics(x, [1])[1]
tf.nn.batch_normalization(i, 0.1, 2.0, None, None, 1e-3)
tf.nn.fused_batch_norm(i, tf.ones([3]), tf.zeros([3]))[0]
tf.nn.bias_add(i, tf.ones([3]))
tf.nn.softmax(x, 1)
tf.nn.log_softmax(x, 1)
tf.nn.l2_normalize(x, [0, 1])
tf.nn.l2_loss(x)
tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=y)
tf.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=y, axis=1)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=n, logits=y)
tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=y)
tf.nn.weighted_cross_entropy_with_logits(x, y, 2.0)
tf.nn.log_poisson_loss(x, y, compute_full_loss=True)
tf.nn.top_k(x, 2)[0]
tf.nn.in_top_k(x[0], n[0], 2)
tf.nn.dropout(x, 1.0)
tf.nn.crelu(x)
tf.nn.embedding_lookup(x, n[0] % 2)
tf.nn.embedding_lookup([v, v], [1, 3])
tf.nn.relu_layer(x[0], tf.ones([4, 2]), tf.ones([2]))
tf.nn.xw_plus_b(x[0], tf.ones([4, 2]), tf.ones([2]))
tf.nn.space_to_depth(i[:, :, :6], 2)
tf.nn.depth_to_space(tf.tile(i, [1, 1, 1, 4]), 2)
tf.space_to_batch(i[:, :, :6], [[0, 0], [0, 0]], 2)
tf.space_to_batch_nd(i, [2, 1], [[0, 0], [1, 0]])
tf.batch_to_space(tf.tile(i, [2, 1, 1, 1]), [[0, 0], [0, 0]], 2)
tf.nn.erosion2d(i, tf.ones([2, 2, 3]), [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')
tf.nn.zero_fraction(x)
tf.reduce_sum(x, [0, -1])
tf.reduce_mean(x, 1, keepdims=True)
tf.reduce_logsumexp(x, -1)
tf.reduce_max(x)
tf.reduce_std(x, 1) if hasattr(tf, 'reduce_std') else tf.math.reduce_std(x, 1)
tf.math.reduce_variance(x)
tf.reduce_any(b, 0)
tf.reduce_euclidean_norm(x, 1) if hasattr(tf, 'reduce_euclidean_norm') else tf.math.reduce_euclidean_norm(x, 1)
tf.count_nonzero(x)
tf.argmax(x, -1)
tf.math.cumulative_logsumexp(x, 1)
tf.cumsum(x, 1, exclusive=True, reverse=True)
tf.cumprod(x, -1)
tf.math.confusion_matrix(n[0], n[1], 3)
tf.math.bincount(n)
tf.math.segment_sum(x, [0, 0])
tf.math.unsorted_segment_mean(x, [1, 0], 3)
tf.math.unsorted_segment_sum(x, n, 3)
tf.math.unsorted_segment_sqrt_n(x, n, 3)
tf.math.top_k(x, 1)[1]
tf.math.reduce_logsumexp(x)
tf.math.squared_difference(x, y)
tf.math.polyval([x, y], y)
tf.math.approx_max_k(v, 2)[0]
tf.sort(x, 1)
tf.argsort(x, 0)
tf.sort(x, 2, 'DESCENDING')
tf.reverse(x, [1])
tf.reverse_sequence(x, [1, 2], seq_axis=1, batch_axis=0)
tf.roll(x, 1, 0)
tf.transpose(x)
tf.transpose(x, [2, 0, 1])
tf.expand_dims(x, -1)
tf.squeeze(z)
tf.squeeze(z, [0, 2])
tf.stack([x, y], 1)
tf.stack(tf.unstack(x, 2), 1)
tf.unstack(x, 3, 1)[1]
tf.unstack(x)[1]
tf.split(x, 2, 2)[1]
tf.split(x, [1, 3], 2)[1]
tf.split(x, [1, -1], 2)[1]
tf.concat([x, y], -1)
tf.tile(x, [1, 2, 1])
tf.pad(x, [[1, 0], [0, 1], [2, 2]], 'REFLECT')
tf.gather(x, n, axis=1)
tf.gather(x, n, batch_dims=1, axis=1)
tf.gather(x, n, batch_dims=1)
tf.gather_nd(x, n[:, :1] % 2)
tf.batch_gather(x, n)
tf.boolean_mask(x, b)
tf.boolean_mask(x, b[:, :, 0])
tf.boolean_mask(x, [True, False])
tf.boolean_mask(x, [True, False, True], axis=1)
tf.where(b)
tf.where(b, x, y)
tf.where_v2(b, x, 0.0) if hasattr(tf, 'where_v2') else x
tf.one_hot(n, 4, axis=1)
tf.sequence_mask(n)
tf.sequence_mask(n, 5)
tf.meshgrid(v, v[:2])[0]
tf.broadcast_to(z, [3, 5, 2, 2])
tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(x))
tf.zeros_like(x)
tf.ones_like(x, tf.int32)
tf.fill(tf.shape(x), 2.0)
tf.eye(tf.shape(x)[1], batch_shape=tf.shape(v))
tf.eye(3, batch_shape=tf.shape(x)[:1])
tf.linspace(v[:2], v[2:4], 3)
tf.repeat(x, 2, axis=1)
tf.repeat(x, [1, 2], axis=0)
tf.repeat(x, 3)
tf.searchsorted(tf.sort(v), v)
tf.searchsorted(tf.sort(x), y)
tf.unique(v)[0]
tf.unique_with_counts(n[0])[2]
tf.edit_distance(tf.sparse.from_dense(n), tf.sparse.from_dense(n), normalize=False)
tf.foldl(lambda a, e: a + e, x)
tf.foldr(lambda a, e: a * e, x)
tf.scan(lambda a, e: a + e, x)
tf.map_fn(lambda e: e * 2.0, x)
tf.vectorized_map(lambda e: tf.reduce_sum(e), x)
tf.einsum('abc,dbc->ad', x, y)
tf.einsum('...c,cd->...d', x, tf.ones([4, 2]))
tf.matmul(x, y, transpose_b=True)
tf.matmul(m, tf.ones([3, 2], tf.float64))
tf.matrix_diag(x)
tf.diag(v)
tf.diag_part(tf.diag(v))
tf.trace(m)
tf.norm(x, axis=1)
tf.clip_by_norm(x, 1.0, axes=[1])
tf.clip_by_value(x, 0.2, 0.5)
tf.clip_by_global_norm([x, y], 1.0)[0][0]
tf.clip_by_average_norm(x, 0.1)
tf.histogram_fixed_width(x, [0.0, 1.0], 4)
tf.losses.mean_squared_error(x, y)
tf.losses.absolute_difference(x, y, weights=y)
tf.losses.softmax_cross_entropy(x[0], y[0])
tf.losses.huber_loss(x, y)
tf.losses.log_loss(x, y)
tf.losses.cosine_distance(x, y, axis=2)
tf.losses.mean_pairwise_squared_error(x[0], y[0])
tf.losses.sparse_softmax_cross_entropy(n, y)
tf.sparse.to_dense(tf.sparse.from_dense(x))
tf.sparse.reduce_sum(tf.sparse.from_dense(x), 1)
tf.space_to_batch(i[:, :, :6], paddings=[[0, 0], [0, 0]], block_size=2)
tf.required_space_to_batch_paddings(tf.shape(i)[1:3], [2, 2])[0]
tf.random.shuffle(v) * 0.0
tf.random_crop(x, [2, 2, 2]) * 0.0
tf.quantile(v) if hasattr(tf, 'quantile') else tf.math.reduce_min(v)
tf.RaggedTensor.from_tensor(x).to_tensor()
tf.dynamic_partition(x, n, 3)[1]
tf.dynamic_stitch([[0, 2], [1]], [x[:, 0], x[:1, 1]])
tf.tensor_scatter_nd_update(x, [[0, 1]], tf.zeros([1, 4]))
tf.bitwise.invert(n)
tf.reshape(x, [-1, 4])
tf.reshape(x, [tf.shape(x)[0], -1])
tf.reshape(x, [4, 6])
tf.strided_slice(x, [0, 1], [2, 3])
x[:, 1:, ..., None]
x[..., -1]
x[0, :2, ::2]
tf.slice(x, [0, 1, 0], [-1, 2, -1])
tf.gradients(tf.reduce_mean(x, 1), x)[0]
tf.gradients(tf.reduce_prod(x, [0, 2]), x)[0]
tf.gradients(tf.tile(x, [1, 2, 1]), x)[0]
tf.gradients(tf.concat([x, y * y], 1) ** 2, y)[0]
tf.gradients(tf.gather(x, n, axis=1), x)[0]
tf.gradients(x * tf.reduce_max(x, -1, keepdims=True), x)[0]
tf.gradients(tf.linalg.norm(x, axis=1), x)[0]
tf.gradients(tf.nn.max_pool(i, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME'), i)[0]
tf.gradients(tf.nn.conv2d(i, k, [1, 2, 2, 1], 'SAME'), k)[0]
tf.gradients(tf.image.resize_bilinear(i, [4, 5]), i)[0]
tf.gradients(tf.matmul(m, m), m)[0]
tf.gradients(tf.cumsum(x, 1) ** 2, x)[0]
tf.gradients(tf.nn.moments(i, [1, 2])[1], i)[0]
tf.gradients(tf.einsum('abc,dbc->ad', x, y), x)[0]
tf.gradients(tf.tensordot(x, y, [[1, 2], [1, 2]]), x)[0]
tf.gradients(tf.strided_slice(x, [0, 1], [2, 3]) ** 2, x)[0]
tf.gradients(tf.pad(x, [[1, 0], [0, 1], [2, 2]]) ** 2, x)[0]
tf.gradients(tf.split(x, 2, 2)[1] ** 2, x)[0]
tf.gradients(tf.abs(tf.signal.rfft(x)), x)[0]
tf.gradients(tf.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=y), y)[0]
tf.gradients(tf.reduce_logsumexp(x, 1), x)[0]
tf.gradients(tf.broadcast_to(z, [3, 5, 2, 2]) ** 2, z)[0]
tf.gradients(tf.squeeze(z) ** 2, z)[0]
""".strip().splitlines()


def run(tf: Any, session: Any, expression: str, variant: str) -> Any:
    """The value of an expression, or the class of what it raises.

    Args:
      tf: TensorFlow 1, or graphgrad's face of it.
      session: makes a session.
      expression, variant: one of `EXPRESSIONS`, a key of `VARIANTS`.
    """
    with tf.Graph().as_default():
        inputs, feeds = {}, {}
        try:
            for name, value in values().items():
                inputs[name] = tf.placeholder(value.dtype, VARIANTS[variant](value.shape), name=name)
                feeds[inputs[name]] = value
            result = eval(expression, {"tf": tf, **inputs})
            with session() as sess:
                sess.run(tf.global_variables_initializer())
                return np.asarray(sess.run(result, feeds))
        except Exception as e:
            return type(e).__name__
