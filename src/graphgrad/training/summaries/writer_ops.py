"""Ops that write summaries as a side effect, as `tf.summary` of TensorFlow 2 does."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op

from .summary_messages import Summary, SummaryMetadata, TensorProto
from .summary_ops import _serialized, _text

_EFFECT = ("stateful", "host")


def wav(samples: Any, rate: int) -> bytes:
    """Encodes samples between -1 and 1, (frames, channels), as a WAV file of 16 bits each."""
    channels = samples.shape[1]
    scaled = np.clip(np.rint(np.asarray(samples, np.float32) * np.float32(32768)), -32768, 32767)
    data = scaled.astype(np.int16).astype("<i2").tobytes()
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, channels, rate,
                       rate * channels * 2, channels * 2, 16, b"data", len(data))
    return head + data


@op("WriteSummary", "tag: string, step: int64, tensor: T, recording: bool -> recorded: bool", flags=_EFFECT)
def _write_summary(xp, tag, step, tensor, recording, *, writer, make):
    """Writes the message that `make` returns for a tensor to an event file, if recording is on."""
    if recording.item():
        writer._write_value(tag.item().decode(), int(step), make(np.asarray(tensor)))
    return np.asarray(bool(recording))


@_write_summary.shape
def _write_summary_shape(tag, step, tensor, recording):
    return ()


_write_summary.grad(NOT_DIFFERENTIABLE)


@op("FlushSummaryWriter", "->", flags=_EFFECT)
def _flush(xp, *, writer):
    """Flushes the writer of an event file."""
    writer._flush_now()


@op("CloseSummaryWriter", "->", flags=_EFFECT)
def _close(xp, *, writer):
    """Closes an event file."""
    writer._close_now()


@op("AudioSummaryV2", "tag: string, tensor: float32, sample_rate: float32 -> summary: string", flags=("host",))
def _audio_summary(xp, tag, tensor, sample_rate, *, max_outputs=3):
    """Encodes a summary with the first sounds of a batch, (batch, frames) or (batch, frames, channels)."""
    name, rate = _text(tag.item()), float(sample_rate)
    sounds = np.asarray(tensor)
    if sounds.ndim not in (2, 3) or rate <= 0:
        raise Complaint(f"Tensor must be 3-D or 2-D, and the sample rate positive, not {list(sounds.shape)} and {rate}",
                        "give (batch, frames, channels)")
    summary = Summary()
    for i, sound in enumerate(sounds[:max_outputs]):
        sound = sound.reshape(len(sound), -1)
        value = summary.value.add(tag=f"{name}/audio/{i}" if max_outputs > 1 else f"{name}/audio")
        value.audio.sample_rate, value.audio.num_channels = rate, sound.shape[1]
        value.audio.length_frames, value.audio.content_type = sound.shape[0], "audio/wav"
        value.audio.encoded_audio_string = wav(sound, int(rate))
    return _serialized(summary)


@_audio_summary.shape
def _audio_summary_shape(tag, tensor, sample_rate, max_outputs):
    if max_outputs < 1:
        raise Complaint(f"Attr 'max_outputs' of 'AudioSummaryV2' Op passed {max_outputs} less than minimum 1",
                        "give max_outputs=1 or more")
    return ()


_audio_summary.grad(NOT_DIFFERENTIABLE)


@op("AudioSummary", "tag: string, tensor: float32 -> summary: string", flags=("host",))
def _old_audio_summary(xp, tag, tensor, *, sample_rate, max_outputs=3):
    """Encodes a summary with the first sounds of a batch: the older form, whose rate is an attribute."""
    return _audio_summary.kernel(xp, tag, tensor, sample_rate, max_outputs=max_outputs)


@_old_audio_summary.shape
def _old_audio_summary_shape(tag, tensor, max_outputs):
    return _audio_summary_shape(tag, tensor, None, max_outputs)


_old_audio_summary.grad(NOT_DIFFERENTIABLE)


@op("TensorSummary", "tensor: T -> summary: string", flags=("host",))
def _old_tensor_summary(xp, tensor, *, T, description="", labels=(), display_name=""):
    """Encodes a summary with a whole tensor, without a tag."""
    return _serialized(Summary(value=[Summary.Value(tensor=TensorProto.of(tensor, T))]))


@_old_tensor_summary.shape
def _old_tensor_summary_shape(tensor):
    return ()


_old_tensor_summary.grad(NOT_DIFFERENTIABLE)


def metadata_of(plugin: str, description: str | None, content: bytes = b"") -> SummaryMetadata:
    """Returns TensorBoard's metadata of a tag.

    Args:
      plugin: the page that shows it.
      description: text beside it, or None.
      content: what the page wants to know besides.
    """
    made = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=content or None))
    if description:
        made.summary_description = description
    return made
