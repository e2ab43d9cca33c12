"""`tf` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat: compat=.
graphgrad.compat.constants: __version__=API_VERSION newaxis
graphgrad.compat.contrib.distributions: distributions=.
graphgrad.compat.raw_ops: raw_ops=.
graphgrad.compat.v1.app: app=.
graphgrad.compat.v1.audio: audio=.
graphgrad.compat.v1.autograph: autograph=.
graphgrad.compat.v1.bitwise: bitwise=.
graphgrad.compat.v1.config: config=.
graphgrad.compat.v1.data: data=.
graphgrad.compat.v1.debugging: debugging=.
graphgrad.compat.v1.distribute: distribute=.
graphgrad.compat.v1.dtypes: dtypes=.
graphgrad.compat.v1.experimental: experimental=.
graphgrad.compat.v1.feature_column: feature_column=.
graphgrad.compat.v1.flags: flags=.
graphgrad.compat.v1.gfile: gfile=.
graphgrad.compat.v1.graph_util: graph_util=.
graphgrad.compat.v1.image: image=.
graphgrad.compat.v1.implicit: implicit=.
graphgrad.compat.v1.initializers: initializers=.
graphgrad.compat.v1.io: io=.
graphgrad.compat.v1.layers: layers=.
graphgrad.compat.v1.linalg: linalg=.
graphgrad.compat.v1.logging: logging=.
graphgrad.compat.v1.lookup: lookup=.
graphgrad.compat.v1.losses: losses=.
graphgrad.compat.v1.manip: manip=.
graphgrad.compat.v1.math: math=.
graphgrad.compat.v1.metrics: metrics=.
graphgrad.compat.v1.nn: nn=.
graphgrad.compat.v1.profiler: profiler=.
graphgrad.compat.v1.python_io: python_io=.
graphgrad.compat.v1.quantization: quantization=.
graphgrad.compat.v1.queue: queue=.
graphgrad.compat.v1.ragged: ragged=.
graphgrad.compat.v1.random: random=.
graphgrad.compat.v1.saved_model: saved_model=.
graphgrad.compat.v1.sets: sets=.
graphgrad.compat.v1.signal: signal=.
graphgrad.compat.v1.sparse: sparse=.
graphgrad.compat.v1.spectral: spectral=.
graphgrad.compat.v1.strings: strings=.
graphgrad.compat.v1.summary: summary=.
graphgrad.compat.v1.sysconfig: sysconfig=.
graphgrad.compat.v1.test: test=.
graphgrad.compat.v1.train: train=.
graphgrad.compat.v1.version: version=.
graphgrad.compat.v1.xla: xla=.
graphgrad.errors: OpError errors=.
graphgrad.executor.runtime.nonfinite: locate_nonfinite
graphgrad.executor.runtime.session: InteractiveSession Session get_default_session
graphgrad.extras.data.optional: OptionalSpec
graphgrad.extras.import_v1.import_graph: import_graph_def
graphgrad.extras.io.csv: decode_csv=decode_csv_v1
graphgrad.extras.io.file_ops: FixedLenFeature VarLenFeature read_file
graphgrad.extras.io.serialized: decode_compressed decode_json_example deserialize_many_sparse
    serialize_many_sparse=serialize_many_sparse_v1 serialize_sparse=serialize_sparse_v1 write_file
graphgrad.extras.io.tensor_proto: parse_tensor serialize_tensor
graphgrad.extras.pipelines.lookup_tables: initialize_all_tables tables_initializer
graphgrad.extras.pipelines.parsing: FixedLenSequenceFeature SparseFeature parse_example=parse_example_v1
    parse_single_example=parse_single_example_v1 parse_single_sequence_example
graphgrad.extras.pipelines.queues: FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
graphgrad.extras.pipelines.readers: FixedLengthRecordReader IdentityReader ReaderBase TFRecordReader TextLineReader
    WholeFileReader matching_files
graphgrad.extras.ragged.ragged_ops: ragged_fill_empty_rows ragged_fill_empty_rows_grad
graphgrad.extras.ragged.ragged_spec: RaggedTensorSpec
graphgrad.extras.ragged.ragged_tensor: RaggedTensor
graphgrad.extras.scientific.numpy_function: as_function
graphgrad.extras.signal.fft_functions: fft fft2d fft3d ifft ifft2d ifft3d
graphgrad.extras.sparse.sets: edit_distance
graphgrad.extras.sparse.sparse_combine: convert_to_tensor_or_sparse_tensor sparse_mask sparse_maximum sparse_merge
    sparse_minimum sparse_reduce_max_sparse sparse_reduce_sum_sparse sparse_reset_shape sparse_split=sparse_split_v1
    sparse_to_indicator
graphgrad.extras.sparse.sparse_functions: sparse_add=sparse_add_v1 sparse_concat=sparse_concat_v1 sparse_fill_empty_rows
    sparse_placeholder sparse_reorder sparse_reshape sparse_retain sparse_slice sparse_softmax
    sparse_tensor_dense_matmul sparse_tensor_to_dense=to_dense sparse_to_dense sparse_transpose
graphgrad.extras.sparse.sparse_reductions: sparse_reduce_max=sparse_reduce_max_v1 sparse_reduce_sum=sparse_reduce_sum_v1
graphgrad.extras.sparse.sparse_segment: sparse_segment_mean=segment_mean_v1 sparse_segment_sqrt_n=segment_sqrt_n_v1
    sparse_segment_sum=segment_sum_v1
graphgrad.extras.strings.hashing: fingerprint string_to_hash_bucket=to_hash_bucket_v1
    string_to_hash_bucket_fast=to_hash_bucket_fast string_to_hash_bucket_strong=to_hash_bucket_strong
graphgrad.extras.strings.string_functions: as_string decode_base64 decode_raw=decode_raw_v1 encode_base64
    reduce_join=reduce_join_v1 regex_replace string_join string_split string_strip=strip string_to_number=to_number_v1
    substr=substr_v1
graphgrad.frontend.autodiff.py_function: py_function
graphgrad.frontend.autodiff.recompute: grad_pass_through recompute_grad
graphgrad.frontend.autodiff.tape: GradientTape
graphgrad.frontend.config.compiled_programs: use_compiled_programs
graphgrad.frontend.config.config_proto: ConfigProto GPUOptions GraphOptions OptimizerOptions RunMetadata RunOptions
graphgrad.frontend.config.device_spec: DeviceSpec=DeviceSpecV1
graphgrad.frontend.control_flow.case: case=case_v1
graphgrad.frontend.control_flow.cond_while: cond=cond_v1 while_loop=while_loop_v1
graphgrad.frontend.control_flow.loop_memory: checkpointed_loops
graphgrad.frontend.control_flow.map_scan: foldl foldr map_fn scan
graphgrad.frontend.control_flow.switch_case: switch_case
graphgrad.frontend.control_flow.vectorized_map: vectorized_map
graphgrad.frontend.distribute.sharding: mesh shard
graphgrad.frontend.function.critical_section: CriticalSection
graphgrad.frontend.function.defun: Defun
graphgrad.frontend.function.function: TensorSpec function
graphgrad.frontend.function.wrap_function: wrap_function
graphgrad.frontend.graph.collections: GraphKeys
graphgrad.frontend.graph.default_graph: add_to_collection add_to_collections colocate_with container
    control_dependencies device get_collection get_collection_ref name_scope=name_scope_v1 op_scope
graphgrad.frontend.graph.init_scope: init_scope
graphgrad.frontend.graph.module: Module
graphgrad.frontend.graph.session_values: delete_session_tensor get_session_handle get_session_tensor
graphgrad.frontend.graph.tensor_protos: make_ndarray make_tensor_proto
graphgrad.frontend.graph.user_ops: define_op
graphgrad.frontend.modes: control_flow_v2_enabled disable_control_flow_v2 disable_eager_execution
    disable_resource_variables disable_tensor_equality disable_v2_behavior disable_v2_tensorshape enable_control_flow_v2
    enable_eager_execution enable_resource_variables enable_tensor_equality enable_v2_behavior enable_v2_tensorshape
    resource_variables_enabled
graphgrad.frontend.structure.composite_specs: IndexedSlicesSpec type_spec_from_value
graphgrad.frontend.structure.nest: nest=.
graphgrad.frontend.structure.signature: TypeSpec
graphgrad.frontend.structure.sparse_spec: SparseTensorSpec
graphgrad.frontend.structure.tensor_array: TensorArray
graphgrad.frontend.structure.tensor_array_spec: TensorArraySpec
graphgrad.frontend.variables.initializers: constant_initializer=Constant ones_initializer=Ones
    orthogonal_initializer=Orthogonal random_normal_initializer=RandomNormal random_uniform_initializer=RandomUniform
    truncated_normal_initializer=TruncatedNormal zeros_initializer=Zeros
graphgrad.frontend.variables.partitioned: create_partitioned_variables fixed_size_partitioner
    min_max_variable_partitioner variable_axis_size_partitioner
graphgrad.frontend.variables.scaling_initializers: glorot_normal_initializer=GlorotNormal
    glorot_uniform_initializer=GlorotUniform uniform_unit_scaling_initializer=UniformUnitScaling
    variance_scaling_initializer=VarianceScaling
graphgrad.frontend.variables.template: make_template
graphgrad.frontend.variables.variable: Variable=VariableV1
graphgrad.frontend.variables.variable_creators: variable_creator_scope
graphgrad.frontend.variables.variable_functions: all_variables assert_variables_initialized assign assign_add assign_sub
    batch_scatter_update count_up_to global_variables global_variables_initializer initialize_all_variables
    initialize_local_variables initialize_variables is_variable_initialized local_variables local_variables_initializer
    model_variables moving_average_variables report_uninitialized_variables scatter_add scatter_div scatter_max
    scatter_min scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub scatter_update
    trainable_variables variables_initializer
graphgrad.frontend.variables.variable_scope: AUTO_REUSE VariableScope get_local_variable get_variable get_variable_scope
    no_regularizer variable_op_scope variable_scope
graphgrad.frontend.variables.variable_settings: VariableAggregation VariableSynchronization
graphgrad.gradients.core.aggregate: AggregationMethod
graphgrad.gradients.core.backprop: gradients
graphgrad.gradients.core.custom: custom_gradient
graphgrad.gradients.core.memo: memoize_gradients
graphgrad.gradients.core.registry: NoGradient NotDifferentiable RegisterGradient no_gradient=NotDifferentiable
graphgrad.gradients.core.unconnected: UnconnectedGradients
graphgrad.gradients.derived.batched: batch_hessian batch_jacobian
graphgrad.gradients.derived.higher: hessian hessians jacobian
graphgrad.gradients.derived.vector_products: hessian_vector_product jvp vjp
graphgrad.gradients.diagnose.explain: explain_gradient
graphgrad.gradients.diagnose.strict: strict_gradients
graphgrad.gradients.rewriting.switching: derivatives_report optimize_derivatives
graphgrad.gradients.sparsity.detection: sparsity
graphgrad.gradients.taylor.differential_operators: differential_operator
graphgrad.gradients.taylor.functions: laplacian taylor
graphgrad.ir.context: executing_eagerly executing_eagerly_outside_functions get_default_graph reset_default_graph
graphgrad.ir.conversion: convert_to_tensor=convert_to_tensor_v1 convert_to_tensor_or_indexed_slices
    register_tensor_conversion_function
graphgrad.ir.dimension: Dimension dimension_value
graphgrad.ir.dtypes: DType as_dtype bfloat16 bool=bool_ complex128 complex64 double=float64 float16 float32 float64
    half=float16 int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8
    variant
graphgrad.ir.graph: Graph
graphgrad.ir.graph_messages: AttrValue GraphDef MetaGraphDef NameAttrList NodeDef TensorInfo
graphgrad.ir.operation: Operation
graphgrad.ir.proto.versions: GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER
    VERSION __git_version__=GIT_VERSION
graphgrad.ir.shape: TensorShape dimension_at_index
graphgrad.ir.tensor: Tensor
graphgrad.ir.values.composite: SparseTensorValue
graphgrad.ir.values.indexed_slices: IndexedSlices
graphgrad.ops.array.broadcast_to: broadcast_dynamic_shape broadcast_static_shape broadcast_to
graphgrad.ops.array.cast: cast saturate_cast to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32 to_int64
graphgrad.ops.array.concat_stack: concat=concat_v1 parallel_stack stack unstack
graphgrad.ops.array.constant: add_check_numerics_ops check_numerics constant=constant_v1 ensure_shape get_static_value
    guarantee_const identity identity_n is_symbolic_tensor is_tensor placeholder placeholder_with_default stop_gradient
graphgrad.ops.array.fill: fill ones ones_like=ones_like_v1 zeros zeros_like=zeros_like_v1
graphgrad.ops.array.gather: batch_gather gather=gather_v1 gather_nd=gather_nd_v1
graphgrad.ops.array.mask: boolean_mask=boolean_mask_v1 sequence_mask
graphgrad.ops.array.one_op: fftnd ifftnd irfftnd matrix_square_root random_index_shuffle rfftnd
graphgrad.ops.array.pad: pad=pad_v1
graphgrad.ops.array.partition_stitch: dynamic_partition dynamic_stitch setdiff1d unique unique_with_counts
graphgrad.ops.array.ranges: lin_space=linspace linspace range=range_
graphgrad.ops.array.reshape: expand_dims=expand_dims_v1 rank reshape shape=shape_v1 shape_n size=size_v1
    squeeze=squeeze_v1
graphgrad.ops.array.scatter: one_hot scatter_nd tensor_scatter_add=tensor_scatter_nd_add tensor_scatter_nd_add
    tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update
    tensor_scatter_sub=tensor_scatter_nd_sub tensor_scatter_update=tensor_scatter_nd_update
graphgrad.ops.array.select: where=where_v1 where_v2=where
graphgrad.ops.array.slice: slice=slice_ strided_slice
graphgrad.ops.array.sort_search: argsort bitcast searchsorted sort unravel_index
graphgrad.ops.array.space_to_batch: batch_to_space=batch_to_space_v1 batch_to_space_nd depth_to_space=depth_to_space_v1
    required_space_to_batch_paddings space_to_batch=space_to_batch_v1 space_to_batch_nd space_to_depth=space_to_depth_v1
graphgrad.ops.array.split: split=split_v1
graphgrad.ops.array.tile: meshgrid repeat tile
graphgrad.ops.array.transpose: invert_permutation matrix_transpose reverse reverse_sequence=reverse_sequence_v1
    reverse_v2=reverse roll transpose=transpose_v1
graphgrad.ops.common.sparse_tensor: SparseTensor
graphgrad.ops.control.assertions: Assert assert_equal=assert_equal_v1 assert_greater=assert_greater_v1
    assert_greater_equal=assert_greater_equal_v1 assert_integer assert_less=assert_less_v1
    assert_less_equal=assert_less_equal_v1 assert_near=assert_near_v1 assert_negative=assert_negative_v1
    assert_non_negative=assert_non_negative_v1 assert_non_positive=assert_non_positive_v1
    assert_none_equal=assert_none_equal_v1 assert_positive=assert_positive_v1 assert_proper_iterable
    assert_same_float_dtype assert_type is_numeric_tensor verify_tensor_all_finite
graphgrad.ops.control.group: group no_op tuple=tuple_v1
graphgrad.ops.control.py_func: Print numpy_function print=print_tensors py_func timestamp
graphgrad.ops.control.shape_assertions: assert_rank=assert_rank_v1 assert_rank_at_least=assert_rank_at_least_v1
    assert_rank_in=assert_rank_in_v1 assert_scalar=assert_scalar_v1
graphgrad.ops.linalg.diag_functions: diag=tensor_diag diag_part=tensor_diag_part eye matrix_band_part matrix_diag
    matrix_diag_part matrix_set_diag
graphgrad.ops.linalg.einsum: einsum
graphgrad.ops.linalg.linalg_functions: cholesky cholesky_solve matrix_determinant=det matrix_inverse=inv
    matrix_solve=solve matrix_solve_ls=lstsq matrix_triangular_solve=triangular_solve qr self_adjoint_eig=eigh
    self_adjoint_eigvals=eigvalsh svd trace
graphgrad.ops.linalg.matmul: matmul sparse_matmul
graphgrad.ops.linalg.norms: norm=norm_v1
graphgrad.ops.linalg.tensordot: tensordot
graphgrad.ops.math.argmax: arg_max arg_min argmax=argmax_v1 argmin=argmin_v1
graphgrad.ops.math.arithmetic: accumulate_n add add_n cross maximum minimum multiply scalar_mul squared_difference
    subtract
graphgrad.ops.math.bincount: bincount=bincount_v1 confusion_matrix=confusion_matrix_v1
graphgrad.ops.math.clip: clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value global_norm
graphgrad.ops.math.comparison: equal greater greater_equal is_finite is_inf is_nan is_non_decreasing
    is_strictly_increasing less less_equal logical_and logical_not logical_or logical_xor not_equal
graphgrad.ops.math.complex: angle complex conj imag real
graphgrad.ops.math.cumulative: cumprod cumsum
graphgrad.ops.math.division: div div_no_nan divide floor_div floordiv floormod mod realdiv truediv truncatediv
    truncatemod
graphgrad.ops.math.exponential: exp expm1 log log1p pow
graphgrad.ops.math.histogram: histogram_fixed_width histogram_fixed_width_bins
graphgrad.ops.math.order_statistics: approx_top_k
graphgrad.ops.math.reduce_functions: count_nonzero=count_nonzero_v1 reduce_all=reduce_all_v1 reduce_any=reduce_any_v1
    reduce_logsumexp=reduce_logsumexp_v1 reduce_max=reduce_max_v1 reduce_mean=reduce_mean_v1 reduce_min=reduce_min_v1
    reduce_prod=reduce_prod_v1 reduce_sum=reduce_sum_v1
graphgrad.ops.math.segment: segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max
    unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum
graphgrad.ops.math.special: betainc digamma erf erfc igamma igammac lbeta lgamma polygamma zeta
graphgrad.ops.math.trig: acos acosh asin asinh atan atan2 atanh cos cosh log_sigmoid sigmoid sin sinh tan tanh
graphgrad.ops.math.unary: abs ceil floor negative reciprocal rint round rsqrt sign sqrt square
graphgrad.ops.nn.conv.patches: extract_image_patches=extract_patches_v1 extract_volume_patches
graphgrad.ops.nn.quantize.quantize_functions: fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
    fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
    fake_quant_with_min_max_vars_per_channel_gradient
graphgrad.ops.random.gamma_poisson: random_gamma random_poisson
graphgrad.ops.random.random: multinomial random_crop random_normal random_shuffle random_uniform truncated_normal
graphgrad.ops.random.seeds: get_seed set_random_seed
graphgrad.platform.logging_v1: get_logger
graphgrad.system.progress: show_progress
graphgrad.training.summaries.summaries_v0: histogram_summary image_summary merge_all_summaries merge_summary
    scalar_summary
graphgrad.training.summaries.summary_messages: Event HistogramProto LogMessage SessionLog Summary SummaryMetadata
graphgrad.viz.formula.formula: formula
graphgrad.viz.live.view_graph: view_graph
""")
