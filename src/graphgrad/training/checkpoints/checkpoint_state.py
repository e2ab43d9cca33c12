"""The file `checkpoint`, which lists the checkpoints of a directory, and functions that find them."""

from __future__ import annotations

import contextlib
import glob
import os
from typing import Any

import numpy as np

from graphgrad.ir.files.atomic_files import open_plain, system_errors, write_whole
from graphgrad.ir.proto.messages import Message
from graphgrad.ir.proto.text import parse
from graphgrad.system.log import Log

from .bundle import BundleReader
from .bundle_messages import index_path

_log = Log(__name__)
_LARGEST = 1 << 26  # size limit in bytes of a state: a million checkpoints


class CheckpointState(Message):
    """The contents of the file `checkpoint`.

    Args:
      model_checkpoint_path: the last checkpoint.
      all_model_checkpoint_paths: all that there are, oldest first.
      all_model_checkpoint_timestamps: when they were written, in seconds since 1970.
      last_preserved_timestamp: when one was last kept permanently.
    """

    FIELDS = {"model_checkpoint_path": (1, "string"), "all_model_checkpoint_paths": (2, ["string"]),
              "all_model_checkpoint_timestamps": (3, ["double"]),
              "last_preserved_timestamp": (4, "double")}


def _state_path(folder: Any, latest_filename: str | None) -> str:
    return os.path.join(os.fspath(folder), latest_filename or "checkpoint")


def generate_checkpoint_state_proto(save_dir: Any, model_checkpoint_path: Any, all_model_checkpoint_paths: Any = None,
                                    all_model_checkpoint_timestamps: Any = None,
                                    last_preserved_timestamp: Any = None) -> CheckpointState:
    """Makes the state of a directory with these checkpoints.

    Args:
      save_dir: the directory; if it is a relative path, paths are made relative to it.
      model_checkpoint_path: the last checkpoint.
      all_model_checkpoint_paths: all checkpoints, oldest first; the last one is added if it is missing.
      all_model_checkpoint_timestamps: as many times as there are paths.
      last_preserved_timestamp: when one was last kept permanently.
    Returns: a `CheckpointState`.
    Raises: ValueError if there are not as many times as paths.

    >>> state = generate_checkpoint_state_proto("out", "out/m-2", ["out/m-1", "out/m-2"])
    >>> state.model_checkpoint_path, list(state.all_model_checkpoint_paths)
    ('m-2', ['m-1', 'm-2'])
    """
    paths = list(all_model_checkpoint_paths or [])
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    times = all_model_checkpoint_timestamps
    if times and len(times) != len(paths):
        raise ValueError(f"Checkpoint timestamps, if provided, must match checkpoint paths (got paths {paths} and "
                         f"timestamps {list(times)})")
    folder = os.fspath(save_dir)
    if not os.path.isabs(folder):
        paths = [p if os.path.isabs(p) else os.path.relpath(p, folder) for p in paths]
        if not os.path.isabs(model_checkpoint_path):
            model_checkpoint_path = os.path.relpath(model_checkpoint_path, folder)
    return CheckpointState(model_checkpoint_path=model_checkpoint_path, all_model_checkpoint_paths=paths,
                           all_model_checkpoint_timestamps=times,
                           last_preserved_timestamp=last_preserved_timestamp)


def update_checkpoint_state(save_dir: Any, model_checkpoint_path: Any, all_model_checkpoint_paths: Any = None,
                            latest_filename: Any = None, all_model_checkpoint_timestamps: Any = None,
                            last_preserved_timestamp: Any = None) -> None:
    """Writes the file `checkpoint` of a directory.

    Args:
      save_dir, model_checkpoint_path, all_model_checkpoint_paths, all_model_checkpoint_timestamps,
        last_preserved_timestamp: as for `generate_checkpoint_state_proto`.
      latest_filename: another name for the file.
    Raises: RuntimeError if a checkpoint would have the name of the file.
    """
    write_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename, False,
                all_model_checkpoint_timestamps, last_preserved_timestamp)


def update_checkpoint_state_internal(save_dir: Any, model_checkpoint_path: Any, all_model_checkpoint_paths: Any = None,
                                     latest_filename: Any = None, save_relative_paths: bool = False,
                                     all_model_checkpoint_timestamps: Any = None,
                                     last_preserved_timestamp: Any = None) -> None:
    """Writes the file `checkpoint` of a directory, as libraries do.

    Args:
      save_relative_paths: whether paths in the file begin at the directory.
      save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename, all_model_checkpoint_timestamps,
        last_preserved_timestamp: as for `update_checkpoint_state`.
    """
    write_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename, save_relative_paths,
                all_model_checkpoint_timestamps, last_preserved_timestamp)


def write_state(save_dir: Any, last: str, paths: Any, latest_filename: Any, relative: bool, times: Any = None,
                preserved: Any = None) -> None:
    """Writes the file `checkpoint`; `relative` writes paths relative to the directory."""
    folder = os.fspath(save_dir)
    path = _state_path(folder, latest_filename)
    if relative:
        last = os.path.relpath(last, folder or ".")
        paths = [os.path.relpath(p, folder or ".") for p in paths or []]
        state = CheckpointState(model_checkpoint_path=last, all_model_checkpoint_timestamps=times,
                                all_model_checkpoint_paths=paths if last in paths else [*paths, last],
                                last_preserved_timestamp=preserved)
    else:
        state = generate_checkpoint_state_proto(folder, last, paths, times, preserved)
    if path == state.model_checkpoint_path:
        raise RuntimeError(f"Save path '{last}' conflicts with path used for checkpoint state. Fix: use another path")
    write_whole(path, repr(state).encode())


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> CheckpointState | None:
    """Reads the file `checkpoint` of a directory.

    Args:
      checkpoint_dir: the directory.
      latest_filename: the file's name if it is another one.
    Returns: a `CheckpointState` with paths that begin with the directory; None if there is no such file or it
      cannot be read, which is logged.
    Reference: TensorFlow 2.21 `tf.train.get_checkpoint_state`.

    >>> print(tf.train.get_checkpoint_state("no/such/directory"))
    None
    """
    path = _state_path(checkpoint_dir, latest_filename)
    try:
        fd, info = open_plain(path, links=True)
        with os.fdopen(fd, encoding="utf-8") as f:
            if info.st_size > _LARGEST:
                raise ValueError(f"{info.st_size} bytes are no CheckpointState")
            state = parse(CheckpointState, f.read())
        if not state.model_checkpoint_path:
            raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as e:
        _log.warning("%s: %s", type(e).__name__, e)
        _log.warning("%s: Checkpoint ignored", path)
        return None
    folder = os.fspath(checkpoint_dir)
    state.model_checkpoint_path = os.path.join(folder, state.model_checkpoint_path)
    state.all_model_checkpoint_paths[:] = [os.path.join(folder, p) for p in state.all_model_checkpoint_paths]
    return state


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """Returns the path of the latest checkpoint.

    Args:
      checkpoint_dir: the directory.
      latest_filename: the name of the file `checkpoint` if it is another one.
    Returns: the path to give to `Saver.restore`, or None.
    Reference: TensorFlow 2.21 `tf.train.latest_checkpoint`.

    >>> print(tf.train.latest_checkpoint("no/such/directory"))
    None
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    path = str(state.model_checkpoint_path)
    if checkpoint_exists(path):
        return path
    _log.error("Couldn't match files for checkpoint %s", path)
    return None


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Returns whether there is a checkpoint of that path.

    Args:
      checkpoint_prefix: the path, without suffix.
    Returns: a bool.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.checkpoint_exists`.

    >>> tf.train.checkpoint_exists("no/such/model-1")
    False
    """
    return os.path.exists(index_path(os.fspath(checkpoint_prefix)))


def get_checkpoint_mtimes(checkpoint_prefixes: Any) -> list[float]:
    """Returns when checkpoints were written, in seconds since 1970; skips missing ones.

    Args:
      checkpoint_prefixes: paths, without suffix.
    Returns: a list of floats.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.get_checkpoint_mtimes`.
    """
    return [os.path.getmtime(index_path(p)) for p in map(os.fspath, checkpoint_prefixes) if checkpoint_exists(p)]


def remove_checkpoint(checkpoint_prefix: Any, checkpoint_format_version: Any = 2,
                      meta_graph_suffix: str = "meta") -> None:
    """Deletes the files of a checkpoint.

    Args:
      checkpoint_prefix: its path.
      checkpoint_format_version: accepted; there is one.
      meta_graph_suffix: the ending of a file that goes with it.
    """
    prefix = os.fspath(checkpoint_prefix)
    data = glob.glob(f"{glob.escape(prefix)}.data-?????-of-?????")
    for path in [f"{prefix}.{meta_graph_suffix}", index_path(prefix), *data]:
        with system_errors(path), contextlib.suppress(FileNotFoundError):
            os.unlink(path)


# -- reading -------------------------------------------------------------------------------


class CheckpointReader:
    """Reads tensors of a checkpoint by name.

    Args:
      filename: the checkpoint's path, without `.index`.
    Raises: NotFoundError if there is none; DataLossError if it is damaged.
    Reference: TensorFlow 2.21 `tf.train.NewCheckpointReader`.
    """

    def __init__(self, filename: Any):
        self._bundle = BundleReader(filename)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Returns name -> shape, a list."""
        return {n: list(self._bundle.shape(n)) for n in self._bundle.names()}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """Returns name -> dtype."""
        return {n: self._bundle.dtype(n) for n in self._bundle.names()}

    def has_tensor(self, tensor_str: Any) -> bool:
        """Returns whether there is a tensor of that name."""
        return self._bundle.has(_text(tensor_str))

    def get_tensor(self, tensor_str: Any) -> Any:
        """Reads a tensor, an array (a scalar for rank 0); raises NotFoundError if there is none of that name."""
        value = self._bundle.read(_text(tensor_str))
        return value if value.ndim else value[()]

    def debug_string(self) -> bytes:
        """Formats a line for each tensor: name, dtype, shape."""
        names = self._bundle.names()
        types = {n: self._bundle.dtype(n).name for n in names}
        types = {n: {"float32": "float", "float64": "double", "float16": "half"}.get(t, t) for n, t in types.items()}
        lines = [f"{n} (DT_{types[n].upper()}) [{','.join(map(str, self._bundle.shape(n)))}]\n" for n in names]
        return "".join(lines).encode()


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else name


def new_checkpoint_reader(filepattern: Any) -> CheckpointReader:
    """Makes a reader for a checkpoint: `get_tensor`, `has_tensor`, `get_variable_to_shape_map`.

    Args:
      filepattern: the checkpoint's path, without `.index`.
    Returns: a `CheckpointReader`.
    Raises: NotFoundError if there is none; DataLossError if it is damaged.
    """
    return CheckpointReader(filepattern)


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """Makes a reader for a checkpoint, or for the latest one of a directory.

    Args:
      ckpt_dir_or_file: a directory, or a checkpoint's path.
    Returns: a `CheckpointReader`.
    Raises: ValueError if a directory holds none; NotFoundError if there is none of that path.
    """
    path = os.fspath(ckpt_dir_or_file)
    if checkpoint_exists(path):
        return CheckpointReader(path)
    if os.path.isdir(path):
        found = latest_checkpoint(path)
        if found is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
        path = found
    return CheckpointReader(path)


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Lists the names and shapes of a checkpoint's tensors.

    Args:
      ckpt_dir_or_file: a directory, or a checkpoint's path.
    Returns: pairs (name, shape), sorted by name.
    Raises: as `load_checkpoint`.
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> np.ndarray[Any, Any] | Any:
    """Reads one of a checkpoint's tensors.

    Args:
      ckpt_dir_or_file: a directory, or a checkpoint's path.
      name: the tensor's name, with or without `:0`.
    Returns: an array; a NumPy scalar for rank 0.
    Raises: as `load_checkpoint`; NotFoundError for a name that it does not have.
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
