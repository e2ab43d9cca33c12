"""Running a plan: step by step, on slots; variables change only when all of it succeeds."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir import lists
from ..ir.cell import Cell
from ..ir.graph import Operation, Tensor
from . import numerics
from .cache import ClusterCache
from .plan import Cluster, HostStep, Plan, make_plan
from .program import MustBeKnown, execute

_jax: Any = None  # imported at the first run, not before


def _import_jax() -> Any:
    global _jax
    import jax

    if _jax is None:
        lists.register(jax)
    _jax = jax
    return jax


class Executable:
    """Computes some fetches of a graph from some feeds, again and again.

    Args:
      fetches: the tensors whose values are wanted.
      targets: operations to run besides.
      feeds: the tensors that are fed.
      resolve: gives the variable behind a handle.
      counters: how often each random operation has run; kept by the session.
      engine: "xla", or "numpy" to let NumPy execute everything.
    """

    def __init__(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
        resolve: Callable[[Tensor], Cell],
        counters: dict[Operation, int],
        engine: str = "xla",
    ):
        self._request = fetches, targets, feeds, resolve
        self._counters = counters
        self._engine = engine
        self.wide: Any = None  # the same run with all tensors kept, see numerics
        self._must_know: frozenset[tuple[int, int]] = frozenset()
        self._lock = threading.Lock()
        self._prepare()

    def _prepare(self) -> None:
        plan = make_plan(*self._request, self._must_know)
        plan.on_host = plan.on_host or self._engine == "numpy"
        self.plan = plan
        self._template: list[Any] = [None] * plan.slots
        for slot, value in plan.constants:
            self._template[slot] = value
        self._steps: list[tuple[Cluster | HostStep, ClusterCache | None]] = [
            (step, ClusterCache(plan, step) if isinstance(step, Cluster) else None) for step in plan.steps
        ]
        self._written = sorted({c for s in plan.steps for c in (
            s.writes if isinstance(s, Cluster) else [i for _, i in s.instruction.refs])})  # fmt: skip
        self._constants_on_device = not plan.constants

    def __call__(self, feeds: Sequence[Any]) -> list[Any]:
        """Runs the plan.

        Args:
          feeds: a NumPy or JAX array for each fed tensor.
        Returns: the values of the fetches: NumPy or JAX arrays.
        """
        return numerics.run(self, feeds) if numerics.state.mode else self.run(feeds)

    def run(self, feeds: Sequence[Any]) -> list[Any]:
        """Runs the plan without looking for infinities and NaNs; as `__call__` otherwise."""
        while True:
            try:
                return self._run(self.plan, feeds)
            except MustBeKnown as need:
                with self._lock:
                    wanted = self._must_know | {(need.op.index, need.index)}
                    if wanted == self._must_know:
                        raise AssertionError(
                            f"the value of input {need.index} of {need.op.name} cannot be known"
                        ) from None
                    self._must_know = wanted
                    self._prepare()

    def _run(self, plan: Plan, feeds: Sequence[Any]) -> list[Any]:
        slots = self._template.copy()
        for slot, value in zip(plan.feeds, feeds, strict=True):
            slots[slot] = value
        cells = [c.value for c in plan.cells]
        counters = self._counters
        rng = None
        if plan.random_ops:
            rng = np.array([_runs_before(counters, op) for op in plan.random_ops], np.uint64)
        if plan.on_host:
            self._run_on_host(plan, slots, cells, rng)
        else:
            self._run_steps(plan, slots, cells, rng)
        for i in self._written:
            plan.cells[i].value = cells[i]
        if rng is not None:
            for op in plan.random_ops:
                counters[op] += 1
        return [slots[s] for s in plan.fetches]

    def _run_on_host(self, plan: Plan, slots: list[Any], cells: list[Any], rng: Any) -> None:
        cells[:] = [None if c is None else np.asarray(c) for c in cells]
        slots[:] = [np.asarray(v) if hasattr(v, "devices") else v for v in slots]
        with np.errstate(all="ignore"):
            for step in plan.steps:
                program = step.program if isinstance(step, Cluster) else [step.instruction]
                execute(np, program, slots, cells, plan.cells, rng)

    def _run_steps(self, plan: Plan, slots: list[Any], cells: list[Any], rng: Any) -> None:
        jax = _jax or _import_jax()
        with jax.enable_x64(True):
            if not self._constants_on_device:
                for slot, value in plan.constants:
                    self._template[slot] = slots[slot] = jax.device_put(value)
                self._constants_on_device = True
            for step, cache in self._steps:
                if cache is None:
                    self._run_host_step(plan, step, slots, cells, rng)
                    continue
                assert isinstance(step, Cluster)
                args = [slots[s] for s in step.ins]
                for i in step.reads:
                    value = cells[i]
                    if isinstance(value, np.ndarray):
                        # Moved to the device once, not at every run.
                        value = jax.device_put(value)
                        if plan.cells[i].value is cells[i]:
                            plan.cells[i].value = value
                        cells[i] = value
                    args.append(value)
                if step.random:
                    args.append(rng)
                known = [np.asarray(slots[s]) for s in step.known]
                outs, writes = cache.get(known)(*args)
                for s, value in zip(step.outs, outs, strict=True):
                    slots[s] = value
                for i, value in zip(step.writes, writes, strict=True):
                    cells[i] = value

    def _run_host_step(self, plan: Plan, step: Any, slots: list[Any], cells: list[Any], rng: Any) -> None:
        instruction = step.instruction
        for s in instruction.ins:
            if hasattr(slots[s], "devices"):
                slots[s] = np.asarray(slots[s])
        for _, i in instruction.refs:
            if hasattr(cells[i], "devices"):
                cells[i] = np.array(cells[i])
        execute(np, [instruction], slots, cells, plan.cells, rng)


def _runs_before(counters: dict[Operation, int], op: Operation) -> int:
    """How often a random operation has run in this session; unseeded ones begin anywhere, so that sessions differ."""
    count = counters.get(op)
    if count is None:
        drawn = op.get_attr("seed") >= 2**32  # no seed that a program gives is as large
        count = counters[op] = int.from_bytes(os.urandom(4), "little") if drawn else 0
    return count
