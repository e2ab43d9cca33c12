"""Replicas that take turns: each runs in a thread of its own until it waits for the others, then the next one does.

One thread runs at a time, so that operations are built in the same order every time, and nothing needs locks.
Operations that are built for different devices run at the same time once the graph is run.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.frontend.distribute.contexts import Standing, at, device_block
from graphgrad.frontend.distribute.strategy import ReplicaContext
from graphgrad.frontend.graph.init_scope import outermost_graph
from graphgrad.frontend.variables.variable_creators import variable_creator_scope
from graphgrad.frontend.variables.variable_scope import get_variable_scope, set_variable_scope, variable_scope
from graphgrad.ir.context import current_graph, get_default_graph, take_over, thread_state
from graphgrad.ir.graph import Graph

from .replica_values import part_of, together


class _GivenUp(BaseException):
    """Ends the thread of a replica that nobody waits for any more."""


class LockstepContext(ReplicaContext):
    """The context of a replica that takes turns with others.

    Args:
      strategy: the strategy.
      replica_id_in_sync_group: which of its replicas.
    """

    def __init__(self, strategy: Any, replica_id_in_sync_group: int, turn: _Turns):
        super().__init__(strategy, replica_id_in_sync_group)
        self._turn = turn

    def _merge_call(self, merge_fn: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        graph = current_graph()
        if graph is not self._turn.graph:
            raise RuntimeError("`merge_call` called while defining a new graph or a tf.function: replicas meet only "
                               "in the graph that strategy.run was called in, not in a nested function, branch or "
                               "loop. Fix: make one tf.function of all of strategy.run, and call all_reduce or "
                               "apply_gradients outside of branches and loops on tensors")
        return self._turn.meet(merge_fn, args, kwargs)

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Returns the sum or the mean of all replicas' values; every replica must call it.

        Args:
          reduce_op: a `ReduceOp`, or its name.
          value: a tensor, or a structure of tensors.
          options: accepted.
        Raises: RuntimeError outside of the replica.
        Gradient: the gradients of all replicas, combined in the same way.
        """
        from .collectives import all_reduce

        return all_reduce(self, reduce_op, value)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Returns all replicas' values, one behind the other; every replica must call it.

        Args:
          value: a tensor, or a structure of tensors.
          axis: the axis that grows.
          options: accepted.
        Raises: RuntimeError outside of the replica.
        Gradient: each replica's part of the sum of all replicas' gradients.
        """
        from .collectives import all_gather

        return all_gather(self, value, axis)

    def _update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        return self.merge_call(lambda strategy, v, a, k: strategy.extended.update(v, fn, a, k, group),
                               args=(var, tuple(args), kwargs or {}))


class _Surroundings:
    """What the `with` blocks around new operations and variables say, to be put back later."""

    def __init__(self, graph: Graph | None):
        around = None if graph is None else graph._around
        self.values = {} if around is None else {name: getattr(around, name) for name in around.__slots__}
        self._graph = graph
        self._variable_scope = None if outermost_graph() is None else get_variable_scope()

    def put_back(self) -> None:
        """Makes them current again."""
        if self._graph is not None:
            for name, value in self.values.items():
                setattr(self._graph._around, name, value)
        if self._variable_scope is not None:
            set_variable_scope(self._variable_scope)


class _Turns:
    """The thread of one replica, which runs while the main thread waits, or the other way round.

    Args:
      strategy: the strategy.
      number: the replica.
      device: its device.
      call: what it calls.
      created: the variables that the first replica has made, in order.
    """

    def __init__(self, strategy: Any, number: int, device: str, call: Callable[[], Any], created: list[Any]):
        self.graph = current_graph()
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None
        self.met: tuple[Callable[..., Any], Sequence[Any], Any] | None = None
        self.merged: Any = None
        self.surroundings: _Surroundings | None = None
        self._strategy, self._number, self._device, self._call = strategy, number, device, call
        self._created, self._made = created, 0
        self._go, self._paused = threading.Semaphore(0), threading.Semaphore(0)
        self._given_up = False
        self._state = thread_state()
        self._thread = threading.Thread(target=self._run, name=f"replica-{number}", daemon=True)

    def go_on(self) -> None:
        """Lets the replica run until it waits for the others or is done."""
        own = _Surroundings(self.graph)
        if self.surroundings is None:
            self._thread.start()
        else:
            self.surroundings.put_back()
            self._go.release()
        self._paused.acquire()
        self.surroundings = _Surroundings(self.graph)
        own.put_back()

    def give_up(self) -> None:
        """Ends the thread where it waits."""
        if not self.done and self.surroundings is not None:
            self._given_up = True
            self._go.release()
            self._thread.join(_PATIENCE)

    def meet(self, merge_fn: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        """Waits until all replicas have come here, and returns this replica's part of the function's result."""
        self.met = merge_fn, args, kwargs
        self._paused.release()
        self._go.acquire()
        if self._given_up:
            raise _GivenUp
        return self.merged

    def _run(self) -> None:
        try:
            take_over(self._state)
            del self._state
            with contextlib.ExitStack() as blocks:
                blocks.enter_context(at(Standing(self._strategy, LockstepContext(self._strategy, self._number, self))))
                if self.graph is not None and self._number:
                    blocks.enter_context(self.graph.name_scope(f"replica_{self._number}"))
                blocks.enter_context(device_block(self._device))
                blocks.enter_context(variable_creator_scope(self._create))
                if outermost_graph() is not None:
                    blocks.enter_context(variable_scope(get_variable_scope(), reuse=self._number > 0 or None,
                                                        auxiliary_name_scope=False))
                self.result = self._call()
        except _GivenUp:
            return
        except BaseException as e:
            self.error = e
        finally:
            self.done = True
            self._paused.release()

    def _create(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        """Makes a variable in the first replica; the others get the same one, in the order of creation."""
        if self._number == 0:
            self._created.append(next_creator(**kwargs))
        elif self._made == len(self._created):
            raise RuntimeError(f"replica {self._number} makes a variable that replica 0 has not made. Fix: make "
                               "variables before strategy.run, or in all replicas in the same order")
        self._made += 1
        return self._created[self._made - 1]


_PATIENCE = 5.0  # seconds that a replica that is given up gets to leave its blocks


def run(strategy: Any, devices: Sequence[str], fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Calls a function in each replica, each on a device.

    Args:
      strategy: the strategy.
      devices: the devices, by replica.
      fn: the function.
      args, kwargs: its arguments, of which each replica gets its part.
    Returns: the results, together.
    Raises: what the function raises; RuntimeError if some replicas wait for others that are done.
    """
    get_default_graph()  # so that all threads have the same outermost one
    created: list[Any] = []
    turns = [_Turns(strategy, i, device, _call(fn, part_of(i, args), part_of(i, kwargs or {})), created)
             for i, device in enumerate(devices)]
    try:
        while True:
            for turn in turns:
                turn.go_on()
                if turn.error is not None:
                    raise turn.error
            if all(turn.done for turn in turns):
                return together([turn.result for turn in turns])
            if any(turn.done for turn in turns):
                ended = [i for i, turn in enumerate(turns) if turn.done]
                raise RuntimeError(f"replicas {ended} are done while others wait for them in a merge_call or all_reduce"
                                   ". Fix: let every replica make the same calls in the same order")
            _merge(strategy, turns)
    finally:
        for turn in turns:
            turn.give_up()


def _call(fn: Callable[..., Any], args: Any, kwargs: Any) -> Callable[[], Any]:
    return lambda: fn(*args, **kwargs)


def _merge(strategy: Any, turns: Sequence[_Turns]) -> None:
    """Calls the function that all replicas wait for, and hands its result out."""
    meetings = [turn.met for turn in turns]
    merge_fn = meetings[0][0]  # type: ignore[index]  # all have met
    args = together([tuple(m[1]) for m in meetings])  # type: ignore[index]  # all have met
    kwargs = together([dict(m[2]) for m in meetings])  # type: ignore[index]  # all have met
    graph = turns[0].graph
    with contextlib.ExitStack() as blocks:
        if graph is not None:
            there = [turn.surroundings.values for turn in turns]  # type: ignore[union-attr]  # all have paused
            control = list(dict.fromkeys([block for values in there for block in values["control"]]))
            blocks.enter_context(graph._around.having(scope=there[0]["scope"], control=control))
        result = merge_fn(strategy, *args, **kwargs)
    for i, turn in enumerate(turns):
        turn.met, turn.merged = None, part_of(i, result)
