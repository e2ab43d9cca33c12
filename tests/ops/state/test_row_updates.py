"""Updates of few rows in NumPy write to an array that nobody holds any more; whatever anybody holds stays as it was."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir.values import spare_arrays
from graphgrad.ir.values.array_rows import combine_rows, set_rows
from graphgrad.ops.state.variable_ops import _at, changeable
from tests.support.table import generator

ROWS, WIDTH = 40, 3


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spare_arrays, "LARGE", 1)


class _Program:
    """A table and its accumulator, and updates of several kinds."""

    def __init__(self) -> None:
        self.table = tf.get_variable("table", initializer=np.zeros((ROWS, WIDTH), np.float32))
        self.accumulator = tf.get_variable("accumulator", initializer=np.ones((ROWS, WIDTH), np.float32))
        self.rows = tf.placeholder(tf.int32, [None])
        self.numbers = tf.placeholder(tf.float32, [None, WIDTH])
        self.whole = tf.placeholder(tf.float32, [ROWS, WIDTH])
        nd = tf.expand_dims(self.rows, 1)
        added = tf.scatter_add(self.table, self.rows, self.numbers)
        with tf.control_dependencies([added]):
            twice = tf.scatter_sub(self.table, self.rows[:1], self.numbers[:1])
            fails = tf.debugging.check_numerics(self.numbers / 0.0, "divided by zero")
        raw: Any = tf.raw_ops
        self.updates = {
            "add": added, "subtract": tf.scatter_sub(self.table, self.rows, self.numbers),
            "set": tf.scatter_update(self.table, self.rows, self.numbers),
            "nd": tf.scatter_nd_add(self.table, nd, self.numbers), "twice": twice, "fails": fails,
            "assign": tf.assign(self.table, self.whole),
            "adagrad": raw.ResourceSparseApplyAdagrad(var=self.table.handle, accum=self.accumulator.handle, lr=0.1,
                                                      grad=self.numbers, indices=self.rows),
        }
        self.read = self.table.read_value()


class _Model:
    """The same in float64, all anew in each update."""

    def __init__(self) -> None:
        self.table, self.accumulator = np.zeros((ROWS, WIDTH)), np.ones((ROWS, WIDTH))

    def update(self, kind: str, rows: Any, numbers: Any, whole: Any) -> None:
        table, accumulator = self.table.copy(), self.accumulator.copy()
        if kind in ("add", "nd", "twice"):
            np.add.at(table, rows, numbers)
        if kind == "twice":
            table[rows[0]] -= numbers[0]
        if kind == "subtract":
            np.subtract.at(table, rows, numbers)
        if kind == "set":
            table[rows] = numbers
        if kind == "assign":
            table = whole.astype(np.float64)
        if kind == "adagrad":
            accumulator[rows] += numbers**2
            table[rows] -= numbers * 0.1 / np.sqrt(accumulator[rows])
        self.table, self.accumulator = table, accumulator


@pytest.mark.parametrize("seed", range(12))
def test_what_anybody_holds_stays_as_it_was(seed):
    rng = generator(f"row updates {seed}")
    with tf.Graph().as_default(), HostSession() as s:
        program, model = _Program(), _Model()
        s.run(tf.global_variables_initializer())
        held: list[tuple[Any, Any]] = []
        for _ in range(60):
            kind = str(rng.choice([*program.updates, "add", "add", "nd", "read", "load"]))
            rows = rng.choice(ROWS, int(rng.integers(1, 6)), replace=kind in ("add", "subtract", "nd")).astype(np.int32)
            numbers = rng.standard_normal((len(rows), WIDTH)).astype(np.float32)
            whole = rng.standard_normal((ROWS, WIDTH)).astype(np.float32)
            feeds = {program.rows: rows, program.numbers: numbers, program.whole: whole}
            if kind == "read":
                value = s.run(program.read)
                held.append((value, value.copy()))
            elif kind == "load":
                program.table.load(whole, s)
                model.update("assign", rows, numbers, whole)
            elif kind == "fails":
                with pytest.raises(tf.errors.InvalidArgumentError, match="divided by zero"):
                    s.run(program.updates[kind], feeds)
            else:
                s.run(program.updates[kind], feeds)
                model.update(kind, rows, numbers, whole)
            held.append((whole, whole.copy()))
            rows[:] = 0  # the caller's own again
            np.testing.assert_allclose(s.run(program.table), model.table, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(s.run(program.accumulator), model.accumulator, rtol=1e-4)
        for value, copy in held:
            np.testing.assert_array_equal(value, copy)


def test_two_arrays_take_turns():
    value, rows = np.zeros((ROWS, WIDTH)), np.array([1, 2])
    expected = value.copy()
    seen = [weakref.ref(value)]
    for i in range(8):
        value = changeable(np, value, rows + i)
        value[rows + i] += 1.0
        expected[rows + i] += 1.0
        seen.append(weakref.ref(value))
    assert all(seen[i]() is seen[i - 2]() is not None for i in range(2, 9))
    np.testing.assert_array_equal(value, expected)


def test_an_array_that_somebody_holds_is_not_written_to():
    first = np.zeros((ROWS, WIDTH))
    second = changeable(np, first, [0])
    second[0] = 1.0
    third = changeable(np, second, [1])  # `first` is held here
    third[1] = 2.0
    assert not first.any() and second.sum() == WIDTH and third.sum() == 3 * WIDTH
    part = second[:2]
    del second
    fourth = changeable(np, third, [2])  # and now a part of the second one
    fourth[2] = 3.0
    assert part.sum() == WIDTH and fourth.sum() == 6 * WIDTH


def test_a_part_of_another_array_is_not_kept():
    whole = np.zeros((2 * ROWS, WIDTH))
    value = changeable(np, whole[:ROWS], [0])
    value[0] = 1.0
    value = changeable(np, value, [1])
    value[1] = 1.0
    assert not whole.any()


def test_nothing_is_kept_for_values_that_are_gone():
    gc.collect()
    spare_arrays._before.clear()
    value = changeable(np, np.zeros((ROWS, WIDTH)), [0])
    assert len(spare_arrays._before) == 1
    del value
    assert not spare_arrays._before
    with tf.Graph().as_default(), HostSession() as s:
        program = _Program()
        s.run(tf.global_variables_initializer())
        for _ in range(3):
            s.run(program.updates["add"], {program.rows: [1, 2], program.numbers: np.ones((2, WIDTH))})
        assert len(spare_arrays._before) == 1
        s.run(program.updates["assign"], {program.whole: np.ones((ROWS, WIDTH))})
        gc.collect()
        assert not spare_arrays._before


def test_many_rows_and_small_arrays_are_copied(monkeypatch):
    spare_arrays._before.clear()
    values = [changeable(np, np.zeros((ROWS, WIDTH)), range(ROWS)),
              changeable(np, np.zeros((ROWS, WIDTH)), None)]
    monkeypatch.setattr(spare_arrays, "LARGE", 1 << 20)
    values.append(changeable(np, np.zeros((ROWS, WIDTH)), [0]))
    assert not spare_arrays._before and len(values) == 3


def test_threads_read_whole_values():
    """Each update adds one to two rows, so a value that is read has equal numbers in them."""
    with tf.Graph().as_default(), HostSession() as s:
        program = _Program()
        s.run(tf.global_variables_initializer())
        ended, torn = threading.Event(), []

        def read() -> None:
            while not ended.is_set():
                value = s.run(program.read)
                before = value.copy()
                if value[3, 0] != value[ROWS - 1, 2] or not np.array_equal(value, before):
                    torn.append(value)

        threads = [threading.Thread(target=read) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(300):
            s.run(program.updates["add"], {program.rows: [3, ROWS - 1], program.numbers: np.ones((2, WIDTH))})
        ended.set()
        for t in threads:
            t.join()
        assert not torn and s.run(program.read)[3, 0] == 300


@pytest.mark.parametrize("rows", [40, 700, 60_000])
@pytest.mark.parametrize("method", ["add", "subtract", "multiply", "min", "max"])
def test_many_rows_are_updated_in_their_order(method, rows):
    """Rows that occur several times give the same bits as one after the other."""
    rng = generator(method, rows)
    indices = rng.integers(0, rows, 30_000).astype(np.int32)
    value, updates = [rng.standard_normal((n, WIDTH)).astype(np.float32) for n in (rows, len(indices))]
    ufunc = {"min": np.minimum, "max": np.maximum}.get(method) or getattr(np, method)
    expected = value.copy()
    ufunc.at(expected, indices, updates)
    np.testing.assert_array_equal(_at(np, value, indices, updates, method), expected)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i8", "c8", "?", "O"])
def test_rows_are_set_and_combined_as_numpy_does(dtype, seed):
    rng = generator(f"rows {dtype} {seed}")
    for _ in range(20):
        count, number, rest = rng.integers(1, 20), rng.integers(0, 30), rng.integers(0, 4, rng.integers(0, 3))
        array = (5 * rng.standard_normal((count, *rest))).astype(dtype)
        values = (5 * rng.standard_normal((number, *rest))).astype(dtype)
        values = values if rng.integers(8) else np.asfortranarray(values)
        rows = rng.integers(0, count, number).astype(rng.choice(["i4", "i8"]))
        for given in (values, np.asarray(values.ravel()[:1].sum())):
            expected, result = array.copy(), array.copy()
            expected[rows] = given
            set_rows(result, rows, given)
            assert result.tolist() == expected.tolist()
        for ufunc in (np.add, np.subtract, np.maximum) if dtype in ("f4", "f8", "i8") else ():
            expected, result = array.copy(), array.copy()
            ufunc.at(expected, rows, values)
            combine_rows(result, rows, values, ufunc)
            assert result.tobytes() == expected.tobytes()
    with pytest.raises(IndexError):
        set_rows(np.zeros((3, 2)), np.array([3]), np.zeros((1, 2)))
