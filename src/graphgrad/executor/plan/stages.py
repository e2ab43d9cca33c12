"""Stages of a run: consecutive clusters, compiled together and bound to their programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from graphgrad.executor.backend import cache, library_calls, xla
from graphgrad.executor.backend.batch_split import Split, is_large, parts
from graphgrad.executor.backend.cache import Entry, get
from graphgrad.executor.backend.lower import as_shape
from graphgrad.executor.backend.xla import AnySpec, ArraySpec
from graphgrad.executor.program.fingerprint import Form, form_of
from graphgrad.executor.program.interpreter import execute
from graphgrad.executor.program.plan_types import Cluster, HostStep, Plan, Provenance
from graphgrad.ir import dtypes
from graphgrad.ir.shape import is_fully_defined

from .announced import Compiling

_BOUND = 64  # limit of cached signatures of a stage


class Stage:
    """Consecutive clusters, none of which needs a value from another to be lowered.

    Attributes:
      device: where they run.
      clusters: the clusters, and `forms` their fingerprints.
      ins: slots of the inputs.
      varying: slots of those whose shapes may differ from run to run.
      known: slots of values that are compiled in.
      lists: slots of lists of tensors.
      bound: signature -> the calls to make.
    """

    def __init__(self, clusters: list[Cluster], varying: set[int], variant: set[int]):
        self.device = xla.device(clusters[0].device)
        self.clusters = clusters
        self.lists = variant
        self.forms = [form_of(c) for c in clusters]
        inside = {s for c in clusters for s in c.outs}
        self.ins = list(dict.fromkeys(s for c in clusters for s in c.ins if s not in inside))
        shapes = dict.fromkeys(s for c in clusters for s in c.shapes if s not in inside)
        self.outside = list(dict.fromkeys([*self.ins, *shapes]))
        self.varying = [s for s in self.outside if s in varying]
        self.known = list(dict.fromkeys(s for c in clusters for s, source in c.known.items()
                                        if source is not Provenance.FOLDED))
        self.varies = bool(self.varying or self.known)
        self.bound: dict[Any, list[Any]] = {}

    def signature(self, slots: Sequence[Any]) -> Any:
        """Returns the key of the programs to call: shapes that vary, and values that are compiled in."""
        if not self.varies:
            return None
        shapes = [None if (v := slots[s]) is None else xla.shape_of(v) for s in self.varying]
        known = [xla.to_numpy(slots[s]) for s in self.known]
        return (*shapes, *[(v.dtype.str, v.shape, v.tobytes()) for v in map(np.asarray, known)])

    def entries(self, device: xla.Device, slots: Sequence[Any] | Mapping[int, Any],
                pending: Compiling | None = None) -> list[tuple[Cluster, Entry, int]]:
        """Pairs each cluster with its program for the values in `slots`, which may still be compiling.

        `pending` is told how many are done. The number is the count of batch parts for which the program is called.
        """
        specs: dict[int, AnySpec] = {s: xla.spec_of(slots[s]) for s in self.outside}
        known = {s: np.asarray(xla.to_numpy(slots[s])) for s in self.known}
        result = []
        for cluster, form in zip(self.clusters, self.forms, strict=True):
            ins, shapes = [specs[s] for s in cluster.ins], [specs[s] for s in cluster.shapes]
            if cluster.split is None:
                entry = get(device, cluster, form, ins, shapes, [known[s] for s in cluster.known])
                specs.update(zip(cluster.outs, entry.outputs, strict=True))
                count = 1
            else:
                entry, count, output = _split_entry(device, cluster, form, ins, shapes)
                specs[cluster.outs[0]] = output
            result.append((cluster, entry, count))
            if pending is not None:
                pending.lowered += 1
        return result

    def bind(self, device: xla.Device, slots: Sequence[Any], pending: Compiling) -> list[Any]:
        """Compiles what is new and lists the calls; `pending` is told how many programs are done.

        Returns: for each (program, ins, outs, frees, random rows, positions of donated arguments, (cluster, entry)).
        """
        signature = self.signature(slots)
        prepared: list[tuple[Entry, int, Any]] = []
        for cluster, entry, count in self.entries(device, slots, pending):
            ins = [s for s in cluster.ins if slots[s] is not None or s not in self.outside]
            rows = np.array(cluster.rows) if cluster.rows else None
            donated = [i for i, s in enumerate(ins) if s in cluster.donated]
            prepared.append((entry, count, (ins, cluster.outs, cluster.frees, rows, donated, (cluster, entry))))
        calls: list[Any] = []
        for entry, count, rest in prepared:
            program: Any = entry.program()
            pending.done += 1
            cluster = rest[-1][0]
            if count > 1:
                batched = [cluster.ins.index(cluster.program[0].ins[i]) for i in cluster.split.inputs]
                program = Split(device, program, count, batched, cast(ArraySpec, entry.outputs[0]), cluster.split.added)
            has_lists = any(s in self.lists for s in (*rest[0], *rest[1]))
            calls.append((program.with_lists if has_lists else program, *rest))
        while len(self.bound) >= _BOUND:
            self.bound.pop(next(iter(self.bound)))
        self.bound[signature] = calls
        return calls


def _split_entry(device: xla.Device, cluster: Cluster, form: Form, ins: list[Any],
                 shapes: Sequence[AnySpec]) -> tuple[Entry, int, ArraySpec]:
    """Returns the program for a part of the batch, the number of parts, and the spec of the whole result."""
    (instruction,), rule = cluster.program, cluster.split
    assert rule is not None
    known: list[Any] = []
    batch = ins[cluster.ins.index(instruction.ins[rule.inputs[0]])].shape[0]
    count = parts(batch) if device.platform == "cpu" and is_large(instruction) else 1
    sizes = None
    if rule.sizes is not None:
        env: dict[int, Any] = {s: as_shape(spec) for s, spec in zip(cluster.shapes, shapes, strict=True)}
        execute(np, cluster.before, env, None)  # type: ignore[arg-type]  # only slots are read
        sizes = np.array(env[next(iter(cluster.known))])
    if device.platform == "cpu" and library_calls.takes(instruction) and len(ins) == 2:
        made = library_calls.program(instruction, ins, sizes)
        if made is not None:
            return cache.get_library_call(device, *made), 1, made[1]
    if sizes is not None:
        if not rule.added:
            sizes[0] = batch // count
        known = [sizes]
    batched = {cluster.ins.index(instruction.ins[i]) for i in rule.inputs}
    ins = [ArraySpec((batch // count, *s.shape[1:]), s.dtype) if i in batched else s for i, s in enumerate(ins)]
    entry = get(device, cluster, form, ins, shapes, known)
    output = entry.outputs[0]
    assert isinstance(output, ArraySpec)
    whole = output if rule.added else ArraySpec((output.shape[0] * count, *output.shape[1:]), output.dtype)
    return entry, count, whole


def make_stages(plan: Plan) -> list[Stage | HostStep]:
    """Makes the stages of a plan, with its host steps, in order."""
    if plan.on_host:
        return []
    # Shapes may vary where the static one is not known, and in results of Python.
    varying = {s for s, t in plan.static.items() if not is_fully_defined(t._spec.shape)}
    varying.update(s for s, cell in plan.loads if not is_fully_defined(cell.shape) or s not in plan.readers)
    varying.update(s for step in plan.steps if isinstance(step, HostStep) for s in step.outs)
    variant = {s for s, t in plan.static.items() if t.dtype is dtypes.variant}
    varying |= variant
    beyond = set(range(plan.slots)) - plan.static.keys()
    return [g if isinstance(g, HostStep) else Stage(g, varying | beyond, variant) for g in grouped(plan)]


def grouped(plan: Plan) -> list[list[Cluster] | HostStep]:
    """Groups a plan's consecutive clusters that make a stage; host steps stand between."""
    groups: list[list[Cluster] | HostStep] = []
    for step in plan.steps:
        last = groups[-1] if groups else None
        if isinstance(step, HostStep):
            groups.append(step)
        elif isinstance(last, list) and (step.level, step.device) == (last[0].level, last[0].device):
            last.append(step)
        else:
            groups.append([step])
    return groups
