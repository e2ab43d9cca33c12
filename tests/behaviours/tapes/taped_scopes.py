"""Tapes and variables, branches, loops, functions.

Each program runs in eager mode, as a function and in a graph; all programs of a topic are one function, and one graph.
"""

from __future__ import annotations

from ..everywhere import Programs

program = Programs(__name__)


@program("variables")
def variable_target(tf, x, s):
    v, w = s.v, s.w
    with tf.GradientTape(persistent=True) as t:
        y = v * v
    return t.gradient(v, v), t.gradient(y, v), t.gradient(v, [v, w]), t.gradient(w, w), t.gradient([v, y], v)


@program("variables")
def noaccess(tf, x, s):
    v, w = s.v, s.w
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as t:
        t.watch(w)
        y = v * v * w
    return t.gradient(y, v), t.gradient(y, w), t.gradient(v, v)


@program("variables")
def nothing(tf, x, s):
    v, w = s.v, s.w
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as t:
        y = v * v * w
    return t.gradient(y, v)


@program("variables")
def untrainable_variables(tf, x, s):
    v, _w, nt = s.v, s.w, s.nt
    with tf.GradientTape(persistent=True) as t:
        y = v * nt
    with tf.GradientTape(persistent=True) as t2:
        z = nt * nt
    with tf.GradientTape(persistent=True) as t3:
        t3.watch(nt)
        z3 = nt * nt
    return t.gradient(y, [v, nt]), t2.gradient(z, nt), t3.gradient(z3, nt), t.gradient(nt, nt)


@program("variables")
def read_before(tf, x, s):
    v = s.v
    r = v.read_value()
    with tf.GradientTape(persistent=True) as t:
        y = r * v
    return t.gradient(y, v), t.gradient(y, r)


@program("variables")
def read_before_value(tf, x, s):
    v = s.v
    r = tf.convert_to_tensor(v)
    with tf.GradientTape(persistent=True) as t:
        y = r * r
    return t.gradient(y, v)


@program("variables")
def outside(tf, x, s):
    v = s.v
    with tf.GradientTape(persistent=True) as t:
        y = v * x
    z = v * y
    return t.gradient(z, v), t.gradient(y, v)


@program("variables")
def stop(tf, x, s):
    v = s.v
    with tf.GradientTape(persistent=True) as t:
        with t.stop_recording():
            a = v * x
        y = a * v
    return t.gradient(y, v), [q is v for q in t.watched_variables()]


@program("variables")
def watch_then_read_unwatched(tf, x, s):
    v = s.v
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as t:
        a = v * x
        t.watch(v)
        y = a * v
    return t.gradient(y, v)


@program("variables")
def cond(tf, x, s):
    v = s.v
    with tf.GradientTape(persistent=True) as t:
        y = tf.cond(x > 0.0, lambda: v * v * x, lambda: x)
    return t.gradient(y, v), t.gradient(y, x)


@program("variables")
def while_var(tf, x, s):
    p = s.p
    with tf.GradientTape(persistent=True) as t:
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * p), [tf.constant(0), x])[1]
    z = y * p
    return t.gradient(y, p), t.gradient(z, p), t.gradient(y, x)


@program("variables")
def inner_function(tf, x, s):
    v = s.v

    @tf.function
    def f(a):
        return a * v * v

    with tf.GradientTape(persistent=True) as t:
        y = f(x)
    z = f(y)
    return t.gradient(y, v), t.gradient(z, v), [ord(q.name[0]) for q in t.watched_variables()]


@program("variables")
def var_order(tf, x, s):
    p, q, r, s = s.p, s.q, s.r, s.s
    with tf.GradientTape(persistent=True) as t:
        s * p
        t.watch(q)
        r * s
    with tf.GradientTape(persistent=True) as t2:
        tf.cond(x > 0.0, lambda: s * p, lambda: r * x)
    with tf.GradientTape(persistent=True) as t3:

        @tf.function
        def f():
            return s * r * p

        f()
    with tf.GradientTape(persistent=True) as t4:
        p.assign_add(0.0)
        s.read_value()
        r.value()
        q.read_value()
    with tf.GradientTape(persistent=True) as t5:
        tf.convert_to_tensor(s)
        tf.gather(tf.reshape(p, [1]), [0])
    return [[ord(q.name[0]) for q in t.watched_variables()] for t in (t, t2, t3, t4, t5)]


@program("variables")
def watched_after_use(tf, x, s):
    p = s.p
    with tf.GradientTape() as t:
        y = p * x
    t.gradient(y, p)
    return [ord(q.name[0]) for q in t.watched_variables()]


@program("bodies")
def over_cond(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = tf.cond(x > 0.0, lambda: x * x, lambda: x)
    return t.gradient(y, x)


@program("bodies")
def cond_inside_gradient(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
        r = tf.cond(x > 0.0, lambda: t.gradient(y * x, x), lambda: x)
    return r


@program("bodies")
def cond_outside_gradient(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
    r = tf.cond(x > 0.0, lambda: t.gradient(y, x), lambda: x)
    return r


@program("bodies")
def tape_in_cond(tf, x, s):
    y0 = x * x

    def br():
        with tf.GradientTape() as t:
            t.watch(x)
            y = x * y0
        return t.gradient(y, x)

    return tf.cond(x > 0.0, br, lambda: x)


@program("bodies")
def tape_in_cond_watch_y(tf, x, s):
    y0 = x * x

    def br():
        with tf.GradientTape() as t:
            t.watch(y0)
            y = x * y0
        return t.gradient(y, y0)

    return tf.cond(x > 0.0, br, lambda: x)


@program("bodies")
def tape_in_while(tf, x, s):
    def body(i, a):
        with tf.GradientTape() as t:
            t.watch(a)
            y = a * a
        return i + 1, t.gradient(y, a)

    return tf.while_loop(lambda i, a: i < 3, body, [tf.constant(0), x])


@program("bodies")
def tape_over_while(tf, x, s):
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [tf.constant(0), x])[1]
    return t.gradient(y, x)


@program("bodies")
def map_tape(tf, x, s):
    def f(k):
        with tf.GradientTape() as t:
            t.watch(x)
            y = k * x * x
        return t.gradient(y, x)

    return tf.map_fn(f, tf.constant([1.0, 2.0]))


@program("bodies")
def scan_tape(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = tf.scan(lambda a, b: a * b * x, tf.stack([x, x, x]))
        s = tf.reduce_sum(y)
    z = s * x
    return t.gradient(s, x), t.gradient(z, x)


@program("bodies")
def tape_in_while_var(tf, x, s):
    p = s.p

    def body(i, a):
        with tf.GradientTape() as t:
            y = a * p * p
        return i + 1, a + t.gradient(y, p)

    return tf.while_loop(lambda i, a: i < 3, body, [tf.constant(0), x])


@program("bodies")
def switch_cases(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = tf.switch_case(tf.constant(1), [lambda: x, lambda: x * x, lambda: x * x * x])
        z = tf.case([(x > 5.0, lambda: x), (x > 1.0, lambda: x * x * x)], default=lambda: x)
    return t.gradient(y, x), t.gradient(z, x)


@program("bodies")
def tensor_arrays(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        a = tf.TensorArray(tf.float32, 2).write(0, x * x).write(1, x)
        s = tf.reduce_sum(a.stack())
    u = s * x
    return t.gradient(s, x), t.gradient(u, x)


@program("functions")
def inner_function_and_afterwards(tf, x, s):
    @tf.function
    def f(a):
        return a * a * a

    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = f(x)
    z = f(y)
    return t.gradient(y, x), t.gradient(z, x)


@program("functions")
def gradient_in_function(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x

    @tf.function
    def f(a):
        return t.gradient(y, x) * a

    return f(x)


@program("functions")
def gradient_of_inner_ops(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x

        @tf.function
        def f(a):
            return t.gradient(y * x, x) * a

        r = f(x)
    return r


@program("functions")
def gradient_to_arguments(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        x * x

        @tf.function
        def f(a):
            z = a * a * x
            return t.gradient(z, a), t.gradient(z, x)

        r = f(x)
    return r


@program("functions")
def tape_made_outside_used_inside(tf, x, s):
    t = tf.GradientTape(persistent=True)

    @tf.function
    def f(a):
        with t:
            t.watch(a)
            y = a * a
        return t.gradient(y, a)

    return f(x)


@program("functions")
def eager_tensor_source_in_function(tf, x, s):
    c = tf.constant(4.0)

    @tf.function
    def f(a):
        with tf.GradientTape() as t:
            t.watch(c)
            y = a * c * c
        return t.gradient(y, c)

    return f(x)


@program("functions")
def traced_before(tf, x, s):
    big = tf.ones([8]) * x

    @tf.function
    def f(a):
        return a * a * x

    @tf.function
    def g(a):
        return a * big * big

    f(x)
    g(x)
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        t.watch(big)
        y = f(x)
        z = g(x)
    return t.gradient(y, x), t.gradient(z, big)


@program("functions")
def traced_under(tf, x, s):
    big = tf.ones([8]) * x

    @tf.function
    def f(a):
        return a * a * x

    @tf.function
    def g(a):
        return a * big * big

    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        t.watch(big)
        y = f(x)
        z = g(x)
    with tf.GradientTape(persistent=True) as t2:
        t2.watch(x)
        t2.watch(big)
        y2 = f(x)
        z2 = g(x)
    return t.gradient(y, x), t.gradient(z, big), t2.gradient(y2, x), t2.gradient(z2, big)


@program("functions")
def tape_in_func_of_tape(tf, x, s):
    v = s.v

    @tf.function
    def f(a):
        with tf.GradientTape() as inner:
            inner.watch(a)
            y = a * a * v
        return inner.gradient(y, a)

    with tf.GradientTape() as outer:
        y = f(x)
    return outer.gradient(y, v)


@program("functions")
def inner_args(tf, x, s):
    @tf.function
    def f(a, b):
        with tf.GradientTape() as t:
            t.watch(a)
            y = a * b
        return t.gradient(y, a)

    return f(x, x)


@program("functions")
def inner_args_gradients(tf, x, s):
    @tf.function
    def f(a, b):
        return tf.gradients(a * b, a)[0]

    return f(x, x)


@program("functions")
def returns_arg(tf, x, s):
    @tf.function
    def f(a):
        return a

    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = f(x)
        z = y * x
    return t.gradient(z, x), t.gradient(z, y), t.gradient(x, y)


program.declare()
