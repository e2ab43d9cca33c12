"""Imports heavy libraries on first use, without side effects on the program's own state.

Importing JAX draws from NumPy's global random state (jax 0.10: a waiting time for clusters) and sets environment
variables; SciPy adds warning filters. A program that draws numbers after its second run would draw different ones.

An interrupt must not end such an import half-way: jaxlib's C++ modules abort the process, and JAX cannot be imported
again once it has declared its options.
"""

from __future__ import annotations

import _thread
import contextlib
import functools
import importlib
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any


@functools.cache
def load(name: str) -> Any:
    """Imports the module of this name `undisturbed` and `uninterrupted`.

    Args:
      name: a module's full name, such as "scipy.special".
    Raises: ImportError if it is missing.
    """
    with undisturbed():
        return importlib.import_module(name) if name in sys.modules else uninterrupted(importlib.import_module, name)


def uninterrupted(call: Callable[..., Any], *args: Any) -> Any:
    """Calls a function so that no signal handler ends it half-way: in a thread, while the main one waits.

    Args:
      call: the function.
      *args: its arguments.
    Returns: its result.
    Raises: its error; when it is done, the error of a handler that ran meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():  # handlers run in the main thread only
        return call(*args)
    results: list[Any] = []
    errors: list[BaseException] = []
    claimed, done = _thread.allocate_lock(), _thread.allocate_lock()
    finished: list[None] = []
    done.acquire()

    def run() -> None:
        if not claimed.acquire(blocking=False):  # an interrupt came after another thread was started
            return
        try:
            results.append(call(*args))
        except BaseException as e:
            errors.append(e)
        finished.append(None)
        done.release()

    # Plain locks, in C: an interrupt within one of `threading` could leave it locked.
    while not finished:
        try:
            if not claimed.locked():
                threading.Thread(target=run, name="graphgrad-uninterrupted", daemon=True).start()
            done.acquire()
        except BaseException as e:
            if isinstance(e, RuntimeError) and "start new thread" in str(e):
                run()  # no thread can be started
            else:
                errors.insert(0, e)
    if errors:
        raise errors[0]
    return results[0]


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Restores random states, the environment and warning filters after a `with` block."""
    environment = dict(os.environ)
    # A module that is not imported yet gets a fresh seed later.
    random, numpy_random = sys.modules.get("random"), sys.modules.get("numpy.random")
    drawn, drawn_by_numpy = random and random.getstate(), numpy_random and numpy_random.get_state(legacy=False)
    with warnings.catch_warnings():
        try:
            yield
        finally:
            if random is not None:
                random.setstate(drawn)
            if numpy_random is not None:
                numpy_random.set_state(drawn_by_numpy)
            for variable in os.environ.keys() - environment.keys():
                del os.environ[variable]
            for variable, value in environment.items():
                if os.environ.get(variable) != value:
                    os.environ[variable] = value
