"""Data sets of TensorFlow 1, and their iterators, which belong to a graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from collections.abc import Iterator as PythonIterator
from typing import Any

from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, string, variant
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape, compatible
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ops.common.sparse_tensor import SparseTensor
from graphgrad.training.checkpoints.saveable_object import SaveableObject, SaveSpec

from .data_structure import Parts, arranged, flatten, mapped, pack
from .dataset import Dataset
from .dataset_components import element_spec
from .elements import _shapes


class DatasetV1(Dataset):
    __doc__ = Dataset.__doc__

    def __init__(self) -> None:
        super().__init__(None)

    @property
    def output_types(self) -> Any:
        """The dtypes, arranged like the elements."""
        return get_output_types(self)

    @property
    def output_shapes(self) -> Any:
        """The static shapes, arranged like the elements."""
        return get_output_shapes(self)

    @property
    def output_classes(self) -> Any:
        """`tf.Tensor` for each component, arranged like the elements."""
        return get_output_classes(self)

    def map_with_legacy_function(self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None,
                                 use_unbounded_threadpool: bool = False) -> Any:
        """Does what `map` does.

        Args:
          map_func, num_parallel_calls, deterministic, use_unbounded_threadpool: as for `map`.
        """
        return self.map(map_func)

    def filter_with_legacy_function(self, predicate: Any) -> Any:
        """Does what `filter` does.

        Args:
          predicate: as for `filter`.
        """
        return self.filter(predicate)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Any:
        """Makes a data set of the rows of a sparse tensor, each as a triple: indices, values and dense shape.

        Args:
          sparse_tensor: the `SparseTensor`.
        Raises: TypeError for anything else.
        """
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(f"Invalid `sparse_tensor`. `sparse_tensor` must be a `tf.sparse.SparseTensor` object. Got "
                            f"{type(sparse_tensor)}.")
        rows = DatasetV1.from_tensor_slices(sparse_tensor)
        rows._specs = tuple(rows._specs.parts)
        return rows

    def make_one_shot_iterator(self) -> Iterator:
        """Makes an iterator for one pass, which needs no initializer.

        Raises: ValueError if the data set depends on placeholders or variables.
        """
        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Iterator:
        """Makes an iterator that begins a pass whenever its `initializer` is run.

        Args:
          shared_name: accepted.
        """
        return make_initializable_iterator(self, shared_name)


class Iterator:
    """An iterator that gives a graph one element of a data set per run; made by `make_one_shot_iterator` and the like.

    Args:
      iterator_resource: the handle.
      initializer: the operation that begins a pass, or None.
      output_types, output_shapes, output_classes: of the elements.

    >>> x = tf.placeholder(tf.float32, [None])
    >>> iterator = tf.data.Dataset.from_tensor_slices(x).make_initializable_iterator()
    >>> element = iterator.get_next()
    >>> sess.run(iterator.initializer, {x: [1.0, 2.0]})
    >>> sess.run(element), sess.run(element)
    (np.float32(1.0), np.float32(2.0))
    """

    def __init__(self, iterator_resource: Any, initializer: Any, output_types: Any, output_shapes: Any,
                 output_classes: Any):
        self._handle = iterator_resource
        self._initializer = initializer
        shapes = _shapes(output_shapes, output_types)
        types = flatten(output_types)
        self._specs = pack(output_types, (Spec.of(as_dtype(t), s) for t, s in zip(types, shapes, strict=True)))
        self._one_shot: Any = None
        self._string: Any = None  # the string that names another iterator
        self._name: Any = None  # the string that names this one, when it has been asked for

    @staticmethod
    def from_structure(output_types: Any, output_shapes: Any = None, shared_name: str | None = None,
                       output_classes: Any = None) -> Iterator:
        """Makes an iterator for any data set with such elements; see `make_initializer`.

        Args:
          output_types: dtypes, arranged like the elements.
          output_shapes: their shapes; not known if not given.
          shared_name, output_classes: accepted.
        """
        if output_shapes is None:
            output_shapes = mapped(lambda t: TensorShape(None), output_types)
        return Iterator(_handle("Iterator"), None, output_types, output_shapes, output_classes)

    def make_initializer(self, dataset: Any, name: str | None = None) -> Any:
        """Makes an operation that begins a pass through a data set.

        Args:
          dataset: a data set with elements like the iterator's.
          name: a name for the operation.
        Raises: TypeError if its elements are of other types or shapes.
        """
        for own, other in zip(flatten(self._specs), flatten(dataset._specs), strict=True):
            if own.dtype is not other.dtype or not compatible(own.shape, other.shape):
                raise TypeError(f"Expected output types and shapes {flatten(self._specs)} but got data set with "
                                f"{flatten(dataset._specs)}.\n  Asked for at {user_source(2)}\n"
                                "  Fix: give from_structure the data set's output_types and output_shapes")
        return raw.MakeIterator(dataset._captured, self._handle, dataset=dataset, name=name)

    @property
    def initializer(self) -> Any:
        """The operation that begins a pass; ValueError if the iterator has none."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer. "
                             "Fix: make_initializable_iterator, or make_initializer(dataset)")
        return self._initializer

    def get_next(self, name: str | None = None) -> Any:
        """Returns tensors with the next element; a run raises OutOfRangeError after the last one.

        Args:
          name: a name for the operation.
        """
        leaves = flatten(self._specs)
        kinds = {"output_types": tuple(s.dtype for s in leaves), "output_shapes": tuple(s.shape for s in leaves)}
        if self._string is not None:
            components = raw.IteratorGetNextFromString(self._string, **kinds, name=name)
        else:
            components = raw.IteratorGetNext(self._handle, **kinds, one_shot=self._one_shot, name=name)
        return pack(self._specs, iter(components))

    def get_next_as_optional(self) -> Any:
        """Returns the next element as an `Optional`, which holds nothing after the last one."""
        from .optional import made

        if self._string is not None:
            raise ValueError("An iterator from a string handle gives no Optional. Fix: use get_next()")
        variant_tensor = raw.IteratorGetNextAsOptional(self._handle, one_shot=self._one_shot)
        return made(variant_tensor, self.element_spec)

    def string_handle(self, name: str | None = None) -> Any:
        """Returns a string scalar to feed to an iterator `from_string_handle`, which then gives this one's elements.

        TensorFlow makes it with the iterator, so that programs ask for it when the graph is finalized, in hooks of
        monitored sessions; then it is added all the same.

        Args:
          name: a name for the operation.
        """
        if self._string is not None:
            return self._string
        if name is None and self._name is not None:
            return self._name
        graph = self._handle.graph
        with graph.as_default(), graph.control_dependencies(None), _although_finalized(graph):
            made = raw.IteratorToStringHandle(self._handle, one_shot=self._one_shot, name=name)
        if name is None:
            self._name = made
        return made

    @staticmethod
    def from_string_handle(string_handle: Any, output_types: Any, output_shapes: Any = None,
                           output_classes: Any = None) -> Iterator:
        """Makes an iterator that gives the elements of the one whose `string_handle` is fed.

        Args:
          string_handle: a string scalar.
          output_types: dtypes, arranged like the elements.
          output_shapes: their shapes; not known if not given.
          output_classes: accepted.

        >>> handle = tf.placeholder(tf.string, [])
        >>> element = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
        >>> numbers = tf.data.Dataset.range(5, 7).make_one_shot_iterator()
        >>> sess.run(element, {handle: sess.run(numbers.string_handle())})
        np.int64(5)
        """
        if output_shapes is None:
            output_shapes = mapped(lambda t: TensorShape(None), output_types)
        made = Iterator(None, None, output_types, output_shapes, None)
        made._string = convert_to_tensor(string_handle, string, name="string_handle")
        return made

    @property
    def element_spec(self) -> Any:
        """The elements' structure, with a `TypeSpec` for each component."""
        return element_spec(self._specs)

    output_types = DatasetV1.output_types
    output_shapes = DatasetV1.output_shapes
    output_classes = DatasetV1.output_classes


@contextlib.contextmanager
def _although_finalized(graph: Any) -> PythonIterator[None]:
    finalized = graph.finalized
    graph._unsafe_unfinalize()
    try:
        yield
    finally:
        if finalized:
            graph.finalize()


def _handle(name: str) -> Any:
    name = get_default_graph().unique_name(name)
    return raw.VarHandleOp(dtype=variant, shape=(), shared_name=name, name=f"{name}/")


def _iterator(dataset: Any, name: str) -> Iterator:
    made = Iterator(_handle(name), None, (), (), None)
    made._specs = dataset._specs
    return made


def make_one_shot_iterator(dataset: Any) -> Iterator:
    """Makes an iterator for one pass through a data set, which needs no initializer.

    Args:
      dataset: the data set.
    Raises: ValueError if it depends on placeholders or variables.

    >>> element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next()
    >>> sess.run(element), sess.run(element)
    (np.int64(0), np.int64(1))
    """
    if (of_replicas := getattr(dataset, "_one_shot", None)) is not None:
        return of_replicas()
    _check_constant(dataset._captured)
    iterator = _iterator(dataset, "OneShotIterator")
    iterator._one_shot = only_pass(dataset)
    return iterator


def only_pass(dataset: Any) -> Callable[[], PythonIterator[Any]]:
    """Returns the function that begins the pass of a `one_shot` iterator over a data set."""
    captured = dataset._captured

    def start() -> PythonIterator[Any]:
        values = captured
        if captured:
            with HostSession(graph=captured[0].graph) as session:
                values = session.run(captured)
        return dataset._walk(values)

    return start


def _check_constant(tensors: Any) -> None:
    """Raises ValueError if tensors depend on values known only to a session."""
    waiting = [t.op for t in tensors if isinstance(t, Tensor) and not isinstance(t, EagerTensor)]
    seen = set(waiting)
    while waiting:
        op = waiting.pop()
        if op.type == "Placeholder":
            raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: make_initializable_iterator")
        if op.type == "VarHandleOp":
            raise ValueError(f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: make_initializable_iterator")
        new = {t.op for t in op.inputs} - seen
        seen |= new
        waiting.extend(new)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Iterator:
    """Makes an iterator that begins a pass whenever its `initializer` is run.

    Args:
      dataset: the data set.
      shared_name: accepted.
    """
    if (of_replicas := getattr(dataset, "_initializable", None)) is not None:
        return of_replicas()
    iterator = _iterator(dataset, "Iterator")
    iterator._initializer = iterator.make_initializer(dataset)
    return iterator


class IteratorSaveable(SaveableObject):
    """What a `Saver` saves of an iterator: where it stands.

    Args:
      iterator: the iterator.
    """

    def __init__(self, iterator: Iterator):
        self._iterator = iterator
        name = iterator._handle.op.name
        place = raw.IteratorPlace(iterator._handle, one_shot=iterator._one_shot)
        super().__init__(iterator, [SaveSpec(place, "", f"{name}-state")], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Makes the operation that moves the iterator.

        Args:
          restored_tensors: the place.
          restored_shapes: accepted.
        """
        return raw.IteratorGoTo(self._iterator._handle, restored_tensors[0], one_shot=self._iterator._one_shot)


def make_saveable_from_iterator(iterator: Any, external_state_policy: str | None = None) -> SaveableObject:
    """Returns what a `Saver` saves of a graph's iterator: where it stands, with the random orders of its data set.

    After `restore` the iterator goes on as it did after `save`. It must have been initialized before.

    Args:
      iterator: an iterator of a graph.
      external_state_policy: "ignore", "warn" or "fail", of state outside of the iterator; there is none here.
    Returns: a `SaveableObject`, for `tf.train.Saver` or the collection `SAVEABLE_OBJECTS`.
    Raises: ValueError for another policy, or an iterator that is made by `from_string_handle` or outside of a graph.
    Reference: TensorFlow 2.21 `tf.data.experimental.make_saveable_from_iterator`.

    >>> iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(9).shuffle(9))
    >>> saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    """
    if external_state_policy not in (None, "ignore", "warn", "fail"):
        raise ValueError(f"Invalid `external_state_policy`. Supported values include 'warn', 'ignore', and 'fail', got "
                         f"{external_state_policy!r}.")
    if not isinstance(iterator, Iterator) or iterator._string is not None:
        raise ValueError(f"The place of {iterator!r} cannot be saved by a Saver. Fix: give the iterator that a graph's "
                         "data set made; in eager mode use tf.train.Checkpoint(iterator=iterator)")
    return IteratorSaveable(iterator)


def _specs_of(source: Any) -> Any:
    if not hasattr(source, "_specs"):
        raise TypeError(f"`dataset_or_iterator` must be a tf.data.Dataset or an iterator, not {source!r}")
    return source._specs


def get_output_types(dataset_or_iterator: Any) -> Any:
    """Returns the dtypes of a data set or iterator, arranged like its elements."""
    return arranged(_specs_of(dataset_or_iterator), _type)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """Returns the static shapes of a data set or iterator, arranged like its elements."""
    return arranged(_specs_of(dataset_or_iterator), _shape)


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """Returns `tf.Tensor` for each component of a data set or iterator, arranged like its elements."""
    return arranged(_specs_of(dataset_or_iterator), _class)


def _type(component: Any) -> Any:
    return getattr(component.spec(), "dtype", variant) if isinstance(component, Parts) else component.dtype


def _shape(component: Any) -> Any:
    if isinstance(component, Parts):
        return getattr(component.spec(), "shape", TensorShape([]))
    return TensorShape(component.shape)


def _class(component: Any) -> Any:
    return component.spec().value_type if isinstance(component, Parts) else AnyTensor
