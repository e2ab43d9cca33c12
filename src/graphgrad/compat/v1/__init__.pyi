"""`tf` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad import compat as compat
from graphgrad.compat.constants import API_VERSION
from graphgrad.compat.constants import newaxis as newaxis
from graphgrad.compat.contrib import distributions as distributions
from graphgrad.compat import raw_ops as raw_ops
from graphgrad.compat.v1 import app as app
from graphgrad.compat.v1 import audio as audio
from graphgrad.compat.v1 import autograph as autograph
from graphgrad.compat.v1 import bitwise as bitwise
from graphgrad.compat.v1 import config as config
from graphgrad.compat.v1 import data as data
from graphgrad.compat.v1 import debugging as debugging
from graphgrad.compat.v1 import distribute as distribute
from graphgrad.compat.v1 import dtypes as dtypes
from graphgrad.compat.v1 import experimental as experimental
from graphgrad.compat.v1 import feature_column as feature_column
from graphgrad.compat.v1 import flags as flags
from graphgrad.compat.v1 import gfile as gfile
from graphgrad.compat.v1 import graph_util as graph_util
from graphgrad.compat.v1 import image as image
from graphgrad.compat.v1 import implicit as implicit
from graphgrad.compat.v1 import initializers as initializers
from graphgrad.compat.v1 import io as io
from graphgrad.compat.v1 import layers as layers
from graphgrad.compat.v1 import linalg as linalg
from graphgrad.compat.v1 import logging as logging
from graphgrad.compat.v1 import lookup as lookup
from graphgrad.compat.v1 import losses as losses
from graphgrad.compat.v1 import manip as manip
from graphgrad.compat.v1 import math as math
from graphgrad.compat.v1 import metrics as metrics
from graphgrad.compat.v1 import nn as nn
from graphgrad.compat.v1 import profiler as profiler
from graphgrad.compat.v1 import python_io as python_io
from graphgrad.compat.v1 import quantization as quantization
from graphgrad.compat.v1 import queue as queue
from graphgrad.compat.v1 import ragged as ragged
from graphgrad.compat.v1 import random as random
from graphgrad.compat.v1 import saved_model as saved_model
from graphgrad.compat.v1 import sets as sets
from graphgrad.compat.v1 import signal as signal
from graphgrad.compat.v1 import sparse as sparse
from graphgrad.compat.v1 import spectral as spectral
from graphgrad.compat.v1 import strings as strings
from graphgrad.compat.v1 import summary as summary
from graphgrad.compat.v1 import sysconfig as sysconfig
from graphgrad.compat.v1 import test as test
from graphgrad.compat.v1 import train as train
from graphgrad.compat.v1 import version as version
from graphgrad.compat.v1 import xla as xla
from graphgrad import errors as errors
from graphgrad.errors import OpError as OpError
from graphgrad.executor.runtime.nonfinite import locate_nonfinite as locate_nonfinite
from graphgrad.executor.runtime.session import InteractiveSession as InteractiveSession
from graphgrad.executor.runtime.session import Session as Session
from graphgrad.executor.runtime.session import get_default_session as get_default_session
from graphgrad.extras.data.optional import OptionalSpec as OptionalSpec
from graphgrad.extras.import_v1.import_graph import import_graph_def as import_graph_def
from graphgrad.extras.io.csv import decode_csv_v1 as decode_csv
from graphgrad.extras.io.file_ops import FixedLenFeature as FixedLenFeature
from graphgrad.extras.io.file_ops import VarLenFeature as VarLenFeature
from graphgrad.extras.io.file_ops import read_file as read_file
from graphgrad.extras.io.serialized import decode_compressed as decode_compressed
from graphgrad.extras.io.serialized import decode_json_example as decode_json_example
from graphgrad.extras.io.serialized import deserialize_many_sparse as deserialize_many_sparse
from graphgrad.extras.io.serialized import serialize_many_sparse_v1 as serialize_many_sparse
from graphgrad.extras.io.serialized import serialize_sparse_v1 as serialize_sparse
from graphgrad.extras.io.serialized import write_file as write_file
from graphgrad.extras.io.tensor_proto import parse_tensor as parse_tensor
from graphgrad.extras.io.tensor_proto import serialize_tensor as serialize_tensor
from graphgrad.extras.pipelines.lookup_tables import initialize_all_tables as initialize_all_tables
from graphgrad.extras.pipelines.lookup_tables import tables_initializer as tables_initializer
from graphgrad.extras.pipelines.parsing import FixedLenSequenceFeature as FixedLenSequenceFeature
from graphgrad.extras.pipelines.parsing import SparseFeature as SparseFeature
from graphgrad.extras.pipelines.parsing import parse_example_v1 as parse_example
from graphgrad.extras.pipelines.parsing import parse_single_example_v1 as parse_single_example
from graphgrad.extras.pipelines.parsing import parse_single_sequence_example as parse_single_sequence_example
from graphgrad.extras.pipelines.queues import FIFOQueue as FIFOQueue
from graphgrad.extras.pipelines.queues import PaddingFIFOQueue as PaddingFIFOQueue
from graphgrad.extras.pipelines.queues import PriorityQueue as PriorityQueue
from graphgrad.extras.pipelines.queues import QueueBase as QueueBase
from graphgrad.extras.pipelines.queues import RandomShuffleQueue as RandomShuffleQueue
from graphgrad.extras.pipelines.readers import FixedLengthRecordReader as FixedLengthRecordReader
from graphgrad.extras.pipelines.readers import IdentityReader as IdentityReader
from graphgrad.extras.pipelines.readers import ReaderBase as ReaderBase
from graphgrad.extras.pipelines.readers import TFRecordReader as TFRecordReader
from graphgrad.extras.pipelines.readers import TextLineReader as TextLineReader
from graphgrad.extras.pipelines.readers import WholeFileReader as WholeFileReader
from graphgrad.extras.pipelines.readers import matching_files as matching_files
from graphgrad.extras.ragged.ragged_ops import ragged_fill_empty_rows as ragged_fill_empty_rows
from graphgrad.extras.ragged.ragged_ops import ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad
from graphgrad.extras.ragged.ragged_spec import RaggedTensorSpec as RaggedTensorSpec
from graphgrad.extras.ragged.ragged_tensor import RaggedTensor as RaggedTensor
from graphgrad.extras.scientific.numpy_function import as_function as as_function
from graphgrad.extras.signal.fft_functions import fft as fft
from graphgrad.extras.signal.fft_functions import fft2d as fft2d
from graphgrad.extras.signal.fft_functions import fft3d as fft3d
from graphgrad.extras.signal.fft_functions import ifft as ifft
from graphgrad.extras.signal.fft_functions import ifft2d as ifft2d
from graphgrad.extras.signal.fft_functions import ifft3d as ifft3d
from graphgrad.extras.sparse.sets import edit_distance as edit_distance
from graphgrad.extras.sparse.sparse_combine import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
from graphgrad.extras.sparse.sparse_combine import sparse_mask as sparse_mask
from graphgrad.extras.sparse.sparse_combine import sparse_maximum as sparse_maximum
from graphgrad.extras.sparse.sparse_combine import sparse_merge as sparse_merge
from graphgrad.extras.sparse.sparse_combine import sparse_minimum as sparse_minimum
from graphgrad.extras.sparse.sparse_combine import sparse_reduce_max_sparse as sparse_reduce_max_sparse
from graphgrad.extras.sparse.sparse_combine import sparse_reduce_sum_sparse as sparse_reduce_sum_sparse
from graphgrad.extras.sparse.sparse_combine import sparse_reset_shape as sparse_reset_shape
from graphgrad.extras.sparse.sparse_combine import sparse_split_v1 as sparse_split
from graphgrad.extras.sparse.sparse_combine import sparse_to_indicator as sparse_to_indicator
from graphgrad.extras.sparse.sparse_functions import sparse_add_v1 as sparse_add
from graphgrad.extras.sparse.sparse_functions import sparse_concat_v1 as sparse_concat
from graphgrad.extras.sparse.sparse_functions import sparse_fill_empty_rows as sparse_fill_empty_rows
from graphgrad.extras.sparse.sparse_functions import sparse_placeholder as sparse_placeholder
from graphgrad.extras.sparse.sparse_functions import sparse_reorder as sparse_reorder
from graphgrad.extras.sparse.sparse_functions import sparse_reshape as sparse_reshape
from graphgrad.extras.sparse.sparse_functions import sparse_retain as sparse_retain
from graphgrad.extras.sparse.sparse_functions import sparse_slice as sparse_slice
from graphgrad.extras.sparse.sparse_functions import sparse_softmax as sparse_softmax
from graphgrad.extras.sparse.sparse_functions import sparse_tensor_dense_matmul as sparse_tensor_dense_matmul
from graphgrad.extras.sparse.sparse_functions import sparse_to_dense as sparse_to_dense
from graphgrad.extras.sparse.sparse_functions import sparse_transpose as sparse_transpose
from graphgrad.extras.sparse.sparse_functions import to_dense as sparse_tensor_to_dense
from graphgrad.extras.sparse.sparse_reductions import sparse_reduce_max_v1 as sparse_reduce_max
from graphgrad.extras.sparse.sparse_reductions import sparse_reduce_sum_v1 as sparse_reduce_sum
from graphgrad.extras.sparse.sparse_segment import segment_mean_v1 as sparse_segment_mean
from graphgrad.extras.sparse.sparse_segment import segment_sqrt_n_v1 as sparse_segment_sqrt_n
from graphgrad.extras.sparse.sparse_segment import segment_sum_v1 as sparse_segment_sum
from graphgrad.extras.strings.hashing import fingerprint as fingerprint
from graphgrad.extras.strings.hashing import to_hash_bucket_fast as string_to_hash_bucket_fast
from graphgrad.extras.strings.hashing import to_hash_bucket_strong as string_to_hash_bucket_strong
from graphgrad.extras.strings.hashing import to_hash_bucket_v1 as string_to_hash_bucket
from graphgrad.extras.strings.string_functions import as_string as as_string
from graphgrad.extras.strings.string_functions import decode_base64 as decode_base64
from graphgrad.extras.strings.string_functions import decode_raw_v1 as decode_raw
from graphgrad.extras.strings.string_functions import encode_base64 as encode_base64
from graphgrad.extras.strings.string_functions import reduce_join_v1 as reduce_join
from graphgrad.extras.strings.string_functions import regex_replace as regex_replace
from graphgrad.extras.strings.string_functions import string_join as string_join
from graphgrad.extras.strings.string_functions import string_split as string_split
from graphgrad.extras.strings.string_functions import strip as string_strip
from graphgrad.extras.strings.string_functions import substr_v1 as substr
from graphgrad.extras.strings.string_functions import to_number_v1 as string_to_number
from graphgrad.frontend.autodiff.py_function import py_function as py_function
from graphgrad.frontend.autodiff.recompute import grad_pass_through as grad_pass_through
from graphgrad.frontend.autodiff.recompute import recompute_grad as recompute_grad
from graphgrad.frontend.autodiff.tape import GradientTape as GradientTape
from graphgrad.frontend.config.compiled_programs import use_compiled_programs as use_compiled_programs
from graphgrad.frontend.config.config_proto import ConfigProto as ConfigProto
from graphgrad.frontend.config.config_proto import GPUOptions as GPUOptions
from graphgrad.frontend.config.config_proto import GraphOptions as GraphOptions
from graphgrad.frontend.config.config_proto import OptimizerOptions as OptimizerOptions
from graphgrad.frontend.config.config_proto import RunMetadata as RunMetadata
from graphgrad.frontend.config.config_proto import RunOptions as RunOptions
from graphgrad.frontend.config.device_spec import DeviceSpecV1 as DeviceSpec
from graphgrad.frontend.control_flow.case import case_v1 as case
from graphgrad.frontend.control_flow.cond_while import cond_v1 as cond
from graphgrad.frontend.control_flow.cond_while import while_loop_v1 as while_loop
from graphgrad.frontend.control_flow.loop_memory import checkpointed_loops as checkpointed_loops
from graphgrad.frontend.control_flow.map_scan import foldl as foldl
from graphgrad.frontend.control_flow.map_scan import foldr as foldr
from graphgrad.frontend.control_flow.map_scan import map_fn as map_fn
from graphgrad.frontend.control_flow.map_scan import scan as scan
from graphgrad.frontend.control_flow.switch_case import switch_case as switch_case
from graphgrad.frontend.control_flow.vectorized_map import vectorized_map as vectorized_map
from graphgrad.frontend.distribute.sharding import mesh as mesh
from graphgrad.frontend.distribute.sharding import shard as shard
from graphgrad.frontend.function.critical_section import CriticalSection as CriticalSection
from graphgrad.frontend.function.defun import Defun as Defun
from graphgrad.frontend.function.function import TensorSpec as TensorSpec
from graphgrad.frontend.function.function import function as function
from graphgrad.frontend.function.wrap_function import wrap_function as wrap_function
from graphgrad.frontend.graph.collections import GraphKeys as GraphKeys
from graphgrad.frontend.graph.default_graph import add_to_collection as add_to_collection
from graphgrad.frontend.graph.default_graph import add_to_collections as add_to_collections
from graphgrad.frontend.graph.default_graph import colocate_with as colocate_with
from graphgrad.frontend.graph.default_graph import container as container
from graphgrad.frontend.graph.default_graph import control_dependencies as control_dependencies
from graphgrad.frontend.graph.default_graph import device as device
from graphgrad.frontend.graph.default_graph import get_collection as get_collection
from graphgrad.frontend.graph.default_graph import get_collection_ref as get_collection_ref
from graphgrad.frontend.graph.default_graph import name_scope_v1 as name_scope
from graphgrad.frontend.graph.default_graph import op_scope as op_scope
from graphgrad.frontend.graph.init_scope import init_scope as init_scope
from graphgrad.frontend.graph.module import Module as Module
from graphgrad.frontend.graph.session_values import delete_session_tensor as delete_session_tensor
from graphgrad.frontend.graph.session_values import get_session_handle as get_session_handle
from graphgrad.frontend.graph.session_values import get_session_tensor as get_session_tensor
from graphgrad.frontend.graph.tensor_protos import make_ndarray as make_ndarray
from graphgrad.frontend.graph.tensor_protos import make_tensor_proto as make_tensor_proto
from graphgrad.frontend.graph.user_ops import define_op as define_op
from graphgrad.frontend.modes import control_flow_v2_enabled as control_flow_v2_enabled
from graphgrad.frontend.modes import disable_control_flow_v2 as disable_control_flow_v2
from graphgrad.frontend.modes import disable_eager_execution as disable_eager_execution
from graphgrad.frontend.modes import disable_resource_variables as disable_resource_variables
from graphgrad.frontend.modes import disable_tensor_equality as disable_tensor_equality
from graphgrad.frontend.modes import disable_v2_behavior as disable_v2_behavior
from graphgrad.frontend.modes import disable_v2_tensorshape as disable_v2_tensorshape
from graphgrad.frontend.modes import enable_control_flow_v2 as enable_control_flow_v2
from graphgrad.frontend.modes import enable_eager_execution as enable_eager_execution
from graphgrad.frontend.modes import enable_resource_variables as enable_resource_variables
from graphgrad.frontend.modes import enable_tensor_equality as enable_tensor_equality
from graphgrad.frontend.modes import enable_v2_behavior as enable_v2_behavior
from graphgrad.frontend.modes import enable_v2_tensorshape as enable_v2_tensorshape
from graphgrad.frontend.modes import resource_variables_enabled as resource_variables_enabled
from graphgrad.frontend.structure.composite_specs import IndexedSlicesSpec as IndexedSlicesSpec
from graphgrad.frontend.structure.composite_specs import type_spec_from_value as type_spec_from_value
from graphgrad.frontend.structure import nest as nest
from graphgrad.frontend.structure.signature import TypeSpec as TypeSpec
from graphgrad.frontend.structure.sparse_spec import SparseTensorSpec as SparseTensorSpec
from graphgrad.frontend.structure.tensor_array import TensorArray as TensorArray
from graphgrad.frontend.structure.tensor_array_spec import TensorArraySpec as TensorArraySpec
from graphgrad.frontend.variables.initializers import Constant as constant_initializer
from graphgrad.frontend.variables.initializers import Ones as ones_initializer
from graphgrad.frontend.variables.initializers import Orthogonal as orthogonal_initializer
from graphgrad.frontend.variables.initializers import RandomNormal as random_normal_initializer
from graphgrad.frontend.variables.initializers import RandomUniform as random_uniform_initializer
from graphgrad.frontend.variables.initializers import TruncatedNormal as truncated_normal_initializer
from graphgrad.frontend.variables.initializers import Zeros as zeros_initializer
from graphgrad.frontend.variables.partitioned import create_partitioned_variables as create_partitioned_variables
from graphgrad.frontend.variables.partitioned import fixed_size_partitioner as fixed_size_partitioner
from graphgrad.frontend.variables.partitioned import min_max_variable_partitioner as min_max_variable_partitioner
from graphgrad.frontend.variables.partitioned import variable_axis_size_partitioner as variable_axis_size_partitioner
from graphgrad.frontend.variables.scaling_initializers import GlorotNormal as glorot_normal_initializer
from graphgrad.frontend.variables.scaling_initializers import GlorotUniform as glorot_uniform_initializer
from graphgrad.frontend.variables.scaling_initializers import UniformUnitScaling as uniform_unit_scaling_initializer
from graphgrad.frontend.variables.scaling_initializers import VarianceScaling as variance_scaling_initializer
from graphgrad.frontend.variables.template import make_template as make_template
from graphgrad.frontend.variables.variable import VariableV1 as Variable
from graphgrad.frontend.variables.variable_creators import variable_creator_scope as variable_creator_scope
from graphgrad.frontend.variables.variable_functions import all_variables as all_variables
from graphgrad.frontend.variables.variable_functions import assert_variables_initialized as assert_variables_initialized
from graphgrad.frontend.variables.variable_functions import assign as assign
from graphgrad.frontend.variables.variable_functions import assign_add as assign_add
from graphgrad.frontend.variables.variable_functions import assign_sub as assign_sub
from graphgrad.frontend.variables.variable_functions import batch_scatter_update as batch_scatter_update
from graphgrad.frontend.variables.variable_functions import count_up_to as count_up_to
from graphgrad.frontend.variables.variable_functions import global_variables as global_variables
from graphgrad.frontend.variables.variable_functions import global_variables_initializer as global_variables_initializer
from graphgrad.frontend.variables.variable_functions import initialize_all_variables as initialize_all_variables
from graphgrad.frontend.variables.variable_functions import initialize_local_variables as initialize_local_variables
from graphgrad.frontend.variables.variable_functions import initialize_variables as initialize_variables
from graphgrad.frontend.variables.variable_functions import is_variable_initialized as is_variable_initialized
from graphgrad.frontend.variables.variable_functions import local_variables as local_variables
from graphgrad.frontend.variables.variable_functions import local_variables_initializer as local_variables_initializer
from graphgrad.frontend.variables.variable_functions import model_variables as model_variables
from graphgrad.frontend.variables.variable_functions import moving_average_variables as moving_average_variables
from graphgrad.frontend.variables.variable_functions import report_uninitialized_variables as report_uninitialized_variables
from graphgrad.frontend.variables.variable_functions import scatter_add as scatter_add
from graphgrad.frontend.variables.variable_functions import scatter_div as scatter_div
from graphgrad.frontend.variables.variable_functions import scatter_max as scatter_max
from graphgrad.frontend.variables.variable_functions import scatter_min as scatter_min
from graphgrad.frontend.variables.variable_functions import scatter_mul as scatter_mul
from graphgrad.frontend.variables.variable_functions import scatter_nd_add as scatter_nd_add
from graphgrad.frontend.variables.variable_functions import scatter_nd_sub as scatter_nd_sub
from graphgrad.frontend.variables.variable_functions import scatter_nd_update as scatter_nd_update
from graphgrad.frontend.variables.variable_functions import scatter_sub as scatter_sub
from graphgrad.frontend.variables.variable_functions import scatter_update as scatter_update
from graphgrad.frontend.variables.variable_functions import trainable_variables as trainable_variables
from graphgrad.frontend.variables.variable_functions import variables_initializer as variables_initializer
from graphgrad.frontend.variables.variable_scope import AUTO_REUSE as AUTO_REUSE
from graphgrad.frontend.variables.variable_scope import VariableScope as VariableScope
from graphgrad.frontend.variables.variable_scope import get_local_variable as get_local_variable
from graphgrad.frontend.variables.variable_scope import get_variable as get_variable
from graphgrad.frontend.variables.variable_scope import get_variable_scope as get_variable_scope
from graphgrad.frontend.variables.variable_scope import no_regularizer as no_regularizer
from graphgrad.frontend.variables.variable_scope import variable_op_scope as variable_op_scope
from graphgrad.frontend.variables.variable_scope import variable_scope as variable_scope
from graphgrad.frontend.variables.variable_settings import VariableAggregation as VariableAggregation
from graphgrad.frontend.variables.variable_settings import VariableSynchronization as VariableSynchronization
from graphgrad.gradients.core.aggregate import AggregationMethod as AggregationMethod
from graphgrad.gradients.core.backprop import gradients as gradients
from graphgrad.gradients.core.custom import custom_gradient as custom_gradient
from graphgrad.gradients.core.memo import memoize_gradients as memoize_gradients
from graphgrad.gradients.core.registry import NoGradient as NoGradient
from graphgrad.gradients.core.registry import NotDifferentiable as NotDifferentiable
from graphgrad.gradients.core.registry import NotDifferentiable as no_gradient
from graphgrad.gradients.core.registry import RegisterGradient as RegisterGradient
from graphgrad.gradients.core.unconnected import UnconnectedGradients as UnconnectedGradients
from graphgrad.gradients.derived.batched import batch_hessian as batch_hessian
from graphgrad.gradients.derived.batched import batch_jacobian as batch_jacobian
from graphgrad.gradients.derived.higher import hessian as hessian
from graphgrad.gradients.derived.higher import hessians as hessians
from graphgrad.gradients.derived.higher import jacobian as jacobian
from graphgrad.gradients.derived.vector_products import hessian_vector_product as hessian_vector_product
from graphgrad.gradients.derived.vector_products import jvp as jvp
from graphgrad.gradients.derived.vector_products import vjp as vjp
from graphgrad.gradients.diagnose.explain import explain_gradient as explain_gradient
from graphgrad.gradients.diagnose.strict import strict_gradients as strict_gradients
from graphgrad.gradients.rewriting.switching import derivatives_report as derivatives_report
from graphgrad.gradients.rewriting.switching import optimize_derivatives as optimize_derivatives
from graphgrad.gradients.sparsity.detection import sparsity as sparsity
from graphgrad.gradients.taylor.differential_operators import differential_operator as differential_operator
from graphgrad.gradients.taylor.functions import laplacian as laplacian
from graphgrad.gradients.taylor.functions import taylor as taylor
from graphgrad.ir.context import executing_eagerly as executing_eagerly
from graphgrad.ir.context import executing_eagerly_outside_functions as executing_eagerly_outside_functions
from graphgrad.ir.context import get_default_graph as get_default_graph
from graphgrad.ir.context import reset_default_graph as reset_default_graph
from graphgrad.ir.conversion import convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices
from graphgrad.ir.conversion import convert_to_tensor_v1 as convert_to_tensor
from graphgrad.ir.conversion import register_tensor_conversion_function as register_tensor_conversion_function
from graphgrad.ir.dimension import Dimension as Dimension
from graphgrad.ir.dimension import dimension_value as dimension_value
from graphgrad.ir.dtypes import DType as DType
from graphgrad.ir.dtypes import as_dtype as as_dtype
from graphgrad.ir.dtypes import bfloat16 as bfloat16
from graphgrad.ir.dtypes import bool_ as bool
from graphgrad.ir.dtypes import complex128 as complex128
from graphgrad.ir.dtypes import complex64 as complex64
from graphgrad.ir.dtypes import float16 as float16
from graphgrad.ir.dtypes import float16 as half
from graphgrad.ir.dtypes import float32 as float32
from graphgrad.ir.dtypes import float64 as double
from graphgrad.ir.dtypes import float64 as float64
from graphgrad.ir.dtypes import int16 as int16
from graphgrad.ir.dtypes import int32 as int32
from graphgrad.ir.dtypes import int64 as int64
from graphgrad.ir.dtypes import int8 as int8
from graphgrad.ir.dtypes import qint16 as qint16
from graphgrad.ir.dtypes import qint32 as qint32
from graphgrad.ir.dtypes import qint8 as qint8
from graphgrad.ir.dtypes import quint16 as quint16
from graphgrad.ir.dtypes import quint8 as quint8
from graphgrad.ir.dtypes import resource as resource
from graphgrad.ir.dtypes import string as string
from graphgrad.ir.dtypes import uint16 as uint16
from graphgrad.ir.dtypes import uint32 as uint32
from graphgrad.ir.dtypes import uint64 as uint64
from graphgrad.ir.dtypes import uint8 as uint8
from graphgrad.ir.dtypes import variant as variant
from graphgrad.ir.graph import Graph as Graph
from graphgrad.ir.graph_messages import AttrValue as AttrValue
from graphgrad.ir.graph_messages import GraphDef as GraphDef
from graphgrad.ir.graph_messages import MetaGraphDef as MetaGraphDef
from graphgrad.ir.graph_messages import NameAttrList as NameAttrList
from graphgrad.ir.graph_messages import NodeDef as NodeDef
from graphgrad.ir.graph_messages import TensorInfo as TensorInfo
from graphgrad.ir.operation import Operation as Operation
from graphgrad.ir.proto.versions import GIT_VERSION as GIT_VERSION
from graphgrad.ir.proto.versions import GIT_VERSION
from graphgrad.ir.proto.versions import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from graphgrad.ir.proto.versions import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from graphgrad.ir.proto.versions import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from graphgrad.ir.proto.versions import VERSION as VERSION
from graphgrad.ir.shape import TensorShape as TensorShape
from graphgrad.ir.shape import dimension_at_index as dimension_at_index
from graphgrad.ir.tensor import Tensor as Tensor
from graphgrad.ir.values.composite import SparseTensorValue as SparseTensorValue
from graphgrad.ir.values.indexed_slices import IndexedSlices as IndexedSlices
from graphgrad.ops.array.broadcast_to import broadcast_dynamic_shape as broadcast_dynamic_shape
from graphgrad.ops.array.broadcast_to import broadcast_static_shape as broadcast_static_shape
from graphgrad.ops.array.broadcast_to import broadcast_to as broadcast_to
from graphgrad.ops.array.cast import cast as cast
from graphgrad.ops.array.cast import saturate_cast as saturate_cast
from graphgrad.ops.array.cast import to_bfloat16 as to_bfloat16
from graphgrad.ops.array.cast import to_complex128 as to_complex128
from graphgrad.ops.array.cast import to_complex64 as to_complex64
from graphgrad.ops.array.cast import to_double as to_double
from graphgrad.ops.array.cast import to_float as to_float
from graphgrad.ops.array.cast import to_int32 as to_int32
from graphgrad.ops.array.cast import to_int64 as to_int64
from graphgrad.ops.array.concat_stack import concat_v1 as concat
from graphgrad.ops.array.concat_stack import parallel_stack as parallel_stack
from graphgrad.ops.array.concat_stack import stack as stack
from graphgrad.ops.array.concat_stack import unstack as unstack
from graphgrad.ops.array.constant import add_check_numerics_ops as add_check_numerics_ops
from graphgrad.ops.array.constant import check_numerics as check_numerics
from graphgrad.ops.array.constant import constant_v1 as constant
from graphgrad.ops.array.constant import ensure_shape as ensure_shape
from graphgrad.ops.array.constant import get_static_value as get_static_value
from graphgrad.ops.array.constant import guarantee_const as guarantee_const
from graphgrad.ops.array.constant import identity as identity
from graphgrad.ops.array.constant import identity_n as identity_n
from graphgrad.ops.array.constant import is_symbolic_tensor as is_symbolic_tensor
from graphgrad.ops.array.constant import is_tensor as is_tensor
from graphgrad.ops.array.constant import placeholder as placeholder
from graphgrad.ops.array.constant import placeholder_with_default as placeholder_with_default
from graphgrad.ops.array.constant import stop_gradient as stop_gradient
from graphgrad.ops.array.fill import fill as fill
from graphgrad.ops.array.fill import ones as ones
from graphgrad.ops.array.fill import ones_like_v1 as ones_like
from graphgrad.ops.array.fill import zeros as zeros
from graphgrad.ops.array.fill import zeros_like_v1 as zeros_like
from graphgrad.ops.array.gather import batch_gather as batch_gather
from graphgrad.ops.array.gather import gather_nd_v1 as gather_nd
from graphgrad.ops.array.gather import gather_v1 as gather
from graphgrad.ops.array.mask import boolean_mask_v1 as boolean_mask
from graphgrad.ops.array.mask import sequence_mask as sequence_mask
from graphgrad.ops.array.one_op import fftnd as fftnd
from graphgrad.ops.array.one_op import ifftnd as ifftnd
from graphgrad.ops.array.one_op import irfftnd as irfftnd
from graphgrad.ops.array.one_op import matrix_square_root as matrix_square_root
from graphgrad.ops.array.one_op import random_index_shuffle as random_index_shuffle
from graphgrad.ops.array.one_op import rfftnd as rfftnd
from graphgrad.ops.array.pad import pad_v1 as pad
from graphgrad.ops.array.partition_stitch import dynamic_partition as dynamic_partition
from graphgrad.ops.array.partition_stitch import dynamic_stitch as dynamic_stitch
from graphgrad.ops.array.partition_stitch import setdiff1d as setdiff1d
from graphgrad.ops.array.partition_stitch import unique as unique
from graphgrad.ops.array.partition_stitch import unique_with_counts as unique_with_counts
from graphgrad.ops.array.ranges import linspace as lin_space
from graphgrad.ops.array.ranges import linspace as linspace
from graphgrad.ops.array.ranges import range_ as range
from graphgrad.ops.array.reshape import expand_dims_v1 as expand_dims
from graphgrad.ops.array.reshape import rank as rank
from graphgrad.ops.array.reshape import reshape as reshape
from graphgrad.ops.array.reshape import shape_n as shape_n
from graphgrad.ops.array.reshape import shape_v1 as shape
from graphgrad.ops.array.reshape import size_v1 as size
from graphgrad.ops.array.reshape import squeeze_v1 as squeeze
from graphgrad.ops.array.scatter import one_hot as one_hot
from graphgrad.ops.array.scatter import scatter_nd as scatter_nd
from graphgrad.ops.array.scatter import tensor_scatter_nd_add as tensor_scatter_add
from graphgrad.ops.array.scatter import tensor_scatter_nd_add as tensor_scatter_nd_add
from graphgrad.ops.array.scatter import tensor_scatter_nd_max as tensor_scatter_nd_max
from graphgrad.ops.array.scatter import tensor_scatter_nd_min as tensor_scatter_nd_min
from graphgrad.ops.array.scatter import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from graphgrad.ops.array.scatter import tensor_scatter_nd_sub as tensor_scatter_sub
from graphgrad.ops.array.scatter import tensor_scatter_nd_update as tensor_scatter_nd_update
from graphgrad.ops.array.scatter import tensor_scatter_nd_update as tensor_scatter_update
from graphgrad.ops.array.select import where as where_v2
from graphgrad.ops.array.select import where_v1 as where
from graphgrad.ops.array.slice import slice_ as slice
from graphgrad.ops.array.slice import strided_slice as strided_slice
from graphgrad.ops.array.sort_search import argsort as argsort
from graphgrad.ops.array.sort_search import bitcast as bitcast
from graphgrad.ops.array.sort_search import searchsorted as searchsorted
from graphgrad.ops.array.sort_search import sort as sort
from graphgrad.ops.array.sort_search import unravel_index as unravel_index
from graphgrad.ops.array.space_to_batch import batch_to_space_nd as batch_to_space_nd
from graphgrad.ops.array.space_to_batch import batch_to_space_v1 as batch_to_space
from graphgrad.ops.array.space_to_batch import depth_to_space_v1 as depth_to_space
from graphgrad.ops.array.space_to_batch import required_space_to_batch_paddings as required_space_to_batch_paddings
from graphgrad.ops.array.space_to_batch import space_to_batch_nd as space_to_batch_nd
from graphgrad.ops.array.space_to_batch import space_to_batch_v1 as space_to_batch
from graphgrad.ops.array.space_to_batch import space_to_depth_v1 as space_to_depth
from graphgrad.ops.array.split import split_v1 as split
from graphgrad.ops.array.tile import meshgrid as meshgrid
from graphgrad.ops.array.tile import repeat as repeat
from graphgrad.ops.array.tile import tile as tile
from graphgrad.ops.array.transpose import invert_permutation as invert_permutation
from graphgrad.ops.array.transpose import matrix_transpose as matrix_transpose
from graphgrad.ops.array.transpose import reverse as reverse
from graphgrad.ops.array.transpose import reverse as reverse_v2
from graphgrad.ops.array.transpose import reverse_sequence_v1 as reverse_sequence
from graphgrad.ops.array.transpose import roll as roll
from graphgrad.ops.array.transpose import transpose_v1 as transpose
from graphgrad.ops.common.sparse_tensor import SparseTensor as SparseTensor
from graphgrad.ops.control.assertions import Assert as Assert
from graphgrad.ops.control.assertions import assert_equal_v1 as assert_equal
from graphgrad.ops.control.assertions import assert_greater_equal_v1 as assert_greater_equal
from graphgrad.ops.control.assertions import assert_greater_v1 as assert_greater
from graphgrad.ops.control.assertions import assert_integer as assert_integer
from graphgrad.ops.control.assertions import assert_less_equal_v1 as assert_less_equal
from graphgrad.ops.control.assertions import assert_less_v1 as assert_less
from graphgrad.ops.control.assertions import assert_near_v1 as assert_near
from graphgrad.ops.control.assertions import assert_negative_v1 as assert_negative
from graphgrad.ops.control.assertions import assert_non_negative_v1 as assert_non_negative
from graphgrad.ops.control.assertions import assert_non_positive_v1 as assert_non_positive
from graphgrad.ops.control.assertions import assert_none_equal_v1 as assert_none_equal
from graphgrad.ops.control.assertions import assert_positive_v1 as assert_positive
from graphgrad.ops.control.assertions import assert_proper_iterable as assert_proper_iterable
from graphgrad.ops.control.assertions import assert_same_float_dtype as assert_same_float_dtype
from graphgrad.ops.control.assertions import assert_type as assert_type
from graphgrad.ops.control.assertions import is_numeric_tensor as is_numeric_tensor
from graphgrad.ops.control.assertions import verify_tensor_all_finite as verify_tensor_all_finite
from graphgrad.ops.control.group import group as group
from graphgrad.ops.control.group import no_op as no_op
from graphgrad.ops.control.group import tuple_v1 as tuple
from graphgrad.ops.control.py_func import Print as Print
from graphgrad.ops.control.py_func import numpy_function as numpy_function
from graphgrad.ops.control.py_func import print_tensors as print
from graphgrad.ops.control.py_func import py_func as py_func
from graphgrad.ops.control.py_func import timestamp as timestamp
from graphgrad.ops.control.shape_assertions import assert_rank_at_least_v1 as assert_rank_at_least
from graphgrad.ops.control.shape_assertions import assert_rank_in_v1 as assert_rank_in
from graphgrad.ops.control.shape_assertions import assert_rank_v1 as assert_rank
from graphgrad.ops.control.shape_assertions import assert_scalar_v1 as assert_scalar
from graphgrad.ops.linalg.diag_functions import eye as eye
from graphgrad.ops.linalg.diag_functions import matrix_band_part as matrix_band_part
from graphgrad.ops.linalg.diag_functions import matrix_diag as matrix_diag
from graphgrad.ops.linalg.diag_functions import matrix_diag_part as matrix_diag_part
from graphgrad.ops.linalg.diag_functions import matrix_set_diag as matrix_set_diag
from graphgrad.ops.linalg.diag_functions import tensor_diag as diag
from graphgrad.ops.linalg.diag_functions import tensor_diag_part as diag_part
from graphgrad.ops.linalg.einsum import einsum as einsum
from graphgrad.ops.linalg.linalg_functions import cholesky as cholesky
from graphgrad.ops.linalg.linalg_functions import cholesky_solve as cholesky_solve
from graphgrad.ops.linalg.linalg_functions import det as matrix_determinant
from graphgrad.ops.linalg.linalg_functions import eigh as self_adjoint_eig
from graphgrad.ops.linalg.linalg_functions import eigvalsh as self_adjoint_eigvals
from graphgrad.ops.linalg.linalg_functions import inv as matrix_inverse
from graphgrad.ops.linalg.linalg_functions import lstsq as matrix_solve_ls
from graphgrad.ops.linalg.linalg_functions import qr as qr
from graphgrad.ops.linalg.linalg_functions import solve as matrix_solve
from graphgrad.ops.linalg.linalg_functions import svd as svd
from graphgrad.ops.linalg.linalg_functions import trace as trace
from graphgrad.ops.linalg.linalg_functions import triangular_solve as matrix_triangular_solve
from graphgrad.ops.linalg.matmul import matmul as matmul
from graphgrad.ops.linalg.matmul import sparse_matmul as sparse_matmul
from graphgrad.ops.linalg.norms import norm_v1 as norm
from graphgrad.ops.linalg.tensordot import tensordot as tensordot
from graphgrad.ops.math.argmax import arg_max as arg_max
from graphgrad.ops.math.argmax import arg_min as arg_min
from graphgrad.ops.math.argmax import argmax_v1 as argmax
from graphgrad.ops.math.argmax import argmin_v1 as argmin
from graphgrad.ops.math.arithmetic import accumulate_n as accumulate_n
from graphgrad.ops.math.arithmetic import add as add
from graphgrad.ops.math.arithmetic import add_n as add_n
from graphgrad.ops.math.arithmetic import cross as cross
from graphgrad.ops.math.arithmetic import maximum as maximum
from graphgrad.ops.math.arithmetic import minimum as minimum
from graphgrad.ops.math.arithmetic import multiply as multiply
from graphgrad.ops.math.arithmetic import scalar_mul as scalar_mul
from graphgrad.ops.math.arithmetic import squared_difference as squared_difference
from graphgrad.ops.math.arithmetic import subtract as subtract
from graphgrad.ops.math.bincount import bincount_v1 as bincount
from graphgrad.ops.math.bincount import confusion_matrix_v1 as confusion_matrix
from graphgrad.ops.math.clip import clip_by_average_norm as clip_by_average_norm
from graphgrad.ops.math.clip import clip_by_global_norm as clip_by_global_norm
from graphgrad.ops.math.clip import clip_by_norm as clip_by_norm
from graphgrad.ops.math.clip import clip_by_value as clip_by_value
from graphgrad.ops.math.clip import global_norm as global_norm
from graphgrad.ops.math.comparison import equal as equal
from graphgrad.ops.math.comparison import greater as greater
from graphgrad.ops.math.comparison import greater_equal as greater_equal
from graphgrad.ops.math.comparison import is_finite as is_finite
from graphgrad.ops.math.comparison import is_inf as is_inf
from graphgrad.ops.math.comparison import is_nan as is_nan
from graphgrad.ops.math.comparison import is_non_decreasing as is_non_decreasing
from graphgrad.ops.math.comparison import is_strictly_increasing as is_strictly_increasing
from graphgrad.ops.math.comparison import less as less
from graphgrad.ops.math.comparison import less_equal as less_equal
from graphgrad.ops.math.comparison import logical_and as logical_and
from graphgrad.ops.math.comparison import logical_not as logical_not
from graphgrad.ops.math.comparison import logical_or as logical_or
from graphgrad.ops.math.comparison import logical_xor as logical_xor
from graphgrad.ops.math.comparison import not_equal as not_equal
from graphgrad.ops.math.complex import angle as angle
from graphgrad.ops.math.complex import complex as complex
from graphgrad.ops.math.complex import conj as conj
from graphgrad.ops.math.complex import imag as imag
from graphgrad.ops.math.complex import real as real
from graphgrad.ops.math.cumulative import cumprod as cumprod
from graphgrad.ops.math.cumulative import cumsum as cumsum
from graphgrad.ops.math.division import div as div
from graphgrad.ops.math.division import div_no_nan as div_no_nan
from graphgrad.ops.math.division import divide as divide
from graphgrad.ops.math.division import floor_div as floor_div
from graphgrad.ops.math.division import floordiv as floordiv
from graphgrad.ops.math.division import floormod as floormod
from graphgrad.ops.math.division import mod as mod
from graphgrad.ops.math.division import realdiv as realdiv
from graphgrad.ops.math.division import truediv as truediv
from graphgrad.ops.math.division import truncatediv as truncatediv
from graphgrad.ops.math.division import truncatemod as truncatemod
from graphgrad.ops.math.exponential import exp as exp
from graphgrad.ops.math.exponential import expm1 as expm1
from graphgrad.ops.math.exponential import log as log
from graphgrad.ops.math.exponential import log1p as log1p
from graphgrad.ops.math.exponential import pow as pow
from graphgrad.ops.math.histogram import histogram_fixed_width as histogram_fixed_width
from graphgrad.ops.math.histogram import histogram_fixed_width_bins as histogram_fixed_width_bins
from graphgrad.ops.math.order_statistics import approx_top_k as approx_top_k
from graphgrad.ops.math.reduce_functions import count_nonzero_v1 as count_nonzero
from graphgrad.ops.math.reduce_functions import reduce_all_v1 as reduce_all
from graphgrad.ops.math.reduce_functions import reduce_any_v1 as reduce_any
from graphgrad.ops.math.reduce_functions import reduce_logsumexp_v1 as reduce_logsumexp
from graphgrad.ops.math.reduce_functions import reduce_max_v1 as reduce_max
from graphgrad.ops.math.reduce_functions import reduce_mean_v1 as reduce_mean
from graphgrad.ops.math.reduce_functions import reduce_min_v1 as reduce_min
from graphgrad.ops.math.reduce_functions import reduce_prod_v1 as reduce_prod
from graphgrad.ops.math.reduce_functions import reduce_sum_v1 as reduce_sum
from graphgrad.ops.math.segment import segment_max as segment_max
from graphgrad.ops.math.segment import segment_mean as segment_mean
from graphgrad.ops.math.segment import segment_min as segment_min
from graphgrad.ops.math.segment import segment_prod as segment_prod
from graphgrad.ops.math.segment import segment_sum as segment_sum
from graphgrad.ops.math.segment import unsorted_segment_max as unsorted_segment_max
from graphgrad.ops.math.segment import unsorted_segment_mean as unsorted_segment_mean
from graphgrad.ops.math.segment import unsorted_segment_min as unsorted_segment_min
from graphgrad.ops.math.segment import unsorted_segment_prod as unsorted_segment_prod
from graphgrad.ops.math.segment import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from graphgrad.ops.math.segment import unsorted_segment_sum as unsorted_segment_sum
from graphgrad.ops.math.special import betainc as betainc
from graphgrad.ops.math.special import digamma as digamma
from graphgrad.ops.math.special import erf as erf
from graphgrad.ops.math.special import erfc as erfc
from graphgrad.ops.math.special import igamma as igamma
from graphgrad.ops.math.special import igammac as igammac
from graphgrad.ops.math.special import lbeta as lbeta
from graphgrad.ops.math.special import lgamma as lgamma
from graphgrad.ops.math.special import polygamma as polygamma
from graphgrad.ops.math.special import zeta as zeta
from graphgrad.ops.math.trig import acos as acos
from graphgrad.ops.math.trig import acosh as acosh
from graphgrad.ops.math.trig import asin as asin
from graphgrad.ops.math.trig import asinh as asinh
from graphgrad.ops.math.trig import atan as atan
from graphgrad.ops.math.trig import atan2 as atan2
from graphgrad.ops.math.trig import atanh as atanh
from graphgrad.ops.math.trig import cos as cos
from graphgrad.ops.math.trig import cosh as cosh
from graphgrad.ops.math.trig import log_sigmoid as log_sigmoid
from graphgrad.ops.math.trig import sigmoid as sigmoid
from graphgrad.ops.math.trig import sin as sin
from graphgrad.ops.math.trig import sinh as sinh
from graphgrad.ops.math.trig import tan as tan
from graphgrad.ops.math.trig import tanh as tanh
from graphgrad.ops.math.unary import abs as abs
from graphgrad.ops.math.unary import ceil as ceil
from graphgrad.ops.math.unary import floor as floor
from graphgrad.ops.math.unary import negative as negative
from graphgrad.ops.math.unary import reciprocal as reciprocal
from graphgrad.ops.math.unary import rint as rint
from graphgrad.ops.math.unary import round as round
from graphgrad.ops.math.unary import rsqrt as rsqrt
from graphgrad.ops.math.unary import sign as sign
from graphgrad.ops.math.unary import sqrt as sqrt
from graphgrad.ops.math.unary import square as square
from graphgrad.ops.nn.conv.patches import extract_patches_v1 as extract_image_patches
from graphgrad.ops.nn.conv.patches import extract_volume_patches as extract_volume_patches
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel
from graphgrad.ops.nn.quantize.quantize_functions import fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient
from graphgrad.ops.random.gamma_poisson import random_gamma as random_gamma
from graphgrad.ops.random.gamma_poisson import random_poisson as random_poisson
from graphgrad.ops.random.random import multinomial as multinomial
from graphgrad.ops.random.random import random_crop as random_crop
from graphgrad.ops.random.random import random_normal as random_normal
from graphgrad.ops.random.random import random_shuffle as random_shuffle
from graphgrad.ops.random.random import random_uniform as random_uniform
from graphgrad.ops.random.random import truncated_normal as truncated_normal
from graphgrad.ops.random.seeds import get_seed as get_seed
from graphgrad.ops.random.seeds import set_random_seed as set_random_seed
from graphgrad.platform.logging_v1 import get_logger as get_logger
from graphgrad.system.progress import show_progress as show_progress
from graphgrad.training.summaries.summaries_v0 import histogram_summary as histogram_summary
from graphgrad.training.summaries.summaries_v0 import image_summary as image_summary
from graphgrad.training.summaries.summaries_v0 import merge_all_summaries as merge_all_summaries
from graphgrad.training.summaries.summaries_v0 import merge_summary as merge_summary
from graphgrad.training.summaries.summaries_v0 import scalar_summary as scalar_summary
from graphgrad.training.summaries.summary_messages import Event as Event
from graphgrad.training.summaries.summary_messages import HistogramProto as HistogramProto
from graphgrad.training.summaries.summary_messages import LogMessage as LogMessage
from graphgrad.training.summaries.summary_messages import SessionLog as SessionLog
from graphgrad.training.summaries.summary_messages import Summary as Summary
from graphgrad.training.summaries.summary_messages import SummaryMetadata as SummaryMetadata
from graphgrad.viz.formula.formula import formula as formula
from graphgrad.viz.live.view_graph import view_graph as view_graph
__version__ = API_VERSION
__git_version__ = GIT_VERSION

__all__ = [
    "AUTO_REUSE", "AggregationMethod", "Assert", "AttrValue", "ConfigProto", "CriticalSection", "DType", "Defun",
    "DeviceSpec", "Dimension", "Event", "FIFOQueue", "FixedLenFeature", "FixedLenSequenceFeature",
    "FixedLengthRecordReader", "GIT_VERSION", "GPUOptions", "GRAPH_DEF_VERSION", "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER", "GradientTape", "Graph", "GraphDef", "GraphKeys", "GraphOptions",
    "HistogramProto", "IdentityReader", "IndexedSlices", "IndexedSlicesSpec", "InteractiveSession", "LogMessage",
    "MetaGraphDef", "Module", "NameAttrList", "NoGradient", "NodeDef", "NotDifferentiable", "OpError", "Operation",
    "OptimizerOptions", "OptionalSpec", "PaddingFIFOQueue", "Print", "PriorityQueue", "QueueBase", "RaggedTensor",
    "RaggedTensorSpec", "RandomShuffleQueue", "ReaderBase", "RegisterGradient", "RunMetadata", "RunOptions", "Session",
    "SessionLog", "SparseFeature", "SparseTensor", "SparseTensorSpec", "SparseTensorValue", "Summary",
    "SummaryMetadata", "TFRecordReader", "Tensor", "TensorArray", "TensorArraySpec", "TensorInfo", "TensorShape",
    "TensorSpec", "TextLineReader", "TypeSpec", "UnconnectedGradients", "VERSION", "VarLenFeature", "Variable",
    "VariableAggregation", "VariableScope", "VariableSynchronization", "WholeFileReader", "abs", "accumulate_n", "acos",
    "acosh", "add", "add_check_numerics_ops", "add_n", "add_to_collection", "add_to_collections", "all_variables",
    "angle", "app", "approx_top_k", "arg_max", "arg_min", "argmax", "argmin", "argsort", "as_dtype", "as_function",
    "as_string", "asin", "asinh", "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer",
    "assert_less", "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative", "assert_non_positive",
    "assert_none_equal", "assert_positive", "assert_proper_iterable", "assert_rank", "assert_rank_at_least",
    "assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_type", "assert_variables_initialized",
    "assign", "assign_add", "assign_sub", "atan", "atan2", "atanh", "audio", "autograph", "batch_gather",
    "batch_hessian", "batch_jacobian", "batch_scatter_update", "batch_to_space", "batch_to_space_nd", "betainc",
    "bfloat16", "bincount", "bitcast", "bitwise", "bool", "boolean_mask", "broadcast_dynamic_shape",
    "broadcast_static_shape", "broadcast_to", "case", "cast", "ceil", "check_numerics", "checkpointed_loops",
    "cholesky", "cholesky_solve", "clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value",
    "colocate_with", "compat", "complex", "complex128", "complex64", "concat", "cond", "config", "confusion_matrix",
    "conj", "constant", "constant_initializer", "container", "control_dependencies", "control_flow_v2_enabled",
    "convert_to_tensor", "convert_to_tensor_or_indexed_slices", "convert_to_tensor_or_sparse_tensor", "cos", "cosh",
    "count_nonzero", "count_up_to", "create_partitioned_variables", "cross", "cumprod", "cumsum", "custom_gradient",
    "data", "debugging", "decode_base64", "decode_compressed", "decode_csv", "decode_json_example", "decode_raw",
    "define_op", "delete_session_tensor", "depth_to_space", "derivatives_report", "deserialize_many_sparse", "device",
    "diag", "diag_part", "differential_operator", "digamma", "dimension_at_index", "dimension_value",
    "disable_control_flow_v2", "disable_eager_execution", "disable_resource_variables", "disable_tensor_equality",
    "disable_v2_behavior", "disable_v2_tensorshape", "distribute", "distributions", "div", "div_no_nan", "divide",
    "double", "dtypes", "dynamic_partition", "dynamic_stitch", "edit_distance", "einsum", "enable_control_flow_v2",
    "enable_eager_execution", "enable_resource_variables", "enable_tensor_equality", "enable_v2_behavior",
    "enable_v2_tensorshape", "encode_base64", "ensure_shape", "equal", "erf", "erfc", "errors", "executing_eagerly",
    "executing_eagerly_outside_functions", "exp", "expand_dims", "experimental", "explain_gradient", "expm1",
    "extract_image_patches", "extract_volume_patches", "eye", "fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient", "fake_quant_with_min_max_vars", "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel", "fake_quant_with_min_max_vars_per_channel_gradient", "feature_column",
    "fft", "fft2d", "fft3d", "fftnd", "fill", "fingerprint", "fixed_size_partitioner", "flags", "float16", "float32",
    "float64", "floor", "floor_div", "floordiv", "floormod", "foldl", "foldr", "formula", "function", "gather",
    "gather_nd", "get_collection", "get_collection_ref", "get_default_graph", "get_default_session",
    "get_local_variable", "get_logger", "get_seed", "get_session_handle", "get_session_tensor", "get_static_value",
    "get_variable", "get_variable_scope", "gfile", "global_norm", "global_variables", "global_variables_initializer",
    "glorot_normal_initializer", "glorot_uniform_initializer", "grad_pass_through", "gradients", "graph_util",
    "greater", "greater_equal", "group", "guarantee_const", "half", "hessian", "hessian_vector_product", "hessians",
    "histogram_fixed_width", "histogram_fixed_width_bins", "histogram_summary", "identity", "identity_n", "ifft",
    "ifft2d", "ifft3d", "ifftnd", "igamma", "igammac", "imag", "image", "image_summary", "implicit", "import_graph_def",
    "init_scope", "initialize_all_tables", "initialize_all_variables", "initialize_local_variables",
    "initialize_variables", "initializers", "int16", "int32", "int64", "int8", "invert_permutation", "io", "irfftnd",
    "is_finite", "is_inf", "is_nan", "is_non_decreasing", "is_numeric_tensor", "is_strictly_increasing",
    "is_symbolic_tensor", "is_tensor", "is_variable_initialized", "jacobian", "jvp", "laplacian", "layers", "lbeta",
    "less", "less_equal", "lgamma", "lin_space", "linalg", "linspace", "local_variables", "local_variables_initializer",
    "locate_nonfinite", "log", "log1p", "log_sigmoid", "logging", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lookup", "losses", "make_ndarray", "make_template", "make_tensor_proto", "manip", "map_fn",
    "matching_files", "math", "matmul", "matrix_band_part", "matrix_determinant", "matrix_diag", "matrix_diag_part",
    "matrix_inverse", "matrix_set_diag", "matrix_solve", "matrix_solve_ls", "matrix_square_root", "matrix_transpose",
    "matrix_triangular_solve", "maximum", "memoize_gradients", "merge_all_summaries", "merge_summary", "mesh",
    "meshgrid", "metrics", "min_max_variable_partitioner", "minimum", "mod", "model_variables",
    "moving_average_variables", "multinomial", "multiply", "name_scope", "negative", "nest", "newaxis", "nn",
    "no_gradient", "no_op", "no_regularizer", "norm", "not_equal", "numpy_function", "one_hot", "ones",
    "ones_initializer", "ones_like", "op_scope", "optimize_derivatives", "orthogonal_initializer", "pad",
    "parallel_stack", "parse_example", "parse_single_example", "parse_single_sequence_example", "parse_tensor",
    "placeholder", "placeholder_with_default", "polygamma", "pow", "print", "profiler", "py_func", "py_function",
    "python_io", "qint16", "qint32", "qint8", "qr", "quantization", "queue", "quint16", "quint8", "ragged",
    "ragged_fill_empty_rows", "ragged_fill_empty_rows_grad", "random", "random_crop", "random_gamma",
    "random_index_shuffle", "random_normal", "random_normal_initializer", "random_poisson", "random_shuffle",
    "random_uniform", "random_uniform_initializer", "range", "rank", "raw_ops", "read_file", "real", "realdiv",
    "reciprocal", "recompute_grad", "reduce_all", "reduce_any", "reduce_join", "reduce_logsumexp", "reduce_max",
    "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "regex_replace", "register_tensor_conversion_function",
    "repeat", "report_uninitialized_variables", "required_space_to_batch_paddings", "reset_default_graph", "reshape",
    "resource", "resource_variables_enabled", "reverse", "reverse_sequence", "reverse_v2", "rfftnd", "rint", "roll",
    "round", "rsqrt", "saturate_cast", "saved_model", "scalar_mul", "scalar_summary", "scan", "scatter_add",
    "scatter_div", "scatter_max", "scatter_min", "scatter_mul", "scatter_nd", "scatter_nd_add", "scatter_nd_sub",
    "scatter_nd_update", "scatter_sub", "scatter_update", "searchsorted", "segment_max", "segment_mean", "segment_min",
    "segment_prod", "segment_sum", "self_adjoint_eig", "self_adjoint_eigvals", "sequence_mask", "serialize_many_sparse",
    "serialize_sparse", "serialize_tensor", "set_random_seed", "setdiff1d", "sets", "shape", "shape_n", "shard",
    "show_progress", "sigmoid", "sign", "signal", "sin", "sinh", "size", "slice", "sort", "space_to_batch",
    "space_to_batch_nd", "space_to_depth", "sparse", "sparse_add", "sparse_concat", "sparse_fill_empty_rows",
    "sparse_mask", "sparse_matmul", "sparse_maximum", "sparse_merge", "sparse_minimum", "sparse_placeholder",
    "sparse_reduce_max", "sparse_reduce_max_sparse", "sparse_reduce_sum", "sparse_reduce_sum_sparse", "sparse_reorder",
    "sparse_reset_shape", "sparse_reshape", "sparse_retain", "sparse_segment_mean", "sparse_segment_sqrt_n",
    "sparse_segment_sum", "sparse_slice", "sparse_softmax", "sparse_split", "sparse_tensor_dense_matmul",
    "sparse_tensor_to_dense", "sparse_to_dense", "sparse_to_indicator", "sparse_transpose", "sparsity", "spectral",
    "split", "sqrt", "square", "squared_difference", "squeeze", "stack", "stop_gradient", "strict_gradients",
    "strided_slice", "string", "string_join", "string_split", "string_strip", "string_to_hash_bucket",
    "string_to_hash_bucket_fast", "string_to_hash_bucket_strong", "string_to_number", "strings", "substr", "subtract",
    "summary", "svd", "switch_case", "sysconfig", "tables_initializer", "tan", "tanh", "taylor", "tensor_scatter_add",
    "tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update", "tensor_scatter_sub", "tensor_scatter_update", "tensordot", "test", "tile", "timestamp",
    "to_bfloat16", "to_complex128", "to_complex64", "to_double", "to_float", "to_int32", "to_int64", "trace", "train",
    "trainable_variables", "transpose", "truediv", "truncated_normal", "truncated_normal_initializer", "truncatediv",
    "truncatemod", "tuple", "type_spec_from_value", "uint16", "uint32", "uint64", "uint8",
    "uniform_unit_scaling_initializer", "unique", "unique_with_counts", "unravel_index", "unsorted_segment_max",
    "unsorted_segment_mean", "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sqrt_n",
    "unsorted_segment_sum", "unstack", "use_compiled_programs", "variable_axis_size_partitioner",
    "variable_creator_scope", "variable_op_scope", "variable_scope", "variables_initializer",
    "variance_scaling_initializer", "variant", "vectorized_map", "verify_tensor_all_finite", "version", "view_graph",
    "vjp", "where", "where_v2", "while_loop", "wrap_function", "write_file", "xla", "zeros", "zeros_initializer",
    "zeros_like", "zeta"
]
