"""Assertions about arrays and structures of them, as `tf.test.TestCase` has them."""

from __future__ import annotations

import collections.abc
import unittest
from typing import Any

import numpy as np


class ArrayAssertions(unittest.TestCase):
    """Assertions that compare arrays, numbers, tensors, and lists and dictionaries of them."""

    def _GetNdArray(self, a: Any) -> Any:
        return np.asarray(a)

    # -- equal or close --------------------------------------------------------------

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Asserts |f1 - f2| <= err.

        Args:
          f1, f2: numbers.
          err: the largest difference.
          msg: the message if they differ by more.
        """
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1!r} != {f2!r} +/- {err!r} ({msg})")

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """Asserts that two sequences have one length and are near, number by number.

        Args:
          farray1, farray2: sequences of numbers.
          err: the largest difference of two numbers.
          msg: the message if not.
        """
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """Asserts that the norm of the difference of two arrays is below `err`.

        Args:
          ndarray1, ndarray2: arrays.
          err: the bound.
          msg: the message if not.
        """
        distance = float(np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2)))
        self.assertTrue(distance < err, f"Arrays are {distance} apart. {msg or ''}")

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Asserts |a - b| <= atol + rtol |b|, elementwise; structures are compared part by part.

        Args:
          a, b: arrays, tensors, numbers; lists, tuples and dictionaries of them.
          rtol, atol: tolerances.
          msg: the message if they differ.
        Raises: ValueError if the structures differ in kind; AssertionError if the values do.

        >>> tf.test.TestCase().assertAllClose({"a": [1.0, 2.0]}, {"a": np.array([1.0, 2.0])})
        """
        self._close(a, b, rtol, atol, msg, "")

    def _close(self, a: Any, b: Any, rtol: float, atol: float, msg: str | None, at: str) -> None:
        dicts = [isinstance(x, collections.abc.Mapping) for x in (a, b)]
        if hasattr(a, "_asdict"):
            a = a._asdict()
            dicts[0] = True
        if hasattr(b, "_asdict"):
            b = b._asdict()
            dicts[1] = True
        where = f" at {at}" if at else ""
        if dicts[0] != dicts[1]:
            raise ValueError(f"Can't compare dict to non-dict{where}: {type(a).__name__} vs {type(b).__name__}. "
                             f"{msg or ''}")
        if dicts[0]:
            self.assertEqual(set(a), set(b), f"different keys{where}. {msg or ''}")
            for k in a:
                self._close(a[k], b[k], rtol, atol, msg, f"{at}[{k!r}]")
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and not _is_array(a, b):
            self.assertEqual(len(a), len(b), f"different lengths{where}. {msg or ''}")
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                self._close(x, y, rtol, atol, msg, f"{at}[{i}]")
        else:
            self._arrays_close(a, b, rtol, atol, f"{where}. {msg or ''}")

    def _arrays_close(self, a: Any, b: Any, rtol: float, atol: float, msg: str) -> None:
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        self._same_shape(a, b, msg)
        a, b = (x.astype(np.float32) if x.dtype.name in ("bfloat16", "float16") else x for x in (a, b))
        if not np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            with np.errstate(invalid="ignore"):
                wrong = np.atleast_1d(~np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True))
            x, y = np.atleast_1d(a), np.atleast_1d(b)
            raise AssertionError(
                f"Not close: {wrong.sum()} of {wrong.size} elements differ by more than {atol} + {rtol} * |b|{msg}\n"
                f"  where {np.argwhere(wrong)[:10].tolist()}\n  a: {x[wrong][:10]}\n  b: {y[wrong][:10]}"
            )

    def _same_shape(self, a: Any, b: Any, msg: str) -> None:
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}{msg}")

    def assertAllCloseAccordingToType(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6,
                                      float_rtol: float = 1e-6, float_atol: float = 1e-6, half_rtol: float = 1e-3,
                                      half_atol: float = 1e-3, bfloat16_rtol: float = 1e-2,
                                      bfloat16_atol: float = 1e-2, msg: str | None = None) -> None:
        """Asserts what `assertAllClose` does, with the tolerance of the coarser dtype.

        Args:
          a, b: arrays or tensors.
          rtol, atol: tolerances; those of float32, float16 and bfloat16 follow.
          float_rtol, float_atol, half_rtol, half_atol, bfloat16_rtol, bfloat16_atol: for arrays of these dtypes.
          msg: the message if they differ.
        """
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        kinds = {a.dtype.name, b.dtype.name}
        if kinds & {"float32", "complex64"}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in kinds:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in kinds:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Asserts that some element of a and b differs.

        Args:
          a, b, rtol, atol: as in `assertAllClose`.
          msg: the message if none does.
        """
        try:
            self.assertAllClose(a, b, rtol, atol, msg)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements. {msg or ''}")

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Asserts that a and b have one shape and equal elements; NaN equals NaN.

        Args:
          a, b: arrays, tensors, numbers, lists.
          msg: the message if not.
        """
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        self._same_shape(a, b, f". {msg or ''}")
        same = _text(a) == _text(b)
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = same | (np.isnan(a) & np.isnan(b))
        if not np.all(same):
            wrong = np.atleast_1d(~np.asarray(same))
            x, y = np.atleast_1d(a), np.atleast_1d(b)
            raise AssertionError(f"not equal where {np.argwhere(wrong)[:10].tolist()}\n"
                                 f"  a: {x[wrong][:10]}\n  b: {y[wrong][:10]}\n{msg or ''}")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Asserts that some element of a and b differs.

        Args:
          a, b: as in `assertAllEqual`.
          msg: the message if none does.
        """
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    # -- what unittest has, with TensorFlow's arguments --------------------------------

    def assertDictEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Asserts that two dictionaries are equal.

        Args:
          a, b: the dictionaries.
          msg: the message if they differ.
        """
        super().assertDictEqual(a, b, msg)

    def assertMultiLineEqual(self, first: str, second: str, msg: str | None = None, **kwargs: Any) -> None:
        """Asserts that two strings are equal; the error shows a difference by lines.

        Args:
          first, second: the strings.
          msg: the message if they differ.
          **kwargs: accepted.
        """
        super().assertMultiLineEqual(first, second, msg)

    def fail(self, msg: Any = None, user_msg: Any = None) -> Any:
        """Fails the test.

        Args:
          msg, user_msg: the message.
        """
        return super().fail(": ".join(str(m) for m in (msg, user_msg) if m is not None) or None)

    # -- all elements ----------------------------------------------------------------

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Asserts that all elements are above a number.

        Args:
          a: an array or tensor.
          comparison_target: the number.
        """
        self._all(a, np.greater, comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Asserts that all elements are below a number.

        Args:
          a: an array or tensor.
          comparison_target: the number.
        """
        self._all(a, np.less, comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Asserts that no element is below a number.

        Args:
          a: an array or tensor.
          comparison_target: the number.
        """
        self._all(a, np.greater_equal, comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Asserts that no element is above a number.

        Args:
          a: an array or tensor.
          comparison_target: the number.
        """
        self._all(a, np.less_equal, comparison_target)

    def _all(self, a: Any, compare: Any, target: Any) -> None:
        a = self._GetNdArray(a)
        wrong = np.atleast_1d(~compare(a, target))
        self.assertFalse(wrong.any(), f"not {compare.__name__} than {target}: {np.atleast_1d(a)[wrong][:10]}")

    def assertAllInRange(self, target: Any, lower_bound: float, upper_bound: float, open_lower_bound: bool = False,
                         open_upper_bound: bool = False) -> None:
        """Asserts that all elements are between two bounds.

        Args:
          target: an array or tensor.
          lower_bound, upper_bound: the bounds.
          open_lower_bound, open_upper_bound: whether a bound itself is outside.
        """
        (self.assertAllGreater if open_lower_bound else self.assertAllGreaterEqual)(target, lower_bound)
        (self.assertAllLess if open_upper_bound else self.assertAllLessEqual)(target, upper_bound)
        self.assertFalse(np.isnan(self._GetNdArray(target).astype(np.float64)).any(), "NaN is in no range")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Asserts that all elements are in a set.

        Args:
          target: an array or tensor.
          expected_set: the set.
        """
        strange = set(_text(self._GetNdArray(target)).ravel().tolist()) - set(expected_set)
        self.assertFalse(strange, f"{strange} is not in the set {expected_set}")

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Asserts that the elements have a dtype.

        Args:
          target: an array or tensor.
          expected_dtype: the dtype.
        """
        self.assertEqual(np.dtype(getattr(expected_dtype, "as_numpy_dtype", expected_dtype)),
                         self._GetNdArray(target).dtype)

    # -- strings and sequences -------------------------------------------------------

    def assertStartsWith(self, actual: Any, expected_start: Any, msg: str | None = None) -> None:
        """Asserts that a string begins with another.

        Args:
          actual, expected_start: the strings.
          msg: the message if not.
        """
        self.assertTrue(actual.startswith(expected_start), f"{actual!r} does not start with {expected_start!r}. "
                                                           f"{msg or ''}")

    def assertEndsWith(self, actual: Any, expected_end: Any, msg: str | None = None) -> None:
        """Asserts that a string ends with another.

        Args:
          actual, expected_end: the strings.
          msg: the message if not.
        """
        self.assertTrue(actual.endswith(expected_end), f"{actual!r} does not end with {expected_end!r}. {msg or ''}")

    def assertEmpty(self, container: Any, msg: str | None = None) -> None:
        """Asserts that a container is empty.

        Args:
          container: an object with a length.
          msg: the message if it has.
        """
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container: Any, msg: str | None = None) -> None:
        """Asserts that a container is not empty.

        Args:
          container: an object with a length.
          msg: the message if it has not.
        """
        self.assertGreater(len(container), 0, msg)

    def assertLen(self, container: Any, expected_len: int, msg: str | None = None) -> None:
        """Asserts that a container has a length.

        Args:
          container: an object with a length.
          expected_len: the length.
          msg: the message if it has another.
        """
        self.assertEqual(len(container), expected_len, msg)

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: str | None = None) -> None:
        """Asserts minv <= value <= maxv.

        Args:
          value, minv, maxv: numbers.
          msg: the message if not.
        """
        self.assertTrue(minv <= value <= maxv, f"{value!r} is not between {minv!r} and {maxv!r}. {msg or ''}")

    def assertSequenceAlmostEqual(self, expected_seq: Any, actual_seq: Any, places: int | None = None,
                                  msg: str | None = None, delta: float | None = None) -> None:
        """Asserts that two sequences of numbers agree, number by number, as `assertAlmostEqual` does.

        Args:
          expected_seq, actual_seq: the sequences.
          places, delta: the tolerance, in decimal places or as a difference.
          msg: the message if they differ by more.
        """
        self.assertEqual(len(expected_seq), len(actual_seq), msg)
        for a, b in zip(expected_seq, actual_seq, strict=True):
            self.assertAlmostEqual(a, b, places, msg, delta)  # type: ignore[arg-type]  # one of the two is None

    def assertContainsSubset(self, expected_subset: Any, actual_set: Any, msg: str | None = None) -> None:
        """Asserts that a set contains another.

        Args:
          expected_subset, actual_set: the sets.
          msg: the message if not.
        """
        missing = set(expected_subset) - set(actual_set)
        self.assertFalse(missing, f"Missing elements {missing}. {msg or ''}")

    def assertSameElements(self, expected_seq: Any, actual_seq: Any, msg: str | None = None) -> None:
        """Asserts that two sequences have the same elements, in any order and number.

        Args:
          expected_seq, actual_seq: the sequences.
          msg: the message if not.
        """
        self.assertEqual(set(expected_seq), set(actual_seq), msg)


def _is_array(a: Any, b: Any) -> bool:
    """Returns whether two sequences are rectangular lists of numbers, best compared as arrays."""
    return all(_numbers(x) for x in (a, b))


def _numbers(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(v, (int, float, complex, np.generic)) for v in value)


def _text(array: Any) -> Any:
    """Converts an array of strings to bytes, so that str and bytes compare."""
    if array.dtype.kind not in "OSU":
        return array
    flat = [v.encode() if isinstance(v, str) else v for v in array.ravel().tolist()]
    out = np.empty(len(flat), object)
    out[:] = flat
    return out.reshape(array.shape)
