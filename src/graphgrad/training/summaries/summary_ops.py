"""Summary ops: tensors to messages that TensorBoard shows. Public functions: `summaries_v1.py`."""

from __future__ import annotations

import functools
import struct
import zlib
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import FLOATING, INTEGER, as_dtype, float16, float32, float64, uint8
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.proto.wire import delimited

from .summary_messages import HistogramProto, Summary, SummaryMetadata, TensorProto

_NUMBERS = FLOATING | INTEGER




def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _serialized(message: Any) -> Any:
    result = np.empty((), object)
    result[()] = message if isinstance(message, bytes) else message.SerializeToString()
    return result


@op("ScalarSummary", "tags: string, values: T -> summary: string", T=_NUMBERS, flags=("host",))
def _scalar_summary(xp, tags, values):
    """Encodes a summary with one value for each tag."""
    tags, values = np.asarray(tags), np.asarray(values)
    if tags.shape != values.shape:
        tag = f" (tag '{_text(tags.item())}')" if tags.ndim == 0 else ""
        raise Complaint(f"tags and values are not the same shape: {list(tags.shape)} != {list(values.shape)}{tag}",
                        "give a scalar, e.g. tf.reduce_mean(values)")
    pairs = zip(tags.ravel().tolist(), values.ravel().tolist())
    return _serialized(Summary(value=[Summary.Value(tag=_text(t), simple_value=v) for t, v in pairs]))


@_scalar_summary.shape
def _scalar_summary_shape(tags, values):
    return ()


_scalar_summary.grad(NOT_DIFFERENTIABLE)


@functools.cache
def _limits() -> Any:
    """Returns the upper limits of a histogram's buckets: 0, and steps of a tenth on both sides."""
    positive, limit = [], 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1
    positive.append(np.finfo(np.float64).max)
    return np.array([-v for v in reversed(positive)] + [0.0] + positive)


def histogram(values: Any) -> HistogramProto:
    """Computes the histogram of finite values; runs of empty buckets are joined."""
    limits = _limits()
    values = values.astype(np.float64).ravel()
    places = np.minimum(np.searchsorted(limits, values, side="right"), len(limits) - 1)
    counts = np.bincount(places, minlength=len(limits)).astype(np.float64)
    largest = limits[-1]
    # An empty bucket before another one is omitted.
    kept = np.flatnonzero((counts > 0) | np.append(counts[1:] > 0, True))
    return HistogramProto(min=values.min(initial=largest), max=values.max(initial=-largest), num=len(values),
                          sum=_sum(values), sum_squares=_sum(values * values), bucket_limit=limits[kept].tolist(),
                          bucket=counts[kept].tolist())


def _sum(values: Any) -> float:
    return float(np.cumsum(values)[-1]) if len(values) else 0.0  # one after another


@op("HistogramSummary", "tag: string, values: T -> summary: string",
    prefers={"T": "float32"}, T=_NUMBERS, flags=("host",))
def _histogram_summary(xp, tag, values):
    """Encodes a summary with the histogram of all values."""
    name, values = _text(tag.item()), np.asarray(values)
    if values.dtype.kind not in "iu":
        checked = values.astype(np.float64)
        for problem, found in (("Nan", np.isnan(checked)), ("Infinity", np.isinf(checked))):
            if found.any():
                raise Complaint(f"{problem} in summary histogram for: {name}",
                                "find the cause with locate_nonfinite, or clip the values")
    return _serialized(Summary(value=[Summary.Value(tag=name, histo=histogram(values))]))


@_histogram_summary.shape
def _histogram_summary_shape(tag, values):
    return ()


_histogram_summary.grad(NOT_DIFFERENTIABLE)


def encode_png(pixels: Any) -> bytes:
    """Encodes pixels, uint8 or uint16 (height, width, channels), as PNG: 1 (grey), 2 (and alpha), 3 or 4 channels."""
    height, width, channels = pixels.shape
    color = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    size = pixels.dtype.itemsize
    data = np.ascontiguousarray(pixels.reshape(height, width * channels), pixels.dtype.newbyteorder(">"))
    rows = np.zeros((height, 1 + width * channels * size), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = data.view(np.uint8)
    header = struct.pack(">IIBBBBB", width, height, 8 * size, color, 0, 0, 0)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes()))
            + chunk(b"IEND", b""))


def _pixels(image: Any, bad_color: Any) -> Any:
    """Converts an image to uint8: scales floats so that the largest is 255 or, with negative ones, 0 becomes 128."""
    if image.dtype == np.uint8:
        return image
    if image.dtype == np.float64:
        image = image.astype(np.float32)  # as TensorFlow does
    finite = np.isfinite(image).all(axis=-1, keepdims=True)
    values = np.where(finite, image, 0)
    low, high = values.min(initial=0), values.max(initial=0)
    largest, kind = max(-low, high), image.dtype.type  # half precision is kept
    scale = kind(127 if low < 0 else 255) / largest if largest >= 1e-6 else kind(0)
    scaled = values * scale + kind(128 if low < 0 else 0)
    return np.where(finite, scaled.astype(np.uint8), bad_color[: image.shape[-1]])


@op("ImageSummary", "tag: string, tensor: T -> summary: string",
    prefers={"T": "float32"}, T={uint8, float16, float32, float64}, flags=("host",))
def _image_summary(xp, tag, tensor, *, max_images=3, bad_color=(255, 0, 0, 255)):
    """Encodes a summary with the first images of a batch."""
    name, images = _text(tag.item()), np.asarray(tensor)
    if images.ndim != 4 or images.shape[-1] not in (1, 3, 4):
        raise Complaint(f"Tensor must be 4-D with last dim 1, 3, or 4, not {list(images.shape)}",
                        "give (batch, height, width, channels), e.g. tf.expand_dims(images, -1)")
    summary = Summary()
    for i, image in enumerate(images[:max_images]):
        height, width, channels = image.shape
        value = summary.value.add(tag=f"{name}/image/{i}" if max_images > 1 else f"{name}/image")
        encoded = encode_png(_pixels(image, np.array(bad_color, np.uint8)))
        value.image.height, value.image.width, value.image.colorspace = height, width, channels
        value.image.encoded_image_string = encoded
    return _serialized(summary)


@_image_summary.shape
def _image_summary_shape(tag, tensor, max_images):
    if max_images < 1:
        raise Complaint(f"Attr 'max_images' of 'ImageSummary' Op passed {max_images} less than minimum 1",
                        "give max_outputs=1 or more")
    return ()


_image_summary.grad(NOT_DIFFERENTIABLE)


def _parsed(kind: Any, data: bytes, what: str) -> Any:
    """Returns a message of bytes."""
    try:
        return kind.FromString(data)
    except ValueError as e:
        raise Complaint(f"Could not parse {what} ({e})", "give what a summary op returned") from None


@op("TensorSummaryV2", "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string",
    flags=("host",))
def _tensor_summary(xp, tag, tensor, metadata, *, T):
    """Encodes a summary with a whole tensor, and its TensorBoard page."""
    proto = TensorProto.of(tensor, as_dtype(T))
    about = _parsed(SummaryMetadata, metadata.item(), "the metadata")
    return _serialized(Summary(value=[Summary.Value(tag=_text(tag.item()), tensor=proto, metadata=about)]))


@_tensor_summary.shape
def _tensor_summary_shape(tag, tensor, metadata):
    return ()


_tensor_summary.grad(NOT_DIFFERENTIABLE)


@op("MergeSummary", "inputs: N*string -> summary: string", flags=("host",))
def _merge_summary(xp, inputs):
    """Merges the values of several summaries."""
    merged, seen = [], set()
    for serialized in inputs:
        for summary in np.asarray(serialized).ravel().tolist():
            for value in _parsed(Summary, summary, "one of the summary inputs").value:
                if value.tag in seen:
                    raise Complaint(f"Duplicate tag {value.tag} found in summary inputs", "give each summary a name")
                seen.add(value.tag)
                merged.append(delimited(1, value.SerializeToString()))
    return _serialized(b"".join(merged))


@_merge_summary.shape
def _merge_summary_shape(inputs):
    return ()


_merge_summary.grad(NOT_DIFFERENTIABLE)
