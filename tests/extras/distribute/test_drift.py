"""Workers whose copies of a shared variable differ: all of them are told, by an error that names the variable."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from graphgrad.training.sessions import drift
from tests.support.effort import long

from .clustered import Tasks

_TRAINING = """
server, setter, me, n = task()

class Own(tf.train.GradientDescentOptimizer):
    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        return tf.group(*[v.assign(v - 0.01 * g) for g, v in grads_and_vars], tf.assign_add(global_step, 1))

with tf.device(setter):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=np.full((3, 1), 0.5))
    rate = tf.get_variable("rate", initializer=0.01, trainable=False)
    table = tf.get_variable("table", initializer=np.ones((9, 2), np.float32), trainable=False)
    loss = tf.reduce_mean(tf.square(tf.matmul(np.ones((2, 3)) * (me + 1), w) - 1.0))
    optimizer = (Own if FLAGS.kind == "optimizer" else tf.train.GradientDescentOptimizer)(0.01)
    train = optimizer.minimize(loss, step)
    change = {"same": rate.assign(rate * 0.9), "assign": rate.assign(rate * 0.9), "optimizer": tf.no_op(),
              "rows": tf.scatter_update(table, [me], [[7.0, 7.0]])}[FLAGS.kind]
with tf.train.MonitoredTrainingSession(server.target, me == 0, save_checkpoint_secs=None) as session:
    for i in range(FLAGS.steps):
        session.run(train)
        if i == 2 and (me == 0 or FLAGS.kind != "assign"):
            session.run(change)
    print("RESULT", json.dumps(session._tf_sess().run([step, w, rate])[1].tolist()), flush=True)
"""


@pytest.mark.parametrize(("kind", "name"), [
    ("assign", "rate"), ("same", ""), pytest.param("optimizer", "w", marks=long("an assign is the same")),
    pytest.param("rows", "table", marks=long("an assign is the same"))])
def test_drift(tmp_path: pathlib.Path, kind: str, name: str) -> None:
    """What one worker alone changes, or each differently, is an error in all of them; equal changes are none."""
    tasks = Tasks(tmp_path, _TRAINING, workers=2, kind=kind, steps=45)
    tasks.wait()
    for i in range(2):
        said = "\n".join(tasks.lines["worker", i])
        if not name:
            assert tasks.processes["worker", i].returncode == 0 and "different values" not in said, said
            continue
        assert tasks.processes["worker", i].returncode not in (0, None)
        assert "FailedPreconditionError: " in said and "Fix:" in said, said
        assert f"variable {name!r} has different values in worker 0 and in worker 1, seen at their sum" in said, said


def test_drift_after_the_last_comparison(tmp_path: pathlib.Path) -> None:
    """The worker that ends last says so in a warning; both may, if they end together."""
    tasks = Tasks(tmp_path, _TRAINING, workers=2, kind="assign", steps=8)
    tasks.wait()
    assert [tasks.processes["worker", i].returncode for i in range(2)] == [0, 0], tasks.said()
    said = tasks.said()
    warned = said.count("variable 'rate' has different values in")
    assert warned == said.count("seen after their last run") and warned in (1, 2), said


def _numbers(value: Any) -> Any:
    return np.array(drift.projections(np.asarray(value)))


def test_projections() -> None:
    """They differ by little where values were rounded differently, and by much where some of the values are others."""
    chance = np.random.default_rng(0)
    for shape in ((3,), (5000, 20), (1,)):
        values = chance.normal(size=shape).astype(np.float32)
        rounded = values * (1 + chance.uniform(-1e-6, 1e-6, shape)).astype(np.float32)
        norm, before, after = _numbers(values)[0], _numbers(values), _numbers(rounded)
        assert norm == pytest.approx(np.linalg.norm(values), rel=1e-6)
        assert np.abs(before - after).max() < 1e-5 * norm
        changed = values * np.float32(1.01)
        assert np.abs(before - _numbers(changed))[1:].max() > drift._TOLERANCE * norm
    assert _numbers([1, 2])[1] != _numbers([2, 1])[1] and _numbers([1, 2])[0] == 0.0
    assert _numbers(np.array([1j, 2.0]))[0] == pytest.approx(5**0.5)
    assert list(_numbers([np.nan, 1.0, np.inf])[:2]) == [0.0, 2.0]
    assert not np.any(_numbers(np.zeros((0, 3), np.float32)))


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """How often variables are compared is a number of exchanges."""
    for text, wanted in (("0", 0), ("7", 7)):
        monkeypatch.setenv(drift.EVERY, text)
        assert drift.every() == wanted
    monkeypatch.setenv(drift.EVERY, "often")
    with pytest.raises(ValueError, match=r"(?s)'often' is no number of exchanges.*Fix:"):
        drift.every()
