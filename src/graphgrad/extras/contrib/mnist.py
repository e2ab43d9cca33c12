"""The data set of TensorFlow's tutorials: `input_data.read_data_sets`, from local files.

Reference: tensorflow.examples.tutorials.mnist.input_data of TensorFlow 1.15.
"""

from __future__ import annotations

import collections
import gzip
import os
from typing import Any

import numpy as np

from graphgrad.ir.dtypes import as_dtype, float32, uint8
from graphgrad.ops.random.seeds import get_seed

Dataset = collections.namedtuple("Dataset", ["data", "target"])
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """Returns the path of an existing file; nothing is downloaded.

    Args:
      filename: its name.
      work_directory: where it is.
      source_url: the address to download it from, by hand.
    Raises: FileNotFoundError if it is not there: nothing is downloaded.
    """
    path = os.path.join(work_directory, filename)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist, and graphgrad downloads nothing. "
                                f"Fix: fetch {source_url} yourself and put the file there")
    return path


def _idx(file: Any, magic: int, dims: int) -> Any:
    """Reads the array of an IDX file, gzipped or not."""
    with gzip.GzipFile(fileobj=file) as unzipped:
        data = unzipped.read()
    header = np.frombuffer(data, ">u4", 1 + dims)
    if header[0] != magic:
        raise ValueError(f"Invalid magic number {header[0]} in MNIST file: {getattr(file, 'name', file)}, not {magic}")
    return np.frombuffer(data, np.uint8, offset=4 * (1 + dims)).reshape(header[1:].astype(int))


def extract_images(f: Any) -> Any:
    """Reads the images of a gzipped IDX file.

    Args:
      f: an open file.
    Returns: uint8, (images, rows, columns, 1).
    Raises: ValueError if the file is not an IDX file.
    """
    return _idx(f, 2051, 3)[..., None]


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> Any:
    """Reads the labels of a gzipped IDX file.

    Args:
      f: an open file.
      one_hot: whether to return one-hot vectors.
      num_classes: their length.
    Returns: uint8, (labels,); float64, (labels, num_classes) with one_hot.
    Raises: ValueError if the file is not an IDX file.
    """
    labels = _idx(f, 2049, 1)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense: Any, num_classes: int) -> Any:
    """Converts labels to one-hot vectors.

    Args:
      labels_dense: integers.
      num_classes: the vectors' length.
    """
    out = np.zeros((labels_dense.shape[0], num_classes))
    out[np.arange(labels_dense.shape[0]), labels_dense.ravel()] = 1
    return out


class DataSet:
    """Images and labels, read in shuffled batches.

    Args:
      images: uint8, (n, rows, columns, 1).
      labels: (n,) or (n, classes).
      fake_data: whether to generate fake ones instead.
      one_hot: whether the fake labels are one-hot vectors.
      dtype: uint8, or float32 for pixels in [0, 1].
      reshape: whether to flatten images.
      seed: for the order.
    """

    def __init__(self, images: Any, labels: Any, fake_data: bool = False, one_hot: bool = False, dtype: Any = float32,
                 reshape: bool = True, seed: int | None = None):
        seed1, seed2 = get_seed(seed)
        np.random.seed(seed1 if seed is None else seed2)
        dtype = as_dtype(dtype)
        if dtype not in (uint8, float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self._fake, self.one_hot = fake_data, one_hot
        if fake_data:
            self._num_examples = 10000
        else:
            if images.shape[0] != labels.shape[0]:
                raise ValueError(f"images.shape: {images.shape} labels.shape: {labels.shape}")
            self._num_examples = images.shape[0]
            if reshape:
                images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
            if dtype is float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels
        self._epochs_completed = self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        """The images, in the order of the epoch."""
        return self._images

    @property
    def labels(self) -> Any:
        """The labels, in the order of the epoch."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """The number of images."""
        return int(self._num_examples)

    @property
    def epochs_completed(self) -> int:
        """The number of completed passes over the images."""
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """Returns the next images and labels; each epoch has an order of its own.

        Args:
          batch_size: the number of images.
          fake_data: whether to generate fake ones.
          shuffle: whether the order is random.
        """
        if fake_data or self._fake:
            label: Any = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        n = self._num_examples
        if start + batch_size <= n:
            self._index_in_epoch = start + batch_size
            return self._images[start : start + batch_size], self._labels[start : start + batch_size]
        self._epochs_completed += 1
        rest = self._images[start:n], self._labels[start:n]
        if shuffle:
            self._shuffle()
        self._index_in_epoch = more = batch_size - (n - start)
        return (np.concatenate((rest[0], self._images[:more])), np.concatenate((rest[1], self._labels[:more])))

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def read_data_sets(train_dir: str, fake_data: bool = False, one_hot: bool = False, dtype: Any = float32,
                   reshape: bool = True, validation_size: int = 5000, seed: int | None = None,
                   source_url: str = DEFAULT_SOURCE_URL) -> Any:
    """Reads MNIST, or another data set in its format, from the four gzipped IDX files in a directory.

    Args:
      train_dir: the directory with train-images-idx3-ubyte.gz and the others.
      fake_data: whether to generate fake images.
      one_hot: whether labels are vectors.
      dtype: uint8, or float32 for pixels in [0, 1].
      reshape: whether to flatten images.
      validation_size: the number of training images that go to `validation`.
      seed: for the order.
      source_url: named in the error if a file is missing; nothing is downloaded.
    Returns: `Datasets` with `train`, `validation` and `test`, each a `DataSet`.
    Raises: FileNotFoundError for missing files; ValueError for files of another form or an impossible
      validation_size.
    """
    if fake_data:
        none = np.zeros((0, 28, 28, 1), np.uint8)
        fake = [DataSet(none, none, True, one_hot, dtype, seed=seed) for _ in range(3)]
        return Datasets(*fake)
    source_url = source_url or DEFAULT_SOURCE_URL
    arrays: list[Any] = []
    for name in _FILES:
        path = maybe_download(f"{name}.gz", train_dir, f"{source_url}{name}.gz")
        with open(path, "rb") as f:
            arrays.append(extract_images(f) if "images" in name else extract_labels(f, one_hot))
    images, labels, test_images, test_labels = arrays
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"Validation size should be between 0 and {len(images)}. Received: {validation_size}.")
    options = {"dtype": dtype, "reshape": reshape, "seed": seed}
    v = validation_size
    return Datasets(DataSet(images[v:], labels[v:], **options), DataSet(images[:v], labels[:v], **options),
                    DataSet(test_images, test_labels, **options))


def load_mnist(train_dir: str = "MNIST-data") -> Any:
    """Reads the data sets of a directory; see `read_data_sets`.

    Args:
      train_dir: the directory.
    """
    return read_data_sets(train_dir)
