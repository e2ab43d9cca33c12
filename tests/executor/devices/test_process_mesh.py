"""A mesh over several processes: numbers are those of one process, and equal; programs that differ are told."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import membership, process_mesh
from tests.support.effort import long
from tests.support.launched import launched

_RNG = np.random.RandomState(0)
_W, _V, _X = _RNG.randn(16, 32).astype("f"), _RNG.randn(32, 4).astype("f"), _RNG.randn(8, 16).astype("f")

_TRAINING = """
    import json, os
    import numpy as np
    import graphgrad.v1 as tf
    import graphgrad.horovod as hvd

    hvd.init()
    me, count = hvd.rank(), hvd.size()
    rng = np.random.RandomState(0)
    w_value, v_value, fed = (rng.randn(*shape).astype("f") for shape in ([16, 32], [32, 4], [8, 16]))
    mine = np.where(np.arange(8)[:, None] // (8 // 2) == me // (count // 2), fed, 0.0)  # of the others' rows nothing
    x = tf.placeholder(tf.float32, [8, 16])
    with tf.mesh(data=2, model=2):
        w = tf.shard(tf.get_variable("w", initializer=w_value), [None, "model"], slots=["data", "model"])
        v = tf.shard(tf.get_variable("v", initializer=v_value), ["model"])
        h = tf.tanh(tf.matmul(tf.shard(x, ["data"]), w))
    loss = tf.reduce_mean(tf.square(tf.matmul(h, v)))
    optimizer = tf.train.AdamOptimizer(0.1)
    step = optimizer.minimize(loss)
    noise = tf.reduce_sum(tf.nn.dropout(w, keep_prob=0.5)) + tf.random_normal([])
    local = tf.reduce_sum(tf.shard(tf.fill([4, 2], float(me)), ["a"], mesh=tf.mesh(a=4 // count)))
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 4 // count})) as session:
        first = session.run(hvd.allreduce(tf.constant([me + 1.0]), op=hvd.Sum)).tolist()
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step], {x: mine})[0].item().hex() for _ in range(4)]
        same = [losses, *(a.tobytes().hex() for a in session.run([w, v, h, optimizer.get_slot(w, "m")], {x: mine})),
                *[session.run(noise).item().hex() for _ in range(2)], first,
                session.run(hvd.allreduce(loss), {x: mine}).item().hex()]
        (report,) = session.explain(step, {x: mine}).steps
        print(json.dumps([same, session.run(local).item(), report.device, report.device_bytes]))
"""


def _alone(steps: int) -> list[float]:
    """The same training in one process with four devices."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [8, 16])
        with tf.mesh(data=2, model=2):
            w = tf.shard(tf.get_variable("w", initializer=_W), [None, "model"], slots=["data", "model"])
            v = tf.shard(tf.get_variable("v", initializer=_V), ["model"])
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(tf.shard(x, ["data"]), w)), v)))
        step = tf.train.AdamOptimizer(0.1).minimize(loss)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 4})) as session:
            session.run(tf.global_variables_initializer())
            return [session.run([loss, step], {x: _X})[0].item() for _ in range(steps)]


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=long("two say the same"))])
def test_training(tmp_path: pathlib.Path, count: int) -> None:
    """Losses are those of one process to rounding; all values are the same bits in every process."""
    status, lines, errors = launched(tmp_path, _TRAINING, count)
    assert status == 0, errors
    found = [json.loads(lines[i][0]) for i in range(count)]
    assert all(f[0] == found[0][0] for f in found)
    same = found[0][0]
    np.testing.assert_allclose([float.fromhex(h) for h in same[0]], _alone(4), rtol=1e-5)
    assert same[5] != same[6] and same[7] == [count * (count + 1) / 2]  # random numbers go on; sums work beside
    for me, (_, local, device, held) in enumerate(found):
        assert local == 8 * me and device == "mesh:processes:data=2,model=2"
        assert len(held) == 4 // count and max(held) < 2 * 3 * 4 * (16 * 32 + 32 * 4) / 2


_DIFFERENT = """
    import json, os
    import numpy as np
    import graphgrad.v1 as tf

    me = int(os.environ["GRAPHGRAD_PROCESS"])
    mesh = tf.mesh(a=4)

    def session(count=2):
        return tf.Session(config=tf.ConfigProto(device_count={"CPU": count}))

    x, y = tf.placeholder(tf.float32, [4], "x"), tf.placeholder(tf.float32, [4], "y")
    split = tf.shard(x, ["a"], mesh=mesh)
    one, other = tf.reduce_sum(split), tf.reduce_max(split)
    same = np.ones(4)
    w = tf.shard(tf.get_variable("w", initializer=np.arange(4.0) + me), ["a"], mesh=mesh)
    v = tf.get_variable("v", [4])

    def made():
        s = session()
        s.run(v.initializer)
        return s.run(split * v, {x: same})

    def of(size):
        return session().run(tf.shard(tf.zeros([24]) + x[0], ["a"], mesh=tf.mesh(a=size)), {x: same})

    s = session()
    found = []
    for call in [lambda: s.run(split * y, {x: same, y: same + me}), lambda: s.run(split * y, {x: same, y: same}),
                 lambda: s.run(w.initializer), made,
                 lambda: s.run([one, other][me], {x: same}), lambda: [s.run(f, {x: same}) for f in (one, other)],
                 lambda: s.run([one, other][me], {x: same}), lambda: s.run(one, {x: same}),
                 lambda: of(3), lambda: of(8), lambda: session(4).run(tf.shard(x, ["b"], mesh=tf.mesh(b=4)), {x: same}),
                 lambda: session(3).run(tf.shard(tf.zeros([12]) + x[0], ["a"], mesh=tf.mesh(a=6)), {x: same})]:
        try:
            found.append(np.asarray(call()).tolist())
        except Exception as e:
            found.append(f"{type(e).__name__}: {e}")
    print(json.dumps(found))
"""


def test_programs_that_differ(tmp_path: pathlib.Path) -> None:
    """Values and programs that are not the same in all processes are errors in each of them, and the next run works."""
    status, lines, errors = launched(tmp_path, _DIFFERENT)
    assert status == 0, errors
    first, second = (json.loads(lines[i][0]) for i in range(2))
    wanted: list[Any] = [
        ("what is fed as 'y:0', float32[4], has another value in process 1 than in process 0", "e.g. with a seed"),
        [1.0] * 4, ("the variable 'w', float64[4], has another value", "e.g. with a seed"),
        ("the variable 'v', float32[4], has another value", "e.g. with a seed"),
        ("step over all of them", "same calls in the same order"), [4.0, 1.0],
        ("call over all of them, process", "same calls in the same order"), 4.0,
        ("needs 3 devices; there is a processor that counts as 2, in each of 2 processes", "or of 4, those of all"),
        ("needs 8 devices", "a mesh of 2 devices, those of each process"), [1.0] * 4,
        ("has 2 devices in a mesh over all processes already, and cannot have 3", "the same device_count")]
    for i, (found, expected) in enumerate(zip(first, wanted, strict=True)):
        if isinstance(expected, tuple):
            for text in (found, second[i]):
                problem, remedy = expected
                assert text.startswith("InvalidArgumentError: ") and problem in text, (i, text)
                assert remedy in text.partition("Fix: ")[2], (i, text)
        else:
            assert found == second[i] == expected, i
    for i, what in ((4, "'Sum'"), (6, "'Max'")):
        assert what in first[i] and what in second[i]  # both say both


def test_clusters_have_no_mesh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of a cluster of TensorFlow 1, which may leave and come back, are refused."""
    monkeypatch.setattr(process_mesh, "count", lambda: 2)
    meetings = membership.Meetings(lambda why: pytest.fail(why), lambda: None, "worker 0")
    monkeypatch.setattr(membership, "meetings", lambda: meetings)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.shard(tf.random.uniform([4]), ["a"], mesh=tf.mesh(a=2))
        with pytest.raises(tf.errors.UnimplementedError, match="(?s)the mesh a=2 over.*Fix: start"):
            session.run(x)


def test_a_process_is_killed(tmp_path: pathlib.Path) -> None:
    """The others' next run fails at once, and so do further ones and reads of what is split."""
    status, lines, _ = launched(tmp_path, """
        import os, signal, time
        import numpy as np
        import graphgrad.v1 as tf

        with tf.mesh(a=4):
            w = tf.shard(tf.get_variable("w", initializer=np.arange(4.0)), ["a"])
        step = tf.assign_add(w, tf.ones([4], tf.float64) * tf.reduce_sum(w))
        session = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))
        session.run(w.initializer)
        session.run(step)
        if os.environ["GRAPHGRAD_PROCESS"] == "1":
            os.kill(os.getpid(), signal.SIGKILL)
        begun = time.monotonic()
        for what in (step, step, w):
            try:
                session.run(what)
            except tf.errors.OpError as e:
                print(type(e).__name__, time.monotonic() - begun < 300, "Fix:" in str(e))
    """)
    assert status == 137
    assert lines[0] == ["UnavailableError True True", "AbortedError True True", "AbortedError True True"]


def test_a_process_ends_early(tmp_path: pathlib.Path) -> None:
    """The others' next run says which process has ended, and nobody stands still; runs are counted alike before."""
    status, lines, errors = launched(tmp_path, """
        import os
        import numpy as np
        import graphgrad.v1 as tf
        from graphgrad.executor.backend import process_group

        with tf.mesh(a=2):
            w = tf.shard(tf.get_variable("w", initializer=np.arange(4.0)), ["a"])
        step = tf.assign_add(w, tf.ones([4], tf.float64) * tf.reduce_sum(w))
        session = tf.Session(config=tf.ConfigProto(device_count={"CPU": 1}))
        session.run(w.initializer)
        for i in range(2 if os.environ["GRAPHGRAD_PROCESS"] == "1" else 3):
            try:
                session.run(step)
            except tf.errors.UnavailableError as e:
                print(str(e).replace("\\n", " "))
        print(process_group.group().exchanges)
    """)
    assert status == 0, errors
    said, count = lines[0]
    assert "process 0 of 2 asks for a program on the mesh a=2, and others have ended" in said and "Fix:" in said
    assert f"process 1 has ended its training after {count} programs and sums over all processes" in said
    assert lines[1] == [count]
