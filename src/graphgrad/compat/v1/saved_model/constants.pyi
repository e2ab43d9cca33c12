"""`tf.saved_model.constants` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.import_v1.saved_model import ASSETS_DIRECTORY as ASSETS_DIRECTORY
from graphgrad.extras.import_v1.saved_model import ASSETS_KEY as ASSETS_KEY
from graphgrad.extras.import_v1.saved_model import DEBUG_DIRECTORY as DEBUG_DIRECTORY
from graphgrad.extras.import_v1.saved_model import DEBUG_INFO_FILENAME_PB as DEBUG_INFO_FILENAME_PB
from graphgrad.extras.import_v1.saved_model import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
from graphgrad.extras.import_v1.saved_model import MAIN_OP_KEY as MAIN_OP_KEY
from graphgrad.extras.import_v1.saved_model import SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB
from graphgrad.extras.import_v1.saved_model import SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT
from graphgrad.extras.import_v1.saved_model import SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION
from graphgrad.extras.import_v1.saved_model import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
from graphgrad.extras.import_v1.saved_model import VARIABLES_FILENAME as VARIABLES_FILENAME

__all__ = [
    "ASSETS_DIRECTORY", "ASSETS_KEY", "DEBUG_DIRECTORY", "DEBUG_INFO_FILENAME_PB", "LEGACY_INIT_OP_KEY", "MAIN_OP_KEY",
    "SAVED_MODEL_FILENAME_PB", "SAVED_MODEL_FILENAME_PBTXT", "SAVED_MODEL_SCHEMA_VERSION", "VARIABLES_DIRECTORY",
    "VARIABLES_FILENAME"
]
