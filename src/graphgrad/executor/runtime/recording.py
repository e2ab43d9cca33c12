"""Reports of all runs of the process, while that is on.

Recorded runs use XLA from the first one on, as traced ones do.
"""

from __future__ import annotations

from .run_report import RunReport

on = False
_reports: list[RunReport] = []


def begin() -> RunReport:
    """Returns a report for a run that begins."""
    report = RunReport()
    _reports.append(report)
    return report


def start() -> None:
    """Starts to record."""
    global on
    on = True


def stop() -> list[RunReport]:
    """Stops to record; returns the reports, of which those of runs that failed or go on are incomplete."""
    global on
    on = False
    found = _reports[:]
    del _reports[: len(found)]
    return found
