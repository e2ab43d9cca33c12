"""What of TensorFlow is missing, and what `docs/reference/not-here.md` says about it.

    python -m tests.docs.not_here

writes the tables of what is "not yet" anew, from what exists now. The tables of what has no meaning here are written
by hand.
"""

from __future__ import annotations

import collections
import fnmatch
import functools
import gzip
import importlib
import json
import re
import textwrap
from typing import Any

from tests import ROOT

PAGE = ROOT / "docs" / "reference" / "not-here.md"
_RECORDED = ROOT / "tests" / "recorded"
_NAMES = _RECORDED / "public_names.tsv.gz"  # each public name of TensorFlow 2.21, and in which faces it is
_GRADIENTS = _RECORDED / "registered_gradients.tsv"
_RAW_OPS = _RECORDED / "raw_ops.json.gz"

# The groups of the table of raw ops, in which a name goes where it fits first.
_RAW_GROUPS = {
    "numbers of quantised arithmetic": "*Quantize* *Requantiz* Dequantize",
    "TPUs, sparse cores, collectives and other processes":
        "*TPU* *SparseCore* XlaSparse* Xla* *Xla*ND *Infeed* *Outfeed* Prelinearize* Collective* Nccl* *CrossReplica* "
        "AllToAll CollectivePermute *Minibatch* Send Recv RemoteCall WorkerHeartbeat GlobalIterId *ToMesh* Relayout*",
    "boosted trees, k-means, SDCA": "*BoostedTrees* *Kmeans* KMC2* NearestNeighbors Sdca*",
    "data sets and iterators, which are Python objects here; those in checkpoints.md are read and written":
        "*Dataset* *Iterator* *MemoryCache *SeedGenerator *IterationCounter *StatsAggregator* *ThreadPool* GetOptions "
        "CompressElement UncompressElement *Element* WindowOp ComputeBatchSize",
    "queues, barriers, stages, accumulators":
        "*Queue* Barrier* *Stage* *Unstage* *Accumulator* Map* OrderedMap* Stack*",
    "reference variables and what updates them":
        "Apply* SparseApply* Assign* Scatter* Variable VariableV2 *TemporaryVariable Ref* IsVariableInitialized Count* "
        "StridedSliceAssign Inplace*",
    "tables of reference type": "*HashTable* InitializeTable* LookupTable*",
    "variants of sparse matrices, maps and ragged tensors":
        "*SparseMatrix* *TensorMap* RaggedTensor*Variant* TensorList*",
    "readers of files": "*Reader* RecordInput",
    "control flow of TensorFlow 1": "Enter Exit LoopCond Merge NextIteration Switch TensorArray*",
    "control flow, which `If` and `While` stand for":
        "Case For Stateless[CIW]* PartitionedCall StatefulPartitionedCall SymbolicGradient FakeParam ToBool "
        "DeviceIndex",
    "summaries that ops write": "*Summary*",
    "batches of matrices, before all ops took them": "Batch* SelfAdjointEig",
    "formats": "Decode* Encode* ExtractJpegShape Parse* *Serialize* Audio* Mfcc Unicode* StringNGrams",
    "a GPU library's recurrent layers": "CudnnRNN*",
    "random numbers": "*Random* Stateful* Rng* *CandidateSampler SobolSample",
}


def _has(value: Any, name: str) -> bool:
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            return False
    return True


@functools.cache
def missing_names() -> tuple[str, ...]:
    """TensorFlow's public names that a face lacks, sorted."""
    faces = {str(i): importlib.import_module(f"graphgrad.compat.v{i}") for i in (1, 2)}
    lines = gzip.decompress(_NAMES.read_bytes()).decode().splitlines()[1:]
    names = [line.split("\t") for line in lines]
    return tuple(sorted(name for name, where in names if not all(_has(faces[i], name) for i in where)))


def missing_ops() -> dict[str, str]:
    """The op types that TensorFlow has a word about in its table of gradients and that are not registered: the kind."""
    importlib.import_module("graphgrad.ops")
    registry = importlib.import_module("graphgrad.ir.opdef").registry
    rows = [line.split("\t") for line in _GRADIENTS.read_text().splitlines()[1:]]
    return {op: kind for op, kind in rows if op not in registry}


@functools.cache
def missing_raw_ops() -> tuple[str, ...]:
    """The names of TensorFlow's `tf.raw_ops` that are not here, sorted."""
    raw_ops = importlib.import_module("graphgrad.compat.raw_ops")
    recorded = json.loads(gzip.decompress(_RAW_OPS.read_bytes()))
    return tuple(sorted(set(recorded) - set(dir(raw_ops))))


def tables() -> dict[str, list[tuple[list[str], str]]]:
    """The page's tables by the title of their section: for each row what stands in backticks, and the other cell.

    A heading within a section, with the paragraph beneath it, counts as a row.
    """
    found: dict[str, list[tuple[list[str], str]]] = {}
    title = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            title = line[3:]
        elif line.startswith("### "):
            found.setdefault(title, []).append(([], line[4:]))
        elif line.startswith("`") and found.get(title):
            found[title][-1][0].extend(re.findall("`([^`]+)`", line))
        elif line.startswith("|") and not line.startswith("|---") and "`" in line:
            cells = [c.strip() for c in line.strip("|").split("|")]
            listed, other = (cells[1], cells[0]) if title.startswith(("Not yet", "Not here")) else (cells[0], cells[1])
            prefix = other.strip("`") + "." if title == "Not yet: names" and other.startswith("`") else ""
            found.setdefault(title, []).append(([prefix + n for n in re.findall("`([^`]+)`", listed)], other))
    return found


def covers(pattern: str, name: str) -> bool:
    """Whether an entry of the page stands for a name: itself, what is beneath it, or what its wildcards match."""
    return fnmatch.fnmatchcase(name, pattern) or name.startswith(pattern + ".")


def without_meaning(what: str) -> list[str]:
    """All patterns of the table of `what`, "names" or "op types", that has no meaning here."""
    return [p for patterns, _ in tables()[f"No meaning on this system: {what}"] for p in patterns]


def _not_yet() -> tuple[list[str], list[str]]:
    """The rows of the two tables of what is not here yet."""
    patterns = without_meaning("names")
    left = [n for n in missing_names() if not any(covers(p, n) for p in patterns)]
    absent = set(left)
    by_module = collections.defaultdict(list)
    for name in left:
        owner, _, own = name.rpartition(".")
        if owner not in absent:  # a class that is absent stands for its methods
            by_module[owner].append(own)
    names = [_row(f"`{m}`" if m else "-", own) for m, own in sorted(by_module.items())]
    patterns = without_meaning("op types")
    ops = collections.defaultdict(list)
    for op, kind in missing_ops().items():
        if not any(covers(p, op) for p in patterns):
            ops[kind].append(op)
    return names, [_row(kind, sorted(own)) for kind, own in sorted(ops.items())]


def _raw_rows() -> list[str]:
    """The raw ops that are not here: for each group a heading and a paragraph, a line of the page each."""
    groups: dict[str, list[str]] = {title: [] for title in (*_RAW_GROUPS, "other")}
    for name in missing_raw_ops():
        fits = (t for t, patterns in _RAW_GROUPS.items() if any(fnmatch.fnmatchcase(name, p) for p in patterns.split()))
        groups[next(fits, "other")].append(name)
    found = []
    for title, names in groups.items():
        if names:
            words = textwrap.wrap(", ".join(f"`{n}`" for n in names), 118, break_on_hyphens=False)
            found += [f"### {title[0].upper()}{title[1:]} ({len(names)})", "", *words, ""]
    return found[:-1]


def _row(first: str, names: list[str]) -> str:
    return f"| {first} | {', '.join(f'`{n}`' for n in names)} |"


def main() -> None:
    """Writes the page."""
    text = PAGE.read_text()
    titles = ("Not yet: names", "Not yet: op types", "Not here: raw ops")
    for title, rows in zip(titles, (*_not_yet(), _raw_rows()), strict=True):
        head, rest = text.split(f"## {title}\n", 1)
        section, more, after = rest.partition("\n## ")
        before, mark, _ = section.partition("|---|---|\n")
        before, mark = (before, mark) if mark else (section.partition("### ")[0], "")
        tail = more + after
        text = f"{head}## {title}\n{before}{mark}" + "".join(f"{r}\n" for r in rows) + tail
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
