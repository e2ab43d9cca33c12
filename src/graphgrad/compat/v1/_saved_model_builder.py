"""`tf.saved_model.builder`."""

from graphgrad.extras.import_v1.saved_model import SavedModelBuilder as SavedModelBuilder

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
