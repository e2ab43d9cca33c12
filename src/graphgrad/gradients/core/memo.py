"""`memoize_gradients`: caches the results of `gradients` for identical calls.

What a call adds depends on its arguments, on the state of the graph, on the registered rules, and on the operations
between xs and ys. Later operations cannot come in between, so a cached result is valid until one of the others changes:
arguments and state are in the key, rules in a stamp, and the graph lists the operations that were changed in place
(`Tensor.set_shape`, `Operation._set_device`).
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from graphgrad.ir.context import Inherited
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.state.surroundings import BY_FUNCTION
from graphgrad.ir.values.indexed_slices import IndexedSlices, of_values

from . import strictness
from .arguments import align_grad_ys, flatten
from .outer_graphs import leave, open_entrances
from .registry import registered_functions
from .rules import Call
from .unconnected import UnconnectedGradients


class _State(Inherited):
    on = False


_state = _State()


class memoize_gradients:  # called like a function
    """Makes an identical call of `gradients` return the tensors of the first one, and add nothing to the graph.

    Calls are identical if ys, xs, grad_ys and stop_gradients are the same tensors, all other arguments are equal, and
    both are made under the same control dependencies, devices, colocation and `gradient_override_map`. Name scopes
    count only where the argument `name` was given. After a change of the operations in between (`Tensor.set_shape`) or
    a newly registered gradient, the next call builds again; so does a call with arguments that may change unnoticed: an
    array as grad_ys, a device function. Optimizers, `hessians` and all other callers of `gradients` benefit, too.

    Off by default, because TensorFlow has no such feature: there the second call adds its own operations,
    `gradients_1/...`, which programs look up by name, count, or change. With it, both calls share tensors: feeding one
    feeds the other, and the line that operations were built at is the first call's. Gradient functions that read other
    state, such as a global variable, must not be memoized.

    Takes effect at once, in this thread, and is undone at the end of a `with` block. The cache belongs to the graph and
    is freed with it.

    Args:
      enabled: whether identical calls are answered from the cache.
    Raises: nothing.
    Gradient: none; it builds nothing. Cached results have the same gradients as others.
    Reference: graphgrad's own; TensorFlow has no such switch.

    >>> x = tf.constant(3.0)
    >>> y = x * x
    >>> with tf.memoize_gradients():
    ...     tf.gradients(y, x)[0] is tf.gradients(y, x)[0]
    True
    >>> tf.gradients(y, x)[0] is tf.gradients(y, x)[0]
    False
    """

    def __init__(self, enabled: bool = True):
        if not isinstance(enabled, bool):
            raise TypeError(f"enabled must be True or False, not {enabled!r}")
        self._before = _state.on
        _state.on = enabled

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        _state.on = self._before


class _Table:
    """The cache of a graph.

    Attributes:
      answers: key -> (results, objects that the key names by id, number of operations then).
      stamp: the gradient functions that were registered then.
      lock: held from looking up to storing, so that two threads do not both build.
    """

    __slots__ = ("answers", "stamp", "lock")

    def __init__(self) -> None:
        self.answers: dict[Any, tuple[list[Any], list[Any], int]] = {}
        self.stamp: dict[tuple[str, str], Any] = {}
        self.lock = threading.RLock()

    def drop_stale(self, graph: Graph) -> None:
        """Drops results that are no longer valid."""
        stamp = registered_functions()
        if not self.stamp.items() <= stamp.items():  # one was replaced; types that are new decided nothing
            self.answers.clear()
        self.stamp = stamp
        if graph._changed is None:
            graph._changed = []
        if graph._changed:
            earliest = len(graph._operations)
            while graph._changed:
                earliest = min(earliest, graph._changed.pop())
            # Operations newer than the call's own cannot affect it.
            self.answers = {key: answer for key, answer in self.answers.items() if answer[2] <= earliest}


class Memory:
    """A `with` block around one call of `gradients`.

    Attributes:
      results: the cached result, else None; the builder stores it here.
    """

    __slots__ = ("results", "_call", "_key", "_alive", "_table", "_was_on")

    def __init__(self, call: Call, ys: Any, xs: Any, grad_ys: Any, stops: Any, unconnected: UnconnectedGradients):
        self.results: list[Any] | None = None
        self._call = call
        self._alive: list[Any] = []  # keeps objects alive that the key names by id
        self._was_on = _state.on
        self._key = _key(call, ys, xs, grad_ys, stops, unconnected, self._alive) if _state.on else None

    def __enter__(self) -> Memory:
        if self._key is not None:
            graph = self._call.graph
            self._table: _Table = graph._scoped_state.setdefault("memoised_gradients", _Table())
            self._table.lock.acquire()
            self._table.drop_stale(graph)
            answer = self._table.answers.get(self._key)
            if answer is not None:
                self.results = answer[0]
        # Operations built by rules belong to this call; some are changed before it is finished.
        _state.on = False
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        _state.on = self._was_on
        if self._key is not None:
            try:
                if kind is None and self.results is not None and self._key not in self._table.answers:
                    self._table.drop_stale(self._call.graph)  # changes made by this call affect earlier results
                    size = len(self._call.graph._operations)
                    self._table.answers[self._key] = list(self.results), self._alive, size
            finally:
                self._table.lock.release()


def _key(call: Call, ys: Any, xs: Any, grad_ys: Any, stops: Any, unconnected: Any, alive: list[Any]) -> Any:
    """Returns the cache key of a call, or None where its result may not be cached.

    Tensors may compare elementwise, so they are identified by id, and kept in `alive`.
    """
    graph = call.graph
    if graph._around.device is BY_FUNCTION:  # it may return something else each time
        return None
    y_leaves = flatten(ys)
    groups = (y_leaves, align_grad_ys(ys, grad_ys, len(y_leaves)), _handles(xs), _handles(stops))
    if not all(isinstance(y, Tensor) for y in y_leaves):  # converting them adds operations
        return None
    if graph._outer_graph is not None:  # changes of outer graphs are not tracked
        if not all(isinstance(x, Tensor) for x in groups[2]):
            return None
        _, (_, resolved) = leave(graph, (), (), groups[2])
        if any(x.graph is not graph for x in resolved):
            return None
    parts = []
    for group in groups:
        named = [_identity(leaf, alive) for leaf in group]
        if None in named:
            return None
        parts.append(tuple(named))
    around = graph._around
    alive.extend((*around.control, *open_entrances))
    name = None if call.name in (None, "gradients") else (around.scope, call.name)
    overrides = tuple(sorted(around.gradients.items()))
    return (*parts, name, call.colocate, call.gate, call.method, unconnected, strictness.is_on(),
            tuple(map(id, around.control)), around.device, around.colocated, overrides,
            frozenset(map(id, open_entrances)))


def _handles(values: Any) -> list[Any]:
    """Returns the leaves of xs or stop_gradients, variables as their handles."""
    found = []
    for x in flatten(values):
        handle = getattr(x, "handle", None)
        x = x if handle is None else handle
        found.append(of_values(x))
    return found


def _identity(leaf: Any, alive: list[Any]) -> Any:
    """Returns a key for a leaf; None for what may change, such as an array."""
    if leaf is None:
        return "default"
    if isinstance(leaf, (bool, int, float, complex, np.generic)):
        return type(leaf), repr(leaf)  # 1, 1.0 and True are equal, 0.0 and -0.0 too
    if isinstance(leaf, IndexedSlices):
        parts = [_identity(part, alive) for part in (leaf.values, leaf.indices, leaf.dense_shape)]
        return None if None in parts else tuple(parts)
    if not isinstance(leaf, (Tensor, EagerTensor)):
        return None
    alive.append(leaf)
    return id(leaf)
