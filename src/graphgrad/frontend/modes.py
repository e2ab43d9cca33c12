"""Switches between the behaviours of TensorFlow 1 and 2."""

from __future__ import annotations

from graphgrad.frontend.graph import operators
from graphgrad.frontend.variables.references import references_by_default
from graphgrad.gradients.core.inside_loop import OldControlFlow, use_old_control_flow
from graphgrad.ir import context
from graphgrad.ir.dimension import use_dimension_objects


def disable_v2_behavior() -> None:
    """Behaves as TensorFlow 1: graphs instead of eager mode, `Dimension` objects, tensors compared by identity."""
    disable_eager_execution()
    disable_v2_tensorshape()
    disable_tensor_equality()
    disable_resource_variables()
    disable_control_flow_v2()


def enable_v2_behavior() -> None:
    """Behaves as TensorFlow 2: eager by default, plain sizes, tensors compared elementwise."""
    enable_resource_variables()
    enable_eager_execution()
    enable_v2_tensorshape()
    enable_tensor_equality()
    enable_control_flow_v2()


def disable_eager_execution() -> None:
    """Makes operations go to a default graph."""
    context.set_eager_default(False)


def enable_eager_execution(config: object = None, device_policy: object = None, execution_mode: object = None) -> None:
    """Makes operations run at once.

    Args:
      config, device_policy, execution_mode: accepted as TensorFlow does.
    Raises: ValueError inside a graph, or when the default graph holds operations already.
    """
    if context.stack.entries or (context.stack.root is not None and context.stack.root.version):
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    context.set_eager_default(True)


def disable_v2_tensorshape() -> None:
    """Makes shapes contain `Dimension` objects."""
    use_dimension_objects(True)


def enable_v2_tensorshape() -> None:
    """Makes shapes contain ints and None."""
    use_dimension_objects(False)


def disable_tensor_equality() -> None:
    """Compares tensors by identity, as TensorFlow 1 does."""
    operators.disable_tensor_equality()


def enable_tensor_equality() -> None:
    """Compares tensors elementwise, as TensorFlow 2 does."""
    operators.enable_tensor_equality()


def enable_resource_variables() -> None:
    """Makes a run that fetches a variable return the value before the run's updates."""
    references_by_default(False)


def disable_resource_variables() -> None:
    """Makes a run that fetches a variable return the value after the run's updates, as for references."""
    references_by_default(True)


def resource_variables_enabled() -> bool:
    """Returns whether variables are resources: always."""
    return True


def enable_control_flow_v2() -> None:
    """Makes a gradient in a loop's body None if its only path is the initial value of a loop variable."""
    use_old_control_flow(False)


def disable_control_flow_v2() -> None:
    """Makes such a gradient a ValueError in a graph of 1.x. Control flow is functional in either case."""
    use_old_control_flow(True)


def control_flow_v2_enabled() -> bool:
    """Returns whether neither `disable_control_flow_v2` nor `disable_v2_behavior` was called."""
    return not OldControlFlow.on


def output_all_intermediates(state: bool | None) -> None:
    """Does nothing: here a gradient of a branch or a loop may be built after a run of it, too.

    In TensorFlow it decides whether branches and loops hand out all that their gradients may need when they are built.

    Args:
      state: True, False, or None for the default.

    Reference: TensorFlow 2.21 `tf.compat.v1.experimental.output_all_intermediates`.

        >>> from graphgrad.frontend.modes import output_all_intermediates
        >>> output_all_intermediates(True)
    """
    del state


_before: list[bool] = []  # whether first runs were NumPy's, while operations are to be deterministic


def enable_op_determinism() -> None:
    """Makes first and later runs of a program compute the same bits.

    Operations are deterministic as they are. What remains is that the first run of a set of fetches may be NumPy's and
    the later ones XLA's, whose last bits can differ; after this call XLA does all of them.

    Reference: TensorFlow 2.21 `tf.config.experimental.enable_op_determinism`. No example: it holds for the process.
    """
    from graphgrad.executor.runtime import executable

    if not _before:
        _before.append(executable.first_in_numpy)
    executable.run_first_in_numpy(False)


def disable_op_determinism() -> None:
    """Undoes `enable_op_determinism`."""
    from graphgrad.executor.runtime import executable

    if _before:
        executable.run_first_in_numpy(_before.pop())


def is_op_determinism_enabled() -> bool:
    """Returns whether `enable_op_determinism` was called."""
    return bool(_before)
