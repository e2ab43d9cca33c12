"""TensorFlow's error classes, and the wording of every message.

Every error names the op, shapes and dtypes, the line of the user's program that built
the op, and a remedy. Build-time errors are Python's own classes (`ValueError`,
`TypeError`, `LookupError`); run-time errors are subclasses of `OpError`.

Reference: TensorFlow 2.21 `tf.errors`.
"""

from __future__ import annotations

import functools
import linecache
import math
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND = range(6)
ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION = range(6, 10)
ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS = range(10, 16)
UNAUTHENTICATED = 16


class OpError(Exception):
    """A failure while a graph runs.

    Args:
      node_def: the failing op's definition, or None.
      op: the failing `Operation`, or None.
      message: what happened, where, and what to do about it.
      error_code: one of this module's integer codes.
    """

    code = UNKNOWN
    _unlocated: tuple[str, str] | None = None  # problem and remedy, from a kernel that does not know its operation

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int | None, *args: Any):
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = self.code if error_code is None else error_code

    @property
    def message(self) -> str:
        """The text of the error."""
        return self._message

    @property
    def op(self) -> Any:
        """The `Operation` that failed, or None where it is not known."""
        return self._op

    @property
    def node_def(self) -> Any:
        """The definition of the op that failed, or None."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The integer code of the error's class."""
        return self._error_code

    def __str__(self) -> str:
        return self._message


class _Coded(OpError):
    def __init__(self, node_def: Any, op: Any, message: str, *args: Any):
        super().__init__(node_def, op, message, self.code)


class CancelledError(_Coded):
    """An operation was cancelled."""

    code = CANCELLED


class UnknownError(_Coded):
    """An error whose cause is not known."""

    code = UNKNOWN


class InvalidArgumentError(_Coded):
    """An op received an argument it cannot work with."""

    code = INVALID_ARGUMENT


class DeadlineExceededError(_Coded):
    """A deadline passed before the operation could complete."""

    code = DEADLINE_EXCEEDED


class NotFoundError(_Coded):
    """A requested entity, such as a file, does not exist."""

    code = NOT_FOUND


class AlreadyExistsError(_Coded):
    """An entity to be created exists already."""

    code = ALREADY_EXISTS


class PermissionDeniedError(_Coded):
    """The caller may not run the operation."""

    code = PERMISSION_DENIED


class ResourceExhaustedError(_Coded):
    """Memory or another resource ran out."""

    code = RESOURCE_EXHAUSTED


class FailedPreconditionError(_Coded):
    """The system is not in the state that the op needs, e.g. a variable has no value."""

    code = FAILED_PRECONDITION


class AbortedError(_Coded):
    """The operation was aborted."""

    code = ABORTED


class OutOfRangeError(_Coded):
    """An operation went past the end of its input."""

    code = OUT_OF_RANGE


class UnimplementedError(_Coded):
    """The operation is not implemented."""

    code = UNIMPLEMENTED


class InternalError(_Coded):
    """An invariant of the system does not hold."""

    code = INTERNAL


class UnavailableError(_Coded):
    """The run time is not available at present."""

    code = UNAVAILABLE


class DataLossError(_Coded):
    """Data is lost or damaged beyond recovery."""

    code = DATA_LOSS


class UnauthenticatedError(_Coded):
    """The request carries no valid credentials."""

    code = UNAUTHENTICATED


_CLASSES: dict[int, type[OpError]] = {c.code: c for c in _Coded.__subclasses__()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """Returns the error class of a code.

    Args:
      error_code: one of this module's integer codes.
    Raises: KeyError for OK and for unknown codes.
    Reference: TensorFlow 2.21 `tf.compat.v1.errors.exception_type_from_error_code`.

    >>> tf.errors.exception_type_from_error_code(3).__name__
    'InvalidArgumentError'
    """
    return _CLASSES[error_code]


def error_code_from_exception_type(cls: Any) -> Any:
    """Returns the code of an error class.

    Args:
      cls: a subclass of `OpError`.
    Returns: its code; an `UnknownError`, with a warning, for another class, as in TensorFlow.
    Reference: TensorFlow 2.21 `tf.compat.v1.errors.error_code_from_exception_type`.

    >>> tf.errors.error_code_from_exception_type(tf.errors.InvalidArgumentError)
    3
    """
    code = next((c for c, found in _CLASSES.items() if found is cls), None)
    if code is None:
        import warnings

        warnings.warn("Unknown class exception", stacklevel=2)
        return UnknownError(None, None, "Unknown class exception", None)
    return code


class raise_exception_on_not_ok_status:  # TensorFlow's name
    """A block that raises the error of a status that was set in it.

    Reference: TensorFlow 2.21 `tf.compat.v1.errors.raise_exception_on_not_ok_status`.

    >>> with tf.errors.raise_exception_on_not_ok_status() as status:
    ...     status.code
    0
    """

    class _Status:
        code, message = OK, ""

    def __enter__(self) -> Any:
        self.status = self._Status()
        return self.status

    def __exit__(self, *exc: Any) -> None:
        if self.status.code != OK:
            made: Any = exception_type_from_error_code(self.status.code)
            raise made(None, None, self.status.message)


# The meaning of the system's error numbers, as in <errno.h>; others are unknown.
_SYSTEM: tuple[tuple[type[OpError], str, str], ...] = (
    (InvalidArgumentError, "check the path", "EINVAL ENAMETOOLONG E2BIG EDESTADDRREQ EDOM EFAULT EILSEQ"),
    (DeadlineExceededError, "try again", "ETIMEDOUT ETIME"),
    (NotFoundError, "check the path", "ENODEV ENOENT ENXIO ESRCH"),
    (AlreadyExistsError, "choose another name, or remove it first", "EEXIST EALREADY"),
    (PermissionDeniedError, "check who may read and write it", "EPERM EACCES EROFS"),
    (FailedPreconditionError, "check the path", "ENOTEMPTY EISDIR ENOTDIR EBADF EBUSY EPIPE ETXTBSY"),
    (ResourceExhaustedError, "free some space, or write elsewhere", "ENOSPC EDQUOT"),
    (ResourceExhaustedError, "free some of what it says", "EMFILE EMLINK ENFILE ENOBUFS ENODATA ENOMEM EUSERS"),
    (OutOfRangeError, "write smaller files, or raise the limit", "EFBIG EOVERFLOW ERANGE"),
    (UnimplementedError, "use another file system", "ENOSYS ENOTSUP EOPNOTSUPP EXDEV"),
    (UnavailableError, "try again", "EAGAIN EINTR ENOLCK ENOLINK ENETDOWN ENETUNREACH"),
    (AbortedError, "try again", "EDEADLK ESTALE"),
)


def of_system(error: OSError, path: str, source: str = "") -> OpError:
    """Converts one of the system's errors to TensorFlow's.

    Args:
      error: the system's.
      path: the file concerned.
      source: the user's line.
    """
    import errno

    name = errno.errorcode.get(error.errno or 0, "")
    found = ((cls, fix) for cls, fix, names in _SYSTEM if name in names.split())
    cls, fix = next(found, (UnknownError, "check the path and the disk"))
    asked = f"\n  Asked for at {source}" if source else ""
    made: Any = cls
    result: OpError = made(None, None, f"{path}; {error.strerror or error}{asked}\n  Fix: {fix}")
    return result


class EagerTypeError(InvalidArgumentError, TypeError):
    """An op that runs at once received an argument of the wrong dtype; for users it is an InvalidArgumentError.

    Graphs raise TypeError for the same mistake, so that programs that run in both modes may catch either.
    """

    def __reduce__(self) -> Any:
        return InvalidArgumentError, (None, None, self._message)


EagerTypeError.__name__ = EagerTypeError.__qualname__ = InvalidArgumentError.__name__


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor of a graph is used where Python needs its value: in an `if`, a `while` or a `for`."""


class InaccessibleTensorError(ValueError):
    """A tensor is used outside of the function, branch or loop that it belongs to."""


class Complaint(Exception):
    """Raised by a shape rule or a kernel: what is wrong, without saying where.

    The builder (or the executor) catches it, adds op, shapes and the user's line, and raises the error of TensorFlow's
    class instead. A function that raises it before any op is built lets it propagate: it is an instance of `cls` too,
    and names the function and the line that called it.

    Args:
      problem: the problem, e.g. 'dimension -1 differs (10 vs 32)'.
      fix: a remedy, one imperative clause.
      cls: the class to raise at build time.
    """

    def __new__(kind, problem: str, fix: str = "", cls: type[Exception] = ValueError) -> Complaint:
        return super().__new__(_complaints(cls))  # type: ignore[arg-type]  # classes can be hashed

    def __init__(self, problem: str, fix: str = "", cls: type[Exception] = ValueError):
        Exception.__init__(self, problem)
        self.problem = self._message = problem
        self.fix = fix
        self.cls = cls
        self._node_def = self._op = None
        self._error_code = getattr(cls, "code", UNKNOWN)

    def __str__(self) -> str:
        function, line = "", ""
        for frame, number in traceback.walk_tb(self.__traceback__):
            if frame.f_code.co_filename.startswith(_PACKAGE):
                function = function or frame.f_code.co_name
            else:  # the function called from the user's code is the one to name
                path = frame.f_code.co_filename
                text = linecache.getline(path, number).strip()
                function, line = "", f"{shown_name(path)}:{number}:  {text}"
        lines = [f"{function}: {self.problem.rstrip('.')}." if function else f"{self.problem.rstrip('.')}."]
        lines += [f"  Called at {line}"] * bool(line) + [f"  Fix: {self.fix}"] * bool(self.fix)
        return "\n".join(lines)


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


@functools.cache
def _complaints(cls: type[Exception]) -> type[Complaint]:
    """Makes the class of complaints that are instances of `cls`, too, with its name."""
    return type(cls.__name__, (Complaint, cls), {"__module__": cls.__module__})


class NeedsHostValue(Exception):
    """Raised by a kernel that needs an input's value, not a symbol, while it is lowered.

    The executor then computes that input before the op's cluster and tries again.

    Args:
      input_name: the name of the op's input in its signature; '' if only NumPy can run it.
    """

    def __init__(self, input_name: str):
        super().__init__(input_name)
        self.input_name = input_name


def memory_problem(error: BaseException) -> str | None:
    """Returns the problem if an exception, of any library, means that memory ran out; else None."""
    text = str(error)
    if isinstance(error, MemoryError):
        shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
        if shape is not None and dtype is not None:  # NumPy's
            return no_room(shape, str(dtype), dtype.itemsize)
        return f"OOM{f': {text}' if text else ''}"
    if not isinstance(error, (RuntimeError, OSError, ImportError)) or not any(words in text for words in _MEMORY):
        return None
    return f"OOM: {text.removeprefix('RESOURCE_EXHAUSTED: ')}"


_MEMORY = (
    "RESOURCE_EXHAUSTED", "Out of memory", "Cannot allocate memory", "failed to map segment", "can't start new thread",
    "YNNPACK operation failed",  # XLA's library for matrix products, which gives no other details
)
MORE_MEMORY = "run it on less at a time (a smaller batch), or give the process more memory"


def no_room(shape: Sequence[int | None], dtype: str, itemsize: int) -> str:
    """Describes a lack of memory for a tensor; None is an unknown size."""
    sizes = ",".join("?" if n is None else str(n) for n in shape)
    known = [n for n in shape if n is not None]
    size = ("at least " if len(known) < len(shape) else "") + bytes_str(math.prod(known) * itemsize)
    return f"OOM when allocating tensor with shape[{sizes}] and type {dtype} ({size})"


def bytes_str(size: float) -> str:
    """Formats a number of bytes, such as '12 bytes' or '3.5 GiB'."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"


def describe(op_type: str, name: str, problem: str, operands: str = "", source: str = "", fix: str = "") -> str:
    """Composes an error message: op type and name, the problem, operands, the user's line, the remedy."""
    head = f"{op_type} '{name}': {problem.rstrip('.')}"
    if operands:
        head += f"; {operands}"
    lines = [head + "."]
    if source:
        lines.append(f"  Built at {source}")
    if fix:
        lines.append(f"  Fix: {fix}")
    return "\n".join(lines)


def shown_name(path: str) -> str:
    """Returns the name of a file as readers know it: without its folder; In[3] for the third cell of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        told = getattr(shell.compile, "format_code_name", lambda name: None)(path)  # ("Cell", "In[3]")
        if told is not None:
            return str(told[1])
    return os.path.basename(path)
