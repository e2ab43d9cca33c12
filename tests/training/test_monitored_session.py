"""Monitored sessions and their hooks."""

from __future__ import annotations

import logging
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad import errors
from graphgrad.training.sessions import evaluation


@pytest.fixture
def count() -> Any:
    """A fresh graph with a global step; the operation that raises it."""
    with tf.Graph().as_default():
        yield tf.assign_add(tf.train.get_or_create_global_step(), 1)


class _Recorder(tf.train.SessionRunHook):
    """Writes down what is called, and fetches and feeds if asked to."""

    def __init__(self, log: list[Any], fetch: Any = None, feed: Any = None):
        self.log, self.fetch, self.feed = log, fetch, feed

    def begin(self) -> None:
        assert not tf.get_default_graph().finalized
        self.log.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        assert tf.get_default_graph().finalized
        self.log.append(("created", int(session.run(tf.train.get_global_step()))))

    def before_run(self, run_context: Any) -> Any:
        self.log.append(("before", run_context.original_args.fetches is not None))
        return tf.train.SessionRunArgs(self.fetch, self.feed)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.log.append(("after", run_values.results))

    def end(self, session: Any) -> None:
        self.log.append("end")


def test_order_of_calls(count: Any) -> None:
    """A hook is called before the session, around each run, and at the end; then the graph can grow again."""
    log: list[Any] = []
    with tf.train.MonitoredSession(hooks=[_Recorder(log, tf.constant(7))]) as session:
        assert session.run(count) == 1 and not session.should_stop()
        assert session.graph is tf.get_default_graph()
    assert log == ["begin", ("created", 0), ("before", True), ("after", 7), "end"]
    assert session.should_stop() and session.graph is None
    assert not tf.get_default_graph().finalized
    with pytest.raises(RuntimeError, match="the session is closed"):
        session.run(count)


def test_an_error_skips_the_end(count: Any) -> None:
    """Errors pass, and hooks' `end` is not called; the end of the data is an orderly end."""
    for error, called in ((ValueError("no"), False), (errors.OutOfRangeError(None, None, "over"), True)):
        log: list[Any] = []
        if called:
            with tf.train.MonitoredSession(hooks=[_Recorder(log)]):
                raise error
        else:
            with pytest.raises(ValueError, match="no"), tf.train.MonitoredSession(hooks=[_Recorder(log)]):
                raise error
        assert (log[-1] == "end") is called


@pytest.mark.parametrize(("arguments", "expected"), [({"num_steps": 3}, 3), ({"last_step": 2}, 2)])
def test_stop_at_step(count: Any, arguments: Any, expected: int) -> None:
    """It stops after so many steps, or at a step; a run beyond that is refused."""
    with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(**arguments)]) as session:
        while not session.should_stop():
            last = session.run(count)
        with pytest.raises(RuntimeError, match="Run called even after should_stop requested"):
            session.run(count)
    assert last == expected


def test_training_session_saves_and_goes_on(count: Any, tmp_path: pathlib.Path) -> None:
    """Checkpoints at the start, every so many steps and at the end; summaries; a second session goes on."""
    v = tf.get_variable("v", initializer=0.0)
    step = tf.group(count, v.assign_add(2.0))
    tf.summary.scalar("value", v)
    folder = str(tmp_path)
    arguments = {"checkpoint_dir": folder, "save_checkpoint_steps": 2, "save_checkpoint_secs": None,
                 "save_summaries_steps": 1, "log_step_count_steps": 1}
    with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(num_steps=5)], **arguments) as session:
        while not session.should_stop():
            session.run(step)
    state = tf.train.get_checkpoint_state(folder)
    assert [p.rpartition("-")[2] for p in state.all_model_checkpoint_paths] == ["0", "2", "4", "5"]
    assert (tmp_path / "graph.pbtxt").read_text().startswith("node {")
    assert (tmp_path / "model.ckpt-5.meta").exists()
    file = next(tmp_path.glob("events.out.*"))
    found = [(e.step, e.summary.value[0].tag) for e in tf.train.summary_iterator(str(file)) if e.summary.value]
    assert {s for s, tag in found if tag == "value"} == {1, 2, 3, 4, 5}
    assert any(tag == "global_step/sec" for _, tag in found)
    with tf.train.MonitoredTrainingSession(**arguments) as session:
        assert session.run([tf.train.get_global_step(), v]) == [5, 10.0]


def test_scaffold(count: Any) -> None:
    """What a scaffold is given is run; what it is not given is made; feeds and functions arrive."""
    x = tf.placeholder(tf.float32, [])
    v = tf.Variable(1.0, name="v")
    local = tf.get_local_variable("local", initializer=5.0)
    seen: list[Any] = []
    scaffold = tf.train.Scaffold(
        init_op=[tf.global_variables_initializer(), v.assign(x)], init_feed_dict={x: 3.0},
        init_fn=lambda s, session: seen.append((s is scaffold, float(session.run(v)))))
    with tf.control_dependencies([v.initializer]):
        scaffold._init_op = [v.assign(x), tf.train.get_global_step().initializer]
    with tf.train.SingularMonitoredSession(scaffold=scaffold) as session:
        assert session.run([v, local]) == [3.0, 5.0]
        assert session.raw_session().run(v) == 3.0
    assert seen == [(True, 3.0)]
    assert scaffold.saver is not None and scaffold.local_init_op is not None and scaffold.summary_op is None
    copied = tf.train.Scaffold(copy_from_scaffold=scaffold)
    assert copied.init_op is scaffold.init_op
    with pytest.raises(TypeError, match="not a Scaffold"):
        tf.train.Scaffold(copy_from_scaffold=3)


def test_not_initialized(count: Any) -> None:
    """A variable that the scaffold forgets is named."""
    tf.Variable(1.0, name="forgotten")
    scaffold = tf.train.Scaffold(init_op=tf.train.get_global_step().initializer)
    with pytest.raises(RuntimeError, match="forgotten.*Fix:"):
        tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold))


def test_feeds(count: Any) -> None:
    """Hooks and the program feed together; both for one tensor is an error."""
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    total = x + y
    with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {x: 1.0})]) as session:
        assert session.run(total, {y: 2.0}) == 3.0
        with pytest.raises(RuntimeError, match="Two hooks .* feed"):
            session.run(total, {x: 2.0, y: 1.0})


def test_nan(count: Any) -> None:
    """A loss that is NaN ends the training, by an error or in order."""
    x = tf.placeholder(tf.float32, [])
    for fail in (True, False):
        with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(x * 1.0, fail)]) as session:
            session.run(count, {x: 1.0})
            if fail:
                with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss during training"):
                    session.run(count, {x: np.nan})
            else:
                session.run(count, {x: np.nan})
                assert session.should_stop()


def test_logging(count: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Values are logged every so many runs, by tag, or as a function words them; and at the end."""
    same = tf.identity(count, name="same")
    hooks = [tf.train.LoggingTensorHook({"n": count}, every_n_iter=2),
             tf.train.LoggingTensorHook([same.name], at_end=True, formatter=lambda v: f"end {next(iter(v.values()))}")]
    final = tf.train.FinalOpsHook(tf.train.get_global_step() * 10)
    logger = tf.get_logger()
    logger.addHandler(caplog.handler)
    tf.logging.set_verbosity(tf.logging.INFO)
    try:
        with caplog.at_level(logging.INFO), tf.train.MonitoredSession(hooks=[*hooks, final]) as session:
            for _ in range(3):
                session.run(count)
    finally:
        logger.removeHandler(caplog.handler)
    lines = [r.getMessage() for r in caplog.records]
    assert any(t == "n = 1" for t in lines) and any(t.startswith("n = 3 (") for t in lines)
    assert not any(t.startswith("n = 2") for t in lines) and "end 4" in lines
    assert final.final_ops_values in (30, 40)
    for bad in ({}, {"every_n_iter": 1, "every_n_secs": 1.0}):
        with pytest.raises(ValueError, match="exactly one of every_n_iter and every_n_secs"):
            tf.train.LoggingTensorHook([], **bad)
    with pytest.raises(ValueError, match="invalid every_n_iter=0"):
        tf.train.LoggingTensorHook([], every_n_iter=0)


def test_run_step_fn(count: Any) -> None:
    """A function drives the session, with and without hooks, and can stop it."""
    log: list[Any] = []

    def step(step_context: Any) -> Any:
        step_context.session.run(count)
        if step_context.run_with_hooks(count) >= 4:
            step_context.request_stop()
        return "went"

    with tf.train.MonitoredSession(hooks=[_Recorder(log)]) as session:
        assert session.run_step_fn(step) == "went"
        assert [e for e in log if e[0] == "before"] == [("before", True)]
        with pytest.raises(ValueError, match="step_context"):
            session.run_step_fn(lambda other: None)
        session.run_step_fn(step)
    assert log[-1] == "end"


def test_made_again(count: Any) -> None:
    """After an AbortedError the session is made again, and the run repeated."""
    log: list[Any] = []

    class Fails(tf.train.SessionRunHook):
        failed = False

        def after_run(self, run_context: Any, run_values: Any) -> None:
            if not self.failed:
                self.failed = True
                raise errors.AbortedError(None, None, "once")

    with tf.train.MonitoredSession(hooks=[_Recorder(log), Fails()]) as session:
        assert session.run(count) == 1
    assert [e for e in log if e[0] == "created"] == [("created", 0)] * 2
    with pytest.raises(errors.AbortedError), tf.train.SingularMonitoredSession(hooks=[Fails()]) as session:
        session.run(count)


@pytest.mark.parametrize("kind", [tf.train.MonitoredSession, tf.train.SingularMonitoredSession])
def test_a_caught_error_stops_nothing(count: Any, kind: Any) -> None:
    """After a run that failed, the session goes on, and later errors are raised as they are."""
    x = tf.placeholder(tf.float32, [2])
    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1)).get_next()
    log: list[Any] = []
    with kind(hooks=[_Recorder(log)]) as session:
        with pytest.raises(ValueError, match="feed"):
            session.run(x, {x: [1.0]})
        assert not session.should_stop() and session.run(element) == 0
        with pytest.raises(errors.OutOfRangeError):
            session.run(element)
        with pytest.raises(ZeroDivisionError):
            session.run_step_fn(lambda step_context: 1 / 0)
        assert not session.should_stop() and session.run(count) == 1
        session.run(element)
    assert log[-1] == "end"
    with pytest.raises(RuntimeError, match="already closed"):
        session.close()


class _Coordinated(tf.train.SessionRunHook):
    """Keeps the coordinator; counts the sessions."""

    sessions = 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.sessions += 1
        self.coord = coord

    def stop(self, error: Exception) -> None:
        """Stops the session as a thread that failed does."""
        try:
            raise error
        except Exception as e:
            self.coord.request_stop(e)


def test_errors_of_threads(count: Any) -> None:
    """They stop the session, are raised when it is closed, and leave the errors of runs alone."""
    x = tf.placeholder(tf.float32, [])
    hook = _Coordinated()
    with pytest.raises(KeyError), tf.train.MonitoredSession(hooks=[hook]) as session:
        hook.stop(KeyError("of a thread"))
        assert session.should_stop() and session.run(count) == 1
        with pytest.raises(errors.InvalidArgumentError):
            session.run(x)
    with pytest.raises(KeyError), tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        hook.stop(KeyError("of a thread"))
        session.should_stop()


def test_threads_that_lose_the_session(count: Any) -> None:
    """An AbortedError of a thread lets the session be made again; so does one in a function of `run_step_fn`."""
    hook = _Coordinated()
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        hook.stop(errors.UnavailableError(None, None, "lost"))
        assert not session.should_stop() and hook.sessions == 2

        def step(step_context: Any) -> Any:
            if hook.sessions == 2:
                raise errors.AbortedError(None, None, "lost")
            return step_context.run_with_hooks(count)

        assert session.run_step_fn(step) == 1 and hook.sessions == 3


def test_checkpoint_listeners(count: Any, tmp_path: pathlib.Path) -> None:
    """Listeners hear of each save, and can stop the training."""
    log: list[Any] = []

    class Listener(tf.train.CheckpointSaverListener):
        def before_save(self, session: Any, global_step_value: int) -> None:
            log.append(("before", global_step_value))

        def after_save(self, session: Any, global_step_value: int) -> Any:
            log.append(("after", global_step_value))
            return global_step_value >= 2

        def end(self, session: Any, global_step_value: int) -> None:
            log.append(("end", global_step_value))

    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1, saver=tf.train.Saver(), listeners=[Listener()])
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            session.run(count)
    assert log == [("before", 0), ("after", 0), ("before", 1), ("after", 1), ("before", 2), ("after", 2), ("end", 2)]
    with pytest.raises(ValueError, match="both saver and scaffold"):
        tf.train.CheckpointSaverHook(str(tmp_path), saver=1, scaffold=2)


def test_waiting_for_a_step(count: Any) -> None:
    """A run waits until the step that another run raises has been reached; the step that is there is enough."""
    with tf.train.MonitoredSession() as session:
        session.run(count)
    with pytest.raises(RuntimeError, match="Global step should be created"), tf.Graph().as_default():
        tf.constant(1.0)
        tf.train.MonitoredSession(hooks=[tf.train.GlobalStepWaiterHook(1)])
    hook = tf.train.GlobalStepWaiterHook(1)
    scaffold = tf.train.Scaffold(init_fn=lambda s, session: session.run(count))
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold), [hook]) as session:
        assert session.run(count) == 2


def test_timer_arguments() -> None:
    """A timer needs one way to count."""
    with pytest.raises(ValueError, match="Either every_secs or every_steps"):
        tf.train.SecondOrStepTimer()
    with pytest.raises(ValueError, match="Can not provide both"):
        tf.train.SecondOrStepTimer(1.0, 1)
    timer = tf.train.SecondOrStepTimer(every_secs=1000.0)
    assert timer.should_trigger_for_step(1)
    assert timer.update_last_triggered_step(1) == (None, None)
    assert not timer.should_trigger_for_step(100)
    assert timer.last_triggered_step() == 1


def test_evaluation_of_a_checkpoint(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    """Runs are counted until the hook's number, or until data end; then the last values are fetched."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("v", initializer=2.0)
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "c"))
    for number, expected in ((3, 6.0), (None, 10.0)):
        with tf.Graph().as_default(), caplog.at_level(logging.INFO, "tensorflow"):
            v = tf.get_variable("v", initializer=0.0)
            total = tf.get_local_variable("total", initializer=0.0)
            item = tf.data.make_one_shot_iterator(tf.data.Dataset.range(5)).get_next()
            add = tf.assign_add(total, v + 0.0 * tf.cast(item, tf.float32))
            hook = evaluation.StopAfterNEvalsHook(number)
            step = evaluation.get_or_create_eval_step()
            found = evaluation.evaluate_once(path, eval_ops=add, final_ops={"total": total, "runs": step}, hooks=[hook])
            assert found == {"total": expected, "runs": expected / 2} and step in tf.local_variables()
            tf.add_to_collection(tf.GraphKeys.EVAL_STEP, v)
            with pytest.raises(ValueError, match="Multiple tensors added to tf.GraphKeys.EVAL_STEP"):
                evaluation.get_or_create_eval_step()
    assert "Evaluation [3/3]" in caplog.text and "Evaluation [5]" in caplog.text


def test_a_named_checkpoint_has_to_be_there(count: Any, tmp_path: pathlib.Path) -> None:
    """A checkpoint that is named and missing is an error; a folder without one is a new start."""
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(checkpoint_dir=str(tmp_path))) as sess:
        assert sess.run(count) == 1
    creator = tf.train.ChiefSessionCreator(checkpoint_filename_with_path=str(tmp_path / "none"))
    with pytest.raises(ValueError, match="not a valid checkpoint"):
        tf.train.MonitoredSession(creator)
