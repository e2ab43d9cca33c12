"""AdaMax."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.opdef import raw
from graphgrad.ops.control.group import group

from .adam import AdamOptimizer
from .optimizer import as_dtype_of


class AdaMaxOptimizer(AdamOptimizer):
    """AdaMax: Adam with the largest recent gradient in the place of the mean of squares.

        m = beta1 * m + (1 - beta1) * grad
        v = max(beta2 * v, abs(grad))
        var -= learning_rate / (1 - beta1**t) * m / (v + epsilon)

    A variable of which only rows were gathered is updated as a whole: m and v decay in all rows.

    Args:
      learning_rate, beta1, beta2, epsilon: floats, tensors, or functions that give one.
      use_locking: accepted; updates of one run never interleave.
      name: the name of the training operations and of the slots.
    Reference: Kingma and Ba, 2015, section 7.1; TensorFlow 1.15 `tf.contrib.opt.AdaMaxOptimizer`.

    >>> w = tf.Variable(2.0)
    >>> from graphgrad.compat import contrib
    >>> step = contrib.opt.AdaMaxOptimizer(0.5).minimize(w)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> print(round(float(sess.run(w)), 4))
    1.5
    """

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "AdaMax"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        power = as_dtype_of(self._get_beta_accumulators()[0], grad)
        rate, beta1, beta2, epsilon = (
            as_dtype_of(t, grad) for t in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t))
        one = raw.OnesLike(power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = raw.AddV2(raw.Mul(beta1, m), raw.Mul(raw.Sub(one, beta1), grad))
        largest = raw.Maximum(raw.Mul(beta2, v), raw.Abs(grad))
        step = raw.Mul(raw.RealDiv(rate, raw.Sub(one, power)), raw.RealDiv(mean, raw.AddV2(largest, epsilon)))
        updates = [m.assign(mean, read_value=False), v.assign(largest, read_value=False),
                   var.assign_sub(step, read_value=False)]
        return group(*updates) if updates[0] is not None else None
