"""Functions that split strings into rows of different lengths."""

from __future__ import annotations

from typing import Any

from graphgrad.extras.strings import string_functions
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int64, string
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ops.common.sparse_tensor import SparseTensor

from .ragged_tensor import RaggedTensor


def _rows(sparse: SparseTensor, n: Any) -> RaggedTensor:
    rows = raw.StridedSlice(sparse.indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2)
    return RaggedTensor.from_value_rowids(sparse.values, rows, n, validate=False)


def _split_with(x: Any, parts: Any) -> Any:
    """Splits strings of any shape into rows of parts; a single string into a vector."""
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(_split_with(x.flat_values, parts))
    x = convert_to_tensor(x, string)
    rank = x.shape.rank
    if rank is None:
        raise ValueError("strings of an unknown rank cannot be split. Fix: set_shape, or tf.reshape(x, [-1])")
    flat = x if rank == 1 else raw.Reshape(x, [-1])
    sparse = SparseTensor(*parts(flat))
    if rank == 0:
        return sparse.values
    result: Any = _rows(sparse, raw.Size(flat, out_type=int64))
    shape = raw.Shape(x, out_type=int64)
    for axis in range(rank - 1, 0, -1):
        length = raw.GatherV2(shape, axis, 0)
        rows = raw.Prod(raw.Slice(shape, [0], [axis]), [0])
        result = RaggedTensor.from_uniform_row_length(result, length, rows, validate=False)
    return result


def string_split_v2(input: Any, sep: str | None = None, maxsplit: int = -1,
                    name: str | None = None) -> RaggedTensor | Any:
    """Splits strings at a separator, at runs of white space by default.

    Args:
      input: strings, or a `RaggedTensor` of them.
      sep: the separator.
      maxsplit: the largest number of splits; -1 for no limit.
      name: a name for the scope.
    Returns: a `RaggedTensor` with one ragged axis more; of a single string, a vector.
    Raises: ValueError for strings of an unknown rank.
    Gradient: none.
    Reference: TensorFlow 2.21 StringSplitV2.

    >>> x = tf.strings.split(["a b  c", "", "d"], result_type="RaggedTensor")
    >>> sess.run(x).to_list()
    [[b'a', b'b', b'c'], [], [b'd']]
    """
    with name_scope(name, "StringSplit"):
        def parts(flat: Any) -> Any:
            return raw.StringSplitV2(flat, "" if sep is None else sep, maxsplit=maxsplit)

        return _split_with(input, parts)


def string_split_v1(input: Any = None, sep: str | None = None, maxsplit: int = -1, result_type: str = "SparseTensor",
                    source: Any = None, name: str | None = None) -> SparseTensor | Any:
    """Splits strings at a separator, at runs of white space by default.

    Args:
      input: a vector of strings.
      sep: the separator.
      maxsplit: the largest number of splits.
      result_type: "SparseTensor" or "RaggedTensor".
      source: the older name of `input`.
      name: a name for the scope.
    Returns: a `SparseTensor` or `RaggedTensor` of strings, one row for each string.
    Raises: ValueError for another result type.
    Gradient: none.
    Reference: TensorFlow 2.21 StringSplitV2.

    >>> sess.run(tf.strings.split(["a  b", "c"]).values)
    array([b'a', b'b', b'c'], dtype=object)
    """
    if result_type == "RaggedTensor":
        return string_split_v2(source if input is None else input, sep, maxsplit, name)
    return string_functions.split_v1(input, sep, maxsplit, result_type, source, name)


def bytes_split(input: Any, name: str | None = None) -> RaggedTensor | Any:
    """Splits strings into their bytes.

    Args:
      input: strings, or a `RaggedTensor` of them.
      name: a name for the scope.
    Returns: a `RaggedTensor` with one ragged axis more; of a single string, a vector.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.strings.bytes_split`.

    >>> sess.run(tf.strings.bytes_split(["ab", "", "c"])).to_list()
    [[b'a', b'b'], [], [b'c']]
    """
    with name_scope(name, "StringToBytes"):
        def parts(flat: Any) -> Any:
            return raw.StringSplit(flat, "", skip_empty=False)

        return _split_with(input, parts)
