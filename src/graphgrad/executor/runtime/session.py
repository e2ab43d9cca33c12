"""`Session`: runs parts of a graph and holds the values of its variables."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from graphgrad.errors import FailedPreconditionError, InvalidArgumentError, describe
from graphgrad.executor.plan.placement import Placement, SessionDevice, full_name
from graphgrad.ir import dtypes
from graphgrad.ir.blocking import limited, untimed
from graphgrad.ir.context import get_default_graph, sessions
from graphgrad.ir.context import use as use_graph
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.values.kept_tensor import KeptName, KeptTensor
from graphgrad.ir.values.variable_store import FIRST_VALUE, Cell

from . import servers
from .executable import Executable
from .feeds import QuickFeeds, converted_feeds, fed_too, feed_targets, feed_values, flat_feeds, other_reads
from .fetches import Fetches, conversions, fetched_array, kept, places_in, replaced, structure_key
from .partial_run import PartialRun
from .random_positions import RandomPositions
from .run_report import RunReport
from .tensor_handle import TensorHandle


def get_default_session() -> BaseSession | Any:
    """Returns the innermost session of a `with session:` (or `as_default`) block of this thread, or None."""
    return sessions.entries[-1] if sessions.entries else None


def _id_of(key: Any) -> Any:
    return key if isinstance(key, str) else id(key)


class _Entry:
    """A cached run: how to feed, what to compute, how to return it."""

    __slots__ = ("keep", "feeds", "again", "executable", "rebuild", "quick_feeds", "places")

    def __init__(self, keep: Any, feeds: Sequence[Tensor], again: list[int], executable: Executable,
                 rebuild: Callable[[list[Any]], Any], places: Any):
        self.keep = keep  # the key consists of ids, so the objects must be kept alive
        self.feeds = feeds
        self.again = again  # the positions of the values that are fed to further reads of variables
        self.executable = executable
        self.rebuild = rebuild
        self.quick_feeds = QuickFeeds(feeds)
        self.places = places  # of the fetches, see `places_in`

    def run_swiftly(self, given: Iterable[Any]) -> Any:
        """Runs, if it takes no more than a function of NumPy's.

        Args:
          given: what is fed, a value for each of `feeds`.
        Returns: what was fetched; `_NOTHING` if it takes more.
        """
        swift = self.executable.swift
        if swift is None or self.places is None or self.again:
            return _NOTHING
        values = swift.gifts(self.quick_feeds.arrays(given))
        if values is None:
            return _NOTHING
        if type(places := self.places) is int:
            return values[places]
        make, parts = places
        found = [None if p is None else values[p] for p in parts]
        return found if make is list else tuple(found)

    def values(self, feed_dict: Any) -> list[Any]:
        """Returns the arrays to feed."""
        values = feed_values(self.feeds, feed_dict)
        return values + [values[i] for i in self.again] if self.again else values


_NOTHING = object()


def _jit_level(config: Any) -> int:
    """Returns the `graph_options.optimizer_options.global_jit_level` of a `ConfigProto`, 0 if it is not set."""
    level: int = 0 if config is None else config.graph_options.optimizer_options.global_jit_level
    return level


def _timeout(config: Any) -> int:
    """Returns the milliseconds that a run may wait for queues; 0 if not set."""
    limit: int = 0 if config is None else config.operation_timeout_in_ms
    return limit


class BaseSession:
    """Runs a graph; see `Session`."""

    _engine = "xla"

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f'Argument `graph` must be a tf.Graph, but got "{type(graph).__name__}"')
        if not isinstance(target, (str, bytes)):
            raise TypeError(f'Argument `target` must be a string, but got "{type(target).__name__}"')
        self._graph = graph if graph is not None else get_default_graph()
        self._target, self._config = target, config
        self._place = Placement.of(config)
        if self._engine == "xla" and _jit_level(config) > 0:
            self._engine = "whole"
        self._timeout = _timeout(config)
        self._closed = False
        self._partial: dict[str, PartialRun] = {}
        self._served = servers.find(target)
        self._cells: dict[str, Cell] = {} if self._served is None else self._served.cells
        if self._served is not None:
            self._place.tasks = self._served.tasks
        self._resources = 0  # the number of queues and similar resources
        self._positions = RandomPositions()
        self._entries: dict[Any, _Entry] = {}
        self._quick: dict[Any, _Entry] = {}  # the same by the ids of what is fed, where those are tensors
        self._lock = threading.Lock()
        self._late: list[KeptTensor] = []  # see `TensorHandle`

    @property
    def graph(self) -> Graph:
        """The graph that this session runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a `GraphDef`."""
        return self._graph.as_graph_def(add_shapes=True)

    @property
    def sess_str(self) -> str:
        """The target that the session was made with."""
        return self._target

    def list_devices(self) -> list[SessionDevice]:
        """Lists the devices that the session's runs may use."""
        return [SessionDevice(full_name(d)) for d in self._place.devices]

    def close(self) -> None:
        """Frees the session's variables and plans; it cannot run any more. Runs waiting for a queue are cancelled."""
        self._closed = True
        if self._served is None:  # else the server keeps them for other sessions
            for cell in list(self._cells.values()):
                resource: Any = cell.held.item() if cell.dtype is dtypes.variant and cell.held is not None else None
                if hasattr(resource, "cancel"):
                    resource.cancel()
            self._cells.clear()
        self._entries.clear()
        self._quick.clear()
        self._late.clear()
        self._positions = RandomPositions()

    # -- running -------------------------------------------------------------------

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Computes fetches.

        Args:
          fetches: a tensor, operation, variable or name, or any nesting of lists, tuples and
            dictionaries of them.
          feed_dict: values for tensors: tensor (or its name) -> array, number or nested list; or a tuple of
            tensors, such as the state of a cell -> a tuple of values.
          options: a `RunOptions`; one with a `trace_level` fills run_metadata, `timeout_in_ms` limits the time of
            waiting for queues and of loops; planning and compiling do not count.
          run_metadata: a `RunMetadata`; it gets `report`, a `RunReport` as of `explain`, `peak_bytes` and `step_stats`.
        Returns: the structure of `fetches` with NumPy arrays instead of tensors (scalars for rank 0, None for
          operations).
        Raises:
          RuntimeError: if the session is closed or the graph is empty.
          ValueError, TypeError: for invalid fetches and feeds. tf.errors.OpError: for errors while running; variables
          stay unchanged.
        """
        if options is None and run_metadata is None and not conversions and not self._timeout:
            key = id(fetches) if type(fetches) is Tensor else structure_key(fetches)
            entry = self._quick.get((key, *map(id, feed_dict)) if feed_dict else (key,))
            if entry is not None:
                found = entry.run_swiftly(feed_dict.values() if feed_dict else ())
                if found is not _NOTHING:
                    return found
        if (options is not None or self._timeout) and (limit := getattr(options, "timeout_in_ms", 0) or self._timeout):
            with limited(limit / 1000):
                return self._run(fetches, feed_dict, options, run_metadata)
        return self._run(fetches, feed_dict, options, run_metadata)

    def _run(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        if feed_dict:
            feed_dict = flat_feeds(feed_dict)
        if conversions and feed_dict:
            feed_dict = converted_feeds(feed_dict)
        entry = self._entry(fetches, feed_dict)
        feeds = entry.values(feed_dict) if feed_dict else ()
        if run_metadata is not None and getattr(options, "output_partition_graphs", False):
            run_metadata.partition_graphs.append(self._graph.as_graph_def())
        if run_metadata is not None and getattr(options, "trace_level", None):
            report = RunReport()
            values = entry.executable.run(feeds, report)
            run_metadata._fill(report)
            return entry.rebuild(values)
        return entry.rebuild(entry.executable(feeds))

    def explain(self, fetches: Any, feed_dict: Any = None) -> RunReport:
        """Reports how `run` computes fetches: in which clusters, compiled or reused, with how much memory.

        It runs the steps without lasting effects: variables and random operations do not change. Host functions are
        called.

        Args:
          fetches, feed_dict: as for `run`.
        Returns: a `RunReport`, to print or to inspect.
        Raises: as `run`.
        Reference: graphgrad's own.

        >>> print(sess.explain(tf.tanh(tf.ones([2])) * 2.0))  # doctest: +ELLIPSIS
        1 steps: ...
        """
        if feed_dict:
            feed_dict = flat_feeds(feed_dict)
        entry = self._entry(fetches, feed_dict)
        report = RunReport()
        entry.executable.run(entry.values(feed_dict) if feed_dict else (), report, store=False)
        return report

    def _entry(self, fetches: Any, feed_dict: Any) -> _Entry:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session. Fix: run inside its `with` block, or make a new one")
        keys: tuple[Any, ...] = tuple(map(_id_of, feed_dict)) if feed_dict else ()
        key = (structure_key(fetches), keys)
        return self._entries.get(key) or self._make_entry(key, fetches, feed_dict or {})

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """Begins a run in parts: values are fed and fetched step by step, and each operation runs once.

        Args:
          fetches: all that is going to be fetched, as in `run`.
          feeds: a list of all tensors that are going to be fed.
        Returns: a handle for `partial_run`.
        Raises: as `run`.
        Reference: TensorFlow 2.21 `Session.partial_run_setup`.

        >>> x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        >>> double = x * 2.0
        >>> handle = sess.partial_run_setup([double, double + y], [x, y])
        >>> float(sess.partial_run(handle, double, {x: 1.0}))
        2.0
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session. Fix: run inside its `with` block, or make a new one")
        elements: list[Any] = []
        Fetches(self._graph, elements).structure(fetches)
        run = PartialRun(self._graph, elements, [t for k in feeds or () for t in feed_targets(self._graph, k)])
        self._partial[run.handle] = run
        return run.handle

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """Continues a run in parts.

        Args:
          handle: the result of `partial_run_setup`.
          fetches, feed_dict: as in `run`; each tensor is fed once, and fetched once.
        Returns: as `run`.
        Raises: InvalidArgumentError for an unknown handle, and for fetches and feeds that were not announced, came
          before, or depend on something that is still to be fed.
        Reference: TensorFlow 2.21 `Session.partial_run`.
        """
        run = self._partial.get(handle)
        if run is None:
            raise InvalidArgumentError(None, None, "Must run 'setup' before performing partial runs! "
                                                   "Fix: sess.partial_run_setup(fetches, feeds)")
        elements: list[Any] = []
        rebuild = Fetches(self._graph, elements).structure(fetches)
        fed = {}
        for key, value in (flat_feeds(feed_dict) if feed_dict else {}).items():
            targets = feed_targets(self._graph, key)
            if len(targets) != 1:
                raise TypeError(f"partial_run takes no values for {key}. Fix: feed its components, one by one")
            fed[id(targets[0])] = (targets[0], value)
        if run.step(list({id(e): e for e in elements}.values()), fed, self.run):
            del self._partial[handle]
        return rebuild([run.take(e) for e in elements])

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
        """Makes a function that runs `fetches`, fed by its positional arguments.

        Args:
          fetches: as in `run`.
          feed_list: the tensors to feed, in the order of the function's arguments.
          accept_options: accepted as TensorFlow does.
        Returns: the function; InvalidArgumentError if it is called with another number of arguments.
        """
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        feeds, fetches = list(feed_list or []), kept(fetches)
        entry: _Entry | None = None

        def run(*args: Any, **_: Any) -> Any:
            nonlocal entry
            if len(args) != len(feeds):
                raise InvalidArgumentError(
                    None, None,
                    f"The callable takes {len(feeds)} values, one for each tensor in feed_list, not {len(args)}."
                )
            if entry is not None and not (self._closed or conversions or self._timeout):
                found = entry.run_swiftly(args)
                if found is not _NOTHING:
                    return found
            found = self.run(fetches, dict(zip(feeds, args, strict=True)) or None)
            entry = self._quick.get((structure_key(fetches), *map(id, feeds)))
            return found

        return run

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., Any]:
        """Makes a function that runs what a `CallableOptions` says; it returns the values of `fetch`.

        Connected tensors get their values in a run of their own, before.
        """
        names = callable_options
        connections = {c.to_tensor: c.from_tensor for c in names.tensor_connection}
        fetches = [list(names.fetch), list(names.target)]

        def run(*args: Any, run_metadata: Any = None) -> Any:
            if len(args) != len(names.feed):
                raise InvalidArgumentError(None, None, f"The callable takes {len(names.feed)} values, one for each "
                                           f"tensor in `feed`, not {len(args)}.")
            feeds = dict(zip(names.feed, args, strict=True))
            if connections:
                feeds |= self.run(connections, feeds)
            return self.run(fetches, feeds, names.run_options, run_metadata)[0]

        return run

    def _make_entry(self, key: Any, fetches: Any, feed_dict: Any) -> _Entry:
        if self._graph.version == 0:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run(). "
                               "Fix: build them under `with graph.as_default():`")
        elements: list[Any] = []
        rebuild = Fetches(self._graph, elements).structure(fetches)
        feeds: list[Tensor] = []
        for k in feed_dict:
            feeds.extend(feed_targets(self._graph, k))
        tensors: dict[int, Tensor] = {}
        targets = []
        for e in elements:
            if not self._graph.is_fetchable(e):
                raise ValueError(f"{e.name} has been marked as not fetchable.")
            if isinstance(e, Tensor):
                tensors[id(e)] = replaced(e)
            else:
                targets.append(e)
        reads = [(t, i) for i, feed in enumerate(feeds) for t in (*other_reads(feed), *fed_too(feed))]
        with untimed():
            executable = Executable(list(tensors.values()), targets, [*feeds, *(t for t, _ in reads)], self._resolve,
                                    self._positions, self._engine, self._place)
        if self._served is not None:
            self._served.prepare(self, executable, list(tensors.values()), targets, feeds)
        index = {i: n for n, i in enumerate(tensors)}
        places = [index.get(id(e)) for e in elements]
        rank0 = [isinstance(e, Tensor) for e in elements]

        kept = any(t.dtype is dtypes.string for t in tensors.values())  # it may be: the names of tensors are strings

        def give_back(values: list[Any]) -> Any:
            arrays = [fetched_array(v) for v in values]
            if kept:
                arrays = [TensorHandle(a, self) if isinstance(a, KeptName) else a for a in arrays]
            return rebuild([arrays[p] if p is not None and r else None for p, r in zip(places, rank0, strict=True)])

        entry = _Entry((fetches, list(feed_dict), elements), feeds, [i for _, i in reads], executable, give_back,
                       None if kept else places_in(fetches, index))
        with self._lock:
            self._entries[key] = entry
            if type(feed_dict) is dict and all(type(k) is Tensor for k in feed_dict):
                self._quick[structure_key(fetches), *map(id, feed_dict)] = entry
        return entry

    def _resolve(self, handle: Tensor) -> Cell:
        op = handle.op
        if "handle" in op.opdef.flags:
            return self._resource(op)
        if op.type != "VarHandleOp":
            raise FailedPreconditionError(
                op.node_def,
                op,
                f"Tensor {handle} is not the handle of a variable of this "
                f"session.\n  Built at {op.source}\n  Fix: use variables made in this graph",
            )
        name = op._attr("shared_name") or op.name
        cell = self._cells.get(name)
        if cell is None or (self._served is not None and cell.dtype is not op._attr("dtype")):
            self._cells.pop(name, None)  # a server's, of another graph
            first = vars(op).get(FIRST_VALUE)
            cell = self._cells.setdefault(name, Cell(first, name, op._attr("dtype"), op._attr("shape")))
        return cell

    def _resource(self, op: Operation) -> Cell:
        """Returns the queue, reader or similar resource of an operation; it is created when first needed."""
        shared = op._attr("shared_name")
        key = f"{op.opdef.outputs[0].name}//{shared or op.name}"  # not a valid variable name
        with self._lock:
            cell = self._cells.get(key)
            resource = op.opdef.kernel(np, **{k: op._attr(k) for k in op.opdef.kernel_attrs})
            if cell is None:
                resource.name = shared or f"_{self._resources}_{op.name}"
                self._resources += 1
                held = np.empty((), object)
                held[()] = resource
                cell = self._cells[key] = Cell(held, op.name, dtypes.variant, ())
            elif shared:
                _check_shared(op, cell.held.item(), resource)
        return cell

    # -- as the default ------------------------------------------------------------

    @contextlib.contextmanager
    def as_default(self) -> Any:
        """Makes this the default session in a `with` block (for `Tensor.eval`)."""
        stack = sessions.entries
        stack.append(self)
        try:
            yield self
        finally:
            stack.remove(self)


class Session(BaseSession):
    """Runs parts of a graph and holds the values of its variables.

    Args:
      target: accepted as TensorFlow does; there is one engine, this process.
      graph: the graph to run; the default one if not given.
      config: a `ConfigProto`.

    >>> with tf.Session() as s:
    ...     s.run(tf.constant(2.0) * 3.0)
    np.float32(6.0)
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        super().__init__(target, graph, config)
        self._contexts: list[contextlib.ExitStack] = []

    def __enter__(self) -> Session:
        stack = contextlib.ExitStack()
        stack.enter_context(use_graph(self._graph))
        stack.enter_context(self.as_default())
        self._contexts.append(stack)
        return self

    def __exit__(self, *exc: Any) -> None:
        self._contexts.pop().__exit__(*exc)
        self.close()

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Does nothing: a session's variables are its own and go with it."""


class HostSession(Session):
    """A session in which NumPy executes everything: the reference for XLA."""

    _engine = "numpy"


class InteractiveSession(BaseSession):
    """A session that installs itself as the default session.

    Args:
      target, graph, config: as in `Session`.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        super().__init__(target, graph, config)
        self._contexts = contextlib.ExitStack()
        if graph is not None:
            self._contexts.enter_context(use_graph(graph))
        sessions.entries.append(self)

    def close(self) -> None:
        """Frees the session and removes it from the stack of default sessions."""
        super().close()
        if self in sessions.entries:
            sessions.entries.remove(self)
            self._contexts.close()


def _check_shared(op: Operation, held: Any, wanted: Any) -> None:
    """Raises InvalidArgumentError if the resource of a shared name differs from what an operation requires."""
    have = held.settings()
    for what, value in wanted.settings().items():
        if have.get(what) != value:
            raise InvalidArgumentError(op.node_def, op, describe(
                op.type, op.name, f"Shared {held.family} '{held.name}' has {what} {have.get(what)} but requested "
                f"{what} was {value}", "", str(op.source or ""), "give both the same settings, or other names"))
