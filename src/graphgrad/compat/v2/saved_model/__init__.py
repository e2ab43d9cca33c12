"""`tf.saved_model`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.saved_model.experimental: experimental=.
graphgrad.extras.import_v1.saved_model: ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME
    CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB
    DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS
    REGRESS_METHOD_NAME REGRESS_OUTPUTS SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION
    SERVING TPU TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME contains_saved_model
graphgrad.extras.pipelines.asset: Asset
graphgrad.extras.saved_model.load: load
graphgrad.extras.saved_model.save: save
graphgrad.training.checkpoints.saved_model_options: LoadOptions SaveOptions
""")
