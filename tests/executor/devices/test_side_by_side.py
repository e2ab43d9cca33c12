"""Devices that work at the same time: which stages may, that they do, and what happens when one fails."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.plan.stages import DeviceLanes
from graphgrad.executor.runtime import side_by_side

_TOWERS = 3


def _towers() -> tuple[Any, Any, Any]:
    """Towers that share variables, each with a part of the batch, and a step with their mean gradient."""
    x = tf.placeholder(tf.float32, [6, 4], name="x")
    with tf.device("/cpu:0"):
        w = tf.get_variable("w", initializer=np.linspace(-1.0, 1.0, 16).reshape(4, 4).astype(np.float32))
    losses, gradients = [], []
    for i, part in enumerate(tf.split(x, _TOWERS)):
        with tf.device(f"/cpu:{i}"), tf.name_scope(f"tower{i}"):
            losses.append(tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(part, w)), w))))
            gradients.append(tf.gradients(losses[-1], w, colocate_gradients_with_ops=True)[0])
    with tf.device("/cpu:0"):
        mean = tf.add_n(gradients) / _TOWERS
        step = tf.train.GradientDescentOptimizer(0.5).apply_gradients([(mean, w)])
        return x, tf.add_n(losses) / _TOWERS, step


def _names(stage: Any) -> set[str]:
    return {i.op.name for c in getattr(stage, "clusters", ()) for i in c.program}


@pytest.mark.usefixtures("first_in_xla")
def test_towers() -> None:
    """Towers compute what one device does, and no tower waits for another."""
    found = []
    for count in (_TOWERS, 1):
        with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": count})) as sess:
            x, loss, step = _towers()
            sess.run(tf.global_variables_initializer())
            feed = {x: np.linspace(0.0, 1.0, 24).reshape(6, 4)}
            found.append([sess.run([loss, step], feed)[0] for _ in range(4)])
            plan = list(sess._entries.values())[-1].executable.plan
            if count == 1:
                assert plan.lanes is None
                continue
            of_tower = [next(n for n, stage in enumerate(plan.stages) if f"tower{i}/MatMul" in _names(stage))
                        for i in range(_TOWERS)]
            assert len({plan.lanes.devices[n] for n in of_tower}) == _TOWERS
            for n in of_tower:
                assert not _needs(plan.lanes, n) & set(of_tower)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def _needs(made: DeviceLanes, number: int) -> set[int]:
    """All stages that one depends on."""
    found = set(made.after[number])
    for n in made.after[number]:
        found |= _needs(made, n)
    return found


def _stages(devices: list[str | None], after: list[list[int]]) -> tuple[list[Any], DeviceLanes]:
    return list(range(len(devices))), DeviceLanes(devices, after, frozenset())


def test_stages_meet() -> None:
    """Stages of two lanes run at the same time, and a stage that has the run for itself waits for both."""
    meeting, seen = threading.Barrier(2, timeout=60), []

    def call(number: Any) -> None:
        if number in (1, 2):
            meeting.wait()
        seen.append(number)

    stages, made = _stages(["a", "a", "b", "a", None, "b"], [[], [0], [0], [1, 2], [], [2]])
    side_by_side.run(stages, made, call)
    assert seen[0] == 0 and set(seen[1:3]) == {1, 2} and seen[3:] == [3, 4, 5]


def test_a_stage_that_fails() -> None:
    """Its error is raised once the others have ended; what depends on it does not run."""
    seen: list[Any] = []
    ended = threading.Event()

    def call(number: Any) -> None:
        if number == 0:
            raise ZeroDivisionError("here")
        if number == 1:
            ended.set()
        seen.append(number)

    stages, made = _stages(["a", "b", "a", "b"], [[], [], [0], [1, 2]])
    with pytest.raises(ZeroDivisionError, match="here"):
        side_by_side.run(stages, made, call)
    assert ended.is_set() and seen == [1]


@pytest.mark.usefixtures("first_in_xla")
def test_an_error_on_a_second_device() -> None:
    """An error names the operation, wherever it ran; variables stay as they were."""
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        indices = tf.placeholder(tf.int32, [2])
        v = tf.get_variable("v", initializer=np.ones((2, 2), np.float32))
        with tf.device("/cpu:1"):
            other = tf.matmul(tf.gather(tf.ones([3, 2]), indices, name="picked"), tf.ones([2, 2]))
        step = v.assign_add(tf.matmul(v, v) + other)
        sess.run(v.initializer)
        assert sess.run(step, {indices: [0, 2]}).tolist() == [[5.0, 5.0], [5.0, 5.0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="picked"):
            sess.run(step, {indices: [0, 3]})
        assert sess.run(v).tolist() == [[5.0, 5.0], [5.0, 5.0]]
