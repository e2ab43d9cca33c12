"""Where this package has what programs import from TensorFlow's inside.

Paths are relative to `tensorflow`. What is not listed here is answered by name, see `importing`.
"""

from __future__ import annotations

# A module of TensorFlow's -> the module here that has its names.
MODULES = {
    "contrib.learn.python.learn.datasets.base": "graphgrad.contrib.mnist",
    "contrib.learn.python.learn.datasets.mnist": "graphgrad.contrib.mnist",
    "examples.tutorials.mnist.input_data": "graphgrad.contrib.mnist",
    "python.client.device_lib": "graphgrad.testing.machine",
    "python.framework.test_util": "graphgrad.compat.inside.test_util",
    "python.platform.test": "graphgrad.compat.v1.test",
    "python.util.all_util": "graphgrad.compat.inside.all_util",
    "python.util.compat": "graphgrad.compat",
    "python.util.tf_inspect": "inspect",
}

# Names that are imported as modules and are classes here.
CLASSES: dict[str, str] = {}

# Packages above those.
PACKAGES = frozenset({
    ".".join(parts[:n]) for path in (*MODULES, *CLASSES) if (parts := path.split(".")) for n in range(1, len(parts))
} - {"contrib"})  # fmt: skip

# A name of TensorFlow's inside -> the module here that has it, `module:name` where it has another name.
INTERNALS = {
    "EagerTensor": "graphgrad.ir.eager",
    "IndexedSlicesValue": "graphgrad.executor.session",
    "PartitionedVariable": "graphgrad.frontend.partitioned",
    "ResourceVariable": "graphgrad.frontend.variables:VariableV1",
    "_hessian_vector_product": "graphgrad.gradients.higher",
    "as_bytes": "graphgrad.platform.text",
    "as_str": "graphgrad.platform.text",
    "as_text": "graphgrad.platform.text",
    "assign_moving_average": "graphgrad.train.moving_averages",
    "constant_value": "graphgrad.ir.static",
    "create_slot": "graphgrad.train.slots",
    "create_zeros_slot": "graphgrad.train.slots",
    "get_dependent_variables": "graphgrad.gradients.higher",
    "gradients_function": "graphgrad.frontend.gradient_functions",
    "implicit_grad": "graphgrad.frontend.gradient_functions",
    "implicit_val_and_grad": "graphgrad.frontend.gradient_functions",
    "is_resource_variable": "graphgrad.compat.inside.ops",
    "make_tensor_proto": "graphgrad.ir.convert",
    "make_vjp": "graphgrad.frontend.gradient_functions",
    "registry": "graphgrad.ir.opdef",
    "smart_cond": "graphgrad.frontend.control_flow",
    "val_and_grad_function": "graphgrad.frontend.gradient_functions",
    "weighted_moving_average": "graphgrad.train.moving_averages",
}
