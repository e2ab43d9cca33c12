"""Op records: signature, kernel, shape rule and gradient of an op in one place.

An op is declared by a decorator on its kernel; shape rule and gradient follow:

    @op("Mul", "x: T, y: T -> z: T", T=NUMERIC)
    def mul(xp, x, y):
        return xp.multiply(x, y)

    @mul.shape
    def _mul_shape(x, y):
        return broadcast(x, y)

    @mul.grad
    def _mul_grad(op, dz):
        ...

**Signature.** `name: type` separated by commas, inputs before `->`, outputs after. A type is
a type attribute (`T`, whose allowed dtypes are a keyword of the decorator, all when not
given), a fixed dtype (`int32`, `bool`, `string`, `resource`), a list of one type (`N*T`, `N`
being an attribute that holds the length), or a list of several (`list(Ts)`).

**Attributes** are the kernel's keyword-only arguments (with their defaults) and the names in
the signature. A kernel or a shape rule gets those that it names.

**Host inputs** (`host=("shape",)`) are inputs that decide the result's shape. A kernel gets them as NumPy arrays, even
when lowered; a shape rule gets their value as nested tuples of int and None instead of their shape, or None when
nothing is known. The shape rule gets inputs named in `peek` in the same way, but the kernel gets them as ordinary
inputs. A rule with an argument `input_shapes` gets the shapes of all inputs there, these included.

**Shape rule**: takes shapes (tuples of int and None; None for unknown rank), returns the shape
of the output, or a *list* of shapes when the op has several outputs or a list of them.

**Traits** (`op_traits.py`) are what else is known of an op: what it costs, whether it only looks
at shapes, and so on.

**Gradient**: takes the `Operation` and one gradient for each output, returns one for each
input (a tensor, `IndexedSlices` or None); several as a tuple or list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphgrad.errors import Complaint, InvalidArgumentError, OpError, describe
from graphgrad.op_index import MODULES
from graphgrad.op_traits import OpTraits, wanted
from graphgrad.system.lazy_registry import Attributes, LazyRegistry

from . import dtypes
from .attribute_limits import COMMON, OUTPUTS, Limit, check
from .constant_value import static_value
from .dtypes import ANY, DType
from .shape import Dimension, Shape, shape_str
from .source import Source, user_source

if TYPE_CHECKING:
    from .graph import Tensor

Kernel = Callable[..., Any]
CHECK = "check the shapes, values and attributes that this op is given"


class _NotDifferentiable:
    def __repr__(self) -> str:
        return "NOT_DIFFERENTIABLE"


NOT_DIFFERENTIABLE: Any = _NotDifferentiable()


class Spec:
    """An interned (dtype, static shape) pair, so that shape inference can be cached by identity."""

    __slots__ = ("dtype", "shape")
    _interned: dict[tuple[DType, Shape], Spec] = {}

    def __init__(self, dtype: DType, shape: Shape):
        self.dtype = dtype
        self.shape = shape

    @classmethod
    def of(cls, dtype: DType, shape: Shape) -> Spec:
        """Returns the one spec of this dtype and shape."""
        key = (dtype, shape)
        spec = cls._interned.get(key)
        if spec is None:
            spec = cls._interned[key] = Spec(dtype, shape)
        return spec

    def __repr__(self) -> str:
        return f"{self.dtype.name}{shape_str(self.shape)}"


class Arg:
    """One input or output of a signature; exactly one of `dtype`, `type_attr`, `list_attr` is set.

    Attributes:
      is_list: whether the argument stands for any number of tensors.
    """

    __slots__ = ("name", "dtype", "type_attr", "number_attr", "list_attr", "is_list")

    def __init__(self, name: str, dtype: DType | None, type_attr: str | None, number_attr: str | None,
                 list_attr: str | None):
        self.name = name
        self.dtype = dtype
        self.type_attr = type_attr
        self.number_attr = number_attr
        self.list_attr = list_attr
        self.is_list = number_attr is not None or list_attr is not None


class Inferred(NamedTuple):
    """The results of inference for an operation before it is built."""

    type_attrs: dict[str, Any]
    specs: tuple[Spec, ...]


def _parse_args(text: str) -> tuple[Arg, ...]:
    args = []
    for item in filter(None, (s.strip() for s in text.split(","))):
        name, _, kind = (s.strip() for s in item.partition(":"))
        if kind.startswith("list("):
            args.append(Arg(name, None, None, None, kind[5:-1]))
            continue
        number, star, kind = kind.rpartition("*")
        fixed = dtypes._BY_NAME.get(kind)
        args.append(Arg(name, fixed, None if fixed else kind, number if star else None, None))
    return tuple(args)


# Code objects are read directly: `inspect.signature` of every kernel and shape rule would take
# half of the package's import time.


def _wanted(fn: Callable[..., Any], offered: Iterable[str]) -> tuple[str, ...]:
    """Returns which of the offered attribute names `fn` takes as keyword arguments."""
    code = inspect.unwrap(fn).__code__
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return tuple(offered)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return tuple([n for n in offered if n in parameters])


def _keyword_only(fn: Callable[..., Any]) -> dict[str, Any]:
    """Returns the keyword-only arguments of `fn` with their defaults."""
    fn = inspect.unwrap(fn)
    code = fn.__code__
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = fn.__kwdefaults__ or {}
    return {n: defaults.get(n, inspect.Parameter.empty) for n in names}


def _definition(fn: Any) -> Source | None:
    """Returns where a function is defined; for other objects the caller's line."""
    code = getattr(fn, "__code__", None)
    return user_source(3) if code is None else Source(code, -1)


class OpDef(OpTraits):
    """The record of an op type; calling it builds an operation (or runs it, in eager mode).

    `OpTraits` has more attributes: what the graph, gradients and the executor know of it.

    Attributes:
      name: the op type, e.g. "MatMul".
      inputs, outputs: tuples of `Arg`.
      attrs: attribute name -> default (`inspect.Parameter.empty` when required).
      allowed: type attribute -> set of dtypes.
      limits: attribute -> its allowed values, see `ir.attribute_limits`, which has those that records share.
      kernel: a function of (xp, *inputs, **attributes), for NumPy and jax.numpy alike.
      host_kernel, device_kernel: replaces `kernel` on one of the two, or None.
      host: indices of the inputs that must be known when the op is lowered.
      seen: indices of the inputs whose value, not shape, the shape rule gets.
      flags: a set out of "stateful" (never folded, merged or pruned from control
        dependencies), "host" (can only run in NumPy), "calls" (calls a user function declared stateless), "random" (its
        kernel takes `rng`), "reads" (changes nothing), "idle" (computes nothing: others wait for it or refer to it),
        "functional" (holds sub-graphs), "unset" (accepts variables that have no value), "python" (it may call user
        functions), "handle" (its kernel creates a session resource, such as a queue), "keeps" (has an effect on one,
        and does not replace it), "waits" (for another operation's effect on it), "sized" (NumPy, too, applies the shape
        rule to the sizes of a run).
      assigns: whether it may give a variable, which is its input, a new value.
      gradient: function, `NOT_DIFFERENTIABLE` or None (none was declared).
    """

    def __init__(
        self,
        name: str,
        signature: str,
        kernel: Kernel,
        *,
        host: Sequence[str] = (),
        peek: Sequence[str] = (),
        flags: Iterable[str] = (),
        shape: Callable[..., Any] | None = None,
        limits: Mapping[str, Limit] | None = None,
        **options: Any,
    ):
        self.name = name
        self._take_traits(options)
        left, _, right = signature.partition("->")
        self.inputs: tuple[Arg, ...] = _parse_args(left)
        self.outputs: tuple[Arg, ...] = _parse_args(right)
        self.signature = " ".join(signature.split())
        self.flags = frozenset(flags)
        self._functional = "functional" in self.flags
        self._stateful = "stateful" in self.flags
        self.assigns = not self.flags & {"reads", "keeps", "waits"} and any(
            a.dtype is not None and a.dtype.name == "resource" for a in self.inputs)
        self.kernel = kernel
        self.host_kernel: Kernel | None = None
        self.device_kernel: Kernel | None = None
        self.gradient: Any = None
        self.gradient_source: Source | None = None
        self.source = _definition(kernel)
        self.attrs: dict[str, Any] = {}
        self.allowed = {k: frozenset(v) for k, v in options.items()}
        names = [a.name for a in self.inputs]
        self.host = frozenset(names.index(h) for h in host)
        self.seen = self.host | frozenset(names.index(h) for h in peek)
        self._add_signature_attrs()
        self._derived = frozenset(a for i in self.inputs for a in (i.type_attr, i.number_attr, i.list_attr) if a)
        in_signature = frozenset(self.attrs)
        for attr, default in _keyword_only(kernel).items():
            if attr not in ("rng", "state") and (attr not in self.attrs or default is not inspect.Parameter.empty):
                self.attrs[attr] = default
        common = {k: v for k, v in COMMON.items() if k in self.attrs}
        self.limits: dict[str, Limit] = {**common, **(limits or {})}
        self._deciding = in_signature | frozenset(self.limits)
        self.has_lists = any(a.is_list for a in self.inputs)
        self.plain = not self.has_lists and len(self.attrs) == len(self._derived)
        self.kernel_attrs = wanted(kernel, self.attrs)
        self._shape_rule: Callable[..., Any] | None = None
        self._shape_attrs: tuple[str, ...] = ()
        self._asks_for_shapes = False
        if shape is not None:
            self.shape(shape)
        self._ranks: list[tuple[int, int, int]] = []  # input, its lowest and its highest rank
        self._cache: dict[Any, Inferred] = {}

    def _add_signature_attrs(self) -> None:
        """Adds the attributes that the signature names: dtypes, lengths, lists of dtypes."""
        for arg in (*self.inputs, *self.outputs):
            for attr in (arg.type_attr, arg.number_attr, arg.list_attr):
                if attr is not None:
                    self.attrs.setdefault(attr, inspect.Parameter.empty)
                    if attr is not arg.number_attr:
                        self.allowed.setdefault(attr, ANY)

    # -- declaring -----------------------------------------------------------------

    def shape(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Declares the shape rule (a decorator)."""
        self._shape_rule = rule
        self._shape_attrs = wanted(rule, self.attrs)
        self._deciding |= frozenset(self._shape_attrs)
        self._asks_for_shapes = bool(wanted(rule, ("input_shapes",)))
        return rule

    def grad(self, rule: Any) -> Any:
        """Declares the gradient: a function (as a decorator), or `NOT_DIFFERENTIABLE`."""
        if self.gradient is not None:
            raise _registered_twice(self)
        self.gradient = rule
        self.gradient_source = _definition(rule)
        return rule

    def limit_rank(self, name: str, low: int, high: int) -> None:
        """Declares which ranks an input may have; checked before the shape rule is called."""
        self._ranks.append(([a.name for a in self.inputs].index(name), low, high))

    def on_host(self, kernel: Kernel) -> Kernel:
        """Declares a kernel for NumPy only (a decorator)."""
        self.host_kernel = kernel
        return kernel

    def on_device(self, kernel: Kernel) -> Kernel:
        """Declares a kernel for jax.numpy only (a decorator)."""
        self.device_kernel = kernel
        return kernel

    # -- building ------------------------------------------------------------------

    def __call__(self, *args: Any, name: str | None = None, **kwargs: Any) -> Any:
        """Builds an operation in the current graph, or runs it at once in eager mode.

        Args:
          *args: one value for each input, in the signature's order; list inputs as lists.
          name: a name for the operation.
          **kwargs: inputs by name, and attributes.
        Returns: the output tensor; a tuple of them (lists for list outputs) when the
          signature has several; the `Operation` when it has none.
        Raises: TypeError for invalid dtypes; ValueError for invalid shapes.
        """
        return _build(self, args, kwargs, name)

    def bind_kernel(self, xp: Any) -> Kernel:
        """Returns the kernel for an array module: NumPy or jax.numpy."""
        special = self.host_kernel if xp is np else self.device_kernel
        return special or self.kernel

    def infer(self, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Inferred:
        """Resolves types and applies the shape rule, caching the result.

        Args:
          inputs: the flat list of input tensors.
          attrs: the attributes given explicitly.
        Raises: Complaint, to which the caller adds context.
        """
        if self._functional:  # the cache would keep sub-graphs alive
            return self._infer(inputs, attrs)
        key: Any = (inputs[0]._spec,) if len(inputs) == 1 else tuple([t._spec for t in inputs])
        try:
            if attrs:
                if self._stateful:  # some are unique names, which do not matter
                    items = [(k, v) for k, v in attrs.items() if k in self._deciding]
                    key = (key, frozenset(attrs), *items)
                else:
                    key = (key, *attrs.items())
            if self.seen:
                key = (key, self._seen_values(inputs))
            cached = self._cache.get(key)
        except TypeError:  # an unhashable attribute
            self._make_plain(attrs)
            return self._infer(inputs, attrs)
        if cached is None:
            if self._make_plain(attrs):
                return self.infer(inputs, attrs)
            cached = self._infer(inputs, attrs)
            if len(self._cache) > 4096:
                self._cache.clear()
            self._cache[key] = cached
        return cached

    def _make_plain(self, attrs: dict[str, Any]) -> bool:
        """Converts bytes to text and dimensions to numbers, in place; returns whether there were any."""
        plain = {k: _plain(v) for k, v in attrs.items() if not isinstance(self.attrs.get(k), bytes)}
        changed = any(plain[k] is not attrs[k] for k in plain)
        if changed:
            attrs.update(plain)
        return changed

    def _seen_values(self, inputs: Sequence[Tensor]) -> tuple[Any, ...]:
        if not self.has_lists:
            return tuple([static_value(inputs[i]) for i in self.seen])
        lists = [i for i, arg in enumerate(self.inputs) if arg.is_list]
        if len(lists) > 1:
            return tuple([static_value(t) for t in inputs])
        # Arguments after the list are counted from the end.
        seen = [i if i < lists[0] else i - len(self.inputs) for i in self.seen if i != lists[0]]
        if lists[0] in self.seen:
            seen += range(lists[0], lists[0] + len(inputs) - len(self.inputs) + 1)
        return tuple([static_value(inputs[i]) for i in seen])

    def _infer(self, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Inferred:
        try:
            return self._inferred(inputs, attrs)
        except (Complaint, OpError):
            raise
        except Exception as e:
            raise Complaint(misfit(e), CHECK) from e

    def _inferred(self, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Inferred:
        types: dict[str, Any] = {}
        grouped: list[Any] = []
        position = 0
        for arg in self.inputs:
            if arg.number_attr is not None:
                n = attrs[arg.number_attr]
                group = list(inputs[position : position + n])
            elif arg.list_attr is not None:
                n = len(attrs[arg.list_attr]) if arg.list_attr in attrs else len(inputs) - position
                group = list(inputs[position : position + n])
                types[arg.list_attr] = tuple(t.dtype for t in group)
            else:
                group = [inputs[position]]
            position += len(group)
            for t in group:
                self._check_type(arg, t.dtype, types)
            grouped.append(group if arg.is_list else group[0])
        full = {**types, **attrs}
        for name, default in self.attrs.items():
            if name not in full:
                if default is inspect.Parameter.empty:
                    raise Complaint(f"attribute '{name}' is missing", f"give {name}=...", TypeError)
                full[name] = default
        for name, limit in self.limits.items():
            check(name, full[name], limit)
        for arg in self.outputs:
            if arg.number_attr:
                check(arg.number_attr, full[arg.number_attr], OUTPUTS)
            if arg.type_attr and arg.type_attr not in self._derived:
                if full[arg.type_attr] not in self.allowed[arg.type_attr]:
                    raise Complaint(f"{arg.type_attr}={full[arg.type_attr].name} is not allowed; "
                                    f"allowed are {_names(self.allowed[arg.type_attr])}", "", TypeError)
        return Inferred(types, self._output_specs(grouped, full))

    def _check_type(self, arg: Arg, dtype: DType, types: dict[str, Any]) -> None:
        if arg.dtype is not None:
            if dtype is not arg.dtype:
                raise Complaint(
                    f"Input '{arg.name}' of '{self.name}' Op has type {dtype.name} that does not match "
                    f"expected type of {arg.dtype.name}",
                    f"tf.cast({arg.name}, tf.{arg.dtype.name})",
                    TypeError,
                )
        elif arg.type_attr is not None:
            bound = types.setdefault(arg.type_attr, dtype)
            if bound is not dtype:
                first = next(a.name for a in self.inputs if a.type_attr == arg.type_attr)
                raise Complaint(
                    f"Input '{arg.name}' of '{self.name}' Op has type {dtype.name} that does not match "
                    f"type {bound.name} of argument '{first}'",
                    f"cast one of them, e.g. tf.cast({arg.name}, tf.{bound.name})",
                    TypeError,
                )
            if dtype not in self.allowed[arg.type_attr]:
                raise Complaint(
                    f"Value passed to parameter '{arg.name}' has DataType {dtype.name} not in list of "
                    f"allowed values: {_names(self.allowed[arg.type_attr])}",
                    f"cast it first, e.g. tf.cast({arg.name}, tf.float32)",
                    TypeError,
                )

    def _output_specs(self, grouped: list[Any], attrs: dict[str, Any]) -> tuple[Spec, ...]:
        out_types: list[DType] = []
        for arg in self.outputs:
            if arg.list_attr is not None:
                out_types.extend(attrs[arg.list_attr])
            else:
                dtype = arg.dtype or attrs[arg.type_attr]  # type: ignore[index]  # one of the two is set
                out_types.extend([dtype] * (attrs[arg.number_attr] if arg.number_attr else 1))
        for i, low, high in self._ranks:
            for t in grouped[i] if self.inputs[i].is_list else (grouped[i],):
                _check_rank(self.inputs[i].name, _shape_of(t), low, high)
        if not out_types:
            if self._shape_rule is not None:
                self._apply_shape_rule(grouped, attrs)
            return ()
        if self._shape_rule is None:
            return tuple([Spec.of(t, None) for t in out_types])
        shapes = self._apply_shape_rule(grouped, attrs)
        if not isinstance(shapes, list):
            shapes = [shapes]
        if len(shapes) != len(out_types):
            raise AssertionError(
                f"the shape rule of {self.name} gives {len(shapes)} shapes for {len(out_types)} outputs"
            )
        for shape in shapes:
            if shape and any(n is not None and n < 0 for n in shape):
                raise Complaint(f"an output would have the shape {shape_str(shape)}; dimensions must be >= 0",
                                "look where the negative size comes from")
        return tuple([Spec.of(t, s) for t, s in zip(out_types, shapes, strict=True)])

    def _apply_shape_rule(self, grouped: list[Any], attrs: dict[str, Any]) -> Any:
        rule = self._shape_rule
        assert rule is not None
        args: list[Any] = []
        for i, (arg, group) in enumerate(zip(self.inputs, grouped, strict=True)):
            see = static_value if i in self.seen else _shape_of
            args.append([see(t) for t in group] if arg.is_list else see(group))
        more = {k: attrs[k] for k in self._shape_attrs}
        if self._asks_for_shapes:
            more["input_shapes"] = [list(map(_shape_of, g)) if isinstance(g, list) else _shape_of(g) for g in grouped]
        return rule(*args, **more)

    def pack(self, values: Sequence[Any], attrs: dict[str, Any]) -> Sequence[Any]:
        """Groups a flat list of input values into the kernel's arguments (lists for list inputs)."""
        if not self.has_lists:
            return values
        packed: list[Any] = []
        position = 0
        for arg in self.inputs:
            if arg.number_attr is not None:
                n = attrs[arg.number_attr]
            elif arg.list_attr is not None:
                n = len(attrs[arg.list_attr])
            else:
                packed.append(values[position])
                position += 1
                continue
            packed.append(list(values[position : position + n]))
            position += n
        return packed

    def unpack(self, result: Any) -> Sequence[Any]:
        """Flattens a kernel's results into one value for each output."""
        if len(self.outputs) == 1 and not self.outputs[0].is_list:
            return (result,)
        if not self.outputs:
            return ()
        if len(self.outputs) == 1:
            return list(result)
        flat: list[Any] = []
        for arg, value in zip(self.outputs, result, strict=True):
            flat.extend(value) if arg.is_list else flat.append(value)
        return flat

    def regroup(self, flat: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Inverts `unpack`, as the builder returns outputs."""
        if len(self.outputs) == 1:
            return list(flat) if self.outputs[0].is_list else flat[0]
        grouped: list[Any] = []
        position = 0
        for arg in self.outputs:
            if arg.is_list:
                # Silenced: a list has one of both.
                n = attrs[arg.number_attr] if arg.number_attr else len(attrs[arg.list_attr])  # type: ignore[index]
                grouped.append(list(flat[position : position + n]))
                position += n
            else:
                grouped.append(flat[position])
                position += 1
        return tuple(grouped)

    def __repr__(self) -> str:
        return f"<OpDef {self.name} {self.signature}>"


def _plain(value: Any) -> Any:
    if isinstance(value, Dimension):
        return value.value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if type(value) in (list, tuple) and any(isinstance(v, (Dimension, bytes)) for v in value):
        return type(value)(map(_plain, value))
    return value


def misfit(error: Exception) -> str:
    """Words an error that no rule expected, such as for inputs that are inconsistent with each other."""
    text = str(error).split("\n")[0]
    return f"its inputs or attributes do not fit each other ({type(error).__name__}{text and ': '}{text})"


def _check_rank(name: str, shape: Shape, low: int, high: int) -> None:
    if shape is not None and not low <= len(shape) <= high:
        least = "" if low == high else "at most "
        raise Complaint(f"{name} must have rank {least}{high} but has shape {shape_str(shape)}",
                        f"give a {('scalar', 'vector', 'matrix')[high]} as {name}")


def _shape_of(t: Tensor) -> Shape:
    return t._spec.shape


def _names(types: Iterable[DType]) -> str:
    return ", ".join(sorted(t.name for t in types))


def _registered_twice(opdef: OpDef) -> KeyError:
    before = f" (Previous registration was at {opdef.gradient_source})" if opdef.gradient_source else ""
    return KeyError(f"Registering two gradient with name '{opdef.name}'!{before}")


registry: LazyRegistry[OpDef] = LazyRegistry(MODULES)


def op(name: str, signature: str, **options: Any) -> Callable[[Kernel], OpDef]:
    """Declares an op; decorates its kernel, which becomes the `OpDef`.

    Args:
      name: the op type, TensorFlow's where it has one.
      signature: see this module's docstring.
      **options: `host`, `peek`, `flags`, `shape`, `limits`, traits (see `OpTraits`), and the allowed dtypes of each
        type attribute.
    Raises: KeyError if the type is taken, with the place of its declaration.
    """

    def decorate(kernel: Kernel) -> OpDef:
        taken = registry.get(name)
        if taken is not None:
            raise KeyError(f"Op type '{name}' is registered already, at {taken.source}")
        opdef = OpDef(name, signature, kernel, **options)
        opdef.__doc__ = kernel.__doc__
        registry[name] = opdef
        return opdef

    return decorate


# Builders by op type: `raw.MatMul(a, b, transpose_b=True)`.
raw: Any = Attributes(registry)


def _build(opdef: OpDef, args: tuple[Any, ...], attrs: dict[str, Any], name: str | None) -> Any:
    raise AssertionError("ir.build puts the builder here")


def put_in_context(
    opdef: OpDef, complaint: Complaint, name: str, inputs: Sequence[Any], eager: bool = False
) -> Exception:
    """Turns a complaint into the error that the user sees.

    Args:
      opdef: the op being built.
      complaint: from its rule or kernel.
      name: the name of the operation.
      inputs: its flat input tensors (anything with `dtype` and `shape`).
      eager: whether it ran at once; value errors are InvalidArgumentError then.
    """
    text = describe(opdef.name, name, complaint.problem, operands(opdef, inputs), str(user_source(2) or ""),
                    complaint.fix or CHECK)
    if eager and complaint.cls is ValueError:
        return InvalidArgumentError(None, None, text)
    if isinstance(complaint.cls, type) and issubclass(complaint.cls, OpError):
        return complaint.cls(None, None, text, complaint.cls.code)
    return complaint.cls(text)


def operands(opdef: OpDef, inputs: Sequence[Any]) -> str:
    """Describes the inputs of an operation: names, dtypes, shapes."""
    names = _input_names(opdef, len(inputs))
    return ", ".join(f"{n}={_operand(t)}" for n, t in zip(names, inputs, strict=False))


def _operand(t: Any) -> str:
    shape = t._spec.shape if hasattr(t, "_spec") else tuple(t.shape)
    return f"{t.dtype.name} {shape_str(shape)}"


def _input_names(opdef: OpDef, n: int) -> list[str]:
    names: list[str] = []
    for arg in opdef.inputs:
        if arg.is_list:
            names.extend(f"{arg.name}[{i}]" for i in range(n - len(opdef.inputs) + 1))
        else:
            names.append(arg.name)
    return names


__all__ = ["CHECK", "NOT_DIFFERENTIABLE", "Arg", "Inferred", "OpDef", "Spec", "misfit", "op", "operands",
           "put_in_context", "raw", "registry"]
