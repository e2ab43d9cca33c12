"""What a type checker says of programs that use the package."""

from __future__ import annotations

import ast
import functools
import importlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from tests.support.effort import long

SOURCE = pathlib.Path(__file__).parents[2] / "src"
PACKAGE = SOURCE / "graphgrad"

# Each line that ends with "# Type" is asked for the type of the expression before it.
REVEALED = '''
import numpy as np
import graphgrad as tf

x = tf.constant([1.0, 2.0])
w = tf.Variable(2.0)
y = tf.matmul(x, x)
tf.reduce_sum(x)  # Tensor
w  # Variable
y  # Tensor
x + 1.0  # Tensor
2.0 * x  # Tensor
-y[0] * 2 @ y  # Tensor
w + y  # Tensor
1.0 - w  # Tensor
w[0]  # Any
x < y  # Tensor
x == y  # Any
x.shape  # TensorShape
x.shape.as_list()  # list[Any]
x.dtype  # DType
x.numpy()  # Any
x.op.name  # str
float(x)  # float
next(iter(x))  # Tensor
tf.cast(x, "int32")  # Tensor
tf.cast(tf.IndexedSlices(x, x), tf.int32)  # IndexedSlices
tf.nn.moments(x, axes=[0])  # tuple[Tensor, Tensor]
tf.nn.top_k(x).values  # Tensor
tf.split(x, 2)  # list[Tensor]
tf.linalg.qr(x)[0]  # Tensor
tf.linalg.inv(x)  # Tensor
tf.image.resize(x, [2, 2])  # Tensor
tf.signal.stft(x, 4, 2)  # Tensor
tf.gradients(y, [x])  # list[Any]
tf.compat.v1.placeholder(tf.float32)  # Tensor
tf.compat.v1.layers.dense(x, 3)  # Tensor
tf.compat.v1.reduce_mean(x, reduction_indices=[0])  # Tensor
tf.math.unsorted_segment_sum(x, [0, 0], 1)  # Tensor
'''

# A program with every idiom that a checker could take for a mistake.
ORDINARY = '''
import numpy as np
import graphgrad.v1 as tf

x = tf.placeholder(tf.float32, [None, 784], name="x")
labels = tf.placeholder(tf.int64, shape=(None,))
w = tf.Variable(tf.random_normal([784, 10], stddev=0.1), name="w")
b = tf.get_variable("b", [10], initializer=tf.zeros_initializer())
with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
    h = tf.layers.dense(x, 10, activation=tf.nn.relu)
    h = tf.nn.dropout(h, keep_prob=0.5)
logits = tf.matmul(x, w) + b
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
loss += 1e-4 * tf.nn.l2_loss(w)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
gradients = tf.gradients(loss, [w, b])
print(gradients[0] * 2.0)
clipped, norm = tf.clip_by_global_norm(gradients, 5.0)
optimizer = tf.train.AdamOptimizer(1e-3)
train = optimizer.apply_gradients(zip(clipped, [w, b]))
step = tf.train.get_or_create_global_step()
other = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in optimizer.compute_gradients(loss)]
images = tf.reshape(x, [-1, 28, 28, 1])
conv = tf.nn.conv2d(images, tf.Variable(tf.zeros([3, 3, 1, 8])), strides=[1, 1, 1, 1], padding="SAME")
pool = tf.nn.max_pool(conv, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
shape = pool.get_shape().as_list()
flat = tf.reshape(pool, [-1, shape[1] * shape[2] * shape[3]])
size = int(np.prod(shape[1:])) + pool.shape[1].value * 2 + loss.shape.ndims
kept = tf.nn.avg_pool(pool, [1, shape[1], shape[2], 1], [1, 1, 1, 1], "VALID")
masked = tf.where(x > 0.5, x, -x)
tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
saver = tf.train.Saver(max_to_keep=3)
init = tf.global_variables_initializer()
with tf.Session() as sess:
    init.run()
    value, _ = sess.run([loss, train], feed_dict={x: np.zeros((1, 784)), labels: [0]})
    print(value + 1.0, loss.eval({x: np.zeros((1, 784))}), w.eval())
    print(saver.save(sess, "model", global_step=step) + ".meta")
    loss.op.run({x: np.zeros((1, 784))})
    print(loss.op.name, loss.name, loss.graph is sess.graph, x.dtype.name, len(tf.trainable_variables()))
state = tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s * 2.0), [tf.constant(0), loss])
chosen = tf.cond(loss < 1.0, lambda: loss * 2.0, lambda: loss)
print(state[1] + chosen)
cell = tf.nn.rnn_cell.LSTMCell(16)
outputs, final = tf.nn.dynamic_rnn(cell, tf.zeros([2, 3, 4]), dtype=tf.float32)
values, indices = tf.nn.top_k(outputs[:, -1] + final.h, k=2)
a, c = tf.unstack(tf.zeros([2, 3]))
joined = tf.concat(tf.split(x, 2, axis=1), axis=1)
s, u, v = tf.svd(tf.zeros([2, 2]))
print(sum([loss, loss]), tf.hessians(loss, w)[0] + 1.0, tf.raw_ops.Abs(x=x) + 1.0)


def relu(x: tf.Tensor, name: str | None = None) -> tf.Tensor:
    return tf.transpose(tf.maximum(x, 0.0), name=name)
'''

# Names that stand for objects of another name are in the stubs, too.
RENAMED = '''
import graphgrad as t2
import graphgrad.compat.v1 as tf
import graphgrad.v1 as t1
x = tf.placeholder(tf.float32)
with tf.device("/cpu:0"):
    tf.gradients(tf.argmax(x), [x])
print(t1.neg(t1.mul(x, x)), t2.add(1, 2), t2.math.argmax(x), t1.nn.softmax(x), t1.half, tf.bool)
'''

# What a user writes of an argument that is annotated as a tensor.
ANNOTATED = '''
import graphgrad as tf
import graphgrad.v1 as t1


def f(a: tf.Tensor) -> tf.Tensor:
    print(a + 1, a[0], -a, a.numpy(), a.shape, a.dtype, len(a), float(a), a > 0, a @ a, 1.0 / a, abs(a), a[..., 1:])
    print([row for row in a], (a + 1).numpy().shape, t1.placeholder(tf.float32) * a, tf.Variable(1.0) + a)
    return a + tf.reduce_sum(a) * tf.gradients(a, [a])[0]
'''

MISTAKES = '''
import graphgrad as tf

tf.matmul(1.0)
tf.constant(1.0).astype("int32")
tf.zeros([2], tf.constant(1.0))
tf.Variable(1.0, trainble=False)
'''


def _check(folder: pathlib.Path, **programs: str) -> dict[str, list[str]]:
    """What mypy says of each of some programs, in one run: most of its time it reads what they import."""
    for name, program in programs.items():
        (folder / f"{name}.py").write_text(program)
    command = [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={folder / 'cache'}", "--no-error-summary",
               "--follow-imports=silent", "--check-untyped-defs", *(f"{name}.py" for name in programs)]
    found = subprocess.run(command, cwd=folder, env={"MYPYPATH": str(SOURCE)}, capture_output=True, text=True)
    assert not found.stderr, found.stderr
    lines = found.stdout.splitlines()
    return {name: [line for line in lines if line.startswith(f"{name}.py:")] for name in programs}


def test_what_a_type_checker_says(tmp_path: pathlib.Path) -> None:
    asked = [line.split("  # ") for line in REVEALED.splitlines() if "  # " in line]
    lines = [f"reveal_type({line.split('  # ')[0]})" if "  # " in line else line for line in REVEALED.splitlines()]
    said = _check(tmp_path, revealed="\n".join(lines), ordinary=ORDINARY, renamed=RENAMED, mistakes=MISTAKES,
                  annotated=ANNOTATED)
    types = [re.sub(r"[\w.]+\.(?=\w)", "", line.split('"')[1].split(", fallback=")[0].replace("builtins.", ""))
             for line in said["revealed"]]
    assert dict(zip((a for a, _ in asked), types, strict=True)) == dict(asked)
    assert said["ordinary"] == said["renamed"] == said["annotated"] == []
    assert [line.split(":")[1] for line in said["mistakes"] if ": error: " in line] == ["4", "5", "6", "7"], said


@long("mypy says the same, and pyright is no part of the environment")
def test_what_pyright_says(tmp_path: pathlib.Path) -> None:
    """No false error in an ordinary program, where there is a pyright."""
    pyright = shutil.which("pyright") or shutil.which("basedpyright")
    if pyright is None:
        pytest.skip("there is no pyright; npm install -g pyright, or pip install basedpyright")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({
        "extraPaths": [str(SOURCE)], "typeCheckingMode": "standard", "pythonVersion": "3.11"}))
    (tmp_path / "annotated.py").write_text(ANNOTATED)
    done = subprocess.run([pyright, "--outputjson", "annotated.py"], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "VIRTUAL_ENV": sys.prefix}, check=False)
    found = [d["message"] for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    assert not found


def _declared(stub: pathlib.Path) -> set[str]:
    """The `__all__` of a stub."""
    return {name for node in ast.parse(stub.read_text()).body if isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "__all__" for name in ast.literal_eval(node.value)}


def test_stubs_export_what_modules_do() -> None:
    """The names of each stub of a face are those of the module."""
    stubs = sorted((PACKAGE / "compat").rglob("*.pyi"))
    for stub in stubs:
        name = ".".join(stub.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        assert _declared(stub) == set(importlib.import_module(name).__all__), name
    assert len(stubs) > 150


@long("the names are compared by a test that is quick")
def test_stubtest(tmp_path: pathlib.Path) -> None:
    """mypy's stubtest finds stubs and modules to agree; `__all__` is not in the stub of `graphgrad.v1`, see there."""
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\nignore_missing_imports = True\n")
    (tmp_path / "allowed").write_text("graphgrad.v1.__all__\n")
    modules = ["graphgrad.compat.v1", "graphgrad.compat.v2", "graphgrad.compat.contrib", "graphgrad.v1"]
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", *modules, "--mypy-config-file=mypy.ini",
                           "--allowlist=allowed"], cwd=tmp_path, env={**os.environ, "MYPYPATH": str(SOURCE)},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@long("the types that mypy finds are those that completion uses")
def test_completion(tmp_path: pathlib.Path) -> None:
    """An editor that asks jedi offers the names of a face, and those of a result."""
    jedi = pytest.importorskip("jedi", reason="pip install 'graphgrad[notebook]'")
    project = jedi.Project(tmp_path, added_sys_path=[str(SOURCE)])

    def offered(text: str) -> set[str]:
        return {c.name for c in jedi.Script("import graphgrad as tf\n" + text, project=project).complete()}

    assert "reduce_sum" in offered("tf.reduce_s")
    assert {"numpy", "shape", "dtype", "op"} <= offered("x = tf.constant([1.0])\ny = tf.reduce_sum(x)\ny.")


@functools.cache
def _public_functions() -> list[tuple[str, ast.FunctionDef, bool]]:
    """The functions that the faces have: module, definition, and whether there are overloads."""
    exported: dict[str, set[str]] = {}
    for stub in PACKAGE.rglob("*.pyi"):
        for module, name in re.findall(r"^from (graphgrad[\w.]+) import (\w+) as", stub.read_text(), re.M):
            exported.setdefault(module, set()).add(name)
    found = []
    for module, names in sorted(exported.items()):
        path = SOURCE / (module.replace(".", "/") + ".py")
        overloaded = set()
        for node in ast.parse(path.read_text()).body if path.exists() else ():
            if isinstance(node, ast.FunctionDef) and node.name in names:
                if any("overload" in ast.unparse(d) for d in node.decorator_list):
                    overloaded.add(node.name)
                found.append((module, node, node.name in overloaded))
    return found


def test_public_functions_are_annotated() -> None:
    """Functions of rooms that mypy lets be untyped: whatever a face has is annotated in full."""
    bare = []
    for module, node, _ in _public_functions():
        args = node.args
        named = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        if node.returns is None or any(a is not None and a.annotation is None for a in named):
            bare.append(f"{module}.{node.name}")
    assert not bare


def test_most_results_are_typed() -> None:
    """Some results depend on the arguments' kinds, or are None in eager mode; all others have a type."""
    results = [node.returns for _, node, overloaded in _public_functions() if not overloaded]
    untyped = sum(r is None or ast.unparse(r) == "Any" for r in results)
    assert untyped < 0.18 * len(results), (untyped, len(results))
