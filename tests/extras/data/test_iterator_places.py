"""Checkpoints of iterators: what comes after `restore` is what came after `save`, in random orders too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
import graphgrad.compat.v1 as v1
from graphgrad.ir import context

R = tf.data.Dataset.range


@pytest.fixture
def eager() -> Iterator[None]:
    with context.use(context.EAGER):
        yield


def _directed() -> Any:
    return tf.data.Dataset.choose_from_datasets([R(9).shuffle(9), R(10, 19).shuffle(4)], R(2).repeat(7))


CASES: dict[str, Callable[[], Any]] = {
    "in order": lambda: R(20).map(lambda i: i * i).batch(2),
    "seeded": lambda: R(10).shuffle(5, seed=3).batch(2),
    "without a seed": lambda: R(10).shuffle(5).batch(2),
    "repeated": lambda: R(6).shuffle(4).repeat(3),
    "one order": lambda: R(6).shuffle(4, reshuffle_each_iteration=False).repeat(3),
    "two orders": lambda: tf.data.Dataset.zip((R(5).shuffle(9), R(5, 10).shuffle(9))).map(lambda a, b: a * 100 + b)
    .shuffle(3).repeat(2),
    "one after the other": lambda: R(4).shuffle(4).concatenate(R(4, 8).shuffle(4)).repeat(2),
    "chosen": _directed,
    "sampled": lambda: tf.data.Dataset.sample_from_datasets([R(10), R(10, 20)], [0.5, 0.5]),
    "in functions": lambda: R(4).flat_map(lambda i: R(3).map(lambda j: i * 10 + j).shuffle(3)).shuffle(4),
    "interleaved": lambda: R(4).interleave(lambda i: R(3).map(lambda j: i * 10 + j).shuffle(3), cycle_length=2),
    "groups": lambda: R(12).group_by_window(lambda x: x % 2, lambda k, w: w.shuffle(9).batch(2), 3).unbatch(),
    "windows": lambda: R(12).window(3, shift=3).flat_map(lambda w: w.shuffle(3)),
    "numbers": lambda: tf.data.Dataset.random().take(20),
    "new numbers": lambda: tf.data.Dataset.random(rerandomize_each_iteration=True).take(4).repeat(4),
    "resampled": lambda: R(40).rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], [0.5, 0.5])
    .map(lambda a, b: b),
    "prefetched": lambda: R(20).shuffle(20).prefetch(3).take(15),
}


def _taken(iterator: Any, count: int) -> list[Any]:
    return [None if x is None else np.asarray(x).tolist() for x in (next(iterator, None) for _ in range(count))]


@pytest.mark.parametrize("case", CASES)
def test_what_comes_after(case: str, eager: None, tmp_path: Any) -> None:
    """In the iterator itself, in another one of the data set, and again."""
    dataset = CASES[case]()
    iterator = iter(dataset)
    _taken(iterator, 3)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "c"))
    wanted = _taken(iterator, 14)
    for other in (iterator, iter(dataset), iterator):
        _taken(other, 2)
        tf.train.Checkpoint(iterator=other).restore(path)
        assert _taken(other, 14) == wanted


@pytest.mark.parametrize("case", ["seeded", "without a seed", "one order", "in functions", "windows", "prefetched"])
def test_as_in_another_process(case: str, eager: None) -> None:
    """A data set that is made anew gives the rest of the pass in the saved order."""
    iterator = CASES[case]().as_numpy_iterator()
    _taken(iterator, 3)
    state, rest = iterator.save(), _taken(iterator, 3)
    made_anew = CASES[case]().as_numpy_iterator()
    made_anew.restore(state)
    assert _taken(made_anew, 3) == rest


def test_one_order_of_all_passes(eager: None) -> None:
    """`reshuffle_each_iteration=False` without a seed: an order is drawn once."""
    dataset = R(64).shuffle(64, reshuffle_each_iteration=False)
    passes = [_taken(iter(dataset), 64) for _ in range(2)]
    assert passes[0] == passes[1] != list(range(64))
    twice = _taken(iter(dataset.repeat(2)), 128)
    assert twice == passes[0] * 2


def test_places_of_older_checkpoints(eager: None) -> None:
    """They are the number of elements alone."""
    iterator = R(9).as_numpy_iterator()
    iterator.restore(b"4")
    assert _taken(iterator, 2) == [4, 5]


@pytest.mark.parametrize("state", [b"", b"x", b"[1, 2]", b"-1", b"[-1, 1, 1, 0]", b"[1, 1, 1, 2, 3]",
                                   b"[1, 1, 1, 0, 7]", b"[[1], 2]", b"99999999999999999999", b"[" * 100_000, None,
                                   "{}"])
def test_what_is_no_place(state: Any, eager: None) -> None:
    """The iterator stays where it is."""
    iterator = R(9).as_numpy_iterator()
    _taken(iterator, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)iterator.*Fix: "):
        iterator.restore(state)
    assert _taken(iterator, 2) == [3, 4]


@pytest.mark.parametrize("one_shot", [True, False])
def test_savers(one_shot: bool, tmp_path: Any) -> None:
    """Iterators of graphs, which a `Saver` finds in a collection."""
    with tf.Graph().as_default():
        dataset = v1.data.Dataset.range(30).shuffle(7).repeat()
        make = v1.data.make_one_shot_iterator if one_shot else v1.data.make_initializable_iterator
        iterator = make(dataset)
        element, w = iterator.get_next(), v1.get_variable("w", [], initializer=v1.zeros_initializer())
        v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
        saver = v1.train.Saver()
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            if not one_shot:
                with pytest.raises(tf.errors.FailedPreconditionError, match="iterator has not been initialized"):
                    saver.save(sess, str(tmp_path / "early"))
                sess.run(iterator.initializer)
            for _ in range(11):
                sess.run(element)
            path = saver.save(sess, str(tmp_path / "model"))
            wanted = [sess.run(element) for _ in range(40)]
            for _ in range(2):
                saver.restore(sess, path)
                assert [sess.run(element) for _ in range(19)] == wanted[:19]  # the rest of the pass
        with v1.Session() as sess:
            if not one_shot:
                sess.run(iterator.initializer)
            saver.restore(sess, path)
            assert [sess.run(element) for _ in range(19)] == wanted[:19]
            assert sess.run(w) == 0


def test_what_a_saver_cannot_save(eager: None) -> None:
    """Eager iterators, names of iterators, unknown policies."""
    make = tf.data.experimental.make_saveable_from_iterator
    with pytest.raises(ValueError, match=r"(?s)cannot be saved by a Saver.*Fix: .*tf\.train\.Checkpoint"):
        make(iter(R(3)))
    with pytest.raises(ValueError, match="Invalid `external_state_policy`. .* got 'nonsense'"):
        make(iter(R(3)), external_state_policy="nonsense")
    with tf.Graph().as_default():
        named = v1.data.Iterator.from_string_handle(v1.placeholder(tf.string, []), tf.int64, [])
        with pytest.raises(ValueError, match="cannot be saved by a Saver"):
            make(named)


def test_string_handles_of_a_finalized_graph() -> None:
    """A hook asks for them when the graph is finalized, as in TensorFlow; asked again, they are the same tensor."""
    with tf.Graph().as_default() as graph:
        numbers, letters = (v1.data.Dataset.range(2, 5), v1.data.Dataset.range(7, 9).repeat())
        first, second = v1.data.make_one_shot_iterator(letters), v1.data.make_initializable_iterator(numbers)
        handle = v1.placeholder(tf.string, [])
        element = v1.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
        graph.finalize()
        with v1.Session() as sess:
            names = sess.run([first.string_handle(), second.string_handle()])
            sess.run(second.initializer)
            assert [sess.run(element, {handle: names[i]}) for i in (0, 1, 1, 0)] == [7, 2, 3, 8]
        assert first.string_handle() is first.string_handle()
        assert graph.finalized
        with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
            element + 1
