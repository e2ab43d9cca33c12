"""Codes of errors, and what becomes of them."""

from __future__ import annotations

import warnings

import pytest

import graphgrad.compat.v1 as tf

pytestmark = pytest.mark.usefixtures("graph")


def test_codes_of_errors() -> None:
    """From codes to classes and back."""
    errors = tf.errors
    assert tf.OpError is errors.OpError and errors.exception_type_from_error_code(5) is errors.NotFoundError
    assert errors.error_code_from_exception_type(errors.DataLossError) == 15
    with pytest.raises(KeyError):
        errors.exception_type_from_error_code(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert isinstance(errors.error_code_from_exception_type(ValueError), errors.UnknownError)
    assert "Unknown class" in str(caught[0].message)
    with pytest.raises(errors.AbortedError, match="stop"), errors.raise_exception_on_not_ok_status() as status:
        status.code, status.message = errors.ABORTED, "stop"
