"""Templates: functions whose variables are created once and then shared."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .variable_scope import VariableScope, variable_scope


class Template:
    """A function whose variables are created by its first call and shared by the others."""

    def __init__(self, name: str, function: Callable[..., Any], unique_name: Any, custom_getter: Any):
        self._name = name
        self._function = function
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._scope: VariableScope | None = None
        self._called = False

    def _create_scope(self) -> None:
        with variable_scope(self._unique_name, self._name, custom_getter=self._custom_getter,
                            auxiliary_name_scope=False) as scope:
            self._scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._scope is None:
            self._create_scope()
        with variable_scope(self._scope, reuse=self._called):
            result = self._function(*args, **kwargs)
        self._called = True
        return result

    @property
    def name(self) -> str:
        """The requested name."""
        return self._name

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of the variables; None before the first call."""
        return self._scope

    @property
    def variable_scope_name(self) -> str | None:
        """The prefix of the variables' names; None before the first call."""
        return None if self._scope is None else self._scope.name

    @property
    def variables(self) -> list[Any]:
        """The variables that it made."""
        return [] if self._scope is None else self._scope.global_variables()

    @property
    def trainable_variables(self) -> list[Any]:
        """Those of its variables that are trainable."""
        return [] if self._scope is None else self._scope.trainable_variables()


def make_template(name_: str, func_: Callable[..., Any], create_scope_now_: bool = False, unique_name_: Any = None,
                  custom_getter_: Any = None, **kwargs: Any) -> Template:
    """Turns a function into one whose variables are created once and then shared.

    Args:
      name_: the name of its variable scope; made unique.
      func_: the function.
      create_scope_now_: whether to settle the scope now, not at the first call.
      unique_name_: a name that is not made unique.
      custom_getter_: a custom getter for its variables.
      **kwargs: arguments for every call.
    Returns: a callable.
    Raises: ValueError from a later call that makes a variable.
    Reference: TensorFlow 2.21 `tf.compat.v1.make_template`.

    >>> double = tf.make_template("double", lambda x: tf.get_variable("w", [], initializer=tf.ones_initializer()) * x)
    >>> a, b = double(1.0), double(2.0)
    >>> len(tf.global_variables())
    1
    """
    if not isinstance(name_, str) or not callable(func_):
        raise TypeError(f"make_template needs a name and a function, not {name_!r} and {func_!r}")
    template = Template(name_, functools.partial(func_, **kwargs) if kwargs else func_, unique_name_, custom_getter_)
    if create_scope_now_:
        template._create_scope()
    return template
