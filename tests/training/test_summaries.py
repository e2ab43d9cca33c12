"""Summaries, event files and record files: what TensorFlow writes, and what it and TensorBoard read."""

from __future__ import annotations

import builtins
import gzip
import hashlib
import io
import json
import os
import pathlib
import struct
import time
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir.dtypes import float32, string
from graphgrad.ir.opdef import raw
from graphgrad.ir.proto.messages import DecodeError
from graphgrad.ir.proto.quoting import unquoted
from graphgrad.ir.proto.wire import read_fields, varint
from graphgrad.training.summaries.summary_messages import TensorProto
from graphgrad.training.summaries.summary_ops import encode_png
from tests.support.sessions import run_in_numpy

from . import summary_cases

RECORDED = json.loads((pathlib.Path(__file__).parents[1] / "recorded" / "summaries.json").read_text())


@pytest.fixture
def sess(graph: Any) -> Iterator[Any]:
    """A session of the test's graph."""
    with HostSession() as session:
        yield session


def _decoded(png: bytes) -> np.ndarray:
    """The pixels of a PNG file whose rows are not filtered."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(png):
        size = struct.unpack(">I", png[at : at + 4])[0]
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + data)
        chunks[kind], at = data, at + 12 + size
    width, height, depth, color, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert depth == 8 and not any(rest) and list(chunks)[-1] == b"IEND"
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[color]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + width * channels)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, channels)


# -- operations ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", summary_cases.images())
def test_images(sess: Any, name: str) -> None:
    """Pixels and tags are those of TensorFlow."""
    summary = tf.Summary.FromString(sess.run(tf.summary.image(name, tf.constant(summary_cases.images()[name]))))
    recorded = RECORDED["images"][name]
    assert [v.tag for v in summary.value] == recorded["tags"]
    for value, pixels in zip(summary.value, recorded["pixels"], strict=True):
        decoded = _decoded(value.image.encoded_image_string)
        assert decoded.shape == (value.image.height, value.image.width, value.image.colorspace)
        np.testing.assert_array_equal(decoded, pixels)


def test_png_with_two_channels() -> None:
    """Grey with alpha, which images cannot be made of, is encoded all the same."""
    pixels = np.arange(12, dtype=np.uint8).reshape(2, 3, 2)
    np.testing.assert_array_equal(_decoded(encode_png(pixels)), pixels)


def test_names_and_collections(graph: Any) -> None:
    """Names, tags and collections are those of TensorFlow 2.21."""
    with tf.name_scope("sc"):
        a = tf.summary.scalar("/loss a", 1.0)
        b = tf.summary.scalar("f", 1.0, family="fam")
        c = tf.summary.histogram("h", [1.0], collections=["mine"])
        m = tf.summary.merge([a, b], collections=["mine"])
    assert [t.name for t in (a, b, c, m)] == ["sc/loss_a:0", "sc/fam/f:0", "sc/h:0", "sc/Merge/MergeSummary:0"]
    assert [t.op.type for t in (a, c, m)] == ["ScalarSummary", "HistogramSummary", "MergeSummary"]
    tags = [t.op.inputs[0].op._attr("value").item() for t in (a, b, c)]
    assert tags == [b"sc/loss_a", b"fam/sc/fam/f", b"sc/h"]
    assert tf.get_collection("summaries") == [a, b] and tf.get_collection("mine") == [c, m]
    assert tf.summary.merge_all().name == "Merge/MergeSummary:0"
    assert list(tf.summary.merge_all("mine").op.inputs) == [c, m]
    assert list(tf.summary.merge_all(scope="sc/fam").op.inputs) == [b]
    assert tf.summary.merge_all(scope="nothing") is None
    with pytest.raises(ValueError, match="(?s)dtype string, got .*Fix:"):
        tf.summary.text("t", tf.constant(1.0))
    with pytest.raises(ValueError, match="(?s)shorter than minimum length 1.*Fix:"):
        tf.summary.merge([])


def test_with_training(graph: Any) -> None:
    """Summaries beside a compiled step: what XLA computes goes through host operations into one string."""
    w = tf.get_variable("w", initializer=np.array([3.0, -2.0], np.float32))
    loss = tf.reduce_sum(tf.square(w))
    train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("w", w)
    merged = tf.summary.merge_all()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = []
        for _ in range(3):
            text, _ = session.run([merged, train])
            summary = tf.Summary.FromString(text)
            assert [v.tag for v in summary.value] == ["loss", "w_1"] and summary.value[1].histo.num == 2
            losses.append(summary.value[0].simple_value)
    assert losses == [13.0, 3.25, 0.8125]


def test_names_of_0(sess: Any, tmp_path: pathlib.Path) -> None:
    """Programs from before 1.0: tags as they are given, several numbers in one summary."""
    tf.scalar_summary(["a b", "c"], [1.0, 2.0])
    tf.merge_summary([tf.histogram_summary("h", [1.0]), tf.image_summary("i", tf.ones([1, 2, 2, 1]))])
    summary = tf.Summary.FromString(sess.run(tf.merge_all_summaries()))
    assert [v.tag for v in summary.value] == ["a b", "c", "h", "i/image/0"]
    writer = tf.train.SummaryWriter(str(tmp_path), sess.graph)
    writer.add_summary(summary, 1)
    writer.close()
    (path,) = tmp_path.iterdir()
    assert [len(e.summary.value) for e in tf.train.summary_iterator(str(path))] == [0, 0, 0, 4]


def test_events_of_a_graph(sess: Any, tmp_path: pathlib.Path) -> None:
    """A writer that is given a graph writes it, and then the graph with its collections, as in TensorFlow."""
    tf.Variable(1.0, name="v")
    for name, given in (("graph", sess.graph), ("none", None)):
        with tf.summary.FileWriter(str(tmp_path / name), given) as writer:
            if given is None:
                writer.add_meta_graph(tf.train.export_meta_graph(), 4)
    with pytest.raises(TypeError, match="must be a MetaGraphDef"):
        writer.add_meta_graph(sess.graph.as_graph_def())
    for name, kinds, step in (("graph", ["file_version", "graph_def", "meta_graph_def"], 0),
                              ("none", ["file_version", "meta_graph_def"], 4)):
        (path,) = (tmp_path / name).iterdir()
        events = list(tf.train.summary_iterator(str(path)))
        assert [e.WhichOneof("what") for e in events] == kinds and events[-1].step == step
        found = tf.MetaGraphDef.FromString(events[-1].meta_graph_def)
        assert "trainable_variables" in found.collection_def and "v" in [n.name for n in found.graph_def.node]


# -- messages --------------------------------------------------------------------------------


def test_message() -> None:
    """Messages behave as those of protocol buffers, as far as programs use them."""
    summary = tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=0.1)])
    value = summary.value.add()
    value.tag = "b"
    value.histo.bucket.extend([1, 2.5])
    assert value.WhichOneof("value") == "histo" and not value.HasField("metadata")
    value.simple_value = 0
    assert value.WhichOneof("value") == "simple_value" and not value.histo.bucket
    again = tf.Summary.FromString(summary.SerializeToString())
    assert again == summary and again.value[1].HasField("simple_value")
    assert repr(summary.value[0]) == 'tag: "a"\nsimple_value: 0.1\n'
    assert repr(tf.Event(wall_time=1234567890.25, step=-3)) == "wall_time: 1234567890.25\nstep: -3\n"
    copy = tf.Summary()
    copy.CopyFrom(summary)
    copy.value[0].tag = "c"
    assert summary.value[0].tag == "a" and tf.Event.FromString(tf.Event(step=-3).SerializeToString()).step == -3
    with pytest.raises(AttributeError, match="has no field 'tags'"):
        value.tags = "x"
    with pytest.raises(ValueError, match='no "tags" field'):
        tf.Summary.Value(tags="x")
    with pytest.raises(TypeError, match="does not fit field tag"):
        value.tag = 3
    with pytest.raises(TypeError, match="does not fit field simple_value"):
        value.simple_value = "3"
    with pytest.raises(AttributeError, match="(?s)Assignment not allowed.*Fix:"):
        summary.value = []
    for bad in (b"\x0a\x05a", b"\x08", b"\x0f", b"\x0a\x02\x0a\x05"):
        with pytest.raises(ValueError):
            tf.Summary.FromString(bad)
    with pytest.raises(ValueError, match="no string"):
        unquoted("abc")


@pytest.mark.parametrize("value", [np.arange(6, dtype=np.float32).reshape(2, 3), np.array([[b"a", b""]], object),
                                   np.zeros((0, 2), np.float32)])
def test_tensor_message(value: Any) -> None:
    """A tensor goes into a message and comes out."""
    proto = TensorProto.of(value, string if value.dtype == object else float32)
    np.testing.assert_array_equal(TensorProto.FromString(proto.SerializeToString()).array(), value)


def test_unknown_fields() -> None:
    """Fields of later versions are passed over."""
    later = tf.Event(step=4).SerializeToString() + varint(99 << 3) + varint(1) + varint(98 << 3 | 1) + bytes(8)
    assert tf.Event.FromString(later).step == 4


# -- event files -----------------------------------------------------------------------------


def test_events(sess: Any, tmp_path: pathlib.Path) -> None:
    """The event file is the one that TensorFlow and TensorBoard read, with the values that were written."""
    path = summary_cases.write_events(tf, sess, tmp_path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == RECORDED["events"]
    events = list(tf.train.summary_iterator(str(path)))
    assert [e.step for e in events] == [0, 0, 1, 2] and events[0].file_version == "brain.Event:2"
    values = events[2].summary.value
    assert [v.tag for v in values] == ["train/loss", "weights", "note"] and values[0].simple_value == 0.25
    assert [e.summary.value[2].HasField("metadata") for e in events[1:3]] == [True, False]


def test_graph(graph: Any, tmp_path: pathlib.Path) -> None:
    """The graph in an event file has each operation with its inputs, device and shapes; gradients keep their scope."""
    summary_cases.build(tf)
    with tf.summary.FileWriter(str(tmp_path), graph) as writer:
        assert writer.get_logdir() == str(tmp_path)
    (path,) = tmp_path.iterdir()
    serialized = list(tf.train.summary_iterator(str(path)))[1].graph_def
    nodes: dict[str, dict[int, list[Any]]] = {}
    for number, _, node in read_fields(serialized):
        if number == 1:
            fields: dict[int, list[Any]] = {}
            for n, _, value in read_fields(node):
                fields.setdefault(n, []).append(value)
            nodes[fields[1][0].decode()] = fields
    assert list(nodes) == [op.name for op in graph.get_operations()]
    for op in graph.get_operations():
        assert nodes[op.name][2] == [op.type.encode()]
        assert [n.decode() for n in nodes[op.name].get(3, [])] == op.node_def.input
        assert nodes[op.name].get(4, [b""])[0].decode() == op.device
    assert any(name.startswith("gradients/model/y_grad/") for name in nodes)
    with pytest.raises(TypeError, match="must be an instance of `Graph`"):
        tf.summary.FileWriter(str(tmp_path), "graph")


def test_writer(tmp_path: pathlib.Path) -> None:
    """Events are kept back; closing and reopening; two writers in one second; a writer for each directory."""
    one, two = tf.summary.FileWriter(str(tmp_path), max_queue=3), tf.summary.FileWriter(str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 2
    path = pathlib.Path(one._file.name)
    empty = path.stat().st_size
    for step in range(2):
        one.add_event(tf.Event(step=step))
    assert path.stat().st_size == empty
    one.add_event(tf.Event(step=2))
    assert path.stat().st_size > empty
    one.close()
    one.close()
    two.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        one.add_summary(tf.Summary(), 1)
    one.reopen()
    one.add_summary(tf.Summary(), 1)
    one.close()
    assert len(list(tmp_path.iterdir())) == 3
    cached = tf.summary.FileWriterCache.get(str(tmp_path))
    assert tf.summary.FileWriterCache.get(str(tmp_path)) is cached
    tf.summary.FileWriterCache.clear()
    assert cached._file is None


# -- record files ----------------------------------------------------------------------------


def test_event_files_are_new(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has the name that an event file would get is not written to, nor what a link of that name points to."""
    monkeypatch.setattr(time, "time", lambda: 1e9)
    with tf.summary.FileWriter(tmp_path / "first"):
        (name,) = (p.name for p in (tmp_path / "first").iterdir())
    (tmp_path / "outside").write_text("mine")
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / name).symlink_to(tmp_path / "outside")
    (tmp_path / "second" / f"{name}.1").symlink_to(tmp_path / "nowhere")
    with tf.summary.FileWriter(tmp_path / "second") as writer:
        writer.add_event(tf.Event(step=7))
    assert (tmp_path / "outside").read_text() == "mine" and not (tmp_path / "nowhere").exists()
    assert [e.step for e in tf.train.summary_iterator(str(tmp_path / "second" / f"{name}.2"))] == [0, 7]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk that is full")
def test_a_full_disk(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is told when events or records are written out; closing once more is no error."""
    original = builtins.open

    def full(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        events = "tfevents" in str(path)
        return original("/dev/full", "wb") if events else original(path, mode, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", full)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="(?s)tfevents.*No space left on device.*Fix:"):
        tf.summary.FileWriter(tmp_path)
    writer = tf.python_io.TFRecordWriter("/dev/full")
    writer.write(b"x")
    with pytest.raises(tf.errors.ResourceExhaustedError, match="(?s)/dev/full; No space left on device.*Fix:"):
        writer.flush()
    with pytest.raises(tf.errors.ResourceExhaustedError):
        writer.close()
    writer.close()


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_records(tmp_path: pathlib.Path, kind: str) -> None:
    """What is written is read, compressed or not; files that end early or are changed are not."""
    path = tmp_path / "r"
    records = [b"", b"one", bytes(range(256)) * 40]
    options = tf.python_io.TFRecordOptions(kind)
    with tf.python_io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)
        writer.flush()
    assert list(tf.python_io.tf_record_iterator(path, options)) == records
    data = path.read_bytes()
    plain = {"": lambda d: d, "GZIP": lambda d: gzip.GzipFile(fileobj=io.BytesIO(d)).read(), "ZLIB": zlib.decompress}
    lengths = [struct.unpack("<Q", plain[kind](data)[:8])[0]]
    assert lengths == [0] and len(plain[kind](data)) == sum(16 + len(r) for r in records)
    path.write_bytes(data[:-20])
    with pytest.raises(tf.errors.DataLossError, match="(?s)Fix:"):
        list(tf.python_io.tf_record_iterator(path, options))
    if not kind:
        path.write_bytes(data[:-6] + b"x" + data[-5:])
        with pytest.raises(tf.errors.DataLossError, match="corrupted record at 35"):
            list(tf.python_io.tf_record_iterator(path))


def test_errors_of_records(tmp_path: pathlib.Path) -> None:
    """Missing files and directories, other compressions, other files."""
    with pytest.raises(tf.errors.NotFoundError, match="(?s)No such file.*Fix:"):
        list(tf.python_io.tf_record_iterator(str(tmp_path / "nothing")))
    with pytest.raises(tf.errors.NotFoundError, match="(?s)No such file.*Fix:"):
        tf.python_io.TFRecordWriter(str(tmp_path / "nothing" / "r"))
    with pytest.raises(ValueError, match="(?s)Not a valid compression_type.*Fix:"):
        tf.python_io.TFRecordOptions("LZMA")
    with tf.python_io.TFRecordWriter(tmp_path / "r") as writer:
        writer.write("no event")
    with pytest.raises(DecodeError, match="(?s)no file of events.*Fix:"):
        list(tf.train.summary_iterator(str(tmp_path / "r")))


@pytest.mark.usefixtures("graph")
def test_older_summaries_of_sound() -> None:
    """The op whose rate is an attribute gives what the later one gives."""
    sound = np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6)
    old = raw.AudioSummary("a", sound, sample_rate=8000.0)
    new = raw.AudioSummaryV2("a", sound, np.float32(8000))
    old, new = run_in_numpy([old, new])
    assert old == new and b"RIFF" in old
