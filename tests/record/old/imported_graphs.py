"""Records graphs with TensorFlow 1's own control flow and what they compute, into `tests/recorded/old_graphs.json`.

Run it with an interpreter that has TensorFlow 2.21: `python -m tests.record.old.imported_graphs`.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from tests.record import RECORDED


def main() -> None:
    """Builds and runs all cases."""
    import tensorflow.compat.v1 as tf

    from tests.extras.old_graphs.import_cases import CASES

    tf.disable_v2_behavior()
    tf.disable_control_flow_v2()
    found: dict[str, Any] = {}
    for name, case in CASES.items():
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            results, feeds = case(tf)
            sess.run(tf.global_variables_initializer())
            runs = [dict(zip(feeds, values, strict=True)) for values in zip(*feeds.values(), strict=True)]
            values = [[v.tolist() for v in sess.run(results, run)] for run in runs]
            message = graph.as_graph_def().SerializeToString(deterministic=True)
            graph_def = base64.b64encode(zlib.compress(message, 9)).decode()
            found[name] = {"graph": graph_def, "results": [t.name for t in results], "values": values}
            if "x:0" in feeds and name != "updates":
                y = next(t for t in results if t.dtype == tf.float32)
                (dx,) = tf.gradients(y, [graph.get_tensor_by_name("x:0")])
                found[name]["gradients"] = [sess.run(dx, run).tolist() for run in runs]
    (RECORDED / "old_graphs.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
