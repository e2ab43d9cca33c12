"""Libraries on top of TensorFlow: what they find of its inside. The libraries themselves are not needed here."""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
import importlib.util
import sys
from typing import Any

import numpy as np
import pytest

import graphgrad
from graphgrad.cli import main
from graphgrad.compat import check_imports, importing, libraries
from graphgrad.ir.values import dispatch as state


@pytest.fixture
def tensorflow() -> Any:
    """`tensorflow` as programs for 2.x import it."""
    importing.install(2)
    try:
        yield importlib.import_module("tensorflow")
    finally:
        importing.uninstall()


# -- what a package uses and is missing --------------------------------------------------


@pytest.fixture
def package(tmp_path: Any) -> Any:
    """A package that uses names of TensorFlow's, some of which are missing."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "__init__.py").write_text(
        "import tensorflow as tf\nfrom tensorflow.python.ops import math_ops, init_ops\n"
        "x = tf.math.no_such_name\ny = tf.math.no_such_name(tf.exp)\nz = math_ops.reduce_sum, init_ops.GlorotNormal\n"
        "from tensorflow.no_such_module import thing\n")
    (tmp_path / "own" / "own_test.py").write_text("import tensorflow as tf\ntf.no_such_name_of_a_test\n")
    (tmp_path / "own" / "old.py").write_text("print 'for Python 2'\n")
    return tmp_path / "own"


def test_missing_names(package: Any) -> None:
    """Each missing name with its places; tests, and files that cannot be parsed, do not count."""
    found = check_imports.missing(str(package))
    assert set(found) == {"tensorflow.math.no_such_name", "tensorflow.no_such_module"}
    assert [place.rpartition(":")[2] for place in found["tensorflow.math.no_such_name"]] == ["3", "4"]
    assert "tensorflow" not in sys.modules


def test_the_report(package: Any, capsys: Any) -> None:
    """The report begins with the name that is used most."""
    main(["check-imports", str(package)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("2 names are missing") and lines[1].split()[:2] == ["tensorflow.math.no_such_name", "2"]
    (package / "__init__.py").write_text("import tensorflow as tf\ntf.exp\n")
    assert check_imports.report(str(package)).endswith("nothing is missing")
    with pytest.raises(ModuleNotFoundError, match="pip install --no-deps no_such_package"):
        check_imports.files("no_such_package")


# -- what is not here ----------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2])
def test_keras_that_is_not_installed(monkeypatch: Any, version: int) -> None:
    """The error says how to install it."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "tf_keras" else find(name, *a))
    face = importlib.import_module(f"graphgrad.compat.v{version}")
    with pytest.raises(AttributeError, match=r"Keras is a library.*pip install --no-deps tf_keras==2\.21\.0"):
        face.keras  # noqa: B018  # looking it up raises


_FILES = {
    "tf_keras/__init__.py": "__version__ = '2.0'\nfrom tf_keras import layers",
    "tf_keras/layers.py": "from tf_keras.src.layers import Dense",
    "tf_keras/src/__init__.py": "", "tf_keras/src/layers.py": "class Dense: pass\nclass Old: pass",
    "tf_keras/src/engine/__init__.py": "", "tf_keras/src/engine/functional.py": "class Functional: pass",
    "tf_keras/src/broken.py": "import nothing_of_this_name"}


def test_keras_by_its_old_name(tensorflow: Any, tmp_path: Any, monkeypatch: Any) -> None:
    """`import keras` is tf_keras while there is no package keras: its modules, and those inside by their old paths."""
    for name, text in _FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    own = importlib.machinery.PathFinder.find_spec
    monkeypatch.setattr(importlib.machinery.PathFinder, "find_spec",
                        lambda name, *a: None if name == "keras" else own(name, *a))
    try:
        keras, real = importlib.import_module("keras"), importlib.import_module("tf_keras")
        layers = importlib.import_module("keras.layers")
        assert keras.__version__ == "2.0" and keras.layers.Dense is layers.Dense is real.layers.Dense
        assert layers.Old.__module__ == "tf_keras.src.layers"
        inside = importlib.import_module("tf_keras.src.engine.functional")
        for path in ("keras.engine.functional", "keras.src.engine.functional"):
            assert importlib.import_module(path).Functional is inside.Functional
        with pytest.raises(ModuleNotFoundError, match=r"keras\.nothing"):
            importlib.import_module("keras.nothing")
        with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
            importlib.import_module("keras.broken")
        monkeypatch.setattr(importlib.machinery.PathFinder, "find_spec", own)
        importing.uninstall()
        assert "keras" not in sys.modules
    finally:
        for name in [n for n in sys.modules if n.partition(".")[0] in ("keras", "tf_keras")]:
            del sys.modules[name]


def test_stand_ins(tensorflow: Any) -> None:
    """What is for several devices can be looked at, and says so when it is called."""
    strategy = tensorflow.distribute.ParameterServerStrategy
    assert not isinstance(1, strategy)
    with pytest.raises(NotImplementedError, match="ParameterServerStrategy is not here.*several devices"):
        strategy()
    assert isinstance(tensorflow.distribute.get_strategy(), tensorflow.distribute.Strategy)
    for name in ("tpu.experimental.embedding.Adam", "distribute.experimental.partitioners.MinSizePartitioner"):
        absent = functools.reduce(getattr, name.split("."), tensorflow)
        with pytest.raises(NotImplementedError, match=name.rpartition(".")[2]):
            absent()
    feature = tensorflow.tpu.experimental.HardwareFeature
    assert feature.embedding_feature is feature.EmbeddingFeature.UNSUPPORTED is not feature.EmbeddingFeature.V2


def test_stand_ins_go_with_the_aliases(tensorflow: Any) -> None:
    """A face has them only while `import tensorflow` means it; each is one object."""
    assert graphgrad.distribute.ParameterServerStrategy is tensorflow.distribute.ParameterServerStrategy
    importing.uninstall()
    with pytest.raises(AttributeError, match="ParameterServerStrategy"):
        graphgrad.distribute.ParameterServerStrategy  # noqa: B018  # asking for it is the test


# -- functions that libraries take over ------------------------------------------------------


class _Symbol:
    """A library's own value, which stands for a computation."""

    def __init__(self, text: str):
        self.text = text


def test_dispatch_to_symbols(tensorflow: Any) -> None:
    """Calls that the functions cannot answer go to the library's handlers, also those of one function."""
    from tensorflow.python.util import dispatch

    class Handler(dispatch.OpDispatcher):
        def handle(self, args: Any, kwargs: Any) -> Any:
            found = any(isinstance(a, _Symbol) for a in (*args, *kwargs.values()))
            return _Symbol("tanh") if found else self.NOT_SUPPORTED

    Handler().register(tensorflow.tanh)
    api = state.api_of(tensorflow.tanh)
    assert api is not None
    try:
        assert tensorflow.tanh(_Symbol("x")).text == "tanh"
        assert float(tensorflow.tanh(0.0)) == 0.0
        with pytest.raises((TypeError, ValueError)):
            tensorflow.tanh(object())
        with pytest.raises((TypeError, ValueError)):
            tensorflow.exp(_Symbol("x"))
    finally:
        api.last.pop()


def test_own_function_with_dispatch(tensorflow: Any) -> None:
    """A library's function can be taken over for a type."""
    from tensorflow.python.util import dispatch

    @dispatch.add_dispatch_support
    def double(x: Any) -> Any:
        return tensorflow.convert_to_tensor(x) * 2.0

    @dispatch.dispatch_for_types(double, _Symbol)
    def _double(x: _Symbol) -> str:
        return f"2 {x.text}"

    assert double(_Symbol("y")) == "2 y" and float(double(1.5)) == 3.0


# -- small modules -----------------------------------------------------------------------------


def test_decorators(tensorflow: Any) -> None:
    """A decorated function keeps its name and can be unwrapped; its arguments are those of the function beneath."""
    from tensorflow.python.util import tf_decorator, tf_inspect

    def inner(a: int, b: int = 2) -> int:
        """Adds."""
        return a + b

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs) * 10

    made = tf_decorator.make_decorator(inner, wrapper, "times ten")
    assert made(1) == 30 and made.__name__ == "inner" and made.__doc__ == "Adds."
    decorators, target = tf_decorator.unwrap(made)
    assert [d.decorator_name for d in decorators] == ["times ten"] and target is inner
    spec = tf_inspect.getfullargspec(made)
    assert spec.args == ["a", "b"] and spec.defaults == (2,) and spec.annotations == {}
    assert tf_inspect.getfullargspec(tensorflow.rank).args == ["input", "name"]


def test_exported_names(tensorflow: Any) -> None:
    """What a library exports has a canonical name, as TensorFlow's own functions have."""
    from tensorflow.python.util import tf_export

    @tf_export.keras_export("keras.own.Thing", "keras.Thing")
    class Thing:
        pass

    assert tf_export.get_canonical_name_for_symbol(Thing, "keras") == "keras.own.Thing"
    assert tf_export.get_symbol_from_name("keras.Thing") is Thing
    assert tf_export.get_symbol_from_name("math.no_such_name") is None
    assert tf_export.get_canonical_name_for_symbol(tensorflow.reduce_sum) in ("math.reduce_sum", "reduce_sum")


def test_conversion(tensorflow: Any) -> None:
    """A library's function with an `if` on a tensor works in a graph after `tf_convert`."""

    def sign(x: Any) -> Any:
        if x > 0.0:
            return x * 10.0
        return -x

    inside = tensorflow.__internal__.autograph
    converted = inside.tf_convert(sign, inside.control_status_ctx())
    graph_function = tensorflow.function(converted, autograph=False)
    assert float(graph_function(tensorflow.constant(2.0))) == 20.0
    assert float(graph_function(tensorflow.constant(-3.0))) == 3.0
    assert inside.tf_convert(sign, None, convert_by_default=False) is sign


def test_context(tensorflow: Any) -> None:
    """Libraries ask the context whether operations run at once."""
    from tensorflow.python.eager import context

    assert context.executing_eagerly() and context.context().executing_eagerly()
    with context.graph_mode():
        assert not context.executing_eagerly()
        with context.eager_mode():
            assert context.executing_eagerly()
    assert not context.context().is_async()


def test_initializers_of_its_inside(tensorflow: Any) -> None:
    """`init_ops` has the classes of 1.x under their own names."""
    from tensorflow.python.ops import init_ops

    assert init_ops.Constant is init_ops.constant_initializer
    assert init_ops.GlorotUniform is init_ops.glorot_uniform_initializer
    np.testing.assert_array_equal(init_ops.Ones()([2]), [1.0, 1.0])


# -- how libraries recognize objects -----------------------------------------------------


def test_names_of_classes(tensorflow: Any) -> None:
    """Classes bear TensorFlow's names while `tensorflow` is this package, also those that are loaded later."""
    tf = tensorflow
    made = [tf.constant(1), tf.data.Dataset.range(2), tf.sparse.from_dense([1]), tf.ragged.constant([[1]])]
    with tf.Graph().as_default():
        made += [made[0], tf.constant(1)]
    kinds = ["Tensor", "DatasetV2", "SparseTensor", "RaggedTensor", "EagerTensor", "SymbolicTensor"]
    for value, name in zip(made, kinds, strict=True):
        kind = next(c for c in type(value).__mro__ if c.__name__ == name)
        assert kind.__module__.startswith("tensorflow.python.")
        assert getattr(importlib.import_module(kind.__module__), name) is kind
    importing.uninstall()
    assert all(type(value).__module__.startswith("graphgrad.") for value in made)
    assert type(made[1]).__name__ == "Dataset"


def test_is_tensor_of_a_class_of_its_own(tensorflow: Any) -> None:
    """An object of a library whose class derives from TensorFlow's base of tensors counts as a tensor."""
    class Weight(tensorflow.__internal__.types.Tensor):  # type: ignore[misc]  # a class of the face
        def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
            return tensorflow.constant(2.0)

    assert tensorflow.is_tensor(Weight()) and tensorflow.cast(Weight(), "float64").dtype is tensorflow.float64


def test_settings_of_determinism(tensorflow: Any) -> None:
    """What switches determinism on, asks for it and switches it off."""
    from tensorflow.python.framework import config

    assert not config.is_op_determinism_enabled()
    config.enable_op_determinism()
    assert config.is_op_determinism_enabled()
    config.disable_op_determinism()
    assert not config.is_op_determinism_enabled()


@pytest.mark.parametrize("batches", [(), (2,)])
def test_products_of_sparse_matrices(tensorflow: Any, batches: tuple[int, ...]) -> None:
    """Values, places and gradients are those of dense matrices."""
    from tensorflow.python.ops.linalg.sparse import sparse_csr_matrix_ops as csr
    tf = tensorflow
    rng = np.random.RandomState(3)
    a, b = (rng.randn(*batches, *s) * (rng.rand(*batches, *s) < 0.4) for s in ((5, 7), (7, 4)))
    x, y = tf.sparse.from_dense(a), tf.sparse.from_dense(b)
    with tf.GradientTape() as tape:
        tape.watch([x.values, y.values])
        parts = [csr.sparse_tensor_to_csr_sparse_matrix(s.indices, s.values, s.dense_shape) for s in (x, y)]
        product = csr.csr_sparse_matrix_to_sparse_tensor(csr.sparse_matrix_sparse_mat_mul(*parts, a.dtype), a.dtype)
        loss = tf.reduce_sum(tf.sparse.to_dense(product) ** 2)
    np.testing.assert_allclose(tf.sparse.to_dense(product), a @ b, atol=1e-12)
    wanted = [2 * a @ b @ b.swapaxes(-1, -2), 2 * a.swapaxes(-1, -2) @ a @ b]
    for s, found, want in zip([x, y], tape.gradient(loss, [x.values, y.values]), wanted, strict=True):
        np.testing.assert_allclose(tf.convert_to_tensor(found), want[tuple(s.indices.numpy().T)], atol=1e-12)


# -- libraries for what was in tf.contrib ------------------------------------------------------


@pytest.fixture
def slim(tmp_path: Any, monkeypatch: Any) -> Any:
    """A package that bears the name of the one with the layers of `tf.contrib`, in a program for 1.x."""
    for module in ("tf_slim", "tf_slim/layers", "tf_slim/nets", "tf_slim/ops"):
        (tmp_path / module).mkdir()
        text = "import tensorflow.compat.v1 as tf\ndef conv2d(): pass\ndef max_pool2d(): pass\n"
        (tmp_path / module / "__init__.py").write_text(text)
    (tmp_path / "tf_slim" / "nets" / "alexnet.py").write_text("def alexnet_v2(): pass\n")
    (tmp_path / "tf_slim" / "ops" / "arg_scope.py").write_text("def arg_scope(): pass\n")
    (tmp_path / "tf_slim" / "ops" / "variables.py").write_text("def local_variable(): pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    faces = [m for n, m in sys.modules.items() if n.startswith("graphgrad.compat.contrib")]
    kept = [(m, dict(vars(m))) for m in faces]
    for module in faces:  # as in a new process
        for name in [n for n in vars(module) if not n.startswith("_")]:
            delattr(module, name)
    importing.install(1)
    yield tmp_path
    importing.uninstall()
    libraries._unusable.clear()
    for name in [n for n, m in sys.modules.items() if n.startswith("graphgrad.compat.contrib") and m not in faces]:
        del sys.modules[name]  # it holds names of the package
    for module, contents in kept:
        vars(module).clear()
        vars(module).update(contents)
    for name in [n for n, m in sys.modules.items() if n.startswith("graphgrad.compat.contrib") and m not in faces]:
        for attribute in [n for n in vars(sys.modules[name]) if not n.startswith("_")]:
            delattr(sys.modules[name], attribute)
    for name in [n for n in sys.modules if n.partition(".")[0] == "tf_slim"]:
        del sys.modules[name]


def test_layers_of_a_library(slim: Any) -> None:
    """They are all from the package that is installed; what it lacks is from here."""
    from tensorflow.contrib.slim.nets import alexnet  # type: ignore[import-not-found]  # this package

    contrib = importlib.import_module("graphgrad.compat.contrib")
    assert alexnet.alexnet_v2.__module__ == "tf_slim.nets.alexnet"
    assert contrib.layers.conv2d.__module__ == contrib.layers.python.layers.conv2d.__module__ == "tf_slim.layers"
    assert contrib.slim.conv2d.__module__ == "tf_slim" and "tf" in dir(contrib.slim)
    assert contrib.framework.arg_scope.__module__ == "tf_slim.ops.arg_scope"
    assert contrib.framework.local_variable.__module__ == "tf_slim.ops.variables"
    assert contrib.layers.fully_connected.__module__.startswith("graphgrad.")
    with pytest.raises(AttributeError, match="no such name"):
        contrib.layers.no_such_layer  # noqa: B018  # reading it raises
    importing.uninstall()
    importing.install(2)
    assert contrib.layers.max_pool2d.__module__.startswith("graphgrad.")  # the package is for the other TensorFlow


def test_a_library_that_fails(slim: Any) -> None:
    """A package that cannot be imported is told of where a name is missing; the others are from here."""
    (slim / "tf_slim" / "__init__.py").write_text("raise RuntimeError('for another TensorFlow')\n")
    contrib = importlib.import_module("graphgrad.compat.contrib")
    assert contrib.layers.conv2d.__module__.startswith("graphgrad.")
    with pytest.raises(AttributeError, match=r"in tf_slim.*RuntimeError: for another TensorFlow.*pip install"):
        contrib.layers.spatial_something  # noqa: B018  # reading it raises


def test_layers_without_a_library() -> None:
    """The error names the package to install."""
    contrib = importlib.import_module("graphgrad.compat.contrib")
    for module, name, package in (("slim.nets", "alexnet", "tf_slim"), ("layers", "no_such", "tf_slim"),
                                  ("distributions.bijectors", "RealNVP", "tensorflow_probability")):
        face = importlib.import_module(f"{contrib.__name__}.{module}")
        with pytest.raises(AttributeError, match=f"in {package}, which .* uses.*pip install --no-deps {package}"):
            getattr(face, name)
    importing.install(1)
    try:
        with pytest.raises(ModuleNotFoundError, match="pip install --no-deps tf_slim"):
            importlib.import_module("tensorflow.contrib.slim.nets.overfeat")
    finally:
        importing.uninstall()
