"""Whether all processes ask for the same sums: compared with process 0, when something is asked for the first time."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from graphgrad.errors import InvalidArgumentError

from .attendance import BEAT, STILL, Attendance, Silence
from .membership import Member, timeout


class Comparisons:
    """What this process has asked for so far, as the others have.

    Args:
      service: the connection to the coordinator.
      who: this process.
      attendance: which of the others are there.

    Attributes:
      compared: what was asked for.
    """

    def __init__(self, service: Any, who: Member, attendance: Attendance):
        self._service, self._who, self._attendance = service, who, attendance
        self.compared: set[str] = set()

    def compare(self, text: str, exchange: int) -> None:
        """Compares what is asked for.

        Args:
          text: what.
          exchange: the number of the exchange.
        Raises: InvalidArgumentError if another process asks for something else; RuntimeError if it is gone, or does
          not come; HasEnded if it will not.
        """
        number, rank = len(self.compared), self._who.rank
        key = f"graphgrad/sum/{number}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        if rank == 0:
            self._service.key_value_set(key, f"{digest} {text[:500]}", True)
        theirs = self._told(key, exchange)
        self._service.key_value_set(f"{key}/{rank}", digest, True)
        if rank == 0:
            for other in range(1, self._who.size):
                if self._told(f"{key}/{other}", exchange) != digest:
                    raise _disagree(number, other, text, 0, "something else")
        if theirs.partition(" ")[0] != digest:
            raise _disagree(number, rank, text, 0, theirs.partition(" ")[2])
        self.compared.add(text)

    def _told(self, key: str, exchange: int) -> str:
        """Waits for what another process says; raises as `compare`."""
        until, silence = time.monotonic() + timeout(), Silence(self._attendance)
        while True:
            begun = time.monotonic()
            try:
                return str(self._service.blocking_key_value_get(key, int(1000 * BEAT)))
            except RuntimeError as e:
                self._attendance.check(exchange)
                silent = silence.of(rank for rank in range(self._who.size) if rank != self._who.rank)
                if silent:
                    raise RuntimeError(f"process {silent[0]} has given no sign of life for {STILL:.0f} s") from None
                if time.monotonic() >= until:
                    raise RuntimeError(f"another process does not ask for it within {timeout()} s. Let every process "
                                       "make the same calls in the same order") from e
            time.sleep(max(0.0, BEAT - (time.monotonic() - begun)))


def _disagree(number: int, rank: int, text: str, other: int, theirs: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f"the processes run different programs: for the {th(number)} kind of sum "
                                f"over all of them, process {rank} asks for\n    {text[:300]}\n  and process {other} "
                                f"for\n    {theirs[:300]}\n  Fix: let every process make the same calls in the same "
                                "order; shapes must not depend on the process")


def th(number: int) -> str:
    """Returns an ordinal number, as a word: "first" for 0."""
    return {0: "first", 1: "second", 2: "third"}.get(number, f"{number + 1}th")
