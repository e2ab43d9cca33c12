"""Stages of a run: consecutive clusters, compiled together and bound to their programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from graphgrad.executor.backend import cache, library_calls, mesh, xla
from graphgrad.executor.backend.batch_split import Split, is_large, parts
from graphgrad.executor.backend.cache import Entry, get
from graphgrad.executor.backend.lower import as_shape
from graphgrad.executor.backend.xla import AnySpec, ArraySpec
from graphgrad.executor.program.fingerprint import Form, form_of
from graphgrad.executor.program.interpreter import execute
from graphgrad.executor.program.plan_types import Cluster, HostStep, Move, Plan, Provenance
from graphgrad.ir import dtypes
from graphgrad.ir.shape import is_fully_defined

from .announced import Compiling

_BOUND = 64  # limit of cached signatures of a stage


class Stage:
    """Consecutive clusters, none of which needs a value from another to be lowered.

    Attributes:
      device: where they run.
      on_mesh: how values lie there, if that is a mesh, else None.
      clusters: the clusters, and `forms` their fingerprints.
      ins: slots of the inputs.
      varying: slots of those whose shapes may differ from run to run.
      known: slots of values that are compiled in.
      lists: slots of lists of tensors.
      bound: signature -> the calls to make.
    """

    def __init__(self, clusters: list[Cluster], varying: set[int], variant: set[int]):
        self.device = mesh.device(clusters[0].device)
        self.on_mesh = clusters[0].on_mesh
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
        absent = {s for s in self.outside if slots[s] is None}
        for cluster, entry, count in self.entries(device, slots, pending):
            ins = [s for s in cluster.ins if s not in absent]
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
    stages = [g if isinstance(g, HostStep) else Stage(g, varying | beyond, variant) for g in grouped(plan)]
    plan.lanes = lanes_of(stages)
    if plan.lanes is None:
        _set_aside(plan)
    return stages


def _set_aside(plan: Plan) -> None:
    """Finds the calls of a library that leave cores idle, and whose results are not read by what comes next."""
    after: Cluster | HostStep | None = None
    for step in reversed(plan.steps):
        if (isinstance(step, Cluster) and step.split is not None and isinstance(after, Cluster)
                and not set(step.outs).intersection((*after.ins, *after.shapes, *after.known))):
            call = step.program[0]
            step.aside = library_calls.takes(call) and library_calls.leaves_cores_idle(call)
        if not (isinstance(step, Cluster) and step.aside):
            after = step


def grouped(plan: Plan) -> list[list[Cluster] | HostStep]:
    """Groups a plan's consecutive clusters that make a stage; host steps stand between.

    A stage ends with what another device waits for.
    """
    groups: list[list[Cluster] | HostStep] = []
    moved = {s for step in plan.steps if isinstance(step, Move) for s in step.ins}
    for step in plan.steps:
        last = groups[-1] if groups else None
        if isinstance(step, HostStep):
            groups.append(step)
        elif (isinstance(last, list) and moved.isdisjoint(last[-1].outs)
              and (step.level, step.device) == (last[0].level, last[0].device)):
            last.append(step)
        else:
            groups.append([step])
    return groups


class DeviceLanes(NamedTuple):
    """Which stages of a plan may run beside which.

    Attributes:
      devices: by stage, the device whose lane it belongs to; None for one that has the run for itself.
      after: by stage, the earlier ones whose values it reads.
      shared: the slots that stages of several lanes read: none of these may empty them.
    """

    devices: list[str | None]
    after: list[list[int]]
    shared: frozenset[int]


def lanes_of(stages: Sequence[Stage | HostStep]) -> DeviceLanes | None:
    """Returns the lanes of a plan's stages; None if they belong to one device."""
    devices = [_lane(stage) for stage in stages]
    if len({d for d in devices if d is not None}) < 2:
        return None
    made: dict[int, int] = {}
    readers: dict[int, set[str | None]] = {}
    after: list[list[int]] = []
    for number, (stage, device) in enumerate(zip(stages, devices, strict=True)):
        reads, gives = _slots(stage)
        after.append(sorted({made[s] for s in reads if s in made}))
        made.update(dict.fromkeys(gives, number))
        for s in reads:
            readers.setdefault(s, set()).add(device)
    return DeviceLanes(devices, after, frozenset(s for s, lanes in readers.items() if len(lanes) > 1))


def _lane(stage: Stage | HostStep) -> str | None:
    if isinstance(stage, Move):
        return stage.device or ""
    if isinstance(stage, HostStep) or any(c.loop is not None or c.donated for c in stage.clusters):
        return None
    return stage.device.name


def _slots(stage: Stage | HostStep) -> tuple[list[int], list[int]]:
    """Returns the slots that a stage reads, and those that it fills."""
    if isinstance(stage, HostStep):
        return stage.ins, stage.outs
    return [*stage.outside, *stage.known], [s for c in stage.clusters for s in c.outs]
