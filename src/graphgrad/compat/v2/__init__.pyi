"""`tf`. Written by `make faces` from exports.txt."""

from graphgrad import compat as compat
from graphgrad.compat.constants import API_VERSION
from graphgrad.compat.constants import newaxis as newaxis
from graphgrad.compat import raw_ops as raw_ops
from graphgrad.compat.v2 import __internal__ as __internal__
from graphgrad.compat.v2 import __operators__ as __operators__
from graphgrad.compat.v2 import audio as audio
from graphgrad.compat.v2 import autodiff as autodiff
from graphgrad.compat.v2 import autograph as autograph
from graphgrad.compat.v2 import bitwise as bitwise
from graphgrad.compat.v2 import config as config
from graphgrad.compat.v2 import data as data
from graphgrad.compat.v2 import debugging as debugging
from graphgrad.compat.v2 import distribute as distribute
from graphgrad.compat.v2 import dtypes as dtypes
from graphgrad.compat.v2 import experimental as experimental
from graphgrad.compat.v2 import feature_column as feature_column
from graphgrad.compat.v2 import graph_util as graph_util
from graphgrad.compat.v2 import image as image
from graphgrad.compat.v2 import implicit as implicit
from graphgrad.compat.v2 import initializers as initializers
from graphgrad.compat.v2 import io as io
from graphgrad.compat.v2 import linalg as linalg
from graphgrad.compat.v2 import lookup as lookup
from graphgrad.compat.v2 import math as math
from graphgrad.compat.v2 import nn as nn
from graphgrad.compat.v2 import profiler as profiler
from graphgrad.compat.v2 import quantization as quantization
from graphgrad.compat.v2 import queue as queue
from graphgrad.compat.v2 import ragged as ragged
from graphgrad.compat.v2 import random as random
from graphgrad.compat.v2 import saved_model as saved_model
from graphgrad.compat.v2 import sets as sets
from graphgrad.compat.v2 import signal as signal
from graphgrad.compat.v2 import sparse as sparse
from graphgrad.compat.v2 import strings as strings
from graphgrad.compat.v2 import summary as summary
from graphgrad.compat.v2 import sysconfig as sysconfig
from graphgrad.compat.v2 import test as test
from graphgrad.compat.v2 import train as train
from graphgrad.compat.v2 import types as types
from graphgrad.compat.v2 import version as version
from graphgrad.compat.v2 import xla as xla
from graphgrad import errors as errors
from graphgrad.executor.runtime.nonfinite import locate_nonfinite as locate_nonfinite
from graphgrad.extras.data.optional import OptionalSpec as OptionalSpec
from graphgrad.extras.import_v1.import_graph import import_graph_def as import_graph_def
from graphgrad.extras.ragged.ragged_ops import ragged_fill_empty_rows as ragged_fill_empty_rows
from graphgrad.extras.ragged.ragged_ops import ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad
from graphgrad.extras.ragged.ragged_spec import RaggedTensorSpec as RaggedTensorSpec
from graphgrad.extras.ragged.ragged_tensor import RaggedTensor as RaggedTensor
from graphgrad.extras.scientific.numpy_function import as_function as as_function
from graphgrad.extras.sparse.sets import edit_distance as edit_distance
from graphgrad.extras.strings.hashing import fingerprint as fingerprint
from graphgrad.extras.strings.string_functions import as_string as as_string
from graphgrad.frontend.autodiff.py_function import py_function as py_function
from graphgrad.frontend.autodiff.recompute import grad_pass_through as grad_pass_through
from graphgrad.frontend.autodiff.recompute import recompute_grad as recompute_grad
from graphgrad.frontend.autodiff.tape import GradientTape as GradientTape
from graphgrad.frontend.config.compiled_programs import use_compiled_programs as use_compiled_programs
from graphgrad.frontend.config.device_spec import DeviceSpec as DeviceSpec
from graphgrad.frontend.control_flow.case import case as case
from graphgrad.frontend.control_flow.cond_while import cond as cond
from graphgrad.frontend.control_flow.cond_while import while_loop as while_loop
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
from graphgrad.frontend.function.function import TensorSpec as TensorSpec
from graphgrad.frontend.function.function import function as function
from graphgrad.frontend.graph.default_graph import control_dependencies as control_dependencies
from graphgrad.frontend.graph.default_graph import device_v2 as device
from graphgrad.frontend.graph.default_graph import get_current_name_scope as get_current_name_scope
from graphgrad.frontend.graph.default_graph import name_scope_v2 as name_scope
from graphgrad.frontend.graph.init_scope import init_scope as init_scope
from graphgrad.frontend.graph.module import Module as Module
from graphgrad.frontend.graph.tensor_protos import make_ndarray as make_ndarray
from graphgrad.frontend.graph.tensor_protos import make_tensor_proto as make_tensor_proto
from graphgrad.frontend.graph.user_ops import define_op as define_op
from graphgrad.frontend.structure.composite_specs import IndexedSlicesSpec as IndexedSlicesSpec
from graphgrad.frontend.structure.composite_specs import type_spec_from_value as type_spec_from_value
from graphgrad.frontend.structure import nest as nest
from graphgrad.frontend.structure.signature import TypeSpec as TypeSpec
from graphgrad.frontend.structure.sparse_spec import SparseTensorSpec as SparseTensorSpec
from graphgrad.frontend.structure.tensor_array import TensorArray as TensorArray
from graphgrad.frontend.structure.tensor_array_spec import TensorArraySpec as TensorArraySpec
from graphgrad.frontend.variables.initializers import ConstantV2 as constant_initializer
from graphgrad.frontend.variables.initializers import OnesV2 as ones_initializer
from graphgrad.frontend.variables.initializers import RandomNormalV2 as random_normal_initializer
from graphgrad.frontend.variables.initializers import RandomUniformV2 as random_uniform_initializer
from graphgrad.frontend.variables.initializers import ZerosV2 as zeros_initializer
from graphgrad.frontend.variables.variable import Variable as Variable
from graphgrad.frontend.variables.variable_creators import variable_creator_scope as variable_creator_scope
from graphgrad.frontend.variables.variable_settings import VariableAggregationV2 as VariableAggregation
from graphgrad.frontend.variables.variable_settings import VariableSynchronization as VariableSynchronization
from graphgrad.gradients.core.aggregate import AggregationMethod as AggregationMethod
from graphgrad.gradients.core.backprop import gradients_v2 as gradients
from graphgrad.gradients.core.custom import custom_gradient as custom_gradient
from graphgrad.gradients.core.memo import memoize_gradients as memoize_gradients
from graphgrad.gradients.core.registry import NotDifferentiable as no_gradient
from graphgrad.gradients.core.registry import RegisterGradient as RegisterGradient
from graphgrad.gradients.core.unconnected import UnconnectedGradients as UnconnectedGradients
from graphgrad.gradients.derived.batched import batch_hessian as batch_hessian
from graphgrad.gradients.derived.batched import batch_jacobian as batch_jacobian
from graphgrad.gradients.derived.higher import hessian as hessian
from graphgrad.gradients.derived.higher import hessians_v2 as hessians
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
from graphgrad.ir.context import inside_function as inside_function
from graphgrad.ir.conversion import convert_to_tensor_v2 as convert_to_tensor
from graphgrad.ir.conversion import register_tensor_conversion_function as register_tensor_conversion_function
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
from graphgrad.ir.operation import Operation as Operation
from graphgrad.ir.proto.versions import GIT_VERSION
from graphgrad.ir.shape import TensorShape as TensorShape
from graphgrad.ir.tensor import Tensor as Tensor
from graphgrad.ir.values.indexed_slices import IndexedSlices as IndexedSlices
from graphgrad.ops.array.broadcast_to import broadcast_dynamic_shape as broadcast_dynamic_shape
from graphgrad.ops.array.broadcast_to import broadcast_static_shape as broadcast_static_shape
from graphgrad.ops.array.broadcast_to import broadcast_to as broadcast_to
from graphgrad.ops.array.cast import cast as cast
from graphgrad.ops.array.cast import saturate_cast as saturate_cast
from graphgrad.ops.array.concat_stack import concat as concat
from graphgrad.ops.array.concat_stack import parallel_stack as parallel_stack
from graphgrad.ops.array.concat_stack import stack as stack
from graphgrad.ops.array.concat_stack import unstack as unstack
from graphgrad.ops.array.constant import constant as constant
from graphgrad.ops.array.constant import ensure_shape as ensure_shape
from graphgrad.ops.array.constant import get_static_value as get_static_value
from graphgrad.ops.array.constant import guarantee_const as guarantee_const
from graphgrad.ops.array.constant import identity as identity
from graphgrad.ops.array.constant import identity_n as identity_n
from graphgrad.ops.array.constant import is_symbolic_tensor as is_symbolic_tensor
from graphgrad.ops.array.constant import is_tensor as is_tensor
from graphgrad.ops.array.constant import stop_gradient as stop_gradient
from graphgrad.ops.array.fill import fill as fill
from graphgrad.ops.array.fill import ones as ones
from graphgrad.ops.array.fill import ones_like as ones_like
from graphgrad.ops.array.fill import zeros as zeros
from graphgrad.ops.array.fill import zeros_like as zeros_like
from graphgrad.ops.array.gather import gather as gather
from graphgrad.ops.array.gather import gather_nd as gather_nd
from graphgrad.ops.array.mask import boolean_mask as boolean_mask
from graphgrad.ops.array.mask import sequence_mask as sequence_mask
from graphgrad.ops.array.one_op import fftnd as fftnd
from graphgrad.ops.array.one_op import ifftnd as ifftnd
from graphgrad.ops.array.one_op import irfftnd as irfftnd
from graphgrad.ops.array.one_op import matrix_square_root as matrix_square_root
from graphgrad.ops.array.one_op import random_index_shuffle as random_index_shuffle
from graphgrad.ops.array.one_op import rfftnd as rfftnd
from graphgrad.ops.array.pad import pad as pad
from graphgrad.ops.array.partition_stitch import dynamic_partition as dynamic_partition
from graphgrad.ops.array.partition_stitch import dynamic_stitch as dynamic_stitch
from graphgrad.ops.array.partition_stitch import unique as unique
from graphgrad.ops.array.partition_stitch import unique_with_counts as unique_with_counts
from graphgrad.ops.array.ranges import linspace as linspace
from graphgrad.ops.array.ranges import range_ as range
from graphgrad.ops.array.reshape import expand_dims as expand_dims
from graphgrad.ops.array.reshape import rank as rank
from graphgrad.ops.array.reshape import reshape as reshape
from graphgrad.ops.array.reshape import shape as shape
from graphgrad.ops.array.reshape import shape_n as shape_n
from graphgrad.ops.array.reshape import size as size
from graphgrad.ops.array.reshape import squeeze as squeeze
from graphgrad.ops.array.scatter import one_hot as one_hot
from graphgrad.ops.array.scatter import scatter_nd as scatter_nd
from graphgrad.ops.array.scatter import tensor_scatter_nd_add as tensor_scatter_nd_add
from graphgrad.ops.array.scatter import tensor_scatter_nd_max as tensor_scatter_nd_max
from graphgrad.ops.array.scatter import tensor_scatter_nd_min as tensor_scatter_nd_min
from graphgrad.ops.array.scatter import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from graphgrad.ops.array.scatter import tensor_scatter_nd_update as tensor_scatter_nd_update
from graphgrad.ops.array.select import where as where
from graphgrad.ops.array.slice import slice_ as slice
from graphgrad.ops.array.slice import strided_slice as strided_slice
from graphgrad.ops.array.sort_search import argsort as argsort
from graphgrad.ops.array.sort_search import bitcast as bitcast
from graphgrad.ops.array.sort_search import searchsorted as searchsorted
from graphgrad.ops.array.sort_search import sort as sort
from graphgrad.ops.array.sort_search import unravel_index as unravel_index
from graphgrad.ops.array.space_to_batch import batch_to_space as batch_to_space
from graphgrad.ops.array.space_to_batch import required_space_to_batch_paddings as required_space_to_batch_paddings
from graphgrad.ops.array.space_to_batch import space_to_batch as space_to_batch
from graphgrad.ops.array.space_to_batch import space_to_batch_nd as space_to_batch_nd
from graphgrad.ops.array.split import split as split
from graphgrad.ops.array.tile import meshgrid as meshgrid
from graphgrad.ops.array.tile import repeat as repeat
from graphgrad.ops.array.tile import tile as tile
from graphgrad.ops.array.transpose import reverse as reverse
from graphgrad.ops.array.transpose import reverse_sequence as reverse_sequence
from graphgrad.ops.array.transpose import roll as roll
from graphgrad.ops.array.transpose import transpose as transpose
from graphgrad.ops.common.sparse_tensor import SparseTensor as SparseTensor
from graphgrad.ops.control.assertions import Assert as Assert
from graphgrad.ops.control.assertions import assert_equal as assert_equal
from graphgrad.ops.control.assertions import assert_greater as assert_greater
from graphgrad.ops.control.assertions import assert_less as assert_less
from graphgrad.ops.control.group import group as group
from graphgrad.ops.control.group import no_op as no_op
from graphgrad.ops.control.group import tuple as tuple
from graphgrad.ops.control.py_func import numpy_function as numpy_function
from graphgrad.ops.control.py_func import print_tensors as print
from graphgrad.ops.control.py_func import timestamp as timestamp
from graphgrad.ops.control.shape_assertions import assert_rank as assert_rank
from graphgrad.ops.linalg.diag_functions import eye as eye
from graphgrad.ops.linalg.einsum import einsum as einsum
from graphgrad.ops.linalg.matmul import matmul as matmul
from graphgrad.ops.linalg.matrix_functions import eig as eig
from graphgrad.ops.linalg.matrix_functions import eigvals as eigvals
from graphgrad.ops.linalg.norms import norm as norm
from graphgrad.ops.linalg.tensordot import tensordot as tensordot
from graphgrad.ops.math.argmax import argmax as argmax
from graphgrad.ops.math.argmax import argmin as argmin
from graphgrad.ops.math.arithmetic import add as add
from graphgrad.ops.math.arithmetic import add_n as add_n
from graphgrad.ops.math.arithmetic import maximum as maximum
from graphgrad.ops.math.arithmetic import minimum as minimum
from graphgrad.ops.math.arithmetic import multiply as multiply
from graphgrad.ops.math.arithmetic import scalar_mul as scalar_mul
from graphgrad.ops.math.arithmetic import subtract as subtract
from graphgrad.ops.math.clip import clip_by_global_norm as clip_by_global_norm
from graphgrad.ops.math.clip import clip_by_norm as clip_by_norm
from graphgrad.ops.math.clip import clip_by_value as clip_by_value
from graphgrad.ops.math.comparison import equal as equal
from graphgrad.ops.math.comparison import greater as greater
from graphgrad.ops.math.comparison import greater_equal as greater_equal
from graphgrad.ops.math.comparison import less as less
from graphgrad.ops.math.comparison import less_equal as less_equal
from graphgrad.ops.math.comparison import logical_and as logical_and
from graphgrad.ops.math.comparison import logical_not as logical_not
from graphgrad.ops.math.comparison import logical_or as logical_or
from graphgrad.ops.math.comparison import not_equal as not_equal
from graphgrad.ops.math.complex import complex as complex
from graphgrad.ops.math.cumulative import cumsum as cumsum
from graphgrad.ops.math.division import divide as divide
from graphgrad.ops.math.division import realdiv as realdiv
from graphgrad.ops.math.division import truediv as truediv
from graphgrad.ops.math.division import truncatediv as truncatediv
from graphgrad.ops.math.division import truncatemod as truncatemod
from graphgrad.ops.math.exponential import exp as exp
from graphgrad.ops.math.exponential import pow as pow
from graphgrad.ops.math.histogram import histogram_fixed_width as histogram_fixed_width
from graphgrad.ops.math.histogram import histogram_fixed_width_bins as histogram_fixed_width_bins
from graphgrad.ops.math.order_statistics import approx_top_k as approx_top_k
from graphgrad.ops.math.reduce_functions import reduce_all as reduce_all
from graphgrad.ops.math.reduce_functions import reduce_any as reduce_any
from graphgrad.ops.math.reduce_functions import reduce_logsumexp as reduce_logsumexp
from graphgrad.ops.math.reduce_functions import reduce_max as reduce_max
from graphgrad.ops.math.reduce_functions import reduce_mean as reduce_mean
from graphgrad.ops.math.reduce_functions import reduce_min as reduce_min
from graphgrad.ops.math.reduce_functions import reduce_prod as reduce_prod
from graphgrad.ops.math.reduce_functions import reduce_sum as reduce_sum
from graphgrad.ops.math.trig import acos as acos
from graphgrad.ops.math.trig import acosh as acosh
from graphgrad.ops.math.trig import asin as asin
from graphgrad.ops.math.trig import asinh as asinh
from graphgrad.ops.math.trig import atan as atan
from graphgrad.ops.math.trig import atan2 as atan2
from graphgrad.ops.math.trig import atanh as atanh
from graphgrad.ops.math.trig import cos as cos
from graphgrad.ops.math.trig import cosh as cosh
from graphgrad.ops.math.trig import sigmoid as sigmoid
from graphgrad.ops.math.trig import sin as sin
from graphgrad.ops.math.trig import sinh as sinh
from graphgrad.ops.math.trig import tan as tan
from graphgrad.ops.math.trig import tanh as tanh
from graphgrad.ops.math.unary import abs as abs
from graphgrad.ops.math.unary import floor as floor
from graphgrad.ops.math.unary import negative as negative
from graphgrad.ops.math.unary import round as round
from graphgrad.ops.math.unary import sign as sign
from graphgrad.ops.math.unary import sqrt as sqrt
from graphgrad.ops.math.unary import square as square
from graphgrad.ops.nn.conv.patches import extract_volume_patches as extract_volume_patches
from graphgrad.platform.logging_v1 import get_logger as get_logger
from graphgrad.system.progress import show_progress as show_progress
from graphgrad.viz.formula.formula import formula as formula
from graphgrad.viz.live.view_graph import view_graph as view_graph
__version__ = API_VERSION
__git_version__ = GIT_VERSION

__all__ = [
    "AggregationMethod", "Assert", "CriticalSection", "DType", "DeviceSpec", "GradientTape", "Graph", "IndexedSlices",
    "IndexedSlicesSpec", "Module", "Operation", "OptionalSpec", "RaggedTensor", "RaggedTensorSpec", "RegisterGradient",
    "SparseTensor", "SparseTensorSpec", "Tensor", "TensorArray", "TensorArraySpec", "TensorShape", "TensorSpec",
    "TypeSpec", "UnconnectedGradients", "Variable", "VariableAggregation", "VariableSynchronization", "abs", "acos",
    "acosh", "add", "add_n", "approx_top_k", "argmax", "argmin", "argsort", "as_dtype", "as_function", "as_string",
    "asin", "asinh", "assert_equal", "assert_greater", "assert_less", "assert_rank", "atan", "atan2", "atanh", "audio",
    "autodiff", "autograph", "batch_hessian", "batch_jacobian", "batch_to_space", "bfloat16", "bitcast", "bitwise",
    "bool", "boolean_mask", "broadcast_dynamic_shape", "broadcast_static_shape", "broadcast_to", "case", "cast",
    "checkpointed_loops", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "compat", "complex", "complex128",
    "complex64", "concat", "cond", "config", "constant", "constant_initializer", "control_dependencies",
    "convert_to_tensor", "cos", "cosh", "cumsum", "custom_gradient", "data", "debugging", "define_op",
    "derivatives_report", "device", "differential_operator", "distribute", "divide", "double", "dtypes",
    "dynamic_partition", "dynamic_stitch", "edit_distance", "eig", "eigvals", "einsum", "ensure_shape", "equal",
    "errors", "executing_eagerly", "exp", "expand_dims", "experimental", "explain_gradient", "extract_volume_patches",
    "eye", "feature_column", "fftnd", "fill", "fingerprint", "float16", "float32", "float64", "floor", "foldl", "foldr",
    "formula", "function", "gather", "gather_nd", "get_current_name_scope", "get_logger", "get_static_value",
    "grad_pass_through", "gradients", "graph_util", "greater", "greater_equal", "group", "guarantee_const", "half",
    "hessian", "hessian_vector_product", "hessians", "histogram_fixed_width", "histogram_fixed_width_bins", "identity",
    "identity_n", "ifftnd", "image", "implicit", "import_graph_def", "init_scope", "initializers", "inside_function",
    "int16", "int32", "int64", "int8", "io", "irfftnd", "is_symbolic_tensor", "is_tensor", "jacobian", "jvp",
    "laplacian", "less", "less_equal", "linalg", "linspace", "locate_nonfinite", "logical_and", "logical_not",
    "logical_or", "lookup", "make_ndarray", "make_tensor_proto", "map_fn", "math", "matmul", "matrix_square_root",
    "maximum", "memoize_gradients", "mesh", "meshgrid", "minimum", "multiply", "name_scope", "negative", "nest",
    "newaxis", "nn", "no_gradient", "no_op", "norm", "not_equal", "numpy_function", "one_hot", "ones",
    "ones_initializer", "ones_like", "optimize_derivatives", "pad", "parallel_stack", "pow", "print", "profiler",
    "py_function", "qint16", "qint32", "qint8", "quantization", "queue", "quint16", "quint8", "ragged",
    "ragged_fill_empty_rows", "ragged_fill_empty_rows_grad", "random", "random_index_shuffle",
    "random_normal_initializer", "random_uniform_initializer", "range", "rank", "raw_ops", "realdiv", "recompute_grad",
    "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_sum", "register_tensor_conversion_function", "repeat", "required_space_to_batch_paddings", "reshape",
    "resource", "reverse", "reverse_sequence", "rfftnd", "roll", "round", "saturate_cast", "saved_model", "scalar_mul",
    "scan", "scatter_nd", "searchsorted", "sequence_mask", "sets", "shape", "shape_n", "shard", "show_progress",
    "sigmoid", "sign", "signal", "sin", "sinh", "size", "slice", "sort", "space_to_batch", "space_to_batch_nd",
    "sparse", "sparsity", "split", "sqrt", "square", "squeeze", "stack", "stop_gradient", "strict_gradients",
    "strided_slice", "string", "strings", "subtract", "summary", "switch_case", "sysconfig", "tan", "tanh", "taylor",
    "tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update", "tensordot", "test", "tile", "timestamp", "train", "transpose", "truediv",
    "truncatediv", "truncatemod", "tuple", "type_spec_from_value", "types", "uint16", "uint32", "uint64", "uint8",
    "unique", "unique_with_counts", "unravel_index", "unstack", "use_compiled_programs", "variable_creator_scope",
    "variant", "vectorized_map", "version", "view_graph", "vjp", "where", "while_loop", "xla", "zeros",
    "zeros_initializer", "zeros_like"
]
