"""Small things that programs meet: what loop variables began with, numbers out of range, axes, lists that grow."""

from __future__ import annotations

import array
import ctypes
from typing import Any

import numpy as np

from ..harness import case, raised


@case("graph")
def the_initial_value_of_a_loop_variable(tf: Any) -> Any:
    x, v = tf.placeholder_with_default(2.0, []), tf.Variable(3.0, use_resource=True)
    is_none: list[Any] = []

    def body(i: Any, a: Any) -> Any:
        own, outer = tf.gradients(a * a, [a, x])
        is_none.append([g is None for g in (own, outer, *tf.gradients(a * a, [x], stop_gradients=[a]))])
        is_none.append(tf.gradients(a * a, v)[0] is None)
        direct = tf.gradients(a * a + x * x, x)[0]
        zero = tf.gradients(a * a, x, unconnected_gradients="zero")[0]
        inner = tf.cond(a > 0.0, lambda: a if tf.gradients(a * a, x)[0] is None else -a, lambda: a)
        return i + 1, a * 2.0 + own + direct + zero + inner

    y = tf.while_loop(lambda i, a: i < 3, body, [0, x * v])[1]
    fetches = [y, *tf.gradients(y, [x, v])]
    with tf.Session() as sess:
        sess.run(v.initializer)
        return is_none, [sess.run(fetches) for _ in range(3)]


@case("graph")
def an_optimizer_in_a_loop_over_what_began_with_the_variable(tf: Any) -> Any:
    v, said = tf.Variable(3.0, use_resource=True), []

    def body(i: Any, a: Any) -> Any:
        said.append(raised(lambda: tf.train.GradientDescentOptimizer(0.1).minimize(a * a, var_list=[v])))
        return i + 1, a

    tf.while_loop(lambda i, a: i < 3, body, [0, v * 2.0])
    return said


_OUT_OF_RANGE = [(300, "uint8"), (-1, "uint8"), (2**31, "int32"), (-129, "int8"), (128, "int8"), (2**40, "int32"),
                 (70000, "uint16"), (-1, "uint32"), (2**32, "uint32"), ([1, 300], "uint8"), ([[-1], [2**35]], "int16"),
                 (70000, "float16"), (2**200, "float32")]


@case("eager")
def numbers_out_of_range(tf: Any) -> Any:
    return [[tf.constant(value, dtype), tf.convert_to_tensor(value, dtype), tf.constant(1, dtype) + value,
             tf.Variable(value, dtype=dtype).numpy()] for value, dtype in _OUT_OF_RANGE]


@case("graph")
def numbers_out_of_range_in_a_graph(tf: Any) -> Any:
    with tf.Session() as sess:
        return [sess.run([tf.constant(value, dtype), tf.constant(1, dtype) + value]) for value, dtype in _OUT_OF_RANGE]


@case("eager")
def numbers_that_64_bits_do_not_hold(tf: Any) -> Any:
    return [raised(lambda: tf.constant(2**63)), raised(lambda: tf.constant([1, 2**64])),
            raised(lambda: tf.constant(2**63, tf.int64)), tf.constant(2**63 + 1, tf.uint64)]


def _axes(tf: Any, get: Any) -> Any:
    a, found = np.arange(6.0).reshape(1, 2, 3).astype(np.float32), []
    for axis in (0.0, 1.0, -1.0, 1.5, np.float32(1), True, np.int64(1), "0", None, [1]):
        for call in (lambda at: tf.stack([a, a * 2], axis=at), lambda at: tf.one_hot([0, 2], 3, axis=at)):
            said = raised(lambda axis=axis, call=call: get(call(axis)))
            found.append(get(call(axis)) if said == "nothing" else said)
    return [*found, get(tf.squeeze(a, 0.0)), get(tf.squeeze(a, [0.0])), raised(lambda: get(tf.squeeze(a, "0")))]


@case("eager")
def axes_that_are_no_ints(tf: Any) -> Any:
    return _axes(tf, lambda t: t)


@case("graph")
def axes_that_are_no_ints_in_a_graph(tf: Any) -> Any:
    with tf.Session() as sess:
        return _axes(tf, sess.run)


@case("eager")
def subnormal_numbers_in_eager_mode(tf: Any) -> Any:
    x = tf.constant(np.array([1e-40, 1e-38, -5e-39, 1e-30], np.float32))
    return [x * 1.0, x * 0.5, x + x, tf.identity(x), -x, tf.exp(x * 0 - 90.0), tf.reduce_sum(x), x > 0.0, tf.sqrt(-x),
            tf.sign(x), tf.equal(x, 0.0), tf.cast(x, tf.float64), tf.cast(x, tf.bool), tf.maximum(x, 0.0)]


@case("graph")
def arrays_that_grow_after_they_were_unstacked(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 2])
    ta = tf.TensorArray(tf.float32, size=3, dynamic_size=True, clear_after_read=False).unstack(x)
    y = ta.write(4, x[0] * 2.0).stack()

    def body(i: Any, ta: Any) -> Any:
        return i + 1, ta.write(tf.shape(x)[0] + i, ta.read(i) * 3.0)

    z = tf.while_loop(lambda i, ta: i < 2, body, [0, ta])[1].stack()
    fetches = [y, tf.gradients(y * y, x)[0], z, tf.gradients(z * z, x)[0]]
    with tf.Session() as sess:
        return [sess.run(fetches, {x: np.arange(2.0 * n).reshape(n, 2)}) for n in (3, 2, 3)]


@case("eager")
def arrays_that_grow_in_a_function(tf: Any) -> Any:
    @tf.function
    def f(x: Any) -> Any:
        ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False).unstack(x)
        return ta.write(4, x[0] * 2.0).stack()

    x, found = tf.constant(np.arange(6.0).reshape(3, 2).astype(np.float32)), []
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
            z = y * y
        found.append([y, tape.gradient(z, x)])
    return found


_BOOLS = (True, [True], [[True, False]], [True, 1], [1, True], (True,), np.bool_(True), np.array([True]),
          [np.bool_(True)])  # fmt: skip


@case("eager")
def bools_as_numbers(tf: Any) -> Any:
    return [raised(lambda t=t, v=v: tf.constant(v, t)) for v in _BOOLS
            for t in ("uint8", "int8", "int16", "uint32", "int32", "uint64", "bfloat16", "float32", "complex64",
                      "complex128", "bool")]  # fmt: skip


@case("graph")
def bools_as_numbers_in_a_graph(tf: Any) -> Any:
    return [raised(lambda t=t, v=v: tf.Session().run(tf.constant(v, t))) for v in _BOOLS[:-1]
            for t in ("uint8", "int32", "float32", "complex64", "bool")]  # fmt: skip


_BUFFERS = (memoryview(np.arange(4.0, dtype="float32")), memoryview(np.array([1.5, 0.1])), array.array("d", [0.1, 2.0]),
            array.array("i", [1, -2]), array.array("q", [1, 2**40]), memoryview(b"ab"), bytearray(b"ab"),
            (ctypes.c_double * 2)(0.1, 2.0), (ctypes.c_int16 * 2)(1, 2))


@case("eager")
def buffers(tf: Any) -> Any:
    return [[tf.constant(b), tf.convert_to_tensor(b), tf.constant(b, tf.float64), tf.constant(2.0, tf.float64) * b]
            for b in _BUFFERS]


@case("graph")
def buffers_in_a_graph(tf: Any) -> Any:
    p = tf.placeholder(tf.float64)
    with tf.Session() as sess:
        return [sess.run([tf.constant(b), tf.convert_to_tensor(b), tf.constant(b, tf.float64), p * 2.0], {p: b})
                for b in (*_BUFFERS, memoryview(np.full((2, 2), 0.1)))]


@case("graph")
def numpy_values_for_inputs_of_one_dtype(tf: Any) -> Any:
    found = []
    for n in (np.float32(2), np.float64(1.5), np.array(2.0), np.float16(1.7)):
        tensors = [tf.one_hot([0, 1], n), tf.one_hot([0, 1], depth=n, axis=0), tf.split(np.eye(2), 2, np.float32(1))[0],
                   tf.shape(tf.random.categorical([[1.0, 1.0]], n)),
                   tf.dynamic_stitch([np.array([1.0, 0.0])], [[1, 2]])]  # fmt: skip
        found.append(tf.Session().run(tensors))
    return found


@case("graph")
def patterns_that_are_tensors(tf: Any) -> Any:
    texts, p = ["ab", "b", "abc"], tf.placeholder(tf.string)
    y = tf.strings.regex_full_match(texts, p)
    with tf.Session() as sess:
        return [
            [sess.run(y, {p: pattern}) for pattern in ("a.", "b", ".*", "")],
            sess.run([tf.strings.regex_full_match(texts, tf.constant("a.")),
                      tf.raw_ops.RegexFullMatch(input=texts, pattern="b")]),
            [raised(lambda: sess.run(y, {p: "("})), raised(lambda: sess.run(y, {p: ["a"]}))],
            raised(lambda: tf.strings.regex_full_match(texts, ["a"])),
        ]  # fmt: skip
