"""Initializers of variables.

The classes of TensorFlow 1 take the dtype when they are made (and, again, when called);
those of TensorFlow 2 only when called.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.errors import describe
from graphgrad.ir import dtypes
from graphgrad.ir.conversion import constant, convert_to_tensor
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ops.random import random as random_ops
from graphgrad.ops.random import stateless


class Initializer:
    """The base of all initializers: called with a shape and a dtype, returns a tensor."""

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """Returns the initial value of a variable of a shape and dtype."""
        raise NotImplementedError  # each subclass has its own

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Makes the initializer that `get_config` described."""
        config = dict(config)
        config.pop("dtype", None) if not issubclass(cls, _Typed) else None
        return cls(**config)


class _Typed(Initializer):
    """An initializer of TensorFlow 1, with a default dtype."""

    dtype: Any = dtypes.float32

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None, **kwargs: Any) -> Any:
        """Returns the initial value of a variable of a shape and dtype."""
        return self._fill(shape, self.dtype if dtype is None else as_dtype(dtype))

    def _fill(self, shape: Any, dtype: Any) -> Any:
        raise NotImplementedError  # each subclass has its own

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"dtype": self.dtype.name}


class _Untyped(Initializer):
    """An initializer of TensorFlow 2: float32 unless it is called with a dtype."""

    seed: Any = None

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """Returns the initial value of a variable of a shape and dtype."""
        return self._fill(shape, dtypes.float32 if dtype is None else as_dtype(dtype))

    def _fill(self, shape: Any, dtype: Any) -> Any:
        raise NotImplementedError  # each subclass has its own


def _draw(initializer: Any, kind: str, shape: Any, a: Any, b: Any, dtype: Any) -> Any:
    """Draws random numbers of a kind ("uniform", "normal", "truncated_normal") for an initializer.

    In TensorFlow 2 an initializer with a seed gives the same numbers each time, in TensorFlow 1 the next ones.
    """
    if isinstance(initializer, _Untyped) and initializer.seed is not None:
        draw = getattr(stateless, f"stateless_{kind}")
        return draw(shape, [initializer.seed, 0], a, b, dtype)
    draw = getattr(random_ops, kind if kind == "truncated_normal" else f"random_{kind}")
    return draw(shape, a, b, dtype, seed=initializer.seed)


def _floating(dtype: Any) -> Any:
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype!r}.\n  Asked for at {user_source(3)}\n"
                         "  Fix: give dtype=tf.float32")
    return dtype


def _static(shape: Any) -> list[int]:
    """Returns the shape as a list of int; a tensor's value must be known."""
    if hasattr(shape, "_spec"):
        from graphgrad.ir.constant_value import constant_value

        known = constant_value(shape)
        if known is None:
            raise ValueError(describe("Initializer", "shape", "its shape must be known while building",
                                      f"shape={shape}", str(user_source(3)), "give a list of ints"))
        return [int(d) for d in known]
    return [int(d) for d in TensorShape(shape).as_list()]  # an unknown size is a TypeError


# -- constants ---------------------------------------------------------------------


def _constant_of(value: Any, shape: Any, dtype: Any, name: str = "Const") -> Any:
    """Makes a constant; where one element fills a large shape, the graph holds only that element."""
    array = constant_array(value, dtype)
    if array.size != 1:
        return constant(array, dtype, _static(shape), name)
    one = array.reshape(())
    if not hasattr(shape, "_spec"):
        sizes = _static(shape)
        shape = np.asarray(sizes, np.int32 if max(sizes, default=0) < 2**31 else np.int64)
        if int(np.prod(shape)) < 1000:
            return constant(np.full(shape, one, dtype.np_dtype), dtype, name=name)
    with name_scope(name) as scope:
        return raw.Fill(shape, constant(one, dtype), name=scope)


def constant_array(value: Any, dtype: Any) -> Any:
    """Returns the array of a constant initializer's value; raises TypeError unless it is a number or list."""
    if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray, np.generic, bytes))):
        raise TypeError("Invalid type for initial value: " + f"{type(value)}. Expected Python scalar, list or tuple of "
                        "values, or numpy.ndarray.")
    from graphgrad.ir.conversion import make_array

    return make_array(value, dtype)


class _ZerosRule:
    def _fill(self, shape: Any, dtype: Any) -> Any:
        if dtype is dtypes.string:
            return _constant_of(b"", shape, dtype, "zeros")
        return _constant_of(False if dtype.is_bool else 0, shape, dtype, "zeros")


class _OnesRule:
    def _fill(self, shape: Any, dtype: Any) -> Any:
        return _constant_of(True if dtype.is_bool else 1, shape, dtype, "ones")


class _ConstantRule:
    value: Any

    def _fill(self, shape: Any, dtype: Any) -> Any:
        return _constant_of(self.value, shape, dtype)


class Zeros(_ZerosRule, _Typed):
    """Zeros (an empty string for strings).

    Args:
      dtype: the dtype when it is not given with the shape.

    >>> sess.run(tf.zeros_initializer()([2]))
    array([0., 0.], dtype=float32)
    """

    def __init__(self, dtype: Any = dtypes.float32):
        self.dtype = as_dtype(dtype)


class Ones(_OnesRule, _Typed):
    """Ones.

    Args:
      dtype: the dtype when it is not given with the shape.

    >>> sess.run(tf.ones_initializer()([2]))
    array([1., 1.], dtype=float32)
    """

    def __init__(self, dtype: Any = dtypes.float32):
        self.dtype = as_dtype(dtype)


class Constant(_ConstantRule, _Typed):
    """A given value.

    Args:
      value: a scalar, which fills the shape, or as many values as the shape has elements.
      dtype: the dtype when it is not given with the shape.
      verify_shape: whether a value of another shape is an error.

    >>> sess.run(tf.constant_initializer(3.0)([2]))
    array([3., 3.], dtype=float32)
    """

    def __init__(self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False):
        self.value = value
        self.dtype = as_dtype(dtype)
        self._verify_shape = verify_shape
        constant_array(value, None)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: Any = None,
                 **kwargs: Any) -> Any:
        """Returns the initial value of a variable of a shape and dtype."""
        verify = self._verify_shape if verify_shape is None else verify_shape
        own = np.shape(constant_array(self.value, None))
        if verify and tuple(_static(shape)) != own:
            raise TypeError(f"Expected Tensor's shape: {tuple(_static(shape))}, got {own}.")
        return self._fill(shape, self.dtype if dtype is None else as_dtype(dtype))

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"value": self.value, "dtype": self.dtype.name}


class ZerosV2(_ZerosRule, _Untyped):
    """Zeros; see `tf.zeros_initializer`."""


class OnesV2(_OnesRule, _Untyped):
    """Ones; see `tf.ones_initializer`."""


class ConstantV2(_ConstantRule, _Untyped):
    """A given value, which fills the shape; see `tf.constant_initializer`."""

    def __init__(self, value: Any = 0, support_partition: bool = False):
        self.value = value
        constant_array(value, None)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"value": self.value}


class KerasConstant(ConstantV2):
    """A given value, which fills the shape; see `tf.keras.initializers.Constant`."""

    def __init__(self, value: Any = 0.0):
        super().__init__(value)


# -- random values -----------------------------------------------------------------


class RandomUniform(_Typed):
    """Uniform values in [minval, maxval).

    Args:
      minval, maxval: the range; `maxval` is 1 for floats if not given.
      seed: an int for a repeatable sequence.
      dtype: the dtype when it is not given with the shape.
    """

    def __init__(self, minval: Any = 0.0, maxval: Any = None, seed: Any = None, dtype: Any = dtypes.float32):
        self.minval = minval
        self.maxval = maxval
        self.seed = seed
        self.dtype = as_dtype(dtype)

    def _fill(self, shape: Any, dtype: Any) -> Any:
        return _draw(self, "uniform", shape, self.minval, self.maxval, dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed, "dtype": self.dtype.name}


class _Normal(_Typed):
    """What both kinds of normally distributed values have in common."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: Any = None, dtype: Any = dtypes.float32):
        self.mean = mean
        self.stddev = stddev
        self.seed = seed
        self.dtype = _floating(as_dtype(dtype))

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}


class RandomNormal(_Normal):
    """Normally distributed values.

    Args:
      mean, stddev: of the distribution.
      seed: an int for a repeatable sequence.
      dtype: the dtype when it is not given with the shape.
    """

    def _fill(self, shape: Any, dtype: Any) -> Any:
        return _draw(self, "normal", shape, self.mean, self.stddev, dtype)


class TruncatedNormal(_Normal):
    """Normally distributed values; those beyond two standard deviations are drawn again.

    Args:
      mean, stddev: of the distribution before it is truncated.
      seed: an int for a repeatable sequence.
      dtype: the dtype when it is not given with the shape.
    """

    def _fill(self, shape: Any, dtype: Any) -> Any:
        return _draw(self, "truncated_normal", shape, self.mean, self.stddev, dtype)


class RandomUniformV2(_Untyped):
    """Uniform values in [minval, maxval)."""

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None):
        self.minval = minval
        self.maxval = maxval
        self.seed = seed

    def _fill(self, shape: Any, dtype: Any) -> Any:
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Expected float or integer dtype, got {dtype!r}.")
        return _draw(self, "uniform", shape, self.minval, self.maxval, dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class _NormalV2(_Untyped):
    """What both kinds of normally distributed values have in common."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None):
        self.mean = mean
        self.stddev = stddev
        self.seed = seed

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


class RandomNormalV2(_NormalV2):
    """Normally distributed values."""

    def _fill(self, shape: Any, dtype: Any) -> Any:
        return _draw(self, "normal", shape, self.mean, self.stddev, _floating(dtype))


class TruncatedNormalV2(_NormalV2):
    """Normally distributed values; those beyond two standard deviations are drawn again."""

    def _fill(self, shape: Any, dtype: Any) -> Any:
        return _draw(self, "truncated_normal", shape, self.mean, self.stddev, _floating(dtype))


# -- matrices ----------------------------------------------------------------------


class _OrthogonalRule:
    gain: float
    seed: Any

    def _fill(self, shape: Any, dtype: Any) -> Any:
        sizes = _static(shape)
        if len(sizes) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional. Received: "
                             f"shape={tuple(sizes)} of rank {len(sizes)}.")
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        flat = (max(rows, columns), min(rows, columns))
        normal = _draw(self, "normal", flat, 0.0, 1.0, _floating(dtype))
        q, r = raw.Qr(normal, full_matrices=False)
        q = raw.Mul(q, raw.Sign(raw.MatrixDiagPart(r)))  # makes the distribution uniform
        if rows < columns:
            q = raw.Transpose(q, [1, 0])
        return raw.Mul(convert_to_tensor(self.gain, dtype), raw.Reshape(q, np.asarray(sizes, np.int32)))


class _IdentityRule:
    gain: float

    def _fill(self, shape: Any, dtype: Any) -> Any:
        sizes = _static(shape)
        if len(sizes) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices. Received: "
                             f"shape={tuple(sizes)}.")
        return constant(self.gain * np.eye(sizes[0], sizes[1]), _floating(dtype), name="eye")


class Orthogonal(_OrthogonalRule, _Typed):
    """A random orthogonal matrix; for higher ranks, all axes except the last are flattened.

    Args:
      gain: a factor.
      seed: an int for a repeatable sequence.
      dtype: the dtype when it is not given with the shape.
    Raises: ValueError for fewer than two dimensions.
    Reference: Saxe et al., 2013.
    """

    def __init__(self, gain: float = 1.0, seed: Any = None, dtype: Any = dtypes.float32):
        self.gain = gain
        self.dtype = _floating(as_dtype(dtype))
        self.seed = seed

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class Identity(_IdentityRule, _Typed):
    """The identity matrix.

    Args:
      gain: a factor.
      dtype: the dtype when it is not given with the shape.
    Raises: ValueError unless the shape has two dimensions.

    >>> sess.run(tf.initializers.identity(gain=2.0)([2, 2]))
    array([[2., 0.],
           [0., 2.]], dtype=float32)
    """

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32):
        self.gain = gain
        self.dtype = _floating(as_dtype(dtype))

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"gain": self.gain, "dtype": self.dtype.name}


class OrthogonalV2(_OrthogonalRule, _Untyped):
    """A random orthogonal matrix; see `tf.compat.v1.orthogonal_initializer`."""

    def __init__(self, gain: float = 1.0, seed: Any = None):
        self.gain = gain
        self.seed = seed

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"gain": self.gain, "seed": self.seed}


class IdentityV2(_IdentityRule, _Untyped):
    """The identity matrix; see `tf.compat.v1.initializers.identity`."""

    def __init__(self, gain: float = 1.0):
        self.gain = gain

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of `from_config` that make it again."""
        return {"gain": self.gain}


