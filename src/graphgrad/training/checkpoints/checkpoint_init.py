"""`init_from_checkpoint`: initializes variables from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphgrad.errors import describe
from graphgrad.frontend.graph.collections import GraphKeys, get_collection
from graphgrad.frontend.variables.partitioned import PartitionedVariable
from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import shape_str
from graphgrad.ir.source import user_source

from .checkpoint_state import CheckpointReader, load_checkpoint


def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Any) -> None:
    """Makes the initializers of variables read their values from a checkpoint.

    Args:
      ckpt_dir_or_file: a directory, or a checkpoint's path.
      assignment_map: a dictionary (or pairs) from names in the checkpoint to variables, lists of a variable's parts or
        names of variables; or from scopes to scopes, `"old/": "new/"`, where `"/"` means all.
    Raises: ValueError for names that the checkpoint or the graph does not have, and for other shapes or dtypes.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.init_from_checkpoint`.

    >>> import tempfile
    >>> v = tf.get_variable("old/v", initializer=[1.0, 2.0])
    >>> _ = sess.run(v.initializer)
    >>> path = tf.train.Saver([v]).save(sess, tempfile.mkdtemp() + "/model")
    >>> w = tf.get_variable("new/v", shape=[2])
    >>> tf.train.init_from_checkpoint(path, {"old/": "new/"})
    >>> _ = sess.run(w.initializer)
    >>> sess.run(w)
    array([1., 2.], dtype=float32)
    """
    reader = load_checkpoint(ckpt_dir_or_file)
    known = _by_name()
    pairs = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    for source, target in pairs:
        if not isinstance(target, str):
            _initialize(reader, source, _parts(target))
        elif target in known:
            _initialize(reader, source, known[target])
        else:
            _initialize_scope(reader, source, target, known)


def _by_name() -> dict[str, list[Any]]:
    """Returns the graph's variables by name; parts of a partitioned one under its name."""
    known: dict[str, list[Any]] = {}
    for variable in get_collection(GraphKeys.GLOBAL_VARIABLES):
        info = variable._get_save_slice_info()
        known.setdefault(info.full_name if info else variable.op.name, []).append(variable)
    return known


def _parts(target: Any) -> list[Any]:
    parts = list(target) if isinstance(target, (PartitionedVariable, list, tuple)) else [target]
    if not all(isinstance(p, Variable) for p in parts):
        raise TypeError(f"assignment_map maps to {target!r}, which is no variable. Fix: give variables or their names")
    return parts


def _initialize_scope(reader: CheckpointReader, source: str, target: str, known: dict[str, list[Any]]) -> None:
    if not target.endswith("/") or not source.endswith("/"):
        raise ValueError(f"Assignment map with scope only name {target} should map to scope only {source}. "
                         f"Should be 'scope/': 'other_scope/'.\n  Asked for at {user_source(2)}\n"
                         f"  Fix: add the slashes, or make a variable {target} first")
    old, new = ("" if scope == "/" else scope for scope in (source, target))
    for name, parts in known.items():
        if name.startswith(new):
            _initialize(reader, old + name[len(new) :], parts)


def _initialize(reader: CheckpointReader, name: str, parts: list[Any]) -> None:
    if not reader.has_tensor(name):
        raise ValueError(f"Tensor {name} is not found in {reader._bundle.prefix} checkpoint "
                         f"{reader.get_variable_to_shape_map()}\n  Asked for at {user_source(2)}\n"
                         "  Fix: use a name that it has")
    for variable in parts:
        info = variable._get_save_slice_info()
        part = (tuple(info.full_shape), tuple(info.var_offset), tuple(info.var_shape)) if info else None
        shape = part[0] if part else variable._shape
        if shape != reader._bundle.shape(name) or variable.dtype is not reader._bundle.dtype(name):
            raise ValueError(describe(
                "init_from_checkpoint", variable.name,
                f"Shape of variable {variable.name} ({shape_str(shape)}) doesn't match with shape of tensor {name} "
                f"({shape_str(reader._bundle.shape(name))}) from checkpoint reader",
                f"dtypes {variable.dtype.name} and {reader._bundle.dtype(name).name}", str(user_source(2) or ""),
                "make the variable as it was saved"))
        _take(reader, name, part, variable)


def _take(reader: CheckpointReader, name: str, part: Any, variable: Any) -> None:
    """Replaces a variable's initializer."""

    def read() -> Any:
        return reader._bundle.read(name, part)

    graph = variable.graph
    with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None):
        with graph.name_scope("init_from_checkpoint"):
            (value,) = raw.PyFunc([], func=read, Tout=(variable.dtype,))
            value.set_shape(variable._shape)
            variable._initial_value = value
            variable._initializer_op = raw.AssignVariableOp(variable._handle, value, dtype=variable.dtype)
