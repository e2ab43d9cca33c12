"""`tf.experimental.Optional`: values that may be missing."""

from __future__ import annotations

from typing import Any

import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import context

pytestmark = pytest.mark.usefixtures("graph")


def test_a_value_and_none() -> None:
    """A structure of tensors goes in and comes out; what is missing is an error that says so."""
    x = tf.placeholder(tf.float32, [2])
    there = tf.experimental.Optional.from_value((x * 2.0, {"n": tf.constant(3)}))
    missing = tf.experimental.Optional.empty(tf.TensorSpec([2], tf.float32))
    assert there.element_spec[0].shape.as_list() == [2] and there.element_spec[1]["n"].dtype is tf.int32
    total = tf.reduce_sum(there.get_value()[0] ** 2)
    with tf.Session() as sess:
        feeds = {x: [1.0, 2.0]}
        got, has, none, g = sess.run([there.get_value(), there.has_value(), missing.has_value(),
                                      tf.gradients(total, x)[0]], feeds)
        assert got[0].tolist() == [2.0, 4.0] and got[1] == {"n": 3} and has and not none
        assert g.tolist() == [8.0, 16.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)does not have a value.*test_optional.py.*Fix:"):
            sess.run(missing.get_value())


def test_gradients_of_what_is_used_twice() -> None:
    """Sums of gradients of an optional, and components of which nothing is used."""
    x = tf.constant([1.0, 3.0])
    held = tf.experimental.Optional.from_value([x, x * x])
    y = tf.reduce_sum(held.get_value()[0] * 5.0) + tf.reduce_sum(held.get_value()[1])
    with tf.Session() as sess:
        assert sess.run(tf.gradients(y, x)[0]).tolist() == [7.0, 11.0]


def test_eagerly() -> None:
    """The same in eager mode, under a tape."""
    with context.use(context.EAGER):
        x = tf2.constant([1.0, 2.0])
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = tf2.experimental.Optional.from_value(x * x).get_value() * 3.0
        assert tape.gradient(y, x).numpy().tolist() == [6.0, 12.0]


def test_in_branches_and_loops() -> None:
    """Optionals pass through `cond` and `while_loop`; an iterator that a function is given gives them."""
    with context.use(context.EAGER):
        @tf2.function
        def total(iterator: Any) -> Any:
            def body(x: Any, s: Any) -> Any:
                s += tf2.cond(x.has_value(), lambda: x.get_value()[0], lambda: 0.0)
                return iterator.get_next_as_optional(), s

            last, s = tf2.while_loop(lambda x, _: x.has_value(), body, (iterator.get_next_as_optional(), 0.0))
            return tf2.experimental.Optional.from_value({"s": s, "none": None}), last

        data = tf2.data.Dataset.from_tensor_slices(([1.0, 2.0, 4.0], ["a", "b", "c"]))
        there, last = total(iter(data))
        assert isinstance(there, tf2.experimental.Optional) and isinstance(there.element_spec["s"], tf2.TensorSpec)
        assert there.get_value()["s"].numpy() == 7.0 and there.get_value()["none"] is None
        assert not last.has_value()


def test_of_composites() -> None:
    """Sparse and ragged tensors inside."""
    with context.use(context.EAGER):
        x = tf2.sparse.from_dense([[0, 1], [2, 0]])
        again = tf2.experimental.Optional.from_value((x, tf2.ragged.constant([[1], []]))).get_value()
        assert tf2.sparse.to_dense(again[0]).numpy().tolist() == [[0, 1], [2, 0]] and again[1].to_list() == [[1], []]
