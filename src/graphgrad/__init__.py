"""graphgrad: `tf.gradients` as a system of its own.

`import graphgrad as tf` behaves as TensorFlow 2 does, `import graphgrad.v1 as tf` as
TensorFlow 1; `graphgrad.compat.v1` has the names of 1.x without its graph mode.
"""

from graphgrad import compat as compat
from graphgrad.compat.v2 import *  # noqa: F403  # the same names

# What a name that is missing gets to hear.
from graphgrad.compat.missing import listing as _listing
from graphgrad.compat.missing import missing_attribute as _missing_attribute
from graphgrad.compat.v2 import _LATER

__getattr__ = _missing_attribute(__name__, _LATER)
__dir__ = _listing(__name__)
