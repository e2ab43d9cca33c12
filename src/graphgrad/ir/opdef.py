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

**Traits** (`op_traits.py`) are other facts about an op: its cost, whether it only reads
at shapes, and so on.

**Gradient**: takes the `Operation` and one gradient for each output, returns one for each
input (a tensor, `IndexedSlices` or None); several as a tuple or list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphgrad.op_index import MODULES
from graphgrad.op_traits import OpTraits, wanted
from graphgrad.system.lazy_registry import Attributes, LazyRegistry

from .attribute_limits import COMMON, Limit
from .constant_value import static_value
from .dimension import Dimension
from .dtypes import ANY, DType, as_dtype
from .inference import Inferred, infer
from .op_signature import PREFERRED, Signature
from .source import Source, user_source

if TYPE_CHECKING:
    from .graph import Tensor

Kernel = Callable[..., Any]
_build: Callable[[OpDef, tuple[Any, ...], dict[str, Any], str | None], Any]  # see `build_with`


class _NotDifferentiable:
    def __repr__(self) -> str:
        return "NOT_DIFFERENTIABLE"


NOT_DIFFERENTIABLE: Any = _NotDifferentiable()


def wants(op: Any, i: int) -> bool:
    """Returns whether a gradient rule is asked for the gradient of an input; else it may return None for it.

    Only tapes in eager mode know what nobody asks for. In graphs rules build all of their gradients, as TensorFlow's
    do, and a plan leaves out what no run fetches.

    Args:
      op: the operation that the rule is given, or what a tape has recorded of one.
      i: the number of the input.
    """
    return i not in getattr(op, "skip_input_indices", ())


# Code objects are read directly: `inspect.signature` of every kernel and shape rule would take
# half of the package's import time.


def _keyword_only(fn: Callable[..., Any]) -> dict[str, Any]:
    """Returns the keyword-only arguments of `fn` with their defaults."""
    fn = inspect.unwrap(fn)
    code = fn.__code__
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = fn.__kwdefaults__ or {}
    return {n: defaults.get(n, inspect.Parameter.empty) for n in names}


def _preferred(own: Mapping[str, str | None] | None) -> Mapping[str, DType | None]:
    if not own:
        return PREFERRED
    return {**PREFERRED, **{attr: None if name is None else as_dtype(name) for attr, name in own.items()}}


def _definition(fn: Any) -> Source | None:
    """Returns where a function is defined; for other objects the caller's line."""
    code = getattr(fn, "__code__", None)
    return user_source(3) if code is None else Source(code, -1)


class OpDef(Signature, OpTraits):
    """The record of an op type; calling it builds an operation (or runs it, in eager mode).

    `Signature` and `OpTraits` have more attributes: the arguments, and what else is known of it.

    Attributes:
      name: the op type, e.g. "MatMul".
      attrs: attribute name -> default (`inspect.Parameter.empty` when required).
      allowed: type attribute -> set of dtypes.
      preferred: type attribute -> what a value becomes that has none of these dtypes, see `ir.op_signature.PREFERRED`.
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
      pure: whether its results follow from its inputs alone.
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
        prefers: Mapping[str, str | None] | None = None,
        **options: Any,
    ):
        self.name = name
        self._take_traits(options)
        self._take_signature(signature)
        self.flags = frozenset(flags)
        self.pure = not self.flags & {"stateful", "random", "functional"} and name != "Placeholder"
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
        self.preferred: Mapping[str, DType | None] = _preferred(prefers)
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
        self.plain = not self.has_lists and len(self.attrs) == len(self._derived)
        self.kernel_attrs = wanted(kernel, self.attrs)
        self._shape_rule: Callable[..., Any] | None = None
        self._shape_attrs: tuple[str, ...] = ()
        self._asks_for_shapes = False
        if shape is not None:
            self.shape(shape)
        self._ranks: list[tuple[int, int, int]] = []  # input, its lowest and its highest rank
        self._cache: dict[Any, Inferred] = {}

    @property
    def is_stateful(self) -> bool:
        """Whether two operations of the type with the same inputs may differ, as TensorFlow's `OpDef` says."""
        return bool(self.flags & {"stateful", "random", "functional"})

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
            return infer(self, inputs, attrs)
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
            return infer(self, inputs, attrs)
        if cached is None:
            if self._make_plain(attrs):
                return self.infer(inputs, attrs)
            cached = infer(self, inputs, attrs)
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


def _registered_twice(opdef: OpDef) -> KeyError:
    before = f" (Previous registration was at {opdef.gradient_source})" if opdef.gradient_source else ""
    return KeyError(f"Registering two gradient with name '{opdef.name}'!{before}")


registry: LazyRegistry[OpDef] = LazyRegistry(MODULES)


def op(name: str, signature: str, **options: Any) -> Callable[[Kernel], OpDef]:
    """Declares an op; decorates its kernel, which becomes the `OpDef`.

    Args:
      name: the op type, TensorFlow's where it has one.
      signature: see this module's docstring.
      **options: `host`, `peek`, `flags`, `shape`, `limits`, `prefers`, traits (see `OpTraits`), and the allowed dtypes
        of each type attribute.
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


def build_with(build: Callable[[OpDef, tuple[Any, ...], dict[str, Any], str | None], Any]) -> None:
    """Declares what calling a record does; `ir.builder`, which needs records, does.

    Args:
      build: a function from the record, its arguments, attributes and a name to the outputs.
    """
    global _build
    _build = build
