"""What a `Saver` saves: variables, tables and other objects, each with its names in a checkpoint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import FailedPreconditionError, InvalidArgumentError
from graphgrad.executor.backend.mesh import MeshBuffer
from graphgrad.executor.plan.meshes import own_pieces
from graphgrad.executor.plan.placement import default_placement
from graphgrad.executor.runtime.session import BaseSession
from graphgrad.frontend.variables.partitioned import PartitionedVariable
from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.context import executing_eagerly, get_default_graph
from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import compatible, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.values.mesh_layout import of_variable
from graphgrad.ir.values.split_value import SplitValue
from graphgrad.ir.values.variable_store import Cell

from .bundle import BundleReader
from .bundle_messages import Slice
from .checkpoint_ops import slice_of
from .saveable import Saveable
from .saveable_object import SaveableObject


class SavedTensor(NamedTuple):
    """A tensor in a checkpoint.

    Attributes:
      name: its name.
      dtype: its dtype.
      part: the part of a whole that it is; None for all of it.
    """

    name: str
    dtype: DType
    part: Slice | None


class Item(ABC):
    """Something that is saved.

    Args:
      name: its name in checkpoints.
      value: the variable or object.
      part: the part of a variable.
    """

    def __init__(self, name: str, value: Any, part: Slice | None = None):
        self.name, self.value, self.part = name, value, part

    @property
    @abstractmethod
    def graph(self) -> Any:
        """The graph that it belongs to; None in eager mode."""

    @abstractmethod
    def entries(self) -> list[SavedTensor]:
        """Returns the tensors that a checkpoint holds of it."""

    @abstractmethod
    def arrays(self, sess: Any) -> list[Any]:
        """Returns the values of these tensors; raises FailedPreconditionError if there are none."""

    @abstractmethod
    def read(self, bundle: BundleReader, sess: Any, reshape: bool) -> Any:
        """Reads and checks the state; `reshape` allows other shapes with as many elements."""

    @abstractmethod
    def set(self, state: Any, sess: Any) -> None:
        """Sets the state that `read` returned."""


class VariableItem(Item):
    """A variable, or a part of a partitioned one."""

    @property
    def graph(self) -> Any:
        """The graph that it belongs to; None in eager mode."""
        return self.value._graph

    def entries(self) -> list[SavedTensor]:
        """Returns the one tensor."""
        return [SavedTensor(self.name, self.value.dtype, self.part)]

    def arrays(self, sess: Any) -> list[Any]:
        """Returns the value; raises FailedPreconditionError if there is none."""
        cell = cell_of(self.value, sess)
        if cell.held is None:
            raise FailedPreconditionError(
                None, getattr(self.value, "_initializer_op", None),
                f"Saver cannot save variable {cell.name}: it was not initialized. Attempting to use uninitialized "
                f"value {cell.name}\n  Saved at {user_source(2)}\n"
                "  Fix: run tf.global_variables_initializer() in this session first")
        return [saved_value(self.value, sess)]

    def read(self, bundle: BundleReader, sess: Any, reshape: bool) -> Any:
        """Reads and checks the value."""
        name, cell = self.name, cell_of(self.value, sess)
        if bundle.has(name) and bundle.dtype(name) is not cell.dtype:
            raise _mismatch(f"tensor_name = {name}; expected dtype {cell.dtype.name} does not equal original dtype "
                            f"{bundle.dtype(name).name}")
        if bundle.has(name) and self.part is None and not compatible(cell.shape, bundle.shape(name)) and not reshape:
            raise _mismatch("Assign requires shapes of both tensors to match. "
                            f"lhs shape= {shape_str(cell.shape)} rhs shape= {shape_str(bundle.shape(name))}; "
                            f"variable {cell.name}, tensor_name = {name}")
        if self.part is None and not reshape:
            return read_value(bundle, name, self.value, sess)
        value = bundle.read(name, self.part)
        return value.reshape(cell.shape) if reshape and cell.shape is not None else value

    def set(self, state: Any, sess: Any) -> None:
        """Sets the value."""
        set_value(self.value, state, sess)


def _mismatch(problem: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        None, None, "Restoring from checkpoint failed. This is most likely due to a mismatch between the "
        f"current graph and the graph from the checkpoint.\n  {problem}\n  Restored at {user_source(2)}\n"
        "  Fix: make the variable as it was saved, or leave it out of var_list")


class TableItem(Item):
    """A table: its keys and its values."""

    @property
    def handle(self) -> Any:
        """The table's handle."""
        return self.value.resource_handle

    @property
    def graph(self) -> Any:
        """The graph that it belongs to; None in eager mode."""
        return None if isinstance(self.handle, EagerTensor) else self.handle.graph

    def entries(self) -> list[SavedTensor]:
        """Returns keys and values."""
        dtypes = self.value.key_dtype, self.value.value_dtype
        return [SavedTensor(self.name + p.suffix, d, None) for p, d in zip(self.value._pieces, dtypes, strict=True)]

    def arrays(self, sess: Any) -> list[Any]:
        """Returns keys and values."""
        check_session(self.graph, sess, f"The table {self.value.name}")
        return [array for _, array in self.value._state(sess)]

    def read(self, bundle: BundleReader, sess: Any, reshape: bool) -> Any:
        """Reads the entries."""
        check_session(self.graph, sess, f"The table {self.value.name}")
        return self.value._read_state(bundle, self.name)

    def set(self, state: Any, sess: Any) -> None:
        """Sets the entries."""
        self.value._set_state(state, sess)


class ObjectItem(Item):
    """An object that says itself which tensors are saved, and how they are restored.

    Attributes:
      given: in a graph, the placeholders of the restored tensors.
      restoring: in a graph, the operation that restores.
    """

    def __init__(self, name: str, value: SaveableObject):
        super().__init__(name, value)
        self._specs = list(value.specs)
        self._graph = None if executing_eagerly() else get_default_graph()
        self.given: list[Any] = []
        self.restoring: Any = None
        if self._graph is not None:
            with name_scope(None, "save"):
                self.given = [raw.Placeholder(dtype=as_dtype(s.dtype), shape=None) for s in self._specs]
                made = value.restore(self.given, None)
            self.restoring = made if made is None or isinstance(made, Operation) else made.op

    @property
    def graph(self) -> Any:
        """The graph that it belongs to; None in eager mode."""
        return self._graph

    @property
    def tensors(self) -> list[Any]:
        """The tensors that are saved."""
        return [spec.tensor for spec in self._specs]

    def entries(self) -> list[SavedTensor]:
        """Returns the tensors that it names."""
        return [SavedTensor(s.name, as_dtype(s.dtype), slice_of(s.slice_spec or "")) for s in self._specs]

    def arrays(self, sess: Any) -> list[Any]:
        """Returns their values."""
        if self._graph is None:
            return [np.asarray(t._value) for t in self.tensors]
        check_session(self._graph, sess, f"The object {self.name}")
        return [np.asarray(a) for a in sess.run(self.tensors)]

    def read(self, bundle: BundleReader, sess: Any, reshape: bool) -> Any:
        """Reads the tensors."""
        check_session(self._graph, sess, f"The object {self.name}")
        for name, dtype, _ in self.entries():
            if bundle.has(name) and bundle.dtype(name) is not dtype:
                raise _mismatch(f"tensor_name = {name}; expected dtype {dtype.name} does not equal original dtype "
                                f"{bundle.dtype(name).name}")
        return [bundle.read(name, part) for name, _, part in self.entries()]

    def set(self, state: Any, sess: Any) -> None:
        """Restores the object."""
        if self._graph is None:
            self.value.restore([constant(a, d) for a, (_, d, _) in zip(state, self.entries(), strict=True)], None)
        elif self.restoring is not None:
            sess.run(self.restoring, dict(zip(self.given, state, strict=True)))


def cell_of(variable: Any, sess: Any) -> Cell:
    """Returns the storage of a variable's value."""
    if variable._graph is None:
        cell: Cell = variable._handle._value
        return cell
    check_session(variable._graph, sess, f"Variable {variable.name}")
    found: Cell = sess._resolve(variable._handle)
    return found


def saved_value(variable: Any, sess: Any) -> Any:
    """Returns the value of a variable that has one, as checkpoints have it."""
    copies = getattr(variable, "_copies", None)
    if copies is None:
        cell = cell_of(variable, sess)
        return cell.use(_in_pieces, cell.held) if isinstance(cell.held, (MeshBuffer, SplitValue)) else cell.value
    return variable._joined([cell_of(copy, sess).value for copy in copies])


def _in_pieces(held: Any) -> Any:
    """Returns what is split over devices, or lies on several processes, in its pieces; other values as arrays."""
    pieces = held.split() if isinstance(held, MeshBuffer) else held
    return pieces if len(pieces.pieces) > 1 or pieces.own is not None else np.asarray(pieces)


def read_value(bundle: BundleReader, name: str, variable: Any, sess: Any = None) -> Any:
    """Reads the value of a variable: piece by piece, if it is split over devices, and in the checkpoint in pieces.

    Args:
      bundle: the checkpoint.
      name: the name there.
      variable: the variable.
      sess: in a graph, the session whose devices are to have the pieces.
    """
    layout = None if getattr(variable, "_copies", None) is not None else of_variable(variable._handle)
    if layout is None or not bundle.is_sliced(name) or layout.complaint(shape := bundle.shape(name)) is not None:
        return bundle.read(name)
    size = layout.part_shape(shape)
    place = default_placement if variable._graph is None else getattr(sess, "_place", None)
    return own_pieces(layout, shape, bundle.dtype(name).np_dtype, place,
                      lambda start: bundle.read(name, (shape, start, size)))


def set_value(variable: Any, array: Any, sess: Any) -> None:
    """Sets a variable, each of its copies if it has several, to a value of a checkpoint."""
    copies = getattr(variable, "_copies", None)
    if copies is None:
        cell_of(variable, sess).value = array
        return
    for copy, part in zip(copies, variable._parted(array), strict=True):
        cell_of(copy, sess).value = part


def check_session(graph: Any, sess: Any, what: str) -> None:
    """Raises TypeError, RuntimeError or ValueError unless a session can have the state of what a graph holds."""
    if graph is None:
        return
    if not isinstance(sess, BaseSession):
        raise TypeError(f"'sess' must be a Session; {sess}")
    if sess._closed:
        raise RuntimeError("Attempted to use a closed Session. Fix: save and restore inside its `with` block")
    if graph is not sess.graph:
        raise ValueError(f"{what} is not an element of this session's graph.\n"
                         "  Fix: make Saver and Session in the graph that holds it")


def items_of(var_list: Any) -> list[Item]:
    """Returns what is saved with its names in a checkpoint; raises ValueError for duplicate names."""
    if isinstance(var_list, Mapping):
        items = [i for name, value in sorted(var_list.items()) for i in _named(name, value)]
    elif isinstance(var_list, (Variable, PartitionedVariable, Saveable, SaveableObject)):
        items = list(_named(None, var_list))
    else:
        items = [i for value in var_list for i in _named(None, value)]
    seen: dict[str, set[Any]] = {}
    for item in items:
        offsets = seen.setdefault(item.name, set())
        offset = item.part[1] if item.part else None
        if offset in offsets or (offsets and (offset is None or None in offsets)):
            raise ValueError(f"At least two {_kind(item)}s have the same name: {item.name}\n"
                             f"  Asked for at {user_source(3)}\n"
                             f"  Fix: name them apart{', or give checkpoint=False' * isinstance(item, TableItem)}, or "
                             "give var_list as a dictionary")
        offsets.add(offset)
    return sorted(items, key=_order)


def _kind(item: Item) -> str:
    return "table" if isinstance(item, TableItem) else "variable" if isinstance(item, VariableItem) else "object"


def _order(item: Item) -> Any:
    return item.name, item.part[1] if item.part else ()


def _named(name: str | None, value: Any) -> Sequence[Item]:
    if isinstance(value, (PartitionedVariable, list, tuple)):
        return [i for part in value for i in _named(name, part)]
    if isinstance(value, SaveableObject):  # has its own names
        return [TableItem(value.name, value.op) if isinstance(value.op, Saveable) else ObjectItem(value.name, value)]
    if isinstance(value, Saveable) and hasattr(value, "resource_handle"):  # a table; without a name as in TensorFlow
        return [TableItem(name or "", value)]
    if not isinstance(value, Variable):
        raise TypeError("names_to_saveables must be a dict mapping string names to Tensors/Variables. "
                        f"Not a variable: {value}\n  Fix: give variables, as tf.global_variables() does")
    info = value._get_save_slice_info()
    if info is None:
        return [VariableItem(name or value._shared_name, value)]
    part = tuple(info.full_shape), tuple(info.var_offset), tuple(info.var_shape)
    return [VariableItem(name or info.full_name, value, part)]


def variables_in(items: Iterable[Item]) -> list[Any]:
    """Returns the variables among what is saved."""
    return [i.value for i in items if isinstance(i, VariableItem)]
