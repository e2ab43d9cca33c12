"""Options of SavedModels."""

from __future__ import annotations

from typing import Any


class SaveOptions:
    """How a SavedModel is written. Kept, and without effect.

    Args:
      namespace_whitelist, save_debug_info, function_aliases, experimental_debug_stripper, experimental_io_device,
        experimental_variable_policy, experimental_custom_gradients, experimental_image_format, experimental_skip_saver,
        experimental_sharding_callback, extra_tags: accepted.
    Reference: TensorFlow 2.21 `tf.saved_model.SaveOptions`.
    """

    def __init__(self, namespace_whitelist: Any = None, save_debug_info: bool = False, function_aliases: Any = None,
                 experimental_debug_stripper: bool = False, experimental_io_device: Any = None,
                 experimental_variable_policy: Any = None, experimental_custom_gradients: bool = True,
                 experimental_image_format: bool = False, experimental_skip_saver: bool = False,
                 experimental_sharding_callback: Any = None, extra_tags: Any = None):
        self.namespace_whitelist = namespace_whitelist or []
        self.save_debug_info, self.function_aliases = save_debug_info, function_aliases or {}
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


class LoadOptions:
    """How a SavedModel is read.

    Args:
      allow_partial_checkpoint: whether variables may be without values.
      experimental_skip_checkpoint: whether no variable gets its value.
      experimental_io_device, experimental_variable_policy, experimental_load_function_aliases: without effect.
    Reference: TensorFlow 2.21 `tf.saved_model.LoadOptions`.
    """

    def __init__(self, allow_partial_checkpoint: bool = False, experimental_io_device: Any = None,
                 experimental_skip_checkpoint: bool = False, experimental_variable_policy: Any = None,
                 experimental_load_function_aliases: bool = False):
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_load_function_aliases = experimental_load_function_aliases
