"""Records a checkpoint of objects of TensorFlow 2, and that TensorFlow restores graphgrad's. Beside TensorFlow 2.21.

`tests/recorded/checkpoints/objects-1.*` is TensorFlow's; `objects.json` holds the values that it restores, its object
graph, and the digest of the files by graphgrad which TensorFlow restored to the same values. `tests/recorded/tables/`
holds what TensorFlow writes of tables, and what it finds in graphgrad's files of them.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import tempfile
from typing import Any

import numpy as np

import graphgrad.compat.v1 as gg1
import graphgrad.compat.v2 as gg2
from tests.record import RECORDED
from tests.training.object_checkpoint_cases import FOLDER, digest, objects, restored
from tests.training.table_cases import WAYS, expected, read, tables, write_graph, write_objects

SEEDS = (3, 5, 11)


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
    _record_tables(tf)


def _record_tables(tf: Any) -> None:
    folder = RECORDED / "tables"
    shutil.rmtree(folder, ignore_errors=True)
    found: dict[str, Any] = {"seeds": list(SEEDS), "found": {}, "tensors": {}}
    for seed in SEEDS:
        chosen = tables(seed)
        theirs = folder / str(seed)
        theirs.mkdir(parents=True)
        write_graph(tf, tf.compat.v1, chosen, str(theirs))
        write_objects(tf, chosen, str(theirs))
        for debris in (*theirs.glob("checkpoint"), *theirs.rglob("fingerprint.pb"), *theirs.rglob("assets")):
            shutil.rmtree(debris) if debris.is_dir() else debris.unlink()
        with tempfile.TemporaryDirectory() as ours:
            write_graph(gg2, gg1, chosen, ours)
            write_objects(gg2, chosen, ours)
            found["found"][seed] = [w for w in WAYS if read(tf, tf.compat.v1, chosen, ours, w) == expected(chosen)]
            found["tensors"][seed] = {name: _tensors(tf, pathlib.Path(ours) / name) for name in ("graph", "objects")}
    (folder / "verdicts.json").write_text(json.dumps(found, sort_keys=True) + "\n")


def _tensors(tf: Any, path: pathlib.Path) -> dict[str, Any]:
    """Shapes, dtypes and values of the tables' tensors in a checkpoint."""
    reader = tf.train.load_checkpoint(str(path))
    names = [n for n in reader.get_variable_to_shape_map() if n.endswith(("-keys", "-values"))]
    arrays = {n: np.asarray(reader.get_tensor(n)) for n in sorted(names)}
    return {n: [list(a.shape), a.dtype.str, str(a.tolist())] for n, a in arrays.items()}


if __name__ == "__main__":
    main()
