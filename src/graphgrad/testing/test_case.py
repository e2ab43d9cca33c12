"""`tf.test.TestCase`: a `unittest.TestCase` that evaluates tensors and compares arrays."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError, OpError
from graphgrad.executor.runtime.executable import one_engine
from graphgrad.executor.runtime.session import Session, get_default_session
from graphgrad.frontend.structure import nest
from graphgrad.ir import context
from graphgrad.ir.context import current_graph, get_default_graph, reset_default_graph
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.values.indexed_slices import dense
from graphgrad.ops.random.seeds import DEFAULT_GRAPH_SEED

from .array_assertions import ArrayAssertions

_temp_dirs: dict[str, str] = {}


def get_temp_dir() -> str:
    """Returns a directory for the files of this process's tests; it is removed when the process ends.

    Returns: the path.
    Reference: TensorFlow 2.21 `tf.compat.v1.test.get_temp_dir`.

    >>> import os
    >>> os.path.isdir(tf.test.get_temp_dir())
    True
    """
    if "" not in _temp_dirs:
        import atexit

        _temp_dirs[""] = tempfile.mkdtemp(prefix="graphgrad_test_")
        atexit.register(shutil.rmtree, _temp_dirs[""], ignore_errors=True)
    return _temp_dirs[""]


class _TestSession(Session):
    """A session of a test; blocks do not close one that a test shares."""

    keep = False

    def __exit__(self, *exc: Any) -> None:
        self._contexts.pop().__exit__(*exc)
        if not self.keep:
            self.close()


class _Writes:
    """The captured output of a stream."""

    def __init__(self, stream: Any, kept: Any):
        self._stream, self._kept = stream, kept

    def contents(self) -> str:
        """Returns what has been written so far."""
        self._stream.flush()
        at = self._kept.tell()
        self._kept.seek(0)
        text: str = self._kept.read().decode()
        self._kept.seek(at)
        return text


class TestCase(ArrayAssertions, unittest.TestCase):
    """Base class of tests of tensors.

    Each test method starts with an empty default graph of seed 87654321, and with Python's and NumPy's
    generators seeded.

    Args:
      methodName: the method to run.
    Reference: TensorFlow 2.21 `tf.test.TestCase`.

    >>> class SquareTest(tf.test.TestCase):
    ...     def testSquare(self):
    ...         with self.test_session():
    ...             self.assertAllClose(tf.square([2.0, 3.0]).eval(), [4.0, 9.0])
    >>> SquareTest("testSquare").run().wasSuccessful()
    True
    """

    def __init__(self, methodName: str = "runTest"):
        super().__init__(methodName)
        self._tempdir: str | None = None
        self._cached: _TestSession | None = None
        self._cached_graph: Graph | None = None  # the requested one
        self._graph_at_start: Graph | None = None

    def run(self, result: Any = None) -> Any:
        """Runs the test, with one engine for first and later runs, so that equal results are equal to the last bit."""
        with one_engine():
            return super().run(result)

    def setUp(self) -> None:
        """Seeds the generators and empties the default graph."""
        super().setUp()
        self._close_cached()
        random.seed(DEFAULT_GRAPH_SEED)
        np.random.seed(DEFAULT_GRAPH_SEED)
        if not context.stack.entries:
            reset_default_graph()
        graph = get_default_graph()
        graph.seed = DEFAULT_GRAPH_SEED
        context.stack.seed = DEFAULT_GRAPH_SEED

    def tearDown(self) -> None:
        """Closes the session that the test shared."""
        self._close_cached()
        super().tearDown()

    def _close_cached(self) -> None:
        if self._cached is not None:
            self._cached.close()
            self._cached = None

    def get_temp_dir(self) -> str:
        """Returns an empty directory for this test only.

        Returns: the path, the same one each time within a test.
        """
        if self._tempdir is None:
            name = f"{type(self).__name__}.{self._testMethodName}"
            self._tempdir = tempfile.mkdtemp(dir=get_temp_dir(), prefix=name)
        return self._tempdir

    # -- sessions --------------------------------------------------------------------

    @contextlib.contextmanager
    def session(self, graph: Any = None, config: Any = None, use_gpu: bool = True,
                force_gpu: bool = False) -> Iterator[Any]:
        """Opens a block with a new session, and its graph, as defaults.

        Args:
          graph: the graph; the default one if not given.
          config: a `ConfigProto`.
          use_gpu, force_gpu: accepted; the device is that of the process.
        """
        if current_graph() is None:
            yield None
            return
        with _TestSession(graph=graph, config=config) as session:
            yield session

    @contextlib.contextmanager
    def cached_session(self, graph: Any = None, config: Any = None, use_gpu: bool = True,
                       force_gpu: bool = False) -> Iterator[Any]:
        """Opens a block with the session that all blocks of a test share.

        Args:
          graph, config: as in `session`; the same ones each time in a test. The session's graph is the default one
            in the block.
          use_gpu, force_gpu: accepted; the device is that of the process.
        Raises: ValueError for another graph or config than before.
        """
        if current_graph() is None:
            yield None
            return
        if self._cached is None:
            self._cached, self._cached_graph = _TestSession(graph=graph, config=config), graph
            self._cached.keep = True
        elif graph is not self._cached_graph:
            raise ValueError("The graph used to get the cached session is different than the one that was used to "
                             "create the session. Maybe create a new session with self.session()")
        elif config is not self._cached._config:
            raise ValueError("The config used to get the cached session is different than the one that was used to "
                             "create the session. Maybe create a new session with self.session()")
        with self._cached as session:
            yield session

    @contextlib.contextmanager
    def test_session(self, graph: Any = None, config: Any = None, use_gpu: bool = True,
                     force_gpu: bool = False) -> Iterator[Any]:
        """Opens a `cached_session`, or a `session` if a graph is given.

        Args:
          graph, config, use_gpu, force_gpu: as in `session`.
        """
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        block = self.cached_session if graph is None else self.session
        with block(graph, config, use_gpu, force_gpu) as session:
            yield session

    def evaluate(self, tensors: Any) -> Any:
        """Evaluates tensors, in the default session or eagerly.

        Args:
          tensors: any nesting of tensors.
        Returns: the same nesting of arrays.
        """
        if current_graph() is None:
            return nest.map_structure(self._value, tensors)
        session = get_default_session() or self._cached
        if session is None:
            with self.test_session() as session:
                return session.run(tensors)
        return session.run(tensors)

    @staticmethod
    def _value(tensor: Any) -> Any:
        if callable(tensor) and not hasattr(tensor, "numpy"):
            tensor = tensor()
        return tensor.numpy() if hasattr(tensor, "numpy") else tensor

    def _GetNdArray(self, a: Any) -> Any:
        a = dense(a)
        if isinstance(a, Tensor) or hasattr(a, "_as_graph_element") or hasattr(a, "numpy"):
            a = self.evaluate(a)
        return a if isinstance(a, np.ndarray) else np.array(a)

    # -- errors ----------------------------------------------------------------------

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type: Any, expected_err_re_or_predicate: Any) -> Iterator[Any]:
        """Opens a block that must raise an error that a pattern or a function accepts.

        Args:
          exception_type: the class.
          expected_err_re_or_predicate: a regular expression for its text, or a function of the error.
        """
        try:
            yield
        except exception_type as e:
            if callable(expected_err_re_or_predicate):
                good, text = expected_err_re_or_predicate(e), str(e)
            else:
                text = e.message if isinstance(e, OpError) else str(e)
                op = getattr(e, "op", None)
                while op is not None:
                    text += f"\nCaused by op {op.name}"
                    op = op._original_op
                good = re.search(expected_err_re_or_predicate, text) is not None
            if not good:
                raise AssertionError(f"Exception of type {type(e)}: {text}") from e
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesWithLiteralMatch(self, expected_exception: Any, expected_exception_message: str,
                                     callable_obj: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Asserts that a call, or a block, raises an error with exactly this message.

        Args:
          expected_exception: the class.
          expected_exception_message: the whole message.
          callable_obj: the function to call; without it, a block is returned.
          *args, **kwargs: its arguments.
        Returns: the block, or None.
        """
        block = self.assertRaisesRegex(expected_exception, rf"\A{re.escape(expected_exception_message)}\Z")
        if callable_obj is None:
            return block
        with block:
            callable_obj(*args, **kwargs)
        return None

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Opens a block that must raise a `tf.errors.OpError`; see `assertRaisesWithPredicateMatch`.

        Args:
          expected_err_re_or_predicate: a regular expression, or a function of the error.
        """
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(self, exception_type: Any = InvalidArgumentError) -> Any:
        """Opens a block that must raise an error about incompatible shapes.

        Args:
          exception_type: the class; shapes that are known while building give a ValueError.
        """
        return self.assertRaisesRegex((exception_type, ValueError), r"(?i)shape|dimension|size")

    def assertRaisesRegexp(self, expected_exception: Any, expected_regex: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls `assertRaisesRegex`, under its older name.

        Args:
          expected_exception, expected_regex, *args, **kwargs: as for `assertRaisesRegex`.
        """
        return self.assertRaisesRegex(expected_exception, expected_regex, *args, **kwargs)

    def assertItemsEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """Calls `assertCountEqual`, under its older name.

        Args:
          first, second: the sequences.
          msg: the message if they differ.
        """
        self.assertCountEqual(first, second, msg)

    # -- graphs ----------------------------------------------------------------------

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Asserts that two arrays or tensors have the same static shape.

        Args:
          input_a, input_b: arrays or tensors.
          msg: the message if not.
        """
        a, b = [list(getattr(x, "shape", np.shape(x))) for x in (input_a, input_b)]
        self.assertEqual(a, b, msg)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Asserts that two device names mean the same device.

        Args:
          device1, device2: names or specs.
          msg: the message if not.
        """
        from graphgrad.system.device_names import canonical

        a, b = [canonical(d) if isinstance(d, str) else d.to_string() if d else "" for d in (device1, device2)]
        self.assertEqual(a, b, f"Devices {a} and {b} are not equal. {msg or ''}")

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, validate_message: Any, msg: str | None = None,
                          relative_tolerance: float | None = None) -> None:
        """Asserts that two messages are equal; the first may be text.

        Args:
          expected_message_maybe_ascii: a message, or its text.
          validate_message: a message.
          msg: the message if they differ.
          relative_tolerance: accepted; numbers must be equal.
        """
        expected = str(expected_message_maybe_ascii).replace(":", " : ").split()
        self.assertEqual(expected, str(validate_message).replace(":", " : ").split(), msg)

    def assertProtoEqualsVersion(self, expected: Any, actual: Any, producer: int = 2474, min_consumer: int = 0,
                                 msg: str | None = None) -> None:
        """Asserts that a graph equals the text of one, to which the versions are added.

        Args:
          expected: the text of a `GraphDef` without versions.
          actual: a `GraphDef`.
          producer, min_consumer: the versions.
          msg: the message if they differ.
        """
        least = f" min_consumer: {min_consumer}" if min_consumer else ""
        self.assertProtoEquals(f"{expected}\nversions {{ producer: {producer}{least} }}", actual, msg)

    def evaluate_if_both_tensors(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Returns the values of two tensors, or both arguments unchanged if one of them is not a tensor.

        Args:
          a, b: anything.
        """
        both = all(hasattr(x, "dtype") and hasattr(x, "get_shape") for x in (a, b))
        return (self.evaluate(a), self.evaluate(b)) if both else (a, b)

    @contextlib.contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[Any]:
        """Opens a block that captures the output to a system stream; it yields an object with `contents()`.

        Args:
          stream: a stream with a file descriptor, such as `sys.stderr`.
        """
        number = stream.fileno()
        with tempfile.TemporaryFile() as kept:
            before = os.dup(number)
            try:
                os.dup2(kept.fileno(), number)
                yield _Writes(stream, kept)
                stream.flush()
            finally:
                os.dup2(before, number)
                os.close(before)

    # -- threads ---------------------------------------------------------------------

    def checkedThread(self, target: Any, args: Any = None, kwargs: Any = None) -> Any:
        """Makes a thread whose failure fails the test when it is joined.

        Args:
          target, args, kwargs: what the thread calls.
        Returns: an object with `start`, `join`, `is_alive`.
        """
        from .checked_thread import CheckedThread

        return CheckedThread(self, target, args, kwargs)


def main(argv: Any = None) -> unittest.TestProgram:
    """Runs the tests of the program.

    Args:
      argv: command-line arguments; those of the process by default.
    Reference: TensorFlow 2.21 `tf.test.main`.
    """
    return unittest.main(argv=argv)


def test_src_dir_path(relative_path: str) -> str:
    """Returns a path beside the running program; there is no TensorFlow source tree.

    Args:
      relative_path: beneath it.
    """
    import sys

    return os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), relative_path)


test_src_dir_path.__test__ = False  # type: ignore[attr-defined]  # pytest: this is none

