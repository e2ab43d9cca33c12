"""`tf.test`: what its test cases accept and refuse, and how a program of tests runs."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.testing.run_modes import run_all_in_graph_and_eager_modes

_CASE = tf.test.TestCase()
_HALF = np.array([1.0, 2.0], np.float16)

# A method of TestCase, arguments that it accepts, arguments that it refuses. TensorFlow 2.21 agrees on each.
_ASSERTIONS: list[tuple[str, list[Any], list[Any]]] = [
    ("assertAllClose", [[1.0, 2.0], np.array([1.0, 2.0 + 1e-7])], [[1.0, 2.0], [1.0, 2.1]]),
    ("assertAllClose", [[[1.0, 2.0], [3.0]], [[1.0, 2.0], [3.0]]], [[[1.0, 2.0], [3.0]], [[1.0, 2.0], [3.5]]]),
    ("assertAllClose", [{"a": 1.0, "b": [2.0]}, {"a": 1.0, "b": [2.0]}], [{"a": 1.0}, {"b": 1.0}]),
    ("assertAllClose", [[np.nan, np.inf], [np.nan, np.inf]], [np.ones((2, 1)), np.ones(2)]),
    ("assertAllClose", [3.0, 3.1, 0.1], [3.0, 3.1, 0.01]),
    ("assertAllClose", [(1.0, (2.0, 3.0)), (1.0, (2.0, 3.0))], [(1.0, (2.0, 3.0)), (1.0, (2.0,))]),
    ("assertAllCloseAccordingToType", [_HALF, _HALF * np.float16(1.001)], [_HALF, _HALF * np.float16(1.1)]),
    ("assertAllCloseAccordingToType", [[1.0], [1.0]], [[1.0], [1.001]]),
    ("assertNotAllClose", [[1.0, 2.0], [1.0, 2.5]], [[1.0], [1.0]]),
    ("assertAllEqual", [[1, np.nan], [1.0, np.nan]], [[1, 2], [1, 3]]),
    ("assertAllEqual", [[b"a", b"b"], np.array([b"a", b"b"], object)], [[b"a"], [b"c"]]),
    ("assertAllEqual", [np.zeros((2, 0)), np.zeros((2, 0))], [np.zeros((2, 1)), np.zeros((2,))]),
    ("assertNotAllEqual", [[1, 2], [1, 3]], [[1, 2], [1, 2]]),
    ("assertNear", [1.0, 1.1, 0.2], [1.0, 1.3, 0.2]),
    ("assertArrayNear", [[1.0, 2.0], [1.1, 2.1], 0.2], [[1.0], [1.0, 2.0], 0.2]),
    ("assertNDArrayNear", [np.ones(2), np.ones(2) + 0.1, 0.2], [np.ones(2), np.ones(2) + 0.2, 0.2]),
    ("assertAllGreater", [[1, 2], 0], [[1, 2], 1]),
    ("assertAllGreaterEqual", [[1, 2], 1], [[1, 2], 2]),
    ("assertAllLess", [[1, 2], 3], [[1, 2], 2]),
    ("assertAllLessEqual", [[1, 2], 2], [[1, 2], 1]),
    ("assertAllInRange", [[1, 2], 1, 2], [[1, 2], 1, 2, True]),
    ("assertAllInSet", [[1, 2, 1], {1, 2}], [[1, 3], {1, 2}]),
    ("assertStartsWith", ["abc", "ab"], ["abc", "b"]),
    ("assertShapeEqual", [np.ones((2, 3)), np.zeros((2, 3))], [np.ones((2, 3)), np.zeros((3, 2))]),
    ("assertDeviceEqual", ["/cpu:0", "/device:CPU:0"], ["/cpu:0", "/cpu:1"]),
    ("assertItemsEqual", [[1, 2], [2, 1]], [[1, 2], [2, 2]]),
    ("assertDTypeEqual", [_HALF, np.float16], [_HALF, np.float32]),
]


@pytest.mark.parametrize(("method", "good", "bad"), _ASSERTIONS, ids=lambda v: v if isinstance(v, str) else "")
def test_assertion(method: str, good: list[Any], bad: list[Any]) -> None:
    """An assertion accepts what TensorFlow's accepts, and refuses what it refuses."""
    getattr(_CASE, method)(*good)
    with pytest.raises(AssertionError):
        getattr(_CASE, method)(*bad)


def test_different_kinds() -> None:
    """A dictionary beside a list cannot be compared."""
    with pytest.raises(ValueError, match="Can't compare dict to non-dict"):
        _CASE.assertAllClose({"a": 1}, [1])


def test_op_errors() -> None:
    """Errors of a run are recognised by their text, or by a function."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.int32, name="x")
        with _CASE.assertRaisesOpError("must feed a value"):
            sess.run(x)
        with _CASE.assertRaisesWithPredicateMatch(tf.errors.InvalidArgumentError, lambda e: "'x'" in str(e)):
            sess.run(x)
        with pytest.raises(AssertionError), _CASE.assertRaisesOpError("something else"):
            sess.run(x)
    with pytest.raises(AssertionError, match="not raised"), _CASE.assertRaisesOpError("."):
        pass


class _Cases(tf.test.TestCase):
    """What happens within a test; run by `test_within`."""

    __test__ = False
    seen: list[Any] = []

    def sessions(self) -> None:
        """All blocks share a session and its variables."""
        with self.test_session() as a:
            v = tf.Variable(2.0)
            v.initializer.run()
        with self.cached_session() as b:
            self.assertEqual(float(v.eval()), 2.0)
            self.assertAllClose(v * 2.0, 4.0)
        self.assertIs(a, b)
        with self.assertRaisesRegex(ValueError, "graph"), self.cached_session(tf.Graph()):
            pass
        with self.session(graph=tf.Graph()) as other:
            self.assertIsNot(other, a)
        self.assertEqual(self.evaluate({"v": v}), {"v": 2.0})

    def seeds(self) -> None:
        """Every test starts from the same seeds, with an empty graph."""
        self.assertEqual(tf.get_default_graph().version, 0)
        self.assertEqual(tf.get_default_graph().seed, 87654321)
        with self.test_session() as sess:
            type(self).seen.append((np.random.rand(), sess.run(tf.random_uniform([]))))

    def directory(self) -> None:
        """A test's directory is its own and stays the same within it."""
        self.assertEqual(self.get_temp_dir(), self.get_temp_dir())
        self.assertTrue(self.get_temp_dir().startswith(tf.test.get_temp_dir()))
        self.assertEqual(list(pathlib.Path(self.get_temp_dir()).iterdir()), [])


def _passes(case: Any) -> None:
    result = case.run()
    assert result.wasSuccessful(), "\n".join(t for _, t in [*result.failures, *result.errors])


@pytest.mark.parametrize("method", ["sessions", "seeds", "seeds", "directory"])
def test_within(method: str) -> None:
    """Sessions, seeds and directories of a test."""
    with tf.Graph().as_default():
        _passes(_Cases(method))
    assert len(set(_Cases.seen)) <= 1


def test_both_modes() -> None:
    """A decorated test runs eagerly and in a graph."""
    modes = []

    class Both(tf.test.TestCase):
        def test_it(self) -> None:
            modes.append(tf.executing_eagerly())
            self.assertAllClose(self.evaluate(tf.square(3.0)), 9.0)

    _passes(run_all_in_graph_and_eager_modes(Both)("test_it"))
    assert modes == [True, False]


def test_checked_thread() -> None:
    """What a thread raises fails the test."""
    def fail() -> None:
        raise ValueError("in the thread")

    ran: list[int] = []
    for target, bad in ((lambda: ran.append(1), False), (fail, True)):
        thread = _CASE.checkedThread(target=target)
        thread.start()
        if bad:
            with pytest.raises(AssertionError, match="in the thread"):
                thread.join()
        else:
            thread.join()
    assert ran == [1]


@pytest.mark.parametrize("program", [
    "import tensorflow as tf\nclass T(tf.test.TestCase):\n"
    "    def testIt(self):\n        with self.test_session():\n"
    "            x = tf.constant([1., 2.])\n            y = x * x\n"
    "            self.assertLess(tf.test.compute_gradient_error(x, [2], y, [2]), 1e-2)\n"
    "if __name__ == '__main__':\n    tf.test.main()\n",
])
def test_program(tmp_path: pathlib.Path, program: str) -> None:
    """A file of tests runs as a program, and its status says whether they passed."""
    file = tmp_path / "it_test.py"

    def run() -> Any:
        command = [sys.executable, "-m", "graphgrad", "run", "--tf", "1", str(file)]
        return subprocess.run(command, capture_output=True, text=True)

    file.write_text(program)
    done = run()
    assert done.returncode == 0 and "OK" in done.stderr, done.stderr
    file.write_text(program.replace("1e-2", "-1.0"))
    done = run()
    assert done.returncode == 1 and "AssertionError" in done.stderr


class _Owner:
    value = 1

    @staticmethod
    def call() -> int:
        return 2


@pytest.mark.usefixtures("graph")
def test_stubs_streams_graphs_benchmarks(capfd: Any) -> None:
    """Stand-ins, benchmarks, graphs compared, streams kept."""
    stubs = tf.test.StubOutForTesting()
    stubs.SmartSet(_Owner(), "value", 5)
    stubs.Set(_Owner, "call", lambda: 7)
    assert (_Owner.value, _Owner.call(), _Owner().call()) == (5, 7, 7)
    stubs.CleanUp()
    assert (_Owner.value, _Owner.call()) == (1, 2)
    with pytest.raises(AttributeError, match="nothing not found"):
        stubs.SmartSet(_Owner, "nothing", 1)

    class Case(tf.test.TestCase):
        @tf.test.disable_with_predicate(lambda self: True, "not today")
        def testNothing(self) -> None:
            raise AssertionError

        def testStream(self) -> None:
            with self.captureWritesToStream(sys.__stderr__) as kept:
                os.write(2, b"hello")
                self.assertEqual(kept.contents(), "hello")
            self.assertEqual(self.evaluate_if_both_tensors(tf.constant(1), 2)[1], 2)
            self.assertEqual(self.evaluate_if_both_tensors(tf.constant(1), tf.constant(2)), (1, 2))
            self.assertIs(tf.test.with_eager_op_as_function(Case), Case)

    result = Case("testNothing").run()
    assert [reason for _, reason in result.skipped] == ["not today"]
    assert Case("testStream").run().wasSuccessful()
    graph = tf.get_default_graph().as_graph_def()
    tf.constant(1, name="more")
    more = tf.get_default_graph().as_graph_def()
    tf.test.assert_equal_graph_def(graph, graph)
    with pytest.raises(AssertionError, match="missing node 'more'"):
        tf.test.assert_equal_graph_def(graph, more)
    with pytest.raises(AssertionError, match="unexpected node 'more'"):
        tf2.test.assert_equal_graph_def(graph, more)
    with pytest.raises(TypeError, match="(?s)GraphDef is expected.*Fix:"):
        tf2.test.assert_equal_graph_def(graph, 1)

    class Bench(tf.test.Benchmark):
        def benchmark_add(self) -> Any:
            with HostSession() as sess:
                return self.run_op_benchmark(sess, tf.constant(1) + 1, min_iters=3, mbs=1.0)

    found = Bench().benchmark_add()
    assert found["iters"] == 3 and found["wall_time"] > 0 and found["throughput"] > 0
    assert not Bench.is_abstract() and tf.test.Benchmark.is_abstract()
    with pytest.raises(RuntimeError, match="(?s)only be called in Eager mode.*Fix:"):
        tf.test.experimental.sync_devices()
