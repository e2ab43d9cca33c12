"""Graph and op seeds; shape arguments of random kernels.

Seeds come in pairs, of the graph (or of eager mode) and of the op, as in TensorFlow: with the
same pair an op gives the same numbers.
"""

from __future__ import annotations

import collections
import operator
import os
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir import context, eager
from graphgrad.ir.context import Inherited
from graphgrad.ir.opdef import OpDef, registry
from graphgrad.ir.state.seeding import seed_was_set, seed_with

from . import philox

DEFAULT_GRAPH_SEED = 87654321
_MAX_SEED = 2**31 - 1


class _Eager(Inherited):
    """The state of eager mode: the generator of op seeds and where each op continues."""

    def __init__(self) -> None:
        self.op_seeds = random.Random()
        self.positions: collections.OrderedDict[Any, int] = collections.OrderedDict()


_eager = _Eager()
_REMEMBERED = 8192  # ops of different seeds that eager mode counts
SET_ASIDE = 256  # blocks that a run reserves for each number it returns
_PHILOX = 1  # the number of the algorithm


class _Pending:
    """A placeholder for the position of an eager op until it is known how many blocks the op draws."""

    def __init__(self, attrs: dict[str, Any]):
        self.attrs = tuple(sorted(attrs.items(), key=lambda kv: kv[0]))
        self._position: int | None = None

    def reserve(self, op_type: str, blocks: int) -> int:
        """Returns the position of this op with these attributes since the seed was set, and advances it once."""
        if self._position is None:
            key = op_type, self.attrs
            self._position = _eager.positions.pop(key, 0)
            _eager.positions[key] = self._position + blocks  # last, so that the least recently run are dropped
            if len(_eager.positions) > _REMEMBERED:
                _eager.positions.popitem(last=False)
        return self._position

    def keyed(self, opdef: OpDef, inputs: Sequence[Any], size: int) -> tuple[OpDef, tuple[Any, ...]]:
        """Returns the op that draws the same numbers from a key and a counter, and its inputs.

        Args:
          opdef: the op's record.
          inputs: its inputs; the first one is the shape.
          size: the number of elements to draw.
        """
        position, attrs = self.reserve(opdef.name, size * SET_ASIDE), dict(self.attrs)
        stream = philox.stateful(np, position, attrs["seed"], attrs["seed2"], 0)
        key, counter = np.array([stream.key], np.uint64), np.array([stream.low, stream.high], np.uint64)
        given = map(eager.EagerTensor, (key, counter, np.asarray(_PHILOX, np.int32)))
        return registry[opdef.keyed], (inputs[0], *given, *inputs[1:])


eager.draw_with(_Pending)


# What can be differentiated instead of a draw from categories.
GUMBEL_SOFTMAX = "a Gumbel softmax: tf.nn.softmax((logits - tf.math.log(-tf.math.log(u))) / t), u uniform in (0, 1)"


def set_random_seed(seed: int) -> None:
    """Sets the seed that the current graph's random ops (or eager mode's) start from.

    Args:
      seed: an integer. Ops built from now on derive their seeds from it. In eager mode, functions that are traced
        already keep the seeds of their ops, and draw the same numbers from the beginning.
    Reference: TensorFlow 2.21 `tf.compat.v1.set_random_seed`, `tf.random.set_seed`.

    >>> tf.set_random_seed(1)
    >>> print(sess.run(tf.random_uniform([2])))
    [0.81269646 0.07857466]
    """
    graph = context.current_graph()
    if graph is not None:
        graph.seed = seed
    else:
        context.stack.seed = seed
        _eager.op_seeds = random.Random(seed)
        _eager.positions.clear()
        seed_was_set()


set_seed = set_random_seed


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """Returns the two seeds of an op: of the graph and of the op itself.

    Args:
      op_seed: the seed that the user gave the op, or None.
    Returns: a pair of integers; (None, None) if neither the graph nor the op has a seed.
    Reference: TensorFlow 2.21 `tf.compat.v1.get_seed`.

    >>> tf.get_seed(5)
    (87654321, 5)
    """
    graph = context.current_graph()
    graph_seed = context.stack.seed if graph is None or _is_eager_function(graph) else graph.seed
    if graph_seed is None:
        if op_seed is None:
            return None, None
        return DEFAULT_GRAPH_SEED, operator.index(op_seed) % _MAX_SEED
    if op_seed is None:
        if graph is None:
            op_seed = _eager.op_seeds.randint(0, _MAX_SEED)
        else:  # the first op gets 0, the next 1, ...
            op_seed = graph._scoped_state.get("seeded_ops", 0)
            graph._scoped_state["seeded_ops"] = op_seed + 1
    pair = graph_seed % _MAX_SEED, op_seed % _MAX_SEED
    return (0, _MAX_SEED) if pair == (0, 0) else pair


def _is_eager_function(graph: Any) -> bool:
    """Returns whether the graph is a function's, built from eager mode: its seed is that of eager mode."""
    while graph is not None and graph.building_function and graph.seed is None:
        graph = graph._outer_graph
    return graph is None


def seed_attrs(op_seed: int | None) -> dict[str, int]:
    """Returns the attributes `seed` and `seed2` for an op; drawn from the system's entropy if nothing sets them.

    Drawn ones exceed 32 bits, which those of `get_seed` never do.
    """
    seed, seed2 = get_seed(op_seed)
    if seed is None or seed2 is None:
        seed, seed2 = drawn_seeds()
    return {"seed": seed, "seed2": seed2}


seed_with(seed_attrs)


def drawn_seeds() -> tuple[int, int]:
    """Draws a pair of seeds of more than 32 bits from the system's entropy."""
    entropy = int.from_bytes(os.urandom(16), "little")
    return entropy % 2**62 | 1 << 62, entropy >> 65


def start(xp: Any, op_type: str, rng: Any, seed: int, seed2: int, blocks: int) -> philox.Stream:
    """Returns the position in the stream where a run of the op begins; arguments as `philox.stateful`."""
    if isinstance(rng, _Pending):
        rng = rng.reserve(op_type, blocks)
    return philox.stateful(xp, rng, seed, seed2, blocks)


# -- shapes ----------------------------------------------------------------------------------


def sizes(shape: Any) -> tuple[int, ...]:
    """Converts an array given to a kernel to a shape; raises a Complaint if it is not a shape."""
    shape = np.asarray(shape)
    if shape.ndim != 1:
        raise Complaint(f"shape must be a vector, but has rank {shape.ndim}", "give a list of sizes, e.g. [3]")
    if (shape < 0).any():
        raise Complaint(f"Dimension {shape.min()} must be >= 0", "give sizes that are not negative")
    return tuple(shape.tolist())


def known_sizes(shape: Any) -> Any:
    """Returns the static shape that follows from the known part of the `shape` input. For shape rules."""
    if isinstance(shape, int):
        raise Complaint("shape must be a vector, but has rank 0", f"give a list: [{shape}]")
    if shape is not None and any(d is not None and d < 0 for d in shape):
        raise Complaint(f"Dimension {min(d for d in shape if d is not None)} must be >= 0",
                        "give sizes that are not negative")
    return shape


__all__ = ["DEFAULT_GRAPH_SEED", "SET_ASIDE", "drawn_seeds", "get_seed", "known_sizes", "seed_attrs", "set_random_seed",
           "set_seed", "sizes", "start"]
