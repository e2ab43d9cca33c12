"""`tf.manip` of TensorFlow 1: shapes and places."""

# -- arrays --------------------------------------------------------------------------
from graphgrad.ops.gather import gather_nd_v1 as gather_nd
from graphgrad.ops.permute import reverse as reverse
from graphgrad.ops.permute import roll as roll
from graphgrad.ops.repetition import tile as tile
from graphgrad.ops.scatter import scatter_nd as scatter_nd
from graphgrad.ops.shapes import reshape as reshape
from graphgrad.ops.space import batch_to_space_nd as batch_to_space_nd
from graphgrad.ops.space import space_to_batch_nd as space_to_batch_nd

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
