"""`tf.contrib.integrate` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.implicit.contrib_odeint: odeint odeint_fixed
""")
