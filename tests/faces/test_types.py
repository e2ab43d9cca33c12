"""What a type checker says of programs that use the package."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import os
import pathlib
import re
import subprocess
import sys

from tests.faces.typed.programs import programs
from tests.faces.typed.public_objects import UNTYPED, asking_for, public_objects, without_type
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
def alike(row: tf.Tensor) -> tf.Tensor: return row
def doubled(row: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]: return row, row
tf.reduce_sum(x)  # Tensor
w  # Variable
y  # Tensor
x + 1.0  # Tensor
2.0 * x  # Tensor
-y[0] * 2 @ y  # Tensor
w + y  # Tensor
1.0 - w  # Tensor
w[0]  # VariableSlice
w.assign(1.0)  # Variable | Any
w.read_value()  # Tensor
tf.GradientTape().gradient(y, w)  # Tensor | Any
tf.GradientTape().gradient(y, [w])  # list[Tensor | Any]
tf.GradientTape().gradient(y, (w, w))  # tuple[Tensor | Any, ...]
tf.GradientTape().gradient(y, {"w": w})  # dict[str, Tensor | Any]
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
tf.gradients(y, [x])  # list[Tensor | Any]
tf.compat.v1.placeholder(tf.float32)  # Tensor
tf.compat.v1.layers.dense(x, 3)  # Tensor
tf.compat.v1.reduce_mean(x, reduction_indices=[0])  # Tensor
tf.math.unsorted_segment_sum(x, [0, 0], 1)  # Tensor
tf.group(x)  # Operation | Any
tf.compat.v1.assign(w, 1.0)  # AssignedVariable | Any
tf.compat.v1.get_variable("v", [])  # VariableV1
tf.compat.v1.global_variables_initializer()  # Operation | Any
tf.cond(x > 0, lambda: x, lambda: 0.0)  # Tensor
tf.cond(x > 0, lambda: 1.0, lambda: x)  # Tensor
tf.cond(x > 0, lambda: (x, [x]), lambda: (x, [0.0]))  # tuple[Tensor, list[Tensor]]
tf.cond(x > 0, lambda: {"a": x}, lambda: {"a": x})  # dict[str, Tensor]
tf.while_loop(lambda a, b: a < b, lambda a, b: (a, b), (x, y))  # tuple[Tensor, Tensor]
tf.while_loop(lambda a, b: a < b, lambda a, b: (a, b), [x, y])  # list[Tensor]
tf.while_loop(lambda a, b: a < b, lambda a, b: (a, b), (0, x))  # tuple[Any, ...]
tf.while_loop(lambda a, b: a < b, lambda a, b: (a, b), [0, x])  # list[Any]
tf.while_loop(lambda a: a < 1, lambda a: a, x)  # list[Tensor]
tf.compat.v1.while_loop(lambda a: a < 1, lambda a: a, [x])  # Tensor | Any
tf.map_fn(alike, x)  # Tensor
tf.map_fn(doubled, x, fn_output_signature=(tf.float32, tf.float32))  # tuple[Tensor, Tensor]
tf.map_fn(lambda row: row, x, fn_output_signature=tf.RaggedTensorSpec([None]))  # Any
tf.scan(lambda a, row: a + row, x, 0.0)  # Tensor
tf.scan(lambda a, row: a, x, (x, x))  # tuple[Tensor, Tensor]
tf.vectorized_map(alike, x)  # Tensor
tf.switch_case(0, [lambda: x, lambda: y])  # Tensor
tf.case([(x > 0, lambda: [x])], default=lambda: [y])  # list[Tensor]
tf.nest.map_structure(alike, x)  # Tensor
tf.nest.map_structure(lambda t: t + 1, [x, {"a": y}])  # list[Any]
tf.function(lambda a: x)(y)  # Tensor
tf.recompute_grad(lambda a: x)(y)  # Tensor
tf.custom_gradient(lambda a: (x, None))(y)  # Tensor
tf.jacobian(y, x)  # Tensor | Any
tf.jacobian(alike)  # def (*Any, **Any) -> Any
tf.jacobian(y, x, sparse=True)  # Any
tf.implicit.root(alike, x)  # Tensor
tf.implicit.root(lambda a: a, (x, y))  # tuple[Tensor, Tensor]
tf.implicit.odeint(lambda a, t: a, x, [0.0, 1.0])  # Tensor
tf.linalg.svd(x)  # tuple[Tensor, Tensor, Tensor]
tf.linalg.svd(x, compute_uv=False)  # Tensor
tf.data.Dataset.range(3).map(lambda i: i).batch(2)  # Dataset
tf.data.Dataset.range(3).reduce(0, lambda a, i: a + i)  # Tensor
tf.compat.v1.data.Dataset.range(3).repeat()  # DatasetV1
tf.compat.v1.train.batch([x], 2)  # Tensor | Any
tf.compat.v1.train.batch({"a": x}, 2)  # dict[str, Tensor]
tf.compat.v1.train.polynomial_decay(0.1, x, 3)  # Tensor | Any
tf.TensorSpec([None])  # TensorSpec
tf.sparse.add(tf.SparseTensor([], [], []), tf.SparseTensor([], [], []))  # SparseTensor
tf.sparse.add(tf.SparseTensor([], [], []), x)  # Tensor
tf.ragged.stack([x, y]) + 1  # RaggedTensor
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
    names = public_objects()
    said = _check(tmp_path, revealed="\n".join(lines), ordinary=ORDINARY, renamed=RENAMED, mistakes=MISTAKES,
                  annotated=ANNOTATED, names=asking_for(names), **programs())
    types = [re.sub(r"[\w.]+\.(?=\w)", "", line.split('"')[1].split(", fallback=")[0].replace("builtins.", ""))
             for line in said["revealed"]]
    assert dict(zip((a for a, _ in asked), types, strict=True)) == dict(asked)
    assert said["ordinary"] == said["renamed"] == said["annotated"] == []
    assert {name: lines for name, lines in said.items() if name in programs() and lines} == {}
    assert without_type(names, said["names"]) == sorted(UNTYPED)
    assert [line.split(":")[1] for line in said["mistakes"] if ": error: " in line] == ["4", "5", "6", "7"], said


def _declared(stub: pathlib.Path) -> set[str]:
    """The `__all__` of a stub."""
    return {name for node in ast.parse(stub.read_text()).body if isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "__all__" for name in ast.literal_eval(node.value)}


def test_stubs_export_what_modules_do() -> None:
    """The names of each stub of a face are those of the module."""
    stubs = [path for path in sorted((PACKAGE / "compat").rglob("*.pyi")) if path.stem != "raw_ops"]
    for stub in stubs:
        name = ".".join(stub.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        assert _declared(stub) == set(importlib.import_module(name).__all__), name
    assert len(stubs) > 150


def test_stub_of_raw_operations() -> None:
    """It has each operation with its parameters; those of TensorFlow are compared with these in test_raw_ops.py."""
    from graphgrad.compat import raw_ops
    from graphgrad.op_index import MODULES

    functions = [node for node in ast.parse((PACKAGE / "compat" / "raw_ops.pyi").read_text()).body
                 if isinstance(node, ast.FunctionDef)]
    indexed = {word for line in MODULES.splitlines() for word in line.split(": ")[-1].split()}
    assert [f.name for f in functions] == [name for name in dir(raw_ops) if name in indexed]  # not those of tests
    assert len(functions) > 700
    for f in functions:
        expected = list(inspect.signature(getattr(raw_ops, f.name)).parameters.values())
        assert [a.arg for a in f.args.kwonlyargs] == [p.name for p in expected], f.name
        assert [d is None for d in f.args.kw_defaults] == [p.default is p.empty for p in expected], f.name
        for default, parameter in zip(f.args.kw_defaults, expected, strict=True):
            shown = ... if default is None else ast.literal_eval(default)
            assert shown is ... or shown == parameter.default, (f.name, parameter)


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
