"""Workers of a cluster that are killed, or stand still: the others notice, and go on from the last checkpoint."""

from __future__ import annotations

import pathlib

import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import attendance
from tests.support.effort import long

from .clustered import fault


@long("a killed chief that comes back is the harder case")
def test_a_killed_worker_comes_back(tmp_path: pathlib.Path) -> None:
    """The others wait until it is started again; all go on from the checkpoint, with equal variables."""
    tasks = fault(tmp_path, "SIGKILL", 2, 0.5, fewer=False)
    assert tf.train.load_checkpoint(str(tmp_path / "checkpoints")).get_tensor("global_step") == 80
    assert "joined" in tasks.results("ps")


def test_a_killed_chief_comes_back(tmp_path: pathlib.Path) -> None:
    """The others' sum fails; they wait for the chief, and get the values of its checkpoint."""
    tasks = fault(tmp_path, "SIGKILL", 2, 0.5, fewer=False, victim=0)
    assert tf.train.load_checkpoint(str(tmp_path / "checkpoints")).get_tensor("global_step") == 80
    said = "\n".join(tasks.lines["worker", 1])
    assert "An error was raised" in said and "since another one is gone or hangs" in said, said
    assert said.count('"step": 80') == 1, said  # it was not trained twice


@long("a chief that was killed is waited for in the same way")
def test_a_chief_that_stands_still(tmp_path: pathlib.Path) -> None:
    """A stopped chief is noticed by its silence; it is ended, and started again."""
    tasks = fault(tmp_path, "SIGSTOP", 2, 0.3, fewer=False, victim=0)
    assert tf.train.load_checkpoint(str(tmp_path / "checkpoints")).get_tensor("global_step") == 80
    said = "\n".join(tasks.lines["worker", 1])
    assert "process 0 has given no sign of life for 6 s" in said, said


def test_silence_is_noticed_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process whose signs of life end is noticed within nine of the intervals between them; one that lives is not."""
    now, beats = [0.0], {1: 0, 2: 0}
    monkeypatch.setattr(attendance.time, "monotonic", lambda: now[0])
    silence = attendance.Silence()
    for i in range(100):
        now[0] += attendance.BEAT
        beats[1] += 1
        beats[2] += i < 50
        silence.note({rank: str(beat) for rank, beat in beats.items()})
        if silence.of([1, 2]):
            break
    assert silence.of([1, 2]) == [2] and i - 50 < 8 / attendance.BEAT == 8.0


def test_who_stood_still_itself_is_not_misled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was stopped, and goes on later, does not take the others for silent."""
    now = [0.0]
    monkeypatch.setattr(attendance.time, "monotonic", lambda: now[0])
    silence = attendance.Silence()
    silence.note({1: "5"})
    now[0] += 100.0
    silence.note({1: "5"})  # the answer to a question of before
    assert silence.of([1]) == []


def test_fewer_go_on(tmp_path: pathlib.Path) -> None:
    """If told so, the others go on without a worker that was killed."""
    fault(tmp_path, "SIGKILL", 3, 0.3, fewer=True)
    assert tf.train.load_checkpoint(str(tmp_path / "checkpoints")).get_tensor("global_step") == 80


@long("a worker that was killed is left behind in the same way")
def test_a_worker_that_stands_still(tmp_path: pathlib.Path) -> None:
    """A worker that is stopped is left behind, too."""
    fault(tmp_path, "SIGSTOP", 3, 0.3, fewer=True)
    assert tf.train.load_checkpoint(str(tmp_path / "checkpoints")).get_tensor("global_step") == 80
