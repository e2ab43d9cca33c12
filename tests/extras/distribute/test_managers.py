"""Processes that SLURM or Kubernetes has started: their variables are understood as JAX understands them."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import types
from typing import Any

import pytest

from graphgrad.executor.backend import membership
from tests import ROOT

from .clustered import ports

_SLURM = {"SLURM_JOB_ID": "77", "SLURM_STEP_NODELIST": "node[007-009],other", "SLURM_NTASKS": "6", "SLURM_PROCID": "4",
          "SLURM_LOCALID": "1", "SLURM_STEP_NUM_NODES": "3"}


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the variables of managers."""
    for name in [*_SLURM, "JOB_COMPLETION_INDEX", "KUBERNETES_SERVICE_HOST", "OMPI_COMM_WORLD_RANK",
                 "JAX_COORDINATOR_PORT"]:
        monkeypatch.delenv(name, raising=False)


def test_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    """SLURM's variables say which process this one is; the first node runs the coordinator."""
    assert membership.found_by_the_engine() is None
    for name, value in _SLURM.items():
        monkeypatch.setenv(name, value)
    # JAX's port: the job's number above 65535 - 4095.
    assert membership.found_by_the_engine() == (4, 6, 1, 6, f"node007:{65535 - 4095 + 77}")
    monkeypatch.setenv("JAX_COORDINATOR_PORT", "1234")
    assert membership.found_by_the_engine() == (4, 6, 1, 6, "node007:1234")
    monkeypatch.setenv("SLURM_PROCID", "6")
    with pytest.raises(ValueError, match=r"(?s)SlurmCluster: process 6 is none of 6.*Fix:"):
        membership.found_by_the_engine()
    monkeypatch.setenv("SLURM_NTASKS", "1")
    assert membership.found_by_the_engine() is None


def test_kubernetes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Job's pods are the processes; a stand-in for its Python client answers what JAX asks for."""
    spec = types.SimpleNamespace(parallelism=3, subdomain="pods")
    owner = types.SimpleNamespace(controller=True, kind="Job")
    meta = types.SimpleNamespace(name="train", labels={"job-name": "train"}, owner_references=[owner])
    thing = types.SimpleNamespace(spec=spec, metadata=meta)
    core = types.SimpleNamespace(list_namespaced_pod=lambda **_: types.SimpleNamespace(items=[thing]))
    batch = types.SimpleNamespace(read_namespaced_job=lambda **_: thing)
    client: Any = types.ModuleType("kubernetes")
    client.config = types.SimpleNamespace(load_incluster_config=lambda: None)
    client.client = types.SimpleNamespace(CoreV1Api=lambda: core, BatchV1Api=lambda: batch,
                                          exceptions=types.SimpleNamespace(ApiException=OSError))
    monkeypatch.setitem(sys.modules, "kubernetes", client)
    import jax._src.clusters.k8s_cluster as engine

    monkeypatch.setattr(engine.K8sCluster, "_namespace", classmethod(lambda cls: "default"))
    monkeypatch.setattr(engine.socket, "gethostbyname", lambda host: "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.254")
    monkeypatch.setenv("HOSTNAME", "train-1-abc")
    assert membership.found_by_the_engine() is None  # no Job
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "2")
    assert membership.found_by_the_engine() == (2, 3, 2, 3, "train-0.pods:55527")


def test_a_program_of_slurm(tmp_path: pathlib.Path) -> None:
    """Two processes with SLURM's variables find each other."""
    program = tmp_path / "program.py"
    program.write_text("import graphgrad as tf, graphgrad.horovod as hvd\nhvd.init()\n"
                       "print(hvd.rank(), hvd.local_rank(), hvd.allreduce(tf.constant([1.0 + hvd.rank()])).numpy())\n")
    told = {**_SLURM, "SLURM_STEP_NODELIST": "localhost", "SLURM_NTASKS": "2", "JAX_COORDINATOR_PORT": str(ports(1)[0]),
            "PYTHONPATH": str(ROOT / "src")}
    started = [subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, env={**os.environ, **told, "SLURM_PROCID": str(i), "SLURM_LOCALID": str(i)})
               for i in range(2)]
    try:
        outputs = [process.communicate(timeout=120)[0] for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    for i, output in enumerate(outputs):
        assert output.splitlines()[-1] == f"{i} {i} [1.5]", output
