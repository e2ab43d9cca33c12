"""Kills and stops workers at random moments, many times: `python -m tests.extras.distribute.soak_faults 100 [SEED]`."""

from __future__ import annotations

import pathlib
import random
import sys
import tempfile
import time

import graphgrad.compat.v1 as tf

from .clustered import fault


def main(times: int, seed: int) -> int:
    """Runs trainings with a fault each; returns how many went wrong.

    Args:
      times: how many.
      seed: of the moments.
    """
    chance, wrong = random.Random(seed), 0
    for i in range(times):
        kind, workers = chance.choice(["SIGKILL", "SIGKILL", "SIGSTOP"]), chance.choice([2, 3])
        delay, fewer = chance.uniform(0.0, 3.0), kind == "SIGSTOP" or chance.random() < 0.5
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                fault(pathlib.Path(folder), kind, workers, delay, fewer)
                saved = int(tf.train.load_checkpoint(f"{folder}/checkpoints").get_tensor("global_step"))
                problem = "" if saved == 80 else f"the last checkpoint is of step {saved}"
            except AssertionError as e:
                problem = str(e)[:3000]
        wrong += bool(problem)
        print(f"{i}: {kind} of 1 in {workers} after {delay:.2f} s, {'fewer' if fewer else 'again'}: "
              f"{time.monotonic() - begun:.0f} s {problem or 'ok'}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
