"""Storage of variables: `Cell`, and the eager handle that refers to one."""

from __future__ import annotations

import contextlib
import operator
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from graphgrad.errors import FailedPreconditionError, InvalidArgumentError
from graphgrad.ir import dtypes
from graphgrad.ir.blocking import located
from graphgrad.ir.dtypes import DType
from graphgrad.ir.eager import EagerTensor, make_handles_with
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.shape import Shape

_try_acquire, _release = operator.methodcaller("acquire", False), operator.methodcaller("release")


FIRST_VALUE = "_first_value"  # the attribute of an operation whose resource has a value from the beginning

_to_numpy: list[Callable[[Any], Any]] = []


def read_buffers_with(to_numpy: Callable[[Any], Any]) -> None:
    """Declares what makes arrays of buffers; the executor's backend, which makes the buffers, does.

    Args:
      to_numpy: a function from a buffer to an array.
    """
    _to_numpy[:] = [to_numpy]


class Cell:
    """The storage of one variable; a kernel gets it for an input of type `resource`.

    Attributes:
      held: the value as a NumPy array or as a buffer of the device; None before the variable is initialized.
      name: the variable's name, for messages.
      dtype: the dtype of `value`.
      shape: the static shape that the value must have.
      lock: held to change the value, from reading the old one on; not needed only to read.
      layout: how the value lies on a mesh of devices, a `mesh_layout.MeshLayout`; None for one device.
      slot_layout: the same for what optimizers keep beside it; None for that of `layout`.
    """

    __slots__ = ("held", "name", "dtype", "shape", "lock", "layout", "slot_layout", "__weakref__")

    def __init__(self, value: Any = None, name: str = "", dtype: DType = dtypes.float32, shape: Shape = None):
        self.held = value
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.lock = threading.RLock()
        self.layout: Any = None
        self.slot_layout: Any = None

    @property
    def value(self) -> Any:
        """The value as a NumPy array; None before the variable is initialized."""
        held = self.held
        return held if held is None or isinstance(held, (np.ndarray, np.generic)) else self.use(_to_numpy[0], held)

    @value.setter
    def value(self, value: Any) -> None:
        self.held = value

    def use(self, function: Callable[[Any], Any], held: Any) -> Any:
        """Applies a function to the value, or to the next one if another thread is just overwriting this one.

        Args:
          function: raises RuntimeError or MemoryError for a buffer that is gone.
          held: the value.
        """
        while True:
            try:
                return function(held)
            except (RuntimeError, MemoryError):
                # In one call of C code, so that no interrupt leaves it locked.
                if not list(map(_release, filter(_try_acquire, (self.lock,)))):
                    time.sleep(0.0001)
                elif self.held is held:  # not being written
                    raise
                held = self.held

    def replace(self, held: Any, by: Any) -> None:
        """Replaces the value by an equal one stored elsewhere, unless it has changed meanwhile."""
        if self.held is held and list(filter(_try_acquire, (self.lock,))):
            try:
                if self.held is held:
                    self.held = by
            finally:
                self.lock.release()

    def __reduce__(self) -> Any:
        return type(self), (self.value, self.name, self.dtype, self.shape)  # a copy has a separate lock

    def __repr__(self) -> str:
        return f"<Cell '{self.name}' {self.dtype.name} {'uninitialized' if self.held is None else 'initialized'}>"


class CellInRun(Cell):
    """A variable as it is in the middle of a run, for functions that an operation of this run calls.

    Attributes:
      ref: what the operation got for the variable's handle; None outside of it.
      stored: the variable between runs.
    """

    __slots__ = ("ref", "stored")

    def __init__(self, ref: Any, stored: Cell):
        cell = ref.cell
        self.ref, self.stored = ref, stored
        self.name, self.dtype, self.shape, self.lock = cell.name, cell.dtype, cell.shape, cell.lock
        self.layout, self.slot_layout = cell.layout, cell.slot_layout

    @property
    def held(self) -> Any:
        """The value."""
        return self.stored.held if self.ref is None else self.ref.value

    @held.setter
    def held(self, value: Any) -> None:
        if self.ref is None:
            self.stored.held = value
        else:
            self.ref.value = value


class VariablesInRun(dict[int, CellInRun]):
    """The variables that functions called in a run use, by the ids of their cells."""

    @contextlib.contextmanager
    def seen_by(self, refs: Iterable[Any]) -> Iterator[None]:
        """Takes the variables as an operation sees them, while it runs.

        Args:
          refs: an operation's inputs; those that are no variables are skipped, as are tables, which runs
            change at once.
        """
        for ref in refs:
            cell = getattr(ref, "cell", None)
            if cell is None or cell.dtype is dtypes.variant:
                continue
            stored = getattr(cell, "stored", cell)
            if id(stored) in self:
                self[id(stored)].ref = ref
            else:
                self[id(stored)] = CellInRun(ref, stored)
        try:
            yield
        finally:
            for variable in self.values():
                variable.ref = None

    def __call__(self, cell: Cell) -> Cell:
        """Returns what stands for a cell."""
        return self.get(id(cell), cell)


def kept(ref: Any, kind: Any, what: str) -> Any:
    """Returns the resource of a handle, if it is of the kind that an operation needs.

    Args:
      ref: the kernel's argument for the handle.
      kind: a class, or several.
      what: a name of the kind, such as 'a queue'.
    Raises: FailedPreconditionError if there is nothing; InvalidArgumentError if it is of another kind.
    """
    held = getattr(ref, "value", None)
    if held is None:
        raise located(FailedPreconditionError, f"the handle does not refer to {what} that exists",
                      "run what makes or initializes it first")
    thing = held.item() if isinstance(held, np.ndarray) and held.dtype == object and held.size == 1 else held
    if not isinstance(thing, kind):
        raise located(InvalidArgumentError, f"Trying to access as {what} what is of another kind "
                      f"({getattr(getattr(ref, 'cell', ref), 'name', '') or type(thing).__name__})",
                      f"give the handle of {what}")
    return thing


class Handle(EagerTensor):
    """The eager tensor of dtype resource that refers to a `Cell`; a scalar."""

    __slots__ = ()
    _variable: Any  # its variable
    _device = ""  # where it was asked to be, by its full name

    def __init__(self, cell: Cell):
        super().__init__(cell, dtypes.resource)

    @property
    def _spec(self) -> Spec:
        return Spec.of(dtypes.resource, ())

    @property
    def device(self) -> str:
        """The device of the variable."""
        return self._device or super().device

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape=(), dtype=resource, numpy=<{self._value!r}>>"

    __str__ = __repr__


def _handle(name: str, thing: Any) -> Handle:
    """Returns the handle of a resource that an op has created."""
    thing.name = name
    held = np.empty((), object)
    held[()] = thing
    return Handle(Cell(held, name, dtypes.variant, ()))


make_handles_with(_handle)
