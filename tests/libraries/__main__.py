"""Runs the programs on libraries, each in an environment that has its libraries and not TensorFlow.

    python -m tests.libraries [SUBJECT ...]

A subject is a module beside this one or in a folder here, see `run`. Its environment is the file of `environments/`
whose name its own begins with: all packages, pinned. The environments are made in `.venv-libraries/`, once.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import sys
import venv

from tests import ROOT

_HERE = pathlib.Path(__file__).parent
_MADE = ROOT / ".venv-libraries"


def subjects() -> list[str]:
    """Returns the names of all subjects."""
    return sorted(p.stem for p in _HERE.rglob("*.py") if p.stem not in ("run", "__main__", "__init__"))


def environment(subject: str) -> pathlib.Path:
    """Returns the list of a subject's packages."""
    fitting = [p for p in (_HERE / "environments").glob("*.txt") if f"{subject}_".startswith(f"{p.stem}_")]
    if not fitting:
        raise ValueError(f"no file of {_HERE.name}/environments/ is named as the subject {subject} begins")
    return max(fitting, key=lambda p: len(p.stem))


def _interpreter(packages: pathlib.Path) -> pathlib.Path:
    """Returns the interpreter of an environment, which is made unless it is there and as listed."""
    place = _MADE / packages.stem
    python, stamp = place / "bin" / "python", place / "installed"
    wanted = hashlib.sha256(packages.read_bytes()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == wanted):
        print(f"Setting up {place.relative_to(ROOT)} (once)", flush=True)
        venv.create(place, clear=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--python", str(python)]
        subprocess.run([*pip, "install", "-q", "--no-deps", "-r", str(packages)], check=True)
        stamp.write_text(wanted)
    return python


def main() -> int:
    """Runs the subjects named, or all; returns 1 if a program of theirs differs or fails."""
    failed = []
    for subject in sys.argv[1:] or subjects():
        python = _interpreter(environment(subject))
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        ended = subprocess.run([python, "-m", "tests.libraries.run", subject], cwd=ROOT,
                               env={**os.environ, "PYTHONPATH": path}, check=False)
        if ended.returncode:
            failed.append(subject)
    print(f"{', '.join(failed)}: not as recorded" if failed else "all as recorded")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
