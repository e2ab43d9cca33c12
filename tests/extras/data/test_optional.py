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


def _even(i: Any) -> Any:
    """Returns an optional of a number, empty for odd ones."""
    kind = tf2.experimental.Optional
    return tf2.cond(i % 2 == 0, lambda: kind.from_value(i), lambda: kind.empty(tf2.TensorSpec([], tf2.int64)))


# What makes a data set of optionals, or of what they hold; its numbers in TensorFlow 2.21.
_SETS: dict[str, tuple[Any, list[Any]]] = {
    "one": (lambda D, o: D.from_tensors(o).map(lambda x: x.get_value() * 2), [6.0]),
    "pairs": (lambda D, o: D.from_tensors((o, [1, 2])).map(lambda x, y: x.get_value() + float(y[1])), [5.0]),
    "repeated": (lambda D, o: D.from_tensors(o).repeat(3).cache().shuffle(3).prefetch(1).map(lambda x: x.get_value()),
                 [3.0] * 3),
    "made": (lambda D, o: D.range(4).map(_even).map(lambda x: x.has_value()), [True, False, True, False]),
    "those there": (lambda D, o: D.range(4).map(_even).filter(lambda x: x.has_value()).map(lambda x: x.get_value()),
                    [0, 2]),
    "zipped": (lambda D, o: D.zip((D.from_tensors(o), D.from_tensors(o))).map(
        lambda a, b: a.get_value() * b.get_value()), [9.0]),
    "of data sets": (lambda D, o: D.range(3).map(tf2.experimental.Optional.from_value).flat_map(
        lambda x: D.from_tensors(x.get_value())), [0, 1, 2]),
    "generated": (lambda D, o: D.from_generator(
        lambda: iter([o]), output_signature=tf2.OptionalSpec(tf2.TensorSpec([], tf2.float32))).map(
        lambda x: x.get_value()), [3.0]),
    "in an optional": (lambda D, o: D.from_tensors(tf2.experimental.Optional.from_value((o, 2.0))).map(
        lambda x: x.get_value()[0].get_value() + x.get_value()[1]), [5.0]),
}


@pytest.mark.parametrize("name", _SETS)
def test_as_elements(name: str) -> None:
    """Data sets have optionals as elements, in eager mode and in functions."""
    make, expected = _SETS[name]
    with context.use(context.EAGER):
        data = make(tf2.data.Dataset, tf2.experimental.Optional.from_value(tf2.constant(3.0)))
        assert [x.numpy() for x in data] == expected
        total = tf2.function(lambda: data.reduce(0.0, lambda s, x: s + tf2.cast(x, tf2.float32)))()
        assert total.numpy() == sum(expected)


def test_elements_that_are_optionals() -> None:
    """What an iterator over them returns: optionals, and optionals of them; they have no batches and no rows."""
    with context.use(context.EAGER):
        kind = tf2.experimental.Optional
        held = kind.from_value(tf2.constant(3.0))
        data = tf2.data.Dataset.from_tensors(held)
        assert data.element_spec == tf2.OptionalSpec(tf2.TensorSpec([], tf2.float32))
        ((value,),) = [[x.get_value().numpy()] for x in data]
        assert value == 3.0 and data.get_single_element().get_value().numpy() == 3.0
        iterator = iter(data)
        assert iterator.get_next_as_optional().get_value().get_value().numpy() == 3.0
        assert not iterator.get_next_as_optional().has_value()
        for wrong, text in [(lambda: data.batch(2), "has no batches"), (lambda: data.padded_batch(2), "padded_batch"),
                            (lambda: tf2.data.Dataset.from_tensor_slices(held), "has no rows")]:
            with pytest.raises(TypeError, match=f"(?s){text}.*Fix:"):
                wrong()


def test_as_arguments() -> None:
    """Signatures, fields of extension types, and saved functions."""
    spec = tf2.OptionalSpec(tf2.TensorSpec([None], tf2.float32))
    with context.use(context.EAGER):
        total = tf2.function(lambda x: tf2.reduce_sum(x.get_value()), input_signature=[spec])
        held = tf2.experimental.Optional.from_value(tf2.constant([1.0, 2.0]))
        assert total(held).numpy() == 3.0 and spec.is_compatible_with(held)
        assert not tf2.OptionalSpec(tf2.TensorSpec([3], tf2.float32)).is_compatible_with(held)

        class Maybe(tf2.experimental.ExtensionType):  # type: ignore[misc]  # the base has no type
            held: tf2.experimental.Optional

        with tf2.GradientTape() as tape:
            x = tf2.constant([1.0, 2.0])
            tape.watch(x)
            y = total(tf2.function(lambda m: m.held)(Maybe(tf2.experimental.Optional.from_value(x * x))))
        assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]
