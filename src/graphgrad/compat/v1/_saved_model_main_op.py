"""`tf.saved_model.main_op`."""

from graphgrad.extras.import_v1.saved_model import main_op as main_op
from graphgrad.extras.import_v1.saved_model import main_op_with_restore as main_op_with_restore

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
