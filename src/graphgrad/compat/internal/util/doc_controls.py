"""Decorators for TensorFlow's documentation, `tensorflow.tools.docs.doc_controls`: none changes what it decorates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")


def do_not_generate_docs(obj: _T) -> _T:
    """Returns the object."""
    return obj


do_not_doc_inheritable = do_not_generate_docs
do_not_doc_in_subclasses = do_not_generate_docs
doc_in_current_and_subclasses = do_not_generate_docs
doc_private = do_not_generate_docs
for_subclass_implementers = do_not_generate_docs


def inheritable_header(text: str) -> Callable[[_T], _T]:
    """Returns a decorator that returns the object.

    Args:
      text: accepted.
    """
    return do_not_generate_docs


header = inheritable_header


def set_deprecated(obj: Any) -> Any:
    """Returns the object."""
    return obj
