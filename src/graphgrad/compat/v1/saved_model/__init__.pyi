"""`tf.saved_model` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.v1.saved_model import builder as builder
from graphgrad.compat.v1.saved_model import constants as constants
from graphgrad.compat.v1.saved_model import experimental as experimental
from graphgrad.compat.v1.saved_model import loader as loader
from graphgrad.compat.v1.saved_model import main_op as main_op
from graphgrad.compat.v1.saved_model import signature_constants as signature_constants
from graphgrad.compat.v1.saved_model import signature_def_utils as signature_def_utils
from graphgrad.compat.v1.saved_model import tag_constants as tag_constants
from graphgrad.compat.v1.saved_model import utils as utils
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
from graphgrad.extras.import_v1.saved_model import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
from graphgrad.extras.import_v1.saved_model import MAIN_OP_KEY as MAIN_OP_KEY
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
from graphgrad.extras.import_v1.saved_model import build_signature_def as build_signature_def
from graphgrad.extras.import_v1.saved_model import build_tensor_info as build_tensor_info
from graphgrad.extras.import_v1.saved_model import classification_signature_def as classification_signature_def
from graphgrad.extras.import_v1.saved_model import contains_saved_model as contains_saved_model
from graphgrad.extras.import_v1.saved_model import get_tensor_from_tensor_info as get_tensor_from_tensor_info
from graphgrad.extras.import_v1.saved_model import is_valid_signature as is_valid_signature
from graphgrad.extras.import_v1.saved_model import load as load
from graphgrad.extras.import_v1.saved_model import main_op_with_restore as main_op_with_restore
from graphgrad.extras.import_v1.saved_model import maybe_saved_model_directory as maybe_saved_model_directory
from graphgrad.extras.import_v1.saved_model import predict_signature_def as predict_signature_def
from graphgrad.extras.import_v1.saved_model import regression_signature_def as regression_signature_def
from graphgrad.extras.import_v1.saved_model_builder import SavedModelBuilder as Builder
from graphgrad.extras.import_v1.saved_model_builder import simple_save as simple_save
from graphgrad.extras.pipelines.asset import Asset as Asset
from graphgrad.extras.saved_model.load import load as load_v2
from graphgrad.extras.saved_model.save import save as save

__all__ = [
    "ASSETS_DIRECTORY", "ASSETS_KEY", "Asset", "Builder", "CLASSIFY_INPUTS", "CLASSIFY_METHOD_NAME",
    "CLASSIFY_OUTPUT_CLASSES", "CLASSIFY_OUTPUT_SCORES", "DEBUG_DIRECTORY", "DEBUG_INFO_FILENAME_PB",
    "DEFAULT_SERVING_SIGNATURE_DEF_KEY", "GPU", "LEGACY_INIT_OP_KEY", "MAIN_OP_KEY", "PREDICT_INPUTS",
    "PREDICT_METHOD_NAME", "PREDICT_OUTPUTS", "REGRESS_INPUTS", "REGRESS_METHOD_NAME", "REGRESS_OUTPUTS",
    "SAVED_MODEL_FILENAME_PB", "SAVED_MODEL_FILENAME_PBTXT", "SAVED_MODEL_SCHEMA_VERSION", "SERVING", "TPU", "TRAINING",
    "VARIABLES_DIRECTORY", "VARIABLES_FILENAME", "build_signature_def", "build_tensor_info", "builder",
    "classification_signature_def", "constants", "contains_saved_model", "experimental", "get_tensor_from_tensor_info",
    "is_valid_signature", "load", "load_v2", "loader", "main_op", "main_op_with_restore", "maybe_saved_model_directory",
    "predict_signature_def", "regression_signature_def", "save", "signature_constants", "signature_def_utils",
    "simple_save", "tag_constants", "utils"
]
