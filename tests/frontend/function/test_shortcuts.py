"""Later calls of a function, which find their trace by the arguments as given, do what first calls do."""

from __future__ import annotations

import gc
import math
import weakref

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.executor.runtime import executable


@pytest.fixture(autouse=True)
def in_numpy(monkeypatch):
    """Lets small runs stay in NumPy, as users have it."""
    monkeypatch.setattr(executable, "first_in_numpy", True)
    monkeypatch.setattr(executable, "tiered", True)


A, B = tf.constant([1.0, 2.0, 3.0]), tf.constant([5.0, 7.0, 11.0])


def several_times(call, times=12):
    """Calls often enough that runs take one function of NumPy's; returns the last result."""
    for _ in range(times):
        found = call()
    return found


def as_numbers(structure):
    return tf.nest.map_structure(lambda t: t.numpy().tolist(), structure)


def test_positions_and_names():
    f = tf.function(lambda a, b, scale=1.0: (a - b) * scale)
    for call in (lambda: f(A, B), lambda: f(a=A, b=B), lambda: f(b=B, a=A), lambda: f(A, b=B, scale=1.0)):
        assert several_times(call).numpy().tolist() == [-4.0, -5.0, -8.0]
    assert f(b=A, a=B).numpy().tolist() == [4.0, 5.0, 8.0]
    assert several_times(lambda: f(A, B, 2.0)).numpy().tolist() == [-8.0, -10.0, -16.0]
    assert f.experimental_get_tracing_count() == 2
    assert len(f._shortcuts._found) == 5 and f._concretes[0]._part._executable.swift is not None


def test_one_tensor_twice_and_then_two():
    f = tf.function(lambda a, b: a - b)
    several_times(lambda: f(b=A, a=A))
    assert f(b=B, a=A).numpy().tolist() == [-4.0, -5.0, -8.0]


def test_a_dictionary_is_no_keywords():
    f = tf.function(lambda x, d=None, a=0: (x, d, a))
    several_times(lambda: f(A, {"a": B}))
    assert as_numbers(f(A, {"a": B})[1]) == {"a": [5.0, 7.0, 11.0]}
    assert as_numbers(several_times(lambda: f(A, a=B))[2]) == [5.0, 7.0, 11.0]


def test_nested_arguments_in_any_order_of_keys():
    f = tf.function(lambda x, y: x[0] * 10.0 + y["b"] - y["a"])
    assert several_times(lambda: f([A], {"b": B, "a": A})).numpy().tolist() == [14.0, 25.0, 38.0]
    assert several_times(lambda: f([A], {"a": A, "b": B})).numpy().tolist() == [14.0, 25.0, 38.0]
    assert f([A], {"a": B, "b": A}).numpy().tolist() == [6.0, 15.0, 22.0]
    assert f.experimental_get_tracing_count() == 1


def test_results_keep_their_structure():
    f = tf.function(lambda x: {"b": (x, [x * 2.0]), "a": None, "c": x})
    assert as_numbers(several_times(lambda: f(A)["b"])) == ([1.0, 2.0, 3.0], [[2.0, 4.0, 6.0]])
    pair = tf.function(lambda x: {"z": x, "a": x + 1.0})
    assert list(several_times(lambda: pair(A))) == list(pair(A)) == ["z", "a"]


def test_arrays_are_as_tensors_and_are_not_kept():
    f = tf.function(lambda x: (x, x + x))
    array = np.array([1.0, 2.0], np.float32)
    same, doubled = several_times(lambda: f(array))
    array[:] = 9
    assert (same.numpy().tolist(), doubled.numpy().tolist()) == ([1.0, 2.0], [2.0, 4.0])
    assert f(array[::-1]).__class__ is tuple and f(np.arange(4.0)[::2])[1].numpy().tolist() == [0.0, 4.0]
    assert f(np.arange(2))[1].dtype == tf.int64


def test_signatures_convert_each_time():
    f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec(None, tf.float32)])
    assert several_times(lambda: f([A])).shape == (1, 3)
    assert several_times(lambda: f(A)).shape == (3,)
    assert several_times(lambda: f(np.arange(2.0))).dtype == tf.float32
    for n in range(1, 5):
        assert f(tf.ones([n])).shape == (n,)
    with pytest.raises(TypeError, match="Binding inputs"):
        f(tf.constant([1, 2]))
    assert f.experimental_get_tracing_count() == 1


def test_literals_by_value():
    f = tf.function(lambda x, n: x * n if n == n else x)
    assert several_times(lambda: f(A, 2)).numpy().tolist() == several_times(lambda: f(A, 2.0)).numpy().tolist()
    assert several_times(lambda: f(A, 3)).numpy().tolist() == [3.0, 6.0, 9.0]
    traces = f.experimental_get_tracing_count()
    several_times(lambda: f(A, math.nan))
    assert f.experimental_get_tracing_count() == traces + 1


def test_tensors_as_defaults():
    f = tf.function(lambda x, y=B: x + y)
    assert several_times(lambda: f(A)).numpy().tolist() == [6.0, 9.0, 14.0]
    assert several_times(lambda: f(A, A)).numpy().tolist() == [2.0, 4.0, 6.0]
    assert f(A).numpy().tolist() == [6.0, 9.0, 14.0]


def test_tapes_and_graphs_after_quick_calls():
    v = tf.Variable([2.0, 2.0, 2.0])
    f = tf.function(lambda x: x * x * v)
    several_times(lambda: f(A))
    v.assign([3.0, 3.0, 3.0])
    assert f(A).numpy().tolist() == [3.0, 12.0, 27.0]
    for x in (A, A.numpy()):
        with tf.GradientTape() as tape:
            tape.watch(A)
            y = f(x)
        assert tape.gradient(y, v).numpy().tolist() == [1.0, 4.0, 9.0]
    with tf.GradientTape() as tape:
        tape.watch(A)
        y = f(A)
    assert tape.gradient(y, A).numpy().tolist() == [6.0, 12.0, 18.0]
    outer = tf.function(lambda x: f(x) + 1.0)
    assert several_times(lambda: outer(A)).numpy().tolist() == [4.0, 13.0, 28.0]


def test_first_calls_that_create_variables():
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(x))
        return made[0].assign_add(x)

    assert [f(A).numpy()[0] for _ in range(12)] == [float(n) for n in range(2, 14)]


def test_run_eagerly_counts_at_once():
    ran = []
    f = tf.function(lambda x: ran.append(1) or x * 2.0)
    several_times(lambda: f(A))
    tf.config.run_functions_eagerly(True)
    try:
        f(A)
        f(A)
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(ran) == 3


def test_many_shapes_do_not_fill_the_memory():
    f = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([None])])
    for n in range(1200):
        f(tf.zeros([n]))
    assert f.experimental_get_tracing_count() == 1 and len(f._shortcuts._found) <= 1000


def test_concrete_functions():
    f = tf.function(lambda x, y: x - y["k"])
    concrete = f.get_concrete_function(A, {"k": B})
    for call in (lambda: concrete(A, {"k": B}), lambda: concrete(A, B), lambda: concrete(A.numpy(), B)):
        assert several_times(call).numpy().tolist() == [-4.0, -5.0, -8.0]
    with pytest.raises(TypeError):
        concrete(A)


def test_functions_and_methods_are_freed_without_the_collector():
    class Model:
        @tf.function
        def double(self, x):
            return x * 2.0

    model = Model()
    for _ in range(12):
        assert model.double(A).numpy().tolist() == [2.0, 4.0, 6.0]
    assert model.double.__name__ == "double"
    assert model.double.__wrapped__(A).numpy().tolist() == [2.0, 4.0, 6.0]
    gc.disable()
    try:
        gone = weakref.ref(model)
        del model
        assert gone() is None
    finally:
        gc.enable()
