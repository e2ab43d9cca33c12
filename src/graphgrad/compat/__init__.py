"""The faces: TensorFlow's namespaces, as explicit re-exports."""

from . import v1 as v1
from . import v2 as v2
