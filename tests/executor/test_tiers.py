"""Runs in NumPy while another process compiles, and the change to XLA."""

from __future__ import annotations

import math
import os
import pathlib
import pickle
import platform
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import cache, memory_budget
from graphgrad.executor.program.portable import packed
from graphgrad.executor.runtime import compiler_process, executable, tiers
from graphgrad.executor.runtime.tiers import Tiers
from tests import ROOT
from tests.programs import run_programs
from tests.support.effort import ALL, long

_SOURCE = str(ROOT / "src")


@pytest.fixture
def tiered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are as they are for users, but XLA takes over after a few."""
    monkeypatch.setattr(executable, "first_in_numpy", True)
    monkeypatch.setattr(executable, "tiered", True)
    monkeypatch.setattr(tiers, "_BESIDE", True)
    monkeypatch.setattr(tiers, "_ALL", 2e-3)
    monkeypatch.setattr(tiers, "_WORTH", 1e-5)
    cache.clear()


@pytest.fixture
def compiled_here(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The clusters that this process has lowered."""
    found: list[Any] = []
    lower_here = cache.lower

    def noting(cluster: Any, *args: Any) -> Any:
        found.append(cluster)
        return lower_here(cluster, *args)

    monkeypatch.setattr(cache, "lower", noting)
    return found


def _training() -> tuple[Any, Any]:
    """A loss and its step, with a branch, a loop, random numbers and a table of vectors."""
    x = tf.placeholder(tf.float32, [None, 3])
    with tf.variable_scope("net"):
        w = tf.get_variable("w", [3, 20], initializer=tf.constant_initializer(0.1))
        table = tf.get_variable("table", [4, 20], initializer=tf.ones_initializer())
    h = tf.nn.dropout(tf.tanh(x @ w), rate=0.2, seed=3) + tf.nn.embedding_lookup(table, [1, 3])
    h = tf.cond(tf.reduce_sum(h) > 0, lambda: h * 2.0, lambda: h)
    h = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.sin(h)), [0, h])[1]
    loss = tf.reduce_mean(tf.square(h - 0.3))
    return x, [loss, tf.train.AdamOptimizer(0.05).minimize(loss)]


def _losses(runs: int) -> list[float]:
    with tf.Graph().as_default(), tf.Session() as s:
        tf.set_random_seed(1)
        x, fetches = _training()
        s.run(tf.global_variables_initializer())
        losses = [s.run(fetches, {x: np.full((2, 3), 0.5)})[0] for _ in range(runs)]
    return losses


@pytest.mark.parametrize("on_disk", [True, pytest.param(False, marks=long("with a disk cache more happens"))])
def test_another_process_compiles(on_disk, tiered, compiled_here, monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", str(tmp_path) if on_disk else "")
    monkeypatch.setattr(executable, "first_in_numpy", False)
    expected = _losses(60)
    assert compiled_here
    compiled_here.clear()
    cache.clear()
    if on_disk:
        monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", str(tmp_path / "other"))
    _end_compiler()  # it has the environment that it started with
    monkeypatch.setattr(executable, "first_in_numpy", True)
    losses = _losses(60)
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    assert not compiled_here
    cache.clear()
    if on_disk:  # then no process is needed
        _end_compiler()
    again = _losses(60)  # now the disk cache is warm
    assert losses == again
    assert bool(compiler_process._the_compiler) != on_disk
    if on_disk:  # a program that is missing is compiled in a process again
        largest = max((tmp_path / "other" / "programs").glob("*.program"), key=lambda path: path.stat().st_size)
        largest.unlink()
        cache.clear()
        assert _losses(60) == losses and compiler_process._the_compiler and not compiled_here


def test_another_process_compiles_beside_convolutions(tiered, compiled_here, monkeypatch):
    """A library computes these, in programs that only this process can have; of equal ones, too."""
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", "")
    with tf.Graph().as_default(), tf.Session() as s:
        x = tf.placeholder(tf.float32, [None, 16, 16, 16])
        h, filters = x, [tf.Variable(tf.random.normal([3, 3, 16, 16], stddev=0.1, seed=i)) for i in range(3)]
        for f in filters:
            h = tf.nn.relu(tf.nn.conv2d(h, f, 1, "SAME"))
        loss = tf.reduce_mean(tf.square(h - 0.5))
        step = tf.train.AdamOptimizer(0.01).minimize(loss)
        s.run(tf.global_variables_initializer())
        losses = [s.run([loss, step], {x: np.ones((32, 16, 16, 16), np.float32)})[0] for _ in range(30)]
    assert losses[-1] < losses[0] and not compiled_here


def _end_compiler() -> None:
    for compiler in compiler_process._the_compiler:
        compiler.close()
    compiler_process._the_compiler.clear()


@pytest.mark.parametrize("failure", ["killed", "stopped", "not Python", "cannot start", "no process", "no memory"])
def test_without_the_other_process_it_is_compiled_here(failure, tiered, compiled_here, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", "")
    _end_compiler()
    if failure == "killed":
        send = compiler_process._Compiler.send

        def kill(self: Any, payload: bytes) -> Any:
            job = send(self, payload)
            self._process.kill()
            return job

        monkeypatch.setattr(compiler_process._Compiler, "send", kill)
    elif failure == "stopped":
        monkeypatch.setattr(compiler_process, "_STUCK", 0.1)
        send = compiler_process._Compiler.send

        def stop(self: Any, payload: bytes) -> Any:
            os.kill(self._process.pid, signal.SIGSTOP)
            return send(self, payload)

        monkeypatch.setattr(compiler_process._Compiler, "send", stop)
    elif failure == "no memory":
        monkeypatch.setattr(memory_budget, "available", lambda: 0.0)
    elif failure == "not Python":
        monkeypatch.setattr(sys, "executable", "/bin/uwsgi")
    elif failure == "cannot start":
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    else:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            raise PermissionError("no processes here")

        monkeypatch.setattr(subprocess, "Popen", refuse)
    losses = _losses(60)
    assert compiled_here and losses[-1] < losses[0]
    assert (failure == "stopped") == ("has done nothing for 0.1 seconds" in caplog.text)
    _end_compiler()


_FORKING = """
import os
import numpy as np
import graphgrad.v1 as tf
from graphgrad.executor.runtime import tiers
tiers._WORTH, tiers._ALL, tiers._BESIDE = 1e-5, 0.02, True
x = tf.placeholder(tf.float32, [None, 100])
w = tf.Variable(tf.ones([100, 100]) * 0.01)
loss = tf.reduce_mean(tf.tanh(tf.tanh(x @ w) @ w))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
s = tf.Session()
s.run(tf.global_variables_initializer())
run = lambda n: [float(s.run([loss, step], {x: np.ones((500, 100))})[0]) for _ in range(n)][-1]
run(2)
child = os.fork()
last = run(40)
print(last, flush=True)
if child:
    assert os.waitpid(child, 0)[1] == 0
    run(2)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork processes")
def test_a_forked_process_waits_for_nobody(tmp_path):
    """Neither does it end the process that compiles for its parent."""
    env = {**os.environ, "PYTHONPATH": _SOURCE, "GRAPHGRAD_FIRST_RUN": "", "GRAPHGRAD_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", _FORKING], env=env, check=True, capture_output=True, text=True)
    here, there = done.stdout.split()
    np.testing.assert_allclose(float(here), float(there), rtol=1e-5)


def test_the_number_of_runs_is_fixed(tiered, monkeypatch):
    """It follows from the plan and the sizes, not from a clock, and larger batches count for more."""
    monkeypatch.setattr(compiler_process, "request", lambda *_: None)
    in_numpy: list[bool] = []
    run = Tiers.run

    def noting(self: Tiers, *args: Any) -> bool:
        in_numpy.append(run(self, *args))
        return in_numpy[-1]

    monkeypatch.setattr(Tiers, "run", noting)

    def runs(rows: int) -> int:
        in_numpy.clear()
        with tf.Graph().as_default(), tf.Session() as s:
            x = tf.placeholder(tf.float32, [None, 50])
            y = tf.matmul(tf.tanh(x), tf.ones([50, 50]))
            for _ in range(60):
                s.run(y, {x: np.ones((rows, 50))})
        return sum(in_numpy)

    few = runs(1000)
    assert few == runs(1000) > 2
    assert runs(4000) < few < runs(500) < 60


@pytest.mark.parametrize("beside", [True, False])
def test_compiling_begins_late_where_it_would_take_the_only_core(beside, tiered, monkeypatch):
    runs, asked_after = [0], []
    monkeypatch.setattr(tiers, "_BESIDE", beside)
    monkeypatch.setattr(compiler_process, "request", lambda *_: asked_after.append(runs[0]))
    with tf.Graph().as_default(), tf.Session() as s:
        x = tf.placeholder(tf.float32, [1000, 50])
        y = tf.matmul(tf.tanh(x), tf.ones([50, 50]))
        entry = s._make_entry(None, y, {x: None}).executable
        tiering = entry._tiers
        while not tiering.over:
            entry([np.ones((1000, 50), np.float32)])
            runs[0] += 1
    (asked,) = asked_after
    assert runs[0] > 4 and asked == (1 if beside else runs[0] - 1)


def test_what_xla_hardly_speeds_up_stays_in_numpy_for_longer(tiered, monkeypatch):
    """Two nets that take as long, as estimated: one of matrix products, one of functions of elements."""
    monkeypatch.setattr(tiers, "_ALL", math.inf)
    shares = []
    with tf.Graph().as_default():
        x = tf.ones([500, 500])
        products = elements = tf.Variable(x)
        for _ in range(3):
            products, elements = tf.matmul(products, x), tf.tanh(elements) + x
        with tf.Session() as s:
            for fetch in (products, elements):
                tiering = s._make_entry(None, fetch, {}).executable._tiers
                shares.append(tiering._share(tiers._Size(1, 0.0)))
    assert shares[0] > 1.3 * shares[1] > 0


_FAULTS = """
import resource, sys
import numpy as np
from graphgrad.system import freed_memory
def faults(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        np.ones(1 << 23)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
freed_memory.keep()
first = faults(1)
print(first > 4 * faults(4))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="freed memory is glibc's")
@pytest.mark.parametrize("left_alone", [False, True])
def test_freed_memory_is_kept(left_alone):
    """The pages of one block of 64 MiB come from the system once, unless the user says how to allocate."""
    assert _printed(_FAULTS, left_alone) == str(not left_alone)


_EAGER_FAULTS = """
import resource
import numpy as np
import graphgrad as tf
x = tf.constant(np.ones((2000, 1000), np.float32))
def faults(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.concat([x, x], 1)
        tape.gradient(y, x)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults(3)
print(faults(4) < 2000)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="freed memory is glibc's")
def test_freed_memory_is_kept_in_eager_mode():
    """Its large arrays (8 MB, 2,000 pages) are made in pages that those before left."""
    assert _printed(_EAGER_FAULTS, False) == "True"


def _printed(text, left_alone):
    """Returns what a program prints; glibc is told how to allocate if it shall be left alone."""
    env = {**os.environ, "PYTHONPATH": _SOURCE, "NUMPY_MADVISE_HUGEPAGE": "0"}
    env.pop("GLIBC_TUNABLES", None)
    env = {k: v for k, v in env.items() if not k.startswith("MALLOC_")}
    if left_alone:
        env["MALLOC_ARENA_MAX"] = "4"
    done = subprocess.run([sys.executable, "-c", text], env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_new_size_compiles_nothing_at_once(tiered, compiled_here, monkeypatch):
    """Sizes that feeds decide are counted one by one; a last, smaller batch is NumPy's until it has come up often."""
    monkeypatch.setattr(compiler_process, "request", lambda *_: None)
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", "")
    with tf.Graph().as_default(), tf.Session() as s:
        x = tf.placeholder(tf.float32, [None, 50])
        y = tf.matmul(tf.tanh(x), tf.ones([50, 50]))
        numbers = np.ones((1000, 50))
        programs = []
        for rows, runs in ((1000, 60), (700, 3), (1000, 3), (300, 1), (700, 60), (1000, 2), (700, 2)):
            for _ in range(runs):
                assert s.run(y, {x: numbers[:rows]}).shape == (rows, 50)
            programs.append(len(compiled_here))
    assert programs == [1, 1, 1, 1, 2, 2, 2]


def test_what_computes_little_stays_in_numpy(tiered, compiled_here):
    with tf.Graph().as_default(), tf.Session() as s:
        x = tf.placeholder(tf.float32, [])
        y = x * 2.0
        for n in range(300):
            assert s.run(y, {x: n}) == 2 * n
    assert not compiled_here


@pytest.mark.parametrize("kind, seed", [(k, n) for k in ("lengths", "ranks", "nets") for n in range(2 if ALL else 1)])
def test_clusters_mean_the_same_elsewhere(kind, seed, monkeypatch):
    """What is lowered from the bytes is what is lowered here."""
    from jax.interpreters import mlir
    from jaxlib.mlir import ir

    def text(lowered: Any) -> Any:
        with mlir.make_ir_context():
            return (ir.Module.parse(lowered[0]).operation.get_asm(), *lowered[1:])

    lower_here, compared = cache.lower, []

    def both(cluster: Any, *args: Any) -> Any:
        found = lower_here(cluster, *args)
        there = pickle.loads(packed(cluster))
        assert text(lower_here(there, *args)) == text(found)
        compared.append(cluster)
        return found

    monkeypatch.setattr(cache, "lower", both)
    monkeypatch.setattr(executable, "first_in_numpy", False)
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", "")
    cache.clear()
    _losses(1)
    run_programs.results(tf, kind, seed, tf.Session)
    assert compared


def test_a_users_own_operation_is_not_sent():
    with tf.Graph().as_default(), tf.Session() as s:
        y = tf.py_func(lambda v: v + 1, [tf.constant(1.0)], tf.float32) * tf.constant([1.0])
        entry = s._make_entry(None, y, {}).executable
        function = entry.plan.steps[0].program[-1]
        with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
            packed([function])


_PROGRAM = """
import os, sys, time
import numpy as np
import graphgrad.v1 as tf
from graphgrad.executor.runtime import tiers, compiler_process
tiers._WORTH, tiers._BESIDE = 1e-5, True
fed = x = tf.placeholder(tf.float32, [None, 100])
w = tf.Variable(tf.ones([100, 100]) * 0.01)
for _ in range(4):
    x = tf.tanh(x @ w)
loss = tf.reduce_mean(x)
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
s = tf.Session()
s.run(tf.global_variables_initializer())
for _ in range(3):
    s.run([loss, step], {fed: np.ones((500, 100))})
print(compiler_process._the_compiler[0]._process.pid, "jax" in sys.modules)
"""


def test_the_other_process_ends_with_the_program(tmp_path):
    env = {**os.environ, "PYTHONPATH": _SOURCE, "GRAPHGRAD_FIRST_RUN": "", "GRAPHGRAD_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", _PROGRAM], env=env, check=True, capture_output=True, text=True)
    pid, imported = done.stdout.split()
    assert imported == "False" and not done.stderr
    for _ in range(600):
        if not _alive(int(pid)):
            return
        time.sleep(0.1)
    raise AssertionError("it is still there")


def _alive(pid: int) -> bool:
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
