"""When functions are traced again, arrays as arguments and results, and `case`: as TensorFlow 2.21 does it.

Counts and classes of errors were asked of TensorFlow 2.21.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.ir import context


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with context.use(context.EAGER):
        yield


def test_equal_values_share_a_trace() -> None:
    traces = []

    @tf.function
    def f(x, y=0):  # type: ignore[no-untyped-def]  # a user writes no types
        traces.append(1)
        return x

    counts = []
    for value in (1, 1.0, True, 2, np.float32(1), np.float32(2), np.int64(3), np.array(3), tf.constant(1),
                  tf.constant(2), [1, 2], (1, 2), [1.0, 2], float("nan"), float("nan"), None, "a", "a"):
        f(value)
        counts.append(len(traces))
    assert counts == [1, 1, 1, 2, 3, 3, 4, 4, 5, 5, 6, 7, 7, 8, 8, 9, 10, 10]
    assert f.experimental_get_tracing_count() == 10
    f(tf.constant(1), 0)  # the default
    f(tf.constant(1), y=0.0)
    assert len(traces) == 10


def test_what_a_signature_does_not_name() -> None:
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def f(x, y=2.0):  # type: ignore[no-untyped-def]  # a user writes no types
        return x * y

    assert float(f(3.0)) == float(f(3.0, 2.0)) == 6.0
    with pytest.raises(TypeError, match=r"Can not cast 4.0 to Literal\[2.0\](?s:.*)Fix: name it"):
        f(3.0, 4.0)
    with pytest.raises(TypeError, match="Can not cast"):
        f(3.0, y=4.0)


def test_what_was_traced() -> None:
    @tf.function
    def f(x, k=2):  # type: ignore[no-untyped-def]  # a user writes no types
        return {"y": x * k}

    c = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    assert c.output_dtypes == {"y": tf.float32} and c.output_shapes["y"].as_list() == [None]
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a float32 tensor but is a int32"):
        c(tf.constant([1]))
    text = f.pretty_printed_concrete_signatures()
    assert text.splitlines()[:3] == [
        "Input Parameters:",
        "  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(None,), dtype=tf.float32, name=None)",
        "  k (POSITIONAL_OR_KEYWORD): Literal[2]",
    ]
    assert str(c) == f"ConcreteFunction {text}" and f.name == "f"


def _array(*values: Any, **options: Any) -> Any:
    ta = tf.TensorArray(tf.float64, 3, clear_after_read=False, **options)
    for i, value in enumerate(values):
        if value is not None:
            ta = ta.write(i, value)
    return ta


def test_arrays_as_arguments_and_results() -> None:
    @tf.function
    def doubled(ta, x):  # type: ignore[no-untyped-def]  # a user writes no types
        for i in tf.range(ta.size()):
            ta = ta.write(i, ta.read(i) * x)
        return {"array": ta, "last": ta.read(2)}

    x = tf.constant(2.0, tf.float64)
    rows = [tf.constant([float(i), 1.0], tf.float64) for i in range(3)]
    with tf.GradientTape() as tape:
        tape.watch([x, *rows])
        found = doubled(_array(*rows), x)
        array = found["array"]
        assert isinstance(array, tf.TensorArray)
        y = tf.reduce_sum(array.stack() ** 2) + tf.reduce_sum(array.read(1))
    np.testing.assert_array_equal(array.stack(), [[0, 2], [2, 2], [4, 2]])
    slopes = tape.gradient(y, [x, *rows])
    assert float(slopes[0]) == 2 * 2 * (0 + 1 + 4 + 3) + 2
    np.testing.assert_array_equal(slopes[1:], [[0, 8], [10, 10], [16, 8]])
    assert doubled.experimental_get_tracing_count() == 1
    doubled(_array(*rows), x)
    assert doubled.experimental_get_tracing_count() == 1
    doubled(array, x)  # what a function returned goes into the next one
    ragged = _array([1.0], [1.0, 2.0], None, infer_shape=False, dynamic_size=True)
    sizes = tf.function(lambda ta: (ta.write(3, [5.0]).size(), ta.read(1)))(ragged)
    assert int(sizes[0]) == 4 and sizes[1].shape == (2,)
    with pytest.raises(NotImplementedError, match=r"(?s)differ in shape.*Fix: return ta.concat\(\)"):
        tf.function(lambda ta: ta)(ragged)


def test_case() -> None:
    def pairs(x: Any) -> Any:
        return [(x < 2, lambda: 1), (x < 3, lambda: 2)]

    exclusive = tf.function(lambda x: tf.case(pairs(x), default=lambda: 3, exclusive=True))
    assert [int(exclusive(tf.constant(i))) for i in (2, 5)] == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions(?s:.*)evaluated as True"):
        exclusive(tf.constant(1))
    one = tf.function(lambda x: tf.case(pairs(x)))
    assert [int(one(tf.constant(i))) for i in (1, 2)] == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated as True"):
        one(tf.constant(7))
    x = tf.constant(1)
    assert tf.case(pairs(x), exclusive=True) == 1  # eager mode takes the first
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated as True"):
        tf.case(pairs(tf.constant(7)))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant(2)
        named = {tf.less(x, 3, name="b"): lambda: 1, tf.less(x, 4, name="a"): lambda: 2}
        assert session.run(tf.case(named)) == 2  # by name
        assert session.run(tf.case(OrderedDict(named))) == 1


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([],), ValueError, "'pred_fn_pairs' is empty"),
        (({},), ValueError, "Unordered dictionaries are not supported"),
        ((5,), TypeError, "'pred_fn_pairs' must be a list, tuple, or dict"),
        (([1],), TypeError, "must be a 2-tuple"),
        (([(True, abs)],), TypeError, "pred must be a Tensor, got: True"),
        (([(np.float32(1), abs)],), TypeError, "pred must be a Tensor"),
        (([(tf.TensorSpec([]), abs)],), TypeError, "pred must be a Tensor"),
    ],
)
def test_case_refuses(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"(?s){text}.*Fix:"):
        tf.case(*arguments)


def test_other_refusals() -> None:
    x = tf.constant(1.0)
    with pytest.raises(TypeError, match="'default' must be callable(?s:.*)Fix"):
        tf.case([(x > 0, abs)], default=3)
    with pytest.raises(TypeError, match="pred must be Tensor of type bool(?s:.*)Fix"):
        tf.case([(x, abs)])
    with pytest.raises(TypeError, match="must be callable(?s:.*)Fix"):
        tf.case([(x > 0, 1)])
    with pytest.raises(ValueError, match="where one gives None(?s:.*)Fix"):
        tf.function(lambda x: tf.cond(x > 0, lambda: x, lambda: None))(x)
    with pytest.raises(TypeError, match="type should remain constant(?s:.*)Fix: tf.cast"):
        tf.function(lambda x: tf.while_loop(lambda _: True, lambda x: [tf.cast(x, tf.int32)], [x]))(x)
    with pytest.raises(TypeError, match="'parallel_iterations' must be a positive(?s:.*)Fix"):
        tf.while_loop(lambda i: i < 2, lambda i: i + 1, [0], parallel_iterations=0)
    with pytest.raises(ValueError, match="'cond' must return one boolean scalar(?s:.*)Fix"):
        tf.function(lambda: tf.while_loop(lambda i: (i < 2, i < 3), lambda i: i + 1, [0]))()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    for target, source in ((y, "x"), (y, 3.0), (y, None), (None, x)):
        with pytest.raises(TypeError, match="Fix:"):
            tape.gradient(target, source)
    with pytest.raises(ValueError, match="Tape is not recording"):
        tape.stop_recording().__enter__()
    with pytest.raises(RuntimeError, match="which is not recording"):
        tf.GradientTape().stop_recording().__enter__()
    with pytest.raises(tf.errors.InvalidArgumentError, match="trying to write dtype int32(?s:.*)Fix"):
        _array(tf.constant(1))
