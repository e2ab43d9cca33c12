"""`tf.contrib.framework.python.ops` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.layers.arg_scope import add_arg_scope as add_arg_scope
from graphgrad.extras.contrib.layers.arg_scope import arg_scope as arg_scope
from graphgrad.extras.contrib.layers.arg_scope import arg_scoped_arguments as arg_scoped_arguments
from graphgrad.extras.contrib.layers.arg_scope import current_arg_scope as current_arg_scope
from graphgrad.extras.contrib.layers.arg_scope import has_arg_scope as has_arg_scope
from graphgrad.extras.contrib.layers.contrib_variables import get_local_variables as get_local_variables
from graphgrad.extras.contrib.layers.contrib_variables import get_model_variables as get_model_variables
from graphgrad.extras.contrib.layers.contrib_variables import get_trainable_variables as get_trainable_variables
from graphgrad.extras.contrib.layers.contrib_variables import get_unique_variable as get_unique_variable
from graphgrad.extras.contrib.layers.contrib_variables import get_variables as get_variables
from graphgrad.extras.contrib.layers.contrib_variables import get_variables_by_name as get_variables_by_name
from graphgrad.extras.contrib.layers.contrib_variables import get_variables_by_suffix as get_variables_by_suffix
from graphgrad.extras.contrib.layers.contrib_variables import get_variables_to_restore as get_variables_to_restore
from graphgrad.extras.contrib.layers.contrib_variables import model_variable as model_variable
from graphgrad.extras.contrib.layers.contrib_variables import variable as variable
from graphgrad.training.optimizers.global_step import assert_global_step as assert_global_step
from graphgrad.training.optimizers.global_step import create_global_step as create_global_step
from graphgrad.training.optimizers.global_step import get_global_step as get_global_step
from graphgrad.training.optimizers.global_step import get_or_create_global_step as get_or_create_global_step

__all__ = [
    "add_arg_scope", "arg_scope", "arg_scoped_arguments", "assert_global_step", "create_global_step",
    "current_arg_scope", "get_global_step", "get_local_variables", "get_model_variables", "get_or_create_global_step",
    "get_trainable_variables", "get_unique_variable", "get_variables", "get_variables_by_name",
    "get_variables_by_suffix", "get_variables_to_restore", "has_arg_scope", "model_variable", "variable"
]
