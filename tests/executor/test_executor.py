"""The executor: clusters, merging, the caches, memory, and what a run leaves behind when it fails."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import batch_split, cache, disk_cache, xla
from graphgrad.executor.plan import partition
from graphgrad.executor.program.fingerprint import Form
from graphgrad.executor.program.interpreter import Instruction
from graphgrad.executor.program.plan_types import Cluster
from graphgrad.frontend.function.graph_slices import GraphSlice
from tests.support.effort import ALL


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def sess(graph):
    with tf.Session(graph=graph) as s:
        yield s


@pytest.fixture
def small(monkeypatch):
    """Lets short programs be cut, too."""
    monkeypatch.setattr(partition, "WHOLE", 4)
    monkeypatch.setattr(partition, "LIGHT", 4)
    monkeypatch.setattr(partition, "LARGEST", 8)
    monkeypatch.setattr(partition, "UNLIKE", 0)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty disk cache, and nothing in memory."""
    path = tmp_path / "programs"
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", str(path))
    cache.clear()
    yield path / "programs"
    cache.clear()


def layers(x, n, width=3):
    for _ in range(n):
        w = tf.Variable(np.eye(width, dtype=np.float32))
        x = tf.tanh(tf.matmul(x, w) + 0.1)
    return x


# -- the plan ----------------------------------------------------------------------------


def test_repeated_layers_are_one_program(sess, small):
    x = tf.placeholder(tf.float32, [2, 3])
    y = layers(x, 12)
    sess.run(tf.global_variables_initializer())
    report = sess.explain(y, {x: np.ones((2, 3))})
    assert len(report.steps) > 3 and report.programs <= 2
    assert {s.origin for s in report.steps} <= {"compiled", "reused", "disk"}
    want = np.ones((2, 3))
    for _ in range(12):
        want = np.tanh(want + 0.1)
    np.testing.assert_allclose(sess.run(y, {x: np.ones((2, 3))}), want, rtol=1e-5)


def test_short_programs_are_not_cut(sess):
    x = tf.placeholder(tf.float32, [2, 3])
    assert len(sess.explain(tf.tanh(x) * 2.0 + 1.0, {x: np.ones((2, 3))}).steps) == 1


@pytest.mark.parametrize("how", ["session", "function"])
def test_one_program_on_demand(small, how):
    x = np.ones((2, 3), np.float32)

    def f(x):
        for _ in range(20):
            x = tf.tanh(x + 1.0)
        return x

    if how == "session":
        options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1)
        config = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options))
        p = tf.placeholder(tf.float32, [2, 3])
        y = f(p)
        clusters = [len(tf.Session(config=c).explain(y, {p: x}).steps) for c in (config, None)]
    else:
        clusters = []
        for jit in (True, None):
            function = tf.function(f, jit_compile=jit)
            with tf.init_scope():
                concrete = function.get_concrete_function(tf.TensorSpec([2, 3]))
            part = GraphSlice(concrete.graph, concrete.inputs, concrete.outputs, [], {}, {}, concrete._engine)
            part.values([x])
            clusters.append(len(part._executable.plan.steps))
    assert clusters[0] == 1 < clusters[1]


def test_programs_without_repetition_are_not_cut(sess, monkeypatch):
    """What does not recur is not compiled twice anyway."""
    for limit in ("WHOLE", "LIGHT", "LARGEST"):
        monkeypatch.setattr(partition, limit, 4)
    x = tf.placeholder(tf.float32, [4])
    unlike = x
    for f in (tf.sin, tf.cos, tf.tanh, tf.exp, tf.sigmoid, tf.square, tf.sqrt, tf.abs, tf.floor, tf.ceil):
        unlike = f(unlike)
    alike = x
    for _ in range(60):
        alike = tf.sin(alike)
    steps = [len(sess.explain(y, {x: np.ones(4)}).steps) for y in (unlike, alike)]
    assert steps[0] == 1 < steps[1]


def test_equal_operations_run_once(sess):
    calls = []

    x = tf.placeholder(tf.float32, [2])
    a, b = tf.exp(x), tf.exp(x)
    report = sess.explain(a * b + tf.exp(x), {x: [0.0, 1.0]})
    assert report.steps[0].operations["Exp"] == 1
    # Draws, host functions and what waits for something stay as they are.
    draws = sess.run([tf.random_uniform([3]), tf.random_uniform([3])])
    assert not np.array_equal(*draws)
    twice = [tf.py_func(lambda v: calls.append(1) or v, [x], tf.float32) for _ in range(2)]
    sess.run(twice, {x: [1, 2]})
    assert len(calls) == 2
    with tf.control_dependencies([a]):
        late = tf.exp(x)
    assert sess.explain([a, late], {x: [0.0, 1.0]}).steps[0].operations["Exp"] == 2


def test_operations_that_differ_are_not_merged(sess):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    zero, minus = tf.constant(0.0), tf.constant(-0.0)
    got = sess.run([tf.reduce_sum(x, 0), tf.reduce_sum(x, 1), tf.matmul(x, x), tf.matmul(x, x, transpose_a=True),
                    1 / zero, 1 / minus])
    want = [[4, 6], [3, 7], [[7, 10], [15, 22]], [[10, 14], [14, 20]], np.inf, -np.inf]
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)


def test_values_die_after_their_last_reader(sess, small):
    x = tf.placeholder(tf.float32, [1000])
    y = x
    for _ in range(60):
        y = tf.tanh(y) + 1.0
    report = sess.explain(y, {x: np.ones(1000)})
    assert len(report.steps) >= 10
    assert report.peak_bytes <= 5 * 4000  # not 60 of them


# -- what a report says ------------------------------------------------------------------


def test_report(sess):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable(np.ones((3, 2), np.float32))
    y = tf.py_func(lambda v: v + 1, [tf.matmul(x, w)], tf.float32)
    z = tf.reduce_sum(y)
    sess.run(tf.global_variables_initializer())
    report = sess.explain(z, {x: np.ones((4, 3))})
    assert [s.kind for s in report.steps] == ["cluster", "host", "cluster"]
    text = str(report)
    assert text.startswith("3 steps: 2 clusters, 2 programs, 1 on the host; at most ")
    assert "MatMul" in text and "PyFunc" in text
    assert report.steps[0].output_bytes == 32
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    assert sess.run(z, {x: np.ones((4, 3))}, options=options, run_metadata=metadata) == 4 * 2 * 4
    assert metadata.peak_bytes == metadata.report.peak_bytes > 0
    quiet = tf.RunMetadata()
    sess.run(z, {x: np.ones((4, 3))}, run_metadata=quiet)
    assert quiet.report is None and not quiet.ListFields()


def test_explaining_changes_nothing(sess):
    v = tf.Variable([1.0, 2.0])
    step = tf.assign_add(v, tf.random_uniform([2], seed=1))
    sess.run(tf.global_variables_initializer())
    sess.explain(step)
    np.testing.assert_array_equal(sess.run(v), [1, 2])
    other = tf.Session()
    other.run(tf.global_variables_initializer())
    np.testing.assert_array_equal(sess.run(step), other.run(step))


# -- caches ------------------------------------------------------------------------------


def test_sessions_share_programs(folder):
    x = tf.placeholder(tf.float32, [2])
    y = tf.tanh(x) * 3.0
    for _ in range(2):
        tf.Session().run(y, {x: [1, 2]})
    assert len(cache._entries) == 1


def test_disk_cache(sess, folder):
    x = tf.placeholder(tf.float32, [2])
    y = tf.tanh(x) * 3.0
    want = sess.run(y, {x: [1, 2]})
    assert len(list(folder.glob("*.program"))) == 1
    assert folder.stat().st_mode & 0o077 == 0
    with pytest.MonkeyPatch.context() as patch:
        cache.clear()
        patch.setattr(xla.Device, "compile", None)
        with tf.Session() as s:
            assert s.explain(y, {x: [1, 2]}).steps[0].origin == "disk"
            np.testing.assert_array_equal(s.run(y, {x: [1, 2]}), want)


@pytest.mark.parametrize("damage", ["cut", "flipped", "foreign", "empty", "not a program"])
def test_damaged_entries_are_replaced(sess, folder, damage):
    x = tf.placeholder(tf.float32, [2])
    y = tf.tanh(x) * 5.0
    want = sess.run(y, {x: [1, 2]})
    (path,) = folder.glob("*.program")
    good = path.read_bytes()
    if damage == "not a program":  # sound as a file, and nothing that XLA could load
        path.unlink()
        disk_cache.write(path.stem, {"outputs": [[[2], "float32"]]}, b"nonsense")
    else:
        half = len(good) // 2
        path.write_bytes({"cut": good[:half], "foreign": b"something else", "empty": b"",
                          "flipped": good[:half] + bytes([good[half] ^ 1]) + good[half + 1 :]}[damage])
    cache.clear()
    with tf.Session() as s:
        assert s.explain(y, {x: [1, 2]}).steps[0].origin == "compiled"
        np.testing.assert_array_equal(s.run(y, {x: [1, 2]}), want)
    cache.clear()
    with tf.Session() as s:
        assert s.explain(y, {x: [1, 2]}).steps[0].origin == "disk"


def test_an_entry_under_another_name_does_not_count(folder):
    disk_cache.write("a" * 64, {"outputs": []}, b"code")
    os.rename(folder / ("a" * 64 + ".program"), folder / ("b" * 64 + ".program"))
    assert disk_cache.read("b" * 64) is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no owners of files here")
def test_a_directory_that_others_can_write_to_is_not_used(sess, monkeypatch, tmp_path):
    path = tmp_path / "shared"
    path.mkdir()
    path.chmod(0o777)
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", str(path))
    assert not disk_cache.enabled()
    assert sess.run(tf.constant(2.0) * 3.5 + 0.125) == 7.125
    assert list(path.iterdir()) == []


def test_the_cache_can_be_off_and_is_bounded(sess, monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", "")
    assert disk_cache.directory() is None and not disk_cache.enabled()
    names = [f"{i:064}.program" for i in range(4)]
    for i, name in enumerate([*names, "my.program", "array.npy"]):
        (tmp_path / name).write_bytes(b"x" * 100)
        os.utime(tmp_path / name, (i, i))
    assert disk_cache.shrink(tmp_path, 250) == 200
    assert sorted(p.name for p in tmp_path.iterdir()) == [*names[2:], "array.npy", "my.program"]


def test_a_full_disk_is_no_error(sess, folder, monkeypatch):
    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk_cache.Part, "__init__", fail)
    x = tf.placeholder(tf.float32, [2])
    np.testing.assert_allclose(sess.run(tf.exp(x) * 7.0, {x: [0, 0]}), [7, 7])


def test_a_second_process_needs_neither_compiler_nor_jax(folder):
    program = textwrap.dedent("""
        import sys
        import numpy as np
        import graphgrad.v1 as tf
        x = tf.placeholder(tf.float32, [None, 3])
        w = tf.Variable(np.ones((3, 2), np.float32))
        inverse = tf.matrix_inverse(tf.matmul(w, w, transpose_b=True) + tf.eye(3))  # a program that calls LAPACK
        loss = tf.reduce_mean(tf.reshape(tf.tanh(tf.matmul(x, w)), [-1, tf.shape(x)[0]])) + tf.trace(inverse)
        loss += tf.reduce_sum(tf.linalg.svd(w, compute_uv=False))  # only JAX lowers it
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(2):
                value = sess.run([loss, train], {x: np.ones((4, 3))})[0]
        print(value, "jax" in sys.modules)
    """)
    outputs = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}).stdout.split()
               for _ in range(2)]
    assert outputs[0][0] == outputs[1][0]
    assert [o[1] for o in outputs] == ["True", "False"]


def test_values_are_compiled_in_by_value(sess):
    n = tf.placeholder(tf.int32, [])
    y = tf.ones(tf.stack([n, 2]))
    assert [sess.run(y, {n: k}).shape for k in (3, 5, 3)] == [(3, 2), (5, 2), (3, 2)]


def test_what_decides_a_shape_is_compiled_in_and_not_what_it_follows_from(sess):
    """Lengths are new in each batch; the longest one is not."""
    lengths, x = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, None])
    y = tf.reduce_sum(x * tf.sequence_mask(lengths, tf.reduce_max(lengths), tf.float32))
    for given in ([1, 4], [4, 2], [4, 4], [3, 4]):
        assert sess.run(y, {lengths: given, x: np.ones((2, 4))}) == sum(given)
    stages = sess._entry(y, {lengths: [1, 4], x: np.ones((2, 4))}).executable.plan.stages
    assert [len(stage.bound) for stage in stages] == [1, 1]
    assert sess.run(y, {lengths: [2, 3], x: np.ones((2, 3))}) == 5
    assert len(stages[-1].bound) == 2


def test_a_graph_that_grew(sess, folder):
    x = tf.placeholder(tf.float32, [2])
    y = tf.tanh(x)
    sess.run(y, {x: [1, 2]})
    before = set(cache._entries)
    z = y * 11.0
    np.testing.assert_allclose(sess.run(z, {x: [1, 2]}), np.tanh([1, 2]) * 11, rtol=1e-6)
    sess.run(y, {x: [1, 2]})
    assert before < set(cache._entries) and len(cache._entries) == 2


# -- variables and memory ----------------------------------------------------------------


def test_values_that_were_fetched_stay(sess):
    v = tf.Variable(np.zeros(1000, np.float32))
    step = tf.assign_add(v, tf.ones([1000]))
    sess.run(tf.global_variables_initializer())
    seen = []
    for _ in range(5):
        seen.append(sess.run(v))
        sess.run(step.op)
    assert [s[0] for s in seen] == [0, 1, 2, 3, 4]


def test_updates_take_the_old_memory(sess):
    v = tf.Variable(np.zeros(100_000, np.float32))
    step = tf.assign_add(v, tf.ones([100_000])).op
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    (cell,) = sess._cells.values()
    places = set()
    for _ in range(4):
        sess.run(step)
        places.add(cell.held.unsafe_buffer_pointer())
    assert len(places) == 1


def test_variables_that_share_a_value(sess):
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    copy = tf.assign(a, b)
    both = [tf.assign(v, tf.constant([5.0, 6.0]) * 1.0) for v in (a, b)]
    grow = tf.assign_add(a, [1.0, 1.0])
    sess.run(tf.global_variables_initializer())
    sess.run(copy)
    sess.run(grow)
    sess.run(grow)
    np.testing.assert_array_equal(sess.run(b), [3, 4])
    sess.run(both)
    sess.run(grow)
    sess.run(grow)
    np.testing.assert_array_equal(sess.run([a, b]), [[7, 8], [5, 6]])


def test_an_array_that_was_fed_and_assigned_may_change(sess):
    x = tf.placeholder(tf.float32, [3])
    v = tf.Variable(np.zeros(3, np.float32))
    put = tf.assign(v, x)
    sess.run(tf.global_variables_initializer())
    array = np.ones(3, np.float32)
    sess.run(put, {x: array})
    array[:] = 9
    np.testing.assert_array_equal(sess.run(v), [1, 1, 1])


def test_constants_stay(sess):
    c = tf.constant(np.arange(5000, dtype=np.float32))
    v = tf.Variable(np.zeros(5000, np.float32))
    put, grow = tf.assign(v, c), tf.assign_add(v, tf.ones([5000]))
    sess.run(tf.global_variables_initializer())
    sess.run(put)
    sess.run(grow)
    sess.run(grow)
    np.testing.assert_array_equal(sess.run([c, v])[1] - sess.run(c), np.full(5000, 2))


def test_assigning_another_shape(sess):
    x = tf.placeholder(tf.float32, [None])
    v = tf.Variable([1.0, 2.0])
    put = tf.assign(v, x)
    sess.run(tf.global_variables_initializer())
    text = r"(?s)AssignVariableOp '.*': cannot assign a value of shape \(3,\) to variable Variable of shape \(2,\)"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        sess.run(put, {x: [1, 2, 3]})
    np.testing.assert_array_equal(sess.run(v), [1, 2])
    sess.run(put, {x: [4, 5]})
    np.testing.assert_array_equal(sess.run(v), [4, 5])


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_a_run_that_fails_changes_nothing(sess, error):
    def fail(v):
        raise error("on purpose")

    a, b = tf.Variable([1.0]), tf.Variable([2.0])
    first = tf.assign_add(a, [1.0])
    with tf.control_dependencies([first]):
        boom = tf.py_func(fail, [first], tf.float32)
    with tf.control_dependencies([boom]):
        last = tf.assign_add(b, [1.0])
    sess.run(tf.global_variables_initializer())
    expected = {ValueError: tf.errors.InvalidArgumentError, MemoryError: tf.errors.ResourceExhaustedError}
    with pytest.raises(expected.get(error, error)):
        sess.run(last)
    assert sess.run([a, b]) == [[1.0], [2.0]]
    sess.run(first)
    assert sess.run(a) == [2.0]


def test_an_interrupt_never_loses_a_variable(sess, monkeypatch):
    """Interrupts at every line of the executor: before or after the update, never between."""
    v = tf.Variable(np.zeros(50_000, np.float32))
    step = tf.assign_add(v, tf.ones([50_000])).op
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    done = 1.0
    for stop_at in range(400):
        count = 0

        def tracer(frame, event, arg):
            nonlocal count
            if "executor" not in frame.f_code.co_filename:
                return None
            count += 1
            if count > stop_at:  # noqa: B023  # called within this iteration
                raise KeyboardInterrupt
            return tracer

        sys.settrace(tracer)
        try:
            sess.run(step)
            finished = True
        except KeyboardInterrupt:
            finished = False
        finally:
            sys.settrace(None)
        value = sess.run(v)
        assert value[0] == value[-1] and value[0] in (done, done + 1)
        done = value[0]
        if finished and count <= stop_at:
            break
    assert finished and stop_at > 20


def test_threads(sess):
    v = tf.Variable(np.zeros(20_000, np.float32))
    x = tf.placeholder(tf.float32, [None])
    step, read, other = tf.assign_add(v, tf.ones([20_000])).op, v * 1.0, tf.reduce_sum(tf.exp(x) * 0.0 + v[0])
    sess.run(tf.global_variables_initializer())
    failures = []

    def work(k):
        try:
            for i in range(60):
                sess.run(step)
                value = sess.run(read)
                assert (value == value[0]).all()
                sess.run(other, {x: np.zeros(1 + (i + k) % 3)})
        except Exception as e:  # reported below
            failures.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures
    # Concurrent assignments may overwrite each other, as with TensorFlow without a lock; none is torn.
    assert 60 <= sess.run(v)[0] <= 240


def test_runs_leave_nothing_behind(sess):
    x = tf.placeholder(tf.float32, [4])
    v = tf.Variable(np.zeros(4, np.float32))
    fetches = [tf.reduce_sum(x * v), tf.assign_add(v, x)]
    sess.run(tf.global_variables_initializer())
    sess.run(fetches, {x: np.ones(4)})
    client = xla.device()._client
    before = len(client.live_buffers())
    for _ in range(300):
        sess.run(fetches, {x: np.ones(4)})
    assert len(client.live_buffers()) <= before


def test_a_closed_session_holds_nothing(graph):
    x = tf.placeholder(tf.float32, [4])
    v = tf.Variable(np.zeros(4, np.float32))
    y = x * v
    client = xla.device()._client
    before = len(client.live_buffers())
    s = tf.Session()
    s.run(tf.global_variables_initializer())
    s.run([y, tf.assign_add(v, x)], {x: np.ones(4)})
    assert len(client.live_buffers()) > before
    s.close()
    assert len(client.live_buffers()) <= before


# -- lists of tensors, random numbers, shapes that vary, in clusters -----------------------


def test_small_clusters_of_everything(sess, small):
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.Variable(np.full((3, 3), 0.1, np.float32))
    h, total = x, 0.0
    for i in range(4):
        h = tf.nn.dropout(tf.tanh(tf.matmul(h, w)), rate=0.0, seed=i)
        h = tf.reshape(h, [tf.shape(x)[0], -1])
        parts = tf.split(h, 3, axis=1)
        total += tf.reduce_sum(tf.concat(parts[::-1], 1) * h) + tf.reduce_sum(tf.boolean_mask(h, h > 0.0))
    grads = tf.gradients(total, [w, x])
    sess.run(tf.global_variables_initializer())
    options = tf.OptimizerOptions(global_jit_level=1)
    whole = tf.Session(config=tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options)))
    whole.run(tf.global_variables_initializer())
    for n in (2, 5, 2):
        feeds = {x: np.random.RandomState(n).randn(n, 3)}
        for got, want in zip(sess.run([total, *grads], feeds), whole.run([total, *grads], feeds), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_random_numbers_do_not_depend_on_the_cut(graph, monkeypatch):
    y = tf.constant(0.0)
    for i in range(6):
        y = tf.tanh(y) + tf.random_normal([3], seed=i)
    results = []
    for size in (1000, 3):
        monkeypatch.setattr(partition, "WHOLE", size)
        monkeypatch.setattr(partition, "LARGEST", size)
        monkeypatch.setattr(partition, "UNLIKE", 0)
        with tf.Session() as s:
            results.append([s.run(y) for _ in range(2)])
    np.testing.assert_allclose(*results, rtol=1e-6)


def test_draws_that_are_repeated_are_told_apart(graph):
    """A copy made for a gradient draws the numbers of its original: which one it is belongs to the form."""
    draws = [tf.random_uniform([2]).op for _ in range(3)]

    def form(rows):
        program = []
        for slot, (op, row) in enumerate(zip(draws, rows, strict=True)):
            instruction = Instruction(op, [9], [slot])
            instruction.rng = row
            program.append(instruction)
        cluster = Cluster(program, 0)
        cluster.rows = sorted(set(rows))
        return Form(cluster).text

    assert form([4, 7, 4]) == form([1, 2, 1])
    assert len({form([0, 1, 0]), form([0, 1, 1]), form([0, 1, 2]), form([0, 0, 0])}) == 4


# -- convolutions on several cores -------------------------------------------------------


@pytest.mark.parametrize("batch, known, data_format", [
    (batch, known, form) for i, (batch, known) in enumerate([(4, True), (6, False), (5, True), (1, False)])
    for k, form in enumerate(["NHWC", "3D"]) if ALL or i % 2 == k])
def test_large_convolutions_are_dealt_out(graph, monkeypatch, batch, known, data_format):
    """Values and gradients are those of one program, for batches that can be dealt out and others."""
    monkeypatch.setattr(batch_split, "LARGE", 1)
    monkeypatch.setattr(batch_split, "CORES", 2)
    rng = np.random.RandomState(0)
    space, window = ((7, 6, 5), (2, 3, 2)) if data_format == "3D" else ((7, 6), (3, 2))
    x = tf.placeholder(tf.float64, [batch if known else None, *space, 3])
    w = tf.constant(rng.randn(*window, 3, 2))
    convolve = tf.nn.conv3d if data_format == "3D" else tf.nn.conv2d
    y = convolve(tf.tanh(x), w, strides=[1] + [2] * len(space) + [1], padding="SAME")
    fetches = [y, *tf.gradients(tf.reduce_sum(y * y * y), [x, w])]
    feeds = {x: rng.randn(batch, *space, 3)}
    with tf.Session() as s:
        got = [s.run(fetches, feeds) for _ in range(2)][1]
        report = s.explain(fetches, feeds)
    options = tf.OptimizerOptions(global_jit_level=1)
    with tf.Session(config=tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options))) as s:
        assert len(s.explain(fetches, feeds).steps) == 1 < len(report.steps)
        want = s.run(fetches, feeds)
    for g, v in zip(got, want, strict=True):
        np.testing.assert_allclose(g, v, rtol=1e-12, atol=1e-12)


def test_what_is_large():
    x = tf.placeholder(tf.float32, [64, 14, 14, 32])
    few = tf.placeholder(tf.float32, [2, 14, 14, 32])
    w = tf.ones([5, 5, 32, 64])
    convolutions = [tf.nn.conv2d(v, w, strides=1, padding="SAME") for v in (x, few)]
    convolutions += tf.gradients(convolutions[0], [x])
    instructions = [Instruction(c.op, [0] * len(c.op.inputs), [0]) for c in convolutions]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_split, "CORES", 1)
        assert not any(map(batch_split.is_large, instructions))
        patch.setattr(batch_split, "CORES", 6)
        assert list(map(batch_split.is_large, instructions)) == [True, False, True]
        assert not batch_split.is_large(Instruction(tf.tanh(x).op, [0], [0]))
        assert [batch_split.parts(n) for n in (64, 7, 1, 9, 12)] == [4, 1, 1, 3, 6]


def test_a_part_that_fails(graph, monkeypatch):
    monkeypatch.setattr(batch_split, "LARGE", 1)
    monkeypatch.setattr(batch_split, "CORES", 2)
    x = tf.placeholder(tf.float32, [4, 5, 5, 1])
    v = tf.Variable(np.ones((3, 3, 1, 1), np.float32))
    grow = tf.assign_add(v, tf.gradients(tf.nn.conv2d(x, v, strides=1, padding="SAME"), v)[0])
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        s.run(grow, {x: np.zeros((4, 5, 5, 1))})
        monkeypatch.setattr(xla.Device, "put", lambda self, array: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            s.run(grow, {x: np.ones((4, 5, 5, 1))})
        monkeypatch.undo()
        np.testing.assert_array_equal(s.run(v), np.ones((3, 3, 1, 1)))
