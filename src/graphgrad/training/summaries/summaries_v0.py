"""Summaries under the names that TensorFlow had before 1.0."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor, TensorLike

from .summaries_v1 import _collect, merge, merge_all


def scalar_summary(tags: Any, values: Any, collections: Any = None, name: str | None = None) -> Tensor:
    """Makes a summary of numbers.

    Args:
      tags: a tag, or a string tensor of them, of the shape of `values`; not changed.
      values: a real tensor.
      collections: to which collections to add it; `GraphKeys.SUMMARIES` if not given.
      name: a name for the operation.
    Returns: a string scalar, a serialized `Summary`.
    Gradient: none.
    Reference: TensorFlow 0.12 `tf.scalar_summary`.

    >>> tf.Summary.FromString(sess.run(tf.scalar_summary(["a b", "c"], [1.0, 2.0]))).value[0].tag
    'a b'
    """
    return _collect(raw.ScalarSummary(convert_to_tensor(tags), values, name=name), collections)


def histogram_summary(tag: Any, values: Any, collections: Any = None, name: str | None = None) -> Tensor:
    """Makes a histogram summary; arguments as for `scalar_summary`.

    >>> tf.Summary.FromString(sess.run(tf.histogram_summary("h", [1.0, 2.0]))).value[0].histo.num
    2.0
    """
    return _collect(raw.HistogramSummary(tag, values, name=name), collections)


def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: Any = None,
                  name: str | None = None) -> Tensor:
    """Makes a summary of images, (batch, height, width, channels); other arguments as for `scalar_summary`.

    >>> tf.Summary.FromString(sess.run(tf.image_summary("i", tf.ones([1, 2, 2, 1])))).value[0].tag
    'i/image/0'
    """
    return _collect(raw.ImageSummary(tag, tensor, max_images=max_images, name=name), collections)


def merge_summary(inputs: TensorLike, collections: Any = None, name: str | None = None) -> Tensor:
    """Merges several summaries to one; see `tf.summary.merge`."""
    return merge(inputs, collections, name)


def merge_all_summaries(key: Any = GraphKeys.SUMMARIES) -> Tensor | Any:
    """Merges all summaries of a collection to one; see `tf.summary.merge_all`."""
    return merge_all(key)
