"""`tf.contrib.integrate` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.implicit.contrib_odeint import odeint as odeint
from graphgrad.extras.implicit.contrib_odeint import odeint_fixed as odeint_fixed

__all__ = [
    "odeint", "odeint_fixed"
]
