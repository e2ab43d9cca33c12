"""The public functions of `tf.autograph`."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable
from typing import Any, overload

from graphgrad.frontend.structure.structure_types import P, S

from .convert import convert, mark_unconverted, source_of


class AutographFeature(enum.Enum):
    """Optional features beyond branches and loops.

    Here BUILTIN_FUNCTIONS lets `print` print tensors when the graph runs, ALL includes it; the others are accepted as
    TensorFlow does. Assertions on tensors are converted in any case.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    def __repr__(self) -> str:
        return f"<Feature.{self.name}: {self.value!r}>"

    def __str__(self) -> str:
        return f"Feature.{self.name}"

    @classmethod
    def all(cls) -> tuple[AutographFeature, ...]:
        """Returns all features."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[AutographFeature, ...]:
        """Returns all features but one, or those of a sequence."""
        left_out = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(f for f in cls if f not in left_out and f is not cls.ALL)


def with_builtins(features: Any) -> bool:
    """Returns whether optional features include `print` and similar functions."""
    chosen = features if isinstance(features, (list, tuple, set)) else (features,)
    return AutographFeature.BUILTIN_FUNCTIONS in chosen or AutographFeature.ALL in chosen


@overload
def do_not_convert(func: None = None) -> Callable[[S], S]: ...
@overload
def do_not_convert(func: S) -> S: ...
def do_not_convert(func: Any = None) -> Any:
    """Excludes a function from conversion: its `if` and `while` are Python's own.

    Args:
      func: the function; when omitted, the result is a decorator.
    Returns: the function.
    Reference: TensorFlow 2.21 `tf.autograph.experimental.do_not_convert`.

    >>> @tf.autograph.experimental.do_not_convert
    ... def twice(x):
    ...     return x + x if x is not None else x
    >>> twice(2)
    4
    """
    if func is None:
        return do_not_convert
    plain: Any = getattr(func, "__func__", func)
    if hasattr(plain, "__code__"):
        plain._ag_unconverted = True
        return func
    mark_unconverted(type(func).__call__)
    return func


_UNSET = object()


def set_loop_options(parallel_iterations: Any = _UNSET, swap_memory: Any = _UNSET, maximum_iterations: Any = _UNSET,
                     shape_invariants: Any = _UNSET) -> None:
    """Sets options of the enclosing loop, if it runs on tensors.

    Stands as a statement in the body of the loop.

    Args:
      parallel_iterations, swap_memory: accepted as TensorFlow does.
      maximum_iterations: the largest number of iterations.
      shape_invariants: pairs of a variable and a shape that holds in all iterations.
    Reference: TensorFlow 2.21 `tf.autograph.experimental.set_loop_options`.

    >>> @tf.function
    ... def grow(n):
    ...     v = tf.constant([0])
    ...     for i in tf.range(n):
    ...         tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
    ...         v = tf.concat([v, [i]], 0)
    ...     return v
    >>> sess.run(grow(tf.constant(3)))
    array([0, 0, 1, 2], dtype=int32)
    """


def to_graph(entity: Callable[P, Any], recursive: bool = True,
             experimental_optional_features: Any = None) -> Callable[P, Any]:
    """Returns the rewritten function, for building graphs.

    Args:
      entity: a function.
      recursive: accepted as TensorFlow does: called functions are always rewritten.
      experimental_optional_features: a `Feature`, or several.
    Returns: a function of the same arguments.
    Raises: ValueError where the source cannot be found.
    Reference: TensorFlow 2.21 `tf.autograph.to_graph`.

    >>> def size(x):
    ...     if x > 10:
    ...         return tf.constant("large")
    ...     return tf.constant("small")
    >>> sess.run(tf.autograph.to_graph(size)(tf.constant(3)))
    b'small'
    """
    function = _plain(entity)
    source_of(function)
    return convert(function, with_builtins(experimental_optional_features), asked=True)


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """Returns the source of the rewritten function.

    Args:
      entity: a function.
      recursive, experimental_optional_features: as in `to_graph`.
    Returns: Python code, for reading; `_ag` in it is this package's operators.
    Raises: ValueError where the source cannot be found.
    Reference: TensorFlow 2.21 `tf.autograph.to_code`.

    >>> def double(x):
    ...     return x * 2
    >>> "return x * 2" in tf.autograph.to_code(double)
    True
    """
    return source_of(_plain(entity), with_builtins(experimental_optional_features))


def to_graph_v1(entity: Callable[P, Any], recursive: bool = True, arg_values: Any = None, arg_types: Any = None,
                experimental_optional_features: Any = None) -> Callable[P, Any]:
    """Returns the rewritten function, for building graphs (1.x arguments).

    Args:
      entity, recursive, experimental_optional_features: as in 2.x.
      arg_values, arg_types: accepted as TensorFlow does.
    Returns: a function of the same arguments.
    Raises: ValueError where the source cannot be found.
    Reference: TensorFlow 2.21 `tf.compat.v1.autograph.to_graph`.
    """
    return to_graph(entity, recursive, experimental_optional_features)


def to_code_v1(entity: Any, recursive: bool = True, arg_values: Any = None, arg_types: Any = None,
               indentation: str = " ", experimental_optional_features: Any = None) -> str:
    """Returns the source of the rewritten function (1.x arguments).

    Args:
      entity, recursive, experimental_optional_features: as in 2.x.
      arg_values, arg_types, indentation: accepted as TensorFlow does.
    Returns: Python code, for reading.
    Raises: ValueError where the source cannot be found.
    Reference: TensorFlow 2.21 `tf.compat.v1.autograph.to_code`.
    """
    return to_code(entity, recursive, experimental_optional_features)


def _plain(entity: Any) -> Any:
    function = getattr(entity, "python_function", entity)
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__code__"):
        raise ValueError(f"AutoGraph cannot convert {entity!r}: it is no Python function. Fix: give its __call__")
    return function


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Sets the level of detail at which the conversion is logged.

    Args:
      level: 0 for nothing; from 1 on, functions that cannot be converted are named.
      alsologtostdout: whether the log goes to standard output too.
    Reference: TensorFlow 2.21 `tf.autograph.set_verbosity`.
    """
    import logging

    logger = logging.getLogger("graphgrad.autograph")
    logger.setLevel(logging.DEBUG if level else logging.WARNING)
    if alsologtostdout and not logger.handlers:
        logger.addHandler(logging.StreamHandler(sys.stdout))


def trace(*args: Any) -> None:
    """Prints its arguments when the function is traced.

    Reference: TensorFlow 2.21 `tf.autograph.trace`.

    >>> tf.autograph.trace("here", 1)
    here 1
    """
    print(*args)
