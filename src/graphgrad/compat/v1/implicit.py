"""`tf.implicit` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.implicit.argmin: argmin
graphgrad.extras.implicit.fixed_point: fixed_point
graphgrad.extras.implicit.linear_solve: linear_solve
graphgrad.extras.implicit.ode: odeint
graphgrad.extras.implicit.ode_events: Event=TrajectoryEvent
graphgrad.extras.implicit.root: root
""")
