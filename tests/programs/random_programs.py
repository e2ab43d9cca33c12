"""Random programs with state: variables that are read, assigned and stepped, Python functions that count their calls.

A program is drawn as a tree, `draw(seed, mode)`, and run by `run(tree, mode, v1, v2)` with TensorFlow's modules or
graphgrad's. Effects have one order, that of the text: in a graph of 1.x by control dependencies, in functions and
eagerly by themselves. So the results of three runs are determined, and can be compared.

In a function TensorFlow's gradients by a variable, taken in a sub-graph, leave out every way through a tensor outside
of it: they end at what may depend on one (`_by_variables`). Effects beside a sub-graph that takes the gradient of an
earlier one may change places there: they wait by control dependencies (`_crosses`). In a graph of 1.x the tapes of
TensorFlow lose, or fail at, derivatives of a gradient that goes through a sub-graph (`_tape`).

Modes: "graph" (a session of 1.x), "function" (one `tf.function`), "eager".
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

MODES = ("graph", "function", "eager")
RUNS = np.array([[0.6, -0.4], [-0.9, 0.5], [0.2, 1.1]])  # what x is in the runs
_START = ([0.5, -0.8], [1.2, 0.3])  # initial values of the variables

SEEDS = 40  # how many programs of each mode the suite runs
_TOP = 5  # how many statements a program has at most

_PURE = ("sin", "mul", "add", "tanh")
_STATE = ("read", "use", "gather", "assign", "assign_add", "scatter", "python", "draw")
_NESTED = {"cond": 2, "switch": 3, "while": 1, "map": 1, "scan": 1, "call": 1, "tape": 1}  # how many blocks
_GRADIENT = ("grad", "slope", "step")

Block = list[list[Any]]


def draw(seed: int, mode: str) -> Block:
    """A program: a list of statements [kind, operands, variable, number, blocks ...].

    Args:
      seed: decides it, together with the mode; sub-graphs are nested up to three deep in one program of five, else two.
      mode: where it is to run; `tf.gradients` does not exist eagerly.
    """
    rng = np.random.default_rng([seed, MODES.index(mode)])
    return _block(rng, mode, 3 if seed % 10 == 0 else 2 if seed % 3 == 0 else 1, _TOP)


def _block(rng: np.random.Generator, mode: str, depth: int, size: int) -> Block:
    kinds = [*_PURE, *_STATE]
    if depth:
        kinds += 2 * list(_NESTED)
    if mode != "eager":
        kinds += 2 * _GRADIENT
    if mode == "graph" and size == _TOP:  # slots cannot be made in a sub-graph
        kinds += ["optimize"]
    block: Block = []
    for _ in range(int(rng.integers(1 if size < _TOP else 2, size + 1))):
        kind = str(rng.choice(kinds))
        statement = [kind, [int(i) for i in rng.integers(100, size=2)], int(rng.integers(2)), int(rng.integers(4))]
        for _ in range(_NESTED.get(kind, 0)):
            statement.append(_block(rng, mode, depth - 1, 2 if depth == 1 else 3))
        block.append(statement)
    return block


def _differentiates(blocks: list[Block]) -> bool:
    """Whether a gradient is taken in them."""
    return any(kind in _GRADIENT or _differentiates(inner) for b in blocks for kind, _, _, _, *inner in b)


class Runner:
    """Runs the statements of a program.

    Args:
      mode: one of `MODES`.
      v1, v2: the modules `tensorflow.compat.v1` and `tensorflow`, or graphgrad's.
    """

    def __init__(self, mode: str, v1: Any, v2: Any):
        self.mode, self.v1, self.tf = mode, v1, v2
        make = v1.Variable if mode == "graph" else v2.Variable
        self.variables = [make(np.array(s)) for s in _START]
        self.calls = 0
        self.last: list[Any] = []  # what the next effect has to wait for by control dependencies
        self.drops = mode == "function"
        self.outside: list[Any] | None = None  # in a sub-graph, what may depend on tensors outside of it
        self.effects: list[Any] = []  # in a function, those of the graph that is being built
        self.nests: list[Any] = []  # what sub-graphs gave that are not being built
        self.untaped: list[Any] = []  # those of them from before the tape that records
        self.taped = False  # whether one records

    def count(self, a: np.ndarray) -> np.ndarray:
        """A Python function with state."""
        self.calls += 1
        return np.asarray(a) * 0.1 + 0.05 * self.calls

    def tick(self, a: np.ndarray) -> np.ndarray:
        """The same for functions, in which TensorFlow calls Python in no certain order."""
        return 0.0 * self.count(a) + a * 0.3

    @contextlib.contextmanager
    def _in_order(self) -> Iterator[None]:
        if self.mode == "eager":
            yield
        else:
            with self.tf.control_dependencies(self.last):
                yield

    def _effect(self, make: Callable[[], Any]) -> Any:
        with self._in_order():
            t = self.tf.identity(make())
        if self.mode == "graph":
            self.last = [t.op]
        elif self.mode == "function":
            self.effects = [*self.effects, t.op]
        return t

    def _after(self, t: Any) -> Any:
        """A tensor that is there after the effects so far: in TensorFlow, a branch waits for its inputs alone."""
        with self._in_order():
            return self.tf.identity(t)

    def _inside(self, block: Block, values: list[Any]) -> Any:
        """A block in a sub-graph: its effects come before its result."""
        before = self.last, self.effects, self.outside, self.nests
        self.last, self.effects, self.outside = [], [], values
        result = self.block(block, values)
        with self._in_order():
            result = self.tf.identity(result)
        self.last, self.effects, self.outside, self.nests = before
        return result

    def _by(self, y: Any, xs: list[Any], stops: Any = ()) -> list[Any]:
        """Gradients; with a tape around them they end at what sub-graphs gave before it.

        The gradient of a sub-graph reads what its forward pass has found, in TensorFlow, of which such a tape knows
        nothing, and what it was given, of which the tape may know: the tape's own gradient is one part of the whole.
        In a graph of 1.x no tape knows it.
        """
        ends = self.nests if self.taped and not self.drops else self.untaped
        found = self.v1.gradients(y, xs, unconnected_gradients="zero", stop_gradients=[*ends, *stops])
        return [self.tf.convert_to_tensor(g) for g in found]

    def _by_variables(self, y: Any, xs: list[Any]) -> list[Any]:
        """Gradients by variables, too; in a function TensorFlow leaves out of these what is outside of a sub-graph.

        So they end at values from outside, and at results of gradients in the sub-graph: those read more from outside.
        """
        return self._by(y, xs, self.outside or () if self.drops else ())

    def _crosses(self, kind: str, blocks: list[Block]) -> bool:
        """Whether it is a sub-graph of a function that may take the gradient of one built before.

        It gets the handles of that one's variables once more, and for TensorFlow this makes its own assignments reads.
        """
        in_graph = self.mode == "function" and kind in _NESTED and kind != "tape"
        return in_graph and bool(self.nests) and _differentiates(blocks)

    def block(self, block: Block, values: list[Any]) -> Any:
        """Runs the statements; gives the last result."""
        values = list(values)
        for kind, operands, k, n, *blocks in block:
            a, b = (values[i % len(values)] for i in operands)
            crosses = self._crosses(kind, blocks)
            if crosses:
                self.last = self.effects
            values.append(getattr(self, f"_{kind}")(a, b, self.variables[k], n, values, *blocks))
            values[-1].set_shape([2])
            if crosses:
                self.last = [values[-1].op]
            if self.outside is not None and (kind in _GRADIENT or _differentiates(blocks)):
                self.outside = [*self.outside, values[-1]]
            if kind in _NESTED:
                self.nests = [*self.nests, values[-1]]
        return values[-1]

    def _sin(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return self.tf.sin(a + 0.1 * n)

    def _tanh(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return self.tf.tanh(a * (0.5 + 0.25 * n))

    def _mul(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return 0.7 * a * self.tf.tanh(b)

    def _add(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return 0.5 * (a + b)

    def _read(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return self.tf.tanh(self._effect(v.read_value) * a)

    def _use(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return self._effect(lambda: a * 0.5 + 0.3 * self.tf.tanh(v * b))

    def _gather(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return a * self._effect(lambda: self.tf.gather(v, [1, n % 2]))

    def _assign(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return 0.5 * self._effect(lambda: v.assign(0.8 * self.tf.tanh(a) + 0.1 * n))

    def _assign_add(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        return 0.5 * self._effect(lambda: v.assign_add(0.1 * self.tf.tanh(a))) * self.tf.tanh(b)

    def _scatter(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        update = 0.2 * self.tf.tanh(a)[:1]
        return 0.5 * self._effect(lambda: v.scatter_nd_update([[n % 2]], update)) * b

    def _python(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        def call() -> Any:
            function = self.tick if self.mode == "function" else self.count
            t = self.tf.numpy_function(function, [a], self.tf.float64)
            t.set_shape([2])
            return t

        return self.tf.tanh(self._effect(call)) * b

    def _draw(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        seed = self.tf.stack([n, 7])
        return a * self.tf.random.stateless_uniform([2], seed, 0.5, 1.0, self.tf.float64)

    def _cond(self, a: Any, b: Any, v: Any, n: int, values: Any, then: Block, other: Block) -> Any:
        pred = self._after(self.tf.reduce_sum(a) < 0.3 * n)
        return self._effect(lambda: self.tf.cond(pred, lambda: self._inside(then, values),
                                                 lambda: self._inside(other, values)))

    def _switch(self, a: Any, b: Any, v: Any, n: int, values: Any, *blocks: Block) -> Any:
        index = self._after(self.tf.cast(self.tf.math.floor(1.5 + a[0]), self.tf.int32))
        branches = [lambda block=block: self._inside(block, values) for block in blocks]
        return self._effect(lambda: self.tf.switch_case(index, branches))

    def _while(self, a: Any, b: Any, v: Any, n: int, values: Any, body: Block) -> Any:
        def iterate(i: Any, y: Any) -> Any:
            return i + 1, self.tf.tanh(self._inside(body, [*values, y]) + 0.5 * y)

        start = [self._after(0), self._after(a)]
        return self._effect(lambda: self.tf.while_loop(lambda i, y: i < n, iterate, start, parallel_iterations=1)[1])

    def _map(self, a: Any, b: Any, v: Any, n: int, values: Any, body: Block) -> Any:
        def row(r: Any) -> Any:
            return self.tf.reduce_sum(self._inside(body, [*values, r * b]))

        rows = self._after(a)
        return 0.5 * self._effect(lambda: self.tf.map_fn(row, rows, parallel_iterations=1))

    def _scan(self, a: Any, b: Any, v: Any, n: int, values: Any, body: Block) -> Any:
        def step(total: Any, r: Any) -> Any:
            return self.tf.tanh(self._inside(body, [*values, total * r]))

        given, start = self._after(self.tf.stack([a, b])), self._after(values[0])
        rows = self._effect(lambda: self.tf.scan(step, given, start, parallel_iterations=1))
        return rows[n % 2] + 0.5 * rows[1]

    def _call(self, a: Any, b: Any, v: Any, n: int, values: Any, body: Block) -> Any:
        function = self.tf.function(lambda y: self._in_function(body, [*values, y]), autograph=False)
        given = self._after(a)
        return self._effect(lambda: function(given))

    def _in_function(self, body: Block, values: list[Any]) -> Any:
        before = self.mode, self.last, self.effects, self.outside, self.nests
        self.mode, self.last, self.effects = "function", [], []  # effects are in order by themselves
        self.outside = values
        try:
            return self.block(body, values)
        finally:
            self.mode, self.last, self.effects, self.outside, self.nests = before

    def _tape(self, a: Any, b: Any, v: Any, n: int, values: Any, body: Block) -> Any:
        a, before = self.tf.identity(a), (self.nests, self.untaped, self.taped)
        self.untaped, self.taped = self.nests, True
        with self.tf.GradientTape() as tape:
            tape.watch(a)
            y = self.block(body, [*values, a])
        self.nests, self.untaped, self.taped = before
        da, dv = map(self.tf.convert_to_tensor, tape.gradient(y, [a, v], unconnected_gradients="zero"))
        return self.tf.tanh(0.5 * y + da + 0.5 * dv)

    def _grad(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        x = values[0] if n % 2 else b
        da, dv = self._by_variables(a, [x, v])
        return self.tf.tanh(da + 0.5 * dv)

    def _slope(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        (da,) = self._by(a, [values[0] if n % 2 else b])
        return self.tf.tanh(da)

    def _step(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        (g,) = self._by_variables(self.tf.reduce_sum(a * b), [v])
        return 0.5 * self._effect(lambda: v.assign_sub(0.1 * self.tf.tanh(g)))

    def _optimize(self, a: Any, b: Any, v: Any, n: int, values: Any) -> Any:
        train = self.v1.train
        make = (lambda: train.MomentumOptimizer(0.1, 0.9), lambda: train.AdamOptimizer(0.1),
                lambda: train.GradientDescentOptimizer(0.1), lambda: train.RMSPropOptimizer(0.1))[n]
        with self._in_order():
            loss = self.tf.reduce_sum(a * self.tf.tanh(b) * v)
            step = make().minimize(loss, var_list=[v])
        self.last = [step]
        return self._effect(v.read_value)


def run(tree: Block, mode: str, v1: Any, v2: Any) -> list[list[Any]]:
    """Three runs of a program: the result, derivatives by x and the variables, the variables, the calls of Python."""
    return _in_session(tree, v1, v2) if mode == "graph" else _by_calls(tree, mode, v1, v2)


def _in_session(tree: Block, v1: Any, v2: Any) -> list[list[Any]]:
    results = []
    with v1.Graph().as_default(), v1.Session() as sess:
        runner = Runner("graph", v1, v2)
        x = v1.placeholder(v1.float64, [2])
        y = runner.block(tree, [x])
        grads = list(map(v1.convert_to_tensor, v1.gradients(y, [x, *runner.variables], unconnected_gradients="zero")))
        with v1.control_dependencies(runner.last):
            after = [v.read_value() for v in runner.variables]
        sess.run(v1.global_variables_initializer())
        for value in RUNS:
            found = sess.run([y, *grads, *after], {x: value})
            results.append([*(v.tolist() for v in found), runner.calls])
    return results


def _by_calls(tree: Block, mode: str, v1: Any, v2: Any) -> list[list[Any]]:
    runner = Runner(mode, v1, v2)

    def program(x: Any) -> Any:
        return runner.block(tree, [x])

    called = v2.function(program, autograph=False) if mode == "function" else program
    results = []
    for value in RUNS:
        x = v2.constant(value)
        with v2.GradientTape() as tape:
            tape.watch(x)
            y = called(x)
        grads = map(v2.convert_to_tensor, tape.gradient(y, [x, *runner.variables], unconnected_gradients="zero"))
        results.append([*(t.numpy().tolist() for t in (y, *grads, *runner.variables)), runner.calls])
    return results
