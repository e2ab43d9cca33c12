"""`tf.TensorArray`: an array of tensors that is written element by element, mostly in loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import MORE_MEMORY, InvalidArgumentError, OutOfRangeError, ResourceExhaustedError
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, as_dtype, int32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import _CONTRADICTION, Shape, TensorShape, as_shape, merge, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.values.composite import Bundle


def _invalid(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


class _Known:
    """The known shape of the elements; arrays derived from one another share it."""

    __slots__ = ("shape", "infer")

    def __init__(self, shape: Shape, infer: bool):
        self.shape = shape
        self.infer = infer


class TensorArray(Bundle):
    """An array of tensors, each written once and read any number of times.

    Each method that changes the array returns the array to go on with, which is how it passes
    through `tf.while_loop` and `tf.cond`, too.

    Args:
      dtype: the dtype of the elements.
      size: the number of elements, an int or a scalar int32 tensor.
      dynamic_size: whether writing beyond the end makes it longer.
      clear_after_read: in eager mode, whether an element can be read only once; by default it can.
      tensor_array_name: accepted as TensorFlow does.
      handle: None; there are no arrays of TensorFlow 1 here.
      flow: a list of tensors (of dtype variant) that the array is to hold.
      infer_shape: whether all elements have to be of one shape.
      element_shape: the known part of the elements' shape.
      colocate_with_first_write_call: accepted as TensorFlow does.
      name: a name for the operation.
    Raises: ValueError if neither `size` nor `flow` is given.
    Gradient: through the values written and read.
    Reference: TensorFlow 2.21 `tf.TensorArray`.

    >>> ta = tf.TensorArray(tf.float32, size=3)
    >>> _, ta = tf.while_loop(lambda i, ta: i < 3, lambda i, ta: (i + 1, ta.write(i, tf.cast(i * i, tf.float32))),
    ...                       (0, ta))
    >>> sess.run(ta.stack())
    array([0., 1., 4.], dtype=float32)
    """

    def __init__(self, dtype: Any, size: Any = None, dynamic_size: Any = None, clear_after_read: Any = None,
                 tensor_array_name: Any = None, handle: Any = None, flow: Any = None, infer_shape: bool = True,
                 element_shape: Any = None, colocate_with_first_write_call: bool = True,
                 name: str | None = None):
        self._dtype = as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._clear_after_read = clear_after_read
        self._known = _Known(as_shape(element_shape), infer_shape)
        self._elements: list[Any] | None = None
        self._cleared: set[int] = set()
        self._flow: Any = None
        self._size: int | None = None  # if it is known while building
        if handle is not None:
            raise ValueError("TensorArray: a handle is an array of TensorFlow 1's runtime, which is not here. "
                             "Fix: give size= or flow=")
        if flow is not None:
            self._flow = flow
        elif size is None:
            raise ValueError(
                "Size must be declared for TensorArrays when eager execution is enabled."
                if current_graph() is None else "Argument `size` must be provided if argument `flow` is not provided."
            )
        elif current_graph() is None:
            self._elements = _places(whole(size))
        else:
            count = convert_to_tensor(size, int32)
            self._flow = raw.TensorListReserve(self._declared(), count, element_dtype=self._dtype,
                                               name=name or "TensorArrayV2")
            known = None if dynamic_size else constant_value(count)
            self._size = None if known is None else int(known)

    # -- properties ------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def flow(self) -> Any:
        """The list of tensors that the array holds, a tensor of dtype variant; in eager mode a placeholder."""
        return convert_to_tensor(0) if self._elements is not None else self._flow

    @property
    def handle(self) -> Any:
        """None: arrays are values here."""
        return None

    @property
    def element_shape(self) -> TensorShape:
        """The static shape of the elements, as far as it is known."""
        return TensorShape(self._known.shape)

    @property
    def dynamic_size(self) -> Any:
        """Whether writing beyond the end makes it longer."""
        return bool(self._dynamic_size) if self._elements is not None else self._dynamic_size

    def _declared(self) -> Any:
        shape = self._known.shape
        return np.array(-1, np.int32) if shape is None else np.array([-1 if n is None else n for n in shape], np.int32)

    def _parts(self) -> list[Any]:
        return [self.flow]

    def _with_parts(self, parts: Sequence[Any]) -> TensorArray:
        (flow,) = parts
        return self._with(flow)

    def _nothing_like(self) -> TensorArray:
        return TensorArray(self._dtype, 0, dynamic_size=True)

    def _with(self, flow: Any) -> TensorArray:
        """Makes an array like this one with another list."""
        new: TensorArray = TensorArray.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._flow = flow
        return new

    def _learn(self, shape: Shape, what: str) -> None:
        """Merges the shape of an element into the known one; raises ValueError if they are incompatible."""
        known = self._known
        merged = merge(known.shape, shape)
        if merged is _CONTRADICTION:
            text = (f"Incompatible shape for value ({shape_str(shape)}), expected ({shape_str(known.shape)})"
                    if self._elements is not None else
                    f"Inconsistent shapes: saw {shape_str(shape)} but expected {shape_str(known.shape)}")
            raise ValueError(f"TensorArray.{what}: {text}.\n  Asked for at {user_source(2)}\n"
                             "  Fix: write elements of one shape, or give infer_shape=False")
        if known.infer:
            known.shape = merged

    def _element(self, value: Any) -> Any:
        try:
            tensor = convert_to_tensor(value, None if hasattr(value, "dtype") else self._dtype)
        except TypeError:
            if self._elements is None:
                raise
            tensor = convert_to_tensor(value)
        if tensor.dtype is not self._dtype:
            if self._elements is not None:
                raise _invalid(f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                               f"{tensor.dtype.name}.\n  Asked for at {user_source(2)}\n"
                               f"  Fix: tf.cast(value, tf.{self._dtype.name})")
            if isinstance(value, AnyTensor) or hasattr(value, "op"):
                raise ValueError(f"TensorArray dtype is {self._dtype.name}, but the value is {tensor.dtype.name}.\n"
                                 f"  Asked for at {user_source(2)}\n"
                                 f"  Fix: tf.cast(value, tf.{self._dtype.name})")
            tensor = convert_to_tensor(np.asarray(value), self._dtype)
        return tensor

    def _returned(self) -> tuple[Sequence[Any], Callable[..., Any]]:
        if not self._known.infer:
            raise NotImplementedError(
                "a function returns a TensorArray whose elements may differ in shape.\n"
                f"  Asked for at {user_source(2)}\n  Fix: return ta.concat() and the lengths, or the elements"
            )
        dtype, shape, dynamic = self._dtype, self._known.shape, self._dynamic_size

        def again(stacked: Any) -> TensorArray:
            eager = current_graph() is None
            size = stacked._spec.shape[0] if eager else raw.StridedSlice(raw.Shape(stacked), [0], [1], [1],
                                                                         shrink_axis_mask=1)
            new = TensorArray(dtype, size, dynamic_size=dynamic, element_shape=shape, clear_after_read=False)
            return new.unstack(stacked)

        return [self.stack()], again

    # -- one element -----------------------------------------------------------------

    def read(self, index: Any, name: str | None = None) -> Any:
        """Reads the element at `index`.

        Args:
          index: an int, or a scalar int32 tensor.
          name: a name for the operation.
        Raises: InvalidArgumentError (in eager mode OutOfRangeError) for an index out of range, and for an element that
          was never written and whose shape is not known; else that is zeros. A compiled loop cannot raise: there, as
          in TensorFlow's compiled loops, an index out of range is replaced by the nearest valid one.
        """
        if self._elements is not None:
            return self._read_eagerly(whole(index))
        with name_scope(name, "TensorArrayV2Read"):
            return raw.TensorListGetItem(self._flow, convert_to_tensor(index, int32), self._declared(),
                                         element_dtype=self._dtype)

    def _read_eagerly(self, i: int) -> Any:
        assert self._elements is not None
        if not 0 <= i < len(self._elements):
            raise OutOfRangeError(None, None, f"Tried to read from index {i} but array size is: {len(self._elements)}. "
                                              "Fix: make the TensorArray larger")
        if i in self._cleared:
            raise _invalid(f"Could not read index {i} twice because it was cleared after a previous read (perhaps try "
                           "setting clear_after_read = false?)")
        element = self._elements[i]
        if element is None:
            element = self._elements[i] = self._zeros()
        if self._clear_after_read is not False:
            self._elements[i] = None
            self._cleared.add(i)
        return element

    def _zeros(self) -> Any:
        shape = self._known.shape
        if shape is None or None in shape:
            raise ValueError(f"Cannot convert a partially known TensorShape {TensorShape(shape)} to a Tensor: the "
                             "element was never written. Fix: write it first, or give element_shape=")
        # Silenced: the shape is known.
        return convert_to_tensor(np.zeros(shape, self._dtype.np_dtype), self._dtype)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Returns the array with `value` at `index`.

        Args:
          index: an int, or a scalar int32 tensor.
          value: a tensor of the array's dtype.
          name: a name for the operation.
        Raises: ValueError for another dtype or shape; InvalidArgumentError (in eager mode OutOfRangeError) for an index
          out of range, unless the size is dynamic.
        """
        tensor = self._element(value)
        if self._elements is not None:
            self._write_eagerly(whole(index), tensor)
            return self
        self._learn(tensor._spec.shape, "write")
        with name_scope(name, "TensorArrayV2Write"):
            flow = raw.TensorListSetItem(self._flow, convert_to_tensor(index, int32), tensor,
                                         resize_if_index_out_of_bounds=bool(self._dynamic_size))
        return self._with(flow)

    def _write_eagerly(self, i: int, tensor: Any) -> None:
        assert self._elements is not None
        if i >= len(self._elements) and self._dynamic_size:
            self._learn(tensor._spec.shape, "write")
            self._elements.extend([None] * (i + 1 - len(self._elements)))
        if not 0 <= i < len(self._elements):
            raise OutOfRangeError(None, None, f"Tried to write to index {i} but array is not resizeable and size is: "
                                              f"{len(self._elements)}. Fix: give dynamic_size=True")
        self._learn(tensor._spec.shape, "write")
        self._elements[i] = tensor
        self._cleared.discard(i)

    # -- all elements ----------------------------------------------------------------

    def _nothing(self, shape: Any) -> Any:
        """Returns no elements of a shape, a vector if it is not known."""
        known = () if shape is None or None in shape else shape
        return convert_to_tensor(np.zeros([0, *known], self._dtype.np_dtype), self._dtype)

    def stack(self, name: str | None = None) -> Any:
        """Returns all elements in one tensor (n, *E); unwritten ones are zeros."""
        with name_scope(name, "TensorArrayV2Stack"):
            if self._elements is not None:
                self._elements = [self._zeros() if e is None else e for e in self._elements]
                return raw.Pack(self._elements, axis=0) if self._elements else self._nothing(self._known.shape)
            tensor = raw.TensorListStack(self._flow, self._declared(), element_dtype=self._dtype)
        if self._size is not None and tensor._spec.shape is not None:
            tensor.set_shape([self._size, *tensor._spec.shape[1:]])
        return tensor

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Returns the elements at `indices` (m,) in one tensor (m, *E)."""
        if self._elements is not None:
            found = [self._read_eagerly(int(i)) for i in np.asarray(convert_to_tensor(indices))]
            return raw.Pack(found, axis=0) if found else self._nothing(None)
        with name_scope(name, "TensorArrayV2Gather"):
            return raw.TensorListGather(self._flow, convert_to_tensor(indices, int32), self._declared(),
                                        element_dtype=self._dtype)

    def concat(self, name: str | None = None) -> Any:
        """Concatenates all elements along their first axis; they may differ in size there."""
        if self._elements is not None:
            elements = [self._zeros() if e is None else e for e in self._elements]
            for i, e in enumerate(elements):
                if not e._spec.shape:
                    raise _invalid(f"Concat saw a scalar shape at index {i} but requires at least vectors. "
                                   "Fix: use stack()")
            if not elements:
                raise _invalid("Concat of an array without elements. Fix: write one")
            return raw.ConcatV2(elements, 0)
        shape = self._known.shape
        open_ended = None if shape is None else (None, *shape[1:]) if shape else ()
        declared = np.array(-1 if open_ended is None else [-1 if n is None else n for n in open_ended], np.int32)
        if shape and shape[0] is not None:
            declared[0] = shape[0]
        with name_scope(name, "TensorArrayV2Concat"):
            return raw.TensorListConcatV2(self._flow, declared, np.zeros(0, np.int64), element_dtype=self._dtype)[0]

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Returns an array of the rows of `value` (n, *E)."""
        tensor = self._element(value)
        shape = tensor._spec.shape
        if shape == ():
            raise ValueError(f"Cannot unstack a scalar.\n  Asked for at {user_source(2)}\n"
                             "  Fix: give a tensor of one or more axes")
        if shape is not None:
            self._learn(shape[1:], "unstack")
        if self._elements is not None:
            rows = list(raw.Unpack(tensor, num=shape[0], axis=0))
            if len(rows) > len(self._elements) and not self._dynamic_size:
                raise ValueError(f"Cannot unstack {len(rows)} tensors into a TensorArray of static size "
                                 f"{len(self._elements)}. Fix: give that size, or dynamic_size=True")
            self._elements, self._cleared = rows, set()
            return self
        with name_scope(name, "TensorArrayUnstack"):
            flow = raw.TensorListFromTensor(tensor, self._declared())
            if self._dynamic_size:
                flow.op.attrs = {**flow.op.attrs, "_may_grow": True}
            new = self._with(flow)
        new._size = None if shape is None or self._dynamic_size else shape[0]
        return new

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Returns the array with the rows of `value` (m, *E) at `indices` (m,)."""
        tensor = self._element(value)
        shape = tensor._spec.shape
        if shape is not None:
            self._learn(shape[1:], "scatter")
        if self._elements is not None:
            places = np.asarray(convert_to_tensor(indices))
            for i, row in zip(places, raw.Unpack(tensor, num=len(places), axis=0), strict=True):
                self._write_eagerly(int(i), row)
            return self
        with name_scope(name, "TensorArrayV2Scatter"):
            flow = raw.TensorListScatterIntoExistingList(self._flow, tensor, convert_to_tensor(indices, int32))
        new = self._with(flow)
        new._size = None
        return new

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Returns an array of pieces of `value`, cut along its first axis into pieces of `lengths`."""
        tensor = self._element(value)
        lengths = convert_to_tensor(lengths)
        shape = tensor._spec.shape
        if self._elements is not None:
            return self._split_eagerly(tensor, np.asarray(lengths))
        known = constant_value(lengths)
        even = known is not None and len(set(known.tolist())) == 1
        if shape is not None:
            self._learn((int(known[0]) if even and known is not None else None, *shape[1:]), "split")
        if lengths.dtype is not int64:
            lengths = raw.Cast(lengths, DstT=int64)
        with name_scope(name, "TensorArraySplit"):
            pieces = np.array(-1 if shape is None else [-1, *(-1 if n is None else n for n in shape[1:])], np.int32)
            new = self._with(raw.TensorListSplit(tensor, pieces, lengths))
        new._size = None
        return new

    def _split_eagerly(self, tensor: Any, lengths: Any) -> TensorArray:
        assert self._elements is not None
        if lengths.sum() != tensor._spec.shape[0]:
            raise _invalid("Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                           f"{lengths.sum()} and value's shape is: {list(tensor._spec.shape)}. "
                           "Fix: give lengths that add up")
        if len(lengths) != len(self._elements) and not self._dynamic_size:
            raise _invalid(f"TensorArray's size is not equal to the size of lengths ({len(self._elements)} vs. "
                           f"{len(lengths)}), and the TensorArray is not marked as dynamically resizeable. "
                           "Fix: give that size")
        self._elements = list(raw.SplitV(tensor, lengths.astype(np.int64), 0, num_split=len(lengths)))
        self._cleared = set()
        return self

    # -- the rest --------------------------------------------------------------------

    def size(self, name: str | None = None) -> Any:
        """Returns the number of elements, a scalar int32."""
        if self._elements is not None:
            return convert_to_tensor(len(self._elements), int32)
        return raw.TensorListLength(self._flow, name=name)

    def identity(self) -> TensorArray:
        """Returns the same array."""
        return self if self._elements is not None else self._with(raw.Identity(self._flow))

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> Any:
        """Raises NotImplementedError: `tf.gradients` and `tf.GradientTape` differentiate through arrays."""
        raise NotImplementedError("TensorArray.grad is not supported: gradients flow through what is written and read "
                                  "without it. Fix: call tf.gradients on what the array gives")

    def close(self, name: str | None = None) -> Any:
        """Frees the array in eager mode; in a graph there is nothing to free."""
        if self._elements is None:
            return raw.NoOp(name=name)
        self._elements = []
        return None


def _places(size: int) -> list[Any]:
    try:
        return [None] * size
    except (MemoryError, OverflowError):
        raise ResourceExhaustedError(None, None, f"TensorArray: there is no memory for {size} elements.\n"
                                     f"  Called at {user_source(2)}\n  Fix: {MORE_MEMORY}") from None
