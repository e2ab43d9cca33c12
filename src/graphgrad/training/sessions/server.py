"""`Server`: this process as a task of a cluster."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import socket
import time
from typing import Any

from graphgrad.errors import InternalError, InvalidArgumentError, UnknownError
from graphgrad.executor.backend import membership, rendezvous
from graphgrad.executor.runtime import servers
from graphgrad.frontend.config.config_proto import ClusterDef, ConfigProto
from graphgrad.frontend.variables import clusters
from graphgrad.ir.proto.messages import Message

from .cluster_spec import ClusterSpec
from .sharing import before_run, share

JOINING = "GRAPHGRAD_JOIN_TIMEOUT"
_FOREVER = 10.0**9
_numbers = itertools.count(1)


class ServerDef(Message):
    """A task of a cluster, as a protocol buffer."""

    FIELDS = {"cluster": (1, ClusterDef), "job_name": (2, "string"), "task_index": (3, "int"),
              "default_session_config": (4, ConfigProto), "protocol": (5, "string")}


class Server:
    """This process as a task of a cluster; sessions with its target share their variables.

    A worker computes together with the other workers. Each has a copy of the variables that TensorFlow's workers share.
    A parameter server has nothing to do: its `join` returns when all workers have ended.

    Args:
      server_or_cluster_def: a `ClusterSpec`, what makes one, or a `ServerDef`.
      job_name, task_index: this process's task; may be omitted if there is one.
      protocol, config: accepted; without effect.
      start: whether to start at once.
    Raises: ValueError if the task is not clear; InternalError if the cluster has no such task; UnknownError if its port
      is taken.
    Reference: TensorFlow 2.21 `tf.distribute.Server`.

    >>> server = tf.train.Server.create_local_server()
    >>> with tf.Session(server.target) as session:
    ...     session.run(tf.constant(3))
    np.int32(3)
    """

    def __init__(self, server_or_cluster_def: Any, job_name: Any = None, task_index: Any = None, protocol: Any = None,
                 config: Any = None, start: bool = True):
        self._def = _definition(server_or_cluster_def, job_name, task_index, protocol, config)
        self._spec = ClusterSpec(self._def.cluster)
        job, task = self._def.job_name, int(self._def.task_index)
        if job not in self._spec.jobs:
            raise InternalError(None, None, f'Job "{job}" was not defined in cluster. Fix: one of {self._spec.jobs}')
        if task not in self._spec.task_indices(job):
            raise InternalError(None, None, f'Task {task} was not defined in job "{job}". Fix: one of '
                                f"{self._spec.task_indices(job)}")
        jobs = {name: {i: self._spec.task_address(name, i) for i in self._spec.task_indices(name)}
                for name in self._spec.jobs}
        self._cluster = clusters.Tasks(jobs, job, task)
        self._address = jobs[job][task]
        self._digest = hashlib.sha256(json.dumps(self._spec.as_dict(), sort_keys=True).encode()).hexdigest()
        self._meeting: rendezvous.Meeting | None = None
        self._helper: Any = None
        self._target = ""
        if start:
            self.start()

    @property
    def target(self) -> str:
        """The target for sessions."""
        return self._target

    @property
    def server_def(self) -> ServerDef:
        """The cluster and the task, as a protocol buffer."""
        return self._def

    def start(self) -> None:
        """Takes the task's port; workers are waited for when they are first needed."""
        if self._target:
            return
        several = len(self._cluster.workers) > 1 or self._cluster.rank < 0
        host, port = self._address.rpartition(":")[::2]
        self._port = _Port(self._address) if not several or self._cluster.rank else None
        if several and self._cluster.rank == 0:
            self._helper = rendezvous.start(self._address, len(self._cluster.workers), self._digest)
        number = self._port.number if self._port is not None else int(port)
        self._target = f"grpc://{host}:{number}"
        if several and self._cluster.rank >= 0:
            clusters.join(self._cluster)
            name = f"{self._cluster.job} {self._cluster.task}"
            membership.meet_by(membership.Meetings(self._meet, self._part, name))
        servers.serve(self._target, servers.Served(self._cluster.tasks, share if several else None, before_run))

    def _first(self) -> str:
        job, task = self._cluster.workers[0]
        return self._cluster.jobs[job][task]

    def _meet(self, why: str) -> membership.Member:
        limit = float(membership.timeout())
        if self._meeting is not None and self._meeting.is_lost:
            self._meeting = None
        if self._meeting is None:
            self._meeting = rendezvous.Meeting(self._first(), "worker", self._cluster.rank, self._digest, limit)
        return self._meeting.meet(limit, why)

    def _part(self) -> None:
        if self._meeting is not None:
            self._meeting.part()

    def join(self) -> None:
        """Waits: a parameter server until all workers have ended, another task for ever, as TensorFlow's do.

        Raises: DeadlineExceededError if the first worker does not come within GRAPHGRAD_JOIN_TIMEOUT seconds.
        """
        if self._cluster.rank < 0 and self._cluster.workers:
            limit = float(os.environ.get(JOINING, _FOREVER))
            rendezvous.Meeting(self._first(), "ps", int(self._def.task_index), self._digest, limit).wait_for_workers()
            return
        while True:
            time.sleep(3600)

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """Makes a server that is the only task of its cluster.

        Args:
          config: accepted; without effect.
          start: whether to start at once.
        """
        return Server({"localhost": ["localhost:0"]}, config=config, start=start)


class _Port:
    """A port of this machine that is taken, but not listened at.

    Args:
      address: host and port; port 0 for a free one.
    Raises: UnknownError if it is taken already.
    """

    def __init__(self, address: str):
        where = rendezvous.split(address)
        taken = socket.socket()
        try:
            taken.bind(where)
        except OSError as e:
            taken.close()
            raise UnknownError(None, None, f"Could not start gRPC server: {address}: {e.strerror}. Fix: give each task "
                               "a port of its own that is free, on its own machine") from None
        self.number = int(taken.getsockname()[1])
        taken.detach()  # it stays taken while the process lives, as TensorFlow's servers do


def _definition(given: Any, job: Any, task: Any, protocol: Any, config: Any) -> ServerDef:
    """Returns what a server is made from; what is not given is found if there is no choice."""
    made = ServerDef()
    if isinstance(given, ServerDef):
        made.CopyFrom(given)
        job = made.job_name if job is None else job
        task = int(made.task_index) if task is None else task
        protocol = protocol or made.protocol
    else:
        made.cluster.CopyFrom(ClusterSpec(given).as_cluster_def())
    spec = ClusterSpec(made.cluster)
    if job is None:
        if len(spec.jobs) != 1:
            raise ValueError("Must specify an explicit `job_name`.")
        job = spec.jobs[0]
    if task is None:
        tasks = spec.task_indices(job) if job in spec.jobs else []
        if len(tasks) != 1:
            raise ValueError("Must specify an explicit `task_index`.")
        task = tasks[0]
    if not isinstance(job, str):
        raise InvalidArgumentError(None, None, f"job_name is the name of a job, not {job!r}")
    made.job_name, made.task_index, made.protocol = job, int(task), protocol or "grpc"
    if config is not None:
        made.default_session_config.CopyFrom(config)
    return made
