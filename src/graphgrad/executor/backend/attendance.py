"""Which processes of a group are there: signs of life, and what those say that end their training.

A process that ends as it should says before which exchange it does, and keeps its connections until the others have
noticed. So they can tell it from one that was killed, and know that it took part in everything before.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

from .exchanges.coordinator_process import BEATS
from .membership import Member

BEAT, STILL = 1.0, 6.0  # seconds: between signs of life, and without one until others give up
_ENDED, _NOTICED, _PUBLISHED = "graphgrad/ended/", "graphgrad/noticed/", "graphgrad/published/"
_LOST = "graphgrad/lost"


class HasEnded(Exception):
    """Processes have ended their training before the exchange that this one is in.

    Args:
      who: the processes, and what they said.
    """

    def __init__(self, who: dict[int, str]):
        super().__init__("; ".join(text for _, text in sorted(who.items())))
        self.who = who


class Attendance:
    """What the processes of a group say of themselves, through the coordinator.

    Args:
      service: the connection to it.
      who: this process.
    """

    def __init__(self, service: Any, who: Member):
        self._service, self._who = service, who
        self._over, self._silence = threading.Event(), Silence()
        self._thread = threading.Thread(target=self._beat, name="graphgrad-beat", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._over.wait(BEAT):
            try:
                self._service.key_value_increment(f"{BEATS}{self._who.rank}", 1)
            except RuntimeError:
                return
            beats = self._said(BEATS)
            self._silence.note({rank: beats.get(rank, "") for rank in range(self._who.size) if rank != self._who.rank})

    def stop(self) -> None:
        """Gives no more signs of life."""
        self._over.set()
        self._thread.join()

    def silent(self) -> str:
        """Returns which process stands still, for errors; "" if none does."""
        found = self._silence.of(range(self._who.size))
        return f"process {found[0]} has given no sign of life for {STILL:.0f} s" if found else ""

    def _said(self, key: str) -> dict[int, str]:
        with contextlib.suppress(RuntimeError):
            return {int(name.rpartition("/")[2]): text for name, text in self._service.key_value_dir_get(key)}
        return {}

    def announce(self, exchange: int, text: str) -> None:
        """Says that this process ends its training before an exchange.

        Args:
          exchange: its number.
          text: for the others' errors.
        """
        with contextlib.suppress(RuntimeError):
            self._service.key_value_set(f"{_ENDED}{self._who.rank}", f"{exchange} {text}", True)

    def check(self, exchange: int) -> None:
        """Raises HasEnded if others have ended their training before an exchange."""
        found = {rank: text.partition(" ") for rank, text in self._said(_ENDED).items() if rank != self._who.rank}
        ended = {rank: text for rank, (number, _, text) in found.items() if int(number) <= exchange}
        if ended:
            raise HasEnded(ended)

    def give_up(self, why: str) -> None:
        """Says that this process has lost the others."""
        with contextlib.suppress(RuntimeError):
            self._service.key_value_set(_LOST, f"process {self._who.rank} has given up: {why}")

    def given_up(self) -> str:
        """Returns what the first process has said that lost the others; "" if none has."""
        with contextlib.suppress(RuntimeError):
            return str(self._service.key_value_try_get(_LOST))
        return ""

    def publish(self, text: str) -> None:
        """Says something to those that ask later."""
        with contextlib.suppress(RuntimeError):
            self._service.key_value_set(f"{_PUBLISHED}{self._who.rank}", text, True)

    def published(self) -> dict[int, str]:
        """Returns what others have said."""
        return {rank: text for rank, text in self._said(_PUBLISHED).items() if rank != self._who.rank}

    def notice(self) -> None:
        """Says that this process makes no more exchanges in this group."""
        with contextlib.suppress(RuntimeError):
            self._service.key_value_set(f"{_NOTICED}{self._who.rank}", "", True)

    def wait_for_others(self, limit: float) -> list[int]:
        """Waits until all others have ended their training, or have noticed that some have.

        Args:
          limit: how many seconds to wait.
        Returns: those that did not, since they are gone or take too long.
        """
        until = time.monotonic() + limit
        while True:
            done = {self._who.rank, *self._said(_ENDED), *self._said(_NOTICED)}
            missing = [rank for rank in range(self._who.size) if rank not in done]
            silent = self._silence.of(missing)
            if len(silent) == len(missing) or time.monotonic() >= until or not self._answers():
                return missing
            time.sleep(BEAT / 10)

    def _answers(self) -> bool:
        """Returns whether the coordinator does."""
        try:
            self._service.key_value_dir_get(_ENDED)
        except RuntimeError:
            return False
        return True


class Silence:
    """Which processes have given no sign of life for too long: by the clock, and by how often this one has looked.

    Looking counts, too, since the clock also goes on while this process itself stands still.
    """

    def __init__(self) -> None:
        self._seen: dict[int, tuple[str, float, int]] = {}  # the last sign, when it was seen, how often since
        self._silent: frozenset[int] = frozenset()

    def note(self, beats: dict[int, str]) -> None:
        """Takes note of what was seen now.

        Args:
          beats: process -> how many signs of life it has given; "" for none so far.
        """
        now, found = time.monotonic(), set()
        for rank, beat in beats.items():
            last, since, times = self._seen.get(rank, (None, now, 0))
            self._seen[rank] = (beat, since, times + 1) if last == beat else (beat, now, 0)
            if last == beat and now - since > STILL and times + 1 >= STILL / BEAT:
                found.add(rank)
        self._silent = frozenset(found)

    def of(self, ranks: Any) -> list[int]:
        """Returns those of some processes that are silent."""
        return [rank for rank in ranks if rank in self._silent]
