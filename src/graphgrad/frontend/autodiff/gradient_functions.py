"""`gradients_function`, `implicit_grad` and related functions of `tf.contrib.eager`.

They work in eager mode and in graphs: the differentiated function runs, or is built, when they are called.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.frontend.structure import nest
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw

from .tape import GradientTape

_Params = Sequence[int | str] | int | None


def gradients_function(f: Callable[..., Any], params: _Params = None) -> Callable[..., list[Any]]:
    """Makes a function that computes the gradients of `f` with respect to its arguments.

    Args:
      f: takes tensors, returns a tensor or a list of them, whose sum is differentiated.
      params: the positions or names of the arguments to differentiate with respect to; all by default.
    Returns: `g(*args, dy=None)`, which gives the list of gradients; `dy` is what the result's derivative is
      multiplied by.
    Raises: ValueError, when called, if `f` returns None, for keyword arguments, and for names that `f` has not.
    Gradient: of any order: the result can be given to `gradients_function` again.
    Reference: TensorFlow 2.21 `tensorflow.python.eager.backprop.gradients_function`.

    >>> from graphgrad.frontend.autodiff.gradient_functions import gradients_function
    >>> slope = gradients_function(lambda x: x**3)
    >>> sess.run(slope(tf.constant(2.0)))
    [np.float32(12.0)]
    """
    value_and_gradients = val_and_grad_function(f, params)

    def decorated(*args: Any, **kwargs: Any) -> list[Any]:
        found: list[Any] = value_and_gradients(*args, **kwargs)[1]
        return found

    return decorated


def val_and_grad_function(f: Callable[..., Any], params: _Params = None) -> Callable[..., tuple[Any, list[Any]]]:
    """Makes a function that computes the value and the gradients of `f`; see `gradients_function`.

    Args:
      f, params: as in `gradients_function`.
    Returns: `g(*args, dy=None)`, which gives `f(*args)` and the list of gradients.
    Raises: as `gradients_function`.
    Reference: TensorFlow 2.21 `tensorflow.python.eager.backprop.val_and_grad_function`.

    >>> from graphgrad.frontend.autodiff.gradient_functions import val_and_grad_function
    >>> sess.run(val_and_grad_function(lambda x, y: x * y)(tf.constant(2.0), tf.constant(3.0)))
    (np.float32(6.0), [np.float32(3.0), np.float32(2.0)])
    """
    make = make_vjp(f, params)

    def decorated(*args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        dy = kwargs.pop("dy", None)
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments. "
                             f"Got {', '.join(sorted(kwargs))}. Fix: pass them by position")
        value, vjp = make(*args)
        return value, vjp(dy)

    return decorated


def make_vjp(f: Callable[..., Any], params: _Params = None,
             persistent: bool = True) -> Callable[..., tuple[Any, Callable[..., list[Any]]]]:
    """Makes a function that computes `f` and returns its vector-Jacobian product as a function.

    Args:
      f, params: as in `gradients_function`.
      persistent: whether the product can be computed more than once.
    Returns: `g(*args)`, which gives `f(*args)` and `vjp(dy=None)`, which gives the list of gradients.
    Raises: as `gradients_function`.
    Reference: TensorFlow 2.21 `tensorflow.python.eager.backprop.make_vjp`.

    >>> from graphgrad.frontend.autodiff.gradient_functions import make_vjp
    >>> value, vjp = make_vjp(lambda x: x * x)(tf.constant(3.0))
    >>> sess.run(vjp(tf.constant(10.0)))
    [np.float32(60.0)]
    """

    def decorated(*args: Any) -> tuple[Any, Callable[..., list[Any]]]:
        positions = _positions(f, params, args)
        # Identities: the same tensor may be given twice, and the results of an earlier call may be arguments.
        tensors = [raw.Identity(convert_to_tensor(a)) if i in positions else a for i, a in enumerate(args)]
        sources = [tensors[i] for i in positions]
        with GradientTape(persistent=persistent) as tape:
            tape.watch(sources)
            result = f(*tensors)
            if result is None:
                raise _returns_none(f)
            flat = [convert_to_tensor(t) for t in nest.flatten(result)]

        def vjp(dy: Any = None) -> list[Any]:
            grad_ys = None if dy is None else nest.flatten(dy)
            return list(tape.gradient(flat, sources, grad_ys))

        return nest.pack_sequence_as(result, flat), vjp

    return decorated


def implicit_grad(f: Callable[..., Any]) -> Callable[..., list[tuple[Any, Any]]]:
    """Makes a function that computes the gradients of `f` with respect to the trainable variables that it uses.

    Args:
      f: returns a tensor.
    Returns: a function of the same arguments that gives a list of pairs (gradient, variable), in the order in
      which the variables were made; an optimizer's `apply_gradients` takes it.
    Raises: ValueError, when called, if `f` returns None or uses no trainable variable.
    Reference: TensorFlow 2.21 `tensorflow.python.eager.backprop.implicit_grad`.

    >>> from graphgrad.frontend.autodiff.gradient_functions import implicit_grad
    >>> v = tf.Variable(3.0, name="v")
    >>> [(g, v)] = implicit_grad(lambda x: v * v * x)(tf.constant(2.0))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(g)
    np.float32(12.0)
    """
    both = implicit_val_and_grad(f)

    def decorated(*args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return both(*args, **kwargs)[1]

    return decorated


def implicit_val_and_grad(f: Callable[..., Any]) -> Callable[..., tuple[Any, list[tuple[Any, Any]]]]:
    """Makes a function that computes the value and the gradients of `f`; see `implicit_grad`.

    Args:
      f: as in `implicit_grad`.
    Returns: a function of the same arguments that gives the value and the list of pairs (gradient, variable).
    Raises: as `implicit_grad`.
    Reference: TensorFlow 2.21 `tensorflow.python.eager.backprop.implicit_val_and_grad`.

    >>> from graphgrad.frontend.autodiff.gradient_functions import implicit_val_and_grad
    >>> v = tf.Variable(3.0)
    >>> value, pairs = implicit_val_and_grad(lambda x: v * x)(tf.constant(2.0))
    >>> len(pairs)
    1
    """

    def decorated(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        with GradientTape() as tape:
            value = f(*args, **kwargs)
        if value is None:
            raise _returns_none(f)
        variables = list(tape.watched_variables())
        found = list(tape.gradient(value, variables)) if variables else []
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed. "
                             "Fix: use a tf.Variable in it, or gradients_function for its arguments")
        return value, list(zip(found, variables, strict=True))

    return decorated


def _positions(f: Callable[..., Any], params: _Params, args: tuple[Any, ...]) -> list[int]:
    if params is None:
        return list(range(len(args)))
    names = list(inspect.signature(f).parameters)
    found = []
    for p in [params] if isinstance(params, (int, str)) else params:
        if isinstance(p, str):
            if p not in names:
                raise ValueError(f"{p!r} is not in the list of arguments, {names}. Fix: name one of them")
            p = names.index(p)
        if not -len(args) <= p < len(args):
            raise IndexError(f"list index out of range: params names argument {p}, but {len(args)} are given. "
                             "Fix: count arguments from 0")
        found.append(p % len(args))
    return found


def _returns_none(f: Callable[..., Any]) -> ValueError:
    return ValueError(
        "Cannot differentiate a function that returns None; did you forget to return a value from "
        f"{getattr(f, '__name__', f)}? Fix: return the tensor to differentiate"
    )
