"""TF-Agents 0.19.0: a deep Q network, trained on given transitions."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libraries import into, keras_seeds

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow's `tf.keras` is tf_keras then
CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
prepare = keras_seeds


@_case
def dqn(tf: Any) -> Any:
    """Four steps with a target network: losses, actions and weights."""
    from tf_agents.agents.dqn import dqn_agent
    from tf_agents.networks import sequential
    from tf_agents.specs import tensor_spec
    from tf_agents.trajectories import time_step, trajectory
    from tf_agents.utils import common

    layers, rng, rows = tf.keras.layers, np.random.RandomState(0), 6
    net = sequential.Sequential([layers.Dense(8, activation="tanh"), layers.Dense(2)])
    agent = dqn_agent.DqnAgent(
        time_step.time_step_spec(tensor_spec.TensorSpec([4], tf.float32)),
        tensor_spec.BoundedTensorSpec([], tf.int32, 0, 1), q_network=net, gamma=0.9, target_update_period=2,
        optimizer=tf.keras.optimizers.legacy.Adam(0.01), td_errors_loss_fn=common.element_wise_squared_loss)
    agent.initialize()
    for i, v in enumerate(net.variables):
        v.assign(np.sin(np.arange(int(np.prod(v.shape))) + i).reshape(v.shape) * 0.3)
    for v, w in zip(agent._target_q_network.variables, net.variables, strict=True):
        v.assign(w)

    def drawn(*shape: int) -> Any:
        return tf.constant(rng.rand(*shape).astype("float32"))

    train, losses = common.function(agent.train), []
    for _ in range(4):
        ones = tf.ones([rows, 2], tf.int32)
        experience = trajectory.Trajectory(
            step_type=ones, observation=drawn(rows, 2, 4), action=tf.constant(rng.randint(0, 2, (rows, 2)), tf.int32),
            policy_info=(), next_step_type=ones, reward=drawn(rows, 2), discount=tf.ones([rows, 2]))
        losses.append(train(experience).loss)
    first = time_step.restart(drawn(3, 4), batch_size=3)
    return [*losses, agent.policy.action(first).action, *net.variables]
