"""A class of composites passes wherever tensors pass, by what it says about itself alone."""

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir.values.composite import Composite


class Interval(Composite):
    """Two tensors and a unit."""

    def __init__(self, low, high, unit="m"):
        self.low, self.high, self.unit = low, high, unit

    def _parts(self):
        return [self.low, self.high]

    def _static(self):
        return (self.unit,)


def _interval(low=1.0, high=3.0, unit="m"):
    return Interval(tf.constant(low), tf.constant(high), unit)


def _wider(interval, by=2.0):
    return Interval(interval.low - by, interval.high + by, interval.unit)


def _check(value, low, high, unit="m"):
    assert isinstance(value, Interval)
    np.testing.assert_array_equal(value.low, low)
    np.testing.assert_array_equal(value.high, high)
    assert value.unit == unit


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as sess:
        yield sess


def test_sessions_fetch_and_feed_it(session):
    x = _interval()
    _check(session.run(x), 1, 3)
    _check(session.run({"x": [x]})["x"][0], 1, 3)
    assert session.run(x.high - x.low, {x: Interval(np.float32(2), np.float32(7))}) == 5
    assert session.run(x.high - x.low, {x: [2.0, 4.0]}) == 2


def test_it_passes_through_branches_and_loops(session):
    x = _interval()
    p = tf.placeholder(tf.bool)
    y = tf.cond(p, lambda: _wider(x), lambda: x)
    _check(session.run(y, {p: True}), -1, 5)
    _check(session.run(y, {p: False}), 1, 3)
    z = tf.case([(p, lambda: _wider(x))], default=lambda: x)
    _check(session.run(z, {p: True}), -1, 5)
    s = tf.switch_case(tf.cast(p, tf.int32), [lambda: x, lambda: _wider(x)])
    _check(session.run(s, {p: True}), -1, 5)
    _, w = tf.while_loop(lambda i, _: i < 3, lambda i, w: (i + 1, _wider(w)), (0, x))
    _check(session.run(w), -5, 9)
    slope = tf.gradients(w.high * w.low, x)[0]
    _check(session.run(slope), 9, -5)


def test_branches_must_agree(session):
    p = tf.placeholder(tf.bool)
    with pytest.raises(TypeError, match="same number, type"):
        tf.cond(p, lambda: _interval(unit="m"), lambda: _interval(unit="km"))
    with pytest.raises(TypeError, match="same number, type"):
        tf.cond(p, lambda: _interval(), lambda: tf.constant(1.0))


def test_functions_take_return_and_capture_it():
    held = _interval(10.0, 20.0)
    traced = []

    @tf2.function
    def f(x, more):
        traced.append(x.unit)
        return {"sum": Interval(x.low + more[0].low, x.high + held.high, x.unit), "x": x}

    found = f(_interval(), [_interval(5.0, 6.0)])
    _check(found["sum"], 6, 23)
    _check(found["x"], 1, 3)
    f(_interval(2.0), [_interval()])
    assert traced == ["m"]
    f(_interval(unit="km"), [_interval()])
    assert traced == ["m", "km"]
    concrete = f.get_concrete_function(_interval(), [_interval()])
    _check(concrete(_interval(), [_interval()])["x"], 1, 3)


def test_functions_in_graphs(session):
    held, v = _interval(10.0, 20.0), tf.Variable(0.0)

    @tf2.function
    def f(x):
        v.assign_add(1.0)
        return Interval(x.low, x.high + held.high, x.unit)

    y = f(_interval())
    session.run(v.initializer)
    _check(session.run(y), 1, 23)
    assert session.run(v) == 1


def test_autograph_branches_and_loops():
    @tf2.function
    def f(x, n):
        if n > 2:
            x = _wider(x)
        for _ in tf2.range(n):
            x = _wider(x)
        return x

    _check(f(_interval(), tf2.constant(1)), -1, 5)
    _check(f(_interval(), tf2.constant(3)), -7, 11)


def test_gradients_of_it_and_with_respect_to_it(session):
    x = _interval()
    (slope,) = tf.gradients(x.low * x.high * 2.0, x)
    _check(session.run(slope), 6, 2)
    (slope,) = tf.gradients(_wider(Interval(x.low * 3.0, x.high)), x.low)
    assert session.run(slope) == 3
    (slope,) = tf.gradients(Interval(x.low * 3.0, x.high), [x.low], grad_ys=[_interval(5.0, 7.0)])
    assert session.run(slope) == 15
    assert tf.gradients(x.low, x) == [None]


def test_tapes():
    x = _interval()
    with tf2.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = Interval(x.low * x.high, x.high * 2.0)
    _check(tape.gradient(y, x), 3, 3)
    _check(tape.gradient({"y": [y]}, [x], {"y": [_interval(10.0, 1.0)]})[0], 30, 12)


def test_custom_gradients():
    @tf2.custom_gradient
    def f(x):
        return _wider(x), lambda dy: Interval(dy.low * 10.0, dy.high * 100.0)

    x = _interval()
    with tf2.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
        total = 2.0 * y.low + y.high
    _check(tape.gradient(total, x), 20, 100)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = _interval()
        y = f(x)
        _check(sess.run(tf.gradients(2.0 * y.low + y.high, x)[0]), 20, 100)


def test_recompute_and_py_function():
    x = _interval()
    with tf2.GradientTape() as tape:
        tape.watch(x)
        y = tf2.recompute_grad(_wider)(x)
        total = y.low * y.high
    _check(tape.gradient(total, x), 5, -1)
    spec = tf2.type_spec_from_value(x)
    with tf.Graph().as_default(), tf.Session() as sess:
        y = tf2.py_function(_wider, [_interval()], spec)
        _check(sess.run(y), -1, 5)


def test_structures_and_specs():
    x = _interval()
    spec = tf2.type_spec_from_value(x)
    assert spec.value_type is Interval
    assert spec.is_compatible_with(_interval(7.0))
    assert not spec.is_compatible_with(_interval(unit="km"))
    flat = tf2.nest.flatten({"x": [x]}, expand_composites=True)
    assert flat == [x.low, x.high]
    assert tf2.nest.flatten(x) == [x]
    _check(tf2.nest.pack_sequence_as(x, flat, expand_composites=True), 1, 3)
    _check(tf2.nest.map_structure(lambda t: t * 2.0, x, expand_composites=True), 2, 6)
    tf2.nest.assert_same_structure(x, _interval(), expand_composites=True)
    with pytest.raises(ValueError, match="Incompatible"):
        tf2.nest.assert_same_structure(x, _interval(unit="km"), expand_composites=True)
    _check(tf2.identity(x), 1, 3)


def test_data_sets():
    x = _interval()
    data = tf2.data.Dataset.from_tensors({"x": x, "n": 1})
    assert data.element_spec["x"] == tf2.type_spec_from_value(x)
    (element,) = data
    _check(element["x"], 1, 3)
    (element,) = tf2.data.Dataset.from_tensors(x).repeat(3).map(_wider).skip(2)
    _check(element, -1, 5)
    assert [float(t) for t in tf2.data.Dataset.from_tensors(x).map(lambda x: x.high)] == [3]
    with tf.Graph().as_default(), tf.Session() as sess:
        iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors(_interval()))
        _check(sess.run(iterator.get_next()), 1, 3)
