"""Random programs over tensors of up to eight dimensions and odd sizes, compiled, beside what NumPy computes.

What kills the process, hangs, or gives another number fails. Programs broadcast, reduce, contract, move, gather,
scatter, convolve, sort, cast, loop and branch, and half of them are differentiated. A value is "exact" as long as
rounding cannot differ; only then is it compared, rounded or cut to integers, which would make a step of a last bit.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

QUICK = 12
SECONDS, MEGABYTES = 60.0, 1500  # XLA compiles
ADDRESS_SPACE = None

_MOST = 20_000  # elements of a tensor
_SIZES = [0, 1, 1, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17, 33]
_FLOATS = ["float32", "float32", "float32", "float64", "float16", "bfloat16"]
_OTHERS = ["int32", "int8", "int64", "uint8", "bool", "complex64"]
_TOLERANCE = {"float32": 2e-4, "float64": 1e-9, "float16": 3e-2, "bfloat16": 2e-1, "complex64": 2e-4}


def prepare() -> None:
    """Imports; nothing comes from the disk, and NumPy runs nothing first."""
    os.environ["GRAPHGRAD_CACHE_DIR"] = ""
    from graphgrad.executor.runtime import executable

    executable.first_in_numpy = False


class _Program:
    """A program as it grows.

    Attributes:
      values: (tensor, whether it is exact).
      feeds: placeholder -> array.
    """

    def __init__(self, tf: Any, seed: int):
        self.tf = tf
        self.rng = np.random.default_rng([seed, 5])
        self.values: list[tuple[Any, bool]] = []
        self.feeds: dict[Any, Any] = {}

    def one(self, *things: Any) -> Any:
        return things[self.rng.integers(len(things))]

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def shape(self) -> list[int]:
        while True:
            rank = int(self.rng.integers(0, 9))
            sizes = [1, 2, 2, 3, 4] if rank > 5 else _SIZES
            shape = [int(self.one(*sizes)) for _ in range(rank)]
            if self.chance(0.2) and rank:
                shape[self.rng.integers(rank)] = int(self.one(100, 1000, 4097))
            if np.prod(shape) <= _MOST:
                return shape

    def feed(self, shape: list[int], dtype: str) -> Any:
        """A new placeholder, fed with quarters; sometimes it does not know its shape."""
        x = self.tf.placeholder(dtype, [None if self.chance(0.1) else n for n in shape])
        numbers = self.rng.integers(-8, 9, shape)
        self.feeds[x] = (numbers / 4 if dtype in _FLOATS else numbers > 0 if dtype == "bool" else
                         abs(numbers) if dtype == "uint8" else numbers).astype(x.dtype.as_numpy_dtype)
        if not x.shape.is_fully_defined():
            x._program_shape = shape
        return x

    def step(self) -> None:
        """Adds an operation to what there is."""
        x, exact = self.values[-1] if self.chance(0.7) else self.one(*self.values)
        kind = "float" if x.dtype.is_floating else "complex" if x.dtype.is_complex else x.dtype.name
        if x.shape.rank is None or not x.shape.is_fully_defined():
            x = self.tf.reshape(x, self.sizes(x))
        steps = [self.binary, self.reduce, self.move, self.gather, self.cast, self.join, self.select]
        if kind == "float":
            steps += [self.unary, self.unary, self.contract, self.contract, self.convolve, self.order, self.flow]
        y, exact = self.one(*steps)(x, [int(n) for n in x.shape], exact, kind)
        if y is not None and np.prod([int(n) for n in y.shape]) <= 4 * _MOST:
            self.values.append((y, exact))

    def sizes(self, x: Any) -> list[int]:
        return getattr(x, "_program_shape", None) or [1 if n is None else n for n in x.shape.as_list()]

    # -- each gives (tensor or None, whether it is exact) ----------------------------------

    def unary(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf = self.tf
        name = self.one("neg", "abs", "tanh", "exp", "square", "sigmoid", "relu", "floor" if exact else "sin")
        y = {"neg": tf.negative, "abs": tf.abs, "tanh": tf.tanh, "exp": lambda v: tf.exp(-tf.abs(v)), "sin": tf.sin,
             "square": lambda v: tf.square(v) * 0.125, "sigmoid": tf.sigmoid, "relu": tf.nn.relu,
             "floor": tf.floor}[name](x)
        return y, exact and name in ("neg", "abs", "relu", "floor")

    def binary(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf = self.tf
        if kind == "bool":
            return self.one(tf.logical_and, tf.logical_xor)(x, tf.reverse(x, [0]) if shape else x), exact
        other = [n if self.chance(0.5) else 1 for n in shape][self.rng.integers(len(shape) + 1) :]
        if self.chance(0.3):
            other = [int(self.one(1, 2, 3))] * int(self.rng.integers(0, 9 - max(len(shape), 1))) + shape
        if np.prod(other) > _MOST:
            return None, exact
        y = self.feed(other, x.dtype.name)
        names = [tf.add, tf.subtract, tf.multiply] + ([] if kind == "complex" else [tf.maximum, tf.minimum])
        return self.one(*names)(x, tf.reshape(y, other)), exact and kind != "float"

    def reduce(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf = self.tf
        axes = [i for i in range(len(shape)) if self.chance(0.4)]
        keep = self.chance(0.3)
        if kind == "bool":
            return self.one(tf.reduce_any, tf.reduce_all)(x, axes, keep), exact
        name = self.one("sum", "sum", "mean", "max", "min", "norm")
        if kind in ("complex", "int8", "uint8") or name == "norm":
            name = "sum"
        if name in ("max", "min", "mean") and 0 in shape:
            name = "sum"
        y = {"sum": tf.reduce_sum, "mean": tf.reduce_mean, "max": tf.reduce_max, "min": tf.reduce_min}[name](
            x, axes, keep)
        if kind == "float" and name == "sum":
            y = y * 0.125
        return y, exact and (kind != "float" or name in ("max", "min"))

    def move(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf, rank = self.tf, len(shape)
        if not rank:
            return tf.fill([3], x), exact
        axis = int(self.rng.integers(rank))
        choice = self.rng.integers(9)
        if choice <= 1:
            return tf.transpose(x, self.rng.permutation(rank).tolist()), exact
        if choice == 2 and rank > 1:
            at = int(self.rng.integers(rank - 1))
            return tf.reshape(x, [*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :]]), exact
        if choice == 3 and rank < 8:
            return tf.expand_dims(x, axis), exact
        if choice == 4:
            return tf.pad(x, self.rng.integers(0, 3, (rank, 2)).tolist()) if rank < 6 and kind != "bool" else x, exact
        if choice == 5:
            step = int(self.one(1, 2, -1, 3))
            return x[(*[slice(None)] * axis, slice(None, None, step))], exact
        if choice == 6:
            return tf.reverse(x, [axis]), exact
        if choice == 7 and rank < 7:
            return tf.tile(x, [int(self.one(1, 1, 2)) for _ in shape]), exact
        return tf.roll(x, 1, axis), exact

    def gather(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf, rank = self.tf, len(shape)
        if not rank or 0 in shape:
            return None, exact
        axis = int(self.rng.integers(rank))
        where = self.rng.integers(0, shape[axis], int(self.one(0, 1, 5))).astype(np.int32)
        if kind in ("bool", "complex") or self.chance(0.5):
            return tf.gather(x, where, axis=axis), exact
        rows = self.rng.integers(0, 4, shape[0]).astype(np.int32)
        if self.chance(0.5):
            return tf.unsorted_segment_sum(x, rows, 5), exact and kind != "float"
        return tf.tensor_scatter_add(x, rows[: min(2, len(rows))][:, None] % shape[0], x[: min(2, len(rows))]), (
            exact and kind != "float")

    def cast(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf = self.tf
        if kind == "complex":
            return self.one(tf.real, tf.imag)(x), exact
        if kind == "float":
            if exact and self.chance(0.3):
                return tf.cast(x, self.one("int32", "int8", "bool")), True
            return tf.cast(x, self.one("float32", "float64", "bfloat16", "complex64")), exact
        return tf.cast(x, self.one(*_FLOATS)), exact

    def join(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf, rank = self.tf, len(shape)
        if self.chance(0.5) and rank < 8:
            return tf.stack([x, x, x][: int(self.one(1, 2, 3))], int(self.rng.integers(rank + 1))), exact
        if not rank:
            return None, exact
        axis = int(self.rng.integers(rank))
        other = [n if i != axis else int(self.one(0, 1, 3)) for i, n in enumerate(shape)]
        return tf.concat([x, tf.reshape(self.feed(other, x.dtype.name), other)], axis), exact

    def select(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf = self.tf
        if kind in ("complex", "bool") or not exact:
            return tf.where(tf.ones(shape, tf.bool), x, x), exact
        if self.chance(0.3) and shape and 0 not in shape:
            return tf.argmax(x, int(self.rng.integers(len(shape)))), True
        return tf.where(x > tf.zeros_like(x), x, tf.ones_like(x)), exact

    def contract(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf, rank = self.tf, len(shape)
        if not rank:
            return None, exact
        n = int(self.one(1, 2, 3, 8, 17))
        if rank == 1 or self.chance(0.4):
            letters, free = "abcdefgh"[:rank], "xyz"[: int(self.rng.integers(0, 3))]
            summed = [c for c in letters if self.chance(0.4)] or [letters[-1]]
            left = summed + list(free)
            self.rng.shuffle(left)
            size = {**dict(zip(letters, shape, strict=True)), "x": n, "y": 2, "z": 3}
            other = [size[c] for c in left]
            out = [c for c in letters if c not in summed] + list(free)
            self.rng.shuffle(out)
            if len(out) > 8 or np.prod(other) > _MOST:
                return None, exact
            y = tf.reshape(self.feed(other, x.dtype.name), other)
            return tf.einsum(f"{letters},{''.join(left)}->{''.join(out)}", x, y) * 0.125, False
        batch = shape[:-2] if self.chance(0.4) else []
        other = [*batch, shape[-1], n]
        if np.prod(other) > _MOST:
            return None, exact
        y = tf.reshape(self.feed(other, x.dtype.name), other)
        if self.chance(0.3):
            return tf.matmul(x, tf.linalg.matrix_transpose(y), transpose_b=True) * 0.125, False
        return tf.matmul(x, y) * 0.125, False

    def convolve(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf, rank = self.tf, len(shape)
        if rank not in (3, 4, 5) or 0 in shape or x.dtype.name not in ("float32", "float64") or max(shape) > 100:
            return None, exact
        sizes = [min(int(self.one(1, 2, 3)), n) for n in shape[1:-1]]
        padding = self.one("SAME", "VALID")
        if self.chance(0.3) and rank == 4:
            return self.one(tf.nn.max_pool, tf.nn.avg_pool)(x, [1, *sizes, 1], [1, *sizes, 1], padding), False
        w = tf.reshape(self.feed([*sizes, shape[-1], 3], x.dtype.name), [*sizes, shape[-1], 3])
        if rank == 3:
            return tf.nn.conv1d(x, w, int(self.one(1, 2)), padding) * 0.125, False
        step = int(self.one(1, 2))
        if rank == 4:
            return tf.nn.conv2d(x, w, [1, step, step, 1], padding) * 0.125, False
        return tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], padding) * 0.125, False

    def order(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf, rank = self.tf, len(shape)
        if not rank or x.dtype.name in ("float16", "bfloat16"):
            return None, exact
        axis = int(self.rng.integers(rank))
        choice = self.rng.integers(4)
        if choice == 0:
            return tf.sort(x, axis), exact
        if choice == 1:
            return tf.cumsum(x, axis, exclusive=self.chance(0.5), reverse=self.chance(0.5)) * 0.125, False
        if choice == 2 and shape[-1]:
            return tf.math.top_k(x, 1)[0], exact
        return (tf.nn.softmax(x, axis), False) if 0 not in shape else (None, exact)

    def flow(self, x: Any, shape: list[int], exact: bool, kind: str) -> Any:
        tf = self.tf
        if self.chance(0.5):
            return tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, tf.tanh(v) + v[..., None][..., 0]),
                                 [0, x])[1], False
        on = tf.reshape(self.feed([1], "bool"), [])
        return tf.cond(on, lambda: tf.sin(x) * 2.0, lambda: tf.reduce_sum(x) + x), False


def attack(seed: int) -> str:
    """Builds a program, and runs it compiled and in NumPy.

    Raises: AssertionError where the results differ; what compiling or running raises where NumPy does not.
    """
    from graphgrad.compat import v1 as tf
    from graphgrad.executor.runtime.session import HostSession

    with tf.Graph().as_default():
        program = _Program(tf, seed)
        shape = program.shape()
        program.values.append((program.feed(shape, program.one(*_FLOATS * 3, *_OTHERS)), True))
        for _ in range(int(program.rng.integers(2, 9))):
            program.step()
        last = program.values[-1][0]
        fetches = [last, program.one(*program.values)[0]]
        if program.chance(0.5) and last.dtype.is_floating:
            xs = [x for x in program.feeds if x.dtype.is_floating][:3]
            found = tf.gradients(tf.reduce_sum(tf.tanh(tf.cast(last, tf.float32))), xs) if xs else []
            fetches += [tf.convert_to_tensor(g) for g in found if g is not None]
        tensors = [*[v for v, _ in program.values], *program.feeds]
        tolerance = max(_TOLERANCE.get(x.dtype.name, 0.0) for x in tensors)
        if len(fetches) > 2:  # gradients go through float32
            tolerance = max(tolerance, _TOLERANCE["float32"])
        with HostSession() as sess:
            wanted = sess.run(fetches, program.feeds)
        with tf.Session() as sess:
            for _ in range(2):
                for got, want in zip(sess.run(fetches, program.feeds), wanted, strict=True):
                    _compare(np.asarray(got), np.asarray(want), tolerance)
    return "ok"


def _compare(got: Any, want: Any, tolerance: float) -> None:
    assert got.shape == want.shape, f"shape {got.shape}, not {want.shape}"
    assert got.dtype == want.dtype, f"dtype {got.dtype}, not {want.dtype}"
    if got.dtype.name not in _TOLERANCE:
        assert np.array_equal(got, want), f"{(got != want).sum()} of {got.size} differ"
    elif got.size:
        kind = np.complex128 if got.dtype.kind == "c" else np.float64
        a, b = got.astype(kind), want.astype(kind)
        scale = max(1.0, np.abs(b[np.isfinite(b)]).max(initial=0.0))
        bad = ~(np.isclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
        assert not bad.any(), f"{bad.sum()} of {bad.size} differ, {a[bad][:3]} and {b[bad][:3]}"
