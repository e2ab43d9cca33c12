"""What libraries import from `python.ops.variable_scope` besides public names."""

from __future__ import annotations

from typing import Any

from graphgrad.frontend.variables.variable import VariableV1 as variable
from graphgrad.frontend.variables.variable_scope import variable_scope


def _pure_variable_scope(name_or_scope: Any, reuse: Any = None, initializer: Any = None, regularizer: Any = None,
                         caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None,
                         old_name_scope: Any = None, dtype: Any = None, use_resource: Any = None,
                         constraint: Any = None) -> variable_scope:
    """Opens a variable scope without a name scope.

    Args:
      name_or_scope, reuse, initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource,
        constraint: as of `tf.compat.v1.variable_scope`.
      old_name_scope: accepted; without effect.
    """
    return variable_scope(name_or_scope, None, None, initializer, regularizer, caching_device, partitioner,
                          custom_getter, reuse, dtype, use_resource, constraint, auxiliary_name_scope=False)
