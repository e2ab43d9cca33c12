"""Bijectors that work on each element, or like softmax on vectors.

Reference: TensorFlow 1.15 `tf.contrib.distributions.bijectors`.
"""

from __future__ import annotations

import math
from typing import Any

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import TensorLike
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.math.reduce_functions import reduce_logsumexp_v1 as reduce_logsumexp
from graphgrad.ops.math.reduce_functions import reduce_sum
from graphgrad.ops.nn.activations import softplus

from .bijector import Bijector


class PowerTransform(Bijector):
    """y = (1 + x c)^(1/c); exp(x) for c = 0.

    Args:
      power: c, a float that is not negative.
      validate_args: accepted.
      name: its name.
    Raises: ValueError for negative powers.
    """

    def __init__(self, power: float = 0.0, validate_args: bool = False, name: str = "power_transform"):
        if power < 0:
            raise ValueError(f"`power` must be a non-negative TF or float, not {power}\n  Asked for at {user_source(2)}"
                             "\n  Fix: Invert(PowerTransform(...))")
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=0)
        self._power = float(power)

    @property
    def power(self) -> float:
        """c."""
        return self._power

    def _forward(self, x: Any) -> Any:
        return raw.Exp(x) if self._power == 0 else raw.Exp(raw.Log1p(x * self._power) / self._power)

    def _inverse(self, y: Any) -> Any:
        return raw.Log(y) if self._power == 0 else raw.Expm1(raw.Log(y) * self._power) / self._power

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self._power - 1.0) * raw.Log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._power == 0:
            return x
        return (1.0 / self._power - 1.0) * raw.Log1p(x * self._power)


class Exp(PowerTransform):
    """y = exp(x).

    >>> from graphgrad.compat.contrib import distributions as ds
    >>> sess.run(ds.bijectors.Exp().forward_log_det_jacobian([1.0, 2.0], event_ndims=1))
    np.float32(3.0)
    """

    def __init__(self, validate_args: bool = False, name: str = "exp", event_ndims: Any = None):
        super().__init__(0.0, validate_args, name)
        self._forward_min_event_ndims = self._inverse_min_event_ndims = 0


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


def softplus_inverse(x: TensorLike, name: str | None = None) -> Any:
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


class Softsign(Bijector):
    """y = x / (1 + |x|)."""

    def __init__(self, validate_args: bool = False, name: str = "softsign"):
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=0)

    def _forward(self, x: Any) -> Any:
        return x / (1.0 + raw.Abs(x))

    def _inverse(self, y: Any) -> Any:
        return y / (1.0 - raw.Abs(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -2.0 * raw.Log1p(raw.Abs(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -2.0 * raw.Log1p(-raw.Abs(y))


class Square(Bijector):
    """y = x^2, for x that are not negative."""

    def __init__(self, validate_args: bool = False, name: str = "square"):
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=0)

    def _forward(self, x: Any) -> Any:
        return raw.Square(x)

    def _inverse(self, y: Any) -> Any:
        return raw.Sqrt(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return math.log(2.0) + raw.Log(x)


class Gumbel(Bijector):
    """The distribution function of Gumbel's distribution: y = exp(-exp(-(x - loc) / scale)).

    Args:
      loc, scale: numbers or tensors.
      validate_args: accepted.
      name: its name.
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool = False, name: str = "gumbel"):
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=0)
        self.loc = convert_to_tensor(loc)
        self.scale = convert_to_tensor(scale, self.loc.dtype)

    def _forward(self, x: Any) -> Any:
        return raw.Exp(-raw.Exp(-(x - self.loc) / self.scale))

    def _inverse(self, y: Any) -> Any:
        return self.loc - self.scale * raw.Log(-raw.Log(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - raw.Exp(-z) - raw.Log(self.scale)


class Weibull(Bijector):
    """The distribution function of Weibull's distribution: y = 1 - exp(-(x / scale)^concentration).

    Args:
      scale, concentration: numbers or tensors.
      validate_args: accepted.
      name: its name.
    """

    def __init__(self, scale: Any = 1.0, concentration: Any = 1.0, validate_args: bool = False, name: str = "weibull"):
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=0)
        self.scale = convert_to_tensor(scale)
        self.concentration = convert_to_tensor(concentration, self.scale.dtype)

    def _forward(self, x: Any) -> Any:
        return -raw.Expm1(-raw.Pow(x / self.scale, self.concentration))

    def _inverse(self, y: Any) -> Any:
        return self.scale * raw.Pow(-raw.Log1p(-y), 1.0 / self.concentration)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        c, z = self.concentration, x / self.scale
        return -raw.Pow(z, c) + raw.Log(c) + (c - 1.0) * raw.Log(z) - raw.Log(self.scale)


class SinhArcsinh(Bijector):
    """y = sinh((arcsinh(x) + skewness) tailweight).

    Args:
      skewness, tailweight: numbers or tensors; 0 and 1 by default.
      validate_args: accepted.
      name: its name.
    """

    def __init__(self, skewness: Any = None, tailweight: Any = None, validate_args: bool = False,
                 name: str = "SinhArcsinh"):
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=0)
        self.skewness = 0.0 if skewness is None else convert_to_tensor(skewness)
        self.tailweight = 1.0 if tailweight is None else convert_to_tensor(tailweight)

    def _forward(self, x: Any) -> Any:
        return raw.Sinh((raw.Asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Any) -> Any:
        return raw.Sinh(raw.Asinh(y) / self.tailweight - self.skewness)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        weight = convert_to_tensor(self.tailweight, x.dtype)
        inner = (raw.Asinh(x) + self.skewness) * weight
        return raw.Log(raw.Cosh(inner)) + raw.Log(weight) - 0.5 * raw.Log1p(raw.Square(x))


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
