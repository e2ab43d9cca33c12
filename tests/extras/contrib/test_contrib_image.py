"""`tf.contrib.image` and smaller parts of `tf.contrib`, beside NumPy; gradients beside finite differences."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.compat import contrib
from graphgrad.executor.runtime.session import HostSession

image = contrib.image
_X = np.random.default_rng(0).normal(size=(2, 4, 5, 3)).astype(np.float32)


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default(), HostSession() as session:
        yield session


def test_turned_and_moved(sess: Any) -> None:
    """Quarter turns and whole pixels, of images of each rank and several dtypes."""
    square = np.arange(9).reshape(3, 3)
    for kind in (np.uint8, np.int64, np.float32):
        found = sess.run([image.rotate(square.astype(kind), np.pi / 2), image.translate(square.astype(kind), [1, -1]),
                          image.rotate(square.astype(kind)[..., None], -np.pi / 2, "bilinear")])
        assert found[0].tolist() == np.rot90(square).tolist()
        assert found[1].tolist() == [[0, 3, 4], [0, 6, 7], [0, 0, 0]]
        np.testing.assert_allclose(found[2][..., 0], np.rot90(square, -1), atol=1e-3 if kind is np.float32 else 1)
    both = sess.run(image.translate(_X, [[0, 1], [2, 0]], interpolation="BILINEAR"))
    np.testing.assert_allclose(both[0, 1:], _X[0, :-1])
    np.testing.assert_allclose(both[1, :, 2:], _X[1, :, :-2])
    half = sess.run(image.translate(_X, [0.5, 0], "BILINEAR"))
    np.testing.assert_allclose(half[:, :, 1:], (_X[:, :, 1:] + _X[:, :, :-1]) / 2, rtol=1e-5, atol=1e-6)
    assert sess.run(image.transform(_X, [1, 0, 0, 0, 1, 0, 0, 0], output_shape=[2, 3])).shape == (2, 2, 3, 3)


def test_composed(sess: Any) -> None:
    """Transforms composed are transforms one after the other."""
    first = image.translations_to_projective_transforms([1, 0])
    second = image.angles_to_projective_transforms(np.pi / 2, 5, 5)
    square = np.arange(25).reshape(5, 5)
    one = image.transform(square, image.compose_transforms(first, second))
    two = image.transform(image.transform(square, first), second)
    np.testing.assert_array_equal(*sess.run([one, two]))
    np.testing.assert_array_equal(sess.run(two), np.rot90(np.pad(square, ((0, 0), (1, 0)))[:, :5]))
    matrices = image.flat_transforms_to_matrices(second)
    np.testing.assert_allclose(*sess.run([image.matrices_to_flat_transforms(2.0 * matrices), second]), rtol=1e-6)


def test_warp(sess: Any) -> None:
    """Bilinear interpolation at the pixel minus its flow, at the border that of the border."""
    flow = np.random.default_rng(1).uniform(-2, 2, size=(2, 4, 5, 2)).astype(np.float32)
    got = sess.run(image.dense_image_warp(_X, flow))
    for n, i, j in np.ndindex(2, 4, 5):
        y, x = (np.clip(v - f, 0, s - 1) for v, f, s in zip((i, j), flow[n, i, j], (4, 5), strict=True))
        a, b = min(int(y), 2), min(int(x), 3)
        wy, wx = y - a, x - b
        want = ((1 - wy) * (1 - wx) * _X[n, a, b] + (1 - wy) * wx * _X[n, a, b + 1]
                + wy * (1 - wx) * _X[n, a + 1, b] + wy * wx * _X[n, a + 1, b + 1])
        np.testing.assert_allclose(got[n, i, j], want, rtol=1e-4, atol=1e-5)


def test_gradients(sess: Any) -> None:
    """Along random directions they agree with finite differences."""
    random = np.random.default_rng(2)
    x = tf.placeholder(tf.float64, [2, 4, 5, 3])
    flow = tf.placeholder(tf.float64, [2, 4, 5, 2])
    weights = random.normal(size=(2, 4, 5, 3))
    turned = tf.reduce_sum(weights * image.rotate(x, [0.3, -1.0], "BILINEAR"))
    warped = tf.reduce_sum(weights * image.dense_image_warp(tf.square(x), flow))
    grads = [tf.gradients(turned, x)[0], *tf.gradients(warped, [x, flow])]
    at = {x: _X.astype(np.float64), flow: random.uniform(-0.4, 0.4, size=(2, 4, 5, 2))}
    found = sess.run(grads, at)
    for value, into, grad in zip((turned, warped, warped), (x, x, flow), found, strict=True):
        direction = random.normal(size=into.shape.as_list())
        ends = [sess.run(value, {**at, into: at[into] + s * 1e-6 * direction}) for s in (1, -1)]
        np.testing.assert_allclose((grad * direction).sum(), (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-5)


def test_errors(sess: Any) -> None:
    """Other dtypes and ranks are refused."""
    bad: list[tuple[Any, type[Exception], str]] = [
        (lambda: image.rotate(tf.constant(["a"]), 0.0), TypeError, "Invalid dtype"),
        (lambda: image.rotate([1.0], 0.0), TypeError, "rank between 2 and 4"),
        (lambda: image.rotate(_X, [[0.0]]), TypeError, "angles should have rank"),
        (lambda: image.transform(_X, 1.0), TypeError, "transforms should have rank"),
        (lambda: image.dense_image_warp(_X[:, :1], np.zeros((2, 1, 5, 2))), ValueError, "at least 2 by 2"),
        (lambda: image.compose_transforms(), ValueError, "cannot be empty"),
    ]
    for call, kind, text in bad:
        with pytest.raises(kind, match=f"(?s){text}.*Fix:"):
            call()


# -- smaller parts ---------------------------------------------------------------------------


def test_projector(tmp_path: pathlib.Path) -> None:
    """The projector's file says what was asked for."""
    projector = contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig()
    shown = config.embeddings.add()
    shown.tensor_name, shown.metadata_path = "table", "names.tsv"
    shown.sprite.image_path = "all.png"
    shown.sprite.single_image_dim.extend([28, 28])
    writer = tf.summary.FileWriter(str(tmp_path))
    projector.visualize_embeddings(writer, config)
    writer.close()
    text = (tmp_path / "projector_config.pbtxt").read_text()
    assert text.split() == ('embeddings { tensor_name: "table" metadata_path: "names.tsv" sprite { '
                            'image_path: "all.png" single_image_dim: 28 single_image_dim: 28 } }').split()
    with pytest.raises(ValueError, match="(?s)must have a logdir.*Fix:"):
        projector.visualize_embeddings(None, config)


def test_memory(sess: Any) -> None:
    """What is used is not more than what was used at most, nor than what there is."""
    stats = contrib.memory_stats
    now, most, limit = sess.run([stats.BytesInUse(), stats.MaxBytesInUse(), stats.BytesLimit()])
    assert 1e6 < now <= 1.05 * most and most < limit


def test_network(sess: Any) -> None:
    """A network has the variables of its layers."""
    net = contrib.eager.Sequential([tf.layers.Dense(4, name="a"), tf.nn.relu, tf.layers.Dense(2, name="b")])
    y = net(np.ones((3, 5), np.float32))
    assert y.shape.as_list() == [3, 2] and [v.op.name for v in net.trainable_variables][::2] == ["a/kernel", "b/kernel"]
    assert net.get_layer("b") is net.get_layer(index=1) is net.layers[1]
    for call, kind in ((lambda: net.get_layer("c"), ValueError), (lambda: net.track_layer(3), TypeError)):
        with pytest.raises(kind, match=r"(?s)Fix:"):
            call()
    with pytest.raises(NotImplementedError, match="Fix:"):
        contrib.eager.Network()(1)


def test_stateless(sess: Any) -> None:
    """The functions of `tf.random`, under their old names."""
    a = contrib.stateless.stateless_random_uniform([3], [1, 2])
    np.testing.assert_array_equal(*sess.run([a, tf.random.stateless_uniform([3], [1, 2])]))
