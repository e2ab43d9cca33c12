"""Compiling ahead of time: a program runs so that all that XLA may ever be asked for is compiled, and stored.

Plans use XLA from their first run, except for those that NumPy always does sooner. The clusters are the same as in
other runs of the program.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import Counter
from collections.abc import Iterator

from graphgrad.executor.backend import cache, disk_cache, shipped

on = False  # whether this process compiles ahead
_left: list[int] = []  # the number of runs until the program is to end


class Enough(SystemExit):
    """Ends the program after the runs that it was to make."""


def count() -> None:
    """Notes that a run begins; those of other threads than the main one do not count."""
    if _left and threading.current_thread() is threading.main_thread():
        _left[0] -= 1
        if _left[0] < 0:
            raise Enough


class Tally:
    """What compiling ahead has come to; print it.

    Args:
      check: whether programs are only looked for.
      output: the directory that is filled, or None.

    Attributes:
      counts: programs by origin: "compiled", "disk" (found), or "own" (they call functions of the user's program, and
        cannot be stored).
    """

    def __init__(self, check: bool, output: shipped.Output | None):
        self.counts: Counter[str] = Counter()
        self._check = check
        self._output = output

    def is_complete(self) -> bool:
        """Returns whether all programs that can be stored are."""
        if self._check:
            return not self.counts["compiled"]
        return disk_cache.enabled() if self._output is None else not self._output.failed

    def __str__(self) -> str:
        compiled, found, own = (self.counts[origin] for origin in ("compiled", "disk", "own"))
        if self._check:
            text = f"{found} of {compiled + found} compiled programs found"
        else:
            text = f"{compiled + found} compiled programs: {compiled} new, {found} found"
        if own:
            text += f"; besides {own} with functions of the program's own, which cannot be stored"
        if self._check:
            return text
        output = self._output
        if output is None:
            return f"{text}\nstored in {disk_cache.directory()}" if disk_cache.enabled() else f"{text}\nnot stored"
        text += f"\n{len(output.keys)} files, {output.bytes() / 1e6:.1f} MB, in {output.folder}"
        if output.failed:
            text += f"; others could not be stored: {output.failed}"
        elif reason := output.distrust():
            text += f"\nnothing is used there, since {reason}"
        return text


@contextlib.contextmanager
def compiling(runs: int | None = None, output: str | None = None, check: bool = False) -> Iterator[Tally]:
    """Compiles ahead of time what runs in a `with` block.

    Args:
      runs: the number of runs of sessions and functions after which `Enough` is raised; None for no limit.
      output: the directory in which programs are stored, instead of the disk cache.
      check: whether programs are only looked for: nothing is stored, and with `output` only that directory is used.
    Yields: a `Tally`, complete at the end of the block.
    Raises: OSError if the directory cannot be made.
    """
    global on
    made = shipped.Output(output) if output is not None and not check else None
    tally = Tally(check, made)
    before, on = on, True
    keepers, witnesses, directory = cache.keepers[:], cache.witnesses[:], os.environ.get("GRAPHGRAD_CACHE_DIR")
    counted = cache.counts.copy()
    if runs is not None:
        _left[:] = [runs]
    if output is not None:
        shipped.use(output)
    if check:
        cache.keepers.clear()
        if output is not None:
            os.environ["GRAPHGRAD_CACHE_DIR"] = ""
    elif made is not None:
        cache.keepers[:] = [made]
        cache.witnesses.append(made)
    try:
        yield tally
    finally:
        on = before
        _left.clear()
        cache.keepers[:], cache.witnesses[:] = keepers, witnesses
        tally.counts = cache.counts - counted
        if output is not None:
            shipped.forget(output)
            if check and directory is not None:
                os.environ["GRAPHGRAD_CACHE_DIR"] = directory
            elif check:
                os.environ.pop("GRAPHGRAD_CACHE_DIR", None)
