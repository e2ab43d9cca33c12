"""Eager mode: runs an op at once, with its NumPy kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, OpError
from graphgrad.ir.tensor import repr_html
from graphgrad.op_traits import size_of
from graphgrad.system.quiet_numpy import quietly
from graphgrad.system.subnormals import Subnormals

from . import tensor
from .blocking import WouldBlock
from .context import Inherited
from .dtypes import DType, as_dtype, string
from .inference import put_in_context
from .op_signature import Spec
from .opdef import OpDef
from .shape import TensorShape
from .source import user_source


class EagerTensor(tensor.Tensor):
    """A tensor with a value.

    Attributes:
      dtype: its `DType`.
      shape: its `TensorShape`.
    """

    __slots__ = ("_value", "dtype", "__dict__", "__weakref__")
    _repr_html_ = repr_html

    _static: Any  # the value in the form of `ir.constant_value`, where it is at hand

    def __init__(self, value: Any, dtype: DType | None = None):
        self._value = value
        self.dtype = dtype or as_dtype(value.dtype)

    @property
    def _spec(self) -> Spec:
        return Spec.of(self.dtype, getattr(self._value, "shape", ()))

    @property
    def shape(self) -> TensorShape:
        """The shape; always fully known."""
        return TensorShape(getattr(self._value, "shape", ()))

    def set_shape(self, shape: Any) -> None:
        """Checks that the value has the shape; raises ValueError if not."""
        self.shape.assert_is_compatible_with(shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._spec.shape or ())

    @property
    def device(self) -> str:
        """The device of the value."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    def numpy(self) -> Any:
        """Returns a NumPy copy of the value (a scalar for rank 0)."""
        array = np.asarray(self._value)
        return array[()] if array.ndim == 0 else array.copy()

    def cpu(self) -> EagerTensor:
        """Returns the tensor itself, which is in host memory."""
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = np.asarray(self._value)
        if copy or (dtype is not None and array.dtype != dtype):
            return np.array(array, dtype)
        view = array.view()
        view.flags.writeable = False
        return view

    def __int__(self) -> int:
        return int(self._value)

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            raise TypeError(f"Only integer scalar tensors can be used as an index, not {self.dtype.name}.")
        return int(self._value)

    def __float__(self) -> float:
        return float(self._value)

    def __complex__(self) -> complex:
        return complex(self._value)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._value)

    def __iter__(self) -> Iterator[EagerTensor]:
        if not self.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return self._rows()

    def _rows(self) -> Iterator[EagerTensor]:
        for i, row in enumerate(self._value):
            found: Any = EagerTensor(np.asarray(row), self.dtype)
            if listening.recorders:  # what tapes record has to be an operation
                found = self[i]
            yield found

    def __dlpack__(self, **options: Any) -> Any:
        return np.array(self._value).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return np.asarray(self._value).__dlpack_device__()

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec)

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self._value.shape}, dtype={self.dtype.name}, numpy={value_text(self._value, True)}>"

    def __str__(self) -> str:
        return f"tf.Tensor({value_text(self._value, False)}, shape={self._value.shape}, dtype={self.dtype.name})"


def value_text(value: Any, is_repr: bool) -> str:
    """Formats a value within the text of a tensor or variable."""
    if not hasattr(value, "__array__") and not np.isscalar(value):
        return "<unprintable>"
    array = np.asarray(value)
    if array.ndim == 0:
        return repr(array[()]) if array.dtype == object else str(array[()])
    text = repr(array) if is_repr else str(array)
    return "\n" + text if is_repr and "\n" in text else text


class Listening(Inherited):
    """Listeners for every op that this thread runs: f(opdef, inputs, outputs, attrs, gradient). Tapes use it."""

    def __init__(self) -> None:
        self.recorders: list[Callable[..., None]] = []


listening = Listening()
# The recorders of persistent tapes, which may record the gradients of their own records.
persistent: list[Callable[..., None]] = []
# Other listeners, not tapes: f(opdef, inputs, outputs).
watchers: list[Callable[..., None]] = []
_CALLS_USERS = frozenset({"host", "python", "functional"})  # flags of ops whose kernels may call users' code
_next_rng: Callable[[dict[str, Any]], Any] | None = None
_handle: Callable[[str, Any], EagerTensor]  # see `make_handles_with`
_run_large: Callable[[OpDef, tuple[Any, ...], dict[str, Any], float], Any] | None = None  # see `run_large_with`
LEAST = 3e-4  # seconds: what takes less is always the kernel's
_run_functional: Callable[[OpDef, tuple[Any, ...], dict[str, Any]], Any]  # see `run_functional_with`


def draw_with(next_rng: Callable[[dict[str, Any]], Any]) -> None:
    """Declares what makes a fresh `rng` for a random op; `ops.random` does.

    Args:
      next_rng: a function from the op's attributes to the state of a counter, whose `keyed(opdef, inputs, size)`
        returns the record and the inputs of the op that draws the same numbers from a key.
    """
    global _next_rng
    _next_rng = next_rng


def run_functional_with(run: Callable[[OpDef, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Declares what runs an op that holds sub-graphs; `frontend.core_hooks` does.

    Args:
      run: a function from the op record, the inputs and the attributes to the values of its outputs.
    """
    global _run_functional
    _run_functional = run


def run_large_with(run: Callable[[OpDef, tuple[Any, ...], dict[str, Any], float], Any]) -> None:
    """Declares what runs operations on large arrays; `frontend.core_hooks` does.

    Args:
      run: a function from the op record, the inputs, the attributes and the seconds that the kernel takes to the values
        of the outputs, or to None if the kernel shall compute them.
    """
    global _run_large
    _run_large = run


def make_handles_with(handle: Callable[[str, Any], EagerTensor]) -> None:
    """Declares what makes the handle of a resource that an op has created, such as a queue; `ir.values` does.

    Args:
      handle: a function from the op type and the resource to the handle.
    """
    global _handle
    _handle = handle


def orders(recorders: Sequence[Callable[..., None]]) -> list[int]:
    """Returns, for each of some recorders, the likely order of derivatives of what runs now.

    Those in `persistent` may need more.
    """
    found, order = [], 0
    for record in reversed(recorders):
        order += 2 if record in persistent else 1
        found.append(order)
    return found[::-1]


def execute(
    opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any], gradient: Any = None
) -> tuple[EagerTensor, ...]:
    """Runs an op on eager tensors.

    Args:
      opdef: the op's record.
      inputs: the flat tuple of `EagerTensor`.
      attrs: the explicit attributes.
      gradient: a gradient function for this one execution, instead of the op's.
    Raises: TensorFlow's error for invalid inputs.
    """
    try:
        inferred = opdef.infer(inputs, attrs)
        full = {**inferred.type_attrs, **attrs} if attrs else inferred.type_attrs
        kernel_attrs = {k: full[k] if k in full else opdef.attrs[k] for k in opdef.kernel_attrs}
        if "random" in opdef.flags and _next_rng is not None:
            kernel_attrs["rng"] = _next_rng(full)
        if "functional" in opdef.flags:
            result = _run_functional(opdef, inputs, full)
        else:
            rng = kernel_attrs.get("rng")
            result = _as_program(opdef, inputs, attrs, inferred.specs, rng) if opdef.eager_seconds else None
            if result is None:
                result = _computed(opdef, inputs, full, kernel_attrs)
        if "handle" in opdef.flags:
            return (_handle(opdef.name, *result),)
        outputs = tuple(
            [
                EagerTensor(np.asarray(r, s.dtype.np_dtype) if s.dtype.kind != "o" or s.dtype is string else r, s.dtype)
                for r, s in zip(result, inferred.specs, strict=True)
            ]
        )
    except Complaint as complaint:
        raise put_in_context(opdef, complaint, opdef.name, inputs, eager=True) from complaint.__cause__
    except WouldBlock:
        raise
    except Exception as error:
        found = _explained(opdef, inputs, error)
        if found is error:
            raise
        raise found from error
    if listening.recorders:
        for record in tuple(listening.recorders):
            record(opdef, inputs, outputs, full, gradient)
    for watch in watchers:
        watch(opdef, inputs, outputs)
    return outputs


def _as_program(opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any], specs: Sequence[Spec], rng: Any) -> Any:
    """Runs a large operation as a program; returns the values of the outputs, None if it is the kernel's."""
    sizes = [getattr(t._value, "size", 0) for t in inputs]
    sizes += [size_of(spec.shape, 0) for spec in specs]
    seconds = opdef.eager_seconds * max(sizes, default=0)
    if seconds < LEAST or _run_large is None or not (opdef.eager_where is None or opdef.eager_where(specs[0].shape)):
        return None
    if opdef.keyed:
        opdef, inputs = rng.keyed(opdef, inputs, sizes[-1])
        attrs = {k: v for k, v in attrs.items() if k not in ("seed", "seed2")}
    return _run_large(opdef, inputs, attrs, seconds)


def _computed(opdef: OpDef, inputs: tuple[Any, ...], full: dict[str, Any], attrs: dict[str, Any]) -> Any:
    """Runs the kernel; returns the values of the outputs.

    Args:
      opdef, inputs: as for `execute`.
      full: the attributes, those of the signature included.
      attrs: the kernel's keyword arguments.
    """
    values = opdef.pack([t._value for t in inputs], full)
    kernel = opdef.host_kernel or opdef.kernel
    if opdef.data_movement and not opdef.assigns:  # no arithmetic: none of its modes matters
        return opdef.unpack(kernel(np, *values, **attrs))
    if not opdef.assigns and not opdef.flags & _CALLS_USERS:
        return opdef.unpack(quietly(functools.partial(kernel, np, **attrs) if attrs else kernel,
                                    values if attrs else (np, *values)))
    # As in graphs: only user functions see subnormal numbers.
    with np.errstate(all="ignore"), Subnormals(flushed="host" not in opdef.flags):
        if opdef.assigns:
            return _in_turn(_locks(inputs), opdef, values, attrs)
        return opdef.unpack(kernel(np, *values, **attrs))


def _explained(opdef: OpDef, inputs: tuple[Any, ...], error: Exception) -> Exception:
    """Returns TensorFlow's error for what a kernel raised; the error itself where the user's own function raised it."""
    from .kernel_errors import CALLS_BACK, failure

    if opdef.flags & CALLS_BACK and not isinstance(error, OpError):
        return error
    return failure(opdef, opdef.name, error, opdef.operands(inputs), str(user_source() or ""))


def _locks(inputs: tuple[Any, ...]) -> list[Any]:
    """Returns the locks of variables, the one to take first last, in the same order for all threads."""
    cells = {id(t._value): t._value for t in inputs if t.dtype.name == "resource"}
    return [cells[i].lock for i in sorted(cells, reverse=True)]


def _in_turn(locks: list[Any], opdef: OpDef, values: Any, attrs: dict[str, Any]) -> Any:
    """Runs a kernel with its variables locked."""
    if locks:
        with locks.pop():
            return _in_turn(locks, opdef, values, attrs)
    return opdef.unpack(opdef.bind_kernel(np)(np, *values, **attrs))
