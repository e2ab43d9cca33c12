"""A node of the graph and what it gives: `Operation`, `SymbolicTensor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphgrad.errors import OperatorNotAllowedInGraphError
from graphgrad.ir.tensor import repr_html
from graphgrad.system import device_names as devices

from . import context, tensor
from .dtypes import DType
from .op_signature import Spec
from .opdef import OpDef
from .shape import _CONTRADICTION, TensorShape, as_shape, merge, shape_str
from .source import Source, user_source

if TYPE_CHECKING:
    from .graph import Graph


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

    _repr_html_ = repr_html

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

    @property
    def numpy(self) -> Any:
        """Raises AttributeError: the tensor has no value until it is run."""
        raise AttributeError(_NoValue(self, user_source(2)))

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

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Computes the value of the tensor in a session.

        Args:
          feed_dict: values for placeholders and other tensors.
          session: the session; the default one if not given.
        Raises: ValueError if there is no session, or it is another graph's.
        """
        return context.session_of(self.graph, session, "evaluate tensor", "eval").run(self, feed_dict)

    def consumers(self) -> list[Operation]:
        """Returns the operations that have this tensor as an input, in creation order."""
        return self.graph._index.consumers(self)

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
            raise OperatorNotAllowedInGraphError(f"Cannot iterate over a scalar tensor ({self.name}).")
        return (self[i] for i in range(shape[0] or 0))


Tensor = SymbolicTensor  # the meaning of `Tensor` in this package, except for eager tensors

class _NoValue:
    """The text of the error for a symbolic tensor without a value; made when it is shown, as `hasattr` asks often."""

    def __init__(self, tensor: Tensor, asked: Any):
        self._tensor, self._asked = tensor, asked

    def __str__(self) -> str:
        tensor = self._tensor
        fix = RETURN_IT if tensor.graph.building_function else "run it: sess.run(tensor), or tensor.eval()"
        return (f"'SymbolicTensor' object has no attribute 'numpy': {tensor.name} has no value while its graph is "
                f"built.\n  Built at {tensor.op.source}\n  Asked at {self._asked}\n  Fix: {fix}")


# What to do with a tensor that is used where its function, branch or loop has ended.
RETURN_IT = ("it belongs to a function, branch or loop, and is out of scope here: return it from there. A Python list "
             "cannot collect the tensors of a loop, a tf.TensorArray can")

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
                 "_colocation", "_original_op", "_gradient", "__dict__", "__weakref__")

    _repr_html_ = repr_html

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

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs the operation in a session.

        Args:
          feed_dict: values for placeholders and other tensors.
          session: the session; the default one if not given.
        Raises: ValueError if there is no session, or it is another graph's.
        """
        context.session_of(self.graph, session, "execute operation", "run", ":").run(self, feed_dict)

    def values(self) -> tuple[Tensor, ...]:
        """Returns the outputs."""
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
        """Returns the value of an attribute as kernels and rules take it; raises ValueError for an unknown name."""
        if name in self.attrs:
            return self.attrs[name]
        if name in self.opdef.attrs:
            return self.opdef.attrs[name]
        raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")

    @property
    def _control_outputs(self) -> tuple[Operation, ...]:
        """The operations that wait for this one, in creation order."""
        return tuple(self.graph._index.consumers(self))

    def colocation_groups(self) -> list[bytes]:
        """Returns the colocation groups of the operation, as `loc:@<op name>`."""
        return [c.encode() for c in self._colocation] or [f"loc:@{self.name}".encode()]

    @property
    def traceback(self) -> list[Source]:
        """The user's lines that led to the operation: the outermost first, last the one that built it."""
        return self.source.chain[::-1] if self.source else []

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


def add_output(op: Operation, index: int, spec: Spec) -> Tensor:
    """Adds one more output to an operation."""
    t = Tensor.__new__(Tensor)
    t.op, t.value_index, t.graph, t.dtype, t._spec = op, index, op.graph, spec.dtype, spec
    return t
