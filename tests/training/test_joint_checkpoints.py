"""Checkpoints that several processes write together: one bundle, whole whenever one of them ends."""

from __future__ import annotations

import json
import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.training.checkpoints.bundle import BundleReader
from tests.support.effort import long
from tests.support.launched import launched

_PROGRAM = """
    import json, os, signal, sys
    import numpy as np
    import graphgrad.v1 as tf

    devices, action = int(sys.argv[1]), sys.argv[2]
    count, me = int(os.environ["GRAPHGRAD_PROCESSES"]), int(os.environ["GRAPHGRAD_PROCESS"])
    rng = np.random.RandomState(0)
    w_value, v_value, fed = (rng.randn(*shape).astype("f") for shape in ([16, 8], [8, 4], [8, 16]))
    x = tf.placeholder(tf.float32, [8, 16])
    with tf.mesh(data=devices // 2, model=2):
        w = tf.shard(tf.get_variable("w", initializer=w_value), ["data", "model"])
        v = tf.shard(tf.get_variable("v", initializer=v_value), ["model"])
    b = tf.get_variable("b", initializer=np.ones(4, "f"))
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(x, w)), v) + b))
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, tf.train.get_or_create_global_step())
    saver = tf.train.Saver()

    def kill_at(number):
        calls = []
        def counted(call):
            def run(*args, **kwargs):
                calls.append(1)
                if len(calls) == number:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*args, **kwargs)
            return run
        for name in ("replace", "link", "unlink", "fsync"):
            setattr(os, name, counted(getattr(os, name)))
        return calls

    with tf.Session(config=tf.ConfigProto(device_count={"CPU": devices // count})) as session:
        if action == "restore":
            saver.restore(session, "c/m")
        else:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(step, {x: fed})
            saver.save(session, "c/m")
        losses = [float(session.run([loss, step], {x: fed})[0]) for _ in range(3)]
        print(json.dumps(losses))
        if action == "kill":
            calls = kill_at(int(sys.argv[4])) if me == int(sys.argv[3]) else []
            try:
                saver.save(session, "c/m")
                print("calls", len(calls))
            except tf.errors.OpError as e:
                print(type(e).__name__)
        elif action == "restore":
            saver.save(session, "c/m")
"""


def _whole(folder: pathlib.Path) -> list[float]:
    """Restores the checkpoint in this process, without a mesh, and trains on; returns the losses."""
    rng = np.random.RandomState(0)
    w_value, v_value, fed = (rng.randn(*shape).astype("f") for shape in ([16, 8], [8, 4], [8, 16]))
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [8, 16])
        w, v = tf.get_variable("w", initializer=w_value), tf.get_variable("v", initializer=v_value)
        b = tf.get_variable("b", initializer=np.ones(4, "f"))
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(x, w)), v) + b))
        step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, tf.train.get_or_create_global_step())
        with tf.Session() as session:
            tf.train.Saver().restore(session, str(folder / "c" / "m"))
            return [float(session.run([loss, step], {x: fed})[0]) for _ in range(3)]


def _run(folder: pathlib.Path, count: int, *arguments: Any) -> list[Any]:
    status, lines, errors = launched(folder, _PROGRAM, count, *arguments)
    assert status == 0, errors
    assert all(lines[i] == lines[0] for i in range(count))
    return list(json.loads(lines[0][0]))


def test_two_processes_and_one(tmp_path: pathlib.Path) -> None:
    """What two processes write, one reads without a mesh; each process has a file."""
    losses = _run(tmp_path, 2, 4, "save")
    names = {"m.data-00000-of-00002", "m.data-00001-of-00002", "m.index", "m.meta", "checkpoint"}
    assert {p.name for p in (tmp_path / "c").iterdir()} == names
    reader = BundleReader(str(tmp_path / "c" / "m"))
    assert reader.is_sliced("w") and reader.is_sliced("w/Momentum") and not reader.is_sliced("b")
    np.testing.assert_allclose(_whole(tmp_path), losses, rtol=1e-5)


@long("it takes four processes")
def test_four_processes_after_two(tmp_path: pathlib.Path) -> None:
    """Four processes go on where two have ended; files that belong to no index are removed."""
    losses = _run(tmp_path, 2, 4, "save")
    np.testing.assert_allclose(_run(tmp_path, 4, 4, "restore"), losses, rtol=1e-5)
    assert {p.name for p in (tmp_path / "c").iterdir()} == {
        *(f"m.data-0000{i}-of-00004" for i in range(4)), "m.index", "m.meta", "checkpoint"}
    found = _whole(tmp_path)
    assert found[0] < losses[2]
    np.testing.assert_allclose(_run(tmp_path, 2, 4, "restore"), found, rtol=1e-5)


def _killed(folder: pathlib.Path, process: int, number: int) -> tuple[list[str], list[float]]:
    """Kills a process at one of its calls of the system while a checkpoint is written over another one."""
    shutil.rmtree(folder / "c", ignore_errors=True)
    status, lines, errors = launched(folder, _PROGRAM, 2, 4, "kill", process, number)
    losses = json.loads(lines[1 - process][0])
    found = _whole(folder)
    old, new = np.allclose(found, losses, rtol=1e-5), found[0] < losses[2]
    assert old or new, (found, losses)
    if "calls" not in lines[process][-1]:
        assert status == 137 and lines[1 - process][1] in ("UnavailableError", "AbortedError"), (lines, errors)
    return lines[process], [old, new]


def test_a_process_is_killed_while_writing(tmp_path: pathlib.Path) -> None:
    """The earlier checkpoint stays whole where the first process ends when some of the new files have names."""
    lines, (old, _) = _killed(tmp_path, 0, 5)
    assert old and len(lines) == 1


@long("one call says it")
@pytest.mark.parametrize("process", [0, 1])
def test_a_process_is_killed_anywhere(tmp_path: pathlib.Path, process: int) -> None:
    """At whatever call a process ends, there is the earlier checkpoint or the new one."""
    number = 1
    while len(_killed(tmp_path, process, number)[0]) == 1:
        number += 1
    assert number > (9 if process == 0 else 1)


def test_hooks_and_errors(tmp_path: pathlib.Path) -> None:
    """The first process's clock says when to save; a directory that one cannot write is an error in both."""
    status, lines, errors = launched(tmp_path, """
        import os, time
        import numpy as np
        import graphgrad.v1 as tf

        me = int(os.environ["GRAPHGRAD_PROCESS"])
        with tf.mesh(a=2):
            w = tf.shard(tf.get_variable("w", initializer=np.zeros([4, 2], "f")), ["a"])
        step = tf.group(tf.assign_add(w, tf.ones([4, 2])), tf.assign_add(tf.train.get_or_create_global_step(), 1))
        with tf.train.MonitoredTrainingSession(checkpoint_dir="c", save_checkpoint_secs=0.2) as session:
            for _ in range(6):
                time.sleep(0.1 * me)
                session.run(step)
        print(tf.train.list_variables("c"))
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        for path in ("c/m" if me else "c/n", "x/m" if me == 0 else "file/m", "c/last"):
            if me:
                open("file", "w").close()
            try:
                print(tf.train.Saver().save(session, path))
            except tf.errors.OpError as e:
                print(type(e).__name__, "Fix:" in str(e), str(e).replace("\\n", " "))
            except ValueError as e:
                print(type(e).__name__, "Fix:" in str(e), str(e).replace("\\n", " "))
    """)
    assert status == 0, errors
    first, second = lines[0], lines[1]
    assert first[0] == second[0] == "[('global_step', []), ('w', [4, 2])]"
    for found in (first[1], second[1]):
        assert found.startswith("InvalidArgumentError True") and "the checkpoint 'm'" in found
    assert "process 1 cannot write the checkpoint: file" in first[2] and first[2].startswith("FailedPrecondition")
    assert second[2].startswith(("ValueError True", "FailedPreconditionError True")) and "file" in second[2]
    assert first[3] == second[3] == "c/last"


def test_objects(tmp_path: pathlib.Path) -> None:
    """`tf.train.Checkpoint` and its manager write together, too; eager mode sees all of a value."""
    status, lines, errors = launched(tmp_path, """
        import numpy as np
        import graphgrad as tf

        mesh = tf.mesh(a=2)
        v = tf.shard(tf.Variable(np.arange(8.0).reshape(4, 2)), ["a"], mesh=mesh)
        step = tf.function(lambda: v.assign_add(tf.ones([4, 2], tf.float64)))
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), "c", 2)
        for _ in range(3):
            step()
            manager.save()
        print(v.numpy().tolist(), manager.latest_checkpoint)
        again = tf.shard(tf.Variable(np.zeros([4, 2])), [None, "a"], mesh=mesh)
        tf.train.Checkpoint(v=again).restore(tf.train.latest_checkpoint("c"))
        print((tf.function(lambda: again * 2.0)() / 2.0).numpy().tolist(), again.numpy().tolist())
    """)
    assert status == 0, errors
    wanted = str((np.arange(8.0).reshape(4, 2) + 3).tolist())
    assert lines[0] == lines[1] == [f"{wanted} c/ckpt-3", f"{wanted} {wanted}"]
    names = {p.name for p in (tmp_path / "c").iterdir()}
    assert names == {"checkpoint", *(f"ckpt-{n}{end}" for n in (2, 3) for end in (
        ".index", ".data-00000-of-00002", ".data-00001-of-00002"))}
