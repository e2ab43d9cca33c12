"""Public functions give the same numbers whether static shapes are known, partly known or not, as TensorFlow's do."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession

from . import unknown_shape_cases as cases

RECORDED = np.load(pathlib.Path(__file__).parents[1] / "recorded" / "unknown_shapes.npz")


@pytest.mark.parametrize("variant", cases.VARIANTS)
def test_same_numbers(variant: str) -> None:
    """What TensorFlow computes from tensors of these shapes, we compute; what it refuses is refused, or right."""
    wrong = []
    for expression in cases.EXPRESSIONS:
        expected, taken = RECORDED[f"{expression}|value"], RECORDED[f"{expression}|taken"]
        found = cases.run(tf, HostSession, expression, variant)
        if isinstance(found, str):
            if variant in taken:
                wrong.append(f"{expression}: {found}")
        elif found.shape != expected.shape or found.dtype != expected.dtype:
            wrong.append(f"{expression}: {found.dtype} {found.shape}, not {expected.dtype} {expected.shape}")
        elif not np.allclose(found, expected, rtol=1e-4, atol=1e-5, equal_nan=True):
            wrong.append(f"{expression}: {found.ravel()[:4]}, not {expected.ravel()[:4]}")
    assert wrong == []
