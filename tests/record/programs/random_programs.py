"""Records what random programs with state give in TensorFlow; run beside TensorFlow 2.21.

    python -m tests.record.programs.random_programs                        the seeds of the test suite
    python -m tests.record.programs.random_programs FILE FIRST LAST        more; test_random_programs.py compares them

A line of the file is [mode, seed, results of three runs], or an error's text: TensorFlow cannot build all of them.
"""

from __future__ import annotations

import json
import pathlib
import sys

from tests.programs import random_programs
from tests.record import RECORDED


def main() -> None:
    """Writes the file."""
    import tensorflow as tf

    path = RECORDED / "random_programs.jsonl"
    seeds = range(random_programs.SEEDS)
    if sys.argv[1:]:
        path, seeds = pathlib.Path(sys.argv[1]), range(int(sys.argv[2]), int(sys.argv[3]))
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})  # programs run three times only
    with path.open("w") as file:
        for mode in random_programs.MODES:
            for seed in seeds:
                try:
                    found = random_programs.run(random_programs.draw(seed, mode), mode, tf.compat.v1, tf)
                except Exception as e:
                    found = f"{type(e).__name__}: {str(e).splitlines()[0][:100]}"
                file.write(json.dumps([mode, seed, found]) + "\n")


if __name__ == "__main__":
    main()
