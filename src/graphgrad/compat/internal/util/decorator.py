"""Decorators that can be looked through; `tensorflow.python.util.tf_decorator`."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

from graphgrad.frontend.structure.structure_types import S


class TFDecorator:
    """A record of a decorator, which its function carries as `_tf_decorator`.

    Args:
      decorator_name: the decorator's name.
      target: what it decorates.
      decorator_doc: what the decorator says of itself.
      decorator_argspec: the arguments of the decorated function, if they are not the target's.
    """

    def __init__(self, decorator_name: str, target: Callable[..., Any], decorator_doc: str = "",
                 decorator_argspec: Any = None):
        self.decorated_target = target
        self.decorator_name = decorator_name
        self.decorator_doc = decorator_doc
        self.decorator_argspec = decorator_argspec
        self.__doc__ = decorator_doc or getattr(target, "__doc__", None) or ""
        self.__name__ = getattr(target, "__name__", decorator_name)

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self.decorated_target.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.decorated_target(*args, **kwargs)


def make_decorator(target: Callable[..., Any], decorator_func: S, decorator_name: str | None = None,
                   decorator_doc: str = "", decorator_argspec: Any = None) -> S:
    """Makes a function look like the one that it wraps.

    Args:
      target: the wrapped function.
      decorator_func: the wrapper.
      decorator_name: the decorator's name; that of the calling function by default.
      decorator_doc: what the decorator says of itself.
      decorator_argspec: the wrapper's arguments, if they are not the target's.
    Returns: `decorator_func`.
    """
    name = decorator_name or sys._getframe(1).f_code.co_name
    wrapper: Any = decorator_func
    wrapper._tf_decorator = TFDecorator(name, target, decorator_doc, decorator_argspec)
    for attribute in ("__name__", "__qualname__", "__module__"):
        if hasattr(target, attribute):
            setattr(wrapper, attribute, getattr(target, attribute))
    for attribute, value in getattr(target, "__dict__", {}).items():
        wrapper.__dict__.setdefault(attribute, value)
    wrapper.__doc__ = wrapper._tf_decorator.__doc__
    wrapper.__wrapped__ = wrapper.__original_wrapped__ = target
    with contextlib.suppress(TypeError, ValueError):  # builtins have none
        wrapper.__signature__ = inspect.signature(target) if decorator_argspec is None else _signature(
            decorator_argspec, _is_bound(target))
    return decorator_func


def _is_bound(target: Any) -> bool:
    """Returns whether there is a bound method beneath decorators."""
    while target is not None:
        if inspect.ismethod(target):
            return True
        target = getattr(target, "__wrapped__", None)
    return False


def _signature(spec: Any, is_bound: bool) -> inspect.Signature:
    """Converts an argument specification; that of a bound method names the object, too."""
    kinds = inspect.Parameter
    defaults = dict(zip(reversed(spec.args), reversed(spec.defaults or ()), strict=False))
    made = [kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=defaults.get(name, kinds.empty))
            for name in spec.args[1 if is_bound and spec.args[:1] == ["self"] else 0:]]
    if spec.varargs:
        made.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    named = getattr(spec, "kwonlydefaults", None) or {}
    made += [kinds(name, kinds.KEYWORD_ONLY, default=named.get(name, kinds.empty))
             for name in getattr(spec, "kwonlyargs", ())]
    rest = getattr(spec, "varkw", None)
    return inspect.Signature([*made, kinds(rest, kinds.VAR_KEYWORD)] if rest else made)


def unwrap(maybe_tf_decorator: Any) -> tuple[list[TFDecorator], Any]:
    """Looks through decorators.

    Args:
      maybe_tf_decorator: anything.
    Returns: the records of the decorators, the outermost first, and what they decorate.
    """
    decorators: list[TFDecorator] = []
    found = maybe_tf_decorator
    while True:
        record = found if isinstance(found, TFDecorator) else getattr(found, "_tf_decorator", None)
        if not isinstance(record, TFDecorator):
            return decorators, found
        decorators.append(record)
        found = record.decorated_target


def rewrap(decorator_func: Callable[..., Any], previous_target: Any, new_target: Any) -> Any:
    """Gives a decorated function another target.

    Args:
      decorator_func: a function made by `make_decorator`.
      previous_target: what it decorates.
      new_target: what it is to decorate.
    Returns: `decorator_func`, or `new_target` if `decorator_func` decorates nothing.
    """
    inner: Any = decorator_func
    last = None
    while isinstance(getattr(inner, "_tf_decorator", None), TFDecorator):
        last = inner
        if inner._tf_decorator.decorated_target is previous_target:
            break
        inner = inner._tf_decorator.decorated_target
    if last is None:
        return new_target
    last._tf_decorator.decorated_target = last.__wrapped__ = new_target
    return decorator_func


__all__ = ["TFDecorator", "make_decorator", "rewrap", "unwrap"]
