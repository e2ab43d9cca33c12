"""`tf.__internal__`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.internal.absent: execute_fn_for_device lift_to_graph
graphgrad.compat.internal.eager.execute: record_gradient
graphgrad.compat.internal.framework.made_operation: create_c_op
graphgrad.compat.internal.state: get_enclosing_xla_context is_tfrt_enabled load_context
graphgrad.compat.internal.util.keras_deps: register_call_context_function register_clear_session_function
    register_get_session_function register_load_model_function
graphgrad.compat.v2.__internal__.autograph: autograph=.
graphgrad.compat.v2.__internal__.decorator: decorator=.
graphgrad.compat.v2.__internal__.dispatch: dispatch=.
graphgrad.compat.v2.__internal__.distribute: distribute=.
graphgrad.compat.v2.__internal__.eager_context: eager_context=.
graphgrad.compat.v2.__internal__.feature_column: feature_column=.
graphgrad.compat.v2.__internal__.function: function=.
graphgrad.compat.v2.__internal__.mixed_precision: mixed_precision=.
graphgrad.compat.v2.__internal__.monitoring: monitoring=.
graphgrad.compat.v2.__internal__.nest: nest=.
graphgrad.compat.v2.__internal__.ops: ops=.
graphgrad.compat.v2.__internal__.saved_model: saved_model=.
graphgrad.compat.v2.__internal__.smart_cond: smart_cond=.
graphgrad.compat.v2.__internal__.tf2: tf2=.
graphgrad.compat.v2.__internal__.tracking: tracking=.
graphgrad.compat.v2.__internal__.train: train=.
graphgrad.compat.v2.__internal__.types: types=.
graphgrad.frontend.graph.default_graph: get_name_scope
graphgrad.frontend.variables.composite_tensor: CompositeTensor
graphgrad.ir.eager: EagerTensor
graphgrad.ir.funcgraph: FuncGraph
graphgrad.ir.operation: SymbolicTensor
""")
