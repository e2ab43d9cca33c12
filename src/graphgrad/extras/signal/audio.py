"""Decodes and encodes WAV files of 16 bits."""

from __future__ import annotations

import collections
import struct
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, int32
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor

DecodeWav = collections.namedtuple("DecodeWav", ["audio", "sample_rate"])


def _chunks(data: bytes) -> Any:
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise Complaint(f"Header mismatch: Expected RIFF but found {data[:4].decode('latin1')}", "feed a WAV file")
    at = 12
    while at + 8 <= len(data):
        kind, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if kind in (b"fmt ", b"data") and size > len(data) - at - 8:
            raise Complaint("Data too short when trying to read string", "feed a whole WAV file")
        yield kind, data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2


@op("DecodeWav", "contents: string -> audio: float32, sample_rate: int32", flags=("host",))
def decode_wav_op(xp, contents, *, desired_channels=-1, desired_samples=-1):
    """Decodes the samples of a WAV file, from -1 to 1."""
    found = dict(_chunks(contents.item()))
    if b"fmt " not in found or b"data" not in found or len(found[b"fmt "]) < 16:
        raise Complaint("the file has no format or no data", "feed a whole WAV file")
    kind, channels, rate, _, frame, bits = struct.unpack_from("<HHIIHH", found[b"fmt "])
    if kind != 1 or bits != 16:
        raise Complaint(f"Bad audio format for WAV: Expected 1 (PCM) of 16 bits, but got {kind} of {bits}",
                        "convert it to PCM of 16 bits")
    if channels < 1 or frame != 2 * channels:
        raise Complaint(f"Bad bytes per sample in WAV header: {frame} for {channels} channels",
                        "feed a WAV file of at least one channel")
    if rate >= 1 << 31:
        raise Complaint(f"Bad sample rate in WAV header: {rate}", "feed a whole WAV file")
    frames = found[b"data"][: len(found[b"data"]) // (2 * channels) * 2 * channels]
    audio = np.frombuffer(frames, "<i2").reshape(-1, channels).astype(np.float32) / np.float32(32768)
    if desired_channels > 0:  # missing channels are copies of the last one
        audio = audio[:, np.minimum(np.arange(desired_channels), channels - 1)]
    if desired_samples >= 0:
        audio = np.pad(audio[:desired_samples], ((0, max(0, desired_samples - len(audio))), (0, 0)))
    return audio, np.int32(rate)


@decode_wav_op.shape
def _decode_wav_shape(contents, desired_channels, desired_samples):
    sizes = tuple(None if n <= 0 else n for n in (desired_samples, desired_channels))
    return [sizes, ()]


@op("EncodeWav", "audio: float32, sample_rate: int32 -> contents: string", flags=("host",))
def encode_wav_op(xp, audio, rate):
    """Encodes samples from -1 to 1 as a WAV file."""
    samples = np.clip(np.rint(audio * np.float32(32767)), -32768, 32767).astype("<i2")
    data, (_, channels), rate = samples.tobytes(), audio.shape, int(rate)
    head = struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVEfmt ", 16, 1, channels, rate,
                       rate * channels * 2, channels * 2, 16, b"data", len(data))
    out = np.empty((), object)
    out[()] = head + data
    return out


@encode_wav_op.shape
def _encode_wav_shape(audio, sample_rate):
    with_rank(audio, 2, "audio")
    with_rank(sample_rate, 0, "sample_rate")
    return ()


for _record in (decode_wav_op, encode_wav_op):
    _record.grad(NOT_DIFFERENTIABLE)


def decode_wav(contents: Any, desired_channels: int = -1, desired_samples: int = -1,
               name: str | None = None) -> DecodeWav:
    """Decodes the samples of a WAV file of 16 bits.

    Args:
      contents: a string scalar, the bytes of the file.
      desired_channels: the number of channels; the last one is repeated if there are fewer.
      desired_samples: the number of samples; padded with zeros at the end.
      name: a name for the operation.
    Returns: (audio, sample_rate): (samples, channels), float32 from -1 to 1, and an int32 scalar.
    Raises: InvalidArgumentError at run time for another kind of file.
    Gradient: none.
    Reference: TensorFlow 2.21 DecodeWav.

    >>> wav = tf.audio.encode_wav([[0.5], [-0.5]], 8000)
    >>> sess.run(tf.audio.decode_wav(wav, desired_samples=3).audio).round(2).tolist()
    [[0.5], [-0.5], [0.0]]
    """
    return DecodeWav(*raw.DecodeWav(contents, desired_channels=whole(desired_channels),
                                    desired_samples=whole(desired_samples), name=name))


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """Encodes samples as a WAV file of 16 bits.

    Args:
      audio: (samples, channels), float32 from -1 to 1; clipped to that range.
      sample_rate: samples per second, an int32 scalar.
      name: a name for the operation.
    Returns: a string scalar.
    Raises: ValueError for another rank.
    Gradient: none.
    Reference: TensorFlow 2.21 EncodeWav.

    >>> sess.run(tf.audio.encode_wav([[0.5], [-0.5]], 8000))[:4]
    b'RIFF'
    """
    return raw.EncodeWav(convert_to_tensor(audio, float32), convert_to_tensor(sample_rate, int32), name=name)
