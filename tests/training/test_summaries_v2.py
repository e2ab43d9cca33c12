"""`tf.summary` of TensorFlow 2 writes what TensorFlow writes."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf1
import graphgrad.compat.v2 as tf
from graphgrad.ir import context
from graphgrad.training.summaries.summary_messages import SummaryMetadata

from .summary_v2_cases import events, images, write

_PATH = pathlib.Path(__file__).parents[1] / "recorded" / "summaries_v2.json"
RECORDED: dict[str, Any] = json.loads(_PATH.read_text())


def test_as_in_tensorflow(tmp_path: Any) -> None:
    """Results, errors, and every event: step, tag, page, description, values."""
    with context.use(context.EAGER):
        assert write(tf, str(tmp_path)) == RECORDED["results"]
        assert json.loads(json.dumps(events(tf, str(tmp_path)))) == RECORDED["events"]


@pytest.mark.parametrize("name", images())
def test_images(name: str, tmp_path: Any) -> None:
    """The pixels are those that TensorFlow writes."""
    with context.use(context.EAGER):
        with tf.summary.create_file_writer(str(tmp_path)).as_default(step=0):
            tf.summary.image("i", images()[name], max_outputs=2)
        encoded = [bytes.fromhex(v) for v in events(tf, str(tmp_path))[0][5]]
        pixels = [tf.io.decode_png(e).numpy().tolist() for e in encoded[2:]]
    assert [encoded[0].decode(), encoded[1].decode(), *pixels] == RECORDED["pixels"][name]


def test_graphs(tmp_path: Any) -> None:
    """Graphs, and those of functions that are called while they are noted."""
    with context.use(context.EAGER):
        double = tf.function(lambda x: x * 2)
        with tf.summary.create_file_writer(str(tmp_path)).as_default(step=0):
            tf.summary.graph(double.get_concrete_function(tf.constant(1.0)).graph)
            tf.summary.trace_on()
            double(tf.constant(3.0))
            tf.summary.trace_export("trace")
            double(tf.constant(3.0))
            with pytest.raises(TypeError, match="is not tf.Graph"):
                tf.summary.graph(3)
    (name,) = os.listdir(tmp_path)
    found = list(tf1.train.summary_iterator(str(tmp_path / name)))[1:]
    assert [n.op for n in tf1.GraphDef.FromString(found[0].graph_def).node] == ["Placeholder", "Const", "Mul"]
    value = found[1].summary.value[0]
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata_graph" and value.tag == "trace"
    assert value.tensor.string_val[0].count(b"Placeholder") == 2  # before and after, which are one


def test_in_sessions(tmp_path: Any) -> None:
    """In graphs of TensorFlow 1 the functions add operations."""
    with tf1.Graph().as_default() as graph, tf1.Session() as session:
        writer = tf.summary.create_file_writer(str(tmp_path))
        x = tf1.placeholder(tf1.float32, [])
        with writer.as_default(step=3):
            done = tf.summary.scalar("x", x)
            tf1.summary.initialize(graph, session)
        assert tf1.summary.all_v2_summary_ops() == [done]
        assert session.run(done, {x: 2.5})
        session.run([writer.flush(), writer.init()])
        session.run(writer.close())
    found = events(tf, str(tmp_path))
    assert found == [[3, "x", "scalars", "", "", 2.5]]
    with pytest.raises(RuntimeError, match="(?s)No default SummaryWriter.*Fix:"), tf1.Graph().as_default():
        tf1.summary.initialize()


def test_sounds_and_old_tensors() -> None:
    """Summaries of TensorFlow 1: sounds with their tags, tensors without."""
    with tf1.Graph().as_default(), tf1.Session() as session:
        sound = np.sin(np.arange(20)).reshape(1, 10, 2).astype("float32") / 2
        one = tf1.summary.audio("a", sound, 8000.0, max_outputs=1)
        value = tf1.Summary.FromString(session.run(one)).value[0]
        assert (value.tag, value.audio.num_channels, value.audio.sample_rate) == ("a/audio", 2, 8000.0)
        recorded = next(bytes.fromhex(e[5][0]) for e in RECORDED["events"] if e[1] == "au")
        written = value.audio.encoded_audio_string
        assert len(written) == len(recorded) and written[8:40] == recorded[8:40] and written[44:] == recorded[44:]
        with pytest.raises(ValueError, match="(?s)less than minimum 1.*Fix:"):
            tf1.summary.audio("a", sound, 8000.0, max_outputs=0)
        with pytest.raises(tf1.errors.InvalidArgumentError, match="(?s)3-D or 2-D.*Fix:"):
            session.run(tf1.summary.audio("a", np.zeros(3, np.float32), 8000.0))
        with pytest.raises(ValueError, match="(?s)Cannot get_summary_description.*Fix:"):
            tf1.summary.get_summary_description(one.op.node_def)
    assert SummaryMetadata().SerializeToString() == b""
