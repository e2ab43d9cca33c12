"""Records what programs in the idioms of public ones give in TensorFlow: `python -m tests.record.idiom_programs`."""

from __future__ import annotations

import json

from tests.programs import idiom_programs, soak
from tests.record import RECORDED


def main() -> None:
    """Writes the file: a line for each program, its seed and its steps."""
    import tensorflow as tf

    with (RECORDED / "idiom_programs.jsonl").open("w") as file:
        for seed in idiom_programs.SEEDS:
            file.write(json.dumps([seed, soak.plain(idiom_programs.run(seed, tf.compat.v1, tf))]) + "\n")


if __name__ == "__main__":
    main()
