"""Records what programs in idioms give in TensorFlow: `python -m tests.record.programs.idiom_programs`."""

from __future__ import annotations

import json
from typing import Any

from tests.programs import idiom_programs, soak
from tests.record import RECORDED


def main() -> None:
    """Writes the file: a line for each program, its seed and its steps."""
    import tensorflow as tf

    with (RECORDED / "idiom_programs.jsonl").open("w") as file:
        for seed in idiom_programs.SEEDS:
            steps = soak.plain(idiom_programs.run(seed, tf.compat.v1, tf))
            file.write(json.dumps([seed, [_without_text(step) for step in steps]]) + "\n")


def _without_text(step: list[Any]) -> list[Any]:
    """Returns a step; of an error only its class, since TensorFlow's texts name files of the machine."""
    return [step[0], step[1].partition(":")[0]] if len(step) == 2 and isinstance(step[1], str) else step


if __name__ == "__main__":
    main()
