"""`tensorflow` as this package, for programs run by `graphgrad run`."""

from __future__ import annotations

import functools
import importlib
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1
import graphgrad.compat.v2
from graphgrad.compat import importing


@pytest.fixture
def as_tensorflow() -> Iterator[Any]:
    """Installs the aliases for a test, and gives the function that does."""
    hidden = {n: m for n, m in sys.modules.items() if n.split(".")[0] == "tensorflow"}
    for name in hidden:
        del sys.modules[name]
    yield importing.install
    importing.uninstall()
    sys.modules.update(hidden)


def test_face_of_1(as_tensorflow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 1 is the face of 1.x, with its graph mode on."""
    monkeypatch.delitem(sys.modules, "graphgrad.v1", raising=False)  # importing it is what turns graph mode on
    as_tensorflow(1)
    tf = importlib.import_module("tensorflow")
    assert tf.Session is graphgrad.compat.v1.Session
    assert not tf.executing_eagerly()
    assert not tf.control_flow_v2_enabled()
    assert tf.__name__ == "tensorflow"


def test_face_of_2(as_tensorflow: Any) -> None:
    """Version 2 is the face of 2.x."""
    as_tensorflow(2)
    tf = importlib.import_module("tensorflow")
    assert tf.function is graphgrad.compat.v2.function
    assert not hasattr(tf, "Session")
    assert tf.compat.v1.Session is graphgrad.compat.v1.Session


@pytest.mark.parametrize(("version", "said"), [(1, "1.15.5"), (2, "2.21.0")])
def test_metadata(as_tensorflow: Any, version: int, said: str) -> None:
    """The distribution `tensorflow` is there for whoever asks for it by name, while the aliases are."""
    as_tensorflow(version)
    assert metadata.version("tensorflow") == said == importlib.import_module("tensorflow").__version__
    assert metadata.distribution("TensorFlow").metadata["Name"] == "tensorflow"
    assert metadata.requires("tensorflow") is None
    assert metadata.version("numpy") == np.__version__
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.version("tensorflow-cpu")
    assert "tensorflow" not in {d.metadata["Name"] for d in metadata.distributions()}
    importing.uninstall()
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.version("tensorflow")


@pytest.mark.parametrize("version", [1, 2])
def test_compat(as_tensorflow: Any, version: int) -> None:
    """`tensorflow.compat.v1` and `.v2` are their faces under either version."""
    as_tensorflow(version)
    names: dict[str, Any] = {}
    exec("import tensorflow.compat.v1 as one\nimport tensorflow.compat.v2 as two\n"
         "from tensorflow.compat import v1\nfrom tensorflow.compat.v1 import nn", names)
    assert names["one"].Session is graphgrad.compat.v1.Session is names["v1"].Session
    assert names["two"].function is graphgrad.compat.v2.function
    assert names["nn"].relu is graphgrad.compat.v1.nn.relu


def test_inside(as_tensorflow: Any) -> None:
    """Modules of TensorFlow's inside give what is public elsewhere, ops and gradient functions."""
    from graphgrad.ir.opdef import registry

    as_tensorflow(1)
    names: dict[str, Any] = {}
    exec("from tensorflow.python.framework import ops, dtypes, tensor_shape\n"
         "from tensorflow.python.ops import array_ops, math_ops, gen_math_ops, math_grad, gradients\n"
         "from tensorflow.python.ops.gradients_impl import gradients as g\n"
         "import tensorflow.python.framework.ops as o", names)
    v1 = graphgrad.compat.v1
    assert names["ops"].RegisterGradient is v1.RegisterGradient is names["o"].RegisterGradient
    assert names["ops"].Tensor is v1.Tensor
    assert names["dtypes"].float32 is v1.float32
    assert names["tensor_shape"].TensorShape is v1.TensorShape
    assert names["math_ops"].reduce_sum is v1.reduce_sum
    assert names["array_ops"].shape is v1.shape
    assert names["gen_math_ops"].mat_mul is registry["MatMul"]
    assert names["math_grad"]._MulGrad is registry["Mul"].gradient
    assert names["g"] is v1.gradients is names["gradients"].gradients


def test_contrib(as_tensorflow: Any) -> None:
    """What programs for 1.x import from `tf.contrib`, in the ways they do."""
    from graphgrad.extras.contrib.layers import arg_scope, contrib_layers

    as_tensorflow(1)
    names: dict[str, Any] = {}
    exec("import tensorflow as tf\nimport tensorflow.contrib as c\nimport tensorflow.contrib.slim as slim\n"
         "import tensorflow.contrib.layers as layers\nfrom tensorflow.contrib import rnn, framework\n"
         "from tensorflow.contrib.layers import batch_norm, xavier_initializer\n"
         "from tensorflow.contrib.framework.python.ops import add_arg_scope\n"
         "from tensorflow.contrib.layers.python.layers import utils\n"
         "from tensorflow.python.layers.utils import smart_cond\nfrom tensorflow.python.platform import flags\n", names)
    assert names["batch_norm"] is contrib_layers.batch_norm is names["tf"].contrib.layers.batch_norm
    assert names["add_arg_scope"] is arg_scope.add_arg_scope is names["framework"].add_arg_scope
    assert names["tf"].contrib.framework.python.ops.add_arg_scope is arg_scope.add_arg_scope
    assert names["rnn"].GRUCell is graphgrad.compat.v1.nn.rnn_cell.GRUCell
    assert names["utils"].collect_named_outputs is contrib_layers.collect_named_outputs
    assert names["flags"].FLAGS is names["tf"].flags.FLAGS
    with pytest.raises(AttributeError, match="Did you mean 'fully_connected'"):
        names["layers"].fuly_connected  # noqa: B018  # reading it raises


def test_modules_programs_import(as_tensorflow: Any) -> None:
    """Modules beside the public ones, and names in modules: what is no module is an ImportError."""
    as_tensorflow(1)
    names: dict[str, Any] = {}
    exec("from tensorflow.examples.tutorials.mnist import input_data\n"
         "import tensorflow.examples.tutorials.mnist.input_data as again\n"
         "from tensorflow.contrib.opt import ScipyOptimizerInterface\n"
         "from tensorflow.python.util import tf_inspect\n"
         "from tensorflow.python.util.all_util import remove_undocumented\n"
         "from tensorflow.python.client import device_lib\nfrom tensorflow.python.framework import test_util\n"
         "from tensorflow.python.platform import test\n"
         "from tensorflow.python.training import moving_averages, slot_creator\n"
         "from tensorflow.python.ops.variables import PartitionedVariable\nimport tensorflow as tf\n", names)
    assert names["input_data"].read_data_sets is names["again"].read_data_sets
    assert names["tf_inspect"].getfullargspec(lambda a: a).args == ["a"]
    assert names["moving_averages"].assign_moving_average.__module__ == "graphgrad.training.optimizers.moving_averages"
    assert names["slot_creator"].create_zeros_slot.__module__ == "graphgrad.training.optimizers.slots"
    assert names["tf"].contrib.opt.ScipyOptimizerInterface is names["ScipyOptimizerInterface"]
    assert names["tf"].python.framework.ops.Tensor is names["tf"].Tensor
    assert issubclass(names["test_util"].TensorFlowTestCase, names["test"].TestCase)
    assert "CPU" in str(names["device_lib"].list_local_devices())
    assert names["PartitionedVariable"] is names["tf"].python.ops.variables.PartitionedVariable
    with pytest.raises(ImportError, match="no_such_function"):
        exec("from tensorflow.python.client.session import no_such_function")


def test_a_programs_changes_are_its_own(as_tensorflow: Any) -> None:
    """A program may assign to `tf.<name>`; this package stays as it is."""
    as_tensorflow(1)
    tf = importlib.import_module("tensorflow")
    tf.gradients = None
    assert graphgrad.compat.v1.gradients is not None


@pytest.mark.parametrize(("version", "name", "expected"), [
    (1, "placholder", "Did you mean 'placeholder'"),
    (1, "relu", "Fix: use tf.nn.relu"),
    (2, "Session", "tf.compat.v1.Session"),
    (2, "no_such_thing_at_all", "no such name"),
])
def test_missing_name(as_tensorflow: Any, version: int, name: str, expected: str) -> None:
    """A name that is not there is an AttributeError that says what was probably meant."""
    as_tensorflow(version)
    tf = importlib.import_module("tensorflow")
    with pytest.raises(AttributeError, match=expected):
        getattr(tf, name)
    assert not hasattr(tf, "__wrapped__")


@pytest.mark.parametrize("face", ["graphgrad", "graphgrad.compat.v1", "graphgrad.compat.v2"])
def test_missing_name_of_a_face(face: str) -> None:
    """The faces themselves say so too."""
    with pytest.raises(AttributeError, match="Did you mean 'gradients'"):
        importlib.import_module(face).gradiants  # noqa: B018  # reading it raises


@pytest.mark.parametrize(("module", "expected"), [
    ("tensorflow.contrib.tpu", "tf.contrib left TensorFlow"),
    ("tensorflow.contrib.layer", "Did you mean contrib.layers"),
    ("tensorflow.examples.image_retraining", "load_digits"),
    ("tensorflow.keras.layers", "Keras is a library on top of TensorFlow, which graphgrad uses"),
    ("tensorflow.python.keras.layers", "Keras is a library on top of TensorFlow, which graphgrad uses"),
    ("tensorflow.placehoder", "Did you mean 'placeholder'"),
    ("tensorflow.python.ops.math_ops.reduce_nothing", "no such module"),
    ("tensorflow.nonsense", "no such module"),
])
def test_missing_module(as_tensorflow: Any, module: str, expected: str) -> None:
    """A module that is not there is a ModuleNotFoundError with a remedy."""
    as_tensorflow(1)
    with pytest.raises(ModuleNotFoundError, match=expected):
        importlib.import_module(module)


def test_tensorflow_itself_stays(as_tensorflow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where TensorFlow is imported already, nothing is put in its place."""
    monkeypatch.setitem(sys.modules, "tensorflow", pytest)
    with pytest.raises(RuntimeError, match="imported already"):
        as_tensorflow(1)
    with pytest.raises(ValueError, match="1 or 2"):
        as_tensorflow(3)


@pytest.mark.parametrize(("text", "version"), [
    ("import tensorflow as tf\ntf.Session()", 1),
    ("import tensorflow as t\nx = t.placeholder(t.float32)", 1),
    ("import tensorflow\ntensorflow.train.AdamOptimizer(1.0)", 1),
    ("from tensorflow.contrib import slim", 1),
    ("from tensorflow import placeholder", 1),
    ("import tensorflow as tf\n@tf.function\ndef f(): return tf.gradients(1, 1)", 2),
    ("import tensorflow as tf\ntf.train.Checkpoint()", 2),
    ("import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\ntf.Session()", 2),
    ("import tensorflow as tf\ntf = tf.compat.v1\ntf.Session()", 2),
    ("import numpy as tf\ntf.log(1.0)", 2),
    ("import model", 1),
    ("from model import something", 1),
    ("this is (no program", 2),
])
def test_detect_version(tmp_path: pathlib.Path, text: str, version: int) -> None:
    """Names that only 1.x has, in the program or a module beside it, mean 1; speaking of compat means 2."""
    (tmp_path / "model.py").write_text("import tensorflow as tf\nsess = tf.InteractiveSession()\n")
    program = tmp_path / "program.py"
    program.write_text(text)
    assert importing.detect_version(str(program)) == version


@pytest.mark.parametrize(("version", "text"), [(1, "1.15.5"), (2, "2.21.0")])
def test_all_faces_are_of_one_version(as_tensorflow: Any, version: int, text: str) -> None:
    """`tf.compat.v1` tells the version of the TensorFlow that it is a part of."""
    as_tensorflow(version)
    names = ["tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2"]
    assert [importlib.import_module(name).__version__ for name in names] == [text] * 3
    tf = importlib.import_module("tensorflow")
    for face in (tf, tf.compat.v1, tf.compat.v2, tf.compat.v1.compat.v1):
        assert {face.__version__, face.version.VERSION, getattr(face, "VERSION", text)} == {text}
        assert getattr(face, "GIT_VERSION", face.version.GIT_VERSION) == face.version.GIT_VERSION


def test_imported_faces_are_of_one_version() -> None:
    """What is imported by graphgrad's own names, too: `graphgrad.v1` is TensorFlow 1, the others are 2.21."""
    program = """
import graphgrad.compat.v1 as tf, graphgrad as tf2, graphgrad.v1 as tf1
for face, text in ((tf, "2.21.0"), (tf2, "2.21.0"), (tf1, "1.15.5")):
    assert {face.__version__, face.version.VERSION} == {text}
    assert {face.compat.v1.__version__, face.compat.v1.VERSION, face.compat.v1.version.VERSION} == {text}
assert tf1.VERSION == "1.15.5" and tf1.compat.v1 is tf1 and tf1.compat.as_str(b"text") == "text"
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_names_of_layers(as_tensorflow: Any) -> None:
    """Modules of layers have the functions of `tf.layers`; small functions on arguments are there."""
    as_tensorflow(2)
    import tensorflow as tf
    from tensorflow.compat import v1
    from tensorflow.python.layers import convolutional, utils

    assert convolutional.conv1d is v1.layers.conv1d
    assert [utils.constant_value(v) for v in (True, 0, tf.constant(True))] == [True, False, True]
    assert utils.convert_data_format("channels_first", 4) == "NCHW" and utils.normalize_tuple(2, 3, "n") == (2, 2, 2)
    assert utils.normalize_padding("SAME") == "same" and utils.normalize_data_format("Channels_Last") == "channels_last"
    with tf.Graph().as_default():
        assert utils.constant_value(v1.placeholder(tf.bool, [])) is None
        assert utils.constant_value(tf.Variable(True)) is None
    for call in (lambda: utils.convert_data_format("NHWC", 4), lambda: utils.convert_data_format("channels_last", 6),
                 lambda: utils.normalize_tuple((1, 2), 3, "n"), lambda: utils.normalize_padding("full"),
                 lambda: utils.normalize_tuple(("a",), 1, "n")):
        with pytest.raises(ValueError, match=r"nvalid|argument|supported"):
            call()
    with pytest.raises(TypeError, match="`pred` must be"):
        utils.constant_value(2)


def test_what_estimators_import(as_tensorflow: Any, tmp_path: pathlib.Path) -> None:
    """Outputs become signatures, functions tell their arguments; what is for TPUs says so."""
    as_tensorflow(2)
    import tensorflow as tf
    from tensorflow.python.distribute import estimator_training
    from tensorflow.python.eager import monitoring
    from tensorflow.python.feature_column import feature_column, feature_column_v2
    from tensorflow.python.saved_model import model_utils, path_helpers
    from tensorflow.python.tpu import tensor_tracer, tpu_embedding
    from tensorflow.python.training import training_util
    from tensorflow.python.util import function_utils, module_wrapper

    with tf.Graph().as_default():
        x, words = tf.constant([1.0]), tf.constant(["a"])
        outputs = {"serving_default": model_utils.PredictOutput({"y": x}), "r": model_utils.RegressionOutput(x),
                   "c": model_utils.ClassificationOutput(x, words)}
        assert sorted(model_utils.build_all_signature_defs(words, outputs)) == ["c", "r", "serving_default"]
        found = model_utils.build_all_signature_defs({"a": x}, outputs, {"more": words})
        assert sorted(found) == ["more:c", "more:r", "more:serving_default", "serving_default"]
        trained = model_utils.export_outputs_for_mode("train", None, x, x, {"m": (x, x.op)})["train"]
        signature = trained.as_signature_def({"x": x})
        assert sorted(signature.outputs) == ["loss", "metrics/m/update_op", "metrics/m/value", "predictions"]
        assert list(model_utils.export_outputs_for_mode("infer", None, x)) == ["serving_default"]
        assert model_utils.EXPORT_TAG_MAP["eval"] == ["eval"] and "other" not in model_utils.SIGNATURE_KEY_MAP
        for call in (lambda: model_utils.ClassificationOutput(), lambda: model_utils.RegressionOutput(words),
                     lambda: model_utils.PredictOutput({"y": 3}), lambda: model_utils.PredictOutput({3: x}),
                     lambda: model_utils.ClassificationOutput(words), lambda: model_utils.ClassificationOutput(x, x),
                     lambda: model_utils.build_all_signature_defs(x, x),
                     lambda: model_utils.export_outputs_for_mode("other"),
                     lambda: model_utils.EXPORT_TAG_MAP["other"],
                     lambda: model_utils.get_export_outputs({"a": outputs["r"], "b": outputs["c"]}, None)):
            with pytest.raises(ValueError, match=r"must be|Cannot create|not found|Invalid mode|Multiple"):
                call()
        with pytest.raises(TypeError, match="must be dict"):
            model_utils.get_export_outputs(3, None)
        with pytest.raises(TypeError, match="must be ExportOutput objects"):
            model_utils.get_export_outputs({"a": 3}, None)
        assert training_util._get_or_create_global_step_read() is None
        tf.compat.v1.train.get_or_create_global_step()
        read = training_util._get_or_create_global_step_read()
        assert training_util._get_or_create_global_step_read() is read
    folder = model_utils.get_timestamped_export_dir(tmp_path)
    assert model_utils.get_temp_export_dir(folder).decode().rpartition("/")[2].startswith("temp-")
    assert pathlib.Path(path_helpers.get_or_create_variables_dir(folder)).is_dir()
    assert path_helpers.get_variables_path(folder).endswith("variables/variables")
    assert function_utils.fn_args(functools.partial(_function, 1, c=2)) == ("b",)
    assert function_utils.has_kwargs(_function) and function_utils.get_func_name(_function) == "_function"
    assert function_utils.fn_args(monitoring.BoolGauge("a", "b").get_cell("c").set) == ("value",)
    wrapped = module_wrapper.TFModuleWrapper(pathlib, "tf.pathlib")
    assert wrapped.Path is pathlib.Path and isinstance(wrapped, type(pathlib))
    assert feature_column._LazyBuilder is feature_column_v2.FeatureTransformationCache
    assert not tensor_tracer.TensorTracer.is_enabled()
    assert not estimator_training.should_run_distribute_coordinator(None)
    with pytest.raises(NotImplementedError, match="TPUEmbedding is not here.*TPUs"):
        tpu_embedding.TPUEmbedding()


def _function(a: Any, b: Any, c: Any = 0, **more: Any) -> None:
    """Does nothing."""


def test_names_that_two_modules_have(as_tensorflow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name in TensorFlow's inside is the first module's that has it, whichever were used before."""
    as_tensorflow(2)
    import graphgrad.compat.v1 as v1

    assert v1.initializers.identity is not v1.identity
    monkeypatch.delitem(vars(v1), "identity")  # as in a program that has not used it
    from tensorflow.python.ops import array_ops

    assert array_ops.identity is v1.identity


def test_what_python_has_not_loaded() -> None:
    """A module of Python's that the table of libraries needs itself may be loaded while `tensorflow` is graphgrad."""
    program = ("import sys\n"
               "from graphgrad.compat.importing import install\n"
               "for name in ('importlib.util', 'graphgrad.compat.libraries'): sys.modules.pop(name, None)\n"
               "install(2)\n"
               "import tensorflow as tf\n"
               "print(getattr(tf, 'keras', 'none'))\n")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert not result.returncode or "pip install" in result.stderr, result.stderr
