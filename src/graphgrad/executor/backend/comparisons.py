"""Whether all processes ask for the same: compared with process 0, when something is asked for the first time.

What has been compared, and is asked for again, is told to the others only where one waits for too long, or where a
small sum has found out that they are about to do different things.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from typing import Any

from graphgrad.errors import InvalidArgumentError

from .attendance import BEAT, Attendance
from .exchanges.coordinator_process import LEAVING
from .membership import Member, timeout

_AT = "graphgrad/at"


class Comparisons:
    """What this process has asked for so far, as the others have.

    Args:
      service: the connection to the coordinator.
      who: this process.
      attendance: which of the others are there.

    Attributes:
      compared: what was asked for, and is the same in all processes.
      asked: how often texts were compared.
    """

    def __init__(self, service: Any, who: Member, attendance: Attendance):
        self._service, self._who, self._attendance = service, who, attendance
        self.compared: set[str] = set()
        self.asked = 0

    def compare(self, text: str, noun: str, exchange: int) -> None:
        """Compares what is asked for.

        Args:
          text: what.
          noun: what that is, for errors.
          exchange: the number of the exchange.
        Raises: InvalidArgumentError if another process asks for something else; RuntimeError if it is gone, or does
          not come; HasEnded if it will not.
        """
        number, rank = self.asked, self._who.rank
        self.asked += 1
        key = f"graphgrad/asked/{number}"
        mine = f"{hashlib.sha256(text.encode()).hexdigest()[:16]} {text[:500]}"
        if rank == 0:
            self._service.key_value_set(key, mine, True)
        theirs = self._told(key, exchange)
        self._service.key_value_set(f"{key}/{rank}", mine, True)
        if rank == 0:
            for other in range(1, self._who.size):
                found = self._told(f"{key}/{other}", exchange)
                if found != mine:
                    raise _disagree(noun, number, 0, text, other, found.partition(" ")[2])
        if theirs != mine:
            raise _disagree(noun, number, rank, text, 0, theirs.partition(" ")[2])
        self.compared.add(text)

    def _told(self, key: str, exchange: int) -> str:
        """Waits for what another process says; raises as `compare`."""
        until = time.monotonic() + timeout()
        while True:
            begun = time.monotonic()
            try:
                return str(self._service.blocking_key_value_get(key, int(1000 * BEAT)))
            except RuntimeError as e:
                self._attendance.check(exchange)
                if silent := self._attendance.silent():
                    raise RuntimeError(silent) from None
                if lost := self._attendance.given_up():
                    raise RuntimeError(lost) from None
                if time.monotonic() >= until:
                    raise RuntimeError(f"another process does not ask for it within {timeout()} s. Let every process "
                                       "make the same calls in the same order") from e
            time.sleep(max(0.0, BEAT - (time.monotonic() - begun)))

    def compare_places(self, number: int, mine: str) -> None:
        """Tells the others what this process waits for.

        Args:
          number: how many calls it has made that wait for others, with this one.
          mine: what it waits for.
        Raises: InvalidArgumentError if another one waits for something else.
        """
        with contextlib.suppress(RuntimeError):
            self._service.key_value_set(f"{_AT}/{self._who.rank}", f"{number} {mine}", True)
        for rank in range(self._who.size):
            at, _, theirs = self._said(f"{_AT}/{rank}").partition(" ")
            if at == str(number) and theirs != mine:
                raise _disagree("call", number - 1, self._who.rank, mine, rank, theirs)

    def difference(self, number: int, mine: str) -> InvalidArgumentError:
        """Returns the error of processes that are about to do different things, of which nothing has begun.

        Args:
          number: how many calls this process has made that wait for others, with this one.
          mine: what this one is about to do.
        """
        at, found = f"{_AT}/{{}}/{number}", [mine] * self._who.size
        with contextlib.suppress(RuntimeError):
            self._service.key_value_set(at.format(self._who.rank), mine)
            found = [str(self._service.blocking_key_value_get(at.format(rank), 1000 * LEAVING))
                     for rank in range(self._who.size)]
        other = next((rank for rank, text in enumerate(found) if text != mine), self._who.rank)
        return _disagree("call", number - 1, self._who.rank, mine, other, found[other])

    def _said(self, key: str) -> str:
        """Returns what is said at the coordinator under a key; "" for nothing."""
        with contextlib.suppress(RuntimeError):
            return str(self._service.key_value_try_get(key))
        return ""


def _disagree(noun: str, number: int, rank: int, text: str, other: int, theirs: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f"the processes run different programs: for the {th(number)} {noun} "
                                f"over all of them, process {rank} asks for\n    {text[:300]}\n  and process {other} "
                                f"for\n    {theirs[:300]}\n  Fix: let every process make the same calls in the same "
                                "order; shapes must not depend on the process")


def th(number: int) -> str:
    """Returns an ordinal number, as a word: "first" for 0."""
    return {0: "first", 1: "second", 2: "third"}.get(number, f"{number + 1}th")
