"""`tensorflow.python.tpu.tpu_function` and `.ops.tpu_ops`: with a single replica."""

from __future__ import annotations

import enum
from typing import Any

from graphgrad.compat.internal.absent import stand_in
from graphgrad.compat.internal.framework.ops import get_tpu_context as get_tpu_context
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source


def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Any:
    """Returns the sum over all replicas: there is one."""
    return raw.Identity(convert_to_tensor(x), name=name)


def tpu_replicated_input(inputs: Any, is_mirrored_variable: bool = False, index: int = -1, is_packed: bool = False,
                         name: str | None = None) -> Any:
    """Returns the input of the only replica; raises ValueError for more than one."""
    if len(inputs) != 1:
        raise ValueError(f"tpu_replicated_input of {len(inputs)} inputs: there is one replica.\n"
                         f"  Asked for at {user_source(2)}\n  Fix: give one input")
    return raw.Identity(convert_to_tensor(inputs[0]), name=name)


# Names of TensorFlow's modules for TPUs that libraries import: stand-ins.
_NAMES = frozenset("""
    AdagradParameters AdagradSlotVariableNames AdamParameters AdamSlotVariableNames CloudTPUPreemptedHook
    CompilationResultProto EmbeddingDevice EnqueueData FeatureConfig FtrlParameters FtrlSlotVariableNames
    GracefulShutdownHook InfeedQueue MomentumParameters MomentumSlotVariableNames ProximalAdagradParameters
    ProximalAdagradSlotVariableNames RMSPropParameters RMSPropSlotVariableNames ResetComputation ShutdownAllWorkers
    ShutdownLameWorkers StochasticGradientDescentParameters TPUClusterResolver TPUEmbedding TPUPartitionedCall
    TPUSystemMetadata TableConfig _PartitionedInfeedQueue _TPUDeviceSpecificEmbeddingColumnV2
    _TPUEmbeddingColumn _TPUEmbeddingColumnV2 _TPUInferenceContext _TPUSharedDeviceSpecificEmbeddingColumnV2
    _TPUSharedEmbeddingColumn _TPUSharedEmbeddingColumnV2 compile create_dummy_table_variables device_assignment
    get_gradients_through_dummy_table_variables hook_dummy_table_variables_to_activations initialize_system
    on_device_training_loop outfeed_dequeue_tuple outfeed_enqueue_tuple outside_compilation
    pad_sparse_embedding_lookup_indices prune_unconnected_ops_from_xla repeat rewrite split_compile_and_shard
    start_worker_watchdog tpu_ordinal_selector while_loop
""".split())
_TPU_REPLICATE_ATTR = "_tpu_replicate"
_TPU_FC_TO_SCOPE: dict[str, str] = {}
_TENSOR_CORE_MASK_KEY_SUFFIX = "__TENSOR_CORE_MASK"
INFERENCE, TRAINING = "inference", "training"


def is_running_in_gce() -> bool:
    """Returns False: this asks nobody whether it runs in a cloud."""
    return False


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, stand_in(name, "TPUs", __name__))


class TensorTracer:
    """Traces of tensors on TPUs: never wanted."""

    @staticmethod
    def is_enabled() -> bool:
        """Returns False."""
        return False


class HardwareFeature:
    """What a TPU can do; there is none here."""

    class EmbeddingFeature(enum.Enum):
        """Which kind of embeddings it has."""

        UNSUPPORTED = "UNSUPPORTED"
        V1 = "V1"
        V2 = "V2"

    embedding_feature = EmbeddingFeature.UNSUPPORTED
