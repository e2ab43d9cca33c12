"""`input_data.read_data_sets`: reads the four IDX files, and downloads nothing."""

from __future__ import annotations

import gzip
import pathlib
import struct
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.extras.contrib import mnist

_IMAGES = np.random.default_rng(0).integers(0, 256, (30, 4, 5), np.uint8)
_LABELS = np.arange(30, dtype=np.uint8) % 10


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> str:
    """Thirty images of four rows and five columns, for training and for the test."""
    for part, n in (("train", 30), ("t10k", 7)):
        images = struct.pack(">IIII", 2051, n, 4, 5) + _IMAGES[:n].tobytes()
        (tmp_path / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(images))
        labels = struct.pack(">II", 2049, n) + _LABELS[:n].tobytes()
        (tmp_path / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
    return str(tmp_path)


def test_parts(folder: str) -> None:
    """The first images are for validation, pixels are in [0, 1], labels are vectors if asked for."""
    data = mnist.read_data_sets(folder, one_hot=True, validation_size=10)
    assert [d.num_examples for d in data] == [20, 10, 7]
    np.testing.assert_allclose(data.validation.images, _IMAGES[:10].reshape(10, 20) / 255.0, rtol=1e-6)
    assert data.validation.images.dtype == np.float32
    assert data.train.labels.shape == (20, 10) and data.train.labels[3].tolist() == [0, 0, 0, 1] + [0] * 6
    plain = mnist.read_data_sets(folder, dtype=tf.uint8, reshape=False, validation_size=0)
    np.testing.assert_array_equal(plain.train.images, _IMAGES[..., None])
    np.testing.assert_array_equal(plain.train.labels, _LABELS)


def test_batches(folder: str) -> None:
    """An epoch gives every image once; the batch at its end goes on with the next one, in another order."""
    train = mnist.read_data_sets(folder, validation_size=0, seed=3).train
    seen: list[Any] = []
    for _ in range(4):
        images, labels = train.next_batch(8)
        assert images.shape == (8, 20)
        seen += [int(label) for label in labels]
    assert sorted(seen[:30]) == sorted(_LABELS.tolist())
    assert train.epochs_completed == 1
    ordered = mnist.read_data_sets(folder, validation_size=0).train
    assert ordered.next_batch(4, shuffle=False)[1].tolist() == [0, 1, 2, 3]


def test_the_seed_decides_the_order(folder: str) -> None:
    """One seed gives one order: that of NumPy's generator with this seed."""
    with tf.Graph().as_default():
        labels = mnist.read_data_sets(folder, validation_size=0, seed=5).train
        np.random.seed(5)
        order = np.arange(30)
        np.random.shuffle(order)
        np.random.seed(5)
        np.testing.assert_array_equal(labels.next_batch(30)[1], _LABELS[order])


def test_refused(folder: str, tmp_path: pathlib.Path) -> None:
    """Missing files, files of another kind, impossible sizes and dtypes."""
    with pytest.raises(FileNotFoundError, match="(?s)downloads nothing.*Fix: fetch https://"):
        mnist.read_data_sets(str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="between 0 and 30"):
        mnist.read_data_sets(folder, validation_size=31)
    with pytest.raises(TypeError, match="expected uint8 or float32"):
        mnist.read_data_sets(folder, validation_size=0, dtype=tf.float64)
    path = tmp_path / "train-labels-idx1-ubyte.gz"
    path.write_bytes((tmp_path / "train-images-idx3-ubyte.gz").read_bytes())
    with pytest.raises(ValueError, match="Invalid magic number 2051"):
        mnist.read_data_sets(folder)


def test_fake_data() -> None:
    """Made-up data need no files."""
    images, labels = mnist.read_data_sets("nowhere", fake_data=True, one_hot=True).train.next_batch(2)
    assert np.shape(images) == (2, 784) and labels[0] == [1] + [0] * 9
