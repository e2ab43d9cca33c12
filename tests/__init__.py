"""Tests, a room for each room of the package; docs/inside/testing.md says what is where."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
if str(ROOT / "src") not in sys.path:
    sys.path.insert(0, str(ROOT / "src"))  # for what is run as `python -m tests.<room>.<name>`
