"""Sums of vectors over processes: programs of XLA over all of them, which exchange bytes over TCP (gloo)."""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphgrad.system.late_imports import load

from . import xla
from .membership import Member

_GIVES_UP = 32.0  # seconds: gloo's own limit for a call is 30


class _Caller:
    """A thread that makes calls for others, which may stop waiting for it."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="graphgrad-processes", daemon=True)
        self._thread.start()

    def end(self, limit: float) -> None:
        """Ends the thread, if it does not stand still in a call."""
        self._calls.put(None)
        self._thread.join(limit)
        if self._thread.is_alive():  # Python must not end before: the engine would abort the process
            atexit.register(self._thread.join, _GIVES_UP)

    def begin(self, call: Callable[[], Any]) -> tuple[Any, list[Any]]:
        """Lets the thread make a call; returns a lock that is free afterwards, and where result and error will be."""
        done, found = threading.Lock(), list[Any]()
        done.acquire()
        self._calls.put((call, done, found))
        return done, found

    def _work(self) -> None:
        while True:
            given = self._calls.get()
            if given is None:
                return
            call, done, found = given
            try:
                found += [call(), None]
            except BaseException as e:
                found += [None, e]
            done.release()


class ProcessSums:
    """Programs that sum vectors over all processes, and the connections that they use.

    Args:
      service: the connection to the coordinator.
      who: this process.
    """

    def __init__(self, service: Any, who: Member):
        self._service, self._who = service, who
        self._jax = load("jaxlib._jax")
        self._programs: dict[tuple[str, int], Any] = {}
        self._client: Any = None
        self._device: Any = None
        self._caller = _Caller()

    def begin(self, flat: Any) -> tuple[Any, list[Any]]:
        """Begins a sum; returns a lock that is free afterwards, and where result and error will be."""
        return self._caller.begin(lambda: self._call(flat))

    def disconnect(self) -> None:
        """Closes the connections, so that the others' calls, and what is left of one here, come to an end."""
        self._programs, self._client, self._device = {}, None, None

    def end(self, limit: float) -> None:
        """Ends the thread that makes the calls, waiting for some seconds at most."""
        self._caller.end(limit)

    def _call(self, flat: Any) -> Any:
        with quiet():
            program = self._programs.get(key := (flat.dtype.name, flat.size))
            if program is None:
                program = self._programs[key] = self._compile(*key)
            result = program.execute_sharded([self._device.put(flat)])
        return np.array(memoryview(result.disassemble_into_single_device_arrays()[0][0]))

    def _compile(self, dtype: str, size: int) -> Any:
        """Compiles the program of a sum of vectors."""
        jaxlib, xla_client = self._jax, load("jaxlib.xla_client")
        if self._client is None:
            collectives = jaxlib.make_gloo_tcp_collectives(distributed_client=self._service,
                                                           hostname=_own_host(self._who.address))
            self._client = xla_client.make_cpu_client(asynchronous=False, distributed_client=self._service,
                                                      node_id=self._who.rank, num_nodes=self._who.size,
                                                      collectives=collectives)
            self._device = xla.Device(self._client, jaxlib, xla_client, 0, "processes")
        count, devices = self._who.size, sorted(self._client.devices(), key=lambda d: d.process_index)
        options = jaxlib.CompileOptions()
        options.num_replicas = count
        numbers = np.array([d.id for d in devices], np.int32).reshape(count, 1)
        options.device_assignment = jaxlib.DeviceAssignment.create(numbers)
        module = _SUM.format(count=count, size=size, element=ELEMENTS[dtype], group=", ".join(map(str, range(count))))
        return self._client.compile_and_load(module.encode(), jaxlib.DeviceList(tuple(devices)), options)


def _own_host(address: str) -> str:
    """Returns the address under which this machine reaches the coordinator, to listen at for the other processes."""
    host, _, port = address.rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:  # nothing is sent
        way.connect((host, int(port)))
        return str(way.getsockname()[0])


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps XLA from logging messages below errors to the standard error: it warns of each step of a connection."""
    name = "TF_CPP_MIN_LOG_LEVEL"
    before = os.environ.get(name)
    os.environ[name] = before or "2"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


ELEMENTS = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint32": "ui32",
            "uint64": "ui64", "int8": "i8", "complex64": "complex<f32>", "complex128": "complex<f64>"}
_SUM = """
module @sum attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {count} : i32}} {{
  func.func public @main(%x: tensor<{size}x{element}>) -> tensor<{size}x{element}> {{
    %0 = "stablehlo.all_reduce"(%x) <{{replica_groups = dense<[[{group}]]> : tensor<1x{count}xi64>}}> ({{
      ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
        %s = stablehlo.add %a, %b : tensor<{element}>
        stablehlo.return %s : tensor<{element}>
    }}) : (tensor<{size}x{element}>) -> tensor<{size}x{element}>
    return %0 : tensor<{size}x{element}>
  }}
}}
"""
