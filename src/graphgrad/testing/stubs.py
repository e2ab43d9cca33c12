"""`tf.test` beside `TestCase`: mocks, benchmarks, decorators."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable
from typing import Any, overload

from graphgrad.executor.runtime.session import Session
from graphgrad.frontend.config.config_proto import ConfigProto
from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.structure_types import S
from graphgrad.ir.context import current_graph


class StubOutForTesting:
    """A helper that replaces attributes of objects, and restores them.

    Reference: TensorFlow 2.21 `tf.compat.v1.test.StubOutForTesting`.

    >>> import os
    >>> with tf.test.StubOutForTesting() as stubs:
    ...     stubs.Set(os, "getcwd", lambda: "/here")
    ...     os.getcwd()
    '/here'
    """

    def __init__(self) -> None:
        self._plain: list[tuple[Any, str, Any]] = []
        self._smart: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:
        """Restores all attributes."""
        self.UnsetAll()
        self.SmartUnsetAll()

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replaces an attribute of `parent`; raises AttributeError if it has none."""
        self._plain.append((parent, child_name, vars(parent).get(child_name, getattr(parent, child_name))))
        old = inspect.getattr_static(parent, child_name)
        setattr(parent, child_name, staticmethod(new_child) if isinstance(old, staticmethod) else new_child)

    def UnsetAll(self) -> None:
        """Restores the attributes that `Set` replaced."""
        while self._plain:
            parent, name, old = self._plain.pop()
            setattr(parent, name, old)

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """Replaces an attribute where it is defined: in the object, its class or a base of it."""
        owners = [obj] if inspect.ismodule(obj) else [obj, *inspect.getmro(obj if inspect.isclass(obj) else type(obj))]
        owner = next((o for o in owners if attr_name in getattr(o, "__dict__", {})), None)
        if owner is None:
            raise AttributeError(f"{attr_name} not found. Fix: stub an attribute that is there")
        self._smart.append((owner, attr_name, vars(owner)[attr_name]))
        setattr(owner, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:
        """Restores the attributes that `SmartSet` replaced."""
        while self._smart:
            parent, name, old = self._smart.pop()
            setattr(parent, name, old)


def disable_with_predicate(pred: Callable[[Any], bool], skip_message: str) -> Callable[[S], S]:
    """Makes a decorator of test methods that skips them where a function of the test is true.

    Args:
      pred: a function of the test case.
      skip_message: the reason.
    Reference: TensorFlow 2.21 `tf.test.disable_with_predicate`.
    """

    def decorate(method: Any) -> Any:
        @functools.wraps(method)
        def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred(self):
                self.skipTest(skip_message)
            return method(self, *args, **kwargs)

        return wrapped

    return decorate


@overload
def with_eager_op_as_function(cls: None = None, only_as_function: bool = False) -> Callable[[S], S]: ...
@overload
def with_eager_op_as_function(cls: S, only_as_function: bool = False) -> S: ...
def with_eager_op_as_function(cls: Any = None, only_as_function: bool = False) -> Any:
    """Returns a class of tests unchanged, as in TensorFlow 2.21.

    Args:
      cls: the class; when omitted, the result is a decorator.
      only_as_function: accepted as TensorFlow does.
    Reference: TensorFlow 2.21 `tf.test.with_eager_op_as_function`.
    """
    return (lambda c: c) if cls is None else cls


def is_cpu_target_available(target: str) -> bool:
    """Returns whether XLA has code for a kind of processor: for the one it runs on.

    Args:
      target: such as 'x86' or 'aarch64'.
    Reference: TensorFlow 2.21 `tf.test.is_cpu_target_available`.

    >>> tf.test.is_cpu_target_available("nothing")
    False
    """
    import platform

    names = {"x86_64": "x86", "AMD64": "x86", "arm64": "aarch64"}
    return names.get(platform.machine(), platform.machine()) == target


def sync_devices() -> None:
    """Returns at once: devices are idle when calls return.

    Raises: RuntimeError while a graph is built.
    Reference: TensorFlow 2.21 `tf.test.experimental.sync_devices`.
    """
    if current_graph() is not None:
        raise RuntimeError("sync_devices() must only be called in Eager mode. Fix: call it outside of graphs")


def benchmark_config() -> ConfigProto:
    """Makes a `ConfigProto` for benchmarks.

    Reference: TensorFlow 2.21 `tf.test.benchmark_config`.

    >>> tf.test.benchmark_config().graph_options.rewrite_options.dependency_optimization
    2
    """
    config = ConfigProto()
    config.graph_options.rewrite_options.dependency_optimization = 2
    return config


class Benchmark:
    """Base class of benchmarks: methods whose names begin with `benchmark`, and `run_op_benchmark`.

    Reference: TensorFlow 2.21 `tf.test.Benchmark`.

    >>> class Doubling(tf.test.Benchmark):
    ...     def benchmark_it(self):
    ...         return self.run_op_benchmark(sess, tf.constant(1.0) * 2.0, min_iters=2)
    >>> Doubling().benchmark_it()["iters"]
    2
    """

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []

    @classmethod
    def is_abstract(cls) -> bool:
        """Returns whether it has no benchmarks of its own."""
        return not any(name.startswith("benchmark") for name in dir(cls))

    def evaluate(self, tensors: Any) -> Any:
        """Evaluates tensors, in eager mode or in a session of their own.

        Args:
          tensors: any nesting of tensors.
        """
        if current_graph() is None:
            return nest.map_structure(lambda t: t.numpy() if hasattr(t, "numpy") else t, tensors)
        with Session() as session:
            return session.run(tensors)

    def report_benchmark(self, iters: Any = None, cpu_time: Any = None, wall_time: Any = None, throughput: Any = None,
                         extras: Any = None, name: str | None = None, metrics: Any = None) -> None:
        """Keeps a measurement in `reports` and prints it.

        Args:
          iters: the number of repetitions.
          cpu_time, wall_time: seconds.
          throughput: in MB per second.
          extras: further numbers by name.
          name: the name of the measurement.
          metrics: accepted as TensorFlow does.
        """
        fields = {"name": name or type(self).__name__, "iters": iters, "cpu_time": cpu_time, "wall_time": wall_time,
                  "throughput": throughput, "extras": extras or {}}
        self.reports.append(fields)
        print("entry {", ", ".join(f"{k}: {v}" for k, v in fields.items() if v not in (None, {})), "}")

    def run_op_benchmark(self, sess: Any, op_or_tensor: Any, feed_dict: Any = None, burn_iters: int = 2,
                         min_iters: int = 10, store_trace: bool = False, store_memory_usage: bool = True,
                         name: str | None = None, extras: Any = None, mbs: float = 0) -> dict[str, Any]:
        """Runs an operation repeatedly and measures the time.

        Args:
          sess: a session.
          op_or_tensor: what to run.
          feed_dict: what to feed.
          burn_iters: the number of runs that are not measured.
          min_iters: the number of runs that are measured.
          store_trace, store_memory_usage: accepted as TensorFlow does.
          name: the name of the measurement.
          extras: further numbers by name.
          mbs: the MB that a run processes.
        Returns: iters, wall_time (the median), throughput and extras; they are kept in `reports` too.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict)
            times.append(time.perf_counter() - start)
        median = sorted(times)[len(times) // 2] if times else float("nan")
        mean = sum(times) / max(1, len(times))
        more = {**(extras or {}), "wall_time_mean": mean,
                "wall_time_stdev": (sum((t - mean) ** 2 for t in times) / max(1, len(times))) ** 0.5}
        speed = mbs / median if median and mbs else 0.0
        self.reports.append({"name": name or type(self).__name__, "iters": min_iters, "wall_time": median,
                             "throughput": speed, "extras": more})
        return {"iters": min_iters, "throughput": speed, "wall_time": median, "extras": more}
