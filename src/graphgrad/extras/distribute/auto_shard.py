"""Sharing a data set's elements among workers: by files, where it reads files, or else by elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphgrad.errors import NotFoundError
from graphgrad.extras.data.dataset_options import AutoShardPolicy
from graphgrad.extras.data.passes import Values
from graphgrad.extras.data.record_datasets import _OfFiles
from graphgrad.frontend.structure import nest
from graphgrad.ir.dtypes import int64
from graphgrad.ir.opdef import raw


def policy_of(dataset: Any) -> AutoShardPolicy:
    """Returns how a data set is to be shared; AUTO, if its options do not say."""
    found = dataset.options().experimental_distribute.auto_shard_policy
    return AutoShardPolicy.AUTO if found is None else AutoShardPolicy(found)


def reads_files(dataset: Any) -> bool:
    """Returns whether a data set reads files, itself or in a function of it."""
    return bool(_openings(dataset))


def shard_files(dataset: Any, count: int, index: int) -> Any:
    """Makes a data set that reads every `count`-th file, from `index` on.

    Args:
      dataset: the data set.
      count: the number of workers.
      index: the number of this one.
    Raises: NotFoundError if it reads no files; where it is iterated over, InvalidArgumentError for fewer files than
      workers.
    Reference: TensorFlow 2.21, `AutoShardPolicy.FILE`.
    """
    openings = _openings(dataset)
    if not openings:
        raise NotFoundError(None, None, "Found an unshardable source dataset: no files are read. Fix: "
                            "AutoShardPolicy.DATA, which shares the elements")
    for names in openings:
        if not isinstance(names, _OfFiles):
            _every(names)

    def passes(given: Values) -> Iterator[Any]:
        given.files = count, index
        found: Iterator[Any] = dataset._passes(given)
        return found

    return dataset._then(passes)


def _every(names: Any) -> None:
    """Lets a data set of files' names give a worker's part, in passes that say so."""
    if getattr(names, "_gives_parts", False):
        return
    whole, names._gives_parts = names._passes, True

    def passes(given: Values) -> Iterator[Any]:
        if given.files is None:
            found: Iterator[Any] = whole(given)
            return found
        return given.part_of(whole(given))

    names._passes = passes


def _openings(dataset: Any) -> list[Any]:
    """Returns where files are chosen: data sets that read them, and those whose elements a function opens."""
    found, waiting = [], [dataset]
    while waiting:
        one = waiting.pop()
        called = getattr(getattr(one, "_recipe", None), "called", None)
        inner = getattr(called, "inner", None)
        if isinstance(one, _OfFiles):
            found.append(one)
        elif inner is not None and _openings(inner):
            found += one._inputs[:1]
        else:
            waiting += one._inputs
    return found


def in_parts(dataset: Any, count: int) -> Any:
    """Makes a data set of the parts of batches: `count` of each, one after the other."""
    from graphgrad.extras.data.dataset import Dataset

    def parts(*batch: Any) -> Any:
        given = batch if len(batch) > 1 else batch[0]
        size = raw.StridedSlice(raw.Shape(nest.flatten(given)[0]), [0], [1], [1], shrink_axis_mask=1)
        part = raw.FloorDiv(raw.AddV2(size, count - 1), count)
        return Dataset.from_tensor_slices(given).batch(raw.Cast(part, DstT=int64))

    return dataset.flat_map(parts)

