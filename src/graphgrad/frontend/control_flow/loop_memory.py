"""`checkpointed_loops`: controls the memory of the gradients of loops."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from graphgrad.ir.context import Inherited
from graphgrad.ir.source import user_source


class _Reverse(Inherited):
    """The checkpointing of loops that this thread builds."""

    def __init__(self) -> None:
        self.memory: str | None = None


reverse = _Reverse()


@contextlib.contextmanager
def checkpointed_loops(memory: str | None = "sqrt") -> Iterator[None]:
    """Makes the gradients of loops built inside use less memory, at the cost of time.

    The gradient of a loop of n iterations keeps what it needs of each of them. A checkpointed one keeps the loop
    variables of a few iterations only, and computes the others again from these. Counts for `while_loop` and all that
    is built upon it: `map_fn`, `scan`, `dynamic_rnn`, loops in functions.

    Args:
      memory: 'sqrt' for 2 sqrt(n) states, which takes one more forward pass; 'log' for O(log n) states (of n^(1/6) if
        the number of iterations has no bound while the graph is built), which takes O(log n) more; None to keep all.
    Raises: ValueError for any other word.
    Gradient: of any order; the numbers are the same. A repetition draws the random numbers that its iteration drew, and
      reads of a variable the value that it had when the loop ran. A loop keeps every iteration, and a UserWarning tells
      which operation is the reason, if its body changes variables, calls Python (`py_func`) or takes elements out of
      queues and the like, which must not happen again, or if its condition draws random numbers.
    Reference: Griewank, 1992; Chen et al., arXiv:1604.06174, 2016.

    >>> x = tf.constant(0.5)
    >>> with tf.checkpointed_loops("sqrt"):
    ...     y = tf.while_loop(lambda i, _: i < 100, lambda i, y: (i + 1, tf.sin(y) + x), [0, x])[1]
    >>> [g] = sess.run(tf.gradients(y, x))
    >>> 1.0 < g < 2.0
    np.True_
    """
    if memory not in (None, "sqrt", "log"):
        raise ValueError(f"checkpointed_loops: unknown memory {memory!r}.\n  Asked for at {user_source(3)}\n"
                         "  Fix: 'sqrt', 'log' or None")
    before, reverse.memory = reverse.memory, memory
    try:
        yield
    finally:
        reverse.memory = before
