"""Strings as rows of code points, n-grams, crosses of ragged features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.extras.sparse.feature_crosses import DEFAULT_HASH_KEY, as_feature
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32, int64, string
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.common.sparse_tensor import SparseTensor

from .ragged_tensor import RaggedTensor

_STRINGS = "strings of an unknown rank cannot be decoded. Fix: set_shape, or tf.reshape(x, [-1])"


def _rows(x: Any, decode: Callable[[Any], list[Any]]) -> list[Any]:
    """Computes ragged results for strings of any shape; vectors for a single string."""
    if isinstance(x, RaggedTensor):
        return [x.with_flat_values(r) for r in _rows(x.flat_values, decode)]
    x = convert_to_tensor(x, string)
    rank = x.shape.rank
    if rank is None:
        raise ValueError(_STRINGS)
    splits, *values = decode(x if rank == 1 else raw.Reshape(x, [-1]))
    if not rank:
        return values
    found = [RaggedTensor.from_row_splits(v, splits, validate=False) for v in values]
    shape = raw.Shape(x, out_type=int64)
    for axis in range(rank - 1, 0, -1):
        rows = raw.Prod(raw.Slice(shape, [0], [axis]), [0])
        size = raw.GatherV2(shape, axis, 0)
        found = [RaggedTensor.from_uniform_row_length(r, size, rows, validate=False) for r in found]
    return found


def _decode(op_type: str, x: Any, encoding: str, errors: str, replacement: int, controls: bool) -> list[Any]:
    def decode(flat: Any) -> list[Any]:
        return list(getattr(raw, op_type)(flat, input_encoding=encoding, errors=errors,
                                          replacement_char=int(replacement),
                                          replace_control_characters=bool(controls)))

    return _rows(x, decode)


def unicode_decode(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
                   replace_control_characters: bool = False, name: str | None = None) -> RaggedTensor | Any:
    """Decodes strings to rows of code points.

    Args:
      input: strings, or a `RaggedTensor` of them.
      input_encoding: their encoding, any one that Python knows.
      errors: 'replace', 'ignore' or 'strict', for invalid text.
      replacement_char: the code point that replaces it.
      replace_control_characters: whether U+0000 to U+001F are replaced too.
      name: a name for the scope of the operations.
    Returns: int32: a `RaggedTensor` with one ragged axis more; of a single string, a vector.
    Raises: ValueError for strings of an unknown rank; InvalidArgumentError at run time for invalid text.
    Gradient: none.
    Reference: TensorFlow 2.21 UnicodeDecode.

    >>> sess.run(tf.strings.unicode_decode(["ab", "", "c"], "UTF-8")).to_list()
    [[97, 98], [], [99]]
    """
    with name_scope(name, "UnicodeDecode"):
        return _decode("UnicodeDecode", input, input_encoding, errors, replacement_char, replace_control_characters)[0]


def unicode_decode_with_offsets(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
                                replace_control_characters: bool = False,
                                name: str | None = None) -> tuple[RaggedTensor | Any, RaggedTensor | Any]:
    """Decodes strings to rows of code points, and returns where each begins.

    Args:
      input, input_encoding, errors, replacement_char, replace_control_characters, name: as for `unicode_decode`.
    Returns: (codepoints, start_offsets), int32 and int64.
    Raises: as `unicode_decode`.
    Gradient: none.
    Reference: TensorFlow 2.21 UnicodeDecodeWithOffsets.

    >>> sess.run(tf.strings.unicode_decode_with_offsets("h\\u00e9!", "UTF-8")[1])
    array([0, 1, 3])
    """
    with name_scope(name, "UnicodeDecodeWithOffsets"):
        points, starts = _decode("UnicodeDecodeWithOffsets", input, input_encoding, errors, replacement_char,
                                 replace_control_characters)
        return points, starts


def _letters(points: Any, encoding: str, errors: str, replacement: int) -> Any:
    """Converts each code point to a string."""
    if isinstance(points, RaggedTensor):
        return points.with_flat_values(_letters(points.flat_values, encoding, errors, replacement))
    splits = raw.Range(0, raw.AddV2(raw.Size(points, out_type=int64), 1), 1)
    return raw.UnicodeEncode(points, splits, output_encoding=encoding, errors=errors, replacement_char=int(replacement))


def unicode_split(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
                  name: str | None = None) -> RaggedTensor | Any:
    """Splits strings into rows of characters.

    Args:
      input: strings, or a `RaggedTensor` of them.
      input_encoding: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'.
      errors, replacement_char, name: as for `unicode_decode`.
    Returns: a `RaggedTensor` of strings with one ragged axis more; of a single string, a vector.
    Raises: as `unicode_decode`.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.strings.unicode_split`.

    >>> sess.run(tf.strings.unicode_split(["ab", "c"], "UTF-8")).to_list()
    [[b'a', b'b'], [b'c']]
    """
    with name_scope(name, "UnicodeSplit"):
        (points,) = _decode("UnicodeDecode", input, input_encoding, errors, replacement_char, False)
        return _letters(points, input_encoding, "ignore", replacement_char)


def unicode_split_with_offsets(input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
                               name: str | None = None) -> tuple[RaggedTensor | Any, RaggedTensor | Any]:
    """Splits strings into rows of characters, and returns where each begins.

    Args:
      input, input_encoding, errors, replacement_char, name: as for `unicode_split`.
    Returns: (characters, start_offsets), strings and int64.
    Raises: as `unicode_decode`.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.strings.unicode_split_with_offsets`.

    >>> sess.run(tf.strings.unicode_split_with_offsets("ab", "UTF-8"))
    (array([b'a', b'b'], dtype=object), array([0, 1]))
    """
    with name_scope(name, "UnicodeSplitWithOffsets"):
        points, starts = _decode("UnicodeDecodeWithOffsets", input, input_encoding, errors, replacement_char, False)
        return _letters(points, input_encoding, "ignore", replacement_char), starts


def unicode_encode(input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = 65533,
                   name: str | None = None) -> Tensor | Any:
    """Encodes rows of code points as strings.

    Args:
      input: int32, of rank 1 or more, or a `RaggedTensor`: the last axis holds the code points of a string.
      output_encoding: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'.
      errors: 'replace', 'ignore' or 'strict', for anything but a code point.
      replacement_char: the code point that replaces it.
      name: a name for the scope of the operations.
    Returns: strings, with one axis less.
    Raises: ValueError for a scalar; InvalidArgumentError at run time for anything but a code point, if strict.
    Gradient: none.
    Reference: TensorFlow 2.21 UnicodeEncode.

    >>> sess.run(tf.strings.unicode_encode([[97, 98], [99, 100]], "UTF-8"))
    array([b'ab', b'cd'], dtype=object)
    """
    with name_scope(name, "UnicodeEncode"):
        if isinstance(input, RaggedTensor):
            return _encode(input, output_encoding, errors, replacement_char)
        x = convert_to_tensor(input, int32)
        if not x.shape.rank:
            raise ValueError("input_tensor's rank must be at least 1. Fix: give code points as a vector")
        shape = raw.Shape(x)
        rows = raw.Reshape(x, raw.ConcatV2([[-1], shape[-1:]], 0))
        flat = _encode(RaggedTensor.from_tensor(rows), output_encoding, errors, replacement_char)
        return raw.Reshape(flat, shape[:-1])


def _encode(t: RaggedTensor, encoding: str, errors: str, replacement: int) -> Any:
    inner = t.values
    if isinstance(inner, RaggedTensor):
        return t.with_values(_encode(inner, encoding, errors, replacement))
    if inner.shape.rank != 1:
        return t.with_values(unicode_encode(inner, encoding, errors, replacement))
    return raw.UnicodeEncode(inner, t.row_splits, output_encoding=encoding, errors=errors,
                             replacement_char=int(replacement))


def ngrams(data: Any, ngram_width: Any, separator: str = " ", pad_values: Any = None, padding_width: int | None = None,
           preserve_short_sequences: bool = False, name: str | None = None) -> RaggedTensor | Any:
    """Joins neighbouring strings of each row.

    Args:
      data: strings, of rank 1 or more, or a `RaggedTensor`; the last axis holds the strings of a row.
      ngram_width: the number of strings to join, or several such numbers.
      separator: the separator.
      pad_values: the padding before and after a row: a string, or one for each side.
      padding_width: the number of strings of padding; at most the width less 1, which is the default.
      preserve_short_sequences: whether all strings of a row that is too short are joined.
      name: a name for the scope of the operations.
    Returns: strings: a `RaggedTensor` for one, else a tensor.
    Raises: ValueError for a scalar, or numbers out of range; TypeError for other paddings.
    Gradient: none.
    Reference: TensorFlow 2.21 StringNGrams.

    >>> sess.run(tf.strings.ngrams(["A", "B", "C"], 2))
    array([b'A B', b'B C'], dtype=object)
    """
    with name_scope(name, "StringNGrams"):
        left, right = _paddings(pad_values)
        if padding_width is not None and pad_values is None:
            raise ValueError("pad_values must be provided if padding_width is set. Fix: give pad_values")
        if padding_width is not None and padding_width < 1:
            raise ValueError(f"padding_width must be greater than 0. Got {padding_width}. Fix: use 1 or more")
        widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
        if min(widths) < 1:
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}. Fix: use 1 or more")
        pad = 0 if pad_values is None else -1 if padding_width is None else padding_width

        def grams(t: RaggedTensor) -> RaggedTensor:
            if isinstance(t.values, RaggedTensor):
                return t.with_values(grams(t.values))
            found, splits = raw.StringNGrams(t.values, t.row_splits, separator=separator, ngram_widths=tuple(widths),
                                             left_pad=left, right_pad=right, pad_width=pad,
                                             preserve_short_sequences=bool(preserve_short_sequences))
            return RaggedTensor.from_row_splits(found, splits, validate=False)

        if isinstance(data, RaggedTensor):
            return grams(data)
        data = convert_to_tensor(data, string)
        rank = data.shape.rank
        if not rank:
            raise ValueError("Data must have rank>0. Fix: give a vector of strings")
        if rank == 1:
            return grams(RaggedTensor.from_tensor(raw.ExpandDims(data, 0))).values
        return grams(RaggedTensor.from_tensor(data, ragged_rank=rank - 1)).to_tensor()


def _paddings(pad_values: Any) -> tuple[Any, Any]:
    if pad_values is None:
        return "", ""
    if isinstance(pad_values, (list, tuple)):
        if len(pad_values) != 2 or not all(isinstance(p, (str, bytes)) for p in pad_values):
            raise TypeError("pad_values must be a string, tuple of strings, or None. Fix: (left, right)")
        return pad_values[0], pad_values[1]
    if not isinstance(pad_values, (str, bytes)):
        raise TypeError("pad_values must be a string, tuple of strings, or None. Fix: give a string")
    return pad_values, pad_values


def _cross(inputs: Any, hashed: bool, num_buckets: int, hash_key: int | None) -> RaggedTensor:
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list. Fix: [features]")
    order, ragged, sparse, dense = "", [], [], []
    for i in inputs:
        if isinstance(i, RaggedTensor):
            if i.ragged_rank != 1:
                raise ValueError("tf.ragged.cross only supports inputs with rank=2. Fix: merge_dims the inner axes")
            order += "R"
            ragged.append(i.with_row_splits_dtype(int64))
        elif isinstance(i, SparseTensor):
            order += "S"
            sparse.append(i)
        else:
            order += "D"
            dense.append(as_feature(i))
    kind = int64 if hashed else string
    values, splits = raw.RaggedCross(
        [as_feature(r.values) for r in ragged], [r.row_splits for r in ragged], [s.indices for s in sparse],
        [as_feature(s.values) for s in sparse], [s.dense_shape for s in sparse], dense, input_order=order,
        hashed_output=hashed, num_buckets=int(num_buckets), out_values_type=kind, out_row_splits_type=int64,
        hash_key=DEFAULT_HASH_KEY if hash_key is None else int(hash_key))
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """Combines features of each example in all ways, as strings.

    Args:
      inputs: a list of `RaggedTensor`s of rank 2, sparse matrices and dense ones of strings or ints, with a row for
        each example.
      name: a name for the scope of the operations.
    Returns: a `RaggedTensor` of strings.
    Raises: ValueError for other ranks; InvalidArgumentError at run time for different numbers of examples.
    Gradient: none.
    Reference: TensorFlow 2.21 RaggedCross.

    >>> sess.run(tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), tf.constant([["d"], ["e"]])])).to_list()
    [[b'a_X_d'], [b'b_X_e', b'c_X_e']]
    """
    with name_scope(name, "RaggedCross"):
        return _cross(inputs, False, 0, None)


def cross_hashed(inputs: Any, num_buckets: int = 0, hash_key: int | None = None,
                 name: str | None = None) -> RaggedTensor:
    """Combines features of each example in all ways, and hashes them.

    Args:
      inputs: as for `tf.ragged.cross`.
      num_buckets: the number of hashes; 0 for 2**63 - 1.
      hash_key: the key of the hash.
      name: a name for the scope of the operations.
    Returns: a `RaggedTensor` of int64.
    Raises: as `tf.ragged.cross`.
    Gradient: none.
    Reference: TensorFlow 2.21 RaggedCross.

    >>> sess.run(tf.ragged.cross_hashed([tf.ragged.constant([["a"], ["b", "c"]])], num_buckets=10).row_lengths())
    array([1, 2])
    """
    with name_scope(name, "RaggedCross"):
        return _cross(inputs, True, num_buckets, hash_key)
