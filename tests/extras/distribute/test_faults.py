"""Workers of a cluster that are killed, or stand still: the others notice, and go on from the last checkpoint."""

from __future__ import annotations

import pathlib

import graphgrad.compat.v1 as tf
from tests.support.effort import long

from .clustered import fault


def test_a_killed_worker_comes_back(tmp_path: pathlib.Path) -> None:
    """The others wait until it is started again; all go on from the checkpoint, with equal variables."""
    tasks = fault(tmp_path, "SIGKILL", 2, 0.5, fewer=False)
    assert tf.train.load_checkpoint(str(tmp_path / "checkpoints")).get_tensor("global_step") == 80
    assert "joined" in tasks.results("ps")


def test_fewer_go_on(tmp_path: pathlib.Path) -> None:
    """If told so, the others go on without a worker that was killed."""
    fault(tmp_path, "SIGKILL", 3, 0.3, fewer=True)
    assert tf.train.load_checkpoint(str(tmp_path / "checkpoints")).get_tensor("global_step") == 80


@long("a worker that was killed is left behind in the same way")
def test_a_worker_that_stands_still(tmp_path: pathlib.Path) -> None:
    """A worker that is stopped is left behind, too."""
    fault(tmp_path, "SIGSTOP", 3, 0.3, fewer=True)
    assert tf.train.load_checkpoint(str(tmp_path / "checkpoints")).get_tensor("global_step") == 80
