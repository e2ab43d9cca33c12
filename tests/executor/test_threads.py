"""Several threads on the same variables: no update is lost, nobody waits for ever, nobody sees what is gone."""

import signal
import threading

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime import executable
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import context

THREADS, TIMES = 4, 25


@pytest.fixture(autouse=True, params=["compiled", "NumPy first"])
def engine(request, monkeypatch):
    monkeypatch.setattr(executable, "first_in_numpy", request.param == "NumPy first")
    with tf.Graph().as_default():
        yield


def eagerly(work):
    """The same work in eager mode, which each thread enters for itself."""

    def inside(number):
        with context.use(context.EAGER):
            work(number)

    return inside


def at_once(work, count=THREADS):
    """Calls `work(number)` in threads; raises the first error."""
    errors = []

    def guarded(number):
        try:
            work(number)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=guarded, args=(n,), daemon=True) for n in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        while t.is_alive() and not errors:
            t.join(0.1)
    if errors:
        raise errors[0]


def often(call):
    return lambda number: [call(number) for _ in range(TIMES)]


def started(session=tf.Session):
    sess = session()
    sess.run(tf.global_variables_initializer())
    return sess


@pytest.mark.parametrize("session", [tf.Session, HostSession])
@pytest.mark.parametrize("is_resource", [True, False])
@pytest.mark.parametrize("shape", [(), (70, 70)])
def test_no_addition_is_lost(session, is_resource, shape):
    v = tf.Variable(tf.zeros(shape), use_resource=is_resource)
    add = v.assign_add(tf.ones(shape))
    sess = started(session)
    at_once(often(lambda _: sess.run(add)))
    np.testing.assert_array_equal(sess.run(v), np.full(shape, THREADS * TIMES))


def test_each_run_gets_what_it_made():
    v = tf.Variable(tf.zeros([50, 50]), use_resource=True)
    add = v.assign_add(tf.ones([50, 50]))
    sess = started()
    seen = []
    at_once(often(lambda _: seen.append(sess.run(add))))
    assert all((a == a[0, 0]).all() for a in seen)
    assert sorted(a[0, 0] for a in seen) == list(range(1, THREADS * TIMES + 1))


def test_scatter_and_different_runs_on_one_variable():
    v = tf.Variable(tf.zeros([5]), use_resource=True)
    where = tf.placeholder(tf.int32, [None])
    calls = [v.assign_add(tf.ones([5])), v.assign_sub(tf.ones([5])), v.assign(v * 1.0 + 1.0),
             tf.scatter_add(v, where, tf.ones_like(where, tf.float32))]
    sess = started()
    at_once(often(lambda n: sess.run(calls[n], {where: [1, 3, 3]} if n == 3 else None)))
    np.testing.assert_array_equal(sess.run(v), np.array([1, 2, 1, 3, 1]) * TIMES)


def test_optimizers_lose_no_step():
    w = tf.Variable([4.0, -4.0])
    adam = tf.train.AdamOptimizer(1e-3)
    train = adam.minimize(tf.reduce_sum(tf.square(w)), global_step=(step := tf.train.get_or_create_global_step()))
    sess = started()
    at_once(often(lambda _: sess.run(train)))
    power, _ = adam._get_beta_accumulators()
    assert sess.run(step) == THREADS * TIMES
    np.testing.assert_allclose(sess.run(power), 0.9 ** (THREADS * TIMES + 1), rtol=1e-4)


def test_variables_in_any_order():
    a, b = tf.Variable(0.0), tf.Variable(0.0)
    one = [a.assign_add(1.0), b.assign(b + 1.0)]
    other = [b.assign_add(1.0), a.assign(a + 1.0)]
    sess = started()
    at_once(often(lambda n: sess.run(other if n % 2 else one)))
    assert sess.run([a, b]) == [THREADS * TIMES] * 2


def test_actors_and_learners_with_a_queue():
    v, queue = tf.Variable(0.0), tf.FIFOQueue(3, [tf.float32])
    put, learn = queue.enqueue(v * 0.0 + 1.0), v.assign_add(queue.dequeue())
    seen = tf.Variable(0)
    act = [put, seen.assign_add(1)]
    sess = started()
    at_once(often(lambda n: sess.run(act if n % 2 else learn)))
    assert sess.run(v) == THREADS // 2 * TIMES
    assert sess.run(seen) == THREADS // 2 * TIMES


def test_functions_of_the_users_are_called_once_and_hold_nobody_up():
    v = tf.Variable(0.0)
    calls, others = [], threading.Event()

    def wait():
        calls.append(None)
        assert others.wait(120)
        return np.float32(1.0)

    slow, quick = v.assign_add(tf.py_func(wait, [], tf.float32)), v.assign_add(10.0)
    sess = started()

    def work(number):
        if number:
            sess.run(slow)
        else:
            for _ in range(TIMES):
                sess.run(quick)
            others.set()

    at_once(work)
    assert len(calls) == THREADS - 1
    assert sess.run(v) == 10 * TIMES + THREADS - 1


def test_loops_that_call_python_and_change_what_others_change_are_refused():
    v = tf.Variable(0.0)
    began, others = threading.Event(), threading.Event()

    def wait():
        began.set()
        assert others.wait(120)
        return np.float32(1.0)

    def body(i):
        with tf.control_dependencies([v.assign_add(tf.py_func(wait, [], tf.float32))]):
            return i + 1

    loop, quick = tf.while_loop(lambda i: i < 2, body, [0]), v.assign_add(10.0)
    sess = started()

    def work(number):
        if number:
            with pytest.raises(tf.errors.AbortedError, match="(?s)another thread has changed.*Fix:"):
                sess.run(loop)
        else:
            assert began.wait(120)
            sess.run(quick)
            others.set()

    at_once(work, 2)
    assert sess.run(v) == 10.0
    sess.run(loop)
    assert sess.run(v) == 12.0


def test_readers_see_whole_values_that_are_there():
    v = tf.Variable(tf.zeros([300, 300]))
    add, total = v.assign_add(tf.ones([300, 300])), tf.reduce_max(v) - tf.reduce_min(v)
    sess = started()

    def work(number):
        for _ in range(TIMES):
            if number == 0:
                sess.run(add.op)
            elif number == 1:
                value = sess.run(v)
                assert (value == value[0, 0]).all()
            else:
                assert sess.run(total) == 0.0

    at_once(work)


def test_random_numbers_are_drawn_once():
    x = tf.random_uniform([], seed=1)
    sess = tf.Session()
    drawn = []
    at_once(often(lambda _: drawn.append(float(sess.run(x)))))
    sess = tf.Session()
    assert sorted(drawn) == sorted(float(sess.run(x)) for _ in range(THREADS * TIMES))


def test_tables_keep_all_entries():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    key = tf.placeholder(tf.int64, [])
    insert, find = table.insert(key, key), table.lookup(key)
    sess = tf.Session()
    at_once(lambda n: [sess.run([find, insert], {key: 100 * n + i}) for i in range(TIMES)])
    assert sess.run(table.size()) == THREADS * TIMES


@pytest.mark.parametrize("is_one_shot", [True, False])
def test_iterators_give_each_element_once(is_one_shot):
    data = tf.data.Dataset.range(THREADS * TIMES)
    iterator = data.make_one_shot_iterator() if is_one_shot else data.make_initializable_iterator()
    total, element = tf.Variable(0, dtype=tf.int64), iterator.get_next()
    fetches = [element, total.assign_add(element).op]
    sess = started()
    if not is_one_shot:
        sess.run(iterator.initializer)
    seen = []

    def work(_):
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                seen.append(int(sess.run(fetches)[0]))

    at_once(work)
    assert sorted(seen) == list(range(THREADS * TIMES))
    assert sess.run(total) == sum(seen)


def test_time_runs_out_while_another_thread_has_the_variable():
    v = tf.Variable(0.0)
    add = v.assign_add(1.0)
    sess = started()
    sess.run(add)
    held, enough = threading.Event(), threading.Event()

    def hold():
        with sess._cells[v.op.name].lock:
            held.set()
            enough.wait(120)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        with pytest.raises(tf.errors.DeadlineExceededError, match="(?s)changes variable Variable.*Fix:"):
            sess.run(add, options=tf.RunOptions(timeout_in_ms=20))
        assert sess.run(v) == 1.0  # who reads waits for nobody
    finally:
        enough.set()
        thread.join()
    sess.run(add)
    assert sess.run(v) == 2.0


def test_an_interrupt_leaves_nothing_locked():
    a, v = tf.Variable(0.0), tf.Variable(0.0)
    both = [a.assign_add(1.0), v.assign_add(1.0)]
    sess = started()
    sess.run(both)
    held, enough = threading.Event(), threading.Event()

    def hold():
        with sess._cells[v.op.name].lock:
            held.set()
            enough.wait(120)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            sess.run(both)
    finally:
        signal.signal(signal.SIGALRM, before)
        enough.set()
        thread.join()
    at_once(often(lambda _: sess.run(both)))
    assert sess.run([a, v]) == [THREADS * TIMES + 1] * 2


def test_a_failed_run_leaves_nothing_locked():
    v, x = tf.Variable(0.0), tf.placeholder(tf.float32)
    with tf.control_dependencies([tf.Assert(x > 0.0, [x])]):
        add = v.assign_add(x)
    sess = started()

    def work(number):
        for _ in range(TIMES):
            if number:
                sess.run(add, {x: 1.0})
            else:
                with pytest.raises(tf.errors.InvalidArgumentError):
                    sess.run(add, {x: -1.0})

    at_once(work)
    assert sess.run(v) == (THREADS - 1) * TIMES


def test_eager_operations_and_functions():
    with context.use(context.EAGER):
        v, w = tf2.Variable(0.0), tf2.Variable(tf2.zeros([40]))
        table = tf2.lookup.experimental.MutableHashTable(tf2.int64, tf2.int64, -1)

        @tf2.function
        def step(x):
            v.assign_add(x)
            with tf2.GradientTape() as tape:
                loss = tf2.reduce_sum(w * tf2.random.uniform([40]))
            w.assign_sub(tape.gradient(loss, w) * 0.0 + 1.0)

    def work(number):
        for i in range(TIMES):
            if number % 2:
                step(tf2.constant(1.0))
                table.insert(tf2.constant(100 * number + i, tf2.int64), tf2.constant(1, tf2.int64))
            else:
                v.assign_add(1.0)
                w.scatter_sub(tf2.IndexedSlices([1.0], [3]))
                assert np.isfinite(w.numpy()).all()

    at_once(eagerly(work))
    with context.use(context.EAGER):
        entries, v, w = int(table.size()), v.numpy(), w.numpy()
    assert v == THREADS * TIMES
    assert w[3] == -THREADS * TIMES
    assert w[4] == -THREADS // 2 * TIMES
    assert entries == THREADS // 2 * TIMES


def test_gradients_of_random_functions_are_of_what_was_drawn():
    with context.use(context.EAGER):
        w = tf2.Variable(tf2.ones([8]))

        @tf2.function
        def drop(x):
            return x * tf2.random.uniform([8])

    def work(number):
        for _ in range(TIMES):
            with tf2.GradientTape() as tape:
                y = drop(w * 1.0)
            np.testing.assert_array_equal(tape.gradient(y, w).numpy(), y.numpy())

    at_once(eagerly(work))
