"""`tf`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat: compat=.
graphgrad.compat.constants: __version__=API_VERSION newaxis
graphgrad.compat.raw_ops: raw_ops=.
graphgrad.compat.v2.__internal__: __internal__=.
graphgrad.compat.v2.__operators__: __operators__=.
graphgrad.compat.v2.audio: audio=.
graphgrad.compat.v2.autodiff: autodiff=.
graphgrad.compat.v2.autograph: autograph=.
graphgrad.compat.v2.bitwise: bitwise=.
graphgrad.compat.v2.config: config=.
graphgrad.compat.v2.data: data=.
graphgrad.compat.v2.debugging: debugging=.
graphgrad.compat.v2.distribute: distribute=.
graphgrad.compat.v2.dtypes: dtypes=.
graphgrad.compat.v2.experimental: experimental=.
graphgrad.compat.v2.feature_column: feature_column=.
graphgrad.compat.v2.graph_util: graph_util=.
graphgrad.compat.v2.image: image=.
graphgrad.compat.v2.implicit: implicit=.
graphgrad.compat.v2.initializers: initializers=.
graphgrad.compat.v2.io: io=.
graphgrad.compat.v2.linalg: linalg=.
graphgrad.compat.v2.lookup: lookup=.
graphgrad.compat.v2.math: math=.
graphgrad.compat.v2.nn: nn=.
graphgrad.compat.v2.profiler: profiler=.
graphgrad.compat.v2.quantization: quantization=.
graphgrad.compat.v2.queue: queue=.
graphgrad.compat.v2.ragged: ragged=.
graphgrad.compat.v2.random: random=.
graphgrad.compat.v2.saved_model: saved_model=.
graphgrad.compat.v2.sets: sets=.
graphgrad.compat.v2.signal: signal=.
graphgrad.compat.v2.sparse: sparse=.
graphgrad.compat.v2.strings: strings=.
graphgrad.compat.v2.summary: summary=.
graphgrad.compat.v2.sysconfig: sysconfig=.
graphgrad.compat.v2.test: test=.
graphgrad.compat.v2.train: train=.
graphgrad.compat.v2.types: types=.
graphgrad.compat.v2.version: version=.
graphgrad.compat.v2.xla: xla=.
graphgrad.errors: errors=.
graphgrad.executor.runtime.nonfinite: locate_nonfinite
graphgrad.extras.data.optional: OptionalSpec
graphgrad.extras.import_v1.import_graph: import_graph_def
graphgrad.extras.ragged.ragged_ops: ragged_fill_empty_rows ragged_fill_empty_rows_grad
graphgrad.extras.ragged.ragged_spec: RaggedTensorSpec
graphgrad.extras.ragged.ragged_tensor: RaggedTensor
graphgrad.extras.scientific.numpy_function: as_function
graphgrad.extras.sparse.sets: edit_distance
graphgrad.extras.strings.hashing: fingerprint
graphgrad.extras.strings.string_functions: as_string
graphgrad.frontend.autodiff.py_function: py_function
graphgrad.frontend.autodiff.recompute: grad_pass_through recompute_grad
graphgrad.frontend.autodiff.tape: GradientTape
graphgrad.frontend.config.compiled_programs: use_compiled_programs
graphgrad.frontend.config.device_spec: DeviceSpec
graphgrad.frontend.control_flow.case: case
graphgrad.frontend.control_flow.cond_while: cond while_loop
graphgrad.frontend.control_flow.loop_memory: checkpointed_loops
graphgrad.frontend.control_flow.map_scan: foldl foldr map_fn scan
graphgrad.frontend.control_flow.switch_case: switch_case
graphgrad.frontend.control_flow.vectorized_map: vectorized_map
graphgrad.frontend.distribute.sharding: mesh shard
graphgrad.frontend.function.critical_section: CriticalSection
graphgrad.frontend.function.function: TensorSpec function
graphgrad.frontend.graph.default_graph: control_dependencies device=device_v2 get_current_name_scope
    name_scope=name_scope_v2
graphgrad.frontend.graph.init_scope: init_scope
graphgrad.frontend.graph.module: Module
graphgrad.frontend.graph.tensor_protos: make_ndarray make_tensor_proto
graphgrad.frontend.graph.user_ops: define_op
graphgrad.frontend.structure.composite_specs: IndexedSlicesSpec type_spec_from_value
graphgrad.frontend.structure.nest: nest=.
graphgrad.frontend.structure.signature: TypeSpec
graphgrad.frontend.structure.sparse_spec: SparseTensorSpec
graphgrad.frontend.structure.tensor_array: TensorArray
graphgrad.frontend.structure.tensor_array_spec: TensorArraySpec
graphgrad.frontend.variables.initializers: constant_initializer=ConstantV2 ones_initializer=OnesV2
    random_normal_initializer=RandomNormalV2 random_uniform_initializer=RandomUniformV2 zeros_initializer=ZerosV2
graphgrad.frontend.variables.variable: Variable
graphgrad.frontend.variables.variable_creators: variable_creator_scope
graphgrad.frontend.variables.variable_settings: VariableAggregation=VariableAggregationV2 VariableSynchronization
graphgrad.gradients.core.aggregate: AggregationMethod
graphgrad.gradients.core.backprop: gradients=gradients_v2
graphgrad.gradients.core.custom: custom_gradient
graphgrad.gradients.core.memo: memoize_gradients
graphgrad.gradients.core.registry: RegisterGradient no_gradient=NotDifferentiable
graphgrad.gradients.core.unconnected: UnconnectedGradients
graphgrad.gradients.derived.batched: batch_hessian batch_jacobian
graphgrad.gradients.derived.higher: hessian hessians=hessians_v2 jacobian
graphgrad.gradients.derived.vector_products: hessian_vector_product jvp vjp
graphgrad.gradients.diagnose.explain: explain_gradient
graphgrad.gradients.diagnose.strict: strict_gradients
graphgrad.gradients.rewriting.switching: derivatives_report optimize_derivatives
graphgrad.gradients.sparsity.detection: sparsity
graphgrad.gradients.taylor.differential_operators: differential_operator
graphgrad.gradients.taylor.functions: laplacian taylor
graphgrad.ir.context: executing_eagerly inside_function
graphgrad.ir.conversion: convert_to_tensor=convert_to_tensor_v2 register_tensor_conversion_function
graphgrad.ir.dtypes: DType as_dtype bfloat16 bool=bool_ complex128 complex64 double=float64 float16 float32 float64
    half=float16 int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8
    variant
graphgrad.ir.graph: Graph
graphgrad.ir.operation: Operation
graphgrad.ir.proto.versions: __git_version__=GIT_VERSION
graphgrad.ir.shape: TensorShape
graphgrad.ir.tensor: Tensor
graphgrad.ir.values.indexed_slices: IndexedSlices
graphgrad.ops.array.broadcast_to: broadcast_dynamic_shape broadcast_static_shape broadcast_to
graphgrad.ops.array.cast: cast saturate_cast
graphgrad.ops.array.concat_stack: concat parallel_stack stack unstack
graphgrad.ops.array.constant: constant ensure_shape get_static_value guarantee_const identity identity_n
    is_symbolic_tensor is_tensor stop_gradient
graphgrad.ops.array.fill: fill ones ones_like zeros zeros_like
graphgrad.ops.array.gather: gather gather_nd
graphgrad.ops.array.mask: boolean_mask sequence_mask
graphgrad.ops.array.one_op: fftnd ifftnd irfftnd matrix_square_root random_index_shuffle rfftnd
graphgrad.ops.array.pad: pad
graphgrad.ops.array.partition_stitch: dynamic_partition dynamic_stitch unique unique_with_counts
graphgrad.ops.array.ranges: linspace range=range_
graphgrad.ops.array.reshape: expand_dims rank reshape shape shape_n size squeeze
graphgrad.ops.array.scatter: one_hot scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min
    tensor_scatter_nd_sub tensor_scatter_nd_update
graphgrad.ops.array.select: where
graphgrad.ops.array.slice: slice=slice_ strided_slice
graphgrad.ops.array.sort_search: argsort bitcast searchsorted sort unravel_index
graphgrad.ops.array.space_to_batch: batch_to_space required_space_to_batch_paddings space_to_batch space_to_batch_nd
graphgrad.ops.array.split: split
graphgrad.ops.array.tile: meshgrid repeat tile
graphgrad.ops.array.transpose: reverse reverse_sequence roll transpose
graphgrad.ops.common.sparse_tensor: SparseTensor
graphgrad.ops.control.assertions: Assert assert_equal assert_greater assert_less
graphgrad.ops.control.group: group no_op tuple
graphgrad.ops.control.py_func: numpy_function print=print_tensors timestamp
graphgrad.ops.control.shape_assertions: assert_rank
graphgrad.ops.linalg.diag_functions: eye
graphgrad.ops.linalg.einsum: einsum
graphgrad.ops.linalg.matmul: matmul
graphgrad.ops.linalg.matrix_functions: eig eigvals
graphgrad.ops.linalg.norms: norm
graphgrad.ops.linalg.tensordot: tensordot
graphgrad.ops.math.argmax: argmax argmin
graphgrad.ops.math.arithmetic: add add_n maximum minimum multiply scalar_mul subtract
graphgrad.ops.math.clip: clip_by_global_norm clip_by_norm clip_by_value
graphgrad.ops.math.comparison: equal greater greater_equal less less_equal logical_and logical_not logical_or not_equal
graphgrad.ops.math.complex: complex
graphgrad.ops.math.cumulative: cumsum
graphgrad.ops.math.division: divide realdiv truediv truncatediv truncatemod
graphgrad.ops.math.exponential: exp pow
graphgrad.ops.math.histogram: histogram_fixed_width histogram_fixed_width_bins
graphgrad.ops.math.order_statistics: approx_top_k
graphgrad.ops.math.reduce_functions: reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min
    reduce_prod reduce_sum
graphgrad.ops.math.trig: acos acosh asin asinh atan atan2 atanh cos cosh sigmoid sin sinh tan tanh
graphgrad.ops.math.unary: abs floor negative round sign sqrt square
graphgrad.ops.nn.conv.patches: extract_volume_patches
graphgrad.platform.logging_v1: get_logger
graphgrad.system.progress: show_progress
graphgrad.viz.formula.formula: formula
graphgrad.viz.live.view_graph: view_graph
""")
