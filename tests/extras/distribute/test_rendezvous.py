"""Which tasks of a cluster go on together: to begin, after a loss, and after some have ended their training."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from graphgrad.executor.backend import rendezvous_process


class _Place(rendezvous_process.Rendezvous):
    """Three workers of a cluster, without their processes and coordinators."""

    def __init__(self) -> None:
        super().__init__("127.0.0.1", 3, "cluster")
        self.found: dict[int, Any] = {}
        for task in range(3):
            self.come(task)

    def _coordinator(self, size: int) -> str:
        return "somewhere"

    def come(self, task: int) -> None:
        """Lets a worker come, or come back."""
        self._come({"come": "worker", "cluster": "cluster"}, task, task)

    def go(self, task: int) -> None:
        """Lets a worker be killed."""
        with self._changed:
            self._present.pop(task, None)

    def wait(self, why: str, *tasks: int, fewer: Any = None) -> list[threading.Thread]:
        """Lets workers meet."""
        def one(task: int) -> None:
            self.found[task] = self._meet(task, 60.0, fewer, why)

        threads = [threading.Thread(target=one, args=(task,)) for task in tasks]
        for thread in threads:
            thread.start()
        self.until(lambda: all(task in self._waiting or task in self.found for task in tasks))
        return threads

    def until(self, condition: Callable[[], bool]) -> None:
        """Waits for something that other threads do."""
        while not condition():
            time.sleep(0.01)

    def together(self, *groups: list[threading.Thread]) -> list[Any]:
        """Returns who is with whom, as each of those that met was told."""
        for threads in groups:
            for thread in threads:
                thread.join()
        found, self.found = self.found, {}
        return [found[task].get("tasks", found[task]) for task in sorted(found)]


@pytest.fixture
def place() -> _Place:
    """Three workers that have begun together."""
    made = _Place()
    assert made.together(made.wait("begin", 0, 1, 2)) == [[0, 1, 2]] * 3
    return made


def test_after_a_loss(place: _Place) -> None:
    """Those that are left wait for the one that was killed."""
    place.go(2)
    left = place.wait("again", 0, 1)
    with place._changed:
        place._form()
    assert not place.found
    place.come(2)
    assert place.together(left, place.wait("begin", 2)) == [[0, 1, 2]] * 3


def test_after_an_end(place: _Place) -> None:
    """Those that are left go on; later, they do not wait for the one that has ended."""
    place._part(1)
    assert place.together(place.wait("on", 0, 2)) == [[0, 2]] * 2
    place.go(0)
    left = place.wait("again", 2)
    place.come(0)
    assert place.together(left, place.wait("begin", 0)) == [[0, 2]] * 2


def test_a_loss_and_an_end(place: _Place) -> None:
    """Those that would go on are told if another one is gone, or waits for another reason."""
    place._part(1)
    place.go(2)
    (told,) = place.together(place.wait("on", 0))
    assert told["lost"] == [2] and "gone" in told["error"]
    place.come(2)
    again = place.wait("begin", 2)
    (told,) = place.together(place.wait("on", 0))
    assert told["lost"] == [2]
    assert place.together(again, place.wait("again", 0)) == [[0, 2]] * 2


def test_the_next_training(place: _Place) -> None:
    """Those that have ended one training begin the next one together, also while others are still in the first."""
    place._part(0)
    place._part(1)
    early = place.wait("begin", 0)
    assert place.together(place.wait("on", 2)) == [[2]]
    place._part(2)
    assert place.together(early, place.wait("begin", 1, 2)) == [[0, 1, 2]] * 3


def test_fewer(place: _Place) -> None:
    """Fewer go on after some time, if they want to, and if the first one is there."""
    place.go(2)
    assert place.together(place.wait("again", 0, 1, fewer=0.2)) == [[0, 1]] * 2
    place._part(1)
    assert place.together(place.wait("on", 0)) == [[0]]
