"""`recompute_grad` and `grad_pass_through`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from graphgrad.frontend.structure.structure_types import P, R
from graphgrad.frontend.variables.variable_scope import get_variable_scope, variable_scope
from graphgrad.gradients.bodies.subgraphs import random_ops, replay
from graphgrad.gradients.core.backprop import gradients
from graphgrad.gradients.core.custom import custom_gradient, leaves_of, repack
from graphgrad.ir.context import current_graph
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw


def recompute_grad(f: Callable[P, R]) -> Callable[P, R]:
    """Makes a function recompute its intermediate values for the gradient instead of keeping them (rematerialisation).

    Args:
      f: takes tensors (also in lists and dictionaries) by position, returns tensors; may use variables.
    Returns: a function with the results and the gradients of `f`. Its gradient calls `f` once more; what `f` draws at
      random, as dropout does, is drawn again and the same. In eager mode it is `f` itself.
    Raises: ValueError for keyword arguments while a graph is built.
    Gradient: of any order.
    Reference: TensorFlow 2.21 `tf.recompute_grad`; Griewank and Walther, Algorithm 799: revolve, 2000.

    >>> f = tf.recompute_grad(lambda x: tf.exp(tf.sin(x)))
    >>> x = tf.constant(0.0)
    >>> sess.run(tf.gradients(f(x), x))
    [np.float32(1.0)]
    """

    call: Callable[..., Any] = f

    @custom_gradient
    def in_graph(*args: Any) -> Any:
        scope = get_variable_scope()
        around = current_graph()
        assert around is not None
        start = around.version
        outcome = call(*args)
        drawing = random_ops(list(leaves_of(outcome)), around._operations[start:])

        def grad(*dys: Any, variables: Any = ()) -> Any:
            graph = current_graph()
            assert graph is not None
            # The recomputation waits for the gradient: until then it takes no memory. And it is not merged with the
            # original, see `Graph.recomputing`.
            waited_for = [dy.op for dy in dys if isinstance(dy, Tensor)]
            begin = graph.version
            with graph.recomputing(), graph._own_gradients(), graph.control_dependencies(waited_for):
                again = [raw.Identity(t) for t in leaves_of(args)]
                with variable_scope(scope, reuse=True, auxiliary_name_scope=False):
                    results = list(leaves_of(call(*repack(args, iter(again)))))
            replay(drawing, random_ops(results, graph._operations[begin:]))
            found = gradients(results, [*again, *variables], list(dys), name="recomputed", stop_gradients=again)
            in_grads = found[: len(again)]
            return (in_grads, found[len(again) :]) if variables else in_grads

        return outcome, grad

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs) if current_graph() is None else in_graph(*args, **kwargs)

    return decorated


def grad_pass_through(f: Callable[P, R]) -> Callable[P, R]:
    """Makes a function through which gradients pass unchanged, whatever it computes (a straight-through estimator).

    Args:
      f: takes as many tensors as it returns, of the same shapes.
    Returns: a function with the results of `f` and the gradient of the identity; variables that `f` uses get none.
    Raises: ValueError, in `gradients`, if results and arguments differ in number or shape.
    Gradient: dy for each argument.
    Reference: TensorFlow 2.21 `tf.grad_pass_through`; Bengio, Leonard, Courville, arXiv:1308.3432.

    >>> x = tf.constant(1.3)
    >>> y = tf.grad_pass_through(tf.round)(x)
    >>> sess.run([y, tf.gradients(y, x)[0]])
    [np.float32(1.0), np.float32(1.0)]
    """

    @custom_gradient
    def passing(*args: Any, **kwargs: Any) -> Any:
        def grad(*dys: Any, variables: Any = None) -> Any:
            return dys if variables is None else (dys, [None] * len(variables))

        return f(*args, **kwargs), grad

    decorated: Callable[..., Any] = functools.wraps(f)(passing)
    return decorated
