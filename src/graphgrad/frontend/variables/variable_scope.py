"""Variables by name: `variable_scope` and `get_variable`.

A graph has one current `VariableScope`, which holds the prefix of names and the defaults.
"""

from __future__ import annotations

import contextlib
import enum
import functools
from collections.abc import Callable, Iterator
from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys, get_collection
from graphgrad.frontend.graph.default_graph import get_current_name_scope, name_scope_v1
from graphgrad.frontend.graph.init_scope import variables_graph
from graphgrad.frontend.variables.variable import VariableV1
from graphgrad.ir import dtypes
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.source import user_source

from .named_variables import named_variable, root_scope
from .scope_counts import ScopeCounts
from .variable_settings import VariableAggregation, VariableSynchronization


class _ReuseMode(enum.Enum):
    """How `get_variable` treats an existing variable: AUTO_REUSE reuses or creates it."""

    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE


class _Scopes(ScopeCounts):
    """A graph's current variable scope, and how often each was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.current = VariableScope(False)


_eager_scopes: _Scopes | None = None


def _scopes() -> _Scopes:
    global _eager_scopes
    graph = variables_graph()
    if graph is None:
        if _eager_scopes is None:
            _eager_scopes = _Scopes()
        return _eager_scopes
    scopes: _Scopes | None = graph._scoped_state.get("variable_scopes")
    if scopes is None:
        scopes = graph._scoped_state["variable_scopes"] = _Scopes()
    return scopes


class VariableScope:
    """A prefix for the names of variables, and defaults for `get_variable`.

    Args:
      reuse: False to make variables, True to take those that exist, AUTO_REUSE for either.
      name: the prefix, without a slash at its end.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype,
        use_resource, constraint: defaults for `get_variable`.
      name_scope: the name scope that was opened with it.
    """

    def __init__(self, reuse: Any, name: str = "", initializer: Any = None, regularizer: Any = None,
                 caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None, name_scope: str = "",
                 dtype: Any = dtypes.float32, use_resource: Any = None, constraint: Any = None):
        self._name = name
        self._reuse = AUTO_REUSE if current_graph() is None else reuse
        self._initializer = initializer
        self._regularizer = regularizer
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = use_resource
        self._constraint = constraint

    @property
    def name(self) -> str:
        """The prefix of variable names."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope that was opened with the scope."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        """Whether variables are reused (True), created (False) or either (AUTO_REUSE)."""
        return self._reuse

    @property
    def initializer(self) -> Any:
        """The default initializer."""
        return self._initializer

    @property
    def regularizer(self) -> Any:
        """The default regularizer."""
        return self._regularizer

    @property
    def caching_device(self) -> Any:
        """The default caching device."""
        return self._caching_device

    @property
    def partitioner(self) -> Any:
        """The default partitioner."""
        return self._partitioner

    @property
    def custom_getter(self) -> Any:
        """The default custom getter."""
        return self._custom_getter

    @property
    def dtype(self) -> Any:
        """The default dtype."""
        return self._dtype

    @property
    def use_resource(self) -> Any:
        """The default of `use_resource`."""
        return self._use_resource

    @property
    def constraint(self) -> Any:
        """The default constraint."""
        return self._constraint

    def reuse_variables(self) -> None:
        """Reuses existing variables from now on."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Sets the default initializer."""
        self._initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Sets the default regularizer."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Sets the default caching device."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Sets the default partitioner."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Sets the default custom getter."""
        self._custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        """Sets the default dtype."""
        self._dtype = dtype

    def set_use_resource(self, use_resource: Any) -> None:
        """Sets the default of `use_resource`."""
        self._use_resource = use_resource

    def get_collection(self, name: Any) -> list[Any]:
        """Returns the items of a collection whose names are in this scope."""
        return get_collection(name, self._name + "/" if self._name else None)

    def trainable_variables(self) -> list[Any]:
        """Returns the variables that optimizers update by default; see `global_variables`."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """Returns the global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """Returns the variables of the collection LOCAL_VARIABLES; see `global_variables`."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, var_store: Any, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
                     regularizer: Any = None, reuse: Any = None, trainable: Any = None, collections: Any = None,
                     caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
                     use_resource: Any = None, custom_getter: Any = None, constraint: Any = None,
                     synchronization: Any = VariableSynchronization.AUTO,
                     aggregation: Any = VariableAggregation.NONE) -> Any:
        """Reuses or creates the variable `name` of this scope; see `tf.compat.v1.get_variable`."""
        with root_scope():  # what custom getters build, too, is outside of name scopes
            if dtype is not None and initializer is not None and not callable(initializer):
                own = convert_to_tensor(initializer).dtype
                if own is not as_dtype(dtype):
                    raise ValueError(f"Initializer type '{own}' and explicit dtype '{as_dtype(dtype)}' don't match.\n"
                                     f"  Asked for at {user_source(2)}\n"
                                     "  Fix: leave dtype out, or cast the initializer")
            initializer = self._initializer if initializer is None else initializer
            dtype = self._dtype if dtype is None else dtype
            if trainable is None:
                trainable = getattr(synchronization, "name", "") != "ON_READ"
            arguments = {
                "name": f"{self._name}/{name}" if self._name else name, "shape": shape, "dtype": dtype,
                "initializer": initializer, "regularizer": self._regularizer if regularizer is None else regularizer,
                "reuse": self._reuse if reuse is None else reuse, "trainable": trainable, "collections": collections,
                "caching_device": caching_device,
                "partitioner": self._partitioner if partitioner is None else partitioner,
                "validate_shape": validate_shape,
                "use_resource": self._use_resource if use_resource is None else use_resource,
                "constraint": self._constraint if constraint is None else constraint,
                "synchronization": synchronization, "aggregation": aggregation,
            }
            getter = self._custom_getter if custom_getter is None else custom_getter
            return named_variable(**arguments) if getter is None else getter(getter=named_variable, **arguments)


def get_variable_scope() -> VariableScope:
    """Returns the current variable scope.

    >>> with tf.variable_scope("a"):
    ...     print(tf.get_variable_scope().name)
    a
    """
    return _scopes().current


def set_variable_scope(scope: VariableScope) -> None:
    """Makes a scope the current one, where several threads build one graph in turn.

    Args:
      scope: the scope.
    """
    _scopes().current = scope


def get_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                 trainable: Any = None, collections: Any = None, caching_device: Any = None, partitioner: Any = None,
                 validate_shape: bool = True, use_resource: Any = None, custom_getter: Any = None,
                 constraint: Any = None, synchronization: Any = VariableSynchronization.AUTO,
                 aggregation: Any = VariableAggregation.NONE) -> VariableV1:
    """Returns the variable of that name in the current variable scope, creating it if necessary.

    Args:
      name: the name within the scope.
      shape: its shape; not needed to share it, or if `initializer` is a value.
      dtype: its dtype; the scope's by default.
      initializer: a function of shape and dtype, or a value; Glorot's by default.
      regularizer: a function from the variable to a loss, for REGULARIZATION_LOSSES.
      trainable: whether optimizers update it; True by default.
      collections: the collections to join; GLOBAL_VARIABLES by default.
      caching_device: accepted; without effect.
      use_resource: what fetching the variable gives, see `tf.compat.v1.Variable`.
      partitioner: a function of shape and dtype that returns the number of parts along each
        axis; the result is then a `PartitionedVariable`. No effect on scalars and in eager mode.
      validate_shape: whether the shape is fixed.
      custom_getter: called as `f(getter, name, ...)` instead.
      constraint: a function that optimizers apply to an updated value.
      synchronization, aggregation: recorded only.
    Returns: the `Variable`.
    Raises: ValueError if it exists and is not to be shared, or vice versa, or if
      shape or dtype differ.
    Reference: TensorFlow 2.21 `tf.compat.v1.get_variable`.

    >>> with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
    ...     w = tf.get_variable("w", [2])
    ...     same = tf.get_variable("w", [2])
    >>> w.name, w is same
    ('a/w:0', True)
    """
    return get_variable_scope().get_variable(
        None, name, shape, dtype, initializer, regularizer, None, trainable, collections, caching_device, partitioner,
        validate_shape, use_resource, custom_getter, constraint, synchronization, aggregation)


def get_local_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
                       regularizer: Any = None, trainable: Any = False, collections: Any = None,
                       caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
                       use_resource: Any = None, custom_getter: Any = None, constraint: Any = None,
                       synchronization: Any = VariableSynchronization.AUTO,
                       aggregation: Any = VariableAggregation.NONE) -> VariableV1:
    """Gets or makes a variable in the collection LOCAL_VARIABLES, never trainable; see `get_variable`."""
    collections = [*(collections or []), GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, shape, dtype, initializer, regularizer, False, collections, caching_device, partitioner,
                        validate_shape, use_resource, custom_getter, constraint, synchronization,
                        aggregation)


# -- opening scopes ----------------------------------------------------------------


class variable_scope:  # TensorFlow's name
    """A `with` block that prefixes the names of `get_variable` and sets its defaults.

    Args:
      name_or_scope: a name, a `VariableScope` to go back to, or None for a unique name.
      default_name: the name to make unique.
      values: accepted; without effect.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype,
        use_resource, constraint: defaults inside.
      reuse: True or AUTO_REUSE; inherited when None or False.
      auxiliary_name_scope: whether a name scope is opened too.
    Yields: the `VariableScope`.
    Raises: ValueError, TypeError for arguments that do not fit each other.
    Reference: TensorFlow 2.21 `tf.compat.v1.variable_scope`.

    >>> with tf.variable_scope("a"):
    ...     with tf.variable_scope("b"):
    ...         print(tf.get_variable("w", [1]).name)
    a/b/w:0
    """

    def __init__(self, name_or_scope: Any, default_name: Any = None, values: Any = None, initializer: Any = None,
                 regularizer: Any = None, caching_device: Any = None, partitioner: Any = None,
                 custom_getter: Any = None, reuse: Any = None, dtype: Any = None, use_resource: Any = None,
                 constraint: Any = None, auxiliary_name_scope: bool = True):
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._reuse = reuse
        self._custom_getter = custom_getter
        self._changes = {"_initializer": initializer, "_regularizer": regularizer, "_caching_device": caching_device,
                         "_partitioner": partitioner, "_dtype": dtype, "_use_resource": use_resource,
                         "_constraint": constraint}
        self._auxiliary_name_scope = auxiliary_name_scope
        self._open: list[Any] = []  # a stack: an object may be re-entered inside itself
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse not in (True, False, None, AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")

    def __enter__(self) -> VariableScope:
        block = self._enter()
        self._open.append(block)
        return block.__enter__()

    def __exit__(self, *exc: Any) -> Any:
        return self._open.pop().__exit__(*exc)

    @contextlib.contextmanager
    def _enter(self) -> Iterator[VariableScope]:
        scopes = _scopes()
        old = scopes.current
        given = self._name_or_scope
        if given is None:
            if self._reuse:
                raise ValueError("reuse=True cannot be used without a name_or_scope")
            wish = self._default_name
            name = _unique_scope(scopes, wish)
        elif isinstance(given, str):
            wish = name = given
        else:
            wish = given.name.rpartition("/")[2]
        with contextlib.ExitStack() as stack:
            opened = self._open_name_scope(stack, wish)
            if isinstance(given, VariableScope):
                scope = _copy(given)
                scope._reuse = self._reuse or given.reuse
                scopes.remember()
            else:
                scope = _copy(old)
                scope._name = f"{old.name}/{name}" if old.name else name
                scope._reuse = self._reuse or old.reuse
                scope._name_scope = opened
            for attribute, value in self._changes.items():
                if value is not None:
                    setattr(scope, attribute, value)
            if self._custom_getter is not None:
                scope._custom_getter = _wrapped(self._custom_getter, scope._custom_getter)
            scopes.open(scope.name)
            scopes.current = scope
            try:
                yield scope
            finally:
                scopes.current = old
                if isinstance(given, VariableScope):
                    scopes.take_back()
                else:
                    scopes.close_inner(scope.name)

    def _open_name_scope(self, stack: contextlib.ExitStack, wish: str) -> str:
        graph = current_graph()
        if wish and self._auxiliary_name_scope:
            return str(stack.enter_context(name_scope_v1(wish) if graph is None else graph.name_scope(wish)))
        now = get_current_name_scope()
        return f"{now}/" if now else ""


def _copy(scope: VariableScope) -> VariableScope:
    new = VariableScope.__new__(VariableScope)
    new.__dict__.update(scope.__dict__)
    return new


def _unique_scope(scopes: _Scopes, prefix: str) -> str:
    """Returns `prefix`, numbered if a variable scope of that name was opened here already."""
    base = f"{scopes.current.name}/{prefix}" if scopes.current.name else prefix
    if not scopes.times_opened(base):
        return prefix
    return f"{prefix}_{scopes.free_number(base)}"


def _wrapped(own: Callable[..., Any], outer: Callable[..., Any] | None) -> Callable[..., Any]:
    """Nests a custom getter within another scope's."""
    if outer is None:
        return own

    def nested(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return own(functools.partial(outer, getter), *args, **kwargs)

    return nested


def variable_op_scope(values: Any, name_or_scope: Any, default_name: Any = None, initializer: Any = None,
                      regularizer: Any = None, caching_device: Any = None, partitioner: Any = None,
                      custom_getter: Any = None, reuse: Any = None, dtype: Any = None, use_resource: Any = None,
                      constraint: Any = None) -> variable_scope:
    """Calls `variable_scope` with the order of arguments of 0.x."""
    return variable_scope(name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner,
                          custom_getter, reuse, dtype, use_resource, constraint)


def no_regularizer(_: Any) -> None:
    """Adds no loss: a regularizer that overrides a scope's."""
