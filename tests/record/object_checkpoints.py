"""Records a checkpoint of objects of TensorFlow 2, and that TensorFlow restores graphgrad's. Beside TensorFlow 2.21.

`tests/recorded/checkpoints/objects-1.*` is TensorFlow's; `objects.json` holds the values that it restores, its object
graph, and the digest of the files by graphgrad which TensorFlow restored to the same values.
"""

from __future__ import annotations

import json
import pathlib
import tempfile
from typing import Any

import graphgrad.compat.v1 as gg1
import graphgrad.compat.v2 as gg2
from tests.training.object_checkpoint_cases import FOLDER, digest, objects, restored


def main() -> None:
    """Writes the recordings."""
    import tensorflow as tf

    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(**objects(tf, tf.compat.v1, True)).save(f"{folder}/objects")
        for end in (".index", ".data-00000-of-00001"):
            (FOLDER / f"objects-1{end}").write_bytes(pathlib.Path(path + end).read_bytes())
        found["values"] = restored(tf, tf.compat.v1, path)
        reader = tf.train.load_checkpoint(path)
        found["shapes"] = reader.get_variable_to_shape_map()
        found["graph"] = reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH").hex()
        ours = gg2.train.Checkpoint(**objects(gg2, gg1, True)).save(f"{folder}/ours")
        assert restored(tf, tf.compat.v1, ours) == found["values"]
        found["digest"] = digest(ours)
    (FOLDER / "objects.json").write_text(json.dumps(found, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
