"""`Composite`: the base of values that consist of tensors."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# Values of composite tensors as sessions return and accept them, in NumPy.
IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


class SparseTensorValue(collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])):
    """A sparse tensor in NumPy."""

    __slots__ = ()

    def to_scipy(self, row_dims: int | None = None) -> Any:
        """Returns a `scipy.sparse.csr_matrix`.

        Args:
          row_dims: how many dimensions in front number the rows, where there are more than two: those of y for a
            Jacobian (*Y, *X).
        Raises: ValueError for a tensor that has not two dimensions if `row_dims` is not given.

        >>> value = tf.SparseTensorValue([[0, 1]], [5.0], [2, 3])
        >>> value.to_scipy().toarray()
        array([[0., 5., 0.],
               [0., 0., 0.]])
        """
        return scipy_matrix(self, row_dims)


def scipy_matrix(value: Any, row_dims: int | None) -> Any:
    """Returns a `scipy.sparse.csr_matrix` for indices, values and shape in NumPy; see `SparseTensorValue.to_scipy`."""
    from scipy.sparse import csr_matrix

    indices, values, shape = map(np.asarray, value)
    rank = len(shape)
    if row_dims is None and rank != 2:
        raise ValueError(f"a sparse tensor of shape {tuple(shape.tolist())} is no matrix.\n  Fix: say how many "
                         "dimensions number the rows, e.g. to_scipy(row_dims=1), or tf.sparse.reshape it")
    split = 1 if row_dims is None else int(row_dims)
    if not 0 <= split <= rank:
        raise ValueError(f"row_dims is {row_dims}, but there are {rank} dimensions.\n  Fix: give a number from 0 to "
                         f"{rank}")
    numbers = []
    for part in (slice(0, split), slice(split, rank)):
        sizes = tuple(shape[part].tolist())
        numbers.append(np.ravel_multi_index(tuple(indices.reshape(-1, rank)[:, part].T), sizes) if sizes
                       else np.zeros(len(values), np.int64))
    height, width = (int(np.prod(shape[part], dtype=np.int64)) for part in (slice(0, split), slice(split, rank)))
    return csr_matrix((values, tuple(numbers)), (height, width))

_makers_of_specs: dict[type, Callable[[Any], Any]] = {}
_load_specs: Callable[[], None]  # see `load_specs_with`


def load_specs_with(load: Callable[[], None]) -> None:
    """Declares what registers the specs of classes of the core; `frontend.core_hooks` does.

    Args:
      load: imports the modules that do; other classes are registered where they are defined.
    """
    global _load_specs
    _load_specs = load


def register_spec(kind: type, make: Callable[[Any], Any]) -> None:
    """Declares how the spec of a value is made; called where the class, or its spec, is defined.

    Args:
      kind: a class of values; a subclass without an entry of its own takes its base's.
      make: a function from a value to its `TypeSpec`.
    """
    _makers_of_specs[kind] = make


def registered_spec(value: Any) -> Any:
    """Returns the `TypeSpec` of a value whose class has one; None for other values."""
    _load_specs()
    make = next((_makers_of_specs[c] for c in type(value).__mro__ if c in _makers_of_specs), None)
    return None if make is None else make(value)


class Bundle:
    """A value that passes where tensors pass (branches, loops, functions) as its tensors; base of `TensorArray` too.

    It is taken apart by `_parts` on one side and rebuilt on the other.
    """

    def _parts(self) -> list[Any]:
        """Returns the components, tensors."""
        raise NotImplementedError(f"{type(self).__name__}._parts")

    def _with_parts(self, parts: Sequence[Any]) -> Any:
        """Returns a value like this one, of other components."""
        raise NotImplementedError(f"{type(self).__name__}._with_parts")

    def _invariant(self, given: Any) -> Any:
        """Returns what rebuilds it in each iteration of a loop: a value or a `TypeSpec`.

        Args:
          given: a shape or spec that holds in every iteration, or None.
        """
        return self

    def _returned(self) -> tuple[Sequence[Any], Callable[..., Any]]:
        """Returns the tensors that a function returns in its place, and a function that rebuilds it from them."""
        return self._parts(), lambda *parts: self._with_parts(parts)

    def _nothing_like(self) -> Any:
        """Makes a value that replaces one that is never read."""
        raise NotImplementedError(f"{type(self).__name__}._nothing_like")


class Composite(Bundle):
    """A value that consists of tensors: sparse, ragged, sliced ones.

    A subclass says what it consists of, by `_parts` and `_static`; everything that tensors go through takes it apart
    and rebuilds it by its spec. Classes with a spec of their own override `_type_spec`, or register it.

    >>> from graphgrad.ir.values.composite import Composite
    >>> class Interval(Composite):
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    ...     def _parts(self):
    ...         return [self.low, self.high]
    >>> wider = tf.cond(tf.constant(True), lambda: Interval(1.0, 3.0), lambda: Interval(0.0, 0.0))
    >>> sess.run(wider).high
    np.float32(3.0)
    """

    _is_tensor = True  # what `tf.is_tensor` says

    @property
    def _type_spec(self) -> Any:
        """Returns the `TypeSpec` of the value."""
        return registered_spec(self)

    @property
    def _whole_spec(self) -> Any:
        """Returns the `TypeSpec` that reassembles the value from `_parts`, with the variables that it holds."""
        return self._type_spec

    def _static(self) -> tuple[Any, ...]:
        """Returns what it consists of besides tensors; hashable."""
        return ()

    @classmethod
    def _from_parts(cls, parts: Sequence[Any], static: tuple[Any, ...]) -> Any:
        """Builds a value from `_parts` and `_static` of another one."""
        return cls(*parts, *static)

    def _components(self) -> list[Any]:
        """Returns what `tf.nest` takes it apart into: the tensors, and variables as they are."""
        return self._parts()

    def _with_components(self, components: Sequence[Any]) -> Any:
        """Returns a value like this one, of other `_components`."""
        return self._with_parts(components)

    def _with_parts(self, parts: Sequence[Any]) -> Any:
        """Returns a value like this one, of other components."""
        return self._whole_spec._from_tensor_list(parts)

    def _invariant(self, given: Any) -> Any:
        return self._whole_spec._invariant(self, given)

    def _returned(self) -> tuple[Sequence[Any], Callable[..., Any]]:
        spec = self._whole_spec
        return self._parts(), lambda *parts: spec._from_tensor_list(parts)

    def _nothing_like(self) -> Any:
        return self._whole_spec._nothing_like(self._parts())

    def _gradient_parts(self) -> list[Any]:
        """Returns the components to which gradients refer: those of floating point."""
        return [t for t in self._parts() if t.dtype.is_differentiable]

    def _with_gradient_parts(self, gradients: Sequence[Any]) -> Any:
        """Replaces those components by their gradients; None if one of them is None."""
        if any(g is None for g in gradients):
            return None
        found = iter(gradients)
        return self._with_parts([next(found) if t.dtype.is_differentiable else t for t in self._parts()])

    def _fetched(self) -> Sequence[Any]:
        """Returns the tensors that a session fetches and feeds for it; None for what is omitted."""
        return self._parts()

    def _value_of(self, arrays: Sequence[Any]) -> Any:
        """Returns what a session gives for it.

        Args:
          arrays: the values of `_fetched`.
        """
        return self._with_parts(arrays)

    def _fed(self, value: Any) -> Sequence[Any]:
        """Returns what a session feeds to `_fetched`.

        Args:
          value: what the user feeds for it: the values in their order, or what `_value_of` gives.
        """
        return value if isinstance(value, (tuple, list)) else value._fetched()


def is_of_parts(value: Any) -> bool:
    """Returns whether a value is a composite that does not convert to a tensor, as `IndexedSlices` do."""
    return isinstance(value, Composite) and not hasattr(value, "_as_tensor")


def gradient_parts(value: Any) -> list[Any]:
    """Returns the tensors to which gradients with respect to a value, or of it, refer."""
    return value._gradient_parts() if isinstance(value, Composite) else [value]


def parts_of_gradient(of: Any, gradient: Any) -> list[Any]:
    """Returns the gradients of the `gradient_parts` of a value.

    Args:
      of: the value.
      gradient: its gradient: a composite for a composite, None for none.
    """
    if not isinstance(of, Composite) or not isinstance(gradient, Composite):
        return [gradient] * (len(gradient_parts(of)) if gradient is None else 1)
    return gradient._gradient_parts()


def with_gradient_parts(values: Sequence[Any], tensors: Sequence[Any]) -> list[Any]:
    """Inverts `gradient_parts`.

    Args:
      values: composites, which the results will be like; anything else is one tensor.
      tensors: what replaces `gradient_parts` of all of them; None for no gradient.
    """
    left, found = list(tensors), []
    for value in values:
        count = len(gradient_parts(value))
        mine, left = left[:count], left[count:]
        found.append(value._with_gradient_parts(mine) if isinstance(value, Composite) else mine[0])
    return found


class OfValues(Composite):
    """A composite with the graph and device of its `values`."""

    _values: Any

    def _with_values(self, new_values: Any) -> Any:
        """Returns the same places with other values."""
        raise NotImplementedError(f"{type(self).__name__}._with_values")

    def _gradient_parts(self) -> list[Any]:
        return [self._values]

    def _with_gradient_parts(self, gradients: Sequence[Any]) -> Any:
        return None if gradients[0] is None else self._with_values(gradients[0])

    @property
    def op(self) -> Any:
        """The operation of `values`."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph of `values`."""
        return self._values.graph

    @property
    def device(self) -> str:
        """The device of `values`."""
        return str(self._values.device)

    def consumers(self) -> Any:
        """Returns the operations that use `values`."""
        return self._values.consumers()
