"""Random programs as TensorFlow 1 built their graphs: reference variables, Switch and Merge, loops, old operations.

A program is a tree as in `tests/programs/random_programs.py`, with more kinds of statements. `tests/record/old/
random_graphs.py` builds it in TensorFlow 2.21 with 1.x's behaviours, since a graph of 1.x is written only there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.programs.random_programs import Block, Runner

RUNS = np.array([[0.6, -0.4], [-0.9, 0.5], [0.2, 1.1]])  # what x is in the runs

_STATE = ("read", "use", "gather", "assign", "assign_add", "scatter", "passed", "temporary")
_OLD = ("inverse", "joined", "selected", "chosen", "array")
_GRADIENT = ("grad", "slope", "step")
_NESTED = {"cond": 2, "while": 1, "map": 1, "scan": 1, "defined": 1}  # how many blocks
_WITHIN_FUNCTION = ("sin", "mul", "add", "tanh", "inverse", "joined", "selected")


def draw(seed: int) -> Block:
    """A program: a list of statements [kind, operands, variable, number, blocks ...].

    Args:
      seed: decides it; sub-graphs are nested up to three deep in one program of five, else two or one.
    """
    rng = np.random.default_rng([seed, 1])
    return _block(rng, 3 if seed % 10 == 0 else 2 if seed % 3 == 0 else 1, 5)


def _block(rng: np.random.Generator, depth: int, size: int, kinds: Any = ()) -> Block:
    kinds = list(kinds) or ["sin", "mul", "add", "tanh", *_STATE, *_OLD, *2 * list(_NESTED if depth else ()),
                            *_GRADIENT, *(["optimize"] if size == 5 else [])]
    block: Block = []
    for _ in range(int(rng.integers(1 if size < 5 else 2, size + 1))):
        kind = str(rng.choice(kinds))
        statement = [kind, [int(i) for i in rng.integers(100, size=2)], int(rng.integers(2)), int(rng.integers(4))]
        inner = _WITHIN_FUNCTION if kind == "defined" else ()
        for _ in range(_NESTED.get(kind, 0)):
            statement.append(_block(rng, depth - 1, 2 if depth == 1 else 3, inner))
        block.append(statement)
    return block


class OldRunner(Runner):
    """Builds the graph of a program.

    What is read from a reference variable is its memory, which later assignments change: all that is read is copied.

    Args:
      v1, v2: the modules `tensorflow.compat.v1` and `tensorflow`; `v1.enable_resource_variables` decides which
        variables are made.
    """

    def __init__(self, v1: Any, v2: Any):
        super().__init__("graph", v1, v2)
        self.named = 0

    def _effect(self, make: Any) -> Any:
        return super()._effect(lambda: 1.0 * self.tf.identity(make()))

    def _value(self, v: Any) -> Any:
        return self._effect(v.read_value)

    def _use(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return a * 0.5 + 0.3 * self.tf.tanh(self._value(v) * b)

    def _gather(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return a * self.tf.raw_ops.Gather(params=self._value(v), indices=[1, n % 2])

    def _optimize(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        train = self.v1.train
        make = (lambda: train.MomentumOptimizer(0.1, 0.9), lambda: train.AdamOptimizer(0.1),
                lambda: train.AdagradOptimizer(0.1), lambda: train.RMSPropOptimizer(0.1))[n]
        loss = self.tf.reduce_sum(a * self.tf.tanh(b) * self._value(v))
        with self._in_order():
            loss = self.tf.identity(loss)
        (slope,) = self._by(loss, [v])
        with self._in_order():
            self.last = [make().apply_gradients([(self.tf.identity(slope), v)])]
        return self._value(v)

    def _passed(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        """A reference handed on before it is changed."""
        raw = self.tf.raw_ops
        if not v.op.type.startswith("Variable"):
            return self._assign_add(a, b, v, n, values)
        change = (raw.AssignAdd, raw.AssignSub, raw.Assign, raw.AssignAdd)[n]
        value = 0.3 * self.tf.tanh(a)
        return b * self._effect(lambda: change(ref=raw.RefIdentity(input=v._ref()), value=value))

    def _temporary(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        """A variable that lives within a run."""
        raw = self.tf.raw_ops
        self.named += 1
        name = f"temporary_{self.named}"
        with self._in_order():
            made = raw.TemporaryVariable(shape=[2], dtype=self.tf.float64, var_name=name)
            added = raw.AssignAdd(ref=raw.Assign(ref=made, value=self.tf.tanh(a)), value=self.tf.stop_gradient(b))
            found = raw.DestroyTemporaryVariable(ref=added, var_name=name)
        self.last = [found.op]
        return 0.5 * self.tf.stop_gradient(found) + 0.1 * a

    def _inverse(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        raw = self.tf.raw_ops
        square = raw.Pow(x=self.tf.sin(b), y=2.0 * self.tf.ones_like(b))
        return raw.Div(x=raw.Inv(x=2.0 + self.tf.tanh(a)), y=1.5 + square)

    def _joined(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        raw = self.tf.raw_ops
        joined = raw.Concat(concat_dim=0, values=[a, b])
        parts = raw.Split(axis=0, value=joined, num_split=4)
        matrix = raw.BatchMatMul(x=raw.Pack(values=[parts[:2]])[:, :, :], y=0.5 * raw.Pack(values=[parts[2:]]),
                                 adj_y=True)
        return self.tf.tanh(self.tf.reshape(matrix, [1, 4])[0, n % 3:n % 3 + 2])

    def _selected(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return self.v1.where(self.tf.raw_ops.Greater(x=a, y=b), a * 0.5, self.tf.tanh(b))

    def _chosen(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        """Switch and Merge by hand; without their gradients, which TensorFlow makes of Switches without a Merge."""
        raw = self.tf.raw_ops
        off, on = raw.Switch(data=a, pred=self._after(self.tf.reduce_sum(b) > 0.2 * n))
        merged, _ = raw.Merge(inputs=[off * 0.5, self.tf.sin(on)])
        return self.tf.stop_gradient(merged) + 0.1 * a

    def _array(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        array = self.tf.TensorArray(self.tf.float64, 2, clear_after_read=False, element_shape=[2])
        array = array.write(0, a).write(1, self.tf.tanh(b))
        return 0.5 * (array.read(n % 2) + array.stack()[1])

    def _defined(self, a: Any, b: Any, v: Any, n: int, values: Any, body: Block) -> Any:
        """A function of the library, called by its name."""
        from tensorflow.python.framework.function import Defun

        self.named += 1

        @Defun(self.tf.float64, self.tf.float64, func_name=f"Defined{self.named}")
        def function(first: Any, second: Any) -> Any:
            first.set_shape([2]), second.set_shape([2])
            return self.block(body, [first, second])

        return function(a, b, noinline=bool(n % 2))
