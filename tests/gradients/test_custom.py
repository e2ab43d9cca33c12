"""`custom_gradient` and its relatives.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import context
from tests.support.sessions import run

pytestmark = pytest.mark.usefixtures("graph")


def test_custom_gradient_with_several_results():
    @tf.custom_gradient
    def f(x, y):
        return [x * y, x + y], lambda d1, d2: (d1 * 10.0, d2 * 3.0)

    x, y = tf.constant(2.0), tf.constant(3.0)
    z = f(x, y)
    assert run(z) == [6.0, 5.0]
    assert run(tf.gradients(z, [x, y])) == [10.0, 3.0]
    assert run(tf.gradients(z[0], [x, y])) == [10.0, 0.0]


def test_custom_gradient_of_wrong_count():
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: (dy,)

    x = tf.constant(2.0)
    z = f(x, x)
    with pytest.raises(ValueError, match=r"(?s)expected to return 2 gradients, but returned 1.*Built at"):
        tf.gradients(z, x)


def test_custom_gradient_is_differentiated_again():
    @tf.custom_gradient
    def cube(x):
        return x * x * x, lambda dy: dy * 3.0 * x * x

    x = tf.constant(2.0)
    (g,) = tf.gradients(cube(x), x)
    assert run([g, tf.gradients(g, x)[0]]) == [12.0, 12.0]


def test_custom_gradient_with_variables():
    v = tf.Variable(3.0)
    other = tf.Variable(1.0)

    @tf.custom_gradient
    def f(x):
        def grad(dy, variables=None):
            assert [u.name for u in variables] == [v.name]
            return dy * 10.0, [dy * 100.0]

        return x * v, grad

    x = tf.constant(2.0)
    y = f(x) + other
    assert run([y, *tf.gradients(y, [x, v, other])]) == [7.0, 10.0, 100.0, 1.0]

    @tf.custom_gradient
    def without(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="must accept keyword argument 'variables'"):
        without(x)


def test_passing_the_argument_through_counts_as_an_operation():
    @tf.custom_gradient
    def f(x):
        return x, lambda dy: dy * 2.0

    x = tf.constant(1.0)
    y = f(x)
    assert y is not x and run(tf.gradients(y * 3.0, x)) == [6.0]


def test_structures_of_arguments_results_and_gradients():
    @tf.custom_gradient
    def f(d):
        out = {"p": d["a"] * 2.0, "q": (d["b"][0], d["b"][1])}
        return out, lambda *dys: {"a": dys[0] * 5.0, "b": [dys[1] * 6.0, dys[2] * 7.0]}

    x, y = tf.constant(1.0), tf.constant(1.0)
    z = f({"b": [x, y], "a": x})
    assert sorted(z) == ["p", "q"] and isinstance(z["q"], tuple)
    assert run(tf.gradients([z["p"], z["q"]], [x, y])) == [11.0, 7.0]


def test_constants_integers_and_none_among_arguments_and_gradients():
    @tf.custom_gradient
    def f(x, n, k):
        return x * tf.cast(n, tf.float32) * k, lambda dy: (dy * 10.0, None, dy * 20.0)

    @tf.custom_gradient
    def nothing():
        return tf.constant(1.0), lambda dy: None

    @tf.custom_gradient
    def cut(x):
        return x * 2.0, lambda dy: None

    x, n = tf.constant(2.0), tf.constant(3)
    dx, dn = tf.gradients(f(x, n, 4.0), [x, n])
    assert run(dx) == 10.0 and dn is None
    assert tf.gradients(nothing() + cut(x), x) == [None]


def test_sparse_gradients_pass():
    @tf.custom_gradient
    def f(p):
        return tf.gather(p, [1]), lambda dy: tf.IndexedSlices(dy * 3.0, tf.constant([1]), tf.constant([5, 2]))

    p = tf.ones([5, 2])
    (g,) = tf.gradients(f(p), p)
    assert isinstance(g, tf.IndexedSlices) and run(g).values.tolist() == [[3, 3]]


@pytest.mark.parametrize(
    ("f", "error", "text"),
    [
        (lambda x: (x * x, lambda dy: (dy, dy)), ValueError, "expected to return 1 gradients, but returned 2"),
        (lambda x: (x * x, lambda dy: tf.ones([3])), ValueError, r"Incompatible shapes.*\(\).*\(3,\)"),
        (lambda x: (x * x, lambda dy: "text"), TypeError, "gives for input x:0 what is no tensor"),
    ],
)
def test_wrong_gradients_are_refused(f, error, text):
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.custom_gradient(f)(x)
    with pytest.raises(error, match=f"(?s){text}.*Built at test_custom.py.*Fix"):
        tf.gradients(y, x)


@pytest.mark.parametrize("f", [lambda x: x * x, lambda x: (x, 3), lambda x: (x, x, lambda dy: dy)])
def test_what_is_no_pair_is_refused(f):
    with pytest.raises(TypeError, match=r"(?s)must return a pair \(result, grad_fn\).*test_custom.py.*Fix"):
        tf.custom_gradient(f)(tf.constant(1.0))


def test_keyword_arguments_need_eager_mode():
    @tf.custom_gradient
    def f(x, k=2.0):
        return x * k, lambda dy: dy * 10.0

    x = tf.constant(1.0)
    assert run(tf.gradients(f(x), x)) == [10.0]
    with pytest.raises(ValueError, match="keyword arguments only when eager execution is enabled.*Fix"):
        f(x, k=3.0)
    with context.use(context.EAGER):
        assert float(f(tf.constant(1.0), k=3.0)) == 3.0


# -- variables -----------------------------------------------------------------------------


def _using(v, grad_fn):
    @tf.custom_gradient
    def f(x):
        return x * v, grad_fn

    return f


@pytest.mark.parametrize("style", ["default", "keyword only", "kwargs"])
def test_every_way_of_taking_variables(style):
    v = tf.Variable(3.0, name="v")
    tf.Variable(1.0, name="unused")
    hidden = tf.Variable(1.0, trainable=False)
    names = []

    def grads(dy, variables):
        names.extend(u.name for u in variables)
        return dy * 10.0, [dy * 100.0 for _ in variables]

    def default(dy, variables=None):
        return grads(dy, variables)

    def keyword_only(dy, *, variables):
        return grads(dy, variables)

    def kwargs(dy, **kw):
        return grads(dy, kw["variables"])

    x = tf.constant(2.0)
    f = _using(v, {"default": default, "keyword only": keyword_only, "kwargs": kwargs}[style])
    assert run(tf.gradients(f(x) * hidden, [x, v, hidden])) == [10.0, 100.0, 6.0]
    assert names == ["v:0"]


@pytest.mark.parametrize(
    ("grad_fn", "error", "text"),
    [
        (lambda dy, variables: (dy, [dy] * 3), ValueError, "Must return gradient for each variable.*3 for 1 variables"),
        (lambda dy, variables: (dy, None), TypeError, "must return a pair"),
        (lambda dy, variables: dy, TypeError, "must return a pair"),
        (lambda dy, variables: (dy, [tf.ones([2])]), ValueError, "Incompatible shapes"),
    ],
)
def test_wrong_gradients_of_variables_are_refused(grad_fn, error, text):
    v, x = tf.Variable(3.0), tf.constant(2.0)
    y = _using(v, grad_fn)(x)
    with pytest.raises(error, match=f"(?s){text}.*Built at test_custom.py.*Fix"):
        tf.gradients(y, [x, v])


def test_variables_may_have_no_gradient():
    v, x = tf.Variable(3.0), tf.constant(2.0)
    y = _using(v, lambda dy, variables: (dy * 10.0, [None]))(x)
    dx, dv = tf.gradients(y, [x, v])
    assert run(dx) == 10.0 and dv is None


def test_a_variable_that_is_an_argument_is_none_of_the_variables():
    v, x = tf.Variable(3.0), tf.constant(2.0)

    @tf.custom_gradient
    def f(x, u):
        return x * u, lambda dy: (dy * 5.0, dy * 6.0)

    assert run(tf.gradients(f(x, v), [x, v])) == [5.0, 6.0]


def test_nested_functions_with_variables():
    v, w, x = tf.Variable(3.0, name="v"), tf.Variable(4.0, name="w"), tf.constant(1.0)
    inner = _using(v, lambda dy, variables=None: (dy * 7.0, [dy * 70.0]))

    @tf.custom_gradient
    def outer(x):
        def grad(dy, variables=None):
            return dy * 11.0, [dy * {"v:0": 110.0, "w:0": 220.0}[u.name] for u in variables]

        return inner(x) * w, grad

    assert run(tf.gradients(outer(x), [x, v, w])) == [11.0, 110.0, 220.0]


def test_variables_made_inside():
    @tf.custom_gradient
    def f(x):
        u = tf.get_variable("u", initializer=5.0)
        return x * u, lambda dy, variables=None: (dy * u, [dy * x for _ in variables])

    x = tf.constant(2.0)
    y = f(x)
    assert run(tf.gradients(y, [x, tf.trainable_variables()[0]])) == [5.0, 2.0]


# -- built upon it --------------------------------------------------------------------------


def test_recompute_grad_to_the_third_order_with_variables_and_structures(graph):
    v = tf.Variable(3.0)
    calls = []

    @tf.recompute_grad
    def f(x):
        calls.append(1)
        return x * x * x * v

    x = tf.constant(2.0)
    y = f(x)
    orders = [y]
    for _ in range(3):
        orders.append(tf.gradients(orders[-1], x)[0])
    assert run([*orders, tf.gradients(y, v)[0]]) == [24.0, 36.0, 36.0, 18.0, 8.0]
    assert len(calls) == 3  # forward, and once for each gradient of y; higher ones differentiate what that added

    @tf.recompute_grad
    def several(d):
        return {"s": d["a"] * d["b"], "t": (d["a"], 2.0 * d["b"])}

    z = several({"a": x, "b": 3.0 * x})
    assert run(tf.gradients([z["s"], z["t"]], x)) == [12.0 + 1.0 + 6.0]


def test_recompute_grad_computes_again_once_the_gradient_has_come(graph):
    x = tf.constant([0.5, 1.0])
    y = tf.recompute_grad(lambda t: tf.sin(tf.sin(t)))(x)
    count = graph.version
    dy = tf.constant([10.0, 1.0])
    (g,) = tf.gradients(y, x, grad_ys=[dy])
    new = graph.get_operations()[count:]
    assert [o.type for o in new].count("Sin") == 2
    first = next(o for o in new if o.type == "Sin")
    (source,) = first.inputs
    assert source.op.type == "Identity" and source.op.inputs[0] is x
    assert [c.type for c in source.op.control_inputs] == ["Identity"]  # of grad_ys
    t = np.array([0.5, 1.0])
    np.testing.assert_allclose(run(g), [10, 1] * np.cos(np.sin(t)) * np.cos(t), rtol=1e-6)


def test_recompute_grad_takes_its_variables_again():
    @tf.recompute_grad
    def f(x):
        return x * x * tf.get_variable("w", initializer=3.0)

    x = tf.constant(2.0)
    with tf.variable_scope("layer"):
        y = f(x)
    (w,) = tf.trainable_variables()
    assert w.name == "layer/w:0" and run(tf.gradients(y, [x, w])) == [12.0, 4.0]


def test_recompute_grad_in_eager_mode_is_the_function():
    with context.use(context.EAGER):
        x = tf2.constant(2.0)
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = tf2.recompute_grad(lambda t: t * t)(x)
        assert float(tape.gradient(y, x)) == 4.0


def test_grad_pass_through():
    v = tf.Variable(2.0)
    x = tf.constant(1.3)
    y = tf.grad_pass_through(lambda t: tf.round(t * 3.0) * v)(x)
    dx, dv = tf.gradients(y * 5.0, [x, v])
    assert run([y, dx]) == [8.0, 5.0] and dv is None
    a, b = tf.grad_pass_through(lambda s, t: (s * t, t))(x, 2.0 * x)
    assert run(tf.gradients(10.0 * a + b, x)) == [12.0]
    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1"):
        tf.gradients(tf.grad_pass_through(lambda s, t: s * t)(x, x), x)


def test_stop_gradient_of_several():
    x = tf.constant([1.0, 2.0])
    both = tf.stop_gradient([x, 2.0 * x])
    assert both.shape.as_list() == [2, 2] and tf.gradients(both, x) == [None]


# -- Defun ----------------------------------------------------------------------------------


def test_functions_with_gradient_functions():
    seen = []

    def by_python(op, dy):
        seen.append((op.type, op.name, len(op.inputs), len(op.outputs)))
        return dy * op.inputs[0] * op.outputs[0]

    @tf.Defun(tf.float32, tf.float32)
    def by_function(x, dy):
        return x * dy * 5.0

    @tf.Defun(tf.float32, grad_func=by_function)
    def f(x):
        return x * x

    @tf.Defun(tf.float32, func_name="named", python_grad_func=by_python)
    def g(x):
        return x * x

    @tf.Defun(tf.float32)
    def plain(x):
        return x * x * x

    x = tf.constant(3.0)
    values = run([f(x), *[tf.gradients(h(x), x)[0] for h in (f, g, plain)]])
    assert values == [9.0, 15.0, 27.0, 27.0]
    assert seen == [("named", "named", 1, 1)]
    assert (f.name, f.grad_func_name, g.python_grad_func) == ("f", "by_function", by_python)
    assert plain(x, name="here").op.name.startswith("here/")


def test_gradients_with_respect_to_what_a_function_uses_of_its_surroundings():
    x, v = tf.constant(3.0), tf.Variable(2.0)

    @tf.Defun(tf.float32)
    def plain(a):
        return a * x * v

    @tf.Defun(tf.float32, python_grad_func=lambda op, dy: dy)
    def own(a):
        return a * x * v

    a = tf.constant(5.0)
    assert run(tf.gradients(plain(a), [a, x, v])) == [6.0, 10.0, 15.0]
    da, dx, dv = tf.gradients(own(a), [a, x, v])
    assert run(da) == 1.0 and dx is None and dv is None


def test_functions_that_do_not_fit_are_refused():
    @tf.Defun(tf.float32)
    def f(x):
        return x * x

    for call, error, text in [
        (lambda: tf.Defun(tf.float32, grad_func=f, python_grad_func=f), ValueError, "Gradient defined twice"),
        (lambda: f(1.0, 2.0), ValueError, "(?s)Expected number of arguments: 1, received: 2.*test_gradients_custom"),
        (lambda: f(tf.constant(1)), (TypeError, ValueError), "int32"),
        (lambda: tf.Defun(tf.float32, tf.float32)(lambda x: x), ValueError, "(?s)fewer or more arguments.*Fix"),
        (lambda: tf.Defun()(3), ValueError, "must be callable"),
        (lambda: tf.Defun()(lambda *, k: k), ValueError, "keyword arguments.*Fix"),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_gradient_functions_assign_in_loops():
    """TensorFlow refuses variables there that the function does not use; here they are captured."""
    with context.use(context.EAGER):
        total = tf2.Variable(0.0)

        @tf2.custom_gradient
        def square(x):
            def grad(dy):
                total.assign_add(dy)
                return dy * 2.0 * x

            return x * x, grad

        @tf2.function
        def run(x, k):
            with tf2.GradientTape() as tape:
                tape.watch(x)
                y = tf2.while_loop(lambda i, y: i < k, lambda i, y: (i + 1, square(y)), (0, x))[1]
            return tape.gradient(y, x)

        for times in (1, 2):
            np.testing.assert_allclose(run(tf2.constant(1.1), tf2.constant(3)), 15.589739, rtol=1e-6)
            np.testing.assert_allclose(total, times * 11.014445, rtol=1e-6)
