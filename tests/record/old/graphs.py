"""Records graphs into tests/recorded/graphs.npz; run with an interpreter that has TensorFlow 2.21.

- `<kind>/meta`, `/index`, `/data`: a checkpoint that TensorFlow wrote, with its graph, `/values/*`: what it computes;
- `saved_model/*`: the same as a saved model;
- `ours/meta`: the graph that graphgrad writes, `ours/values/*`: what TensorFlow computes from it.
"""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from graphgrad.compat import v1 as gg
from graphgrad.executor.runtime.session import HostSession
from tests.extras import graph_cases
from tests.record import RECORDED


def _bytes(path: Any) -> np.ndarray:
    return np.frombuffer(pathlib.Path(path).read_bytes(), np.uint8)


def _record(recorded: dict[str, np.ndarray], kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default() as graph:
        init = graph_cases.build(tf)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(init)
            session.run("step", {"x:0": graph_cases.X, "rows:0": graph_cases.ROWS})
            path = saver.save(session, f"{folder}/model")
            for part, file in (("meta", ".meta"), ("index", ".index"), ("data", ".data-00000-of-00001")):
                recorded[f"{kind}/{part}"] = _bytes(path + file)
            if kind == "resource":
                tf.saved_model.simple_save(session, f"{folder}/model_dir", {"x": graph.get_tensor_by_name("x:0")},
                                           {"loss": graph.get_tensor_by_name("loss:0")})
                recorded["saved_model/pb"] = _bytes(f"{folder}/model_dir/saved_model.pb")
            for name, value in graph_cases.values(session).items():
                recorded[f"{kind}/values/{name}"] = value


def _ours(recorded: dict[str, np.ndarray]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with gg.Graph().as_default():
            init = graph_cases.build(gg)
            saver = gg.train.Saver()
            with HostSession() as session:
                session.run(init)
                path = saver.save(session, f"{folder}/model")
        recorded["ours/meta"] = _bytes(path + ".meta")
        with tf.Graph().as_default(), tf.Session() as session:
            restorer = tf.train.import_meta_graph(path + ".meta")
            restorer.restore(session, path)
            assert [v.op.name for v in tf.trainable_variables()] == ["kernel", "table"]
            assert tf.get_collection("train_op")[0].name == "step" and len(tf.get_collection("ends")) == 1
            restorer.save(session, f"{folder}/again")  # its own way to save works
            for name, value in graph_cases.values(session).items():
                recorded[f"ours/values/{name}"] = value


def main() -> None:
    """Writes the recordings."""
    tf.disable_v2_behavior()
    tf.enable_control_flow_v2()
    recorded: dict[str, np.ndarray] = {}
    tf.enable_resource_variables()
    _record(recorded, "resource")
    tf.disable_resource_variables()
    _record(recorded, "reference")
    tf.enable_resource_variables()
    with gg.Graph().as_default():
        _ours(recorded)
    np.savez_compressed(RECORDED / "graphs.npz", **recorded)


if __name__ == "__main__":
    main()
