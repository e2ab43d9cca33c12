"""Records the attributes of TensorFlow 2.21's op types, into tests/recorded/attributes.json.gz and choices.json."""

from __future__ import annotations

import gzip
import json

from tests.record import RECORDED


def main() -> None:
    """Writes the names of attributes by op type; and, of those that are one of some words, the words."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    recorded = {op.name: sorted(a.name for a in op.attr) for op in ops.op}
    with gzip.GzipFile(RECORDED / "attributes.json.gz", "wb", mtime=0) as file:
        file.write(json.dumps(recorded, sort_keys=True).encode())
    choices: dict[str, dict[str, list[str]]] = {}
    for op in ops.op:
        for a in op.attr:
            if a.type == "string" and a.HasField("allowed_values"):
                choices.setdefault(op.name, {})[a.name] = sorted(s.decode() for s in a.allowed_values.list.s)
    (RECORDED / "choices.json").write_text(json.dumps(choices, sort_keys=True, indent=0) + "\n")


if __name__ == "__main__":
    main()
