"""Checkpoints of variables that are split over a mesh: slices of one bundle, restored on other numbers of devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.plan import placement
from graphgrad.ir import context
from graphgrad.ir.values.split_value import SplitValue
from graphgrad.training.checkpoints import bundle_messages
from graphgrad.training.checkpoints.bundle import BundleReader

_RNG = np.random.RandomState(0)
_W, _V, _X = _RNG.randn(16, 32).astype("f"), _RNG.randn(32, 4).astype("f"), _RNG.randn(8, 16).astype("f")


def _build(sizes: dict[str, int], spec: Any) -> tuple[Any, ...]:
    x = tf.placeholder(tf.float32, [8, 16])
    w, v = tf.get_variable("w", initializer=_W), tf.get_variable("v", initializer=_V)
    if spec is not None:
        tf.shard(w, spec, mesh=tf.mesh(**sizes))
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(x, w)), v)))
    return x, loss, tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss), w


def _session(count: int) -> Any:
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": count}))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: Any) -> tuple[str, list[Any]]:
    """A checkpoint of four devices, and what training on them gives after it."""
    with tf.Graph().as_default():
        x, loss, step, w = _build({"data": 2, "model": 2}, ["data", "model"])
        with _session(4) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(step, {x: _X})
            path = tf.train.Saver().save(session, str(tmp_path_factory.mktemp("four") / "m"))
            return path, [session.run(w), *[session.run([loss, step], {x: _X})[0] for _ in range(3)]]


def test_the_bundle_has_slices(saved: Any) -> None:
    reader = BundleReader(saved[0])
    assert reader.is_sliced("w") and reader.is_sliced("w/Momentum") and not reader.is_sliced("v")
    np.testing.assert_array_equal(reader.read("w"), saved[1][0])
    np.testing.assert_array_equal(reader.read("w", ((16, 32), (5, 3), (7, 20))), saved[1][0][5:12, 3:23])


@pytest.mark.parametrize(("sizes", "spec", "count"), [({"a": 8}, ["a"], 8), ({"a": 2}, [None, "a"], 2), ({}, None, 1)])
def test_restored_on_another_number(saved: Any, sizes: Any, spec: Any, count: int) -> None:
    with tf.Graph().as_default():
        x, loss, step, w = _build(sizes, spec)
        with _session(count) as session:
            tf.train.Saver().restore(session, saved[0])
            assert isinstance(session._cells["w"].held, SplitValue) is (spec is not None)
            found = [session.run(w), *[session.run([loss, step], {x: _X})[0] for _ in range(3)]]
    np.testing.assert_array_equal(found[0], saved[1][0])
    np.testing.assert_allclose(found[1:], saved[1][1:], rtol=1e-5)


def test_only_what_a_piece_needs_is_read(saved: Any, monkeypatch: Any) -> None:
    read: list[Any] = []
    original = BundleReader._slice

    def spy(self: Any, name: str, part: Any) -> Any:
        read.append(part)
        return original(self, name, part)

    monkeypatch.setattr(BundleReader, "_slice", spy)
    BundleReader(saved[0]).read("w", ((16, 32), (0, 0), (4, 16)))
    assert read == [((16, 32), (0, 0), (8, 16))]


def test_objects_are_saved_alike(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(placement.default_placement, "cpus", 4)
    with context.use(context.EAGER):
        made = tf2.shard(tf2.Variable(_W), ["a"], mesh=tf2.mesh(a=4))
        tf2.function(lambda: made.assign_add(tf2.ones_like(made)))()
        path = tf2.train.Checkpoint(v=made).write(str(tmp_path / "c"))
        (name,) = [n for n in BundleReader(path).names() if "VARIABLE_VALUE" in n]
        assert BundleReader(path).is_sliced(name)
        for spec in (None, [None, "a"]):
            again = tf2.Variable(np.zeros_like(_W))
            if spec is not None:
                tf2.shard(again, spec, mesh=tf2.mesh(a=2))
            tf2.train.Checkpoint(v=again).read(path).assert_consumed()
            np.testing.assert_array_equal(again.numpy(), _W + 1)
            np.testing.assert_array_equal(tf2.function(lambda v=again: v * 2.0)(), 2 * (_W + 1))


def test_a_damaged_slice_is_data_loss(saved: Any, tmp_path: Path) -> None:
    for end in (".index", ".data-00000-of-00001"):
        (tmp_path / f"m{end}").write_bytes(Path(saved[0] + end).read_bytes())
    data = bytearray((tmp_path / "m.data-00000-of-00001").read_bytes())
    part = (16, 32), (8, 0), (8, 16)
    entry = bundle_messages.BundleEntry.FromString(BundleReader(saved[0])._raw[bundle_messages.slice_key("w", part)])
    data[entry.offset + 9] ^= 1
    (tmp_path / "m.data-00000-of-00001").write_bytes(data)
    with tf.Graph().as_default():
        _build({"a": 2}, ["a"])
        with _session(2) as session, pytest.raises(tf.errors.DataLossError):
            tf.train.Saver().restore(session, str(tmp_path / "m"))
