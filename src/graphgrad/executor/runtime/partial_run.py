"""`Session.partial_run`: feeds and fetches a graph in several steps, each operation once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.errors import InvalidArgumentError, UnimplementedError
from graphgrad.ir.graph import Graph, Operation, Tensor

_numbers = itertools.count()


class PartialRun:
    """The state of a run in parts: what has been computed, and what is still to come.

    Args:
      graph: the graph.
      fetches: the tensors and operations that may be fetched.
      feeds: the tensors that may be fed.
    """

    def __init__(self, graph: Graph, fetches: Sequence[Any], feeds: Sequence[Tensor]):
        self.handle = f"partial_run_{next(_numbers)}"
        self._graph = graph
        self._feeds = {id(t): t for t in feeds}
        self._pending = {id(f): f for f in fetches}
        self._ops = _ancestors(fetches, self._feeds)
        self._known: dict[int, tuple[Tensor, Any]] = {}  # fed and computed values that are still needed
        self._done: set[Operation] = set()

    def step(self, fetches: Sequence[Any], fed: dict[int, tuple[Tensor, Any]],
             run: Callable[[list[Any], dict[Tensor, Any]], list[Any]]) -> bool:
        """Runs what can run now; `take` returns the results.

        Args:
          fetches: the tensors and operations that the caller wants.
          fed: further feeds, by id.
          run: computes a list of tensors and operations from feeds.
        Returns: whether nothing is left to be fetched.
        Raises: InvalidArgumentError for feeds and fetches that were not announced, that came before, or that cannot be
          computed yet.
        """
        self._check(fetches, fed)
        known = {**self._known, **fed}
        new = self._computable(known)
        for f in fetches:
            if id(f) not in known and f.op not in new and f.op not in self._done:
                raise _invalid(f"Fetch {f.name} can't be computed from the feeds that have been fed so far",
                               "feed what it depends on")
        self._check_order(new)
        wanted = self._wanted(new, known)
        targets = [op for op in new if op.opdef.flags & {"stateful", "host"} or id(op) in self._pending]
        values = run([*wanted.values(), *targets], dict(known.values())) if wanted or targets else []
        self._done |= set(new)
        self._known = {**known, **{i: (t, v) for (i, t), v in zip(wanted.items(), values, strict=False)}}
        for f in fetches:
            del self._pending[id(f)]
        for op in new:
            self._pending.pop(id(op), None)
        return not self._pending

    def _wanted(self, new: dict[Operation, None], known: dict[int, Any]) -> dict[int, Tensor]:
        """Returns the tensors to keep of the current run, by id: those fetched now or later, or read later."""
        later = [op for op in self._ops if op not in self._done and op not in new]
        wanted = {id(t): t for op in later for t in op.inputs
                  if t.op in new and t.op.type != "Const" and t.dtype.name != "resource"}
        wanted |= {i: f for i, f in self._pending.items() if isinstance(f, Tensor) and f.op in new}
        return {i: t for i, t in wanted.items() if i not in known}

    def take(self, fetch: Any) -> Any:
        """Returns the value of a fetch."""
        return self._known[id(fetch)][1]

    def _check(self, fetches: Sequence[Any], fed: dict[int, tuple[Tensor, Any]]) -> None:
        targets = [f for f in fetches if not isinstance(f, Tensor)]
        if targets:
            raise RuntimeError(f"partial_run() requires empty `target_list`. Received: target_list={targets}. "
                               "Fix: name operations in partial_run_setup; they run when their inputs are there")
        for i, (t, _) in fed.items():
            if i not in self._feeds:
                raise _invalid(f"The feed {t.name} was not specified in partial_run_setup", "name it there")
            if i in self._known:
                raise _invalid(f"The feed {t.name} has already been fed", "feed it once")
        for f in fetches:
            if id(f) not in self._pending:
                text = "has already been fetched" if id(f) in self._known else "was not specified in partial_run_setup"
                raise _invalid(f"The fetch {f.name} {text}", "name it there, and fetch it once")

    def _computable(self, known: dict[int, Any]) -> dict[Operation, None]:
        """Returns the operations that can run now, in order."""
        found: dict[Operation, None] = {}
        for op in self._ops:
            ready = all(id(t) in known or t.op in found or t.op in self._done for t in op.inputs)
            waits = all(c in found or c in self._done for c in op.control_inputs)
            if op not in self._done and ready and waits and not self._is_fed(op):
                found[op] = None
        return found

    def _is_fed(self, op: Operation) -> bool:
        """Returns whether an operation never runs, since its results are fed."""
        return bool(op.outputs) and all(id(t) in self._feeds for t in op.outputs)

    def _check_order(self, new: dict[Operation, None]) -> None:
        """Raises an error where an effect would have to be repeated, because an operation of this step waits for it."""
        for op in new:
            for before in op.control_inputs:
                flags = before.opdef.flags
                if before in self._done and "stateful" in flags and "reads" not in flags:
                    raise UnimplementedError(
                        None, op, f"partial_run: {op.name} waits for {before.name}, which an earlier part of the run "
                        f"has done.\n  Built at {op.source}\n  Fix: fetch both in one part")


def _invalid(problem: str, fix: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f"{problem}. Fix: {fix}")


def _ancestors(fetches: Sequence[Any], fed: dict[int, Any]) -> list[Operation]:
    """Returns the operations that fetches need, in creation order, ending at fed tensors."""
    found: dict[Operation, None] = {}
    stack = [f.op if isinstance(f, Tensor) else f for f in fetches]
    while stack:
        op = stack.pop()
        if op not in found:
            found[op] = None
            stack += [t.op for t in op.inputs if id(t) not in fed]
            stack += op.control_inputs
    return sorted(found, key=lambda op: op.index)
