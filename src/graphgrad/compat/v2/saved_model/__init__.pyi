"""`tf.saved_model`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.saved_model import experimental as experimental
from graphgrad.extras.import_v1.saved_model import ASSETS_DIRECTORY as ASSETS_DIRECTORY
from graphgrad.extras.import_v1.saved_model import ASSETS_KEY as ASSETS_KEY
from graphgrad.extras.import_v1.saved_model import CLASSIFY_INPUTS as CLASSIFY_INPUTS
from graphgrad.extras.import_v1.saved_model import CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME
from graphgrad.extras.import_v1.saved_model import CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES
from graphgrad.extras.import_v1.saved_model import CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES
from graphgrad.extras.import_v1.saved_model import DEBUG_DIRECTORY as DEBUG_DIRECTORY
from graphgrad.extras.import_v1.saved_model import DEBUG_INFO_FILENAME_PB as DEBUG_INFO_FILENAME_PB
from graphgrad.extras.import_v1.saved_model import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
from graphgrad.extras.import_v1.saved_model import GPU as GPU
from graphgrad.extras.import_v1.saved_model import PREDICT_INPUTS as PREDICT_INPUTS
from graphgrad.extras.import_v1.saved_model import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
from graphgrad.extras.import_v1.saved_model import PREDICT_OUTPUTS as PREDICT_OUTPUTS
from graphgrad.extras.import_v1.saved_model import REGRESS_INPUTS as REGRESS_INPUTS
from graphgrad.extras.import_v1.saved_model import REGRESS_METHOD_NAME as REGRESS_METHOD_NAME
from graphgrad.extras.import_v1.saved_model import REGRESS_OUTPUTS as REGRESS_OUTPUTS
from graphgrad.extras.import_v1.saved_model import SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB
from graphgrad.extras.import_v1.saved_model import SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT
from graphgrad.extras.import_v1.saved_model import SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION
from graphgrad.extras.import_v1.saved_model import SERVING as SERVING
from graphgrad.extras.import_v1.saved_model import TPU as TPU
from graphgrad.extras.import_v1.saved_model import TRAINING as TRAINING
from graphgrad.extras.import_v1.saved_model import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
from graphgrad.extras.import_v1.saved_model import VARIABLES_FILENAME as VARIABLES_FILENAME
from graphgrad.extras.import_v1.saved_model import contains_saved_model as contains_saved_model
from graphgrad.extras.pipelines.asset import Asset as Asset
from graphgrad.extras.saved_model.load import load as load
from graphgrad.extras.saved_model.save import save as save
from graphgrad.training.checkpoints.saved_model_options import LoadOptions as LoadOptions
from graphgrad.training.checkpoints.saved_model_options import SaveOptions as SaveOptions

__all__ = [
    "ASSETS_DIRECTORY", "ASSETS_KEY", "Asset", "CLASSIFY_INPUTS", "CLASSIFY_METHOD_NAME", "CLASSIFY_OUTPUT_CLASSES",
    "CLASSIFY_OUTPUT_SCORES", "DEBUG_DIRECTORY", "DEBUG_INFO_FILENAME_PB", "DEFAULT_SERVING_SIGNATURE_DEF_KEY", "GPU",
    "LoadOptions", "PREDICT_INPUTS", "PREDICT_METHOD_NAME", "PREDICT_OUTPUTS", "REGRESS_INPUTS", "REGRESS_METHOD_NAME",
    "REGRESS_OUTPUTS", "SAVED_MODEL_FILENAME_PB", "SAVED_MODEL_FILENAME_PBTXT", "SAVED_MODEL_SCHEMA_VERSION", "SERVING",
    "SaveOptions", "TPU", "TRAINING", "VARIABLES_DIRECTORY", "VARIABLES_FILENAME", "contains_saved_model",
    "experimental", "load", "save"
]
