"""stable-baselines 2.10.2, OpenAI's agents: each learns from given steps, then in an environment.

What is drawn at random differs, so numbers are compared where steps are given. They are those of TensorFlow 1.15.5
with Python 3.7, which `python -m tests.libraries.run` cannot record. `mpi4py`, which four of the agents import, is
stood in for by one process.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
FACE = 1
RTOL = 1e-3
ATOL = 1e-5


class _OneProcess:
    """A communicator of one process."""

    rank, size = 0, 1

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 1

    def Allreduce(self, given: Any, result: Any, op: Any = None) -> None:
        result[...] = given

    def Bcast(self, values: Any, root: int = 0) -> None:
        pass

    def bcast(self, value: Any, root: int = 0) -> Any:
        return value

    def allreduce(self, value: Any, op: Any = None) -> Any:
        return value

    def allgather(self, value: Any) -> list[Any]:
        return [value]

    gather = allgather


def _array(*args: Any, copy: bool = True, **kwargs: Any) -> Any:
    return np.array(*args, copy=copy or None, **kwargs)


def prepare(tf: Any) -> None:
    """Puts one process in the place of `mpi4py`, and seeds all."""
    warnings.simplefilter("ignore")
    mpi: Any = types.ModuleType("mpi4py")
    mpi.MPI = types.SimpleNamespace(COMM_WORLD=_OneProcess(), SUM="sum", MAX="max", Comm=_OneProcess)
    sys.modules.update({"mpi4py": mpi, "mpi4py.MPI": mpi.MPI})
    from stable_baselines.common import buffers

    # For NumPy 1.x, copy=False meant what copy=None means for NumPy 2.
    if np.__version__ >= "2":
        buffers.np = types.SimpleNamespace(**{**vars(np), "array": _array})
    tf.reset_default_graph()
    tf.set_random_seed(5)
    np.random.seed(5)


def _line(continuous: bool = False, bound: int = 3) -> Any:
    """A walk on a line that begins at 0: a step to the right gains 1, one to the left loses 1; it ends after 8."""
    import gym

    class Line(gym.Env):  # type: ignore[misc]  # gym has no types
        observation_space = gym.spaces.Box(-10.0, 10.0, (bound,), np.float32)
        action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32) if continuous else gym.spaces.Discrete(2)

        def _seen(self) -> Any:
            return np.array([self.at, self.count / 8, 1.0][:bound], np.float32)

        def reset(self) -> Any:
            self.at, self.count = 0.0, 0
            return self._seen()

        def step(self, action: Any) -> Any:
            gain = float(np.ravel(action)[0]) if continuous else 2.0 * float(action) - 1.0
            self.at, self.count = self.at + gain, self.count + 1
            return self._seen(), gain, self.count == 8, {}

    return Line()


def _set(model: Any) -> Any:
    """Gives a model weights that are the same everywhere."""
    rng = np.random.RandomState(1)
    names = sorted(model.get_parameters())
    sizes = {name: model.get_parameters()[name].shape for name in names}
    model.load_parameters({name: np.float32(rng.randn(*sizes[name])) / 3 for name in names})
    return model


def _scheduled(model: Any) -> Any:
    """Gives a model the rate that it gets when it begins to learn."""
    from stable_baselines.common.schedules import Scheduler

    model.learning_rate_schedule = Scheduler(initial_value=0.01, n_values=100, schedule="constant")
    return model


def _some(model: Any, count: int = 3) -> list[Any]:
    """Some of a model's weights."""
    parameters = model.get_parameters()
    return [parameters[name].ravel()[:6] for name in sorted(parameters)[:: max(1, len(parameters) // count)]]


_STEPS = np.random.RandomState(0)
_OBS = _STEPS.randn(16, 3).astype(np.float32)
_ACTIONS = _STEPS.randint(0, 2, 16)
_MOVES = np.tanh(_STEPS.randn(16, 1)).astype(np.float32)
_RETURNS = _STEPS.randn(16).astype(np.float32)
_VALUES = (_STEPS.randn(16) / 2).astype(np.float32)
_MASKS = np.zeros(16, np.bool_)


def _walked(model: Any) -> float:
    """How far a trained model gets, from 8 to -8."""
    env = _line(continuous=hasattr(model.action_space, "low"))
    seen, done, total = env.reset(), False, 0.0
    while not done:
        seen, gain, done, _ = env.step(model.predict(seen, deterministic=True)[0])
        total += gain
    return total


@_case
def advantage_actor_critic(tf: Any) -> Any:
    from stable_baselines import A2C

    model = _scheduled(_set(A2C("MlpPolicy", _line(), n_steps=16, seed=3, n_cpu_tf_sess=1)))
    before = model.predict(_OBS[0], deterministic=True)[0], model.action_probability(_OBS)
    losses = [model._train_step(_OBS, None, _RETURNS, _MASKS, _ACTIONS, _VALUES, 0) for _ in range(3)]
    assert _walked(A2C("MlpPolicy", _line(), seed=3, learning_rate=0.01, n_cpu_tf_sess=1).learn(1200)) == 8
    return [*before, losses, *_some(model)]


@_case
def proximal_policy_optimization(tf: Any) -> Any:
    from stable_baselines import PPO2

    model = _set(PPO2("MlpPolicy", _line(), n_steps=16, nminibatches=1, seed=3, n_cpu_tf_sess=1))
    given = _OBS, _RETURNS, _MASKS, _ACTIONS, _VALUES, np.full(16, 0.7, np.float32)
    losses = [model._train_step(0.01, 0.2, *given, 0, None, cliprange_vf=0.2) for _ in range(3)]
    learnt = PPO2("MlpPolicy", _line(), n_steps=64, seed=3, learning_rate=0.003, n_cpu_tf_sess=1).learn(1500)
    assert _walked(learnt) == 8
    with tempfile.TemporaryDirectory() as folder:
        learnt.save(str(pathlib.Path(folder) / "agent"))
        loaded = PPO2.load(str(pathlib.Path(folder) / "agent"))
    np.testing.assert_allclose(loaded.action_probability(_OBS), learnt.action_probability(_OBS), rtol=1e-5)
    return [losses, *_some(model)]


@_case
def q_learning(tf: Any) -> Any:
    from stable_baselines import DQN

    model = _set(DQN("MlpPolicy", _line(), seed=3, prioritized_replay=True, n_cpu_tf_sess=1))
    errors = [model._train_step(_OBS, _ACTIONS, _RETURNS, _OBS[::-1], _OBS[::-1], np.float32(_MASKS),
                                np.ones(16, np.float32), sess=model.sess)[1] for _ in range(3)]
    learnt = DQN("MlpPolicy", _line(), seed=3, learning_rate=0.003, learning_starts=100, target_network_update_freq=100,
                 exploration_fraction=0.5, n_cpu_tf_sess=1).learn(1200)
    assert _walked(learnt) == 8
    return [*errors, *_some(model)]


@_case
def trust_regions(tf: Any) -> Any:
    """TRPO: a gradient, and a product of the Fisher matrix with a vector, which is a gradient of a gradient."""
    from stable_baselines import TRPO

    model = _set(TRPO("MlpPolicy", _line(), timesteps_per_batch=128, seed=3, n_cpu_tf_sess=1))
    model.assign_old_eq_new(sess=model.sess)
    given = _OBS, _OBS, _ACTIONS, _RETURNS
    _, gradient, *losses = model.compute_lossandgrad(*given, _VALUES, sess=model.sess)
    product = model.compute_fvp(gradient / np.linalg.norm(gradient), *given, sess=model.sess)
    assert _walked(TRPO("MlpPolicy", _line(), timesteps_per_batch=128, seed=3, n_cpu_tf_sess=1).learn(800)) == 8
    return [gradient[:40], losses, product[:40]]


@_case
def the_first_proximal_optimization(tf: Any) -> Any:
    """PPO1, with OpenAI's optimizer on `mpi4py`."""
    from stable_baselines import PPO1

    model = _set(PPO1("MlpPolicy", _line(), timesteps_per_actorbatch=64, seed=3, n_cpu_tf_sess=1))
    model.assign_old_eq_new(sess=model.sess)
    found = []
    for _ in range(2):
        _, gradient, *losses = model.lossandgrad(_OBS, _OBS, _ACTIONS, _RETURNS, _VALUES, 1.0, sess=model.sess)
        model.adam.update(gradient, 0.01)
        found += [gradient[:40], losses]
    assert _walked(PPO1("MlpPolicy", _line(), timesteps_per_actorbatch=64, seed=3, n_cpu_tf_sess=1,
                        optim_stepsize=0.01).learn(800)) == 8
    return [*found, *_some(model)]


@_case
def continuous_actions(tf: Any) -> Any:
    """DDPG, TD3 and SAC learn the walk whose steps may be of any length up to 1; their critics are compared."""
    from stable_baselines import DDPG, SAC, TD3

    td3 = _set(TD3("MlpPolicy", _line(True), seed=3, learning_starts=50, learning_rate=0.003, n_cpu_tf_sess=1))
    feeds = {td3.observations_ph: _OBS, td3.actions_ph: _MOVES}
    values = td3.sess.run([td3.policy_out, *tf.gradients(td3.policy_out, td3.observations_ph)], feeds)
    found = [*values, *td3.sess.run(tf.gradients(td3.step_ops[2], [td3.actions_ph]), feeds)]
    for kind in (TD3, SAC):
        learnt = kind("MlpPolicy", _line(True), seed=3, learning_starts=50, learning_rate=0.003, n_cpu_tf_sess=1)
        assert _walked(learnt.learn(300)) > 3, kind
    ddpg = DDPG("MlpPolicy", _line(True), seed=3, nb_rollout_steps=50, nb_train_steps=50, n_cpu_tf_sess=1,
                actor_lr=0.003, critic_lr=0.003)
    assert _walked(ddpg.learn(300)) > 6
    return found


@_case
def natural_gradients_and_recurrent_policies(tf: Any) -> Any:
    """ACKTR inverts Kronecker factors of the Fisher matrix; a policy with an LSTM; summaries are written."""
    from stable_baselines import A2C, ACKTR
    from stable_baselines.common.vec_env import DummyVecEnv

    learnt = ACKTR("MlpPolicy", _line(), n_steps=8, seed=3, n_cpu_tf_sess=1).learn(600)
    assert _walked(learnt) == 8
    with tempfile.TemporaryDirectory() as folder:
        model = A2C("MlpLstmPolicy", DummyVecEnv([_line]), n_steps=8, seed=3, n_cpu_tf_sess=1, tensorboard_log=folder)
        model.learn(80)
        events = [e for p in pathlib.Path(folder).rglob("events*") for e in tf.train.summary_iterator(str(p))]
    assert {v.tag for e in events for v in e.summary.value} > {"loss/loss", "episode_reward"}
    model = _scheduled(_set(A2C("MlpLstmPolicy", DummyVecEnv([_line]), n_steps=8, seed=3, n_cpu_tf_sess=1)))
    losses = [model._train_step(_OBS[:8], np.zeros((1, 512), np.float32), _RETURNS[:8], _MASKS[:8], _ACTIONS[:8],
                                _VALUES[:8], 0) for _ in range(2)]
    return [losses, *_some(model)]
