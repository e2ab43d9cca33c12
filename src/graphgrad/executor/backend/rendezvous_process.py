"""The process in which the tasks of a cluster find each other; run as a program, by the first of them.

It is a process of its own, so that the others are told, and not ended, when the first task is killed. It listens at
the first task's address. Whoever comes keeps its connection open: its end is the end of the task. Messages are lines of
JSON:

    {"come": "worker", "task": 2, "cluster": DIGEST}    a worker; "ps", which is answered when all workers have ended;
                                                        "probe", which asks whether it is the same cluster
    {"meet": LIMIT, "fewer": SECONDS or null, "why": W} wait for the others; answered with a coordinator, a rank, a size
    {"part": true}                                      the task has ended its training; the others go on without it
    {"bye": true}                                       the next message: the connection ends as it should

This file is run by its path; it needs nothing of the package.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
import time
from typing import Any

_HEARTBEAT, _LEAVING, _LAST = 10, 3, 1.0  # seconds


class Rendezvous:
    """Who is there, who waits for whom.

    Args:
      host: where coordinators listen.
      size: the number of workers.
      cluster: a digest of the cluster's description.
    """

    def __init__(self, host: str, size: int, cluster: str):
        self._host, self._size, self._cluster = host, size, cluster
        self._changed = threading.Condition()
        self._present: dict[int, int] = {}  # worker -> its connection's number
        self._known: set[int] = set()
        self._ended: set[int] = set()  # those that have said goodbye
        self._parted: set[int] = set()  # those that have ended their training
        self._waiting: dict[int, tuple[float, Any, str]] = {}  # worker -> since when, when fewer will do, and why
        self._answers: dict[int, dict[str, Any]] = {}
        self._services: list[Any] = []
        self._watchers = 0
        self._connections = 0
        self.parent_is_gone = False

    def serve(self, connection: socket.socket) -> None:
        """Serves one task, until its connection ends."""
        task, clean = -1, False
        with self._changed:
            self._connections += 1
            number = self._connections
        with contextlib.suppress(OSError, ValueError), connection, connection.makefile("rw", encoding="utf-8") as file:
            for line in file:
                message = json.loads(line)
                if "come" in message:
                    task = int(message["task"])
                    answer = self._come(message, task, number)
                    if message["come"] == "ps" and "error" not in answer:
                        task = -1
                        self._watch()
                elif "meet" in message:
                    answer = self._meet(task, float(message["meet"]), message.get("fewer"), message.get("why", "begin"))
                elif "part" in message:
                    answer = self._part(task)
                else:
                    clean, answer = True, {}
                file.write(json.dumps(answer) + "\n")
                file.flush()
        with self._changed:
            if self._present.get(task) == number:
                del self._present[task]
                self._waiting.pop(task, None)
                if clean:
                    self._ended.add(task)
            self._changed.notify_all()

    def _come(self, message: dict[str, Any], task: int, number: int) -> dict[str, Any]:
        if message["cluster"] != self._cluster:
            return {"error": "this task's cluster is another one than the first task's. Fix: give all tasks the same "
                             "lists of addresses"}
        if message["come"] == "worker":
            with self._changed:
                self._present[task] = number
                self._known.add(task)
                self._ended.discard(task)
                self._parted.discard(task)
                self._changed.notify_all()
        return {"come": True}

    def _watch(self) -> None:
        """Waits until all workers have come, and all have gone."""
        with self._changed:
            self._watchers += 1
            self._changed.wait_for(lambda: len(self._known) == self._size and not self._present)
            self._watchers -= 1

    def _part(self, task: int) -> dict[str, Any]:
        with self._changed:
            self._parted.add(task)
            self._changed.notify_all()
        return {}

    def _meet(self, task: int, limit: float, fewer: Any, why: str) -> dict[str, Any]:
        until = time.monotonic() + limit
        with self._changed:
            self._answers.pop(task, None)
            if why != "begin":
                self._parted.discard(task)  # it is in a training
            self._waiting[task] = time.monotonic(), fewer, why
            while task not in self._answers:
                self._form()
                if task in self._answers:
                    break
                if time.monotonic() >= until:
                    self._waiting.pop(task, None)
                    missing = sorted(self._absent(task))
                    return {"error": f"tasks {missing} have not come within {limit:.0f} s", "missing": missing}
                self._changed.wait(0.2)
            return self._answers.pop(task)

    def _absent(self, *here: int) -> set[int]:
        return set(range(self._size)) - self._ended - set(self._waiting) - set(here)

    def _form(self) -> None:
        """Lets those who wait go on together, if all are there, or if fewer will do."""
        on = sorted(task for task, (_, _, why) in self._waiting.items() if why == "on")
        if on:
            self._go_on(on)
        waiting = sorted(task for task in self._waiting if task not in on)
        if not waiting:
            return
        missing = self._absent() | set(on)
        if any(self._waiting[task][2] == "again" for task in waiting):
            missing -= self._parted  # they have trained, and may do something else for long
        if missing:
            now = time.monotonic()
            limits = [now - since >= fewer for since, fewer, _ in map(self._waiting.__getitem__, waiting)
                      if fewer is not None]
            first = 0 in waiting or 0 in self._ended
            if len(limits) < len(waiting) or not all(limits) or not first or len(self._known) < self._size or on:
                return  # to begin with, all have to come
            for task in missing:  # they are out, even if they only stand still
                self._present.pop(task, None)
            self._parted |= missing
        self._parted -= set(waiting)
        self._answer(waiting)

    def _go_on(self, on: list[int]) -> None:
        """Lets those go on that are left after others have ended their training, if none of them is gone."""
        others = set(range(self._size)) - set(on) - self._ended - self._parted
        lost = sorted(task for task in others if task not in self._present or task in self._waiting)
        if lost:
            for task in on:
                self._answers[task] = {"error": f"tasks {lost} are gone", "lost": lost}
                del self._waiting[task]
            self._changed.notify_all()
        elif not others:
            self._answer(on)

    def _answer(self, waiting: list[int]) -> None:
        """Makes a group of some of those who wait."""
        try:
            address = self._coordinator(len(waiting))
            made: dict[str, Any] = {"address": address, "size": len(waiting), "tasks": waiting}
        except RuntimeError as e:
            made = {"error": str(e).partition("\n")[0]}
        for rank, task in enumerate(waiting):
            self._answers[task] = {**made, "rank": rank}
            del self._waiting[task]
        self._changed.notify_all()

    def _coordinator(self, size: int) -> str:
        """Starts a coordinator, on a free port; those before it stay, since their clients would end with them."""
        if size == 1:
            return ""
        from importlib import import_module

        with socket.socket() as found:
            found.bind((self._host, 0))
            address = f"{self._host}:{found.getsockname()[1]}"
        engine: Any = import_module("jaxlib._jax")
        self._services.append(engine.get_distributed_runtime_service(
            address, size, heartbeat_timeout=_HEARTBEAT, shutdown_timeout=_LEAVING, recoverable=True))
        return address

    def wait_for_the_end(self) -> None:
        """Returns when the process that started this one is gone, and everyone else, too."""
        with self._changed:
            self._changed.wait_for(lambda: self.parent_is_gone and not self._present)
        time.sleep(_LAST)  # the last answers travel
        with self._changed:
            if self._present:
                self._changed.wait_for(lambda: not self._present)

    def parent_has_gone(self) -> None:
        """Takes note that the process that started this one is gone."""
        with self._changed:
            self.parent_is_gone = True
            self._changed.notify_all()


def main(host: str, port: int, size: int, cluster: str) -> None:
    """Serves at an address, until everyone is gone.

    Args:
      host, port: the address; port 0 for a free one. The port is written to the standard output.
      size: the number of workers.
      cluster: a digest of the cluster's description.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as e:
        print(f"error {e.strerror}", flush=True)
        return
    listener.listen(128)
    print(listener.getsockname()[1], flush=True)
    there = Rendezvous(listener.getsockname()[0], size, cluster)

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=there.serve, args=(connection,), daemon=True).start()

    def parent() -> None:
        sys.stdin.buffer.read()
        there.parent_has_gone()

    threading.Thread(target=accept, daemon=True).start()
    threading.Thread(target=parent, daemon=True).start()
    there.wait_for_the_end()
    os._exit(0)  # the services' threads are not waited for


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
