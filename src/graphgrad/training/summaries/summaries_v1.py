"""`tf.summary`: operations whose results TensorBoard shows.

Each of them gives a string tensor, a serialized `Summary`; `FileWriter.add_summary` writes what a run computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys, collecting_graph, get_collection
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, string
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike

from .summary_messages import SummaryMetadata

_BAD = re.compile(r"[^-/\w\.]")


@contextmanager
def _scope(name: str, family: str | None = None) -> Iterator[tuple[str, str]]:
    """Opens a name scope for a summary; yields the tag and the scope."""
    clean = _BAD.sub("_", name).lstrip("/")
    family = _BAD.sub("_", family).lstrip("/") if family else None
    with name_scope(f"{family}/{clean}" if family else clean) as scope:
        own = scope.rstrip("/")
        yield f"{family}/{own}" if family else own, scope


def _collect(value: Any, collections: Any, default: Any = GraphKeys.SUMMARIES) -> Any:
    for key in [default] if collections is None else collections:
        if key is not None:
            collecting_graph().add_to_collection(key, value)
    return value


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Tensor:
    """Makes a summary of one number.

    Args:
      name: the tag, after the name scopes around.
      tensor: a real scalar.
      collections: to which collections to add it; `GraphKeys.SUMMARIES` if not given.
      family: a tag's beginning, by which TensorBoard groups.
    Returns: a string scalar, a serialized `Summary`.
    Raises: InvalidArgumentError at run time if `tensor` is not a scalar.
    Gradient: none.
    Reference: TensorFlow 2.21 ScalarSummary.

    >>> loss = tf.summary.scalar("loss", 0.5)
    >>> tf.Summary.FromString(sess.run(loss))
    value {
      tag: "loss"
      simple_value: 0.5
    }
    """
    with _scope(name, family) as (tag, scope):
        return _collect(raw.ScalarSummary(tag, tensor, name=scope), collections)


def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Tensor:
    """Makes a histogram summary.

    Args:
      name, collections, family: as for `scalar`.
      values: a real tensor of any shape.
    Returns: a string scalar, a serialized `Summary`.
    Raises: InvalidArgumentError at run time for infinities and NaNs.
    Gradient: none.
    Reference: TensorFlow 2.21 HistogramSummary.

    >>> summary = tf.Summary.FromString(sess.run(tf.summary.histogram("h", [1.0, 2.0, 2.0])))
    >>> summary.value[0].histo.num, summary.value[0].histo.sum
    (3.0, 5.0)
    """
    with _scope(name, family) as (tag, scope):
        return _collect(raw.HistogramSummary(tag, values, name=scope), collections)


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None) -> Tensor:
    """Makes a summary of images.

    Args:
      name, collections, family: as for `scalar`.
      tensor: (batch, height, width, channels) with 1, 3 or 4 channels; uint8, or float, which is scaled so that the
        largest value is white, and 0 is black or, if there are negative values, grey.
      max_outputs: the largest number of examples of the batch.
    Returns: a string scalar, a serialized `Summary`.
    Raises: ValueError for max_outputs < 1; InvalidArgumentError at run time for another shape.
    Gradient: none.
    Reference: TensorFlow 2.21 ImageSummary.

    >>> summary = tf.Summary.FromString(sess.run(tf.summary.image("i", tf.ones([2, 4, 5, 1]))))
    >>> [(v.tag, v.image.height, v.image.width) for v in summary.value]
    [('i/image/0', 4, 5), ('i/image/1', 4, 5)]
    """
    with _scope(name, family) as (tag, scope):
        return _collect(raw.ImageSummary(tag, tensor, max_images=max_outputs, name=scope), collections)


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None,
          family: str | None = None) -> Tensor:
    """Makes a summary of sounds.

    Args:
      name, collections, family: as for `scalar`.
      tensor: (batch, frames, channels) or (batch, frames), float32 between -1 and 1.
      sample_rate: frames per second, float32.
      max_outputs: the largest number of examples of the batch.
    Returns: a string scalar, a serialized `Summary`.
    Raises: ValueError for max_outputs < 1; InvalidArgumentError at run time for another shape.
    Gradient: none.
    Reference: TensorFlow 2.21 AudioSummaryV2.

    >>> summary = tf.Summary.FromString(sess.run(tf.summary.audio("a", tf.zeros([1, 4, 2]), 8000.0)))
    >>> summary.value[0].tag, summary.value[0].audio.length_frames
    ('a/audio/0', 4)
    """
    with _scope(name, family) as (tag, scope):
        rate = convert_to_tensor(sample_rate, float32, name="sample_rate")
        return _collect(raw.AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=scope), collections)


def tensor_summary(name: str, tensor: Any, summary_description: Any = None, collections: Any = None,
                   summary_metadata: Any = None, family: str | None = None,
                   display_name: str | None = None) -> Tensor:
    """Makes a summary of a whole tensor.

    Args:
      name, collections, family: as for `scalar`.
      tensor: the tensor.
      summary_description: a description.
      summary_metadata: a `SummaryMetadata`.
      display_name: under which name it is shown.
    Returns: a string scalar, a serialized `Summary`.
    Gradient: none.
    Reference: TensorFlow 2.21 TensorSummaryV2.

    >>> sess.run(tf.summary.tensor_summary("t", [1]))[-8:]
    b'\\x01\\x00\\x00\\x00J\\x02\\n\\x00'
    """
    metadata = summary_metadata or SummaryMetadata()
    if summary_metadata is None:
        metadata.plugin_data.SetInParent()
    if display_name is not None:
        metadata.display_name = display_name
    if summary_description is not None:
        metadata.summary_description = summary_description
    with _scope(name, family) as (tag, scope):
        value = raw.TensorSummaryV2(tag, tensor, metadata.SerializeToString(), name=scope)
        return _collect(value, collections)


def text(name: str, tensor: Any, collections: Any = None) -> Tensor:
    """Makes a summary of strings; TensorBoard shows them as Markdown, and tensors of rank 2 as tables.

    Args:
      name, collections: as for `scalar`.
      tensor: a string tensor.
    Returns: a string scalar, a serialized `Summary`.
    Raises: ValueError if `tensor` holds no strings.
    Gradient: none.
    Reference: TensorFlow 2.21 TensorSummaryV2.

    >>> tf.Summary.FromString(sess.run(tf.summary.text("note", tf.constant("hi")))).value[0].tensor.string_val
    [b'hi']
    """
    tensor = convert_to_tensor(tensor)
    if tensor.dtype is not string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}. Fix: tf.as_string")
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def merge(inputs: TensorLike, collections: Any = None, name: str | None = None) -> Tensor:
    """Merges several summaries.

    Args:
      inputs: a list of string tensors, serialized summaries.
      collections: to which collections to add it; none if not given.
      name: a name for the operation.
    Returns: a string scalar, a serialized `Summary`.
    Raises: ValueError for an empty list; InvalidArgumentError at run time if two values have one tag.
    Gradient: none.
    Reference: TensorFlow 2.21 MergeSummary.

    >>> merged = tf.summary.merge([tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)])
    >>> [v.tag for v in tf.Summary.FromString(sess.run(merged)).value]
    ['a', 'b']
    """
    tensors = list(inputs)
    if not tensors:
        raise ValueError("List argument 'inputs' to 'MergeSummary' Op with length 0 shorter than minimum length 1. "
                         "Fix: leave the merge out where there are no summaries")
    with name_scope(name, "Merge"):
        return _collect(raw.MergeSummary(tensors), collections, None)


def merge_all(key: Any = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | Any:
    """Merges all summaries of a collection.

    Args:
      key: the collection.
      scope: a regular expression; takes those whose name begins with a match.
      name: a name for the operation.
    Returns: a string scalar, a serialized `Summary`; None if there are none.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.compat.v1.summary.merge_all`.

    >>> print(tf.summary.merge_all("nothing"))
    None
    """
    inputs = get_collection(key, scope)
    return merge(inputs, name=name) if inputs else None
