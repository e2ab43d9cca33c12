"""The dataflow graph: `Graph`, `Operation`, `Tensor`, and the scopes that shape new operations.

Operations are kept in creation order, which is a topological order: an operation's inputs
and control inputs exist before it does. Every traversal of a graph is a loop over it.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from graphgrad.errors import InaccessibleTensorError, OperatorNotAllowedInGraphError
from graphgrad.system import device_names as devices

from . import context, tensor
from .dtypes import DType
from .opdef import OpDef, Spec, registry
from .shape import _CONTRADICTION, TensorShape, as_shape, merge, shape_str
from .source import Source, user_source

_VALID_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_VALID_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


class Listening(threading.local):
    """Listeners for the operations that this thread adds to graphs: f(operation). Tapes use it."""

    def __init__(self) -> None:
        self.recorders: list[Callable[[Operation], None]] = []


listening = Listening()


class SymbolicTensor(tensor.Tensor):
    """One output of an operation: a symbolic value.

    Attributes:
      op: the `Operation` that computes it.
      value_index: which of the operation's outputs it is.
      graph: the graph of the operation.
      dtype: its `DType`.
      shape: its static `TensorShape`, as far as it is known while building.
    """

    __slots__ = ("op", "value_index", "graph", "dtype", "_spec", "_static", "__dict__", "__weakref__")

    op: Operation
    value_index: int
    graph: Graph
    dtype: DType
    _spec: Spec
    _static: Any  # the known part of the value, see ir.constant_value; computed on demand

    @property
    def name(self) -> str:
        """`<op name>:<output index>`."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def device(self) -> str:
        """The requested device of the operation, '' if none."""
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        """The static shape; dimensions known only at run time are None."""
        return TensorShape(self._spec.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions, -1 if it is not known."""
        shape = self._spec.shape
        return -1 if shape is None else len(shape)

    def set_shape(self, shape: Any) -> None:
        """Merges known dimensions into the static shape.

        Args:
          shape: a `TensorShape` or a list of sizes (None for unknown).
        Raises: ValueError if they contradict it.
        """
        merged = merge(self._spec.shape, as_shape(shape))
        if merged is _CONTRADICTION:
            raise ValueError(f"Tensor '{self.name}': its shape {shape_str(self._spec.shape)} is not compatible with "
                             f"{shape_str(as_shape(shape))}.\n  Built at {self.op.source}\n"
                             "  Fix: give a shape that agrees in every known dimension, or use tf.reshape")
        if merged != self._spec.shape:
            self._spec = Spec.of(self.dtype, merged)
            self.op._note_change()

    def consumers(self) -> list[Operation]:
        """Returns the operations that have this tensor as an input, in creation order."""
        return self.graph._consumers_of(self)

    def _as_tf_output(self) -> tuple[Operation, int]:
        return self.op, self.value_index

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={shape_str(self._spec.shape)} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self._spec.shape is None else f", shape={shape_str(self._spec.shape)}"
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'

    def __reduce__(self) -> Any:
        raise TypeError(f"cannot pickle 'SymbolicTensor' object {self.name}: it belongs to a graph. "
                        "Fix: run it and keep its value, or save the graph with graph.as_graph_def()")

    def __copy__(self) -> Tensor:
        return self

    def __len__(self) -> int:
        raise TypeError(f"len is not well defined for a symbolic Tensor ({self.name}). "
                        "Fix: use tensor.shape[0] if the size is static, or tf.shape(tensor)[0].")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. "
                                  "Fix: run it first, with Session.run or Tensor.eval.")

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            f"Using a symbolic `tf.Tensor` ({self.name}) as a Python `bool` is not allowed: its value is not known "
            f"until the graph runs.\n  Built at {self.op.source}\n  Asked at {user_source(2)}\n{_NOT_CONVERTED}"
        )

    def __iter__(self) -> Iterator[tensor.Tensor]:
        shape = self._spec.shape
        if shape is None or (shape and shape[0] is None):
            raise OperatorNotAllowedInGraphError(
                f"Iterating over a symbolic `tf.Tensor` ({self.name}) is not allowed where its first dimension is "
                f"unknown.\n  Built at {self.op.source}\n  Asked at {user_source(2)}\n{_NOT_CONVERTED}"
            )
        if not shape:
            raise TypeError(f"Cannot iterate over a scalar tensor ({self.name}).")
        return (self[i] for i in range(shape[0] or 0))


Tensor = SymbolicTensor  # the meaning of `Tensor` in this package, except for eager tensors

_NOT_CONVERTED = (
    "  Fix: put @tf.function on the function (its `if`, `while` and `for` are then converted), or use tf.cond and "
    "tf.while_loop. If it has @tf.function already, its source code is not visible, it says autograph=False, or "
    "it does what is not converted: generators, comprehensions, `try` with a jump out of it, coroutines."
)


class Operation:
    """A node of the graph.

    Attributes:
      name: unique in its graph.
      type: the op type, e.g. "MatMul".
      graph: the `Graph` it belongs to.
      inputs: a tuple of `Tensor`.
      outputs: a tuple of `Tensor`.
      control_inputs: a tuple of operations that run before it.
      device: the requested device, '' if none.
      index: its position in creation order.
      source: the user's line that built it.
    """

    __slots__ = ("name", "opdef", "graph", "inputs", "outputs", "attrs", "control_inputs", "device", "index", "source",
                 "_colocation", "_original_op", "_gradient", "__weakref__")

    name: str
    opdef: OpDef
    graph: Graph
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    attrs: dict[str, Any]
    control_inputs: tuple[Operation, ...]
    device: str
    index: int
    source: Source | None
    _colocation: tuple[str, ...]
    _original_op: Operation | None  # the forward op whose gradient this op helps to compute
    _gradient: Any  # a gradient function for this operation only, or the name of a registered one
    run: Callable[..., None]  # a method, which the frontend installs: `ir` does not know sessions

    @property
    def type(self) -> str:
        """The op type, e.g. "MatMul"."""
        return self.opdef.name

    @property
    def op_def(self) -> OpDef:
        """The record of the op type."""
        return self.opdef

    @property
    def node_def(self) -> Any:
        """The operation as a `NodeDef` message: `name`, `op`, `input`, `device`, and all attributes in `attr`."""
        from .graphdef import node_def

        return node_def(self)

    def values(self) -> tuple[Tensor, ...]:
        """The outputs."""
        return self.outputs

    def get_attr(self, name: str) -> Any:
        """Returns the value of an attribute as TensorFlow does.

        Args:
          name: the attribute's name.
        Returns: bytes for text, a `DType`, a number or a bool; messages for shapes, tensors, functions; lists of them.
        Raises: ValueError for an unknown name.
        """
        from .graphdef import attribute

        return attribute(self, name)

    def _attr(self, name: str) -> Any:
        """Returns the value of an attribute as kernels and rules take it; ValueError for an unknown name."""
        if name in self.attrs:
            return self.attrs[name]
        if name in self.opdef.attrs:
            return self.opdef.attrs[name]
        raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")

    def colocation_groups(self) -> list[bytes]:
        """Returns the colocation groups of the operation, as `loc:@<op name>`."""
        return [c.encode() for c in self._colocation] or [f"loc:@{self.name}".encode()]

    @property
    def traceback(self) -> list[Source]:
        """The user's line that built the operation."""
        return [self.source] if self.source else []

    def _set_device(self, device: str) -> None:
        self.device = devices.canonical(device) if device else ""
        self._note_change()

    def _note_change(self) -> None:
        if self.graph._changed is not None:
            self.graph._changed.append(self.index)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        lines = [f'name: "{self.name}"', f'op: "{self.type}"']
        lines += [f'input: "{t.op.name if t.value_index == 0 else t.name}"' for t in self.inputs]
        lines += [f'input: "^{c.name}"' for c in self.control_inputs]
        lines += [f'device: "{self.device}"'] if self.device else []
        lines += [f"attr {{ {k}: {v} }}" for k, v in sorted(self.attrs.items(), key=lambda kv: kv[0])]
        return "\n".join(lines) + "\n"


def _output(op: Operation, index: int, spec: Spec) -> Tensor:
    """Adds one more output to an operation."""
    t = Tensor.__new__(Tensor)
    t.op, t.value_index, t.graph, t.dtype, t._spec = op, index, op.graph, spec.dtype, spec
    return t


class _ControlFrame:
    """One `control_dependencies` block: its control inputs and the operations built inside."""

    __slots__ = ("ops", "made")

    def __init__(self, ops: tuple[Operation, ...]):
        self.ops = ops
        self.made: set[Operation] = set()


class _NameScope:
    """One `Graph.name_scope` block; a class, since a generator takes a microsecond longer."""

    __slots__ = ("graph", "name", "outer")

    def __init__(self, graph: Graph, name: str | None):
        self.graph = graph
        self.name = name

    def __enter__(self) -> str:
        graph = self.graph
        self.outer = graph._scope
        graph._scope = scope = graph._enter_scope(self.name)
        return f"{scope}/" if scope else ""

    def __exit__(self, *exc: object) -> None:
        self.graph._scope = self.outer


class Graph:
    """A dataflow graph.

    >>> g = tf.Graph()
    >>> with g.as_default():
    ...     x = tf.constant(2.0, name="x")
    >>> g.get_tensor_by_name("x:0") is x
    True
    """

    building_function = False
    outer_graph: Graph | None = None
    # Whether effects happen even if no result depends on them: in functions, and their sub-graphs.
    keeps_effects = False
    # While a user's gradient function runs for a copy of its operation: copies, by the id of their originals.
    _copies: dict[int, Tensor] = {}  # replaced, never changed

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._named: dict[str, Operation] = {}  # filled by the first look-up of a name
        self._names_in_use: dict[str, int] = {}
        self._scope = ""  # the current name scope, without the trailing slash
        self._control: list[_ControlFrame] = []
        self._devices: list[Any] = []
        self._device = ""  # the merged device of the stack, if it contains no device function
        self._colocated: tuple[str, ...] = ()
        self._collections: dict[Any, list[Any]] = {}
        self._finalized = False
        self._source: Source | None = None  # replaces the user's line while set
        self._original_op: Operation | None = None
        self._gradient_overrides: dict[str, Any] = {}
        self._consumers: dict[int, list[Operation]] = {}  # keyed by id: tensors may compare elementwise
        self._consumers_upto = 0
        self._unfeedable: set[int] = set()
        self._unfetchable: set[int] = set()
        self._recomputed: dict[int, int] = {}  # index of an operation -> the mark of its recomputation
        self._touched: dict[int, tuple[Tensor, ...]] = {}  # of backward loops: see gradients.core.loop_zeros
        self._joints: dict[int, Any] = {}  # index of a recording loop -> its joint loop
        self._early: dict[int, int] = {}  # index of an operation -> index of the one before which it belongs
        self._rebuilt = 0  # how often operations got further inputs or outputs
        self._in_two_runs = False  # whether gradients being added run in a separate run
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
        op.source = self._source or user_source(3)  # the direct caller is never the user
        op._colocation = self._colocated
        op._original_op = self._original_op
        op._gradient = self._gradient_overrides.get(opdef.name) if self._gradient_overrides else None
        op.control_inputs = self._control_inputs_for(op) if self._control else ()
        op.device = self._device
        if self._devices and self._device is _BY_FUNCTION:
            op.device = ""
            op.device = self._device_for(op)
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

    def _control_inputs_for(self, op: Operation) -> tuple[Operation, ...]:
        wanted: dict[Operation, None] = {}
        for frame in self._control:
            # An input built inside the block waits for the block's control inputs already.
            if not any(t.op in frame.made for t in op.inputs):
                wanted.update(dict.fromkeys(frame.ops))
            frame.made.add(op)
        return tuple(wanted)

    def _device_for(self, op: Operation) -> str:
        result = ""
        for entry in reversed(self._devices):
            spec = entry(op) if callable(entry) else entry
            if spec is None and not callable(entry):
                break  # device(None) hides the outer ones
            if spec:
                text = spec if isinstance(spec, str) else spec.to_string()
                result = devices.merge(text, result)
        return result

    # -- names and scopes ----------------------------------------------------------

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Returns an unused name in the current scope: `name`, `name_1`, ...

        Args:
          name: the preferred name.
          mark_as_used: if False, the name stays free.
        """
        if self._scope:
            name = f"{self._scope}/{name}"
        return self._unique(name, mark_as_used)

    def operation_name(self, name: str) -> str:
        """Returns the full, unique name of an operation that is called `name`.

        Args:
          name: the preferred name; one that ends in '/' is the caller's own scope and used unchanged.
        Raises: ValueError for an invalid name.
        """
        if not isinstance(name, str):
            raise TypeError(f"the name of an operation must be a string, not {name!r}. Fix: give name='<text>'")
        if name.endswith("/"):
            return name[:-1]
        if not _VALID_OP_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid root scope name. Fix: use letters, digits and _.-/, "
                             "beginning with a letter or digit")
        return self.unique_name(name)

    def _unique(self, name: str, mark_as_used: bool = True) -> str:
        # `names[a] == n` means that a and a_1 .. a_(n-1) are in use; numbered names have their own entry only if
        # requested as such.
        names = self._names_in_use
        key = name.lower()
        i = names.get(key)
        if i is None:
            base, _, number = key.rpartition("_")
            taken = number.isdecimal() and number[0] != "0" and int(number) < names.get(base, 0)
            i = 1 if taken else 0
        if i:
            while f"{key}_{i}" in names:
                i += 1
            name = f"{name}_{i}"
        if mark_as_used:
            names[key] = i + 1
        return name

    def name_scope(self, name: str | None) -> _NameScope:
        """Prefixes the names of operations built inside with `name/`.

        Args:
          name: the scope; unique in the graph unless it ends in '/', which re-enters an
            existing scope; None or '' leaves all scopes.
        Returns: a context manager; it yields the scope's full name with a trailing slash ('' for the root), and raises
          ValueError on entry for an invalid name.
        """
        return _NameScope(self, name)

    def _enter_scope(self, name: str | None) -> str:
        if not name:
            return ""
        if not isinstance(name, str):
            raise TypeError(f"the name of a scope must be a string, not {name!r}. Fix: give name='<text>'")
        if not (_VALID_SCOPE_NAME if self._scope or name.endswith("/") else _VALID_OP_NAME).match(name):
            raise ValueError(f"'{name}' is not a valid scope name. Fix: use letters, digits and _.-/, "
                             "beginning with a letter or digit")
        return name[:-1] if name.endswith("/") else self.unique_name(name)

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Accepted as in TensorFlow; a session has one container.

        Args:
          container_name: a name.
        """
        yield container_name

    def get(self) -> Graph:
        """Returns the graph itself."""
        return self

    def op_def_for_type(self, type: str) -> OpDef:
        """Returns the record of an op type; RuntimeError if there is none.

        Args:
          type: such as 'MatMul'.
        """
        if type not in registry:
            raise RuntimeError(f"Op type not registered '{type}'. Fix: see docs/ops.md for the op types that there are")
        return registry[type]

    def get_name_scope(self) -> str:
        """Returns the current name scope, without a trailing slash."""
        return self._scope

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        """Makes the operations built inside run after `control_inputs`.

        Args:
          control_inputs: operations, tensors or variables; None clears all outer ones.
        Raises: TypeError for anything else; ValueError for those of another graph.
        """
        old = self._control
        if control_inputs is None:
            self._control = []
        else:
            elements = [self._control_element(c) for c in control_inputs]
            ops = dict.fromkeys(e for e in elements if e is not None)
            self._control = [*old, _ControlFrame(tuple(ops))]
        try:
            yield
        finally:
            self._control = old

    def _control_element(self, c: Any) -> Operation | None:
        op = self.as_graph_element(c, allow_tensor=True, allow_operation=True)
        op = op.op if isinstance(op, Tensor) else op
        return op if op.graph is self else None

    @contextlib.contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """Requests a device for the operations built inside.

        Args:
          device_name_or_function: a device string, a function from `Operation` to one, or
            None to clear the outer ones.
        Raises: ValueError for an invalid device string.
        """
        spec = device_name_or_function
        if spec is not None and not callable(spec) and not isinstance(spec, str):
            spec = spec.to_string()
        if isinstance(spec, str):
            spec = devices.canonical(spec)
        old = self._devices, self._device
        self._devices = [*self._devices, spec]
        self._device = self._merge_devices()
        try:
            yield
        finally:
            self._devices, self._device = old

    def _merge_devices(self) -> str:
        result = ""
        for entry in self._devices:
            if callable(entry):
                return _BY_FUNCTION
            result = "" if entry is None else devices.merge(result, entry)
        return result

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Puts the operations built inside on the device and in the colocation group of `op`.

        Args:
          op: an operation, tensor or variable; None clears the groups.
          ignore_existing: whether to ignore the groups of outer blocks.
        """
        if op is None:
            old_groups, self._colocated = self._colocated, ()
            try:
                yield
            finally:
                self._colocated = old_groups
            return
        target = self.as_graph_element(op, allow_tensor=True, allow_operation=True)
        target = target.op if isinstance(target, Tensor) else target
        groups = tuple(g.decode() for g in target.colocation_groups())
        old = self._colocated, self._devices, self._device
        outer = () if ignore_existing else self._colocated
        self._colocated = tuple(sorted({*outer, *groups}))
        self._devices, self._device = [target.device], target.device
        try:
            yield
        finally:
            self._colocated, self._devices, self._device = old

    @contextlib.contextmanager
    def recomputing(self) -> Iterator[None]:
        """Marks the operations built inside as a recomputation: they are not merged with their originals."""
        start = len(self._operations)
        try:
            yield
        finally:
            for op in self._operations[start:]:
                self._recomputed.setdefault(op.index, start)

    @contextlib.contextmanager
    def before(self, op: Operation) -> Iterator[None]:
        """Makes operations that are built inside, later than `op`, run just before it.

        Args:
          op: an operation of this graph; the operations inside must not depend on later ones.
        """
        saved, self._control = self._control, []
        start = len(self._operations)
        try:
            with self.as_default():
                yield
        finally:
            self._control = saved
            for made in self._operations[start:]:
                self._early.setdefault(made.index, self._early.get(op.index, op.index))

    @contextlib.contextmanager
    def in_two_runs(self) -> Iterator[None]:
        """Allows gradients built inside to run later than their forward operations, with changes in between."""
        self._in_two_runs = True
        try:
            yield
        finally:
            self._in_two_runs = False

    def in_order(self, indices: Iterable[int]) -> list[int]:
        """Returns indices of operations in execution order: creation order, except for those built in `before`."""
        early = self._early
        if not early:
            return sorted(indices)
        return sorted(indices, key=lambda i: (early[i] - 0.5, i) if i in early else (i, i))

    def _rebuild(self, op: Operation, inputs: tuple[Tensor, ...], attrs: dict[str, Any],
                 specs: Sequence[Spec]) -> None:
        """Changes the attributes of an operation and adds inputs and, with these specs, outputs."""
        known = set(map(id, op.inputs))
        if op.index < self._consumers_upto:
            for t in dict.fromkeys(map(id, inputs)):
                if t not in known:
                    self._consumers.setdefault(t, []).append(op)
        op.inputs, op.attrs = inputs, attrs
        op.outputs += tuple([_output(op, len(op.outputs) + i, spec) for i, spec in enumerate(specs)])
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
        old = self._gradient_overrides
        self._gradient_overrides = {**old, **op_type_map}
        try:
            yield
        finally:
            self._gradient_overrides = old

    @contextlib.contextmanager
    def _own_gradients(self) -> Iterator[None]:
        """Leaves all `gradient_override_map` blocks: they apply to the user's operations only."""
        old, self._gradient_overrides = self._gradient_overrides, {}
        try:
            yield
        finally:
            self._gradient_overrides = old

    @contextlib.contextmanager
    def _building_gradient_of(self, op: Operation | None, source: Source | None = None) -> Iterator[None]:
        """Records `op` as the forward op of operations built inside, and `source` as their line."""
        old = self._original_op, self._source
        self._original_op = op
        self._source = source or self._source
        try:
            yield
        finally:
            self._original_op, self._source = old

    def as_default(self) -> Any:
        """Makes this graph the default one in a `with` block."""
        return context.use(self)

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
        """Returns the operation of that name; KeyError if there is none, ValueError for a tensor's name."""
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
            return self._by_text(obj, allow_tensor, allow_operation)
        if isinstance(obj, (Tensor, Operation)):
            if not (allow_tensor if isinstance(obj, Tensor) else allow_operation):
                raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")
            if obj.graph is not self:
                raise ValueError(f"{type(obj).__name__} {obj} is not an element of this graph.\n"
                                 f"  Built at {(obj.op if isinstance(obj, Tensor) else obj).source}\n"
                                 "  Fix: use elements of one graph; `with graph.as_default():` says which")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")

    def _by_text(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        if ":" in name and allow_tensor:
            op_name, _, index = name.rpartition(":")
            if not index.isdigit() or not op_name:
                raise ValueError(f"The name {name!r} looks a like a Tensor name, but is not a valid one. "
                                 "Tensor names must be of the form \"<op_name>:<output_index>\".")
            op = self._by_name().get(op_name)
            if op is None:
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                               f"{op_name!r}, does not exist in the graph.{self._similar(op_name)}")
            if int(index) >= len(op.outputs):
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                               f"{op_name!r}, exists but only has {len(op.outputs)} outputs.")
            return op.outputs[int(index)]
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not an Operation.")
        if not allow_operation:
            hint = f" Fix: ask for {name + ':0'!r}." if name in self._by_name() else ""
            raise ValueError(f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. Tensor names "
                             f"must be of the form \"<op_name>:<output_index>\".{hint}")
        if name not in self._by_name():
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.{self._similar(name)}")
        return self._by_name()[name]

    def _by_name(self) -> dict[str, Operation]:
        named = self._named
        for op in self._operations[len(named) :]:
            named[op.name] = op
        return named

    def _similar(self, name: str) -> str:
        import difflib

        near = difflib.get_close_matches(name, list(self._by_name())[:10000], 1)
        return f" Did you mean {near[0]!r}?" if near else ""

    def _consumers_of(self, tensor: Tensor) -> list[Operation]:
        table = self._consumers
        for op in self._operations[self._consumers_upto :]:
            for t in dict.fromkeys(map(id, op.inputs)):
                table.setdefault(t, []).append(op)
        self._consumers_upto = len(self._operations)
        return list(table.get(id(tensor), ()))

    @property
    def version(self) -> int:
        """A number that grows with every added operation."""
        return len(self._operations)

    # -- collections and the rest --------------------------------------------------

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Appends `value` to the collection `name`."""
        self._collections.setdefault(name, []).append(value)

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
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        pattern = re.compile(scope)
        return [i for i in items if hasattr(i, "name") and pattern.match(i.name)]

    def get_collection_ref(self, name: Any) -> list[Any]:
        """Returns the collection itself: a shared list."""
        return self._collections.setdefault(name, [])

    def get_all_collection_keys(self) -> list[Any]:
        """Returns the keys of the non-empty collections."""
        return [k for k, v in self._collections.items() if v]

    collections = property(get_all_collection_keys)

    def clear_collection(self, name: Any) -> None:
        """Empties the collection `name`."""
        self._collections.pop(name, None)

    def finalize(self) -> None:
        """Makes the graph read-only."""
        self._finalized = True

    @property
    def finalized(self) -> bool:
        """Whether the graph is read-only."""
        return self._finalized

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

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
        copy = self._copies.get(id(tensor))
        if copy is not None:
            return copy if copy.graph is self else self.capture(copy)
        inside = isinstance(tensor, Tensor) and tensor.graph.building_function
        text = (f"Tensor {tensor!r} must be from the same graph as the operation that uses it.\n"
                f"  Built at {tensor.op.source if isinstance(tensor, Tensor) else 'eager mode'}\n"
                f"  Used at {user_source(2)}\n")
        if inside:
            raise InaccessibleTensorError(
                f"{text}  Fix: it belongs to a function, branch or loop, and is out of scope here: return it from "
                "there. A Python list cannot collect the tensors of a loop, a tf.TensorArray can"
            )
        raise ValueError(f"{text}  Fix: build both in one `with graph.as_default():` block")


_BY_FUNCTION = "<by function>"  # the device is decided for each operation
