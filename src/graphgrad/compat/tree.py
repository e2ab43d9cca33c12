"""Maps TensorFlow's internal modules, which programs import, to modules here.

Paths are relative to `tensorflow`. What is not listed here is answered by name, see `importing`.
"""

from __future__ import annotations

# A module of TensorFlow's -> the module here that has its names.
MODULES = {
    "contrib.eager.python.tfe": "graphgrad.compat.contrib.eager",
    "contrib.learn.python.learn.datasets.base": "graphgrad.extras.contrib.mnist",
    "contrib.learn.python.learn.datasets.mnist": "graphgrad.extras.contrib.mnist",
    "core.example.example_pb2": "graphgrad.ir.proto.example_messages",
    "core.example.feature_pb2": "graphgrad.ir.proto.example_messages",
    "core.framework.attr_value_pb2": "graphgrad.ir.graph_messages",
    "core.framework.function_pb2": "graphgrad.ir.graph_messages",
    "core.framework.graph_pb2": "graphgrad.ir.graph_messages",
    "core.framework.node_def_pb2": "graphgrad.ir.graph_messages",
    "core.framework.summary_pb2": "graphgrad.training.summaries.summary_messages",
    "core.framework.tensor_pb2": "graphgrad.ir.graph_messages",
    "core.framework.tensor_shape_pb2": "graphgrad.ir.graph_messages",
    "core.framework.types_pb2": "graphgrad.compat.inside.types_pb2",
    "core.framework.variable_pb2": "graphgrad.ir.graph_messages",
    "core.framework.versions_pb2": "graphgrad.ir.graph_messages",
    "core.protobuf.cluster_pb2": "graphgrad.frontend.config.config_proto",
    "core.protobuf.config_pb2": "graphgrad.frontend.config.config_proto",
    "core.protobuf.debug_pb2": "graphgrad.frontend.config.config_proto",
    "core.protobuf.meta_graph_pb2": "graphgrad.ir.graph_messages",
    "core.protobuf.rewriter_config_pb2": "graphgrad.frontend.config.config_proto",
    "core.protobuf.saved_model_pb2": "graphgrad.ir.graph_messages",
    "core.protobuf.saver_pb2": "graphgrad.ir.graph_messages",
    "core.util.event_pb2": "graphgrad.training.summaries.summary_messages",
    "examples.tutorials.mnist.input_data": "graphgrad.extras.contrib.mnist",
    "python.client.device_lib": "graphgrad.testing.machine",
    "python.client.timeline": "graphgrad.compat.inside.timeline",
    "python.framework.test_util": "graphgrad.compat.inside.test_util",
    "python.platform.test": "graphgrad.compat.v1.test",
    "python.tf2": "graphgrad.compat.inside.tf2",
    "python.tpu.ops.tpu_ops": "graphgrad.compat.inside.tpu",
    "python.tpu.tpu_function": "graphgrad.compat.inside.tpu",
    "python.util.all_util": "graphgrad.compat.inside.all_util",
    "python.util.compat": "graphgrad.compat",
    "python.util.tf_inspect": "graphgrad.compat.inside.tf_inspect",
}

# Names that are imported as modules and are classes here.
CLASSES: dict[str, str] = {}  # path -> `module:name`

# Packages above those.
PACKAGES = frozenset({
    ".".join(parts[:n]) for path in (*MODULES, *CLASSES) if (parts := path.split(".")) for n in range(1, len(parts))
} - {"contrib"})

# A name of TensorFlow's inside -> the module here that has it, `module:name` where it has another name.
INTERNALS = {
    "EagerTensor": "graphgrad.ir.eager",
    "IndexedSlicesValue": "graphgrad.ir.values.composite",
    "GetContainingXLAContext": "graphgrad.compat.inside.ops",
    "PartitionedVariable": "graphgrad.frontend.variables.partitioned",
    "ResourceVariable": "graphgrad.frontend.variables.variable:VariableV1",
    "_hessian_vector_product": "graphgrad.gradients.derived.higher",
    "alias_inplace_add": "graphgrad.compat.inside.ops",
    "alias_inplace_subtract": "graphgrad.compat.inside.ops",
    "alias_inplace_update": "graphgrad.compat.inside.ops",
    "as_bytes": "graphgrad.platform.text_and_bytes",
    "as_str": "graphgrad.platform.text_and_bytes",
    "as_text": "graphgrad.platform.text_and_bytes",
    "assign_moving_average": "graphgrad.training.optimizers.moving_averages",
    "constant_value": "graphgrad.ir.constant_value",
    "convert_to_tensor_v2": "graphgrad.ir.conversion:convert_to_tensor",
    "create_slot": "graphgrad.training.optimizers.slots",
    "create_zeros_slot": "graphgrad.training.optimizers.slots",
    "get_dependent_variables": "graphgrad.gradients.derived.higher",
    "get_tpu_context": "graphgrad.compat.inside.ops",
    "gradients_function": "graphgrad.frontend.autodiff.gradient_functions",
    "implicit_grad": "graphgrad.frontend.autodiff.gradient_functions",
    "implicit_val_and_grad": "graphgrad.frontend.autodiff.gradient_functions",
    "internal_convert_to_tensor": "graphgrad.ir.conversion:convert_to_tensor",
    "is_dense_tensor_like": "graphgrad.ir.conversion:is_tensor_like",
    "is_resource_variable": "graphgrad.compat.inside.ops",
    "make_vjp": "graphgrad.frontend.autodiff.gradient_functions",
    "register_session_run_conversion_functions": "graphgrad.executor.runtime.fetches",
    "registry": "graphgrad.ir.opdef",
    "prepend_name_scope": "graphgrad.compat.inside.ops",
    "smart_cond": "graphgrad.frontend.control_flow.cond_while",
    "strip_name_scope": "graphgrad.compat.inside.ops",
    "uid": "graphgrad.compat.inside.ops",
    "val_and_grad_function": "graphgrad.frontend.autodiff.gradient_functions",
    "weighted_moving_average": "graphgrad.training.optimizers.moving_averages",
    "with_dependencies": "graphgrad.compat.inside.ops",
}
