"""`tf.train.Checkpoint`: files go both ways with TensorFlow 2.21."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf1
import graphgrad.compat.v2 as tf
from graphgrad.frontend.variables import variable_scope
from graphgrad.ir import context
from graphgrad.training.checkpoints.object_graph import KEY, TrackableObjectGraph

from .object_checkpoint_cases import FOLDER, digest, objects, restored

RECORDED: dict[str, Any] = json.loads((FOLDER / "objects.json").read_text())


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Eager mode, as TensorFlow 2 starts in it, where names of slots are counted from the beginning."""
    monkeypatch.setattr(variable_scope, "_eager_scopes", None)
    with context.use(context.EAGER):
        yield


def test_from_tensorflow(eager: None) -> None:
    """What TensorFlow wrote is restored, slots that are made later too."""
    assert restored(tf, tf1, str(FOLDER / "objects-1")) == RECORDED["values"]


def test_to_tensorflow(eager: None, tmp_path: Any) -> None:
    """The files are those that TensorFlow restored when they were recorded; names, shapes and the graph are its own."""
    made = objects(tf, tf1, True)
    path = tf.train.Checkpoint(**made).save(str(tmp_path / "ours"))
    assert pathlib.Path(path).name == "ours-1" and tf.train.latest_checkpoint(str(tmp_path)) == path
    reader = tf.train.load_checkpoint(path)
    assert reader.get_variable_to_shape_map() == RECORDED["shapes"]
    theirs = TrackableObjectGraph.FromString(bytes.fromhex(RECORDED["graph"]))
    assert TrackableObjectGraph.FromString(reader.get_tensor(KEY)) == theirs
    assert digest(path) == RECORDED["digest"]
    assert restored(tf, tf1, path) == RECORDED["values"]


def test_partial_and_later(eager: None, tmp_path: Any) -> None:
    """What is left out, what is too much, what comes later; other shapes; no checkpoint."""
    path = tf.train.Checkpoint(a=tf.Variable([1.0, 2.0]), b=tf.Variable(3)).write(str(tmp_path / "x"))
    other = tf.train.Checkpoint(a=tf.Variable([0.0, 0.0]), c=tf.Variable(1.0))
    status = other.restore(path)
    assert other.a.numpy().tolist() == [1.0, 2.0] and status.expect_partial() is status
    with pytest.raises(AssertionError, match="(?s)Unresolved object in checkpoint.*b/.ATTRIBUTES.*Fix:"):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="(?s)not bound to checkpointed values.*Fix:"):
        status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="Nothing except the root"):
        tf.train.Checkpoint(d=tf.Variable(1)).restore(path).assert_nontrivial_match()
    late = tf.train.Checkpoint(m=tf.Module())
    tf.train.Checkpoint(m=other).write(str(tmp_path / "y"))
    late.restore(str(tmp_path / "y"))
    late.m.a = tf.Variable([9.0, 9.0])
    assert late.m.a.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"(?s)incompatible tensor with shape \(2,\).*shape \(3,\).*Fix:"):
        tf.train.Checkpoint(a=tf.Variable([0.0] * 3)).restore(path)
    with pytest.raises(ValueError, match="(?s)dtype float32.*dtype int32.*Fix:"):
        tf.train.Checkpoint(a=tf.Variable([0, 0])).restore(path)
    with pytest.raises(tf.errors.NotFoundError, match="(?s)Error when restoring.*Fix:"):
        other.restore(str(tmp_path / "z"))
    with pytest.raises(AssertionError, match="(?s)No checkpoint specified.*Fix:"):
        other.restore(None).assert_consumed()
    with pytest.raises(ValueError, match="(?s)trackable object.*Fix:"):
        tf.train.Checkpoint(a=3)
    module = tf.Module()
    module.a = tf.Variable([0.0, 0.0])
    tf.train.Checkpoint(module).restore(path)
    assert module.a.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="(?s)already exists.*Fix:"):
        tf.train.Checkpoint(module, a=tf.Variable(1))
    view = tf.train.CheckpointView(path)
    assert view.children(0) == {"a": 1, "b": 2} and view.descendants() == [0, 1, 2]
    assert view.match(other)[1] is other.a and view.diff(other)[2] == [2]
    assert list(tf.train.TrackableView.children(other)) == ["a", "c", "save_counter"]


def test_by_names(eager: None, tmp_path: Any) -> None:
    """Checkpoints of a `Saver` are restored by the names of variables."""
    v = tf1.Variable([1.0, 2.0], name="v")
    path = tf1.train.Saver([v]).save(None, str(tmp_path / "saver"))
    again = tf.train.Checkpoint(any=tf.Variable([0.0, 0.0], name="v"))
    again.restore(path)
    assert again.any.numpy().tolist() == [1.0, 2.0]


def test_iterators(eager: None, tmp_path: Any) -> None:
    """Where an iterator over a data set stands."""
    iterator = iter(tf.data.Dataset.range(9))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    next(iterator)
    path = checkpoint.save(str(tmp_path / "i"))
    assert [int(next(iterator)) for _ in range(2)] == [1, 2]
    checkpoint.restore(path)
    assert int(next(iterator)) == 1


def test_in_sessions(tmp_path: Any) -> None:
    """In graphs values are a session's, and restoring is a step of its own."""
    with tf1.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("v", initializer=3.0)
        w = tf1.get_variable("w", initializer=4.0)
        checkpoint = tf1.train.Checkpoint(v=v)
        with pytest.raises(tf1.errors.FailedPreconditionError, match="(?s)not initialized.*Fix:"):
            checkpoint.save(str(tmp_path / "c"), session)
        session.run(tf1.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "c"), session=session)
        session.run(v.assign(0.0))
        status = checkpoint.restore(path).assert_consumed()
        assert session.run(v) == 0
        status.run_restore_ops(session)
        assert session.run(v) == 3
        session.run(w.assign(0.0))
        tf1.train.Checkpoint(v=v, w=w).restore(path).initialize_or_restore(session)
        assert session.run([v, w]) == [3, 4]


def test_manager(eager: None, tmp_path: Any) -> None:
    """Old checkpoints go; a later process goes on; intervals."""
    step = tf.Variable(0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), str(tmp_path), 2, checkpoint_name="c",
                                         step_counter=step, checkpoint_interval=2, init_fn=lambda: step.assign(10))
    assert manager.restore_or_initialize() is None and int(step.numpy()) == 10
    for _ in range(5):
        manager.save()
        step.assign_add(1)
    names = [pathlib.Path(p).name for p in manager.checkpoints]
    assert names == ["c-2", "c-3"] and manager.latest_checkpoint == str(tmp_path / "c-3")
    assert sorted(p.name for p in tmp_path.glob("*.index")) == ["c-2.index", "c-3.index"]
    again = tf.Variable(0)
    other = tf.train.CheckpointManager(tf.train.Checkpoint(step=again), str(tmp_path), 2, checkpoint_name="c")
    assert other.restore_or_initialize() == str(tmp_path / "c-3") and int(again.numpy()) == 14
    assert pathlib.Path(other.save()).name == "c-4" and pathlib.Path(other.save(77)).name == "c-77"
    assert [pathlib.Path(p).name for p in other.checkpoints] == ["c-4", "c-77"]
    assert list(tf.train.checkpoints_iterator(str(tmp_path), timeout=0)) == [str(tmp_path / "c-77")]
    with pytest.raises(ValueError, match="positive integer"):
        tf.train.CheckpointManager(tf.train.Checkpoint(), str(tmp_path), 0)
    with pytest.raises(ValueError, match="step_counter"):
        tf.train.CheckpointManager(tf.train.Checkpoint(), str(tmp_path), 1, checkpoint_interval=1)
    assert np.isclose(other._kept[str(tmp_path / "c-77")], (tmp_path / "c-77.index").stat().st_mtime, atol=30)


def test_objects_that_serialize_themselves(eager: None, tmp_path: Any) -> None:
    """A class of a library says which tensors are saved, and takes them back."""
    class Weight(tf.__internal__.tracking.Trackable):  # type: ignore[misc]  # a class of the face
        def __init__(self, value: Any):
            self.value = tf.constant(value)

        def _serialize_to_tensors(self) -> dict[str, Any]:
            return {"VARIABLE_VALUE": self.value}

        def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
            self.value = restored_tensors["VARIABLE_VALUE"]

    weight = Weight([1.0, 2.0])
    path = tf.train.Checkpoint(w=weight).save(str(tmp_path / "c"))
    assert "w/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
    other = Weight([0.0, 0.0])
    tf.train.Checkpoint(w=other).restore(path).assert_consumed()
    assert other.value.numpy().tolist() == [1.0, 2.0]
