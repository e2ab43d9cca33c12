"""Bijectors: transformations with an inverse and the logarithm of their Jacobian's determinant; the elementwise ones.

Reference: Dillon et al. 2017, TensorFlow Distributions; TensorFlow 1.15 `tf.contrib.distributions.bijectors`.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from graphgrad.frontend.rnn.scoped_layer import snake_case
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ops.array.broadcast_to import broadcast_to
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.math.reduce_functions import reduce_sum

_REMEMBERED = 16


class Bijector:
    """A differentiable function with an inverse: `y = forward(x)`.

    A subclass defines `_forward`, `_inverse`, and `_inverse_log_det_jacobian` or `_forward_log_det_jacobian`: the
    logarithm of |det J| for one event of `forward_min_event_ndims` dimensions. Forward results are cached, so that
    their inverses cost nothing.

    Args:
      graph_parents: accepted; tensors that it depends on.
      is_constant_jacobian: whether the Jacobian does not depend on x.
      validate_args: accepted.
      dtype: the dtype that it works on, or None for any.
      forward_min_event_ndims, inverse_min_event_ndims: the numbers of dimensions of x and y for one event; 0 and the
        same by default.
      name: its name; made from the class by default.
      event_ndims: the name of `forward_min_event_ndims` in older versions.
    Reference: TensorFlow 1.15 `tf.contrib.distributions.bijectors.Bijector`.

    >>> from graphgrad.compat.contrib import distributions as ds
    >>> class Double(ds.bijectors.Bijector):
    ...     def _forward(self, x):
    ...         return 2.0 * x
    ...     def _inverse(self, y):
    ...         return y / 2.0
    ...     def _inverse_log_det_jacobian(self, y):
    ...         return tf.fill(tf.shape(y), -np.float32(np.log(2)))
    >>> sess.run(Double(forward_min_event_ndims=0).inverse_log_det_jacobian([1.0, 2.0], event_ndims=1))
    np.float32(-1.3862944)
    """

    def __init__(self, graph_parents: Any = None, is_constant_jacobian: bool = False, validate_args: bool = False,
                 dtype: Any = None, forward_min_event_ndims: Any = None, inverse_min_event_ndims: Any = None,
                 name: str | None = None, event_ndims: Any = None):
        first = event_ndims if forward_min_event_ndims is None else forward_min_event_ndims
        if first is None:
            first = 0 if inverse_min_event_ndims is None else inverse_min_event_ndims
        self._graph_parents = list(graph_parents or [])
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = None if dtype is None else as_dtype(dtype)
        self._forward_min_event_ndims = int(first)
        self._inverse_min_event_ndims = int(first if inverse_min_event_ndims is None else inverse_min_event_ndims)
        self._name = name or snake_case(type(self).__name__.lstrip("_"))
        self._pairs: deque[tuple[Any, Any, Any]] = deque(maxlen=_REMEMBERED)

    # -- properties ----------------------------------------------------------------------

    @property
    def graph_parents(self) -> list[Any]:
        """Tensors that it depends on."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self) -> int:
        """The number of dimensions of x for one event."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self) -> int:
        """The number of dimensions of y for one event."""
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the Jacobian does not depend on x."""
        return self._is_constant_jacobian

    @property
    def validate_args(self) -> bool:
        """The argument `validate_args`."""
        return self._validate_args

    @property
    def dtype(self) -> Any:
        """The dtype that it works on, or None for any."""
        return self._dtype

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    # -- computing ---------------------------------------------------------------------------

    # A subclass defines what it can compute: not all can be inverted, and of derivatives one direction is enough.

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError(f"forward not implemented: {type(self).__name__}. Fix: define _forward")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"inverse not implemented: {type(self).__name__}. Fix: define _inverse")

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        raise NotImplementedError(f"inverse_log_det_jacobian not implemented: {type(self).__name__}. "
                                  "Fix: define _inverse_log_det_jacobian")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        raise NotImplementedError(f"forward_log_det_jacobian not implemented: {type(self).__name__}. "
                                  "Fix: define _forward_log_det_jacobian")

    def _tensor(self, value: Any) -> Any:
        tensor = convert_to_tensor(value, None if hasattr(value, "dtype") else self._dtype)
        if self._dtype is not None and tensor.dtype is not self._dtype:
            raise TypeError(f"Input had dtype {tensor.dtype.name} but expected {self._dtype.name}.\n"
                            f"  Asked for at {user_source(3)}\n  Fix: tf.cast")
        return tensor

    def forward(self, x: Any, name: str = "forward", **kwargs: Any) -> Any:
        """Computes y of x.

        Args:
          x: a tensor.
          name: a name for the operations.
          **kwargs: conditions, for a bijector that takes them.
        """
        with name_scope(f"{self._name}/{name}"):
            x = self._tensor(x)
            for a, b, given in self._pairs:
                if a is x and given == kwargs:
                    return b
            y = self._forward(x, **kwargs)
            self._pairs.append((x, y, kwargs))
            return y

    def inverse(self, y: Any, name: str = "inverse", **kwargs: Any) -> Any:
        """Computes x of y.

        Args:
          y: a tensor.
          name: a name for the operations.
          **kwargs: conditions, for a bijector that takes them.
        """
        with name_scope(f"{self._name}/{name}"):
            y = self._tensor(y)
            for a, b, given in self._pairs:
                if b is y and given == kwargs:
                    return a
            x = self._inverse(y, **kwargs)
            self._pairs.append((x, y, kwargs))
            return x

    def inverse_log_det_jacobian(self, y: Any, event_ndims: Any = None, name: str = "inverse_log_det_jacobian",
                                 **kwargs: Any) -> Any:
        """Computes the logarithm of |det dx/dy|, summed over events.

        Args:
          y: a tensor.
          event_ndims: the number of last dimensions that form one event; the least by default.
          name: a name for the operations.
          **kwargs: conditions, for a bijector that takes them.
        Raises: ValueError for too few dimensions.
        """
        with name_scope(f"{self._name}/{name}"):
            y = self._tensor(y)
            try:
                found = self._inverse_log_det_jacobian(y, **kwargs)
            except NotImplementedError:  # a bijector need define one of the two directions only
                found = -self._forward_log_det_jacobian(self.inverse(y, **kwargs), **kwargs)
            return self._over_event(found, y, self._inverse_min_event_ndims, event_ndims)

    def forward_log_det_jacobian(self, x: Any, event_ndims: Any = None, name: str = "forward_log_det_jacobian",
                                 **kwargs: Any) -> Any:
        """Computes the logarithm of |det dy/dx|, summed over events.

        Args:
          x: a tensor.
          event_ndims: the number of last dimensions that form one event; the least by default.
          name: a name for the operations.
          **kwargs: conditions, for a bijector that takes them.
        Raises: ValueError for too few dimensions.
        """
        with name_scope(f"{self._name}/{name}"):
            x = self._tensor(x)
            try:
                found = self._forward_log_det_jacobian(x, **kwargs)
            except NotImplementedError:  # a bijector need define one of the two directions only
                found = -self._inverse_log_det_jacobian(self.forward(x, **kwargs), **kwargs)
            return self._over_event(found, x, self._forward_min_event_ndims, event_ndims)

    def _over_event(self, found: Any, at: Any, least: int, event_ndims: Any) -> Any:
        extra = 0 if event_ndims is None else int(event_ndims) - least
        if extra < 0:
            raise ValueError(f"event_ndims must be at least {least} for {self._name}, not {event_ndims}\n"
                             f"  Asked for at {user_source(3)}\n  Fix: event_ndims={least}")
        if extra == 0:
            return found
        whole = shape(at)
        if least:
            whole = raw.StridedSlice(whole, [0], [-least], [1], begin_mask=1)
        return reduce_sum(broadcast_to(found, whole), list(range(-extra, 0)))

    # -- shapes ------------------------------------------------------------------------------

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return output_shape

    def forward_event_shape(self, input_shape: Any) -> Any:
        """Returns the static shape of y's event, given that of x's."""
        return TensorShape(self._forward_event_shape(TensorShape(input_shape)))

    def inverse_event_shape(self, output_shape: Any) -> Any:
        """Returns the static shape of x's event, given that of y's."""
        return TensorShape(self._inverse_event_shape(TensorShape(output_shape)))

    def forward_event_shape_tensor(self, input_shape: Any, name: str = "forward_event_shape_tensor") -> Any:
        """Returns the shape of y's event, given that of x's."""
        return convert_to_tensor(self.forward_event_shape(_static(input_shape)).as_list(), "int32")

    def inverse_event_shape_tensor(self, output_shape: Any, name: str = "inverse_event_shape_tensor") -> Any:
        """Returns the shape of x's event, given that of y's."""
        return convert_to_tensor(self.inverse_event_shape(_static(output_shape)).as_list(), "int32")


def _static(value: Any) -> Any:
    from graphgrad.ir.constant_value import constant_value

    known: Any = constant_value(value) if hasattr(value, "op") else value
    return [int(n) for n in np.atleast_1d(known)]


ConditionalBijector = Bijector


class IdentityBijector(Bijector):
    """y = x."""

    def __init__(self, validate_args: bool = False, name: str = "identity"):
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name, forward_min_event_ndims=0)

    def _forward(self, x: Any) -> Any:
        return x

    def _inverse(self, y: Any) -> Any:
        return y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return convert_to_tensor(0.0, y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0.0, x.dtype)
