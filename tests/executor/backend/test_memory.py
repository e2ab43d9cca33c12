"""Memory that runs out: TensorFlow's error, which names the operation, and variables as they were."""

import functools
import gc

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import cache, memory_budget, memory_errors, xla
from graphgrad.executor.runtime import variable_locks
from graphgrad.ir import context
from graphgrad.training.checkpoints import bundle, bundle_writer

ROWS = 3_000_000  # their products with each other are 36 TB, more than there is anywhere
SMALL = np.ones([8, 4], np.float32)


def _large() -> np.ndarray:
    return np.ones([ROWS, 4], np.float32)


def _check(error: pytest.ExceptionInfo, op: str = "MatMul", shape: str = f"[{ROWS},{ROWS}]") -> None:
    text = str(error.value)
    assert text.startswith(f"{op} '"), text
    assert "OOM when allocating tensor with shape" + shape in text.replace(" ", " "), text
    assert "test_memory.py" in text, text
    assert "Fix: " in text, text
    assert error.value.op.type == op


@pytest.fixture(autouse=True)
def _let_go():
    """Errors hold on to their runs."""
    yield
    gc.collect()


@pytest.fixture
def eager():
    with context.use(context.EAGER):
        yield


@pytest.mark.parametrize(("optimizer", "warm"), [
    (tf.train.AdamOptimizer(0.1), 3), (tf.train.FtrlOptimizer(0.1), 3), (None, 3), (None, 0),
], ids=["adam", "ftrl", "assign", "first"])
def test_session(optimizer, warm) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 4])
        v = tf.Variable(tf.ones([4, 2]))
        count = tf.Variable(0)
        y = tf.matmul(x[:8], v) + tf.random_uniform([8, 2], seed=3)
        square = tf.matmul(x, x, transpose_b=True)
        train = optimizer.minimize(tf.reduce_sum(y**2)) if optimizer else v.assign_add(y[:4])
        step = [train, square, count.assign_add(1), y]
        sess.run(tf.global_variables_initializer())
        for _ in range(warm):
            sess.run(step, {x: SMALL})
        before = sess.run(tf.global_variables())
        for _ in range(2):
            with pytest.raises(tf.errors.ResourceExhaustedError) as error:
                sess.run(step, {x: _large()})
            _check(error)
        for old, new in zip(before, sess.run(tf.global_variables()), strict=True):
            np.testing.assert_array_equal(old, new)
        drawn = sess.run(step, {x: SMALL})[-1]
        assert sess.run(count) == warm + 1
        # What is drawn afterwards is what would have been drawn without the runs that failed.
        sess.run(tf.global_variables_initializer())
        for old, w in zip(before, tf.global_variables(), strict=True):
            w.load(old, sess)
        with tf.Session() as other:
            other.run(tf.global_variables_initializer())
            for _ in range(warm):
                other.run(step, {x: SMALL})
            np.testing.assert_allclose(other.run(step, {x: SMALL})[-1], drawn, rtol=1e-5)


@pytest.mark.parametrize("warm", [0, 3])
def test_function(warm, eager) -> None:
    v, w = tf2.Variable(tf2.zeros([4])), tf2.Variable(tf2.zeros([4]))

    @tf2.function(input_signature=[tf2.TensorSpec([None, 4], tf2.float32)])
    def step(x):
        v.assign_add(tf2.ones([4]))
        w.assign(v + x[0])
        return tf2.matmul(x, x, transpose_b=True)

    for _ in range(warm):
        step(SMALL)
    with pytest.raises(tf2.errors.ResourceExhaustedError) as error:
        step(_large())
    _check(error)
    np.testing.assert_array_equal(v.numpy(), np.full(4, warm, np.float32))
    step(SMALL)
    np.testing.assert_array_equal(w.numpy(), np.full(4, warm + 2, np.float32))


def test_constants(eager) -> None:
    size = [1 << 22, 1 << 22]
    for make in (lambda: tf2.zeros(size), lambda: tf2.Variable(lambda: tf2.ones(size)), lambda: tf2.fill(size, 1.0)):
        with pytest.raises(tf2.errors.ResourceExhaustedError, match=r"(?s)^Fill.*OOM.*test_memory.*Fix: "):
            make()
    with tf.Graph().as_default(), tf.Session() as sess:
        y = tf.constant(1.0, shape=size) + tf.placeholder_with_default(1.0, None)
        with pytest.raises(tf.errors.ResourceExhaustedError, match=r"(?s)^AddV2.*OOM.*test_memory.*Fix: "):
            sess.run(y)


def test_errors_do_not_keep_the_run() -> None:
    """Else no later run could write into the buffers of variables."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        v = tf.Variable(1.0)
        sess.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            sess.run(tf.debugging.check_numerics(x * v, ""), {x: [np.nan]})
        assert error.value.__traceback__ is not None
        assert not variable_locks.under_way


def test_eager(eager) -> None:
    with pytest.raises(tf2.errors.ResourceExhaustedError, match=r"(?s)^MatMul.*OOM.*Fix: "):
        tf2.matmul(_large(), _large(), transpose_b=True)


def test_loop() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 4])
        v = tf.Variable(0.0)
        n = tf.shape(x)[0]
        y = tf.while_loop(lambda i, _: i < 3, lambda i, s: (i + 1, tf.matmul(x, x, transpose_b=True) + s),
                          [0, tf.zeros([n, n])])[1]
        sess.run(v.initializer)
        add = v.assign_add(1.0)
        for _ in range(3):
            sess.run([add, y], {x: SMALL})
        with pytest.raises(tf.errors.ResourceExhaustedError, match="(?s)OOM.*Fix: "):
            sess.run([add, y], {x: _large()})
        assert sess.run(v) == 3


def test_more_than_the_system_has(monkeypatch) -> None:
    """What the system would promise, and end the process for later."""
    monkeypatch.setattr(memory_budget, "available", lambda: 1e6)
    with pytest.raises(MemoryError, match="needed at once, the system has 976.6 KiB"):
        memory_budget.reserve(2 << 30)
    memory_budget.reserve(1 << 20)


def test_a_python_function_that_lacks_memory() -> None:
    def fail(x):
        raise MemoryError("mine")

    with tf.Graph().as_default(), tf.Session() as sess:
        y = tf.py_func(fail, [1.0], tf.float32)
        with pytest.raises(tf.errors.ResourceExhaustedError, match="MemoryError: mine"):
            sess.run(y)


@pytest.mark.usefixtures("first_in_xla")
def test_compiling_is_tried_again(monkeypatch) -> None:
    """A program that could not be compiled for lack of memory is compiled when there is some."""
    cache.clear()
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        v = tf.Variable(0.0)
        y = [v.assign_add(tf.reduce_sum(tf.exp(x) * 1.2345)), x + 1]
        sess.run(v.initializer)
        sess.run(y, {x: np.zeros(1)})
        before = sess.run(v)

        def refuse():
            raise MemoryError

        with monkeypatch.context() as patch, pytest.raises(tf.errors.ResourceExhaustedError):
            patch.setattr(memory_budget, "reserve_to_compile", refuse)
            sess.run(y, {x: np.zeros(3)})
        assert sess.run(v) == before
        sess.run(y, {x: np.zeros(3)})
        np.testing.assert_allclose(sess.run(v), 4 * 1.2345, rtol=1e-6)


def test_what_cannot_be_kept(monkeypatch) -> None:
    """Where memory that was there is taken meanwhile, the error says which variables are lost, and nobody waits."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 4])
        v = tf.Variable(tf.zeros([4]), name="vanishing")
        step = [v.assign_add(tf.ones([4])), tf.matmul(x, x, transpose_b=True)]
        sess.run(v.initializer)
        for _ in range(3):
            sess.run(step, {x: SMALL})
        monkeypatch.setattr(xla, "_SPARE", float("inf"))
        monkeypatch.setattr(memory_budget, "reserve", lambda *sizes: None)
        with pytest.raises(tf.errors.ResourceExhaustedError, match=r"lost their values \(vanishing\): restore or init"):
            sess.run(step, {x: _large()})
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(v)
        sess.run(v.initializer)
        sess.run(step, {x: SMALL})
        np.testing.assert_array_equal(sess.run(v), np.ones(4))


def test_files(monkeypatch, tmp_path) -> None:
    """Saving and restoring are whole, and say what they lack."""
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(tf.zeros([4]))
        saver = tf.train.Saver()
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "model"))
        sess.run(v.assign_add(tf.ones([4])))

        fail = staticmethod(functools.partial(np.full, 1 << 58))  # more than there is anywhere
        with monkeypatch.context() as patch, pytest.raises(tf.errors.ResourceExhaustedError, match="(?s)OOM.*Fix: "):
            patch.setattr(bundle.BundleReader, "_value", fail)
            saver.restore(sess, path)
        with monkeypatch.context() as patch, pytest.raises(tf.errors.ResourceExhaustedError, match="(?s)OOM.*Fix: "):
            patch.setattr(bundle_writer, "_bytes", fail)
            saver.save(sess, path)
        np.testing.assert_array_equal(sess.run(v), np.ones(4))
        saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run(v), np.zeros(4))


def test_values_that_others_write_over_are_theirs(monkeypatch) -> None:
    """Only the program that was given a variable's buffer finds that its value is lost."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 4])
        v = tf.Variable(tf.zeros([4]))
        step = v.assign_add(tf.reduce_sum(tf.matmul(x, x, transpose_b=True)) * tf.ones([4]))
        sess.run(v.initializer)
        monkeypatch.setattr(memory_errors, "_is_lost", lambda cell: pytest.fail("looked at"))
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run([step, tf.debugging.check_numerics(v * x, "")], {x: [[np.nan] * 4]})


@pytest.fixture
def mappings(monkeypatch):
    """How many pieces of memory this process has mapped, of 1,000; counted for each program."""
    used = [100]
    monkeypatch.setattr(memory_budget, "mappings", lambda: (used[0], 1000))
    monkeypatch.setattr(memory_budget, "_EVERY", 1)
    monkeypatch.setattr(memory_budget, "_share", [0.0])
    return used


def test_old_programs_are_forgotten_before_mappings_run_out(mappings) -> None:
    """A dozen mappings a program: thousands of graphs in one process would end it."""
    cache.clear()

    def run(size: int) -> None:
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [size])
            assert sess.run(tf.reduce_sum(tf.tanh(x) * size), {x: np.zeros(size)}) == 0

    for size in range(1, 9):
        run(size)
    many = len(cache._entries)
    mappings[0] = 600
    run(9)
    assert len(cache._entries) == (many + 1) - (many + 1) // 2
    mappings[0] = 100
    run(1)  # is compiled again
    assert len(cache._entries) == (many + 1) - (many + 1) // 2 + 1


def test_nothing_is_compiled_without_mappings(mappings) -> None:
    """LLVM would end the process."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 4])
        v = tf.Variable(0.0)
        y = tf.matmul(x, x, transpose_b=True) + v.assign_add(1.0)
        sess.run(v.initializer)
        cache.clear()
        mappings[0] = 950
        with pytest.raises(tf.errors.ResourceExhaustedError, match=r"(?s)MatMul.*mapped nearly all of the 1000 pieces "
                           r"of memory.*vm\.max_map_count.*test_memory\.py.*Fix: ") as error:
            sess.run(y, {x: SMALL})
        del error
        assert sess.run(v.read_value()) == 0
        mappings[0] = 100
        assert sess.run(y, {x: SMALL}).shape == (8, 8)
        assert sess.run(v.read_value()) == 1


def test_mappings_are_counted() -> None:
    used, limit = memory_budget.mappings()
    assert (used, limit) == (0, 0) or 10 < used < limit
