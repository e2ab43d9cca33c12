"""What operations refuse: compiled programs raise what NumPy and TensorFlow raise, and nothing is lost."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.plan import value_checks
from graphgrad.executor.program.plan_types import Cluster

from . import refusal_cases

RECORDED = json.loads((pathlib.Path(__file__).parents[1] / "recorded" / "refusals.json").read_text())


def outcome(name):
    """The error, or the values, of a case."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetched, feeds = refusal_cases.CASES[name](tf)
        session.run(tf.global_variables_initializer())
        try:
            return session.run(fetched, feeds)
        except tf.errors.OpError as e:
            return e


@pytest.mark.parametrize("engine", ["xla", "numpy"])
@pytest.mark.parametrize("name", refusal_cases.CASES)
def test_as_tensorflow(name, engine, request):
    request.getfixturevalue(f"first_in_{engine}")
    found, wanted = outcome(name), RECORDED[name]
    if isinstance(wanted, str):
        assert isinstance(found, tf.errors.OpError), f"TensorFlow raises {wanted}, not {found}"
        assert type(found).__name__ == wanted
        assert "Fix: " in str(found) and "refusal_cases.py" in str(found)
    else:
        assert not isinstance(found, tf.errors.OpError), found
        np.testing.assert_allclose(found, np.asarray(wanted), rtol=1e-6)


def test_one_message_for_both_engines(graph, first_in_numpy):
    x, i = tf.placeholder(tf.float32, [5]), tf.placeholder(tf.int32, [2, 2])
    y = tf.gather(x, i + 0, name="picked")
    feeds = {x: np.ones(5), i: [[0, 1], [2, 5]]}
    with tf.Session() as session:
        texts = []
        for good in (False, True, False):  # NumPy, then XLA is compiled
            if good:
                session.run(y, {**feeds, i: np.zeros((2, 2))})
                session.run(y, {**feeds, i: np.zeros((2, 2))})
                continue
            with pytest.raises(tf.errors.InvalidArgumentError) as raised:
                session.run(y, feeds)
            texts.append(str(raised.value))
    assert texts[0] == texts[1]
    assert "GatherV2 'picked': indices[1,1] = 5 is not in [0, 5)" in texts[0]
    assert "test_refusals.py" in texts[0] and raised.value.op is y.op


def test_first_of_several_is_named(graph, first_in_xla):
    x, i = tf.placeholder(tf.float32, [5]), tf.placeholder(tf.int32, [2])
    first, second = tf.gather(x, i * 2, name="first"), tf.gather(x, i * 3, name="second")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="'first'"):
        session.run([second, first], {x: np.ones(5), i: [0, 7]})


def table(rows=6, optimizer=None):
    """A table of which some rows are trained."""
    weights = tf.get_variable("weights", [rows, 3], initializer=tf.ones_initializer())
    ids, labels = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    logits = tf.nn.embedding_lookup(weights, ids)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    step = (optimizer or tf.train.MomentumOptimizer(0.1, 0.9)).minimize(loss, tf.train.get_or_create_global_step())
    return weights, ids, labels, loss, step


def clusters(session, *request):
    """The clusters of a run."""
    return [step for step in session._entry(*request).executable.plan.steps if isinstance(step, Cluster)]


OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.5),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("bad", ["ids", "labels"])
def test_variables_stay_as_they_were(optimizer, bad, graph, first_in_xla):
    _, ids, labels, _, step = table(optimizer=OPTIMIZERS[optimizer]())
    good = {ids: [0, 2], labels: [1, 2]}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, good)
        before = session.run(tf.global_variables())
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(step, {**good, (ids if bad == "ids" else labels): [0, 9]})
        for old, new in zip(before, session.run(tf.global_variables()), strict=True):
            np.testing.assert_array_equal(old, new)
        session.run(step, good)
        assert not np.array_equal(session.run(tf.global_variables())[0], before[0])


def test_what_comes_from_outside_is_guarded(graph, first_in_xla):
    _, ids, labels, _, step = table()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {ids: [0, 2], labels: [1, 2]})
        last = clusters(session, step, {ids: [0, 2], labels: [1, 2]})[-1]
    assert last.guards and last.donated and last.fault is None


def test_what_is_computed_is_refused_before_variables_are_written(graph, first_in_xla):
    weights = tf.get_variable("weights", [400, 3], initializer=tf.ones_initializer())
    x = tf.placeholder(tf.float32, [4, 8])
    ids = tf.argmax(tf.matmul(x, tf.ones([8, 500])) * tf.range(500.0), 1)
    step = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.gather(weights, ids) ** 2))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {x: -np.ones((4, 8))})
        before = session.run(weights)
        with pytest.raises(tf.errors.InvalidArgumentError, match="= 499 is not in"):
            session.run(step, {x: np.ones((4, 8))})
        np.testing.assert_array_equal(session.run(weights), before)
        watched = [c for c in clusters(session, step, {x: np.ones((4, 8))}) if c.fault is not None]
    assert watched and not any(c.donated for c in watched)


@pytest.mark.parametrize("engine", ["xla", "numpy"])
@pytest.mark.parametrize("place", [-1, 16])
def test_places_of_maxima_are_within_the_image(place, engine, graph, request):
    """TensorFlow ended the process for the gradient with 16."""
    request.getfixturevalue(f"first_in_{engine}")
    x, y, places = np.ones((1, 4, 4, 1)), np.ones((1, 2, 2, 1)), tf.placeholder(tf.int64, [1, 2, 2, 1])
    pool = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID", "argmax": places}
    back = tf.raw_ops.MaxPoolGradWithArgmax(input=x, grad=y, **pool)
    again = tf.raw_ops.MaxPoolGradGradWithArgmax(input=x, grad=x, **pool)
    with tf.Session() as session:
        for fetched in (back, again):
            for first, refused in ((0, False), (place, True), (place, True)):
                feeds = {places: np.array([first, 2, 9, 15]).reshape(1, 2, 2, 1)}
                if refused:
                    with pytest.raises(tf.errors.InvalidArgumentError, match="Fix: "):
                        session.run(fetched, feeds)
                else:
                    assert session.run(fetched, feeds).sum() == 4.0


def test_parts_of_a_last_program():
    """What may be refused comes first with what it needs, and the rest may write over variables."""

    class Op:
        def __init__(self, kind, fails):
            self.type, self.inputs = kind, []
            self.opdef = type("Def", (), {"fault": fails or None, "fault_when": None, "fault_needs": None,
                                           "has_lists": False})

    class Instruction:
        def __init__(self, name, reads, gives, fails=False):
            self.op, self.name, self._reads, self._gives = Op(name, fails), name, reads, gives
            self.bodies, self.refs = {}, {}

        def reads(self):
            return self._reads

        def gives(self):
            return self._gives

    a = Instruction("a", [0], [1])
    b = Instruction("b", [1], [2], fails=True)
    c = Instruction("c", [1, 3], [4])
    d = Instruction("d", [2, 4], [5])
    names = [[i.name for i in p] for p in value_checks.part([a, c, b, d], [5], {})]
    assert names == [["a", "b"], ["c", "d"]]
    assert value_checks.part([a, c, b], [2], {}) == [[a, c, b]]  # the variable's value itself may be refused
    assert value_checks.part([a, b], [], {}) == [[a, b]]
    # What is computed wherever it is needed may need something of the program: the shape of what c gives, say.
    size = Instruction("size", [4], [6])
    e = Instruction("e", [6], [7], fails=True)
    names = [[i.name for i in p] for p in value_checks.part([a, c, e, d], [5], {6: size})]
    assert names == [["a", "c", "e"], ["d"]]


def test_inside_a_function(graph):
    v = tf.get_variable("v", [3], initializer=tf.ones_initializer(), use_resource=True)

    @tf.function
    def take(i):
        return tf.gather(v, i)

    i = tf.placeholder(tf.int32, [])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(take(i), {i: 2}) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
            session.run(take(i), {i: 3})


def test_numpy_has_the_last_word(graph, first_in_xla, monkeypatch):
    """Where its kernels find nothing wrong with what a program refused, a run goes on with NumPy's numbers."""
    from graphgrad.ir.opdef import registry

    refused = []
    monkeypatch.setattr(registry["MatrixInverse"], "fault",
                        lambda xp, result: refused.append(xp) or [xp.ones(1, bool)])
    x = tf.placeholder(tf.float32, [2, 2])
    with tf.Session() as session:
        found = session.run(2.0 * tf.matrix_inverse(x), {x: np.eye(2) * 4})
    assert refused
    np.testing.assert_array_equal(found, np.eye(2) / 2)


def test_numpy_has_the_last_word_on_guards(graph, first_in_xla, monkeypatch):
    """Variables are updated by what it computed."""
    from graphgrad.ir.opdef import registry

    v, ids, labels, _, step = table()
    wrong = lambda xp, logits, labels: [labels == labels]  # noqa: E731  # one line says it
    with tf.Session() as session:
        results = []
        for fault in (registry["SparseSoftmaxCrossEntropyWithLogits"].fault, wrong):
            monkeypatch.setattr(registry["SparseSoftmaxCrossEntropyWithLogits"], "fault", fault)
            session.run(tf.variables_initializer([v, *tf.global_variables()]))
            session.run(step, {ids: [0, 2], labels: [1, 2]})
            session.run(step, {ids: [1, 2], labels: [1, 0]})
            results.append(session.run(v))
        last = clusters(session, step, {ids: [0, 2], labels: [1, 2]})[-1]
        assert len(last.guards) > 1
    np.testing.assert_allclose(*results, rtol=1e-6)
