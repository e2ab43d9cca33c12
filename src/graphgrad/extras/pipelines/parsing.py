"""`tf.io.parse_example` and related functions: convert features of examples to tensors."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.extras.io import file_ops
from graphgrad.extras.io.file_ops import FixedLenFeature, VarLenFeature
from graphgrad.extras.ragged.ragged_array_ops import _concat
from graphgrad.extras.ragged.ragged_tensor import RaggedTensor
from graphgrad.extras.ragged.row_partitions import _ends
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, bool_, float32, int32, int64, string
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import as_shape
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.array.mask import boolean_mask
from graphgrad.ops.common.sparse_tensor import SparseTensor

_EMPTY: dict[Any, Any] = {string: b"", float32: 0.0, int64: 0}


class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of values of one shape, parsed to a dense tensor, padded at its end.

    Args:
      shape: the shape of each value.
      dtype: float32, int64 or string.
      allow_missing: whether it may be missing; needed for `Example`s.
      default_value: the padding of shorter ones.
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """Two features, indices and values, that form one `SparseTensor`.

    Args:
      index_key: the name of the feature with the indices, or a list of names.
      value_key: the name of the feature with the values.
      dtype: float32, int64 or string.
      size: the size of the dense tensor, or a list of sizes.
      already_sorted: whether indices are in order.
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


RowSplits = collections.namedtuple("RowSplits", ["key"])
RowLengths = collections.namedtuple("RowLengths", ["key"])
RowStarts = collections.namedtuple("RowStarts", ["key"])
RowLimits = collections.namedtuple("RowLimits", ["key"])
ValueRowIds = collections.namedtuple("ValueRowIds", ["key"])
UniformRowLength = collections.namedtuple("UniformRowLength", ["length"])
_PARTITIONS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


class RaggedFeature(collections.namedtuple("RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype",
                                                            "validate"])):
    """A feature of any number of values, parsed to a `RaggedTensor`.

    Args:
      dtype: float32, int64 or string.
      value_key: the name of the feature with the values; that of the feature itself by default.
      partitions: the partitions of values into rows, and of rows into rows, the outermost first:
        `RaggedFeature.RowLengths(key)` and the like.
      row_splits_dtype: int32 or int64.
      validate: accepted.

    >>> tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.RowLengths("n")]).partitions
    (RowLengths(key='n'),)
    """

    RowSplits = RowSplits
    RowLengths = RowLengths
    RowStarts = RowStarts
    RowLimits = RowLimits
    ValueRowIds = ValueRowIds
    UniformRowLength = UniformRowLength

    def __new__(cls, dtype: Any, value_key: Any = None, partitions: Any = (), row_splits_dtype: Any = int32,
                validate: bool = False) -> RaggedFeature:
        if isinstance(partitions, _PARTITIONS):
            partitions = [partitions]
        if not all(isinstance(p, _PARTITIONS) for p in partitions):
            raise TypeError("Argument `partitions` must be a list of partition objects. "
                            f"Received {partitions}. Fix: [tf.io.RaggedFeature.RowLengths(key)]")
        return super().__new__(cls, dtype, value_key, tuple(partitions), row_splits_dtype, validate)


class _Plan:
    """The keys to parse for features: sparse, dense and ragged ones, each once."""

    def __init__(self, features: dict[str, Any], allowed: tuple[type, ...]):
        self.features = features
        self.sparse: dict[str, Any] = {}
        self.dense: dict[str, Any] = {}
        self.ragged: dict[str, Any] = {}
        for key in sorted(features):
            f = features[key]
            if not isinstance(f, allowed):
                raise ValueError(f"Unsupported {type(f).__name__} {f} for key {key!r}. Fix: use "
                                 f"{', '.join(a.__name__ for a in allowed)}")
            if isinstance(f, VarLenFeature):
                self._add(self.sparse, key, f.dtype)
            elif isinstance(f, SparseFeature):
                keys = [f.index_key] if isinstance(f.index_key, str) else f.index_key
                for k in sorted(keys):
                    self._add(self.sparse, k, int64)
                self._add(self.sparse, f.value_key, f.dtype)
            elif isinstance(f, RaggedFeature):
                self._add(self.ragged, key if f.value_key is None else f.value_key, f.dtype, f.row_splits_dtype)
                for p in f.partitions:
                    if not isinstance(p, UniformRowLength):
                        self._add(self.ragged, p.key, int64, f.row_splits_dtype)
            else:
                self.dense[key] = f
        both = self.ragged.keys() & (self.dense.keys() | self.sparse.keys())
        if both:
            raise ValueError(f"Dense and ragged keys must not intersect: {sorted(both)} are of several kinds. "
                             "Fix: use one kind of feature for a key")

    @staticmethod
    def _add(where: dict[str, Any], key: str, dtype: Any, *more: Any) -> None:
        dtype = as_dtype(dtype)
        kept = where.setdefault(key, (dtype, *map(as_dtype, more)))
        if kept[0] is not dtype:
            raise ValueError(f"Conflicting type {kept[0].name} vs {dtype.name} for feature {key}. Fix: use one dtype")

    def defaults(self, sequences: bool) -> tuple[list[Any], list[Any]]:
        """Returns default values and shapes of dense features."""
        values, shapes = [], []
        for f in self.dense.values():
            dtype, shape = as_dtype(f.dtype), as_shape(f.shape)
            if isinstance(f, FixedLenSequenceFeature):
                if not f.allow_missing and not sequences:
                    raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True. "
                                     "Fix: allow_missing=True")
                shape = (None, *(shape or ()))
                value = _EMPTY[dtype] if f.default_value is None else f.default_value
            else:
                value = np.zeros(0, dtype.np_dtype) if f.default_value is None else f.default_value
            values.append(convert_to_tensor(value, dtype))
            shapes.append(shape)
        return values, shapes

    @property
    def types(self) -> tuple[Any, ...]:
        """The dtypes of dense features."""
        return tuple(as_dtype(f.dtype) for f in self.dense.values())

    @property
    def sparse_types(self) -> tuple[Any, ...]:
        """The dtypes of the values of sparse features."""
        return tuple(t for t, *_ in self.sparse.values())

    @property
    def ragged_types(self) -> tuple[Any, ...]:
        """The dtypes of the values of ragged features."""
        return tuple(t for t, _ in self.ragged.values())

    @property
    def split_types(self) -> tuple[Any, ...]:
        """The dtypes of the row splits of ragged features."""
        return tuple(s for _, s in self.ragged.values())

    def results(self, sparse: Sequence[Any], dense: Sequence[Any], ragged: Sequence[Any],
                batched: bool) -> dict[str, Any]:
        """Builds the tensors of each feature from the parsed ones."""
        of_sparse = {k: SparseTensor(*parts) for k, parts in zip(self.sparse, sparse, strict=True)}
        of_ragged = dict(zip(self.ragged, ragged, strict=True))
        found = dict(zip(self.dense, dense, strict=True))
        for key, f in self.features.items():
            if isinstance(f, VarLenFeature):
                found[key] = of_sparse[key]
            elif isinstance(f, SparseFeature):
                found[key] = _placed(f, of_sparse, batched)
            elif isinstance(f, RaggedFeature):
                found[key] = _parted(f, key, of_ragged, batched)
        return {k: found[k] for k in self.features}


def _placed(f: SparseFeature, of_sparse: dict[str, Any], batched: bool) -> SparseTensor:
    """Makes the sparse tensor of indices and values."""
    keys = [f.index_key] if isinstance(f.index_key, str) else list(f.index_key)
    sizes = [f.size] if isinstance(f.size, int) else list(f.size)
    if len(keys) != len(sizes):
        raise ValueError(f"{len(keys)} index keys need as many sizes, not {len(sizes)}. Fix: give a size for each")
    values = of_sparse[f.value_key]
    columns = [of_sparse[k].values for k in keys]
    shape = [convert_to_tensor(n, int64) for n in sizes]
    if batched:
        columns.insert(0, values.indices[:, 0])
        shape.insert(0, values.dense_shape[0])
    made = SparseTensor(raw.Pack(columns, axis=1), values.values, raw.Pack(shape))
    if f.already_sorted:
        return made
    indices, flat = raw.SparseReorder(made.indices, made.values, made.dense_shape)
    return SparseTensor(indices, flat, made.dense_shape)


def _parted(f: RaggedFeature, key: str, of_ragged: dict[str, Any], batched: bool) -> Any:
    """Partitions the values of a ragged feature into rows."""
    rows = of_ragged[key if f.value_key is None else f.value_key]
    if not f.partitions:
        return rows if batched else rows.values
    values, lengths = rows.values, rows.row_lengths()  # the number of items of each example
    for p in reversed(f.partitions):
        if isinstance(p, UniformRowLength):
            each = convert_to_tensor(p.length, lengths.dtype)
            counts = raw.FloorDiv(lengths, each)
            own = raw.Fill(raw.Reshape(raw.Sum(counts, [0]), [1]), each)
        else:
            own, counts = _lengths(p, of_ragged[p.key], lengths)
        values = RaggedTensor.from_row_lengths(values, own, validate=False)
        lengths = counts
    return RaggedTensor.from_row_lengths(values, lengths, validate=False) if batched else values


def _lengths(p: Any, t: RaggedTensor, items: Any) -> tuple[Any, Any]:
    """Returns the lengths of the rows of a partition, and the number of rows of each example."""
    kind = t.row_splits.dtype
    t = t.with_values(raw.Cast(t.values, DstT=kind))
    if isinstance(p, RowLengths):
        return t.values, t.row_lengths()
    if isinstance(p, RowSplits):
        ends, starts = t[:, 1:], t[:, :-1]
        return raw.Sub(ends.values, starts.values), ends.row_lengths()
    some = raw.Greater(t.row_lengths(), 0)  # examples that have rows
    last = RaggedTensor.from_row_lengths(boolean_mask(items, some), raw.Cast(some, DstT=kind), validate=False)
    if isinstance(p, RowStarts):
        ends = _concat([t[:, 1:], last], 1)
        return raw.Sub(ends.values, t.values), t.row_lengths()
    if isinstance(p, RowLimits):
        starts = _concat([last.with_values(raw.ZerosLike(last.values)), t[:, :-1]], 1)
        return raw.Sub(t.values, starts.values), t.row_lengths()
    n = raw.Size(items)
    counts = raw.AddV2(raw.Maximum(raw.UnsortedSegmentMax(t.values, t.value_rowids(), n), -1), 1)
    starts = _ends(counts)
    ids = raw.AddV2(t.values, raw.GatherV2(starts, t.value_rowids(), 0))
    return raw.UnsortedSegmentSum(raw.OnesLike(ids), ids, raw.Sum(counts, [0])), counts


_OF_EXAMPLES = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature)


def _strings(keys: Any) -> Any:
    array = np.empty(len(keys), object)
    array[:] = [k.encode() for k in keys]
    return array


def _names(example_names: Any) -> Any:
    return _strings([]) if example_names is None else example_names


def _ragged(flat: Sequence[Any], splits: Sequence[Any], batched: bool) -> list[Any]:
    """Makes a ragged tensor with the rows of examples; for a single example, one row."""
    if batched:
        return [RaggedTensor.from_row_splits(v, s, validate=False) for v, s in zip(flat, splits, strict=True)]
    return [RaggedTensor.from_row_splits(v, raw.Pack([0, raw.Size(v, out_type=as_dtype(s.dtype))]), validate=False)
            for v, s in zip(flat, splits, strict=True)]


def parse_example(serialized: Any, features: Any, example_names: Any = None, name: str | None = None) -> dict[str, Any]:
    """Parses a batch of serialized `Example`s.

    Args:
      serialized: (B), strings; or one string.
      features: name -> `FixedLenFeature`, `FixedLenSequenceFeature`, `VarLenFeature`, `SparseFeature` or
        `RaggedFeature`.
      example_names: (B), strings; accepted.
      name: a name for the scope of the operations.
    Returns: name -> a tensor, a `SparseTensor` or a `RaggedTensor`, with the batch as its first axis.
    Raises: ValueError for no features, or unknown kinds; InvalidArgumentError at run time for unparsable data.
    Gradient: none.
    Reference: TensorFlow 2.21 ParseExampleV2.

    >>> example = bytes([10, 14, 10, 12, 10, 1, 97, 18, 7, 26, 5, 10, 3, 1, 2, 3])
    >>> sess.run(tf.io.parse_example([example], {"a": tf.io.FixedLenFeature([3], tf.int64)}))
    {'a': array([[1, 2, 3]])}
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}. Fix: name features")
    with name_scope(name, "ParseExample"):
        serialized = convert_to_tensor(serialized, string, name="serialized")
        plan = _Plan(features, _OF_EXAMPLES)
        defaults, shapes = plan.defaults(False)
        batched = serialized.shape.rank != 0
        indices, values, sizes, dense, flat, splits = raw.ParseExampleV2(
            serialized, _names(example_names), _strings(plan.sparse), _strings(plan.dense), _strings(plan.ragged),
            defaults, num_sparse=len(plan.sparse), sparse_types=plan.sparse_types, Tdense=plan.types,
            ragged_value_types=plan.ragged_types, ragged_split_types=plan.split_types, dense_shapes=tuple(shapes))
        sparse = list(zip(indices, values, sizes, strict=True))
        return plan.results(sparse, dense, _ragged(flat, splits, batched), batched)


def parse_example_v1(serialized: Any, features: Any, name: str | None = None,
                     example_names: Any = None) -> dict[str, Any]:
    """Parses a batch of serialized `Example`s (1.x arguments).

    Args:
      serialized, features, name, example_names: as for `tf.io.parse_example` of TensorFlow 2.
    Returns: name -> a tensor, a `SparseTensor` or a `RaggedTensor`.
    Raises: as there.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.compat.v1.parse_example`.

    >>> example = bytes([10, 14, 10, 12, 10, 1, 97, 18, 7, 26, 5, 10, 3, 1, 2, 3])
    >>> sess.run(tf.parse_example([example], {"a": tf.VarLenFeature(tf.int64)}))["a"].values
    array([1, 2, 3])
    """
    return parse_example(serialized, features, example_names, name)


def parse_single_example(serialized: Any, features: dict[str, Any], example_names: Any = None,
                         name: str | None = None) -> dict[str, Any]:
    """Parses one serialized `Example`.

    Args:
      serialized: a string scalar.
      features: name -> `FixedLenFeature`, `FixedLenSequenceFeature`, `VarLenFeature`, `SparseFeature` or
        `RaggedFeature`.
      example_names: accepted as TensorFlow does.
      name: a name for the scope of the operations.
    Returns: name -> a tensor, a `SparseTensor` or a `RaggedTensor`.
    Raises: ValueError for no features, or unknown kinds; InvalidArgumentError at run time for unparsable data.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.io.parse_single_example`.

    >>> example = bytes([10, 14, 10, 12, 10, 1, 97, 18, 7, 26, 5, 10, 3, 1, 2, 3])
    >>> sess.run(tf.io.parse_single_example(example, {"a": tf.io.FixedLenSequenceFeature([], tf.int64, True)}))
    {'a': array([1, 2, 3])}
    """
    if features and any(isinstance(f, _OF_EXAMPLES[1:2] + _OF_EXAMPLES[3:]) for f in features.values()):
        serialized = convert_to_tensor(serialized, string, name="serialized")
        return parse_example(raw.Reshape(serialized, np.zeros(0, np.int32)), features, example_names, name)
    return file_ops.parse_single_example(serialized, features, example_names, name)


def parse_single_example_v1(serialized: Any, features: dict[str, Any], name: str | None = None,
                            example_names: Any = None) -> dict[str, Any]:
    """Parses one serialized `Example` (1.x arguments).

    Args:
      serialized, features, name, example_names: as for `tf.io.parse_single_example` of TensorFlow 2.
    Returns: name -> a tensor, a `SparseTensor` or a `RaggedTensor`.
    Raises: as there.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.compat.v1.parse_single_example`.

    >>> example = bytes([10, 14, 10, 12, 10, 1, 97, 18, 7, 26, 5, 10, 3, 1, 2, 3])
    >>> sess.run(tf.parse_single_example(example, {"a": tf.FixedLenFeature([3], tf.int64)}))
    {'a': array([1, 2, 3])}
    """
    return parse_single_example(serialized, features, example_names, name)


def _sequences(serialized: Any, context_features: Any, sequence_features: Any, names: Any, batched: bool) -> Any:
    if not context_features and not sequence_features:
        raise ValueError("Both context_features and sequence_features are None, but at least one should have values. "
                         "Fix: name features")
    context = _Plan(context_features or {}, _OF_EXAMPLES)
    lists = _Plan(sequence_features or {}, (VarLenFeature, FixedLenSequenceFeature, RaggedFeature))
    defaults, shapes = context.defaults(False)
    _, list_shapes = lists.defaults(True)
    missing = np.asarray([f.allow_missing for f in lists.dense.values()], bool_.np_dtype)
    found = raw.ParseSequenceExampleV2(
        serialized, _names(names), _strings(context.sparse), _strings(context.dense), _strings(context.ragged),
        _strings(lists.sparse), _strings(lists.dense), _strings(lists.ragged), missing, defaults,
        Ncontext_sparse=len(context.sparse), Tcontext_dense=context.types, context_sparse_types=context.sparse_types,
        context_ragged_value_types=context.ragged_types, context_ragged_split_types=context.split_types,
        context_dense_shapes=tuple(shapes), Nfeature_list_sparse=len(lists.sparse),
        Nfeature_list_dense=len(lists.dense), feature_list_dense_types=lists.types,
        feature_list_sparse_types=lists.sparse_types, feature_list_ragged_value_types=lists.ragged_types,
        feature_list_ragged_split_types=lists.split_types,
        feature_list_dense_shapes=tuple(s[1:] for s in list_shapes))
    rows_of_context = _ragged(found[4], found[5], batched)
    of_context = context.results(list(zip(*found[:3], strict=True)), found[3], rows_of_context, batched)
    steps = [RaggedTensor.from_row_splits(v, s, validate=False) for v, s in zip(found[11], found[13], strict=True)]
    rows = dict(zip(lists.ragged, zip(steps, found[12], strict=True), strict=True))
    sparse = [SparseTensor(*parts) for parts in zip(*found[6:9], strict=True)]
    of_lists: dict[str, Any] = dict(zip(lists.sparse, sparse, strict=True))
    of_lists.update(zip(lists.dense, found[9], strict=True))
    for key, f in lists.features.items():
        if isinstance(f, RaggedFeature):
            if f.partitions:
                raise NotImplementedError("partitions of sequence features are not offered. Fix: parse their values")
            own, outer = rows[key if f.value_key is None else f.value_key]
            of_lists[key] = RaggedTensor.from_row_splits(own, outer, validate=False) if batched else own
    of_lists = {k: of_lists[k] for k in lists.features}
    return of_context, of_lists, dict(zip(lists.dense, found[10], strict=True))


def parse_single_sequence_example(serialized: Any, context_features: Any = None, sequence_features: Any = None,
                                  example_name: Any = None,
                                  name: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parses one serialized `SequenceExample`.

    Args:
      serialized: a string scalar.
      context_features: name -> feature, as for `parse_example`.
      sequence_features: name -> `FixedLenSequenceFeature`, `VarLenFeature` or `RaggedFeature`, of feature lists.
      example_name: accepted as TensorFlow does.
      name: a name for the scope of the operations.
    Returns: (context, lists): for each feature a tensor, `SparseTensor` or `RaggedTensor`; in the second with steps as
      the first axis.
    Raises: ValueError for no features, or unknown kinds; InvalidArgumentError at run time for unparsable data.
    Gradient: none.
    Reference: TensorFlow 2.21 ParseSequenceExampleV2.

    >>> step = bytes([10, 5, 26, 3, 10, 1, 7])
    >>> message = bytes([18, 14, 10, 12, 10, 1, 97, 18, 7]) + step
    >>> sess.run(tf.io.parse_single_sequence_example(
    ...     message, None, {"a": tf.io.FixedLenSequenceFeature([], tf.int64)}))[1]
    {'a': array([7])}
    """
    with name_scope(name, "ParseSingleSequenceExample"):
        serialized = raw.Reshape(convert_to_tensor(serialized, string), np.zeros(0, np.int32))
        return _sequences(serialized, context_features, sequence_features, example_name, False)[:2]


def parse_sequence_example(serialized: Any, context_features: Any = None, sequence_features: Any = None,
                           example_names: Any = None,
                           name: str | None = None) -> tuple[dict[str, Any], dict[str, Any], dict[str, Tensor]]:
    """Parses a batch of serialized `SequenceExample`s.

    Args:
      serialized: (B), strings.
      context_features: name -> feature, as for `parse_example`.
      sequence_features: name -> `FixedLenSequenceFeature`, `VarLenFeature` or `RaggedFeature`, of feature lists.
      example_names: (B), strings; accepted.
      name: a name for the scope of the operations.
    Returns: (context, lists, lengths): for each feature a tensor, `SparseTensor` or `RaggedTensor`, with the batch as
      the first axis and, in the second, steps as the second; for each dense list the number of steps, (B).
    Raises: ValueError for no features, or unknown kinds; InvalidArgumentError at run time for unparsable data.
    Gradient: none.
    Reference: TensorFlow 2.21 ParseSequenceExampleV2.

    >>> step = bytes([10, 5, 26, 3, 10, 1, 7])
    >>> message = bytes([18, 14, 10, 12, 10, 1, 97, 18, 7]) + step
    >>> sess.run(tf.io.parse_sequence_example(
    ...     [message], None, {"a": tf.io.FixedLenSequenceFeature([], tf.int64)}))[1:]
    ({'a': array([[7]])}, {'a': array([1])})
    """
    with name_scope(name, "ParseSequenceExample"):
        serialized = convert_to_tensor(serialized, string)
        return _sequences(serialized, context_features, sequence_features, example_names, True)
