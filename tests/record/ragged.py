"""Evaluates the expressions of `ragged_cases.py` with TensorFlow, into `tests/recorded/ragged.json`.

Writes the scripts of all code points, as TensorFlow knows them, into
`src/graphgrad/extras/strings/unicode_scripts.py` too.
"""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np
import tensorflow as tf

from tests import ROOT
from tests.extras import ragged_cases as cases


def main() -> None:
    """Writes both files."""
    found = {e: cases.evaluated(tf, e) for group in cases.EXPRESSIONS for e in cases.expressions(group)}
    lines = [f"{json.dumps(e)}: {json.dumps(v)}" for e, v in found.items()]
    cases.FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(found)} expressions, {sum(v[0] == 'error' for v in found.values())} of them errors")

    codes = tf.strings.unicode_script(np.arange(0x110000, dtype=np.int32)).numpy()
    starts = np.r_[0, np.flatnonzero(np.diff(codes)) + 1]
    sizes = np.diff(np.r_[starts, 0x110000]).astype("<u4")
    text = base64.b85encode(zlib.compress(sizes.tobytes() + codes[starts].astype("<i2").tobytes(), 9)).decode()
    path = ROOT / "src" / "graphgrad" / "extras" / "strings" / "unicode_scripts.py"
    head, _, _ = path.read_text().partition("RANGES = (")
    lines = [f'    "{text[i : i + 100]}",\n' for i in range(0, len(text), 100)]
    path.write_text(head + "RANGES = (\n" + "".join(lines) + ")\n")


if __name__ == "__main__":
    main()
