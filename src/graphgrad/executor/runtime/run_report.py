"""Reports a run's clusters, where their programs came from, and its live memory."""

from __future__ import annotations

import _thread
import heapq
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphgrad.executor.backend.mesh import MeshBuffer
from graphgrad.executor.program.plan_types import Move
from graphgrad.ir.tensor import repr_html
from graphgrad.ir.values import tensor_list

if TYPE_CHECKING:
    from graphgrad.executor.backend.cache import Entry
    from graphgrad.executor.program.plan_types import Cluster, HostStep, Plan

_NAMED = 24  # values that a step names


class Step(NamedTuple):
    """One step of a run.

    Attributes:
      kind: "cluster", "host", or "move" for a value moved to another device.
      operations: op type -> how many of them.
      form: the number of the cluster's fingerprint; clusters with equal numbers share a program. None for host steps.
      origin: "compiled", "disk" (an earlier process compiled it), "reused" (an earlier cluster is the same
        program), "host" or "move".
      output_bytes: bytes of the results.
      temporary_bytes: bytes of temporary memory that XLA needs while the program runs.
      live_bytes: bytes of all values that are alive after the step, variables included.
      device: where it runs, or the target of a move, such as "CPU:1"; "" for the default device.
      start: when it began, in seconds since 1970.
      seconds: how long it took until its results were complete.
      names: the names of its operations.
      alive: (name, bytes) of the largest values that are alive after the step, variables included.
      reads: the numbers of the steps whose results it gets.
      device_bytes: on a mesh, for each of its devices the bytes that are alive there after the step. What the step
        itself needs (`output_bytes`, `temporary_bytes`) is what one device needs then.
    """

    kind: str
    operations: Counter[str]
    form: int | None
    origin: str
    output_bytes: int
    temporary_bytes: int
    live_bytes: int
    device: str = ""
    start: float = 0.0
    seconds: float = 0.0
    names: tuple[str, ...] = ()
    alive: tuple[tuple[str, int], ...] = ()
    reads: tuple[int, ...] = ()
    device_bytes: tuple[int, ...] = ()


class RunReport:
    """The steps of a run, as they were executed; `print` it.

    Attributes:
      steps: one `Step` for each.
      peak_bytes: the peak of live memory: values between steps, and temporary memory of programs.
    """

    _repr_html_ = repr_html

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._forms: dict[int, int] = {}
        self._live = 0
        self._names: dict[int, str] = {}  # slot -> the value's name
        self._makers: dict[int, int] = {}  # slot -> the step that made the value
        self.peak_bytes = 0
        begun = time.perf_counter()
        self._begun = {_thread.get_ident(): begun}  # when a thread's step began
        self._offset = time.time() - begun  # wall clock minus performance counter
        self._adding = _thread.allocate_lock()

    @property
    def programs(self) -> int:
        """The number of different programs of the clusters."""
        return len(self._forms)

    def start(self, slots: Sequence[Any], plan: Plan) -> None:
        """Notes the live memory before the first step, and the names of variables and feeds."""
        self._names.update({slot: cell.name for slot, cell in plan.loads if cell.name})
        self._names.update({slot: plan.static[slot].name for slot in plan.feeds if slot in plan.static})
        self._live = self.peak_bytes = sum(_live(slots).values())
        self.begins()

    def begins(self) -> None:
        """Notes that a step begins in this thread: one is done, or programs have been compiled."""
        self._begun[_thread.get_ident()] = time.perf_counter()

    def cluster(self, made_of: tuple[Cluster, Entry], slots: Sequence[Any]) -> None:
        """Notes a cluster that has run, with its cache entry."""
        ended = time.perf_counter()
        cluster, entry = made_of
        known = id(entry) in self._forms
        form = self._forms.setdefault(id(entry), len(self._forms))
        output, temporary = entry.program().memory()
        operations = Counter(i.op.type for i in cluster.program)
        live = _live(slots)
        self._add(Step("cluster", operations, form, "reused" if known else entry.origin, output, temporary,
                       sum(live.values()), cluster.device or "", *self._times(ended, cluster.program),
                       self._alive(live, cluster.program), device_bytes=_by_device(slots)), cluster)

    def host(self, step: Cluster | HostStep, slots: Sequence[Any]) -> None:
        """Notes a host step that has run."""
        ended = time.perf_counter()
        by_slot = _live(slots)
        live = sum(by_slot.values())
        grown = max(0, live - self._live)
        if isinstance(step, Move):
            self._add(Step("move", Counter(["Move"]), None, "move", grown, 0, live, step.device or "",
                           *self._times(ended, ()), self._alive(by_slot, ())), step)
            return
        operations = Counter(i.op.type for i in step.program)
        self._add(Step("host", operations, None, "host", grown, 0, live, "", *self._times(ended, step.program),
                       self._alive(by_slot, step.program)), step)

    def _times(self, ended: float, program: Sequence[Any]) -> tuple[float, float, tuple[str, ...]]:
        begun = self._begun[_thread.get_ident()]
        return begun + self._offset, ended - begun, tuple([i.op.name for i in program])

    def _alive(self, live: dict[int, int], program: Sequence[Any]) -> tuple[tuple[str, int], ...]:
        """Names the largest of the values that are alive after a step."""
        for i in program:
            self._names.update(zip(i.outs, [t.name for t in i.op.outputs]))
            for slot, t in zip(i.ins, i.op.inputs):
                self._names.setdefault(slot, t.name)
            for position, touch in i.refs.items():
                self._names.setdefault(touch.slot, i.op.inputs[position].op.name)
        largest = heapq.nlargest(_NAMED, live.items(), key=_bytes)
        return tuple((self._names.get(slot, "an input or a variable"), size) for slot, size in largest if size)

    def _reads(self, step: Cluster | HostStep) -> tuple[int, ...]:
        """Returns the steps whose results a step gets, and notes which results are its own."""
        found = sorted({self._makers[slot] for slot in step.ins if slot in self._makers})
        self._makers.update(dict.fromkeys(step.outs, len(self.steps)))
        return tuple(found)

    def _add(self, step: Step, made_of: Cluster | HostStep) -> None:
        with self._adding:
            self.steps.append(step._replace(reads=self._reads(made_of)))
            peak = self._live + step.output_bytes + step.temporary_bytes
            self.peak_bytes = max(self.peak_bytes, peak, step.live_bytes)
            self._live = step.live_bytes
        self.begins()

    def __str__(self) -> str:
        kinds = Counter(s.kind for s in self.steps)
        several = any(s.device for s in self.steps)
        moves = f", {kinds['move']} between devices" if several else ""
        lines = [f"{len(self.steps)} steps: {kinds['cluster']} clusters, {self.programs} programs, "
                 f"{kinds['host']} on the host{moves}; at most {size_str(self.peak_bytes)} alive{self._on_mesh()}",
                 f"step  program  origin    ops  {'device   ' * several}results    besides    alive      "
                 "operations"]
        for number, s in enumerate(self.steps):
            program = "-" if s.form is None else f"#{s.form}"
            sizes = "".join(f"{size_str(n):<11}" for n in (s.output_bytes, s.temporary_bytes, s.live_bytes))
            count = s.operations.total()
            device = f"{s.device or 'default':<9}" if several else ""
            lines.append(f"{number:<5} {program:<8} {s.origin:<9} {count:<4} {device}{sizes}{_most(s.operations)}")
        return "\n".join(lines)

    def _on_mesh(self) -> str:
        held = [max(s.device_bytes) for s in self.steps if s.device_bytes]
        count = max((len(s.device_bytes) for s in self.steps), default=0)
        return f", on each of {count} devices at most {size_str(max(held))}" if held else ""

    def __repr__(self) -> str:
        return f"<RunReport of {len(self.steps)} steps, {self.programs} programs>"


def _most(operations: Counter[str]) -> str:
    words = [f"{n} {kind}" if n > 1 else kind for kind, n in operations.most_common(4)]
    return ", ".join(words) + (", ..." if len(operations) > 4 else "")


def size_str(count: int) -> str:
    """Formats a number of bytes, such as '12 kB'."""
    if count < 10_000:
        return f"{count} B"
    return f"{count / 1000:.0f} kB" if count < 10_000_000 else f"{count / 1e6:.0f} MB"


def _live(slots: Sequence[Any]) -> dict[int, int]:
    """Returns the bytes of the values in slots; what stands in several is counted once."""
    seen: set[int] = set()
    live: dict[int, int] = {}
    for slot, value in enumerate(slots):
        parts = tensor_list.flatten(value)[0] if isinstance(value, tensor_list.TensorList) else (value,)
        total = 0
        for part in parts:
            if part is None or id(part) in seen:
                continue
            seen.add(id(part))
            if hasattr(part, "aval"):
                size = part.aval.dtype.itemsize
                for n in part.aval.shape:
                    size *= n
                total += size
            else:
                total += int(getattr(part, "nbytes", 0))
        if total:
            live[slot] = total
    return live


def _by_device(slots: Sequence[Any]) -> tuple[int, ...]:
    """Returns the bytes of the values in slots that each device of a mesh holds; nothing without a mesh."""
    found = {id(v): v.bytes_of_devices() for v in slots if isinstance(v, MeshBuffer)}
    return tuple(map(sum, zip(*found.values(), strict=True)))


def _bytes(entry: tuple[int, int]) -> int:
    return entry[1]
