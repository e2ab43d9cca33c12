"""What random generators draw, and functions of a seed by ThreeFry, in graphgrad and in TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

_OLD = ("StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal", "StatefulUniformFullInt")
SHAPES = ([], [5], [4], [3, 3], [3, 4], [2, 3, 5])


def from_generator(tf: Any, alg: str, generator: Any = None) -> dict[str, Any]:
    """Draws of all kinds, one after the other, and the states in between."""
    g = tf.random.Generator.from_seed(2**40 + 99, alg) if generator is None else generator
    found: dict[str, Any] = {"key": g.key}
    for kind in ("float32", "float64", "float16"):
        dtype = getattr(tf, kind)
        found[f"normal {kind}"] = g.normal([3, 2], 1.0, 2.0, dtype)
        found[f"uniform {kind}"] = g.uniform([5], -1.0, 2.0, dtype)
        found[f"truncated {kind}"] = g.truncated_normal([7], dtype=dtype)
    for kind in ("int32", "int64"):
        dtype = getattr(tf, kind)
        found[f"uniform {kind}"] = g.uniform([5], -7, 9, dtype)
        found[f"full {kind}"] = g.uniform([], None, None, dtype)
    for kind in ("uint32", "uint64"):
        found[f"full {kind}"] = g.uniform_full_int([3], getattr(tf, kind))
    found["seeds"] = g.make_seeds(3)
    found["skip"] = g.skip(10**12)
    found["state"] = g.state.read_value()
    return found


def eagerly(tf: Any) -> dict[str, Any]:
    """Of Philox: what `from_generator` draws, splits, binomials, and states from seeds."""
    found = {f"philox {k}": np.asarray(v) for k, v in from_generator(tf, "philox").items()}
    g = tf.random.Generator.from_state([2**63 - 1, -1, 5], "philox")  # the counter is about to overflow
    for i, part in enumerate([g, *g.split(2)]):
        found[f"split {i}"] = np.asarray(part.normal([3]))
    for counts, probs, shape in ((10.0, 0.4, [9]), ([100.0, 5.0], [0.4, 0.9], [3, 2]), (50.0, 0.01, []),
                                 (3.0, 0.5, [0])):
        found[f"binomial {counts} {probs}"] = np.asarray(g.binomial(shape, counts, probs))
        found[f"state after {counts} {probs}"] = np.asarray(g.state)
    handle = g.state.handle
    for op_type in _OLD:
        found[op_type] = np.asarray(getattr(tf.raw_ops, op_type)(resource=handle, algorithm=1, shape=[2, 3]))
    found["StatefulUniformInt"] = np.asarray(tf.raw_ops.StatefulUniformInt(
        resource=handle, algorithm=1, shape=[5], minval=np.int64(-3), maxval=np.int64(70)))
    tf.raw_ops.RngSkip(resource=handle, algorithm=1, delta=9)
    found["state after all"] = np.asarray(g.state)
    for alg in ("philox", "threefry"):
        for seed in (-5, 2**70 + 3, [1, 2, 3, 4], [7]):
            found[f"seed {seed} {alg}"] = np.asarray(tf.random.create_rng_state(seed, alg))
    return found


def by_threefry(tf: Any) -> dict[str, Any]:
    """What ThreeFry gives for a seed and for a generator; TensorFlow has it in compiled functions alone."""
    generator = tf.random.Generator.from_seed(2**40 + 99, "threefry")

    @tf.function(jit_compile=True)
    def draw() -> Any:
        found = from_generator(tf, "threefry", generator)
        for shape in SHAPES:
            for kind in ("float32", "float64"):
                dtype = getattr(tf, kind)
                for name in ("uniform", "normal", "truncated_normal"):
                    function = getattr(tf.random, f"stateless_{name}")
                    found[f"{name} {shape} {kind}"] = function(shape, [3, 2**33 + 5], dtype=dtype, alg="threefry")
            for kind in ("int32", "int64", "uint32"):
                found[f"full {shape} {kind}"] = tf.random.stateless_uniform(shape, [3, 5], None, None,
                                                                            getattr(tf, kind), alg="threefry")
        return found

    return {k: np.asarray(v) for k, v in draw().items()}
