"""Records random graphs as TensorFlow 1 built them, and what they compute; run beside TensorFlow 2.21.

    python -m tests.record.old.random_graphs                     the seeds of the test suite
    python -m tests.record.old.random_graphs FILE FIRST LAST     more; test_random_graphs.py compares them

A line of the file is [seed, graph, name of the initializer, fetches, values in three runs], or [seed, error]:
TensorFlow cannot differentiate all of them. Fetches are the result, its gradients by x and the variables, and the
variables after.
"""

from __future__ import annotations

import gzip
import json
import pathlib
import sys
from typing import Any

from tests.extras.old_graphs.random_graphs import RUNS, OldRunner, draw
from tests.record import RECORDED
from tests.record.old.old_programs import encoded

SEEDS = 30


def record(seed: int, tf: Any, v2: Any) -> list[Any]:
    """Builds and runs one program; every fourth has resource variables."""
    (tf.enable_resource_variables if seed % 4 == 3 else tf.disable_resource_variables)()
    with tf.Graph().as_default(), tf.Session() as sess:
        runner = OldRunner(tf, v2)
        x = tf.placeholder(tf.float64, [2], name="x")
        y = tf.identity(runner.block(draw(seed), [x]), name="y")
        grads = tf.gradients(y, [x, *runner.variables], unconnected_gradients="zero")
        grads = [tf.identity(g) for g in map(tf.convert_to_tensor, grads)]
        with tf.control_dependencies([*runner.last, y, *grads]):
            after = [v.read_value() * 1.0 for v in runner.variables]
        init = tf.global_variables_initializer()
        meta = tf.train.export_meta_graph()
        meta.meta_info_def.ClearField("stripped_op_list")
        fetches = [y, *grads, *after]
        sess.run(init)
        values = [[v.tolist() for v in sess.run(fetches, {x: value})] for value in RUNS]
        return [seed, encoded(meta), init.name, [t.name for t in fetches], values]


def main() -> None:
    """Writes the file."""
    import tensorflow as v2
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.disable_control_flow_v2()
    v2.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})  # programs run three times only
    path, seeds = RECORDED / "old_random_graphs.jsonl.gz", range(SEEDS)
    if sys.argv[1:]:
        path, seeds = pathlib.Path(sys.argv[1]), range(int(sys.argv[2]), int(sys.argv[3]))
    lines = []
    for seed in seeds:
        try:
            lines.append(record(seed, tf, v2))
        except Exception as e:  # the others are recorded
            lines.append([seed, f"{type(e).__name__}: {str(e)[:200]}"])
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode(), 9, mtime=0))
    print(sum(len(line) > 2 for line in lines), "of", len(lines), "graphs")


if __name__ == "__main__":
    main()
