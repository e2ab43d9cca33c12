"""Which parameter server gets a variable: `ps_strategy` of `tf.train.replica_device_setter`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from graphgrad.ir.graph import Operation
from graphgrad.ir.shape import TensorShape


class RandomStrategy:
    """Chooses a server by a digest of the operation's name, the same in all processes.

    Args:
      num_ps_tasks: the number of servers.
      seed: for another choice.
    Reference: TensorFlow 1.15 `tf.contrib.training.RandomStrategy`.

    >>> from graphgrad.extras.contrib.device_strategies import RandomStrategy
    >>> [RandomStrategy(2)(tf.constant(1.0, name=name).op) for name in ("u", "v")]
    [0, 1]
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0):
        self._tasks, self._seed = num_ps_tasks, seed

    def __call__(self, op: Operation) -> int:
        """Returns the number of the server for an operation."""
        digest = hashlib.md5(f"{op.name}_{self._seed}".encode(), usedforsecurity=False).hexdigest()
        return int(digest, 16) % self._tasks


class GreedyLoadBalancingStrategy:
    """Chooses the server with the smallest load so far; the first one of several.

    Args:
      num_tasks: the number of servers.
      load_fn: a function from an operation to its load, a number; `byte_size_load_fn` counts bytes.
    Reference: TensorFlow 1.15 `tf.contrib.training.GreedyLoadBalancingStrategy`.

    >>> from graphgrad.extras.contrib.device_strategies import GreedyLoadBalancingStrategy, byte_size_load_fn
    >>> strategy = GreedyLoadBalancingStrategy(2, byte_size_load_fn)
    >>> with tf.device(tf.train.replica_device_setter(2, ps_strategy=strategy)):
    ...     [tf.Variable(tf.zeros(shape)).device for shape in ([2, 2], [2, 1], [2])]
    ['/job:ps/task:0', '/job:ps/task:1', '/job:ps/task:1']
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Operation], float]):
        self._loads, self._load_fn = [0.0] * num_tasks, load_fn

    def __call__(self, op: Operation) -> int:
        """Returns the number of the server for an operation, and counts its load."""
        task = self._loads.index(min(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Operation) -> int:
    """Counts the bytes of a variable, or of an operation's only result.

    TensorFlow 1.15 counts one byte for a resource variable; here its value counts.

    Args:
      op: the operation.
    Raises: ValueError for several results, or a shape that is not known.

    >>> from graphgrad.extras.contrib.device_strategies import byte_size_load_fn
    >>> byte_size_load_fn(tf.zeros([2, 3]).op)
    24
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op.name} must have a single output")
    output = op.outputs[0]
    shape, dtype = output.shape, output.dtype
    if op.type == "VarHandleOp":
        shape, dtype = TensorShape(op._attr("shape")), op._attr("dtype")
    shape.assert_is_fully_defined()
    count: Any = shape.num_elements()
    return int(count) * int(dtype.base_dtype.size)
