"""Records checkpoints of TensorFlow into tests/recorded/checkpoints/, and what it says of those that graphgrad writes.

Run it beside TensorFlow 2.21:

    python -m tests.record.checkpoints

- `model-3.*`, `checkpoint`: what its Saver writes for `checkpoint_cases.build`;
- `parts`: a saved model with a variable in parts;
- `verdicts.json`: the digests of the files that TensorFlow writes, and of those of graphgrad
  that it read, with the same values; what it gets from graphgrad's saved model with a variable in parts, and from a
  checkpoint whose writer ended before all files had their names.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import tempfile
from typing import Any

import numpy as np

from graphgrad.ir.dtypes import as_dtype
from graphgrad.training.checkpoints.bundle_writer import write_bundle
from tests.record import RECORDED
from tests.training import checkpoint_cases


def _same(tf: Any, prefix: pathlib.Path, expected: dict[str, Any]) -> bool:
    """Whether TensorFlow reads these values, and no others."""
    reader = tf.train.NewCheckpointReader(str(prefix))
    read = {name: np.asarray(reader.get_tensor(name)) for name in reader.get_variable_to_shape_map()}
    return set(read) == set(expected) and all(
        read[n].dtype == np.asarray(e).dtype and np.array_equal(read[n], e) for n, e in expected.items()
    )


def _parts(tf: Any, theirs: pathlib.Path, ours: pathlib.Path) -> Any:
    """Writes a saved model by each; what TensorFlow gets from graphgrad's."""
    import graphgrad.compat.v1 as gg
    from graphgrad.executor.runtime.session import HostSession

    for module, kind, folder in ((tf, tf.Session, theirs), (gg, HostSession, ours)):
        with module.Graph().as_default() as graph, kind(graph=graph) as sess:
            x, y = checkpoint_cases.build_parts(module)
            sess.run(module.global_variables_initializer())
            module.saved_model.simple_save(sess, str(folder), {"x": x}, {"y": y})
    found = []
    for folder in (theirs, ours):
        with tf.Graph().as_default(), tf.Session() as sess:
            found.append(checkpoint_cases.looked_up(tf, sess, folder))
    assert found[0] == found[1]
    return found[1]


def _halfway(tf: Any, prefix: pathlib.Path) -> Any:
    """What TensorFlow reads where graphgrad had named the new data in the index, and nothing more."""
    checkpoint_cases.overwrite_halfway(prefix)
    return tf.train.load_variable(str(prefix), "v").tolist()


def main() -> None:
    """Writes the recordings."""
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    folder = RECORDED / "checkpoints"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "parts", ignore_errors=True)
    temporary = pathlib.Path(tempfile.mkdtemp())
    verdicts = {}
    with tf.Graph().as_default(), tf.Session() as sess:
        checkpoint_cases.build(tf)
        sess.run(tf.global_variables_initializer())
        os.chdir(folder)
        saver = tf.train.Saver()
        saver.save(sess, "./model", global_step=3, write_meta_graph=False)
        verdicts["model-3"] = checkpoint_cases.digests(folder / "model-3")
        values, tensors = {}, []
        for variable in tf.global_variables():
            value = sess.run(variable)
            info = variable._get_save_slice_info()
            part = info and (tuple(info.full_shape), tuple(info.var_offset), tuple(info.var_shape))
            tensors.append((info.full_name if info else variable.op.name, as_dtype(variable.dtype.name), value, part))
            if not info:
                values[variable.op.name] = value
        values["in/parts"] = np.full((20000, 1), 5, np.int8)
        ours = temporary / "model-3"
        write_bundle(str(ours), tensors)
        assert _same(tf, ours, values)
        saver.restore(sess, str(ours))
        verdicts["model-3, read from graphgrad"] = checkpoint_cases.digests(ours)
    arrays = checkpoint_cases.many()
    with tf.Graph().as_default(), tf.Session() as sess:
        theirs = temporary / "theirs"
        sess.run(tf.raw_ops.SaveV2(prefix=str(theirs), tensor_names=list(arrays), shape_and_slices=[""] * len(arrays),
                                   tensors=list(arrays.values())))
        verdicts["many"] = checkpoint_cases.digests(theirs)
    ours = temporary / "ours"
    write_bundle(str(ours), [(n, as_dtype(a.dtype), a, None) for n, a in arrays.items()])
    assert _same(tf, ours, arrays)
    verdicts["many, read from graphgrad"] = checkpoint_cases.digests(ours)
    verdicts["parts"] = _parts(tf, folder / "parts", temporary / "parts")
    verdicts["overwritten halfway"] = _halfway(tf, temporary / "halfway")
    (folder / "verdicts.json").write_text(json.dumps(verdicts, indent=1) + "\n")
    shutil.rmtree(temporary)
    for name in ("model-3", "many"):
        print(name, "same bytes:", verdicts[name] == verdicts[f"{name}, read from graphgrad"])


if __name__ == "__main__":
    main()
