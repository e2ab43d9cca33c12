"""`tf.contrib.framework` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.contrib.framework.nest: nest=.
graphgrad.compat.contrib.framework.python: python=.
graphgrad.extras.contrib.layers.arg_scope: add_arg_scope arg_scope arg_scoped_arguments current_arg_scope has_arg_scope
graphgrad.extras.contrib.layers.contrib_variables: get_local_variables get_model_variables get_trainable_variables
    get_unique_variable get_variables get_variables_by_name get_variables_by_suffix get_variables_to_restore
    model_variable variable
graphgrad.frontend.control_flow.cond_while: smart_cond
graphgrad.training.checkpoints.checkpoint_state: list_variables load_checkpoint load_variable
graphgrad.training.optimizers.global_step: assert_global_step create_global_step get_global_step
    get_or_create_global_step
""")
