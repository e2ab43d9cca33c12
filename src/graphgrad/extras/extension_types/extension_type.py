"""`tf.experimental.ExtensionType`: classes of composites that are declared by their fields."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from graphgrad.frontend.structure import nest
from graphgrad.frontend.structure.composite_specs import spec_of
from graphgrad.frontend.structure.composites import component_specs, put_together, tensors_of
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.frontend.structure.type_spec_registry import register
from graphgrad.ir.conversion import register_tensor_conversion_function
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.composite import Composite, gradient_parts, with_gradient_parts
from graphgrad.ir.values.dispatch import Api, register_kind

from .extension_fields import check_annotation, fitted

_RESERVED = "_tf_extension_type"


class ExtensionType(Composite):
    """A composite that is declared by its fields, as a data class.

    Fields are annotated; annotations are `tf.Tensor`, other composites, `int`, `float`, `bool`, `str`, `bytes`, `None`,
    `tf.TensorShape`, `tf.DType`, tuples and unions of these, and `Mapping[str, ...]`. The constructor converts what it
    gets; a class may define its own, and `__validate__`, which is called after it. Objects do not change. The class
    has a `Spec` with the same fields. An attribute `__name__`, as "project.Name", is the name of the type in files.

    Reference: TensorFlow 2.21 `tf.experimental.ExtensionType`.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    ...     unit: str = "m"
    >>> x = tf.cond(tf.constant(True), lambda: Masked([1.0], [True]), lambda: Masked([2.0], [False]))
    >>> x.unit, sess.run(x.values)
    ('m', array([1.], dtype=float32))
    """

    Spec: ClassVar[Any]
    _fields_: ClassVar[dict[str, Any]] = {}  # names and annotations
    _is_made = False  # whether the constructor is done
    _is_tensor = False
    __composite_gradient__: ClassVar[Any] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = _annotations(cls, sys._getframe(1))
        _check_fields(cls, own)
        cls._fields_ = {**cls._fields_, **own}
        for name in own:
            check_annotation(name, own[name])
            if name in vars(cls):
                default = vars(cls)[name]
                if not isinstance(own[name], str):
                    default = fitted(default, _annotation(cls, name), f"default value for {name}")
                setattr(cls, name, default)
        if "__init__" in vars(cls):
            _wrap_constructor(cls)
        else:
            _make_constructor(cls)
        bases = (vars(cls)["Spec"], ExtensionTypeSpec) if "Spec" in vars(cls) else (ExtensionTypeSpec,)
        cls.Spec = type(f"{cls.__name__}.Spec", bases, {"_of": cls, "__module__": cls.__module__,
                                                        "__qualname__": f"{cls.__qualname__}.Spec"})
        if "__name__" in vars(cls):
            register(f"{vars(cls)['__name__']}.Spec")(cls.Spec)

    def __init__(self, *args: Any, **kwargs: Any):
        raise AssertionError("Cannot create an instance of ExtensionType because ExtensionType is an abstract base "
                             "class. Fix: derive a class from it")

    def __validate__(self) -> None:
        """Raises an error for fields that do not go together; a class may define it."""

    def _finish(self) -> None:
        """Converts the fields, and checks them."""
        missing = [n for n in self._fields_ if n not in vars(self) and not hasattr(type(self), n)]
        if missing:
            raise ValueError(f"Missing required fields: {set(missing)}. Fix: set them in the constructor")
        for name in self._fields_:
            vars(self)[name] = fitted(getattr(self, name), _annotation(type(self), name), name)
        vars(self)["_is_made"] = True
        self.__validate__()

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_made:
            raise self._unchangeable(name)
        if name not in self._fields_:
            raise AttributeError(f"Cannot set attribute {name!r}: {type(self).__name__} has no such field. "
                                 "Fix: annotate it in the class")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise self._unchangeable(name)

    def _unchangeable(self, name: str) -> AttributeError:
        return AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType. "
                              "Fix: make a new object")

    def __repr__(self) -> str:
        fields = ", ".join(f"{n}={getattr(self, n)!r}" for n in self._fields_)
        return f"{type(self).__qualname__}({fields})"

    def __eq__(self, other: object) -> Any:
        if type(other) is not type(self) or self._type_spec != other._type_spec:
            return False
        pairs = zip(self._parts(), other._parts(), strict=True)
        equal = [raw.All(raw.Equal(a, b), list(range(len(a._spec.shape or ())))) for a, b in pairs]
        return raw.All(raw.Pack(equal), [0]) if equal else True

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return not equal if isinstance(equal, bool) else raw.LogicalNot(equal)

    __hash__ = None  # type: ignore[assignment]  # equality is a tensor

    # -- as a composite ----------------------------------------------------------------

    @property
    def _type_spec(self) -> Any:
        return self.Spec._with_fields({n: nest.map_structure(_spec, getattr(self, n)) for n in self._fields_})

    def _leaves(self) -> Iterator[Any]:
        """Returns the values in the fields, structures flattened."""
        for name in self._fields_:
            yield from nest.flatten(getattr(self, name))

    def _parts(self) -> list[Any]:
        return [t for leaf in self._leaves() if _is_tensor(leaf) for t in tensors_of(leaf)]

    def _gradient_components(self) -> Any:
        gradient = self.__composite_gradient__
        if gradient is None:
            raise ValueError(f"Type {type(self).__name__} is not supported as a gradient source or gradient target. "
                             "Fix: give its tensors")
        return gradient.get_gradient_components(self)

    def _gradient_parts(self) -> list[Any]:
        return [t for leaf in nest.flatten(self._gradient_components()) for t in gradient_parts(leaf)]

    def _with_gradient_parts(self, gradients: Sequence[Any]) -> Any:
        components = self._gradient_components()
        found = nest.pack_sequence_as(components, with_gradient_parts(nest.flatten(components), gradients))
        return None if found is None else self.__composite_gradient__.replace_gradient_components(self, found)


class ExtensionTypeSpec(TypeSpec):
    """The spec of an extension type: specs in place of tensors; base of the classes `Spec`."""

    _of: ClassVar[Any]
    _of_fields = True

    def __init__(self, *args: Any, **kwargs: Any):
        given = _signature(self._of, specs=True).bind(*args, **kwargs)
        given.apply_defaults()
        for name, value in given.arguments.items():
            setattr(self, name, fitted(value, _annotation(self._of, name), name, specs=True))

    @classmethod
    def _with_fields(cls, fields: dict[str, Any]) -> Any:
        made = cls.__new__(cls)
        vars(made).update(fields)
        return made

    @staticmethod
    def from_value(value: Any) -> Any:
        """Returns the spec of an object.

        Args:
          value: the object.
        """
        return value._type_spec

    @property
    def value_type(self) -> Any:
        """The extension type."""
        return self._of

    def _fields(self) -> dict[str, Any]:
        return {n: getattr(self, n) for n in self._of._fields_}

    def _serialize(self) -> tuple[Any, ...]:
        return tuple(self._fields().items())

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Any:
        return cls._with_fields({n: fitted(v, _annotation(cls._of, n), n, specs=True) for n, v in serialization})

    def _leaves(self) -> list[Any]:
        return [leaf for value in self._fields().values() for leaf in nest.flatten(value)]

    @property
    def _component_specs(self) -> list[Any]:
        return [s for leaf in self._leaves() if isinstance(leaf, TypeSpec) for s in component_specs(leaf)]

    def _to_components(self, value: Any) -> list[Any]:
        return value._parts()

    def _from_components(self, components: Any) -> Any:
        tensors = iter(put_together([leaf for leaf in self._leaves() if isinstance(leaf, TypeSpec)], components))
        made = self._of.__new__(self._of)
        for name, value in self._fields().items():
            vars(made)[name] = nest.map_structure(lambda s: next(tensors) if isinstance(s, TypeSpec) else s, value)
        vars(made)["_is_made"] = True
        return made

    def __repr__(self) -> str:
        fields = ", ".join(f"{n}={v!r}" for n, v in self._fields().items())
        return f"{self._of.__qualname__}.Spec({fields})"


def _refuse(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
    raise ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor. "
                     "Fix: give its tensors, or register a function with tf.experimental.dispatch_for_api")


def _stop_gradient(api: Api, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Applies `stop_gradient` to the components; nothing else is said of all extension types."""
    if api.name != "stop_gradient":
        return NotImplemented
    value = args[0] if args else kwargs["input"]
    return value._with_parts(list(map(api.function, value._parts())))


register_tensor_conversion_function(ExtensionType, _refuse)
register_kind(ExtensionType, _stop_gradient)


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, EagerTensor, Composite))


def _spec(leaf: Any) -> Any:
    return spec_of(leaf) if _is_tensor(leaf) else leaf


# -- fields ----------------------------------------------------------------------------


def _check_fields(cls: type, annotations: dict[str, Any]) -> None:
    """Raises ValueError for reserved names, and for values without an annotation."""
    what = f"The field annotations for {cls.__name__} are invalid."
    for name in annotations:
        if name == "Spec" or name.startswith(_RESERVED):
            raise ValueError(f"{what} Field {name!r} is reserved. Fix: take another name")
    spec = vars(cls).get("Spec")
    if spec is not None and not isinstance(spec, type):
        raise ValueError(f"{cls.__name__}.Spec must be a nested class; got {spec}. Fix: class Spec: ...")
    for name, value in vars(cls).items():
        is_field = not name.startswith("__") and name != "Spec" and not _is_of_class(value)
        if is_field and name not in annotations:
            raise ValueError(f"{what} Field {name} is missing a type annotation. Fix: {name}: <type> = ...")


def _is_of_class(value: Any) -> bool:
    """Returns whether an attribute of a class is no default: a method, a property, a class."""
    return callable(value) or hasattr(value, "__get__")


def _annotations(cls: type, frame: types.FrameType) -> dict[str, Any]:
    """Returns the annotations of a class statement; those that name what is defined later stay strings."""
    try:
        return inspect.get_annotations(cls, globals=frame.f_globals, locals={**frame.f_locals, cls.__name__: cls},
                                       eval_str=True)
    except NameError:
        return inspect.get_annotations(cls)


def _annotation(cls: Any, name: str) -> Any:
    """Returns the annotation of a field; one that is a string is looked up when it is needed."""
    found = cls._fields_[name]
    if isinstance(found, str) or "ForwardRef" in repr(found):
        owner = next(c for c in cls.__mro__ if name in inspect.get_annotations(c))
        found = typing.get_type_hints(owner, localns={owner.__name__: owner})[name]
    return found


def _signature(cls: Any, specs: bool = False) -> inspect.Signature:
    def parameter(name: str) -> inspect.Parameter:
        default = inspect.Parameter.empty if specs else getattr(cls, name, inspect.Parameter.empty)
        return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default,
                                 annotation=cls._fields_[name])

    return inspect.Signature([parameter(n) for n in cls._fields_])


def _make_constructor(cls: Any) -> None:
    signature = _signature(cls)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        vars(self).update(given.arguments)
        if type(self) is cls:
            self._finish()

    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = signature.replace(  # type: ignore[attr-defined]  # which inspect reads
        parameters=[self, *signature.parameters.values()], return_annotation=cls)
    cls.__init__ = __init__


def _wrap_constructor(cls: Any) -> None:
    """Lets a class's own constructor be followed by conversions and checks."""
    own = cls.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        own(self, *args, **kwargs)
        if type(self) is cls:
            self._finish()

    __init__.__signature__ = inspect.signature(own)  # type: ignore[attr-defined]  # which inspect reads
    cls.__init__ = __init__
