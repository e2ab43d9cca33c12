"""Variables: tensors whose state outlives a run.

A variable is a handle of dtype resource. One read is made with the variable: it is what
`Session.run` fetches and feeds, and what uses of the variable as a tensor share, as long as
nothing can have changed the variable. After an assignment was built (or the handle was given
away), each use adds a read of its own, which sees the new value: in a run, reads and
assignments happen in the order in which they were built.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.frontend.graph.operators import getitem, install
from graphgrad.frontend.tracking.trackable import Trackable
from graphgrad.ir.context import current_graph
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.eager import value_text
from graphgrad.ir.funcgraph import around
from graphgrad.ir.graph import Graph, Operation, listening
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import _CONTRADICTION, Shape, TensorShape, as_shape, merge, shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.tensor import TensorOperators, TensorReference, repr_html
from graphgrad.ir.values.variable_store import Cell, Handle

from .references import References, is_reference, make_reference
from .variable_assignments import Assignments, VariableSlice
from .variable_creation import Creation, creation_numbers
from .variable_creators import Created
from .variable_settings import SaveSliceInfo, VariableAggregation, VariableAggregationV2, VariableSynchronization
from .variable_spec import VariableSpec

_NO_VALUE = ("The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a "
             "`variable_def`. You provided neither.")


class Variable(Assignments, Trackable, TensorOperators, metaclass=Created):
    """A tensor whose value persists between runs and is changed by assignments.

    Args:
      initial_value: what to convert to the first value, or a function that gives it.
      trainable: whether optimizers update it by default; True if not given.
      validate_shape: whether the shape is fixed to that of the initial value.
      caching_device: accepted; without effect.
      variable_def, import_scope: a `VariableDef`: the object refers to the variable of the graph whose operations it
        names, within that scope.
      name: a name; made unique in a graph.
      dtype: the dtype; that of the initial value if not given.
      constraint: a function from the value to a permitted value, applied by optimizers.
      synchronization, aggregation: see the enums; recorded only.
      shape: a shape less definite than the initial value's, where assignments may change it.
    Raises: ValueError without an initial value, or if it has not the shape; TypeError if it
      does not fit the dtype.
    Gradient: `gradients` takes variables as xs; IndexedSlices where only rows were gathered.
    Reference: TensorFlow 2.21 `tf.Variable`.

    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> _ = sess.run(v.initializer)
    >>> sess.run(v.assign_add([1.0, 1.0]))
    array([2., 3.], dtype=float32)
    """

    SaveSliceInfo = SaveSliceInfo
    _repr_html_ = repr_html
    __array_priority__ = 100
    _needs_shape = False  # whether an initial value of unknown shape is an error
    _graph: Graph | None  # None in eager mode
    _handle: Any
    _handle_name: str
    _dtype: DType
    _shape: Shape

    def __init__(self, initial_value: Any = None, trainable: Any = None, validate_shape: bool = True,
                 caching_device: Any = None, name: str | None = None, variable_def: Any = None, dtype: Any = None,
                 import_scope: Any = None, constraint: Any = None,
                 synchronization: Any = VariableSynchronization.AUTO, aggregation: Any = VariableAggregationV2.NONE,
                 shape: Any = None, experimental_enable_variable_lifting: bool = True):
        if variable_def is not None:
            self._stand_for(variable_def, import_scope, initial_value)
            return
        self._create(initial_value, trainable, None, validate_shape, name, dtype, constraint, synchronization,
                     aggregation, shape)

    # -- creation ------------------------------------------------------------------

    def _stand_for(self, variable_def: Any, import_scope: str | None, initial_value: Any) -> None:
        """Makes this object refer to an existing variable of the graph."""
        from .variable_protos import stand_for

        if initial_value is not None:
            raise ValueError("The variable_def and initial_value args to `tf.Variable` are mutually exclusive, but got "
                             f"both: variable_def={variable_def}, initial_value={initial_value}. Fix: give one")
        if current_graph() is None:
            raise ValueError("Creating a `tf.Variable` with a `variable_def` arg is not supported when eager execution "
                             f"is enabled. Got: variable_def={variable_def}. Fix: give an initial value")
        stand_for(self, variable_def, f"{import_scope}/" if import_scope else "")

    def _create(self, initial_value: Any, trainable: Any, collections: Any, validate_shape: bool, name: str | None,
                dtype: Any, constraint: Any, synchronization: Any, aggregation: Any, shape: Any) -> None:
        if initial_value is None:
            raise ValueError(f"{_NO_VALUE}\n  Asked for at {user_source(2)}\n  Fix: tf.Variable(tf.zeros(shape))")
        if collections is not None and not isinstance(collections, (list, tuple, set)):
            raise ValueError("collections argument to Variable constructor must be a list, tuple, or set. "
                             f"Got {collections} of type {type(collections)}")
        if constraint is not None and not callable(constraint):
            raise ValueError("Argument `constraint` must be None or a callable. "
                             f"Got a {type(constraint)}:  {constraint}")
        on_read = getattr(synchronization, "name", "") == "ON_READ"
        self._trainable = bool(not on_read if trainable is None else trainable)
        self._constraint = constraint
        self._synchronization = synchronization
        self._aggregation = aggregation
        self._save_slice_info: Any = None
        self._initial_value: Any = None
        self._initializer_op: Operation | None = None
        self._snapshot: Any = None
        self._changeable = False  # whether there may be an operation that changes the value
        self._number = next(creation_numbers)
        wanted = None if dtype is None else as_dtype(dtype)
        Creation(self, initial_value, validate_shape, name, wanted, shape, collections).run()

    # -- properties ----------------------------------------------------------------

    @property
    def handle(self) -> Any:
        """The tensor of dtype resource that refers to the variable."""
        self._changeable = True
        return self._handle

    @property
    def name(self) -> str:
        """`<name of the operation>:0`."""
        return f"{self._handle_name}:0"

    @property
    def _shared_name(self) -> str:
        return self._handle_name

    @property
    def _identity(self) -> TensorReference:
        """What it is known by where something is kept for each variable, such as slots."""
        reference: TensorReference = self._handle.ref()
        return reference

    @property
    def _unique_id(self) -> str:
        return self._handle_name if self._graph is not None else f"{self._handle_name}_{id(self._handle)}"

    @property
    def dtype(self) -> DType:
        """The dtype of the value."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape of the value."""
        return TensorShape(self._shape)

    def get_shape(self) -> TensorShape:
        """Returns the static shape of the value; the same as `shape`."""
        return TensorShape(self._shape)

    def set_shape(self, shape: Any) -> None:
        """Merges known dimensions into the static shape; raises ValueError if they contradict it."""
        merged = merge(self._shape, as_shape(shape))
        if merged is _CONTRADICTION:
            raise ValueError(f"Tensor's shape {shape_str(self._shape)} is not compatible with supplied shape "
                             f"{shape_str(as_shape(shape))}.")
        self._shape = merged

    @property
    def graph(self) -> Graph:
        """The graph it belongs to; raises AttributeError in eager mode."""
        if self._graph is None:
            raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")
        return self._graph

    @property
    def op(self) -> Operation:
        """The operation of the handle; raises AttributeError in eager mode."""
        if self._graph is None:
            raise AttributeError("Tensor.op is undefined when eager execution is enabled.")
        op: Operation = self._handle.op
        return op

    @property
    def device(self) -> str:
        """The requested device, '' if none."""
        return str(self._handle.device)

    @property
    def _type_spec(self) -> Any:
        """Returns the `VariableSpec` of the variable."""
        return VariableSpec.from_value(self)

    @property
    def trainable(self) -> bool:
        """Whether optimizers update it by default."""
        return self._trainable

    @property
    def constraint(self) -> Any:
        """The function that optimizers apply to an updated value, or None."""
        return self._constraint

    @property
    def synchronization(self) -> Any:
        """When copies of a distributed variable are synchronized."""
        return self._synchronization

    @property
    def aggregation(self) -> Any:
        """How copies of a distributed variable are aggregated."""
        return self._aggregation

    @property
    def initializer(self) -> Operation | None:
        """The operation that assigns the initial value; None in eager mode."""
        return self._initializer_op

    @property
    def initial_value(self) -> Any:
        """The tensor that `initializer` assigns; raises RuntimeError in eager mode."""
        if self._graph is None:
            raise RuntimeError("This property is not supported when eager execution is enabled.")
        return self._initial_value

    def ref(self) -> TensorReference:
        """Returns a hashable reference to this variable."""
        return TensorReference(self)

    experimental_ref = ref

    def to_proto(self, export_scope: Any = None) -> Any:
        """Returns the `VariableDef` of a graph's variable; None for one outside of `export_scope`.

        Raises: RuntimeError in eager mode.
        """
        if self._graph is None:
            raise RuntimeError("This operation is not supported when eager execution is enabled.")
        from .variable_protos import variable_def

        inside = export_scope is None or self.name.startswith(f"{export_scope}/")
        return variable_def(self) if inside else None

    @staticmethod
    def from_proto(variable_def: Any, import_scope: Any = None) -> Any:
        """Returns the variable of the default graph whose operations a `VariableDef` names.

        Args:
          variable_def: the message.
          import_scope: a scope that the names are within.
        """
        from .variable_protos import variable_of

        return variable_of(variable_def, f"{import_scope}/" if import_scope else "", {})

    def _set_save_slice_info(self, info: Any) -> None:
        self._save_slice_info = info

    def _get_save_slice_info(self) -> Any:
        return self._save_slice_info

    # -- reading -------------------------------------------------------------------

    def _read(self, name: str | None = None) -> Any:
        return raw.ReadVariableOp(self._handle, dtype=self._dtype, shape=self._shape, name=name or "ReadVariableOp")

    def _as_tensor(self, dtype: DType | None = None, name: str | None = None) -> Any:
        graph = current_graph()
        if not (self._changeable or graph is None or graph is not self._graph or listening.recorders):  # for tapes
            return self._snapshot
        # The builder names an operand '<op>/x'; its read is placed beside it.
        parent = name.rpartition("/")[0] if name else ""
        if graph is None or not parent:
            return self._read()
        return self._read(graph._names.unique(f"{parent}/ReadVariableOp") + "/")

    def _as_graph_element(self) -> Any:
        graph = current_graph()
        if graph is not None and graph is not self._graph and graph.building_function:
            return self._read()
        if self._graph is None:
            raise TypeError(f"Can not convert the eager variable {self.name} into a Tensor or Operation of a graph.")
        return self._snapshot

    def value(self) -> AnyTensor:
        """Returns a tensor with the value at the time of the read."""
        return self._as_tensor()

    def read_value(self) -> AnyTensor:
        """Adds a separate read and returns its value."""
        return raw.Identity(self._read("Read/ReadVariableOp"))

    def initialized_value(self) -> AnyTensor:
        """Returns the value if the variable is initialized, else the initial value."""
        if self._graph is None:
            return self.read_value()
        from graphgrad.frontend.control_flow.cond_while import cond

        return cond(self.is_initialized(), self.read_value, lambda: self.initial_value)

    def is_initialized(self, name: str | None = None) -> Any:
        """Returns whether the variable has a value, a bool scalar tensor."""
        return raw.VarIsInitializedOp(self._handle, name=name)

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """Returns the rows `indices` of the value, (*I, *shape[1:])."""
        return raw.ResourceGather(self._handle, indices, dtype=self._dtype, shape=self._shape, name=name or "Gather")

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """Returns the slices of the value at `indices`; see `tf.gather_nd`."""
        return raw.GatherNd(self._as_tensor(), indices, name=name)

    def eval(self, session: Any = None) -> Any:
        """Computes the value in a session; the default one if none is given.

        Raises: ValueError if there is no session; RuntimeError in eager mode.
        """
        if self._graph is None:
            raise RuntimeError("This operation is not supported when eager execution is enabled.")
        return self._as_graph_element().eval(session=session)

    def numpy(self) -> Any:
        """Returns the value as a NumPy array; NotImplementedError outside of eager mode."""
        if current_graph() is not None or self._graph is not None:
            raise NotImplementedError("numpy() is only available when eager execution is enabled. "
                                      "Fix: Session.run(variable)")
        return self._read().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.numpy(), dtype)

    def count_up_to(self, limit: int) -> Any:
        """Returns the value and increments it; raises OutOfRangeError at run time if it is `limit`."""
        return raw.ResourceCountUpTo(self.handle, limit=limit, T=self._dtype)

    def _assigned(self, assignment: Operation) -> AssignedVariable:
        return AssignedVariable(self, assignment)

    # -- Python's protocols --------------------------------------------------------

    def __getitem__(self, key: Any) -> VariableSlice:
        picked: Any = getitem(self._as_tensor(), key)

        def assign(value: Any, name: str | None = None) -> Any:
            return self._assign_slice(picked, key, value, name)

        picked.assign = assign
        picked._variable_slice = assign  # for tf.compat.v1.assign
        return picked

    def __iter__(self) -> Iterator[AnyTensor]:
        return iter(self._read())

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self.numpy())

    def __index__(self) -> int:
        return operator.index(self._read())

    def __float__(self) -> float:
        return float(self.numpy())

    def __complex__(self) -> complex:
        return complex(self.numpy())

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        if self._graph is not None:
            raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled.")
        copied = Variable.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        cell = self._handle._value
        copied._handle = Handle(Cell(np.array(cell.value), cell.name, cell.dtype, cell.shape))
        copied._handle._variable = copied
        copied._number = next(creation_numbers)
        memo[id(self)] = copied
        return copied

    @classmethod
    def _OverloadAllOperators(cls) -> None:
        """Does nothing: subclasses, which call it, inherit the operators."""

    def _dense_var_to_tensor(self, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
        """Returns the value; subclasses of libraries have their own.

        Args:
          dtype, name: as for `convert_to_tensor`.
          as_ref: accepted.
        """
        return self._as_tensor(None if dtype is None else as_dtype(dtype), name)

    def __repr__(self) -> str:
        text = f"<tf.Variable '{self.name}' shape={shape_str(self._shape)} dtype={self._dtype.name}"
        if self._graph is None and current_graph() is None:
            text += f", numpy={value_text(self._read()._value, True)}"
        return text + ">"


class VariableV1(Variable):
    """A variable, with the arguments of TensorFlow 1.

    Args:
      initial_value: what to convert to the first value, or a function that gives it.
      trainable: whether optimizers update it by default; True if not given.
      collections: names of graph collections to join; GLOBAL_VARIABLES if not given.
      validate_shape: whether the initial value's shape must be known and is kept.
      caching_device, variable_def, expected_shape, import_scope: accepted; without effect.
      use_resource: all variables are resources; but one that is to be none is fetched as references are: a run gives
        its value after the run's updates. By default after `tf.disable_v2_behavior()`, as in TensorFlow.
      name: a name; made unique in a graph.
      dtype: the dtype; that of the initial value if not given.
      constraint: a function from the value to a permitted value, applied by optimizers.
      synchronization, aggregation: see the enums; recorded only.
      shape: a shape less definite than the initial value's, where assignments may change it.
    Raises: ValueError without an initial value or without its shape; TypeError if it does not
      fit the dtype.
    Gradient: `gradients` takes variables as xs; IndexedSlices where only rows were gathered.
    Reference: TensorFlow 2.21 `tf.compat.v1.Variable`.

    >>> v = tf.Variable(tf.zeros([2]), trainable=False, name="v")
    >>> tf.trainable_variables()
    []
    """

    _needs_shape = True

    def __init__(self, initial_value: Any = None, trainable: Any = None, collections: Any = None,
                 validate_shape: bool = True, caching_device: Any = None, name: str | None = None,
                 variable_def: Any = None, dtype: Any = None, expected_shape: Any = None, import_scope: Any = None,
                 constraint: Any = None, use_resource: Any = None,
                 synchronization: Any = VariableSynchronization.AUTO, aggregation: Any = VariableAggregation.NONE,
                 shape: Any = None):
        self._needs_shape = not use_resource
        if variable_def is not None:
            self._stand_for(variable_def, import_scope, initial_value)
            return
        self._create(initial_value, trainable, collections, validate_shape, name, dtype, constraint, synchronization,
                     aggregation, shape)
        self._fetch_as(use_resource)

    def _fetch_as(self, use_resource: Any) -> None:
        """Selects the value for runs that fetch the variable: before updates or, as of a reference, after them."""
        if self._graph is not None and (References.by_default if use_resource is None else not use_resource):
            make_reference(self)

    def __bool__(self) -> bool:
        return is_reference(self) or super().__bool__()


class AssignedVariable(VariableV1):
    """A variable after an assignment; `op` is that assignment."""

    def __init__(self, variable: Variable, assignment: Operation):
        self.__dict__.update(variable.__dict__)
        self._changeable = True
        self._assignment = assignment
        self._after = assignment.graph
        with assignment.graph.control_dependencies([assignment]):
            self._element = super()._read()

    @property
    def name(self) -> str:
        """The name of the assignment."""
        return self._assignment.name

    @property
    def op(self) -> Operation:
        """The assignment."""
        return self._assignment

    def _read(self, name: str | None = None) -> Any:
        graph = current_graph()
        if graph is None or self._after not in around(graph):
            return super()._read(name)
        with graph.control_dependencies([self._assignment]):
            return super()._read(name)

    def _as_graph_element(self) -> Any:
        return self._element


_own_getitem = Variable.__getitem__
install(Variable)
Variable.__getitem__ = _own_getitem  # type: ignore[method-assign]  # its result can be assigned to

__all__ = ["AssignedVariable", "Variable", "VariableV1"]
