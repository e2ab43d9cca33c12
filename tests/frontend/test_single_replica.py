"""What stands for several processes and replicas: one process, one replica."""

from __future__ import annotations

import collections
from typing import Any

import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default(), HostSession() as session:
        yield session


def test_cluster() -> None:
    """A ClusterSpec knows its tasks."""
    cluster = tf.train.ClusterSpec({"ps": ["a:1"], "worker": {0: "b:1", 2: "c:1"}})
    assert cluster.jobs == ["ps", "worker"] and cluster.task_indices("worker") == [0, 2]
    assert cluster.job_tasks("worker") == ["b:1", None, "c:1"]
    assert cluster.as_dict() == {"ps": ["a:1"], "worker": {0: "b:1", 2: "c:1"}}
    assert cluster == tf.train.ClusterSpec(cluster) and bool(cluster)
    for call, text in ((lambda: cluster.num_tasks("no"), "No such job"),
                       (lambda: cluster.task_address("worker", 1), "No task with index 1")):
        with pytest.raises(ValueError, match=text):
            call()
    for bad in ("text", {"a": "text"}):
        with pytest.raises(TypeError):
            tf.train.ClusterSpec(bad)


def test_replica_device_setter(sess: Any) -> None:
    """Variables go to the servers in turn, the rest to the worker; one process computes all the same."""
    assert tf.train.replica_device_setter() is None
    cluster = {"ps": ["a:1", "b:1"], "worker": ["c:1"]}
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device="/job:worker/task:0")):
        variables = [tf.Variable(float(i), name=f"v{i}") for i in range(3)]
        total = tf.add_n([v.value() for v in variables])
    assert [v.device for v in variables] == [f"/job:ps/task:{i}" for i in (0, 1, 0)]
    assert total.device == "/job:worker/task:0"
    sess.run(tf.global_variables_initializer())
    assert sess.run(total) == 3.0
    with pytest.raises(TypeError, match="ps_strategy must be callable"):
        tf.train.replica_device_setter(2, ps_strategy=3)


def test_one_replica(sess: Any) -> None:
    """Outside of strategies there is one replica, whose context calls and reduces."""
    strategy, replica = tf.distribute.get_strategy(), tf.distribute.get_replica_context()
    assert not tf.distribute.has_strategy() and not tf.distribute.in_cross_replica_context()
    assert replica.num_replicas_in_sync == strategy.num_replicas_in_sync == 1
    assert replica.merge_call(lambda s, x: (s is strategy, x), args=(2,)) == (True, 2)
    x = tf.constant([1.0, 3.0])
    assert replica.all_reduce(tf.distribute.ReduceOp.SUM, x) is x is strategy.reduce("SUM", x)
    assert sess.run(strategy.reduce(tf.distribute.ReduceOp.MEAN, x, 0)) == 2.0
    assert strategy.run(lambda a: a + 1, (1,)) == 2
    assert strategy.extended.call_for_each_replica(lambda a: a, (5,)) == 5
    with strategy.scope(), strategy.extended.colocate_vars_with(x):
        pass


def test_one_tpu_replica(sess: Any) -> None:
    """What sums over replicas sums over one; more of them are refused."""
    from graphgrad.compat.internal import tpu

    x = tf.constant([1.0, 2.0])
    assert sess.run(tpu.cross_replica_sum(tpu.tpu_replicated_input([x]))).tolist() == [1.0, 2.0]
    assert tpu.get_tpu_context() is None
    with pytest.raises(ValueError, match="(?s)one replica.*Fix:"):
        tpu.tpu_replicated_input([x, x])


def test_strategies_for_servers() -> None:
    """Variables go where TensorFlow 1.15's tests expect them: by bytes, or by a digest of their names."""
    from graphgrad.compat import contrib

    named = collections.namedtuple("named", "name")
    greedy = contrib.training.GreedyLoadBalancingStrategy(2, contrib.training.byte_size_load_fn)
    for strategy, wanted in ((greedy, "0110"), (contrib.training.RandomStrategy(2, seed=0), "1011")):
        with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(2, ps_strategy=strategy)):
            made = [tf.Variable(tf.zeros(shape)) for shape in ([2, 2], [2, 1], [2, 2], [1, 3])]
        assert [v.device for v in made] == [f"/job:ps/task:{n}" for n in wanted]
    assert contrib.training.RandomStrategy(2)(named("A unicode \u018e string \xf1")) == 1
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="must have a single output"):
            contrib.training.byte_size_load_fn(tf.no_op())
        with pytest.raises(ValueError, match="fully defined"):
            contrib.training.byte_size_load_fn(tf.placeholder(tf.float32, [None]).op)
