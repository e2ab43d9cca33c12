"""`ConfigProto` and related messages.

`device_count`, `allow_soft_placement`, `log_device_placement` (see `executor.place`), `operation_timeout_in_ms` and
`global_jit_level` have a meaning. What concerns threads and memory of TensorFlow's own run time is kept and can be
read back, and changes nothing: JAX's settings stay the user's.

Reference: TensorFlow 2.21 config.proto, rewriter_config.proto, debug.proto, cluster.proto, cost_graph.proto.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.executor.runtime.run_report import RunReport
from graphgrad.executor.runtime.step_stats import StepStats, step_stats
from graphgrad.frontend.structure.structure_types import S
from graphgrad.ir.graph_messages import AttrValue, GraphDef
from graphgrad.ir.proto.messages import MapOf, Message


class Enum:
    """The values of an enumeration, by name.

    Args:
      **values: the number of each name.
    """

    def __init__(self, **values: int):
        self._values = values

    def Value(self, name: str) -> int:
        """Returns the number of a name; raises ValueError if there is none."""
        if name not in self._values:
            raise ValueError(f"there is no value {name!r}. Fix: give one of {list(self._values)}")
        return self._values[name]

    def Name(self, number: int) -> str:
        """Returns the name of a number; raises ValueError if there is none."""
        for name, value in self._values.items():
            if value == number:
                return name
        raise ValueError(f"there is no name for {number}. Fix: give one of {list(self._values.values())}")

    def keys(self) -> list[str]:
        """Returns the names."""
        return list(self._values)

    def values(self) -> list[int]:
        """Returns the numbers."""
        return list(self._values.values())

    def items(self) -> list[tuple[str, int]]:
        """Returns the names with their numbers."""
        return list(self._values.items())


def _fields(*others: dict[str, tuple[int, Any]], **kinds: str) -> dict[str, tuple[int, Any]]:
    """Declares fields by number: for each scalar kind a string `name=number ...`, `name[]` for a repeated one."""
    found: dict[str, tuple[int, Any]] = {}
    for kind, text in kinds.items():
        for item in text.split():
            name, _, number = item.partition("=")
            repeated = name.endswith("[]")
            found[name.removesuffix("[]")] = int(number), [kind] if repeated else kind
    for other in others:
        found.update(other)
    return dict(sorted(found.items(), key=lambda field: field[1][0]))


def _with_enum(name: str, fields: str, **values: int) -> Callable[[S], S]:
    """Adds an enumeration to a message, with its values as attributes; `fields` are those of its type."""

    def give(message: S) -> S:
        cls: Any = message
        setattr(cls, name, Enum(**values))
        for key, number in values.items():
            setattr(cls, key, number)
        texts = {number: key for key, number in values.items()}
        cls.ENUMS = {**cls.ENUMS, **dict.fromkeys(fields.split(), texts)}
        return message

    return give


class _VirtualDevices(Message):
    FIELDS = _fields(float="memory_limit_mb[]=1", int="priority[]=2 device_ordinal[]=3")


class _StreamMergeOptions(Message):
    FIELDS = _fields(bool="""merge_host_to_device_stream=1 merge_device_to_host_stream=2
                             merge_device_to_device_stream=3""")


class _GPUExperimental(Message):
    VirtualDevices, StreamMergeOptions = _VirtualDevices, _StreamMergeOptions
    FIELDS = _fields(
        {"virtual_devices": (1, [_VirtualDevices]), "stream_merge_options": (19, _StreamMergeOptions)},
        bool="""use_unified_memory=2 timestamped_allocator=5 use_cuda_malloc_async=11
                disallow_retry_on_allocation_failure=12 gpu_host_mem_disallow_growth=14
                populate_pjrt_gpu_client_creation_info=17""",
        int="""num_dev_to_dev_copy_streams=3 kernel_tracker_max_interval=7 kernel_tracker_max_bytes=8
               kernel_tracker_max_pending=9 num_virtual_devices_per_gpu=15 gpu_system_memory_size_in_mb=16
               node_id=18""",
        string="collective_ring_order=4", double="internal_fragmentation_fraction=10",
        float="gpu_host_mem_limit_in_mb=13")


class GPUOptions(Message):
    """GPU settings of a session; kept, and without effect here.

    Args:
      **fields: TensorFlow's.
    """

    Experimental = _GPUExperimental
    FIELDS = _fields(
        {"experimental": (9, _GPUExperimental)}, double="per_process_gpu_memory_fraction=1",
        string="allocator_type=2 visible_device_list=5", bool="allow_growth=4 force_gpu_compatible=8",
        int="deferred_deletion_bytes=3 polling_active_delay_usecs=6 polling_inactive_delay_msecs=7")


@_with_enum("Level", "opt_level", L1=0, L0=-1)
@_with_enum("GlobalJitLevel", "global_jit_level", DEFAULT=0, OFF=-1, ON_1=1, ON_2=2)
class OptimizerOptions(Message):
    """Optimizer settings of a session.

    `global_jit_level` ON_1 or ON_2 lets a run be one XLA program instead of clusters; the rest is
    kept, and without effect here.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS = _fields(
        bool="do_common_subexpression_elimination=1 do_constant_folding=2 do_function_inlining=4 cpu_global_jit=7",
        int="opt_level=3 global_jit_level=5 max_folded_constant_in_bytes=6")


class _AutoParallelOptions(Message):
    FIELDS = _fields(bool="enable=1", int="num_replicas=2")


class _ScopedAllocatorOptions(Message):
    FIELDS = _fields(string="enable_op[]=1")


class _CustomGraphOptimizer(Message):
    FIELDS = _fields({"parameter_map": (2, MapOf(AttrValue))}, string="name=1")


class _VerifierConfig(Message):
    FIELDS = _fields(int="verification_timeout_in_ms=1 structure_verifier=2")


_TOGGLES = """layout_optimizer=1 constant_folding=3 arithmetic_optimization=7 dependency_optimization=8
    loop_optimization=9 function_optimization=10 debug_stripper=11 shape_optimization=13 remapping=14
    scoped_allocator_optimization=15 pin_to_host_optimization=18 implementation_selector=22 auto_mixed_precision=23
    common_subgraph_elimination=24 auto_mixed_precision_mkl=25 use_plugin_optimizers=28 auto_mixed_precision_cpu=29
    experimental_conditional_code_motion=30 auto_mixed_precision_onednn_bfloat16=31"""


@_with_enum("CpuLayout", "cpu_layout_conversion", NO_CONVERSION_ON_CPU=0, NCHW_TO_NHWC=1, NHWC_TO_NCHW=2)
@_with_enum("NumIterationsType", "meta_optimizer_iterations", DEFAULT_NUM_ITERS=0, ONE=1, TWO=2)
@_with_enum("MemOptType", "memory_optimization", DEFAULT_MEM_OPT=0, NO_MEM_OPT=1, MANUAL=2, SWAPPING_HEURISTICS=4,
            RECOMPUTATION_HEURISTICS=5, SCHEDULING_HEURISTICS=6, HEURISTICS=3)
@_with_enum("Toggle", " ".join(item.partition("=")[0] for item in _TOGGLES.split()), DEFAULT=0, ON=1, OFF=2,
            AGGRESSIVE=3, EXPERIMENTAL_MLIR=4, EXPERIMENTAL_BOTH=5)
class RewriterConfig(Message):
    """Settings of TensorFlow's graph rewrites; kept, and without effect here.

    Args:
      **fields: TensorFlow's.
    """

    CustomGraphOptimizer = _CustomGraphOptimizer
    FIELDS = _fields(
        {"auto_parallel": (5, _AutoParallelOptions), "scoped_allocator_opts": (16, _ScopedAllocatorOptions),
         "custom_optimizers": (200, [_CustomGraphOptimizer]), "inter_optimizer_verifier_config": (300, _VerifierConfig),
         "post_optimization_verifier_config": (301, _VerifierConfig)},
        int=f"""{_TOGGLES} memory_optimization=4 meta_optimizer_iterations=12 min_graph_nodes=17
                meta_optimizer_timeout_ms=20 cpu_layout_conversion=50""",
        bool="""disable_model_pruning=2 disable_meta_optimizer=19 fail_on_optimizer_errors=21
                experimental_disable_compressed_tensor_optimization=26
                experimental_disable_folding_quantization_emulation=27 disable_tfg_optimizer=32""",
        string="memory_optimizer_target_node_name_scope=6 optimizers[]=100")


class GraphOptions(Message):
    """Graph settings of a session; see `OptimizerOptions`. The rest is kept, and without effect here.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS = _fields(
        {"optimizer_options": (3, OptimizerOptions), "rewrite_options": (10, RewriterConfig)},
        bool="enable_recv_scheduling=2 infer_shapes=5 place_pruned_graph=6 enable_bfloat16_sendrecv=7",
        int="build_cost_model=4 timeline_step=8 build_cost_model_after=9")


class ThreadPoolOptionProto(Message):
    """Settings of a pool of threads; kept, and without effect here.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS = _fields(int="num_threads=1", string="global_name=2")


class RPCOptions(Message):
    """Settings of calls between processes; kept, and without effect here.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS = _fields(
        bool="use_rpc_for_inprocess_master=1 cache_rpc_response=4 disable_session_connection_sharing=5",
        string="compression_algorithm=2", int="compression_level=3 num_channels_per_target=6")


class JobDef(Message):
    """A job of a cluster; kept, and without effect here.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS = _fields({"tasks": (2, MapOf("string", "int"))}, string="name=1")


class ClusterDef(Message):
    """The jobs of a cluster; kept, and without effect here.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS = _fields({"job": (1, [JobDef])})


class SessionMetadata(Message):
    """The name and the version of a session; kept, and without effect here.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS = _fields(string="name=1", int="version=2")


class _CoordinatedJob(Message):
    FIELDS = _fields(string="name=1", int="num_tasks=2")


class _CoordinationServiceConfig(Message):
    FIELDS = _fields(
        {"coordinated_job_list": (10, [_CoordinatedJob])},
        string="service_type=1 service_leader=2 recoverable_jobs[]=9",
        int="cluster_register_timeout_in_ms=4 heartbeat_timeout_in_ms=5 shutdown_barrier_timeout_in_ms=7",
        bool="""enable_health_check=3 agent_destruction_without_shutdown=8 allow_new_incarnation_to_reconnect=11
                force_disable=12 poll_for_error_from_service_at_startup=13 cluster_register_with_barrier=14""")


@_with_enum("MlirBridgeRollout", "mlir_bridge_rollout", MLIR_BRIDGE_ROLLOUT_UNSPECIFIED=0,
            MLIR_BRIDGE_ROLLOUT_ENABLED=1, MLIR_BRIDGE_ROLLOUT_DISABLED=2)
class _ConfigExperimental(Message):
    FIELDS = _fields(
        {"session_metadata": (11, SessionMetadata), "coordination_config": (23, _CoordinationServiceConfig)},
        string="collective_group_leader=1 executor_type=3 tf2xla_dump_dir=35",
        int="""recv_buf_max_chunk=4 xla_fusion_autotuner_thresh=15 mlir_bridge_rollout=17 backend_server_port=28
               stream_merge_threshold=31""",
        bool="""use_numa_affinity=5 collective_deterministic_sequential_execution=6 collective_nccl=7
                share_session_state_in_clusterspec_propagation=8 disable_thread_spinning=9
                share_cluster_devices_in_session=10 optimize_for_static_graph=12 enable_mlir_bridge=13
                disable_output_partition_graphs=14 enable_mlir_graph_optimization=16 use_tfrt=18
                disable_functional_ops_lowering=21 xla_prefer_single_graph_cluster=22
                disable_optimize_for_static_graph=24 disable_eager_executor_streaming_enqueue=26 enable_multi_host=27
                target_tpu=29 target_gpu=30 tfrt_use_ifrt=32 finalize_function_library_runtime=33
                finalize_resource_manager=34 online_cost_analysis=36""")


class ConfigProto(Message):
    """Settings of a session.

    Args:
      **fields: TensorFlow's. `device_count` is the number of devices that the processor counts as ("CPU"), and
        a 0 means that no accelerator is used ("GPU"); `allow_soft_placement=False` rejects operations whose devices do
        not exist; `log_device_placement` prints where operations run; `operation_timeout_in_ms` limits the waiting time
        of runs. Others, such as `intra_op_parallelism_threads` and `gpu_options`, are stored, without effect.

    >>> config = tf.ConfigProto(allow_soft_placement=True)
    >>> config.gpu_options.allow_growth = True
    >>> config.gpu_options.allow_growth
    True
    """

    Experimental = _ConfigExperimental
    FIELDS = _fields(
        {"device_count": (1, MapOf("int")), "gpu_options": (6, GPUOptions), "graph_options": (10, GraphOptions),
         "session_inter_op_thread_pool": (12, [ThreadPoolOptionProto]), "rpc_options": (13, RPCOptions),
         "cluster_def": (14, ClusterDef), "experimental": (16, _ConfigExperimental),
         "pluggable_device_options": (18, GPUOptions)},
        int="""intra_op_parallelism_threads=2 placement_period=3 inter_op_parallelism_threads=5
               operation_timeout_in_ms=11""",
        bool="""allow_soft_placement=7 log_device_placement=8 use_per_session_threads=9 isolate_session_state=15
                share_cluster_devices_in_session=17""",
        string="device_filters[]=4")


class DebugTensorWatch(Message):
    """A tensor that TensorFlow's debugger watches; kept, and without effect here.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS = _fields(string="node_name=1 debug_ops[]=3 debug_urls[]=4", int="output_slot=2",
                     bool="tolerate_debug_op_creation_failures=5")


class DebugOptions(Message):
    """Settings of TensorFlow's debugger; kept, and without effect here.

    Args:
      **fields: TensorFlow's.
    """

    FIELDS = _fields({"debug_tensor_watch_opts": (4, [DebugTensorWatch])}, int="global_step=10",
                     bool="reset_disk_byte_usage=11")


class _RunHandlerPoolOptions(Message):
    FIELDS = _fields(int="priority=1")


class _RunExperimental(Message):
    RunHandlerPoolOptions = _RunHandlerPoolOptions
    FIELDS = _fields({"run_handler_pool_options": (3, _RunHandlerPoolOptions)}, int="collective_graph_key=1",
                     bool="use_run_handler_pool=2")


@_with_enum("TraceLevel", "trace_level", NO_TRACE=0, SOFTWARE_TRACE=1, HARDWARE_TRACE=2, FULL_TRACE=3)
class RunOptions(Message):
    """Settings of one run.

    Args:
      **fields: TensorFlow's. A `trace_level` above NO_TRACE fills the `RunMetadata`, `output_partition_graphs` adds the
        graph to it, `timeout_in_ms` limits the waiting time of the run; the rest is only stored.
    """

    Experimental = _RunExperimental
    FIELDS = _fields(
        {"debug_options": (6, DebugOptions), "experimental": (8, _RunExperimental)},
        int="trace_level=1 timeout_in_ms=2 inter_op_thread_pool=3",
        bool="output_partition_graphs=5 report_tensor_allocations_upon_oom=7")


class TensorConnection(Message):
    """One tensor's value for another one.

    Args:
      **fields: TensorFlow's: `from_tensor` and `to_tensor`, names.
    """

    FIELDS = _fields(string="from_tensor=1 to_tensor=2")


class CallableOptions(Message):
    """What a function that runs a part of a graph is fed, and what it fetches.

    Args:
      **fields: TensorFlow's. `feed` and `fetch` are names of tensors, `target` of operations, `tensor_connection` gives
        tensors the values of others; `run_options` are those of each run. The rest is only stored.
    """

    FIELDS = _fields(
        {"run_options": (4, RunOptions), "tensor_connection": (5, [TensorConnection]),
         "feed_devices": (6, MapOf("string")), "fetch_devices": (7, MapOf("string"))},
        string="feed[]=1 fetch[]=2 target[]=3", bool="fetch_skip_sync=8")


class _CostNode(Message):
    FIELDS = _fields(string="name=1 device=2", int="id=3 temporary_memory_size=6 compute_cost=9",
                     bool="is_final=7 inaccurate=17")


class _CostGraphDef(Message):
    FIELDS = _fields({"node": (1, [_CostNode])})


class _FunctionGraphs(Message):
    FIELDS = _fields({"partition_graphs": (1, [GraphDef]), "pre_optimization_graph": (2, GraphDef),
                      "post_optimization_graph": (3, GraphDef)})


class RunMetadata(Message):
    """The report of a run with a `RunOptions.trace_level`.

    Args:
      **fields: TensorFlow's. A run fills `step_stats`, when each step ran, for `tensorflow.python.client.timeline`, and
        `partition_graphs`, if that is asked for.
    """

    FunctionGraphs = _FunctionGraphs
    FIELDS = _fields({"step_stats": (1, StepStats), "cost_graph": (2, _CostGraphDef),
                      "partition_graphs": (3, [GraphDef]), "function_graphs": (4, [_FunctionGraphs]),
                      "session_metadata": (5, SessionMetadata)})

    def __init__(self, **fields: Any):
        super().__init__(**fields)
        self.__dict__["_report"] = None

    @property
    def report(self) -> RunReport | None:
        """The run's steps, a printable `RunReport`. None before a run."""
        found: RunReport | None = self.__dict__["_report"]
        return found

    @property
    def peak_bytes(self) -> int:
        """The most memory that was live at once."""
        return 0 if self.report is None else self.report.peak_bytes

    def _fill(self, report: RunReport) -> None:
        """Takes over the report of a run."""
        self.__dict__["_report"] = report
        self.step_stats.CopyFrom(step_stats(report))
