"""Of which class the errors of common mistakes are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..harness import case, raised

_OF_PYTHON = (IndexError, KeyError, StopIteration, ValueError, TypeError, RuntimeError, NotImplementedError,
              MemoryError, ZeroDivisionError, AssertionError, AttributeError, OSError, EOFError, RecursionError)


@case("graph")
def of_python_functions(tf: Any) -> Any:
    """What a function raises in a run; only StopIteration looks like the end of data."""
    found = []
    with tf.Session() as sess:
        for kind in _OF_PYTHON:

            def fails(kind: Any = kind) -> Any:
                raise kind

            def yields(kind: Any = kind) -> Any:
                yield 1
                raise kind

            for call in (tf.py_func, tf.numpy_function, tf.py_function):
                y = call(fails, [], tf.float32)
                found.append(raised(lambda y=y: sess.run(y)))
            data = tf.data.make_initializable_iterator(tf.data.Dataset.from_generator(yields, tf.int32, []))
            element = data.get_next()
            sess.run([data.initializer])
            sess.run(element)
            found.append(raised(lambda element=element: sess.run(element)))
    return found


@case("graph")
def of_feeds(tf: Any) -> Any:
    switch, whole = tf.placeholder(tf.bool, []), tf.placeholder(tf.int32, [])
    sparse = tf.sparse_placeholder(tf.float32)
    text = tf.placeholder(tf.string, [])
    element = tf.data.Iterator.from_string_handle(text, tf.int64, []).get_next()
    given = [(tf.identity(switch), switch, v) for v in (3, 2, -1, 1, 0, True, np.array(2))]
    given += [(tf.identity(whole), whole, v) for v in (None, np.array(None), "a", 2**40)]
    given += [(tf.sparse.to_dense(sparse), sparse, v) for v in (5, None, "a", [1, 2], np.ones([2, 2]))]
    given += [(element, text, v) for v in ("nonsense", b"")]
    with tf.Session() as sess:
        return [raised(lambda y=y, x=x, v=v: sess.run(y, {x: v})) for y, x, v in given]


@case("graph")
def of_callables(tf: Any) -> Any:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        call = sess.make_callable(x + y, [x, y])
        return [raised(lambda: call(1.0)), raised(call), raised(lambda: call("a", 1.0)), call(1.0, 2.0)]


@case("graph")
def complex_values_for_real_placeholders(tf: Any) -> Any:
    """Their real part is fed."""
    found = []
    with tf.Session() as sess, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in (tf.float32, tf.float64, tf.int32):
            x = tf.placeholder(dtype, None)
            found += [sess.run(tf.identity(x), {x: v}) for v in (1.5 + 2j, [1j, 2.0], np.array([1 + 2j]))]
    return found


def _wrong_dtypes(tf: Any) -> Any:
    """What takes arguments of the wrong dtype: in eager mode one class, in graphs Python's."""
    v1 = tf.compat.v1 if hasattr(tf, "compat") else tf
    whole, real, double, truth = (tf.constant([1, 2]), tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0], tf.float64),
                                  tf.constant([True, False]))
    square = tf.ones([2, 2])
    return [
        lambda: whole + real, lambda: real * double, lambda: whole < real, lambda: -truth, lambda: ~real,
        lambda: tf.matmul(tf.cast(square, tf.int32), square), lambda: tf.sqrt(whole), lambda: tf.signal.fft(real),
        lambda: tf.concat([whole, real], 0), lambda: tf.stack([whole, real]), lambda: v1.where(truth, whole, real),
        lambda: tf.gather(real, [1.0]), lambda: tf.one_hot([1.0], 2), lambda: tf.logical_and(real, real),
        lambda: whole + 1.5, lambda: real + "a", lambda: tf.reshape(real, [1.0]), lambda: tf.tile(real, real),
        lambda: tf.add_n([whole, real]), lambda: tf.raw_ops.Sqrt(x=whole), lambda: tf.strings.length(real),
        lambda: tf.truediv(whole, real), lambda: real[1.0], lambda: tf.constant("a", tf.float32),
    ]


@case("eager")
def of_dtypes(tf: Any) -> Any:
    whole, real = tf.constant([1, 2]), tf.constant([1.0, 2.0])
    return [raised(call) for call in [*_wrong_dtypes(tf), lambda: whole == real]]


@case("graph")
def of_dtypes_in_a_graph(tf: Any) -> Any:
    return [raised(call) for call in _wrong_dtypes(tf)]


@case("eager")
def of_dtypes_in_a_function(tf: Any) -> Any:
    with tf.Graph().as_default():
        count = len(_wrong_dtypes(tf))
    return [raised(tf.function(lambda i=i: _wrong_dtypes(tf)[i]() and 0, autograph=False)) for i in range(count)]
