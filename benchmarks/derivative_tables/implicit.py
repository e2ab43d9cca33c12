"""Implicit functions of a number p and their derivatives, by graphgrad and by the libraries on JAX."""

from __future__ import annotations

import numpy as np

from . import nets

SYSTEMS = {"graphgrad": "graphgrad", "jaxopt": "peers", "optimistix, lineax": "peers", "diffrax": "peers"}
MODES = {"value": ("reverse", 0), "1": ("reverse", 1), "2": ("reverse", 2), "3": ("reverse", 3),
         "1, forward": ("forward", 1), "2, forward": ("forward", 2)}
_RNG = np.random.default_rng(0)
_A = _RNG.normal(size=(60, 60)) / 60**0.5 + 3 * np.eye(60)
_S = _RNG.normal(size=(60, 60)) / 60**0.5
_B = _RNG.normal(size=60)
_H = _S @ _S.T + np.eye(60)
_C = _RNG.normal(size=(10, 60))
_P = 0.7
# For each problem, who has it.
PROBLEMS = {
    "linear, 60 unknowns, by elimination": ("graphgrad", "optimistix, lineax"),
    "linear, 2,000 unknowns, by conjugate gradients": ("graphgrad", "jaxopt", "optimistix, lineax"),
    "root, 60 unknowns": ("graphgrad", "jaxopt", "optimistix, lineax"),
    "fixed point, 60 unknowns": ("graphgrad", "jaxopt", "optimistix, lineax"),
    "minimum, 60 unknowns": ("graphgrad", "jaxopt", "optimistix, lineax"),
    "quadratic program, 60 unknowns, 10 equalities": ("graphgrad", "jaxopt"),
    "trajectory, explicit (Dormand and Prince)": ("graphgrad", "diffrax"),
    "trajectory, implicit (stiff)": ("graphgrad", "diffrax"),
}
CASES = {f"{problem}; {mode}": (problem, mode) for problem in PROBLEMS for mode in MODES}


def prepare(system, case):
    """One system's function for a case."""
    problem, mode = CASES[case]
    return _graphgrad(problem, *MODES[mode]) if system == "graphgrad" else _jax(system, problem, *MODES[mode])


def _stencil(x, p, pad):
    inner = pad(x)
    return (2.0 + p) * x - inner[2:] - inner[:-2]


def _graphgrad(problem, way, order):
    import graphgrad.compat.v1 as tf

    kind = problem.split(",")[0]

    def solved(p):
        if "elimination" in problem:
            return tf.implicit.linear_solve(_A + p * _S, tf.constant(_B))
        if kind == "linear":
            return tf.implicit.linear_solve(lambda x: _stencil(x, p, lambda x: tf.pad(x, [[1, 1]])),
                                            tf.ones([2000], tf.float64), method="cg", rtol=1e-10)
        if kind == "root":
            return tf.implicit.root(lambda x: tf.linalg.matvec(_A, x) + p * tf.sin(tf.linalg.matvec(_S, x)) - _B,
                                    tf.zeros([60], tf.float64))
        if kind == "fixed point":
            return tf.implicit.fixed_point(lambda x: tf.tanh(p * 0.5 * tf.linalg.matvec(_S, x) + _B),
                                           tf.zeros([60], tf.float64), rtol=1e-12)
        if kind == "minimum":
            return tf.implicit.argmin(lambda x: tf.reduce_sum(x * tf.linalg.matvec(_H, x)) / 2 - p * tf.reduce_sum(
                _B * x) + tf.reduce_sum(tf.square(tf.square(x))) / 4, tf.zeros([60], tf.float64))
        if kind == "quadratic program":
            return tf.implicit.argmin(lambda x: tf.reduce_sum(x * tf.linalg.matvec(_H, x)) / 2 - tf.reduce_sum(_B * x),
                                      tf.zeros([60], tf.float64),
                                      equalities=lambda x: tf.linalg.matvec(_C, x) - tf.exp(p))
        if "implicit" in problem:
            return tf.implicit.odeint(lambda y, t: -1e3 * p * (y - tf.cos(t)), tf.zeros([1], tf.float64), [0.0, 1.5],
                                      rtol=1e-7, atol=1e-9, method="radau")[1]
        return tf.implicit.odeint(lambda y, t: tf.stack([y[1], -p * tf.sin(y[0])]),
                                  tf.constant([1.0, 0.0], tf.float64), [0.0, 5.0], rtol=1e-8, atol=1e-10)[1]

    with tf.Graph().as_default():
        p = tf.placeholder(tf.float64, [])
        y = tf.reduce_sum(solved(p))
        for _ in range(order):
            y = tf.gradients(y, p)[0] if way == "reverse" else tf.jvp(y, p, tf.ones_like(p))
        return nets.session(tf, [y], {p: _P})


def _jax(system, problem, way, order):
    import jax

    jax.config.update("jax_enable_x64", True)
    make = {"jaxopt": _jaxopt, "optimistix, lineax": _optimistix, "diffrax": _diffrax}[system]
    solved = make(jax, jax.numpy, problem)

    def found(p):
        return jax.numpy.sum(solved(p))

    for _ in range(order):
        found = jax.grad(found) if way == "reverse" else (
            lambda p, f=found: jax.jvp(f, (p,), (jax.numpy.ones_like(p),))[1])
    return nets.compiled(jax, found, jax.numpy.asarray(_P))


def _functions(jnp):
    zeros = jnp.zeros(60)
    return {
        "root": (lambda x, p: _A @ x + p * jnp.sin(_S @ x) - _B, zeros),
        "fixed point": (lambda x, p: jnp.tanh(p * 0.5 * _S @ x + _B), zeros),
        "minimum": (lambda x, p: x @ _H @ x / 2 - p * jnp.sum(_B * x) + jnp.sum(x**4) / 4, zeros)}


def _jaxopt(jax, jnp, problem):
    import jaxopt

    kind = problem.split(",")[0]
    if kind == "linear":
        import jaxopt.linear_solve

        return lambda p: jaxopt.linear_solve.solve_cg(
            lambda x: _stencil(x, p, lambda x: jnp.pad(x, 1)), jnp.ones(2000), tol=1e-10, maxiter=20000)
    if kind == "quadratic program":
        return lambda p: jaxopt.EqualityConstrainedQP(tol=1e-10).run(
            params_obj=(jnp.asarray(_H), -jnp.asarray(_B)),
            params_eq=(jnp.asarray(_C), jnp.exp(p) * jnp.ones(10))).params.primal
    f, start = _functions(jnp)[kind]
    solver = {"root": lambda: jaxopt.Broyden(f, tol=1e-10, maxiter=1000),
              "fixed point": lambda: jaxopt.FixedPointIteration(f, tol=1e-12, maxiter=1000),
              "minimum": lambda: jaxopt.LBFGS(f, tol=1e-10, maxiter=1000)}[kind]()
    return lambda p: solver.run(start, p).params


def _optimistix(jax, jnp, problem):
    import lineax
    import optimistix

    kind = problem.split(",")[0]
    if "elimination" in problem:
        return lambda p: lineax.linear_solve(lineax.MatrixLinearOperator(_A + p * _S), jnp.asarray(_B),
                                             lineax.LU()).value
    if kind == "linear":
        def by_cg(p):
            operator = lineax.FunctionLinearOperator(
                lambda x: _stencil(x, p, lambda x: jnp.pad(x, 1)), jax.ShapeDtypeStruct((2000,), jnp.float64),
                lineax.positive_semidefinite_tag)
            return lineax.linear_solve(operator, jnp.ones(2000), lineax.CG(rtol=1e-10, atol=1e-10)).value

        return by_cg
    f, start = _functions(jnp)[kind]
    if kind == "root":
        return lambda p: optimistix.root_find(f, optimistix.Newton(rtol=1e-10, atol=1e-10), start, p).value
    if kind == "fixed point":
        return lambda p: optimistix.fixed_point(f, optimistix.FixedPointIteration(rtol=1e-12, atol=1e-12), start, p,
                                                max_steps=1000).value
    return lambda p: optimistix.minimise(f, optimistix.BFGS(rtol=1e-10, atol=1e-10), start, p, max_steps=1000).value


def _diffrax(jax, jnp, problem):
    import diffrax

    if "implicit" in problem:
        term, solver, start, end = diffrax.ODETerm(lambda t, y, p: -1e3 * p * (y - jnp.cos(t))), diffrax.Kvaerno5(), \
            jnp.zeros(1), 1.5
        steps = diffrax.PIDController(rtol=1e-7, atol=1e-9)
    else:
        term, solver, start, end = diffrax.ODETerm(lambda t, y, p: jnp.stack([y[1], -p * jnp.sin(y[0])])), \
            diffrax.Dopri5(), jnp.array([1.0, 0.0]), 5.0
        steps = diffrax.PIDController(rtol=1e-8, atol=1e-10)
    return lambda p: diffrax.diffeqsolve(term, solver, 0.0, end, None, start, args=p, stepsize_controller=steps,
                                         max_steps=4096).ys[0]
