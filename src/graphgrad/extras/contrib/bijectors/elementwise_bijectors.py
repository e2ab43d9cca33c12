"""Bijectors that work on each element, or like softmax on vectors.

Reference: TensorFlow 1.15 `tf.contrib.distributions.bijectors`.
"""

from __future__ import annotations

from typing import Any

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.math.reduce_functions import reduce_logsumexp_v1 as reduce_logsumexp
from graphgrad.ops.math.reduce_functions import reduce_sum
from graphgrad.ops.nn.activations import softplus

from .bijector import Bijector


class Exp(Bijector):
    """y = exp(x).

    >>> from graphgrad.compat.contrib import distributions as ds
    >>> sess.run(ds.bijectors.Exp().forward_log_det_jacobian([1.0, 2.0], event_ndims=1))
    np.float32(3.0)
    """

    def __init__(self, validate_args: bool = False, name: str = "exp", event_ndims: Any = None):
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=0)

    def _forward(self, x: Any) -> Any:
        return raw.Exp(x)

    def _inverse(self, y: Any) -> Any:
        return raw.Log(y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -raw.Log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return x


class Sigmoid(Bijector):
    """y = 1 / (1 + exp(-x))."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid"):
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=0)

    def _forward(self, x: Any) -> Any:
        return raw.Sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return raw.Log(y) - raw.Log1p(-y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -raw.Log(y) - raw.Log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x) - softplus(x)


def softplus_inverse(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of softplus: log(exp(x) - 1).

    Args:
      x: positive floats.
      name: a name for the operations.
    """
    with name_scope(name, "softplus_inverse"):
        x = convert_to_tensor(x)
        return x + raw.Log(-raw.Expm1(-x))


class Softplus(Bijector):
    """y = c log(1 + exp(x / c)).

    Args:
      hinge_softness: c; 1 by default.
      validate_args: accepted.
      name: its name.
    """

    def __init__(self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus"):
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=0)
        self._hinge_softness = hinge_softness

    @property
    def hinge_softness(self) -> Any:
        """c, or None for 1."""
        return self._hinge_softness

    def _over(self, x: Any) -> Any:
        return x if self._hinge_softness is None else x / self._hinge_softness

    def _times(self, x: Any) -> Any:
        return x if self._hinge_softness is None else x * self._hinge_softness

    def _forward(self, x: Any) -> Any:
        return self._times(softplus(self._over(x)))

    def _inverse(self, y: Any) -> Any:
        return self._times(softplus_inverse(self._over(y)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -raw.Log(-raw.Expm1(-self._over(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-self._over(x))


class SoftmaxCentered(Bijector):
    """Softmax of x with a zero appended: n numbers become n + 1 that sum to 1."""

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered"):
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=1)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return input_shape[:-1].concatenate([None if input_shape[-1] is None else int(input_shape.as_list()[-1]) + 1])

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return output_shape[:-1].concatenate([int(output_shape.as_list()[-1]) - 1])

    def _forward(self, x: Any) -> Any:
        return raw.Softmax(_padded(x))

    def _inverse(self, y: Any) -> Any:
        logs = raw.Log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -reduce_sum(raw.Log(y), -1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        count = raw.Cast(shape(x)[-1] + 1, DstT=x.dtype)
        return reduce_sum(x, -1) - count * reduce_logsumexp(_padded(x), -1)


def _padded(x: Any) -> Any:
    return raw.Pad(x, [[0, 0]] * (x.shape.rank - 1) + [[0, 1]])
