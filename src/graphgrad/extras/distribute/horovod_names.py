"""Horovod's names: training with several processes, each of which runs the whole program on its part of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.errors import UnimplementedError
from graphgrad.executor.backend import membership
from graphgrad.executor.backend import process_group as processes
from graphgrad.frontend.variables.variable_functions import global_variables
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.ops.control.group import group as group_operations
from graphgrad.training.optimizers.optimizer import Optimizer
from graphgrad.training.sessions.session_hooks import SessionRunHook

from . import process_ops as process_ops  # registers the operations
from .collectives import divided
from .process_ops import gathered

Average, Sum = "Average", "Sum"


class Compression:
    """How gradients travel: `none`, as they are, or `fp16`, as numbers of 16 bits."""

    none = "none"
    fp16 = "fp16"


def init(comm: Any = None, process_sets: Any = None) -> None:
    """Waits for the other processes.

    Args:
      comm, process_sets: accepted if None: all processes belong together.
    Raises: UnavailableError if another process does not come in time; UnimplementedError for some of the processes.

    >>> import graphgrad.horovod as hvd
    >>> hvd.init()
    >>> hvd.rank(), hvd.size()
    (0, 1)
    """
    if comm or process_sets:
        raise UnimplementedError(None, None, "init of some of the processes is not offered: all belong together. "
                                 "Fix: leave out comm and process_sets")
    processes.group()


def shutdown() -> None:
    """Takes leave of the other processes."""
    processes.forget()


def is_initialized() -> bool:
    """Returns whether `init` was called."""
    return processes.has_joined()


def _who() -> membership.Member:
    if not processes.has_joined():
        raise ValueError("Horovod has not been initialized; use hvd.init().")
    return processes.group().who


def rank() -> int:
    """Returns the number of this process; ValueError before `init`."""
    return _who().rank


def size() -> int:
    """Returns the number of processes; ValueError before `init`."""
    return _who().size


def local_rank() -> int:
    """Returns the number of this process among those on this machine; ValueError before `init`."""
    return _who().local_rank


def local_size() -> int:
    """Returns the number of processes on this machine; ValueError before `init`."""
    return _who().local_size


# -- tensors ---------------------------------------------------------------------------


def allreduce(tensor: Any, average: Any = None, device_dense: str = "", device_sparse: str = "",
              compression: Any = Compression.none, op: Any = None, prescale_factor: float = 1.0,
              postscale_factor: float = 1.0, name: str | None = None) -> Any:
    """Returns the mean of a tensor over all processes, or its sum.

    Args:
      tensor: a tensor of the same shape in all processes; or `IndexedSlices`, whose rows are put behind each other.
      average: the older form of `op`.
      device_dense, device_sparse: accepted.
      compression: how it travels.
      op: `Average` (the default) or `Sum`.
      prescale_factor, postscale_factor: what it is multiplied by, before and after.
      name: a name for errors, and for the operation.
    Raises: UnimplementedError for another op; in a run InvalidArgumentError if processes disagree, UnavailableError if
      one is gone.
    Gradient: the mean, or sum, of the gradients of all processes.
    """
    return grouped_allreduce([tensor], average, device_dense, device_sparse, compression, op, prescale_factor,
                             postscale_factor, name)[0]


def grouped_allreduce(tensors: Sequence[Any], average: Any = None, device_dense: str = "", device_sparse: str = "",
                      compression: Any = Compression.none, op: Any = None, prescale_factor: float = 1.0,
                      postscale_factor: float = 1.0, name: str | None = None) -> list[Any]:
    """Returns the means of several tensors over all processes, which travel together; see `allreduce`.

    Args:
      tensors: the tensors; None stays None.
      average, device_dense, device_sparse, compression, op, prescale_factor, postscale_factor, name: as in `allreduce`.
    """
    count = size()
    mean = _is_mean(op, average)
    label = name or "allreduce"
    result = list(tensors)
    dense = [i for i, t in enumerate(tensors) if t is not None and not isinstance(t, IndexedSlices)]
    given = [convert_to_tensor(tensors[i]) for i in dense]
    if count > 1 and dense:
        sent = [_compressed(_scaled(t, prescale_factor), compression) for t in given]
        sums = raw.ProcessesAllReduce(sent, label=label, name=name)
    else:
        sums = [_scaled(t, prescale_factor) for t in given]
    for i, t, total in zip(dense, given, sums, strict=True):
        total = total if total.dtype is t.dtype else raw.Cast(total, DstT=t.dtype)
        result[i] = _scaled(divided(total, count) if mean and count > 1 else total, postscale_factor)
    sparse = [i for i, t in enumerate(tensors) if isinstance(t, IndexedSlices)] if count > 1 else []
    for i, s in zip(sparse, gathered([tensors[i] for i in sparse], f"{label} rows"), strict=True):
        result[i] = IndexedSlices(divided(s.values, count), s.indices, s.dense_shape) if mean else s
    return result


def _is_mean(op: Any, average: Any) -> bool:
    if op is not None and average is not None:
        raise ValueError("The op parameter supersedes average. Please provide only one of them.")
    if op not in (None, Average, Sum):
        raise UnimplementedError(None, None, f"hvd.allreduce with op={op!r} is not offered. "
                                 "Fix: hvd.Average or hvd.Sum")
    return bool(average) if average is not None else op != Sum


def _scaled(tensor: Any, factor: float) -> Any:
    return tensor if factor == 1.0 else raw.Mul(tensor, convert_to_tensor(factor, tensor.dtype))


def _compressed(tensor: Any, compression: Any) -> Any:
    from graphgrad.ir.dtypes import float16

    wanted = compression == Compression.fp16 and tensor.dtype.is_floating and tensor.dtype is not float16
    return raw.Cast(tensor, DstT=float16) if wanted else tensor


def allgather(tensor: Any, name: str | None = None) -> Any:
    """Returns the tensors of all processes, one behind the other along the first axis.

    Args:
      tensor: at least one dimension; all but the first are the same in all processes.
      name: a name for errors, and for the operation.
    Raises: ValueError for a scalar; in a run as `allreduce`.
    Gradient: this process's part of the sum of the gradients of all processes.
    """
    value = convert_to_tensor(tensor)
    if value.shape.rank == 0:
        raise ValueError("allgather: a scalar has no first axis; shape=(). Fix: tf.expand_dims(tensor, 0)")
    if size() == 1:
        return value
    return raw.ProcessesAllGather([value], label=name or "allgather", name=name)[0]


def broadcast(tensor: Any, root_rank: int, name: str | None = None) -> Any:
    """Returns the tensor of one process.

    Args:
      tensor: a tensor of the same shape in all processes.
      root_rank: the process whose tensor counts.
      name: a name for errors, and for the operation.
    Raises: ValueError if there is no such process; in a run as `allreduce`.
    Gradient: the sum of the gradients of all processes, in that process; zeros in the others.
    """
    _check_root(root_rank)
    value = convert_to_tensor(tensor)
    return value if size() == 1 else raw.ProcessesBroadcast([value], root=root_rank, label=name or "broadcast",
                                                            name=name)[0]


def _check_root(root: int) -> None:
    if not 0 <= root < size():
        raise ValueError(f"root_rank {root} is none of the {size()} processes. Fix: 0 for the first one")


def broadcast_variables(variables: Sequence[Any], root_rank: int) -> Any:
    """Gives variables the values that one process has.

    Args:
      variables: the variables, in the same order in all processes.
      root_rank: the process.
    Returns: an operation; None in eager mode.
    Raises: as `broadcast`.
    """
    _check_root(root_rank)
    variables = list(variables)
    if size() == 1 or not variables:
        return group_operations()
    values = raw.ProcessesBroadcast([v.read_value() for v in variables], root=root_rank, label="variables")
    changes = [v.assign(value, read_value=False) for v, value in zip(variables, values, strict=True)]
    return None if current_graph() is None else group_operations(*changes)


def broadcast_global_variables(root_rank: int) -> Any:
    """Returns an operation that gives all global variables the values that one process has.

    Args:
      root_rank: the process.
    Raises: RuntimeError in eager mode, where there is no such collection; as `broadcast`.
    """
    if current_graph() is None:
        raise RuntimeError("hvd.broadcast_global_variables() does not support eager execution. Please use "
                           "`hvd.broadcast_variables(<model/optimizer variables>)` instead.")
    return broadcast_variables(global_variables(), root_rank)


class BroadcastGlobalVariablesHook(SessionRunHook):
    """A hook of a monitored session that gives all variables one process's values, once they are initialized.

    Args:
      root_rank: the process.
      device: accepted.
    """

    def __init__(self, root_rank: int, device: str = ""):
        self._root, self._op = root_rank, None

    def begin(self) -> None:
        """Builds the operation."""
        self._op = broadcast_global_variables(self._root)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs it."""
        session.run(self._op)


# -- training --------------------------------------------------------------------------


class _DistributedOptimizer(Optimizer):
    """An optimizer whose gradients are means over all processes.

    Args:
      optimizer: what updates the variables.
      reduce: a function from gradients to their means.
      name: a name.
    """

    def __init__(self, optimizer: Any, reduce: Callable[[list[Any]], list[Any]], name: str):
        super().__init__(False, name)
        self._optimizer, self._reduce = optimizer, reduce

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Returns pairs as the optimizer's own method does, with means over all processes.

        Args:
          *args, **kwargs: those of the optimizer's own method.
        """
        pairs = self._optimizer.compute_gradients(*args, **kwargs)
        return list(zip(self._reduce([g for g, _ in pairs]), [v for _, v in pairs], strict=True))

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the optimizer's own method."""
        return self._optimizer.apply_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the optimizer's own method."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the optimizer's own method."""
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the optimizer's own method."""
        return self._optimizer.variables(*args, **kwargs)


def DistributedOptimizer(optimizer: Any, name: str | None = None, use_locking: bool = False, device_dense: str = "",
                         device_sparse: str = "", compression: Any = Compression.none, sparse_as_dense: bool = False,
                         backward_passes_per_step: int = 1, op: Any = Average) -> Any:
    """Makes an optimizer whose gradients are means over all processes.

    Args:
      optimizer: an optimizer of `tf.compat.v1.train`.
      name: a name.
      use_locking, device_dense, device_sparse: accepted.
      compression: how gradients travel.
      sparse_as_dense: whether `IndexedSlices` become tensors first.
      backward_passes_per_step: 1.
      op: `Average` or `Sum`.
    Raises: ValueError for another kind of optimizer; UnimplementedError for several passes for each step.
    """
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"hvd.DistributedOptimizer takes an optimizer of tf.compat.v1.train, not {optimizer!r}. "
                         "Fix: use hvd.DistributedGradientTape with other optimizers")
    if backward_passes_per_step != 1:
        raise UnimplementedError(None, None, "backward_passes_per_step other than 1 is not offered. Fix: add the "
                                 "gradients of several batches before apply_gradients")
    reduce = _reduction(compression, sparse_as_dense, op)
    return _DistributedOptimizer(optimizer, reduce, name or f"Distributed{type(optimizer).__name__}")


def _reduction(compression: Any, sparse_as_dense: bool, op: Any) -> Callable[[list[Any]], list[Any]]:
    def reduce(gradients: list[Any]) -> list[Any]:
        given = [convert_to_tensor(g) if sparse_as_dense and isinstance(g, IndexedSlices) else g for g in gradients]
        return grouped_allreduce(given, compression=compression, op=op, name="gradients")

    return reduce


class _DistributedTape:
    """A tape whose gradients are means over all processes."""

    def __init__(self, tape: Any, reduce: Callable[[list[Any]], list[Any]]):
        self._tape, self._reduce = tape, reduce

    def __enter__(self) -> _DistributedTape:
        self._tape.__enter__()
        return self

    def __exit__(self, *exc: Any) -> Any:
        return self._tape.__exit__(*exc)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tape, name)

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None, **kwargs: Any) -> Any:
        """Returns the tape's gradients, means over all processes.

        Args:
          target, sources, output_gradients, **kwargs: those of the tape's own method.
        """
        from graphgrad.frontend.structure import nest

        found = self._tape.gradient(target, sources, output_gradients, **kwargs)
        return nest.pack_sequence_as(sources, self._reduce(nest.flatten(found)))


def DistributedGradientTape(gradtape: Any, device_dense: str = "", device_sparse: str = "",
                            compression: Any = Compression.none, sparse_as_dense: bool = False,
                            op: Any = Average) -> Any:
    """Makes a tape whose gradients are means over all processes.

    Args:
      gradtape: a `tf.GradientTape`.
      device_dense, device_sparse: accepted.
      compression: how gradients travel.
      sparse_as_dense: whether `IndexedSlices` become tensors first.
      op: `Average` or `Sum`.
    """
    return _DistributedTape(gradtape, _reduction(compression, sparse_as_dense, op))
