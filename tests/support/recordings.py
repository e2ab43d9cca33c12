"""What TensorFlow computed: one file a family, `tests/recorded/<family>.npz`.

A file holds a JSON index and one flat array a dtype, so that thousands of small results
stay small on disk.
"""

from __future__ import annotations

import functools
import json
import pathlib
from typing import Any

import numpy as np

FOLDER = pathlib.Path(__file__).parents[1] / "recorded"


class Recorded:
    """The recordings of a family: for each key of a case its outputs and gradients.

    An entry is a dict with "inputs" (the checksum of the inputs), "outputs" (arrays) and
    "gradients" (for each differentiated input an array or None; None alone when TensorFlow
    has no gradient); or with "inputs" and "refused", the message of TensorFlow's error.
    `inferred` holds, by the same keys, the shapes that TensorFlow infers for each of
    `table.declarations`, as one text.
    """

    def __init__(self, family: str):
        self.path = FOLDER / f"{family}.npz"
        self.entries: dict[str, dict[str, Any]] = {}
        self.inferred: dict[str, str] = {}
        if self.path.exists():
            with np.load(self.path) as stored:
                index = json.loads(stored["index"].tobytes())
                if "inferred" in stored.files:
                    self.inferred = json.loads(stored["inferred"].tobytes())
                pools = {k: stored[k] for k in stored.files if k not in ("index", "inferred")}
            for key, entry in index.items():
                if "refused" in entry:
                    self.entries[key] = entry
                    continue
                outputs = [_take(pools, ref) for ref in entry["outputs"]]
                grads = entry["gradients"]
                grads = None if grads is None else [_take(pools, ref) for ref in grads]
                self.entries[key] = {"inputs": entry["inputs"], "outputs": outputs, "gradients": grads}

    @staticmethod
    @functools.cache
    def of(family: str) -> Recorded:
        """The recordings of a family, read once."""
        return Recorded(family)

    def entry(self, key: str) -> dict[str, Any] | None:
        """The recording of a case, or None."""
        return self.entries.get(key)

    def save(self) -> None:
        """Writes the file."""
        pools: dict[str, list[np.ndarray]] = {}
        sizes: dict[str, int] = {}
        index = {}
        for key, entry in sorted(self.entries.items()):
            if "refused" in entry:
                index[key] = entry
                continue
            grads = entry["gradients"]
            index[key] = {
                "inputs": entry["inputs"],
                "outputs": [_put(pools, sizes, a) for a in entry["outputs"]],
                "gradients": None if grads is None else [_put(pools, sizes, g) for g in grads],
            }
        FOLDER.mkdir(exist_ok=True)
        texts = {"index": _text(index), "inferred": _text(dict(sorted(self.inferred.items())))}
        np.savez_compressed(self.path, **texts, **{k: np.concatenate(v) for k, v in sorted(pools.items())})


def _text(value: Any) -> np.ndarray:
    return np.frombuffer(json.dumps(value, separators=(",", ":")).encode(), np.uint8)


def shapes_to_text(shapes: list[Any]) -> str:
    """Shapes of a graph's tensors as text: "2,?;*" for (2, None) and an unknown rank."""
    return ";".join("*" if s is None else ",".join("?" if d is None else str(d) for d in s) for s in shapes)


def shapes_from_text(text: str) -> list[Any]:
    """The inverse of `shapes_to_text`."""

    def shape(t: str) -> Any:
        return None if t == "*" else tuple(None if d == "?" else int(d) for d in t.split(",") if d)

    return [shape(t) for t in text.split(";")]


def _take(pools: dict[str, np.ndarray], ref: Any) -> Any:
    if ref is None:
        return None
    name, shape, start = ref
    if name == "bytes":
        return np.array([s.encode("latin-1") for s in start] + [None], object)[:-1].reshape(shape)
    size = int(np.prod(shape))
    return pools[name][start : start + size].reshape(shape)


def _put(pools: dict[str, list[np.ndarray]], sizes: dict[str, int], array: Any) -> Any:
    if array is None:
        return None
    array = np.asarray(array)
    if array.dtype.kind == "S":  # a scalar
        array = array.astype(object)
    if array.dtype == object:
        return ["bytes", list(array.shape), [s.decode("latin-1") for s in array.ravel()]]
    if array.dtype.kind not in "biufc":  # bfloat16 and the like
        array = array.astype(np.float32)
    name = array.dtype.name
    start = sizes.get(name, 0)
    pools.setdefault(name, []).append(array.ravel())
    sizes[name] = start + array.size
    return [name, list(array.shape), start]
