"""Kills and stops processes at random moments, many times: `python -m tests.extras.distribute.soak_faults 100 [SEED]`.

Four kinds of training take turns: workers with parameter servers, synchronous and asynchronous, whose victims (workers,
the chief among them, or a server) are started again or left behind; Horovod's names and MultiWorkerMirroredStrategy,
which end with an error and are started again as a whole. All have to reach step 80, with equal variables.
"""

from __future__ import annotations

import pathlib
import random
import sys
import tempfile
import time

import graphgrad.compat.v1 as tf

from .clustered import fault
from .restarted import restart

KINDS = ("synchronous", "horovod", "asynchronous", "mirrored")


def one(chance: random.Random, turn: int, folder: pathlib.Path) -> tuple[str, str]:
    """Runs a training with a fault; returns what it was, and what went wrong.

    Args:
      chance: decides the fault, its victim and its moment.
      turn: decides the kind.
      folder: for the program and its checkpoints.
    """
    kind, number, workers = KINDS[turn % 4], chance.choice(["SIGKILL", "SIGKILL", "SIGSTOP"]), chance.choice([2, 3])
    victim, delay, fewer = chance.randrange(workers), chance.uniform(0.0, 3.0), chance.random() < 0.5
    if chance.random() < 0.2:
        delay = -delay  # before the training has begun
    server = kind.endswith("chronous") and chance.random() < 0.1
    fewer = fewer and victim > 0 and not server and delay >= 0
    what = f"{kind}: {number} of {'the server' if server else victim} in {workers} after {delay:.2f} s"
    try:
        if kind.endswith("chronous"):
            tasks = fault(folder, number, workers, delay, fewer, victim, kind, server)
            if tasks.was_over and victim == 0 and not server:
                return f"{what}, at the end", ""  # it could not save its last step
            what += ", fewer" if fewer else ", again"
        else:
            seconds = restart(folder, kind, number, workers, victim, delay)
            if seconds is None:
                return f"{what}, at the end", ""
            what += f", found after {seconds:.1f} s"
        checkpoints = tf.train.latest_checkpoint(f"{folder}/checkpoints")
        reader = tf.train.load_checkpoint(checkpoints)
        name = next(n for n in reader.get_variable_to_shape_map() if n.startswith(("global_step", "step/")))
        saved = int(reader.get_tensor(name))
        steps = 80 if kind != "asynchronous" else range(80, 80 + 2 * workers + 1)
        return what, "" if saved == steps or (kind == "asynchronous" and saved in steps) else f"the last is of {saved}"
    except AssertionError as e:
        return what, str(e)[:30000]


def main(times: int, seed: int) -> int:
    """Runs trainings with a fault each; returns how many went wrong.

    Args:
      times: how many.
      seed: of the moments.
    """
    chance, wrong = random.Random(seed), 0
    for i in range(times):
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            what, problem = one(chance, i, pathlib.Path(folder))
        wrong += bool(problem)
        print(f"{i}: {what}: {time.monotonic() - begun:.0f} s {problem or 'ok'}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
