"""The public functions on strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32, int32, string
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.sparse_tensor import SparseTensor


def as_string(input: TensorLike, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
              fill: str = "", name: str | None = None) -> Tensor:
    """Formats numbers as strings.

    Args:
      input: numbers or bools.
      precision: the number of digits after the decimal point, for floating types.
      scientific, shortest: `%e` or `%g` instead of `%f`.
      width: the least width; shorter strings are padded with `fill`.
      fill: the padding, one character; a space by default.
      name: a name for the operation.
    Returns: strings, the shape of `input`.
    Raises: InvalidArgumentError for options that contradict each other.
    Gradient: none.
    Reference: TensorFlow 2.21 AsString.

    >>> sess.run(tf.as_string([1.5, 0.25], precision=2))
    array([b'1.50', b'0.25'], dtype=object)
    """
    return raw.AsString(input, precision=precision, scientific=scientific, shortest=shortest, width=width, fill=fill,
                        name=name)


def string_join(inputs: TensorLike, separator: str = "", name: str | None = None) -> Tensor:
    """Joins the strings of several tensors, elementwise; scalars are broadcast.

    Args:
      inputs: a list of tensors of strings, of one shape or scalars.
      separator: the separator.
      name: a name for the operation.
    Returns: strings, of the common shape.
    Raises: ValueError for incompatible shapes.
    Gradient: none.
    Reference: TensorFlow 2.21 StringJoin.

    >>> sess.run(tf.strings.join([["a", "b"], "c"], separator="-"))
    array([b'a-c', b'b-c'], dtype=object)
    """
    return raw.StringJoin(list(inputs), separator=separator, name=name)


def reduce_join(inputs: TensorLike, axis: Any = None, keepdims: bool = False, separator: str = "",
                name: str | None = None) -> Tensor:
    """Joins strings along axes.

    Args:
      inputs: strings.
      axis: an axis or a list of them, all (in order) by default.
      keepdims: whether to keep joined axes with size 1.
      separator: the separator.
      name: a name for the scope.
    Returns: strings.
    Raises: ValueError (while building) or OutOfRangeError for an axis out of range.
    Gradient: none.
    Reference: TensorFlow 2.21 ReduceJoin.

    >>> sess.run(tf.strings.reduce_join([["a", "b"], ["c", "d"]], 1))
    array([b'ab', b'cd'], dtype=object)
    """
    with name_scope(name, "ReduceJoin"):
        inputs = convert_to_tensor(inputs, string)
        if axis is None:
            rank = inputs._spec.shape
            axis = raw.Range(0, raw.Rank(inputs), 1) if rank is None else np.arange(len(rank), dtype=np.int32)
        return raw.ReduceJoin(inputs, convert_to_tensor(axis, int32), keep_dims=bool(keepdims), separator=separator)


def reduce_join_v1(inputs: TensorLike, axis: Any = None, keep_dims: Any = None, separator: str = "",
                   name: str | None = None, reduction_indices: Any = None, keepdims: Any = None) -> Tensor:
    """Joins strings along axes; see `strings.reduce_join`.

    >>> sess.run(tf.reduce_join([["a", "b"]], 1))
    array([b'ab'], dtype=object)
    """
    keep = keep_dims if keepdims is None else keepdims
    return reduce_join(inputs, reduction_indices if axis is None else axis, bool(keep), separator, name)


def string_split(source: Any, sep: str | None = None, skip_empty: bool = True, delimiter: str | None = None,
                 result_type: str = "SparseTensor", name: str | None = None) -> SparseTensor | Any:
    """Splits strings at any of the characters of `sep`.

    Args:
      source: a vector of strings.
      sep: separating characters; a space by default, '' splits into characters.
      skip_empty: whether to omit empty pieces.
      delimiter: the older name of `sep`.
      result_type: "SparseTensor"; `tf.strings.split` offers ragged ones.
      name: a name for the operations.
    Returns: a `SparseTensor` of strings, one row for each string.
    Raises: ValueError for another `result_type`.
    Gradient: none.
    Reference: TensorFlow 2.21 StringSplit.

    >>> sess.run(tf.string_split(["a b", "c"]).values)
    array([b'a', b'b', b'c'], dtype=object)
    """
    sep = delimiter if sep is None else sep
    if result_type != "SparseTensor":
        raise ValueError(f"result_type must be 'SparseTensor', not {result_type!r}: there are no ragged tensors here. "
                         "Fix: result_type='SparseTensor'")
    with name_scope(name, "StringSplit"):
        return SparseTensor(*raw.StringSplit(source, " " if sep is None else sep, skip_empty=skip_empty))


def split_v1(input: Any = None, sep: str | None = None, maxsplit: int = -1, result_type: str = "SparseTensor",
             source: Any = None, name: str | None = None) -> Any:
    """Splits strings at a separator, at runs of white space by default.

    Args:
      input: a vector of strings.
      sep: the separator.
      maxsplit: the largest number of splits.
      result_type: "SparseTensor"; `tf.strings.split` offers ragged ones, too.
      source: the older name of `input`.
      name: a name for the scope.
    Returns: a `SparseTensor` of strings, one row for each string.
    Raises: ValueError for another result type.
    Gradient: none.
    Reference: TensorFlow 2.21 StringSplitV2.

    >>> sess.run(tf.strings.split(["a  b", "c"]).values)
    array([b'a', b'b', b'c'], dtype=object)
    """
    if result_type != "SparseTensor":
        raise ValueError(f"result_type must be 'RaggedTensor' or 'SparseTensor', not {result_type!r}. "
                         "Fix: choose one of the two")
    with name_scope(name, "StringSplit"):
        x = source if input is None else input
        return SparseTensor(*raw.StringSplitV2(x, "" if sep is None else sep, maxsplit=maxsplit))


def substr(input: TensorLike, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Cuts a part out of each string.

    Args:
      input: strings.
      pos: where the parts begin; counted from the end if negative.
      len: their lengths; all three broadcast.
      unit: "BYTE" or "UTF8_CHAR".
      name: a name for the operation.
    Returns: strings.
    Raises: InvalidArgumentError for a position outside the string.
    Gradient: none.
    Reference: TensorFlow 2.21 Substr.

    >>> sess.run(tf.strings.substr(["hello", "world"], 1, 3))
    array([b'ell', b'orl'], dtype=object)
    """
    return raw.Substr(input, pos, len, unit=unit, name=name)


def substr_v1(input: TensorLike, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Cuts a part out of each string; see `strings.substr`.

    >>> sess.run(tf.substr("hello", -3, 2))
    b'll'
    """
    return substr(input, pos, len, unit, name)


def to_number(input: TensorLike, out_type: DTypeLike = float32, name: str | None = None) -> Tensor:
    """Parses strings as numbers.

    Args:
      input: strings.
      out_type: float32, float64, int32 or int64.
      name: a name for the operation.
    Returns: numbers, the shape of `input`.
    Raises: InvalidArgumentError for a string that is not a number.
    Gradient: none.
    Reference: TensorFlow 2.21 StringToNumber.

    >>> sess.run(tf.strings.to_number(["1.5", "-2e3"]))
    array([ 1.5e+00, -2.0e+03], dtype=float32)
    """
    return raw.StringToNumber(input, out_type=as_dtype(out_type), name=name)


def to_number_v1(string_tensor: Any = None, out_type: DTypeLike = float32, name: str | None = None,
                 input: TensorLike = None) -> Tensor:
    """Parses strings as numbers; see `strings.to_number`.

    >>> sess.run(tf.string_to_number("3", tf.int32))
    np.int32(3)
    """
    return to_number(string_tensor if input is None else input, out_type, name)


def decode_raw(input_bytes: Any, out_type: DTypeLike, little_endian: bool = True, fixed_length: int | None = None,
               name: str | None = None) -> Tensor:
    """Reinterprets the bytes of strings as numbers.

    Args:
      input_bytes: strings, all of one length.
      out_type: the dtype.
      little_endian: the order of bytes.
      fixed_length: a length to cut or pad (with zeros) the strings to.
      name: a name for the operation.
    Returns: numbers; one axis more than `input_bytes`.
    Raises: InvalidArgumentError if the length is not a multiple of the number's size.
    Gradient: none.
    Reference: TensorFlow 2.21 DecodeRaw.

    >>> sess.run(tf.decode_raw("ab", tf.uint8))
    array([97, 98], dtype=uint8)
    """
    if fixed_length is not None:
        return raw.DecodePaddedRaw(input_bytes, fixed_length, out_type=as_dtype(out_type), little_endian=little_endian,
                                   name=name)
    return raw.DecodeRaw(input_bytes, out_type=as_dtype(out_type), little_endian=little_endian, name=name)


def decode_raw_v1(input_bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: str | None = None,
                  bytes: Any = None) -> Tensor:
    """Reinterprets the bytes of strings as numbers; see `io.decode_raw`.

    >>> sess.run(tf.decode_raw("ab", tf.uint8))
    array([97, 98], dtype=uint8)
    """
    return decode_raw(input_bytes if bytes is None else bytes, out_type, little_endian, None, name)


def length(input: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Returns the lengths of strings, in bytes or ("UTF8_CHAR") characters.

    Args:
      input: strings.
      unit: "BYTE" or "UTF8_CHAR".
      name: a name for the operation.
    Returns: int32, the shape of `input`.
    Gradient: none.
    Reference: TensorFlow 2.21 StringLength.

    >>> sess.run(tf.strings.length(["a", "abc"]))
    array([1, 3], dtype=int32)
    """
    return raw.StringLength(input, unit=unit, name=name)


def length_v1(input: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Returns the lengths of strings; see `strings.length`.

    >>> sess.run(tf.strings.length("abc"))
    np.int32(3)
    """
    return length(input, unit, name)


def lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Converts strings to lower case; ASCII letters only unless `encoding` is "utf-8".

    Args:
      input: strings.
      encoding: "" or "utf-8".
      name: a name for the operation.
    Returns: strings, the shape of `input`.
    Gradient: none.
    Reference: TensorFlow 2.21 StringLower.

    >>> sess.run(tf.strings.lower("AB"))
    b'ab'
    """
    return raw.StringLower(input, encoding=encoding, name=name)


def upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Converts strings to upper case; ASCII letters only unless `encoding` is "utf-8".

    Args:
      input: strings.
      encoding: "" or "utf-8".
      name: a name for the operation.
    Returns: strings, the shape of `input`.
    Gradient: none.
    Reference: TensorFlow 2.21 StringUpper.

    >>> sess.run(tf.strings.upper("ab"))
    b'AB'
    """
    return raw.StringUpper(input, encoding=encoding, name=name)


def strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Removes white space at the ends of strings.

    Args:
      input: strings.
      name: a name for the operation.
    Returns: strings, the shape of `input`.
    Gradient: none.
    Reference: TensorFlow 2.21 StringStrip.

    >>> sess.run(tf.strings.strip(" ab "))
    b'ab'
    """
    return raw.StringStrip(input, name=name)


def regex_replace(input: TensorLike, pattern: Any, rewrite: Any, replace_global: bool = True,
                  name: str | None = None) -> Tensor:
    r"""Replaces matches of a regular expression.

    Args:
      input: strings.
      pattern: the expression, in RE2's syntax, without look-around and back-references.
      rewrite: the replacement; `\1` means the first group, `\0` the whole match.
      replace_global: whether to replace every match, or the first of each string.
      name: a name for the operation.
    Returns: strings, the shape of `input`.
    Raises: InvalidArgumentError for an invalid pattern.
    Gradient: none.
    Reference: TensorFlow 2.21 RegexReplace.

    >>> sess.run(tf.strings.regex_replace("a1b2", "[0-9]", "-"))
    b'a-b-'
    """
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return raw.StaticRegexReplace(input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)
    return raw.RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)


def regex_full_match(input: TensorLike, pattern: Any, name: str | None = None) -> Tensor:
    """Returns whether whole strings match a regular expression.

    Args:
      input: strings.
      pattern: the expression, a scalar string, in RE2's syntax, without look-around and back-references.
      name: a name for the operation.
    Returns: bool, the shape of `input`.
    Raises: InvalidArgumentError for an invalid pattern; ValueError or InvalidArgumentError for several.
    Gradient: none.
    Reference: TensorFlow 2.21 RegexFullMatch.

    >>> sess.run(tf.strings.regex_full_match(["ab", "b"], "a."))
    array([ True, False])
    """
    if isinstance(pattern, (str, bytes)):
        return raw.StaticRegexFullMatch(input, pattern=pattern, name=name)
    return raw.RegexFullMatch(input, pattern, name=name)


def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Encodes strings in web-safe base 64, without padding unless requested.

    Args:
      input: strings.
      pad: whether to pad with "=".
      name: a name for the operation.
    Returns: strings, the shape of `input`.
    Gradient: none.
    Reference: TensorFlow 2.21 EncodeBase64.

    >>> sess.run(tf.encode_base64("hello"))
    b'aGVsbG8'
    """
    return raw.EncodeBase64(input, pad=pad, name=name)


def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """Decodes strings in web-safe base 64.

    Args:
      input: strings.
      name: a name for the operation.
    Returns: strings, the shape of `input`.
    Raises: InvalidArgumentError at run time for invalid strings.
    Gradient: none.
    Reference: TensorFlow 2.21 DecodeBase64.

    >>> sess.run(tf.decode_base64("aGVsbG8"))
    b'hello'
    """
    return raw.DecodeBase64(input, name=name)


def string_format(template: str, inputs: TensorLike, placeholder: str = "{}", summarize: int = 3,
                  name: str | None = None) -> Tensor:
    """Formats tensors into a string.

    Args:
      template: the string with placeholders.
      inputs: a tensor or a list of them, one for each placeholder.
      placeholder: the string that they replace.
      summarize: the number of elements to write at each end of an axis; -1 for all.
      name: a name for the operation.
    Returns: a string scalar.
    Raises: ValueError if the number of placeholders differs from that of the inputs.
    Gradient: none.
    Reference: TensorFlow 2.21 StringFormat.

    >>> sess.run(tf.strings.format("x = {}", tf.constant([1, 2])))
    b'x = [1 2]'
    """
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if not isinstance(template, str) or not isinstance(placeholder, str):
        raise TypeError(f"template and placeholder must be strings, not {template!r} and {placeholder!r}")
    if template.count(placeholder) != len(inputs):
        raise ValueError(f"The template expects {template.count(placeholder)} tensors, but the inputs only has "
                         f"{len(inputs)}. Please ensure the number of placeholders in template matches inputs length.")
    return raw.StringFormat([convert_to_tensor(x) for x in inputs], template=template, placeholder=placeholder,
                            summarize=summarize, name=name)


__all__ = ["as_string", "decode_base64", "decode_raw", "decode_raw_v1", "encode_base64", "length", "length_v1", "lower",
           "reduce_join", "reduce_join_v1", "regex_full_match", "regex_replace", "split_v1", "string_format",
           "string_join", "string_split", "strip", "substr", "substr_v1", "to_number", "to_number_v1",
           "upper"]


def unsorted_segment_join(inputs: TensorLike, segment_ids: Any, num_segments: Any, separator: str = "",
                          name: str | None = None) -> Tensor:
    """Joins the strings of each segment.

    Args:
      inputs: strings.
      segment_ids: int32 or int64, a leading part of the shape of `inputs`: the segment of each.
      num_segments: the number of segments.
      separator: the separator of joined strings.
      name: a name for the operation.
    Returns: (num_segments, ...), strings.
    Raises: InvalidArgumentError for an id outside of [0, num_segments).
    Gradient: none.
    Reference: TensorFlow 2.21 UnsortedSegmentJoin.

    >>> sess.run(tf.strings.unsorted_segment_join(["a", "b", "c"], [0, 2, 0], 3, separator=":"))
    array([b'a:c', b'', b'b'], dtype=object)
    """
    return raw.UnsortedSegmentJoin(convert_to_tensor(inputs, string), segment_ids, num_segments, separator=separator,
                                   name=name)
