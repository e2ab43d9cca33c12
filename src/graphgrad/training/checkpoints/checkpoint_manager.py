"""`tf.train.CheckpointManager` and functions that list object checkpoints."""

from __future__ import annotations

import enum
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from graphgrad.ir.blocking import LongWait
from graphgrad.ir.context import executing_eagerly

from .bundle import BundleReader
from .bundle_writer import Written
from .checkpoint_state import checkpoint_exists, get_checkpoint_state, latest_checkpoint, remove_checkpoint, write_state
from .object_graph import KEY, ObjectGraph, TrackableObjectGraph, children


class SaveType(enum.StrEnum):
    """The purpose for which objects are saved."""

    SAVEDMODEL = "savedmodel"
    CHECKPOINT = "checkpoint"


def _number(value: Any) -> int:
    if hasattr(value, "numpy"):
        return int(value.numpy())
    if executing_eagerly() or not hasattr(value, "eval"):
        return int(value)
    return int(value.eval())


class CheckpointManager:
    """Saves checkpoints in a directory, and deletes old ones.

    Args:
      checkpoint: a `Checkpoint`.
      directory: the directory; an earlier process's checkpoints in it are known.
      max_to_keep: the number of checkpoints to keep; all if None.
      keep_checkpoint_every_n_hours: besides, one for every such interval, in hours, is kept permanently.
      checkpoint_name: what file names begin with.
      step_counter: a variable that counts steps, for `checkpoint_interval`.
      checkpoint_interval: the number of steps that must pass until `save` does something.
      init_fn: a function that initializes variables where there is no checkpoint.
      last_checkpoint_step: the step of the last checkpoint, if there is one.
    Raises: ValueError for numbers < 1, or an interval without a counter.
    Reference: TensorFlow 2.21 `tf.train.CheckpointManager`.
    """

    def __init__(self, checkpoint: Any, directory: Any, max_to_keep: Any, keep_checkpoint_every_n_hours: Any = None,
                 checkpoint_name: str = "ckpt", step_counter: Any = None, checkpoint_interval: Any = None,
                 init_fn: Any = None, last_checkpoint_step: Any = None):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._checkpoint, self._directory = checkpoint, os.fspath(directory)
        self._max_to_keep, self._every_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._name = checkpoint_name
        self._step_counter, self._interval, self._init_fn = step_counter, checkpoint_interval, init_fn
        self._last_step = last_checkpoint_step
        self._kept: dict[str, float] = {}
        state = get_checkpoint_state(self._directory)
        now = time.time()
        self._preserved = now
        self._latest: str | None = None
        if state is not None:
            paths = list(state.all_model_checkpoint_paths)
            times = list(state.all_model_checkpoint_timestamps) or [now] * len(paths)
            if len(times) != len(paths):
                times = [now] * len(paths)
            self._kept = {p: t for p, t in zip(paths, times) if checkpoint_exists(p)}
            self._latest = str(state.model_checkpoint_path)
            self._preserved = state.last_preserved_timestamp or now

    @property
    def directory(self) -> str:
        """The directory."""
        return self._directory

    @property
    def checkpoint(self) -> Any:
        """The `Checkpoint`."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> Any:
        """The number of steps between saves, or None."""
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, or None."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints kept, oldest first."""
        return list(self._kept)

    def save(self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None) -> str | None:
        """Saves a checkpoint, and deletes those beyond the limit.

        Args:
          checkpoint_number: the number at the path's end; by default how often the checkpoint has been saved.
          check_interval: whether `checkpoint_interval` counts.
          options: accepted.
        Returns: the path; None if too few steps have passed.
        """
        step = None if self._step_counter is None else _number(self._step_counter)
        if self._interval is not None and check_interval and self._last_step is not None and step is not None:
            if step < self._last_step + self._interval:
                return None
        from graphgrad.executor.runtime.session import get_default_session

        counted = self._checkpoint._count(None if executing_eagerly() else get_default_session())
        number = counted if checkpoint_number is None else _number(checkpoint_number)
        path = self._checkpoint.write(os.path.join(self._directory, f"{self._name}-{number}"))
        with vars(self._checkpoint).get("_written") or Written() as is_first:
            self._last_step = step
            now = time.time()
            self._kept.pop(path, None)
            self._kept[path] = now
            self._latest = path
            if is_first:
                self._note(path)  # before deleting others: the state always names an existing checkpoint
            if self._sweep(now, is_first) and is_first:
                self._note(path)
        return path

    def _note(self, path: str) -> None:
        write_state(self._directory, path, list(self._kept), None, True, list(self._kept.values()), self._preserved)

    def _sweep(self, now: float, removes: bool) -> bool:
        """Deletes checkpoints beyond the limit; returns whether there were any."""
        full = self._max_to_keep is not None and len(self._kept) > self._max_to_keep
        while self._max_to_keep is not None and len(self._kept) > self._max_to_keep:
            path, made = next(iter(self._kept.items()))
            del self._kept[path]
            if self._every_hours and made - self._every_hours * 3600 > self._preserved:
                self._preserved = made
                continue
            if removes:
                remove_checkpoint(path)
        return full

    def restore_or_initialize(self) -> str | None:
        """Restores the latest checkpoint; without one, calls `init_fn`.

        Returns: the checkpoint's path, or None.
        """
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._step_counter is not None:
                self._last_step = _number(self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self) -> None:
        """Does nothing: a checkpoint is complete when `save` returns."""


def checkpoints_iterator(checkpoint_dir: Any, min_interval_secs: float = 0, timeout: Any = None,
                         timeout_fn: Callable[[], bool] | None = None) -> Iterator[str]:
    """Yields the path of each new checkpoint of a directory, and waits for them.

    Args:
      checkpoint_dir: the directory.
      min_interval_secs: the least interval between two of them, in seconds.
      timeout: the seconds to wait; without end if None.
      timeout_fn: a function that is called when that time has passed; whether to stop.
    Returns: an iterator over paths.
    Reference: TensorFlow 2.21 `tf.train.checkpoints_iterator`.

    >>> list(tf.train.checkpoints_iterator("no/such/directory", timeout=0))
    []
    """
    last = None
    while True:
        give_up = None if timeout is None else time.monotonic() + timeout
        new = latest_checkpoint(checkpoint_dir)
        wait = LongWait(lambda: f"checkpoints_iterator: another process, until it saves into {checkpoint_dir}")
        while new is None or new == last:
            wait.look()
            if give_up is not None and time.monotonic() + 1 > give_up:
                if timeout_fn is None or timeout_fn():
                    return
                give_up = time.monotonic() + (timeout or 0)
            time.sleep(1 if timeout is None else min(1, timeout or 0.01))
            new = latest_checkpoint(checkpoint_dir)
        last, started = new, time.monotonic()
        yield new
        time.sleep(max(0.0, started + min_interval_secs - time.monotonic()))


class CheckpointView:
    """The objects that a checkpoint describes, by number; the root is 0.

    Args:
      save_path: the checkpoint's path.
    Raises: NotFoundError if it has none.
    Reference: TensorFlow 2.21 `tf.train.CheckpointView`.
    """

    def __init__(self, save_path: Any):
        self._graph = TrackableObjectGraph.FromString(BundleReader(os.fspath(save_path)).read(KEY).item())

    def children(self, node_id: int) -> dict[str, int]:
        """Returns the numbers of an object's children, by name.

        Args:
          node_id: the object's number.
        """
        return {c.local_name: int(c.node_id) for c in self._graph.nodes[node_id].children}

    def descendants(self) -> list[int]:
        """Returns the numbers of all objects, breadth first."""
        found = [0]
        for number in found:
            found += [n for n in dict.fromkeys(self.children(number).values()) if n not in found]
        return found

    def match(self, obj: Any) -> dict[int, Any]:
        """Matches a program's objects to the checkpoint's: number -> object.

        Args:
          obj: the program's root.
        """
        matched: dict[int, Any] = {}
        waiting = [(obj, 0)]
        while waiting:
            value, number = waiting.pop(0)
            if number in matched:
                continue
            matched[number] = value
            mine = children(value)
            waiting += [(mine[n], i) for n, i in self.children(number).items() if n in mine]
        return matched

    def diff(self, obj: Any) -> Any:
        """Returns the matches, the program's objects without a match, and the numbers without one.

        Args:
          obj: the program's root.
        """
        matched = self.match(obj)
        known = {id(v) for v in matched.values()}
        only_there = [v for v in TrackableView(obj).descendants() if id(v) not in known]
        return matched, only_there, [n for n in self.descendants() if n not in matched]


class TrackableView:
    """The objects that a root holds, as checkpoints save them.

    Args:
      root: the root.
    Reference: TensorFlow 2.21 `tf.train.TrackableView`.
    """

    def __init__(self, root: Any):
        self._root = root

    @property
    def root(self) -> Any:
        """The root."""
        return self._root

    @classmethod
    def children(cls, obj: Any, save_type: Any = SaveType.CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        """Returns the objects that an object holds, by name.

        Args:
          obj: the object.
          save_type: accepted.
          **kwargs: accepted.
        """
        return children(obj)

    def descendants(self) -> list[Any]:
        """Returns all objects, breadth first."""
        return ObjectGraph(self._root, with_slots=False).objects
