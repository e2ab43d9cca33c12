"""Forward and backward passes with something between them: an assignment, a step of training, a call of Python.

The shortest programs of each kind; `state.py` and `scopes.py` have the longer ones.
"""

from __future__ import annotations

from typing import Any

from ..harness import case, raised


def _runs(tf: Any, fetches: Any, after: Any = ()) -> Any:
    """Three runs, and the values of variables after each."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [(sess.run(fetches), sess.run(list(after))) for _ in range(3)]


# -- the gradient uses what the forward pass used ---------------------------------------------------


@case("graph")
def a_branch_beside_an_assignment_that_waits_for_nothing(tf: Any) -> Any:
    """TensorFlow may assign first; value and gradient are those of one read all the same."""
    v, x = tf.Variable(2.0), tf.constant(1.0)
    y = tf.cond(x > 0.0, lambda: x * v, lambda: x)
    bump = v.assign_add(10.0)
    g = tf.gradients(y, x)[0]
    return _runs(tf, [y - g, bump], [v])


@case("graph")
def a_branch_before_an_assignment(tf: Any) -> Any:
    v, x = tf.Variable(2.0), tf.constant(1.0)
    y = tf.cond(x > 0.0, lambda: x * v, lambda: x)
    with tf.control_dependencies([y]):
        bump = v.assign_add(10.0)
    with tf.control_dependencies([bump]):
        g = tf.gradients(y, x)[0]
    return _runs(tf, [y, bump, g], [v])


@case("graph")
def a_loop_beside_a_step_of_training(tf: Any) -> Any:
    v, w = tf.Variable(2.0), tf.Variable(1.0)
    y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * v), [0, w * 1.0])[1]
    with tf.control_dependencies([y]):
        step = tf.train.GradientDescentOptimizer(1.0).minimize(-10.0 * v, var_list=[v])
    with tf.control_dependencies([step]):
        g = tf.gradients(y, w)[0]
    return _runs(tf, [y, g], [v])


@case("eager")
def a_body_that_assigns_and_reads(tf: Any) -> Any:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: Any) -> Any:
        def body(i: Any, a: Any) -> Any:
            v.assign_add(1.0)
            return i + 1, a * v.read_value()

        y = tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]
        return y, tf.gradients(y, x)[0]

    found = []
    for _ in range(3):
        found.append((f(tf.constant(1.0)), v.numpy()))
        v.assign(1.0)
    return found


@case("graph")
def a_map_that_assigns(tf: Any) -> Any:
    v, x = tf.Variable(3.0, use_resource=True), tf.constant(1.0)
    y = tf.map_fn(lambda t: t * v.assign_add(1.0), tf.stack([x, x]), parallel_iterations=1)
    return _runs(tf, [tf.reduce_sum(y), tf.gradients(y, x)[0]], [v])


@case("graph")
def a_branch_that_counts_its_calls(tf: Any) -> Any:
    calls: list[int] = []

    def count(x: Any) -> Any:
        calls.append(1)
        return x * len(calls)

    x = tf.constant(1.0)
    y = tf.cond(x > 0.0, lambda: x * tf.stop_gradient(tf.py_func(count, [x], tf.float32)), lambda: x)
    return _runs(tf, [y, tf.gradients(y, x)[0]]), len(calls)


@case("eager")
def a_tape_over_a_function_and_an_assignment(tf: Any) -> Any:
    v = tf.Variable(2.0)

    @tf.function
    def f(x: Any) -> Any:
        return tf.cond(x > 0.0, lambda: x * v, lambda: x)

    @tf.function
    def all_in_one(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        v.assign(12.0)
        return tape.gradient(y, x)

    found = []
    for _ in range(3):
        x = tf.constant(1.0)
        v.assign(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        v.assign(12.0)
        g = tape.gradient(y, x)
        v.assign(2.0)
        found.append((y, g, all_in_one(x)))
    return found


# -- gradients of what stands outside ---------------------------------------------------------------


@case("graph")
def a_dense_network_outside_of_a_body(tf: Any) -> Any:
    """Each row of a Jacobian by a loop; a step that is taken or not."""
    x, w = tf.constant([[1.0, 2.0]]), tf.Variable([[0.5, -1.0], [0.2, 0.25]])
    y = tf.tanh(x @ w)[0]
    by_map = tf.map_fn(lambda i: tf.gradients(y[i], x)[0], tf.range(2), dtype=tf.float32)
    by_loop = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, tf.gradients(y[i], w)[0])),
                            [0, tf.TensorArray(tf.float32, 2)])[1].stack()
    return _runs(tf, [by_map, by_loop])


def _recurrent(v1: Any, x: Any) -> Any:
    """The outputs of three steps of `dynamic_rnn`."""

    class Cell:
        state_size = output_size = 2

        def zero_state(self, batch_size: Any, dtype: Any) -> Any:
            return v1.zeros([batch_size, 2], dtype)

        def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
            state = v1.tanh(inputs * 0.5 + state @ v1.constant([[0.3, -0.2], [0.1, 0.7]]))
            return state, state

        call = __call__

    return v1.nn.dynamic_rnn(Cell(), v1.reshape(v1.tile(x, [3]), [1, 3, 2]), dtype=v1.float32)[0]


@case("graph", rtol=1e-5)
def hessians_of_loops_of_every_kind(tf: Any) -> Any:
    x = tf.constant([0.5, -0.25])
    steps = _recurrent(tf, x)
    pieces = tf.TensorArray(tf.float32, 2).unstack(x)
    ys = [tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a + x), [0, x])[1],
          tf.scan(lambda a, t: tf.sin(a * t), x), steps,
          tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.exp(pieces.read(i)) * x[0]), [0, 0.0])[1],
          tf.map_fn(lambda t: t * t * x[1], x), tf.foldl(lambda a, t: a * t + x[0], x)]
    return _runs(tf, [tf.hessians(tf.reduce_sum(y), x)[0] for y in ys])


@case("eager", rtol=1e-5)
def jacobians_of_loops_of_every_kind(tf: Any) -> Any:
    pieces = tf.constant([0.5, -0.25])

    def arrays(x: Any) -> Any:
        array = tf.TensorArray(tf.float32, 2).unstack(x)
        return tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.exp(array.read(i)) * x[0]), [0, 0.0])[1]

    kinds = [lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a + x), [0, x])[1],
             lambda x: tf.scan(lambda a, t: tf.sin(a * t), x), lambda x: _recurrent(tf.compat.v1, x),
             arrays]

    def jacobian(f: Any, x: Any, pfor: bool) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.jacobian(y, x, experimental_use_pfor=pfor)

    return [[tf.function(lambda x, f=f, pfor=pfor: jacobian(f, x, pfor))(pieces) for pfor in (False, True)]
            for f in kinds]


# -- effects ----------------------------------------------------------------------------------------


@case("graph")
def functions_that_do_all_kinds_of_things(tf: Any) -> Any:
    v, calls = tf.Variable(1.0, use_resource=True), []

    @tf.function
    def f(x: Any) -> Any:
        v.assign_add(x)
        tf.debugging.Assert(x < 5.0, [x])
        tf.print("x is", x, output_stream="file://" + "/dev/null")
        tf.py_function(lambda t: calls.append(float(t)), [x], [])
        return x * 20.0

    x = tf.placeholder_with_default(1.0, [])
    y = f(x)
    found = _runs(tf, y, [v])
    with tf.Session() as sess:
        sess.run(v.initializer)
        return found, list(calls), raised(lambda: sess.run(y, {x: 6.0}))


@case("graph")
def a_gradient_a_weight_and_its_update_in_one_run(tf: Any) -> Any:
    found = []
    for resource in (False, True):
        w = tf.Variable([3.0, -1.0], use_resource=resource)
        optimizer = tf.train.GradientDescentOptimizer(0.25)
        grad = optimizer.compute_gradients(tf.reduce_sum(w * w), [w])
        step = optimizer.apply_gradients(grad)
        if resource:
            with tf.control_dependencies([step]):
                after = w.read_value()
            found.append(_runs(tf, [grad[0][0], after, step], [w]))
        else:
            found.append(_runs(tf, [grad[0][0], w, step], [w]))
    return found


@case("graph")
def gates_change_no_number(tf: Any) -> Any:
    found = []
    for gate in (0, 1, 2):
        w, u = tf.Variable([3.0, -1.0], use_resource=True), tf.Variable([0.5, 2.0], use_resource=True)
        once, twice = tf.identity(w), tf.identity(u)  # TensorFlow may read between two updates where gates are open
        loss = tf.reduce_sum(once * twice * twice)
        step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, gate_gradients=gate)
        found.append(_runs(tf, [step], [w, u]))
    return found
