"""The protobuf messages of summaries and events.

Reference: TensorFlow 2.21 summary.proto, histogram.proto, tensor.proto, event.proto.
"""

from __future__ import annotations

from graphgrad.ir.graph_messages import Dim as Dim
from graphgrad.ir.graph_messages import TensorProto as TensorProto
from graphgrad.ir.graph_messages import TensorShapeProto as TensorShapeProto
from graphgrad.ir.graph_messages import shape_proto as shape_proto
from graphgrad.ir.proto.messages import Message


class HistogramProto(Message):
    """A histogram: `bucket[i]` values are below `bucket_limit[i]` and not below the previous limit."""

    FIELDS = {"min": (1, "double"), "max": (2, "double"), "num": (3, "double"), "sum": (4, "double"),
              "sum_squares": (5, "double"), "bucket_limit": (6, ["double"]), "bucket": (7, ["double"])}


class PluginData(Message):
    """The TensorBoard page that shows a value."""

    FIELDS = {"plugin_name": (1, "string"), "content": (2, "bytes")}


class SummaryMetadata(Message):
    """What TensorBoard needs to know about the values of a tag."""

    FIELDS = {"plugin_data": (1, PluginData), "display_name": (2, "string"), "summary_description": (3, "string"),
              "data_class": (4, "int")}
    ENUMS = {"data_class": dict(enumerate(f"DATA_CLASS_{n}" for n in (
                 "UNKNOWN", "SCALAR", "TENSOR", "BLOB_SEQUENCE")))}
    PluginData = PluginData


class _Image(Message):
    """A PNG image."""

    FIELDS = {"height": (1, "int32"), "width": (2, "int32"), "colorspace": (3, "int32"),
              "encoded_image_string": (4, "bytes")}


class _Audio(Message):
    """A sound."""

    FIELDS = {"sample_rate": (1, "float"), "num_channels": (2, "int"), "length_frames": (3, "int"),
              "encoded_audio_string": (4, "bytes"), "content_type": (5, "string")}


class _Value(Message):
    """A value under a tag."""

    FIELDS = {"node_name": (7, "string"), "tag": (1, "string"), "metadata": (9, SummaryMetadata),
              "simple_value": (2, "float"), "obsolete_old_style_histogram": (3, "bytes"), "image": (4, _Image),
              "histo": (5, HistogramProto), "audio": (6, _Audio), "tensor": (8, TensorProto)}
    ONEOF = {"value": ("simple_value", "obsolete_old_style_histogram", "image", "histo", "audio", "tensor")}


class Summary(Message):
    """Values under tags, for TensorBoard.

    Args:
      value: a list of `Summary.Value`.

    >>> summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)])
    >>> _ = summary.value.add(tag="accuracy", simple_value=0.75)
    >>> tf.Summary.FromString(summary.SerializeToString()).value[1].tag
    'accuracy'
    """

    FIELDS = {"value": (1, [_Value])}
    Value = _Value
    Image = _Image
    Audio = _Audio


class SessionLog(Message):
    """A session event: START, STOP or CHECKPOINT."""

    FIELDS = {"status": (1, "int"), "checkpoint_path": (2, "string"), "msg": (3, "string")}
    ENUMS = {"status": {0: "STATUS_UNSPECIFIED", 1: "START", 2: "STOP", 3: "CHECKPOINT"}}
    STATUS_UNSPECIFIED, START, STOP, CHECKPOINT = range(4)


class LogMessage(Message):
    """A line of a log in an event file.

    Args:
      **fields: `level`, `message`.
    """

    UNKNOWN, DEBUGGING, INFO, WARN, ERROR, FATAL = 0, 10, 20, 30, 40, 50
    FIELDS = {"level": (1, "int"), "message": (2, "string")}
    ENUMS = {"level": {0: "UNKNOWN", 10: "DEBUGGING", 20: "INFO", 30: "WARN", 40: "ERROR", 50: "FATAL"}}


class _Tagged(Message):
    FIELDS = {"tag": (1, "string"), "run_metadata": (2, "bytes")}


class _Source(Message):
    FIELDS = {"writer": (1, "string")}


class Event(Message):
    """A record of an event file: a time, a step, and its contents.

    Args:
      **fields: `wall_time`, `step`, and one of `file_version`, `graph_def`, `summary`, `session_log`,
        `tagged_run_metadata`, `meta_graph_def`.
    """

    FIELDS = {"wall_time": (1, "double"), "step": (2, "int"), "file_version": (3, "string"), "graph_def": (4, "bytes"),
              "summary": (5, Summary), "session_log": (7, SessionLog), "tagged_run_metadata": (8, _Tagged),
              "meta_graph_def": (9, "bytes"), "source_metadata": (10, _Source)}
    ONEOF = {"what": ("file_version", "graph_def", "summary", "session_log", "tagged_run_metadata", "meta_graph_def")}
