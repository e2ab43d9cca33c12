"""What a tape records, and what it does not.

Each program runs in eager mode, as a function and in a graph; all programs of a topic are one function, and one graph.
"""

from __future__ import annotations

from ..everywhere import Programs

program = Programs(__name__)


@program("recorded")
def outside(tf, x, s):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x
    z = y * y
    return t.gradient(z, x)


@program("recorded")
def target_outside(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
    z = y * y
    return t.gradient(z, x), t.gradient(y, x), t.gradient([y, z], x), t.gradient(z, y), t.gradient(z, z)


@program("recorded")
def stopped(tf, x, s):
    with tf.GradientTape() as t:
        t.watch(x)
        with t.stop_recording():
            y = x * x
    return t.gradient(y, x)


@program("recorded")
def stopped_in_part(tf, x, s):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x
        with t.stop_recording():
            z = x * y
        w = z * y
    return t.gradient(w, x)


@program("recorded")
def watched_late(tf, x, s):
    with tf.GradientTape() as t:
        y = x * x
        t.watch(x)
        z = y * x
    return t.gradient(z, x)


@program("recorded")
def watched_late_beside(tf, x, s):
    b = x * 2.0
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * b
        t.watch(b)
        z = y * b
    return t.gradient(y, x), t.gradient(y, b), t.gradient(z, b), t.gradient(z, x)


@program("recorded")
def unwatched_beside(tf, x, s):
    b = x * 2.0
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * b
    return t.gradient(y, [x, b])


@program("recorded")
def unwatched(tf, x, s):
    with tf.GradientTape() as t:
        y = x * x
    return t.gradient(y, [x, y])


@program("recorded")
def identity_of_x(tf, x, s):
    i = tf.identity(x)
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * i
    return t.gradient(y, x), t.gradient(y, i)


@program("recorded")
def identity_afterwards(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = tf.identity(x) * x
    i = tf.identity(x)
    return t.gradient(y, i), t.gradient(i, x), t.gradient(i, i)


@program("recorded")
def same_unwatched(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        y = x * 2.0
    return t.gradient(x, x), t.gradient(y, y), t.gradient(y, x), t.gradient(x, x, output_gradients=tf.constant(5.0))


@program("recorded")
def output_gradients(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
    z = y * 2.0
    return (
        t.gradient(y, x, output_gradients=tf.constant(5.0)),
        t.gradient(z, x, output_gradients=tf.constant(5.0)),
        t.gradient(z, z, output_gradients=tf.constant(5.0)),
        t.gradient(z, [z, x, y], output_gradients=tf.constant(5.0)),
    )


@program("recorded")
def reset_and_watched(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
        t.reset()
        t.watch(x)
        z = y * x
    return t.gradient(z, x), t.gradient(y, x)


@program("recorded")
def reset_alone(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
        t.reset()
        z = y * x
    return t.gradient(z, x), t.gradient(y, x)


@program("recorded")
def watch_mid(tf, x, s):
    y = x * x
    with tf.GradientTape(persistent=True) as t:
        t.watch(y)
        z = y * x
        w = x * x
    return t.gradient(z, y), t.gradient(z, x), t.gradient(w, x), t.gradient(w, y)


@program("recorded")
def used_inside_stop(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
        with t.stop_recording():
            g = t.gradient(y, x)
        z = g * x
    return g, t.gradient(z, x)


@program("recorded")
def watch_in_stop(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        with t.stop_recording():
            t.watch(x)
            y = x * x
        z = x * x
    return t.gradient(y, x), t.gradient(z, x)


@program("recorded")
def watch_after_exit(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        pass
    t.watch(x)
    y = x * x
    return t.gradient(y, x)


@program("recorded")
def watch_between(tf, x, s):
    t = tf.GradientTape(persistent=True)
    with t:
        pass
    t.watch(x)
    with t:
        y = x * x
    return t.gradient(y, x)


@program("recorded")
def watch_list(tf, x, s):
    b = x * 2.0
    with tf.GradientTape(persistent=True) as t:
        t.watch([x, {"b": b}])
        y = x * b
    return t.gradient(y, [x, b])


@program("recorded")
def reenter(tf, x, s):
    t = tf.GradientTape(persistent=True)
    with t:
        t.watch(x)
        y = x * x
    m = y * x
    with t:
        z = m * y
    return t.gradient(z, x), t.gradient(m, x), t.gradient(z, m)


@program("recorded")
def unstacked(tf, x, s):
    v = tf.stack([x, 2.0 * x])
    with tf.GradientTape(persistent=True) as t:
        t.watch(v)
        a, b = tf.unstack(v)
        y = a * a
    return t.gradient(y, v), t.gradient(y, b), t.gradient(y, a), t.gradient(a, b)


@program("recorded")
def no_grad_op(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = tf.round(x) * x
        tf.argmax(tf.stack([x, x]))
    return t.gradient(y, x), t.gradient(tf.floor(x), x)


@program("recorded")
def empty_targets(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
    return t.gradient([], x), t.gradient([y], [])


@program("nested")
def nested(tf, x, s):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@program("nested")
def nested_outside(tf, x, s):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
    g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@program("nested")
def nested_inner_watch_only(tf, x, s):
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x), outer.gradient(y, x)


@program("nested")
def inside_persistent(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x**3
        g = t.gradient(y, x)
        h = t.gradient(g, x)
    return g, h, t.gradient(h, x)


@program("nested")
def two_tapes_stop(tf, x, s):
    with tf.GradientTape(persistent=True) as a:
        with tf.GradientTape(persistent=True) as b:
            a.watch(x)
            b.watch(x)
            with b.stop_recording():
                y = x * x
            with a.stop_recording():
                z = y * x
    return a.gradient(y, x), b.gradient(y, x), a.gradient(z, x), b.gradient(z, x)


@program("nested")
def exit_order(tf, x, s):
    a = tf.GradientTape(persistent=True)
    b = tf.GradientTape(persistent=True)
    a.__enter__()
    a.watch(x)
    b.__enter__()
    b.watch(x)
    y = x * x
    a.__exit__(None, None, None)
    z = y * x
    b.__exit__(None, None, None)
    return a.gradient(z, x), b.gradient(z, x), a.gradient(y, x)


@program("nested")
def watch_in_stop_other(tf, x, s):
    with tf.GradientTape():
        with tf.GradientTape(persistent=True) as t:
            with t.stop_recording():
                t.watch(x)
                y = x * x
            z = x * x
    return t.gradient(y, x), t.gradient(z, x), t.gradient(x, x)


@program("nested")
def stop_grad_var(tf, x, s):
    p = s.p
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = p * x
        g = t.gradient(y, [p, x])
        z = g[0] * p
    return g, t.gradient(z, p), t.gradient(z, x)


@program("nested")
def custom_grad_ops(tf, x, s):
    @tf.custom_gradient
    def f(a):
        def grad(dy):
            return dy * a * a * a

        return a * 2.0, grad

    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@program("nested")
def custom_inner_tape(tf, x, s):
    @tf.custom_gradient
    def f(a):
        with tf.GradientTape() as t:
            t.watch(a)
            b = a**3
        g = t.gradient(b, a)
        return b, lambda dy: dy * g

    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = f(x) * x
    return t.gradient(y, x)


program.declare()
