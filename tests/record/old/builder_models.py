"""Records models that TensorFlow's builder writes, and what it computes with them and with those written here.

    .venv/bin/python -m tests.extras.saved_model.builder_cases FOLDER
    .venv-tensorflow/bin/python -m tests.record.old.builder_models FOLDER

The first command writes all cases here. The second one has TensorFlow 2.21 write them, too, and read both: the results
must agree. They go into tests/recorded/saved_models/builder.json, TensorFlow's models into `builder_*.zip`.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import sys
import tempfile

from tests.extras.saved_model.builder_cases import CASES
from tests.extras.saved_model_cases import plain
from tests.record import RECORDED
from tests.record.saved_here import differences
from tests.record.saved_models import pack


def main() -> None:
    """Writes, reads and records all cases."""
    import tensorflow as tf

    root, ours = RECORDED / "saved_models", pathlib.Path(sys.argv[1])
    found = {}
    for name, (write, read) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            write(tf, pathlib.Path(folder))
            model = str(shutil.move(f"{folder}/model", f"{folder}/moved"))
            pack(pathlib.Path(model), root / f"builder_{name}.zip")
            found[name] = json.loads(json.dumps(plain(tf, read(tf, model))))
        moved = str(shutil.move(ours / name / "model", ours / name / "moved"))
        wrong = differences(json.loads(json.dumps(plain(tf, read(tf, moved)))), found[name], name)
        print(f"{name}: {wrong[:5] or 'as from TensorFlow'}")
        assert not wrong
    (root / "builder.json").write_text(json.dumps(found, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
