"""Conversion of strings to code points and back, and between encodings; n-grams of strings."""

from __future__ import annotations

import codecs
import functools
import itertools
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.dtypes import INDEX, int64
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.tensor import Tensor, TensorLike

_HOST = ("host",)
_OUTPUTS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")


def _codec(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise Complaint(f"Could not create converter for input encoding: {encoding}", "use e.g. 'UTF-8'") from None


def _checked(errors: str, replacement_char: int, output_encoding: str = "UTF-8") -> None:
    if errors not in ("strict", "replace", "ignore"):
        raise Complaint(f"errors must be 'strict', 'replace' or 'ignore', not {errors!r}", "errors='replace'")
    if not 0 <= replacement_char <= 0x10FFFF or 0xD800 <= replacement_char <= 0xDFFF:
        raise Complaint("replacement_char out of unicode codepoint range", "use 65533")
    if output_encoding not in _OUTPUTS:
        raise Complaint(f"output_encoding must be one of {', '.join(_OUTPUTS)}, not {output_encoding!r}", "use 'UTF-8'")


def _points(data: bytes, codec: str, errors: str, replacement: int, controls: bool) -> tuple[list[int], list[int]]:
    """Returns the code points of a string, and where each begins."""
    points: list[int] = []
    starts: list[int] = []
    at = 0
    while at < len(data):
        try:
            good, bad = data[at:].decode(codec), 0
        except UnicodeDecodeError as e:
            if errors == "strict":
                raise Complaint("Invalid formatting on input string", "errors='replace'") from None
            good, bad = data[at : at + e.start].decode(codec), e.end - e.start
        for c in good:
            point = ord(c)
            starts.append(at)
            points.append(replacement if controls and point < 0x20 else point)
            at += len(c.encode(codec))
        if bad and errors == "replace":
            points.append(replacement)
            starts.append(at)
        at += bad
    return points, starts


def _decoded(data: Any, encoding: str, errors: str, replacement: int, controls: bool) -> tuple[Any, Any, Any]:
    codec = _codec(encoding)
    found = [_points(s, codec, errors, replacement, controls) for s in data.reshape(-1).tolist()]
    splits = np.cumsum([0, *(len(p) for p, _ in found)])
    points = np.asarray([v for p, _ in found for v in p], np.int32).reshape(-1)
    return splits, points, np.asarray([v for _, s in found for v in s], np.int64).reshape(-1)


def _rows_shape(x, errors, replacement_char, input_encoding):
    _checked(errors, replacement_char)
    n = None
    if x is not None and None not in x:
        n = int(np.prod(x)) + 1
    return [(n,), (None,)]


@op("UnicodeDecode", "input: string -> row_splits: Tsplits, char_values: int32", Tsplits=INDEX, flags=_HOST,
    shape=_rows_shape)
def unicode_decode_op(xp, data, *, input_encoding, errors="replace", replacement_char=65533,
                      replace_control_characters=False, Tsplits=int64):
    """Decodes strings to rows of code points."""
    splits, points, _ = _decoded(data, input_encoding, errors, replacement_char, replace_control_characters)
    return splits.astype(Tsplits.np_dtype), points


@op("UnicodeDecodeWithOffsets", "input: string -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64",
    Tsplits=INDEX, flags=_HOST)
def unicode_decode_with_offsets_op(xp, data, *, input_encoding, errors="replace", replacement_char=65533,
                                   replace_control_characters=False, Tsplits=int64):
    """Decodes strings to rows of code points, and returns where each begins."""
    splits, points, starts = _decoded(data, input_encoding, errors, replacement_char, replace_control_characters)
    return splits.astype(Tsplits.np_dtype), points, starts


@unicode_decode_with_offsets_op.shape
def _with_offsets_shape(x, errors, replacement_char, input_encoding):
    return [*_rows_shape(x, errors, replacement_char, input_encoding), (None,)]


def _encoded(points: Any, codec: str, errors: str, replacement: int) -> bytes:
    out = []
    for point in points:
        if not 0 <= point <= 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            if errors == "strict":
                raise Complaint("Code point is out of range for Unicode, or is a surrogate.", "errors='replace'")
            if errors == "ignore":
                continue
            point = replacement
        out.append(chr(point))
    return "".join(out).encode(codec)


@op("UnicodeEncode", "input_values: int32, input_splits: Tsplits -> output: string", Tsplits=INDEX, flags=_HOST)
def unicode_encode_op(xp, points, splits, *, output_encoding, errors="replace", replacement_char=65533):
    """Encodes rows of code points as strings."""
    codec, rows = _codec(output_encoding), zip(splits[:-1].tolist(), splits[1:].tolist(), strict=True)
    values = points.tolist()
    found = [_encoded(values[a:b], codec, errors, replacement_char) for a, b in rows]
    out = np.empty(len(found), object)
    out[:] = found
    return out


@unicode_encode_op.shape
def _unicode_encode_shape(points, splits, output_encoding, errors, replacement_char):
    _checked(errors, replacement_char, output_encoding)
    return (None,) if not splits or splits[0] is None else (splits[0] - 1,)


def _same(x, errors, replacement_char, output_encoding):
    _checked(errors, replacement_char, output_encoding)
    return x


@op("UnicodeTranscode", "input: string -> output: string", flags=_HOST, shape=_same)
def unicode_transcode_op(xp, data, *, input_encoding, output_encoding, errors="replace", replacement_char=65533,
                         replace_control_characters=False):
    """Converts strings to another encoding."""
    source, target = _codec(input_encoding), _codec(output_encoding)
    found = [_encoded(_points(s, source, errors, replacement_char, replace_control_characters)[0], target, errors,
                      replacement_char) for s in data.reshape(-1).tolist()]
    out = np.empty(len(found), object)
    out[:] = found
    return out.reshape(data.shape)


@functools.cache
def _scripts() -> tuple[Any, Any]:
    """Returns where ranges of one script begin, and the scripts' numbers."""
    import base64
    import zlib

    from .unicode_scripts import RANGES

    data = zlib.decompress(base64.b85decode("".join(RANGES)))
    n = len(data) // 6
    sizes, codes = np.frombuffer(data[: 4 * n], "<u4"), np.frombuffer(data[4 * n :], "<i2")
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]), codes


@op("UnicodeScript", "input: int32 -> output: int32", flags=_HOST, shape=lambda x: x)
def unicode_script_op(xp, points):
    """Returns the number of each code point's script."""
    starts, codes = _scripts()
    inside = (points >= 0) & (points < 0x110000)
    found = codes[np.searchsorted(starts, np.where(inside, points, 0), "right") - 1]
    return np.where(inside, found, -1).astype(np.int32)


# -- n-grams -------------------------------------------------------------------------------


def _ngrams(row: list[bytes], width: int, pad: int, separator: bytes, left: bytes, right: bytes) -> list[bytes]:
    pad = min(width - 1 if pad < 0 else pad, width - 1)
    padded = [left] * pad + row + [right] * pad
    return [separator.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]


def _bytes(text: Any) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


@op("StringNGrams", "data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits", Tsplits=INDEX,
    flags=_HOST)
def string_ngrams_op(xp, data, splits, *, separator, ngram_widths, left_pad, right_pad, pad_width,
                     preserve_short_sequences):
    """Joins neighbouring strings of rows."""
    ends = splits.tolist()
    if ends and (ends[0] != 0 or any(a > b for a, b in itertools.pairwise(ends)) or ends[-1] != len(data)):
        raise Complaint(f"data_splits must begin with 0, not decrease and end with {len(data)}, not {ends[:9]}",
                        "give where rows end")
    texts, found, counts = data.tolist(), [], []
    join = [_bytes(t) for t in (separator, left_pad, right_pad)]
    for a, b in itertools.pairwise(ends):
        row = texts[a:b]
        own = [g for w in ngram_widths for g in _ngrams(row, w, pad_width, *join)]
        if not own and preserve_short_sequences and row:
            own = _ngrams(row, len(row) + 2 * max(0, pad_width), pad_width, *join)
        found += own
        counts.append(len(own))
    out = np.empty(len(found), object)
    out[:] = found
    return out, np.cumsum([0, *counts]).astype(splits.dtype)


@string_ngrams_op.shape
def _string_ngrams_shape(data, splits, ngram_widths):
    if any(w <= 0 for w in ngram_widths):
        raise Complaint(f"ngram_widths must contain positive values, not {list(ngram_widths)}", "use 1 and above")
    return [(None,), splits]


for _record in (unicode_decode_op, unicode_decode_with_offsets_op, unicode_encode_op, unicode_transcode_op,
                unicode_script_op, string_ngrams_op):
    _record.grad(NOT_DIFFERENTIABLE)


def unicode_transcode(input: TensorLike, input_encoding: str, output_encoding: str, errors: str = "replace",
                      replacement_char: int = 65533, replace_control_characters: bool = False,
                      name: str | None = None) -> Tensor:
    """Converts strings to another encoding.

    Args:
      input: strings.
      input_encoding: their encoding, any one that Python knows.
      output_encoding: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'.
      errors: 'replace', 'ignore' or 'strict', for invalid text.
      replacement_char: the code point that replaces it.
      replace_control_characters: whether U+0000 to U+001F are replaced too.
      name: a name for the operation.
    Returns: strings of the same shape.
    Raises: ValueError for other encodings; InvalidArgumentError at run time for invalid text, if strict.
    Gradient: none.
    Reference: TensorFlow 2.21 UnicodeTranscode.

    >>> sess.run(tf.strings.unicode_transcode(b"\\xe9", "LATIN1", "UTF-8"))
    b'\\xc3\\xa9'
    """
    return raw.UnicodeTranscode(input, input_encoding=input_encoding, output_encoding=output_encoding, errors=errors,
                                replacement_char=whole(replacement_char),
                                replace_control_characters=bool(replace_control_characters), name=name)


def unicode_script(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the scripts of code points, by ICU's numbers.

    Args:
      input: int32, code points.
      name: a name for the operation.
    Returns: int32, the same shape; -1 for anything but a code point.
    Gradient: none.
    Reference: TensorFlow 2.21 UnicodeScript; Unicode's Scripts.txt.

    >>> sess.run(tf.strings.unicode_script([ord("a"), 0x3B1, 0x4E00]))
    array([25, 14, 17], dtype=int32)
    """
    return raw.UnicodeScript(input, name=name)


__all__ = ["unicode_script", "unicode_transcode"]
