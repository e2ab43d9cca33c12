"""`replica_device_setter`: variables on parameter servers, the rest on a worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.ir.graph import Operation
from graphgrad.system.device_names import merge

from .cluster_spec import ClusterSpec

_OF_VARIABLES = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
                 "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
                 "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp",
                 "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
                 "DecisionTreeResource")


def replica_device_setter(ps_tasks: int = 0, ps_device: Any = "/job:ps", worker_device: Any = "/job:worker",
                          merge_devices: bool = True, cluster: Any = None, ps_ops: Any = None,
                          ps_strategy: Any = None) -> Callable[[Operation], str] | None:
    """Makes a function for `tf.device` that assigns variables to parameter servers, in turn, and the rest to a worker.

    The workers of a `tf.train.Server` each have a copy of the variables that are placed on servers.

    Args:
      ps_tasks: the number of parameter servers; 0 for none.
      ps_device, worker_device: the devices' names.
      merge_devices: accepted; names are merged.
      cluster: a `ClusterSpec`, whose job 'ps' (or what ps_device names) is counted.
      ps_ops: the op types of variables.
      ps_strategy: a function from an operation to the number of its server.
    Returns: the function; None without parameter servers.
    Raises: TypeError if `ps_strategy` is not a function.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.replica_device_setter`.
    """
    if cluster is not None:
        jobs = ClusterSpec(cluster).as_dict()
        name = ps_device.partition("/job:")[2].partition("/")[0] or "ps"
        ps_tasks = len(jobs[name]) if name in jobs else 0
    if ps_tasks == 0:
        return None
    ops = tuple(ps_ops) if ps_ops is not None else _OF_VARIABLES
    if ps_strategy is None:
        ps_strategy = _in_turn(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    strategy: Callable[[Any], int] = ps_strategy

    def choose(op: Any) -> str:
        own = op.device or ""
        if op.type in ops:
            base = ps_device if "/task:" in ps_device else f"{ps_device}/task:{strategy(op)}"
            return merge(base, own)
        return merge(worker_device or "", own)

    return choose


def _in_turn(tasks: int) -> Callable[[Any], int]:
    count = 0

    def next_one(op: Any) -> int:
        nonlocal count
        count += 1
        return (count - 1) % tasks

    return next_one
