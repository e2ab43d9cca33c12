"""`SyncReplicasOptimizer`: one update for the gradients of all workers."""

from __future__ import annotations

from typing import Any

from graphgrad.errors import UnimplementedError
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables import clusters
from graphgrad.frontend.variables.variable import VariableV1
from graphgrad.frontend.variables.variable_functions import global_variables, report_uninitialized_variables
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.scopes import name_scope
from graphgrad.ops.control.group import group, no_op
from graphgrad.system.log import Log
from graphgrad.training.coordination.queue_runner import QueueRunner
from graphgrad.training.optimizers.in_turn import means
from graphgrad.training.optimizers.optimizer import Optimizer

from .session_hooks import SessionRunHook

_log = Log("tensorflow")


class SyncReplicasOptimizer(Optimizer):
    """Updates variables once for the gradients of all workers of a cluster, with their mean.

    Args:
      opt: the optimizer that updates.
      replicas_to_aggregate: the number of gradients for one update; all workers' are taken if it is smaller.
      total_num_replicas: the number of workers; replicas_to_aggregate if not given.
      variable_averages: an `ExponentialMovingAverage` to apply after each update.
      variables_to_average: the variables that it averages.
      use_locking: accepted; updates of one run never interleave.
      name: a name for the operations.
    Raises: UnimplementedError for more gradients than there are workers.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.SyncReplicasOptimizer`.

    >>> w, step = tf.Variable(2.0), tf.train.get_or_create_global_step()
    >>> optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), 1)
    >>> train = optimizer.minimize(w * w, step)
    >>> with tf.train.MonitoredTrainingSession(hooks=[optimizer.make_session_run_hook(True)]) as session:
    ...     _ = session.run(train)
    ...     session.run([w, step])
    [np.float32(1.0), np.int64(1)]
    """

    def __init__(self, opt: Any, replicas_to_aggregate: int, total_num_replicas: Any = None,
                 variable_averages: Any = None, variables_to_average: Any = None, use_locking: bool = False,
                 name: str = "sync_replicas"):
        super().__init__(use_locking, name)
        total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        self._opt, self._needed, self._total = opt, int(replicas_to_aggregate), int(total)
        self._averages, self._averaged = variable_averages, variables_to_average
        self._gradients_applied = False
        cluster = clusters.current()
        workers = 1 if cluster is None else len(cluster.workers)
        if self._needed > workers:
            raise UnimplementedError(None, None, f"SyncReplicasOptimizer: {self._needed} gradients for each update, of "
                                     f"{workers} worker{'s' * (workers != 1)}, are not offered: each worker gives one. "
                                     f"Fix: replicas_to_aggregate={workers}, with larger batches; or make the "
                                     "tf.train.Server of a cluster of several workers first")
        if self._needed < workers:
            _log.warning("SyncReplicasOptimizer: the gradients of all %d workers are averaged, not those of the first "
                         "%d: no worker is left behind here.", workers, self._needed)

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Computes this worker's gradients, as the optimizer does that it was given.

        Args:
          *args, **kwargs: those of that optimizer's method.
        """
        return self._opt.compute_gradients(*args, **kwargs)

    # TensorFlow's has no `skip_gradients_aggregation` here either.
    # Silenced: other arguments than the base's, as in TensorFlow.
    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,  # type: ignore[override]
                        name: str | None = None) -> Any:
        """Builds the operation that updates the variables with the mean of all workers' gradients.

        Args:
          grads_and_vars: this worker's pairs, as `compute_gradients` returns them.
          global_step: a variable to raise by one for each update.
          name: a name for the operation.
        Returns: the `Operation`.
        Raises: ValueError without variables, or without a global step.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        graph = get_default_graph()
        with graph.device(None), name_scope(None):
            self._local_step = VariableV1(0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                                          dtype=global_step.dtype.base_dtype, name="sync_rep_local_step")
        self.local_step_init_op = self._local_step.initializer
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with clusters.as_given():
            applied = self._opt.apply_gradients(means(pairs), global_step, name)
            if self._averages is not None:
                with graph.control_dependencies([applied]):
                    applied = group(applied, self._averages.apply(self._averaged))
            with graph.control_dependencies([applied]):
                train = self._local_step.assign(global_step.read_value(), read_value=False)
            self.chief_init_op = group(self.local_step_init_op)
        self._runner, self._gradients_applied = _Idle(), True
        if train not in (ops := graph.get_collection_ref(GraphKeys.TRAIN_OP)):
            ops.append(train)
        return train

    def get_chief_queue_runner(self) -> Any:
        """Returns a queue runner, as TensorFlow's chief needs one; it has nothing to do here.

        Raises: ValueError before `apply_gradients`.
        """
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """Returns an operation, as TensorFlow's chief needs one to let workers begin; it does nothing here.

        Args:
          num_tokens: how many may begin; checked.
        Raises: ValueError before `apply_gradients`, and for too few.
        """
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._needed - self._total
        if num_tokens != -1 and num_tokens < needed:
            raise ValueError(f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} (needed)")
        return no_op("init_tokens")

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """Makes the hook that TensorFlow's monitored sessions need.

        Args:
          is_chief: whether this worker is the chief.
          num_tokens: as for `get_init_tokens_op`.
        """
        return _Hook(self, is_chief, num_tokens)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a slot of the optimizer that it was given.

        Args:
          *args, **kwargs: those of that optimizer's method.
        """
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the names of the slots of the optimizer that it was given.

        Args:
          *args, **kwargs: those of that optimizer's method.
        """
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        """Returns the variables of the optimizer that it was given."""
        return self._opt.variables()


class _Idle(QueueRunner):
    """A queue runner without a queue."""

    def __init__(self) -> None:
        pass

    @property
    def name(self) -> str:
        """The name of the queue that TensorFlow's has."""
        return "sync_token_q"

    def create_threads(self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False) -> list[Any]:
        """Returns no threads."""
        return []


class _Hook(SessionRunHook):
    """The hook of a `SyncReplicasOptimizer`.

    Args:
      optimizer: the optimizer.
      is_chief, num_tokens: as for its `make_session_run_hook`.
    """

    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int):
        self._optimizer, self._is_chief, self._tokens = optimizer, is_chief, num_tokens

    def begin(self) -> None:
        """Checks that the optimizer was used."""
        if not self._optimizer._gradients_applied:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        if self._is_chief:
            self._optimizer.get_init_tokens_op(self._tokens)
