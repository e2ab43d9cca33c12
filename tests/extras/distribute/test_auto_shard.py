"""Data sets shared among workers by files; what each worker gets was recorded from TensorFlow 2.21."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest

import graphgrad as tf
from graphgrad.extras.distribute import auto_shard
from graphgrad.ir import context

Policy = tf.data.experimental.AutoShardPolicy


@pytest.fixture
def files(tmp_path: pathlib.Path) -> list[str]:
    """Four files of three lines: 00, 01, 02; 10, 11, 12; ..."""
    paths = [tmp_path / f"f{i}.txt" for i in range(4)]
    for i, path in enumerate(paths):
        path.write_text("".join(f"{i}{j}\n" for j in range(3)))
    return list(map(str, paths))


_CASES: dict[str, tuple[Callable[[list[str]], Any], list[Any]]] = {
    "lines": (lambda f: tf.data.TextLineDataset(f).map(lambda x: x).batch(3).prefetch(1),
              [[["00", "01", "02"], ["20", "21", "22"]], [["10", "11", "12"], ["30", "31", "32"]]]),
    "listed": (lambda f: tf.data.Dataset.list_files(f[0].replace("f0", "f*"), shuffle=False).flat_map(
        tf.data.TextLineDataset).batch(2), [[["00", "01"], ["02", "20"], ["21", "22"]],
                                            [["10", "11"], ["12", "30"], ["31", "32"]]]),
}


@pytest.mark.parametrize("case", _CASES)
def test_files(files: list[str], case: str) -> None:
    """Each worker reads its own files, wherever in the pipeline they are opened; without workers, all are read."""
    make, wanted = _CASES[case]
    with context.use(context.EAGER):
        data = make(files)
        assert auto_shard.reads_files(data)
        for _ in range(2):
            for i in range(2):
                got = [[line.decode() for line in e.numpy()] for e in auto_shard.shard_files(data, 2, i)]
                assert got == wanted[i]
            everything = [line.decode() for e in data for line in e.numpy()]
            assert everything == [f"{i}{j}" for i in range(4) for j in range(3)]


def test_interleaved_files(files: list[str]) -> None:
    """Names that an interleave opens are shared; together the workers read everything once."""
    with context.use(context.EAGER):
        data = tf.data.Dataset.from_tensor_slices(files).interleave(tf.data.TextLineDataset, cycle_length=2)
        got = [[e.numpy().decode() for e in auto_shard.shard_files(data, 2, i)] for i in range(2)]
    assert got == [["00", "20", "01", "21", "02", "22"], ["10", "30", "11", "31", "12", "32"]]


def test_what_cannot_be_shared_by_files(files: list[str]) -> None:
    """No files, and fewer than workers, are refused as in TensorFlow."""
    with context.use(context.EAGER):
        plain = tf.data.Dataset.range(4)
        assert not auto_shard.reads_files(plain)
        with pytest.raises(tf.errors.NotFoundError, match=r"(?s)Found an unshardable source dataset.*Fix:"):
            auto_shard.shard_files(plain, 2, 0)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)only has 1 file\(s\).*required 2.*Fix:"):
            list(auto_shard.shard_files(tf.data.TextLineDataset(files[:1]), 2, 0))


def test_policies() -> None:
    """Options say how; the parts of batches follow each other."""
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = Policy.OFF
    with context.use(context.EAGER):
        data = tf.data.Dataset.range(10).batch(4)
        assert auto_shard.policy_of(data) is Policy.AUTO
        assert auto_shard.policy_of(data.with_options(options).map(lambda x: x)) is Policy.OFF
        assert [e.numpy().tolist() for e in auto_shard.in_parts(data, 2)] == [[0, 1], [2, 3], [4, 5], [6, 7], [8], [9]]
        pairs = tf.data.Dataset.from_tensor_slices(([1, 2, 3], [4, 5, 6])).batch(3)
        found = [[v.numpy().tolist() for v in e] for e in auto_shard.in_parts(pairs, 2)]
        assert found == [[[1, 2], [4, 5]], [[3], [6]]]
