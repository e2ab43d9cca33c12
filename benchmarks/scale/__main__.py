"""Partitions a step of the transformer for many devices, and counts what they exchange; nothing is run.

    python -m benchmarks.scale [devices ...]
"""

from __future__ import annotations

import collections
import sys
import time
from typing import Any

import numpy as np

import graphgrad.compat.v1 as tf
from benchmarks.models import Transformer
from graphgrad.executor.backend import xla
from graphgrad.executor.backend.mesh import MeshProgram, device
from graphgrad.executor.plan.stages import Stage, make_stages

from .counting import collectives

SEQUENCES = 16  # of each part of the data


class _Scaled(Transformer):
    """The transformer of the benchmarks, with a batch for some parts of the data."""

    def __init__(self, parts: int):
        self.n = SEQUENCES * parts
        super().__init__()


def build(data: int, model: int, slots: bool) -> tuple[Any, Any, int]:
    """Builds a step on a mesh; returns it, what feeds it, and the number of weights.

    Args:
      data: the parts of the batch.
      model: the parts of the dense layers.
      slots: whether Adam's variables are split along the data, too.
    """
    case = _Scaled(data)
    with tf.mesh(data=data, model=model):
        feeds = [tf.placeholder(d.dtype, d.shape) for d in case.data]
        weights = []
        for i, value in enumerate(case.weights):
            w = tf.get_variable(f"w{i}", initializer=value)
            # Of each block's four dense layers the last two are split, as the two matrices of one function.
            spec = {4: [None, "model"], 5: ["model"], 6: ["model"]}.get(i % 12, []) if i < 12 * case.blocks else []
            split = slots and value.shape[0] % data == 0 and "model" not in spec[:1]
            weights.append(tf.shard(w, spec, slots=["data", *spec[1:]] if split else spec))
        y = case.forward(tf, weights, *[tf.shard(t, ["data"]) for t in feeds])
    step = tf.train.AdamOptimizer(case.rate).minimize(case.objective(tf, y, *feeds))
    return step, feeds, sum(w.size for w in case.weights)


class _Outline:
    """What stands for a value of which only shape and dtype are known."""

    def __init__(self, shape: Any, dtype: Any):
        self.aval = xla.ArraySpec(tuple(shape), np.dtype(dtype))


def programs(session: Any, target: Any, feeds: list[Any]) -> list[MeshProgram]:
    """Compiles what a run would need, without values.

    Args:
      session: the session.
      target: what is to be run.
      feeds: what is fed.
    """
    plan = session._entry(target, {t: np.zeros(t.shape, t.dtype.np_dtype) for t in feeds}).executable.plan
    slots = list(plan.template)
    for slot, t in zip(plan.feeds, feeds, strict=True):
        slots[slot] = _Outline(t.shape.as_list(), t.dtype.np_dtype)
    for slot, cell in plan.loads:
        slots[slot] = _Outline(cell.shape, cell.dtype.np_dtype)
    found: list[Any] = []
    for stage in make_stages(plan):
        assert isinstance(stage, Stage)
        found += [entry.program() for _, entry, _ in stage.entries(device(plan.mesh.device), slots)]
    return found


def main(counts: list[int]) -> None:
    """Prints rows for each number of devices: split by data alone, with Adam's variables, and by data and model."""
    columns = ("devices", "data x model", "Adam's variables", "compiled in", "collectives", "bytes a device sends",
               "rounds", "arguments", "temporary")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for count in counts:
        for model, slots in ((1, False), (1, True), (4, False)):
            with tf.Graph().as_default():
                begun = time.perf_counter()
                step, feeds, weights = build(count // model, model, slots)
                with tf.Session(config=tf.ConfigProto(device_count={"CPU": count})) as session:
                    (program,) = programs(session, step, feeds)
                took = time.perf_counter() - begun
            all_of_them = collectives(program.text(), count)
            kinds = collections.Counter(c.kind for c in all_of_them)
            stats = program.executable.get_compiled_memory_stats()
            print(f"| {count} | {count // model} x {model} | {'split' if slots else 'as the weights'} | {took:.1f} s | "
                  f"{', '.join(f'{n} {kind}' for kind, n in kinds.most_common())} | "
                  f"{sum(c.moved for c in all_of_them):,.0f} | {sum(c.rounds for c in all_of_them):,} | "
                  f"{stats.argument_size_in_bytes:,} | {stats.temp_size_in_bytes:,} |", flush=True)
    print(f"\n{weights:,} weights, {4 * weights:,} bytes of gradients.")


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [8, 64, 512])
