"""Data sets whose elements are divided among replicas, and iterators over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.errors import OutOfRangeError
from graphgrad.frontend.control_flow.cond_while import cond
from graphgrad.frontend.distribute.contexts import device_block
from graphgrad.frontend.function.autograph.loop_sources import LoopSource
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.frontend.variables.composite_tensor import CompositeTensor
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.opdef import raw

from .replica_values import PerReplica, PerReplicaSpec, together


class _Divided:
    """How the batches of all replicas are divided: replica i gets the i-th of equal parts, the last ones what is left.

    Args:
      devices: the replicas' devices.
      spec: the structure of a batch, with a `TypeSpec` for each component.
      own: the replica whose part is taken; all parts if not given.
    """

    def __init__(self, devices: Sequence[str], spec: Any, own: int | None = None):
        self.devices, self._spec, self._own = devices, spec, own

    def element_spec(self) -> Any:
        """Returns the structure of an element."""
        return nest.map_structure(lambda s: self._owned(self._spec_of(s), "_value_specs"), self._spec)

    def _owned(self, value: Any, parts: str) -> Any:
        """Returns the part of this process's replica, if it has but one."""
        return value if self._own is None or len(self.devices) == 1 else getattr(value, parts)[self._own]

    def _spec_of(self, spec: Any) -> Any:
        shape = getattr(spec, "shape", None)
        if shape is None or len(self.devices) == 1:
            return spec if len(self.devices) == 1 else PerReplicaSpec(*[spec] * len(self.devices))
        sizes = [None] * len(self.devices)
        if shape.rank and shape[0] is not None:
            whole = int(shape[0])
            part = -(-whole // len(self.devices))
            # Silenced: sizes, where there were None.
            sizes = [max(0, min(part, whole - i * part)) for i in range(len(self.devices))]  # type: ignore[misc]
        return PerReplicaSpec(*[type(spec)([size, *shape[1:]] if shape.rank else shape, spec.dtype) for size in sizes])

    def element(self, source: Any) -> Any:
        """Returns the next element, of an iterator's batch."""
        return nest.map_structure(lambda batch: self._owned(self._divide(batch), "_values"), source())

    def _divide(self, batch: Any) -> Any:
        count = len(self.devices)
        if count == 1:
            return batch
        if isinstance(batch, EagerTensor):
            if not batch.ndim:
                raise IndexError("list index out of range: an element without dimensions cannot be divided among the "
                                 "replicas. Fix: batch() the data set first")
            size = -(-len(batch) // count)
            return PerReplica([EagerTensor(batch._value[i * size : (i + 1) * size], batch.dtype)
                               for i in range(count)])
        tensor = convert_to_tensor(batch)
        if tensor.shape.rank == 0:
            raise IndexError("list index out of range: an element without dimensions cannot be divided among the "
                             "replicas. Fix: batch() the data set first")
        whole = raw.StridedSlice(raw.Shape(tensor), [0], [1], [1], shrink_axis_mask=1)
        known = constant_value(whole)
        parts = []
        for i, device in enumerate(self.devices):
            with device_block(device):
                if known is not None:
                    size = -(-int(known) // count)
                    begin, end = i * size, (i + 1) * size
                    parts.append(raw.StridedSlice(tensor, [begin], [end], [1]))
                    continue
                part = raw.FloorDiv(raw.AddV2(whole, count - 1), count)
                begin = raw.Pack([raw.Mul(part, i)])
                parts.append(raw.StridedSlice(tensor, begin, raw.Pack([raw.Mul(part, i + 1)]), [1]))
        return PerReplica(parts)


class _InTurn:
    """How elements of one replica's size are handed out: each replica gets one; at the end, some get empty ones.

    Args:
      devices: the replicas' devices.
      spec: the structure of an element of one replica.
    """

    def __init__(self, devices: Sequence[str], spec: Any):
        self.devices, self._spec = devices, spec
        sizes = [s.shape for s in nest.flatten(spec) if hasattr(s, "shape")]
        self._fills = all(s.rank and s[0] is None for s in sizes)

    def element_spec(self) -> Any:
        """Returns the structure of an element."""
        count = len(self.devices)
        return self._spec if count == 1 else nest.map_structure(lambda s: PerReplicaSpec(*[s] * count), self._spec)

    def element(self, source: Any, has: Any = None) -> Any:
        """Returns the next element, of an iterator's next ones.

        Args:
          source: gives the next one; raises StopIteration after the last one.
          has: returns, in a function, whether there is another one.
        """
        found = [source()]
        for _ in self.devices[1:]:
            if has is not None and self._fills:
                found.append(cond(has(), source, self._empty))
                continue
            try:
                found.append(source())
            except StopIteration:
                if not self._fills:
                    raise
                found.append(self._empty())
        return together(found)

    def _empty(self) -> Any:
        return nest.map_structure(
            lambda s: raw.Fill(convert_to_tensor([d or 0 for d in s.shape]), raw.Cast(0, DstT=s.dtype)), self._spec)


class _Iterated(LoopSource):
    """What data sets and iterators share: how elements are divided, and loops over them in functions."""

    _how: Any
    _source: Any

    @property
    def element_spec(self) -> Any:
        """The elements' structure, with a `TypeSpec` for each component."""
        return self._how.element_spec()

    def _loop_elements(self) -> Any:
        return _Elements(self._source._loop_elements(), self._how)


class _Elements:
    """The elements in a function: those of the source, divided."""

    def __init__(self, inner: Any, how: Any):
        self._inner, self._how = inner, how
        self._place = 0

    def has(self, i: Any) -> Any:
        """Returns whether there is an element `i`, a bool scalar."""
        return self._inner.has(i if isinstance(self._how, _Divided) else raw.Mul(i, len(self._how.devices)))

    def item(self, i: Any = None) -> Any:
        """Returns element `i`."""
        if isinstance(self._how, _Divided):
            return self._how.element(lambda: self._inner.item(i))
        first = None if i is None else raw.Mul(i, len(self._how.devices))
        number = iter(range(len(self._how.devices)))
        place = [None if first is None else raw.AddV2(first, n) for n in number]
        given, asked = iter(place), iter(place[1:])
        return self._how.element(lambda: self._inner.item(next(given)), lambda: self._inner.has(next(asked)))


class DistributedDataset(_Iterated):
    """A data set whose batches are divided among replicas; made by `Strategy.experimental_distribute_dataset`.

    Args:
      dataset: a data set of batches for all replicas.
      devices: the replicas' devices.
      own: the replica whose parts are taken; all parts if not given.
    Reference: TensorFlow 2.21 `tf.distribute.DistributedDataset`.
    """

    _kind: Any = _Divided

    def __init__(self, dataset: Any, devices: Sequence[str], own: int | None = None):
        if not hasattr(dataset, "element_spec"):
            raise TypeError(f"`dataset` must be a tf.data.Dataset, not {dataset!r}")
        self._source = dataset
        self._how = self._kind(devices, dataset.element_spec, *(() if own is None else (own,)))

    def __iter__(self) -> Any:
        return DistributedIterator(iter(self._source), self._how)

    def __len__(self) -> int:
        return len(self._source)

    @property
    def cardinality(self) -> int:
        """The number of elements: -1 if it is infinite, -2 if it is not known."""
        return int(self._source._size)

    def _initializable(self) -> Any:
        return _GraphIterator(self._source.make_initializable_iterator(), self._how)

    def _one_shot(self) -> Any:
        return _GraphIterator(self._source.make_one_shot_iterator(), self._how)

    def make_initializable_iterator(self) -> Any:
        """Returns an iterator for graphs, which begins a pass whenever its `initializer` is run."""
        return self._initializable()


class DistributedDatasetsFromFunction(DistributedDataset):
    """A data set of which each replica gets an element; made by `Strategy.distribute_datasets_from_function`."""

    _kind = _InTurn

    @property
    def cardinality(self) -> int:
        """The number of elements: -1 if it is infinite, -2 if it is not known."""
        size = int(self._source._size)
        return size if size < 0 else self._rounds(size)

    def __len__(self) -> int:
        return self._rounds(len(self._source))

    def _rounds(self, size: int) -> int:
        count = len(self._how.devices)
        return (size + count - 1) // count


class DistributedIterator(_Iterated, CompositeTensor):
    """An iterator whose elements are divided among replicas.

    Args:
      source: the iterator over what is divided.
      how: how it is divided.
    Reference: TensorFlow 2.21 `tf.distribute.DistributedIterator`.
    """

    def __init__(self, source: Any, how: Any):
        self._source, self._how = source, how

    @property
    def _type_spec(self) -> Any:
        return _IteratorSpec(_spec_of(self._source), self._how)

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        if current_graph() is None:
            return self._how.element(self._source.__next__)
        return self._loop_elements().item()

    def get_next(self) -> Any:
        """Returns the next element; raises OutOfRangeError after the last one."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence. Fix: catch tf.errors.OutOfRangeError where an epoch "
                                  "ends, or repeat() the data set") from None

    def get_next_as_optional(self) -> Any:
        """Returns the next element as an `Optional`, which holds nothing after the last one."""
        return _Optional(self._source.get_next_as_optional(), self)


class _Optional:
    """The next element of an iterator, if there is one.

    Args:
      first: what the first replica's part, or the whole batch, is taken from.
      iterator: gives the others' parts.
    """

    def __init__(self, first: Any, iterator: DistributedIterator):
        self._first, self._iterator = first, iterator

    @property
    def element_spec(self) -> Any:
        """The specs of the element."""
        return self._iterator.element_spec

    def has_value(self, name: str | None = None) -> Any:
        """Returns whether there is an element, a bool scalar tensor."""
        return self._first.has_value(name)

    def get_value(self, name: str | None = None) -> Any:
        """Returns the element; an error where there is none."""
        how, source = self._iterator._how, self._iterator._source
        if isinstance(how, _Divided):
            return how.element(lambda: self._first.get_value(name))
        given = iter([lambda: self._first.get_value(name)])
        if current_graph() is None:
            return how.element(lambda: next(given, source.__next__)())
        left = source._loop_elements()
        return how.element(lambda: next(given, left.item)(), lambda: left.has(None))


def _spec_of(value: Any) -> Any:
    from graphgrad.frontend.structure.composite_specs import spec_of

    return spec_of(value)


class _IteratorSpec(TypeSpec):
    """The spec of a `DistributedIterator`.

    Args:
      source: the spec of what it goes over.
      how: how that is divided.
    """

    def __init__(self, source: Any, how: Any):
        self._source, self._how = source, how

    @property
    def value_type(self) -> Any:
        """`DistributedIterator`."""
        return DistributedIterator

    def _serialize(self) -> tuple[Any, ...]:
        return self._source, type(self._how), tuple(self._how.devices)

    @property
    def _component_specs(self) -> Any:
        return (self._source,)

    def _to_components(self, value: Any) -> Any:
        return (value._source,)

    def _from_components(self, components: Any) -> Any:
        return DistributedIterator(components[0], self._how)


class _GraphIterator:
    """An iterator of a graph, to be initialized in a session.

    Args:
      source: the iterator over what is divided.
      how: how it is divided.
    """

    def __init__(self, source: Any, how: Any):
        self._source, self._how = source, how

    @property
    def initializer(self) -> Any:
        """The operation that begins a pass."""
        return self._source.initializer

    def initialize(self) -> list[Any]:
        """Returns the operations that begin a pass."""
        return [self._source.initializer]

    def get_next(self) -> Any:
        """Returns the next element, with a part for each replica; a run raises OutOfRangeError after the last one."""
        return self._how.element(self._source.get_next)
