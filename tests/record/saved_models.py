"""Records models that TensorFlow saves, into tests/recorded/saved_models/, and what it computes with them.

Run it beside TensorFlow 2.21: `python -m tests.record.saved_models [CASE ...]`. `results.json` holds the results of
`saved_model_cases.use_*` on the loaded models.
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
import zipfile
from typing import Any

from tests.record import RECORDED


def pack(model: pathlib.Path, path: pathlib.Path) -> None:
    """Packs a folder, with a fixed date."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for part in sorted(p for p in model.rglob("*") if p.is_file()):
            file.writestr(zipfile.ZipInfo(part.relative_to(model).as_posix()), part.read_bytes(), zipfile.ZIP_DEFLATED)


def main() -> None:
    """Saves, loads and uses all cases, or those that are named."""
    import tensorflow as tf

    from tests.extras.saved_model_cases import CASES, plain

    root = RECORDED / "saved_models"
    root.mkdir(exist_ok=True)
    results = root / "results.json"
    found: dict[str, Any] = json.loads(results.read_text()) if results.exists() else {}
    for name in sys.argv[1:] or CASES:
        build, use = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model"
            value, further = build(tf, pathlib.Path(folder))
            if value is not None:  # else the model has been written
                tf.saved_model.save(value, str(model), **further)
            pack(model, root / f"{name}.zip")
            found[name] = plain(tf, use(tf, tf.saved_model.load(str(model))))
    results.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
