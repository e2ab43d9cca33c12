"""The faces: written from tables, imported piece by piece."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import subprocess
import sys

import pytest

import graphgrad as tf
from graphgrad.compat import contrib, v1, v2

_ROOT = pathlib.Path(__file__).parents[2]
_LOADED = "sorted(m for m in sys.modules if m.split('.')[0] == 'graphgrad')"


def _python(program: str) -> str:
    """What a program prints in a process of its own."""
    result = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True,
                            env={"PYTHONPATH": str(_ROOT / "src"), "PATH": "/usr/bin:/bin"})
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_up_to_date() -> None:
    """The modules of the faces, their stubs and the index are what `make faces` writes."""
    result = subprocess.run([sys.executable, str(_ROOT / "tools" / "make_faces.py"), "--check"], capture_output=True,
                            text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("module", ["graphgrad", "graphgrad.v1", "graphgrad.compat.v1", "graphgrad.compat.v2"])
def test_few_modules(module: str) -> None:
    """Importing a face imports fewer than 100 modules of this package."""
    assert int(_python(f"import sys, {module}\nprint(len({_LOADED}))")) < 100


def test_graphs_stand_alone() -> None:
    """`import graphgrad.ir` imports the graph, the errors and what stands beneath them."""
    loaded = _python(f"import sys, graphgrad.ir\nprint(*{_LOADED})").split()
    rooms = {".".join(m.split(".")[:2]) for m in loaded}
    below = {"graphgrad.errors", "graphgrad.op_index", "graphgrad.op_traits", "graphgrad.system"}
    assert rooms == {"graphgrad", "graphgrad.ir", *below}


def test_small_programs_import_little() -> None:
    """A program that builds and differentiates a graph imports what it uses."""
    assert int(_python(f"""
import sys
import graphgrad.v1 as tf
x = tf.placeholder(tf.float32, [None, 3])
w = tf.Variable(tf.ones([3, 2]))
y = tf.reduce_sum(tf.nn.relu(tf.matmul(x, w) + 1.0))
tf.gradients(y, [x, w])
print(len({_LOADED}))
""")) < 150


def test_names() -> None:
    """`dir` lists TensorFlow's names and ours, and no rooms of the package, also after these were imported."""
    importlib.import_module("graphgrad.training.optimizers.slots")
    importlib.import_module("graphgrad.gradients.core.backprop")
    for module in (tf, v1, v2):
        listed = set(dir(module))
        assert {"gradients", "matmul", "nn", "train", "compat", "errors", "memoize_gradients"} <= listed
        assert not listed & {"ir", "ops", "executor", "frontend", "training", "extras", "system", "graphgrad", "sys"}
    assert not {"lazy", "missing", "importing", "constants"} & set(dir(tf.compat))
    assert callable(tf.gradients) and inspect.isfunction(v1.gradients)
    assert tf.train is v2.train and not hasattr(tf, "contrib") and not hasattr(v1, "contrib")
    assert dict(inspect.getmembers(tf))["matmul"] is tf.matmul is tf.linalg.matmul


@pytest.mark.parametrize("first", ["import graphgrad.gradients.core.backprop", "import graphgrad.training.optimizers",
                                   "import graphgrad.layers", "from graphgrad import gradients"])
def test_rooms_do_not_hide_names(first: str) -> None:
    """Whatever of the package a program imports first, names of TensorFlow's stay what they are."""
    assert _python(f"{first}\nimport graphgrad as tf\nprint(tf.gradients.__name__, tf.train.__name__)") == (
        "gradients_v2 graphgrad.compat.v2.train\n")


@pytest.mark.parametrize("module", ["graphgrad", "graphgrad.v1", "graphgrad.compat.v1"])
def test_all_names(module: str) -> None:
    """`from graphgrad import *` gives every public name."""
    assert _python(f"""
import importlib
from {module} import *
missing = [n for n in dir(importlib.import_module({module!r})) if n[0] != "_" and n not in globals()]
assert matmul.__name__ == "matmul" and nn.__name__.endswith(".nn") and missing == []
""") == ""


def test_alike() -> None:
    """The names of 2.x are one object each, wherever they stand; functions that take ragged tensors too."""
    assert tf.add is v2.add is v2.math.add is v1.math.add
    assert tf.add([1], tf.ragged.constant([[1], [2, 3]])).to_list() == [[2], [3, 4]]
    assert v1.losses is contrib.slim.losses and contrib.slim.nets is contrib.slim.python.slim.nets


def test_assigned_names_stay() -> None:
    """A program may put names into a face; reloading a module keeps it usable."""
    v2.math.own_name = 1  # type: ignore[attr-defined]  # a name that the face lacks
    try:
        assert importlib.reload(v2.math).own_name == 1 and v2.math.add is tf.add
        assert "own_name" in dir(v2.math)
    finally:
        del v2.math.own_name  # type: ignore[attr-defined]  # a name that the face lacks
    assert not hasattr(v2.math, "own_name")


def test_threads() -> None:
    """Threads that ask for names at the same time all get them."""
    assert _python("""
import random, threading
import graphgrad.compat.v1 as tf
names = [(tf, n) for n in tf.__all__] + [(tf.nn, n) for n in tf.nn.__all__] + [(tf.train, n) for n in tf.train.__all__]
failed, barrier = [], threading.Barrier(8)

def ask(seed):
    mine = names[:]
    random.Random(seed).shuffle(mine)
    barrier.wait()
    for module, name in mine[:150]:
        try:
            getattr(module, name)
        except BaseException as e:
            failed.append((name, e))

threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(failed)
""") == "[]\n"


def test_records_come_when_needed() -> None:
    """A type is known before its module is imported; iterating over records imports all."""
    assert _python(f"""
import sys
from graphgrad.ir.opdef import op, raw, registry
assert "ResizeBicubic" in registry and "NoSuch" not in registry and registry.get("NoSuch") is None
assert len(set(registry)) == len(registry) > 700
assert not [m for m in {_LOADED} if ".extras" in m]
assert raw.ResizeBicubic is registry["ResizeBicubic"]
assert "graphgrad.extras.image.resize" in sys.modules
try:
    op("DecodeWav", "x: string -> y: string")(lambda xp, x: x)
except KeyError as e:
    print(e)
del registry["EncodeWav"]
assert "EncodeWav" not in registry and "EncodeWav" not in list(registry)
op("EncodeWav", "x: string -> y: string")(lambda xp, x: x)
assert len(dict(registry.items())) == len(registry) == len([r for r in registry.values()])
""").count("is registered already, at audio.py") == 1


@pytest.mark.parametrize("program", [
    "import graphgrad.compat.v1 as tf; g = tf.Graph()\nwith g.as_default():\n"
    "    g.create_op('ResizeBilinear', [tf.zeros([1, 2, 2, 1]), tf.constant([4, 4])], name='r')\n"
    "    tf.RegisterGradient('Mine')(lambda op, dy: dy)\n",
    "import graphgrad.compat.v1 as tf; tf.import_graph_def(__import__('graphgrad').Graph().as_graph_def())",
    "import graphgrad as tf; assert tf.raw_ops.StringLower(input='A').numpy() == b'a'",
    "import graphgrad as tf; x = tf.constant([1.0]); assert (-x + x * 2).numpy() == [1.0] and x[0] == 1.0",
    "import graphgrad as tf; tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]))._type_spec",
    "import graphgrad as tf; tf.SparseTensor([[0]], [1.0], [2])._type_spec",
    "import graphgrad as tf; assert tf.random.normal([2]).shape == [2]",
    "import graphgrad as tf\nwith tf.GradientTape() as t:\n    x = tf.Variable([1.0, 2.0]); y = x * x\n"
    "assert t.jacobian(y, x).shape == [2, 2]",
    "import graphgrad as tf; print(list(tf.data.Dataset.from_tensors(tf.sparse.from_dense([1.0, 0.0]))))",
    "import graphgrad.compat.v1 as tf\nwith tf.Graph().as_default():\n    x = tf.constant(2.0)\n"
    "    y = tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * x), [0, 1.0])[1]\n"
    "    print(tf.Session().run(tf.gradients(y, x)))",
    "import graphgrad as tf; f = tf.function(lambda x: tf.cond(x > 0, lambda: x * 2, lambda: x))\n"
    "with tf.GradientTape() as t:\n    x = tf.constant(3.0); t.watch(x); y = f(x)\nassert t.gradient(y, x) == 2.0",
], ids=range(11))
def test_first_uses(program: str) -> None:
    """What a program uses first need not have been used by another one before."""
    _python(program)
