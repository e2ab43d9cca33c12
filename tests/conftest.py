"""Makes `table` and `rows` importable, and the package from the source tree."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
for path in (os.path.join(os.path.dirname(_HERE), "src"), _HERE):
    if path not in sys.path:
        sys.path.insert(0, path)
