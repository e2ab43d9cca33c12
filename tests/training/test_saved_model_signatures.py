"""Constants and signatures of saved models, and changing them in files; values are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import pytest

import graphgrad.compat.v1 as tf
import graphgrad.compat.v2 as tf2

S = tf.saved_model


def test_constants() -> None:
    """The names of files and keys."""
    found = [S.ASSETS_DIRECTORY, S.ASSETS_KEY, S.DEBUG_DIRECTORY, S.DEBUG_INFO_FILENAME_PB, S.SAVED_MODEL_FILENAME_PB,
             S.SAVED_MODEL_FILENAME_PBTXT, S.SAVED_MODEL_SCHEMA_VERSION, S.VARIABLES_DIRECTORY]
    assert found == ["assets", "saved_model_assets", "debug", "saved_model_debug_info.pb", "saved_model.pb",
                     "saved_model.pbtxt", 1, "variables"]
    assert S.constants.MAIN_OP_KEY == "saved_model_main_op" and tf2.saved_model.SERVING == "serve"


def test_signatures(graph: Any) -> None:
    """Classification and regression."""
    words, numbers = tf.placeholder(tf.string, [None], name="w"), tf.placeholder(tf.float32, [None], name="n")
    made = S.classification_signature_def(words, words, numbers)
    assert made.method_name == "tensorflow/serving/classify" and sorted(made.outputs) == ["classes", "scores"]
    assert S.is_valid_signature(made) and made.inputs["inputs"].name == "w:0"
    made = S.regression_signature_def(words, numbers)
    assert made.method_name == "tensorflow/serving/regress" and made.outputs["outputs"].name == "n:0"
    for call, text in (
        (lambda: S.classification_signature_def(None, words, numbers), "`examples` cannot be None"),
        (lambda: S.classification_signature_def(words, None, None), "cannot both be None"),
        (lambda: S.classification_signature_def(numbers, words, None), "(?s)must be of type string.*Fix:"),
        (lambda: S.classification_signature_def(words, numbers, None), "(?s)classes must be of type string.*Fix:"),
        (lambda: S.classification_signature_def(words, None, words), "(?s)scores must be of type float.*Fix:"),
        (lambda: S.regression_signature_def(words, None), "`predictions` cannot be None"),
        (lambda: S.regression_signature_def(words, words), "(?s)must be of type float.*Fix:"),
    ):
        with pytest.raises(ValueError, match=text):
            call()


def test_method_names(graph: Any, tmp_path: Any) -> None:
    """Another name for a signature's method; what initializes everything."""
    folder = str(tmp_path / "model")
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.get_variable("v", initializer=2.0)
    with tf.Session() as session:
        session.run(S.main_op.main_op())
        S.simple_save(session, folder, {"x": x}, {"y": x * v})
    assert S.contains_saved_model(folder) and not tf2.saved_model.contains_saved_model(str(tmp_path))
    updater = S.signature_def_utils.MethodNameUpdater(folder)
    updater.replace_method_name("serving_default", "mine", "serve")
    updater.save(str(tmp_path / "other"))
    updater.save()
    with tf.Graph().as_default(), tf.Session() as session:
        assert S.load(session, ["serve"], folder).signature_def["serving_default"].method_name == "mine"
    with pytest.raises(ValueError, match="(?s)could not be found in SavedModel.*Fix:"):
        updater.replace_method_name("other", "mine")
    with pytest.raises(OSError, match="(?s)does not exist.*Fix:"):
        S.signature_def_utils.MethodNameUpdater(str(tmp_path))
