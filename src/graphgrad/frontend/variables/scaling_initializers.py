"""Initializers that scale random values by the number of inputs and outputs: Glorot's, He's, LeCun's."""

from __future__ import annotations

import math
from typing import Any

from graphgrad.ir import dtypes
from graphgrad.ir.dtypes import as_dtype

from .initializers import _draw, _floating, _static, _Typed, _Untyped


class UniformUnitScaling(_Typed):
    """Uniform values whose scale keeps the size of a layer's input: within sqrt(3 / n) * factor.

    Args:
      factor: the scale; 1.43 suits relu, 1.15 tanh.
      seed: an int for a repeatable sequence.
      dtype: the dtype when it is not given with the shape.
    """

    def __init__(self, factor: Any = 1.0, seed: Any = None, dtype: Any = dtypes.float32):
        self.factor = factor
        self.seed = seed
        self.dtype = _floating(as_dtype(dtype))

    def _fill(self, shape: Any, dtype: Any) -> Any:
        inputs = max(math.prod(_static(shape)[:-1]), 1)
        bound = math.sqrt(3 / inputs) * self.factor
        return _draw(self, "uniform", shape, -bound, bound, dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


def compute_fans(shape: Any) -> tuple[int, int]:
    """Returns the numbers of inputs and outputs of a unit of a layer with weights of this shape."""
    sizes = _static(shape)
    if not sizes:
        return 1, 1
    if len(sizes) == 1:
        return sizes[0], sizes[0]
    receptive = math.prod(sizes[:-2])
    return sizes[-2] * receptive, sizes[-1] * receptive


_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("normal", "uniform", "truncated_normal", "untruncated_normal")
_TRUNCATED_STDDEV = 0.87962566103423978  # of a unit normal distribution truncated at two standard deviations


class _ScalingRule:
    """Values whose variance is `scale` over the number of inputs, outputs, or their mean."""

    scale: float
    mode: str
    distribution: str
    seed: Any

    def _set(self, scale: float, mode: str, distribution: str, seed: Any) -> None:
        if scale <= 0.0:
            raise ValueError(f"`scale` must be a positive float. Received: {scale}")
        if mode.lower() not in _MODES:
            raise ValueError(f"Invalid `mode` argument: {mode}. Please use one of the {_MODES}")
        if distribution.lower() not in _DISTRIBUTIONS:
            raise ValueError(f"Invalid `distribution` argument: {distribution}. "
                             f"Please use one of the {_DISTRIBUTIONS}")
        self.scale = scale
        self.mode = mode.lower()
        self.distribution = "truncated_normal" if distribution.lower() == "normal" else distribution.lower()
        self.seed = seed

    def _fill(self, shape: Any, dtype: Any) -> Any:
        fan_in, fan_out = compute_fans(shape)
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, n)
        _floating(dtype)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return _draw(self, "uniform", shape, -limit, limit, dtype)
        if self.distribution == "untruncated_normal":
            return _draw(self, "normal", shape, 0.0, math.sqrt(variance), dtype)
        return _draw(self, "truncated_normal", shape, 0.0, math.sqrt(variance) / _TRUNCATED_STDDEV, dtype)


class VarianceScaling(_ScalingRule, _Typed):
    """Random values scaled by the size of the layer: variance `scale` / n.

    Args:
      scale: a positive factor.
      mode: n is the number of inputs ("fan_in"), of outputs ("fan_out"), or their mean ("fan_avg").
      distribution: "truncated_normal" (also "normal"), "untruncated_normal" or "uniform".
      seed: an int for a repeatable sequence.
      dtype: the dtype when it is not given with the shape.
    Raises: ValueError for other modes, distributions and scales.
    """

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
                 seed: Any = None, dtype: Any = dtypes.float32):
        self._set(scale, mode, distribution, seed)
        self.dtype = _floating(as_dtype(dtype))

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"scale": self.scale, "mode": self.mode, "distribution": self.distribution, "seed": self.seed,
                "dtype": self.dtype.name}


class GlorotUniform(VarianceScaling):
    """Uniform values within sqrt(6 / (inputs + outputs)).

    Reference: Glorot and Bengio, 2010.

    >>> w = tf.get_variable("w", [3, 3], initializer=tf.glorot_uniform_initializer())
    """

    def __init__(self, seed: Any = None, dtype: Any = dtypes.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"seed": self.seed, "dtype": self.dtype.name}


class GlorotNormal(VarianceScaling):
    """Truncated normal values of variance 2 / (inputs + outputs).

    Reference: Glorot and Bengio, 2010.
    """

    def __init__(self, seed: Any = None, dtype: Any = dtypes.float32):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"seed": self.seed, "dtype": self.dtype.name}


class VarianceScalingV2(_ScalingRule, _Untyped):
    """Random values scaled by the size of the layer; see `tf.compat.v1.variance_scaling_initializer`."""

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
                 seed: Any = None, input_axes: Any = None, output_axes: Any = None):
        self._set(scale, mode, distribution, seed)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"scale": self.scale, "mode": self.mode, "distribution": self.distribution, "seed": self.seed}


class _Preset(VarianceScalingV2):
    """A variance scaling with fixed scale, mode and distribution."""

    _preset: tuple[float, str, str]

    def __init__(self, seed: Any = None, input_axes: Any = None, output_axes: Any = None):
        super().__init__(*self._preset, seed)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"seed": self.seed}


class GlorotUniformV2(_Preset):
    """Uniform values within sqrt(6 / (inputs + outputs))."""

    _preset = (1.0, "fan_avg", "uniform")


class GlorotNormalV2(_Preset):
    """Truncated normal values of variance 2 / (inputs + outputs)."""

    _preset = (1.0, "fan_avg", "truncated_normal")


class HeUniform(_Preset):
    """Uniform values within sqrt(6 / inputs)."""

    _preset = (2.0, "fan_in", "uniform")


class HeNormal(_Preset):
    """Truncated normal values of variance 2 / inputs."""

    _preset = (2.0, "fan_in", "truncated_normal")


class LecunUniform(_Preset):
    """Uniform values within sqrt(3 / inputs)."""

    _preset = (1.0, "fan_in", "uniform")


class LecunNormal(_Preset):
    """Truncated normal values of variance 1 / inputs."""

    _preset = (1.0, "fan_in", "truncated_normal")


def he_normal(seed: Any = None) -> VarianceScaling:
    """Makes an initializer: truncated normal values of variance 2 / inputs (He et al., 2015).

    Args:
      seed: an int for a repeatable sequence.
    Returns: an initializer, for `get_variable`.
    Reference: TensorFlow 2.21 `tf.compat.v1.initializers.he_normal`.
    """
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: Any = None) -> VarianceScaling:
    """Makes an initializer: uniform values within sqrt(6 / inputs) (He et al., 2015).

    Args:
      seed: an int for a repeatable sequence.
    Returns: an initializer, for `get_variable`.
    Reference: TensorFlow 2.21 `tf.compat.v1.initializers.he_uniform`.
    """
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: Any = None) -> VarianceScaling:
    """Makes an initializer: truncated normal values of variance 1 / inputs (LeCun et al., 1998).

    Args:
      seed: an int for a repeatable sequence.
    Returns: an initializer, for `get_variable`.
    Reference: TensorFlow 2.21 `tf.compat.v1.initializers.lecun_normal`.
    """
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: Any = None) -> VarianceScaling:
    """Makes an initializer: uniform values within sqrt(3 / inputs) (LeCun et al., 1998).

    Args:
      seed: an int for a repeatable sequence.
    Returns: an initializer, for `get_variable`.
    Reference: TensorFlow 2.21 `tf.compat.v1.initializers.lecun_uniform`.
    """
    return VarianceScaling(1.0, "fan_in", "uniform", seed)
