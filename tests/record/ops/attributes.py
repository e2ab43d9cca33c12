"""Records the attributes of TensorFlow 2.21's op types, into tests/recorded/attributes.json.gz."""

from __future__ import annotations

import gzip
import json

from tests.record import RECORDED


def main() -> None:
    """Writes the names of attributes by op type."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    recorded = {op.name: sorted(a.name for a in op.attr) for op in ops.op}
    with gzip.GzipFile(RECORDED / "attributes.json.gz", "wb", mtime=0) as file:
        file.write(json.dumps(recorded, sort_keys=True).encode())


if __name__ == "__main__":
    main()
