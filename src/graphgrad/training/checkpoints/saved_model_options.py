"""Options of SavedModels."""

from __future__ import annotations

import enum
from typing import Any


class VariablePolicy(enum.Enum):
    """What is said of variables besides their values.

    Reference: TensorFlow 2.21 `tf.saved_model.experimental.VariablePolicy`.

    >>> VariablePolicy("save_variable_devices")
    <VariablePolicy.SAVE_VARIABLE_DEVICES: 'save_variable_devices'>
    """

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"

    def _save_variable_devices(self) -> bool:
        return self is not VariablePolicy.NONE

    @staticmethod
    def from_obj(obj: Any) -> VariablePolicy:
        """Returns the policy of a name, in any case; that of None is `NONE`.

        Args:
          obj: a policy, its name, or None.
        Raises: ValueError for other names.
        """
        if obj is None or isinstance(obj, VariablePolicy):
            return obj or VariablePolicy.NONE
        for policy in VariablePolicy:
            if str(obj).lower() == policy.value:
                return policy
        raise ValueError(f"Received invalid VariablePolicy value: {obj}. Fix: one of "
                         f"{[p.value for p in VariablePolicy]}")


class SaveOptions:
    """How a SavedModel is written.

    Args:
      namespace_whitelist: the name spaces that types of operations may have, such as "mine" of "mine>Add"; all by
        default.
      save_debug_info: accepted, with a warning: no file of the places where operations were built is written.
      function_aliases: names for functions, which the model keeps beside them.
      experimental_debug_stripper: whether assertions, prints and checks of numbers are left out.
      experimental_io_device: accepted; without effect: files are accessed by this process.
      experimental_variable_policy: a `VariablePolicy`, or its name: whether devices of variables are written.
      experimental_custom_gradients: whether gradients that functions have of their own are written.
      experimental_image_format: must be False.
      experimental_skip_saver: whether the operations that save and restore are left out.
      experimental_sharding_callback: accepted; without effect: values are in one file.
      extra_tags: tags of the graph besides "serve".
    Raises: TypeError, ValueError for a `namespace_whitelist` that is no list of strings; ValueError for an unknown
      policy, or the experimental format, which TensorFlow 2.21 does not write either.
    Reference: TensorFlow 2.21 `tf.saved_model.SaveOptions`.
    """

    def __init__(self, namespace_whitelist: Any = None, save_debug_info: bool = False, function_aliases: Any = None,
                 experimental_debug_stripper: bool = False, experimental_io_device: Any = None,
                 experimental_variable_policy: Any = None, experimental_custom_gradients: bool = True,
                 experimental_image_format: bool = False, experimental_skip_saver: bool = False,
                 experimental_sharding_callback: Any = None, extra_tags: Any = None):
        self.namespace_whitelist = _checked(namespace_whitelist)
        self.save_debug_info, self.function_aliases = save_debug_info, function_aliases or {}
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_custom_gradients = experimental_custom_gradients
        if experimental_image_format:
            raise ValueError("The option `experimental_image_format` is disabled in OSS. Fix: leave it out")
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


def _checked(namespaces: Any) -> list[str] | None:
    if namespaces is None:
        return None
    if not isinstance(namespaces, list):
        raise TypeError(f"`namespace_whitelist` must be a list of strings. Got: {namespaces} with type "
                        f"{type(namespaces)}.")
    for name in namespaces:
        if not isinstance(name, str):
            raise ValueError(f"Whitelisted namespace must be a string. Got: {name} of type {type(name)}.")
    return list(namespaces)


class LoadOptions:
    """How a SavedModel is read.

    Args:
      allow_partial_checkpoint: whether variables may be without values.
      experimental_io_device: without effect: files are accessed by this process.
      experimental_skip_checkpoint: whether no variable gets its value.
      experimental_variable_policy: a `VariablePolicy`, or its name: whether variables get the devices that the model
        says.
      experimental_load_function_aliases: whether the loaded object gets `function_aliases`: functions by the names that
        the model keeps.
    Raises: ValueError for an unknown policy.
    Reference: TensorFlow 2.21 `tf.saved_model.LoadOptions`.
    """

    def __init__(self, allow_partial_checkpoint: bool = False, experimental_io_device: Any = None,
                 experimental_skip_checkpoint: bool = False, experimental_variable_policy: Any = None,
                 experimental_load_function_aliases: bool = False):
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_load_function_aliases = experimental_load_function_aliases
