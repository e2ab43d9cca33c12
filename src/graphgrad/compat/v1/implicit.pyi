"""`tf.implicit` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.implicit.argmin import argmin as argmin
from graphgrad.extras.implicit.fixed_point import fixed_point as fixed_point
from graphgrad.extras.implicit.linear_solve import linear_solve as linear_solve
from graphgrad.extras.implicit.ode import odeint as odeint
from graphgrad.extras.implicit.ode_events import TrajectoryEvent as Event
from graphgrad.extras.implicit.root import root as root

__all__ = [
    "Event", "argmin", "fixed_point", "linear_solve", "odeint", "root"
]
