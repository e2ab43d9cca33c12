"""Programs with libraries of functions; see `reference_cases`."""

from __future__ import annotations

from typing import Any

from .reference_cases import XS, Case


def _x(tf: Any) -> Any:
    return tf.placeholder(tf.float32, [3], name="x")


def _case(outputs: list[Any], xs: list[Any], **more: Any) -> Case:
    return {"outputs": outputs, "feeds": {"x:0": XS}, "xs": xs, **more}


def _defun(tf: Any) -> Any:
    from tensorflow.python.framework.function import Defun

    return Defun


def direct_calls(tf: Any) -> Case:
    """Functions of 1.x, called by the operation of their name: several results, nested, captured."""
    defun = _defun(tf)
    x = _x(tf)
    outside = x * 0.5

    @defun(tf.float32, func_name="SquareOf")
    def square(a: Any) -> Any:
        return a * a

    @defun(tf.float32, tf.float32, func_name="BothOf")
    def both(a: Any, b: Any) -> Any:
        return square(a) + b, tf.sin(b) * outside

    first, second = both(x, x + 1.0)
    return _case([first * second, square(first)], [x])


def symbolic_gradient(tf: Any) -> Case:
    """The gradient of a function, in the graph as SymbolicGradient."""
    defun = _defun(tf)
    x = _x(tf)

    @defun(tf.float32, tf.float32)
    def product(a: Any, b: Any) -> Any:
        return tf.tanh(a) * b

    y = product(x, x * x)
    (dx,) = tf.gradients(y, [x])
    return _case([y, dx], [x])


def gradient_functions(tf: Any) -> Case:
    """A gradient function registered in the library, and its use in the graph."""
    defun = _defun(tf)
    x = _x(tf)

    @defun(tf.float32, tf.float32)
    def slope(a: Any, dy: Any) -> Any:
        return dy * tf.cos(a) * 3.0

    @defun(tf.float32, grad_func=slope)
    def sine(a: Any) -> Any:
        return tf.sin(a)

    y = sine(x) * x
    (dx,) = tf.gradients(y, [x])
    return _case([y, dx], [x])


def traced_functions(tf: Any) -> Case:
    """Functions of 2.x in a graph of 1.x: calls with effects and without, with their gradients in the graph."""
    x = _x(tf)
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=True)

    @tf.function
    def pure(a: Any) -> Any:
        return tf.tanh(a) * a

    @tf.function
    def stateful(a: Any) -> Any:
        v.assign_add(a)
        return pure(v * a)

    y = stateful(x)
    with tf.control_dependencies([y]):
        after = v.read_value() * 1.0
    dx, dv = tf.gradients(y, [x, v])
    return _case([y, dx, dv, after], [x])


def functional_branches(tf: Any) -> Case:
    """If, Case and While as operations, within functions."""
    from tensorflow.python.ops import cond_v2, functional_ops, while_v2

    x = _x(tf)

    @tf.function
    def within(a: Any) -> Any:
        b = cond_v2.cond_v2(a[0] > 0.0, lambda: a * 2.0, lambda: tf.sin(a))
        return while_v2.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 0.5 + a), [0, b])[1]

    @_defun(tf)(tf.float32)
    def double(a: Any) -> Any:
        return a * 2.0

    @_defun(tf)(tf.float32)
    def half(a: Any) -> Any:
        return a * 0.5

    chosen = functional_ops.If(x[0] > 0.0, [x], double, half)[0]
    other = tf.raw_ops.Case(branch_index=tf.cast(x[1], tf.int32), input=[x], Tout=[tf.float32],
                            branches=[double, half, double])[0]
    y = within(x) + chosen
    return _case([y, other], [x])


def functional_loops(tf: Any) -> Case:
    """While and For as operations."""
    from tensorflow.python.ops import functional_ops

    x = _x(tf)

    @_defun(tf)(tf.int32, tf.float32)
    def test(i: Any, a: Any) -> Any:
        return i < 4

    @_defun(tf)(tf.int32, tf.float32)
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.sin(a) * 2.0

    @_defun(tf)(tf.int32, tf.float32)
    def step(i: Any, a: Any) -> Any:
        return a * 0.5 + tf.cast(i, tf.float32)

    y = functional_ops.While([0, x], test, body)[1]
    z = functional_ops.For(0, 6, 2, [x], step, rewrite_with_while=False)[0]
    return _case([y, z], [])


def remote_calls(tf: Any) -> Case:
    """A call of a function on a device that is named."""
    from tensorflow.python.ops import functional_ops

    x = _x(tf)

    @_defun(tf)(tf.float32)
    def double(a: Any) -> Any:
        return a * 2.0 + 1.0

    y = functional_ops.remote_call(args=[x], Tout=[tf.float32], f=double, target="/job:localhost/device:CPU:0")[0]
    return _case([y], [])


def effects_in_functions(tf: Any) -> Case:
    """Functions whose only point are effects, and checks in functions."""
    x = _x(tf)
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @tf.function
    def change(a: Any) -> None:
        v.assign_add(tf.reduce_sum(a))
        tf.debugging.assert_less(a, 1000.0)

    @tf.function
    def several(a: Any) -> Any:
        change(a)
        return v * 2.0, {"more": a * v}

    first, rest = several(x)
    return _case([first, rest["more"]], [])


def custom_gradients(tf: Any) -> Case:
    """A custom gradient in the graph, whose gradient was taken there."""
    x = _x(tf)

    @tf.custom_gradient
    def doubled(a: Any) -> Any:
        return tf.sin(a), lambda dy: dy * 7.0

    y = doubled(x) * x
    (dx,) = tf.gradients(y, [x])
    return _case([y, dx], [])


CASES = {f.__name__: f for f in (
    direct_calls, symbolic_gradient, gradient_functions, traced_functions, functional_branches, functional_loops,
    remote_calls, effects_in_functions, custom_gradients)}
