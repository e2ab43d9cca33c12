"""Replicas of one process: equal to one replica on the whole batch, in graphs and sessions, and their errors."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import xla
from graphgrad.executor.plan.placement import default_placement
from graphgrad.executor.program.plan_types import Move
from graphgrad.frontend.distribute import contexts
from graphgrad.ir import context

_X = np.random.RandomState(1).randn(12, 4).astype(np.float64)
_Y = np.random.RandomState(2).randn(12, 2).astype(np.float64)


@pytest.fixture(autouse=True)
def devices(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The processor counts as four devices."""
    monkeypatch.setattr(default_placement, "cpus", 4)
    yield
    assert not contexts._places.stack


@pytest.fixture
def eager() -> Iterator[None]:
    """Eager mode."""
    with context.use(context.EAGER):
        yield


def _cpus(count: int) -> Any:
    return tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(count)])


def _trained(strategy: Any, seed: int) -> tuple[list[float], dict[str, Any], list[Any]]:
    """Trains a random network in a graph of 1.x; returns losses, variables, and the variables' objects."""
    rng = np.random.RandomState(seed)
    widths = [4, *rng.randint(2, 6, rng.randint(1, 3)).tolist(), 2]
    activation = [tf.tanh, tf.nn.relu, tf.nn.softplus][rng.randint(3)]
    make = [lambda: tf.train.MomentumOptimizer(0.05, 0.9), lambda: tf.train.AdamOptimizer(0.05),
            lambda: tf.train.AdagradOptimizer(0.1)][rng.randint(3)]
    start = [rng.randn(a, b) for a, b in itertools.pairwise(widths)]
    with tf.Graph().as_default(), strategy.scope():
        step = tf.train.get_or_create_global_step()
        data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((_X, _Y)).batch(12).repeat())
        iterator = tf.data.make_initializable_iterator(data)

        def replica(batch: Any) -> Any:
            h, y = batch
            for i, w in enumerate(start):
                with tf.variable_scope(f"layer{i}"):
                    h = tf.matmul(h, tf.get_variable("w", initializer=w, dtype=tf.float64))
                    h = activation(h + tf.get_variable("b", initializer=np.zeros(w.shape[1]), dtype=tf.float64))
            loss = tf.reduce_sum(tf.square(h - y)) / 12.0
            with tf.control_dependencies([make().minimize(loss, global_step=step)]):
                return tf.identity(loss)

        loss = strategy.reduce("SUM", strategy.run(replica, (iterator.get_next(),)))
        with tf.Session() as sess:
            sess.run([tf.global_variables_initializer(), iterator.initializer])
            losses = [float(sess.run(loss)) for _ in range(4)]
            variables = tf.global_variables()
            copies = [[sess.run(c) for c in getattr(v, "values", [v])] for v in variables]
            for mine in copies:
                assert all(np.array_equal(mine[0], c) for c in mine)
            return losses, {v.name: mine[0] for v, mine in zip(variables, copies, strict=True)}, variables


@pytest.mark.parametrize("seed", range(3))
def test_replicas_are_one_on_the_whole_batch(seed: int) -> None:
    """2, 3 and 4 replicas give one replica's losses and variables to rounding; copies are equal to the bit."""
    losses, variables, _ = _trained(tf.distribute.get_strategy(), seed)
    assert losses[-1] < losses[0]
    for count in ((2, 3, 4), (3,), (2,))[seed]:
        found, those, objects = _trained(_cpus(count), seed)
        np.testing.assert_allclose(found, losses, rtol=1e-10)
        assert those.keys() == variables.keys()
        for name, value in variables.items():
            np.testing.assert_allclose(those[name], value, rtol=1e-9, atol=1e-12, err_msg=name)
        assert all(len(v.values) == count for v in objects)


def test_operations_are_on_the_replicas_devices() -> None:
    """Each replica's operations and copies are on its device, with names of their own."""
    with tf.Graph().as_default() as graph:
        strategy = _cpus(2)
        with strategy.scope():
            v = tf.Variable([1.0, 2.0], name="v")
        strategy.run(lambda: tf.multiply(v, 2.0, name="twice"))
    found = {op.name: op.device.rpartition("device:")[2] for op in graph.get_operations()}
    assert found["twice"] == found["v"] == "CPU:0"
    assert found["replica_1/twice"] == found["v/replica_1"] == "CPU:1"


@pytest.mark.usefixtures("first_in_xla")
@pytest.mark.parametrize("count", [2, 4])
def test_what_is_moved(count: int) -> None:
    """A step moves each gradient to the first device and its sum to the others: 2 (N - 1) times its bytes in all."""
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": count})) as sess:
        strategy = _cpus(count)
        with strategy.scope():
            v = tf.Variable(np.ones((40, 30), np.float32))

        def replica() -> Any:
            loss = tf.reduce_sum(tf.square(tf.matmul(v, tf.ones([30, 5]))))
            return tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

        step = strategy.group(strategy.run(replica))
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        plan = list(sess._entries.values())[-1].executable.plan
        moved = [int(np.prod(s.program[0].op.outputs[0]._spec.shape)) * 4 for s in plan.steps if isinstance(s, Move)]
        assert sum(moved) == 2 * (count - 1) * 40 * 30 * 4


@pytest.mark.usefixtures("first_in_xla")
def test_copies_stay_on_their_devices(eager: None) -> None:
    """What a function assigns to a copy stays on the copy's device, and replicas wait for each other only to sum."""
    strategy = _cpus(2)
    with strategy.scope():
        v = tf2.Variable(np.ones((8, 8), np.float32))

    @tf2.function
    def step() -> Any:
        def replica() -> Any:
            context = tf2.distribute.get_replica_context()
            v.assign_sub(0.1 * context.all_reduce("MEAN", tf2.matmul(v, v)))

        strategy.run(replica)

    step()
    first, second = [c._handle._value.held._sharding for c in v.values]
    assert first is xla.device()._sharding and second is xla.device("CPU:1")._sharding
    np.testing.assert_allclose(v.values[0].numpy(), v.values[1].numpy())
    np.testing.assert_allclose(v.numpy(), np.full((8, 8), 0.2), rtol=1e-5)


def test_checkpoints(tmp_path: Any) -> None:
    """Checkpoints hold one value of a variable, and restore all copies; sums that are read are divided again."""
    def build() -> tuple[Any, Any, Any]:
        strategy = _cpus(2)
        with strategy.scope():
            v = tf.Variable([1.0, 2.0], name="v")
            total = tf.Variable(0.0, name="total", synchronization=tf.VariableSynchronization.ON_READ,
                                aggregation=tf.VariableAggregation.SUM)
        return strategy, v, total

    with tf.Graph().as_default(), tf.Session() as sess:
        strategy, v, total = build()
        number = contexts.get_replica_context
        change = strategy.run(lambda: tf.group(
            v.assign([5.0, 6.0]), total.assign_add(1.0 + tf.to_float(number().replica_id_in_sync_group))))
        sess.run(tf.global_variables_initializer())
        sess.run(strategy.group(change))
        assert sess.run(total) == 3.0 and [sess.run(c) for c in total.values] == [1.0, 2.0]
        path = tf.train.Saver().save(sess, str(tmp_path / "saved"))
    assert tf.train.list_variables(path) == [("total", []), ("v", [2])]
    with tf.Graph().as_default(), tf.Session() as sess:
        _, v, total = build()
        tf.train.Saver().restore(sess, path)
        assert [sess.run(c).tolist() for c in v.values] == [[5.0, 6.0]] * 2
        assert [sess.run(c) for c in total.values] == [1.5, 1.5] and sess.run(total) == 3.0
        assert sess.run(tf.report_uninitialized_variables()).size == 0


def test_object_checkpoints(tmp_path: Any, eager: None) -> None:
    """Checkpoints of objects restore all copies, of slots, too."""
    def build() -> tuple[Any, Any, Any]:
        strategy = tf2.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        with strategy.scope():
            v, optimizer = tf2.Variable([1.0, 2.0]), tf.train.MomentumOptimizer(0.5, 0.9)
        strategy.run(lambda: optimizer.apply_gradients([(tf2.constant([1.0, 1.0]), v)]))
        return tf2.train.Checkpoint(v=v, optimizer=optimizer), v, optimizer

    saved, v, _ = build()
    v.assign([7.0, 8.0])
    path = saved.save(str(tmp_path / "saved"))
    restored, other, optimizer = build()
    optimizer.get_slot(other, "momentum").assign([0.0, 0.0])
    restored.restore(path).assert_consumed()
    assert [c.numpy().tolist() for c in other.values] == [[7.0, 8.0]] * 2
    assert [c.numpy().tolist() for c in optimizer.get_slot(other, "momentum").values] == [[2.0, 2.0]] * 2


def test_iterators_of_graphs() -> None:
    """One-shot iterators are divided, too; a function's elements are handed out in turn."""
    with tf.Graph().as_default(), tf.Session() as sess:
        strategy = _cpus(2)
        data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(3))
        two = tf.data.Dataset.range(4).batch(2)
        by_function = strategy.experimental_distribute_datasets_from_function(lambda _: two)
        for source, wanted in ((data, [[[0, 1], [2]], [[3], [4]]]), (by_function, [[[0, 1], [2, 3]]])):
            element = strategy.experimental_local_results(tf.data.make_one_shot_iterator(source).get_next())
            for values in wanted:
                assert [v.tolist() for v in sess.run(element)] == values
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(element)


def test_replicas_that_do_not_meet(eager: None) -> None:
    """A replica that waits for one that is done is an error, and no thread is left."""
    strategy, before = _cpus(2), threading.active_count()

    def replica() -> Any:
        here = tf2.distribute.get_replica_context()
        if int(here.replica_id_in_sync_group) == 0:
            here.all_reduce("SUM", tf2.constant(1.0))

    with pytest.raises(RuntimeError, match=r"(?s)replicas \[1\] are done while others wait.*Fix:"):
        strategy.run(replica)
    with pytest.raises(ZeroDivisionError):
        strategy.run(lambda: (tf2.distribute.get_replica_context().all_reduce("SUM", tf2.constant(1.0)), 1 // 0))
    assert threading.active_count() == before
    assert tf2.distribute.get_replica_context() is contexts._defaults()[1]


def test_a_context_that_is_kept(eager: None) -> None:
    """The context of a replica is of no use outside of it, nor in another replica."""
    strategy, kept = _cpus(2), []

    def replica() -> Any:
        kept.append(tf2.distribute.get_replica_context())
        return kept[0].all_reduce("SUM", tf2.constant(1.0)) if len(kept) == 3 else None

    strategy.run(replica)
    with pytest.raises(RuntimeError, match=r"(?s)Mismatching ReplicaContext.*Fix:"):
        strategy.run(replica)
    with strategy.scope(), pytest.raises(RuntimeError, match=r"(?s)Need to be inside a replica.*Fix:"):
        kept[0].all_reduce("SUM", tf2.constant(1.0))


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda s: s.run(lambda: tf2.Variable(1.0) if _number() == 1 else 0), RuntimeError,
     "replica 1 makes a variable that replica 0 has not made.*Fix:"),
    (lambda s: s.gather(s.run(lambda: tf2.constant(1.0)), 0), ValueError, "no such axis; shape=.*Fix:"),
    (lambda s: s.run(lambda: _here().all_gather(tf2.constant([1.0]), 1)), ValueError, "no such axis; shape=.*Fix:"),
    (lambda s: s.experimental_distribute_dataset(3), TypeError, "must be a tf.data.Dataset"),
    (lambda s: next(iter(s.experimental_distribute_dataset(tf2.data.Dataset.range(3)))), IndexError,
     "cannot be divided among the replicas.*Fix: batch"),
    (lambda s: s.run(lambda: tf2.distribute.experimental_set_strategy(s)), RuntimeError, "inside a .*scope.*Fix:"),
    (lambda s: tf2.distribute.ReduceOp.from_variable_aggregation(tf2.VariableAggregation.NONE), ValueError,
     "Could not convert from"),
])
def test_errors(eager: None, call: Any, kind: type, text: str) -> None:
    """Each error says what was wrong and what to do."""
    with pytest.raises(kind, match=f"(?s){text}"):
        call(_cpus(2))


def _here() -> Any:
    return tf2.distribute.get_replica_context()


def _number() -> int:
    return int(_here().replica_id_in_sync_group)


def test_a_strategy_for_the_whole_program(eager: None) -> None:
    """`experimental_set_strategy` holds until it is taken back."""
    strategy = _cpus(2)
    tf2.distribute.experimental_set_strategy(strategy)
    try:
        v = tf2.Variable(1.0)
        assert tf2.distribute.get_strategy() is strategy and tf2.distribute.in_cross_replica_context()
        assert len(v.values) == 2 and len(strategy.run(lambda: tf2.Variable(2.0)).values) == 2
    finally:
        tf2.distribute.experimental_set_strategy(None)
    assert not tf2.distribute.has_strategy() and not hasattr(tf2.Variable(1.0), "values")


def test_assignments_are_no_new_variables() -> None:
    """Functions that create variables are not asked about what refers to a variable after an assignment."""
    asked: list[str] = []

    def creator(next_creator: Any, **kwargs: Any) -> Any:
        asked.append(kwargs["name"])
        return next_creator(**kwargs)

    with tf.Graph().as_default(), tf.variable_creator_scope(creator):
        v = tf.Variable(1.0, name="v")
        added = v.assign_add(2.0)
        with tf.Session() as sess:
            sess.run(v.initializer)
            assert sess.run(added) == 3.0
    assert asked == ["v"]
