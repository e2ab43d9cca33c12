"""The processor's cores, and work of NumPy's kernels that is spread over them."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_MOST = 4  # threads: beyond it the memory is what limits


def spread(work: Callable[[int, int], None], count: int, least: int) -> None:
    """Does the parts of some work side by side, each in a thread of its own.

    NumPy lets other threads run while it computes on an array; between its calls only one can. So a part pays if it
    takes some tenths of a millisecond, in calls of at least some hundredths.

    Args:
      work: a function of (start, stop) that does what is between; the results must not depend on how it is parted.
      count: where the last part stops; the first one starts at 0.
      least: the shortest part.
    Raises: what `work` raises.
    """
    parts = min(CORES, _MOST, count // max(1, least))
    if parts < 2:
        work(0, count)
        return
    errors: list[BaseException] = []

    def part(number: int) -> None:
        try:
            work(count * number // parts, count * (number + 1) // parts)
        except BaseException as error:  # raised again below
            errors.append(error)

    threads = []
    for number in range(1, parts):
        thread = threading.Thread(target=contextvars.copy_context().run, args=(part, number), daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads can be started
            part(number)
        else:
            threads.append(thread)
    part(0)
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
