"""Hostile arguments of operations and functions: whatever is given, the error is TensorFlow's, and its words are ours.

Half of the calls are valid but for one or two arguments: those of the table of ops (`tests/ops/rows`) and the
examples of docstrings. The others know nothing but names.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import doctest
import functools
import inspect
import io
import os
import random
import shutil
import signal
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ._judgement import complaint_about, is_refusal
from ._values import anything, array, attribute, number, table

QUICK = 100
SECONDS = 5.0
_MODES = ("graph", "run", "eager", "function", "gradient", "tape", "xla")
_WEIGHTS = (3, 3, 5, 2, 2, 1, 0.3)

# What waits, writes, exits or starts threads because that is its purpose, by parts of names.
_LEFT_OUT = tuple("""
    Queue Barrier ReaderRead WriteFile WriteSummary Timestamp Print StageP Unstage CreateSummary FlushSummary
    CloseSummary SaveV2 SaveSlices MergeV2 PyFunc ImmutableConst MatchingFiles IteratorGetNext Lock StackPop
""".split())
_LONGEST = 12.0  # seconds
_NOT_CALLED = tuple("""
    sleep app.run exit start_queue_runners Supervisor Server main write save FileWriter gfile delete remove mkdir
    makedirs copy rename profiler MonitoredSession Session test. compat. flags queue Queue Stub logging import_ load
    export print
    set_random_seed enable disable reset config. set_ distribute debugging. batch string_input slice_input range_input
    experimental checkpoint latest summary Print input_producer init_scope xla. train. RegisterGradient
    NotDifferentiable no_gradient NoGradient register define_op stop_recording autograph session_config raise_exception
    strict_gradients memoize_gradients optimize_derivatives checkpointed_loops
""".split())


def prepare() -> None:
    """Imports, and looks at what there is to call."""
    warnings.simplefilter("ignore")
    folder = tempfile.mkdtemp(prefix="graphgrad-hostile-")  # what is written by accident is written there
    os.chdir(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ.setdefault("GRAPHGRAD_FIRST_RUN", "numpy")
    _rows()
    _functions()


class _Endless(BaseException):
    """Raised in a call that does not end; no `except Exception` holds it up."""


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    """A block that may take some seconds of processor time, fewer than the harness allows."""
    def end(*_: Any) -> None:
        raise _Endless

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, _LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def attack(seed: int) -> str:
    """Calls an operation or a function with arguments that do not belong there.

    Returns: "ok", or the class of the error.
    Raises: AssertionError where the error is none of TensorFlow's, or says nothing.
    """
    import graphgrad.compat.v1 as tf

    rng = random.Random(seed)
    kind = rng.choices(("row", "raw", "example", "function"), (5, 2, 2, 1))[0]
    mode = rng.choices(_MODES, _WEIGHTS)[0]
    trial = _Trial(rng, tf, mode)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_in_time())
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        if mode in ("eager", "function", "tape"):
            stack.enter_context(_eagerly())
        else:
            stack.enter_context(tf.Graph().as_default())
        try:
            getattr(trial, kind)()
        except AssertionError as e:
            if not is_refusal(e):
                raise
            return type(e).__name__
        except _Endless:
            assert "while" in trial.what.lower(), f"{trial.what} [{mode}] does not end"
            return "a loop without end"  # as its condition wants
        except Exception as e:
            problem = complaint_about(e, kind in ("row", "raw"), trial.given)
            assert not problem, f"{trial.what} [{mode}]: {problem}"
            return type(e).__name__
    return "ok"


@contextlib.contextmanager
def _eagerly() -> Iterator[None]:
    from graphgrad.ir import context

    before = context.eager_by_default()
    context.set_eager_default(True)
    try:
        yield
    finally:
        context.set_eager_default(before)
        context.stack.settled = False


class _Trial:
    """One call.

    Attributes:
      what: the call in words, for the failure.
      given: the objects that a function was given.
    """

    def __init__(self, rng: random.Random, tf: Any, mode: str):
        self.rng, self.tf, self.mode = rng, tf, mode
        self.what = ""
        self.given: list[Any] = []

    # -- what is called ------------------------------------------------------------

    def row(self) -> None:
        """A case of the table of ops, one or two of its arguments spoilt."""
        from tests.support.table import draw, row_dtypes

        row = self.rng.choice(_rows())
        case = row.case(self.rng.randrange(len(row.cases)))
        inputs = draw(row, case, self.rng.choice(list(row_dtypes(row))))
        raw = getattr(self.tf.raw_ops, row.op_type)
        values = dict(zip([a.name for a in row.opdef.inputs], inputs.args, strict=True))
        given = {public: values[own] for public, own in raw._inputs.items() if own in values}
        for public, (own, default) in raw._attrs.items():
            if own in inputs.attrs:
                given[public] = inputs.attrs[own]
            elif default is not inspect.Parameter.empty and self.rng.random() < 0.5:
                given[public] = default
        for _ in range(self.rng.choice([0, 1, 1, 1, 2])):
            if given:
                self._spoil(given, raw)
        self._call(raw, given)

    def raw(self) -> None:
        """An operation with arguments of which only the names are right."""
        tf, rng = self.tf, self.rng
        name = rng.choice(_raw_names())
        raw = getattr(tf.raw_ops, name)
        opdef = raw._opdef
        kinds = {a.name: a for a in opdef.inputs}
        given: dict[str, Any] = {}
        for public, own in raw._inputs.items():
            arg = kinds.get(own)
            value: Any = self._fitting(arg)
            given[public] = [value] * rng.choice([1, 1, 2]) if arg is not None and arg.is_list else value
        for public, (own, default) in raw._attrs.items():
            if default is inspect.Parameter.empty or rng.random() < 0.2:
                allowed = opdef.allowed.get(own)
                if allowed:
                    given[public] = rng.choice(sorted(allowed, key=int))
                else:
                    given[public] = attribute(rng, None if default is inspect.Parameter.empty else default)
        if given and rng.random() < 0.6:
            self._spoil(given, raw)
        self._call(raw, given)

    def example(self) -> None:
        """The example of a docstring, one argument spoilt."""
        name, function = self.rng.choice(_with_examples())
        lines = [e.source for e in doctest.DocTestParser().get_examples(inspect.getdoc(function) or "")]
        trees = [ast.parse(line) for line in lines]
        calls = [n for t in trees for n in ast.walk(t) if isinstance(n, ast.Call) and (n.args or n.keywords)]
        calls = [c for c in calls if ast.unparse(c.func) not in _AROUND]
        self.what = f"example of {name}"
        if not calls:
            return
        call = self.rng.choice(calls)
        holders: list[Callable[[], None]] = []
        hostile = ast.Name("hostile", ast.Load())
        for i in range(len(call.args)):
            holders.append(functools.partial(call.args.__setitem__, i, hostile))
        for keyword in call.keywords:
            holders.append(functools.partial(setattr, keyword, "value", hostile))
        self.rng.choice(holders)()
        value = anything(self.rng, self.tf)
        self.given = [value]
        self.what = f"{'; '.join(map(ast.unparse, trees))} with hostile={_shown(value)}"
        eager = self.mode in ("eager", "function", "tape")
        with contextlib.nullcontext() if eager else self.tf.Session() as sess:
            module = sys.modules[function.__module__]
            scope = {k: v for k, v in vars(module).items() if not k.startswith("_")}
            scope.update(tf=self.tf, np=np, sess=sess or _Eager(), hostile=value, as_dtype=self.tf.as_dtype)
            for tree in trees:
                exec(compile(ast.fix_missing_locations(tree), _FILE, "exec"), scope)

    def function(self) -> None:
        """A public function with any arguments."""
        name, function = self.rng.choice(_functions())
        given: dict[str, Any] = {}
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:  # a class of C
            return
        for p in parameters:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.name == "name":
                continue
            if p.default is p.empty or self.rng.random() < 0.3:
                given[p.name] = self._named(p)
        self.what = f"{name}({', '.join(f'{k}={_shown(v)}' for k, v in given.items())})"
        self.given = list(given.values())
        found = function(**given)
        if inspect.isclass(function):
            return
        if self.mode == "run":
            self._run(found, {})

    # -- arguments -----------------------------------------------------------------

    def _named(self, p: inspect.Parameter) -> Any:
        """A value for a parameter: mostly of the kind that its name and default suggest."""
        rng = self.rng
        if rng.random() < 0.4:
            return anything(rng, self.tf, None if p.default is p.empty else p.default)
        if p.default is not p.empty and p.default is not None:
            return attribute(rng, p.default) if rng.random() < 0.5 else p.default
        if "shape" in p.name:
            return rng.choice([[2, 3], [], [-1], [2, None], 3])
        if p.name in ("axis", "dim", "dims", "num", "depth", "k", "n") or "num" in p.name:
            return rng.choice([0, 1, -1, 2, 5, 2**31, -(2**63)])
        if "dtype" in p.name:
            return rng.choice([self.tf.float32, self.tf.int32, self.tf.string])
        if p.name in ("fn", "func", "function", "body", "cond", "f"):
            return lambda *a: a[0] if a else 1.0
        shape = rng.choice([(2, 3), (3,), (3, 3), (), (1, 4, 4, 3), (2, 3, 3)])
        return np.ones(shape, rng.choice(["float32", "float32", "int32", "bool"]))

    def _fitting(self, arg: Any) -> Any:
        """A value of the dtype of an input."""
        rng, tf = self.rng, self.tf
        name = arg.dtype.name if arg is not None and arg.dtype is not None else ""
        if name in ("resource", "variant"):
            if rng.random() < 0.6:
                return tf.Variable(np.ones((2, 3), np.float32), use_resource=True).handle
            return rng.choice([
                lambda: tf.raw_ops.FIFOQueueV2(component_types=[tf.float32]),
                lambda: table(tf),
                lambda: tf.raw_ops.TensorListReserve(element_shape=[2], num_elements=2, element_dtype=tf.float32),
                lambda: tf.constant(1.0),
            ])()
        if name == "string":
            return rng.choice(["a", ["a", "b"], b"\xff", [["x"]], ""])
        if name == "bool":
            return rng.choice([True, [True, False]])
        shape = rng.choice([(), (2,), (3,), (2, 3), (3, 3), (2, 3, 3), (1, 4, 4, 1), (0,)])
        values = np.random.default_rng(rng.randrange(2**32)).integers(0, 4, shape)
        return values.astype(arg.dtype.np_dtype if name else rng.choice(["float32", "int32", "int64", "float64"]))

    def _spoil(self, given: dict[str, Any], raw: Any) -> None:
        rng = self.rng
        key = rng.choice(list(given))
        value = given[key]
        if key in raw._attrs:
            given[key] = attribute(rng, value)
        elif isinstance(value, list) and value and rng.random() < 0.8:
            value = list(value)
            at = rng.randrange(len(value))
            choice = rng.randrange(3)
            if choice == 0:
                value.pop(at)
            elif choice == 1:
                value.insert(at, array(rng, value[at]))
            else:
                value[at] = anything(rng, self.tf, value[at])
            given[key] = value
        elif rng.random() < 0.05:
            del given[key]
        elif rng.random() < 0.1:
            given[key] = number(rng)
        else:
            given[key] = anything(rng, self.tf, value)

    # -- how it is called ----------------------------------------------------------

    def _call(self, raw: Any, given: dict[str, Any]) -> None:
        tf, rng = self.tf, self.rng
        self.what = f"{raw.__name__}({', '.join(f'{k}={_shown(v)}' for k, v in given.items())})"
        if self.mode == "eager":
            raw(**given)
            return
        arrays = [k for k, v in given.items() if isinstance(v, np.ndarray) and v.dtype.kind not in "OSUMm"]
        if self.mode == "function":
            called = tf.function(lambda *fed: raw(**{**given, **dict(zip(arrays, fed, strict=True))}))
            called(*(given[k] for k in arrays))
            return
        if self.mode == "tape":
            import graphgrad.compat.v2 as tf2

            with tf2.GradientTape() as tape:
                xs = [tf.constant(given[k]) for k in arrays]
                for x in xs:
                    tape.watch(x)
                ys = _tensors(raw(**{**given, **dict(zip(arrays, xs, strict=True))}))
            tape.gradient(ys, xs)
            return
        feeds: dict[Any, Any] = {}
        args = dict(given)
        if self.mode != "graph" or rng.random() < 0.3:
            for k in arrays:
                shape = rng.choice([None, given[k].shape, (None,) * given[k].ndim])
                args[k] = tf.placeholder(given[k].dtype, shape)
                feeds[args[k]] = given[k]
        found = raw(**args)
        if self.mode == "gradient":
            ys = [t for t in _tensors(found) if t.dtype.is_floating]
            xs = [t for t in feeds if t.dtype.is_floating]
            if ys and xs:
                found = [g for g in tf.gradients(ys, xs) if g is not None]
        if self.mode != "graph":
            self._run(found, feeds)

    def _run(self, found: Any, feeds: dict[Any, Any]) -> None:
        from graphgrad.executor.runtime import executable as run

        tf = self.tf
        fetches = [t for t in _tensors(found) if t.dtype not in (tf.resource, tf.variant)]
        before = run.first_in_numpy
        run.first_in_numpy = self.mode != "xla"
        try:
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                limited = tf.RunOptions(timeout_in_ms=3000)  # a loop may be made whose condition is always true
                sess.run(fetches or [t.op for t in _tensors(found)], feeds, limited)
        finally:
            run.first_in_numpy = before


_AROUND = frozenset("sess.run print sorted list np.array np.arange np.ones len bytes range".split())
_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "example of a docstring")


class _Eager:
    """What stands for a session where there is none."""

    @staticmethod
    def run(values: Any, *_: Any) -> Any:
        return values


def _tensors(found: Any) -> list[Any]:
    if isinstance(found, (list, tuple)):
        return [t for f in found for t in _tensors(f)]
    return [found] if hasattr(found, "dtype") and hasattr(found, "_spec") else []


def _shown(value: Any) -> str:
    try:
        text = f"array({value.tolist()!r}, {value.dtype})" if isinstance(value, np.ndarray) else repr(value)
    except Exception as e:
        text = f"<{type(value).__name__}, {type(e).__name__}>"
    return text if len(text) < 160 else f"{text[:120]}... {getattr(value, 'shape', '')}"


@functools.cache
def _rows() -> list[Any]:
    import graphgrad.compat.v1 as tf
    from tests.ops import rows

    known = set(dir(tf.raw_ops))
    return [r for r in rows.load() if r.op_type in known and r.cases and not _left_out(r.op_type)]


@functools.cache
def _raw_names() -> list[str]:
    import graphgrad.compat.v1 as tf

    return sorted(n for n in dir(tf.raw_ops) if not _left_out(n))


def _left_out(op_type: str) -> bool:
    return any(part in op_type for part in _LEFT_OUT)


@functools.cache
def _functions() -> list[tuple[str, Any]]:
    """Public functions of both faces by name, each once."""
    import graphgrad.compat.v1 as v1
    import graphgrad.compat.v2 as v2

    found: dict[Any, str] = {}

    def walk(module: types.ModuleType, path: str) -> None:
        for name in sorted(dir(module)):
            if name.startswith("_"):
                continue
            value = getattr(module, name)
            if isinstance(value, types.ModuleType):
                if value.__name__.startswith("graphgrad.compat") and path.count(".") < 3:
                    walk(value, f"{path}.{name}")
            elif any(part in f"{path}.{name}" for part in _NOT_CALLED):
                continue
            elif inspect.isfunction(value) or inspect.isclass(value):
                found.setdefault(value, f"{path}.{name}")

    for module, name in ((v1, "tf1"), (v2, "tf2")):
        walk(module, name)
    return sorted(((n, f) for f, n in found.items()), key=lambda p: p[0])


@functools.cache
def _with_examples() -> list[tuple[str, Any]]:
    found = _functions()
    for name, owner in _functions():
        if inspect.isclass(owner):
            methods = ((k, m) for k, m in sorted(vars(owner).items()) if inspect.isfunction(m))
            found = found + [(f"{name}.{k}", m) for k, m in methods
                             if not k.startswith("_") and not any(part in k for part in _NOT_CALLED)]
    return [(n, f) for n, f in found if ">>>" in (f.__doc__ or "")]

