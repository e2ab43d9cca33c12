"""Classes and functions that libraries import from TensorFlow and that are not here: they say so when called."""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import Any

# What a program would need them for -> their names.
_WHY = {
    "several devices in one program": """
        ShardedVariable AggregatingVariable DistributedVariable
        DistributedDataset DistributedDatasetInterface DistributedDatasetsFromFunction
        DistributedIteratorInterface
        DistributedValues DistributedIterator MirroredStrategy MultiWorkerMirroredStrategy OneDeviceStrategy
        ParameterServerStrategy TPUStrategy CentralStorageStrategy CrossDeviceOps HierarchicalCopyAllReduce
        NcclAllReduce ReductionToOneDevice InputOptions InputContext InputReplicationMode RunOptions StrategyExtended
        CommunicationImplementation CommunicationOptions CollectiveCommunication CollectiveHints ValueContext
        ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver SlurmClusterResolver
        TFConfigClusterResolver TPUClusterResolver UnionResolver ClusterCoordinator RemoteValue PerWorkerValues
        experimental_connect_to_cluster
        initialize_tpu_system auto_shard_dataset cache_variable_reads
    """,
    "SavedModels of Python objects": """
        SavedModelBuilder ObjectGraphView
        saveable_objects_from_trackable streaming_restore CheckpointInitialValue CheckpointInitialValueCallable
        RestoredResource frozen_saver WrappedGraph VariableHolder SavedModelLoader
    """,
    "feature columns as text": """
        SequenceFeatureLayer deserialize_feature_column deserialize_feature_columns serialize_feature_column
        serialize_feature_columns
    """,
    "data sets of one kind: all are tf.data.Dataset": """
        _GeneratorDataset _RangeDataset _SparseTensorSliceDataset _TensorDataset _TensorSliceDataset
    """,
    "several steps in one run": "_MultiStepStopAfterNEvalsHook _MultiStepStopAtStepHook "
        "get_or_create_steps_per_run_variable",
    "control flow of TPUs": "ControlFlowContext XLAControlFlowContext",
    "embeddings on TPUs": """
        AdagradMomentum Adagrad Adam FTRL FeatureConfig QuantizationConfig SGD TPUEmbedding TPUEmbeddingForServing
        TPUEmbeddingV0 TPUEmbeddingV2 TableConfig
    """,
    "variables on several servers": "FixedShardsPartitioner MaxSizePartitioner MinSizePartitioner Partitioner",
    "TensorFlow's debugger": "DebugDumpDir DumpingDebugHook DumpingDebugWrapperSession LocalCLIDebugHook "
        "LocalCLIDebugWrapperSession TensorBoardDebugHook TensorBoardDebugWrapperSession",
    "an operation that a library makes by hand": "lift_to_graph execute_fn_for_device",
}
# Public names of which there is one kind here, which libraries ask for: the name -> its module and name.
_HERE = {
    "tpu.experimental.HardwareFeature": "graphgrad.compat.internal.tpu:HardwareFeature",
}
_REASONS = {name: why for why, names in _WHY.items() for name in names.split()}
# Those of them that are public names of TensorFlow's, by their modules.
_PUBLIC = """
    config: experimental_connect_to_cluster
    distribute: CrossDeviceOps HierarchicalCopyAllReduce InputOptions InputReplicationMode NcclAllReduce
        ParameterServerStrategy ReductionToOneDevice TPUStrategy
    distribute.cluster_resolver: ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver
        SlurmClusterResolver TPUClusterResolver UnionResolver
    distribute.coordinator: ClusterCoordinator PerWorkerValues RemoteValue
    distribute.experimental: CentralStorageStrategy CollectiveCommunication CollectiveHints
        CommunicationOptions MultiWorkerMirroredStrategy ParameterServerStrategy
        TPUStrategy
    distribute.experimental.coordinator: ClusterCoordinator PerWorkerValues RemoteValue
    distribute.experimental.partitioners: FixedShardsPartitioner MaxSizePartitioner MinSizePartitioner Partitioner
    tpu.experimental: initialize_tpu_system
    tpu.experimental.embedding: Adagrad AdagradMomentum Adam FTRL FeatureConfig QuantizationConfig SGD TPUEmbedding
        TPUEmbeddingForServing TPUEmbeddingV0 TPUEmbeddingV2 TableConfig
"""


class _Absent(type):
    """The class of the stand-ins: a class, so that `isinstance` can be asked."""

    _why: str

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        # Programs name it, mostly for `isinstance`; only calling it is refused, with what it would be for (_WHY).
        raise NotImplementedError(f"tf's {cls.__name__} is not here (yet): it is for {cls._why}. "
                                  "Fix: leave out what needs it")


def stand_in(name: str, why: str, module: str = __name__) -> Any:
    """Makes a class that says, when it is called, that it is not here.

    Args:
      name: its name.
      why: what it is for.
      module: where it is.
    """
    return _Absent(name, (), {"_why": why, "__module__": module})


def __getattr__(name: str) -> Any:
    if name not in _REASONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, stand_in(name, _REASONS[name]))


@functools.cache
def _public() -> dict[str, list[str]]:
    lines = _PUBLIC.replace("\n        ", " ").strip().splitlines()
    return {module.strip(): names.split() for module, _, names in (line.partition(":") for line in lines)}


@functools.cache
def in_face(path: str) -> Any:
    """Returns what stands for a public name that a library looks at, or for a module of such names; None for others.

    Args:
      path: the name, such as "distribute.MirroredStrategy".
    """
    if path in _HERE:
        module, _, own = _HERE[path].partition(":")
        return getattr(importlib.import_module(module), own)
    parent, _, name = path.rpartition(".")
    if name in _public().get(parent, ()):
        return __getattr__(name)
    if not any(f"{module}.".startswith(f"{path}.") for module in _public()):
        return None
    made = ModuleType(f"tensorflow.{path}")
    for inner in {m[len(path) + 1 :].partition(".")[0] for m in _public() if m.startswith(f"{path}.")}:
        setattr(made, inner, in_face(f"{path}.{inner}"))
    for name in _public().get(path, ()):
        setattr(made, name, __getattr__(name))
    for known in _HERE:
        if known.rpartition(".")[0] == path:
            setattr(made, known.rpartition(".")[2], in_face(known))
    return made
