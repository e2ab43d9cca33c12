"""XLA's client for the devices of all processes, and its program for sums of vectors over them."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.system.late_imports import load

from . import xla
from .membership import Member

# What clients say about themselves at the coordinator; a client with other devices cannot be made while it is there.
_SAID = ("cpu:local_topology", "cpu:global_topology", "cpu:gloo")


class ProcessClient:
    """XLA's client in this process, which knows the devices of all.

    Args:
      service: the connection to the coordinator.
      who: which process this one is.
      count: the number of devices of each process.

    Attributes:
      count: the number of devices of each process.
      client: jaxlib's client.
      all: the devices of all processes, those of process 0 first.
    """

    def __init__(self, service: Any, who: Member, count: int):
        jaxlib, xla_client = load("jaxlib._jax"), load("jaxlib.xla_client")
        self._jax = jaxlib
        self.count = count
        collectives = jaxlib.make_gloo_tcp_collectives(distributed_client=service, hostname=_own_host(who.address))
        self.client = xla_client.make_cpu_client(
            asynchronous=False, distributed_client=service, node_id=who.rank, num_nodes=who.size,
            collectives=collectives, num_devices=count)
        self.all = sorted(self.client.devices(), key=lambda d: (d.process_index, d.id))
        self._first = xla.Device(self.client, jaxlib, xla_client, 0, "processes")
        self._programs: dict[tuple[str, str, int], Any] = {}

    def sum(self, flat: Any) -> Any:
        """Returns the sum of the processes' vectors, which is not to be written into."""
        return self._run(_SUM, flat)

    def gather(self, flat: Any) -> Any:
        """Returns the processes' vectors, one behind the other; it is not to be written into."""
        return self._run(_GATHER, flat)

    def _run(self, text: str, flat: Any) -> Any:
        with quiet():
            program = self._programs.get(key := (text, flat.dtype.name, flat.size))
            if program is None:
                program = self._programs[key] = self._compile(*key)
            result = program.execute_sharded([self._first.put(flat)])
        return np.asarray(memoryview(result.disassemble_into_single_device_arrays()[0][0]))

    def _compile(self, text: str, dtype: str, size: int) -> Any:
        """Compiles the program of a sum of vectors, or of them all, on the first device of each process."""
        jaxlib, devices = self._jax, self.all[:: self.count]
        count = len(devices)
        options = jaxlib.CompileOptions()
        options.num_replicas = count
        numbers = np.array([d.id for d in devices], np.int32).reshape(count, 1)
        options.device_assignment = jaxlib.DeviceAssignment.create(numbers)
        module = text.format(count=count, size=size, all=count * size, element=ELEMENTS[dtype],
                             group=", ".join(map(str, range(count))))
        return self.client.compile_and_load(module.encode(), jaxlib.DeviceList(tuple(devices)), options)


def make_way(service: Any, who: Member, number: int, limit: int) -> None:
    """Removes what an earlier client said about itself, when all processes have stopped using it.

    Args:
      service: the connection to the coordinator.
      who: which process this one is.
      number: how many clients there were.
      limit: how many seconds to wait for the others.
    Raises: RuntimeError if they do not come.
    """
    all_of_them = list(range(who.size))  # the coordinator's own process may belong to them besides
    service.wait_at_barrier(f"graphgrad/client/{number}/stopped", 1000 * limit, all_of_them)
    if who.rank == 0:
        for said in _SAID:
            service.key_value_delete(said)
    service.wait_at_barrier(f"graphgrad/client/{number}/removed", 1000 * limit, all_of_them)


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
_GATHER = """
module @gather attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {count} : i32}} {{
  func.func public @main(%x: tensor<{size}x{element}>) -> tensor<{all}x{element}> {{
    %0 = "stablehlo.all_gather"(%x) <{{all_gather_dim = 0 : i64, replica_groups = dense<[[{group}]]> :
      tensor<1x{count}xi64>}}> : (tensor<{size}x{element}>) -> tensor<{all}x{element}>
    return %0 : tensor<{all}x{element}>
  }}
}}
"""
