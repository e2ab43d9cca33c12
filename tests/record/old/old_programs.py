"""Records programs as TensorFlow 1 built them, and what they compute, into `tests/recorded/old_programs.json.gz`.

Of each: the MetaGraphDef and in three runs the outputs, then the gradients of the first output, the outputs after three
training steps of the graph's own, and after three steps of an optimizer added to the graph. Run it with an interpreter
that has TensorFlow 2.21: `python -m tests.record.old.old_programs`.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
import zlib
from typing import Any

import numpy as np

from tests.record import RECORDED

FILE = RECORDED / "old_programs.json.gz"


def plain(value: Any) -> Any:
    """What is written for the value of a fetch."""
    if hasattr(value, "dense_shape"):
        dense = np.zeros(value.dense_shape, value.values.dtype)
        np.add.at(dense, value.indices, value.values)
        value = dense
    value = np.asarray(value)
    return [v.decode() for v in value.ravel().tolist()] if value.dtype == object else value.tolist()


def encoded(message: Any) -> str:
    """A message as text."""
    return base64.b64encode(zlib.compress(message.SerializeToString(deterministic=True), 9)).decode()


def record(tf: Any, case: Any) -> dict[str, Any]:
    """Builds and runs one case."""
    tf.reset_default_graph()
    graph = tf.get_default_graph()
    with graph.as_default():
        tf.set_random_seed(1)
        made = case(tf)
        init = made.get("init")
        if init is None:
            init = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer(),
                            tf.tables_initializer(), name="init_all")
        meta = tf.train.export_meta_graph(clear_extraneous_savers=False)
        meta.meta_info_def.ClearField("stripped_op_list")
        found: dict[str, Any] = {
            "graph": encoded(meta), "outputs": [t.name for t in made["outputs"]], "feeds": made["feeds"],
            "init": init.name, "init_feeds": made.get("init_feeds", {}), "xs": [t.name for t in made["xs"]],
            "train": made["train"].name if made.get("train") is not None else None}
        grads = tf.gradients(made["outputs"][0], made["xs"]) if made["xs"] else []
        with tf.Session() as sess:
            sess.run(init, found["init_feeds"])
            if made.get("queues"):
                found["queues"] = True
                coordinator = tf.train.Coordinator()
                threads = tf.train.start_queue_runners(sess, coordinator)
            runs = [{k: v[i] for k, v in made["feeds"].items()} for i in range(3)]
            found["values"] = [[plain(v) for v in sess.run(made["outputs"], run)] for run in runs]
            if made["xs"]:
                kept = [g for g in grads if g is not None]
                values = iter([plain(v) for v in sess.run(kept, runs[0])])
                found["gradients"] = [None if g is None else next(values) for g in grads]
            if found["train"]:
                for run in runs:
                    sess.run(found["train"], run)
                found["trained"] = [plain(v) for v in sess.run(made["outputs"], runs[0])]
            if tf.trainable_variables() and made["xs"] and not made.get("queues"):
                step = tf.train.GradientDescentOptimizer(0.05).minimize(made["outputs"][0])
                for run in runs:
                    sess.run(step, run)
                found["minimized"] = [plain(v) for v in sess.run(made["outputs"], runs[0])]
            if made.get("queues"):
                coordinator.request_stop()
                sess.close()
                coordinator.join(threads, stop_grace_period_secs=2, ignore_live_threads=True)
    return found


def from_text(producer: int, text: str, outputs: list[str], values: Any) -> Any:
    """A case that reads a graph."""

    def case(tf: Any) -> Any:
        from google.protobuf import text_format

        message = text_format.Parse(text, tf.GraphDef())
        message.versions.producer = producer
        tf.import_graph_def(message, name="")
        graph = tf.get_default_graph()
        made = [graph.get_tensor_by_name(n) for n in outputs]
        return {"outputs": made, "feeds": {"x:0": values}, "xs": []}

    return case


def main() -> None:
    """Records all cases, or those named."""
    import tensorflow.compat.v1 as tf

    from tests.extras.old_graphs import file_cases, function_cases, loop_cases, reference_cases

    tf.disable_v2_behavior()
    tf.disable_control_flow_v2()
    tf.disable_resource_variables()
    cases = {**reference_cases.CASES, **loop_cases.CASES, **function_cases.CASES, **file_cases.CASES}
    cases |= {name: from_text(*text) for name, text in file_cases.TEXTS.items()}
    only = set(sys.argv[1:])
    found = json.loads(gzip.decompress(FILE.read_bytes())) if only else {}
    failed = []
    for name, case in cases.items():
        if only and name not in only:
            continue
        try:
            found[name] = record(tf, case)
        except Exception as e:  # the others are recorded
            failed.append(f"{name}: {type(e).__name__}: {str(e)[:400]}")
            continue
        if name in file_cases.TEXTS:  # as it is written, with the version of who wrote it
            found[name]["text"], found[name]["producer"] = file_cases.TEXTS[name][1], file_cases.TEXTS[name][0]
    FILE.write_bytes(gzip.compress(json.dumps(found, sort_keys=True).encode(), 9, mtime=0))
    print(len(found), "programs")
    if failed:
        raise SystemExit("failed:\n" + "\n".join(failed))


if __name__ == "__main__":
    main()
