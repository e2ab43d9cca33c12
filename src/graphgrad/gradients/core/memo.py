"""`memoize_gradients`: answers an identical call of `gradients` from memory.

What a call adds follows from its arguments, from the state of the graph when it is made, from the registered rules,
and from the operations between xs and ys. Later operations do not come in between, so an answer holds until one of the
others changes: arguments and state are in the key, rules in a stamp, and the graph keeps a list of the operations that
were changed in place (`Tensor.set_shape`, `Operation._set_device`).
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from graphgrad.gradients.diagnose import strict
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import _BY_FUNCTION, Graph, Tensor
from graphgrad.ir.indexed_slices import IndexedSlices

from .arguments import align_grad_ys, flatten
from .outer_graphs import leave, open_entrances
from .registry import registered_functions
from .rules import Call
from .unconnected import UnconnectedGradients


class _State(threading.local):
    on = False


_state = _State()


class memoize_gradients:  # called like a function
    """Lets an identical call of `gradients` return what the first one did, and add nothing to the graph.

    Calls are identical if ys, xs, grad_ys and stop_gradients are the same tensors, all other arguments are equal, and
    both are made under the same control dependencies, devices, colocation and `gradient_override_map`. Name scopes
    count only where the argument `name` was given: a default name stands for no wish. A change of the operations in
    between (`Tensor.set_shape`) and a newly registered gradient let the next call build anew, and so does what may
    change unseen: an array as grad_ys, a device function. Optimizers, `hessians` and whatever else calls `gradients`
    profit, too.

    Off by default, because TensorFlow has no such thing: there the second call adds operations of its own,
    `gradients_1/...`, which programs look up by name, count, or change. With it, both calls share tensors: feeding one
    feeds the other, and the line that operations were built at is the first call's. Gradient functions that read state
    of their own, such as a global variable, must not be memoised.

    Switches at once, in this thread, and back at the end of a `with` block. What is remembered belongs to the graph,
    and goes when the graph does.

    Args:
      enabled: whether identical calls are answered from memory.
    Raises: nothing.
    Gradient: none; it builds nothing. What it returns has the gradients it always has.
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
    """What a graph remembers.

    Attributes:
      answers: key -> (results, what the key names by id, number of operations then).
      stamp: the gradient functions that were registered then.
      lock: held from looking up to remembering, so that two threads do not both build.
    """

    __slots__ = ("answers", "stamp", "lock")

    def __init__(self) -> None:
        self.answers: dict[Any, tuple[list[Any], list[Any], int]] = {}
        self.stamp: list[Any] = []
        self.lock = threading.RLock()

    def drop_stale(self, graph: Graph) -> None:
        """Forgets what would come out differently now."""
        stamp = registered_functions()
        if stamp != self.stamp:
            self.answers.clear()
            self.stamp = stamp
        if graph._changed is None:
            graph._changed = []
        if graph._changed:
            earliest = len(graph._operations)
            while graph._changed:
                earliest = min(earliest, graph._changed.pop())
            # What was made after all that a call saw and added is none of its concern.
            self.answers = {key: answer for key, answer in self.answers.items() if answer[2] <= earliest}


class Memory:
    """A `with` block around one call of `gradients`.

    Attributes:
      results: the answer if it is known, else None; whoever builds it, puts it here.
    """

    __slots__ = ("results", "_call", "_key", "_alive", "_table", "_was_on")

    def __init__(self, call: Call, ys: Any, xs: Any, grad_ys: Any, stops: Any, unconnected: UnconnectedGradients):
        self.results: list[Any] | None = None
        self._call = call
        self._alive: list[Any] = []  # what the key names by id must not go away
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
        # What rules build on the way belongs to this call; some of it is changed before it is finished.
        _state.on = False
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        _state.on = self._was_on
        if self._key is not None:
            try:
                if kind is None and self.results is not None and self._key not in self._table.answers:
                    self._table.drop_stale(self._call.graph)  # what this call changed concerns those before
                    size = len(self._call.graph._operations)
                    self._table.answers[self._key] = list(self.results), self._alive, size
            finally:
                self._table.lock.release()


def _key(call: Call, ys: Any, xs: Any, grad_ys: Any, stops: Any, unconnected: Any, alive: list[Any]) -> Any:
    """What decides the outcome of a call, or None where that cannot be told.

    Tensors may compare elementwise, so they are named by id, and put into `alive`.
    """
    graph = call.graph
    if graph._device is _BY_FUNCTION:  # it may say something else each time
        return None
    y_leaves = flatten(ys)
    groups = (y_leaves, align_grad_ys(ys, grad_ys, len(y_leaves)), _handles(xs), _handles(stops))
    if not all(isinstance(y, Tensor) for y in y_leaves):  # to convert them adds operations
        return None
    if graph.outer_graph is not None:  # changes of the graphs around it are not followed here
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
    alive.extend((*graph._control, *open_entrances))
    name = None if call.name in (None, "gradients") else (graph._scope, call.name)
    overrides = tuple(sorted(graph._gradient_overrides.items()))
    return (*parts, name, call.colocate, call.gate, call.method, unconnected, strict.is_on(),
            tuple(map(id, graph._control)), graph._device, graph._colocated, overrides,
            frozenset(map(id, open_entrances)))


def _handles(values: Any) -> list[Any]:
    """The leaves of xs or stop_gradients, variables as their handles."""
    found = []
    for x in flatten(values):
        handle = getattr(x, "handle", None)
        x = x if handle is None else handle
        found.append(x.values if isinstance(x, IndexedSlices) else x)
    return found


def _identity(leaf: Any, alive: list[Any]) -> Any:
    """What tells one leaf from others; None for what may change, such as an array."""
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
