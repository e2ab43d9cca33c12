"""`tf.saved_model` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v1.saved_model.builder: builder=.
graphgrad.compat.v1.saved_model.constants: constants=.
graphgrad.compat.v1.saved_model.experimental: experimental=.
graphgrad.compat.v1.saved_model.loader: loader=.
graphgrad.compat.v1.saved_model.main_op: main_op=.
graphgrad.compat.v1.saved_model.signature_constants: signature_constants=.
graphgrad.compat.v1.saved_model.signature_def_utils: signature_def_utils=.
graphgrad.compat.v1.saved_model.tag_constants: tag_constants=.
graphgrad.compat.v1.saved_model.utils: utils=.
graphgrad.extras.import_v1.saved_model: ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME
    CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB
    DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU LEGACY_INIT_OP_KEY MAIN_OP_KEY PREDICT_INPUTS PREDICT_METHOD_NAME
    PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS SAVED_MODEL_FILENAME_PB
    SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING TPU TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME
    build_signature_def build_tensor_info classification_signature_def contains_saved_model get_tensor_from_tensor_info
    is_valid_signature load main_op_with_restore maybe_saved_model_directory predict_signature_def
    regression_signature_def
graphgrad.extras.import_v1.saved_model_builder: Builder=SavedModelBuilder simple_save
graphgrad.extras.pipelines.asset: Asset
graphgrad.extras.saved_model.load: load_v2=load
graphgrad.extras.saved_model.save: save
""")
