"""Records what programs in idioms give in TensorFlow: `python -m tests.record.programs.idiom_programs`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.programs import soak
from tests.programs.idioms import idiom_programs, module_programs
from tests.record import RECORDED


def main() -> None:
    """Writes the files: a line for each program, its seed and its steps."""
    import tensorflow as tf

    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})  # programs run a few times only
    _write("idiom_programs", idiom_programs.SEEDS, lambda seed: idiom_programs.run(seed, tf.compat.v1, tf))
    _write("module_programs", module_programs.SEEDS, lambda seed: module_programs.run(seed, tf))


def _write(name: str, seeds: tuple[int, ...], run: Callable[[int], list[Any]]) -> None:
    with (RECORDED / f"{name}.jsonl").open("w") as file:
        for seed in seeds:
            file.write(json.dumps([seed, [_without_text(step) for step in soak.plain(run(seed))]]) + "\n")


def _without_text(step: list[Any]) -> list[Any]:
    """Returns a step; of an error only its class, since TensorFlow's texts name files of the machine."""
    return [step[0], step[1].partition(":")[0]] if len(step) == 2 and isinstance(step[1], str) else step


if __name__ == "__main__":
    main()
