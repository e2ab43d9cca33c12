"""Records summaries of TensorFlow into tests/recorded/summaries.json, and what it reads from graphgrad's event files.

Run it beside TensorFlow 2.21 and TensorBoard:

    python -m tests.record.summaries

- `images`: the pixels that TensorFlow's image summaries hold;
- `events`: the digest of the event file by `summary_cases.write_events`, which TensorFlow's `summary_iterator` and
  TensorBoard's `EventAccumulator` read, with the values that were written.
"""

from __future__ import annotations

import hashlib
import json
import tempfile

import numpy as np

import graphgrad.compat.v1 as gg
from graphgrad.executor.runtime.session import HostSession
from tests.record import RECORDED
from tests.training import summary_cases


def main() -> None:
    """Writes the recordings."""
    import tensorflow.compat.v1 as tf
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    tf.disable_eager_execution()
    images = {}
    with tf.Graph().as_default(), tf.Session() as sess:
        for name, batch in summary_cases.images().items():
            summary = tf.Summary.FromString(sess.run(tf.summary.image(name, tf.constant(batch))))
            pixels = [sess.run(tf.image.decode_png(v.image.encoded_image_string)) for v in summary.value]
            images[name] = {"tags": [v.tag for v in summary.value], "pixels": np.stack(pixels).tolist()}
    folder = tempfile.mkdtemp()
    with gg.Graph().as_default(), HostSession() as session:
        path = summary_cases.write_events(gg, session, folder)
    events = list(tf.train.summary_iterator(str(path)))
    assert [e.step for e in events] == [0, 0, 1, 2] and events[0].file_version == "brain.Event:2"
    assert [e.summary.value[0].simple_value for e in events[1:3]] == list(summary_cases.LOSSES)
    assert events[3].session_log.msg == "done"
    accumulator = EventAccumulator(folder)
    accumulator.Reload()
    assert [(s.step, s.value) for s in accumulator.Scalars("train/loss")] == list(enumerate(summary_cases.LOSSES))
    assert accumulator.Histograms("weights")[-1].histogram_value.sum == sum([summary_cases.LOSSES[-1], 0, -1])
    note = accumulator.Tensors("note")[0].tensor_proto
    assert list(note.string_val) == [b"a", b"b"]
    # The graph page: TensorBoard finds the nodes, with their inputs.
    with gg.Graph().as_default() as graph:
        summary_cases.build(gg)
        drawn = tempfile.mkdtemp()
        gg.summary.FileWriter(drawn, graph).close()
    accumulator = EventAccumulator(drawn)
    accumulator.Reload()
    nodes = {n.name: n for n in accumulator.Graph().node}
    assert list(nodes) == [op.name for op in graph.get_operations()]
    assert list(nodes["model/product"].input) == ["model/x", "model/Const"]
    assert nodes["model/x"].attr["_output_shapes"].list.shape[0].dim[0].size == -1
    assert nodes["model/x"].attr["dtype"].type == tf.float32.as_datatype_enum
    assert tf.make_ndarray(nodes["model/Const"].attr["value"].tensor).tolist() == [[1], [2]]
    assert "^model/y" in nodes["after"].input
    verdicts = {"images": images, "events": hashlib.sha256(path.read_bytes()).hexdigest()}
    (RECORDED / "summaries.json").write_text(json.dumps(verdicts) + "\n")
    print("summaries: recorded")


if __name__ == "__main__":
    main()
