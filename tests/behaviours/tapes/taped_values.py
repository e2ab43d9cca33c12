"""What is given to tapes and comes from them: structures, dtypes, gradients of custom functions, Jacobians.

Each program runs in eager mode, as a function and in a graph; all programs of a topic are one function, and one graph.
"""

from __future__ import annotations

from ..everywhere import Programs

program = Programs(__name__)


@program("kinds")
def structures(tf, x, s):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x
        z = x * 3.0
    return t.gradient({"a": y, "b": [z]}, {"q": x, "r": (y,)})


@program("kinds")
def integers(tf, x, s):
    n = tf.cast(x, tf.int32)
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        k = tf.cast(x, tf.int32)
        y = x * tf.cast(k, tf.float32)
    return t.gradient(y, x), t.gradient(y, k), t.gradient(k, x), t.gradient(k, k), t.gradient(n, n)


@program("kinds")
def complex_targets(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        c = tf.complex(x, x * 2.0)
        d = c * c
    return t.gradient(c, x), t.gradient(d, x), t.gradient(d, c), t.gradient(tf.math.real(c), x)


@program("kinds")
def complex_sources(tf, x, s):
    c = tf.complex(x, x * 2.0)
    with tf.GradientTape(persistent=True) as t:
        t.watch(c)
        d = c * c
        e = tf.abs(d)
    return t.gradient(d, c), t.gradient(e, c), t.gradient(c, c)


@program("kinds")
def unconnected(tf, x, s):
    b = x * 2.0
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
    return t.gradient(y, [x, b], unconnected_gradients="zero"), t.gradient(b, x, unconnected_gradients="zero")


@program("kinds")
def stopgrad(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = tf.stop_gradient(x * x) * x
    return t.gradient(y, x)


@program("kinds")
def custom_gradients(tf, x, s):
    @tf.custom_gradient
    def f(a):
        return a * a, lambda dy: dy * 100.0

    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = f(x)
        z = y * x
    w = f(x)
    return t.gradient(y, x), t.gradient(z, x), t.gradient(w, x)


@program("kinds")
def inside_custom_gradient(tf, x, s):
    seen = []

    @tf.custom_gradient
    def f(a):
        b = a * a
        seen.append(b)
        return b * a, lambda dy: dy * 100.0

    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = f(x)
        z = y * x
    return t.gradient(seen[0], x), t.gradient(z, x), t.gradient(z, seen[0])


@program("kinds")
def recompute(tf, x, s):
    f = tf.recompute_grad(lambda a: tf.sin(a) * a)
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = f(x) * x
    z = y * x
    return t.gradient(y, x), t.gradient(z, x)


@program("kinds")
def ragged_src(tf, x, s):
    rt = tf.RaggedTensor.from_row_lengths(tf.stack([x, x * 2.0, x * 3.0]), [1, 2])
    with tf.GradientTape(persistent=True) as t:
        t.watch(rt)
        y = tf.reduce_sum(rt * rt)
        r2 = rt * rt
    g = t.gradient(y, rt)
    return g.flat_values, t.gradient(r2, rt).flat_values


@program("kinds")
def method_custom(tf, x, s):
    class M:
        def __init__(self):
            self.k = 7.0

        @tf.custom_gradient
        def f(self, a):
            return a * a, lambda dy: dy * self.k

        @tf.custom_gradient
        def two(self, a, b):
            def grad(d1, d2):
                return d1 * self.k, d2 * 3.0

            return (a * a, b * b), grad

    m = M()
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = m.f(x)
        p, q = m.two(x, x * 2.0)
    return t.gradient(y, x), t.gradient([p, q], x)


@program("kinds")
def method_custom_var(tf, x, s):
    v = s.v

    class M:
        @tf.custom_gradient
        def f(self, a):
            def grad(dy, variables=None):
                return dy * 10.0, [dy * 20.0 for _ in variables]

            return a * v, grad

    m = M()
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = m.f(x)
    return t.gradient(y, [x, v])


@program("kinds")
def static_method(tf, x, s):
    class M:
        k = 3.0

        @staticmethod
        @tf.custom_gradient
        def f(a):
            return a * a, lambda dy: dy * 5.0

        @classmethod
        @tf.custom_gradient
        def g(cls, a):
            return a * a, lambda dy: dy * cls.k

        @tf.custom_gradient
        def __call__(self, a):
            return a * a, lambda dy: dy * 11.0

    m = M()
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = m.f(x) + M.f(x)
        w = m(x)
    return t.gradient(y, x), t.gradient(w, x)


@program("kinds")
def method_class_access(tf, x, s):
    class M:
        k = 3.0

        @tf.custom_gradient
        def f(self, a):
            return a * a, lambda dy: dy * self.k

    m = M()
    g = m.f
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        z = g(x) + tf.map_fn(m.f, tf.stack([x, x]))[0]
    return t.gradient(z, x)


@program("kinds")
def sparse_gather_var(tf, x, s):
    p = s.rows
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = tf.reduce_sum(tf.gather(p, [0, 0, 2])) * x
    g = t.gradient(y, p)
    return tf.convert_to_tensor(g), t.gradient(y, x)


@program("jacobians")
def jacobians(tf, x, s):
    v = tf.stack([x, 2.0 * x])
    with tf.GradientTape(persistent=True) as t:
        t.watch(v)
        y = v * v
    z = y * v
    return (
        t.jacobian(y, v),
        t.jacobian(z, v),
        t.jacobian(v, v),
        t.jacobian(y, [v, x]),
        t.jacobian(z, v, unconnected_gradients="zero"),
    )


@program("jacobians")
def batch_jacobians(tf, x, s):
    v = tf.reshape(tf.stack([x, 2.0 * x]), [2, 1])
    with tf.GradientTape(persistent=True) as t:
        t.watch(v)
        y = v * v
    z = y * v
    return t.batch_jacobian(y, v), t.batch_jacobian(z, v), t.batch_jacobian(v, v)


@program("jacobians")
def jac_unwatched(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        y = x * x
    return t.jacobian(x, x), t.jacobian(y, y), t.jacobian(y, x), t.gradient(x, x)


@program("jacobians")
def jac_inside(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
        j = t.jacobian(y, x)
    return j, t.gradient(j, x)


@program("jacobians")
def hessian(tf, x, s):
    v = tf.stack([x, 2.0 * x])
    with tf.GradientTape() as outer:
        outer.watch(v)
        with tf.GradientTape() as inner:
            inner.watch(v)
            y = tf.reduce_sum(v**3)
        g = inner.gradient(y, v)
    return outer.jacobian(g, v)


@program("jacobians")
def jac(tf, x, s):
    v, w = s.v, s.w
    with tf.GradientTape(persistent=True) as t:
        y = tf.stack([v, w]) * v
    return t.jacobian(y, [v, w]), t.jacobian(v, v)


@program("unwatched")
def unwatched_sources_as_targets(tf, x, s):
    c = tf.identity(x) * 0.5
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y, z = tf.reduce_sum(tf.stack([x, c])), x * 2.0
    return (t.gradient([y, c], [c, x]), t.gradient([z, c], [c, x]), t.gradient([c, z], [x, c]),
            t.gradient([c, y, z], [c, x]), t.gradient(y, [c, x]))


@program("unwatched")
def ones_depend_on_nothing(tf, x, s):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * 2.0
        d = tf.tanh(t.gradient(y, y))
        z = tf.reduce_sum(tf.stack([x, d]) * tf.stack([d, s.v]))
    return t.gradient(z, [d, x, s.v]), t.gradient(d, [x, y])


@program("unwatched")
def stopped_are_not_followed(tf, x, s):
    c = tf.identity(x) * 0.5
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y, z = tf.stop_gradient(x) * c, tf.stop_gradient(x * 2.0) * x
        t.watch(c)
        w = y * c
    return t.gradient(y, [c, x]), t.gradient(z, [c, x]), t.gradient(w, [c, x])


program.declare()
