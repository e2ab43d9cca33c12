"""`tf.saved_model.tag_constants`."""

from graphgrad.extras.import_v1.saved_model import GPU as GPU
from graphgrad.extras.import_v1.saved_model import SERVING as SERVING
from graphgrad.extras.import_v1.saved_model import TPU as TPU
from graphgrad.extras.import_v1.saved_model import TRAINING as TRAINING

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
