"""Calls of public functions whose arguments are slightly other ones than their examples', beside TensorFlow.

    python -m tests.programs.argument_programs --tensorflow PYTHON --first 0 --count 1000 [--mode graph]

The calls are those of docstrings' examples; one or two of their arguments are replaced by neighbours: another dtype or
rank, a fraction, NumPy's number for Python's, a list for an array, a text, None. Both processes run the same text. What
is printed is for reading: TensorFlow refuses many things for reasons of its own, and more is accepted here on purpose.

| word | TensorFlow | here |
|---|---|---|
| VALUE | other numbers, or another dtype | |
| refused | a result | an error |
| silent | an error | a result |
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import doctest
import inspect
import io
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests import ROOT

_LEFT_OUT = ("tf1.metrics", "random", "Print", "py_func", "numpy_function", "constant_value", "get_static",
             "feature_column", "use_compiled_programs")
_SECONDS = 10
_DTYPES = ("float64", "float32", "float16", "int32", "int64", "uint8", "int8", "bool", "complex64", "uint32")


# -- what is called ------------------------------------------------------------------------


class _NoSource(Exception):
    """A value of which there is no short text."""


def source(value: Any) -> str:
    """Returns an expression for a value, of which both processes make the same."""
    if value is None or isinstance(value, (bool, int, str, bytes)):
        return repr(value)
    if isinstance(value, (float, complex)):
        return f"float('{value}')" if value != value or value in (math.inf, -math.inf) else repr(value)
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return f"np.{value.dtype.name}({source(value.item())})"
    if isinstance(value, np.ndarray) and value.size < 200 and value.dtype.kind in "biufc":
        return f"np.array({source(value.tolist())}, '{value.dtype.name}')"
    if isinstance(value, list):
        return "[" + ", ".join(map(source, value)) + "]"
    if isinstance(value, tuple):
        return "(" + "".join(f"{source(v)}, " for v in value) + ")"
    if type(value).__name__ == "DType":
        return f"tf.{value.name}"
    if hasattr(value, "numpy"):
        array = np.asarray(value.numpy())
        if array.dtype.kind == "O":
            return f"tf.constant({array.tolist()!r})"
        if array.size < 200 and array.dtype.name != "bfloat16":
            return f"tf.constant({source(array.tolist())}, tf.{array.dtype.name}, {list(array.shape)})"
    raise _NoSource


def corpus() -> dict[str, list[tuple[list[str], dict[str, str]]]]:
    """Returns the arguments of the examples' calls, as texts, by the function's name."""
    from tests.hostile import arguments

    found: dict[str, list[tuple[list[str], dict[str, str]]]] = {}
    with arguments._eagerly():
        for name, function in arguments._functions():
            if not inspect.isfunction(function) or any(part in name for part in _LEFT_OUT):
                continue
            for args, kwargs in filter(any, _calls(function)[:2]):
                with contextlib.suppress(_NoSource):
                    texts = list(map(source, args)), {k: source(v) for k, v in kwargs.items()}
                    found.setdefault(name, []).append(texts)
    return found


def _calls(function: Any) -> list[tuple[Any, Any]]:
    """Runs the example of a docstring; returns the arguments of the calls of the function."""
    import graphgrad.compat.v2 as tf
    from tests.hostile import arguments

    calls: list[tuple[Any, Any]] = []
    short = function.__name__

    def noted(*args: Any, **kwargs: Any) -> Any:
        calls.append((args, kwargs))
        return function(*args, **kwargs)

    class Short(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.Call:
            self.generic_visit(node)
            if ast.unparse(node.func).startswith("tf.") and ast.unparse(node.func).endswith(f".{short}"):
                node.func = ast.Name(short, ast.Load())
            return node

    scope = {k: v for k, v in vars(sys.modules[function.__module__]).items() if not k.startswith("_")}
    scope.update(tf=tf, np=np, sess=arguments._Eager(), as_dtype=tf.as_dtype)
    scope[short] = noted
    # What an example needs besides (a session, a variable) may not be there; the calls before count.
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()), arguments._in_time():
        for example in doctest.DocTestParser().get_examples(inspect.getdoc(function) or ""):
            tree = ast.fix_missing_locations(Short().visit(ast.parse(example.source)))
            exec(compile(tree, "example", "exec"), scope)
    return calls


def neighbours(text: str) -> list[str]:
    """Returns expressions for values that are near the one of an expression."""
    value: Any = ...
    with contextlib.suppress(ValueError, SyntaxError):
        value = ast.literal_eval(text)
    if isinstance(value, bool):
        return ["0", "1", "2", "None", "'yes'", f"np.bool_({text})", f"tf.constant({text})", "1.0", "[True]"]
    if isinstance(value, int):
        return [f"{value}.5", f"{float(value)}", f"'{value}'", "None", f"np.int64({value})", f"np.int8({value % 128})",
                f"np.uint8({abs(value) % 256})", f"np.float32({value})", f"np.float64({value}.5)", "-1", "-2", "0",
                "100", f"[{value}]", f"({value},)", f"tf.constant({value})", f"tf.constant({value}, tf.int64)", "1j",
                "[]", f"tf.constant({value}.0)", f"np.array({value})", f"np.array([{value}])",
                f"tf.constant('{value}')"]
    if isinstance(value, float):
        return [f"'{value}'", "None", f"np.float64({value})", f"np.float16({value})", "True", f"[{value}]", "1j",
                "-1.0", f"tf.constant({value}, tf.float64)", "float('nan')", "0.0", f"np.array({value})", "2"]
    if isinstance(value, (str, bytes)):
        other = value.encode() if isinstance(value, str) else value.decode("latin1")
        return [repr(value.upper()), repr(value.lower()), "''", "'x'", "None", "0", repr(other), f"[{text}]",
                f"tf.constant({text})", f"np.array({text})", f"[{text}, {text}]"]
    if value is None:
        return ["0", "1", "-1", "[]", "[0]", "1.5", "'a'", "True"]
    if text.startswith("tf.") and "(" not in text:
        name = text[3:]
        return [f"'{name}'", f"np.{name}", "None", "float", "bool", "tf.float64", "tf.int32", "tf.string", "'nonsense'",
                "np.dtype('float64')", "tf.bfloat16", "tf.complex64", "tf.uint8", "np.float16", "1"]
    array = f"np.asarray({text})"
    return [*(f"{array}.astype('{d}')" for d in _DTYPES), f"tf.constant({text})", f"[{text}]", f"({text})[0]",
            f"tf.constant({text})[0]", f"{array}[:0]", f"{array}.T", f"np.concatenate([{array}, {array}])", "None", "1",
            "1.5", "'a'", "[]", "[[]]", "[[1], [2, 3]]", f"tf.Variable({text})", f"tuple({text})", f"list({text})",
            f"[tf.constant(q) for q in {text}]", f"{array}[..., None]", f"-{array}", f"{array}.tolist()",
            f"list({array})", f"{array}.astype(str)", "tf.ragged.constant([[1.0], [2.0, 3.0]])", "range(3)"]


def programs(calls: dict[str, list[tuple[list[str], dict[str, str]]]], first: int, count: int) -> Iterator[str]:
    """Yields expressions: calls with one or two arguments replaced."""
    names = sorted(calls)
    for seed in range(first, first + count):
        rng = random.Random(seed)
        name = rng.choice(names)
        given, named = rng.choice(calls[name])
        args, kwargs = list(given), dict(named)
        for _ in range(rng.choice([1, 1, 1, 2])):
            places: list[Any] = [*range(len(args)), *kwargs]
            if places:
                place = rng.choice(places)
                holder: Any = args if isinstance(place, int) else kwargs
                holder[place] = rng.choice(neighbours(holder[place]))
        yield f"{name}({', '.join([*args, *(f'{k}={v}' for k, v in kwargs.items())])})"


# -- how it is run -------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Returns a result as JSON has it: what kind of object, dtype, shape, numbers."""
    if isinstance(value, dict):
        return ["dict", {str(k): plain(v) for k, v in value.items()}]
    if isinstance(value, (list, tuple)):
        return ["list", *map(plain, value)]
    if value is None or isinstance(value, (bool, int, float, str)):
        return [type(value).__name__, str(value)]
    kind = type(value).__name__.removesuffix("Value")
    if kind == "RaggedTensor":
        return [kind, value.to_list()]
    if kind == "SparseTensor":
        return [kind, plain(value.indices), plain(value.values), plain(value.dense_shape)]
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if array.dtype.kind in "OSU":
        return ["string", list(array.shape), [str(v) for v in array.ravel().tolist()[:1000]]]
    if array.dtype.kind == "c":
        array, name = np.stack([array.real, array.imag]), array.dtype.name
    else:
        array, name = array if array.dtype.kind in "biu" else array.astype(np.float64), array.dtype.name
    return [name, list(array.shape), array.ravel().tolist()[:3000]]


def same(a: Any, b: Any) -> bool:
    """Returns whether two results are equal up to rounding."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=2e-5, abs_tol=1e-6)
    return type(a) is type(b) and bool(a == b)


def _result(text: str, mode: str, v1: Any, v2: Any) -> Any:
    scope = {"tf": v2 if mode == "eager" else v1, "tf1": v1, "tf2": v2, "np": np}
    if mode == "eager":
        return plain(eval(text, scope))
    with v1.Graph().as_default(), v1.Session() as sess:
        def run(value: Any) -> Any:
            if type(value) in (list, tuple):
                return [run(v) for v in value]
            return sess.run(value) if hasattr(value, "graph") or hasattr(value, "_fields") else value

        built = eval(text, scope)
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        return plain(run(built))


class _TooLong(BaseException):
    """Raised in a call that takes long; no `except Exception` holds it up."""


def serve(which: str) -> None:
    """Runs the expressions that come in, one a line, in "tensorflow" or "graphgrad"."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    if which == "tensorflow":
        import tensorflow as v2

        v1 = v2.compat.v1
        v2.get_logger().setLevel("ERROR")
    else:
        import graphgrad as v2
        import graphgrad.compat.v1 as v1

    def end(*_: Any) -> None:
        raise _TooLong

    signal.signal(signal.SIGALRM, end)
    for line in sys.stdin:
        text, mode = json.loads(line)
        signal.alarm(_SECONDS)
        try:
            answer = ["result", _result(text, mode, v1, v2)]
        except _TooLong:
            answer = ["too long", ""]
        except Exception as e:
            answer = ["error", f"{type(e).__name__}: {str(e)[:200]}"]
        finally:
            signal.alarm(0)
        print(json.dumps(answer), file=answers)


def results(python: str, which: str, texts: list[str], mode: str) -> list[Any]:
    """Returns what each expression gives in a process of its own; "ended" where the process did."""
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT),
           "GRAPHGRAD_FIRST_RUN": "numpy"}
    if which == "graphgrad":
        env["PYTHONPATH"] += os.pathsep + str(ROOT / "src")
    found: list[Any] = []
    while len(found) < len(texts):
        process = subprocess.Popen([python, "-m", "tests.programs.argument_programs", "--serve", which], env=env,
                                   text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        lines = "".join(json.dumps([text, mode]) + "\n" for text in texts[len(found):])

        def feed(pipe: Any = process.stdin, lines: str = lines) -> None:
            with contextlib.suppress(BrokenPipeError), pipe:
                pipe.write(lines)

        threading.Thread(target=feed, daemon=True).start()
        assert process.stdout is not None
        found += [json.loads(line) for line in process.stdout]
        process.wait()
        if len(found) < len(texts):
            found.append(["ended", ""])
    return found


def verdict(there: Any, here: Any) -> str:
    """Returns how two answers differ, as the table above has it."""
    if there[0] == here[0] == "result":
        return "same" if same(there[1], here[1]) else "VALUE"
    if there[0] == "result":
        return "refused" if here[0] == "error" else here[0]
    if here[0] == "result":
        # What has no shape or no kernel there is not forbidden.
        lacks = any(word in there[1] for word in ("AttributeError", "NotFoundError", "NotImplementedError"))
        return "more" if lacks else "silent"
    return "both refuse"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--serve", choices=("tensorflow", "graphgrad"), help="used by the command itself")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="a Python with TensorFlow")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: %(default)s)")
    parser.add_argument("--count", type=int, default=100, help="how many (default: %(default)s)")
    parser.add_argument("--mode", choices=("eager", "graph"), default="eager", help="default: %(default)s")
    parser.add_argument("--show", default="VALUE,refused,silent,ended,too long", help="which verdicts are printed")
    args = parser.parse_args()
    if args.serve:
        serve(args.serve)
        return 0
    texts = list(dict.fromkeys(programs(corpus(), args.first, args.count)))
    there = results(args.tensorflow, "tensorflow", texts, args.mode)
    here = results(sys.executable, "graphgrad", texts, args.mode)
    counts: collections.Counter[str] = collections.Counter()
    for text, a, b in zip(texts, there, here, strict=True):
        found = verdict(a, b)
        counts[found] += 1
        if found in args.show.split(","):
            print(found, text[:300], f"  there: {str(a)[:200]}", f"  here:  {str(b)[:200]}", sep="\n")
    print(dict(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
