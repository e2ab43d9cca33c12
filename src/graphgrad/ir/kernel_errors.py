"""Maps exceptions of kernels to TensorFlow's error classes, in eager mode and in runs."""

from __future__ import annotations

from typing import Any

from graphgrad.errors import (
    MORE_MEMORY,
    Complaint,
    InternalError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
    describe,
    memory_problem,
    of_system,
)

from .inference import CHECK, misfit
from .opdef import OpDef

# Python's classes -> TensorFlow's; the first match. Errors of user functions have a separate table.
_OF_USERS: tuple[tuple[Any, type[OpError]], ...] = (
    (MemoryError, ResourceExhaustedError), (NotImplementedError, UnimplementedError),
    (StopIteration, OutOfRangeError), ((TypeError, ValueError), InvalidArgumentError),
    (Exception, UnknownError),
)
_OF_KERNELS: tuple[tuple[Any, type[OpError]], ...] = (
    (NotImplementedError, UnimplementedError), ((NameError, AssertionError), InternalError),
    (Exception, InvalidArgumentError),
)
CALLS_BACK = frozenset({"python", "functional"})  # flags of operations that run user code


def failure(opdef: OpDef, name: str, error: Exception, operands: str, source: str, op: Any = None) -> OpError:
    """Makes TensorFlow's error for a kernel's exception, with op, shapes, the user's line and a remedy.

    Args:
      opdef: the record.
      name: the operation's name.
      error: the kernel's exception. One of TensorFlow's classes stays the same object, and gets missing details.
      operands: the inputs as text.
      source: the user's line, and more lines on where the operation comes from.
      op: the `Operation`; None in eager mode.
    """
    node_def = None if op is None else op.node_def
    if isinstance(error, OpError) and not isinstance(error, Complaint):
        if error._op is None:
            error._op, error._node_def = op, node_def
            at_large = not opdef.flags & CALLS_BACK and not error._message.startswith(f"{opdef.name} '")
            if error._unlocated or at_large:
                problem, fix = error._unlocated or _apart(error._message)
                operands = "" if error._unlocated else operands
                error._message = describe(opdef.name, name, problem, operands, source, fix)
                error.args, error._unlocated = (error._message,), None
        return error
    cls: type[OpError] = InvalidArgumentError
    if isinstance(error, Complaint):
        problem, fix = error.problem, error.fix or CHECK
        cls = error.cls if issubclass(error.cls, OpError) else cls
    elif "python" in opdef.flags:
        problem, fix = f"{type(error).__name__}: {error}", "correct the Python function"
        cls = next(c for kinds, c in _OF_USERS if isinstance(error, kinds))
    elif (lack := memory_problem(error)) is not None:
        problem, fix, cls = lack, MORE_MEMORY, ResourceExhaustedError
    elif isinstance(error, OSError) and error.errno is not None:
        of_files = of_system(error, str(error.filename or name))
        (problem, fix), cls = _apart(of_files.message), type(of_files)
    else:
        problem, fix = misfit(error), CHECK
        cls = next(c for kinds, c in _OF_KERNELS if isinstance(error, kinds))
    return cls(node_def, op, describe(opdef.name, name, problem, operands, source, fix), cls.code)


def _apart(message: str) -> tuple[str, str]:
    """Splits a message into problem and remedy."""
    problem, _, fix = message.partition("Fix: ")
    return problem.strip(), fix.strip() or CHECK
