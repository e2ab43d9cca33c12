"""What estimators ask about training in several processes: there is one."""

from __future__ import annotations

from typing import Any

from graphgrad.compat.internal.absent import stand_in


def init_run_config(config: Any, tf_config: Any) -> None:
    """Notes in a run's settings that nothing coordinates several processes.

    Args:
      config: a `RunConfig`.
      tf_config: the settings of the environment.
    """
    config._distribute_coordinator_mode = None


def should_run_distribute_coordinator(config: Any) -> bool:
    """Returns whether several processes are coordinated: never.

    Args:
      config: a `RunConfig`.
    """
    return False


estimator_evaluate = stand_in("estimator_evaluate", "several devices in one program", __name__)
estimator_train = stand_in("estimator_train", "several devices in one program", __name__)
train_and_evaluate = stand_in("train_and_evaluate", "several devices in one program", __name__)
