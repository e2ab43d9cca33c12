"""Distributions of `tf.distributions`, and what is asked of each, for this package and for TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

_COUNTS = [[1.0, 2.0, 1.0], [0.0, 3.0, 1.0]]
_C = [[1.5, 2.0, 4.0], [3.0, 2.5, 1.2]]

# Name -> the class, its arguments, a value, what is asked, the arguments of another one for the divergence.
CASES: dict[str, tuple[str, dict[str, Any], Any, str, dict[str, Any] | None]] = {
    "gamma": ("Gamma", {"concentration": [0.5, 3.0], "rate": 2.0}, [0.7, 1.9],
              "log_prob prob cdf entropy mean variance stddev mode", {"concentration": 2.0, "rate": [0.5, 1.5]}),
    "exponential": ("Exponential", {"rate": [0.5, 3.0]}, [0.7, 1.9], "log_prob cdf entropy mean variance", None),
    "beta": ("Beta", {"concentration1": [0.5, 3.0], "concentration0": 2.0}, [0.7, 0.2],
             "log_prob prob cdf entropy mean variance mode", {"concentration1": 1.5, "concentration0": [0.7, 4.0]}),
    "laplace": ("Laplace", {"loc": [0.5, -1.0], "scale": 2.0}, [0.7, -4.0],
                "log_prob cdf entropy mean variance stddev mode", None),
    "student": ("StudentT", {"df": [1.5, 3.0, 0.5], "loc": 0.5, "scale": 2.0}, [0.7, -4.0, 1.0],
                "log_prob cdf entropy mean variance mode", None),
    "dirichlet": ("Dirichlet", {"concentration": _C}, [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]],
                  "log_prob entropy mean variance covariance", {"concentration": [1.0, 2.0, 3.0]}),
    "multinomial": ("Multinomial", {"total_count": [4.0, 4.0], "logits": [[0.1, 0.5, -1.0], [1.0, 2.0, 0.0]]}, _COUNTS,
                    "log_prob mean variance covariance", None),
    "dirichlet multinomial": ("DirichletMultinomial", {"total_count": 4.0, "concentration": _C}, _COUNTS,
                              "log_prob mean variance covariance", None),
}


def answers(tf: Any, ds: Any, name: str) -> dict[str, Any]:
    """Tensors that answer what is asked."""
    kind, arguments, value, asked, other = CASES[name]
    d = getattr(ds, kind)(**_floats(arguments))
    given = ("log_prob", "prob", "cdf")
    found = {a: getattr(d, a)(*([np.float32(value)] if a in given else [])) for a in asked.split()}
    if other is not None:
        found["kl"] = ds.kl_divergence(d, getattr(ds, kind)(**_floats(other)))
    return found


def _floats(arguments: dict[str, Any]) -> dict[str, Any]:
    return {k: np.array(v, np.float32) for k, v in arguments.items()}
