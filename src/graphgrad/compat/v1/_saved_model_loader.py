"""`tf.saved_model.loader`."""

from graphgrad.extras.import_v1.saved_model import load as load
from graphgrad.extras.import_v1.saved_model import maybe_saved_model_directory as maybe_saved_model_directory

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
