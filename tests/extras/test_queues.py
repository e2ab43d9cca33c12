"""Queues, readers and input pipelines: as TensorFlow's; threads that wait, and what wakes them."""

from __future__ import annotations

import json
import pathlib
import threading
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import context

from .queue_cases import CASES, files

pytestmark = pytest.mark.usefixtures("graph")
_RECORDED = json.loads((pathlib.Path(__file__).parents[1] / "recorded" / "queues.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_as_tensorflow(name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, shapes, values, errors of each case are those of TensorFlow."""
    monkeypatch.chdir(tmp_path)
    files()
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=30000)) as sess:
        found = CASES[name](tf, sess)
    _compare(found, _RECORDED[name], name)


def _compare(found: Any, recorded: Any, where: str) -> None:
    if isinstance(recorded, list) and isinstance(found, list):
        assert len(found) == len(recorded), f"{where}: {found} is not {recorded}"
        for i, (f, r) in enumerate(zip(found, recorded, strict=True)):
            _compare(f, r, f"{where}[{i}]")
    else:
        assert found == recorded, f"{where}: {found} is not {recorded}"


class _Thread(threading.Thread):
    """A run in a thread of its own, which keeps its result or its error."""

    def __init__(self, sess: Any, fetch: Any):
        super().__init__(daemon=True)
        self.sess, self.fetch = sess, fetch
        self.result: Any = None
        self.start()

    def run(self) -> None:
        try:
            self.result = self.sess.run(self.fetch)
        except Exception as e:
            self.result = e

    def waits(self, queue: Any, line: str) -> None:
        """Returns when this thread stands in line."""
        held = next(c for c in self.sess._cells.values() if c.name == queue.queue_ref.op.name).held.item()
        while not getattr(held, line):
            assert self.is_alive()

    def end(self) -> Any:
        """The result."""
        self.join(60)
        assert not self.is_alive()
        return self.result


def test_what_wakes_who_waits() -> None:
    """Elements, room, closing, closing with cancelling, and the end of the session each wake a waiting run."""
    q = tf.FIFOQueue(1, tf.int32, [[]])
    put, out, two = q.enqueue(1), q.dequeue(), q.dequeue_many(2)
    close, cancel, size = q.close(), q.close(cancel_pending_enqueues=True), q.size()
    with tf.Session() as sess:
        sess.run(size)
        waiting = _Thread(sess, out)
        waiting.waits(q, "_dequeuers")
        sess.run(put)
        assert waiting.end() == 1
        sess.run(put)
        waiting = _Thread(sess, put)
        waiting.waits(q, "_enqueuers")
        assert sess.run(out) == 1 and waiting.end() is None
        waiting = _Thread(sess, two)  # takes the one that is there, and gives it back
        waiting.waits(q, "_dequeuers")
        sess.run(close)
        assert isinstance(waiting.end(), tf.errors.OutOfRangeError)
        assert "requested 1, current size 0" in str(waiting.result) and sess.run(out) == 1
    with tf.Session() as sess:
        sess.run(put)
        waiting = _Thread(sess, put)
        waiting.waits(q, "_enqueuers")
        sess.run(cancel)
        assert isinstance(waiting.end(), tf.errors.CancelledError)
        assert "Enqueue operation was cancelled" in waiting.result.message
        assert waiting.result.op is put and "Fix:" in waiting.result.message and "test_queues.py" in str(waiting.result)
    sess = tf.Session()
    sess.run(size)
    waiting = _Thread(sess, out)
    waiting.waits(q, "_dequeuers")
    sess.close()
    assert isinstance(waiting.end(), tf.errors.CancelledError)
    assert "Dequeue operation was cancelled" in str(waiting.result)


def test_close_waits_its_turn() -> None:
    """A queue closes when those who waited for room before have found it, as in TensorFlow."""
    q = tf.FIFOQueue(1, tf.int32, [[]])
    put, out, close, closed = q.enqueue(1), q.dequeue(), q.close(), q.is_closed()
    with tf.Session() as sess:
        sess.run(put)
        waiting = _Thread(sess, put)
        waiting.waits(q, "_enqueuers")
        closing = _Thread(sess, close)
        assert [sess.run(out), sess.run(out)] == [1, 1]
        assert waiting.end() is None and closing.end() is None and sess.run(closed)


def test_limits_of_time() -> None:
    """A limit for a session or for one run: DeadlineExceededError, and the queue is as if nobody had come."""
    q = tf.FIFOQueue(2, tf.int32, [[]])
    put, two = q.enqueue(1), q.dequeue_many(2)
    with tf.Session() as sess:
        sess.run(put)
        with pytest.raises(tf.errors.DeadlineExceededError, match="(?s)QueueDequeueManyV2.*Timed out.*Fix:"):
            sess.run(two, options=tf.RunOptions(timeout_in_ms=20))
        sess.run(put)
        assert sess.run(two).tolist() == [1, 1]
    with (
        tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20)) as sess,
        pytest.raises(tf.errors.DeadlineExceededError),
    ):
        sess.run(two)


def test_taken_once() -> None:
    """A run whose plan changes on the way takes an element out once; each reader of it sees the same."""
    q = tf.FIFOQueue(20, [tf.float32, tf.int32])
    x, shape = q.dequeue()
    x.set_shape([None])
    result = tf.reduce_sum(tf.reshape(x * 2.0, tf.abs(shape * 1)), 0)
    with tf.Session() as sess:
        for i in range(5):
            sess.run(q.enqueue([np.full(6, i, np.float32), [2, 3] if i % 2 else [3, 2]]))
        found = [sess.run(result).tolist() for _ in range(5)]
        assert found == [[i * (4.0 if i % 2 else 6.0)] * (3 if i % 2 else 2) for i in range(5)]
        assert sess.run(q.size()) == 0


def test_many_threads() -> None:
    """Runs of several threads share queues and variables; nothing is lost, nothing doubled."""
    q = tf.FIFOQueue(5, tf.int32, [[]])
    value = tf.placeholder(tf.int32, [None])
    put, out = q.enqueue_many([value]), q.dequeue()
    total = tf.Variable(0)
    add = total.assign_add(out)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())

        def feed(part: int) -> None:
            sess.run(put, {value: np.arange(part, 60, 3)})

        threads = [threading.Thread(target=feed, args=(part,)) for part in range(3)]
        for t in threads:
            t.start()
        for _ in range(60):
            sess.run(add)
        for t in threads:
            t.join()
        assert sess.run(total) == sum(range(60))


def test_feeds_are_copied() -> None:
    """An array that is fed can be changed afterwards; the queue has what it was."""
    q = tf.FIFOQueue(5, tf.float32, [[2]])
    fed = tf.placeholder(tf.float32, [2])
    array = np.ones(2, np.float32)
    with tf.Session() as sess:
        sess.run(q.enqueue(fed), {fed: array})
        array[:] = 7
        assert sess.run(q.dequeue()).tolist() == [1, 1]


def test_in_eager_mode_and_in_functions() -> None:
    """Queues work at once in eager mode, and inside of functions; readers and pipelines say that they do not."""
    with context.use(context.EAGER):
        q = tf2.queue.FIFOQueue(5, [tf2.float32], shapes=[[]])

        @tf2.function
        def through(x: Any) -> Any:
            q.enqueue(x)
            q.enqueue(x + 1.0)
            return q.dequeue() * 10.0

        assert float(through(tf2.constant(2.0))) == 20.0
        assert int(q.size()) == 1 and float(q.dequeue()) == 3.0
        q.close()
        assert bool(q.is_closed())
        with pytest.raises(tf2.errors.OutOfRangeError, match="closed and has insufficient elements"):
            q.dequeue()
        with pytest.raises(RuntimeError, match="(?s)tf.data.*Fix:"):
            tf.TextLineReader()
        with pytest.raises(RuntimeError, match="(?s)tf.data.*Fix:"):
            tf.train.string_input_producer(["x"])


def test_errors_of_runners() -> None:
    """An error in a runner's thread stops the coordinator, which raises it; without one the runner keeps it."""
    q = tf.FIFOQueue(5, tf.float32, [[]])
    failing = q.enqueue(tf.py_func(_fails, [], tf.float32))
    runner = tf.train.QueueRunner(q, [failing])
    tf.train.add_queue_runner(runner)
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        assert {t.daemon for t in threads} == {True} and len(threads) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of paper"):
            coord.join(threads)
        assert sess.run(q.is_closed()) and runner.exceptions_raised == []
    with pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
        tf.train.QueueRunner(q)
    with pytest.raises(TypeError, match="tuple of tf.error types"):
        tf.train.QueueRunner(q, [failing], queue_closed_exception_types=(ValueError,))
    with pytest.raises(ValueError, match="No default session"):
        tf.train.start_queue_runners()


def _fails() -> Any:
    raise ValueError("out of paper")


def test_meta_graph_with_runners(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline goes through a MetaGraphDef: the runners of the imported graph fill its queues."""
    monkeypatch.chdir(tmp_path)
    files()
    names = tf.train.string_input_producer(["a.csv"], num_epochs=1, shuffle=False)
    line = tf.TextLineReader(skip_header_lines=1).read(names).value
    tf.add_to_collection("batch", tf.train.batch([line], 2))
    tf.train.export_meta_graph("pipeline.meta")
    with tf.Graph().as_default():
        tf.train.import_meta_graph("pipeline.meta", import_scope="again")
        (batch,) = tf.get_collection("batch")
        names = [r.name for r in tf.get_collection("queue_runners")]
        assert names == ["again/input_producer", "again/batch/fifo_queue"]
        with tf.Session() as sess:
            sess.run(tf.local_variables_initializer())
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coord)
            assert sess.run(batch).tolist() == [b"1,2.5,x", b'3,,"y, z"']
            coord.request_stop()
            coord.join(threads)


def test_monitored_session_runs_pipelines() -> None:
    """A monitored session starts the runners, ends at the end of the data, and stops the threads."""
    number = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    pair = tf.train.batch([number], 2)
    found = []
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            found.append(sess.run(pair).tolist())
    assert found == [[0, 1], [2, 3]]


def test_bad_pipelines() -> None:
    """What does not fit is refused where it is built."""
    with pytest.raises(ValueError, match="(?s)requires a non-null input tensor.*Fix:"):
        tf.train.string_input_producer([])
    with pytest.raises(ValueError, match="num_epochs must be > 0 not 0"):
        tf.train.limit_epochs(tf.constant(1), 0)
    with pytest.raises(ValueError, match="(?s)fully defined shape.*Fix:"):
        tf.train.input_producer(tf.placeholder(tf.float32))
    with pytest.raises(ValueError, match="(?s)Cannot infer Tensor's rank.*Fix:"):
        tf.train.batch([tf.placeholder(tf.float32)], 2)
    with pytest.raises(TypeError, match="Expected types to be consistent: float32 vs. int32"):
        tf.train.batch_join([[tf.zeros([])], [tf.constant(0)]], 2)
    with pytest.raises(ValueError, match="must be bigger than min_after_dequeue"):
        tf.train.shuffle_batch([tf.zeros([])], 2, 10, 10)
    with pytest.raises(ValueError, match="(?s)sparse tensors.*Fix:"):
        tf.train.batch([tf.SparseTensor([[0]], [1], [2])], 2)
    with pytest.raises(ValueError, match="(?s)shapes must be fully defined.*Fix:.*PaddingFIFOQueue"):
        tf.FIFOQueue(3, [tf.float32], [[None, 2]])
    assert tf.PaddingFIFOQueue(3, [tf.float32], [[None, 2]]).shapes[0].as_list() == [None, 2]
    with tf.Session() as sess:
        names = tf.train.string_input_producer(tf.placeholder_with_default(tf.zeros([0], tf.string), [None]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="non-null input tensor"):
            sess.run(tf.get_collection("queue_runners")[-1].enqueue_ops)
        assert sess.run(names.size()) == 0


def test_small_examples_stay_in_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What little is computed for a single example is NumPy's, at each run; a large one is compiled."""
    monkeypatch.setattr("graphgrad.executor.runtime.executable.first_in_numpy", True)
    q = tf.FIFOQueue(50, tf.float32)
    for size, on_host in ((3, True), (300, False)):
        value = tf.ones([size, size])
        put = q.enqueue([tf.matmul(value, value)])
        with tf.Session() as sess:
            for _ in range(3):
                sess.run(put)
            assert next(iter(sess._entries.values())).executable.plan.on_host is on_host
            assert sess.run(q.dequeue())[0, 0] == size


def test_supervisor(tmp_path: pathlib.Path) -> None:
    """A supervised program trains from a pipeline to the end of its data, and goes on from its checkpoint."""
    number = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    total = tf.Variable(0, name="total")
    step = tf.train.create_global_step()
    train = tf.group(total.assign_add(number), step.assign_add(1))
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0, save_summaries_secs=0)
    assert supervisor.summary_op is not None and supervisor.global_step is step
    with supervisor.managed_session() as sess:
        for _ in range(4):
            sess.run(train)
        supervisor.saver.save(sess, supervisor.save_path, step)
        assert 'name: "total"' in (tmp_path / "graph.pbtxt").read_text()
        while not supervisor.should_stop():
            sess.run(train)
    assert supervisor.coord.joined
    with supervisor.managed_session() as sess:
        assert sess.run([total, step]) == [6, 4]
    with pytest.raises(ZeroDivisionError), supervisor.managed_session():
        1 / 0  # noqa: B018  # it raises


def test_session_manager() -> None:
    """What was not initialized is named; nothing to initialize with is an error."""
    tf.Variable(1.0, name="a")
    b = tf.Variable(2.0, name="b")
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    with pytest.raises(RuntimeError, match="(?s)did not make model ready.*Variables not initialized: a.*Fix:"):
        manager.prepare_session("", init_op=b.initializer)
    with pytest.raises(RuntimeError, match="(?s)no init_op or init_fn or local_init_op was given.*Fix:"):
        manager.prepare_session("")
    assert manager.recover_session("")[1] is False
    with pytest.raises(tf.errors.DeadlineExceededError, match="Variables not initialized: a, b"):
        manager.wait_for_session("", max_wait_secs=0)
    with manager.prepare_session("", init_fn=_initialize) as sess:
        assert sess.run(b) == 2.0


def _initialize(session: Any) -> None:
    session.run(tf.global_variables_initializer())


def test_loopers() -> None:
    """A looper's exception stops its coordinator; it needs one."""
    coord = tf.train.Coordinator()
    tf.train.LooperThread.loop(coord, 0.0, _fails)
    with pytest.raises(ValueError, match="out of paper"):
        coord.join()
    with pytest.raises(ValueError, match="must be a Coordinator"):
        tf.train.LooperThread(None, 1.0)
