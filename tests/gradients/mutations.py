"""Breaks what computes gradients, piece by piece, and looks whether a test notices.

Two kinds of break:

- **rules**: the gradient rule of every op type is made wrong in two ways for each input that gets a gradient: it is
  multiplied by 1.5, or missing. The rows of that op in the table of ops (finite differences, and gradients recorded
  from TensorFlow) have to fail.
- **the sweep**: a line of the algorithm is changed in a copy of the sources; the tests named beside it have to fail.

    python -m tests.gradients.mutations [--write docs/inside/mutations.md] [--only rules|sweep] [PATTERN]

It takes some minutes, and is no part of `make test`.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests import ROOT

# -- rules ---------------------------------------------------------------------------------------


def _is_zero(g: Any) -> bool:
    """Whether a gradient is nothing but zeros, so that there is nothing to break."""
    import numpy as np

    op = getattr(g, "op", None)
    return op is not None and (op.type == "ZerosLike" or (op.type == "Const" and not np.any(op.attrs["value"])))


def _broken(rule: Any, change: Callable[[Any], Any], which: int, seen: set[int]) -> Any:
    """The rule with a change to the gradient of one input; `seen` gets the inputs that have a gradient."""

    def wrong(op: Any, *dys: Any) -> list[Any]:
        returned = rule(op, *dys)
        grads = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        seen.update(k for k, g in enumerate(grads) if g is not None and not _is_zero(g))
        if which < len(grads) and grads[which] is not None:
            grads[which] = change(grads[which])
        return grads

    return wrong


def _scaled(g: Any) -> Any:
    from graphgrad.ir.opdef import raw
    from graphgrad.ir.values.indexed_slices import IndexedSlices

    if isinstance(g, IndexedSlices):
        return g._with_values(_scaled(g.values))
    if g.dtype.kind == "o":
        return None
    import numpy as np

    return raw.Mul(g, np.asarray(1.5, g.dtype.np_dtype))


def _dropped(g: Any) -> Any:
    return None


BREAKS: dict[str, Callable[[Any], Any]] = {"multiplied": _scaled, "missing": _dropped}


def _checks(rows: list[Any]) -> list[Callable[[], None]]:
    """The tests of the table that look at gradients, for some rows."""
    from tests.ops import test_ops
    from tests.support.table import row_dtypes

    checks: list[Callable[[], None]] = []
    for row in rows:
        for i in range(len(row.cases)):
            if row.order:
                checks.append(functools.partial(test_ops.test_derivatives, row, i))
            if row.tf:
                checks.extend(functools.partial(test_ops.test_recorded, row, i, t) for t in row_dtypes(row))
    return checks


def _passes(check: Callable[[], None]) -> bool:
    import pytest

    try:
        with contextlib.redirect_stdout(io.StringIO()):
            check()
    except (Exception, pytest.fail.Exception):
        return False
    return True


def rules(pattern: str) -> Iterator[tuple[str, str, str, bool]]:
    """(family, op type, break, noticed) for every op type that has a rule and rows that check it."""
    from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, registry
    from tests.ops import rows

    table: dict[str, list[Any]] = {}
    for row in rows.load():
        table.setdefault(row.op_type, []).append(row)
    for name, opdef in sorted(registry.items()):
        rule = opdef.gradient
        if rule in (None, NOT_DIFFERENTIABLE) or name not in table or not re.search(pattern, name):
            continue
        if not any(row.order or row.tf for row in table[name]):
            continue
        family = rule.__module__.rpartition(".")[2]
        seen: set[int] = set()
        opdef.gradient = _broken(rule, _dropped, 99, seen)
        checks = [c for c in _checks(table[name]) if _passes(c)]
        for which in sorted(seen):
            for what, change in BREAKS.items():
                opdef.gradient = _broken(rule, change, which, set())
                yield family, name, f"input {which} {what}", not all(map(_passes, checks))
        opdef.gradient = rule


# -- the sweep -------------------------------------------------------------------------------------


class Mutant(NamedTuple):
    """A change of one line.

    Attributes:
      part: the part of the algorithm.
      what: what goes wrong.
      path: the file, beneath src/graphgrad.
      old, new: the text and what stands in its place, once.
      tests: the test files that have to notice, as `room/subject` for `tests/room/test_subject.py`.
    """

    part: str
    what: str
    path: str
    old: str
    new: str
    tests: str


MUTANTS = [
    Mutant("stop", "stop_gradients is not looked at", "gradients/core/sweep.py", "if op not in stopped:", "if True:",
           "gradients/stop_gradients"),
    Mutant("stop", "ops declared constant pass gradients on", "gradients/core/sweep.py",
           "in_grads: Sequence[Any] = [None] * len(inputs)", "in_grads: Sequence[Any] = out_grads[:1] * len(inputs)",
           "gradients/stop_gradients"),
    Mutant("stop", "integers carry gradients", "gradients/core/rules.py",
           'return t.dtype.kind in "fc" or', "return True or",
           "gradients/grad_ys"),
    Mutant("reach", "ops that no x leads to count", "gradients/core/gradient_paths.py",
           "if id(t) in live and passes(t):\n                    self.ops",
           "if passes(t):\n                    self.ops", "gradients/visiting"),
    Mutant("reach", "an op waits for one consumer only", "gradients/core/gradient_paths.py",
           "pending[t.op] = pending.get(t.op, 0) + 1", "pending[t.op] = 1", "gradients/visiting gradients/aggregation"),
    Mutant("reach", "what carries no gradient counts", "gradients/core/gradient_paths.py",
           "if id(t) in live and passes(t):\n                    self.ops",
           "if id(t) in live:\n                    self.ops",
           "gradients/visiting gradients/stop_gradients gradients/arguments"),
    Mutant("reach", "an op waits for what no y leads to", "gradients/core/gradient_paths.py",
           "            if op in pending:\n", "            if True:\n", "gradients/visiting"),
    Mutant("seed", "zeros instead of ones", "gradients/core/seed.py", "np.ones((), y.dtype", "np.zeros((), y.dtype",
           "gradients/visiting"),
    Mutant("seed", "grad_ys is not looked at", "gradients/core/seed.py", "if grad_y is None else", "if True else",
           "gradients/grad_ys"),
    Mutant("seed", "a complex y may do without", "gradients/core/seed.py", "if y.dtype.is_complex:\n        raise",
           "if False:\n        raise", "gradients/grad_ys"),
    Mutant("seed", "a grad_y of another shape passes", "gradients/core/seed.py", "    if not one and merge(",
           "    if False and merge(", "gradients/grad_ys"),
    Mutant("sweep", "operations in another order", "gradients/core/gradient_paths.py", "queue.popleft()", "queue.pop()",
           "gradients/names gradients/aggregation"),
    Mutant("sweep", "an x inside the path loses its gradient", "gradients/core/sweep.py",
           "        if id(t) in self.wanted:\n", "        if False:\n", "gradients/visiting"),
    Mutant("sweep", "the sweep ends at the first x", "gradients/core/sweep.py", "if op not in stopped:",
           "if op not in stopped and self.wanted.isdisjoint(map(id, op.outputs)):", "gradients/visiting"),
    Mutant("sweep", "zeros are not the gradient of an x that is a sibling", "gradients/core/sweep.py",
           "if g is not None and id(t) in self.wanted)", "if False)", "gradients/visiting"),
    Mutant("tape", "sources that are not watched count", "frontend/autodiff/tape_recording.py",
           "known = [x for x in xs if id(x) in self._watched or self.source(x) is not None]", "known = xs",
           "behaviours/behaviours"),
    Mutant("tape", "operations in the order in which they ran", "frontend/autodiff/tape_recording.py",
           "reversed(paths.ops))", "list(paths.ops))", "frontend/tape"),
    Mutant("tape", "siblings get None instead of zeros", "frontend/autodiff/tape_recording.py",
           'if not getattr(op._gradient, "takes_none", False):', "if False:", "behaviours/behaviours"),
    Mutant("tape", "records forget their line", "frontend/autodiff/tape_recording.py",
           "user_source(2) if missing else None", "None", "gradients/missing"),
    Mutant("forward", "the path is forgotten", "frontend/autodiff/forward_accumulator.py",
           "                    self._came_by[id(y)] = came_by\n", "", "gradients/missing"),
    Mutant("explain", "operations get further outputs", "gradients/diagnose/explain.py",
           "    def expose(self, op: Operation) -> None:\n", "    def _expose(self, op: Operation) -> None:\n",
           "gradients/explain"),
    Mutant("explain", "a trial gives operations further outputs", "gradients/core/loop_zeros.py",
           "    def expose(self, op: Operation) -> None:\n", "    def _expose(self, op: Operation) -> None:\n",
           "gradients/explain"),
    Mutant("explain", "zeros are not told from gradients", "gradients/diagnose/explain.py",
           "            if _is_zero(found[i]):\n", "            if False:\n", "gradients/explain"),
    Mutant("zeros of loops", "loops give None", "gradients/core/loop_zeros.py",
           "        if i < own or i >= len(op.inputs):\n", "        if False:\n",
           "behaviours/behaviours"),
    Mutant("zeros of loops", "what is only read gives None", "gradients/core/loop_zeros.py",
           "        if i < own or i >= len(op.inputs):\n", "        if i < own:\n",
           "behaviours/behaviours"),
    Mutant("missing", "an op without a gradient is passed over", "gradients/core/sweep.py",
           "        if rule is None:\n", "        if False:\n", "gradients/missing"),
    Mutant("missing", "the path stays inside of a loop", "gradients/core/missing.py",
           "self.path = [*path[:after], *self.path, *path[after:]]", "pass", "gradients/missing"),
    Mutant("missing", "the path leads nowhere", "gradients/core/gradient_paths.py",
           "            t = self.towards_x(op)\n", "            break\n", "gradients/missing gradients/explain"),
    Mutant("missing", "the line is that of the gradient", "gradients/bodies/subgraphs.py",
           "        copy.source = op.source\n", "", "gradients/missing"),
    Mutant("sweep", "siblings get None instead of zeros", "gradients/core/rules.py",
           'out_grads[i] is None and y.dtype.kind in "fc"', "False", "gradients/visiting"),
    Mutant("sweep", "siblings get ones instead of zeros", "gradients/core/rules.py",
           'raw.ZerosLike(y, name="zeros_like")',
           "raw.OnesLike(y)", "gradients/visiting"),
    Mutant("sweep", "what is no tensor passes", "gradients/core/rules.py",
           "    if not isinstance(g, Tensor) and not sparse:\n", "    if False:\n",
           "gradients/registry"),
    Mutant("sweep", "gradients of another shape pass", "gradients/core/rules.py", "is _CONTRADICTION:", "is None:",
           "gradients/registry"),
    Mutant("sweep", "another number of gradients passes", "gradients/core/rules.py",
           "if len(result) != len(op.inputs):",
           "if False:", "gradients/registry"),
    Mutant("aggregate", "a sum leaves out its last term", "gradients/core/aggregate.py", "raw.AddN(group)",
           "raw.AddN(group[:-1])", "gradients/visiting"),
    Mutant("aggregate", "a tree leaves out what came before", "gradients/core/aggregate.py",
           "raw.AddN([terms[-1], term])",
           "raw.AddN([term])", "gradients/aggregation"),
    Mutant("aggregate", "a tree waits for all terms", "gradients/core/rules.py", "self.adds_early = method != 0",
           "self.adds_early = False", "gradients/aggregation"),
    Mutant("aggregate", "slices are summed from the first alone", "gradients/core/aggregate.py",
           "            return concat_slices(terms)", "            return concat_slices(terms[:1])",
           "gradients/slices"),
    Mutant("aggregate", "slices become dense in a sum", "gradients/core/aggregate.py", "        if all(sparse):\n",
           "        if False:\n", "gradients/slices"),
    Mutant("aggregate", "a sum is not beside its terms", "gradients/core/aggregate.py",
           "with graph.colocate_with(group[0].op, ignore_existing=True):", "with graph.colocate_with(None):",
           "gradients/placement"),
    Mutant("unconnected", "'zero' gives None", "gradients/core/backprop.py",
           "if unconnected is UnconnectedGradients.ZERO:",
           "if False:", "gradients/visiting"),
    Mutant("unconnected", "ones instead of zeros", "gradients/core/unconnected.py",
           'return raw.ZerosLike(x, name="zeros_like")',
           "return raw.OnesLike(x)", "gradients/visiting"),
    Mutant("unconnected", "zeros read the variable", "gradients/core/unconnected.py",
           "if is_fully_defined(shape):", "if False:",
           "gradients/visiting"),
    Mutant("unconnected", "any policy is accepted", "gradients/core/unconnected.py",
           "        return UnconnectedGradients(value)",
           "        return UnconnectedGradients.NONE if value not in ('zero', UnconnectedGradients.ZERO) "
           "else UnconnectedGradients.ZERO", "gradients/visiting"),
    Mutant("gating", "gradients do not wait for each other", "gradients/core/rules.py",
           "if call.gate and", "if False and",
           "gradients/placement"),
    Mutant("gating", "the gate waits for nothing", "gradients/core/rules.py", "with graph.control_dependencies(ops):",
           "with graph.control_dependencies([]):", "gradients/placement"),
    Mutant("gating", "nothing waits for the gate", "gradients/core/rules.py",
           "with graph.control_dependencies([gate]), graph", "with graph.control_dependencies([]), graph",
           "gradients/placement"),
    Mutant("placement", "gradients are not beside their ops", "gradients/core/rules.py", "        if self.on:\n",
           "        if False:\n", "gradients/placement"),
    Mutant("placement", "the caller's group is lost", "gradients/core/rules.py",
           "tuple(sorted({*around.colocated, *groups}) if around.colocated else groups)", "tuple(groups)",
           "gradients/placement"),
    Mutant("placement", "branches forget devices", "gradients/bodies/subgraphs.py",
           "        copy.device = op.device\n", "",
           "gradients/placement"),
    Mutant("names", "no scope of the forward op", "gradients/core/rules.py", '{op.name}_grad" if call.scope',
           'grad" if call.scope', "gradients/names"),
    Mutant("names", "names of a second call in the same scope clash", "gradients/core/rules.py",
           "scope = scope if call.fresh else", "scope = scope if True else", "gradients/names"),
    Mutant("names", "gradient ops forget their forward op", "gradients/core/sweep.py",
           "        call.graph._around.original_op = op\n", "", "gradients/names"),
    Mutant("arguments", "tensors of other graphs pass", "gradients/core/arguments.py",
           "    if isinstance(t, Tensor) and t.graph is graph:\n", "    if isinstance(t, Tensor):\n",
           "gradients/arguments"),
    Mutant("arguments", "the default graph grows", "gradients/core/arguments.py", "        if len(theirs) == 1:\n",
           "        if False:\n", "gradients/arguments"),
    Mutant("registry", "overrides are not looked at", "gradients/core/registry.py", "    if override is None:\n",
           "    if not callable(override):\n", "gradients/registry"),
    Mutant("registry", "a second registration wins", "ir/opdef.py", "        if self.gradient is not None:\n",
           "        if False:\n", "gradients/registry"),
    Mutant("registry", "a name can be registered twice", "gradients/core/registry.py", "    if name in _by_name:\n",
           "    if False:\n", "gradients/registry"),
    Mutant("custom", "the function's own gradient counts too", "gradients/core/custom.py",
           "return [None] * n_results + flat",
           "return list(dys[:n_results]) + flat", "gradients/custom"),
    Mutant("custom", "variables get no gradient", "gradients/core/custom.py", "+ flat + variable_grads",
           "+ flat + [None] * len(variable_grads)", "gradients/custom"),
    Mutant("custom", "the number of gradients is not checked", "gradients/core/custom.py",
           "if len(grads) != len(args):", "if False:",
           "gradients/custom"),
    Mutant("custom", "variables used outside count", "gradients/core/custom.py", "graph._operations[start:]",
           "graph._operations[0:]", "gradients/custom"),
    Mutant("custom", "recompute_grad keeps what it has computed", "frontend/autodiff/recompute.py",
           "again = [raw.Identity(t) for t in leaves_of(args)]", "again = list(leaves_of(args))", "gradients/custom"),
    Mutant("functions", "If: the branches change places", "gradients/control_flow/if_gradient.py",
           "then_branch=then_graph, else_branch=else_graph,", "then_branch=else_graph, else_branch=then_graph,",
           "frontend/control_flow"),
    Mutant("functions", "If: what one branch does not use is no zero", "gradients/bodies/subgraphs.py",
           "    return raw.ZerosLike(x)\n", "    return raw.OnesLike(x)\n",
           "frontend/control_flow gradients/control_flow/loops"),
    Mutant("functions", "While: captured tensors get nothing", "gradients/control_flow/while_gradient.py",
           "        in_grads[i] = g\n", "        in_grads[i] = g if i < loop.n else None\n",
           "frontend/control_flow gradients/control_flow/loops"),
    Mutant("functions", "While: the last iteration is left out", "gradients/control_flow/while_gradient.py",
           "start = [raw.Sub(steps, np.int32(1)),", "start = [raw.Sub(steps, np.int32(2)),",
           "frontend/control_flow gradients/control_flow/loops"),
    Mutant("functions", "While: an iteration reads another's values", "gradients/control_flow/while_gradient.py",
           "raw.TensorListGetItem(lst, self.step, declared(t)", "raw.TensorListGetItem(lst, np.int32(0), declared(t)",
           "frontend/control_flow gradients/control_flow/loops"),
    Mutant("functions", "what leads to a loop's start is None", "gradients/core/inside_loop.py",
           "if _depends(call, ys, variable) and", "if False and", "gradients/variables"),
    Mutant("state", "variables are read again", "gradients/core/forward_values.py",
           "inputs[i] = raw.VariableOf(value)", "pass",
           "behaviours/behaviours"),
    Mutant("state", "branches and maps compute again what is not pure", "gradients/bodies/subgraphs.py",
           "            replace(self.target, self._kept)\n", "", "behaviours/behaviours"),
    Mutant("state", "loops compute again what is not pure", "gradients/control_flow/while_gradient.py",
           "for i, (t, values) in loop.kept.items() if i in made}", "for i, (t, values) in loop.kept.items() if False}",
           "gradients/exposing"),
    Mutant("state", "what is handed out early is planned late", "ir/state/notes.py", "if not early:", "if True:",
           "gradients/exposing"),
    Mutant("state", "recompute_grad draws anew", "frontend/autodiff/recompute.py",
           "            replay(drawing, random_ops(results, graph._operations[begin:]))\n", "", "gradients/exposing"),
    Mutant("variables", "a read does not connect", "ops/state/variable_ops.py",
           "def _read_grad(op, dy):\n    return dy\n",
           "def _read_grad(op, dy):\n    return None\n", "gradients/variables"),
    Mutant("variables", "parts of other sizes", "frontend/variables/partitioned.py", "rows = size + (k < extra)",
           "rows = size + (k >= partitions[axis] - extra)", "gradients/variables"),
    Mutant("slices", "parts of a concatenation keep the whole's rows", "ops/array/concat_stack.py",
           "indices = raw.Sub(raw.GatherV2(dy.indices, rows, 0), low)", "indices = raw.GatherV2(dy.indices, rows, 0)",
           "gradients/slices"),
    Mutant("slices", "no warning of large ones", "ir/values/indexed_slices.py",
           "if count is None or count < _LARGE:", "if True:", "gradients/slices"),
]


def file_of(name: str) -> pathlib.PurePosixPath:
    """The file of `room/subject`."""
    room, _, subject = name.rpartition("/")
    return pathlib.PurePosixPath("tests", room, f"test_{subject}.py")


def sweep(pattern: str) -> Iterator[tuple[Mutant, bool]]:
    """Each mutant, and whether its tests noticed."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        for mutant in MUTANTS:
            if not re.search(pattern, f"{mutant.part} {mutant.what}"):
                continue
            path = copy / "src" / "graphgrad" / mutant.path
            text = path.read_text()
            path.write_text(text.replace(mutant.old, mutant.new, 1))
            try:
                yield mutant, _fails(copy, mutant.tests)
            finally:
                path.write_text(text)


def _fails(copy: pathlib.Path, tests: str) -> bool:
    files = [str(file_of(name)) for name in tests.split()]
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=600)
    return done.returncode == 1  # some test failed; other codes would be a mistake of this script's


# -- report ------------------------------------------------------------------------------------------


def _report(of_rules: list[tuple[str, str, str, bool]], of_sweep: list[tuple[Mutant, bool]]) -> str:
    lines = ["# Mutations", "", "The result of `make mutations`: how many deliberate mistakes in the code of gradients "
             "are noticed by a test.", ""]
    if of_rules:
        lines += ["## Rules", ""]
        lines += ["Each rule made wrong in two ways for each input: the gradient multiplied by 1.5, or missing.", ""]
        lines += ["| family | rules | breaks | noticed | not noticed |", "|---|---|---|---|---|"]
        for family in sorted({f for f, *_ in of_rules}):
            own = [r for r in of_rules if r[0] == family]
            missed = ", ".join(f"{name} ({what})" for _, name, what, noticed in own if not noticed)
            noticed = sum(r[3] for r in own)
            lines.append(f"| {family} | {len({r[1] for r in own})} | {len(own)} | {noticed} | {missed} |")
        noticed = sum(r[3] for r in of_rules)
        lines += [f"| all | {len({r[1] for r in of_rules})} | {len(of_rules)} | {noticed} | |", ""]
    if of_sweep:
        lines += ["## The sweep", "", "| part | mistake | noticed by |", "|---|---|---|"]
        for mutant, noticed in of_sweep:
            tests = ", ".join(str(file_of(t)) for t in mutant.tests.split())
            lines.append(f"| {mutant.part} | {mutant.what} | {tests if noticed else '**nothing**'} |")
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    """Runs and reports; 1 if a break was not noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--only", choices=["rules", "sweep"])
    arguments = parser.parse_args()
    of_rules, of_sweep = [], []
    if arguments.only != "sweep":
        for found in rules(arguments.pattern):
            of_rules.append(found)
            if not found[3]:
                print(f"not noticed: {found[1]} ({found[0]}), {found[2]}", flush=True)
    if arguments.only != "rules":
        for mutant, noticed in sweep(arguments.pattern):
            of_sweep.append((mutant, noticed))
            if not noticed:
                print(f"not noticed: {mutant.part}: {mutant.what}", flush=True)
    report = _report(of_rules, of_sweep)
    if arguments.write:
        arguments.write.write_text(report)
    missed = sum(not r[3] for r in of_rules) + sum(not n for _, n in of_sweep)
    print(f"{len(of_rules)} breaks of rules, {len(of_sweep)} of the sweep; {missed} not noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
