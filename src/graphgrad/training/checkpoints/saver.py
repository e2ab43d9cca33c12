"""`Saver`: writes variables and tables to checkpoints and sets them from checkpoints.

Values go between session and file directly; a `Saver` adds no operations to the graph.
"""

from __future__ import annotations

import os
import time
from typing import Any

from graphgrad.errors import FailedPreconditionError, NotFoundError, OpError
from graphgrad.frontend.graph.collections import GraphKeys, get_collection
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.context import executing_eagerly, get_default_graph
from graphgrad.ir.files.atomic_files import system_errors
from graphgrad.ir.source import user_source
from graphgrad.system.log import Log

from .bundle import read_bundle
from .bundle_writer import Written, write_bundle
from .checkpoint_state import checkpoint_exists, get_checkpoint_mtimes, remove_checkpoint, write_state
from .saved_items import Item, check_session, items_of

_log = Log(__name__)


class Saver:
    """Saves variables and tables to checkpoints, in TensorFlow's format V2, and restores them.

    Args:
      var_list: the variables, tables and `SaveableObject`s, as a list, or as a dictionary from the names that they
        have in checkpoints; if not given, all global variables, all mutable tables of the graph by the names that they
        were given, and what else is in the collection SAVEABLE_OBJECTS. Parts of a partitioned variable are saved as
        slices of it.
      reshape: whether a value may have another shape than its variable, as long as it has as many elements.
      sharded: accepted; a checkpoint has one data file, or one of each process if variables lie on several.
      max_to_keep: the number of checkpoints to keep; None or 0: all.
      keep_checkpoint_every_n_hours: besides, one checkpoint for every such interval, in hours, is kept permanently.
      name, restore_sequentially, saver_def, builder, write_version, filename: accepted; without effect.
      defer_build: whether the variables are collected when it is used first, not now.
      allow_empty: whether there may be nothing to save.
      pad_step_number: whether steps in file names have leading zeros, eight digits.
      save_relative_paths: whether the file `checkpoint` holds paths relative to its directory.
    Raises: ValueError if there are no variables or two have one name; TypeError for anything else.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.Saver`.

    >>> import tempfile
    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> saver = tf.train.Saver()
    >>> _ = sess.run(v.initializer)
    >>> path = saver.save(sess, tempfile.mkdtemp() + "/model", global_step=3)
    >>> _ = sess.run(v.assign([0.0, 0.0]))
    >>> saver.restore(sess, path)
    >>> sess.run(v)
    array([1., 2.], dtype=float32)
    """

    def __init__(self, var_list: Any = None, reshape: bool = False, sharded: bool = False, max_to_keep: Any = 5,
                 keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None,
                 restore_sequentially: bool = False, saver_def: Any = None, builder: Any = None,
                 defer_build: bool = False, allow_empty: bool = False, write_version: Any = 2,
                 pad_step_number: bool = False, save_relative_paths: bool = False,
                 filename: Any = None):
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                             "var_list=None.")
        if executing_eagerly() and var_list is None:
            raise RuntimeError("When eager execution is enabled, `var_list` must specify a list or dict of variables "
                               "to save")
        self._var_list = var_list
        self._reshape = reshape
        self._max_to_keep = max_to_keep if saver_def is None else saver_def.max_to_keep
        self._every_seconds = keep_checkpoint_every_n_hours * 3600
        self._keep_next_after = time.time() + self._every_seconds
        self._allow_empty = allow_empty
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._last: list[tuple[str, float]] = []
        self._to_be_deleted: list[tuple[str, float]] = []
        self._items: list[Item] | None = None
        self._written = Written()  # how the latest one was written
        if not defer_build:
            self.build()

    def build(self) -> None:
        """Collects the variables, if the constructor has not."""
        if self._items is not None:
            return
        var_list = self._var_list
        if var_list is None:
            var_list = get_collection(GraphKeys.GLOBAL_VARIABLES) + get_collection(GraphKeys.SAVEABLE_OBJECTS)
        if not var_list and not self._allow_empty:
            raise ValueError(f"No variables to save\n  Asked for at {user_source(2)}\n"
                             "  Fix: make the Saver after the variables, or with defer_build=True")
        self._items = items_of(var_list)

    def _built(self) -> list[Item]:
        if self._items is None:
            self.build()
        assert self._items is not None
        return self._items

    # -- the list of checkpoints -------------------------------------------------------

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that it manages, oldest first."""
        return [path for path, _ in self._last]

    def set_last_checkpoints(self, last_checkpoints: Any) -> None:
        """Sets the checkpoints that it manages, oldest first."""
        self.set_last_checkpoints_with_time([(path, float("inf")) for path in last_checkpoints])

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Any) -> None:
        """Sets the checkpoints that it manages: pairs (path, seconds since 1970), oldest first."""
        self._last = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Any) -> None:
        """Adopts checkpoints of an earlier process, so that it deletes them in turn.

        Args:
          checkpoint_paths: their paths, oldest first; those that do not exist are omitted.
        """
        paths = [path for path in checkpoint_paths if checkpoint_exists(path)]
        self.set_last_checkpoints_with_time(list(zip(paths, get_checkpoint_mtimes(paths))))

    # -- saving --------------------------------------------------------------------------

    def save(self, sess: Any, save_path: Any, global_step: Any = None, latest_filename: str | None = None,
             meta_graph_suffix: str = "meta", write_meta_graph: bool = True, write_state: bool = True,
             strip_default_attrs: bool = False, save_debug_info: bool = False) -> Any:
        """Saves the variables.

        The checkpoint is complete before it gets its name: a save that fails leaves the previous one. If variables lie
        on several processes, all of them must call this, with one directory that they share.

        Args:
          sess: the session whose values are saved; ignored in eager mode.
          save_path: the path; its directory is made if necessary.
          global_step: a number (or a tensor or variable that holds it) to add to the path, after a `-`.
          latest_filename: the name of the file `checkpoint` if it is to be another one.
          meta_graph_suffix: what the name of the graph's file ends with.
          write_meta_graph: whether to write the graph beside the values, for `import_meta_graph`. A graph that calls
            Python is not written.
          strip_default_attrs: whether attributes of operations that have their defaults are left out of it.
          save_debug_info: accepted; without effect.
          write_state: whether to write the file `checkpoint` and to delete checkpoints beyond `max_to_keep`.
        Returns: the path to give to `restore`; None if there is nothing to save.
        Raises: TypeError if `sess` is no session; ValueError for names that collide, or if there can be no such
          directory; FailedPreconditionError if a variable has no value; ResourceExhaustedError if the disk is full.
        """
        items = self._built()
        if latest_filename is not None and os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        path = self._path(sess, _text(save_path), global_step, latest_filename or "checkpoint")
        if not items:
            return None
        tensors = [(*entry[:2], array, entry.part) for item in items
                   for entry, array in zip(item.entries(), item.arrays(sess), strict=True)]
        try:
            self._written = write_bundle(path, tensors)
        except (FailedPreconditionError, NotFoundError):
            if os.path.isdir(os.path.dirname(path) or "."):
                raise
            raise ValueError(f"Parent directory of {path} doesn't exist, can't save.\n  Asked for at {user_source(2)}\n"
                             "  Fix: give the path of a directory that can be made") from None
        with self._written as is_first:
            if write_state:
                self._record(path, latest_filename, meta_graph_suffix)
            if write_meta_graph and not executing_eagerly() and is_first:
                with system_errors(path), sess.graph.as_default():
                    self.export_meta_graph(f"{path}.{meta_graph_suffix}", strip_default_attrs=strip_default_attrs)
        return path

    def _path(self, sess: Any, path: str, global_step: Any, latest_filename: str) -> str:
        """Returns the path of a checkpoint, with the number of the step."""
        if global_step is not None:
            if not hasattr(global_step, "__index__") or hasattr(global_step, "graph"):
                global_step = global_step.numpy() if executing_eagerly() else sess.run(global_step)
            return path + (f"-{whole(global_step):08d}" if self._pad_step_number else f"-{whole(global_step)}")
        if os.path.basename(path) == latest_filename:
            raise ValueError(f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{path}'\n"
                             "  Fix: save under another name")
        return path

    def export_meta_graph(self, filename: Any = None, collection_list: Any = None, as_text: bool = False,
                          export_scope: Any = None, clear_devices: bool = False,
                          clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
                          save_debug_info: bool = False) -> Any:
        """Exports the current graph as a `MetaGraphDef`, with operations by which TensorFlow restores checkpoints.

        Args:
          filename: where to write it; nowhere if not given.
          collection_list, as_text, export_scope, clear_devices, clear_extraneous_savers, strip_default_attrs,
            save_debug_info: as for `tf.train.export_meta_graph`.
        Returns: the `MetaGraphDef`.
        """
        from .meta_graph import add_saving, export_meta_graph

        graph_def = get_default_graph().as_graph_def(add_shapes=True)
        add_saving(graph_def, self)
        return export_meta_graph(filename, None, graph_def, self.as_saver_def(), collection_list, as_text, None,
                                 export_scope, clear_devices, strip_default_attrs=strip_default_attrs)

    def as_saver_def(self) -> Any:
        """Returns its settings as a `SaverDef`."""
        from .meta_graph import saver_def_of

        return saver_def_of(self)

    def to_proto(self, export_scope: Any = None) -> Any:
        """Returns its settings as a `SaverDef`.

        Args:
          export_scope: accepted; without effect.
        """
        return self.as_saver_def()

    @staticmethod
    def from_proto(saver_def: Any, import_scope: Any = None) -> Saver:
        """Makes a Saver with these settings for the existing variables.

        Args:
          saver_def: a `SaverDef`.
          import_scope: accepted; without effect.
        """
        return Saver(max_to_keep=saver_def.max_to_keep)

    def _record(self, path: str, latest_filename: str | None, suffix: str) -> None:
        if self._max_to_keep:
            self._last = [(p, t) for p, t in self._last if p != path] + [(path, time.time())]
            if len(self._last) > self._max_to_keep:
                self._to_be_deleted.append(self._last.pop(0))
        if self._written.is_first:
            write_state(os.path.dirname(path), path, self.last_checkpoints, latest_filename, self._save_relative_paths)
        if not self._to_be_deleted:
            return
        old, written = self._to_be_deleted.pop(0)
        if written > self._keep_next_after:
            self._keep_next_after += self._every_seconds
            return
        try:
            if self._written.is_first:
                remove_checkpoint(old, meta_graph_suffix=suffix)
        except OpError as e:
            _log.warning("Ignoring: %s", e)

    # -- restoring -----------------------------------------------------------------------

    def restore(self, sess: Any, save_path: Any) -> None:
        """Restores the variables from a checkpoint; they need not be initialized. All are set, or none.

        Args:
          sess: the session in which they are set; ignored in eager mode.
          save_path: what `save` returned, or `latest_checkpoint`.
        Raises:
          ValueError: if `save_path` is None or no checkpoint.
          NotFoundError: if the checkpoint lacks a variable.
          InvalidArgumentError: if a value has another dtype or shape than its variable.
          DataLossError: if the checkpoint is damaged.
        """
        items = self._built()
        if not items and self._allow_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.\n  Fix: tf.train.latest_checkpoint gives None if "
                             "the directory holds no checkpoint")
        path = _text(save_path)
        if not checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}\n"
                             f"  Asked for at {user_source(2)}\n"
                             "  Fix: give what Saver.save returned, the path without .index")
        for item in items:
            check_session(item.graph, sess, item.name)
        try:
            states = read_bundle(path, lambda b: [item.read(b, sess, self._reshape) for item in items])
        except NotFoundError as e:
            raise NotFoundError(None, None, "Restoring from checkpoint failed. This is most likely due to a Variable "
                                "name or other graph key that is missing from the checkpoint. Please ensure that you "
                                "have not altered the graph expected based on the checkpoint.\n"
                                f"  {e}\n  Restored at {user_source(2)}") from None
        for item, state in zip(items, states):
            item.set(state, sess)


def _text(path: Any) -> str:
    path = os.fspath(path)
    return path.decode() if isinstance(path, bytes) else path
