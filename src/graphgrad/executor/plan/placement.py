"""Device placement: which operations run where, and the moves between devices.

An operation runs on the device that it names, if that exists; on the default device otherwise (soft placement), or the
run is an error if a session's configuration says `allow_soft_placement=False`. A cluster belongs to one device. Values
move between devices in separate steps. Graphs that name no devices skip all of this.

Devices are named by kind and number: "CPU:1", "GPU:0"; None is the default one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from graphgrad.errors import InvalidArgumentError, describe
from graphgrad.executor.backend import xla
from graphgrad.executor.program.interpreter import Instruction
from graphgrad.executor.program.plan_types import Cluster, HostStep, Move, Plan
from graphgrad.ir import dtypes
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.variable_store import Cell
from graphgrad.system.device_names import parse

from .device_order import by_device
from .partition import sections
from .schedule import arrange

_HOME = {"job": "localhost", "replica": "0", "task": "0"}
_PREFIX = "/job:localhost/replica:0/task:0/device:"


class Placement:
    """The device settings of a session's configuration.

    Args:
      cpus: the number of devices that the processor counts as.
      accelerators: whether accelerators are used, if there are any.
      soft: whether an operation may run elsewhere if the device that it names does not exist.
      log: whether to print where operations run.
    """

    def __init__(self, cpus: int = 1, accelerators: bool = True, soft: bool = True, log: bool = False):
        self.cpus = max(1, cpus)
        self.accelerators = accelerators
        self.soft = soft
        self.log = log
        self.tasks: frozenset[tuple[str, int]] | None = None  # of the cluster that the session's target belongs to
        self._logged: set[Operation] = set()

    @classmethod
    def of(cls, config: Any) -> Placement:
        """Returns the placement that a `ConfigProto` requests; None for none."""
        fields = getattr(config, "_values", {})  # an explicit False counts, too
        counts = fields.get("device_count", {})
        return cls(int(counts.get("CPU", default_placement.cpus)),
                   default_placement.accelerators and int(counts.get("GPU", 1)) > 0,
                   bool(fields.get("allow_soft_placement", True)),
                   bool(fields.get("log_device_placement", default_placement.log)))

    @property
    def devices(self) -> list[str]:
        """The available devices."""
        return [*[f"CPU:{n}" for n in range(self.cpus)], *(xla.accelerators() if self.accelerators else ())]

    @property
    def default(self) -> str:
        """The device of operations that name none."""
        return next((d for d in self.devices if not d.startswith("CPU")), "CPU:0")

    def assign(self, ops: Sequence[Operation]) -> dict[int, str]:
        """Maps the index of an operation to its device, for those not on the default device of the process.

        Args:
          ops: the operations of a run.
        Raises: InvalidArgumentError for one that names a device that does not exist, unless placement is soft.
        """
        if self.accelerators and not self.log and not any(op.device for op in ops):
            return {}
        usual = xla.default_name()
        devices, default = self.devices, self.default
        found: dict[str, str] = {}
        result: dict[int, str] = {}
        # Constants come last: so an error names an operation that the user wrote.
        for op in sorted(ops, key=_is_const):
            device = found.get(op.device)
            if device is None:
                device = found[op.device] = self._find(op, devices, default)
            if "functional" not in op.opdef.flags:  # operations on a variable run where it is
                held = next((t.op for t in op.inputs if t.dtype is dtypes.resource), None)
                if held is not None:
                    device = result.get(held.index, usual)
                    if held.device and held.type == "Placeholder":  # of a function, for a variable outside
                        device = found.get(held.device) or self._find(held, devices, default)
            if device != usual:
                result[op.index] = device
            if self.log and op not in self._logged:
                self._logged.add(op)
                print(f"{op.name}: ({op.type}): {_PREFIX}{device}", flush=True)
        return result

    def _find(self, op: Operation, devices: Sequence[str], default: str) -> str:
        asked = dict(parse(op.device))
        kind, _, number = asked.pop("device", default).partition(":")
        if self.tasks is not None and "job" in asked:
            return self._stand_in(op, asked["job"], int(asked.get("task", "0")), f"{kind}:{number or '0'}", default)
        here = all(value == _HOME[key] for key, value in asked.items())
        candidates = [d for d in devices if d.startswith(f"{kind}:") and number in ("", "*", d.partition(":")[2])]
        if here and candidates:
            return candidates[0]
        if not self.soft:
            there = ", ".join(_PREFIX + d for d in devices)
            raise InvalidArgumentError(op.node_def, op, describe(
                op.type, op.name, f"Cannot assign a device for operation {op.name}: {{{{node {op.name}}}}} was "
                f"explicitly assigned to {op.device} but available devices are [ {there} ]. Make sure the device "
                "specification refers to a valid device", "", str(op.source or ""),
                "name a device that exists, or let it run elsewhere with tf.ConfigProto(allow_soft_placement=True)"
            ))
        return default


    def _stand_in(self, op: Operation, job: str, task: int, device: str, default: str) -> str:
        """Returns the device here that stands for one of a task of the cluster."""
        if (job, task) not in (self.tasks or ()):
            there = ", ".join(f"/job:{j}/task:{t}" for j, t in sorted(self.tasks or ()))
            raise InvalidArgumentError(op.node_def, op, describe(
                op.type, op.name, f"Cannot assign a device for operation {op.name}: {{{{node {op.name}}}}} was "
                f"explicitly assigned to {op.device} but available devices are those of [ {there} ]", "",
                str(op.source or ""), "name a task of the cluster that the server was made with"))
        return device if device in self.devices else default


default_placement = Placement()  # of functions


def assign(place: Placement | None, ops: Sequence[Operation]) -> dict[int, str]:
    """Calls `Placement.assign`, of the default placement if there is no other."""
    return (place or default_placement).assign(ops)


class SessionDevice:
    """A device as `Session.list_devices` describes it.

    Args:
      name: e.g. '/job:localhost/replica:0/task:0/device:CPU:0'.
    """

    def __init__(self, name: str):
        self.name = name
        self.device_type = name.rpartition("device:")[2].partition(":")[0]
        self.memory_limit_bytes = 268435456  # TensorFlow's number for processors; not a limit here
        self.incarnation = 1

    def __repr__(self) -> str:
        return f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, {self.incarnation})"


def _is_const(op: Operation) -> bool:
    return op.type == "Const"


def full_name(device: str) -> str:
    """Returns a device's name as sessions list it."""
    return _PREFIX + device


def arrange_on_devices(program: Sequence[Instruction], kept: set[int], floating: Mapping[int, Instruction],
                       slot_of: Mapping[int, int], new: Callable[[Tensor], int], final: bool,
                       whole: bool) -> list[list[Instruction]]:
    """Cuts a program into clusters, none of which mixes devices; see `schedule.arrange`.

    Args:
      whole: whether the clusters are as large as possible.
    """
    pieces: list[list[Instruction]] = []
    runs = by_device(program, floating, slot_of)
    for n, run in enumerate(runs):
        if whole:
            pieces += sections(run)
            continue
        later = [i for r in runs[n + 1 :] for i in r]
        also = kept.union(*(i.reads() for i in later), *(i.reads() for i in floating.values()))
        pieces += arrange(run, also, floating, slot_of, new, final and not later)
    return pieces


def connect_devices(plan: Plan, floating: Mapping[int, Instruction], home_of: Mapping[int, str],
                    cell_home: Mapping[int, str]) -> None:
    """Adds the steps that move values between devices.

    Args:
      plan: the plan; its steps exist, but are not yet connected.
      floating: slot -> the instruction that is computed wherever its result is needed.
      home_of: slot -> device of constants that are not on the default one.
      cell_home: id of a variable's cell -> its device, if that is not the default one.
    """
    homes: dict[int, str | None] = dict(home_of)
    homes.update((slot, cell_home[id(cell)]) for slot, cell in plan.loads if id(cell) in cell_home)
    plan.homes = {slot: home for slot, home in homes.items() if home is not None}
    everywhere = set(map(id, floating.values()))
    moved: dict[tuple[int, str | None], int] = {}
    made: set[int] = set()
    steps: list[Cluster | HostStep] = []

    def at(slot: int, device: str | None) -> int:
        key = slot, device
        if key not in moved:
            moved[key] = new = plan.slots
            plan.slots += 1
            t = plan.static.get(slot)
            if t is not None:
                plan.static[new] = t
            steps.append(Move(_moving(spec_of[slot]), slot, new, device))
        return moved[key]

    spec_of: dict[int, Any] = {slot: t._spec for slot, t in plan.static.items()}
    spec_of.update((slot, _spec(cell)) for slot, cell in plan.loads)
    for step in plan.steps:
        for i in step.program:
            spec_of.update((s, t._spec) for s, t in zip(i.outs, i.op.outputs, strict=True))
            spec_of.update((t.out, _spec(t.cell)) for t in (*i.refs.values(), *i.touched))
        if isinstance(step, Cluster):
            step.device = device = step.program[-1].device
            renamed = {s: at(s, device) for s in step.ins if homes.get(s) != device}
            if renamed:
                _rename(step, renamed, everywhere)
            given = {s for i in step.program for s in i.gives()}
            made |= given
            homes.update(dict.fromkeys(given, device))
        steps.append(step)
    stores = []
    for slot, cell in plan.stores:
        home = cell_home.get(id(cell))
        new = at(slot, home) if slot in made and homes[slot] != home else slot
        stores.append((new, cell))
        plan.checks = [(new if s == slot and c is cell else s, c, op) for s, c, op in plan.checks]
    plan.stores, plan.steps = stores, steps


def _spec(cell: Cell) -> Spec:
    return Spec.of(cell.dtype, cell.shape)


def _rename(cluster: Cluster, renamed: Mapping[int, int], everywhere: Collection[int]) -> None:
    """Makes a cluster read moved values."""
    cluster.ins = [renamed.get(s, s) for s in cluster.ins]
    for i in cluster.program:
        if id(i) in everywhere:  # it reads shapes, in other clusters too
            cluster.shapes += [s for s in dict.fromkeys(i.reads()) if s in renamed and s not in cluster.shapes]
            continue
        i.ins = [renamed.get(s, s) for s in i.ins]
        i.refs = {p: t._replace(slot=renamed.get(t.slot, t.slot), out=renamed.get(t.out, t.out) if t.out == t.slot
                                else t.out) for p, t in i.refs.items()}
        i.touched = tuple([t._replace(slot=renamed.get(t.slot, t.slot), out=renamed.get(t.out, t.out)
                                      if t.out == t.slot else t.out) for t in i.touched])


def _moving(spec: Spec) -> Operation:
    """Makes the operation of a move, which is in no graph."""
    t = Tensor.__new__(Tensor)
    t.dtype, t._spec, t.value_index = spec.dtype, spec, 0
    op = Operation.__new__(Operation)
    op.name, op.opdef, op.attrs = "move", raw.Identity, {"T": spec.dtype}
    op.inputs = op.outputs = (t,)
    op.control_inputs, op.device, op.index, op.source = (), "", -1, None
    op._colocation, op._original_op, op._gradient = (), None, None
    t.op = op
    return op
