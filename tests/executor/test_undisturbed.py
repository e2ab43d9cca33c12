"""Running a graph leaves alone what belongs to the program: random states, filters, handlers, the environment."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import threading

import pytest

from graphgrad.executor.backend.threads import pool_of
from graphgrad.system.late_imports import load

_SOURCE = str(pathlib.Path(__file__).resolve().parents[2] / "src")

# JAX's callback of the garbage collector and loggers of its own stay: they are nobody else's.
# A handler that does nothing is what libraries give their own loggers, such as those that SciPy imports.
_PROGRAM = """
import ctypes, decimal, gc, locale, logging, os, random, signal, sys, threading, warnings
import numpy as np
import graphgrad as tf
import graphgrad.compat.v1 as v1

def state():
    root = logging.getLogger()
    return {
        "np.random": str(np.random.get_state()), "random": random.getstate(),
        "filters": list(warnings.filters), "showwarning": warnings.showwarning,
        "logging": (root.level, list(root.handlers), logging.lastResort, logging.getLoggerClass(), root.disabled,
                    logging.root.manager.disable, dict(logging._levelToName)),
        "loggers": [(k, v.level, list(v.handlers)) for k, v in logging.root.manager.loggerDict.items()
                    if isinstance(v, logging.Logger) and (v.level or {*map(type, v.handlers)} - {logging.NullHandler})],
        "signals": {n: signal.getsignal(n) for n in signal.valid_signals()}, "environ": dict(os.environ),
        "locale": locale.setlocale(locale.LC_ALL), "traces": (sys.gettrace(), sys.getprofile(), threading.gettrace()),
        "hooks": (sys.excepthook, threading.excepthook, sys.unraisablehook, sys.displayhook, sys.stdout, sys.stderr),
        "numpy": (np.geterr(), np.geterrcall(), np.get_printoptions()), "decimal": str(decimal.getcontext()),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), gc.get_threshold(), gc.isenabled()),
        "paths": (sys.path[:], sys.meta_path[:], sys.path_hooks[:], os.getcwd()),
        "floats": (ctypes.CDLL(None).fegetround(), float(np.float64(5e-324) * np.float64(1.0))), "blas": blas(),
    }

def blas():
    try:
        import threadpoolctl
    except ImportError:
        return None
    return {(i["filepath"], i["num_threads"]) for i in threadpoolctl.threadpool_info() if "numpy" in i["filepath"]}

def value(x):
    roots = tf.linalg.sqrtm(tf.eye(2) * x[0])
    waves = tf.reduce_sum(tf.sin(tf.cumsum(x))) + tf.reduce_sum(tf.linalg.svd(tf.eye(2) * x[1])[1])
    return waves + tf.reduce_sum(roots) + tf.math.special.bessel_j0(x[0])

def in_a_session():
    with v1.Graph().as_default():
        x = v1.placeholder(tf.float32, [None])
        y = value(x)
        g, session = v1.gradients(y, x)[0], v1.Session()
    return lambda: session.run([y, g], {x: [1.0, 2.0]})

def eagerly(f=value):
    def run():
        with tf.GradientTape() as tape:
            x = tf.constant([1.0, 2.0])
            tape.watch(x)
            y = f(x)
        tape.gradient(y, x).numpy()
    return run

run = {"session": in_a_session, "eager": eagerly, "function": lambda: eagerly(tf.function(value))}[sys.argv[1]]()
np.random.seed(0)
random.seed(0)
blas()
before = state()
for n in range(1, 4):
    run()
    after = state()
    assert before.keys() == after.keys()
    changed = {k: (before[k], after[k]) for k in before if before[k] != after[k]}
    assert not changed, f"run {n}: {changed}"
print("jax" in sys.modules)
"""


@pytest.mark.parametrize("how", ["session", "eager", "function"])
def test_nothing_changes(how: str, tmp_path: pathlib.Path) -> None:
    """What belongs to the program is the same before and after runs 1 to 3, the second of which imports JAX."""
    env = {**os.environ, "PYTHONPATH": _SOURCE, "GRAPHGRAD_CACHE_DIR": str(tmp_path), "GRAPHGRAD_FIRST_RUN": "numpy"}
    env.pop("TF_CPP_MIN_LOG_LEVEL", None)
    env["KMP_DUPLICATE_LIB_OK"] = "True"  # threadpoolctl sets it
    done = subprocess.run([sys.executable, "-c", _PROGRAM, how], env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(how != "eager"), "JAX was not imported, so nothing was tested"


_INTERRUPTING = """
import signal, threading, time
HALF = [True]
signal.raise_signal(signal.SIGINT)
for _ in range(3):  # where handlers run in this thread, they do so here
    time.sleep(0)
HALF.clear()
"""


def test_an_interrupt_waits_for_an_import(tmp_path, monkeypatch) -> None:
    """JAX half imported could not be imported again, and jaxlib would abort the process."""
    (tmp_path / "interrupting_import.py").write_text(_INTERRUPTING)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            load("interrupting_import")
        assert not load("interrupting_import").HALF
    finally:
        signal.signal(signal.SIGINT, before)


def test_errors_of_an_import() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        load("no_such_module_at_all")


def test_a_pool_has_all_of_its_threads() -> None:
    """One that is started later could be ended by an interrupt while it starts."""
    pool = pool_of(3, "pool")
    assert len([t for t in threading.enumerate() if t.name.startswith("pool")]) == 3
    assert pool.submit(lambda: 5).result() == 5
    pool.shutdown()
