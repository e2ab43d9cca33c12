"""`tf.summary` of TensorFlow 2: functions that write to the event file of the current writer."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphgrad.frontend.function import concrete_function
from graphgrad.frontend.graph.default_graph import get_current_name_scope, name_scope_v2
from graphgrad.ir import context
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, bool_, float32, float64, int64, string
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Graph, Operation
from graphgrad.ir.graph_messages import GraphDef
from graphgrad.ir.graphdef import graph_def as serialize
from graphgrad.ir.opdef import raw
from graphgrad.ir.proto.messages import Message
from graphgrad.ir.tensor import Tensor

from .summary_messages import Event, Summary, SummaryMetadata, TensorProto
from .summary_ops import encode_png
from .summary_writers import _recording, _state
from .writer_ops import metadata_of, wav

_COLLECTION = "_SUMMARY_V2"


# -- writing -------------------------------------------------------------------------------


@contextlib.contextmanager
def summary_scope(name: str, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
    """Opens a name scope for a custom summary; yields the tag, prefixed by outer scopes, and the scope.

    Args:
      name: the summary's name.
      default_name: another one if it has none.
      values: accepted.
    Reference: TensorFlow 2.21 `tf.summary.experimental.summary_scope`.
    """
    name = name or default_name
    around = get_current_name_scope()
    clean = re.sub(r"[^A-Za-z0-9_.\\/-]", "", name).lstrip("_\\/-")
    with name_scope_v2(clean or default_name) as scope:
        yield f"{around}/{name}" if around else name, scope


def _step_of(step: Any) -> Any:
    step = _state.step if step is None else step
    if step is None:
        raise ValueError("No step set. Please specify one either through the `step` argument or through "
                         "tf.summary.experimental.set_step()")
    return step


def _written(name: str, default: str, data: Any, step: Any, make: Callable[[Any], Any], dtype: Any = None) -> Any:
    """Writes the message that `make` returns for an array; returns whether it was written."""
    with summary_scope(name, default) as (tag, _):
        return _written_as(tag, data, step, make, dtype)


def _written_as(tag: str, data: Any, step: Any, make: Callable[[Any], Any], dtype: Any = None) -> Any:
    writer = _state.writer
    if writer is None:
        return convert_to_tensor(False)
    step = _step_of(step)
    recording = _recording()
    if context.executing_eagerly():
        recording = bool(recording)
        if recording:
            tensor = convert_to_tensor(data() if callable(data) else data, dtype)
            writer._write_value(tag, int(step), make(np.asarray(tensor._value)))
        return convert_to_tensor(recording)
    tensor = convert_to_tensor(data() if callable(data) else data, dtype)
    made = raw.WriteSummary(tag, raw.Cast(convert_to_tensor(step), DstT=int64), tensor,
                            convert_to_tensor(recording, bool_), writer=writer, make=make)
    graph = context.get_default_graph()
    if not isinstance(graph, FuncGraph):
        graph.add_to_collection(_COLLECTION, made)
    return made


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Writes one number.

    Args:
      name: the tag, after the name scopes around.
      data: a real scalar.
      step: the step, a number; by default the one that was set.
      description: text that TensorBoard shows beside it, Markdown.
    Returns: whether it was written, a bool scalar.
    Raises: ValueError for anything but a scalar, or without a step.
    Reference: TensorFlow 2.21 `tf.summary.scalar`.
    """
    metadata = metadata_of("scalars", description)

    def make(value: Any) -> Any:
        if value.ndim:
            raise ValueError(f"Expected scalar shape, saw shape: {value.shape}. Fix: tf.reduce_mean")
        return TensorProto.of(value.astype(np.float32), float32), metadata

    if not callable(data):
        data = convert_to_tensor(data)
        if data.shape.rank not in (0, None):
            raise ValueError(f"Expected scalar shape, saw shape: {data.shape}. Fix: tf.reduce_mean")
    return _written(name, "scalar_summary", data, step, make)


def histogram(name: str, data: Any, step: Any = None, buckets: Any = None, description: str | None = None) -> Tensor:
    """Writes a histogram of values.

    Args:
      name, step, description: as for `scalar`.
      data: a real tensor of any shape.
      buckets: the number of intervals of equal width; 30 by default.
    Returns: whether it was written, a bool scalar.
    Reference: TensorFlow 2.21 `tf.summary.histogram`.
    """
    metadata, count = metadata_of("histograms", description), 30 if buckets is None else whole(buckets)

    def make(value: Any) -> Any:
        return TensorProto.of(_buckets(value.astype(np.float64).ravel(), count), float64), metadata

    return _written(name, "histogram_summary", data, step, make)


def _buckets(values: Any, count: int) -> Any:
    """Computes buckets (count, 3): left edge, right edge and the number of values between."""
    if count == 0 or not values.size:
        return np.zeros((count, 3))
    low, high = values.min(), values.max()
    width = (high - low) / count
    if high == low:
        counts = np.zeros(count)
        counts[-1] = values.size
        edges = np.full(count + 1, low)
    else:
        at = np.minimum(np.floor((values - low) / width).astype(np.int64), count - 1)
        counts = np.bincount(at, minlength=count).astype(np.float64)
        edges = np.linspace(low, high, count + 1)
    return np.stack([edges[:-1], edges[1:], counts], 1)


def image(name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None) -> Tensor:
    """Writes images.

    Args:
      name, step, description: as for `scalar`.
      data: (batch, height, width, channels) with 1 to 4 channels; uint8, or floats between 0 and 1.
      max_outputs: the largest number of examples of the batch.
    Returns: whether it was written, a bool scalar.
    Raises: ValueError for another rank.
    Reference: TensorFlow 2.21 `tf.summary.image`.
    """
    metadata = metadata_of("images", description)

    def make(value: Any) -> Any:
        _rank(value.shape, 4)
        if value.dtype != np.uint8:
            value = (np.clip(value.astype(np.float32), 0, 1) * np.float32(255.5)).astype(np.uint8)
        pictures = [encode_png(p) for p in value[:max_outputs]]
        return _strings([str(value.shape[2]), str(value.shape[1]), *pictures]), metadata

    if not callable(data):
        data = convert_to_tensor(data)
        _rank(data.shape.as_list() if data.shape.rank is not None else [None] * 4, 4)
    return _written(name, "image_summary", data, step, make)


def _rank(shape: Any, rank: int) -> None:
    if len(shape) != rank:
        raise ValueError(f"Tensor must have rank {rank}. Received rank {len(shape)}, shape {tuple(shape)}. "
                         "Fix: tf.expand_dims")


def _strings(values: Any) -> TensorProto:
    array = np.empty(len(values), object)
    array[:] = values
    return TensorProto.of(array, string)


def audio(name: str, data: Any, sample_rate: Any, step: Any = None, max_outputs: int = 3, encoding: Any = None,
          description: str | None = None) -> Tensor:
    """Writes sounds.

    Args:
      name, step, description: as for `scalar`.
      data: (batch, frames, channels), float32 between -1 and 1.
      sample_rate: frames per second.
      max_outputs: the largest number of examples of the batch.
      encoding: "wav", or None.
    Returns: whether it was written, a bool scalar.
    Raises: ValueError for another rank or encoding.
    Reference: TensorFlow 2.21 `tf.summary.audio`.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}. Fix: 'wav'")
    metadata = metadata_of("audio", description, b"\x10\x0b")

    def make(value: Any) -> Any:
        _rank(value.shape, 3)
        sounds = [wav(s, whole(sample_rate)) for s in value[:max_outputs]]
        array = np.empty((len(sounds), 2), object)
        array[:, 0], array[:, 1] = sounds, b""
        return TensorProto.of(array, string), metadata

    return _written(name, "audio_summary", data, step, make, float32)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Writes strings, Markdown; TensorBoard shows tensors of rank 2 as tables.

    Args:
      name, step, description: as for `scalar`.
      data: a string tensor.
    Returns: whether it was written, a bool scalar.
    Reference: TensorFlow 2.21 `tf.summary.text`.
    """
    metadata = metadata_of("text", description)
    return _written(name, "text_summary", data, step, lambda value: (TensorProto.of(value, string), metadata), string)


def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> Tensor:
    """Writes a tensor under a tag, for the TensorBoard page named by the metadata.

    Args:
      tag: the tag.
      tensor: the tensor, or a function that gives it, called if it is written.
      step: the step, a number; by default the one that was set.
      metadata: a `SummaryMetadata`, or bytes of one.
      name: accepted.
    Returns: whether it was written, a bool scalar.
    Raises: ValueError without a step.
    Reference: TensorFlow 2.21 `tf.summary.write`.
    """
    about = SummaryMetadata.FromString(metadata) if isinstance(metadata, bytes) else metadata

    def make(value: Any) -> Any:
        return TensorProto.of(value, as_dtype(value.dtype)), about

    return _written_as(tag.decode() if isinstance(tag, bytes) else tag, tensor, step, make)


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Tensor:
    """Writes a serialized `Summary`.

    Args:
      tensor: its bytes, a string scalar.
      step: the step, a number; by default the one that was set.
      name: accepted.
    Returns: whether it was written, a bool scalar.
    Raises: ValueError without a step.
    Reference: TensorFlow 2.21 `tf.summary.experimental.write_raw_pb`.
    """
    writer = _state.writer
    if writer is None:
        return convert_to_tensor(False)
    step = _step_of(step)
    if bool(_recording()):
        data = tensor.numpy() if isinstance(tensor, EagerTensor) else tensor
        writer._opened()._add(Event(summary=Summary.FromString(bytes(data))), whole(step))
    return convert_to_tensor(bool(_recording()))


# -- graphs --------------------------------------------------------------------------------


def graph(graph_data: Any) -> Tensor:
    """Writes a graph.

    Args:
      graph_data: a `Graph`, or a `GraphDef`.
    Returns: whether it was written, a bool scalar.
    Raises: RuntimeError but in eager mode; TypeError for anything else than a graph.
    Reference: TensorFlow 2.21 `tf.summary.graph`.
    """
    if not context.executing_eagerly():
        raise RuntimeError("graph() must be invoked in eager context. Fix: tf.summary.FileWriter(folder, graph)")
    writer = _state.writer
    if writer is None:
        return convert_to_tensor(False)
    if isinstance(graph_data, Graph):
        found = serialize(graph_data)
    elif isinstance(graph_data, GraphDef):
        found = graph_data.SerializeToString()
    else:
        raise TypeError("Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. "
                        f"Received graph_data={graph_data} of type {type(graph_data).__name__}.")
    if bool(_recording()):
        writer._opened()._add(Event(graph_def=found), None)
    return convert_to_tensor(bool(_recording()))


class _FunctionGraphs(Message):
    FIELDS = {"partition_graphs": (1, [GraphDef]), "pre_optimization_graph": (2, GraphDef),
              "post_optimization_graph": (3, GraphDef)}


class _RunMetadata(Message):
    FIELDS = {"function_graphs": (4, [_FunctionGraphs])}


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: str | None = None) -> None:
    """Begins to collect the graphs of called functions, for `trace_export`.

    Args:
      graph: whether to.
      profiler, profiler_outdir: accepted; times of single operations are in `RunMetadata`.
    Reference: TensorFlow 2.21 `tf.summary.trace_on`.
    """
    if _state.tracing is not None:
        return
    _state.tracing = graph, profiler
    concrete_function.collect_called(bool(graph))


def trace_export(name: str, step: Any = None, profiler_outdir: str | None = None) -> None:
    """Writes the graphs collected since `trace_on`, and stops collecting.

    Args:
      name: the tag.
      step: the step, a number; by default the one that was set.
      profiler_outdir: accepted.
    Raises: ValueError without `trace_on`.
    Reference: TensorFlow 2.21 `tf.summary.trace_export`.
    """
    if _state.tracing is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    graphs = list({id(g): g for g in concrete_function.collect_called(False)}.values())
    if _state.tracing[0]:
        message = _RunMetadata()
        for g in graphs:
            found = GraphDef.FromString(serialize(g))
            message.function_graphs.add(pre_optimization_graph=found, partition_graphs=[found])
        metadata = metadata_of("graph_run_metadata_graph", None, b"1")
        made = TensorProto.of(np.array(message.SerializeToString(), object), string), metadata
        _written_as(name, b"", step, lambda _: made, string)
    trace_off()


def trace_off() -> None:
    """Stops collecting graphs and discards them.

    Reference: TensorFlow 2.21 `tf.summary.trace_off`.
    """
    _state.tracing = None
    concrete_function.collect_called(False)


# -- TensorFlow 1 --------------------------------------------------------------------------


def all_v2_summary_ops() -> list[Operation] | None:
    """Returns the operations of the default graph that write summaries of TensorFlow 2; None in eager mode.

    Reference: TensorFlow 2.21 `tf.compat.v1.summary.all_v2_summary_ops`.
    """
    return None if context.executing_eagerly() else context.get_default_graph().get_collection(_COLLECTION)


def initialize(graph: Any = None, session: Any = None) -> None:
    """Opens the file of the current writer, and writes a graph to it.

    Args:
      graph: the graph, or None.
      session: the session; the current one by default.
    Raises: RuntimeError without a writer; ValueError without a session.
    Reference: TensorFlow 2.21 `tf.compat.v1.summary.initialize`.
    """
    if context.executing_eagerly():
        return
    if _state.writer is None:
        raise RuntimeError("No default SummaryWriter found. Fix: with writer.as_default()")
    from graphgrad.executor.runtime.session import get_default_session

    if session is None and get_default_session() is None:
        raise ValueError("Argument `session must be passed if no default session exists")
    writer = _state.writer
    writer._flush_now()
    if graph is not None:
        writer._opened().add_graph(graph)


class SummaryDescription(Message):
    """How to show a summary.

    Args:
      **fields: `type_hint`.
    """

    FIELDS = {"type_hint": (1, "string")}


class TaggedRunMetadata(Message):
    """A `RunMetadata` under a tag.

    Args:
      **fields: `tag`, `run_metadata`.
    """

    FIELDS = {"tag": (1, "string"), "run_metadata": (2, "bytes")}


def get_summary_description(node_def: Any) -> SummaryDescription:
    """Returns the description of a `TensorSummary` operation.

    Args:
      node_def: the operation, a `NodeDef`.
    Raises: ValueError for operations of other types.
    Reference: TensorFlow 2.21 `tf.compat.v1.summary.get_summary_description`.
    """
    if node_def.op != "TensorSummary":
        raise ValueError(f"Cannot get_summary_description on {node_def.op}. Fix: give a TensorSummary")
    import json

    found = json.loads(node_def.attr["description"].s.decode() or "{}")
    return SummaryDescription(type_hint=found.get("typeHint", ""))
