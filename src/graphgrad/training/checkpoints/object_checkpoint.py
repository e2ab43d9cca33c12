"""`tf.train.Checkpoint`: checkpoints of objects that hold variables, in TensorFlow 2's format."""

from __future__ import annotations

import os
import weakref
from typing import Any

import numpy as np

from graphgrad.errors import DataLossError, FailedPreconditionError, NotFoundError
from graphgrad.executor.runtime.session import get_default_session
from graphgrad.frontend.tracking.trackable import RESTORE_LATER, AutoTrackable
from graphgrad.frontend.variables.variable import Variable, VariableV1
from graphgrad.ir.context import executing_eagerly
from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import string
from graphgrad.ir.shape import compatible
from graphgrad.training.optimizers.optimizer import Optimizer

from .bundle import BundleReader, read_bundle
from .bundle_writer import Written, write_bundle
from .checkpoint_state import checkpoint_exists, write_state
from .object_graph import (
    KEY,
    ObjectGraph,
    TrackableObjectGraph,
    children,
    is_trackable,
    pieces,
)
from .saveable import Saveable, own_tensors, states
from .saved_items import cell_of, read_value, saved_value, set_value
from .saver import _text


class CheckpointOptions:
    """How checkpoints are written. Kept, and without effect.

    Args:
      experimental_io_device, experimental_enable_async_checkpoint, experimental_write_callbacks, enable_async,
        experimental_skip_slot_variables, experimental_sharding_callback: accepted.
    Reference: TensorFlow 2.21 `tf.train.CheckpointOptions`.
    """

    def __init__(self, experimental_io_device: Any = None, experimental_enable_async_checkpoint: bool = False,
                 experimental_write_callbacks: Any = None, enable_async: bool = False,
                 experimental_skip_slot_variables: bool = False,
                 experimental_sharding_callback: Any = None):
        self.experimental_io_device = experimental_io_device
        self.enable_async = experimental_enable_async_checkpoint or enable_async
        self.experimental_enable_async_checkpoint = self.enable_async
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback


def _session(session: Any) -> Any:
    return session if session is not None or executing_eagerly() else get_default_session()


class _Load:
    """A checkpoint that is being restored: its contents, and the objects that have received them."""

    def __init__(self, bundle: BundleReader):
        self.bundle = bundle
        self.graph = TrackableObjectGraph.FromString(self.bundle.read(KEY).item())
        self.matched: dict[int, Any] = {}  # node -> object
        self.waiting: list[tuple[Any, Any]] = []  # variables of graphs, and their values
        self.slots: dict[int, list[tuple[int, str, int]]] = {}
        count = len(self.graph.nodes)
        if not count:
            raise DataLossError(None, None, f"{bundle.prefix}: the checkpoint has no objects.\n"
                                "  Fix: use another copy of the file")
        for number, node in enumerate(self.graph.nodes):
            slots = node.slot_variables
            named = [link.node_id for link in node.children]
            named += [i for s in slots for i in (s.original_variable_node_id, s.slot_variable_node_id)]
            if not all(0 <= i < count for i in named):
                raise DataLossError(None, None, f"{bundle.prefix}: object {number} of the checkpoint names others that "
                                    "are not there.\n  Fix: use another copy of the file")
            for s in node.slot_variables:
                self.slots.setdefault(number, []).append(
                    (int(s.original_variable_node_id), s.slot_name, int(s.slot_variable_node_id)))

    def match(self, value: Any, number: int) -> None:
        """Restores an object, and what it holds, from a node and its children."""
        pending = [(value, number)]
        while pending:
            value, number = pending.pop()
            if number in self.matched:
                continue
            self.matched[number] = value
            node = self.graph.nodes[number]
            self._restore(value, node)
            mine = children(value)
            for link in node.children:
                if link.local_name in mine:
                    pending.append((mine[link.local_name], int(link.node_id)))
            if isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, Variable):
                vars(value)[RESTORE_LATER] = self._later
        self._match_slots()

    def _later(self, value: Any, name: str | None, child: Any) -> None:
        """Restores what is attached to a restored object later; without a name, all its children."""
        if name is None:
            child = children(value)
            for part, found in child.items():
                self._later(value, part, found)
            self._match_slots()
            return
        if not is_trackable(child):
            return
        for number, known in list(self.matched.items()):
            if known is value:
                for link in self.graph.nodes[number].children:
                    if link.local_name == name and int(link.node_id) not in self.matched:
                        self.match(child, int(link.node_id))

    def _match_slots(self) -> None:
        for number, slots in self.slots.items():
            optimizer = self.matched.get(number)
            if not isinstance(optimizer, Optimizer):
                continue
            for variable, name, slot in slots:
                owner = self.matched.get(variable)
                found = optimizer.get_slot(owner, name) if isinstance(owner, Variable) else None
                if found is not None and slot not in self.matched:
                    self.matched[slot] = found
                    self._restore(found, self.graph.nodes[slot])

    def _restore(self, value: Any, node: Any) -> None:
        keys = {a.name: a.checkpoint_key for a in node.attributes}
        if isinstance(value, Variable):
            if "VARIABLE_VALUE" in keys:
                self._set(value, read_value(self.bundle, keys["VARIABLE_VALUE"], value), keys["VARIABLE_VALUE"])
        elif isinstance(value, Saveable) and (key := keys.get(value._pieces[0].attribute)) is not None:
            state = value._read_state(self.bundle, key)
            if state is not None and value._needs_session():
                self.waiting.append((value, state))
            elif state is not None:
                value._set_state(state, None)
        elif keys and (own := own_tensors(value)) is not None:
            value._restore_from_tensors({n: constant(self.bundle.read(keys[n])) for n in own if n in keys})

    def _set(self, variable: Any, array: Any, key: str) -> None:
        wanted = variable.shape._dims
        if not compatible(wanted, array.shape):
            raise ValueError(f"Received incompatible tensor with shape {array.shape} when attempting to restore "
                             f"variable with shape {tuple(wanted)} and name {variable.name}. "
                             "Fix: make it as it was saved")
        if self.bundle.dtype(key) is not variable.dtype:
            raise ValueError(f"Received a value of dtype {self.bundle.dtype(key).name} for the variable "
                             f"{variable.name} of dtype {variable.dtype.name}. Fix: make it as it was saved")
        if variable._graph is None:
            set_value(variable, array, None)
        else:
            self.waiting.append((variable, array))

    def run(self, session: Any) -> None:
        """Sets the variables of a session's graph."""
        for value, state in self.waiting:
            if isinstance(value, Variable):
                set_value(value, state, session)
            else:
                value._set_state(state, session)

    def unmatched_nodes(self) -> list[str]:
        """Returns the keys of values that no object has received."""
        return [a.checkpoint_key for number, node in enumerate(self.graph.nodes) if number not in self.matched
                for a in node.attributes]


class CheckpointLoadStatus:
    """The result of restoring a checkpoint, from `Checkpoint.restore`."""

    def __init__(self, load: Any, root: Any):
        self._load, self._root = load, root

    def assert_consumed(self) -> Any:
        """Raises an error unless each value went to an object and each object got one; returns self."""
        lost = self._load.unmatched_nodes()
        if lost:
            raise AssertionError(f"Unresolved object in checkpoint (root).{lost[0]} and {len(lost) - 1} more: nothing "
                                 "in the program has its value. Fix: make them, or expect_partial()")
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> Any:
        """Raises AssertionError unless every object with values got them; returns self."""
        known = {id(v) for v in self._load.matched.values()}
        without = [v for v in ObjectGraph(self._root).objects if pieces(v) and id(v) not in known]
        without = [v for v in without if v is not getattr(self._root, "_save_counter", None)]
        if without:
            raise AssertionError(f"Found {len(without)} Python objects that were not bound to checkpointed values, "
                                 f"likely due to changes in the Python program. Showing {min(10, len(without))} of "
                                 f"{len(without)} unmatched objects: {without[:10]}\n"
                                 "  Fix: leave them out, or expect_partial()")
        return self

    def assert_nontrivial_match(self) -> Any:
        """Raises AssertionError unless an object besides the root got a value; returns self."""
        if not any(pieces(v) for v in self._load.matched.values()):
            raise AssertionError("Nothing except the root object matched a checkpointed value. Typically this means "
                                 "that the checkpoint does not match the Python program. The following objects have no "
                                 f"matching checkpointed value: {ObjectGraph(self._root).objects[1:11]}")
        return self

    def expect_partial(self) -> Any:
        """Accepts values that were not restored; returns self."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Sets the variables, in a graph.

        Args:
          session: the session; the current one by default.
        """
        self._load.run(_session(session))

    def initialize_or_restore(self, session: Any = None) -> None:
        """Sets the variables, in a graph, and initializes those that the checkpoint lacks.

        Args:
          session: the session; the current one by default.
        """
        session = _session(session)
        _initialize(self._root, {id(v) for v in self._load.matched.values()}, session)
        self._load.run(session)


def _initialize(root: Any, but: set[int], session: Any) -> None:
    if executing_eagerly():
        return
    found = [v for v in ObjectGraph(root).objects if isinstance(v, Variable) and id(v) not in but]
    session.run([v.initializer for v in found if v._graph is not None])


class InitializationOnlyStatus:
    """The result of restoring nothing: `Checkpoint.restore(None)`."""

    def __init__(self, root: Any):
        self._root = root

    def _fail(self) -> Any:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored. "
                             "Fix: tf.train.latest_checkpoint gives None if there is none")

    assert_consumed = assert_existing_objects_matched = assert_nontrivial_match = _fail

    def expect_partial(self) -> Any:
        """Returns this object."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Raises AssertionError: there is nothing to restore."""
        self._fail()

    def initialize_or_restore(self, session: Any = None) -> None:
        """Initializes the variables, in a graph."""
        _initialize(self._root, set(), _session(session))


def write_objects(path: str, graph: ObjectGraph, session: Any = None) -> Written:
    """Writes a checkpoint of objects.

    Args:
      path: its path.
      graph: the objects.
      session: the session that has the values of those that belong to a graph.
    Raises: FailedPreconditionError if a variable has no value.
    """
    tensors: list[Any] = []
    for number, value in enumerate(graph.objects):
        found = pieces(value)
        if isinstance(value, Variable):
            cell = cell_of(value, session)
            if cell.held is None:
                raise FailedPreconditionError(None, None, f"Checkpoint cannot save the variable {cell.name}: it "
                                              "was not initialized. Fix: tf.global_variables_initializer()")
            tensors.append((graph.key(number, found[0]), cell.dtype, saved_value(value, session), None))
        elif found:
            for piece, (dtype, array) in zip(found, states(value, session), strict=True):
                tensors.append((graph.key(number, piece) + piece.suffix, dtype, array, None))
    described = np.array(graph.message().SerializeToString(), object)
    return write_bundle(path, [*tensors, (KEY, string, described, None)])


class _ByName(_Load):
    """A checkpoint of a `Saver`, whose values are matched to variables by name."""

    def __init__(self, bundle: BundleReader, root: Any):
        self.bundle = bundle
        self.waiting, self.matched = [], {}
        for number, value in enumerate(ObjectGraph(root).objects):
            if isinstance(value, Variable) and self.bundle.has(value._shared_name):
                self._set(value, read_value(self.bundle, value._shared_name, value), value._shared_name)
                self.matched[number] = value

    def unmatched_nodes(self) -> list[str]:
        """Returns the names of values that no variable has received."""
        names = {v._shared_name for v in self.matched.values()}
        return [n for n in self.bundle.names() if n not in names]


class Checkpoint(AutoTrackable):
    """Saves and restores variables, tables and iterators that objects hold, by the names of attributes.

    Args:
      root: an object whose own attributes are saved, such as a `tf.Module`.
      **kwargs: further objects: variables, modules, optimizers, tables, data sets' iterators, lists, tuples and
        dictionaries of them. They, and attributes that are set later, are attributes of the checkpoint.
    Raises: ValueError for what holds no variables.
    Files are TensorFlow's: each system restores what the other saves, except iterators.
    Reference: TensorFlow 2.21 `tf.train.Checkpoint`.

    >>> import tempfile
    >>> v = tf.Variable(3.0)
    >>> checkpoint = tf.train.Checkpoint(v=v)
    >>> _ = sess.run(v.initializer)
    >>> path = checkpoint.save(tempfile.mkdtemp() + "/model", sess)
    >>> _ = sess.run(v.assign(0.0))
    >>> checkpoint.restore(path).run_restore_ops(sess)
    >>> sess.run(v)
    np.float32(3.0)
    """

    _root_or_reference: Any
    _save_counter: Any
    _written: Written  # how the latest one was written

    def __init__(self, root: Any = None, **kwargs: Any):
        reference = root
        if isinstance(root, weakref.ref):  # of a library's model, which holds the checkpoint
            root = root()
        if root is not None and not is_trackable(root):
            raise ValueError(f"`Checkpoint` was expecting root to be a trackable object, got {root}. "
                             "Fix: give a tf.Module, or name the objects: Checkpoint(v=v)")
        vars(self)["_root_or_reference"], vars(self)["_save_counter"] = reference, None
        for name, value in sorted(kwargs.items()):
            if not is_trackable(value):
                raise ValueError(f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from "
                                 f"`Trackable`), got {value}. Fix: tf.Variable(...)")
            known = children(root).get(name) if root is not None else None
            if known is not None and known is not value:
                raise ValueError(f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already "
                                 "exists. Fix: give it another name")
            setattr(self, name, value)

    @property
    def _root(self) -> Any:
        held = self._root_or_reference
        return held() if isinstance(held, weakref.ref) else held

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        own = super()._trackable_children(save_type, **kwargs)
        if self._root is not None:
            own = {**children(self._root), **own, "root": self}
        if self._save_counter is not None:
            own["save_counter"] = self._save_counter
        return own

    @property
    def save_counter(self) -> Any:
        """A variable that counts calls of `save`, int64."""
        if self._save_counter is None:
            kind = Variable if executing_eagerly() else VariableV1
            vars(self)["_save_counter"] = kind(np.int64(0), name="save_counter", trainable=False)
            later = vars(self).get(RESTORE_LATER)
            if later is not None:
                later(self, "save_counter", self._save_counter)
        return self._save_counter

    # -- saving ------------------------------------------------------------------------

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Writes a checkpoint.

        Args:
          file_prefix: its path.
          options: accepted.
        Returns: the path.
        Raises: FailedPreconditionError if a variable of a graph has no value.
        """
        return self._write(file_prefix)

    def _write(self, file_prefix: Any, session: Any = None) -> str:
        path = _text(file_prefix)
        vars(self)["_written"] = write_objects(path, ObjectGraph(self), _session(session))
        return path

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Writes a checkpoint with a numbered path, and notes it as the latest one.

        Args:
          file_prefix: the path without the number.
          options: accepted.
        Returns: the path.
        """
        return self._save(file_prefix, None)

    def _save(self, file_prefix: Any, session: Any) -> str:
        number = self._count(_session(session))
        path = self._write(f"{_text(file_prefix)}-{number}", session)
        with self._written as is_first:
            if is_first:
                write_state(os.path.dirname(path), path, [path], None, True)
        return path

    def _count(self, session: Any) -> int:
        counter = self.save_counter
        if counter._graph is None:
            counter.assign_add(1)
            return int(counter.numpy())
        cell = cell_of(counter, session)
        cell.value = np.asarray(1 if cell.held is None else int(cell.value) + 1, np.int64)
        return int(cell.value)

    # -- restoring ---------------------------------------------------------------------

    def read(self, save_path: Any, options: Any = None) -> Any:
        """Restores a checkpoint that `write` wrote.

        Args:
          save_path: its path.
          options: accepted.
        Returns: a `CheckpointLoadStatus`.
        Raises: NotFoundError if there is none; ValueError for other shapes or dtypes than the variables'; DataLossError
          if it is damaged.
        """
        return CheckpointLoadStatus(read_bundle(_text(save_path), self._loaded), self)

    def _loaded(self, bundle: BundleReader) -> Any:
        if not bundle.has(KEY):
            return _ByName(bundle, self)
        load = _Load(bundle)
        load.match(self, 0)
        return load

    def restore(self, save_path: Any, options: Any = None) -> Any:
        """Restores a checkpoint, at once in eager mode; objects attached later get their values then.

        Args:
          save_path: its path; None for none.
          options: accepted.
        Returns: a `CheckpointLoadStatus`, which tells whether all was restored.
        Raises: as `read`.
        """
        if save_path is None:
            return InitializationOnlyStatus(self)
        path = _text(save_path)
        if not checkpoint_exists(path):
            raise NotFoundError(None, None, f"Error when restoring from checkpoint or SavedModel at {path}: "
                                "Unsuccessful TensorSliceReader constructor: Failed to find any matching files.\n"
                                "  Fix: check the path; it may lack a number, such as -1 in 'path/to/ckpt-1'")
        status = self.read(path)
        self.save_counter  # noqa: B018  # created now, so that numbers continue
        return status

    def sync(self) -> None:
        """Does nothing: a checkpoint is complete when `save` returns."""


class CheckpointV1(Checkpoint):
    __doc__ = Checkpoint.__doc__

    def __init__(self, **kwargs: Any):
        super().__init__(None, **kwargs)

    # Silenced: other arguments than the base's, as in TensorFlow.
    def write(self, file_prefix: Any, session: Any = None, options: Any = None) -> str:  # type: ignore[override]
        """Writes a checkpoint.

        Args:
          file_prefix: its path.
          session: in a graph, the session that has the values; the current one by default.
          options: accepted.
        Returns: the path.
        """
        return self._write(file_prefix, session)

    # Silenced: other arguments than the base's, as in TensorFlow.
    def save(self, file_prefix: Any, session: Any = None, options: Any = None) -> str:  # type: ignore[override]
        """Writes a checkpoint with a numbered path, and notes it as the latest one.

        Args:
          file_prefix: the path without the number.
          session: in a graph, the session that has the values; the current one by default.
          options: accepted.
        Returns: the path.
        """
        return self._save(file_prefix, session)

    def restore(self, save_path: Any) -> Any:  # type: ignore[override]  # as in TensorFlow
        """Restores a checkpoint; in a graph when `run_restore_ops` or `initialize_or_restore` of the result is called.

        Args:
          save_path: its path; None for none.
        Returns: a `CheckpointLoadStatus`.
        """
        return super().restore(save_path)
