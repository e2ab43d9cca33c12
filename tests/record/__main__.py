"""Runs recorders one after the other: `python -m tests.record [SUBJECT ...]`."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

from tests import ROOT, record


def recorders() -> dict[str, str]:
    """The modules that record, by subject."""
    found = pkgutil.walk_packages(record.__path__, "tests.record.")
    return {m.name.rpartition(".")[2]: m.name for m in found if not m.ispkg and not m.name.endswith("__main__")}


def main() -> int:
    """Runs those asked for, or all; 1 if one failed."""
    modules = recorders()
    if unknown := set(sys.argv[1:]) - set(modules):
        raise SystemExit(f"Nothing records {', '.join(sorted(unknown))}; there are {', '.join(sorted(modules))}")
    failed = []
    for subject in sys.argv[1:] or sorted(modules):
        print(f"-- {subject}", flush=True)
        if subprocess.run([sys.executable, "-m", modules[subject]], cwd=ROOT, check=False).returncode:
            failed.append(subject)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
