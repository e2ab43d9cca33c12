"""TF Quant Finance 0.0.1.dev34: prices and their derivatives, splines, paths, a pricing equation."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tests.libraries import flat, into

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow's `tf.keras` is tf_keras then
os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"  # for its messages, which are of an older version
CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES, flat)


def _numbers(tf: Any, *values: float) -> Any:
    return tf.constant(values, tf.float64)


@_case
def prices(tf: Any) -> Any:
    """Black and Scholes's prices with first and second derivatives, implied volatility; Heston's prices."""
    import tf_quant_finance as tff

    spots, volatility = _numbers(tf, 90.0, 100.0, 110.0), _numbers(tf, 0.2, 0.3, 0.25)
    strikes, expiries = _numbers(tf, 100.0, 100.0, 100.0), _numbers(tf, 1.0, 0.5, 2.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([spots, volatility])
        with tf.GradientTape() as tape:
            tape.watch(spots)
            price = tff.black_scholes.option_price(volatilities=volatility, strikes=strikes, expiries=expiries,
                                                   spots=spots, discount_rates=_numbers(tf, 0.03)[0])
        delta = tape.gradient(price, spots)
    implied = tff.black_scholes.implied_vol(prices=price, strikes=strikes, expiries=expiries, spots=spots,
                                            discount_factors=tf.exp(-0.03 * expiries))
    heston = tff.models.heston.approximations.european_option_price(
        variances=_numbers(tf, 0.04), mean_reversion=_numbers(tf, 1.0), theta=_numbers(tf, 0.04),
        volvol=_numbers(tf, 0.3), rho=_numbers(tf, -0.5), strikes=_numbers(tf, 100.0), expiries=_numbers(tf, 1.0),
        spots=_numbers(tf, 100.0), discount_rates=_numbers(tf, 0.02), dtype=tf.float64)
    return [price, delta, outer.gradient(delta, spots), outer.gradient(price, volatility), implied, heston]


@_case
def mathematics(tf: Any) -> Any:
    """Brent's method, an integral, forward gradients and Jacobians, splines, Sobol paths."""
    import tf_quant_finance as tff

    zero, three, two = _numbers(tf, 0.0, 3.0, 2.0)
    root = tff.math.root_search.brentq(lambda x: x ** 3 - 2.0, zero, three).estimated_root
    area = tff.math.integration.integrate(lambda x: tf.exp(-x * x), zero, two, num_points=101, dtype=tf.float64)
    x = _numbers(tf, 1.0, 2.0)
    spline = tff.math.interpolation.cubic.build_spline(_numbers(tf, 0.0, 1.0, 2.0, 3.0),
                                                       _numbers(tf, 0.0, 1.0, 4.0, 9.0))
    model = tff.models.GeometricBrownianMotion(0.05, 0.2, dtype=tf.float64)
    paths = model.sample_paths(times=[0.5, 1.0], initial_state=[1.0], num_samples=4,
                               random_type=tff.math.random.RandomType.SOBOL)
    return [root, area, tff.math.fwd_gradient(lambda x: x ** 3, x), tff.math.jacobian(lambda x: x ** 2, x),
            tff.math.interpolation.cubic.interpolate(_numbers(tf, 0.5, 1.5), spline), paths]


@_case
def equation(tf: Any) -> Any:
    """A pricing equation, solved backwards."""
    import tf_quant_finance as tff

    grid = tff.math.pde.grids.uniform_grid([0.0], [200.0], [101], dtype=tf.float64)
    dirichlet = tff.math.pde.boundary_conditions.dirichlet
    lower = dirichlet(lambda t, g: _numbers(tf, 0.0)[0])
    upper = dirichlet(lambda t, g: 200.0 - 100.0 * tf.exp(-0.03 * (1.0 - t)))
    solved = tff.math.pde.fd_solvers.solve_backward(
        start_time=1.0, end_time=0.0, coord_grid=grid, values_grid=tf.nn.relu(grid[0] - 100.0), num_steps=20,
        second_order_coeff_fn=lambda t, g: [[0.5 * 0.04 * g[0] ** 2]], zeroth_order_coeff_fn=lambda t, g: -0.03,
        first_order_coeff_fn=lambda t, g: [0.03 * g[0]], boundary_conditions=[(lower, upper)], dtype=tf.float64)
    return [solved[0]]
