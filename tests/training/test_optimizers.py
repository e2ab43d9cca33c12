"""Optimizers, schedules and averages: against TensorFlow's recorded runs, and by their contract."""

from __future__ import annotations

import contextlib
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad import errors
from graphgrad.compat import contrib
from graphgrad.ir import context
from graphgrad.ir.opdef import raw
from graphgrad.training.optimizers.moving_averages import assign_moving_average, weighted_moving_average

from . import optimizer_cases

RECORDED = np.load(pathlib.Path(__file__).parents[1] / "recorded" / "optimizers.npz")


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


# -- against TensorFlow ------------------------------------------------------------


@pytest.mark.parametrize("name", optimizer_cases.CASES)
def test_training_run(name: str) -> None:
    """Fifty steps give TensorFlow's values, for dense and for gathered variables."""
    for key, values in optimizer_cases.train(tf, name).items():
        np.testing.assert_allclose(values, RECORDED[f"train/{name}/{key}"], rtol=2e-5, atol=2e-6, err_msg=key)


@pytest.mark.parametrize("name", ["sgd", "nesterov", "adam", "rmsprop_centered", "ftrl"])
def test_training_run_in_float64(name: str) -> None:
    """Hyperparameters follow the variable's dtype."""
    for key, values in optimizer_cases.train(tf, name, "float64").items():
        assert values.dtype == np.float64
        np.testing.assert_allclose(values, RECORDED[f"train/{name}/{key}"], rtol=1e-3, atol=1e-4, err_msg=key)


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("name", optimizer_cases.FORMULAS)
def test_by_formula(sess: Any, name: str, eager: bool) -> None:
    """Optimizers of `tf.contrib`, on sum(w^3 / 3) and the rows of a table."""
    cls, arguments, formula = optimizer_cases.FORMULAS[name]
    expected, rows = {"w": optimizer_cases.W.astype(np.float64)}, {"w": optimizer_cases.TABLE.astype(np.float64)}
    with context.use(context.EAGER) if eager else contextlib.nullcontext():
        w, table = (tf.Variable(v["w"], dtype=tf.float64, use_resource=True) for v in (expected, rows))

        def loss() -> Any:
            return tf.reduce_sum(w**3) / 3.0 + tf.reduce_sum(tf.gather(table, [0, 2, 2]))

        optimizer = getattr(contrib.opt, cls)(**arguments)
        step = None if eager else optimizer.minimize(loss())
        if not eager:
            sess.run(tf.global_variables_initializer())
        for t in range(1, 6):
            if eager:
                optimizer.minimize(loss, var_list=[w, table])
            else:
                sess.run(step)
            formula(expected, expected["w"] ** 2, t)
            formula(rows, np.array([1.0, 0, 2, 0, 0, 0])[:, None] * np.ones((1, 2)), t)
            for variable, values in ((w, expected), (table, rows)):
                np.testing.assert_allclose(variable.numpy() if eager else sess.run(variable), values["w"], rtol=1e-5)


@pytest.mark.parametrize("name", optimizer_cases.SCHEDULES)
def test_schedule(name: str) -> None:
    """Schedules give TensorFlow's rates."""
    np.testing.assert_allclose(optimizer_cases.schedule(tf, name), RECORDED[f"schedule/{name}"], rtol=1e-5, atol=1e-6)


def test_averages() -> None:
    """Moving averages follow TensorFlow's, with a step count and without bias."""
    for key, values in optimizer_cases.average(tf).items():
        np.testing.assert_allclose(values, RECORDED[f"average/{key}"], rtol=1e-5)


@pytest.mark.parametrize("name", ["sgd", "momentum", "adam", "adagrad", "rmsprop"])
def test_eager_updates(name: str) -> None:
    """In eager mode an update happens when it is asked for, and to the same values."""
    cls, arguments = optimizer_cases.CASES[name]
    grads = [np.array([0.5, -1.0], np.float32), np.array([2.0, 0.25], np.float32)]
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable([1.0, 2.0])
        optimizer = getattr(tf.train, cls)(**arguments)
        grad = tf.placeholder(tf.float32, [2])
        step = optimizer.apply_gradients([(grad, w)])
        session.run(tf.global_variables_initializer())
        for g in grads:
            session.run(step, {grad: g})
        expected = session.run(w)
    v = tf.Variable([1.0, 2.0])
    optimizer = getattr(tf.train, cls)(**arguments)
    for g in grads:
        assert optimizer.apply_gradients([(tf.constant(g), v)]) is None
    np.testing.assert_allclose(v.numpy(), expected, rtol=1e-6)


# -- names, slots, collections -----------------------------------------------------


def test_names_of_adam(sess: Any) -> None:
    """Slots, powers of beta and operations have TensorFlow's names."""
    w, u = tf.Variable([1.0], name="w"), tf.Variable([2.0], name="u")
    optimizer = tf.train.AdamOptimizer()
    step = optimizer.minimize(tf.reduce_sum(w * u), global_step=tf.train.get_or_create_global_step())
    assert [v.name for v in tf.global_variables()] == [
        "w:0", "u:0", "global_step:0", "beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0", "u/Adam:0",
        "u/Adam_1:0"]
    assert tf.trainable_variables() == [w, u]
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(w, "v").name == "w/Adam_1:0"
    assert optimizer.get_slot(w, "nothing") is None
    assert [v.name for v in optimizer.variables()] == [
        "beta1_power:0", "beta2_power:0", "u/Adam:0", "u/Adam_1:0", "w/Adam:0", "w/Adam_1:0"]
    assert (step.name, step.type) == ("Adam", "AssignAddVariableOp")
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == [step]
    graph = tf.get_default_graph()
    assert graph.get_operation_by_name("Adam/update_w/ResourceApplyAdam").type == "ResourceApplyAdam"
    assert graph.get_operation_by_name("Adam/update").type == "NoOp"


def test_second_optimizer_of_one_kind(sess: Any) -> None:
    """A second optimizer has variables of its own; a second use of one shares its slots."""
    w = tf.Variable(1.0, name="w")
    first = tf.train.AdamOptimizer()
    first.minimize(w * w)
    first.minimize(w * w * w)
    tf.train.AdamOptimizer(name="B").minimize(w)
    assert [v.name for v in tf.global_variables()] == [
        "w:0", "beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0", "beta1_power_1:0", "beta2_power_1:0",
        "w/B:0", "w/B_1:0"]


def test_global_step(sess: Any) -> None:
    """The global step counts, is found by collection or name, and exists once."""
    assert tf.train.get_global_step() is None
    step = tf.train.create_global_step()
    assert tf.train.get_global_step() is step and step.dtype is tf.int64
    with pytest.raises(ValueError, match='"global_step" already exists'):
        tf.train.create_global_step()
    w = tf.Variable(1.0)
    update = tf.train.GradientDescentOptimizer(0.1).minimize(w, global_step=step)
    sess.run(tf.global_variables_initializer())
    sess.run(update)
    sess.run(update)
    assert tf.train.global_step(sess, step) == 2


def test_global_step_by_name(sess: Any) -> None:
    """A plain variable named global_step serves; one that is no integer does not."""
    step = tf.Variable(0, name="global_step", trainable=False)
    assert tf.train.get_or_create_global_step() is step
    with tf.Graph().as_default():
        tf.Variable(0.5, name="global_step")
        with pytest.raises(TypeError, match="does not have integer type"):
            tf.train.get_global_step()


# -- what it works with ------------------------------------------------------------


def test_constraint_applies_after_the_update(sess: Any) -> None:
    """A constraint maps the updated value."""
    w = tf.Variable([1.0, -1.0], constraint=lambda x: tf.clip_by_value(x, 0.0, 1.0))
    step = tf.train.GradientDescentOptimizer(0.5).apply_gradients([(tf.constant([-1.0, 1.0]), w)])
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    np.testing.assert_array_equal(sess.run(w), [1.0, 0.0])


def test_constraint_of_a_gathered_variable(sess: Any) -> None:
    """A constraint cannot be combined with sparse updates."""
    w = tf.Variable([1.0, -1.0], constraint=tf.identity)
    with pytest.raises(RuntimeError, match="Cannot use a constraint function on a sparse variable"):
        tf.train.GradientDescentOptimizer(0.5).apply_gradients([(tf.IndexedSlices([1.0], [0]), w)])


def test_all_gradients_see_the_old_values(sess: Any) -> None:
    """The updates of one step do not see each other."""
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    step = tf.train.GradientDescentOptimizer(1.0).minimize(a * b)
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    assert sess.run([a, b]) == [2.0 - 3.0, 3.0 - 2.0]


def test_none_gradients_are_left_out(sess: Any) -> None:
    """Variables that the loss does not use stay as they are."""
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    pairs = optimizer.compute_gradients(a * a)
    assert [v for _, v in pairs] == [a, b] and pairs[1][0] is None
    sess.run(tf.global_variables_initializer())
    sess.run(optimizer.apply_gradients(pairs))
    assert sess.run([a, b]) == [-2.0, 3.0]


def test_grad_loss_and_gates(sess: Any) -> None:
    """grad_loss multiplies the gradient; every gate setting gives the same."""
    w = tf.Variable(2.0)
    sess.run(tf.global_variables_initializer())
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    for gate in (optimizer.GATE_NONE, optimizer.GATE_OP, optimizer.GATE_GRAPH):
        [(grad, _)] = optimizer.compute_gradients(w * w, gate_gradients=gate, grad_loss=tf.constant(3.0))
        assert sess.run(grad) == 12.0
    with pytest.raises(ValueError, match="gate_gradients must be one of"):
        optimizer.compute_gradients(w * w, gate_gradients=7)


def test_learning_rate_as_placeholder_and_function(sess: Any) -> None:
    """A rate may be a number, a tensor, a variable or a function."""
    w, rate = tf.Variable(2.0), tf.Variable(0.5, trainable=False)
    fed = tf.placeholder(tf.float32, [])
    steps = [tf.train.GradientDescentOptimizer(lr).minimize(w * 1.0, var_list=w) for lr in (fed, rate, lambda: 0.25)]
    sess.run(tf.global_variables_initializer())
    for step, expected in zip(steps, [1.0, 0.5, 0.25], strict=True):
        sess.run(step, {fed: 1.0})
        assert sess.run(w) == expected


@pytest.mark.parametrize("name", ["GradientDescentOptimizer", "AdamOptimizer", "AdagradOptimizer"])
def test_float16(sess: Any, name: str) -> None:
    """Half precision variables are updated in half precision."""
    w = tf.Variable(np.array([1.0, 2.0], np.float16))
    step = getattr(tf.train, name)(0.1).minimize(tf.reduce_sum(w * w))
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    assert sess.run(w).dtype == np.float16
    assert (sess.run(w) < [1.0, 2.0]).all()


# -- errors ------------------------------------------------------------------------


def test_errors(sess: Any) -> None:
    """Classes and texts are TensorFlow's."""
    w = tf.Variable(1.0, name="w")
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    t = tf.constant(2.0)
    with pytest.raises(ValueError, match=r"No gradients provided for any variable, check your graph for ops that do "
                                         r"not support gradients, between variables \[.*'w:0'.*\] and loss "):
        optimizer.minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match="No gradients provided for any variable: "):
        optimizer.apply_gradients([(None, w)])
    with pytest.raises(ValueError, match="No variables provided"):
        optimizer.apply_gradients([])
    with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
        optimizer.apply_gradients(optimizer.compute_gradients(t * t, [t]))
    with pytest.raises(ValueError, match=r"Invalid type tf.int32 for .*, expected"):
        optimizer.minimize(tf.Variable(1) * 2)
    with pytest.raises(NotImplementedError):
        tf.train.Optimizer(False, "X").minimize(w * w)
    with pytest.raises(ValueError, match="Must specify the optimizer name"):
        tf.train.Optimizer(False, "")
    with pytest.raises(ValueError, match="initial_accumulator_value must be positive"):
        tf.train.AdagradOptimizer(0.1, 0.0)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="No variables to optimize"):
        optimizer.minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match="length of boundaries should be 1 less"):
        tf.train.piecewise_constant(t, [1.0], [1.0])
    with pytest.raises(TypeError, match="must be half, float, or double"):
        tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1)])


def test_gradient_of_another_shape(sess: Any) -> None:
    """A gradient that does not have the variable's shape is an error of the run."""
    w = tf.Variable([1.0, 2.0])
    step = tf.train.GradientDescentOptimizer(0.1).apply_gradients([(tf.placeholder_with_default([1.0], None), w)])
    sess.run(tf.global_variables_initializer())
    with pytest.raises(errors.InvalidArgumentError, match="do not have the same shape"):
        sess.run(step)


def test_eager_loss_must_be_a_function() -> None:
    """In eager mode there is no graph to differentiate."""
    with pytest.raises(RuntimeError, match="should be a function when eager execution is enabled"):
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))


# -- optimizers of the user's own --------------------------------------------------


class Halving(tf.train.Optimizer):
    """Moves half the way of the gradient; for rows, a quarter."""

    def __init__(self) -> None:
        super().__init__(False, "Halving")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return tf.assign_sub(var, grad * 0.5)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return tf.scatter_sub(var, grad.indices, grad.values * 0.25)


class ResourceHalving(tf.train.Optimizer):
    """The same by the methods for resource variables, with a slot that counts."""

    def __init__(self) -> None:
        super().__init__(False, "ResourceHalving")

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            self._zeros_slot(v, "steps", self._name)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return tf.group(handle.assign_sub(grad * 0.5), self.get_slot(handle, "steps").assign_add(tf.ones_like(grad)))

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return tf.scatter_sub(handle, indices, grad * 0.25)


@pytest.mark.parametrize("cls", [Halving, ResourceHalving])
def test_own_optimizer(sess: Any, cls: Any) -> None:
    """Either set of methods serves; indices come deduplicated."""
    w, table = tf.Variable([4.0]), tf.Variable([1.0, 2.0, 3.0])
    loss = tf.reduce_sum(w) + tf.reduce_sum(tf.gather(table, [2, 0, 2]) * [1.0, 2.0, 3.0])
    optimizer = cls()
    step = optimizer.minimize(loss)
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    np.testing.assert_array_equal(sess.run(w), [3.5])
    np.testing.assert_array_equal(sess.run(table), [0.5, 2.0, 2.0])


def test_wrapped_gradients(sess: Any) -> None:
    """A subclass may change the gradients and leave the rest to the optimizer it extends."""

    class Clipped(tf.train.MomentumOptimizer):
        def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
            pairs = super().compute_gradients(*args, **kwargs)
            return [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in pairs]

    w = tf.Variable(10.0)
    step = Clipped(0.5, 0.0).minimize(w * w)
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    assert sess.run(w) == 9.5


def test_overridden_update_of_a_built_in_optimizer(sess: Any) -> None:
    """A subclass of an optimizer that overrides its update is heard."""

    class Decayed(tf.train.GradientDescentOptimizer):
        def _apply_dense(self, grad: Any, var: Any) -> Any:
            return super()._apply_dense(grad + 0.1 * var, var)

    w = tf.Variable(10.0)
    step = Decayed(1.0).minimize(w * 1.0)
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    assert sess.run(w) == 8.0


# -- averages ----------------------------------------------------------------------


def test_average_names_and_collections(sess: Any) -> None:
    """Names, the collection, and what a Saver restores."""
    w = tf.Variable([1.0, 2.0], name="w")
    other = tf.Variable(1.0, name="other", trainable=False)
    ema = tf.train.ExponentialMovingAverage(0.9)
    assert ema.average(w) is None and ema.average_name(w) == "w/ExponentialMovingAverage"
    ema.apply([w])
    assert ema.average(w).name == "w/ExponentialMovingAverage:0"
    assert tf.moving_average_variables() == [w]
    restore = ema.variables_to_restore()
    assert restore["w/ExponentialMovingAverage"] is w and restore["other"] is other


def test_average_starts_at_the_initial_value(sess: Any) -> None:
    """Initialized with the variable in one run, the average starts at its initial value."""
    w = tf.Variable(tf.random_normal([3]))
    ema = tf.train.ExponentialMovingAverage(0.5)
    update = ema.apply([w])
    sess.run(tf.global_variables_initializer())
    np.testing.assert_array_equal(sess.run(ema.average(w)), sess.run(w))
    before = sess.run(w)
    sess.run(w.assign_add([2.0, 2.0, 2.0]))
    sess.run(update)
    np.testing.assert_allclose(sess.run(ema.average(w)), before + 1.0, rtol=1e-6)


# -- kernels -----------------------------------------------------------------------


def test_sparse_update_without_duplicates_flag(sess: Any) -> None:
    """By TensorFlow's contract the sparse ops take distinct indices and leave other rows alone."""
    w, accum = tf.Variable(tf.ones([4, 2])), tf.Variable(tf.ones([4, 2]))
    step = raw.ResourceSparseApplyMomentum(w.handle, accum.handle, 0.5, np.ones((2, 2), np.float32), [3, 1], 0.5)
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    np.testing.assert_array_equal(sess.run(accum)[:, 0], [1.0, 1.5, 1.0, 1.5])
    np.testing.assert_array_equal(sess.run(w)[:, 0], [1.0, 0.25, 1.0, 0.25])


def test_moving_average_of_a_variable(sess: Any) -> None:
    """`assign_moving_average` with and without correction: by the formula of Adam's paper, section 3."""
    values = [1.0, 4.0, -2.0, 3.0]
    plain, corrected = tf.Variable(0.0, name="plain"), tf.Variable(0.0, name="corrected")
    x = tf.placeholder(tf.float32, [])
    updates = [assign_moving_average(plain, x, 0.75, zero_debias=False), assign_moving_average(corrected, x, 0.75)]
    mean = weighted_moving_average(x, 0.75, tf.abs(x))
    sess.run(tf.global_variables_initializer())
    biased = total = weight = 0.0
    for n, value in enumerate(values, 1):
        biased += 0.25 * (value - biased)
        total += 0.25 * (value * abs(value) - total)
        weight += 0.25 * (abs(value) - weight)
        results = sess.run([*updates, mean], {x: value})
        np.testing.assert_allclose(results, [biased, biased / (1 - 0.75**n), total / weight], rtol=1e-5)
    np.testing.assert_allclose(sess.run(plain), biased, rtol=1e-5)
    assert [v.op.name for v in tf.global_variables()][2:4] == ["corrected/biased", "corrected/local_step"]
