"""The dataflow graph: `Graph`, `Operation`, `Tensor`, and the scopes that shape new operations.

Operations are kept in creation order, which is a topological order: an operation's inputs
and control inputs exist before it does. Every traversal of a graph is a loop over it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from graphgrad.errors import InaccessibleTensorError
from graphgrad.ir.tensor import repr_html

from . import context
from .op_signature import Spec
from .opdef import OpDef, registry
from .operation import RETURN_IT, add_output
from .operation import Operation as Operation
from .operation import SymbolicTensor as SymbolicTensor
from .operation import Tensor as Tensor
from .source import Source, source_of_operation, user_source
from .state.collected import Collections
from .state.index import Index
from .state.names import OPERATION, Names, invalid_operation_name
from .state.notes import Notes
from .state.surroundings import BY_FUNCTION, ControlBlock, DeviceBlock, NameScopeBlock, Surroundings


class _Listeners(context.Inherited):
    """Listeners for the operations that this thread adds to graphs. Tapes use it.

    Attributes:
      recorders: f(operation), called for each.
      unaware: g(operation), one for each listener: whether it has not recorded the operation.
      repeated: the operation whose inputs are being passed on to a repetition of it.
    """

    def __init__(self) -> None:
        self.recorders: list[Callable[[Operation], None]] = []
        self.unaware: list[Callable[[Operation], bool]] = []
        self.repeated: Operation | None = None


listening = _Listeners()


_ONE_GRAPH = "use elements of one graph; `with graph.as_default():` says which"


class Graph:
    """A dataflow graph.

    >>> g = tf.Graph()
    >>> with g.as_default():
    ...     x = tf.constant(2.0, name="x")
    >>> g.get_tensor_by_name("x:0") is x
    True
    """

    _repr_html_ = repr_html
    building_function = False
    old_control_flow = False  # whether it is a branch or a body that in TensorFlow 1 would be no graph of its own
    names_variables = False  # whether a function's graph has variable scopes of its own, as a graph of 1.x
    _outer_graph: Graph | None = None
    # Whether effects happen even if no result depends on them: in functions, and their sub-graphs.
    keeps_effects = False

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._index = Index(self._operations)
        self._names = Names()
        self._around = Surroundings()
        self._collections = Collections()
        self._notes = Notes()
        self._finalized = False
        self._unfeedable: set[int] = set()
        self._unfetchable: set[int] = set()
        self._rebuilt = 0  # how often operations got further inputs or outputs
        self.seed: int | None = None
        self._scoped_state: dict[str, Any] = {}  # state that other modules keep for each graph
        self._changed: list[int] | None = None  # operations changed in place, by index, tracked on demand

    # -- adding operations ---------------------------------------------------------

    def _add(self, opdef: OpDef, inputs: tuple[Tensor, ...], attrs: dict[str, Any], name: str,
             specs: Sequence[Spec]) -> Operation:
        """Adds an operation with inferred types and shapes and a unique name."""
        if self._finalized:
            raise RuntimeError(f"Graph is finalized and cannot be modified: adding {opdef.name} '{name}'.\n"
                               f"  Asked for at {user_source(2)}\n"
                               "  Fix: build everything before the session is created or Graph.finalize() is called")
        op = Operation.__new__(Operation)
        op.name = name
        op.opdef = opdef
        op.graph = self
        op.inputs = inputs
        op.attrs = attrs
        op.index = len(self._operations)
        around = self._around
        op.source = around.source or source_of_operation(3)  # the direct caller is never the user
        op._colocation = around.colocated
        op._original_op = around.original_op
        op._gradient = around.gradients.get(opdef.name) if around.gradients else None
        op.control_inputs = around.control_inputs_of(op) if around.control else ()
        op.device = around.device
        outputs: list[Tensor] = []
        for spec in specs:
            t = Tensor.__new__(Tensor)
            t.op = op
            t.value_index = len(outputs)
            t.graph = self
            t.dtype = spec.dtype
            t._spec = spec
            outputs.append(t)
        op.outputs = tuple(outputs)
        if op.device is BY_FUNCTION:  # the function may ask for the outputs
            op.device = ""
            op.device = around.device_of(op)
        self._operations.append(op)
        if listening.recorders:
            for record in tuple(listening.recorders):
                record(op)
        return op

    def create_op(self, op_type: str, inputs: Sequence[Tensor], dtypes: Any = None, input_types: Any = None,
                  name: str | None = None, attrs: dict[str, Any] | None = None, op_def: Any = None,
                  compute_shapes: bool = True, compute_device: bool = True) -> Operation:
        """Adds an operation of a registered type.

        Args:
          op_type: the op type.
          inputs: a flat list of tensors.
          name: its name; the op type if not given. A name that ends in '/' is used unchanged.
          attrs: attribute values by name.
          dtypes, input_types, op_def, compute_shapes, compute_device: accepted as in TensorFlow; they follow from the
            op's record.
        Returns: the `Operation`.
        Raises: ValueError, TypeError for invalid inputs; RuntimeError if finalized.
        """
        if op_type not in registry:
            raise ValueError(f"No Op registered for {op_type}. Fix: declare it with graphgrad.ir.op.")
        from .builder import add_to_graph

        with self.as_default():
            return add_to_graph(self, registry[op_type], tuple(inputs), dict(attrs or {}), name)

    # -- names and scopes ----------------------------------------------------------

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Returns an unused name in the current scope: `name`, `name_1`, ...

        Args:
          name: the preferred name.
          mark_as_used: if False, the name stays free.
        """
        scope = self._around.scope
        return self._names.unique(f"{scope}/{name}" if scope else name, mark_as_used)

    def operation_name(self, name: str) -> str:
        """Returns the full, unique name of an operation that is called `name`.

        Args:
          name: the preferred name; one that ends in '/' is the caller's own scope and used unchanged.
        Raises: ValueError for an invalid name.
        """
        if isinstance(name, str):
            if name.endswith("/"):
                return name[:-1]
            if OPERATION.match(name):
                return self.unique_name(name)
        raise invalid_operation_name(name)

    def name_scope(self, name: str | None) -> NameScopeBlock:
        """Prefixes the names of operations built inside with `name/`.

        Args:
          name: the scope; unique in the graph unless it ends in '/', which re-enters an
            existing scope; None or '' leaves all scopes.
        Returns: a context manager; it yields the scope's full name with a trailing slash ('' for the root), and raises
          ValueError on entry for an invalid name.
        """
        return NameScopeBlock(self._around, self.unique_name, name)

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Opens a block without effect: a session has one container.

        Args:
          container_name: a name.
        """
        yield container_name

    def get(self) -> Graph:
        """Returns the graph itself."""
        return self

    def op_def_for_type(self, type: str) -> OpDef:
        """Returns the record of an op type; raises RuntimeError if there is none.

        Args:
          type: such as 'MatMul'.
        """
        if type not in registry:
            raise RuntimeError(f"Op type not registered '{type}'. Fix: `graphgrad ops` lists those that there are")
        return registry[type]

    def get_name_scope(self) -> str:
        """Returns the current name scope, without a trailing slash."""
        return self._around.scope

    def control_dependencies(self, control_inputs: Any) -> ControlBlock:
        """Makes the operations built inside run after `control_inputs`.

        Args:
          control_inputs: operations, tensors or variables; None clears all outer ones.
        Raises: TypeError for anything else; ValueError for those of another graph.
        """
        return ControlBlock(self._around, control_inputs, self._control_element)

    def _control_element(self, c: Any) -> Operation | None:
        op = self.as_graph_element(c, allow_tensor=True, allow_operation=True)
        op = op.op if isinstance(op, Tensor) else op
        return op if op.graph is self else None

    def device(self, device_name_or_function: Any) -> DeviceBlock:
        """Requests a device for the operations built inside.

        Args:
          device_name_or_function: a device string, a function from `Operation` to one, or
            None to clear the outer ones.
        Raises: ValueError for an invalid device string.
        """
        return DeviceBlock(self._around, device_name_or_function)

    def _apply_device_functions(self, op: Any) -> None:
        """Tells an object the device of operations that are built here, if one is requested: libraries ask so."""
        device = self._around.device_of(op)
        if device:
            op._set_device_from_string(device)

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Puts the operations built inside on the device and in the colocation group of `op`.

        Args:
          op: an operation, tensor or variable; None clears the groups.
          ignore_existing: whether to ignore the groups of outer blocks.
        """
        inside: dict[str, Any] = {"colocated": ()}
        if op is not None:
            target = self.as_graph_element(op, allow_tensor=True, allow_operation=True)
            target = target.op if isinstance(target, Tensor) else target
            groups = {g.decode() for g in target.colocation_groups()}
            outer = () if ignore_existing else self._around.colocated
            inside = {"colocated": tuple(sorted({*outer, *groups})), "devices": [target.device],
                      "device": target.device}
        with self._around.having(**inside):
            yield

    @contextlib.contextmanager
    def recomputing(self) -> Iterator[None]:
        """Marks the operations built inside as a recomputation: they are not merged with their originals."""
        start = len(self._operations)
        try:
            yield
        finally:
            for op in self._operations[start:]:
                self._notes.recomputed.setdefault(op.index, start)

    @contextlib.contextmanager
    def before(self, op: Operation) -> Iterator[None]:
        """Makes operations that are built inside, later than `op`, run just before it.

        Args:
          op: an operation of this graph; the operations inside must not depend on later ones.
        """
        start = len(self._operations)
        early = self._notes.early
        try:
            with self._around.having(control=[]), self.as_default():
                yield
        finally:
            for made in self._operations[start:]:
                early.setdefault(made.index, early.get(op.index, op.index))

    @property
    def _c_graph(self) -> Any:
        """The graph: what libraries give to functions of TensorFlow's compiled part."""
        return self

    def in_two_runs(self) -> AbstractContextManager[None]:
        """Allows gradients built inside to run later than their forward operations, with changes in between."""
        return self._around.having(in_two_runs=True)

    def in_order(self, indices: Iterable[int]) -> list[int]:
        """Returns indices of operations in execution order: creation order, except for those built in `before`."""
        return self._notes.in_order(indices)

    def _rebuild(self, op: Operation, inputs: tuple[Tensor, ...], attrs: dict[str, Any],
                 specs: Sequence[Spec]) -> None:
        """Changes the attributes of an operation and adds inputs and, with these specs, outputs."""
        self._index.add_inputs(op, inputs)
        op.inputs, op.attrs = inputs, attrs
        op.outputs += tuple([add_output(op, len(op.outputs) + i, spec) for i, spec in enumerate(specs)])
        self._rebuilt += 1
        op._note_change()

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Makes operations built inside use another registered gradient.

        Args:
          op_type_map: op type -> name given to `RegisterGradient`.
        Raises: TypeError if the map does not consist of strings.
        """
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for key, mapped in op_type_map.items():
            if not isinstance(key, str) or not isinstance(mapped, str):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings; "
                                f"found {key!r}: {mapped!r}")
        with self._around.having(gradients={**self._around.gradients, **op_type_map}):
            yield

    def _own_gradients(self) -> AbstractContextManager[None]:
        """Leaves all `gradient_override_map` blocks: they apply to the user's operations only."""
        return self._around.having(gradients={})

    def _building_gradient_of(self, op: Operation | None,
                              source: Source | None = None) -> AbstractContextManager[None]:
        """Records `op` as the forward op of operations built inside, and `source` as their line."""
        return self._around.having(original_op=op, source=source or self._around.source)

    def as_default(self) -> Any:
        """Makes this graph the default one in a `with` block."""
        return context.use(self)

    def _create_op_from_tf_operation(self, c_op: Any, compute_device: bool = True) -> Any:
        return c_op  # which `create_c_op` has added

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False,
                     use_pybind11_proto: bool = False) -> Any:
        """Returns the graph as a `GraphDef` message, which `import_graph_def` and TensorFlow read.

        Args:
          from_version: only the operations from this one on.
          add_shapes: whether to write the static shapes of outputs.
          use_pybind11_proto: accepted; without effect.
        Raises: ValueError if an operation calls Python.
        """
        from .graphdef import to_graph_def

        return to_graph_def(self, add_shapes, from_version or 0)

    # -- look-ups ------------------------------------------------------------------

    def get_operations(self) -> list[Operation]:
        """Returns all operations, in creation order."""
        return list(self._operations)

    def get_operation_by_name(self, name: str) -> Operation:
        """Returns the operation of that name; raises KeyError if there is none, and ValueError for a tensor's name."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        result: Operation = self.as_graph_element(name, allow_tensor=False, allow_operation=True)
        return result

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Returns the tensor of that name, `op:index`; KeyError if there is none, ValueError for other names."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        result: Tensor = self.as_graph_element(name, allow_tensor=True, allow_operation=False)
        return result

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """Returns the tensor or operation that `obj` is, names, or converts to.

        Args:
          obj: a `Tensor`, an `Operation`, a name, or an object with `_as_graph_element`.
          allow_tensor, allow_operation: which kinds may be returned.
        Raises: KeyError for an unknown name; ValueError for another graph's element
          or the wrong kind of name; TypeError for anything else.
        """
        kinds = " or ".join(k for k, ok in (("Tensor", allow_tensor), ("Operation", allow_operation)) if ok)
        if not kinds:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        convert = getattr(obj, "_as_graph_element", None)
        if convert is not None:
            obj = convert()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._index.find(obj, allow_tensor, allow_operation)
        if isinstance(obj, (Tensor, Operation)):
            if not (allow_tensor if isinstance(obj, Tensor) else allow_operation):
                raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")
            if obj.graph is not self:
                raise ValueError(f"{type(obj).__name__} {obj} is not an element of this graph.\n"
                                 f"  Built at {(obj.op if isinstance(obj, Tensor) else obj).source}\n"
                                 f"  Fix: {RETURN_IT if obj.graph.building_function else _ONE_GRAPH}")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")

    @property
    def version(self) -> int:
        """A number that grows with every added operation."""
        return len(self._operations)

    # -- collections and the rest --------------------------------------------------

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Appends `value` to the collection `name`."""
        self._collections.ref(name).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Appends `value` to each of the collections `names` (one name or several), once to each."""
        names = (names,) if isinstance(names, str) else names
        for name in dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """Returns a copy of the collection `name`.

        Args:
          name: the collection's key.
          scope: a regular expression; keeps items whose `name` begins with a match.
        """
        return self._collections.items(name, scope)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """Returns the collection itself: a shared list."""
        return self._collections.ref(name)

    def get_all_collection_keys(self) -> list[Any]:
        """Returns the keys of the collections that were added to, or asked for by reference."""
        return self._collections.keys()

    collections = property(get_all_collection_keys)

    def clear_collection(self, name: Any) -> None:
        """Empties the collection `name`."""
        self._collections.clear(name)

    def finalize(self) -> None:
        """Makes the graph read-only."""
        self._finalized = True

    @property
    def finalized(self) -> bool:
        """Whether the graph is read-only."""
        return self._finalized

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _get_control_flow_context(self) -> None:
        """Returns None: functional control flow has no contexts."""

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Forbids feeding `tensor`."""
        self._unfeedable.add(id(tensor))

    def is_feedable(self, tensor: Tensor) -> bool:
        """Returns whether `tensor` may be fed."""
        return id(tensor) not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        """Forbids fetching `op`."""
        self._unfetchable.add(id(op))

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Returns whether the operation, or the tensor's, may be fetched."""
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return id(op) not in self._unfetchable

    def capture(self, tensor: Any, name: str | None = None) -> Tensor:
        """Brings an outside tensor into this graph; a plain graph cannot.

        Raises: ValueError naming both graphs' elements and the line.
        """
        copy = self._around.copies.get(id(tensor))
        if copy is not None:
            return copy if copy.graph is self else self.capture(copy)
        inside = isinstance(tensor, Tensor) and tensor.graph.building_function
        text = (f"Tensor {tensor!r} must be from the same graph as the operation that uses it.\n"
                f"  Built at {tensor.op.source if isinstance(tensor, Tensor) else 'eager mode'}\n"
                f"  Used at {user_source(2)}\n")
        if inside:
            raise InaccessibleTensorError(f"{text}  Fix: {RETURN_IT}")
        raise ValueError(f"{text}  Fix: build both in one `with graph.as_default():` block")

