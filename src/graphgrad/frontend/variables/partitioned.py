"""Partitioned variables and partitioners."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graphgrad.ir import dtypes
from graphgrad.ir.context import current_graph
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape, is_fully_defined
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import DTypeLike, ShapeLike

from .variable_settings import SaveSliceInfo


class PartitionInfo:
    """The part of a variable that an initializer computes.

    Attributes:
      full_shape: the shape of the whole, a list.
      var_offset: where the part begins, a list.
    """

    def __init__(self, full_shape: Any, var_offset: Any):
        self.full_shape = list(full_shape)
        self.var_offset = list(var_offset)


class PartitionedVariable:
    """A variable stored as several ones, cut along one axis.

    It can be iterated over, gives its parts' concatenation where a tensor is expected, and is what `embedding_lookup`
    takes for a table in parts. Gradients are taken with respect to the parts: `tf.gradients(y, list(v))`.

    Args:
      name: the name of the whole.
      shape: the shape of the whole.
      dtype: the dtype.
      variable_list: the parts, in their order.
      partitions: the number of parts along each axis.
    Reference: TensorFlow 2.21 PartitionedVariable.
    """

    def __init__(self, name: str, shape: Any, dtype: Any, variable_list: Sequence[Any], partitions: Sequence[int]):
        if len(partitions) != len(TensorShape(shape)) or math.prod(partitions) != len(variable_list):
            raise ValueError(f"Partitions {list(partitions)} of {name} do not fit shape {shape} and "
                             f"{len(variable_list)} parts.")
        self._name = name
        self._shape = TensorShape(shape)
        self._dtype: DType = as_dtype(dtype)
        self._variable_list = list(variable_list)
        self._partitions = list(partitions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        return len(self._variable_list)

    @property
    def name(self) -> str:
        """The name of the whole."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """Returns the shape of the whole; the same as `shape`."""
        return self._shape

    @property
    def handle(self) -> Any:
        """Raises NotImplementedError: there is no single handle."""
        raise NotImplementedError(f"PartitionedVariable {self._name} doesn't support being used as a reference.\n"
                                  f"  Asked for at {user_source(2)}\n  Fix: use its parts, list(variable)")

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def _axis(self) -> int:
        return next((i for i, n in enumerate(self._partitions) if n > 1), 0)

    def as_tensor(self) -> Any:
        """Returns the whole, as a tensor."""
        graph = current_graph()
        if graph is None:
            return self._joined()
        with graph.control_dependencies(None), graph.name_scope(None):
            with graph.name_scope(f"{self._name}/ConcatPartitions/"):
                whole = self._joined()
            return raw.Identity(whole, name=self._name)

    def _joined(self) -> Any:
        values = [v.value() for v in self._variable_list]
        return values[0] if len(values) == 1 else raw.ConcatV2(values, self._axis(), name="concat")

    def _as_tensor(self, dtype: Any = None, name: str | None = None) -> Any:
        return self.as_tensor()

    def _parts_of(self, value: Any) -> list[Any]:
        if isinstance(value, PartitionedVariable):
            return list(value)
        if isinstance(value, (list, tuple)) and len(value) == len(self):
            return list(value)
        sizes = [v.shape.as_list()[self._axis()] for v in self._variable_list]
        return list(raw.SplitV(value, sizes, self._axis(), num_split=len(sizes)))

    def _apply(self, method: str, value: Any, **kwargs: Any) -> list[Any]:
        parts = self._parts_of(value)
        return [getattr(v, method)(p, **kwargs) for v, p in zip(self._variable_list, parts, strict=True)]

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Sets the parts to those of `value`; returns the list of the parts' assignments."""
        return self._apply("assign", value, name=name, read_value=read_value)

    def assign_add(self, value: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """Adds the parts of `value` to each part; returns the list of the parts' assignments."""
        return self._apply("assign_add", value, name=name, read_value=read_value)

    def assign_sub(self, value: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """Subtracts the parts of `value` from each part; returns the list of the parts' assignments."""
        return self._apply("assign_sub", value, name=name, read_value=read_value)


def cut(shape: Sequence[int], partitions: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Returns offset and shape of each part; the first ones are larger by one if sizes are uneven."""
    axis = next((i for i, n in enumerate(partitions) if n > 1), 0)
    size, extra = divmod(shape[axis], partitions[axis])
    parts, start = [], 0
    for k in range(partitions[axis]):
        rows = size + (k < extra)
        parts.append(([start if i == axis else 0 for i in range(len(shape))],
                      [rows if i == axis else d for i, d in enumerate(shape)]))
        start += rows
    return parts


def partitions_for(partitioner: Callable[..., Any], name: str, shape: Any, dtype: DType) -> list[int]:
    """Calls the partitioner and checks its result."""
    static = TensorShape(shape)
    if shape is None or not is_fully_defined(static._dims):
        raise ValueError(f"Shape of a new partitioned variable {name} must be fully defined, but instead was {static}."
                         f"\n  Asked for at {user_source(2)}\n  Fix: give get_variable a shape without unknown sizes")
    partitions = partitioner(shape=static, dtype=dtype)
    if not isinstance(partitions, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but saw: {partitions}")
    if len(partitions) != len(static):
        raise ValueError(f"Partitioner returned a partition list that does not match the Variable's rank: {partitions} "
                         f"vs. {static}")
    if any(p < 1 for p in partitions):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {partitions}")
    if sum(p > 1 for p in partitions) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {static}, partitioning: {partitions}")
    return list(partitions)


def initial_part(initializer: Any, shape: list[int], offset: list[int], full: list[int], dtype: DType) -> Any:
    """Returns the initial value of a part: from the initializer, or the part of a given value."""
    if not callable(initializer):
        return raw.Slice(initializer, offset, shape)
    try:
        return initializer(shape, dtype=dtype, partition_info=PartitionInfo(full, offset))
    except TypeError as e:
        if "partition_info" not in str(e):
            raise
        return initializer(shape, dtype=dtype)


def _sizes(shape: Any) -> list[int]:
    return [d or 0 for d in TensorShape(shape).as_list()]


def mark(variable: Any, name: str, full: list[int], offset: list[int], shape: list[int]) -> None:
    """Marks a part with its position in its variable."""
    variable._set_save_slice_info(SaveSliceInfo(name, full, offset, shape))


def create_partitioned_variables(shape: ShapeLike, slicing: Any, initializer: Any, dtype: DTypeLike = dtypes.float32,
                                 trainable: bool = True, collections: Any = None, name: str | None = None,
                                 reuse: Any = None) -> list[Any]:
    """Creates the parts of a new variable by `get_variable`.

    Args:
      shape: the shape of the whole.
      slicing: the number of parts along each axis; more than one along at most one axis.
      initializer: a function of shape and dtype, or the value of the whole.
      dtype: the dtype.
      trainable, collections: as for `get_variable`.
      name: the name of the whole; "PartitionedVariable" made unique by default.
      reuse: True to take a variable that is there.
    Returns: a list of variables.
    Raises: ValueError for slicings that do not fit.
    Reference: TensorFlow 2.21 `tf.compat.v1.create_partitioned_variables`.

    >>> [v.shape.as_list() for v in tf.create_partitioned_variables([5, 2], [2, 1], tf.zeros_initializer(), name="w")]
    [[3, 2], [2, 2]]
    """
    from .variable_scope import get_variable, variable_scope

    def partitioner(**_: Any) -> list[int]:
        return list(slicing)

    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        own, scope._name = scope._name, scope._name.rpartition("/")[0]  # the parts are directly in the scope
        whole = get_variable(own.rpartition("/")[2], shape, dtype, initializer, trainable=trainable,
                             collections=collections, partitioner=partitioner)
    return list(whole)


def _uncut(shape: Any, axis: int) -> list[int]:
    """Returns one part along each axis of a shape; raises ValueError if it lacks the axis to be cut."""
    parts = [1] * len(TensorShape(shape))
    if not -len(parts) <= axis < len(parts):
        raise ValueError(f"the shape {TensorShape(shape)} has no axis {axis} to be cut. Fix: give another axis")
    return parts


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Callable[..., list[int]]:
    """Makes a partitioner into a fixed number of parts along one axis.

    Args:
      num_shards: the number of parts; fewer where the axis is shorter.
      axis: the axis that is cut.
    Returns: a function of shape and dtype, for `get_variable`.
    Reference: TensorFlow 2.21 `tf.compat.v1.fixed_size_partitioner`.

    >>> tf.fixed_size_partitioner(3)(tf.TensorShape([7, 2]))
    [3, 1]
    """

    def partitioner(shape: Any, **_: Any) -> list[int]:
        parts = _uncut(shape, axis)
        parts[axis] = min(num_shards, TensorShape(shape).as_list()[axis] or num_shards)
        return parts

    return partitioner


def variable_axis_size_partitioner(max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16,
                                   max_shards: int | None = None) -> Callable[..., list[int]]:
    """Makes a partitioner into parts of a bounded size along one axis.

    Args:
      max_shard_bytes: how large a part may be.
      axis: the axis that is cut.
      bytes_per_string_element: what a string counts.
      max_shards: a bound on the number of parts, or None.
    Returns: a function of shape and dtype, for `get_variable`.
    Raises: ValueError for bounds that are not positive.
    Reference: TensorFlow 2.21 `tf.compat.v1.variable_axis_size_partitioner`.

    >>> tf.variable_axis_size_partitioner(40)(tf.TensorShape([10, 4]), tf.float32)
    [5, 1]
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1 or (max_shards is not None and max_shards < 1):
        raise ValueError("max_shard_bytes, bytes_per_string_element and max_shards must be positive, not "
                         f"{max_shard_bytes}, {bytes_per_string_element}, {max_shards}.")

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        sizes = _sizes(shape)
        element = bytes_per_string_element if as_dtype(dtype) is dtypes.string else as_dtype(dtype).size
        if not -len(sizes) <= axis < len(sizes):
            raise ValueError(f"a variable of rank {len(sizes)} has no axis {axis} to part.\n  Fix: give a lower axis")
        slice_bytes = element * math.prod(sizes) // max(sizes[axis], 1)
        rows = max(1, max_shard_bytes // max(slice_bytes, 1))
        count = max(1, math.ceil(sizes[axis] / rows))
        parts = _uncut(shape, axis)
        parts[axis] = count if max_shards is None else min(count, max_shards)
        return parts

    return partitioner


def min_max_variable_partitioner(max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10,
                                 bytes_per_string_element: int = 16) -> Callable[..., list[int]]:
    """Makes a partitioner into up to a number of parts of at least a given size.

    Args:
      max_partitions: a bound on the number of parts.
      axis: the axis that is cut.
      min_slice_size: the least size of a part, in bytes.
      bytes_per_string_element: what a string counts.
    Returns: a function of shape and dtype, for `get_variable`.
    Reference: TensorFlow 2.21 `tf.compat.v1.min_max_variable_partitioner`.

    >>> tf.min_max_variable_partitioner(4, min_slice_size=40)(tf.TensorShape([10, 4]), tf.float32)
    [4, 1]
    """

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        sizes = _sizes(shape)
        element = bytes_per_string_element if as_dtype(dtype) is dtypes.string else as_dtype(dtype).size
        parts = _uncut(shape, axis)
        parts[axis] = max(1, min(sizes[axis], max_partitions, math.ceil(element * math.prod(sizes) / min_slice_size)))
        return parts

    return partitioner
