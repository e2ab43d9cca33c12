"""`tf.experimental.dispatch_for_api` and related decorators: what functions do with a program's own classes."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from graphgrad.ir.scopes import name_scope
from graphgrad.ir.values import dispatch
from graphgrad.ir.values.composite import Composite
from graphgrad.ir.values.dispatch import ASSERTIONS, BINARY, UNARY, Api, Implementation

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Check = Callable[[Any], bool]


def dispatch_for_api(api: Callable[..., Any], *signatures: dict[Any, Any]) -> Callable[[_Function], _Function]:
    """Makes the decorated function the one that is called where a TensorFlow function gets values of certain classes.

    Args:
      api: the function of `tf.*`.
      *signatures: dictionaries from names or numbers of parameters to classes, `list[...]` or unions of classes; the
        decorated function is called if one of them matches, and an argument that it names is, or holds, a composite.
        By default the annotations of the decorated function.
    Returns: a decorator. The decorated function has the parameters of `api`; it may lack `name`, which then becomes a
      name scope.
    Raises: ValueError for a function that is not dispatched, unknown parameters and other parameters of the decorated
      function; TypeError for signatures that are no dictionaries. In calls, ValueError if two functions match.
    Reference: TensorFlow 2.21 `tf.experimental.dispatch_for_api`.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> @tf.experimental.dispatch_for_api(tf.math.add, {"x": Masked, "y": Masked})
    ... def masked_add(x, y):
    ...     return Masked(x.values + y.values, x.mask & y.mask)
    >>> sess.run(tf.add(Masked([1, 2], [True, False]), Masked(10, True)).values)
    array([11, 12], dtype=int32)
    """
    found = dispatch.api_of(api)
    if found is None or _is_variadic(found.function):
        raise ValueError(f"{api} does not support dispatch. Fix: give a function of tensors, as tf.math.add")
    parameters = inspect.signature(found.function).parameters
    checks = [_signature_check(parameters, s) for s in signatures]

    def decorator(target: _Function) -> _Function:
        if not callable(target):
            raise TypeError(f"Expected dispatch_target to be callable; got {target!r}. Fix: decorate a function")
        scoped = _with_name(target, parameters)
        _check_parameters(parameters, scoped)
        own = checks or [_signature_check(parameters, _annotations(target))]
        _targets(found).append((scoped, own))
        return scoped

    return decorator


def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[_Function], _Function]:
    """Makes the decorated function the one that is called where elementwise functions of one operand get a class.

    Args:
      x_type: the class, or a union of classes.
    Returns: a decorator of functions `(api, x)`: `api` is the function, without its other arguments.
    Raises: ValueError if there is one for `x_type` already.
    Reference: TensorFlow 2.21 `tf.experimental.dispatch_for_unary_elementwise_apis`.

    >>> class Named(tf.experimental.ExtensionType):
    ...     value: tf.Tensor
    ...     unit: str
    >>> @tf.experimental.dispatch_for_unary_elementwise_apis(Named)
    ... def named(api, x):
    ...     return Named(api(x.value), x.unit)
    >>> sess.run(tf.abs(Named(-2.0, "m")).value)
    np.float32(2.0)
    """
    return _elementwise("unary elementwise", UNARY, (x_type,))


def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Callable[[_Function], _Function]:
    """Makes the decorated function the one that is called where elementwise functions of two operands get classes.

    Args:
      x_type, y_type: the classes of the operands, or unions of classes.
    Returns: a decorator of functions `(api, x, y)`: `api` is the function, without its other arguments.
    Raises: ValueError if there is one for the two already.
    Reference: TensorFlow 2.21 `tf.experimental.dispatch_for_binary_elementwise_apis`.
    """
    return _elementwise("binary elementwise", BINARY, (x_type, y_type))


def dispatch_for_binary_elementwise_assert_apis(x_type: Any, y_type: Any) -> Callable[[_Function], _Function]:
    """Makes the decorated function the one that is called where assertions on two operands get classes.

    Args:
      x_type, y_type: the classes of the operands, or unions of classes.
    Returns: a decorator of functions `(api, x, y)`: `api` is the assertion, without its other arguments.
    Raises: ValueError if there is one for the two already.
    Reference: TensorFlow 2.21 `tf.experimental.dispatch_for_binary_elementwise_assert_apis`.
    """
    return _elementwise("binary elementwise assert", ASSERTIONS, (x_type, y_type))


def unregister_dispatch_for(dispatch_target: Callable[..., Any]) -> None:
    """Undoes what the decorators above did with a function.

    Args:
      dispatch_target: what the decorator returned.
    Raises: ValueError for any other function.
    Reference: TensorFlow 2.21 `tf.experimental.unregister_dispatch_for`.
    """
    done = False
    for targets in _by_api.values():
        kept = [t for t in targets if t[0] is not dispatch_target]
        done = done or len(kept) < len(targets)
        targets[:] = kept
    for key in [k for k, handler in _handlers.items() if handler is dispatch_target]:
        del _handlers[key]
        done = True
    if not done:
        raise ValueError(f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator. "
                         "Fix: give what the decorator returned")


# -- registrations ---------------------------------------------------------------------

# For each function: the targets to call instead, each with the checks of when to.
_by_api: dict[Api, list[tuple[Callable[..., Any], list[Callable[..., bool]]]]] = {}
# By the names of functions and the classes of operands.
_handlers: dict[tuple[frozenset[str], tuple[Any, ...]], Callable[..., Any]] = {}


def _targets(api: Api) -> list[tuple[Callable[..., Any], list[Callable[..., bool]]]]:
    if api not in _by_api:
        targets = _by_api[api] = []
        bind = inspect.signature(api.function).bind

        def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if not targets:
                return NotImplemented
            try:
                given = bind(*args, **kwargs)
            except TypeError:  # the function itself raises the error
                return NotImplemented
            given.apply_defaults()
            fitting = [t for t, checks in targets if any(check(given.arguments) for check in checks)]
            if len(fitting) > 1:
                raise ValueError(f"Multiple dispatch targets that were registered with dispatch_for_api "
                                 f"({' and '.join(map(repr, fitting))}) match the arguments to {api.name}. "
                                 "Fix: tf.experimental.unregister_dispatch_for(one of them)")
            return fitting[0](*args, **kwargs) if fitting else NotImplemented

        api.first.append(call)
    return _by_api[api]


def _elementwise(what: str, names: frozenset[str], kinds: tuple[Any, ...]) -> Callable[[_Function], _Function]:
    checks = [_check(kind) for kind in kinds]
    key = names, kinds

    def decorator(handler: _Function) -> _Function:
        if key in _handlers:
            shown = kinds[0] if len(kinds) == 1 else kinds
            raise ValueError(f"A {what} dispatch handler ({_handlers[key]}) has already been registered for {shown}. "
                             "Fix: tf.experimental.unregister_dispatch_for(handler)")
        _handlers[key] = handler

        def rule(api: Api) -> Implementation | None:
            if api.name not in names:
                return None
            operands = list(inspect.signature(api.function).parameters)[: len(kinds)]

            def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
                if _handlers.get(key) is not handler:
                    return NotImplemented
                rest = dict(kwargs)
                values = [*args[: len(kinds)], *[rest.pop(n) for n in operands[len(args):] if n in rest]]
                if len(values) != len(kinds) or not _match(zip(checks, values)):
                    return NotImplemented
                name = rest.pop("name", None)
                function = functools.partial(_called, api, args[len(kinds):], rest)
                with name_scope(name, api.function.__name__) if name else contextlib.nullcontext():
                    return handler(function, *values)

            return call

        dispatch.add_rule(rule)
        return handler

    return decorator


def _called(api: Api, args: tuple[Any, ...], kwargs: dict[str, Any], *operands: Any) -> Any:
    return api.call(*operands, *args, **kwargs)


# -- classes of arguments --------------------------------------------------------------


def _check(annotation: Any) -> _Check:
    """Returns a function that says whether a value is of an annotation: a class, a list of one, or a union."""
    origin = typing.get_origin(annotation)
    if origin is typing.Union or origin is types.UnionType:
        options = [_check(a) for a in typing.get_args(annotation)]
        return lambda value: any(option(value) for option in options)
    if origin is list:
        (element,) = map(_check, typing.get_args(annotation))
        return lambda value: isinstance(value, (list, tuple)) and all(map(element, value))
    if annotation is None:
        return lambda value: value is None
    if annotation is Any:
        return lambda value: True
    if not isinstance(annotation, type):
        raise ValueError(f"Type annotation {annotation} is not currently supported by dispatch.  Supported "
                         "annotations: type objects,  List[...], and Union[...]")
    return lambda value: isinstance(value, annotation)


def _match(pairs: Iterable[tuple[_Check, Any]]) -> bool:
    """Returns whether all values are of their classes, and one is a composite."""
    found = list(pairs)
    return all(check(value) for check, value in found) and any(_holds_composite(value) for _, value in found)


def _holds_composite(value: Any) -> bool:
    return any(map(_holds_composite, value)) if isinstance(value, (list, tuple)) else isinstance(value, Composite)


def _signature_check(parameters: Any, signature: Any) -> Callable[..., bool]:
    """Returns a function that says whether arguments, by name, are of a signature's classes."""
    if not isinstance(signature, dict) or not all(isinstance(k, (str, int)) for k in signature):
        raise TypeError("signatures must be dictionaries mapping parameter names to type annotations. "
                        "Fix: {'x': MyClass}")
    names = list(parameters)
    checks: dict[str, _Check] = {}
    for key, annotation in signature.items():
        name = names[key] if isinstance(key, int) and key < len(names) else key
        if name not in parameters:
            raise ValueError(f"signature includes annotation for unknown parameter {name!r}. Fix: one of {names}")
        checks[name] = _check(annotation)
    return lambda given: _match([(check, given[name]) for name, check in checks.items()])


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(function)
    found = {name: hints[name] for name in inspect.signature(function).parameters if name in hints}
    if not found:
        raise ValueError("The dispatch_for_api decorator must be called with at least one signature, or applied to a "
                         "function that has type annotations on its parameters. Fix: {'x': MyClass}")
    return found


def _is_variadic(function: Callable[..., Any]) -> bool:
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    return bool(kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})


def _check_parameters(parameters: Any, target: Callable[..., Any]) -> None:
    own = inspect.signature(target)
    kinds = [p.kind for p in own.parameters.values()]
    if kinds == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]:
        return
    if [(p.name, p.kind) for p in own.parameters.values()] != [(p.name, p.kind) for p in parameters.values()]:
        raise ValueError(f"Dispatch function's signature {own} does not match API's signature "
                         f"{inspect.Signature(list(parameters.values()))}. Fix: give it the same parameters")


def _with_name(target: Callable[..., Any], parameters: Any) -> Any:
    """Returns the function, with a parameter `name` for a name scope if it lacks one that the other function has."""
    own = inspect.signature(target)
    if "name" not in parameters or "name" in own.parameters or any(
            p.kind is p.VAR_KEYWORD for p in own.parameters.values()):
        return target
    at = list(parameters).index("name")

    @functools.wraps(target)
    def scoped(*args: Any, **kwargs: Any) -> Any:
        name = args[at] if len(args) > at else kwargs.pop("name", None)
        with name_scope(name, None) if name else contextlib.nullcontext():
            return target(*args[:at], *args[at + 1 :], **kwargs)

    given = list(own.parameters.values())
    given.insert(at, parameters["name"])
    scoped.__signature__ = own.replace(parameters=given)  # type: ignore[attr-defined]  # which inspect reads
    return scoped
