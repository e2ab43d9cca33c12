"""Random programs of 2.x in the idioms of public ones: one thing is done with a module after the other.

A module (`module_models`) is made, and then differentiated by tapes and `tf.gradients`, trained eagerly, in functions
and in loops of the graph, saved, exported, loaded, frozen, copied ... in an order that is drawn (`module_steps`);
each step goes on with the variables that the one before left. `run` gives what all steps gave.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

from .module_models import make
from .module_steps import ModuleSteps

STEPS = ("gradient", "gradient", "gradient_inside", "symbolic", "persistent", "jacobian", "second", "forward",
         "unwatched", "descend", "descend", "optimize", "optimize", "accumulate", "loop", "meta", "averaged",
         "checkpoint", "another", "export", "frozen", "wrapped", "copied", "eagerly", "traces", "structured", "data",
         "host_loss", "wrong")
SEEDS = (*range(1, 37), 52, 54, 77, 80)  # those of the suite


class _Program(ModuleSteps):
    def __init__(self, tf: Any, rng: np.random.Generator, folder: str):
        self.tf, self.rng, self.folder = tf, rng, folder
        tf.random.set_seed(1)
        self.net = make(tf, rng)

    def take(self, step: str) -> Any:
        """Does a step; what it gave, or its error."""
        try:
            return [step, getattr(self, step)()]
        except Exception as e:
            return [step, f"{type(e).__name__}: {e}"]


def run(seed: int, tf: Any) -> list[Any]:
    """What the steps of a program give.

    Args:
      seed: which program.
      tf: the module of TensorFlow 2, or graphgrad's.
    """
    rng = np.random.default_rng([seed, 92])
    with tempfile.TemporaryDirectory() as folder:
        program = _Program(tf, rng, folder)
        found = [["start", program.net.names, [v.name for v in program.net.variables],
                  program.net(program.batch()).numpy()]]
        for step in rng.choice(STEPS, int(rng.integers(2, 7))):
            found.append(program.take(str(step)))
            if isinstance(found[-1][1], str):  # an error: what follows depends on where it arose
                break
    return found
