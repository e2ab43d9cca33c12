"""`define_op`: operations that users define."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import ALL, DType, as_dtype
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.opdef import OpDef, op, raw, registry
from graphgrad.ir.shape import compatible, shape_str
from graphgrad.ir.source import Source

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.>/-]*\Z")
_ARG = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*:\s*(?:(?P<number>[A-Za-z_]\w*)\s*\*\s*)?(?P<type>\w+|list\(\w+\))\Z")


def define_op(op_type: str, signature: str, *, static: Sequence[str] = (), numpy_only: bool = False,
              stateful: bool = False, replace: bool = False, **types: Any) -> Callable[[Callable[..., Any]], OpDef]:
    """Defines an op type: a decorator of its kernel.

    The kernel is a function of `(xp, *inputs)`, where `xp` is `numpy` or `jax.numpy`; written once, it runs at once in
    eager mode, and is compiled in graphs and functions. Its keyword-only arguments are attributes of the op. What the
    decorator returns builds the op when it is called, and declares the rest:

    - `@my_op.shape`: a function of the inputs' shapes (tuples of int and None, or None for an unknown rank) and of the
      attributes it names, which returns the output's shape, or a list of them. Without it nothing is known.
    - `@my_op.grad`: a function of the `Operation` and one gradient for each output, which returns one for each input:
      a tensor, or None. `tf.RegisterGradient(op_type)` does the same later, from elsewhere.
    - `@my_op.on_host`, `@my_op.on_device`: kernels for NumPy or for jax.numpy alone.

    Args:
      op_type: the op type, such as "Hypot"; not yet taken.
      signature: such as "x: T, n: int32 -> y: T, z: N*T": inputs and outputs, each of a dtype, of a type attribute
        (a capital letter first), or a list of N of these.
      static: names of inputs that decide the shape of the result; the kernel gets them as NumPy arrays, always.
      numpy_only: whether the kernel cannot be compiled: it gets `numpy`, and may use Python freely.
      stateful: whether two calls differ, so that none may be merged with another, or omitted from a function.
      replace: whether an op type that a program defined before may be defined anew, as when a notebook's cell runs
        again; graphs that exist keep the older one.
      **types: the dtypes that a type attribute may be, such as `T=[tf.float32, tf.float64]`; any by default.
    Returns: a decorator, which returns the op's record.
    Raises: KeyError if the type is taken; ValueError for a signature that cannot be read; TypeError for a kernel whose
      arguments do not fit it. When it runs: InvalidArgumentError for results that do not fit it.
    Gradient: the one declared; without one, differentiating is a LookupError.
    Reference: graphgrad's own; see docs/howto/user-ops.md.

    >>> @tf.define_op("Cube", "x: T -> y: T", T=[tf.float32, tf.float64], replace=True)
    ... def cube(xp, x):
    ...     return x * x * x
    >>> @cube.shape
    ... def cube_shape(x):
    ...     return x
    >>> @cube.grad
    ... def cube_grad(op, dy):
    ...     return dy * 3.0 * op.inputs[0] ** 2
    >>> x = tf.constant([1.0, 2.0])
    >>> sess.run([cube(x), *tf.gradients(cube(x), x)])
    [array([1., 8.], dtype=float32), array([ 3., 12.], dtype=float32)]
    """
    _check_name(op_type, replace)
    _check_signature(op_type, signature, types)
    allowed = {attr: _dtypes(op_type, attr, given) for attr, given in types.items()}
    flags = [flag for flag, on in (("python", numpy_only), ("host", numpy_only), ("stateful", stateful)) if on]

    def decorate(kernel: Callable[..., Any]) -> OpDef:
        if op_type in registry:
            _remove(op_type)
        record = op(op_type, signature, host=static, flags=flags, **allowed)(_checking(op_type, kernel))
        record.limits = {}  # the user defines the meaning of its attributes
        record.source = Source(kernel.__code__, -1) if hasattr(kernel, "__code__") else record.source
        _check_kernel(record, kernel)
        return record

    return decorate


# -- checks of definitions -----------------------------------------------------------------------------


def _check_name(op_type: Any, replace: bool) -> None:
    if not isinstance(op_type, str) or not _NAME.match(op_type):
        raise ValueError(f"{op_type!r} cannot be the name of an op type.\n  Fix: begin with a letter, and go on with "
                         "letters, digits and underscores")
    taken = registry.get(op_type)
    if taken is not None and not (replace and not _is_ours(taken)):
        remedy = "choose another name" if _is_ours(taken) else "choose another name, or give replace=True"
        raise KeyError(f"Op type '{op_type}' is registered already, at {taken.source}. Fix: {remedy}")


def _is_ours(record: OpDef) -> bool:
    return str(record.kernel.__module__).startswith("graphgrad.")


def _remove(op_type: str) -> None:
    del registry[op_type]
    vars(raw).pop(op_type, None)


def _check_signature(op_type: str, signature: str, types: Iterable[str]) -> None:
    """Raises ValueError for an invalid signature, or one without the given type attributes."""
    left, arrow, right = signature.partition("->")
    if not arrow:
        raise ValueError(f"{op_type}: the signature {signature!r} has no '->'.\n  Fix: write 'x: T -> y: T'")
    attrs, names = set(), set()
    for item in filter(None, (s.strip() for s in f"{left},{right}".split(","))):
        found = _ARG.match(item)
        if not found:
            raise ValueError(f"{op_type}: {item!r} in the signature is no input or output.\n  Fix: write 'name: type', "
                             "'name: N*type' or 'name: list(Types)'")
        if found["name"] in names:
            raise ValueError(f"{op_type}: the name '{found['name']}' is twice in the signature.\n  Fix: rename one")
        names.add(found["name"])
        kind = found["type"].removeprefix("list(").rstrip(")")
        by_name = {t.name for t in ALL}
        if kind not in by_name:
            if not kind[0].isupper() and kind not in types:
                near = difflib.get_close_matches(kind, sorted(by_name), 1)
                fix = f"write '{near[0]}'" if near else "name a dtype, or begin a type attribute with a capital letter"
                raise ValueError(f"{op_type}: there is no dtype '{kind}'.\n  Fix: {fix}")
            attrs.add(kind)
    unknown = sorted(set(types) - attrs)
    if unknown:
        raise ValueError(f"{op_type}: dtypes are given for {unknown[0]!r}, which is not in the signature "
                         f"{signature!r}.\n  Fix: use it there, or leave it out")


def _dtypes(op_type: str, attr: str, given: Any) -> list[DType]:
    given = [given] if isinstance(given, (str, DType)) or not isinstance(given, Iterable) else list(given)
    try:
        return [as_dtype(t) for t in given]
    except TypeError as e:
        raise TypeError(f"{op_type}: {attr}= must be dtypes, not {given!r}: {e}") from None


def _check_kernel(record: OpDef, kernel: Callable[..., Any]) -> None:
    """Raises TypeError and discards the op if the kernel's positional arguments are not `xp` and the inputs."""
    parameters = inspect.signature(kernel).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    least = sum(p.default is p.empty for p in positional)
    most = len(record.inputs) + 1
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        most = max(most, len(positional))
        positional = positional[:1] * most
    if least > len(record.inputs) + 1 or len(positional) != len(record.inputs) + 1:
        del registry[record.name]
        names = ", ".join(["xp", *(a.name for a in record.inputs)])
        raise TypeError(f"{record.name}: the kernel takes {len(positional)} positional arguments; the signature "
                        f"'{record.signature}' asks for {len(record.inputs) + 1}.\n  Defined at {record.source}\n"
                        f"  Fix: def kernel({names}, *, attributes)")


# -- checks of results ---------------------------------------------------------------------------------


def _checking(op_type: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps the kernel to compare its results with the signature and the shape rule."""

    @functools.wraps(kernel)
    def checked(xp: Any, *values: Any, **attrs: Any) -> Any:
        record = registry.get(op_type)
        result = kernel(xp, *values, **attrs)
        return result if record is None or record.kernel is not checked else _fitting(record, xp, values, attrs, result)

    # Programs that contain it are not cached for other processes, which may define it differently.
    checked.__module__ = kernel.__module__ or "__main__"
    return checked


def _fitting(record: OpDef, xp: Any, values: Sequence[Any], attrs: dict[str, Any], result: Any) -> Any:
    """Returns the results as arrays; raises a Complaint if they do not match signature and shape rule."""
    several = len(record.outputs) != 1 or record.outputs[0].is_list
    if several:
        _check_number(record, result)
    flat = [xp.asarray(r) if np.isscalar(r) else r for r in record.unpack(result)]
    inputs = [EagerTensor(v) for group in values for v in (group if isinstance(group, list) else [group])]
    given = {k: v for k, v in attrs.items() if k not in ("rng", "state")}
    given.update((a.number_attr, len(group)) for a, group in zip(record.inputs, values, strict=False) if a.number_attr)
    if any(not hasattr(v, "dtype") for v in flat):
        raise Complaint(f"the kernel returns {type(flat[0]).__name__}, which is no array", "return xp.asarray(...)")
    peeked = [v for i, v in enumerate(values) if i in record.seen and not isinstance(v, (np.ndarray, np.generic))]
    if peeked or any(t.dtype.kind == "o" for t in inputs):
        return result
    _check_specs(record, flat, record.infer(cast(Any, inputs), given).specs)
    return result if several else flat[0]


def _check_number(record: OpDef, result: Any) -> None:
    if not isinstance(result, (tuple, list)) and record.outputs:
        raise Complaint(f"the kernel returns {type(result).__name__}, not a tuple of {len(record.outputs)} outputs",
                        "return one value for each output in the signature")
    if len(record.outputs) > 1 and len(result) != len(record.outputs):
        raise Complaint(f"the kernel returns {len(result)} outputs; its signature has {len(record.outputs)}",
                        "return one value for each output in the signature")


def _check_specs(record: OpDef, flat: Sequence[Any], specs: Sequence[Any]) -> None:
    names = [a.name for a in record.outputs for _ in range(1 if not a.is_list else len(flat) - len(record.outputs) + 1)]
    for name, value, spec in zip(names, flat, specs, strict=False):
        if spec.dtype.kind != "o" and value.dtype != spec.dtype.np_dtype:
            raise Complaint(f"the kernel returns {value.dtype} for output '{name}', which the signature declares "
                            f"{spec.dtype.name}", f"return it as {spec.dtype.name}, e.g. y.astype(x.dtype)")
        if not compatible(spec.shape, tuple(value.shape)):
            raise Complaint(f"the kernel returns shape {shape_str(tuple(value.shape))} for output '{name}', where the "
                            f"shape rule says {shape_str(spec.shape)}", "correct the kernel or the shape rule")
