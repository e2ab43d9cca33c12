"""Programs that are fed more and more until memory runs out, under a limit of address space.

Each is run with a limit that is some way above what the process uses. Every run either works, or raises
ResourceExhaustedError and leaves all variables, slots of optimizers, and counters as they were: afterwards
they are what an equal program has that was only given what the first one could do. And a small run works.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

QUICK = 3
ADDRESS_SPACE = None  # every seed has its own

_MOST = 8 << 30  # bytes that no process is to take
_OPTIMIZERS = {
    "GradientDescent": {}, "Momentum": {"momentum": 0.9}, "Adam": {}, "Adagrad": {}, "Adadelta": {}, "RMSProp": {},
    "Ftrl": {}, "ProximalGradientDescent": {}, "ProximalAdagrad": {}, "AdagradDA": {},
}


def prepare() -> None:
    """Imports, and makes what threads there are."""
    tf = _faces()[0]
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 4])
        y = tf.matmul(x, x, transpose_b=True)
        for n in (3, 3, 3, 500, 600):
            sess.run(y, {x: np.ones([n, 4])})


def _faces() -> tuple[Any, Any]:
    """The faces of 1.x and 2.x, in 2.x's mode."""
    import graphgrad as tf2

    return tf2.compat.v1, tf2


@contextlib.contextmanager
def _limited(margin: int) -> Iterator[None]:
    """A block that can map `margin` bytes more than the process has now."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + margin, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


# -- programs ----------------------------------------------------------------------------


def _hungry(tf: Any, kind: str, x: Any) -> Any:
    """What takes memory that grows with the square of the rows of x."""
    if kind == "matmul":
        return tf.matmul(x, x, transpose_b=True)
    if kind == "sum":
        return tf.reduce_sum(tf.tanh(tf.matmul(x, x, transpose_b=True)))
    if kind == "outer":
        return tf.reduce_max(tf.cumsum(x[:, :1] - x[None, :, 0], axis=1))
    if kind == "gradient":
        return tf.gradients(tf.reduce_sum(tf.nn.softmax(tf.matmul(x, x, transpose_b=True))), x)[0]
    if kind == "loop":
        rows = tf.shape(x)[0]
        return tf.while_loop(lambda i, _: i < 3, lambda i, s: (i + 1, s + tf.matmul(x, x, transpose_b=True)),
                             [0, tf.zeros([rows, rows])])[1]
    if kind == "sort":
        return tf.nn.top_k(tf.matmul(x, x, transpose_b=True), 2)[0]
    if kind == "conv":
        image = tf.matmul(x, x, transpose_b=True)[None, :, :, None]
        return tf.nn.conv2d(image, tf.ones([3, 3, 1, 2]), [1, 1, 1, 1], "SAME")[0, :, 0, 0]
    if kind == "host":
        return tf.numpy_function(lambda a: a @ a.T, [x], tf.float32)
    raise AssertionError(kind)


_KINDS = ("matmul", "sum", "outer", "gradient", "loop", "sort", "conv", "host")


def _model(tf: Any, rng: np.random.Generator) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """A program's variables, and one step of it, which gives what is to be fetched and what is to be done."""
    kind = _KINDS[rng.integers(len(_KINDS))]
    name = [*_OPTIMIZERS, "assign", "scatter"][rng.integers(len(_OPTIMIZERS) + 2)]
    width = int(rng.choice([1, 16, 300, 20_000, 500_000]))
    seed, inner = int(rng.integers(1000)), bool(rng.integers(2))
    start = np.linspace(-1, 1, 4 * width, dtype=np.float32).reshape(4, width)
    made: dict[str, Any] = {"w": tf.Variable(start), "c": tf.Variable(0)}
    if name in _OPTIMIZERS:
        made["step"] = tf.Variable(0, dtype=tf.int64)
        more = {"global_step": made["step"]} if name == "AdagradDA" else _OPTIMIZERS[name]
        optimizer = getattr(tf.train, name + "Optimizer")(0.01, **more)

    def step(x: Any) -> Any:
        w = made["w"]
        large = _hungry(tf, kind, x)
        y = tf.matmul(x[:8], w) + tf.random_uniform([8, 1], seed=seed)
        if inner:  # all depends on it
            y += 1e-6 * tf.cast(tf.size(large), tf.float32) + 0 * tf.reduce_sum(large)
        loss = tf.reduce_mean(y**2)
        with tf.control_dependencies([large] if inner else []):
            done = [made["c"].assign_add(1)]
        if name == "assign":
            done.append(w.assign_sub(0.1 * tf.gradients(loss, w)[0]))
        elif name == "scatter":
            done.append(tf.scatter_add(w, [1, 3, 1], tf.tile(0.01 * y[:1], [3, 1])))
        else:
            grads = tf.gradients(loss, w)
            with tf.control_dependencies([large] if inner else []):
                done.append(optimizer.apply_gradients([(grads[0], w)], global_step=made["step"]))
            made.update({f"slot{i}": v for i, v in enumerate(optimizer.variables())})
        return [loss, large], done

    return made, step


class _Session:
    """A program in a session."""

    def __init__(self, rng: np.random.Generator):
        tf, _ = _faces()
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(1)
            made, step = _model(tf, rng)
            self.x = tf.placeholder(tf.float32, [None, 4])
            self.fetches, self.done = step(self.x)
            self.variables = tf.global_variables()
            start = tf.global_variables_initializer()
        self.session = tf.Session(graph=self.graph)
        self.session.run(start)
        assert {*map(id, made.values())} <= {*map(id, self.variables)}

    def step(self, x: Any) -> None:
        self.session.run((self.fetches, self.done), {self.x: x})

    def state(self) -> list[Any]:
        return [np.array(v) for v in self.session.run(self.variables)]


class _Function:
    """The same as a function."""

    def __init__(self, rng: np.random.Generator):
        tf, tf2 = _faces()
        self.made, step = _model(tf, rng)
        tf2.random.set_seed(1)

        def call(x: Any) -> Any:
            fetches, done = step(x)
            with tf2.control_dependencies([d for d in done if d is not None]):
                return [tf2.identity(f) for f in fetches]

        self.f = tf2.function(call, input_signature=[tf2.TensorSpec([None, 4], tf2.float32)])

    def step(self, x: Any) -> None:
        self.f(x)

    def state(self) -> list[Any]:
        return [v.numpy() for v in self.made.values()]


class _Eager:
    """Operations that run one by one, with a tape."""

    def __init__(self, rng: np.random.Generator):
        self.tf, self.tf2 = _faces()
        # A Python function is called as it is here, and what it raises is its own.
        self.kind = ("matmul", "sum", "outer", "sort")[rng.integers(4)]
        width = int(rng.choice([1, 300, 500_000]))
        self.w = self.tf2.Variable(np.linspace(-1, 1, 4 * width, dtype=np.float32).reshape(4, width))
        self.count = self.tf2.Variable(0)

    def step(self, x: Any) -> None:
        with self.tf2.GradientTape() as tape:
            y = self.tf2.matmul(x[:8], self.w)
            loss = self.tf2.reduce_mean(y**2)
        grad = tape.gradient(loss, self.w)
        _hungry(self.tf, self.kind, self.tf2.constant(x))
        self.w.assign_sub(0.1 * grad)  # the only thing that may fail from here on
        self.count.assign_add(1)

    def state(self) -> list[Any]:
        return [self.w.numpy(), self.count.numpy()]


def attack(seed: int) -> str:
    """Makes a program of its own, and feeds it more and more."""
    from graphgrad import errors

    rng = np.random.default_rng(seed)
    make: Any = [_Session, _Session, _Function, _Function, _Eager][rng.integers(5)]
    description = int(rng.integers(1 << 30))
    one, other = (make(np.random.default_rng(description)) for _ in range(2))
    sizes = [8, 8, 8, *np.sort(np.exp(rng.uniform(np.log(50), np.log(9000), 4)).astype(int))]
    feeds = [rng.standard_normal([n, 4], np.float32) for n in sizes]
    for x in feeds[:3]:
        one.step(x)
        other.step(x)
    outcome, worked = "ok", []
    with _limited(int(np.exp(rng.uniform(np.log(1e6), np.log(1.2e9))))):
        for x in [*feeds[3:], feeds[0]]:
            try:
                one.step(x)
                worked.append(x)
            except errors.ResourceExhaustedError as e:
                outcome = "ResourceExhaustedError"
                text = str(e)
                assert "Fix:" in text and ("OOM" in text or "PyFunc" in text), text
    one.step(feeds[1])
    for x in [*worked, feeds[1]]:
        other.step(x)
    for mine, its in zip(one.state(), other.state(), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-5)
    return outcome
