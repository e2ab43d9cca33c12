"""Structures of tensors as one vector, which is what solvers work on; complex numbers are pairs of real ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.frontend.structure import nest
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import complex64, complex128, float32, float64
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined, shape_str
from graphgrad.ir.source import user_source


class Layout:
    """How the tensors of a structure lie in one vector.

    Args:
      function: the function that users called, for errors.
      what: the argument's name.
      value: a structure of floating or complex tensors of one precision.

    Attributes:
      leaves: its tensors, complex ones as real tensors with one more axis in front: real and imaginary parts.
      dtypes: the dtypes of its tensors.
      dtype: the dtype of the vector, float32 or float64.
      size: the number of elements, None if it is known only at run time.
    """

    def __init__(self, function: str, what: str, value: Any):
        self._function, self._structure = function, value
        given = [_floating(function, what, leaf) for leaf in nest.flatten(value)]
        self.dtypes = [t.dtype for t in given]
        self.leaves = [_as_real(t) for t in given]
        if not self.leaves:
            raise ValueError(f"{function}: {what} has no tensors.\n  Called at {user_source(2)}\n"
                             "  Fix: give a tensor, or a structure of them")
        self.dtype = self.leaves[0].dtype
        if any(t.dtype is not self.dtype for t in self.leaves):
            names = ", ".join(dtype.name for dtype in self.dtypes)
            raise TypeError(f"{function}: {what} has tensors of dtypes {names}.\n  Called at {user_source(2)}\n"
                            "  Fix: tf.cast them to one")
        self.shapes = [t._spec.shape for t in self.leaves]
        known = all(map(is_fully_defined, self.shapes))
        self.size = sum(math.prod(s) for s in self.shapes) if known else None

    def vector(self, tensors: Any = None) -> Any:
        """Returns the vector of these tensors, or of those that it was made of."""
        given = self.leaves if tensors is None else tensors
        flat = [raw.Reshape(t, np.array([-1], np.int32)) for t in given]
        return flat[0] if len(flat) == 1 else raw.ConcatV2(flat, np.int32(0))

    def structure(self, vector: Any) -> Any:
        """Returns the structure of tensors that lie in a vector."""
        found: list[Any] = []
        start: Any = 0
        for t, shape, dtype in zip(self.leaves, self.shapes, self.dtypes, strict=True):
            whole = is_fully_defined(shape)
            dims: Any = np.array(shape, np.int32) if whole else raw.Shape(t)
            part = vector
            if len(self.leaves) > 1:
                size: Any = math.prod(shape) if whole else raw.Size(t)
                at = [np.array([v], np.int32) if isinstance(v, int) else raw.Reshape(v, [1]) for v in (start, size)]
                part = raw.Slice(vector, *at)
                start = start + size if isinstance(size, int) or not isinstance(start, int) else size + start
            leaf = raw.Reshape(part, dims)
            if not whole and shape is not None:
                leaf.set_shape(shape)
            found.append(as_dtype(leaf, dtype))
        return nest.pack_sequence_as(self._structure, found)

    def sizes(self) -> list[Any]:
        """Returns the number of elements of each tensor, known or at run time."""
        return [np.int32(math.prod(s)) if is_fully_defined(s) else raw.Size(t)
                for t, s in zip(self.leaves, self.shapes, strict=True)]

    def stacked(self, rows: Any) -> Any:
        """Returns the structure whose tensors have one more axis in front, of vectors that are rows."""
        parts = self.sizes()
        leaves = [rows]
        if len(parts) > 1:
            leaves = raw.SplitV(rows, raw.Pack(parts, axis=0), np.int32(1), num_split=len(parts))
        found = []
        for leaf, like, shape, dtype in zip(leaves, self.leaves, self.shapes, self.dtypes, strict=True):
            dims = raw.ConcatV2([raw.StridedSlice(raw.Shape(rows), [0], [1], [1]), raw.Shape(like)], np.int32(0))
            whole = raw.Reshape(leaf, dims)
            if shape is not None:
                whole.set_shape((rows._spec.shape[0] if rows._spec.shape else None, *shape))
            found.append(as_dtype(whole, dtype, 1))
        return nest.pack_sequence_as(self._structure, found)

    def vector_of(self, what: str, result: Any) -> Any:
        """Returns the vector of what a user's function returned; ValueError unless it fits."""
        leaves = nest.flatten(result)
        problem = f"{len(leaves)} tensors for {len(self.leaves)}" if len(leaves) != len(self.leaves) else ""
        tensors = []
        for leaf, like, dtype in zip(leaves, self.leaves, self.dtypes, strict=False):
            t = convert_to_tensor(leaf, dtype if isinstance(leaf, (int, float, complex, list)) else None)
            shape, wanted = t._spec.shape, like._spec.shape
            if dtype.is_complex and wanted is not None:
                wanted = wanted[1:]
            if t.dtype is not dtype:
                problem = problem or f"{t.dtype.name} for {dtype.name}"
            elif is_fully_defined(shape) and is_fully_defined(wanted) and shape != wanted:
                problem = problem or f"shape {shape_str(shape)} for {shape_str(wanted)}"
            tensors.append(_as_real(t))
        if problem:
            raise ValueError(f"{self._function}: {what} returned {problem}.\n  Called at {user_source(2)}\n"
                             "  Fix: return as many tensors as it is given, of their shapes and dtypes")
        return self.vector(tensors)


def _floating(function: str, what: str, leaf: Any) -> Any:
    t = convert_to_tensor(leaf, float32 if isinstance(leaf, int) else None)
    if t.dtype not in (float32, float64, complex64, complex128):
        raise TypeError(f"{function}: {what} has dtype {t.dtype.name}.\n  Called at {user_source(2)}\n"
                        "  Fix: tf.cast it to float32 or float64")
    return t


def _as_real(t: Any) -> Any:
    if not t.dtype.is_complex:
        return t
    real = t.dtype.real_dtype
    return raw.Pack([raw.Real(t, Tout=real), raw.Imag(t, Tout=real)], axis=0)


def as_dtype(t: Any, dtype: Any, axis: int = 0) -> Any:
    """Returns the complex tensor whose real and imaginary parts lie along an axis, where the dtype is complex."""
    if not dtype.is_complex:
        return t
    return raw.Complex(*raw.Unpack(t, num=2, axis=axis), Tout=dtype)
