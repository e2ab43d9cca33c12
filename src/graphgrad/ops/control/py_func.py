"""Operations that run Python: user functions, printing, timestamps."""

from __future__ import annotations

import itertools
import sys
import time
import weakref
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, InvalidArgumentError
from graphgrad.ir import context
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, dtype_of, string
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.files.atomic_files import system_errors
from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.format_values import pretty, summarize_value
from graphgrad.system.own_arrays import own_copy

_tokens = itertools.count()
_calls: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()  # operations by their tokens

# TensorFlow's messages use the names of C++ types.
_CPP_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def _call(func: Any, token: str, args: Any, Tout: Any) -> list[Any]:
    """Calls the user's function with NumPy values and checks what it returns."""
    with context.use(context.EAGER):
        result = func(*[np.array(a)[()] for a in args])  # copies, which the function may change
    if result is None:
        result = []
    values = [_to_array(v) for v in (result if isinstance(result, (list, tuple)) else [result])]
    if len(values) != len(Tout):
        raise Complaint(f"{token} returns {len(values)} values, but expects to see {len(Tout)} values",
                        "return as many values as Tout names; a list counts as several, an array as one")
    for i, (value, wanted) in enumerate(zip(values, Tout, strict=True)):
        got = as_dtype(value.dtype)
        if got is not wanted:
            raise Complaint(f"{i}-th value returned by {token} is {_CPP_NAMES.get(got.name, got.name)}, "
                            f"but expects {_CPP_NAMES.get(wanted.name, wanted.name)}",
                            f"return np.asarray(value, np.{wanted.name}), or change Tout")
    return values


def _to_array(value: Any) -> Any:
    if isinstance(value, EagerTensor):
        return np.asarray(value._value)
    array = np.asarray(value)
    if isinstance(value, np.ndarray):
        array = own_copy(array)  # the function may keep it, and change it
    if array.dtype.kind in "US":
        array = np.array([v.encode() if isinstance(v, str) else v for v in array.ravel().tolist()] + [None], object)[
            :-1].reshape(array.shape)
    return array


@op("PyFunc", "input: list(Tin) -> output: list(Tout)", flags=("stateful", "host", "python"),
    gradient_advice="tf.py_function, or tf.custom_gradient around it")
def py_func_op(xp, input, *, func, Tout, token="pyfunc"):
    """Calls a Python function of NumPy arrays."""
    return _call(func, token, input, Tout)


py_func_op.grad(NOT_DIFFERENTIABLE)


@op("PyFuncStateless", "input: list(Tin) -> output: list(Tout)", flags=("host", "calls", "python"),
    gradient_advice="tf.py_function, or tf.custom_gradient around it")
def py_func_stateless_op(xp, input, *, func, Tout, token="pyfunc"):
    """Calls a Python function of NumPy arrays whose result depends on nothing else."""
    return _call(func, token, input, Tout)


py_func_stateless_op.grad(NOT_DIFFERENTIABLE)


@op("EagerPyFunc", "input: list(Tin) -> output: list(Tout)", flags=("stateful", "host", "python"))
def eager_py_func_op(xp, input, *, func, Tin, Tout, token="pyfunc"):
    """Calls a Python function of eager tensors."""
    with context.use(context.EAGER):
        result = func(*[EagerTensor(np.asarray(a), t) for a, t in zip(input, Tin, strict=True)])
        if not Tout:
            return []
        values = result if isinstance(result, (list, tuple)) else [result]
        if len(values) != len(Tout):
            raise Complaint(f"{token} returns {len(values)} values, but expects to see {len(Tout)} values",
                            "return as many values as Tout names")
        return [np.asarray(convert_to_tensor(v, t)._value) for v, t in zip(values, Tout, strict=True)]


@eager_py_func_op.grad
def _eager_py_func_grad(op, *dys):
    """Builds another EagerPyFunc, of the gradients and the inputs; unused inputs get zero."""
    func = op._attr("func")
    if not hasattr(func, "gradient"):
        raise LookupError(f"EagerPyFunc '{op.name}' has no gradient: its function was not made by tf.py_function.")
    given = [i for i, dy in enumerate(dys) if dy is not None and op.outputs[i].dtype.is_differentiable]
    sources = [i for i, x in enumerate(op.inputs) if x.dtype.is_differentiable]
    types = tuple(op.inputs[i].dtype for i in sources)
    differentiate = func.gradient(given, sources, types)
    inputs = [*(dys[i] for i in given), *op.inputs]
    results = raw.EagerPyFunc(inputs, func=differentiate, Tout=types, token=op._attr("token") + "_grad")
    gradients: list[Any] = [None] * len(op.inputs)
    for i, g in zip(sources, results, strict=True):
        if hasattr(g, "set_shape"):
            g.set_shape(op.inputs[i].shape)
        gradients[i] = g
    return gradients


def function_of(token: str) -> Any:
    """Returns the Python function that an operation of this process calls, by its token.

    Args:
      token: the attribute `token` of the operation.
    Returns: the function; one that raises InvalidArgumentError if there is none.
    """
    op = _calls.get(token)
    if op is not None:
        return op._attr("func")

    def missing(*_: Any) -> Any:
        raise InvalidArgumentError(None, None, f"ValueError: callback {token} is not found: another process wrote the "
                                   "graph, or the function is gone.\n  Fix: build the operation here, and give its "
                                   "result to import_graph_def as input_map")

    return missing


def build_py_func(op_type: str, func: Any, inp: Any, Tout: Any, name: str | None, wrap: Any = None) -> Any:
    """Builds an op that calls a Python function.

    Args:
      op_type: PyFunc, PyFuncStateless or EagerPyFunc.
      func, inp, Tout, name: as in `py_func`.
      wrap: wraps the function, given it and the dtypes of its results.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func} of type {type(func)}.")
    several = isinstance(Tout, (list, tuple))
    specs = list(Tout) if several else [] if Tout is None else [Tout]
    types = tuple(map(dtype_of, specs))
    graph = context.current_graph()
    tensors = [convert_to_tensor(x, name="input") for x in inp or ()]
    func = func if wrap is None else wrap(func, types)
    token = f"pyfunc_{next(_tokens)}"
    results = getattr(raw, op_type)(tensors, func=func, Tout=types, token=token, name=name)
    if graph is not None:
        _calls[token] = graph._operations[-1]
    for t, spec in zip(results, specs, strict=True):
        if graph is not None and not isinstance(spec, type) and hasattr(spec, "shape"):
            t.set_shape(spec.shape)
    if not types:
        return None if graph is None else graph._operations[-1]
    return results if several else results[0]


def py_func(func: Any, inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Tensor | Any:
    """Calls a Python function of NumPy arrays when the graph runs.

    Args:
      func: takes one array (a NumPy scalar for rank 0) for each of `inp`, returns an array or a
        list of arrays.
      inp: a list of tensors.
      Tout: the dtype of the result, or a list of dtypes.
      stateful: False if equal arguments give equal results.
      name: a name for the operation.
    Returns: a tensor of unknown shape, or a list of them; the operation if Tout is empty.
    Raises: InvalidArgumentError when it runs if number or dtypes of the results differ from Tout;
      what `func` raises becomes InvalidArgumentError (ValueError, TypeError), OutOfRangeError
      (StopIteration) or UnknownError.
    Gradient: none; use `tf.custom_gradient` around it.
    Reference: TensorFlow 2.21 PyFunc.

    >>> sess.run(tf.py_func(lambda a: a + a, [tf.constant([1, 2])], tf.int32))
    array([2, 4], dtype=int32)
    """
    if context.current_graph() is None:
        return _call_now(func, inp)
    return build_py_func("PyFunc" if stateful else "PyFuncStateless", func, inp, Tout, name)


def numpy_function(func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True,
                   name: str | None = None) -> Tensor | Any:
    """Calls a Python function of NumPy arrays when the graph runs.

    Args:
      func, inp, Tout, stateful, name: as in `tf.compat.v1.py_func`.
    Returns: a tensor of unknown shape, or a list of them; the operation if Tout is empty.
    Raises: InvalidArgumentError when it runs if the results do not fit Tout.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.numpy_function`.

    >>> sess.run(tf.numpy_function(np.sinh, [tf.constant(0.0)], tf.float32))
    np.float32(0.0)
    """
    return py_func(func, inp, Tout, stateful, name)


def _call_now(func: Any, inp: Any) -> Any:
    result = func(*[np.array(x) for x in inp or ()])
    if isinstance(result, (list, tuple)):
        values = [None if v is None else convert_to_tensor(v) for v in result]
        return values[0] if len(values) == 1 else values
    return None if result is None else convert_to_tensor(result)


# -- printing ------------------------------------------------------------------------------------


class _Count:
    """The number of times that a Print has printed."""

    def __init__(self) -> None:
        self.n = 0


@op("Print", "input: T, data: list(U) -> output: T", flags=("stateful", "host"))
def print_op(xp, input, data, *, message="", first_n=-1, summarize=3, count=None):
    """Prints the data to stderr, and returns the input."""
    if count is not None and first_n >= 0:
        count.n += 1
        if count.n > first_n:
            return input
    sys.stderr.write(str(message) + "".join(f"[{summarize_value(d, summarize)}]" for d in data) + "\n")
    return input


@print_op.shape
def _print_shape(input, data):
    return input


@print_op.grad
def _print_grad(op, dy):
    return [dy] + [None] * (len(op.inputs) - 1)


def Print(input_: Any, data: TensorLike, message: str | None = None, first_n: int | None = None,
          summarize: int | None = None, name: str | None = None) -> Tensor:
    """Prints `data` to stderr whenever the result is computed, and returns its input.

    Args:
      input_: a tensor.
      data: a list of tensors to print.
      message: a string to print first.
      first_n: the number of times to print; always by default.
      summarize: the number of elements to print of each tensor; 3 by default, -1 for all.
      name: a name for the operation.
    Returns: a tensor equal to `input_`.
    Gradient: the identity's; None for the data.
    Reference: TensorFlow 2.21 Print.

    >>> sess.run(tf.Print(tf.constant(1), [], "now: "))
    np.int32(1)
    """
    return raw.Print(input_, [convert_to_tensor(d) for d in data], message=message or "",
                     first_n=-1 if first_n is None else first_n, summarize=3 if summarize is None else summarize,
                     count=_Count(), name=name)


@op("StringFormat", "inputs: list(T) -> output: string", flags=("host",))
def string_format_op(xp, inputs, *, template="%s", placeholder="%s", summarize=3):
    """Replaces each placeholder of the template by a tensor."""
    parts = template.split(placeholder)
    text = parts[0] + "".join(pretty(t, summarize) + p for t, p in zip(inputs, parts[1:], strict=True))
    result = np.empty((), object)
    result[()] = text.encode("utf-8", "surrogateescape")
    return result


@string_format_op.shape
def _string_format_shape(inputs):
    return ()


string_format_op.grad(NOT_DIFFERENTIABLE)


@op("PrintV2", "input: string ->", flags=("stateful", "host"))
def print_v2_op(xp, input, *, output_stream="stderr", end="\n"):
    """Prints a string."""
    text = np.asarray(input)[()].decode("utf-8", "replace") + end
    if output_stream.startswith("file://"):
        with system_errors(output_stream[7:]), open(output_stream[7:], "a", encoding="utf-8") as f:
            f.write(text)
    elif output_stream.startswith("log("):
        import logging

        level = getattr(logging, output_stream[4:-1].upper(), logging.INFO)
        logging.getLogger("tensorflow").log(level, text.rstrip("\n"))
    else:
        stream = sys.stdout if output_stream == "stdout" else sys.stderr
        stream.write(text)
        stream.flush()


print_v2_op.grad(NOT_DIFFERENTIABLE)


class _Slot:
    """A placeholder for a tensor in a structure that is printed."""

    def __init__(self, placeholder: str):
        self.placeholder = placeholder

    def __repr__(self) -> str:
        return self.placeholder


def _fill(structure: Any, placeholder: str, tensors: list[Any]) -> Any:
    """Replaces each tensor of a structure by a `_Slot`, and appends it to `tensors`."""
    if isinstance(structure, dict):
        return {k: _fill(structure[k], placeholder, tensors) for k in structure}
    if isinstance(structure, (list, tuple)):
        filled = [_fill(v, placeholder, tensors) for v in structure]
        if hasattr(structure, "_fields"):
            return type(structure)(*filled)
        return type(structure)(filled)
    if hasattr(structure, "_spec") or hasattr(structure, "_as_tensor"):
        tensors.append(convert_to_tensor(structure))
        return _Slot(placeholder)
    return structure


def print_tensors(*inputs: Any, **kwargs: Any) -> Operation | Any:
    """Prints its arguments, tensors by their values.

    Args:
      *inputs: tensors, Python values, and structures of them.
      output_stream: sys.stderr (the default), sys.stdout, a logging function, or "file://...".
      summarize: the number of elements to print at each end of an axis; 3 by default, -1 for all.
      sep: the separator of the arguments; a space by default.
      end: printed last; a new line by default.
      name: a name for the operation.
    Returns: the operation, to be run or waited for; None in eager mode.
    Raises: ValueError for an unknown keyword or stream.
    Gradient: none; it has no outputs.
    Reference: TensorFlow 2.21 `tf.print`.

    >>> sess.run(tf.print("x =", tf.constant([1, 2]), output_stream=sys.stdout))
    x = [1 2]
    """
    stream = _stream(kwargs.pop("output_stream", sys.stderr))
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    if len(inputs) == 1 and getattr(inputs[0], "dtype", None) is string and inputs[0]._spec.shape == ():
        text = inputs[0]
    else:
        plain = sep + "".join(str(x) for x in inputs if not hasattr(x, "_spec"))
        candidates = itertools.chain(["{}"], (f"{{{i}}}" for i in itertools.count()))
        placeholder = next(p for p in candidates if p not in plain)
        tensors: list[Any] = []
        parts = []
        for x in inputs:
            filled = _fill(x, placeholder, tensors)
            import pprint

            parts.append(filled if isinstance(filled, str) else pprint.pformat(filled, sort_dicts=False))
        text = raw.StringFormat(tensors, template=sep.join(parts), placeholder=placeholder, summarize=summarize)
    return raw.PrintV2(text, output_stream=stream, end=end, name=name)


def _stream(stream: Any) -> str:
    if stream is sys.stdout or stream is sys.__stdout__:
        return "stdout"
    if stream is sys.stderr or stream is sys.__stderr__:
        return "stderr"
    if isinstance(stream, str) and (stream.startswith("file://") or stream in ("stdout", "stderr")):
        return stream
    level = getattr(stream, "__name__", "")
    if callable(stream) and level in ("info", "warning", "warn", "error"):
        return f"log({'warning' if level == 'warn' else level})"
    raise ValueError(f"Unsupported output stream, logging level, or file: {stream}. "
                     "Fix: use sys.stdout, sys.stderr, tf.logging.info/warning/error or 'file://<path>'")


@op("Timestamp", "-> ts: float64", flags=("stateful", "host"))
def timestamp_op(xp):
    """Returns the time in seconds since 1970."""
    return np.asarray(time.time(), np.float64)


@timestamp_op.shape
def _timestamp_shape():
    return ()


timestamp_op.grad(NOT_DIFFERENTIABLE)


def timestamp(name: str | None = None) -> Tensor:
    """Returns the time at which it runs, in seconds since 1970.

    Args:
      name: a name for the operation.
    Returns: a float64 scalar.
    Gradient: none.
    Reference: TensorFlow 2.21 Timestamp.

    >>> sess.run(tf.timestamp()) > 1e9
    np.True_
    """
    return raw.Timestamp(name=name)


__all__ = ["Print", "build_py_func", "numpy_function", "print_tensors", "py_func", "timestamp"]
